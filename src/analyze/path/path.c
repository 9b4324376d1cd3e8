/* The whole analysis. With several processes sums and lists are put together at the end, so that
 * all have the same. A long timeline can be analysed in stretches (stretches.h), whose sums are the
 * same as those of the whole.
 *
 * Each stage fills a model of its own and only reads those of the stages before:
 *
 *     open        path-system.c, regions.c     cts_path_system    who takes part, what is asked
 *     read        load*.c, scan.c, stretches.c cts_path_profile   calls and times of regions
 *                                              cts_path_raw       what depends on others, unmatched
 *     match       message-waits.c, groups.c,   cts_path_graph     nodes, waits, jumps
 *                 locks.c, process-threads.c,
 *                 path-launches.c,
 *                 device-waits.c, rules/,
 *                 waits.c; build.c in order
 *     questions   walk-back.c                  cts_path_walked    the critical path
 *                 sweep.c, blame.c             cts_path_blamed    who is to blame
 *                 patterns.c, culprits.c       cts_path_sums      waits by pattern
 *                 idle.c                       cts_path_devices   what devices do
 *                 path-totals.c                cts_path_totals    all that, over all stretches
 *     answer      path-answer.c                cts_path           what is printed and exported
 *
 * graph.c and raw.c store; rule.c has what rules have in common; offer.c offers them what was
 * matched. What-if (whatif*.c) builds the same graph and asks it other questions. */
#include "analyze/path/path.h"

#include <stdlib.h>

#include "analyze/path/build.h"
#include "analyze/path/path-answer.h"
#include "analyze/path/stretches.h"
#include "analyze/path/within.h"

const char *const cts_path_warning_texts[CTS_PATH_WARNING_COUNT] = {
#define X(name, text) [CTS_PATH_WARNING_##name] = text,
    CTS_PATH_WARNING_MAP(X)
#undef X
};

/* The system, what reading counts and what the questions answer, of the whole timeline. */
struct whole {
    struct cts_path_system system;
    struct cts_path_profile profile;
    struct cts_path_totals totals;
};

static enum cts_status open_whole(const struct cts_path_source *source,
                                  const struct cts_path_options *options, struct whole *whole,
                                  struct cts_error *error)
{
    enum cts_status status = cts_path_system_open(source->timeline, options, &whole->system, error);
    if (!status) status = cts_path_profile_open(&whole->system, &whole->profile, error);
    if (!cts_processes_agree(options->processes, &status, error)) return status;
    return cts_path_totals_open(&whole->system, &whole->totals, error);
}

static void release_whole(struct whole *whole)
{
    cts_path_totals_release(&whole->totals, &whole->system);
    cts_path_profile_release(&whole->profile);
    cts_path_system_release(&whole->system);
}

/* Warnings of matching; those of reading are in the profile. */
static void add_warnings(struct cts_path_profile *profile, const struct cts_path_graph *graph)
{
    for (size_t i = 0; i < CTS_PATH_WARNING_COUNT; i++)
        profile->warnings[i] += graph->matched.warnings[i];
}

static enum cts_status analyze_whole(const struct cts_path_source *source,
                                     const struct cts_path_options *options,
                                     struct cts_path *result, struct cts_error *error)
{
    struct whole whole = {0};
    struct cts_path_graph graph = {0};
    const struct cts_path_reading reading = {&whole.system, source, &whole.profile};
    enum cts_status status = open_whole(source, options, &whole, error);
    if (!status) status = cts_path_graph_build(&reading, NULL, &graph, error);
    if (!status) status = cts_path_add_graph(&graph, &whole.totals, error);
    if (!status) add_warnings(&whole.profile, &graph);
    if (cts_processes_agree(options->processes, &status, error))
        status = cts_path_answer(&whole.system, &whole.profile, &whole.totals, result, error);
    if (!status) status = cts_path_keep_waits(&graph, &result->kept, error);
    cts_path_graph_release(&graph);
    release_whole(&whole);
    return status;
}

/* Its profile is counted once more and goes: the scan has counted the whole. */
static enum cts_status add_stretch(struct whole *whole, const struct cts_path_source *source,
                                   const struct cts_path_stretch *stretch, struct cts_error *error)
{
    struct cts_path_graph graph = {0};
    struct cts_path_profile profile;
    const struct cts_path_reading reading = {&whole->system, source, &profile};
    enum cts_status status = cts_path_profile_open(&whole->system, &profile, error);
    if (cts_processes_agree(whole->system.processes, &status, error))
        status = cts_path_graph_build(&reading, stretch, &graph, error);
    if (!status && !graph.is_empty) status = cts_path_add_graph(&graph, &whole->totals, error);
    if (!status) add_warnings(&whole->profile, &graph);
    cts_path_graph_release(&graph);
    cts_path_profile_release(&profile);
    (void)cts_processes_agree(whole->system.processes, &status, error);
    return status;
}

static enum cts_status analyze_stretches(const struct cts_path_source *source,
                                         const struct cts_path_options *options,
                                         struct cts_path *result, struct cts_error *error)
{
    if (options->keep_segments || options->keep_waits || options->keep_blames)
        return cts_fail(error, CTS_USAGE, "an analysis in windows does not keep the timeline");
    struct whole whole = {0};
    struct cts_path_stretches *stretches = NULL;
    const struct cts_path_reading reading = {&whole.system, source, &whole.profile};
    enum cts_status status = open_whole(source, options, &whole, error);
    if (!status) status = cts_path_stretches_open(&reading, &stretches, error);
    if (cts_processes_agree(options->processes, &status, error)) {
        cts_path_agree_on_times(&whole.system, &whole.profile);
        status = cts_path_check_times(&whole.profile, error);
    }
    struct cts_path_stretch stretch;
    struct cts_path_source part;
    while (!status && cts_path_stretches_next(stretches, &stretch, &part))
        status = add_stretch(&whole, &part, &stretch, error);
    if (!status)
        status = cts_path_answer(&whole.system, &whole.profile, &whole.totals, result, error);
    cts_path_stretches_close(stretches);
    release_whole(&whole);
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
    free(result->kept.segments.items);
    free(result->kept.waits);
    for (uint32_t i = 0; i < result->location_count && result->kept.blames; i++)
        free(result->kept.blames[i].items);
    free(result->kept.blames);
    free(result->devices.items);
    free(result->ranks);
    for (unsigned p = 0; p < CTS_PATH_PATTERN_COUNT; p++) free(result->patterns[p].worst);
    *result = (struct cts_path){0};
}
