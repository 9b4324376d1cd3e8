/* Launches: checks what CUDA checks, copies the arguments, queues the work. And what programs ask
 * of kernels: attributes and occupancy. */
#include <string.h>

#include "record.h"
#include "registry.h"
#include "runtime.h"
#include "stream.h"
#include "thread-room.h"
#include "work.h"

/* ---- the triple chevron ---- */

struct call_configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};
enum { CONFIGURATIONS_MAX = 16 };
struct configurations {
    struct call_configuration all[CONFIGURATIONS_MAX];
    unsigned count;
};
static __thread void *configurations; /* struct configurations, from the first launch on */

unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                         struct CUstream_st *stream)
{
    struct configurations *const own = cts_thread_room(&configurations, sizeof *own);
    if (!own) return cts_return(cudaErrorMemoryAllocation);
    if (own->count == CONFIGURATIONS_MAX) return 1;
    own->all[own->count++] = (struct call_configuration){gridDim, blockDim, sharedMem, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                       void *stream)
{
    struct configurations *const own = configurations;
    if (!own || own->count == 0) return cts_return(cudaErrorMissingConfiguration);
    const struct call_configuration *const top = &own->all[--own->count];
    *gridDim = top->grid;
    *blockDim = top->block;
    *sharedMem = top->shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

/* ---- launching ---- */

static uint64_t volume(dim3 extent)
{
    return (uint64_t)extent.x * extent.y * extent.z;
}

static uint32_t static_bytes(const struct cts_cpu_kernel *kernel)
{
    return kernel->desc->static_shared_bytes;
}

static cudaError_t check_shape(const struct cts_cpu_kernel *kernel, dim3 grid, dim3 block,
                               size_t shared_bytes)
{
    if (volume(grid) == 0 || volume(block) == 0) return cudaErrorInvalidConfiguration;
    if (grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (block.x > 1024 || block.y > 1024 || block.z > 64 || volume(block) > CTS_THREADS_PER_CTA)
        return cudaErrorInvalidConfiguration;
    if (volume(grid) > UINT32_MAX) return cudaErrorInvalidConfiguration; /* CTA ids are 32 bits */
    if (kernel->desc->max_threads && volume(block) > kernel->desc->max_threads)
        return cudaErrorLaunchOutOfResources;
    const uint32_t limit = cts_shared_limit_bytes();
    if (shared_bytes > limit || shared_bytes + static_bytes(kernel) > limit)
        return cudaErrorInvalidValue;
    const bool has_opted_in = shared_bytes <= kernel->dynamic_limit;
    return has_opted_in || shared_bytes + static_bytes(kernel) <= CTS_SHARED_DEFAULT_BYTES
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

static int ctas_per_sm(const struct cts_cpu_kernel *kernel, uint64_t threads, size_t shared_bytes);

cudaError_t cts_work_launch(const struct cts_launch_shape *shape, void **args,
                            struct cts_work *work)
{
    struct cts_cpu_kernel *const kernel = cts_registry_kernel(shape->function);
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    const dim3 grid = shape->grid, block = shape->block;
    const cudaError_t error = check_shape(kernel, grid, block, shape->dynamic_shared_bytes);
    if (error != cudaSuccess) return error;
    if (kernel->desc->parameter_count && !args) return cudaErrorInvalidValue;
    const uint64_t resident =
        (uint64_t)ctas_per_sm(kernel, volume(block), shape->dynamic_shared_bytes) *
        cts_engine_sm_count();
    if (shape->cooperative && volume(grid) > resident) return cudaErrorCooperativeLaunchTooLarge;
    *work =
        (struct cts_work){.kind = CTS_WORK_LAUNCH,
                          .launch = {.kernel = kernel,
                                     .function = shape->function,
                                     .grid = {grid.x, grid.y, grid.z},
                                     .block = {block.x, block.y, block.z},
                                     .dynamic_shared_bytes = (uint32_t)shape->dynamic_shared_bytes,
                                     .cooperative = shape->cooperative,
                                     .args = cts_work_copy_args(kernel->desc, args)}};
    return work->launch.args ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t launch(const struct cts_launch_shape *shape, void **args, cudaStream_t stream)
{
    struct cts_work work;
    const cudaError_t error = cts_work_launch(shape, args, &work);
    return error == cudaSuccess ? cts_stream_submit(stream, &work, CTS_ASYNCHRONOUS) : error;
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                             size_t sharedMem, cudaStream_t stream)
{
    CTS_ENTER();
    const struct cts_launch_shape shape = {func, gridDim, blockDim, sharedMem, false};
    return cts_return(launch(&shape, args, stream));
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                        size_t sharedMem, cudaStream_t stream)
{
    CTS_ENTER();
    const struct cts_launch_shape shape = {func, gridDim, blockDim, sharedMem, true};
    return cts_return(launch(&shape, args, stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    CTS_ENTER();
    if (!config || (config->numAttrs && !config->attrs)) return cts_return(cudaErrorInvalidValue);
    bool cooperative = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *const attribute = &config->attrs[i];
        switch (attribute->id) {
        case cudaLaunchAttributeCooperative:
            cooperative = attribute->val.cooperative != 0;
            break;
        case cudaLaunchAttributeClusterDimension:
            if (attribute->val.clusterDim.x * attribute->val.clusterDim.y *
                    attribute->val.clusterDim.z >
                1)
                return cts_refuse("cudaLaunchKernelExC", "thread block clusters");
            break;
        case cudaLaunchAttributeProgrammaticEvent:
            return cts_refuse("cudaLaunchKernelExC", "programmatic events");
        default:
            break; /* hints without effect on what is computed */
        }
    }
    const struct cts_launch_shape shape = {func, config->gridDim, config->blockDim,
                                           config->dynamicSmemBytes, cooperative};
    return cts_return(launch(&shape, args, config->stream));
}

cudaError_t cudaLaunchCooperativeKernelMultiDevice(struct cudaLaunchParams *launchParamsList,
                                                   unsigned int numDevices, unsigned int flags)
{
    CTS_ENTER();
    (void)launchParamsList, (void)numDevices, (void)flags;
    return cts_refuse(__func__, "grids that span several devices");
}

/* ---- attributes ---- */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    CTS_ENTER();
    if (!attr) return cts_return(cudaErrorInvalidValue);
    const struct cts_cpu_kernel *const kernel = cts_registry_kernel(func);
    if (!kernel) return cts_return(cudaErrorInvalidDeviceFunction);
    *attr = (struct cudaFuncAttributes){
        .sharedSizeBytes = static_bytes(kernel),
        .maxThreadsPerBlock =
            kernel->desc->max_threads ? (int)kernel->desc->max_threads : CTS_THREADS_PER_CTA,
        .numRegs = 32, /* there are none to count; a value that does not limit occupancy */
        .ptxVersion = CTS_COMPUTE_MAJOR * 10 + CTS_COMPUTE_MINOR,
        .binaryVersion = CTS_COMPUTE_MAJOR * 10 + CTS_COMPUTE_MINOR,
        .maxDynamicSharedSizeBytes = (int)kernel->dynamic_limit,
        .preferredShmemCarveout = kernel->carveout,
    };
    if (kernel->dynamic_limit == CTS_SHARED_DEFAULT_BYTES)
        attr->maxDynamicSharedSizeBytes -= (int)static_bytes(kernel);
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    CTS_ENTER();
    struct cts_cpu_kernel *const kernel = cts_registry_kernel(func);
    if (!kernel) return cts_return(cudaErrorInvalidDeviceFunction);
    switch (attr) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || (uint64_t)value + static_bytes(kernel) > cts_shared_limit_bytes())
            return cts_return(cudaErrorInvalidValue);
        kernel->dynamic_limit = (uint32_t)value;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return cts_return(cudaErrorInvalidValue);
        kernel->carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return cts_refuse(__func__, "thread block clusters");
    default:
        return cts_return(cudaErrorInvalidValue);
    }
}

cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    CTS_ENTER();
    if ((unsigned)cacheConfig > cudaFuncCachePreferEqual) return cts_return(cudaErrorInvalidValue);
    return cts_return(cts_registry_kernel(func) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    CTS_ENTER();
    if ((unsigned)config > cudaSharedMemBankSizeEightByte) return cts_return(cudaErrorInvalidValue);
    return cts_return(cts_registry_kernel(func) ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncGetName(const char **name, const void *func)
{
    CTS_ENTER();
    const struct cts_cpu_kernel *const kernel = cts_registry_kernel(func);
    if (!name) return cts_return(cudaErrorInvalidValue);
    if (!kernel) return cts_return(cudaErrorInvalidDeviceFunction);
    *name = kernel->desc->name;
    return cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    CTS_ENTER();
    (void)functionPtr, (void)symbolPtr;
    return cts_refuse(__func__, "driver functions are not available");
}

/* ---- occupancy ---- */

/* CTAs that an SM holds at a time: by threads, by CTAs and by shared memory. There are no
 * registers to run out of. */
static int ctas_per_sm(const struct cts_cpu_kernel *kernel, uint64_t threads, size_t shared_bytes)
{
    const uint64_t warps = (threads + CTS_WARP_LANES - 1) / CTS_WARP_LANES;
    uint64_t count = CTS_THREADS_PER_SM / (warps * CTS_WARP_LANES);
    if (count > CTS_CTAS_PER_SM) count = CTS_CTAS_PER_SM;
    const uint64_t shared = static_bytes(kernel) + shared_bytes;
    if (shared) {
        const uint64_t by_shared = cts_shared_limit_bytes() / shared;
        if (by_shared < count) count = by_shared;
    }
    return (int)count;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func,
                                                                   int blockSize,
                                                                   size_t dynamicSMemSize,
                                                                   unsigned int flags)
{
    CTS_ENTER();
    if (!numBlocks || blockSize <= 0 || flags > 1) return cts_return(cudaErrorInvalidValue);
    const struct cts_cpu_kernel *const kernel = cts_registry_kernel(func);
    if (!kernel) return cts_return(cudaErrorInvalidDeviceFunction);
    const unsigned most =
        kernel->desc->max_threads ? kernel->desc->max_threads : CTS_THREADS_PER_CTA;
    *numBlocks =
        (unsigned)blockSize > most ? 0 : ctas_per_sm(kernel, (uint64_t)blockSize, dynamicSMemSize);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                          int blockSize, size_t dynamicSMemSize)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func,
                                                      int numBlocks, int blockSize)
{
    CTS_ENTER();
    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0)
        return cts_return(cudaErrorInvalidValue);
    const struct cts_cpu_kernel *const kernel = cts_registry_kernel(func);
    if (!kernel) return cts_return(cudaErrorInvalidDeviceFunction);
    if (numBlocks > ctas_per_sm(kernel, (uint64_t)blockSize, 0))
        return cts_return(cudaErrorInvalidValue);
    const uint64_t share = cts_shared_limit_bytes() / (uint64_t)numBlocks;
    *dynamicSmemSize = share > static_bytes(kernel) ? share - static_bytes(kernel) : 0;
    return cudaSuccess;
}
