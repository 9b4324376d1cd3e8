/* Kernels of collectives (NCCL): which are one operation is found from what the trace says of each
 * (trace/collectives/), over all processes. An operation becomes a pool behind those of MPI, and
 * what its members wait for is said by the rules. */
#include <stdlib.h>

#include "analyze/path/offer.h"
#include "analyze/path/raw.h"
#include "analyze/path/steps.h"
#include "trace/collectives/collective-kernels.h"

struct kernel { /* beside a call of the matching */
    uint32_t location, activity;
};

struct gathering {
    struct cts_path_graph *graph;
    struct cts_nccl_kernel *calls;
    struct kernel *kernels;
    size_t count, capacity;
    uint64_t pairs; /* sends and receives whose peers are not known */
    struct cts_collective_match match;
    struct cts_path_edges edges; /* of the member at hand */
};

/* ---- gathering ---- */

static int by_enter(const void *left, const void *right)
{
    const struct cts_path_collective_call *const a = left, *const b = right;
    return (a->enter > b->enter) - (a->enter < b->enter);
}

/* The communicator that the innermost call around a launch names; 0: none does. */
static uint64_t communicator_of(const struct cts_path_graph *graph,
                                const struct cts_path_activity *activity)
{
    enum { LOOK_BACK = 16 };
    if (activity->host == CTS_PATH_NONE || !graph->locations[activity->host].raw) return 0;
    const struct cts_path_raw *const raw = graph->locations[activity->host].raw;
    size_t low = 0, high = raw->collective_calls.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (raw->collective_calls.items[middle].enter <= activity->launch)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t back = 0; back < LOOK_BACK && low > 0; back++)
        if (raw->collective_calls.items[--low].leave >= activity->launch)
            return raw->collective_calls.items[low].communicator;
    return 0;
}

static enum cts_status reserve(struct gathering *g, struct cts_error *error)
{
    size_t capacity = g->capacity;
    if (g->count < g->capacity) return CTS_OK;
    if (cts_array_grow((void **)&g->calls, &capacity, g->count + 1, sizeof *g->calls, error))
        return CTS_MEMORY;
    capacity = g->capacity;
    return cts_array_grow((void **)&g->kernels, &g->capacity, g->count + 1, sizeof *g->kernels,
                          error);
}

static enum cts_status add_kernel(struct gathering *g, uint32_t location,
                                  const struct cts_path_collective_kernel *said,
                                  struct cts_error *error)
{
    const struct cts_path_graph *const graph = g->graph;
    const struct cts_path_location *const at = &graph->locations[location];
    const struct cts_path_activity *const activity = &at->activities.items[said->activity];
    const struct cts_path_region *const region =
        &graph->system->regions[at->region[activity->begin] & ~CTS_PATH_LEAVE];
    uint64_t communicator = said->communicator;
    if (!communicator && region->is_pairwise) {
        g->pairs++;
        return CTS_OK;
    }
    if (!communicator) communicator = communicator_of(graph, activity);
    if (reserve(g, error)) return CTS_MEMORY;
    g->kernels[g->count] = (struct kernel){location, said->activity};
    g->calls[g->count++] = (struct cts_nccl_kernel){.communicator = communicator,
                                                    .number = said->sequence,
                                                    .kind = cts_collective_kind_of(region->name),
                                                    .bytes = said->bytes,
                                                    .begin_ns = at->time_ns[activity->begin],
                                                    .end_ns = at->time_ns[activity->end],
                                                    .process = at->who->process,
                                                    .stream = location,
                                                    .member_count = said->members};
    return CTS_OK;
}

static enum cts_status gather(struct gathering *g, struct cts_error *error)
{
    const struct cts_path_system *const system = g->graph->system;
    enum cts_status status = CTS_OK;
    for (uint32_t l = 0; l < system->location_count; l++) {
        struct cts_path_raw *const raw = g->graph->locations[l].raw;
        if (raw && raw->collective_calls.count)
            qsort(raw->collective_calls.items, raw->collective_calls.count,
                  sizeof *raw->collective_calls.items, by_enter);
    }
    for (uint32_t i = 0; i < system->location_count && !status; i++) {
        const uint32_t location = system->by_process[i];
        const struct cts_path_raw *const raw = g->graph->locations[location].raw;
        for (size_t k = 0; raw && k < raw->kernels.count && !status; k++)
            status = add_kernel(g, location, &raw->kernels.items[k], error);
    }
    return status;
}

/* ---- pools ---- */

static const struct cts_path_location *place_of(const struct gathering *g, size_t call)
{
    return &g->graph->locations[g->kernels[call].location];
}

/* Pools behind those that there are; those of one are by the order of their locations, as the calls
 * are. */
static enum cts_status make_pools(struct gathering *g, size_t first_pool, struct cts_error *error)
{
    struct cts_path_graph *const graph = g->graph;
    const size_t edges = graph->pool_edge_count + g->match.matched;
    if (edges > UINT32_MAX) return cts_fail(error, CTS_LIMIT, "too many members of collectives");
    struct cts_path_pool *const pools =
        realloc(graph->pools, (first_pool + g->match.operation_count + 1) * sizeof *pools);
    if (pools) graph->pools = pools;
    struct cts_path_edge *const pool_edges =
        realloc(graph->pool_edges, (edges + 1) * sizeof *pool_edges);
    if (pool_edges) graph->pool_edges = pool_edges;
    if (!pools || !pool_edges) return cts_fail(error, CTS_MEMORY, "no memory for collectives");
    for (uint32_t o = 0; o < g->match.operation_count; o++)
        pools[first_pool + o] = (struct cts_path_pool){0};
    for (size_t i = 0; i < g->count; i++)
        if (g->match.operation[i] != CTS_COLLECTIVE_NONE)
            pools[first_pool + g->match.operation[i]].count++;
    uint32_t at = (uint32_t)graph->pool_edge_count;
    for (uint32_t o = 0; o < g->match.operation_count; o++) {
        pools[first_pool + o].first = at;
        at += pools[first_pool + o].count;
        pools[first_pool + o].count = 0;
    }
    for (size_t i = 0; i < g->count; i++) {
        if (g->match.operation[i] == CTS_COLLECTIVE_NONE) continue;
        struct cts_path_pool *const pool = &pools[first_pool + g->match.operation[i]];
        const uint32_t begin = place_of(g, i)->activities.items[g->kernels[i].activity].begin;
        pool_edges[pool->first + pool->count++] =
            (struct cts_path_edge){g->calls[i].begin_ns, g->kernels[i].location, begin};
        if (g->calls[i].begin_ns > pool->latest_ns) pool->latest_ns = g->calls[i].begin_ns;
    }
    graph->pool_count = first_pool + g->match.operation_count;
    graph->pool_edge_count = at;
    return CTS_OK;
}

/* ---- what members wait for ---- */

/* One that ends before the last begins waits for those that it met. */
static enum cts_status list_met(struct gathering *g, const struct cts_path_pool *pool, size_t call,
                                struct cts_path_kernel_meeting *meeting, struct cts_error *error)
{
    const uint64_t end_ns = g->calls[call].end_ns;
    g->edges.count = 0;
    meeting->latest_ns = 0;
    if (CTS_ARRAY_RESERVE(&g->edges, pool->count, error)) return CTS_MEMORY;
    for (uint32_t i = 0; i < pool->count; i++) {
        const struct cts_path_edge *const edge = &g->graph->pool_edges[pool->first + i];
        if (edge->source_ns > end_ns || edge->location == g->kernels[call].location) continue;
        if (edge->source_ns > meeting->latest_ns) meeting->latest_ns = edge->source_ns;
        g->edges.items[g->edges.count++] = *edge;
    }
    return CTS_OK;
}

static enum cts_status meet(struct gathering *g, size_t first_pool, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < g->count && !status; i++) {
        if (g->match.operation[i] == CTS_COLLECTIVE_NONE) continue;
        const uint32_t number = (uint32_t)first_pool + g->match.operation[i];
        const struct cts_path_pool *const pool = &g->graph->pools[number];
        struct cts_path_kernel_meeting meeting = {.at =
                                                      &g->graph->locations[g->kernels[i].location],
                                                  .activity = g->kernels[i].activity,
                                                  .pool = number,
                                                  .edges = &g->edges,
                                                  .latest_ns = pool->latest_ns};
        g->edges.count = 0;
        if (g->calls[i].end_ns < pool->latest_ns) {
            meeting.pool = CTS_PATH_NONE;
            status = list_met(g, pool, i, &meeting, error);
        }
        if (!status) status = CTS_PATH_OFFER(kernels, &meeting, error);
    }
    return status;
}

static void warn(const struct gathering *g)
{
    cts_path_warn(g->graph, CTS_PATH_WARNING_LONELY_KERNEL, g->match.alone);
    cts_path_warn(g->graph, CTS_PATH_WARNING_AMBIGUOUS_KERNEL, g->match.ambiguous + g->pairs);
    cts_path_warn(g->graph, CTS_PATH_WARNING_PARTIAL_COLLECTIVE, g->match.partial);
}

enum cts_status cts_path_match_kernels(struct cts_path_graph *graph, struct cts_error *error)
{
    struct gathering g = {.graph = graph};
    const size_t first_pool = graph->pool_count;
    enum cts_status status = gather(&g, error);
    if (!status && g.count) status = cts_collectives_match(g.calls, g.count, &g.match, error);
    if (!status && g.match.operation_count) {
        graph->crosses = true;
        status = make_pools(&g, first_pool, error);
        if (!status) status = meet(&g, first_pool, error);
    }
    if (!status) warn(&g);
    cts_collective_match_release(&g.match);
    free(g.calls);
    free(g.kernels);
    free(g.edges.items);
    return status;
}
