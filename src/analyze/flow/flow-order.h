/* The nodes of a run, and which of them are ordered: docs/flow.md, 'Nodes' and 'Order'.
 *
 * Every node has a place in a chain: a stream, a branch of its graphs, a host thread, or the frees
 * of a host thread (that wait for the device, which the thread is not promised to notice). A clock
 * counts, for each chain of the rank, the nodes that have ended before. */
#ifndef CTS_FLOW_ORDER_H
#define CTS_FLOW_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/order/clocks.h"
#include "common/error.h"
#include "common/promise.h"
#include "trace/catalogue.h"

enum cts_flow_node_kind {
    CTS_FLOW_LAUNCH,
    CTS_FLOW_COPY,
    CTS_FLOW_MEMSET,
    CTS_FLOW_HOST_LOAD,
    CTS_FLOW_HOST_STORE,
    CTS_FLOW_ALLOCATION,
    CTS_FLOW_FREE,
};

struct cts_flow_node {
    uint8_t kind;      /* enum cts_flow_node_kind */
    bool is_in_stream; /* false: done by the host thread */
    bool is_staged;    /* a copy that has read its source when its call returns */
    uint32_t rank;
    size_t index;    /* in the catalogue's launches, copies, host_accesses, allocations */
    uint64_t op;     /* of its row */
    uint32_t thread; /* that requested it */
    uint32_t stream; /* id; CTS_NONE: none */
    uint32_t chain, position;
    size_t clock;      /* of its first number, in clocks */
    size_t host_clock; /* launch, copy, memset: what its thread knew when it requested it */
};

/* What counts as order. Each level contains those above it. */
enum cts_flow_level {
    CTS_FLOW_SURE,
    CTS_FLOW_THREADS, /* host threads always synchronise */
    CTS_FLOW_CALLS,   /* calls that wait although nobody promises it */
    CTS_FLOW_SIGNALS, /* host functions and kernels tell the host that they have ended */
    CTS_FLOW_LEVELS
};

struct cts_flow_order {
    struct cts_flow_node *nodes; /* in call order, rank after rank */
    size_t node_count, node_capacity;
    struct cts_clock_list clocks;
    uint32_t *chain_counts; /* by index of the rank in `ranks` */
    uint32_t *ranks;
    size_t rank_count;
};

/* Blocking synchronisations of a host thread, and who decides during the pass which of them count.
 * Clocks have `width` numbers; `host` is what the thread knows. */
struct cts_flow_wait {
    size_t sync;                  /* index in the catalogue */
    uint32_t thread;              /* index, of those of the rank */
    const uint32_t *host, *after; /* before the wait, and behind it if it counts */
};
struct cts_flow_rank {
    uint32_t rank, chain_count, thread_count;
};
struct cts_flow_wait_judge {
    void *state;
    enum cts_status (*begin)(void *state, const struct cts_flow_rank *rank,
                             struct cts_error *error);
    enum cts_status (*wait)(void *state, const struct cts_flow_wait *wait, bool *counts,
                            struct cts_error *error);
    /* The next node, preceded by what `clock` knows; both clocks may be advanced. */
    enum cts_status (*node)(void *state, uint32_t thread, uint32_t *clock, uint32_t *host,
                            struct cts_error *error);
    /* An event was recorded behind what `clock` knows. */
    enum cts_status (*event)(void *state, uint64_t event, const uint32_t *clock,
                             struct cts_error *error);
    enum cts_status (*end)(void *state, const uint32_t *thread_clocks, struct cts_error *error);
};

struct cts_flow_order_options {
    enum cts_flow_level level;
    const bool *tells_host; /* CTS_FLOW_SIGNALS: by index of the launch in the catalogue */
    const struct cts_flow_wait_judge *waits; /* NULL: all count */
};

/* The catalogue must outlive the order. Nodes, chains and positions do not depend on the level.
 * CTS_LIMIT: too many chains; CTS_FORMAT: graphs that are none. */
CTS_MUST_CHECK enum cts_status cts_flow_order_make(const struct cts_catalogue *catalogue,
                                                   const struct cts_flow_order_options *options,
                                                   struct cts_flow_order *order,
                                                   struct cts_error *error);
void cts_flow_order_release(struct cts_flow_order *order);

/* u -> v. The accesses of a host function have one place, and follow each other. */
static inline bool cts_flow_precedes(const struct cts_flow_order *order, size_t u, size_t v)
{
    const struct cts_flow_node *const a = &order->nodes[u], *const b = &order->nodes[v];
    if (a->rank != b->rank) return false;
    if (a->chain == b->chain)
        return a->position < b->position || (a->position == b->position && u < v);
    return order->clocks.items[b->clock + a->chain] > a->position;
}
static inline bool cts_flow_is_ordered(const struct cts_flow_order *order, size_t u, size_t v)
{
    assert(u < order->node_count && v < order->node_count);
    const struct cts_flow_node *const a = &order->nodes[u], *const b = &order->nodes[v];
    return a->rank == b->rank && (a->chain == b->chain || cts_flow_precedes(order, u, v) ||
                                  cts_flow_precedes(order, v, u));
}

/* The op at which the last host function before a node ended; 0: there is none. Ops beyond 2^32 - 1
 * count as that. */
uint32_t cts_flow_gate(const struct cts_flow_order *order, size_t node);

/* Whether a row waits until the device's work has ended. `try` counts these rows of a process from
 * 0: wait:N. */
bool cts_flow_is_wait(const struct cts_sync *sync);

#endif
