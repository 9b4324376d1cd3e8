/* The event graph: what ran where from when to when, and who depends on whom. Packed arrays, 16
 * bytes an event and some 50 more for an event that depends on another location; indices are u32.
 *
 * A *node* is an enter or a leave (on a device stream: begin and end of a kernel, copy or memset).
 * Nodes are numbered per location, by time. An *activity* is named by its enter node. What runs in
 * the interval from node i to node i + 1 is `active[i]`: an enter node, or NONE.
 *
 * A *wait* is a call (or a held device activity) that depends on other locations, whether or not it
 * had to wait: [begin, end) is empty if it did not. Its *edges* are the things awaited: each is
 * done at source_ns on its location. At an instant of the wait, those with a later source_ns are
 * still awaited. Waits of one location never overlap.
 *
 * With several processes each holds the nodes of its own ranks; of the others it knows those waits
 * of host threads for host threads that are not empty. */
#ifndef CTS_ANALYZE_PATH_GRAPH_H
#define CTS_ANALYZE_PATH_GRAPH_H

#include "analyze/path/result.h"
#include "analyze/path/source.h"
#include "common/array.h"
#include "common/map.h"
#include "common/promise.h"

#define CTS_PATH_NONE  UINT32_MAX
#define CTS_PATH_LEAVE (1u << 31) /* in region[]: the node is a leave */

#define CTS_PATH_LIST(type, name)                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    } name

struct cts_path_edge {
    uint64_t source_ns;
    uint32_t location;
    uint32_t node; /* of `location`: the last one at or before the source; NONE: find it by time */
};

enum cts_path_wait_flags {
    CTS_PATH_POOLED = 1,     /* `first` is an index in graph->pools, whose edges several share */
    CTS_PATH_TRANSFER = 2,   /* the path leaves at the leave; [source, leave) is MPI transfer */
    CTS_PATH_AT_CALL = 4,    /* the path leaves at `call` itself; [source, call) is a latency */
    CTS_PATH_NO_JUMP = 8,    /* the path does not leave through it (BlameSync; clocks differ) */
    CTS_PATH_HOST_HOST = 16, /* a host thread waits for host threads */
    CTS_PATH_OWN = 32        /* with TRANSFER: [source, leave) is the call's own work */
};

struct cts_path_wait {
    uint64_t begin_ns, end_ns;
    uint32_t call;  /* enter node; NONE: of another location (BlameSync) */
    uint32_t leave; /* its leave node */
    uint32_t first; /* edge of its location, or a pool */
    uint32_t count : 20, pattern : 6, flags : 6;
};
enum { CTS_PATH_EDGES_MAX = (1 << 20) - 1 };

/* A device activity, in the order of its stream. */
struct cts_path_activity {
    uint32_t begin, end;  /* nodes */
    uint32_t host;        /* location of the launching call; NONE: unknown */
    uint32_t launch;      /* its enter node there */
    uint64_t launched_ns; /* leave of the launch, or begin if that is earlier */
};

/* How a kernel was launched; cta_count 0: unknown. */
struct cts_path_config {
    uint64_t cta_count;
    uint32_t threads;   /* of a CTA */
    uint32_t registers; /* of a thread */
    uint64_t shared_bytes;
};

/* A place where the path leaves a location: a wait, or the launch of an activity. By node. */
struct cts_path_jump {
    uint32_t node;
    uint32_t index; /* of a wait; with CTS_PATH_LAUNCH: of an activity */
};
#define CTS_PATH_LAUNCH (1u << 31)

struct cts_path_edges {
    struct cts_path_edge *items;
    size_t count, capacity;
};
struct cts_path_waits {
    struct cts_path_wait *items;
    size_t count, capacity;
};
struct cts_path_jumps {
    struct cts_path_jump *items;
    size_t count, capacity;
};
struct cts_path_activities {
    struct cts_path_activity *items;
    size_t count, capacity;
};
struct cts_path_configs { /* by activity; the list ends with the last one that is known */
    struct cts_path_config *items;
    size_t count, capacity;
};

/* Whether kernels of a stream's device run one at a time, as far as the recording shows. */
enum cts_path_turns {
    CTS_PATH_TURNS_UNKNOWN, /* they never overlapped, and hardly ever could have */
    CTS_PATH_TURNS_TAKEN,
    CTS_PATH_TURNS_NONE
};

struct cts_path_hints { /* TURNS_UNKNOWN: activities that may have waited for other streams' */
    uint32_t *items;
    size_t count, capacity;
};

struct cts_path_location {
    uint64_t *time_ns;
    uint32_t *region; /* index in graph->regions, | CTS_PATH_LEAVE */
    uint32_t *active;
    size_t count, capacity; /* nodes */
    bool stream;
    uint8_t turns;               /* of a stream: enum cts_path_turns */
    uint32_t process;            /* dense index of its process, in the order of ranks */
    uint32_t order;              /* for ties: rank, host before streams, then index */
    struct cts_path_waits waits; /* by begin */
    struct cts_path_edges edges;
    struct cts_path_jumps jumps;
    struct cts_path_activities activities;
    struct cts_path_configs configs;
    struct cts_path_hints hints;
    struct cts_path_raw *raw; /* what was read; gone when the graph is complete */
};

/* A collective or a barrier of threads: who came when. */
struct cts_path_pool {
    uint32_t first, count; /* in graph->pool_edges */
    uint64_t latest_ns;
};

/* Regions of the timeline, then what has none there. */
#define CTS_PATH_PSEUDO_MAP(X)                                                                     \
    X(COPY_HTOD, "copy host to device")                                                            \
    X(COPY_DTOH, "copy device to host")                                                            \
    X(COPY_DTOD, "copy device to device")                                                          \
    X(LAUNCH_LATENCY, "launch latency")                                                            \
    X(MPI_TRANSFER, "MPI transfer")                                                                \
    X(THREAD_START, "thread start")                                                                \
    X(START, "before the first event")                                                             \
    X(NO_REGION, "outside all regions")                                                            \
    X(FLUSH, "trace buffer flush")
enum cts_path_pseudo {
#define X(name, text) CTS_PATH_##name,
    CTS_PATH_PSEUDO_MAP(X)
#undef X
        CTS_PATH_PSEUDO_COUNT
};

/* What analyses know of a region, by its name and role. */
enum cts_path_class {
    CTS_PATH_PLAIN,
    CTS_PATH_API,     /* of a device: `api` says what */
    CTS_PATH_BARRIER, /* of OpenMP */
    CTS_PATH_TASK,    /* OMPT's implicit task: its begin on a thread */
    CTS_PATH_ALL,     /* MPI_Init, MPI_Finalize: no record says that they wait for all */
    CTS_PATH_PROBE,
    CTS_PATH_WAITING, /* MPI_Wait...: completes what others began */
    CTS_PATH_POST,    /* MPI_Win_post, _start, _complete, _wait or _test */
    CTS_PATH_ACCESS,
    CTS_PATH_COMPLETE,
    CTS_PATH_EXPOSED,
};

struct cts_path_region {
    const char *name;
    enum cts_paradigm paradigm;
    uint8_t kind; /* enum cts_path_class */
    uint8_t api;  /* enum cts_path_api */
    uint8_t direction;
};

/* A part of a long timeline, between two synchronisations of all (windows.c). */
struct cts_path_stretch {
    bool first, last;              /* of the timeline */
    uint64_t begin_ns, end_ns;     /* unless it is the first, the last */
    uint32_t end_location;         /* who came last to the synchronisation at its end */
    struct cts_map *known;         /* [process]: CUDA events recorded before it; added to */
    struct cts_map *launched;      /* [process]: kernels launched before it; added to */
    const uint64_t *rank_first_ns; /* [process]: its first event */
};

/* The longest that the path stays in an activity; ns 0: never. */
struct cts_path_found {
    uint64_t ns, begin_ns;
    uint32_t location, node; /* the node before it */
};

struct cts_path_graph {
    const struct cts_path_source *source;
    const struct cts_timeline *timeline;
    const struct cts_path_options *options;
    const struct cts_processes *processes;
    unsigned threads;
    struct cts_path_region *regions;
    uint32_t region_count; /* with the pseudo ones */
    uint32_t pseudo;       /* index of the first pseudo region */
    struct cts_path_location *locations;
    uint32_t location_count;
    uint32_t process_count;  /* of the trace, by rank */
    uint32_t *process_group; /* [process]: index in timeline->groups */
    uint32_t *process_first; /* [process + 1]: its locations are by_process[first...] */
    uint32_t *by_process;    /* locations by order */
    unsigned *process_owner; /* [process]: which of our processes holds it */
    struct cts_path_pool *pools;
    size_t pool_count;
    struct cts_path_edge *pool_edges;
    size_t pool_edge_count;
    bool is_empty;              /* a stretch in which nobody did anything */
    uint64_t first_ns, last_ns; /* of all events */
    uint64_t from_ns, to_ns;    /* what is counted */
    uint64_t event_count, node_count;
    uint64_t mpi_begin_ns, mpi_end_ns; /* first enter of MPI_Init, last leave of MPI_Finalize */
    const struct cts_path_stretch *stretch; /* NULL: the whole timeline */
    uint64_t *warnings;                     /* [CTS_PATH_WARNING_COUNT], of this process */
    struct cts_path_row *rows;              /* [region_count]: calls and times, of this process */
    uint64_t *rank_ns;                   /* [process][region]: exclusive time, of own processes */
    struct cts_path_starts starts;       /* of own processes */
    struct cts_path_blames *kept_blames; /* [location_count]: filled by cts_path_blame(); NULL */
    struct cts_path_found *stays;        /* [region_count]: filled by cts_path_walk(); NULL */
};

static inline bool cts_path_is_mine(const struct cts_path_graph *graph, uint32_t location)
{
    return graph->process_owner[graph->locations[location].process] ==
           (graph->processes ? graph->processes->rank : 0);
}

/* The location that stands for a process: any of its threads may send, receive and take part for
 * its rank. */
static inline uint32_t cts_path_home(const struct cts_path_graph *graph, uint32_t location)
{
    assert(location < graph->location_count);
    return graph->by_process[graph->process_first[graph->locations[location].process]];
}

/* What of [*from_ns, *to_ns) is counted; false: nothing. */
static inline bool cts_path_clip(const struct cts_path_graph *graph, uint64_t *from_ns,
                                 uint64_t *to_ns)
{
    if (*from_ns < graph->from_ns) *from_ns = graph->from_ns;
    if (*to_ns > graph->to_ns) *to_ns = graph->to_ns;
    return *from_ns < *to_ns;
}

static inline void cts_path_warn(struct cts_path_graph *graph, enum cts_path_warning warning,
                                 uint64_t count)
{
    assert(warning < CTS_PATH_WARNING_COUNT);
    if (count) __atomic_fetch_add(&graph->warnings[warning], count, __ATOMIC_RELAXED);
}

/* What runs on a location between a node (NONE: before the first) and the next. */
static inline uint32_t cts_path_region_after(const struct cts_path_graph *graph,
                                             const struct cts_path_location *at, uint32_t node)
{
    assert(node == CTS_PATH_NONE || node < at->count);
    if (node != CTS_PATH_NONE && at->active[node] != CTS_PATH_NONE)
        return at->region[at->active[node]] & ~CTS_PATH_LEAVE;
    if (at->stream) return graph->pseudo + CTS_PATH_LAUNCH_LATENCY;
    return graph->pseudo + (node == CTS_PATH_NONE ? CTS_PATH_START : CTS_PATH_NO_REGION);
}

void cts_path_graph_release(struct cts_path_graph *graph);
/* The edges of a wait of a location. */
static inline const struct cts_path_edge *cts_path_edges_of(const struct cts_path_graph *graph,
                                                            uint32_t location,
                                                            const struct cts_path_wait *wait,
                                                            size_t *count)
{
    assert((wait->flags & CTS_PATH_POOLED)
               ? wait->first < graph->pool_count
               : wait->first + wait->count <= graph->locations[location].edges.count);
    if (wait->flags & CTS_PATH_POOLED) {
        const struct cts_path_pool *const pool = &graph->pools[wait->first];
        *count = pool->count;
        return graph->pool_edges + pool->first;
    }
    *count = wait->count;
    return graph->locations[location].edges.items + wait->first;
}

/* The awaited thing that came last: NULL if none; ties: the lower location by order. */
const struct cts_path_edge *cts_path_binding(const struct cts_path_graph *graph, uint32_t location,
                                             const struct cts_path_wait *wait);

/* Where a jump leaves its location. */
struct cts_path_departure {
    uint32_t node;
    uint64_t time_ns;
};

/* The last node at or before `time_ns`; NONE if there is none. */
uint32_t cts_path_node_at(const struct cts_path_location *location, uint64_t time_ns);

/* The leave node of a call. */
uint32_t cts_path_leave_of(const struct cts_path_location *location, uint32_t call);
CTS_MUST_CHECK enum cts_status cts_path_add_wait(struct cts_path_location *location,
                                                 const struct cts_path_wait *wait,
                                                 const struct cts_path_edge *edges,
                                                 size_t edge_count, struct cts_error *error);

/* Runs work(state, i) for i below `count` on all threads; ends with the first failure by index. */
CTS_MUST_CHECK enum cts_status cts_path_for_each(const struct cts_path_graph *graph, size_t count,
                                                 enum cts_status (*work)(void *state, size_t index,
                                                                         struct cts_error *error),
                                                 void *state, struct cts_error *error);

#endif
