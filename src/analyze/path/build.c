/* Building the graph: reading, matching, waits. Between steps that need the other processes all
 * agree that they can go on. */
#include "analyze/path/build.h"

#include "analyze/path/load.h"
#include "analyze/path/polls.h"
#include "analyze/path/raw.h"
#include "analyze/path/steps.h"
#include "common/asker.h"

static enum cts_status device_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    return cts_path_device_waits(graph, (uint32_t)index, error);
}

static enum cts_status function_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    return cts_path_stream_functions(graph, (uint32_t)index, error);
}

static enum cts_status settle_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    struct cts_path_location *const location = &graph->locations[index];
    if (!location->raw) return CTS_OK;
    enum cts_status status = cts_path_join_polls(graph, (uint32_t)index, error);
    if (!status) status = cts_path_settle(graph, (uint32_t)index, error);
    cts_path_drop_raw(location);
    return status;
}

static enum cts_status turn_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    const enum cts_status status = cts_path_infer_turns(graph, (uint32_t)index, error);
    return status ? status : cts_path_infer_teams(graph, (uint32_t)index, error);
}

static enum cts_status host_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    if (!graph->locations[index].raw) return CTS_OK;
    return cts_path_host_waits(graph, (uint32_t)index, error);
}

static enum cts_status open_graph(const struct cts_path_system *system,
                                  const struct cts_path_stretch *stretch,
                                  struct cts_path_graph *graph, struct cts_error *error)
{
    *graph = (struct cts_path_graph){.system = system, .stretch = stretch};
    graph->locations = cts_array_zeroed(system->location_count, sizeof *graph->locations, error);
    if (!graph->locations) return CTS_MEMORY;
    for (uint32_t l = 0; l < system->location_count; l++) graph->locations[l].who = &system->who[l];
    return CTS_OK;
}

/* From where to where the graph goes: a stretch, to its ends. */
static enum cts_status find_ends(struct cts_path_graph *graph, struct cts_path_profile *profile,
                                 struct cts_error *error)
{
    const struct cts_path_stretch *const stretch = graph->stretch;
    cts_path_agree_on_times(graph->system, profile);
    graph->first_ns = stretch && !stretch->first ? stretch->begin_ns : profile->first_ns;
    graph->last_ns = stretch && !stretch->last ? stretch->end_ns : profile->last_ns;
    graph->is_empty = stretch && graph->first_ns > graph->last_ns;
    return stretch ? CTS_OK : cts_path_check_times(profile, error);
}

enum cts_status cts_path_graph_build(const struct cts_path_reading *reading,
                                     const struct cts_path_stretch *stretch,
                                     struct cts_path_graph *graph, struct cts_error *error)
{
    const struct cts_path_system *const system = reading->system;
    const struct cts_processes *const processes = system->processes;
    const struct cts_asker *const asker = system->options->asker;
    enum cts_status status = open_graph(system, stretch, graph, error);
    if (!status) status = cts_path_load(reading, graph, error);
    if (!status) status = cts_path_match_threads(graph, error);
    if (!status) status = cts_asker_check(asker, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = find_ends(graph, reading->profile, error);
    if (graph->is_empty) return status;
    if (!status) status = cts_path_match_messages(graph, error);
    if (!status) status = cts_asker_check(asker, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = cts_path_match_groups(graph, error);
    if (!status) status = cts_asker_check(asker, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = cts_path_match_locks(graph, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = cts_path_for_each(system, system->process_count, turn_step, graph, error);
    if (!status)
        status = cts_path_for_each(system, system->location_count, host_step, graph, error);
    if (!status) status = cts_path_unrecorded_waits(graph, error);
    if (!status)
        status = cts_path_for_each(system, system->process_count, device_step, graph, error);
    if (!status)
        status = cts_path_for_each(system, system->process_count, function_step, graph, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = cts_path_match_kernels(graph, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = cts_path_check_tracks(graph, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    status = cts_path_full_devices(graph, error);
    if (!status)
        status = cts_path_for_each(system, system->location_count, settle_step, graph, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    return cts_path_share_waits(graph, error);
}
