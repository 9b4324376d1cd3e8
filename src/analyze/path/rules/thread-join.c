/* Thread join: a join waits for the end of the thread.
 *
 *     [enter, min(leave, end of the thread))
 *
 * Culprit: that thread. */
#include "analyze/path/rule.h"

static enum cts_status on_sequel(const struct cts_path_sequel *sequel, struct cts_error *error)
{
    if (sequel->kind != CTS_PATH_SEQUEL_JOINS) return CTS_OK;
    return cts_path_await_thread(sequel, CTS_PATH_PATTERN_THREAD_JOIN, error);
}

const struct cts_path_rule cts_path_rule_thread_join = {.sequel = on_sequel};
