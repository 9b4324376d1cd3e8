/* What has changed between two runs of a program, in memory accesses or in time; for CI an exit
 * code by a chosen threshold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/list-options.h"
#include "cli/access-run.h"
#include "cli/diff-time.h"
#include "cli/shared-options.h"
#include "common/text-table.h"
#include "cli/sarif-options.h"
#include "report/access-diff.h"
#include "report/sarif.h"

#define ROWS_IN_TABLE 30

struct request {
    bool json, csv, sarif, rows;
    enum cts_diff_sheet sheet;
    struct cts_sheet_choice choice;
    bool full_names;
    struct cts_access_options options;
    const char *fail_on; /* "fault", "new" or "worse"; NULL: nothing */
    double fail_above;   /* 0.05 = 5%; infinite: nothing */
    char source_root[PATH_MAX];
};

static int parse_growth(const struct cts_arguments *arguments, struct request *request)
{
    const char *const text = cts_argument(arguments, "fail-above");
    char *end;
    request->fail_above = INFINITY;
    if (!text) return 0;
    request->fail_above = strtod(text, &end) / 100;
    if (end == text || (*end && strcmp(end, "%")) || !(request->fail_above >= 0) ||
        isinf(request->fail_above))
        return cts_usage_error(arguments, "--fail-above takes a percentage such as 5%%, not '%s'",
                               text);
    return 0;
}

static int parse(const struct cts_arguments *arguments, struct request *request)
{
    const enum cts_list_format format = cts_argument_format(arguments);
    const char *const per = cts_argument(arguments, "per");
    *request = (struct request){.json = format == CTS_LIST_AS_JSON,
                                .csv = format == CTS_LIST_AS_CSV,
                                .sarif = format == CTS_LIST_AS_SARIF,
                                .fail_on = cts_argument(arguments, "fail-on")};
    request->sheet = per && !strcmp(per, "kernel") ? CTS_DIFF_SHEET_KERNEL : CTS_DIFF_SHEET_FINDING;
    request->rows = per || request->csv;
    if (!cts_argument_rows(arguments, ROWS_IN_TABLE, &request->choice) ||
        !cts_argument_threads(arguments, &request->options.threads))
        return CTS_EXIT_USAGE;
    request->choice.limit_option = NULL; /* it says below its tables how many rows there are */
    request->full_names = cts_argument_given(arguments, "full-names");
    const int code = cts_sarif_root(arguments, request->source_root);
    return code ? code : parse_growth(arguments, request);
}

static enum cts_status render(const struct request *request, const struct cts_diff_report *report,
                              struct cts_error *error)
{
    struct cts_sheet sheet = cts_diff_sheet(report, request->sheet);
    sheet.full_names = request->full_names;
    if (request->sarif)
        return cts_diff_print_sarif(
            report, &(struct cts_sarif_options){request->source_root, CTASCOPE_VERSION}, stdout,
            error);
    if (request->json) return cts_diff_print_json(report, &request->choice, stdout, error);
    if (!request->rows) return cts_diff_print_summary(report, stdout, error);
    const enum cts_status status =
        cts_sheet_print(&sheet, &request->choice, request->csv, stdout, error);
    if (!status && !request->csv && request->choice.limit &&
        sheet.row_count > request->choice.limit)
        printf("  %zu of %zu rows: --limit 0 shows all\n", request->choice.limit, sheet.row_count);
    return status;
}

/* ---- the threshold ---- */

static bool is_failure(const char *fail_on, const struct cts_diff_finding *finding)
{
    const bool is_new = finding->change == CTS_DIFF_NEW;
    if (!strcmp(fail_on, "fault")) return is_new && cts_finding_is_fault(finding->after->kind);
    if (!strcmp(fail_on, "new")) return is_new;
    return is_new ||
           (finding->change == CTS_DIFF_CHANGED && finding->after_amount > finding->before_amount);
}

/* CTS_EXIT_THRESHOLD with a line on stderr that says why, or 0. */
static int judge(const struct cts_arguments *arguments, const struct request *request,
                 const struct cts_access_diff *diff)
{
    size_t failures = 0;
    for (size_t i = 0; request->fail_on && i < diff->finding_count; i++)
        failures += is_failure(request->fail_on, &diff->findings[i]);
    const char *kernel = NULL;
    double most = cts_diff_growth(diff, NULL);
    for (size_t i = 0; i < diff->kernel_count; i++) {
        const double growth = cts_diff_growth(diff, &diff->kernels[i]);
        if (!(growth > most)) continue;
        most = growth;
        kernel = diff->kernels[i].name;
    }
    const int code = cts_fail_on_findings(arguments, request->fail_on, failures);
    if (most > request->fail_above)
        fprintf(stderr, "ctascope %s: --fail-above %g%%: the memory cost of %s grew by %.1f%%\n",
                arguments->verb->name, 100 * request->fail_above,
                kernel ? kernel : "all kernels together", 100 * most);
    return most > request->fail_above ? CTS_EXIT_THRESHOLD : code;
}

/* Totals of a part are smaller than those of all: said for every format, where nobody parses it. */
static void warn_of_part(const struct cts_arguments *arguments, const struct cts_access_run *run)
{
    const struct cts_access_result *const r = &run->result;
    if (!r->unrecorded_launches && !r->dropped_accesses && !r->incomplete_files) return;
    fprintf(stderr,
            "ctascope %s: '%s' is incomplete: %s not fully recorded, %s dropped, %s truncated; "
            "differences may come from that alone\n",
            arguments->verb->name, run->path,
            cts_counted_text(r->unrecorded_launches, "launch", "launches").text,
            cts_counted_text(r->dropped_accesses, "access", "accesses").text,
            cts_counted_text(r->incomplete_files, "file", "files").text);
}

static int compare(const struct cts_arguments *arguments, const struct request *request,
                   const struct cts_access_run *before, const struct cts_access_run *after)
{
    const struct cts_diff_side sides[] = {{&before->recording.catalogue, &before->result},
                                          {&after->recording.catalogue, &after->result}};
    struct cts_access_diff diff;
    struct cts_error error;
    warn_of_part(arguments, before);
    warn_of_part(arguments, after);
    enum cts_status status = cts_access_diff(&sides[0], &sides[1], &diff, &error);
    if (status) return cts_report_error(arguments, &error);
    const struct cts_diff_report report = {.before_path = before->path,
                                           .after_path = after->path,
                                           .before = &sides[0],
                                           .after = &sides[1],
                                           .diff = &diff};
    status = render(request, &report, &error);
    const int code =
        status ? cts_report_error(arguments, &error) : judge(arguments, request, &diff);
    cts_access_diff_release(&diff);
    return code;
}

/* By --time, by what --per lists, or since a run holds nothing else. */
static enum cts_status choose_time(const struct cts_arguments *arguments, const char *per,
                                   bool *is_of_time, struct cts_error *error)
{
    *is_of_time = cts_argument_given(arguments, "time") ||
                  (per && (!strcmp(per, "activity") || !strcmp(per, "pattern")));
    if (*is_of_time || per) return CTS_OK;
    return cts_diff_is_of_time(arguments->positional[0], arguments->positional[1], is_of_time,
                               error);
}

static int run_time(const struct cts_arguments *arguments, const struct request *request,
                    const char *per)
{
    if (request->fail_on || cts_argument_given(arguments, "kernel-name") ||
        cts_argument_given(arguments, "kernel"))
        return cts_usage_error(arguments, "--fail-on and --kernel-name apply to memory accesses; "
                                          "this compares timelines");
    if (request->sarif)
        return cts_usage_error(arguments, "--format sarif applies to memory accesses; this "
                                          "compares timelines");
    if (per && strcmp(per, "activity") != 0 && strcmp(per, "pattern") != 0)
        return cts_usage_error(arguments,
                               "--per %s applies to memory accesses; this compares timelines", per);
    return cts_diff_run_time(arguments,
                             &(struct cts_diff_time){.json = request->json,
                                                     .csv = request->csv,
                                                     .rows = request->rows,
                                                     .sheet = per && !strcmp(per, "pattern")
                                                                  ? CTS_TIME_SHEET_PATTERN
                                                                  : CTS_TIME_SHEET_ACTIVITY,
                                                     .choice = request->choice,
                                                     .threads = request->options.threads,
                                                     .fail_above = request->fail_above});
}

static int run_diff(const struct cts_arguments *arguments)
{
    struct request request;
    int code = parse(arguments, &request);
    if (code) return code;
    const char *const per = cts_argument(arguments, "per");
    struct cts_error error;
    bool is_of_time;
    if (choose_time(arguments, per, &is_of_time, &error))
        return cts_report_error(arguments, &error);
    if (is_of_time) return run_time(arguments, &request, per);
    struct cts_access_run before, after;
    if (cts_access_run_open(arguments, arguments->positional[0], &request.options, &before, &error))
        return cts_report_error(arguments, &error);
    if (cts_access_run_open(arguments, arguments->positional[1], &request.options, &after,
                            &error)) {
        code = cts_report_error(arguments, &error);
    } else {
        code = compare(arguments, &request, &before, &after);
        cts_access_run_close(&after);
    }
    cts_access_run_close(&before);
    return code;
}

static const struct cts_option diff_options[] = {
    {.name = "fail-on",
     .argument = "fault|new|worse",
     .help = "exit with 3 on: a new finding that can make results wrong, possible races included "
             "(fault); any new finding (new); any new or grown finding (worse)"},
    {.name = "fail-above",
     .argument = "PERCENT",
     .help = "exit with 3 if the memory cost of a kernel or of all kernels, or the runtime, grew "
             "by more than PERCENT"},
    CTS_OPTION_KERNEL_NAME("compare only"),
    {.name = "time", .help = "compare timelines (default for runs without memory accesses)"},
    {.name = "per",
     .argument = "finding|kernel|activity|pattern",
     .help = "print one list; activity and pattern are for timelines"},
    CTS_OPTION_FORMAT("table|json|csv|sarif"),
    CTS_OPTION_SOURCE_ROOT,
    CTS_OPTION_SORT,
    CTS_OPTION_LIMIT(ROWS_IN_TABLE),
    CTS_OPTION_FULL_NAMES,
    CTS_OPTION_THREADS,
    CTS_OPTION_MEMORY_LIMIT,
    CTS_FORMER_KERNEL,
    {0},
};

const struct cts_verb cts_verb_diff = {
    .name = "diff",
    .synopsis = "BEFORE AFTER [--fail-on fault|new|worse] [--fail-above PERCENT] [OPTIONS]",
    .summary = "Compares two runs: their memory accesses or their time",
    .description =
        "Memory accesses: shows findings of 'ctascope access' that are new, changed or gone, and\n"
        "each kernel's memory traffic before and after, even if source lines moved. Time (two "
        "runs\n"
        "with timelines, or .otf2 files): shows what became faster or slower, and what "
        "moved\n"
        "onto the critical path.",
    .options = diff_options,
    .opens_traces = true,
    .positional_min = 2,
    .positional_max = 2,
    .run = run_diff,
};
