/* BlameSync: an explicit synchronisation comes after all its work had ended, so that the device
 * idles until it returns. Paper 3.3.2 (BlameSyncPattern).
 *
 *     [enter, leave), or to the begin of the stream's next work     on the device
 *
 * Once per device: on the lowest of its streams that the call synchronised. Culprit: what the host
 * runs meanwhile, which is the call. */
#include "analyze/path/rule.h"

/* Whether the mark is of the lowest stream of its device that has something new. */
static bool is_lowest(const struct cts_path_sync *sync, struct cts_path_mark mark)
{
    const struct cts_path_stream *const streams = sync->device->streams;
    const struct cts_path_stream *const stream = &streams[mark.stream];
    bool lowest = stream->synced < mark.launched;
    for (size_t k = 0; k < sync->marks->count && lowest; k++) {
        const struct cts_path_stream *const other = &streams[sync->marks->items[k].stream];
        lowest = other->device != stream->device ||
                 other->synced >= sync->marks->items[k].launched || other >= stream;
    }
    return lowest;
}

static enum cts_status on_sync(const struct cts_path_sync *sync, struct cts_error *error)
{
    struct cts_path_graph *const graph = sync->device->graph;
    const struct cts_path_location *const host = &graph->locations[sync->call->location];
    const uint64_t enter_ns = host->time_ns[sync->call->op->enter];
    const uint64_t leave_ns = host->time_ns[sync->call->op->leave];
    if (!sync->explicitly || sync->latest_ns > enter_ns) return CTS_OK;
    for (size_t i = 0; i < sync->marks->count; i++) {
        const struct cts_path_mark mark = sync->marks->items[i];
        if (!is_lowest(sync, mark)) continue;
        struct cts_path_location *const at =
            &graph->locations[sync->device->streams[mark.stream].location];
        uint64_t end_ns = leave_ns;
        if (mark.launched < at->activities.count) {
            const uint64_t next_ns = at->time_ns[at->activities.items[mark.launched].begin];
            if (next_ns < end_ns) end_ns = next_ns > enter_ns ? next_ns : enter_ns;
        }
        const struct cts_path_wait wait = {.begin_ns = enter_ns,
                                           .end_ns = end_ns,
                                           .call = CTS_PATH_NONE,
                                           .leave = CTS_PATH_NONE,
                                           .pattern = CTS_PATH_PATTERN_BLAME_SYNC,
                                           .flags = CTS_PATH_NO_JUMP};
        const struct cts_path_edge edge = {leave_ns, sync->call->location, sync->call->op->enter};
        if (cts_path_add_wait(at, &wait, &edge, 1, error)) return CTS_MEMORY;
    }
    return CTS_OK;
}

const struct cts_path_rule cts_path_rule_blame_sync = {.sync = on_sync};
