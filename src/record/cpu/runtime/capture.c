/* Stream capture: while a stream is captured, works become nodes of a graph instead of running. The
 * stream keeps the *front*, the nodes that its next node depends on; an event recorded in it keeps
 * a copy of the front, and a stream that waits for that event joins the capture with it. A
 * *session* is one capture, from begin to end, with all streams that take part. The streams' lock
 * covers it. */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

#include "graph-nodes.h"
#include "stream.h"
#include "work.h"

/* A set of nodes; what a stream's next node depends on. */
struct front {
    struct CUgraphNode_st **nodes;
    size_t count;
};

/* One capture, shared by the streams and events that take part. */
struct session {
    unsigned references;
    struct CUgraph_st *graph;
    struct CUstream_st *origin;
    enum cudaStreamCaptureMode mode;
    bool is_spoiled, is_over;
    unsigned stream_count;
};

struct cts_capture {
    struct session *session;
    struct front front;
};

struct cts_capture_mark {
    struct session *session;
    struct front front;
};

static unsigned active_sessions; /* captures of any thread that forbid the legacy stream */

static bool copy_front(const struct front *from, struct front *to)
{
    to->nodes = calloc(from->count + 1, sizeof *to->nodes);
    if (!to->nodes) return false;
    if (from->count) memcpy(to->nodes, from->nodes, from->count * sizeof *to->nodes);
    to->count = from->count;
    return true;
}

static bool merge_front(struct front *front, const struct front *more)
{
    for (size_t i = 0; i < more->count; i++) {
        size_t k = 0;
        while (k < front->count && front->nodes[k] != more->nodes[i]) k++;
        if (k == front->count &&
            !cts_append_pointer((void ***)(void *)&front->nodes, &front->count, more->nodes[i]))
            return false;
    }
    return true;
}

static void release_session(struct session *session)
{
    if (--session->references) return;
    if (session->graph) cts_graph_free(session->graph);
    free(session);
}

static cudaError_t join_session(struct CUstream_st *stream, struct session *session)
{
    struct cts_capture *const capture = calloc(1, sizeof *capture);
    if (!capture) return cudaErrorMemoryAllocation;
    capture->session = session;
    session->references++;
    session->stream_count++;
    stream->capture = capture;
    return cudaSuccess;
}

static void leave_session(struct CUstream_st *stream)
{
    struct cts_capture *const capture = stream->capture;
    stream->capture = NULL;
    capture->session->stream_count--;
    release_session(capture->session);
    free(capture->front.nodes);
    free(capture);
}

static enum cudaGraphNodeType node_type(const struct cts_work *work)
{
    switch (work->kind) {
    case CTS_WORK_LAUNCH:
        return cudaGraphNodeTypeKernel;
    case CTS_WORK_COPY:
        return cudaGraphNodeTypeMemcpy;
    case CTS_WORK_MEMSET:
        return cudaGraphNodeTypeMemset;
    case CTS_WORK_HOST:
        return cudaGraphNodeTypeHost;
    default:
        return cudaGraphNodeTypeEmpty;
    }
}

cudaError_t cts_capture_spoil(struct CUstream_st *stream)
{
    if (stream->capture) stream->capture->session->is_spoiled = true;
    return cudaErrorStreamCaptureUnsupported;
}

/* A session that is over leaves its streams when they are next used. */
static bool is_capturing(struct CUstream_st *stream)
{
    if (stream->capture && stream->capture->session->is_over) leave_session(stream);
    return stream->capture != NULL;
}

bool cts_capture_takes(struct CUstream_st *stream, struct cts_work *work, enum cts_submission wait,
                       cudaError_t *error)
{
    if (!is_capturing(stream)) {
        if (stream->kind != CTS_STREAM_LEGACY || !active_sessions) return false;
        *error = cudaErrorStreamCaptureImplicit;
        cts_work_release(work);
        return true;
    }
    struct session *const session = stream->capture->session;
    *error = session->is_spoiled ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    if (*error == cudaSuccess && (wait == CTS_WAIT_UNTIL_DONE || work->kind == CTS_WORK_CALLBACK))
        *error = cts_capture_spoil(stream);
    if (*error != cudaSuccess) {
        cts_work_release(work);
        return true;
    }
    struct front *const front = &stream->capture->front;
    struct CUgraphNode_st *const node =
        cts_graph_add(session->graph, node_type(work), work, front->nodes, front->count);
    const struct front one = {(struct CUgraphNode_st *[]){node}, 1};
    front->count = 0;
    if (!node || !merge_front(front, &one)) *error = cudaErrorMemoryAllocation;
    return true;
}

bool cts_capture_is_on(struct CUstream_st *stream)
{
    return is_capturing(stream);
}

bool cts_capture_allocates(struct CUstream_st *stream, const struct cts_range *range,
                           cudaError_t *error)
{
    if (!is_capturing(stream)) return false;
    struct session *const session = stream->capture->session;
    if (session->is_spoiled)
        *error = cudaErrorStreamCaptureInvalidated;
    else if (!cts_graph_memory_add(&session->graph->memory, range, cts_record_take_hint()))
        *error = cudaErrorMemoryAllocation;
    return *error == cudaSuccess;
}

bool cts_capture_frees(struct CUstream_st *stream, const void *address)
{
    return is_capturing(stream) &&
           cts_graph_memory_free(stream->capture->session->graph->memory, address);
}

void cts_capture_drop(struct CUstream_st *stream)
{
    if (!stream->capture) return;
    stream->capture->session->is_spoiled = true;
    leave_session(stream);
}

struct cts_capture_mark *cts_capture_record(struct CUstream_st *stream)
{
    if (!is_capturing(stream)) return NULL;
    struct cts_capture_mark *const mark = calloc(1, sizeof *mark);
    if (!mark) return NULL;
    if (!copy_front(&stream->capture->front, &mark->front)) {
        free(mark);
        return NULL;
    }
    mark->session = stream->capture->session;
    mark->session->references++;
    return mark;
}

void cts_capture_mark_release(struct cts_capture_mark *mark)
{
    if (!mark) return;
    release_session(mark->session);
    free(mark->front.nodes);
    free(mark);
}

cudaError_t cts_capture_wait(struct CUstream_st *stream, struct cts_capture_mark *mark)
{
    struct session *const session = mark->session;
    if (session->is_over || session->is_spoiled) return cudaErrorCapturedEvent;
    if (is_capturing(stream) && stream->capture->session != session) {
        stream->capture->session->is_spoiled = session->is_spoiled = true;
        return cudaErrorStreamCaptureMerge;
    }
    if (stream->kind == CTS_STREAM_LEGACY) return cudaErrorStreamCaptureImplicit;
    if (!stream->capture) {
        const cudaError_t error = join_session(stream, session);
        if (error != cudaSuccess) return error;
    }
    return merge_front(&stream->capture->front, &mark->front) ? cudaSuccess
                                                              : cudaErrorMemoryAllocation;
}

static cudaError_t begin(cudaStream_t handle, enum cudaStreamCaptureMode mode)
{
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->kind == CTS_STREAM_LEGACY) return cudaErrorStreamCaptureUnsupported;
    if (is_capturing(stream)) return cudaErrorIllegalState;
    struct session *const session = calloc(1, sizeof *session);
    if (!session) return cudaErrorMemoryAllocation;
    *session = (struct session){.references = 1, .origin = stream, .mode = mode};
    session->graph = calloc(1, sizeof *session->graph);
    cudaError_t error = session->graph ? cudaSuccess : cudaErrorMemoryAllocation;
    if (error == cudaSuccess) error = join_session(stream, session);
    if (error == cudaSuccess) active_sessions++;
    release_session(session);
    return error;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    CTS_ENTER();
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed) return cts_return(cudaErrorInvalidValue);
    cts_streams_lock();
    const cudaError_t error = begin(stream, mode);
    cts_streams_unlock();
    return cts_return(error);
}

/* Whether every node is a dependency of something, but for those that the origin ends with. */
static bool is_joined(const struct CUgraph_st *graph, const struct front *front)
{
    for (size_t i = 0; i < graph->count; i++) {
        bool is_used = false;
        for (size_t k = 0; k < graph->count && !is_used; k++)
            for (size_t d = 0; d < graph->nodes[k]->dependency_count && !is_used; d++)
                is_used = graph->nodes[k]->dependencies[d] == graph->nodes[i];
        for (size_t k = 0; k < front->count && !is_used; k++)
            is_used = front->nodes[k] == graph->nodes[i];
        if (!is_used) return false;
    }
    return true;
}

static cudaError_t end(cudaStream_t handle, cudaGraph_t *graph)
{
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    *graph = NULL;
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!is_capturing(stream)) return cudaErrorIllegalState;
    struct session *const session = stream->capture->session;
    if (session->origin != stream) return cudaErrorStreamCaptureUnmatched;
    cudaError_t error = cudaSuccess;
    if (session->is_spoiled)
        error = cudaErrorStreamCaptureInvalidated;
    else if (!is_joined(session->graph, &stream->capture->front))
        error = cudaErrorStreamCaptureUnjoined;
    else {
        *graph = session->graph;
        session->graph = NULL;
    }
    session->is_over = true;
    active_sessions--;
    leave_session(stream);
    return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    CTS_ENTER();
    if (!pGraph) return cts_return(cudaErrorInvalidValue);
    cts_streams_lock();
    const cudaError_t error = end(stream, pGraph);
    cts_streams_unlock();
    return cts_return(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    CTS_ENTER();
    if (!pCaptureStatus) return cts_return(cudaErrorInvalidValue);
    cts_streams_lock();
    struct CUstream_st *const found = cts_stream_resolve(stream);
    if (found)
        *pCaptureStatus = !is_capturing(found)                  ? cudaStreamCaptureStatusNone
                          : found->capture->session->is_spoiled ? cudaStreamCaptureStatusInvalidated
                                                                : cudaStreamCaptureStatusActive;
    cts_streams_unlock();
    return cts_return(found ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    CTS_ENTER();
    static __thread enum cudaStreamCaptureMode own = cudaStreamCaptureModeGlobal;
    if (!mode || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return cts_return(cudaErrorInvalidValue);
    const enum cudaStreamCaptureMode before = own;
    own = *mode;
    *mode = before;
    return cudaSuccess;
}
