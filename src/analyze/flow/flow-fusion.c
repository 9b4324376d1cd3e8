/* Two launches that can be one kernel, so that what passes between them stays in registers or
 * shared memory: docs/flow.md, 'Fusion'. */
#include <stdlib.h>

#include "analyze/flow/flow-findings.h"
#include "common/array.h"

/* What passes from one launch to another, and whether that can be one kernel. */
struct candidate {
    struct cts_flow_pair pair;
    uint32_t from, to; /* nodes */
    uint32_t allocation;
    uint64_t saved_bytes;
    bool is_left; /* some of what passes is still there when the run ends */
};

struct candidates {
    const struct cts_flow_result *flow;
    const struct cts_flow_facts *facts;
    size_t *seen; /* by node: the pair for which it was looked at last */
    size_t pairs; /* for which detours were looked for */
    struct candidate *items;
    size_t count, capacity;
};

/* ---- which ---- */

static bool is_device_memory(const struct cts_flow_result *flow, uint32_t allocation)
{
    const char *const kind =
        allocation == CTS_NONE ? NULL : flow->catalogue->allocations[allocation].kind;
    return kind && kind[0] == 'd'; /* device */
}

/* Whether another node than `to` reads what `from` wrote to an allocation. */
static bool has_other_reader(const struct candidates *c, const struct cts_flow_edge *edge)
{
    for (size_t i = c->facts->from_begin[edge->from]; i < c->facts->from_begin[edge->from + 1];
         i++) {
        const struct cts_flow_edge *const other = &c->flow->walk.edges[c->facts->from_edges[i]];
        if (other->to != edge->to && other->allocation == edge->allocation &&
            (other->raw_bytes || other->race_bytes))
            return true;
    }
    return false;
}

/* Whether nothing stores over what `from` wrote to an allocation, nor frees it. */
static bool is_left(const struct candidates *c, const struct cts_flow_edge *edge)
{
    for (size_t i = c->facts->from_begin[edge->from]; i < c->facts->from_begin[edge->from + 1];
         i++) {
        const struct cts_flow_edge *const other = &c->flow->walk.edges[c->facts->from_edges[i]];
        if (other->allocation == edge->allocation && (other->waw_bytes || other->end_bytes))
            return false;
    }
    return true;
}

/* Whether data orders `to` after a node that data orders after `from`, also where the program has
 * forgotten that order: a race. */
static bool has_detour(struct candidates *c, uint32_t from, uint32_t at, uint32_t to)
{
    for (size_t i = c->facts->from_begin[at]; i < c->facts->from_begin[at + 1]; i++) {
        const struct cts_flow_edge *const edge = &c->flow->walk.edges[c->facts->from_edges[i]];
        if ((!cts_flow_has_data(edge) && !edge->race_bytes) || edge->to > to) continue;
        if (edge->to == to) {
            if (at != from) return true;
            continue;
        }
        if (c->seen[edge->to] == c->pairs) continue;
        c->seen[edge->to] = c->pairs;
        if (has_detour(c, from, edge->to, to)) return true;
    }
    return false;
}

/* The pair of the edges [begin, end), which have the same two nodes. */
static enum cts_status look_at_pair(struct candidates *c, size_t begin, size_t end,
                                    struct cts_error *error)
{
    const struct cts_flow_result *const flow = c->flow;
    const struct cts_flow_edge *const edges = flow->walk.edges;
    const uint32_t u = edges[begin].from, v = edges[begin].to;
    const struct cts_flow_node *const from = &flow->order.nodes[u], *const to =
                                                                        &flow->order.nodes[v];
    struct candidate found = {
        .pair = {.from = from->index, .to = to->index}, .from = u, .to = v, .allocation = CTS_NONE};
    uint64_t most = 0;
    if (from->kind != CTS_FLOW_LAUNCH || to->kind != CTS_FLOW_LAUNCH) return CTS_OK;
    for (size_t e = begin; e < end; e++) {
        const struct cts_flow_edge *const edge = &edges[e];
        if (!edge->is_ordered || edge->commuting_bytes) return CTS_OK;
        found.pair.raw_bytes += edge->raw_bytes;
        found.pair.has_overwrites |= edge->war_bytes || edge->waw_bytes;
        if (!edge->raw_bytes || !is_device_memory(flow, edge->allocation)) continue;
        const uint64_t saved = edge->raw_bytes * (has_other_reader(c, edge) ? 1 : 2);
        found.saved_bytes += saved;
        found.is_left |= is_left(c, edge);
        if (saved > most) found.allocation = edge->allocation;
        if (saved > most) most = saved;
    }
    const uint64_t touched = cts_flow_touched_bytes(flow, u) + cts_flow_touched_bytes(flow, v);
    if (!found.saved_bytes || found.saved_bytes < touched / 8 || cts_flow_is_required(flow, u, v))
        return CTS_OK;
    c->pairs++;
    if (has_detour(c, u, u, v)) return CTS_OK;
    if (CTS_ARRAY_RESERVE(c, c->count + 1, error)) return CTS_MEMORY;
    c->items[c->count++] = found;
    return CTS_OK;
}

static int compare_launches(const struct cts_launch *a, const struct cts_launch *b)
{
    if (a->kernel != b->kernel) return a->kernel < b->kernel ? -1 : 1;
    for (unsigned i = 0; i < 3; i++)
        if (a->grid[i] != b->grid[i]) return a->grid[i] < b->grid[i] ? -1 : 1;
    return 0;
}

static bool is_like(const struct cts_launch *launches, const struct candidate *a,
                    const struct candidate *b)
{
    return a->pair.raw_bytes == b->pair.raw_bytes &&
           !compare_launches(&launches[a->pair.from], &launches[b->pair.from]) &&
           !compare_launches(&launches[a->pair.to], &launches[b->pair.to]);
}

/* Where the run ends, nobody reads what a longer run would: of the last step of a loop, the stores
 * are spared only if they are in the step before. */
static void settle_last(const struct candidates *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct candidate *const last = &c->items[i];
        if (!last->is_left) continue;
        size_t k = i;
        while (k > 0 && !is_like(c->flow->catalogue->launches, &c->items[k - 1], last)) k--;
        if (k > 0 && c->items[k - 1].saved_bytes < last->saved_bytes)
            last->saved_bytes = c->items[k - 1].saved_bytes;
    }
}

static enum cts_status collect(struct candidates *c, struct cts_error *error)
{
    const struct cts_flow_walk *const walk = &c->flow->walk;
    enum cts_status status = CTS_OK;
    for (size_t begin = 0, end; begin < walk->edge_count && !status; begin = end) {
        for (end = begin + 1; end < walk->edge_count &&
                              walk->edges[end].to == walk->edges[begin].to &&
                              walk->edges[end].from == walk->edges[begin].from;)
            end++;
        status = look_at_pair(c, begin, end, error);
    }
    if (!status) settle_last(c);
    return status;
}

/* ---- the same pair of kernels again ---- */

struct keyed {
    const struct cts_catalogue *catalogue;
    struct candidate candidate;
};

static int by_kernels(const void *left, const void *right)
{
    const struct keyed *const a = left, *const b = right;
    const struct cts_launch *const launches = a->catalogue->launches;
    const int from =
        compare_launches(&launches[a->candidate.pair.from], &launches[b->candidate.pair.from]);
    if (from) return from;
    const int to =
        compare_launches(&launches[a->candidate.pair.to], &launches[b->candidate.pair.to]);
    if (to) return to;
    const uint64_t x = a->candidate.saved_bytes, y = b->candidate.saved_bytes;
    return (x > y) - (x < y);
}

static int by_kernels_and_place(const void *left, const void *right)
{
    const struct keyed *const a = left, *const b = right;
    const int key = by_kernels(left, right);
    if (key) return key;
    if (a->candidate.to != b->candidate.to) return a->candidate.to < b->candidate.to ? -1 : 1;
    return (a->candidate.from > b->candidate.from) - (a->candidate.from < b->candidate.from);
}

static enum cts_status add(struct cts_flow_result *flow, const struct cts_flow_facts *facts,
                           const struct candidate *candidate,
                           const struct cts_flow_mapping *mapping, struct cts_error *error)
{
    const struct cts_flow_finding finding = {
        .kind = CTS_FLOW_FUSION,
        .reason = facts->has_gaps ? CTS_FLOW_REASON_ROWS
                  : cts_flow_is_hidden_after(flow, candidate->from, false)
                      ? CTS_FLOW_REASON_HIDDEN
                      : CTS_FLOW_REASON_CERTAIN,
        .node = candidate->from,
        .other = candidate->to,
        .allocation = candidate->allocation,
        .map = mapping->map,
        .bytes = candidate->saved_bytes + mapping->shared_bytes};
    return cts_flow_add(flow, &finding, error);
}

/* One pair of each kind is mapped: the first of those with the same kernels, grids and bytes. */
static enum cts_status judge(struct cts_flow_result *flow, const struct cts_flow_facts *facts,
                             const struct cts_flow_touch_options *options,
                             const struct candidates *c, struct cts_error *error)
{
    struct cts_flow_toucher *toucher = NULL;
    struct keyed *const keyed = cts_array_zeroed(c->count, sizeof *keyed, error);
    if (!keyed) return CTS_MEMORY;
    for (size_t i = 0; i < c->count; i++) keyed[i] = (struct keyed){flow->catalogue, c->items[i]};
    qsort(keyed, c->count, sizeof *keyed, by_kernels_and_place);
    struct cts_flow_mapping mapping = {.map = CTS_FLOW_MAP_OTHER};
    enum cts_status status = cts_flow_toucher_new(options, &toucher, error);
    for (size_t i = 0; i < c->count && !status; i++) {
        const struct candidate *const candidate = &keyed[i].candidate;
        if (i == 0 || by_kernels(&keyed[i - 1], &keyed[i]))
            status = cts_flow_map_pair(toucher, options->runs_at_a_time, &candidate->pair, &mapping,
                                       error);
        if (!status) flow->unmapped_pairs += mapping.is_too_much;
        if (!status && mapping.map) status = add(flow, facts, candidate, &mapping, error);
    }
    cts_flow_toucher_free(toucher);
    free(keyed);
    return status;
}

enum cts_status cts_flow_find_fusion(struct cts_flow_result *flow,
                                     const struct cts_flow_facts *facts,
                                     const struct cts_flow_touch_options *options,
                                     struct cts_error *error)
{
    struct candidates c = {.flow = flow, .facts = facts};
    c.seen = cts_array_zeroed(flow->order.node_count, sizeof *c.seen, error);
    enum cts_status status = c.seen ? collect(&c, error) : CTS_MEMORY;
    if (!status && c.count) status = judge(flow, facts, options, &c, error);
    free(c.items);
    free(c.seen);
    return status;
}
