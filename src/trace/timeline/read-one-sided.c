/* Events of one-sided communication: MPI's and the copies of devices. */
#include "trace/timeline/read-events.h"

/* One-sided records have few of the members each; the others are 0 or NONE. */
static struct cts_timeline_event *rma(struct pass *pass, OTF2_RmaWinRef win)
{
    struct cts_timeline_event *const e = &pass->event;
    memset(&e->rma, 0, sizeof e->rma);
    e->rma.window = window(pass, win);
    e->rma.remote = CTS_TIMELINE_NONE;
    return e;
}
static struct cts_timeline_event *rma_with(struct pass *pass, OTF2_RmaWinRef win, uint32_t remote,
                                           uint64_t matching)
{
    struct cts_timeline_event *const e = rma(pass, win);
    e->rma.remote = remote;
    e->rma.matching = matching;
    return e;
}
EVENT(window_create, OTF2_RmaWinRef win)
{
    BEGIN;
    rma(pass, win);
    return give(pass, CTS_EVENT_RMA_WIN_CREATE, time, list);
}
EVENT(window_destroy, OTF2_RmaWinRef win)
{
    BEGIN;
    rma(pass, win);
    return give(pass, CTS_EVENT_RMA_WIN_DESTROY, time, list);
}
EVENT(rma_collective_end, OTF2_CollectiveOp operation, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win,
      uint32_t root, uint64_t sent, uint64_t received)
{
    BEGIN;
    rma(pass, win);
    e->rma.operation = operation;
    e->rma.level = level;
    e->rma.remote = root_rank(root);
    e->rma.bytes = sent;
    e->rma.received_bytes = received;
    return give(pass, CTS_EVENT_RMA_COLLECTIVE_END, time, list);
}
EVENT(rma_group_sync, OTF2_RmaSyncLevel level, OTF2_RmaWinRef win, OTF2_GroupRef group)
{
    BEGIN;
    rma(pass, win);
    e->rma.operation = level;
    e->rma.level = cts_references_find(&pass->private->communicator_groups, group);
    return give(pass, CTS_EVENT_RMA_GROUP_SYNC, time, list);
}
EVENT(rma_sync, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaSyncType type)
{
    BEGIN;
    rma(pass, win);
    e->rma.remote = remote;
    e->rma.operation = type;
    return give(pass, CTS_EVENT_RMA_SYNC, time, list);
}
#define RMA_LOCK(name, kind)                                                                       \
    EVENT(name, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock, OTF2_LockType type)            \
    {                                                                                              \
        BEGIN;                                                                                     \
        rma_with(pass, win, remote, lock);                                                         \
        e->rma.operation = type;                                                                   \
        return give(pass, kind, time, list);                                                       \
    }
RMA_LOCK(rma_request_lock, CTS_EVENT_RMA_REQUEST_LOCK)
RMA_LOCK(rma_acquire_lock, CTS_EVENT_RMA_ACQUIRE_LOCK)
EVENT(rma_release_lock, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock)
{
    BEGIN;
    rma_with(pass, win, remote, lock);
    return give(pass, CTS_EVENT_RMA_RELEASE_LOCK, time, list);
}
#define RMA_TRANSFER(name, kind)                                                                   \
    EVENT(name, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t matching)            \
    {                                                                                              \
        BEGIN;                                                                                     \
        rma_with(pass, win, remote, matching);                                                     \
        e->rma.bytes = bytes;                                                                      \
        return give(pass, kind, time, list);                                                       \
    }
RMA_TRANSFER(rma_put, CTS_EVENT_RMA_PUT)
RMA_TRANSFER(rma_get, CTS_EVENT_RMA_GET)
EVENT(rma_atomic, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent,
      uint64_t received, uint64_t matching)
{
    BEGIN;
    rma_with(pass, win, remote, matching);
    e->rma.operation = type;
    e->rma.bytes = sent;
    e->rma.received_bytes = received;
    return give(pass, CTS_EVENT_RMA_ATOMIC, time, list);
}
#define RMA_COMPLETE(name, kind)                                                                   \
    EVENT(name, OTF2_RmaWinRef win, uint64_t matching)                                             \
    {                                                                                              \
        BEGIN;                                                                                     \
        rma_with(pass, win, CTS_TIMELINE_NONE, matching);                                          \
        return give(pass, kind, time, list);                                                       \
    }
RMA_COMPLETE(rma_complete_blocking, CTS_EVENT_RMA_OP_COMPLETE_BLOCKING)
RMA_COMPLETE(rma_complete_non_blocking, CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING)
RMA_COMPLETE(rma_complete_remote, CTS_EVENT_RMA_OP_COMPLETE_REMOTE)

PLAIN(rma_collective_begin, CTS_EVENT_RMA_COLLECTIVE_BEGIN)

#define SETTERS(X)                                                                                 \
    X(RmaWinCreate, on_window_create)                                                              \
    X(RmaWinDestroy, on_window_destroy)                                                            \
    X(RmaCollectiveBegin, on_rma_collective_begin)                                                 \
    X(RmaCollectiveEnd, on_rma_collective_end)                                                     \
    X(RmaGroupSync, on_rma_group_sync)                                                             \
    X(RmaRequestLock, on_rma_request_lock)                                                         \
    X(RmaAcquireLock, on_rma_acquire_lock)                                                         \
    X(RmaReleaseLock, on_rma_release_lock)                                                         \
    X(RmaSync, on_rma_sync)                                                                        \
    X(RmaPut, on_rma_put)                                                                          \
    X(RmaGet, on_rma_get)                                                                          \
    X(RmaAtomic, on_rma_atomic)                                                                    \
    X(RmaOpCompleteBlocking, on_rma_complete_blocking)                                             \
    X(RmaOpCompleteNonBlocking, on_rma_complete_non_blocking)                                      \
    X(RmaOpCompleteRemote, on_rma_complete_remote)

void cts_set_one_sided_callbacks(OTF2_EvtReaderCallbacks *callbacks)
{
#define X(record, function) OTF2_EvtReaderCallbacks_Set##record##Callback(callbacks, function);
    SETTERS(X)
#undef X
}
