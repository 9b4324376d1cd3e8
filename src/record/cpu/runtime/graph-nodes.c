/* The nodes of a graph: works and what each depends on. */
#include "graph-nodes.h"

#include <stdlib.h>

bool cts_append_pointer(void ***array, size_t *count, void *element)
{
    void **grown = realloc(*array, (*count + 1) * sizeof *grown);
    if (!grown) return false;
    *array = grown;
    grown[(*count)++] = element;
    return true;
}

bool cts_graph_depend(struct CUgraphNode_st *node, struct CUgraphNode_st *dependency)
{
    return cts_append_pointer((void ***)(void *)&node->dependencies, &node->dependency_count,
                              dependency);
}

static void free_node(struct CUgraphNode_st *node)
{
    if (!node) return;
    cts_work_release(&node->work);
    if (node->child) cts_graph_free(node->child);
    free(node->dependencies);
    free(node);
}

struct CUgraphNode_st *cts_graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                     struct cts_work *work,
                                     struct CUgraphNode_st *const *dependencies, size_t count)
{
    struct CUgraphNode_st *const node = calloc(1, sizeof *node);
    if (!node) {
        cts_work_release(work);
        return NULL;
    }
    node->graph = graph;
    node->type = type;
    node->work = *work;
    bool done = true;
    for (size_t i = 0; i < count && done; i++) done = cts_graph_depend(node, dependencies[i]);
    if (done && cts_append_pointer((void ***)(void *)&graph->nodes, &graph->count, node))
        return node;
    free_node(node);
    return NULL;
}

void cts_graph_free(struct CUgraph_st *graph)
{
    for (size_t i = 0; i < graph->count; i++) free_node(graph->nodes[i]);
    cts_graph_memory_release(graph->memory);
    free(graph->nodes);
    free(graph);
}
