/* The life of the memory recorder inside a program: the driver loads this library when CUDA is
 * initialised (CUDA_INJECTION64_PATH) and calls InitializeInjection; accesses are recorded until
 * the program exits.
 *
 * Nothing here may change what the program does: what fails becomes the run's failure, and the
 * program goes on unrecorded. At exit, work that is still queued gets a while to end; the
 * threads that empty the ring go on if it does not, since kernels that find no room wait. A forked
 * child cannot use its parent's CUDA: there, this library is off. */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "callbacks.h"
#include "common/clock.h"
#include "disassembly.h"
#include "launches.h"
#include "launching.h"
#include "library.h"
#include "modules.h"
#include "patching.h"
#include "record/wrappers/thread-rows.h"
#include "rings.h"
#include "memory-run.h"
#include "settings.h"
#include "stream-table.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000, END_WAIT_S = 10, END_DRAIN_MS = 60000 };

static pid_t recorded_pid;

/* What cts_start() or cts_stop() said, perhaps before CUDA was there. */
static _Atomic bool is_switched, is_switched_on;

#pragma GCC visibility push(default)
int InitializeInjection(void);
void ctascope_record_switch(int on);
#pragma GCC visibility pop

void ctascope_record_switch(int on)
{
    is_switched_on = on != 0;
    is_switched = true;
    cts_memory_settings.defer = true;
    cts_launches_switch(on != 0);
}

/* ---- the end ---- */

static bool wait_for_work(void)
{
    const struct timespec moment = {.tv_nsec = NS_PER_MS};
    const uint64_t start_ns = cts_clock_ns();
    while (cts_memory_streams_are_busy()) {
        if (cts_clock_ns() - start_ns > (uint64_t)END_WAIT_S * NS_PER_S) return false;
        nanosleep(&moment, NULL);
    }
    return true;
}

static void tell_loss(uint64_t lost)
{
    if (lost)
        cts_memory_say("error", "%llu records of unknown launches or instructions were lost",
                       (unsigned long long)lost);
}

/* Silence has a reason, too. */
static void tell_nothing(void)
{
    const uint64_t launches = cts_launches_recorded();
    const struct cts_stream_counts counts = cts_collector_counts(cts_memory_run.collector);
    const bool is_explained = cts_collector_failure(cts_memory_run.collector) != NULL;
    if (launches && !is_explained && !cts_memory_settings.empty && !counts.records &&
        !counts.dropped_records)
        cts_memory_say("error",
                       "no access of %llu launches arrived: they accessed no memory, or the driver "
                       "ran them without patches",
                       (unsigned long long)launches);
}

static void finish(void)
{
    if (getpid() != recorded_pid) return;
    cts_callbacks_stop();
    cts_thread_rows_stop();
    if (!wait_for_work()) {
        (void)cts_memory_rings_drain(END_DRAIN_MS);
        cts_launches_finish(false);
        cts_memory_say("warning",
                       "work was still running %d s after the end of the program; its "
                       "records are incomplete",
                       END_WAIT_S);
        (void)cts_catalogue_flush(cts_memory_run.catalogue, NULL);
        return;
    }
    uint64_t lost = 0;
    cts_memory_rings_stop(&lost);
    tell_loss(lost);
    cts_launches_finish(true);
    if (!cts_memory_settings.discard) tell_nothing();
    cts_disassembly_finish();
    (void)cts_collector_close(cts_memory_run.collector, NULL); /* a failure is in the catalogue */
}

static void in_forked_child(void)
{
    cts_callbacks_stop();
}

/* ---- the begin ---- */

static enum cts_status start_recording(struct cts_error *error)
{
    const struct cts_environment *const environment = &cts_memory_settings.environment;
    static const struct cts_ring_names names = {.launch = cts_launch_of_number,
                                                .site = cts_module_site,
                                                .counts = cts_launch_counts,
                                                .copy = cts_module_copy,
                                                .copy_site = cts_module_copy_site};
    enum cts_status status = cts_memory_settings_check(error);
    if (!status) status = cts_sanitizer_open(environment->sanitizer, error);
    if (!status) status = cts_patching_start(error);
    if (!status) status = cts_memory_rings_start(&names, error);
    if (status) return status;
    if (environment->nvtx_include) cts_launches_watch_ranges();
    cts_launches_switch(is_switched ? is_switched_on : environment->profile_from_start);
    status = cts_callbacks_start(error);
    if (!status) return CTS_OK;
    cts_memory_rings_stop(NULL);
    return status;
}

/* The driver loads us for itself; the program's cts_start() looks for ctascope_record_switch(). */
static void let_others_find_us(void)
{
    Dl_info info;
    if (dladdr((void *)InitializeInjection, &info) && info.dli_fname)
        (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

/* MPI's launchers and daemons look for GPUs, too, but are no ranks of the run. */
static bool is_launcher(void)
{
    static const char *const names[] = {"orterun", "prterun", "orted", "prted", "prte",
                                        "mpirun",  "mpiexec", "hydra", "srun"};
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return false;
    path[length] = 0;
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t bytes = strlen(names[i]);
        if (strncmp(name, names[i], bytes) == 0 && !isalpha((unsigned char)name[bytes]))
            return true;
    }
    return false;
}

static void start(void)
{
    struct cts_error error;
    const enum cts_status read = cts_memory_settings_read(&error);
    const struct cts_environment *const environment = &cts_memory_settings.environment;
    if (!environment->run_path || !environment->accesses || is_launcher()) return;
    struct cts_error opening;
    const struct cts_collector_options options = {.run_path = environment->run_path,
                                                  .max_size_bytes = environment->max_size_bytes,
                                                  .values = environment->values,
                                                  .recorder = "inject"};
    struct cts_memory_run *const run = &cts_memory_run;
    if (cts_collector_open(&options, &run->collector, &opening)) return;
    run->catalogue = cts_collector_catalogue(run->collector);
    run->rank = cts_catalogue_rank(run->catalogue);
    recorded_pid = getpid();
    if (read || start_recording(&error)) {
        cts_memory_say("error", "%s", error.text);
        (void)cts_collector_close(cts_memory_run.collector, NULL);
        return;
    }
    cts_memory_run_watch_threads();
    atexit(finish);
    let_others_find_us();
    pthread_atfork(NULL, NULL, in_forked_child);
}

/* CUDA takes 0 for a failure; ours are no business of the program's. */
int InitializeInjection(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    return 1;
}
