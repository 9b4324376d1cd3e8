/* A projection under way, which the files of whatif-replay.c share: where each location stands, who
 * waits for whom, and what the times so far are.
 *
 *     whatif-replay.c     who goes on next; streams
 *     whatif-hosts.c        host locations
 *     whatif-devices.c      kernels that share a device
 *     whatif-run.c        waiting for a location */
#ifndef CTS_ANALYZE_PATH_WHATIF_RUN_H
#define CTS_ANALYZE_PATH_WHATIF_RUN_H

#include "analyze/path/whatif-replay.h"
#include "analyze/path/whatif-room.h"

#define CTS_WHATIF_UNSET  UINT64_MAX
#define CTS_WHATIF_ALWAYS UINT64_MAX /* an event that no change of rates outdates */

struct cts_whatif_lane { /* where a location stands */
    uint32_t next;       /* node; of a stream: activity */
    size_t rule;         /* of the node or later */
    uint32_t waiter;     /* first of those that wait for this location: index + 1 */
    uint32_t sibling;    /* the next one that waits for the same */
    uint32_t awaited;    /* whose list it is in: index + 1 */
    bool listed;         /* is in the list of those that can go on */
    bool begun;     /* of a stream: the next activity has begun, but not met all it waits for */
    bool collapsed; /* the last query had nothing to wait for */

    uint8_t asked; /* a query: 1 in the heap, 2 its time has come */
};

struct cts_whatif_pool_state {
    uint32_t known; /* edges with a time, from the first */
    uint64_t latest_ns;
};

struct cts_whatif_run {
    struct cts_whatif_replay *replay;
    const struct cts_whatif_plan *plan;
    const struct cts_path_graph *graph;
    struct cts_whatif_lane *lanes;
    struct cts_whatif_pool_state *pools;
    uint32_t *ready; /* a stack of locations */
    uint32_t ready_count;
    struct cts_whatif_room *rooms; /* per device */
    struct cts_whatif_events events;
    bool force; /* unknown bounds are left out, to break a circle */
    struct cts_error *error;
};

enum cts_whatif_step { CTS_WHATIF_GOES_ON, CTS_WHATIF_BLOCKED, CTS_WHATIF_FAILED };

/* ---- times ---- */

static inline uint64_t *cts_whatif_node_time(const struct cts_whatif_run *run, uint32_t location,
                                             uint32_t node)
{
    return &run->replay->time_ns[run->plan->places[location].base + node];
}

static inline uint64_t cts_whatif_scale(uint64_t duration_ns, double factor)
{
    if (factor == 1) return duration_ns;
    const double scaled = (double)duration_ns * factor;
    return scaled < 9e18 ? (uint64_t)(scaled + 0.5) : (uint64_t)9e18;
}

static inline uint64_t cts_whatif_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline double cts_whatif_factor_after(const struct cts_whatif_run *run,
                                             const struct cts_path_location *at, uint32_t node)
{
    return run->replay->factors[at->who->process][cts_path_region_after(run->graph, at, node)];
}

static inline double cts_whatif_latency_factor(const struct cts_whatif_run *run,
                                               const struct cts_path_location *at,
                                               enum cts_path_pseudo latency)
{
    return run->replay->factors[at->who->process][run->graph->system->pseudo + latency];
}

static inline int64_t cts_whatif_scale_tail(int64_t tail_ns, double factor)
{
    return tail_ns > 0 ? (int64_t)cts_whatif_scale((uint64_t)tail_ns, factor)
                       : -(int64_t)cts_whatif_scale((uint64_t)-tail_ns, factor);
}

/* When an edge's source is done; CTS_WHATIF_UNSET: not known yet. */
static inline uint64_t cts_whatif_source_time(const struct cts_whatif_run *run,
                                              const struct cts_path_edge *edge)
{
    if (edge->node == CTS_PATH_NONE) return edge->source_ns;
    const uint64_t time_ns = *cts_whatif_node_time(run, edge->location, edge->node);
    const struct cts_path_location *const at = &run->graph->locations[edge->location];
    if (time_ns == CTS_WHATIF_UNSET || edge->source_ns <= at->time_ns[edge->node]) return time_ns;
    return time_ns + cts_whatif_scale(edge->source_ns - at->time_ns[edge->node],
                                      cts_whatif_factor_after(run, at, edge->node));
}

/* ---- whatif-run.c ---- */

/* `location` waits for `source`. */
void cts_whatif_block(struct cts_whatif_run *run, uint32_t location, uint32_t source);
/* `location` can go on. */
void cts_whatif_list(struct cts_whatif_run *run, uint32_t location);
/* Those that wait for `location` can go on. */
void cts_whatif_wake(struct cts_whatif_run *run, uint32_t location);
/* The latest source of a wait. False: blocked. */
bool cts_whatif_wait_latest(struct cts_whatif_run *run, uint32_t location, uint32_t index,
                            uint64_t *latest_ns);

/* ---- whatif-hosts.c ---- */

/* When something begins that follows nothing: so long after the first event of all. */
uint64_t cts_whatif_start_of(const struct cts_whatif_run *run, const struct cts_path_location *at,
                             uint64_t time_ns);
/* As far as it goes. */
enum cts_whatif_step cts_whatif_go_host(struct cts_whatif_run *run, uint32_t location);

/* ---- whatif-devices.c ---- */

/* The earliest event of the heap. */
CTS_MUST_CHECK enum cts_status cts_whatif_on_event(struct cts_whatif_run *run);

#endif
