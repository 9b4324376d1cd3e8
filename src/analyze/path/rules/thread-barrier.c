/* Thread barrier: pthread_barrier_wait() waits for the last thread.
 *
 *     [enter, enter of the last thread)
 *
 * Culprit: the last thread. */
#include "analyze/path/rule.h"

static enum cts_status on_sequel(const struct cts_path_sequel *sequel, struct cts_error *error)
{
    if (sequel->kind != CTS_PATH_SEQUEL_MEETS) return CTS_OK;
    return cts_path_await_thread(sequel, CTS_PATH_PATTERN_THREAD_BARRIER, error);
}

const struct cts_path_rule cts_path_rule_thread_barrier = {.sequel = on_sequel};
