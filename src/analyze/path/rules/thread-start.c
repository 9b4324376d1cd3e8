/* Thread start: no wait, but an order. What a thread runs first in a team follows the fork, what a
 * created thread runs first its creation: there the path leaves it, and the time since is the
 * latency "thread start". */
#include "analyze/path/rule.h"

static enum cts_status on_sequel(const struct cts_path_sequel *sequel, struct cts_error *error)
{
    struct cts_path_location *const at = &sequel->graph->locations[sequel->location];
    const uint32_t node = sequel->node;
    if (sequel->kind != CTS_PATH_SEQUEL_BEGINS || sequel->location == sequel->before.location ||
        node >= at->count || sequel->before.node == CTS_PATH_NONE ||
        sequel->before.source_ns > at->time_ns[node])
        return CTS_OK;
    return cts_path_add_wait(at,
                             &(struct cts_path_wait){.begin_ns = at->time_ns[node],
                                                     .end_ns = at->time_ns[node],
                                                     .call = node,
                                                     .leave = node,
                                                     .pattern = CTS_PATH_PATTERN_FORK,
                                                     .flags = CTS_PATH_AT_CALL},
                             &sequel->before, 1, error);
}

const struct cts_path_rule cts_path_rule_thread_start = {.orders = true, .sequel = on_sequel};
