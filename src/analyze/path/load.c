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
        if (load->who->stream) cts_load_begin_copy(load, event, time_ns, attributes);
        break;
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING:
        if (load->who->stream) cts_load_end_copy(load, event, time_ns);
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
        if (cts_load_enter(load, time_ns, load->system->pseudo + CTS_PATH_FLUSH)) {
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
    load->counts.event_count++;
    uint64_t time_ns = event->time_ns;
    if (load->has_event && time_ns < load->last_ns) {
        load->counts.warnings[CTS_PATH_WARNING_CLOCK_BACK]++;
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
        load->counts.warnings[CTS_PATH_WARNING_OUTSIDE_CALL]++;
    else
        on_other(load, event, time_ns, attributes);
    return load->status == CTS_OK;
}

/* ---- a location ---- */

static void end_location(struct load *load)
{
    while (load->stack.count && !load->status) {
        load->counts.warnings[CTS_PATH_WARNING_ENTER_WITHOUT_LEAVE]++;
        if (!cts_load_leave_top(load, load->last_ns)) return;
    }
    load->counts.warnings[CTS_PATH_WARNING_UNMATCHED_REQUEST] += load->request_count;
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

static void add_totals(const struct load *load, struct cts_path_profile *profile)
{
    const struct cts_path_profile *const counts = &load->counts;
    const uint32_t region_count = load->system->region_count;
    uint64_t *const rank_ns = profile->rank_ns + (size_t)load->who->process * region_count;
    pthread_mutex_lock(&totals_lock);
    for (uint32_t i = 0; i < region_count; i++) {
        if (!counts->times[i].calls) continue;
        struct cts_path_time *const time = &profile->times[i];
        time->calls += counts->times[i].calls;
        time->inclusive_ns += counts->times[i].inclusive_ns;
        time->exclusive_ns += counts->times[i].exclusive_ns;
        time->on_device |= load->who->stream;
        rank_ns[i] += counts->times[i].exclusive_ns;
    }
    for (unsigned i = 0; i < CTS_PATH_WARNING_COUNT; i++)
        profile->warnings[i] += counts->warnings[i];
    profile->event_count += counts->event_count;
    profile->node_count += counts->node_count;
    if (counts->node_count) {
        if (counts->first_ns < profile->first_ns) profile->first_ns = counts->first_ns;
        if (counts->last_ns > profile->last_ns) profile->last_ns = counts->last_ns;
    }
    if (counts->mpi_begin_ns < profile->mpi_begin_ns) profile->mpi_begin_ns = counts->mpi_begin_ns;
    if (counts->mpi_end_ns > profile->mpi_end_ns) profile->mpi_end_ns = counts->mpi_end_ns;
    pthread_mutex_unlock(&totals_lock);
}

/* As stretches are read later, so that both see the same events of a damaged file. */
static enum cts_status read_one_by_one(const struct cts_path_source *source, struct load *load,
                                       struct cts_error *error)
{
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
static void read_events(const struct cts_path_source *source, struct load *load)
{
    struct cts_error problem;
    const enum cts_status status =
        load->scan ? read_one_by_one(source, load, &problem)
                   : source->read(source->state, load->id, on_event, load, &problem);
    if (!status || load->status) return;
    if (status == CTS_MEMORY || status == CTS_IO)
        load->status = cts_fail(load->error, status, "%s", problem.text);
    else
        load->counts.warnings[CTS_PATH_WARNING_DAMAGED_LOCATION]++;
}

/* Reads a location's events: into lists, or with a scan only to count and to look. */
static enum cts_status read_location(const struct cts_path_reading *reading, struct load *load)
{
    const struct cts_path_system *const system = reading->system;
    load->system = system;
    load->who = &system->who[load->id];
    load->probe = CTS_PATH_NONE;
    load->counts.mpi_begin_ns = UINT64_MAX;
    load->counts.times =
        cts_array_zeroed(system->region_count, sizeof *load->counts.times, load->error);
    load->open = cts_array_zeroed(system->region_count, sizeof *load->open, load->error);
    if (!load->counts.times || !load->open) load->status = CTS_MEMORY;
    if (!load->status) read_events(reading->source, load);
    if (!load->status) end_location(load);
    if (!load->status && load->scan) cts_scan_end(load);
    if (!load->status && !load->scan) number_members(load);
    if (!load->status) add_totals(load, reading->profile);
    free(load->stack.items);
    free(load->epochs.items);
    free(load->counts.times);
    free(load->open);
    cts_map_release(&load->requests);
    return load->status;
}

enum cts_status cts_path_scan_location(const struct cts_path_reading *reading, uint32_t id,
                                       struct cts_path_scan *scan, struct cts_error *error)
{
    struct cts_path_location empty = {0};
    return read_location(
        reading, &(struct load){.location = &empty, .id = id, .scan = scan, .error = error});
}

struct loading {
    const struct cts_path_reading *reading;
    struct cts_path_graph *graph;
    uint32_t *mine;
};

static enum cts_status load_one(void *state, size_t index, struct cts_error *error)
{
    const struct loading *const loading = state;
    const struct cts_path_graph *const graph = loading->graph;
    const uint32_t id = loading->mine[index];
    struct load load = {.location = &graph->locations[id], .id = id, .error = error};
    load.raw = load.location->raw = cts_array_zeroed(1, sizeof *load.raw, error);
    if (!load.raw) return CTS_MEMORY;
    const uint64_t expected =
        graph->stretch ? 0 : graph->system->timeline->locations[id].event_count;
    if (expected &&
        !cts_load_reserve(&load, (size_t)(expected < RESERVE_MAX ? expected : RESERVE_MAX)))
        return load.status;
    return read_location(loading->reading, &load);
}

enum cts_status cts_path_load(const struct cts_path_reading *reading, struct cts_path_graph *graph,
                              struct cts_error *error)
{
    const struct cts_path_system *const system = reading->system;
    struct loading loading = {.reading = reading, .graph = graph};
    loading.mine = cts_array_zeroed(system->location_count, sizeof *loading.mine, error);
    if (!loading.mine) return CTS_MEMORY;
    size_t count = 0;
    for (uint32_t i = 0; i < system->location_count; i++) {
        const enum cts_location_kind kind = system->timeline->locations[i].kind;
        if (kind != CTS_LOCATION_METRIC && cts_path_is_mine(system, i)) loading.mine[count++] = i;
    }
    const enum cts_status status = cts_path_for_each(system, count, load_one, &loading, error);
    free(loading.mine);
    return status;
}
