/* How kernels use memory: reads a run, analyses its requests, renders findings, sites and
 * allocations. */
#include <stdio.h>
#include <string.h>

#include "cli/list-options.h"
#include "cli/access-run.h"
#include "cli/shared-options.h"
#include "cli/sarif-options.h"
#include "report/access-report.h"
#include "report/sarif.h"

#define ROWS_IN_TABLE 30

struct request {
    bool json, csv, sarif, rows; /* rows: of one sheet; else the screenful */
    enum cts_access_sheet sheet;
    bool by_site;
    uint32_t site;
    struct cts_sheet_choice choice;
    struct cts_access_options options;
    const char *fail_on; /* "fault", "race" or "finding"; NULL: nothing */
    char source_root[PATH_MAX];
};

static int parse_numbers(const struct cts_arguments *arguments, struct request *request)
{
    uint64_t banks = 4, site = 0;
    if (!cts_argument_rows(arguments, ROWS_IN_TABLE, &request->choice) ||
        !cts_argument_threads(arguments, &request->options.threads) ||
        !cts_argument_u64_if_given(arguments, "bank-bytes", &banks) ||
        !cts_argument_u64_if_given(arguments, "site", &site))
        return CTS_EXIT_USAGE;
    if (banks != 4 && banks != 8)
        return cts_usage_error(arguments, "--bank-bytes takes 4 or 8, not %llu",
                               (unsigned long long)banks);
    request->options.bank_bytes = (unsigned)banks;
    request->by_site = cts_argument_given(arguments, "site");
    request->site = site < CTS_NONE ? (uint32_t)site : CTS_NONE;
    return 0;
}

static int parse(const struct cts_arguments *arguments, struct request *request)
{
    const enum cts_list_format format = cts_argument_format(arguments);
    const char *const per = cts_argument(arguments, "per");
    *request = (struct request){.json = format == CTS_LIST_AS_JSON,
                                .csv = format == CTS_LIST_AS_CSV,
                                .sarif = format == CTS_LIST_AS_SARIF,
                                .fail_on = cts_argument(arguments, "fail-on"),
                                .sheet = CTS_ACCESS_SHEET_SITE};
    request->rows = per || request->csv;
    request->options.per_launch = per && !strcmp(per, "launch");
    if (per && !strcmp(per, "finding")) request->sheet = CTS_ACCESS_SHEET_FINDING;
    if (per && !strcmp(per, "allocation")) request->sheet = CTS_ACCESS_SHEET_ALLOCATION;
    int code = parse_numbers(arguments, request);
    if (!code) code = cts_sarif_root(arguments, request->source_root);
    if (!code && request->options.per_launch && (request->fail_on || request->sarif))
        return cts_usage_error(arguments,
                               "--per launch lists no findings, so it cannot be combined with %s",
                               request->sarif ? "--format sarif" : "--fail-on");
    if (!code && request->by_site && request->sheet == CTS_ACCESS_SHEET_ALLOCATION)
        return cts_usage_error(arguments, "--site does not apply to --per allocation");
    return code;
}

static enum cts_status render(struct request *request, const struct cts_access_report *report,
                              struct cts_error *error)
{
    struct cts_sheet sheet = cts_access_sheet(report, request->sheet);
    sheet.full_names = report->full_names;
    if (request->sheet != CTS_ACCESS_SHEET_ALLOCATION)
        cts_access_choose_site(report, &request->choice);
    if (request->sarif)
        return cts_access_print_sarif(
            report, &(struct cts_sarif_options){request->source_root, CTASCOPE_VERSION}, stdout,
            error);
    if (request->json) return cts_access_print_json(report, &request->choice, stdout, error);
    if (!request->rows) return cts_access_print_summary(report, stdout, error);
    const enum cts_status status =
        cts_sheet_print(&sheet, &request->choice, request->csv, stdout, error);
    if (status || request->csv) return status;
    cts_access_print_notes(report, stdout);
    return CTS_OK;
}

/* CTS_EXIT_THRESHOLD with a line on stderr that says why, or 0. */
static int judge(const struct cts_arguments *arguments, const struct request *request,
                 const struct cts_access_result *result)
{
    size_t failures = 0;
    if (request->fail_on && strcmp(request->fail_on, "race") && !request->by_site)
        failures += result->faulted_launches;
    for (size_t i = 0; request->fail_on && i < result->finding_count; i++) {
        const struct cts_finding *const finding = &result->findings[i];
        if (request->by_site && result->sites[finding->site].site != request->site) continue;
        failures += !strcmp(request->fail_on, "race")    ? finding->kind == CTS_FINDING_RACE
                    : !strcmp(request->fail_on, "fault") ? cts_finding_is_fault(finding->kind)
                                                         : true;
    }
    return cts_fail_on_findings(arguments, request->fail_on, failures);
}

static int run_access(const struct cts_arguments *arguments)
{
    struct request request;
    const int code = parse(arguments, &request);
    if (code) return code;
    struct cts_error error;
    struct cts_access_run run;
    int verdict = CTS_EXIT_OK;
    enum cts_status status =
        cts_access_run_open(arguments, arguments->positional[0], &request.options, &run, &error);
    if (status) return cts_report_error(arguments, &error);
    if (request.by_site && request.site >= run.recording.catalogue.site_count) {
        status = cts_fail(&error, CTS_USAGE,
                          "the run has no site %s (ctascope dump --table sites lists them)",
                          cts_argument(arguments, "site"));
    } else {
        const struct cts_access_report report = {
            .run_path = run.path,
            .catalogue = &run.recording.catalogue,
            .result = &run.result,
            .full_names = cts_argument_given(arguments, "full-names"),
            .site = request.by_site ? &request.site : NULL,
            .lists_allocations = request.sheet == CTS_ACCESS_SHEET_ALLOCATION};
        status = render(&request, &report, &error);
        if (!status) verdict = judge(arguments, &request, &run.result);
    }
    cts_access_run_close(&run);
    return status ? cts_report_error(arguments, &error) : verdict;
}

static const struct cts_option access_options[] = {
    {.name = "launch",
     .argument = "N",
     .help = "analyse only this launch (its id); repeatable (default: all)"},
    CTS_OPTION_KERNEL_NAME("analyse only"),
    {.name = "site",
     .argument = "N",
     .help = "print only rows and findings of this site (default: all)"},
    {.name = "per",
     .argument = "finding|site|launch|allocation",
     .help = "print one list; launch: the sites of each launch"},
    {.name = "fail-on",
     .argument = "fault|race|finding",
     .help =
         "exit with 3 if there is a possible race between warps (race), any finding that can "
         "make results wrong or a failed launch (fault), any finding or a failed launch (finding)"},
    CTS_OPTION_FORMAT("table|json|csv|sarif"),
    CTS_OPTION_SOURCE_ROOT,
    CTS_OPTION_SORT,
    CTS_OPTION_LIMIT(ROWS_IN_TABLE),
    {.name = "bank-bytes", .argument = "4|8", .help = "bytes per shared-memory bank (default: 4)"},
    CTS_OPTION_FULL_NAMES,
    CTS_OPTION_THREADS,
    CTS_OPTION_MEMORY_LIMIT,
    CTS_FORMER_KERNEL,
    {0},
};

const struct cts_verb cts_verb_access = {
    .name = "access",
    .synopsis = "RUN [--per finding|site|launch|allocation] [--fail-on CONDITION] [OPTIONS]",
    .summary = "Shows how kernels access memory and finds slow or wrong accesses",
    .description =
        "Shows for each source line: sectors per request against the ideal (a request is one\n"
        "execution of an instruction by a warp), bank conflicts, strides, active lanes, contended\n"
        "atomics and repeated reads. Each finding has evidence and a fix. Accesses outside\n"
        "allocations, uninitialised reads and possible races come first, then the most costly\n"
        "accesses, each with an upper bound of the savings.",
    .options = access_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_access,
};
