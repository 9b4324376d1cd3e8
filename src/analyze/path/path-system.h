/* The participants of a run and the question about it: regions, locations and processes, which of
 * our own processes analyses which of them, and the options. It is opened before any event is read;
 * later stages only read it. */
#ifndef CTS_ANALYZE_PATH_SYSTEM_H
#define CTS_ANALYZE_PATH_SYSTEM_H

#include "analyze/path/result.h"
#include "common/promise.h"

#define CTS_PATH_NONE          UINT32_MAX
#define CTS_PATH_LOCATIONS_MAX (1u << 31)

/* Regions that the timeline does not define; they follow those that it does. */
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

/* The meaning of a region to the analysis, derived from its name and role. */
enum cts_path_class {
    CTS_PATH_PLAIN,
    CTS_PATH_API,     /* of a device: `api` says what */
    CTS_PATH_BARRIER, /* of OpenMP */
    CTS_PATH_TASK,    /* OMPT's implicit task: its begin on a thread */
    CTS_PATH_ALL, /* MPI_Init, MPI_Finalize: they wait for all ranks, although no record says so */
    CTS_PATH_PROBE,
    CTS_PATH_WAITING, /* MPI_Wait...: completes operations that other calls began */
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
    bool is_collective; /* a kernel of NCCL */
    bool is_pairwise;   /* of sends and receives, whose peers its name does not say */
    bool is_function;   /* on a stream: of the host, in the stream's order */
    bool polls;         /* asks whether something is done, and returns at once */
};

/* What identifies a location: the kind, the process, the order. */
struct cts_path_who {
    bool stream;      /* of a device; else a host thread */
    uint32_t process; /* dense index of its process, in the order of ranks */
    uint32_t order;   /* for ties: rank, host before streams, then index */
};

struct cts_path_system {
    const struct cts_timeline *timeline;
    const struct cts_path_options *options;
    const struct cts_processes *processes;
    unsigned threads;
    uint64_t from_ns, to_ns; /* what is counted */
    struct cts_path_region *regions;
    uint32_t region_count;    /* with the pseudo ones */
    uint32_t pseudo;          /* index of the first pseudo region */
    struct cts_path_who *who; /* [location_count] */
    uint32_t location_count;
    uint32_t process_count;  /* of the trace, by rank */
    uint32_t *process_group; /* [process]: index in timeline->groups */
    uint32_t *process_first; /* [process + 1]: its locations are by_process[first...] */
    uint32_t *by_process;    /* locations by order */
    unsigned *process_owner; /* [process]: which of our processes holds it */
};

/* `timeline` and `options` must outlive the system. Release it also after a failure. */
CTS_MUST_CHECK enum cts_status cts_path_system_open(const struct cts_timeline *timeline,
                                                    const struct cts_path_options *options,
                                                    struct cts_path_system *system,
                                                    struct cts_error *error);
void cts_path_system_release(struct cts_path_system *system);

/* Whether a location is the null stream: as the options say, else as the trace marks it. */
bool cts_path_is_null_stream(const struct cts_path_system *system, uint32_t location);

/* Whether this process analyses a process of the trace, or a location. */
static inline bool cts_path_is_own(const struct cts_path_system *system, uint32_t process)
{
    assert(process < system->process_count);
    return system->process_owner[process] == (system->processes ? system->processes->rank : 0);
}
static inline bool cts_path_is_mine(const struct cts_path_system *system, uint32_t location)
{
    return cts_path_is_own(system, system->who[location].process);
}

/* The location that stands for a process: any of its threads may send, receive and take part for
 * its rank. */
static inline uint32_t cts_path_home(const struct cts_path_system *system, uint32_t location)
{
    assert(location < system->location_count);
    return system->by_process[system->process_first[system->who[location].process]];
}

/* The rank of a process. */
static inline uint32_t cts_path_rank_of(const struct cts_path_system *system, uint32_t process)
{
    return system->timeline->groups[system->process_group[process]].rank;
}

/* Limits [*from_ns, *to_ns) to the part that is counted; false if nothing of it is. */
static inline bool cts_path_clip(const struct cts_path_system *system, uint64_t *from_ns,
                                 uint64_t *to_ns)
{
    if (*from_ns < system->from_ns) *from_ns = system->from_ns;
    if (*to_ns > system->to_ns) *to_ns = system->to_ns;
    return *from_ns < *to_ns;
}

/* Runs work(state, i) for i below `count` on all threads; ends with the first failure by index. */
CTS_MUST_CHECK enum cts_status cts_path_for_each(const struct cts_path_system *system, size_t count,
                                                 enum cts_status (*work)(void *state, size_t index,
                                                                         struct cts_error *error),
                                                 void *state, struct cts_error *error);

#endif
