/* Own copy: no wait, but an order. The call of a blocking copy ends with its copy on the device:
 * there the path leaves the call, and what follows the copy in the call is the call's own. Where
 * the call returns while the last part is on its way (pageable memory), the path leaves at the
 * leave. */
#include "analyze/path/rule.h"

static enum cts_status on_copied(const struct cts_path_copied *copied, struct cts_error *error)
{
    struct cts_path_location *const at = &copied->graph->locations[copied->location];
    const uint64_t leave_ns = at->time_ns[copied->leave];
    const uint64_t end_ns = copied->end.source_ns < leave_ns ? copied->end.source_ns : leave_ns;
    return cts_path_add_wait(at,
                             &(struct cts_path_wait){.begin_ns = end_ns,
                                                     .end_ns = end_ns,
                                                     .call = copied->enter,
                                                     .leave = copied->leave,
                                                     .pattern = CTS_PATH_PATTERN_OWN_COPY},
                             &copied->end, 1, error);
}

const struct cts_path_rule cts_path_rule_own_copy = {.orders = true, .copied = on_copied};
