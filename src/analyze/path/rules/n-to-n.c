/* Wait at n-to-n: members of a collective in which all need all (Allreduce, Alltoall, ...) wait for
 * the last one; of a scan, for those of lower ranks.
 *
 *     [enter, min(leave, enter of the last member that it needs))
 *
 * Culprits: at each instant those that have not come yet. */
#include "analyze/path/rule.h"

static enum cts_status on_meeting(const struct cts_path_meeting *meeting, struct cts_error *error)
{
    if (cts_path_is_blocking(meeting, CTS_PATH_SHAPE_PREFIX))
        return cts_path_await_lower(meeting, CTS_PATH_PATTERN_N_TO_N, error);
    if (!cts_path_is_blocking(meeting, CTS_PATH_SHAPE_ALL)) return CTS_OK;
    return cts_path_await_all(meeting, CTS_PATH_PATTERN_N_TO_N, false, error);
}

const struct cts_path_rule cts_path_rule_n_to_n = {.transfer = true, .meeting = on_meeting};
