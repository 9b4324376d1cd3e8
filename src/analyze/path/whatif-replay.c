/* A projection: every location goes on until it needs a node that has no time yet, and is taken up
 * again when that has one. Nothing of this needs an order of time, since a node's time follows from
 * its bounds alone; but kernels that share a device, and queries, depend on what happens at their
 * time. So these stand in a heap of events, of which the earliest is taken whenever nothing else
 * can go on: what is not known then lies behind it. */
#include "analyze/path/whatif-replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/path/whatif-room.h"

#define UNSET  UINT64_MAX
#define ALWAYS UINT64_MAX /* an event that no change of rates outdates */

struct lane {         /* where a location stands */
    uint32_t next;    /* node; of a stream: activity */
    size_t rule;      /* of the node or later */
    uint32_t waiter;  /* first of those that wait for this location: index + 1 */
    uint32_t sibling; /* the next one that waits for the same */
    uint32_t awaited; /* whose list it is in: index + 1 */
    bool listed;      /* is in the list of those that can go on */
    bool collapsed;   /* the last query had nothing to wait for */
    uint8_t asked;    /* a query: 1 in the heap, 2 its time has come */
};

struct pool_state {
    uint32_t known; /* edges with a time, from the first */
    uint64_t latest_ns;
};

struct run {
    struct cts_whatif_replay *replay;
    const struct cts_whatif_plan *plan;
    const struct cts_path_graph *graph;
    struct lane *lanes;
    struct pool_state *pools;
    uint32_t *ready; /* a stack of locations */
    uint32_t ready_count;
    struct cts_whatif_room *rooms; /* per device */
    struct cts_whatif_events events;
    bool force; /* unknown bounds are left out, to break a circle */
    struct cts_error *error;
};

enum step { GOES_ON, BLOCKED, FAILED };

/* ---- times ---- */

static uint64_t *node_time(const struct run *run, uint32_t location, uint32_t node)
{
    return &run->replay->time_ns[run->plan->places[location].base + node];
}

static uint64_t scale(uint64_t duration_ns, double factor)
{
    if (factor == 1) return duration_ns;
    const double scaled = (double)duration_ns * factor;
    return scaled < 9e18 ? (uint64_t)(scaled + 0.5) : (uint64_t)9e18;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static double factor_after(const struct run *run, const struct cts_path_location *at, uint32_t node)
{
    return run->replay->factors[at->process][cts_path_region_after(run->graph, at, node)];
}

static double latency_factor(const struct run *run, const struct cts_path_location *at,
                             enum cts_path_pseudo latency)
{
    return run->replay->factors[at->process][run->graph->pseudo + latency];
}

static int64_t scale_tail(int64_t tail_ns, double factor)
{
    return tail_ns > 0 ? (int64_t)scale((uint64_t)tail_ns, factor)
                       : -(int64_t)scale((uint64_t)-tail_ns, factor);
}

/* When an edge's source is done; UNSET: not known yet. */
static uint64_t source_time(const struct run *run, const struct cts_path_edge *edge)
{
    if (edge->node == CTS_PATH_NONE) return edge->source_ns;
    const uint64_t time_ns = *node_time(run, edge->location, edge->node);
    const struct cts_path_location *const at = &run->graph->locations[edge->location];
    if (time_ns == UNSET || edge->source_ns <= at->time_ns[edge->node]) return time_ns;
    return time_ns +
           scale(edge->source_ns - at->time_ns[edge->node], factor_after(run, at, edge->node));
}

/* Leaves the list of whom it waited for. */
static void unblock(struct run *run, uint32_t location)
{
    struct lane *const lane = &run->lanes[location];
    if (!lane->awaited) return;
    uint32_t *link = &run->lanes[lane->awaited - 1].waiter;
    while (*link && *link != location + 1) link = &run->lanes[*link - 1].sibling;
    if (*link) *link = lane->sibling;
    lane->awaited = 0;
}

static void block(struct run *run, uint32_t location, uint32_t source)
{
    struct lane *const lane = &run->lanes[location];
    if (source == location || lane->awaited == source + 1) return; /* itself: a circle */
    unblock(run, location);
    lane->sibling = run->lanes[source].waiter;
    lane->awaited = source + 1;
    run->lanes[source].waiter = location + 1;
}

static void list(struct run *run, uint32_t location)
{
    if (run->lanes[location].listed) return;
    run->lanes[location].listed = true;
    run->ready[run->ready_count++] = location;
}

static void wake(struct run *run, uint32_t location)
{
    uint32_t waiter = run->lanes[location].waiter;
    run->lanes[location].waiter = 0;
    while (waiter) {
        const uint32_t next = run->lanes[waiter - 1].sibling;
        run->lanes[waiter - 1].awaited = 0;
        list(run, waiter - 1);
        waiter = next;
    }
}

/* The latest source of a pool, whose edges become known one after the other. */
static bool pool_latest(struct run *run, uint32_t location, uint32_t index, uint64_t *latest_ns)
{
    const struct cts_path_pool *const pool = &run->graph->pools[index];
    struct pool_state *const state = &run->pools[index];
    const struct cts_path_edge *const edges = run->graph->pool_edges + pool->first;
    for (; state->known < pool->count; state->known++) {
        const uint64_t time_ns = source_time(run, &edges[state->known]);
        if (time_ns == UNSET) break;
        state->latest_ns = later(state->latest_ns, time_ns);
    }
    *latest_ns = state->latest_ns;
    if (state->known == pool->count || run->force) return true;
    block(run, location, edges[state->known].location);
    return false;
}

/* The latest source of a wait. False: blocked. */
static bool wait_latest(struct run *run, uint32_t location, uint32_t index, uint64_t *latest_ns)
{
    const struct cts_path_wait *const wait = &run->graph->locations[location].waits.items[index];
    if (wait->flags & CTS_PATH_POOLED) return pool_latest(run, location, wait->first, latest_ns);
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(run->graph, location, wait, &count);
    *latest_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t time_ns = source_time(run, &edges[i]);
        if (time_ns != UNSET) {
            *latest_ns = later(*latest_ns, time_ns);
        } else if (!run->force) {
            block(run, location, edges[i].location);
            return false;
        }
    }
    return true;
}

/* ---- hosts ---- */

/* Whether what a query asks for is done when it asks. Only in the order of time. */
static bool ask(struct run *run, uint32_t location, const struct cts_whatif_rule *rule, bool *done)
{
    struct lane *const lane = &run->lanes[location];
    const struct cts_path_location *const at = &run->graph->locations[location];
    const struct cts_path_wait *const wait = &at->waits.items[rule->wait];
    const uint64_t enter_ns = *node_time(run, location, wait->call);
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(run->graph, location, wait, &count);
    *done = true;
    for (size_t i = 0; i < count; i++) {
        const uint64_t time_ns = source_time(run, &edges[i]);
        if (time_ns != UNSET) {
            *done &= time_ns <= enter_ns;
            continue;
        }
        *done = false;
        if (lane->asked == 2 || run->force) continue;
        if (!lane->asked &&
            cts_whatif_push(&run->events,
                            (struct cts_whatif_event){enter_ns, 0, CTS_WHATIF_ASK, location},
                            run->error) == CTS_OK)
            lane->asked = 1;
        return false;
    }
    lane->asked = 0;
    return true;
}

static double factor_of_tail(const struct run *run, const struct cts_path_location *at,
                             const struct cts_whatif_rule *rule)
{
    switch ((enum cts_whatif_tail)rule->tail_is) {
    case CTS_WHATIF_TRANSFER:
        return latency_factor(run, at, CTS_PATH_MPI_TRANSFER);
    case CTS_WHATIF_STARTING:
        return latency_factor(run, at, CTS_PATH_THREAD_START);
    case CTS_WHATIF_OF_SOURCE:
        return factor_after(run, &run->graph->locations[rule->location], rule->wait);
    default:
        return factor_after(run, at, rule->node - 1);
    }
}

/* The bounds of one rule: raises *time_ns, lowers *own_ns. False: blocked. */
static bool apply(struct run *run, uint32_t location, const struct cts_whatif_rule *rule,
                  uint64_t *own_ns, uint64_t *bound_ns)
{
    struct lane *const lane = &run->lanes[location];
    const struct cts_path_location *const at = &run->graph->locations[location];
    uint64_t source_ns = 0;
    switch ((enum cts_whatif_rule_kind)rule->kind) {
    case CTS_WHATIF_GAP:
        if (lane->collapsed) *own_ns = 0;
        return true;
    case CTS_WHATIF_POLL: {
        bool done;
        if (!ask(run, location, rule, &done)) return false;
        lane->collapsed = done;
        if (done) *own_ns = 0;
        return true;
    }
    case CTS_WHATIF_AFTER:
        source_ns = *node_time(run, rule->location, rule->wait);
        if (source_ns == UNSET && !run->force) {
            block(run, location, rule->location);
            return false;
        }
        if (source_ns == UNSET) return true;
        break;
    default:
        if (!wait_latest(run, location, rule->wait, &source_ns)) return false;
        break;
    }
    const int64_t tail_ns = scale_tail(rule->tail_ns, factor_of_tail(run, at, rule));
    *bound_ns = later(*bound_ns, cts_whatif_add(source_ns, tail_ns));
    if (rule->own_ns < *own_ns) *own_ns = rule->own_ns;
    return true;
}

static enum step ruled_node(struct run *run, uint32_t location, const struct cts_path_location *at)
{
    struct lane *const lane = &run->lanes[location];
    const struct cts_whatif_place *const place = &run->plan->places[location];
    const uint32_t node = lane->next;
    uint64_t *const times = node_time(run, location, 0);
    uint64_t own_ns = node ? at->time_ns[node] - at->time_ns[node - 1] : 0, bound_ns = 0;
    const uint64_t full_ns = own_ns;
    size_t rule = lane->rule;
    for (; rule < place->rule_count && place->rules[rule].node == node; rule++)
        if (!apply(run, location, &place->rules[rule], &own_ns, &bound_ns))
            return run->error->status ? FAILED : BLOCKED;
    if (run->force) own_ns = full_ns;
    if (node) {
        own_ns = scale(own_ns, factor_after(run, at, node - 1));
        bound_ns = later(bound_ns, times[node - 1] + own_ns);
    }
    lane->rule = rule;
    times[node] = bound_ns;
    lane->next++;
    return GOES_ON;
}

/* When something begins that follows nothing: so long after the first event of all. */
static uint64_t start_of(const struct run *run, const struct cts_path_location *at,
                         uint64_t time_ns)
{
    const uint64_t first_ns = run->graph->first_ns;
    return first_ns + scale(time_ns - first_ns, latency_factor(run, at, CTS_PATH_START));
}

/* Nodes up to the next one with a rule: each is the one before and what ran between. */
static void plain_nodes(struct run *run, uint32_t location, const struct cts_path_location *at,
                        uint32_t end)
{
    struct lane *const lane = &run->lanes[location];
    uint64_t *const times = node_time(run, location, 0);
    uint32_t node = lane->next;
    if (node == 0 && node < end) {
        times[0] = start_of(run, at, at->time_ns[0]);
        node++;
    }
    for (; node < end; node++)
        times[node] = times[node - 1] + scale(at->time_ns[node] - at->time_ns[node - 1],
                                              factor_after(run, at, node - 1));
    lane->next = node;
}

static enum step go_host(struct run *run, uint32_t location)
{
    struct lane *const lane = &run->lanes[location];
    const struct cts_path_location *const at = &run->graph->locations[location];
    const struct cts_whatif_place *const place = &run->plan->places[location];
    const uint32_t from = lane->next;
    enum step step = GOES_ON;
    while (lane->next < at->count && step == GOES_ON) {
        const uint32_t end =
            lane->rule < place->rule_count ? place->rules[lane->rule].node : (uint32_t)at->count;
        if (lane->next < end)
            plain_nodes(run, location, at, end);
        else
            step = ruled_node(run, location, at);
        if (run->force && step == GOES_ON) break;
    }
    if (lane->next > from) wake(run, location);
    return step;
}

/* ---- kernels on a shared device ---- */

static struct cts_whatif_work *work_of(const struct run *run, uint32_t kernel)
{
    const struct cts_whatif_kernel *const k = &run->plan->kernels[kernel];
    return &run->plan->places[k->location].work[k->activity];
}

static double kernel_factor(const struct run *run, uint32_t kernel)
{
    const struct cts_whatif_kernel *const k = &run->plan->kernels[kernel];
    const struct cts_path_location *const at = &run->graph->locations[k->location];
    return factor_after(run, at, at->activities.items[k->activity].begin);
}

static uint64_t left_to_do(const struct run *run, const struct cts_whatif_running *running)
{
    const uint64_t work =
        scale(run->plan->kernels[running->kernel].work, kernel_factor(run, running->kernel));
    return work > running->done ? work - running->done : 0;
}

static uint64_t when(const struct cts_whatif_room *room, const struct cts_whatif_running *running,
                     uint64_t work)
{
    return room->now_ns + work / running->rate + (work % running->rate != 0);
}

/* The next end, and the next begin behind a kernel's last CTAs. */
static enum cts_status expect(struct run *run, uint32_t device)
{
    struct cts_whatif_room *const room = &run->rooms[device];
    struct cts_whatif_event next = {UNSET, room->version, CTS_WHATIF_DEVICE, device};
    struct cts_whatif_event trigger = {UNSET, room->version, CTS_WHATIF_TRIGGER, 0};
    for (size_t i = 0; i < room->running.count; i++) {
        const struct cts_whatif_running *const running = &room->running.items[i];
        if (!running->begun) continue;
        const uint64_t end_ns = when(room, running, left_to_do(run, running));
        if (end_ns < next.time_ns) next.time_ns = end_ns;
    }
    for (size_t i = 0; i < room->queue.count; i++) {
        const uint32_t kernel = room->queue.items[i];
        const uint32_t blocker = run->plan->kernels[kernel].blocker;
        const struct cts_whatif_running *const running =
            blocker == CTS_PATH_NONE ? NULL : cts_whatif_room_find(room, blocker);
        if (!running || !running->begun) continue;
        const uint64_t left = left_to_do(run, running);
        const uint64_t lead = scale(run->plan->kernels[kernel].lead, kernel_factor(run, blocker));
        const uint64_t begin_ns = when(room, running, left > lead ? left - lead : 0);
        if (begin_ns >= trigger.time_ns) continue;
        trigger.time_ns = begin_ns;
        trigger.id = kernel;
    }
    if (next.time_ns != UNSET && cts_whatif_push(&run->events, next, run->error)) return CTS_MEMORY;
    if (trigger.time_ns == UNSET) return CTS_OK;
    return cts_whatif_push(&run->events, trigger, run->error);
}

static void set_times(struct run *run, uint32_t kernel, bool end, uint64_t time_ns)
{
    const struct cts_whatif_kernel *const k = &run->plan->kernels[kernel];
    const struct cts_path_activity *const activity =
        &run->graph->locations[k->location].activities.items[k->activity];
    *node_time(run, k->location, end ? activity->end : activity->begin) = time_ns;
    list(run, k->location);
    wake(run, k->location);
}

static uint64_t gap_of(const struct run *run, const struct cts_whatif_kernel *kernel)
{
    return scale(kernel->gap_ns, latency_factor(run, &run->graph->locations[kernel->location],
                                                CTS_PATH_LAUNCH_LATENCY));
}

static enum cts_status serve_queue(struct run *run, struct cts_whatif_room *room)
{
    for (size_t i = 0; i < room->queue.count;) {
        const uint32_t index = room->queue.items[i];
        const struct cts_whatif_kernel *const kernel = &run->plan->kernels[index];
        if (room->free < kernel->need) {
            i++;
            continue;
        }
        cts_whatif_room_unqueue(room, index);
        if (cts_whatif_room_admit(room, index, false, run->error) ||
            cts_whatif_push(&run->events,
                            (struct cts_whatif_event){room->now_ns + gap_of(run, kernel), ALWAYS,
                                                      CTS_WHATIF_TRIGGER, index},
                            run->error))
            return CTS_MEMORY;
        cts_whatif_room_grant(room, run->plan);
    }
    return CTS_OK;
}

static enum cts_status on_device(struct run *run, uint32_t device)
{
    struct cts_whatif_room *const room = &run->rooms[device];
    for (size_t i = 0; i < room->running.count;) {
        const struct cts_whatif_running *const running = &room->running.items[i];
        if (!running->begun || left_to_do(run, running)) {
            i++;
            continue;
        }
        set_times(run, running->kernel, true, room->now_ns);
        cts_whatif_room_remove(room, i);
    }
    cts_whatif_room_grant(room, run->plan);
    if (serve_queue(run, room)) return CTS_MEMORY;
    return expect(run, device);
}

static enum cts_status begin_kernel(struct run *run, uint32_t kernel, uint64_t time_ns)
{
    const uint32_t device = run->plan->kernels[kernel].device;
    struct cts_whatif_room *const room = &run->rooms[device];
    struct cts_whatif_running *const admitted = cts_whatif_room_find(room, kernel);
    if (admitted)
        admitted->begun = true;
    else if (cts_whatif_room_admit(room, kernel, true, run->error))
        return CTS_MEMORY;
    set_times(run, kernel, false, time_ns);
    cts_whatif_room_grant(room, run->plan);
    return expect(run, device);
}

/* A kernel is ready, or has been given room. */
static enum cts_status on_kernel(struct run *run, const struct cts_whatif_event *event)
{
    const struct cts_whatif_kernel *const kernel = &run->plan->kernels[event->id];
    struct cts_whatif_room *const room = &run->rooms[kernel->device];
    if (event->kind == CTS_WHATIF_TRIGGER) {
        if (event->version != ALWAYS && !cts_whatif_room_unqueue(room, event->id)) return CTS_OK;
        return begin_kernel(run, event->id, event->time_ns);
    }
    const bool forced = work_of(run, event->id)->forced;
    if (forced || room->free >= kernel->need) return begin_kernel(run, event->id, event->time_ns);
    if (CTS_ARRAY_RESERVE(&room->queue, room->queue.count + 1, run->error)) return CTS_MEMORY;
    room->queue.items[room->queue.count++] = event->id;
    room->version++;
    return expect(run, kernel->device);
}

static enum cts_status on_event(struct run *run)
{
    const struct cts_whatif_event event = cts_whatif_pop(&run->events);
    if (event.kind == CTS_WHATIF_ASK) {
        run->lanes[event.id].asked = 2;
        list(run, event.id);
        return CTS_OK;
    }
    const uint32_t device =
        event.kind == CTS_WHATIF_DEVICE ? event.id : run->plan->kernels[event.id].device;
    struct cts_whatif_room *const room = &run->rooms[device];
    const bool dated = event.kind == CTS_WHATIF_DEVICE || event.kind == CTS_WHATIF_TRIGGER;
    if (dated && event.version != ALWAYS && event.version != room->version) return CTS_OK;
    cts_whatif_room_advance(room, event.time_ns);
    return event.kind == CTS_WHATIF_DEVICE ? on_device(run, event.id) : on_kernel(run, &event);
}

/* ---- streams ---- */

/* When all that an activity depends on lets it begin. */
static enum step ready_time(struct run *run, uint32_t location, uint32_t index, uint64_t *ready_ns)
{
    const struct cts_path_location *const at = &run->graph->locations[location];
    const struct cts_path_activity *const activity = &at->activities.items[index];
    const struct cts_whatif_work *const work = &run->plan->places[location].work[index];
    const double latency = latency_factor(run, at, CTS_PATH_LAUNCH_LATENCY);
    int64_t extra_ns[CTS_WHATIF_BY_NOTHING + 1] = {0};
    if (!work->queues) extra_ns[work->binding] = work->extra_ns;
    *ready_ns = work->binding == CTS_WHATIF_BY_NOTHING
                    ? start_of(run, at, at->time_ns[activity->begin])
                    : 0;
    uint64_t source_ns = 0;
    if (work->launch != CTS_PATH_NONE) {
        source_ns = *node_time(run, activity->host, work->launch);
        if (source_ns == UNSET && !run->force) {
            block(run, location, activity->host);
            return BLOCKED;
        }
        const int64_t tail_ns = scale_tail(
            work->launch_tail_ns + extra_ns[CTS_WHATIF_BY_LAUNCH],
            work->in_call ? factor_after(run, &run->graph->locations[activity->host], work->launch)
                          : latency);
        if (source_ns != UNSET) *ready_ns = later(*ready_ns, cts_whatif_add(source_ns, tail_ns));
    }
    if (work->previous != CTS_PATH_NONE) {
        source_ns = *node_time(run, location, at->activities.items[work->previous].end);
        if (source_ns == UNSET) return BLOCKED;
        const int64_t tail_ns =
            scale_tail(work->previous_tail_ns + extra_ns[CTS_WHATIF_BY_PREVIOUS], latency);
        *ready_ns = later(*ready_ns, cts_whatif_add(source_ns, tail_ns));
    }
    if (work->wait == CTS_PATH_NONE) return GOES_ON;
    if (!wait_latest(run, location, work->wait, &source_ns)) return BLOCKED;
    const int64_t tail_ns = scale_tail(work->wait_tail_ns + extra_ns[CTS_WHATIF_BY_WAIT], latency);
    *ready_ns = later(*ready_ns, cts_whatif_add(source_ns, tail_ns));
    return GOES_ON;
}

static enum step go_stream(struct run *run, uint32_t location)
{
    struct lane *const lane = &run->lanes[location];
    const struct cts_path_location *const at = &run->graph->locations[location];
    const uint32_t from = lane->next;
    enum step step = GOES_ON;
    while (lane->next < at->activities.count && step == GOES_ON) {
        const uint32_t index = lane->next;
        uint64_t ready_ns;
        step = ready_time(run, location, index, &ready_ns);
        if (step != GOES_ON) break;
        const struct cts_whatif_work *const work = &run->plan->places[location].work[index];
        lane->next++;
        if (work->on_device) {
            const uint32_t kind = work->queues ? CTS_WHATIF_READY : CTS_WHATIF_BEGIN;
            if (cts_whatif_push(&run->events,
                                (struct cts_whatif_event){ready_ns, 0, kind, work->kernel},
                                run->error))
                return FAILED;
        } else {
            const struct cts_path_activity *const activity = &at->activities.items[index];
            const uint64_t duration_ns = at->time_ns[activity->end] - at->time_ns[activity->begin];
            *node_time(run, location, activity->begin) = ready_ns;
            *node_time(run, location, activity->end) =
                ready_ns + scale(duration_ns, factor_after(run, at, activity->begin));
        }
        if (run->force) break;
    }
    if (lane->next > from) wake(run, location);
    return step;
}

/* ---- the run ---- */

static bool is_done(const struct run *run, uint32_t location)
{
    const struct cts_path_location *const at = &run->graph->locations[location];
    return run->lanes[location].next >= (at->stream ? at->activities.count : at->count);
}

static enum cts_status drain(struct run *run)
{
    while (run->ready_count) {
        const uint32_t location = run->ready[--run->ready_count];
        run->lanes[location].listed = false;
        const enum step step = run->graph->locations[location].stream ? go_stream(run, location)
                                                                      : go_host(run, location);
        if (step == FAILED) return CTS_MEMORY;
    }
    return CTS_OK;
}

/* Nothing goes on: the location whose next node was the earliest goes on without what it lacks. */
static bool break_circle(struct run *run)
{
    uint32_t best = CTS_PATH_NONE;
    uint64_t best_ns = UINT64_MAX;
    for (uint32_t l = 0; l < run->graph->location_count; l++) {
        if (is_done(run, l)) continue;
        const struct cts_path_location *const at = &run->graph->locations[l];
        const uint32_t next = run->lanes[l].next;
        if (at->stream && run->plan->places[l].work[next].previous != CTS_PATH_NONE &&
            *node_time(run, l,
                       at->activities.items[run->plan->places[l].work[next].previous].end) == UNSET)
            continue;
        const uint64_t time_ns = at->time_ns[at->stream ? at->activities.items[next].begin : next];
        if (time_ns >= best_ns) continue;
        best = l;
        best_ns = time_ns;
    }
    if (best == CTS_PATH_NONE) return false;
    run->replay->broken++;
    for (uint32_t l = 0; l < run->graph->location_count; l++)
        run->lanes[l].waiter = run->lanes[l].awaited = 0;
    run->force = true;
    if (run->graph->locations[best].stream)
        (void)go_stream(run, best);
    else
        (void)go_host(run, best);
    run->force = false;
    for (uint32_t l = 0; l < run->graph->location_count; l++)
        if (!is_done(run, l)) list(run, l);
    return true;
}

/* Nodes of a location keep their order, also where activities of a stream overlap. */
static void finish(struct run *run)
{
    run->replay->last_ns = 0;
    for (uint32_t l = 0; l < run->graph->location_count; l++) {
        const struct cts_path_location *const at = &run->graph->locations[l];
        uint64_t *const times = node_time(run, l, 0);
        uint64_t last_ns = 0;
        for (size_t i = 0; i < at->count; i++) {
            if (times[i] == UNSET || times[i] < last_ns) times[i] = last_ns;
            last_ns = times[i];
        }
        run->replay->last_ns = later(run->replay->last_ns, last_ns);
    }
}

static void release(struct run *run)
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
    struct run run = {.replay = replay, .plan = plan, .graph = graph, .error = &own};
    run.lanes = cts_array_zeroed(graph->location_count, sizeof *run.lanes, &own);
    run.pools = cts_array_zeroed(graph->pool_count, sizeof *run.pools, &own);
    run.ready = cts_array_zeroed(graph->location_count, sizeof *run.ready, &own);
    run.rooms = cts_array_zeroed(plan->device_count, sizeof *run.rooms, &own);
    enum cts_status status = run.lanes && run.pools && run.ready && run.rooms ? CTS_OK : CTS_MEMORY;
    replay->broken = 0;
    memset(replay->time_ns, 0xFF, plan->node_count * sizeof *replay->time_ns);
    for (uint32_t d = 0; d < plan->device_count && !status; d++) {
        run.rooms[d].interference = plan->devices[d].interference;
        run.rooms[d].overtaking = plan->devices[d].overtaking;
        run.rooms[d].free = CTS_WHATIF_ROOM;
    }
    for (uint32_t i = graph->location_count; i-- > 0 && !status;) list(&run, graph->by_process[i]);
    while (!status) {
        status = drain(&run);
        if (status) break;
        if (run.events.count)
            status = on_event(&run);
        else if (!break_circle(&run))
            break;
    }
    if (!status) finish(&run);
    if (status && error) *error = own;
    release(&run);
    return status;
}
