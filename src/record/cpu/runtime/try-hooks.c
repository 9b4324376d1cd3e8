/* When a stretch opens and closes.
 *
 *     CTASCOPE_TRY          the socket of `ctascope try`
 *     CTASCOPE_TRY_STRETCH  "profiler", "range", "launches A-B", "list" (only names the kernels)
 *     CTASCOPE_TRY_LIMIT    bytes that saved memory may take
 *
 * A stretch of launches A to B opens right before launch A. Copies to the host and waits that
 * follow launch B belong to it; it closes before the next other operation, allocation or free, or
 * when the program ends. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "common/buffer.h"
#include "record/cpu/engine.h"
#include "record/try/try-session.h"
#include "trace/trial/trial-message.h"
#include "try-capture.h"

enum selection { SELECT_PROFILER, SELECT_RANGE, SELECT_LAUNCHES, SELECT_LIST };

static enum selection selection;
static uint64_t first_launch, last_launch;
static int (*is_in_range)(void);
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opens = PTHREAD_COND_INITIALIZER;
static pthread_t busy_thread;
static pthread_t opener; /* of a range: it is in that, other threads need not be */

/* ---- the gate ---- */

/* This thread alone goes on. False: another one was faster. */
static bool close_gate(enum cts_try_phase expected)
{
    pthread_mutex_lock(&gate);
    const bool mine = atomic_load(&cts_try_phase) == (int)expected;
    if (mine) {
        busy_thread = pthread_self();
        atomic_store(&cts_try_phase, CTS_TRY_BUSY);
    }
    pthread_mutex_unlock(&gate);
    return mine;
}

static void open_gate(enum cts_try_phase phase)
{
    pthread_mutex_lock(&gate);
    atomic_store(&cts_try_phase, (int)phase);
    pthread_cond_broadcast(&gate_opens);
    pthread_mutex_unlock(&gate);
}

static void pass_gate(void)
{
    pthread_mutex_lock(&gate);
    while (atomic_load(&cts_try_phase) == CTS_TRY_BUSY &&
           !pthread_equal(busy_thread, pthread_self()))
        pthread_cond_wait(&gate_opens, &gate);
    pthread_mutex_unlock(&gate);
}

static bool is_own_work(void)
{
    return cts_in_callback || (atomic_load(&cts_try_phase) == CTS_TRY_BUSY &&
                               pthread_equal(busy_thread, pthread_self()));
}

/* ---- opening and closing ---- */

static void drain_devices(void)
{
    for (int device = 0; device < cts_device_count(); device++) cts_streams_wait_device(device);
}

static uint64_t limit_bytes(void)
{
    const char *const text = getenv("CTASCOPE_TRY_LIMIT");
    return text ? strtoull(text, NULL, 10) : cts_machine_memory_bytes() / 2;
}

static void open_stretch(void)
{
    if (!close_gate(CTS_TRY_WAITING)) return;
    opener = pthread_self();
    drain_devices();
    cts_try_capture_open(limit_bytes(), &cts_try_cpu_device);
    open_gate(CTS_TRY_OPEN);
}

static void converse(struct cts_try_capture *capture)
{
    const int socket = cts_try_connect(cts_environment_get()->try_socket);
    if (socket < 0) return; /* another process has it */
    struct cts_try_session session = {.socket = socket,
                                      .device = &cts_try_cpu_device,
                                      .memory = &capture->memory,
                                      .stretch = &capture->stretch};
    fflush(stdout);
    cts_try_replayer_use(capture);
    cts_engine_mute(true);
    cts_try_converse(&session);
    cts_engine_mute(false);
    cts_try_replayer_release();
    close(socket);
}

static void close_stretch(void)
{
    if (!close_gate(CTS_TRY_OPEN)) return;
    drain_devices();
    converse(cts_try_capture_close());
    cts_try_capture_release();
    open_gate(CTS_TRY_OFF);
}

/* ---- what the program does ---- */

static bool has_left_range(void)
{
    return selection == SELECT_RANGE && pthread_equal(opener, pthread_self()) && !is_in_range();
}

static void enter(void)
{
    pass_gate();
    if (atomic_load(&cts_try_phase) != CTS_TRY_OPEN) return;
    if (has_left_range())
        close_stretch();
    else
        cts_try_note_call(cts_clock_ns());
}

/* Whether the stretch goes on with this. */
static bool belongs(const struct cts_work *work)
{
    if (selection == SELECT_PROFILER) return true;
    if (selection == SELECT_RANGE) return !has_left_range();
    if (work && work->kind == CTS_WORK_COPY && strcmp(work->copy.kind, "DtoH") == 0) return true;
    cts_streams_lock();
    const bool is_over = cts_try_counts.launches > last_launch;
    cts_streams_unlock();
    return !is_over;
}

static bool begins(const struct cts_work *work)
{
    if (selection == SELECT_RANGE) return is_in_range && is_in_range();
    if (selection != SELECT_LAUNCHES || !work || work->kind != CTS_WORK_LAUNCH) return false;
    cts_streams_lock();
    const bool is_first = cts_try_counts.launches == first_launch;
    cts_streams_unlock();
    return is_first;
}

static void before(const struct cts_work *work, cudaStream_t stream)
{
    if (is_own_work() || (work && cts_stream_state(stream) == CTS_STREAM_CAPTURING)) return;
    pass_gate();
    const int phase = atomic_load(&cts_try_phase);
    if (phase == CTS_TRY_WAITING && begins(work)) open_stretch();
    if (phase == CTS_TRY_OPEN && !belongs(work)) close_stretch();
}

static void profiler(bool starts)
{
    if (selection != SELECT_PROFILER || is_own_work()) return;
    if (starts && atomic_load(&cts_try_phase) == CTS_TRY_WAITING) open_stretch();
    if (!starts && atomic_load(&cts_try_phase) == CTS_TRY_OPEN) close_stretch();
}

static void reset(void)
{
    if (atomic_load(&cts_try_phase) == CTS_TRY_OPEN && !is_own_work()) close_stretch();
}

static bool keeps(void)
{
    before(NULL, NULL);
    return atomic_load(&cts_try_phase) == CTS_TRY_OPEN;
}

static const struct cts_try_watcher watcher = {
    .enter = enter,
    .before = before,
    .profiler = profiler,
    .reset = reset,
    .queued = cts_try_take,
    .returns = cts_try_note_return,
    .waited_stream = cts_try_waited_stream,
    .waited_point = cts_try_waited_point,
    .waited_device = cts_try_waited_device,
    .runs = cts_try_runs,
    .ran = cts_try_ran,
    .takes_fault = cts_try_takes_fault,
    .allocated = cts_try_allocated,
    .defers = cts_try_defers,
    .keeps = keeps,
};

/* ---- the process ---- */

static bool read_selection(const char *text)
{
    char *end;
    if (strcmp(text, "profiler") == 0) {
        selection = SELECT_PROFILER;
    } else if (strcmp(text, "range") == 0) {
        selection = SELECT_RANGE;
        *(void **)(void *)&is_in_range = dlsym(RTLD_DEFAULT, "ctascope_nvtx_included");
    } else if (strcmp(text, "list") == 0) {
        selection = SELECT_LIST;
        cts_try_counts.lists_kernels = true;
    } else if (strncmp(text, "launches ", 9) == 0) {
        selection = SELECT_LAUNCHES;
        first_launch = strtoull(text + 9, &end, 10);
        last_launch = *end == '-' ? strtoull(end + 1, &end, 10) : first_launch;
        return !*end && first_launch <= last_launch;
    } else {
        return false;
    }
    return true;
}

void cts_try_start(void)
{
    const struct cts_environment *const environment = cts_environment_get();
    if (!environment->try_socket) return;
    cts_try_watcher = &watcher;
    if (environment->try_stretch && read_selection(environment->try_stretch))
        atomic_store(&cts_try_phase, CTS_TRY_WAITING);
    else
        cts_say("CTASCOPE_TRY_STRETCH does not name a stretch; nothing is tried");
}

/* Tells that there was no stretch, and what the process launched. */
static void tell_absence(void)
{
    struct cts_error error;
    struct cts_buffer message = {0};
    const int socket = cts_try_connect(cts_environment_get()->try_socket);
    if (socket < 0) return;
    const struct cts_trial_absence absence = {.launch_count = cts_try_counts.launches,
                                              .reason = "",
                                              .kernels = cts_try_counts.kernels,
                                              .kernel_count = cts_try_counts.kernel_count};
    if (!cts_trial_put_absence(&message, &absence, &error))
        (void)!cts_trial_send(socket, &message, &error);
    cts_buffer_release(&message);
    close(socket);
}

void cts_try_finish(void)
{
    if (is_own_work()) return;
    if (atomic_load(&cts_try_phase) == CTS_TRY_OPEN) close_stretch();
    if (!close_gate(CTS_TRY_WAITING)) return;
    tell_absence();
    open_gate(CTS_TRY_OFF);
}
