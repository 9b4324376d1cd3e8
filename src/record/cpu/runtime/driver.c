/* The part of the driver API that programs mix with the runtime API: each function is the runtime's
 * under another name. A context is a device's primary context; its handle is the device's number
 * plus one, so that no context is NULL. */
#include "runtime.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#pragma GCC visibility push(default)
#include "../include/ctascope_driver_api.h"
/* cuCtxCreate of CUDA 13 (ctascope/runtime_names.h). */
CUresult cuCtxCreate_v4(CUcontext *pctx, const void *parameters, unsigned int flags, CUdevice dev);
#pragma GCC visibility pop

#include "copy-api.h"
#include "driver.h"
#include "range.h"

enum { CONTEXT_STACK_MAX = 32 };
static __thread uint8_t stack[CONTEXT_STACK_MAX]; /* devices; small: thread-room.h says why */
static __thread unsigned depth;

/* The driver API's results, and the runtime API's errors that mean the same. */
static const struct result {
    CUresult result;
    const char *name;
    cudaError_t error;
} results[] = {
#define ROW(result, value, error) {result, #result, error},
    CTS_CU_RESULT_MAP(ROW)
#undef ROW
};
enum { RESULT_COUNT = sizeof results / sizeof *results };

CUresult cts_driver_result(cudaError_t error)
{
    for (size_t i = 0; i < RESULT_COUNT; i++)
        if (results[i].error == error) return results[i].result;
    return CUDA_ERROR_UNKNOWN;
}

/* NULL: no such result. */
static const struct result *find_result(CUresult result)
{
    for (size_t i = 0; i < RESULT_COUNT; i++)
        if (results[i].result == result) return &results[i];
    return NULL;
}

/* A function that is one of the runtime's. */
#define FORWARD(name, parameters, call)                                                            \
    CUresult name parameters                                                                       \
    {                                                                                              \
        CTS_CALL();                                                                                \
        CTS_KEEP_LAST_ERROR();                                                                     \
        return cts_driver_result(call);                                                            \
    }

static CUcontext context_of(int device)
{
    return (CUcontext)((uintptr_t)device + 1);
}

static int device_of(CUcontext context)
{
    return (int)(uintptr_t)context - 1;
}

CUresult cuInit(unsigned int flags)
{
    CTS_KEEP_LAST_ERROR();
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    return cts_driver_result(cts_enter_lenient());
}

CUresult cuDriverGetVersion(int *driverVersion)
{
    CTS_KEEP_LAST_ERROR();
    return cts_driver_result(cudaDriverGetVersion(driverVersion));
}

CUresult cuGetErrorName(CUresult error, const char **pStr)
{
    if (!pStr) return CUDA_ERROR_INVALID_VALUE;
    const struct result *const found = find_result(error);
    *pStr = found ? found->name : NULL;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **pStr)
{
    if (!pStr) return CUDA_ERROR_INVALID_VALUE;
    const struct result *const found = find_result(error);
    *pStr = found ? cudaGetErrorString(found->error) : NULL;
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- devices ---- */

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    CTS_KEEP_LAST_ERROR();
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = cts_enter_lenient();
    if (error != cudaSuccess) return cts_driver_result(error);
    if (!cts_device_is_valid(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    CTS_KEEP_LAST_ERROR();
    return cts_driver_result(cudaGetDeviceCount(count));
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
    CTS_KEEP_LAST_ERROR();
    struct cudaDeviceProp prop;
    if (!name || len <= 0) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = cudaGetDeviceProperties(&prop, dev);
    if (error == cudaSuccess) snprintf(name, (size_t)len, "%s", prop.name);
    return cts_driver_result(error);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    CTS_KEEP_LAST_ERROR();
    struct cudaDeviceProp prop;
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = cudaGetDeviceProperties(&prop, dev);
    if (error == cudaSuccess) *uuid = prop.uuid;
    return cts_driver_result(error);
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    CTS_KEEP_LAST_ERROR();
    struct cudaDeviceProp prop;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = cudaGetDeviceProperties(&prop, dev);
    if (error == cudaSuccess) *bytes = prop.totalGlobalMem;
    return cts_driver_result(error);
}

CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    CTS_KEEP_LAST_ERROR();
    /* The two APIs number attributes alike. */
    return cts_driver_result(cudaDeviceGetAttribute(pi, (enum cudaDeviceAttr)attrib, dev));
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    if (!cts_device_is_valid(dev)) return CUDA_ERROR_INVALID_DEVICE;
    *major = CTS_COMPUTE_MAJOR;
    *minor = CTS_COMPUTE_MINOR;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    CTS_KEEP_LAST_ERROR();
    return cts_driver_result(cudaDeviceCanAccessPeer(canAccessPeer, dev, peerDev));
}

/* ---- contexts ---- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    CTS_KEEP_LAST_ERROR();
    const cudaError_t error = cts_enter_lenient();
    if (error != cudaSuccess) return cts_driver_result(error);
    if (!pctx) return CUDA_ERROR_INVALID_VALUE;
    if (!cts_device_is_valid(dev)) return CUDA_ERROR_INVALID_DEVICE;
    *pctx = context_of(dev);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return cts_device_is_valid(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    CTS_KEEP_LAST_ERROR();
    if (!ctx) {
        depth = 0;
        return CUDA_SUCCESS;
    }
    if (!cts_device_is_valid(device_of(ctx))) return CUDA_ERROR_INVALID_CONTEXT;
    if (depth == 0) depth = 1;
    stack[depth - 1] = (uint8_t)device_of(ctx);
    return cts_driver_result(cudaSetDevice(device_of(ctx)));
}

CUresult cuCtxPushCurrent(CUcontext ctx)
{
    CTS_KEEP_LAST_ERROR();
    if (!cts_device_is_valid(device_of(ctx)) || depth == CONTEXT_STACK_MAX)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack[depth++] = (uint8_t)device_of(ctx);
    return cts_driver_result(cudaSetDevice(device_of(ctx)));
}

CUresult cuCtxPopCurrent(CUcontext *pctx)
{
    if (depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (pctx) *pctx = context_of(stack[depth]);
    if (depth) cts_set_current_device(stack[depth - 1]);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
    if (!pctx) return CUDA_ERROR_INVALID_VALUE;
    *pctx = depth ? context_of(stack[depth - 1]) : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    (void)flags; /* how to wait: a hint */
    const CUresult result = cuDevicePrimaryCtxRetain(pctx, dev);
    return result == CUDA_SUCCESS ? cuCtxPushCurrent(*pctx) : result;
}

CUresult cuCtxCreate_v4(CUcontext *pctx, const void *parameters, unsigned int flags, CUdevice dev)
{
    if (parameters) return cts_driver_result(cts_refuse("cuCtxCreate", "contexts with parameters"));
    return cuCtxCreate(pctx, flags, dev);
}

CUresult cuCtxDestroy(CUcontext ctx)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    if (!cts_device_is_valid(device_of(ctx))) return CUDA_ERROR_INVALID_CONTEXT;
    if (depth && stack[depth - 1] == device_of(ctx)) depth--;
    return cts_driver_result(cudaDeviceSynchronize());
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    if (depth == 0) return CUDA_ERROR_INVALID_CONTEXT;
    *device = stack[depth - 1];
    return CUDA_SUCCESS;
}

FORWARD(cuCtxSynchronize, (void), cudaDeviceSynchronize())

/* ---- memory ---- */

FORWARD(cuMemGetInfo, (size_t *free_bytes, size_t *total), cudaMemGetInfo(free_bytes, total))

CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    void *pointer = NULL;
    if (!dptr || bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = cudaMalloc(&pointer, bytesize);
    *dptr = (CUdeviceptr)pointer;
    return cts_driver_result(error);
}

CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    void *pointer = NULL;
    if (!dptr) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = cudaMallocManaged(&pointer, bytesize, flags);
    *dptr = (CUdeviceptr)pointer;
    return cts_driver_result(error);
}

FORWARD(cuMemFree, (CUdeviceptr dptr), cudaFree((void *)dptr))
FORWARD(cuMemAllocHost, (void **pp, size_t bytesize), cudaMallocHost(pp, bytesize))
FORWARD(cuMemFreeHost, (void *p), cudaFreeHost(p))
FORWARD(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t byteCount),
        cudaMemcpy((void *)dst, (void *)src, byteCount, cudaMemcpyDefault))
FORWARD(cuMemcpyHtoD, (CUdeviceptr dstDevice, const void *srcHost, size_t byteCount),
        cudaMemcpy((void *)dstDevice, srcHost, byteCount, cudaMemcpyHostToDevice))
FORWARD(cuMemcpyDtoH, (void *dstHost, CUdeviceptr srcDevice, size_t byteCount),
        cudaMemcpy(dstHost, (void *)srcDevice, byteCount, cudaMemcpyDeviceToHost))
FORWARD(cuMemcpyDtoD, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t byteCount),
        cudaMemcpy((void *)dstDevice, (void *)srcDevice, byteCount, cudaMemcpyDeviceToDevice))
FORWARD(cuMemcpyHtoDAsync,
        (CUdeviceptr dstDevice, const void *srcHost, size_t byteCount, CUstream hStream),
        cudaMemcpyAsync((void *)dstDevice, srcHost, byteCount, cudaMemcpyHostToDevice, hStream))
FORWARD(cuMemcpyDtoHAsync,
        (void *dstHost, CUdeviceptr srcDevice, size_t byteCount, CUstream hStream),
        cudaMemcpyAsync(dstHost, (void *)srcDevice, byteCount, cudaMemcpyDeviceToHost, hStream))
FORWARD(cuMemcpyDtoDAsync,
        (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t byteCount, CUstream hStream),
        cudaMemcpyAsync((void *)dstDevice, (void *)srcDevice, byteCount, cudaMemcpyDeviceToDevice,
                        hStream))

static CUresult fill(CUdeviceptr destination, uint32_t value, uint32_t element_bytes, size_t count,
                     CUstream stream)
{
    const cudaError_t entered = cts_enter();
    if (entered != cudaSuccess) return cts_driver_result(entered);
    if (destination % element_bytes || count > SIZE_MAX / element_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cts_geometry geometry = {.destination = destination,
                                          .width_bytes = count * element_bytes,
                                          .height = 1,
                                          .depth = 1,
                                          .destination_pitch = count * element_bytes,
                                          .destination_slice = count * element_bytes};
    return cts_driver_result(cts_fill(&geometry, value, element_bytes, stream));
}

CUresult cuMemsetD8(CUdeviceptr dstDevice, unsigned char uc, size_t n)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    return fill(dstDevice, uc, 1, n, NULL);
}

CUresult cuMemsetD16(CUdeviceptr dstDevice, unsigned short us, size_t n)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    return fill(dstDevice, us, 2, n, NULL);
}

CUresult cuMemsetD32(CUdeviceptr dstDevice, unsigned int ui, size_t n)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    return fill(dstDevice, ui, 4, n, NULL);
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t n, CUstream hStream)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    return fill(dstDevice, uc, 1, n, hStream);
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t n, CUstream hStream)
{
    CTS_CALL();
    CTS_KEEP_LAST_ERROR();
    return fill(dstDevice, ui, 4, n, hStream);
}

/* ---- streams and events ---- */

FORWARD(cuStreamCreate, (CUstream * phStream, unsigned int flags),
        cudaStreamCreateWithFlags(phStream, flags))
FORWARD(cuStreamDestroy, (CUstream hStream), cudaStreamDestroy(hStream))
FORWARD(cuStreamSynchronize, (CUstream hStream), cudaStreamSynchronize(hStream))
FORWARD(cuStreamQuery, (CUstream hStream), cudaStreamQuery(hStream))
FORWARD(cuStreamWaitEvent, (CUstream hStream, CUevent hEvent, unsigned int flags),
        cudaStreamWaitEvent(hStream, hEvent, flags))
FORWARD(cuEventCreate, (CUevent * phEvent, unsigned int flags),
        cudaEventCreateWithFlags(phEvent, flags))
FORWARD(cuEventDestroy, (CUevent hEvent), cudaEventDestroy(hEvent))
FORWARD(cuEventRecord, (CUevent hEvent, CUstream hStream), cudaEventRecord(hEvent, hStream))
FORWARD(cuEventSynchronize, (CUevent hEvent), cudaEventSynchronize(hEvent))
FORWARD(cuEventQuery, (CUevent hEvent), cudaEventQuery(hEvent))
FORWARD(cuEventElapsedTime, (float *pMilliseconds, CUevent hStart, CUevent hEnd),
        cudaEventElapsedTime(pMilliseconds, hStart, hEnd))
