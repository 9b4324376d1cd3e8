/* The event graph: when each activity ran, on which location, and which location it depended on.
 * Packed arrays take 16 bytes per event, and about 60 more for an event that depends on another
 * location. Indices are u32.
 *
 * A *node* is an enter or a leave (on a device stream: begin and end of a kernel, copy or memset).
 * Nodes are numbered per location, by time. An *activity* is named by its enter node. What runs in
 * the interval from node i to node i + 1 is `active[i]`: an enter node, or NONE.
 *
 * A *wait* is a call (or a held device activity) that depends on other locations, whether or not it
 * had to wait: [begin, end) is empty if it did not. Each of its *edges* is something that it waits
 * for, which is done at source_ns on its location. At any instant of the wait, the edges with a
 * later source_ns are pending. Waits of one location never overlap.
 *
 * With several processes, each process holds the nodes of its own ranks. Of the other ranks it
 * knows only the non-empty waits of host threads for host threads. */
#ifndef CTS_ANALYZE_PATH_GRAPH_H
#define CTS_ANALYZE_PATH_GRAPH_H

#include "analyze/path/path-system.h"
#include "common/array.h"
#include "common/map.h"
#include "common/promise.h"

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
    CTS_PATH_OWN = 32,       /* with TRANSFER: [source, leave) is the call's own work */
    CTS_PATH_CONTINUES = 64  /* a poll: it goes on with the wait of an earlier one (polls.h) */
};

struct cts_path_wait {
    uint64_t begin_ns, end_ns;
    uint32_t call;  /* enter node; NONE: of another location (BlameSync) */
    uint32_t leave; /* its leave node */
    uint32_t from;  /* node at which the wait begins: `call`, or the first poll of a loop */
    uint32_t to;    /* node at which it ends at the latest: `leave`, or the next poll's enter */
    uint32_t first; /* edge of its location, or a pool */
    uint32_t count : 19, pattern : 6, flags : 7;
};
enum { CTS_PATH_EDGES_MAX = (1 << 19) - 1 };

/* Polls of a region that repeat earlier ones of their loops. */
struct cts_path_repeats {
    uint32_t region;
    uint64_t count;
    uint64_t gap_ns; /* between them, as far as it is waiting */
};

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

/* Whether the recording shows that kernels of a stream's device run one at a time. */
enum cts_path_turns {
    CTS_PATH_TURNS_UNKNOWN, /* they never overlapped, but rarely had the chance */
    CTS_PATH_TURNS_TAKEN,
    CTS_PATH_TURNS_NONE
};

struct cts_path_hints { /* TURNS_UNKNOWN: activities that may have waited for other streams' */
    uint32_t *items;
    size_t count, capacity;
};

/* Between these times a stream does nothing, since a thread has not yet launched its next kernel,
 * for which other ranks wait: blame that comes to the stream goes on to the thread. By begin; they
 * overlap no wait. */
struct cts_path_pass {
    uint64_t begin_ns, end_ns;
    uint32_t location; /* the thread */
};
struct cts_path_passes {
    struct cts_path_pass *items;
    size_t count, capacity;
};

struct cts_path_location {
    uint64_t *time_ns;
    uint32_t *region; /* index in graph->regions, | CTS_PATH_LEAVE */
    uint32_t *active;
    size_t count, capacity;         /* nodes */
    const struct cts_path_who *who; /* in the system */
    uint8_t turns;                  /* of a stream: enum cts_path_turns */
    struct cts_path_waits waits;    /* by begin */
    struct cts_path_edges edges;
    struct cts_path_jumps jumps;
    struct cts_path_activities activities;
    struct cts_path_configs configs;
    struct cts_path_passes passes;
    struct cts_path_hints hints;
    CTS_PATH_LIST(struct cts_path_repeats, repeats);
    struct cts_path_raw *raw; /* what was read; gone when the graph is complete */
};

/* A collective, also one of kernels, or a barrier of threads: who came when. */
struct cts_path_pool {
    uint32_t first, count; /* in graph->pool_edges */
    uint64_t latest_ns;
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

/* What runs at the same time on one track of a device, all tracks together (tracks.c). */
struct cts_path_tracks {
    uint64_t busy_ns, mixed_ns; /* something runs; of it: work of several streams does */
    uint64_t mixed;             /* activities that run with others of other streams */
    uint64_t enclosing_ns;      /* regions around kernels */
};

/* What matching also counts, for the ranks of this process. */
struct cts_path_matched {
    uint64_t warnings[CTS_PATH_WARNING_COUNT];
    struct cts_path_starts starts;
    struct cts_path_blocked blocked;
    struct cts_path_tracks tracks;
};

struct cts_path_graph {
    const struct cts_path_system *system;
    const struct cts_path_stretch *stretch; /* NULL: the whole timeline */
    struct cts_path_location *locations;    /* [system->location_count] */
    struct cts_path_pool *pools;
    size_t pool_count;
    struct cts_path_edge *pool_edges;
    size_t pool_edge_count;
    bool crosses;               /* device streams wait for those of other processes */
    uint64_t first_ns, last_ns; /* of all events, of all processes */
    bool is_empty;              /* a stretch without any event */
    struct cts_path_matched matched;
};

/* Matching met something odd. */
static inline void cts_path_warn(struct cts_path_graph *graph, enum cts_path_warning warning,
                                 uint64_t count)
{
    assert(warning < CTS_PATH_WARNING_COUNT);
    if (count) __atomic_fetch_add(&graph->matched.warnings[warning], count, __ATOMIC_RELAXED);
}

/* The region that runs on a location between a node (NONE: before the first) and the next node. */
static inline uint32_t cts_path_region_after(const struct cts_path_graph *graph,
                                             const struct cts_path_location *at, uint32_t node)
{
    assert(node == CTS_PATH_NONE || node < at->count);
    if (node != CTS_PATH_NONE && at->active[node] != CTS_PATH_NONE)
        return at->region[at->active[node]] & ~CTS_PATH_LEAVE;
    if (at->who->stream) return graph->system->pseudo + CTS_PATH_LAUNCH_LATENCY;
    return graph->system->pseudo + (node == CTS_PATH_NONE ? CTS_PATH_START : CTS_PATH_NO_REGION);
}

void cts_path_graph_release(struct cts_path_graph *graph);
/* A wait of a device activity while it runs; others hold its begin. */
static inline bool cts_path_is_within(const struct cts_path_wait *wait)
{
    return wait->pattern == CTS_PATH_PATTERN_NCCL_WAIT ||
           wait->pattern == CTS_PATH_PATTERN_HOST_FUNCTION;
}

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

/* The edge whose source was done last; NULL if there is none. Ties go to the lower location by
 * order. */
const struct cts_path_edge *cts_path_binding(const struct cts_path_graph *graph, uint32_t location,
                                             const struct cts_path_wait *wait);

/* The point at which a jump leaves its location. */
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

#endif
