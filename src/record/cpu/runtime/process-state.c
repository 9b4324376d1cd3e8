/* What all files of the runtime ask of the process: the environment as it was read, whether this is
 * a forked child, and a line on stderr. */
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

__thread bool cts_in_callback;

static struct cts_environment environment;
static _Atomic bool started, forked;

/* ---- the environment ---- */

const struct cts_environment *cts_environment_get(void)
{
    return &environment;
}

void cts_environment_use(const struct cts_environment *read)
{
    environment = *read;
}

/* ---- forks ---- */

static void in_child_of_fork(void)
{
    if (atomic_load(&started)) atomic_store(&forked, true);
}

void cts_process_watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child_of_fork);
}

void cts_process_set_started(void)
{
    atomic_store(&started, true);
}

bool cts_process_has_started(void)
{
    return atomic_load(&started);
}

bool cts_process_is_forked(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed);
}

/* ---- lines on stderr ---- */

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
