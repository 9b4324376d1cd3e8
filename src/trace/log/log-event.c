/* Events as words of a log, and back. */
#include <string.h>

#include "trace/log/log-format.h"
#include "common/promise.h"

/* What members of the union an event of a kind has. */
enum shape { REGION, MESSAGE, REQUEST, PLAIN, COLLECTIVE, RMA, THREAD, FLUSH, SWITCH };

static enum shape shape_of(enum cts_timeline_event_kind kind)
{
    switch (kind) {
    case CTS_EVENT_ENTER:
    case CTS_EVENT_LEAVE:
        return REGION;
    case CTS_EVENT_MPI_SEND:
    case CTS_EVENT_MPI_RECV:
    case CTS_EVENT_MPI_ISEND:
    case CTS_EVENT_MPI_IRECV:
        return MESSAGE;
    case CTS_EVENT_MPI_ISEND_COMPLETE:
    case CTS_EVENT_MPI_IRECV_REQUEST:
    case CTS_EVENT_MPI_REQUEST_TEST:
    case CTS_EVENT_MPI_REQUEST_CANCELLED:
        return REQUEST;
    case CTS_EVENT_MPI_COLLECTIVE_END:
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST:
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE:
        return COLLECTIVE;
    case CTS_EVENT_MPI_COLLECTIVE_BEGIN:
    case CTS_EVENT_RMA_COLLECTIVE_BEGIN:
    case CTS_EVENT_THREAD_JOIN:
    case CTS_EVENT_OTHER:
    case CTS_EVENT_KIND_COUNT:
        return PLAIN;
    case CTS_EVENT_BUFFER_FLUSH:
        return FLUSH;
    case CTS_EVENT_MEASUREMENT_ON_OFF:
        return SWITCH;
    default:
        return kind >= CTS_EVENT_THREAD_FORK ? THREAD : RMA;
    }
}

static const uint32_t payload_words[] = {
    [REGION] = 0, [MESSAGE] = 3, [REQUEST] = 1, [PLAIN] = 0,  [COLLECTIVE] = 4,
    [RMA] = 5,    [THREAD] = 2,  [FLUSH] = 1,   [SWITCH] = 0,
};

static uint32_t pack_payload(uint64_t *w, const struct cts_timeline_event *e)
{
    switch (shape_of(e->kind)) {
    case REGION:
        return e->region;
    case MESSAGE:
        w[0] = cts_log_pair(e->message.communicator, e->message.tag);
        w[1] = e->message.bytes;
        w[2] = e->message.request;
        return e->message.peer;
    case REQUEST:
        w[0] = e->message.request;
        return 0;
    case COLLECTIVE:
        w[0] = cts_log_pair(e->collective.communicator, e->collective.root);
        w[1] = e->collective.sent_bytes;
        w[2] = e->collective.received_bytes;
        w[3] = e->collective.request;
        return e->collective.operation;
    case RMA:
        w[0] = cts_log_pair(e->rma.window, e->rma.remote);
        w[1] = e->rma.level;
        w[2] = e->rma.bytes;
        w[3] = e->rma.received_bytes;
        w[4] = e->rma.matching;
        return e->rma.operation;
    case THREAD:
        w[0] = cts_log_pair(e->thread.communicator, e->thread.creator);
        w[1] = e->thread.sequence;
        return e->thread.team_size;
    case FLUSH:
        w[0] = e->flush.end_ns;
        return 0;
    case SWITCH:
        return e->on;
    case PLAIN:
        break;
    }
    return 0;
}

uint32_t cts_log_pack_event(uint64_t *words, const struct cts_timeline_event *event,
                            const struct cts_event_attributes *attributes)
{
    assert((unsigned)event->kind < CTS_EVENT_KIND_COUNT);
    const uint32_t high = pack_payload(words + 2, event);
    uint32_t count = 2 + payload_words[shape_of(event->kind)];
    const bool has = attributes && attributes->present;
    if (has) {
        words[count++] = attributes->present;
        for (uint32_t left = attributes->present; left; left &= left - 1)
            words[count++] = attributes->values[__builtin_ctz(left)];
    }
    words[0] = cts_log_word(CTS_RECORD_EVENT + event->kind, count, has, high);
    words[1] = event->time_ns;
    return count;
}

static void unpack_payload(const uint64_t *w, uint32_t high, struct cts_timeline_event *e)
{
    switch (shape_of(e->kind)) {
    case REGION:
        e->region = high;
        break;
    case MESSAGE:
        e->message.peer = high;
        e->message.communicator = (uint32_t)w[0];
        e->message.tag = (uint32_t)(w[0] >> 32);
        e->message.bytes = w[1];
        e->message.request = w[2];
        break;
    case REQUEST:
        e->message.request = w[0];
        break;
    case COLLECTIVE:
        e->collective.operation = high;
        e->collective.communicator = (uint32_t)w[0];
        e->collective.root = (uint32_t)(w[0] >> 32);
        e->collective.sent_bytes = w[1];
        e->collective.received_bytes = w[2];
        e->collective.request = w[3];
        break;
    case RMA:
        e->rma.operation = high;
        e->rma.window = (uint32_t)w[0];
        e->rma.remote = (uint32_t)(w[0] >> 32);
        e->rma.level = (uint32_t)w[1];
        e->rma.bytes = w[2];
        e->rma.received_bytes = w[3];
        e->rma.matching = w[4];
        break;
    case THREAD:
        e->thread.team_size = high;
        e->thread.communicator = (uint32_t)w[0];
        e->thread.creator = (uint32_t)(w[0] >> 32);
        e->thread.sequence = w[1];
        break;
    case FLUSH:
        e->flush.end_ns = w[0];
        break;
    case SWITCH:
        e->on = high != 0;
        break;
    case PLAIN:
        break;
    }
}

bool cts_log_unpack_event(const uint64_t *words, uint32_t count, struct cts_timeline_event *event,
                          struct cts_event_attributes *attributes)
{
    const uint32_t type = words[0] & 0xff;
    attributes->present = 0;
    if (type < CTS_RECORD_EVENT || type >= CTS_RECORD_EVENT + CTS_EVENT_OTHER) return false;
    memset(event, 0, sizeof *event);
    event->kind = (enum cts_timeline_event_kind)(type - CTS_RECORD_EVENT);
    uint32_t used = 2 + payload_words[shape_of(event->kind)];
    if (count < used) return false;
    event->time_ns = words[1];
    unpack_payload(words + 2, (uint32_t)(words[0] >> 32), event);
    if (!(words[0] & CTS_RECORD_HAS_ATTRIBUTES)) return count == used;
    if (count == used) return false;
    const uint64_t present = words[used++];
    if (present >> CTS_ATTRIBUTE_COUNT || count - used != (uint32_t)__builtin_popcountll(present))
        return false;
    attributes->present = (uint32_t)present;
    for (uint32_t left = attributes->present; left; left &= left - 1)
        attributes->values[__builtin_ctz(left)] = words[used++];
    return true;
}
