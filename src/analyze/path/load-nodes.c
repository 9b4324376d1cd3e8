/* Nodes: the stack of open regions of a location, and the activities of a device stream. Streams
 * have no true stack: a copy (RMA_GET or RMA_PUT to RMA_OP_COMPLETE) may overlap a kernel, so an
 * activity is taken out wherever it stands. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/load.h"
#include "analyze/path/scan.h"
#include "trace/collectives/collective-kernels.h"

/* ---- nodes ---- */

bool cts_load_reserve(struct load *load, size_t needed)
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
    if (!load->counts.node_count++) load->counts.first_ns = time_ns;
    load->counts.last_ns = time_ns;
    if (load->scan) return (uint32_t)(load->counts.node_count - 1) & INT32_MAX;
    if (at->count == at->capacity && !cts_load_reserve(load, at->count + 1)) return CTS_PATH_NONE;
    const uint32_t node = (uint32_t)at->count++;
    at->time_ns[node] = time_ns;
    at->region[node] = region;
    at->active[node] = node;
    return node;
}

struct frame *cts_load_enter(struct load *load, uint64_t time_ns, uint32_t region)
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
    if (load->who->stream && !load->scan) {
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

/* What is counted of a call that ends now: one without length counts where it begins. */
static uint64_t count_call(struct load *load, const struct frame *frame, uint64_t time_ns)
{
    struct cts_path_time *const row = &load->counts.times[frame->region];
    uint64_t from_ns = frame->enter_ns, to_ns = time_ns;
    const bool outermost = --load->open[frame->region] == 0;
    const bool lasts = cts_path_clip(load->system, &from_ns, &to_ns);
    const bool begins =
        frame->enter_ns >= load->system->from_ns && frame->enter_ns < load->system->to_ns;
    if (!lasts && !begins) return 0;
    const uint64_t inclusive = lasts ? to_ns - from_ns : 0;
    row->calls++;
    row->exclusive_ns += inclusive - (frame->child_ns < inclusive ? frame->child_ns : inclusive);
    if (outermost) row->inclusive_ns += inclusive;
    return inclusive;
}

/* Ends frame `index`, wherever it stands in the stack. */
bool cts_load_leave(struct load *load, size_t index, uint64_t time_ns)
{
    const struct frame frame = load->stack.items[index];
    const uint32_t node = add_node(load, time_ns, frame.region | CTS_PATH_LEAVE);
    if (node == CTS_PATH_NONE) return false;
    memmove(&load->stack.items[index], &load->stack.items[index + 1],
            (load->stack.count - index - 1) * sizeof frame);
    load->stack.count--;
    const uint64_t counted_ns = count_call(load, &frame, time_ns);
    if (index) load->stack.items[index - 1].child_ns += counted_ns;
    if (load->scan) return true;
    load->location->active[node] = cts_load_top_node(load);
    if (frame.activity != CTS_PATH_NONE)
        load->location->activities.items[frame.activity].end = node;
    return true;
}

/* ---- activities of streams ---- */

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

static uint64_t attribute_or(const struct cts_event_attributes *attributes, enum cts_attribute name,
                             uint64_t otherwise)
{
    return attributes && attributes->present & 1u << name ? attributes->values[name] : otherwise;
}

/* A kernel that the attributes or its name say to be of a collective. */
static void note_collective(struct load *load, const struct frame *frame,
                            const struct cts_event_attributes *attributes)
{
    const uint64_t communicator = attribute_or(attributes, CTS_ATTRIBUTE_COMMUNICATOR, 0);
    if (!communicator && !load->system->regions[frame->region].is_collective) return;
    (void)APPEND(
        load, kernels,
        (struct cts_path_collective_kernel){
            .communicator = communicator,
            .sequence = attribute_or(attributes, CTS_ATTRIBUTE_SEQUENCE, CTS_COLLECTIVE_NUMBER),
            .bytes = attribute_or(attributes, CTS_ATTRIBUTE_BYTES, 0),
            .members = (uint32_t)attribute_or(attributes, CTS_ATTRIBUTE_MEMBERS, 0),
            .activity = frame->activity});
}

/* A device activity begins: its correlation, its grid, its collective. */
void cts_load_begin_activity(struct load *load, struct frame *frame,
                             const struct cts_event_attributes *attributes)
{
    if (attributes && attributes->present & 1u << CTS_ATTRIBUTE_CORRELATION)
        frame->reference = attributes->values[CTS_ATTRIBUTE_CORRELATION];
    if (load->scan) {
        cts_scan_activity(load, frame);
        return;
    }
    if (attributes && attributes->present & 1u << CTS_ATTRIBUTE_GRID_X)
        note_config(load, frame->activity, attributes);
    note_collective(load, frame, attributes);
    if (!frame->reference && !load->raw->correlations.count) return;
    while (load->raw->correlations.count < frame->activity)
        if (!APPEND(load, correlations, 0)) return;
    (void)APPEND(load, correlations, frame->reference);
}

/* ---- copies on a device stream ---- */

void cts_load_begin_copy(struct load *load, const struct cts_timeline_event *event,
                         uint64_t time_ns, const struct cts_event_attributes *attributes)
{
    const struct cts_timeline *const timeline = load->system->timeline;
    uint32_t kind = event->kind == CTS_EVENT_RMA_GET ? CTS_PATH_COPY_HTOD : CTS_PATH_COPY_DTOH;
    if (event->rma.window < timeline->window_count) {
        const uint32_t communicator = timeline->windows[event->rma.window].communicator;
        if (communicator < timeline->communicator_count &&
            event->rma.remote < timeline->communicators[communicator].rank_count) {
            const uint32_t remote = timeline->communicators[communicator].ranks[event->rma.remote];
            if (remote < load->system->location_count && load->system->who[remote].stream)
                kind = CTS_PATH_COPY_DTOD;
        }
    }
    struct frame *const frame = cts_load_enter(load, time_ns, load->system->pseudo + kind);
    if (!frame) return;
    frame->copy = true;
    frame->matching = event->rma.matching;
    cts_load_begin_activity(load, frame, attributes);
}

void cts_load_end_copy(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns)
{
    for (size_t i = 0; i < load->stack.count; i++)
        if (load->stack.items[i].copy && load->stack.items[i].matching == event->rma.matching) {
            (void)cts_load_leave(load, i, time_ns);
            return;
        }
    load->counts.warnings[CTS_PATH_WARNING_LEAVE_WITHOUT_ENTER]++;
}
