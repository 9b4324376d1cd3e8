/* Lanes by the cells that they touch: along the addresses (density), and along the addresses and
 * the order of the records (a raster).
 *
 * A record all of whose lanes fall into one cell is one addition. Distinct warps of a cell are
 * counted while the records of one CTA are gone through, which stand together: a bit for each of 64
 * warps, forgotten when the next CTA comes. Warps of a CTA whose records come in several pieces, or
 * with a number above 63, are told apart by a table of bits instead, cell by warp, which all
 * threads share. If that would take too much memory, such a cell says 2 for several: of these warps
 * only the first one is remembered. */
#include <stdlib.h>
#include <string.h>

#include "analyze/selection/scan.h"
#include "common/array.h"

enum { WARP_BITS = 64, TABLE_MAX_BITS = 1 << 28 };

struct cell {
    uint64_t reads, writes;
    uint64_t bits;   /* warps of the CTA at hand */
    uint32_t serial; /* which one that is */
    uint32_t warps;
};

/* What all threads share. */
struct grid {
    uint64_t first, last;
    unsigned view;
    unsigned cell_shift; /* cells are a power of two */
    size_t cell_count;
    const struct view *launch;
    _Atomic uint64_t *table; /* bit cell * odd_warps + warp; NULL: there are no such warps, or too
                                many of them */
    uint64_t odd_warps;
    _Atomic uint64_t *odd; /* without a table, by cell: 1 + key of a warp, or UINT64_MAX: several */
};

struct counter {
    const struct grid *grid;
    struct cell *cells;
    uint32_t serial;
};

/* ---- warps that are told apart by the table ---- */

static void note_odd(const struct grid *grid, size_t cell, uint64_t place, uint64_t key)
{
    if (grid->table) {
        const uint64_t bit = cell * grid->odd_warps + place;
        const uint64_t mask = UINT64_C(1) << bit % 64;
        if (!(atomic_load_explicit(&grid->table[bit / 64], memory_order_relaxed) & mask))
            atomic_fetch_or_explicit(&grid->table[bit / 64], mask, memory_order_relaxed);
        return;
    }
    uint64_t known = atomic_load_explicit(&grid->odd[cell], memory_order_relaxed);
    while (known != UINT64_MAX && known != key + 1) {
        const uint64_t next = known ? UINT64_MAX : key + 1;
        if (atomic_compare_exchange_weak(&grid->odd[cell], &known, next)) return;
    }
}

/* ---- cells ---- */

/* Who touches: of one CTA and warp. */
struct toucher {
    uint32_t reads, writes; /* how much a lane counts */
    uint64_t bit;           /* 0: an odd warp */
    uint64_t place, key;    /* of an odd warp */
};

static inline void add_to_cell(struct cell *cell, uint32_t serial, uint32_t lanes,
                               const struct toucher *who)
{
    const uint64_t known = cell->serial == serial ? cell->bits : 0;
    cell->reads += (uint64_t)who->reads * lanes;
    cell->writes += (uint64_t)who->writes * lanes;
    cell->warps += (known | who->bit) != known;
    cell->serial = serial;
    cell->bits = known | who->bit;
}

static inline void add_lanes(struct counter *counter, size_t index, uint32_t lanes,
                             const struct toucher *who)
{
    /* An odd warp's bit is none: it is never a new one. */
    add_to_cell(&counter->cells[index], counter->serial, lanes, who);
    if (!who->bit) note_odd(counter->grid, index, who->place, who->key);
}

/* Whether each lane of a shape is in one cell, or in none. */
static inline bool is_aligned(const struct grid *grid, const struct block_shape *shape)
{
    const uint64_t rest = shape->width_bytes - 1u;
    return !((shape->alignment | grid->first) & rest) && UINT64_C(1) << grid->cell_shift > rest;
}

static inline void add_aligned(struct counter *counter, uint64_t at, const struct toucher *who)
{
    const struct grid *const grid = counter->grid;
    if (at <= grid->last - grid->first) add_lanes(counter, at >> grid->cell_shift, 1, who);
}

static void add_list(struct counter *counter, const struct block *block,
                     const struct block_shape *shape, size_t i, const struct toucher *who)
{
    const struct grid *const grid = counter->grid;
    const uint32_t *const offsets = block->offsets + block->offset_start[i];
    const uint64_t base = block->base[i] - grid->first;
    /* Of a small window most records know nothing. */
    if ((shape->first < grid->first || shape->last > grid->last) &&
        !block_list_touches(block, shape, i, grid->first, grid->last))
        return;
    if (!who->bit) {
        for (unsigned k = 0; k < shape->lanes; k++) add_aligned(counter, base + offsets[k], who);
        return;
    }
    /* What the loop needs in copies that no store can change. */
    const struct toucher own = *who;
    struct cell *const cells = counter->cells;
    const uint64_t span = grid->last - grid->first;
    const uint32_t serial = counter->serial;
    const unsigned shift = grid->cell_shift;
    for (unsigned k = 0; k < shape->lanes; k++) {
        const uint64_t at = base + offsets[k];
        if (at <= span) add_to_cell(&cells[at >> shift], serial, 1, &own);
    }
}

static inline void add_record(struct counter *counter, const struct block *block,
                              const struct block_shape *shape, size_t i, const struct toucher *who)
{
    const struct grid *const grid = counter->grid;
    const bool aligned = is_aligned(grid, shape);
    if (aligned && shape->pattern == CTS_PATTERN_LIST) {
        add_list(counter, block, shape, i, who);
        return;
    }
    const struct block_hull hull = block_hull(block, shape, i);
    const bool is_whole = hull.first <= hull.last;
    if (is_whole && (hull.first > grid->last || hull.last < grid->first)) return;
    if (is_whole && hull.first >= grid->first && hull.last <= grid->last) {
        const uint64_t cell = (hull.first - grid->first) >> grid->cell_shift;
        if ((hull.last - grid->first) >> grid->cell_shift == cell) {
            add_lanes(counter, cell, shape->lanes, who);
            return;
        }
    }
    uint64_t addresses[CTS_WARP_LANES];
    block_addresses(block, shape, i, addresses);
    for (unsigned k = 0; k < shape->lanes; k++) {
        uint64_t first = addresses[k], last = first + shape->width_bytes - 1u;
        if (aligned) {
            add_aligned(counter, first - grid->first, who);
            continue;
        }
        if (last < first) last = UINT64_MAX;
        if (first > grid->last || last < grid->first) continue;
        if (first < grid->first) first = grid->first;
        if (last > grid->last) last = grid->last;
        const uint64_t end = (last - grid->first) >> grid->cell_shift;
        for (uint64_t c = (first - grid->first) >> grid->cell_shift; c <= end; c++)
            add_lanes(counter, c, 1, who);
    }
}

static enum cts_status count_block(void *state, const struct scan_block *it,
                                   struct cts_error *error)
{
    struct counter *const counter = state;
    const struct grid *const grid = counter->grid;
    const struct block *const block = it->block;
    (void)error;
    SCAN_SEGMENTS(it, segment)
    {
        const uint32_t cta = block->segments[segment].cta;
        const uint32_t split = view_split_place(grid->launch, cta);
        const bool all_odd = split != UINT32_MAX || grid->launch->warp_end > WARP_BITS;
        counter->serial++;
        SCAN_RECORDS(it, segment, i)
        {
            const struct block_shape *const shape = &block->shapes[block->shape[i]];
            const uint16_t warp = block->warp[i];
            if (shape->view != grid->view || shape->first > grid->last || shape->last < grid->first)
                continue;
            const struct toucher who = {
                .reads = shape->reads,
                .writes = shape->writes,
                .bit = all_odd ? 0 : UINT64_C(1) << warp % WARP_BITS,
                .place =
                    (uint64_t)(split == UINT32_MAX ? cta : split) * grid->launch->warp_end + warp,
                .key = (uint64_t)cta << 16 | warp,
            };
            add_record(counter, block, shape, i, &who);
        }
    }
    return CTS_OK;
}

/* ---- the question ---- */

static enum cts_status make_grid(struct grid *grid, const struct view *launch,
                                 const struct cts_selection_window *window, struct cts_error *error)
{
    const uint64_t span = window->last - window->first; /* less one */
    *grid = (struct grid){.first = window->first,
                          .last = window->last,
                          .view = view_space(window->space),
                          .launch = launch};
    while (span >> grid->cell_shift >= window->cells) grid->cell_shift++;
    grid->cell_count = (size_t)(span >> grid->cell_shift) + 1;
    const uint64_t ctas =
        launch->warp_end > WARP_BITS
            ? (uint64_t)launch->row->grid[0] * launch->row->grid[1] * launch->row->grid[2]
            : launch->split.count;
    if (!ctas) return CTS_OK;
    const bool is_known = launch->warp_end <= WARP_BITS;
    if (is_known && ctas <= TABLE_MAX_BITS / launch->warp_end / grid->cell_count) {
        grid->odd_warps = ctas * launch->warp_end;
        grid->table = cts_array_zeroed(grid->odd_warps * grid->cell_count / 64 + 1,
                                       sizeof *grid->table, error);
        return grid->table ? CTS_OK : CTS_MEMORY;
    }
    grid->odd = cts_array_zeroed(grid->cell_count, sizeof *grid->odd, error);
    return grid->odd ? CTS_OK : CTS_MEMORY;
}

static bool wants(const struct scan *scan, size_t chunk)
{
    const struct grid *const grid = scan->wants_state;
    return scan_may_touch(scan, chunk, grid->view, grid->first, grid->last);
}

static uint64_t odd_count(const struct grid *grid, size_t cell)
{
    uint64_t count = 0;
    if (grid->odd) {
        const uint64_t known = atomic_load(&grid->odd[cell]);
        return known == UINT64_MAX ? 2 : known != 0;
    }
    for (uint64_t place = 0; grid->table && place < grid->odd_warps;) {
        const uint64_t bit = cell * grid->odd_warps + place;
        const uint64_t left = grid->odd_warps - place, in_word = 64 - bit % 64;
        const uint64_t take = left < in_word ? left : in_word;
        const uint64_t word = atomic_load_explicit(&grid->table[bit / 64], memory_order_relaxed);
        count += (uint64_t)__builtin_popcountll(word >> bit % 64 << (64 - take));
        place += take;
    }
    return count;
}

static enum cts_status add_up(const struct grid *grid, const struct counter *counters,
                              unsigned threads, struct cts_selection_density *density,
                              struct cts_error *error)
{
    const size_t count = grid->cell_count;
    density->cell_bytes = UINT64_C(1) << grid->cell_shift;
    density->cell_count = count;
    density->reads = cts_array_zeroed(count, sizeof *density->reads, error);
    density->writes = cts_array_zeroed(count, sizeof *density->writes, error);
    density->warps = cts_array_zeroed(count, sizeof *density->warps, error);
    if (!density->reads || !density->writes || !density->warps) return CTS_MEMORY;
    for (size_t c = 0; c < count; c++) {
        uint64_t warps = odd_count(grid, c);
        for (unsigned t = 0; t < threads; t++) {
            const struct cell *const cell = &counters[t].cells[c];
            density->reads[c] += cell->reads;
            density->writes[c] += cell->writes;
            warps += cell->warps;
        }
        density->warps[c] =
            warps < CTS_SELECTION_WARPS_MAX ? (uint32_t)warps : CTS_SELECTION_WARPS_MAX;
    }
    return CTS_OK;
}

enum cts_status cts_selection_density(struct cts_selection *selection,
                                      const struct cts_selection_question *question,
                                      const struct cts_selection_window *window,
                                      struct cts_selection_density *density,
                                      struct cts_error *error)
{
    struct scan scan;
    struct grid grid = {0};
    *density = (struct cts_selection_density){0};
    if (window->first > window->last || !window->cells || window->cells > CTS_SELECTION_CELLS_MAX)
        return cts_fail(error, CTS_USAGE, "%u cells between 0x%llx and 0x%llx", window->cells,
                        (unsigned long long)window->first, (unsigned long long)window->last);
    enum cts_status status = scan_begin(&scan, selection, question, error);
    if (status) return status;
    const unsigned threads = scan.threads;
    status = make_grid(&grid, scan.view, window, error);
    struct counter *const counters = cts_array_zeroed(threads, sizeof *counters, error);
    if (!counters) status = CTS_MEMORY;
    for (unsigned t = 0; t < threads && !status; t++) {
        counters[t].grid = &grid;
        counters[t].cells = cts_array_zeroed(grid.cell_count, sizeof(struct cell), error);
        if (!counters[t].cells) status = CTS_MEMORY;
    }
    scan.states = counters;
    scan.state_bytes = sizeof *counters;
    scan.visit = count_block;
    scan.wants = wants;
    scan.wants_state = &grid;
    if (!status) status = scan_run(&scan, error);
    if (!status) status = add_up(&grid, counters, threads, density, error);
    for (unsigned t = 0; t < threads && counters; t++) free(counters[t].cells);
    free(counters);
    free((void *)grid.table);
    free((void *)grid.odd);
    scan_end(&scan);
    if (status) cts_selection_density_release(density);
    return status;
}

void cts_selection_density_release(struct cts_selection_density *density)
{
    free(density->reads);
    free(density->writes);
    free(density->warps);
    *density = (struct cts_selection_density){0};
}
