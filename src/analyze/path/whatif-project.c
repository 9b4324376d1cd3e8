/* One projection beside the recording. What it says of waits and of the critical path comes from
 * the same code as for the recording: the projected times make a graph of their own, which is
 * walked. */
#include "analyze/path/whatif-project.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/questions.h"
#include "analyze/path/steps.h"
#include "common/promise.h"
#include "common/search.h"

enum { WAITS_DEFAULT = 20 };

/* ---- waits before and after ---- */

struct projection {
    const struct cts_path_graph *graph; /* as recorded */
    const struct cts_whatif_plan *plan;
    const uint64_t *time_ns; /* [place.base + node] */
    const double *const *factors;
    struct cts_whatif *result;
    size_t wait_limit; /* how many of the waits that change most it keeps */
};

static uint64_t new_time(const struct projection *p, uint32_t location, uint32_t node)
{
    assert(location < p->graph->system->location_count &&
           node < p->graph->locations[location].count);
    return p->time_ns[p->plan->places[location].base + node];
}

static uint64_t new_source(const struct projection *p, const struct cts_path_edge *edge)
{
    if (edge->node == CTS_PATH_NONE) return edge->source_ns;
    const struct cts_path_location *const at = &p->graph->locations[edge->location];
    const uint64_t time_ns = new_time(p, edge->location, edge->node);
    if (edge->source_ns <= at->time_ns[edge->node]) return time_ns;
    const double factor =
        p->factors[at->who->process][cts_path_region_after(p->graph, at, edge->node)];
    return time_ns + (uint64_t)((double)(edge->source_ns - at->time_ns[edge->node]) * factor + 0.5);
}

/* The wait as it is in the projection; its edges have their new sources already. */
static void move_wait(const struct projection *p, const struct cts_path_graph *after,
                      uint32_t location, struct cts_path_wait *wait)
{
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(after, location, wait, &count);
    uint64_t latest_ns = 0;
    for (size_t i = 0; i < count; i++)
        if (edges[i].source_ns > latest_ns) latest_ns = edges[i].source_ns;
    uint64_t begin_ns = new_time(p, location, wait->from);
    uint64_t end_ns = new_time(p, location, wait->to);
    const struct cts_path_location *const at = &p->graph->locations[location];
    if (at->who->stream && !cts_path_is_within(wait)) {
        /* held: from being launched and at the head of its stream to its begin */
        end_ns = begin_ns;
        const struct cts_path_activities *const all = &at->activities;
        const size_t behind = CTS_SEARCH(all->count, i, all->items[i].begin <= wait->call);
        const size_t own = behind ? behind - 1 : 0;
        begin_ns = after->locations[location].activities.items[own].launched_ns;
        if (own) {
            const uint64_t previous_ns = new_time(p, location, all->items[own - 1].end);
            if (previous_ns > begin_ns) begin_ns = previous_ns;
        }
        if (begin_ns > end_ns) begin_ns = end_ns;
        if (latest_ns > end_ns) latest_ns = begin_ns;
    }
    if (wait->pattern == CTS_PATH_PATTERN_OWN_COPY || /* no time; here the path leaves the call */
        wait->pattern == CTS_PATH_PATTERN_UNRECORDED)
        begin_ns = latest_ns < end_ns ? latest_ns : end_ns;
    if (wait->pattern >= CTS_PATH_WAITS_END) latest_ns = begin_ns;
    wait->begin_ns = begin_ns;
    wait->end_ns = latest_ns > begin_ns ? latest_ns < end_ns ? latest_ns : end_ns : begin_ns;
}

static void move_activity(const struct projection *p, struct cts_path_location *after,
                          uint32_t location, size_t index)
{
    struct cts_path_activity *const activity = &after->activities.items[index];
    const struct cts_whatif_work *const work = &p->plan->places[location].work[index];
    const uint64_t begin_ns = after->time_ns[activity->begin];
    if (activity->host == CTS_PATH_NONE) return;
    uint64_t launched_ns = begin_ns;
    if (work->launch != activity->launch) launched_ns = new_time(p, activity->host, work->launch);
    activity->launched_ns = launched_ns < begin_ns ? launched_ns : begin_ns;
}

/* Copies what the projection changes; the rest is the recording's. */
static enum cts_status copy_location(const struct projection *p, struct cts_path_location *after,
                                     uint32_t location, struct cts_error *error)
{
    const struct cts_path_location *const at = &p->graph->locations[location];
    after->time_ns = p->result->time_ns[location];
    after->waits = (struct cts_path_waits){0};
    after->edges = (struct cts_path_edges){0};
    after->jumps = (struct cts_path_jumps){0};
    after->activities = (struct cts_path_activities){0};
    after->passes = (struct cts_path_passes){0};
    if (CTS_ARRAY_RESERVE(&after->waits, at->waits.count, error) ||
        CTS_ARRAY_RESERVE(&after->edges, at->edges.count, error) ||
        CTS_ARRAY_RESERVE(&after->activities, at->activities.count, error))
        return CTS_MEMORY;
    for (size_t i = 0; i < at->edges.count; i++) {
        struct cts_path_edge edge = at->edges.items[i];
        edge.source_ns = new_source(p, &edge);
        after->edges.items[after->edges.count++] = edge;
    }
    for (size_t i = 0; i < at->activities.count; i++) {
        after->activities.items[after->activities.count++] = at->activities.items[i];
        move_activity(p, after, location, i);
    }
    return CTS_OK;
}

static void count_wait(struct cts_whatif *result, const struct cts_path_wait *before,
                       uint64_t after_ns)
{
    struct cts_whatif_pattern *const pattern = &result->patterns[before->pattern];
    const uint64_t before_ns = before->end_ns - before->begin_ns;
    pattern->before_count += before_ns > 0;
    pattern->after_count += after_ns > 0;
    pattern->before_ns += before_ns;
    pattern->after_ns += after_ns;
    pattern->appeared += !before_ns && after_ns;
    pattern->vanished += before_ns && !after_ns;
}

static uint64_t change_of(const struct cts_whatif_wait *wait)
{
    return wait->before_ns > wait->after_ns ? wait->before_ns - wait->after_ns
                                            : wait->after_ns - wait->before_ns;
}

static void keep_wait(struct projection *p, uint32_t location, const struct cts_path_wait *before,
                      uint64_t after_ns)
{
    struct cts_whatif *const result = p->result;
    const struct cts_whatif_wait wait = {.location = location,
                                         .pattern = (enum cts_path_pattern)before->pattern,
                                         .begin_ns = before->begin_ns - p->graph->first_ns,
                                         .before_ns = before->end_ns - before->begin_ns,
                                         .after_ns = after_ns};
    if (!change_of(&wait)) return;
    size_t at = result->wait_count;
    while (at > 0 && change_of(&wait) > change_of(&result->waits[at - 1])) at--;
    if (at >= p->wait_limit) return;
    if (result->wait_count < p->wait_limit) result->wait_count++;
    memmove(&result->waits[at + 1], &result->waits[at],
            (result->wait_count - at - 1) * sizeof wait);
    result->waits[at] = wait;
}

/* Waits of a location in the projection, disjoint as in the recording; BlameSync follows from
 * others and is left out. */
static void move_waits(struct projection *p, const struct cts_path_graph *after, uint32_t location)
{
    const struct cts_path_location *const at = &p->graph->locations[location];
    struct cts_path_waits *const moved = &after->locations[location].waits; /* has the room */
    assert(moved->capacity >= at->waits.count);
    uint64_t last_ns = 0;
    for (size_t i = 0; i < at->waits.count; i++) {
        struct cts_path_wait wait = at->waits.items[i];
        if (wait.call == CTS_PATH_NONE) continue;
        move_wait(p, after, location, &wait);
        moved->items[moved->count++] = wait;
        if (wait.pattern >= CTS_PATH_WAITS_END) continue;
        uint64_t begin_ns = wait.begin_ns > last_ns ? wait.begin_ns : last_ns;
        if (begin_ns > wait.end_ns) begin_ns = wait.end_ns;
        if (wait.end_ns > begin_ns) last_ns = wait.end_ns;
        count_wait(p->result, &at->waits.items[i], wait.end_ns - begin_ns);
        keep_wait(p, location, &at->waits.items[i], wait.end_ns - begin_ns);
    }
}

static void release_after(struct cts_path_graph *after)
{
    for (uint32_t l = 0; after->locations && l < after->system->location_count; l++) {
        free(after->locations[l].waits.items);
        free(after->locations[l].edges.items);
        free(after->locations[l].jumps.items);
        free(after->locations[l].activities.items);
        free(after->locations[l].passes.items);
    }
    free(after->locations);
    free(after->pools);
    free(after->pool_edges);
}

static enum cts_status move_pools(const struct projection *p, struct cts_path_graph *after,
                                  struct cts_error *error)
{
    after->pools = cts_array_zeroed(after->pool_count, sizeof *after->pools, error);
    after->pool_edges = cts_array_zeroed(after->pool_edge_count, sizeof *after->pool_edges, error);
    if (!after->pools || !after->pool_edges) return CTS_MEMORY;
    for (size_t i = 0; i < after->pool_edge_count; i++) {
        after->pool_edges[i] = p->graph->pool_edges[i];
        after->pool_edges[i].source_ns = new_source(p, &after->pool_edges[i]);
    }
    for (size_t i = 0; i < after->pool_count; i++) {
        after->pools[i] = p->graph->pools[i];
        after->pools[i].latest_ns = 0;
        for (uint32_t k = 0; k < after->pools[i].count; k++) {
            const uint64_t time_ns = after->pool_edges[after->pools[i].first + k].source_ns;
            if (time_ns > after->pools[i].latest_ns) after->pools[i].latest_ns = time_ns;
        }
    }
    return CTS_OK;
}

/* The graph of the projection. */
static enum cts_status make_after(struct projection *p, struct cts_path_graph *after,
                                  struct cts_error *error)
{
    const uint32_t count = p->graph->system->location_count;
    *after = *p->graph;
    after->pools = NULL;
    after->pool_edges = NULL;
    after->locations = cts_array_zeroed(count, sizeof *after->locations, error);
    if (!after->locations) return CTS_MEMORY;
    for (uint32_t l = 0; l < count; l++) {
        after->locations[l] = p->graph->locations[l];
        after->locations[l].waits = (struct cts_path_waits){0};
        after->locations[l].edges = (struct cts_path_edges){0};
        after->locations[l].jumps = (struct cts_path_jumps){0};
        after->locations[l].activities = (struct cts_path_activities){0};
        after->locations[l].passes = (struct cts_path_passes){0};
    }
    enum cts_status status = move_pools(p, after, error);
    for (uint32_t l = 0; l < count && !status; l++)
        status = copy_location(p, &after->locations[l], l, error);
    after->first_ns = UINT64_MAX;
    after->last_ns = 0;
    for (uint32_t l = 0; l < count && !status; l++) {
        struct cts_path_location *const at = &after->locations[l];
        move_waits(p, after, l);
        if (!at->count) continue;
        if (at->time_ns[0] < after->first_ns) after->first_ns = at->time_ns[0];
        if (at->time_ns[at->count - 1] > after->last_ns)
            after->last_ns = at->time_ns[at->count - 1];
        status = cts_path_settle(after, l, error);
    }
    return status;
}

/* ---- the result of one projection ---- */

enum cts_status cts_whatif_walk(const struct cts_path_graph *graph, uint64_t *path_ns,
                                struct cts_error *error)
{
    struct cts_path_walked walked = {.path_ns = path_ns};
    const enum cts_status status = cts_path_walk(graph, &walked, error);
    free(walked.segments.items);
    return status;
}

static int by_after(const void *left, const void *right)
{
    const struct cts_whatif_row *const a = left, *const b = right;
    if (a->after_ns != b->after_ns) return a->after_ns > b->after_ns ? -1 : 1;
    if (a->before_ns != b->before_ns) return a->before_ns > b->before_ns ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

static enum cts_status compare_paths(struct projection *p, const struct cts_path_graph *after,
                                     const uint64_t *before_ns, struct cts_error *error)
{
    struct cts_whatif *const result = p->result;
    const uint32_t count = p->graph->system->region_count;
    uint64_t *const after_ns = cts_array_zeroed(count, sizeof *after_ns, error);
    result->rows = cts_array_zeroed(count, sizeof *result->rows, error);
    enum cts_status status =
        after_ns && result->rows ? cts_whatif_walk(after, after_ns, error) : CTS_MEMORY;
    for (uint32_t r = 0; r < count && !status; r++)
        if (before_ns[r] || after_ns[r])
            result->rows[result->row_count++] =
                (struct cts_whatif_row){r, before_ns[r], after_ns[r]};
    if (!status) qsort(result->rows, result->row_count, sizeof *result->rows, by_after);
    free(after_ns);
    return status;
}

static enum cts_status compare_ranks(struct projection *p, struct cts_error *error)
{
    const struct cts_path_graph *const graph = p->graph;
    struct cts_whatif *const result = p->result;
    result->ranks = cts_array_zeroed(graph->system->process_count, sizeof *result->ranks, error);
    if (!result->ranks) return CTS_MEMORY;
    result->rank_count = graph->system->process_count;
    for (uint32_t r = 0; r < graph->system->process_count; r++) {
        struct cts_whatif_rank *const rank = &result->ranks[r];
        rank->rank = cts_path_rank_of(graph->system, r);
        for (uint32_t i = graph->system->process_first[r]; i < graph->system->process_first[r + 1];
             i++) {
            const uint32_t l = graph->system->by_process[i];
            const struct cts_path_location *const at = &graph->locations[l];
            if (!at->count) continue;
            const uint64_t before_ns = at->time_ns[at->count - 1] - graph->first_ns;
            uint64_t after_ns = new_time(p, l, (uint32_t)at->count - 1);
            after_ns = after_ns > graph->first_ns ? after_ns - graph->first_ns : 0;
            if (before_ns > rank->before_ns) rank->before_ns = before_ns;
            if (after_ns > rank->after_ns) rank->after_ns = after_ns;
        }
    }
    return CTS_OK;
}

static enum cts_status keep_times(struct projection *p, struct cts_error *error)
{
    const struct cts_path_graph *const graph = p->graph;
    p->result->time_ns =
        cts_array_zeroed(graph->system->location_count + 1ul, sizeof(uint64_t *), error);
    if (!p->result->time_ns) return CTS_MEMORY;
    uint64_t *const all = cts_array_zeroed(p->plan->node_count, sizeof *all, error);
    if (!all) return CTS_MEMORY;
    p->result->time_ns[0] = all;
    memcpy(all, p->time_ns, p->plan->node_count * sizeof *all);
    for (uint32_t l = 0; l < graph->system->location_count; l++)
        p->result->time_ns[l] = all + p->plan->places[l].base;
    return CTS_OK;
}

/* The runtime: the last event from the first. */
uint64_t cts_whatif_runtime_of(const struct cts_path_graph *graph, uint64_t last_ns)
{
    return last_ns > graph->first_ns ? last_ns - graph->first_ns : 0;
}

enum cts_status cts_whatif_project(const struct cts_whatif_plan *plan,
                                   const struct cts_whatif_factors *factors,
                                   const uint64_t *path_ns, struct cts_whatif *result,
                                   struct cts_error *error)
{
    const struct cts_path_graph *const graph = plan->graph;
    struct cts_path_graph after = {0};
    struct cts_whatif_replay replay = {.plan = plan, .factors = factors->lists};
    replay.time_ns = cts_array_zeroed(plan->node_count, sizeof *replay.time_ns, error);
    const size_t wait_limit = plan->options->wait_limit ? plan->options->wait_limit : WAITS_DEFAULT;
    result->waits = cts_array_zeroed(wait_limit + 1, sizeof *result->waits, error);
    enum cts_status status = replay.time_ns && result->waits ? CTS_OK : CTS_MEMORY;
    if (!status) status = cts_whatif_replay(&replay, error);
    struct projection p = {.graph = graph,
                           .plan = plan,
                           .time_ns = replay.time_ns,
                           .factors = factors->lists,
                           .result = result,
                           .wait_limit = wait_limit};
    if (!status) {
        result->after_ns = cts_whatif_runtime_of(graph, replay.last_ns);
        result->notes.projections++;
        status = keep_times(&p, error);
    }
    if (!status) status = compare_ranks(&p, error);
    if (!status) status = make_after(&p, &after, error);
    if (!status) status = compare_paths(&p, &after, path_ns, error);
    release_after(&after);
    free(replay.time_ns);
    return status;
}
