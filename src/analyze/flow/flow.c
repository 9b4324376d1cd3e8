#include "analyze/flow/flow.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-findings.h"
#include "common/array.h"

static const char *const finding_texts[] = {
#define X(name, text, advice, legal, change) text,
    CTS_FLOW_FINDINGS(X)
#undef X
};
static const char *const finding_advices[] = {
#define X(name, text, advice, legal, change) advice,
    CTS_FLOW_FINDINGS(X)
#undef X
};
static const char *const finding_legals[] = {
#define X(name, text, advice, legal, change) legal,
    CTS_FLOW_FINDINGS(X)
#undef X
};
static const enum cts_flow_change finding_changes[] = {
#define X(name, text, advice, legal, change) CTS_FLOW_CHANGE_##change,
    CTS_FLOW_FINDINGS(X)
#undef X
};
static const char *const reason_texts[] = {
#define X(name, text) text,
    CTS_FLOW_REASONS(X)
#undef X
};

const char *cts_flow_finding_text(enum cts_flow_finding_kind kind)
{
    return finding_texts[kind];
}

const char *cts_flow_finding_advice(enum cts_flow_finding_kind kind)
{
    return finding_advices[kind];
}

const char *cts_flow_finding_legal(enum cts_flow_finding_kind kind)
{
    return finding_legals[kind];
}

enum cts_flow_change cts_flow_finding_change(enum cts_flow_finding_kind kind)
{
    return finding_changes[kind];
}

const char *cts_flow_reason_text(enum cts_flow_reason reason)
{
    return reason_texts[reason];
}

const char *cts_flow_map_text(enum cts_flow_map map)
{
    static const char *const texts[] = {
#define X(name, text, advice) text,
        CTS_FLOW_MAPS(X)
#undef X
    };
    return texts[map];
}

const char *cts_flow_map_advice(enum cts_flow_map map)
{
    static const char *const advices[] = {
#define X(name, text, advice) advice,
        CTS_FLOW_MAPS(X)
#undef X
    };
    return advices[map];
}

/* ---- the same finding again ---- */

/* What the node does, as far as findings are told apart: its kernel, or the kind of call. */
static uint64_t subject_of(const struct cts_flow_result *flow, uint32_t node)
{
    if (node == CTS_NONE) return UINT64_MAX;
    const struct cts_flow_node *const n = &flow->order.nodes[node];
    const uint64_t kind = (uint64_t)n->kind << 56 | (uint64_t)n->rank << 32;
    if (n->kind == CTS_FLOW_LAUNCH) return kind | flow->catalogue->launches[n->index].kernel;
    if (n->kind == CTS_FLOW_COPY) {
        const char *const text = flow->catalogue->copies[n->index].kind;
        return kind | (uint64_t)(text ? text[0] << 8 | text[strlen(text) - 1] : 0);
    }
    return kind;
}

/* The first allocation of the same source line, so that loops give one finding. */
static int compare_allocations(const struct cts_flow_result *flow, uint32_t left, uint32_t right)
{
    if (left == right) return 0;
    if (left == CTS_NONE || right == CTS_NONE) return left < right ? -1 : 1;
    const struct cts_allocation *const a = &flow->catalogue->allocations[left];
    const struct cts_allocation *const b = &flow->catalogue->allocations[right];
    if (!a->path || !b->path || !a->line || !b->line) return left < right ? -1 : 1;
    const int path = strcmp(a->path, b->path);
    if (path) return path;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

static int compare_waits(const struct cts_flow_result *flow, const struct cts_flow_finding *a,
                         const struct cts_flow_finding *b)
{
    if (a->kind != CTS_FLOW_NEEDLESS_WAIT) return 0;
    return strcmp(flow->catalogue->syncs[a->sync].kind, flow->catalogue->syncs[b->sync].kind);
}

struct keyed {
    const struct cts_flow_result *flow;
    struct cts_flow_finding finding;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *const a = left, *const b = right;
    if (a->finding.kind != b->finding.kind) return a->finding.kind < b->finding.kind ? -1 : 1;
    if (a->finding.reason != b->finding.reason)
        return a->finding.reason < b->finding.reason ? -1 : 1;
    if (a->finding.map != b->finding.map) return a->finding.map < b->finding.map ? -1 : 1;
    const int wait = compare_waits(a->flow, &a->finding, &b->finding);
    if (wait) return wait;
    const uint64_t x = subject_of(a->flow, a->finding.node),
                   y = subject_of(a->flow, b->finding.node);
    if (x != y) return x < y ? -1 : 1;
    const uint64_t z = subject_of(a->flow, a->finding.other),
                   w = subject_of(a->flow, b->finding.other);
    if (z != w) return z < w ? -1 : 1;
    return compare_allocations(a->flow, a->finding.allocation, b->finding.allocation);
}

static int by_key_and_place(const void *left, const void *right)
{
    const struct keyed *const a = left, *const b = right;
    const int key = by_key(left, right);
    if (key) return key;
    if (a->finding.other != b->finding.other) return a->finding.other < b->finding.other ? -1 : 1;
    if (a->finding.node != b->finding.node) return a->finding.node < b->finding.node ? -1 : 1;
    return (a->finding.allocation > b->finding.allocation) -
           (a->finding.allocation < b->finding.allocation);
}

/* Races first; then what spares traffic; then the rest, which is certain or not. */
static unsigned rank_of(const struct cts_flow_finding *finding)
{
    if (finding->kind <= CTS_FLOW_POSSIBLE_RACE) return (unsigned)finding->kind;
    const bool is_possible = finding->reason != CTS_FLOW_REASON_CERTAIN;
    return finding->traffic_bytes ? 2u + is_possible : 4u;
}

static int by_weight(const void *left, const void *right)
{
    const struct cts_flow_finding *const a = left, *const b = right;
    if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b) ? -1 : 1;
    if (a->traffic_bytes != b->traffic_bytes) return a->traffic_bytes > b->traffic_bytes ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->reason != b->reason) return a->reason < b->reason ? -1 : 1;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    if (a->other != b->other) return a->other < b->other ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

static enum cts_status group(struct cts_flow_result *flow, struct cts_error *error)
{
    if (flow->finding_count < 2) return CTS_OK;
    struct keyed *const keyed = cts_array_zeroed(flow->finding_count, sizeof *keyed, error);
    if (!keyed) return CTS_MEMORY;
    for (size_t i = 0; i < flow->finding_count; i++)
        keyed[i] = (struct keyed){flow, flow->findings[i]};
    qsort(keyed, flow->finding_count, sizeof *keyed, by_key_and_place);
    size_t kept = 0;
    for (size_t i = 0; i < flow->finding_count; i++) {
        if (i && by_key(&keyed[i - 1], &keyed[i]) == 0) {
            flow->findings[kept - 1].times++;
            flow->findings[kept - 1].bytes += keyed[i].finding.bytes;
            flow->findings[kept - 1].traffic_bytes += keyed[i].finding.traffic_bytes;
            flow->findings[kept - 1].saved_ns += keyed[i].finding.saved_ns;
        } else {
            flow->findings[kept++] = keyed[i].finding;
        }
    }
    flow->finding_count = kept;
    qsort(flow->findings, kept, sizeof *flow->findings, by_weight);
    free(keyed);
    return CTS_OK;
}

/* ---- the whole ---- */

static bool is_set(const struct cts_catalogue *catalogue, const char *key)
{
    const char *const value = catalogue->private_data ? cts_catalogue_get(catalogue, key) : NULL;
    return value && !strcmp(value, "1");
}

static enum cts_status find(struct cts_flow_result *flow,
                            const struct cts_flow_touch_options *touch, struct cts_error *error)
{
    struct cts_flow_facts facts;
    enum cts_status status = cts_flow_facts_make(flow, &facts, error);
    if (status) return status;
    status = cts_flow_find_races(flow, &facts, error);
    if (!status) status = cts_flow_find_dead_work(flow, &facts, error);
    if (!status) status = cts_flow_find_copies(flow, &facts, error);
    if (!status) status = cts_flow_find_memory(flow, &facts, error);
    if (!status) status = cts_flow_find_needless_order(flow, &facts, error);
    if (!status) status = cts_flow_find_needless_waits(flow, &facts, error);
    if (!status) status = cts_flow_find_fusion(flow, &facts, touch, error);
    if (!status && flow->values_seen) status = cts_flow_find_repeats(flow, &facts, touch, error);
    flow->lower_bound = facts.has_gaps || facts.is_unfinished || flow->hiding_launches > 0;
    cts_flow_facts_release(&facts);
    return status;
}

enum cts_status cts_flow_analyze(const struct cts_catalogue *catalogue,
                                 const struct cts_access_source *source,
                                 const struct cts_flow_options *options,
                                 struct cts_flow_result *flow, struct cts_error *error)
{
    *flow = (struct cts_flow_result){
        .catalogue = catalogue,
        .least_bytes = options->least_bytes,
        .launch_ns = options->launch_ns,
        .host_seen = catalogue->host_access_count > 0 || is_set(catalogue, "host_accesses"),
        .values_seen = !catalogue->private_data || is_set(catalogue, "values") ||
                       catalogue->fingerprint_count > 0,
        .knows_threads = catalogue->call_count > 0};
    for (size_t i = 0; i < catalogue->call_count && !flow->knows_calls; i++)
        flow->knows_calls = catalogue->calls[i].api != NULL;
    const struct cts_flow_walk_options walk_options = {.source = source,
                                                       .host_seen = flow->host_seen,
                                                       .threads = options->threads,
                                                       .progress = options->progress};
    const struct cts_flow_order_options sure = {.level = CTS_FLOW_SURE};
    enum cts_status status = cts_flow_order_make(catalogue, &sure, &flow->order, error);
    if (!status)
        status = cts_flow_walk_make(catalogue, &flow->order, &walk_options, &flow->walk, error);
    const struct cts_flow_touch_options touch = {.catalogue = catalogue,
                                                 .source = source,
                                                 .threads = options->threads,
                                                 .runs_at_a_time = options->runs_at_a_time};
    if (!status) cts_flow_find_rate(flow);
    if (!status) status = find(flow, &touch, error);
    if (!status && !options->each) status = group(flow, error);
    if (status) cts_flow_release(flow);
    return status;
}

void cts_flow_release(struct cts_flow_result *flow)
{
    cts_flow_walk_release(&flow->walk);
    cts_flow_order_release(&flow->order);
    free(flow->findings);
    free(flow->is_needless_wait);
    free(flow->chain_marks);
    *flow = (struct cts_flow_result){0};
}
