/* Walks the host's requests in call order and keeps a clock for each stream (what precedes its next
 * work), each host thread (what it knows to have ended), each event (what its last record captured)
 * and what was freed (for those who get the memory next). A clock is a vector: a number for each
 * chain, and behind them the gate (cts_flow_gate()), of which the largest wins just so.
 *
 * n requests and c chains: O(n c) time; clocks that did not change are kept once. */
#include "analyze/flow/flow-order.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-graphs.h"
#include "common/array.h"
#include "common/map.h"
#include "common/search.h"

enum { CHAINS_MAX = 4096 };

enum request_kind {
    REQUEST_FUNCTION_END, /* what a host function tells is known from then on */
    REQUEST_HOST_LOAD,    /* loads between two ops count as before the stores */
    REQUEST_HOST_STORE,
    REQUEST_ALLOCATION,
    REQUEST_FREE,
    REQUEST_LAUNCH,
    REQUEST_COPY,
    REQUEST_FUNCTION,
    REQUEST_GRAPH,
    REQUEST_SYNC,
};

struct request {
    uint64_t op;
    enum request_kind kind;
    size_t index;
};

struct stream {
    uint32_t id, device;
    bool is_known, is_legacy, is_blocking;
    bool dirty; /* blocking: used since the legacy default stream's last work */
    uint32_t chain, branch_count;
    uint32_t *clock;
};

/* Memory that was freed, and what preceded the free. */
struct freed {
    uint64_t start, end;
    uint32_t *clock;
};

struct state {
    const struct cts_catalogue *catalogue;
    const struct cts_flow_order_options *options;
    struct cts_flow_order *order;
    struct cts_error *error;
    uint32_t rank;
    struct {
        struct request *items;
        size_t count, capacity;
    } requests;
    const struct cts_host_call *calls; /* of the rank */
    size_t call_count;
    uint32_t *threads; /* numbers, ascending */
    uint32_t thread_count;
    struct stream *streams;
    uint32_t stream_count;
    struct cts_flow_graphs graphs;
    uint32_t **graph_ends; /* by index of the graph: clock behind its last launch; NULL: none */
    struct cts_graph_node *steps; /* of the rank's graph launches, by launch and node */
    size_t step_count;
    size_t *function_of; /* by host access: index of the function that made it, SIZE_MAX: none */
    uint32_t **function_ends;    /* by host function, CTS_FLOW_SIGNALS */
    uint32_t chain_count, words; /* words: of a clock */
    uint32_t *positions;         /* by chain: nodes so far */
    size_t *last_clocks;         /* by chain: of its last node in order->clocks */
    uint32_t **thread_clocks;
    uint32_t **free_clocks; /* by thread: behind its last cudaFree */
    uint32_t *shared;       /* what some thread knows: CTS_FLOW_THREADS */
    struct cts_map events;
    struct {
        uint32_t *items;
        size_t count, capacity;
    } event_clocks;
    struct {
        struct freed *items;
        size_t count, capacity;
    } freed; /* ascending, disjoint */
};

/* ---- clocks ---- */

static uint32_t *new_clock(const struct state *s)
{
    return cts_array_zeroed(s->words, sizeof(uint32_t), s->error);
}

static void join(const struct state *s, uint32_t *clock, const uint32_t *other)
{
    for (uint32_t i = 0; i < s->words; i++)
        if (clock[i] < other[i]) clock[i] = other[i];
}

static bool at_least(const struct state *s, enum cts_flow_level level)
{
    return s->options->level >= level;
}

/* Keeps what precedes a node of `chain`; the own number is the position, and left out. */
static enum cts_status keep_clock(struct state *s, uint32_t chain, const uint32_t *clock,
                                  size_t *place)
{
    struct cts_flow_order *const order = s->order;
    if (s->last_clocks[chain] != SIZE_MAX) {
        const uint32_t *const last = order->clocks + s->last_clocks[chain];
        bool same = true;
        for (uint32_t i = 0; same && i < s->words; i++) same = i == chain || last[i] == clock[i];
        *place = s->last_clocks[chain];
        if (same) return CTS_OK;
    }
    if (order->clock_count + s->words > order->clock_capacity &&
        cts_array_grow((void **)&order->clocks, &order->clock_capacity,
                       order->clock_count + s->words, sizeof *order->clocks, s->error))
        return CTS_MEMORY;
    memcpy(order->clocks + order->clock_count, clock, s->words * sizeof *clock);
    *place = s->last_clocks[chain] = order->clock_count;
    order->clock_count += s->words;
    return CTS_OK;
}

static enum cts_status add_node(struct state *s, const struct cts_flow_node *node,
                                const uint32_t *clock)
{
    struct cts_flow_order *const order = s->order;
    if (order->node_count == order->node_capacity &&
        cts_array_grow((void **)&order->nodes, &order->node_capacity, order->node_count + 1,
                       sizeof *order->nodes, s->error))
        return CTS_MEMORY;
    struct cts_flow_node *const added = &order->nodes[order->node_count];
    *added = *node;
    added->rank = s->rank;
    added->position = s->positions[node->chain];
    const enum cts_status status = keep_clock(s, node->chain, clock, &added->clock);
    if (!status) order->node_count++;
    return status;
}

/* The place of the chain's nodes so far is past; `clock` knows it. */
static void pass(struct state *s, uint32_t chain, uint32_t *clock)
{
    clock[chain] = ++s->positions[chain];
}

uint32_t cts_flow_gate(const struct cts_flow_order *order, size_t node)
{
    const struct cts_flow_node *const n = &order->nodes[node];
    const size_t rank = CTS_SEARCH(order->rank_count, i, order->ranks[i] < n->rank);
    return order->clocks[n->clock + order->chain_counts[rank]];
}

/* ---- who and where ---- */

static const struct cts_host_call *call_at(const struct state *s, uint64_t op)
{
    const size_t at = CTS_SEARCH(s->call_count, i, s->calls[i].op < op);
    return at < s->call_count && s->calls[at].op == op ? &s->calls[at] : NULL;
}

static uint32_t thread_at(const struct state *s, uint64_t op)
{
    const struct cts_host_call *const call = call_at(s, op);
    return call ? call->thread : 0;
}

/* Index in s->threads: 0 is always one. */
static uint32_t thread_index(const struct state *s, uint32_t thread)
{
    return (uint32_t)CTS_SEARCH(s->thread_count, i, s->threads[i] < thread);
}

static struct stream *stream_of(const struct state *s, uint32_t id)
{
    const size_t at = CTS_SEARCH(s->stream_count, i, s->streams[i].id < id);
    return at < s->stream_count && s->streams[at].id == id ? &s->streams[at] : NULL;
}

/* Whether the function returns without waiting; in runs that do not know it: what the row says. */
static bool is_asynchronous(const struct state *s, const struct cts_copy *copy)
{
    const struct cts_host_call *const call = call_at(s, copy->op);
    if (!call || !call->api) return copy->asynchronous;
    return strstr(call->api, "Async") || strstr(call->api, "Graph");
}

static bool is_kind(const struct cts_copy *copy, const char *kind)
{
    return copy->kind && !strcmp(copy->kind, kind);
}

/* Whether `address` is in memory of the host that is pinned (or managed) at `op`. */
static bool is_pinned(const struct state *s, uint64_t address, uint64_t op)
{
    const struct cts_catalogue *const c = s->catalogue;
    for (size_t i = 0; i < c->allocation_count; i++) {
        const struct cts_allocation *const row = &c->allocations[i];
        if (row->rank != s->rank || row->op > op || row->freed_op <= op || address < row->address ||
            address - row->address >= row->size_bytes)
            continue;
        const char *const kind = row->kind ? row->kind : "";
        if (!strcmp(kind, "pinned") || !strcmp(kind, "mapped") || !strcmp(kind, "managed"))
            return true;
    }
    return false;
}

/* ---- what a rank has ---- */

static enum cts_status add_request(struct state *s, uint64_t op, enum request_kind kind,
                                   size_t index)
{
    if (CTS_ARRAY_RESERVE(&s->requests, s->requests.count + 1, s->error)) return CTS_MEMORY;
    s->requests.items[s->requests.count++] = (struct request){op, kind, index};
    return CTS_OK;
}

static int by_op(const void *left, const void *right)
{
    const struct request *const a = left, *const b = right;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static bool is_step(const struct state *s, uint64_t op)
{
    const struct cts_catalogue *const c = s->catalogue;
    const size_t at =
        CTS_SEARCH(c->graph_node_count, i,
                   c->graph_nodes[i].rank < s->rank ||
                       (c->graph_nodes[i].rank == s->rank && c->graph_nodes[i].op < op));
    return at < c->graph_node_count && c->graph_nodes[at].rank == s->rank &&
           c->graph_nodes[at].op == op;
}

#define EACH_ROW(rows, count, i)                                                                   \
    for (size_t i = 0; i < s->catalogue->count && !status; i++)                                    \
        if (s->catalogue->rows[i].rank == s->rank)

static enum cts_status collect_requests(struct state *s)
{
    const struct cts_catalogue *const c = s->catalogue;
    enum cts_status status = CTS_OK;
    EACH_ROW(launches, launch_count, i)
    if (!is_step(s, c->launches[i].op))
        status = add_request(s, c->launches[i].op, REQUEST_LAUNCH, i);
    EACH_ROW(copies, copy_count, i)
    if (!is_step(s, c->copies[i].op)) status = add_request(s, c->copies[i].op, REQUEST_COPY, i);
    EACH_ROW(syncs, sync_count, i) status = add_request(s, c->syncs[i].op, REQUEST_SYNC, i);
    EACH_ROW(host_accesses, host_access_count, i)
    if (s->function_of[i] == SIZE_MAX)
        status =
            add_request(s, c->host_accesses[i].op,
                        c->host_accesses[i].is_store ? REQUEST_HOST_STORE : REQUEST_HOST_LOAD, i);
    EACH_ROW(host_functions, host_function_count, i)
    {
        if (!is_step(s, c->host_functions[i].op))
            status = add_request(s, c->host_functions[i].op, REQUEST_FUNCTION, i);
        if (!status && at_least(s, CTS_FLOW_SIGNALS))
            status = add_request(s, c->host_functions[i].end_op, REQUEST_FUNCTION_END, i);
    }
    EACH_ROW(allocations, allocation_count, i)
    {
        status = add_request(s, c->allocations[i].op, REQUEST_ALLOCATION, i);
        if (!status && c->allocations[i].freed_op != UINT64_MAX)
            status = add_request(s, c->allocations[i].freed_op, REQUEST_FREE, i);
    }
    for (size_t i = 0; i < s->step_count && !status; i++)
        if (i == 0 || s->steps[i].launch_op != s->steps[i - 1].launch_op)
            status = add_request(s, s->steps[i].launch_op, REQUEST_GRAPH, i);
    if (s->requests.count)
        qsort(s->requests.items, s->requests.count, sizeof *s->requests.items, by_op);
    return status;
}

static int by_u32(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static size_t make_distinct(uint32_t *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, by_u32);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (!distinct || numbers[distinct - 1] != numbers[i]) numbers[distinct++] = numbers[i];
    return distinct;
}

static enum cts_status collect_threads(struct state *s)
{
    const struct cts_catalogue *const c = s->catalogue;
    const size_t first = CTS_SEARCH(c->call_count, i, c->calls[i].rank < s->rank);
    s->calls = c->call_count ? c->calls + first : NULL;
    while (first + s->call_count < c->call_count && s->calls[s->call_count].rank == s->rank)
        s->call_count++;
    s->threads = cts_array_zeroed(s->call_count + 1, sizeof *s->threads, s->error);
    if (!s->threads) return CTS_MEMORY;
    for (size_t i = 0; i < s->call_count; i++) s->threads[i + 1] = s->calls[i].thread;
    s->thread_count = (uint32_t)make_distinct(s->threads, s->call_count + 1);
    return CTS_OK;
}

static int by_launch_and_node(const void *left, const void *right)
{
    const struct cts_graph_node *const a = left, *const b = right;
    if (a->launch_op != b->launch_op) return a->launch_op < b->launch_op ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

static enum cts_status collect_graphs(struct state *s)
{
    const struct cts_catalogue *const c = s->catalogue;
    enum cts_status status = cts_flow_graphs_make(c, s->rank, &s->graphs, s->error);
    if (status) return status;
    s->steps = cts_array_zeroed(c->graph_node_count, sizeof *s->steps, s->error);
    s->graph_ends = cts_array_zeroed(s->graphs.count, sizeof *s->graph_ends, s->error);
    if (!s->steps || !s->graph_ends) return CTS_MEMORY;
    for (size_t i = 0; i < c->graph_node_count; i++)
        if (c->graph_nodes[i].rank == s->rank) s->steps[s->step_count++] = c->graph_nodes[i];
    qsort(s->steps, s->step_count, sizeof *s->steps, by_launch_and_node);
    return CTS_OK;
}

/* The launch, copy or host function with an op: its stream, CTS_NONE where there is none. */
struct work {
    enum request_kind kind;
    size_t index;
    uint32_t stream;
};

#define FIND(rows, count)                                                                          \
    CTS_SEARCH(c->count, at_row,                                                                   \
               c->rows[at_row].rank < s->rank ||                                                   \
                   (c->rows[at_row].rank == s->rank && c->rows[at_row].op < op))
#define FOUND(rows, count, at)                                                                     \
    ((at) < c->count && c->rows[at].rank == s->rank && c->rows[at].op == op)

static struct work work_at(const struct state *s, uint64_t op)
{
    const struct cts_catalogue *const c = s->catalogue;
    size_t at = FIND(launches, launch_count);
    if (FOUND(launches, launch_count, at))
        return (struct work){REQUEST_LAUNCH, at, c->launches[at].stream};
    at = FIND(copies, copy_count);
    if (FOUND(copies, copy_count, at)) return (struct work){REQUEST_COPY, at, c->copies[at].stream};
    at = FIND(host_functions, host_function_count);
    if (FOUND(host_functions, host_function_count, at))
        return (struct work){REQUEST_FUNCTION, at, c->host_functions[at].stream};
    return (struct work){REQUEST_SYNC, 0, CTS_NONE};
}

/* Streams have rows, or launches, copies, functions and calls that name them. */
static enum cts_status collect_streams(struct state *s)
{
    const struct cts_catalogue *const c = s->catalogue;
    uint32_t *const ids = cts_array_zeroed(c->stream_count + c->launch_count + c->copy_count +
                                               c->host_function_count + s->call_count,
                                           sizeof *ids, s->error);
    if (!ids) return CTS_MEMORY;
    size_t n = 0;
    for (size_t i = 0; i < c->stream_count; i++)
        if (c->streams[i].rank == s->rank) ids[n++] = c->streams[i].stream;
    for (size_t i = 0; i < c->launch_count; i++)
        if (c->launches[i].rank == s->rank) ids[n++] = c->launches[i].stream;
    for (size_t i = 0; i < c->copy_count; i++)
        if (c->copies[i].rank == s->rank) ids[n++] = c->copies[i].stream;
    for (size_t i = 0; i < c->host_function_count; i++)
        if (c->host_functions[i].rank == s->rank) ids[n++] = c->host_functions[i].stream;
    for (size_t i = 0; i < s->call_count; i++)
        if (s->calls[i].stream != CTS_NONE) ids[n++] = s->calls[i].stream;
    s->stream_count = (uint32_t)make_distinct(ids, n);
    s->streams = cts_array_zeroed(s->stream_count, sizeof *s->streams, s->error);
    for (uint32_t i = 0; s->streams && i < s->stream_count; i++)
        s->streams[i] = (struct stream){.id = ids[i], .branch_count = 1};
    free(ids);
    if (!s->streams) return CTS_MEMORY;
    for (size_t i = 0; i < c->stream_count; i++) {
        const struct cts_cuda_stream *const row = &c->streams[i];
        if (row->rank != s->rank) continue;
        struct stream *const stream = stream_of(s, row->stream);
        const char *const kind = row->kind ? row->kind : "";
        stream->is_known = true;
        stream->device = row->device;
        stream->is_legacy = !strcmp(kind, "legacy default");
        stream->is_blocking = !strcmp(kind, "blocking") || !strcmp(kind, "per-thread default");
    }
    return CTS_OK;
}

/* As many branches as the widest of its graphs has. */
static void count_branches(struct state *s)
{
    for (size_t i = 0; i < s->step_count; i++) {
        struct stream *const stream = stream_of(s, work_at(s, s->steps[i].op).stream);
        const uint32_t count = cts_flow_graph_find(&s->graphs, s->steps[i].graph)->branch_count;
        if (stream && stream->branch_count < count) stream->branch_count = count;
    }
}

static enum cts_status number_chains(struct state *s)
{
    uint64_t count = 2 * (uint64_t)s->thread_count;
    for (uint32_t i = 0; i < s->stream_count; i++) {
        s->streams[i].chain = (uint32_t)count;
        count += s->streams[i].branch_count;
        if (count > CHAINS_MAX) break;
    }
    if (count > CHAINS_MAX)
        return cts_fail(s->error, CTS_LIMIT,
                        "rank %u has more than %d streams, branches of graphs and host threads",
                        s->rank, CHAINS_MAX);
    s->chain_count = (uint32_t)count;
    s->words = s->chain_count + 1;
    s->positions = cts_array_zeroed(s->chain_count, sizeof *s->positions, s->error);
    s->last_clocks = cts_array_zeroed(s->chain_count, sizeof *s->last_clocks, s->error);
    s->thread_clocks = cts_array_zeroed(s->thread_count, sizeof *s->thread_clocks, s->error);
    s->free_clocks = cts_array_zeroed(s->thread_count, sizeof *s->free_clocks, s->error);
    s->shared = new_clock(s);
    if (!s->positions || !s->last_clocks || !s->thread_clocks || !s->free_clocks || !s->shared)
        return CTS_MEMORY;
    for (uint32_t i = 0; i < s->chain_count; i++) s->last_clocks[i] = SIZE_MAX;
    for (uint32_t i = 0; i < s->thread_count; i++)
        if (!(s->thread_clocks[i] = new_clock(s)) || !(s->free_clocks[i] = new_clock(s)))
            return CTS_MEMORY;
    for (uint32_t i = 0; i < s->stream_count; i++)
        if (!(s->streams[i].clock = new_clock(s))) return CTS_MEMORY;
    return CTS_OK;
}

/* Which CPU accesses host functions made. */
static enum cts_status find_function_accesses(struct state *s)
{
    const struct cts_catalogue *const c = s->catalogue;
    s->function_of = cts_array_zeroed(c->host_access_count, sizeof *s->function_of, s->error);
    s->function_ends = cts_array_zeroed(c->host_function_count, sizeof *s->function_ends, s->error);
    if (!s->function_of || !s->function_ends) return CTS_MEMORY;
    for (size_t i = 0; i < c->host_access_count; i++) s->function_of[i] = SIZE_MAX;
    for (size_t f = 0; f < c->host_function_count; f++) {
        const struct cts_host_function *const row = &c->host_functions[f];
        if (row->rank != s->rank) continue;
        const uint64_t op = row->begin_op;
        for (size_t i = FIND(host_accesses, host_access_count);
             i < c->host_access_count && c->host_accesses[i].rank == s->rank &&
             c->host_accesses[i].op <= row->end_op;
             i++)
            if (thread_at(s, c->host_accesses[i].op) == row->thread) s->function_of[i] = f;
    }
    return CTS_OK;
}

/* ---- works of streams ---- */

/* Before a stream is used: what the rules of default streams add to its clock. */
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

/* A stream is about to get something from a host thread. */
static void begin_work(struct state *s, struct stream *stream, uint32_t thread)
{
    apply_default_stream(s, stream);
    join(s, stream->clock, s->thread_clocks[thread]);
}

static struct cts_flow_node launch_node(const struct state *s, size_t index)
{
    const struct cts_launch *const row = &s->catalogue->launches[index];
    return (struct cts_flow_node){
        .kind = CTS_FLOW_LAUNCH, .index = index, .op = row->op, .stream = row->stream};
}

static struct cts_flow_node copy_node(const struct state *s, size_t index)
{
    const struct cts_copy *const row = &s->catalogue->copies[index];
    const bool is_memset = is_kind(row, "memset");
    const bool is_upload = is_kind(row, "HtoD");
    return (struct cts_flow_node){.kind = is_memset ? CTS_FLOW_MEMSET : CTS_FLOW_COPY,
                                  .index = index,
                                  .op = row->op,
                                  .stream = row->stream,
                                  .is_staged = is_upload && !is_step(s, row->op) &&
                                               !is_pinned(s, row->source, row->op)};
}

/* The CPU loads or stores of a host function, all at its place. */
static enum cts_status add_accesses(struct state *s, size_t index, bool stores, uint32_t chain,
                                    const uint32_t *clock)
{
    const struct cts_catalogue *const c = s->catalogue;
    const struct cts_host_function *const row = &c->host_functions[index];
    const uint64_t op = row->begin_op;
    enum cts_status status = CTS_OK;
    for (size_t i = FIND(host_accesses, host_access_count);
         i < c->host_access_count && c->host_accesses[i].rank == s->rank &&
         c->host_accesses[i].op <= row->end_op && !status;
         i++) {
        if (s->function_of[i] != index || c->host_accesses[i].is_store != stores) continue;
        const struct cts_flow_node node = {.kind =
                                               stores ? CTS_FLOW_HOST_STORE : CTS_FLOW_HOST_LOAD,
                                           .is_in_stream = true,
                                           .index = i,
                                           .op = row->op,
                                           .thread = row->thread,
                                           .stream = row->stream,
                                           .chain = chain};
        status = add_node(s, &node, clock);
    }
    return status;
}

static enum cts_status add_function(struct state *s, size_t index, uint32_t chain, uint32_t *clock)
{
    const struct cts_host_function *const row = &s->catalogue->host_functions[index];
    enum cts_status status = add_accesses(s, index, false, chain, clock);
    if (!status) status = add_accesses(s, index, true, chain, clock);
    if (status) return status;
    pass(s, chain, clock);
    const uint32_t end = row->end_op < UINT32_MAX ? (uint32_t)row->end_op : UINT32_MAX;
    if (clock[s->chain_count] < end) clock[s->chain_count] = end;
    if (!at_least(s, CTS_FLOW_SIGNALS)) return CTS_OK;
    if (!s->function_ends[index]) s->function_ends[index] = new_clock(s);
    if (!s->function_ends[index]) return CTS_MEMORY;
    join(s, s->function_ends[index], clock);
    return CTS_OK;
}

/* A work of a stream or graph whose clock is `clock`; `clock` then knows it. */
static enum cts_status add_work(struct state *s, const struct work *work, uint32_t thread,
                                uint32_t chain, uint32_t *clock)
{
    if (work->kind == REQUEST_FUNCTION) return add_function(s, work->index, chain, clock);
    struct cts_flow_node node =
        work->kind == REQUEST_LAUNCH ? launch_node(s, work->index) : copy_node(s, work->index);
    node.is_in_stream = true;
    node.thread = thread;
    node.chain = chain;
    const enum cts_status status = add_node(s, &node, clock);
    if (status) return status;
    pass(s, chain, clock);
    if (at_least(s, CTS_FLOW_SIGNALS) && work->kind == REQUEST_LAUNCH && s->options->tells_host &&
        s->options->tells_host[work->index])
        join(s, s->shared, clock);
    return CTS_OK;
}

/* What the thread knows when a copy's or memset's call returns. */
static void return_from_copy(struct state *s, const struct cts_copy *copy, uint32_t thread,
                             const uint32_t *clock)
{
    const bool is_async = is_asynchronous(s, copy);
    bool waits;
    if (is_kind(copy, "HtoH"))
        waits = true;
    else if (is_kind(copy, "HtoD"))
        waits = !is_async;
    else if (is_kind(copy, "DtoH"))
        waits = !is_async ||
                (at_least(s, CTS_FLOW_CALLS) && !is_pinned(s, copy->destination, copy->op));
    else if (is_kind(copy, "memset"))
        waits = !is_async && call_at(s, copy->op) && is_pinned(s, copy->destination, copy->op);
    else
        waits = false;
    if (waits) join(s, s->thread_clocks[thread], clock);
}

static enum cts_status issue(struct state *s, const struct work *work, uint32_t thread)
{
    struct stream *const stream = stream_of(s, work->stream);
    if (!stream) return CTS_OK;
    begin_work(s, stream, thread);
    const enum cts_status status =
        add_work(s, work, s->threads[thread], stream->chain, stream->clock);
    if (!status && work->kind == REQUEST_COPY)
        return_from_copy(s, &s->catalogue->copies[work->index], thread, stream->clock);
    return status;
}

/* ---- graphs ---- */

/* The clocks behind each node of one launch, and the launch's end in `end`. `ends`: one for each
 * node of the graph. */
static enum cts_status run_graph(struct state *s, size_t first, uint32_t thread,
                                 const struct stream *stream, uint32_t *ends, uint32_t *end)
{
    const uint64_t launch_op = s->steps[first].launch_op;
    const struct cts_flow_graph *const graph =
        cts_flow_graph_find(&s->graphs, s->steps[first].graph);
    size_t step = first;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        uint32_t *const clock = ends + (size_t)n * s->words;
        memcpy(clock, stream->clock, s->words * sizeof *clock);
        for (uint32_t e = graph->edge_begin[n]; e < graph->edge_begin[n + 1]; e++)
            join(s, clock, ends + (size_t)graph->after[e] * s->words);
        for (; step < s->step_count && s->steps[step].launch_op == launch_op &&
               s->steps[step].node == n;
             step++) {
            const struct work work = work_at(s, s->steps[step].op);
            if (work.kind == REQUEST_SYNC) continue; /* a copy that never ended has no row */
            const enum cts_status status =
                add_work(s, &work, s->threads[thread], stream->chain + graph->branch[n], clock);
            if (status) return status;
        }
        join(s, end, clock);
    }
    return CTS_OK;
}

static enum cts_status launch_graph(struct state *s, size_t first, uint32_t thread)
{
    struct stream *stream = NULL;
    for (size_t i = first; i < s->step_count && !stream; i++)
        if (s->steps[i].launch_op == s->steps[first].launch_op)
            stream = stream_of(s, work_at(s, s->steps[i].op).stream);
    if (!stream) return CTS_OK;
    begin_work(s, stream, thread);
    const struct cts_flow_graph *const graph =
        cts_flow_graph_find(&s->graphs, s->steps[first].graph);
    if (stream->branch_count < graph->branch_count)
        return cts_fail(s->error, CTS_FORMAT,
                        "table 'graph_nodes': op %llu belongs to several graphs",
                        (unsigned long long)s->steps[first].op);
    uint32_t **const before = &s->graph_ends[graph - s->graphs.items];
    if (*before) join(s, stream->clock, *before);
    if (!*before && !(*before = new_clock(s))) return CTS_MEMORY;
    uint32_t *const ends =
        cts_array_zeroed((size_t)graph->node_count * s->words, sizeof *ends, s->error);
    uint32_t *const end = new_clock(s);
    enum cts_status status = ends && end ? CTS_OK : CTS_MEMORY;
    if (!status) status = run_graph(s, first, thread, stream, ends, end);
    if (!status) join(s, stream->clock, end);
    if (!status) memcpy(*before, stream->clock, s->words * sizeof *end);
    free(ends);
    free(end);
    return status;
}

/* ---- memory ---- */

static void insert_freed(struct state *s, size_t at, const struct freed *stretch)
{
    memmove(s->freed.items + at + 1, s->freed.items + at,
            (s->freed.count - at) * sizeof *s->freed.items);
    s->freed.items[at] = *stretch;
    s->freed.count++;
}

/* Cuts a stretch in two at `address`, if one lies across it. */
static enum cts_status cut_freed(struct state *s, uint64_t address)
{
    const size_t at = CTS_SEARCH(s->freed.count, i, s->freed.items[i].end <= address);
    if (at == s->freed.count || s->freed.items[at].start >= address) return CTS_OK;
    uint32_t *const clock = new_clock(s);
    if (!clock) return CTS_MEMORY;
    memcpy(clock, s->freed.items[at].clock, s->words * sizeof *clock);
    const struct freed tail = {address, s->freed.items[at].end, clock};
    s->freed.items[at].end = address;
    insert_freed(s, at + 1, &tail);
    return CTS_OK;
}

/* What is freed in [start, end) is one stretch with `clock`, which is then the list's. */
static enum cts_status set_freed(struct state *s, uint64_t start, uint64_t end, uint32_t *clock)
{
    if (CTS_ARRAY_RESERVE(&s->freed, s->freed.count + 3, s->error) || cut_freed(s, start) ||
        cut_freed(s, end)) {
        free(clock);
        return CTS_MEMORY;
    }
    const size_t low = CTS_SEARCH(s->freed.count, i, s->freed.items[i].end <= start);
    size_t high = low;
    while (high < s->freed.count && s->freed.items[high].start < end) high++;
    for (size_t i = low; i < high; i++) free(s->freed.items[i].clock);
    memmove(s->freed.items + low, s->freed.items + high,
            (s->freed.count - high) * sizeof *s->freed.items);
    s->freed.count -= high - low;
    insert_freed(s, low, &(struct freed){start, end, clock});
    return CTS_OK;
}

/* What was freed there before. */
static void join_freed(const struct state *s, uint64_t start, uint64_t end, uint32_t *clock)
{
    for (size_t i = CTS_SEARCH(s->freed.count, k, s->freed.items[k].end <= start);
         i < s->freed.count && s->freed.items[i].start < end; i++)
        join(s, clock, s->freed.items[i].clock);
}

static enum cts_status allocate(struct state *s, size_t index, uint64_t op, uint32_t thread)
{
    const struct cts_allocation *const row = &s->catalogue->allocations[index];
    const struct cts_host_call *const call = call_at(s, op);
    struct stream *const stream =
        call && call->stream != CTS_NONE ? stream_of(s, call->stream) : NULL;
    struct cts_flow_node node = {.kind = CTS_FLOW_ALLOCATION,
                                 .is_in_stream = stream != NULL,
                                 .index = index,
                                 .op = op,
                                 .thread = s->threads[thread],
                                 .stream = stream ? stream->id : CTS_NONE,
                                 .chain = stream ? stream->chain : thread};
    if (stream) begin_work(s, stream, thread);
    uint32_t *const clock = stream ? stream->clock : s->thread_clocks[thread];
    join_freed(s, row->address, row->address + row->size_bytes, clock);
    const enum cts_status status = add_node(s, &node, clock);
    if (!status) pass(s, node.chain, clock);
    return status;
}

/* cudaFree waits for the device, which the thread may notice, but is not promised to. */
static enum cts_status free_on_host(struct state *s, struct cts_flow_node *node, uint32_t thread,
                                    uint32_t *clock)
{
    const struct cts_allocation *const row = &s->catalogue->allocations[node->index];
    join(s, clock, s->thread_clocks[thread]);
    join(s, clock, s->free_clocks[thread]);
    for (uint32_t i = 0; i < s->stream_count; i++)
        if (!s->streams[i].is_known || s->streams[i].device == row->device)
            join(s, clock, s->streams[i].clock);
    node->chain = s->thread_count + thread;
    const enum cts_status status = add_node(s, node, clock);
    if (status) return status;
    pass(s, node->chain, clock);
    join(s, s->free_clocks[thread], clock);
    if (at_least(s, CTS_FLOW_CALLS)) join(s, s->thread_clocks[thread], clock);
    return CTS_OK;
}

static enum cts_status free_memory(struct state *s, size_t index, uint64_t op, uint32_t thread)
{
    const struct cts_allocation *const row = &s->catalogue->allocations[index];
    const struct cts_host_call *const call = call_at(s, op);
    struct stream *const stream =
        call && call->stream != CTS_NONE ? stream_of(s, call->stream) : NULL;
    struct cts_flow_node node = {.kind = CTS_FLOW_FREE,
                                 .is_in_stream = stream != NULL,
                                 .index = index,
                                 .op = op,
                                 .thread = s->threads[thread],
                                 .stream = stream ? stream->id : CTS_NONE};
    uint32_t *const clock = new_clock(s);
    if (!clock) return CTS_MEMORY;
    enum cts_status status = CTS_OK;
    const uint64_t end = row->address + row->size_bytes;
    if (stream) {
        begin_work(s, stream, thread);
        node.chain = stream->chain;
        status = add_node(s, &node, stream->clock);
        if (!status) pass(s, node.chain, stream->clock);
        join(s, clock, stream->clock);
    } else {
        status = free_on_host(s, &node, thread, clock);
    }
    join_freed(s, row->address, end, clock);
    if (!status && row->size_bytes) return set_freed(s, row->address, end, clock);
    free(clock);
    return status;
}

/* ---- synchronisations ---- */

static enum cts_status record_event(struct state *s, uint64_t event, const uint32_t *clock)
{
    uint64_t *const place = cts_map_at(&s->events, event, s->error);
    if (!place) return CTS_MEMORY;
    if (!*place) {
        const size_t count = s->event_clocks.count;
        if (CTS_ARRAY_RESERVE(&s->event_clocks, count + s->words, s->error)) return CTS_MEMORY;
        s->event_clocks.count += s->words;
        *place = count + 1;
    }
    memcpy(s->event_clocks.items + *place - 1, clock, s->words * sizeof *clock);
    return CTS_OK;
}

static const uint32_t *event_clock(const struct state *s, uint64_t event)
{
    const uint64_t *const place = cts_map_find(&s->events, event);
    return place ? s->event_clocks.items + *place - 1 : NULL;
}

/* The device: of the row's stream, the thread's current one, or the only one that has streams. */
static void synchronise_device(struct state *s, const struct cts_sync *sync,
                               const struct stream *named, uint32_t *clock)
{
    const struct cts_host_call *const call = call_at(s, sync->op);
    const struct stream *some = NULL;
    bool several = false;
    for (uint32_t i = 0; i < s->stream_count; i++) {
        if (!s->streams[i].is_known) continue;
        if (!some) some = &s->streams[i];
        several |= some->device != s->streams[i].device;
    }
    const bool is_told = named || (call && call->api);
    const uint32_t device = named ? named->device : is_told ? call->device : 0;
    const bool any = !is_told && !several;
    for (uint32_t i = 0; i < s->stream_count; i++) {
        const struct stream *const stream = &s->streams[i];
        const bool fits = is_told && stream->is_known && stream->device == device;
        if (any || fits || (!is_told && at_least(s, CTS_FLOW_CALLS))) join(s, clock, stream->clock);
    }
}

static enum cts_status synchronise(struct state *s, const struct cts_sync *sync, uint32_t thread)
{
    if (sync->result != 0 || !sync->kind) return CTS_OK; /* failed, or said 'not yet' */
    struct stream *const stream = sync->stream != CTS_NONE ? stream_of(s, sync->stream) : NULL;
    const uint32_t *const event = event_clock(s, sync->event);
    uint32_t *const host = s->thread_clocks[thread];
    if (!strcmp(sync->kind, "event record") && stream) {
        begin_work(s, stream, thread);
        return record_event(s, sync->event, stream->clock);
    }
    if (!strcmp(sync->kind, "stream wait") && stream) {
        begin_work(s, stream, thread);
        if (event) join(s, stream->clock, event);
    } else if (!strcmp(sync->kind, "event sync") || !strcmp(sync->kind, "event query")) {
        if (event) join(s, host, event);
    } else if (!strcmp(sync->kind, "stream sync") || !strcmp(sync->kind, "stream query")) {
        if (!stream) return CTS_OK;
        join(s, host, stream->clock);
        for (uint32_t i = 0; i < s->stream_count && stream->is_legacy; i++)
            if (at_least(s, CTS_FLOW_CALLS) && s->streams[i].is_blocking &&
                s->streams[i].device == stream->device && sync->kind[7] == 's')
                join(s, host, s->streams[i].clock);
    } else if (!strcmp(sync->kind, "device sync")) {
        synchronise_device(s, sync, stream, host);
    }
    return CTS_OK;
}

/* ---- the whole ---- */

static enum cts_status access_from_host(struct state *s, size_t index, uint32_t thread)
{
    const struct cts_host_access *const row = &s->catalogue->host_accesses[index];
    const struct cts_flow_node node = {.kind =
                                           row->is_store ? CTS_FLOW_HOST_STORE : CTS_FLOW_HOST_LOAD,
                                       .index = index,
                                       .op = row->op,
                                       .thread = s->threads[thread],
                                       .stream = CTS_NONE,
                                       .chain = thread};
    const enum cts_status status = add_node(s, &node, s->thread_clocks[thread]);
    if (!status) pass(s, thread, s->thread_clocks[thread]);
    return status;
}

static enum cts_status take(struct state *s, const struct request *request, uint32_t thread)
{
    switch (request->kind) {
    case REQUEST_LAUNCH:
    case REQUEST_COPY:
    case REQUEST_FUNCTION: {
        const struct work work = work_at(s, request->op);
        return issue(s, &(struct work){request->kind, request->index, work.stream}, thread);
    }
    case REQUEST_GRAPH:
        return launch_graph(s, request->index, thread);
    case REQUEST_ALLOCATION:
        return allocate(s, request->index, request->op, thread);
    case REQUEST_FREE:
        return free_memory(s, request->index, request->op, thread);
    case REQUEST_HOST_LOAD:
    case REQUEST_HOST_STORE:
        return access_from_host(s, request->index, thread);
    case REQUEST_SYNC:
        return synchronise(s, &s->catalogue->syncs[request->index], thread);
    case REQUEST_FUNCTION_END:
        break;
    }
    if (s->function_ends[request->index]) join(s, s->shared, s->function_ends[request->index]);
    return CTS_OK;
}

static enum cts_status walk(struct state *s)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < s->requests.count && !status; i++) {
        const struct request *const request = &s->requests.items[i];
        const uint32_t thread = thread_index(s, thread_at(s, request->op));
        uint32_t *const clock = s->thread_clocks[thread];
        if (at_least(s, CTS_FLOW_THREADS)) join(s, clock, s->shared);
        status = take(s, request, thread);
        if (at_least(s, CTS_FLOW_THREADS)) join(s, s->shared, clock);
    }
    return status;
}

static void release_state(struct state *s)
{
    const struct cts_catalogue *const c = s->catalogue;
    for (uint32_t i = 0; s->streams && i < s->stream_count; i++) free(s->streams[i].clock);
    for (uint32_t i = 0; s->thread_clocks && i < s->thread_count; i++) free(s->thread_clocks[i]);
    for (uint32_t i = 0; s->free_clocks && i < s->thread_count; i++) free(s->free_clocks[i]);
    for (size_t i = 0; s->graph_ends && i < s->graphs.count; i++) free(s->graph_ends[i]);
    for (size_t i = 0; s->function_ends && i < c->host_function_count; i++)
        free(s->function_ends[i]);
    for (size_t i = 0; i < s->freed.count; i++) free(s->freed.items[i].clock);
    free(s->streams);
    free(s->thread_clocks);
    free(s->free_clocks);
    free(s->graph_ends);
    free(s->function_ends);
    free(s->function_of);
    free(s->freed.items);
    free(s->requests.items);
    free(s->threads);
    free(s->steps);
    free(s->positions);
    free(s->last_clocks);
    free(s->shared);
    free(s->event_clocks.items);
    cts_map_release(&s->events);
    cts_flow_graphs_release(&s->graphs);
}

static enum cts_status order_rank(const struct cts_catalogue *catalogue, size_t rank_index,
                                  const struct cts_flow_order_options *options,
                                  struct cts_flow_order *order, struct cts_error *error)
{
    struct state s = {.catalogue = catalogue,
                      .options = options,
                      .order = order,
                      .error = error,
                      .rank = order->ranks[rank_index]};
    enum cts_status status = collect_threads(&s);
    if (!status) status = find_function_accesses(&s);
    if (!status) status = collect_graphs(&s);
    if (!status) status = collect_streams(&s);
    if (!status) count_branches(&s);
    if (!status) status = number_chains(&s);
    if (!status) status = collect_requests(&s);
    order->chain_counts[rank_index] = s.chain_count;
    if (!status) status = walk(&s);
    release_state(&s);
    return status;
}

enum cts_status cts_flow_order_make(const struct cts_catalogue *catalogue,
                                    const struct cts_flow_order_options *options,
                                    struct cts_flow_order *order, struct cts_error *error)
{
    const struct cts_catalogue *const c = catalogue;
    *order = (struct cts_flow_order){0};
    const size_t most = c->rank_count + c->launch_count + c->copy_count + c->allocation_count;
    order->ranks = cts_array_zeroed(most, sizeof *order->ranks, error);
    order->chain_counts = cts_array_zeroed(most, sizeof *order->chain_counts, error);
    enum cts_status status = order->ranks && order->chain_counts ? CTS_OK : CTS_MEMORY;
    size_t n = 0;
    for (size_t i = 0; !status && i < c->rank_count; i++) order->ranks[n++] = c->ranks[i].rank;
    for (size_t i = 0; !status && i < c->launch_count; i++) order->ranks[n++] = c->launches[i].rank;
    for (size_t i = 0; !status && i < c->copy_count; i++) order->ranks[n++] = c->copies[i].rank;
    for (size_t i = 0; !status && i < c->allocation_count; i++)
        order->ranks[n++] = c->allocations[i].rank;
    if (!status) order->rank_count = make_distinct(order->ranks, n);
    for (size_t i = 0; !status && i < order->rank_count; i++)
        status = order_rank(catalogue, i, options, order, error);
    if (status) cts_flow_order_release(order);
    return status;
}

void cts_flow_order_release(struct cts_flow_order *order)
{
    free(order->nodes);
    free(order->clocks);
    free(order->chain_counts);
    free(order->ranks);
    *order = (struct cts_flow_order){0};
}
