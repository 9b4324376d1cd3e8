/* A rule is a set of functions that the matching stage calls where the rule's pattern may occur.
 * Each function checks whether the pattern does occur and adds what is waited for; waits.c turns
 * that into waits.
 *
 *     found by        in            offered to
 *     message-waits.c      send, receive late_sender, late_receiver, late_partner, late_post, ...
 *     groups.c        a collective  mpi_barrier, n_to_n, late_root, early_root, one_sided, ...;
 *                                   of threads thread_barrier
 *     locks.c         an epoch      lock
 *     process-threads.c       fork, join    thread_start, thread_join
 *     releases.c      threads       the same, and thread_lock, thread_signal
 *     device-waits.c        API calls     blame_kernel, blame_sync, the queries, stream_wait,
 *                                   null_stream, own_copy
 *     device-turns.c  kernels       full_device, first_launch
 *     kernel-groups.c  kernels of collectives   nccl_wait
 *
 * A call of a host thread that depends on others waits from its enter until the last of them is
 * done, at most until its leave. */
#ifndef CTS_ANALYZE_PATH_RULE_H
#define CTS_ANALYZE_PATH_RULE_H

#include "analyze/path/raw.h"
#include "analyze/path/streams.h"

/* A receive that met its send, or MPI_Win_start, _complete, _wait its partner's call. */
struct cts_path_message {
    const struct cts_path_graph *graph;
    struct cts_path_location *at; /* the receiver */
    const struct cts_path_receive *receive;
    struct cts_path_edge sent; /* the begin of the sending call */
    bool window;               /* of a window: tag says what */
    uint32_t tag;
};

/* A send of MPI whose receive is posted at `posted`, before the send was complete. */
struct cts_path_answer {
    const struct cts_path_graph *graph;
    struct cts_path_location *at; /* the sender */
    const struct cts_path_send *send;
    struct cts_path_edge posted;
};

/* One member of a collective or a barrier of threads. */
struct cts_path_meeting {
    struct cts_path_graph *graph;
    uint32_t pool;
    const struct cts_path_member *members; /* of the pool, by the order of their locations */
    uint32_t position;                     /* of this one */
};

/* A call of an epoch of locks, and all epochs, by target and by the begin of the unlock. */
struct cts_path_holder {
    uint64_t key, unlock_ns, left_ns; /* enter and leave of the unlock */
    uint32_t location, unlock;        /* enter node */
    bool exclusive;
};
struct cts_path_lock_call {
    const struct cts_path_holder *holders;
    size_t holder_count;
    struct cts_path_location *at;
    const struct cts_path_lock *lock;
    uint32_t location, call;
    uint64_t enter_ns, leave_ns;
};

/* What a thread does after something of another: its first event, or a call that returns. */
enum cts_path_sequel_kind {
    CTS_PATH_SEQUEL_BEGINS,
    CTS_PATH_SEQUEL_JOINS,
    CTS_PATH_SEQUEL_LOCKS,
    CTS_PATH_SEQUEL_IS_TOLD /* by a signal or a post */
};
struct cts_path_sequel {
    struct cts_path_graph *graph;
    uint32_t location, node;
    struct cts_path_edge before;
    enum cts_path_sequel_kind kind;
};

/* A call that returns when device work (marks, edges) is done; `explicitly`: no copy or memset. */
struct cts_path_sync {
    struct cts_path_device *device;
    const struct cts_path_call *call;
    const struct cts_path_marks *marks;
    const struct cts_path_edges *edges;
    uint64_t latest_ns; /* end of the last of it */
    bool explicitly;
};

/* A failed query of work that a later query found done. */
struct cts_path_poll {
    struct cts_path_graph *graph;
    bool of_event;
    uint32_t location, enter, leave;
    const struct cts_path_edges *edges;
    uint64_t latest_ns;
};

/* A kernel that was ready at ready_ns, while another stream's ran on a device that runs one; or
 * that was launched for the first time then. */
struct cts_path_turn {
    struct cts_path_location *at;
    uint32_t activity;
    uint64_t ready_ns;
    struct cts_path_edge before; /* the end of the other */
};

/* A blocking copy whose own copy is known and begins within the call. */
struct cts_path_copied {
    struct cts_path_graph *graph;
    uint32_t location, enter, leave;
    struct cts_path_edge end; /* of the copy on its stream */
};

/* A kernel of a collective whose members are the pool's, all of which it waits for; pool NONE: it
 * ended before the last of them began, and waits for the edges. */
struct cts_path_kernel_meeting {
    struct cts_path_location *at;
    uint32_t activity, pool;
    const struct cts_path_edges *edges;
    uint64_t latest_ns; /* begin of the last of those that it waits for */
};

/* A host function of a stream, whose thread did something recorded from `from_ns` to `done`. */
struct cts_path_function {
    struct cts_path_location *at;
    uint32_t activity;
    uint64_t from_ns;
    struct cts_path_edge done;
};

struct cts_path_rule {
    bool transfer; /* the path leaves at the leave; from the arrival to there it is MPI transfer */
    bool own;      /* with transfer: from the arrival to there it is the call's own work */
    bool orders;   /* the path also leaves where nothing waited */
    enum cts_status (*message)(const struct cts_path_message *message, struct cts_error *error);
    enum cts_status (*answer)(const struct cts_path_answer *answer, struct cts_error *error);
    enum cts_status (*meeting)(const struct cts_path_meeting *meeting, struct cts_error *error);
    enum cts_status (*lock)(const struct cts_path_lock_call *call, struct cts_error *error);
    enum cts_status (*sequel)(const struct cts_path_sequel *sequel, struct cts_error *error);
    enum cts_status (*sync)(const struct cts_path_sync *sync, struct cts_error *error);
    enum cts_status (*kernels)(const struct cts_path_kernel_meeting *meeting,
                               struct cts_error *error);
    enum cts_status (*function)(const struct cts_path_function *function, struct cts_error *error);
    enum cts_status (*turn)(const struct cts_path_turn *turn, struct cts_error *error);
    enum cts_status (*first)(const struct cts_path_turn *turn, struct cts_error *error);
    enum cts_status (*copied)(const struct cts_path_copied *copied, struct cts_error *error);
    enum cts_status (*poll)(const struct cts_path_poll *poll, struct cts_error *error);
    /* Adds the work that holds the next activity of a stream (device-waits.c: hold). */
    enum cts_status (*holds)(struct cts_path_device *device, struct cts_path_stream *stream,
                             struct cts_path_marks *marks, struct cts_error *error);
};

#define X(name, symbol, text, paper, help) extern const struct cts_path_rule cts_path_rule_##symbol;
CTS_PATH_PATTERN_MAP(X)
#undef X
/* ---- what rules have in common ---- */

/* Whether a call completes what others began (MPI_Wait...): that is late_partner's. */
bool cts_path_completes(const struct cts_path_graph *graph, const struct cts_path_location *at,
                        uint32_t call);
/* The receive, and a probe before it, wait for the send. `stayed`: only a call that stayed for it
 * depends on it. */
CTS_MUST_CHECK enum cts_status cts_path_await_send(const struct cts_path_message *message,
                                                   enum cts_path_pattern pattern, bool stayed,
                                                   struct cts_error *error);
/* The send waits for the receive, if that was posted while it ran. */
CTS_MUST_CHECK enum cts_status cts_path_await_receive(const struct cts_path_answer *answer,
                                                      enum cts_path_pattern pattern,
                                                      struct cts_error *error);

static inline const struct cts_path_member *
cts_path_who_meets(const struct cts_path_meeting *meeting)
{
    return &meeting->members[meeting->position];
}
/* Whether the meeting has this shape and is one blocking call of a communicator. */
bool cts_path_is_blocking(const struct cts_path_meeting *meeting, enum cts_path_shape shape);
/* For all others; for the root, if that is another; for those of lower ranks; the root for all. */
CTS_MUST_CHECK enum cts_status cts_path_await_all(const struct cts_path_meeting *meeting,
                                                  enum cts_path_pattern pattern, bool stayed,
                                                  struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_path_await_root(const struct cts_path_meeting *meeting,
                                                   enum cts_path_pattern pattern,
                                                   struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_path_await_lower(const struct cts_path_meeting *meeting,
                                                    enum cts_path_pattern pattern,
                                                    struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_path_root_awaits(const struct cts_path_meeting *meeting,
                                                    enum cts_path_pattern pattern,
                                                    struct cts_error *error);

/* A call of a thread waits for another thread. */
CTS_MUST_CHECK enum cts_status cts_path_await_thread(const struct cts_path_sequel *sequel,
                                                     enum cts_path_pattern pattern,
                                                     struct cts_error *error);

/* A kernel waits for another one. */
CTS_MUST_CHECK enum cts_status cts_path_turn_wait(const struct cts_path_turn *turn,
                                                  enum cts_path_pattern pattern,
                                                  struct cts_error *error);

/* A call of a host thread: the nodes of its enter and leave. */
struct cts_path_host_call {
    struct cts_path_location *at;
    uint32_t enter, leave;
};
/* The call waits for `edges` until `end_ns`, at most until its leave. */
CTS_MUST_CHECK enum cts_status cts_path_host_wait(struct cts_path_host_call call, uint64_t end_ns,
                                                  enum cts_path_pattern pattern,
                                                  const struct cts_path_edges *edges,
                                                  struct cts_error *error);
/* Adds the first `launched` activities of a stream to what is awaited, if there are any. */
CTS_MUST_CHECK enum cts_status cts_path_await_work(const struct cts_path_device *device,
                                                   struct cts_path_marks *marks,
                                                   const struct cts_path_stream *stream,
                                                   uint32_t launched, struct cts_error *error);

#endif
