/* Threads that let each other go on, where the recording says so by number (docs/timeline.md,
 * Threads): what a thread does first follows its creation, and a call that goes on when another
 * thread unlocks, signals, posts or ends waits for that. Numbers are a process's own.
 *
 * Who goes on when the same call has arrived at a barrier has met there, that call included: they
 * are a pool, as of a collective, since each of them may be the last once times change. */
#include <string.h>

#include "analyze/path/offer.h"
#include "analyze/path/steps.h"

static uint64_t place_of(uint32_t location, uint32_t node)
{
    return ((uint64_t)location << 32 | node) + 1;
}

static enum cts_path_sequel_kind kind_of(const struct cts_path_graph *graph,
                                         const struct cts_path_location *at, uint32_t node)
{
    const char *const name = graph->system->regions[at->region[node] & ~CTS_PATH_LEAVE].name;
    if (strstr(name, "join")) return CTS_PATH_SEQUEL_JOINS;
    if (strstr(name, "lock")) return CTS_PATH_SEQUEL_LOCKS;
    if (strstr(name, "wait")) return CTS_PATH_SEQUEL_IS_TOLD;
    return CTS_PATH_SEQUEL_BEGINS;
}

static bool is_barrier(const struct cts_path_graph *graph, const struct cts_path_location *at,
                       uint32_t node)
{
    return strstr(graph->system->regions[at->region[node] & ~CTS_PATH_LEAVE].name, "barrier");
}

/* One of those that meet where `last` is the call that arrives last. */
static enum cts_status add_member(struct cts_path_graph *graph, const struct cts_path_edge *member,
                                  uint64_t last, struct cts_error *error)
{
    const struct cts_path_location *const at = &graph->locations[member->location];
    if (CTS_ARRAY_RESERVE(&at->raw->members, at->raw->members.count + 1, error)) return CTS_MEMORY;
    at->raw->members.items[at->raw->members.count++] =
        (struct cts_path_member){.enter_ns = at->time_ns[member->node],
                                 .key = CTS_PATH_OF_THREADS | 1ull << 59 | last,
                                 .location = member->location,
                                 .call = member->node,
                                 .done = member->node,
                                 .root = CTS_PATH_NONE,
                                 .shape = CTS_PATH_SHAPE_THREADS};
    return CTS_OK;
}

static enum cts_status meet(struct cts_path_graph *graph, struct cts_map *met,
                            const struct cts_path_edge *waits, const struct cts_path_edge *last,
                            struct cts_error *error)
{
    const uint64_t place = place_of(last->location, last->node);
    uint64_t *const known = cts_map_at(met, place, error);
    if (!known) return CTS_MEMORY;
    enum cts_status status = CTS_OK;
    if (!*known) status = add_member(graph, last, place, error);
    *known = 1;
    return status ? status : add_member(graph, waits, place, error);
}

struct releases {
    struct cts_map places; /* by number */
    struct cts_map met;    /* places of those that arrived last, as far as they are members */
};

static enum cts_status follow(struct cts_path_graph *graph, struct releases *releases, uint32_t id,
                              const struct cts_path_handover *wait, struct cts_error *error)
{
    const struct cts_path_location *const at = &graph->locations[id];
    const uint64_t *const found = cts_map_find(&releases->places, wait->number);
    if (!found || !*found || wait->node >= at->count) return CTS_OK;
    const uint32_t location = (uint32_t)((*found - 1) >> 32), node = (uint32_t)(*found - 1);
    if (location == id || node >= graph->locations[location].count) return CTS_OK;
    const struct cts_path_edge before = {graph->locations[location].time_ns[node], location, node};
    if (is_barrier(graph, at, wait->node))
        return meet(graph, &releases->met, &(struct cts_path_edge){0, id, wait->node}, &before,
                    error);
    const struct cts_path_sequel sequel = {.graph = graph,
                                           .location = id,
                                           .node = wait->node,
                                           .before = before,
                                           .kind = kind_of(graph, at, wait->node)};
    return CTS_PATH_OFFER(sequel, &sequel, error);
}

enum cts_status cts_path_match_releases(struct cts_path_graph *graph, uint32_t process,
                                        struct cts_error *error)
{
    const struct cts_path_system *const system = graph->system;
    struct releases releases = {0};
    enum cts_status status = CTS_OK;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t p = system->process_first[process];
             p < system->process_first[process + 1] && !status; p++) {
            const uint32_t id = system->by_process[p];
            const struct cts_path_raw *const raw = graph->locations[id].raw;
            for (size_t i = 0; raw && i < raw->handovers.count && !status; i++) {
                const struct cts_path_handover *const release = &raw->handovers.items[i];
                if (release->waits != (pass == 1) || !release->number) continue;
                if (pass) {
                    status = follow(graph, &releases, id, release, error);
                    continue;
                }
                uint64_t *const place = cts_map_at(&releases.places, release->number, error);
                if (!place)
                    status = CTS_MEMORY;
                else
                    *place = place_of(id, release->node);
            }
        }
    cts_map_release(&releases.places);
    cts_map_release(&releases.met);
    return status;
}
