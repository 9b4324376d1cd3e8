/* The events of one location. Each callback of the library fills the one event of its pass and
 * hands it on; nothing is allocated per event.
 *
 * Time that goes back is damage, but for locations with clock offsets: where the piece of one
 * offset meets the next, a step back of the correction is made no step at all.
 *
 * Ticks become ns by (ticks - global offset) * 1e9 / resolution in 128 bits; for a resolution of
 * 1e9, which most archives have, it is the difference. */
#include "trace/timeline/read-events.h"

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

const struct cts_event_attributes *cts_gather_attributes(struct pass *pass,
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

/* ---- functions, messages, collectives ---- */

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
/* A message as OTF2 has it. */
struct message {
    uint32_t peer;
    OTF2_CommRef comm;
    uint32_t tag;
    uint64_t bytes, request;
};

static OTF2_CallbackCode give_message(struct pass *pass, enum cts_timeline_event_kind kind,
                                      OTF2_TimeStamp time, const OTF2_AttributeList *list,
                                      const struct message *message)
{
    pass->event.message.peer = message->peer;
    pass->event.message.communicator = communicator(pass, message->comm);
    pass->event.message.tag = message->tag;
    pass->event.message.bytes = message->bytes;
    pass->event.message.request = message->request;
    return give(pass, kind, time, list);
}
EVENT(send, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    BEGIN;
    return give_message(
        pass, CTS_EVENT_MPI_SEND, time, list,
        &(struct message){.peer = peer, .comm = comm, .tag = tag, .bytes = bytes, .request = 0});
}
EVENT(receive, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    BEGIN;
    return give_message(
        pass, CTS_EVENT_MPI_RECV, time, list,
        &(struct message){.peer = peer, .comm = comm, .tag = tag, .bytes = bytes, .request = 0});
}
EVENT(isend, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    BEGIN;
    return give_message(
        pass, CTS_EVENT_MPI_ISEND, time, list,
        &(struct message){
            .peer = peer, .comm = comm, .tag = tag, .bytes = bytes, .request = request});
}
EVENT(irecv, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    BEGIN;
    return give_message(
        pass, CTS_EVENT_MPI_IRECV, time, list,
        &(struct message){
            .peer = peer, .comm = comm, .tag = tag, .bytes = bytes, .request = request});
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

PLAIN(collective_begin, CTS_EVENT_MPI_COLLECTIVE_BEGIN)

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

#define SETTERS(X)                                                                                 \
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
    X(NonBlockingCollectiveRequest, on_collective_request)                                         \
    X(NonBlockingCollectiveComplete, on_collective_complete)

OTF2_EvtReaderCallbacks *cts_timeline_event_callbacks(void)
{
    OTF2_EvtReaderCallbacks *const callbacks = OTF2_EvtReaderCallbacks_New();
    if (!callbacks) return NULL;
#define X(record, function) OTF2_EvtReaderCallbacks_Set##record##Callback(callbacks, function);
    SETTERS(X)
#undef X
    cts_set_one_sided_callbacks(callbacks);
    cts_set_thread_callbacks(callbacks);
    cts_set_counted_callbacks(callbacks);
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
        return cts_otf2_fail(error, CTS_FORMAT, code, "event %llu of %llu cannot be read",
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
    enum cts_status status = cts_timeline_check_events(p, l->reference, error);
    OTF2_EvtReader *const reader =
        status ? NULL : OTF2_Reader_GetEvtReader(p->reader, l->reference);
    if (!status)
        status = reader ? read_all(&pass, reader, error)
                        : cts_otf2_fail(error, CTS_FORMAT, OTF2_SUCCESS, "it cannot be opened");
    if (reader) OTF2_Reader_CloseEvtReader(p->reader, reader);
    if (!status) return CTS_OK;
    (void)cts_context(error, "cannot read '%s/%llu.evt'", p->directory,
                      (unsigned long long)l->reference);
    if (status == CTS_FORMAT) cts_timeline_note_damage(p, location, error);
    return status;
}
