/* Distinct warps by the cells that they touch.
 *
 * They are counted while the records of one CTA are gone through, which stand together: a bit for
 * each of 64 warps, forgotten when the next CTA comes. Warps of a CTA whose records come in several
 * pieces, or with a number above 63, are told apart by a table of bits instead, cell by warp, which
 * all threads share. If that would take too much memory, such a cell says 2 for several: of these
 * warps only the first one is remembered. */
#include <stdlib.h>

#include "view/selection/selection-density.h"
#include "common/array.h"

enum { WARP_BITS = 64, TABLE_MAX_BITS = 1 << 28 };

struct cell {
    uint64_t bits;   /* warps of the CTA at hand */
    uint32_t serial; /* which one that is */
    uint32_t warps;
};

struct counter {
    struct cell *cells;
    uint32_t serial;
};

struct density_warps {
    const struct density_grid *grid;
    const struct view *view;
    _Atomic uint64_t *table; /* bit cell * odd_warps + warp; NULL: there are no such warps, or too
                                many of them */
    uint64_t odd_warps;
    _Atomic uint64_t *odd; /* without a table, by cell: 1 + key of a warp, or UINT64_MAX: several */
    unsigned threads;
    struct counter counters[]; /* by thread */
};

/* ---- warps that are told apart by the table ---- */

static void note_odd(const struct density_warps *all, size_t cell, uint64_t place, uint64_t key)
{
    if (all->table) {
        const uint64_t bit = cell * all->odd_warps + place;
        const uint64_t mask = UINT64_C(1) << bit % 64;
        if (!(atomic_load_explicit(&all->table[bit / 64], memory_order_relaxed) & mask))
            atomic_fetch_or_explicit(&all->table[bit / 64], mask, memory_order_relaxed);
        return;
    }
    uint64_t known = atomic_load_explicit(&all->odd[cell], memory_order_relaxed);
    while (known != UINT64_MAX && known != key + 1) {
        const uint64_t next = known ? UINT64_MAX : key + 1;
        if (atomic_compare_exchange_weak(&all->odd[cell], &known, next)) return;
    }
}

/* ---- cells ---- */

/* Who touches: of one CTA and warp. */
struct toucher {
    uint64_t bit;        /* 0: an odd warp */
    uint64_t place, key; /* of an odd warp */
};

static inline void add_to_cell(const struct density_warps *all, struct counter *counter,
                               size_t index, const struct toucher *who)
{
    struct cell *const cell = &counter->cells[index];
    const uint64_t known = cell->serial == counter->serial ? cell->bits : 0;
    /* An odd warp's bit is none: it is never a new one. */
    cell->warps += (known | who->bit) != known;
    cell->serial = counter->serial;
    cell->bits = known | who->bit;
    if (!who->bit) note_odd(all, index, who->place, who->key);
}

static void add_record(const struct density_warps *all, struct counter *counter,
                       const struct block *block, size_t i, const struct toucher *who)
{
    const struct block_shape *const shape = block_shape_of(block, i);
    const struct density_grid *const grid = all->grid;
    if (shape->pattern == CTS_PATTERN_LIST &&
        !block_list_touches(block, shape, i, grid->first, grid->last))
        return;
    const struct block_hull hull = block_hull(block, shape, i);
    const bool is_whole = hull.first <= hull.last;
    if (is_whole && (hull.first > grid->last || hull.last < grid->first)) return;
    if (is_whole && hull.first >= grid->first && hull.last <= grid->last) {
        const uint64_t cell = (hull.first - grid->first) >> grid->cell_shift;
        if ((hull.last - grid->first) >> grid->cell_shift == cell) {
            add_to_cell(all, counter, cell, who);
            return;
        }
    }
    uint64_t addresses[CTS_WARP_LANES];
    block_addresses(block, shape, i, addresses);
    for (unsigned k = 0; k < shape->lanes; k++) {
        uint64_t cell, last;
        if (!density_cells_of(grid, shape, addresses[k], &cell, &last)) continue;
        for (; cell <= last; cell++) add_to_cell(all, counter, cell, who);
    }
}

void cts_density_warps_add(struct density_warps *all, unsigned thread, const struct scan_block *it)
{
    struct counter *const counter = &all->counters[thread];
    const struct density_grid *const grid = all->grid;
    const struct view *const view = all->view;
    const struct block *const block = it->block;
    SCAN_SEGMENTS(it, segment)
    {
        const uint32_t cta = block->segments[segment].cta;
        const uint32_t split = cts_view_split_place(view, cta);
        const bool all_odd = split != UINT32_MAX || view->warp_end > WARP_BITS;
        counter->serial++;
        SCAN_RECORDS(it, segment, i)
        {
            const struct block_shape *const shape = &block->shapes[block->shape[i]];
            const uint16_t warp = block->warp[i];
            if (shape->view != grid->view || shape->first > grid->last || shape->last < grid->first)
                continue;
            const struct toucher who = {
                .bit = all_odd ? 0 : UINT64_C(1) << warp % WARP_BITS,
                .place = (uint64_t)(split == UINT32_MAX ? cta : split) * view->warp_end + warp,
                .key = (uint64_t)cta << 16 | warp,
            };
            add_record(all, counter, block, i, &who);
        }
    }
}

/* ---- all ---- */

static enum cts_status make_table(struct density_warps *all, struct cts_error *error)
{
    const struct view *const view = all->view;
    const size_t cell_count = all->grid->cell_count;
    const bool is_known = view->warp_end <= WARP_BITS;
    const uint64_t ctas =
        is_known ? view->split.count
                 : (uint64_t)view->row->grid[0] * view->row->grid[1] * view->row->grid[2];
    if (!ctas) return CTS_OK;
    if (is_known && ctas <= TABLE_MAX_BITS / view->warp_end / cell_count) {
        all->odd_warps = ctas * view->warp_end;
        all->table =
            cts_array_zeroed(all->odd_warps * cell_count / 64 + 1, sizeof *all->table, error);
        return all->table ? CTS_OK : CTS_MEMORY;
    }
    all->odd = cts_array_zeroed(cell_count, sizeof *all->odd, error);
    return all->odd ? CTS_OK : CTS_MEMORY;
}

enum cts_status cts_density_warps_make(const struct density_grid *grid, const struct view *view,
                                       unsigned threads, struct density_warps **out,
                                       struct cts_error *error)
{
    struct density_warps *const all = calloc(1, sizeof *all + threads * sizeof *all->counters);
    *out = all;
    if (!all) return cts_fail(error, CTS_MEMORY, "no memory for the warps of cells");
    all->grid = grid;
    all->view = view;
    all->threads = threads;
    for (unsigned t = 0; t < threads; t++) {
        all->counters[t].cells = cts_array_zeroed(grid->cell_count, sizeof(struct cell), error);
        if (!all->counters[t].cells) return CTS_MEMORY;
    }
    return make_table(all, error);
}

static uint64_t odd_count(const struct density_warps *all, size_t cell)
{
    uint64_t count = 0;
    if (all->odd) {
        const uint64_t known = atomic_load(&all->odd[cell]);
        return known == UINT64_MAX ? 2 : known != 0;
    }
    for (uint64_t place = 0; all->table && place < all->odd_warps;) {
        const uint64_t bit = cell * all->odd_warps + place;
        const uint64_t left = all->odd_warps - place, in_word = 64 - bit % 64;
        const uint64_t take = left < in_word ? left : in_word;
        const uint64_t word = atomic_load_explicit(&all->table[bit / 64], memory_order_relaxed);
        count += (uint64_t)__builtin_popcountll(word >> bit % 64 << (64 - take));
        place += take;
    }
    return count;
}

uint32_t cts_density_warps_of(const struct density_warps *all, size_t cell)
{
    uint64_t warps = odd_count(all, cell);
    for (unsigned t = 0; t < all->threads; t++) warps += all->counters[t].cells[cell].warps;
    return warps < CTS_SELECTION_WARPS_MAX ? (uint32_t)warps : CTS_SELECTION_WARPS_MAX;
}

void cts_density_warps_free(struct density_warps *all)
{
    if (!all) return;
    for (unsigned t = 0; t < all->threads; t++) free(all->counters[t].cells);
    free((void *)all->table);
    free((void *)all->odd);
    free(all);
}
