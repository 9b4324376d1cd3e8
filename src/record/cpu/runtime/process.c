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
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory-sums.h"
#include "range.h"
#include "record.h"
#include "record/cpu/engine.h"
#include "registry.h"
#include "stream.h"
#include "cpu-timeline.h"
#include "try-watch.h"
#include "trace/failures.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool engine_failed;
static pid_t process; /* that has started: not every fork() calls in_child_of_fork() */

/* A variable of the environment that cannot be understood. */
static void refuse(struct cts_environment *environment, const char *reason)
{
    if (environment->run_path) cts_failure_leave(environment->run_path, CTS_FAILURE_MEMORY, reason);
    cts_say("%s; nothing is recorded", reason);
    environment->run_path = NULL;
    environment->timeline = false;
}

/* Libraries that end from now on are not unloaded. And before the timeline recorder's own end: what
 * is still queued when the program exits belongs to the timeline. Functions that the program
 * registered before its first call are run after this one and may queue more. */
static void at_exit(void)
{
    const bool has_timeline = atomic_load(&cts_cpu_timeline_state) == CTS_TIMELINE_ON;
    cts_registry_note_exit();
    if (cts_try_is_on() && !cts_process_is_forked()) cts_try_finish();
    if (has_timeline && !cts_process_is_forked() && !cts_in_callback) (void)cts_streams_drain();
}

static void begin(void)
{
    process = getpid();
    cts_process_watch_forks();
    struct cts_error error;
    static struct cts_environment environment; /* the program's thread may have a small stack */
    const bool sound = cts_environment_read(&environment, &error) == CTS_OK;
    if (!sound) refuse(&environment, error.text);
    cts_environment_use(&environment);
    if (!cts_memory_sums_start(environment.memory_sums))
        cts_say("cannot write '%s' (CTASCOPE_MEMORY_SUMS)", environment.memory_sums);
    cts_cpu_timeline_start();
    atexit(at_exit);
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
    cts_try_start();
    cts_process_set_started();
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
    if (!cts_process_has_started()) cts_cpu_timeline_load(); /* outside of once, as it says */
    pthread_once(&once, start);
    if (atomic_load_explicit(&engine_failed, memory_order_relaxed))
        return cts_return(cudaErrorInitializationError);
    cts_registry_load();
    return cudaSuccess;
}

void cts_call_open(struct cts_call *call, const char *function, _Atomic uint32_t *region)
{
    uint64_t start_ns = 0;
    if (atomic_load(&cts_cpu_timeline_state) == CTS_TIMELINE_UNKNOWN) {
        start_ns = cts_clock_ns();
        (void)cts_enter_lenient();
    }
    cts_call_begin(call, function, region, start_ns);
}

cudaError_t cts_enter(void)
{
    const cudaError_t lenient = cts_enter_lenient();
    if (lenient != cudaSuccess) return lenient;
    if (cts_in_callback) return cts_return(cudaErrorNotPermitted);
    if (cts_try_is_on()) cts_try_watcher->enter();
    return cts_return(cts_sticky(cts_current_device()));
}

static void sum_at_end(const struct cts_range *range)
{
    cts_memory_sum("end", range);
}

__attribute__((destructor)) static void finish(void)
{
    if (!cts_process_has_started() || cts_process_is_forked() || getpid() != process) return;
    /* exit() in a callback: the stream waits for us, not we for it */
    const bool idle = !cts_in_callback && cts_streams_drain();
    if (idle && cts_environment_get()->memory_sums) cts_ranges_each(sum_at_end);
    cts_cpu_timeline_finish();
    cts_record_finish(idle);
    if (idle) cts_engine_stop();
}
