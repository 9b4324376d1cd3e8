/* Thread barrier: threads in pthread_barrier_wait() wait for the last one.
 *
 *     [enter, enter of the last thread)
 *
 * Culprits: at each instant those that have not come yet. */
#include "analyze/path/rule.h"

static enum cts_status on_meeting(const struct cts_path_meeting *meeting, struct cts_error *error)
{
    if (!cts_path_is_blocking(meeting, CTS_PATH_SHAPE_THREADS)) return CTS_OK;
    return cts_path_await_all(meeting, CTS_PATH_PATTERN_THREAD_BARRIER, true, error);
}

const struct cts_path_rule cts_path_rule_thread_barrier = {.meeting = on_meeting};
