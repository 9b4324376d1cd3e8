/* Wait at one-sided: fences, and windows made or freed, wait for the last member of the window.
 *
 *     [enter, min(leave, enter of the last member))
 *
 * Culprits: at each instant those that have not come yet. */
#include "analyze/path/rule.h"

static enum cts_status on_meeting(const struct cts_path_meeting *meeting, struct cts_error *error)
{
    if (cts_path_who_meets(meeting)->key >> 60 != 1) return CTS_OK; /* a window's */
    return cts_path_await_all(meeting, CTS_PATH_PATTERN_ONE_SIDED, false, error);
}

const struct cts_path_rule cts_path_rule_one_sided = {.transfer = true, .meeting = on_meeting};
