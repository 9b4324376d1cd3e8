/* NullStream: the null stream and the blocking streams of its device take turns: work of the null
 * stream is held by all work launched into them before it, and theirs by the null stream's.
 * Paper 3.3.4 (NullStreamPattern). Non-blocking streams take no part.
 *
 *     [max(end of the activity before, launch of the held work), end of the last of that work)
 *                                                                          on the device
 *
 * Culprits: the streams that hold it, while that work runs. */
#include "analyze/path/rule.h"

/* Only what no launch before follows already. */
static enum cts_status holds(struct cts_path_device *device, struct cts_path_stream *stream,
                             struct cts_path_marks *marks, struct cts_error *error)
{
    struct cts_path_stream *const null = stream->null;
    if (!null) return CTS_OK;
    if (null != stream) {
        if (stream->non_blocking || stream->null_seen >= null->launched) return CTS_OK;
        stream->null_seen = null->launched;
        return cts_path_await_work(device, marks, null, null->launched, error);
    }
    for (uint32_t s = 0; s < device->stream_count; s++) {
        struct cts_path_stream *const other = &device->streams[s];
        if (other == stream || other->device != stream->device || other->non_blocking ||
            other->seen_by_null >= other->launched)
            continue;
        other->seen_by_null = other->launched;
        if (cts_path_await_work(device, marks, other, other->launched, error)) return CTS_MEMORY;
    }
    return CTS_OK;
}

const struct cts_path_rule cts_path_rule_null_stream = {.holds = holds};
