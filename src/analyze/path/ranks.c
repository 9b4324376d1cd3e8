#include "analyze/path/ranks.h"

#include <stdlib.h>

/* ---- stays ---- */

static bool is_longer(const struct cts_path_system *system, const struct cts_path_stay *a,
                      const struct cts_path_stay *b)
{
    if (a->ns != b->ns || !a->ns) return a->ns > b->ns;
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns;
    return system->who[a->location].order < system->who[b->location].order;
}

/* What runs before an enter is what it is called from. */
static uint32_t caller_of(const struct cts_path_location *at, uint32_t enter)
{
    return enter == CTS_PATH_NONE || enter == 0 ? CTS_PATH_NONE : at->active[enter - 1];
}

static void find_callers(const struct cts_path_location *at, uint32_t node,
                         struct cts_path_stay *stay)
{
    if (at->who->stream || node == CTS_PATH_NONE) return;
    for (uint32_t enter = caller_of(at, at->active[node]);
         enter != CTS_PATH_NONE && stay->depth < CTS_PATH_STACK_MAX; enter = caller_of(at, enter))
        stay->callers[stay->depth++] = at->region[enter] & ~CTS_PATH_LEAVE;
}

void cts_path_add_stays(const struct cts_path_graph *graph, const struct cts_path_found *all,
                        struct cts_path_stay *stays)
{
    const struct cts_path_system *const system = graph->system;
    for (uint32_t r = 0; r < system->region_count; r++) {
        const struct cts_path_found *const found = &all[r];
        struct cts_path_stay stay = {
            .ns = found->ns, .begin_ns = found->begin_ns, .location = found->location};
        if (!is_longer(system, &stay, &stays[r])) continue;
        find_callers(&graph->locations[found->location], found->node, &stay);
        stays[r] = stay;
    }
}

enum cts_status cts_path_share_stays(const struct cts_path_system *system,
                                     struct cts_path_stay *stays, struct cts_error *error)
{
    if (!system->processes || system->processes->count < 2) return CTS_OK;
    void *all = NULL;
    size_t *offsets = NULL;
    const enum cts_status status = cts_processes_all_gather(
        system->processes, (struct cts_sent_block){stays, system->region_count * sizeof *stays},
        &all, &offsets, error);
    if (status) return status;
    for (unsigned p = 0; p < system->processes->count; p++) {
        const struct cts_path_stay *const others =
            (const struct cts_path_stay *)all + (size_t)p * system->region_count;
        for (uint32_t r = 0; r < system->region_count; r++)
            if (is_longer(system, &others[r], &stays[r])) stays[r] = others[r];
    }
    free(all);
    free(offsets);
    return CTS_OK;
}

/* ---- ranks ---- */

/* For one of two extremes: its time, then the lowest process that has it. */
static enum cts_status find_extreme(const struct cts_path_system *system,
                                    const struct cts_path_profile *profile, bool most,
                                    struct cts_path_spread *spread, struct cts_error *error)
{
    const uint32_t regions = system->region_count;
    uint64_t *const times = cts_array_zeroed(regions, sizeof *times, error);
    uint64_t *const who = cts_array_zeroed(regions, sizeof *who, error);
    enum cts_status status = times && who ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(system->processes, &status, error)) goto out;
    for (uint32_t r = 0; r < regions; r++) times[r] = most ? 0 : UINT64_MAX;
    for (uint32_t p = 0; p < system->process_count; p++) {
        const uint64_t *const own = profile->rank_ns + (size_t)p * regions;
        for (uint32_t r = 0; r < regions && cts_path_is_own(system, p); r++)
            if (most ? own[r] > times[r] : own[r] < times[r]) times[r] = own[r];
    }
    cts_processes_reduce_u64(system->processes, times, regions,
                             most ? CTS_REDUCE_MAX : CTS_REDUCE_MIN);
    for (uint32_t r = 0; r < regions; r++) {
        who[r] = UINT64_MAX;
        for (uint32_t p = system->process_count; p-- > 0;)
            if (cts_path_is_own(system, p) && profile->rank_ns[(size_t)p * regions + r] == times[r])
                who[r] = p;
    }
    cts_processes_reduce_u64(system->processes, who, regions, CTS_REDUCE_MIN);
    for (uint32_t r = 0; r < regions; r++) {
        const uint32_t rank = cts_path_rank_of(system, (uint32_t)who[r]);
        *(most ? &spread[r].most_ns : &spread[r].least_ns) = times[r];
        *(most ? &spread[r].most_rank : &spread[r].least_rank) = rank;
    }
out:
    free(times);
    free(who);
    return status;
}

enum cts_status cts_path_spread_ranks(const struct cts_path_system *system,
                                      const struct cts_path_profile *profile,
                                      struct cts_path_spread *spread, struct cts_error *error)
{
    const enum cts_status status = find_extreme(system, profile, false, spread, error);
    return status ? status : find_extreme(system, profile, true, spread, error);
}
