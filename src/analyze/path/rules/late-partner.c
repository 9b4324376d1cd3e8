/* Late partner: MPI_Wait..., MPI_Test... for what they complete: the sends of receives, the
 * receives of sends, the members of non-blocking collectives (those that the blocking one would
 * wait for).
 *
 *     [enter, min(leave, begin of the last partner's call))
 *
 * For a receive of a send only if it was posted while the call ran. Culprits: those that had not
 * begun yet.
 *
 * Most MPIs go on with a non-blocking collective only in calls. If the call lasts long after the
 * last one has begun, and returns promptly after another member has entered the call that
 * completes it, it waits for that call:
 *
 *     began     [Iallreduce]  [MPI_Wait ------------------]
 *     computes     [Iallreduce]  ===================[MPI_Wait]   */
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

enum { PROMPT_NS = 100000 };

/* The other member that entered its completing call last before `leave_ns`; NULL. */
static const struct cts_path_member *last_to_complete(const struct cts_path_meeting *meeting,
                                                      uint64_t leave_ns)
{
    const struct cts_path_member *last = NULL;
    const uint32_t count = meeting->graph->pools[meeting->pool].count;
    for (uint32_t i = 0; i < count; i++) {
        const struct cts_path_member *const member = &meeting->members[i];
        if (i != meeting->position && member->done_ns && member->done_ns <= leave_ns &&
            (!last || member->done_ns > last->done_ns))
            last = member;
    }
    return last;
}

/* Waits for the member whose call lets the collective go on; else for all that had not begun. */
static enum cts_status await_progress(const struct cts_path_meeting *meeting,
                                      struct cts_error *error)
{
    const struct cts_path_member *const member = cts_path_who_meets(meeting);
    struct cts_path_location *const at = &meeting->graph->locations[member->location];
    const uint64_t begun_ns = meeting->graph->pools[meeting->pool].latest_ns;
    const uint64_t leave_ns = at->time_ns[cts_path_leave_of(at, member->done)];
    const struct cts_path_member *const last =
        leave_ns - member->done_ns > PROMPT_NS ? last_to_complete(meeting, leave_ns) : NULL;
    if (!last || last->done_ns <= member->done_ns || last->done_ns < begun_ns + PROMPT_NS ||
        leave_ns - last->done_ns > PROMPT_NS)
        return cts_path_await_all(meeting, CTS_PATH_PATTERN_LATE_PARTNER, false, error);
    return cts_path_add_dependency(
        at,
        &(struct cts_path_dependency){.edge = {last->done_ns, last->location, last->done},
                                      .call = member->done,
                                      .pool = CTS_PATH_NONE,
                                      .pattern = CTS_PATH_PATTERN_LATE_PARTNER},
        error);
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
        return await_progress(meeting, error);
    }
}

const struct cts_path_rule cts_path_rule_late_partner = {
    .transfer = true, .message = on_message, .answer = on_answer, .meeting = on_meeting};
