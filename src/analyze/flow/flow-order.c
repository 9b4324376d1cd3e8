/* The requests of a rank in the order of the host's calls, and the pass over them (flow-clocks.h).
 *
 * n requests and c chains: O(n c) time; clocks that did not change are kept once. */
#include "analyze/flow/flow-order.h"

#include <stdlib.h>

#include "analyze/flow/flow-clocks.h"
#include "common/array.h"
#include "common/search.h"
#include "common/sort.h"
#include "common/promise.h"

enum request_kind {
    REQUEST_THREAD_EDGE,  /* what another thread knew is known from here on */
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
    REQUEST_THREAD_KNOWS, /* what a thread knows here is told later: the edge's other end */
};

struct request {
    uint64_t op;
    enum request_kind kind;
    size_t index;
};

struct requests {
    const struct cts_flow_rows *rows;
    struct cts_error *error;
    struct request *items;
    size_t count, capacity;
};

static enum cts_status add_request(struct requests *r, uint64_t op, enum request_kind kind,
                                   size_t index)
{
    if (CTS_ARRAY_RESERVE(r, r->count + 1, r->error)) return CTS_MEMORY;
    r->items[r->count++] = (struct request){op, kind, index};
    return CTS_OK;
}

static int by_op(const void *left, const void *right)
{
    const struct request *const a = left, *const b = right;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Where it is not known, the host may know at once; only functions of graphs are so, which are
 * requested with their graph, before. */
static uint64_t function_end(const struct cts_host_function *function)
{
    return function->end_op != UINT64_MAX ? function->end_op : function->op;
}

#define EACH_ROW(table, rows_of, i)                                                                \
    for (size_t i = 0; i < c->rows_of && !status; i++)                                             \
        if (c->table[i].rank == r->rows->rank)

static enum cts_status collect_requests(struct requests *r, bool with_function_ends)
{
    const struct cts_catalogue *const c = r->rows->catalogue;
    enum cts_status status = CTS_OK;
    EACH_ROW(launches, launch_count, i)
    if (!cts_flow_is_step(r->rows, c->launches[i].op))
        status = add_request(r, c->launches[i].op, REQUEST_LAUNCH, i);
    EACH_ROW(copies, copy_count, i)
    if (!cts_flow_is_step(r->rows, c->copies[i].op))
        status = add_request(r, c->copies[i].op, REQUEST_COPY, i);
    EACH_ROW(syncs, sync_count, i) status = add_request(r, c->syncs[i].op, REQUEST_SYNC, i);
    EACH_ROW(host_accesses, host_access_count, i)
    if (r->rows->function_of[i] == SIZE_MAX)
        status =
            add_request(r, c->host_accesses[i].op,
                        c->host_accesses[i].is_store ? REQUEST_HOST_STORE : REQUEST_HOST_LOAD, i);
    EACH_ROW(host_functions, host_function_count, i)
    {
        if (!cts_flow_is_step(r->rows, c->host_functions[i].op))
            status = add_request(r, c->host_functions[i].op, REQUEST_FUNCTION, i);
        if (!status && with_function_ends)
            status = add_request(r, function_end(&c->host_functions[i]), REQUEST_FUNCTION_END, i);
    }
    EACH_ROW(allocations, allocation_count, i)
    {
        status = add_request(r, c->allocations[i].op, REQUEST_ALLOCATION, i);
        if (!status && c->allocations[i].freed_op != UINT64_MAX)
            status = add_request(r, c->allocations[i].freed_op, REQUEST_FREE, i);
    }
    EACH_ROW(thread_edges, thread_edge_count, i)
    if (cts_flow_call_at(r->rows, c->thread_edges[i].op) &&
        cts_flow_call_at(r->rows, c->thread_edges[i].after)) {
        status = add_request(r, c->thread_edges[i].op, REQUEST_THREAD_EDGE, i);
        if (!status) status = add_request(r, c->thread_edges[i].after, REQUEST_THREAD_KNOWS, i);
    }
    for (size_t i = 0; i < r->rows->step_count && !status; i++)
        if (i == 0 || r->rows->steps[i].launch_op != r->rows->steps[i - 1].launch_op)
            status = add_request(r, r->rows->steps[i].launch_op, REQUEST_GRAPH, i);
    if (r->count) qsort(r->items, r->count, sizeof *r->items, by_op);
    return status;
}

static enum cts_flow_work_kind work_kind(enum request_kind kind)
{
    return kind == REQUEST_LAUNCH ? CTS_FLOW_WORK_LAUNCH
           : kind == REQUEST_COPY ? CTS_FLOW_WORK_COPY
                                  : CTS_FLOW_WORK_FUNCTION;
}

static enum cts_status keep_for_edge(struct cts_flow_clocks *clocks, size_t edge, uint32_t thread)
{
    uint32_t *const told = cts_flow_new_clock(clocks);
    if (!told) return CTS_MEMORY;
    cts_flow_join(clocks, told, cts_flow_thread_clock(clocks, thread));
    free(clocks->told[edge]);
    clocks->told[edge] = told;
    return CTS_OK;
}

static enum cts_status take(struct cts_flow_clocks *clocks, const struct request *request,
                            uint32_t thread)
{
    switch (request->kind) {
    case REQUEST_LAUNCH:
    case REQUEST_COPY:
    case REQUEST_FUNCTION: {
        const struct cts_flow_work work = {.kind = work_kind(request->kind),
                                           .index = request->index,
                                           .stream =
                                               cts_flow_work_at(&clocks->rows, request->op).stream};
        return cts_flow_issue(clocks, &work, thread);
    }
    case REQUEST_GRAPH:
        return cts_flow_launch_graph(clocks, request->index, thread);
    case REQUEST_ALLOCATION:
        return cts_flow_allocate(clocks, request->index, thread);
    case REQUEST_FREE:
        return cts_flow_free_memory(clocks, request->index, thread);
    case REQUEST_HOST_LOAD:
    case REQUEST_HOST_STORE:
        return cts_flow_host_access(clocks, request->index, thread);
    case REQUEST_SYNC:
        return cts_flow_synchronise(clocks, request->index, thread);
    case REQUEST_THREAD_KNOWS:
        return keep_for_edge(clocks, request->index, thread);
    case REQUEST_THREAD_EDGE:
        if (clocks->told[request->index]) /* NULL: the edge does not point to an earlier op */
            cts_flow_join(clocks, cts_flow_thread_clock(clocks, thread),
                          clocks->told[request->index]);
        free(clocks->told[request->index]);
        clocks->told[request->index] = NULL;
        return CTS_OK;
    case REQUEST_FUNCTION_END:
        break;
    }
    if (clocks->function_ends[request->index])
        cts_flow_join(clocks, clocks->shared, clocks->function_ends[request->index]);
    return CTS_OK;
}

static enum cts_status take_all(struct cts_flow_clocks *clocks, const struct requests *requests)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < requests->count && !status; i++) {
        const struct request *const request = &requests->items[i];
        const uint32_t thread = cts_flow_thread_index(&clocks->rows, request->op);
        uint32_t *const clock = cts_flow_thread_clock(clocks, thread);
        if (cts_flow_at_least(clocks, CTS_FLOW_THREADS))
            cts_flow_join(clocks, clock, clocks->shared);
        status = take(clocks, request, thread);
        if (cts_flow_at_least(clocks, CTS_FLOW_THREADS))
            cts_flow_join(clocks, clocks->shared, clock);
    }
    return status;
}

static enum cts_status order_rank(const struct cts_catalogue *catalogue, size_t rank_index,
                                  const struct cts_flow_order_options *options,
                                  struct cts_flow_order *order, struct cts_error *error)
{
    struct cts_flow_clocks clocks = {.options = options, .order = order, .error = error};
    struct requests requests = {.rows = &clocks.rows, .error = error};
    enum cts_status status = cts_flow_clocks_start(&clocks, catalogue, order->ranks[rank_index]);
    if (!status) status = collect_requests(&requests, cts_flow_at_least(&clocks, CTS_FLOW_SIGNALS));
    order->chain_counts[rank_index] = clocks.chain_count;
    const struct cts_flow_wait_judge *const waits = options->waits;
    const struct cts_flow_rank rank = {order->ranks[rank_index], clocks.chain_count,
                                       clocks.rows.thread_count};
    if (!status && waits) status = waits->begin(waits->state, &rank, error);
    if (!status) status = take_all(&clocks, &requests);
    if (!status && waits) status = waits->end(waits->state, clocks.thread_clocks, error);
    free(requests.items);
    cts_flow_clocks_release(&clocks);
    return status;
}

uint32_t cts_flow_gate(const struct cts_flow_order *order, size_t node)
{
    assert(node < order->node_count);
    const struct cts_flow_node *const n = &order->nodes[node];
    const size_t rank = CTS_SEARCH(order->rank_count, i, order->ranks[i] < n->rank);
    return order->clocks.items[n->clock + order->chain_counts[rank]];
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
    if (!status) order->rank_count = cts_sort_distinct_u32(order->ranks, n);
    for (size_t i = 0; !status && i < order->rank_count; i++)
        status = order_rank(catalogue, i, options, order, error);
    if (status) cts_flow_order_release(order);
    return status;
}

void cts_flow_order_release(struct cts_flow_order *order)
{
    free(order->nodes);
    free(order->clocks.items);
    free(order->chain_counts);
    free(order->ranks);
    *order = (struct cts_flow_order){0};
}
