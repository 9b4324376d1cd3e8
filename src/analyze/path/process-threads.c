/* Threads of a process: teams and their barriers, forks, threads that are created and joined.
 *
 * A team is named by its fork: for OPARI2 the last fork of the communicator's first member before
 * the team begins, for OMPT the parallel region with the same id. What a thread runs first in a
 * team follows the fork; which of its calls are barriers is team-barriers.c's. */
#include <stdlib.h>

#include "analyze/path/offer.h"
#include "analyze/path/steps.h"
#include "analyze/path/team-barriers.h"
#include "common/map.h"
#include "common/search.h"

struct fork_place {
    uint32_t location;
    uint32_t index; /* in its forks */
};

/* The last fork of a location at or before a time, of OPARI2's. */
static bool fork_before(const struct cts_path_location *at, uint64_t time_ns, uint32_t *index)
{
    size_t low = CTS_SEARCH(at->raw->forks.count, i, at->raw->forks.items[i].time_ns <= time_ns);
    while (low > 0)
        if (at->raw->forks.items[--low].id == 0) {
            *index = (uint32_t)low;
            return true;
        }
    return false;
}

struct process_forks {
    struct cts_path_graph *graph;
    struct cts_map by_id; /* location << 32 | index, + 1 */
    struct cts_path_teams teams;
    uint32_t process;
};

static bool find_fork(struct process_forks *forks, uint32_t id, const struct cts_path_team *team,
                      struct fork_place *place)
{
    const struct cts_path_graph *const graph = forks->graph;
    if (team->communicator == CTS_PATH_NONE) {
        const uint64_t *const found = team->id ? cts_map_find(&forks->by_id, team->id) : NULL;
        if (!found || !*found) return false;
        *place = (struct fork_place){(uint32_t)((*found - 1) >> 32), (uint32_t)(*found - 1)};
        return true;
    }
    if (team->communicator >= graph->system->timeline->communicator_count) return false;
    const struct cts_timeline_communicator *const c =
        &graph->system->timeline->communicators[team->communicator];
    const uint32_t master = c->rank_count ? c->ranks[0] : id;
    if (master >= graph->system->location_count || !graph->locations[master].raw ||
        graph->system->who[master].process != forks->process)
        return false;
    place->location = master;
    return fork_before(&graph->locations[master], team->begin_ns, &place->index);
}

static uint64_t fork_key(struct fork_place place)
{
    return (uint64_t)place.location << 32 | place.index;
}

/* Teams that a location is in, and its calls there that may be barriers. */
static enum cts_status note_teams(struct process_forks *forks, uint32_t id,
                                  const struct fork_place *places, struct cts_error *error)
{
    const struct cts_path_location *const at = &forks->graph->locations[id];
    const struct cts_path_raw *const raw = at->raw;
    struct cts_path_teams *const teams = &forks->teams;
    for (size_t i = 0; i < raw->teams.count; i++) {
        if (places[i].location == CTS_PATH_NONE) continue;
        if (CTS_ARRAY_RESERVE(&teams->threads, teams->threads.count + 1, error)) return CTS_MEMORY;
        teams->threads.items[teams->threads.count++] =
            (struct cts_path_team_thread){fork_key(places[i]), id};
    }
    for (size_t i = 0; i < raw->barriers.count; i++) {
        const struct cts_path_barrier *const barrier = &raw->barriers.items[i];
        if (places[barrier->team].location == CTS_PATH_NONE) continue;
        if (CTS_ARRAY_RESERVE(&teams->calls, teams->calls.count + 1, error)) return CTS_MEMORY;
        teams->calls.items[teams->calls.count++] =
            (struct cts_path_team_call){.fork = fork_key(places[barrier->team]),
                                        .location = id,
                                        .call = barrier->call,
                                        .region = at->region[barrier->call] & ~CTS_PATH_LEAVE,
                                        .order = barrier->order};
    }
    return CTS_OK;
}

/* How long a team's thread takes to begin, and how long it then works. */
static void count_starts(struct process_forks *forks, uint32_t id, const struct fork_place *places)
{
    struct cts_path_graph *const graph = forks->graph;
    const struct cts_path_location *const at = &graph->locations[id];
    const struct cts_path_raw *const raw = at->raw;
    struct cts_path_starts starts = {0};
    size_t barrier = 0;
    for (uint32_t i = 0; i < raw->teams.count; i++) {
        const struct cts_path_team *const team = &raw->teams.items[i];
        if (places[i].location == CTS_PATH_NONE || places[i].location == id) continue;
        const struct cts_path_fork *const fork =
            &graph->locations[places[i].location].raw->forks.items[places[i].index];
        uint64_t end_ns = team->end_ns;
        while (barrier < raw->barriers.count && raw->barriers.items[barrier].team < i) barrier++;
        if (barrier < raw->barriers.count && raw->barriers.items[barrier].team == i)
            end_ns = at->time_ns[raw->barriers.items[barrier].call];
        if (fork->time_ns > team->begin_ns || end_ns < team->begin_ns) continue;
        starts.count++;
        starts.late_count += team->begin_ns - fork->time_ns > end_ns - team->begin_ns;
        starts.start_ns += team->begin_ns - fork->time_ns;
        starts.work_ns += end_ns - team->begin_ns;
    }
    __atomic_fetch_add(&graph->matched.starts.count, starts.count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&graph->matched.starts.late_count, starts.late_count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&graph->matched.starts.start_ns, starts.start_ns, __ATOMIC_RELAXED);
    __atomic_fetch_add(&graph->matched.starts.work_ns, starts.work_ns, __ATOMIC_RELAXED);
}

/* Teams of one location: their first nodes follow the fork. */
static enum cts_status place_teams(struct process_forks *forks, uint32_t id,
                                   struct cts_error *error)
{
    struct cts_path_graph *const graph = forks->graph;
    struct cts_path_location *const at = &graph->locations[id];
    struct cts_path_raw *const raw = at->raw;
    struct fork_place *const places = cts_array_zeroed(raw->teams.count, sizeof *places, error);
    if (!places) return CTS_MEMORY;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < raw->teams.count && !status; i++) {
        const struct cts_path_team *const team = &raw->teams.items[i];
        if (!find_fork(forks, id, team, &places[i])) {
            places[i].location = CTS_PATH_NONE;
            continue;
        }
        const struct cts_path_fork *const fork =
            &graph->locations[places[i].location].raw->forks.items[places[i].index];
        const struct cts_path_sequel sequel = {
            .graph = graph,
            .location = id,
            .node = team->node,
            .before = {fork->time_ns, places[i].location, fork->node}};
        status = CTS_PATH_OFFER(sequel, &sequel, error);
    }
    if (!status) status = note_teams(forks, id, places, error);
    if (!status) count_starts(forks, id, places);
    free(places);
    return status;
}

/* ---- created threads ---- */

struct thread_ends {
    struct cts_map creates, ends; /* key: index + 1 in `events` */
    CTS_PATH_LIST(struct thread_place, events);
};
struct thread_place {
    uint64_t time_ns;
    uint32_t location, node;
};

static enum cts_status note_thread_event(struct thread_ends *threads, uint32_t id,
                                         const struct cts_path_thread_event *event,
                                         struct cts_error *error)
{
    const bool create = event->kind == CTS_EVENT_THREAD_CREATE;
    if (!create && event->kind != CTS_EVENT_THREAD_END) return CTS_OK;
    uint64_t *const slot =
        cts_map_at(create ? &threads->creates : &threads->ends, event->key, error);
    if (!slot || CTS_ARRAY_RESERVE(&threads->events, threads->events.count + 1, error))
        return CTS_MEMORY;
    threads->events.items[threads->events.count++] =
        (struct thread_place){event->time_ns, id, event->node};
    *slot = threads->events.count;
    return CTS_OK;
}

static enum cts_status follow_thread_event(struct cts_path_graph *graph,
                                           struct thread_ends *threads, uint32_t id,
                                           const struct cts_path_thread_event *event,
                                           struct cts_error *error)
{
    const bool begin = event->kind == CTS_EVENT_THREAD_BEGIN;
    if (!begin && event->kind != CTS_EVENT_THREAD_WAIT) return CTS_OK;
    const uint64_t *const found =
        cts_map_find(begin ? &threads->creates : &threads->ends, event->key);
    if (!found || !*found || event->node == CTS_PATH_NONE) return CTS_OK;
    const struct thread_place *const other = &threads->events.items[*found - 1];
    const struct cts_path_sequel sequel = {.graph = graph,
                                           .location = id,
                                           .node = event->node,
                                           .before = {other->time_ns, other->location, other->node},
                                           .kind = begin ? CTS_PATH_SEQUEL_BEGINS
                                                         : CTS_PATH_SEQUEL_JOINS};
    return CTS_PATH_OFFER(sequel, &sequel, error);
}

static enum cts_status place_threads(struct cts_path_graph *graph, uint32_t process,
                                     struct cts_error *error)
{
    struct thread_ends threads = {0};
    const uint32_t first = graph->system->process_first[process],
                   end = graph->system->process_first[process + 1];
    enum cts_status status = CTS_OK;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t p = first; p < end && !status; p++) {
            const uint32_t id = graph->system->by_process[p];
            const struct cts_path_raw *const raw = graph->locations[id].raw;
            for (size_t i = 0; raw && i < raw->thread_events.count && !status; i++) {
                const struct cts_path_thread_event *const event = &raw->thread_events.items[i];
                status = pass ? follow_thread_event(graph, &threads, id, event, error)
                              : note_thread_event(&threads, id, event, error);
            }
        }
    free(threads.events.items);
    cts_map_release(&threads.creates);
    cts_map_release(&threads.ends);
    return status;
}

static enum cts_status match_process(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    const uint32_t process = (uint32_t)index;
    const uint32_t first = graph->system->process_first[process],
                   end = graph->system->process_first[process + 1];
    struct process_forks forks = {.graph = graph, .process = process};
    enum cts_status status = CTS_OK;
    for (uint32_t p = first; p < end && !status; p++) {
        const uint32_t id = graph->system->by_process[p];
        const struct cts_path_raw *const raw = graph->locations[id].raw;
        for (size_t i = 0; raw && i < raw->forks.count && !status; i++) {
            if (!raw->forks.items[i].id) continue;
            uint64_t *const slot = cts_map_at(&forks.by_id, raw->forks.items[i].id, error);
            if (!slot)
                status = CTS_MEMORY;
            else
                *slot = ((uint64_t)id << 32 | i) + 1;
        }
    }
    for (uint32_t p = first; p < end && !status; p++)
        if (graph->locations[graph->system->by_process[p]].raw)
            status = place_teams(&forks, graph->system->by_process[p], error);
    if (!status) status = cts_path_pair_barriers(graph, &forks.teams, error);
    if (!status) status = place_threads(graph, process, error);
    if (!status) status = cts_path_match_releases(graph, process, error);
    cts_path_teams_release(&forks.teams);
    cts_map_release(&forks.by_id);
    return status;
}

enum cts_status cts_path_match_threads(struct cts_path_graph *graph, struct cts_error *error)
{
    return cts_path_for_each(graph->system, graph->system->process_count, match_process, graph,
                             error);
}
