/* Early root: the root of a collective from all to one (Reduce, Gather) waits for the others.
 *
 *     [enter, min(leave, enter of the last member))
 *
 * Culprits: at each instant those that have not come yet. Others call it early reduce. */
#include "analyze/path/rule.h"

static enum cts_status on_meeting(const struct cts_path_meeting *meeting, struct cts_error *error)
{
    if (!cts_path_is_blocking(meeting, CTS_PATH_SHAPE_TO_ONE)) return CTS_OK;
    return cts_path_root_awaits(meeting, CTS_PATH_PATTERN_EARLY_ROOT, error);
}

const struct cts_path_rule cts_path_rule_early_root = {.transfer = true, .meeting = on_meeting};
