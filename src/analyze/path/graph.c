/* The store: what the graph holds, how it is added to and looked at. */
#include "analyze/path/graph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/raw.h"
#include "common/promise.h"
#include "common/search.h"

/* ---- waits ---- */

enum cts_status cts_path_add_wait(struct cts_path_location *location,
                                  const struct cts_path_wait *wait,
                                  const struct cts_path_edge *edges, size_t edge_count,
                                  struct cts_error *error)
{
    assert(wait->begin_ns <= wait->end_ns && wait->pattern < CTS_PATH_PATTERN_COUNT);
    assert(wait->call == CTS_PATH_NONE || !location->count /* another process has its nodes */ ||
           (wait->call < location->count && wait->leave < location->count));
    assert(edges || !edge_count);
    if (edge_count > CTS_PATH_EDGES_MAX) edge_count = CTS_PATH_EDGES_MAX;
    if (CTS_ARRAY_RESERVE(&location->waits, location->waits.count + 1, error) ||
        CTS_ARRAY_RESERVE(&location->edges, location->edges.count + edge_count, error))
        return CTS_MEMORY;
    struct cts_path_wait *const added = &location->waits.items[location->waits.count++];
    *added = *wait;
    added->from = wait->call;
    added->to = wait->leave;
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
    assert(location < graph->system->location_count);
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(graph, location, wait, &count);
    const struct cts_path_edge *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct cts_path_edge *const edge = &edges[i];
        if (edge->location == location) continue;
        if (!best || edge->source_ns > best->source_ns ||
            (edge->source_ns == best->source_ns &&
             graph->system->who[edge->location].order < graph->system->who[best->location].order))
            best = edge;
    }
    return best;
}

/* ---- nodes ---- */

uint32_t cts_path_leave_of(const struct cts_path_location *at, uint32_t call)
{
    assert(call < at->count && !(at->region[call] & CTS_PATH_LEAVE));
    uint32_t node = call + 1;
    while (node < at->count && !(at->region[node] & CTS_PATH_LEAVE && at->active[node - 1] == call))
        node++;
    return node < at->count ? node : (uint32_t)at->count - 1;
}

uint32_t cts_path_node_at(const struct cts_path_location *location, uint64_t time_ns)
{
    const size_t low = CTS_SEARCH(location->count, i, location->time_ns[i] <= time_ns);
    return low ? (uint32_t)low - 1 : CTS_PATH_NONE;
}

/* ---- */

void cts_path_graph_release(struct cts_path_graph *graph)
{
    for (uint32_t l = 0; graph->locations && l < graph->system->location_count; l++) {
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
        free(location->passes.items);
        free(location->hints.items);
        free(location->repeats.items);
    }
    free(graph->locations);
    free(graph->pools);
    free(graph->pool_edges);
    *graph = (struct cts_path_graph){0};
}
