/* Runs a program with the environment that makes the recorder in it record, and then looks at what
 * came of it.
 *
 * The recorder is a part of the program (the library that `ctascope cc` links); `record` only
 * prepares the run, passes options as CTASCOPE_* variables, and waits. The run has a session, so
 * that every process that the program starts, and every rank of an mpirun whose ranks each have a
 * `record` around them, may record into it, and nobody else (trace/catalogue-open.c). */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/preload.h"
#include "cli/run-program.h"
#include "cli/summary.h"
#include "cli/timeline.h"
#include "cli/verb.h"
#include "common/name-filter.h"
#include "common/text-stream.h"
#include "common/text-table.h"
#include "trace/id-claim.h"
#include "trace/run-lock.h"
#include "trace/failures-keep.h"
#include "trace/seal.h"
#include "cli/shared-options.h"

/* As timeout(1) and env(1) have it. */
enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* ---- the session ---- */

/* What all ranks of one MPI job share and no other job does, or NULL. */
static const char *mpi_job(void)
{
    static const char *const names[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const value = getenv(names[i]);
        if (value && *value) return value;
    }
    return NULL;
}

static bool under_mpi(void)
{
    return mpi_job() || getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK") ||
           getenv("PMIX_RANK") || getenv("MV2_COMM_WORLD_RANK");
}

static void make_session(char *session, size_t session_bytes)
{
    const char *const job = mpi_job();
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (job)
        snprintf(session, session_bytes, "mpi-%.200s", job);
    else if (under_mpi()) /* the ranks of a host have one launcher */
        snprintf(session, session_bytes, "mpi-parent-%d", getppid());
    else
        snprintf(session, session_bytes, "%d-%lld-%09ld", getpid(), (long long)now.tv_sec,
                 now.tv_nsec);
}

/* ---- options to environment ---- */

struct variable_of_option {
    const char *option, *variable;
};

static const struct variable_of_option plain_options[] = {
    {"kernel-name", "CTASCOPE_KERNEL_NAME"},   {"launch-skip", "CTASCOPE_LAUNCH_SKIP"},
    {"launch-count", "CTASCOPE_LAUNCH_COUNT"}, {"cta-sample", "CTASCOPE_CTA_SAMPLE"},
    {"threads", "CTASCOPE_WORKERS"},           {"spaces", "CTASCOPE_SPACES"},
};
static const struct variable_of_option flag_options[] = {
    {"values", "CTASCOPE_VALUES"},
    {"host-accesses", "CTASCOPE_HOST_ACCESSES"},
    {"deterministic", "CTASCOPE_DETERMINISTIC"},
};

/* "1/8" samples as "8" does; the runtime takes both. */
static bool is_one_in_n(const char *text)
{
    if (strncmp(text, "1/", 2) != 0 || text[2] < '1' || text[2] > '9') return false;
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text + 2, &end, 10);
    return !errno && !*end && number <= UINT32_MAX;
}

static bool check_numbers(const struct cts_arguments *arguments)
{
    static const char *const names[] = {"launch-skip", "launch-count", "cta-sample", "threads"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        uint64_t value = 0;
        if (!cts_argument_given(arguments, names[i])) continue;
        if (strcmp(names[i], "cta-sample") == 0 && is_one_in_n(cts_argument(arguments, names[i])))
            continue;
        if (!cts_argument_u64(arguments, names[i], &value)) return false;
        const bool zero_allowed = i == 0;
        if (value > UINT32_MAX || (value == 0 && !zero_allowed)) {
            cts_usage_error(arguments, "--%s %llu is out of range", names[i],
                            (unsigned long long)value);
            return false;
        }
    }
    return true;
}

static bool check_expression(const struct cts_arguments *arguments, const char *option,
                             const char *name)
{
    struct cts_name_filter filter;
    struct cts_error error;
    if (cts_name_filter_make(&filter, name, &error)) {
        cts_usage_error(arguments, "--%s %s: %s", option, name, error.text);
        return false;
    }
    cts_name_filter_release(&filter);
    return true;
}

static bool check_kernel_name(const struct cts_arguments *arguments)
{
    const char *const name = cts_argument(arguments, "kernel-name");
    return !name || check_expression(arguments, "kernel-name", name);
}

static bool wants_timeline(const struct cts_arguments *arguments)
{
    return cts_argument_given(arguments, "timeline");
}

static bool wants_memory(const struct cts_arguments *arguments)
{
    return cts_argument_given(arguments, "memory") || !wants_timeline(arguments);
}

/* An option that is a size goes into the environment as a number. */
static bool set_size(const struct cts_arguments *arguments, const char *option,
                     const char *variable)
{
    uint64_t bytes = 0;
    char text[24];
    if (!cts_argument_given(arguments, option)) return true;
    if (!cts_argument_bytes(arguments, option, &bytes)) return false;
    snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    setenv(variable, text, 1);
    return true;
}

static bool check_ring_size(const struct cts_arguments *arguments)
{
    const uint64_t least_bytes = 64 << 10, most_bytes = (uint64_t)1 << 36;
    uint64_t bytes = least_bytes;
    if (!cts_argument_given(arguments, "ring-size")) return true;
    if (!cts_argument_bytes(arguments, "ring-size", &bytes)) return false;
    if (bytes >= least_bytes && bytes <= most_bytes) return true;
    cts_usage_error(arguments, "--ring-size takes 64K to 64G, not '%s'",
                    cts_argument(arguments, "ring-size"));
    return false;
}

/* "global" and what else, as the recorder takes it. */
static bool check_spaces(const struct cts_arguments *arguments)
{
    const char *const spaces = cts_argument(arguments, "spaces");
    bool global = false;
    for (const char *at = spaces; at && *at;) {
        const size_t length = strcspn(at, ",");
        global = global || (length == 6 && strncmp(at, "global", length) == 0);
        at += length;
        at += *at == ',';
    }
    if (spaces && !global)
        cts_usage_error(arguments,
                        "--spaces %s: global memory is always recorded; add 'global' to the list",
                        spaces);
    return !spaces || global;
}

/* Each range that is given becomes a line. */
static bool set_ranges(const struct cts_arguments *arguments)
{
    const char *range;
    struct cts_text_stream stream;
    int at = 0;
    const int program_at = arguments->given_count - arguments->positional_count;
    if (!cts_argument_given(arguments, "nvtx-include")) return true;
    FILE *const file = cts_text_stream_open(&stream);
    while (file && (range = cts_argument_next(arguments, "nvtx-include", &at)) &&
           at <= program_at) {
        const char *const name = strchr(range, '@') ? strchr(range, '@') + 1 : range;
        if (!*name || strchr(range, '\n') || !check_expression(arguments, "nvtx-include", name)) {
            if (!*name || strchr(range, '\n'))
                cts_usage_error(arguments, "--nvtx-include takes the name of a range, not '%s'",
                                range);
            free(cts_text_stream_close(&stream, NULL));
            return false;
        }
        fprintf(file, "%s\n", range);
    }
    char *const lines = file ? cts_text_stream_close(&stream, NULL) : NULL;
    if (!lines || setenv("CTASCOPE_NVTX_INCLUDE", lines, 1)) {
        free(lines);
        fputs("ctascope record: out of memory\n", stderr);
        return false;
    }
    free(lines);
    cts_watch_ranges();
    return true;
}

static bool set_environment(const struct cts_arguments *arguments)
{
    if (!check_numbers(arguments) || !check_kernel_name(arguments) || !check_ring_size(arguments) ||
        !check_spaces(arguments) || !set_ranges(arguments))
        return false;
    for (size_t i = 0; i < sizeof plain_options / sizeof *plain_options; i++) {
        const char *const value = cts_argument(arguments, plain_options[i].option);
        if (value) setenv(plain_options[i].variable, value, 1);
    }
    for (size_t i = 0; i < sizeof flag_options / sizeof *flag_options; i++)
        if (cts_argument_given(arguments, flag_options[i].option))
            setenv(flag_options[i].variable, "1", 1);
    if (!set_size(arguments, "max-size", "CTASCOPE_MAX_SIZE") ||
        !set_size(arguments, "ring-size", "CTASCOPE_RING_SIZE"))
        return false;
    if (wants_timeline(arguments)) {
        setenv("CTASCOPE_TIMELINE", "1", 1);
        cts_preload_recorders(arguments->positional[0]);
    } else {
        unsetenv("CTASCOPE_TIMELINE");
        cts_inject_memory_recorder(); /* a process has room for one: with a timeline, CUPTI's */
    }
    if (wants_memory(arguments)) {
        unsetenv("CTASCOPE_ACCESSES");
        cts_watch_threads(arguments->positional[0]);
    } else {
        setenv("CTASCOPE_ACCESSES", "0", 1);
    }
    return true;
}

/* ---- the run directory ---- */

/* The command as one would type it. */
static char *command_text(const struct cts_arguments *arguments)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./-_";
    struct cts_text_stream stream;
    FILE *const file = cts_text_stream_open(&stream);
    if (!file) return NULL;
    for (int i = 0; i < arguments->positional_count; i++) {
        const char *const word = arguments->positional[i];
        if (i) fputc(' ', file);
        if (*word && !word[strspn(word, plain)]) {
            fputs(word, file);
            continue;
        }
        fputc('\'', file);
        for (const char *c = word; *c; c++)
            if (*c == '\'')
                fputs("'\\''", file);
            else
                fputc(*c, file);
        fputc('\'', file);
    }
    return cts_text_stream_close(&stream, NULL);
}

/* Makes the run that was asked for, or the first ctascope-run, ctascope-run-2, ... that is free. */
static enum cts_status prepare_run(const struct cts_arguments *arguments, const char *session,
                                   char *run_path, int *held, struct cts_error *error)
{
    enum { NUMBERS_MAX = 10000 };
    const char *const asked = cts_argument(arguments, "output");
    const bool replace = cts_argument_given(arguments, "force");
    char *const command = command_text(arguments);
    char path[PATH_MAX] = "ctascope-run";
    enum cts_status status = CTS_OK;
    if (!command) return cts_fail(error, CTS_MEMORY, "out of memory");
    if (asked) {
        snprintf(path, sizeof path, "%s", asked);
        status = cts_catalogue_prepare_and_hold(
            path, &(struct cts_run_start){session, command, replace}, held, error);
    } else {
        status = cts_catalogue_prepare_and_hold(
            path, &(struct cts_run_start){session, command, replace}, held, error);
        for (int n = 2; status == CTS_USAGE && n < NUMBERS_MAX; n++) {
            snprintf(path, sizeof path, "ctascope-run-%d", n);
            status = cts_catalogue_prepare_and_hold(
                path, &(struct cts_run_start){session, command, replace}, held, error);
        }
    }
    free(command);
    if (!status && !realpath(path, run_path))
        status = cts_fail_errno(error, errno, "cannot find '%s'", path);
    return status;
}

/* ---- the program ---- */

static int report_not_started(const struct cts_arguments *arguments, int errnum)
{
    const char *const program = arguments->positional[0];
    struct cts_error error;
    if (errnum == ENOENT && !strchr(program, '/') && access(program, X_OK) == 0)
        cts_fail(&error, CTS_IO, "cannot run '%s': not in PATH; did you mean './%s'?", program,
                 program);
    else
        cts_fail_errno(&error, errnum, "cannot run '%s'", program);
    cts_report_error(arguments, &error);
    return errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* ---- the outcome ---- */

struct outcome {
    const char *program;
    bool with_timeline;
    const struct cts_catalogue *catalogue;
    const struct cts_run_summary *summary;
};

/* How the program ended, for a sentence that begins with its name; NULL: as programs do. */
static const char *early_end(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->ending_count; i++) {
        const char *const how = catalogue->endings[i].how;
        if (strcmp(how, "signal") == 0) return "was killed";
        if (strcmp(how, "exit") == 0 &&
            catalogue->endings[i].launches_complete < catalogue->endings[i].launches_asked)
            return "ended";
    }
    return NULL;
}

/* What went wrong in the program, as a fault of a kernel; NULL: nothing. */
static const char *first_error(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->message_count; i++) {
        const struct cts_message *const message = &catalogue->messages[i];
        if (message->severity && strcmp(message->severity, "error") == 0) return message->text;
    }
    return NULL;
}

/* Why the ranks of a run hold no access. */
static void explain_launches(const struct outcome *o, struct cts_error *error)
{
    const struct cts_run_summary *const summary = o->summary;
    const uint64_t launches = summary->launches;
    const char *const early = early_end(o->catalogue);
    const char *const launches_text = cts_counted_text(launches, "launch", "launches").text;
    if (summary->dropped_accesses)
        cts_fail(error, CTS_LIMIT, "nothing was recorded: %s, all dropped%s%s",
                 cts_counted_text(summary->dropped_accesses, "access", "accesses").text,
                 summary->failure ? ": " : "", summary->failure ? summary->failure : "");
    else if (summary->failure)
        cts_fail(error, CTS_IO, "nothing was recorded: %s", summary->failure);
    else if (summary->unfinished_launches && early)
        cts_fail(error, CTS_IO, "nothing was recorded: '%s' %s before its first launch finished",
                 o->program, early);
    else if (!launches)
        cts_fail(error, CTS_UNSUPPORTED, "nothing was recorded: '%s' %s", o->program,
                 early ? "was killed before it launched a kernel" : "launched no kernel");
    else if (summary->uninstrumented_launches == launches)
        cts_fail(error, CTS_UNSUPPORTED,
                 "nothing was recorded: no kernel that was launched is instrumented");
    else if (!summary->recorded_launches && first_error(o->catalogue))
        cts_fail(error, CTS_IO, "nothing was recorded: %s", first_error(o->catalogue));
    else if (!summary->recorded_launches)
        cts_fail(error, CTS_USAGE, "nothing was recorded: %s, all excluded by filters",
                 launches_text);
    else if (first_error(o->catalogue))
        cts_fail(error, CTS_UNSUPPORTED, "nothing was recorded: %s", first_error(o->catalogue));
    else if (summary->recorded_launches < launches)
        cts_fail(error, CTS_UNSUPPORTED,
                 "nothing was recorded: filters excluded %s of %s, and the other launches accessed "
                 "no memory",
                 cts_count_text(launches - summary->recorded_launches).text, launches_text);
    else
        cts_fail(error, CTS_UNSUPPORTED, "nothing was recorded: %s, but no kernel accessed memory",
                 launches_text);
}

/* Why a run holds no access, in one line; false when it holds some. */
static bool explain_nothing(const struct outcome *o, struct cts_error *error)
{
    const char *const failure = cts_catalogue_get(o->catalogue, CTS_FAILURE_MEMORY_KEY);
    if (o->summary->records) return false;
    if (failure)
        cts_fail(error, CTS_IO, "nothing was recorded: %.*s", (int)strcspn(failure, "\n"), failure);
    else if (o->catalogue->rank_count)
        explain_launches(o, error);
    else if (o->with_timeline)
        cts_fail(error, CTS_UNSUPPORTED,
                 "no accesses were recorded: on a GPU, --memory and --timeline need two "
                 "recordings");
    else
        cts_fail(error, CTS_UNSUPPORTED,
                 "nothing was recorded: no recorder ran in '%s'. Possible reasons: it made no CUDA "
                 "call; it was not compiled with 'ctascope cc' and this ctascope cannot record on "
                 "this machine's GPU (see 'ctascope doctor'); it cleared its environment; or the "
                 "recorder could not start, and an earlier message says why",
                 o->program);
    return true;
}

/* How much was left out, and of which launches. */
static void print_dropped(const struct cts_catalogue *catalogue,
                          const struct cts_run_summary *summary)
{
    const struct cts_launch *first = NULL;
    uint64_t count = 0;
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        const struct cts_launch *const launch = &catalogue->launches[i];
        if (!launch->dropped_accesses) continue;
        if (!first) first = launch;
        count++;
    }
    fprintf(stderr, "; DROPPED %s",
            cts_counted_text(summary->dropped_accesses, "access", "accesses").text);
    if (first)
        fprintf(stderr, " of %s, from launch %u on",
                cts_counted_text(count, "launch", "launches").text, first->launch);
}

static void print_summary(const struct cts_catalogue *catalogue,
                          const struct cts_run_summary *summary, const char *run_path)
{
    fprintf(stderr, "ctascope record: '%s': %s", run_path,
            cts_counted_text(summary->launches, "launch", "launches").text);
    if (summary->recorded_launches != summary->launches)
        fprintf(stderr, " (%s recorded)", cts_count_text(summary->recorded_launches).text);
    fprintf(stderr, ", %s in %s, %s",
            cts_counted_text(summary->accesses, "access", "accesses").text,
            cts_counted_text(summary->records, "record", "records").text,
            cts_bytes_text(summary->disk_bytes).text);
    if (catalogue->rank_count > 1) fprintf(stderr, ", %zu ranks", catalogue->rank_count);
    if (summary->dropped_accesses) print_dropped(catalogue, summary);
    if (summary->skipped)
        fprintf(stderr, "; %s not instrumented",
                cts_counted_text(summary->skipped, "place", "places").text);
    if (summary->unfinished_ranks) fputs("; incomplete, the program ended early", stderr);
    if (summary->failure) fprintf(stderr, "; failure: %s", summary->failure);
    fputc('\n', stderr);
}

/* The accesses that were recorded; false when we failed to record any, or to read them. That there
 * are none is only said. */
static bool judge_memory(const struct cts_arguments *arguments, const char *run_path)
{
    struct cts_error error = {0};
    struct cts_catalogue catalogue = {0};
    struct cts_run_summary summary = {0};
    enum cts_status status = cts_catalogue_read(run_path, &catalogue, &error);
    if (!status) status = cts_run_summarise(run_path, &catalogue, &summary, &error);
    const struct outcome outcome = {.program = arguments->positional[0],
                                    .with_timeline = wants_timeline(arguments),
                                    .catalogue = &catalogue,
                                    .summary = &summary};
    const bool silent = status || explain_nothing(&outcome, &error);
    const bool failed = status || (silent && summary.failure && !summary.dropped_accesses);
    if (silent)
        cts_report_error(arguments, &error);
    else
        print_summary(&catalogue, &summary, run_path);
    if (!silent && cts_argument_given(arguments, "values") && cts_run_lacks_values(&catalogue))
        fputs("ctascope record: no values were recorded: programs of 'ctascope cc --device=cuda' "
              "record none\n",
              stderr);
    cts_run_summary_release(&summary);
    cts_catalogue_release(&catalogue);
    return !failed;
}

/* ---- the timeline ---- */

static void print_timeline(const struct cts_assembly *a, const char *run_path)
{
    fprintf(stderr, "ctascope record: '%s': timeline of %s, %s, %s, %s", run_path,
            cts_counted_text(a->process_count, "process", "processes").text,
            cts_counted_text(a->location_count, "location", "locations").text,
            cts_counted_text(a->event_count, "event", "events").text,
            cts_bytes_text(a->archive_bytes).text);
    if (a->lost_count)
        fprintf(stderr, "; LOST %s", cts_counted_text(a->lost_count, "event", "events").text);
    if (a->damaged_log_count)
        fprintf(stderr, "; %s damaged",
                cts_counted_text(a->damaged_log_count, "log is", "logs are").text);
    if (a->cut_process_count)
        fprintf(stderr, "; incomplete, %s early",
                cts_counted_text(a->cut_process_count, "process ended", "processes ended").text);
    if (*a->failure)
        fprintf(stderr, "; failure: %s", a->failure);
    else if (*a->warning)
        fprintf(stderr, "; warning: %s", a->warning);
    fputc('\n', stderr);
}

/* Under mpirun each rank has its own `record`; one whose rank has not begun may still come. */
static bool all_ranks_came(const char *run_path)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (!size) size = getenv("PMI_SIZE");
    const unsigned long count = size ? strtoul(size, NULL, 10) : 0;
    for (unsigned long rank = 0; rank < count; rank++) {
        char path[PATH_MAX];
        const int length = snprintf(path, sizeof path, "%s/rank-%lu", run_path, rank);
        if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK)) return false;
    }
    return true;
}

/* Makes the archive when we are the last; false when that fails. */
static bool judge_timeline(const struct cts_arguments *arguments, const char *run_path, bool last,
                           const struct cts_program_result *program)
{
    struct cts_error error = {0};
    struct cts_assembly assembly;
    struct cts_gaps failures = {0};
    if (!last || (under_mpi() && !all_ranks_came(run_path))) return true;
    const struct cts_assembly_options options = {.ends = program->ends,
                                                 .end_count = program->end_count};
    const enum cts_status failed = cts_timeline_assemble(run_path, &options, &assembly, &error);
    enum cts_status status = failed;
    cts_failures_list(run_path, CTS_FAILURE_TIMELINE, "", &failures);
    if (!assembly.location_count && failures.named_count)
        status = cts_fail(&error, CTS_IO, "no timeline was recorded: %s", failures.texts[0]);
    else if (!status && !assembly.location_count && *assembly.failure)
        status = cts_fail(&error, CTS_IO, "no timeline was recorded: %s", assembly.failure);
    else if (!status && !assembly.location_count)
        status =
            cts_fail(&error, CTS_UNSUPPORTED,
                     "no timeline was recorded: no recorder ran in '%s'. Possible reasons: it made "
                     "no CUDA, MPI, NCCL or NVTX call; it is linked statically; it cleared its "
                     "environment; or it changed to a user who cannot write to the run",
                     arguments->positional[0]);
    else if (!status && !assembly.event_count)
        status = cts_fail(&error, CTS_IO, "no timeline was recorded: %s",
                          *assembly.failure ? assembly.failure : "there were no events");
    if (status)
        cts_report_error(arguments, &error);
    else
        print_timeline(&assembly, run_path);
    cts_gaps_release(&failures);
    return !failed && (assembly.event_count || !*assembly.failure);
}

/* Looks at what was recorded. The program's own failure wins over ours. */
static int judge(const struct cts_arguments *arguments, const char *run_path, int held,
                 const struct cts_program_result *program)
{
    const bool mpi = under_mpi();
    struct cts_error error;
    /* a rank of another `record` is left to it: it knows how that ended */
    const enum cts_status folded =
        cts_catalogue_fold(run_path, program->ends, program->end_count, mpi, &error);
    const bool last = cts_run_let_go(run_path, held);
    if (last && mpi) (void)cts_catalogue_tidy(run_path, NULL); /* read() says what is wrong */
    if (last && (!mpi || all_ranks_came(run_path))) cts_ids_forget(run_path);
    if (folded) cts_report_error(arguments, &error); /* the journals stay, and are read instead */
    bool sound = true;
    if (wants_timeline(arguments)) sound = judge_timeline(arguments, run_path, last, program);
    if (last) cts_failures_keep(run_path);
    if (last && !folded) (void)!cts_seal_write(run_path, NULL); /* without it readers know less */
    if (wants_memory(arguments)) sound = judge_memory(arguments, run_path) && sound;
    if (!mpi && last && !cts_timeline_has_logs(run_path))
        cts_catalogue_discard_empty(run_path); /* one that holds something stays */
    return program->status || sound ? program->status : CTS_EXIT_RECORD;
}

static int run_record(const struct cts_arguments *arguments)
{
    char session[256], run_path[PATH_MAX];
    struct cts_error error;
    struct cts_program_result program;
    int held = -1;
    if (!set_environment(arguments)) return CTS_EXIT_USAGE;
    make_session(session, sizeof session);
    if (prepare_run(arguments, session, run_path, &held, &error)) {
        cts_report_error(arguments, &error);
        return CTS_EXIT_RECORD;
    }
    setenv("CTASCOPE_RUN", run_path, 1);
    setenv("CTASCOPE_SESSION", session, 1);
    const int errnum = cts_program_run(arguments->positional, &program);
    if (errnum) {
        const bool last = cts_run_let_go(run_path, held);
        if (last && !under_mpi()) cts_catalogue_discard_empty(run_path);
        return report_not_started(arguments, errnum);
    }
    const int status = judge(arguments, run_path, held, &program);
    free(program.ends);
    return status;
}

static const struct cts_option record_options[] = {
    {.name = "output",
     .argument = "RUN",
     .short_name = 'o',
     .help = "run directory (default: the first free of ctascope-run, ctascope-run-2, ...)"},
    CTS_OPTION_FORCE,
    {.name = "timeline", .help = "record a timeline: CUDA, MPI, NCCL, NVTX calls, kernels, copies"},
    {.name = "memory", .help = "record memory accesses (default unless --timeline is given)"},
    CTS_OPTION_KERNEL_NAME("record only"),
    {.name = "nvtx-include",
     .argument = "RANGE",
     .help = "record only launches inside this NVTX range, [DOMAIN@]NAME; repeatable (default: "
             "all)"},
    {.name = "launch-skip",
     .argument = "N",
     .help = "do not record the first N launches (default: 0)"},
    {.name = "launch-count", .argument = "N", .help = "record at most N launches (default: all)"},
    {.name = "cta-sample",
     .argument = "N",
     .help = "record every N-th CTA; 1/N means the same (default: 1)"},
    {.name = "max-size",
     .argument = "SIZE",
     .help = "write at most SIZE of access files and logs; count the rest as dropped (default: no "
             "limit)"},
    {.name = "values",
     .help = "also record the values loaded and stored (CPU device: compile with cc --values)"},
    {.name = "host-accesses",
     .help = "also record the CPU's accesses to managed, mapped and pinned memory (compile with cc "
             "--host-accesses)"},
    {.name = "threads",
     .argument = "N",
     .help = "worker threads of the CPU device; on a GPU, threads that write records (default: one "
             "per processor)"},
    {.name = "spaces",
     .argument = "global|shared|local",
     .is_list = true,
     .help = "on a GPU: memory spaces to record; must include global (default: "
             "global,shared)"},
    {.name = "ring-size",
     .argument = "SIZE",
     .help = "on a GPU: host memory that buffers records (default: 256M)"},
    {.name = "deterministic", .help = "CPU device: run all CTAs one after another, in order"},
    {0},
};

const struct cts_verb cts_verb_record = {
    .name = "record",
    .synopsis = "[OPTIONS] [-o RUN] [--] PROGRAM [ARGUMENTS]",
    .summary = "Runs a program and records its memory accesses or its timeline",
    .description =
        "Records memory accesses on a GPU, or on the CPU if 'ctascope cc' compiled the program.\n"
        "--timeline works for any program. Recording accesses distorts times: a GPU program needs\n"
        "two recordings; one compiled with 'ctascope cc --device=cpu' can record both at once.\n"
        "Exits with the program's status (128 + N if signal N killed it), with 125 if the program\n"
        "succeeded but ctascope failed, with 126 if the program cannot be run, and with 127 if it\n"
        "is not found. The last line on standard error says what was recorded, or why nothing "
        "was.\n"
        "MPI: 'mpirun -n 4 ctascope record -o run -- ./app' and 'ctascope record -o run mpirun\n"
        "-n 4 ./app' both record all ranks into one run.",
    .options = record_options,
    .positional_min = 1,
    .positional_max = -1,
    .command = true,
    .run = run_record,
};
