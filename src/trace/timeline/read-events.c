/* The events of one location. Each callback of the library fills the one event of its pass and
 * hands it on; nothing is allocated per event.
 *
 * Time that goes back is damage, but for locations with clock offsets: where the piece of one
 * offset meets the next, a step back of the correction is made no step at all.
 *
 * Ticks become ns by (ticks - global offset) * 1e9 / resolution in 128 bits; for a resolution of
 * 1e9, which most archives have, it is the difference. */
#include <stdio.h>
#include <string.h>

#include "trace/timeline/timeline-private.h"

struct pass {
    const struct cts_timeline *timeline;
    const struct cts_timeline_private *private;
    uint64_t global_offset, ticks_per_second;
    uint32_t location;
    cts_timeline_visit visit;
    void *state;
    bool stopped, went_back;
    bool has_clock_offsets;
    uint64_t last_ns;
    uint64_t before_offset; /* events before the global offset: given as time 0 */
    struct cts_timeline_event event;
    struct cts_event_attributes attributes;
};

enum { NS_PER_S = 1000000000 };

static inline uint64_t time_ns(struct pass *pass, OTF2_TimeStamp time)
{
    if (time < pass->global_offset) {
        pass->before_offset++;
        return 0;
    }
    const uint64_t ticks = time - pass->global_offset;
    if (pass->ticks_per_second == NS_PER_S) return ticks;
    const unsigned __int128 ns = (unsigned __int128)ticks * NS_PER_S / pass->ticks_per_second;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* ---- attributes ---- */

static uint64_t value_of(const struct pass *pass, OTF2_Type type, const OTF2_AttributeValue *value)
{
    switch (type) {
    case OTF2_TYPE_UINT8:
        return value->uint8;
    case OTF2_TYPE_UINT16:
        return value->uint16;
    case OTF2_TYPE_UINT32:
        return value->uint32;
    case OTF2_TYPE_INT8:
        return (uint64_t)value->int8;
    case OTF2_TYPE_INT16:
        return (uint64_t)value->int16;
    case OTF2_TYPE_INT32:
        return (uint64_t)value->int32;
    case OTF2_TYPE_LOCATION: {
        const uint32_t location =
            cts_references_find(&pass->private->locations, value->locationRef);
        return location;
    }
    default:
        return value->uint64;
    }
}

static const struct cts_event_attributes *gather_attributes(struct pass *pass,
                                                            const OTF2_AttributeList *list)
{
    const uint32_t count = OTF2_AttributeList_GetNumberOfElements(list);
    struct cts_event_attributes *const attributes = &pass->attributes;
    attributes->present = 0;
    for (uint32_t i = 0; i < count; i++) {
        OTF2_AttributeRef reference;
        OTF2_Type type;
        OTF2_AttributeValue value;
        if (OTF2_AttributeList_GetAttributeByIndex(list, i, &reference, &type, &value)) break;
        const uint32_t id = cts_references_find(&pass->private->attributes, reference);
        if (id == CTS_TIMELINE_NONE) continue;
        const bool wants_location = id == CTS_ATTRIBUTE_STREAM_REF || id == CTS_ATTRIBUTE_QUEUE_REF;
        if (wants_location != (type == OTF2_TYPE_LOCATION)) continue;
        const uint64_t number = value_of(pass, type, &value);
        if (wants_location && number == CTS_TIMELINE_NONE) continue;
        attributes->values[id] = number;
        attributes->present |= 1u << id;
    }
    return attributes->present ? attributes : NULL;
}

static inline OTF2_CallbackCode give(struct pass *pass, enum cts_timeline_event_kind kind,
                                     OTF2_TimeStamp time, const OTF2_AttributeList *list)
{
    pass->event.kind = kind;
    pass->event.time_ns = time_ns(pass, time);
    if (__builtin_expect(pass->event.time_ns < pass->last_ns, 0)) {
        if (!pass->has_clock_offsets) {
            pass->went_back = true;
            return OTF2_CALLBACK_INTERRUPT;
        }
        pass->event.time_ns = pass->last_ns;
    }
    pass->last_ns = pass->event.time_ns;
    const struct cts_event_attributes *const attributes =
        list && OTF2_AttributeList_GetNumberOfElements(list) ? gather_attributes(pass, list) : NULL;
    if (pass->visit(pass->state, pass->location, &pass->event, attributes))
        return OTF2_CALLBACK_SUCCESS;
    pass->stopped = true;
    return OTF2_CALLBACK_INTERRUPT;
}

static inline uint32_t communicator(const struct pass *pass, OTF2_CommRef reference)
{
    return cts_references_find(&pass->private->communicators, reference);
}

static inline uint32_t window(const struct pass *pass, OTF2_RmaWinRef reference)
{
    return cts_references_find(&pass->private->windows, reference);
}

/* Root as a rank; what stands for none or self is NONE. */
static inline uint32_t root_rank(uint32_t root)
{
    return root >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? CTS_TIMELINE_NONE : root;
}

/* ---- one callback per kind ---- */

#define EVENT(name, ...)                                                                           \
    static OTF2_CallbackCode on_##name(OTF2_LocationRef ref, OTF2_TimeStamp time,                  \
                                       uint64_t position, void *user, OTF2_AttributeList *list,    \
                                       ##__VA_ARGS__)
#define BEGIN                                                                                      \
    struct pass *const pass = user;                                                                \
    struct cts_timeline_event *const e = &pass->event;                                             \
    (void)ref, (void)position, (void)e

EVENT(enter, OTF2_RegionRef region)
{
    BEGIN;
    e->region = cts_references_find(&pass->private->regions, region);
    return give(pass, CTS_EVENT_ENTER, time, list);
}
EVENT(leave, OTF2_RegionRef region)
{
    BEGIN;
    e->region = cts_references_find(&pass->private->regions, region);
    return give(pass, CTS_EVENT_LEAVE, time, list);
}

static OTF2_CallbackCode give_message(struct pass *pass, enum cts_timeline_event_kind kind,
                                      OTF2_TimeStamp time, const OTF2_AttributeList *list,
                                      uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                                      uint64_t bytes, uint64_t request)
{
    pass->event.message.peer = peer;
    pass->event.message.communicator = communicator(pass, comm);
    pass->event.message.tag = tag;
    pass->event.message.bytes = bytes;
    pass->event.message.request = request;
    return give(pass, kind, time, list);
}
EVENT(send, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    BEGIN;
    return give_message(pass, CTS_EVENT_MPI_SEND, time, list, peer, comm, tag, bytes, 0);
}
EVENT(receive, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    BEGIN;
    return give_message(pass, CTS_EVENT_MPI_RECV, time, list, peer, comm, tag, bytes, 0);
}
EVENT(isend, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    BEGIN;
    return give_message(pass, CTS_EVENT_MPI_ISEND, time, list, peer, comm, tag, bytes, request);
}
EVENT(irecv, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    BEGIN;
    return give_message(pass, CTS_EVENT_MPI_IRECV, time, list, peer, comm, tag, bytes, request);
}
#define REQUEST(name, kind)                                                                        \
    EVENT(name, uint64_t request)                                                                  \
    {                                                                                              \
        BEGIN;                                                                                     \
        e->message.request = request;                                                              \
        return give(pass, kind, time, list);                                                       \
    }
REQUEST(isend_complete, CTS_EVENT_MPI_ISEND_COMPLETE)
REQUEST(irecv_request, CTS_EVENT_MPI_IRECV_REQUEST)
REQUEST(request_test, CTS_EVENT_MPI_REQUEST_TEST)
REQUEST(request_cancelled, CTS_EVENT_MPI_REQUEST_CANCELLED)

#define PLAIN(name, kind)                                                                          \
    EVENT(name)                                                                                    \
    {                                                                                              \
        BEGIN;                                                                                     \
        return give(pass, kind, time, list);                                                       \
    }
PLAIN(collective_begin, CTS_EVENT_MPI_COLLECTIVE_BEGIN)
PLAIN(rma_collective_begin, CTS_EVENT_RMA_COLLECTIVE_BEGIN)
PLAIN(old_join, CTS_EVENT_THREAD_JOIN)

EVENT(collective_end, OTF2_CollectiveOp operation, OTF2_CommRef comm, uint32_t root, uint64_t sent,
      uint64_t received)
{
    BEGIN;
    e->collective.operation = operation;
    e->collective.communicator = communicator(pass, comm);
    e->collective.root = root_rank(root);
    e->collective.sent_bytes = sent;
    e->collective.received_bytes = received;
    e->collective.request = 0;
    return give(pass, CTS_EVENT_MPI_COLLECTIVE_END, time, list);
}
EVENT(collective_request, uint64_t request)
{
    BEGIN;
    memset(&e->collective, 0, sizeof e->collective);
    e->collective.communicator = e->collective.root = CTS_TIMELINE_NONE;
    e->collective.request = request;
    return give(pass, CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST, time, list);
}
EVENT(collective_complete, OTF2_CollectiveOp operation, OTF2_CommRef comm, uint32_t root,
      uint64_t sent, uint64_t received, uint64_t request)
{
    BEGIN;
    e->collective.operation = operation;
    e->collective.communicator = communicator(pass, comm);
    e->collective.root = root_rank(root);
    e->collective.sent_bytes = sent;
    e->collective.received_bytes = received;
    e->collective.request = request;
    return give(pass, CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE, time, list);
}

/* One-sided records have few of the members each; the others are 0 or NONE. */
static struct cts_timeline_event *rma(struct pass *pass, OTF2_RmaWinRef win)
{
    struct cts_timeline_event *const e = &pass->event;
    memset(&e->rma, 0, sizeof e->rma);
    e->rma.window = window(pass, win);
    e->rma.remote = CTS_TIMELINE_NONE;
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
        rma(pass, win);                                                                            \
        e->rma.remote = remote;                                                                    \
        e->rma.matching = lock;                                                                    \
        e->rma.operation = type;                                                                   \
        return give(pass, kind, time, list);                                                       \
    }
RMA_LOCK(rma_request_lock, CTS_EVENT_RMA_REQUEST_LOCK)
RMA_LOCK(rma_acquire_lock, CTS_EVENT_RMA_ACQUIRE_LOCK)
EVENT(rma_release_lock, OTF2_RmaWinRef win, uint32_t remote, uint64_t lock)
{
    BEGIN;
    rma(pass, win);
    e->rma.remote = remote;
    e->rma.matching = lock;
    return give(pass, CTS_EVENT_RMA_RELEASE_LOCK, time, list);
}
#define RMA_TRANSFER(name, kind)                                                                   \
    EVENT(name, OTF2_RmaWinRef win, uint32_t remote, uint64_t bytes, uint64_t matching)            \
    {                                                                                              \
        BEGIN;                                                                                     \
        rma(pass, win);                                                                            \
        e->rma.remote = remote;                                                                    \
        e->rma.bytes = bytes;                                                                      \
        e->rma.matching = matching;                                                                \
        return give(pass, kind, time, list);                                                       \
    }
RMA_TRANSFER(rma_put, CTS_EVENT_RMA_PUT)
RMA_TRANSFER(rma_get, CTS_EVENT_RMA_GET)
EVENT(rma_atomic, OTF2_RmaWinRef win, uint32_t remote, OTF2_RmaAtomicType type, uint64_t sent,
      uint64_t received, uint64_t matching)
{
    BEGIN;
    rma(pass, win);
    e->rma.remote = remote;
    e->rma.operation = type;
    e->rma.bytes = sent;
    e->rma.received_bytes = received;
    e->rma.matching = matching;
    return give(pass, CTS_EVENT_RMA_ATOMIC, time, list);
}
#define RMA_COMPLETE(name, kind)                                                                   \
    EVENT(name, OTF2_RmaWinRef win, uint64_t matching)                                             \
    {                                                                                              \
        BEGIN;                                                                                     \
        rma(pass, win);                                                                            \
        e->rma.matching = matching;                                                                \
        return give(pass, kind, time, list);                                                       \
    }
RMA_COMPLETE(rma_complete_blocking, CTS_EVENT_RMA_OP_COMPLETE_BLOCKING)
RMA_COMPLETE(rma_complete_non_blocking, CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING)
RMA_COMPLETE(rma_complete_remote, CTS_EVENT_RMA_OP_COMPLETE_REMOTE)

static struct cts_timeline_event *thread(struct pass *pass)
{
    memset(&pass->event.thread, 0, sizeof pass->event.thread);
    pass->event.thread.communicator = CTS_TIMELINE_NONE;
    return &pass->event;
}
EVENT(thread_fork, OTF2_Paradigm model, uint32_t team_size)
{
    BEGIN;
    (void)model;
    thread(pass)->thread.team_size = team_size;
    return give(pass, CTS_EVENT_THREAD_FORK, time, list);
}
EVENT(old_fork, uint32_t team_size)
{
    BEGIN;
    thread(pass)->thread.team_size = team_size;
    return give(pass, CTS_EVENT_THREAD_FORK, time, list);
}
EVENT(thread_join, OTF2_Paradigm model)
{
    BEGIN;
    (void)model;
    thread(pass);
    return give(pass, CTS_EVENT_THREAD_JOIN, time, list);
}
#define TEAM(name, kind)                                                                           \
    EVENT(name, OTF2_CommRef team)                                                                 \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.communicator = communicator(pass, team);                              \
        return give(pass, kind, time, list);                                                       \
    }
TEAM(team_begin, CTS_EVENT_THREAD_TEAM_BEGIN)
TEAM(team_end, CTS_EVENT_THREAD_TEAM_END)
#define LOCK(name, kind)                                                                           \
    EVENT(name, OTF2_Paradigm model, uint32_t lock, uint32_t order)                                \
    {                                                                                              \
        BEGIN;                                                                                     \
        (void)model;                                                                               \
        thread(pass)->thread.sequence = lock;                                                      \
        e->thread.creator = order;                                                                 \
        return give(pass, kind, time, list);                                                       \
    }                                                                                              \
    EVENT(old_##name, uint32_t lock, uint32_t order)                                               \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.sequence = lock;                                                      \
        e->thread.creator = order;                                                                 \
        return give(pass, kind, time, list);                                                       \
    }
LOCK(acquire_lock, CTS_EVENT_THREAD_ACQUIRE_LOCK)
LOCK(release_lock, CTS_EVENT_THREAD_RELEASE_LOCK)
#define TASK(name, kind)                                                                           \
    EVENT(name, OTF2_CommRef team, uint32_t creator, uint32_t generation)                          \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.communicator = communicator(pass, team);                              \
        e->thread.creator = creator;                                                               \
        e->thread.sequence = generation;                                                           \
        return give(pass, kind, time, list);                                                       \
    }                                                                                              \
    EVENT(old_##name, uint64_t task)                                                               \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.sequence = task;                                                      \
        return give(pass, kind, time, list);                                                       \
    }
TASK(task_create, CTS_EVENT_THREAD_TASK_CREATE)
TASK(task_switch, CTS_EVENT_THREAD_TASK_SWITCH)
TASK(task_complete, CTS_EVENT_THREAD_TASK_COMPLETE)
#define THREAD(name, kind)                                                                         \
    EVENT(name, OTF2_CommRef contingent, uint64_t sequence)                                        \
    {                                                                                              \
        BEGIN;                                                                                     \
        thread(pass)->thread.communicator = communicator(pass, contingent);                        \
        e->thread.sequence = sequence;                                                             \
        return give(pass, kind, time, list);                                                       \
    }
THREAD(thread_create, CTS_EVENT_THREAD_CREATE)
THREAD(thread_begin, CTS_EVENT_THREAD_BEGIN)
THREAD(thread_wait, CTS_EVENT_THREAD_WAIT)
THREAD(thread_end, CTS_EVENT_THREAD_END)

EVENT(buffer_flush, OTF2_TimeStamp stop)
{
    BEGIN;
    e->flush.end_ns = time_ns(pass, stop);
    return give(pass, CTS_EVENT_BUFFER_FLUSH, time, list);
}
EVENT(on_off, OTF2_MeasurementMode mode)
{
    BEGIN;
    e->on = mode == OTF2_MEASUREMENT_ON;
    return give(pass, CTS_EVENT_MEASUREMENT_ON_OFF, time, list);
}

/* ---- what is only counted ---- */

PLAIN(unknown, CTS_EVENT_OTHER)
EVENT(metric, OTF2_MetricRef metric, uint8_t count, const OTF2_Type *types,
      const OTF2_MetricValue *values)
{
    BEGIN;
    (void)metric, (void)count, (void)types, (void)values;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(parameter_string, OTF2_ParameterRef a, OTF2_StringRef b)
{
    BEGIN;
    (void)a, (void)b;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(parameter_int, OTF2_ParameterRef a, int64_t b)
{
    BEGIN;
    (void)a, (void)b;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(parameter_unsigned, OTF2_ParameterRef a, uint64_t b)
{
    BEGIN;
    (void)a, (void)b;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(rma_try_lock, OTF2_RmaWinRef a, uint32_t b, uint64_t c, OTF2_LockType d)
{
    BEGIN;
    (void)a, (void)b, (void)c, (void)d;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(rma_wait_change, OTF2_RmaWinRef a)
{
    BEGIN;
    (void)a;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(rma_test, OTF2_RmaWinRef a, uint64_t b)
{
    BEGIN;
    (void)a, (void)b;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(context_enter, OTF2_CallingContextRef a, uint32_t b)
{
    BEGIN;
    (void)a, (void)b;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(context_leave, OTF2_CallingContextRef a)
{
    BEGIN;
    (void)a;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(context_sample, OTF2_CallingContextRef a, uint32_t b, OTF2_InterruptGeneratorRef c)
{
    BEGIN;
    (void)a, (void)b, (void)c;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(program_begin, OTF2_StringRef a, uint32_t b, const OTF2_StringRef *c)
{
    BEGIN;
    (void)a, (void)b, (void)c;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(program_end, int64_t a)
{
    BEGIN;
    (void)a;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(communicator_event, OTF2_CommRef a)
{
    BEGIN;
    (void)a;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_create, OTF2_IoHandleRef a, OTF2_IoAccessMode b, OTF2_IoCreationFlag c,
      OTF2_IoStatusFlag d)
{
    BEGIN;
    (void)a, (void)b, (void)c, (void)d;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_handle, OTF2_IoHandleRef a)
{
    BEGIN;
    (void)a;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_duplicate, OTF2_IoHandleRef a, OTF2_IoHandleRef b, OTF2_IoStatusFlag c)
{
    BEGIN;
    (void)a, (void)b, (void)c;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_seek, OTF2_IoHandleRef a, int64_t b, OTF2_IoSeekOption c, uint64_t d)
{
    BEGIN;
    (void)a, (void)b, (void)c, (void)d;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_flags, OTF2_IoHandleRef a, OTF2_IoStatusFlag b)
{
    BEGIN;
    (void)a, (void)b;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_delete, OTF2_IoParadigmRef a, OTF2_IoFileRef b)
{
    BEGIN;
    (void)a, (void)b;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_begin, OTF2_IoHandleRef a, OTF2_IoOperationMode b, OTF2_IoOperationFlag c, uint64_t d,
      uint64_t f)
{
    BEGIN;
    (void)a, (void)b, (void)c, (void)d, (void)f;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_matching, OTF2_IoHandleRef a, uint64_t b)
{
    BEGIN;
    (void)a, (void)b;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_complete, OTF2_IoHandleRef a, uint64_t b, uint64_t c)
{
    BEGIN;
    (void)a, (void)b, (void)c;
    return give(pass, CTS_EVENT_OTHER, time, list);
}
EVENT(io_lock, OTF2_IoHandleRef a, OTF2_LockType b)
{
    BEGIN;
    (void)a, (void)b;
    return give(pass, CTS_EVENT_OTHER, time, list);
}

#define SETTERS(X)                                                                                 \
    X(Unknown, on_unknown)                                                                         \
    X(BufferFlush, on_buffer_flush)                                                                \
    X(MeasurementOnOff, on_on_off)                                                                 \
    X(Enter, on_enter)                                                                             \
    X(Leave, on_leave)                                                                             \
    X(MpiSend, on_send)                                                                            \
    X(MpiIsend, on_isend)                                                                          \
    X(MpiIsendComplete, on_isend_complete)                                                         \
    X(MpiIrecvRequest, on_irecv_request)                                                           \
    X(MpiRecv, on_receive)                                                                         \
    X(MpiIrecv, on_irecv)                                                                          \
    X(MpiRequestTest, on_request_test)                                                             \
    X(MpiRequestCancelled, on_request_cancelled)                                                   \
    X(MpiCollectiveBegin, on_collective_begin)                                                     \
    X(MpiCollectiveEnd, on_collective_end)                                                         \
    X(OmpFork, on_old_fork)                                                                        \
    X(OmpJoin, on_old_join)                                                                        \
    X(OmpAcquireLock, on_old_acquire_lock)                                                         \
    X(OmpReleaseLock, on_old_release_lock)                                                         \
    X(OmpTaskCreate, on_old_task_create)                                                           \
    X(OmpTaskSwitch, on_old_task_switch)                                                           \
    X(OmpTaskComplete, on_old_task_complete)                                                       \
    X(Metric, on_metric)                                                                           \
    X(ParameterString, on_parameter_string)                                                        \
    X(ParameterInt, on_parameter_int)                                                              \
    X(ParameterUnsignedInt, on_parameter_unsigned)                                                 \
    X(RmaWinCreate, on_window_create)                                                              \
    X(RmaWinDestroy, on_window_destroy)                                                            \
    X(RmaCollectiveBegin, on_rma_collective_begin)                                                 \
    X(RmaCollectiveEnd, on_rma_collective_end)                                                     \
    X(RmaGroupSync, on_rma_group_sync)                                                             \
    X(RmaRequestLock, on_rma_request_lock)                                                         \
    X(RmaAcquireLock, on_rma_acquire_lock)                                                         \
    X(RmaTryLock, on_rma_try_lock)                                                                 \
    X(RmaReleaseLock, on_rma_release_lock)                                                         \
    X(RmaSync, on_rma_sync)                                                                        \
    X(RmaWaitChange, on_rma_wait_change)                                                           \
    X(RmaPut, on_rma_put)                                                                          \
    X(RmaGet, on_rma_get)                                                                          \
    X(RmaAtomic, on_rma_atomic)                                                                    \
    X(RmaOpCompleteBlocking, on_rma_complete_blocking)                                             \
    X(RmaOpCompleteNonBlocking, on_rma_complete_non_blocking)                                      \
    X(RmaOpTest, on_rma_test)                                                                      \
    X(RmaOpCompleteRemote, on_rma_complete_remote)                                                 \
    X(ThreadFork, on_thread_fork)                                                                  \
    X(ThreadJoin, on_thread_join)                                                                  \
    X(ThreadTeamBegin, on_team_begin)                                                              \
    X(ThreadTeamEnd, on_team_end)                                                                  \
    X(ThreadAcquireLock, on_acquire_lock)                                                          \
    X(ThreadReleaseLock, on_release_lock)                                                          \
    X(ThreadTaskCreate, on_task_create)                                                            \
    X(ThreadTaskSwitch, on_task_switch)                                                            \
    X(ThreadTaskComplete, on_task_complete)                                                        \
    X(ThreadCreate, on_thread_create)                                                              \
    X(ThreadBegin, on_thread_begin)                                                                \
    X(ThreadWait, on_thread_wait)                                                                  \
    X(ThreadEnd, on_thread_end)                                                                    \
    X(CallingContextEnter, on_context_enter)                                                       \
    X(CallingContextLeave, on_context_leave)                                                       \
    X(CallingContextSample, on_context_sample)                                                     \
    X(IoCreateHandle, on_io_create)                                                                \
    X(IoDestroyHandle, on_io_handle)                                                               \
    X(IoDuplicateHandle, on_io_duplicate)                                                          \
    X(IoSeek, on_io_seek)                                                                          \
    X(IoChangeStatusFlags, on_io_flags)                                                            \
    X(IoDeleteFile, on_io_delete)                                                                  \
    X(IoOperationBegin, on_io_begin)                                                               \
    X(IoOperationTest, on_io_matching)                                                             \
    X(IoOperationIssued, on_io_matching)                                                           \
    X(IoOperationComplete, on_io_complete)                                                         \
    X(IoOperationCancelled, on_io_matching)                                                        \
    X(IoAcquireLock, on_io_lock)                                                                   \
    X(IoReleaseLock, on_io_lock)                                                                   \
    X(IoTryLock, on_io_lock)                                                                       \
    X(ProgramBegin, on_program_begin)                                                              \
    X(ProgramEnd, on_program_end)                                                                  \
    X(NonBlockingCollectiveRequest, on_collective_request)                                         \
    X(NonBlockingCollectiveComplete, on_collective_complete)                                       \
    X(CommCreate, on_communicator_event)                                                           \
    X(CommDestroy, on_communicator_event)

OTF2_EvtReaderCallbacks *cts_timeline_event_callbacks(void)
{
    OTF2_EvtReaderCallbacks *const callbacks = OTF2_EvtReaderCallbacks_New();
    if (!callbacks) return NULL;
#define X(record, function) OTF2_EvtReaderCallbacks_Set##record##Callback(callbacks, function);
    SETTERS(X)
#undef X
    return callbacks;
}

/* ---- a pass ---- */

static enum cts_status read_all(struct pass *pass, OTF2_EvtReader *reader, struct cts_error *error)
{
    const struct cts_timeline_private *const p = pass->private;
    const struct cts_timeline_location *const location = &pass->timeline->locations[pass->location];
    OTF2_ErrorCode code = OTF2_Reader_RegisterEvtCallbacks(p->reader, reader, p->callbacks, pass);
    uint64_t count = 0;
    if (!code) code = OTF2_Reader_ReadAllLocalEvents(p->reader, reader, &count);
    if (pass->stopped) return CTS_OK;
    if (pass->went_back)
        return cts_fail(error, CTS_FORMAT, "event %llu of %llu is earlier than the one before it",
                        (unsigned long long)count, (unsigned long long)location->event_count);
    if (code)
        return cts_otf2_fail(error, CTS_FORMAT, code, "event %llu of %llu is damaged",
                             (unsigned long long)count, (unsigned long long)location->event_count);
    if (count < location->event_count)
        return cts_fail(error, CTS_FORMAT, "it ends after %llu of %llu events",
                        (unsigned long long)count, (unsigned long long)location->event_count);
    return CTS_OK;
}

enum cts_status cts_timeline_read(const struct cts_timeline *timeline, uint32_t location,
                                  cts_timeline_visit visit, void *state, struct cts_error *error)
{
    const struct cts_timeline_private *const p = timeline->private_data;
    const struct cts_timeline_location *const l = &timeline->locations[location];
    if (l->missing && !l->event_count) return CTS_OK;
    cts_otf2_catch_errors();
    struct pass pass = {
        .timeline = timeline,
        .private = p,
        .global_offset = timeline->global_offset,
        .ticks_per_second = timeline->ticks_per_second,
        .location = location,
        .has_clock_offsets = p->has_clock_offsets[location],
        .visit = visit,
        .state = state,
    };
    OTF2_EvtReader *const reader = OTF2_Reader_GetEvtReader(p->reader, l->reference);
    enum cts_status status =
        reader ? read_all(&pass, reader, error)
               : cts_otf2_fail(error, CTS_FORMAT, OTF2_SUCCESS, "it cannot be opened");
    if (reader) OTF2_Reader_CloseEvtReader(p->reader, reader);
    if (status)
        (void)cts_context(error, "cannot read '%s/%llu.evt'", p->directory,
                          (unsigned long long)l->reference);
    return status;
}
