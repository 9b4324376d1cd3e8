/* Late partner: MPI_Wait..., MPI_Test... for what they complete: the sends of receives, the
 * receives of sends, the members of non-blocking collectives (those that the blocking one would
 * wait for).
 *
 *     [enter, min(leave, begin of the last partner's call))
 *
 * For a receive of a send only if it was posted while the call ran. Culprits: those that had not
 * begun yet. */
#include "analyze/path/rule.h"

static enum cts_status on_message(const struct cts_path_message *message, struct cts_error *error)
{
    if (message->window || !cts_path_completes(message->graph, message->at, message->receive->done))
        return CTS_OK;
    return cts_path_await_send(message, CTS_PATH_PATTERN_LATE_PARTNER, false, error);
}

static enum cts_status on_answer(const struct cts_path_answer *answer, struct cts_error *error)
{
    if (!cts_path_completes(answer->graph, answer->at, answer->send->done)) return CTS_OK;
    return cts_path_await_receive(answer, CTS_PATH_PATTERN_LATE_PARTNER, error);
}

static enum cts_status on_meeting(const struct cts_path_meeting *meeting, struct cts_error *error)
{
    const struct cts_path_member *const member = cts_path_who_meets(meeting);
    if (cts_path_is_blocking(meeting, (enum cts_path_shape)member->shape)) return CTS_OK;
    if (member->key >> 60 == 1) return CTS_OK; /* a window's */
    switch (member->shape) {
    case CTS_PATH_SHAPE_FROM_ONE:
        return cts_path_await_root(meeting, CTS_PATH_PATTERN_LATE_PARTNER, error);
    case CTS_PATH_SHAPE_PREFIX:
        return cts_path_await_lower(meeting, CTS_PATH_PATTERN_LATE_PARTNER, error);
    case CTS_PATH_SHAPE_TO_ONE:
        return cts_path_root_awaits(meeting, CTS_PATH_PATTERN_LATE_PARTNER, error);
    default:
        return cts_path_await_all(meeting, CTS_PATH_PATTERN_LATE_PARTNER, false, error);
    }
}

const struct cts_path_rule cts_path_rule_late_partner = {
    .transfer = true, .message = on_message, .answer = on_answer, .meeting = on_meeting};
