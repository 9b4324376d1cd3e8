/* A stretch goes from one cut (scan.h) to the next. Each process is cut at the enter of its call,
 * so that a stretch begins and ends at another time on each:
 *
 *     rank 0   ----[ enter . . . . wait . . . L . leave ]----
 *     rank 1   ------------------------[ enter=L . leave ]---     L: the last to come
 *
 * The stretch before ends at L: the call is there, with its wait, and leaves at L. The stretch
 * behind has the call once more, from its true enter on, since the time from L to the leave is
 * transfer that belongs to it; its wait, which ends at L, counts only before. Regions that are open
 * at a cut are left at its end and entered again.
 *
 * Memory: the nodes of the largest stretch, what is open, and 56 bytes for each candidate. */
#include "analyze/path/stretches.h"

#include <stdlib.h>

#include "analyze/path/load.h"
#include "analyze/path/scan.h"

/* A cut that was chosen. */
struct chosen {
    uint64_t latest_ns;
    uint32_t location; /* who came last */
    size_t candidate;
};

/* What is left of a location between two stretches. */
struct place {
    void *reader;
    CTS_PATH_LIST(uint32_t, open); /* regions, outermost first */
    struct cts_timeline_event held[2];
    unsigned held_count;
    uint64_t index, last_ns; /* events read; the time of the last */
    uint64_t begin_ns;       /* of the stretch at hand, here */
    struct cts_timeline_event next;
    struct cts_event_attributes next_attributes;
    bool has_next, has_attributes, ended;
};

struct cts_path_stretches {
    const struct cts_path_system *system;
    const struct cts_path_source *source;
    struct cts_path_cuts *cuts; /* [process], of own ranks */
    CTS_PATH_LIST(struct chosen, chosen);
    struct place *places; /* [location] */
    struct cts_map *known, *launched;
    uint64_t *rank_first_ns; /* [process] */
    size_t at;               /* of the next stretch */
    bool alone;
};

/* ---- scanning ---- */

struct scanning {
    const struct cts_path_reading *reading;
    struct cts_path_cuts *cuts;
    uint64_t *rank_first_ns;
    uint32_t *mine;
    uint32_t world;
    bool first; /* threads of processes; else all others */
};

/* NONE: a process without locations. */
static uint32_t first_thread(const struct cts_path_system *system, uint32_t process)
{
    const uint32_t first = system->process_first[process];
    return first < system->process_first[process + 1] ? system->by_process[first] : CTS_PATH_NONE;
}

static bool is_own(const struct cts_path_system *system, uint32_t process)
{
    const uint32_t first = first_thread(system, process);
    return first != CTS_PATH_NONE && cts_path_is_mine(system, first);
}

static bool has_one_device(const struct cts_path_system *system, uint32_t process)
{
    uint32_t device = 0;
    bool any = false;
    for (uint32_t i = system->process_first[process]; i < system->process_first[process + 1]; i++) {
        const uint32_t id = system->by_process[i];
        if (!system->who[id].stream) continue;
        const uint32_t own = system->timeline->locations[id].device;
        if (any && own != device) return false;
        device = own;
        any = true;
    }
    return true;
}

static enum cts_status scan_one(void *state, size_t index, struct cts_error *error)
{
    const struct scanning *const scanning = state;
    const struct cts_path_system *const system = scanning->reading->system;
    const uint32_t id = scanning->mine[index], process = system->who[id].process;
    struct cts_path_scan scan = {.cuts = &scanning->cuts[process],
                                 .first = scanning->first,
                                 .alone = system->process_count == 1,
                                 .one_device = has_one_device(system, process),
                                 .world = scanning->world,
                                 .at_node = CTS_PATH_NONE};
    const enum cts_status status = cts_path_scan_location(scanning->reading, id, &scan, error);
    uint64_t *const first_ns = &scanning->rank_first_ns[process];
    uint64_t now_ns = __atomic_load_n(first_ns, __ATOMIC_RELAXED);
    while (!status && scan.first_ns < now_ns &&
           !__atomic_compare_exchange_n(first_ns, &now_ns, scan.first_ns, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    cts_path_scan_release(&scan);
    return status;
}

/* A communicator of all processes: MPI_COMM_WORLD, or the first that has as many. */
static uint32_t world_of(const struct cts_path_system *system)
{
    const struct cts_timeline *const timeline = system->timeline;
    if (timeline->world < timeline->communicator_count &&
        timeline->communicators[timeline->world].rank_count == system->process_count)
        return timeline->world;
    for (uint32_t i = 0; i < timeline->communicator_count; i++)
        if (timeline->communicators[i].paradigm == CTS_PARADIGM_MPI &&
            !timeline->communicators[i].self && !timeline->communicators[i].group &&
            !timeline->communicators[i].remote_ranks &&
            timeline->communicators[i].rank_count == system->process_count)
            return i;
    return CTS_PATH_NONE;
}

static enum cts_status scan_all(struct cts_path_stretches *s,
                                const struct cts_path_reading *reading, struct cts_error *error)
{
    const struct cts_path_system *const system = reading->system;
    struct scanning scanning = {.reading = reading,
                                .cuts = s->cuts,
                                .rank_first_ns = s->rank_first_ns,
                                .world = world_of(system)};
    for (uint32_t p = 0; p < system->process_count; p++) s->rank_first_ns[p] = UINT64_MAX;
    scanning.mine = cts_array_zeroed(system->location_count, sizeof *scanning.mine, error);
    if (!scanning.mine) return CTS_MEMORY;
    enum cts_status status = CTS_OK;
    for (int pass = 0; pass < 2 && !status; pass++) {
        size_t count = 0;
        scanning.first = pass == 0;
        for (uint32_t l = 0; l < system->location_count; l++)
            if (system->timeline->locations[l].kind != CTS_LOCATION_METRIC &&
                cts_path_is_mine(system, l) &&
                (first_thread(system, system->who[l].process) == l) == scanning.first)
                scanning.mine[count++] = l;
        status = cts_path_for_each(system, count, scan_one, &scanning, error);
    }
    free(scanning.mine);
    return status;
}

/* ---- choosing ---- */

/* All processes at each candidate; one array each, to be reduced. */
struct table {
    uint64_t *latest, *earliest_leave, *balance, *unclean, *events, *location, *latest_count;
    size_t count;
};

static enum cts_status fill_table(const struct cts_path_stretches *s, struct table *t,
                                  struct cts_error *error)
{
    const struct cts_path_system *const system = s->system;
    t->count = UINT64_MAX;
    for (uint32_t p = 0; p < system->process_count; p++)
        if (is_own(system, p) && s->cuts[p].count < t->count) t->count = s->cuts[p].count;
    uint64_t count = t->count;
    cts_processes_reduce_u64(system->processes, &count, 1, CTS_REDUCE_MIN);
    t->count = count == UINT64_MAX ? 0 : (size_t)count;
    uint64_t **const arrays[] = {&t->latest, &t->earliest_leave, &t->balance,     &t->unclean,
                                 &t->events, &t->location,       &t->latest_count};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = cts_array_zeroed(t->count, sizeof **arrays[i], error);
        if (!*arrays[i]) return CTS_MEMORY;
    }
    for (size_t i = 0; i < t->count; i++) t->earliest_leave[i] = UINT64_MAX;
    for (uint32_t p = 0; p < system->process_count; p++) {
        if (!is_own(system, p)) continue;
        for (size_t i = 0; i < t->count; i++) {
            const struct cts_path_cut *const cut = &s->cuts[p].items[i];
            if (cut->enter_ns > t->latest[i]) t->latest[i] = cut->enter_ns;
            if (cut->leave_ns < t->earliest_leave[i]) t->earliest_leave[i] = cut->leave_ns;
            t->balance[i] += cut->balance;
            t->unclean[i] += cut->unclean || cut->works;
            t->events[i] += cut->events;
        }
    }
    return CTS_OK;
}

static void reduce_table(const struct cts_path_stretches *s, struct table *t)
{
    const struct cts_path_system *const system = s->system;
    cts_processes_reduce_u64(system->processes, t->latest, t->count, CTS_REDUCE_MAX);
    cts_processes_reduce_u64(system->processes, t->earliest_leave, t->count, CTS_REDUCE_MIN);
    cts_processes_reduce_u64(system->processes, t->balance, t->count, CTS_REDUCE_SUM);
    cts_processes_reduce_u64(system->processes, t->unclean, t->count, CTS_REDUCE_SUM);
    cts_processes_reduce_u64(system->processes, t->events, t->count, CTS_REDUCE_SUM);
    for (uint32_t p = 0; p < system->process_count; p++) {
        if (!is_own(system, p)) continue;
        for (size_t i = 0; i < t->count; i++) {
            if (s->cuts[p].items[i].enter_ns != t->latest[i]) continue;
            t->latest_count[i]++;
            t->location[i] = first_thread(system, p);
        }
    }
    cts_processes_reduce_u64(system->processes, t->latest_count, t->count, CTS_REDUCE_SUM);
    cts_processes_reduce_u64(system->processes, t->location, t->count, CTS_REDUCE_MAX);
}

/* The first good candidate after as many events as a stretch shall have. */
static enum cts_status choose(struct cts_path_stretches *s, const struct table *t,
                              uint64_t window_events, struct cts_error *error)
{
    uint64_t before = 0, before_ns = 0;
    for (size_t i = 0; i < t->count; i++) {
        const bool left_later = s->alone || t->earliest_leave[i] > t->latest[i];
        if (t->unclean[i] || t->balance[i] || t->latest_count[i] != 1 || !left_later ||
            t->events[i] - before < window_events || t->latest[i] <= before_ns)
            continue;
        if (CTS_ARRAY_RESERVE(&s->chosen, s->chosen.count + 1, error)) return CTS_MEMORY;
        s->chosen.items[s->chosen.count++] =
            (struct chosen){t->latest[i], (uint32_t)t->location[i], i};
        before = t->events[i];
        before_ns = t->latest[i];
    }
    return CTS_OK;
}

static void release_table(struct table *t)
{
    free(t->latest);
    free(t->earliest_leave);
    free(t->balance);
    free(t->unclean);
    free(t->events);
    free(t->location);
    free(t->latest_count);
}

/* ---- the events of a stretch ---- */

static const struct cts_path_cut *cut_of(const struct cts_path_stretches *s, uint32_t location,
                                         size_t stretch)
{
    if (stretch >= s->chosen.count) return NULL;
    return &s->cuts[s->system->who[location].process].items[s->chosen.items[stretch].candidate];
}

/* The next event of a location, its time not before the last. */
static bool peek(const struct cts_path_stretches *s, uint32_t location)
{
    struct place *const place = &s->places[location];
    if (place->has_next || place->ended) return place->has_next;
    const struct cts_timeline_event *event;
    const struct cts_event_attributes *attributes;
    if (!s->source->next(place->reader, &event, &attributes)) {
        place->ended = true;
        return false;
    }
    place->next = *event;
    place->has_attributes = attributes != NULL;
    if (attributes) place->next_attributes = *attributes;
    if (place->next.time_ns < place->last_ns) place->next.time_ns = place->last_ns;
    place->last_ns = place->next.time_ns;
    place->has_next = true;
    return true;
}

/* Follows the regions that are open, as reading does. */
static enum cts_status track(const struct cts_path_stretches *s, struct place *place,
                             const struct cts_timeline_event *event, struct cts_error *error)
{
    if (event->kind == CTS_EVENT_ENTER && event->region < s->system->pseudo) {
        if (CTS_ARRAY_RESERVE(&place->open, place->open.count + 1, error)) return CTS_MEMORY;
        place->open.items[place->open.count++] = event->region;
    }
    if (event->kind != CTS_EVENT_LEAVE) return CTS_OK;
    size_t at = place->open.count;
    while (at > 0 && place->open.items[at - 1] != event->region) at--;
    if (at > 0) place->open.count = at - 1;
    return CTS_OK;
}

struct visit {
    const struct cts_path_stretches *s;
    uint32_t location;
    cts_timeline_visit function;
    void *state;
};

static bool give(const struct visit *visit, const struct cts_timeline_event *event,
                 const struct cts_event_attributes *attributes)
{
    return visit->function(visit->state, visit->location, event, attributes);
}

/* Regions that were open where the stretch before ended, and what was read too far. */
static bool resume(const struct visit *visit, struct place *place)
{
    for (size_t i = 0; i < place->open.count; i++) {
        const struct cts_timeline_event enter = {
            .time_ns = place->begin_ns, .kind = CTS_EVENT_ENTER, .region = place->open.items[i]};
        if (!give(visit, &enter, NULL)) return false;
    }
    for (unsigned i = 0; i < place->held_count; i++)
        if (!give(visit, &place->held[i], NULL)) return false;
    place->held_count = 0;
    return true;
}

/* The call of all is entered: it ends here, at the time of the cut, and goes on in the next. */
static bool pause(const struct visit *visit, struct place *place, uint64_t latest_ns)
{
    const struct cts_path_stretches *const s = visit->s;
    while (!s->alone && place->held_count < 2 && peek(s, visit->location)) {
        place->held[place->held_count++] = place->next;
        place->has_next = false;
        place->index++;
        if (place->next.kind != CTS_EVENT_MPI_COLLECTIVE_END) continue;
        struct cts_timeline_event end = place->next;
        end.time_ns = latest_ns;
        if (!give(visit, &end, NULL)) return false;
        break;
    }
    for (size_t i = place->open.count; i-- > 0;) {
        const struct cts_timeline_event leave = {
            .time_ns = latest_ns, .kind = CTS_EVENT_LEAVE, .region = place->open.items[i]};
        if (!give(visit, &leave, NULL)) return false;
    }
    return true;
}

static enum cts_status read_stretch(const void *state, uint32_t location,
                                    cts_timeline_visit function, void *visit_state,
                                    struct cts_error *error)
{
    const struct cts_path_stretches *const s = state;
    struct place *const place = &s->places[location];
    const struct cts_path_cut *const cut = cut_of(s, location, s->at - 1);
    const bool first = first_thread(s->system, s->system->who[location].process) == location;
    const struct visit visit = {s, location, function, visit_state};
    if (!place->reader && !place->ended) {
        const enum cts_status status =
            s->source->open(s->source->state, location, &place->reader, error);
        place->ended = status != CTS_OK;
        if (status) return status;
    }
    bool on = resume(&visit, place);
    while (on && peek(s, location)) {
        if (cut && !first && place->next.time_ns >= cut->enter_ns) break;
        const uint64_t index = place->index++;
        place->has_next = false;
        const enum cts_status status = track(s, place, &place->next, error);
        if (status) return status;
        on = give(&visit, &place->next, place->has_attributes ? &place->next_attributes : NULL);
        if (!on || !cut || !first || index != cut->index) continue;
        on = pause(&visit, place, s->chosen.items[s->at - 1].latest_ns);
        break;
    }
    place->begin_ns = cut ? cut->enter_ns : 0;
    struct cts_error problem; /* damage has been counted when the stretches were made */
    const enum cts_status ended =
        place->ended && place->reader ? s->source->end(place->reader, &problem) : CTS_OK;
    return ended == CTS_IO || ended == CTS_MEMORY ? cts_fail(error, ended, "%s", problem.text)
                                                  : CTS_OK;
}

bool cts_path_stretches_next(struct cts_path_stretches *s, struct cts_path_stretch *stretch,
                             struct cts_path_source *source)
{
    if (s->at > s->chosen.count) return false;
    const size_t at = s->at++;
    *stretch = (struct cts_path_stretch){.first = at == 0,
                                         .last = at == s->chosen.count,
                                         .known = s->known,
                                         .launched = s->launched,
                                         .rank_first_ns = s->rank_first_ns};
    if (at > 0) stretch->begin_ns = s->chosen.items[at - 1].latest_ns;
    if (!stretch->last) {
        stretch->end_ns = s->chosen.items[at].latest_ns;
        stretch->end_location = s->chosen.items[at].location;
    }
    *source =
        (struct cts_path_source){.timeline = s->system->timeline, .state = s, .read = read_stretch};
    return true;
}

/* ---- */

enum cts_status cts_path_stretches_open(const struct cts_path_reading *reading,
                                        struct cts_path_stretches **stretches,
                                        struct cts_error *error)
{
    const struct cts_path_system *const system = reading->system;
    struct cts_path_stretches *const s = cts_array_zeroed(1, sizeof *s, error);
    *stretches = s;
    if (!s) return CTS_MEMORY;
    s->system = system;
    s->source = reading->source;
    s->alone = system->process_count == 1;
    s->cuts = cts_array_zeroed(system->process_count, sizeof *s->cuts, error);
    s->known = cts_array_zeroed(system->process_count, sizeof *s->known, error);
    s->launched = cts_array_zeroed(system->process_count, sizeof *s->launched, error);
    s->places = cts_array_zeroed(system->location_count, sizeof *s->places, error);
    s->rank_first_ns = cts_array_zeroed(system->process_count, sizeof *s->rank_first_ns, error);
    enum cts_status status =
        s->cuts && s->known && s->launched && s->places && s->rank_first_ns ? CTS_OK : CTS_MEMORY;
    if (!status && !s->source->next)
        status = cts_fail(error, CTS_USAGE, "this timeline cannot be analysed in windows");
    if (!status) status = scan_all(s, reading, error);
    if (!cts_processes_agree(system->processes, &status, error)) return status;
    struct table table = {0};
    status = fill_table(s, &table, error);
    if (cts_processes_agree(system->processes, &status, error)) {
        reduce_table(s, &table);
        status = choose(s, &table, system->options->window_events, error);
    }
    release_table(&table);
    return status;
}

void cts_path_stretches_close(struct cts_path_stretches *s)
{
    if (!s) return;
    for (uint32_t l = 0; s->places && l < s->system->location_count; l++) {
        if (s->places[l].reader) s->source->close(s->places[l].reader);
        free(s->places[l].open.items);
    }
    for (uint32_t p = 0; p < s->system->process_count; p++) {
        if (s->cuts) free(s->cuts[p].items);
        if (s->known) cts_map_release(&s->known[p]);
        if (s->launched) cts_map_release(&s->launched[p]);
    }
    free(s->cuts);
    free(s->known);
    free(s->launched);
    free(s->rank_first_ns);
    free(s->places);
    free(s->chosen.items);
    free(s);
}
