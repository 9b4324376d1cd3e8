/* The table of ranges is a sorted array of addresses; look-ups are binary searches. Memory comes
 * from one heap per device, one for managed memory and one for pinned memory, at fixed addresses:
 *
 *     0x2000'0000'0000 + device * 1 TiB     device memory
 *     0x3000'0000'0000                      managed memory
 *     0x3100'0000'0000                      pinned memory
 *
 * so that a program's addresses are the same from run to run. */
#include "range.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "heap.h"
#include "runtime.h"
#include "common/search.h"
#include "common/promise.h"
#include "trace/catalogue.h"
#include "try-watch.h"

static const uint64_t DEVICE_ADDRESS = 0x200000000000, MANAGED_ADDRESS = 0x300000000000,
                      PINNED_ADDRESS = 0x310000000000, HEAP_STRIDE = (uint64_t)1 << 40;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cts_range *ranges; /* ascending addresses, no overlaps */
static size_t range_count, range_capacity;
static struct cts_heap *device_heaps[CTS_DEVICES_MAX], *managed_heap, *pinned_heap;

/* Bounds of registered memory and managed variables, for the quick test of host accesses. */
static _Atomic uint64_t foreign_low = UINT64_MAX, foreign_high;

static uint64_t reserve_for(uint64_t limit_bytes)
{
    return limit_bytes > HEAP_STRIDE / 4 ? HEAP_STRIDE : limit_bytes * 4;
}

void cts_ranges_start(void)
{
    const uint64_t limit = cts_device_memory_bytes(), machine = cts_machine_memory_bytes();
    for (int device = 0; device < cts_device_count(); device++)
        device_heaps[device] = cts_heap_create(DEVICE_ADDRESS + (uint64_t)device * HEAP_STRIDE,
                                               reserve_for(limit), limit);
    managed_heap = cts_heap_create(MANAGED_ADDRESS, reserve_for(machine), machine);
    pinned_heap = cts_heap_create(PINNED_ADDRESS, reserve_for(machine), machine);
}

static struct cts_heap *heap_of(enum cts_range_kind kind, int device)
{
    CTS_ASSERT_HELD(&lock);
    switch (kind) {
    case CTS_RANGE_DEVICE:
    case CTS_RANGE_ARRAY:
        return device_heaps[device];
    case CTS_RANGE_MANAGED:
        return managed_heap;
    case CTS_RANGE_PINNED:
        return pinned_heap;
    default:
        return NULL;
    }
}

/* The index of the first range that ends behind an address. */
static size_t position(uint64_t address)
{
    CTS_ASSERT_HELD(&lock);
    return CTS_SEARCH(range_count, i, ranges[i].address + ranges[i].size_bytes <= address);
}

static bool insert(const struct cts_range *range)
{
    CTS_ASSERT_HELD(&lock);
    const size_t at = position(range->address);
    if (at < range_count && ranges[at].address - range->address < range->size_bytes) return false;
    if (at < range_count && ranges[at].address <= range->address) return false;
    if (range_count == range_capacity) {
        const size_t capacity = range_capacity ? range_capacity * 2 : 256;
        struct cts_range *grown = realloc(ranges, capacity * sizeof *grown);
        if (!grown) return false;
        ranges = grown;
        range_capacity = capacity;
    }
    memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof ranges[0]);
    ranges[at] = *range;
    range_count++;
    return true;
}

static struct cts_range *find(uint64_t address)
{
    CTS_ASSERT_HELD(&lock);
    const size_t at = position(address);
    return at < range_count && ranges[at].address <= address ? &ranges[at] : NULL;
}

static void erase(struct cts_range *range)
{
    CTS_ASSERT_HELD(&lock);
    const size_t at = (size_t)(range - ranges);
    range_count--;
    memmove(range, range + 1, (range_count - at) * sizeof ranges[0]);
}

bool cts_range_allocate(enum cts_range_kind kind, int device, uint64_t size_bytes, unsigned flags,
                        struct cts_range *range)
{
    pthread_mutex_lock(&lock);
    struct cts_heap *const heap = heap_of(kind, device);
    const uint64_t address = heap ? cts_heap_allocate(heap, size_bytes) : 0;
    *range = (struct cts_range){.address = address,
                                .size_bytes = size_bytes,
                                .kind = kind,
                                .device = device,
                                .flags = flags,
                                .allocation = CTS_NONE};
    const bool done = address && insert(range);
    if (address && !done) cts_heap_free(heap, address, size_bytes);
    pthread_mutex_unlock(&lock);
    if (done && cts_try_is_on()) cts_try_watcher->allocated(range);
    return done;
}

static void widen_foreign(uint64_t low, uint64_t high)
{
    CTS_ASSERT_HELD(&lock);
    if (low < atomic_load(&foreign_low)) atomic_store(&foreign_low, low);
    if (high > atomic_load(&foreign_high)) atomic_store(&foreign_high, high);
}

bool cts_range_add(const struct cts_range *range)
{
    pthread_mutex_lock(&lock);
    const bool done = insert(range);
    if (done && (range->kind == CTS_RANGE_REGISTERED || range->kind == CTS_RANGE_MANAGED))
        widen_foreign(range->address, range->address + range->size_bytes);
    pthread_mutex_unlock(&lock);
    if (done && cts_try_is_on()) cts_try_watcher->allocated(range);
    return done;
}

static bool is_in_heap(uint64_t address)
{
    for (int device = 0; device < cts_device_count(); device++)
        if (device_heaps[device] && cts_heap_contains(device_heaps[device], address)) return true;
    return (managed_heap && cts_heap_contains(managed_heap, address)) ||
           (pinned_heap && cts_heap_contains(pinned_heap, address));
}

bool cts_range_allow_read(uint64_t address)
{
    const uint64_t granule_bytes = 2 << 20, page_bytes = 4096;
    const uint64_t start = address / granule_bytes * granule_bytes;
    pthread_mutex_lock(&lock); /* device code never holds it */
    const size_t at = is_in_heap(address) ? position(start) : range_count;
    const bool is_mapped = at < range_count && ranges[at].address < start + granule_bytes;
    const bool done =
        is_mapped && !find(address) &&
        mprotect((void *)(address / page_bytes * page_bytes), page_bytes, PROT_READ) == 0;
    pthread_mutex_unlock(&lock);
    return done;
}

bool cts_range_find(const void *address, struct cts_range *range)
{
    pthread_mutex_lock(&lock);
    const struct cts_range *const found = find((uint64_t)address);
    if (found) *range = *found;
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

static uint64_t distance_to(const struct cts_range *range, uint64_t address)
{
    if (address < range->address) return range->address - address;
    const uint64_t end = range->address + range->size_bytes;
    return address >= end ? address - end : 0;
}

bool cts_range_nearest(uint64_t address, struct cts_range *range)
{
    const struct cts_range *best = NULL;
    pthread_mutex_lock(&lock);
    const size_t at = position(address);
    if (at < range_count) best = &ranges[at];
    if (at && (!best || distance_to(&ranges[at - 1], address) < distance_to(best, address)))
        best = &ranges[at - 1];
    if (best) *range = *best;
    pthread_mutex_unlock(&lock);
    return best != NULL;
}

void cts_range_name(const void *address, const char *variable, uint32_t element_bytes)
{
    pthread_mutex_lock(&lock);
    struct cts_range *const found = find((uint64_t)address);
    if (found) {
        snprintf(found->variable, sizeof found->variable, "%s", variable ? variable : "");
        found->element_bytes = element_bytes;
    }
    pthread_mutex_unlock(&lock);
}

bool cts_range_remove(const void *address, unsigned kinds, struct cts_range *range)
{
    pthread_mutex_lock(&lock);
    struct cts_range *const found = find((uint64_t)address);
    const bool match =
        found && found->address == (uint64_t)address && (kinds >> found->kind & 1) != 0;
    if (match) {
        *range = *found;
        erase(found);
    }
    pthread_mutex_unlock(&lock);
    return match;
}

void cts_range_release(const struct cts_range *range)
{
    if (cts_try_is_on() && cts_try_watcher->defers(range)) return;
    pthread_mutex_lock(&lock);
    struct cts_heap *const heap = heap_of(range->kind, range->device);
    if (heap && cts_heap_contains(heap, range->address))
        cts_heap_free(heap, range->address, range->size_bytes);
    pthread_mutex_unlock(&lock);
}

void cts_range_set_of_graph(const void *address)
{
    pthread_mutex_lock(&lock);
    struct cts_range *const found = find((uint64_t)address);
    if (found) {
        found->is_of_graph = true;
        found->allocation = CTS_NONE;
    }
    pthread_mutex_unlock(&lock);
}

void cts_range_set(const void *address, uint32_t allocation, void *pool)
{
    pthread_mutex_lock(&lock);
    struct cts_range *const found = find((uint64_t)address);
    if (found) {
        found->allocation = allocation;
        found->pool = pool;
    }
    pthread_mutex_unlock(&lock);
}

void cts_ranges_reset(int device, void (*gone)(const struct cts_range *range))
{
    pthread_mutex_lock(&lock);
    size_t kept = 0;
    for (size_t i = 0; i < range_count; i++) {
        const struct cts_range range = ranges[i];
        if ((range.kind == CTS_RANGE_DEVICE || range.kind == CTS_RANGE_ARRAY) &&
            range.device == device) {
            gone(&range);
            cts_heap_free(device_heaps[device], range.address, range.size_bytes);
        } else
            ranges[kept++] = range;
    }
    range_count = kept;
    pthread_mutex_unlock(&lock);
}

void cts_ranges_each(void (*visit)(const struct cts_range *range))
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < range_count; i++) visit(&ranges[i]);
    pthread_mutex_unlock(&lock);
}

void cts_ranges_usage(int device, uint64_t *used_bytes, uint64_t *limit_bytes)
{
    pthread_mutex_lock(&lock);
    const struct cts_heap *const heap = device_heaps[device];
    *used_bytes = heap ? cts_heap_used_bytes(heap) : 0;
    *limit_bytes = heap ? cts_heap_limit_bytes(heap) : 0;
    pthread_mutex_unlock(&lock);
}

bool cts_range_is_shared_with_host(const void *address)
{
    const uint64_t at = (uint64_t)address;
    /* The heaps' bounds never change once the runtime has started. */
    if (managed_heap && cts_heap_contains(managed_heap, at)) return true;
    if (pinned_heap && cts_heap_contains(pinned_heap, at)) return true;
    if (at < atomic_load_explicit(&foreign_low, memory_order_relaxed) ||
        at >= atomic_load_explicit(&foreign_high, memory_order_relaxed))
        return false;
    struct cts_range range;
    return cts_range_find(address, &range) &&
           (range.kind == CTS_RANGE_REGISTERED || range.kind == CTS_RANGE_MANAGED);
}
