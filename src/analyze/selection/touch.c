/* Which lanes touch some bytes. They are counted first, on all threads and by chunk; then only as
 * many chunks are gone through again, in order, as hold the first ones. */
#include <stdlib.h>

#include "analyze/selection/scan.h"
#include "common/array.h"

struct target {
    unsigned view;
    uint64_t first, last;
    uint64_t *counts; /* by chunk */
    struct cts_selection_touches *touches;
    size_t room;
};

/* The touching lanes of record i, as bits among the active ones. */
static uint32_t lanes_of(const struct target *target, const struct block *block, size_t i,
                         uint64_t addresses[CTS_WARP_LANES])
{
    const struct block_shape *const shape = &block->shapes[block->shape[i]];
    uint32_t lanes = 0;
    if (shape->view != target->view) return 0;
    const struct block_hull hull = block_hull(block, shape, i);
    if (hull.first <= hull.last && (hull.first > target->last || hull.last < target->first))
        return 0;
    block_addresses(block, shape, i, addresses);
    for (unsigned k = 0; k < shape->lanes; k++) {
        const uint64_t end = addresses[k] + shape->width_bytes - 1u;
        const bool touches =
            addresses[k] <= target->last && (end >= target->first || end < addresses[k]);
        lanes |= (uint32_t)touches << k;
    }
    return lanes;
}

static enum cts_status count_block(void *state, const struct scan_block *it,
                                   struct cts_error *error)
{
    const struct target *const target = state;
    uint64_t addresses[CTS_WARP_LANES], count = 0;
    (void)error;
    SCAN_SEGMENTS(it, segment)
    {
        SCAN_RECORDS(it, segment, i)
        {
            count += (unsigned)__builtin_popcount(lanes_of(target, it->block, i, addresses));
        }
    }
    target->counts[it->chunk] = count;
    return CTS_OK;
}

static enum cts_status collect_block(void *state, const struct scan_block *it,
                                     struct cts_error *error)
{
    const struct target *const target = state;
    struct cts_selection_touches *const touches = target->touches;
    const struct block *const block = it->block;
    (void)error;
    SCAN_SEGMENTS(it, segment)
    {
        SCAN_RECORDS(it, segment, i)
        {
            const struct block_shape *const shape = &block->shapes[block->shape[i]];
            uint64_t addresses[CTS_WARP_LANES];
            const uint32_t lanes = lanes_of(target, block, i, addresses);
            uint32_t mask = shape->mask;
            for (unsigned k = 0; k < shape->lanes; k++, mask &= mask - 1) {
                if (!(lanes >> k & 1)) continue;
                if (touches->count == target->room) return CTS_OK;
                touches->items[touches->count++] = (struct cts_selection_touch){
                    .index = it->first_index + i,
                    .address = addresses[k],
                    .cta = block->segments[segment].cta,
                    .site = shape->site,
                    .warp = block->warp[i],
                    .lane = (uint8_t)__builtin_ctz(mask),
                };
            }
        }
    }
    return CTS_OK;
}

static bool wants(const struct scan *scan, size_t chunk)
{
    const struct target *const target = scan->wants_state;
    return scan_may_touch(scan, chunk, target->view, target->first, target->last);
}

static enum cts_status find(struct scan *scan, struct target *target, size_t count,
                            struct cts_error *error)
{
    struct cts_selection_touches *const touches = target->touches;
    target->counts = cts_array_zeroed(scan->view->chunk_count, sizeof *target->counts, error);
    if (!target->counts) return CTS_MEMORY;
    scan->states = target;
    scan->state_bytes = 0; /* all threads have the same */
    scan->visit = count_block;
    scan->wants = wants;
    scan->wants_state = target;
    enum cts_status status = scan_run(scan, error);
    if (status) return status;
    for (size_t k = 0; k < scan->view->chunk_count; k++) touches->total += target->counts[k];
    target->room = count < touches->total ? count : (size_t)touches->total;
    touches->items = cts_array_zeroed(target->room, sizeof *touches->items, error);
    if (!touches->items) return CTS_MEMORY;
    scan->visit = collect_block;
    for (size_t k = 0; k < scan->view->chunk_count && touches->count < target->room && !status; k++)
        if (target->counts[k]) status = scan_one(scan, k, target, error);
    return status;
}

enum cts_status cts_selection_touching(struct cts_selection *selection,
                                       const struct cts_selection_question *question, uint8_t space,
                                       uint64_t first, uint64_t last, size_t count,
                                       struct cts_selection_touches *touches,
                                       struct cts_error *error)
{
    struct scan scan;
    struct target target = {
        .view = view_space(space), .first = first, .last = last, .touches = touches};
    *touches = (struct cts_selection_touches){0};
    if (first > last) return cts_fail(error, CTS_USAGE, "bytes that end before they start");
    enum cts_status status = scan_begin(&scan, selection, question, error);
    if (status) return status;
    status = find(&scan, &target, count, error);
    free(target.counts);
    scan_end(&scan);
    if (status) cts_selection_touches_release(touches);
    return status;
}

void cts_selection_touches_release(struct cts_selection_touches *touches)
{
    free(touches->items);
    *touches = (struct cts_selection_touches){0};
}
