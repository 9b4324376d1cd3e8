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
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/name-filter.h"
#include "modules.h"
#include "record/wrappers/thread-rows.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000, END_WAIT_S = 10, END_DRAIN_MS = 60000 };

struct cts_memory cts_memory;
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
    cts_memory.defer = true;
    cts_launches_switch(on != 0);
}

uint64_t cts_memory_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Callbacks run on the thread that called. Its device and the function's name are not known here.
 */
uint64_t cts_memory_op(void)
{
    static _Atomic uint32_t threads;
    static __thread uint32_t thread; /* + 1 */
    if (!thread) {
        thread = atomic_fetch_add(&threads, 1) + 1;
        cts_thread_rows_attach(thread - 1);
    }
    const struct cts_host_call row = {.rank = cts_memory.rank,
                                      .op = cts_catalogue_next_op(cts_memory.catalogue),
                                      .thread = thread - 1,
                                      .stream = CTS_NONE};
    cts_catalogue_add_call(cts_memory.catalogue, &row);
    cts_thread_rows_begin(row.thread, row.op);
    return row.op;
}

/* What threads do has its op at once. */
static bool have_booked(void)
{
    return true;
}

/* The driver's and the runtime's own locks, which order nothing that the program may rely on, look
 * like the program's. */
static void watch_threads(void)
{
    static const struct cts_thread_watcher watcher = {
        .with_locks = false, .book = have_booked, .book_all = have_booked};
    cts_thread_rows_start(cts_memory.catalogue, &watcher);
}

void cts_memory_say(const char *severity, const char *format, ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cts_catalogue_add_message(cts_memory.catalogue, severity, text);
    if (strcmp(severity, "error") != 0) return;
    struct cts_error error;
    cts_fail(&error, CTS_UNSUPPORTED, "%s", text);
    cts_collector_fail(cts_memory.collector, &error);
}

/* ---- the end ---- */

static bool wait_for_work(void)
{
    const struct timespec moment = {.tv_nsec = NS_PER_MS};
    const uint64_t start_ns = cts_memory_now_ns();
    while (cts_contexts_are_busy()) {
        if (cts_memory_now_ns() - start_ns > (uint64_t)END_WAIT_S * NS_PER_S) return false;
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
    const struct cts_stream_counts counts = cts_collector_counts(cts_memory.collector);
    const bool is_explained = cts_collector_failure(cts_memory.collector) != NULL;
    if (launches && !is_explained && !cts_memory.empty && !counts.records &&
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
        (void)cts_ring_drain(cts_memory.consumers, END_DRAIN_MS);
        cts_launches_finish(false);
        cts_memory_say("warning",
                       "work was still running %d s after the end of the program; its "
                       "records are incomplete",
                       END_WAIT_S);
        (void)cts_catalogue_flush(cts_memory.catalogue, NULL);
        return;
    }
    uint64_t lost = 0;
    cts_ring_stop(cts_memory.consumers, &lost);
    cts_memory.consumers = NULL;
    tell_loss(lost);
    cts_launches_finish(true);
    if (!cts_memory.discard) tell_nothing();
    cts_disassembly_finish();
    (void)cts_collector_close(cts_memory.collector, NULL); /* a failure is in the catalogue */
}

static void in_forked_child(void)
{
    cts_callbacks_stop();
}

/* ---- the begin ---- */

/* A list of spaces: "global", "global,shared", ... */
static enum cts_status read_spaces(struct cts_error *error)
{
    static const struct {
        const char *name;
        bool *place;
    } known[] = {{"global", &cts_memory.global},
                 {"shared", &cts_memory.shared},
                 {"local", &cts_memory.local}};
    const char *at = cts_memory.environment.spaces;
    if (!at) at = "global,shared";
    while (*at) {
        const size_t length = strcspn(at, ",");
        size_t i = 0;
        while (i < 3 && (strlen(known[i].name) != length || strncmp(at, known[i].name, length)))
            i++;
        if (i == 3)
            return cts_fail(error, CTS_USAGE,
                            "CTASCOPE_SPACES='%.100s' is not a list of global, shared, local",
                            cts_memory.environment.spaces);
        *known[i].place = true;
        at += length;
        at += *at == ',';
    }
    if (!cts_memory.global)
        return cts_fail(error, CTS_USAGE,
                        "CTASCOPE_SPACES: the list must include global, which is always recorded");
    return CTS_OK;
}

static enum cts_status check_expression(struct cts_error *error)
{
    const char *const name = cts_memory.environment.kernel_name;
    struct cts_name_filter filter;
    struct cts_error wrong;
    if (cts_name_filter_make(&filter, name, &wrong))
        return cts_fail(error, CTS_USAGE,
                        "CTASCOPE_KERNEL_NAME='%.200s' is not a regular expression: %s", name,
                        wrong.text);
    cts_name_filter_release(&filter);
    return CTS_OK;
}

/* Pinned memory that the machine does not have would take it from everybody, or hang. */
static enum cts_status check_ring_size(struct cts_error *error)
{
    const uint64_t asked_bytes = cts_memory.environment.ring_bytes;
    unsigned long long free_kib = 0;
    char line[128];
    FILE *const file = asked_bytes ? fopen("/proc/meminfo", "re") : NULL;
    while (file && !free_kib && fgets(line, sizeof line, file))
        if (strncmp(line, "MemAvailable:", 13) == 0) free_kib = strtoull(line + 13, NULL, 10);
    if (file) fclose(file);
    if (!free_kib || asked_bytes <= free_kib * 1024 / 2) return CTS_OK;
    return cts_fail(error, CTS_LIMIT,
                    "a ring of %llu MiB is more than half of the %llu MiB of free memory; choose a "
                    "smaller --ring-size",
                    (unsigned long long)asked_bytes >> 20, free_kib >> 10);
}

static enum cts_status start_recording(struct cts_error *error)
{
    const struct cts_environment *const environment = &cts_memory.environment;
    static const struct cts_ring_names names = {
        .launch = cts_launch_of_number, .site = cts_module_site, .counts = cts_launch_counts};
    enum cts_status status = read_spaces(error);
    if (!status) status = check_expression(error);
    if (!status) status = check_ring_size(error);
    if (!status) status = cts_sanitizer_open(environment->sanitizer, error);
    if (!status) status = cts_patches_read(cts_memory.values, &cts_memory.patches, error);
    if (!status)
        status = cts_ring_start(&(struct cts_ring_options){.collector = cts_memory.collector,
                                                           .count = environment->worker_count,
                                                           .discard = cts_memory.discard,
                                                           .names = &names},
                                &cts_memory.consumers, error);
    if (status) return status;
    cts_memory.defer = environment->kernel_name || environment->launch_skip ||
                       environment->launch_count != UINT64_MAX ||
                       !environment->profile_from_start || environment->nvtx_include || is_switched;
    if (environment->nvtx_include) cts_launches_watch_ranges();
    cts_launches_switch(is_switched ? is_switched_on : environment->profile_from_start);
    status = cts_callbacks_start(error);
    if (!status) return CTS_OK;
    cts_ring_stop(cts_memory.consumers, NULL);
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
    struct cts_environment *const environment = &cts_memory.environment;
    const enum cts_status read = cts_environment_read(environment, &error);
    const char *const mode = getenv("CTASCOPE_MEMORY_MODE"); /* for measurements */
    if (!environment->run_path || !environment->accesses || is_launcher()) return;
    struct cts_error opening;
    const struct cts_collector_options options = {.run_path = environment->run_path,
                                                  .max_size_bytes = environment->max_size_bytes,
                                                  .values = environment->values,
                                                  .recorder = "inject"};
    if (cts_collector_open(&options, &cts_memory.collector, &opening)) return;
    cts_memory.catalogue = cts_collector_catalogue(cts_memory.collector);
    cts_memory.rank = cts_catalogue_rank(cts_memory.catalogue);
    cts_memory.values = environment->values;
    const char *const barriers = getenv("CTASCOPE_BARRIERS");
    cts_memory.barriers = barriers && strcmp(barriers, "1") == 0;
    cts_memory.empty = mode && strcmp(mode, "empty") == 0;
    cts_memory.discard = mode && strcmp(mode, "discard") == 0;
    recorded_pid = getpid();
    if (read || start_recording(&error)) {
        cts_memory_say("error", "%s", error.text);
        (void)cts_collector_close(cts_memory.collector, NULL);
        return;
    }
    watch_threads();
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
