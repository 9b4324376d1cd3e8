/* Runs a program, and a stretch of it again and again with something changed.
 *
 * The replays are made by the part of ctascope in the program (record/try); here are the plans, the
 * judgement and the output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/try/try-iteration.h"
#include "cli/open-recording.h"
#include "cli/preload.h"
#include "cli/run-program.h"
#include "cli/try-options.h"
#include "cli/try-service.h"
#include "common/text-table.h"
#include "report/try-report.h"

/* ---- the recording ---- */

struct source {
    struct cts_recording recording;
    struct cts_flow_result flow;
    bool is_open;
};

static enum cts_status open_source(const char *run_path, struct source *source,
                                   struct cts_error *error)
{
    if (!run_path) return CTS_OK;
    enum cts_status status = cts_recording_open(run_path, &source->recording, error);
    if (status) return status;
    source->is_open = true;
    status = cts_recording_need_accesses(&source->recording, error);
    if (status) return status;
    const struct cts_access_source accesses = cts_access_source_of(source->recording.reader);
    const struct cts_flow_options options = {.least_bytes = CTS_FLOW_LEAST_BYTES, .each = true};
    status =
        cts_flow_analyze(&source->recording.catalogue, &accesses, &options, &source->flow, error);
    return status ? cts_context(error, "run '%s'", run_path) : CTS_OK;
}

static void close_source(struct source *source)
{
    if (!source->is_open) return;
    cts_flow_release(&source->flow);
    cts_recording_close(&source->recording);
}

/* ---- the program ---- */

/* With JSON, the program's output goes to stderr. */
static int run_program(const struct cts_arguments *arguments, bool is_json, int *status)
{
    struct cts_program_result program = {0};
    fflush(stdout);
    const int kept = is_json ? dup(STDOUT_FILENO) : -1;
    if (kept >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    const int errnum = cts_program_run(arguments->positional, &program);
    if (kept >= 0) {
        dup2(kept, STDOUT_FILENO);
        close(kept);
    }
    *status = program.status;
    free(program.ends);
    return errnum;
}

/* Executes the program once with the service. */
static enum cts_status run_once(const struct cts_arguments *arguments, bool is_json,
                                struct cts_try_service *service, int *program_status,
                                struct cts_error *error)
{
    const enum cts_status status = cts_try_service_start(service, error);
    if (status) return status;
    const int errnum = run_program(arguments, is_json, program_status);
    cts_try_service_stop(service);
    if (!errnum) return CTS_OK;
    return cts_fail_errno(error, errnum, "cannot run '%s'", arguments->positional[0]);
}

static const char no_device[] = "nothing was tried: the program launched no kernel (on the CPU "
                                "device: compile it with 'ctascope "
                                "cc'; on a GPU: the driver has to be that of CUDA 12.4 or later)";

/* ---- which stretch ---- */

static void forget(void *state, int socket, const struct cts_buffer *stretch)
{
    (void)state, (void)socket, (void)stretch;
}

static enum cts_status use_iteration(struct cts_try_request *request,
                                     const struct cts_trial_absence *absence,
                                     struct cts_error *error)
{
    struct cts_try_pattern pattern;
    const enum cts_status status =
        cts_try_find_pattern(absence->kernels, absence->kernel_count, &pattern, error);
    if (status) return status;
    if (!pattern.iterations)
        return cts_fail(error, CTS_USAGE, "no part of the program's %u launches repeats",
                        absence->launch_count);
    if (request->iteration >= pattern.iterations)
        return cts_fail(error, CTS_USAGE,
                        "there are %zu iterations of %zu launches, from launch %zu on; --iteration "
                        "%llu is not among them",
                        pattern.iterations, pattern.period, pattern.first,
                        (unsigned long long)request->iteration);
    request->first_launch = pattern.first + request->iteration * pattern.period;
    request->last_launch = request->first_launch + pattern.period - 1;
    request->by_launches = true;
    fprintf(stderr, "ctascope try: iteration %llu: launches %llu to %llu\n",
            (unsigned long long)request->iteration, (unsigned long long)request->first_launch,
            (unsigned long long)request->last_launch);
    return CTS_OK;
}

/* A first execution lists the launches. */
static enum cts_status find_iteration(const struct cts_arguments *arguments,
                                      struct cts_try_request *request, struct cts_error *error)
{
    int program_status;
    struct cts_try_service service = {.talk = forget};
    cts_preload_replays(arguments->positional[0]);
    setenv("CTASCOPE_TRY_STRETCH", "list", 1);
    enum cts_status status = run_once(arguments, true, &service, &program_status, error);
    if (!status && !service.has_absence) status = cts_fail(error, CTS_UNSUPPORTED, no_device);
    if (!status) status = use_iteration(request, &service.absence, error);
    if (service.has_absence) cts_trial_absence_release(&service.absence);
    return status;
}

static enum cts_status set_environment(const struct cts_arguments *arguments,
                                       const struct cts_try_request *request,
                                       struct cts_error *error)
{
    char text[80] = "profiler";
    uint64_t limit_bytes = 0;
    if (request->range) {
        snprintf(text, sizeof text, "range");
        setenv("CTASCOPE_NVTX_INCLUDE", request->range, 1);
        cts_watch_ranges();
    }
    if (request->by_launches)
        snprintf(text, sizeof text, "launches %llu-%llu", (unsigned long long)request->first_launch,
                 (unsigned long long)request->last_launch);
    cts_preload_replays(arguments->positional[0]);
    setenv("CTASCOPE_TRY_STRETCH", text, 1);
    setenv("CTASCOPE_SPIN_LIMIT", "10", 0); /* a trial may let a kernel wait for what never comes */
    unsetenv("CTASCOPE_RUN");
    unsetenv("CTASCOPE_TIMELINE");
    if (!cts_argument_given(arguments, "memory-limit")) return CTS_OK;
    if (!cts_argument_bytes(arguments, "memory-limit", &limit_bytes))
        return cts_fail(error, CTS_USAGE, "--memory-limit");
    snprintf(text, sizeof text, "%llu", (unsigned long long)limit_bytes);
    setenv("CTASCOPE_TRY_LIMIT", text, 1);
    return CTS_OK;
}

static enum cts_status tell_absence(const struct cts_try_request *request,
                                    const struct cts_try_service *service, int program_status,
                                    struct cts_error *error)
{
    const uint32_t launches = service->absence.launch_count;
    if (!service->has_absence && program_status)
        return cts_fail(
            error, CTS_IO,
            "nothing was tried: the program ended with status %d before the stretch was "
            "complete",
            program_status);
    if (!service->has_absence) return cts_fail(error, CTS_UNSUPPORTED, no_device);
    if (request->range)
        return cts_fail(error, CTS_USAGE, "no launch, copy or memset lies in an NVTX range '%s'",
                        request->range);
    if (request->by_launches)
        return cts_fail(error, CTS_USAGE, "the program has no launch %llu: it has %s",
                        (unsigned long long)request->first_launch,
                        cts_counted_text(launches, "launch", "launches").text);
    return cts_fail(error, CTS_USAGE,
                    "the program does not call cudaProfilerStart: choose the stretch with "
                    "--launches, --iteration or --range (it has %s)",
                    cts_counted_text(launches, "launch", "launches").text);
}

/* ---- the whole ---- */

static const char *how_it_ended(int status, char *text, size_t bytes)
{
    if (status > 128)
        snprintf(text, bytes, "signal %d", status - 128);
    else
        snprintf(text, bytes, "status %d", status);
    return text;
}

static enum cts_status try_all(const struct cts_arguments *arguments,
                               const struct cts_try_request *request, struct cts_try_talk *talk,
                               int *program_status, struct cts_error *error)
{
    char ended[40];
    for (bool first = true;; first = false) {
        struct cts_try_service service = {.talk = cts_try_talk_over, .state = talk};
        enum cts_status status =
            run_once(arguments, request->is_json || !first, &service, program_status, error);
        if (!status && !service.has_stretch)
            status = tell_absence(request, &service, *program_status, error);
        if (service.has_absence) cts_trial_absence_release(&service.absence);
        if (status) return status;
        how_it_ended(*program_status, ended, sizeof ended);
        if (cts_try_talk_goes_on(talk, ended)) continue;
        if (talk->is_lost && talk->status)
            return cts_fail(error, CTS_IO, "the program ended during the replays (%s): %s", ended,
                            talk->error.text);
        *error = talk->error;
        return talk->status;
    }
}

static enum cts_status print(const struct cts_arguments *arguments,
                             const struct cts_try_request *request, const struct cts_try_talk *talk,
                             int program_status, struct cts_error *error)
{
    const struct cts_try_report report = {.outcome = &talk->outcome,
                                          .flow = talk->flow,
                                          .run_path = request->run_path,
                                          .command = arguments->positional[0],
                                          .program_status = program_status,
                                          .full_names = request->full_names};
    if (program_status && !request->is_json)
        fprintf(stderr, "ctascope try: the program ended with status %d\n", program_status);
    return request->is_json ? cts_try_print_json(&report, stdout, error)
                            : cts_try_print(&report, stdout, error);
}

static int run_try(const struct cts_arguments *arguments)
{
    struct cts_try_request request;
    struct cts_try_talk talk = {0};
    struct source source = {0};
    struct cts_error error;
    int program_status = 0;
    const int code = cts_try_read_options(arguments, &request, &talk);
    if (code) return code;
    enum cts_status status = open_source(request.run_path, &source, &error);
    if (!status && request.run_path) talk.flow = &source.flow;
    if (!status && request.by_iteration) status = find_iteration(arguments, &request, &error);
    if (!status) status = set_environment(arguments, &request, &error);
    if (!status) status = try_all(arguments, &request, &talk, &program_status, &error);
    if (!status) status = print(arguments, &request, &talk, program_status, &error);
    cts_try_talk_release(&talk);
    close_source(&source);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}

const struct cts_verb cts_verb_try = {
    .name = "try",
    .synopsis = "[STRETCH] [CHANGES] [--run RUN [--all-findings]] [--] PROGRAM [ARGUMENTS]",
    .summary = "Replays a part of a program with something changed, and measures it",
    .description =
        "Runs a program on the CPU device or a GPU and replays a stretch of it (default: between\n"
        "cudaProfilerStart and Stop), unchanged and with the changes in turn. Prints the measured\n"
        "gain with a 95% interval, and whether memory and all copies to the host hold the same\n"
        "bits. Exits with 0 after the replays, 1 if the program ended too early, 2 if it has no\n"
        "such stretch, 4 if the stretch cannot be replayed.",
    .options = cts_try_options,
    .positional_min = 1,
    .positional_max = -1,
    .command = true,
    .run = run_try,
};
