/* Who shares the run; options become CTASCOPE_* variables, and recorders are preloaded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/preload.h"
#include "cli/record-program.h"
#include "cli/shared-options.h"
#include "common/name-filter.h"
#include "common/text-stream.h"

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

bool cts_record_is_under_mpi(void)
{
    return mpi_job() || getenv("OMPI_COMM_WORLD_RANK") || getenv("PMI_RANK") ||
           getenv("PMI_PORT") || getenv("PMIX_RANK") || getenv("MV2_COMM_WORLD_RANK");
}

/* The process of the launcher that has started all ranks of this host. It holds the other end of
 * the connection that MPICH gives each rank; the parent may be a script between the launcher and
 * us. */
static pid_t launcher(void)
{
    const char *const connection = getenv("PMI_FD");
    struct ucred peer = {0};
    socklen_t bytes = sizeof peer;
    if (connection &&
        getsockopt((int)strtol(connection, NULL, 10), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) ==
            0 &&
        peer.pid > 0)
        return peer.pid;
    return getppid();
}

void cts_record_make_session(char *session, size_t session_bytes)
{
    const char *const job = mpi_job();
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (job)
        snprintf(session, session_bytes, "mpi-%.200s", job);
    else if (getenv("PMI_PORT")) /* of the launcher: host and port */
        snprintf(session, session_bytes, "mpi-port-%.200s", getenv("PMI_PORT"));
    else if (cts_record_is_under_mpi())
        snprintf(session, session_bytes, "mpi-launcher-%d", launcher());
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
    {"hash", "CTASCOPE_HASH"},
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

static bool check_hash(const struct cts_arguments *arguments)
{
    if (!cts_argument_given(arguments, "hash") || !cts_argument_given(arguments, "values"))
        return true;
    cts_usage_error(arguments, "--hash has nothing to add to --values");
    return false;
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

bool cts_record_wants_timeline(const struct cts_arguments *arguments)
{
    return cts_argument_given(arguments, "timeline");
}

bool cts_record_wants_memory(const struct cts_arguments *arguments)
{
    return cts_argument_given(arguments, "memory") || !cts_record_wants_timeline(arguments);
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

bool cts_record_set_environment(const struct cts_arguments *arguments)
{
    if (!check_numbers(arguments) || !check_hash(arguments) || !check_kernel_name(arguments) ||
        !check_ring_size(arguments) || !check_spaces(arguments) || !set_ranges(arguments))
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
    if (cts_record_wants_timeline(arguments)) {
        setenv("CTASCOPE_TIMELINE", "1", 1);
        cts_preload_recorders(arguments->positional[0]);
    } else {
        unsetenv("CTASCOPE_TIMELINE");
        cts_inject_memory_recorder(); /* a process has room for one: with a timeline, CUPTI's */
    }
    cts_watch_threads(arguments->positional[0]);
    if (cts_record_wants_memory(arguments))
        unsetenv("CTASCOPE_ACCESSES");
    else
        setenv("CTASCOPE_ACCESSES", "0", 1);
    return true;
}
