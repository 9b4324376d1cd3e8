/* From the graph to bounds: one pass over the waits of each location and the activities of each
 * stream. */
#include "analyze/path/whatif-plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/path/api.h"
#include "analyze/path/whatif-polls.h"

/* ---- nodes ---- */

static void place_edge(const struct cts_path_graph *graph, struct cts_path_edge *edge)
{
    const struct cts_path_location *const at = &graph->locations[edge->location];
    if (edge->node == CTS_PATH_NONE || edge->node >= at->count)
        edge->node = cts_path_node_at(at, edge->source_ns);
}

void cts_whatif_place_edges(struct cts_path_graph *graph)
{
    for (uint32_t l = 0; l < graph->system->location_count; l++)
        for (size_t i = 0; i < graph->locations[l].edges.count; i++)
            place_edge(graph, &graph->locations[l].edges.items[i]);
    for (size_t i = 0; i < graph->pool_edge_count; i++) place_edge(graph, &graph->pool_edges[i]);
}

/* ---- device activities ---- */

static void bound_by_launch(const struct cts_path_graph *graph, uint64_t begin_ns,
                            const struct cts_path_activity *activity, struct cts_whatif_work *work)
{
    const struct cts_path_location *const host = &graph->locations[activity->host];
    work->launch = activity->launch;
    work->inferred = work->in_call = activity->launched_ns >= begin_ns;
    if (cts_whatif_launches(graph, host, activity->launch)) { /* else the launch is inferred */
        const uint32_t leave = cts_whatif_leave_of(host, activity->launch);
        if (host->time_ns[leave] <= begin_ns) work->launch = leave;
        work->inferred = false;
        work->in_call = work->launch == activity->launch;
    }
    work->launch_tail_ns = (int64_t)(begin_ns - host->time_ns[work->launch]);
}

/* The one before, unless the two overlap: then one that had ended. If several before it overlap
 * each other, the one that ended last. */
static void bound_by_previous(const struct cts_path_location *at, uint32_t index,
                              struct cts_whatif_work *work)
{
    enum { LOOK_BACK = 16 };
    const uint64_t begin_ns = at->time_ns[at->activities.items[index].begin];
    for (uint32_t back = 1; back <= index && back <= LOOK_BACK; back++) {
        const uint64_t end_ns = at->time_ns[at->activities.items[index - back].end];
        if (end_ns > begin_ns) continue;
        const int64_t tail_ns = (int64_t)(begin_ns - end_ns);
        if (work->previous != CTS_PATH_NONE && tail_ns >= work->previous_tail_ns) return;
        work->previous = index - back;
        work->previous_tail_ns = tail_ns;
    }
}

static void find_binding(struct cts_whatif_work *work)
{
    int64_t best_ns = INT64_MAX;
    work->binding = CTS_WHATIF_BY_NOTHING;
    if (work->launch != CTS_PATH_NONE) {
        work->binding = CTS_WHATIF_BY_LAUNCH;
        best_ns = work->launch_tail_ns;
    }
    if (work->previous != CTS_PATH_NONE && work->previous_tail_ns <= best_ns) {
        work->binding = CTS_WHATIF_BY_PREVIOUS;
        best_ns = work->previous_tail_ns;
    }
    if (work->wait != CTS_PATH_NONE && work->wait_tail_ns <= best_ns)
        work->binding = CTS_WHATIF_BY_WAIT;
}

/* On a full device kernels begin in the order of their coming: no bound, but the room's. First
 * launches are no other. */
static bool takes_turns(const struct cts_whatif_plan *plan, const struct cts_path_location *at,
                        const struct cts_path_wait *wait)
{
    if (wait->pattern == CTS_PATH_PATTERN_FIRST_LAUNCH)
        return plan->options->undecided_take_turns && cts_whatif_is_undecided(at);
    return wait->pattern == CTS_PATH_PATTERN_FULL_DEVICE && !plan->options->free_overlap;
}

static const struct cts_path_config *config_of(const struct cts_path_location *at, uint32_t index)
{
    return index < at->configs.count && at->configs.items[index].cta_count
               ? &at->configs.items[index]
               : NULL;
}

/* Whether a first launch found no room: then that is what it waited for, whatever its code. */
static bool lacks_room(const struct cts_whatif_plan *plan, uint32_t location, uint32_t index,
                       const struct cts_path_wait *wait)
{
    const struct cts_path_graph *const graph = plan->graph;
    size_t count;
    const struct cts_path_edge *const edge = cts_path_edges_of(graph, location, wait, &count);
    if (wait->pattern != CTS_PATH_PATTERN_FIRST_LAUNCH || !count) return false;
    const struct cts_path_location *const other = &graph->locations[edge->location];
    const struct cts_path_config *const own = config_of(&graph->locations[location], index);
    for (uint32_t i = 0; own && i < other->activities.count; i++) {
        const struct cts_path_config *const config = config_of(other, i);
        if (other->activities.items[i].end != edge->node || !config) continue;
        struct cts_whatif_kernel before = {0}, kernel = {0};
        cts_whatif_want_room(&plan->options->device, config, &before);
        cts_whatif_want_room(&plan->options->device, own, &kernel);
        return before.room + kernel.need > CTS_WHATIF_ROOM;
    }
    return false;
}

static enum cts_status make_stream(struct cts_whatif_plan *plan, uint32_t location,
                                   struct cts_error *error)
{
    const struct cts_path_graph *const graph = plan->graph;
    const struct cts_path_location *const at = &graph->locations[location];
    struct cts_whatif_work *const works =
        cts_array_zeroed(at->activities.count, sizeof *works, error);
    uint32_t *const wait_at = cts_array_zeroed(at->count, sizeof *wait_at, error);
    bool *const turns = cts_array_zeroed(at->count, sizeof *turns, error);
    plan->places[location].work = works;
    if (!works || !wait_at || !turns) {
        free(wait_at);
        free(turns);
        return CTS_MEMORY;
    }
    for (uint32_t w = 0; w < at->waits.count; w++) {
        const struct cts_path_wait *const wait = &at->waits.items[w];
        if (wait->call == CTS_PATH_NONE || cts_path_is_within(wait)) continue;
        if (takes_turns(plan, at, wait))
            turns[wait->call] = true; /* beside what else held it */
        else
            wait_at[wait->call] = w + 1;
    }
    for (size_t i = 0; i < at->hints.count && plan->options->undecided_take_turns; i++)
        turns[at->activities.items[at->hints.items[i]].begin] = true;
    for (uint32_t i = 0; i < at->activities.count; i++) {
        const struct cts_path_activity *const activity = &at->activities.items[i];
        struct cts_whatif_work *const work = &works[i];
        const uint64_t begin_ns = at->time_ns[activity->begin];
        *work = (struct cts_whatif_work){.launch = CTS_PATH_NONE,
                                         .previous = CTS_PATH_NONE,
                                         .wait = CTS_PATH_NONE,
                                         .meeting = CTS_PATH_NONE};
        if (activity->host != CTS_PATH_NONE) bound_by_launch(graph, begin_ns, activity, work);
        bound_by_previous(at, i, work);
        const uint32_t wait = wait_at[activity->begin] - 1;
        work->takes_turn = turns[activity->begin];
        if (wait_at[activity->begin] && !lacks_room(plan, location, i, &at->waits.items[wait])) {
            const uint64_t latest_ns =
                cts_whatif_latest_of(graph, location, &at->waits.items[wait]);
            if (latest_ns <= begin_ns) { /* else it did not wait for that */
                work->wait = wait;
                work->wait_tail_ns = (int64_t)(begin_ns - latest_ns);
            }
        }
        find_binding(work);
        plan->activity_count++;
        const uint64_t duration_ns = at->time_ns[activity->end] - begin_ns;
        plan->device_ns += duration_ns;
        if (work->launch == CTS_PATH_NONE) {
            plan->unbound_count++;
            plan->unbound_ns += duration_ns;
        }
        plan->configured_count += i < at->configs.count && at->configs.items[i].cta_count;
    }
    free(wait_at);
    free(turns);
    return CTS_OK;
}

/* Kernels of collectives end so long after the last of them has begun, host functions so long after
 * what their threads did. */
static void note_meetings(struct cts_whatif_plan *plan, uint32_t location)
{
    const struct cts_path_location *const at = &plan->graph->locations[location];
    size_t next = 0;
    for (uint32_t w = 0; w < at->waits.count; w++) {
        const struct cts_path_wait *const wait = &at->waits.items[w];
        if (!cts_path_is_within(wait)) continue;
        while (next < at->activities.count && at->activities.items[next].begin < wait->call) next++;
        if (next == at->activities.count || at->activities.items[next].begin != wait->call)
            continue;
        const uint64_t begin_ns = at->time_ns[wait->call], end_ns = at->time_ns[wait->leave];
        uint64_t met_ns = cts_whatif_latest_of(plan->graph, location, wait);
        if (met_ns < begin_ns) met_ns = begin_ns;
        struct cts_whatif_work *const work = &plan->places[location].work[next];
        work->meeting = w;
        work->meeting_tail_ns = end_ns > met_ns ? end_ns - met_ns : 0;
    }
}

static enum cts_status make_streams(struct cts_whatif_plan *plan, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint32_t l = 0; l < plan->graph->system->location_count && !status; l++)
        if (plan->graph->system->who[l].stream) {
            status = make_stream(plan, l, error);
            if (!status) note_meetings(plan, l);
        }
    return status ? status : cts_whatif_shorten_tails(plan, error);
}

/* ---- all ---- */

enum cts_status cts_whatif_plan_make(struct cts_whatif_plan *plan,
                                     const struct cts_path_graph *graph,
                                     const struct cts_whatif_options *options,
                                     struct cts_error *error)
{
    *plan = (struct cts_whatif_plan){.graph = graph, .options = options};
    plan->places = cts_array_zeroed(graph->system->location_count, sizeof *plan->places, error);
    plan->least_free_ns = cts_array_zeroed(graph->system->region_count, sizeof(uint64_t), error);
    plan->least_tail_ns = cts_array_zeroed(graph->system->region_count, sizeof(uint64_t), error);
    if (!plan->places || !plan->least_free_ns || !plan->least_tail_ns) return CTS_MEMORY;
    memset(plan->least_free_ns, 0xFF, graph->system->region_count * sizeof(uint64_t));
    memset(plan->least_tail_ns, 0xFF, graph->system->region_count * sizeof(uint64_t));
    enum cts_status status = CTS_OK;
    for (uint32_t l = 0; l < graph->system->location_count && !status; l++) {
        plan->places[l].base = plan->node_count;
        plan->node_count += graph->locations[l].count;
        status = cts_whatif_note_costs(plan, l, error);
    }
    cts_whatif_take_profile(plan);
    if (!status) status = make_streams(plan, error);
    if (!status) status = cts_whatif_make_rules(plan, error);
    for (uint32_t l = 0; l < graph->system->location_count && !status; l++)
        if (!graph->system->who[l].stream) status = cts_whatif_poll_rules(plan, l, error);
    if (status) return status;
    cts_whatif_order_rules(plan);
    return options->free_overlap ? CTS_OK : cts_whatif_share(plan, error);
}

void cts_whatif_plan_release(struct cts_whatif_plan *plan)
{
    for (uint32_t l = 0; plan->places && l < plan->graph->system->location_count; l++) {
        free(plan->places[l].rules);
        free(plan->places[l].work);
    }
    free(plan->places);
    free(plan->kernels);
    free(plan->devices);
    free(plan->by_device);
    free(plan->least_free_ns);
    free(plan->least_tail_ns);
    *plan = (struct cts_whatif_plan){0};
}
