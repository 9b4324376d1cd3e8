/* Projections: which activities a person means, the recording beside its projection, and the list
 * of what an optimisation of each activity would gain.
 *
 * What the projection says of waits and of the critical path comes from the same code as for the
 * recording: the projected times make a graph of their own, which is walked. */
#include "analyze/path/whatif.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/path/whatif-replay.h"

enum { TARGETS_DEFAULT = 100, WAITS_DEFAULT = 20, NEAR_MAX = 3 };

/* ---- names ---- */

/* A kernel's name may be given without its parameters. */
static bool is_named(const char *wanted, const char *name)
{
    if (!strcmp(wanted, name)) return true;
    if (strchr(wanted, '*')) return fnmatch(wanted, name, 0) == 0;
    const size_t length = strlen(wanted);
    return length && !strncmp(wanted, name, length) && name[length] == '(';
}

/* How unlike two names are: single letters to change, without regard to case. */
static unsigned distance(const char *a, const char *b)
{
    enum { LENGTH_MAX = 64 };
    unsigned row[LENGTH_MAX + 1];
    const size_t a_length = strnlen(a, LENGTH_MAX), b_length = strnlen(b, LENGTH_MAX);
    for (size_t k = 0; k <= b_length; k++) row[k] = (unsigned)k;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= b_length; k++) {
            const bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[k - 1]);
            unsigned best = corner + !same;
            corner = row[k];
            if (corner + 1 < best) best = corner + 1;
            if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
            row[k] = best;
        }
    }
    return row[b_length];
}

static enum cts_status unknown_name(const struct cts_path_graph *graph, const char *wanted,
                                    struct cts_error *error)
{
    const char *near[NEAR_MAX] = {0};
    unsigned far[NEAR_MAX] = {0};
    for (uint32_t r = 0; r < graph->region_count; r++) {
        const char *const name = graph->regions[r].name;
        if (!graph->rows[r].calls) continue;
        unsigned d = distance(wanted, name);
        if (strcasestr(name, wanted)) d = 0;
        if (d > strlen(wanted) / 3 + 1) continue;
        unsigned at = NEAR_MAX;
        while (at > 0 && (!near[at - 1] || d < far[at - 1])) at--;
        if (at == NEAR_MAX) continue;
        memmove(&near[at + 1], &near[at], (NEAR_MAX - 1 - at) * sizeof *near);
        memmove(&far[at + 1], &far[at], (NEAR_MAX - 1 - at) * sizeof *far);
        near[at] = name;
        far[at] = d;
    }
    if (!near[0])
        return cts_fail(error, CTS_USAGE, "no activity is called '%s' ('ctascope path' lists all)",
                        wanted);
    return cts_fail(error, CTS_USAGE, "no activity is called '%s'; near it: '%s'%s%s%s%s%s%s",
                    wanted, near[0], near[1] ? ", '" : "", near[1] ? near[1] : "",
                    near[1] ? "'" : "", near[2] ? ", '" : "", near[2] ? near[2] : "",
                    near[2] ? "'" : "");
}

/* ---- factors ---- */

struct factors {
    double *values;       /* [process * region_count] */
    const double **lists; /* [process] */
};

static enum cts_status open_factors(const struct cts_path_graph *graph, struct factors *factors,
                                    struct cts_error *error)
{
    const size_t count = (size_t)graph->process_count * graph->region_count;
    factors->values = cts_array_zeroed(count, sizeof *factors->values, error);
    factors->lists = cts_array_zeroed(graph->process_count, sizeof *factors->lists, error);
    if (!factors->values || !factors->lists) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) factors->values[i] = 1;
    for (uint32_t p = 0; p < graph->process_count; p++)
        factors->lists[p] = factors->values + (size_t)p * graph->region_count;
    return CTS_OK;
}

static void close_factors(struct factors *factors)
{
    free(factors->values);
    free(factors->lists);
}

static uint32_t rank_of(const struct cts_path_graph *graph, uint32_t process)
{
    return graph->timeline->groups[graph->process_group[process]].rank;
}

static bool runs_on(const struct cts_path_graph *graph, uint32_t process, uint32_t region)
{
    for (uint32_t i = graph->process_first[process]; i < graph->process_first[process + 1]; i++) {
        const struct cts_path_location *const at = &graph->locations[graph->by_process[i]];
        for (size_t n = 0; n < at->count; n++)
            if (at->region[n] == region) return true;
    }
    return false;
}

static bool can_change(const struct cts_path_graph *graph, uint32_t region)
{
    const uint32_t latency = region - graph->pseudo;
    return graph->rows[region].calls ||
           (region >= graph->pseudo &&
            (latency == CTS_PATH_LAUNCH_LATENCY || latency == CTS_PATH_MPI_TRANSFER ||
             latency == CTS_PATH_NO_REGION));
}

static enum cts_status apply_change(const struct cts_path_graph *graph,
                                    const struct cts_whatif_change *change, struct factors *factors,
                                    struct cts_error *error)
{
    if (!(change->factor >= 0) || change->factor > 1e6)
        return cts_fail(error, CTS_USAGE,
                        "a factor is a number from 0 to 1000000, '%s' has another",
                        change->activity);
    bool known = false, rank_known = change->rank == CTS_WHATIF_ALL, found = false;
    for (uint32_t p = 0; p < graph->process_count; p++)
        rank_known |= rank_of(graph, p) == change->rank;
    if (!rank_known) return cts_fail(error, CTS_USAGE, "the trace has no rank %u", change->rank);
    for (uint32_t r = 0; r < graph->region_count; r++) {
        if (!can_change(graph, r) || !is_named(change->activity, graph->regions[r].name)) continue;
        known = true;
        for (uint32_t p = 0; p < graph->process_count; p++) {
            if (change->rank != CTS_WHATIF_ALL && (rank_of(graph, p) != change->rank ||
                                                   (!runs_on(graph, p, r) && graph->rows[r].calls)))
                continue;
            factors->values[(size_t)p * graph->region_count + r] = change->factor;
            found = true;
        }
    }
    if (!known) return unknown_name(graph, change->activity, error);
    if (!found)
        return cts_fail(error, CTS_USAGE, "'%s' does not run on rank %u", change->activity,
                        change->rank);
    return CTS_OK;
}

/* ---- waits before and after ---- */

struct projection {
    struct cts_path_graph *graph; /* as recorded */
    struct cts_whatif_plan *plan;
    const uint64_t *time_ns; /* [place.base + node] */
    const double *const *factors;
    struct cts_whatif *result;
};

static uint64_t new_time(const struct projection *p, uint32_t location, uint32_t node)
{
    return p->time_ns[p->plan->places[location].base + node];
}

static uint64_t new_source(const struct projection *p, const struct cts_path_edge *edge)
{
    if (edge->node == CTS_PATH_NONE) return edge->source_ns;
    const struct cts_path_location *const at = &p->graph->locations[edge->location];
    const uint64_t time_ns = new_time(p, edge->location, edge->node);
    if (edge->source_ns <= at->time_ns[edge->node]) return time_ns;
    const double factor = p->factors[at->process][cts_path_region_after(p->graph, at, edge->node)];
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
    uint64_t begin_ns = new_time(p, location, wait->call);
    uint64_t end_ns = new_time(p, location, wait->leave);
    const struct cts_path_location *const at = &p->graph->locations[location];
    if (at->stream) { /* held: from being launched and at the head of its stream to its begin */
        end_ns = begin_ns;
        size_t low = 0, high = at->activities.count;
        while (low + 1 < high) {
            const size_t middle = low + (high - low) / 2;
            *(at->activities.items[middle].begin <= wait->call ? &low : &high) = middle;
        }
        const struct cts_path_activity *const now =
            &after->locations[location].activities.items[low];
        begin_ns = now->launched_ns;
        if (low) {
            const uint64_t previous_ns = new_time(p, location, at->activities.items[low - 1].end);
            if (previous_ns > begin_ns) begin_ns = previous_ns;
        }
        if (begin_ns > end_ns) begin_ns = end_ns;
        if (latest_ns > end_ns) latest_ns = begin_ns;
    }
    if (wait->pattern == CTS_PATH_PATTERN_FORK) latest_ns = begin_ns;
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

static void keep_wait(struct projection *p, size_t limit, uint32_t location,
                      const struct cts_path_wait *before, uint64_t after_ns)
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
    if (at >= limit) return;
    if (result->wait_count < limit) result->wait_count++;
    memmove(&result->waits[at + 1], &result->waits[at],
            (result->wait_count - at - 1) * sizeof wait);
    result->waits[at] = wait;
}

/* Waits of a location in the projection, disjoint as in the recording; BlameSync follows from
 * others and is left out. */
static enum cts_status move_waits(struct projection *p, const struct cts_path_graph *graph,
                                  struct cts_path_location *after, uint32_t location, size_t limit,
                                  struct cts_error *error)
{
    const struct cts_path_location *const at = &p->graph->locations[location];
    (void)error;
    uint64_t last_ns = 0;
    for (size_t i = 0; i < at->waits.count; i++) {
        struct cts_path_wait wait = at->waits.items[i];
        if (wait.call == CTS_PATH_NONE) continue;
        move_wait(p, graph, location, &wait);
        after->waits.items[after->waits.count++] = wait;
        if (wait.pattern == CTS_PATH_PATTERN_FORK) continue;
        uint64_t begin_ns = wait.begin_ns > last_ns ? wait.begin_ns : last_ns;
        if (begin_ns > wait.end_ns) begin_ns = wait.end_ns;
        if (wait.end_ns > begin_ns) last_ns = wait.end_ns;
        count_wait(p->result, &at->waits.items[i], wait.end_ns - begin_ns);
        keep_wait(p, limit, location, &at->waits.items[i], wait.end_ns - begin_ns);
    }
    return CTS_OK;
}

static void release_after(struct cts_path_graph *after)
{
    for (uint32_t l = 0; after->locations && l < after->location_count; l++) {
        free(after->locations[l].waits.items);
        free(after->locations[l].edges.items);
        free(after->locations[l].jumps.items);
        free(after->locations[l].activities.items);
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
static enum cts_status make_after(struct projection *p, struct cts_path_graph *after, size_t limit,
                                  struct cts_error *error)
{
    const uint32_t count = p->graph->location_count;
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
    }
    enum cts_status status = move_pools(p, after, error);
    for (uint32_t l = 0; l < count && !status; l++)
        status = copy_location(p, &after->locations[l], l, error);
    after->first_ns = UINT64_MAX;
    after->last_ns = 0;
    for (uint32_t l = 0; l < count && !status; l++) {
        struct cts_path_location *const at = &after->locations[l];
        status = move_waits(p, after, at, l, limit, error);
        if (status || !at->count) continue;
        if (at->time_ns[0] < after->first_ns) after->first_ns = at->time_ns[0];
        if (at->time_ns[at->count - 1] > after->last_ns)
            after->last_ns = at->time_ns[at->count - 1];
        status = cts_path_settle(after, l, error);
    }
    return status;
}

/* ---- the result of one projection ---- */

static enum cts_status walk(struct cts_path_graph *graph, uint64_t *path_ns,
                            struct cts_error *error)
{
    struct cts_path path = {0};
    const enum cts_status status = cts_path_walk(graph, path_ns, &path, error);
    free(path.segments);
    return status;
}

static int by_after(const void *left, const void *right)
{
    const struct cts_whatif_row *const a = left, *const b = right;
    if (a->after_ns != b->after_ns) return a->after_ns > b->after_ns ? -1 : 1;
    if (a->before_ns != b->before_ns) return a->before_ns > b->before_ns ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

static enum cts_status compare_paths(struct projection *p, struct cts_path_graph *after,
                                     const uint64_t *before_ns, struct cts_error *error)
{
    struct cts_whatif *const result = p->result;
    const uint32_t count = p->graph->region_count;
    uint64_t *const after_ns = cts_array_zeroed(count, sizeof *after_ns, error);
    result->rows = cts_array_zeroed(count, sizeof *result->rows, error);
    enum cts_status status = after_ns && result->rows ? walk(after, after_ns, error) : CTS_MEMORY;
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
    result->ranks = cts_array_zeroed(graph->process_count, sizeof *result->ranks, error);
    if (!result->ranks) return CTS_MEMORY;
    result->rank_count = graph->process_count;
    for (uint32_t r = 0; r < graph->process_count; r++) {
        struct cts_whatif_rank *const rank = &result->ranks[r];
        rank->rank = rank_of(graph, r);
        for (uint32_t i = graph->process_first[r]; i < graph->process_first[r + 1]; i++) {
            const uint32_t l = graph->by_process[i];
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
    p->result->time_ns = cts_array_zeroed(graph->location_count + 1ul, sizeof(uint64_t *), error);
    if (!p->result->time_ns) return CTS_MEMORY;
    uint64_t *const all = cts_array_zeroed(p->plan->node_count, sizeof *all, error);
    if (!all) return CTS_MEMORY;
    p->result->time_ns[0] = all;
    memcpy(all, p->time_ns, p->plan->node_count * sizeof *all);
    for (uint32_t l = 0; l < graph->location_count; l++)
        p->result->time_ns[l] = all + p->plan->places[l].base;
    return CTS_OK;
}

/* The runtime: the last event from the first. */
static uint64_t runtime_of(const struct cts_path_graph *graph, uint64_t last_ns)
{
    return last_ns > graph->first_ns ? last_ns - graph->first_ns : 0;
}

static enum cts_status project(struct cts_whatif_plan *plan, const struct factors *factors,
                               const uint64_t *path_ns, size_t wait_limit,
                               struct cts_whatif *result, struct cts_error *error)
{
    struct cts_path_graph *const graph = plan->graph;
    struct cts_path_graph after = {0};
    struct cts_whatif_replay replay = {.plan = plan, .factors = factors->lists};
    replay.time_ns = cts_array_zeroed(plan->node_count, sizeof *replay.time_ns, error);
    result->waits = cts_array_zeroed(wait_limit + 1, sizeof *result->waits, error);
    enum cts_status status = replay.time_ns && result->waits ? CTS_OK : CTS_MEMORY;
    if (!status) status = cts_whatif_replay(&replay, error);
    struct projection p = {.graph = graph,
                           .plan = plan,
                           .time_ns = replay.time_ns,
                           .factors = factors->lists,
                           .result = result};
    if (!status) {
        result->after_ns = runtime_of(graph, replay.last_ns);
        result->notes.projections++;
        status = keep_times(&p, error);
    }
    if (!status) status = compare_ranks(&p, error);
    if (!status) status = make_after(&p, &after, wait_limit, error);
    if (!status) status = compare_paths(&p, &after, path_ns, error);
    release_after(&after);
    free(replay.time_ns);
    return status;
}

/* ---- targets ---- */

struct targets {
    struct cts_whatif_plan *plan;
    struct cts_whatif_target *items;
    size_t count;
};

static enum cts_status try_target(void *state, size_t index, struct cts_error *error)
{
    struct targets *const targets = state;
    const struct cts_path_graph *const graph = targets->plan->graph;
    struct cts_whatif_target *const target = &targets->items[index / 2];
    struct factors factors = {0};
    struct cts_whatif_replay replay = {.plan = targets->plan};
    enum cts_status status = open_factors(graph, &factors, error);
    for (uint32_t p = 0; p < graph->process_count && !status; p++)
        factors.values[(size_t)p * graph->region_count + target->region] = index % 2 ? 0 : 0.5;
    replay.factors = factors.lists;
    if (!status)
        replay.time_ns = cts_array_zeroed(targets->plan->node_count, sizeof(uint64_t), error);
    if (!status && !replay.time_ns) status = CTS_MEMORY;
    if (!status) status = cts_whatif_replay(&replay, error);
    if (!status)
        *(index % 2 ? &target->none_ns : &target->half_ns) = runtime_of(graph, replay.last_ns);
    free(replay.time_ns);
    close_factors(&factors);
    return status;
}

static int by_exclusive(const void *left, const void *right)
{
    const struct cts_whatif_target *const a = left, *const b = right;
    if (a->exclusive_ns != b->exclusive_ns) return a->exclusive_ns > b->exclusive_ns ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

static int by_gain(const void *left, const void *right)
{
    const struct cts_whatif_target *const a = left, *const b = right;
    if (a->half_ns != b->half_ns) return a->half_ns < b->half_ns ? -1 : 1;
    if (a->none_ns != b->none_ns) return a->none_ns < b->none_ns ? -1 : 1;
    return by_exclusive(left, right);
}

static enum cts_status find_targets(struct cts_whatif_plan *plan, const uint64_t *path_ns,
                                    struct cts_whatif *result, struct cts_error *error)
{
    struct cts_path_graph *const graph = plan->graph;
    const size_t limit =
        plan->options->target_limit ? plan->options->target_limit : TARGETS_DEFAULT;
    struct targets targets = {.plan = plan};
    targets.items = cts_array_zeroed(graph->region_count, sizeof *targets.items, error);
    if (!targets.items) return CTS_MEMORY;
    for (uint32_t r = 0; r < graph->region_count; r++)
        if (graph->rows[r].calls && graph->rows[r].exclusive_ns)
            targets.items[targets.count++] =
                (struct cts_whatif_target){.region = r,
                                           .calls = graph->rows[r].calls,
                                           .exclusive_ns = graph->rows[r].exclusive_ns,
                                           .path_ns = path_ns[r]};
    qsort(targets.items, targets.count, sizeof *targets.items, by_exclusive);
    if (targets.count > limit) {
        result->notes.target_left = targets.count - limit;
        result->notes.target_left_ns = targets.items[limit].exclusive_ns;
        targets.count = limit;
    }
    result->targets = targets.items;
    result->target_count = targets.count;
    const enum cts_status status =
        cts_path_for_each(graph, 2 * targets.count, try_target, &targets, error);
    result->notes.projections += 2 * targets.count;
    if (!status) qsort(targets.items, targets.count, sizeof *targets.items, by_gain);
    return status;
}

/* ---- all ---- */

/* Unaltered, every node must have its recorded time. */
static enum cts_status check(struct cts_whatif_plan *plan, struct cts_whatif_notes *notes,
                             struct cts_error *error)
{
    struct cts_path_graph *const graph = plan->graph;
    struct factors factors = {0};
    struct cts_whatif_replay replay = {.plan = plan};
    enum cts_status status = open_factors(graph, &factors, error);
    replay.factors = factors.lists;
    if (!status) replay.time_ns = cts_array_zeroed(plan->node_count, sizeof(uint64_t), error);
    if (!status && !replay.time_ns) status = CTS_MEMORY;
    if (!status) status = cts_whatif_replay(&replay, error);
    notes->missed = 0;
    for (uint32_t l = 0; l < graph->location_count && !status; l++)
        for (size_t i = 0; i < graph->locations[l].count; i++)
            notes->missed +=
                replay.time_ns[plan->places[l].base + i] != graph->locations[l].time_ns[i];
    notes->broken = replay.broken;
    free(replay.time_ns);
    close_factors(&factors);
    return status;
}

static void note_plan(const struct cts_whatif_plan *plan, struct cts_whatif_notes *notes)
{
    notes->kernels = plan->activity_count;
    notes->configured = plan->configured_count;
    notes->shared = plan->kernel_count;
    notes->interference = notes->overtaking = 0;
    notes->queued = 0;
    for (size_t i = 0; i < plan->kernel_count; i++)
        notes->queued +=
            plan->places[plan->kernels[i].location].work[plan->kernels[i].activity].queues;
    for (uint32_t d = 0; d < plan->device_count; d++) {
        if (plan->devices[d].interference / 16.0 > notes->interference)
            notes->interference = plan->devices[d].interference / 16.0;
        if (plan->devices[d].overtaking / 16.0 > notes->overtaking)
            notes->overtaking = plan->devices[d].overtaking / 16.0;
    }
}

static enum cts_status describe(const struct cts_path_graph *graph, struct cts_whatif *result,
                                struct cts_error *error)
{
    result->timeline = graph->timeline;
    result->region_count = graph->region_count;
    result->process_count = graph->process_count;
    result->event_count = graph->event_count;
    for (uint32_t l = 0; l < graph->location_count; l++) {
        result->node_count += graph->locations[l].count;
        result->stream_count += graph->locations[l].stream;
    }
    result->before_ns = result->after_ns = graph->last_ns - graph->first_ns;
    memcpy(result->warnings, graph->warnings, sizeof result->warnings);
    result->region_names =
        cts_array_zeroed(graph->region_count, sizeof *result->region_names, error);
    if (!result->region_names) return CTS_MEMORY;
    for (uint32_t r = 0; r < graph->region_count; r++)
        result->region_names[r] = graph->regions[r].name;
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++)
        result->patterns[p].pattern = (enum cts_path_pattern)p;
    return CTS_OK;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static enum cts_status prepare(struct cts_whatif_plan *plan, struct cts_path_graph *graph,
                               const struct cts_whatif_options *options, struct cts_whatif *result,
                               struct cts_error *error)
{
    enum cts_status status = cts_whatif_plan_make(plan, graph, options, error);
    if (!status) status = check(plan, &result->notes, error);
    if (!status) note_plan(plan, &result->notes);
    if (status || !result->notes.missed || !plan->kernel_count) return status;
    cts_whatif_unshare(plan);
    result->notes.share_rejected = true;
    return check(plan, &result->notes, error);
}

enum cts_status cts_whatif_analyze(const struct cts_path_source *source,
                                   const struct cts_whatif_options *options,
                                   struct cts_whatif *result, struct cts_error *error)
{
    *result = (struct cts_whatif){0};
    if (!options->change_count && !options->targets)
        return cts_fail(error, CTS_USAGE, "nothing to change: give an activity and its factor");
    struct cts_path_options path = options->path;
    path.processes = NULL;
    struct cts_path_graph graph;
    struct cts_whatif_plan plan = {0};
    struct factors factors = {0};
    uint64_t *path_ns = NULL;
    enum cts_status status = cts_path_graph_build(source, &path, NULL, &graph, error);
    if (!status) status = describe(&graph, result, error);
    if (!status) status = open_factors(&graph, &factors, error);
    for (size_t i = 0; i < options->change_count && !status; i++)
        status = apply_change(&graph, &options->changes[i], &factors, error);
    if (status) goto out;
    const double begun = seconds_now();
    path_ns = cts_array_zeroed(graph.region_count, sizeof *path_ns, error);
    status = path_ns ? walk(&graph, path_ns, error) : CTS_MEMORY;
    if (!status) status = prepare(&plan, &graph, options, result, error);
    if (!status && options->change_count)
        status = project(&plan, &factors, path_ns,
                         options->wait_limit ? options->wait_limit : WAITS_DEFAULT, result, error);
    if (!status && options->targets) status = find_targets(&plan, path_ns, result, error);
    result->notes.seconds = seconds_now() - begun;
out:
    if (plan.graph) cts_whatif_plan_release(&plan);
    close_factors(&factors);
    free(path_ns);
    cts_path_graph_release(&graph);
    if (status) cts_whatif_release(result);
    return status;
}

void cts_whatif_release(struct cts_whatif *result)
{
    free(result->region_names);
    free(result->ranks);
    free(result->rows);
    free(result->waits);
    free(result->targets);
    if (result->time_ns) free(result->time_ns[0]);
    free(result->time_ns);
    *result = (struct cts_whatif){0};
}
