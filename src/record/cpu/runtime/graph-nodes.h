/* The nodes of graphs (graph-nodes.c), for who makes them: graph-api.c and capture.c. */
#ifndef CTS_CPU_GRAPH_H
#define CTS_CPU_GRAPH_H

#include "graph-memory.h"
#include "runtime.h"
#include "work.h"

struct CUgraphNode_st {
    struct CUgraph_st *graph;
    enum cudaGraphNodeType type;
    struct cts_work work;     /* CTS_WORK_NOTHING for empty nodes and child graphs */
    struct CUgraph_st *child; /* owned copy */
    struct CUgraphNode_st **dependencies;
    size_t dependency_count;
    struct CUgraphNode_st *copied_to; /* while cloning */
    bool is_ordered;                  /* while sorting */
    uint32_t end;                     /* while sorting: what follows the node follows this number */
};

struct CUgraph_st {
    struct CUgraphNode_st **nodes; /* in the order in which they were added */
    size_t count;
    struct cts_graph_memory *memory;
};

/* A new node that takes the work over; NULL without memory. */
struct CUgraphNode_st *cts_graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                     struct cts_work *work,
                                     struct CUgraphNode_st *const *dependencies, size_t count);

/* False: no memory. */
bool cts_graph_depend(struct CUgraphNode_st *node, struct CUgraphNode_st *dependency);
void cts_graph_free(struct CUgraph_st *graph);

/* Lengthens an array of pointers by one; false without memory. */
bool cts_append_pointer(void ***array, size_t *count, void *element);

#endif
