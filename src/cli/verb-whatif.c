/* Projections: reads a timeline, alters durations of activities, renders what becomes of the run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/path/whatif.h"
#include "cli/path-common.h"
#include "cli/shared-options.h"
#include "cli/verb.h"
#include "common/buffer.h"
#include "common/install.h"
#include "common/processes.h"
#include "report/whatif-report.h"

#define ROWS_IN_TABLE 15
enum { PROFILE_MAX_BYTES = 1 << 20, CHANGES_MAX = 256, COSTS_MAX = 1024 };

struct request {
    struct cts_path_common common;
    enum cts_whatif_sheet sheet;
    bool has_sheet, full_names;
    struct cts_whatif_options options;
    struct cts_whatif_change changes[CHANGES_MAX];
    struct cts_whatif_cost costs[COSTS_MAX];
    char *names[CHANGES_MAX]; /* own */
    struct cts_buffer profile;
};

/* ---- changes ---- */

/* "rank 3: NAME" names a rank; the rest is the activity. */
static const char *take_rank(const char *text, uint32_t *rank)
{
    *rank = CTS_WHATIF_ALL;
    if (strncmp(text, "rank ", 5) != 0 || text[5] < '0' || text[5] > '9') return text;
    char *end;
    errno = 0;
    const unsigned long number = strtoul(text + 5, &end, 10);
    if (*end != ':' || errno || number >= CTS_WHATIF_ALL) return text;
    *rank = (uint32_t)number;
    end++;
    while (*end == ' ') end++;
    return end;
}

static int add_change(const struct cts_arguments *arguments, struct request *request,
                      const char *text, bool scaled)
{
    if (request->options.change_count == CHANGES_MAX)
        return cts_usage_error(arguments, "--scale and --remove name more than %d changes",
                               CHANGES_MAX);
    struct cts_whatif_change *const change = &request->changes[request->options.change_count];
    char *const name = strdup(text);
    if (!name) return cts_usage_error(arguments, "out of memory");
    request->names[request->options.change_count++] = name;
    change->factor = 0;
    change->activity = take_rank(name, &change->rank);
    if (scaled) {
        char *const equals = strrchr(name, '=');
        char *end = NULL;
        if (equals) change->factor = strtod(equals + 1, &end);
        if (!equals || !equals[1] || *end || !(change->factor >= 0) || change->factor > 1e6)
            return cts_usage_error(
                arguments,
                "--scale takes ACTIVITY=FACTOR with a factor from 0 to 1,000,000, not '%s'", text);
        *equals = 0;
    }
    if (!*change->activity) return cts_usage_error(arguments, "'%s' names no activity", text);
    return 0;
}

/* In the order in which they were given, since the last one of an activity counts. */
static int add_changes(const struct cts_arguments *arguments, struct request *request)
{
    request->options.changes = request->changes;
    int scale_at = 0, remove_at = 0;
    const char *scale = cts_argument_next(arguments, "scale", &scale_at);
    const char *remove = cts_argument_next(arguments, "remove", &remove_at);
    while (scale || remove) {
        const bool scaled = scale && (!remove || scale_at < remove_at);
        const int code = add_change(arguments, request, scaled ? scale : remove, scaled);
        if (code) return code;
        if (scaled)
            scale = cts_argument_next(arguments, "scale", &scale_at);
        else
            remove = cts_argument_next(arguments, "remove", &remove_at);
    }
    return 0;
}

/* ---- the device ---- */

static int read_u32(const struct cts_arguments *arguments, const char *name, uint32_t *value)
{
    uint64_t number;
    if (!cts_argument_given(arguments, name)) return 0;
    if (!cts_argument_u64(arguments, name, &number)) return CTS_EXIT_USAGE;
    if (number < 1 || number > 1u << 24)
        return cts_usage_error(arguments, "--%s takes a number from 1 to %u", name, 1u << 24);
    *value = (uint32_t)number;
    return 0;
}

static int read_device(const struct cts_arguments *arguments, struct cts_whatif_device *device)
{
    *device = cts_whatif_default_device();
    int code = read_u32(arguments, "sm-count", &device->sm_count);
    if (!code) code = read_u32(arguments, "sm-threads", &device->threads);
    if (!code) code = read_u32(arguments, "sm-ctas", &device->ctas);
    if (!code) code = read_u32(arguments, "sm-registers", &device->registers);
    if (!code && cts_argument_given(arguments, "sm-shared") &&
        !cts_argument_bytes(arguments, "sm-shared", &device->shared_bytes))
        code = CTS_EXIT_USAGE;
    return code;
}

static int parse(const struct cts_arguments *arguments, struct request *request)
{
    const char *const per = cts_argument(arguments, "per");
    request->options.targets = cts_argument_given(arguments, "targets");
    request->options.free_overlap = cts_argument_given(arguments, "free-overlap");
    int code =
        cts_path_common_parse(arguments, ROWS_IN_TABLE, &request->common, &request->options.path);
    if (!code) code = add_changes(arguments, request);
    if (!code) code = read_device(arguments, &request->options.device);
    if (code) return code;
    if (!request->options.change_count && !request->options.targets)
        return cts_usage_error(arguments, "say what to change: --scale, --remove or --targets");
    request->sheet =
        request->options.change_count ? CTS_WHATIF_SHEET_ACTIVITY : CTS_WHATIF_SHEET_TARGET;
    request->has_sheet = per != NULL;
    request->full_names = cts_argument_given(arguments, "full-names");
    if (per) request->sheet = cts_whatif_sheet_named(per);
    return 0;
}

/* ---- files ---- */

/* Lines NAME=NANOSECONDS; empty ones and those that begin with '#' say nothing. */
static enum cts_status read_profile(const char *path, struct request *request,
                                    struct cts_error *error)
{
    enum cts_status status = cts_buffer_read_text(&request->profile, path, error);
    if (status) return status;
    request->options.costs = request->costs;
    char *line = (char *)request->profile.data;
    for (unsigned number = 1; line; number++) {
        char *const end = strchr(line, '\n');
        if (end) *end = 0;
        if (*line && *line != '#') {
            char *const equals = strrchr(line, '=');
            char *rest = NULL;
            errno = 0;
            const unsigned long long cost_ns = equals ? strtoull(equals + 1, &rest, 10) : 0;
            if (!equals || equals == line || equals[1] < '0' || equals[1] > '9' || errno ||
                (*rest && strcmp(rest, "\r") != 0))
                return cts_fail(error, CTS_FORMAT, "'%s' line %u: not NAME=NANOSECONDS", path,
                                number);
            if (request->options.cost_count == COSTS_MAX)
                return cts_fail(error, CTS_LIMIT, "'%s' has more than %d costs", path, COSTS_MAX);
            *equals = 0;
            request->costs[request->options.cost_count++] = (struct cts_whatif_cost){line, cost_ns};
        }
        line = end ? end + 1 : NULL;
    }
    return CTS_OK;
}

/* ---- the verb ---- */

static enum cts_status render(const struct request *request, const struct cts_whatif_report *report,
                              struct cts_error *error)
{
    if (request->common.format == CTS_LIST_AS_JSON)
        return cts_whatif_print_json(report, &request->common.choice, stdout, error);
    if (request->common.format == CTS_LIST_AS_TABLE && !request->has_sheet &&
        !request->common.choice.sort)
        return cts_whatif_print_summary(report, request->common.choice.limit, stdout, error);
    struct cts_sheet sheet = cts_whatif_sheet(report, request->sheet);
    sheet.full_names = request->full_names;
    const bool as_csv = request->common.format == CTS_LIST_AS_CSV;
    const enum cts_status status =
        cts_sheet_print(&sheet, &request->common.choice, as_csv, stdout, error);
    if (!status) cts_whatif_print_notes(report, as_csv ? stderr : stdout);
    return status;
}

static enum cts_status project(const struct cts_arguments *arguments, struct request *request,
                               const struct cts_processes *processes, struct cts_error *error)
{
    struct cts_timeline timeline;
    const char *const path = arguments->positional[0];
    enum cts_status status = cts_path_common_open(path, processes, &timeline, error);
    if (status) return status;
    request->options.path.processes = processes;
    const struct cts_path_source source = cts_path_source_of(&timeline);
    struct cts_whatif result;
    status = cts_whatif_analyze(&source, &request->options, &result, error);
    const bool is_analysed = !status;
    if (!status) status = cts_path_common_tell_damage(path, processes, &timeline, error);
    if (!status && processes->rank == 0) {
        const struct cts_whatif_report report = {.path = arguments->names[0],
                                                 .result = &result,
                                                 .changed = request->options.change_count > 0,
                                                 .full_names = request->full_names};
        status = render(request, &report, error);
        if (request->options.targets && request->common.format == CTS_LIST_AS_TABLE)
            fprintf(stderr, "%llu projections in %.2f s\n",
                    (unsigned long long)result.notes.projections, result.notes.seconds);
    }
    if (is_analysed) cts_whatif_release(&result);
    cts_timeline_close(&timeline);
    return status;
}

static int run_whatif(const struct cts_arguments *arguments)
{
    struct request *const request = calloc(1, sizeof *request);
    struct cts_error error = {0};
    if (!request) {
        (void)cts_fail(&error, CTS_MEMORY, "out of memory");
        return cts_report_error(arguments, &error);
    }
    request->profile.ceiling_bytes = PROFILE_MAX_BYTES;
    int code = parse(arguments, request);
    struct cts_processes processes = {0};
    enum cts_status status =
        code ? CTS_OK : cts_processes_open(cts_library_directory(), &processes, &error);
    const bool opened = !code && !status;
    const char *const profile = cts_argument(arguments, "profile");
    if (!code && !status && profile) status = read_profile(profile, request, &error);
    if (!code && !status)
        status =
            cts_path_common_read_table(arguments, &request->common, &request->options.path, &error);
    if (opened && cts_processes_agree(&processes, &status, &error))
        status = project(arguments, request, &processes, &error);
    if (status) code = processes.rank == 0 ? cts_report_error(arguments, &error) : CTS_EXIT_INPUT;
    if (opened) cts_processes_close(&processes);
    for (size_t i = 0; i < request->options.change_count; i++) free(request->names[i]);
    cts_buffer_release(&request->profile);
    cts_path_common_release(&request->common);
    free(request);
    return code;
}

static const struct cts_option whatif_options[] = {
    {.name = "scale",
     .argument = "ACTIVITY=FACTOR",
     .help = "multiply an activity's time by FACTOR; 'rank 3: ACTIVITY=0.5' on one rank only; "
             "repeatable"},
    {.name = "remove",
     .argument = "ACTIVITY",
     .help = "project the run with this activity taking no time; repeatable"},
    {.name = "targets",
     .help = "project the runtime with each activity twice as fast, and with its time removed"},
    CTS_OPTION_FORMAT("table|json|csv"),
    CTS_OPTION_PER(CTS_OPTION_WORDS(CTS_WHATIF_SHEETS)),
    CTS_OPTION_LIMIT(ROWS_IN_TABLE),
    CTS_OPTION_FULL_NAMES,
    CTS_OPTION_SORT,
    {.name = "free-overlap",
     .help = "assume that concurrent kernels neither slow each other down nor wait for SMs"},
    {.name = "sm-count",
     .argument = "N",
     .help = "SMs of the device (default: 132, an H100's or H200's, as the next four)"},
    {.name = "sm-threads", .argument = "N", .help = "threads per SM (default: 2048)"},
    {.name = "sm-ctas", .argument = "N", .help = "CTAs per SM (default: 32)"},
    {.name = "sm-registers", .argument = "N", .help = "registers per SM (default: 65536)"},
    {.name = "sm-shared", .argument = "SIZE", .help = "shared memory per SM (default: 228K)"},
    {.name = "profile",
     .argument = "FILE",
     .help = "file that you write: minimum durations of calls, one NAME=NANOSECONDS per line "
             "(default: taken from the timeline)"},
    CTS_OPTION_NULL_STREAM,
    CTS_OPTION_API_TABLE,
    CTS_OPTION_THREADS,
    CTS_OPTION_MEMORY_LIMIT,
    CTS_FORMER_TOP,
    {0},
};

const struct cts_verb cts_verb_whatif = {
    .name = "whatif",
    .synopsis = "RUN|TRACE --scale ACTIVITY=FACTOR | --remove ACTIVITY | --targets [OPTIONS]",
    .summary = "Projects the runtime if activities were faster or slower",
    .description =
        "Reads an OTF2 timeline (an .otf2 file, or a run recorded with --timeline), changes the\n"
        "duration of the named activities and projects the result: the runtime in total and per\n"
        "rank, the critical path, and wait states that appear and disappear. Several processes\n"
        "share the targets: mpirun -n N ctascope whatif ... --targets. Traces of PyTorch's\n"
        "profiler and exports of Nsight Systems are opened directly, as by 'ctascope path'.",
    .options = whatif_options,
    .opens_traces = true,
    .positional_min = 1,
    .positional_max = 1,
    .run = run_whatif,
};
