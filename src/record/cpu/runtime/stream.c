/* Streams on the CPU: a queue of ops and a thread per stream.
 *
 * Order between streams is kept by *points*: (stream, how many of its ops must be done). An op
 * carries the points that it has to wait for. All of them lie before it in the order of the calls,
 * so that nothing can wait in a circle:
 *
 *   - a stream's own ops are done one after the other;
 *   - an op of the legacy default stream waits for all that was queued before in the blocking
 *     streams of its device; an op of a blocking stream waits for what was queued before in the
 *     legacy stream. Non-blocking streams take no part in this;
 *   - cudaStreamWaitEvent queues an op that waits for the event's point;
 *   - in deterministic mode every op waits for the one that was queued before it, in any stream.
 *
 * One lock covers all streams; it is never held while an op runs. A thread that wants an op done
 * runs it itself when its stream has nothing else to do: a blocking copy then costs no switch of
 * threads. Stream objects are counted: the list, the stream's thread and every point hold one. */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "range.h"
#include "cpu-timeline.h"
#include "common/promise.h"
#include "try-watch.h"

struct cts_op {
    struct cts_op *next;
    struct cts_work work;
    struct cts_trace trace;
    struct cts_point *points;
    size_t point_count;
    uint64_t sequence;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_wake = PTHREAD_COND_INITIALIZER;
static unsigned host_waiters;  /* threads of the program in host_wake */
static unsigned point_waiters; /* streams that wait for points */
static uint64_t done_count;    /* ops of all streams that ended */
static struct CUstream_st *streams;
static struct CUstream_st *legacy[CTS_DEVICES_MAX];
static unsigned long long stream_number;
static struct cts_point last_issued; /* deterministic mode */
static bool per_thread_default;

/* The thread's own default streams, CTS_DEVICES_MAX of them, one per device it used; NULL: none yet
 * (thread-room.h says why no array). */
static __thread struct CUstream_st **thread_streams;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

void cts_streams_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cts_streams_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void __cts_per_thread_default_stream(void)
{
    per_thread_default = true; /* from constructors, before any stream exists */
}

/* ---- points ---- */

static void release(struct CUstream_st *stream)
{
    if (--stream->references) return;
    pthread_cond_destroy(&stream->wake);
    free(stream);
}

struct cts_point cts_point_here(struct CUstream_st *stream)
{
    stream->references++;
    return (struct cts_point){stream, stream->issued};
}

void cts_point_release(struct cts_point *point)
{
    if (point->stream) release(point->stream);
    point->stream = NULL;
}

bool cts_point_is_reached(const struct cts_point *point)
{
    return !point->stream || point->stream->done >= point->sequence;
}

void cts_point_wait(const struct cts_point *point)
{
    if (cts_point_is_reached(point)) return;
    cts_cpu_timeline_waits();
    host_waiters++;
    while (!cts_point_is_reached(point)) pthread_cond_wait(&host_wake, &lock);
    host_waiters--;
}

/* ---- running ops ---- */

static bool is_ready(const struct cts_op *op)
{
    for (size_t i = 0; i < op->point_count; i++)
        if (!cts_point_is_reached(&op->points[i])) return false;
    return true;
}

/* Tells everyone who may wait for this. */
static void announce(struct CUstream_st *stream)
{
    CTS_ASSERT_HELD(&lock);
    done_count++;
    if (host_waiters) pthread_cond_broadcast(&host_wake);
    if (point_waiters)
        for (struct CUstream_st *other = streams; other; other = other->next)
            if (other->waits) pthread_cond_signal(&other->wake);
    if (stream->head && stream->has_thread) pthread_cond_signal(&stream->wake);
}

static void release_points(struct cts_op *op)
{
    for (size_t i = 0; i < op->point_count; i++) cts_point_release(&op->points[i]);
    free(op->points);
    op->points = NULL;
    op->point_count = 0;
}

/* For timelines: a stream of the device that a copy between devices reads. */
static struct cts_log *source_log(const struct cts_work *work)
{
    struct cts_range range;
    if (work->kind != CTS_WORK_COPY || strcmp(work->copy.kind, "PtoP") != 0 ||
        !cts_range_find((void *)work->copy.geometry.source, &range))
        return NULL;
    const struct CUstream_st *stream = streams;
    while (stream && !(stream->device == range.device && stream->is_open && stream->log))
        stream = stream->next;
    return stream ? stream->log : NULL;
}

/* Runs an op that is ready; the lock is given up meanwhile. */
static void run(struct CUstream_st *stream, struct cts_op *op)
{
    stream->is_running = true;
    stream->running = &op->work;
    release_points(op);
    if (op->trace.log) op->trace.source_log = source_log(&op->work);
    pthread_mutex_unlock(&lock);
    cts_work_run(&op->work, stream, &op->trace);
    pthread_mutex_lock(&lock);
    stream->running = NULL;
    cts_work_release(&op->work);
    stream->is_running = false;
    stream->done = op->sequence;
    free(op);
    announce(stream);
}

/* All that was queued has been done. */
static void unlink_stream(struct CUstream_st *stream)
{
    cts_cpu_timeline_stream_end(stream);
    struct CUstream_st **place = &streams;
    while (*place != stream) place = &(*place)->next;
    *place = stream->next;
    release(stream);
}

/* The head of a stream that can run now, taken out of the queue; NULL at the stream's end. */
static struct cts_op *next_op(struct CUstream_st *stream)
{
    CTS_ASSERT_HELD(&lock);
    for (;;) {
        struct cts_op *const op = stream->head;
        const bool waits = op && !stream->is_running && !is_ready(op);
        if (op && !waits && !stream->is_running) {
            stream->head = op->next;
            if (!op->next) stream->tail = &stream->head;
            return op;
        }
        if (!op && !stream->is_open && !stream->is_running) return NULL;
        stream->waits = waits;
        point_waiters += waits;
        pthread_cond_wait(&stream->wake, &lock);
        point_waiters -= waits;
        stream->waits = false;
    }
}

static void *work_off(void *argument)
{
    struct CUstream_st *const stream = argument;
    pthread_mutex_lock(&lock);
    struct cts_op *op;
    while ((op = next_op(stream))) run(stream, op);
    stream->references--; /* the thread's; the list still has its own */
    unlink_stream(stream);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static bool start_thread(struct CUstream_st *stream)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    stream->references++;
    stream->has_thread = pthread_create(&thread, &attributes, work_off, stream) == 0;
    if (!stream->has_thread) stream->references--;
    pthread_attr_destroy(&attributes);
    return stream->has_thread;
}

/* ---- making and finding streams ---- */

struct CUstream_st *cts_stream_open(enum cts_stream_kind kind, int device, int priority)
{
    struct CUstream_st *const stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    *stream = (struct CUstream_st){.next = streams,
                                   .references = 1,
                                   .device = device,
                                   .kind = kind,
                                   .priority = priority,
                                   .id = CTS_NONE,
                                   .number = ++stream_number,
                                   .is_open = true};
    stream->tail = &stream->head;
    pthread_cond_init(&stream->wake, NULL);
    streams = stream;
    cts_record_stream(stream);
    cts_cpu_timeline_stream(stream);
    return stream;
}

void cts_stream_close(struct CUstream_st *stream)
{
    stream->is_open = false;
    cts_record_stream_end(stream);
    if (legacy[stream->device] == stream) legacy[stream->device] = NULL;
    if (stream->has_thread)
        pthread_cond_signal(&stream->wake);
    else
        unlink_stream(stream);
}

static void close_thread_streams(void *array)
{
    struct CUstream_st **const own = array;
    thread_streams = NULL;
    if (cts_process_is_forked()) {
        free(own);
        return;
    }
    pthread_mutex_lock(&lock);
    for (int device = 0; device < CTS_DEVICES_MAX; device++)
        for (struct CUstream_st *stream = streams; own[device] && stream; stream = stream->next)
            if (stream == own[device] && stream->is_open) {
                cts_stream_close(stream);
                break;
            }
    pthread_mutex_unlock(&lock);
    free(own);
}

static void make_thread_end(void)
{
    pthread_key_create(&thread_end, close_thread_streams);
}

/* The thread's streams; NULL: no memory. */
static struct CUstream_st **own_streams(void)
{
    if (!thread_streams && (thread_streams = calloc(CTS_DEVICES_MAX, sizeof *thread_streams))) {
        pthread_once(&thread_end_once, make_thread_end);
        pthread_setspecific(thread_end, thread_streams);
    }
    return thread_streams;
}

static struct CUstream_st *default_stream(cudaStream_t handle)
{
    const int device = cts_current_device();
    const bool own =
        handle == cudaStreamPerThread || (handle != cudaStreamLegacy && per_thread_default);
    struct CUstream_st **const all = own ? own_streams() : legacy;
    if (!all) return NULL;
    struct CUstream_st **const slot = &all[device];
    if (!*slot) *slot = cts_stream_open(own ? CTS_STREAM_PER_THREAD : CTS_STREAM_LEGACY, device, 0);
    return *slot;
}

struct CUstream_st *cts_stream_resolve(cudaStream_t handle)
{
    if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
        return default_stream(handle);
    struct CUstream_st *stream = streams;
    while (stream && (stream != handle || !stream->is_open)) stream = stream->next;
    return stream;
}

/* ---- queueing ---- */

static bool add_point(struct cts_op *op, struct cts_point point)
{
    if (cts_point_is_reached(&point)) return true;
    struct cts_point *grown = realloc(op->points, (op->point_count + 1) * sizeof *grown);
    if (!grown) return false;
    op->points = grown;
    op->points[op->point_count++] = point;
    point.stream->references++;
    return true;
}

static bool add_point_at_end(struct cts_op *op, struct CUstream_st *stream)
{
    return add_point(op, (struct cts_point){stream, stream->issued});
}

static bool is_blocking(const struct CUstream_st *stream)
{
    return stream->kind == CTS_STREAM_BLOCKING || stream->kind == CTS_STREAM_PER_THREAD;
}

/* The points that follow from the rules above. */
static bool add_implied_points(struct cts_op *op, const struct CUstream_st *stream)
{
    bool done = true;
    if (stream->kind == CTS_STREAM_LEGACY)
        for (struct CUstream_st *other = streams; other && done; other = other->next)
            if (other->device == stream->device && is_blocking(other))
                done = add_point_at_end(op, other);
    if (is_blocking(stream) && legacy[stream->device])
        done = add_point_at_end(op, legacy[stream->device]);
    if (done && cts_environment_get()->deterministic) {
        if (last_issued.stream && last_issued.stream != stream) done = add_point(op, last_issued);
    }
    return done;
}

static struct cts_op *make_op(struct CUstream_st *stream, struct cts_work *work,
                              const struct cts_point *more, size_t more_count)
{
    struct cts_op *const op = calloc(1, sizeof *op);
    if (!op) return NULL;
    op->work = *work;
    bool done = add_implied_points(op, stream);
    for (size_t i = 0; i < more_count && done; i++) done = add_point(op, more[i]);
    if (done) return op;
    release_points(op);
    free(op);
    return NULL;
}

static void remember_last(struct CUstream_st *stream)
{
    if (!cts_environment_get()->deterministic) return;
    cts_point_release(&last_issued);
    last_issued = cts_point_here(stream);
}

cudaError_t cts_stream_append(struct CUstream_st *stream, struct cts_work *work,
                              const struct cts_point *more, size_t more_count,
                              enum cts_submission wait)
{
    struct cts_op *const op = make_op(stream, work, more, more_count);
    const bool run_here =
        op && wait == CTS_WAIT_UNTIL_DONE && !stream->head && !stream->is_running && is_ready(op);
    if (!op || (!run_here && !stream->has_thread && !start_thread(stream))) {
        if (op) release_points(op);
        free(op);
        cts_work_release(work);
        return cudaErrorMemoryAllocation;
    }
    op->sequence = ++stream->issued;
    remember_last(stream);
    cts_record_call(&op->work, stream, &op->trace);
    cts_cpu_timeline_queued(&op->work, stream, &op->trace);
    if (cts_try_is_on())
        cts_try_watcher->queued(&(struct cts_try_queued){stream, &op->work, more, more_count,
                                                         op->sequence, wait == CTS_WAIT_UNTIL_DONE},
                                &op->trace);
    if (run_here) {
        struct cts_point here = cts_point_here(stream);
        run(stream, op);
        cts_point_release(&here);
        return cudaSuccess;
    }
    *stream->tail = op;
    stream->tail = &op->next;
    if (!stream->is_running) pthread_cond_signal(&stream->wake);
    if (wait == CTS_WAIT_UNTIL_DONE) {
        struct cts_point here = cts_point_here(stream);
        cts_point_wait(&here);
        cts_point_release(&here);
    }
    return cudaSuccess;
}

/* ---- waiting ---- */

/* Waits for the present ends of all streams that `matches` names. */
static void wait_for_all(bool (*matches)(const struct CUstream_st *stream, int device), int device)
{
    CTS_ASSERT_HELD(&lock);
    size_t count = 0;
    for (struct CUstream_st *stream = streams; stream; stream = stream->next) count++;
    struct cts_point *const points = calloc(count + 1, sizeof *points);
    size_t used = 0;
    for (struct CUstream_st *stream = streams; stream && points; stream = stream->next)
        if (stream->done < stream->issued && matches(stream, device))
            points[used++] = cts_point_here(stream);
    for (size_t i = 0; i < used; i++) {
        cts_point_wait(&points[i]);
        cts_point_release(&points[i]);
    }
    free(points);
}

static bool is_on_device(const struct CUstream_st *stream, int device)
{
    return stream->device == device;
}

static bool is_blocking_on_device(const struct CUstream_st *stream, int device)
{
    return stream->device == device && is_blocking(stream);
}

void cts_streams_wait_device(int device)
{
    pthread_mutex_lock(&lock);
    wait_for_all(is_on_device, device);
    if (cts_try_is_on()) cts_try_watcher->waited_device(device);
    pthread_mutex_unlock(&lock);
}

cudaError_t cts_stream_wait(cudaStream_t handle)
{
    pthread_mutex_lock(&lock);
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    if (stream) {
        struct cts_point end = cts_point_here(stream);
        /* What the legacy stream would wait for, its synchronisation waits for too. */
        if (stream->kind == CTS_STREAM_LEGACY) wait_for_all(is_blocking_on_device, stream->device);
        cts_point_wait(&end);
        cts_point_release(&end);
        if (cts_try_is_on()) cts_try_watcher->waited_stream(stream);
    }
    pthread_mutex_unlock(&lock);
    return stream ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

enum cts_stream_state cts_stream_state(cudaStream_t handle)
{
    enum cts_stream_state state = CTS_STREAM_BUSY;
    pthread_mutex_lock(&lock);
    struct CUstream_st *const stream = cts_stream_resolve(handle);
    struct cts_op probe = {0};
    if (stream && stream->capture)
        state = CTS_STREAM_CAPTURING;
    else if (stream && stream->done == stream->issued && add_implied_points(&probe, stream) &&
             probe.point_count == 0)
        state = CTS_STREAM_IDLE;
    release_points(&probe);
    pthread_mutex_unlock(&lock);
    return state;
}

static bool all_idle(void)
{
    CTS_ASSERT_HELD(&lock);
    for (const struct CUstream_st *stream = streams; stream; stream = stream->next)
        if (stream->done < stream->issued) return false;
    return true;
}

/* How much of an image's work there is. */
enum left { LEFT_NONE, LEFT_QUEUED, LEFT_RUNNING };

static enum left left_of(const struct cts_image *image)
{
    CTS_ASSERT_HELD(&lock);
    enum left left = LEFT_NONE;
    for (const struct CUstream_st *stream = streams; stream; stream = stream->next) {
        if (stream->running && cts_work_needs(stream->running, image)) return LEFT_RUNNING;
        for (const struct cts_op *op = stream->head; op; op = op->next)
            if (cts_work_needs(&op->work, image)) left = LEFT_QUEUED;
    }
    return left;
}

static enum left left_of_all(const struct cts_image *image)
{
    (void)image;
    return all_idle() ? LEFT_NONE : LEFT_QUEUED;
}

/* Waits as long as works end, and for the end of what runs. */
static bool wait_until_none(enum left (*find)(const struct cts_image *image),
                            const struct cts_image *image)
{
    enum { PATIENCE_S = 10 };
    enum left left;
    pthread_mutex_lock(&lock);
    uint64_t seen = done_count;
    host_waiters++;
    while ((left = find(image)) != LEFT_NONE) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += PATIENCE_S;
        const bool late = pthread_cond_timedwait(&host_wake, &lock, &until) == ETIMEDOUT;
        if (late && seen == done_count && left == LEFT_QUEUED) break;
        seen = done_count;
    }
    host_waiters--;
    left = find(image);
    pthread_mutex_unlock(&lock);
    return left == LEFT_NONE;
}

bool cts_streams_drain(void)
{
    return wait_until_none(left_of_all, NULL);
}

void cts_streams_wait_image(const struct cts_image *image)
{
    (void)wait_until_none(left_of, image);
}

void cts_streams_reset(int device)
{
    pthread_mutex_lock(&lock);
    wait_for_all(is_on_device, device);
    struct CUstream_st *next;
    for (struct CUstream_st *stream = streams; stream; stream = next) {
        next = stream->next;
        const bool is_made =
            stream->kind == CTS_STREAM_BLOCKING || stream->kind == CTS_STREAM_NON_BLOCKING;
        if (stream->device == device && stream->is_open && is_made) cts_stream_close(stream);
    }
    pthread_mutex_unlock(&lock);
}
