/* A libsanitizer-public.so that refuses as FAKE_SUBSCRIBE and FAKE_ENABLE say (a SanitizerResult
 * each), and that plays launches for programs that ask for them: callbacks as of a driver, and what
 * the patches of the launch would store in the ring. FAKE_WITHOUT: an old one.
 *
 * A launch is a word, KERNEL[:CTAS[:TIMES]]: of a kernel of that name, 32 threads a CTA, whose CTAs
 * store 4 bytes by each lane; one that begins with "silent" stores nothing, of one that begins with
 * "cluster" CTAs are in clusters of 2; "sync" is no launch, but waits for all of them; "pool" and
 * "functions" are none either (fake-graphs.c); "graph=TEXT" and "destroyed=TEXT" are graphs.
 * The module is FAKE_CUBIN's, if that is said; launches of a kernel that begins with "tensor" have
 * a tensor map as their second parameter, as the fake driver tells. FAKE_LAZY: the module is loaded
 * when somebody asks for the parameters of its kernel. FAKE_FREE_MIB below STACK_MIB: kernels run
 * without patches, but for those that begin with "before": there was room for them. FAKE_LATE:
 * nobody was told of the context. */
#include <sanitizer.h>

#include "fake-graphs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/inject/memory/control.h"
#include "record/ring/producer.h"

enum { STACK_MIB = 330, CODE_AT = 0x10000, CODE_BYTES = 0x100, KERNELS_MAX = 16 };

static Sanitizer_CallbackFunc callback;
static char context, module, stream;
static const void *launch_data;
static bool is_patched;

static int answer(const char *name, int otherwise)
{
    const char *const value = getenv(name);
    return value ? (int)strtol(value, NULL, 10) : otherwise;
}

/* ---- the API ---- */

SanitizerResult sanitizerSubscribe(Sanitizer_SubscriberHandle *handle,
                                   Sanitizer_CallbackFunc function, void *state)
{
    (void)handle, (void)state;
    callback = function;
    return (SanitizerResult)answer("FAKE_SUBSCRIBE", 0);
}
SanitizerResult sanitizerEnableDomain(uint32_t enable, Sanitizer_SubscriberHandle handle,
                                      Sanitizer_CallbackDomain domain)
{
    (void)enable, (void)handle, (void)domain;
    return (SanitizerResult)answer("FAKE_ENABLE", 0);
}
SanitizerResult sanitizerEnableCallback(uint32_t enable, Sanitizer_SubscriberHandle handle,
                                        Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id)
{
    (void)enable, (void)handle, (void)domain, (void)id;
    return SANITIZER_SUCCESS;
}
SanitizerResult sanitizerAddPatches(const void *image, CUcontext where)
{
    (void)image, (void)where;
    return SANITIZER_SUCCESS;
}
SanitizerResult sanitizerPatchInstructions(const Sanitizer_InstructionId id, CUmodule which,
                                           const char *patch)
{
    (void)id, (void)which, (void)patch;
    return SANITIZER_SUCCESS;
}
SanitizerResult sanitizerPatchModule(CUmodule which)
{
    (void)which;
    is_patched = true;
    return SANITIZER_SUCCESS;
}
SanitizerResult sanitizerUnpatchModule(CUmodule which)
{
    (void)which;
    is_patched = false;
    return SANITIZER_SUCCESS;
}
SanitizerResult sanitizerSetLaunchCallbackData(Sanitizer_LaunchHandle launch, CUfunction function,
                                               Sanitizer_StreamHandle where, const void *data)
{
    (void)launch, (void)function, (void)where;
    launch_data = data;
    return SANITIZER_SUCCESS;
}
SanitizerResult sanitizerGetFunctionPcAndSize(CUmodule which, const char *name, uint64_t *pc,
                                              uint64_t *bytes)
{
    (void)which, (void)name;
    *pc = CODE_AT;
    *bytes = CODE_BYTES;
    return SANITIZER_SUCCESS;
}
SanitizerResult sanitizerAlloc(CUcontext where, void **memory, size_t bytes)
{
    (void)where;
    *memory = calloc(1, bytes);
    return *memory ? SANITIZER_SUCCESS : SANITIZER_ERROR_OUT_OF_MEMORY;
}
SanitizerResult sanitizerAllocHost(CUcontext where, void **memory, size_t bytes)
{
    return sanitizerAlloc(where, memory, bytes);
}
SanitizerResult sanitizerMemcpyHostToDeviceAsync(void *to, void *from, size_t bytes,
                                                 Sanitizer_StreamHandle where)
{
    (void)where;
    memcpy(to, from, bytes);
    return SANITIZER_SUCCESS;
}
#ifndef FAKE_WITHOUT
SanitizerResult sanitizerStreamSynchronize(Sanitizer_StreamHandle where)
{
    (void)where;
    return SANITIZER_SUCCESS;
}
#endif
SanitizerResult sanitizerGetResultString(SanitizerResult result, const char **text)
{
    *text = result == SANITIZER_ERROR_NOT_SUPPORTED
                ? "The attempted operation is not supported on the current system or device"
                : "Sanitizer is unable to initialize its connection to the CUDA driver";
    return SANITIZER_SUCCESS;
}

/* ---- launches ---- */

static void tell(Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void *data)
{
    if (callback) callback(NULL, domain, id, data);
}

/* As the patches do. */
static void run(uint32_t ctas)
{
    const uint64_t user = (uint64_t)(uintptr_t)launch_data;
    const struct cts_memory_control *const control =
        (const void *)(uintptr_t)((user >> 32) * CTS_MEMORY_CONTROL_ALIGN);
    if (!is_patched || !user) return;
    for (uint32_t cta = 0; cta < ctas; cta++) {
        struct cts_ring_bin *const bin =
            (struct cts_ring_bin *)(void *)((char *)(uintptr_t)control + CTS_MEMORY_BINS_AT) +
            cta % control->bin_count;
        const struct cts_ring_record record = {.base = 0x7f0000000000 + cta * 128,
                                               .mask = UINT32_MAX,
                                               .cta = cta,
                                               .s0 = 4,
                                               .pc = CODE_AT >> CTS_RING_PC_SHIFT,
                                               .launch = (uint32_t)user & (CTS_RING_LAUNCHES - 1),
                                               .pattern = CTS_RING_AFFINE,
                                               .operation = CTS_RING_STORE,
                                               .width_log2 = 2};
        const uint64_t position = cts_ring_reserve(bin, 1, control->slots_log2);
        cts_ring_store(bin, position, control->slots_log2, &record);
    }
}

/* Lives as long as the program. */
static void *read_cubin(size_t *bytes)
{
    enum { MAX_BYTES = 1 << 20 };
    const char *const path = getenv("FAKE_CUBIN");
    FILE *const file = path ? fopen(path, "rb") : NULL;
    static char image[MAX_BYTES];
    *bytes = file ? fread(image, 1, MAX_BYTES, file) : 0;
    if (file) fclose(file);
    return *bytes ? image : NULL;
}

static void load(void)
{
    size_t cubin_bytes;
    void *const cubin = read_cubin(&cubin_bytes);
    const Sanitizer_ResourceModuleData loaded = {.context = (CUcontext)(void *)&context,
                                                 .module = (CUmodule)(void *)&module,
                                                 .pCubin = cubin,
                                                 .cubinSize = cubin_bytes};
    tell(SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CBID_RESOURCE_MODULE_LOADED, &loaded);
}

static void begin(void)
{
    const Sanitizer_ResourceContextData begun = {.context = (CUcontext)(void *)&context};
    void *const driver =
        answer("FAKE_LAZY", 0) ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) : NULL;
    void (**const late)(void) = driver ? dlsym(driver, "fake_load_late") : NULL;
    if (!answer("FAKE_LATE", 0))
        tell(SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_STARTING,
             &begun);
    if (late)
        *late = load;
    else
        load();
}

/* A handle for each name. */
static CUfunction function_of(const char *name)
{
    static char names[KERNELS_MAX][64];
    int i = 0;
    while (i < KERNELS_MAX - 1 && *names[i] && strcmp(names[i], name) != 0) i++;
    snprintf(names[i], sizeof names[i], "%s", name);
    return (CUfunction)(void *)names[i];
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static void launch_once(const char *name, uint32_t ctas)
{
    const Sanitizer_LaunchData launch = {.context = (CUcontext)(void *)&context,
                                         .stream = (CUstream)(void *)&stream,
                                         .module = (CUmodule)(void *)&module,
                                         .function = function_of(name),
                                         .functionName = (const char *)function_of(name),
                                         .gridDim_x = ctas,
                                         .gridDim_y = 1,
                                         .gridDim_z = 1,
                                         .blockDim_x = 32,
                                         .blockDim_y = 1,
                                         .blockDim_z = 1,
                                         .clusterDim_x = begins(name, "cluster") ? 2 : 1,
                                         .clusterDim_y = 1,
                                         .clusterDim_z = 1};
    /* 256 rows of 512 floats */
    uint32_t map[32] = {0, 0x7f00, 0x390, 0x80, 0, 0, 0, 0, 511, 255, 0, 0, 0, 0x3f000000, 15};
    uint64_t other = 0x7f1000000000;
    void *values[] = {&other, map};
    const cuLaunchKernel_params parameters = {.f = launch.function,
                                              .hStream = launch.stream,
                                              .kernelParams =
                                                  begins(name, "tensor") ? values : NULL};
    const int result = 0;
    Sanitizer_CallbackData call = {.callbackSite = SANITIZER_API_ENTER,
                                   .functionName = "cuLaunchKernel",
                                   .functionParams = &parameters,
                                   .context = launch.context};
    const Sanitizer_CallbackId id = SANITIZER_CBID_DRIVER_API_cuLaunchKernel;
    tell(SANITIZER_CB_DOMAIN_DRIVER_API, id, &call);
    tell(SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CBID_LAUNCH_BEGIN, &launch);
    const bool has_room = answer("FAKE_FREE_MIB", STACK_MIB) >= STACK_MIB;
    if ((has_room || begins(name, "before")) && !begins(name, "silent")) run(ctas);
    call.callbackSite = SANITIZER_API_EXIT;
    call.functionReturnValue = &result;
    tell(SANITIZER_CB_DOMAIN_DRIVER_API, id, &call);
}

static void synchronise(void)
{
    const int result = 0;
    Sanitizer_CallbackData call = {.callbackSite = SANITIZER_API_ENTER,
                                   .functionName = "cuCtxSynchronize",
                                   .context = (CUcontext)(void *)&context};
    const Sanitizer_CallbackId id = SANITIZER_CBID_DRIVER_API_cuCtxSynchronize;
    tell(SANITIZER_CB_DOMAIN_DRIVER_API, id, &call);
    call.callbackSite = SANITIZER_API_EXIT;
    call.functionReturnValue = &result;
    tell(SANITIZER_CB_DOMAIN_DRIVER_API, id, &call);
}

__attribute__((visibility("default"))) void fake_launch(const char *word);
void fake_launch(const char *word)
{
    if (strcmp(word, "sync") == 0) {
        synchronise();
        return;
    }
    const struct fake_gpu gpu = {.tell = tell,
                                 .function = function_of,
                                 .context = (CUcontext)(void *)&context,
                                 .module = (CUmodule)(void *)&module,
                                 .stream = (CUstream)(void *)&stream};
    static bool is_loaded;
    char name[64] = "", *end = NULL;
    const size_t length = strcspn(word, ":");
    memcpy(name, word, length < sizeof name ? length : sizeof name - 1);
    const uint32_t ctas = word[length] ? (uint32_t)strtoul(word + length + 1, &end, 10) : 1;
    const uint32_t times = end && *end ? (uint32_t)strtoul(end + 1, NULL, 10) : 1;
    if (!is_loaded) begin();
    is_loaded = true;
    if (strcmp(word, "pool") == 0 || strcmp(word, "functions") == 0) {
        (*word == 'p' ? fake_pool : fake_host_functions)(&gpu);
        return;
    }
    if (begins(word, "graph=") || begins(word, "destroyed=")) {
        fake_graph_launch(&gpu, strchr(word, '=') + 1, *word == 'd');
        return;
    }
    for (uint32_t i = 0; i < times; i++) launch_once(name, ctas);
}
