/* Late post: MPI_Win_start waits for MPI_Win_post of its targets; or, after a start that returned
 * at once, MPI_Win_complete does.
 *
 *     [enter, begin of the last post), only if the call stayed for it
 *
 * Culprits: the targets that have not posted yet. */
#include "analyze/path/rule.h"

static enum cts_status on_message(const struct cts_path_message *message, struct cts_error *error)
{
    if (!message->window || message->tag == CTS_PATH_COMPLETE_TO_WAIT) return CTS_OK;
    return cts_path_await_send(message, CTS_PATH_PATTERN_LATE_POST, true, error);
}

const struct cts_path_rule cts_path_rule_late_post = {.transfer = true, .message = on_message};
