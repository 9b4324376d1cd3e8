/* One self-contained HTML file with what a run holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recording.h"
#include "cli/report-material.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "common/output-file.h"
#include "common/text-table.h"
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

static enum cts_status report(const struct cts_arguments *arguments, const char *run,
                              const char *path, struct cts_error *error)
{
    struct cts_report_material material;
    const char *const directory = cts_argument(arguments, "figures");
    uint64_t threads = 0;
    if (cts_argument(arguments, "threads") && !cts_argument_u64(arguments, "threads", &threads))
        return cts_fail(error, CTS_USAGE, "--threads takes a number");
    const struct cts_report_options options = {.path = run, .threads = (unsigned)threads};
    enum cts_status status = cts_report_material_gather(&material, &options, error);
    if (!status) cts_cli_tell_gaps(arguments->verb, run, &material.recording.catalogue.gaps);
    if (!status && !material.has_timeline)
        cts_cli_tell_gaps(arguments->verb, run, &material.recording.timeline_gaps);
    if (!status && directory && !material.has_accesses)
        status = material.has_run ? cts_recording_need_accesses(&material.recording, error)
                                  : cts_fail(error, CTS_FORMAT,
                                             "'%s' is a timeline: figures need accesses", run);
    if (!status && directory)
        status = cts_figures_draw(&material.analyses.figures, directory, error);
    if (!status) status = write_file(write_report, &material.page, path, error);
    cts_report_material_release(&material);
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

static int report_accesses(const struct cts_arguments *arguments, const char *run, const char *path)
{
    uint64_t launch = UINT32_MAX, threads = 0;
    struct cts_view_embedded embedded;
    struct launch_page page = {.options = {.run_path = run}, .embedded = &embedded};
    if ((cts_argument(arguments, "launch") && !cts_argument_u64(arguments, "launch", &launch)) ||
        (cts_argument(arguments, "threads") && !cts_argument_u64(arguments, "threads", &threads)) ||
        (cts_argument(arguments, "max-page-size") &&
         !cts_argument_bytes(arguments, "max-page-size", &page.options.max_size_bytes)))
        return CTS_EXIT_USAGE;
    if (launch > UINT32_MAX) return cts_usage_error(arguments, "--launch takes the id of a launch");
    page.options.launch = (uint32_t)launch;
    page.options.threads = (unsigned)threads;
    struct cts_error error = {0};
    if (write_file(write_launch, &page, path, &error)) return cts_report_error(arguments, &error);
    fprintf(stderr, "ctascope report: wrote '%s' (%s): launch %u with %llu records", path,
            cts_bytes_text(embedded.size_bytes).text, embedded.launch,
            (unsigned long long)embedded.record_count);
    if (embedded.warp_count < embedded.all_warp_count)
        fprintf(stderr, " of %u of the %u warps of one of its %llu CTAs, for the page's size",
                embedded.warp_count, embedded.all_warp_count,
                (unsigned long long)embedded.all_cta_count);
    else if (embedded.cta_count < embedded.all_cta_count)
        fprintf(stderr, " of %llu of its %llu CTAs, for the page's size",
                (unsigned long long)embedded.cta_count, (unsigned long long)embedded.all_cta_count);
    fputc('\n', stderr);
    return CTS_EXIT_OK;
}

static int run_report(const struct cts_arguments *arguments)
{
    const char *const run = arguments->positional[0];
    const char *path = cts_argument(arguments, "output");
    if (!path) path = "ctascope-report.html";
    struct cts_error error = {0};
    if (cts_argument_given(arguments, "accesses")) return report_accesses(arguments, run, path);
    if (cts_argument_given(arguments, "launch") || cts_argument_given(arguments, "max-page-size"))
        return cts_usage_error(arguments, "--launch and --max-page-size need --accesses");
    if (report(arguments, run, path, &error)) return cts_report_error(arguments, &error);
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
     .help = "also write every figure into this directory, as SVG and as PNG"},
    {.name = "accesses", .help = "write the view of one launch instead, with all its accesses"},
    {.name = "launch",
     .argument = "N",
     .help = "with --accesses: the launch (default: the one with the most accesses)"},
    {.name = "max-page-size",
     .argument = "SIZE",
     .help = "with --accesses: include only some CTAs if the file would be larger (default: 20M)"},
    CTS_OPTION_THREADS,
    {0},
};

const struct cts_verb cts_verb_report = {
    .name = "report",
    .synopsis = "RUN|TRACE [-o FILE.html] [--figures DIR] [--accesses [--launch N]]",
    .summary = "Writes the analyses of a run as one self-contained HTML page",
    .description =
        "The page needs only a browser: no server, no network. It shows who communicates with "
        "whom\n"
        "and how much, what a split over several GPUs would cost, what is wrong with the "
        "accesses,\n"
        "and, for a run recorded with --timeline or an OTF2 archive (traces.otf2), the timeline\n"
        "with its critical path and wait states.",
    .options = options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_report,
};
