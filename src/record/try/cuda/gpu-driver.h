/* The CUDA driver, as the program would call it: found in libcuda.so.1, behind the shim. */
#ifndef CTS_RECORD_TRY_GPU_DRIVER_H
#define CTS_RECORD_TRY_GPU_DRIVER_H

#include <cuda.h>
#include <stdbool.h>

/* A symbol of the real driver; NULL: it has none of that name. */
void *cts_gpu_real(const char *symbol);
/* Calls of this thread are not the program's, but for instance CUPTI's: they are not watched. */
void cts_gpu_pass(bool passes);
bool cts_gpu_passes(void);
/* dlsym() without the shim. */
void *cts_gpu_plain_dlsym(void *handle, const char *symbol);

/* Calls of our own: member, symbol, parameters. */
#define CTS_GPU_CALLS(X)                                                                           \
    X(ctx_synchronize, "cuCtxSynchronize", (void))                                                 \
    X(ctx_get_device, "cuCtxGetDevice", (CUdevice *))                                              \
    X(device_name, "cuDeviceGetName", (char *, int, CUdevice))                                     \
    X(device_attribute, "cuDeviceGetAttribute", (int *, CUdevice_attribute, CUdevice))             \
    X(function_parameter, "cuFuncGetParamInfo", (CUfunction, size_t, size_t *, size_t *))          \
    X(kernel_parameter, "cuKernelGetParamInfo", (CUkernel, size_t, size_t *, size_t *))            \
    X(function_name, "cuFuncGetName", (const char **, CUfunction))                                 \
    X(kernel_name, "cuKernelGetName", (const char **, CUkernel))                                   \
    X(pointer_attribute, "cuPointerGetAttribute", (void *, CUpointer_attribute, CUdeviceptr))      \
    X(stream_flags, "cuStreamGetFlags", (CUstream, unsigned *))                                    \
    X(stream_capturing, "cuStreamIsCapturing", (CUstream, CUstreamCaptureStatus *))                \
    X(stream_create, "cuStreamCreate", (CUstream *, unsigned))                                     \
    X(stream_destroy, "cuStreamDestroy_v2", (CUstream))                                            \
    X(stream_wait_event, "cuStreamWaitEvent", (CUstream, CUevent, unsigned))                       \
    X(stream_synchronize, "cuStreamSynchronize", (CUstream))                                       \
    X(event_create, "cuEventCreate", (CUevent *, unsigned))                                        \
    X(event_destroy, "cuEventDestroy_v2", (CUevent))                                               \
    X(event_record, "cuEventRecord", (CUevent, CUstream))                                          \
    X(event_synchronize, "cuEventSynchronize", (CUevent))                                          \
    X(event_elapsed, "cuEventElapsedTime", (float *, CUevent, CUevent))                            \
    X(launch_kernel_ex, "cuLaunchKernelEx",                                                        \
      (const CUlaunchConfig *, CUfunction, void **, void **))                                      \
    X(launch_cooperative, "cuLaunchCooperativeKernel",                                             \
      (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, \
       void **))                                                                                   \
    X(launch_host, "cuLaunchHostFunc", (CUstream, CUhostFn, void *))                               \
    X(graph_launch, "cuGraphLaunch", (CUgraphExec, CUstream))                                      \
    X(copy_from_host, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))                      \
    X(copy_to_host, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))                              \
    X(copy_async, "cuMemcpyAsync", (CUdeviceptr, CUdeviceptr, size_t, CUstream))                   \
    X(set_8, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))                    \
    X(set_16, "cuMemsetD16Async", (CUdeviceptr, unsigned short, size_t, CUstream))                 \
    X(set_32, "cuMemsetD32Async", (CUdeviceptr, unsigned, size_t, CUstream))                       \
    X(stream_create_urgent, "cuStreamCreateWithPriority", (CUstream *, unsigned, int))             \
    X(stream_priorities, "cuCtxGetStreamPriorityRange", (int *, int *))                            \
    X(begin_capture, "cuStreamBeginCapture_v2", (CUstream, CUstreamCaptureMode))                   \
    X(end_capture, "cuStreamEndCapture", (CUstream, CUgraph *))                                    \
    X(graph_instantiate, "cuGraphInstantiateWithFlags",                                            \
      (CUgraphExec *, CUgraph, unsigned long long))                                                \
    X(graph_upload, "cuGraphUpload", (CUgraphExec, CUstream))                                      \
    X(graph_destroy, "cuGraphDestroy", (CUgraph))                                                  \
    X(graph_exec_destroy, "cuGraphExecDestroy", (CUgraphExec))                                     \
    X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *, CUfunction, int, size_t))  \
    X(kernel_function, "cuKernelGetFunction", (CUfunction *, CUkernel))                            \
    X(allocate, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                          \
    X(set_now, "cuMemsetD8_v2", (CUdeviceptr, unsigned char, size_t))                              \
    X(free, "cuMemFree_v2", (CUdeviceptr))                                                         \
    X(host_allocate, "cuMemHostAlloc", (void **, size_t, unsigned))                                \
    X(host_free, "cuMemFreeHost", (void *))

struct cts_gpu_driver {
#define X(member, symbol, parameters) CUresult(*member) parameters;
    CTS_GPU_CALLS(X)
#undef X
};

/* NULL: the driver is not there, or too old for what replays need (12.4 names kernels' parameters).
 */
const struct cts_gpu_driver *cts_gpu_driver(void);

#endif
