/* EventQuery: polling (cuEventQuery) until a query succeeds. Paper 3.3.3
 * (EventQueryPattern) and figures 2 and 4.
 *
 *     [enter, min(leave, end of the awaited work))      of each query, also the successful one
 *
 * Awaited is the work before the record of the event; its stream is to blame. */
#include "analyze/path/rule.h"

static enum cts_status on_poll(const struct cts_path_poll *poll, struct cts_error *error)
{
    if (!poll->of_event) return CTS_OK;
    const struct cts_path_host_call call = {&poll->graph->locations[poll->location], poll->enter,
                                            poll->leave};
    return cts_path_host_wait(call, poll->latest_ns, CTS_PATH_PATTERN_EVENT_QUERY, poll->edges,
                              error);
}

const struct cts_path_rule cts_path_rule_event_query = {.poll = on_poll};
