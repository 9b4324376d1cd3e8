/* One self-contained HTML file with what a run holds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/access/access.h"
#include "analyze/communication/communication.h"
#include "cli/verb.h"
#include "report/figures.h"
#include "report/page.h"
#include "trace/acc.h"
#include "trace/catalogue.h"

enum { DENSITY_BINS = 128 };

/* Writes beside the target and renames, so that a failure leaves an older report as it was. */
static enum cts_status write_file(const struct cts_page *page, const char *path,
                                  struct cts_error *error)
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
    status = cts_page_write(page, file, error);
    if (fclose(file) && !status) status = cts_fail_errno(error, errno, "cannot write '%s'", path);
    if (!status && rename(temporary, path))
        status = cts_fail_errno(error, errno, "cannot write '%s'", path);
    if (status) unlink(temporary);
out:
    free(temporary);
    return status;
}

static enum cts_status report(const struct cts_arguments *arguments, const char *run,
                              const char *path, struct cts_error *error)
{
    struct cts_catalogue catalogue = {0};
    struct cts_acc_reader *reader = NULL;
    struct cts_comm comm = {0};
    struct cts_access_result access = {0};
    struct cts_figures figures = {0};
    const char *const directory = cts_argument(arguments, "figures");
    uint64_t threads = 0;
    enum cts_status status = CTS_OK;
    if (cts_argument(arguments, "threads") && !cts_argument_u64(arguments, "threads", &threads))
        return cts_fail(error, CTS_USAGE, "--threads takes a number");
    if ((status = cts_catalogue_read(run, &catalogue, error))) goto out;
    if ((status = cts_acc_open(run, &reader, error))) goto out;
    const struct cts_access_source source = cts_access_source_of(reader);
    struct cts_progress progress;
    cts_progress_begin(&progress, stderr, "analysing", 0);
    const struct cts_comm_options options = {
        .density_bins = DENSITY_BINS, .threads = (unsigned)threads, .progress = &progress};
    status = cts_comm_analyze(&catalogue, &source, &options, &comm, error);
    const struct cts_access_options access_options = {.threads = (unsigned)threads};
    if (!status) status = cts_access_analyze(&catalogue, &source, &access_options, &access, error);
    cts_progress_end(&progress);
    if (status) goto out;
    if ((status = cts_figures_of_comm(&figures, &comm, error))) goto out;
    if (directory && (status = cts_figures_draw(&figures, directory, error))) goto out;
    const struct cts_page page = {.run_path = run,
                                  .catalogue = &catalogue,
                                  .comm = &comm,
                                  .access = &access,
                                  .figures = &figures};
    status = write_file(&page, path, error);
out:
    cts_figures_release(&figures);
    cts_comm_release(&comm);
    cts_access_release(&access);
    cts_acc_close(reader);
    cts_catalogue_release(&catalogue);
    return status;
}

static int run_report(const struct cts_arguments *arguments)
{
    const char *const run = arguments->positional[0];
    const char *path = cts_argument(arguments, "output");
    if (!path) path = "ctascope-report.html";
    struct cts_error error = {0};
    if (report(arguments, run, path, &error)) return cts_report_error(arguments, &error);
    fprintf(stderr, "ctascope report: wrote '%s'\n", path);
    return CTS_EXIT_OK;
}

static const struct cts_option options[] = {
    {"output", "FILE", "the file to write [ctascope-report.html]", 'o'},
    {"figures", "DIR", "also draw every figure into this directory, as SVG and as PNG", 0},
    {"threads", "N", "how many threads analyse [one per processor]", 0},
    {0},
};

const struct cts_verb cts_verb_report = {
    .name = "report",
    .synopsis = "RUN [-o FILE.html] [--figures DIR]",
    .summary = "Writes what a run holds as one self-contained HTML page",
    .description = "The page needs nothing but a browser: no server, no network. It shows the\n"
                   "volumes per kernel, who communicates with whom, transfer sizes, the number of\n"
                   "partners, the course over the launches and the map of blocks, each with the\n"
                   "numbers behind the plot.",
    .options = options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_report,
};
