/* How kernels use memory: reads a run, analyses its requests, renders findings, sites and
 * allocations. */
#include <stdio.h>
#include <string.h>

#include "cli/access-run.h"
#include "cli/shared-options.h"
#include "report/access.h"

#define ROWS_IN_TABLE 30

struct request {
    bool json, csv, rows; /* rows: of one sheet; else the screenful */
    enum cts_access_sheet sheet;
    bool by_site;
    uint32_t site;
    struct cts_sheet_choice choice;
    struct cts_access_options options;
};

static int parse_numbers(const struct cts_arguments *arguments, struct request *request)
{
    uint64_t limit = request->json || request->csv ? 0 : ROWS_IN_TABLE;
    uint64_t threads = 0, banks = 4, site = 0;
    const struct {
        const char *name;
        uint64_t *value;
    } numbers[] = {
        {"limit", &limit}, {"threads", &threads}, {"bank-bytes", &banks}, {"site", &site}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (cts_argument_given(arguments, numbers[i].name) &&
            !cts_argument_u64(arguments, numbers[i].name, numbers[i].value))
            return CTS_EXIT_USAGE;
    if (banks != 4 && banks != 8)
        return cts_usage_error(arguments, "--bank-bytes takes 4 or 8, not %llu",
                               (unsigned long long)banks);
    request->options.bank_bytes = (unsigned)banks;
    request->options.threads = (unsigned)(threads < 256 ? threads : 256);
    request->choice.limit = (size_t)limit;
    request->choice.limit_option = "--limit";
    request->by_site = cts_argument_given(arguments, "site");
    request->site = site < CTS_NONE ? (uint32_t)site : CTS_NONE;
    return 0;
}

static int parse(const struct cts_arguments *arguments, struct request *request)
{
    const char *const format = cts_argument(arguments, "format");
    const char *const per = cts_argument(arguments, "per");
    *request = (struct request){.json = format && !strcmp(format, "json"),
                                .csv = format && !strcmp(format, "csv"),
                                .sheet = CTS_ACCESS_SHEET_SITE};
    request->rows = per || request->csv;
    request->options.per_launch = per && !strcmp(per, "launch");
    if (per && !strcmp(per, "finding")) request->sheet = CTS_ACCESS_SHEET_FINDING;
    if (per && !strcmp(per, "allocation")) request->sheet = CTS_ACCESS_SHEET_ALLOCATION;
    request->choice.sort = cts_argument(arguments, "sort");
    const int code = parse_numbers(arguments, request);
    if (!code && request->by_site && request->sheet == CTS_ACCESS_SHEET_ALLOCATION)
        return cts_usage_error(arguments, "--site chooses sites and findings, not allocations");
    return code;
}

static enum cts_status render(struct request *request, const struct cts_access_report *report,
                              struct cts_error *error)
{
    struct cts_sheet sheet = cts_access_sheet(report, request->sheet);
    sheet.full_names = report->full_names;
    if (request->sheet != CTS_ACCESS_SHEET_ALLOCATION)
        cts_access_choose_site(report, &request->choice);
    if (request->json) return cts_access_print_json(report, &request->choice, stdout, error);
    if (!request->rows) return cts_access_print_summary(report, stdout, error);
    const enum cts_status status =
        cts_sheet_print(&sheet, &request->choice, request->csv, stdout, error);
    if (status || request->csv) return status;
    cts_access_print_notes(report, stdout);
    return CTS_OK;
}

static int run_access(const struct cts_arguments *arguments)
{
    struct request request;
    const int code = parse(arguments, &request);
    if (code) return code;
    struct cts_error error;
    struct cts_access_run run;
    enum cts_status status =
        cts_access_run_open(arguments, arguments->positional[0], &request.options, &run, &error);
    if (status) return cts_report_error(arguments, &error);
    if (request.by_site && request.site >= run.recording.catalogue.site_count) {
        status =
            cts_fail(&error, CTS_USAGE, "the run has no site %s", cts_argument(arguments, "site"));
    } else {
        const struct cts_access_report report = {
            .run_path = run.path,
            .catalogue = &run.recording.catalogue,
            .result = &run.result,
            .full_names = cts_argument_given(arguments, "full-names"),
            .site = request.by_site ? &request.site : NULL,
            .lists_allocations = request.sheet == CTS_ACCESS_SHEET_ALLOCATION};
        status = render(&request, &report, &error);
    }
    cts_access_run_close(&run);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}

static const struct cts_option access_options[] = {
    {.name = "launch", .argument = "N", .help = "analyse only this launch (its id); repeatable"},
    CTS_OPTION_KERNEL_NAME("analyse only"),
    {.name = "site", .argument = "N", .help = "print only rows and findings of this site"},
    {.name = "per",
     .argument = "finding|site|launch|allocation",
     .help = "print one list: findings, sites, sites of each launch, or allocations"},
    CTS_OPTION_FORMAT("table|json|csv"),
    CTS_OPTION_SORT,
    CTS_OPTION_LIMIT(ROWS_IN_TABLE),
    {.name = "bank-bytes", .argument = "4|8", .help = "bytes per shared-memory bank (default: 4)"},
    CTS_OPTION_FULL_NAMES,
    CTS_OPTION_THREADS,
    CTS_FORMER_KERNEL,
    {0},
};

const struct cts_verb cts_verb_access = {
    .name = "access",
    .synopsis = "RUN [--per finding|site|launch|allocation] [--format ...] [options]",
    .summary = "Shows how kernels use memory, and what is wrong with it",
    .description =
        "For each source line: sectors per request against the ideal, bank conflicts, strides,\n"
        "active lanes, contended atomics and repeated reads. Findings come with evidence and a "
        "fix:\n"
        "accesses outside of allocations, uninitialised reads and possible races first, then what\n"
        "costs most, each with an upper bound of the savings.",
    .options = access_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_access,
};
