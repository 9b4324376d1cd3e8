/* Order that data does not need: docs/flow.md, 'Needless order'.
 *
 * Three lengths are worked out for every node, in call order: of the longest chain of works
 * (launches, copies, memsets) that ends there if each follows the one before by the order of the
 * program (enforced), by data or by what the host waited for (needed), and by true dependences or
 * what the host waited for (raw). What precedes a node is a prefix of each chain, so that a chain
 * keeps the largest lengths of its prefixes.
 *
 * The links of one longest enforced chain that are not needed are the findings. Nothing orders a
 * work between the two ends of such a link: it would make the chain longer.
 *
 * n nodes, e edges, c chains: O(n c log n + e) time. */
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-findings.h"
#include "common/array.h"
#include "common/search.h"

struct lengths {
    uint32_t enforced, needed, raw;
    uint32_t raw_work; /* the last work of the chain that `raw` counts */
};

/* A prefix of a chain. */
struct prefix {
    uint32_t position;           /* of its last node */
    uint32_t work;               /* the last work; CTS_NONE: none */
    struct lengths most;         /* of its nodes */
    struct lengths most_unknown; /* of its nodes whose accesses are not all known */
};

struct chain {
    struct prefix *items;
    size_t count, capacity;
};

struct judge {
    struct cts_flow_result *flow;
    const struct cts_flow_facts *facts;
    struct lengths *lengths; /* by node */
    uint32_t *raw_before; /* by node: the work before it on a longest chain of true dependences */
    struct chain *chains; /* of the rank at hand */
    uint32_t chain_count;
    uint32_t *seen; /* by node: the later end of the link for which it was looked at, + 1 */
    size_t edge;    /* the first whose `to` is not yet passed */
};

static bool is_work(const struct cts_flow_node *node)
{
    return node->kind <= CTS_FLOW_MEMSET;
}

static void take_raw(struct lengths *most, struct lengths other)
{
    if (most->raw >= other.raw) return;
    most->raw = other.raw;
    most->raw_work = other.raw_work;
}

static void take_most(struct lengths *most, struct lengths other)
{
    if (most->enforced < other.enforced) most->enforced = other.enforced;
    if (most->needed < other.needed) most->needed = other.needed;
    take_raw(most, other);
}

/* The prefix of a chain that has `count` places; NULL: no node is in it. */
static const struct prefix *prefix_of(const struct chain *chain, uint32_t count)
{
    const size_t end = CTS_SEARCH(chain->count, i, chain->items[i].position < count);
    return end ? &chain->items[end - 1] : NULL;
}

static const uint32_t *clock_at(const struct judge *judge, size_t place)
{
    return judge->flow->order.clocks.items + place;
}

/* ---- lengths ---- */

/* What precedes the node in the order of the program. */
static struct prefix preceding(const struct judge *judge, const struct cts_flow_node *node)
{
    struct prefix all = {.work = CTS_NONE};
    for (uint32_t i = 0; i < judge->chain_count; i++) {
        const struct prefix *const one = prefix_of(
            &judge->chains[i], i == node->chain ? node->position : clock_at(judge, node->clock)[i]);
        if (!one) continue;
        take_most(&all.most, one->most);
        take_most(&all.most_unknown, one->most_unknown);
    }
    return all;
}

static struct lengths known_to_host(const struct judge *judge, const struct cts_flow_node *node)
{
    struct lengths most = {0};
    for (uint32_t i = 0; i < judge->chain_count; i++) {
        const struct prefix *const one =
            prefix_of(&judge->chains[i], clock_at(judge, node->host_clock)[i]);
        if (one) take_most(&most, one->most);
    }
    return most;
}

static struct lengths along_edges(struct judge *judge, uint32_t node)
{
    const struct cts_flow_walk *const walk = &judge->flow->walk;
    struct lengths most = {0};
    for (; judge->edge < walk->edge_count && walk->edges[judge->edge].to == node; judge->edge++) {
        const struct cts_flow_edge *const edge = &walk->edges[judge->edge];
        if (!cts_flow_has_data(edge)) continue;
        const struct lengths from = judge->lengths[edge->from];
        if (most.needed < from.needed) most.needed = from.needed;
        const bool is_true = edge->raw_bytes || cts_flow_shows_through(judge->flow, edge);
        if (is_true) take_raw(&most, from);
    }
    return most;
}

static struct lengths measure(struct judge *judge, uint32_t index)
{
    const struct cts_flow_node *const node = &judge->flow->order.nodes[index];
    const struct prefix before = preceding(judge, node);
    const bool is_free = node->kind == CTS_FLOW_ALLOCATION || node->kind == CTS_FLOW_FREE;
    struct lengths lengths = along_edges(judge, index);
    lengths.enforced = before.most.enforced;
    if (is_work(node) && !cts_flow_is_unknown(judge->flow, index)) {
        const struct lengths host = known_to_host(judge, node);
        if (lengths.needed < host.needed) lengths.needed = host.needed;
        take_raw(&lengths, host);
        if (lengths.needed < before.most_unknown.needed)
            lengths.needed = before.most_unknown.needed;
        take_raw(&lengths, before.most_unknown);
    } else if (!is_free || !node->is_in_stream) {
        lengths = before.most;
    }
    judge->raw_before[index] = lengths.raw ? lengths.raw_work : CTS_NONE;
    if (!is_work(node)) return lengths;
    lengths.enforced++;
    lengths.needed++;
    lengths.raw++;
    lengths.raw_work = index;
    return lengths;
}

static enum cts_status append(struct judge *judge, uint32_t index, struct cts_error *error)
{
    const struct cts_flow_node *const node = &judge->flow->order.nodes[index];
    struct chain *const chain = &judge->chains[node->chain];
    struct prefix next = {.work = CTS_NONE};
    if (chain->count) next = chain->items[chain->count - 1];
    next.position = node->position;
    if (is_work(node)) next.work = index;
    take_most(&next.most, judge->lengths[index]);
    if (is_work(node) && cts_flow_is_unknown(judge->flow, index))
        take_most(&next.most_unknown, judge->lengths[index]);
    if (CTS_ARRAY_RESERVE(chain, chain->count + 1, error)) return CTS_MEMORY;
    chain->items[chain->count++] = next;
    return CTS_OK;
}

/* ---- findings ---- */

/* The work before `node` on a longest enforced chain; CTS_NONE: it is the first. */
static uint32_t link_before(const struct judge *judge, uint32_t index)
{
    const struct cts_flow_node *const node = &judge->flow->order.nodes[index];
    const uint32_t wanted = judge->lengths[index].enforced - 1;
    uint32_t found = CTS_NONE;
    for (uint32_t i = 0; wanted && i < judge->chain_count; i++) {
        const struct prefix *const one = prefix_of(
            &judge->chains[i], i == node->chain ? node->position : clock_at(judge, node->clock)[i]);
        if (!one || one->work == CTS_NONE || judge->lengths[one->work].enforced != wanted) continue;
        if (found == CTS_NONE || found < one->work) found = one->work;
    }
    return found;
}

/* How data orders u before v, with no work between them. */
struct reason {
    bool has_raw, has_any;
    uint64_t bytes; /* that are reused */
    uint32_t allocation;
    uint64_t most_bytes; /* in it */
};

static void look_along(const struct judge *judge, uint32_t from, uint32_t v, struct reason *reason)
{
    const struct cts_flow_result *const flow = judge->flow;
    for (size_t i = judge->facts->from_begin[from]; i < judge->facts->from_begin[from + 1]; i++) {
        const struct cts_flow_edge *const edge = &flow->walk.edges[judge->facts->from_edges[i]];
        const uint8_t kind = flow->order.nodes[edge->to].kind;
        if (!cts_flow_has_data(edge)) continue;
        if (edge->to != v) {
            const bool is_end = kind == CTS_FLOW_ALLOCATION || kind == CTS_FLOW_FREE;
            if (edge->to > v || !is_end || judge->seen[edge->to] == v + 1) continue;
            judge->seen[edge->to] = v + 1;
            look_along(judge, edge->to, v, reason);
            continue;
        }
        const uint64_t bytes = edge->war_bytes + edge->waw_bytes + edge->end_bytes;
        reason->has_raw |= edge->raw_bytes > 0 || cts_flow_shows_through(flow, edge);
        reason->has_any = true;
        reason->bytes += bytes;
        if (reason->most_bytes >= bytes && reason->allocation != CTS_NONE) continue;
        reason->most_bytes = bytes;
        reason->allocation = edge->allocation;
    }
}

static enum cts_status judge_link(const struct judge *judge, uint32_t u, uint32_t v,
                                  struct lengths longest, struct cts_error *error)
{
    struct cts_flow_result *const flow = judge->flow;
    struct reason reason = {.allocation = CTS_NONE};
    if (cts_flow_is_required(flow, u, v)) return CTS_OK;
    look_along(judge, u, v, &reason);
    if (reason.has_raw || (reason.has_any ? longest.raw : longest.needed) == longest.enforced)
        return CTS_OK;
    const uint64_t a = cts_flow_touched_bytes(flow, u), b = cts_flow_touched_bytes(flow, v);
    const struct cts_flow_finding finding = {.kind = reason.has_any ? CTS_FLOW_REUSE_ORDER
                                                                    : CTS_FLOW_NEEDLESS_ORDER,
                                             .reason = judge->facts->has_gaps ? CTS_FLOW_REASON_ROWS
                                                       : flow->knows_calls ? CTS_FLOW_REASON_CERTAIN
                                                                           : CTS_FLOW_REASON_GRAPHS,
                                             .node = u,
                                             .other = v,
                                             .allocation = reason.allocation,
                                             .saved_bytes = a < b ? a : b,
                                             .bytes = reason.has_any ? reason.bytes
                                                      : a < b        ? a
                                                                     : b};
    return cts_flow_add(flow, &finding, error);
}

/* ---- a rank ---- */

/* Marks the two chains of a rank: `last` ends the enforced one, `last_raw` that of true
 * dependences. */
static void mark_chains(const struct judge *judge, uint32_t last, uint32_t last_raw)
{
    uint8_t *const marks = judge->flow->chain_marks;
    memset(marks, 0, judge->flow->order.node_count);
    for (; last != CTS_NONE; last = link_before(judge, last)) marks[last] |= CTS_FLOW_ON_ENFORCED;
    for (; last_raw != CTS_NONE; last_raw = judge->raw_before[last_raw])
        marks[last_raw] |= CTS_FLOW_ON_TRUE;
}

static enum cts_status judge_chain(const struct judge *judge, uint32_t last, struct lengths longest,
                                   struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    while (!status && last != CTS_NONE) {
        const uint32_t before = link_before(judge, last);
        if (before != CTS_NONE) status = judge_link(judge, before, last, longest, error);
        last = before;
    }
    return status;
}

static enum cts_status measure_rank(struct judge *judge, uint32_t begin, uint32_t end,
                                    struct cts_error *error)
{
    struct cts_flow_result *const flow = judge->flow;
    struct lengths longest = {0};
    uint32_t last = CTS_NONE;
    enum cts_status status = CTS_OK;
    for (uint32_t i = begin; i < end && !status; i++) {
        judge->lengths[i] = measure(judge, i);
        if (is_work(&flow->order.nodes[i]) && judge->lengths[i].enforced > longest.enforced)
            last = i;
        take_most(&longest, judge->lengths[i]);
        status = append(judge, i, error);
    }
    if (!status) status = judge_chain(judge, last, longest, error);
    if (!status && flow->longest_enforced < longest.enforced) {
        mark_chains(judge, last, longest.raw ? longest.raw_work : CTS_NONE);
        flow->longest_enforced = longest.enforced;
        flow->longest_needed = longest.needed;
        flow->longest_raw = longest.raw;
    }
    return status;
}

static enum cts_status start_rank(struct judge *judge, uint32_t rank, struct cts_error *error)
{
    const struct cts_flow_order *const order = &judge->flow->order;
    const size_t index = CTS_SEARCH(order->rank_count, i, order->ranks[i] < rank);
    judge->chain_count = order->chain_counts[index];
    judge->chains = cts_array_zeroed(judge->chain_count, sizeof *judge->chains, error);
    return judge->chains ? CTS_OK : CTS_MEMORY;
}

static void end_rank(struct judge *judge)
{
    for (uint32_t i = 0; judge->chains && i < judge->chain_count; i++) free(judge->chains[i].items);
    free(judge->chains);
    judge->chains = NULL;
}

enum cts_status cts_flow_find_needless_order(struct cts_flow_result *flow,
                                             const struct cts_flow_facts *facts,
                                             struct cts_error *error)
{
    const struct cts_flow_order *const order = &flow->order;
    struct judge judge = {.flow = flow, .facts = facts};
    if (flow->catalogue->host_function_count) return CTS_OK; /* they may need any order */
    judge.lengths = cts_array_zeroed(order->node_count, sizeof *judge.lengths, error);
    judge.seen = cts_array_zeroed(order->node_count, sizeof *judge.seen, error);
    judge.raw_before = cts_array_zeroed(order->node_count, sizeof *judge.raw_before, error);
    flow->chain_marks = cts_array_zeroed(order->node_count, sizeof *flow->chain_marks, error);
    enum cts_status status =
        judge.lengths && judge.seen && judge.raw_before && flow->chain_marks ? CTS_OK : CTS_MEMORY;
    for (uint32_t begin = 0, end; begin < order->node_count && !status; begin = end) {
        const uint32_t rank = order->nodes[begin].rank;
        for (end = begin; end < order->node_count && order->nodes[end].rank == rank;) end++;
        status = start_rank(&judge, rank, error);
        if (!status) status = measure_rank(&judge, begin, end, error);
        end_rank(&judge);
    }
    free(judge.lengths);
    free(judge.seen);
    free(judge.raw_before);
    return status;
}
