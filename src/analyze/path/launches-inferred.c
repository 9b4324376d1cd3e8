/* Launches that the trace does not hold: filters leave them out, or the recording was cut.
 *
 * Whose launch it was: the thread that makes the calls of the device's API; of several threads the
 * one whose calls name the stream. When it was, at the latest:
 *
 *     host    ---- work ----|== synchronise ==|---- work ----
 *     stream        [  a  ] [ b ][ c ]             [ d ]
 *
 *     d   the thread runs something else when it begins: then, since nothing earlier holds it
 *     a   likewise
 *     b   the thread waits within a call: before that call
 *     c   follows b at once (or another stream's), and the thread had not synchronised in between:
 *         as b; unless b is the copy of a blocking call, from which nothing else is launched
 *
 * A launch that is inferred stands in the list of calls as a launch on that stream, so that what
 * synchronises, holds and waits sees the activity as any other. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/path-launches.h"
#include "analyze/path/raw.h"

enum { AT_ONCE_MAX_NS = 10000, AT_ONCE_TIMES = 4 };

/* Where the caller of a stream is, as the activities are gone through. */
struct caller {
    uint32_t location;            /* NONE: not known */
    uint32_t activity;            /* the next one of the stream */
    size_t next;                  /* in device->calls: begins after the time looked at */
    const struct cts_path_op *in; /* the last that has begun */
    uint64_t synced_ns;           /* leave of the last synchronisation that is over */
};

struct guess {
    struct cts_path_device *device;
    struct caller *callers; /* [stream] */
    uint64_t at_once_ns;    /* a gap up to this is none */
    size_t count;           /* ops made */
};

static bool is_free(const struct cts_path_activity *activity)
{
    return activity->host == CTS_PATH_NONE;
}

static const struct cts_path_location *at_of(const struct guess *guess,
                                             const struct cts_path_stream *stream)
{
    return &guess->device->graph->locations[stream->location];
}

/* ---- whose launches ---- */

/* The one location that all calls have, or all that name the stream; NONE: several, or none. */
static uint32_t caller_of(const struct cts_path_device *device, uint32_t stream)
{
    uint32_t any = CTS_PATH_NONE, named = CTS_PATH_NONE;
    bool several = false, several_named = false;
    for (size_t i = 0; i < device->call_count; i++) {
        const struct cts_path_call *const call = &device->calls[i];
        several |= any != CTS_PATH_NONE && any != call->location;
        any = call->location;
        if (call->op->stream != stream && call->stream != stream) continue;
        several_named |= named != CTS_PATH_NONE && named != call->location;
        named = call->location;
    }
    if (!several) return any;
    return several_named ? CTS_PATH_NONE : named;
}

/* ---- when ---- */

static bool blocks(const struct cts_path_op *op)
{
    switch (op->api) {
    case CTS_PATH_API_SYNC_DEVICE:
    case CTS_PATH_API_SYNC_CONTEXT:
    case CTS_PATH_API_SYNC_STREAM:
    case CTS_PATH_API_SYNC_EVENT:
    case CTS_PATH_API_QUERY_STREAM:
    case CTS_PATH_API_QUERY_EVENT:
    case CTS_PATH_API_COPY:
    case CTS_PATH_API_MEMSET:
    case CTS_PATH_API_ALLOC:
        return true;
    default:
        return false;
    }
}

static bool covers(const struct cts_path_op *op, uint32_t stream)
{
    return op->api == CTS_PATH_API_SYNC_DEVICE || op->api == CTS_PATH_API_SYNC_CONTEXT ||
           ((op->api == CTS_PATH_API_SYNC_STREAM || op->api == CTS_PATH_API_COPY) &&
            (op->stream == stream || op->stream == CTS_PATH_NONE));
}

static void advance(const struct guess *guess, const struct cts_path_stream *stream,
                    struct caller *caller, uint64_t time_ns)
{
    const struct cts_path_device *const device = guess->device;
    const uint64_t *const t = device->graph->locations[caller->location].time_ns;
    for (; caller->next < device->call_count; caller->next++) {
        const struct cts_path_call *const call = &device->calls[caller->next];
        if (call->location != caller->location) continue;
        if (t[call->op->enter] > time_ns) break;
        if (caller->in && covers(caller->in, stream->location) &&
            t[caller->in->leave] > caller->synced_ns)
            caller->synced_ns = t[caller->in->leave];
        caller->in = call->op;
    }
    if (caller->in && covers(caller->in, stream->location) && t[caller->in->leave] <= time_ns &&
        t[caller->in->leave] > caller->synced_ns)
        caller->synced_ns = t[caller->in->leave];
}

/* What ended last before a time, on any stream of the process; NULL. */
static const struct cts_path_activity *last_ended(const struct guess *guess, uint64_t time_ns,
                                                  uint64_t *end_ns)
{
    const struct cts_path_activity *last = NULL;
    *end_ns = 0;
    for (uint32_t s = 0; s < guess->device->stream_count; s++) {
        const struct cts_path_location *const at = at_of(guess, &guess->device->streams[s]);
        for (uint32_t i = guess->callers[s].activity; i-- > 0;) {
            const uint64_t ended_ns = at->time_ns[at->activities.items[i].end];
            if (ended_ns > time_ns) continue;
            if (ended_ns >= *end_ns) {
                *end_ns = ended_ns;
                last = &at->activities.items[i];
            }
            break;
        }
    }
    return last;
}

/* Whether a blocking call launched the activity, and has returned. */
static bool has_returned(const struct guess *guess, const struct cts_path_activity *activity,
                         uint64_t time_ns)
{
    const struct cts_path_graph *const graph = guess->device->graph;
    const struct cts_path_location *const host = &graph->locations[activity->host];
    if (host->region[activity->launch] & CTS_PATH_LEAVE) return false;
    const struct cts_path_region *const call =
        &graph->system->regions[host->region[activity->launch]];
    return call->kind == CTS_PATH_API &&
           (call->api == CTS_PATH_API_COPY || call->api == CTS_PATH_API_MEMSET) &&
           host->time_ns[cts_path_leave_of(host, activity->launch)] <= time_ns;
}

/* Fills host, launch and launched_ns; false: the thread had not begun. */
static bool place(const struct guess *guess, const struct caller *caller,
                  const struct cts_path_location *at, uint32_t index)
{
    const struct cts_path_location *const host = &guess->device->graph->locations[caller->location];
    struct cts_path_activity *const activity = &at->activities.items[index];
    const uint64_t begin_ns = at->time_ns[activity->begin];
    uint64_t before_ns;
    const struct cts_path_activity *const before = last_ended(guess, begin_ns, &before_ns);
    if (before && before->host == caller->location && begin_ns - before_ns <= guess->at_once_ns &&
        caller->synced_ns < before_ns && !has_returned(guess, before, begin_ns)) {
        activity->launch = before->launch;
        activity->launched_ns = before->launched_ns;
    } else if (caller->in && blocks(caller->in) && host->time_ns[caller->in->leave] > begin_ns) {
        activity->launch = caller->in->enter;
        activity->launched_ns = host->time_ns[caller->in->enter];
    } else {
        activity->launch = cts_path_node_at(host, begin_ns);
        activity->launched_ns = begin_ns;
    }
    if (activity->launch == CTS_PATH_NONE) return false;
    activity->host = caller->location;
    return true;
}

/* ---- as calls ---- */

static void add_call(struct guess *guess, const struct cts_path_stream *stream, uint32_t index)
{
    struct cts_path_device *const device = guess->device;
    const struct cts_path_activity *const activity = &at_of(guess, stream)->activities.items[index];
    struct cts_path_op *const op = &device->inferred[guess->count++];
    *op = (struct cts_path_op){.enter = activity->launch,
                               .leave = activity->launch,
                               .stream = stream->location,
                               .api = CTS_PATH_API_LAUNCH};
    device->calls[device->call_count + guess->count - 1] =
        (struct cts_path_call){.op = op,
                               .deadline_ns = UINT64_MAX,
                               .location = activity->host,
                               .stream = stream->location,
                               .activity = index,
                               .inferred = true};
}

/* All streams' activities by their begin. */
static void infer(struct guess *guess)
{
    const struct cts_path_device *const device = guess->device;
    for (;;) {
        uint32_t first = CTS_PATH_NONE;
        uint64_t first_ns = UINT64_MAX;
        for (uint32_t s = 0; s < device->stream_count; s++) {
            const struct cts_path_location *const at = at_of(guess, &device->streams[s]);
            const uint32_t index = guess->callers[s].activity;
            if (index >= at->activities.count) continue;
            const uint64_t begin_ns = at->time_ns[at->activities.items[index].begin];
            if (begin_ns >= first_ns) continue;
            first_ns = begin_ns;
            first = s;
        }
        if (first == CTS_PATH_NONE) return;
        struct caller *const caller = &guess->callers[first];
        const struct cts_path_stream *const stream = &device->streams[first];
        const struct cts_path_location *const at = at_of(guess, stream);
        const uint32_t index = caller->activity++;
        if (caller->location == CTS_PATH_NONE) continue;
        advance(guess, stream, caller, first_ns);
        if (is_free(&at->activities.items[index]) && place(guess, caller, at, index))
            add_call(guess, stream, index);
    }
}

/* The least gap between activities of a stream is what none costs. */
static uint64_t find_at_once(const struct guess *guess)
{
    uint64_t least_ns = AT_ONCE_MAX_NS / AT_ONCE_TIMES;
    for (uint32_t s = 0; s < guess->device->stream_count; s++) {
        const struct cts_path_location *const at = at_of(guess, &guess->device->streams[s]);
        for (size_t i = 1; i < at->activities.count; i++) {
            const uint64_t before_ns = at->time_ns[at->activities.items[i - 1].end];
            const uint64_t begin_ns = at->time_ns[at->activities.items[i].begin];
            if (begin_ns >= before_ns && begin_ns - before_ns < least_ns)
                least_ns = begin_ns - before_ns;
        }
    }
    return least_ns * AT_ONCE_TIMES;
}

enum cts_status cts_path_infer_launches(struct cts_path_device *device, struct cts_error *error)
{
    struct guess guess = {.device = device};
    size_t free_count = 0;
    for (uint32_t s = 0; s < device->stream_count; s++) {
        const struct cts_path_location *const at = at_of(&guess, &device->streams[s]);
        for (size_t i = 0; i < at->activities.count; i++)
            free_count += is_free(&at->activities.items[i]);
    }
    if (!free_count || !device->call_count) return CTS_OK;
    struct cts_path_call *const calls =
        cts_array_zeroed(device->call_count + free_count, sizeof *calls, error);
    device->inferred = cts_array_zeroed(free_count, sizeof *device->inferred, error);
    guess.callers = cts_array_zeroed(device->stream_count, sizeof *guess.callers, error);
    if (!calls || !device->inferred || !guess.callers) {
        free(calls);
        free(guess.callers);
        return CTS_MEMORY;
    }
    memcpy(calls, device->calls, device->call_count * sizeof *calls);
    free(device->calls);
    device->calls = calls;
    guess.at_once_ns = find_at_once(&guess);
    for (uint32_t s = 0; s < device->stream_count; s++)
        guess.callers[s].location = caller_of(device, device->streams[s].location);
    infer(&guess);
    free(guess.callers);
    device->call_count += guess.count;
    cts_path_warn(device->graph, CTS_PATH_WARNING_WORK_INFERRED, guess.count);
    return CTS_OK;
}
