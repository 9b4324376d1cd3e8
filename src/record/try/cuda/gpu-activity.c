#include "record/try/cuda/gpu-activity.h"

#ifdef CTS_HAVE_CUPTI
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/array.h"
#include "record/inject/inject.h"
#include "record/try/cuda/gpu-driver.h"

enum { BUFFER_BYTES = 1 << 20, ALIGNMENT = 8 };

static struct cts_cupti cupti;
static __typeof__(cuptiActivityDisable) *disable;
static enum { UNKNOWN, USABLE, UNUSABLE } state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cts_gpu_activities noted; /* under the lock */
static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                           CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size_bytes, size_t *records_max)
{
    *buffer = aligned_alloc(ALIGNMENT, BUFFER_BYTES);
    *size_bytes = *buffer ? BUFFER_BYTES : 0;
    *records_max = 0;
}

static struct cts_try_span span_of(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const CUpti_ActivityKernel9 *const kernel = (const CUpti_ActivityKernel9 *)record;
        return (struct cts_try_span){kernel->start, kernel->end};
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const CUpti_ActivityMemcpy5 *const copy = (const CUpti_ActivityMemcpy5 *)record;
        return (struct cts_try_span){copy->start, copy->end};
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const CUpti_ActivityMemset4 *const set = (const CUpti_ActivityMemset4 *)record;
        return (struct cts_try_span){set->start, set->end};
    }
    default:
        return (struct cts_try_span){0, 0};
    }
}

static void note(const CUpti_Activity *record)
{
    struct cts_error error;
    const struct cts_try_span span = span_of(record);
    if (!span.start_ns || span.end_ns < span.start_ns) return;
    pthread_mutex_lock(&lock);
    if (!CTS_ARRAY_RESERVE(&noted, noted.count + 1, &error)) noted.items[noted.count++] = span;
    pthread_mutex_unlock(&lock);
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer,
                                 size_t size_bytes, size_t valid_bytes)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size_bytes;
    while (cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
        note(record);
    free(buffer);
}

static bool open_library(void)
{
    char reason[400];
    if (!cts_cupti_open(&cupti, reason, sizeof reason)) return false;
    void *const library = dlopen(cupti.path, RTLD_NOW | RTLD_NOLOAD);
    void *const found = library ? cts_gpu_plain_dlsym(library, "cuptiActivityDisable") : NULL;
    memcpy(&disable, &found, sizeof found);
    return found && cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS;
}

static bool enable(void)
{
    const size_t count = sizeof kinds / sizeof *kinds;
    size_t i = 0;
    while (i < count && cupti.cuptiActivityEnable(kinds[i]) == CUPTI_SUCCESS) i++;
    if (i == count) return true;
    while (i > 0) (void)disable(kinds[--i]);
    return false;
}

bool cts_gpu_activity_start(void)
{
    cts_gpu_pass(true); /* what CUPTI asks the driver for is not the program's */
    if (state == UNKNOWN) state = open_library() ? USABLE : UNUSABLE;
    if (state == USABLE && !enable()) state = UNUSABLE;
    pthread_mutex_lock(&lock);
    noted.count = 0;
    pthread_mutex_unlock(&lock);
    cts_gpu_pass(false);
    return state == USABLE;
}

static int by_start(const void *left, const void *right)
{
    const struct cts_try_span *const a = left, *const b = right;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

const struct cts_gpu_activities *cts_gpu_activity_stop(void)
{
    cts_gpu_pass(true);
    (void)cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) (void)disable(kinds[i]);
    cts_gpu_pass(false);
    pthread_mutex_lock(&lock);
    if (noted.count) qsort(noted.items, noted.count, sizeof *noted.items, by_start);
    pthread_mutex_unlock(&lock);
    return &noted;
}

uint64_t cts_gpu_activity_busy_ns(void)
{
    uint64_t busy_ns = 0, covered_ns = 0;
    for (size_t i = 0; i < noted.count; i++) {
        const struct cts_try_span *const span = &noted.items[i];
        const uint64_t from_ns = span->start_ns > covered_ns ? span->start_ns : covered_ns;
        if (span->end_ns <= from_ns) continue;
        busy_ns += span->end_ns - from_ns;
        covered_ns = span->end_ns;
    }
    return busy_ns;
}

void cts_gpu_activity_release(void)
{
    pthread_mutex_lock(&lock);
    free(noted.items);
    noted = (struct cts_gpu_activities){0};
    pthread_mutex_unlock(&lock);
}

#else

bool cts_gpu_activity_start(void)
{
    return false;
}

const struct cts_gpu_activities *cts_gpu_activity_stop(void)
{
    static const struct cts_gpu_activities none;
    return &none;
}

uint64_t cts_gpu_activity_busy_ns(void)
{
    return 0;
}

void cts_gpu_activity_release(void) {}

#endif
