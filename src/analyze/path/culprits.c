/* One wait's unit of blame is followed from location to location, as the sweep does it for all (see
 * sweep.h): first through waits of hosts for hosts, which every process knows, then through those
 * within a process, by the one that holds it. At each instant those still awaited share equally.
 * Who gets most in the end, with what ran there, is named.
 *
 *     rank 3 waits for rank 2, which waits for rank 1, which computes: rank 1, its computation
 *
 * A wait of very many (a large collective) is followed to who came last only, and a wait that
 * spreads over very many pieces is cut short: the name is that of the largest share all the same,
 * or of one as large. */
#include "analyze/path/culprits.h"

#include <stdlib.h>

#include "analyze/path/booking.h"
#include "common/search.h"

enum { AWAITED_MAX = 32, DEPTH_MAX = 64, PIECES_MAX = 4096 };

/* Blame of `density` (2^-32) lands on a location in [from, to). */
struct landing {
    uint64_t from_ns, to_ns, density;
    uint32_t location;
};

struct landings {
    struct landing *items;
    size_t count, capacity;
};

struct trace {
    const struct cts_path_graph *graph;
    bool hosts; /* through waits of hosts for hosts; else all others; if streams wait for those of
                   other processes, through all */
    bool direct;
    struct landings *landed;
    struct cts_error *error;
};

static enum cts_status land(const struct trace *t, const struct landing *landing)
{
    if (landing->from_ns >= landing->to_ns || !landing->density) return CTS_OK;
    if (CTS_ARRAY_RESERVE(t->landed, t->landed->count + 1, t->error)) return CTS_MEMORY;
    t->landed->items[t->landed->count++] = *landing;
    return CTS_OK;
}

/* Whether a wait passes on what its location gets. */
static bool passes(const struct trace *t, const struct cts_path_wait *wait)
{
    return wait->begin_ns < wait->end_ns &&
           (t->graph->crosses || t->hosts == !!(wait->flags & CTS_PATH_HOST_HOST));
}

/* The first wait that may end after a time: waits are by begin and do not overlap. */
static size_t first_wait(const struct cts_path_waits *waits, uint64_t time_ns)
{
    size_t low = CTS_SEARCH(waits->count, i, waits->items[i].begin_ns <= time_ns);
    while (low > 0) {
        const struct cts_path_wait *const wait = &waits->items[--low];
        if (wait->begin_ns < wait->end_ns) break;
    }
    return low;
}

struct awaited {
    uint64_t until_ns;
    uint32_t location;
};

/* Those that a wait is for, each once, other than the location itself. */
static size_t list_awaited(const struct cts_path_graph *graph, uint32_t location,
                           const struct cts_path_wait *wait, struct awaited *list)
{
    size_t edge_count, count = 0;
    const struct cts_path_edge *const edges = cts_path_edges_of(graph, location, wait, &edge_count);
    const struct cts_path_edge *const last = cts_path_binding(graph, location, wait);
    if (!last) return 0;
    if (edge_count > AWAITED_MAX) {
        list[0] = (struct awaited){last->source_ns, last->location};
        return 1;
    }
    for (size_t i = 0; i < edge_count; i++) {
        size_t at = 0;
        if (edges[i].location == location) continue;
        while (at < count && list[at].location != edges[i].location) at++;
        if (at == count) list[count++] = (struct awaited){0, edges[i].location};
        if (list[at].until_ns < edges[i].source_ns) list[at].until_ns = edges[i].source_ns;
    }
    return count;
}

static enum cts_status follow(const struct trace *t, const struct landing *landing, unsigned depth);

/* Shares a part of a wait among those still awaited, from one end of theirs to the next. */
static enum cts_status share(const struct trace *t, const struct cts_path_wait *wait,
                             const struct landing *part, unsigned depth)
{
    struct awaited list[AWAITED_MAX];
    const size_t count = list_awaited(t->graph, part->location, wait, list);
    for (uint64_t now_ns = part->from_ns; now_ns < part->to_ns;) {
        uint64_t until_ns = part->to_ns;
        size_t pending = 0;
        for (size_t i = 0; i < count; i++) {
            if (list[i].until_ns <= now_ns) continue;
            pending++;
            if (list[i].until_ns < until_ns) until_ns = list[i].until_ns;
        }
        struct landing passed = *part;
        passed.from_ns = now_ns;
        passed.to_ns = until_ns;
        if (!pending && land(t, &passed)) return CTS_MEMORY;
        for (size_t i = 0; i < count && pending; i++) {
            if (list[i].until_ns <= now_ns) continue;
            passed.location = list[i].location;
            passed.density = part->density / pending;
            if (t->direct ? land(t, &passed) : follow(t, &passed, depth + 1)) return CTS_MEMORY;
        }
        now_ns = until_ns;
    }
    return CTS_OK;
}

/* Between waits it stays, but where the location passes it on. */
static enum cts_status stay(const struct trace *t, const struct landing *landing, unsigned depth)
{
    const struct cts_path_passes *const passes = &t->graph->locations[landing->location].passes;
    struct landing part = *landing;
    size_t next = CTS_SEARCH(passes->count, i, passes->items[i].end_ns <= landing->from_ns);
    for (; !t->direct && next < passes->count && passes->items[next].begin_ns < landing->to_ns;
         next++) {
        const struct cts_path_pass *const pass = &passes->items[next];
        const uint64_t until_ns = pass->end_ns < landing->to_ns ? pass->end_ns : landing->to_ns;
        part.to_ns = pass->begin_ns;
        if (land(t, &part)) return CTS_MEMORY;
        if (part.from_ns < pass->begin_ns) part.from_ns = pass->begin_ns;
        part.to_ns = until_ns;
        part.location = pass->location;
        if (follow(t, &part, depth + 1)) return CTS_MEMORY;
        part.location = landing->location;
        part.from_ns = until_ns;
    }
    part.to_ns = landing->to_ns;
    return land(t, &part);
}

/* What lands on a location stays where it does not wait, and goes on where it does. */
static enum cts_status follow(const struct trace *t, const struct landing *landing, unsigned depth)
{
    const struct cts_path_waits *const waits = &t->graph->locations[landing->location].waits;
    struct landing part = *landing;
    if (depth > DEPTH_MAX || t->landed->count > PIECES_MAX) return land(t, landing);
    for (size_t w = first_wait(waits, landing->from_ns);
         w < waits->count && waits->items[w].begin_ns < landing->to_ns; w++) {
        const struct cts_path_wait *const wait = &waits->items[w];
        if (!passes(t, wait) || wait->end_ns <= part.from_ns) continue;
        part.to_ns = wait->begin_ns;
        if (part.from_ns < part.to_ns && stay(t, &part, depth)) return CTS_MEMORY;
        if (part.from_ns < wait->begin_ns) part.from_ns = wait->begin_ns;
        part.to_ns = wait->end_ns < landing->to_ns ? wait->end_ns : landing->to_ns;
        if (share(t, wait, &part, depth)) return CTS_MEMORY;
        part.from_ns = part.to_ns;
    }
    part.to_ns = landing->to_ns;
    return part.from_ns < part.to_ns ? stay(t, &part, depth) : CTS_OK;
}

/* ---- the largest share ---- */

struct best {
    uint64_t ns; /* whole ones, so that ties are the same for any number of processes */
    uint32_t location, region;
};

static int by_location(const void *left, const void *right, void *state)
{
    const struct cts_path_system *const system = state;
    const struct landing *const a = left, *const b = right;
    const uint32_t a_order = system->who[a->location].order;
    const uint32_t b_order = system->who[b->location].order;
    if (a_order != b_order) return a_order < b_order ? -1 : 1;
    return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* Of what lands on own locations; by order, so that ties go to the lower one. */
static void choose_best(const struct cts_path_graph *graph, struct landings *landed,
                        unsigned __int128 *blame, struct best *best)
{
    if (landed->count)
        qsort_r(landed->items, landed->count, sizeof *landed->items, by_location,
                (void *)(uintptr_t)graph->system);
    for (size_t i = 0; i < landed->count;) {
        const uint32_t location = landed->items[i].location;
        for (uint32_t r = 0; r < graph->system->region_count; r++) blame[r] = 0;
        for (; i < landed->count && landed->items[i].location == location; i++) {
            const struct landing *const landing = &landed->items[i];
            struct cts_path_piece ends[] = {{landing->from_ns, landing->density},
                                            {landing->to_ns, 0}};
            const struct cts_path_pieces pieces = {ends, 2, 2};
            cts_path_book(graph, &graph->locations[location], &pieces, blame, NULL);
        }
        for (uint32_t r = 0; r < graph->system->region_count; r++)
            if ((uint64_t)(blame[r] >> 32) > best->ns)
                *best = (struct best){(uint64_t)(blame[r] >> 32), location, r};
    }
}

/* Room that serves one wait after the other. */
struct room {
    struct landings through_hosts, through_all;
    unsigned __int128 *blame; /* per region */
};

/* One wait, as far as it lands on own locations. */
static enum cts_status follow_instance(const struct cts_path_graph *graph,
                                       const struct cts_path_instance *instance, struct room *room,
                                       struct best *best, struct cts_error *error)
{
    struct landings *const hosts = &room->through_hosts, *const all = &room->through_all;
    const struct landing begin = {instance->begin_ns, instance->end_ns, CTS_PATH_UNIT,
                                  instance->location};
    struct trace t = {.graph = graph,
                      .hosts = true,
                      .direct = graph->system->options->direct_blame,
                      .landed = hosts,
                      .error = error};
    hosts->count = 0;
    if (follow(&t, &begin, 0)) return CTS_MEMORY;
    struct landings own = {0};
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < hosts->count && !status; i++) {
        const struct landing *const landing = &hosts->items[i];
        if (!cts_path_is_mine(graph->system, landing->location)) continue;
        all->count = 0;
        t.hosts = false;
        t.landed = all;
        if (graph->crosses) { /* it has been through all waits */
            status = CTS_ARRAY_RESERVE(&own, own.count + 1, error);
            if (!status) own.items[own.count++] = *landing;
            continue;
        }
        /* with direct blame what has left the waiting location stays where it is */
        status = t.direct && landing->location != instance->location ? land(&t, landing)
                                                                     : follow(&t, landing, 0);
        if (!status) status = CTS_ARRAY_RESERVE(&own, own.count + all->count, error);
        for (size_t k = 0; k < all->count && !status; k++) own.items[own.count++] = all->items[k];
    }
    if (!status) choose_best(graph, &own, room->blame, best);
    free(own.items);
    return status;
}

/* Of all processes the largest; ties to the lower location. */
static enum cts_status agree(const struct cts_path_graph *graph,
                             struct cts_path_instance *instances, const struct best *best,
                             size_t count, struct cts_error *error)
{
    uint64_t *const most = cts_array_zeroed(count, sizeof *most, error);
    uint64_t *const who = cts_array_zeroed(count, sizeof *who, error);
    enum cts_status status = most && who ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(graph->system->processes, &status, error)) goto out;
    for (size_t i = 0; i < count; i++) most[i] = best[i].ns;
    cts_processes_reduce_u64(graph->system->processes, most, count, CTS_REDUCE_MAX);
    for (size_t i = 0; i < count; i++)
        who[i] = best[i].ns && best[i].ns == most[i]
                     ? (uint64_t)graph->system->who[best[i].location].order << 32 | best[i].region
                     : UINT64_MAX;
    cts_processes_reduce_u64(graph->system->processes, who, count, CTS_REDUCE_MIN);
    for (size_t i = 0; i < count; i++) {
        if (who[i] == UINT64_MAX) continue;
        instances[i].blamed = graph->system->by_process[who[i] >> 32];
        instances[i].blamed_region = (uint32_t)who[i];
        instances[i].blamed_ns = most[i];
    }
out:
    free(most);
    free(who);
    return status;
}

enum cts_status cts_path_find_culprits(const struct cts_path_graph *graph,
                                       struct cts_path_instance *instances, size_t count,
                                       struct cts_error *error)
{
    struct room room = {
        .blame = cts_array_zeroed(graph->system->region_count, sizeof *room.blame, error)};
    struct best *const best = cts_array_zeroed(count, sizeof *best, error);
    enum cts_status status = room.blame && best ? CTS_OK : CTS_MEMORY;
    for (size_t i = 0; i < count && !status; i++)
        status = follow_instance(graph, &instances[i], &room, &best[i], error);
    if (cts_processes_agree(graph->system->processes, &status, error))
        status = agree(graph, instances, best, count, error);
    free(room.through_hosts.items);
    free(room.through_all.items);
    free(room.blame);
    free(best);
    return status;
}
