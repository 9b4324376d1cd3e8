/* Opening the system: regions, locations, who holds what; no events. */
#include "analyze/path/path-system.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/regions.h"
#include "common/array.h"
#include "common/asker.h"
#include "common/parallel.h"

/* ---- threads ---- */

struct each {
    const struct cts_asker *asker;
    enum cts_status (*work)(void *state, size_t index, struct cts_error *error);
    void *state;
};

static enum cts_status work_alone(void *state, unsigned thread, size_t item,
                                  struct cts_error *error)
{
    const struct each *const each = state;
    (void)thread;
    const enum cts_status status = cts_asker_check(each->asker, error);
    return status ? status : each->work(each->state, item, error);
}

enum cts_status cts_path_for_each(const struct cts_path_system *system, size_t count,
                                  enum cts_status (*work)(void *state, size_t index,
                                                          struct cts_error *error),
                                  void *state, struct cts_error *error)
{
    struct each each = {.asker = system->options->asker, .work = work, .state = state};
    return cts_for_each(count, system->threads, work_alone, &each, error);
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
    const struct cts_path_who *const who = state;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (who[a].process != who[b].process) return who[a].process < who[b].process ? -1 : 1;
    if (who[a].stream != who[b].stream) return who[a].stream ? 1 : -1;
    return (a > b) - (a < b);
}

static enum cts_status order_processes(struct cts_path_system *system, struct cts_error *error)
{
    const struct cts_timeline *const timeline = system->timeline;
    const size_t group_count = timeline->group_count;
    uint32_t *const place = cts_array_zeroed(group_count, sizeof *place, error);
    system->process_group = cts_array_zeroed(group_count, sizeof *system->process_group, error);
    if (!place || !system->process_group) {
        free(place);
        return CTS_MEMORY;
    }
    for (uint32_t g = 0; g < group_count; g++)
        if (!timeline->groups[g].accelerator) system->process_group[system->process_count++] = g;
    qsort_r(system->process_group, system->process_count, sizeof *system->process_group, by_rank,
            (void *)(uintptr_t)timeline);
    for (uint32_t p = 0; p < system->process_count; p++) place[system->process_group[p]] = p;
    enum cts_status status = CTS_OK;
    for (uint32_t l = 0; l < system->location_count && !status; l++) {
        const uint32_t group = timeline->locations[l].process;
        if (group >= group_count || timeline->groups[group].accelerator)
            status = cts_fail(error, CTS_FORMAT, "location '%s' belongs to no process",
                              timeline->locations[l].name ? timeline->locations[l].name : "?");
        else
            system->who[l].process = place[group];
        system->who[l].stream = timeline->locations[l].kind == CTS_LOCATION_STREAM;
    }
    free(place);
    return status;
}

/* Ranks in a row for each of our processes, with about as many events each. */
static enum cts_status share_out(struct cts_path_system *system, struct cts_error *error)
{
    const unsigned total = system->processes ? system->processes->count : 1;
    system->process_owner =
        cts_array_zeroed(system->process_count, sizeof *system->process_owner, error);
    uint64_t *const events = cts_array_zeroed(system->process_count, sizeof *events, error);
    if (!system->process_owner || !events) {
        free(events);
        return CTS_MEMORY;
    }
    uint64_t all = 0, before = 0;
    for (uint32_t l = 0; l < system->location_count; l++) {
        uint64_t count = system->timeline->locations[l].event_count;
        if (count > UINT32_MAX) count = UINT32_MAX;
        events[system->who[l].process] += count + 1;
        all += count + 1;
    }
    bool crosses = false; /* streams wait across ranks: one process holds them all */
    for (uint32_t r = 0; r < system->region_count; r++) crosses |= system->regions[r].is_collective;
    for (uint32_t p = 0; p < system->process_count && !crosses; p++) {
        const uint64_t middle = before + events[p] / 2;
        system->process_owner[p] = (unsigned)((unsigned __int128)middle * total / (all ? all : 1));
        if (system->process_owner[p] >= total) system->process_owner[p] = total - 1;
        before += events[p];
    }
    free(events);
    return CTS_OK;
}

static enum cts_status identify(struct cts_path_system *system, struct cts_error *error)
{
    const struct cts_timeline *const timeline = system->timeline;
    if (timeline->location_count >= CTS_PATH_LOCATIONS_MAX)
        return cts_fail(error, CTS_LIMIT, "too many locations: %zu", timeline->location_count);
    system->location_count = (uint32_t)timeline->location_count;
    system->who = cts_array_zeroed(system->location_count, sizeof *system->who, error);
    system->by_process =
        cts_array_zeroed(system->location_count, sizeof *system->by_process, error);
    if (!system->who || !system->by_process) return CTS_MEMORY;
    enum cts_status status = order_processes(system, error);
    if (status) return status;
    if (!system->process_count)
        return cts_fail(error, CTS_FORMAT, "the trace has no process: nothing to analyse");
    system->process_first =
        cts_array_zeroed(system->process_count + 1ul, sizeof *system->process_first, error);
    if (!system->process_first) return CTS_MEMORY;
    for (uint32_t l = 0; l < system->location_count; l++) {
        system->by_process[l] = l;
        system->process_first[system->who[l].process + 1]++;
    }
    for (uint32_t p = 0; p < system->process_count; p++)
        system->process_first[p + 1] += system->process_first[p];
    qsort_r(system->by_process, system->location_count, sizeof *system->by_process, by_order,
            system->who);
    for (uint32_t i = 0; i < system->location_count; i++)
        system->who[system->by_process[i]].order = i;
    return share_out(system, error);
}

/* ---- the null stream ---- */

bool cts_path_is_null_stream(const struct cts_path_system *system, uint32_t location)
{
    const struct cts_timeline_location *const definition = &system->timeline->locations[location];
    const char *const wanted = system->options->null_stream;
    if (!wanted) return definition->null_stream;
    if (definition->name && !strcmp(definition->name, wanted)) return true;
    char *end;
    const unsigned long number = strtoul(wanted, &end, 10);
    return *wanted && !*end && definition->stream == number;
}

/* CTS_USAGE: no stream of the trace is the one that options->null_stream names. */
static enum cts_status check_null_stream(const struct cts_path_system *system,
                                         struct cts_error *error)
{
    const char *const wanted = system->options->null_stream;
    const char *first = NULL;
    if (!wanted) return CTS_OK;
    for (uint32_t l = 0; l < system->location_count; l++) {
        if (!system->who[l].stream) continue;
        if (cts_path_is_null_stream(system, l)) return CTS_OK;
        if (!first) first = system->timeline->locations[l].name;
    }
    if (!first)
        return cts_fail(error, CTS_USAGE, "the trace has no device streams: no '%s'", wanted);
    return cts_fail(error, CTS_USAGE,
                    "no device stream is called '%s' or has that number; one is '%s'", wanted,
                    first);
}

/* ---- */

enum cts_status cts_path_system_open(const struct cts_timeline *timeline,
                                     const struct cts_path_options *options,
                                     struct cts_path_system *system, struct cts_error *error)
{
    *system = (struct cts_path_system){.timeline = timeline,
                                       .options = options,
                                       .processes = options->processes,
                                       .threads = cts_thread_count(options->threads),
                                       .from_ns = options->from_ns,
                                       .to_ns = options->to_ns ? options->to_ns : UINT64_MAX};
    enum cts_status status = cts_path_regions(system, error);
    if (!status) status = identify(system, error);
    return status ? status : check_null_stream(system, error);
}

void cts_path_system_release(struct cts_path_system *system)
{
    free(system->regions);
    free(system->who);
    free(system->process_group);
    free(system->process_first);
    free(system->by_process);
    free(system->process_owner);
    *system = (struct cts_path_system){0};
}
