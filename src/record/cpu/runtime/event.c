/* Events. An event remembers the point of the stream where it was last recorded, and a mark that
 * gets the time when that point is reached. An event recorded in a stream that is being captured
 * has a capture mark instead. */
#include <stdatomic.h>
#include <stdlib.h>

#include "capture.h"
#include "record.h"
#include "runtime.h"
#include "stream.h"
#include "try-watch.h"

struct CUevent_st {
    struct CUevent_st *next; /* all events */
    uint64_t number;         /* from 1, in the order of creation: what recordings call it */
    int device;
    unsigned flags;
    struct cts_point point; /* stream NULL: never recorded */
    struct cts_mark *mark;
    struct cts_capture_mark *captured;
    bool is_recorded;
};

static struct CUevent_st *events; /* under the streams' lock */
static uint64_t event_number;

/* The event behind a handle, or NULL; with the lock held. */
static struct CUevent_st *resolve(cudaEvent_t handle)
{
    struct CUevent_st *event = events;
    while (event && event != handle) event = event->next;
    return event;
}

/* 0: there is no such event. */
static uint64_t number_of(cudaEvent_t handle)
{
    const struct CUevent_st *const event = resolve(handle);
    return event ? event->number : 0;
}

static void forget(struct CUevent_st *event)
{
    cts_point_release(&event->point);
    cts_mark_release(event->mark);
    cts_capture_mark_release(event->captured);
    event->mark = NULL;
    event->captured = NULL;
    event->is_recorded = false;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *handle, unsigned int flags)
{
    CTS_ENTER();
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!handle || flags & ~known) return cts_return(cudaErrorInvalidValue);
    if (flags & cudaEventInterprocess)
        return cts_refuse(__func__, "events are not shared between processes");
    struct CUevent_st *const event = calloc(1, sizeof *event);
    if (!event) return cts_return(cudaErrorMemoryAllocation);
    event->flags = flags;
    event->device = cts_current_device();
    cts_streams_lock();
    event->number = ++event_number;
    event->next = events;
    events = event;
    cts_streams_unlock();
    *handle = event;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    CTS_CALL();
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
    CTS_CALL();
    CTS_ENTER_LENIENT();
    cts_streams_lock();
    struct CUevent_st **place = &events;
    while (*place && *place != handle) place = &(*place)->next;
    struct CUevent_st *const event = *place;
    if (event) {
        *place = event->next;
        forget(event);
    }
    cts_streams_unlock();
    free(event);
    return cts_return(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* With the lock held. */
static cudaError_t record(struct CUevent_st *event, struct CUstream_st *stream)
{
    if (stream->device != event->device) return cudaErrorInvalidResourceHandle;
    if (stream->capture) {
        struct cts_capture_mark *const captured = cts_capture_record(stream);
        if (!captured) return cudaErrorMemoryAllocation;
        forget(event);
        event->captured = captured;
        return cudaSuccess;
    }
    struct cts_mark *const mark = cts_mark_new();
    if (!mark) return cudaErrorMemoryAllocation;
    struct cts_work work = {.kind = CTS_WORK_EVENT,
                            .event = {cts_mark_retain(mark), event->number}};
    const cudaError_t error = cts_stream_append(stream, &work, NULL, 0, CTS_ASYNCHRONOUS);
    if (error != cudaSuccess) {
        cts_mark_release(mark);
        return error;
    }
    forget(event);
    event->point = cts_point_here(stream);
    event->mark = mark;
    event->is_recorded = true;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle)
{
    CTS_ENTER();
    cts_streams_lock();
    struct CUevent_st *const event = resolve(handle);
    struct CUstream_st *const stream = cts_stream_resolve(stream_handle);
    const cudaError_t error =
        event && stream ? record(event, stream) : cudaErrorInvalidResourceHandle;
    cts_streams_unlock();
    return cts_return(error);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    CTS_ENTER();
    if (flags & ~(unsigned)cudaEventRecordExternal) return cts_return(cudaErrorInvalidValue);
    return cudaEventRecord(event, stream);
}

/* Takes a reference of the event's point. */
static cudaError_t take_point(cudaEvent_t handle, struct cts_point *point)
{
    struct CUevent_st *const event = resolve(handle);
    *point = (struct cts_point){0};
    if (!event) return cudaErrorInvalidResourceHandle;
    if (event->captured) return cudaErrorCapturedEvent;
    *point = event->point;
    if (point->stream) point->stream->references++;
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    CTS_ENTER();
    const struct cts_sync_trace trace = cts_record_sync_begin();
    struct cts_point point;
    cts_streams_lock();
    cudaError_t error = take_point(handle, &point);
    if (error == cudaSuccess && !cts_point_is_reached(&point)) error = cudaErrorNotReady;
    if (cts_try_is_on() && error == cudaSuccess) cts_try_watcher->waited_point(&point);
    if (error == cudaSuccess) error = cts_sticky(cts_current_device());
    cts_record_sync_end(&trace, CTS_SYNC_EVENT_QUERY, point.stream, number_of(handle), error);
    cts_point_release(&point);
    cts_streams_unlock();
    return cts_return_query(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    CTS_ENTER();
    const struct cts_sync_trace trace = cts_record_sync_begin();
    struct cts_point point;
    cts_streams_lock();
    cudaError_t error = take_point(handle, &point);
    if (error == cudaSuccess) {
        cts_point_wait(&point);
        if (cts_try_is_on()) cts_try_watcher->waited_point(&point);
        error = cts_sticky(cts_current_device());
    }
    cts_record_sync_end(&trace, CTS_SYNC_EVENT, point.stream, number_of(handle), error);
    cts_point_release(&point);
    cts_streams_unlock();
    return cts_return(error);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    CTS_ENTER();
    if (!ms) return cts_return(cudaErrorInvalidValue);
    cts_streams_lock();
    const struct CUevent_st *const from = resolve(start), *const to = resolve(end);
    cudaError_t error = cudaSuccess;
    if (!from || !to || !from->is_recorded || !to->is_recorded ||
        (from->flags | to->flags) & cudaEventDisableTiming)
        error = cudaErrorInvalidResourceHandle;
    else if (!cts_point_is_reached(&from->point) || !cts_point_is_reached(&to->point))
        error = cudaErrorNotReady;
    else
        *ms = (float)((double)(int64_t)(atomic_load(&to->mark->time_ns) -
                                        atomic_load(&from->mark->time_ns)) *
                      1e-6);
    cts_streams_unlock();
    return cts_return_query(error);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle, unsigned int flags)
{
    CTS_ENTER();
    if (flags & ~(unsigned)cudaEventWaitExternal) return cts_return(cudaErrorInvalidValue);
    struct cts_sync_trace trace = cts_record_sync_begin();
    cts_streams_lock();
    struct CUevent_st *const event = resolve(handle);
    struct CUstream_st *const stream = cts_stream_resolve(stream_handle);
    cudaError_t error = cudaSuccess;
    if (!event || !stream)
        error = cudaErrorInvalidResourceHandle;
    else if (event->captured)
        error = cts_capture_wait(stream, event->captured);
    else if (stream->capture)
        error = cts_capture_spoil(stream); /* an event from outside the capture */
    else if (event->point.stream) {
        struct cts_work work = {.kind = CTS_WORK_NOTHING};
        error = cts_stream_append(stream, &work, &event->point, 1, CTS_ASYNCHRONOUS);
    }
    if (event && event->captured) trace.is_on = false; /* an edge of the graph, and no wait */
    cts_record_sync_end(&trace, CTS_SYNC_STREAM_WAIT, stream, event ? event->number : 0, error);
    cts_streams_unlock();
    return cts_return(error);
}
