#include "analyze/flow/flow-clocks.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

enum { CHAINS_MAX = 4096 };

/* ---- nodes ---- */

uint32_t *cts_flow_new_clock(const struct cts_flow_clocks *clocks)
{
    return cts_array_zeroed(clocks->streams.width, sizeof(uint32_t), clocks->error);
}

enum cts_status cts_flow_add_node(struct cts_flow_clocks *clocks, const struct cts_flow_node *node,
                                  uint32_t *clock)
{
    struct cts_flow_order *const order = clocks->order;
    const struct cts_flow_wait_judge *const waits = clocks->options->waits;
    if (waits) {
        const uint32_t thread = cts_flow_thread_index(&clocks->rows, node->op);
        const enum cts_status judged = waits->node(
            waits->state, thread, clock, cts_flow_thread_clock(clocks, thread), clocks->error);
        if (judged) return judged;
    }
    if (order->node_count == order->node_capacity &&
        cts_array_grow((void **)&order->nodes, &order->node_capacity, order->node_count + 1,
                       sizeof *order->nodes, clocks->error))
        return CTS_MEMORY;
    const struct cts_chain_clock kept = {clock, clocks->streams.width, node->chain};
    size_t *const last = &clocks->last_clocks[node->chain];
    const enum cts_status status = cts_clock_keep(&order->clocks, &kept, last, clocks->error);
    if (status) return status;
    struct cts_flow_node *const added = &order->nodes[order->node_count++];
    *added = *node;
    added->rank = clocks->rows.rank;
    added->position = clocks->positions[node->chain];
    added->clock = *last;
    return CTS_OK;
}

enum cts_status cts_flow_keep_thread_clock(struct cts_flow_clocks *clocks, uint32_t thread,
                                           size_t *place)
{
    const struct cts_chain_clock kept = {cts_flow_thread_clock(clocks, thread),
                                         clocks->streams.width, CTS_NONE};
    const enum cts_status status =
        cts_clock_keep(&clocks->order->clocks, &kept, &clocks->kept_clocks[thread], clocks->error);
    *place = clocks->kept_clocks[thread];
    return status;
}

void cts_flow_pass(struct cts_flow_clocks *clocks, uint32_t chain, uint32_t *clock)
{
    clock[chain] = ++clocks->positions[chain];
}

void cts_flow_begin_work(const struct cts_flow_clocks *clocks, struct cts_stream_clock *stream,
                         uint32_t thread)
{
    cts_stream_clocks_use(&clocks->streams, stream, cts_flow_thread_clock(clocks, thread));
}

/* ---- chains ---- */

/* As many branches as the widest of its graphs has. */
static void count_branches(struct cts_flow_clocks *clocks)
{
    for (uint32_t i = 0; i < clocks->streams.count; i++) clocks->branches[i].count = 1;
    for (size_t i = 0; i < clocks->rows.step_count; i++) {
        const struct cts_graph_node *const step = &clocks->rows.steps[i];
        const struct cts_stream_clock *const stream = cts_stream_clocks_find(
            &clocks->streams, cts_flow_work_at(&clocks->rows, step->op).stream);
        if (!stream) continue;
        const uint32_t count = cts_flow_graph_find(&clocks->graphs, step->graph)->branch_count;
        struct cts_flow_branches *const branches = cts_flow_branches_of(clocks, stream);
        if (branches->count < count) branches->count = count;
    }
}

/* Threads, their frees, then the branches of each stream. */
static enum cts_status number_chains(struct cts_flow_clocks *clocks)
{
    uint64_t count = 2 * (uint64_t)clocks->rows.thread_count;
    for (uint32_t i = 0; i < clocks->streams.count; i++) {
        clocks->branches[i].first = (uint32_t)count;
        count += clocks->branches[i].count;
        if (count > CHAINS_MAX) break;
    }
    if (count > CHAINS_MAX)
        return cts_fail(clocks->error, CTS_LIMIT,
                        "rank %u has more than %d streams, branches of graphs and host threads",
                        clocks->rows.rank, CHAINS_MAX);
    clocks->chain_count = (uint32_t)count;
    return CTS_OK;
}

static enum cts_status make_clocks(struct cts_flow_clocks *clocks)
{
    const uint32_t width = clocks->chain_count + 1;
    const enum cts_status status = cts_stream_clocks_start(&clocks->streams, width, clocks->error);
    if (status) return status;
    clocks->freed.width = width;
    const size_t numbers = (size_t)clocks->rows.thread_count * width;
    clocks->positions =
        cts_array_zeroed(clocks->chain_count, sizeof *clocks->positions, clocks->error);
    clocks->last_clocks =
        cts_array_zeroed(clocks->chain_count, sizeof *clocks->last_clocks, clocks->error);
    clocks->thread_clocks = cts_array_zeroed(numbers, sizeof *clocks->thread_clocks, clocks->error);
    clocks->kept_clocks =
        cts_array_zeroed(clocks->rows.thread_count, sizeof *clocks->kept_clocks, clocks->error);
    clocks->free_clocks = cts_array_zeroed(numbers, sizeof *clocks->free_clocks, clocks->error);
    clocks->shared = cts_flow_new_clock(clocks);
    if (!clocks->positions || !clocks->last_clocks || !clocks->kept_clocks ||
        !clocks->thread_clocks || !clocks->free_clocks || !clocks->shared)
        return CTS_MEMORY;
    for (uint32_t i = 0; i < clocks->chain_count; i++) clocks->last_clocks[i] = SIZE_MAX;
    for (uint32_t i = 0; i < clocks->rows.thread_count; i++) clocks->kept_clocks[i] = SIZE_MAX;
    return CTS_OK;
}

/* ---- the whole ---- */

enum cts_status cts_flow_clocks_start(struct cts_flow_clocks *clocks,
                                      const struct cts_catalogue *catalogue, uint32_t rank)
{
    struct cts_error *const error = clocks->error;
    enum cts_status status = cts_flow_rows_collect(&clocks->rows, catalogue, rank, error);
    if (!status) status = cts_flow_graphs_make(catalogue, rank, &clocks->graphs, error);
    if (!status) status = cts_stream_clocks_collect(&clocks->streams, catalogue, rank, error);
    if (status) return status;
    clocks->branches = cts_array_zeroed(clocks->streams.count, sizeof *clocks->branches, error);
    clocks->graph_ends = cts_array_zeroed(clocks->graphs.count, sizeof *clocks->graph_ends, error);
    clocks->function_ends =
        cts_array_zeroed(catalogue->host_function_count, sizeof *clocks->function_ends, error);
    clocks->told = cts_array_zeroed(catalogue->thread_edge_count, sizeof *clocks->told, error);
    if (!clocks->branches || !clocks->graph_ends || !clocks->function_ends || !clocks->told)
        return CTS_MEMORY;
    count_branches(clocks);
    status = number_chains(clocks);
    if (!status) status = make_clocks(clocks);
    return status;
}

static void release_clocks(uint32_t **clocks, size_t count)
{
    for (size_t i = 0; clocks && i < count; i++) free(clocks[i]);
    free(clocks);
}

void cts_flow_clocks_release(struct cts_flow_clocks *clocks)
{
    release_clocks(clocks->graph_ends, clocks->graphs.count);
    release_clocks(clocks->told, clocks->rows.catalogue->thread_edge_count);
    release_clocks(clocks->function_ends, clocks->rows.catalogue->host_function_count);
    free(clocks->branches);
    free(clocks->positions);
    free(clocks->last_clocks);
    free(clocks->thread_clocks);
    free(clocks->kept_clocks);
    free(clocks->free_clocks);
    free(clocks->shared);
    cts_flow_freed_release(&clocks->freed);
    cts_stream_clocks_release(&clocks->streams);
    cts_flow_graphs_release(&clocks->graphs);
    cts_flow_rows_release(&clocks->rows);
}
