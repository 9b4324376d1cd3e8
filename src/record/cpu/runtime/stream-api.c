/* The API of streams: creating, asking, synchronising, and functions of the host in their order. */
#include <string.h>

#include "capture.h"
#include "range.h"
#include "record.h"
#include "runtime.h"
#include "stream.h"
#include "try-watch.h"

static cudaError_t create(cudaStream_t *handle, unsigned flags, int priority)
{
    if (!handle || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    const int clamped = priority < -5 ? -5 : priority > 0 ? 0 : priority;
    cts_streams_lock();
    *handle = cts_stream_open(flags & cudaStreamNonBlocking ? CTS_STREAM_NON_BLOCKING
                                                            : CTS_STREAM_BLOCKING,
                              cts_current_device(), clamped);
    cts_streams_unlock();
    return *handle ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamCreate(cudaStream_t *pStream)
{
    CTS_ENTER();
    return cts_return(create(pStream, cudaStreamDefault, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    CTS_ENTER();
    return cts_return(create(pStream, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    CTS_ENTER();
    return cts_return(create(pStream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    CTS_CALL();
    CTS_ENTER_LENIENT();
    if (cts_in_callback) return cts_return(cudaErrorNotPermitted);
    if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
        return cts_return(cudaErrorInvalidResourceHandle);
    cts_streams_lock();
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    if (stream) {
        cts_capture_drop(stream);
        cts_stream_close(stream);
    }
    cts_streams_unlock();
    return cts_return(stream ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* Calls `read` with the stream behind a handle. */
static cudaError_t inspect(cudaStream_t handle, void *value,
                           void (*read)(const struct CUstream_st *stream, void *value))
{
    if (!value) return cts_return(cudaErrorInvalidValue);
    cts_streams_lock();
    const struct CUstream_st *const stream = cts_stream_resolve(handle);
    if (stream) read(stream, value);
    cts_streams_unlock();
    return cts_return(stream ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

static void read_priority(const struct CUstream_st *stream, void *value)
{
    *(int *)value = stream->priority;
}

static void read_flags(const struct CUstream_st *stream, void *value)
{
    *(unsigned *)value =
        stream->kind == CTS_STREAM_NON_BLOCKING ? cudaStreamNonBlocking : cudaStreamDefault;
}

static void read_number(const struct CUstream_st *stream, void *value)
{
    *(unsigned long long *)value = stream->number;
}

static void read_device(const struct CUstream_st *stream, void *value)
{
    *(int *)value = stream->device;
}

cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
    CTS_ENTER();
    return inspect(hStream, priority, read_priority);
}

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
    CTS_ENTER();
    return inspect(hStream, flags, read_flags);
}

cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
    CTS_ENTER();
    return inspect(hStream, streamId, read_number);
}

cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
    CTS_ENTER();
    return inspect(hStream, device, read_device);
}

/* Attributes steer caches and spinning, which there is nothing of here: read back as set by
 * default. The priority is the one that has a meaning. */
cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                   cudaLaunchAttributeValue *value_out)
{
    CTS_ENTER();
    if (!value_out) return cts_return(cudaErrorInvalidValue);
    memset(value_out, 0, sizeof *value_out);
    if (attr == cudaLaunchAttributePriority) return inspect(hStream, value_out, read_priority);
    if (attr == cudaLaunchAttributeSynchronizationPolicy) {
        value_out->syncPolicy = cudaSyncPolicyAuto;
        return cudaSuccess;
    }
    return attr == cudaLaunchAttributeAccessPolicyWindow ? cudaSuccess
                                                         : cts_return(cudaErrorInvalidValue);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                   const cudaLaunchAttributeValue *value)
{
    CTS_ENTER();
    unsigned flags;
    if (!value) return cts_return(cudaErrorInvalidValue);
    switch (attr) {
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributePriority:
        return inspect(hStream, &flags, read_flags); /* hints: checked, without effect */
    default:
        return cts_refuse(__func__, "this attribute has no meaning on the CPU device");
    }
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    CTS_ENTER();
    unsigned flags;
    const cudaError_t error = inspect(src, &flags, read_flags);
    return error != cudaSuccess ? error : inspect(dst, &flags, read_flags);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                     unsigned int flags)
{
    CTS_ENTER();
    (void)length;
    struct cts_range range;
    if (!cts_range_find(devPtr, &range) || range.kind != CTS_RANGE_MANAGED || flags > 4)
        return cts_return(cudaErrorInvalidValue);
    unsigned ignored;
    return inspect(stream, &ignored, read_flags); /* host and device see the same memory anyway */
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    CTS_ENTER();
    cts_streams_lock();
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    cudaError_t error = cudaErrorInvalidResourceHandle;
    struct cts_point keep = {0};
    if (stream) {
        error = stream->capture ? cts_capture_spoil(stream) : cudaSuccess;
        keep = cts_point_here(stream); /* the stream stays while it is waited for */
    }
    cts_streams_unlock();
    if (error == cudaSuccess) {
        const struct cts_sync_trace trace = cts_record_sync_begin();
        error = cts_stream_wait(handle);
        if (error == cudaSuccess) error = cts_sticky(stream->device);
        cts_record_sync_end(&trace, CTS_SYNC_STREAM, stream, 0, error);
    }
    cts_streams_lock();
    cts_point_release(&keep);
    cts_streams_unlock();
    return cts_return(error);
}

cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    CTS_ENTER();
    const struct cts_sync_trace trace = cts_record_sync_begin();
    cts_streams_lock();
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    cudaError_t error = cudaErrorInvalidResourceHandle;
    if (stream)
        error = stream->capture                  ? cts_capture_spoil(stream)
                : stream->done == stream->issued ? cts_sticky(stream->device)
                                                 : cudaErrorNotReady;
    if (cts_try_is_on() && error == cudaSuccess) cts_try_watcher->waited_stream(stream);
    if (stream) cts_record_sync_end(&trace, CTS_SYNC_STREAM_QUERY, stream, 0, error);
    cts_streams_unlock();
    return cts_return_query(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
    CTS_ENTER();
    const struct cts_sync_trace trace = cts_record_sync_begin();
    cts_streams_wait_device(cts_current_device());
    const cudaError_t error = cts_sticky(cts_current_device());
    cts_record_sync_end(&trace, CTS_SYNC_DEVICE, NULL, 0, error);
    return cts_return(error);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    CTS_ENTER();
    if (!fn) return cts_return(cudaErrorInvalidValue);
    struct cts_work work = {.kind = CTS_WORK_HOST, .host = {fn, userData}};
    return cts_return(cts_stream_submit(stream, &work, CTS_ASYNCHRONOUS));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned int flags)
{
    CTS_ENTER();
    if (!callback || flags) return cts_return(cudaErrorInvalidValue);
    struct cts_work work = {.kind = CTS_WORK_CALLBACK, .callback = {callback, userData}};
    return cts_return(cts_stream_submit(stream, &work, CTS_ASYNCHRONOUS));
}
