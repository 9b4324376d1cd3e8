/* The timeline of the CPU device. Three kinds of things are told to the recorder:
 *
 *   - calls (call.h): ENTER and LEAVE on the thread's location. ENTER is written when its
 *     attributes are known: when the call queues its first work (the stream and a correlation),
 *     when it starts to wait, or at its end; its time is the call's begin in any case. A thread
 *     knows its outermost call, so that the functions below need not be told which it is;
 *   - activities of streams, when they have ended: kernels, memsets and functions of the host as
 *     regions, copies as RMA. They carry the correlation of the call that queued them, which the
 *     nodes of a graph share;
 *   - streams, numbered per device: the null stream is 0, others follow in the order of their
 *     creation, which is that of the catalogue's rows, so that launches of two recordings can be
 *     matched.
 *
 * The recorder is a library beside this one that is loaded when the environment asks for it, so
 * that programs that are not recorded need not have it. */
#include "cpu-timeline.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "record/timeline/recorder.h"
#include "trace/failures.h"
#include "registry.h"
#include "stream.h"
#include "work.h"

_Atomic int cts_cpu_timeline_state = CTS_TIMELINE_UNKNOWN;

static const struct cts_recorder *recorder;
static uint64_t opened_ns;
static _Atomic uint64_t last_correlation;
static uint32_t made_streams[CTS_DEVICES_MAX]; /* under the streams' lock */
__thread const char *cts_call_api;
static __thread struct cts_call *current; /* the thread's outermost call */

enum {
    BIT_STREAM = 1u << CTS_ATTRIBUTE_STREAM_REF,
    BIT_EVENT = 1u << CTS_ATTRIBUTE_EVENT_REF,
    BIT_RESULT = 1u << CTS_ATTRIBUTE_RESULT,
    BIT_CORRELATION = 1u << CTS_ATTRIBUTE_CORRELATION,
};

/* ---- life ---- */

/* The table of the recorder that lies beside this library; NULL with a reason, which is never
 * freed.
 */
static const struct cts_recorder *load(char **reason)
{
    Dl_info own;
    char *path;
    *reason = NULL;
    if (!dladdr(&cts_cpu_timeline_state, &own) || !own.dli_fname) {
        *reason = strdup("cannot find the directory of this library");
        return NULL;
    }
    const char *const slash = strrchr(own.dli_fname, '/');
    const int folder = slash ? (int)(slash + 1 - own.dli_fname) : 0;
    if (asprintf(&path, "%.*slibctascope_timeline.so", folder, own.dli_fname) < 0) return NULL;
    /* One recorder per process: another part, of another copy of ctascope even, may have loaded it.
     */
    const int mode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
    void *library = dlopen("libctascope_timeline.so", mode | RTLD_NOLOAD);
    if (!library) library = dlopen(path, mode);
    const struct cts_recorder *(*get)(void) = NULL;
    if (library) *(void **)&get = dlsym(library, "cts_recorder_get");
    const struct cts_recorder *table = get ? get() : NULL;
    if (!table) {
        *reason = strdup(dlerror());
    } else if (table->version != CTS_RECORDER_VERSION) {
        if (asprintf(reason, "'%s' is of version %u, not %d", path, table->version,
                     CTS_RECORDER_VERSION) < 0)
            *reason = NULL;
        table = NULL;
    }
    free(path);
    return table;
}

static const struct cts_recorder *_Atomic loaded;
static char *_Atomic load_reason; /* why it is NULL */

void cts_cpu_timeline_load(void)
{
    const char *const wanted = getenv("CTASCOPE_TIMELINE");
    const int errnum = errno;
    char *reason;
    if (!wanted || strcmp(wanted, "1") != 0 || atomic_load(&loaded)) return;
    const struct cts_recorder *const table = load(&reason);
    if (!table) atomic_store(&load_reason, reason);
    atomic_store(&loaded, table);
    errno = errnum;
}

/* Where the program links this library, no thread of its own has begun. */
__attribute__((constructor)) static void load_early(void)
{
    cts_cpu_timeline_load();
}

void cts_cpu_timeline_start(void)
{
    recorder = cts_environment_get()->timeline ? atomic_load(&loaded) : NULL;
    if (cts_environment_get()->timeline && !recorder) {
        const char *const known = atomic_load(&load_reason);
        const char *const reason = known ? known : "out of memory";
        cts_say("no timeline is recorded: %s", reason);
        if (cts_environment_get()->run_path)
            cts_failure_leave(cts_environment_get()->run_path, CTS_FAILURE_TIMELINE, reason);
    }
    if (!recorder || !recorder->is_on()) {
        atomic_store(&cts_cpu_timeline_state, CTS_TIMELINE_OFF);
        return;
    }
    for (int device = 0; device < cts_device_count(); device++)
        recorder->device((uint32_t)device, "ctascope CPU device", "cpu");
    opened_ns = recorder->now_ns();
    atomic_store_explicit(&cts_cpu_timeline_state, CTS_TIMELINE_ON, memory_order_release);
}

void cts_cpu_timeline_finish(void)
{
    atomic_store(&cts_cpu_timeline_state, CTS_TIMELINE_OFF); /* the recorder ends by itself */
}

static bool is_on(void)
{
    return atomic_load_explicit(&cts_cpu_timeline_state, memory_order_acquire) == CTS_TIMELINE_ON;
}

/* ---- regions ---- */

/* A region's number is kept, plus one, where it is used. */
static uint32_t region_of(_Atomic uint32_t *known, const struct cts_timeline_region *region)
{
    uint32_t number = atomic_load_explicit(known, memory_order_relaxed);
    if (number == 0) {
        number = recorder->region(region) + 1;
        atomic_store_explicit(known, number, memory_order_relaxed);
    }
    return number - 1;
}

static uint32_t region_of_call(const char *function, _Atomic uint32_t *known)
{
    const bool is_runtime_api = strncmp(function, "cuda", 4) == 0;
    const struct cts_timeline_region region = {.name = function,
                                               .file = is_runtime_api ? "CUDART" : "CUDRV",
                                               .paradigm = CTS_PARADIGM_CUDA,
                                               .role = CTS_ROLE_WRAPPER};
    return region_of(known, &region);
}

static uint32_t region_of_work(const struct cts_work *work)
{
    static _Atomic uint32_t memset_region, function_region;
    if (work->kind == CTS_WORK_LAUNCH) {
        struct cts_cpu_kernel *const kernel = work->launch.kernel;
        const struct cts_timeline_region region = {.name = kernel->desc->display_name,
                                                   .canonical_name = kernel->desc->name,
                                                   .file = "CUDA_KERNEL",
                                                   .paradigm = CTS_PARADIGM_CUDA,
                                                   .role = CTS_ROLE_FUNCTION};
        return region_of(&kernel->timeline_region, &region);
    }
    const bool is_memset = work->kind == CTS_WORK_MEMSET;
    const struct cts_timeline_region region = {.name = is_memset ? "cuMemset" : "host function",
                                               .file = is_memset ? "CUDA_MEMSET" : "CUDA_HOST",
                                               .paradigm = CTS_PARADIGM_CUDA,
                                               .role = CTS_ROLE_FUNCTION};
    return region_of(is_memset ? &memset_region : &function_region, &region);
}

/* ---- calls ---- */

void cts_call_begin(struct cts_call *call, const char *function, _Atomic uint32_t *region,
                    uint64_t start_ns)
{
    if (current || !is_on()) return;
    if (start_ns == 0)
        start_ns = recorder->now_ns();
    else if (start_ns < opened_ns) /* the first call opened the recorder */
        start_ns = opened_ns;
    struct cts_log *const thread = recorder->this_thread();
    if (!thread) return;
    *call = (struct cts_call){.thread = thread,
                              .start_ns = start_ns,
                              .region = region_of_call(function, region),
                              .is_outermost = call->is_outermost};
    current = call;
}

static void enter(struct cts_call *call)
{
    call->is_entered = true;
    const struct cts_timeline_event event = {
        .time_ns = call->start_ns, .kind = CTS_EVENT_ENTER, .region = call->region};
    struct cts_event_attributes attributes;
    attributes.present = 0;
    if (call->stream) {
        attributes.present = BIT_STREAM;
        attributes.values[CTS_ATTRIBUTE_STREAM_REF] = (uint64_t)call->stream;
    }
    if (call->correlation) {
        attributes.present |= BIT_CORRELATION;
        attributes.values[CTS_ATTRIBUTE_CORRELATION] = call->correlation;
    }
    recorder->event(call->thread, &event, attributes.present ? &attributes : NULL);
}

void cts_call_leave(struct cts_call *call)
{
    current = NULL;
    if (!call->is_entered) enter(call);
    const struct cts_timeline_event event = {.kind = CTS_EVENT_LEAVE, .region = call->region};
    struct cts_event_attributes attributes;
    attributes.present = call->leave_present;
    attributes.values[CTS_ATTRIBUTE_STREAM_REF] = (uint64_t)call->stream;
    attributes.values[CTS_ATTRIBUTE_EVENT_REF] = call->event;
    attributes.values[CTS_ATTRIBUTE_RESULT] = (uint32_t)call->result;
    if (call->result) attributes.present |= BIT_RESULT;
    recorder->event(call->thread, &event, attributes.present ? &attributes : NULL);
}

void cts_call_failed(int error)
{
    if (current) current->result = error;
}

void cts_cpu_timeline_names(const struct CUstream_st *stream)
{
    if (current && !current->is_entered) current->stream = stream->log;
}

void cts_cpu_timeline_waits(void)
{
    if (current && !current->is_entered) enter(current);
}

void cts_cpu_timeline_synchronised(enum cts_sync_kind kind, const struct CUstream_st *stream,
                                   uint64_t event, cudaError_t result)
{
    if (!current) return;
    if (!current->is_entered) enter(current);
    const bool is_of_event = kind == CTS_SYNC_EVENT || kind == CTS_SYNC_EVENT_QUERY;
    if (stream && stream->log && !is_of_event) {
        current->stream = stream->log;
        current->leave_present |= BIT_STREAM;
    }
    if (event) {
        current->event = event;
        current->leave_present |= BIT_EVENT;
    }
    if (kind == CTS_SYNC_STREAM_QUERY || kind == CTS_SYNC_EVENT_QUERY)
        current->leave_present |= BIT_RESULT;
    current->result = (int)result;
}

/* ---- streams ---- */

void cts_cpu_timeline_stream(struct CUstream_st *stream)
{
    if (!is_on()) return;
    const bool is_null = stream->kind == CTS_STREAM_LEGACY;
    const struct cts_recorder_stream description = {
        .device = (uint32_t)stream->device,
        .context = (uint64_t)stream->device,
        .stream = stream->number,
        .ordinal = is_null ? 0 : ++made_streams[stream->device],
        .null_stream = is_null,
        .non_blocking = stream->kind == CTS_STREAM_NON_BLOCKING};
    stream->log = recorder->stream(&description);
}

void cts_cpu_timeline_stream_end(const struct CUstream_st *stream)
{
    if (stream->log && is_on()) recorder->stream_destroyed(stream->log);
}

/* ---- works ---- */

static bool is_activity(const struct cts_work *work)
{
    return work->kind != CTS_WORK_NOTHING && work->kind != CTS_WORK_EVENT;
}

void cts_cpu_timeline_queued(const struct cts_work *work, struct CUstream_st *stream,
                             struct cts_trace *trace)
{
    if (!stream->log || !is_on()) return;
    if (work->kind == CTS_WORK_EVENT)
        cts_cpu_timeline_synchronised(CTS_SYNC_EVENT_RECORD, stream, work->event.handle,
                                      cudaSuccess);
    if (!is_activity(work)) return;
    trace->log = stream->log;
    if (!current) return; /* work of the runtime's own */
    if (!current->is_entered) {
        current->correlation = atomic_fetch_add(&last_correlation, 1) + 1;
        current->stream = stream->log;
        enter(current);
    }
    trace->correlation = current->correlation;
}

static void kernel_done(const struct cts_launch_work *launch,
                        struct cts_recorder_activity *activity)
{
    activity->present |= 1u << CTS_ATTRIBUTE_GRID_X | 1u << CTS_ATTRIBUTE_GRID_Y |
                         1u << CTS_ATTRIBUTE_GRID_Z | 1u << CTS_ATTRIBUTE_BLOCK_X |
                         1u << CTS_ATTRIBUTE_BLOCK_Y | 1u << CTS_ATTRIBUTE_BLOCK_Z |
                         1u << CTS_ATTRIBUTE_REGISTERS | 1u << CTS_ATTRIBUTE_STATIC_SHARED |
                         1u << CTS_ATTRIBUTE_DYNAMIC_SHARED;
    memcpy(activity->grid, launch->grid, sizeof activity->grid);
    memcpy(activity->block, launch->block, sizeof activity->block);
    activity->static_shared = launch->kernel->desc->static_shared_bytes;
    activity->dynamic_shared = launch->dynamic_shared_bytes;
}

/* By the catalogue's word for it. */
static enum cts_recorder_copy_kind copy_kind(const char *kind)
{
    if (strcmp(kind, "PtoP") == 0) return CTS_COPY_PEER;
    if (kind[0] == 'H') return kind[3] == 'D' ? CTS_COPY_HOST_TO_DEVICE : CTS_COPY_HOST_TO_HOST;
    return kind[3] == 'D' ? CTS_COPY_DEVICE_TO_DEVICE : CTS_COPY_DEVICE_TO_HOST;
}

static void copy_done(const struct cts_work *work, const struct cts_trace *trace)
{
    const struct cts_geometry *const geometry = &work->copy.geometry;
    struct cts_recorder_copy copy = {.start_ns = trace->start_ns,
                                     .end_ns = trace->end_ns,
                                     .bytes =
                                         geometry->width_bytes * geometry->height * geometry->depth,
                                     .correlation = trace->correlation,
                                     .kind = copy_kind(work->copy.kind)};
    if (copy.kind == CTS_COPY_PEER) copy.source = trace->source_log;
    recorder->copy(trace->log, &copy);
}

void cts_cpu_timeline_done(const struct cts_work *work, const struct cts_trace *trace)
{
    if (!is_on()) return;
    if (work->kind == CTS_WORK_COPY) {
        copy_done(work, trace);
        return;
    }
    struct cts_recorder_activity activity = {.start_ns = trace->start_ns,
                                             .end_ns = trace->end_ns,
                                             .region = region_of_work(work),
                                             .present = BIT_CORRELATION,
                                             .correlation = trace->correlation};
    if (work->kind == CTS_WORK_LAUNCH) kernel_done(&work->launch, &activity);
    recorder->activity(trace->log, &activity);
}
