/* Full device: a kernel waits for one of another stream, since the device runs one at a time
 * (device-turns.c says what shows that).
 *
 *     [max(end of the activity before, launch), end of the other kernel)       on the device
 *
 * Culprit: that kernel. */
#include "analyze/path/rule.h"

static enum cts_status on_turn(const struct cts_path_turn *turn, struct cts_error *error)
{
    return cts_path_turn_wait(turn, CTS_PATH_PATTERN_FULL_DEVICE, error);
}

const struct cts_path_rule cts_path_rule_full_device = {.turn = on_turn};
