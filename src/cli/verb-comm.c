/* Communication between CTAs: reads a run, analyses it, renders the result. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/communication.h"
#include "analyze/communication/comm-query.h"
#include "cli/open-recording.h"
#include "cli/list-options.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "common/install.h"
#include "common/progress.h"
#include "report/comm.h"

#define ROWS_IN_TABLE 20
enum { TOP_TRANSFERS = 20 };

extern const struct cts_verb cts_verb_comm;

struct request {
    enum cts_list_format format;
    bool per[CTS_COMM_SHEET_COUNT];
    enum cts_comm_sheet sheet; /* the last that --per named */
    unsigned sheet_count;
    bool has_launch;
    struct cts_sheet_choice choice;
    struct cts_comm_options options;
    bool full_names;
    bool has_range; /* --address: */
    uint64_t start, end;
};

/* --per A,B,... ; an exit code, 0 for fine. */
static int parse_per(const struct cts_arguments *arguments, struct request *request)
{
    const char *rest = cts_argument(arguments, "per");
    char word[32];
    while (cts_argument_next_word(&rest, word, sizeof word)) {
        const enum cts_comm_sheet sheet = cts_comm_sheet_named(word); /* one: it was checked */
        request->per[sheet] = true;
        request->sheet = sheet;
        request->sheet_count++;
    }
    if (request->sheet_count > 1 && request->format != CTS_LIST_AS_JSON)
        return cts_usage_error(arguments, "a table or CSV prints one list, but --per names %u",
                               request->sheet_count);
    return 0;
}

static int parse_numbers(const struct cts_arguments *arguments, struct request *request)
{
    uint64_t transfers = 0, launch = 0;
    if (!cts_argument_rows(arguments, ROWS_IN_TABLE, &request->choice) ||
        !cts_argument_threads(arguments, &request->options.threads) ||
        !cts_argument_u64_if_given(arguments, "launch", &launch) ||
        !cts_argument_u64_if_given(arguments, "max-transfers", &transfers))
        return CTS_EXIT_USAGE;
    request->has_launch = cts_argument_given(arguments, "launch");
    request->choice.only_value = launch;
    if (request->has_launch) {
        cts_comm_launch_columns(request->sheet, &request->choice.only_column,
                                &request->choice.or_column);
        if (!request->choice.only_column && request->format != CTS_LIST_AS_JSON)
            return cts_usage_error(arguments, "--launch needs --per launch, cta, transfer, "
                                              "top-transfer or launch-pair");
        if (!request->choice.only_column)
            request->choice.only_column = request->choice.or_column = "launch";
    }
    request->options.transfer_max = (size_t)transfers;
    return 0;
}

/* One number at *text, decimal or 0x hexadecimal, and moves on. */
static bool read_address(const char **text, uint64_t *value)
{
    char *end;
    errno = 0;
    if (**text < '0' || **text > '9') return false;
    *value = strtoull(*text, &end, 0);
    const bool is_good = !errno && end != *text;
    *text = end;
    return is_good;
}

/* --address A, A:BYTES or A-END; an exit code, 0 for fine. */
static int parse_range(const struct cts_arguments *arguments, struct request *request)
{
    const char *text = cts_argument(arguments, "address");
    uint64_t more = 1;
    if (!text) return 0;
    request->has_range = true;
    bool is_good = read_address(&text, &request->start);
    const char between = *text;
    if (is_good && (between == ':' || between == '-')) {
        text++;
        is_good = read_address(&text, &more);
    }
    if (is_good && between == '-')
        request->end = more;
    else if (is_good)
        is_good = !__builtin_add_overflow(request->start, more, &request->end);
    if (!is_good || *text || request->end <= request->start)
        return cts_usage_error(arguments,
                               "--address takes A, A:BYTES or A-END, in decimal or 0x...");
    return 0;
}

static int parse(const struct cts_arguments *arguments, struct request *request)
{
    *request = (struct request){0};
    request->format = cts_argument_format(arguments);
    int code = parse_per(arguments, request);
    if (!code) code = parse_range(arguments, request);
    if (!code) code = parse_numbers(arguments, request);
    request->full_names = cts_argument_given(arguments, "full-names");
    request->options.paper_model = cts_argument_given(arguments, "paper-model");
    request->options.ignore_copies = cts_argument_given(arguments, "ignore-copies");
    request->options.per_stream = cts_argument_given(arguments, "per-stream");
    request->options.keep_ctas = request->per[CTS_COMM_SHEET_CTA];
    request->options.keep_transfers = request->per[CTS_COMM_SHEET_TRANSFER];
    request->options.top_count = TOP_TRANSFERS;
    if (request->per[CTS_COMM_SHEET_TOP] && request->choice.limit > TOP_TRANSFERS)
        request->options.top_count = request->choice.limit;
    return code;
}

/* ---- operations on a range ---- */

static enum cts_status print_range(const struct request *request,
                                   const struct cts_comm_range_report *report,
                                   struct cts_error *error)
{
    struct cts_sheet sheet = cts_comm_range_sheet(report);
    sheet.full_names = request->full_names;
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(&sheet, &request->choice, &rows, error);
    if (status) return status;
    if (request->format == CTS_LIST_AS_CSV)
        status = cts_sheet_csv(&sheet, &rows, stdout, error);
    else if (request->format == CTS_LIST_AS_JSON)
        status = cts_comm_print_range_json(report, &rows, stdout, error);
    else
        status = cts_comm_print_range(report, &rows, stdout, error);
    free(rows.rows);
    return status;
}

static enum cts_status ask(const char *run_path, const struct request *request,
                           struct cts_error *error)
{
    struct cts_recording recording;
    struct cts_query query;
    enum cts_status status = cts_recording_open(run_path, &recording, error);
    if (status) return status;
    do {
        status = cts_recording_need_accesses(&recording, error);
        if (status) break;
        const struct cts_access_source source = cts_access_source_of(recording.reader);
        const struct cts_interval range = {request->start, request->end};
        status = cts_comm_query(&recording.catalogue, &source, range, &query, error);
    } while (cts_cli_again(status, &recording));
    if (!status) {
        const struct cts_comm_range_report report = {.run_path = run_path,
                                                     .catalogue = &recording.catalogue,
                                                     .query = &query,
                                                     .start = request->start,
                                                     .end = request->end};
        cts_cli_tell_gaps(&cts_verb_comm, run_path, &recording.catalogue.gaps);
        status = print_range(request, &report, error);
        cts_query_release(&query);
    }
    cts_recording_close(&recording);
    return status;
}

/* ---- the analysis ---- */

static enum cts_status render_sheet(const struct request *request,
                                    const struct cts_comm_report *report, struct cts_error *error)
{
    struct cts_sheet sheet = cts_comm_sheet_of(report, request->sheet);
    sheet.full_names = request->full_names;
    const bool as_csv = request->format == CTS_LIST_AS_CSV;
    const enum cts_status status = cts_sheet_print(&sheet, &request->choice, as_csv, stdout, error);
    if (!status && !as_csv) cts_comm_print_notes(report, stdout);
    if (as_csv && request->sheet == CTS_COMM_SHEET_TRANSFER && report->comm->transfers_left_out)
        fprintf(stderr, "ctascope comm: %llu transfers are not listed: raise --max-transfers\n",
                (unsigned long long)report->comm->transfers_left_out);
    return status;
}

static enum cts_status render(const struct request *request, const struct cts_comm_report *report,
                              struct cts_error *error)
{
    const struct cts_comm_lists lists = {.ctas = request->per[CTS_COMM_SHEET_CTA],
                                         .transfers = request->per[CTS_COMM_SHEET_TRANSFER],
                                         .choice = &request->choice};
    if (request->format == CTS_LIST_AS_JSON)
        return cts_comm_print_json(report, &lists, stdout, error);
    if (request->format == CTS_LIST_AS_TABLE && !request->sheet_count)
        return cts_comm_print_summary(report, stdout, error);
    return render_sheet(request, report, error);
}

static enum cts_status analyze(const struct cts_recording *recording, const struct request *request,
                               const struct cts_processes *processes, struct cts_comm *comm,
                               struct cts_error *error)
{
    enum cts_status status = cts_recording_need_accesses(recording, error);
    if (status) return status; /* on all processes, which see the same files */
    if (request->per[CTS_COMM_SHEET_SM] && !recording->catalogue.cta_sm_count)
        return cts_fail(error, CTS_FORMAT,
                        "'%s' does not contain the SM of each CTA (table cta_sms); only some "
                        "imported traces do",
                        recording->path);
    const struct cts_access_source source = cts_access_source_of(recording->reader);
    struct cts_comm_options options = request->options;
    struct cts_progress progress;
    cts_progress_begin(&progress, stderr, "analysing",
                       cts_access_source_total(&source) / processes->count);
    options.progress = processes->rank ? NULL : &progress;
    options.processes = processes;
    status = cts_comm_analyze(&recording->catalogue, &source, &options, comm, error);
    cts_progress_end(&progress);
    return status;
}

/* On every process; only the first one prints. */
static enum cts_status analyze_and_render(const char *run_path, const struct request *request,
                                          const struct cts_processes *processes,
                                          struct cts_error *error)
{
    struct cts_recording recording;
    struct cts_comm comm = {0};
    enum cts_status status = cts_cli_open_together(run_path, processes, &recording, error);
    if (status) return status;
    do { /* all processes do the same */
        status = analyze(&recording, request, processes, &comm, error);
        (void)cts_processes_agree(processes, &status, error);
    } while (cts_cli_again(status, &recording));
    if (!status && processes->rank == 0) {
        const struct cts_comm_report report = {.run_path = run_path,
                                               .catalogue = &recording.catalogue,
                                               .comm = &comm,
                                               .full_names = request->full_names};
        cts_cli_tell_gaps(&cts_verb_comm, run_path, &recording.catalogue.gaps);
        status = render(request, &report, error);
    }
    cts_comm_release(&comm);
    cts_recording_close(&recording);
    return status;
}

static int run_comm(const struct cts_arguments *arguments)
{
    struct request request;
    struct cts_error error;
    struct cts_processes processes;
    const int code = parse(arguments, &request);
    if (code) return code;
    enum cts_status status = cts_processes_open(cts_library_directory(), &processes, &error);
    if (status) return cts_report_error(arguments, &error);
    if (request.has_range)
        status = processes.rank ? CTS_OK : ask(arguments->positional[0], &request, &error);
    else
        status = analyze_and_render(arguments->positional[0], &request, &processes, &error);
    /* Told before any process ends: mpirun ends all with the first that fails. */
    const int result = !status               ? CTS_EXIT_OK
                       : processes.rank == 0 ? cts_report_error(arguments, &error)
                                             : CTS_EXIT_INPUT;
    cts_processes_close(&processes);
    return result;
}

static const struct cts_option comm_options[] = {
    CTS_OPTION_PER_LISTS(CTS_OPTION_WORDS(CTS_COMM_SHEETS)),
    CTS_OPTION_FORMAT("table|json|csv"),
    CTS_OPTION_SORT,
    CTS_OPTION_LIMIT(ROWS_IN_TABLE),
    {.name = "launch",
     .argument = "N",
     .help = "print only rows in which this launch (its id) writes or reads"},
    CTS_OPTION_FULL_NAMES,
    CTS_OPTION_PAPER_MODEL,
    {.name = "ignore-copies",
     .help = "like --paper-model, but frees count: a new allocation holds no earlier data"},
    {.name = "per-stream",
     .help =
         "in the lists distance and superstep: measure distances in launches of one stream, and "
         "leave out communication across streams"},
    {.name = "address",
     .argument = "RANGE",
     .help = "print who read and wrote these bytes instead: A, A:BYTES or A-END"},
    CTS_OPTION_THREADS,
    {.name = "max-transfers",
     .argument = "N",
     .help =
         "keep at most N transfers in memory for lists; --limit only restricts printing; totals "
         "include all (default: 4,194,304)"},
    CTS_OPTION_MEMORY_LIMIT,
    CTS_FORMER_MEMORY("set-memory"),
    {0},
};

const struct cts_verb cts_verb_comm = {
    .name = "comm",
    .synopsis = "RUN [--per LIST] [--format table|json|csv] [OPTIONS]",
    .summary = "Shows how CTAs communicate through global memory",
    .description =
        "Shows which CTAs wrote the data that other CTAs read: volumes, the fraction of written\n"
        "bytes that is communicated, transfers between CTAs of different launches, and degrees\n"
        "(how many CTAs a CTA receives from, and sends to); by kernel, launch or CTA. With\n"
        "--format json, --per cta,transfer adds these lists to everything else.",
    .options = comm_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_comm,
};
