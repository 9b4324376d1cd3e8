/* BlameKernel: a synchronisation, a blocking copy or memset, an asynchronous copy that returns
 * after it has ended, or an allocation that ends after the pending work, waits for device work that
 * had been launched and that the host did not know to be done. Paper 3.3.1 (BlameKernelPattern) and
 * figure 3.
 *
 *     [enter, min(leave, end of the last awaited activity))      on the host
 *
 * Culprits: the awaited streams that still have pending work, in equal shares. */
#include "analyze/path/rule.h"

static enum cts_status on_sync(const struct cts_path_sync *sync, struct cts_error *error)
{
    const struct cts_path_op *const op = sync->call->op;
    const struct cts_path_host_call call = {&sync->device->graph->locations[sync->call->location],
                                            op->enter, op->leave};
    return cts_path_host_wait(call, sync->latest_ns, CTS_PATH_PATTERN_BLAME_KERNEL, sync->edges,
                              error);
}

const struct cts_path_rule cts_path_rule_blame_kernel = {.sync = on_sync};
