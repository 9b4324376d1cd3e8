/* StreamWait: the next work of a stream behind a wait for an event (cuStreamWaitEvent) is held by
 * the work that was in the event's stream when it was recorded. Paper 3.3.4 (StreamWaitPattern).
 *
 *     [max(end of the activity before, launch of the held work), end of what was recorded)
 *                                                                          on the device
 *
 * Culprits: the streams of the events, while that work runs. */
#include "analyze/path/rule.h"

static enum cts_status holds(struct cts_path_device *device, struct cts_path_stream *stream,
                             struct cts_path_marks *marks, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < stream->held.count && !status; i++) {
        const struct cts_path_mark mark = stream->held.items[i];
        const struct cts_path_stream *const other = &device->streams[mark.stream];
        if (other != stream)
            status = cts_path_await_work(device, marks, other, mark.launched, error);
    }
    stream->held.count = 0;
    return status;
}

const struct cts_path_rule cts_path_rule_stream_wait = {.holds = holds};
