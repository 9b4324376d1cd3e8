/* Opening the graph: regions, locations, who holds what; no events. */
#include "analyze/path/open.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/regions.h"
#include "common/parallel.h"

/* ---- who is who ---- */

static int by_rank(const void *left, const void *right, void *state)
{
    const struct cts_timeline *const timeline = state;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const uint32_t a_rank = timeline->groups[a].rank, b_rank = timeline->groups[b].rank;
    if (a_rank != b_rank) return a_rank < b_rank ? -1 : 1;
    return (a > b) - (a < b);
}

static int by_order(const void *left, const void *right, void *state)
{
    const struct cts_path_location *const locations = state;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (locations[a].process != locations[b].process)
        return locations[a].process < locations[b].process ? -1 : 1;
    if (locations[a].stream != locations[b].stream) return locations[a].stream ? 1 : -1;
    return (a > b) - (a < b);
}

static enum cts_status order_processes(struct cts_path_graph *graph, struct cts_error *error)
{
    const struct cts_timeline *const timeline = graph->timeline;
    const size_t group_count = timeline->group_count;
    uint32_t *const place = cts_array_zeroed(group_count, sizeof *place, error);
    graph->process_group = cts_array_zeroed(group_count, sizeof *graph->process_group, error);
    if (!place || !graph->process_group) {
        free(place);
        return CTS_MEMORY;
    }
    for (uint32_t g = 0; g < group_count; g++)
        if (!timeline->groups[g].accelerator) graph->process_group[graph->process_count++] = g;
    qsort_r(graph->process_group, graph->process_count, sizeof *graph->process_group, by_rank,
            (void *)(uintptr_t)timeline);
    for (uint32_t p = 0; p < graph->process_count; p++) place[graph->process_group[p]] = p;
    enum cts_status status = CTS_OK;
    for (uint32_t l = 0; l < graph->location_count && !status; l++) {
        const uint32_t group = timeline->locations[l].process;
        if (group >= group_count || timeline->groups[group].accelerator)
            status = cts_fail(error, CTS_FORMAT, "location '%s' belongs to no process",
                              timeline->locations[l].name ? timeline->locations[l].name : "?");
        else
            graph->locations[l].process = place[group];
        graph->locations[l].stream = timeline->locations[l].kind == CTS_LOCATION_STREAM;
    }
    free(place);
    return status;
}

/* Ranks in a row for each of our processes, with about as many events each. */
static enum cts_status share_out(struct cts_path_graph *graph, struct cts_error *error)
{
    const unsigned total = graph->processes ? graph->processes->count : 1;
    graph->process_owner =
        cts_array_zeroed(graph->process_count, sizeof *graph->process_owner, error);
    uint64_t *const events = cts_array_zeroed(graph->process_count, sizeof *events, error);
    if (!graph->process_owner || !events) {
        free(events);
        return CTS_MEMORY;
    }
    uint64_t all = 0, before = 0;
    for (uint32_t l = 0; l < graph->location_count; l++) {
        uint64_t count = graph->timeline->locations[l].event_count;
        if (count > UINT32_MAX) count = UINT32_MAX;
        events[graph->locations[l].process] += count + 1;
        all += count + 1;
    }
    for (uint32_t p = 0; p < graph->process_count; p++) {
        const uint64_t middle = before + events[p] / 2;
        graph->process_owner[p] = (unsigned)((unsigned __int128)middle * total / (all ? all : 1));
        if (graph->process_owner[p] >= total) graph->process_owner[p] = total - 1;
        before += events[p];
    }
    free(events);
    return CTS_OK;
}

static enum cts_status identify(struct cts_path_graph *graph, struct cts_error *error)
{
    const struct cts_timeline *const timeline = graph->timeline;
    if (timeline->location_count >= CTS_PATH_LAUNCH)
        return cts_fail(error, CTS_LIMIT, "too many locations: %zu", timeline->location_count);
    graph->location_count = (uint32_t)timeline->location_count;
    graph->locations = cts_array_zeroed(graph->location_count, sizeof *graph->locations, error);
    graph->by_process = cts_array_zeroed(graph->location_count, sizeof *graph->by_process, error);
    if (!graph->locations || !graph->by_process) return CTS_MEMORY;
    enum cts_status status = order_processes(graph, error);
    if (status) return status;
    if (!graph->process_count)
        return cts_fail(error, CTS_FORMAT, "the trace has no process: nothing to analyse");
    graph->process_first =
        cts_array_zeroed(graph->process_count + 1ul, sizeof *graph->process_first, error);
    if (!graph->process_first) return CTS_MEMORY;
    for (uint32_t l = 0; l < graph->location_count; l++) {
        graph->by_process[l] = l;
        graph->process_first[graph->locations[l].process + 1]++;
    }
    for (uint32_t p = 0; p < graph->process_count; p++)
        graph->process_first[p + 1] += graph->process_first[p];
    qsort_r(graph->by_process, graph->location_count, sizeof *graph->by_process, by_order,
            graph->locations);
    for (uint32_t i = 0; i < graph->location_count; i++)
        graph->locations[graph->by_process[i]].order = i;
    return share_out(graph, error);
}

/* ---- the null stream ---- */

bool cts_path_is_null_stream(const struct cts_path_graph *graph, uint32_t location)
{
    const struct cts_timeline_location *const definition = &graph->timeline->locations[location];
    const char *const wanted = graph->options->null_stream;
    if (!wanted) return definition->null_stream;
    if (definition->name && !strcmp(definition->name, wanted)) return true;
    char *end;
    const unsigned long number = strtoul(wanted, &end, 10);
    return *wanted && !*end && definition->stream == number;
}

/* CTS_USAGE: no stream of the trace is the one that options->null_stream names. */
static enum cts_status check_null_stream(const struct cts_path_graph *graph,
                                         struct cts_error *error)
{
    const char *const wanted = graph->options->null_stream;
    const char *first = NULL;
    if (!wanted) return CTS_OK;
    for (uint32_t l = 0; l < graph->location_count; l++) {
        if (!graph->locations[l].stream) continue;
        if (cts_path_is_null_stream(graph, l)) return CTS_OK;
        if (!first) first = graph->timeline->locations[l].name;
    }
    if (!first)
        return cts_fail(error, CTS_USAGE, "the trace has no device streams: no '%s'", wanted);
    return cts_fail(error, CTS_USAGE,
                    "no device stream is called '%s' or has that number; one is '%s'", wanted,
                    first);
}

/* ---- */

enum cts_status cts_path_graph_open(const struct cts_path_source *source,
                                    const struct cts_path_options *options,
                                    struct cts_path_graph *graph, struct cts_error *error)
{
    *graph = (struct cts_path_graph){.source = source,
                                     .timeline = source->timeline,
                                     .options = options,
                                     .processes = options->processes,
                                     .threads = cts_thread_count(options->threads),
                                     .first_ns = UINT64_MAX,
                                     .from_ns = options->from_ns,
                                     .to_ns = options->to_ns ? options->to_ns : UINT64_MAX,
                                     .mpi_begin_ns = UINT64_MAX};
    enum cts_status status = cts_path_regions(graph, error);
    if (!status) status = identify(graph, error);
    if (!status) status = check_null_stream(graph, error);
    if (!status) {
        graph->warnings = cts_array_zeroed(CTS_PATH_WARNING_COUNT, sizeof *graph->warnings, error);
        graph->rows = cts_array_zeroed(graph->region_count, sizeof *graph->rows, error);
        graph->rank_ns = cts_array_zeroed((size_t)graph->process_count * graph->region_count,
                                          sizeof *graph->rank_ns, error);
        if (!graph->warnings || !graph->rows || !graph->rank_ns) status = CTS_MEMORY;
    }
    return status;
}
