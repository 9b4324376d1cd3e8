/* Building the graph: reading, matching, waits. Between steps that need the other processes all
 * agree that they can go on. */
#include "analyze/path/build.h"

#include "analyze/path/load.h"
#include "analyze/path/open.h"
#include "analyze/path/raw.h"
#include "analyze/path/steps.h"

static enum cts_status device_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    return cts_path_device_waits(graph, (uint32_t)index, error);
}

static enum cts_status settle_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    struct cts_path_location *const location = &graph->locations[index];
    if (!location->raw) return CTS_OK;
    const enum cts_status status = cts_path_settle(graph, (uint32_t)index, error);
    cts_path_drop_raw(location);
    return status;
}

static enum cts_status host_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    if (!graph->locations[index].raw) return CTS_OK;
    return cts_path_host_waits(graph, (uint32_t)index, error);
}

enum cts_status cts_path_agree_on_times(struct cts_path_graph *graph, struct cts_error *error)
{
    cts_processes_reduce_u64(graph->processes, &graph->first_ns, 1, CTS_REDUCE_MIN);
    cts_processes_reduce_u64(graph->processes, &graph->last_ns, 1, CTS_REDUCE_MAX);
    const struct cts_path_stretch *const stretch = graph->stretch;
    if (stretch && !stretch->first) graph->first_ns = stretch->begin_ns;
    if (stretch && !stretch->last) graph->last_ns = stretch->end_ns;
    graph->is_empty = stretch && graph->first_ns > graph->last_ns;
    if (graph->is_empty) return CTS_OK;
    if (graph->first_ns > graph->last_ns)
        return cts_fail(error, CTS_FORMAT,
                        "the trace has no regions entered and no device activities");
    return CTS_OK;
}

enum cts_status cts_path_graph_build(const struct cts_path_source *source,
                                     const struct cts_path_options *options,
                                     const struct cts_path_stretch *stretch,
                                     struct cts_path_graph *graph, struct cts_error *error)
{
    enum cts_status status = cts_path_graph_open(source, options, graph, error);
    graph->stretch = stretch;
    if (!status) status = cts_path_load(graph, error);
    if (!status) status = cts_path_match_threads(graph, error);
    if (!cts_processes_agree(graph->processes, &status, error)) return status;
    status = cts_path_agree_on_times(graph, error);
    if (graph->is_empty) return status;
    if (!status) status = cts_path_match_messages(graph, error);
    if (!cts_processes_agree(graph->processes, &status, error)) return status;
    status = cts_path_match_groups(graph, error);
    if (!cts_processes_agree(graph->processes, &status, error)) return status;
    status = cts_path_match_locks(graph, error);
    if (!cts_processes_agree(graph->processes, &status, error)) return status;
    status = cts_path_for_each(graph, graph->location_count, host_step, graph, error);
    if (!status) status = cts_path_for_each(graph, graph->process_count, device_step, graph, error);
    if (!cts_processes_agree(graph->processes, &status, error)) return status;
    status = cts_path_full_devices(graph, error);
    if (!status)
        status = cts_path_for_each(graph, graph->location_count, settle_step, graph, error);
    if (!cts_processes_agree(graph->processes, &status, error)) return status;
    return cts_path_share_waits(graph, error);
}
