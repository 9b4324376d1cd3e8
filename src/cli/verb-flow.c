/* What passes between kernels, copies and the host: reads a run, analyses it, renders the result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-known.h"
#include "cli/open-recording.h"
#include "cli/list-options.h"
#include "cli/run-timeline.h"
#include "cli/sarif-options.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "common/array.h"
#include "common/progress.h"
#include "report/flow-report.h"
#include "report/path-kernels.h"

#define ROWS_IN_TABLE 20

extern const struct cts_verb cts_verb_flow;

struct request {
    enum cts_list_format format;
    bool per[CTS_FLOW_SHEET_COUNT];
    enum cts_flow_sheet sheet;
    unsigned sheet_count;
    uint32_t between[2];
    struct cts_sheet_choice choice;
    struct cts_flow_options options;
    const char *fail_on;
    const char *baseline, *suppress; /* a run, and a file; NULL: none */
    struct cts_flow_suppressions suppressions;
    const char *time_run; /* a run or trace with times; NULL: none */
    bool full_names;
};

/* --per A,B,... ; an exit code, 0 for fine. */
static int parse_per(const struct cts_arguments *arguments, struct request *request)
{
    static const char *const words[] = {
#define X(name, word) word,
        CTS_FLOW_SHEETS(X)
#undef X
    };
    const char *rest = cts_argument(arguments, "per");
    char word[32];
    while (cts_argument_next_word(&rest, word, sizeof word))
        for (unsigned i = 0; i < CTS_FLOW_SHEET_COUNT; i++) {
            if (strcmp(words[i], word) != 0) continue;
            request->per[i] = true;
            request->sheet = (enum cts_flow_sheet)i;
            request->sheet_count++;
        }
    if (request->sheet_count > 1 && request->format != CTS_LIST_AS_JSON)
        return cts_usage_error(arguments, "a table or CSV prints one list, but --per names %u",
                               request->sheet_count);
    return 0;
}

/* An id at *text, and moves on. */
static bool read_id(const char **text, uint32_t *id)
{
    char *end;
    if (**text < '0' || **text > '9') return false;
    const unsigned long long value = strtoull(*text, &end, 10);
    *text = end;
    *id = (uint32_t)value;
    return value < CTS_NONE;
}

/* --between A,B: ids of launches. */
static int parse_between(const struct cts_arguments *arguments, struct request *request)
{
    const char *text = cts_argument(arguments, "between");
    request->between[0] = request->between[1] = CTS_NONE;
    if (!text) return 0;
    const bool is_good = read_id(&text, &request->between[0]) && *text++ == ',' &&
                         read_id(&text, &request->between[1]) && !*text;
    if (!is_good) return cts_usage_error(arguments, "--between takes the ids of two launches, A,B");
    if (request->sheet_count && !request->per[CTS_FLOW_SHEET_EDGE])
        return cts_usage_error(arguments, "--between applies only to --per edge");
    if (!request->sheet_count) {
        request->per[CTS_FLOW_SHEET_EDGE] = true;
        request->sheet = CTS_FLOW_SHEET_EDGE;
        request->sheet_count = 1;
    }
    return 0;
}

static int parse(const struct cts_arguments *arguments, struct request *request)
{
    *request = (struct request){0};
    request->format = cts_argument_format(arguments);
    int code = parse_per(arguments, request);
    if (!code) code = parse_between(arguments, request);
    if (code) return code;
    if (!cts_argument_rows(arguments, ROWS_IN_TABLE, &request->choice) ||
        !cts_argument_threads(arguments, &request->options.threads))
        return CTS_EXIT_USAGE;
    if (request->format == CTS_LIST_AS_CSV && !request->sheet_count) {
        request->per[CTS_FLOW_SHEET_FINDING] = true;
        request->sheet = CTS_FLOW_SHEET_FINDING;
        request->sheet_count = 1;
    }
    request->fail_on = cts_argument(arguments, "fail-on");
    request->baseline = cts_argument(arguments, "baseline");
    request->suppress = cts_argument(arguments, "suppress");
    request->time_run = cts_argument(arguments, "time-run");
    request->full_names = cts_argument_given(arguments, "full-names");
    return 0;
}

static enum cts_status render(const struct request *request, const struct cts_flow_report *report,
                              struct cts_error *error)
{
    static const bool findings_alone[CTS_FLOW_SHEET_COUNT] = {[CTS_FLOW_SHEET_FINDING] = true};
    if (request->format == CTS_LIST_AS_DOT) return cts_flow_print_dot(report, stdout, error);
    if (request->format == CTS_LIST_AS_JSON)
        return cts_flow_print_json(report, request->sheet_count ? request->per : findings_alone,
                                   &request->choice, stdout, error);
    if (!request->sheet_count) return cts_flow_print_summary(report, stdout, error);
    const struct cts_sheet sheet = cts_flow_sheet(report, request->sheet);
    const bool is_csv = request->format == CTS_LIST_AS_CSV;
    const enum cts_status status = cts_sheet_print(&sheet, &request->choice, is_csv, stdout, error);
    if (!status && !is_csv) cts_flow_print_notes(report, stdout);
    return status;
}

/* `launch_ns`: of the run's launches, or NULL. */
static enum cts_status analyze(const struct cts_recording *recording, const struct request *request,
                               const uint64_t *launch_ns, struct cts_flow_result *flow,
                               struct cts_error *error)
{
    enum cts_status status = cts_recording_need_accesses(recording, error);
    if (status) return status;
    const struct cts_access_source source = cts_access_source_of(recording->reader);
    struct cts_flow_options options = request->options;
    options.least_bytes = CTS_FLOW_LEAST_BYTES;
    options.launch_ns = launch_ns;
    struct cts_progress progress;
    cts_progress_begin(&progress, stderr, "analysing", cts_access_source_total(&source));
    options.progress = &progress;
    status = cts_flow_analyze(&recording->catalogue, &source, &options, flow, error);
    cts_progress_end(&progress);
    return status ? cts_context(error, "run '%s'", recording->path) : CTS_OK;
}

/* How long each launch takes, from a timeline of the same program. The caller frees *launch_ns. */
static enum cts_status read_times(const char *path, const struct cts_catalogue *catalogue,
                                  uint64_t **launch_ns, struct cts_error *error)
{
    struct cts_timeline timeline;
    struct cts_path_kernels kernels = {0};
    enum cts_status status = cts_cli_open_timeline(path, &timeline, error);
    if (status) return status;
    const struct cts_path_source source = cts_path_source_of(&timeline);
    *launch_ns = cts_array_zeroed(catalogue->launch_count, sizeof **launch_ns, error);
    status = *launch_ns ? cts_path_launch_times(&source, catalogue, *launch_ns, &kernels, error)
                        : CTS_MEMORY;
    if (!status) cts_cli_tell_damage(path, &timeline);
    if (!status && kernels.mismatches)
        fprintf(stderr,
                "ctascope flow: '%s' has other launches than the run, whose times are not known: "
                "%s\n",
                path, kernels.first_mismatch);
    cts_path_kernels_release(&kernels);
    cts_timeline_close(&timeline);
    return status ? cts_context(error, "times of '%s'", path) : CTS_OK;
}

static enum cts_status check_between(const struct request *request, const struct cts_catalogue *c,
                                     struct cts_error *error)
{
    for (unsigned i = 0; i < 2; i++)
        if (request->between[i] != CTS_NONE && !cts_catalogue_launch(c, request->between[i]))
            return cts_fail(error, CTS_USAGE,
                            "the run has no launch %u (ctascope dump --table launches lists them)",
                            request->between[i]);
    return CTS_OK;
}

/* Findings that the baseline has, too, are not listed. */
static enum cts_status drop_known(const struct request *request, struct cts_flow_result *flow,
                                  struct cts_error *error)
{
    struct cts_recording recording;
    struct cts_flow_result baseline = {0};
    enum cts_status status = cts_recording_open(request->baseline, &recording, error);
    if (status) return cts_context(error, "--baseline");
    do {
        status = analyze(&recording, request, NULL, &baseline, error);
    } while (cts_cli_again(status, &recording));
    if (!status) {
        cts_cli_tell_gaps(&cts_verb_flow, request->baseline, &recording.catalogue.gaps);
        cts_flow_drop_known(flow, &baseline);
    }
    cts_flow_release(&baseline);
    cts_recording_close(&recording);
    return status ? cts_context(error, "--baseline") : CTS_OK;
}

/* An entry that suppresses nothing is out of date, or misspelt. */
static void tell_unused(const struct request *request)
{
    for (size_t i = 0; i < request->suppressions.count; i++) {
        const struct cts_flow_suppression *const s = &request->suppressions.items[i];
        if (s->findings) continue;
        fprintf(stderr, "ctascope flow: '%s', line %u: no finding of this run matches [%s] (%s)\n",
                request->suppress, s->line, cts_flow_finding_text(s->kind), s->reason);
    }
}

static uint64_t times_of(const struct cts_flow_result *flow, enum cts_flow_finding_kind kind)
{
    uint64_t times = 0;
    for (size_t i = 0; i < flow->finding_count; i++)
        if (flow->findings[i].kind == kind) times += flow->findings[i].times;
    return times;
}

/* Without what is suppressed and what the baseline has. */
static uint64_t count_failures(const struct request *request, const struct cts_flow_result *flow)
{
    if (!request->fail_on) return 0;
    if (!strcmp(request->fail_on, "finding")) return flow->finding_count;
    const uint64_t races = times_of(flow, CTS_FLOW_RACE);
    if (!strcmp(request->fail_on, "race")) return races;
    return races + times_of(flow, CTS_FLOW_POSSIBLE_RACE);
}

static int run_flow(const struct cts_arguments *arguments)
{
    struct request request;
    struct cts_error error;
    struct cts_recording recording;
    struct cts_flow_result flow = {0};
    uint64_t *launch_ns = NULL;
    const int code = parse(arguments, &request);
    if (code) return code;
    const char *const run_path = arguments->positional[0];
    enum cts_status status = CTS_OK;
    if (request.suppress)
        status = cts_flow_suppressions_read(request.suppress, &request.suppressions, &error);
    if (!status) status = cts_recording_open(run_path, &recording, &error);
    if (status) {
        cts_flow_suppressions_release(&request.suppressions);
        return cts_report_error(arguments, &error);
    }
    if (request.time_run)
        status = read_times(request.time_run, &recording.catalogue, &launch_ns, &error);
    for (bool again = !status; again; again = cts_cli_again(status, &recording))
        status = analyze(&recording, &request, launch_ns, &flow, &error);
    if (!status && request.baseline) status = drop_known(&request, &flow, &error);
    if (!status) cts_flow_suppress(&flow, &request.suppressions);
    struct cts_flow_report report = {.run_path = run_path,
                                     .flow = &flow,
                                     .suppressions = &request.suppressions,
                                     .full_names = request.full_names};
    if (!status) status = check_between(&request, &recording.catalogue, &error);
    if (!status) status = cts_flow_choose(&flow, request.between, &report, &error);
    if (!status) {
        cts_cli_tell_gaps(&cts_verb_flow, run_path, &recording.catalogue.gaps);
        status = render(&request, &report, &error);
        tell_unused(&request);
    }
    const uint64_t failures = status ? 0 : count_failures(&request, &flow);
    free((void *)report.edges);
    free((void *)report.works);
    cts_flow_release(&flow);
    free(launch_ns);
    cts_recording_close(&recording);
    cts_flow_suppressions_release(&request.suppressions);
    if (status) return cts_report_error(arguments, &error);
    return cts_fail_on_findings(arguments, request.fail_on, (size_t)failures);
}

static const struct cts_option flow_options[] = {
    CTS_OPTION_PER_LISTS(CTS_OPTION_WORDS(CTS_FLOW_SHEETS)),
    {.name = "between",
     .argument = "A,B",
     .help = "print what passes between the launches with these ids"},
    {.name = "fail-on",
     .argument = "race|possible-race|finding",
     .help = "exit with 3 if there is a certain race (race), a certain or possible race "
             "(possible-race), any finding (finding)"},
    {.name = "suppress",
     .argument = "FILE",
     .help = "do not list the findings that FILE names with a reason"},
    {.name = "baseline",
     .argument = "RUN",
     .help = "list only findings that RUN, an earlier recording, does not have"},
    {.name = "time-run",
     .argument = "RUN",
     .help =
         "a timeline (a run or an OTF2 archive) of the same program: time that findings can save"},
    CTS_OPTION_FORMAT("table|json|csv|dot"),
    CTS_OPTION_SORT,
    CTS_OPTION_LIMIT(ROWS_IN_TABLE),
    CTS_OPTION_FULL_NAMES,
    CTS_OPTION_THREADS,
    CTS_OPTION_MEMORY_LIMIT,
    {0},
};

const struct cts_verb cts_verb_flow = {
    .name = "flow",
    .synopsis = "RUN [--per LIST] [--format table|json|csv|dot] [OPTIONS]",
    .summary = "Finds races and needless work between kernels, copies and the host",
    .description =
        "Shows which launches, copies and CPU accesses use each other's data, how many bytes, and\n"
        "what orders them. Finds races between streams, copies and host threads; work whose\n"
        "results nothing reads; needless copies, order and waits; repeated launches; kernels to\n"
        "fuse; memory that is unused or freed late. Findings that are not certain are called\n"
        "possible.",
    .options = flow_options,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_flow,
};
