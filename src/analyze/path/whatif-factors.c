/* Which activities a person means, and by how much each is altered: a factor per process and
 * region. A name that nothing has is told with what is near. */
#include <math.h>
#include <stdlib.h>

#include "analyze/path/names.h"
#include "analyze/path/whatif-project.h"

/* ---- factors ---- */

enum cts_status cts_whatif_open_factors(const struct cts_path_system *system,
                                        struct cts_whatif_factors *factors, struct cts_error *error)
{
    const size_t count = (size_t)system->process_count * system->region_count;
    factors->values = cts_array_zeroed(count, sizeof *factors->values, error);
    factors->lists = cts_array_zeroed(system->process_count, sizeof *factors->lists, error);
    if (!factors->values || !factors->lists) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) factors->values[i] = 1;
    for (uint32_t p = 0; p < system->process_count; p++)
        factors->lists[p] = factors->values + (size_t)p * system->region_count;
    return CTS_OK;
}

void cts_whatif_close_factors(struct cts_whatif_factors *factors)
{
    free(factors->values);
    free(factors->lists);
}

static bool runs_on(const struct cts_path_graph *graph, uint32_t process, uint32_t region)
{
    for (uint32_t i = graph->system->process_first[process];
         i < graph->system->process_first[process + 1]; i++) {
        const struct cts_path_location *const at = &graph->locations[graph->system->by_process[i]];
        for (size_t n = 0; n < at->count; n++)
            if (at->region[n] == region) return true;
    }
    return false;
}

static bool can_change(const struct cts_whatif_recording *recording, uint32_t region)
{
    const struct cts_path_system *const system = &recording->system;
    const uint32_t latency = region - system->pseudo;
    return recording->profile.times[region].calls ||
           (region >= system->pseudo &&
            (latency == CTS_PATH_LAUNCH_LATENCY || latency == CTS_PATH_MPI_TRANSFER ||
             latency == CTS_PATH_THREAD_START || latency == CTS_PATH_START ||
             latency == CTS_PATH_NO_REGION));
}

static enum cts_status unknown_name(const struct cts_whatif_recording *recording,
                                    const char *wanted, struct cts_error *error)
{
    const struct cts_path_system *const system = &recording->system;
    uint64_t *const calls = cts_array_zeroed(system->region_count, sizeof *calls, error);
    if (!calls) return CTS_MEMORY;
    for (uint32_t r = 0; r < system->region_count; r++)
        calls[r] = recording->profile.times[r].calls;
    const enum cts_status status = cts_path_unknown_name(system, calls, wanted, error);
    free(calls);
    return status;
}

enum cts_status cts_whatif_apply_change(const struct cts_whatif_recording *recording,
                                        const struct cts_whatif_change *change,
                                        struct cts_whatif_factors *factors, struct cts_error *error)
{
    if (!(change->factor >= 0) || change->factor > 1e6)
        return cts_fail(error, CTS_USAGE, "the factor of '%s' is not a number from 0 to 1000000",
                        change->activity);
    const struct cts_path_system *const system = &recording->system;
    bool known = false, rank_known = change->rank == CTS_WHATIF_ALL, found = false;
    for (uint32_t p = 0; p < system->process_count; p++)
        rank_known |= cts_path_rank_of(system, p) == change->rank;
    if (!rank_known) return cts_fail(error, CTS_USAGE, "the trace has no rank %u", change->rank);
    for (uint32_t r = 0; r < system->region_count; r++) {
        if (!can_change(recording, r) ||
            !cts_path_is_named(change->activity, system->regions[r].name))
            continue;
        known = true;
        for (uint32_t p = 0; p < system->process_count; p++) {
            if (change->rank != CTS_WHATIF_ALL &&
                (cts_path_rank_of(system, p) != change->rank ||
                 (!runs_on(&recording->graph, p, r) && recording->profile.times[r].calls)))
                continue;
            factors->values[(size_t)p * system->region_count + r] = change->factor;
            found = true;
        }
    }
    if (!known) return unknown_name(recording, change->activity, error);
    if (!found)
        return cts_fail(error, CTS_USAGE, "'%s' does not run on rank %u", change->activity,
                        change->rank);
    return CTS_OK;
}
