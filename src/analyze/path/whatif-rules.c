/* Rules of host nodes: what each call waited for, and what it costs when it waits for nothing.
 *
 *      enter e        latest source s        leave l
 *        |--- waiting ----|------- tail ------|
 *        |-- own --|
 *
 * A call that waited leaves at max(e + own, s + tail); own is what a call of its name costs that
 * waits for nothing. A call that did not wait has own = l - e, and the tail, should its source come
 * later than recorded, of calls that waited. A blocking copy keeps its duration, as its copy on the
 * device bounds its leave. A wait ends at the first node at or after its source, which is the leave
 * unless other calls are nested in the call. */
#include "analyze/path/whatif-plan.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/api.h"

/* ---- nodes ---- */

uint32_t cts_whatif_leave_of(const struct cts_path_location *at, uint32_t call)
{
    uint32_t node = call + 1;
    while (node < at->count && !(at->region[node] & CTS_PATH_LEAVE && at->active[node - 1] == call))
        node++;
    return node < at->count ? node : (uint32_t)at->count - 1;
}

static uint32_t region_of(const struct cts_path_location *at, uint32_t node)
{
    return at->region[node] & ~CTS_PATH_LEAVE;
}

uint64_t cts_whatif_latest_of(const struct cts_path_graph *graph, uint32_t location,
                              const struct cts_path_wait *wait)
{
    if (wait->flags & CTS_PATH_POOLED) return graph->pools[wait->first].latest_ns;
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(graph, location, wait, &count);
    uint64_t latest_ns = 0;
    for (size_t i = 0; i < count; i++)
        if (edges[i].source_ns > latest_ns) latest_ns = edges[i].source_ns;
    return latest_ns;
}

/* ---- what calls cost ---- */

enum meaning { PLAIN, SYNCHRONISES, POLLS, COPIES };

static enum meaning meaning_of(const struct cts_path_graph *graph, uint32_t region)
{
    if (graph->system->regions[region].kind != CTS_PATH_API) return PLAIN;
    switch (graph->system->regions[region].api) {
    case CTS_PATH_API_SYNC_DEVICE:
    case CTS_PATH_API_SYNC_CONTEXT:
    case CTS_PATH_API_SYNC_STREAM:
    case CTS_PATH_API_SYNC_EVENT:
    case CTS_PATH_API_ALLOC:
        return SYNCHRONISES;
    case CTS_PATH_API_QUERY_STREAM:
    case CTS_PATH_API_QUERY_EVENT:
        return POLLS;
    case CTS_PATH_API_COPY:
    case CTS_PATH_API_COPY_ASYNC: /* where it blocked */
    case CTS_PATH_API_MEMSET:
        return COPIES;
    default:
        return PLAIN;
    }
}

/* Frees wait for the device by their documentation; of other allocations only those might that
 * did in the recording. */
static bool may_never_wait(const struct cts_path_graph *graph, uint32_t region)
{
    return graph->system->regions[region].kind == CTS_PATH_API &&
           graph->system->regions[region].api == CTS_PATH_API_ALLOC &&
           !strstr(graph->system->regions[region].name, "Free");
}

static bool is_async(const struct cts_path_graph *graph, uint32_t region)
{
    return graph->system->regions[region].api == CTS_PATH_API_COPY_ASYNC;
}

static void note_least(uint64_t *least, uint64_t value)
{
    if (value < *least) *least = value;
}

/* Synchronisations and queries without a wait: the cheapest there are. */
static void note_free_calls(struct cts_whatif_plan *plan, const struct cts_path_location *at,
                            const bool *waits)
{
    for (uint32_t node = 0; node + 1 < at->count; node++) {
        if (at->region[node] & CTS_PATH_LEAVE || waits[node]) continue;
        const uint32_t region = region_of(at, node);
        const enum meaning meaning = meaning_of(plan->graph, region);
        if (meaning != SYNCHRONISES && meaning != POLLS) continue;
        if (at->region[node + 1] != (region | CTS_PATH_LEAVE)) continue;
        note_least(&plan->least_free_ns[region], at->time_ns[node + 1] - at->time_ns[node]);
    }
}

static bool is_host_wait(const struct cts_path_location *at, const struct cts_path_wait *wait)
{
    return !at->who->stream && wait->call != CTS_PATH_NONE && wait->pattern < CTS_PATH_WAITS_END;
}

static bool is_poll(const struct cts_path_wait *wait)
{
    return wait->pattern == CTS_PATH_PATTERN_EVENT_QUERY ||
           wait->pattern == CTS_PATH_PATTERN_STREAM_QUERY;
}

/* A query that failed has its awaited end behind it, or was not told in time. */
static bool has_failed(const struct cts_path_location *at, const struct cts_path_wait *wait,
                       uint64_t latest_ns)
{
    return is_poll(wait) && latest_ns > at->time_ns[wait->leave];
}

enum cts_status cts_whatif_note_costs(struct cts_whatif_plan *plan, uint32_t location,
                                      struct cts_error *error)
{
    const struct cts_path_location *const at = &plan->graph->locations[location];
    if (at->who->stream) return CTS_OK;
    bool *const waits = cts_array_zeroed(at->count, sizeof *waits, error);
    if (!waits) return CTS_MEMORY;
    for (size_t i = 0; i < at->waits.count; i++) {
        const struct cts_path_wait *const wait = &at->waits.items[i];
        if (!is_host_wait(at, wait)) continue;
        waits[wait->call] = true;
        const uint32_t region = region_of(at, wait->call);
        const uint64_t latest_ns = cts_whatif_latest_of(plan->graph, location, wait);
        const uint64_t enter_ns = at->time_ns[wait->call], leave_ns = at->time_ns[wait->leave];
        if (has_failed(at, wait, latest_ns)) continue;
        if (latest_ns <= enter_ns)
            note_least(&plan->least_free_ns[region], leave_ns - enter_ns);
        else
            note_least(&plan->least_tail_ns[region],
                       latest_ns < leave_ns ? leave_ns - latest_ns : 0);
    }
    note_free_calls(plan, at, waits);
    free(waits);
    return CTS_OK;
}

void cts_whatif_take_profile(struct cts_whatif_plan *plan)
{
    for (size_t i = 0; i < plan->options->cost_count; i++)
        for (uint32_t r = 0; r < plan->graph->system->region_count; r++)
            if (!strcmp(plan->graph->system->regions[r].name, plan->options->costs[i].name))
                plan->least_free_ns[r] = plan->options->costs[i].cost_ns;
}

/* ---- rules of host nodes ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What the call costs at least, of its duration. */
static uint64_t own_of(const struct cts_whatif_plan *plan, uint32_t region, uint64_t tail_ns,
                       uint64_t duration_ns)
{
    const enum meaning meaning = meaning_of(plan->graph, region);
    if (meaning == COPIES) return least(tail_ns, duration_ns);
    uint64_t cost_ns = plan->least_free_ns[region];
    if (cost_ns == UINT64_MAX) cost_ns = meaning == PLAIN ? tail_ns : plan->least_tail_ns[region];
    return least(cost_ns, duration_ns);
}

/* A memset or a copy that only enqueues: what it follows holds it on the device, not the call. */
static bool has_returned_at_once(const struct cts_path_wait *wait, uint64_t latest_ns,
                                 uint64_t leave_ns)
{
    return wait->pattern == CTS_PATH_PATTERN_BLAME_KERNEL && latest_ns > leave_ns;
}

/* Whether the call is one of those that meet, not one that completes what it began before. */
static bool has_met(const struct cts_path_graph *graph, uint32_t location,
                    const struct cts_path_wait *wait)
{
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(graph, location, wait, &count);
    for (size_t i = 0; i < count; i++)
        if (edges[i].location == location && edges[i].node == wait->call) return true;
    return false;
}

static enum cts_status wait_rule(struct cts_whatif_plan *plan, uint32_t location, uint32_t index,
                                 struct cts_error *error)
{
    const struct cts_path_location *const at = &plan->graph->locations[location];
    const struct cts_path_wait *const wait = &at->waits.items[index];
    const uint64_t *const t = at->time_ns;
    const uint32_t region = region_of(at, wait->call);
    const uint64_t latest_ns = cts_whatif_latest_of(plan->graph, location, wait);
    const uint64_t enter_ns = t[wait->call], leave_ns = t[wait->leave];
    const bool waited = latest_ns > enter_ns, pooled = wait->flags & CTS_PATH_POOLED;
    const bool transfer = wait->flags & CTS_PATH_TRANSFER && !(wait->flags & CTS_PATH_OWN);
    struct cts_whatif_rule rule = {.node = wait->leave,
                                   .wait = index,
                                   .kind = CTS_WHATIF_WAIT,
                                   .tail_is = transfer && waited ? CTS_WHATIF_TRANSFER
                                                                 : CTS_WHATIF_OF_CALL};
    if (has_returned_at_once(wait, latest_ns, leave_ns)) return CTS_OK;
    if (has_failed(at, wait, latest_ns)) return CTS_OK; /* whatif-polls.c */
    if (waited)
        while (rule.node > wait->call + 1 && t[rule.node - 1] >= latest_ns) rule.node--;
    const uint64_t node_ns = t[rule.node], before_ns = t[rule.node - 1];
    const uint64_t duration_ns = leave_ns - enter_ns;
    const bool nested = rule.node != wait->call + 1 || wait->leave != rule.node;
    rule.tail_ns = (int64_t)(node_ns - latest_ns); /* negative: clocks differ */
    if (waited) {
        const uint64_t tail_ns = rule.tail_ns > 0 ? (uint64_t)rule.tail_ns : 0;
        rule.own_ns = nested ? least(tail_ns, node_ns - before_ns)
                             : own_of(plan, region, tail_ns, duration_ns);
    } else {
        rule.own_ns = node_ns - before_ns;
        uint64_t usual_ns = plan->least_tail_ns[region];
        if (usual_ns == UINT64_MAX && may_never_wait(plan->graph, region)) return CTS_OK;
        if (usual_ns == UINT64_MAX || pooled) usual_ns = duration_ns;
        if (rule.tail_ns > (int64_t)usual_ns) rule.tail_ns = (int64_t)usual_ns;
    }
    if (pooled && !nested && has_met(plan->graph, location, wait))
        rule.own_ns = 0; /* its own coming is one of the pool's */
    return cts_whatif_add_rule(&plan->places[location], rule, error);
}

/* The first thing that a thread does in a team, or at all, follows its fork: it idled before. */
static enum cts_status fork_rule(struct cts_whatif_plan *plan, uint32_t location, uint32_t index,
                                 struct cts_error *error)
{
    const struct cts_path_location *const at = &plan->graph->locations[location];
    const struct cts_path_wait *const wait = &at->waits.items[index];
    const uint64_t latest_ns = cts_whatif_latest_of(plan->graph, location, wait);
    const uint32_t node = wait->call;
    const bool idle = !node || at->active[node - 1] == CTS_PATH_NONE;
    return cts_whatif_add_rule(
        &plan->places[location],
        (struct cts_whatif_rule){.node = node,
                                 .wait = index,
                                 .kind = CTS_WHATIF_WAIT,
                                 .tail_is = CTS_WHATIF_STARTING,
                                 .own_ns = idle ? 0 : at->time_ns[node] - at->time_ns[node - 1],
                                 .tail_ns = (int64_t)(at->time_ns[node] - latest_ns)},
        error);
}

/* A thread that waited for what is not recorded is needed since another one waits for it: so much
 * later it goes on, whatever it did before. */
static enum cts_status unrecorded_rule(struct cts_whatif_plan *plan, uint32_t location,
                                       uint32_t index, struct cts_error *error)
{
    const struct cts_path_location *const at = &plan->graph->locations[location];
    const struct cts_path_wait *const wait = &at->waits.items[index];
    return cts_whatif_add_rule(
        &plan->places[location],
        (struct cts_whatif_rule){.node = wait->leave,
                                 .wait = index,
                                 .kind = CTS_WHATIF_WAIT,
                                 .tail_is = CTS_WHATIF_OF_CALL,
                                 .tail_ns = (int64_t)(at->time_ns[wait->leave] - wait->begin_ns)},
        error);
}

bool cts_whatif_launches(const struct cts_path_graph *graph, const struct cts_path_location *host,
                         uint32_t node)
{
    if (host->region[node] & CTS_PATH_LEAVE) return false;
    const struct cts_path_region *const region = &graph->system->regions[region_of(host, node)];
    return region->kind == CTS_PATH_API &&
           (region->api == CTS_PATH_API_LAUNCH || region->api == CTS_PATH_API_LAUNCH_HOST ||
            region->api == CTS_PATH_API_GRAPH_LAUNCH || region->api == CTS_PATH_API_COPY ||
            region->api == CTS_PATH_API_COPY_ASYNC || region->api == CTS_PATH_API_MEMSET ||
            region->api == CTS_PATH_API_MEMSET_ASYNC);
}

/* What a blocking copy's call takes before its copy can begin and after it has ended, without what
 * it waits for. */
static uint64_t cost_of_copy(const struct cts_whatif_work *work, uint64_t end_ns, uint64_t leave_ns)
{
    int64_t before_ns = work->launch_tail_ns;
    if (work->binding == CTS_WHATIF_BY_LAUNCH) before_ns += work->extra_ns;
    return (before_ns > 0 ? (uint64_t)before_ns : 0) + (leave_ns > end_ns ? leave_ns - end_ns : 0);
}

/* A blocking copy goes on as its copy on the device does: it leaves that long after, or before
 * (from pageable memory, the last part of which is on its way when the call returns). */
static enum cts_status copy_rules(struct cts_whatif_plan *plan, uint32_t stream,
                                  struct cts_error *error)
{
    const struct cts_path_graph *const graph = plan->graph;
    const struct cts_path_location *const at = &graph->locations[stream];
    for (size_t i = 0; i < at->activities.count; i++) {
        const struct cts_path_activity *const activity = &at->activities.items[i];
        if (activity->host == CTS_PATH_NONE) continue;
        const struct cts_path_location *const host = &graph->locations[activity->host];
        if (!cts_whatif_launches(graph, host, activity->launch) ||
            meaning_of(graph, region_of(host, activity->launch)) != COPIES)
            continue;
        const uint32_t leave = cts_whatif_leave_of(host, activity->launch);
        const uint64_t begin_ns = at->time_ns[activity->begin], end_ns = at->time_ns[activity->end];
        const uint64_t enter_ns = host->time_ns[activity->launch];
        const uint64_t leave_ns = host->time_ns[leave];
        if (begin_ns < enter_ns || begin_ns >= leave_ns) continue;
        if (end_ns > leave_ns && is_async(graph, region_of(host, activity->launch))) continue;
        const uint64_t before_ns = host->time_ns[leave - 1];
        uint64_t own_ns = leave_ns - before_ns;
        const uint64_t from_ns = begin_ns > before_ns ? begin_ns : before_ns;
        const uint64_t to_ns = least(end_ns, leave_ns);
        if (to_ns > from_ns) own_ns -= to_ns - from_ns;
        own_ns = least(own_ns, cost_of_copy(&plan->places[stream].work[i], end_ns, leave_ns));
        if (cts_whatif_add_rule(&plan->places[activity->host],
                                (struct cts_whatif_rule){.node = leave,
                                                         .kind = CTS_WHATIF_AFTER,
                                                         .location = stream,
                                                         .wait = activity->end,
                                                         .own_ns = own_ns,
                                                         .tail_ns = (int64_t)(leave_ns - end_ns)},
                                error))
            return CTS_MEMORY;
    }
    return CTS_OK;
}

/* A thread that nothing says the begin of begins where its process's master is then. */
static enum cts_status start_rule(struct cts_whatif_plan *plan, uint32_t location,
                                  struct cts_error *error)
{
    const struct cts_path_graph *const graph = plan->graph;
    const struct cts_path_location *const at = &graph->locations[location];
    const uint32_t master =
        graph->system->by_process[graph->system->process_first[at->who->process]];
    const struct cts_path_location *const host = &graph->locations[master];
    if (!at->count || master == location || host->who->stream) return CTS_OK;
    for (size_t i = 0; i < at->waits.count; i++)
        if (at->waits.items[i].pattern == CTS_PATH_PATTERN_FORK && at->waits.items[i].call == 0)
            return CTS_OK;
    const uint32_t node = cts_path_node_at(host, at->time_ns[0]);
    if (node == CTS_PATH_NONE) return CTS_OK;
    return cts_whatif_add_rule(
        &plan->places[location],
        (struct cts_whatif_rule){.kind = CTS_WHATIF_AFTER,
                                 .tail_is = CTS_WHATIF_OF_SOURCE,
                                 .location = master,
                                 .wait = node,
                                 .tail_ns = (int64_t)(at->time_ns[0] - host->time_ns[node])},
        error);
}

static int by_node(const void *left, const void *right)
{
    const struct cts_whatif_rule *const a = left, *const b = right;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->wait > b->wait) - (a->wait < b->wait);
}

/* What a blocking copy waits for bounds its copy, and that the leave: the call's own wait says no
 * more, so that a shorter copy makes a shorter call. */
static void leave_to_copy(struct cts_whatif_place *place)
{
    for (size_t i = 1; i < place->rule_count; i++) {
        const struct cts_whatif_rule *const copy = &place->rules[i];
        if (copy->kind != CTS_WHATIF_AFTER) continue;
        for (size_t k = i; k-- > 0 && place->rules[k].node == copy->node;) {
            struct cts_whatif_rule *const call = &place->rules[k];
            if (call->kind != CTS_WHATIF_WAIT) continue;
            call->own_ns = copy->own_ns;
            if (call->tail_ns > copy->tail_ns) call->tail_ns = copy->tail_ns;
        }
    }
}

enum cts_status cts_whatif_make_rules(struct cts_whatif_plan *plan, struct cts_error *error)
{
    const struct cts_path_graph *const graph = plan->graph;
    enum cts_status status = CTS_OK;
    for (uint32_t l = 0; l < graph->system->location_count && !status; l++) {
        const struct cts_path_location *const at = &graph->locations[l];
        if (at->who->stream) {
            status = copy_rules(plan, l, error);
            continue;
        }
        status = start_rule(plan, l, error);
        for (uint32_t w = 0; w < at->waits.count && !status; w++) {
            const struct cts_path_wait *const wait = &at->waits.items[w];
            if (wait->pattern == CTS_PATH_PATTERN_FORK)
                status = fork_rule(plan, l, w, error);
            else if (wait->pattern == CTS_PATH_PATTERN_UNRECORDED)
                status = unrecorded_rule(plan, l, w, error);
            else if (is_host_wait(at, wait) && wait->leave > wait->call)
                status = wait_rule(plan, l, w, error);
        }
    }
    return status;
}

void cts_whatif_order_rules(struct cts_whatif_plan *plan)
{
    for (uint32_t l = 0; l < plan->graph->system->location_count; l++) {
        if (!plan->places[l].rule_count) continue;
        qsort(plan->places[l].rules, plan->places[l].rule_count, sizeof *plan->places[l].rules,
              by_node);
        leave_to_copy(&plan->places[l]);
    }
}
