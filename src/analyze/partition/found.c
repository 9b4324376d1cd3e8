/* The best mapping found for a number of partitions.
 *
 * Candidates are the fixed mappings, what METIS makes of the measured graph (k-way, balanced per
 * kernel, one fixed seed), and each of these after refinement: vertices move to the partition with
 * which they communicate most, as long as every shape stays balanced. All are judged by their exact
 * traffic over the run; of those that are balanced the least wins, so that none of the balanced
 * fixed mappings is better than what is found. */
#include <metis.h>
#include <stdio.h>
#include <string.h>

#include "analyze/partition/partition-model.h"

_Static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS with 32-bit indices");

enum { PASSES = 8, VERTICES_PER_PART = 16, ASSIGNED_BYTES = 256 << 20 };
#define BALANCED 1.10 /* largest over mean number of CTAs */

struct search {
    struct cts_partition_model *model;
    struct cts_partition_graph graph;
    idx_t *parts;      /* by vertex */
    uint64_t *loads;   /* by shape, partition: CTAs */
    uint64_t *ceiling; /* by shape: CTAs that a partition may have */
    int64_t *pulls;    /* by partition: weight of a vertex's edges into it */
    idx_t *seen;       /* partitions with a pull */
};

/* ---- refinement ---- */

static void count_loads(const struct search *s, uint32_t p)
{
    const struct cts_partition_model *const model = s->model;
    memset(s->loads, 0, model->shape_count * p * sizeof *s->loads);
    for (uint32_t v = 0; v < s->graph.vertex_count; v++)
        s->loads[(size_t)s->graph.shape_of[v] * p + (size_t)s->parts[v]] += s->graph.ctas[v];
    for (size_t i = 0; i < model->shape_count; i++) {
        const uint64_t even = (model->shapes[i].grid.cta_count + p - 1) / p;
        s->ceiling[i] = even + even / 20; /* five in a hundred */
    }
}

static bool move_vertex(const struct search *s, uint32_t v, uint32_t p)
{
    const struct cts_partition_graph *const g = &s->graph;
    const idx_t home = s->parts[v];
    uint64_t *const loads = s->loads + (size_t)g->shape_of[v] * p;
    unsigned seen_count = 0;
    for (int32_t e = g->begin[v]; e < g->begin[v + 1]; e++) {
        const idx_t part = s->parts[g->edges[e]];
        if (!s->pulls[part]) s->seen[seen_count++] = part;
        s->pulls[part] += g->edge_weights[e];
    }
    idx_t best = home;
    for (unsigned i = 0; i < seen_count; i++) {
        const idx_t part = s->seen[i];
        if (s->pulls[part] > s->pulls[best] &&
            loads[part] + g->ctas[v] <= s->ceiling[g->shape_of[v]])
            best = part;
    }
    for (unsigned i = 0; i < seen_count; i++) s->pulls[s->seen[i]] = 0;
    if (best == home) return false;
    loads[home] -= g->ctas[v];
    loads[best] += g->ctas[v];
    s->parts[v] = best;
    return true;
}

static void refine(const struct search *s, uint32_t p)
{
    count_loads(s, p);
    bool moved = true;
    for (int pass = 0; moved && pass < PASSES; pass++) {
        moved = false;
        for (uint32_t v = 0; v < s->graph.vertex_count; v++) moved |= move_vertex(s, v, p);
    }
}

/* ---- candidates ---- */

/* False when METIS refuses or would complain aloud (few vertices): then there is no such candidate.
 */
static bool cut(const struct search *s, uint32_t p)
{
    idx_t options[METIS_NOPTIONS];
    idx_t vertex_count = (idx_t)s->graph.vertex_count, part_count = (idx_t)p, cut_weight;
    idx_t constraint_count = (idx_t)s->graph.constraint_count;
    if (p < 2 || s->graph.vertex_count / p < VERTICES_PER_PART || !s->graph.begin[vertex_count])
        return false;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_NUMBERING] = 0;
    return METIS_PartGraphKway(&vertex_count, &constraint_count, s->graph.begin, s->graph.edges,
                               s->graph.weights, NULL, s->graph.edge_weights, &part_count, NULL,
                               NULL, options, &cut_weight, s->parts) == METIS_OK;
}

static enum cts_status add_candidate(const struct search *s, uint32_t p, const char *label,
                                     struct cts_error *error)
{
    struct cts_partition_model *const model = s->model;
    struct cts_partition_task *const task = &model->tasks[model->task_count];
    uint16_t *const assigned = cts_array_zeroed(model->place_count, sizeof *assigned, error);
    if (!assigned) return CTS_MEMORY;
    for (uint32_t i = 0; i < model->place_count; i++)
        assigned[i] = (uint16_t)s->parts[s->graph.vertex_of[i]];
    *task = (struct cts_partition_task){.p = p, .assigned = assigned, .label = label};
    model->task_count++;
    return CTS_OK;
}

/* A fixed mapping as it is, CTA by CTA, and its vertices refined. */
static enum cts_status add_seed(const struct search *s, const struct cts_partition_line *line,
                                uint32_t p, struct cts_error *error)
{
    struct cts_partition_model *const model = s->model;
    struct cts_partition_task *const plain = &model->tasks[model->task_count];
    const struct cts_partition_task asked = {
        .p = p, .mapping = line->mapping, .line = (size_t)(line - model->lines)};
    uint16_t *const assigned = cts_array_zeroed(model->place_count, sizeof *assigned, error);
    if (!assigned) return CTS_MEMORY;
    cts_partition_assign(model, &asked, assigned);
    *plain =
        (struct cts_partition_task){.p = p, .assigned = assigned, .label = line->mapping->name};
    model->task_count++;
    for (uint32_t i = model->place_count; i-- > 0;) s->parts[s->graph.vertex_of[i]] = assigned[i];
    refine(s, p);
    return add_candidate(s, p, line->mapping->name, error);
}

static enum cts_status add_candidates(const struct search *s, uint32_t p, struct cts_error *error)
{
    struct cts_partition_model *const model = s->model;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; !status && i < model->line_count; i++)
        status = add_seed(s, &model->lines[i], p, error);
    if (status || !cut(s, p)) return status;
    status = add_candidate(s, p, "METIS", error);
    refine(s, p);
    return status ? status : add_candidate(s, p, "METIS", error);
}

/* ---- judging ---- */

static bool wins(const struct cts_partition_scale *a, const struct cts_partition_scale *b)
{
    const bool a_even = a->cta_imbalance <= BALANCED, b_even = b->cta_imbalance <= BALANCED;
    if (a_even != b_even) return a_even;
    if (!a_even && a->cta_imbalance != b->cta_imbalance) return a->cta_imbalance < b->cta_imbalance;
    return a->traffic_bytes < b->traffic_bytes;
}

static void keep_best(struct cts_partition_model *model, uint32_t p)
{
    struct cts_partition *const result = model->result;
    struct cts_partition_task *best = NULL;
    for (size_t i = 0; i < model->task_count; i++) {
        struct cts_partition_task *const task = &model->tasks[i];
        if (task->p == p && (!best || wins(&task->scale, &best->scale))) best = task;
    }
    if (!best) return;
    best->scale.mapping = result->mapping_count - 1;
    best->scale.found_from = best->label;
    result->scales[result->scale_count++] = best->scale;
    best->scale = (struct cts_partition_scale){0};
}

/* Results of earlier tasks are of no use for others. */
static void forget_results(struct cts_partition_model *model)
{
    for (unsigned r = 0; r < model->thread_count; r++) {
        for (size_t i = 0; i < model->regions[r].patterns.count; i++) {
            struct cts_launch_pattern *const pattern = model->regions[r].patterns.items[i];
            free(pattern->cells);
            free(pattern->fetches);
            pattern->cells = pattern->fetches = NULL;
        }
    }
}

static enum cts_status judge(struct search *s, struct cts_error *error)
{
    struct cts_partition_model *const model = s->model;
    enum cts_status status = cts_partition_prepare_tasks(model, error);
    uint64_t keeps = model->keeps_patterns;
    cts_processes_reduce_u64(model->processes, &keeps, 1, CTS_REDUCE_MIN);
    model->second_look = keeps;
    model->wants_edges = false;
    forget_results(model);
    if (!keeps) memset(model->place_accesses, 0, model->place_count * sizeof(uint64_t));
    if (!status) status = cts_partition_walk(model, error);
    if (!status && !keeps)
        cts_processes_reduce_u64(model->processes, model->place_accesses, model->place_count,
                                 CTS_REDUCE_SUM);
    return status ? status : cts_partition_finish_tasks(model, error);
}

/* As many counts at a time as their candidates' tables leave room for. */
static enum cts_status search_counts(struct search *s, struct cts_error *error)
{
    struct cts_partition_model *const model = s->model;
    const size_t per_count = 2 * model->line_count + 2;
    const size_t table_bytes = per_count * model->place_count * sizeof(uint16_t) + 1;
    const size_t room = ASSIGNED_BYTES / table_bytes ? ASSIGNED_BYTES / table_bytes : 1;
    const uint32_t *const counts = model->options.counts;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; !status && i < model->options.count_count; i += room) {
        const size_t left = model->options.count_count - i, count = left < room ? left : room;
        model->tasks = cts_array_zeroed(count * per_count, sizeof *model->tasks, error);
        if (!model->tasks) return CTS_MEMORY;
        for (size_t k = 0; !status && k < count; k++)
            status = add_candidates(s, counts[i + k], error);
        if (!status) status = judge(s, error);
        for (size_t k = 0; !status && k < count; k++) keep_best(model, counts[i + k]);
        cts_partition_release_tasks(model);
    }
    return status;
}

enum cts_status cts_partition_find_best(struct cts_partition_model *model, struct cts_error *error)
{
    struct search s = {.model = model};
    uint32_t most = 1;
    for (size_t i = 0; i < model->options.count_count; i++)
        if (model->options.counts[i] > most) most = model->options.counts[i];
    enum cts_status status = cts_partition_graph_make(model, &s.graph, error);
    if (status) return status;
    model->result->coarsened_ctas = UINT64_C(1) << s.graph.shift;
    s.parts = cts_array_zeroed(s.graph.vertex_count, sizeof *s.parts, error);
    s.loads = cts_array_zeroed(model->shape_count * most, sizeof *s.loads, error);
    s.ceiling = cts_array_zeroed(model->shape_count, sizeof *s.ceiling, error);
    s.pulls = cts_array_zeroed(most, sizeof *s.pulls, error);
    s.seen = cts_array_zeroed(most, sizeof *s.seen, error);
    status = s.parts && s.loads && s.ceiling && s.pulls && s.seen ? CTS_OK : CTS_MEMORY;
    if (!status) status = search_counts(&s, error);
    free(s.parts);
    free(s.loads);
    free(s.ceiling);
    free(s.pulls);
    free(s.seen);
    cts_partition_graph_release(&s.graph);
    return status;
}
