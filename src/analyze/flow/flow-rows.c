#include "analyze/flow/flow-rows.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/search.h"
#include "common/sort.h"

/* ---- calls and host threads ---- */

const struct cts_host_call *cts_flow_call_at(const struct cts_flow_rows *rows, uint64_t op)
{
    const size_t at = CTS_SEARCH(rows->call_count, i, rows->calls[i].op < op);
    return at < rows->call_count && rows->calls[at].op == op ? &rows->calls[at] : NULL;
}

static uint32_t thread_at(const struct cts_flow_rows *rows, uint64_t op)
{
    const struct cts_host_call *const call = cts_flow_call_at(rows, op);
    return call ? call->thread : 0;
}

uint32_t cts_flow_thread_index(const struct cts_flow_rows *rows, uint64_t op)
{
    const uint32_t thread = thread_at(rows, op);
    return (uint32_t)CTS_SEARCH(rows->thread_count, i, rows->threads[i] < thread);
}

bool cts_flow_is_kind(const struct cts_copy *copy, const char *kind)
{
    return copy->kind && !strcmp(copy->kind, kind);
}

bool cts_flow_is_asynchronous(const struct cts_flow_rows *rows, const struct cts_copy *copy)
{
    const struct cts_host_call *const call = cts_flow_call_at(rows, copy->op);
    if (!call || !call->api) return copy->asynchronous;
    return strstr(call->api, "Async") || strstr(call->api, "Graph");
}

bool cts_flow_is_pinned(const struct cts_flow_rows *rows, uint64_t address, uint64_t op)
{
    const struct cts_catalogue *const c = rows->catalogue;
    for (size_t i = 0; i < c->allocation_count; i++) {
        const struct cts_allocation *const row = &c->allocations[i];
        if (row->rank != rows->rank || row->op > op || row->freed_op <= op ||
            address < row->address || address - row->address >= row->size_bytes)
            continue;
        const char *const kind = row->kind ? row->kind : "";
        if (!strcmp(kind, "pinned") || !strcmp(kind, "mapped") || !strcmp(kind, "managed"))
            return true;
    }
    return false;
}

/* ---- works by op ---- */

bool cts_flow_is_step(const struct cts_flow_rows *rows, uint64_t op)
{
    const struct cts_catalogue *const c = rows->catalogue;
    const size_t at =
        CTS_SEARCH(c->graph_node_count, i,
                   c->graph_nodes[i].rank < rows->rank ||
                       (c->graph_nodes[i].rank == rows->rank && c->graph_nodes[i].op < op));
    return at < c->graph_node_count && c->graph_nodes[at].rank == rows->rank &&
           c->graph_nodes[at].op == op;
}

#define FIND(table, count)                                                                         \
    CTS_SEARCH(c->count, at_row,                                                                   \
               c->table[at_row].rank < rows->rank ||                                               \
                   (c->table[at_row].rank == rows->rank && c->table[at_row].op < op))
#define FOUND(table, count, at)                                                                    \
    ((at) < c->count && c->table[at].rank == rows->rank && c->table[at].op == op)

struct cts_flow_work cts_flow_work_at(const struct cts_flow_rows *rows, uint64_t op)
{
    const struct cts_catalogue *const c = rows->catalogue;
    size_t at = FIND(launches, launch_count);
    if (FOUND(launches, launch_count, at))
        return (struct cts_flow_work){CTS_FLOW_WORK_LAUNCH, at, c->launches[at].stream};
    at = FIND(copies, copy_count);
    if (FOUND(copies, copy_count, at))
        return (struct cts_flow_work){CTS_FLOW_WORK_COPY, at, c->copies[at].stream};
    at = FIND(host_functions, host_function_count);
    if (FOUND(host_functions, host_function_count, at))
        return (struct cts_flow_work){CTS_FLOW_WORK_FUNCTION, at, c->host_functions[at].stream};
    return (struct cts_flow_work){CTS_FLOW_WORK_NONE, 0, CTS_NONE};
}

size_t cts_flow_first_access(const struct cts_flow_rows *rows, size_t function)
{
    const struct cts_catalogue *const c = rows->catalogue;
    const uint64_t op = c->host_functions[function].begin_op;
    return FIND(host_accesses, host_access_count);
}

bool cts_flow_is_access_within(const struct cts_flow_rows *rows, size_t access, size_t function)
{
    const struct cts_catalogue *const c = rows->catalogue;
    const uint64_t end_op = c->host_functions[function].end_op;
    return access < c->host_access_count && c->host_accesses[access].rank == rows->rank &&
           end_op != UINT64_MAX && c->host_accesses[access].op <= end_op;
}

/* ---- the whole ---- */

static enum cts_status collect_threads(struct cts_flow_rows *rows, struct cts_error *error)
{
    const struct cts_catalogue *const c = rows->catalogue;
    const size_t first = CTS_SEARCH(c->call_count, i, c->calls[i].rank < rows->rank);
    rows->calls = c->call_count ? c->calls + first : NULL;
    while (first + rows->call_count < c->call_count &&
           rows->calls[rows->call_count].rank == rows->rank)
        rows->call_count++;
    rows->threads = cts_array_zeroed(rows->call_count + 1, sizeof *rows->threads, error);
    if (!rows->threads) return CTS_MEMORY;
    for (size_t i = 0; i < rows->call_count; i++) rows->threads[i + 1] = rows->calls[i].thread;
    rows->thread_count = (uint32_t)cts_sort_distinct_u32(rows->threads, rows->call_count + 1);
    return CTS_OK;
}

static int by_launch_and_node(const void *left, const void *right)
{
    const struct cts_graph_node *const a = left, *const b = right;
    if (a->launch_op != b->launch_op) return a->launch_op < b->launch_op ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return (a->op > b->op) - (a->op < b->op);
}

/* Which CPU accesses host functions made. */
static enum cts_status find_function_accesses(struct cts_flow_rows *rows, struct cts_error *error)
{
    const struct cts_catalogue *const c = rows->catalogue;
    rows->function_of = cts_array_zeroed(c->host_access_count, sizeof *rows->function_of, error);
    if (!rows->function_of) return CTS_MEMORY;
    for (size_t i = 0; i < c->host_access_count; i++) rows->function_of[i] = SIZE_MAX;
    for (size_t f = 0; f < c->host_function_count; f++) {
        const struct cts_host_function *const row = &c->host_functions[f];
        if (row->rank != rows->rank) continue;
        for (size_t i = cts_flow_first_access(rows, f); cts_flow_is_access_within(rows, i, f); i++)
            if (thread_at(rows, c->host_accesses[i].op) == row->thread) rows->function_of[i] = f;
    }
    return CTS_OK;
}

static enum cts_status collect_steps(struct cts_flow_rows *rows, struct cts_error *error)
{
    const struct cts_catalogue *const c = rows->catalogue;
    rows->steps = cts_array_zeroed(c->graph_node_count, sizeof *rows->steps, error);
    if (!rows->steps) return CTS_MEMORY;
    for (size_t i = 0; i < c->graph_node_count; i++)
        if (c->graph_nodes[i].rank == rows->rank)
            rows->steps[rows->step_count++] = c->graph_nodes[i];
    qsort(rows->steps, rows->step_count, sizeof *rows->steps, by_launch_and_node);
    return CTS_OK;
}

enum cts_status cts_flow_rows_collect(struct cts_flow_rows *rows,
                                      const struct cts_catalogue *catalogue, uint32_t rank,
                                      struct cts_error *error)
{
    *rows = (struct cts_flow_rows){.catalogue = catalogue, .rank = rank};
    enum cts_status status = collect_threads(rows, error);
    if (!status) status = find_function_accesses(rows, error);
    if (!status) status = collect_steps(rows, error);
    return status;
}

void cts_flow_rows_release(struct cts_flow_rows *rows)
{
    free(rows->threads);
    free(rows->steps);
    free(rows->function_of);
    *rows = (struct cts_flow_rows){0};
}
