/* Replays on the CPU device: a stream of its own for each lane. Only this thread queues works
 * meanwhile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/array.h"
#include "try-capture.h"

enum { BUFFER_ALIGNMENT = 4096 };

struct step {
    struct cts_point point; /* where it stands: a reference */
    struct cts_try_span span;
    struct cts_try_mark mark;
};

static struct cts_try_capture *capture;
static const struct cts_trial_plan *plan;
static struct CUstream_st **lanes;
static size_t lane_count;
static struct step *steps;
static size_t step_count;
static uint8_t **buffers; /* of the plan */
static size_t buffer_count;
static char fault_text[CTS_TRY_FAULT_BYTES];
static _Atomic bool has_failed;

void cts_try_replayer_use(struct cts_try_capture *used)
{
    capture = used;
}

static void release_steps(void)
{
    cts_streams_lock();
    for (size_t i = 0; i < step_count; i++) cts_point_release(&steps[i].point);
    cts_streams_unlock();
    free(steps);
    steps = NULL;
    step_count = 0;
}

/* Freed here and not through a range: replays alone know them. */
static void release_buffers(void)
{
    for (size_t i = 0; i < buffer_count; i++) free(buffers[i]);
    free(buffers);
    buffers = NULL;
    buffer_count = 0;
}

void cts_try_replayer_release(void)
{
    release_steps();
    release_buffers();
    cts_streams_lock();
    for (size_t i = 0; i < lane_count; i++) cts_stream_close(lanes[i]);
    cts_streams_unlock();
    free(lanes);
    lanes = NULL;
    lane_count = 0;
    capture = NULL;
}

bool cts_try_takes_fault(const char *text)
{
    if (!capture) return false;
    if (!atomic_exchange(&has_failed, true)) snprintf(fault_text, sizeof fault_text, "%s", text);
    return true;
}

/* ---- a replay ---- */

static enum cts_status open_lanes(uint32_t count, struct cts_error *error)
{
    if (lane_count >= count) return CTS_OK;
    struct CUstream_st **const grown = realloc(lanes, count * sizeof(void *));
    if (!grown) return cts_fail(error, CTS_MEMORY, "no memory");
    lanes = grown;
    cts_streams_lock();
    while (lane_count < count &&
           (lanes[lane_count] = cts_stream_open(CTS_STREAM_NON_BLOCKING, 0, 0)))
        lane_count++;
    cts_streams_unlock();
    return lane_count == count ? CTS_OK
                               : cts_fail(error, CTS_MEMORY, "no memory for %u streams", count);
}

/* The plan's own memory, filled with what no kernel takes for its data. */
static enum cts_status make_buffers(struct cts_error *error)
{
    release_buffers();
    buffers = cts_array_zeroed(plan->buffer_count, sizeof *buffers, error);
    if (!buffers) return CTS_MEMORY;
    for (; buffer_count < plan->buffer_count; buffer_count++) {
        const uint64_t size =
            (plan->buffers[buffer_count] + BUFFER_ALIGNMENT) & ~(uint64_t)(BUFFER_ALIGNMENT - 1);
        buffers[buffer_count] = aligned_alloc(BUFFER_ALIGNMENT, size);
        if (!buffers[buffer_count])
            return cts_fail(error, CTS_MEMORY, "no memory for a buffer of %llu bytes",
                            (unsigned long long)size);
        memset(buffers[buffer_count], CTS_TRY_SPOILT, size);
    }
    return CTS_OK;
}

static enum cts_status begin(void *state, const struct cts_trial_plan *asked, bool timed,
                             struct cts_error *error)
{
    (void)state, (void)timed;
    release_steps();
    plan = asked;
    if (make_buffers(error)) return CTS_MEMORY;
    steps = cts_array_zeroed(plan->step_count, sizeof *steps, error);
    if (!steps) return CTS_MEMORY;
    step_count = plan->step_count;
    atomic_store(&has_failed, false);
    fault_text[0] = '\0';
    return open_lanes(plan->lane_count, error);
}

static void pause_lane(void *nanoseconds)
{
    const uint64_t ns = (uint64_t)(uintptr_t)nanoseconds;
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
                                  .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&time, NULL);
}

/* Where a pointer leads to once the plan's replacements are made. `writes`: it is where a copy or
 * memset writes. */
static uint64_t replaced(size_t step, uint64_t value, bool writes)
{
    for (size_t i = 0; i < plan->pointer_count; i++) {
        const struct cts_trial_pointer *const p = &plan->pointers[i];
        if (p->step != step || value - p->from >= p->size_bytes || (writes && !p->is_written))
            continue;
        const uint64_t to =
            p->buffer == CTS_TRIAL_NONE ? p->to : (uint64_t)buffers[p->buffer] + p->to;
        return to + (value - p->from);
    }
    return value;
}

/* Every 8 bytes of the arguments that are aligned may be a pointer. */
static void replace_arguments(size_t step, struct cts_work *work)
{
    const struct cts_kernel_desc *const kernel = work->launch.kernel->desc;
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        for (uint64_t at = 0; at + 8 <= kernel->parameters[i].size_bytes; at += 8) {
            uint64_t value;
            memcpy(&value, (char *)work->launch.args[i] + at, sizeof value);
            value = replaced(step, value, false);
            memcpy((char *)work->launch.args[i] + at, &value, sizeof value);
        }
}

/* The source or the destination becomes packed memory of ours. */
static void redirect_copy(const struct cts_try_operation *operation, struct cts_work *work)
{
    struct cts_geometry *const g = &work->copy.geometry;
    if (operation->payload) {
        g->source = (uint64_t)operation->payload;
        g->source_pitch = g->width_bytes;
        g->source_slice = g->width_bytes * g->height;
    }
    if (operation->brought) {
        g->destination = (uint64_t)operation->brought;
        g->destination_pitch = g->width_bytes;
        g->destination_slice = g->width_bytes * g->height;
    }
}

static bool make_work(size_t index, struct cts_work *work)
{
    const struct cts_try_operation *const operation = capture->operations[plan->steps[index].op];
    if (!operation || !cts_work_clone(&operation->work, work)) return false;
    if (work->kind == CTS_WORK_COPY) {
        struct cts_geometry *const g = &work->copy.geometry;
        redirect_copy(operation, work);
        if (!operation->payload) g->source = replaced(index, g->source, false);
        if (!operation->brought) g->destination = replaced(index, g->destination, true);
    } else if (work->kind == CTS_WORK_MEMSET) {
        work->memset.geometry.destination =
            replaced(index, work->memset.geometry.destination, true);
    } else if (work->kind == CTS_WORK_LAUNCH) {
        replace_arguments(index, work);
        if (plan->steps[index].cta_count)
            work->launch.cta_order = plan->ctas + plan->steps[index].cta_first;
    }
    return true;
}

/* With the streams' lock. */
static cudaError_t queue(size_t index, struct cts_work *work, const struct cts_point *points)
{
    const struct cts_trial_step *const asked = &plan->steps[index];
    struct CUstream_st *const lane = lanes[asked->lane];
    struct step *const step = &steps[index];
    struct cts_work pause = {.kind = CTS_WORK_HOST,
                             .host = {pause_lane, (void *)(uintptr_t)asked->delay_ns}};
    cudaError_t error = cudaSuccess;
    step->mark = (struct cts_try_mark){&step->span, CTS_TRIAL_NONE};
    cts_try_set_replay_mark(&step->mark);
    if (asked->delay_ns)
        error = cts_stream_append(lane, &pause, points, asked->after_count, CTS_ASYNCHRONOUS);
    if (error == cudaSuccess)
        error = cts_stream_append(lane, work, points, asked->after_count, CTS_ASYNCHRONOUS);
    else
        cts_work_release(work);
    cts_try_set_replay_mark(NULL);
    if (error == cudaSuccess) step->point = cts_point_here(lane);
    return error;
}

static enum cts_status issue(void *state, size_t index, struct cts_error *error)
{
    (void)state;
    const struct cts_trial_step *const asked = &plan->steps[index];
    struct cts_work work;
    struct cts_point *const points = cts_array_zeroed(asked->after_count, sizeof *points, error);
    if (!points || !make_work(index, &work)) {
        free(points);
        return cts_fail(error, CTS_MEMORY, "operation %u cannot be executed again", asked->op);
    }
    cts_streams_lock();
    size_t count = 0;
    for (uint32_t i = 0; i < asked->after_count; i++)
        points[count++] = steps[plan->afters[asked->after_first + i]].point;
    const cudaError_t result = queue(index, &work, points);
    cts_streams_unlock();
    free(points);
    return result == cudaSuccess ? CTS_OK : cts_fail(error, CTS_MEMORY, "no memory");
}

/* A graph on the CPU device puts its nodes into streams, too. */
static enum cts_status issue_graph(void *state, size_t first, size_t last, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = first; i < last && !status; i++) status = issue(state, i, error);
    return status;
}

static void wait(void *state, size_t index)
{
    (void)state;
    cts_streams_lock();
    cts_point_wait(&steps[index].point);
    cts_streams_unlock();
}

static bool is_known(uint64_t address, uint64_t size_bytes)
{
    struct cts_range range;
    return cts_range_find((const void *)address, &range) &&
           size_bytes <= range.size_bytes - (address - range.address);
}

/* What the plan has in other places, where the program has it. */
static void bring_back(void *state)
{
    (void)state;
    for (size_t i = 0; i < plan->pointer_count; i++) {
        const struct cts_trial_pointer *const p = &plan->pointers[i];
        if (p->step != CTS_TRIAL_NONE || !is_known(p->from, p->size_bytes)) continue;
        if (p->buffer != CTS_TRIAL_NONE)
            memcpy((void *)p->from, buffers[p->buffer] + p->to, p->size_bytes);
        else if (is_known(p->to, p->size_bytes))
            memmove((void *)p->from, (const void *)p->to, p->size_bytes);
    }
}

static bool end(void *state, struct cts_try_span *spans, char fault[CTS_TRY_FAULT_BYTES])
{
    for (size_t i = 0; i < step_count; i++) wait(state, i);
    for (size_t i = 0; i < step_count; i++) spans[i] = steps[i].span;
    if (!atomic_load(&has_failed)) return true;
    snprintf(fault, CTS_TRY_FAULT_BYTES, "%s", fault_text);
    for (int device = 0; device < cts_device_count(); device++) cts_clear_sticky(device);
    return false;
}

static void read_memory(void *state, uint64_t address, void *to, size_t size_bytes)
{
    (void)state;
    memcpy(to, (const void *)address, size_bytes);
}

static void write_memory(void *state, uint64_t address, const void *from, size_t size_bytes)
{
    (void)state;
    char *const to = (char *)address;
    for (size_t at = 0; at < size_bytes; at += CTS_TRY_PAGE_BYTES) {
        const size_t left = size_bytes - at;
        const size_t size = left < CTS_TRY_PAGE_BYTES ? left : CTS_TRY_PAGE_BYTES;
        const char *const part = (const char *)from + at;
        if (memcmp(to + at, part, size) != 0) memcpy(to + at, part, size); /* or it is constant */
    }
}

const struct cts_try_device cts_try_cpu_device = {.begin = begin,
                                                  .bring_back = bring_back,
                                                  .issue = issue,
                                                  .issue_graph = issue_graph,
                                                  .wait = wait,
                                                  .end = end,
                                                  .read = read_memory,
                                                  .write = write_memory};
