/* What the devices did: CUPTI fills buffers with records, in no order, and gives them back when
 * they are full or flushed; each record becomes an activity or a copy on its stream's location.
 *
 * Buffers come from a pool of a bounded size; when all are out, CUPTI gets none, drops records, and
 * counts them. A few are kept ready, and zeroed by the thread that has read them: the program's
 * threads, which ask for them, should not wait for the memory. Times are host times already: CUPTI
 * maps the devices' clocks to the one of the callback, which is the recorder's.
 *
 * Only members are read that all versions of a record since CUDA 11.6 have at the same place. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "inject.h"

enum { BUFFER_BYTES = 256 << 10, BUFFER_ALIGN = 4096, BUFFERS_DEFAULT = 768 };
enum { KEPT_MAX = 32, READY = 4 };

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *kept[KEPT_MAX]; /* zeroed */
static size_t kept_count, out_count;
static size_t buffer_max = BUFFERS_DEFAULT; /* that CUPTI may have at once */

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER; /* one buffer at a time */
static _Atomic uint64_t kernel_count;
static uint64_t unended_count; /* under `reading`, as are these */
static struct {
    uint32_t kind;
    const char *what;
    uint64_t count, ns;
} overheads[] = {
    {CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE, "for resources", 0, 0},
    {CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, "for instrumentation", 0, 0},
    {7 << 16 /* ..._ACTIVITY_BUFFER_REQUEST, since CUDA 12 */, "for buffers", 0, 0},
    {CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, "for flushes, in threads of its own", 0, 0},
};

/* ---- buffers ---- */

static uint8_t *make_buffer(void)
{
    uint8_t *const buffer = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
    if (buffer) memset(buffer, 0, BUFFER_BYTES);
    return buffer;
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *record_max)
{
    *buffer = NULL;
    *size = 0;
    *record_max = 0;
    pthread_mutex_lock(&pool_lock);
    const bool allowed = out_count < buffer_max;
    if (allowed && kept_count) *buffer = kept[--kept_count];
    if (allowed) out_count++;
    pthread_mutex_unlock(&pool_lock);
    if (!allowed) return;
    if (!*buffer) *buffer = make_buffer();
    if (*buffer) {
        *size = BUFFER_BYTES;
        return;
    }
    pthread_mutex_lock(&pool_lock);
    out_count--;
    pthread_mutex_unlock(&pool_lock);
}

void cts_activities_prepare(void)
{
    for (int i = 0; i < READY; i++) {
        pthread_mutex_lock(&pool_lock);
        const bool enough = kept_count >= READY;
        pthread_mutex_unlock(&pool_lock);
        uint8_t *const buffer = enough ? NULL : make_buffer();
        if (!buffer) return;
        pthread_mutex_lock(&pool_lock);
        const bool fits = kept_count < KEPT_MAX;
        if (fits) kept[kept_count++] = buffer;
        pthread_mutex_unlock(&pool_lock);
        if (!fits) free(buffer);
    }
}

static void take_back(uint8_t *buffer, size_t used_bytes)
{
    memset(buffer, 0, used_bytes);
    pthread_mutex_lock(&pool_lock);
    out_count--;
    if (kept_count < KEPT_MAX) {
        kept[kept_count++] = buffer;
        buffer = NULL;
    }
    pthread_mutex_unlock(&pool_lock);
    free(buffer);
}

/* ---- records ---- */

static bool has_ended(uint64_t start_ns, uint64_t end_ns)
{
    if (start_ns && end_ns >= start_ns) return true;
    unended_count++;
    return false;
}

static void read_kernel(const CUpti_ActivityKernel9 *record)
{
    atomic_fetch_add_explicit(&kernel_count, 1, memory_order_relaxed);
    if (!has_ended(record->start, record->end)) return;
    struct cts_log *const log =
        cts_stream_by_id(record->contextId, record->streamId, record->deviceId);
    if (!log) return;
    enum { FIRST = CTS_ATTRIBUTE_CORRELATION, LAST = CTS_ATTRIBUTE_DYNAMIC_SHARED };
    const struct cts_recorder_activity activity = {
        .start_ns = record->start,
        .end_ns = record->end,
        .region = cts_kernel_region(record->name),
        .present = ((1u << (LAST + 1)) - 1) & ~((1u << FIRST) - 1),
        .correlation = record->correlationId,
        .grid = {(uint32_t)record->gridX, (uint32_t)record->gridY, (uint32_t)record->gridZ},
        .block = {(uint32_t)record->blockX, (uint32_t)record->blockY, (uint32_t)record->blockZ},
        .registers = record->registersPerThread,
        .static_shared = (uint32_t)record->staticSharedMemory,
        .dynamic_shared = (uint32_t)record->dynamicSharedMemory,
    };
    cts_inject_recorder->activity(log, &activity);
}

static enum cts_recorder_copy_kind copy_kind(uint8_t kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
        return CTS_COPY_HOST_TO_DEVICE;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
        return CTS_COPY_DEVICE_TO_HOST;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
        return CTS_COPY_HOST_TO_HOST;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return CTS_COPY_PEER;
    default:
        return CTS_COPY_DEVICE_TO_DEVICE;
    }
}

static void read_copy(const CUpti_ActivityMemcpy5 *record)
{
    if (!has_ended(record->start, record->end)) return;
    struct cts_log *const log =
        cts_stream_by_id(record->contextId, record->streamId, record->deviceId);
    if (!log) return;
    const struct cts_recorder_copy copy = {.start_ns = record->start,
                                           .end_ns = record->end,
                                           .bytes = record->bytes,
                                           .correlation = record->correlationId,
                                           .kind = copy_kind(record->copyKind)};
    cts_inject_recorder->copy(log, &copy);
}

/* The stream that a peer copy runs on may be the source's or the destination's; the other end is
 * shown as the null stream of its context. */
static void read_peer_copy(const CUpti_ActivityMemcpyPtoP4 *record)
{
    if (!has_ended(record->start, record->end)) return;
    struct cts_log *const log =
        cts_stream_by_id(record->contextId, record->streamId, record->deviceId);
    if (!log) return;
    const bool runs_at_source = record->srcContextId == record->contextId;
    struct cts_log *const other =
        runs_at_source ? log : cts_stream_of_context(record->srcContextId, record->srcDeviceId);
    const struct cts_recorder_copy copy = {.start_ns = record->start,
                                           .end_ns = record->end,
                                           .bytes = record->bytes,
                                           .correlation = record->correlationId,
                                           .kind = CTS_COPY_PEER,
                                           .source = other ? other : log};
    cts_inject_recorder->copy(log, &copy);
}

static uint32_t region_of_device(const char *name, const char *file, _Atomic uint32_t *known)
{
    uint32_t number = atomic_load_explicit(known, memory_order_relaxed);
    if (number == 0) {
        const struct cts_timeline_region region = {
            .name = name, .file = file, .paradigm = CTS_PARADIGM_CUDA, .role = CTS_ROLE_FUNCTION};
        number = cts_inject_recorder->region(&region) + 1;
        atomic_store_explicit(known, number, memory_order_relaxed);
    }
    return number - 1;
}

static void read_memset(const CUpti_ActivityMemset4 *record)
{
    static _Atomic uint32_t region;
    if (!has_ended(record->start, record->end)) return;
    struct cts_log *const log =
        cts_stream_by_id(record->contextId, record->streamId, record->deviceId);
    if (!log) return;
    const struct cts_recorder_activity activity = {
        .start_ns = record->start,
        .end_ns = record->end,
        .region = region_of_device("cuMemset", "CUDA_MEMSET", &region),
        .present = 1u << CTS_ATTRIBUTE_CORRELATION,
        .correlation = record->correlationId};
    cts_inject_recorder->activity(log, &activity);
}

/* Synchronisations and CUDA events have records, too (of CUDA 12.9 on, those of events bring the
 * others); they say what stands on the calls already, seen by the thread itself, and are not asked
 * for. */

/* What the driver itself does (lazy loading of kernels, a full command buffer) is inside its calls
 * anyhow; here is what would not be there without the recording. It is summed up: a record comes
 * when its thread's log has gone on. */
static void read_overhead(const CUpti_ActivityOverhead *record)
{
    for (size_t i = 0; i < sizeof overheads / sizeof *overheads; i++) {
        if ((uint32_t)record->overheadKind != overheads[i].kind) continue;
        overheads[i].count++;
        if (record->end > record->start) overheads[i].ns += record->end - record->start;
    }
}

/* ---- definitions in the buffers, read before the activities of the same buffer ---- */

static void read_definition(const CUpti_Activity *record)
{
    if (record->kind == CUPTI_ACTIVITY_KIND_CONTEXT) {
        const CUpti_ActivityContext *const context = (const CUpti_ActivityContext *)record;
        cts_context_described(context->contextId, context->deviceId, context->nullStreamId);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_STREAM) {
        const CUpti_ActivityStream *const stream = (const CUpti_ActivityStream *)record;
        cts_stream_described(stream->contextId, stream->streamId,
                             stream->flag == CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL,
                             stream->flag == CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_DEVICE) {
        const CUpti_ActivityDevice4 *const device = (const CUpti_ActivityDevice4 *)record;
        if (device->isCudaVisible && device->name)
            cts_inject_recorder->device(device->id, device->name, "gpu");
    }
}

static void read_activity(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        read_kernel((const CUpti_ActivityKernel9 *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        read_copy((const CUpti_ActivityMemcpy5 *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        read_peer_copy((const CUpti_ActivityMemcpyPtoP4 *)record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        read_memset((const CUpti_ActivityMemset4 *)record);
        break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        read_overhead((const CUpti_ActivityOverhead *)record);
        break;
    default:
        break;
    }
}

static void CUPTIAPI read_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid_bytes)
{
    (void)context;
    (void)stream;
    (void)size;
    if (!buffer) return;
    pthread_mutex_lock(&reading);
    CUpti_Activity *record = NULL;
    while (cts_cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
        read_definition(record);
    record = NULL;
    while (cts_cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
        read_activity(record);
    pthread_mutex_unlock(&reading);
    take_back(buffer, valid_bytes);
}

/* ---- life ---- */

static uint64_t CUPTIAPI host_time(void)
{
    return cts_inject_recorder->now_ns();
}

void cts_activities_limit(size_t buffers)
{
    buffer_max = buffers;
}

bool cts_activities_enable(char *reason, size_t reason_bytes)
{
    static const struct {
        CUpti_ActivityKind kind;
        const char *what;
    } kinds[] = {
        {CUPTI_ACTIVITY_KIND_DEVICE, "devices"},
        {CUPTI_ACTIVITY_KIND_CONTEXT, "contexts"},
        {CUPTI_ACTIVITY_KIND_STREAM, "streams"},
        {CUPTI_ACTIVITY_KIND_MEMCPY, "copies"},
        {CUPTI_ACTIVITY_KIND_MEMCPY2, "peer copies"},
        {CUPTI_ACTIVITY_KIND_MEMSET, "memsets"},
        {CUPTI_ACTIVITY_KIND_OVERHEAD, "overhead"},
        {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels"},
    };
    uint8_t yes = 1;
    size_t yes_bytes = sizeof yes;
    const char *text = NULL;
    (void)cts_cupti.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER,
                                              &yes_bytes, &yes);
    (void)cts_cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    CUptiResult result = cts_cupti.cuptiActivityRegisterTimestampCallback(host_time);
    if (result == CUPTI_SUCCESS)
        result = cts_cupti.cuptiActivityRegisterCallbacks(give_buffer, read_buffer);
    const char *what = "buffers";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && result == CUPTI_SUCCESS; i++) {
        what = kinds[i].what;
        result = cts_cupti.cuptiActivityEnable(kinds[i].kind);
    }
    if (result == CUPTI_SUCCESS) return true;
    cts_cupti.cuptiGetResultString(result, &text);
    snprintf(reason, reason_bytes, "CUPTI's records of %s: %s", what, text ? text : "unknown");
    return false;
}

uint64_t cts_activities_kernel_count(void)
{
    return atomic_load(&kernel_count);
}

static void tell_overhead(void)
{
    enum { NS_PER_US = 1000 };
    char text[400] = "CUPTI itself took";
    size_t length = strlen(text);
    bool any = false;
    for (size_t i = 0; i < sizeof overheads / sizeof *overheads; i++) {
        if (!overheads[i].count) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %llu us %s (%llux)",
                                   any ? "," : "", (unsigned long long)overheads[i].ns / NS_PER_US,
                                   overheads[i].what, (unsigned long long)overheads[i].count);
        any = true;
    }
    if (any) cts_inject_say("note", "%s", text);
}

void cts_activities_tell(void)
{
    size_t dropped = 0;
    if (cts_cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS && dropped)
        cts_inject_recorder->lost("records that CUPTI dropped", dropped);
    pthread_mutex_lock(&reading);
    if (unended_count)
        cts_inject_recorder->lost("device activities that had not ended when the program did",
                                  unended_count);
    tell_overhead();
    pthread_mutex_unlock(&reading);
}
