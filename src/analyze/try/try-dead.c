/* What is read after a stretch: edges from before its end to behind it. Each edge names the bytes
 * that its own lie between, so that some of what counts as read is not.
 *
 * The recording is another execution. Its allocations are taken for those of the stretch where
 * number (or address, where numbers are not known) and size are the same; memory without such a
 * partner counts as read. */
#include <stdlib.h>
#include <string.h>

#include "analyze/try/try-match.h"
#include "common/array.h"

static int by_address(const void *left, const void *right)
{
    const struct cts_trial_range *const a = left, *const b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static enum cts_status add(struct cts_try_ranges *ranges, uint64_t first, uint64_t end,
                           struct cts_error *error)
{
    if (first >= end) return CTS_OK;
    if (CTS_ARRAY_RESERVE(ranges, ranges->count + 1, error)) return CTS_MEMORY;
    ranges->items[ranges->count++] = (struct cts_trial_range){first, end - first};
    return CTS_OK;
}

/* The last node of the stretch, in call order. */
static uint32_t last_node(const struct cts_try_match *match)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < match->flow->order.node_count; i++)
        if (match->op_of_node[i] != CTS_TRIAL_NONE) last = i;
    return last;
}

/* Where the bytes of an edge lie in the stretch; false: nowhere. */
static bool translate(const struct cts_try_match *match, const struct cts_flow_edge *edge,
                      struct cts_trial_range *range)
{
    const uint32_t region = cts_try_region_of(match, edge->allocation);
    if (region == CTS_TRIAL_NONE) return false;
    const struct cts_allocation *const a = &match->flow->catalogue->allocations[edge->allocation];
    *range = (struct cts_trial_range){match->stretch->regions[region].address +
                                          (edge->first - a->address),
                                      edge->end - edge->first};
    return true;
}

/* `*is_known` becomes false where memory that is read has no partner. */
static enum cts_status find_read(const struct cts_try_match *match, struct cts_try_ranges *read,
                                 bool *is_known, struct cts_error *error)
{
    const struct cts_flow_walk *const walk = &match->flow->walk;
    const uint32_t last = last_node(match);
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < walk->edge_count && !status; i++) {
        const struct cts_flow_edge *const edge = &walk->edges[i];
        if (edge->from > last || edge->to <= last || !(edge->raw_bytes + edge->race_bytes))
            continue;
        struct cts_trial_range range = {0};
        *is_known &= translate(match, edge, &range);
        status = add(read, range.address, range.address + range.size_bytes, error);
    }
    if (read->count) qsort(read->items, read->count, sizeof *read->items, by_address);
    return status;
}

/* What of a region lies in none of the ranges. */
static enum cts_status add_rest(const struct cts_trial_region *region,
                                const struct cts_try_ranges *read, struct cts_try_ranges *dead,
                                struct cts_error *error)
{
    const uint64_t end = region->address + region->size_bytes;
    uint64_t at = region->address;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < read->count && !status && at < end; i++) {
        const struct cts_trial_range *const range = &read->items[i];
        const uint64_t range_end = range->address + range->size_bytes;
        if (range_end <= at || range->address >= end) continue;
        if (range->address > at) status = add(dead, at, range->address, error);
        at = range_end;
    }
    return status ? status : add(dead, at, end, error);
}

enum cts_status cts_try_dead_make(const struct cts_try_match *match, struct cts_try_ranges *dead,
                                  struct cts_error *error)
{
    struct cts_try_ranges read = {0};
    *dead = (struct cts_try_ranges){0};
    if (match->flow->lower_bound) return CTS_OK;
    bool is_known = true;
    bool *const has_partner =
        cts_array_zeroed(match->stretch->region_count, sizeof *has_partner, error);
    if (!has_partner) return CTS_MEMORY;
    for (uint32_t i = 0; i < match->flow->catalogue->allocation_count; i++)
        if (cts_try_region_of(match, i) != CTS_TRIAL_NONE)
            has_partner[cts_try_region_of(match, i)] = true;
    enum cts_status status = find_read(match, &read, &is_known, error);
    for (size_t i = 0; i < match->stretch->region_count && !status && is_known; i++) {
        const struct cts_trial_region *const region = &match->stretch->regions[i];
        if (strcmp(region->kind, "device") == 0 && has_partner[i])
            status = add_rest(region, &read, dead, error);
    }
    if (dead->count) qsort(dead->items, dead->count, sizeof *dead->items, by_address);
    free(has_partner);
    free(read.items);
    return status;
}
