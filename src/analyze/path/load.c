/* Reading: the events of a location become nodes; what depends on others becomes raw lists.
 *
 * A stack of open regions gives each node the activity that runs after it. Device streams have no
 * true stack: a copy (RMA_GET or RMA_PUT to RMA_OP_COMPLETE) may overlap a kernel, so an activity
 * is taken out wherever it stands. Locations are read by several threads at once; what they count
 * is added up at the end of each. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/path/api.h"
#include "analyze/path/graph.h"
#include "common/map.h"

enum { TEAM_DEPTH_MAX = 64, RESERVE_MAX = 1 << 22 };

struct frame {
    uint64_t enter_ns, child_ns;
    uint64_t matching;  /* of a copy */
    uint64_t reference; /* of an API call: event or correlation */
    uint32_t node, region;
    uint32_t stream;
    uint32_t activity; /* on a device stream */
    bool copy, failed;
};

struct team_frame {
    uint32_t team;
    uint32_t barriers;
};

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE };

struct load {
    struct cts_path_graph *graph;
    struct cts_path_location *location;
    struct cts_path_raw *raw;
    uint32_t id;
    CTS_PATH_LIST(struct frame, stack);
    struct team_frame teams[TEAM_DEPTH_MAX];
    unsigned team_depth;
    uint32_t probe; /* enter node of the last probe that no receive has followed; NONE */
    struct cts_map requests;
    uint64_t request_count; /* open */
    struct cts_path_row *rows;
    uint32_t *open; /* per region: how often it is on the stack */
    uint64_t warnings[CTS_PATH_WARNING_COUNT];
    uint64_t event_count;
    uint64_t last_ns;
    bool has_event;
    enum cts_status status;
    struct cts_error *error;
};

/* ---- nodes ---- */

static bool reserve_nodes(struct load *load, size_t needed)
{
    struct cts_path_location *const at = load->location;
    if (needed <= at->capacity) return true;
    size_t capacity = at->capacity ? at->capacity * 2 : 64;
    if (capacity < needed) capacity = needed;
    if (needed >= INT32_MAX) {
        load->status =
            cts_fail(load->error, CTS_LIMIT, "more than %d events on one location", INT32_MAX);
        return false;
    }
    uint64_t *const times = realloc(at->time_ns, capacity * sizeof *times);
    if (times) at->time_ns = times;
    uint32_t *const regions = times ? realloc(at->region, capacity * sizeof *regions) : NULL;
    if (regions) at->region = regions;
    uint32_t *const active = regions ? realloc(at->active, capacity * sizeof *active) : NULL;
    if (active) at->active = active;
    if (!active) {
        load->status = cts_fail(load->error, CTS_MEMORY, "no memory for %zu events", capacity);
        return false;
    }
    at->capacity = capacity;
    return true;
}

static uint32_t add_node(struct load *load, uint64_t time_ns, uint32_t region)
{
    struct cts_path_location *const at = load->location;
    if (at->count == at->capacity && !reserve_nodes(load, at->count + 1)) return CTS_PATH_NONE;
    const uint32_t node = (uint32_t)at->count++;
    at->time_ns[node] = time_ns;
    at->region[node] = region;
    at->active[node] = node;
    return node;
}

static struct frame *top(struct load *load)
{
    return load->stack.count ? &load->stack.items[load->stack.count - 1] : NULL;
}

static uint32_t top_node(struct load *load)
{
    const struct frame *const frame = top(load);
    return frame ? frame->node : CTS_PATH_NONE;
}

#define APPEND(load, list, ...)                                                                    \
    (CTS_ARRAY_RESERVE(&(load)->raw->list, (load)->raw->list.count + 1, (load)->error)             \
         ? ((load)->status = CTS_MEMORY, false)                                                    \
         : ((load)->raw->list.items[(load)->raw->list.count++] = __VA_ARGS__, true))

static struct frame *enter(struct load *load, uint64_t time_ns, uint32_t region)
{
    if (CTS_ARRAY_RESERVE(&load->stack, load->stack.count + 1, load->error)) {
        load->status = CTS_MEMORY;
        return NULL;
    }
    const uint32_t node = add_node(load, time_ns, region);
    if (node == CTS_PATH_NONE) return NULL;
    struct frame *const frame = &load->stack.items[load->stack.count++];
    *frame = (struct frame){.enter_ns = time_ns,
                            .node = node,
                            .region = region,
                            .stream = CTS_PATH_NONE,
                            .activity = CTS_PATH_NONE};
    load->open[region]++;
    if (load->location->stream) {
        struct cts_path_activities *const list = &load->location->activities;
        if (CTS_ARRAY_RESERVE(list, list->count + 1, load->error)) {
            load->status = CTS_MEMORY;
            return NULL;
        }
        frame->activity = (uint32_t)list->count;
        list->items[list->count++] = (struct cts_path_activity){
            .begin = node, .end = node, .host = CTS_PATH_NONE, .launch = CTS_PATH_NONE};
    }
    return frame;
}

static void count_call(struct load *load, const struct frame *frame, uint64_t time_ns)
{
    struct cts_path_row *const row = &load->rows[frame->region];
    const uint64_t inclusive = time_ns - frame->enter_ns;
    row->calls++;
    row->exclusive_ns += inclusive - (frame->child_ns < inclusive ? frame->child_ns : inclusive);
    if (--load->open[frame->region] == 0) row->inclusive_ns += inclusive;
}

/* Ends frame `index`, wherever it stands in the stack. */
static bool leave(struct load *load, size_t index, uint64_t time_ns)
{
    const struct frame frame = load->stack.items[index];
    const uint32_t node = add_node(load, time_ns, frame.region | CTS_PATH_LEAVE);
    if (node == CTS_PATH_NONE) return false;
    memmove(&load->stack.items[index], &load->stack.items[index + 1],
            (load->stack.count - index - 1) * sizeof frame);
    load->stack.count--;
    count_call(load, &frame, time_ns);
    if (index) load->stack.items[index - 1].child_ns += time_ns - frame.enter_ns;
    load->location->active[node] = top_node(load);
    if (frame.activity != CTS_PATH_NONE)
        load->location->activities.items[frame.activity].end = node;
    return true;
}

/* ---- calls of the device's API ---- */

static void note_attributes(struct frame *frame, const struct cts_event_attributes *attributes)
{
    if (!attributes) return;
    const uint32_t present = attributes->present;
    const uint64_t *const values = attributes->values;
    if (present & 1u << CTS_ATTRIBUTE_STREAM_REF)
        frame->stream = (uint32_t)values[CTS_ATTRIBUTE_STREAM_REF];
    else if (present & 1u << CTS_ATTRIBUTE_QUEUE_REF)
        frame->stream = (uint32_t)values[CTS_ATTRIBUTE_QUEUE_REF];
    if (present & 1u << CTS_ATTRIBUTE_EVENT_REF)
        frame->reference = values[CTS_ATTRIBUTE_EVENT_REF];
    else if (present & 1u << CTS_ATTRIBUTE_CORRELATION)
        frame->reference = values[CTS_ATTRIBUTE_CORRELATION];
    if (present & 1u << CTS_ATTRIBUTE_RESULT) frame->failed = values[CTS_ATTRIBUTE_RESULT] != 0;
}

static bool same_meaning(uint8_t a, uint8_t b)
{
    const bool all_a = a == CTS_PATH_API_SYNC_DEVICE || a == CTS_PATH_API_SYNC_CONTEXT;
    const bool all_b = b == CTS_PATH_API_SYNC_DEVICE || b == CTS_PATH_API_SYNC_CONTEXT;
    return a == b || (all_a && all_b);
}

/* A call that calls one of the same meaning (runtime above driver) counts once: the inner one. */
static void add_op(struct load *load, const struct frame *frame, uint32_t leave_node)
{
    const struct cts_path_region *const region = &load->graph->regions[frame->region];
    struct cts_path_raw *const raw = load->raw;
    struct cts_path_op *const last = raw->ops.count ? &raw->ops.items[raw->ops.count - 1] : NULL;
    if (last && last->enter > frame->node && same_meaning(last->api, region->api)) {
        if (last->stream == CTS_PATH_NONE) last->stream = frame->stream;
        if (!last->reference) last->reference = frame->reference;
        return;
    }
    (void)APPEND(load, ops,
                 (struct cts_path_op){.reference = frame->reference,
                                      .enter = frame->node,
                                      .leave = leave_node,
                                      .stream = frame->stream,
                                      .api = region->api,
                                      .direction = region->direction,
                                      .failed = frame->failed});
}

/* ---- threads ---- */

static void begin_team(struct load *load, uint64_t time_ns, uint64_t id, uint32_t communicator,
                       uint32_t node)
{
    if (!APPEND(load, teams,
                (struct cts_path_team){
                    .begin_ns = time_ns, .id = id, .communicator = communicator, .node = node}))
        return;
    if (load->team_depth < TEAM_DEPTH_MAX)
        load->teams[load->team_depth] =
            (struct team_frame){.team = (uint32_t)load->raw->teams.count - 1};
    load->team_depth++;
}

static void end_team(struct load *load)
{
    if (load->team_depth) load->team_depth--;
}

static void add_barrier(struct load *load, uint32_t call)
{
    if (!load->team_depth || load->team_depth > TEAM_DEPTH_MAX) return;
    struct team_frame *const team = &load->teams[load->team_depth - 1];
    (void)APPEND(
        load, barriers,
        (struct cts_path_barrier){.team = team->team, .order = team->barriers++, .call = call});
}

/* ---- enter and leave ---- */

/* The id that OMPT gives a parallel region; 0: none. */
static uint64_t parallel_id(const struct cts_event_attributes *attributes)
{
    return attributes && attributes->present & 1u << CTS_ATTRIBUTE_PARALLEL_REGION
               ? attributes->values[CTS_ATTRIBUTE_PARALLEL_REGION]
               : 0;
}

static uint64_t size_of(const struct cts_event_attributes *attributes, enum cts_attribute x)
{
    uint64_t size = 1;
    for (unsigned i = 0; i < 3; i++)
        if (attributes->present & 1u << (x + i)) size *= (uint32_t)attributes->values[x + i];
    return size;
}

static uint32_t value_of(const struct cts_event_attributes *attributes, enum cts_attribute name)
{
    return attributes->present & 1u << name ? (uint32_t)attributes->values[name] : 0;
}

/* A kernel that says its grid: what-if shares the device by it. */
static void note_config(struct load *load, uint32_t activity,
                        const struct cts_event_attributes *attributes)
{
    struct cts_path_configs *const list = &load->location->configs;
    if (CTS_ARRAY_RESERVE(list, activity + 1ul, load->error)) {
        load->status = CTS_MEMORY;
        return;
    }
    while (list->count < activity) list->items[list->count++] = (struct cts_path_config){0};
    list->items[list->count++] = (struct cts_path_config){
        .cta_count = size_of(attributes, CTS_ATTRIBUTE_GRID_X),
        .threads = (uint32_t)size_of(attributes, CTS_ATTRIBUTE_BLOCK_X),
        .registers = value_of(attributes, CTS_ATTRIBUTE_REGISTERS),
        .shared_bytes = (uint64_t)value_of(attributes, CTS_ATTRIBUTE_STATIC_SHARED) +
                        value_of(attributes, CTS_ATTRIBUTE_DYNAMIC_SHARED)};
}

static void on_enter(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns,
                     const struct cts_event_attributes *attributes)
{
    if (event->region >= load->graph->pseudo) {
        load->warnings[CTS_PATH_WARNING_UNKNOWN_REGION]++;
        return;
    }
    struct frame *const frame = enter(load, time_ns, event->region);
    if (!frame) return;
    if (load->location->stream) {
        if (attributes && attributes->present & 1u << CTS_ATTRIBUTE_CORRELATION)
            frame->reference = attributes->values[CTS_ATTRIBUTE_CORRELATION];
        if (attributes && attributes->present & 1u << CTS_ATTRIBUTE_GRID_X)
            note_config(load, frame->activity, attributes);
        if (frame->reference || load->raw->correlations.count) {
            while (load->raw->correlations.count < frame->activity)
                if (!APPEND(load, correlations, 0)) return;
            (void)APPEND(load, correlations, frame->reference);
        }
        return;
    }
    const struct cts_path_region *const region = &load->graph->regions[event->region];
    switch (region->kind) {
    case CTS_PATH_API:
        note_attributes(frame, attributes);
        break;
    case CTS_PATH_PROBE:
        load->probe = frame->node;
        break;
    case CTS_PATH_TASK:
        begin_team(load, time_ns, parallel_id(attributes), CTS_PATH_NONE, frame->node);
        break;
    case CTS_PATH_PLAIN: /* OMPT's parallel region: it has an id, whatever its role */
        if (parallel_id(attributes))
            (void)APPEND(load, forks,
                         (struct cts_path_fork){time_ns, parallel_id(attributes), frame->node});
        break;
    default:
        break;
    }
}

/* A region that MPI_Init or MPI_Finalize names: all processes together, as far as times show it. */
static void add_all(struct load *load, const struct frame *frame)
{
    const bool finalize = strstr(load->graph->regions[frame->region].name, "Finalize") != NULL;
    (void)APPEND(load, members,
                 (struct cts_path_member){.enter_ns = frame->enter_ns,
                                          .key = 3ull << 60 | finalize,
                                          .location = load->id,
                                          .call = frame->node,
                                          .done = frame->node,
                                          .root = CTS_PATH_NONE,
                                          .shape = CTS_PATH_SHAPE_SEEN});
}

static void after_leave(struct load *load, const struct frame *frame, uint32_t leave_node)
{
    switch (load->graph->regions[frame->region].kind) {
    case CTS_PATH_API:
        add_op(load, frame, leave_node);
        break;
    case CTS_PATH_BARRIER: {
        const struct frame *const outer = top(load);
        if (!outer || load->graph->regions[outer->region].kind != CTS_PATH_BARRIER)
            add_barrier(load, frame->node);
        break;
    }
    case CTS_PATH_TASK:
        end_team(load);
        break;
    case CTS_PATH_ALL:
        add_all(load, frame);
        break;
    default:
        break;
    }
}

static bool leave_top(struct load *load, uint64_t time_ns)
{
    const struct frame frame = *top(load);
    if (!leave(load, load->stack.count - 1, time_ns)) return false;
    if (!load->location->stream) after_leave(load, &frame, (uint32_t)load->location->count - 1);
    return true;
}

static void on_leave(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns,
                     const struct cts_event_attributes *attributes)
{
    if (event->region >= load->graph->pseudo) {
        load->warnings[CTS_PATH_WARNING_UNKNOWN_REGION]++;
        return;
    }
    if (!load->open[event->region]) {
        load->warnings[CTS_PATH_WARNING_LEAVE_WITHOUT_ENTER]++;
        return;
    }
    if (load->location->stream) { /* wherever it stands */
        size_t index = load->stack.count - 1;
        while (load->stack.items[index].copy || load->stack.items[index].region != event->region)
            if (index-- == 0) return;
        (void)leave(load, index, time_ns);
        return;
    }
    while (top(load)->region != event->region) {
        load->warnings[CTS_PATH_WARNING_ENTER_WITHOUT_LEAVE]++;
        if (!leave_top(load, time_ns)) return;
    }
    note_attributes(top(load), attributes);
    (void)leave_top(load, time_ns);
}

/* ---- copies on a device stream ---- */

static void begin_copy(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns,
                       const struct cts_event_attributes *attributes)
{
    const struct cts_timeline *const timeline = load->graph->timeline;
    uint32_t kind = event->kind == CTS_EVENT_RMA_GET ? CTS_PATH_COPY_HTOD : CTS_PATH_COPY_DTOH;
    if (event->rma.window < timeline->window_count) {
        const uint32_t communicator = timeline->windows[event->rma.window].communicator;
        if (communicator < timeline->communicator_count &&
            event->rma.remote < timeline->communicators[communicator].rank_count) {
            const uint32_t remote = timeline->communicators[communicator].ranks[event->rma.remote];
            if (remote < load->graph->location_count && load->graph->locations[remote].stream)
                kind = CTS_PATH_COPY_DTOD;
        }
    }
    struct frame *const frame = enter(load, time_ns, load->graph->pseudo + kind);
    if (!frame) return;
    frame->copy = true;
    frame->matching = event->rma.matching;
    if (attributes && attributes->present & 1u << CTS_ATTRIBUTE_CORRELATION)
        frame->reference = attributes->values[CTS_ATTRIBUTE_CORRELATION];
    if (frame->reference || load->raw->correlations.count) {
        while (load->raw->correlations.count < frame->activity)
            if (!APPEND(load, correlations, 0)) return;
        (void)APPEND(load, correlations, frame->reference);
    }
}

static void end_copy(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns)
{
    for (size_t i = 0; i < load->stack.count; i++)
        if (load->stack.items[i].copy && load->stack.items[i].matching == event->rma.matching) {
            (void)leave(load, i, time_ns);
            return;
        }
    load->warnings[CTS_PATH_WARNING_LEAVE_WITHOUT_ENTER]++;
}

/* ---- MPI ---- */

static uint32_t peer_location(struct load *load, uint32_t communicator, uint32_t rank)
{
    const struct cts_timeline *const timeline = load->graph->timeline;
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
        if (rank < count && ranks[rank] < load->graph->location_count) return ranks[rank];
    }
    return CTS_PATH_NONE;
}

static uint32_t checked_peer(struct load *load, const struct cts_timeline_event *event)
{
    const uint32_t peer = peer_location(load, event->message.communicator, event->message.peer);
    if (peer == CTS_PATH_NONE) load->warnings[CTS_PATH_WARNING_UNKNOWN_PEER]++;
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
        load->warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
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

static void on_send(struct load *load, const struct cts_timeline_event *event, bool completes)
{
    const uint32_t call = top_node(load), peer = checked_peer(load, event);
    if (!APPEND(load, sends,
                (struct cts_path_send){.call = call,
                                       .done = completes ? call : CTS_PATH_NONE,
                                       .peer = peer,
                                       .communicator = event->message.communicator,
                                       .tag = event->message.tag}))
        return;
    if (!completes)
        open_request(load, event->message.request, REQUEST_SEND, load->raw->sends.count - 1);
}

static void on_receive(struct load *load, const struct cts_timeline_event *event)
{
    const uint32_t call = top_node(load), peer = checked_peer(load, event);
    (void)APPEND(load, receives,
                 (struct cts_path_receive){.post = call,
                                           .done = call,
                                           .peer = peer,
                                           .communicator = event->message.communicator,
                                           .tag = event->message.tag,
                                           .probe = load->probe});
    load->probe = CTS_PATH_NONE;
}

static void on_post(struct load *load, const struct cts_timeline_event *event)
{
    if (!APPEND(load, receives,
                (struct cts_path_receive){.post = top_node(load),
                                          .done = CTS_PATH_NONE,
                                          .peer = CTS_PATH_NONE,
                                          .probe = load->probe}))
        return;
    load->probe = CTS_PATH_NONE;
    open_request(load, event->message.request, REQUEST_RECEIVE, load->raw->receives.count - 1);
}

static void on_received(struct load *load, const struct cts_timeline_event *event)
{
    const size_t index = close_request(load, event->message.request, REQUEST_RECEIVE);
    if (index == SIZE_MAX) {
        load->warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
        on_receive(load, event);
        return;
    }
    struct cts_path_receive *const receive = &load->raw->receives.items[index];
    receive->done = top_node(load);
    receive->peer = checked_peer(load, event);
    receive->communicator = event->message.communicator;
    receive->tag = event->message.tag;
}

static void on_sent(struct load *load, const struct cts_timeline_event *event)
{
    const size_t index = close_request(load, event->message.request, REQUEST_SEND);
    if (index == SIZE_MAX)
        load->warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
    else
        load->raw->sends.items[index].done = top_node(load);
}

static void on_cancelled(struct load *load, const struct cts_timeline_event *event)
{
    size_t index = close_request(load, event->message.request, REQUEST_SEND);
    if (index != SIZE_MAX) {
        load->raw->sends.items[index].peer = CTS_PATH_NONE;
        return;
    }
    index = close_request(load, event->message.request, REQUEST_RECEIVE);
    if (index == SIZE_MAX) load->warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
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
                                     .call = top_node(load),
                                     .done = top_node(load),
                                     .root = CTS_PATH_NONE,
                                     .shape = shape_of(event->collective.operation)};
    if (top(load)) member.enter_ns = top(load)->enter_ns;
    if (event->collective.root != CTS_TIMELINE_NONE)
        member.root = peer_location(load, event->collective.communicator, event->collective.root);
    return member;
}

static bool is_own(struct load *load, uint32_t communicator)
{
    const struct cts_timeline *const timeline = load->graph->timeline;
    return communicator >= timeline->communicator_count ||
           timeline->communicators[communicator].self;
}

static void on_collective(struct load *load, const struct cts_timeline_event *event)
{
    if (!is_own(load, event->collective.communicator))
        (void)APPEND(load, members, member_of(load, event, 0));
}

static void on_collective_request(struct load *load, const struct cts_timeline_event *event)
{
    const struct frame *const frame = top(load);
    if (!APPEND(load, members,
                (struct cts_path_member){.enter_ns = frame ? frame->enter_ns : 0,
                                         .key = UINT64_MAX,
                                         .location = load->id,
                                         .call = top_node(load),
                                         .done = CTS_PATH_NONE}))
        return;
    open_request(load, event->collective.request, REQUEST_COLLECTIVE, load->raw->members.count - 1);
}

static void on_collective_complete(struct load *load, const struct cts_timeline_event *event)
{
    const size_t index = close_request(load, event->collective.request, REQUEST_COLLECTIVE);
    if (index == SIZE_MAX) {
        load->warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST]++;
        return;
    }
    if (is_own(load, event->collective.communicator)) return;
    struct cts_path_member *const member = &load->raw->members.items[index];
    const struct cts_path_member ended = member_of(load, event, 1);
    member->key = ended.key;
    member->done = ended.done;
    member->root = ended.root;
    member->shape = ended.shape;
}

/* A fence, or a window made or freed: all of the window's communicator. */
static void on_window_collective(struct load *load, const struct cts_timeline_event *event)
{
    const struct cts_timeline *const timeline = load->graph->timeline;
    if (load->location->stream || event->rma.window >= timeline->window_count) return;
    const uint32_t communicator = timeline->windows[event->rma.window].communicator;
    if (is_own(load, communicator) ||
        timeline->communicators[communicator].paradigm != CTS_PARADIGM_MPI || !top(load))
        return;
    (void)APPEND(load, members,
                 (struct cts_path_member){.enter_ns = top(load)->enter_ns,
                                          .key = 1ull << 60 | event->rma.window,
                                          .location = load->id,
                                          .call = top_node(load),
                                          .done = top_node(load),
                                          .root = CTS_PATH_NONE,
                                          .shape = CTS_PATH_SHAPE_ALL});
}

static void on_thread_event(struct load *load, const struct cts_timeline_event *event,
                            uint64_t time_ns)
{
    uint32_t node = (uint32_t)load->location->count;
    if (event->kind == CTS_EVENT_THREAD_WAIT)
        node = top_node(load);
    else if (event->kind != CTS_EVENT_THREAD_BEGIN)
        node = node ? node - 1 : CTS_PATH_NONE;
    const uint64_t key =
        (uint64_t)event->thread.communicator << 32 | (uint32_t)event->thread.sequence;
    (void)APPEND(load, thread_events,
                 (struct cts_path_thread_event){time_ns, key, event->kind, node});
}

static bool needs_call(enum cts_timeline_event_kind kind)
{
    return kind >= CTS_EVENT_MPI_SEND && kind <= CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE;
}

static void on_other(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns,
                     const struct cts_event_attributes *attributes)
{
    struct cts_path_location *const at = load->location;
    const uint32_t last = at->count ? (uint32_t)at->count - 1 : CTS_PATH_NONE;
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
    case CTS_EVENT_RMA_COLLECTIVE_END:
        on_window_collective(load, event);
        break;
    case CTS_EVENT_RMA_GET:
    case CTS_EVENT_RMA_PUT:
        if (at->stream) begin_copy(load, event, time_ns, attributes);
        break;
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING:
        if (at->stream) end_copy(load, event, time_ns);
        break;
    case CTS_EVENT_THREAD_FORK:
        (void)APPEND(load, forks, (struct cts_path_fork){time_ns, 0, last});
        break;
    case CTS_EVENT_THREAD_TEAM_BEGIN:
        begin_team(load, time_ns, 0, event->thread.communicator, (uint32_t)at->count);
        break;
    case CTS_EVENT_THREAD_TEAM_END:
        end_team(load);
        break;
    case CTS_EVENT_THREAD_CREATE:
    case CTS_EVENT_THREAD_BEGIN:
    case CTS_EVENT_THREAD_WAIT:
    case CTS_EVENT_THREAD_END:
        on_thread_event(load, event, time_ns);
        break;
    case CTS_EVENT_BUFFER_FLUSH:
        if (enter(load, time_ns, load->graph->pseudo + CTS_PATH_FLUSH)) {
            const uint64_t end_ns = event->flush.end_ns > time_ns ? event->flush.end_ns : time_ns;
            load->last_ns = end_ns;
            (void)leave(load, load->stack.count - 1, end_ns);
        }
        break;
    default:
        break;
    }
}

static bool on_event(void *state, uint32_t id, const struct cts_timeline_event *event,
                     const struct cts_event_attributes *attributes)
{
    struct load *const load = state;
    (void)id;
    load->event_count++;
    uint64_t time_ns = event->time_ns;
    if (load->has_event && time_ns < load->last_ns) {
        load->warnings[CTS_PATH_WARNING_CLOCK_BACK]++;
        time_ns = load->last_ns;
    }
    load->has_event = true;
    load->last_ns = time_ns;
    if (event->kind == CTS_EVENT_ENTER)
        on_enter(load, event, time_ns, attributes);
    else if (event->kind == CTS_EVENT_LEAVE)
        on_leave(load, event, time_ns, attributes);
    else if (needs_call(event->kind) && !load->stack.count)
        load->warnings[CTS_PATH_WARNING_OUTSIDE_CALL]++;
    else
        on_other(load, event, time_ns, attributes);
    return load->status == CTS_OK;
}

/* ---- a location ---- */

static void end_location(struct load *load)
{
    while (load->stack.count && !load->status) {
        load->warnings[CTS_PATH_WARNING_ENTER_WITHOUT_LEAVE]++;
        if (!leave_top(load, load->last_ns)) return;
    }
    load->warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST] += load->request_count;
}

/* The i-th collective of a communicator is the same one everywhere, in the order of beginning. */
static void number_members(struct load *load)
{
    struct cts_map counts = {0};
    for (size_t i = 0; i < load->raw->members.count && !load->status; i++) {
        struct cts_path_member *const member = &load->raw->members.items[i];
        if (member->key == UINT64_MAX) continue;
        uint64_t *const count = cts_map_at(&counts, member->key, load->error);
        if (!count)
            load->status = CTS_MEMORY;
        else
            member->order = (uint32_t)(*count)++;
    }
    cts_map_release(&counts);
}

static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;

static void add_totals(const struct load *load)
{
    struct cts_path_graph *const graph = load->graph;
    const struct cts_path_location *const at = load->location;
    pthread_mutex_lock(&totals_lock);
    for (uint32_t i = 0; i < graph->region_count; i++) {
        if (!load->rows[i].calls) continue;
        struct cts_path_row *const row = &graph->rows[i];
        row->calls += load->rows[i].calls;
        row->inclusive_ns += load->rows[i].inclusive_ns;
        row->exclusive_ns += load->rows[i].exclusive_ns;
        if (at->stream) row->where = CTS_PATH_ON_DEVICE;
    }
    for (unsigned i = 0; i < CTS_PATH_WARNING_COUNT; i++) graph->warnings[i] += load->warnings[i];
    graph->event_count += load->event_count;
    if (at->count) {
        if (at->time_ns[0] < graph->first_ns) graph->first_ns = at->time_ns[0];
        if (at->time_ns[at->count - 1] > graph->last_ns)
            graph->last_ns = at->time_ns[at->count - 1];
    }
    pthread_mutex_unlock(&totals_lock);
}

static enum cts_status load_location(struct cts_path_graph *graph, uint32_t id,
                                     struct cts_error *error)
{
    const struct cts_timeline_location *const definition = &graph->timeline->locations[id];
    struct load load = {.graph = graph,
                        .location = &graph->locations[id],
                        .id = id,
                        .probe = CTS_PATH_NONE,
                        .error = error};
    load.raw = load.location->raw = cts_array_zeroed(1, sizeof *load.raw, error);
    load.rows = cts_array_zeroed(graph->region_count, sizeof *load.rows, error);
    load.open = cts_array_zeroed(graph->region_count, sizeof *load.open, error);
    if (!load.raw || !load.rows || !load.open) load.status = CTS_MEMORY;
    const uint64_t expected = definition->event_count;
    if (!load.status && expected)
        (void)reserve_nodes(&load, (size_t)(expected < RESERVE_MAX ? expected : RESERVE_MAX));
    struct cts_error damage;
    if (!load.status && graph->source->read(graph->source->state, id, on_event, &load, &damage) &&
        !load.status)
        load.warnings[CTS_PATH_WARNING_DAMAGED_LOCATION]++;
    if (!load.status) end_location(&load);
    if (!load.status) number_members(&load);
    if (!load.status) add_totals(&load);
    free(load.stack.items);
    free(load.rows);
    free(load.open);
    cts_map_release(&load.requests);
    return load.status;
}

struct loading {
    struct cts_path_graph *graph;
    uint32_t *mine;
};

static enum cts_status load_one(void *state, size_t index, struct cts_error *error)
{
    const struct loading *const loading = state;
    return load_location(loading->graph, loading->mine[index], error);
}

enum cts_status cts_path_load(struct cts_path_graph *graph, struct cts_error *error)
{
    struct loading loading = {.graph = graph};
    loading.mine = cts_array_zeroed(graph->location_count, sizeof *loading.mine, error);
    if (!loading.mine) return CTS_MEMORY;
    size_t count = 0;
    for (uint32_t i = 0; i < graph->location_count; i++) {
        const enum cts_location_kind kind = graph->timeline->locations[i].kind;
        if (kind != CTS_LOCATION_METRIC && cts_path_is_mine(graph, i)) loading.mine[count++] = i;
    }
    const enum cts_status status = cts_path_for_each(graph, count, load_one, &loading, error);
    free(loading.mine);
    return status;
}
