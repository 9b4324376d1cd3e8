#include "analyze/flow/flow-graphs.h"

#include <stdlib.h>

#include "common/array.h"
#include "common/search.h"

enum { NODES_MAX = 1 << 20 };

struct cts_flow_graph *cts_flow_graph_find(const struct cts_flow_graphs *graphs, uint32_t graph)
{
    const size_t at = CTS_SEARCH(graphs->count, i, graphs->items[i].graph < graph);
    return at < graphs->count && graphs->items[at].graph == graph ? &graphs->items[at] : NULL;
}

static int by_number(const void *left, const void *right)
{
    const struct cts_flow_graph *const a = left, *const b = right;
    return (a->graph > b->graph) - (a->graph < b->graph);
}

/* The numbers that occur, each once. */
static enum cts_status collect(const struct cts_catalogue *c, uint32_t rank,
                               struct cts_flow_graphs *graphs, struct cts_error *error)
{
    graphs->items =
        cts_array_zeroed(c->graph_node_count + c->graph_edge_count, sizeof *graphs->items, error);
    if (!graphs->items) return CTS_MEMORY;
    size_t n = 0;
    for (size_t i = 0; i < c->graph_node_count; i++)
        if (c->graph_nodes[i].rank == rank) graphs->items[n++].graph = c->graph_nodes[i].graph;
    for (size_t i = 0; i < c->graph_edge_count; i++)
        if (c->graph_edges[i].rank == rank) graphs->items[n++].graph = c->graph_edges[i].graph;
    qsort(graphs->items, n, sizeof *graphs->items, by_number);
    for (size_t i = 0; i < n; i++)
        if (!graphs->count || graphs->items[graphs->count - 1].graph != graphs->items[i].graph)
            graphs->items[graphs->count++].graph = graphs->items[i].graph;
    return CTS_OK;
}

static enum cts_status count_node(struct cts_flow_graph *graph, uint32_t node,
                                  struct cts_error *error)
{
    if (node >= NODES_MAX)
        return cts_fail(error, CTS_LIMIT, "graph %u has node %u; at most %d nodes are supported",
                        graph->graph, node, NODES_MAX);
    if (graph->node_count <= node) graph->node_count = node + 1;
    return CTS_OK;
}

static enum cts_status count_nodes(const struct cts_catalogue *c, uint32_t rank,
                                   struct cts_flow_graphs *graphs, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < c->graph_node_count && !status; i++)
        if (c->graph_nodes[i].rank == rank)
            status = count_node(cts_flow_graph_find(graphs, c->graph_nodes[i].graph),
                                c->graph_nodes[i].node, error);
    for (size_t i = 0; i < c->graph_edge_count && !status; i++) {
        const struct cts_graph_edge *const edge = &c->graph_edges[i];
        if (edge->rank != rank) continue;
        if (edge->after >= edge->node)
            return cts_fail(error, CTS_FORMAT,
                            "table 'graph_edges': node %u of graph %u follows node %u", edge->node,
                            edge->graph, edge->after);
        status = count_node(cts_flow_graph_find(graphs, edge->graph), edge->node, error);
    }
    return status;
}

/* edge_begin[n + 1] counts the edges of n, then is summed; places are filled from the back. The sum
 * of all stands one behind meanwhile. */
static enum cts_status add_edges(const struct cts_catalogue *c, uint32_t rank,
                                 struct cts_flow_graphs *graphs, struct cts_error *error)
{
    for (size_t i = 0; i < graphs->count; i++) {
        struct cts_flow_graph *const graph = &graphs->items[i];
        graph->edge_begin =
            cts_array_zeroed(graph->node_count + 2, sizeof *graph->edge_begin, error);
        graph->branch = cts_array_zeroed(graph->node_count, sizeof *graph->branch, error);
        if (!graph->edge_begin || !graph->branch) return CTS_MEMORY;
    }
    for (size_t i = 0; i < c->graph_edge_count; i++)
        if (c->graph_edges[i].rank == rank)
            cts_flow_graph_find(graphs, c->graph_edges[i].graph)
                ->edge_begin[c->graph_edges[i].node + 1]++;
    for (size_t i = 0; i < graphs->count; i++) {
        struct cts_flow_graph *const graph = &graphs->items[i];
        for (uint32_t n = 0; n < graph->node_count; n++)
            graph->edge_begin[n + 1] += graph->edge_begin[n];
        graph->edge_begin[graph->node_count + 1] = graph->edge_begin[graph->node_count];
        graph->after =
            cts_array_zeroed(graph->edge_begin[graph->node_count], sizeof *graph->after, error);
        if (!graph->after) return CTS_MEMORY;
    }
    for (size_t i = c->graph_edge_count; i-- > 0;) {
        const struct cts_graph_edge *const edge = &c->graph_edges[i];
        if (edge->rank != rank) continue;
        struct cts_flow_graph *const graph = cts_flow_graph_find(graphs, edge->graph);
        graph->after[--graph->edge_begin[edge->node + 1]] = edge->after;
    }
    /* Now edge_begin[n + 1] is where n begins. */
    for (size_t i = 0; i < graphs->count; i++) {
        struct cts_flow_graph *const graph = &graphs->items[i];
        for (uint32_t n = 0; n < graph->node_count; n++)
            graph->edge_begin[n] = graph->edge_begin[n + 1];
        graph->edge_begin[graph->node_count] = graph->edge_begin[graph->node_count + 1];
    }
    return CTS_OK;
}

/* A node goes on the branch of a node before it that nobody has gone on yet. */
static enum cts_status find_branches(struct cts_flow_graph *graph, struct cts_error *error)
{
    bool *const has_next = cts_array_zeroed(graph->node_count, sizeof *has_next, error);
    if (!has_next) return CTS_MEMORY;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        graph->branch[n] = CTS_NONE;
        for (uint32_t e = graph->edge_begin[n]; e < graph->edge_begin[n + 1]; e++) {
            const uint32_t before = graph->after[e];
            if (has_next[before]) continue;
            has_next[before] = true;
            graph->branch[n] = graph->branch[before];
            break;
        }
        if (graph->branch[n] == CTS_NONE) graph->branch[n] = graph->branch_count++;
    }
    free(has_next);
    return CTS_OK;
}

enum cts_status cts_flow_graphs_make(const struct cts_catalogue *catalogue, uint32_t rank,
                                     struct cts_flow_graphs *graphs, struct cts_error *error)
{
    *graphs = (struct cts_flow_graphs){0};
    enum cts_status status = collect(catalogue, rank, graphs, error);
    if (!status) status = count_nodes(catalogue, rank, graphs, error);
    if (!status) status = add_edges(catalogue, rank, graphs, error);
    for (size_t i = 0; i < graphs->count && !status; i++)
        status = find_branches(&graphs->items[i], error);
    if (status) cts_flow_graphs_release(graphs);
    return status;
}

void cts_flow_graphs_release(struct cts_flow_graphs *graphs)
{
    for (size_t i = 0; i < graphs->count; i++) {
        free(graphs->items[i].edge_begin);
        free(graphs->items[i].after);
        free(graphs->items[i].branch);
    }
    free(graphs->items);
    *graphs = (struct cts_flow_graphs){0};
}
