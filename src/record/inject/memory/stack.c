/* Whether there is room for the stack of patched code.
 *
 * The driver makes it at a launch, for all threads that the device holds at once. Where it finds no
 * memory for it, the kernel runs without its patches, and nobody is told. So the memory that is
 * free is looked at before the first launch of each function, until there is enough: at the
 * beginning of the call, since in the launch's own callback the driver holds its locks. A launch
 * with too little and without any record counts as unrecorded (launches.c). */
#include "stack.h"

#include <pthread.h>

#include "common/map.h"
#include "library.h"
#include "settings.h"

/* 1,489 bytes a thread were enough on an H200 (384 MiB), 1,241 were not. */
enum { STACK_BYTES_OF_A_THREAD = 1536, MIB = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cts_map has_room; /* by function */

static uint64_t stack_bytes(void)
{
    CUdevice device;
    if (cts_sanitizer.cuCtxGetDevice(&device) != CUDA_SUCCESS) return 0;
    const uint64_t processors =
        cts_device_attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    const uint64_t threads =
        cts_device_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    return processors * threads * STACK_BYTES_OF_A_THREAD;
}

/* A stream that is being captured into a graph must not notice. */
static bool read_free_bytes(uint64_t *bytes)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    size_t free_bytes = 0, all_bytes = 0;
    if (cts_sanitizer.cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS) return false;
    const bool done = cts_sanitizer.cuMemGetInfo(&free_bytes, &all_bytes) == CUDA_SUCCESS;
    (void)cts_sanitizer.cuThreadExchangeStreamCaptureMode(&mode);
    *bytes = free_bytes;
    return done;
}

struct cts_stack_room cts_stack_look(const void *function)
{
    const uint64_t key = (uint64_t)(uintptr_t)function;
    struct cts_stack_room room = {0};
    uint64_t free_bytes;
    pthread_mutex_lock(&lock);
    const bool known = cts_map_find(&has_room, key) != NULL;
    pthread_mutex_unlock(&lock);
    if (known || cts_memory_settings.empty || !cts_sanitizer.cuThreadExchangeStreamCaptureMode)
        return room;
    const uint64_t needed_bytes = stack_bytes();
    if (needed_bytes && read_free_bytes(&free_bytes) && free_bytes < needed_bytes) {
        room = (struct cts_stack_room){true, (uint32_t)(free_bytes / MIB),
                                       (uint32_t)(needed_bytes / MIB)};
    } else {
        pthread_mutex_lock(&lock);
        (void)cts_map_at(&has_room, key, NULL);
        pthread_mutex_unlock(&lock);
    }
    return room;
}
