/* Device memory is carved out of one reserved mapping without access rights:
 *
 *     | allocation | guard | slab of small ones | guard | ...  free (no access)  ... |
 *
 * An allocation of a page or more has pages of its own and a page without access behind it, so
 * that running over its end faults, as does touching it after it was freed. Smaller ones share
 * *slabs* of 64 KiB in *units* of 512 bytes. The system limits how many stretches of different
 * rights a process has, so that beyond GUARDED_MAX guarded allocations the middle-sized ones share
 * slabs of 2 MiB.
 *
 * Free stretches are kept in ascending order and the first that fits is taken: an address depends
 * on the calls before it alone. Stretches one page apart in address also keep big arrays from
 * falling into the same cache sets. */
#include "heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/search.h"

enum { PAGE_BYTES = 4096, UNITS_PER_SLAB = 128, GUARDED_MAX = 8192, CLASS_COUNT = 2 };
static const uint64_t HUGE_BYTES = 4 << 20; /* from here on huge pages are asked for */

struct stretch {
    uint64_t start, size_bytes;
};

struct slab {
    uint64_t start;
    uint64_t used[UNITS_PER_SLAB / 64];
    unsigned used_count;
};

/* Allocations of at least `minimum` and less than `maximum` bytes share slabs. */
struct slab_class {
    uint64_t unit_bytes, maximum_bytes;
    struct slab *slabs; /* ascending */
    size_t count, capacity;
};

struct cts_heap {
    uint64_t start, size_bytes;
    uint64_t limit_bytes, used_bytes;
    struct stretch *free;
    size_t free_count, free_capacity;
    size_t guarded_count;
    struct slab_class classes[CLASS_COUNT];
};

static uint64_t round_up(uint64_t value, uint64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

struct cts_heap *cts_heap_create(uint64_t address, uint64_t reserve_bytes, uint64_t limit_bytes)
{
    struct cts_heap *heap = calloc(1, sizeof *heap);
    struct stretch *whole = malloc(sizeof *whole);
    if (!heap || !whole) goto fail;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *map = MAP_FAILED;
    for (; map == MAP_FAILED && reserve_bytes >= 1 << 20; reserve_bytes /= 2) {
        heap->size_bytes = round_up(reserve_bytes, PAGE_BYTES);
        /* Without MAP_FIXED the address is a wish that the kernel grants where it can. */
        map = mmap((void *)address, heap->size_bytes, PROT_NONE, flags, -1, 0);
    }
    if (map == MAP_FAILED) goto fail;
    heap->start = (uint64_t)map;
    heap->limit_bytes = limit_bytes;
    *whole = (struct stretch){heap->start, heap->size_bytes};
    heap->free = whole;
    heap->free_count = heap->free_capacity = 1;
    heap->classes[0] = (struct slab_class){.unit_bytes = 512, .maximum_bytes = PAGE_BYTES};
    heap->classes[1] = (struct slab_class){.unit_bytes = 16 << 10, .maximum_bytes = 256 << 10};
    return heap;
fail:
    free(heap);
    free(whole);
    return NULL;
}

void cts_heap_destroy(struct cts_heap *heap)
{
    if (!heap) return;
    munmap((void *)heap->start, heap->size_bytes);
    for (unsigned i = 0; i < CLASS_COUNT; i++) free(heap->classes[i].slabs);
    free(heap->free);
    free(heap);
}

/* ---- stretches of pages ---- */

static uint64_t take_pages(struct cts_heap *heap, uint64_t size_bytes)
{
    const uint64_t with_guard = size_bytes + PAGE_BYTES;
    size_t i = 0;
    while (i < heap->free_count && heap->free[i].size_bytes < with_guard) i++;
    if (i == heap->free_count) return 0;
    const uint64_t start = heap->free[i].start;
    if (mprotect((void *)start, size_bytes, PROT_READ | PROT_WRITE) != 0) return 0;
    if (size_bytes >= HUGE_BYTES) madvise((void *)start, size_bytes, MADV_HUGEPAGE);
    heap->free[i].start += with_guard;
    heap->free[i].size_bytes -= with_guard;
    if (heap->free[i].size_bytes == 0) {
        heap->free_count--;
        memmove(&heap->free[i], &heap->free[i + 1], (heap->free_count - i) * sizeof heap->free[0]);
    }
    heap->guarded_count++;
    return start;
}

static bool insert_stretch(struct cts_heap *heap, size_t at, struct stretch stretch)
{
    if (heap->free_count == heap->free_capacity) {
        const size_t capacity = heap->free_capacity * 2;
        struct stretch *grown = realloc(heap->free, capacity * sizeof *grown);
        if (!grown) return false; /* the addresses stay unused */
        heap->free = grown;
        heap->free_capacity = capacity;
    }
    memmove(&heap->free[at + 1], &heap->free[at], (heap->free_count - at) * sizeof heap->free[0]);
    heap->free[at] = stretch;
    heap->free_count++;
    return true;
}

static void give_back_pages(struct cts_heap *heap, uint64_t start, uint64_t size_bytes)
{
    /* Dropping the pages first: they come back zero-filled. */
    madvise((void *)start, size_bytes, MADV_DONTNEED);
    mprotect((void *)start, size_bytes, PROT_NONE);
    heap->guarded_count--;
    const struct stretch stretch = {start, size_bytes + PAGE_BYTES};
    size_t i = 0;
    while (i < heap->free_count && heap->free[i].start < start) i++;
    if (!insert_stretch(heap, i, stretch)) return;
    struct stretch *const free_list = heap->free;
    if (i + 1 < heap->free_count &&
        free_list[i].start + free_list[i].size_bytes == free_list[i + 1].start) {
        free_list[i].size_bytes += free_list[i + 1].size_bytes;
        heap->free_count--;
        memmove(&free_list[i + 1], &free_list[i + 2],
                (heap->free_count - i - 1) * sizeof free_list[0]);
    }
    if (i > 0 && free_list[i - 1].start + free_list[i - 1].size_bytes == free_list[i].start) {
        free_list[i - 1].size_bytes += free_list[i].size_bytes;
        heap->free_count--;
        memmove(&free_list[i], &free_list[i + 1], (heap->free_count - i) * sizeof free_list[0]);
    }
}

/* ---- slabs ---- */

static bool unit_is_used(const struct slab *slab, unsigned unit)
{
    return slab->used[unit / 64] >> (unit % 64) & 1;
}

static void flip_units(struct slab *slab, unsigned first, unsigned count)
{
    for (unsigned unit = first; unit < first + count; unit++)
        slab->used[unit / 64] ^= (uint64_t)1 << (unit % 64);
}

/* The first run of `count` free units, or UNITS_PER_SLAB. */
static unsigned find_units(const struct slab *slab, unsigned count)
{
    unsigned run = 0;
    for (unsigned unit = 0; unit < UNITS_PER_SLAB; unit++) {
        run = unit_is_used(slab, unit) ? 0 : run + 1;
        if (run == count) return unit + 1 - count;
    }
    return UNITS_PER_SLAB;
}

static struct slab *add_slab(struct cts_heap *heap, struct slab_class *class)
{
    if (class->count == class->capacity) {
        const size_t capacity = class->capacity ? class->capacity * 2 : 8;
        struct slab *grown = realloc(class->slabs, capacity * sizeof *grown);
        if (!grown) return NULL;
        class->slabs = grown;
        class->capacity = capacity;
    }
    const uint64_t start = take_pages(heap, class->unit_bytes * UNITS_PER_SLAB);
    if (!start) return NULL;
    size_t i = 0;
    while (i < class->count && class->slabs[i].start < start) i++;
    memmove(&class->slabs[i + 1], &class->slabs[i], (class->count - i) * sizeof class->slabs[0]);
    class->slabs[i] = (struct slab){.start = start};
    class->count++;
    return &class->slabs[i];
}

static uint64_t allocate_in_slab(struct cts_heap *heap, struct slab_class *class,
                                 uint64_t size_bytes)
{
    const unsigned count = (unsigned)((size_bytes + class->unit_bytes - 1) / class->unit_bytes);
    struct slab *slab = NULL;
    unsigned unit = UNITS_PER_SLAB;
    for (size_t i = 0; i < class->count && unit == UNITS_PER_SLAB; i++) {
        slab = &class->slabs[i];
        if (slab->used_count + count <= UNITS_PER_SLAB) unit = find_units(slab, count);
    }
    if (unit == UNITS_PER_SLAB) {
        slab = add_slab(heap, class);
        unit = 0;
    }
    if (!slab) return 0;
    flip_units(slab, unit, count);
    slab->used_count += count;
    const uint64_t address = slab->start + unit * class->unit_bytes;
    return address;
}

/* The slab that holds an address, or NULL. */
static struct slab *find_slab(const struct slab_class *class, uint64_t address)
{
    const size_t at = CTS_SEARCH(
        class->count, i, class->slabs[i].start + class->unit_bytes * UNITS_PER_SLAB <= address);
    return at < class->count && class->slabs[at].start <= address ? &class->slabs[at] : NULL;
}

static void free_in_slab(struct cts_heap *heap, struct slab_class *class, struct slab *slab,
                         uint64_t address, uint64_t size_bytes)
{
    const unsigned count = (unsigned)((size_bytes + class->unit_bytes - 1) / class->unit_bytes);
    flip_units(slab, (unsigned)((address - slab->start) / class->unit_bytes), count);
    slab->used_count -= count;
    memset((void *)address, 0, count * class->unit_bytes);
    if (slab->used_count) return;
    give_back_pages(heap, slab->start, class->unit_bytes * UNITS_PER_SLAB);
    const size_t i = (size_t)(slab - class->slabs);
    class->count--;
    memmove(&class->slabs[i], &class->slabs[i + 1], (class->count - i) * sizeof class->slabs[0]);
}

/* ---- the heap ---- */

static struct slab_class *class_for(struct cts_heap *heap, uint64_t size_bytes)
{
    if (size_bytes < heap->classes[0].maximum_bytes) return &heap->classes[0];
    if (size_bytes < heap->classes[1].maximum_bytes && heap->guarded_count > GUARDED_MAX)
        return &heap->classes[1];
    return NULL;
}

uint64_t cts_heap_allocate(struct cts_heap *heap, uint64_t size_bytes)
{
    if (size_bytes == 0 || size_bytes > heap->limit_bytes - heap->used_bytes) return 0;
    struct slab_class *const class = class_for(heap, size_bytes);
    const uint64_t address = class ? allocate_in_slab(heap, class, size_bytes)
                                   : take_pages(heap, round_up(size_bytes, PAGE_BYTES));
    if (address) heap->used_bytes += size_bytes;
    return address;
}

void cts_heap_free(struct cts_heap *heap, uint64_t address, uint64_t size_bytes)
{
    heap->used_bytes -= size_bytes;
    for (unsigned i = 0; i < CLASS_COUNT; i++) {
        struct slab *const slab = find_slab(&heap->classes[i], address);
        if (slab) {
            free_in_slab(heap, &heap->classes[i], slab, address, size_bytes);
            return;
        }
    }
    give_back_pages(heap, address, round_up(size_bytes, PAGE_BYTES));
}

uint64_t cts_heap_used_bytes(const struct cts_heap *heap)
{
    return heap->used_bytes;
}

uint64_t cts_heap_limit_bytes(const struct cts_heap *heap)
{
    return heap->limit_bytes;
}

bool cts_heap_contains(const struct cts_heap *heap, uint64_t address)
{
    return address - heap->start < heap->size_bytes;
}
