#include "kernels.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "record/abi.h"
#include "record/cpu/include/ctascope_texture.h"
#include "trace/access.h"

#define ARG(type, i) (*(type *)args[i])

static uint32_t threads_of(const struct cts_thread_context *context)
{
    return context->ntid[0] * context->ntid[1] * context->ntid[2];
}

/* ---- fill and add: one element per thread ---- */

static void fill_cta(void **args, struct cts_thread_context *context)
{
    int *const data = ARG(int *, 0);
    for (uint32_t t = 0; t < threads_of(context); t++) {
        const uint32_t i = context->ctaid[0] * context->ntid[0] + t;
        if ((int)i < ARG(int, 2)) data[i] = ARG(int, 1) + (int)i;
    }
}

static void fill_row(void **args, struct cts_thread_context *context, uint32_t x0, uint32_t y,
                     uint32_t z, uint32_t n, uint64_t *lanes)
{
    (void)y, (void)z;
    int *const data = ARG(int *, 0);
    for (uint32_t lane = 0; lane < n; lane++) {
        const uint32_t i = context->ctaid[0] * context->ntid[0] + x0 + lane;
        if ((int)i >= ARG(int, 2)) continue;
        lanes[lane] = (uint64_t)&data[i];
        data[i] = ARG(int, 1) + (int)i;
    }
}

static void add_cta(void **args, struct cts_thread_context *context)
{
    int *const data = ARG(int *, 0);
    for (uint32_t t = 0; t < threads_of(context); t++) {
        const uint32_t i = context->ctaid[0] * context->ntid[0] + t;
        if ((int)i < ARG(int, 2)) data[i] += ARG(int, 1);
    }
}

static void add_row(void **args, struct cts_thread_context *context, uint32_t x0, uint32_t y,
                    uint32_t z, uint32_t n, uint64_t *lanes)
{
    (void)y, (void)z;
    int *const data = ARG(int *, 0);
    for (uint32_t lane = 0; lane < n; lane++) {
        const uint32_t i = context->ctaid[0] * context->ntid[0] + x0 + lane;
        if ((int)i >= ARG(int, 2)) continue;
        lanes[lane] = lanes[32 + lane] = (uint64_t)&data[i];
        data[i] += ARG(int, 1);
    }
}

static const struct cts_parameter_desc fill_parameters[] = {{8, 8}, {4, 4}, {4, 4}};
static const uint32_t fill_sites[] = {0}, add_sites[] = {1, 2};

/* ---- the others ---- */

static void wait_cta(void **args, struct cts_thread_context *context)
{
    (void)context;
    int *const flag = ARG(int *, 0);
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) sched_yield();
    *ARG(int *, 1) = 1;
}

static void poke_cta(void **args, struct cts_thread_context *context)
{
    (void)context;
    *ARG(volatile int *, 0) = 42;
}

static void shared_cta(void **args, struct cts_thread_context *context)
{
    int *const words = (int *)(void *)context->shared_dynamic;
    const int n = ARG(int, 1);
    for (int i = 0; i < n; i++) words[i] = i;
    int sum = 0;
    for (int i = 0; i < n; i++) sum += words[i];
    ARG(int *, 0)[context->ctaid[0]] = sum;
}

static void small_cta(void **args, struct cts_thread_context *context)
{
    (void)args, (void)context;
}

static void struct_cta(void **args, struct cts_thread_context *context)
{
    (void)context;
    const struct five_words *const words = args[1];
    int64_t sum = ARG(char, 2);
    for (int i = 0; i < 5; i++) sum += words->word[i];
    *ARG(int64_t *, 0) = sum;
}

static int device_table[16], device_constant[4] = {1, 2, 3, 4}, device_managed = 7;
static uint64_t device_texture;

static void fetch_cta(void **args, struct cts_thread_context *context)
{
    (void)context;
    const uint64_t handle = ARG(uint64_t, 1);
    const struct cts_texture *const texture =
        (const struct cts_texture *)(handle ? handle : device_texture);
    for (unsigned y = 0; y < (texture->height ? texture->height : 1); y++)
        for (unsigned x = 0; x < texture->width; x++) ARG(int *, 0)
    [y * texture->width + x] =
        ((const int *)(const void *)(texture->data + y * texture->pitch_bytes))[x];
}

static const struct cts_parameter_desc two_pointers[] = {{8, 8}, {8, 8}}, one_pointer[] = {{8, 8}},
                                       pointer_int[] = {{8, 8}, {4, 4}},
                                       struct_parameters[] = {{8, 8}, {40, 8}, {1, 1}};

static const struct cts_kernel_desc kernels[] = {
    {.name = "_Z4fillPiii",
     .display_name = "fill(int *, int, int)",
     .cta = fill_cta,
     .row_rec = fill_row,
     .thread_rec = NULL,
     .parameters = fill_parameters,
     .parameter_count = 3,
     .row_sites = fill_sites,
     .row_site_count = 1,
     .line = 3},
    {.name = "_Z3addPiii",
     .display_name = "add(int *, int, int)",
     .cta = add_cta,
     .row_rec = add_row,
     .parameters = fill_parameters,
     .parameter_count = 3,
     .row_sites = add_sites,
     .row_site_count = 2,
     .line = 4},
    {.name = "_Z4waitPiS_",
     .display_name = "wait(int *, int *)",
     .cta = wait_cta,
     .parameters = two_pointers,
     .parameter_count = 2,
     .flags = CTS_KERNEL_UNINSTRUMENTED},
    {.name = "_Z4pokePi",
     .display_name = "poke(int *)",
     .cta = poke_cta,
     .thread = poke_cta, /* a CTA of one thread */
     .parameters = one_pointer,
     .parameter_count = 1,
     .flags = CTS_KERNEL_UNINSTRUMENTED},
    {.name = "_Z6sharedPii",
     .display_name = "shared(int *, int)",
     .cta = shared_cta,
     .parameters = pointer_int,
     .parameter_count = 2,
     .flags = CTS_KERNEL_UNINSTRUMENTED},
    {.name = "_Z5smallv",
     .display_name = "small()",
     .cta = small_cta,
     .max_threads = 64,
     .static_shared_bytes = 1024,
     .flags = CTS_KERNEL_UNINSTRUMENTED},
    {.name = "_Z6structPl10five_wordsc",
     .display_name = "struct_(long *, five_words, char)",
     .cta = struct_cta,
     .parameters = struct_parameters,
     .parameter_count = 3,
     .flags = CTS_KERNEL_UNINSTRUMENTED},
    {.name = "_Z5fetchPiy",
     .display_name = "fetch(int *, unsigned long long)",
     .cta = fetch_cta,
     .parameters = two_pointers,
     .parameter_count = 2,
     .flags = CTS_KERNEL_UNINSTRUMENTED},
};

#define SITE(in_line, what)                                                                        \
    {.line = in_line,                                                                              \
     .column = 9,                                                                                  \
     .width_bytes = 4,                                                                             \
     .operation = what,                                                                            \
     .space = CTS_SPACE_GLOBAL,                                                                    \
     .type_name = "int",                                                                           \
     .variable = "data",                                                                           \
     .loop = UINT32_MAX,                                                                           \
     .function = "",                                                                               \
     .inlined_at = ""}
static const struct cts_site_desc sites[] = {SITE(3, CTS_STORE), SITE(4, CTS_LOAD),
                                             SITE(4, CTS_STORE)};
static const char text[] = "// the source\n";
static const struct cts_source_desc sources[] = {{"/src/kernels.cu", text, sizeof text - 1}};
static const struct cts_variable_desc variables[] = {
    {.name = "table",
     .display_name = "table",
     .type_name = "int",
     .address = device_table,
     .size_bytes = sizeof device_table,
     .kind = CTS_VARIABLE_DEVICE,
     .line = 1},
    {.name = "constants",
     .display_name = "constants",
     .type_name = "int",
     .address = device_constant,
     .size_bytes = sizeof device_constant,
     .kind = CTS_VARIABLE_CONSTANT,
     .line = 2},
    {.name = "image",
     .display_name = "image",
     .address = &device_texture,
     .size_bytes = 8,
     .kind = CTS_VARIABLE_TEXTURE},
    {.name = "managed",
     .display_name = "managed",
     .type_name = "int",
     .address = &device_managed,
     .size_bytes = sizeof device_managed,
     .kind = CTS_VARIABLE_MANAGED},
    {.name = "tile",
     .display_name = "tile",
     .type_name = "float",
     .size_bytes = 1024,
     .shared_offset = 64,
     .function = "small()",
     .kind = CTS_VARIABLE_SHARED},
};
static const struct cts_skipped_desc skipped[] = {{"call of f()", "no definition", 0, 5}};

static uint64_t slot_base;
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
static const struct cts_file_desc file = {.abi_version = CTS_ABI_VERSION,
                                          .id = "tests-of-the-runtime",
                                          .path = "/src/kernels.cu",
                                          .kernels = kernels,
                                          .kernel_count = COUNT(kernels),
                                          .sites = sites,
                                          .site_count = COUNT(sites),
                                          .sources = sources,
                                          .source_count = COUNT(sources),
                                          .variables = variables,
                                          .variable_count = COUNT(variables),
                                          .skipped = skipped,
                                          .skipped_count = COUNT(skipped),
                                          .shared_bytes = 1024,
                                          .slot_base = &slot_base};

/* ---- registration, as clang's constructor does it ---- */

#define STUB(name)                                                                                 \
    void name(void)                                                                                \
    {                                                                                              \
        fail_msg("a stub was called");                                                             \
    }
STUB(stub_fill)
STUB(stub_add)
STUB(stub_wait)
STUB(stub_poke)
STUB(stub_shared)
STUB(stub_missing)
STUB(stub_small)
STUB(stub_struct)
STUB(stub_fetch)
int shadow_table[16], shadow_constant[4], shadow_texture[64], shadow_managed;

static const struct {
    int magic, version;
    const char *data;
    void *unused;
} wrapper = {0x466243b1, 1, "tests-of-the-runtime\n", NULL};

static void register_kernel(void **handle, void (*stub)(void), const char *name)
{
    __cudaRegisterFunction(handle, (const char *)(uintptr_t)stub, NULL, name, -1, NULL, NULL, NULL,
                           NULL, NULL);
}

__attribute__((constructor)) static void register_all(void)
{
    void **const handle = __cudaRegisterFatBinary((void *)(uintptr_t)&wrapper);
    register_kernel(handle, stub_fill, "_Z4fillPiii");
    register_kernel(handle, stub_add, "_Z3addPiii");
    register_kernel(handle, stub_wait, "_Z4waitPiS_");
    register_kernel(handle, stub_poke, "_Z4pokePi");
    register_kernel(handle, stub_shared, "_Z6sharedPii");
    register_kernel(handle, stub_missing, "_Z7missingv");
    register_kernel(handle, stub_small, "_Z5smallv");
    register_kernel(handle, stub_struct, "_Z6structPl10five_wordsc");
    register_kernel(handle, stub_fetch, "_Z5fetchPiy");
    __cudaRegisterVar(handle, (char *)shadow_table, NULL, "table", 0, sizeof shadow_table, 0, 0);
    __cudaRegisterVar(handle, (char *)shadow_constant, NULL, "constants", 0, sizeof shadow_constant,
                      1, 0);
    __cudaRegisterTexture(handle, (const struct textureReference *)(void *)shadow_texture, NULL,
                          "image", 1, 0, 0);
    __cudaRegisterVar(handle, (char *)&shadow_managed, NULL, "managed", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    __cts_register_file(&file); /* after the host side: the order does not matter */
}

/* ---- launching ---- */

static cudaError_t launch_elements(void (*stub)(void), int *data, int value, int n,
                                   cudaStream_t stream)
{
    void *args[] = {&data, &value, &n};
    return cudaLaunchKernel((const void *)(uintptr_t)stub, extent(((unsigned)n + 63) / 64),
                            extent(64), args, 0, stream);
}

cudaError_t launch_fill(int *data, int value, int n, cudaStream_t stream)
{
    return launch_elements(stub_fill, data, value, n, stream);
}

cudaError_t launch_add(int *data, int value, int n, cudaStream_t stream)
{
    return launch_elements(stub_add, data, value, n, stream);
}

cudaError_t launch_wait(volatile int *flag, int *done, cudaStream_t stream)
{
    void *args[] = {&flag, &done};
    return cudaLaunchKernel((const void *)(uintptr_t)stub_wait, extent(1), extent(1), args, 0,
                            stream);
}

cudaError_t launch_poke(void *where, cudaStream_t stream)
{
    void *args[] = {&where};
    return cudaLaunchKernel((const void *)(uintptr_t)stub_poke, extent(1), extent(1), args, 0,
                            stream);
}

volatile int *new_flag(void)
{
    int *flag = NULL;
    assert_success(cudaMallocHost((void **)(void *)&flag, sizeof *flag));
    *flag = 0;
    return flag;
}

size_t catch_stderr(void (*act)(void *data), void *data, char *caught, size_t capacity)
{
    /* A pipe: into a file that descriptor 2 was not at first, nothing is said. */
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(stderr);
    const int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    act(data);
    fflush(stderr);
    dup2(before, STDERR_FILENO); /* the last writer's end is closed */
    close(before);
    size_t length = 0;
    ssize_t got = 0;
    while ((got = read(ends[0], caught + length, capacity - 1 - length)) > 0) length += (size_t)got;
    caught[length] = '\0';
    close(ends[0]);
    return length;
}
