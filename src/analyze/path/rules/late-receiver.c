/* Late receiver: a blocking send during which its receive is posted waited for that. A send that
 * had returned before, or began later, did not.
 *
 *     [enter of the send, enter of the call that posts the receive)
 *
 * Culprit: the receiver. */
#include "analyze/path/rule.h"

static enum cts_status on_answer(const struct cts_path_answer *answer, struct cts_error *error)
{
    if (cts_path_completes(answer->graph, answer->at, answer->send->done)) return CTS_OK;
    return cts_path_await_receive(answer, CTS_PATH_PATTERN_LATE_RECEIVER, error);
}

const struct cts_path_rule cts_path_rule_late_receiver = {.transfer = true, .answer = on_answer};
