/* Pools. cudaFreeAsync takes memory back at once but cannot hand it to everyone before its stream
 * has come that far; the block waits in its pool as *pending*, with the stream and the place in
 * it:
 *
 *   - cudaMallocAsync in the same stream may have it immediately (the stream's order protects it):
 *     the first pending block of the same size, so that addresses repeat from run to run;
 *   - everyone else gets it after a synchronisation that proves that the place was reached, when
 *     the pool gives it back (cts_pools_trim).
 *
 * The release threshold is kept and given back but blocks are not cached beyond that. */
#include "memory-pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "capture.h"
#include "memory-sums.h"
#include "memory-api.h"
#include "range.h"
#include "record.h"
#include "stream.h"
#include "try-watch.h"
#include "cpu-timeline.h"
#include "common/promise.h"

struct pending {
    struct pending *next;
    struct cts_range range;
    struct cts_point point;
};

struct CUmemPoolHandle_st {
    struct CUmemPoolHandle_st *next; /* all pools */
    int device;
    bool is_default, is_destroyed;
    uint64_t used_bytes, used_high_bytes, threshold_bytes;
    int reuse[4]; /* the three reuse attributes, by number */
    struct pending *pending, **pending_tail;
};

/* Taken before the streams' lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUmemPoolHandle_st *pools;
static struct CUmemPoolHandle_st *default_pools[CTS_DEVICES_MAX], *current_pools[CTS_DEVICES_MAX];

static struct CUmemPoolHandle_st *add_pool(int device)
{
    CTS_ASSERT_HELD(&lock);
    struct CUmemPoolHandle_st *const pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    *pool = (struct CUmemPoolHandle_st){.next = pools, .device = device, .reuse = {0, 1, 1, 1}};
    pool->pending_tail = &pool->pending;
    pools = pool;
    return pool;
}

static struct CUmemPoolHandle_st *default_pool(int device)
{
    CTS_ASSERT_HELD(&lock);
    if (!default_pools[device]) {
        default_pools[device] = add_pool(device);
        if (default_pools[device]) default_pools[device]->is_default = true;
    }
    return default_pools[device];
}

static bool is_pool(const struct CUmemPoolHandle_st *pool)
{
    CTS_ASSERT_HELD(&lock);
    const struct CUmemPoolHandle_st *known = pools;
    while (known && known != pool) known = known->next;
    return known && !known->is_destroyed;
}

/* ---- allocating ---- */

/* Takes the first block of the same size that was freed in the same stream; with both locks. */
static struct pending *take_pending(struct CUmemPoolHandle_st *pool, struct CUstream_st *stream,
                                    uint64_t size_bytes)
{
    struct pending **place = &pool->pending;
    while (*place && ((*place)->point.stream != stream || (*place)->range.size_bytes != size_bytes))
        place = &(*place)->next;
    struct pending *const found = *place;
    if (!found) return NULL;
    *place = found->next;
    if (!found->next) pool->pending_tail = place;
    return found;
}

static bool reuse(struct CUmemPoolHandle_st *pool, cudaStream_t handle, uint64_t size_bytes,
                  struct cts_range *range, uint32_t *stream_id)
{
    cts_streams_lock();
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    struct pending *const found = stream ? take_pending(pool, stream, size_bytes) : NULL;
    if (stream) cts_cpu_timeline_names(stream);
    *stream_id = stream ? stream->id : CTS_NONE;
    if (found) {
        *range = found->range;
        cts_point_release(&found->point);
    }
    cts_streams_unlock();
    free(found);
    return found && cts_range_add(range);
}

static cudaError_t allocate(struct CUmemPoolHandle_st *pool, cudaStream_t stream,
                            uint64_t size_bytes, const char *call, void **pointer)
{
    unsigned long long number;
    *pointer = NULL;
    if (cudaStreamGetId(stream, &number) != cudaSuccess) return cudaErrorInvalidResourceHandle;
    if (size_bytes == 0) return cudaErrorInvalidValue;
    if (cts_try_is_on()) cts_try_watcher->before(NULL, NULL);
    struct cts_range range;
    uint32_t stream_id;
    pthread_mutex_lock(&lock);
    bool done = reuse(pool, stream, size_bytes, &range, &stream_id);
    pthread_mutex_unlock(&lock);
    if (!done) done = cts_range_allocate(CTS_RANGE_DEVICE, pool->device, size_bytes, 0, &range);
    if (!done) {
        cts_pools_trim(pool->device);
        done = cts_range_allocate(CTS_RANGE_DEVICE, pool->device, size_bytes, 0, &range);
    }
    if (!done) return cudaErrorMemoryAllocation;
    cts_record_allocation(&range, call, stream_id);
    cts_range_set((void *)range.address, range.allocation, pool);
    pthread_mutex_lock(&lock);
    pool->used_bytes += size_bytes;
    if (pool->used_bytes > pool->used_high_bytes) pool->used_high_bytes = pool->used_bytes;
    pthread_mutex_unlock(&lock);
    *pointer = (void *)range.address;
    return cudaSuccess;
}

/* Whether the stream is being captured: the memory is then the graph's. */
static bool allocate_in_graph(struct CUmemPoolHandle_st *pool, cudaStream_t handle,
                              uint64_t size_bytes, void **pointer, cudaError_t *error)
{
    struct cts_range range;
    cts_streams_lock();
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    const bool is_captured = stream && cts_capture_is_on(stream);
    cts_streams_unlock();
    *pointer = NULL;
    *error = cudaSuccess;
    if (!is_captured) return false;
    if (!size_bytes) *error = cudaErrorInvalidValue;
    if (size_bytes && !cts_range_allocate(CTS_RANGE_DEVICE, pool->device, size_bytes, 0, &range))
        *error = cudaErrorMemoryAllocation;
    if (*error != cudaSuccess) return true;
    cts_range_set_of_graph((const void *)range.address);
    cts_streams_lock();
    const bool taken = cts_capture_allocates(stream, &range, error);
    cts_streams_unlock();
    if (taken) {
        *pointer = (void *)range.address;
    } else {
        if (cts_range_remove((const void *)range.address, 1u << CTS_RANGE_DEVICE, &range))
            cts_range_release(&range);
        if (*error == cudaSuccess) *error = cudaErrorStreamCaptureInvalidated;
    }
    return true;
}

cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    CTS_ENTER();
    if (!devPtr) return cts_return(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    const int device = cts_current_device();
    struct CUmemPoolHandle_st *const pool =
        current_pools[device] ? current_pools[device] : default_pool(device);
    pthread_mutex_unlock(&lock);
    if (!pool) return cts_return(cudaErrorMemoryAllocation);
    cudaError_t error;
    if (allocate_in_graph(pool, hStream, size, devPtr, &error)) return cts_return(error);
    return cts_return(allocate(pool, hStream, size, __func__, devPtr));
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                    cudaStream_t stream)
{
    CTS_ENTER();
    pthread_mutex_lock(&lock);
    const bool known = is_pool(memPool);
    pthread_mutex_unlock(&lock);
    if (!ptr || !known) return cts_return(cudaErrorInvalidValue);
    cudaError_t error;
    if (allocate_in_graph(memPool, stream, size, ptr, &error)) return cts_return(error);
    return cts_return(allocate(memPool, stream, size, __func__, ptr));
}

/* ---- freeing ---- */

static bool keep_pending(struct CUmemPoolHandle_st *pool, const struct cts_range *range,
                         struct CUstream_st *stream)
{
    CTS_ASSERT_HELD(&lock);
    struct pending *const block = calloc(1, sizeof *block);
    if (!block) return false;
    block->range = *range;
    block->range.allocation = CTS_NONE;
    cts_streams_lock();
    block->point = cts_point_here(stream);
    cts_streams_unlock();
    *pool->pending_tail = block;
    pool->pending_tail = &block->next;
    return true;
}

cudaError_t cts_pool_free(const void *pointer, struct CUstream_st *stream)
{
    struct cts_range range;
    if (cts_try_is_on()) cts_try_watcher->before(NULL, NULL);
    if (!cts_range_remove(pointer, 1u << CTS_RANGE_DEVICE | 1u << CTS_RANGE_MANAGED, &range))
        return cudaErrorInvalidValue;
    if (range.is_of_graph) { /* the next launch allocates it again */
        if (!stream) cts_streams_wait_device(range.device);
        cts_record_free(&range, stream ? stream->id : CTS_NONE);
        range.allocation = CTS_NONE;
        return cts_range_add(&range) ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    cts_memory_sum("free", &range);
    cts_record_free(&range, stream ? stream->id : CTS_NONE);
    struct CUmemPoolHandle_st *const pool = range.pool;
    pthread_mutex_lock(&lock);
    if (pool) pool->used_bytes -= range.size_bytes;
    const bool kept = pool && stream && keep_pending(pool, &range, stream);
    pthread_mutex_unlock(&lock);
    if (kept) return cudaSuccess;
    if (stream) cts_streams_wait_device(range.device);
    cts_range_release(&range);
    return cudaSuccess;
}

cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    CTS_ENTER();
    if (!devPtr) return cudaSuccess;
    cts_streams_lock();
    struct CUstream_st *const stream = cts_stream_resolve(hStream);
    struct cts_point keep = stream ? cts_point_here(stream) : (struct cts_point){0};
    if (stream) cts_cpu_timeline_names(stream);
    const bool is_graphs = stream && cts_capture_frees(stream, devPtr);
    cts_streams_unlock();
    if (!stream) return cts_return(cudaErrorInvalidResourceHandle);
    const cudaError_t error = is_graphs ? cudaSuccess : cts_pool_free(devPtr, stream);
    cts_streams_lock();
    cts_point_release(&keep);
    cts_streams_unlock();
    return cts_return(error);
}

/* Takes every pending block of the device whose place has been reached. */
static struct pending *take_all(int device)
{
    CTS_ASSERT_HELD(&lock);
    struct pending *taken = NULL;
    cts_streams_lock();
    for (struct CUmemPoolHandle_st *pool = pools; pool; pool = pool->next) {
        if (pool->device != device) continue;
        struct pending **place = &pool->pending;
        while (*place) {
            struct pending *const block = *place;
            if (!cts_point_is_reached(&block->point)) {
                place = &block->next;
                continue;
            }
            *place = block->next;
            cts_point_release(&block->point);
            block->next = taken;
            taken = block;
        }
        pool->pending_tail = place;
    }
    cts_streams_unlock();
    return taken;
}

void cts_pools_trim(int device)
{
    cts_streams_wait_device(device);
    pthread_mutex_lock(&lock);
    struct pending *block = take_all(device);
    pthread_mutex_unlock(&lock);
    while (block) {
        struct pending *const next = block->next;
        cts_range_release(&block->range);
        free(block);
        block = next;
    }
}

/* ---- pools ---- */

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    CTS_ENTER();
    if (!memPool) return cts_return(cudaErrorInvalidValue);
    if (!cts_device_is_valid(device)) return cts_return(cudaErrorInvalidDevice);
    pthread_mutex_lock(&lock);
    *memPool = default_pool(device);
    pthread_mutex_unlock(&lock);
    return cts_return(*memPool ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    CTS_ENTER();
    if (!memPool) return cts_return(cudaErrorInvalidValue);
    if (!cts_device_is_valid(device)) return cts_return(cudaErrorInvalidDevice);
    pthread_mutex_lock(&lock);
    *memPool = current_pools[device] ? current_pools[device] : default_pool(device);
    pthread_mutex_unlock(&lock);
    return cts_return(*memPool ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    CTS_ENTER();
    if (!cts_device_is_valid(device)) return cts_return(cudaErrorInvalidDevice);
    pthread_mutex_lock(&lock);
    const bool fits = is_pool(memPool) && memPool->device == device;
    if (fits) current_pools[device] = memPool;
    pthread_mutex_unlock(&lock);
    return cts_return(fits ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    CTS_ENTER();
    if (!memPool || !poolProps || poolProps->allocType != cudaMemAllocationTypePinned ||
        poolProps->location.type != cudaMemLocationTypeDevice)
        return cts_return(cudaErrorInvalidValue);
    if (!cts_device_is_valid(poolProps->location.id)) return cts_return(cudaErrorInvalidDevice);
    if (poolProps->handleTypes != cudaMemHandleTypeNone)
        return cts_refuse(__func__, "pools are not shared between processes");
    pthread_mutex_lock(&lock);
    *memPool = add_pool(poolProps->location.id);
    pthread_mutex_unlock(&lock);
    return cts_return(*memPool ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* The object stays for the blocks that are still out. */
cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    CTS_ENTER();
    pthread_mutex_lock(&lock);
    const bool known = is_pool(memPool) && !memPool->is_default;
    if (known) {
        memPool->is_destroyed = true;
        for (int device = 0; device < CTS_DEVICES_MAX; device++)
            if (current_pools[device] == memPool) current_pools[device] = NULL;
    }
    pthread_mutex_unlock(&lock);
    return cts_return(known ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    CTS_ENTER();
    (void)minBytesToKeep; /* what is not kept for a stream is never kept */
    pthread_mutex_lock(&lock);
    const bool known = is_pool(memPool);
    const int device = known ? memPool->device : 0;
    pthread_mutex_unlock(&lock);
    if (!known) return cts_return(cudaErrorInvalidValue);
    cts_pools_trim(device);
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    CTS_ENTER();
    pthread_mutex_lock(&lock);
    cudaError_t error = value && is_pool(memPool) ? cudaSuccess : cudaErrorInvalidValue;
    if (error == cudaSuccess) switch (attr) {
        case cudaMemPoolReuseFollowEventDependencies:
        case cudaMemPoolReuseAllowOpportunistic:
        case cudaMemPoolReuseAllowInternalDependencies:
            memPool->reuse[attr] = *(int *)value;
            break;
        case cudaMemPoolAttrReleaseThreshold:
            memPool->threshold_bytes = *(uint64_t *)value;
            break;
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemHigh:
            if (*(uint64_t *)value)
                error = cudaErrorInvalidValue;
            else
                memPool->used_high_bytes = memPool->used_bytes;
            break;
        default:
            error = cudaErrorInvalidValue;
        }
    pthread_mutex_unlock(&lock);
    return cts_return(error);
}

static uint64_t pending_bytes(const struct CUmemPoolHandle_st *pool)
{
    CTS_ASSERT_HELD(&lock);
    uint64_t bytes = 0;
    for (const struct pending *block = pool->pending; block; block = block->next)
        bytes += block->range.size_bytes;
    return bytes;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    CTS_ENTER();
    pthread_mutex_lock(&lock);
    cudaError_t error = value && is_pool(memPool) ? cudaSuccess : cudaErrorInvalidValue;
    if (error == cudaSuccess) switch (attr) {
        case cudaMemPoolReuseFollowEventDependencies:
        case cudaMemPoolReuseAllowOpportunistic:
        case cudaMemPoolReuseAllowInternalDependencies:
            *(int *)value = memPool->reuse[attr];
            break;
        case cudaMemPoolAttrReleaseThreshold:
            *(uint64_t *)value = memPool->threshold_bytes;
            break;
        case cudaMemPoolAttrReservedMemCurrent:
            *(uint64_t *)value = memPool->used_bytes + pending_bytes(memPool);
            break;
        case cudaMemPoolAttrUsedMemCurrent:
            *(uint64_t *)value = memPool->used_bytes;
            break;
        case cudaMemPoolAttrReservedMemHigh:
        case cudaMemPoolAttrUsedMemHigh:
            *(uint64_t *)value = memPool->used_high_bytes;
            break;
        default:
            error = cudaErrorInvalidValue;
        }
    pthread_mutex_unlock(&lock);
    return cts_return(error);
}

/* Every device reaches every pool. */
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                                 size_t count)
{
    CTS_ENTER();
    pthread_mutex_lock(&lock);
    const bool known = is_pool(memPool) && (descList || !count);
    pthread_mutex_unlock(&lock);
    return cts_return(known ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                 struct cudaMemLocation *location)
{
    CTS_ENTER();
    pthread_mutex_lock(&lock);
    const bool known = is_pool(memPool) && flags && location;
    pthread_mutex_unlock(&lock);
    if (!known) return cts_return(cudaErrorInvalidValue);
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
}
