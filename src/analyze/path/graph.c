/* The store: what the graph holds, how it is added to and looked at. */
#include "analyze/path/graph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/raw.h"
#include "common/parallel.h"

/* ---- threads ---- */

struct each {
    size_t count;
    size_t next;
    enum cts_status (*work)(void *state, size_t index, struct cts_error *error);
    void *state;
    struct cts_error *errors; /* per thread */
    size_t *failed;           /* per thread: index of the first failure; SIZE_MAX */
};

static void run_each(void *state, unsigned thread)
{
    struct each *const each = state;
    for (;;) {
        const size_t index = __atomic_fetch_add(&each->next, 1, __ATOMIC_RELAXED);
        if (index >= each->count) return;
        if (each->work(each->state, index, &each->errors[thread])) {
            each->failed[thread] = index;
            return;
        }
    }
}

enum cts_status cts_path_for_each(const struct cts_path_graph *graph, size_t count,
                                  enum cts_status (*work)(void *state, size_t index,
                                                          struct cts_error *error),
                                  void *state, struct cts_error *error)
{
    unsigned threads = graph->threads;
    if (threads > count) threads = count ? (unsigned)count : 1;
    struct each each = {.count = count, .work = work, .state = state};
    each.errors = cts_array_zeroed(threads, sizeof *each.errors, error);
    each.failed = cts_array_zeroed(threads, sizeof *each.failed, error);
    enum cts_status status = each.errors && each.failed ? CTS_OK : CTS_MEMORY;
    if (!status) {
        for (unsigned t = 0; t < threads; t++) each.failed[t] = SIZE_MAX;
        cts_parallel(threads, run_each, &each);
        size_t first = SIZE_MAX;
        for (unsigned t = 0; t < threads; t++)
            if (each.failed[t] < first) {
                first = each.failed[t];
                status = each.errors[t].status;
                if (error) *error = each.errors[t];
            }
    }
    free(each.errors);
    free(each.failed);
    return status;
}

/* ---- waits ---- */

enum cts_status cts_path_add_wait(struct cts_path_location *location,
                                  const struct cts_path_wait *wait,
                                  const struct cts_path_edge *edges, size_t edge_count,
                                  struct cts_error *error)
{
    if (edge_count > CTS_PATH_EDGES_MAX) edge_count = CTS_PATH_EDGES_MAX;
    if (CTS_ARRAY_RESERVE(&location->waits, location->waits.count + 1, error) ||
        CTS_ARRAY_RESERVE(&location->edges, location->edges.count + edge_count, error))
        return CTS_MEMORY;
    struct cts_path_wait *const added = &location->waits.items[location->waits.count++];
    *added = *wait;
    if (wait->flags & CTS_PATH_POOLED) return CTS_OK;
    added->first = (uint32_t)location->edges.count;
    added->count = (uint32_t)edge_count;
    if (edge_count)
        memcpy(location->edges.items + location->edges.count, edges, edge_count * sizeof *edges);
    location->edges.count += edge_count;
    return CTS_OK;
}

const struct cts_path_edge *cts_path_binding(const struct cts_path_graph *graph, uint32_t location,
                                             const struct cts_path_wait *wait)
{
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(graph, location, wait, &count);
    const struct cts_path_edge *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct cts_path_edge *const edge = &edges[i];
        if (edge->location == location) continue;
        if (!best || edge->source_ns > best->source_ns ||
            (edge->source_ns == best->source_ns &&
             graph->locations[edge->location].order < graph->locations[best->location].order))
            best = edge;
    }
    return best;
}

/* ---- nodes ---- */

uint32_t cts_path_leave_of(const struct cts_path_location *at, uint32_t call)
{
    uint32_t node = call + 1;
    while (node < at->count && !(at->region[node] & CTS_PATH_LEAVE && at->active[node - 1] == call))
        node++;
    return node < at->count ? node : (uint32_t)at->count - 1;
}

uint32_t cts_path_node_at(const struct cts_path_location *location, uint64_t time_ns)
{
    size_t low = 0, high = location->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (location->time_ns[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? (uint32_t)low - 1 : CTS_PATH_NONE;
}

/* ---- */

void cts_path_graph_release(struct cts_path_graph *graph)
{
    for (uint32_t l = 0; l < graph->location_count && graph->locations; l++) {
        struct cts_path_location *const location = &graph->locations[l];
        cts_path_drop_raw(location);
        free(location->time_ns);
        free(location->region);
        free(location->active);
        free(location->waits.items);
        free(location->edges.items);
        free(location->jumps.items);
        free(location->activities.items);
        free(location->configs.items);
    }
    free(graph->locations);
    free(graph->regions);
    free(graph->process_group);
    free(graph->process_first);
    free(graph->by_process);
    free(graph->process_owner);
    free(graph->pools);
    free(graph->pool_edges);
    free(graph->warnings);
    free(graph->rows);
    free(graph->rank_ns);
    *graph = (struct cts_path_graph){0};
}
