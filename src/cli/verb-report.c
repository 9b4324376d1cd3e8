/* One self-contained HTML file with what a run holds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/open-recording.h"
#include "cli/list-options.h"
#include "cli/report-material.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "common/output-file.h"
#include "common/text-table.h"
#include "report/figures-runs.h"
#include "view/embed.h"

static enum cts_status write_file(enum cts_status (*write)(const void *state, FILE *file,
                                                           struct cts_error *error),
                                  const void *state, const char *path, struct cts_error *error)
{
    struct cts_output output;
    const enum cts_status status = cts_output_open(path, &output, error);
    return status ? status : cts_output_close(&output, write(state, output.file, error), error);
}

static enum cts_status write_report(const void *state, FILE *file, struct cts_error *error)
{
    return cts_page_write(state, file, error);
}

static enum cts_status report(const struct cts_arguments *arguments, const char *path,
                              unsigned threads, struct cts_error *error)
{
    struct cts_report_material material;
    const char *const run = arguments->positional[0];
    const char *const directory = cts_argument(arguments, "figures");
    const struct cts_report_options options = {.path = run, .threads = threads};
    enum cts_status status = cts_report_material_gather(&material, &options, error);
    if (!status) cts_cli_tell_gaps(arguments->verb, run, &material.recording.catalogue.gaps);
    if (!status && !material.has_timeline)
        cts_cli_tell_gaps(arguments->verb, run, &material.recording.timeline_gaps);
    if (!status && directory && !material.has_accesses)
        status = material.has_run
                     ? cts_recording_need_accesses(&material.recording, error)
                     : cts_fail(error, CTS_FORMAT,
                                "'%s' is a timeline; --figures needs memory accesses", run);
    if (!status && directory && !material.analyses.figures.count)
        status = cts_fail(error, CTS_FORMAT, "'%s' has no figures: no kernel accessed memory", run);
    if (!status && directory)
        status = cts_figures_draw(&material.analyses.figures, run, directory, error);
    if (!status) status = write_file(write_report, &material.page, path, error);
    cts_report_material_release(&material);
    return status;
}

/* ---- several runs ---- */

struct comparison {
    const char *directory; /* of figures; NULL: none */
    unsigned threads;
    struct cts_runs runs;
    struct cts_figures figures;
};

/* The run's own figures go into a folder under its name. */
static enum cts_status draw_own(const struct comparison *comparison,
                                const struct cts_figures *figures, const char *run,
                                struct cts_error *error)
{
    const char *const name = cts_runs_name(&comparison->runs, comparison->runs.count - 1);
    char *directory = NULL, *plain = strdup(name);
    enum cts_status status = CTS_OK;
    for (char *at = plain; at && *at; at++)
        if (*at == '/') *at = '-'; /* the whole path, where another run has its last part */
    if (!plain || asprintf(&directory, "%s/%s", comparison->directory, plain) < 0)
        status = cts_fail(error, CTS_MEMORY, "no memory for a path");
    if (!status && mkdir(comparison->directory, 0777) && errno != EEXIST)
        status = cts_fail_errno(error, errno, "cannot make '%s'", comparison->directory);
    if (!status) status = cts_figures_draw(figures, run, directory, error);
    free(directory);
    free(plain);
    return status;
}

static enum cts_status add_run(const struct cts_verb *verb, struct comparison *comparison,
                               const char *run, struct cts_error *error)
{
    struct cts_report_material material;
    const struct cts_report_options options = {
        .path = run, .threads = comparison->threads, .only_figures = true};
    enum cts_status status = cts_report_material_gather(&material, &options, error);
    if (!status) cts_cli_tell_gaps(verb, run, &material.recording.catalogue.gaps);
    if (!status)
        status = cts_runs_add(&comparison->runs, run, &material.recording.catalogue,
                              &material.analyses, error);
    if (!status && comparison->directory)
        status = draw_own(comparison, &material.analyses.figures, run, error);
    cts_report_material_release(&material);
    return status;
}

static enum cts_status write_comparison(const void *state, FILE *file, struct cts_error *error)
{
    const struct comparison *const comparison = state;
    return cts_runs_write_page(&comparison->runs, &comparison->figures, file, error);
}

static enum cts_status compare(const struct cts_arguments *arguments, const char *path,
                               unsigned threads, struct cts_error *error)
{
    struct comparison comparison = {.directory = cts_argument(arguments, "figures"),
                                    .threads = threads};
    enum cts_status status = CTS_OK;
    for (int i = 0; i < arguments->positional_count && !status; i++)
        status = add_run(arguments->verb, &comparison, arguments->positional[i], error);
    if (!status) status = cts_figures_of_runs(&comparison.figures, &comparison.runs, error);
    if (!status && comparison.directory)
        status = cts_figures_draw(&comparison.figures, NULL, comparison.directory, error);
    if (!status) status = write_file(write_comparison, &comparison, path, error);
    cts_figures_release(&comparison.figures);
    cts_runs_release(&comparison.runs);
    return status;
}

/* ---- one launch with its accesses ---- */

struct launch_page {
    struct cts_view_embed_options options;
    struct cts_view_embedded *embedded;
};

static enum cts_status write_launch(const void *state, FILE *file, struct cts_error *error)
{
    const struct launch_page *const page = state;
    return cts_view_embed(&page->options, file, page->embedded, error);
}

static int report_accesses(const struct cts_arguments *arguments, const char *path,
                           unsigned threads)
{
    uint64_t launch = UINT32_MAX;
    struct cts_view_embedded embedded;
    struct launch_page page = {
        .options = {.run_path = arguments->positional[0], .threads = threads},
        .embedded = &embedded};
    if ((cts_argument(arguments, "launch") && !cts_argument_u64(arguments, "launch", &launch)) ||
        (cts_argument(arguments, "max-page-size") &&
         !cts_argument_bytes(arguments, "max-page-size", &page.options.max_size_bytes)))
        return CTS_EXIT_USAGE;
    if (launch > UINT32_MAX) return cts_usage_error(arguments, "--launch takes the id of a launch");
    page.options.launch = (uint32_t)launch;
    struct cts_error error = {0};
    if (write_file(write_launch, &page, path, &error)) return cts_report_error(arguments, &error);
    fprintf(stderr, "ctascope report: wrote '%s' (%s): launch %u with %llu records", path,
            cts_bytes_text(embedded.size_bytes).text, embedded.launch,
            (unsigned long long)embedded.record_count);
    const char *const why =
        embedded.is_for_size ? "--max-page-size" : "a page holds at most 250,000 requests";
    if (embedded.warp_count < embedded.all_warp_count)
        fprintf(stderr, " of %u of the %u warps of one of its %llu CTAs (%s)", embedded.warp_count,
                embedded.all_warp_count, (unsigned long long)embedded.all_cta_count, why);
    else if (embedded.cta_count < embedded.all_cta_count)
        fprintf(stderr, " of %llu of its %llu CTAs (%s)", (unsigned long long)embedded.cta_count,
                (unsigned long long)embedded.all_cta_count, why);
    fputc('\n', stderr);
    return CTS_EXIT_OK;
}

static int run_report(const struct cts_arguments *arguments)
{
    const char *path = cts_argument(arguments, "output");
    if (!path) path = "ctascope-report.html";
    unsigned threads;
    if (!cts_argument_threads(arguments, &threads)) return CTS_EXIT_USAGE;
    struct cts_error error = {0};
    const bool several = arguments->positional_count > 1;
    if (several && cts_argument_given(arguments, "accesses"))
        return cts_usage_error(arguments, "--accesses takes a single run");
    if (cts_argument_given(arguments, "accesses")) return report_accesses(arguments, path, threads);
    if (cts_argument_given(arguments, "launch") || cts_argument_given(arguments, "max-page-size"))
        return cts_usage_error(arguments, "--launch and --max-page-size need --accesses");
    if (several ? compare(arguments, path, threads, &error)
                : report(arguments, path, threads, &error))
        return cts_report_error(arguments, &error);
    fprintf(stderr, "ctascope report: wrote '%s'\n", path);
    return CTS_EXIT_OK;
}

static const struct cts_option options[] = {
    {.name = "output",
     .argument = "FILE",
     .help = "file to write (default: ctascope-report.html)",
     .short_name = 'o'},
    {.name = "figures",
     .argument = "DIR",
     .help = "in addition to the page, write every figure into this directory, as SVG and PNG, and "
             "its data as CSV"},
    {.name = "accesses", .help = "write the view of one launch with all its accesses instead"},
    {.name = "launch",
     .argument = "N",
     .help = "with --accesses: the launch (default: the one with the most accesses)"},
    {.name = "max-page-size",
     .argument = "SIZE",
     .help = "with --accesses: include only some CTAs if the file would be larger (default: 20M)"},
    CTS_OPTION_THREADS,
    CTS_OPTION_MEMORY_LIMIT,
    {0},
};

const struct cts_verb cts_verb_report = {
    .name = "report",
    .synopsis = "RUN|TRACE... [-o FILE.html] [--figures DIR] [--accesses [--launch N]]",
    .summary = "Writes the analyses of a run as one self-contained HTML page",
    .description =
        "The page needs only a browser: no server, no network. It shows which CTAs exchange how\n"
        "much data, what a split over several GPUs would cost, and the findings about memory\n"
        "accesses. For a run recorded with --timeline or an OTF2 archive (traces.otf2), it shows\n"
        "the timeline with its critical path and wait states. For several runs with accesses, the\n"
        "page compares them: one figure each for bytes read and written, number of CTAs that a\n"
        "CTA exchanges data with, traffic across the middle of the grid (bisection), and traffic\n"
        "between partitions.",
    .options = options,
    .opens_traces = true,
    .positional_min = 1,
    .positional_max = -1,
    .run = run_report,
};
