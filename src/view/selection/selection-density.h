/* The two halves of a density; private to selection/. */
#ifndef CTS_SELECTION_DENSITY_H
#define CTS_SELECTION_DENSITY_H

#include "view/selection/selection-scan.h"

/* The bytes first..last in cells of `1 << cell_shift`. */
struct density_grid {
    uint64_t first, last;
    unsigned view; /* VIEW_... */
    unsigned cell_shift;
    size_t cell_count;
};

/* Whether each lane of a shape is in one cell, or in none. */
static inline bool density_is_aligned(const struct density_grid *grid,
                                      const struct block_shape *shape)
{
    const uint64_t rest = shape->width_bytes - 1u;
    return !((shape->alignment | grid->first) & rest) && UINT64_C(1) << grid->cell_shift > rest;
}

/* The cells [*first, *last] that the lane at an address touches; false: none. */
static inline bool density_cells_of(const struct density_grid *grid,
                                    const struct block_shape *shape, uint64_t address,
                                    uint64_t *first, uint64_t *last)
{
    struct block_hull lane;
    if (!block_clip(shape, address, grid->first, grid->last, &lane)) return false;
    *first = (lane.first - grid->first) >> grid->cell_shift;
    *last = (lane.last - grid->first) >> grid->cell_shift;
    return true;
}

/* ---- how many lanes touch a cell ---- */

/* What a thread has counted. */
struct density_lanes {
    const struct density_grid *grid;
    struct lane_counts *kinds[3]; /* by what a lane does, less one: reads, writes, both; or NULL */
};
CTS_MUST_CHECK enum cts_status cts_density_lanes_add(struct density_lanes *lanes,
                                                     const struct scan_block *it,
                                                     struct cts_error *error);
/* Adds what was counted to reads and writes, by cell; once. */
void cts_density_lanes_put(struct density_lanes *lanes, uint64_t *reads, uint64_t *writes);
void cts_density_lanes_release(struct density_lanes *lanes);

/* ---- how many warps do ---- */

struct density_warps;
/* Makes counters for `threads` threads. */
CTS_MUST_CHECK enum cts_status cts_density_warps_make(const struct density_grid *grid,
                                                      const struct view *view, unsigned threads,
                                                      struct density_warps **warps,
                                                      struct cts_error *error);
void cts_density_warps_add(struct density_warps *warps, unsigned thread,
                           const struct scan_block *it);
/* At most CTS_SELECTION_WARPS_MAX. */
uint32_t cts_density_warps_of(const struct density_warps *warps, size_t cell);
void cts_density_warps_free(struct density_warps *warps);

#endif
