#include "analyze/try/try-match.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

struct numbers {
    uint32_t *op_of_launch, *op_of_copy, *op_of_wait; /* by number */
    size_t launch_count, copy_count, wait_count;
};

static size_t count_of(const struct cts_stretch *stretch, bool (*is_kind)(uint32_t kind))
{
    size_t count = 0;
    for (size_t i = 0; i < stretch->op_count; i++) {
        const struct cts_trial_op *const op = &stretch->ops[i];
        if (is_kind(op->kind) && op->number != CTS_TRIAL_NONE && op->number >= count)
            count = (size_t)op->number + 1;
    }
    return count;
}

static bool is_launch(uint32_t kind)
{
    return kind == CTS_TRIAL_LAUNCH;
}
static bool is_copy(uint32_t kind)
{
    return kind == CTS_TRIAL_COPY || kind == CTS_TRIAL_MEMSET;
}
static bool is_wait(uint32_t kind)
{
    return kind == CTS_TRIAL_WAIT;
}

static uint32_t *index_ops(const struct cts_stretch *stretch, bool (*is_kind)(uint32_t kind),
                           size_t *count, struct cts_error *error)
{
    *count = count_of(stretch, is_kind);
    uint32_t *const ops = cts_array_zeroed(*count, sizeof *ops, error);
    for (size_t i = 0; ops && i < *count; i++) ops[i] = CTS_TRIAL_NONE;
    for (size_t i = 0; ops && i < stretch->op_count; i++) {
        const struct cts_trial_op *const op = &stretch->ops[i];
        if (is_kind(op->kind) && op->number != CTS_TRIAL_NONE) ops[op->number] = (uint32_t)i;
    }
    return ops;
}

static uint32_t look_up(const uint32_t *ops, size_t count, uint32_t number)
{
    return number < count ? ops[number] : CTS_TRIAL_NONE;
}

/* ---- checks ---- */

static enum cts_status check_launch(const struct cts_try_match *match,
                                    const struct cts_launch *launch, uint32_t index,
                                    struct cts_error *error)
{
    const struct cts_trial_op *const op = &match->stretch->ops[index];
    const struct cts_catalogue *const c = match->flow->catalogue;
    const char *const name = c->kernels[launch->kernel].name;
    const char *const mangled = c->kernels[launch->kernel].mangled;
    if (strcmp(name, op->name) != 0 && (!mangled || strcmp(mangled, op->name) != 0))
        return cts_fail(error, CTS_USAGE,
                        "the recording is not of this execution: its launch %u is kernel '%.200s', "
                        "not '%.200s'",
                        launch->launch, name, op->name);
    if (memcmp(launch->grid, op->grid, sizeof op->grid) != 0 ||
        memcmp(launch->block, op->block, sizeof op->block) != 0 || launch->ordinal != op->ordinal)
        return cts_fail(error, CTS_USAGE,
                        "the recording is not of this execution: its launch %u of '%.200s' has "
                        "another grid, block or place in its stream",
                        launch->launch, name);
    return CTS_OK;
}

static enum cts_status check_copy(const struct cts_try_match *match, const struct cts_copy *copy,
                                  uint32_t index, struct cts_error *error)
{
    const struct cts_trial_op *const op = &match->stretch->ops[index];
    if (copy->width_bytes * copy->height * copy->depth == op->bytes) return CTS_OK;
    return cts_fail(error, CTS_USAGE,
                    "the recording is not of this execution: its copy %u has %llu bytes, not %llu",
                    copy->copy,
                    (unsigned long long)(copy->width_bytes * copy->height * copy->depth),
                    (unsigned long long)op->bytes);
}

/* ---- the map ---- */

static enum cts_status map_node(struct cts_try_match *match, const struct numbers *numbers,
                                size_t node, struct cts_error *error)
{
    const struct cts_catalogue *const c = match->flow->catalogue;
    const struct cts_flow_node *const n = &match->flow->order.nodes[node];
    uint32_t *const op = &match->op_of_node[node];
    *op = CTS_TRIAL_NONE;
    if (n->kind == CTS_FLOW_LAUNCH) {
        const struct cts_launch *const launch = &c->launches[n->index];
        *op = look_up(numbers->op_of_launch, numbers->launch_count, launch->launch);
        return *op == CTS_TRIAL_NONE ? CTS_OK : check_launch(match, launch, *op, error);
    }
    if (n->kind == CTS_FLOW_COPY || n->kind == CTS_FLOW_MEMSET) {
        const struct cts_copy *const copy = &c->copies[n->index];
        *op = look_up(numbers->op_of_copy, numbers->copy_count, copy->copy);
        return *op == CTS_TRIAL_NONE ? CTS_OK : check_copy(match, copy, *op, error);
    }
    return CTS_OK;
}

/* Rows that wait for something to end have the numbers of the program's waits, in their order. */
static void map_syncs(struct cts_try_match *match, const struct numbers *numbers)
{
    const struct cts_catalogue *const c = match->flow->catalogue;
    uint32_t number = 0;
    for (size_t i = 0; i < c->sync_count; i++) {
        match->op_of_sync[i] = cts_flow_is_wait(&c->syncs[i])
                                   ? look_up(numbers->op_of_wait, numbers->wait_count, number++)
                                   : CTS_TRIAL_NONE;
    }
}

/* Every operation of the stretch has to be in the recording. */
static enum cts_status check_all(const struct cts_try_match *match, struct cts_error *error)
{
    size_t found = 0, asked = 0;
    for (size_t i = 0; i < match->flow->order.node_count; i++)
        found += match->op_of_node[i] != CTS_TRIAL_NONE;
    for (size_t i = 0; i < match->stretch->op_count; i++)
        asked += match->stretch->ops[i].kind != CTS_TRIAL_WAIT;
    if (found >= asked) return CTS_OK;
    return cts_fail(
        error, CTS_USAGE,
        "the recording is not of this execution: it has %zu of the %zu launches, copies "
        "and memsets of the stretch",
        found, asked);
}

enum cts_status cts_try_match_make(const struct cts_flow_result *flow,
                                   const struct cts_stretch *stretch, struct cts_try_match *match,
                                   struct cts_error *error)
{
    struct numbers n = {0};
    *match = (struct cts_try_match){.flow = flow, .stretch = stretch};
    if (flow->catalogue->rank_count > 1)
        return cts_fail(error, CTS_USAGE, "the recording has %zu processes; try takes one of one",
                        flow->catalogue->rank_count);
    const size_t nodes = flow->order.node_count, syncs = flow->catalogue->sync_count;
    match->op_of_node = cts_array_zeroed(nodes, sizeof *match->op_of_node, error);
    match->op_of_sync = cts_array_zeroed(syncs, sizeof *match->op_of_sync, error);
    n.op_of_launch = index_ops(stretch, is_launch, &n.launch_count, error);
    n.op_of_copy = index_ops(stretch, is_copy, &n.copy_count, error);
    n.op_of_wait = index_ops(stretch, is_wait, &n.wait_count, error);
    const bool good =
        match->op_of_node && match->op_of_sync && n.op_of_launch && n.op_of_copy && n.op_of_wait;
    enum cts_status status = good ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; i < nodes && !status; i++) status = map_node(match, &n, i, error);
    if (!status) map_syncs(match, &n);
    if (!status) status = check_all(match, error);
    free(n.op_of_launch);
    free(n.op_of_copy);
    free(n.op_of_wait);
    if (status) cts_try_match_release(match);
    return status;
}

void cts_try_match_release(struct cts_try_match *match)
{
    free(match->op_of_node);
    free(match->op_of_sync);
    *match = (struct cts_try_match){0};
}

/* ---- what data requires ---- */

static int by_to(const void *left, const void *right)
{
    const struct cts_try_need *const a = left, *const b = right;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* Edges of several allocations become one. */
static void merge(struct cts_try_needs *needs)
{
    size_t kept = 0;
    for (size_t i = 0; i < needs->count; i++) {
        struct cts_try_need *const last = kept ? &needs->items[kept - 1] : NULL;
        const struct cts_try_need *const item = &needs->items[i];
        if (last && last->from == item->from && last->to == item->to) {
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
    struct cts_try_need need = {from, to, edge->raw_bytes, edge->war_bytes, edge->waw_bytes};
    if (from != CTS_TRIAL_NONE && to != CTS_TRIAL_NONE) return add_need(needs, &need, error);
    struct cts_try_list one = {&need.from, from != CTS_TRIAL_NONE, 0};
    const struct cts_try_list *const before =
        from != CTS_TRIAL_NONE ? &one : &through->lists[edge->from];
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < before->count && !status; i++) {
        if (to == CTS_TRIAL_NONE) {
            status = add_to_list(&through->lists[edge->to], before->items[i], error);
        } else {
            const struct cts_try_need passed = {before->items[i], to, 0, 0, edge->end_bytes};
            status = add_need(needs, &passed, error);
        }
    }
    return status;
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
    for (size_t i = 0; through.lists && i < nodes; i++) free(through.lists[i].items);
    free(through.lists);
    if (!status && needs->count) qsort(needs->items, needs->count, sizeof *needs->items, by_to);
    if (!status) merge(needs);
    return status;
}
