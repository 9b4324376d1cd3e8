/* One-sided communication: windows, operations, and what completes them.
 *
 * Operations on one target since the last completion have one matching number, and one record
 * completes them all: flushes and unlocks complete a target's, fences and MPI_Win_complete those of
 * all targets. Operations with a request have a number of their own and end with it.
 *
 * Posts and starts say their group, completes and waits that of what they end. A group is known by
 * its members, as world ranks: programs free groups and make them again. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/promise.h"
#include "record/mpi/wrap.h"

struct cts_window {
    MPI_Win handle;
    struct cts_window *next;
    uint32_t number, communicator, target_count;
    uint32_t posted, started; /* groups of the epochs that are open; NONE */
    uint64_t *pending; /* by target: the matching number, 0: nothing; NULL until the first use */
    uint32_t *dirty;   /* the targets that have one */
    uint32_t dirty_count;
};

static struct cts_window *windows;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and what hangs on it */
static atomic_uint_fast64_t next_matching = 1;

static struct cts_window *find_locked(MPI_Win win)
{
    CTS_ASSERT_HELD(&lock);
    struct cts_window *window = windows;
    while (window && window->handle != win) window = window->next;
    return window;
}

static uint32_t number_of(MPI_Win win)
{
    pthread_mutex_lock(&lock);
    const struct cts_window *const window = find_locked(win);
    const uint32_t number = window ? window->number : CTS_TIMELINE_NONE;
    pthread_mutex_unlock(&lock);
    return number;
}

static void emit(struct cts_mpi_call *call, enum cts_timeline_event_kind kind, uint64_t time_ns,
                 struct cts_timeline_event event)
{
    event.time_ns = time_ns;
    event.kind = kind;
    cts_mpi.recorder->event(call->log, &event, NULL);
}

/* A collective on the window: its begin and end. */
static void emit_collective(struct cts_mpi_call *call, uint32_t window, unsigned operation,
                            unsigned level)
{
    const struct cts_timeline_event nothing = {0};
    const struct cts_timeline_event end = {
        .rma = {
            .window = window, .remote = CTS_TIMELINE_NONE, .operation = operation, .level = level}};
    emit(call, CTS_EVENT_RMA_COLLECTIVE_BEGIN, call->start_ns, nothing);
    emit(call, CTS_EVENT_RMA_COLLECTIVE_END, cts_call_end_ns(call), end);
}

void cts_window_created(struct cts_mpi_call *call, unsigned operation, MPI_Comm comm, MPI_Win win)
{
    char name[48];
    struct cts_communicator *const info = cts_comm_info(comm);
    struct cts_window *const window = info ? calloc(1, sizeof(*window)) : NULL;
    if (!window) return;
    /* Windows are made by all members together, in one order. */
    snprintf(name, sizeof(name), "MPI window %u", info->window_count++);
    window->handle = win;
    window->communicator = info->number;
    window->target_count = info->size;
    window->number = cts_mpi.recorder->window(info->number, name);
    window->posted = window->started = CTS_TIMELINE_NONE;
    pthread_mutex_lock(&lock);
    window->next = windows;
    windows = window;
    pthread_mutex_unlock(&lock);
    const struct cts_timeline_event created = {.rma = {.window = window->number}};
    emit(call, CTS_EVENT_RMA_WIN_CREATE, call->start_ns, created);
    emit_collective(call, window->number, operation, OTF2_RMA_SYNC_LEVEL_PROCESS);
}

struct cts_window *cts_window_take(MPI_Win win)
{
    pthread_mutex_lock(&lock);
    struct cts_window **place = &windows;
    while (*place && (*place)->handle != win) place = &(*place)->next;
    struct cts_window *const window = *place;
    if (window) *place = window->next;
    pthread_mutex_unlock(&lock);
    return window;
}

void cts_window_freed(struct cts_mpi_call *call, bool ok, struct cts_window *window)
{
    if (!window) return;
    if (!ok) {
        pthread_mutex_lock(&lock);
        window->next = windows;
        windows = window;
        pthread_mutex_unlock(&lock);
        return;
    }
    const struct cts_timeline_event gone = {.rma = {.window = window->number}};
    emit_collective(call, window->number, OTF2_COLLECTIVE_OP_DESTROY_HANDLE,
                    OTF2_RMA_SYNC_LEVEL_PROCESS);
    emit(call, CTS_EVENT_RMA_WIN_DESTROY, cts_call_end_ns(call), gone);
    free(window->pending);
    free(window->dirty);
    free(window);
}

/* The matching number of the target's operations from here to the next completion. */
static uint64_t pending_number(struct cts_window *window, uint32_t target)
{
    CTS_ASSERT_HELD(&lock);
    if (!window->pending) {
        window->pending = calloc(window->target_count, sizeof(*window->pending));
        window->dirty = calloc(window->target_count, sizeof(*window->dirty));
    }
    if (!window->pending || !window->dirty || target >= window->target_count) return 0;
    if (!window->pending[target]) {
        window->pending[target] = atomic_fetch_add(&next_matching, 1);
        window->dirty[window->dirty_count++] = target;
    }
    return window->pending[target];
}

void cts_rma(struct cts_mpi_call *call, const struct cts_rma_operation *rma,
             const MPI_Request *request)
{
    static const struct {
        enum cts_timeline_event_kind kind;
        unsigned operation;
    } kinds[] = {
        [CTS_RMA_PUT] = {CTS_EVENT_RMA_PUT, 0},
        [CTS_RMA_GET] = {CTS_EVENT_RMA_GET, 0},
        [CTS_RMA_ACCUMULATE] = {CTS_EVENT_RMA_ATOMIC, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE},
        [CTS_RMA_FETCH_AND_ACCUMULATE] = {CTS_EVENT_RMA_ATOMIC,
                                          OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE},
        [CTS_RMA_COMPARE_AND_SWAP] = {CTS_EVENT_RMA_ATOMIC, OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP},
    };
    uint64_t matching = 0;
    if (rma->peer == MPI_PROC_NULL) return;
    pthread_mutex_lock(&lock);
    struct cts_window *const window = find_locked(rma->win);
    const uint32_t number = window ? window->number : 0;
    if (window)
        matching = request ? atomic_fetch_add(&next_matching, 1)
                           : pending_number(window, (uint32_t)rma->peer);
    pthread_mutex_unlock(&lock);
    if (!window) return;
    const bool gets = rma->kind == CTS_RMA_GET;
    const struct cts_timeline_event event = {
        .rma = {.window = number,
                .remote = (uint32_t)rma->peer,
                .operation = kinds[rma->kind].operation,
                .bytes = gets ? rma->received_bytes : rma->sent_bytes,
                .received_bytes = rma->received_bytes,
                .matching = matching}};
    emit(call, kinds[rma->kind].kind, call->start_ns, event);
    if (request) cts_irma(number, matching, *request);
}

/* Completes what is pending on a target, or on all. A local completion leaves it pending. */
void cts_window_completed(struct cts_mpi_call *call, MPI_Win win, int peer, bool remote)
{
    pthread_mutex_lock(&lock);
    struct cts_window *const window = find_locked(win);
    uint32_t left = 0;
    for (uint32_t i = 0; window && i < window->dirty_count; i++) {
        const uint32_t target = window->dirty[i];
        const bool completed = peer == CTS_ALL_TARGETS || target == (uint32_t)peer;
        const struct cts_timeline_event event = {
            .rma = {.window = window->number, .matching = window->pending[target]}};
        if (completed)
            emit(call,
                 remote ? CTS_EVENT_RMA_OP_COMPLETE_REMOTE : CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING,
                 cts_call_end_ns(call), event);
        if (completed && remote)
            window->pending[target] = 0;
        else
            window->dirty[left++] = target;
    }
    if (window) window->dirty_count = left;
    pthread_mutex_unlock(&lock);
}

void cts_window_fence(struct cts_mpi_call *call, MPI_Win win)
{
    const uint32_t number = number_of(win);
    if (number == CTS_TIMELINE_NONE) return;
    const struct cts_timeline_event nothing = {0};
    emit(call, CTS_EVENT_RMA_COLLECTIVE_BEGIN, call->start_ns, nothing);
    cts_window_completed(call, win, CTS_ALL_TARGETS, true);
    const struct cts_timeline_event end = {
        .rma = {.window = number,
                .remote = CTS_TIMELINE_NONE,
                .operation = OTF2_COLLECTIVE_OP_BARRIER,
                .level = OTF2_RMA_SYNC_LEVEL_MEMORY | OTF2_RMA_SYNC_LEVEL_PROCESS}};
    emit(call, CTS_EVENT_RMA_COLLECTIVE_END, cts_call_end_ns(call), end);
}

/* ---- post, start, complete, wait ---- */

struct known_group {
    struct known_group *next;
    uint32_t number; /* the recorder's */
    uint32_t count, members[];
};
enum { GROUP_BUCKETS = 256 };
static struct known_group *groups[GROUP_BUCKETS]; /* under the lock */
static uint32_t group_count;

static uint32_t group_of_members_locked(const uint32_t *members, uint32_t count)
{
    CTS_ASSERT_HELD(&lock);
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++) hash = cts_hash_add(hash, members[i]);
    struct known_group **const bucket = &groups[hash >> 56];
    const size_t size = count * sizeof(*members);
    for (const struct known_group *group = *bucket; group; group = group->next)
        if (group->count == count && memcmp(group->members, members, size) == 0)
            return group->number;
    struct known_group *const made = malloc(sizeof(*made) + size);
    if (!made) return CTS_TIMELINE_NONE;
    made->number = cts_mpi.recorder->communicator(&(struct cts_recorder_communicator){
        .creator = cts_mpi.rank,
        .number = group_count++,
        .parent_creator = CTS_TIMELINE_NONE,
        .members = members,
        .member_count = count,
        .group = true,
    });
    made->count = count;
    memcpy(made->members, members, size);
    made->next = *bucket;
    *bucket = made;
    return made->number;
}

/* NONE: no memory, or a group with processes of another world. */
static uint32_t group_number(MPI_Group group)
{
    int count = 0;
    if (cts_real.Group_size(group, &count) != MPI_SUCCESS) return CTS_TIMELINE_NONE;
    uint32_t *const members = cts_world_ranks(group, count);
    if (!members) return CTS_TIMELINE_NONE;
    pthread_mutex_lock(&lock);
    const uint32_t number = group_of_members_locked(members, (uint32_t)count);
    pthread_mutex_unlock(&lock);
    free(members);
    return number;
}

static void emit_group(struct cts_mpi_call *call, uint32_t window, uint32_t group, unsigned level)
{
    const struct cts_timeline_event event = {
        .rma = {.window = window, .operation = level, .level = group}};
    emit(call, CTS_EVENT_RMA_GROUP_SYNC, cts_call_end_ns(call), event);
}

static void begin_epoch(struct cts_mpi_call *call, MPI_Win win, MPI_Group group, bool posts)
{
    (void)cts_call_end_ns(call); /* what follows is ours */
    const uint32_t members = group_number(group);
    pthread_mutex_lock(&lock);
    struct cts_window *const window = find_locked(win);
    const uint32_t number = window ? window->number : CTS_TIMELINE_NONE;
    if (window) *(posts ? &window->posted : &window->started) = members;
    pthread_mutex_unlock(&lock);
    if (window) emit_group(call, number, members, OTF2_RMA_SYNC_LEVEL_NONE);
}

static void end_epoch(struct cts_mpi_call *call, MPI_Win win, bool posted, unsigned level)
{
    pthread_mutex_lock(&lock);
    struct cts_window *const window = find_locked(win);
    const uint32_t number = window ? window->number : CTS_TIMELINE_NONE;
    uint32_t group = CTS_TIMELINE_NONE;
    if (window) {
        uint32_t *const open = posted ? &window->posted : &window->started;
        group = *open;
        *open = CTS_TIMELINE_NONE;
    }
    pthread_mutex_unlock(&lock);
    if (window) emit_group(call, number, group, level);
}

void cts_window_posted(struct cts_mpi_call *call, MPI_Win win, MPI_Group group)
{
    begin_epoch(call, win, group, true);
}

void cts_window_started(struct cts_mpi_call *call, MPI_Win win, MPI_Group group)
{
    begin_epoch(call, win, group, false);
}

void cts_window_ended(struct cts_mpi_call *call, MPI_Win win)
{
    end_epoch(call, win, false, OTF2_RMA_SYNC_LEVEL_MEMORY);
}

void cts_window_exposed(struct cts_mpi_call *call, MPI_Win win)
{
    end_epoch(call, win, true, OTF2_RMA_SYNC_LEVEL_PROCESS);
}

/* ---- locks ---- */

static uint32_t target_of(int peer)
{
    return peer == CTS_ALL_TARGETS || peer < 0 ? CTS_TIMELINE_NONE : (uint32_t)peer;
}

void cts_window_lock(struct cts_mpi_call *call, MPI_Win win, int peer, bool exclusive)
{
    const uint32_t number = number_of(win);
    if (number == CTS_TIMELINE_NONE || peer == MPI_PROC_NULL) return;
    const struct cts_timeline_event event = {
        .rma = {.window = number,
                .remote = target_of(peer),
                .operation = exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED}};
    emit(call, CTS_EVENT_RMA_ACQUIRE_LOCK, cts_call_end_ns(call), event);
}

void cts_window_unlock(struct cts_mpi_call *call, MPI_Win win, int peer)
{
    const uint32_t number = number_of(win);
    if (number == CTS_TIMELINE_NONE || peer == MPI_PROC_NULL) return;
    cts_window_completed(call, win, peer, true);
    const struct cts_timeline_event event = {.rma = {.window = number, .remote = target_of(peer)}};
    emit(call, CTS_EVENT_RMA_RELEASE_LOCK, cts_call_end_ns(call), event);
}
