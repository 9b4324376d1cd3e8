#include "analyze/path/stragglers.h"

#include <stdlib.h>

#include "analyze/path/api.h"
#include "common/array.h"

static void add_wait(const struct cts_path_graph *graph, uint32_t location,
                     const struct cts_path_wait *wait, struct cts_path_rank_waits *ranks)
{
    const struct cts_path_system *const system = graph->system;
    uint64_t begin_ns = wait->begin_ns, end_ns = wait->end_ns;
    if (begin_ns >= end_ns || end_ns <= graph->first_ns || wait->pattern >= CTS_PATH_WAITS_END)
        return;
    const struct cts_path_edge *const last = cts_path_binding(graph, location, wait);
    const uint32_t own = system->who[location].process;
    if (!last || system->who[last->location].process == own ||
        !cts_path_clip(system, &begin_ns, &end_ns))
        return;
    const uint32_t other = system->who[last->location].process;
    ranks[own].waited_ns += end_ns - begin_ns;
    ranks[other].delayed_ns += end_ns - begin_ns;
    ranks[other].delayed_count++;
}

void cts_path_add_rank_waits(const struct cts_path_graph *graph, struct cts_path_rank_waits *ranks)
{
    for (uint32_t l = 0; l < graph->system->location_count; l++) {
        if (!cts_path_is_mine(graph->system, l)) continue;
        const struct cts_path_waits *const waits = &graph->locations[l].waits;
        for (size_t i = 0; i < waits->count; i++) add_wait(graph, l, &waits->items[i], ranks);
    }
}

/* Time in it is waiting, or may be: longer on those that wait. */
static bool may_wait(const struct cts_path_region *region)
{
    return region->is_collective || region->paradigm == CTS_PARADIGM_MPI ||
           region->kind == CTS_PATH_BARRIER ||
           (region->kind == CTS_PATH_API &&
            (region->api == CTS_PATH_API_SYNC_DEVICE || region->api == CTS_PATH_API_SYNC_CONTEXT ||
             region->api == CTS_PATH_API_SYNC_STREAM || region->api == CTS_PATH_API_SYNC_EVENT ||
             region->api == CTS_PATH_API_QUERY_STREAM || region->api == CTS_PATH_API_QUERY_EVENT ||
             region->api == CTS_PATH_API_COPY));
}

/* The activity that takes most longer on a process than on the others on average. */
static void find_longer(const struct cts_path_system *system,
                        const struct cts_path_profile *profile, uint32_t process,
                        uint64_t *longer_ns, uint64_t *region)
{
    const uint64_t *const own = profile->rank_ns + (size_t)process * system->region_count;
    const uint32_t others = system->process_count - 1;
    *longer_ns = *region = 0;
    for (uint32_t r = 0; r < system->region_count && others; r++) {
        const uint64_t mean_ns = (profile->times[r].exclusive_ns - own[r]) / others;
        if (may_wait(&system->regions[r]) || own[r] <= mean_ns || own[r] - mean_ns <= *longer_ns)
            continue;
        *longer_ns = own[r] - mean_ns;
        *region = r;
    }
}

enum cts_status cts_path_list_ranks(const struct cts_path_system *system,
                                    const struct cts_path_profile *profile,
                                    struct cts_path_rank_waits *ranks,
                                    struct cts_path_rank_row **rows, struct cts_error *error)
{
    enum { VALUES = 5 }; /* of a process, most of them known to one of our own */
    const size_t count = system->process_count;
    uint64_t *const values = cts_array_zeroed(count * VALUES, sizeof *values, error);
    *rows = cts_array_zeroed(count, sizeof **rows, error);
    enum cts_status status = values && *rows ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(system->processes, &status, error)) goto out;
    for (uint32_t p = 0; p < count; p++) {
        uint64_t *const of = values + (size_t)p * VALUES;
        of[0] = ranks[p].waited_ns;
        of[1] = ranks[p].delayed_ns;
        of[2] = ranks[p].delayed_count;
        if (cts_path_is_own(system, p)) find_longer(system, profile, p, &of[3], &of[4]);
    }
    cts_processes_reduce_u64(system->processes, values, count * VALUES, CTS_REDUCE_SUM);
    for (uint32_t p = 0; p < count; p++) {
        const uint64_t *const of = values + (size_t)p * VALUES;
        (*rows)[p] = (struct cts_path_rank_row){.rank = cts_path_rank_of(system, p),
                                                .waited_ns = of[0],
                                                .delayed_ns = of[1],
                                                .delayed_count = of[2],
                                                .longer_ns = of[3],
                                                .longer_region = (uint32_t)of[4]};
    }
out:
    free(values);
    return status;
}
