/* A projection: every location goes on until it needs a node that has no time yet, and is taken up
 * again when that has one. Nothing of this needs an order of time, since a node's time follows from
 * its bounds alone; but kernels that share a device, and queries, depend on what happens at their
 * time. So these stand in a heap of events, of which the earliest is taken whenever nothing else
 * can go on: what is not known then lies behind it. */
#include "analyze/path/whatif-replay.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/whatif-run.h"

/* ---- streams ---- */

/* When all that an activity depends on lets it begin. */
static enum cts_whatif_step ready_time(struct cts_whatif_run *run, uint32_t location,
                                       uint32_t index, uint64_t *ready_ns)
{
    const struct cts_path_location *const at = &run->graph->locations[location];
    const struct cts_path_activity *const activity = &at->activities.items[index];
    const struct cts_whatif_work *const work = &run->plan->places[location].work[index];
    const double latency = cts_whatif_latency_factor(run, at, CTS_PATH_LAUNCH_LATENCY);
    int64_t extra_ns[CTS_WHATIF_BY_NOTHING + 1] = {0};
    extra_ns[work->binding] = work->queues ? work->late_ns : work->extra_ns;
    *ready_ns = work->binding == CTS_WHATIF_BY_NOTHING
                    ? cts_whatif_start_of(run, at, at->time_ns[activity->begin])
                    : 0;
    uint64_t source_ns = 0;
    if (work->launch != CTS_PATH_NONE) {
        source_ns = *cts_whatif_node_time(run, activity->host, work->launch);
        if (source_ns == CTS_WHATIF_UNSET && !run->force) {
            cts_whatif_block(run, location, activity->host);
            return CTS_WHATIF_BLOCKED;
        }
        const int64_t tail_ns = cts_whatif_scale_tail(
            work->launch_tail_ns + extra_ns[CTS_WHATIF_BY_LAUNCH],
            work->in_call
                ? cts_whatif_factor_after(run, &run->graph->locations[activity->host], work->launch)
                : latency);
        if (source_ns != CTS_WHATIF_UNSET)
            *ready_ns = cts_whatif_later(*ready_ns, cts_whatif_add(source_ns, tail_ns));
    }
    if (work->previous != CTS_PATH_NONE) {
        source_ns = *cts_whatif_node_time(run, location, at->activities.items[work->previous].end);
        if (source_ns == CTS_WHATIF_UNSET) return CTS_WHATIF_BLOCKED;
        const int64_t tail_ns = cts_whatif_scale_tail(
            work->previous_tail_ns + extra_ns[CTS_WHATIF_BY_PREVIOUS], latency);
        *ready_ns = cts_whatif_later(*ready_ns, cts_whatif_add(source_ns, tail_ns));
    }
    if (work->wait == CTS_PATH_NONE) return CTS_WHATIF_GOES_ON;
    if (!cts_whatif_wait_latest(run, location, work->wait, &source_ns)) return CTS_WHATIF_BLOCKED;
    const int64_t tail_ns =
        cts_whatif_scale_tail(work->wait_tail_ns + extra_ns[CTS_WHATIF_BY_WAIT], latency);
    *ready_ns = cts_whatif_later(*ready_ns, cts_whatif_add(source_ns, tail_ns));
    return CTS_WHATIF_GOES_ON;
}

/* An activity whose time follows from its begin. A collective's kernel also ends after those that
 * it meets have begun. */
static enum cts_whatif_step end_activity(struct cts_whatif_run *run, uint32_t location,
                                         uint32_t index)
{
    const struct cts_path_location *const at = &run->graph->locations[location];
    const struct cts_path_activity *const activity = &at->activities.items[index];
    const struct cts_whatif_work *const work = &run->plan->places[location].work[index];
    uint64_t from_ns = *cts_whatif_node_time(run, location, activity->begin), met_ns;
    uint64_t duration_ns = at->time_ns[activity->end] - at->time_ns[activity->begin];
    if (work->meeting != CTS_PATH_NONE) {
        if (!cts_whatif_wait_latest(run, location, work->meeting, &met_ns))
            return CTS_WHATIF_BLOCKED;
        from_ns = cts_whatif_later(from_ns, met_ns);
        duration_ns = work->meeting_tail_ns;
    }
    *cts_whatif_node_time(run, location, activity->end) =
        from_ns + cts_whatif_scale(duration_ns, cts_whatif_factor_after(run, at, activity->begin));
    return CTS_WHATIF_GOES_ON;
}

/* The begin of the lane's next activity, unless it has begun. */
static enum cts_whatif_step begin_activity(struct cts_whatif_run *run, uint32_t location)
{
    struct cts_whatif_lane *const lane = &run->lanes[location];
    const struct cts_whatif_work *const work = &run->plan->places[location].work[lane->next];
    uint64_t ready_ns;
    if (lane->begun) return CTS_WHATIF_GOES_ON;
    const enum cts_whatif_step step = ready_time(run, location, lane->next, &ready_ns);
    if (step != CTS_WHATIF_GOES_ON) return step;
    lane->begun = true;
    if (!work->on_device) {
        const struct cts_path_location *const at = &run->graph->locations[location];
        *cts_whatif_node_time(run, location, at->activities.items[lane->next].begin) = ready_ns;
        cts_whatif_wake(run, location);
        return CTS_WHATIF_GOES_ON;
    }
    return cts_whatif_push(&run->events,
                           (struct cts_whatif_event){ready_ns, 0, CTS_WHATIF_READY, work->kernel},
                           run->error)
               ? CTS_WHATIF_FAILED
               : CTS_WHATIF_GOES_ON;
}

static enum cts_whatif_step go_stream(struct cts_whatif_run *run, uint32_t location)
{
    struct cts_whatif_lane *const lane = &run->lanes[location];
    const struct cts_path_location *const at = &run->graph->locations[location];
    const uint32_t from = lane->next;
    enum cts_whatif_step step = CTS_WHATIF_GOES_ON;
    while (lane->next < at->activities.count && step == CTS_WHATIF_GOES_ON) {
        step = begin_activity(run, location);
        if (step == CTS_WHATIF_GOES_ON && !run->plan->places[location].work[lane->next].on_device)
            step = end_activity(run, location, lane->next);
        if (step != CTS_WHATIF_GOES_ON) break;
        lane->begun = false;
        lane->next++;
        if (run->force) break;
    }
    if (lane->next > from) cts_whatif_wake(run, location);
    return step;
}

/* ---- the run ---- */

static bool is_done(const struct cts_whatif_run *run, uint32_t location)
{
    const struct cts_path_location *const at = &run->graph->locations[location];
    return run->lanes[location].next >= (at->who->stream ? at->activities.count : at->count);
}

static enum cts_status drain(struct cts_whatif_run *run)
{
    while (run->ready_count) {
        const uint32_t location = run->ready[--run->ready_count];
        run->lanes[location].listed = false;
        const enum cts_whatif_step step = run->graph->system->who[location].stream
                                              ? go_stream(run, location)
                                              : cts_whatif_go_host(run, location);
        if (step == CTS_WHATIF_FAILED) return CTS_MEMORY;
    }
    return CTS_OK;
}

/* Nothing goes on: the location whose next node was the earliest goes on without what it lacks. */
static bool break_circle(struct cts_whatif_run *run)
{
    uint32_t best = CTS_PATH_NONE;
    uint64_t best_ns = UINT64_MAX;
    for (uint32_t l = 0; l < run->graph->system->location_count; l++) {
        if (is_done(run, l)) continue;
        const struct cts_path_location *const at = &run->graph->locations[l];
        const uint32_t next = run->lanes[l].next;
        if (at->who->stream && run->plan->places[l].work[next].previous != CTS_PATH_NONE &&
            *cts_whatif_node_time(
                run, l, at->activities.items[run->plan->places[l].work[next].previous].end) ==
                CTS_WHATIF_UNSET)
            continue;
        const uint64_t time_ns =
            at->time_ns[at->who->stream ? at->activities.items[next].begin : next];
        if (time_ns >= best_ns) continue;
        best = l;
        best_ns = time_ns;
    }
    if (best == CTS_PATH_NONE) return false;
    run->replay->broken++;
    for (uint32_t l = 0; l < run->graph->system->location_count; l++)
        run->lanes[l].waiter = run->lanes[l].awaited = 0;
    run->force = true;
    if (run->graph->system->who[best].stream)
        (void)go_stream(run, best);
    else
        (void)cts_whatif_go_host(run, best);
    run->force = false;
    for (uint32_t l = 0; l < run->graph->system->location_count; l++)
        if (!is_done(run, l)) cts_whatif_list(run, l);
    return true;
}

/* Nodes of a location keep their order, also where activities of a stream overlap. */
static void finish(struct cts_whatif_run *run)
{
    run->replay->last_ns = 0;
    for (uint32_t l = 0; l < run->graph->system->location_count; l++) {
        const struct cts_path_location *const at = &run->graph->locations[l];
        uint64_t *const times = cts_whatif_node_time(run, l, 0);
        uint64_t last_ns = 0;
        for (size_t i = 0; i < at->count; i++) {
            if (times[i] == CTS_WHATIF_UNSET || times[i] < last_ns) times[i] = last_ns;
            last_ns = times[i];
        }
        run->replay->last_ns = cts_whatif_later(run->replay->last_ns, last_ns);
    }
}

static void release(struct cts_whatif_run *run)
{
    for (uint32_t d = 0; run->rooms && d < run->plan->device_count; d++)
        cts_whatif_room_release(&run->rooms[d]);
    free(run->rooms);
    free(run->lanes);
    free(run->pools);
    free(run->ready);
    free(run->events.items);
}

enum cts_status cts_whatif_replay(struct cts_whatif_replay *replay, struct cts_error *error)
{
    const struct cts_whatif_plan *const plan = replay->plan;
    const struct cts_path_graph *const graph = plan->graph;
    struct cts_error own = {0};
    struct cts_whatif_run run = {.replay = replay, .plan = plan, .graph = graph, .error = &own};
    run.lanes = cts_array_zeroed(graph->system->location_count, sizeof *run.lanes, &own);
    run.pools = cts_array_zeroed(graph->pool_count, sizeof *run.pools, &own);
    run.ready = cts_array_zeroed(graph->system->location_count, sizeof *run.ready, &own);
    run.rooms = cts_array_zeroed(plan->device_count, sizeof *run.rooms, &own);
    enum cts_status status = run.lanes && run.pools && run.ready && run.rooms ? CTS_OK : CTS_MEMORY;
    replay->broken = 0;
    memset(replay->time_ns, 0xFF, plan->node_count * sizeof *replay->time_ns);
    for (uint32_t d = 0; d < plan->device_count && !status; d++) {
        run.rooms[d].interference = plan->devices[d].interference;
        run.rooms[d].overtaking = plan->devices[d].overtaking;
        run.rooms[d].free = CTS_WHATIF_ROOM;
    }
    for (uint32_t i = graph->system->location_count; i-- > 0 && !status;)
        cts_whatif_list(&run, graph->system->by_process[i]);
    while (!status) {
        status = drain(&run);
        if (status) break;
        if (run.events.count)
            status = cts_whatif_on_event(&run);
        else if (!break_circle(&run))
            break;
    }
    if (!status) finish(&run);
    if (status && error) *error = own;
    release(&run);
    return status;
}
