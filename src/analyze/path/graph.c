/* Building the graph: who is who, reading, matching, waits. Between steps that need the other
 * processes all agree that they can go on. */
#include "analyze/path/graph.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/regions.h"
#include "common/parallel.h"
#include "trace/timeline/reader.h"

const char *const cts_path_warning_texts[CTS_PATH_WARNING_COUNT] = {
#define X(name, text) [CTS_PATH_WARNING_##name] = text,
    CTS_PATH_WARNING_MAP(X)
#undef X
};

static enum cts_status read_timeline(const void *state, uint32_t location, cts_timeline_visit visit,
                                     void *visit_state, struct cts_error *error)
{
    return cts_timeline_read(state, location, visit, visit_state, error);
}

static enum cts_status open_reader(const void *state, uint32_t location, void **reader,
                                   struct cts_error *error)
{
    struct cts_timeline_reader *opened = NULL;
    const enum cts_status status = cts_timeline_reader_open(state, location, &opened, error);
    *reader = opened;
    return status;
}

static bool next_event(void *reader, const struct cts_timeline_event **event,
                       const struct cts_event_attributes **attributes)
{
    return cts_timeline_reader_next(reader, event, attributes);
}

static bool was_damaged(void *reader)
{
    return cts_timeline_reader_damaged(reader);
}

static void close_reader(void *reader)
{
    cts_timeline_reader_close(reader);
}

struct cts_path_source cts_path_source_of(const struct cts_timeline *timeline)
{
    return (struct cts_path_source){.timeline = timeline,
                                    .state = timeline,
                                    .read = read_timeline,
                                    .open = open_reader,
                                    .next = next_event,
                                    .damaged = was_damaged,
                                    .close = close_reader};
}

/* ---- threads ---- */

struct each {
    size_t count;
    size_t next;
    enum cts_status (*work)(void *state, size_t index, struct cts_error *error);
    void *state;
    struct cts_error *errors; /* per thread */
    size_t *failed;           /* per thread: index of the first failure; SIZE_MAX */
};

static void run_each(void *state, unsigned thread)
{
    struct each *const each = state;
    for (;;) {
        const size_t index = __atomic_fetch_add(&each->next, 1, __ATOMIC_RELAXED);
        if (index >= each->count) return;
        if (each->work(each->state, index, &each->errors[thread])) {
            each->failed[thread] = index;
            return;
        }
    }
}

enum cts_status cts_path_for_each(const struct cts_path_graph *graph, size_t count,
                                  enum cts_status (*work)(void *state, size_t index,
                                                          struct cts_error *error),
                                  void *state, struct cts_error *error)
{
    unsigned threads = graph->threads;
    if (threads > count) threads = count ? (unsigned)count : 1;
    struct each each = {.count = count, .work = work, .state = state};
    each.errors = cts_array_zeroed(threads, sizeof *each.errors, error);
    each.failed = cts_array_zeroed(threads, sizeof *each.failed, error);
    enum cts_status status = each.errors && each.failed ? CTS_OK : CTS_MEMORY;
    if (!status) {
        for (unsigned t = 0; t < threads; t++) each.failed[t] = SIZE_MAX;
        cts_parallel(threads, run_each, &each);
        size_t first = SIZE_MAX;
        for (unsigned t = 0; t < threads; t++)
            if (each.failed[t] < first) {
                first = each.failed[t];
                status = each.errors[t].status;
                if (error) *error = each.errors[t];
            }
    }
    free(each.errors);
    free(each.failed);
    return status;
}

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
        return cts_fail(error, CTS_LIMIT, "%zu locations are too many", timeline->location_count);
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

/* ---- steps ---- */

static enum cts_status device_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    return cts_path_device_waits(graph, (uint32_t)index, error);
}

static void drop_raw(struct cts_path_location *location)
{
    struct cts_path_raw *const raw = location->raw;
    if (!raw) return;
    free(raw->sends.items);
    free(raw->receives.items);
    free(raw->members.items);
    free(raw->locks.items);
    free(raw->ops.items);
    free(raw->teams.items);
    free(raw->barriers.items);
    free(raw->forks.items);
    free(raw->thread_events.items);
    free(raw->correlations.items);
    free(raw->dependencies.items);
    free(raw);
    location->raw = NULL;
}

static enum cts_status settle_step(void *state, size_t index, struct cts_error *error)
{
    struct cts_path_graph *const graph = state;
    struct cts_path_location *const location = &graph->locations[index];
    if (!location->raw) return CTS_OK;
    const enum cts_status status = cts_path_settle(graph, (uint32_t)index, error);
    drop_raw(location);
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
    if (!status) status = cts_path_check_null_stream(graph, error);
    if (!status) {
        graph->warnings = cts_array_zeroed(CTS_PATH_WARNING_COUNT, sizeof *graph->warnings, error);
        graph->rows = cts_array_zeroed(graph->region_count, sizeof *graph->rows, error);
        if (!graph->warnings || !graph->rows) status = CTS_MEMORY;
    }
    return status;
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
    if (!status)
        status = cts_path_for_each(graph, graph->location_count, settle_step, graph, error);
    if (!cts_processes_agree(graph->processes, &status, error)) return status;
    return cts_path_share_waits(graph, error);
}

void cts_path_graph_release(struct cts_path_graph *graph)
{
    for (uint32_t l = 0; l < graph->location_count && graph->locations; l++) {
        struct cts_path_location *const location = &graph->locations[l];
        drop_raw(location);
        free(location->time_ns);
        free(location->region);
        free(location->active);
        free(location->waits.items);
        free(location->edges.items);
        free(location->jumps.items);
        free(location->activities.items);
        free(location->configs.items);
    }
    free(graph->locations);
    free(graph->regions);
    free(graph->process_group);
    free(graph->process_first);
    free(graph->by_process);
    free(graph->process_owner);
    free(graph->pools);
    free(graph->pool_edges);
    free(graph->warnings);
    free(graph->rows);
    *graph = (struct cts_path_graph){0};
}
