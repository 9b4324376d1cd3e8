/* The C++ side of the runtime API: templates over the C functions of ctascope_runtime_api.h that
 * spare the casts, take symbols and kernels as what they are, and make channel descriptors. */
#ifndef CTASCOPE_RUNTIME_H
#define CTASCOPE_RUNTIME_H

#include "../ctascope_runtime_api.h"

#ifdef __cplusplus

#define CTS_API_ static inline

/* Allocation: T ** for void **. */
template <class T> CTS_API_ cudaError_t cudaMalloc(T **pointer, size_t size_bytes)
{
    return ::cudaMalloc((void **)(void *)pointer, size_bytes);
}
template <class T>
CTS_API_ cudaError_t cudaMallocManaged(T **pointer, size_t size_bytes,
                                       unsigned int flags = cudaMemAttachGlobal)
{
    return ::cudaMallocManaged((void **)(void *)pointer, size_bytes, flags);
}
CTS_API_ cudaError_t cudaMallocHost(void **pointer, size_t size_bytes, unsigned int flags)
{
    return ::cudaHostAlloc(pointer, size_bytes, flags);
}
template <class T>
CTS_API_ cudaError_t cudaMallocHost(T **pointer, size_t size_bytes, unsigned int flags = 0)
{
    return ::cudaHostAlloc((void **)(void *)pointer, size_bytes, flags);
}
template <class T>
CTS_API_ cudaError_t cudaHostAlloc(T **pointer, size_t size_bytes, unsigned int flags)
{
    return ::cudaHostAlloc((void **)(void *)pointer, size_bytes, flags);
}
template <class T>
CTS_API_ cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags)
{
    return ::cudaHostGetDevicePointer((void **)(void *)device, host, flags);
}
template <class T>
CTS_API_ cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height)
{
    return ::cudaMallocPitch((void **)(void *)pointer, pitch, width, height);
}
template <class T>
CTS_API_ cudaError_t cudaMallocAsync(T **pointer, size_t size_bytes, cudaStream_t stream)
{
    return ::cudaMallocAsync((void **)(void *)pointer, size_bytes, stream);
}
CTS_API_ cudaError_t cudaMallocAsync(void **pointer, size_t size_bytes, cudaMemPool_t pool,
                                     cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync(pointer, size_bytes, pool, stream);
}
template <class T>
CTS_API_ cudaError_t cudaMallocAsync(T **pointer, size_t size_bytes, cudaMemPool_t pool,
                                     cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)pointer, size_bytes, pool, stream);
}
template <class T>
CTS_API_ cudaError_t cudaMallocFromPoolAsync(T **pointer, size_t size_bytes, cudaMemPool_t pool,
                                             cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)(void *)pointer, size_bytes, pool, stream);
}
template <class T>
CTS_API_ cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *pointer,
                                              size_t length_bytes = 0,
                                              unsigned int flags = cudaMemAttachSingle)
{
    return ::cudaStreamAttachMemAsync(stream, (void *)pointer, length_bytes, flags);
}

/* Symbols: device variables by name. */
template <class T>
CTS_API_ cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *source, size_t size_bytes,
                                        size_t offset_bytes = 0,
                                        enum cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol((const void *)&symbol, source, size_bytes, offset_bytes, kind);
}
template <class T>
CTS_API_ cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *source, size_t size_bytes,
                                             size_t offset_bytes = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                             cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync((const void *)&symbol, source, size_bytes, offset_bytes, kind,
                                     stream);
}
template <class T>
CTS_API_ cudaError_t cudaMemcpyFromSymbol(void *target, const T &symbol, size_t size_bytes,
                                          size_t offset_bytes = 0,
                                          enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(target, (const void *)&symbol, size_bytes, offset_bytes, kind);
}
template <class T>
CTS_API_ cudaError_t cudaMemcpyFromSymbolAsync(void *target, const T &symbol, size_t size_bytes,
                                               size_t offset_bytes = 0,
                                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                               cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(target, (const void *)&symbol, size_bytes, offset_bytes,
                                       kind, stream);
}
template <class T> CTS_API_ cudaError_t cudaGetSymbolAddress(void **address, const T &symbol)
{
    return ::cudaGetSymbolAddress(address, (const void *)&symbol);
}
template <class A_, class T>
CTS_API_ cudaError_t cudaGetSymbolAddress(A_ **address, const T &symbol)
{
    return ::cudaGetSymbolAddress((void **)(void *)address, (const void *)&symbol);
}
template <class T> CTS_API_ cudaError_t cudaGetSymbolSize(size_t *size_bytes, const T &symbol)
{
    return ::cudaGetSymbolSize(size_bytes, (const void *)&symbol);
}

/* Kernels: any function pointer for const void *. */
template <class T>
CTS_API_ cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                      size_t shared_bytes = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared_bytes, stream);
}
template <class T>
CTS_API_ cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments,
                                                 size_t shared_bytes = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, shared_bytes,
                                         stream);
}
template <class... Parameters, class... Arguments>
CTS_API_ cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                        void (*kernel)(Parameters...), Arguments &&...arguments)
{
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "as many arguments as the kernel has parameters");
    /* The conversions to the parameters' types happen in the call; `pack` sees the results. */
    struct launch {
        const cudaLaunchConfig_t *config;
        void (*kernel)(Parameters...);
        cudaError_t pack(Parameters... values) const
        {
            void *pointers[] = {(void *)&values..., nullptr};
            return ::cudaLaunchKernelExC(config, (const void *)kernel, pointers);
        }
    };
    return launch{config, kernel}.pack(static_cast<Arguments &&>(arguments)...);
}
template <class T>
CTS_API_ cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, T *kernel,
                                         void **arguments)
{
    return ::cudaLaunchKernelExC(config, (const void *)kernel, arguments);
}
template <class T> CTS_API_ cudaError_t cudaFuncSetCacheConfig(T *kernel, enum cudaFuncCache config)
{
    return ::cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class T>
CTS_API_ cudaError_t cudaFuncSetSharedMemConfig(T *kernel, enum cudaSharedMemConfig config)
{
    return ::cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class T>
CTS_API_ cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, T *kernel)
{
    return ::cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class T>
CTS_API_ cudaError_t cudaFuncSetAttribute(T *kernel, enum cudaFuncAttribute attribute, int value)
{
    return ::cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T> CTS_API_ cudaError_t cudaFuncGetName(const char **name, T *kernel)
{
    return ::cudaFuncGetName(name, (const void *)kernel);
}
template <class T> CTS_API_ cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, T *kernel)
{
    return ::cudaGetFuncBySymbol(function, (const void *)kernel);
}

/* Occupancy. */
template <class T>
CTS_API_ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *ctas, T *kernel,
                                                                   int block_size,
                                                                   size_t dynamic_bytes)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, (const void *)kernel, block_size,
                                                           dynamic_bytes);
}
template <class T>
CTS_API_ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *ctas, T *kernel,
                                                                            int block_size,
                                                                            size_t dynamic_bytes,
                                                                            unsigned int flags)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        ctas, (const void *)kernel, block_size, dynamic_bytes, flags);
}
template <class T>
CTS_API_ cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_bytes, T *kernel,
                                                               int ctas, int block_size)
{
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(dynamic_bytes, (const void *)kernel, ctas,
                                                       block_size);
}

/* The block size, a multiple of the warp, that keeps the most threads resident; the larger one of
 * equals. dynamic_bytes(block_size) is the shared memory that a block of that size asks for. */
template <class Function, class T>
CTS_API_ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int *min_grid_size, int *block_size, T *kernel, Function dynamic_bytes, int limit = 0,
    unsigned int flags = cudaOccupancyDefault)
{
    int device, sm_count, best_threads = 0;
    struct cudaFuncAttributes attributes;
    cudaError_t error = ::cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = ::cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = ::cudaFuncGetAttributes(&attributes, (const void *)kernel);
    if (error != cudaSuccess) return error;
    if (limit <= 0 || limit > attributes.maxThreadsPerBlock) limit = attributes.maxThreadsPerBlock;
    *block_size = *min_grid_size = 0;
    for (int threads = (limit + 31) / 32 * 32; threads > 0; threads -= 32) {
        const int candidate = threads < limit ? threads : limit;
        int ctas = 0;
        error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &ctas, (const void *)kernel, candidate, dynamic_bytes(candidate), flags);
        if (error != cudaSuccess) return error;
        if (ctas * candidate > best_threads) {
            best_threads = ctas * candidate;
            *block_size = candidate;
            *min_grid_size = ctas * sm_count;
        }
    }
    return cudaSuccess;
}
template <class Function, class T>
CTS_API_ cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *min_grid_size,
                                                                    int *block_size, T *kernel,
                                                                    Function dynamic_bytes,
                                                                    int limit = 0)
{
    return ::cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(min_grid_size, block_size,
                                                                     kernel, dynamic_bytes, limit);
}
template <class T>
CTS_API_ cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(
    int *min_grid_size, int *block_size, T *kernel, size_t dynamic_bytes = 0, int limit = 0,
    unsigned int flags = cudaOccupancyDefault)
{
    return ::cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        min_grid_size, block_size, kernel, [=](int) { return dynamic_bytes; }, limit, flags);
}
template <class T>
CTS_API_ cudaError_t cudaOccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size,
                                                        T *kernel, size_t dynamic_bytes = 0,
                                                        int limit = 0)
{
    return ::cudaOccupancyMaxPotentialBlockSizeWithFlags(min_grid_size, block_size, kernel,
                                                         dynamic_bytes, limit);
}

CTS_API_ cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return ::cudaEventCreateWithFlags(event, flags);
}
CTS_API_ cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                          cudaGraphNode_t *, char *, size_t)
{
    return ::cudaGraphInstantiate(executable, graph, 0ull);
}

#if CTS_API_13
/* As CUDA 12 has them, too. */
CTS_API_ struct cudaMemLocation cts_location_(int device)
{
    struct cudaMemLocation location;
    const bool on_host = device == cudaCpuDeviceId;
    location.type = on_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = on_host ? 0 : device;
    return location;
}
CTS_API_ cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size_bytes, int device,
                                          cudaStream_t stream = 0)
{
    return ::cudaMemPrefetchAsync(pointer, size_bytes, cts_location_(device), 0u, stream);
}
CTS_API_ cudaError_t cudaMemAdvise(const void *pointer, size_t size_bytes,
                                   enum cudaMemoryAdvise advice, int device)
{
    return ::cudaMemAdvise(pointer, size_bytes, advice, cts_location_(device));
}
CTS_API_ cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                              const cudaGraphNode_t *to, size_t count)
{
    return ::cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
CTS_API_ cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                       cudaGraphNode_t *to, size_t *count)
{
    return ::cudaGraphGetEdges(graph, from, to, nullptr, count);
}
#endif

/* Channel descriptors by type: cudaCreateChannelDesc<float4>(). */
template <class T> struct cts_channel_; /* bits and kind of an element type */
#define CTS_CHANNEL_(type, kind)                                                                   \
    template <> struct cts_channel_<type> {                                                        \
        static constexpr int bits[4] = {8 * (int)sizeof(type), 0, 0, 0};                           \
        static constexpr cudaChannelFormatKind format = kind;                                      \
    };
#define CTS_CHANNEL_VECTOR_(type, element, count, kind)                                            \
    template <> struct cts_channel_<type> {                                                        \
        static constexpr int width = 8 * (int)sizeof(element);                                     \
        static constexpr int bits[4] = {width, count > 1 ? width : 0, count > 2 ? width : 0,       \
                                        count > 3 ? width : 0};                                    \
        static constexpr cudaChannelFormatKind format = kind;                                      \
    };
#define CTS_CHANNELS_(name, element, kind)                                                         \
    CTS_CHANNEL_(element, kind)                                                                    \
    CTS_CHANNEL_VECTOR_(name##1, element, 1, kind)                                                 \
    CTS_CHANNEL_VECTOR_(name##2, element, 2, kind)                                                 \
    CTS_CHANNEL_VECTOR_(name##3, element, 3, kind)                                                 \
    CTS_CHANNEL_VECTOR_(name##4, element, 4, kind)
CTS_CHANNEL_(char, cudaChannelFormatKindSigned)
CTS_CHANNELS_(char, signed char, cudaChannelFormatKindSigned)
CTS_CHANNELS_(uchar, unsigned char, cudaChannelFormatKindUnsigned)
CTS_CHANNELS_(short, short, cudaChannelFormatKindSigned)
CTS_CHANNELS_(ushort, unsigned short, cudaChannelFormatKindUnsigned)
CTS_CHANNELS_(int, int, cudaChannelFormatKindSigned)
CTS_CHANNELS_(uint, unsigned int, cudaChannelFormatKindUnsigned)
CTS_CHANNELS_(float, float, cudaChannelFormatKindFloat)
#undef CTS_CHANNELS_
#undef CTS_CHANNEL_VECTOR_
#undef CTS_CHANNEL_

template <class T> CTS_API_ struct cudaChannelFormatDesc cudaCreateChannelDesc(void)
{
    return ::cudaCreateChannelDesc(cts_channel_<T>::bits[0], cts_channel_<T>::bits[1],
                                   cts_channel_<T>::bits[2], cts_channel_<T>::bits[3],
                                   cts_channel_<T>::format);
}
CTS_API_ struct cudaChannelFormatDesc cudaCreateChannelDescHalf(void)
{
    return ::cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
CTS_API_ struct cudaChannelFormatDesc cudaCreateChannelDescHalf1(void)
{
    return ::cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
CTS_API_ struct cudaChannelFormatDesc cudaCreateChannelDescHalf2(void)
{
    return ::cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
CTS_API_ struct cudaChannelFormatDesc cudaCreateChannelDescHalf4(void)
{
    return ::cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

#endif
#endif
