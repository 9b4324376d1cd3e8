/* The executable graphs of a rank: which node follows which, and *branches*: paths that cover the
 * graph, so that nodes of one branch follow each other. */
#ifndef CTS_FLOW_GRAPHS_H
#define CTS_FLOW_GRAPHS_H

#include "common/error.h"
#include "trace/catalogue.h"

struct cts_flow_graph {
    uint32_t graph;       /* its number in the catalogue */
    uint32_t node_count;  /* with those that do nothing */
    uint32_t *edge_begin; /* of node n: edges [edge_begin[n], edge_begin[n + 1]) */
    uint32_t *after;      /* by edge: a node below n that n follows */
    uint32_t *branch;     /* by node */
    uint32_t branch_count;
};

struct cts_flow_graphs {
    struct cts_flow_graph *items; /* ascending numbers */
    size_t count;
};

/* CTS_FORMAT: an edge that does not go from a lower to a higher node; CTS_LIMIT: too many nodes. */
CTS_MUST_CHECK enum cts_status cts_flow_graphs_make(const struct cts_catalogue *catalogue,
                                                    uint32_t rank, struct cts_flow_graphs *graphs,
                                                    struct cts_error *error);
void cts_flow_graphs_release(struct cts_flow_graphs *graphs);
/* NULL: there is none of that number. */
struct cts_flow_graph *cts_flow_graph_find(const struct cts_flow_graphs *graphs, uint32_t graph);

#endif
