/* The ring of each context: pinned host memory that its kernels write to, and the control in
 * device memory. A ring is made when the first module is loaded, before there is any launch, with
 * the Sanitizer's own calls and in the null stream: a stream of ours, created in a callback, could
 * deadlock the driver, and so does waiting in a launch's callback for the stream of the launch. The
 * host memory of a ring is never given back while the program runs. */
#include "rings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "contexts.h"
#include "grids.h"
#include "library.h"
#include "memory-run.h"
#include "settings.h"

enum { BINS_MAX = 1024, SLOTS_LOG2_MIN = 6, SLOTS_LOG2_MAX = 24 };
#define RING_DEFAULT_BYTES ((uint64_t)256 << 20)

static struct ring {
    CUcontext context;                                /* NULL: free place */
    enum { RING_NONE, RING_MADE, RING_FAILED } state; /* under `making` */
    uint64_t user; /* what patches are given, less the launch's number; 0: none */
    uint32_t *slots;
    uint32_t bin_count, slots_log2;
    pthread_mutex_t making;
} rings[CTS_MEMORY_CONTEXTS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t delivering = PTHREAD_MUTEX_INITIALIZER; /* not while they are stopped */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct cts_ring_consumers *consumers; /* NULL: they have ended */

static void init(void)
{
    for (int i = 0; i < CTS_MEMORY_CONTEXTS_MAX; i++) pthread_mutex_init(&rings[i].making, NULL);
}

/* Under the lock. */
static struct ring *find(CUcontext context)
{
    for (int i = 0; i < CTS_MEMORY_CONTEXTS_MAX; i++)
        if (rings[i].context == context) return rings + i;
    return NULL;
}

/* ---- the threads ---- */

enum cts_status cts_memory_rings_start(const struct cts_ring_names *names, struct cts_error *error)
{
    return cts_ring_start(
        &(struct cts_ring_options){.collector = cts_memory_run.collector,
                                   .count = cts_memory_settings.environment.worker_count,
                                   .discard = cts_memory_settings.discard,
                                   .values = cts_memory_settings.values,
                                   .names = names},
        &consumers, error);
}

bool cts_memory_rings_drain(uint32_t timeout_ms)
{
    return cts_ring_drain(consumers, timeout_ms);
}

bool cts_memory_rings_deliver(bool others_write, uint32_t timeout_ms)
{
    pthread_mutex_lock(&delivering);
    const bool done = consumers && cts_ring_deliver(consumers, others_write, timeout_ms);
    pthread_mutex_unlock(&delivering);
    return done;
}

void cts_memory_rings_stop(uint64_t *lost)
{
    pthread_mutex_lock(&delivering);
    cts_ring_stop(consumers, lost);
    consumers = NULL;
    pthread_mutex_unlock(&delivering);
}

/* ---- a ring ---- */

struct shape {
    uint32_t bin_count, slots_log2;
};

static struct shape shape_of(CUdevice device)
{
    const uint64_t asked = cts_memory_settings.environment.ring_bytes;
    const uint64_t bytes = asked ? asked : RING_DEFAULT_BYTES;
    struct shape shape = {cts_device_attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
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
                                               .cta_sample =
                                                   cts_memory_settings.environment.cta_sample,
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

static SanitizerResult make_ring(struct ring *ring, const char **what)
{
    const struct shape shape = shape_of((CUdevice)cts_context_device(ring->context));
    const size_t slots_bytes = ((size_t)shape.bin_count << shape.slots_log2) * CTS_RING_SLOT_BYTES;
    const size_t tails_bytes = shape.bin_count * CTS_RING_TAIL_STRIDE * sizeof(uint64_t);
    void *host = NULL, *device = NULL;
    *what = "pinned memory for the ring (a smaller --ring-size may do)";
    SanitizerResult result =
        cts_sanitizer.sanitizerAllocHost(ring->context, &host, slots_bytes + tails_bytes);
    if (result != SANITIZER_SUCCESS) return result;
    memset(host, 0, slots_bytes + tails_bytes);
    const struct cts_ring_bins bins = {.slots = host,
                                       .tails = (uint64_t *)(void *)((char *)host + slots_bytes),
                                       .bin_count = shape.bin_count,
                                       .slots_log2 = shape.slots_log2};
    *what = "device memory for the ring's control (2 MiB)";
    const size_t control_bytes = CTS_MEMORY_BINS_AT + BINS_MAX * sizeof(struct cts_ring_bin);
    result = cts_sanitizer.sanitizerAlloc(ring->context, &device,
                                          CTS_MEMORY_CONTROL_ALIGN + control_bytes);
    if (result != SANITIZER_SUCCESS) return result;
    const uint64_t control = ((uintptr_t)device + CTS_MEMORY_CONTROL_ALIGN - 1) &
                             ~(uint64_t)(CTS_MEMORY_CONTROL_ALIGN - 1);
    *what = "device memory for the launches' grids (512 KiB)";
    uint64_t grids;
    result = cts_grids_make(ring->context, &grids);
    if (result != SANITIZER_SUCCESS) return result;
    *what = "the ring's control";
    result = write_control(control, &bins, grids);
    if (result != SANITIZER_SUCCESS) return result;
    *what = "the threads of the ring";
    if (cts_ring_add_bins(consumers, &bins, NULL)) return SANITIZER_ERROR_UNKNOWN;
    ring->user = cts_memory_user(control, cts_memory_settings.environment.cta_sample > 1);
    ring->slots = bins.slots;
    ring->bin_count = bins.bin_count;
    ring->slots_log2 = bins.slots_log2;
    return SANITIZER_SUCCESS;
}

/* The place of a context's ring, taken if it has none; NULL: the context is not known. */
static struct ring *ring_of(CUcontext context)
{
    if (!cts_context_is_known(context)) return NULL;
    pthread_once(&once, init);
    pthread_mutex_lock(&lock);
    struct ring *ring = find(context);
    if (!ring && (ring = find(NULL))) {
        ring->context = context;
        ring->state = RING_NONE;
    }
    pthread_mutex_unlock(&lock);
    return ring;
}

uint64_t cts_memory_ring_user(CUcontext context)
{
    struct ring *const ring = ring_of(context);
    if (!ring) return 0;
    pthread_mutex_lock(&ring->making);
    if (ring->state == RING_NONE) {
        const char *what = "";
        const SanitizerResult result = make_ring(ring, &what);
        ring->state = result == SANITIZER_SUCCESS ? RING_MADE : RING_FAILED;
        if (result != SANITIZER_SUCCESS)
            cts_memory_say("error", "no accesses are recorded on device %u: %s: %s",
                           cts_context_device(context), what, cts_sanitizer_text(result));
    }
    const uint64_t user = ring->state == RING_MADE ? ring->user : 0;
    pthread_mutex_unlock(&ring->making);
    return user;
}

uint64_t cts_memory_ring_bins(CUcontext context, struct cts_memory_control *control)
{
    const uint64_t user = cts_memory_ring_user(context);
    *control =
        (struct cts_memory_control){.cta_sample = cts_memory_settings.environment.cta_sample};
    if (!user) return 0;
    pthread_mutex_lock(&lock);
    const struct ring *const ring = find(context);
    control->bin_count = ring ? ring->bin_count : 0;
    control->slots_log2 = ring ? ring->slots_log2 : 0;
    pthread_mutex_unlock(&lock);
    return ring ? (user >> 32) * CTS_MEMORY_CONTROL_ALIGN + CTS_MEMORY_BINS_AT : 0;
}

void cts_memory_ring_forget(CUcontext context)
{
    pthread_mutex_lock(&lock);
    struct ring *const ring = context ? find(context) : NULL;
    uint32_t *const slots = ring && ring->state == RING_MADE ? ring->slots : NULL;
    pthread_mutex_unlock(&lock);
    if (slots) cts_ring_remove_bins(consumers, slots);
    pthread_mutex_lock(&lock);
    if (ring) ring->context = NULL;
    pthread_mutex_unlock(&lock);
}
