/* Late complete: MPI_Win_wait, or the MPI_Win_test that succeeds, waits for MPI_Win_complete of all
 * origins.
 *
 *     [enter, min(leave, begin of the last complete))
 *
 * Culprits: the origins that have not completed yet. */
#include "analyze/path/rule.h"

static enum cts_status on_message(const struct cts_path_message *message, struct cts_error *error)
{
    if (!message->window || message->tag != CTS_PATH_COMPLETE_TO_WAIT) return CTS_OK;
    return cts_path_await_send(message, CTS_PATH_PATTERN_LATE_COMPLETE, false, error);
}

const struct cts_path_rule cts_path_rule_late_complete = {.transfer = true, .message = on_message};
