/* Numbers are given in an order in which each node comes behind those that it depends on: that in
 * which the driver lists the nodes, if it is one. A node
 * that is a graph has two: what precedes it precedes its first number, which precedes the child's
 * nodes; they precede its second one, which precedes what follows it.
 *
 * O(nodes + edges). */
#include "graph-numbers.h"

#include <stdlib.h>

#include "common/array.h"
#include "library.h"

enum { NODES_MAX = 1 << 20, EDGES_MAX = 1 << 24, DEPTH_MAX = 16 };
#define NO_NUMBER UINT32_MAX

/* One graph, and while it is numbered, its nodes and edges as the driver lists them. */
struct level {
    size_t node_count, edge_count;
    CUgraphNode *nodes, *from, *to;
    struct cts_map place_of;    /* handle to index + 1 */
    uint32_t *from_at, *to_at;  /* the edges, by places of nodes */
    uint32_t *first_of, *after; /* first_of[n] up to first_of[n + 1] in `after`: what follows n */
    uint32_t *open;             /* per node: those before it that have no number yet */
    uint32_t *queue;
    uint32_t *begin, *end; /* numbers */
    bool *has_next;
};

static void release_level(struct level *level)
{
    void *const all[] = {level->nodes, level->from,     level->to,    level->from_at,
                         level->to_at, level->first_of, level->after, level->open,
                         level->queue, level->begin,    level->end,   level->has_next};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    cts_map_release(&level->place_of);
}

/* ---- what the driver lists ---- */

/* Toolkits before 13 have the form without data of edges in their headers. */
static CUresult list_edges(CUgraph graph, struct level *level)
{
#if CUDA_VERSION >= 13000
    CUgraphEdgeData *const data = level->from ? calloc(level->edge_count + 1, sizeof *data) : NULL;
    const CUresult result = level->from && !data
                                ? CUDA_ERROR_OUT_OF_MEMORY
                                : cts_sanitizer.cuGraphGetEdges(graph, level->from, level->to, data,
                                                                &level->edge_count);
    free(data);
    return result;
#else
    return cts_sanitizer.cuGraphGetEdges(graph, level->from, level->to, &level->edge_count);
#endif
}

static bool list(CUgraph graph, struct level *level)
{
    if (cts_sanitizer.cuGraphGetNodes(graph, NULL, &level->node_count) != CUDA_SUCCESS ||
        list_edges(graph, level) != CUDA_SUCCESS || level->node_count > NODES_MAX ||
        level->edge_count > EDGES_MAX)
        return false;
    level->nodes = calloc(level->node_count + 1, sizeof *level->nodes);
    level->from = calloc(level->edge_count + 1, sizeof *level->from);
    level->to = calloc(level->edge_count + 1, sizeof *level->to);
    return level->nodes && level->from && level->to &&
           (!level->node_count || cts_sanitizer.cuGraphGetNodes(
                                      graph, level->nodes, &level->node_count) == CUDA_SUCCESS) &&
           (!level->edge_count || list_edges(graph, level) == CUDA_SUCCESS);
}

static bool make_room(struct level *level)
{
    const size_t nodes = level->node_count + 2, edges = level->edge_count + 1;
    level->from_at = calloc(edges, sizeof *level->from_at);
    level->to_at = calloc(edges, sizeof *level->to_at);
    level->after = calloc(edges, sizeof *level->after);
    level->first_of = calloc(nodes, sizeof *level->first_of);
    level->open = calloc(nodes, sizeof *level->open);
    level->queue = calloc(nodes, sizeof *level->queue);
    level->begin = calloc(nodes, sizeof *level->begin);
    level->end = calloc(nodes, sizeof *level->end);
    level->has_next = calloc(nodes, sizeof *level->has_next);
    return level->from_at && level->to_at && level->after && level->first_of && level->open &&
           level->queue && level->begin && level->end && level->has_next;
}

static bool place_at(const struct level *level, CUgraphNode node, uint32_t *place)
{
    const uint64_t *const found = cts_map_find(&level->place_of, (uint64_t)(uintptr_t)node);
    if (found) *place = (uint32_t)(*found - 1);
    return found != NULL;
}

/* first_of counts, then is summed; places are filled from the back. */
static bool join_nodes(struct level *level)
{
    for (size_t i = 0; i < level->node_count; i++) {
        uint64_t *const place =
            cts_map_at(&level->place_of, (uint64_t)(uintptr_t)level->nodes[i], NULL);
        if (!place) return false;
        *place = i + 1;
    }
    for (size_t e = 0; e < level->edge_count; e++) {
        if (!place_at(level, level->from[e], level->from_at + e) ||
            !place_at(level, level->to[e], level->to_at + e))
            return false;
        level->first_of[level->from_at[e] + 1]++;
        level->open[level->to_at[e]]++;
        level->has_next[level->from_at[e]] = true;
    }
    for (size_t n = 0; n < level->node_count; n++) level->first_of[n + 1] += level->first_of[n];
    uint32_t *const next = calloc(level->node_count + 1, sizeof *next);
    for (size_t e = 0; next && e < level->edge_count; e++) {
        const uint32_t from = level->from_at[e];
        level->after[level->first_of[from] + next[from]++] = level->to_at[e];
    }
    free(next);
    return next != NULL;
}

/* ---- numbers ---- */

static bool add_edge(struct cts_graph_numbers *numbers, uint32_t node, uint32_t after)
{
    if (CTS_ARRAY_RESERVE(&numbers->edges, numbers->edges.count + 1, NULL)) return false;
    numbers->edges.items[numbers->edges.count++] = (struct cts_numbered_edge){node, after};
    return true;
}

static bool number_graph(CUgraph graph, struct cts_graph_numbers *numbers, uint32_t begin,
                         int depth);

/* The nodes of a child graph, between the number that the node has and its second one. */
static bool number_child(struct cts_graph_numbers *numbers, CUgraphNode node, uint32_t begin,
                         int depth)
{
    CUgraph child;
    return cts_sanitizer.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS &&
           number_graph(child, numbers, begin, depth + 1);
}

static CUDA_MEMCPY3D *copy_of(CUgraphNode node, CUgraphNodeType type)
{
    const bool is_copy =
        type == CU_GRAPH_NODE_TYPE_MEMCPY && cts_sanitizer.cuGraphMemcpyNodeGetParams != NULL;
    CUDA_MEMCPY3D *const copy = is_copy ? calloc(1, sizeof *copy) : NULL;
    if (!copy || cts_sanitizer.cuGraphMemcpyNodeGetParams(node, copy) == CUDA_SUCCESS) return copy;
    free(copy);
    return NULL;
}

static const void *function_of(CUgraphNode node, CUgraphNodeType type)
{
    CUDA_KERNEL_NODE_PARAMS parameters = {0};
    const bool is_known =
        type == CU_GRAPH_NODE_TYPE_KERNEL && cts_sanitizer.cuGraphKernelNodeGetParams &&
        cts_sanitizer.cuGraphKernelNodeGetParams(node, &parameters) == CUDA_SUCCESS;
    return is_known ? (const void *)parameters.func : NULL;
}

static bool number_node(struct level *level, struct cts_graph_numbers *numbers, uint32_t place,
                        int depth)
{
    const CUgraphNode node = level->nodes[place];
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    const uint32_t number = numbers->count++;
    uint64_t *const known = cts_map_at(&numbers->by_node, (uint64_t)(uintptr_t)node, NULL);
    if (!known || CTS_ARRAY_RESERVE(&numbers->nodes, numbers->nodes.count + 1, NULL) ||
        cts_sanitizer.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return false;
    numbers->nodes.items[numbers->nodes.count++] = (struct cts_numbered_node){
        node, type, function_of(node, type), copy_of(node, type), number};
    *known = numbers->nodes.count;
    level->begin[place] = level->end[place] = number;
    if (type != CU_GRAPH_NODE_TYPE_GRAPH) return true;
    if (!number_child(numbers, node, number, depth)) return false;
    level->end[place] = numbers->count - 1; /* the last that it gave */
    return true;
}

static bool is_listed_in_order(const struct level *level)
{
    size_t e = 0;
    while (e < level->edge_count && level->from_at[e] < level->to_at[e]) e++;
    return e == level->edge_count;
}

/* Fills the queue in an order of dependence. False: there is a circle. */
static bool queue_nodes(struct level *level)
{
    size_t first = 0, last = 0;
    const bool is_ready = is_listed_in_order(level);
    for (uint32_t n = 0; n < level->node_count; n++)
        if (is_ready || !level->open[n]) level->queue[last++] = n;
    for (; !is_ready && first < last; first++) {
        const uint32_t place = level->queue[first];
        for (uint32_t i = level->first_of[place]; i < level->first_of[place + 1]; i++)
            if (--level->open[level->after[i]] == 0) level->queue[last++] = level->after[i];
    }
    return last == level->node_count;
}

static bool number_nodes(struct level *level, struct cts_graph_numbers *numbers, int depth)
{
    bool done = queue_nodes(level);
    for (size_t n = 0; done && n < level->node_count; n++)
        done = number_node(level, numbers, level->queue[n], depth);
    return done;
}

static bool add_edges(const struct level *level, struct cts_graph_numbers *numbers, uint32_t begin)
{
    bool *const follows = calloc(level->node_count + 1, sizeof *follows);
    bool done = follows != NULL;
    for (size_t e = 0; done && e < level->edge_count; e++) {
        follows[level->to_at[e]] = true;
        done = add_edge(numbers, level->begin[level->to_at[e]], level->end[level->from_at[e]]);
    }
    for (size_t n = 0; done && begin != NO_NUMBER && n < level->node_count; n++)
        if (!follows[n]) done = add_edge(numbers, level->begin[n], begin);
    free(follows);
    return done;
}

/* A child's end follows its begin and all of its nodes that nothing in it follows. */
static bool end_child(const struct level *level, struct cts_graph_numbers *numbers, uint32_t begin)
{
    const uint32_t end = numbers->count++;
    bool done = add_edge(numbers, end, begin);
    for (size_t n = 0; done && n < level->node_count; n++)
        if (!level->has_next[n]) done = add_edge(numbers, end, level->end[n]);
    return done;
}

static bool number_graph(CUgraph graph, struct cts_graph_numbers *numbers, uint32_t begin,
                         int depth)
{
    struct level level = {0};
    const bool done = depth < DEPTH_MAX && list(graph, &level) && make_room(&level) &&
                      join_nodes(&level) && number_nodes(&level, numbers, depth) &&
                      add_edges(&level, numbers, begin) &&
                      (begin == NO_NUMBER || end_child(&level, numbers, begin));
    release_level(&level);
    return done;
}

bool cts_graph_numbers_read(CUgraph graph, struct cts_graph_numbers *numbers)
{
    *numbers = (struct cts_graph_numbers){0};
    const bool able = cts_sanitizer.cuGraphGetNodes && cts_sanitizer.cuGraphGetEdges &&
                      cts_sanitizer.cuGraphNodeGetType &&
                      cts_sanitizer.cuGraphChildGraphNodeGetGraph;
    if (able && number_graph(graph, numbers, NO_NUMBER, 0)) return true;
    cts_graph_numbers_release(numbers);
    return false;
}

void cts_graph_numbers_release(struct cts_graph_numbers *numbers)
{
    for (size_t i = 0; i < numbers->nodes.count; i++) free(numbers->nodes.items[i].copy);
    free(numbers->nodes.items);
    free(numbers->edges.items);
    cts_map_release(&numbers->by_node);
    *numbers = (struct cts_graph_numbers){0};
}
