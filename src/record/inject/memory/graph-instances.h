/* Instances of graphs (CUgraphExec): their numbers, and what of them has to be known before or
 * after all nodes of a launch. */
#ifndef CTS_MEMORY_GRAPH_INSTANCES_H
#define CTS_MEMORY_GRAPH_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

/* What a graph has besides work: an event that it waits for, or memory that it allocates or frees.
 */
struct cts_graph_part {
    CUgraphNodeType type;
    uint64_t place; /* the event's handle, or the address */
    uint64_t size_bytes;
};

/* `instance` is made of `graph`, whose nodes and edges become rows. An update of an instance
 * changes neither. */
void cts_graph_instance_made(CUgraphExec instance, CUgraph graph);
void cts_graph_instance_forget(CUgraphExec instance);

/* A node that is launched. */
struct cts_launched_node {
    CUgraphNode node;
    CUgraphNodeType type;
    const void *function; /* NULL: it has none */
};
/* What is known of it: the numbers of its instance and its own in the catalogue, and of a copy what
 * it copied when the instance was made. */
struct cts_known_node {
    uint32_t graph, number;
    bool has_copy;
    CUDA_MEMCPY3D copy;
};
bool cts_graph_instance_node(CUgraphExec instance, const struct cts_launched_node *node,
                             struct cts_known_node *known);
/* A copy, which the caller frees; NULL: there are none. */
struct cts_graph_part *cts_graph_instance_parts(CUgraphExec instance, size_t *count);

#endif
