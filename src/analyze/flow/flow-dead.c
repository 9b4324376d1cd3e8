/* What is needed: what the host gets, and backwards along true dependences all that it needs. */
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-findings.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/map.h"

static bool is_copy_to_host(const struct cts_flow_result *flow, const struct cts_flow_node *node)
{
    if (node->kind != CTS_FLOW_COPY) return false;
    const char *const kind = flow->catalogue->copies[node->index].kind;
    return kind && (!strcmp(kind, "DtoH") || !strcmp(kind, "HtoH"));
}

/* A launch that loads and stores nothing: it checks its data, and would have stored had they been
 * others. */
static bool is_check(const struct cts_flow_node *node, const struct cts_flow_use *use)
{
    return node->kind == CTS_FLOW_LAUNCH && use->read_bytes && !use->written_bytes;
}

static bool is_root(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_flow_node *const n = &flow->order.nodes[node];
    const struct cts_flow_use *const use = &flow->walk.uses[node];
    return is_copy_to_host(flow, n) || n->kind == CTS_FLOW_HOST_LOAD ||
           n->kind == CTS_FLOW_HOST_STORE || use->host_bytes || use->outside_bytes ||
           use->hides_stores || is_check(n, use);
}

/* Whether anything of what the device computed reaches the host. */
static bool reaches_host(const struct cts_flow_result *flow)
{
    for (size_t i = 0; i < flow->order.node_count; i++) {
        const struct cts_flow_node *const n = &flow->order.nodes[i];
        if (n->kind == CTS_FLOW_HOST_LOAD || is_copy_to_host(flow, n)) return true;
        if (n->kind == CTS_FLOW_LAUNCH && flow->walk.uses[i].host_bytes) return true;
    }
    return false;
}

static bool *find_needed(const struct cts_flow_result *flow, struct cts_error *error)
{
    bool *const needed = cts_array_zeroed(flow->order.node_count, sizeof *needed, error);
    if (!needed) return NULL;
    for (size_t i = 0; i < flow->order.node_count; i++) needed[i] = is_root(flow, (uint32_t)i);
    for (size_t e = flow->walk.edge_count; e-- > 0;) { /* by `to`, the last first */
        const struct cts_flow_edge *const edge = &flow->walk.edges[e];
        const uint64_t bytes = edge->raw_bytes + edge->commuting_bytes;
        if (bytes && needed[edge->to]) needed[edge->from] = true;
    }
    return needed;
}

/* What executes again and again: a kernel; a copy or memset of one size to memory that one line of
 * source allocated. */
static uint64_t subject_of(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_catalogue *const c = flow->catalogue;
    const struct cts_flow_node *const n = &flow->order.nodes[node];
    uint64_t hash = cts_hash_fold(CTS_HASH_START, n->kind);
    if (n->kind == CTS_FLOW_LAUNCH) return cts_hash_fold(hash, c->launches[n->index].kernel);
    const struct cts_copy *const copy = &c->copies[n->index];
    hash = cts_hash_fold(hash, copy->width_bytes);
    hash = cts_hash_fold(hash, copy->height * copy->depth);
    for (size_t i = 0; i < c->allocation_count; i++) {
        const struct cts_allocation *const row = &c->allocations[i];
        if (row->rank != n->rank || row->op > n->op || row->freed_op <= n->op ||
            copy->destination < row->address || copy->destination - row->address >= row->size_bytes)
            continue;
        if (!row->path || !row->line) return cts_hash_fold(hash, row->address);
        return cts_hash_fold(cts_hash_text(hash, row->path), row->line);
    }
    return cts_hash_fold(hash, copy->destination);
}

/* Marks in *subjects what is needed at least once. */
static enum cts_status find_needed_subjects(const struct cts_flow_result *flow, const bool *needed,
                                            struct cts_map *subjects, struct cts_error *error)
{
    for (uint32_t i = 0; i < flow->order.node_count; i++) {
        if (!needed[i] || flow->order.nodes[i].kind > CTS_FLOW_MEMSET) continue;
        uint64_t *const mark = cts_map_at(subjects, subject_of(flow, i), error);
        if (!mark) return CTS_MEMORY;
        *mark = 1;
    }
    return CTS_OK;
}

static enum cts_flow_reason reason_of(const struct cts_flow_result *flow,
                                      const struct cts_flow_facts *facts, uint32_t node,
                                      bool is_left)
{
    if (facts->has_gaps || (facts->is_unfinished && is_left)) return CTS_FLOW_REASON_ROWS;
    if (cts_flow_is_hidden_after(flow, node, false)) return CTS_FLOW_REASON_HIDDEN;
    if (flow->catalogue->rank_count > 1) return CTS_FLOW_REASON_PROCESSES;
    return CTS_FLOW_REASON_CERTAIN;
}

/* ---- what data may have decided ---- */

static bool loads(const struct cts_flow_result *flow, uint32_t node)
{
    const struct cts_flow_use *const use = &flow->walk.uses[node];
    return flow->order.nodes[node].kind == CTS_FLOW_LAUNCH && (use->read_bytes || use->hides_loads);
}

/* By node, for those that are not needed: why another input, or a longer run, may need them. A
 * launch that loads may have skipped a store to what is needed. What it stored over may show
 * through; what it read may have made it skip. Copies and memsets do the same whatever the data. */
static uint8_t *find_doubts(const struct cts_flow_result *flow, const struct cts_flow_facts *facts,
                            const bool *needed, struct cts_error *error)
{
    const struct cts_flow_walk *const walk = &flow->walk;
    uint8_t *const doubts = cts_array_zeroed(flow->order.node_count, sizeof *doubts, error);
    for (size_t i = flow->order.node_count; doubts && i-- > 0;) {
        if (needed[i]) continue;
        doubts[i] = walk->uses[i].ended_bytes  ? CTS_FLOW_REASON_ENDED
                    : loads(flow, (uint32_t)i) ? CTS_FLOW_REASON_DATA
                                               : CTS_FLOW_REASON_CERTAIN;
        for (size_t k = facts->from_begin[i]; k < facts->from_begin[i + 1] && !doubts[i]; k++) {
            const struct cts_flow_edge *const edge = &walk->edges[facts->from_edges[k]];
            if (loads(flow, edge->to) &&
                (edge->raw_bytes || edge->commuting_bytes || edge->unread_waw_bytes))
                doubts[i] = CTS_FLOW_REASON_DATA;
            else if (edge->raw_bytes || edge->commuting_bytes)
                doubts[i] = doubts[edge->to];
        }
    }
    return doubts;
}

/* Whether the bytes of a node that are used, or stored over, lie apart: what is dead is then what
 * data left out, rather than the rest of an array. */
static bool is_scattered(const struct cts_flow_result *flow, const struct cts_flow_facts *facts,
                         uint32_t node)
{
    const bool is_memset = flow->order.nodes[node].kind == CTS_FLOW_MEMSET;
    for (size_t k = facts->from_begin[node]; k < facts->from_begin[node + 1]; k++) {
        const struct cts_flow_edge *const edge = &flow->walk.edges[facts->from_edges[k]];
        const uint64_t bytes = is_memset ? edge->unread_waw_bytes : edge->raw_bytes;
        if (bytes && loads(flow, edge->to) && bytes < edge->end - edge->first) return true;
        if (edge->unread_waw_bytes && loads(flow, edge->to)) return true;
    }
    return false;
}

static uint64_t dead_bytes(const struct cts_flow_use *use)
{
    return use->overwritten_bytes + use->freed_bytes + use->left_bytes;
}

static enum cts_flow_finding_kind kind_of(const struct cts_flow_result *flow, uint32_t node)
{
    switch (flow->order.nodes[node].kind) {
    case CTS_FLOW_MEMSET:
        return CTS_FLOW_OVERWRITTEN_MEMSET;
    case CTS_FLOW_COPY:
        return CTS_FLOW_OVERSIZED_COPY;
    default:
        return CTS_FLOW_DEAD_BYTES;
    }
}

/* Bytes of a node that is needed for others. */
static enum cts_status add_part(struct cts_flow_result *flow, const struct cts_flow_facts *facts,
                                uint32_t node, struct cts_error *error)
{
    const struct cts_flow_use *const use = &flow->walk.uses[node];
    const enum cts_flow_finding_kind kind = kind_of(flow, node);
    const bool is_memset = kind == CTS_FLOW_OVERWRITTEN_MEMSET;
    const uint64_t bytes = is_memset ? use->overwritten_bytes : dead_bytes(use);
    const bool is_enough = is_memset ? bytes > 0 : bytes && bytes >= use->written_bytes / 8;
    if (!is_enough) return CTS_OK;
    struct cts_flow_finding finding = {
        .kind = kind,
        .reason = reason_of(flow, facts, node, !is_memset && use->left_bytes),
        .node = node,
        .other = CTS_NONE,
        .allocation = CTS_NONE,
        .saved_bytes = is_memset ? use->overwritten_sector_bytes : use->dead_sector_bytes,
        .bytes = bytes};
    if (!finding.reason && !is_memset && use->ended_bytes) finding.reason = CTS_FLOW_REASON_ENDED;
    if (!finding.reason && is_scattered(flow, facts, node)) finding.reason = CTS_FLOW_REASON_DATA;
    return cts_flow_add(flow, &finding, error);
}

static enum cts_status add_whole(struct cts_flow_result *flow, const struct cts_flow_facts *facts,
                                 uint32_t node, enum cts_flow_reason otherwise,
                                 struct cts_error *error)
{
    struct cts_flow_finding finding = {.kind = CTS_FLOW_DEAD_WORK,
                                       .reason = reason_of(flow, facts, node, true),
                                       .node = node,
                                       .other = CTS_NONE,
                                       .allocation = CTS_NONE,
                                       .bytes = flow->walk.uses[node].written_bytes};
    if (!finding.reason) finding.reason = otherwise;
    return cts_flow_add(flow, &finding, error);
}

enum cts_status cts_flow_find_dead_work(struct cts_flow_result *flow,
                                        const struct cts_flow_facts *facts, struct cts_error *error)
{
    bool *const needed = find_needed(flow, error);
    if (!needed) return CTS_MEMORY;
    uint8_t *const doubts = find_doubts(flow, facts, needed, error);
    struct cts_map subjects = {0};
    const bool to_host = reaches_host(flow);
    enum cts_status status =
        doubts ? find_needed_subjects(flow, needed, &subjects, error) : CTS_MEMORY;
    for (uint32_t i = 0; i < flow->order.node_count && !status; i++) {
        const uint8_t kind = flow->order.nodes[i].kind;
        if ((kind != CTS_FLOW_LAUNCH && kind != CTS_FLOW_COPY && kind != CTS_FLOW_MEMSET) ||
            !flow->walk.uses[i].written_bytes)
            continue;
        if (needed[i]) {
            status = add_part(flow, facts, i, error);
            continue;
        }
        const bool is_needed_elsewhere = cts_map_find(&subjects, subject_of(flow, i)) != NULL;
        status = add_whole(flow, facts, i,
                           !to_host              ? CTS_FLOW_REASON_NO_HOST
                           : is_needed_elsewhere ? CTS_FLOW_REASON_SOME
                                                 : (enum cts_flow_reason)doubts[i],
                           error);
    }
    cts_map_release(&subjects);
    free(doubts);
    free(needed);
    return status;
}
