/* Allocated and live device memory over the nodes in call order. */
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-findings.h"

static bool is_device(const struct cts_allocation *row)
{
    return row->kind && !strcmp(row->kind, "device");
}

static void find_peaks(struct cts_flow_result *flow)
{
    uint64_t allocated = 0;
    int64_t live = 0;
    flow->peak_node = CTS_NONE;
    for (uint32_t i = 0; i < flow->order.node_count; i++) {
        const struct cts_flow_node *const node = &flow->order.nodes[i];
        if (i && node->rank != flow->order.nodes[i - 1].rank) allocated = 0;
        live += flow->walk.live_bytes[i];
        if (live > 0 && (uint64_t)live > flow->live_peak_bytes)
            flow->live_peak_bytes = (uint64_t)live;
        const bool is_free = node->kind == CTS_FLOW_FREE;
        if (!is_free && node->kind != CTS_FLOW_ALLOCATION) continue;
        const struct cts_allocation *const row = &flow->catalogue->allocations[node->index];
        if (!is_device(row)) continue;
        allocated += is_free ? -row->size_bytes : row->size_bytes;
        if (is_free || allocated <= flow->allocated_peak_bytes) continue;
        flow->allocated_peak_bytes = allocated;
        flow->peak_node = i;
    }
}

static enum cts_status add(struct cts_flow_result *flow, enum cts_flow_finding_kind kind,
                           enum cts_flow_reason reason, size_t allocation, struct cts_error *error)
{
    const struct cts_allocation *const row = &flow->catalogue->allocations[allocation];
    const struct cts_flow_finding finding = {.kind = kind,
                                             .reason = reason,
                                             .node = CTS_NONE,
                                             .other = CTS_NONE,
                                             .allocation = (uint32_t)allocation,
                                             .bytes = row->size_bytes,
                                             .first = row->address,
                                             .end = row->address + row->size_bytes};
    return cts_flow_add(flow, &finding, error);
}

static enum cts_flow_reason reason_of(const struct cts_flow_result *flow,
                                      const struct cts_flow_facts *facts)
{
    if (facts->has_gaps || facts->is_unfinished) return CTS_FLOW_REASON_ROWS;
    if (flow->hiding_launches) return CTS_FLOW_REASON_HIDDEN;
    return flow->catalogue->rank_count > 1 ? CTS_FLOW_REASON_PROCESSES : CTS_FLOW_REASON_CERTAIN;
}

static enum cts_status judge_allocation(struct cts_flow_result *flow,
                                        const struct cts_flow_facts *facts, size_t index,
                                        struct cts_error *error)
{
    const struct cts_allocation *const row = &flow->catalogue->allocations[index];
    const struct cts_flow_allocation_use *const use = &flow->walk.allocations[index];
    if (!is_device(row) || !row->size_bytes) return CTS_OK;
    const enum cts_flow_reason reason = reason_of(flow, facts);
    if (!use->nodes) return add(flow, CTS_FLOW_UNUSED_ALLOCATION, reason, index, error);
    const struct cts_flow_node *const peak =
        flow->peak_node != CTS_NONE ? &flow->order.nodes[flow->peak_node] : NULL;
    if (!peak || peak->rank != row->rank || row->op >= peak->op || row->freed_op <= peak->op)
        return CTS_OK;
    if (use->last_node < flow->peak_node)
        return add(flow, CTS_FLOW_LATE_FREE, reason, index, error);
    return CTS_OK;
}

static enum cts_status add_stale_reads(struct cts_flow_result *flow,
                                       const struct cts_flow_facts *facts, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint32_t i = 0; i < flow->order.node_count && !status; i++) {
        const struct cts_flow_use *const use = &flow->walk.uses[i];
        if (!use->stale_bytes) continue;
        enum cts_flow_reason reason = CTS_FLOW_REASON_CERTAIN;
        if (facts->has_gaps) reason = CTS_FLOW_REASON_ROWS;
        for (size_t k = 0; k < flow->order.node_count && flow->hiding_launches; k++)
            if (flow->walk.uses[k].hides_stores && !cts_flow_precedes(&flow->order, i, k))
                reason = CTS_FLOW_REASON_HIDDEN;
        const struct cts_flow_finding finding = {.kind = CTS_FLOW_STALE_READ,
                                                 .reason = reason,
                                                 .node = i,
                                                 .other = CTS_NONE,
                                                 .allocation = use->stale_allocation,
                                                 .bytes = use->stale_bytes};
        status = cts_flow_add(flow, &finding, error);
    }
    return status;
}

enum cts_status cts_flow_find_memory(struct cts_flow_result *flow,
                                     const struct cts_flow_facts *facts, struct cts_error *error)
{
    find_peaks(flow);
    enum cts_status status = add_stale_reads(flow, facts, error);
    for (size_t i = 0; i < flow->catalogue->allocation_count && !status; i++)
        status = judge_allocation(flow, facts, i, error);
    return status;
}
