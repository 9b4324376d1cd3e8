/* Projections: the recording checked against its own replay, the changes that were asked for, and
 * the list of what an optimisation of each activity would gain. Several processes each hold the
 * whole graph and share the projections of that list. */
#include "analyze/path/api.h"
#include "analyze/path/whatif.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/path/build.h"
#include "analyze/path/whatif-project.h"

enum { TARGETS_DEFAULT = 100 };

/* ---- targets ---- */

struct targets {
    const struct cts_whatif_plan *plan;
    struct cts_whatif_target *items;
    size_t count;
    const struct cts_processes *processes;
};

/* The runtime alone. */
static enum cts_status replay_runtime(const struct cts_whatif_plan *plan,
                                      const struct cts_whatif_factors *factors,
                                      uint64_t *runtime_ns, struct cts_error *error)
{
    struct cts_whatif_replay replay = {.plan = plan, .factors = factors->lists};
    replay.time_ns = cts_array_zeroed(plan->node_count, sizeof(uint64_t), error);
    const enum cts_status status = replay.time_ns ? cts_whatif_replay(&replay, error) : CTS_MEMORY;
    if (!status) *runtime_ns = cts_whatif_runtime_of(plan->graph, replay.last_ns);
    free(replay.time_ns);
    return status;
}

static enum cts_status try_target(void *state, size_t index, struct cts_error *error)
{
    struct targets *const targets = state;
    const struct cts_path_graph *const graph = targets->plan->graph;
    struct cts_whatif_target *const target = &targets->items[index / 2];
    const struct cts_processes *const processes = targets->processes;
    if (processes && index % processes->count != processes->rank) return CTS_OK;
    struct cts_whatif_factors factors = {0};
    enum cts_status status = cts_whatif_open_factors(graph->system, &factors, error);
    for (uint32_t p = 0; p < graph->system->process_count && !status; p++)
        factors.values[(size_t)p * graph->system->region_count + target->region] =
            index % 2 ? 0 : 0.5;
    if (!status)
        status = replay_runtime(targets->plan, &factors,
                                index % 2 ? &target->none_ns : &target->half_ns, error);
    cts_whatif_close_factors(&factors);
    return status;
}

static int by_exclusive(const void *left, const void *right)
{
    const struct cts_whatif_target *const a = left, *const b = right;
    const uint64_t a_ns = a->exclusive_ns > a->path_ns ? a->exclusive_ns : a->path_ns;
    const uint64_t b_ns = b->exclusive_ns > b->path_ns ? b->exclusive_ns : b->path_ns;
    if (a_ns != b_ns) return a_ns > b_ns ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

static int by_gain(const void *left, const void *right)
{
    const struct cts_whatif_target *const a = left, *const b = right;
    if (a->half_ns != b->half_ns) return a->half_ns < b->half_ns ? -1 : 1;
    if (a->none_ns != b->none_ns) return a->none_ns < b->none_ns ? -1 : 1;
    return by_exclusive(left, right);
}

/* Of what each process has projected: zero elsewhere. */
static enum cts_status share_targets(struct targets *targets, struct cts_error *error)
{
    uint64_t *const times_ns = cts_array_zeroed(2 * targets->count, sizeof *times_ns, error);
    enum cts_status status = times_ns ? CTS_OK : CTS_MEMORY;
    if (cts_processes_agree(targets->processes, &status, error)) {
        for (size_t i = 0; i < targets->count; i++) {
            times_ns[2 * i] = targets->items[i].half_ns;
            times_ns[2 * i + 1] = targets->items[i].none_ns;
        }
        cts_processes_reduce_u64(targets->processes, times_ns, 2 * targets->count, CTS_REDUCE_MAX);
        for (size_t i = 0; i < targets->count; i++) {
            targets->items[i].half_ns = times_ns[2 * i];
            targets->items[i].none_ns = times_ns[2 * i + 1];
        }
    }
    free(times_ns);
    return status;
}

static enum cts_status find_targets(const struct cts_whatif_plan *plan,
                                    const struct cts_path_time *times, const uint64_t *path_ns,
                                    struct cts_whatif *result, struct cts_error *error)
{
    const struct cts_path_system *const system = plan->graph->system;
    const size_t limit =
        plan->options->target_limit ? plan->options->target_limit : TARGETS_DEFAULT;
    struct targets targets = {.plan = plan, .processes = plan->options->path.processes};
    targets.items = cts_array_zeroed(system->region_count, sizeof *targets.items, error);
    enum cts_status status = targets.items ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(targets.processes, &status, error)) {
        free(targets.items);
        return status;
    }
    for (uint32_t r = 0; r < system->region_count; r++)
        if ((times[r].calls && times[r].exclusive_ns) || path_ns[r])
            targets.items[targets.count++] =
                (struct cts_whatif_target){.region = r,
                                           .calls = times[r].calls,
                                           .exclusive_ns = times[r].exclusive_ns,
                                           .path_ns = path_ns[r]};
    qsort(targets.items, targets.count, sizeof *targets.items, by_exclusive);
    if (targets.count > limit) {
        result->notes.target_left = targets.count - limit;
        result->notes.target_left_ns = targets.items[limit].exclusive_ns;
        targets.count = limit;
    }
    result->targets = targets.items;
    result->target_count = targets.count;
    status = cts_path_for_each(system, 2 * targets.count, try_target, &targets, error);
    if (cts_processes_agree(targets.processes, &status, error))
        status = share_targets(&targets, error);
    result->notes.projections += 2 * targets.count;
    if (!status) qsort(targets.items, targets.count, sizeof *targets.items, by_gain);
    return status;
}

/* ---- all ---- */

/* Unaltered, every node must have its recorded time. */
static enum cts_status check(const struct cts_whatif_plan *plan, struct cts_whatif_notes *notes,
                             struct cts_error *error)
{
    const struct cts_path_graph *const graph = plan->graph;
    struct cts_whatif_factors factors = {0};
    struct cts_whatif_replay replay = {.plan = plan};
    enum cts_status status = cts_whatif_open_factors(graph->system, &factors, error);
    replay.factors = factors.lists;
    if (!status) replay.time_ns = cts_array_zeroed(plan->node_count, sizeof(uint64_t), error);
    if (!status && !replay.time_ns) status = CTS_MEMORY;
    if (!status) status = cts_whatif_replay(&replay, error);
    notes->missed = 0;
    for (uint32_t l = 0; l < graph->system->location_count && !status; l++)
        for (size_t i = 0; i < graph->locations[l].count; i++)
            notes->missed +=
                replay.time_ns[plan->places[l].base + i] != graph->locations[l].time_ns[i];
    notes->broken = replay.broken;
    free(replay.time_ns);
    cts_whatif_close_factors(&factors);
    return status;
}

static void note_plan(const struct cts_whatif_plan *plan, struct cts_whatif_notes *notes)
{
    notes->kernels = plan->activity_count;
    notes->device_ns = plan->device_ns;
    notes->configured = plan->configured_count;
    notes->polls = plan->polls;
    notes->shared = plan->kernel_count;
    notes->interference = notes->overtaking = 0;
    notes->queued = 0;
    for (size_t i = 0; i < plan->kernel_count; i++)
        notes->queued +=
            plan->places[plan->kernels[i].location].work[plan->kernels[i].activity].queues;
    for (uint32_t d = 0; d < plan->device_count; d++) {
        if (plan->devices[d].interference / 16.0 > notes->interference)
            notes->interference = plan->devices[d].interference / 16.0;
        if (plan->devices[d].overtaking / 16.0 > notes->overtaking)
            notes->overtaking = plan->devices[d].overtaking / 16.0;
    }
}

static enum cts_status describe(const struct cts_whatif_recording *recording,
                                struct cts_whatif *result, struct cts_error *error)
{
    const struct cts_path_system *const system = &recording->system;
    const struct cts_path_graph *const graph = &recording->graph;
    result->timeline = system->timeline;
    result->region_count = system->region_count;
    result->process_count = system->process_count;
    result->event_count = recording->profile.event_count;
    for (uint32_t l = 0; l < system->location_count; l++) {
        result->node_count += graph->locations[l].count;
        result->stream_count += system->who[l].stream;
    }
    result->before_ns = graph->last_ns - graph->first_ns;
    result->after_ns = result->turns_after_ns = result->polls_after_ns = result->before_ns;
    for (unsigned w = 0; w < CTS_PATH_WARNING_COUNT; w++)
        result->warnings[w] = recording->profile.warnings[w] + graph->matched.warnings[w];
    result->region_names =
        cts_array_zeroed(system->region_count, sizeof *result->region_names, error);
    if (!result->region_names) return CTS_MEMORY;
    for (uint32_t r = 0; r < system->region_count; r++)
        result->region_names[r] = system->regions[r].name;
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++)
        result->patterns[p].pattern = (enum cts_path_pattern)p;
    return CTS_OK;
}

/* How much of the path is calls that launch: their recorded times contain the recorder's own. */
static void note_launches(const struct cts_path_system *system, struct cts_whatif *result)
{
    for (size_t i = 0; i < result->row_count; i++) {
        const struct cts_path_region *const region = &system->regions[result->rows[i].region];
        if (region->kind != CTS_PATH_API ||
            (region->api != CTS_PATH_API_LAUNCH && region->api != CTS_PATH_API_GRAPH_LAUNCH))
            continue;
        result->notes.launch_before_ns += result->rows[i].before_ns;
        result->notes.launch_after_ns += result->rows[i].after_ns;
    }
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Device activities that nothing launched stay where they were: what is projected is then wrong. */
static enum cts_status refuse_unbound(const struct cts_whatif_plan *plan, struct cts_error *error)
{
    if (plan->unbound_ns <= plan->device_ns / 100) return CTS_OK;
    const double percent = 100 * (double)plan->unbound_ns / (double)plan->device_ns;
    return cts_fail(
        error, CTS_FORMAT,
        "no projection: %llu of %llu device activities (%.1f%% of the device time) have no launch "
        "in the trace, and no thread's calls show when they were launched; record the launches",
        (unsigned long long)plan->unbound_count, (unsigned long long)plan->activity_count, percent);
}

/* A region around kernels on a device's track would keep its length, whatever they do. */
static enum cts_status refuse_enclosing(const struct cts_path_graph *graph, struct cts_error *error)
{
    const struct cts_path_tracks *const tracks = &graph->matched.tracks;
    if (tracks->enclosing_ns <= tracks->busy_ns / 100) return CTS_OK;
    return cts_fail(error, CTS_FORMAT,
                    "no projection: the trace has regions around kernels on the locations of "
                    "devices (%.1f%% of the device time), and nothing shows whether they are work",
                    100 * (double)tracks->enclosing_ns / (double)tracks->busy_ns);
}

static enum cts_status prepare(struct cts_whatif_plan *plan, const struct cts_path_graph *graph,
                               const struct cts_whatif_options *options, struct cts_whatif *result,
                               struct cts_error *error)
{
    enum cts_status status = cts_whatif_plan_make(plan, graph, options, error);
    if (!status) status = refuse_enclosing(graph, error);
    if (!status) status = refuse_unbound(plan, error);
    if (!status) status = check(plan, &result->notes, error);
    if (!status) note_plan(plan, &result->notes);
    if (!status) status = cts_whatif_shared_by_processes(graph, &result->notes.processes_ns, error);
    if (status || !result->notes.missed || !plan->kernel_count) return status;
    cts_whatif_unshare(plan);
    result->notes.share_rejected = true;
    return check(plan, &result->notes, error);
}

/* The other answer where the recording does not show whether kernels of different streams can run
 * at the same time: that they cannot. */
static enum cts_status project_turns(const struct cts_whatif_plan *plan,
                                     const struct cts_whatif_factors *factors,
                                     struct cts_whatif *result, struct cts_error *error)
{
    bool undecided = false;
    for (uint32_t l = 0; l < plan->graph->system->location_count; l++)
        undecided |= cts_whatif_is_undecided(&plan->graph->locations[l]);
    result->turns_after_ns = result->after_ns;
    if (!undecided || plan->options->free_overlap) return CTS_OK;
    struct cts_whatif_options options = *plan->options;
    options.undecided_take_turns = true;
    struct cts_whatif_plan turns = {0};
    enum cts_status status = cts_whatif_plan_make(&turns, plan->graph, &options, error);
    for (uint32_t d = 0; d < turns.device_count && !status; d++)
        result->notes.undecided += turns.devices[d].exclusive && turns.devices[d].count;
    if (!status && options.change_count && result->notes.undecided)
        status = replay_runtime(&turns, factors, &result->turns_after_ns, error);
    cts_whatif_plan_release(&turns);
    return status;
}

/* The other answer where the recording does not show whether what loops do between their queries
 * ends with these or is of a fixed amount. */
static enum cts_status project_polls(const struct cts_whatif_plan *plan,
                                     const struct cts_whatif_factors *factors,
                                     struct cts_whatif *result, struct cts_error *error)
{
    result->polls_after_ns = result->after_ns;
    const bool open = plan->polls.assumed || plan->polls.ran_out;
    if (!open || !plan->options->change_count) return CTS_OK;
    struct cts_whatif_options options = *plan->options;
    options.other_polls = true;
    struct cts_whatif_plan kept = {0};
    enum cts_status status = cts_whatif_plan_make(&kept, plan->graph, &options, error);
    if (!status && result->notes.share_rejected) cts_whatif_unshare(&kept);
    if (!status) status = replay_runtime(&kept, factors, &result->polls_after_ns, error);
    cts_whatif_plan_release(&kept);
    return status;
}

/* All processes hold the whole graph. */
static enum cts_status open_recording(const struct cts_path_source *source,
                                      const struct cts_path_options *options,
                                      struct cts_whatif_recording *recording,
                                      struct cts_error *error)
{
    const struct cts_path_reading reading = {&recording->system, source, &recording->profile};
    enum cts_status status =
        cts_path_system_open(source->timeline, options, &recording->system, error);
    if (!status) status = cts_path_profile_open(&recording->system, &recording->profile, error);
    if (!status) status = cts_path_graph_build(&reading, NULL, &recording->graph, error);
    if (!status) cts_whatif_place_edges(&recording->graph);
    return status;
}

static void release_recording(struct cts_whatif_recording *recording)
{
    cts_path_graph_release(&recording->graph);
    cts_path_profile_release(&recording->profile);
    cts_path_system_release(&recording->system);
}

enum cts_status cts_whatif_analyze(const struct cts_path_source *source,
                                   const struct cts_whatif_options *options,
                                   struct cts_whatif *result, struct cts_error *error)
{
    *result = (struct cts_whatif){0};
    if (!options->change_count && !options->targets)
        return cts_fail(error, CTS_USAGE, "nothing to change: give an activity and its factor");
    struct cts_path_options path = options->path;
    path.processes = NULL;
    struct cts_whatif_recording recording = {0};
    const struct cts_path_graph *const graph = &recording.graph;
    struct cts_whatif_plan plan = {0};
    struct cts_whatif_factors factors = {0};
    uint64_t *path_ns = NULL;
    enum cts_status status = open_recording(source, &path, &recording, error);
    if (!status) status = describe(&recording, result, error);
    if (!status) status = cts_whatif_open_factors(&recording.system, &factors, error);
    for (size_t i = 0; i < options->change_count && !status; i++)
        status = cts_whatif_apply_change(&recording, &options->changes[i], &factors, error);
    if (!cts_processes_agree(options->path.processes, &status, error)) goto out;
    const double begun = seconds_now();
    path_ns = cts_array_zeroed(recording.system.region_count, sizeof *path_ns, error);
    status = path_ns ? cts_whatif_walk(graph, path_ns, error) : CTS_MEMORY;
    if (!status) status = prepare(&plan, graph, options, result, error);
    if (!status && options->change_count)
        status = cts_whatif_project(&plan, &factors, path_ns, result, error);
    if (!status) note_launches(&recording.system, result);
    if (!status) status = project_turns(&plan, &factors, result, error);
    if (!status) status = project_polls(&plan, &factors, result, error);
    if (cts_processes_agree(options->path.processes, &status, error) && options->targets)
        status = find_targets(&plan, recording.profile.times, path_ns, result, error);
    result->notes.seconds = seconds_now() - begun;
out:
    if (plan.graph) cts_whatif_plan_release(&plan);
    cts_whatif_close_factors(&factors);
    free(path_ns);
    release_recording(&recording);
    if (status) cts_whatif_release(result);
    return status;
}

void cts_whatif_release(struct cts_whatif *result)
{
    free(result->region_names);
    free(result->ranks);
    free(result->rows);
    free(result->waits);
    free(result->targets);
    if (result->time_ns) free(result->time_ns[0]);
    free(result->time_ns);
    *result = (struct cts_whatif){0};
}
