#include "analyze/path/path-totals.h"

#include <stdlib.h>

#include "analyze/path/ranks.h"
#include "common/asker.h"

static int later_first(const void *left, const void *right)
{
    const struct cts_path_segment *const a = left, *const b = right;
    if (a->end_ns != b->end_ns) return a->end_ns > b->end_ns ? -1 : 1;
    return (a->begin_ns < b->begin_ns) - (a->begin_ns > b->begin_ns);
}

/* The path of all processes. */
static enum cts_status share_segments(const struct cts_path_system *system,
                                      struct cts_path_segments *list, struct cts_error *error)
{
    const struct cts_processes *const processes = system->processes;
    if (!system->options->keep_segments || !processes || processes->count < 2) return CTS_OK;
    void *all = NULL;
    size_t *offsets = NULL;
    const enum cts_status status = cts_processes_all_gather(
        processes, (struct cts_sent_block){list->items, list->count * sizeof *list->items}, &all,
        &offsets, error);
    if (status) return status;
    free(list->items);
    list->items = all;
    list->count = list->capacity = offsets[processes->count] / sizeof *list->items;
    qsort(list->items, list->count, sizeof *list->items, later_first);
    free(offsets);
    return CTS_OK;
}

static enum cts_status add_walk(const struct cts_path_graph *graph, struct cts_path_totals *totals,
                                struct cts_error *error)
{
    const struct cts_path_system *const system = graph->system;
    struct cts_path_walked walked = {.segments = totals->segments};
    walked.path_ns = cts_array_zeroed(system->region_count, sizeof *walked.path_ns, error);
    walked.stays = cts_array_zeroed(system->region_count, sizeof *walked.stays, error);
    enum cts_status status = walked.path_ns && walked.stays ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(system->processes, &status, error)) goto out;
    status = cts_path_walk(graph, &walked, error);
    if (!status) status = share_segments(system, &walked.segments, error);
    totals->segments = walked.segments;
    totals->jumps += walked.jumps;
    totals->crossings += walked.crossings;
    if (!cts_processes_agree(system->processes, &status, error)) goto out;
    for (uint32_t i = 0; i < system->region_count; i++) totals->path_ns[i] += walked.path_ns[i];
    cts_path_add_stays(graph, walked.stays, totals->stays);
out:
    free(walked.path_ns);
    free(walked.stays);
    return status;
}

static void add_blocked(struct cts_path_blocked *sum, const struct cts_path_blocked *more)
{
    if (more->count && (!sum->count || more->location < sum->location))
        sum->location = more->location;
    sum->count += more->count;
    sum->cpu_ns += more->cpu_ns;
    sum->time_ns += more->time_ns;
}

static void add_starts(struct cts_path_starts *sum, const struct cts_path_starts *more)
{
    sum->count += more->count;
    sum->late_count += more->late_count;
    sum->start_ns += more->start_ns;
    sum->work_ns += more->work_ns;
}

enum cts_status cts_path_add_graph(const struct cts_path_graph *graph,
                                   struct cts_path_totals *totals, struct cts_error *error)
{
    const struct cts_processes *const processes = graph->system->processes;
    const struct cts_asker *const asker = graph->system->options->asker;
    enum cts_status status = add_walk(graph, totals, error);
    if (!status) status = cts_asker_check(asker, error);
    if (status) return status;
    add_starts(&totals->starts, &graph->matched.starts);
    add_blocked(&totals->blocked, &graph->matched.blocked);
    status = cts_path_blame(graph, &totals->blamed, error);
    if (!status) status = cts_asker_check(asker, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    if (totals->blamed.kept)
        status = cts_path_round_blames(graph->system, totals->blamed.kept, error);
    if (!status) status = cts_path_watch_devices(graph, &totals->devices, error);
    if (!status) status = cts_asker_check(asker, error);
    if (!cts_processes_agree(processes, &status, error)) return status;
    cts_path_add_rank_waits(graph, totals->ranks);
    totals->stretch_count++;
    return cts_path_sum_patterns(graph, &totals->sums, error);
}

/* ---- */

static enum cts_status open_kept(const struct cts_path_system *system,
                                 struct cts_path_totals *totals, struct cts_error *error)
{
    if (!system->options->keep_blames) return CTS_OK;
    totals->blamed.kept =
        cts_array_zeroed(system->location_count, sizeof *totals->blamed.kept, error);
    if (!totals->blamed.kept) return CTS_MEMORY;
    for (uint32_t i = 0; i < system->location_count; i++)
        totals->blamed.kept[i].mine = cts_path_is_mine(system, i);
    return CTS_OK;
}

enum cts_status cts_path_totals_open(const struct cts_path_system *system,
                                     struct cts_path_totals *totals, struct cts_error *error)
{
    const size_t count = system->region_count;
    *totals = (struct cts_path_totals){0};
    totals->path_ns = cts_array_zeroed(count, sizeof *totals->path_ns, error);
    totals->stays = cts_array_zeroed(count, sizeof *totals->stays, error);
    totals->blamed.blame = cts_array_zeroed(count, sizeof *totals->blamed.blame, error);
    totals->sums.calls_ns = cts_array_zeroed(count, sizeof *totals->sums.calls_ns, error);
    totals->sums.repeats = cts_array_zeroed(count, sizeof *totals->sums.repeats, error);
    totals->sums.gaps_ns = cts_array_zeroed(count, sizeof *totals->sums.gaps_ns, error);
    totals->ranks = cts_array_zeroed(system->process_count, sizeof *totals->ranks, error);
    enum cts_status status = totals->ranks && totals->path_ns && totals->stays &&
                                     totals->blamed.blame && totals->sums.calls_ns &&
                                     totals->sums.repeats && totals->sums.gaps_ns
                                 ? CTS_OK
                                 : CTS_MEMORY;
    if (!status) status = open_kept(system, totals, error);
    (void)cts_processes_agree(system->processes, &status, error);
    return status;
}

void cts_path_totals_release(struct cts_path_totals *totals, const struct cts_path_system *system)
{
    free(totals->path_ns);
    free(totals->stays);
    free(totals->blamed.blame);
    for (uint32_t l = 0; totals->blamed.kept && l < system->location_count; l++)
        free(totals->blamed.kept[l].items);
    free(totals->blamed.kept);
    free(totals->segments.items);
    free(totals->devices.items);
    free(totals->ranks);
    free(totals->sums.calls_ns);
    free(totals->sums.repeats);
    free(totals->sums.gaps_ns);
    cts_path_sums_release(&totals->sums);
    *totals = (struct cts_path_totals){0};
}
