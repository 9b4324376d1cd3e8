/* The measured communication graph: an edge between two places carries the bytes that one of them
 * wrote last and the other read, over the run.
 *
 * Large graphs are bounded. Bytes that more than READERS_MAX CTAs read together stay out: any
 * balanced cut pays about the same for them. Where edges or vertices become too many, neighbours on
 * the shapes' Hilbert curves are united, two and two, until they are few enough. Found mappings are
 * judged by their exact traffic in any case. */
#include <string.h>

#include "analyze/partition/partition-model.h"

enum { READERS_MAX = 64, EDGES_MAX = 2 << 20, VERTICES_MAX = 1 << 16, CONSTRAINTS_MAX = 4 };

enum cts_status cts_partition_graph_begin(struct cts_partition_model *model,
                                          struct cts_error *error)
{
    const struct cts_partition_line *line = model->lines;
    while (line->mapping != cts_mapping_named("hilbert")) line++; /* seeds are all made */
    struct cts_partition_graph_places *const graph = cts_array_zeroed(1, sizeof *graph, error);
    if (!graph) return CTS_MEMORY;
    model->graph = graph;
    graph->first = cts_array_zeroed(model->place_count, sizeof *graph->first, error);
    graph->rank = cts_array_zeroed(model->place_count, sizeof *graph->rank, error);
    if (!graph->first || !graph->rank) return CTS_MEMORY;
    for (size_t s = 0; s < model->shape_count; s++) {
        const struct cts_partition_shape *const shape = &model->shapes[s];
        for (uint32_t i = 0; i < shape->grid.cta_count; i++) {
            graph->first[shape->first_place + i] = shape->first_place;
            graph->rank[shape->first_place + i] = (uint32_t)line->positions[shape->first_place + i];
        }
    }
    return CTS_OK;
}

void cts_partition_graph_end(struct cts_partition_model *model)
{
    if (!model->graph) return;
    free(model->graph->first);
    free(model->graph->rank);
    free(model->graph);
    model->graph = NULL;
}

/* ---- edges of a region ---- */

/* A vertex by name: the place that its first member would be if ranks were CTAs. */
static uint32_t vertex_name(const struct cts_partition_graph_places *graph, uint32_t place,
                            unsigned shift)
{
    return graph->first[place] + (graph->rank[place] >> shift << shift);
}

static enum cts_status add_edge(struct cts_map *edges, uint32_t a, uint32_t b, uint64_t bytes,
                                struct cts_error *error)
{
    if (a == b) return CTS_OK;
    const uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    uint64_t *const at = cts_map_at(edges, key, error);
    if (!at) return CTS_MEMORY;
    *at += bytes;
    return CTS_OK;
}

/* The name at a higher shift of a vertex that has one: names are places of the same shape. */
static uint32_t rename_vertex(const struct cts_partition_graph_places *graph, uint32_t name,
                              unsigned shift)
{
    const uint32_t first = graph->first[name];
    return first + ((name - first) >> shift << shift);
}

static enum cts_status coarsen(const struct cts_partition_model *model, struct cts_map *edges,
                               unsigned shift, struct cts_error *error)
{
    struct cts_map coarse = {0};
    enum cts_status status = CTS_OK;
    for (size_t i = 0; !status && i < edges->capacity; i++) {
        if (!edges->used[i]) continue;
        const uint64_t key = edges->entries[i].key;
        status = add_edge(&coarse, rename_vertex(model->graph, (uint32_t)(key >> 32), shift),
                          rename_vertex(model->graph, (uint32_t)key, shift),
                          edges->entries[i].value, error);
    }
    cts_map_release(edges);
    *edges = coarse;
    return status;
}

enum cts_status cts_partition_add_edges(struct cts_partition_region *region,
                                        const struct cts_launch_pattern *pattern)
{
    const struct cts_partition_model *const model = region->model;
    for (size_t i = 0; i < pattern->read_count; i++) {
        const struct cts_byte_group g = pattern->reads[i];
        const uint32_t begin = pattern->set_begin[g.set], end = pattern->set_begin[g.set + 1];
        if (g.place == CTS_NO_PLACE || end - begin > READERS_MAX) continue;
        const uint32_t writer = vertex_name(model->graph, g.place, region->edge_shift);
        for (uint32_t k = begin; k < end; k++) {
            const uint32_t reader =
                vertex_name(model->graph, pattern->members[k], region->edge_shift);
            const enum cts_status status = add_edge(&region->edges, writer, reader,
                                                    g.bytes * pattern->launches, &region->error);
            if (status) return status;
        }
        if (region->edges.count <= EDGES_MAX) continue;
        const enum cts_status status =
            coarsen(model, &region->edges, ++region->edge_shift, &region->error);
        if (status) return status;
    }
    return CTS_OK;
}

/* ---- the graph of the run ---- */

/* The edges of all regions of all processes, in *edges; the shift at which they are. */
static enum cts_status gather_edges(struct cts_partition_model *model, struct cts_map *edges,
                                    unsigned *shift, struct cts_error *error)
{
    uint64_t most = *shift;
    enum cts_status status = CTS_OK;
    for (unsigned r = 0; r < model->thread_count; r++)
        if (model->regions[r].edge_shift > most) most = model->regions[r].edge_shift;
    cts_processes_reduce_u64(model->processes, &most, 1, CTS_REDUCE_MAX);
    *shift = (unsigned)most;
    for (unsigned r = 0; !status && r < model->thread_count; r++) {
        const struct cts_map *const own = &model->regions[r].edges;
        for (size_t i = 0; !status && i < own->capacity; i++) {
            if (!own->used[i]) continue;
            const uint64_t key = own->entries[i].key;
            status = add_edge(edges, rename_vertex(model->graph, (uint32_t)(key >> 32), *shift),
                              rename_vertex(model->graph, (uint32_t)key, *shift),
                              own->entries[i].value, error);
        }
    }
    if (!cts_processes_agree(model->processes, &status, error) || model->process_count == 1)
        return status;
    struct cts_map_entry *const mine = cts_map_sorted(edges, error);
    void *all = NULL;
    size_t *offsets = NULL;
    status =
        mine ? cts_processes_all_gather(model->processes,
                                        (struct cts_sent_block){mine, edges->count * sizeof *mine},
                                        &all, &offsets, error)
             : CTS_MEMORY;
    cts_map_release(edges);
    const struct cts_map_entry *const entries = all;
    for (size_t i = 0; !status && i < offsets[model->process_count] / sizeof *entries; i++)
        status = add_edge(edges, (uint32_t)(entries[i].key >> 32), (uint32_t)entries[i].key,
                          entries[i].value, error);
    free(mine);
    free(all);
    free(offsets);
    return status;
}

static uint64_t work_of(const struct cts_partition_shape *shape)
{
    return shape->launch_count * shape->grid.cta_count;
}

/* Each of the shapes with the most CTAs is balanced by itself, the rest together: launches do not
 * run at the same time, so that a balance over all of them would be none. */
static uint32_t constraint_of(const struct cts_partition_model *model, size_t shape)
{
    uint32_t better = 0;
    for (size_t s = 0; s < model->shape_count; s++)
        better += work_of(&model->shapes[s]) > work_of(&model->shapes[shape]) ||
                  (work_of(&model->shapes[s]) == work_of(&model->shapes[shape]) && s < shape);
    return better < CONSTRAINTS_MAX ? better : CONSTRAINTS_MAX - 1;
}

static enum cts_status make_vertices(struct cts_partition_model *model,
                                     struct cts_partition_graph *graph, struct cts_error *error)
{
    uint64_t count = 0;
    for (size_t s = 0; s < model->shape_count; s++)
        count +=
            ((uint64_t)model->shapes[s].grid.cta_count + (1u << graph->shift) - 1) >> graph->shift;
    graph->vertex_count = (uint32_t)count;
    graph->constraint_count =
        model->shape_count < CONSTRAINTS_MAX ? (uint32_t)model->shape_count : CONSTRAINTS_MAX;
    graph->vertex_of = cts_array_zeroed(model->place_count, sizeof *graph->vertex_of, error);
    graph->shape_of = cts_array_zeroed(count, sizeof *graph->shape_of, error);
    graph->ctas = cts_array_zeroed(count, sizeof *graph->ctas, error);
    graph->weights =
        cts_array_zeroed(count * graph->constraint_count, sizeof *graph->weights, error);
    if (!graph->vertex_of || !graph->shape_of || !graph->ctas || !graph->weights) return CTS_MEMORY;
    uint32_t first = 0;
    for (size_t s = 0; s < model->shape_count; s++) {
        const struct cts_partition_shape *const shape = &model->shapes[s];
        const uint32_t constraint = constraint_of(model, s);
        uint32_t last = first;
        for (uint32_t i = 0; i < shape->grid.cta_count; i++) {
            const uint32_t place = shape->first_place + i;
            const uint32_t vertex = first + (model->graph->rank[place] >> graph->shift);
            graph->vertex_of[place] = vertex;
            graph->shape_of[vertex] = (uint32_t)s;
            graph->ctas[vertex]++;
            graph->weights[vertex * graph->constraint_count + constraint]++;
            if (vertex > last) last = vertex;
        }
        if (shape->grid.cta_count) first = last + 1;
    }
    return CTS_OK;
}

static enum cts_status make_edges(struct cts_partition_model *model,
                                  struct cts_partition_graph *graph, const struct cts_map *edges,
                                  struct cts_error *error)
{
    /* the vertex that a name means: of the place with that rank */
    uint32_t *const named = cts_array_zeroed(model->place_count, sizeof *named, error);
    struct cts_map_entry *const sorted = cts_map_sorted(edges, error);
    graph->begin = cts_array_zeroed((size_t)graph->vertex_count + 1, sizeof *graph->begin, error);
    graph->edges = cts_array_zeroed(2 * edges->count, sizeof *graph->edges, error);
    graph->edge_weights = cts_array_zeroed(2 * edges->count, sizeof *graph->edge_weights, error);
    const bool fine = named && sorted && graph->begin && graph->edges && graph->edge_weights;
    uint64_t total = 0;
    for (uint32_t i = 0; fine && i < model->place_count; i++)
        named[model->graph->first[i] + model->graph->rank[i]] = graph->vertex_of[i];
    for (size_t i = 0; fine && i < edges->count; i++) {
        total += sorted[i].value;
        graph->begin[named[sorted[i].key >> 32] + 1]++;
        graph->begin[named[(uint32_t)sorted[i].key] + 1]++;
    }
    for (uint32_t i = 0; fine && i < graph->vertex_count; i++)
        graph->begin[i + 1] += graph->begin[i];
    const uint64_t unit = total / (1 << 29) + 1; /* sums of weights stay below 2^31 */
    for (size_t i = 0; fine && i < edges->count; i++) {
        const uint32_t ends[2] = {named[sorted[i].key >> 32], named[(uint32_t)sorted[i].key]};
        for (unsigned k = 0; k < 2; k++) {
            const int32_t at = graph->begin[ends[k]]++;
            graph->edges[at] = (int32_t)ends[1 - k];
            graph->edge_weights[at] = (int32_t)(sorted[i].value / unit + 1);
        }
    }
    for (uint32_t i = graph->vertex_count; fine && i > 0; i--)
        graph->begin[i] = graph->begin[i - 1];
    if (fine) graph->begin[0] = 0;
    free(named);
    free(sorted);
    return fine ? CTS_OK : CTS_MEMORY;
}

enum cts_status cts_partition_graph_make(struct cts_partition_model *model,
                                         struct cts_partition_graph *graph, struct cts_error *error)
{
    struct cts_map edges = {0};
    *graph = (struct cts_partition_graph){0};
    while (model->place_count >> graph->shift > VERTICES_MAX) graph->shift++;
    enum cts_status status = CTS_OK;
    for (unsigned r = 0; !status && r < model->thread_count; r++) {
        struct cts_partition_region *const region = &model->regions[r];
        for (size_t i = 0; !status && i < region->patterns.count; i++)
            status = cts_partition_add_edges(region, region->patterns.items[i]);
        if (status && error) *error = region->error;
    }
    if (!cts_processes_agree(model->processes, &status, error)) return status;
    status = gather_edges(model, &edges, &graph->shift, error);
    while (!status && edges.count > EDGES_MAX)
        status = coarsen(model, &edges, ++graph->shift, error);
    if (!status) status = make_vertices(model, graph, error);
    if (!status) status = make_edges(model, graph, &edges, error);
    cts_map_release(&edges);
    if (status) cts_partition_graph_release(graph);
    return status;
}

void cts_partition_graph_release(struct cts_partition_graph *graph)
{
    free(graph->vertex_of);
    free(graph->shape_of);
    free(graph->ctas);
    free(graph->weights);
    free(graph->begin);
    free(graph->edges);
    free(graph->edge_weights);
    *graph = (struct cts_partition_graph){0};
}
