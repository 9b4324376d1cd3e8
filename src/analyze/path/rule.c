/* What rules have in common (rule.h). */
#include "analyze/path/rule.h"

#include "common/promise.h"

/* ---- messages ---- */

bool cts_path_completes(const struct cts_path_graph *graph, const struct cts_path_location *at,
                        uint32_t call)
{
    return graph->system->regions[at->region[call] & ~CTS_PATH_LEAVE].kind == CTS_PATH_WAITING;
}

enum cts_status cts_path_await_send(const struct cts_path_message *message,
                                    enum cts_path_pattern pattern, bool stayed,
                                    struct cts_error *error)
{
    struct cts_path_dependency dependency = {.edge = message->sent,
                                             .call = message->receive->done,
                                             .pool = CTS_PATH_NONE,
                                             .stayed = stayed,
                                             .pattern = (uint8_t)pattern};
    if (cts_path_add_dependency(message->at, &dependency, error)) return CTS_MEMORY;
    if (message->receive->probe == CTS_PATH_NONE) return CTS_OK;
    dependency.call = message->receive->probe;
    return cts_path_add_dependency(message->at, &dependency, error);
}

enum cts_status cts_path_await_receive(const struct cts_path_answer *answer,
                                       enum cts_path_pattern pattern, struct cts_error *error)
{
    return cts_path_add_dependency(answer->at,
                                   &(struct cts_path_dependency){.edge = answer->posted,
                                                                 .call = answer->send->done,
                                                                 .pool = CTS_PATH_NONE,
                                                                 .within = true,
                                                                 .pattern = (uint8_t)pattern},
                                   error);
}

/* ---- threads ---- */

enum cts_status cts_path_await_thread(const struct cts_path_sequel *sequel,
                                      enum cts_path_pattern pattern, struct cts_error *error)
{
    return cts_path_add_dependency(&sequel->graph->locations[sequel->location],
                                   &(struct cts_path_dependency){.edge = sequel->before,
                                                                 .call = sequel->node,
                                                                 .pool = CTS_PATH_NONE,
                                                                 .pattern = (uint8_t)pattern},
                                   error);
}

/* ---- collectives and barriers ---- */

bool cts_path_is_blocking(const struct cts_path_meeting *meeting, enum cts_path_shape shape)
{
    const struct cts_path_member *const member = cts_path_who_meets(meeting);
    return member->key >> 60 != 1 && member->done == member->call && member->shape == shape;
}

static enum cts_status await_member(const struct cts_path_meeting *meeting,
                                    const struct cts_path_member *other,
                                    enum cts_path_pattern pattern, struct cts_error *error)
{
    const struct cts_path_member *const member = cts_path_who_meets(meeting);
    return cts_path_add_dependency(
        &meeting->graph->locations[member->location],
        &(struct cts_path_dependency){.edge = {other->enter_ns, other->location, other->call},
                                      .call = member->done,
                                      .pool = CTS_PATH_NONE,
                                      .pattern = (uint8_t)pattern},
        error);
}

enum cts_status cts_path_await_all(const struct cts_path_meeting *meeting,
                                   enum cts_path_pattern pattern, bool stayed,
                                   struct cts_error *error)
{
    assert(meeting->pool < meeting->graph->pool_count);
    const struct cts_path_pool *const pool = &meeting->graph->pools[meeting->pool];
    const struct cts_path_member *const member = cts_path_who_meets(meeting);
    if (pool->count < 2) return CTS_OK;
    return cts_path_add_dependency(&meeting->graph->locations[member->location],
                                   &(struct cts_path_dependency){.edge.source_ns = pool->latest_ns,
                                                                 .call = member->done,
                                                                 .pool = meeting->pool,
                                                                 .stayed = stayed,
                                                                 .pattern = (uint8_t)pattern},
                                   error);
}

/* Whether the root that a member names is its process, whichever thread takes part for it. */
static bool is_root(const struct cts_path_meeting *meeting, const struct cts_path_member *member)
{
    const uint32_t root = cts_path_who_meets(meeting)->root;
    return root != CTS_PATH_NONE && cts_path_home(meeting->graph->system, member->location) ==
                                        cts_path_home(meeting->graph->system, root);
}

enum cts_status cts_path_await_root(const struct cts_path_meeting *meeting,
                                    enum cts_path_pattern pattern, struct cts_error *error)
{
    const struct cts_path_member *const member = cts_path_who_meets(meeting);
    if (is_root(meeting, member)) return CTS_OK;
    for (uint32_t i = 0; i < meeting->graph->pools[meeting->pool].count; i++)
        if (is_root(meeting, &meeting->members[i]))
            return await_member(meeting, &meeting->members[i], pattern, error);
    return CTS_OK;
}

enum cts_status cts_path_await_lower(const struct cts_path_meeting *meeting,
                                     enum cts_path_pattern pattern, struct cts_error *error)
{
    assert(meeting->position < meeting->graph->pools[meeting->pool].count);
    for (uint32_t i = 0; i < meeting->position; i++)
        if (await_member(meeting, &meeting->members[i], pattern, error)) return CTS_MEMORY;
    return CTS_OK;
}

enum cts_status cts_path_root_awaits(const struct cts_path_meeting *meeting,
                                     enum cts_path_pattern pattern, struct cts_error *error)
{
    const struct cts_path_member *const member = cts_path_who_meets(meeting);
    if (!is_root(meeting, member)) return CTS_OK;
    return cts_path_await_all(meeting, pattern, false, error);
}

/* ---- devices ---- */

enum cts_status cts_path_await_work(const struct cts_path_device *device,
                                    struct cts_path_marks *marks,
                                    const struct cts_path_stream *stream, uint32_t launched,
                                    struct cts_error *error)
{
    assert(stream >= device->streams && stream < device->streams + device->stream_count);
    if (!launched) return CTS_OK;
    if (CTS_ARRAY_RESERVE(marks, marks->count + 1, error)) return CTS_MEMORY;
    marks->items[marks->count++] =
        (struct cts_path_mark){(uint32_t)(stream - device->streams), launched};
    return CTS_OK;
}

enum cts_status cts_path_host_wait(struct cts_path_host_call call, uint64_t end_ns,
                                   enum cts_path_pattern pattern,
                                   const struct cts_path_edges *edges, struct cts_error *error)
{
    assert(call.enter < call.leave && call.leave < call.at->count);
    const uint64_t enter_ns = call.at->time_ns[call.enter];
    const uint64_t leave_ns = call.at->time_ns[call.leave];
    if (end_ns > leave_ns) end_ns = leave_ns;
    const struct cts_path_wait wait = {.begin_ns = enter_ns,
                                       .end_ns = end_ns > enter_ns ? end_ns : enter_ns,
                                       .call = call.enter,
                                       .leave = call.leave,
                                       .pattern = pattern};
    return cts_path_add_wait(call.at, &wait, edges->items, edges->count, error);
}

enum cts_status cts_path_turn_wait(const struct cts_path_turn *turn, enum cts_path_pattern pattern,
                                   struct cts_error *error)
{
    assert(turn->activity < turn->at->activities.count);
    const struct cts_path_activity *const activity = &turn->at->activities.items[turn->activity];
    const struct cts_path_wait wait = {.begin_ns = turn->ready_ns,
                                       .end_ns = turn->before.source_ns,
                                       .call = activity->begin,
                                       .leave = activity->end,
                                       .pattern = pattern,
                                       .flags = CTS_PATH_AT_CALL};
    return cts_path_add_wait(turn->at, &wait, &turn->before, 1, error);
}
