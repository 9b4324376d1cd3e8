/* The life of the GPU timeline inside a program: the driver loads this library when CUDA is
 * initialised (CUDA_INJECTION64_PATH) and calls InitializeInjection; calls and activities are
 * recorded until the program exits. A thread of ours has CUPTI deliver what has ended ten times a
 * second, so that memory stays bounded and a program that is killed loses little.
 *
 * Nothing here may change what the program does: what fails becomes one line of the run's messages
 * and the program goes on unrecorded. At exit, work that is still queued gets a second to end, so
 * that it has an end in the timeline. A forked child cannot use its parent's CUDA:
 * there, this library is off. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "inject.h"

enum { FLUSH_PERIOD_MS = 100, DRAIN_MS = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

static pid_t recorded_pid;
static pthread_t flusher;
static bool has_flusher;
static pthread_mutex_t flusher_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t flusher_wakes;
static bool ending; /* under the lock */

#pragma GCC visibility push(default)
int InitializeInjection(void);
#pragma GCC visibility pop

/* ---- delivering while the program runs ---- */

static void *flush_now_and_then(void *unused)
{
    (void)unused;
    struct timespec next;
    cts_activities_prepare();
    pthread_mutex_lock(&flusher_lock);
    while (!ending) {
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += (long)FLUSH_PERIOD_MS * NS_PER_MS;
        next.tv_sec += next.tv_nsec / NS_PER_S;
        next.tv_nsec %= NS_PER_S;
        if (pthread_cond_timedwait(&flusher_wakes, &flusher_lock, &next) != ETIMEDOUT) continue;
        pthread_mutex_unlock(&flusher_lock);
        (void)cts_cupti.cuptiActivityFlushAll(0);
        cts_activities_prepare();
        pthread_mutex_lock(&flusher_lock);
    }
    pthread_mutex_unlock(&flusher_lock);
    return NULL;
}

/* The program's signals are for its own threads. */
static void start_flusher(void)
{
    sigset_t all, before;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&flusher_wakes, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    has_flusher = pthread_create(&flusher, NULL, flush_now_and_then, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (has_flusher)
        pthread_setname_np(flusher, "ctascope-flush");
    else
        cts_inject_say("warning", "cannot start the thread that collects CUPTI's records: they "
                                  "stay in memory until the program ends");
}

static void stop_flusher(void)
{
    if (!has_flusher) return;
    pthread_mutex_lock(&flusher_lock);
    ending = true;
    pthread_cond_signal(&flusher_wakes);
    pthread_mutex_unlock(&flusher_lock);
    pthread_join(flusher, NULL);
}

/* ---- the end ---- */

static void drain(void)
{
    const struct timespec moment = {.tv_nsec = NS_PER_MS / 4};
    const uint64_t start_ns = cts_inject_recorder->now_ns();
    while (cts_streams_are_busy() &&
           cts_inject_recorder->now_ns() - start_ns < (uint64_t)DRAIN_MS * NS_PER_MS)
        nanosleep(&moment, NULL);
}

static void finish(void)
{
    if (getpid() != recorded_pid) return;
    cts_calls_stop(); /* what we ask of CUDA from here on is ours */
    drain();
    stop_flusher();
    (void)cts_cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    cts_activities_tell();
    const uint64_t launches = cts_calls_launch_count();
    if (launches && !cts_activities_kernel_count())
        cts_inject_say("warning",
                       "%llu launches but no kernel was recorded: another tool in the program "
                       "(a profiler, say) took over CUPTI's buffers",
                       (unsigned long long)launches);
}

static void in_forked_child(void)
{
    cts_calls_stop();
}

/* ---- the begin ---- */

static bool read_choice(enum cts_calls_choice *choice)
{
    static const char *const names[] = {[CTS_CALLS_BOTH] = "both",
                                        [CTS_CALLS_DRIVER] = "driver",
                                        [CTS_CALLS_RUNTIME] = "runtime",
                                        [CTS_CALLS_ALL] = "all"};
    const char *const asked = getenv("CTASCOPE_CUDA_CALLS");
    *choice = CTS_CALLS_BOTH;
    if (!asked || !*asked) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(asked, names[i]) == 0) {
            *choice = (enum cts_calls_choice)i;
            return true;
        }
    return false;
}

static void read_limit(void)
{
    const char *const asked = getenv("CTASCOPE_CUPTI_BUFFERS");
    char *end;
    if (!asked || !*asked) return;
    const unsigned long long buffers = strtoull(asked, &end, 10);
    if (!*end && buffers > 0 && buffers <= UINT32_MAX)
        cts_activities_limit((size_t)buffers);
    else
        cts_inject_say("warning", "CTASCOPE_CUPTI_BUFFERS='%s' is not a number of buffers", asked);
}

static bool subscribe(enum cts_calls_choice choice, char *reason, size_t reason_bytes)
{
    CUpti_SubscriberHandle subscriber;
    const char *text = NULL;
    const CUptiResult result = cts_cupti.cuptiSubscribe(&subscriber, cts_calls_callback, NULL);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
        snprintf(reason, reason_bytes,
                 "another tool (a profiler or a debugger) already uses CUPTI in this program, and "
                 "CUPTI serves one at a time");
        return false;
    }
    if (result != CUPTI_SUCCESS) {
        cts_cupti.cuptiGetResultString(result, &text);
        snprintf(reason, reason_bytes, "CUPTI: %s", text ? text : "unknown error");
        return false;
    }
    if (!cts_activities_enable(reason, reason_bytes)) {
        (void)cts_cupti.cuptiUnsubscribe(subscriber);
        return false;
    }
    cts_calls_enable(subscriber, choice);
    return true;
}

static void start(void)
{
    char reason[700];
    enum cts_calls_choice choice;
    cts_inject_recorder = cts_recorder_get();
    if (cts_inject_recorder->version != CTS_RECORDER_VERSION || !cts_inject_recorder->is_on())
        return;
    recorded_pid = getpid();
    if (!read_choice(&choice))
        cts_inject_say(
            "warning",
            "unknown CTASCOPE_CUDA_CALLS value '%s' (one of: both, driver, runtime, all)",
            getenv("CTASCOPE_CUDA_CALLS"));
    read_limit();
    if (!cts_cupti_open(&cts_cupti, reason, sizeof reason) ||
        !subscribe(choice, reason, sizeof reason)) {
        cts_inject_say("error", "no GPU timeline is recorded: %s", reason);
        return;
    }
    atexit(finish);
    pthread_atfork(NULL, NULL, in_forked_child);
    start_flusher();
}

/* CUDA takes 0 for a failure; ours are no business of the program's. */
int InitializeInjection(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    return 1;
}
