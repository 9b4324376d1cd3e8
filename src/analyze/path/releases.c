/* Threads that let each other go on, where the recording says so by number (docs/timeline.md,
 * Threads): what a thread does first follows its creation, and a call that goes on when another
 * thread unlocks, signals, posts, arrives or ends waits for that. Numbers are a process's own. */
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
    if (strstr(name, "barrier")) return CTS_PATH_SEQUEL_MEETS;
    if (strstr(name, "join")) return CTS_PATH_SEQUEL_JOINS;
    if (strstr(name, "lock")) return CTS_PATH_SEQUEL_LOCKS;
    if (strstr(name, "wait")) return CTS_PATH_SEQUEL_IS_TOLD;
    return CTS_PATH_SEQUEL_BEGINS;
}

static enum cts_status follow(struct cts_path_graph *graph, const struct cts_map *places,
                              uint32_t id, const struct cts_path_handover *wait,
                              struct cts_error *error)
{
    const struct cts_path_location *const at = &graph->locations[id];
    const uint64_t *const found = cts_map_find(places, wait->number);
    if (!found || !*found || wait->node >= at->count) return CTS_OK;
    const uint32_t location = (uint32_t)((*found - 1) >> 32), node = (uint32_t)(*found - 1);
    if (location == id || node >= graph->locations[location].count) return CTS_OK;
    const struct cts_path_sequel sequel = {
        .graph = graph,
        .location = id,
        .node = wait->node,
        .before = {graph->locations[location].time_ns[node], location, node},
        .kind = kind_of(graph, at, wait->node)};
    return CTS_PATH_OFFER(sequel, &sequel, error);
}

enum cts_status cts_path_match_releases(struct cts_path_graph *graph, uint32_t process,
                                        struct cts_error *error)
{
    const struct cts_path_system *const system = graph->system;
    struct cts_map places = {0};
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
                    status = follow(graph, &places, id, release, error);
                    continue;
                }
                uint64_t *const place = cts_map_at(&places, release->number, error);
                if (!place)
                    status = CTS_MEMORY;
                else
                    *place = place_of(id, release->node);
            }
        }
    cts_map_release(&places);
    return status;
}
