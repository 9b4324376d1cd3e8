/* First launch: a kernel's code is loaded when the kernel is launched for the first time (CUDA's
 * lazy loading), behind everything that its device has been given before, on whatever stream
 * (device-turns.c says what shows that).
 *
 *     [max(end of the activity before, launch), end of the other kernel)       on the device
 *
 * Culprit: that kernel. */
#include "analyze/path/rule.h"

static enum cts_status on_first(const struct cts_path_turn *turn, struct cts_error *error)
{
    return cts_path_turn_wait(turn, CTS_PATH_PATTERN_FIRST_LAUNCH, error);
}

const struct cts_path_rule cts_path_rule_first_launch = {.first = on_first};
