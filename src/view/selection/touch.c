/* Which lanes touch some bytes. Each thread counts those of its chunks and keeps the first ones,
 * which are its first ones in all, since it takes chunks in their order. */
#include <stdlib.h>
#include <string.h>

#include "view/selection/selection-scan.h"
#include "common/array.h"

/* What is looked for, and what a thread has found. */
struct target {
    unsigned view;
    uint64_t first, last;
    size_t room; /* how many are kept */
    uint64_t total;
    struct {
        struct cts_selection_touch *items;
        size_t count, capacity;
    } found;
};

/* The addresses of a record's active lanes; those lanes that touch, as bits among them. */
struct touching {
    uint64_t addresses[CTS_WARP_LANES];
    uint32_t lanes; /* 0: the addresses may not be set */
};

static void find_lanes(const struct target *target, const struct block *block, size_t i,
                       struct touching *touching)
{
    const struct block_shape *const shape = block_shape_of(block, i);
    uint64_t *const addresses = touching->addresses;
    touching->lanes = 0;
    if (shape->view != target->view || shape->first > target->last || shape->last < target->first)
        return;
    if (shape->pattern == CTS_PATTERN_LIST &&
        !block_list_touches(block, shape, i, target->first, target->last))
        return;
    const struct block_hull hull = block_hull(block, shape, i);
    if (hull.first <= hull.last && (hull.first > target->last || hull.last < target->first)) return;
    block_addresses(block, shape, i, addresses);
    for (unsigned k = 0; k < shape->lanes; k++) {
        const uint64_t end = addresses[k] + shape->width_bytes - 1u;
        const bool touches =
            addresses[k] <= target->last && (end >= target->first || end < addresses[k]);
        touching->lanes |= (uint32_t)touches << k;
    }
}

/* The lanes of a record, as far as there is room; `touch`: what they have in common. */
static enum cts_status keep(struct target *target, const struct block_shape *shape,
                            const struct touching *touching, struct cts_selection_touch touch,
                            struct cts_error *error)
{
    uint32_t mask = shape->mask;
    for (unsigned k = 0; k < shape->lanes; k++, mask &= mask - 1) {
        if (!(touching->lanes >> k & 1)) continue;
        if (target->found.count == target->room) return CTS_OK;
        if (CTS_ARRAY_RESERVE(&target->found, target->found.count + 1, error)) return CTS_MEMORY;
        touch.address = touching->addresses[k];
        touch.lane = (uint8_t)__builtin_ctz(mask);
        target->found.items[target->found.count++] = touch;
    }
    return CTS_OK;
}

static enum cts_status find_in_block(void *state, const struct scan_block *it,
                                     struct cts_error *error)
{
    struct target *const target = state;
    const struct block *const block = it->block;
    struct touching touching;
    enum cts_status status = CTS_OK;
    SCAN_SEGMENTS(it, segment)
    {
        SCAN_RECORDS(it, segment, i)
        {
            const struct block_shape *const shape = block_shape_of(block, i);
            find_lanes(target, block, i, &touching);
            if (!touching.lanes) continue;
            target->total += (unsigned)__builtin_popcount(touching.lanes);
            const struct cts_selection_touch touch = {.index = it->first_index + i,
                                                      .cta = block->segments[segment].cta,
                                                      .site = shape->site,
                                                      .warp = block->warp[i]};
            status = keep(target, shape, &touching, touch, error);
            if (status) return status;
        }
    }
    return CTS_OK;
}

static bool wants(const struct scan *scan, size_t chunk)
{
    const struct target *const target = scan->wants_state;
    return cts_selection_scan_may_touch(scan, chunk, target->view, target->first, target->last);
}

static int by_index(const void *a, const void *b)
{
    const struct cts_selection_touch *const x = a, *const y = b;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return (x->lane > y->lane) - (x->lane < y->lane);
}

/* The first ones of what the threads have found. */
static enum cts_status join(const struct target *targets, unsigned threads, size_t count,
                            struct cts_selection_touches *touches, struct cts_error *error)
{
    size_t room = 0;
    for (unsigned t = 0; t < threads; t++) room += targets[t].found.count;
    touches->items = cts_array_zeroed(room, sizeof *touches->items, error);
    if (!touches->items) return CTS_MEMORY;
    for (unsigned t = 0; t < threads; t++) {
        if (targets[t].found.count)
            memcpy(touches->items + touches->count, targets[t].found.items,
                   targets[t].found.count * sizeof *touches->items);
        touches->count += targets[t].found.count;
        touches->total += targets[t].total;
    }
    if (touches->count > 1) qsort(touches->items, touches->count, sizeof *touches->items, by_index);
    if (touches->count > count) touches->count = count;
    return CTS_OK;
}

enum cts_status cts_selection_touching(struct cts_selection *selection,
                                       const struct cts_selection_question *question,
                                       const struct cts_selection_bytes *bytes,
                                       struct cts_selection_touches *touches,
                                       struct cts_error *error)
{
    struct scan scan;
    *touches = (struct cts_selection_touches){0};
    if (bytes->first > bytes->last)
        return cts_fail(error, CTS_USAGE, "the range of bytes ends before it starts");
    enum cts_status status = cts_selection_scan_begin(&scan, selection, question, error);
    if (status) return status;
    struct target *const targets = cts_array_zeroed(scan.threads, sizeof *targets, error);
    for (unsigned t = 0; t < scan.threads && targets; t++)
        targets[t] = (struct target){.view = view_space(bytes->space),
                                     .first = bytes->first,
                                     .last = bytes->last,
                                     .room = bytes->count};
    scan.states = targets;
    scan.state_bytes = sizeof *targets;
    scan.visit = find_in_block;
    scan.wants = wants;
    scan.wants_state = targets;
    status = targets ? cts_selection_scan_run(&scan, error) : CTS_MEMORY;
    if (!status) status = join(targets, scan.threads, bytes->count, touches, error);
    for (unsigned t = 0; t < scan.threads && targets; t++) free(targets[t].found.items);
    free(targets);
    cts_selection_scan_end(&scan);
    if (status) cts_selection_touches_release(touches);
    return status;
}

void cts_selection_touches_release(struct cts_selection_touches *touches)
{
    free(touches->items);
    *touches = (struct cts_selection_touches){0};
}
