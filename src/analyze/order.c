/* The idea: a clock per stream.
 *
 * A *clock* is a vector with one number per stream of the rank: how many of that stream's
 * supersteps are known to have ended. Walking the host's calls in their order keeps a clock per
 * stream (what precedes the next superstep issued to it), one for the host (what the host knows to
 * have ended) and one per event handle (what was captured by its last record):
 *
 *     superstep in stream s     gets clock[s] joined with the host's; clock[s][s] counts it
 *     in a legacy default       besides joins all blocking streams of the device, and is joined by
 *                               them before their next use
 *     event record, stream wait event = clock[s];  clock[s] joins event
 *     event / stream / device   host joins event / clock[s] / all clocks of the device; a query
 * that sync, or query            says 'done' does the same a copy that blocks        host joins
 * clock[s] after it (copies to and from the host)
 *
 * Superstep b follows a, the k-th (from 0) of stream s, iff b's clock has more than k at s. The
 * streams are then merged like sorted lists: of the streams' first supersteps whose clock is
 * satisfied the one with the smallest start goes next. Each clock only counts earlier calls, so
 * that the superstep with the earliest call of all heads can always go: the merge cannot get stuck.
 *
 * With n supersteps and s streams: O(n s) time; clocks that did not change are kept once. */
#include "analyze/order.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/map.h"
#include "common/search.h"

enum { STREAMS_MAX = 4096 }; /* clocks take its square */

/* A superstep before it is put in order. */
struct work {
    enum cts_step_kind kind;
    size_t index;
    uint64_t op, start_ns;
    uint32_t stream, position; /* position: how-manieth of its stream */
    size_t clock;              /* index in private->clocks of its first number */
};

/* What cts_order_precedes() needs of a launch. */
struct place {
    uint32_t rank, stream, position;
    size_t clock;
};

struct cts_order_private {
    struct {
        uint32_t *items;
        size_t count, capacity;
    } clocks; /* vectors, one after the other; those of a rank have its stream count as length */
    struct place *launches; /* by index in the catalogue */
};

/* A call of the host: a superstep or a synchronisation. */
struct call {
    uint64_t op;
    enum { CALL_LAUNCH, CALL_COPY, CALL_SYNC } kind;
    size_t index;
};

struct stream {
    uint32_t id, device;
    bool is_known, is_legacy, is_blocking;
    bool dirty;        /* blocking: used since the legacy default stream's last superstep */
    size_t last_clock; /* its last superstep's; SIZE_MAX: none */
    uint32_t *clock;   /* what precedes its next superstep */
    size_t *works;     /* its supersteps, in order; indices in state.works */
    size_t work_count, work_capacity, next;
    uint32_t blocked_stream, blocked_count; /* merging: what its first superstep waits for */
};

struct state {
    const struct cts_catalogue *catalogue;
    struct cts_order *order;
    struct cts_order_private *private_data;
    struct cts_error *error;
    uint32_t rank;
    struct call *calls;
    size_t call_count;
    struct stream *streams;
    uint32_t stream_count;
    uint32_t *clock_memory; /* stream_count vectors for the streams, one for the host */
    uint32_t *host;
    struct cts_map events; /* handle -> index of a vector in event_clocks + 1 */
    struct {
        uint32_t *items;
        size_t count, capacity;
    } event_clocks;
    struct {
        struct work *items;
        size_t count, capacity;
    } works;
};

/* ---- the calls of a rank ---- */

static int by_op(const void *left, const void *right)
{
    const struct call *const a = left, *const b = right;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static enum cts_status collect_calls(struct state *s)
{
    const struct cts_catalogue *const c = s->catalogue;
    const size_t most = c->launch_count + c->copy_count + c->sync_count;
    s->calls = cts_array_zeroed(most, sizeof *s->calls, s->error);
    if (!s->calls) return CTS_MEMORY;
    size_t n = 0;
    for (size_t i = 0; i < c->launch_count; i++)
        if (c->launches[i].rank == s->rank)
            s->calls[n++] = (struct call){c->launches[i].op, CALL_LAUNCH, i};
    for (size_t i = 0; i < c->copy_count; i++)
        if (c->copies[i].rank == s->rank)
            s->calls[n++] = (struct call){c->copies[i].op, CALL_COPY, i};
    for (size_t i = 0; i < c->sync_count; i++)
        if (c->syncs[i].rank == s->rank)
            s->calls[n++] = (struct call){c->syncs[i].op, CALL_SYNC, i};
    s->call_count = n;
    qsort(s->calls, n, sizeof *s->calls, by_op);
    return CTS_OK;
}

/* ---- the streams of a rank ---- */

static int by_u32(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static uint32_t stream_of(const struct state *s, uint32_t id)
{
    const size_t at = CTS_SEARCH(s->stream_count, i, s->streams[i].id < id);
    return at < s->stream_count && s->streams[at].id == id ? (uint32_t)at : CTS_NONE;
}

/* Ids that launches and copies name count as streams, with or without a row of their own. */
static enum cts_status collect_streams(struct state *s)
{
    const struct cts_catalogue *const c = s->catalogue;
    uint32_t *const ids = cts_array_zeroed(c->stream_count + s->call_count, sizeof *ids, s->error);
    if (!ids) return CTS_MEMORY;
    size_t n = 0;
    for (size_t i = 0; i < c->stream_count; i++)
        if (c->streams[i].rank == s->rank) ids[n++] = c->streams[i].stream;
    for (size_t i = 0; i < s->call_count; i++) {
        const struct call *const call = &s->calls[i];
        if (call->kind == CALL_LAUNCH) ids[n++] = c->launches[call->index].stream;
        if (call->kind == CALL_COPY) ids[n++] = c->copies[call->index].stream;
    }
    qsort(ids, n, sizeof *ids, by_u32);
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || ids[i] != ids[i - 1]) ids[distinct++] = ids[i];
    enum cts_status status = CTS_OK;
    if (distinct > STREAMS_MAX)
        status = cts_fail(s->error, CTS_LIMIT, "rank %u has %zu streams; at most %d are supported",
                          s->rank, distinct, STREAMS_MAX);
    if (!status) {
        s->stream_count = (uint32_t)distinct;
        s->streams = cts_array_zeroed(distinct, sizeof *s->streams, s->error);
        s->clock_memory =
            cts_array_zeroed(distinct * (distinct + 1), sizeof *s->clock_memory, s->error);
        if (!s->streams || !s->clock_memory) status = CTS_MEMORY;
    }
    for (size_t i = 0; !status && i < distinct; i++)
        s->streams[i] = (struct stream){
            .id = ids[i], .last_clock = SIZE_MAX, .clock = s->clock_memory + i * distinct};
    if (!status) s->host = s->clock_memory + distinct * distinct;
    free(ids);
    return status;
}

static void describe_streams(struct state *s)
{
    for (size_t i = 0; i < s->catalogue->stream_count; i++) {
        const struct cts_cuda_stream *const row = &s->catalogue->streams[i];
        if (row->rank != s->rank) continue;
        struct stream *const stream = &s->streams[stream_of(s, row->stream)];
        const char *const kind = row->kind ? row->kind : "";
        stream->is_known = true;
        stream->device = row->device;
        stream->is_legacy = !strcmp(kind, "legacy default");
        stream->is_blocking = !strcmp(kind, "blocking") || !strcmp(kind, "per-thread default");
    }
}

/* ---- clocks ---- */

static void join(const struct state *s, uint32_t *clock, const uint32_t *other)
{
    for (uint32_t i = 0; i < s->stream_count; i++)
        if (clock[i] < other[i]) clock[i] = other[i];
}

/* Before a stream is used: what default-stream rules add to its clock. */
static void apply_default_stream(struct state *s, struct stream *stream)
{
    if (!stream->is_legacy && !stream->is_blocking) return;
    for (uint32_t i = 0; i < s->stream_count; i++) {
        struct stream *const other = &s->streams[i];
        if (!other->is_known || other->device != stream->device || other == stream) continue;
        if (stream->is_blocking && other->is_legacy) join(s, stream->clock, other->clock);
        if (stream->is_legacy && other->is_blocking && other->dirty) {
            join(s, stream->clock, other->clock);
            other->dirty = false;
        }
    }
    stream->dirty = true;
}

/* Keeps the stream's clock for a superstep; one that says the same as the stream's last is shared
 * (its own component is left out: it is the position). */
static enum cts_status keep_clock(struct state *s, uint32_t index, size_t *place)
{
    struct stream *const stream = &s->streams[index];
    const uint32_t *const clock = stream->clock;
    if (stream->last_clock != SIZE_MAX) {
        const uint32_t *const last = s->private_data->clocks.items + stream->last_clock;
        bool same = true;
        for (uint32_t i = 0; same && i < s->stream_count; i++)
            same = i == index || last[i] == clock[i];
        if (same) {
            *place = stream->last_clock;
            return CTS_OK;
        }
    }
    const size_t count = s->private_data->clocks.count;
    if (CTS_ARRAY_RESERVE(&s->private_data->clocks, count + s->stream_count, s->error))
        return CTS_MEMORY;
    memcpy(s->private_data->clocks.items + count, clock, s->stream_count * sizeof *clock);
    s->private_data->clocks.count += s->stream_count;
    *place = stream->last_clock = count;
    return CTS_OK;
}

static bool blocks_host(const struct cts_copy *copy)
{
    if (copy->asynchronous || !copy->kind) return false;
    return !strcmp(copy->kind, "HtoD") || !strcmp(copy->kind, "DtoH") ||
           !strcmp(copy->kind, "HtoH");
}

/* A superstep is issued. */
static enum cts_status issue(struct state *s, const struct call *call)
{
    struct work work = {.index = call->index, .op = call->op};
    uint32_t id;
    const struct cts_copy *copy = NULL;
    if (call->kind == CALL_LAUNCH) {
        const struct cts_launch *const row = &s->catalogue->launches[call->index];
        work.kind = CTS_STEP_LAUNCH;
        work.start_ns = row->start_ns ? row->start_ns : row->call_ns;
        id = row->stream;
    } else {
        copy = &s->catalogue->copies[call->index];
        work.kind = CTS_STEP_COPY;
        work.start_ns = copy->start_ns ? copy->start_ns : copy->call_ns;
        id = copy->stream;
    }
    work.stream = stream_of(s, id);
    struct stream *const stream = &s->streams[work.stream];
    apply_default_stream(s, stream);
    join(s, stream->clock, s->host);
    work.position = stream->clock[work.stream];
    if (keep_clock(s, work.stream, &work.clock)) return CTS_MEMORY;
    if (CTS_ARRAY_RESERVE(&s->works, s->works.count + 1, s->error)) return CTS_MEMORY;
    if (stream->work_count == stream->work_capacity &&
        cts_array_grow((void **)&stream->works, &stream->work_capacity, stream->work_count + 1,
                       sizeof *stream->works, s->error))
        return CTS_MEMORY;
    stream->works[stream->work_count++] = s->works.count;
    s->works.items[s->works.count++] = work;
    stream->clock[work.stream]++;
    if (copy && blocks_host(copy)) join(s, s->host, stream->clock);
    return CTS_OK;
}

static enum cts_status record_event(struct state *s, uint64_t event, const uint32_t *clock)
{
    uint64_t *const place = cts_map_at(&s->events, event, s->error);
    if (!place) return CTS_MEMORY;
    if (!*place) {
        const size_t count = s->event_clocks.count;
        if (CTS_ARRAY_RESERVE(&s->event_clocks, count + s->stream_count, s->error))
            return CTS_MEMORY;
        s->event_clocks.count += s->stream_count;
        *place = count + 1;
    }
    memcpy(s->event_clocks.items + *place - 1, clock, s->stream_count * sizeof *clock);
    return CTS_OK;
}

/* What the event's last record captured, or NULL for one that was never recorded. */
static const uint32_t *event_clock(const struct state *s, uint64_t event)
{
    const uint64_t *const place = cts_map_find(&s->events, event);
    return place ? s->event_clocks.items + *place - 1 : NULL;
}

/* The host waited for a device: that of the row's stream, or the only one that has streams. Which
 * of several devices is meant is not known without a stream: no order is claimed then. */
static void synchronise_device(struct state *s, const struct stream *named)
{
    bool several = false;
    const struct stream *device_of = named;
    for (uint32_t i = 0; i < s->stream_count && !named; i++) {
        if (!s->streams[i].is_known) continue;
        if (!device_of) device_of = &s->streams[i];
        several |= device_of->device != s->streams[i].device;
    }
    if (several) return;
    for (uint32_t i = 0; i < s->stream_count; i++) {
        const struct stream *const stream = &s->streams[i];
        const bool is_one_device = !named;
        if (is_one_device || (stream->is_known && stream->device == device_of->device))
            join(s, s->host, stream->clock);
    }
}

static enum cts_status synchronise(struct state *s, const struct cts_sync *sync)
{
    if (sync->result != 0 || !sync->kind)
        return CTS_OK; /* failed, or a query that said 'not yet' */
    const uint32_t index = stream_of(s, sync->stream);
    struct stream *const stream =
        sync->stream != CTS_NONE && index != CTS_NONE ? &s->streams[index] : NULL;
    const uint32_t *const event = event_clock(s, sync->event);
    if (!strcmp(sync->kind, "event record") && stream) {
        apply_default_stream(s, stream);
        join(s, stream->clock, s->host);
        return record_event(s, sync->event, stream->clock);
    }
    if (!strcmp(sync->kind, "stream wait") && stream) {
        apply_default_stream(s, stream);
        if (event) join(s, stream->clock, event);
    } else if (!strcmp(sync->kind, "event sync") || !strcmp(sync->kind, "event query")) {
        if (event) join(s, s->host, event);
    } else if (!strcmp(sync->kind, "stream sync") || !strcmp(sync->kind, "stream query")) {
        if (stream) join(s, s->host, stream->clock); /* not what a default stream was given since */
    } else if (!strcmp(sync->kind, "device sync")) {
        synchronise_device(s, stream);
    }
    return CTS_OK;
}

/* ---- merging ---- */

/* Whether the stream's first superstep may go; if not, remembers what it waits for. */
static bool is_ready(struct state *s, uint32_t index)
{
    struct stream *const stream = &s->streams[index];
    if (s->streams[stream->blocked_stream].next < stream->blocked_count) return false;
    const struct work *const work = &s->works.items[stream->works[stream->next]];
    const uint32_t *const clock = s->private_data->clocks.items + work->clock;
    for (uint32_t i = 0; i < s->stream_count; i++) {
        if (i == index || s->streams[i].next >= clock[i]) continue;
        stream->blocked_stream = i;
        stream->blocked_count = clock[i];
        return false;
    }
    return true;
}

static const struct work *pop(struct state *s)
{
    uint32_t best = CTS_NONE;
    const struct work *best_work = NULL;
    for (uint32_t i = 0; i < s->stream_count; i++) {
        const struct stream *const stream = &s->streams[i];
        if (stream->next == stream->work_count) continue;
        const struct work *const work = &s->works.items[stream->works[stream->next]];
        if (best_work && (work->start_ns > best_work->start_ns ||
                          (work->start_ns == best_work->start_ns && work->op > best_work->op)))
            continue;
        if (!is_ready(s, i)) continue;
        best = i;
        best_work = work;
    }
    if (best_work) s->streams[best].next++;
    return best_work;
}

static uint64_t unordered_pairs(const struct state *s)
{
    uint64_t ordered = 0;
    for (size_t i = 0; i < s->works.count; i++) {
        const struct work *const work = &s->works.items[i];
        const uint32_t *const clock = s->private_data->clocks.items + work->clock;
        ordered += work->position;
        for (uint32_t k = 0; k < s->stream_count; k++)
            if (k != work->stream) ordered += clock[k];
    }
    const uint64_t n = s->works.count;
    return n ? n * (n - 1) / 2 - ordered : 0;
}

/* Frees and CPU accesses of a rank by op; each takes effect before the first superstep that the
 * host asked for after it. */
struct between {
    uint64_t op;
    enum cts_step_kind kind;
    size_t index;
};

static int by_between(const void *left, const void *right)
{
    const struct between *const a = left, *const b = right;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static struct between *collect_between(const struct state *s, size_t *count)
{
    const struct cts_catalogue *const c = s->catalogue;
    struct between *const between =
        cts_array_zeroed(c->allocation_count + c->host_access_count, sizeof *between, s->error);
    if (!between) return NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->allocation_count; i++)
        if (c->allocations[i].rank == s->rank && c->allocations[i].freed_op != UINT64_MAX)
            between[n++] = (struct between){c->allocations[i].freed_op, CTS_STEP_FREE, i};
    for (size_t i = 0; i < c->host_access_count; i++)
        if (c->host_accesses[i].rank == s->rank)
            between[n++] = (struct between){c->host_accesses[i].op, CTS_STEP_HOST_ACCESS, i};
    qsort(between, n, sizeof *between, by_between);
    *count = n;
    return between;
}

static enum cts_status merge(struct state *s)
{
    size_t between_count = 0, next = 0;
    struct between *const between = collect_between(s, &between_count);
    if (!between) return CTS_MEMORY;
    struct cts_order *const order = s->order;
    struct cts_step *const steps = order->steps;
    uint32_t superstep = 0, launch_ordinal = 0;
    for (const struct work *work; (work = pop(s)); superstep++) {
        for (; next < between_count && between[next].op < work->op; next++)
            steps[order->step_count++] = (struct cts_step){.kind = between[next].kind,
                                                           .rank = s->rank,
                                                           .index = between[next].index,
                                                           .superstep = superstep};
        steps[order->step_count++] = (struct cts_step){
            .kind = work->kind,
            .rank = s->rank,
            .index = work->index,
            .superstep = superstep,
            .launch_ordinal = work->kind == CTS_STEP_LAUNCH ? launch_ordinal++ : 0};
        if (work->kind == CTS_STEP_LAUNCH)
            s->private_data->launches[work->index] =
                (struct place){s->rank, work->stream, work->position, work->clock};
    }
    for (; next < between_count; next++)
        steps[order->step_count++] = (struct cts_step){.kind = between[next].kind,
                                                       .rank = s->rank,
                                                       .index = between[next].index,
                                                       .superstep = superstep};
    order->superstep_count += superstep;
    free(between);
    return CTS_OK;
}

static void release_state(struct state *s)
{
    for (uint32_t i = 0; s->streams && i < s->stream_count; i++) free(s->streams[i].works);
    free(s->streams);
    free(s->clock_memory);
    free(s->calls);
    free(s->event_clocks.items);
    free(s->works.items);
    cts_map_release(&s->events);
}

static enum cts_status order_rank(const struct cts_catalogue *catalogue, uint32_t rank,
                                  struct cts_order *order, struct cts_error *error)
{
    struct state s = {.catalogue = catalogue,
                      .order = order,
                      .private_data = order->private_data,
                      .error = error,
                      .rank = rank};
    enum cts_status status = collect_calls(&s);
    if (!status) status = collect_streams(&s);
    if (!status) describe_streams(&s);
    for (size_t i = 0; !status && i < s.call_count; i++)
        status = s.calls[i].kind == CALL_SYNC ? synchronise(&s, &catalogue->syncs[s.calls[i].index])
                                              : issue(&s, &s.calls[i]);
    if (!status) order->unordered_pairs += unordered_pairs(&s);
    if (!status) status = merge(&s);
    release_state(&s);
    return status;
}

/* ---- the whole ---- */

/* The ranks that occur, ascending, in a new array: rows of the catalogue, or of what ran. */
static uint32_t *collect_ranks(const struct cts_catalogue *c, size_t *count,
                               struct cts_error *error)
{
    uint32_t *const ranks =
        cts_array_zeroed(c->rank_count + c->launch_count + c->copy_count, sizeof *ranks, error);
    if (!ranks) return NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->rank_count; i++) ranks[n++] = c->ranks[i].rank;
    for (size_t i = 0; i < c->launch_count; i++) ranks[n++] = c->launches[i].rank;
    for (size_t i = 0; i < c->copy_count; i++) ranks[n++] = c->copies[i].rank;
    qsort(ranks, n, sizeof *ranks, by_u32);
    size_t distinct = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || ranks[i] != ranks[i - 1]) ranks[distinct++] = ranks[i];
    *count = distinct;
    return ranks;
}

enum cts_status cts_order_build(const struct cts_catalogue *catalogue, struct cts_order *order,
                                struct cts_error *error)
{
    *order = (struct cts_order){0};
    const size_t most = catalogue->launch_count + catalogue->copy_count +
                        catalogue->allocation_count + catalogue->host_access_count;
    order->steps = cts_array_zeroed(most, sizeof *order->steps, error);
    order->private_data = cts_array_zeroed(1, sizeof *order->private_data, error);
    enum cts_status status = order->steps && order->private_data ? CTS_OK : CTS_MEMORY;
    if (!status) {
        order->private_data->launches =
            cts_array_zeroed(catalogue->launch_count, sizeof(struct place), error);
        if (!order->private_data->launches) status = CTS_MEMORY;
    }
    size_t rank_count = 0;
    uint32_t *const ranks = status ? NULL : collect_ranks(catalogue, &rank_count, error);
    if (!ranks && !status) status = CTS_MEMORY;
    for (size_t i = 0; !status && i < rank_count; i++)
        status = order_rank(catalogue, ranks[i], order, error);
    free(ranks);
    if (status) cts_order_release(order);
    return status;
}

void cts_order_release(struct cts_order *order)
{
    if (order->private_data) {
        free(order->private_data->clocks.items);
        free(order->private_data->launches);
    }
    free(order->private_data);
    free(order->steps);
    *order = (struct cts_order){0};
}

bool cts_order_precedes(const struct cts_order *order, size_t first, size_t second)
{
    const struct place *const a = &order->private_data->launches[first];
    const struct place *const b = &order->private_data->launches[second];
    if (a->rank != b->rank) return false;
    if (a->stream == b->stream) return a->position < b->position;
    return order->private_data->clocks.items[b->clock + a->stream] > a->position;
}
