/* The nodes and edges of a graph, numbered as the catalogue has them (graph_nodes, graph_edges). */
#ifndef CTS_MEMORY_GRAPH_NUMBERS_H
#define CTS_MEMORY_GRAPH_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#include "common/map.h"

struct cts_numbered_node {
    CUgraphNode node;
    CUgraphNodeType type;
    const void *function; /* of a kernel, if the driver tells; else NULL */
    CUDA_MEMCPY3D *copy;  /* of a copy, likewise; owned */
    uint32_t number;
};
struct cts_numbered_edge {
    uint32_t node, after; /* numbers; after < node */
};

struct cts_graph_numbers {
    struct cts_numbered_nodes {
        struct cts_numbered_node *items;
        size_t count, capacity;
    } nodes; /* by number; with those of child graphs */
    struct cts_numbered_edges {
        struct cts_numbered_edge *items;
        size_t count, capacity;
    } edges;
    struct cts_map by_node; /* handle to index in nodes + 1 */
    uint32_t count;         /* numbers; a child graph has one for its begin and one for its end */
};

/* Asks the driver. False: it does not tell, or there is no memory; `numbers` is empty then. */
bool cts_graph_numbers_read(CUgraph graph, struct cts_graph_numbers *numbers);
void cts_graph_numbers_release(struct cts_graph_numbers *numbers);

#endif
