/* The critical path: backwards from the last event, always to what arrived last.
 *
 * The walk stands on a location at a time, and all that counts there is the last place before it
 * where the location depended on another: a wait, or the launch of a device activity that followed
 * nothing later. The time down to that place belongs to what ran there, the time from the arrival
 * of what was awaited up to it to a latency; the walk goes on where that came from.
 *
 * With several processes the walk is cut at the waits of MPI. Where a walk that leaves through one
 * such wait will meet the next one depends on nothing but the source of the wait, so each process
 * finds it for the sources on its ranks ("exits", remembered per jump: each jump is passed once).
 * All exits together are the MPI path, which everybody then follows; the stretches between two
 * waits of MPI (critical sub-paths) are walked by those who hold them, by all their threads at
 * once. An activity belongs to a sub-path if dependencies lead to it, so that nothing begun before
 * the sub- path's first MPI call belongs to it, on whatever thread. */
#include <stdlib.h>
#include <string.h>

#include "common/search.h"

#include "analyze/path/questions.h"

#define END_OF_PATH (UINT32_MAX - 1)

struct cursor {
    uint32_t location;
    uint32_t node; /* the last one that counts; NONE: find it by time */
    uint64_t time_ns;
};

struct walk {
    const struct cts_path_graph *graph;
    uint64_t *path_ns;                  /* NULL: only look */
    struct cts_path_found *stays;       /* [region_count]: the longest of each; with path_ns */
    struct cts_path_segments *segments; /* NULL: not kept */
    uint64_t jumps, crossings;
    uint64_t still; /* steps in which no time passed */
    bool still_mpi; /* some of them through MPI */
    bool strict;    /* only through waits of MPI whose source is earlier than their leave */
    struct cts_error *error;
    enum cts_status status;
};

/* ---- booking ---- */

static void book_region(struct walk *walk, uint32_t region, uint64_t from_ns, uint64_t to_ns)
{
    if (walk->path_ns && cts_path_clip(walk->graph->system, &from_ns, &to_ns))
        walk->path_ns[region] += to_ns - from_ns;
}

/* Longer; then the earlier; then by location. */
static bool is_longer(const struct cts_path_graph *graph, const struct cts_path_found *a,
                      const struct cts_path_found *b)
{
    if (a->ns != b->ns || !a->ns) return a->ns > b->ns;
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns;
    return graph->system->who[a->location].order < graph->system->who[b->location].order;
}

static void note_stay(struct walk *walk, uint32_t region, const struct cts_path_found *stay)
{
    uint64_t from_ns = stay->begin_ns, to_ns = stay->begin_ns + stay->ns;
    struct cts_path_found clipped = *stay;
    if (!walk->stays || !cts_path_clip(walk->graph->system, &from_ns, &to_ns)) return;
    clipped.begin_ns = from_ns;
    clipped.ns = to_ns - from_ns;
    if (is_longer(walk->graph, &clipped, &walk->stays[region])) walk->stays[region] = clipped;
}

/* Time [from_ns, cursor) of a location to what ran there; the cursor's node is its last one. */
static void book_stay(struct walk *walk, const struct cursor *cursor, uint64_t from_ns)
{
    if (!walk->path_ns) return;
    const struct cts_path_location *const at = &walk->graph->locations[cursor->location];
    uint64_t end_ns = cursor->time_ns;
    for (uint32_t node = cursor->node; end_ns > from_ns; node--) {
        const uint64_t begin_ns = at->time_ns[node] > from_ns ? at->time_ns[node] : from_ns;
        if (begin_ns < end_ns) {
            const uint32_t region = cts_path_region_after(walk->graph, at, node);
            book_region(walk, region, begin_ns, end_ns);
            note_stay(
                walk, region,
                &(struct cts_path_found){end_ns - begin_ns, begin_ns, cursor->location, node});
            end_ns = begin_ns;
        }
        if (node == 0) break;
    }
}

static void keep_segment(struct walk *walk, uint32_t location, uint64_t from_ns, uint64_t to_ns,
                         uint32_t latency)
{
    struct cts_path_segments *const list = walk->segments;
    if (!list || from_ns == to_ns) return;
    if (CTS_ARRAY_RESERVE(list, list->count + 1, walk->error))
        walk->status = CTS_MEMORY;
    else
        list->items[list->count++] = (struct cts_path_segment){from_ns, to_ns, location, latency};
}

/* ---- one step ---- */

static uint64_t departure_ns(const struct cts_path_location *at, const struct cts_path_jump *jump)
{
    if (jump->index & CTS_PATH_LAUNCH) return at->time_ns[jump->node];
    const struct cts_path_wait *const wait = &at->waits.items[jump->index];
    return wait->flags & (CTS_PATH_TRANSFER | CTS_PATH_AT_CALL) ? at->time_ns[jump->node]
                                                                : wait->end_ns;
}

/* The last jump at or before the cursor; -1: none. `earlier`: before its time. */
static ptrdiff_t last_jump(const struct cts_path_location *at, const struct cursor *cursor,
                           bool earlier)
{
    size_t low = CTS_SEARCH(at->jumps.count, i, at->jumps.items[i].node <= cursor->node);
    while (low > 0) {
        const uint64_t leaves_ns = departure_ns(at, &at->jumps.items[low - 1]);
        if (earlier ? leaves_ns < cursor->time_ns : leaves_ns <= cursor->time_ns) break;
        low--;
    }
    return (ptrdiff_t)low - 1;
}

/* Where a jump that leaves at `from_ns` arrives, and through which latency. */
static struct cursor arrival(const struct cts_path_graph *graph, uint32_t location,
                             const struct cts_path_jump *jump, uint64_t from_ns, uint32_t *latency)
{
    const struct cts_path_location *const at = &graph->locations[location];
    if (jump->index & CTS_PATH_LAUNCH) {
        const struct cts_path_activity *const activity =
            &at->activities.items[jump->index & ~CTS_PATH_LAUNCH];
        *latency = graph->system->pseudo + CTS_PATH_LAUNCH_LATENCY;
        return (struct cursor){activity->host, activity->launch, activity->launched_ns};
    }
    const struct cts_path_wait *const wait = &at->waits.items[jump->index];
    const struct cts_path_edge *const edge = cts_path_binding(graph, location, wait);
    *latency = graph->system->pseudo + (wait->flags & CTS_PATH_TRANSFER ? CTS_PATH_MPI_TRANSFER
                                        : wait->pattern == CTS_PATH_PATTERN_FORK
                                            ? CTS_PATH_THREAD_START
                                            : CTS_PATH_LAUNCH_LATENCY);
    if (wait->flags & CTS_PATH_OWN && wait->call < at->count) /* else another process's */
        *latency = at->region[wait->call] & ~CTS_PATH_LEAVE;
    const bool later = edge->source_ns > from_ns;
    return (struct cursor){edge->location, later ? CTS_PATH_NONE : edge->node,
                           later ? from_ns : edge->source_ns};
}

/* Makes sure that the cursor's node is not after its time; false: it is before the first node. */
static bool place(const struct cts_path_graph *graph, struct cursor *cursor)
{
    const struct cts_path_location *const at = &graph->locations[cursor->location];
    if (cursor->node != CTS_PATH_NONE && cursor->node < at->count &&
        at->time_ns[cursor->node] <= cursor->time_ns)
        return true;
    cursor->node = cts_path_node_at(at, cursor->time_ns);
    return cursor->node != CTS_PATH_NONE;
}

/* What lies before the first event of a process here: in a later stretch of the timeline it is time
 * between two events, outside all regions, unless the process has not begun. */
static uint32_t region_before(const struct cts_path_graph *graph, uint32_t process,
                              uint64_t first_ns)
{
    const struct cts_path_stretch *const stretch = graph->stretch;
    const bool begun = stretch && !stretch->first && stretch->rank_first_ns[process] < first_ns;
    return graph->system->pseudo + (begun ? CTS_PATH_NO_REGION : CTS_PATH_START);
}

/* No dependency is left on the location: it goes on where its process began, if that is earlier. */
static bool begin_of_location(struct walk *walk, struct cursor *cursor)
{
    const struct cts_path_graph *const graph = walk->graph;
    const struct cts_path_location *const at = &graph->locations[cursor->location];
    uint64_t first_ns = cursor->time_ns;
    if (cursor->node != CTS_PATH_NONE) {
        first_ns = at->time_ns[0];
        book_stay(walk, cursor, first_ns);
        keep_segment(walk, cursor->location, first_ns, cursor->time_ns, CTS_PATH_NONE);
    }
    const uint32_t master =
        graph->system->by_process[graph->system->process_first[at->who->process]];
    const struct cts_path_location *const host = &graph->locations[master];
    if (master != cursor->location && !host->who->stream && host->count &&
        host->time_ns[0] <= first_ns) {
        *cursor = (struct cursor){master, CTS_PATH_NONE, first_ns};
        walk->jumps++;
        return true;
    }
    const uint32_t region = region_before(graph, at->who->process, first_ns);
    book_region(walk, region, graph->first_ns, first_ns);
    if (region != graph->system->pseudo + CTS_PATH_START)
        note_stay(walk, region,
                  &(struct cts_path_found){first_ns - graph->first_ns, graph->first_ns,
                                           cursor->location, CTS_PATH_NONE});
    keep_segment(walk, cursor->location, graph->first_ns, first_ns, region);
    cursor->time_ns = graph->first_ns;
    return false;
}

static bool is_mpi(const struct cts_path_location *at, const struct cts_path_jump *jump)
{
    return !(jump->index & CTS_PATH_LAUNCH) &&
           at->waits.items[jump->index].flags & CTS_PATH_TRANSFER;
}

/* That many steps without time passing are a circle. */
static uint64_t stuck_after(const struct cts_path_graph *graph)
{
    return 4ull * graph->system->location_count + 64;
}

enum step { STEP_ON, STEP_MPI, STEP_END };

/* One stay and the jump at its begin. `taken`: the jump, NULL if there was none. STEP_MPI: it
 * leaves through a wait of MPI; the cursor then is where that arrives. */
static enum step go(struct walk *walk, struct cursor *cursor, const struct cts_path_jump **taken)
{
    const struct cts_path_graph *const graph = walk->graph;
    *taken = NULL;
    if (!place(graph, cursor)) return begin_of_location(walk, cursor) ? STEP_ON : STEP_END;
    const struct cts_path_location *const at = &graph->locations[cursor->location];
    const bool stuck = walk->still > stuck_after(graph);
    ptrdiff_t index = last_jump(at, cursor, stuck);
    struct cursor next = {0};
    uint64_t from_ns = 0;
    uint32_t latency = graph->system->pseudo + CTS_PATH_NO_REGION;
    for (; index >= 0; index--) {
        from_ns = departure_ns(at, &at->jumps.items[index]);
        next = arrival(graph, cursor->location, &at->jumps.items[index], from_ns, &latency);
        if (!walk->strict || !is_mpi(at, &at->jumps.items[index]) || next.time_ns < from_ns) break;
    }
    if (index < 0) return begin_of_location(walk, cursor) ? STEP_ON : STEP_END;
    const struct cts_path_jump *const jump = &at->jumps.items[index];
    book_stay(walk, cursor, from_ns);
    keep_segment(walk, cursor->location, from_ns, cursor->time_ns, CTS_PATH_NONE);
    const uint32_t left = cursor->location;
    book_region(walk, latency, next.time_ns, from_ns);
    note_stay(walk, latency,
              &(struct cts_path_found){from_ns - next.time_ns, next.time_ns, left, CTS_PATH_NONE});
    keep_segment(walk, left, next.time_ns, from_ns, latency);
    if (next.time_ns < cursor->time_ns) {
        walk->still = 0;
        walk->still_mpi = false;
    } else {
        walk->still++;
        walk->still_mpi |= is_mpi(at, jump);
    }
    walk->jumps++;
    walk->crossings +=
        graph->system->who[next.location].process != graph->system->who[left].process;
    *cursor = next;
    *taken = jump;
    return is_mpi(at, jump) ? STEP_MPI : STEP_ON;
}

/* ---- alone ---- */

/* Where the path ends: at the last event, or where the stretch behind began its own. */
static struct cursor last_event(const struct cts_path_graph *graph)
{
    if (graph->stretch && !graph->stretch->last) {
        const uint32_t id = graph->stretch->end_location;
        if (!cts_path_is_mine(graph->system, id))
            return (struct cursor){CTS_PATH_NONE, CTS_PATH_NONE, 0};
        return (struct cursor){id, (uint32_t)graph->locations[id].count - 1, graph->last_ns};
    }
    for (uint32_t i = 0; i < graph->system->location_count; i++) {
        const uint32_t id = graph->system->by_process[i];
        const struct cts_path_location *const at = &graph->locations[id];
        if (at->count && at->time_ns[at->count - 1] == graph->last_ns)
            return (struct cursor){id, (uint32_t)at->count - 1, graph->last_ns};
    }
    return (struct cursor){CTS_PATH_NONE, CTS_PATH_NONE, 0};
}

/* False: waits of MPI lead in a circle. */
static bool walk_alone(struct walk *walk)
{
    struct cursor cursor = last_event(walk->graph);
    const struct cts_path_jump *taken;
    while (go(walk, &cursor, &taken) != STEP_END && !walk->status)
        if (walk->still > stuck_after(walk->graph) && walk->still_mpi && !walk->strict)
            return false;
    return true;
}

/* ---- together ---- */

struct mpi_wait {
    uint32_t location, wait; /* index in its waits */
    struct cursor source;
};

struct exits {
    const struct cts_path_graph *graph;
    struct mpi_wait *waits; /* of all processes, by the order of locations and begin */
    size_t count;
    uint32_t **ids;  /* [location][wait index]: id of a wait of MPI; own locations only */
    uint32_t **memo; /* [location][jump index]: id + 1 reached by taking it; 0: unknown */
    uint64_t *next;  /* [id]: id + 1 of the next one; END_OF_PATH + 1 */
};

static bool is_mpi_wait(const struct cts_path_wait *wait)
{
    return wait->flags & CTS_PATH_TRANSFER && !(wait->flags & CTS_PATH_NO_JUMP) &&
           wait->begin_ns < wait->end_ns;
}

static enum cts_status list_waits(struct exits *exits, struct cts_error *error)
{
    const struct cts_path_graph *const graph = exits->graph;
    size_t capacity = 0;
    for (uint32_t i = 0; i < graph->system->location_count; i++) {
        const uint32_t id = graph->system->by_process[i];
        const struct cts_path_location *const at = &graph->locations[id];
        exits->ids[id] = cts_array_zeroed(at->waits.count, sizeof(uint32_t), error);
        exits->memo[id] = cts_array_zeroed(at->jumps.count, sizeof(uint32_t), error);
        if (!exits->ids[id] || !exits->memo[id]) return CTS_MEMORY;
        for (size_t w = 0; w < at->waits.count; w++) {
            const struct cts_path_wait *const wait = &at->waits.items[w];
            if (!is_mpi_wait(wait)) continue;
            if (exits->count == capacity &&
                cts_array_grow((void **)&exits->waits, &capacity, exits->count + 1,
                               sizeof *exits->waits, error))
                return CTS_MEMORY;
            if (exits->count >= END_OF_PATH - 1)
                return cts_fail(error, CTS_LIMIT, "too many MPI waits");
            exits->ids[id][w] = (uint32_t)exits->count;
            exits->waits[exits->count++] = (struct mpi_wait){.location = id, .wait = (uint32_t)w};
        }
    }
    return CTS_OK;
}

/* The source of a wait needs the time of its leave if clocks differ: only its own process knows. */
static enum cts_status find_sources(struct exits *exits, struct cts_error *error)
{
    const struct cts_path_graph *const graph = exits->graph;
    uint64_t *const times = cts_array_zeroed(exits->count, sizeof *times, error);
    if (!times) return CTS_MEMORY;
    for (size_t i = 0; i < exits->count; i++) {
        const struct mpi_wait *const wait = &exits->waits[i];
        const struct cts_path_location *const at = &graph->locations[wait->location];
        if (cts_path_is_mine(graph->system, wait->location))
            times[i] = at->time_ns[at->waits.items[wait->wait].leave];
    }
    cts_processes_reduce_u64(graph->system->processes, times, exits->count, CTS_REDUCE_MAX);
    for (size_t i = 0; i < exits->count; i++) {
        struct mpi_wait *const wait = &exits->waits[i];
        uint32_t latency;
        const struct cts_path_jump jump = {0, wait->wait};
        wait->source = arrival(graph, wait->location, &jump, times[i], &latency);
    }
    free(times);
    return CTS_OK;
}

struct trail {
    uint32_t **items;
    size_t count, capacity;
};

/* Walks on own ranks until it leaves through a wait of MPI; its id + 1. */
static uint32_t exit_of(struct exits *exits, struct walk *walk, struct cursor cursor,
                        struct trail *trail)
{
    const struct cts_path_graph *const graph = exits->graph;
    uint32_t found = END_OF_PATH + 1;
    trail->count = 0;
    walk->still = 0;
    for (;;) {
        const struct cts_path_jump *taken;
        const uint32_t location = cursor.location;
        const enum step step = go(walk, &cursor, &taken);
        if (step == STEP_END) break;
        if (!taken) continue;
        const size_t index = (size_t)(taken - graph->locations[location].jumps.items);
        uint32_t *const memo = &exits->memo[location][index];
        if (step == STEP_MPI) {
            found = exits->ids[location][taken->index] + 1;
            break;
        }
        if (*memo && walk->still == 0) {
            found = *memo;
            break;
        }
        if (trail->count == trail->capacity &&
            cts_array_grow((void **)&trail->items, &trail->capacity, trail->count + 1,
                           sizeof *trail->items, walk->error)) {
            walk->status = CTS_MEMORY;
            break;
        }
        trail->items[trail->count++] = memo;
    }
    for (size_t i = 0; i < trail->count; i++) *trail->items[i] = found;
    return found;
}

static enum cts_status find_exits(struct exits *exits, struct walk *look, uint64_t *first,
                                  struct cts_error *error)
{
    const struct cts_path_graph *const graph = exits->graph;
    struct trail trail = {0};
    exits->next = cts_array_zeroed(exits->count, sizeof *exits->next, error);
    if (!exits->next) return CTS_MEMORY;
    for (size_t i = 0; i < exits->count && !look->status; i++)
        if (cts_path_is_mine(graph->system, exits->waits[i].source.location))
            exits->next[i] = exit_of(exits, look, exits->waits[i].source, &trail);
    const struct cursor last = last_event(graph);
    uint64_t order =
        last.location == CTS_PATH_NONE ? UINT64_MAX : graph->system->who[last.location].order;
    const uint64_t mine = order;
    cts_processes_reduce_u64(graph->system->processes, &order, 1, CTS_REDUCE_MIN);
    *first = 0;
    if (mine == order && !look->status) *first = exit_of(exits, look, last, &trail);
    cts_processes_reduce_u64(graph->system->processes, first, 1, CTS_REDUCE_MAX);
    cts_processes_reduce_u64(graph->system->processes, exits->next, exits->count, CTS_REDUCE_MAX);
    free(trail.items);
    return look->status;
}

/* The sub-paths of this process: sources to walk from. */
struct sub_paths {
    const struct cts_path_graph *graph;
    struct cts_path_segments *segments; /* NULL: not kept */
    struct cursor *starts;
    size_t count, capacity;
    uint64_t *path_ns;            /* [parts][region_count] */
    struct cts_path_found *stays; /* likewise */
    uint64_t *counts;             /* [parts][2] */
    size_t parts;
    bool strict;
};

static enum cts_status add_start(struct sub_paths *paths, struct cursor start,
                                 struct cts_error *error)
{
    if (paths->count == paths->capacity &&
        cts_array_grow((void **)&paths->starts, &paths->capacity, paths->count + 1,
                       sizeof *paths->starts, error))
        return CTS_MEMORY;
    paths->starts[paths->count++] = start;
    return CTS_OK;
}

/* Follows the MPI path; everybody does the same and keeps what lies on own ranks. */
static enum cts_status follow(const struct exits *exits, uint64_t first, struct sub_paths *paths,
                              bool *circle, struct cts_error *error)
{
    const struct cts_path_graph *const graph = exits->graph;
    const struct cursor last = last_event(graph);
    uint64_t order =
        last.location == CTS_PATH_NONE ? UINT64_MAX : graph->system->who[last.location].order;
    const uint64_t mine = order;
    cts_processes_reduce_u64(graph->system->processes, &order, 1, CTS_REDUCE_MIN);
    enum cts_status status = CTS_OK;
    if (mine == order) status = add_start(paths, last, error);
    size_t passed = 0;
    *circle = false;
    for (uint64_t at = first; at && at != END_OF_PATH + 1ull && !status;) {
        *circle = passed++ > exits->count;
        if (*circle) break;
        const struct cursor source = exits->waits[at - 1].source;
        if (cts_path_is_mine(graph->system, source.location))
            status = add_start(paths, source, error);
        at = exits->next[at - 1];
    }
    return status;
}

static enum cts_status walk_part(void *state, size_t part, struct cts_error *error)
{
    struct sub_paths *const paths = state;
    struct walk walk = {
        .graph = paths->graph,
        .path_ns = paths->path_ns + part * paths->graph->system->region_count,
        .stays = paths->stays ? paths->stays + part * paths->graph->system->region_count : NULL,
        .segments = paths->segments,
        .strict = paths->strict,
        .error = error};
    const size_t from = paths->count * part / paths->parts;
    const size_t to = paths->count * (part + 1) / paths->parts;
    for (size_t i = from; i < to && !walk.status; i++) {
        struct cursor cursor = paths->starts[i];
        const struct cts_path_jump *taken;
        walk.still = 0;
        while (go(&walk, &cursor, &taken) == STEP_ON && !walk.status) {
        }
    }
    paths->counts[2 * part] = walk.jumps;
    paths->counts[2 * part + 1] = walk.crossings;
    return walk.status;
}

static enum cts_status walk_sub_paths(struct sub_paths *paths, struct walk *walk,
                                      struct cts_error *error)
{
    const uint32_t regions = paths->graph->system->region_count;
    paths->parts = paths->segments ? 1 : paths->graph->system->threads;
    paths->path_ns = cts_array_zeroed(paths->parts * regions, sizeof *paths->path_ns, error);
    paths->counts = cts_array_zeroed(paths->parts * 2, sizeof *paths->counts, error);
    if (walk->stays)
        paths->stays = cts_array_zeroed(paths->parts * regions, sizeof *paths->stays, error);
    if (!paths->path_ns || !paths->counts || (walk->stays && !paths->stays)) return CTS_MEMORY;
    const enum cts_status status =
        cts_path_for_each(paths->graph->system, paths->parts, walk_part, paths, error);
    for (size_t part = 0; part < paths->parts; part++) {
        walk->jumps += paths->counts[2 * part];
        walk->crossings += paths->counts[2 * part + 1];
        for (uint32_t i = 0; i < regions; i++) {
            walk->path_ns[i] += paths->path_ns[part * regions + i];
            if (!walk->stays) continue;
            const struct cts_path_found *const stay = &paths->stays[part * regions + i];
            if (is_longer(walk->graph, stay, &walk->stays[i])) walk->stays[i] = *stay;
        }
    }
    return status;
}

static void release_exits(struct exits *exits)
{
    for (uint32_t l = 0; l < exits->graph->system->location_count; l++) {
        if (exits->ids) free(exits->ids[l]);
        if (exits->memo) free(exits->memo[l]);
    }
    free(exits->ids);
    free(exits->memo);
    free(exits->waits);
    free(exits->next);
}

static enum cts_status walk_together(struct walk *walk, bool *circle, struct cts_error *error)
{
    const struct cts_path_graph *const graph = walk->graph;
    struct exits exits = {.graph = graph};
    struct walk look = {.graph = graph, .strict = walk->strict, .error = error};
    struct sub_paths paths = {.graph = graph, .segments = walk->segments, .strict = walk->strict};
    uint64_t first = 0;
    exits.ids = cts_array_zeroed(graph->system->location_count, sizeof *exits.ids, error);
    exits.memo = cts_array_zeroed(graph->system->location_count, sizeof *exits.memo, error);
    enum cts_status status = exits.ids && exits.memo ? list_waits(&exits, error) : CTS_MEMORY;
    if (!cts_processes_agree(graph->system->processes, &status, error)) goto out;
    status = find_sources(&exits, error);
    if (!cts_processes_agree(graph->system->processes, &status, error)) goto out;
    status = find_exits(&exits, &look, &first, error);
    if (!cts_processes_agree(graph->system->processes, &status, error)) goto out;
    status = follow(&exits, first, &paths, circle, error);
    if (!cts_processes_agree(graph->system->processes, &status, error)) goto out;
    if (*circle) goto out;
    status = walk_sub_paths(&paths, walk, error);
    (void)cts_processes_agree(graph->system->processes, &status, error);
out:
    release_exits(&exits);
    free(paths.starts);
    free(paths.path_ns);
    free(paths.stays);
    free(paths.counts);
    return status;
}

static enum cts_status walk_once(struct walk *walk, bool *circle, struct cts_error *error)
{
    const struct cts_processes *const processes = walk->graph->system->processes;
    if (processes && processes->count > 1) return walk_together(walk, circle, error);
    *circle = !walk_alone(walk);
    return walk->status;
}

static struct walk open_walk(const struct cts_path_graph *graph, struct cts_path_walked *walked,
                             bool strict, struct cts_error *error)
{
    const bool keeps = graph->system->options->keep_segments;
    return (struct walk){.graph = graph,
                         .path_ns = walked->path_ns,
                         .stays = walked->stays,
                         .segments = keeps ? &walked->segments : NULL,
                         .strict = strict,
                         .error = error};
}

enum cts_status cts_path_walk(const struct cts_path_graph *graph, struct cts_path_walked *walked,
                              struct cts_error *error)
{
    const uint32_t regions = graph->system->region_count;
    struct walk walk = open_walk(graph, walked, false, error);
    bool circle = false;
    enum cts_status status = walk_once(&walk, &circle, error);
    if (!status && circle) { /* clocks are equal where they cannot be: once more, with care */
        memset(walked->path_ns, 0, regions * sizeof *walked->path_ns);
        if (walked->stays) memset(walked->stays, 0, regions * sizeof *walked->stays);
        walked->segments.count = 0;
        walk = open_walk(graph, walked, true, error);
        status = walk_once(&walk, &circle, error);
    }
    walked->jumps = walk.jumps;
    walked->crossings = walk.crossings;
    return status;
}
