/* Devices: how many there are, what they say of themselves, and the settings that a program may
 * make. All devices are alike; their memory is the host's, so that peers always see each other. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "memory-sums.h"
#include "memory-pool.h"
#include "range.h"
#include "record.h"
#include "record/cpu/engine.h"
#include "runtime.h"
#include "stream.h"
#include "try-watch.h"

/* Settings that are kept and given back. The heap of device-side malloc() is the engine's. */
static _Atomic size_t limits[7] = {
    [cudaLimitStackSize] = 1024,           [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitDevRuntimeSyncDepth] = 2,    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64, [cudaLimitPersistingL2CacheSize] = 0,
};
static _Atomic int cache_config, shared_config, device_flags = cudaDeviceMapHost;
static _Atomic bool peers[CTS_DEVICES_MAX][CTS_DEVICES_MAX];

cudaError_t cudaGetDeviceCount(int *count)
{
    CTS_ENTER_LENIENT();
    if (!count) return cts_return(cudaErrorInvalidValue);
    *count = cts_device_count();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    CTS_ENTER_LENIENT();
    if (!cts_device_is_valid(device)) return cts_return(cudaErrorInvalidDevice);
    cts_set_current_device(device);
    return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    CTS_ENTER();
    (void)deviceFlags, (void)flags;
    return cts_return(cts_device_is_valid(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    CTS_ENTER_LENIENT();
    if (!device) return cts_return(cudaErrorInvalidValue);
    *device = cts_current_device();
    return cudaSuccess;
}

/* ---- properties ---- */

static void fill_limits_of_textures(struct cudaDeviceProp *prop)
{
    prop->maxTexture1D = prop->maxTexture1DMipmap = 131072;
    prop->maxTexture1DLinear = 268435456;
    prop->maxTexture2D[0] = 131072, prop->maxTexture2D[1] = 65536;
    prop->maxTexture2DMipmap[0] = prop->maxTexture2DMipmap[1] = 32768;
    prop->maxTexture2DLinear[0] = 131072, prop->maxTexture2DLinear[1] = 65000;
    prop->maxTexture2DLinear[2] = 2097120;
    prop->maxTexture2DGather[0] = prop->maxTexture2DGather[1] = 32768;
    for (int i = 0; i < 3; i++) prop->maxTexture3D[i] = 16384;
    prop->maxTexture3DAlt[0] = prop->maxTexture3DAlt[1] = 8192;
    prop->maxTexture3DAlt[2] = 32768;
    prop->maxTextureCubemap = 32768;
    prop->maxTexture1DLayered[0] = 32768, prop->maxTexture1DLayered[1] = 2048;
    prop->maxTexture2DLayered[0] = prop->maxTexture2DLayered[1] = 32768;
    prop->maxTexture2DLayered[2] = 2048;
    prop->maxTextureCubemapLayered[0] = 32768, prop->maxTextureCubemapLayered[1] = 2046;
    prop->maxSurface1D = 32768;
    prop->maxSurface2D[0] = 131072, prop->maxSurface2D[1] = 65536;
    for (int i = 0; i < 3; i++) prop->maxSurface3D[i] = 16384;
    prop->maxSurface1DLayered[0] = 32768, prop->maxSurface1DLayered[1] = 2048;
    prop->maxSurface2DLayered[0] = prop->maxSurface2DLayered[1] = 32768;
    prop->maxSurface2DLayered[2] = 2048;
    prop->maxSurfaceCubemap = 32768;
    prop->maxSurfaceCubemapLayered[0] = 32768, prop->maxSurfaceCubemapLayered[1] = 2046;
    prop->textureAlignment = prop->surfaceAlignment = 512;
    prop->texturePitchAlignment = 32;
}

static void fill_abilities(struct cudaDeviceProp *prop)
{
    prop->deviceOverlap = 1;
    prop->asyncEngineCount = 2;
    prop->canMapHostMemory = 1;
    prop->unifiedAddressing = 1;
    prop->concurrentKernels = 1;
    prop->streamPrioritiesSupported = 1;
    prop->globalL1CacheSupported = 1;
    prop->localL1CacheSupported = 1;
    prop->managedMemory = 1;
    prop->hostNativeAtomicSupported = 1;
    prop->concurrentManagedAccess = 1;
    prop->directManagedMemAccessFromHost = 1;
    prop->pageableMemoryAccess = 0; /* malloc()ed memory in kernels would not be recorded */
    prop->canUseHostPointerForRegisteredMem = 1;
    prop->cooperativeLaunch = 1;
    prop->hostRegisterSupported = 1;
    prop->memoryPoolsSupported = 1;
    prop->computeMode = cudaComputeModeDefault;
}

static void fill_properties(struct cudaDeviceProp *prop, int device)
{
    *prop = (struct cudaDeviceProp){.totalGlobalMem = cts_device_memory_bytes()};
    snprintf(prop->name, sizeof prop->name, "ctascope CPU device");
    memcpy(prop->uuid.bytes, "ctascope-cpu-", sizeof "ctascope-cpu-");
    prop->uuid.bytes[sizeof prop->uuid.bytes - 1] = (char)device; /* 0 to 15 */
    const uint32_t shared = cts_shared_limit_bytes();
    prop->sharedMemPerBlock = shared < CTS_SHARED_DEFAULT_BYTES ? shared : CTS_SHARED_DEFAULT_BYTES;
    prop->sharedMemPerBlockOptin = shared;
    prop->sharedMemPerMultiprocessor = shared;
    prop->regsPerBlock = prop->regsPerMultiprocessor = 65536;
    prop->warpSize = CTS_WARP_LANES;
    prop->memPitch = INT32_MAX;
    prop->maxThreadsPerBlock = CTS_THREADS_PER_CTA;
    prop->maxThreadsDim[0] = prop->maxThreadsDim[1] = 1024;
    prop->maxThreadsDim[2] = 64;
    prop->maxGridSize[0] = INT32_MAX;
    prop->maxGridSize[1] = prop->maxGridSize[2] = 65535;
    prop->clockRate = 1000000;
    prop->memoryClockRate = 1000000;
    prop->memoryBusWidth = 64;
    prop->totalConstMem = 65536;
    prop->major = CTS_COMPUTE_MAJOR;
    prop->minor = CTS_COMPUTE_MINOR;
    prop->multiProcessorCount = (int)cts_engine_sm_count();
    prop->maxThreadsPerMultiProcessor = CTS_THREADS_PER_SM;
    prop->maxBlocksPerMultiProcessor = CTS_CTAS_PER_SM;
    prop->l2CacheSize = 50 << 20;
    prop->singleToDoublePrecisionPerfRatio = 2;
    prop->pciBusID = device + 1;
    fill_limits_of_textures(prop);
    fill_abilities(prop);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    CTS_ENTER_LENIENT();
    if (!prop) return cts_return(cudaErrorInvalidValue);
    if (!cts_device_is_valid(device)) return cts_return(cudaErrorInvalidDevice);
    fill_properties(prop, device);
    return cudaSuccess;
}

/* Attributes are fields of the properties. */
#define ATTRIBUTE_MAP(X)                                                                           \
    X(MaxThreadsPerBlock, maxThreadsPerBlock)                                                      \
    X(MaxBlockDimX, maxThreadsDim[0])                                                              \
    X(MaxBlockDimY, maxThreadsDim[1])                                                              \
    X(MaxBlockDimZ, maxThreadsDim[2])                                                              \
    X(MaxGridDimX, maxGridSize[0])                                                                 \
    X(MaxGridDimY, maxGridSize[1])                                                                 \
    X(MaxGridDimZ, maxGridSize[2])                                                                 \
    X(MaxSharedMemoryPerBlock, sharedMemPerBlock)                                                  \
    X(TotalConstantMemory, totalConstMem)                                                          \
    X(WarpSize, warpSize)                                                                          \
    X(MaxPitch, memPitch)                                                                          \
    X(MaxRegistersPerBlock, regsPerBlock)                                                          \
    X(ClockRate, clockRate)                                                                        \
    X(TextureAlignment, textureAlignment)                                                          \
    X(GpuOverlap, deviceOverlap)                                                                   \
    X(MultiProcessorCount, multiProcessorCount)                                                    \
    X(KernelExecTimeout, kernelExecTimeoutEnabled)                                                 \
    X(Integrated, integrated)                                                                      \
    X(CanMapHostMemory, canMapHostMemory)                                                          \
    X(ComputeMode, computeMode)                                                                    \
    X(MaxTexture1DWidth, maxTexture1D)                                                             \
    X(MaxTexture2DWidth, maxTexture2D[0])                                                          \
    X(MaxTexture2DHeight, maxTexture2D[1])                                                         \
    X(MaxTexture3DWidth, maxTexture3D[0])                                                          \
    X(MaxTexture3DHeight, maxTexture3D[1])                                                         \
    X(MaxTexture3DDepth, maxTexture3D[2])                                                          \
    X(MaxTexture2DLayeredWidth, maxTexture2DLayered[0])                                            \
    X(MaxTexture2DLayeredHeight, maxTexture2DLayered[1])                                           \
    X(MaxTexture2DLayeredLayers, maxTexture2DLayered[2])                                           \
    X(SurfaceAlignment, surfaceAlignment)                                                          \
    X(ConcurrentKernels, concurrentKernels)                                                        \
    X(EccEnabled, ECCEnabled)                                                                      \
    X(PciBusId, pciBusID)                                                                          \
    X(PciDeviceId, pciDeviceID)                                                                    \
    X(TccDriver, tccDriver)                                                                        \
    X(MemoryClockRate, memoryClockRate)                                                            \
    X(GlobalMemoryBusWidth, memoryBusWidth)                                                        \
    X(L2CacheSize, l2CacheSize)                                                                    \
    X(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)                                    \
    X(AsyncEngineCount, asyncEngineCount)                                                          \
    X(UnifiedAddressing, unifiedAddressing)                                                        \
    X(MaxTexture1DLayeredWidth, maxTexture1DLayered[0])                                            \
    X(MaxTexture1DLayeredLayers, maxTexture1DLayered[1])                                           \
    X(MaxTexture2DGatherWidth, maxTexture2DGather[0])                                              \
    X(MaxTexture2DGatherHeight, maxTexture2DGather[1])                                             \
    X(MaxTexture3DWidthAlt, maxTexture3DAlt[0])                                                    \
    X(MaxTexture3DHeightAlt, maxTexture3DAlt[1])                                                   \
    X(MaxTexture3DDepthAlt, maxTexture3DAlt[2])                                                    \
    X(PciDomainId, pciDomainID)                                                                    \
    X(TexturePitchAlignment, texturePitchAlignment)                                                \
    X(MaxTextureCubemapWidth, maxTextureCubemap)                                                   \
    X(MaxTextureCubemapLayeredWidth, maxTextureCubemapLayered[0])                                  \
    X(MaxTextureCubemapLayeredLayers, maxTextureCubemapLayered[1])                                 \
    X(MaxSurface1DWidth, maxSurface1D)                                                             \
    X(MaxSurface2DWidth, maxSurface2D[0])                                                          \
    X(MaxSurface2DHeight, maxSurface2D[1])                                                         \
    X(MaxSurface3DWidth, maxSurface3D[0])                                                          \
    X(MaxSurface3DHeight, maxSurface3D[1])                                                         \
    X(MaxSurface3DDepth, maxSurface3D[2])                                                          \
    X(MaxSurface1DLayeredWidth, maxSurface1DLayered[0])                                            \
    X(MaxSurface1DLayeredLayers, maxSurface1DLayered[1])                                           \
    X(MaxSurface2DLayeredWidth, maxSurface2DLayered[0])                                            \
    X(MaxSurface2DLayeredHeight, maxSurface2DLayered[1])                                           \
    X(MaxSurface2DLayeredLayers, maxSurface2DLayered[2])                                           \
    X(MaxSurfaceCubemapWidth, maxSurfaceCubemap)                                                   \
    X(MaxSurfaceCubemapLayeredWidth, maxSurfaceCubemapLayered[0])                                  \
    X(MaxSurfaceCubemapLayeredLayers, maxSurfaceCubemapLayered[1])                                 \
    X(MaxTexture1DLinearWidth, maxTexture1DLinear)                                                 \
    X(MaxTexture2DLinearWidth, maxTexture2DLinear[0])                                              \
    X(MaxTexture2DLinearHeight, maxTexture2DLinear[1])                                             \
    X(MaxTexture2DLinearPitch, maxTexture2DLinear[2])                                              \
    X(MaxTexture2DMipmappedWidth, maxTexture2DMipmap[0])                                           \
    X(MaxTexture2DMipmappedHeight, maxTexture2DMipmap[1])                                          \
    X(ComputeCapabilityMajor, major)                                                               \
    X(ComputeCapabilityMinor, minor)                                                               \
    X(MaxTexture1DMipmappedWidth, maxTexture1DMipmap)                                              \
    X(StreamPrioritiesSupported, streamPrioritiesSupported)                                        \
    X(GlobalL1CacheSupported, globalL1CacheSupported)                                              \
    X(LocalL1CacheSupported, localL1CacheSupported)                                                \
    X(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor)                                \
    X(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)                                        \
    X(ManagedMemory, managedMemory)                                                                \
    X(IsMultiGpuBoard, isMultiGpuBoard)                                                            \
    X(MultiGpuBoardGroupID, multiGpuBoardGroupID)                                                  \
    X(HostNativeAtomicSupported, hostNativeAtomicSupported)                                        \
    X(SingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio)                          \
    X(PageableMemoryAccess, pageableMemoryAccess)                                                  \
    X(ConcurrentManagedAccess, concurrentManagedAccess)                                            \
    X(ComputePreemptionSupported, computePreemptionSupported)                                      \
    X(CanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem)                        \
    X(CooperativeLaunch, cooperativeLaunch)                                                        \
    X(CooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch)                                  \
    X(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)                                        \
    X(HostRegisterSupported, hostRegisterSupported)                                                \
    X(PageableMemoryAccessUsesHostPageTables, pageableMemoryAccessUsesHostPageTables)              \
    X(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost)                              \
    X(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)                                      \
    X(MaxPersistingL2CacheSize, persistingL2CacheMaxSize)                                          \
    X(MaxAccessPolicyWindowSize, accessPolicyMaxWindowSize)                                        \
    X(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock)                                     \
    X(SparseCudaArraySupported, sparseCudaArraySupported)                                          \
    X(HostRegisterReadOnlySupported, hostRegisterReadOnlySupported)                                \
    X(TimelineSemaphoreInteropSupported, timelineSemaphoreInteropSupported)                        \
    X(MemoryPoolsSupported, memoryPoolsSupported)                                                  \
    X(GPUDirectRDMASupported, gpuDirectRDMASupported)                                              \
    X(GPUDirectRDMAFlushWritesOptions, gpuDirectRDMAFlushWritesOptions)                            \
    X(GPUDirectRDMAWritesOrdering, gpuDirectRDMAWritesOrdering)                                    \
    X(MemoryPoolSupportedHandleTypes, memoryPoolSupportedHandleTypes)                              \
    X(ClusterLaunch, clusterLaunch)                                                                \
    X(DeferredMappingCudaArraySupported, deferredMappingCudaArraySupported)                        \
    X(IpcEventSupport, ipcEventSupported)

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    CTS_ENTER_LENIENT();
    if (!value) return cts_return(cudaErrorInvalidValue);
    if (!cts_device_is_valid(device)) return cts_return(cudaErrorInvalidDevice);
    struct cudaDeviceProp prop;
    fill_properties(&prop, device);
    switch (attr) {
#define FIELD(name, field)                                                                         \
    case cudaDevAttr##name:                                                                        \
        *value = (int)prop.field;                                                                  \
        return cudaSuccess;
        ATTRIBUTE_MAP(FIELD)
#undef FIELD
    case cudaDevAttrCanFlushRemoteWrites:
        *value = 0;
        return cudaSuccess;
    default:
        return cts_return(cudaErrorInvalidValue);
    }
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    CTS_ENTER();
    if (!device || !prop) return cts_return(cudaErrorInvalidValue);
    *device = 0; /* all are alike */
    return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int *device_arr, int len)
{
    CTS_ENTER();
    for (int i = 0; device_arr && i < len; i++)
        if (!cts_device_is_valid(device_arr[i])) return cts_return(cudaErrorInvalidDevice);
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    CTS_ENTER();
    if (flags & ~(unsigned)cudaDeviceMask) return cts_return(cudaErrorInvalidValue);
    atomic_store(&device_flags, (int)flags | cudaDeviceMapHost);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    CTS_ENTER();
    if (!flags) return cts_return(cudaErrorInvalidValue);
    *flags = (unsigned)atomic_load(&device_flags);
    return cudaSuccess;
}

static void forget(const struct cts_range *range)
{
    cts_memory_sum("free", range);
    cts_record_free(range, CTS_NONE);
}

/* Memory and streams of the device go; events stay, harmlessly. */
cudaError_t cudaDeviceReset(void)
{
    CTS_CALL();
    CTS_ENTER_LENIENT();
    if (cts_in_callback) return cts_return(cudaErrorNotPermitted);
    if (cts_try_is_on()) cts_try_watcher->reset();
    cts_streams_reset(cts_current_device());
    cts_pools_trim(cts_current_device());
    cts_ranges_reset(cts_current_device(), forget);
    cts_clear_sticky(cts_current_device());
    return cudaSuccess;
}

/* ---- settings ---- */

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    CTS_ENTER();
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return cts_return(cudaErrorUnsupportedLimit);
    if (limit == cudaLimitMallocHeapSize)
        cts_engine_set_heap_limit(value);
    else
        atomic_store(&limits[limit], value);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    CTS_ENTER();
    if (!pValue) return cts_return(cudaErrorInvalidValue);
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return cts_return(cudaErrorUnsupportedLimit);
    *pValue =
        limit == cudaLimitMallocHeapSize ? cts_engine_heap_limit() : atomic_load(&limits[limit]);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    CTS_ENTER();
    if ((unsigned)cacheConfig > cudaFuncCachePreferEqual) return cts_return(cudaErrorInvalidValue);
    atomic_store(&cache_config, (int)cacheConfig);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    CTS_ENTER();
    if (!pCacheConfig) return cts_return(cudaErrorInvalidValue);
    *pCacheConfig = (enum cudaFuncCache)atomic_load(&cache_config);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    CTS_ENTER();
    if ((unsigned)config > cudaSharedMemBankSizeEightByte) return cts_return(cudaErrorInvalidValue);
    atomic_store(&shared_config, (int)config);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    CTS_ENTER();
    if (!pConfig) return cts_return(cudaErrorInvalidValue);
    *pConfig = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    CTS_ENTER();
    if (leastPriority) *leastPriority = 0;
    if (greatestPriority) *greatestPriority = -5;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    CTS_ENTER();
    if (!pciBusId || len < 13) return cts_return(cudaErrorInvalidValue);
    if (!cts_device_is_valid(device)) return cts_return(cudaErrorInvalidDevice);
    snprintf(pciBusId, (size_t)len, "0000:%02x:00.0", (unsigned)device + 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    CTS_ENTER();
    if (!device || !pciBusId) return cts_return(cudaErrorInvalidValue);
    for (int i = 0; i < cts_device_count(); i++) {
        char own[24];
        snprintf(own, sizeof own, "0000:%02x:00.0", (unsigned)i + 1);
        if (strcasecmp(own, pciBusId) == 0 || strcasecmp(own + 5, pciBusId) == 0) {
            *device = i;
            return cudaSuccess;
        }
    }
    return cts_return(cudaErrorInvalidDevice);
}

/* ---- peers ---- */

cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    CTS_ENTER();
    if (!canAccessPeer) return cts_return(cudaErrorInvalidValue);
    if (!cts_device_is_valid(device) || !cts_device_is_valid(peerDevice))
        return cts_return(cudaErrorInvalidDevice);
    *canAccessPeer = device != peerDevice;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    CTS_ENTER();
    if (flags) return cts_return(cudaErrorInvalidValue);
    if (!cts_device_is_valid(peerDevice) || peerDevice == cts_current_device())
        return cts_return(cudaErrorInvalidDevice);
    const bool was = atomic_exchange(&peers[cts_current_device()][peerDevice], true);
    return cts_return(was ? cudaErrorPeerAccessAlreadyEnabled : cudaSuccess);
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    CTS_ENTER();
    if (!cts_device_is_valid(peerDevice)) return cts_return(cudaErrorInvalidDevice);
    const bool was = atomic_exchange(&peers[cts_current_device()][peerDevice], false);
    return cts_return(was ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice,
                                      int dstDevice)
{
    CTS_ENTER();
    if (!value) return cts_return(cudaErrorInvalidValue);
    if (!cts_device_is_valid(srcDevice) || !cts_device_is_valid(dstDevice) ||
        srcDevice == dstDevice)
        return cts_return(cudaErrorInvalidDevice);
    switch (attr) {
    case cudaDevP2PAttrPerformanceRank:
        *value = 0;
        return cudaSuccess;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
    case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 1;
        return cudaSuccess;
    }
    return cts_return(cudaErrorInvalidValue);
}

/* ---- versions, processes, deprecated names ---- */

static cudaError_t give_version(int *version, int value)
{
    if (!version) return cts_return(cudaErrorInvalidValue);
    *version = value;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *driverVersion)
{
    return give_version(driverVersion, 13000); /* it serves programs of 12 and 13 */
}

cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
    return give_version(runtimeVersion, CUDART_VERSION);
}

/* cudaRuntimeGetVersion of programs that are compiled for 13 (ctascope/runtime_names.h). */
cudaError_t __cts_runtime_version_13(int *runtimeVersion)
{
    return give_version(runtimeVersion, 13000);
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    CTS_ENTER();
    return cudaSuccess; /* there is no such cache to reset */
}

static const char no_ipc[] = "device memory is not shared between processes";

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    (void)handle, (void)event;
    return cts_refuse(__func__, no_ipc);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    (void)event, (void)handle;
    return cts_refuse(__func__, no_ipc);
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
    (void)handle, (void)devPtr;
    return cts_refuse(__func__, no_ipc);
}

cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
    (void)devPtr, (void)handle, (void)flags;
    return cts_refuse(__func__, no_ipc);
}

cudaError_t cudaIpcCloseMemHandle(void *devPtr)
{
    (void)devPtr;
    return cts_refuse(__func__, no_ipc);
}

cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

cudaError_t cudaThreadGetLimit(size_t *pValue, enum cudaLimit limit)
{
    return cudaDeviceGetLimit(pValue, limit);
}

cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    return cudaDeviceGetCacheConfig(pCacheConfig);
}

cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    return cudaDeviceSetCacheConfig(cacheConfig);
}
