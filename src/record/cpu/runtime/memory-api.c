/* Allocating and freeing memory of all kinds, and what a pointer is.
 *
 * cudaFree waits for the device first, as CUDA does: work in flight may still use the memory. */
#include "memory-api.h"

#include <stdlib.h>
#include <string.h>

#include "memory-sums.h"
#include "memory-pool.h"
#include "record.h"
#include "runtime.h"
#include "stream.h"
#include "try-watch.h"

enum { PITCH_BYTES = 512 };

cudaError_t cts_memory_allocate(enum cts_range_kind kind, uint64_t size_bytes, unsigned flags,
                                const char *call, void **pointer)
{
    *pointer = NULL;
    if (size_bytes == 0) return cudaSuccess;
    if (cts_try_is_on()) cts_try_watcher->before(NULL, NULL);
    struct cts_range range;
    const int device = cts_current_device();
    if (!cts_range_allocate(kind, device, size_bytes, flags, &range)) {
        cts_pools_trim(device); /* what stream-ordered frees still hold may be enough */
        if (!cts_range_allocate(kind, device, size_bytes, flags, &range))
            return cudaErrorMemoryAllocation;
    }
    cts_record_allocation(&range, call, CTS_NONE);
    cts_range_set((void *)range.address, range.allocation, NULL);
    *pointer = (void *)range.address;
    return cudaSuccess;
}

cudaError_t cts_memory_free(const void *pointer, unsigned kinds)
{
    struct cts_range range;
    if (!cts_range_find(pointer, &range) || !(kinds >> range.kind & 1))
        return cudaErrorInvalidValue;
    if (cts_try_is_on()) cts_try_watcher->before(NULL, NULL);
    cts_streams_wait_device(range.device);
    if (!cts_range_remove(pointer, kinds, &range)) return cudaErrorInvalidValue;
    cts_memory_sum("free", &range);
    cts_record_free(&range, CTS_NONE);
    cts_range_release(&range);
    return cudaSuccess;
}

/* ---- device memory ---- */

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    CTS_ENTER();
    if (!devPtr) return cts_return(cudaErrorInvalidValue);
    return cts_return(cts_memory_allocate(CTS_RANGE_DEVICE, size, 0, __func__, devPtr));
}

static uint64_t round_up(uint64_t value, uint64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* Rows of a multiple of PITCH_BYTES. */
static cudaError_t allocate_pitched(void **pointer, size_t *pitch, struct cudaExtent extent,
                                    const char *call)
{
    if (extent.width > SIZE_MAX / 2) return cudaErrorMemoryAllocation;
    *pitch = round_up(extent.width, PITCH_BYTES);
    uint64_t bytes;
    if (__builtin_mul_overflow(*pitch, extent.height, &bytes) ||
        __builtin_mul_overflow(bytes, extent.depth, &bytes))
        return cudaErrorMemoryAllocation;
    return cts_memory_allocate(CTS_RANGE_DEVICE, bytes, 0, call, pointer);
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    CTS_ENTER();
    if (!devPtr || !pitch) return cts_return(cudaErrorInvalidValue);
    return cts_return(allocate_pitched(devPtr, pitch, make_cudaExtent(width, height, 1), __func__));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    CTS_ENTER();
    if (!pitchedDevPtr) return cts_return(cudaErrorInvalidValue);
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return cts_return(
        allocate_pitched(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent, __func__));
}

cudaError_t cudaFree(void *devPtr)
{
    CTS_ENTER();
    if (!devPtr) return cudaSuccess;
    const unsigned kinds = 1u << CTS_RANGE_DEVICE | 1u << CTS_RANGE_MANAGED;
    struct cts_range range;
    if (cts_range_find(devPtr, &range) && range.pool) {
        cts_streams_wait_device(range.device);
        return cts_return(cts_pool_free(devPtr, NULL));
    }
    return cts_return(cts_memory_free(devPtr, kinds));
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    CTS_ENTER();
    uint64_t used, limit;
    cts_ranges_usage(cts_current_device(), &used, &limit);
    if (free_bytes) *free_bytes = limit - used;
    if (total) *total = limit;
    return cudaSuccess;
}

/* ---- managed memory ---- */

cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    CTS_ENTER();
    if (!devPtr || size == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return cts_return(cudaErrorInvalidValue);
    return cts_return(cts_memory_allocate(CTS_RANGE_MANAGED, size, flags, __func__, devPtr));
}

static bool is_managed(const void *pointer, size_t count)
{
    struct cts_range range;
    return cts_range_find(pointer, &range) && range.kind == CTS_RANGE_MANAGED &&
           count <= range.address + range.size_bytes - (uint64_t)pointer;
}

/* Prefetching and advice move pages between memories; here there is one. They are checked. */
cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice,
                                 cudaStream_t stream)
{
    CTS_ENTER();
    if (!is_managed(devPtr, count)) return cts_return(cudaErrorInvalidValue);
    if (dstDevice != cudaCpuDeviceId && !cts_device_is_valid(dstDevice))
        return cts_return(cudaErrorInvalidDevice);
    struct cts_work work = {.kind = CTS_WORK_NOTHING};
    return cts_return(cts_stream_submit(stream, &work, CTS_ASYNCHRONOUS));
}

cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                          int device)
{
    CTS_ENTER();
    if (!is_managed(devPtr, count) || advice < cudaMemAdviseSetReadMostly ||
        advice > cudaMemAdviseUnsetAccessedBy)
        return cts_return(cudaErrorInvalidValue);
    if (device != cudaCpuDeviceId && !cts_device_is_valid(device) &&
        advice > cudaMemAdviseUnsetReadMostly)
        return cts_return(cudaErrorInvalidDevice);
    return cudaSuccess;
}

/* The device that a location of CUDA 13 means; one that is none: -2, which nothing accepts. */
static int device_of_location(struct cudaMemLocation location)
{
    switch (location.type) {
    case cudaMemLocationTypeDevice:
        return location.id;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
        return cudaCpuDeviceId;
    default:
        return -2;
    }
}

cudaError_t cudaMemPrefetchAsync_v2(const void *devPtr, size_t count,
                                    struct cudaMemLocation location, unsigned int flags,
                                    cudaStream_t stream)
{
    if (flags) return cts_return(cudaErrorInvalidValue);
    return cudaMemPrefetchAsync(devPtr, count, device_of_location(location), stream);
}

cudaError_t cudaMemAdvise_v2(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                             struct cudaMemLocation location)
{
    return cudaMemAdvise(devPtr, count, advice, device_of_location(location));
}

cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize,
                                     enum cudaMemRangeAttribute attribute, const void *devPtr,
                                     size_t count)
{
    CTS_ENTER();
    (void)data, (void)dataSize, (void)attribute, (void)devPtr, (void)count;
    return cts_refuse(__func__, "advice is not stored");
}

/* ---- host memory ---- */

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    CTS_ENTER();
    const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (!pHost || flags & ~known) return cts_return(cudaErrorInvalidValue);
    return cts_return(cts_memory_allocate(CTS_RANGE_PINNED, size, flags, __func__, pHost));
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    CTS_ENTER();
    if (!ptr) return cts_return(cudaErrorInvalidValue);
    return cts_return(cts_memory_allocate(CTS_RANGE_PINNED, size, 0, __func__, ptr));
}

cudaError_t cudaFreeHost(void *ptr)
{
    CTS_ENTER();
    if (!ptr) return cudaSuccess;
    return cts_return(cts_memory_free(ptr, 1u << CTS_RANGE_PINNED));
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    CTS_ENTER();
    const unsigned known =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    if (!ptr || size == 0 || flags & ~known) return cts_return(cudaErrorInvalidValue);
    struct cts_range range = {.address = (uint64_t)ptr,
                              .size_bytes = size,
                              .kind = CTS_RANGE_REGISTERED,
                              .device = cts_current_device(),
                              .flags = flags,
                              .allocation = CTS_NONE};
    if (!cts_range_add(&range)) return cts_return(cudaErrorHostMemoryAlreadyRegistered);
    cts_record_allocation(&range, __func__, CTS_NONE);
    cts_range_set(ptr, range.allocation, NULL);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *ptr)
{
    CTS_ENTER();
    const cudaError_t error = cts_memory_free(ptr, 1u << CTS_RANGE_REGISTERED);
    return cts_return(error == cudaSuccess ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

static bool find_host(const void *pointer, struct cts_range *range)
{
    return cts_range_find(pointer, range) &&
           (range->kind == CTS_RANGE_PINNED || range->kind == CTS_RANGE_REGISTERED);
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    CTS_ENTER();
    struct cts_range range;
    if (!pDevice || flags) return cts_return(cudaErrorInvalidValue);
    if (!find_host(pHost, &range)) return cts_return(cudaErrorInvalidValue);
    *pDevice = pHost; /* one address space */
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    CTS_ENTER();
    struct cts_range range;
    if (!pFlags || !find_host(pHost, &range)) return cts_return(cudaErrorInvalidValue);
    *pFlags = range.flags | cudaHostAllocMapped;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr)
{
    CTS_ENTER();
    if (!attributes) return cts_return(cudaErrorInvalidValue);
    struct cts_range range;
    if (!cts_range_find(ptr, &range)) {
        *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered,
                                                     .device = cudaInvalidDeviceId,
                                                     .hostPointer = (void *)(uintptr_t)ptr};
        return cudaSuccess;
    }
    const bool is_device = cts_range_is_device(&range);
    *attributes = (struct cudaPointerAttributes){
        .type = is_device                         ? cudaMemoryTypeDevice
                : range.kind == CTS_RANGE_MANAGED ? cudaMemoryTypeManaged
                                                  : cudaMemoryTypeHost,
        .device = range.device,
        .devicePointer = (void *)(uintptr_t)ptr,
        .hostPointer = is_device ? NULL : (void *)(uintptr_t)ptr,
    };
    return cudaSuccess;
}
