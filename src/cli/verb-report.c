/* One self-contained HTML file with what a run holds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/access/access.h"
#include "analyze/communication/communication.h"
#include "analyze/partition/partition.h"
#include "analyze/path/path.h"
#include "cli/timeline.h"
#include "cli/verb.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/view/embed.h"
#include "trace/acc.h"
#include "trace/catalogue.h"

enum { DENSITY_BINS = 128 };

/* Writes beside the target and renames, so that a failure leaves an older report as it was. */
static enum cts_status write_file(enum cts_status (*write)(const void *state, FILE *file,
                                                           struct cts_error *error),
                                  const void *state, const char *path, struct cts_error *error)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.part-%d", path, (int)getpid()) < 0)
        return cts_fail(error, CTS_MEMORY, "no memory for a path");
    enum cts_status status = CTS_OK;
    FILE *const file = fopen(temporary, "w");
    if (!file) {
        status = cts_fail_errno(error, errno, "cannot write '%s'", path);
        goto out;
    }
    status = write(state, file, error);
    if (fclose(file) && !status) status = cts_fail_errno(error, errno, "cannot write '%s'", path);
    if (!status && rename(temporary, path))
        status = cts_fail_errno(error, errno, "cannot write '%s'", path);
    if (status) unlink(temporary);
out:
    free(temporary);
    return status;
}

static enum cts_status write_report(const void *state, FILE *file, struct cts_error *error)
{
    return cts_page_write(state, file, error);
}

/* What the page is made from. */
struct material {
    struct cts_catalogue catalogue;
    struct cts_acc_reader *reader;
    struct cts_comm comm;
    struct cts_access_result access;
    struct cts_partition partition;
    struct cts_figures figures;
    bool has_run, has_accesses, has_timeline;
    struct cts_timeline timeline;
    struct cts_path_source source;
    struct cts_path path;
};

static void release(struct material *material)
{
    cts_figures_release(&material->figures);
    cts_partition_release(&material->partition);
    cts_access_release(&material->access);
    cts_comm_release(&material->comm);
    cts_acc_close(material->reader);
    if (material->path.rows) cts_path_release(&material->path);
    if (material->has_timeline) cts_timeline_close(&material->timeline);
    if (material->has_run) cts_catalogue_release(&material->catalogue);
}

static enum cts_status analyze_partitions(struct material *material,
                                          const struct cts_access_source *source, unsigned threads,
                                          struct cts_error *error)
{
    enum { MAPPINGS_MAX = 32 };
    static const uint32_t counts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
    const struct cts_mapping *mappings[MAPPINGS_MAX];
    size_t mapping_count = 0;
    while (cts_mappings[mapping_count] && mapping_count < MAPPINGS_MAX) {
        mappings[mapping_count] = cts_mappings[mapping_count];
        mapping_count++;
    }
    const struct cts_partition_options options = {
        .counts = counts,
        .count_count = sizeof counts / sizeof *counts,
        .mappings = mappings,
        .mapping_count = mapping_count,
        .threads = threads,
    };
    return cts_partition_analyze(&material->catalogue, source, &options, &material->partition,
                                 error);
}

static enum cts_status analyze(struct material *material, const struct cts_access_source *source,
                               unsigned threads, struct cts_error *error)
{
    struct cts_progress progress;
    cts_progress_begin(&progress, stderr, "analysing", 0);
    const struct cts_comm_options comm = {
        .density_bins = DENSITY_BINS, .threads = threads, .progress = &progress};
    const struct cts_access_options access = {.threads = threads};
    enum cts_status status =
        cts_comm_analyze(&material->catalogue, source, &comm, &material->comm, error);
    if (!status)
        status =
            cts_access_analyze(&material->catalogue, source, &access, &material->access, error);
    if (!status) status = analyze_partitions(material, source, threads, error);
    cts_progress_end(&progress);
    return status;
}

static enum cts_status make_figures(struct material *material, struct cts_error *error)
{
    struct cts_figures *const figures = &material->figures;
    enum cts_status status = cts_figures_of_comm(figures, &material->comm, error);
    if (!status)
        status = cts_figures_of_comm_where(figures, &material->catalogue, &material->comm, error);
    if (!status) status = cts_figures_of_partition(figures, &material->partition, error);
    return status;
}

static enum cts_status look_at_accesses(struct material *material, const char *run,
                                        unsigned threads, struct cts_error *error)
{
    enum cts_status status = cts_acc_open(run, &material->reader, error);
    if (status) return status;
    const struct cts_access_source source = cts_access_source_of(material->reader);
    /* A run of time alone has nothing to say about memory. */
    material->has_accesses = source.chunk_count || !material->has_timeline;
    if (!material->has_accesses) return CTS_OK;
    status = analyze(material, &source, threads, error);
    return status ? status : make_figures(material, error);
}

static enum cts_status look_at_time(struct material *material, const char *path, unsigned threads,
                                    struct cts_error *error)
{
    enum cts_status status = cts_cli_open_timeline(path, &material->timeline, error);
    if (status) return status;
    material->has_timeline = true;
    material->source = cts_path_source_of(&material->timeline);
    const struct cts_path_options options = {
        .threads = threads, .keep_segments = true, .keep_waits = true};
    return cts_path_analyze(&material->source, &options, &material->path, error);
}

static bool is_archive(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".otf2") == 0;
}

static enum cts_status gather(struct material *material, const char *path, unsigned threads,
                              struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (is_archive(path)) return look_at_time(material, path, threads, error);
    if ((status = cts_catalogue_read(path, &material->catalogue, error))) return status;
    material->has_run = true;
    if (cts_cli_has_timeline(path) && (status = look_at_time(material, path, threads, error)))
        return status;
    return look_at_accesses(material, path, threads, error);
}

static enum cts_status report(const struct cts_arguments *arguments, const char *run,
                              const char *path, struct cts_error *error)
{
    struct material material = {0};
    const char *const directory = cts_argument(arguments, "figures");
    uint64_t threads = 0;
    if (cts_argument(arguments, "threads") && !cts_argument_u64(arguments, "threads", &threads))
        return cts_fail(error, CTS_USAGE, "--threads takes a number");
    enum cts_status status = gather(&material, run, (unsigned)threads, error);
    if (!status && directory) status = cts_figures_draw(&material.figures, directory, error);
    const struct cts_page page = {
        .run_path = run,
        .catalogue = material.has_run ? &material.catalogue : NULL,
        .comm = material.has_accesses ? &material.comm : NULL,
        .access = &material.access,
        .partition = &material.partition,
        .figures = &material.figures,
        .source = &material.source,
        .path = material.has_timeline ? &material.path : NULL,
    };
    if (!status) status = write_file(write_report, &page, path, error);
    release(&material);
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
    if (launch > UINT32_MAX) return cts_usage_error(arguments, "there is no such launch");
    page.options.launch = (uint32_t)launch;
    page.options.threads = (unsigned)threads;
    struct cts_error error = {0};
    if (write_file(write_launch, &page, path, &error)) return cts_report_error(arguments, &error);
    fprintf(stderr, "ctascope report: wrote '%s': launch %u with %llu records", path,
            embedded.launch, (unsigned long long)embedded.record_count);
    if (embedded.cta_count < embedded.all_cta_count)
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
        return cts_usage_error(arguments, "--launch and --max-page-size go with --accesses");
    if (report(arguments, run, path, &error)) return cts_report_error(arguments, &error);
    fprintf(stderr, "ctascope report: wrote '%s'\n", path);
    return CTS_EXIT_OK;
}

static const struct cts_option options[] = {
    {"output", "FILE", "the file to write [ctascope-report.html]", 'o'},
    {"figures", "DIR", "also draw every figure into this directory, as SVG and as PNG", 0},
    {"accesses", NULL, "instead: the view of one launch, with its accesses in the file", 0},
    {"launch", "N", "with --accesses: which launch [the one with the most accesses]", 0},
    {"max-page-size", "SIZE", "with --accesses: some CTAs alone, if the file grows larger [20M]",
     0},
    {"threads", "N", "how many threads analyse [one per processor]", 0},
    {0},
};

const struct cts_verb cts_verb_report = {
    .name = "report",
    .synopsis = "RUN|TRACE [-o FILE.html] [--figures DIR] [--accesses [--launch N]]",
    .summary = "Writes what a run holds as one self-contained HTML page",
    .description =
        "The page needs nothing but a browser: no server, no network. It shows who\n"
        "communicates with whom and how much, what a split over several GPUs would cost,\n"
        "what is wrong with the accesses, and, of a run recorded with --timeline or of an\n"
        "OTF2 archive (traces.otf2), the timeline with its critical path and waits.",
    .options = options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_report,
};
