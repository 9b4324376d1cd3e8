/* The timeline of a run: who did what from when to when, as an OTF2 archive (conventions:
 * docs/timeline.md). One model for Score-P's traces and our own; one reader, one writer, both
 * through the OTF2 library.
 *
 * A *location* is a host thread or a device stream: it has a list of events by time. A *location
 * group* is a process (MPI rank) or an accelerator. Definitions are dense: an index in the arrays
 * below, not the archive's own reference (which need not be dense). CTS_TIMELINE_NONE is no index.
 * Times are ns from the archive's global offset; strings are UTF-8, owned by the timeline. */
#ifndef CTS_TRACE_TIMELINE_H
#define CTS_TRACE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/gaps.h"
#include "common/processes.h"

#define CTS_TIMELINE_NONE UINT32_MAX

/* ---- definitions ---- */

enum cts_location_kind {
    CTS_LOCATION_UNKNOWN,
    CTS_LOCATION_THREAD, /* of a CPU */
    CTS_LOCATION_STREAM, /* of an accelerator */
    CTS_LOCATION_METRIC,
};

struct cts_timeline_location {
    uint64_t reference; /* the archive's id: local files are named after it */
    const char *name;
    enum cts_location_kind kind;
    uint32_t group;       /* index in groups */
    uint32_t process;     /* index in groups of the process that it belongs to: the group itself, or
                             the creator of an accelerator group */
    uint64_t event_count; /* as the definition says; 0: unknown */
    bool null_stream;     /* property CUDA_NULL_STREAM */
    bool non_blocking;    /* property CUDA_STREAM_FLAGS */
    uint32_t device;      /* from "CUDA[device:stream]"; NONE */
    uint32_t stream;      /* likewise */
    bool missing;         /* the archive has no local event file of it, or it is damaged */
};

struct cts_timeline_group {
    uint64_t reference;
    const char *name;
    bool accelerator; /* else a process */
    uint32_t creator; /* of an accelerator: index in groups; NONE */
    const char *host; /* name of the system tree's node, or NULL */
    uint32_t rank;    /* of a process: its MPI rank, or its place among the processes */
    uint32_t master;  /* of a process: index in locations of its first thread; NONE */
};

/* Paradigms and roles are named as OTF2 names them; what others there are read as OTHER. */
enum cts_paradigm {
    CTS_PARADIGM_UNKNOWN,
    CTS_PARADIGM_USER,
    CTS_PARADIGM_COMPILER,
    CTS_PARADIGM_OPENMP,
    CTS_PARADIGM_MPI,
    CTS_PARADIGM_CUDA,
    CTS_PARADIGM_OPENCL,
    CTS_PARADIGM_PTHREAD,
    CTS_PARADIGM_MEASUREMENT, /* measurement system */
    CTS_PARADIGM_SHMEM,
    CTS_PARADIGM_OTHER,
};
enum cts_region_role {
    CTS_ROLE_UNKNOWN,
    CTS_ROLE_FUNCTION,
    CTS_ROLE_WRAPPER,
    CTS_ROLE_LOOP,
    CTS_ROLE_CODE,
    CTS_ROLE_PARALLEL,
    CTS_ROLE_BARRIER,
    CTS_ROLE_IMPLICIT_BARRIER,
    CTS_ROLE_COLL_ONE2ALL,
    CTS_ROLE_COLL_ALL2ONE,
    CTS_ROLE_COLL_ALL2ALL,
    CTS_ROLE_COLL_OTHER,
    CTS_ROLE_POINT2POINT,
    CTS_ROLE_RMA,
    CTS_ROLE_DATA_TRANSFER,
    CTS_ROLE_ARTIFICIAL,
    CTS_ROLE_THREAD_CREATE,
    CTS_ROLE_THREAD_WAIT,
    CTS_ROLE_OTHER,
};

/* Of launches of a kernel: grid, block, registers per thread, static and dynamic shared bytes, in
 * the order of their attributes. A grid of 0: not known. */
enum { CTS_SHAPE_COUNT = 9 };
struct cts_timeline_shape {
    uint32_t values[CTS_SHAPE_COUNT];
};

struct cts_timeline_region {
    const char *name, *canonical_name, *file; /* canonical_name, file: may be NULL */
    uint32_t begin_line, end_line;
    enum cts_paradigm paradigm;
    enum cts_region_role role;
    /* Of a kernel: what most of its launches have, so that the archive says it once. For who
     * writes; events that are read have all their attributes. */
    struct cts_timeline_shape shape;
};

/* A communicator. `ranks[i]`: index in locations of its member i (masters for MPI; host and streams
 * for CUDA's). */
struct cts_timeline_communicator {
    const char *name;
    enum cts_paradigm paradigm;
    uint32_t parent; /* index in communicators; NONE */
    uint32_t *ranks;
    uint32_t rank_count;
    uint32_t *remote_ranks; /* of an inter-communicator: the other group; peers are ranks in the
                               group that the caller is not in. NULL: an ordinary one */
    uint32_t remote_count;
    bool self;  /* COMM_SELF: each its own */
    bool group; /* only a group of members, which posts and starts of windows name; these lie behind
                   all communicators */
};

struct cts_timeline_window {
    const char *name;
    uint32_t communicator;
};

/* ---- events ---- */

/* Kinds. Names are those of OTF2's records; what is between {} is the member of the union. */
enum cts_timeline_event_kind {
    CTS_EVENT_ENTER,                            /* {region} */
    CTS_EVENT_LEAVE,                            /* {region} */
    CTS_EVENT_MPI_SEND,                         /* {message}, request none */
    CTS_EVENT_MPI_RECV,                         /* {message} */
    CTS_EVENT_MPI_ISEND,                        /* {message} */
    CTS_EVENT_MPI_ISEND_COMPLETE,               /* {message.request} */
    CTS_EVENT_MPI_IRECV_REQUEST,                /* {message.request} */
    CTS_EVENT_MPI_IRECV,                        /* {message} */
    CTS_EVENT_MPI_REQUEST_TEST,                 /* {message.request} */
    CTS_EVENT_MPI_REQUEST_CANCELLED,            /* {message.request} */
    CTS_EVENT_MPI_COLLECTIVE_BEGIN,             /* nothing */
    CTS_EVENT_MPI_COLLECTIVE_END,               /* {collective} */
    CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST,  /* {collective.request} */
    CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE, /* {collective} */
    CTS_EVENT_RMA_WIN_CREATE,                   /* {rma.window} */
    CTS_EVENT_RMA_WIN_DESTROY,                  /* {rma.window} */
    CTS_EVENT_RMA_COLLECTIVE_BEGIN,             /* nothing */
    CTS_EVENT_RMA_COLLECTIVE_END,               /* {rma}: fences, window creation */
    CTS_EVENT_RMA_GROUP_SYNC,                   /* {rma}: post, start, complete, wait */
    CTS_EVENT_RMA_SYNC,                         /* {rma}: notify, notify_in, notify_out */
    CTS_EVENT_RMA_REQUEST_LOCK,                 /* {rma} */
    CTS_EVENT_RMA_ACQUIRE_LOCK,                 /* {rma} */
    CTS_EVENT_RMA_RELEASE_LOCK,                 /* {rma} */
    CTS_EVENT_RMA_PUT,                          /* {rma} */
    CTS_EVENT_RMA_GET,                          /* {rma} */
    CTS_EVENT_RMA_ATOMIC,                       /* {rma} */
    CTS_EVENT_RMA_OP_COMPLETE_BLOCKING,         /* {rma.window, .matching} */
    CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING,     /* {rma.window, .matching} */
    CTS_EVENT_RMA_OP_COMPLETE_REMOTE,           /* {rma.window, .matching} */
    CTS_EVENT_THREAD_FORK,                      /* {thread.team_size} */
    CTS_EVENT_THREAD_JOIN,                      /* nothing */
    CTS_EVENT_THREAD_TEAM_BEGIN,                /* {thread.communicator} */
    CTS_EVENT_THREAD_TEAM_END,                  /* {thread.communicator} */
    CTS_EVENT_THREAD_ACQUIRE_LOCK,              /* {thread.lock} */
    CTS_EVENT_THREAD_RELEASE_LOCK,              /* {thread.lock} */
    CTS_EVENT_THREAD_TASK_CREATE,               /* {thread} */
    CTS_EVENT_THREAD_TASK_SWITCH,               /* {thread} */
    CTS_EVENT_THREAD_TASK_COMPLETE,             /* {thread} */
    CTS_EVENT_THREAD_CREATE,                    /* {thread.communicator, .sequence} */
    CTS_EVENT_THREAD_BEGIN,                     /* {thread.communicator, .sequence} */
    CTS_EVENT_THREAD_WAIT,                      /* {thread.communicator, .sequence} */
    CTS_EVENT_THREAD_END,                       /* {thread.communicator, .sequence} */
    CTS_EVENT_BUFFER_FLUSH,                     /* {flush.end_ns}: time is the begin */
    CTS_EVENT_MEASUREMENT_ON_OFF,               /* {on} */
    CTS_EVENT_OTHER, /* metrics, parameters, programs, I/O: counted only */
    CTS_EVENT_KIND_COUNT
};
extern const char *const cts_timeline_event_names[CTS_EVENT_KIND_COUNT];

/* Attributes that analyses know (docs/timeline.md), by name in the archive. */
#define CTS_ATTRIBUTE_MAP(X)                                                                       \
    X(STREAM_REF, "CUDA_STREAM_REF", LOCATION)                                                     \
    X(EVENT_REF, "CUDA_EVENT_REF", UINT64)                                                         \
    X(RESULT, "CUDA_DRV_API_RESULT", UINT32)                                                       \
    X(QUEUE_REF, "OPENCL_QUEUE_REF", LOCATION)                                                     \
    X(PARALLEL_REGION, "OMPT_PARALLEL_REGION_ID", UINT64)                                          \
    X(CORRELATION, "CTASCOPE_CORRELATION", UINT64)                                                 \
    X(GRID_X, "CTASCOPE_GRID_X", UINT32)                                                           \
    X(GRID_Y, "CTASCOPE_GRID_Y", UINT32)                                                           \
    X(GRID_Z, "CTASCOPE_GRID_Z", UINT32)                                                           \
    X(BLOCK_X, "CTASCOPE_BLOCK_X", UINT32)                                                         \
    X(BLOCK_Y, "CTASCOPE_BLOCK_Y", UINT32)                                                         \
    X(BLOCK_Z, "CTASCOPE_BLOCK_Z", UINT32)                                                         \
    X(REGISTERS, "CTASCOPE_REGISTERS", UINT32)                                                     \
    X(STATIC_SHARED, "CTASCOPE_STATIC_SHARED", UINT32)                                             \
    X(DYNAMIC_SHARED, "CTASCOPE_DYNAMIC_SHARED", UINT32)                                           \
    X(COMMUNICATOR, "CTASCOPE_NCCL_COMMUNICATOR", UINT64)                                          \
    X(BYTES, "CTASCOPE_BYTES", UINT64)                                                             \
    X(WAITING_TIME, "Waiting Time", UINT64)                                                        \
    X(RELEASE, "CTASCOPE_RELEASE", UINT64)                                                         \
    X(RELEASED_BY, "CTASCOPE_RELEASED_BY", UINT64)                                                 \
    X(CPU_TIME, "CTASCOPE_CPU_TIME", UINT64)                                                       \
    X(SEQUENCE, "CTASCOPE_NCCL_SEQUENCE", UINT64)                                                  \
    X(MEMBERS, "CTASCOPE_NCCL_MEMBERS", UINT32)

enum cts_attribute {
#define X(name, text, type) CTS_ATTRIBUTE_##name,
    CTS_ATTRIBUTE_MAP(X)
#undef X
        CTS_ATTRIBUTE_COUNT
};
_Static_assert(CTS_ATTRIBUTE_DYNAMIC_SHARED - CTS_ATTRIBUTE_GRID_X + 1 == CTS_SHAPE_COUNT,
               "a shape is the attributes from the grid to shared memory");
extern const char *const cts_attribute_names[CTS_ATTRIBUTE_COUNT];

/* The attributes of one event: values[i] belongs to attribute ids[i]. STREAM_REF and QUEUE_REF hold
 * an index in locations. */
enum { CTS_EVENT_ATTRIBUTES_MAX = CTS_ATTRIBUTE_COUNT };
struct cts_event_attributes {
    uint32_t present; /* bit per enum cts_attribute */
    uint64_t values[CTS_EVENT_ATTRIBUTES_MAX];
};

struct cts_timeline_event {
    uint64_t time_ns;
    enum cts_timeline_event_kind kind;
    union {
        uint32_t region;
        struct {
            uint32_t peer, communicator, tag; /* peer: rank in the communicator */
            uint64_t bytes, request;
        } message;
        struct {
            uint32_t operation;          /* OTF2_CollectiveOp */
            uint32_t communicator, root; /* root: rank in the communicator; NONE */
            uint64_t sent_bytes, received_bytes, request;
        } collective;
        struct {
            uint32_t window, remote; /* remote: rank in the window's communicator */
            uint32_t operation;      /* collective op, sync type, lock type, atomic type */
            uint32_t level; /* sync level; of a group sync: index in communicators or NONE, and
                               the sync level is in `operation` */
            uint64_t bytes, received_bytes, matching; /* matching: of locks, the lock's number */
        } rma;
        struct {
            uint32_t team_size, communicator, creator; /* creator: of locks, the order */
            uint64_t sequence; /* generation, sequence count, lock or task number */
        } thread;
        struct {
            uint64_t end_ns;
        } flush;
        bool on;
    };
};

/* ---- reading ---- */

/* Definitions of an archive, all in memory. */
struct cts_timeline {
    struct cts_timeline_location *locations;
    size_t location_count;
    struct cts_timeline_group *groups;
    size_t group_count;
    struct cts_timeline_region *regions;
    size_t region_count;
    struct cts_timeline_communicator *communicators;
    size_t communicator_count;
    struct cts_timeline_window *windows;
    size_t window_count;
    uint32_t world; /* index in communicators of MPI_COMM_WORLD; NONE */
    uint64_t ticks_per_second, global_offset, duration_ns; /* as written; times are given in ns */
    const char *creator, *description;
    uint64_t event_count;
    struct cts_timeline_warning {
        const char *text; /* what is missing or odd, one line */
        uint64_t count;
    } *warnings; /* gathered while opening */
    size_t warning_count;
    struct cts_gaps gaps; /* files that are missing or, see cts_timeline_name_damage(), damaged:
                             what they hold is not counted */
    struct cts_timeline_private *private_data;
};

/* Opens an archive by its anchor file (*.otf2) or a run directory that holds timeline/. One that is
 * not the run's own, as its seal says, is refused here and nowhere else. Damaged definitions are an
 * error; a location whose file is missing or damaged is marked and warned of. After a failure there
 * is nothing to close. */
CTS_MUST_CHECK enum cts_status cts_timeline_open(const char *path, struct cts_timeline *timeline,
                                                 struct cts_error *error);
void cts_timeline_close(struct cts_timeline *timeline);

/* Calls `event` for each event of a location in the order of the file, until it returns false.
 * `attributes` is NULL where there are none that we know. Clock offsets of the location are
 * applied. Several threads may read different locations at once. A file that is damaged somewhere
 * gives the events before, and CTS_FORMAT. */
typedef bool (*cts_timeline_visit)(void *state, uint32_t location,
                                   const struct cts_timeline_event *event,
                                   const struct cts_event_attributes *attributes);
CTS_MUST_CHECK enum cts_status cts_timeline_read(const struct cts_timeline *timeline,
                                                 uint32_t location, cts_timeline_visit visit,
                                                 void *state, struct cts_error *error);

/* Adds to `gaps` each location's file that turned out damaged since the last call, in the order of
 * locations: only reading its events shows that a file is damaged. No other thread may be reading.
 */
void cts_timeline_name_damage(struct cts_timeline *timeline);

/* ---- writing ---- */

/* Writes an archive: open with all definitions (a struct cts_timeline that the caller filled;
 * reference, name, kind and group of locations are enough), then the events of each location in
 * order of time, then close. Different locations may be written by different threads at once.
 * `definitions` must live until cts_timeline_finish(), which writes them; the event counts and the
 * duration are the writer's own. Ticks are ns whatever `ticks_per_second` says. Memory is about a
 * megabyte for each location that has been written to and not yet ended. */
struct cts_timeline_writer;
struct cts_timeline_metric { /* a metric class of one member, for the enriched trace */
    const char *name, *unit, *description;
    bool is_double;
};
struct cts_timeline_writer_options {
    const char *directory; /* made if absent */
    const char *name;      /* of the anchor file without .otf2: "traces" */
    const struct cts_timeline_metric *metrics;
    size_t metric_count;
    /* Several processes write one archive together: each location is written, and ended, by one of
     * them, even if it has no event; creating and finishing are collective. NULL: alone. */
    const struct cts_processes *processes;
};
CTS_MUST_CHECK enum cts_status
cts_timeline_create(const struct cts_timeline_writer_options *options,
                    const struct cts_timeline *definitions, struct cts_timeline_writer **writer,
                    struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_timeline_write(struct cts_timeline_writer *writer,
                                                  uint32_t location,
                                                  const struct cts_timeline_event *event,
                                                  const struct cts_event_attributes *attributes,
                                                  struct cts_error *error);
/* A value of metric number `metric` of the writer's options. */
struct cts_metric_value {
    uint64_t time_ns;
    uint32_t metric;
    double value;
};

/* A value of metric `metric` (index in the options) at a time. */
CTS_MUST_CHECK enum cts_status cts_timeline_write_metric(struct cts_timeline_writer *writer,
                                                         uint32_t location,
                                                         struct cts_metric_value metric_value,
                                                         struct cts_error *error);
/* The location is complete: what it buffers is written and given back. */
CTS_MUST_CHECK enum cts_status cts_timeline_end_location(struct cts_timeline_writer *writer,
                                                         uint32_t location,
                                                         struct cts_error *error);
/* Writes the definitions, and frees the writer (NULL: nothing), also after a failure. */
enum cts_status cts_timeline_finish(struct cts_timeline_writer *writer, struct cts_error *error);

#endif
