/* What came of a recording: what was recorded, what was lost, why there is nothing. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/record-program.h"
#include "cli/run-summary.h"
#include "cli/run-timeline.h"
#include "common/text-table.h"
#include "trace/failures-keep.h"
#include "trace/id-claim.h"
#include "trace/run-lock.h"
#include "trace/seal.h"

/* ---- the outcome ---- */

struct outcome {
    const char *program, *run_path;
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
        if (strcmp(how, "closed") != 0 && /* "exit"; "unknown": nobody saw how */
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

/* There is no access, but an error: of a launch, which the run and `access` show, or the
 * recorder's. */
static void explain_error(const struct cts_catalogue *catalogue, enum cts_status status,
                          struct cts_error *error)
{
    cts_fail(error, status, "%s: %s",
             catalogue->fault_count ? "recorded no accesses: a launch failed"
                                    : "nothing was recorded",
             first_error(catalogue));
}

/* The program that ended early, which a shell or a launcher may have started. */
static const char *early_program(const struct outcome *o)
{
    const struct cts_catalogue *const c = o->catalogue;
    for (size_t i = 0; i < c->ending_count; i++) {
        if (strcmp(c->endings[i].how, "closed") == 0) continue;
        for (size_t r = 0; r < c->rank_count; r++)
            if (c->ranks[r].rank == c->endings[i].rank && c->ranks[r].program)
                return c->ranks[r].program;
    }
    return o->program;
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
                 early_program(o), early);
    else if (!launches)
        cts_fail(error, CTS_UNSUPPORTED, "nothing was recorded: '%s' %s",
                 early ? early_program(o) : o->program,
                 early ? "was killed before it launched a kernel" : "launched no kernel");
    else if (summary->uninstrumented_launches == launches)
        cts_fail(error, CTS_UNSUPPORTED,
                 "nothing was recorded: no kernel that was launched is instrumented");
    else if (!summary->recorded_launches && first_error(o->catalogue))
        explain_error(o->catalogue, CTS_IO, error);
    else if (!summary->recorded_launches)
        cts_fail(error, CTS_USAGE, "nothing was recorded: %s, all excluded by filters",
                 launches_text);
    else if (first_error(o->catalogue))
        explain_error(o->catalogue, CTS_UNSUPPORTED, error);
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
    struct cts_gaps left = {0}; /* what run.db had no room for */
    if (o->summary->records) return false;
    cts_failures_list(o->run_path, CTS_FAILURE_MEMORY, "", &left);
    if (left.named_count)
        cts_fail(error, CTS_IO, "nothing was recorded: %s", left.texts[0]);
    else if (failure)
        cts_fail(error, CTS_IO, "nothing was recorded: %.*s", (int)strcspn(failure, "\n"), failure);
    else if (o->catalogue->rank_count)
        explain_launches(o, error);
    else if (o->with_timeline)
        cts_fail(
            error, CTS_UNSUPPORTED,
            "no accesses were recorded: no recorder of accesses ran in '%s'. Possible reasons: "
            "it ran on a GPU, where --memory and --timeline need two recordings; it changed "
            "its root directory, its user or its environment; or the recorder could not start, "
            "and an earlier message says why",
            o->program);
    else
        cts_fail(
            error, CTS_UNSUPPORTED,
            "nothing was recorded: no recorder ran in '%s'. Possible reasons: it made no CUDA "
            "call; it was not compiled with 'ctascope cc' and this ctascope cannot record on "
            "this machine's GPU (see 'ctascope doctor'); it cleared its environment; it changed "
            "its root directory or its user; or the recorder could not start, and an earlier "
            "message says why",
            o->program);
    cts_gaps_release(&left);
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

/* Names come from outside: the last line stays one line, and cannot control a terminal. */
static void print_part(const char *before, const char *text)
{
    fputs(before, stderr);
    cts_print_plain(stderr, text);
}

static void print_start(const char *run_path)
{
    print_part("ctascope record: '", run_path);
    fputs("': ", stderr);
}

static void print_summary(const struct cts_catalogue *catalogue,
                          const struct cts_run_summary *summary, const char *run_path)
{
    print_start(run_path);
    fputs(cts_counted_text(summary->launches, "launch", "launches").text, stderr);
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
    if (summary->cut_off_ranks)
        fputs("; incomplete, the program ended early", stderr);
    else if (summary->unfinished_ranks)
        fputs("; incomplete ('ctascope info' names what is missing)", stderr);
    if (summary->failure) print_part("; failure: ", summary->failure);
    fputc('\n', stderr);
}

static bool lacks_hashes(const struct cts_catalogue *catalogue)
{
    bool on_gpu = false;
    for (size_t i = 0; i < catalogue->rank_count; i++)
        on_gpu |= catalogue->ranks[i].recorder && strcmp(catalogue->ranks[i].recorder, "cpu") != 0;
    return on_gpu && !catalogue->fingerprint_count;
}

/* The accesses that were recorded, or why there are none. */
static void judge_memory(const struct cts_arguments *arguments, const char *run_path)
{
    struct cts_error error = {0};
    struct cts_catalogue catalogue = {0};
    struct cts_run_summary summary = {0};
    enum cts_status status = cts_catalogue_read(run_path, &catalogue, &error);
    if (!status) status = cts_run_summarise(run_path, &catalogue, &summary, &error);
    const struct outcome outcome = {.program = arguments->positional[0],
                                    .run_path = run_path,
                                    .with_timeline = cts_record_wants_timeline(arguments),
                                    .catalogue = &catalogue,
                                    .summary = &summary};
    const bool silent = status || explain_nothing(&outcome, &error);
    if (silent)
        cts_report_error(arguments, &error);
    else
        print_summary(&catalogue, &summary, run_path);
    if (!silent && cts_argument_given(arguments, "values") && cts_run_lacks_values(&catalogue))
        fputs("ctascope record: no values were recorded: programs of 'ctascope cc --device=cuda' "
              "record none\n",
              stderr);
    if (!silent && cts_argument_given(arguments, "hash") && lacks_hashes(&catalogue))
        fputs("ctascope record: no values were hashed: on a GPU, '--values' records them\n",
              stderr);
    cts_run_summary_release(&summary);
    cts_catalogue_release(&catalogue);
}

/* ---- the timeline ---- */

static void print_timeline(const struct cts_assembly *a, const char *run_path)
{
    print_start(run_path);
    fprintf(stderr, "timeline of %s, %s, %s, %s",
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
        print_part("; failure: ", a->failure);
    else if (*a->warning)
        print_part("; warning: ", a->warning);
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

/* Makes the archive when we are the last. */
static void judge_timeline(const struct cts_arguments *arguments, const char *run_path, bool last,
                           const struct cts_program_result *program)
{
    struct cts_error error = {0};
    struct cts_assembly assembly;
    struct cts_gaps failures = {0};
    if (!last || (cts_record_is_under_mpi() && !all_ranks_came(run_path))) return;
    const struct cts_assembly_options options = {.ends = program->ends,
                                                 .end_count = program->end_count};
    enum cts_status status = cts_timeline_assemble(run_path, &options, &assembly, &error);
    cts_failures_list(run_path, CTS_FAILURE_TIMELINE, "", &failures);
    if (!assembly.location_count && failures.named_count)
        status = cts_fail(&error, CTS_IO, "no timeline was recorded: %s", failures.texts[0]);
    else if (!status && !assembly.location_count && *assembly.failure)
        status = cts_fail(&error, CTS_IO, "no timeline was recorded: %s", assembly.failure);
    else if (!status && !assembly.location_count)
        status = cts_fail(
            &error, CTS_UNSUPPORTED,
            "no timeline was recorded: no recorder ran in '%s'. Possible reasons: it made "
            "no CUDA, MPI, NCCL or NVTX call; it is linked statically; it cleared its "
            "environment; it changed its root directory; or it changed to a user who cannot "
            "write to the run",
            arguments->positional[0]);
    else if (!status && !assembly.event_count)
        status = cts_fail(&error, CTS_IO, "no timeline was recorded: %s",
                          *assembly.failure ? assembly.failure : "there were no events");
    if (status)
        cts_report_error(arguments, &error);
    else
        print_timeline(&assembly, run_path);
    cts_gaps_release(&failures);
}

int cts_record_judge(const struct cts_arguments *arguments, const char *run_path, int held,
                     const struct cts_program_result *program)
{
    const bool mpi = cts_record_is_under_mpi();
    struct cts_error error;
    /* a rank of another `record` is left to it: it knows how that ended */
    const enum cts_status folded =
        cts_catalogue_fold(run_path, program->ends, program->end_count, mpi, &error);
    const bool last = cts_run_let_go(run_path, held);
    if (last && mpi) (void)cts_catalogue_tidy(run_path, NULL); /* read() says what is wrong */
    if (last && (!mpi || all_ranks_came(run_path))) cts_ids_forget(run_path);
    if (folded) cts_report_error(arguments, &error); /* the journals stay, and are read instead */
    if (cts_record_wants_timeline(arguments)) judge_timeline(arguments, run_path, last, program);
    if (last) cts_failures_keep(run_path);
    /* A timeline that is still to be made of logs is none of a sealed run's files. */
    if (last && !folded && !cts_timeline_has_logs(run_path))
        (void)!cts_seal_write(run_path, NULL); /* without it readers know less */
    if (cts_record_wants_memory(arguments)) judge_memory(arguments, run_path);
    if (!mpi && last && !cts_timeline_has_logs(run_path))
        cts_catalogue_discard_empty(run_path); /* one that holds something stays */
    return program->status; /* whatever we could not do: who runs the program asks for that */
}
