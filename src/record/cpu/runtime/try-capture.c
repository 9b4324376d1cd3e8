/* The stretch as it grows: each operation with its arguments, what a copy from the host reads (at
 * the call), what a copy to the host brought, and the memory before.
 *
 * A copy from pinned memory reads its source when it runs. If the bytes then differ from those at
 * the call, an earlier operation of the stretch brought them, or somebody wrote them meanwhile; the
 * second is refused. */
#include "try-capture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "try-order.h"

struct cts_try_counts cts_try_counts;

static struct cts_try_capture capture;
static const struct cts_try_device *device; /* whose memory it is */
static _Atomic uint64_t call_ns;
static pthread_mutex_t freed_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct cts_range *items;
    size_t count, capacity;
} freed; /* under freed_lock */

void cts_try_note_call(uint64_t now_ns)
{
    atomic_store(&call_ns, now_ns);
}

/* The first reason counts. */
__attribute__((format(printf, 1, 2))) static void refuse(const char *format, ...)
{
    va_list arguments;
    if (capture.refusal[0]) return;
    va_start(arguments, format);
    vsnprintf(capture.refusal, sizeof capture.refusal, format, arguments);
    va_end(arguments);
}

/* ---- operations ---- */

static uint32_t thread_number(void)
{
    static pthread_t threads[64];
    const uint32_t most = sizeof threads / sizeof *threads;
    uint32_t i = 0;
    while (i < capture.stretch.thread_count && !pthread_equal(threads[i], pthread_self())) i++;
    if (i == capture.stretch.thread_count && i < most) {
        threads[i] = pthread_self();
        capture.stretch.thread_count++;
    }
    return i;
}

/* The host's pause since its last call returned. */
static uint64_t gap_ns(void)
{
    const uint64_t now_ns = atomic_load(&call_ns);
    return now_ns > capture.last_return_ns ? now_ns - capture.last_return_ns : 0;
}

static const char *kind_of_copy(const struct cts_work *work)
{
    return work->kind == CTS_WORK_COPY ? work->copy.kind : "memset";
}

static void describe(const struct cts_try_queued *queued, struct cts_trial_op *op)
{
    const struct cts_work *const work = queued->work;
    *op = (struct cts_trial_op){.kind = CTS_TRIAL_LAUNCH,
                                .device = (uint32_t)queued->stream->device,
                                .stream = cts_try_order_stream(queued->stream),
                                .thread = thread_number(),
                                .host_waits = queued->host_waits,
                                .gap_ns = gap_ns()};
    if (work->kind == CTS_WORK_LAUNCH) {
        op->number = cts_try_counts.launches;
        op->name = work->launch.kernel->desc->display_name;
        op->shared_bytes = work->launch.dynamic_shared_bytes;
        memcpy(op->grid, work->launch.grid, sizeof op->grid);
        memcpy(op->block, work->launch.block, sizeof op->block);
        return;
    }
    const struct cts_geometry *const g =
        work->kind == CTS_WORK_COPY ? &work->copy.geometry : &work->memset.geometry;
    op->kind = work->kind == CTS_WORK_COPY ? CTS_TRIAL_COPY : CTS_TRIAL_MEMSET;
    op->number = cts_try_counts.copies;
    op->name = kind_of_copy(work);
    op->bytes = g->width_bytes * g->height * g->depth;
    op->destination = g->destination;
    op->source = work->kind == CTS_WORK_COPY ? g->source : 0;
    op->is_linear = g->height == 1 && g->depth == 1;
}

static bool is_from_host(const struct cts_work *work)
{
    return work->kind == CTS_WORK_COPY && work->copy.kind[0] == 'H';
}

static bool is_to_host(const struct cts_work *work)
{
    return work->kind == CTS_WORK_COPY && strcmp(work->copy.kind + 1, "toH") == 0;
}

/* Copies the source, tightly packed; false without memory. */
static bool pack_source(const struct cts_work *work, void *packed)
{
    struct cts_geometry g = work->copy.geometry;
    const uint64_t bytes = g.width_bytes * g.height * g.depth;
    if (work->copy.staging) {
        memcpy(packed, work->copy.staging, bytes);
        return true;
    }
    g.destination = (uint64_t)packed;
    g.destination_pitch = g.width_bytes;
    g.destination_slice = g.width_bytes * g.height;
    cts_geometry_copy(&g);
    return true;
}

static bool has_room_for(uint64_t bytes)
{
    capture.memory.saved_bytes += bytes;
    if (capture.memory.saved_bytes <= capture.memory.limit_bytes) return true;
    refuse("saving the memory takes more than %llu MiB (--memory-limit)",
           (unsigned long long)(capture.memory.limit_bytes >> 20));
    return false;
}

/* A clone, and what a copy from the host reads. */
static struct cts_try_operation *make_operation(const struct cts_work *work)
{
    struct cts_try_operation *const operation = calloc(1, sizeof *operation);
    if (!operation) return NULL;
    struct cts_work plain = *work;
    if (work->kind == CTS_WORK_COPY) plain.copy.staging = NULL;
    bool good = cts_work_clone(&plain, &operation->work);
    if (good && (is_from_host(work) || is_to_host(work))) {
        const struct cts_geometry *const g = &work->copy.geometry;
        operation->payload_bytes = g->width_bytes * g->height * g->depth;
        good = has_room_for(operation->payload_bytes);
    }
    if (good && is_from_host(work)) {
        operation->payload = malloc(operation->payload_bytes + 1);
        good = operation->payload && pack_source(work, operation->payload);
    }
    if (good) return operation;
    cts_work_release(&operation->work);
    free(operation->payload);
    free(operation);
    return NULL;
}

static enum cts_status add_afters(const struct cts_try_places *places)
{
    struct cts_error error;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < places->count && !status; i++)
        status = cts_stretch_add_after(&capture.stretch, places->items[i].op, &error);
    return status;
}

static enum cts_status add_operation(const struct cts_try_queued *queued, struct cts_trace *trace)
{
    struct cts_error error;
    struct cts_trial_op op;
    struct cts_try_places places = {0};
    const uint32_t index = (uint32_t)capture.stretch.op_count;
    describe(queued, &op);
    if (queued->work->kind == CTS_WORK_LAUNCH) op.ordinal = trace->ordinal;
    if (index >= capture.operation_capacity &&
        cts_array_grow((void **)&capture.operations, &capture.operation_capacity, index + 1,
                       sizeof(void *), &error))
        return CTS_MEMORY;
    struct cts_try_operation *const operation = make_operation(queued->work);
    if (!operation) return CTS_MEMORY;
    while (capture.operation_count < index) capture.operations[capture.operation_count++] = NULL;
    capture.operations[capture.operation_count++] = operation;
    enum cts_status status = cts_stretch_add_op(&capture.stretch, &op, &error);
    if (!status) status = cts_try_order_add(queued, index, &places);
    if (!status) status = add_afters(&places);
    cts_try_places_release(&places);
    operation->mark = (struct cts_try_mark){&operation->span, index};
    trace->mark = &operation->mark;
    return status;
}

/* What executes nothing, but orders. */
static enum cts_status add_marker(const struct cts_try_queued *queued)
{
    struct cts_try_places places = {0};
    const enum cts_status status = cts_try_order_add(queued, CTS_TRIAL_NONE, &places);
    cts_try_places_release(&places);
    return status;
}

static void count(const struct cts_work *work)
{
    struct cts_error error;
    if (work->kind == CTS_WORK_COPY || work->kind == CTS_WORK_MEMSET) cts_try_counts.copies++;
    if (work->kind != CTS_WORK_LAUNCH) return;
    cts_try_counts.launches++;
    struct cts_try_counts *const c = &cts_try_counts;
    if (!c->lists_kernels) return;
    if (c->kernel_count < c->kernel_capacity ||
        !cts_array_grow((void **)&c->kernels, &c->kernel_capacity, c->kernel_count + 1,
                        sizeof *c->kernels, &error))
        c->kernels[c->kernel_count++] = work->launch.kernel->desc->display_name;
}

static void take_open(const struct cts_try_queued *queued, struct cts_trace *trace)
{
    enum cts_status status = CTS_OK;
    switch (queued->work->kind) {
    case CTS_WORK_LAUNCH:
    case CTS_WORK_COPY:
    case CTS_WORK_MEMSET:
        if (!capture.refusal[0]) status = add_operation(queued, trace);
        break;
    case CTS_WORK_HOST:
    case CTS_WORK_CALLBACK:
        refuse("the stretch contains a host function (%s)",
               cts_call_api ? cts_call_api : "of a graph");
        break;
    case CTS_WORK_NOTHING:
    case CTS_WORK_EVENT:
        status = add_marker(queued);
        break;
    }
    if (status) refuse("no memory to keep the operations");
    capture.last_return_ns = cts_clock_ns();
}

/* The device that replays asks for a step: its mark, instead of an operation's. */
static struct cts_try_mark *replay_mark;

void cts_try_set_replay_mark(struct cts_try_mark *mark)
{
    replay_mark = mark;
}

void cts_try_note_return(void)
{
    if (capture.is_open) capture.last_return_ns = cts_clock_ns();
}

void cts_try_take(const struct cts_try_queued *queued, struct cts_trace *trace)
{
    if (replay_mark) {
        trace->mark = replay_mark;
        return;
    }
    if (queued->work->kind == CTS_WORK_LAUNCH)
        trace->ordinal = cts_try_order_next_launch(queued->stream);
    if (capture.is_open) take_open(queued, trace);
    count(queued->work);
}

/* ---- waits ---- */

static bool is_synchronization(void)
{
    static const char ending[] = "Synchronize";
    const size_t length = cts_call_api ? strlen(cts_call_api) : 0;
    return length >= sizeof ending - 1 &&
           strcmp(cts_call_api + length - (sizeof ending - 1), ending) == 0;
}

static void add_wait(struct cts_try_places *places, enum cts_status status)
{
    struct cts_error error;
    const uint32_t number = is_synchronization() ? cts_try_counts.waits++ : CTS_TRIAL_NONE;
    const bool counts = places->count || number != CTS_TRIAL_NONE;
    if (capture.is_open && counts && !status && !capture.refusal[0]) {
        const struct cts_trial_op op = {.kind = CTS_TRIAL_WAIT,
                                        .number = number,
                                        .thread = thread_number(),
                                        .gap_ns = gap_ns(),
                                        .name = cts_call_api ? cts_call_api : "a wait"};
        status = cts_stretch_add_op(&capture.stretch, &op, &error);
        if (!status) status = add_afters(places);
    }
    if (capture.is_open && status) refuse("no memory to keep the operations");
    capture.last_return_ns = cts_clock_ns();
    cts_try_places_release(places);
}

void cts_try_waited_stream(const struct CUstream_st *stream)
{
    struct cts_try_places places = {0};
    add_wait(&places, capture.is_open ? cts_try_order_of_stream(stream, &places) : CTS_OK);
}

void cts_try_waited_point(const struct cts_point *point)
{
    struct cts_try_places places = {0};
    add_wait(&places, capture.is_open ? cts_try_order_of_point(point, &places) : CTS_OK);
}

void cts_try_waited_device(int number)
{
    struct cts_try_places places = {0};
    add_wait(&places, capture.is_open ? cts_try_order_of_device(number, &places) : CTS_OK);
}

/* ---- while works run ---- */

void cts_try_runs(const struct cts_work *work, const struct cts_try_mark *mark)
{
    if (mark->op == CTS_TRIAL_NONE || !is_from_host(work) || work->copy.staging) return;
    cts_streams_lock();
    struct cts_try_operation *const operation = capture.operations[mark->op];
    cts_streams_unlock();
    void *const now = malloc(operation->payload_bytes + 1);
    if (!now) return;
    (void)pack_source(work, now);
    if (memcmp(now, operation->payload, operation->payload_bytes) != 0) {
        operation->changed_late = true;
        memcpy(operation->payload, now, operation->payload_bytes);
    }
    free(now);
}

/* What the copy brought, packed. */
static void keep_brought(const struct cts_work *work, struct cts_try_operation *operation)
{
    operation->brought = malloc(operation->payload_bytes + 1);
    if (!operation->brought) return;
    struct cts_geometry g = work->copy.geometry;
    g.source = g.destination;
    g.source_pitch = g.destination_pitch;
    g.source_slice = g.destination_slice;
    g.destination = (uint64_t)operation->brought;
    g.destination_pitch = g.width_bytes;
    g.destination_slice = g.width_bytes * g.height;
    cts_geometry_copy(&g);
}

void cts_try_ran(const struct cts_work *work, const struct cts_trace *trace)
{
    *trace->mark->span = (struct cts_try_span){trace->start_ns, trace->end_ns};
    if (trace->mark->op == CTS_TRIAL_NONE || !is_to_host(work)) return;
    cts_streams_lock();
    struct cts_try_operation *const operation = capture.operations[trace->mark->op];
    cts_streams_unlock();
    keep_brought(work, operation);
}

/* ---- memory ---- */

static const char *kind_text(enum cts_range_kind kind)
{
    static const char *const texts[] = {
        [CTS_RANGE_DEVICE] = "device", [CTS_RANGE_MANAGED] = "managed",
        [CTS_RANGE_PINNED] = "pinned", [CTS_RANGE_REGISTERED] = "registered",
        [CTS_RANGE_ARRAY] = "array",   [CTS_RANGE_VARIABLE] = "variable",
    };
    return texts[kind];
}

static bool is_saved(const struct cts_range *range)
{
    for (size_t i = 0; i < capture.stretch.region_count; i++) {
        const struct cts_trial_region *const region = &capture.stretch.regions[i];
        if (region->address == range->address && region->size_bytes == range->size_bytes)
            return true;
    }
    return false;
}

static void save_range(const struct cts_range *range)
{
    struct cts_error error;
    if (capture.refusal[0] || is_saved(range)) return;
    const struct cts_trial_region region = {.address = range->address,
                                            .size_bytes = range->size_bytes,
                                            .element_bytes = range->element_bytes,
                                            .op = CTS_TRIAL_NONE,
                                            .number = CTS_TRIAL_NONE,
                                            .variable = strdup(range->variable),
                                            .kind = kind_text(range->kind)};
    const struct cts_trial_range bytes = {range->address, range->size_bytes};
    enum cts_status status = cts_try_memory_add(&capture.memory, device, bytes, &error);
    if (!status) status = cts_stretch_add_region(&capture.stretch, &region, &error);
    if (status) refuse("%s", error.text);
}

static struct {
    struct cts_range *items;
    size_t count, capacity;
} known; /* while the stretch opens */

static void note_range(const struct cts_range *range)
{
    struct cts_error error;
    if (CTS_ARRAY_RESERVE(&known, known.count + 1, &error))
        refuse("no memory to keep the allocations");
    else
        known.items[known.count++] = *range;
}

void cts_try_allocated(const struct cts_range *range)
{
    const uint64_t start_ns = cts_clock_ns();
    if (atomic_load(&cts_try_phase) != CTS_TRY_OPEN) return;
    cts_streams_lock();
    save_range(range);
    capture.last_return_ns += cts_clock_ns() - start_ns; /* not the program's time */
    cts_streams_unlock();
}

bool cts_try_defers(const struct cts_range *range)
{
    struct cts_error error;
    bool done = false;
    pthread_mutex_lock(&freed_lock);
    if (capture.is_open && !CTS_ARRAY_RESERVE(&freed, freed.count + 1, &error)) {
        freed.items[freed.count++] = *range;
        done = true;
    }
    pthread_mutex_unlock(&freed_lock);
    return done;
}

/* ---- the stretch's ends ---- */

void cts_try_capture_open(uint64_t limit_bytes, const struct cts_try_device *used)
{
    device = used;
    capture.memory.limit_bytes = limit_bytes;
    capture.stretch.device = "ctascope CPU device";
    capture.stretch.parallel_ctas = cts_engine_worker_count();
    capture.stretch.can = CTS_TRIAL_CAN_CTA_ORDER;
    cts_ranges_each(note_range);
    cts_streams_lock();
    for (size_t i = 0; i < known.count; i++) save_range(&known.items[i]);
    cts_streams_unlock();
    free(known.items);
    known.items = NULL;
    known.count = known.capacity = 0;
    capture.start_ns = capture.last_return_ns = cts_clock_ns();
    pthread_mutex_lock(&freed_lock);
    capture.is_open = true;
    pthread_mutex_unlock(&freed_lock);
}

/* Whether an earlier copy of the stretch brought bytes of what a copy reads. */
static bool was_brought(size_t index)
{
    const struct cts_trial_op *const op = &capture.stretch.ops[index];
    for (size_t i = 0; i < index; i++) {
        const struct cts_try_operation *const earlier = capture.operations[i];
        const struct cts_trial_op *const e = &capture.stretch.ops[i];
        if (earlier && is_to_host(&earlier->work) && e->destination < op->source + op->bytes &&
            op->source < e->destination + e->bytes)
            return true;
    }
    return false;
}

/* What the host may read and write while the stretch runs: buffers of copies. */
static enum cts_status exclude_host_buffers(size_t region, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < capture.operation_count && !status; i++) {
        const struct cts_try_operation *const operation = capture.operations[i];
        const struct cts_trial_op *const op = &capture.stretch.ops[i];
        if (!operation || operation->work.kind != CTS_WORK_COPY) continue;
        const struct cts_trial_range from = {op->source, op->bytes},
                                     to = {op->destination, op->bytes};
        if (is_from_host(&operation->work))
            status = cts_try_memory_exclude(&capture.memory, region, from, error);
        if (!status && is_to_host(&operation->work))
            status = cts_try_memory_exclude(&capture.memory, region, to, error);
    }
    return status;
}

/* What a copy brought becomes a region of its own, at a place that replays write. */
static enum cts_status add_payload(size_t index, struct cts_error *error)
{
    struct cts_try_operation *const operation = capture.operations[index];
    struct cts_range range;
    const struct cts_trial_op *const op = &capture.stretch.ops[index];
    const bool is_known = cts_range_find((const void *)op->source, &range);
    const struct cts_trial_range bytes = {(uint64_t)operation->brought, operation->payload_bytes};
    const struct cts_trial_region region = {.address = bytes.address,
                                            .size_bytes = bytes.size_bytes,
                                            .element_bytes = is_known ? range.element_bytes : 0,
                                            .op = (uint32_t)index,
                                            .is_live = 1,
                                            .number = CTS_TRIAL_NONE,
                                            .variable = strdup(is_known ? range.variable : ""),
                                            .kind = "payload"};
    const enum cts_status status =
        cts_try_memory_add_payload(&capture.memory, bytes, operation->brought, error);
    return status ? status : cts_stretch_add_region(&capture.stretch, &region, error);
}

static enum cts_status close_operations(struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < capture.operation_count && !status; i++) {
        struct cts_try_operation *const operation = capture.operations[i];
        struct cts_trial_op *const op = &capture.stretch.ops[i];
        if (!operation) continue;
        if (operation->span.start_ns > capture.start_ns) {
            op->start_ns = operation->span.start_ns - capture.start_ns;
            op->end_ns = operation->span.end_ns - capture.start_ns;
        }
        if (operation->changed_late && !was_brought(i))
            refuse("the pinned source of copy %u changed between the call and the copy",
                   op->number);
        if (!is_to_host(&operation->work)) continue;
        if (operation->brought)
            status = add_payload(i, error);
        else
            refuse("copy %u did not run, or memory ran out", op->number);
    }
    return status;
}

/* Regions are known when the stretch ends. */
static enum cts_status link_arguments(struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < capture.operation_count && !status; i++) {
        const struct cts_try_operation *const operation = capture.operations[i];
        if (!operation || operation->work.kind != CTS_WORK_LAUNCH) continue;
        const struct cts_kernel_desc *const kernel = operation->work.launch.kernel->desc;
        for (uint32_t k = 0; k < kernel->parameter_count && !status; k++)
            status =
                cts_stretch_add_links(&capture.stretch, (uint32_t)i, operation->work.launch.args[k],
                                      kernel->parameters[k].size_bytes, error);
    }
    return status;
}

static enum cts_status close_regions(struct cts_error *error)
{
    const size_t count = capture.stretch.region_count;
    enum cts_status status = cts_try_memory_close(&capture.memory, device, error);
    for (size_t i = 0; i < count && !status; i++) {
        struct cts_range range;
        struct cts_trial_region *const region = &capture.stretch.regions[i];
        region->is_live = cts_range_find((const void *)region->address, &range) &&
                          range.address == region->address;
        if (strcmp(region->kind, "pinned") == 0 || strcmp(region->kind, "registered") == 0)
            status = exclude_host_buffers(i, error);
    }
    return status;
}

struct cts_try_capture *cts_try_capture_close(void)
{
    struct cts_error error;
    capture.stretch.elapsed_ns = cts_clock_ns() - capture.start_ns;
    cts_streams_lock();
    while (capture.operation_count < capture.stretch.op_count &&
           capture.operation_count < capture.operation_capacity)
        capture.operations[capture.operation_count++] = NULL;
    cts_streams_unlock();
    for (int i = 0; i < cts_device_count(); i++)
        if (cts_sticky(i) != cudaSuccess) refuse("a kernel of the stretch failed");
    if (!capture.refusal[0] &&
        (close_regions(&error) || link_arguments(&error) || close_operations(&error)))
        refuse("%s", error.text);
    capture.stretch.refusal = capture.refusal;
    return &capture;
}

static void release_operation(struct cts_try_operation *operation)
{
    if (!operation) return;
    cts_work_release(&operation->work);
    free(operation->payload);
    free(operation->brought);
    free(operation);
}

void cts_try_capture_release(void)
{
    pthread_mutex_lock(&freed_lock);
    capture.is_open = false;
    pthread_mutex_unlock(&freed_lock);
    for (size_t i = 0; i < freed.count; i++) cts_range_release(&freed.items[i]);
    free(freed.items);
    freed.items = NULL;
    for (size_t i = 0; i < capture.operation_count; i++) release_operation(capture.operations[i]);
    free(capture.operations);
    for (size_t i = 0; i < capture.stretch.region_count; i++)
        free((void *)(uintptr_t)capture.stretch.regions[i].variable);
    cts_stretch_release(&capture.stretch);
    cts_try_memory_release(&capture.memory);
    cts_streams_lock();
    cts_try_order_clear();
    cts_streams_unlock();
    capture = (struct cts_try_capture){0};
}
