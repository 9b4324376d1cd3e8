/* Full device: a kernel waits for one of another stream, since the device runs one at a time
 * (device-turns.c says what shows that).
 *
 *     [max(end of the activity before, launch), end of the other kernel)       on the device
 *
 * Culprit: that kernel. */
#include "analyze/path/rule.h"

static enum cts_status on_turn(const struct cts_path_turn *turn, struct cts_error *error)
{
    const struct cts_path_activity *const activity = &turn->at->activities.items[turn->activity];
    return cts_path_add_wait(turn->at,
                             &(struct cts_path_wait){.begin_ns = turn->ready_ns,
                                                     .end_ns = turn->before.source_ns,
                                                     .call = activity->begin,
                                                     .leave = activity->end,
                                                     .pattern = CTS_PATH_PATTERN_FULL_DEVICE,
                                                     .flags = CTS_PATH_AT_CALL},
                             &turn->before, 1, error);
}

const struct cts_path_rule cts_path_rule_full_device = {.turn = on_turn};
