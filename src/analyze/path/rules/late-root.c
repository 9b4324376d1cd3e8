/* Late root: members of a collective from one to all (Bcast, Scatter) wait for its root.
 *
 *     [enter, min(leave, enter of the root))
 *
 * Culprit: the root. Others call it late broadcast. */
#include "analyze/path/rule.h"

static enum cts_status on_meeting(const struct cts_path_meeting *meeting, struct cts_error *error)
{
    if (!cts_path_is_blocking(meeting, CTS_PATH_SHAPE_FROM_ONE)) return CTS_OK;
    return cts_path_await_root(meeting, CTS_PATH_PATTERN_LATE_ROOT, error);
}

const struct cts_path_rule cts_path_rule_late_root = {.transfer = true, .meeting = on_meeting};
