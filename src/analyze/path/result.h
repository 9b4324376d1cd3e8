/* Options and results of the analysis (path.h): rows, waits, the path. */
#ifndef CTS_ANALYZE_PATH_RESULT_H
#define CTS_ANALYZE_PATH_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/path/rules.h"
#include "common/processes.h"
#include "common/short-names.h"
#include "trace/timeline/timeline.h"

/* Warnings about a trace, each with a count. The analysis continues without the events concerned.
 */
#define CTS_PATH_WARNING_MAP(X)                                                                    \
    X(CLOCK_BACK, "events whose timestamp decreases: the previous timestamp is used")              \
    X(LEAVE_WITHOUT_ENTER, "leaves without an enter: ignored")                                     \
    X(ENTER_WITHOUT_LEAVE, "enters without a leave: closed with their enclosing region")           \
    X(UNKNOWN_REGION, "events of unknown regions: ignored")                                        \
    X(UNKNOWN_PEER, "messages to or from ranks outside the communicator: ignored")                 \
    X(UNMATCHED_SEND, "sends without a receive: no dependency")                                    \
    X(UNMATCHED_RECEIVE, "receives without a send: no dependency")                                 \
    X(UNMATCHED_REQUEST,                                                                           \
      "requests without a completion, or completions without a request: ignored")                  \
    X(EARLY_RECEIVE, "receives that end before their send begins: clocks differ")                  \
    X(EARLY_LEAVE, "collectives left before the last rank entered: clocks differ")                 \
    X(LAUNCH_WITHOUT_WORK, "launches and copies without their device activity")                    \
    X(WORK_WITHOUT_LAUNCH, "device activities without a launch: no dependency")                    \
    X(WORK_INFERRED, "device activities whose launch is inferred: it is not in the trace")         \
    X(WAIT_INFERRED,                                                                               \
      "waits of streams for events: which streams is inferred, as the trace does not say")         \
    X(GRAPH_INFERRED,                                                                              \
      "graph kernels that follow another stream's kernel: inferred from times, as no edges are "   \
      "recorded")                                                                                  \
    X(WORK_BEFORE_LAUNCH, "device activities that begin before their launch: clocks differ")       \
    X(MIXED_TRACK,                                                                                 \
      "device activities that overlap others on their track: it holds several streams, whose "     \
      "order is not known")                                                                        \
    X(TURN_INFERRED,                                                                               \
      "times at which the main thread stands still while another thread launches work: it hands "  \
      "over and waits, inferred from times")                                                       \
    X(TEAM_INFERRED,                                                                               \
      "times at which the main thread stands still until threads that nothing starts have done "   \
      "their work: it starts them and waits, inferred from times")                                 \
    X(OUTLIVING_THREAD,                                                                            \
      "threads that nothing waits for, with events after the main thread's last: the path goes "   \
      "on with the main thread")                                                                   \
    X(LONELY_KERNEL,                                                                               \
      "kernels of collectives whose other members are not in the trace: no dependency")            \
    X(AMBIGUOUS_KERNEL,                                                                            \
      "kernels of collectives that fit other ranks' in several ways or in none: no dependency")    \
    X(PARTIAL_COLLECTIVE,                                                                          \
      "collectives of GPUs that lack members: who came last is known of the others only")          \
    X(UNKNOWN_EVENT, "synchronisations, waits or queries of events never recorded: ignored")       \
    X(UNKNOWN_STREAM, "calls on an unknown stream: ignored")                                       \
    X(UNKNOWN_GROUP, "posts, starts, completes, waits of a window without their group: ignored")   \
    X(PART_OF_TEAM, "barriers that not all threads of their team enter: not treated as barriers")  \
    X(OUTSIDE_CALL, "messages outside any region: ignored")                                        \
    X(DAMAGED_LOCATION, "locations whose file is missing or damaged: read up to the damage")       \
    X(WAIT_CIRCLE, "waits that wait for each other: clocks differ; blamed on the waiting call")
enum cts_path_warning {
#define X(name, text) CTS_PATH_WARNING_##name,
    CTS_PATH_WARNING_MAP(X)
#undef X
        CTS_PATH_WARNING_COUNT
};
extern const char *const cts_path_warning_texts[CTS_PATH_WARNING_COUNT];

struct cts_path_options {
    const char *api_table;      /* text of more API names, before the built-in ones; NULL */
    const char *api_table_name; /* for messages */
    const char *null_stream;    /* name of a location, or a stream's number; NULL: as marked */
    bool direct_blame; /* blame stays with the immediate cause, even if that is waiting, too */
    double path_weight, blame_weight; /* of the rating; both 0: both 1 */
    unsigned threads;                 /* 0: one per processor */
    const char *within;      /* count only what lies from the first enter to the last leave of this
                                activity (named as in whatif.h), on whatever location; NULL: all */
    uint64_t from_ns, to_ns; /* count only this part; both 0: all. Set by `within` */
    uint64_t
        window_events; /* above 0: in stretches of about as many, to save memory; keeps nothing */
    unsigned worst;    /* instances kept per pattern; 0: 5 */
    bool keep_segments;
    bool keep_waits;                       /* of this process's ranks */
    bool keep_blames;                      /* likewise */
    const struct cts_processes *processes; /* NULL: alone */
    /* The analysis ends with CTS_IO between two of its steps when the asker has gone; while events
     * are read, if the source looks too (cts_path_source_asked()). NULL: nobody goes. */
    const struct cts_asker *asker;
};

enum cts_path_where { CTS_PATH_ON_HOST, CTS_PATH_ON_DEVICE, CTS_PATH_IN_MPI, CTS_PATH_LATENCY };

/* The longest uninterrupted stay of an activity on the path, and its callers. */
enum { CTS_PATH_STACK_MAX = 8 };
struct cts_path_stay {
    uint64_t ns, begin_ns; /* ns 0: it is not on the path; begin: from the first event */
    uint32_t location;
    uint32_t depth;                       /* callers that are known, without the activity itself */
    uint32_t callers[CTS_PATH_STACK_MAX]; /* regions, the immediate one first */
};

/* All instances of one activity. */
struct cts_path_row {
    uint32_t region; /* in cts_path.region_names */
    enum cts_path_where where;
    bool frame; /* start-up or shutdown, not the program: MPI_Init, MPI_Finalize, before all events
                 */
    uint64_t calls, inclusive_ns, exclusive_ns; /* inclusive: of the outermost call */
    uint64_t wait_ns;                           /* of calls of host threads: how long they wait */
    uint64_t repeats, gaps_ns; /* polls: calls that repeat others of their loop; of wait_ns: the
                                  time between calls, which is not in exclusive_ns */
    uint64_t path_ns, blame_ns;
    double path_share, blame_share, rating;
    /* exclusive time of one rank, over all ranks; the lowest of several with the same */
    uint64_t least_ns, most_ns;
    uint32_t least_rank, most_rank;
    struct cts_path_stay stay;
};

/* An instance of a wait. */
struct cts_path_instance {
    uint64_t begin_ns, end_ns; /* from the first event */
    uint32_t location;
    uint32_t culprit;       /* location that came last */
    uint32_t blamed;        /* location that gets most of its blame; NONE: no location gets any */
    uint32_t blamed_region; /* for what ran there; NONE: nothing */
    uint64_t blamed_ns;     /* as much of it */
};

struct cts_path_pattern_row {
    enum cts_path_pattern pattern;
    uint64_t count, time_ns;
    struct cts_path_instance *worst; /* longest first */
    size_t worst_count;
};

/* A stay of the path on a location, from the last to the first. */
struct cts_path_segment {
    uint64_t begin_ns, end_ns;
    uint32_t location;
    uint32_t latency; /* region of the latency that led here at end_ns..., NONE */
};

struct cts_path_segments {
    struct cts_path_segment *items;
    size_t count, capacity;
};

/* A wait that took time. */
struct cts_path_kept_wait {
    uint64_t begin_ns, end_ns; /* from the first event */
    uint64_t culprit_ns;       /* when what came last was done */
    uint32_t location, pattern;
    uint32_t culprit; /* location that came last; NONE: unknown */
    uint32_t region;  /* of the call or the device activity that waits; NONE: no call (BlameSync) */
    uint64_t leave_ns; /* when that ends */
};

/* The blame of an activity, or of a gap between activities, that begins on a location at a time:
 * all blame that lands there until its end, without the activities that it calls. The sum over all
 * locations equals cts_path.blame_ns, to the ns. */
struct cts_path_blame_at {
    uint64_t time_ns; /* from the first event */
    uint64_t blame_ns;
    uint32_t fraction; /* in 2^-32 ns; what is left while it is computed */
};
struct cts_path_blames {
    struct cts_path_blame_at *items; /* by time */
    size_t count, capacity;
    bool mine; /* this process holds the location */
};

/* A device of a rank: all its streams together. Activities without duration are left out. */
struct cts_path_device_row {
    uint32_t rank;
    uint32_t device; /* its number; NONE: the trace does not say */
    uint32_t stream_count;
    uint32_t process, group; /* dense index of the process; of its accelerator group, or NONE */
    uint64_t rank_first_ns, begin_ns; /* first event of the rank; begin of the first activity */
    uint64_t activity_count;
    uint64_t span_ns;           /* from its first activity to the end of its last */
    uint64_t startup_ns;        /* from the first event of its rank to its first activity */
    uint64_t idle_ns;           /* of the span: nothing runs */
    uint64_t busy_ns[3];        /* of the span: one activity, two, more run at once */
    uint64_t copy_ns;           /* time of copies */
    uint64_t copy_alone_ns;     /* of it: no kernel of another stream runs */
    uint64_t copy_missed_ns;    /* of it: could have overlapped a kernel that ran later */
    uint64_t copy_missed_count; /* copies with such time */
};

struct cts_path_devices { /* by rank, device */
    struct cts_path_device_row *items;
    size_t count;
};

/* A rank, as others wait for it. */
struct cts_path_rank_row {
    uint32_t rank;
    uint64_t waited_ns;     /* its threads and streams wait for other ranks */
    uint64_t delayed_ns;    /* those of other ranks wait for it, the last that they need */
    uint64_t delayed_count; /* so many waits */
    uint64_t longer_ns;     /* exclusive time of an activity above the mean of the other ranks */
    uint32_t longer_region; /* the one with most of it; longer_ns 0: none */
};

/* Threads that forks start. A thread counts once per team that it joins; the forking thread does
 * not count. */
struct cts_path_starts {
    uint64_t count, late_count; /* late: from the fork to its begin takes longer than its work */
    uint64_t start_ns, work_ns; /* sums: fork to begin; begin to the first barrier or the end */
};

/* Threads that used the CPU for less than half of the time that their recorded waits and calls
 * leave unexplained. */
struct cts_path_blocked {
    uint64_t count;
    uint64_t cpu_ns, time_ns; /* sums: CPU time; that time */
    uint64_t location;        /* the first of them */
};

/* What is kept for those who draw or export the timeline, as the options say. */
struct cts_path_kept {
    struct cts_path_segments segments;
    struct cts_path_kept_wait *waits; /* by location, begin */
    size_t wait_count;
    struct cts_path_blames *blames; /* [location_count] */
};

struct cts_path {
    const struct cts_timeline *timeline;
    struct cts_short_names names; /* of regions */
    char *const *region_names;    /* the full ones */
    uint32_t region_count;
    uint32_t start_region;     /* what stands for the time before a process's first event */
    struct cts_path_row *rows; /* by rating; only those that were called, on the path or to blame */
    size_t row_count;
    struct cts_path_pattern_row patterns[CTS_PATH_PATTERN_COUNT];
    uint64_t warnings[CTS_PATH_WARNING_COUNT];
    uint64_t first_ns, last_ns;          /* of all events */
    uint64_t part_begin_ns, part_end_ns; /* what is counted: all that, or a part */
    uint64_t init_ns,
        finalize_ns;            /* first enter of MPI_Init, last leave of MPI_Finalize; 0: none */
    uint64_t path_ns;           /* of the part: its length */
    uint64_t program_path_ns;   /* of it, less start-up and shutdown */
    uint64_t program_blame_ns;  /* of all blame, likewise */
    uint64_t mpi_path_ns;       /* of it, from MPI_Init to MPI_Finalize */
    uint64_t wait_ns, blame_ns; /* equal */
    uint64_t host_wait_ns, device_wait_ns;
    uint64_t path_where_ns[CTS_PATH_LATENCY + 1];
    struct cts_path_starts starts;
    struct cts_path_blocked blocked;
    uint64_t stretch_count; /* in which it was analysed */
    uint64_t event_count, node_count, location_count, process_count, stream_count;
    uint64_t path_jumps, path_crossings; /* changes of location; of process */
    struct cts_path_devices devices;
    struct cts_path_rank_row *ranks; /* [process_count], by rank */
    struct cts_path_kept kept;
};

#endif
