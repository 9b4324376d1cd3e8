/* NCCL wait: a kernel of a collective spins until the kernels of all members run.
 *
 *     [begin, min(end, begin of the last member))                              on the device
 *
 * Culprits: at each instant the streams of those that have not begun. What holds such a stream
 * passes the blame on; before its launch that is the thread that launches (graph.h: passes). */
#include "analyze/path/rule.h"

static enum cts_status on_kernels(const struct cts_path_kernel_meeting *meeting,
                                  struct cts_error *error)
{
    const struct cts_path_activity *const kernel =
        &meeting->at->activities.items[meeting->activity];
    const uint64_t begin_ns = meeting->at->time_ns[kernel->begin];
    const bool is_pooled = meeting->pool != CTS_PATH_NONE;
    const struct cts_path_wait wait = {.begin_ns = begin_ns,
                                       .end_ns = meeting->latest_ns > begin_ns ? meeting->latest_ns
                                                                               : begin_ns,
                                       .call = kernel->begin,
                                       .leave = kernel->end,
                                       .first = is_pooled ? meeting->pool : 0,
                                       .pattern = CTS_PATH_PATTERN_NCCL_WAIT,
                                       .flags = is_pooled ? CTS_PATH_POOLED : 0};
    return cts_path_add_wait(meeting->at, &wait, meeting->edges->items, meeting->edges->count,
                             error);
}

const struct cts_path_rule cts_path_rule_nccl_wait = {.kernels = on_kernels};
