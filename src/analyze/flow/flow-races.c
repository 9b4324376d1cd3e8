/* A pair that conflicts and is not ordered is a race, unless something that a run does not show may
 * have ordered it: then the pair is asked at each level that adds such order, and the first that
 * orders it gives the reason. */
#include <stdlib.h>

#include "analyze/flow/flow-findings.h"
#include "common/array.h"
#include "common/map.h"

struct judge {
    struct cts_flow_result *flow;
    const struct cts_flow_facts *facts;
    struct cts_flow_order levels[CTS_FLOW_LEVELS]; /* [0] is not made */
};

static enum cts_flow_reason reason_of(const struct judge *judge, const struct cts_flow_edge *edge)
{
    static const enum cts_flow_reason reasons[CTS_FLOW_LEVELS] = {
        [CTS_FLOW_THREADS] = CTS_FLOW_REASON_THREADS,
        [CTS_FLOW_CALLS] = CTS_FLOW_REASON_CALLS,
        [CTS_FLOW_SIGNALS] = CTS_FLOW_REASON_TOLD};
    const struct cts_flow_order *const order = &judge->flow->order;
    const uint32_t u = edge->from, v = edge->to;
    if (judge->facts->has_gaps) return CTS_FLOW_REASON_ROWS;
    for (unsigned level = 1; level < CTS_FLOW_LEVELS; level++)
        if (cts_flow_is_ordered(&judge->levels[level], u, v)) return reasons[level];
    if (cts_flow_gate(order, v) > order->nodes[u].op ||
        cts_flow_gate(order, u) > order->nodes[v].op)
        return CTS_FLOW_REASON_FUNCTION;
    if (judge->flow->walk.signal_group[u] == judge->flow->walk.signal_group[v])
        return CTS_FLOW_REASON_SIGNAL;
    return CTS_FLOW_REASON_CERTAIN;
}

static enum cts_status judge_edges(struct judge *judge, struct cts_error *error)
{
    struct cts_flow_result *const flow = judge->flow;
    enum cts_status status = CTS_OK;
    for (size_t e = 0; e < flow->walk.edge_count && !status; e++) {
        const struct cts_flow_edge *const edge = &flow->walk.edges[e];
        if (!edge->race_bytes) continue;
        const enum cts_flow_reason reason = reason_of(judge, edge);
        const struct cts_flow_finding finding = {.kind = reason ? CTS_FLOW_POSSIBLE_RACE
                                                                : CTS_FLOW_RACE,
                                                 .reason = reason,
                                                 .node = edge->from,
                                                 .other = edge->to,
                                                 .allocation = edge->allocation,
                                                 .bytes = edge->race_bytes,
                                                 .first = edge->first,
                                                 .end = edge->end};
        *(reason ? &flow->possible_pairs : &flow->race_pairs) += 1;
        status = cts_flow_add(flow, &finding, error);
    }
    return status;
}

/* Pairs of nodes with common bytes that are ordered. */
static enum cts_status count_ordered(struct cts_flow_result *flow, struct cts_error *error)
{
    uint32_t to = CTS_NONE, from = CTS_NONE;
    (void)error;
    for (size_t e = 0; e < flow->walk.edge_count; e++) {
        const struct cts_flow_edge *const edge = &flow->walk.edges[e];
        const bool conflicts = edge->raw_bytes || edge->war_bytes || edge->waw_bytes;
        if (!edge->is_ordered || !conflicts || (edge->to == to && edge->from == from)) continue;
        flow->ordered_pairs++;
        to = edge->to;
        from = edge->from;
    }
    return CTS_OK;
}

static bool touches(const struct cts_flow_node *node)
{
    return node->kind != CTS_FLOW_ALLOCATION && node->kind != CTS_FLOW_FREE;
}

static void count_unjudged(struct cts_flow_result *flow)
{
    const struct cts_flow_order *const order = &flow->order;
    for (size_t i = 0; i < order->node_count; i++) {
        const struct cts_flow_use *const use = &flow->walk.uses[i];
        if (!use->hides_loads && !use->hides_stores) continue;
        flow->hiding_launches++;
        for (size_t k = 0; k < order->node_count; k++) {
            const struct cts_flow_use *const other = &flow->walk.uses[k];
            const bool is_counted = k < i && (other->hides_loads || other->hides_stores);
            if (k == i || is_counted || order->nodes[k].rank != order->nodes[i].rank ||
                !touches(&order->nodes[k]))
                continue;
            flow->unjudged_pairs += !cts_flow_is_ordered(order, i, k);
        }
    }
}

static bool any_race(const struct cts_flow_result *flow)
{
    for (size_t e = 0; e < flow->walk.edge_count; e++)
        if (flow->walk.edges[e].race_bytes) return true;
    return false;
}

enum cts_status cts_flow_find_races(struct cts_flow_result *flow,
                                    const struct cts_flow_facts *facts, struct cts_error *error)
{
    struct judge judge = {.flow = flow, .facts = facts};
    count_unjudged(flow);
    enum cts_status status = count_ordered(flow, error);
    if (status || !any_race(flow)) return status;
    for (unsigned level = 1; level < CTS_FLOW_LEVELS && !status; level++) {
        const struct cts_flow_order_options options = {.level = (enum cts_flow_level)level,
                                                       .tells_host = flow->walk.tells_host};
        status = cts_flow_order_make(flow->catalogue, &options, &judge.levels[level], error);
    }
    if (!status) status = judge_edges(&judge, error);
    for (unsigned level = 1; level < CTS_FLOW_LEVELS; level++)
        cts_flow_order_release(&judge.levels[level]);
    return status;
}
