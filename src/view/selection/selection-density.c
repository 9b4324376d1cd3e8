/* Lanes, and if they are asked for warps, by the cells along the addresses that they touch. */
#include "view/selection/selection-density.h"

#include <stdlib.h>

#include "common/array.h"

struct counter {
    struct density_lanes lanes;
    struct density_warps *warps; /* of all threads; NULL: not asked for */
    unsigned thread;
};

static enum cts_status count_block(void *state, const struct scan_block *it,
                                   struct cts_error *error)
{
    struct counter *const counter = state;
    if (counter->warps) cts_density_warps_add(counter->warps, counter->thread, it);
    return cts_density_lanes_add(&counter->lanes, it, error);
}

static bool wants(const struct scan *scan, size_t chunk)
{
    const struct density_grid *const grid = scan->wants_state;
    return cts_selection_scan_may_touch(scan, chunk, grid->view, grid->first, grid->last);
}

static struct density_grid grid_of(const struct cts_selection_window *window)
{
    const uint64_t span = window->last - window->first; /* less one */
    struct density_grid grid = {
        .first = window->first, .last = window->last, .view = view_space(window->space)};
    /* All of 2^64 addresses have no size: they are two cells. */
    while (grid.cell_shift < 63 && span >> grid.cell_shift >= window->cells) grid.cell_shift++;
    grid.cell_count = (size_t)(span >> grid.cell_shift) + 1;
    return grid;
}

static enum cts_status add_up(const struct density_grid *grid, struct counter *counters,
                              unsigned threads, struct cts_selection_density *density,
                              struct cts_error *error)
{
    const struct density_warps *const warps = counters[0].warps;
    const size_t count = grid->cell_count;
    density->cell_bytes = UINT64_C(1) << grid->cell_shift;
    density->cell_count = count;
    density->reads = cts_array_zeroed(count, sizeof *density->reads, error);
    density->writes = cts_array_zeroed(count, sizeof *density->writes, error);
    if (!density->reads || !density->writes) return CTS_MEMORY;
    for (unsigned t = 0; t < threads; t++)
        cts_density_lanes_put(&counters[t].lanes, density->reads, density->writes);
    if (!warps) return CTS_OK;
    density->warps = cts_array_zeroed(count, sizeof *density->warps, error);
    if (!density->warps) return CTS_MEMORY;
    for (size_t c = 0; c < count; c++) density->warps[c] = cts_density_warps_of(warps, c);
    return CTS_OK;
}

enum cts_status cts_selection_density(struct cts_selection *selection,
                                      const struct cts_selection_question *question,
                                      const struct cts_selection_window *window,
                                      struct cts_selection_density *density,
                                      struct cts_error *error)
{
    struct scan scan;
    struct density_warps *warps = NULL;
    *density = (struct cts_selection_density){0};
    if (window->first > window->last || !window->cells || window->cells > CTS_SELECTION_CELLS_MAX)
        return cts_fail(error, CTS_USAGE, "%u cells between 0x%llx and 0x%llx", window->cells,
                        (unsigned long long)window->first, (unsigned long long)window->last);
    enum cts_status status = cts_selection_scan_begin(&scan, selection, question, error);
    if (status) return status;
    const struct density_grid grid = grid_of(window);
    const unsigned threads = scan.threads;
    struct counter *const counters = cts_array_zeroed(threads, sizeof *counters, error);
    if (!counters) status = CTS_MEMORY;
    if (!status && window->with_warps)
        status = cts_density_warps_make(&grid, scan.view, threads, &warps, error);
    for (unsigned t = 0; t < threads && !status; t++)
        counters[t] = (struct counter){.lanes = {.grid = &grid}, .warps = warps, .thread = t};
    scan.states = counters;
    scan.state_bytes = sizeof *counters;
    scan.visit = count_block;
    scan.wants = wants;
    scan.wants_state = &grid;
    if (!status) status = cts_selection_scan_run(&scan, error);
    if (!status) status = add_up(&grid, counters, threads, density, error);
    for (unsigned t = 0; t < threads && counters; t++)
        cts_density_lanes_release(&counters[t].lanes);
    free(counters);
    cts_density_warps_free(warps);
    cts_selection_scan_end(&scan);
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
