/* Copies that need not be, told from the edges around them. */
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-findings.h"

struct copies {
    struct cts_flow_result *flow;
    const struct cts_flow_facts *facts;
};

#define EACH_EDGE_FROM(c, node, edge)                                                              \
    for (size_t edge##_i = (c)->facts->from_begin[node];                                           \
         edge##_i < (c)->facts->from_begin[(node) + 1]; edge##_i++)                                \
        for (const struct cts_flow_edge *edge =                                                    \
                 &(c)->flow->walk.edges[(c)->facts->from_edges[edge##_i]];                         \
             edge; edge = NULL)

static const struct cts_copy *copy_of(const struct copies *c, uint32_t node)
{
    return &c->flow->catalogue->copies[c->flow->order.nodes[node].index];
}

static bool is_kind(const struct cts_copy *copy, const char *kind)
{
    return copy->kind && !strcmp(copy->kind, kind);
}

/* Whether the reader's bytes in the allocation have another writer than the copy. */
static bool has_other_source(const struct copies *c, const struct cts_flow_edge *read)
{
    const struct cts_flow_walk *const walk = &c->flow->walk;
    for (size_t e = (size_t)(read - walk->edges); e-- > 0 && walk->edges[e].to == read->to;)
        if (walk->edges[e].allocation == read->allocation && walk->edges[e].raw_bytes) return true;
    for (size_t e = (size_t)(read - walk->edges) + 1;
         e < walk->edge_count && walk->edges[e].to == read->to; e++)
        if (walk->edges[e].allocation == read->allocation && walk->edges[e].raw_bytes) return true;
    return false;
}

/* Whether a reader is over before whatever next changes the source or the destination. */
static bool is_safe(const struct copies *c, uint32_t copy, const struct cts_flow_edge *read)
{
    if (!read->is_ordered || read->waw_bytes || has_other_source(c, read)) return false;
    EACH_EDGE_FROM(c, copy, change)
    {
        if (!change->war_bytes && !change->waw_bytes && !change->end_bytes) continue;
        if (change->to == read->to || !cts_flow_precedes(&c->flow->order, read->to, change->to))
            return false;
    }
    return true;
}

static enum cts_flow_reason reason_of(const struct copies *c, uint32_t node)
{
    if (c->facts->has_gaps) return CTS_FLOW_REASON_ROWS;
    if (cts_flow_is_hidden_after(c->flow, node, false) ||
        cts_flow_is_hidden_after(c->flow, node, true))
        return CTS_FLOW_REASON_HIDDEN;
    return CTS_FLOW_REASON_CERTAIN;
}

static enum cts_status judge_avoidable(struct copies *c, uint32_t node, struct cts_error *error)
{
    if (!is_kind(copy_of(c, node), "DtoD") || c->flow->walk.uses[node].host_bytes ||
        c->flow->walk.uses[node].outside_bytes)
        return CTS_OK;
    uint32_t readers = 0;
    EACH_EDGE_FROM(c, node, edge)
    {
        if (edge->race_bytes) return CTS_OK;
        if (!edge->raw_bytes) continue;
        if (!is_safe(c, node, edge)) return CTS_OK;
        readers++;
    }
    if (!readers) return CTS_OK;
    return cts_flow_add(c->flow,
                        &(struct cts_flow_finding){.kind = CTS_FLOW_AVOIDABLE_COPY,
                                                   .reason = reason_of(c, node),
                                                   .node = node,
                                                   .other = CTS_NONE,
                                                   .allocation = CTS_NONE,
                                                   .bytes = c->flow->walk.uses[node].written_bytes},
                        error);
}

static bool is_same_copy(const struct cts_copy *a, const struct cts_copy *b)
{
    return a->destination == b->destination && a->source == b->source && a->kind && b->kind &&
           !strcmp(a->kind, b->kind) && a->width_bytes == b->width_bytes &&
           a->height == b->height && a->depth == b->depth &&
           a->destination_pitch == b->destination_pitch && a->source_pitch == b->source_pitch &&
           a->destination_slice == b->destination_slice && a->source_slice == b->source_slice;
}

/* Whether the run shows all writes to the source of a copy. */
static bool knows_source(const struct copies *c, uint32_t node)
{
    const struct cts_copy *const copy = copy_of(c, node);
    if (is_kind(copy, "DtoD") || is_kind(copy, "PtoP")) return true;
    return is_kind(copy, "HtoD") && c->flow->host_seen && !c->flow->order.nodes[node].is_staged;
}

/* An earlier copy whose bytes are all still there, and whose source is the same. */
static enum cts_status judge_repeated(struct copies *c, uint32_t node, struct cts_error *error)
{
    const struct cts_flow_node *const nodes = c->flow->order.nodes;
    if (!knows_source(c, node)) return CTS_OK;
    EACH_EDGE_FROM(c, node, edge)
    {
        if (edge->race_bytes) return CTS_OK;
    }
    uint64_t kept = 0;
    uint32_t again = CTS_NONE;
    EACH_EDGE_FROM(c, node, edge)
    {
        if (!edge->waw_bytes || nodes[edge->to].kind != CTS_FLOW_COPY ||
            !is_same_copy(copy_of(c, node), copy_of(c, edge->to)))
            continue;
        if (again == CTS_NONE) again = edge->to;
        if (again == edge->to) kept += edge->waw_bytes;
    }
    if (again == CTS_NONE || kept != c->flow->walk.uses[again].written_bytes) return CTS_OK;
    EACH_EDGE_FROM(c, node, edge)
    {
        if (edge->to < again && (edge->war_bytes || edge->waw_bytes || edge->end_bytes))
            return CTS_OK;
    }
    const bool is_upload = is_kind(copy_of(c, node), "HtoD");
    const enum cts_flow_reason reason = reason_of(c, node);
    return cts_flow_add(
        c->flow,
        &(struct cts_flow_finding){.kind = CTS_FLOW_REPEATED_COPY,
                                   .reason = !reason && is_upload ? CTS_FLOW_REASON_HOST : reason,
                                   .node = again,
                                   .other = node,
                                   .allocation = CTS_NONE,
                                   .bytes = kept},
        error);
}

/* Of what depends on the host's accesses. */
static enum cts_flow_reason host_reason(const struct copies *c)
{
    return c->facts->has_gaps ? CTS_FLOW_REASON_ROWS : CTS_FLOW_REASON_HOST;
}

/* What the CPU does to memory is known as far as its code is instrumented, and only in memory that
 * the device can reach. */
static enum cts_status judge_round_trip(struct copies *c, uint32_t node, struct cts_error *error)
{
    const struct cts_flow_node *const nodes = c->flow->order.nodes;
    if (!is_kind(copy_of(c, node), "DtoH")) return CTS_OK;
    enum cts_status status = CTS_OK;
    EACH_EDGE_FROM(c, node, edge)
    {
        if (status || !edge->raw_bytes || nodes[edge->to].kind != CTS_FLOW_COPY ||
            !is_kind(copy_of(c, edge->to), "HtoD"))
            continue;
        if (edge->is_outside || !c->flow->host_seen) continue;
        status = cts_flow_add(c->flow,
                              &(struct cts_flow_finding){.kind = CTS_FLOW_ROUND_TRIP,
                                                         .reason = host_reason(c),
                                                         .node = edge->to,
                                                         .other = node,
                                                         .allocation = CTS_NONE,
                                                         .bytes = edge->raw_bytes},
                              error);
    }
    return status;
}

static enum cts_status judge_unread(struct copies *c, uint32_t node, struct cts_error *error)
{
    const struct cts_flow_use *const use = &c->flow->walk.uses[node];
    if (!is_kind(copy_of(c, node), "DtoH") || !c->flow->host_seen || !use->unread_bytes ||
        use->unread_bytes < use->written_bytes / 8)
        return CTS_OK;
    return cts_flow_add(c->flow,
                        &(struct cts_flow_finding){.kind = CTS_FLOW_UNREAD_COPY,
                                                   .reason = host_reason(c),
                                                   .node = node,
                                                   .other = CTS_NONE,
                                                   .allocation = CTS_NONE,
                                                   .saved_bytes = use->unread_bytes,
                                                   .bytes = use->unread_bytes},
                        error);
}

enum cts_status cts_flow_find_copies(struct cts_flow_result *flow,
                                     const struct cts_flow_facts *facts, struct cts_error *error)
{
    struct copies copies = {flow, facts};
    enum cts_status status = CTS_OK;
    for (uint32_t i = 0; i < flow->order.node_count && !status; i++) {
        if (flow->order.nodes[i].kind != CTS_FLOW_COPY) continue;
        status = judge_avoidable(&copies, i, error);
        if (!status) status = judge_repeated(&copies, i, error);
        if (!status) status = judge_round_trip(&copies, i, error);
        if (!status) status = judge_unread(&copies, i, error);
    }
    return status;
}
