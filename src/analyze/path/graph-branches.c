/* The branches of a graph launch. Recordings say which launch an activity belongs to and on which
 * stream it ran, but not the graph's edges. So these are inferred from times:
 *
 *      stream A   |--- a ---|            |-- join --|
 *      stream B   |------- b -------|
 *                           |- waited -|
 *
 * Activities on one stream follow each other. Activities on different streams are independent
 * unless one began when another one had just ended: that is, it began later after the one before it
 * on its own stream than after that other one. Then it follows the last one on each stream that had
 * ended, as a join does. What has nothing of its graph before it follows what the launch follows.
 */
#include "analyze/path/graph-branches.h"

#include <stdlib.h>

#include "analyze/path/rule.h"

static int by_begin(const void *left, const void *right)
{
    const struct cts_path_part *const a = left, *const b = right;
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->stream != b->stream) return a->stream < b->stream ? -1 : 1;
    return (a->activity > b->activity) - (a->activity < b->activity);
}

static enum cts_status add_part(const struct cts_path_location *at, uint32_t stream, uint32_t index,
                                struct cts_path_parts *parts, struct cts_error *error)
{
    const struct cts_path_activity *const activity = &at->activities.items[index];
    if (CTS_ARRAY_RESERVE(parts, parts->count + 1, error)) return CTS_MEMORY;
    parts->items[parts->count++] = (struct cts_path_part){
        at->time_ns[activity->begin], at->time_ns[activity->end], stream, index};
    return CTS_OK;
}

/* Those of one stream. Activities of earlier launches are passed for good. */
static enum cts_status stream_parts(struct cts_path_device *device,
                                    const struct cts_path_call *call, uint32_t index,
                                    struct cts_path_parts *parts, struct cts_error *error)
{
    struct cts_path_stream *const stream = &device->streams[index];
    const struct cts_path_location *const at = &device->graph->locations[stream->location];
    const uint64_t enter_ns = device->graph->locations[call->location].time_ns[call->op->enter];
    const size_t known = parts->count;
    stream->part_next = stream->part_ended = 0;
    for (; stream->parted < at->activities.count; stream->parted++) {
        const struct cts_path_activity *const activity = &at->activities.items[stream->parted];
        if (activity->host == CTS_PATH_NONE) continue;
        if (activity->host == call->location && activity->launch == call->op->enter) {
            if (parts->count == known) stream->part_next = stream->parted;
            if (add_part(at, index, stream->parted, parts, error)) return CTS_MEMORY;
            stream->part_end = stream->parted + 1;
            continue;
        }
        if (device->graph->locations[activity->host].time_ns[activity->launch] >= enter_ns) break;
    }
    if (parts->count == known) stream->part_end = 0;
    parts->stream_count += parts->count > known;
    return CTS_OK;
}

enum cts_status cts_path_graph_parts(struct cts_path_device *device,
                                     const struct cts_path_call *call, struct cts_path_parts *parts,
                                     struct cts_error *error)
{
    parts->count = 0;
    parts->stream_count = 0;
    for (uint32_t s = 0; s < device->stream_count; s++)
        if (stream_parts(device, call, s, parts, error)) return CTS_MEMORY;
    if (parts->stream_count > 1) qsort(parts->items, parts->count, sizeof *parts->items, by_begin);
    return CTS_OK;
}

static uint64_t end_of(const struct cts_path_location *at, uint32_t activity)
{
    return at->time_ns[at->activities.items[activity].end];
}

/* When the last part of a stream that had ended by a time ended; 0: none had. Times must ascend. */
static uint64_t ended_before(const struct cts_path_device *device, uint32_t index, uint64_t time_ns)
{
    struct cts_path_stream *const stream = &device->streams[index];
    const struct cts_path_location *const at = &device->graph->locations[stream->location];
    while (stream->part_next < stream->part_end && end_of(at, stream->part_next) <= time_ns)
        stream->part_ended = ++stream->part_next;
    return stream->part_ended ? end_of(at, stream->part_ended - 1) : 0;
}

enum cts_status cts_path_part_follows(struct cts_path_device *device,
                                      const struct cts_path_parts *parts, size_t index,
                                      struct cts_path_marks *marks, struct cts_error *error)
{
    const struct cts_path_part *const part = &parts->items[index];
    const uint64_t own_ns = ended_before(device, part->stream, part->begin_ns);
    uint64_t latest_ns = 0;
    for (uint32_t s = 0; s < device->stream_count; s++) {
        const uint64_t end_ns = s == part->stream ? 0 : ended_before(device, s, part->begin_ns);
        if (end_ns > latest_ns) latest_ns = end_ns;
    }
    if (!own_ns && !latest_ns) { /* it begins the graph */
        for (size_t i = 0; i < parts->before.count; i++)
            if (parts->before.items[i].stream != part->stream &&
                cts_path_await_work(device, marks, &device->streams[parts->before.items[i].stream],
                                    parts->before.items[i].launched, error))
                return CTS_MEMORY;
        return CTS_OK;
    }
    if (latest_ns <= own_ns || (own_ns && latest_ns - own_ns <= part->begin_ns - latest_ns))
        return CTS_OK;
    cts_path_warn(device->graph, CTS_PATH_WARNING_GRAPH_INFERRED, 1);
    for (uint32_t s = 0; s < device->stream_count; s++)
        if (s != part->stream && device->streams[s].part_ended &&
            cts_path_await_work(device, marks, &device->streams[s], device->streams[s].part_ended,
                                error))
            return CTS_MEMORY;
    return CTS_OK;
}
