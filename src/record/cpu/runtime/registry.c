/* Joins the two sides of a compiled file. Its device object registers a table of kernels and
 * variables (__cts_register_file); clang's host code registers the host's stubs and shadow
 * variables with mangled names (__cudaRegisterFunction, ...), under a fat binary whose data is the
 * file's id. The two come in any order from constructors, so that a stub is matched when it is
 * first used and kept in a hash table from then on.
 *
 * An id names a source and how it was compiled; the same may be in several libraries, and several
 * times in one. A file's two sides are those of the same image (the program, a library) that come
 * as the same in their order.
 *
 * A library that is unloaded takes with it all that its tables point to, while other threads go on.
 * Under `lock`, whoever reads a file's tables must have seen that the file is not gone. `lock` and
 * the streams' are taken in constructors, while the dynamic linker holds its own lock: whoever has
 * one must not ask the dynamic linker for anything (dlsym(), dlopen(), dladdr()).
 *
 * Nothing here starts the runtime: constructors run before main() and may be all that ever runs. */
#include "common/hash.h"
#include "registry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "common/name-filter.h"
#include "common/promise.h"
#include "range.h"
#include "record.h"
#include "stream.h"

struct cts_fat_binary {
    struct cts_fat_binary *next;
    struct cts_image image;
    char id[256];
    struct cts_file *file; /* NULL: has not come yet */
    bool is_gone;
};

enum symbol_kind { SYMBOL_KERNEL, SYMBOL_VARIABLE };

/* A host pointer and the name that it stands for. */
struct symbol {
    struct symbol *next;        /* in the bucket */
    _Atomic(const void *) host; /* NULL once its library is gone */
    const char *name;
    struct cts_fat_binary *binary;
    enum symbol_kind kind;
    _Atomic(void *) target; /* struct cts_cpu_kernel or const struct cts_variable_desc */
    bool is_reported;
};

enum { BUCKET_COUNT = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct symbol *_Atomic buckets[BUCKET_COUNT];
static struct cts_fat_binary *binaries, **binaries_tail = &binaries;
static struct cts_file *files, **files_tail = &files;
static _Atomic bool has_new_files, has_exited;

/* ---- registration ---- */

/* Image and id are the same. */
static bool belongs(const struct cts_file *file, const struct cts_fat_binary *binary)
{
    return !file->is_gone && !binary->is_gone && !file->binary && !binary->file &&
           file->image.low == binary->image.low && strcmp(file->loaded.desc->id, binary->id) == 0;
}

static void join(struct cts_file *file, struct cts_fat_binary *binary)
{
    CTS_ASSERT_HELD(&lock);
    if (!file || !binary) return; /* the other side is still to come */
    file->binary = binary;
    binary->file = file;
}

static struct symbol *_Atomic *bucket_of(const void *host)
{
    return &buckets[cts_hash((uintptr_t)host >> 3) >> 54];
}

static void add_symbol(void **handle, const void *host, const char *name, enum symbol_kind kind)
{
    struct symbol *const symbol = calloc(1, sizeof *symbol);
    if (!symbol) return; /* the first use says that it is unknown */
    atomic_init(&symbol->host, host);
    symbol->name = name;
    symbol->binary = (struct cts_fat_binary *)(void *)handle;
    symbol->kind = kind;
    pthread_mutex_lock(&lock);
    struct symbol *_Atomic *const bucket = bucket_of(host);
    symbol->next = atomic_load(bucket);
    atomic_store(bucket, symbol);
    pthread_mutex_unlock(&lock);
}

/* What clang passes: a wrapper with a magic number, a version and a pointer to the data. */
struct fat_binary_wrapper {
    int magic, version;
    const char *data;
    void *unused;
};

void **__cudaRegisterFatBinary(void *fat_binary)
{
    struct cts_fat_binary *const binary = calloc(1, sizeof *binary);
    if (!binary) abort(); /* in a constructor, with nobody to tell */
    const struct fat_binary_wrapper *const wrapper = fat_binary;
    const char *const data = wrapper && wrapper->data ? wrapper->data : "";
    /* One line of text; what lies behind it in memory is somebody else's. */
    for (size_t i = 0; i < sizeof binary->id - 1 && data[i] && data[i] != '\n'; i++)
        binary->id[i] = data[i];
    (void)cts_image_find(fat_binary, &binary->image);
    pthread_mutex_lock(&lock);
    struct cts_file *file = files;
    while (file && !belongs(file, binary)) file = file->next;
    join(file, binary);
    *binaries_tail = binary;
    binaries_tail = &binary->next;
    pthread_mutex_unlock(&lock);
    return (void **)(void *)binary;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle; /* matching is lazy */
}

void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function,
                            const char *device_name, int thread_limit, void *tid, void *bid,
                            void *block_dim, void *grid_dim, int *warp_size)
{
    (void)device_function, (void)thread_limit, (void)tid, (void)bid;
    (void)block_dim, (void)grid_dim, (void)warp_size;
    add_symbol(handle, host_function, device_name, SYMBOL_KERNEL);
}

void __cudaRegisterVar(void **handle, char *host_variable, char *device_address,
                       const char *device_name, int is_extern, size_t size, int is_constant,
                       int is_global)
{
    (void)device_address, (void)is_extern, (void)size, (void)is_constant, (void)is_global;
    add_symbol(handle, host_variable, device_name, SYMBOL_VARIABLE);
}

void __cudaRegisterManagedVar(void **handle, void **host_variable, char *device_address,
                              const char *device_name, int is_extern, size_t size, int is_constant,
                              int is_global)
{
    __cudaRegisterVar(handle, (char *)(void *)host_variable, device_address, device_name, is_extern,
                      size, is_constant, is_global);
}

void __cudaRegisterTexture(void **handle, const struct textureReference *host_variable,
                           const void **device_address, const char *device_name, int dimensions,
                           int normalized, int is_extern)
{
    (void)device_address, (void)dimensions, (void)normalized, (void)is_extern;
    add_symbol(handle, host_variable, device_name, SYMBOL_VARIABLE);
}

void __cudaRegisterSurface(void **handle, const struct surfaceReference *host_variable,
                           const void **device_address, const char *device_name, int dimensions,
                           int is_extern)
{
    (void)device_address, (void)dimensions, (void)is_extern;
    add_symbol(handle, host_variable, device_name, SYMBOL_VARIABLE);
}

/* ---- unloading ---- */

void cts_registry_note_exit(void)
{
    atomic_store(&has_exited, true);
}

/* What stands in other files for a kernel or variable of this one is looked up again. */
static void forget_targets(const struct cts_file *file)
{
    CTS_ASSERT_HELD(&lock);
    const struct cts_file_desc *const desc = file->loaded.desc;
    const uintptr_t kernels = (uintptr_t)file->kernels, variables = (uintptr_t)desc->variables;
    for (size_t i = 0; i < BUCKET_COUNT; i++)
        for (struct symbol *symbol = atomic_load(&buckets[i]); symbol; symbol = symbol->next) {
            const uintptr_t target = (uintptr_t)atomic_load(&symbol->target);
            if (target - kernels < desc->kernel_count * sizeof *file->kernels ||
                target - variables < desc->variable_count * sizeof *desc->variables)
                atomic_store(&symbol->target, NULL);
        }
}

/* Other memory may come to lie where the variables were. */
static void forget_variables(const struct cts_file *file)
{
    CTS_ASSERT_HELD(&lock);
    const struct cts_file_desc *const desc = file->loaded.desc;
    for (uint32_t i = 0; file->is_loaded && i < desc->variable_count; i++) {
        const struct cts_variable_desc *const variable = &desc->variables[i];
        struct cts_range range;
        if (cts_image_holds(&file->image, (uint64_t)variable->address) &&
            cts_range_remove(variable->address, 1u << CTS_RANGE_VARIABLE | 1u << CTS_RANGE_MANAGED,
                             &range))
            cts_record_free(&range, CTS_NONE);
    }
}

static void forget(struct cts_file *file)
{
    CTS_ASSERT_HELD(&lock);
    forget_targets(file);
    forget_variables(file);
    file->is_gone = true;
}

/* Before the code goes, its work must have ended; at the end of the process, all work. */
static void wait_for_work(const struct cts_image *image)
{
    if (cts_in_callback || !cts_process_has_started()) return;
    if (atomic_load(&has_exited))
        (void)cts_streams_drain();
    else
        cts_streams_wait_image(image);
}

/* A library with kernels goes away, or the process ends: the host's names are gone. */
void __cudaUnregisterFatBinary(void **handle)
{
    struct cts_fat_binary *const binary = (struct cts_fat_binary *)(void *)handle;
    if (cts_process_is_forked()) return;
    wait_for_work(&binary->image);
    pthread_mutex_lock(&lock);
    binary->is_gone = true;
    for (size_t i = 0; i < BUCKET_COUNT; i++)
        for (struct symbol *symbol = atomic_load(&buckets[i]); symbol; symbol = symbol->next)
            if (symbol->binary == binary) atomic_store(&symbol->host, NULL);
    pthread_mutex_unlock(&lock);
}

/* The last that a library does, and at the end of the process after all functions of atexit().
 * Files without a host side have this call alone. */
void __cts_unregister_file(const struct cts_file_desc *desc)
{
    struct cts_image image;
    if (cts_process_is_forked() || atomic_load(&has_exited)) return;
    if (cts_image_find(desc, &image)) wait_for_work(&image);
    pthread_mutex_lock(&lock);
    struct cts_file *file = files;
    while (file && (file->is_gone || file->loaded.desc != desc)) file = file->next;
    if (file) forget(file);
    pthread_mutex_unlock(&lock);
}

/* ---- files ---- */

void __cts_register_file(const struct cts_file_desc *desc)
{
    if (desc->abi_version != CTS_ABI_VERSION) {
        cts_say("'%s' was compiled for version %u of the CPU device, but this is version %d: "
                "compile it again to launch its kernels",
                desc->path, desc->abi_version, CTS_ABI_VERSION);
        return;
    }
    struct cts_file *const file = calloc(1, sizeof *file);
    if (!file) abort(); /* in a constructor, with nobody to tell */
    file->kernels = calloc(desc->kernel_count + 1, sizeof *file->kernels);
    if (!file->kernels) abort();
    file->loaded.desc = desc;
    file->loaded.first_slot = CTS_SLOT_LIMIT;
    for (uint32_t i = 0; i < desc->kernel_count; i++)
        file->kernels[i] = (struct cts_cpu_kernel){.desc = &desc->kernels[i],
                                                   .file = file,
                                                   .id = CTS_NONE,
                                                   .dynamic_limit = CTS_SHARED_DEFAULT_BYTES,
                                                   .carveout = cudaSharedmemCarveoutDefault};
    (void)cts_image_find(desc, &file->image);
    pthread_mutex_lock(&lock);
    struct cts_fat_binary *binary = binaries;
    while (binary && !belongs(file, binary)) binary = binary->next;
    join(file, binary);
    *files_tail = file;
    files_tail = &file->next;
    pthread_mutex_unlock(&lock);
    atomic_store(&has_new_files, true);
}

/* ---- loading ---- */

/* The kernels that CTASCOPE_KERNEL_NAME selects. */
static void select_kernels(struct cts_file *file)
{
    CTS_ASSERT_HELD(&lock);
    struct cts_name_filter filter;
    /* cts_record_start() has refused an expression that does not compile. */
    if (cts_name_filter_make(&filter, cts_environment_get()->kernel_name, NULL)) return;
    for (uint32_t i = 0; i < file->loaded.desc->kernel_count; i++) {
        const struct cts_kernel_desc *const kernel = file->kernels[i].desc;
        file->kernels[i].is_selected =
            cts_name_filter_takes_kernel(&filter, kernel->display_name, kernel->name);
    }
    cts_name_filter_release(&filter);
}

static void add_variable_range(const struct cts_variable_desc *variable)
{
    CTS_ASSERT_HELD(&lock);
    const bool has_memory = variable->kind == CTS_VARIABLE_DEVICE ||
                            variable->kind == CTS_VARIABLE_CONSTANT ||
                            variable->kind == CTS_VARIABLE_MANAGED;
    if (!has_memory || !variable->address || !variable->size_bytes) return;
    struct cts_range range = {
        .address = (uint64_t)variable->address,
        .size_bytes = variable->size_bytes,
        .kind = variable->kind == CTS_VARIABLE_MANAGED ? CTS_RANGE_MANAGED : CTS_RANGE_VARIABLE,
        .allocation = CTS_NONE,
    };
    snprintf(range.variable, sizeof range.variable, "%s",
             variable->display_name ? variable->display_name : "");
    cts_range_add(&range); /* two files may share an extern variable */
}

void cts_registry_load(void)
{
    if (!atomic_load_explicit(&has_new_files, memory_order_acquire)) return;
    pthread_mutex_lock(&lock);
    atomic_store(&has_new_files, false);
    for (struct cts_file *file = files; file; file = file->next) {
        if (file->is_loaded || file->is_gone) continue;
        file->is_loaded = true;
        select_kernels(file);
        for (uint32_t i = 0; i < file->loaded.desc->variable_count; i++)
            add_variable_range(&file->loaded.desc->variables[i]);
        cts_record_file(file);
    }
    cts_record_settle();
    pthread_mutex_unlock(&lock);
}

/* ---- look-up ---- */

static struct symbol *find_symbol(const void *host, enum symbol_kind kind)
{
    struct symbol *symbol = atomic_load(bucket_of(host));
    while (symbol && (atomic_load(&symbol->host) != host || symbol->kind != kind))
        symbol = symbol->next;
    return symbol;
}

static void *target_in_file(const struct symbol *symbol, struct cts_file *file)
{
    const struct cts_file_desc *const desc = file->loaded.desc;
    if (symbol->kind == SYMBOL_KERNEL) {
        for (uint32_t i = 0; i < desc->kernel_count; i++)
            if (strcmp(desc->kernels[i].name, symbol->name) == 0) return &file->kernels[i];
        return NULL;
    }
    for (uint32_t i = 0; i < desc->variable_count; i++)
        if (strcmp(desc->variables[i].name, symbol->name) == 0)
            return (void *)&desc->variables[i]; /* read as const again below */
    return NULL;
}

/* In the symbol's own file; else in the one other file of its image, then of the process, that has
 * the name (an extern variable of a program whose files share device code). */
static void *match(struct symbol *symbol)
{
    CTS_ASSERT_HELD(&lock);
    const struct cts_fat_binary *const binary = symbol->binary;
    struct cts_file *const own = binary->file;
    void *target = own && !own->is_gone ? target_in_file(symbol, own) : NULL;
    for (int is_near = 1; is_near >= 0; is_near--)
        for (struct cts_file *file = files; file && !target; file = file->next)
            if (!file->is_gone && (file->image.low == binary->image.low) == is_near)
                target = target_in_file(symbol, file);
    return target;
}

static void *look_up(const void *host, enum symbol_kind kind)
{
    struct symbol *const symbol = find_symbol(host, kind);
    if (!symbol) return NULL;
    void *target = atomic_load(&symbol->target);
    if (target) return target;
    pthread_mutex_lock(&lock);
    target = match(symbol);
    atomic_store(&symbol->target, target);
    const bool report = !target && !symbol->is_reported;
    if (report) symbol->is_reported = true;
    pthread_mutex_unlock(&lock);
    if (report)
        cts_say("no device code for %s '%s': was its file compiled with 'ctascope cc "
                "--device=cpu'?",
                kind == SYMBOL_KERNEL ? "kernel" : "variable", symbol->name);
    return target;
}

struct cts_cpu_kernel *cts_registry_kernel(const void *host_function)
{
    return look_up(host_function, SYMBOL_KERNEL);
}

static const void *find_name(const struct cts_image *image, const char *name, enum symbol_kind kind)
{
    const void *host = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < BUCKET_COUNT && !host; i++)
        for (struct symbol *symbol = atomic_load(&buckets[i]); symbol && !host;
             symbol = symbol->next)
            if (symbol->kind == kind && !symbol->binary->is_gone &&
                symbol->binary->image.low == image->low && strcmp(symbol->name, name) == 0)
                host = atomic_load(&symbol->host);
    pthread_mutex_unlock(&lock);
    return host;
}

const void *cts_registry_stub(const struct cts_image *image, const char *name)
{
    return find_name(image, name, SYMBOL_KERNEL);
}

const void *cts_registry_shadow(const struct cts_image *image, const char *name)
{
    return find_name(image, name, SYMBOL_VARIABLE);
}

const struct cts_variable_desc *cts_registry_variable(const void *shadow)
{
    return look_up(shadow, SYMBOL_VARIABLE);
}

uint64_t *cts_registry_texture(const void *reference)
{
    const struct cts_variable_desc *const variable = cts_registry_variable(reference);
    const bool is_handle = variable && (variable->kind == CTS_VARIABLE_TEXTURE ||
                                        variable->kind == CTS_VARIABLE_SURFACE);
    return is_handle ? variable->address : NULL;
}
