/* What a launch holds: sums of its chunks' tallies, or shapes, and which allocations it touches. */
#include <stdlib.h>
#include <string.h>

#include "view/selection/selection-scan.h"
#include "common/array.h"
#include "common/search.h"

struct totals {
    struct cts_selection_site *sites; /* by site */
    bool *touched;                    /* by place in view->allocations; NULL: known already */
};

static const struct cts_allocation *allocation_at(const struct scan *scan, size_t place)
{
    return &scan->selection->catalogue->allocations[scan->view->allocations.items[place].index];
}

/* The first allocation that ends at `address` or behind it. */
static size_t place_of(const struct scan *scan, uint64_t address)
{
    return CTS_SEARCH(scan->view->allocations.count, i,
                      allocation_at(scan, i)->address < address &&
                          address - allocation_at(scan, i)->address >=
                              allocation_at(scan, i)->size_bytes);
}

/* Marks the allocations that a byte of first..last is in. Those that overlap another one, which
 * only a damaged catalogue has, may be missed. */
static void mark(const struct scan *scan, bool *touched, uint64_t first, uint64_t last)
{
    for (size_t at = place_of(scan, first); at < scan->view->allocations.count; at++) {
        if (allocation_at(scan, at)->address > last) return;
        touched[at] = true;
    }
}

/* The allocation that holds all of some bytes; SIZE_MAX: none does. */
static size_t place_of_all(const struct scan *scan, uint64_t first, uint64_t last)
{
    const size_t place = place_of(scan, first);
    if (first > last || place == scan->view->allocations.count) return SIZE_MAX;
    const struct cts_allocation *const found = allocation_at(scan, place);
    const bool is_inside = found->address <= first && last - found->address < found->size_bytes;
    return is_inside ? place : SIZE_MAX;
}

static void mark_record(const struct scan_block *it, const struct block_shape *shape, size_t i,
                        bool *touched)
{
    const struct block_hull hull = block_hull(it->block, shape, i);
    uint64_t addresses[CTS_WARP_LANES];
    /* Most records go to one allocation, and are seen to by their hull. */
    const size_t place = place_of_all(it->scan, hull.first, hull.last);
    if (place != SIZE_MAX) {
        touched[place] = true;
        return;
    }
    block_addresses(it->block, shape, i, addresses);
    for (unsigned k = 0; k < shape->lanes; k++) {
        const uint64_t last = addresses[k] + shape->width_bytes - 1u;
        mark(it->scan, touched, addresses[k], last < addresses[k] ? UINT64_MAX : last);
    }
}

static enum cts_status count_block(void *state, const struct scan_block *it,
                                   struct cts_error *error)
{
    struct totals *const totals = state;
    const struct block *const block = it->block;
    (void)error;
    for (size_t s = 0; s < block->shape_count; s++) {
        const struct block_shape *const shape = &block->shapes[s];
        if (!shape->width_bytes) continue;
        totals->sites[shape->site].record_count += shape->record_count;
        totals->sites[shape->site].access_count += shape->record_count * shape->lanes;
    }
    if (!totals->touched) return CTS_OK;
    for (size_t i = 0; i < block->record_count; i++) {
        const struct block_shape *const shape = &block->shapes[block->shape[i]];
        if (shape->width_bytes && shape->view == VIEW_GLOBAL)
            mark_record(it, shape, i, totals->touched);
    }
    return CTS_OK;
}

static enum cts_status add_cell(void *state, const struct scan_cell *it, struct cts_error *error)
{
    const struct totals *const totals = state;
    (void)error;
    totals->sites[it->of->site].record_count += it->sums->record_count;
    totals->sites[it->of->site].access_count += it->sums->record_count * it->of->lanes;
    if (totals->touched && it->of->view == VIEW_GLOBAL)
        totals->touched[place_of_all(it->scan, it->of->first, it->of->last)] = true;
    return CTS_OK;
}

/* Whether the allocation that records of a class touch is known. */
static bool is_summed(const struct scan *scan, const struct tally_class *of)
{
    return of->view != VIEW_GLOBAL || place_of_all(scan, of->first, of->last) != SIZE_MAX;
}

/* ---- the answer ---- */

static enum cts_status add_sites(const struct scan *scan, const struct totals *totals,
                                 struct cts_selection_launch *launch, struct cts_error *error)
{
    const size_t site_count = scan->selection->catalogue->site_count;
    launch->sites = cts_array_zeroed(site_count, sizeof *launch->sites, error);
    if (!launch->sites) return CTS_MEMORY;
    for (size_t s = 0; s < site_count; s++) {
        struct cts_selection_site sum = {.site = (uint32_t)s};
        for (unsigned t = 0; t < scan->threads; t++) {
            sum.record_count += totals[t].sites[s].record_count;
            sum.access_count += totals[t].sites[s].access_count;
        }
        if (!sum.record_count) continue;
        launch->sites[launch->site_count++] = sum;
        launch->record_count += sum.record_count;
        launch->access_count += sum.access_count;
    }
    return CTS_OK;
}

static void add_spaces(const struct view *view, struct cts_selection_launch *launch)
{
    for (unsigned space = 0; space < VIEW_SPACES; space++) {
        struct cts_selection_space sum = {.space = space_of_view(space), .first = UINT64_MAX};
        for (size_t k = 0; k < view->chunk_count; k++) {
            const struct chunk_summary *const summary = &view->summaries[k];
            sum.access_count += summary->spaces[space].access_count;
            if (!summary->spaces[space].access_count) continue;
            if (summary->spaces[space].first < sum.first) sum.first = summary->spaces[space].first;
            if (summary->spaces[space].last > sum.last) sum.last = summary->spaces[space].last;
        }
        if (sum.access_count) launch->spaces[launch->space_count++] = sum;
    }
    for (size_t k = 0; k < view->chunk_count; k++)
        launch->unknown_count += view->summaries[k].unknown_count;
}

static enum cts_status add_allocations(const struct scan *scan, const struct totals *totals,
                                       struct cts_selection_launch *launch, struct cts_error *error)
{
    struct view *const view = scan->view;
    const size_t count = view->allocations.count;
    launch->allocations = cts_array_zeroed(count, sizeof *launch->allocations, error);
    if (!launch->allocations) return CTS_MEMORY;
    pthread_mutex_lock(&view->loading);
    for (size_t i = 0; i < count; i++)
        for (unsigned t = 0; t < scan->threads && totals[t].touched; t++)
            view->allocations.items[i].is_touched |= totals[t].touched[i];
    view->has_touched = true;
    if (count)
        memcpy(launch->allocations, view->allocations.items, count * sizeof *launch->allocations);
    pthread_mutex_unlock(&view->loading);
    launch->allocation_count = count;
    return CTS_OK;
}

static enum cts_status count_all(struct scan *scan, struct totals *totals, struct cts_error *error)
{
    pthread_mutex_lock(&scan->view->loading);
    const bool has_touched = scan->view->has_touched;
    pthread_mutex_unlock(&scan->view->loading);
    for (unsigned t = 0; t < scan->threads; t++) {
        totals[t].sites = cts_array_zeroed(scan->selection->catalogue->site_count,
                                           sizeof *totals[t].sites, error);
        if (!totals[t].sites) return CTS_MEMORY;
        if (has_touched) continue;
        totals[t].touched =
            cts_array_zeroed(scan->view->allocations.count, sizeof *totals[t].touched, error);
        if (!totals[t].touched) return CTS_MEMORY;
    }
    scan->states = totals;
    scan->state_bytes = sizeof *totals;
    scan->visit = count_block;
    scan->add = add_cell;
    if (!has_touched) scan->is_summed = is_summed;
    return cts_selection_scan_run(scan, error);
}

enum cts_status cts_selection_launch(struct cts_selection *selection,
                                     const struct cts_selection_question *question,
                                     struct cts_selection_launch *launch, struct cts_error *error)
{
    const struct cts_selection_question all = {
        .launch = question->launch, .is_given_up = question->is_given_up, .state = question->state};
    struct scan scan;
    *launch = (struct cts_selection_launch){0};
    enum cts_status status = cts_selection_scan_begin(&scan, selection, &all, error);
    if (status) return status;
    struct totals *const totals = cts_array_zeroed(scan.threads, sizeof *totals, error);
    status = totals ? count_all(&scan, totals, error) : CTS_MEMORY;
    if (!status) status = add_sites(&scan, totals, launch, error);
    if (!status) status = add_allocations(&scan, totals, launch, error);
    if (!status) add_spaces(scan.view, launch);
    for (unsigned t = 0; t < scan.threads && totals; t++) {
        free(totals[t].sites);
        free(totals[t].touched);
    }
    free(totals);
    cts_selection_scan_end(&scan);
    if (status) cts_selection_launch_release(launch);
    return status;
}

void cts_selection_launch_release(struct cts_selection_launch *launch)
{
    free(launch->sites);
    free(launch->allocations);
    *launch = (struct cts_selection_launch){0};
}
