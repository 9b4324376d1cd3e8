/* Critical path, waits and blame: reads a timeline, analyses it, renders the result. Under mpirun
 * all processes analyse and the first prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/access/access-analysis.h"
#include "analyze/path/path.h"
#include "cli/path-common.h"
#include "cli/open-recording.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "common/install.h"
#include "common/processes.h"
#include "report/path-chrome.h"
#include "report/path-otf2.h"
#include "report/path-report.h"

#define ROWS_IN_TABLE 20

extern const struct cts_verb cts_verb_path;

struct request {
    const char *path; /* of the run or trace */
    const char *name; /* as people know it */
    bool full_names;
    struct cts_path_common common;
    enum cts_path_sheet sheet;
    bool has_sheet;
    struct cts_path_options options;
    const char *enriched, *chrome; /* where to; NULL: not asked for */
    const char *memory_run;        /* NULL: the run itself, if it is one */
};

static bool read_weight(const struct cts_arguments *arguments, const char *name, double *weight)
{
    const char *const text = cts_argument(arguments, name);
    if (!text) return true;
    char *end;
    *weight = strtod(text, &end);
    if (*text && !*end && *weight >= 0 && *weight <= 1e6) return true;
    cts_usage_error(arguments, "--%s takes a number from 0 to 1,000,000", name);
    return false;
}

static int parse(const struct cts_arguments *arguments, struct request *request)
{
    struct cts_path_options *const options = &request->options;
    const int code = cts_path_common_parse(arguments, ROWS_IN_TABLE, &request->common, options);
    if (code) return code;
    const char *const per = cts_argument(arguments, "per");
    if (per) {
        request->has_sheet = true;
        request->sheet = cts_path_sheet_named(per);
    }
    options->direct_blame = cts_argument_given(arguments, "direct-blame");
    request->full_names = cts_argument_given(arguments, "full-names");
    request->enriched = cts_argument(arguments, "enriched");
    request->chrome = cts_argument(arguments, "chrome");
    request->memory_run = cts_argument(arguments, "memory-run");
    if (cts_argument_given(arguments, "window")) {
        if (!cts_argument_u64(arguments, "window", &options->window_events)) return CTS_EXIT_USAGE;
        if (!options->window_events)
            return cts_usage_error(arguments, "--window takes a number of events above 0");
        if (request->enriched || request->chrome)
            return cts_usage_error(arguments,
                                   "--enriched and --chrome need the whole trace: omit --window");
    }
    options->within = cts_argument(arguments, "within");
    if (options->within && (request->enriched || request->chrome))
        return cts_usage_error(arguments,
                               "--enriched and --chrome write the whole run: omit --within");
    options->keep_segments = options->keep_waits = request->enriched || request->chrome;
    options->keep_blames = request->enriched != NULL;
    options->path_weight = options->blame_weight = 1;
    if (!read_weight(arguments, "path-weight", &options->path_weight) ||
        !read_weight(arguments, "blame-weight", &options->blame_weight))
        return CTS_EXIT_USAGE;
    if (options->path_weight == 0 && options->blame_weight == 0)
        return cts_usage_error(arguments, "--path-weight or --blame-weight must be above 0");
    return 0;
}

static enum cts_status render(const struct request *request, const struct cts_path_report *report,
                              struct cts_error *error)
{
    if (request->common.format == CTS_LIST_AS_JSON)
        return cts_path_print_json(report, &request->common.choice, stdout, error);
    if (request->common.format == CTS_LIST_AS_TABLE && !request->has_sheet &&
        !request->common.choice.sort)
        return cts_path_print_summary(report, request->common.choice.limit, stdout, error);
    const struct cts_sheet sheet = cts_path_sheet(report, request->sheet);
    const bool as_csv = request->common.format == CTS_LIST_AS_CSV;
    struct cts_sheet_choice choice = request->common.choice;
    choice.limit_option = "--limit";
    if (request->sheet == CTS_PATH_SHEET_PATTERN && !choice.sort) choice.sort = "time_ns";
    const enum cts_status status = cts_sheet_print(&sheet, &choice, as_csv, stdout, error);
    if (!status) cts_path_print_notes(report, as_csv ? stderr : stdout);
    return status;
}

/* Timelines for other tools; what was written is said on stderr. */
static enum cts_status write_timelines(const struct request *request,
                                       const struct cts_path_source *source,
                                       const struct cts_path *result, struct cts_error *error)
{
    const struct cts_processes *const processes = request->options.processes;
    enum cts_status status = CTS_OK;
    if (request->enriched) {
        struct cts_path_enriched counts;
        const struct cts_path_enriching enriching = {.source = source,
                                                     .result = result,
                                                     .directory = request->enriched,
                                                     .threads = request->options.threads,
                                                     .processes = processes};
        status = cts_path_write_enriched(&enriching, &counts, error);
        if (!status && processes->rank == 0)
            fprintf(
                stderr,
                "ctascope path: wrote '%s/traces.otf2': %llu events and %llu metric values; %llu "
                "events left out (metrics, parameters, unknown kinds)\n",
                request->enriched, (unsigned long long)counts.event_count,
                (unsigned long long)counts.metric_count, (unsigned long long)counts.left_out_count);
    }
    if (!status && request->chrome) {
        uint64_t event_count = 0;
        status = cts_path_write_chrome(source, result, request->chrome, &event_count, error);
        if (!status)
            fprintf(stderr, "ctascope path: wrote '%s': %llu events\n", request->chrome,
                    (unsigned long long)event_count);
    }
    return status;
}

/* What a recording of memory accesses says of the kernels: the run's own, or another's. */
static enum cts_status find_kernels(const char *run_path, unsigned threads,
                                    const struct cts_path_source *source,
                                    struct cts_path_kernels *kernels, struct cts_error *error)
{
    struct cts_recording recording;
    enum cts_status status = cts_recording_open(run_path, &recording, error);
    if (status) return status;
    const struct cts_catalogue *const catalogue = &recording.catalogue;
    uint64_t accesses = 0;
    for (size_t i = 0; i < catalogue->launch_count; i++)
        accesses += catalogue->launches[i].accesses;
    struct cts_access_result access = {0};
    if (accesses) {
        const struct cts_access_options options = {.costs_only = true, .threads = threads};
        do {
            status = cts_recording_need_accesses(&recording, error);
            if (status) break;
            const struct cts_access_source requests = cts_access_source_of(recording.reader);
            status = cts_access_analyze(catalogue, &requests, &options, &access, error);
        } while (cts_cli_again(status, &recording));
    }
    if (!status)
        status =
            cts_path_kernels_find(source, catalogue, accesses ? &access : NULL, kernels, error);
    if (!status) cts_cli_tell_gaps(&cts_verb_path, run_path, &catalogue->gaps);
    cts_access_release(&access);
    cts_recording_close(&recording);
    return status;
}

/* A run that cannot be read is an error if it was asked for; else the trace is enough. */
static enum cts_status add_kernels(const struct request *request,
                                   const struct cts_path_source *source,
                                   struct cts_path_kernels *kernels, struct cts_gaps *gaps,
                                   struct cts_error *error)
{
    const char *const run = request->memory_run ? request->memory_run : request->path;
    char catalogue[4096];
    snprintf(catalogue, sizeof catalogue, "%s/run.db", run);
    if (!request->memory_run && access(catalogue, R_OK)) return CTS_OK;
    const enum cts_status status =
        find_kernels(run, request->options.threads, source, kernels, error);
    if (!status || request->memory_run) return status;
    if (status == CTS_MEMORY)
        fprintf(stderr, "Note: occupancy and memory efficiency are unknown: %s\n", error->text);
    else
        cts_gaps_add(gaps, "occupancy and memory efficiency are unknown: %s", error->text);
    return CTS_OK;
}

static enum cts_status analyze(struct request *request, const struct cts_processes *processes,
                               struct cts_error *error)
{
    struct cts_timeline timeline;
    enum cts_status status = cts_path_common_open(request->path, processes, &timeline, error);
    if (status) return status;
    const struct cts_path_source source = cts_path_source_of(&timeline);
    struct cts_path result;
    request->options.processes = processes;
    status = cts_path_analyze(&source, &request->options, &result, error);
    if (!status) status = cts_path_common_tell_damage(request->path, processes, &timeline, error);
    if (!status) status = write_timelines(request, &source, &result, error);
    if (!status && processes->rank == 0 && request->options.window_events)
        fprintf(stderr, "Analysed in %llu windows\n", (unsigned long long)result.stretch_count);
    struct cts_path_kernels kernels = {0};
    if (!status && processes->rank == 0)
        status = add_kernels(request, &source, &kernels, &timeline.gaps, error);
    if (!status && processes->rank == 0) {
        const struct cts_path_report report = {.path = request->name,
                                               .kernels = kernels.by_region ? &kernels : NULL,
                                               .result = &result,
                                               .path_weight = request->options.path_weight,
                                               .blame_weight = request->options.blame_weight,
                                               .direct_blame = request->options.direct_blame,
                                               .full_names = request->full_names,
                                               .within = request->options.within};
        status = render(request, &report, error);
    }
    cts_path_kernels_release(&kernels);
    if (result.rows) cts_path_release(&result);
    cts_timeline_close(&timeline);
    return status;
}

static int run_path(const struct cts_arguments *arguments)
{
    struct request request = {.path = arguments->positional[0], .name = arguments->names[0]};
    const int code = parse(arguments, &request);
    if (code) return code;
    struct cts_error error = {0};
    struct cts_processes processes;
    enum cts_status status = cts_processes_open(cts_library_directory(), &processes, &error);
    if (status) return cts_report_error(arguments, &error);
    status = cts_path_common_read_table(arguments, &request.common, &request.options, &error);
    if (!status && request.chrome && processes.count > 1)
        status =
            cts_fail(&error, CTS_USAGE, "--chrome needs a single process: run it without mpirun");
    if (cts_processes_agree(&processes, &status, &error))
        status = analyze(&request, &processes, &error);
    const int result = !status               ? CTS_EXIT_OK
                       : processes.rank == 0 ? cts_report_error(arguments, &error)
                                             : CTS_EXIT_INPUT;
    cts_processes_close(&processes);
    cts_path_common_release(&request.common);
    return result;
}

static const struct cts_option path_options[] = {
    CTS_OPTION_FORMAT("table|json|csv"),
    {.name = "per",
     .argument = CTS_OPTION_WORDS(CTS_PATH_SHEETS),
     .help = "print one list; instance: the longest waits of each pattern"},
    CTS_OPTION_LIMIT(ROWS_IN_TABLE),
    CTS_OPTION_SORT,
    CTS_OPTION_FULL_NAMES,
    {.name = "within",
     .argument = "ACTIVITY",
     .help = "count only the time from its first begin to its last end on any rank (default: the "
             "whole run)"},
    {.name = "direct-blame", .help = "blame the immediate cause, even if it is itself waiting"},
    {.name = "path-weight",
     .argument = "X",
     .help = "weight of time on the critical path in the rating (default: 1)"},
    {.name = "blame-weight", .argument = "X", .help = "weight of blame in the rating (default: 1)"},
    CTS_OPTION_NULL_STREAM,
    CTS_OPTION_API_TABLE,
    {.name = "enriched",
     .argument = "DIR",
     .help = "also write DIR/traces.otf2: the trace with path, blame and waits as metrics"},
    {.name = "chrome",
     .argument = "FILE.json[.gz]",
     .help = "also write a trace for ui.perfetto.dev, with path and waits"},
    {.name = "memory-run",
     .argument = "RUN",
     .help = "memory recording of the same program, for kernels' occupancy and memory efficiency"},
    {.name = "window",
     .argument = "EVENTS",
     .help = "use less memory: process at least EVENTS events at a time, split at global "
             "synchronisations (default: all at once)"},
    CTS_OPTION_THREADS,
    CTS_OPTION_MEMORY_LIMIT,
    CTS_FORMER_TOP,
    {0},
};

const struct cts_verb cts_verb_path = {
    .name = "path",
    .synopsis = "RUN|TRACE [--format table|json|csv] [OPTIONS]",
    .summary = "Shows the critical path, where the run waits, and what causes the waits",
    .description =
        "Reads an OTF2 timeline (an .otf2 file, or a run recorded with --timeline) and shows "
        "which\n"
        "activities determine the runtime (the critical path), where hosts, GPUs and ranks wait\n"
        "(wait states), and which activities cause the waiting (blame). Several processes share "
        "the\n"
        "work: mpirun -n N ctascope path ... Traces of PyTorch's profiler and exports of Nsight\n"
        "Systems (files, a directory, a quoted pattern) are opened directly; several files are "
        "the\n"
        "ranks of one run.",
    .options = path_options,
    .opens_traces = true,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_path,
};
