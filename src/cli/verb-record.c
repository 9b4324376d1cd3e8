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
#include <unistd.h>

#include "cli/run-program.h"
#include "cli/record-program.h"
#include "cli/verb.h"
#include "common/text-stream.h"
#include "trace/run-lock.h"
#include "cli/shared-options.h"

/* As timeout(1) and env(1) have it. */

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
    char *const command = command_text(arguments);
    char path[PATH_MAX] = "ctascope-run";
    enum cts_status status = CTS_OK;
    if (!command) return cts_fail(error, CTS_MEMORY, "out of memory");
    const struct cts_run_start start = {session, command, cts_argument_given(arguments, "force"),
                                        cts_record_wants_timeline(arguments)};
    if (asked) {
        snprintf(path, sizeof path, "%s", asked);
        status = cts_catalogue_prepare_and_hold(path, &start, held, error);
    } else {
        status = cts_catalogue_prepare_and_hold(path, &start, held, error);
        for (int n = 2; status == CTS_USAGE && n < NUMBERS_MAX; n++) {
            snprintf(path, sizeof path, "ctascope-run-%d", n);
            status = cts_catalogue_prepare_and_hold(path, &start, held, error);
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
    return errnum == ENOENT ? CTS_EXIT_NOT_FOUND : CTS_EXIT_NOT_EXECUTABLE;
}

/* ---- the timeline ---- */

static int run_record(const struct cts_arguments *arguments)
{
    char session[256], run_path[PATH_MAX];
    struct cts_error error;
    struct cts_program_result program;
    int held = -1;
    if (!cts_record_set_environment(arguments)) return CTS_EXIT_USAGE;
    cts_record_make_session(session, sizeof session);
    if (prepare_run(arguments, session, run_path, &held, &error)) {
        cts_report_error(arguments, &error);
        return CTS_EXIT_RECORD;
    }
    setenv("CTASCOPE_RUN", run_path, 1);
    setenv("CTASCOPE_SESSION", session, 1);
    const int errnum = cts_program_run(arguments->positional, &program);
    if (errnum) {
        const bool last = cts_run_let_go(run_path, held);
        if (last && !cts_record_is_under_mpi()) cts_catalogue_discard_empty(run_path);
        return report_not_started(arguments, errnum);
    }
    const int status = cts_record_judge(arguments, run_path, held, &program);
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
    {.name = "values", .help = "also record values loaded and stored (CPU: cc --values)"},
    {.name = "hash", .help = "hash each launch's values (CPU device: cc --values)"},
    {.name = "host-accesses",
     .help = "also record the CPU's accesses to managed, mapped and pinned memory; only in .cu "
             "files compiled with 'cc --host-accesses'"},
    {.name = "threads",
     .argument = "N",
     .help = "worker threads of the CPU device; on a GPU, threads that write records (default: one "
             "per processor)"},
    {.name = "spaces",
     .argument = "global|shared|local|barriers",
     .is_list = true,
     .help = "on a GPU: spaces, must include global (default: global,shared)"},
    {.name = "ring-size",
     .argument = "SIZE",
     .help = "on a GPU: host memory that buffers records (default: 256M)"},
    {.name = "deterministic",
     .help = "on the CPU device: run all CTAs one after another, in order"},
    {0},
};

const struct cts_verb cts_verb_record = {
    .name = "record",
    .synopsis = "[OPTIONS] [-o RUN] [--] PROGRAM [ARGUMENTS]",
    .summary = "Runs a program and records its memory accesses or its timeline",
    .description =
        "Records memory accesses on a GPU, or on the CPU if 'ctascope cc' compiled the program.\n"
        "--timeline works for any dynamically linked program that calls CUDA, MPI, NCCL or NVTX.\n"
        "Recording accesses distorts times: a GPU program needs two recordings; one compiled with\n"
        "'ctascope cc --device=cpu' can record both at once.\n"
        "Exits with the program's status (128 + N after signal N), 125 if the run cannot be set "
        "up,\n"
        "126 if the program cannot be run, 127 if it is not found. The last line on standard\n"
        "error says what was recorded, or why nothing was.\n"
        "MPI: 'mpirun -n 4 ctascope record -o run -- ./app' and 'ctascope record -o run mpirun\n"
        "-n 4 ./app' both record all ranks into one run.",
    .options = record_options,
    .positional_min = 1,
    .positional_max = -1,
    .command = true,
    .run = run_record,
};
