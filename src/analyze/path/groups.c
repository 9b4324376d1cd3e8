/* Collectives and barriers: the members with one key and order are an instance. All processes learn
 * of all members, since whoever waits waits for all that have not come. An instance becomes a pool:
 * who came when, shared by all who wait in it. What its members wait for is said by the rules. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/offer.h"
#include "analyze/path/steps.h"
#include "common/map.h"

struct grouping {
    struct cts_path_graph *graph;
    const struct cts_path_member *members; /* by pool, then by location */
    size_t count;
    uint32_t *pool_of; /* per member, in the order in which they came */
};

/* ---- order ---- */

struct turn { /* of one of several threads */
    struct cts_path_member *member;
    uint32_t order; /* of its location */
};

static int by_enter(const void *left, const void *right)
{
    const struct turn *const a = left, *const b = right;
    if (a->member->enter_ns != b->member->enter_ns)
        return a->member->enter_ns < b->member->enter_ns ? -1 : 1;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    return (a->member > b->member) - (a->member < b->member);
}

static bool is_of_process(const struct cts_path_member *member)
{
    return member->key >> 60 != CTS_PATH_OF_THREADS >> 60 &&
           member->key != UINT64_MAX; /* a team's are of threads */
}

/* The i-th collective of a process is the i-th of the others, whichever thread takes part. */
static enum cts_status number_turns(struct turn *turns, size_t count, struct cts_error *error)
{
    struct cts_map counts = {0};
    enum cts_status status = CTS_OK;
    qsort(turns, count, sizeof *turns, by_enter);
    for (size_t i = 0; i < count && !status; i++) {
        uint64_t *const next = cts_map_at(&counts, turns[i].member->key, error);
        if (!next)
            status = CTS_MEMORY;
        else
            turns[i].member->order = (uint32_t)(*next)++;
    }
    cts_map_release(&counts);
    return status;
}

/* Where several threads of a process take part in collectives: those of one location are numbered
 * already (load.c). */
static enum cts_status number_process(struct cts_path_graph *graph, uint32_t process,
                                      struct cts_error *error)
{
    CTS_PATH_LIST(struct turn, turns) = {0};
    enum cts_status status = CTS_OK;
    uint32_t threads = 0;
    for (unsigned pass = 0; pass < 2 && !status; pass++) {
        if (pass && threads < 2) break;
        for (uint32_t p = graph->system->process_first[process];
             p < graph->system->process_first[process + 1]; p++) {
            const uint32_t id = graph->system->by_process[p];
            const struct cts_path_raw *const raw = graph->locations[id].raw;
            for (size_t i = 0; raw && i < raw->members.count && !status; i++) {
                if (!is_of_process(&raw->members.items[i])) continue;
                if (!pass) {
                    threads++;
                    break;
                }
                status = CTS_ARRAY_RESERVE(&turns, turns.count + 1, error);
                if (!status)
                    turns.items[turns.count++] =
                        (struct turn){&raw->members.items[i], graph->system->who[id].order};
            }
        }
    }
    if (!status && turns.count) status = number_turns(turns.items, turns.count, error);
    free(turns.items);
    return status;
}

/* ---- gathering ---- */

static struct cts_path_member *gather(struct cts_path_graph *graph, size_t *count,
                                      struct cts_error *error)
{
    size_t mine = 0;
    for (uint32_t l = 0; l < graph->system->location_count; l++) {
        const struct cts_path_raw *const raw = graph->locations[l].raw;
        for (size_t i = 0; raw && i < raw->members.count; i++)
            mine += raw->members.items[i].key != UINT64_MAX;
    }
    struct cts_path_member *const members = cts_array_zeroed(mine, sizeof *members, error);
    if (!members) return NULL;
    size_t at = 0;
    for (uint32_t l = 0; l < graph->system->location_count; l++) {
        struct cts_path_raw *const raw = graph->locations[l].raw;
        for (size_t i = 0; raw && i < raw->members.count; i++) {
            if (raw->members.items[i].key == UINT64_MAX) continue;
            members[at] = raw->members.items[i];
            if (members[at].done < graph->locations[l].count)
                members[at].done_ns = graph->locations[l].time_ns[members[at].done];
            at++;
        }
        if (!raw) continue;
        free(raw->members.items);
        raw->members.items = NULL;
        raw->members.count = raw->members.capacity = 0;
    }
    if (!graph->system->processes || graph->system->processes->count < 2) {
        *count = mine;
        return members;
    }
    void *all = NULL;
    size_t *offsets = NULL;
    if (cts_processes_all_gather(graph->system->processes,
                                 (struct cts_sent_block){members, mine * sizeof *members}, &all,
                                 &offsets, error)) {
        free(members);
        return NULL;
    }
    *count = offsets[graph->system->processes->count] / sizeof *members;
    free(offsets);
    free(members);
    return all;
}

/* ---- pools ---- */

struct key_range {
    uint64_t key;
    uint32_t orders; /* highest order + 1 */
    size_t first;    /* slot of order 0 */
};

/* Gives each member its pool: slots by key, in the order of keys, and order. The slots that nobody
 * came to are left out. */
static enum cts_status number_pools(struct grouping *g, struct cts_path_member *members,
                                    struct cts_error *error)
{
    struct cts_map map = {0};
    struct cts_map_entry *keys = NULL;
    uint32_t *slots = NULL;
    enum cts_status status = CTS_MEMORY;
    for (size_t i = 0; i < g->count; i++) {
        uint64_t *const orders = cts_map_at(&map, members[i].key, error);
        if (!orders) goto out;
        if (members[i].order + 1ull > *orders) *orders = members[i].order + 1ull;
    }
    keys = cts_map_sorted(&map, error);
    if (!keys && map.count) goto out;
    size_t total = 0;
    for (size_t i = 0; i < map.count; i++) {
        uint64_t *const slot = cts_map_at(&map, keys[i].key, error);
        const size_t orders = (size_t)*slot;
        *slot = total;
        total += orders;
    }
    if (total > 4 * g->count + 1024) { /* orders are counted per location: never so sparse */
        status = cts_fail(error, CTS_FORMAT, "a barrier has an invalid number");
        goto out;
    }
    slots = cts_array_zeroed(total, sizeof *slots, error);
    if (!slots) goto out;
    for (size_t i = 0; i < g->count; i++) {
        const uint64_t slot = *cts_map_find(&map, members[i].key) + members[i].order;
        g->pool_of[i] = (uint32_t)slot;
        slots[slot]++;
    }
    uint32_t pools = 0;
    for (size_t i = 0; i < total; i++) slots[i] = slots[i] ? pools++ : CTS_PATH_NONE;
    for (size_t i = 0; i < g->count; i++) g->pool_of[i] = slots[g->pool_of[i]];
    g->graph->pool_count = pools;
    status = CTS_OK;
out:
    cts_map_release(&map);
    free(keys);
    free(slots);
    return status;
}

/* Members by pool; those of a pool by the order of their locations. */
static struct cts_path_member *
sort_members(struct grouping *g, const struct cts_path_member *members, struct cts_error *error)
{
    struct cts_path_graph *const graph = g->graph;
    struct cts_path_member *const sorted = cts_array_zeroed(g->count, sizeof *sorted, error);
    graph->pools = cts_array_zeroed(graph->pool_count + 1, sizeof *graph->pools, error);
    if (!sorted || !graph->pools) {
        free(sorted);
        return NULL;
    }
    for (size_t i = 0; i < g->count; i++) graph->pools[g->pool_of[i]].count++;
    uint32_t at = 0;
    for (size_t i = 0; i < graph->pool_count; i++) {
        graph->pools[i].first = at;
        at += graph->pools[i].count;
        graph->pools[i].count = 0;
    }
    for (size_t i = 0; i < g->count; i++) {
        struct cts_path_pool *const pool = &graph->pools[g->pool_of[i]];
        const uint32_t order = graph->system->who[members[i].location].order;
        uint32_t to = pool->first + pool->count++;
        for (; to > pool->first; to--) { /* they come nearly in order */
            if (graph->system->who[sorted[to - 1].location].order <= order) break;
            sorted[to] = sorted[to - 1];
        }
        sorted[to] = members[i];
    }
    return sorted;
}

/* ---- dependencies ---- */

static enum cts_status build(struct grouping *g, struct cts_error *error)
{
    struct cts_path_graph *const graph = g->graph;
    graph->pool_edge_count = g->count;
    graph->pool_edges = cts_array_zeroed(g->count, sizeof *graph->pool_edges, error);
    if (!graph->pool_edges) return CTS_MEMORY;
    for (uint32_t p = 0; p < graph->pool_count; p++) {
        struct cts_path_pool *const pool = &graph->pools[p];
        for (uint32_t i = 0; i < pool->count; i++) {
            const struct cts_path_member *const member = &g->members[pool->first + i];
            graph->pool_edges[pool->first + i] =
                (struct cts_path_edge){member->enter_ns, member->location, member->call};
            if (member->enter_ns > pool->latest_ns) pool->latest_ns = member->enter_ns;
        }
        for (uint32_t i = 0; i < pool->count; i++) {
            if (!cts_path_is_mine(graph->system, g->members[pool->first + i].location)) continue;
            if (g->members[pool->first + i].done == CTS_PATH_NONE) continue;
            const struct cts_path_meeting meeting = {
                .graph = graph, .pool = p, .members = g->members + pool->first, .position = i};
            const enum cts_status status = CTS_PATH_OFFER(meeting, &meeting, error);
            if (status) return status;
        }
    }
    return CTS_OK;
}

enum cts_status cts_path_match_groups(struct cts_path_graph *graph, struct cts_error *error)
{
    struct grouping g = {.graph = graph};
    for (uint32_t p = 0; p < graph->system->process_count; p++)
        if (number_process(graph, p, error)) return CTS_MEMORY;
    struct cts_path_member *const members = gather(graph, &g.count, error);
    if (!members) return error->status ? error->status : CTS_MEMORY;
    enum cts_status status = CTS_MEMORY;
    struct cts_path_member *sorted = NULL;
    if (g.count > INT32_MAX) {
        status = cts_fail(error, CTS_LIMIT, "too many members of collectives: %zu", g.count);
        goto out;
    }
    g.pool_of = cts_array_zeroed(g.count, sizeof *g.pool_of, error);
    if (!g.pool_of) goto out;
    status = number_pools(&g, members, error);
    if (status) goto out;
    sorted = sort_members(&g, members, error);
    g.members = sorted;
    status = sorted ? build(&g, error) : CTS_MEMORY;
out:
    free(members);
    free(sorted);
    free(g.pool_of);
    return status;
}
