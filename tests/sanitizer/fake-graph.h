/* A graph of the driver and Sanitizer that are none: what a CUgraph and its CUgraphNodes point to.
 */
#ifndef FAKE_GRAPH_H
#define FAKE_GRAPH_H

#include <stddef.h>
#include <stdint.h>

enum { FAKE_NODES_MAX = 16 };

struct fake_node {
    int type; /* CUgraphNodeType */
    struct fake_graph *child;
    uint32_t after; /* a bit for each node that precedes it */
    uint64_t place, size_bytes;
    void *function;
    char tells; /* the letter that it was made of */
};
struct fake_graph {
    size_t count;
    struct fake_node nodes[FAKE_NODES_MAX];
};

#endif
