/* The operations of one location before dependencies are found. Reading fills it, matching uses it,
 * and it is freed when the graph is complete. */
#ifndef CTS_ANALYZE_PATH_RAW_H
#define CTS_ANALYZE_PATH_RAW_H

#include "analyze/path/graph.h"

enum { CTS_PATH_ROOT_NONE = -1 };
#define CTS_PATH_WINDOW (1u << 31) /* in `communicator`: of a window; `tag` says what */
enum { CTS_PATH_POST_TO_START, CTS_PATH_POST_TO_COMPLETE, CTS_PATH_COMPLETE_TO_WAIT };
struct cts_path_send {
    uint32_t call, done; /* enter nodes: of the sending call; of the one that completed it; NONE */
    uint32_t peer;       /* location; NONE: none */
    uint32_t communicator, tag;
};
struct cts_path_receive {
    uint32_t post, done, peer, communicator, tag;
    uint32_t probe; /* enter node of a probe that saw it; NONE */
};
#define CTS_PATH_OF_THREADS (2ull << 60) /* in `key`: no member is its process's */
struct cts_path_member {                 /* of a collective or a barrier */
    uint64_t enter_ns, key;
    uint64_t done_ns;  /* enter of `done`; 0: not ended (groups.c) */
    uint32_t order;    /* among those with the same key, on this location */
    uint32_t location; /* whose */
    uint32_t call;     /* enter node of what began it */
    uint32_t done;     /* of what ended it */
    uint32_t root;     /* location; NONE */
    uint32_t shape;    /* enum cts_path_shape */
};
enum cts_path_shape {
    CTS_PATH_SHAPE_BARRIER,
    CTS_PATH_SHAPE_ALL,      /* n to n */
    CTS_PATH_SHAPE_FROM_ONE, /* 1 to n */
    CTS_PATH_SHAPE_TO_ONE,   /* n to 1 */
    CTS_PATH_SHAPE_PREFIX,   /* scan */
    CTS_PATH_SHAPE_TEAM,     /* OpenMP barrier: only who stayed for the last one waited */
    CTS_PATH_SHAPE_THREADS,  /* barrier of pthreads */
    CTS_PATH_SHAPE_SEEN,     /* MPI_Init...: only who stayed for the last one waited */
};
/* From MPI_Win_lock to MPI_Win_unlock. */
struct cts_path_lock {
    uint64_t key; /* window << 32 | rank of the target; all of them: NONE */
    uint32_t lock, lock_leave, unlock, unlock_leave; /* nodes; unlock NONE: still open */
    bool exclusive;
};
struct cts_path_op {       /* a call of the device's API */
    uint64_t reference;    /* event, or correlation of a launch; 0: none */
    uint32_t enter, leave; /* nodes */
    uint32_t stream;       /* location; NONE: not said */
    uint8_t api, direction;
    bool failed; /* its result was not success */
};
struct cts_path_team {     /* a thread in a parallel region */
    uint64_t begin_ns, id; /* id: OMPT's; 0: by communicator */
    uint64_t end_ns;       /* 0: it did not end */
    uint32_t communicator;
    uint32_t node; /* its first node in there */
};
struct cts_path_barrier {
    uint32_t team;  /* index in teams */
    uint32_t order; /* in the team */
    uint32_t call;
};
struct cts_path_fork {
    uint64_t time_ns, id;
    uint32_t node; /* the last one at or before */
};
struct cts_path_thread_event { /* create, begin, wait, end */
    uint64_t time_ns, key;
    uint32_t kind; /* enum cts_timeline_event_kind */
    uint32_t node; /* last one at or before; wait: the call's enter */
};

/* What lets threads go on, or the call that goes on then (CTASCOPE_RELEASE, _RELEASED_BY). */
struct cts_path_handover {
    uint64_t number;
    uint32_t node;
    bool waits;
};

/* A kernel of a collective; communicator 0: as the call that launches it says, else not known. */
struct cts_path_collective_kernel {
    uint64_t communicator, sequence, bytes; /* sequence: or CTS_COLLECTIVE_NUMBER */
    uint32_t members;                       /* of the communicator; 0: not known */
    uint32_t activity;
};

/* A call that names the communicator of what it launches. */
struct cts_path_collective_call {
    uint64_t communicator;
    uint32_t enter, leave; /* nodes */
};

/* The function of a thread, and how long it used the CPU or was ready to (CTASCOPE_CPU_TIME). */
struct cts_path_thread_function {
    uint32_t enter, leave; /* nodes */
    uint64_t cpu_ns;
};

struct cts_path_raw {
    CTS_PATH_LIST(struct cts_path_send, sends);
    CTS_PATH_LIST(struct cts_path_receive, receives);
    CTS_PATH_LIST(struct cts_path_member, members);
    CTS_PATH_LIST(struct cts_path_lock, locks);
    CTS_PATH_LIST(struct cts_path_op, ops);
    CTS_PATH_LIST(struct cts_path_team, teams);
    CTS_PATH_LIST(struct cts_path_barrier, barriers);
    CTS_PATH_LIST(struct cts_path_fork, forks);
    CTS_PATH_LIST(struct cts_path_thread_event, thread_events);
    CTS_PATH_LIST(struct cts_path_handover, handovers);
    CTS_PATH_LIST(struct cts_path_thread_function, functions);
    CTS_PATH_LIST(struct cts_path_collective_kernel, kernels);
    CTS_PATH_LIST(struct cts_path_collective_call, collective_calls);
    bool blocked; /* it hardly used the CPU where nothing says that it waited */
    uint64_t stretches_ns, awaited_ns;     /* of a blocked thread: unrecorded-waits.c */
    CTS_PATH_LIST(uint64_t, correlations); /* per device activity; empty if none has one */
    CTS_PATH_LIST(struct cts_path_dependency, dependencies);
};

/* A call that depends on another location. Dependencies of one call become one wait. */
struct cts_path_dependency {
    struct cts_path_edge edge; /* pool: source_ns = latest */
    uint32_t call;             /* enter node */
    uint32_t pool;             /* NONE: the edge */
    uint8_t pattern;
    bool within; /* counts only if the source lies within the call (a late receiver) */
    bool stayed; /* counts only if the call did not leave before the source */
};

CTS_MUST_CHECK enum cts_status cts_path_add_dependency(struct cts_path_location *location,
                                                       const struct cts_path_dependency *dependency,
                                                       struct cts_error *error);
/* Frees everything that was read. May be called twice. */
void cts_path_drop_raw(struct cts_path_location *location);

#endif
