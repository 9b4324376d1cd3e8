/* The whole analysis: graph, path, blame, and the lists that people read. With several processes
 * sums and lists are put together at the end, so that all have the same. A long timeline can be
 * analysed in stretches (stretches.h), whose sums are the same as of the whole.
 *
 * The files of this folder depend on each other one way only:
 *
 *     store      graph.c, raw.c                       what the graph holds
 *     open       regions.c, open.c                    who is who
 *     read       load*.c, scan.c, stretches.c         events become nodes and raw lists
 *     rules      rule.c, then rules/, then offer.c    why something waits
 *     match      message-waits.c groups.c locks.c process-threads.c path-launches.c device-waits.c
 * waits.c build      build.c                              reads, matches, makes waits questions
 * walk-back.c sweep.c blame.c idle.c patterns.c within.c answers    path.c; whatif*.c on top of it
 */
#include "analyze/path/path.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/build.h"
#include "analyze/path/open.h"
#include "analyze/path/patterns.h"
#include "analyze/path/questions.h"
#include "analyze/path/ranks.h"
#include "analyze/path/stretches.h"
#include "analyze/path/within.h"
#include "common/promise.h"

const char *const cts_path_warning_texts[CTS_PATH_WARNING_COUNT] = {
#define X(name, text) [CTS_PATH_WARNING_##name] = text,
    CTS_PATH_WARNING_MAP(X)
#undef X
};

/* ---- rows ---- */

static enum cts_path_where where_of(const struct cts_path_graph *graph, uint32_t region)
{
    if (region >= graph->pseudo) {
        switch (region - graph->pseudo) {
        case CTS_PATH_COPY_HTOD:
        case CTS_PATH_COPY_DTOH:
        case CTS_PATH_COPY_DTOD:
            return CTS_PATH_ON_DEVICE;
        case CTS_PATH_FLUSH:
        case CTS_PATH_NO_REGION: /* code of the host that nobody named */
            return CTS_PATH_ON_HOST;
        default:
            return CTS_PATH_LATENCY;
        }
    }
    if (graph->rows[region].where == CTS_PATH_ON_DEVICE) return CTS_PATH_ON_DEVICE;
    return graph->regions[region].paradigm == CTS_PARADIGM_MPI ? CTS_PATH_IN_MPI : CTS_PATH_ON_HOST;
}

/* Sums over processes: numbers of 128 bits travel as three limbs whose sums cannot overflow. */
static enum cts_status add_up(struct cts_path_graph *graph, uint64_t *path_ns,
                              unsigned __int128 *blame, struct cts_error *error)
{
    const uint32_t count = graph->region_count;
    uint64_t *const limbs = cts_array_zeroed((size_t)count * 7, sizeof *limbs, error);
    enum cts_status status = limbs ? CTS_OK : CTS_MEMORY;
    if (!cts_processes_agree(graph->processes, &status, error)) {
        free(limbs);
        return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *const limb = &limbs[(size_t)i * 7];
        limb[0] = path_ns[i];
        limb[1] = (uint32_t)blame[i];
        limb[2] = (uint32_t)(blame[i] >> 32);
        limb[3] = (uint64_t)(blame[i] >> 64);
        limb[4] = graph->rows[i].calls;
        limb[5] = graph->rows[i].inclusive_ns;
        limb[6] = graph->rows[i].exclusive_ns;
    }
    cts_processes_reduce_u64(graph->processes, limbs, (size_t)count * 7, CTS_REDUCE_SUM);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *const limb = &limbs[(size_t)i * 7];
        path_ns[i] = limb[0];
        blame[i] =
            limb[1] + ((unsigned __int128)limb[2] << 32) + ((unsigned __int128)limb[3] << 64);
        graph->rows[i].calls = limb[4];
        graph->rows[i].inclusive_ns = limb[5];
        graph->rows[i].exclusive_ns = limb[6];
    }
    for (uint32_t i = 0; i < count; i++) limbs[i] = graph->rows[i].where == CTS_PATH_ON_DEVICE;
    cts_processes_reduce_u64(graph->processes, limbs, count, CTS_REDUCE_OR);
    for (uint32_t i = 0; i < count; i++)
        if (limbs[i]) graph->rows[i].where = CTS_PATH_ON_DEVICE;
    cts_processes_reduce_u64(graph->processes, graph->warnings, CTS_PATH_WARNING_COUNT,
                             CTS_REDUCE_SUM);
    free(limbs);
    return CTS_OK;
}

/* What is added up over stretches. */
struct totals {
    struct cts_path *result; /* jumps, segments, devices; the rest by finish() */
    struct cts_path_starts starts;
    uint64_t *path_ns;
    struct cts_path_stay *stays;
    unsigned __int128 *blame;
    struct cts_path_sums sums;
};

static int by_rating(const void *left, const void *right)
{
    const struct cts_path_row *const a = left, *const b = right;
    if (a->rating != b->rating) return a->rating > b->rating ? -1 : 1;
    if (a->exclusive_ns != b->exclusive_ns) return a->exclusive_ns > b->exclusive_ns ? -1 : 1;
    return (a->region > b->region) - (a->region < b->region);
}

/* Blame in whole ns: what all rows up to here have, less what those before were given. */
static enum cts_status make_rows(struct cts_path_graph *graph, const struct totals *totals,
                                 struct cts_error *error)
{
    assert(graph->region_count >= graph->pseudo);
    struct cts_path *const result = totals->result;
    const struct cts_path_options *const options = graph->options;
    const bool plain = options->path_weight == 0 && options->blame_weight == 0;
    const double path_weight = plain ? 1 : options->path_weight;
    const double blame_weight = plain ? 1 : options->blame_weight;
    result->rows = cts_array_zeroed(graph->region_count, sizeof *result->rows, error);
    if (!result->rows) return CTS_MEMORY;
    unsigned __int128 sum = 0;
    for (uint32_t i = 0; i < graph->region_count; i++) {
        const uint64_t before_ns = (uint64_t)(sum >> 32);
        sum += totals->blame[i];
        struct cts_path_row row = graph->rows[i];
        row.region = i;
        row.where = where_of(graph, i);
        row.frame = graph->regions[i].kind == CTS_PATH_ALL || i == graph->pseudo + CTS_PATH_START;
        row.path_ns = totals->path_ns[i];
        row.blame_ns = (uint64_t)(sum >> 32) - before_ns;
        result->blame_ns += row.blame_ns;
        row.stay = totals->stays[i];
        if (row.stay.ns) row.stay.begin_ns -= graph->first_ns;
        result->path_where_ns[row.where] += row.path_ns;
        if (!row.frame) result->program_path_ns += row.path_ns;
        if (!row.frame) result->program_blame_ns += row.blame_ns;
        if (result->path_ns) row.path_share = (double)row.path_ns / (double)result->path_ns;
        if (result->wait_ns) row.blame_share = (double)row.blame_ns / (double)result->wait_ns;
        row.rating = path_weight * row.path_share + blame_weight * row.blame_share;
        if (row.calls || row.path_ns || row.blame_ns) result->rows[result->row_count++] = row;
    }
    qsort(result->rows, result->row_count, sizeof *result->rows, by_rating);
    return CTS_OK;
}

/* ---- the rest ---- */

/* First enter of MPI_Init and last leave of MPI_Finalize. */
static void find_mpi_span(const struct cts_path_graph *graph, struct cts_path *result)
{
    uint64_t init_ns = graph->mpi_begin_ns, finalize_ns = graph->mpi_end_ns;
    cts_processes_reduce_u64(graph->processes, &init_ns, 1, CTS_REDUCE_MIN);
    cts_processes_reduce_u64(graph->processes, &finalize_ns, 1, CTS_REDUCE_MAX);
    if (init_ns >= finalize_ns) return;
    result->init_ns = init_ns;
    result->finalize_ns = finalize_ns;
    if (cts_path_clip(graph, &init_ns, &finalize_ns))
        result->mpi_path_ns = finalize_ns - init_ns; /* the path is at every time somewhere */
}

static enum cts_status count_all(struct cts_path_graph *graph, struct cts_path *result,
                                 struct cts_error *error)
{
    uint64_t counts[4] = {graph->event_count, graph->node_count, result->path_jumps,
                          result->path_crossings};
    for (uint32_t l = 0; l < graph->location_count; l++)
        result->stream_count += graph->locations[l].stream;
    cts_processes_reduce_u64(graph->processes, counts, 4, CTS_REDUCE_SUM);
    result->event_count = counts[0];
    result->node_count = counts[1];
    result->path_jumps = counts[2];
    result->path_crossings = counts[3];
    result->location_count = graph->location_count;
    result->process_count = graph->process_count;
    result->first_ns = graph->first_ns;
    result->last_ns = graph->last_ns;
    result->part_begin_ns = graph->first_ns;
    result->part_end_ns = graph->last_ns;
    if (!cts_path_clip(graph, &result->part_begin_ns, &result->part_end_ns))
        result->part_end_ns = result->part_begin_ns;
    result->path_ns = result->part_end_ns - result->part_begin_ns;
    result->timeline = graph->timeline;
    result->region_count = graph->region_count;
    result->start_region = graph->pseudo + CTS_PATH_START;
    memcpy(result->warnings, graph->warnings, sizeof result->warnings);
    const char **const names = cts_array_zeroed(graph->region_count, sizeof *names, error);
    if (!names) return CTS_MEMORY;
    for (uint32_t i = 0; i < graph->region_count; i++) names[i] = graph->regions[i].name;
    const enum cts_status status =
        cts_short_names_make(names, graph->region_count, &result->names, error);
    result->region_names = result->names.full;
    free(names);
    return status;
}

static int later_first(const void *left, const void *right)
{
    const struct cts_path_segment *const a = left, *const b = right;
    if (a->end_ns != b->end_ns) return a->end_ns > b->end_ns ? -1 : 1;
    return (a->begin_ns < b->begin_ns) - (a->begin_ns > b->begin_ns);
}

static enum cts_status share_segments(struct cts_path_graph *graph, struct cts_path *result,
                                      struct cts_error *error)
{
    if (!graph->options->keep_segments || !graph->processes || graph->processes->count < 2)
        return CTS_OK;
    void *all = NULL;
    size_t *offsets = NULL;
    const enum cts_status status = cts_processes_all_gather(
        graph->processes,
        (struct cts_sent_block){result->segments, result->segment_count * sizeof *result->segments},
        &all, &offsets, error);
    if (status) return status;
    free(result->segments);
    result->segments = all;
    result->segment_count = result->segment_capacity =
        offsets[graph->processes->count] / sizeof *result->segments;
    qsort(result->segments, result->segment_count, sizeof *result->segments, later_first);
    free(offsets);
    return CTS_OK;
}

/* For those who draw them. */
static enum cts_status keep_waits(const struct cts_path_graph *graph, struct cts_path *result,
                                  struct cts_error *error)
{
    size_t count = 0;
    if (!graph->options->keep_waits) return CTS_OK;
    for (uint32_t i = 0; i < graph->location_count; i++) count += graph->locations[i].waits.count;
    result->kept_waits = cts_array_zeroed(count, sizeof *result->kept_waits, error);
    if (!result->kept_waits) return CTS_MEMORY;
    for (uint32_t i = 0; i < graph->location_count; i++) {
        if (!cts_path_is_mine(graph, i)) continue;
        const struct cts_path_waits *const waits = &graph->locations[i].waits;
        for (size_t w = 0; w < waits->count; w++) {
            const struct cts_path_wait *const wait = &waits->items[w];
            if (wait->begin_ns >= wait->end_ns || wait->pattern == CTS_PATH_PATTERN_FORK) continue;
            const struct cts_path_edge *const edge = cts_path_binding(graph, i, wait);
            result->kept_waits[result->kept_wait_count++] = (struct cts_path_kept_wait){
                .begin_ns = wait->begin_ns - graph->first_ns,
                .end_ns = wait->end_ns - graph->first_ns,
                .culprit_ns = edge && edge->source_ns > graph->first_ns
                                  ? edge->source_ns - graph->first_ns
                                  : 0,
                .location = i,
                .pattern = wait->pattern,
                .culprit = edge ? edge->location : CTS_PATH_NONE,
                .region = CTS_PATH_NONE,
            };
            if (wait->call == CTS_PATH_NONE) continue;
            struct cts_path_kept_wait *const kept =
                &result->kept_waits[result->kept_wait_count - 1];
            kept->region = graph->locations[i].region[wait->call] & ~CTS_PATH_LEAVE;
            kept->leave_ns = graph->locations[i].time_ns[wait->leave] - graph->first_ns;
        }
    }
    return CTS_OK;
}

static enum cts_status prepare_blames(struct cts_path_graph *graph, struct cts_path *result,
                                      struct cts_error *error)
{
    if (!graph->options->keep_blames) return CTS_OK;
    result->location_count = graph->location_count;
    result->kept_blames =
        cts_array_zeroed(graph->location_count, sizeof *result->kept_blames, error);
    if (!result->kept_blames) return CTS_MEMORY;
    for (uint32_t i = 0; i < graph->location_count; i++)
        result->kept_blames[i].mine = cts_path_is_mine(graph, i);
    graph->kept_blames = result->kept_blames;
    return CTS_OK;
}

/* Path, blame, waits and devices of a graph that is built. */
static enum cts_status add_graph(struct cts_path_graph *graph, struct totals *totals,
                                 struct cts_error *error)
{
    struct cts_path *const result = totals->result;
    uint64_t *const path_ns = cts_array_zeroed(graph->region_count, sizeof *path_ns, error);
    graph->stays = cts_array_zeroed(graph->region_count, sizeof *graph->stays, error);
    enum cts_status status = path_ns && graph->stays ? CTS_OK : CTS_MEMORY;
    if (!status) status = prepare_blames(graph, result, error);
    if (!cts_processes_agree(graph->processes, &status, error)) goto out;
    const uint64_t jumps = result->path_jumps, crossings = result->path_crossings;
    status = cts_path_walk(graph, path_ns, result, error);
    result->path_jumps += jumps;
    result->path_crossings += crossings;
    if (!status) status = share_segments(graph, result, error);
    if (!cts_processes_agree(graph->processes, &status, error)) goto out;
    for (uint32_t i = 0; i < graph->region_count; i++) totals->path_ns[i] += path_ns[i];
    cts_path_add_stays(graph, totals->stays);
    totals->starts.count += graph->starts.count;
    totals->starts.late_count += graph->starts.late_count;
    totals->starts.start_ns += graph->starts.start_ns;
    totals->starts.work_ns += graph->starts.work_ns;
    status = cts_path_blame(graph, totals->blame, error);
    if (!cts_processes_agree(graph->processes, &status, error)) goto out;
    status = cts_path_round_blames(graph, error);
    if (!status) status = cts_path_devices(graph, result, error);
    if (!cts_processes_agree(graph->processes, &status, error)) goto out;
    status = cts_path_sum_patterns(graph, &totals->sums, error);
    result->stretch_count++;
out:
    free(path_ns);
    free(graph->stays);
    graph->stays = NULL;
    return status;
}

/* The result from the sums; `graph` knows the whole timeline's rows, counts and times. */
static enum cts_status finish(struct cts_path_graph *graph, struct totals *totals,
                              struct cts_error *error)
{
    struct cts_path *const result = totals->result;
    cts_path_give_patterns(graph, &totals->sums, result);
    enum cts_status status = add_up(graph, totals->path_ns, totals->blame, error);
    uint64_t starts[] = {totals->starts.count, totals->starts.late_count, totals->starts.start_ns,
                         totals->starts.work_ns};
    cts_processes_reduce_u64(graph->processes, starts, 4, CTS_REDUCE_SUM);
    result->starts = (struct cts_path_starts){starts[0], starts[1], starts[2], starts[3]};
    if (!status) status = cts_path_share_stays(graph, totals->stays, error);
    if (!status) status = cts_path_spread_ranks(graph, error);
    if (!status) status = count_all(graph, result, error);
    if (!status) find_mpi_span(graph, result);
    if (!status) status = make_rows(graph, totals, error);
    return status;
}

static enum cts_status open_totals(const struct cts_path_graph *graph, struct totals *totals,
                                   struct cts_error *error)
{
    totals->path_ns = cts_array_zeroed(graph->region_count, sizeof *totals->path_ns, error);
    totals->blame = cts_array_zeroed(graph->region_count, sizeof *totals->blame, error);
    totals->stays = cts_array_zeroed(graph->region_count, sizeof *totals->stays, error);
    enum cts_status status =
        totals->path_ns && totals->blame && totals->stays ? CTS_OK : CTS_MEMORY;
    (void)cts_processes_agree(graph->processes, &status, error);
    return status;
}

static void release_totals(struct totals *totals)
{
    free(totals->path_ns);
    free(totals->stays);
    free(totals->blame);
    cts_path_sums_release(&totals->sums);
}

static enum cts_status analyze_whole(const struct cts_path_source *source,
                                     const struct cts_path_options *options,
                                     struct cts_path *result, struct cts_error *error)
{
    struct cts_path_graph graph;
    struct totals totals = {.result = result};
    enum cts_status status = cts_path_graph_build(source, options, NULL, &graph, error);
    if (!status) status = open_totals(&graph, &totals, error);
    if (!status) status = add_graph(&graph, &totals, error);
    if (cts_processes_agree(options->processes, &status, error))
        status = finish(&graph, &totals, error);
    if (!status) status = keep_waits(&graph, result, error);
    release_totals(&totals);
    cts_path_graph_release(&graph);
    return status;
}

/* Warnings of reading are counted by the scan; those of matching by stretch. */
static void add_warnings(struct cts_path_graph *whole, const struct cts_path_graph *graph)
{
    static const enum cts_path_warning matching[] = {
        CTS_PATH_WARNING_UNMATCHED_SEND,      CTS_PATH_WARNING_UNMATCHED_RECEIVE,
        CTS_PATH_WARNING_EARLY_RECEIVE,       CTS_PATH_WARNING_EARLY_LEAVE,
        CTS_PATH_WARNING_LAUNCH_WITHOUT_WORK, CTS_PATH_WARNING_WORK_WITHOUT_LAUNCH,
        CTS_PATH_WARNING_WORK_INFERRED,       CTS_PATH_WARNING_WORK_BEFORE_LAUNCH,
        CTS_PATH_WARNING_UNKNOWN_EVENT,       CTS_PATH_WARNING_UNKNOWN_STREAM,
        CTS_PATH_WARNING_WAIT_CIRCLE,         CTS_PATH_WARNING_PART_OF_TEAM};
    for (size_t i = 0; i < sizeof matching / sizeof *matching; i++)
        whole->warnings[matching[i]] += graph->warnings[matching[i]];
}

static enum cts_status add_stretch(struct cts_path_graph *whole,
                                   const struct cts_path_source *source,
                                   const struct cts_path_stretch *stretch, struct totals *totals,
                                   struct cts_error *error)
{
    struct cts_path_graph graph;
    enum cts_status status = cts_path_graph_build(source, whole->options, stretch, &graph, error);
    if (!status && !graph.is_empty) status = add_graph(&graph, totals, error);
    if (!status) add_warnings(whole, &graph);
    cts_path_graph_release(&graph);
    (void)cts_processes_agree(whole->processes, &status, error);
    return status;
}

static enum cts_status analyze_stretches(const struct cts_path_source *source,
                                         const struct cts_path_options *options,
                                         struct cts_path *result, struct cts_error *error)
{
    if (options->keep_segments || options->keep_waits || options->keep_blames)
        return cts_fail(error, CTS_USAGE, "an analysis in windows does not keep the timeline");
    struct cts_path_graph whole;
    struct cts_path_stretches *stretches = NULL;
    struct totals totals = {.result = result};
    enum cts_status status = cts_path_graph_open(source, options, &whole, error);
    if (cts_processes_agree(options->processes, &status, error))
        status = cts_path_stretches_open(&whole, &stretches, error);
    if (cts_processes_agree(options->processes, &status, error))
        status = cts_path_agree_on_times(&whole, error);
    if (!status) status = open_totals(&whole, &totals, error);
    struct cts_path_stretch stretch;
    struct cts_path_source part;
    while (!status && cts_path_stretches_next(stretches, &stretch, &part))
        status = add_stretch(&whole, &part, &stretch, &totals, error);
    if (!status) status = finish(&whole, &totals, error);
    release_totals(&totals);
    cts_path_stretches_close(stretches);
    cts_path_graph_release(&whole);
    return status;
}

enum cts_status cts_path_analyze(const struct cts_path_source *source,
                                 const struct cts_path_options *options, struct cts_path *result,
                                 struct cts_error *error)
{
    *result = (struct cts_path){0};
    error->status = CTS_OK;
    struct cts_path_options chosen = *options;
    enum cts_status status = chosen.within ? cts_path_find_within(source, &chosen, error) : CTS_OK;
    if (!status)
        status = chosen.window_events ? analyze_stretches(source, &chosen, result, error)
                                      : analyze_whole(source, &chosen, result, error);
    if (status) cts_path_release(result);
    return status;
}

bool cts_path_is_lower_bound(const struct cts_path *result)
{
    return cts_gaps_any(&result->timeline->gaps) ||
           result->warnings[CTS_PATH_WARNING_DAMAGED_LOCATION];
}

void cts_path_release(struct cts_path *result)
{
    cts_short_names_release(&result->names);
    free(result->rows);
    free(result->segments);
    free(result->kept_waits);
    for (uint32_t i = 0; i < result->location_count && result->kept_blames; i++)
        free(result->kept_blames[i].items);
    free(result->kept_blames);
    free(result->devices);
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++) free(result->patterns[p].worst);
    *result = (struct cts_path){0};
}
