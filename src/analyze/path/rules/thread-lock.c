/* Thread lock: a thread that locks a mutex, a spin lock or a lock of readers and writers waits for
 * the thread that has it.
 *
 *     [enter, begin of the unlock)
 *
 * Culprit: the thread that unlocked last before the call returned. */
#include "analyze/path/rule.h"

static enum cts_status on_sequel(const struct cts_path_sequel *sequel, struct cts_error *error)
{
    if (sequel->kind != CTS_PATH_SEQUEL_LOCKS) return CTS_OK;
    return cts_path_await_thread(sequel, CTS_PATH_PATTERN_THREAD_LOCK, error);
}

const struct cts_path_rule cts_path_rule_thread_lock = {.sequel = on_sequel};
