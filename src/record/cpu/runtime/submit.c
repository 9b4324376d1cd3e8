/* Queueing a work in the stream that a handle names, or adding it to the graph that the stream is
 * captured into. */
#include "capture.h"
#include "stream.h"
#include "try-watch.h"

cudaError_t cts_stream_submit(cudaStream_t handle, struct cts_work *work, enum cts_submission wait)
{
    if (cts_try_is_on()) cts_try_watcher->before(work, handle);
    cts_streams_lock();
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    cudaError_t error = cudaErrorInvalidResourceHandle;
    const int device = stream ? stream->device : 0;
    if (!stream)
        cts_work_release(work);
    else if (!cts_capture_takes(stream, work, wait, &error))
        error = cts_stream_append(stream, work, NULL, 0, wait);
    if (cts_try_is_on()) cts_try_watcher->returns();
    cts_streams_unlock();
    if (error == cudaSuccess && wait == CTS_WAIT_UNTIL_DONE) error = cts_sticky(device);
    return error;
}
