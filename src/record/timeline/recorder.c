/* The table that recorders call. What is called often (enter, leave, event) writes into the mapped
 * segment of the thread's log and does nothing else; see recorder-process.h and log.h. */
#include "record/timeline/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "record/timeline/recorder-process.h"
#include "record/timeline/recorder-regions.h"

enum { LOGS_MAX = 1 << 16 };

static __thread struct cts_log *my_log __attribute__((tls_model("initial-exec")));
static __thread bool my_end __attribute__((tls_model("initial-exec"))); /* the thread is ending */
static pthread_key_t end_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- life ---- */

static void end_thread(void *log)
{
    my_log = NULL;
    my_end = true;
    cts_log_close(log);
}

static void before_fork(void)
{
    pthread_mutex_lock(&cts_recorder_process.lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&cts_recorder_process.lock);
}

/* The child has the forking thread alone, and is a process of its own. */
static void in_child(void)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    cts_log_forget(&p->definitions);
    struct cts_log *last = NULL;
    for (struct cts_log *log = atomic_load(&p->logs); log; log = log->next) {
        cts_log_forget(log);
        last = log;
    }
    if (last) {
        last->next = p->forgotten;
        p->forgotten = atomic_load(&p->logs);
    }
    atomic_store(&p->logs, NULL);
    my_log = NULL;
    if (atomic_load(&p->state) == CTS_ON) atomic_store(&p->state, CTS_UNOPENED);
    /* The child owns the lock as the thread that forked, under another thread id. */
    p->lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

static void start(void)
{
    pthread_key_create(&end_key, end_thread);
    pthread_atfork(before_fork, in_parent, in_child);
}

static enum cts_recorder_state open_now(void)
{
    pthread_once(&once, start);
    return cts_recorder_open();
}

static inline bool is_on_now(void)
{
    const int state = atomic_load_explicit(&cts_recorder_process.state, memory_order_acquire);
    if (CTS_LIKELY(state == CTS_ON)) return true;
    return state == CTS_UNOPENED && open_now() == CTS_ON;
}

static bool is_on(void)
{
    return is_on_now();
}

static bool is_open(void)
{
    return atomic_load_explicit(&cts_recorder_process.state, memory_order_acquire) == CTS_ON;
}

/* ---- logs ---- */

static void write_texts(unsigned type, uint32_t high, const char *const *texts, unsigned count,
                        bool kept)
{
    struct cts_recorder_hold hold;
    cts_recorder_hold(&hold);
    struct cts_definition *const d = cts_definition_begin();
    for (unsigned i = 0; i < count; i++) cts_definition_text(d, texts[i]);
    cts_definition_write(d, type, high, kept);
    cts_recorder_release(&hold);
}

static void write_text(unsigned type, uint32_t high, const char *text, bool kept)
{
    write_texts(type, high, &text, 1, kept);
}

static struct cts_log *new_log(enum cts_log_kind kind, const struct cts_recorder_stream *stream)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    struct cts_recorder_hold hold;
    struct cts_log *const log = calloc(1, sizeof *log);
    if (!log) {
        cts_recorder_fail("no memory for the log of a %s; events from here on are lost",
                          kind == CTS_LOG_STREAM ? "stream" : "thread");
        return NULL;
    }
    pthread_mutex_init(&log->lock, NULL);
    if (stream) log->stream = *stream;
    cts_recorder_hold(&hold);
    bool made = false;
    const bool on = atomic_load(&p->state) == CTS_ON;
    if (on && p->log_count < LOGS_MAX) {
        struct cts_error error;
        made = !cts_log_create(log, kind, p->log_count, &error);
        if (!made) cts_recorder_fail("%s; events from here on are lost", error.text);
    } else if (on && p->refused_count++ == 0)
        write_text(CTS_RECORD_MESSAGE, 1,
                   "the process has too many threads and streams; later ones are not recorded",
                   false);
    if (made) {
        p->log_count++;
        log->next = atomic_load(&p->logs);
        atomic_store(&p->logs, log);
    }
    cts_recorder_release(&hold);
    if (made) return log;
    free(log);
    return NULL;
}

static void (*_Atomic thread_begun)(struct cts_log *thread);

static void on_thread(void (*begun)(struct cts_log *thread))
{
    atomic_store(&thread_begun, begun);
}

static struct cts_log *make_thread_log(void)
{
    const int errnum = errno;
    struct cts_log *log = NULL;
    if (!my_end && is_on_now()) {
        log = new_log(CTS_LOG_THREAD, NULL);
        my_log = log;
        if (log) pthread_setspecific(end_key, log);
        void (*const begun)(struct cts_log *) = atomic_load(&thread_begun);
        if (log && begun) begun(log);
    }
    errno = errnum;
    return log;
}

static struct cts_log *this_thread(void)
{
    if (CTS_LIKELY(my_log != NULL)) return my_log;
    return make_thread_log();
}

/* ---- definitions ---- */

static uint32_t region(const struct cts_timeline_region *region)
{
    return is_on_now() ? cts_recorder_region(region) : 0;
}

static void name_thread(const char *name)
{
    struct cts_log *const log = this_thread();
    if (log && name) write_text(CTS_RECORD_THREAD_NAME, log->index, name, false);
}

/* Streams that live, few: looked up by their numbers. The recorder counts ordinals per device. */
static struct cts_log *stream(const struct cts_recorder_stream *wanted)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    if (!is_on_now()) return NULL;
    struct cts_recorder_hold hold;
    cts_recorder_hold(&hold);
    struct cts_log *log = atomic_load(&p->logs);
    uint32_t ordinal = 0;
    for (; log; log = log->next) {
        if (log->kind != CTS_LOG_STREAM || log->stream.device != wanted->device) continue;
        if (!log->destroyed && log->stream.context == wanted->context &&
            log->stream.stream == wanted->stream)
            break;
        if (log->stream.ordinal >= ordinal && log->stream.ordinal != CTS_TIMELINE_NONE)
            ordinal = log->stream.ordinal + 1;
    }
    if (!log) {
        struct cts_recorder_stream made = *wanted;
        if (made.ordinal == CTS_TIMELINE_NONE) made.ordinal = ordinal;
        log = new_log(CTS_LOG_STREAM, &made);
    }
    cts_recorder_release(&hold);
    return log;
}

static void stream_destroyed(struct cts_log *log)
{
    if (!log) return;
    struct cts_recorder_hold hold;
    cts_recorder_hold(&hold);
    log->destroyed = true;
    cts_recorder_release(&hold);
}

static void device(uint32_t number, const char *name, const char *kind)
{
    const char *const texts[] = {name, kind};
    if (is_on_now() && name) write_texts(CTS_RECORD_DEVICE, number, texts, 2, true);
}

static uint32_t communicator(const struct cts_recorder_communicator *wanted)
{
    return is_on_now() ? cts_recorder_communicator(wanted) : 0;
}

static uint32_t window(uint32_t of_communicator, const char *name)
{
    return is_on_now() ? cts_recorder_window(of_communicator, name) : 0;
}

/* ---- events of a thread ---- */

/* False: no log, or a signal handler has come while a record of its thread is being written. */
static inline bool begin_record(struct cts_log *log)
{
    if (!log) return false;
    if (log->busy) {
        atomic_fetch_add_explicit(&log->lost_count, 1, memory_order_relaxed);
        return false;
    }
    log->busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static inline void end_record(struct cts_log *log)
{
    atomic_signal_fence(memory_order_seq_cst);
    log->busy = false;
}

/* A region that found no memory for its name has no number. */
static inline uint64_t *room_of_region(struct cts_log *log, uint32_t words, uint32_t of_region)
{
    if (CTS_LIKELY(of_region != CTS_TIMELINE_NONE)) return cts_log_room(log, words);
    atomic_fetch_add_explicit(&log->lost_count, 1, memory_order_relaxed);
    return NULL;
}

static inline void enter_or_leave(struct cts_log *log, uint32_t of_region,
                                  enum cts_timeline_event_kind kind)
{
    if (!begin_record(log)) return;
    uint64_t *const at = room_of_region(log, 2, of_region);
    if (CTS_LIKELY(at != NULL)) {
        at[1] = cts_clock_ns();
        cts_log_commit(log, at, cts_log_word(CTS_RECORD_EVENT + kind, 2, false, of_region), 2);
    }
    end_record(log);
}

static void enter(struct cts_log *thread, uint32_t of_region)
{
    enter_or_leave(thread, of_region, CTS_EVENT_ENTER);
}

static void leave(struct cts_log *thread, uint32_t of_region)
{
    enter_or_leave(thread, of_region, CTS_EVENT_LEAVE);
}

/* A stream by its log's number; of a stream that is NULL the attribute is left out. */
static void number_stream(struct cts_event_attributes *attributes)
{
    const uint32_t bit = 1u << CTS_ATTRIBUTE_STREAM_REF;
    uint64_t *const value = &attributes->values[CTS_ATTRIBUTE_STREAM_REF];
    const struct cts_log *const log = (const struct cts_log *)(uintptr_t)*value;
    if (log)
        *value = log->index;
    else
        attributes->present &= ~bit;
}

static void event(struct cts_log *log, const struct cts_timeline_event *given,
                  const struct cts_event_attributes *attributes)
{
    if (!begin_record(log)) return;
    uint64_t words[CTS_LOG_EVENT_WORDS_MAX];
    struct cts_event_attributes numbered;
    if (attributes && attributes->present >> CTS_ATTRIBUTE_STREAM_REF & 1) {
        numbered = *attributes;
        number_stream(&numbered);
        attributes = &numbered;
    }
    struct cts_timeline_event timed = *given;
    if (!timed.time_ns) timed.time_ns = cts_clock_ns();
    const uint32_t count = cts_log_pack_event(words, &timed, attributes);
    uint64_t *const at = cts_log_room(log, count);
    if (at) {
        memcpy(at + 1, words + 1, (count - 1) * sizeof *at);
        cts_log_commit(log, at, words[0], count);
    }
    end_record(log);
}

/* ---- events of a device ---- */

static void write_to_stream(struct cts_log *log, const uint64_t *words, uint32_t count,
                            uint32_t of_region)
{
    pthread_mutex_lock(&log->lock);
    uint64_t *const at = room_of_region(log, count, of_region);
    if (at) {
        memcpy(at + 1, words + 1, (count - 1) * sizeof *at);
        cts_log_commit(log, at, words[0], count);
    }
    pthread_mutex_unlock(&log->lock);
}

static void activity(struct cts_log *log, const struct cts_recorder_activity *a)
{
    if (!log) return;
    uint64_t words[9];
    uint32_t count = 5;
    const uint32_t shape = 1u << CTS_ATTRIBUTE_GRID_X | 1u << CTS_ATTRIBUTE_GRID_Y |
                           1u << CTS_ATTRIBUTE_GRID_Z | 1u << CTS_ATTRIBUTE_BLOCK_X |
                           1u << CTS_ATTRIBUTE_BLOCK_Y | 1u << CTS_ATTRIBUTE_BLOCK_Z |
                           1u << CTS_ATTRIBUTE_STATIC_SHARED | 1u << CTS_ATTRIBUTE_DYNAMIC_SHARED;
    words[1] = a->start_ns;
    words[2] = a->end_ns;
    words[3] = cts_log_pair(a->present, a->registers);
    words[4] = a->correlation;
    if (a->present & shape) {
        words[5] = cts_log_pair(a->grid[0], a->grid[1]);
        words[6] = cts_log_pair(a->grid[2], a->block[0]);
        words[7] = cts_log_pair(a->block[1], a->block[2]);
        words[8] = cts_log_pair(a->static_shared, a->dynamic_shared);
        count = 9;
    }
    words[0] = cts_log_word(CTS_RECORD_ACTIVITY, count, false, a->region);
    write_to_stream(log, words, count, a->region);
}

static void copy(struct cts_log *log, const struct cts_recorder_copy *c)
{
    if (!log) return;
    const uint64_t words[6] = {
        cts_log_word(CTS_RECORD_COPY, 6, false, c->kind),
        c->start_ns,
        c->end_ns,
        c->bytes,
        c->correlation,
        c->source ? c->source->index : CTS_TIMELINE_NONE,
    };
    write_to_stream(log, words, 6, 0);
}

/* ---- the process ---- */

static void write_two(unsigned type, uint32_t high, uint64_t first, uint64_t second, bool two)
{
    struct cts_recorder_hold hold;
    if (!is_on_now()) return;
    cts_recorder_hold(&hold);
    struct cts_definition *const d = cts_definition_begin();
    cts_definition_word(d, first);
    if (two) cts_definition_word(d, second);
    cts_definition_write(d, type, high, false);
    cts_recorder_release(&hold);
}

static void mpi(uint32_t rank, uint32_t count)
{
    write_two(CTS_RECORD_MPI, rank, count, 0, false);
}

static void clock_reading(uint64_t local_ns, int64_t offset_ns)
{
    write_two(CTS_RECORD_CLOCK, 0, local_ns, (uint64_t)offset_ns, true);
}

static void write_lost(const char *what, uint64_t count)
{
    struct cts_definition *const d = cts_definition_begin();
    cts_definition_word(d, count);
    cts_definition_text(d, what);
    cts_definition_write(d, CTS_RECORD_LOST, 0, false);
}

static void lost(const char *what, uint64_t count)
{
    struct cts_recorder_hold hold;
    if (!is_on_now()) return;
    cts_recorder_hold(&hold);
    write_lost(what, count);
    cts_recorder_release(&hold);
}

static void message(const char *severity, const char *text)
{
    const uint32_t level = strcmp(severity, "error") == 0     ? 2
                           : strcmp(severity, "warning") == 0 ? 1
                                                              : 0;
    if (is_on_now()) write_text(CTS_RECORD_MESSAGE, level, text, false);
}

/* What other threads' logs map stays mapped: they may be writing. */
static void finish(void)
{
    struct cts_recorder_process *const p = &cts_recorder_process;
    struct cts_recorder_hold hold;
    cts_recorder_hold(&hold);
    const int before = atomic_load(&p->state);
    uint64_t lost_count = 0;
    for (struct cts_log *log = atomic_load(&p->logs); log; log = log->next)
        lost_count += atomic_load(&log->lost_count);
    if (p->definitions.at && !p->definitions.closed) {
        if (lost_count) write_lost("events that did not fit into the logs", lost_count);
        struct cts_definition *const d = cts_definition_begin();
        cts_definition_word(d, cts_clock_ns());
        cts_definition_write(d, CTS_RECORD_FINISH, 0, false);
        cts_log_close(&p->definitions);
    }
    if (before != CTS_UNOPENED) atomic_store(&p->state, CTS_OFF);
    if (my_log) {
        struct cts_log *const mine = my_log;
        my_log = NULL;
        my_end = true;
        cts_log_close(mine);
    }
    cts_recorder_release(&hold);
}

/* A child of a fork() that did not call in_child() has nothing to end. */
__attribute__((destructor)) static void end_of_program(void)
{
    if (cts_recorder_process.process == getpid()) finish();
}

static const struct cts_recorder recorder = {
    .version = CTS_RECORDER_VERSION,
    .is_on = is_on,
    .is_open = is_open,
    .now_ns = cts_clock_ns,
    .region = region,
    .this_thread = this_thread,
    .name_thread = name_thread,
    .on_thread = on_thread,
    .stream = stream,
    .stream_destroyed = stream_destroyed,
    .device = device,
    .communicator = communicator,
    .window = window,
    .enter = enter,
    .leave = leave,
    .event = event,
    .activity = activity,
    .copy = copy,
    .mpi = mpi,
    .clock_reading = clock_reading,
    .lost = lost,
    .message = message,
    .finish = finish,
};

__attribute__((visibility("default"))) const struct cts_recorder *cts_recorder_get(void)
{
    return &recorder;
}
