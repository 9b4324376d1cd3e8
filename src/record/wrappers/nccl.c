/* Wrappers of NCCL: each call is a region with its communicator, bytes and stream. No header of
 * NCCL is needed: handles are pointers, and the few types are declared here as its documentation
 * gives them. Kernels that NCCL launches are linked by the stream and by the driver's own calls
 * inside the region.
 *
 * A communicator is known by a number that its ranks have in common: of the unique id that they
 * were initialised with; of a split, of its parent's, the count of splits and the colour. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "record/wrappers/loader.h"
#include "record/wrappers/stream-ids.h"

#define CTS_EXPORT __attribute__((visibility("default")))

typedef struct ncclComm *ncclComm_t;
typedef struct {
    char internal[128];
} ncclUniqueId;
typedef int ncclResult_t; /* 0: success */
typedef int ncclDataType_t, ncclRedOp_t;
typedef void *cudaStream_t;

static const struct cts_recorder *recorder;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread bool in_call; /* ncclBcast calls ncclBroadcast */

static void load(void)
{
    const struct cts_recorder *const found = cts_recorder_load();
    if (found && found->is_on()) recorder = found;
}

/* ---- communicators ---- */

static struct communicator {
    struct communicator *next;
    ncclComm_t handle;
    uint64_t number;
    uint32_t split_count;
} *communicators;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct communicator *find_locked(ncclComm_t handle)
{
    struct communicator *at = communicators;
    while (at && at->handle != handle) at = at->next;
    return at;
}

static void learn(ncclComm_t handle, uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct communicator *known = find_locked(handle);
    if (!known && (known = calloc(1, sizeof(*known)))) {
        known->handle = handle;
        known->next = communicators;
        communicators = known;
    }
    if (known) known->number = number;
    pthread_mutex_unlock(&lock);
}

static void forget(ncclComm_t handle)
{
    pthread_mutex_lock(&lock);
    struct communicator **place = &communicators;
    while (*place && (*place)->handle != handle) place = &(*place)->next;
    struct communicator *const gone = *place;
    if (gone) *place = gone->next;
    pthread_mutex_unlock(&lock);
    free(gone);
}

/* One that was made before recording began has its address as number. */
static uint64_t number_of(ncclComm_t handle)
{
    pthread_mutex_lock(&lock);
    const struct communicator *const known = find_locked(handle);
    const uint64_t number = known ? known->number : (uintptr_t)handle;
    pthread_mutex_unlock(&lock);
    return number;
}

static uint64_t split_number(ncclComm_t parent, int color)
{
    uint32_t count = 0;
    pthread_mutex_lock(&lock);
    struct communicator *const known = find_locked(parent);
    if (known) count = ++known->split_count;
    uint64_t number = known ? known->number : (uintptr_t)parent;
    pthread_mutex_unlock(&lock);
    number = cts_hash_bytes(number, &count, sizeof(count));
    return cts_hash_bytes(number, &color, sizeof(color));
}

/* ---- calls ---- */

struct call {
    struct cts_log *log; /* NULL: not recorded */
    uint32_t region;
};

/* What a call works on; comm NULL: on none. */
struct work {
    ncclComm_t comm;
    size_t count;
    ncclDataType_t type;
    cudaStream_t stream;
    bool has_data;
};

static uint64_t type_bytes(ncclDataType_t type)
{
    static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return type >= 0 && (size_t)type < sizeof(bytes) ? bytes[type] : 0;
}

static void describe(struct cts_event_attributes *attributes, const struct work *work)
{
    if (!work->comm) return;
    attributes->present |= 1U << CTS_ATTRIBUTE_COMMUNICATOR;
    attributes->values[CTS_ATTRIBUTE_COMMUNICATOR] = number_of(work->comm);
    if (!work->has_data) return;
    attributes->present |= 1U << CTS_ATTRIBUTE_BYTES;
    attributes->values[CTS_ATTRIBUTE_BYTES] = work->count * type_bytes(work->type);
    struct cts_log *const stream = cts_stream_log(recorder, work->stream);
    if (!stream) return;
    attributes->present |= 1U << CTS_ATTRIBUTE_STREAM_REF;
    attributes->values[CTS_ATTRIBUTE_STREAM_REF] = (uintptr_t)stream;
}

static struct call enter(const char *name, _Atomic uint32_t *region, struct work work)
{
    struct call call = {0};
    (void)cts_recorder_load(); /* outside of once: loader.h */
    pthread_once(&once, load);
    if (!recorder || in_call || !(call.log = recorder->this_thread())) return call;
    uint32_t known = atomic_load_explicit(region, memory_order_relaxed);
    if (!known) {
        known = recorder->region(&(struct cts_timeline_region){.name = name,
                                                               .file = "NCCL",
                                                               .paradigm = CTS_PARADIGM_CUDA,
                                                               .role = CTS_ROLE_WRAPPER}) +
                1;
        atomic_store_explicit(region, known, memory_order_relaxed);
    }
    in_call = true;
    call.region = known - 1;
    struct cts_event_attributes attributes = {0};
    describe(&attributes, &work);
    const struct cts_timeline_event event = {.kind = CTS_EVENT_ENTER, .region = call.region};
    recorder->event(call.log, &event, attributes.present ? &attributes : NULL);
    return call;
}

static void leave(const struct call *call)
{
    if (!call->log) return;
    recorder->leave(call->log, call->region);
    in_call = false;
}

/* NCCL's own function; 3 is its ncclInternalError, if there is none behind us. */
static void *real(_Atomic(void *) *cache, const char *name)
{
    void *function = atomic_load_explicit(cache, memory_order_relaxed);
    if (function) return function;
    function = cts_function_behind(name, "libnccl");
    atomic_store_explicit(cache, function, memory_order_relaxed);
    return function;
}

/* A wrapper: parameters and arguments in parentheses, what it works on, what follows success. */
#define WRAP(name, parameters, arguments, on, after)                                               \
    CTS_EXPORT ncclResult_t name parameters;                                                       \
    ncclResult_t name parameters                                                                   \
    {                                                                                              \
        static _Atomic(void *) cache;                                                              \
        static _Atomic uint32_t region;                                                            \
        ncclResult_t(*const function) parameters =                                                 \
            (ncclResult_t(*) parameters)real(&cache, #name);                                       \
        if (!function) return 3;                                                                   \
        const struct call call = enter(#name, &region, (struct work)on);                           \
        const ncclResult_t result = function arguments;                                            \
        if (call.log && result == 0) after;                                                        \
        leave(&call);                                                                              \
        return result;                                                                             \
    }
#define NOTHING (void)0
#define NO_WORK {0}
#define ON_COMM {.comm = comm}
#define DATA    {comm, count, type, stream, true}

WRAP(ncclAllReduce,
     (const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
      ncclComm_t comm, cudaStream_t stream),
     (send, receive, count, type, op, comm, stream), DATA, NOTHING)
WRAP(ncclBroadcast,
     (const void *send, void *receive, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
      cudaStream_t stream),
     (send, receive, count, type, root, comm, stream), DATA, NOTHING)
WRAP(ncclBcast,
     (void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
      cudaStream_t stream),
     (buffer, count, type, root, comm, stream), DATA, NOTHING)
WRAP(ncclReduce,
     (const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
      ncclComm_t comm, cudaStream_t stream),
     (send, receive, count, type, op, root, comm, stream), DATA, NOTHING)
WRAP(ncclAllGather,
     (const void *send, void *receive, size_t count, ncclDataType_t type, ncclComm_t comm,
      cudaStream_t stream),
     (send, receive, count, type, comm, stream), DATA, NOTHING)
WRAP(ncclReduceScatter,
     (const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
      ncclComm_t comm, cudaStream_t stream),
     (send, receive, count, type, op, comm, stream), DATA, NOTHING)
WRAP(ncclSend,
     (const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
      cudaStream_t stream),
     (send, count, type, peer, comm, stream), DATA, NOTHING)
WRAP(ncclRecv,
     (void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
      cudaStream_t stream),
     (receive, count, type, peer, comm, stream), DATA, NOTHING)
WRAP(ncclGroupStart, (void), (), NO_WORK, NOTHING)
WRAP(ncclGroupEnd, (void), (), NO_WORK, NOTHING)
WRAP(ncclCommInitRank, (ncclComm_t * comm, int count, ncclUniqueId id, int rank),
     (comm, count, id, rank), NO_WORK, learn(*comm, cts_hash_bytes(1, &id, sizeof(id))))
WRAP(ncclCommInitRankConfig,
     (ncclComm_t * comm, int count, ncclUniqueId id, int rank, void *config),
     (comm, count, id, rank, config), NO_WORK, learn(*comm, cts_hash_bytes(1, &id, sizeof(id))))
WRAP(ncclCommInitAll, (ncclComm_t * comms, int count, const int *devices), (comms, count, devices),
     NO_WORK, for (int i = 0; i < count; i++) learn(comms[i], (uintptr_t)comms[0]))
WRAP(ncclCommSplit, (ncclComm_t comm, int color, int key, ncclComm_t *made, void *config),
     (comm, color, key, made, config), ON_COMM, {
         const uint64_t number = split_number(comm, color);
         if (*made) learn(*made, number);
     })
WRAP(ncclCommDestroy, (ncclComm_t comm), (comm), ON_COMM, forget(comm))
WRAP(ncclCommAbort, (ncclComm_t comm), (comm), ON_COMM, forget(comm))
WRAP(ncclCommFinalize, (ncclComm_t comm), (comm), ON_COMM, NOTHING)
