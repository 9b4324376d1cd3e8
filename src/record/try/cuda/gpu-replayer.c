/* A stream for each lane, and two events around each step: they give its time, and order lanes. */
#include "record/try/cuda/gpu-replayer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/array.h"

enum { WINDOW_BYTES = 8 << 20 };

static struct cts_gpu_capture *capture;
static const struct cts_trial_plan *plan;
static CUstream *lanes;
static size_t lane_count;
static CUevent *events; /* two for each step, that of the beginning, and two with nothing between */
static size_t event_count;
static bool is_timed;
static bool *is_awaited;               /* by step: another lane, or the host, waits for it */
static struct cts_gpu_launch *patched; /* by step: with other pointers; function NULL: none */
static size_t patched_count;
static CUresult first_failure;

/* Part of the device's memory, as it is read page by page; made invalid by whatever may change it.
 */
static struct {
    uint64_t address, size_bytes;
    uint8_t *bytes;
} window;

void cts_gpu_replayer_use(struct cts_gpu_capture *used)
{
    capture = used;
}

static void release_patched(void)
{
    for (size_t i = 0; i < patched_count; i++) cts_gpu_release_launch(&patched[i]);
    free(patched);
    patched = NULL;
    patched_count = 0;
}

void cts_gpu_replayer_release(void)
{
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    for (size_t i = 0; i < lane_count; i++) (void)driver->stream_destroy(lanes[i]);
    for (size_t i = 0; i < event_count; i++) (void)driver->event_destroy(events[i]);
    free(lanes);
    free(events);
    free(window.bytes);
    free(is_awaited);
    is_awaited = NULL;
    release_patched();
    lanes = NULL;
    events = NULL;
    window.bytes = NULL;
    lane_count = event_count = 0;
    window.size_bytes = 0;
}

static void note(CUresult result)
{
    if (result != CUDA_SUCCESS && first_failure == CUDA_SUCCESS) first_failure = result;
}

/* ---- a replay ---- */

static enum cts_status make_lanes(uint32_t count, struct cts_error *error)
{
    if (lane_count >= count) return CTS_OK;
    CUstream *const grown = realloc(lanes, count * sizeof *grown);
    if (!grown) return cts_fail(error, CTS_MEMORY, "no memory");
    lanes = grown;
    while (lane_count < count && cts_gpu_driver()->stream_create(
                                     &lanes[lane_count], CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS)
        lane_count++;
    return lane_count >= count ? CTS_OK : cts_fail(error, CTS_IO, "cannot make %u streams", count);
}

static enum cts_status make_events(size_t count, struct cts_error *error)
{
    if (event_count >= count) return CTS_OK;
    CUevent *const grown = realloc(events, count * sizeof *grown);
    if (!grown) return cts_fail(error, CTS_MEMORY, "no memory");
    events = grown;
    while (event_count < count &&
           cts_gpu_driver()->event_create(&events[event_count], CU_EVENT_DEFAULT) == CUDA_SUCCESS)
        event_count++;
    return event_count >= count ? CTS_OK : cts_fail(error, CTS_IO, "cannot make %zu events", count);
}

static uint64_t replaced(size_t step, uint64_t value)
{
    for (size_t i = 0; i < plan->pointer_count; i++) {
        const struct cts_trial_pointer *const p = &plan->pointers[i];
        if (p->step == step && value - p->from < p->size_bytes) return p->to + (value - p->from);
    }
    return value;
}

static void replace_arguments(size_t step, const struct cts_gpu_launch *launch)
{
    for (size_t i = 0; i < launch->count; i++)
        for (size_t at = 0; at + 8 <= launch->sizes[i]; at += 8) {
            uint64_t value;
            memcpy(&value, (char *)launch->parameters[i] + at, sizeof value);
            value = replaced(step, value);
            memcpy((char *)launch->parameters[i] + at, &value, sizeof value);
        }
}

/* Launches whose arguments the plan changes, made before the clock runs. */
static enum cts_status patch_launches(struct cts_error *error)
{
    release_patched();
    patched = cts_array_zeroed(plan->step_count, sizeof *patched, error);
    if (!patched) return CTS_MEMORY;
    patched_count = plan->step_count;
    for (size_t i = 0; i < plan->pointer_count; i++) {
        const uint32_t step = plan->pointers[i].step;
        const struct cts_gpu_operation *const operation = capture->operations[plan->steps[step].op];
        if (!operation || operation->kind != CTS_GPU_LAUNCH || patched[step].function) continue;
        const struct cts_gpu_launch *const kept = &operation->launch;
        if (!cts_gpu_copy_launch(&kept->config, kept->function, kept->parameters, &patched[step]))
            return cts_fail(error, CTS_MEMORY, "no memory");
        patched[step].is_cooperative = kept->is_cooperative;
        replace_arguments(step, &patched[step]);
    }
    return CTS_OK;
}

static enum cts_status find_awaited(struct cts_error *error)
{
    free(is_awaited);
    is_awaited = cts_array_zeroed(plan->step_count, sizeof *is_awaited, error);
    for (size_t i = 0; is_awaited && i < plan->step_count; i++) {
        const struct cts_trial_step *const step = &plan->steps[i];
        is_awaited[i] |= step->host_waits != 0;
        for (uint32_t k = 0; k < step->after_count; k++) {
            const uint32_t before = plan->afters[step->after_first + k];
            if (step->op == CTS_TRIAL_NONE || plan->steps[before].lane != step->lane)
                is_awaited[before] = true;
        }
    }
    return is_awaited ? CTS_OK : CTS_MEMORY;
}

static enum cts_status begin(void *state, const struct cts_trial_plan *asked, bool timed,
                             struct cts_error *error)
{
    (void)state;
    plan = asked;
    is_timed = timed;
    window.size_bytes = 0;
    first_failure = CUDA_SUCCESS;
    enum cts_status status = find_awaited(error);
    if (!status) status = patch_launches(error);
    if (!status) status = make_lanes(plan->lane_count ? plan->lane_count : 1, error);
    if (!status) status = make_events(2 * plan->step_count + 3, error);
    if (!status) note(cts_gpu_driver()->event_record(events[2 * plan->step_count], lanes[0]));
    for (size_t i = 1; i < 3 && !status; i++)
        note(cts_gpu_driver()->event_record(events[2 * plan->step_count + i], lanes[0]));
    if (!status) note(cts_gpu_driver()->stream_synchronize(lanes[0]));
    return status;
}

static CUresult launch_kept(const struct cts_gpu_launch *kept, CUstream lane)
{
    CUlaunchConfig config = kept->config;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    config.hStream = lane;
    if (!kept->is_cooperative)
        return driver->launch_kernel_ex(&config, kept->function, kept->parameters, NULL);
    return driver->launch_cooperative(
        kept->function, config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX,
        config.blockDimY, config.blockDimZ, config.sharedMemBytes, lane, kept->parameters);
}

static CUresult launch(size_t step, const struct cts_gpu_launch *kept, CUstream lane)
{
    return launch_kept(patched[step].function ? &patched[step] : kept, lane);
}

static CUresult set(const struct cts_gpu_operation *operation, CUstream lane)
{
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    if (operation->element_bytes == 1)
        return driver->set_8(operation->destination, (unsigned char)operation->value,
                             operation->count, lane);
    if (operation->element_bytes == 2)
        return driver->set_16(operation->destination, (unsigned short)operation->value,
                              operation->count, lane);
    return driver->set_32(operation->destination, operation->value, operation->count, lane);
}

static CUresult copy(size_t step, const struct cts_gpu_operation *operation, CUstream lane)
{
    const CUdeviceptr to =
        operation->to_host ? (CUdeviceptr)operation->brought : operation->destination;
    const CUdeviceptr from =
        operation->from_host ? (CUdeviceptr)operation->payload : replaced(step, operation->source);
    return cts_gpu_driver()->copy_async(to, from, operation->size_bytes, lane);
}

static CUresult execute(size_t step, CUstream lane)
{
    const struct cts_gpu_operation *const operation = capture->operations[plan->steps[step].op];
    switch (operation->kind) {
    case CTS_GPU_LAUNCH:
        return launch(step, &operation->launch, lane);
    case CTS_GPU_GRAPH:
        return cts_gpu_driver()->graph_launch(operation->graph, lane);
    case CTS_GPU_COPY:
        return copy(step, operation, lane);
    case CTS_GPU_SET:
        break;
    }
    return set(operation, lane);
}

static void CUDA_CB pause_lane(void *nanoseconds)
{
    const uint64_t ns = (uint64_t)(uintptr_t)nanoseconds;
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
                                  .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&time, NULL);
}

static enum cts_status issue(void *state, size_t index, struct cts_error *error)
{
    (void)state;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    const struct cts_trial_step *const step = &plan->steps[index];
    const CUstream lane = lanes[step->lane];
    if (!capture->operations[step->op])
        return cts_fail(error, CTS_FORMAT, "operation %u cannot be executed again", step->op);
    for (uint32_t i = 0; i < step->after_count; i++) {
        const uint32_t before = plan->afters[step->after_first + i];
        if (plan->steps[before].lane != step->lane)
            note(driver->stream_wait_event(lane, events[2 * before + 1], 0));
    }
    if (step->delay_ns)
        note(driver->launch_host(lane, pause_lane, (void *)(uintptr_t)step->delay_ns));
    if (is_timed) note(driver->event_record(events[2 * index], lane));
    note(execute(index, lane));
    if (is_timed || is_awaited[index]) note(driver->event_record(events[2 * index + 1], lane));
    return CTS_OK;
}

static void wait(void *state, size_t index)
{
    (void)state;
    const CUstream lane = lanes[plan->steps[index].lane];
    if (is_timed || is_awaited[index])
        note(cts_gpu_driver()->event_synchronize(events[2 * index + 1]));
    else
        note(cts_gpu_driver()->stream_synchronize(lane));
}

static uint64_t time_of(CUevent event)
{
    float ms = 0;
    const CUevent start = events[2 * plan->step_count];
    if (cts_gpu_driver()->event_elapsed(&ms, start, event) != CUDA_SUCCESS || ms < 0) return 0;
    return (uint64_t)((double)ms * 1e6);
}

/* What two events measure that have nothing between them: each step's time has that, too. */
static uint64_t overhead_ns(void)
{
    const CUevent *const pair = &events[2 * plan->step_count + 1];
    const uint64_t first_ns = time_of(pair[0]), second_ns = time_of(pair[1]);
    return second_ns > first_ns ? second_ns - first_ns : 0;
}

static struct cts_try_span span_of(size_t step, uint64_t overhead)
{
    const uint64_t start_ns = time_of(events[2 * step]), end_ns = time_of(events[2 * step + 1]);
    const uint64_t shorter_ns = end_ns > overhead ? end_ns - overhead : 0;
    return (struct cts_try_span){start_ns, shorter_ns > start_ns ? shorter_ns : start_ns};
}

static bool end(void *state, struct cts_try_span *spans, char fault[CTS_TRY_FAULT_BYTES])
{
    (void)state;
    for (size_t i = 0; i < plan->lane_count; i++)
        note(cts_gpu_driver()->stream_synchronize(lanes[i]));
    if (first_failure != CUDA_SUCCESS) {
        snprintf(fault, CTS_TRY_FAULT_BYTES, "the driver returns error %d", (int)first_failure);
        return false;
    }
    const uint64_t overhead = is_timed ? overhead_ns() : 0;
    for (size_t i = 0; i < plan->step_count && is_timed; i++)
        if (plan->steps[i].op != CTS_TRIAL_NONE) spans[i] = span_of(i, overhead);
    return true;
}

/* ---- memory ---- */

static bool is_payload(uint64_t address)
{
    for (size_t i = 0; capture && i < capture->operation_count; i++) {
        const struct cts_gpu_operation *const operation = capture->operations[i];
        if (operation && operation->brought &&
            address - (uint64_t)operation->brought < operation->size_bytes)
            return true;
    }
    return false;
}

static uint64_t region_end(uint64_t address)
{
    for (size_t i = 0; capture && i < capture->memory.count; i++) {
        const struct cts_try_region *const region = &capture->memory.items[i];
        if (address - region->address < region->size_bytes)
            return region->address + region->size_bytes;
    }
    return 0;
}

/* Pages are read one after the other: more than one is fetched at a time. */
static bool read_window(uint64_t address, void *to, size_t size_bytes)
{
    const bool is_inside = window.size_bytes && address >= window.address &&
                           address + size_bytes <= window.address + window.size_bytes;
    if (!is_inside) {
        const uint64_t end_address = region_end(address);
        if (end_address < address + size_bytes) return false;
        if (!window.bytes) window.bytes = malloc(WINDOW_BYTES);
        const uint64_t left = end_address - address;
        window.size_bytes = left < WINDOW_BYTES ? left : WINDOW_BYTES;
        window.address = address;
        if (!window.bytes || size_bytes > window.size_bytes) {
            window.size_bytes = 0;
            return false;
        }
        note(cts_gpu_driver()->copy_to_host(window.bytes, address, window.size_bytes));
    }
    memcpy(to, window.bytes + (address - window.address), size_bytes);
    return true;
}

static void read_memory(void *state, uint64_t address, void *to, size_t size_bytes)
{
    (void)state;
    if (is_payload(address))
        memcpy(to, (const void *)address, size_bytes);
    else if (size_bytes < 64 || !read_window(address, to, size_bytes))
        note(cts_gpu_driver()->copy_to_host(to, address, size_bytes));
}

static void write_memory(void *state, uint64_t address, const void *from, size_t size_bytes)
{
    (void)state;
    window.size_bytes = 0;
    if (is_payload(address))
        memcpy((void *)address, from, size_bytes);
    else
        note(cts_gpu_driver()->copy_from_host(address, from, size_bytes));
}

const struct cts_try_device cts_gpu_device = {.times_cost = true,
                                              .begin = begin,
                                              .issue = issue,
                                              .wait = wait,
                                              .end = end,
                                              .read = read_memory,
                                              .write = write_memory};
