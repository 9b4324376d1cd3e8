/* `record` is a child subreaper: a process whose parent ends becomes a child of ours, so that we
 * know how it ended, and that it has. Of those that the program leaves running we wait for the ones
 * that have a recorder in them, and not for any other. */
#include "cli/run-program.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/verb.h"

extern char **environ;

enum { EXIT_SIGNAL = 128, POLL_NS = 20 * 1000 * 1000, SAY_AFTER_POLLS = 100, DEPTH_MAX = 16 };

/* ---- signals ---- */

static volatile sig_atomic_t child_pid, stop_waiting;

/* Signals of an error of our own (SIGSEGV and the like), SIGCHLD, those that stop us, and those
 * that nobody can catch are not among them. */
static const int passed_signals[] = {
    SIGINT,  SIGQUIT, SIGTERM,   SIGHUP,  SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,  SIGXCPU,
    SIGXFSZ, SIGIO,   SIGSTKFLT, SIGPIPE, SIGPWR,  SIGABRT, SIGCONT, SIGURG,    SIGWINCH,
};

/* What ends a program that does not handle it, and was meant to. */
static bool is_request_to_end(int signal_number)
{
    static const int requests[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1,
                                   SIGUSR2, SIGALRM, SIGXCPU, SIGABRT, SIGPWR};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (requests[i] == signal_number) return true;
    return false;
}

/* The kernel and the terminal send their signals to the program too; one that somebody sent to us
 * is passed on, but for what abort() sends to ourselves. After the program's end it ends our
 * waiting for the rest. */
static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    const int saved = errno;
    (void)context;
    if (child_pid <= 0)
        stop_waiting |= is_request_to_end(signal_number);
    else if (info->si_code <= 0 && info->si_pid != getpid())
        kill((pid_t)child_pid, signal_number);
    errno = saved;
}

/* Real-time signals are counted and may have a value. Of one that kill() sent we cannot see whether
 * it went to all of our process group, and the program has it already; sigqueue() sends to one. */
static void pass_on_queued(int signal_number, siginfo_t *info, void *context)
{
    const int saved = errno;
    (void)context;
    if (child_pid > 0 && info->si_code == SI_QUEUE)
        sigqueue((pid_t)child_pid, signal_number, info->si_value);
    errno = saved;
}

static void catch_signal(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction before;
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(number, NULL, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

static void catch_signals(void)
{
    for (size_t i = 0; i < sizeof passed_signals / sizeof *passed_signals; i++)
        catch_signal(passed_signals[i], pass_on);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) catch_signal(number, pass_on_queued);
}

/* Starts the program with the signal mask that we had; 0 or an errno value. */
static int start_program(char *const *command, pid_t *pid)
{
    sigset_t all, before;
    posix_spawnattr_t attributes;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* nothing is to be passed on to nobody */
    catch_signals();
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &before);
    const int errnum = posix_spawnp(pid, command[0], NULL, &attributes, command, environ);
    posix_spawnattr_destroy(&attributes);
    if (!errnum) child_pid = *pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return errnum;
}

/* ---- what is left ---- */

static bool has_memory(pid_t pid)
{
    char path[64];
    unsigned long long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *const file = fopen(path, "re");
    const bool is_known = file && fscanf(file, "%llu", &pages) == 1;
    if (file) fclose(file);
    return is_known && pages;
}

/* Whether a process has given up its memory and waitpid() may still tell us its end. A zombie of
 * another parent's is none of them. */
static bool is_ending(pid_t pid)
{
    char path[64];
    if (has_memory(pid)) return false;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *const file = fopen(path, "re");
    if (!file) return false;
    char line[512]; /* pid (name) state parent; a name may have parentheses */
    const char *const name_end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    const char state = name_end && name_end[1] ? name_end[2] : 'X';
    const bool is_ours = state == 'Z' && strtol(name_end + 3, NULL, 10) == (long)getpid();
    fclose(file);
    return state == 'Z' ? is_ours : state != 'X';
}

/* Whether a recorder is in a process, or was and its end is still to come. */
static bool has_recorder(pid_t pid)
{
    static const char *const names[] = {"libctascope_cpu", "libctascope_memory",
                                        "libctascope_cupti", "libctascope_mpi"};
    char path[64], line[4400];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *const file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            found |= strstr(line, names[i]) != NULL;
    if (file) fclose(file);
    return found || is_ending(pid); /* which cuts the list of maps short */
}

/* How many descendants of a process have a recorder in them. */
static unsigned count_recorders(pid_t pid, int depth)
{
    char path[64];
    int child;
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *const file = fopen(path, "re");
    while (file && depth < DEPTH_MAX && fscanf(file, "%d", &child) == 1)
        count += has_recorder(child) + count_recorders(child, depth + 1);
    if (file) fclose(file);
    return count;
}

static void keep_end(struct cts_program_result *result, pid_t pid, int status)
{
    struct cts_process_end *const ends =
        reallocarray(result->ends, result->end_count + 1, sizeof *ends);
    if (!ends) return; /* its end stays unknown */
    result->ends = ends;
    const bool is_signal = WIFSIGNALED(status);
    ends[result->end_count++] = (struct cts_process_end){
        .pid = pid,
        .is_signal = is_signal,
        .status = (uint32_t)(is_signal ? WTERMSIG(status) : WEXITSTATUS(status))};
}

static void wait_for_the_rest(struct cts_program_result *result)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    unsigned count;
    for (int polls = 0;; polls++) {
        int status;
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) keep_end(result, pid, status);
        if (pid < 0 && errno == ECHILD) return;
        if (stop_waiting || (count = count_recorders(getpid(), 0)) == 0) return;
        if (polls == SAY_AFTER_POLLS)
            fprintf(stderr,
                    "ctascope record: the program has ended; waiting for %u process%s that it left "
                    "running (Ctrl-C ends the recording)\n",
                    count, count == 1 ? "" : "es");
        nanosleep(&pause, NULL);
    }
}

static void wait_for_program(pid_t program, struct cts_program_result *result)
{
    int status = 0;
    pid_t pid;
    result->status = CTS_EXIT_RECORD;
    do {
        pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno != EINTR) break;
        if (pid > 0) keep_end(result, pid, status);
    } while (pid != program);
    child_pid = 0;
    if (pid == program)
        result->status = WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
    wait_for_the_rest(result);
}

int cts_program_run(char *const *command, struct cts_program_result *result)
{
    pid_t pid;
    *result = (struct cts_program_result){0};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const int errnum = start_program(command, &pid);
    if (!errnum) wait_for_program(pid, result);
    return errnum;
}
