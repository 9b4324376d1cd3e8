/* The exported functions of the driver: symbol, parameters, and what handles it. A row with a
 * second symbol has the variant whose default stream is the thread's, too. Included by gpu-shim.c
 * alone. */
#ifndef CTS_RECORD_TRY_GPU_TABLE_H
#define CTS_RECORD_TRY_GPU_TABLE_H

#define LAUNCH_PARAMETERS                                                                          \
    CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,             \
        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,                \
        void **parameters
#define LAUNCH_CONFIG                                                                              \
    &(const CUlaunchConfig)                                                                        \
    {                                                                                              \
        .gridDimX = grid_x, .gridDimY = grid_y, .gridDimZ = grid_z, .blockDimX = block_x,          \
        .blockDimY = block_y, .blockDimZ = block_z, .sharedMemBytes = shared_bytes,                \
        .hStream = stream                                                                          \
    }
#define ANY_PARAMETERS uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t g
#define ANY_WORDS                                                                                  \
    (const uintptr_t[])                                                                            \
    {                                                                                              \
        a, b, c, d, e, g                                                                           \
    }

/* X(shim's name, symbol, is the thread's default stream, parameters, call of the handler) */
#define SHIMS(X)                                                                                   \
    X(launch, "cuLaunchKernel", false, (LAUNCH_PARAMETERS, void **extra),                          \
      on_launch(&target, f, LAUNCH_CONFIG, parameters, extra))                                     \
    X(launch_pt, "cuLaunchKernel_ptsz", true, (LAUNCH_PARAMETERS, void **extra),                   \
      on_launch(&target, f, LAUNCH_CONFIG, parameters, extra))                                     \
    X(cooperative, "cuLaunchCooperativeKernel", false, (LAUNCH_PARAMETERS),                        \
      on_cooperative(&target, f, LAUNCH_CONFIG, parameters))                                       \
    X(cooperative_pt, "cuLaunchCooperativeKernel_ptsz", true, (LAUNCH_PARAMETERS),                 \
      on_cooperative(&target, f, LAUNCH_CONFIG, parameters))                                       \
    X(launch_ex, "cuLaunchKernelEx", false,                                                        \
      (const CUlaunchConfig *config, CUfunction f, void **parameters, void **extra),               \
      on_launch_ex(&target, config, f, parameters, extra))                                         \
    X(launch_ex_pt, "cuLaunchKernelEx_ptsz", true,                                                 \
      (const CUlaunchConfig *config, CUfunction f, void **parameters, void **extra),               \
      on_launch_ex(&target, config, f, parameters, extra))                                         \
    X(graph, "cuGraphLaunch", false, (CUgraphExec graph, CUstream stream),                         \
      on_graph(&target, graph, stream))                                                            \
    X(graph_pt, "cuGraphLaunch_ptsz", true, (CUgraphExec graph, CUstream stream),                  \
      on_graph(&target, graph, stream))                                                            \
    X(host, "cuLaunchHostFunc", false, (CUstream stream, CUhostFn function, void *data),           \
      on_host_function(&target, stream, function, data))                                           \
    X(host_pt, "cuLaunchHostFunc_ptsz", true, (CUstream stream, CUhostFn function, void *data),    \
      on_host_function(&target, stream, function, data))                                           \
    X(copy_up, "cuMemcpyHtoD_v2", false, (CUdeviceptr to, const void *from, size_t size),          \
      on_copy_from_host(&target, (struct copy){to, (uint64_t)from, size, NULL, true}))             \
    X(copy_up_pt, "cuMemcpyHtoD_v2_ptds", true, (CUdeviceptr to, const void *from, size_t size),   \
      on_copy_from_host(&target, (struct copy){to, (uint64_t)from, size, NULL, true}))             \
    X(copy_down, "cuMemcpyDtoH_v2", false, (void *to, CUdeviceptr from, size_t size),              \
      on_copy_to_host(&target, (struct copy){(uint64_t)to, from, size, NULL, true}))               \
    X(copy_down_pt, "cuMemcpyDtoH_v2_ptds", true, (void *to, CUdeviceptr from, size_t size),       \
      on_copy_to_host(&target, (struct copy){(uint64_t)to, from, size, NULL, true}))               \
    X(copy_within, "cuMemcpyDtoD_v2", false, (CUdeviceptr to, CUdeviceptr from, size_t size),      \
      on_copy(&target, (struct copy){to, from, size, NULL, true}))                                 \
    X(copy_within_pt, "cuMemcpyDtoD_v2_ptds", true,                                                \
      (CUdeviceptr to, CUdeviceptr from, size_t size),                                             \
      on_copy(&target, (struct copy){to, from, size, NULL, true}))                                 \
    X(copy_any, "cuMemcpy", false, (CUdeviceptr to, CUdeviceptr from, size_t size),                \
      on_copy(&target, (struct copy){to, from, size, NULL, true}))                                 \
    X(copy_any_pt, "cuMemcpy_ptds", true, (CUdeviceptr to, CUdeviceptr from, size_t size),         \
      on_copy(&target, (struct copy){to, from, size, NULL, true}))                                 \
    X(copy_up_async, "cuMemcpyHtoDAsync_v2", false,                                                \
      (CUdeviceptr to, const void *from, size_t size, CUstream stream),                            \
      on_copy_from_host_async(&target, (struct copy){to, (uint64_t)from, size, stream, false}))    \
    X(copy_up_async_pt, "cuMemcpyHtoDAsync_v2_ptsz", true,                                         \
      (CUdeviceptr to, const void *from, size_t size, CUstream stream),                            \
      on_copy_from_host_async(&target, (struct copy){to, (uint64_t)from, size, stream, false}))    \
    X(copy_down_async, "cuMemcpyDtoHAsync_v2", false,                                              \
      (void *to, CUdeviceptr from, size_t size, CUstream stream),                                  \
      on_copy_to_host_async(&target, (struct copy){(uint64_t)to, from, size, stream, false}))      \
    X(copy_down_async_pt, "cuMemcpyDtoHAsync_v2_ptsz", true,                                       \
      (void *to, CUdeviceptr from, size_t size, CUstream stream),                                  \
      on_copy_to_host_async(&target, (struct copy){(uint64_t)to, from, size, stream, false}))      \
    X(copy_within_async, "cuMemcpyDtoDAsync_v2", false,                                            \
      (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),                            \
      on_copy_async(&target, (struct copy){to, from, size, stream, false}))                        \
    X(copy_within_async_pt, "cuMemcpyDtoDAsync_v2_ptsz", true,                                     \
      (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),                            \
      on_copy_async(&target, (struct copy){to, from, size, stream, false}))                        \
    X(copy_any_async, "cuMemcpyAsync", false,                                                      \
      (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),                            \
      on_copy_async(&target, (struct copy){to, from, size, stream, false}))                        \
    X(copy_any_async_pt, "cuMemcpyAsync_ptsz", true,                                               \
      (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream),                            \
      on_copy_async(&target, (struct copy){to, from, size, stream, false}))                        \
    X(set_8, "cuMemsetD8_v2", false, (CUdeviceptr to, unsigned char value, size_t count),          \
      on_fill_8(&target, (struct fill){to, count, value, 1, NULL, true}))                          \
    X(set_8_pt, "cuMemsetD8_v2_ptds", true, (CUdeviceptr to, unsigned char value, size_t count),   \
      on_fill_8(&target, (struct fill){to, count, value, 1, NULL, true}))                          \
    X(set_8_async, "cuMemsetD8Async", false,                                                       \
      (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),                        \
      on_fill_8(&target, (struct fill){to, count, value, 1, stream, false}))                       \
    X(set_8_async_pt, "cuMemsetD8Async_ptsz", true,                                                \
      (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),                        \
      on_fill_8(&target, (struct fill){to, count, value, 1, stream, false}))                       \
    X(set_16, "cuMemsetD16_v2", false, (CUdeviceptr to, unsigned short value, size_t count),       \
      on_fill_16(&target, (struct fill){to, count, value, 2, NULL, true}))                         \
    X(set_16_pt, "cuMemsetD16_v2_ptds", true,                                                      \
      (CUdeviceptr to, unsigned short value, size_t count),                                        \
      on_fill_16(&target, (struct fill){to, count, value, 2, NULL, true}))                         \
    X(set_16_async, "cuMemsetD16Async", false,                                                     \
      (CUdeviceptr to, unsigned short value, size_t count, CUstream stream),                       \
      on_fill_16(&target, (struct fill){to, count, value, 2, stream, false}))                      \
    X(set_16_async_pt, "cuMemsetD16Async_ptsz", true,                                              \
      (CUdeviceptr to, unsigned short value, size_t count, CUstream stream),                       \
      on_fill_16(&target, (struct fill){to, count, value, 2, stream, false}))                      \
    X(set_32, "cuMemsetD32_v2", false, (CUdeviceptr to, unsigned value, size_t count),             \
      on_fill_32(&target, (struct fill){to, count, value, 4, NULL, true}))                         \
    X(set_32_pt, "cuMemsetD32_v2_ptds", true, (CUdeviceptr to, unsigned value, size_t count),      \
      on_fill_32(&target, (struct fill){to, count, value, 4, NULL, true}))                         \
    X(set_32_async, "cuMemsetD32Async", false,                                                     \
      (CUdeviceptr to, unsigned value, size_t count, CUstream stream),                             \
      on_fill_32(&target, (struct fill){to, count, value, 4, stream, false}))                      \
    X(set_32_async_pt, "cuMemsetD32Async_ptsz", true,                                              \
      (CUdeviceptr to, unsigned value, size_t count, CUstream stream),                             \
      on_fill_32(&target, (struct fill){to, count, value, 4, stream, false}))                      \
    X(record, "cuEventRecord", false, (CUevent event, CUstream stream),                            \
      on_record(&target, event, stream))                                                           \
    X(record_pt, "cuEventRecord_ptsz", true, (CUevent event, CUstream stream),                     \
      on_record(&target, event, stream))                                                           \
    X(record_flags, "cuEventRecordWithFlags", false,                                               \
      (CUevent event, CUstream stream, unsigned flags),                                            \
      on_record_flags(&target, event, stream, flags))                                              \
    X(record_flags_pt, "cuEventRecordWithFlags_ptsz", true,                                        \
      (CUevent event, CUstream stream, unsigned flags),                                            \
      on_record_flags(&target, event, stream, flags))                                              \
    X(wait_event, "cuStreamWaitEvent", false, (CUstream stream, CUevent event, unsigned flags),    \
      on_wait_event(&target, stream, event, flags))                                                \
    X(wait_event_pt, "cuStreamWaitEvent_ptsz", true,                                               \
      (CUstream stream, CUevent event, unsigned flags),                                            \
      on_wait_event(&target, stream, event, flags))                                                \
    X(stream_wait, "cuStreamSynchronize", false, (CUstream stream),                                \
      on_stream_wait(&target, stream))                                                             \
    X(stream_wait_pt, "cuStreamSynchronize_ptsz", true, (CUstream stream),                         \
      on_stream_wait(&target, stream))                                                             \
    X(stream_query, "cuStreamQuery", false, (CUstream stream), on_stream_wait(&target, stream))    \
    X(stream_query_pt, "cuStreamQuery_ptsz", true, (CUstream stream),                              \
      on_stream_wait(&target, stream))                                                             \
    X(event_wait, "cuEventSynchronize", false, (CUevent event), on_event_wait(&target, event))     \
    X(event_query, "cuEventQuery", false, (CUevent event), on_event_wait(&target, event))          \
    X(device_wait, "cuCtxSynchronize", false, (void), on_device_wait(&target))                     \
    X(device_wait_2, "cuCtxSynchronize_v2", false, (CUcontext context),                            \
      on_context_wait(&target, context))                                                           \
    X(allocate, "cuMemAlloc_v2", false, (CUdeviceptr * address, size_t size),                      \
      on_allocate(&target, address, size))                                                         \
    X(allocate_managed, "cuMemAllocManaged", false,                                                \
      (CUdeviceptr * address, size_t size, unsigned flags),                                        \
      on_allocate_managed(&target, address, size, flags))                                          \
    X(allocate_async, "cuMemAllocAsync", false,                                                    \
      (CUdeviceptr * address, size_t size, CUstream stream),                                       \
      on_allocate_async(&target, address, size, stream))                                           \
    X(allocate_async_pt, "cuMemAllocAsync_ptsz", true,                                             \
      (CUdeviceptr * address, size_t size, CUstream stream),                                       \
      on_allocate_async(&target, address, size, stream))                                           \
    X(allocate_pool, "cuMemAllocFromPoolAsync", false,                                             \
      (CUdeviceptr * address, size_t size, CUmemoryPool pool, CUstream stream),                    \
      on_allocate_pool(&target, address, size, pool, stream))                                      \
    X(allocate_pool_pt, "cuMemAllocFromPoolAsync_ptsz", true,                                      \
      (CUdeviceptr * address, size_t size, CUmemoryPool pool, CUstream stream),                    \
      on_allocate_pool(&target, address, size, pool, stream))                                      \
    X(release, "cuMemFree_v2", false, (CUdeviceptr address), on_free(&target, address))            \
    X(release_async, "cuMemFreeAsync", false, (CUdeviceptr address, CUstream stream),              \
      on_free_async(&target, address, stream))                                                     \
    X(release_async_pt, "cuMemFreeAsync_ptsz", true, (CUdeviceptr address, CUstream stream),       \
      on_free_async(&target, address, stream))                                                     \
    X(global, "cuModuleGetGlobal_v2", false,                                                       \
      (CUdeviceptr * address, size_t *size, void *module, const char *name),                       \
      on_global(&target, address, size, module, name))                                             \
    X(library_global, "cuLibraryGetGlobal", false,                                                 \
      (CUdeviceptr * address, size_t *size, void *module, const char *name),                       \
      on_global(&target, address, size, module, name))                                             \
    X(profiler_start, "cuProfilerStart", false, (void), on_profiler_start(&target))                \
    X(profiler_stop, "cuProfilerStop", false, (void), on_profiler_stop(&target))                   \
    X(copy_2d, "cuMemcpy2D_v2", false, (ANY_PARAMETERS), on_unsupported(&target, ANY_WORDS))       \
    X(copy_2d_pt, "cuMemcpy2D_v2_ptds", true, (ANY_PARAMETERS),                                    \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_2d_unaligned, "cuMemcpy2DUnaligned_v2", false, (ANY_PARAMETERS),                        \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_2d_unaligned_pt, "cuMemcpy2DUnaligned_v2_ptds", true, (ANY_PARAMETERS),                 \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_3d, "cuMemcpy3D_v2", false, (ANY_PARAMETERS), on_unsupported(&target, ANY_WORDS))       \
    X(copy_3d_pt, "cuMemcpy3D_v2_ptds", true, (ANY_PARAMETERS),                                    \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_2d_async, "cuMemcpy2DAsync_v2", false, (ANY_PARAMETERS),                                \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_2d_async_pt, "cuMemcpy2DAsync_v2_ptsz", true, (ANY_PARAMETERS),                         \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_3d_async, "cuMemcpy3DAsync_v2", false, (ANY_PARAMETERS),                                \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_3d_async_pt, "cuMemcpy3DAsync_v2_ptsz", true, (ANY_PARAMETERS),                         \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_peer_async, "cuMemcpyPeerAsync", false, (ANY_PARAMETERS),                               \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_peer_async_pt, "cuMemcpyPeerAsync_ptsz", true, (ANY_PARAMETERS),                        \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(copy_peer, "cuMemcpyPeer", false, (ANY_PARAMETERS), on_unsupported(&target, ANY_WORDS))      \
    X(copy_peer_pt, "cuMemcpyPeer_ptds", true, (ANY_PARAMETERS),                                   \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(set_2d_8, "cuMemsetD2D8Async", false, (ANY_PARAMETERS), on_unsupported(&target, ANY_WORDS))  \
    X(set_2d_8_pt, "cuMemsetD2D8Async_ptsz", true, (ANY_PARAMETERS),                               \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(set_2d_32, "cuMemsetD2D32Async", false, (ANY_PARAMETERS),                                    \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(set_2d_32_pt, "cuMemsetD2D32Async_ptsz", true, (ANY_PARAMETERS),                             \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(write_32, "cuStreamWriteValue32_v2", false, (ANY_PARAMETERS),                                \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(write_32_pt, "cuStreamWriteValue32_v2_ptsz", true, (ANY_PARAMETERS),                         \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(wait_32, "cuStreamWaitValue32_v2", false, (ANY_PARAMETERS),                                  \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(wait_32_pt, "cuStreamWaitValue32_v2_ptsz", true, (ANY_PARAMETERS),                           \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(batch, "cuStreamBatchMemOp_v2", false, (ANY_PARAMETERS), on_unsupported(&target, ANY_WORDS)) \
    X(batch_pt, "cuStreamBatchMemOp_v2_ptsz", true, (ANY_PARAMETERS),                              \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(callback, "cuStreamAddCallback", false, (ANY_PARAMETERS),                                    \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(callback_pt, "cuStreamAddCallback_ptsz", true, (ANY_PARAMETERS),                             \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(graph_update, "cuGraphExecUpdate_v2", false, (ANY_PARAMETERS),                               \
      on_unsupported(&target, ANY_WORDS))                                                          \
    X(graph_kernel, "cuGraphExecKernelNodeSetParams_v2", false, (ANY_PARAMETERS),                  \
      on_unsupported(&target, ANY_WORDS))

#define X(name, text, per_thread, parameters, call)                                                \
    CTS_EXPORT CUresult cts_shim_##name parameters __asm__(text);                                  \
    CUresult cts_shim_##name parameters                                                            \
    {                                                                                              \
        static const struct target target = {text, per_thread};                                    \
        return call;                                                                               \
    }
SHIMS(X)
#undef X

static const struct {
    const char *symbol;
    void *function;
} shims[] = {
#define X(name, text, per_thread, parameters, call) {text, (void *)cts_shim_##name},
    SHIMS(X)
#undef X
};

#endif
