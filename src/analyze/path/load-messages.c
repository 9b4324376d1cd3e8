/* MPI's messages and collectives of one location: what is sent, posted, completed; who takes part.
 */
#include <stdlib.h>

#include "analyze/path/load.h"
#include "analyze/path/scan.h"

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE };

static uint32_t peer_location(struct load *load, uint32_t communicator, uint32_t rank)
{
    const struct cts_timeline *const timeline = load->system->timeline;
    if (communicator < timeline->communicator_count) {
        const struct cts_timeline_communicator *const c = &timeline->communicators[communicator];
        if (c->self) return load->id;
        const uint32_t *ranks = c->ranks;
        uint32_t count = c->rank_count;
        if (c->remote_ranks) { /* the peer is in the group that this location is not in */
            bool local = false;
            for (uint32_t i = 0; i < c->rank_count && !local; i++) local = c->ranks[i] == load->id;
            if (local) {
                ranks = c->remote_ranks;
                count = c->remote_count;
            }
        }
        if (rank < count && ranks[rank] < load->system->location_count) return ranks[rank];
    }
    return CTS_PATH_NONE;
}

static uint32_t checked_peer(struct load *load, const struct cts_timeline_event *event)
{
    const uint32_t peer = peer_location(load, event->message.communicator, event->message.peer);
    if (peer == CTS_PATH_NONE) load->counts.warnings[CTS_PATH_WARNING_UNKNOWN_PEER]++;
    return peer;
}

/* The map of open requests never forgets; it is made anew when most of it is gone. */
static void tidy_requests(struct load *load)
{
    if (load->requests.count < 4096 || load->requests.count < 4 * load->request_count) return;
    struct cts_map fresh = {0};
    for (size_t i = 0; i < load->requests.capacity; i++) {
        if (!load->requests.used[i] || !load->requests.entries[i].value) continue;
        uint64_t *const slot = cts_map_at(&fresh, load->requests.entries[i].key, load->error);
        if (!slot) {
            load->status = CTS_MEMORY;
            break;
        }
        *slot = load->requests.entries[i].value;
    }
    cts_map_release(&load->requests);
    load->requests = fresh;
}

static void open_request(struct load *load, uint64_t request, enum request_kind kind, size_t index)
{
    tidy_requests(load);
    uint64_t *const slot = cts_map_at(&load->requests, request, load->error);
    if (!slot) {
        load->status = CTS_MEMORY;
        return;
    }
    if (*slot)
        load->counts.warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
    else
        load->request_count++;
    *slot = (index + 1) << 2 | kind;
}

/* The index of what a request began; SIZE_MAX if none of that kind is open. */
static size_t close_request(struct load *load, uint64_t request, enum request_kind kind)
{
    const uint64_t *const found = cts_map_find(&load->requests, request);
    if (!found || !*found || (*found & 3) != kind) return SIZE_MAX;
    const size_t index = (size_t)(*found >> 2) - 1;
    uint64_t *const slot = cts_map_at(&load->requests, request, load->error);
    if (slot) *slot = 0;
    load->request_count--;
    return index;
}

/* The index of what was appended last; a scan has none. */
#define LAST_INDEX(load, list) ((load)->scan ? 0 : (load)->raw->list.count - 1)

void cts_load_add_send(struct load *load, const struct cts_path_send *send)
{
    if (load->scan && send->peer != CTS_PATH_NONE)
        cts_scan_sent(
            load, &(struct cts_path_channel){load->id, send->peer, send->communicator, send->tag});
    (void)APPEND(load, sends, *send);
}

void cts_load_add_receive(struct load *load, const struct cts_path_receive *receive)
{
    if (load->scan && receive->peer != CTS_PATH_NONE)
        cts_scan_received(load, &(struct cts_path_channel){receive->peer, load->id,
                                                           receive->communicator, receive->tag});
    (void)APPEND(load, receives, *receive);
}

void cts_load_add_member(struct load *load, const struct cts_path_member *member)
{
    if (load->scan && member->key != UINT64_MAX) cts_scan_member(load, member);
    (void)APPEND(load, members, *member);
}

static void on_send(struct load *load, const struct cts_timeline_event *event, bool completes)
{
    const uint32_t call = cts_load_top_node(load), peer = checked_peer(load, event);
    cts_load_add_send(load, &(struct cts_path_send){.call = call,
                                                    .done = completes ? call : CTS_PATH_NONE,
                                                    .peer = peer,
                                                    .communicator = event->message.communicator,
                                                    .tag = event->message.tag});
    if (!completes && !load->status)
        open_request(load, event->message.request, REQUEST_SEND, LAST_INDEX(load, sends));
}

static void on_receive(struct load *load, const struct cts_timeline_event *event)
{
    const uint32_t call = cts_load_top_node(load), peer = checked_peer(load, event);
    cts_load_add_receive(load,
                         &(struct cts_path_receive){.post = call,
                                                    .done = call,
                                                    .peer = peer,
                                                    .communicator = event->message.communicator,
                                                    .tag = event->message.tag,
                                                    .probe = load->probe});
    load->probe = CTS_PATH_NONE;
}

static void on_post(struct load *load, const struct cts_timeline_event *event)
{
    cts_load_add_receive(load, &(struct cts_path_receive){.post = cts_load_top_node(load),
                                                          .done = CTS_PATH_NONE,
                                                          .peer = CTS_PATH_NONE,
                                                          .probe = load->probe});
    load->probe = CTS_PATH_NONE;
    if (!load->status)
        open_request(load, event->message.request, REQUEST_RECEIVE, LAST_INDEX(load, receives));
}

static void on_received(struct load *load, const struct cts_timeline_event *event)
{
    const size_t index = close_request(load, event->message.request, REQUEST_RECEIVE);
    if (index == SIZE_MAX) {
        load->counts.warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
        on_receive(load, event);
        return;
    }
    const uint32_t peer = checked_peer(load, event);
    if (load->scan) {
        if (peer != CTS_PATH_NONE)
            cts_scan_received(load, &(struct cts_path_channel){peer, load->id,
                                                               event->message.communicator,
                                                               event->message.tag});
        return;
    }
    struct cts_path_receive *const receive = &load->raw->receives.items[index];
    receive->done = cts_load_top_node(load);
    receive->peer = peer;
    receive->communicator = event->message.communicator;
    receive->tag = event->message.tag;
}

static void on_sent(struct load *load, const struct cts_timeline_event *event)
{
    const size_t index = close_request(load, event->message.request, REQUEST_SEND);
    if (index == SIZE_MAX)
        load->counts.warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
    else if (!load->scan)
        load->raw->sends.items[index].done = cts_load_top_node(load);
}

static void on_cancelled(struct load *load, const struct cts_timeline_event *event)
{
    size_t index = close_request(load, event->message.request, REQUEST_SEND);
    if (index != SIZE_MAX) {
        if (load->scan)
            cts_scan_spoil(load); /* its message is counted */
        else
            load->raw->sends.items[index].peer = CTS_PATH_NONE;
        return;
    }
    index = close_request(load, event->message.request, REQUEST_RECEIVE);
    if (index == SIZE_MAX) load->counts.warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
}

/* By OTF2_CollectiveOp; what is not here waits for all. */
static enum cts_path_shape shape_of(uint32_t operation)
{
    enum {
        BARRIER = 0,
        BCAST = 1,
        GATHER = 2,
        GATHERV = 3,
        SCATTER = 4,
        SCATTERV = 5,
        REDUCE = 12,
        SCAN = 14,
        EXSCAN = 15
    };
    switch (operation) {
    case BARRIER:
        return CTS_PATH_SHAPE_BARRIER;
    case BCAST:
    case SCATTER:
    case SCATTERV:
        return CTS_PATH_SHAPE_FROM_ONE;
    case GATHER:
    case GATHERV:
    case REDUCE:
        return CTS_PATH_SHAPE_TO_ONE;
    case SCAN:
    case EXSCAN:
        return CTS_PATH_SHAPE_PREFIX;
    default:
        return CTS_PATH_SHAPE_ALL;
    }
}

static struct cts_path_member member_of(struct load *load, const struct cts_timeline_event *event,
                                        unsigned non_blocking)
{
    struct cts_path_member member = {.key = (uint64_t)event->collective.communicator << 1 |
                                            non_blocking,
                                     .location = load->id,
                                     .call = cts_load_top_node(load),
                                     .done = cts_load_top_node(load),
                                     .root = CTS_PATH_NONE,
                                     .shape = shape_of(event->collective.operation)};
    if (cts_load_top(load)) member.enter_ns = cts_load_top(load)->enter_ns;
    if (event->collective.root != CTS_TIMELINE_NONE)
        member.root = peer_location(load, event->collective.communicator, event->collective.root);
    return member;
}

bool cts_load_is_own(const struct load *load, uint32_t communicator)
{
    const struct cts_timeline *const timeline = load->system->timeline;
    return communicator >= timeline->communicator_count ||
           timeline->communicators[communicator].self;
}

static void on_collective(struct load *load, const struct cts_timeline_event *event)
{
    if (!cts_load_is_own(load, event->collective.communicator)) {
        const struct cts_path_member member = member_of(load, event, 0);
        cts_load_add_member(load, &member);
    }
    const enum cts_path_shape shape = shape_of(event->collective.operation);
    if (load->scan && (shape == CTS_PATH_SHAPE_BARRIER || shape == CTS_PATH_SHAPE_ALL))
        cts_scan_collective(load, event->collective.communicator);
}

static void on_collective_request(struct load *load, const struct cts_timeline_event *event)
{
    const struct frame *const frame = cts_load_top(load);
    cts_load_add_member(load, &(struct cts_path_member){.enter_ns = frame ? frame->enter_ns : 0,
                                                        .key = UINT64_MAX,
                                                        .location = load->id,
                                                        .call = cts_load_top_node(load),
                                                        .done = CTS_PATH_NONE});
    if (!load->status)
        open_request(load, event->collective.request, REQUEST_COLLECTIVE,
                     LAST_INDEX(load, members));
}

static void on_collective_complete(struct load *load, const struct cts_timeline_event *event)
{
    const size_t index = close_request(load, event->collective.request, REQUEST_COLLECTIVE);
    if (index == SIZE_MAX) {
        load->counts.warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
        return;
    }
    if (cts_load_is_own(load, event->collective.communicator)) return;
    const struct cts_path_member ended = member_of(load, event, 1);
    if (load->scan) {
        cts_scan_member(load, &ended);
        return;
    }
    struct cts_path_member *const member = &load->raw->members.items[index];
    member->key = ended.key;
    member->done = ended.done;
    member->root = ended.root;
    member->shape = ended.shape;
}

void cts_load_message(struct load *load, const struct cts_timeline_event *event)
{
    switch (event->kind) {
    case CTS_EVENT_MPI_SEND:
        on_send(load, event, true);
        break;
    case CTS_EVENT_MPI_ISEND:
        on_send(load, event, false);
        break;
    case CTS_EVENT_MPI_ISEND_COMPLETE:
        on_sent(load, event);
        break;
    case CTS_EVENT_MPI_RECV:
        on_receive(load, event);
        break;
    case CTS_EVENT_MPI_IRECV_REQUEST:
        on_post(load, event);
        break;
    case CTS_EVENT_MPI_IRECV:
        on_received(load, event);
        break;
    case CTS_EVENT_MPI_REQUEST_CANCELLED:
        on_cancelled(load, event);
        break;
    case CTS_EVENT_MPI_COLLECTIVE_END:
        on_collective(load, event);
        break;
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST:
        on_collective_request(load, event);
        break;
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE:
        on_collective_complete(load, event);
        break;
    default:
        break;
    }
}
