/* What data requires of the operations of a stretch, as a recording says. */
#include <stdlib.h>
#include <string.h>

#include "analyze/try/try-match.h"
#include "common/array.h"

static int by_to(const void *left, const void *right)
{
    const struct cts_try_need *const a = left, *const b = right;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

/* Edges between the same two in the same region become one. */
static void merge(struct cts_try_needs *needs)
{
    size_t kept = 0;
    for (size_t i = 0; i < needs->count; i++) {
        struct cts_try_need *const last = kept ? &needs->items[kept - 1] : NULL;
        const struct cts_try_need *const item = &needs->items[i];
        if (last && !by_to(last, item)) {
            last->raw_bytes += item->raw_bytes;
            last->war_bytes += item->war_bytes;
            last->waw_bytes += item->waw_bytes;
        } else {
            needs->items[kept++] = *item;
        }
    }
    needs->count = kept;
}

/* Allocations, frees and CPU accesses are no operations, but order passes through them. */
struct through {
    struct cts_try_list *lists; /* by node: operations that it comes after */
};

static enum cts_status add_to_list(struct cts_try_list *list, uint32_t op, struct cts_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == op) return CTS_OK;
    if (CTS_ARRAY_RESERVE(list, list->count + 1, error)) return CTS_MEMORY;
    list->items[list->count++] = op;
    return CTS_OK;
}

static enum cts_status add_need(struct cts_try_needs *needs, const struct cts_try_need *need,
                                struct cts_error *error)
{
    if (need->from >= need->to) return CTS_OK;
    if (CTS_ARRAY_RESERVE(needs, needs->count + 1, error)) return CTS_MEMORY;
    needs->items[needs->count++] = *need;
    return CTS_OK;
}

static enum cts_status take_edge(const struct cts_try_match *match, struct through *through,
                                 const struct cts_flow_edge *edge, struct cts_try_needs *needs,
                                 struct cts_error *error)
{
    const uint32_t from = match->op_of_node[edge->from], to = match->op_of_node[edge->to];
    const uint64_t data_bytes =
        edge->raw_bytes + edge->war_bytes + edge->waw_bytes + edge->race_bytes;
    if (!data_bytes && !edge->end_bytes) return CTS_OK;
    const uint32_t region = cts_try_region_of(match, edge->allocation);
    struct cts_try_need need = {from,           to, region, edge->raw_bytes, edge->war_bytes,
                                edge->waw_bytes};
    if (from != CTS_TRIAL_NONE && to != CTS_TRIAL_NONE) return add_need(needs, &need, error);
    struct cts_try_list one = {&need.from, from != CTS_TRIAL_NONE, 0};
    const struct cts_try_list *const before =
        from != CTS_TRIAL_NONE ? &one : &through->lists[edge->from];
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < before->count && !status; i++) {
        if (to == CTS_TRIAL_NONE) {
            status = add_to_list(&through->lists[edge->to], before->items[i], error);
        } else {
            const struct cts_try_need passed = {before->items[i], to, CTS_TRIAL_NONE, 0, 0,
                                                edge->end_bytes};
            status = add_need(needs, &passed, error);
        }
    }
    return status;
}

/* What an operation of the stretch finds in a region. */
static enum cts_status take_inflow(const struct cts_try_match *match,
                                   const struct cts_flow_edge *edge, struct cts_try_needs *needs,
                                   struct cts_error *error)
{
    const struct cts_try_inflow inflow = {match->op_of_node[edge->from],
                                          match->op_of_node[edge->to],
                                          cts_try_region_of(match, edge->allocation)};
    const uint64_t bytes =
        edge->raw_bytes + edge->possible_raw_bytes + edge->commuting_bytes + edge->race_bytes;
    if (!bytes || inflow.to == CTS_TRIAL_NONE || inflow.region == CTS_TRIAL_NONE) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&needs->inflows, needs->inflows.count + 1, error)) return CTS_MEMORY;
    needs->inflows.items[needs->inflows.count++] = inflow;
    return CTS_OK;
}

static int by_op(const void *left, const void *right)
{
    const struct cts_try_touch *const a = left, *const b = right;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

static enum cts_status find_touches(const struct cts_try_match *match, struct cts_try_needs *needs,
                                    struct cts_error *error)
{
    const struct cts_flow_walk *const walk = &match->flow->walk;
    struct cts_try_touches *const touches = &needs->touches;
    for (size_t i = 0; i < walk->touched_count; i++) {
        const struct cts_try_touch touch = {match->op_of_node[walk->touched[i].node],
                                            cts_try_region_of(match, walk->touched[i].allocation),
                                            walk->touched[i].wrote};
        if (touch.op == CTS_TRIAL_NONE || touch.region == CTS_TRIAL_NONE) continue;
        if (CTS_ARRAY_RESERVE(touches, touches->count + 1, error)) return CTS_MEMORY;
        touches->items[touches->count++] = touch;
    }
    if (touches->count) qsort(touches->items, touches->count, sizeof *touches->items, by_op);
    return CTS_OK;
}

void cts_try_needs_release(struct cts_try_needs *needs)
{
    free(needs->items);
    free(needs->touches.items);
    free(needs->inflows.items);
    *needs = (struct cts_try_needs){0};
}

enum cts_status cts_try_needs_make(const struct cts_try_match *match, struct cts_try_needs *needs,
                                   struct cts_error *error)
{
    const struct cts_flow_walk *const walk = &match->flow->walk;
    const size_t nodes = match->flow->order.node_count;
    struct through through = {cts_array_zeroed(nodes, sizeof *through.lists, error)};
    *needs = (struct cts_try_needs){.are_known = !match->flow->lower_bound};
    if (match->flow->lower_bound) needs->unknown = "the recording is incomplete";
    enum cts_status status = through.lists ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; i < walk->edge_count && !status; i++)
        status = take_edge(match, &through, &walk->edges[i], needs, error);
    for (size_t i = 0; i < walk->edge_count && !status; i++)
        status = take_inflow(match, &walk->edges[i], needs, error);
    if (!status) status = find_touches(match, needs, error);
    for (size_t i = 0; through.lists && i < nodes; i++) free(through.lists[i].items);
    free(through.lists);
    if (!status && needs->count) qsort(needs->items, needs->count, sizeof *needs->items, by_to);
    if (!status) merge(needs);
    return status;
}

uint64_t *cts_try_bytes_of(const struct cts_try_match *match, struct cts_error *error)
{
    const struct cts_flow_walk *const walk = &match->flow->walk;
    uint64_t *const bytes = cts_array_zeroed(match->stretch->op_count, sizeof *bytes, error);
    for (size_t i = 0; bytes && i < match->flow->order.node_count; i++) {
        const uint32_t op = match->op_of_node[i];
        if (op == CTS_TRIAL_NONE) continue;
        const bool is_copy = match->stretch->ops[op].kind == CTS_TRIAL_COPY;
        if (is_copy && strcmp(match->stretch->ops[op].name, "DtoD") != 0)
            continue; /* a bus decides */
        bytes[op] = walk->uses[i].read_bytes + walk->uses[i].written_bytes;
    }
    return bytes;
}
