/* Wait at barrier: members of MPI_Barrier wait for the last one. Paper 3.2 and figure 5.
 *
 *     [enter, min(leave, enter of the last member))
 *
 * Culprits: at each instant those that have not come yet. */
#include "analyze/path/rule.h"

static enum cts_status on_meeting(const struct cts_path_meeting *meeting, struct cts_error *error)
{
    if (!cts_path_is_blocking(meeting, CTS_PATH_SHAPE_BARRIER)) return CTS_OK;
    return cts_path_await_all(meeting, CTS_PATH_PATTERN_MPI_BARRIER, false, error);
}

const struct cts_path_rule cts_path_rule_mpi_barrier = {.transfer = true, .meeting = on_meeting};
