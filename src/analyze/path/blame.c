/* Blame: waits of hosts for hosts first, over all ranks; what lands on a host then meets the waits
 * that stay within its process (for devices and among streams), process by process. What lands on a
 * location in the end belongs to what runs there at that time. Where streams wait for streams of
 * other ranks, all waits are one sweep over all ranks. */
#include <pthread.h>
#include <stdlib.h>

#include "analyze/path/booking.h"
#include "analyze/path/questions.h"
#include "analyze/path/sweep.h"

/* ---- keeping who got it ---- */

static enum cts_status keep(struct cts_path_blames *list, uint64_t time_ns, unsigned __int128 blame,
                            struct cts_error *error)
{
    if (!blame) return CTS_OK;
    if (CTS_ARRAY_RESERVE(list, list->count + 1, error)) return CTS_MEMORY;
    list->items[list->count++] = (struct cts_path_blame_at){
        .time_ns = time_ns, .blame_ns = (uint64_t)(blame >> 32), .fraction = (uint32_t)blame};
    return CTS_OK;
}

/* Cumulative floor over the locations by order, and over each one's list. Of the locations before
 * only the fractions of a ns matter. */
enum cts_status cts_path_round_blames(const struct cts_path_system *system,
                                      struct cts_path_blames *kept, struct cts_error *error)
{
    uint64_t *const fractions = cts_array_zeroed(system->location_count, sizeof *fractions, error);
    enum cts_status status = fractions ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(system->processes, &status, error)) {
        free(fractions);
        return status;
    }
    for (uint32_t l = 0; l < system->location_count; l++)
        for (size_t i = 0; i < kept[l].count; i++) fractions[l] += kept[l].items[i].fraction;
    cts_processes_reduce_u64(system->processes, fractions, system->location_count, CTS_REDUCE_SUM);
    uint64_t sum = 0;
    for (uint32_t order = 0; order < system->location_count; order++) {
        const uint32_t l = system->by_process[order];
        uint64_t now = sum;
        for (size_t i = 0; i < kept[l].count; i++) {
            struct cts_path_blame_at *const item = &kept[l].items[i];
            now += item->fraction;
            item->blame_ns += now >> 32;
            item->fraction = 0;
            now = (uint32_t)now;
        }
        sum = (uint32_t)(sum + fractions[l]);
    }
    free(fractions);
    return CTS_OK;
}

/* ---- process by process ---- */

struct blaming {
    const struct cts_path_graph *graph;
    struct cts_path_pieces *hosts; /* by order: what the hosts' waits put on each location */
    struct cts_path_blamed *blamed;
    pthread_mutex_t lock;
};

/* What landed on a location, by region and, if it is kept, by what began there. */
static enum cts_status book_and_keep(const struct blaming *blaming, uint32_t location,
                                     const struct cts_path_pieces *pieces, unsigned __int128 *blame,
                                     struct cts_error *error)
{
    const struct cts_path_graph *const graph = blaming->graph;
    const struct cts_path_location *const at = &graph->locations[location];
    if (!blaming->blamed->kept || !pieces->count) {
        cts_path_book(graph, at, pieces, blame, NULL);
        return CTS_OK;
    }
    unsigned __int128 *const by_node = cts_array_zeroed(at->count + 1, sizeof *by_node, error);
    if (!by_node) return CTS_MEMORY;
    cts_path_book(graph, at, pieces, blame, by_node);
    struct cts_path_blames *const list = &blaming->blamed->kept[location];
    enum cts_status status = keep(list, 0, by_node[at->count], error);
    for (size_t i = 0; i < at->count && !status; i++)
        status = keep(list, at->time_ns[i] - graph->first_ns, by_node[i], error);
    free(by_node);
    return status;
}

/* What a sweep over all waits put on each location is all that there is. */
static enum cts_status book_process(struct blaming *blaming, uint32_t process,
                                    unsigned __int128 *blame, struct cts_error *error)
{
    const struct cts_path_system *const system = blaming->graph->system;
    enum cts_status status = CTS_OK;
    for (uint32_t i = system->process_first[process];
         i < system->process_first[process + 1] && !status; i++)
        status = book_and_keep(blaming, system->by_process[i], &blaming->hosts[i], blame, error);
    return status;
}

static void add_blame(struct blaming *blaming, const unsigned __int128 *blame, uint64_t circles)
{
    pthread_mutex_lock(&blaming->lock);
    for (uint32_t i = 0; i < blaming->graph->system->region_count; i++)
        blaming->blamed->blame[i] += blame[i];
    blaming->blamed->circles += circles;
    pthread_mutex_unlock(&blaming->lock);
}

static enum cts_status blame_process(void *state, size_t process, struct cts_error *error)
{
    struct blaming *const blaming = state;
    const struct cts_path_graph *const graph = blaming->graph;
    const uint32_t first = graph->system->process_first[process],
                   end = graph->system->process_first[process + 1];
    if (first == end || !cts_path_is_mine(graph->system, graph->system->by_process[first]))
        return CTS_OK;
    struct cts_path_pieces *const landed = cts_array_zeroed(end - first, sizeof *landed, error);
    unsigned __int128 *const blame =
        cts_array_zeroed(graph->system->region_count, sizeof *blame, error);
    enum cts_status status = landed && blame ? CTS_OK : CTS_MEMORY;
    struct cts_path_sweep sweep = {.graph = graph,
                                   .first = first,
                                   .end = end,
                                   .direct = graph->system->options->direct_blame,
                                   .inflow = blaming->hosts + first,
                                   .landed = landed};
    if (!status && graph->crosses) status = book_process(blaming, (uint32_t)process, blame, error);
    if (!status && !graph->crosses) status = cts_path_sweep(&sweep, error);
    for (uint32_t i = first; i < end && !status && !graph->crosses; i++)
        status =
            book_and_keep(blaming, graph->system->by_process[i], &landed[i - first], blame, error);
    if (!status) add_blame(blaming, blame, sweep.circles);
    for (uint32_t i = first; i < end && landed; i++) free(landed[i - first].items);
    free(landed);
    free(blame);
    return status;
}

enum cts_status cts_path_blame(const struct cts_path_graph *graph, struct cts_path_blamed *blamed,
                               struct cts_error *error)
{
    struct blaming blaming = {.graph = graph, .blamed = blamed};
    blaming.hosts = cts_array_zeroed(graph->system->location_count, sizeof *blaming.hosts, error);
    if (!blaming.hosts) return CTS_MEMORY;
    pthread_mutex_init(&blaming.lock, NULL);
    struct cts_path_sweep sweep = {.graph = graph,
                                   .end = graph->system->location_count,
                                   .all = graph->crosses,
                                   .hosts = true,
                                   .direct = graph->system->options->direct_blame,
                                   .landed = blaming.hosts};
    enum cts_status status = cts_path_sweep(&sweep, error);
    blamed->circles += sweep.circles;
    if (!status)
        status = cts_path_for_each(graph->system, graph->system->process_count, blame_process,
                                   &blaming, error);
    for (uint32_t i = 0; i < graph->system->location_count; i++) free(blaming.hosts[i].items);
    free(blaming.hosts);
    pthread_mutex_destroy(&blaming.lock);
    return status;
}
