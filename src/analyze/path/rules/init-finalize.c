/* Wait at init or finalize: MPI_Init and MPI_Finalize, of which no record says that they wait for
 * all: a process depends on the last one only if it did not leave before that came.
 *
 *     [enter, enter of the last process)
 *
 * Culprits: at each instant those that have not come yet. What follows is the call's own work (MPI
 * starts or ends its processes' connections), no transfer of a message. */
#include "analyze/path/rule.h"

static enum cts_status on_meeting(const struct cts_path_meeting *meeting, struct cts_error *error)
{
    if (!cts_path_is_blocking(meeting, CTS_PATH_SHAPE_SEEN)) return CTS_OK;
    return cts_path_await_all(meeting, CTS_PATH_PATTERN_INIT_FINALIZE, true, error);
}

const struct cts_path_rule cts_path_rule_init_finalize = {
    .transfer = true, .own = true, .meeting = on_meeting};
