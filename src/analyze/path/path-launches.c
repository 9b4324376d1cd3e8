/* Which device activity belongs to which call.
 *
 * A correlation id decides where the trace has them. Else the i-th call of a kind (kernel, copy,
 * memset) that names a stream is the i-th activity of that kind on it. Where their numbers differ
 * (records were lost, graphs were launched) an activity must not begin before its call, by more
 * than clocks may differ, and must begin before the first later synchronisation that covers the
 * call returns. Calls that name no stream take, by the same rule, what is left on any stream of the
 * process. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/path-launches.h"
#include "analyze/path/steps.h"
#include "analyze/path/raw.h"
#include "common/map.h"
#include "common/promise.h"

enum { CLOCKS_DIFFER_NS = 1000 }; /* a device's from its host's, at most */

enum work { WORK_KERNEL, WORK_COPY, WORK_MEMSET, WORK_COUNT };

static bool is_memset(const struct cts_path_region *region)
{
    return region->api == CTS_PATH_API_MEMSET || region->api == CTS_PATH_API_MEMSET_ASYNC;
}

static enum work work_of_activity(const struct cts_path_graph *graph, uint32_t region)
{
    if (region >= graph->system->pseudo) return WORK_COPY;
    return is_memset(&graph->system->regions[region]) ? WORK_MEMSET : WORK_KERNEL;
}

static enum work work_of_call(const struct cts_path_op *op)
{
    switch (op->api) {
    case CTS_PATH_API_COPY:
    case CTS_PATH_API_COPY_ASYNC:
        return WORK_COPY;
    case CTS_PATH_API_MEMSET:
    case CTS_PATH_API_MEMSET_ASYNC:
        return WORK_MEMSET;
    case CTS_PATH_API_LAUNCH:
    case CTS_PATH_API_GRAPH_LAUNCH:
        return WORK_KERNEL;
    default:
        return WORK_COUNT;
    }
}

static bool same_direction(const struct cts_path_graph *graph, const struct cts_path_op *op,
                           uint32_t region)
{
    if (op->direction == CTS_PATH_ANY || region < graph->system->pseudo) return true;
    const uint32_t pseudo = region - graph->system->pseudo;
    return (op->direction == CTS_PATH_HTOD && pseudo == CTS_PATH_COPY_HTOD) ||
           (op->direction == CTS_PATH_DTOH && pseudo == CTS_PATH_COPY_DTOH) ||
           op->direction == CTS_PATH_DTOD;
}

static void join(struct cts_path_device *device, struct cts_path_call *call, uint32_t stream,
                 uint32_t index)
{
    struct cts_path_graph *const graph = device->graph;
    struct cts_path_location *const at = &graph->locations[stream];
    assert(index < at->activities.count);
    const struct cts_path_location *const host = &graph->locations[call->location];
    struct cts_path_activity *const activity = &at->activities.items[index];
    const struct cts_path_op *const op = call->op;
    const uint64_t begin_ns = at->time_ns[activity->begin];
    activity->host = call->location;
    activity->launch = op->enter;
    activity->launched_ns = host->time_ns[op->leave];
    if (activity->launched_ns > begin_ns) activity->launched_ns = begin_ns;
    if (begin_ns < host->time_ns[op->enter])
        cts_path_warn(graph, CTS_PATH_WARNING_WORK_BEFORE_LAUNCH, 1);
    if (call->stream == op->stream && stream != op->stream && op->stream != CTS_PATH_NONE)
        return; /* of a graph's streams that counts into which it was launched */
    call->stream = stream;
    call->activity = index;
}

/* ---- deadlines ---- */

static bool covers_all(const struct cts_path_op *op)
{
    return op->api == CTS_PATH_API_SYNC_DEVICE || op->api == CTS_PATH_API_SYNC_CONTEXT ||
           (op->api == CTS_PATH_API_COPY && op->direction == CTS_PATH_DTOH &&
            op->stream == CTS_PATH_NONE);
}

/* For each call the leave of the first later synchronisation of its stream. */
static void find_deadlines(struct cts_path_device *device)
{
    uint64_t all_ns = UINT64_MAX;
    for (uint32_t s = 0; s < device->stream_count; s++) device->streams[s].deadline_ns = UINT64_MAX;
    for (size_t i = device->call_count; i-- > 0;) {
        struct cts_path_call *const call = &device->calls[i];
        const struct cts_path_op *const op = call->op;
        struct cts_path_stream *const stream = cts_path_stream_of(device, op->stream);
        call->deadline_ns = all_ns;
        if (stream && stream->deadline_ns < all_ns) call->deadline_ns = stream->deadline_ns;
        const uint64_t leave_ns = device->graph->locations[call->location].time_ns[op->leave];
        if (op->api == CTS_PATH_API_COPY && op->direction == CTS_PATH_DTOH &&
            leave_ns < call->deadline_ns)
            call->deadline_ns = leave_ns; /* its own data has arrived */
        if (covers_all(op)) all_ns = leave_ns < all_ns ? leave_ns : all_ns;
        if (stream && (op->api == CTS_PATH_API_SYNC_STREAM ||
                       (op->api == CTS_PATH_API_COPY && op->direction == CTS_PATH_DTOH)))
            stream->deadline_ns = leave_ns;
    }
}

/* ---- by correlation ---- */

static enum cts_status join_correlated(struct cts_path_device *device, struct cts_error *error)
{
    struct cts_path_graph *const graph = device->graph;
    bool any = false;
    for (uint32_t s = 0; s < device->stream_count; s++)
        any |= graph->locations[device->streams[s].location].raw->correlations.count > 0;
    if (!any) return CTS_OK;
    struct cts_map map = {0};
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < device->call_count && !status; i++) {
        const struct cts_path_op *const op = device->calls[i].op;
        const bool starts = work_of_call(op) != WORK_COUNT || op->api == CTS_PATH_API_LAUNCH_HOST;
        if (!starts || !op->reference) continue;
        uint64_t *const slot = cts_map_at(&map, op->reference, error);
        if (!slot)
            status = CTS_MEMORY;
        else
            *slot = i + 1;
    }
    for (uint32_t s = 0; s < device->stream_count && !status; s++) {
        const uint32_t id = device->streams[s].location;
        const struct cts_path_raw *const raw = graph->locations[id].raw;
        for (size_t a = 0; a < raw->correlations.count; a++) {
            if (!raw->correlations.items[a]) continue;
            const uint64_t *const slot = cts_map_find(&map, raw->correlations.items[a]);
            if (slot && *slot) join(device, &device->calls[*slot - 1], id, (uint32_t)a);
        }
    }
    cts_map_release(&map);
    return status;
}

/* ---- by order ---- */

struct queue {
    uint32_t *calls; /* indices in device->calls */
    size_t count, capacity;
    size_t head; /* the first that has no activity yet */
};

static enum cts_status push(struct queue *queue, uint32_t call, struct cts_error *error)
{
    if (queue->count == queue->capacity &&
        cts_array_grow((void **)&queue->calls, &queue->capacity, queue->count + 1,
                       sizeof *queue->calls, error))
        return CTS_MEMORY;
    queue->calls[queue->count++] = call;
    return CTS_OK;
}

static bool is_free(const struct cts_path_activity *activity)
{
    return activity->host == CTS_PATH_NONE;
}

/* The activity of a stream may belong to the call at the head; calls that it cannot belong to are
 * passed. */
static struct cts_path_call *fitting(struct cts_path_device *device, struct queue *queue,
                                     const struct cts_path_location *at,
                                     const struct cts_path_activity *activity)
{
    const uint64_t begin_ns = at->time_ns[activity->begin];
    const uint32_t region = at->region[activity->begin];
    for (; queue->head < queue->count; queue->head++) {
        struct cts_path_call *const call = &device->calls[queue->calls[queue->head]];
        const uint64_t enter_ns = device->graph->locations[call->location].time_ns[call->op->enter];
        if (begin_ns + CLOCKS_DIFFER_NS < enter_ns) return NULL; /* before any of the rest */
        const bool wrong =
            begin_ns > call->deadline_ns || !same_direction(device->graph, call->op, region);
        if (!wrong && call->op->api == CTS_PATH_API_GRAPH_LAUNCH &&
            queue->head + 1 < queue->count) {
            const struct cts_path_call *const next = &device->calls[queue->calls[queue->head + 1]];
            if (begin_ns >= device->graph->locations[next->location].time_ns[next->op->enter] &&
                call->stream != CTS_PATH_NONE)
                continue;
        }
        if (!wrong) return call;
    }
    return NULL;
}

/* Calls that named this stream. */
static void join_stream(struct cts_path_device *device, const struct cts_path_stream *stream,
                        enum work work, struct queue *queue, bool others)
{
    struct cts_path_graph *const graph = device->graph;
    struct cts_path_location *const at = &graph->locations[stream->location];
    size_t free_count = 0;
    bool graphs = false;
    for (size_t a = 0; a < at->activities.count; a++) {
        const struct cts_path_activity *const activity = &at->activities.items[a];
        free_count +=
            is_free(activity) && work_of_activity(graph, at->region[activity->begin]) == work;
    }
    for (size_t i = 0; i < queue->count; i++)
        graphs |= device->calls[queue->calls[i]].op->api == CTS_PATH_API_GRAPH_LAUNCH;
    const bool plain = free_count == queue->count && !others && !graphs;
    for (uint32_t a = 0; a < at->activities.count && queue->head < queue->count; a++) {
        const struct cts_path_activity *const activity = &at->activities.items[a];
        const uint32_t region = at->region[activity->begin];
        if (!is_free(activity) || work_of_activity(graph, region) != work) continue;
        struct cts_path_call *const call = plain ? &device->calls[queue->calls[queue->head]]
                                                 : fitting(device, queue, at, activity);
        if (!call) continue;
        join(device, call, stream->location, a);
        if (plain || call->op->api != CTS_PATH_API_GRAPH_LAUNCH) queue->head++;
    }
}

struct left_over {
    uint64_t begin_ns;
    uint32_t stream, activity; /* stream: index in device->streams */
};

static int by_begin(const void *left, const void *right)
{
    const struct left_over *const a = left, *const b = right;
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->stream != b->stream) return a->stream < b->stream ? -1 : 1;
    return (a->activity > b->activity) - (a->activity < b->activity);
}

/* Calls that named no stream: h2d and d2h copies each in their own order. */
static enum cts_status join_rest(struct cts_path_device *device, enum work work,
                                 struct queue *queue, enum cts_path_direction direction,
                                 struct cts_error *error)
{
    struct cts_path_graph *const graph = device->graph;
    CTS_PATH_LIST(struct left_over, rest) = {0};
    enum cts_status status = CTS_OK;
    for (uint32_t s = 0; s < device->stream_count && !status; s++) {
        const struct cts_path_location *const at = &graph->locations[device->streams[s].location];
        for (uint32_t a = 0; a < at->activities.count && !status; a++) {
            const struct cts_path_activity *const activity = &at->activities.items[a];
            const uint32_t region = at->region[activity->begin];
            const struct cts_path_op like = {.direction = (uint8_t)direction};
            if (!is_free(activity) || work_of_activity(graph, region) != work ||
                !same_direction(graph, &like, region))
                continue;
            status = CTS_ARRAY_RESERVE(&rest, rest.count + 1, error);
            if (!status)
                rest.items[rest.count++] = (struct left_over){at->time_ns[activity->begin], s, a};
        }
    }
    if (!status && device->stream_count > 1 && rest.count > 1)
        qsort(rest.items, rest.count, sizeof *rest.items, by_begin);
    for (size_t i = 0; i < rest.count && !status; i++) {
        const uint32_t id = device->streams[rest.items[i].stream].location;
        const struct cts_path_location *const at = &graph->locations[id];
        const struct cts_path_activity *const activity =
            &at->activities.items[rest.items[i].activity];
        struct cts_path_call *const call = fitting(device, queue, at, activity);
        if (!call) continue;
        join(device, call, id, rest.items[i].activity);
        queue->head++;
    }
    free(rest.items);
    return status;
}

/* Queues by stream, kind and direction; the last stream is 'not named'. */
static enum cts_status join_by_order(struct cts_path_device *device, struct cts_error *error)
{
    enum { DIRECTIONS = CTS_PATH_DIRECTION_COUNT };
    const size_t per_stream = WORK_COUNT, named = device->stream_count * per_stream;
    const size_t total = named + (size_t)WORK_COUNT * DIRECTIONS;
    struct queue *const queues = cts_array_zeroed(total, sizeof *queues, error);
    if (!queues) return CTS_MEMORY;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < device->call_count && !status; i++) {
        const struct cts_path_call *const call = &device->calls[i];
        const enum work work = work_of_call(call->op);
        if (work == WORK_COUNT || call->stream != CTS_PATH_NONE) continue;
        const struct cts_path_stream *const stream = cts_path_stream_of(device, call->op->stream);
        const size_t queue = stream ? (size_t)(stream - device->streams) * per_stream + work
                                    : named + (size_t)work * DIRECTIONS + call->op->direction;
        status = push(&queues[queue], (uint32_t)i, error);
    }
    for (size_t q = 0; q < named && !status; q++) {
        const enum work work = (enum work)(q % per_stream);
        bool others = false;
        for (size_t d = 0; d < DIRECTIONS; d++)
            others |= queues[named + work * DIRECTIONS + d].count > 0;
        join_stream(device, &device->streams[q / per_stream], work, &queues[q], others);
    }
    /* those that say their direction first */
    for (size_t i = 0; i < (size_t)WORK_COUNT * DIRECTIONS && !status; i++) {
        const size_t direction = (i + 1) % DIRECTIONS, work = i / DIRECTIONS;
        struct queue *const queue = &queues[named + work * DIRECTIONS + direction];
        if (queue->count)
            status = join_rest(device, (enum work)work, queue, (enum cts_path_direction)direction,
                               error);
    }
    for (size_t q = 0; q < total; q++) free(queues[q].calls);
    free(queues);
    return status;
}

enum cts_status cts_path_join_launches(struct cts_path_device *device, struct cts_error *error)
{
    find_deadlines(device);
    enum cts_status status = join_correlated(device, error);
    if (!status) status = join_by_order(device, error);
    uint64_t calls = 0, activities = 0;
    const size_t recorded = device->call_count;
    if (!status) status = cts_path_watch_tracks(device->graph, device->process, error);
    if (!status) status = cts_path_infer_launches(device, error);
    for (size_t i = 0; i < recorded; i++)
        calls += work_of_call(device->calls[i].op) != WORK_COUNT &&
                 device->calls[i].stream == CTS_PATH_NONE;
    for (uint32_t s = 0; s < device->stream_count; s++) {
        const struct cts_path_location *const at =
            &device->graph->locations[device->streams[s].location];
        for (size_t a = 0; a < at->activities.count; a++)
            activities += is_free(&at->activities.items[a]);
    }
    cts_path_warn(device->graph, CTS_PATH_WARNING_LAUNCH_WITHOUT_WORK, calls);
    cts_path_warn(device->graph, CTS_PATH_WARNING_WORK_WITHOUT_LAUNCH, activities);
    return status;
}
