/* Launches that do the same again: docs/flow.md, 'Repeated launches'. */
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-findings.h"
#include "analyze/flow/flow-values.h"
#include "common/array.h"

struct candidate {
    const struct cts_launch *launch;
    size_t index; /* in the catalogue */
    uint32_t node;
    struct cts_flow_fingerprint print;
};

struct candidates {
    struct candidate *items;
    size_t count, capacity;
};

/* ---- which launches ---- */

static int compare_shapes(const struct cts_launch *a, const struct cts_launch *b)
{
    const uint64_t left[] = {
        a->rank,     a->kernel,   a->grid[0],  a->grid[1],  a->grid[2],
        a->block[0], a->block[1], a->block[2], a->accesses, a->dynamic_shared_bytes};
    const uint64_t right[] = {
        b->rank,     b->kernel,   b->grid[0],  b->grid[1],  b->grid[2],
        b->block[0], b->block[1], b->block[2], b->accesses, b->dynamic_shared_bytes};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int by_shape(const void *left, const void *right)
{
    const struct candidate *const a = left, *const b = right;
    const int shape = compare_shapes(a->launch, b->launch);
    return shape ? shape : (a->node > b->node) - (a->node < b->node);
}

static int compare_prints(const struct cts_flow_fingerprint *a,
                          const struct cts_flow_fingerprint *b)
{
    if (a->is_known != b->is_known) return a->is_known ? -1 : 1;
    if (a->accesses != b->accesses) return a->accesses < b->accesses ? -1 : 1;
    return (a->sum > b->sum) - (a->sum < b->sum);
}

static int by_print(const void *left, const void *right)
{
    const struct candidate *const a = left, *const b = right;
    const int print = compare_prints(&a->print, &b->print);
    return print ? print : (a->node > b->node) - (a->node < b->node);
}

/* Launches that store, all of whose accesses are known. */
static enum cts_status collect(const struct cts_flow_result *flow, struct candidates *c,
                               struct cts_error *error)
{
    for (uint32_t node = 0; node < flow->order.node_count; node++) {
        const struct cts_flow_node *const n = &flow->order.nodes[node];
        if (n->kind != CTS_FLOW_LAUNCH || cts_flow_is_unknown(flow, node) ||
            !flow->walk.uses[node].written_bytes)
            continue;
        if (c->count == c->capacity &&
            cts_array_grow((void **)&c->items, &c->capacity, c->count + 1, sizeof *c->items, error))
            return CTS_MEMORY;
        c->items[c->count++] = (struct candidate){
            .launch = &flow->catalogue->launches[n->index], .index = n->index, .node = node};
    }
    if (c->count) qsort(c->items, c->count, sizeof *c->items, by_shape);
    return CTS_OK;
}

/* ---- what became of the first result ---- */

/* Index of the first edge to `node`. */
static size_t first_edge(const struct cts_flow_walk *walk, uint32_t node)
{
    size_t low = 0, high = walk->edge_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (walk->edges[middle].to < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether all that v stores lies where u, and nobody since, has stored. */
static bool is_in_place(const struct cts_flow_walk *walk, uint32_t u, uint32_t v)
{
    uint64_t bytes = 0;
    for (size_t e = first_edge(walk, v); e < walk->edge_count && walk->edges[e].to == v; e++) {
        const struct cts_flow_edge *const edge = &walk->edges[e];
        if (edge->race_bytes || edge->commuting_bytes || (edge->waw_bytes && edge->from != u))
            return false;
        bytes += edge->waw_bytes;
    }
    return bytes == walk->uses[v].written_bytes;
}

static enum cts_flow_reason reason_of(const struct cts_flow_result *flow,
                                      const struct cts_flow_facts *facts, uint32_t u, uint32_t v)
{
    if (facts->has_gaps) return CTS_FLOW_REASON_ROWS;
    if (!is_in_place(&flow->walk, u, v)) return CTS_FLOW_REASON_REPLACED;
    if (cts_flow_is_hidden_after(flow, u, true)) return CTS_FLOW_REASON_HIDDEN;
    return flow->walk.uses[v].host_bytes ? CTS_FLOW_REASON_HOST : CTS_FLOW_REASON_CERTAIN;
}

static enum cts_status add(struct cts_flow_result *flow, const struct cts_flow_facts *facts,
                           uint32_t u, uint32_t v, struct cts_error *error)
{
    const uint64_t bytes = cts_flow_touched_bytes(flow, v);
    const struct cts_flow_finding finding = {.kind = CTS_FLOW_REPEATED_LAUNCH,
                                             .reason = reason_of(flow, facts, u, v),
                                             .node = u,
                                             .other = v,
                                             .allocation = CTS_NONE,
                                             .bytes = bytes,
                                             .saved_bytes = bytes};
    return cts_flow_add(flow, &finding, error);
}

/* ---- the same again ---- */

/* The candidates of one shape. */
static enum cts_status judge(struct cts_flow_result *flow, const struct cts_flow_facts *facts,
                             struct cts_flow_fingerprinter *printer, struct candidates shape,
                             struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < shape.count && !status; i++)
        status = cts_flow_fingerprint(printer, shape.items[i].index, &shape.items[i].print, error);
    if (status) return status;
    qsort(shape.items, shape.count, sizeof *shape.items, by_print);
    for (size_t i = 1; i < shape.count && shape.items[i].print.is_known && !status; i++) {
        const struct candidate *const u = &shape.items[i - 1], *const v = &shape.items[i];
        if (!compare_prints(&u->print, &v->print))
            status = add(flow, facts, u->node, v->node, error);
    }
    return status;
}

enum cts_status cts_flow_find_repeats(struct cts_flow_result *flow,
                                      const struct cts_flow_facts *facts,
                                      const struct cts_flow_touch_options *options,
                                      struct cts_error *error)
{
    struct candidates c = {0};
    struct cts_flow_fingerprinter *printer = NULL;
    enum cts_status status = collect(flow, &c, error);
    if (!status && c.count > 1) status = cts_flow_fingerprinter_new(options, &printer, error);
    for (size_t begin = 0, end; begin < c.count && !status; begin = end) {
        for (end = begin + 1; end < c.count; end++)
            if (compare_shapes(c.items[begin].launch, c.items[end].launch)) break;
        const struct candidates shape = {.items = c.items + begin, .count = end - begin};
        if (shape.count > 1) status = judge(flow, facts, printer, shape, error);
    }
    cts_flow_fingerprinter_free(printer);
    free(c.items);
    return status;
}
