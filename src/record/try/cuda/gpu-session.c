#include "record/try/cuda/gpu-session.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/try/cuda/gpu-activity.h"
#include "record/try/cuda/gpu-replayer.h"
#include "record/try/try-session.h"
#include "trace/trial/trial-message.h"

enum phase { UNKNOWN, OFF, WAITING, OPEN };

static _Atomic int phase;
static _Atomic bool is_busy;
static pthread_mutex_t gate;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *socket_path;
static enum { BY_PROFILER, BY_RANGE, BY_LAUNCHES, LIST } selection;
static uint64_t first_launch, last_launch;
static int (*is_in_range)(void); /* the calling thread, by the watcher of NVTX ranges */
static pthread_t opener;         /* of a range: it is in that, other threads need not be */

/* False: it names no stretch. */
static bool read_selection(const char *text)
{
    char *end;
    if (strcmp(text, "profiler") == 0) return true;
    if (strncmp(text, "launches ", 9) == 0) {
        selection = BY_LAUNCHES;
        first_launch = strtoull(text + 9, &end, 10);
        last_launch = *end == '-' ? strtoull(end + 1, NULL, 10) : first_launch;
        return true;
    }
    if (strcmp(text, "range") == 0) {
        const char *const path = getenv("NVTX_INJECTION64_PATH");
        void *const library = path ? dlopen(path, RTLD_LAZY) : NULL;
        void *const found = library ? cts_gpu_plain_dlsym(library, "ctascope_nvtx_included") : NULL;
        memcpy(&is_in_range, &found, sizeof found);
        selection = BY_RANGE;
        return found != NULL;
    }
    cts_gpu_counts.lists_kernels = true;
    selection = LIST;
    return strcmp(text, "list") == 0;
}

static void read_environment(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&gate, &attributes);
    const char *const text = getenv("CTASCOPE_TRY_STRETCH");
    socket_path = getenv("CTASCOPE_TRY");
    const bool is_known = text && read_selection(text);
    atomic_store(&phase, socket_path && is_known ? WAITING : OFF);
}

bool cts_gpu_is_watching(void)
{
    if (cts_gpu_passes()) return false;
    if (atomic_load_explicit(&phase, memory_order_relaxed) == UNKNOWN)
        pthread_once(&once, read_environment);
    if (atomic_load(&phase) == OFF) return false;
    if (atomic_load(&is_busy)) { /* the stretch's own thread passes */
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    return atomic_load(&phase) != OFF && cts_gpu_driver();
}

static void at_exit(void);

static void open_stretch(void)
{
    const char *const limit = getenv("CTASCOPE_TRY_LIMIT");
    const uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    pthread_mutex_lock(&gate);
    atomic_store(&is_busy, true);
    (void)cts_gpu_driver()->ctx_synchronize();
    cts_gpu_capture_open(limit ? strtoull(limit, NULL, 10) : half, &cts_gpu_device);
    atexit(at_exit); /* runs before those of the runtime, the driver and CUPTI, which are older */
    atomic_store(&phase, OPEN);
    atomic_store(&is_busy, false);
    pthread_mutex_unlock(&gate);
}

static void close_stretch(void)
{
    pthread_mutex_lock(&gate);
    atomic_store(&is_busy, true);
    if (cts_gpu_driver()->ctx_synchronize() != CUDA_SUCCESS)
        cts_gpu_refuse("the driver reports an error when the stretch ends");
    struct cts_gpu_capture *const capture = cts_gpu_capture_close();
    const int socket = cts_try_connect(socket_path);
    if (socket >= 0) {
        struct cts_try_session session = {.socket = socket,
                                          .device = &cts_gpu_device,
                                          .memory = &capture->memory,
                                          .stretch = &capture->stretch};
        cts_gpu_replayer_use(capture);
        cts_try_converse(&session);
        (void)cts_gpu_driver()->ctx_synchronize(); /* memory is as the program left it */
        cts_gpu_replayer_release();
        cts_gpu_activity_release();
        cts_gpu_replayer_use(NULL);
        close(socket);
    }
    cts_gpu_capture_release();
    atomic_store(&phase, OFF);
    atomic_store(&is_busy, false);
    pthread_mutex_unlock(&gate);
}

static bool has_left_range(void)
{
    return pthread_equal(opener, pthread_self()) && !is_in_range();
}

static void before_in_range(enum cts_gpu_act act, int now)
{
    if (now == WAITING && act != CTS_GPU_ACT_WAIT && is_in_range()) {
        opener = pthread_self();
        open_stretch();
    }
    if (now == OPEN && has_left_range()) close_stretch();
}

void cts_gpu_before(enum cts_gpu_act act)
{
    const uint64_t launches = cts_gpu_counts.launches;
    const int now = atomic_load(&phase);
    if (atomic_load(&is_busy)) return;
    if (selection == BY_RANGE) before_in_range(act, now);
    if (selection != BY_LAUNCHES) return;
    if (now == WAITING && act == CTS_GPU_ACT_LAUNCH && launches == first_launch) open_stretch();
    const bool ends = act == CTS_GPU_ACT_LAUNCH || act == CTS_GPU_ACT_OTHER;
    if (now == OPEN && ends && launches > last_launch) close_stretch();
}

void cts_gpu_profiler(bool starts)
{
    const int now = atomic_load(&phase);
    if (selection != BY_PROFILER) return;
    if (starts && now == WAITING) open_stretch();
    if (!starts && now == OPEN) close_stretch();
}

static void at_exit(void)
{
    if (atomic_load(&phase) == OPEN) close_stretch();
}

/* The program ends: the driver still works in destructors of libraries that were loaded before it.
 */
__attribute__((destructor)) static void finish(void)
{
    struct cts_error error;
    struct cts_buffer message = {0};
    const int now = atomic_load(&phase);
    if (now == OPEN) close_stretch();
    if (now != WAITING || !cts_gpu_counts.launches) return;
    const int socket = cts_try_connect(socket_path);
    if (socket < 0) return;
    const struct cts_trial_absence absence = {.launch_count = cts_gpu_counts.launches,
                                              .reason = "",
                                              .kernels = cts_gpu_counts.kernels,
                                              .kernel_count = cts_gpu_counts.kernel_count};
    if (!cts_trial_put_absence(&message, &absence, &error))
        (void)!cts_trial_send(socket, &message, &error);
    cts_buffer_release(&message);
    close(socket);
}
