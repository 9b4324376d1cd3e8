/* Host function: a stream does nothing while its host function runs.
 *
 *     [begin, end) of what its thread does there                               on the device
 *
 * Culprit: that thread. What of it is recorded gets the path and the blame; the rest of the
 * function stays an activity of the stream. */
#include "analyze/path/rule.h"

static enum cts_status on_function(const struct cts_path_function *function,
                                   struct cts_error *error)
{
    const struct cts_path_activity *const activity =
        &function->at->activities.items[function->activity];
    return cts_path_add_wait(function->at,
                             &(struct cts_path_wait){.begin_ns = function->from_ns,
                                                     .end_ns = function->done.source_ns,
                                                     .call = activity->begin,
                                                     .leave = activity->end,
                                                     .pattern = CTS_PATH_PATTERN_HOST_FUNCTION},
                             &function->done, 1, error);
}

const struct cts_path_rule cts_path_rule_host_function = {.function = on_function};
