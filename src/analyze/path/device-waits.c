/* Waits for and on device streams: the calls of a process in the order of time, and what each makes
 * of the streams' states.
 *
 * A stream's state is how much of its work has been launched and how much the host knows to be
 * done. A synchronisation awaits what is launched and not known; a stream wait or the null stream
 * holds the next activity that is launched behind it. What of this is a wait, of what and how long,
 * is said by the rules (offer.h): one sweep finds the occasions for all of them. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/graph-branches.h"
#include "analyze/path/path-launches.h"
#include "analyze/path/offer.h"
#include "analyze/path/steps.h"
#include "common/map.h"
#include "common/promise.h"

struct event_state {
    struct cts_path_mark mark; /* stream: index in device->streams */
    uint32_t failed;           /* chain of failed queries: index + 1 */
};

struct query {
    struct cts_path_mark mark;
    uint32_t location, enter, leave;
    uint32_t next; /* index + 1 */
};

struct replay {
    struct cts_path_device *device;
    struct cts_path_graph *graph;
    struct cts_map events; /* reference: index + 1 in `states` */
    struct cts_map *known; /* events of stretches before; NULL */
    CTS_PATH_LIST(struct event_state, states);
    CTS_PATH_LIST(struct query, queries);
    struct cts_path_marks marks; /* what the call at hand awaits */
    struct cts_path_parts parts; /* of the graph launch at hand */
    struct cts_path_edges edges;
    uint64_t unknown_events, unknown_streams;
};

/* ---- what is awaited ---- */

static enum cts_status await(struct replay *r, const struct cts_path_stream *stream,
                             uint32_t launched, struct cts_error *error)
{
    return cts_path_await_work(r->device, &r->marks, stream, launched, error);
}

static struct cts_path_edge edge_of(const struct replay *r, struct cts_path_mark mark)
{
    assert(mark.stream < r->device->stream_count && mark.launched);
    const uint32_t location = r->device->streams[mark.stream].location;
    const struct cts_path_location *const at = &r->graph->locations[location];
    const uint32_t end = at->activities.items[mark.launched - 1].end;
    return (struct cts_path_edge){at->time_ns[end], location, end};
}

/* The marks as edges; the latest end, 0 if there are none. */
static enum cts_status make_edges(struct replay *r, uint64_t *latest_ns, struct cts_error *error)
{
    *latest_ns = 0;
    r->edges.count = 0;
    if (CTS_ARRAY_RESERVE(&r->edges, r->marks.count, error)) return CTS_MEMORY;
    for (size_t i = 0; i < r->marks.count; i++) {
        const struct cts_path_edge edge = edge_of(r, r->marks.items[i]);
        if (edge.source_ns > *latest_ns) *latest_ns = edge.source_ns;
        r->edges.items[r->edges.count++] = edge;
    }
    return CTS_OK;
}

static void mark_known(struct replay *r)
{
    for (size_t i = 0; i < r->marks.count; i++) {
        struct cts_path_stream *const stream = &r->device->streams[r->marks.items[i].stream];
        if (stream->synced < r->marks.items[i].launched)
            stream->synced = r->marks.items[i].launched;
    }
}

static bool anything_new(const struct replay *r)
{
    for (size_t i = 0; i < r->marks.count; i++)
        if (r->device->streams[r->marks.items[i].stream].synced < r->marks.items[i].launched)
            return true;
    return false;
}

/* All streams of the process; of several devices those that are done when the call returns, since
 * the call names none. */
static enum cts_status await_device(struct replay *r, uint64_t leave_ns, struct cts_error *error)
{
    const struct cts_path_device *const device = r->device;
    bool several = false, any = false;
    for (uint32_t s = 1; s < device->stream_count; s++)
        several |= device->streams[s].device != device->streams[0].device;
    for (unsigned pass = 0; pass < 2 && !any; pass++)
        for (uint32_t s = 0; s < device->stream_count; s++) {
            const struct cts_path_stream *const stream = &device->streams[s];
            if (stream->synced >= stream->launched) continue;
            const struct cts_path_edge edge =
                edge_of(r, (struct cts_path_mark){s, stream->launched});
            if (several && pass == 0 && edge.source_ns > leave_ns) continue;
            if (await(r, stream, stream->launched, error)) return CTS_MEMORY;
            any = true;
        }
    return CTS_OK;
}

/* What a blocking copy or memset follows: its stream's work, and what holds the stream; for the
 * null stream that of all blocking streams of the device, and the other way round. */
static enum cts_status await_before(struct replay *r, const struct cts_path_stream *stream,
                                    struct cts_error *error)
{
    if (await(r, stream, stream->launched, error)) return CTS_MEMORY;
    for (size_t i = 0; i < stream->held.count; i++) {
        const struct cts_path_mark mark = stream->held.items[i];
        if (await(r, &r->device->streams[mark.stream], mark.launched, error)) return CTS_MEMORY;
    }
    if (stream->null && stream->null != stream && !stream->non_blocking)
        return await(r, stream->null, stream->null->launched, error);
    if (stream->null != stream) return CTS_OK;
    for (uint32_t s = 0; s < r->device->stream_count; s++) {
        const struct cts_path_stream *const other = &r->device->streams[s];
        if (other != stream && other->device == stream->device && !other->non_blocking &&
            await(r, other, other->launched, error))
            return CTS_MEMORY;
    }
    return CTS_OK;
}

/* ---- waits ---- */

/* A call that returns when the marks are done. */
static enum cts_status synchronise(struct replay *r, const struct cts_path_call *call,
                                   bool explicitly, struct cts_error *error)
{
    if (!anything_new(r)) return CTS_OK;
    struct cts_path_sync sync = {.device = r->device,
                                 .call = call,
                                 .marks = &r->marks,
                                 .edges = &r->edges,
                                 .explicitly = explicitly};
    enum cts_status status = make_edges(r, &sync.latest_ns, error);
    if (!status) status = CTS_PATH_OFFER(sync, &sync, error);
    mark_known(r);
    return status;
}

static enum cts_status allocate(struct replay *r, const struct cts_path_call *call,
                                struct cts_error *error)
{
    const struct cts_path_location *const host = &r->graph->locations[call->location];
    const uint64_t enter_ns = host->time_ns[call->op->enter];
    const uint64_t leave_ns = host->time_ns[call->op->leave];
    if (await_device(r, leave_ns, error)) return CTS_MEMORY;
    uint64_t latest_ns;
    if (make_edges(r, &latest_ns, error)) return CTS_MEMORY;
    if (!latest_ns || latest_ns > leave_ns) return CTS_OK; /* it did not wait */
    if (latest_ns <= enter_ns) /* nor here, but it might have, had the work taken longer */
        return cts_path_host_wait((struct cts_path_host_call){&r->graph->locations[call->location],
                                                              call->op->enter, call->op->leave},
                                  enter_ns, CTS_PATH_PATTERN_BLAME_KERNEL, &r->edges, error);
    return synchronise(r, call, false, error);
}

/* ---- the next activity of a stream ---- */

/* An activity waits for the marks since it could have begun: since its launch, and since the end of
 * the activity before. */
static enum cts_status hold(struct replay *r, struct cts_path_stream *stream, uint32_t index,
                            enum cts_path_pattern pattern, struct cts_error *error)
{
    struct cts_path_location *const at = &r->graph->locations[stream->location];
    assert(index < at->activities.count);
    const struct cts_path_activity *const activity = &at->activities.items[index];
    const uint64_t begin_ns = at->time_ns[activity->begin];
    uint64_t latest_ns;
    if (make_edges(r, &latest_ns, error)) return CTS_MEMORY;
    uint64_t ready_ns = activity->launched_ns;
    if (index) {
        const uint64_t previous_ns = at->time_ns[at->activities.items[index - 1].end];
        if (previous_ns > ready_ns) ready_ns = previous_ns;
    }
    if (ready_ns > begin_ns) ready_ns = begin_ns;
    if (latest_ns > begin_ns) latest_ns = ready_ns; /* it did not wait for that */
    const struct cts_path_wait wait = {.begin_ns = ready_ns,
                                       .end_ns = latest_ns > ready_ns ? latest_ns : ready_ns,
                                       .call = activity->begin,
                                       .leave = activity->end,
                                       .pattern = pattern,
                                       .flags = CTS_PATH_AT_CALL};
    return cts_path_add_wait(at, &wait, r->edges.items, r->edges.count, error);
}

/* The rule whose work ended last names the wait. */
static enum cts_status gather_holds(struct replay *r, struct cts_path_stream *stream,
                                    enum cts_path_pattern *pattern, struct cts_error *error)
{
    uint64_t latest_ns = 0;
    r->marks.count = 0;
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++) {
        if (!cts_path_rules[p]->holds) continue;
        size_t i = r->marks.count;
        if (cts_path_rules[p]->holds(r->device, stream, &r->marks, error)) return CTS_MEMORY;
        for (; i < r->marks.count; i++) {
            const uint64_t end_ns = edge_of(r, r->marks.items[i]).source_ns;
            if (end_ns <= latest_ns) continue;
            latest_ns = end_ns;
            *pattern = (enum cts_path_pattern)p;
        }
    }
    return CTS_OK;
}

/* Activities of a stream up to `last` are launched; the first of them may be held. */
static enum cts_status launch_on(struct replay *r, struct cts_path_stream *stream, uint32_t last,
                                 struct cts_error *error)
{
    enum cts_path_pattern pattern = CTS_PATH_PATTERN_STREAM_WAIT;
    enum cts_status status = gather_holds(r, stream, &pattern, error);
    if (!status && r->marks.count)
        status = hold(r, stream, stream->launched < last ? stream->launched : last, pattern, error);
    if (stream->launched <= last) stream->launched = last + 1;
    return status;
}

/* A graph's kernels may run on several streams: the last one on each of them is launched too. */
static void launch_beside(const struct replay *r, const struct cts_path_call *call)
{
    for (uint32_t s = 0; s < r->device->stream_count; s++) {
        struct cts_path_stream *const stream = &r->device->streams[s];
        const struct cts_path_activities *const all =
            &r->graph->locations[stream->location].activities;
        for (; stream->passed < all->count; stream->passed++) {
            const struct cts_path_activity *const activity = &all->items[stream->passed];
            if (activity->host == CTS_PATH_NONE || stream->passed < stream->launched) continue;
            if (activity->host != call->location || activity->launch != call->op->enter) break;
            if (stream->location != call->stream) stream->launched = stream->passed + 1;
        }
    }
}

static enum cts_status add_mark(struct cts_path_marks *marks, struct cts_path_mark mark,
                                struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(marks, marks->count + 1, error)) return CTS_MEMORY;
    marks->items[marks->count++] = mark;
    return CTS_OK;
}

static enum cts_status add_marks(struct cts_path_marks *marks, const struct cts_path_marks *others,
                                 struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < others->count && !status; i++)
        status = add_mark(marks, others->items[i], error);
    return status;
}

/* What a launch into the stream follows: its work, and what graphs in it run on other streams. */
static enum cts_status note_before(struct replay *r, struct cts_path_stream *stream,
                                   struct cts_error *error)
{
    const uint32_t index = (uint32_t)(stream - r->device->streams);
    if (add_marks(&stream->held, &stream->beside, error) ||
        add_marks(&r->parts.before, &stream->held, error))
        return CTS_MEMORY;
    stream->beside.count = 0;
    return stream->launched
               ? add_mark(&r->parts.before, (struct cts_path_mark){index, stream->launched}, error)
               : CTS_OK;
}

/* The streams that a graph may have been launched into: the one that is named, else each of those
 * that it ran on, of which the program uses only that one. */
static bool may_be_into(const struct replay *r, const struct cts_path_call *call, uint32_t stream)
{
    if (call->op->stream != CTS_PATH_NONE)
        return r->device->streams[stream].location == call->stream;
    return r->device->streams[stream].part_end > 0;
}

static enum cts_status note_beside(struct replay *r, struct cts_path_stream *stream,
                                   struct cts_error *error)
{
    stream->beside.count = 0;
    for (uint32_t s = 0; s < r->device->stream_count; s++)
        if (&r->device->streams[s] != stream && r->device->streams[s].part_end &&
            add_mark(&stream->beside, (struct cts_path_mark){s, r->device->streams[s].part_end},
                     error))
            return CTS_MEMORY;
    return CTS_OK;
}

/* Activities of a graph on several streams follow each other, or what the launch follows. */
static enum cts_status hold_parts(struct replay *r, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < r->parts.count && !status; i++) {
        const struct cts_path_part *const part = &r->parts.items[i];
        struct cts_path_stream *const on = &r->device->streams[part->stream];
        const struct cts_path_location *const at = &r->graph->locations[on->location];
        r->marks.count = 0;
        status = cts_path_part_follows(r->device, &r->parts, i, &r->marks, error);
        if (status || !r->marks.count) continue;
        if (at->waits.count &&
            at->waits.items[at->waits.count - 1].call == at->activities.items[part->activity].begin)
            continue; /* the launch holds it */
        status = hold(r, on, part->activity, CTS_PATH_PATTERN_STREAM_WAIT, error);
    }
    return status;
}

static enum cts_status launch_graph(struct replay *r, const struct cts_path_call *call,
                                    struct cts_path_stream *stream, struct cts_error *error)
{
    enum cts_status status = cts_path_graph_parts(r->device, call, &r->parts, error);
    for (uint32_t s = 0; s < r->device->stream_count && !status; s++)
        if (may_be_into(r, call, s)) status = note_before(r, &r->device->streams[s], error);
    if (!status) status = launch_on(r, stream, call->activity, error);
    launch_beside(r, call);
    if (status || r->parts.stream_count < 2) return status;
    status = hold_parts(r, error);
    for (uint32_t s = 0; s < r->device->stream_count && !status; s++)
        if (may_be_into(r, call, s)) status = note_beside(r, &r->device->streams[s], error);
    return status;
}

static enum cts_status launch(struct replay *r, const struct cts_path_call *call,
                              struct cts_error *error)
{
    struct cts_path_stream *const stream = cts_path_stream_of(r->device, call->stream);
    if (!stream) return CTS_OK;
    r->parts.before.count = 0;
    if (call->op->api == CTS_PATH_API_GRAPH_LAUNCH) return launch_graph(r, call, stream, error);
    if (note_before(r, stream, error)) return CTS_MEMORY;
    return launch_on(r, stream, call->activity, error);
}

/* ---- events ---- */

static struct event_state *event_of(struct replay *r, uint64_t reference, struct cts_error *error)
{
    uint64_t *const slot = cts_map_at(&r->events, reference, error);
    if (!slot) return NULL;
    if (!*slot) {
        if (CTS_ARRAY_RESERVE(&r->states, r->states.count + 1, error)) return NULL;
        r->states.items[r->states.count++] = (struct event_state){.mark.stream = CTS_PATH_NONE};
        *slot = r->states.count;
    }
    return &r->states.items[*slot - 1];
}

/* What a query asks for: an event, or all work of a stream. */
struct asked {
    bool of_event;
    struct cts_path_mark mark;
    uint32_t *failed; /* the chain of queries that found it not done */
};

static enum cts_status fail_query(struct replay *r, const struct cts_path_call *call,
                                  struct asked asked, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(&r->queries, r->queries.count + 1, error)) return CTS_MEMORY;
    r->queries.items[r->queries.count++] =
        (struct query){asked.mark, call->location, call->op->enter, call->op->leave, *asked.failed};
    *asked.failed = (uint32_t)r->queries.count;
    return CTS_OK;
}

/* The failed query at hand waited for the marks. */
static enum cts_status wait_in_query(struct replay *r, const struct query *query, bool of_event,
                                     struct cts_error *error)
{
    struct cts_path_poll poll = {.graph = r->graph,
                                 .of_event = of_event,
                                 .location = query->location,
                                 .enter = query->enter,
                                 .leave = query->leave,
                                 .edges = &r->edges};
    const enum cts_status status = make_edges(r, &poll.latest_ns, error);
    return status ? status : CTS_PATH_OFFER(poll, &poll, error);
}

/* A query that succeeds: those that failed before it waited. */
static enum cts_status succeed(struct replay *r, const struct cts_path_call *call,
                               struct asked asked, struct cts_error *error)
{
    const struct cts_path_mark mark = asked.mark;
    enum cts_status status = CTS_OK;
    for (uint32_t at = *asked.failed; at && !status; at = r->queries.items[at - 1].next) {
        const struct query *const query = &r->queries.items[at - 1];
        r->marks.count = 0;
        status = await(r, &r->device->streams[query->mark.stream], query->mark.launched, error);
        if (!status && r->marks.count) status = wait_in_query(r, query, asked.of_event, error);
    }
    *asked.failed = 0;
    r->marks.count = 0;
    if (status || !mark.launched) return status;
    status = await(r, &r->device->streams[mark.stream], mark.launched, error);
    if (!status && anything_new(r)) {
        const struct query last = {mark, call->location, call->op->enter, call->op->leave, 0};
        status = wait_in_query(r, &last, asked.of_event, error);
        mark_known(r);
    }
    return status;
}

static struct cts_path_stream *default_stream(const struct replay *r)
{
    for (uint32_t s = 0; s < r->device->stream_count; s++)
        if (r->device->streams[s].null == &r->device->streams[s]) return &r->device->streams[s];
    return r->device->stream_count == 1 ? &r->device->streams[0] : NULL;
}

/* The stream that a call names; else the null stream, or the only one. */
static struct cts_path_stream *named_stream(struct replay *r, const struct cts_path_op *op)
{
    struct cts_path_stream *stream = cts_path_stream_of(r->device, op->stream);
    if (!stream && op->stream == CTS_PATH_NONE) stream = default_stream(r);
    if (!stream && r->device->stream_count) r->unknown_streams++;
    return stream;
}

static enum cts_status on_event_call(struct replay *r, const struct cts_path_call *call,
                                     struct cts_error *error)
{
    const struct cts_path_op *const op = call->op;
    struct event_state *const event = event_of(r, op->reference, error);
    if (!event) return CTS_MEMORY;
    if (op->api == CTS_PATH_API_RECORD) {
        const struct cts_path_stream *const stream = named_stream(r, op);
        if (!stream) return CTS_OK;
        event->mark =
            (struct cts_path_mark){(uint32_t)(stream - r->device->streams), stream->launched};
        event->failed = 0;
        return CTS_OK;
    }
    if (event->mark.stream == CTS_PATH_NONE) {
        /* what was recorded in a stretch before is done, and the host knows */
        if (!r->known || !cts_map_find(r->known, op->reference)) r->unknown_events++;
        return CTS_OK;
    }
    const struct cts_path_mark mark = event->mark;
    if (op->api == CTS_PATH_API_WAIT) {
        struct cts_path_stream *const stream = named_stream(r, op);
        if (!stream || !mark.launched) return CTS_OK;
        if (CTS_ARRAY_RESERVE(&stream->held, stream->held.count + 1, error)) return CTS_MEMORY;
        stream->held.items[stream->held.count++] = mark;
        return CTS_OK;
    }
    if (op->api == CTS_PATH_API_QUERY_EVENT) {
        const struct asked asked = {true, mark, &event->failed};
        return op->failed ? fail_query(r, call, asked, error) : succeed(r, call, asked, error);
    }
    if (await(r, &r->device->streams[mark.stream], mark.launched, error)) return CTS_MEMORY;
    return synchronise(r, call, true, error);
}

static enum cts_status on_stream_call(struct replay *r, const struct cts_path_call *call,
                                      struct cts_error *error)
{
    struct cts_path_stream *const stream = named_stream(r, call->op);
    if (!stream) return CTS_OK;
    if (call->op->api == CTS_PATH_API_SYNC_STREAM) {
        if (await(r, stream, stream->launched, error)) return CTS_MEMORY;
        if (add_marks(&r->marks, &stream->beside, error)) return CTS_MEMORY;
        return synchronise(r, call, true, error);
    }
    const struct asked asked = {
        false, {(uint32_t)(stream - r->device->streams), stream->launched}, &stream->failed};
    if (!call->op->failed) return succeed(r, call, asked, error);
    return asked.mark.launched ? fail_query(r, call, asked, error) : CTS_OK;
}

/* The call ends with its copy, if that began within it. */
static enum cts_status end_with_copy(struct replay *r, const struct cts_path_call *call,
                                     struct cts_error *error)
{
    if (call->stream == CTS_PATH_NONE) return CTS_OK;
    const struct cts_path_location *const host = &r->graph->locations[call->location];
    const struct cts_path_location *const at = &r->graph->locations[call->stream];
    const struct cts_path_activity *const copy = &at->activities.items[call->activity];
    const uint64_t begin_ns = at->time_ns[copy->begin];
    if (begin_ns < host->time_ns[call->op->enter] || begin_ns >= host->time_ns[call->op->leave])
        return CTS_OK;
    struct cts_path_copied copied = {.graph = r->graph,
                                     .location = call->location,
                                     .enter = call->op->enter,
                                     .leave = call->op->leave,
                                     .end = {at->time_ns[copy->end], call->stream, copy->end}};
    return CTS_PATH_OFFER(copied, &copied, error);
}

static enum cts_status on_blocking(struct replay *r, const struct cts_path_call *call,
                                   struct cts_error *error)
{
    struct cts_path_stream *stream = cts_path_stream_of(r->device, call->stream);
    if (!stream) stream = named_stream(r, call->op);
    if (!stream) return CTS_OK;
    enum cts_status status = await_before(r, stream, error);
    if (!status) status = synchronise(r, call, false, error);
    if (!status) status = launch(r, call, error);
    return status ? status : end_with_copy(r, call, error);
}

/* An asynchronous copy from or to pageable memory does not return before it is done: then what it
 * follows, it waited for. */
static bool has_blocked(const struct replay *r, const struct cts_path_call *call)
{
    if (call->stream == CTS_PATH_NONE) return false;
    const struct cts_path_location *const host = &r->graph->locations[call->location];
    const struct cts_path_location *const at = &r->graph->locations[call->stream];
    const struct cts_path_activity *const copy = &at->activities.items[call->activity];
    return (at->region[copy->begin] & ~CTS_PATH_LEAVE) !=
               r->graph->system->pseudo + CTS_PATH_COPY_DTOD &&
           at->time_ns[copy->begin] >= host->time_ns[call->op->enter] &&
           at->time_ns[copy->end] <= host->time_ns[call->op->leave];
}

/* A memset of device memory only enqueues: it has not ended when the call returns. */
static bool has_enqueued(const struct replay *r, const struct cts_path_call *call)
{
    if (call->stream == CTS_PATH_NONE) return false;
    const struct cts_path_location *const host = &r->graph->locations[call->location];
    const struct cts_path_location *const at = &r->graph->locations[call->stream];
    return at->time_ns[at->activities.items[call->activity].end] > host->time_ns[call->op->leave];
}

static enum cts_status replay_call(struct replay *r, const struct cts_path_call *call,
                                   struct cts_error *error)
{
    r->marks.count = 0;
    switch (call->op->api) {
    case CTS_PATH_API_LAUNCH:
    case CTS_PATH_API_LAUNCH_HOST:
    case CTS_PATH_API_GRAPH_LAUNCH:
    case CTS_PATH_API_MEMSET_ASYNC:
        return launch(r, call, error);
    case CTS_PATH_API_COPY_ASYNC:
        return has_blocked(r, call) ? on_blocking(r, call, error) : launch(r, call, error);
    case CTS_PATH_API_MEMSET:
        return has_enqueued(r, call) ? launch(r, call, error) : on_blocking(r, call, error);
    case CTS_PATH_API_COPY:
        return on_blocking(r, call, error);
    case CTS_PATH_API_SYNC_DEVICE:
    case CTS_PATH_API_SYNC_CONTEXT:
        if (await_device(r, r->graph->locations[call->location].time_ns[call->op->leave], error))
            return CTS_MEMORY;
        return synchronise(r, call, true, error);
    case CTS_PATH_API_SYNC_STREAM:
    case CTS_PATH_API_QUERY_STREAM:
        return on_stream_call(r, call, error);
    case CTS_PATH_API_SYNC_EVENT:
    case CTS_PATH_API_QUERY_EVENT:
    case CTS_PATH_API_RECORD:
    case CTS_PATH_API_WAIT:
        return on_event_call(r, call, error);
    case CTS_PATH_API_ALLOC:
        return allocate(r, call, error);
    default:
        return CTS_OK;
    }
}

/* ---- the process ---- */

static enum cts_status open_streams(struct cts_path_device *device, struct cts_error *error)
{
    struct cts_path_graph *const graph = device->graph;
    const uint32_t first = graph->system->process_first[device->process];
    const uint32_t end = graph->system->process_first[device->process + 1];
    device->lowest = UINT32_MAX;
    device->highest = 0;
    for (uint32_t p = first; p < end; p++) {
        const uint32_t id = graph->system->by_process[p];
        if (!graph->system->who[id].stream || !graph->locations[id].raw) continue;
        device->stream_count++;
        if (id < device->lowest) device->lowest = id;
        if (id > device->highest) device->highest = id;
    }
    const size_t span = device->stream_count ? device->highest - device->lowest + 1ul : 1;
    device->streams = cts_array_zeroed(device->stream_count, sizeof *device->streams, error);
    device->stream_index = cts_array_zeroed(span, sizeof *device->stream_index, error);
    if (!device->streams || !device->stream_index) return CTS_MEMORY;
    uint32_t at = 0;
    for (uint32_t p = first; p < end; p++) {
        const uint32_t id = graph->system->by_process[p];
        if (!graph->system->who[id].stream || !graph->locations[id].raw) continue;
        device->streams[at] = (struct cts_path_stream){
            .location = id,
            .device = graph->system->timeline->locations[id].device,
            .non_blocking = graph->system->timeline->locations[id].non_blocking};
        device->stream_index[id - device->lowest] = ++at;
    }
    for (uint32_t s = 0; s < device->stream_count; s++)
        if (cts_path_is_null_stream(graph->system, device->streams[s].location))
            for (uint32_t k = 0; k < device->stream_count; k++)
                if (device->streams[k].device == device->streams[s].device)
                    device->streams[k].null = &device->streams[s];
    return CTS_OK;
}

static int by_time(const void *left, const void *right, void *state)
{
    const struct cts_path_graph *const graph = state;
    const struct cts_path_call *const a = left, *const b = right;
    const uint64_t a_ns = graph->locations[a->location].time_ns[a->op->enter];
    const uint64_t b_ns = graph->locations[b->location].time_ns[b->op->enter];
    if (a_ns != b_ns) return a_ns < b_ns ? -1 : 1;
    const uint32_t a_order = graph->system->who[a->location].order;
    const uint32_t b_order = graph->system->who[b->location].order;
    if (a_order != b_order) return a_order < b_order ? -1 : 1;
    if (a->op->enter != b->op->enter) return a->op->enter < b->op->enter ? -1 : 1;
    if (a->inferred != b->inferred) return a->inferred ? -1 : 1; /* before the call that waits */
    if (a->stream != b->stream) return a->stream < b->stream ? -1 : 1;
    return (a->activity > b->activity) - (a->activity < b->activity);
}

static void sort_calls(struct cts_path_device *device)
{
    for (size_t i = 1; i < device->call_count; i++)
        if (by_time(&device->calls[i - 1], &device->calls[i], device->graph) > 0) {
            qsort_r(device->calls, device->call_count, sizeof *device->calls, by_time,
                    device->graph);
            break;
        }
}

static enum cts_status gather_calls(struct cts_path_device *device, struct cts_error *error)
{
    struct cts_path_graph *const graph = device->graph;
    const uint32_t first = graph->system->process_first[device->process];
    const uint32_t end = graph->system->process_first[device->process + 1];
    size_t count = 0;
    for (uint32_t p = first; p < end; p++)
        if (graph->locations[graph->system->by_process[p]].raw)
            count += graph->locations[graph->system->by_process[p]].raw->ops.count;
    device->calls = cts_array_zeroed(count, sizeof *device->calls, error);
    if (!device->calls) return CTS_MEMORY;
    for (uint32_t p = first; p < end; p++) {
        const uint32_t id = graph->system->by_process[p];
        const struct cts_path_raw *const raw = graph->locations[id].raw;
        for (size_t i = 0; raw && i < raw->ops.count; i++)
            device->calls[device->call_count++] = (struct cts_path_call){.op = &raw->ops.items[i],
                                                                         .location = id,
                                                                         .stream = CTS_PATH_NONE,
                                                                         .activity = CTS_PATH_NONE};
    }
    sort_calls(device);
    return CTS_OK;
}

/* For the stretches that follow. */
static enum cts_status remember_events(const struct replay *r, struct cts_error *error)
{
    for (size_t i = 0; i < r->device->call_count; i++) {
        const struct cts_path_op *const op = r->device->calls[i].op;
        if (op->api == CTS_PATH_API_RECORD && !cts_map_at(r->known, op->reference, error))
            return CTS_MEMORY;
    }
    return CTS_OK;
}

static void release_marks(struct cts_path_stream *stream)
{
    free(stream->held.items);
    free(stream->beside.items);
}

enum cts_status cts_path_device_waits(struct cts_path_graph *graph, uint32_t process,
                                      struct cts_error *error)
{
    struct cts_path_device device = {.graph = graph, .process = process};
    struct replay r = {.device = &device,
                       .graph = graph,
                       .known = graph->stretch ? &graph->stretch->known[process] : NULL};
    enum cts_status status = open_streams(&device, error);
    if (!status) status = gather_calls(&device, error);
    if (!status) status = cts_path_join_launches(&device, error);
    sort_calls(&device);
    if (!status) status = cts_path_infer_waits(&device, error);
    for (size_t i = 0; i < device.call_count && !status; i++)
        status = replay_call(&r, &device.calls[i], error);
    if (!status && r.known) status = remember_events(&r, error);
    cts_path_warn(graph, CTS_PATH_WARNING_UNKNOWN_EVENT, r.unknown_events);
    cts_path_warn(graph, CTS_PATH_WARNING_UNKNOWN_STREAM, r.unknown_streams);
    for (uint32_t s = 0; device.streams && s < device.stream_count; s++)
        release_marks(&device.streams[s]);
    free(device.streams);
    free(device.stream_index);
    free(device.calls);
    free(device.inferred);
    free(device.placed);
    free(r.states.items);
    free(r.queries.items);
    free(r.marks.items);
    free(r.parts.items);
    free(r.parts.before.items);
    free(r.edges.items);
    cts_map_release(&r.events);
    return status;
}
