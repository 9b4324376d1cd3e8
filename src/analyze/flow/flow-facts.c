#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-findings.h"
#include "common/array.h"

enum cts_status cts_flow_facts_make(const struct cts_flow_result *flow,
                                    struct cts_flow_facts *facts, struct cts_error *error)
{
    const struct cts_flow_walk *const walk = &flow->walk;
    const size_t nodes = flow->order.node_count;
    *facts = (struct cts_flow_facts){0};
    facts->from_begin = cts_array_zeroed(nodes + 1, sizeof *facts->from_begin, error);
    facts->from_edges = cts_array_zeroed(walk->edge_count, sizeof *facts->from_edges, error);
    if (!facts->from_begin || !facts->from_edges) {
        cts_flow_facts_release(facts);
        return CTS_MEMORY;
    }
    for (size_t e = 0; e < walk->edge_count; e++) facts->from_begin[walk->edges[e].from + 1]++;
    for (size_t i = 0; i < nodes; i++) facts->from_begin[i + 1] += facts->from_begin[i];
    for (size_t e = walk->edge_count; e-- > 0;)
        facts->from_edges[--facts->from_begin[walk->edges[e].from + 1]] = e;
    /* Now from_begin[n + 1] is where n begins. */
    for (size_t i = 0; i < nodes; i++) facts->from_begin[i] = facts->from_begin[i + 1];
    facts->from_begin[nodes] = walk->edge_count;
    const struct cts_catalogue *const c = flow->catalogue;
    facts->has_gaps = cts_gaps_any(&c->gaps);
    for (size_t i = 0; i < c->ending_count; i++) facts->has_gaps |= c->endings[i].rows_lost > 0;
    for (size_t i = 0; i < c->rank_count; i++) facts->is_unfinished |= !c->ranks[i].end_ns;
    return CTS_OK;
}

void cts_flow_facts_release(struct cts_flow_facts *facts)
{
    free(facts->from_begin);
    free(facts->from_edges);
    *facts = (struct cts_flow_facts){0};
}

/* What changes a program for less than the launch of a copy takes. */
static bool is_small(const struct cts_flow_result *flow, const struct cts_flow_finding *finding)
{
    switch (finding->kind) {
    case CTS_FLOW_DEAD_BYTES:
    case CTS_FLOW_OVERWRITTEN_MEMSET:
    case CTS_FLOW_OVERSIZED_COPY:
    case CTS_FLOW_UNREAD_COPY:
    case CTS_FLOW_NEEDLESS_ORDER:
    case CTS_FLOW_REUSE_ORDER:
        return finding->saved_bytes < flow->least_bytes;
    default:
        return false;
    }
}

enum cts_status cts_flow_add(struct cts_flow_result *flow, const struct cts_flow_finding *finding,
                             struct cts_error *error)
{
    if (is_small(flow, finding)) {
        flow->small_findings++;
        return CTS_OK;
    }
    if (flow->finding_count == flow->finding_capacity &&
        cts_array_grow((void **)&flow->findings, &flow->finding_capacity, flow->finding_count + 1,
                       sizeof *flow->findings, error))
        return CTS_MEMORY;
    flow->findings[flow->finding_count] = *finding;
    flow->findings[flow->finding_count].traffic_bytes = cts_flow_traffic(flow, finding);
    flow->findings[flow->finding_count].saved_ns =
        cts_flow_saved_ns(flow, &flow->findings[flow->finding_count]);
    flow->findings[flow->finding_count++].times = 1;
    return CTS_OK;
}

bool cts_flow_is_unknown(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_flow_use *const use = &flow->walk.uses[node];
    const struct cts_flow_node *const n = &flow->order.nodes[node];
    return use->hides_loads || use->hides_stores || use->outside_bytes ||
           (n->kind == CTS_FLOW_LAUNCH && flow->walk.tells_host[n->index]);
}

bool cts_flow_is_required(const struct cts_flow_result *flow, uint32_t u, uint32_t v)
{
    const struct cts_flow_order *const order = &flow->order;
    const struct cts_flow_node *const a = &order->nodes[u], *const b = &order->nodes[v];
    return cts_flow_is_unknown(flow, u) || cts_flow_is_unknown(flow, v) ||
           order->clocks.items[b->host_clock + a->chain] > a->position ||
           flow->walk.signal_group[u] == flow->walk.signal_group[v];
}

bool cts_flow_is_hidden_after(const struct cts_flow_result *flow, uint32_t node, bool stores)
{
    const struct cts_flow_order *const order = &flow->order;
    if (!flow->hiding_launches) return false;
    for (size_t i = 0; i < order->node_count; i++) {
        const struct cts_flow_use *const use = &flow->walk.uses[i];
        if (i != node && (stores ? use->hides_stores : use->hides_loads) &&
            order->nodes[i].rank == order->nodes[node].rank && !cts_flow_precedes(order, i, node))
            return true;
    }
    return false;
}
