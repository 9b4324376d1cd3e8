/* Steps of a plan as calls of the driver: arguments are replaced, and buffers made, before the
 * clock runs. */
#include "record/try/cuda/gpu-steps.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/array.h"

static struct cts_gpu_capture *capture;
static const struct cts_trial_plan *plan;
static struct cts_gpu_launch *patched; /* by step: with other pointers; function NULL: none */
static size_t patched_count;
static CUdeviceptr *buffers; /* of the plan */
static uint64_t *buffer_sizes;
static size_t buffer_count;

static CUresult first_failure;

void cts_gpu_note(CUresult result)
{
    if (result != CUDA_SUCCESS && first_failure == CUDA_SUCCESS) first_failure = result;
}

CUresult cts_gpu_failure(void)
{
    return first_failure;
}

static void CUDA_CB pause_lane(void *nanoseconds)
{
    const uint64_t ns = (uint64_t)(uintptr_t)nanoseconds;
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
                                  .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&time, NULL);
}

CUresult cts_gpu_pause(CUstream lane, uint64_t ns)
{
    return cts_gpu_driver()->launch_host(lane, pause_lane, (void *)(uintptr_t)ns);
}

static void release_patched(void)
{
    for (size_t i = 0; i < patched_count; i++) cts_gpu_release_launch(&patched[i]);
    free(patched);
    patched = NULL;
    patched_count = 0;
}

static void release_buffers(void)
{
    for (size_t i = 0; i < buffer_count; i++) (void)cts_gpu_driver()->free(buffers[i]);
    free(buffers);
    free(buffer_sizes);
    buffers = NULL;
    buffer_sizes = NULL;
    buffer_count = 0;
}

void cts_gpu_steps_release(void)
{
    release_patched();
    release_buffers();
}

/* Buffers stay from replay to replay of the same plan. */
static bool has_buffers(void)
{
    if (buffer_count != plan->buffer_count) return false;
    for (size_t i = 0; i < buffer_count; i++)
        if (buffer_sizes[i] != plan->buffers[i]) return false;
    return true;
}

static enum cts_status make_buffers(struct cts_error *error)
{
    if (has_buffers()) return CTS_OK;
    release_buffers();
    buffers = cts_array_zeroed(plan->buffer_count, sizeof *buffers, error);
    buffer_sizes = cts_array_zeroed(plan->buffer_count, sizeof *buffer_sizes, error);
    if (!buffers || !buffer_sizes) return CTS_MEMORY;
    for (; buffer_count < plan->buffer_count; buffer_count++) {
        const uint64_t size = plan->buffers[buffer_count];
        if (cts_gpu_driver()->allocate(&buffers[buffer_count], size ? size : 1) != CUDA_SUCCESS)
            return cts_fail(error, CTS_USAGE, "the device has no %llu bytes for a second buffer",
                            (unsigned long long)size);
        buffer_sizes[buffer_count] = size;
    }
    return CTS_OK;
}

static void spoil_buffers(void)
{
    for (size_t i = 0; i < buffer_count; i++)
        cts_gpu_note(cts_gpu_driver()->set_now(buffers[i], CTS_TRY_SPOILT, buffer_sizes[i]));
}

/* `writes`: it is where a copy or memset writes. */
static uint64_t replaced(size_t step, uint64_t value, bool writes)
{
    for (size_t i = 0; i < plan->pointer_count; i++) {
        const struct cts_trial_pointer *const p = &plan->pointers[i];
        if (p->step != step || value - p->from >= p->size_bytes || (writes && !p->is_written))
            continue;
        const uint64_t to = p->buffer == CTS_TRIAL_NONE ? p->to : buffers[p->buffer] + p->to;
        return to + (value - p->from);
    }
    return value;
}

static void replace_arguments(size_t step, const struct cts_gpu_launch *launch)
{
    for (size_t i = 0; i < launch->count; i++)
        for (size_t at = 0; at + 8 <= launch->sizes[i]; at += 8) {
            uint64_t value;
            memcpy(&value, (char *)launch->parameters[i] + at, sizeof value);
            value = replaced(step, value, false);
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
        if (step == CTS_TRIAL_NONE) continue;
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

enum cts_status cts_gpu_steps_prepare(struct cts_gpu_capture *used,
                                      const struct cts_trial_plan *asked, struct cts_error *error)
{
    capture = used;
    plan = asked;
    first_failure = CUDA_SUCCESS;
    enum cts_status status = make_buffers(error);
    if (!status) spoil_buffers();
    return status ? status : patch_launches(error);
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

static CUresult set(size_t step, const struct cts_gpu_operation *operation, CUstream lane)
{
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    const uint64_t to = replaced(step, operation->destination, true);
    if (operation->element_bytes == 1)
        return driver->set_8(to, (unsigned char)operation->value, operation->count, lane);
    if (operation->element_bytes == 2)
        return driver->set_16(to, (unsigned short)operation->value, operation->count, lane);
    return driver->set_32(to, operation->value, operation->count, lane);
}

static CUresult copy(size_t step, const struct cts_gpu_operation *operation, CUstream lane)
{
    const CUdeviceptr to = operation->to_host ? (CUdeviceptr)operation->brought
                                              : replaced(step, operation->destination, true);
    const CUdeviceptr from = operation->from_host ? (CUdeviceptr)operation->payload
                                                  : replaced(step, operation->source, false);
    return cts_gpu_driver()->copy_async(to, from, operation->size_bytes, lane);
}

CUresult cts_gpu_step_execute(size_t step, CUstream lane)
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
    return set(step, operation, lane);
}

void cts_gpu_bring_back(void *state)
{
    (void)state;
    for (size_t i = 0; i < plan->pointer_count; i++) {
        const struct cts_trial_pointer *const p = &plan->pointers[i];
        if (p->step != CTS_TRIAL_NONE) continue;
        const uint64_t to = p->buffer == CTS_TRIAL_NONE ? p->to : buffers[p->buffer] + p->to;
        cts_gpu_note(cts_gpu_driver()->copy_async(p->from, to, p->size_bytes, CU_STREAM_LEGACY));
        cts_gpu_note(cts_gpu_driver()->stream_synchronize(CU_STREAM_LEGACY));
    }
}
