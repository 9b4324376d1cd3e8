/* The walk over all nodes in call order: which depends on which in how many bytes, which pairs
 * race, and what becomes of the bytes that each node writes. docs/flow.md defines all of it. */
#ifndef CTS_FLOW_EDGES_H
#define CTS_FLOW_EDGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/flow/flow-order.h"
#include "analyze/flow/flow-touch.h"
#include "analyze/tensor-maps.h"
#include "common/error.h"
#include "trace/catalogue.h"

/* From one node to a later one (by call order) in one allocation. */
struct cts_flow_edge {
    uint32_t from, to;   /* indices of nodes */
    uint32_t allocation; /* index in the catalogue; CTS_NONE: memory of no allocation */
    uint64_t raw_bytes, possible_raw_bytes, war_bytes, waw_bytes, commuting_bytes;
    uint64_t unread_waw_bytes; /* `to` stores over what nobody had read */
    uint64_t end_bytes;        /* an allocation or free on one side, a touch on the other */
    uint64_t race_bytes;       /* that conflict, in a pair that is not ordered */
    uint64_t first, end;       /* all of them lie in [first, end) */
    bool is_ordered;           /* from -> to */
    bool is_implied;           /* another predecessor of `to` follows `from` */
    bool is_raw_possible;      /* every raw byte: stores that are not recorded may lie between */
    bool is_outside;           /* of every allocation; races are not looked for */
};

/* What became of what a node did. */
struct cts_flow_use {
    uint64_t read_bytes, written_bytes;
    uint64_t outside_bytes;           /* written, outside of all allocations */
    uint64_t host_bytes;              /* written, where the host can read */
    uint64_t overwritten_bytes;       /* written to device memory, stored over before any read */
    uint64_t freed_bytes, left_bytes; /* freed, left at the end, before any read */
    uint64_t dead_sector_bytes;       /* of the three, in sectors that they fill */
    uint64_t overwritten_sector_bytes;
    uint64_t ended_bytes;      /* freed or left like that, where earlier values had been read */
    uint64_t unread_bytes;     /* written where the host can read, and nobody seen to */
    uint64_t stale_bytes;      /* read, and only an earlier tenant of the address wrote them */
    uint32_t stale_allocation; /* of some of them */
    bool hides_loads, hides_stores; /* a launch of which not all is recorded */
    bool hides_in_tensors;          /* what it stores unseen lies in its tensors */
};

/* A node touched an allocation. */
struct cts_flow_touched {
    uint32_t node, allocation; /* index in the catalogue; its count: memory of no allocation */
    bool wrote;
};

struct cts_flow_allocation_use {
    uint32_t first_node, last_node; /* that touched it; CTS_NONE: none */
    uint32_t nodes, launches;       /* that touched it */
    uint64_t touched_bytes;         /* bytes x nodes */
};

struct cts_flow_walk {
    const struct cts_catalogue *catalogue;
    const struct cts_flow_order *order;
    struct cts_flow_edge *edges; /* by `to`, then `from`, then allocation */
    size_t edge_count, edge_capacity;
    struct cts_flow_use *uses;                   /* by node */
    struct cts_flow_allocation_use *allocations; /* by index in the catalogue */
    struct cts_flow_touched *touched;            /* by node; without allocations and frees */
    size_t touched_count, touched_capacity;
    struct cts_tensor_maps tensors;
    bool *tells_host; /* by index of the launch in the catalogue */
    uint32_t
        *signal_group;   /* by node: nodes that may have waited for one another have one number */
    int64_t *live_bytes; /* by node: how live bytes change there; one more than nodes */
};

struct cts_flow_walk_options {
    const struct cts_access_source *source;
    bool host_seen;   /* CPU accesses were recorded */
    unsigned threads; /* 0: one for each processor */
    struct cts_progress *progress;
};

/* Catalogue and order must outlive the walk. */
CTS_MUST_CHECK enum cts_status cts_flow_walk_make(const struct cts_catalogue *catalogue,
                                                  const struct cts_flow_order *order,
                                                  const struct cts_flow_walk_options *options,
                                                  struct cts_flow_walk *walk,
                                                  struct cts_error *error);
void cts_flow_walk_release(struct cts_flow_walk *walk);

#endif
