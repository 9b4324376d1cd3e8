/* Wait not recorded: no wait, but an order. Another thread waits for a thread that hardly uses the
 * CPU, so that it waits itself, for something that is not recorded. It is needed from the begin of
 * that wait on; what it needs before is unknown, and the path returns to the one that waits
 * (unrecorded-waits.c). */
#include "analyze/path/rule.h"

const struct cts_path_rule cts_path_rule_not_recorded = {.orders = true};
