/* Contexts, and the ring of each: pinned host memory that its kernels write to, and the control in
 * device memory. A ring is made when the first module is loaded, before there is any launch, with
 * the Sanitizer's own calls and in the null stream: a stream of ours, created in a callback, could
 * deadlock the driver, and so does waiting in a launch's callback for the stream of the launch. The
 * host memory of a ring is never given back while the program runs. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "memory.h"

enum { CONTEXTS_MAX = 64, BINS_MAX = 1024, SLOTS_LOG2_MIN = 6, SLOTS_LOG2_MAX = 24 };
#define RING_DEFAULT_BYTES ((uint64_t)256 << 20)

static struct context {
    CUcontext handle; /* NULL: free place */
    CUdevice device;
    enum { RING_NONE, RING_MADE, RING_FAILED } state; /* under `making` */
    uint64_t user; /* what patches are given, less the launch's number; 0: none */
    uint32_t *slots;
    uint32_t bin_count, slots_log2;
    bool has_patches;
    pthread_mutex_t making;
} contexts[CONTEXTS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_device[CONTEXTS_MAX]; /* its row is written */
static uint32_t begun, seen;          /* contexts that were created, and that are known */

static void init(void)
{
    for (int i = 0; i < CONTEXTS_MAX; i++) pthread_mutex_init(&contexts[i].making, NULL);
}

static struct context *find(CUcontext handle)
{
    for (int i = 0; i < CONTEXTS_MAX; i++)
        if (contexts[i].handle == handle) return contexts + i;
    return NULL;
}

static uint32_t attribute(CUdevice device, CUdevice_attribute which)
{
    int value = 0;
    (void)cts_sanitizer.cuDeviceGetAttribute(&value, which, device);
    return value > 0 ? (uint32_t)value : 0;
}

static void add_device(CUdevice device)
{
    char name[256] = "GPU";
    size_t bytes = 0;
    (void)cts_sanitizer.cuDeviceGetName(name, sizeof name, device);
    (void)cts_sanitizer.cuDeviceTotalMem(&bytes, device);
    const struct cts_device row = {
        .rank = cts_memory.rank,
        .device = (uint32_t)device,
        .name = name,
        .kind = "gpu",
        .sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .compute_major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        .compute_minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .memory_bytes = bytes,
    };
    cts_catalogue_add_device(cts_memory.catalogue, &row);
}

static void add_context(CUcontext handle, CUdevice device)
{
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    struct context *const context = find(handle) ? NULL : find(NULL);
    const bool is_new = context && device >= 0 && device < CONTEXTS_MAX && !has_device[device];
    if (context) {
        context->handle = handle;
        context->device = device;
        context->state = RING_NONE;
        context->has_patches = false;
        seen++;
    }
    if (is_new) has_device[device] = true;
    pthread_mutex_unlock(&lock);
    if (is_new) add_device(device);
}

void cts_context_destroyed(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    struct context *const context = find(handle);
    uint32_t *const slots = context && context->state == RING_MADE ? context->slots : NULL;
    pthread_mutex_unlock(&lock);
    if (slots) cts_ring_remove_bins(cts_memory.consumers, slots);
    cts_grids_forget(handle);
    pthread_mutex_lock(&lock);
    if (context) context->handle = NULL;
    pthread_mutex_unlock(&lock);
}

bool cts_context_is_known(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    const bool known = handle && find(handle);
    pthread_mutex_unlock(&lock);
    return known;
}

void cts_context_begun(void)
{
    pthread_mutex_lock(&lock);
    begun++;
    pthread_mutex_unlock(&lock);
}

/* One that was there before this library does not become known. */
void cts_context_seen(CUcontext handle)
{
    CUcontext popped;
    CUdevice device;
    pthread_mutex_lock(&lock);
    const bool is_new = handle && seen < begun && !find(handle);
    pthread_mutex_unlock(&lock);
    if (!is_new || cts_sanitizer.cuCtxPushCurrent(handle) != CUDA_SUCCESS) return;
    const CUresult result = cts_sanitizer.cuCtxGetDevice(&device);
    (void)cts_sanitizer.cuCtxPopCurrent(&popped);
    if (result == CUDA_SUCCESS) add_context(handle, device);
}

uint32_t cts_context_device(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    const struct context *const context = handle ? find(handle) : NULL;
    const uint32_t device = context ? (uint32_t)context->device : 0;
    pthread_mutex_unlock(&lock);
    return device;
}

bool cts_context_wants_patches(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    struct context *const context = handle ? find(handle) : NULL;
    const bool wants = context && !context->has_patches;
    if (wants) context->has_patches = true;
    pthread_mutex_unlock(&lock);
    return wants;
}

/* ---- the ring ---- */

struct shape {
    uint32_t bin_count, slots_log2;
};

static struct shape shape_of(CUdevice device)
{
    const uint64_t asked = cts_memory.environment.ring_bytes;
    const uint64_t bytes = asked ? asked : RING_DEFAULT_BYTES;
    struct shape shape = {attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                          SLOTS_LOG2_MIN};
    if (shape.bin_count == 0) shape.bin_count = 1;
    if (shape.bin_count > BINS_MAX) shape.bin_count = BINS_MAX;
    const uint64_t least = (uint64_t)CTS_RING_SLOT_BYTES << SLOTS_LOG2_MIN;
    while (shape.bin_count > 1 && shape.bin_count * least > bytes) shape.bin_count /= 2;
    while (shape.slots_log2 < SLOTS_LOG2_MAX &&
           ((uint64_t)shape.bin_count * CTS_RING_SLOT_BYTES << (shape.slots_log2 + 1)) <= bytes)
        shape.slots_log2++;
    return shape;
}

/* Copies the control to the device; the copy is done when this returns. */
static SanitizerResult write_control(uint64_t address, const struct cts_ring_bins *bins,
                                     uint64_t grids)
{
    const size_t bytes = CTS_MEMORY_BINS_AT + bins->bin_count * sizeof(struct cts_ring_bin);
    uint8_t *const image = calloc(1, bytes);
    if (!image) return SANITIZER_ERROR_OUT_OF_MEMORY;
    const struct cts_memory_control control = {.slots = (uintptr_t)bins->slots,
                                               .bin_count = bins->bin_count,
                                               .slots_log2 = bins->slots_log2,
                                               .cta_sample = cts_memory.environment.cta_sample,
                                               .grids = grids};
    memcpy(image, &control, sizeof control);
    for (uint32_t b = 0; b < bins->bin_count; b++) {
        const struct cts_ring_bin bin = {
            .slots =
                (uintptr_t)(bins->slots + ((size_t)b << bins->slots_log2) * CTS_RING_SLOT_WORDS),
            .tail = (uintptr_t)(bins->tails + (size_t)b * CTS_RING_TAIL_STRIDE),
        };
        memcpy(image + CTS_MEMORY_BINS_AT + b * sizeof bin, &bin, sizeof bin);
    }
    const SanitizerResult result = cts_sanitizer_write(address, image, bytes);
    free(image);
    return result;
}

static SanitizerResult make_ring(struct context *context, CUcontext handle, const char **what)
{
    const struct shape shape = shape_of(context->device);
    const size_t slots_bytes = ((size_t)shape.bin_count << shape.slots_log2) * CTS_RING_SLOT_BYTES;
    const size_t tails_bytes = shape.bin_count * CTS_RING_TAIL_STRIDE * sizeof(uint64_t);
    void *host = NULL, *device = NULL;
    *what = "pinned memory for the ring (a smaller --ring-size may do)";
    SanitizerResult result =
        cts_sanitizer.sanitizerAllocHost(handle, &host, slots_bytes + tails_bytes);
    if (result != SANITIZER_SUCCESS) return result;
    memset(host, 0, slots_bytes + tails_bytes);
    const struct cts_ring_bins bins = {.slots = host,
                                       .tails = (uint64_t *)(void *)((char *)host + slots_bytes),
                                       .bin_count = shape.bin_count,
                                       .slots_log2 = shape.slots_log2};
    *what = "device memory for the ring's control (2 MiB)";
    const size_t control_bytes = CTS_MEMORY_BINS_AT + BINS_MAX * sizeof(struct cts_ring_bin);
    result =
        cts_sanitizer.sanitizerAlloc(handle, &device, CTS_MEMORY_CONTROL_ALIGN + control_bytes);
    if (result != SANITIZER_SUCCESS) return result;
    const uint64_t control = ((uintptr_t)device + CTS_MEMORY_CONTROL_ALIGN - 1) &
                             ~(uint64_t)(CTS_MEMORY_CONTROL_ALIGN - 1);
    *what = "device memory for the launches' grids (512 KiB)";
    uint64_t grids;
    result = cts_grids_make(handle, &grids);
    if (result != SANITIZER_SUCCESS) return result;
    *what = "the ring's control";
    result = write_control(control, &bins, grids);
    if (result != SANITIZER_SUCCESS) return result;
    *what = "the threads of the ring";
    if (cts_ring_add_bins(cts_memory.consumers, &bins, NULL)) return SANITIZER_ERROR_UNKNOWN;
    context->user = cts_memory_user(control, cts_memory.environment.cta_sample > 1);
    context->slots = bins.slots;
    context->bin_count = bins.bin_count;
    context->slots_log2 = bins.slots_log2;
    return SANITIZER_SUCCESS;
}

uint64_t cts_context_user(CUcontext handle)
{
    pthread_mutex_lock(&lock);
    struct context *const context = handle ? find(handle) : NULL;
    pthread_mutex_unlock(&lock);
    if (!context) return 0;
    pthread_mutex_lock(&context->making);
    if (context->state == RING_NONE) {
        const char *what = "";
        const SanitizerResult result = make_ring(context, handle, &what);
        context->state = result == SANITIZER_SUCCESS ? RING_MADE : RING_FAILED;
        if (result != SANITIZER_SUCCESS)
            cts_memory_say("error", "no accesses are recorded on device %d: %s: %s",
                           context->device, what, cts_sanitizer_text(result));
    }
    const uint64_t user = context->state == RING_MADE ? context->user : 0;
    pthread_mutex_unlock(&context->making);
    return user;
}

uint64_t cts_context_ring(CUcontext handle, struct cts_memory_control *control)
{
    const uint64_t user = cts_context_user(handle);
    *control = (struct cts_memory_control){.cta_sample = cts_memory.environment.cta_sample};
    if (!user) return 0;
    pthread_mutex_lock(&lock);
    const struct context *const context = find(handle);
    control->bin_count = context ? context->bin_count : 0;
    control->slots_log2 = context ? context->slots_log2 : 0;
    pthread_mutex_unlock(&lock);
    return context ? (user >> 32) * CTS_MEMORY_CONTROL_ALIGN + CTS_MEMORY_BINS_AT : 0;
}

/* ---- the end ---- */

static bool is_busy(CUcontext context, CUstream stream)
{
    CUcontext popped;
    if (cts_sanitizer.cuCtxPushCurrent(context) != CUDA_SUCCESS) return false;
    const bool busy = cts_sanitizer.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
    (void)cts_sanitizer.cuCtxPopCurrent(&popped);
    return busy;
}

bool cts_contexts_are_busy(void)
{
    enum { STREAMS_MAX = 256 };
    struct cts_memory_stream streams[STREAMS_MAX];
    const size_t count = cts_memory_streams(streams, STREAMS_MAX);
    for (size_t i = 0; i < count; i++)
        if (is_busy(streams[i].context, streams[i].handle)) return true;
    return false;
}
