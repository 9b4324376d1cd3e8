/* Sums by line, site, operation, CTA, warp or allocation: of whole chunks from their tallies, by
 * CTA and where a filter cuts a chunk from the records.
 *
 * What depends on the site alone is summed by shape while a block is gone through, and the shapes
 * are added to their group at its end. A CTA gets a row for each run of its records. Rows of one
 * key are joined at the end, after a radix sort. */
#include <stdlib.h>
#include <string.h>

#include "view/selection/selection-scan.h"
#include "common/array.h"
#include "common/radix.h"
#include "common/search.h"

struct row {
    uint64_t key; /* key[0] << 32 | key[1] */
    struct cts_selection_sums sums;
};

struct rows {
    struct row *items;
    size_t count, capacity;
};

struct grouping {
    enum cts_selection_grouping by;
    struct rows rows;
    /* by site alone: sums of the block at hand, by shape */
    struct {
        struct cts_selection_sums *items;
        size_t count, capacity;
    } shapes;
    uint32_t *place_of; /* warps, places in view->allocations: 1 + their row */
    size_t recent;      /* place in view->allocations */
};

static inline void sums_add_record(struct cts_selection_sums *sum, const struct block *block,
                                   const struct block_shape *shape, size_t i)
{
    sum->record_count++;
    sum->access_count += shape->lanes;
    sum->requested_bytes += (uint64_t)shape->lanes * shape->width_bytes;
    if (shape->view == VIEW_SHARED) {
        sum->wavefronts += block->cost[i];
        sum->ideal_wavefronts += block->ideal[i];
    } else {
        sum->sectors += block->cost[i];
        sum->ideal_sectors += block->ideal[i];
    }
}

static struct row *add_row(struct rows *rows, uint64_t key, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(rows, rows->count + 1, error)) return NULL;
    rows->items[rows->count] = (struct row){.key = key};
    return &rows->items[rows->count++];
}

/* ---- by what the site says ---- */

static uint64_t site_key(const struct cts_catalogue *catalogue, enum cts_selection_grouping by,
                         uint32_t index)
{
    const struct cts_site *const site = &catalogue->sites[index];
    if (by == CTS_SELECTION_BY_SITE) return (uint64_t)index << 32;
    if (by == CTS_SELECTION_BY_OPERATION) return (uint64_t)site->operation << 32;
    return (uint64_t)site->source << 32 | (site->source == CTS_NONE ? CTS_NONE : site->line);
}

static enum cts_status sum_shapes(struct grouping *grouping, const struct scan_block *it,
                                  struct cts_error *error)
{
    const struct block *const block = it->block;
    if (CTS_ARRAY_RESERVE(&grouping->shapes, block->shape_count, error)) return CTS_MEMORY;
    struct cts_selection_sums *const sums = grouping->shapes.items;
    memset(sums, 0, block->shape_count * sizeof *sums);
    SCAN_SEGMENTS(it, segment)
    {
        SCAN_RECORDS(it, segment, i)
        {
            struct cts_selection_sums *const sum = &sums[block->shape[i]];
            sum->record_count++;
            sum->sectors += block->cost[i];
            sum->ideal_sectors += block->ideal[i];
        }
    }
    for (size_t s = 0; s < block->shape_count; s++) {
        const struct block_shape *const shape = &block->shapes[s];
        struct cts_selection_sums sum = sums[s];
        if (!sum.record_count) continue;
        sum.access_count = sum.record_count * shape->lanes;
        sum.requested_bytes = sum.access_count * shape->width_bytes;
        if (shape->view == VIEW_SHARED) {
            sum.wavefronts = sum.sectors;
            sum.ideal_wavefronts = sum.ideal_sectors;
            sum.sectors = sum.ideal_sectors = 0;
        }
        struct row *const row =
            add_row(&grouping->rows,
                    site_key(it->scan->selection->catalogue, grouping->by, shape->site), error);
        if (!row) return CTS_MEMORY;
        row->sums = sum;
    }
    return CTS_OK;
}

/* ---- by warp or allocation ---- */

/* How many allocations start at the address or before it. */
static size_t started_at(const struct scan *scan, uint64_t address)
{
    const struct view *const view = scan->view;
    const struct cts_allocation *const all = scan->selection->catalogue->allocations;
    return CTS_SEARCH(view->allocations.count, i,
                      all[view->allocations.items[i].index].address <= address);
}

/* Whether an address at or behind the start of the allocation at a place is in it. */
static bool is_inside(const struct scan *scan, size_t place, uint64_t address)
{
    const struct cts_allocation *const it =
        &scan->selection->catalogue->allocations[scan->view->allocations.items[place].index];
    return address >= it->address && address - it->address < it->size_bytes;
}

static uint32_t place_at(struct grouping *grouping, const struct scan *scan, unsigned view,
                         uint64_t address)
{
    const size_t count = scan->view->allocations.count;
    if (view == VIEW_LOCAL) return (uint32_t)count + 1;
    if (view == VIEW_SHARED) return (uint32_t)count + 2;
    if (count && is_inside(scan, grouping->recent, address)) return (uint32_t)grouping->recent;
    const size_t started = started_at(scan, address);
    if (!started || !is_inside(scan, started - 1, address)) return (uint32_t)count;
    grouping->recent = started - 1;
    return (uint32_t)started - 1;
}

static uint64_t first_address(const struct block *block, const struct block_shape *shape, size_t i)
{
    uint64_t addresses[CTS_WARP_LANES];
    block_addresses(block, shape, i, addresses);
    return addresses[0];
}

static uint64_t allocation_key(const struct view *view, uint32_t place)
{
    const size_t count = view->allocations.count;
    const uint64_t key = place < count        ? view->allocations.items[place].index
                         : place == count     ? CTS_SELECTION_PLACE_OUTSIDE
                         : place == count + 1 ? CTS_SELECTION_PLACE_LOCAL
                                              : CTS_SELECTION_PLACE_SHARED;
    return key << 32;
}

/* The row of a place; NULL: no memory. */
static struct row *row_of_place(struct grouping *grouping, uint32_t place, uint64_t key,
                                struct cts_error *error)
{
    uint32_t *const known = &grouping->place_of[place];
    if (*known) return &grouping->rows.items[*known - 1];
    struct row *const row = add_row(&grouping->rows, key, error);
    if (row) *known = (uint32_t)grouping->rows.count;
    return row;
}

static enum cts_status make_places(struct grouping *grouping, const struct view *view,
                                   struct cts_error *error)
{
    const bool by_warp = grouping->by == CTS_SELECTION_BY_WARP;
    const size_t count = by_warp ? view->warp_end : view->allocations.count + 3;
    if (!grouping->place_of)
        grouping->place_of = cts_array_zeroed(count, sizeof *grouping->place_of, error);
    return grouping->place_of ? CTS_OK : CTS_MEMORY;
}

static enum cts_status sum_places(struct grouping *grouping, const struct scan_block *it,
                                  struct cts_error *error)
{
    const struct view *const view = it->scan->view;
    const struct block *const block = it->block;
    const bool by_warp = grouping->by == CTS_SELECTION_BY_WARP;
    if (make_places(grouping, view, error)) return CTS_MEMORY;
    SCAN_SEGMENTS(it, segment)
    {
        SCAN_RECORDS(it, segment, i)
        {
            const struct block_shape *const shape = &block->shapes[block->shape[i]];
            const uint32_t place =
                by_warp ? block->warp[i]
                        : place_at(grouping, it->scan, shape->view, first_address(block, shape, i));
            const uint64_t key = by_warp ? (uint64_t)place << 32 : allocation_key(view, place);
            struct row *const row = row_of_place(grouping, place, key, error);
            if (!row) return CTS_MEMORY;
            sums_add_record(&row->sums, block, shape, i);
        }
    }
    return CTS_OK;
}

/* ---- what is added up already ---- */

/* Whether the first lanes of all records of a class go to one allocation, or to none. */
static bool is_summed(const struct scan *scan, const struct tally_class *of)
{
    if (of->view != VIEW_GLOBAL) return true;
    const size_t started = started_at(scan, of->first);
    if (started != started_at(scan, of->last)) return false;
    return !started || is_inside(scan, started - 1, of->last) ||
           !is_inside(scan, started - 1, of->first);
}

static struct row *row_of_cell(struct grouping *grouping, const struct scan_cell *it,
                               struct cts_error *error)
{
    const struct view *const view = it->scan->view;
    if (grouping->by != CTS_SELECTION_BY_WARP && grouping->by != CTS_SELECTION_BY_ALLOCATION)
        return add_row(&grouping->rows,
                       site_key(it->scan->selection->catalogue, grouping->by, it->of->site), error);
    if (make_places(grouping, view, error)) return NULL;
    if (grouping->by == CTS_SELECTION_BY_WARP)
        return row_of_place(grouping, it->warp, (uint64_t)it->warp << 32, error);
    const uint32_t place = place_at(grouping, it->scan, it->of->view, it->of->first);
    return row_of_place(grouping, place, allocation_key(view, place), error);
}

static enum cts_status add_cell(void *state, const struct scan_cell *it, struct cts_error *error)
{
    struct row *const row = row_of_cell(state, it, error);
    if (!row) return CTS_MEMORY;
    const uint64_t accesses = it->sums->record_count * it->of->lanes;
    const bool is_shared = it->of->view == VIEW_SHARED;
    const struct cts_selection_sums sums = {
        .record_count = it->sums->record_count,
        .access_count = accesses,
        .requested_bytes = accesses * it->of->width_bytes,
        .sectors = is_shared ? 0 : it->sums->cost,
        .ideal_sectors = is_shared ? 0 : it->sums->ideal,
        .wavefronts = is_shared ? it->sums->cost : 0,
        .ideal_wavefronts = is_shared ? it->sums->ideal : 0,
    };
    cts_selection_sums_add(&row->sums, &sums);
    return CTS_OK;
}

/* ---- by CTA ---- */

static enum cts_status sum_ctas(struct grouping *grouping, const struct scan_block *it,
                                struct cts_error *error)
{
    const struct block *const block = it->block;
    SCAN_SEGMENTS(it, segment)
    {
        struct cts_selection_sums sums = {0};
        SCAN_RECORDS(it, segment, i)
        {
            sums_add_record(&sums, block, &block->shapes[block->shape[i]], i);
        }
        if (!sums.record_count) continue;
        struct row *const row =
            add_row(&grouping->rows, (uint64_t)block->segments[segment].cta << 32, error);
        if (!row) return CTS_MEMORY;
        row->sums = sums;
    }
    return CTS_OK;
}

static enum cts_status visit(void *state, const struct scan_block *it, struct cts_error *error)
{
    struct grouping *const grouping = state;
    switch (grouping->by) {
    case CTS_SELECTION_BY_CTA:
        return sum_ctas(grouping, it, error);
    case CTS_SELECTION_BY_WARP:
    case CTS_SELECTION_BY_ALLOCATION:
        return sum_places(grouping, it, error);
    default:
        return sum_shapes(grouping, it, error);
    }
}

/* ---- joining ---- */

struct place {
    uint64_t key;
    size_t row;
};

#define KEY_OF(place) ((place)->key)
CTS_RADIX_SORT(sort_places, struct place, KEY_OF, 8)

/* Joins rows of one key, in place; they are ordered by key then. */
static enum cts_status join(struct rows *rows, struct cts_error *error)
{
    const size_t count = rows->count;
    struct place *const places = cts_array_zeroed(2 * count, sizeof *places, error);
    struct row *const joined = cts_array_zeroed(count, sizeof *joined, error);
    if (!places || !joined) {
        free(places);
        free(joined);
        return CTS_MEMORY;
    }
    for (size_t i = 0; i < count; i++) places[i] = (struct place){rows->items[i].key, i};
    const struct place *const sorted = sort_places(places, places + count, count);
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const struct row *const row = &rows->items[sorted[i].row];
        if (end && joined[end - 1].key == row->key)
            cts_selection_sums_add(&joined[end - 1].sums, &row->sums);
        else
            joined[end++] = *row;
    }
    free(places);
    free(rows->items);
    *rows = (struct rows){.items = joined, .count = end, .capacity = count};
    return CTS_OK;
}

/* Whether row a comes before row b in the answer. */
static bool is_before(const struct row *a, const struct row *b)
{
    if (a->sums.access_count != b->sums.access_count)
        return a->sums.access_count > b->sums.access_count;
    return a->key < b->key;
}

static int by_rank(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : 1;
}

static void sink(struct row *heap, size_t count, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && is_before(&heap[child], &heap[child + 1])) child++;
        if (is_before(&heap[child], &heap[i])) break;
        const struct row other = heap[i];
        heap[i] = heap[child];
        heap[child] = other;
    }
}

/* The first `count` of the rows to the front, in the order of the answer: a heap of those that
 * would come last. */
static void choose(struct rows *rows, size_t count)
{
    for (size_t i = count / 2; i-- > 0;) sink(rows->items, count, i);
    for (size_t i = count; count && i < rows->count; i++) {
        if (!is_before(&rows->items[i], &rows->items[0])) continue;
        rows->items[0] = rows->items[i];
        sink(rows->items, count, 0);
    }
    if (count > 1) qsort(rows->items, count, sizeof *rows->items, by_rank);
}

static enum cts_status answer(struct rows *rows, size_t count, struct cts_selection_groups *groups,
                              struct cts_error *error)
{
    if (join(rows, error)) return CTS_MEMORY;
    if (count > rows->count) count = rows->count;
    choose(rows, count);
    groups->items = cts_array_zeroed(count, sizeof *groups->items, error);
    if (!groups->items) return CTS_MEMORY;
    groups->total = rows->count;
    groups->count = count;
    for (size_t i = 0; i < count; i++)
        groups->items[i] = (struct cts_selection_group){
            .key = {(uint32_t)(rows->items[i].key >> 32), (uint32_t)rows->items[i].key},
            .sums = rows->items[i].sums,
        };
    return CTS_OK;
}

enum cts_status cts_selection_groups(struct cts_selection *selection,
                                     const struct cts_selection_question *question,
                                     struct cts_selection_ranking ranking,
                                     struct cts_selection_groups *groups, struct cts_error *error)
{
    const enum cts_selection_grouping by = ranking.by;
    struct scan scan;
    *groups = (struct cts_selection_groups){0};
    enum cts_status status = cts_selection_scan_begin(&scan, selection, question, error);
    if (status) return status;
    const unsigned threads = scan.threads;
    struct grouping *const states = cts_array_zeroed(threads, sizeof *states, error);
    if (!states) status = CTS_MEMORY;
    for (unsigned t = 0; t < threads && states; t++) states[t].by = by;
    scan.states = states;
    scan.state_bytes = sizeof *states;
    scan.visit = visit;
    if (by != CTS_SELECTION_BY_CTA) scan.add = add_cell;
    if (by == CTS_SELECTION_BY_ALLOCATION) scan.is_summed = is_summed;
    if (!status) status = cts_selection_scan_run(&scan, error);
    for (unsigned t = 1; t < threads && !status; t++) {
        struct rows *const sum = &states[0].rows;
        const struct rows *const more = &states[t].rows;
        status = CTS_ARRAY_RESERVE(sum, sum->count + more->count, error);
        if (status || !more->count) continue;
        memcpy(sum->items + sum->count, more->items, more->count * sizeof *more->items);
        sum->count += more->count;
    }
    if (!status) status = answer(&states[0].rows, ranking.count, groups, error);
    for (unsigned t = 0; t < threads && states; t++) {
        free(states[t].rows.items);
        free(states[t].shapes.items);
        free(states[t].place_of);
    }
    free(states);
    cts_selection_scan_end(&scan);
    return status;
}

void cts_selection_groups_release(struct cts_selection_groups *groups)
{
    free(groups->items);
    *groups = (struct cts_selection_groups){0};
}
