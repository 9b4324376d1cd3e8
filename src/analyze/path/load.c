/* Reading: the events of a location become nodes; what depends on others becomes raw lists.
 * Locations are read by several threads at once; what they count is added up at the end of each.
 *
 * The same reading without keeping anything, a *scan*, goes before the analysis of a long timeline
 * in stretches (scan.c). */
#include <pthread.h>
#include <stdlib.h>

#include "analyze/path/load.h"
#include "analyze/path/scan.h"

enum { RESERVE_MAX = 1 << 22 };

/* ---- events ---- */

static void on_thread_event(struct load *load, const struct cts_timeline_event *event,
                            uint64_t time_ns)
{
    uint32_t node = (uint32_t)load->location->count;
    if (event->kind == CTS_EVENT_THREAD_WAIT)
        node = cts_load_top_node(load);
    else if (event->kind != CTS_EVENT_THREAD_BEGIN)
        node = node ? node - 1 : CTS_PATH_NONE;
    const uint64_t key =
        (uint64_t)event->thread.communicator << 32 | (uint32_t)event->thread.sequence;
    if (load->scan) cts_scan_thread(load, event->kind, key);
    (void)APPEND(load, thread_events,
                 (struct cts_path_thread_event){time_ns, key, event->kind, node});
}

static bool needs_call(enum cts_timeline_event_kind kind)
{
    return kind >= CTS_EVENT_MPI_SEND && kind <= CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE;
}

static void on_other(struct load *load, const struct cts_timeline_event *event, uint64_t time_ns,
                     const struct cts_event_attributes *attributes)
{
    struct cts_path_location *const at = load->location;
    const uint32_t last = at->count ? (uint32_t)at->count - 1 : CTS_PATH_NONE;
    switch (event->kind) {
    case CTS_EVENT_RMA_COLLECTIVE_END:
    case CTS_EVENT_RMA_GROUP_SYNC:
    case CTS_EVENT_RMA_ACQUIRE_LOCK:
    case CTS_EVENT_RMA_RELEASE_LOCK:
        cts_load_window(load, event);
        break;
    case CTS_EVENT_RMA_GET:
    case CTS_EVENT_RMA_PUT:
        if (at->stream) cts_load_begin_copy(load, event, time_ns, attributes);
        break;
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING:
        if (at->stream) cts_load_end_copy(load, event, time_ns);
        break;
    case CTS_EVENT_THREAD_FORK:
        if (load->scan) cts_scan_fork(load, true);
        (void)APPEND(load, forks, (struct cts_path_fork){time_ns, 0, last});
        break;
    case CTS_EVENT_THREAD_JOIN:
        if (load->scan) cts_scan_fork(load, false);
        break;
    case CTS_EVENT_THREAD_TEAM_BEGIN:
        cts_load_begin_team(load, time_ns, 0, event->thread.communicator, (uint32_t)at->count);
        break;
    case CTS_EVENT_THREAD_TEAM_END:
        cts_load_end_team(load, time_ns);
        break;
    case CTS_EVENT_THREAD_CREATE:
    case CTS_EVENT_THREAD_BEGIN:
    case CTS_EVENT_THREAD_WAIT:
    case CTS_EVENT_THREAD_END:
        on_thread_event(load, event, time_ns);
        break;
    case CTS_EVENT_BUFFER_FLUSH:
        if (cts_load_enter(load, time_ns, load->graph->pseudo + CTS_PATH_FLUSH)) {
            const uint64_t end_ns = event->flush.end_ns > time_ns ? event->flush.end_ns : time_ns;
            load->last_ns = end_ns;
            if (load->scan) cts_scan_flush(load, end_ns);
            (void)cts_load_leave(load, load->stack.count - 1, end_ns);
        }
        break;
    default:
        cts_load_message(load, event);
        break;
    }
}

static bool on_event(void *state, uint32_t id, const struct cts_timeline_event *event,
                     const struct cts_event_attributes *attributes)
{
    struct load *const load = state;
    (void)id;
    load->event_count++;
    uint64_t time_ns = event->time_ns;
    if (load->has_event && time_ns < load->last_ns) {
        load->warnings[CTS_PATH_WARNING_CLOCK_BACK]++;
        time_ns = load->last_ns;
    }
    load->has_event = true;
    load->last_ns = time_ns;
    if (load->scan) cts_scan_event(load, time_ns);
    if (event->kind == CTS_EVENT_ENTER)
        cts_load_on_enter(load, event, time_ns, attributes);
    else if (event->kind == CTS_EVENT_LEAVE)
        cts_load_on_leave(load, event, time_ns, attributes);
    else if (needs_call(event->kind) && !load->stack.count)
        load->warnings[CTS_PATH_WARNING_OUTSIDE_CALL]++;
    else
        on_other(load, event, time_ns, attributes);
    return load->status == CTS_OK;
}

/* ---- a location ---- */

static void end_location(struct load *load)
{
    while (load->stack.count && !load->status) {
        load->warnings[CTS_PATH_WARNING_ENTER_WITHOUT_LEAVE]++;
        if (!cts_load_leave_top(load, load->last_ns)) return;
    }
    load->warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST] += load->request_count;
}

/* The i-th collective of a communicator is the same one everywhere, in the order of beginning. */
static void number_members(struct load *load)
{
    struct cts_map counts = {0};
    for (size_t i = 0; i < load->raw->members.count && !load->status; i++) {
        struct cts_path_member *const member = &load->raw->members.items[i];
        if (member->key == UINT64_MAX) continue;
        uint64_t *const count = cts_map_at(&counts, member->key, load->error);
        if (!count)
            load->status = CTS_MEMORY;
        else
            member->order = (uint32_t)(*count)++;
    }
    cts_map_release(&counts);
}

static pthread_mutex_t totals_lock = PTHREAD_MUTEX_INITIALIZER;

static void add_totals(const struct load *load)
{
    struct cts_path_graph *const graph = load->graph;
    pthread_mutex_lock(&totals_lock);
    for (uint32_t i = 0; i < graph->region_count; i++) {
        if (!load->rows[i].calls) continue;
        struct cts_path_row *const row = &graph->rows[i];
        row->calls += load->rows[i].calls;
        row->inclusive_ns += load->rows[i].inclusive_ns;
        row->exclusive_ns += load->rows[i].exclusive_ns;
        graph->rank_ns[(size_t)load->location->process * graph->region_count + i] +=
            load->rows[i].exclusive_ns;
        if (load->location->stream) row->where = CTS_PATH_ON_DEVICE;
    }
    for (unsigned i = 0; i < CTS_PATH_WARNING_COUNT; i++) graph->warnings[i] += load->warnings[i];
    graph->event_count += load->event_count;
    graph->node_count += load->node_count;
    if (load->node_count) {
        if (load->first_ns < graph->first_ns) graph->first_ns = load->first_ns;
        if (load->node_ns > graph->last_ns) graph->last_ns = load->node_ns;
    }
    if (load->mpi_begin_ns < graph->mpi_begin_ns) graph->mpi_begin_ns = load->mpi_begin_ns;
    if (load->mpi_end_ns > graph->mpi_end_ns) graph->mpi_end_ns = load->mpi_end_ns;
    pthread_mutex_unlock(&totals_lock);
}

/* As stretches are read later, so that both see the same events of a damaged file. */
static enum cts_status read_one_by_one(struct load *load, struct cts_error *error)
{
    const struct cts_path_source *const source = load->graph->source;
    const struct cts_timeline_event *event;
    const struct cts_event_attributes *attributes;
    void *reader = NULL;
    enum cts_status status = source->open(source->state, load->id, &reader, error);
    if (status) return status;
    bool on = true;
    while (on && source->next(reader, &event, &attributes))
        on = on_event(load, load->id, event, attributes);
    if (on) status = source->end(reader, error);
    source->close(reader);
    return status;
}

/* A file that is missing or damaged is read as far as it goes; one that the system refuses to read
 * is a failure. */
static void read_events(struct load *load)
{
    const struct cts_path_source *const source = load->graph->source;
    struct cts_error problem;
    const enum cts_status status =
        load->scan ? read_one_by_one(load, &problem)
                   : source->read(source->state, load->id, on_event, load, &problem);
    if (!status || load->status) return;
    if (status == CTS_MEMORY || status == CTS_IO)
        load->status = cts_fail(load->error, status, "%s", problem.text);
    else
        load->warnings[CTS_PATH_WARNING_DAMAGED_LOCATION]++;
}

/* Reads a location's events: into lists, or with a scan only to count and to look. */
static enum cts_status read_location(struct cts_path_graph *graph, uint32_t id,
                                     struct cts_path_scan *scan, struct cts_error *error)
{
    struct load load = {.graph = graph,
                        .location = &graph->locations[id],
                        .id = id,
                        .scan = scan,
                        .probe = CTS_PATH_NONE,
                        .mpi_begin_ns = UINT64_MAX,
                        .error = error};
    if (!scan) {
        load.raw = load.location->raw = cts_array_zeroed(1, sizeof *load.raw, error);
        if (!load.raw) load.status = CTS_MEMORY;
    }
    load.rows = cts_array_zeroed(graph->region_count, sizeof *load.rows, error);
    load.open = cts_array_zeroed(graph->region_count, sizeof *load.open, error);
    if (!load.rows || !load.open) load.status = CTS_MEMORY;
    const uint64_t expected = graph->stretch ? 0 : graph->timeline->locations[id].event_count;
    if (!load.status && expected && !scan)
        (void)cts_load_reserve(&load, (size_t)(expected < RESERVE_MAX ? expected : RESERVE_MAX));
    if (!load.status) read_events(&load);
    if (!load.status) end_location(&load);
    if (!load.status && scan) cts_scan_end(&load);
    if (!load.status && !scan) number_members(&load);
    if (!load.status) add_totals(&load);
    free(load.stack.items);
    free(load.epochs.items);
    free(load.rows);
    free(load.open);
    cts_map_release(&load.requests);
    return load.status;
}

enum cts_status cts_path_scan_location(struct cts_path_graph *graph, uint32_t id,
                                       struct cts_path_scan *scan, struct cts_error *error)
{
    return read_location(graph, id, scan, error);
}

struct loading {
    struct cts_path_graph *graph;
    uint32_t *mine;
};

static enum cts_status load_one(void *state, size_t index, struct cts_error *error)
{
    const struct loading *const loading = state;
    return read_location(loading->graph, loading->mine[index], NULL, error);
}

enum cts_status cts_path_load(struct cts_path_graph *graph, struct cts_error *error)
{
    struct loading loading = {.graph = graph};
    loading.mine = cts_array_zeroed(graph->location_count, sizeof *loading.mine, error);
    if (!loading.mine) return CTS_MEMORY;
    size_t count = 0;
    for (uint32_t i = 0; i < graph->location_count; i++) {
        const enum cts_location_kind kind = graph->timeline->locations[i].kind;
        if (kind != CTS_LOCATION_METRIC && cts_path_is_mine(graph, i)) loading.mine[count++] = i;
    }
    const enum cts_status status = cts_path_for_each(graph, count, load_one, &loading, error);
    free(loading.mine);
    return status;
}
