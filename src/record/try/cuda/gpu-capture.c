#include "record/try/cuda/gpu-capture.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/clock.h"
#include "record/try/cuda/gpu-activity.h"
#include "record/try/cuda/gpu-order.h"

struct cts_gpu_counts cts_gpu_counts;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cts_gpu_capture capture;
static const struct cts_try_device *device;

struct block {
    uint64_t address, size_bytes;
    const char *kind, *variable;
    uint32_t number; /* among allocations of device memory; CTS_TRIAL_NONE: another kind */
};
static struct {
    struct block *items;
    size_t count, capacity;
} blocks; /* memory that the program has */
static struct {
    uint64_t *items;
    size_t count, capacity;
} freed; /* by the program, kept for the replays */

void cts_gpu_refuse(const char *format, ...)
{
    va_list arguments;
    if (capture.refusal[0]) return;
    va_start(arguments, format);
    vsnprintf(capture.refusal, sizeof capture.refusal, format, arguments);
    va_end(arguments);
}

void cts_gpu_refuse_call(const char *call)
{
    pthread_mutex_lock(&lock);
    if (capture.is_open) cts_gpu_refuse("the stretch contains %s, which replays cannot make", call);
    pthread_mutex_unlock(&lock);
}

/* ---- operations ---- */

static const char *name_of(CUfunction function)
{
    const char *name = NULL;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    if (driver->function_name(&name, function) == CUDA_SUCCESS && name) return name;
    if (driver->kernel_name(&name, (CUkernel)function) == CUDA_SUCCESS && name) return name;
    return "unknown kernel";
}

static void describe_copy(const struct cts_gpu_operation *operation, struct cts_trial_op *op)
{
    static const char *const names[2][2] = {{"DtoD", "DtoH"}, {"HtoD", "HtoH"}};
    op->kind = operation->kind == CTS_GPU_COPY ? CTS_TRIAL_COPY : CTS_TRIAL_MEMSET;
    op->number = cts_gpu_counts.copies++;
    op->name = operation->kind == CTS_GPU_COPY ? names[operation->from_host][operation->to_host]
                                               : "memset";
    op->bytes = operation->size_bytes;
    op->destination = operation->destination;
    op->source = operation->source;
    op->is_linear = 1;
}

/* How many CTAs of a launch run at a time; 0: unknown. */
static uint32_t resident_ctas(const struct cts_gpu_launch *launch)
{
    int ctas = 0;
    CUfunction function = launch->function;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    const CUlaunchConfig *const c = &launch->config;
    const int threads = (int)(c->blockDimX * c->blockDimY * c->blockDimZ);
    CUfunction of_kernel = NULL;
    if (driver->kernel_function(&of_kernel, (CUkernel)function) == CUDA_SUCCESS && of_kernel)
        function = of_kernel;
    if (driver->occupancy(&ctas, function, threads, c->sharedMemBytes) != CUDA_SUCCESS) return 0;
    return ctas > 0 ? (uint32_t)ctas * capture.stretch.parallel_ctas : 0;
}

static void describe(const struct cts_gpu_operation *operation, struct cts_trial_op *op)
{
    const CUlaunchConfig *const config = &operation->launch.config;
    if (operation->kind == CTS_GPU_COPY || operation->kind == CTS_GPU_SET) {
        describe_copy(operation, op);
        return;
    }
    op->kind = CTS_TRIAL_LAUNCH;
    op->number = cts_gpu_counts.launches++;
    op->name = "a graph";
    if (operation->kind == CTS_GPU_GRAPH) return;
    op->name = name_of(operation->launch.function);
    const unsigned grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
    const unsigned block[] = {config->blockDimX, config->blockDimY, config->blockDimZ};
    memcpy(op->grid, grid, sizeof op->grid);
    memcpy(op->block, block, sizeof op->block);
    op->shared_bytes = config->sharedMemBytes;
    if (capture.is_open) op->resident_ctas = resident_ctas(&operation->launch);
}

static void list_kernel(const char *name)
{
    struct cts_error error;
    struct cts_gpu_counts *const c = &cts_gpu_counts;
    if (c->kernel_count < c->kernel_capacity ||
        !cts_array_grow((void **)&c->kernels, &c->kernel_capacity, c->kernel_count + 1,
                        sizeof *c->kernels, &error))
        c->kernels[c->kernel_count++] = name;
}

static enum cts_status keep(struct cts_gpu_operation *operation, const struct cts_trial_op *op)
{
    struct cts_error error;
    struct cts_gpu_places places = {0};
    const uint32_t index = (uint32_t)capture.stretch.op_count;
    if (index >= capture.operation_capacity &&
        cts_array_grow((void **)&capture.operations, &capture.operation_capacity, index + 1,
                       sizeof(void *), &error))
        return CTS_MEMORY;
    while (capture.operation_count < index) capture.operations[capture.operation_count++] = NULL;
    if (!cts_gpu_order_before(op->stream, &places)) return CTS_MEMORY;
    enum cts_status status = cts_stretch_add_op(&capture.stretch, op, &error);
    if (!status) capture.operations[capture.operation_count++] = operation;
    for (size_t i = 0; i < places.count && !status; i++)
        status = cts_stretch_add_after(&capture.stretch, places.items[i].op, &error);
    cts_gpu_places_release(&places);
    if (status) return status;
    capture.memory.saved_bytes += operation->from_host ? operation->size_bytes : 0;
    return cts_gpu_order_add(op->stream, index) ? CTS_OK : CTS_MEMORY;
}

static void release_operation(struct cts_gpu_operation *operation)
{
    if (!operation) return;
    cts_gpu_release_launch(&operation->launch);
    if (operation->is_payload_pinned)
        (void)cts_gpu_driver()->host_free(operation->payload);
    else
        free(operation->payload);
    if (operation->brought) cts_gpu_driver()->host_free(operation->brought);
    for (int i = 0; i < 2; i++)
        if (operation->events[i]) (void)cts_gpu_driver()->event_destroy(operation->events[i]);
    free(operation);
}

/* ---- times of the program's own pass, measured as those of replays ---- */

static bool has_activities;                        /* CUPTI notes them */
static __thread struct cts_gpu_operation *present; /* its call has not returned */

static CUstream stream_of(const struct cts_gpu_operation *operation)
{
    return !operation->stream && operation->is_per_thread ? CU_STREAM_PER_THREAD
                                                          : operation->stream;
}

static void time_operation(struct cts_gpu_operation *operation)
{
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    if (has_activities) return;
    for (int i = 0; i < 2; i++)
        if (driver->event_create(&operation->events[i], CU_EVENT_DEFAULT) != CUDA_SUCCESS)
            operation->events[i] = NULL;
    if (!operation->events[0] || !operation->events[1]) return;
    (void)driver->event_record(operation->events[0], stream_of(operation));
    present = operation;
}

static uint64_t ns_between(CUevent first, CUevent second)
{
    float ms = 0;
    const bool is_known =
        first && second && cts_gpu_driver()->event_elapsed(&ms, first, second) == CUDA_SUCCESS;
    return is_known && ms > 0 ? (uint64_t)((double)ms * 1e6) : 0;
}

static void open_times(void)
{
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    has_activities = cts_gpu_activity_start();
    for (int i = 0; i < 3 && !has_activities; i++) {
        if (driver->event_create(&capture.events[i], CU_EVENT_DEFAULT) != CUDA_SUCCESS)
            capture.events[i] = NULL;
        else
            (void)driver->event_record(capture.events[i], CU_STREAM_PER_THREAD);
    }
    (void)driver->ctx_synchronize();
}

static void close_times(void)
{
    if (has_activities) {
        (void)cts_gpu_activity_stop();
        capture.stretch.busy_ns = cts_gpu_activity_busy_ns();
    }
    const uint64_t nothing_ns = ns_between(capture.events[1], capture.events[2]);
    for (size_t i = 0; i < capture.operation_count; i++) {
        const struct cts_gpu_operation *const operation = capture.operations[i];
        struct cts_trial_op *const op = &capture.stretch.ops[i];
        if (!operation || !operation->events[1]) continue;
        op->start_ns = ns_between(capture.events[0], operation->events[0]);
        const uint64_t end_ns = ns_between(capture.events[0], operation->events[1]);
        op->end_ns = end_ns > op->start_ns + nothing_ns ? end_ns - nothing_ns : op->start_ns;
    }
}

void cts_gpu_capture_add(struct cts_gpu_operation *operation, uint64_t call_ns)
{
    pthread_mutex_lock(&lock);
    uint32_t ordinal = 0;
    const bool is_launch = operation->kind == CTS_GPU_LAUNCH || operation->kind == CTS_GPU_GRAPH;
    struct cts_trial_op op = {.host_waits = operation->host_waits};
    op.stream = cts_gpu_order_stream(operation->stream, operation->is_per_thread,
                                     is_launch ? &ordinal : NULL);
    op.ordinal = ordinal;
    op.gap_ns = call_ns > capture.last_return_ns ? call_ns - capture.last_return_ns : 0;
    describe(operation, &op);
    if (is_launch && cts_gpu_counts.lists_kernels) list_kernel(op.name);
    const bool is_kept = capture.is_open && !capture.refusal[0];
    if (is_kept && keep(operation, &op)) cts_gpu_refuse("no memory to keep the operations");
    if (is_kept) time_operation(operation);
    if (!is_kept) release_operation(operation);
    pthread_mutex_unlock(&lock);
}

/* ---- what copies brought ---- */

static void fetch(struct cts_gpu_operation *operation)
{
    memcpy(operation->brought, (const void *)operation->destination, operation->size_bytes);
    operation->has_brought = true;
}

/* Copies up to these places have ended, and the host has not gone on yet. */
static void fetch_up_to(const struct cts_gpu_places *places)
{
    for (size_t i = 0; i < capture.operation_count; i++) {
        struct cts_gpu_operation *const operation = capture.operations[i];
        if (!operation || !operation->to_host || operation->has_brought) continue;
        for (size_t k = 0; k < places->count; k++)
            if (places->items[k].stream == capture.stretch.ops[i].stream &&
                places->items[k].op >= i)
                fetch(operation);
    }
}

void cts_gpu_capture_returned(void)
{
    pthread_mutex_lock(&lock);
    if (present && capture.is_open)
        (void)cts_gpu_driver()->event_record(present->events[1], stream_of(present));
    present = NULL;
    if (capture.is_open && capture.operation_count) {
        struct cts_gpu_operation *const last = capture.operations[capture.operation_count - 1];
        if (last && last->to_host && last->host_waits && !last->has_brought) fetch(last);
    }
    capture.last_return_ns = cts_clock_ns();
    pthread_mutex_unlock(&lock);
}

/* ---- order ---- */

void cts_gpu_capture_event(CUevent event, CUstream stream, bool is_per_thread)
{
    pthread_mutex_lock(&lock);
    if (capture.is_open &&
        !cts_gpu_order_record(event, cts_gpu_order_stream(stream, is_per_thread, NULL)))
        cts_gpu_refuse("no memory to keep the operations");
    pthread_mutex_unlock(&lock);
}

void cts_gpu_capture_wait_event(CUstream stream, bool is_per_thread, CUevent event)
{
    pthread_mutex_lock(&lock);
    if (capture.is_open &&
        !cts_gpu_order_wait(cts_gpu_order_stream(stream, is_per_thread, NULL), event))
        cts_gpu_refuse("no memory to keep the operations");
    pthread_mutex_unlock(&lock);
}

void cts_gpu_capture_waited(CUevent event, CUstream stream, bool is_per_thread, bool all,
                            const char *call)
{
    struct cts_error error;
    struct cts_gpu_places places = {0};
    pthread_mutex_lock(&lock);
    const bool is_numbered = strstr(call, "Synchronize") != NULL;
    const uint32_t number = is_numbered ? cts_gpu_counts.waits++ : CTS_TRIAL_NONE;
    if (capture.is_open && !capture.refusal[0]) {
        bool done =
            all ? cts_gpu_order_all(&places)
            : event
                ? cts_gpu_order_event(event, &places)
                : cts_gpu_order_before(cts_gpu_order_stream(stream, is_per_thread, NULL), &places);
        fetch_up_to(&places);
        const struct cts_trial_op op = {.kind = CTS_TRIAL_WAIT, .number = number, .name = call};
        if (done && (places.count || is_numbered))
            done = !cts_stretch_add_op(&capture.stretch, &op, &error);
        for (size_t i = 0; i < places.count && done; i++)
            done = !cts_stretch_add_after(&capture.stretch, places.items[i].op, &error);
        if (!done) cts_gpu_refuse("no memory to keep the operations");
    }
    cts_gpu_places_release(&places);
    capture.last_return_ns = cts_clock_ns();
    pthread_mutex_unlock(&lock);
}

/* ---- memory ---- */

/* Whether the region is kept already: memory that came back at the same place. */
static bool is_region(uint64_t address, uint64_t size_bytes)
{
    for (size_t i = 0; i < capture.stretch.region_count; i++)
        if (capture.stretch.regions[i].address == address &&
            capture.stretch.regions[i].size_bytes == size_bytes)
            return true;
    return false;
}

static void save_block(const struct block *block)
{
    struct cts_error error;
    if (capture.refusal[0] || is_region(block->address, block->size_bytes)) return;
    const struct cts_trial_range range = {block->address, block->size_bytes};
    const struct cts_trial_region region = {.address = block->address,
                                            .size_bytes = block->size_bytes,
                                            .op = CTS_TRIAL_NONE,
                                            .number = block->number,
                                            .variable = block->variable,
                                            .kind = block->kind};
    enum cts_status status = cts_try_memory_add(&capture.memory, device, range, &error);
    if (!status) status = cts_stretch_add_region(&capture.stretch, &region, &error);
    if (status) cts_gpu_refuse("%s", error.text);
}

void cts_gpu_capture_allocated(const struct cts_gpu_block *told)
{
    struct cts_error error;
    static uint32_t device_allocations;
    pthread_mutex_lock(&lock);
    const bool is_device = strcmp(told->kind, "device") == 0;
    const struct block block = {told->address, told->size_bytes, told->kind, told->variable,
                                is_device ? device_allocations++ : CTS_TRIAL_NONE};
    for (size_t i = 0; i < blocks.count; i++)
        if (blocks.items[i].address == block.address)
            blocks.items[i] = blocks.items[--blocks.count];
    if (CTS_ARRAY_RESERVE(&blocks, blocks.count + 1, &error))
        cts_gpu_refuse("no memory to keep the allocations");
    else
        blocks.items[blocks.count++] = block;
    if (capture.is_open) {
        (void)cts_gpu_driver()->ctx_synchronize();
        save_block(&block);
    }
    pthread_mutex_unlock(&lock);
}

void cts_gpu_capture_spent(uint64_t since_ns)
{
    pthread_mutex_lock(&lock);
    capture.last_return_ns += cts_clock_ns() - since_ns;
    pthread_mutex_unlock(&lock);
}

bool cts_gpu_capture_freed(uint64_t address)
{
    struct cts_error error;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < blocks.count; i++)
        if (blocks.items[i].address == address) blocks.items[i] = blocks.items[--blocks.count];
    const bool kept = capture.is_open && !CTS_ARRAY_RESERVE(&freed, freed.count + 1, &error);
    if (kept) freed.items[freed.count++] = address;
    pthread_mutex_unlock(&lock);
    return kept;
}

/* ---- the stretch's ends ---- */

static void name_device(void)
{
    CUdevice number = 0;
    int count = 1, clock_khz = 0, bus_bits = 0;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    (void)driver->ctx_get_device(&number);
    (void)driver->device_name(capture.device, (int)sizeof capture.device, number);
    (void)driver->device_attribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, number);
    (void)driver->device_attribute(&clock_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, number);
    (void)driver->device_attribute(&bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, number);
    capture.stretch.memory_bytes_per_us = (uint64_t)clock_khz * 2 * (uint64_t)bus_bits / 8 / 1000;
    capture.stretch.device = capture.device;
    capture.stretch.parallel_ctas = (uint32_t)count;
}

void cts_gpu_capture_open(uint64_t limit_bytes, const struct cts_try_device *used)
{
    pthread_mutex_lock(&lock);
    device = used;
    capture.memory.limit_bytes = limit_bytes;
    capture.stretch.thread_count = 1;
    capture.stretch.can = CTS_TRIAL_CAN_PRIORITY;
    name_device();
    for (size_t i = 0; i < blocks.count; i++) save_block(&blocks.items[i]);
    cts_gpu_order_clear();
    open_times();
    capture.start_ns = capture.last_return_ns = cts_clock_ns();
    capture.is_open = true;
    pthread_mutex_unlock(&lock);
}

/* A copy to the host gets a place of its own, which the driver can write at full speed. */
static enum cts_status add_payload(size_t index, struct cts_error *error)
{
    struct cts_gpu_operation *const operation = capture.operations[index];
    const struct cts_trial_range range = {(uint64_t)operation->brought, operation->size_bytes};
    const struct cts_trial_region region = {.address = range.address,
                                            .size_bytes = range.size_bytes,
                                            .op = (uint32_t)index,
                                            .is_live = 1,
                                            .number = CTS_TRIAL_NONE,
                                            .variable = "",
                                            .kind = "payload"};
    const enum cts_status status =
        cts_try_memory_add_payload(&capture.memory, range, operation->brought, error);
    return status ? status : cts_stretch_add_region(&capture.stretch, &region, error);
}

static bool is_live(uint64_t address)
{
    for (size_t i = 0; i < blocks.count; i++)
        if (blocks.items[i].address == address) return true;
    return false;
}

/* Regions are known when the stretch ends. */
static enum cts_status link_arguments(struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < capture.operation_count; i++) {
        const struct cts_gpu_operation *const operation = capture.operations[i];
        if (!operation || operation->kind != CTS_GPU_LAUNCH) continue;
        const struct cts_gpu_launch *const launch = &operation->launch;
        for (size_t k = 0; k < launch->count && !status; k++)
            status = cts_stretch_add_links(&capture.stretch, (uint32_t)i, launch->parameters[k],
                                           launch->sizes[k], error);
    }
    return status;
}

static enum cts_status complete(struct cts_error *error)
{
    enum cts_status status = cts_try_memory_close(&capture.memory, device, error);
    if (!status) status = link_arguments(error);
    for (size_t i = 0; i < capture.stretch.region_count; i++)
        capture.stretch.regions[i].is_live = is_live(capture.stretch.regions[i].address);
    for (size_t i = 0; i < capture.operation_count && !status; i++) {
        struct cts_gpu_operation *const operation = capture.operations[i];
        if (!operation || !operation->to_host) continue;
        if (!operation->has_brought) fetch(operation);
        status = add_payload(i, error);
    }
    return status;
}

struct cts_gpu_capture *cts_gpu_capture_close(void)
{
    struct cts_error error;
    pthread_mutex_lock(&lock);
    capture.stretch.elapsed_ns = cts_clock_ns() - capture.start_ns;
    capture.is_open = false;
    while (capture.operation_count < capture.stretch.op_count &&
           capture.operation_count < capture.operation_capacity)
        capture.operations[capture.operation_count++] = NULL;
    close_times();
    if (!capture.refusal[0] && complete(&error)) cts_gpu_refuse("%s", error.text);
    capture.stretch.refusal = capture.refusal;
    pthread_mutex_unlock(&lock);
    return &capture;
}

void cts_gpu_capture_release(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < freed.count; i++) (void)cts_gpu_driver()->free(freed.items[i]);
    free(freed.items);
    freed.items = NULL;
    freed.count = freed.capacity = 0;
    for (size_t i = 0; i < capture.operation_count; i++) release_operation(capture.operations[i]);
    for (int i = 0; i < 3; i++)
        if (capture.events[i]) (void)cts_gpu_driver()->event_destroy(capture.events[i]);
    free(capture.operations);
    cts_stretch_release(&capture.stretch);
    cts_try_memory_release(&capture.memory);
    cts_gpu_order_clear();
    capture = (struct cts_gpu_capture){0};
    pthread_mutex_unlock(&lock);
}
