/* The life of the process: the start at the first call, the end in the library's destructor, and
 * what a fork does.
 *
 * The library's destructor runs after every atexit() function and static destructor of the
 * program, so that CUDA calls in those still work and are recorded. It lets queued work end (as
 * long as that makes progress), closes the recording and says at most one line.
 *
 * After a fork the child has none of the threads that streams and the engine run on: as with CUDA,
 * every call in it fails with cudaErrorInitializationError, unless the parent had made none. */
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "memory-sums.h"
#include "range.h"
#include "record.h"
#include "record/cpu/engine.h"
#include "registry.h"
#include "stream.h"
#include "timeline.h"
#include "trace/failures.h"

__thread bool cts_in_callback;

static struct cts_environment environment;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool started, forked, engine_failed;
static pid_t process; /* that has started: not every fork() calls in_child_of_fork() */

/* What descriptor 2 was at first; the program may have closed it, and opened a file of its own. */
static struct stat first_error_stream;

static void remember_error_stream(void)
{
    if (fstat(STDERR_FILENO, &first_error_stream) != 0) first_error_stream.st_ino = 0;
}

/* Whether descriptor 2 is what it was, or at least nothing that text would damage. */
static bool is_error_stream(void)
{
    struct stat now;
    if (fstat(STDERR_FILENO, &now) != 0) return false;
    return !S_ISREG(now.st_mode) ||
           (now.st_dev == first_error_stream.st_dev && now.st_ino == first_error_stream.st_ino);
}

__attribute__((constructor)) static void at_load(void)
{
    remember_error_stream();
}

/* A pipe that nobody reads, or a file that may not grow, must not end the program: the signal that
 * a write of ours raises is held back, and swallowed. */
static void write_quietly(const char *text, size_t byte_count)
{
    sigset_t ours, before, pending;
    const struct timespec now = {0};
    const int errnum = errno;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &ours, &before);
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) || sigismember(&pending, SIGXFSZ);
    const bool failed = write(STDERR_FILENO, text, byte_count) < 0;
    const bool raised = failed && (errno == EPIPE || errno == EFBIG);
    if (raised && !was_pending) (void)!sigtimedwait(&ours, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = errnum;
}

void cts_say(const char *format, ...)
{
    char line[1200] = "ctascope: ";
    const size_t prefix = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
    va_end(arguments);
    const size_t length = strlen(line);
    line[length] = '\n';
    if (is_error_stream()) write_quietly(line, length + 1); /* it is in the run's messages, too */
}

const struct cts_environment *cts_environment(void)
{
    return &environment;
}

bool cts_process_is_forked(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed);
}

static void in_child_of_fork(void)
{
    if (atomic_load(&started)) atomic_store(&forked, true);
}

/* A variable of the environment that cannot be understood. */
static void refuse(const char *reason)
{
    if (environment.run_path) cts_failure_leave(environment.run_path, CTS_FAILURE_MEMORY, reason);
    cts_say("%s; nothing is recorded", reason);
    environment.run_path = NULL;
    environment.timeline = false;
}

static void begin(void)
{
    process = getpid();
    pthread_atfork(NULL, NULL, in_child_of_fork);
    struct cts_error error;
    const bool sound = cts_environment_read(&environment, &error) == CTS_OK;
    if (!sound) refuse(error.text);
    if (!cts_memory_sums_start(environment.memory_sums))
        cts_say("cannot write '%s' (CTASCOPE_MEMORY_SUMS)", environment.memory_sums);
    cts_cpu_timeline_start();
    const struct cts_engine_options options = {
        .worker_count = environment.worker_count,
        .deterministic = environment.deterministic,
        .fiber_stack_bytes = environment.stack_bytes,
        .spin_limit_ns = environment.spin_limit_s * 1000000000u,
        .allow_read = environment.strict ? NULL : cts_range_allow_read,
    };
    if (cts_engine_start(&options, &error) != CTS_OK) {
        cts_say("cannot start the CPU device: %s", error.text);
        atomic_store(&engine_failed, true);
        return;
    }
    if (environment.sm_count) cts_engine_set_sm_count(environment.sm_count);
    cts_ranges_start();
    cts_record_start();
    atomic_store(&started, true);
}

static void start(void)
{
    const int errnum = errno;
    begin();
    errno = errnum;
}

cudaError_t cts_enter_lenient(void)
{
    if (cts_process_is_forked()) {
        cts_call_failed(cudaErrorInitializationError);
        return cudaErrorInitializationError;
    }
    pthread_once(&once, start);
    if (atomic_load_explicit(&engine_failed, memory_order_relaxed))
        return cts_return(cudaErrorInitializationError);
    cts_registry_load();
    return cudaSuccess;
}

cudaError_t cts_enter(void)
{
    const cudaError_t lenient = cts_enter_lenient();
    if (lenient != cudaSuccess) return lenient;
    if (cts_in_callback) return cts_return(cudaErrorNotPermitted);
    return cts_return(cts_sticky(cts_current_device()));
}

static void sum_at_end(const struct cts_range *range)
{
    cts_memory_sum("end", range);
}

__attribute__((destructor)) static void finish(void)
{
    if (!atomic_load(&started) || cts_process_is_forked() || getpid() != process) return;
    /* exit() in a callback: the stream waits for us, not we for it */
    const bool idle = !cts_in_callback && cts_streams_drain();
    if (idle && environment.memory_sums) cts_ranges_each(sum_at_end);
    cts_cpu_timeline_finish();
    cts_record_finish(idle);
    if (idle) cts_engine_stop();
}
