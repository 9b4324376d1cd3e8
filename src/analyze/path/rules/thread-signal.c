/* Thread signal: a thread waits for a condition or a semaphore.
 *
 *     [enter, begin of the signal or post; of a condition's mutex the unlock, if that is later)
 *
 * Culprit: the thread that signalled, posted or unlocked. A wait that ends because its time is up
 * is none. */
#include "analyze/path/rule.h"

static enum cts_status on_sequel(const struct cts_path_sequel *sequel, struct cts_error *error)
{
    if (sequel->kind != CTS_PATH_SEQUEL_IS_TOLD) return CTS_OK;
    return cts_path_await_thread(sequel, CTS_PATH_PATTERN_THREAD_SIGNAL, error);
}

const struct cts_path_rule cts_path_rule_thread_signal = {.sequel = on_sequel};
