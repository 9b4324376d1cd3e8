/* The idea: a clock per stream.
 *
 * Walking the host's calls in their order keeps a clock per stream (stream-clocks.h: what precedes
 * the next superstep issued to it; a stream's own number counts its supersteps) and one for the
 * host (what it knows to have ended). A superstep gets its stream's clock joined with the host's; a
 * copy to or from the host that blocks joins the host's clock with its stream's.
 *
 * Superstep b follows a, the k-th (from 0) of stream s, iff b's clock has more than k at s. The
 * streams are then merged like sorted lists: of the streams' first supersteps whose clock is
 * satisfied the one with the smallest start goes next. Each clock only counts earlier calls, so
 * that the superstep with the earliest call of all heads can always go: the merge cannot get stuck.
 *
 * With n supersteps and s streams: O(n s) time; clocks that did not change are kept once. */
#include "analyze/order/order.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/order/clocks.h"
#include "analyze/order/stream-clocks.h"
#include "common/array.h"
#include "common/sort.h"

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
    struct cts_clock_list clocks; /* those of a rank have its stream count as length */
    struct place *launches;       /* by index in the catalogue */
};

/* A call of the host: a superstep or a synchronisation. */
struct call {
    uint64_t op;
    enum { CALL_LAUNCH, CALL_COPY, CALL_SYNC } kind;
    size_t index;
};

/* What a stream has to do: its supersteps in order, as indices in state.works. */
struct queue {
    size_t *works;
    size_t work_count, work_capacity, next;
    size_t last_clock;                      /* its last superstep's; SIZE_MAX: none */
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
    struct cts_stream_clocks streams;
    struct queue *queues; /* by index of the stream */
    uint32_t *host;       /* the host's clock */
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

static enum cts_status collect_streams(struct state *s)
{
    enum cts_status status =
        cts_stream_clocks_collect(&s->streams, s->catalogue, s->rank, s->error);
    if (status) return status;
    const uint32_t count = s->streams.count;
    if (count > STREAMS_MAX)
        return cts_fail(s->error, CTS_LIMIT, "rank %u has %u streams; at most %d are supported",
                        s->rank, count, STREAMS_MAX);
    status = cts_stream_clocks_start(&s->streams, count, s->error);
    if (status) return status;
    s->host = cts_array_zeroed(count, sizeof *s->host, s->error);
    s->queues = cts_array_zeroed(count, sizeof *s->queues, s->error);
    if (!s->host || !s->queues) return CTS_MEMORY;
    for (uint32_t i = 0; i < count; i++) s->queues[i].last_clock = SIZE_MAX;
    return CTS_OK;
}

/* ---- supersteps ---- */

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
    struct cts_stream_clock *const stream = cts_stream_clocks_find(&s->streams, id);
    work.stream = (uint32_t)(stream - s->streams.items);
    struct queue *const queue = &s->queues[work.stream];
    cts_stream_clocks_use(&s->streams, stream, s->host);
    work.position = stream->clock[work.stream];
    const struct cts_chain_clock clock = {stream->clock, s->streams.width, work.stream};
    if (cts_clock_keep(&s->private_data->clocks, &clock, &queue->last_clock, s->error))
        return CTS_MEMORY;
    work.clock = queue->last_clock;
    if (CTS_ARRAY_RESERVE(&s->works, s->works.count + 1, s->error)) return CTS_MEMORY;
    if (queue->work_count == queue->work_capacity &&
        cts_array_grow((void **)&queue->works, &queue->work_capacity, queue->work_count + 1,
                       sizeof *queue->works, s->error))
        return CTS_MEMORY;
    queue->works[queue->work_count++] = s->works.count;
    s->works.items[s->works.count++] = work;
    stream->clock[work.stream]++;
    if (copy && blocks_host(copy)) cts_clock_join(s->host, stream->clock, s->streams.width);
    return CTS_OK;
}

/* The host waited for a device: that of the row's stream, or the only one that has streams. */
static enum cts_status synchronise(struct state *s, const struct cts_sync *sync)
{
    if (sync->result != 0 || !sync->kind || strcmp(sync->kind, "device sync") != 0)
        return cts_stream_clocks_synchronise(&s->streams, sync, s->host, s->error);
    const struct cts_stream_clock *const named =
        sync->stream != CTS_NONE ? cts_stream_clocks_find(&s->streams, sync->stream) : NULL;
    cts_stream_clocks_join_device(&s->streams, named ? &named->device : NULL, s->host);
    return CTS_OK;
}

/* ---- merging ---- */

/* Whether the stream's first superstep may go; if not, remembers what it waits for. */
static bool is_ready(struct state *s, uint32_t index)
{
    struct queue *const queue = &s->queues[index];
    if (s->queues[queue->blocked_stream].next < queue->blocked_count) return false;
    const struct work *const work = &s->works.items[queue->works[queue->next]];
    const uint32_t *const clock = s->private_data->clocks.items + work->clock;
    for (uint32_t i = 0; i < s->streams.count; i++) {
        if (i == index || s->queues[i].next >= clock[i]) continue;
        queue->blocked_stream = i;
        queue->blocked_count = clock[i];
        return false;
    }
    return true;
}

static const struct work *pop(struct state *s)
{
    uint32_t best = CTS_NONE;
    const struct work *best_work = NULL;
    for (uint32_t i = 0; i < s->streams.count; i++) {
        const struct queue *const queue = &s->queues[i];
        if (queue->next == queue->work_count) continue;
        const struct work *const work = &s->works.items[queue->works[queue->next]];
        if (best_work && (work->start_ns > best_work->start_ns ||
                          (work->start_ns == best_work->start_ns && work->op > best_work->op)))
            continue;
        if (!is_ready(s, i)) continue;
        best = i;
        best_work = work;
    }
    if (best_work) s->queues[best].next++;
    return best_work;
}

static uint64_t unordered_pairs(const struct state *s)
{
    uint64_t ordered = 0;
    for (size_t i = 0; i < s->works.count; i++) {
        const struct work *const work = &s->works.items[i];
        const uint32_t *const clock = s->private_data->clocks.items + work->clock;
        ordered += work->position;
        for (uint32_t k = 0; k < s->streams.count; k++)
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
    for (uint32_t i = 0; s->queues && i < s->streams.count; i++) free(s->queues[i].works);
    free(s->queues);
    cts_stream_clocks_release(&s->streams);
    free(s->host);
    free(s->calls);
    free(s->works.items);
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
    *count = cts_sort_distinct_u32(ranks, n);
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
