/* How kernels use memory: reads a run, analyses its requests, renders findings and sites. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access.h"
#include "cli/verb.h"
#include "common/progress.h"
#include "report/access.h"
#include "trace/acc.h"
#include "trace/catalogue.h"

enum { ROWS_IN_TABLE = 30 };

struct request {
    bool json, csv, per_finding, per_site;
    struct cts_sheet_choice choice;
    struct cts_access_options options;
};

static int parse(const struct cts_arguments *arguments, struct request *request)
{
    const char *const format = cts_argument(arguments, "format");
    const char *const per = cts_argument(arguments, "per");
    uint64_t limit = 0, threads = 0, banks = 4;
    *request = (struct request){.json = format && !strcmp(format, "json"),
                                .csv = format && !strcmp(format, "csv")};
    request->per_finding = per && !strcmp(per, "finding");
    request->options.per_launch = per && !strcmp(per, "launch");
    request->per_site = (per && !request->per_finding) || (request->csv && !per);
    if (!request->json && !request->csv) limit = ROWS_IN_TABLE;
    if (cts_argument_given(arguments, "limit") && !cts_argument_u64(arguments, "limit", &limit))
        return CTS_EXIT_USAGE;
    if (cts_argument_given(arguments, "threads") &&
        !cts_argument_u64(arguments, "threads", &threads))
        return CTS_EXIT_USAGE;
    if (cts_argument_given(arguments, "bank-bytes") &&
        !cts_argument_u64(arguments, "bank-bytes", &banks))
        return CTS_EXIT_USAGE;
    if (banks != 4 && banks != 8)
        return cts_usage_error(arguments, "banks are 4 or 8 bytes wide, not %llu",
                               (unsigned long long)banks);
    request->options.bank_bytes = (unsigned)banks;
    request->options.threads = (unsigned)(threads < 256 ? threads : 256);
    request->choice.limit = (size_t)limit;
    request->choice.sort = cts_argument(arguments, "sort");
    return 0;
}

static enum cts_status render(const struct request *request, const struct cts_access_report *report,
                              struct cts_error *error)
{
    if (request->json) return cts_access_print_json(report, &request->choice, stdout, error);
    if (!request->per_finding && !request->per_site)
        return cts_access_print_summary(report, stdout, error);
    const struct cts_sheet sheet = cts_access_sheet(
        report, request->per_finding ? CTS_ACCESS_SHEET_FINDING : CTS_ACCESS_SHEET_SITE);
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(&sheet, &request->choice, &rows, error);
    if (status) return status;
    status = request->csv ? cts_sheet_csv(&sheet, &rows, stdout, error)
                          : cts_sheet_table(&sheet, &rows, stdout, error);
    if (!status && !request->csv && rows.count < rows.found)
        printf("  %zu of %zu rows: --limit 0 shows all\n", rows.count, rows.found);
    if (!status && !request->csv) cts_access_print_notes(report, stdout);
    free(rows.rows);
    return status;
}

static int run_access(const struct cts_arguments *arguments)
{
    const char *const run_path = arguments->positional[0];
    struct request request;
    const int code = parse(arguments, &request);
    if (code) return code;
    struct cts_error error;
    struct cts_catalogue catalogue;
    struct cts_acc_reader *reader;
    struct cts_access_result result;
    enum cts_status status = cts_catalogue_read(run_path, &catalogue, &error);
    if (status) return cts_report_error(arguments, &error);
    if (!(status = cts_acc_open(run_path, &reader, &error))) {
        const struct cts_access_source source = cts_access_source_of(reader);
        struct cts_progress progress;
        uint64_t access_count = 0;
        for (size_t i = 0; i < source.chunk_count; i++)
            access_count += source.chunks[i].access_count;
        cts_progress_begin(&progress, stderr, "analysing", access_count);
        request.options.progress = &progress;
        status = cts_access_analyze(&catalogue, &source, &request.options, &result, &error);
        cts_progress_end(&progress);
        cts_acc_close(reader);
    }
    if (!status) {
        const struct cts_access_report report = {
            .run_path = run_path, .catalogue = &catalogue, .result = &result};
        status = render(&request, &report, &error);
        cts_access_release(&result);
    }
    cts_catalogue_release(&catalogue);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}

static const struct cts_option access_options[] = {
    {.name = "per",
     .argument = "finding|site|launch",
     .help = "rows: findings, sites of each kernel, or sites of each launch"},
    {.name = "format",
     .argument = "table|json|csv",
     .help = "the form of the output (default: table)"},
    {.name = "sort", .argument = "COLUMN", .help = "largest first; -COLUMN: smallest first"},
    {.name = "limit", .argument = "N", .help = "at most N rows (tables: 30; 0: all)"},
    {.name = "bank-bytes", .argument = "4|8", .help = "width of a bank of shared memory"},
    {.name = "threads", .argument = "N", .help = "threads to use (default: one per processor)"},
    {0},
};

const struct cts_verb cts_verb_access = {
    .name = "access",
    .synopsis = "RUN [--per finding|site|launch] [--format table|json|csv] [options]",
    .summary = "Shows how kernels use memory, and what is wrong with it",
    .description =
        "Sectors per request against the ideal, bank conflicts, strides, active lanes and\n"
        "atomics that meet, by line of the source; findings ranked by what they cost, each\n"
        "with its evidence, a remedy and a ceiling on the gain.",
    .options = access_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_access,
};
