/* Regions that are entered and left: calls of the device's API, teams of threads and their
 * barriers, MPI_Init and MPI_Finalize. */
#include <string.h>

#include "analyze/path/api.h"
#include "analyze/path/load.h"
#include "analyze/path/scan.h"

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
    const struct cts_path_region *const region = &load->system->regions[frame->region];
    const bool outer = load->has_call && load->last_call > frame->node &&
                       same_meaning(load->last_api, region->api);
    if (!outer) {
        load->has_call = true;
        load->last_call = frame->node;
        load->last_api = region->api;
    }
    if (load->scan) {
        if (!outer) cts_scan_call(load, frame);
        return;
    }
    if (outer) {
        struct cts_path_op *const last = &load->raw->ops.items[load->raw->ops.count - 1];
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

void cts_load_begin_team(struct load *load, uint64_t time_ns, uint64_t id, uint32_t communicator,
                         uint32_t node)
{
    if (load->scan) {
        load->team_depth++;
        return;
    }
    if (!APPEND(load, teams,
                (struct cts_path_team){
                    .begin_ns = time_ns, .id = id, .communicator = communicator, .node = node}))
        return;
    if (load->team_depth < TEAM_DEPTH_MAX)
        load->teams[load->team_depth] =
            (struct team_frame){.team = (uint32_t)load->raw->teams.count - 1};
    load->team_depth++;
}

void cts_load_end_team(struct load *load, uint64_t time_ns)
{
    if (!load->team_depth) return;
    load->team_depth--;
    if (load->raw && load->team_depth < TEAM_DEPTH_MAX)
        load->raw->teams.items[load->teams[load->team_depth].team].end_ns = time_ns;
}

static void add_barrier(struct load *load, uint32_t call)
{
    if (load->scan || !load->team_depth || load->team_depth > TEAM_DEPTH_MAX) return;
    struct team_frame *const team = &load->teams[load->team_depth - 1];
    (void)APPEND(
        load, barriers,
        (struct cts_path_barrier){.team = team->team, .order = team->barriers++, .call = call});
}

/* The node releases others, or it is the enter of a call that goes on when it was released. */
static void note_release(struct load *load, const struct cts_event_attributes *attributes,
                         uint32_t node, uint32_t call)
{
    const uint32_t both = 1u << CTS_ATTRIBUTE_RELEASE | 1u << CTS_ATTRIBUTE_RELEASED_BY;
    if (!attributes || !(attributes->present & both)) return;
    const uint64_t *const values = attributes->values;
    if (load->scan) cts_scan_spoil(load);
    if (attributes->present & 1u << CTS_ATTRIBUTE_RELEASE)
        (void)APPEND(load, handovers,
                     (struct cts_path_handover){values[CTS_ATTRIBUTE_RELEASE], node, false});
    if (attributes->present & 1u << CTS_ATTRIBUTE_RELEASED_BY)
        (void)APPEND(load, handovers,
                     (struct cts_path_handover){values[CTS_ATTRIBUTE_RELEASED_BY], call, true});
}

/* ---- enter and leave ---- */

/* The id that OMPT gives a parallel region; 0: none. */
static uint64_t parallel_id(const struct cts_event_attributes *attributes)
{
    return attributes && attributes->present & 1u << CTS_ATTRIBUTE_PARALLEL_REGION
               ? attributes->values[CTS_ATTRIBUTE_PARALLEL_REGION]
               : 0;
}

static bool is_finalize(const struct load *load, uint32_t region)
{
    return strstr(load->system->regions[region].name, "Finalize") != NULL;
}

void cts_load_on_enter(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns,
                       const struct cts_event_attributes *attributes)
{
    if (event->region >= load->system->pseudo) {
        load->counts.warnings[CTS_PATH_WARNING_UNKNOWN_REGION]++;
        return;
    }
    struct frame *const frame = cts_load_enter(load, time_ns, event->region);
    if (!frame) return;
    if (load->who->stream) {
        cts_load_begin_activity(load, frame, attributes);
        return;
    }
    const struct cts_path_region *const region = &load->system->regions[event->region];
    note_release(load, attributes, frame->node, frame->node);
    if (attributes && attributes->present & 1u << CTS_ATTRIBUTE_COMMUNICATOR)
        frame->communicator = attributes->values[CTS_ATTRIBUTE_COMMUNICATOR];
    if (load->scan) cts_scan_entered(load, frame);
    switch (region->kind) {
    case CTS_PATH_ALL:
        if (!is_finalize(load, event->region) && time_ns < load->counts.mpi_begin_ns)
            load->counts.mpi_begin_ns = time_ns;
        break;
    case CTS_PATH_API:
        note_attributes(frame, attributes);
        break;
    case CTS_PATH_PROBE:
        load->probe = frame->node;
        break;
    case CTS_PATH_TASK:
        cts_load_begin_team(load, time_ns, parallel_id(attributes), CTS_PATH_NONE, frame->node);
        break;
    case CTS_PATH_PLAIN: /* OMPT's parallel region: it has an id, whatever its role */
        frame->parallel = parallel_id(attributes) != 0;
        if (frame->parallel)
            (void)APPEND(load, forks,
                         (struct cts_path_fork){time_ns, parallel_id(attributes), frame->node});
        break;
    default:
        break;
    }
}

/* A region that MPI_Init or MPI_Finalize names: all processes together, as far as times show it. */
static void add_all(struct load *load, const struct frame *frame, uint64_t leave_ns)
{
    const bool finalize = is_finalize(load, frame->region);
    if (finalize) load->counts.mpi_end_ns = leave_ns;
    cts_load_add_member(load, &(struct cts_path_member){.enter_ns = frame->enter_ns,
                                                        .key = 3ull << 60 | finalize,
                                                        .location = load->id,
                                                        .call = frame->node,
                                                        .done = frame->node,
                                                        .root = CTS_PATH_NONE,
                                                        .shape = CTS_PATH_SHAPE_SEEN});
}

static void after_leave(struct load *load, const struct frame *frame, uint32_t leave_node,
                        uint64_t leave_ns)
{
    if (frame->communicator)
        (void)APPEND(
            load, collective_calls,
            (struct cts_path_collective_call){frame->communicator, frame->node, leave_node});
    switch (load->system->regions[frame->region].kind) {
    case CTS_PATH_API:
        add_op(load, frame, leave_node);
        break;
    case CTS_PATH_BARRIER: {
        const struct frame *const outer = cts_load_top(load);
        if (!outer || load->system->regions[outer->region].kind != CTS_PATH_BARRIER)
            add_barrier(load, frame->node);
        break;
    }
    case CTS_PATH_TASK:
        cts_load_end_team(load, leave_ns);
        break;
    case CTS_PATH_ALL:
        add_all(load, frame, leave_ns);
        break;
    default:
        break;
    }
    if (load->scan) cts_scan_left(load, frame, leave_ns);
}

bool cts_load_leave_top(struct load *load, uint64_t time_ns)
{
    const struct frame frame = *cts_load_top(load);
    if (!cts_load_leave(load, load->stack.count - 1, time_ns)) return false;
    if (!load->who->stream) after_leave(load, &frame, (uint32_t)load->location->count - 1, time_ns);
    return true;
}

void cts_load_on_leave(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns,
                       const struct cts_event_attributes *attributes)
{
    if (event->region >= load->system->pseudo) {
        load->counts.warnings[CTS_PATH_WARNING_UNKNOWN_REGION]++;
        return;
    }
    if (!load->open[event->region]) {
        load->counts.warnings[CTS_PATH_WARNING_LEAVE_WITHOUT_ENTER]++;
        return;
    }
    if (load->who->stream) { /* wherever it stands */
        size_t index = load->stack.count - 1;
        while (load->stack.items[index].copy || load->stack.items[index].region != event->region)
            if (index-- == 0) return;
        (void)cts_load_leave(load, index, time_ns);
        return;
    }
    while (cts_load_top(load)->region != event->region) {
        load->counts.warnings[CTS_PATH_WARNING_ENTER_WITHOUT_LEAVE]++;
        if (!cts_load_leave_top(load, time_ns)) return;
    }
    note_attributes(cts_load_top(load), attributes);
    const uint32_t call = cts_load_top_node(load);
    if (!cts_load_leave_top(load, time_ns)) return;
    const uint32_t leave = (uint32_t)load->location->count - 1;
    note_release(load, attributes, leave, call);
    if (attributes && attributes->present & 1u << CTS_ATTRIBUTE_CPU_TIME)
        (void)APPEND(load, functions,
                     (struct cts_path_thread_function){call, leave,
                                                       attributes->values[CTS_ATTRIBUTE_CPU_TIME]});
}
