/* Requests: a table from MPI's handles to what was asked for, and the events of completions.
 *
 * Handles are not unique: several requests that are complete at once may share one (both MPIs have
 * such), so the table holds a queue per handle, and takes the oldest. What gives no event (a
 * partner MPI_PROC_NULL, an unknown communicator) is in the table too, of kind NOTHING, or else its
 * completion could be taken for another's. Chains hang on fixed buckets, and a lock guards a stripe
 * of them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "record/mpi/scratch.h"
#include "record/mpi/wrap.h"

enum request_kind { NOTHING, SENDS, RECEIVES, COLLECTIVE, RMA, MESSAGE };

struct cts_request {
    uint64_t key;
    struct cts_request *next;
    enum request_kind kind;
    bool persistent, active, cancelled;
    bool early; /* sends are reported before MPI's function is called */
    uint32_t communicator, remote_offset, tag;
    int peer;
    uint64_t bytes, id;
    uint32_t operation, root; /* of a collective; operation of an RMA request: its window */
    uint64_t received;
};

enum { BUCKET_BITS = 14, BUCKETS = 1 << BUCKET_BITS, STRIPES = 64 };
static struct bucket {
    struct cts_request *first, *last;
} buckets[BUCKETS];
static struct stripe {
    _Alignas(64) pthread_mutex_t lock;
    struct cts_request *free; /* to be used again */
} stripes[STRIPES] = {[0 ... STRIPES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static atomic_uint_fast64_t next_id = 1;

/* Requests and messages are two name spaces. */
static uint64_t request_key(MPI_Request request)
{
    return (uint64_t)(uintptr_t)request * 2;
}

static uint64_t message_key(MPI_Message message)
{
    return (uint64_t)(uintptr_t)message * 2 + 1;
}

static size_t bucket_of(uint64_t key)
{
    return (size_t)(cts_hash(key) >> (64 - BUCKET_BITS));
}

static struct cts_request *take(uint64_t key)
{
    const size_t index = bucket_of(key);
    struct bucket *const bucket = &buckets[index];
    struct stripe *const stripe = &stripes[index % STRIPES];
    struct cts_request *previous = NULL;
    pthread_mutex_lock(&stripe->lock);
    struct cts_request *request = bucket->first;
    while (request && request->key != key) {
        previous = request;
        request = request->next;
    }
    if (request) {
        if (previous)
            previous->next = request->next;
        else
            bucket->first = request->next;
        if (bucket->last == request) bucket->last = previous;
    }
    pthread_mutex_unlock(&stripe->lock);
    return request;
}

static void put(struct cts_request *request, uint64_t key)
{
    request->key = key;
    const size_t index = bucket_of(request->key);
    struct bucket *const bucket = &buckets[index];
    request->next = NULL;
    pthread_mutex_lock(&stripes[index % STRIPES].lock);
    if (bucket->last)
        bucket->last->next = request;
    else
        bucket->first = request;
    bucket->last = request;
    pthread_mutex_unlock(&stripes[index % STRIPES].lock);
}

/* Back to where it was taken from: before others of its handle. */
static void put_back(struct cts_request *request)
{
    const size_t index = bucket_of(request->key);
    struct bucket *const bucket = &buckets[index];
    pthread_mutex_lock(&stripes[index % STRIPES].lock);
    request->next = bucket->first;
    bucket->first = request;
    if (!bucket->last) bucket->last = request;
    pthread_mutex_unlock(&stripes[index % STRIPES].lock);
}

/* Where this thread keeps what is free. */
static struct stripe *own_stripe(void)
{
    static __thread char place;
    return &stripes[(cts_hash((uintptr_t)&place >> 12) >> 32) % STRIPES];
}

static struct cts_request *new_request(enum request_kind kind)
{
    struct stripe *const stripe = own_stripe();
    pthread_mutex_lock(&stripe->lock);
    struct cts_request *request = stripe->free;
    if (request) stripe->free = request->next;
    pthread_mutex_unlock(&stripe->lock);
    if (!request) request = malloc(sizeof(*request));
    if (!request) {
        cts_mpi.recorder->lost("MPI requests, because memory ran out", 1);
        return NULL;
    }
    *request = (struct cts_request){.kind = kind, .active = true};
    return request;
}

static void release(struct cts_request *request)
{
    struct stripe *const stripe = own_stripe();
    pthread_mutex_lock(&stripe->lock);
    request->next = stripe->free;
    stripe->free = request;
    pthread_mutex_unlock(&stripe->lock);
}

static void emit(struct cts_mpi_call *call, enum cts_timeline_event_kind kind, uint64_t time_ns,
                 const struct cts_request *request, uint32_t peer)
{
    const struct cts_timeline_event event = {
        .time_ns = time_ns,
        .kind = kind,
        .message = {.peer = peer,
                    .communicator = request->communicator,
                    .tag = request->tag,
                    .bytes = request->bytes,
                    .request = request->id},
    };
    cts_mpi.recorder->event(call->log, &event, NULL);
}

/* ---- requests that begin ---- */

static void begin(struct cts_mpi_call *call, struct cts_request *request)
{
    request->active = true;
    request->cancelled = false;
    if (request->kind != SENDS && request->kind != RECEIVES) return;
    request->id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    const bool sends = request->kind == SENDS;
    emit(call, sends ? CTS_EVENT_MPI_ISEND : CTS_EVENT_MPI_IRECV_REQUEST, call->start_ns, request,
         sends ? request->remote_offset + (uint32_t)request->peer : 0);
}

/* A message's request; of kind NOTHING where it gives no events. */
static struct cts_request *message_request(enum request_kind kind, MPI_Comm comm, int peer, int tag)
{
    const struct cts_communicator *const info = peer == MPI_PROC_NULL ? NULL : cts_comm_info(comm);
    struct cts_request *const request = new_request(info ? kind : NOTHING);
    if (!request || !info) return request;
    request->communicator = info->number;
    request->remote_offset = info->remote_offset;
    request->peer = peer;
    request->tag = (uint32_t)tag;
    request->early = kind == SENDS && !info->returns_errors;
    return request;
}

struct cts_request *cts_isending(struct cts_mpi_call *call, uint64_t bytes, int peer, int tag,
                                 MPI_Comm comm)
{
    struct cts_request *const request = message_request(SENDS, comm, peer, tag);
    if (!request) return NULL;
    request->bytes = bytes;
    if (request->early) begin(call, request);
    return request;
}

void cts_isent(struct cts_mpi_call *call, bool ok, struct cts_request *request, MPI_Request handle)
{
    if (!request) return;
    if (!ok) {
        release(request);
        return;
    }
    if (!request->early) begin(call, request);
    put(request, request_key(handle));
}

void cts_ireceiving(struct cts_mpi_call *call, int peer, int tag, MPI_Comm comm, MPI_Request handle)
{
    struct cts_request *const request = message_request(RECEIVES, comm, peer, tag);
    if (!request) return;
    begin(call, request);
    put(request, request_key(handle));
}

void cts_persistent(const struct cts_persistent_message *message, MPI_Request handle)
{
    struct cts_request *const request = message_request(message->sends ? SENDS : RECEIVES,
                                                        message->comm, message->peer, message->tag);
    if (!request) return;
    request->bytes = message->bytes;
    request->persistent = true;
    request->active = false;
    put(request, request_key(handle));
}

void cts_icollective(struct cts_mpi_call *call, const struct cts_collective_call *collective,
                     MPI_Request handle)
{
    struct cts_request *const request = new_request(COLLECTIVE);
    if (!request) return;
    request->communicator = collective->comm->number;
    request->operation = collective->operation;
    request->root = collective->root;
    request->bytes = collective->sent_bytes;
    request->received = collective->received_bytes;
    request->id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    const struct cts_timeline_event event = {
        .time_ns = call->start_ns,
        .kind = CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST,
        .collective = {.operation = collective->operation,
                       .communicator = collective->comm->number,
                       .root = collective->root,
                       .request = request->id},
    };
    cts_mpi.recorder->event(call->log, &event, NULL);
    put(request, request_key(handle));
}

void cts_irma(uint32_t window, uint64_t matching, MPI_Request handle)
{
    struct cts_request *const request = new_request(RMA);
    if (!request) return;
    request->operation = window;
    request->id = matching;
    put(request, request_key(handle));
}

void cts_starting(struct cts_mpi_call *call, struct cts_request **taken, int count)
{
    for (int i = 0; taken && i < count; i++)
        if (taken[i] && taken[i]->early) begin(call, taken[i]);
}

void cts_started(struct cts_mpi_call *call, bool ok, struct cts_request **taken, int count)
{
    for (int i = 0; taken && i < count; i++) {
        if (!taken[i]) continue;
        if (ok && !taken[i]->early) begin(call, taken[i]);
        put_back(taken[i]);
    }
}

/* ---- requests that end ---- */

struct cts_request *cts_request_take(MPI_Request request)
{
    return take(request_key(request));
}

struct cts_request **cts_requests_take(int count, const MPI_Request *requests)
{
    if (count <= 0) return NULL;
    struct cts_request **const taken =
        cts_scratch(CTS_SCRATCH_TAKEN, (size_t)count, sizeof(*taken));
    for (int i = 0; taken && i < count; i++) taken[i] = take(request_key(requests[i]));
    return taken;
}

MPI_Status *cts_scratch_statuses(int count)
{
    MPI_Status *const statuses =
        count > 0 ? cts_scratch(CTS_SCRATCH_STATUSES, (size_t)count, sizeof(*statuses)) : NULL;
    return statuses ? statuses : MPI_STATUSES_IGNORE;
}

static bool was_cancelled(const struct cts_request *request, const MPI_Status *status)
{
    int flag = 0;
    return request->cancelled && cts_real.Test_cancelled(status, &flag) == MPI_SUCCESS && flag;
}

static void emit_collective(struct cts_mpi_call *call, const struct cts_request *request)
{
    const struct cts_timeline_event event = {
        .time_ns = cts_call_end_ns(call),
        .kind = CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE,
        .collective = {.operation = request->operation,
                       .communicator = request->communicator,
                       .root = request->root,
                       .sent_bytes = request->bytes,
                       .received_bytes = request->received,
                       .request = request->id},
    };
    cts_mpi.recorder->event(call->log, &event, NULL);
}

static void emit_rma(struct cts_mpi_call *call, const struct cts_request *request)
{
    const struct cts_timeline_event event = {
        .time_ns = cts_call_end_ns(call),
        .kind = CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING,
        .rma = {.window = request->operation, .matching = request->id},
    };
    cts_mpi.recorder->event(call->log, &event, NULL);
}

static void emit_message(struct cts_mpi_call *call, struct cts_request *request,
                         const MPI_Status *status)
{
    const uint64_t end_ns = cts_call_end_ns(call);
    if (status == MPI_STATUS_IGNORE) {
        cts_mpi.recorder->lost("completions of MPI requests, because memory ran out", 1);
    } else if (was_cancelled(request, status)) {
        emit(call, CTS_EVENT_MPI_REQUEST_CANCELLED, end_ns, request, 0);
    } else if (request->kind == SENDS) {
        emit(call, CTS_EVENT_MPI_ISEND_COMPLETE, end_ns, request, 0);
    } else if (status->MPI_SOURCE != MPI_PROC_NULL) {
        request->tag = (uint32_t)status->MPI_TAG;
        request->bytes = cts_status_bytes(status);
        emit(call, CTS_EVENT_MPI_IRECV, end_ns, request,
             request->remote_offset + (uint32_t)status->MPI_SOURCE);
    }
}

/* The request is complete, or failed: MPI has forgotten it unless it is persistent. */
static void end(struct cts_mpi_call *call, struct cts_request *request, bool ok,
                const MPI_Status *status)
{
    if (ok && request->active) {
        if (request->kind == COLLECTIVE)
            emit_collective(call, request);
        else if (request->kind == RMA)
            emit_rma(call, request);
        else if (request->kind != NOTHING)
            emit_message(call, request, status);
    }
    request->active = false;
    if (request->persistent)
        put_back(request);
    else
        release(request);
}

static void still_there(struct cts_mpi_call *call, struct cts_request *request, bool tested)
{
    if (tested && request->active && request->kind != NOTHING && request->kind != RMA)
        emit(call, CTS_EVENT_MPI_REQUEST_TEST, cts_call_end_ns(call), request, 0);
    put_back(request);
}

static const MPI_Status *status_of(const MPI_Status *statuses, int index)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

static int error_class(int result)
{
    int class = result;
    if (result != MPI_SUCCESS) cts_real.Error_class(result, &class);
    return class;
}

/* One of several requests of a call that returned `result`. MPI_ERR_IN_STATUS: each status says
 * what became of its request. After another error nobody knows; the request counts as failed. */
static void end_by_status(struct cts_mpi_call *call, int class, struct cts_request *request,
                          const MPI_Status *status)
{
    if (class != MPI_ERR_IN_STATUS || status == MPI_STATUS_IGNORE) {
        end(call, request, class == MPI_SUCCESS, status);
        return;
    }
    const int own = error_class(status->MPI_ERROR);
    if (own == MPI_ERR_PENDING)
        still_there(call, request, false);
    else
        end(call, request, own == MPI_SUCCESS, status);
}

/* In reverse, so that requests of one handle come back in their order. */
void cts_tested(struct cts_mpi_call *call, int result, struct cts_taken taken, bool done,
                const MPI_Status *statuses)
{
    const int class = error_class(result);
    for (int i = 0; taken.requests && done && i < taken.count; i++)
        if (taken.requests[i])
            end_by_status(call, class, taken.requests[i], status_of(statuses, i));
    for (int i = taken.count - 1; taken.requests && !done && i >= 0; i--)
        if (taken.requests[i]) still_there(call, taken.requests[i], result == MPI_SUCCESS);
}

void cts_tested_any(struct cts_mpi_call *call, int result, struct cts_taken taken, int index,
                    const MPI_Status *status)
{
    if (!taken.requests) return;
    const bool known = index >= 0 && index < taken.count && taken.requests[index];
    for (int i = taken.count - 1; i >= 0; i--)
        if (taken.requests[i] && i != index)
            still_there(call, taken.requests[i], result == MPI_SUCCESS && index < 0);
    if (known) end(call, taken.requests[index], result == MPI_SUCCESS, status);
}

void cts_tested_some(struct cts_mpi_call *call, int result, struct cts_taken taken,
                     struct cts_done done, const MPI_Status *statuses)
{
    const int class = error_class(result);
    const bool valid = class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
    if (!taken.requests) return;
    for (int i = 0; valid && done.count != MPI_UNDEFINED && i < done.count; i++) {
        const int index = done.indices[i] - done.base;
        if (index < 0 || index >= taken.count || !taken.requests[index]) continue;
        end_by_status(call, class, taken.requests[index], status_of(statuses, i));
        taken.requests[index] = NULL;
    }
    for (int i = taken.count - 1; i >= 0; i--)
        if (taken.requests[i]) still_there(call, taken.requests[i], valid && done.count == 0);
}

void cts_request_freed(bool ok, struct cts_request *taken)
{
    if (!taken) return;
    if (ok)
        release(taken);
    else
        put_back(taken);
}

void cts_request_cancelled(bool ok, struct cts_request *taken)
{
    if (!taken) return;
    if (ok) taken->cancelled = true;
    put_back(taken);
}

/* ---- matched probes ---- */

void cts_message_matched(MPI_Comm comm, MPI_Message message)
{
    if (message == cts_handles.message_null || message == cts_handles.message_no_proc) return;
    struct cts_request *const request = message_request(MESSAGE, comm, 0, 0);
    if (request) put(request, message_key(message));
}

struct cts_request *cts_message_take(MPI_Message message)
{
    return take(message_key(message));
}

void cts_message_received(struct cts_mpi_call *call, bool ok, struct cts_request *taken,
                          const MPI_Status *status)
{
    if (!taken) return;
    if (ok && taken->kind == MESSAGE && status->MPI_SOURCE != MPI_PROC_NULL) {
        taken->tag = (uint32_t)status->MPI_TAG;
        taken->bytes = cts_status_bytes(status);
        emit(call, CTS_EVENT_MPI_RECV, cts_call_end_ns(call), taken,
             taken->remote_offset + (uint32_t)status->MPI_SOURCE);
    }
    release(taken);
}

void cts_message_receiving(struct cts_mpi_call *call, bool ok, struct cts_request *taken,
                           MPI_Request handle)
{
    struct cts_request *const request =
        ok ? new_request(taken && taken->kind == MESSAGE ? RECEIVES : NOTHING) : NULL;
    if (request && taken) {
        request->communicator = taken->communicator;
        request->remote_offset = taken->remote_offset;
    }
    if (taken) release(taken);
    if (!request) return;
    begin(call, request);
    put(request, request_key(handle));
}
