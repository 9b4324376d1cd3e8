/* What if an activity took more or less time: all nodes of the event graph recomputed in graph
 * order with altered durations. docs/whatif.md says what is assumed. The result is freed by
 * cts_whatif_release(); its names belong to the timeline. */
#ifndef CTS_ANALYZE_PATH_WHATIF_H
#define CTS_ANALYZE_PATH_WHATIF_H

#include "analyze/path/path.h"

#define CTS_WHATIF_ALL UINT32_MAX

/* What one SM holds, and how many there are. */
struct cts_whatif_device {
    uint32_t sm_count;
    uint32_t threads, ctas, registers, warp_registers; /* of an SM; registers come in units */
    uint64_t shared_bytes,
        shared_reserved_bytes; /* of an SM; taken by each CTA in addition to its own */
};
/* An H200's. */
struct cts_whatif_device cts_whatif_default_device(void);

struct cts_whatif_change {
    const char *activity; /* a name, a kernel's without its parameters, or a pattern with '*' */
    uint32_t rank;        /* CTS_WHATIF_ALL */
    double factor;        /* of its time; of several that name an activity the last counts */
};

struct cts_whatif_cost { /* the minimum cost of a call */
    const char *name;
    uint64_t cost_ns;
};

struct cts_whatif_options {
    struct cts_path_options path; /* api_table, null_stream, threads; processes: they share the
                                     targets, and all get the same result */
    const struct cts_whatif_change *changes;
    size_t change_count;
    const struct cts_whatif_cost *costs;
    size_t cost_count;
    bool targets;
    size_t target_limit; /* activities tried, those with the most time; 0: 100 */
    bool free_overlap;   /* kernels of different streams do not disturb each other */

    bool other_polls; /* of what lies between queries, the opposite of what is assumed */

    bool undecided_take_turns; /* devices that do not show whether kernels overlap run one at a
                                  time */
    struct cts_whatif_device device;
    size_t wait_limit; /* waits kept, those that change most; 0: 20 */
};

struct cts_whatif_rank {
    uint32_t rank;
    uint64_t before_ns, after_ns; /* its last event, from the first of all */
};

struct cts_whatif_row { /* an activity on the critical path before or after */
    uint32_t region;
    uint64_t before_ns, after_ns;
};

struct cts_whatif_pattern {
    enum cts_path_pattern pattern;
    uint64_t before_count, after_count; /* of waits that take time */
    uint64_t before_ns, after_ns;
    uint64_t appeared, vanished;
};

struct cts_whatif_wait {
    uint32_t location;
    enum cts_path_pattern pattern;
    uint64_t begin_ns, before_ns, after_ns; /* begin: as recorded, from the first event */
};

struct cts_whatif_target {
    uint32_t region;
    uint64_t calls, exclusive_ns, path_ns;
    uint64_t half_ns, none_ns; /* the runtime then */
};

/* Failed queries, by what lies between them and the next one. */
struct cts_whatif_polls {
    uint64_t kept; /* calls that do something: they stay */

    uint64_t fixed;   /* functions of a fixed number: they stay */
    uint64_t ran_out; /* functions that may be of a fixed number: they stay */
    uint64_t assumed; /* functions, or a long time in which nothing is recorded, that may be of a
                         fixed number: they go with the query */
};

struct cts_whatif_notes {
    uint64_t broken;     /* dependencies in a circle, left out */
    uint64_t missed;     /* nodes that a factor of 1 does not reproduce */
    uint64_t kernels;    /* device activities */
    uint64_t configured; /* of them: kernels that say their grid */
    uint64_t shared;     /* of them: on devices whose room the model shares */
    uint64_t queued;     /* of them: waited for room in the recording */
    double interference; /* the largest of all devices; 0: none */
    double overtaking;   /* likewise */
    bool share_rejected; /* the sharing model did not reproduce the recording: free overlap */
    uint64_t undecided;  /* devices on which kernels of different streams, whose grids are not
                            known, never overlapped, and hardly ever could have */
    struct cts_whatif_polls polls;
    uint64_t processes_ns;                      /* kernels of several processes run on a device */
    uint64_t device_ns;                         /* all device activities together */
    uint64_t launch_before_ns, launch_after_ns; /* calls that launch, on the critical path */
    uint64_t target_left; /* activities not tried, and how much time the largest of them has */
    uint64_t target_left_ns;
    uint64_t projections;
    double seconds; /* wall time of the projections */
};

struct cts_whatif {
    const struct cts_timeline *timeline;
    const char **region_names;
    uint32_t region_count;
    uint64_t process_count, stream_count, event_count, node_count;
    uint64_t before_ns, after_ns; /* first to last event */
    uint64_t turns_after_ns;      /* after, if undecided devices run one kernel at a time */
    uint64_t polls_after_ns;      /* after, if what is assumed of loops that poll is wrong */
    struct cts_whatif_rank *ranks;
    size_t rank_count;
    struct cts_whatif_row *rows; /* by the time after */
    size_t row_count;
    struct cts_whatif_pattern patterns[CTS_PATH_PATTERN_COUNT];
    struct cts_whatif_wait *waits; /* that changed, most first */
    size_t wait_count;
    struct cts_whatif_target *targets; /* largest gain at half the time first */
    size_t target_count;
    uint64_t warnings[CTS_PATH_WARNING_COUNT];
    struct cts_whatif_notes notes;
    uint64_t **time_ns; /* [location][node]: after; for tests and further use */
};

/* CTS_USAGE: an unknown activity (near ones are named), a factor that is none, nothing to change.
 */
CTS_MUST_CHECK enum cts_status cts_whatif_analyze(const struct cts_path_source *source,
                                                  const struct cts_whatif_options *options,
                                                  struct cts_whatif *result,
                                                  struct cts_error *error);
void cts_whatif_release(struct cts_whatif *result);

#endif
