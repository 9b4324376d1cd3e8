/* Lanes by the cells that they touch.
 *
 * A record all of whose lanes fall into one cell is one addition, and so is each cell of a record
 * whose lanes lie closer together than cells. Lanes that lie a whole number of cells apart are a
 * *progression*: one more from its first cell on in steps, one less behind its end, and a sum along
 * the steps when all is counted says what each cell has:
 *
 *     cells               0  1  2  3  4  5  6  7
 *     lanes in 1, 3, 5       +1                -1     steps of 2
 *     summed              0  1  0  1  0  1  0  0
 *
 * Lanes that are several cells wide are as many progressions, or one when they lie side by side.
 * Lanes without an order are counted one by one; of a window that is a part of where they go, the
 * cells of those inside are put down first, since a branch on where a lane lies could not be
 * foreseen. */
#include <stdlib.h>

#include "view/selection/selection-density.h"
#include "common/array.h"

enum {
    STEPS_MAX = 6, /* kinds of progressions that are told apart */
    /* Of a window that is smaller than where the records of a shape go by this factor, most of them
     * know nothing. */
    SELDOM = 32,
};

/* Of lanes that do the same. */
struct lane_counts {
    uint64_t *cells;
    struct {
        uint64_t step;   /* cells; 0: free */
        uint64_t *edges; /* modulo 2^64 */
    } progressions[STEPS_MAX];
};

static void counts_free(struct lane_counts *counts)
{
    if (!counts) return;
    free(counts->cells);
    for (unsigned p = 0; p < STEPS_MAX; p++) free(counts->progressions[p].edges);
    free(counts);
}

static enum cts_status counts_of(struct density_lanes *lanes, const struct block_shape *shape,
                                 struct lane_counts **counts, struct cts_error *error)
{
    struct lane_counts **const known = &lanes->kinds[shape->reads + 2 * shape->writes - 1];
    *counts = *known;
    if (*known) return CTS_OK;
    struct lane_counts *const made = cts_array_zeroed(1, sizeof *made, error);
    if (made) made->cells = cts_array_zeroed(lanes->grid->cell_count, sizeof(uint64_t), error);
    if (!made || !made->cells) {
        free(made);
        return CTS_MEMORY;
    }
    *counts = *known = made;
    return CTS_OK;
}

/* ---- lanes at equal distances ---- */

/* The edges of progressions of such a step; NULL: there are too many steps, or no memory, which
 * only makes it slower. */
static uint64_t *edges_of(const struct density_grid *grid, struct lane_counts *counts,
                          uint64_t step)
{
    for (unsigned p = 0; p < STEPS_MAX; p++) {
        if (counts->progressions[p].step == step) return counts->progressions[p].edges;
        if (counts->progressions[p].step) continue;
        uint64_t *const edges = cts_array_zeroed(grid->cell_count, sizeof *edges, NULL);
        if (!edges) return NULL;
        counts->progressions[p].step = step;
        counts->progressions[p].edges = edges;
        return edges;
    }
    return NULL;
}

/* Lanes at equal distances, all inside the grid. */
struct run {
    uint64_t at, stride; /* bytes from the grid's first, from lane to lane */
    uint32_t lanes, width_bytes;
};

/* A whole number of cells apart, each as many cells wide or in one. False: they are to be counted
 * one by one. */
static bool add_progressions(const struct density_grid *grid, struct lane_counts *counts,
                             const struct run *run)
{
    uint64_t step = run->stride >> grid->cell_shift, count = run->lanes;
    uint64_t cells = run->width_bytes >> grid->cell_shift; /* of a lane */
    if (!cells) cells = 1;
    if (cells == step) { /* side by side */
        count *= cells;
        cells = step = 1;
    }
    uint64_t *const edges = edges_of(grid, counts, step);
    if (!edges) return false;
    const uint64_t first = run->at >> grid->cell_shift;
    for (uint64_t cell = first; cell < first + cells; cell++) {
        const uint64_t end = cell + step * count;
        edges[cell]++;
        if (end < grid->cell_count) edges[end]--;
    }
    return true;
}

/* Closer together than cells, each in one. */
static void add_by_cell(const struct density_grid *grid, struct lane_counts *counts,
                        const struct run *run)
{
    const uint64_t cell_bytes = UINT64_C(1) << grid->cell_shift;
    const unsigned stride_shift = (unsigned)__builtin_ctzll(run->stride);
    uint64_t at = run->at;
    for (uint64_t left = run->lanes; left;) {
        const uint64_t room = cell_bytes - (at & (cell_bytes - 1));
        uint64_t take = (room + run->stride - 1) >> stride_shift;
        if (take > left) take = left;
        counts->cells[at >> grid->cell_shift] += take;
        at += take << stride_shift;
        left -= take;
    }
}

/* False: the lanes are to be counted one by one. */
static bool add_run(const struct density_grid *grid, struct lane_counts *counts,
                    const struct block_shape *shape, const struct run *run)
{
    const uint64_t cell_rest = (UINT64_C(1) << grid->cell_shift) - 1;
    const bool is_whole = !((shape->alignment | grid->first) & cell_rest); /* of whole cells */
    const bool is_single = density_is_aligned(grid, shape);
    if (!run->stride) return false;
    if (is_whole || (is_single && !(run->stride & cell_rest)))
        return add_progressions(grid, counts, run);
    if (!is_single || run->stride > cell_rest || run->stride & (run->stride - 1)) return false;
    add_by_cell(grid, counts, run);
    return true;
}

static bool is_run(const struct block_shape *shape)
{
    const uint32_t low = shape->mask >> __builtin_ctz(shape->mask);
    return shape->pattern == CTS_PATTERN_AFFINE && !(low & (low + 1));
}

/* ---- lanes without an order ---- */

static void add_list(const struct density_grid *grid, struct lane_counts *counts,
                     const struct block *block, const struct block_shape *shape, size_t i)
{
    const uint32_t *const offsets = block->offsets + block->offset_start[i];
    const uint64_t base = block->base[i] - grid->first, span = grid->last - grid->first;
    const unsigned shift = grid->cell_shift, lanes = shape->lanes;
    uint64_t *const cells = counts->cells;
    if (shape->first >= grid->first && shape->last <= grid->last && shape->first <= shape->last) {
        for (unsigned k = 0; k < lanes; k++) cells[(base + offsets[k]) >> shift]++;
        return;
    }
    if ((shape->last - shape->first) / SELDOM > span &&
        !block_list_touches(block, shape, i, grid->first, grid->last))
        return;
    uint32_t inside[CTS_WARP_LANES];
    unsigned count = 0;
    for (unsigned k = 0; k < lanes; k++) {
        const uint64_t at = base + offsets[k];
        inside[count] = (uint32_t)(at >> shift);
        count += at <= span;
    }
    for (unsigned k = 0; k < count; k++) cells[inside[k]]++;
}

static void add_lanes(const struct density_grid *grid, struct lane_counts *counts,
                      const struct block *block, const struct block_shape *shape, size_t i)
{
    uint64_t addresses[CTS_WARP_LANES];
    block_addresses(block, shape, i, addresses);
    for (unsigned k = 0; k < shape->lanes; k++) {
        uint64_t cell, last;
        if (!density_cells_of(grid, shape, addresses[k], &cell, &last)) continue;
        for (; cell <= last; cell++) counts->cells[cell]++;
    }
}

/* ---- records ---- */

static inline void add_record(const struct density_grid *grid, struct lane_counts *counts,
                              const struct block *block, const struct block_shape *shape, size_t i)
{
    const bool is_aligned = density_is_aligned(grid, shape);
    if (is_aligned && shape->pattern == CTS_PATTERN_LIST) {
        add_list(grid, counts, block, shape, i);
        return;
    }
    const struct block_hull hull = block_hull(block, shape, i);
    if (hull.first <= hull.last) {
        if (hull.first > grid->last || hull.last < grid->first) return;
        if (hull.first >= grid->first && hull.last <= grid->last) {
            const uint64_t at = hull.first - grid->first, cell = at >> grid->cell_shift;
            if ((hull.last - grid->first) >> grid->cell_shift == cell) {
                counts->cells[cell] += shape->lanes;
                return;
            }
            const int64_t stride = shape->s0;
            const struct run run = {.at = at,
                                    .stride = (uint64_t)(stride < 0 ? -stride : stride),
                                    .lanes = shape->lanes,
                                    .width_bytes = shape->width_bytes};
            if (is_run(shape) && add_run(grid, counts, shape, &run)) return;
        }
    }
    add_lanes(grid, counts, block, shape, i);
}

enum cts_status cts_density_lanes_add(struct density_lanes *lanes, const struct scan_block *it,
                                      struct cts_error *error)
{
    const struct density_grid *const grid = lanes->grid;
    const struct block *const block = it->block;
    SCAN_SEGMENTS(it, segment)
    {
        SCAN_RECORDS(it, segment, i)
        {
            const struct block_shape *const shape = &block->shapes[block->shape[i]];
            struct lane_counts *counts;
            if (shape->view != grid->view || shape->first > grid->last || shape->last < grid->first)
                continue;
            if (counts_of(lanes, shape, &counts, error)) return CTS_MEMORY;
            add_record(grid, counts, block, shape, i);
        }
    }
    return CTS_OK;
}

void cts_density_lanes_put(struct density_lanes *lanes, uint64_t *reads, uint64_t *writes)
{
    const size_t cell_count = lanes->grid->cell_count;
    for (unsigned kind = 0; kind < 3; kind++) {
        const struct lane_counts *const counts = lanes->kinds[kind];
        if (!counts) continue;
        for (unsigned p = 0; p < STEPS_MAX && counts->progressions[p].step; p++) {
            const uint64_t step = counts->progressions[p].step;
            uint64_t *const edges = counts->progressions[p].edges;
            for (size_t c = 0; c < cell_count; c++) {
                if (c >= step) edges[c] += edges[c - step];
                counts->cells[c] += edges[c];
            }
        }
        for (size_t c = 0; c < cell_count; c++) {
            if (kind != 1) reads[c] += counts->cells[c];
            if (kind != 0) writes[c] += counts->cells[c];
        }
    }
}

void cts_density_lanes_release(struct density_lanes *lanes)
{
    for (unsigned kind = 0; kind < 3; kind++) {
        counts_free(lanes->kinds[kind]);
        lanes->kinds[kind] = NULL;
    }
}
