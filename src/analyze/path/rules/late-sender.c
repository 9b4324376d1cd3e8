/* Late sender: a blocking receive (or a probe before it) waits for its send. Paper 3.2.
 *
 *     [enter of the receive, min(leave, enter of the sending call))
 *
 * Culprit: the sender. */
#include "analyze/path/rule.h"

static enum cts_status on_message(const struct cts_path_message *message, struct cts_error *error)
{
    if (message->window || cts_path_completes(message->graph, message->at, message->receive->done))
        return CTS_OK;
    return cts_path_await_send(message, CTS_PATH_PATTERN_LATE_SENDER, false, error);
}

const struct cts_path_rule cts_path_rule_late_sender = {.transfer = true, .message = on_message};
