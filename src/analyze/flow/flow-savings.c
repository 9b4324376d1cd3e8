/* What the fix of a finding saves: docs/flow.md, 'Savings'. */
#include <string.h>

#include "analyze/flow/flow-findings.h"

uint64_t cts_flow_touched_bytes(const struct cts_flow_result *flow, uint32_t node)
{
    return flow->walk.uses[node].read_bytes + flow->walk.uses[node].written_bytes;
}

static bool is_within_device(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_flow_node *const n = &flow->order.nodes[node];
    const char *const kind =
        n->kind == CTS_FLOW_COPY ? flow->catalogue->copies[n->index].kind : NULL;
    return kind && (!strcmp(kind, "DtoD") || !strcmp(kind, "PtoP"));
}

/* What goes through device memory no more. A copy within it reads and writes. */
uint64_t cts_flow_traffic(const struct cts_flow_result *flow,
                          const struct cts_flow_finding *finding)
{
    const uint64_t twice =
        finding->node != CTS_NONE && is_within_device(flow, finding->node) ? 2 : 1;
    switch (finding->kind) {
    case CTS_FLOW_DEAD_WORK:
        if (flow->order.nodes[finding->node].kind == CTS_FLOW_LAUNCH)
            return cts_flow_touched_bytes(flow, finding->node);
        return twice * finding->bytes;
    case CTS_FLOW_AVOIDABLE_COPY:
    case CTS_FLOW_REPEATED_COPY:
    case CTS_FLOW_OVERSIZED_COPY:
        return twice * finding->bytes;
    case CTS_FLOW_ROUND_TRIP:
        return 2 * finding->bytes;
    case CTS_FLOW_DEAD_BYTES:
    case CTS_FLOW_OVERWRITTEN_MEMSET:
    case CTS_FLOW_UNREAD_COPY:
    case CTS_FLOW_REPEATED_LAUNCH:
    case CTS_FLOW_FUSION:
        return finding->bytes;
    default:
        return 0;
    }
}

/* ---- time ---- */

static bool is_fully_known(const struct cts_flow_use *use)
{
    return !use->hides_loads && !use->hides_stores && !use->outside_bytes;
}

void cts_flow_find_rate(struct cts_flow_result *flow)
{
    flow->rate_node = CTS_NONE;
    for (uint32_t i = 0; flow->launch_ns && i < flow->order.node_count; i++) {
        const struct cts_flow_node *const node = &flow->order.nodes[i];
        if (node->kind != CTS_FLOW_LAUNCH || !is_fully_known(&flow->walk.uses[i])) continue;
        const uint64_t time_ns = flow->launch_ns[node->index];
        const uint64_t bytes = cts_flow_touched_bytes(flow, i);
        if (!time_ns || bytes < CTS_FLOW_RATE_BYTES) continue;
        const double rate = (double)bytes / (double)time_ns;
        if (rate <= flow->bytes_per_ns) continue;
        flow->bytes_per_ns = rate;
        flow->rate_node = i;
    }
}

uint64_t cts_flow_saved_ns(const struct cts_flow_result *flow,
                           const struct cts_flow_finding *finding)
{
    const bool is_whole =
        finding->kind == CTS_FLOW_DEAD_WORK || finding->kind == CTS_FLOW_REPEATED_LAUNCH;
    if (!flow->launch_ns) return 0;
    if (is_whole && flow->order.nodes[finding->node].kind == CTS_FLOW_LAUNCH)
        return flow->launch_ns[flow->order.nodes[finding->node].index];
    if (finding->kind == CTS_FLOW_ROUND_TRIP || flow->bytes_per_ns <= 0) return 0;
    return (uint64_t)((double)finding->traffic_bytes / flow->bytes_per_ns);
}
