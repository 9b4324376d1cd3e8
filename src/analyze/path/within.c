/* A part of a run: from the first enter to the last leave of an activity. The whole run is analysed
 * and what lies outside is not counted, so that the path through the part is the run's, and a wait
 * that began before counts from where the part begins. All events are read once more to find it. */
#include <stdlib.h>

#include "analyze/path/names.h"
#include "analyze/path/path-system.h"
#include "analyze/path/within.h"
#include "common/array.h"

/* Of one location. */
struct place {
    struct looking *looking;
    uint64_t now_ns;           /* clocks that go back are held */
    uint64_t begin_ns, end_ns; /* of what is wanted; UINT64_MAX, 0: not here */
    uint64_t open;             /* calls of it */
};

struct looking {
    struct cts_path_system system;
    const struct cts_path_source *source;
    bool *wanted;         /* [region] */
    uint64_t *calls;      /* [region]: not 0: it has some */
    struct place *places; /* [location] */
};

static bool on_event(void *state, uint32_t location, const struct cts_timeline_event *event,
                     const struct cts_event_attributes *attributes)
{
    struct place *const place = state;
    struct looking *const looking = place->looking;
    (void)location, (void)attributes;
    if (event->time_ns > place->now_ns) place->now_ns = event->time_ns;
    if ((event->kind != CTS_EVENT_ENTER && event->kind != CTS_EVENT_LEAVE) ||
        event->region >= looking->system.pseudo)
        return true;
    __atomic_store_n(&looking->calls[event->region], 1, __ATOMIC_RELAXED);
    if (!looking->wanted[event->region]) return true;
    if (event->kind == CTS_EVENT_ENTER) {
        if (place->now_ns < place->begin_ns) place->begin_ns = place->now_ns;
        place->open++;
    } else if (place->open) {
        place->end_ns = place->now_ns;
        place->open--;
    }
    return true;
}

static enum cts_status look(void *state, size_t index, struct cts_error *error)
{
    struct looking *const looking = state;
    const struct cts_path_system *const system = &looking->system;
    struct place *const place = &looking->places[index];
    const uint32_t location = (uint32_t)index;
    *place = (struct place){.looking = looking, .begin_ns = UINT64_MAX};
    if (system->timeline->locations[location].kind == CTS_LOCATION_METRIC ||
        !cts_path_is_mine(system, location))
        return CTS_OK;
    const enum cts_status status =
        cts_path_source_read(looking->source, location, on_event, place, error);
    if (status) return status;
    if (place->open) place->end_ns = place->now_ns;
    return CTS_OK;
}

static enum cts_status open_looking(const struct cts_path_source *source,
                                    const struct cts_path_options *options, struct looking *looking,
                                    struct cts_error *error)
{
    const enum cts_status status =
        cts_path_system_open(source->timeline, options, &looking->system, error);
    if (status) return status;
    const struct cts_path_system *const system = &looking->system;
    looking->wanted = cts_array_zeroed(system->region_count, sizeof *looking->wanted, error);
    looking->calls = cts_array_zeroed(system->region_count, sizeof *looking->calls, error);
    looking->places = cts_array_zeroed(system->location_count, sizeof *looking->places, error);
    if (!looking->wanted || !looking->calls || !looking->places) return CTS_MEMORY;
    for (uint32_t r = 0; r < system->pseudo; r++)
        looking->wanted[r] = cts_path_is_named(options->within, system->regions[r].name);
    return CTS_OK;
}

enum cts_status cts_path_find_within(const struct cts_path_source *source,
                                     struct cts_path_options *options, struct cts_error *error)
{
    const struct cts_processes *const processes = options->processes;
    struct looking looking = {.source = source};
    struct cts_path_system *const system = &looking.system;
    options->from_ns = UINT64_MAX;
    options->to_ns = 0;
    enum cts_status status = open_looking(source, options, &looking, error);
    if (!status) status = cts_path_for_each(system, system->location_count, look, &looking, error);
    if (!cts_processes_agree(processes, &status, error)) goto out;
    for (uint32_t l = 0; l < system->location_count; l++) {
        const struct place *const place = &looking.places[l];
        if (place->begin_ns < options->from_ns) options->from_ns = place->begin_ns;
        if (place->end_ns > options->to_ns) options->to_ns = place->end_ns;
    }
    cts_processes_reduce_u64(processes, &options->from_ns, 1, CTS_REDUCE_MIN);
    cts_processes_reduce_u64(processes, &options->to_ns, 1, CTS_REDUCE_MAX);
    cts_processes_reduce_u64(processes, looking.calls, system->region_count, CTS_REDUCE_OR);
    if (options->from_ns == UINT64_MAX)
        status = cts_path_unknown_name(system, looking.calls, options->within, error);
    else if (options->from_ns >= options->to_ns)
        status = cts_fail(error, CTS_USAGE, "'%s' takes no time", options->within);
out:
    free(looking.wanted);
    free(looking.calls);
    free(looking.places);
    cts_path_system_release(system);
    return status;
}
