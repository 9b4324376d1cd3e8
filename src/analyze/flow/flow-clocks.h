/* One pass over a rank's requests, in the order of the host's calls.
 *
 * It keeps a clock for each stream (what precedes its next work), each host thread (what it knows
 * to have ended), each event and what was freed. A clock has a number for each chain, and behind
 * them the gate (cts_flow_gate()), of which the largest wins just so.
 *
 *     flow-order.c          the requests of a rank, each handed to one of
 *     flow-host.c             allocations, frees, CPU accesses, synchronisations
 *     flow-graph-launch.c     launches of graphs, whose steps are works
 *     flow-works.c            launches, copies, host functions; adds nodes through
 *     flow-clocks.c           nodes, chains and their clocks */
#ifndef CTS_FLOW_CLOCKS_H
#define CTS_FLOW_CLOCKS_H

#include "analyze/flow/flow-freed.h"
#include "analyze/flow/flow-graphs.h"
#include "analyze/flow/flow-order.h"
#include "analyze/flow/flow-rows.h"
#include "analyze/order/clocks.h"
#include "analyze/order/stream-clocks.h"

/* The chains of a stream: one for each branch of its widest graph. */
struct cts_flow_branches {
    uint32_t first, count;
};

struct cts_flow_clocks {
    const struct cts_flow_order_options *options;
    struct cts_flow_order *order; /* gets the nodes */
    struct cts_error *error;
    struct cts_flow_rows rows;
    struct cts_stream_clocks streams;
    struct cts_flow_branches *branches; /* by index of the stream */
    uint32_t chain_count;
    uint32_t *positions;      /* by chain: nodes so far */
    size_t *last_clocks;      /* by chain: of its last node in order->clocks */
    uint32_t *thread_clocks;  /* by thread, streams.width numbers each */
    size_t *kept_clocks;      /* by thread: the last that was kept in order->clocks */
    uint32_t *free_clocks;    /* by thread: behind its last cudaFree */
    uint32_t *shared;         /* what some thread knows: CTS_FLOW_THREADS */
    uint32_t **told;          /* by row of thread_order, between its two ops */
    uint32_t **function_ends; /* by host function, CTS_FLOW_SIGNALS */
    struct cts_flow_graphs graphs;
    uint32_t **graph_ends; /* by index of the graph: clock behind its last launch; NULL: none */
    struct cts_flow_freed freed;
};

static inline bool cts_flow_at_least(const struct cts_flow_clocks *clocks,
                                     enum cts_flow_level level)
{
    return clocks->options->level >= level;
}
static inline void cts_flow_join(const struct cts_flow_clocks *clocks, uint32_t *clock,
                                 const uint32_t *other)
{
    cts_clock_join(clock, other, clocks->streams.width);
}
static inline uint32_t *cts_flow_thread_clock(const struct cts_flow_clocks *clocks, uint32_t thread)
{
    return clocks->thread_clocks + (size_t)thread * clocks->streams.width;
}
static inline uint32_t *cts_flow_free_clock(const struct cts_flow_clocks *clocks, uint32_t thread)
{
    return clocks->free_clocks + (size_t)thread * clocks->streams.width;
}
static inline struct cts_flow_branches *cts_flow_branches_of(const struct cts_flow_clocks *clocks,
                                                             const struct cts_stream_clock *stream)
{
    return &clocks->branches[stream - clocks->streams.items];
}

/* ---- flow-clocks.c ---- */

/* Starts a pass over a rank; cts_flow_clocks_release() after a failure, too. */
CTS_MUST_CHECK enum cts_status cts_flow_clocks_start(struct cts_flow_clocks *clocks,
                                                     const struct cts_catalogue *catalogue,
                                                     uint32_t rank);
void cts_flow_clocks_release(struct cts_flow_clocks *clocks);

/* A clock at zero, the caller's; NULL: no memory. */
uint32_t *cts_flow_new_clock(const struct cts_flow_clocks *clocks);
/* A node of node->chain, preceded by what `clock` knows. */
CTS_MUST_CHECK enum cts_status cts_flow_add_node(struct cts_flow_clocks *clocks,
                                                 const struct cts_flow_node *node, uint32_t *clock);
/* Where what the thread knows now is kept, in order->clocks. */
CTS_MUST_CHECK enum cts_status cts_flow_keep_thread_clock(struct cts_flow_clocks *clocks,
                                                          uint32_t thread, size_t *place);
/* The place of the chain's nodes so far is past; `clock` knows it. */
void cts_flow_pass(struct cts_flow_clocks *clocks, uint32_t chain, uint32_t *clock);
/* A stream is about to get something from a host thread. */
void cts_flow_begin_work(const struct cts_flow_clocks *clocks, struct cts_stream_clock *stream,
                         uint32_t thread);

/* ---- flow-works.c: `thread` is an index in rows.threads ---- */

/* Where a work goes: the chain and the clock of what precedes it, which then knows the work. */
struct cts_flow_seat {
    uint32_t thread, chain;
    uint32_t *clock;
};
CTS_MUST_CHECK enum cts_status cts_flow_add_work(struct cts_flow_clocks *clocks,
                                                 const struct cts_flow_work *work,
                                                 const struct cts_flow_seat *seat);
/* A host thread gives a work to its stream. */
CTS_MUST_CHECK enum cts_status cts_flow_issue(struct cts_flow_clocks *clocks,
                                              const struct cts_flow_work *work, uint32_t thread);

/* ---- flow-graph-launch.c ---- */

/* The graph launch whose steps begin at rows.steps[first]. */
CTS_MUST_CHECK enum cts_status cts_flow_launch_graph(struct cts_flow_clocks *clocks, size_t first,
                                                     uint32_t thread);

/* ---- flow-host.c: `index` of the row in the catalogue ---- */

CTS_MUST_CHECK enum cts_status cts_flow_allocate(struct cts_flow_clocks *clocks, size_t index,
                                                 uint32_t thread);
CTS_MUST_CHECK enum cts_status cts_flow_free_memory(struct cts_flow_clocks *clocks, size_t index,
                                                    uint32_t thread);
CTS_MUST_CHECK enum cts_status cts_flow_host_access(struct cts_flow_clocks *clocks, size_t index,
                                                    uint32_t thread);
CTS_MUST_CHECK enum cts_status cts_flow_synchronise(struct cts_flow_clocks *clocks, size_t index,
                                                    uint32_t thread);

#endif
