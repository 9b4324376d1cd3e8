/* The records of a launch are gone through once, on all threads, and each lane, or range of lanes
 * side by side, becomes an entry of the window that it goes to. Windows are small enough to be
 * looked at in a cache, however far apart the lanes of one request lie.
 *
 *     entry     64 bits: granule, how many, what the warp does, which warp
 *     segment   entries of one window and thread, in the order in which they came
 *
 * Entries may take up five eighths of what blocks may (160 MiB of 256). A thread that has no room
 * left gives up the windows at the end, for all threads; they have their turn later. */
#include <stdlib.h>
#include <string.h>

#include "view/selection/conflict.h"
#include "common/array.h"
#include "common/search.h"

enum {
    SEGMENT_ENTRIES = 63,
    SLAB_SEGMENTS = 2048, /* 1 MiB */
    SEGMENTS_MIN = 4,     /* of a thread */
};

struct segment {
    struct segment *next;
    uint64_t entries[SEGMENT_ENTRIES];
};

/* What one thread knows of a window. */
struct list {
    struct segment *first;
    uint64_t *at, *limit; /* in the last segment */
};

struct slab {
    struct slab *next;
    struct segment segments[SLAB_SEGMENTS];
};

struct conflict_part {
    struct conflict_entries *entries;
    struct list *lists; /* by window, from entries->begin on */
    size_t end;         /* lists from there on are empty */
    struct slab *slabs;
    size_t slab_used; /* segments of the first slab */
    struct segment *spare;
};

/* ---- room ---- */

static void drop_from(struct conflict_part *part, size_t end)
{
    for (size_t w = end; w < part->end; w++) {
        struct list *const list = &part->lists[w - part->entries->begin];
        struct segment *last = list->first;
        while (last && last->next) last = last->next;
        if (last) last->next = part->spare;
        if (last) part->spare = list->first;
        *list = (struct list){0};
    }
    if (end < part->end) part->end = end;
}

/* Where to end so that about half of the part's segments are left. */
static size_t middle_of(const struct conflict_part *part)
{
    const size_t begin = part->entries->begin;
    size_t all = 0, before = 0, w = begin;
    for (size_t i = begin; i < part->end; i++)
        for (const struct segment *s = part->lists[i - begin].first; s; s = s->next) all++;
    for (; w < part->end && before < all / 2; w++)
        for (const struct segment *s = part->lists[w - begin].first; s; s = s->next) before++;
    if (w == part->end) w--;
    return w > begin ? w : begin + 1;
}

/* Frees segments of windows that are given up; false: one window is too large. */
static bool give_up(struct conflict_part *part)
{
    struct conflict_entries *const entries = part->entries;
    drop_from(part, atomic_load(&entries->end));
    if (part->spare) return true;
    if (part->end - entries->begin <= 1) return false;
    const size_t end = middle_of(part);
    size_t known = atomic_load(&entries->end);
    while (end < known && !atomic_compare_exchange_weak(&entries->end, &known, end)) {
    }
    drop_from(part, atomic_load(&entries->end));
    return true;
}

static struct segment *take_segment(struct conflict_part *part, struct cts_error *error)
{
    struct segment *segment = part->spare;
    if (segment) {
        part->spare = segment->next;
        return segment;
    }
    if (!part->slabs || part->slab_used == SLAB_SEGMENTS) {
        struct slab *const slab = malloc(sizeof *slab);
        if (!slab) {
            (void)cts_fail(error, CTS_MEMORY, "no memory to compare warps");
            return NULL;
        }
        slab->next = part->slabs;
        part->slabs = slab;
        part->slab_used = 0;
    }
    return &part->slabs->segments[part->slab_used++];
}

/* Whether take_segment() may be called. */
static bool has_room(struct conflict_part *part)
{
    struct conflict_entries *const entries = part->entries;
    if (part->spare || atomic_fetch_add(&entries->segment_count, 1) < entries->segments_max)
        return true;
    atomic_fetch_sub(&entries->segment_count, 1);
    return false;
}

static enum cts_status put(struct conflict_part *part, size_t window, uint64_t entry,
                           struct cts_error *error)
{
    struct conflict_entries *const entries = part->entries;
    struct list *list = &part->lists[window - entries->begin];
    if (list->at == list->limit) {
        while (!has_room(part)) {
            if (give_up(part)) continue;
            atomic_store(&entries->is_too_large, true);
            return CTS_OK;
        }
        if (window >= atomic_load_explicit(&entries->end, memory_order_relaxed)) return CTS_OK;
        struct segment *const segment = take_segment(part, error);
        if (!segment) return CTS_MEMORY;
        segment->next = NULL;
        if (list->first) /* limit is the end of the last segment */
            ((struct segment *)((char *)list->limit - sizeof(struct segment)))->next = segment;
        else
            list->first = segment;
        list->at = segment->entries;
        list->limit = segment->entries + SEGMENT_ENTRIES;
    }
    *list->at++ = entry;
    return CTS_OK;
}

/* ---- records ---- */

/* The first window of a page; SIZE_MAX: none. */
static inline size_t window_of(const struct conflict_plan *plan, uint64_t page)
{
    const struct conflict_pages *const pages = &plan->pages;
    if (pages->places) {
        if (page - pages->items[0] >= pages->span) return SIZE_MAX;
        const uint32_t place = pages->places[page - pages->items[0]];
        return place ? (size_t)(place - 1) << plan->page_shift : SIZE_MAX;
    }
    const size_t place = cts_search_u64(pages->items, pages->count, page);
    const bool is_there = place < pages->count && pages->items[place] == page;
    return is_there ? place << plan->page_shift : SIZE_MAX;
}

/* Bytes first..last, which end behind where they begin. */
static enum cts_status put_bytes(struct conflict_part *part, uint64_t first, uint64_t last,
                                 uint64_t who, struct cts_error *error)
{
    const struct conflict_plan *const plan = part->entries->plan;
    if (first > plan->clip_last || last < plan->clip_first) return CTS_OK;
    if (first < plan->clip_first) first = plan->clip_first;
    if (last > plan->clip_last) last = plan->clip_last;
    const uint64_t end = last >> plan->shift;
    for (uint64_t granule = first >> plan->shift; granule <= end;) {
        const uint64_t in_window = granule & (CONFLICT_BUCKET_GRANULES - 1);
        uint64_t take = end - granule + 1;
        if (take > CONFLICT_ENTRY_GRANULES) take = CONFLICT_ENTRY_GRANULES;
        if (take > CONFLICT_BUCKET_GRANULES - in_window)
            take = CONFLICT_BUCKET_GRANULES - in_window;
        const size_t page_window = window_of(plan, granule >> (PAGE_BITS - plan->shift));
        if (page_window != SIZE_MAX) {
            const uint64_t bucket = granule / CONFLICT_BUCKET_GRANULES;
            const size_t window =
                page_window + (size_t)(bucket & ((UINT64_C(1) << plan->page_shift) - 1));
            if (window >= part->entries->begin && window < part->end &&
                put(part, window, conflict_entry(in_window, take, who), error))
                return CTS_MEMORY;
        }
        granule += take;
    }
    return CTS_OK;
}

static enum cts_status put_record(struct conflict_part *part, const struct block *block, size_t i,
                                  uint64_t who, struct cts_error *error)
{
    const struct block_shape *const shape = block_shape_of(block, i);
    uint64_t addresses[CTS_WARP_LANES];
    /* Lanes side by side, and lanes at one address, are one range. */
    const bool is_dense =
        shape->pattern == CTS_PATTERN_UNIFORM ||
        (shape->pattern == CTS_PATTERN_AFFINE && shape->s0 == shape->width_bytes &&
         shape->high - shape->low + shape->width_bytes ==
             (int64_t)shape->lanes * shape->width_bytes);
    if (is_dense) {
        const struct block_hull hull = block_hull(block, shape, i);
        if (hull.first <= hull.last) return put_bytes(part, hull.first, hull.last, who, error);
    }
    block_addresses(block, shape, i, addresses);
    enum cts_status status = CTS_OK;
    for (unsigned k = 0; k < shape->lanes && !status; k++) {
        const uint64_t last = addresses[k] + shape->width_bytes - 1u;
        status = put_bytes(part, addresses[k], last < addresses[k] ? UINT64_MAX : last, who, error);
    }
    return status;
}

static enum cts_status put_block(void *state, const struct scan_block *it, struct cts_error *error)
{
    struct conflict_part *const part = state;
    const struct block *const block = it->block;
    const struct view *const view = it->scan->view;
    enum cts_status status = CTS_OK;
    SCAN_SEGMENTS(it, segment)
    {
        const uint64_t first = (uint64_t)block->segments[segment].cta * view->warp_end;
        if (first + view->warp_end > CONFLICT_ENTRY_WARPS)
            return cts_fail(error, CTS_UNSUPPORTED, "too many warps");
        SCAN_RECORDS(it, segment, i)
        {
            const struct block_shape *const shape = &block->shapes[block->shape[i]];
            if (shape->view != VIEW_GLOBAL) continue;
            const uint64_t who =
                (first + block->warp[i]) << CONFLICT_DOES_BITS | conflict_does(shape);
            status = put_record(part, block, i, who, error);
            if (status) return status;
        }
        if (atomic_load_explicit(&part->entries->is_too_large, memory_order_relaxed)) return CTS_OK;
    }
    return CTS_OK;
}

static bool wants(const struct scan *scan, size_t chunk)
{
    const struct conflict_plan *const plan = scan->wants_state;
    const struct chunk_summary *const summary = &scan->view->summaries[chunk];
    for (size_t p = 0; p < summary->page_count; p++)
        if (window_of(plan, summary->pages[p]) != SIZE_MAX) return true;
    return false;
}

/* ---- all ---- */

enum cts_status cts_conflict_entries_make(struct conflict_entries *entries,
                                          struct conflict_plan *plan, size_t begin,
                                          struct cts_error *error)
{
    struct scan *const scan = plan->scan;
    const size_t end = plan->window_count;
    const uint64_t bound = scan->selection->options.memory_bytes / 8 * 5 / sizeof(struct segment);
    const size_t least = (size_t)SEGMENTS_MIN * scan->threads;
    *entries = (struct conflict_entries){
        .plan = plan, .begin = begin, .segments_max = bound > least ? (size_t)bound : least};
    atomic_store(&entries->end, end);
    entries->parts = cts_array_zeroed(scan->threads, sizeof *entries->parts, error);
    if (!entries->parts) return CTS_MEMORY;
    for (; entries->part_count < scan->threads; entries->part_count++) {
        struct conflict_part *const part = &entries->parts[entries->part_count];
        *part = (struct conflict_part){.entries = entries, .end = end};
        part->lists = cts_array_zeroed(end - begin, sizeof *part->lists, error);
        if (!part->lists) return CTS_MEMORY;
    }
    scan->states = entries->parts;
    scan->state_bytes = sizeof *entries->parts;
    scan->visit = put_block;
    scan->wants = wants;
    scan->wants_state = plan;
    const enum cts_status status = cts_selection_scan_run(scan, error);
    scan->wants = NULL;
    return status;
}

void cts_conflict_entries_release(struct conflict_entries *entries)
{
    for (unsigned t = 0; t < entries->part_count; t++) {
        struct conflict_part *const part = &entries->parts[t];
        free(part->lists);
        while (part->slabs) {
            struct slab *const slab = part->slabs;
            part->slabs = slab->next;
            free(slab);
        }
    }
    free(entries->parts);
    *entries = (struct conflict_entries){0};
}

enum cts_status
cts_conflict_entries_visit(const struct conflict_entries *entries, size_t window,
                           enum cts_status (*visit)(void *state, const uint64_t *items,
                                                    size_t count, struct cts_error *error),
                           void *state, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (unsigned t = 0; t < entries->part_count && !status; t++) {
        const struct list *const list = &entries->parts[t].lists[window - entries->begin];
        for (const struct segment *s = list->first; s && !status; s = s->next)
            status = visit(state, s->entries,
                           s->next ? SEGMENT_ENTRIES : (size_t)(list->at - s->entries), error);
    }
    return status;
}
