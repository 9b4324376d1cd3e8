/* The graph in the form that projections need. Made once; several projections read it at once.
 *
 * Every dependency becomes a bound: a node is not before (time of what it depends on) + tail, where
 * the tail is what lay between the two in the recording, or less. A node's time is the largest of
 * its bounds. All tails and own times are at most what was recorded and one of them is equal, so
 * that unaltered durations give the recorded times, exactly. */
#ifndef CTS_ANALYZE_PATH_WHATIF_PLAN_H
#define CTS_ANALYZE_PATH_WHATIF_PLAN_H

#include "analyze/path/graph.h"
#include "analyze/path/whatif.h"

enum cts_whatif_rule_kind {
    CTS_WHATIF_WAIT,  /* after the edges of a wait */
    CTS_WHATIF_AFTER, /* after one node: a copy's end, where a thread began */
    CTS_WHATIF_POLL,  /* the leave of a failed query */
    CTS_WHATIF_GAP,   /* between a failed query and the one right behind it */

};

/* What the tail of a bound is: what the path books it to, and whose factor scales it. */
enum cts_whatif_tail {
    CTS_WHATIF_OF_CALL,   /* the call's own time */
    CTS_WHATIF_TRANSFER,  /* MPI transfer */
    CTS_WHATIF_STARTING,  /* thread start */
    CTS_WHATIF_OF_SOURCE, /* what runs after the source, on its location */
};

/* How a host node depends on more than the node before it. Several may stand at one node. */
struct cts_whatif_rule {
    uint32_t node;
    uint32_t wait;     /* index in the location's waits; AFTER: source node */
    uint32_t location; /* AFTER: of the source */
    uint8_t kind;
    uint8_t tail_is; /* enum cts_whatif_tail */

    uint64_t own_ns; /* of the interval before the node, without waiting */
    int64_t tail_ns; /* POLL: what the awaited end must be earlier by than the query's enter */
};

/* A device activity. Each bound is usable if its source is there. */
struct cts_whatif_work {
    uint32_t launch;   /* node on the host; NONE */
    uint32_t previous; /* activity of the stream that it follows; NONE */
    uint32_t wait;     /* index in the stream's waits; NONE */
    uint32_t meeting;  /* likewise, of a collective's kernel: for the kernels of other ranks */
    uint64_t meeting_tail_ns; /* what it does when it has met them */
    uint8_t binding;          /* enum cts_whatif_bound: which one came last in the recording */
    bool queues;              /* it waited for room in the recording, or for a kernel's last CTAs */
    bool takes_turn;          /* it waited for another stream's kernel: no bound came last */
    bool inferred;            /* the launch: the host ran something else until the begin */
    bool in_call;   /* the host runs from the launch to the begin: the tail is what it runs */
    bool forced;    /* it began without room: the model is wrong there and lets it */
    bool on_device; /* its time depends on concurrent kernels; `kernel` is an index in `kernels` */
    uint32_t kernel;
    int64_t launch_tail_ns, previous_tail_ns, wait_tail_ns; /* the usual ones, or less */
    int64_t extra_ns; /* what the binding one's tail is longer in the recording */
    int64_t late_ns;  /* queues: of that, what keeps it behind the kernel that came before */
};
enum cts_whatif_bound {
    CTS_WHATIF_BY_LAUNCH,
    CTS_WHATIF_BY_PREVIOUS,
    CTS_WHATIF_BY_WAIT,
    CTS_WHATIF_BY_NOTHING
};

/* A kernel on a device that is shared. Room is in 1/CTS_WHATIF_ROOM of the device, rates in
 * 1/CTS_WHATIF_RATE of the speed that it has alone. */
#define CTS_WHATIF_ROOM (1u << 24)
#define CTS_WHATIF_RATE (1u << 16)
struct cts_whatif_kernel {
    uint32_t location, activity;
    uint32_t device;
    uint32_t room, need; /* of all its CTAs (at most all), of one */
    uint64_t ready_ns;   /* in the recording, by the usual latencies */
    uint64_t gap_ns;     /* queues: from the room being free to the begin */
    uint32_t blocker;    /* queues: begins when this kernel has only `lead` to do; NONE */
    uint64_t lead;
    uint64_t work; /* ns * RATE */
};

struct cts_whatif_shared_device {
    uint32_t process, device;
    uint32_t first, count; /* in by_device */
    bool exclusive;        /* it runs one kernel at a time, in the order of their coming */
    uint32_t interference; /* 1/16: a kernel is 1 + this * the room of others slower */
    uint32_t overtaking;   /* 1/16: how much of the room goes by what kernels want where they want
                              more than there is; the rest goes to those that came first */
};

struct cts_whatif_place { /* per location */
    size_t base;          /* of its nodes in a projection's times */
    struct cts_whatif_rule *rules;
    size_t rule_count, rule_capacity;
    struct cts_whatif_work *work; /* per activity */
};

struct cts_whatif_plan {
    const struct cts_path_graph *graph;
    const struct cts_whatif_options *options;
    struct cts_whatif_place *places;
    size_t node_count;
    struct cts_whatif_kernel *kernels;
    size_t kernel_count, kernel_capacity;
    struct cts_whatif_shared_device *devices;
    uint32_t device_count;
    uint32_t *by_device;                     /* kernels of each device */
    uint64_t *least_free_ns, *least_tail_ns; /* per region: of calls that wait for nothing, after
                                                the awaited; UINT64_MAX: none */
    uint64_t activity_count, configured_count;
    struct cts_whatif_polls polls;
    uint64_t unbound_count;         /* activities that nothing is known to have launched */
    uint64_t unbound_ns, device_ns; /* their time, and that of all activities */
};

CTS_MUST_CHECK static inline enum cts_status cts_whatif_add_rule(struct cts_whatif_place *place,
                                                                 struct cts_whatif_rule rule,
                                                                 struct cts_error *error)
{
    if (place->rule_count == place->rule_capacity &&
        cts_array_grow((void **)&place->rules, &place->rule_capacity, place->rule_count + 1,
                       sizeof *place->rules, error))
        return CTS_MEMORY;
    place->rules[place->rule_count++] = rule;
    return CTS_OK;
}

/* Edges without a node get one: before planning. */
void cts_whatif_place_edges(struct cts_path_graph *graph);
CTS_MUST_CHECK enum cts_status cts_whatif_plan_make(struct cts_whatif_plan *plan,
                                                    const struct cts_path_graph *graph,
                                                    const struct cts_whatif_options *options,
                                                    struct cts_error *error);
void cts_whatif_plan_release(struct cts_whatif_plan *plan);

/* Tails of device activities become the usual ones; the bound that is then the latest came last and
 * keeps the rest (whatif-tails.c). */
CTS_MUST_CHECK enum cts_status cts_whatif_shorten_tails(struct cts_whatif_plan *plan,
                                                        struct cts_error *error);

/* Whether the recording leaves open if kernels of a stream overlap those of other streams. */
static inline bool cts_whatif_is_undecided(const struct cts_path_location *at)
{
    return at->who->stream && at->activities.count && !at->configs.count &&
           at->turns == CTS_PATH_TURNS_UNKNOWN;
}

/* Which kernels share a device, and how much work each is: fills kernels and devices. */
CTS_MUST_CHECK enum cts_status cts_whatif_share(struct cts_whatif_plan *plan,
                                                struct cts_error *error);
/* The room that a kernel with this grid wants (all its CTAs) and needs (one). */
void cts_whatif_want_room(const struct cts_whatif_device *device,
                          const struct cts_path_config *config, struct cts_whatif_kernel *kernel);
/* Drops the sharing of devices: kernels no longer affect each other. */
void cts_whatif_unshare(struct cts_whatif_plan *plan);

/* time + a signed distance, at least 0. */
static inline uint64_t cts_whatif_add(uint64_t time_ns, int64_t distance_ns)
{
    if (distance_ns >= 0) return time_ns + (uint64_t)distance_ns;
    const uint64_t less = (uint64_t)-distance_ns;
    return time_ns > less ? time_ns - less : 0;
}

/* ---- whatif-rules.c ---- */

/* The node that ends a call; NONE: none. */
uint32_t cts_whatif_leave_of(const struct cts_path_location *at, uint32_t call);
/* When the latest source of a wait was done in the recording. */
uint64_t cts_whatif_latest_of(const struct cts_path_graph *graph, uint32_t location,
                              const struct cts_path_wait *wait);
/* Whether a node is of a call that launches, and not of the call that ran when the activity began.
 */
bool cts_whatif_launches(const struct cts_path_graph *graph, const struct cts_path_location *host,
                         uint32_t node);
/* What calls that wait for nothing cost, location after location, then for all. */
CTS_MUST_CHECK enum cts_status cts_whatif_note_costs(struct cts_whatif_plan *plan,
                                                     uint32_t location, struct cts_error *error);
void cts_whatif_take_profile(struct cts_whatif_plan *plan);
/* Behind the costs and the works of streams; those of loops that poll are not among them. */
CTS_MUST_CHECK enum cts_status cts_whatif_make_rules(struct cts_whatif_plan *plan,
                                                     struct cts_error *error);
/* All rules of a location by their nodes. */
void cts_whatif_order_rules(struct cts_whatif_plan *plan);

/* Time in which kernels of several processes run on devices that may be one. */
CTS_MUST_CHECK enum cts_status cts_whatif_shared_by_processes(const struct cts_path_graph *graph,
                                                              uint64_t *shared_ns,
                                                              struct cts_error *error);

#endif
