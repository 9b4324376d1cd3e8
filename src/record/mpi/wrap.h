/* What the generated wrappers of MPI call (generate.py): entering and leaving, and a hook for each
 * thing that a call can mean. Compiled once for each MPI.
 *
 * Nothing here refers to a symbol of MPI: a process without it loads this library too (mpirun, a
 * shell). MPI's own functions are found when the first wrapper is called. A process whose MPI is
 * not the one that this was compiled for goes through to the next library's wrappers.
 *
 * Hooks are called after MPI's function has returned without an error, so that a call that failed
 * leaves no message; what began with the call gets the time of its begin. Sends and the begins of
 * collectives are reported before the call where errors abort the program anyway. */
#ifndef CTS_RECORD_MPI_WRAP_H
#define CTS_RECORD_MPI_WRAP_H

#define OMPI_SKIP_MPICXX  1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include <otf2/OTF2_Events.h>

#include "mpi-real.h"
#include "record/timeline/recorder.h"

#define CTS_EXPORT __attribute__((visibility("default")))

extern struct cts_mpi_real cts_real; /* MPI's own functions */

/* MPI's predefined handles; in some MPIs they are addresses of its variables. */
struct cts_mpi_handles {
    MPI_Comm comm_world, comm_self, comm_null;
    MPI_Datatype byte;
    MPI_Group group_null;
    MPI_Errhandler errors_are_fatal;
    MPI_Message message_null, message_no_proc;
};
extern struct cts_mpi_handles cts_handles;

struct cts_mpi_process {
    const struct cts_recorder *recorder;
    uint32_t rank, count; /* in MPI_COMM_WORLD */
};
extern struct cts_mpi_process cts_mpi;

/* ---- a call (state.c) ---- */

struct cts_mpi_call {
    struct cts_log *log;
    uint64_t start_ns, end_ns; /* end_ns 0: MPI's function has not been left, or not looked */
    uint32_t region;
    bool began; /* a collective's begin is reported */
};

/* False: go through to MPI's function; nothing is recorded of this call (no recording, another
 * MPI, or a call that MPI makes itself). */
bool cts_call_enter(struct cts_mpi_call *call, enum cts_mpi_function function);
void cts_call_leave(struct cts_mpi_call *call);
/* When MPI's function had returned: the first time that somebody asks. */
static inline uint64_t cts_call_end_ns(struct cts_mpi_call *call)
{
    if (!call->end_ns) call->end_ns = cts_mpi.recorder->now_ns();
    return call->end_ns;
}
/* Addresses in this process's MPI; NULL. */
void *cts_mpi_function_address(const char *name);
void *cts_mpi_variable_address(const char *name);

void cts_mpi_initialised(void);
void cts_mpi_finalizing(void);
void cts_mpi_finalized(struct cts_mpi_call *call);

/* ---- clocks (mpi-clocks.c) ---- */

void cts_clocks_begin(void); /* collective: says which ranks have another clock than rank 0 */
void cts_clocks_read(void);  /* collective: a reading for each of them */

/* ---- messages (mpi-messages.c) ---- */

#define OK             (result == MPI_SUCCESS)
#define B(count, type) ((uint64_t)(count) * cts_type_size(type))
/* What the wrappers pass. */
#define COLLECTIVE(...) (&(struct cts_collective_call){__VA_ARGS__})
#define MESSAGE(...)    (&(struct cts_persistent_message){__VA_ARGS__})
#define RMA(...)        (&(struct cts_rma_operation){__VA_ARGS__})
#define TAKEN(...)      ((struct cts_taken){__VA_ARGS__})
#define DONE(...)       ((struct cts_done){__VA_ARGS__})
uint64_t cts_type_size(MPI_Datatype type);

/* Sums of counts, of whatever integer type. */
#define CTS_SUM(counts, n)                                                                         \
    ({                                                                                             \
        uint64_t sum = 0;                                                                          \
        for (uint64_t i = 0; i < (uint64_t)(n); i++) sum += (uint64_t)(counts)[i];                 \
        sum;                                                                                       \
    })
#define CTS_TYPED_SUM(counts, types, n)                                                            \
    ({                                                                                             \
        uint64_t sum = 0;                                                                          \
        for (uint64_t i = 0; i < (uint64_t)(n); i++) sum += B((counts)[i], (types)[i]);            \
        sum;                                                                                       \
    })

/* A status of our own where the program does not want one. */
#define CTS_OWN_STATUS(status)                                                                     \
    MPI_Status own_status;                                                                         \
    if (status == MPI_STATUS_IGNORE) status = &own_status;
#define CTS_OWN_STATUSES(statuses, n)                                                              \
    if (statuses == MPI_STATUSES_IGNORE) statuses = cts_scratch_statuses(n);
MPI_Status *cts_scratch_statuses(int count); /* MPI_STATUSES_IGNORE: no memory */

uint64_t cts_status_bytes(const MPI_Status *status);
void cts_sent(struct cts_mpi_call *call, uint64_t bytes, int peer, int tag, MPI_Comm comm);
void cts_received(struct cts_mpi_call *call, MPI_Comm comm, int peer, const MPI_Status *status);

/* Whether errors on the communicator end the program. */
bool cts_reports_early(MPI_Comm comm);

/* ---- collectives (collectives.c) ---- */

struct cts_communicator;
void cts_collective_begin(struct cts_mpi_call *call);
/* A collective operation, and how many bytes this process sends and receives in it. */
struct cts_collective_call {
    unsigned operation;
    const struct cts_communicator *comm;
    uint32_t root;
    uint64_t sent_bytes, received_bytes;
};

void cts_collective(struct cts_mpi_call *call, const struct cts_collective_call *collective);

/* ---- requests (requests.c) ---- */

/* What is known of a request that MPI holds. It is taken out of the table before MPI sees the
 * handle, since MPI may give the same handle to another thread as soon as it is free, and put back
 * if the request is still there. NULL: a request that we know nothing of. */
struct cts_request;

struct cts_request *cts_isending(struct cts_mpi_call *call, uint64_t bytes, int peer, int tag,
                                 MPI_Comm comm);
void cts_isent(struct cts_mpi_call *call, bool ok, struct cts_request *begun, MPI_Request request);
void cts_ireceiving(struct cts_mpi_call *call, int peer, int tag, MPI_Comm comm,
                    MPI_Request request);
/* What a persistent request will send or receive each time it is started. */
struct cts_persistent_message {
    bool sends;
    uint64_t bytes;
    int peer, tag;
    MPI_Comm comm;
};

void cts_persistent(const struct cts_persistent_message *message, MPI_Request request);
void cts_icollective(struct cts_mpi_call *call, const struct cts_collective_call *collective,
                     MPI_Request request);
void cts_irma(uint32_t window, uint64_t matching, MPI_Request request);

struct cts_request *cts_request_take(MPI_Request request);
/* The thread's own array, valid until its next call; NULL: none is known, or no memory. */
struct cts_request **cts_requests_take(int count, const MPI_Request *requests);
void cts_starting(struct cts_mpi_call *call, struct cts_request **taken, int count);
void cts_started(struct cts_mpi_call *call, bool ok, struct cts_request **taken, int count);
/* The requests of the handles that a call was given, in their order; NULL: there is none. */
struct cts_taken {
    struct cts_request **requests;
    int count;
};

void cts_tested(struct cts_mpi_call *call, int result, struct cts_taken taken, bool done,
                const MPI_Status *statuses);
void cts_tested_any(struct cts_mpi_call *call, int result, struct cts_taken taken, int index,
                    const MPI_Status *status);
/* Which handles are done: `count` of them (or MPI_UNDEFINED), numbered from `base` (C: 0). */
struct cts_done {
    int count;
    const int *indices;
    int base;
};

void cts_tested_some(struct cts_mpi_call *call, int result, struct cts_taken taken,
                     struct cts_done done, const MPI_Status *statuses);
void cts_request_freed(bool ok, struct cts_request *taken);
void cts_request_cancelled(bool ok, struct cts_request *taken);

/* Messages of matched probes: known by handle, as requests are. */
void cts_message_matched(MPI_Comm comm, MPI_Message message);
struct cts_request *cts_message_take(MPI_Message message);
void cts_message_received(struct cts_mpi_call *call, bool ok, struct cts_request *taken,
                          const MPI_Status *status);
void cts_message_receiving(struct cts_mpi_call *call, bool ok, struct cts_request *taken,
                           MPI_Request request);

/* ---- communicators (communicators.c) ---- */

struct cts_communicator {
    MPI_Comm handle;
    struct cts_communicator *next;
    bool known; /* has an identity: else its messages are not recorded */
    bool inter;
    bool returns_errors;  /* the program handles them */
    int rank, local_size; /* in the local group */
    uint64_t partners;    /* with how many a collective exchanges data */
    uint32_t number;      /* the recorder's */
    uint32_t creator, number_there;
    uint32_t parent_creator, parent_number; /* NONE: no parent */
    uint32_t position, remote_offset;       /* of an intercommunicator's groups among its members */
    uint32_t size;                          /* of all members */
    int64_t in_degree, out_degree;          /* of its topology; -1: not asked yet */
    uint32_t duplicate_count, window_count;
};

/* NULL: a communicator without an identity. Valid until it is freed. */
struct cts_communicator *cts_comm_info(MPI_Comm comm);
void cts_comm_begin(void);                             /* world and self */
void cts_comm_created(MPI_Comm parent, MPI_Comm comm); /* collective over `comm` */
void cts_comm_duplicating(MPI_Comm parent, MPI_Comm comm);
struct cts_communicator *cts_comm_take(MPI_Comm comm);
void cts_comm_freed(struct cts_mpi_call *call, bool ok, struct cts_communicator *comm);
void cts_comm_named(MPI_Comm comm);
void cts_comm_errors_set(MPI_Comm comm);
void cts_comm_neighbors(struct cts_communicator *info, MPI_Comm comm, uint64_t *in, uint64_t *out);

/* World ranks of a group's first `count` members, allocated; NULL: no memory, or some belong to
 * another world. */
uint32_t *cts_world_ranks(MPI_Group group, int count);

/* Places of ranks among the members. */
uint32_t cts_comm_root(const struct cts_communicator *comm, int root);
static inline bool cts_comm_at_root(const struct cts_communicator *comm, int root)
{
    return comm->inter ? root == MPI_ROOT : root == comm->rank;
}
static inline uint32_t cts_comm_peer(const struct cts_communicator *comm, int peer)
{
    return comm->remote_offset + (uint32_t)peer;
}

/* ---- windows (windows.c) ---- */

struct cts_window;
enum cts_rma_kind {
    CTS_RMA_PUT,
    CTS_RMA_GET,
    CTS_RMA_ACCUMULATE,
    CTS_RMA_FETCH_AND_ACCUMULATE,
    CTS_RMA_COMPARE_AND_SWAP,
};
#define CTS_ALL_TARGETS  (-1000)
#define CTS_FLUSH_REMOTE true
#define CTS_FLUSH_LOCAL  false

void cts_window_created(struct cts_mpi_call *call, unsigned operation, MPI_Comm comm, MPI_Win win);
struct cts_window *cts_window_take(MPI_Win win);
void cts_window_freed(struct cts_mpi_call *call, bool ok, struct cts_window *window);
/* A one-sided operation, and how many bytes this process sends and receives by it. */
struct cts_rma_operation {
    enum cts_rma_kind kind;
    uint64_t sent_bytes, received_bytes;
    int peer;
    MPI_Win win;
};

void cts_rma(struct cts_mpi_call *call, const struct cts_rma_operation *rma,
             const MPI_Request *request);
void cts_window_fence(struct cts_mpi_call *call, MPI_Win win);
void cts_window_posted(struct cts_mpi_call *call, MPI_Win win, MPI_Group group);
void cts_window_started(struct cts_mpi_call *call, MPI_Win win, MPI_Group group);
void cts_window_ended(struct cts_mpi_call *call, MPI_Win win);   /* what was started */
void cts_window_exposed(struct cts_mpi_call *call, MPI_Win win); /* what was posted has ended */
void cts_window_lock(struct cts_mpi_call *call, MPI_Win win, int peer, bool exclusive);
void cts_window_unlock(struct cts_mpi_call *call, MPI_Win win, int peer);
void cts_window_completed(struct cts_mpi_call *call, MPI_Win win, int peer, bool remote);

#endif
