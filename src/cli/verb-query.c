/* SQL over a run. */
#include <stdio.h>
#include <string.h>

#include "cli/list-options.h"
#include "cli/open-recording.h"
#include "cli/run-timeline.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "report/query-print.h"

#define ROWS_IN_TABLE 100
#define SECONDS       60

extern const struct cts_verb cts_verb_query;

struct opened {
    const char *path;
    bool is_archive, has_timeline;
    struct cts_recording recording; /* of a run directory */
    struct cts_timeline timeline;
};

static enum cts_status open_timeline(void *state, const struct cts_timeline **timeline,
                                     struct cts_error *error)
{
    struct opened *const opened = state;
    if (!opened->has_timeline) {
        const enum cts_status status =
            cts_cli_open_timeline(opened->path, &opened->timeline, error);
        if (status) return status;
        opened->has_timeline = true;
    }
    *timeline = &opened->timeline;
    return CTS_OK;
}

/* Once more without what is damaged, as long as nothing has been written. */
static enum cts_status query(struct opened *opened, struct cts_query_run *run, const char *sql,
                             struct cts_query_print *print, struct cts_error *error)
{
    bool has_written = false;
    enum cts_status status;
    do {
        struct cts_access_source source;
        if (!opened->is_archive) {
            source = cts_access_source_of(opened->recording.reader);
            run->catalogue = &opened->recording.catalogue;
            run->source = &source;
        }
        status = cts_query_print(run, sql, print, &has_written, error);
    } while (!opened->is_archive && !has_written && cts_cli_again(status, &opened->recording));
    return status;
}

static bool parse(const struct cts_arguments *arguments, struct cts_query_run *run,
                  struct cts_query_print *print)
{
    static const enum cts_query_form forms[] = {[CTS_LIST_AS_TABLE] = CTS_QUERY_AS_TABLE,
                                                [CTS_LIST_AS_JSON] = CTS_QUERY_AS_JSON,
                                                [CTS_LIST_AS_CSV] = CTS_QUERY_AS_CSV};
    uint64_t seconds = SECONDS;
    print->form = forms[cts_argument_format(arguments)];
    print->file = stdout;
    print->limit = print->form == CTS_QUERY_AS_TABLE ? ROWS_IN_TABLE : 0;
    if (!cts_argument_u64_if_given(arguments, "limit", &print->limit) ||
        !cts_argument_u64_if_given(arguments, "time-limit", &seconds) ||
        !cts_argument_threads(arguments, &run->threads))
        return false;
    run->limit_ns = seconds < UINT64_MAX / 1000000000 ? seconds * UINT64_C(1000000000) : 0;
    return true;
}

static int run_query(const struct cts_arguments *arguments)
{
    struct opened opened = {.path = arguments->positional[0]};
    struct cts_query_print print = {.limit = 0};
    struct cts_query_run run = {.state = &opened};
    struct cts_error error = {0};
    if (!parse(arguments, &run, &print)) return CTS_EXIT_USAGE;
    opened.is_archive = cts_cli_is_archive(opened.path);
    enum cts_status status =
        opened.is_archive ? CTS_OK : cts_recording_open(opened.path, &opened.recording, &error);
    if (!status && (opened.is_archive || cts_cli_has_timeline(opened.path)))
        run.open_timeline = open_timeline;
    if (!status) status = query(&opened, &run, arguments->positional[1], &print, &error);
    if (!status && !opened.is_archive)
        cts_cli_tell_gaps(&cts_verb_query, opened.path, &opened.recording.catalogue.gaps);
    if (opened.has_timeline) {
        if (!status) cts_cli_tell_damage(opened.path, &opened.timeline);
        cts_timeline_close(&opened.timeline);
    }
    if (!opened.is_archive) cts_recording_close(&opened.recording);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}

static const struct cts_option query_options[] = {
    CTS_OPTION_FORMAT("table|json|csv"),
    CTS_OPTION_LIMIT(ROWS_IN_TABLE),
    {.name = "time-limit",
     .argument = "SECONDS",
     .help = "end a query that takes longer; 0: never (default: " CTS_OPTION_TEXT(SECONDS) ")"},
    CTS_OPTION_THREADS,
    CTS_OPTION_MEMORY_LIMIT,
    {0},
};

const struct cts_verb cts_verb_query = {
    .name = "query",
    .synopsis = "RUN|TRACE 'SELECT ...' [--format table|json|csv] [OPTIONS]",
    .summary = "Answers an SQL query about a run",
    .description =
        "SQLite reads the run's tables (kernels, launches, copies, allocations, ...), every "
        "access\n"
        "(requests, accesses), what access and flow find (findings, site_costs, flow_findings,\n"
        "flow_edges, ...) and the timeline (events, activities). For example, the ten addresses\n"
        "that most warps of launch 3 access:\n"
        "  SELECT printf('0x%x', address), count(DISTINCT cta || '.' || warp) AS warps\n"
        "  FROM accesses WHERE launch = 3 GROUP BY address ORDER BY warps DESC LIMIT 10\n"
        "A query can only read.",
    .options = query_options,
    .positional_min = 2,
    .positional_max = 2,
    .run = run_query,
};
