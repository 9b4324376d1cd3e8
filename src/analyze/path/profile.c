#include "analyze/path/profile.h"

#include <stdlib.h>

#include "common/array.h"

enum cts_status cts_path_profile_open(const struct cts_path_system *system,
                                      struct cts_path_profile *profile, struct cts_error *error)
{
    *profile = (struct cts_path_profile){.first_ns = UINT64_MAX, .mpi_begin_ns = UINT64_MAX};
    profile->times = cts_array_zeroed(system->region_count, sizeof *profile->times, error);
    profile->rank_ns = cts_array_zeroed((size_t)system->process_count * system->region_count,
                                        sizeof *profile->rank_ns, error);
    return profile->times && profile->rank_ns ? CTS_OK : CTS_MEMORY;
}

void cts_path_profile_release(struct cts_path_profile *profile)
{
    free(profile->times);
    free(profile->rank_ns);
    *profile = (struct cts_path_profile){0};
}

void cts_path_agree_on_times(const struct cts_path_system *system, struct cts_path_profile *profile)
{
    cts_processes_reduce_u64(system->processes, &profile->first_ns, 1, CTS_REDUCE_MIN);
    cts_processes_reduce_u64(system->processes, &profile->last_ns, 1, CTS_REDUCE_MAX);
}

enum cts_status cts_path_check_times(const struct cts_path_profile *profile,
                                     struct cts_error *error)
{
    if (profile->first_ns > profile->last_ns)
        return cts_fail(error, CTS_FORMAT,
                        "the trace has no regions entered and no device activities");
    return CTS_OK;
}
