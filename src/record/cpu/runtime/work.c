/* Doing the works of streams: launches through the engine, copies and fills of up to three
 * dimensions, functions of the host. */
#include "work.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "stream.h"
#include "cpu-timeline.h"
#include "try-watch.h"

/* ---- marks ---- */

struct cts_mark *cts_mark_new(void)
{
    struct cts_mark *const mark = calloc(1, sizeof *mark);
    if (mark) atomic_init(&mark->references, 1);
    return mark;
}

struct cts_mark *cts_mark_retain(struct cts_mark *mark)
{
    atomic_fetch_add(&mark->references, 1);
    return mark;
}

void cts_mark_release(struct cts_mark *mark)
{
    if (mark && atomic_fetch_sub(&mark->references, 1) == 1) free(mark);
}

/* ---- ownership ---- */

void cts_work_release(struct cts_work *work)
{
    if (work->kind == CTS_WORK_LAUNCH) free(work->launch.args);
    if (work->kind == CTS_WORK_COPY) free(work->copy.staging);
    if (work->kind == CTS_WORK_EVENT) cts_mark_release(work->event.mark);
    work->kind = CTS_WORK_NOTHING;
}

bool cts_work_needs(const struct cts_work *work, const struct cts_image *image)
{
    switch (work->kind) {
    case CTS_WORK_LAUNCH:
        return work->launch.kernel->file->image.low == image->low;
    case CTS_WORK_HOST:
        return cts_image_holds(image, (uint64_t)(uintptr_t)work->host.function);
    case CTS_WORK_CALLBACK:
        return cts_image_holds(image, (uint64_t)(uintptr_t)work->callback.function);
    case CTS_WORK_COPY:
        return cts_image_holds(image, work->copy.geometry.source) ||
               cts_image_holds(image, work->copy.geometry.destination);
    case CTS_WORK_MEMSET:
        return cts_image_holds(image, work->memset.geometry.destination);
    case CTS_WORK_NOTHING:
    case CTS_WORK_EVENT:
        break;
    }
    return false;
}

bool cts_work_is_gone(const struct cts_work *work)
{
    return work->kind == CTS_WORK_LAUNCH && work->launch.kernel->file->is_gone;
}

bool cts_work_clone(const struct cts_work *work, struct cts_work *copy)
{
    if (cts_work_is_gone(work)) return false;
    *copy = *work;
    if (work->kind == CTS_WORK_LAUNCH) {
        copy->launch.args = cts_work_copy_args(work->launch.kernel->desc, work->launch.args);
        return copy->launch.args != NULL;
    }
    if (work->kind == CTS_WORK_COPY && work->copy.staging) {
        const struct cts_geometry *const geometry = &work->copy.geometry;
        const uint64_t bytes = geometry->width_bytes * geometry->height * geometry->depth;
        copy->copy.staging = malloc(bytes);
        if (!copy->copy.staging) return false;
        memcpy(copy->copy.staging, work->copy.staging, bytes);
    }
    if (work->kind == CTS_WORK_EVENT) cts_mark_retain(work->event.mark);
    return true;
}

void **cts_work_copy_args(const struct cts_kernel_desc *kernel, void *const *args)
{
    size_t bytes = (kernel->parameter_count + 1) * sizeof(void *);
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        bytes += kernel->parameters[i].size_bytes + kernel->parameters[i].align_bytes + 16;
    char *const block = malloc(bytes);
    if (!block) return NULL;
    void **const pointers = (void **)(void *)block;
    uintptr_t place = (uintptr_t)(pointers + kernel->parameter_count + 1);
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        uintptr_t align = kernel->parameters[i].align_bytes;
        if (align < 16) align = 16; /* vector loads of small structs need no more */
        place = (place + align - 1) / align * align;
        if (place + kernel->parameters[i].size_bytes > (uintptr_t)block + bytes) {
            free(block); /* an alignment that is none */
            return NULL;
        }
        pointers[i] = (void *)place;
        memcpy(pointers[i], args[i], kernel->parameters[i].size_bytes);
        place += kernel->parameters[i].size_bytes;
    }
    pointers[kernel->parameter_count] = NULL;
    return pointers;
}

/* ---- copies and fills ---- */

void cts_geometry_copy(const struct cts_geometry *geometry)
{
    const uint64_t width = geometry->width_bytes;
    const bool rows_touch = geometry->destination_pitch == width && geometry->source_pitch == width;
    for (uint64_t z = 0; z < geometry->depth; z++) {
        char *destination = (char *)geometry->destination + z * geometry->destination_slice;
        const char *source = (const char *)geometry->source + z * geometry->source_slice;
        if (rows_touch) {
            memmove(destination, source, width * geometry->height);
            continue;
        }
        for (uint64_t y = 0; y < geometry->height; y++) {
            memmove(destination, source, width);
            destination += geometry->destination_pitch;
            source += geometry->source_pitch;
        }
    }
}

static void fill_row(char *row, uint64_t width_bytes, uint32_t value, uint32_t element_bytes)
{
    if (element_bytes == 1) {
        memset(row, (int)value, width_bytes);
        return;
    }
    for (uint64_t i = 0; i + element_bytes <= width_bytes; i += element_bytes)
        memcpy(row + i, &value, element_bytes);
}

static void cts_geometry_fill(const struct cts_geometry *geometry, uint32_t value,
                              uint32_t element_bytes)
{
    for (uint64_t z = 0; z < geometry->depth; z++)
        for (uint64_t y = 0; y < geometry->height; y++)
            fill_row((char *)geometry->destination + z * geometry->destination_slice +
                         y * geometry->destination_pitch,
                     geometry->width_bytes, value, element_bytes);
}

/* The geometry with the staged copy of the source, which is tightly packed. */
static struct cts_geometry staged(const struct cts_work *work)
{
    struct cts_geometry geometry = work->copy.geometry;
    if (work->copy.staging) {
        geometry.source = (uint64_t)work->copy.staging;
        geometry.source_pitch = geometry.width_bytes;
        geometry.source_slice = geometry.width_bytes * geometry.height;
    }
    return geometry;
}

/* ---- running ---- */

static cudaError_t error_of(enum cts_fault_kind fault)
{
    switch (fault) {
    case CTS_FAULT_NONE:
        return cudaSuccess;
    case CTS_FAULT_ADDRESS:
        return cudaErrorIllegalAddress;
    case CTS_FAULT_MISALIGNED:
        return cudaErrorMisalignedAddress;
    case CTS_FAULT_ASSERT:
        return cudaErrorAssert;
    case CTS_FAULT_STACK:
        return cudaErrorHardwareStackError;
    case CTS_FAULT_DEADLOCK:
        return cudaErrorLaunchTimeout;
    case CTS_FAULT_MEMORY:
        return cudaErrorLaunchOutOfResources;
    case CTS_FAULT_TRAP:
    case CTS_FAULT_BARRIER:
    case CTS_FAULT_ARITHMETIC:
        break;
    }
    return cudaErrorLaunchFailure;
}

static bool is_timed(const struct cts_trace *trace)
{
    return trace->is_on || trace->log || trace->mark;
}

/* Adds what the program has nearest to the address of a fault, as far as that can be meant, and
 * returns its id in the catalogue. */
static uint32_t add_nearest(struct cts_launch_result *result)
{
    enum { NULL_BYTES = 1 << 16 };
    const uint64_t far_bytes = (uint64_t)1 << 36; /* beyond what an index of 32 bits reaches */
    struct cts_range range;
    const uint64_t address = result->fault_address;
    const size_t used = strlen(result->text);
    char name[80] = "";
    if (address < NULL_BYTES || !cts_range_nearest(address, &range)) return CTS_NONE;
    const bool is_before = address < range.address;
    const uint64_t end = range.address + range.size_bytes;
    if (!is_before && address < end) { /* misaligned, or a read-only one */
        snprintf(result->text + used, sizeof result->text - used, ": byte %llu of %s%s%s (%llu B)",
                 (unsigned long long)(address - range.address), *range.variable ? "'" : "",
                 *range.variable ? range.variable : "an allocation", *range.variable ? "'" : "",
                 (unsigned long long)range.size_bytes);
        return range.allocation;
    }
    if ((is_before ? range.address - address : address - end) > far_bytes) return CTS_NONE;
    if (*range.variable && range.element_bytes)
        snprintf(name, sizeof name, "%s[%lld], ", range.variable,
                 (long long)(address - range.address) / (long long)range.element_bytes);
    snprintf(result->text + used, sizeof result->text - used, ": %s%llu B %s %s%s%s (%llu B)", name,
             (unsigned long long)(is_before ? range.address - address : address - end),
             is_before ? "before" : "past the end of", *range.variable ? "'" : "an allocation",
             range.variable, *range.variable ? "'" : "", (unsigned long long)range.size_bytes);
    return range.allocation;
}

static void run_launch(struct cts_work *work, struct CUstream_st *stream, struct cts_trace *trace)
{
    const struct cts_launch_work *const launch = &work->launch;
    struct cts_launch_request request = {
        .kernel = launch->kernel->desc,
        .file = &launch->kernel->file->loaded,
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .args = launch->args,
        .cta_order = launch->cta_order,
        .cooperative = launch->cooperative,
        .record = trace->records_accesses,
        .launch = trace->id,
        .cta_sample = cts_record_cta_sample(),
        .collector = trace->records_accesses ? cts_record_collector() : NULL,
    };
    memcpy(request.grid, launch->grid, sizeof request.grid);
    memcpy(request.block, launch->block, sizeof request.block);
    struct cts_launch_result result = {.fault = CTS_FAULT_NONE};
    trace->start_ns = is_timed(trace) ? cts_clock_ns() : 0;
    cts_engine_run(&request, &result);
    trace->end_ns = is_timed(trace) ? cts_clock_ns() : 0;
    if (trace->is_on) cts_record_launch_end(work, stream, trace, &result);
    if (trace->log) cts_cpu_timeline_done(work, trace);
    if (trace->mark) cts_try_watcher->ran(work, trace);
    if (result.fault == CTS_FAULT_NONE) return;
    uint32_t allocation = CTS_NONE;
    if (result.fault_address && !result.fault_is_shared) allocation = add_nearest(&result);
    cts_record_fault(trace, &result, allocation);
    if (cts_sticky(stream->device) == cudaSuccess &&
        !(trace->mark && cts_try_watcher->takes_fault(result.text))) {
        cts_say("%s", result.text);
        cts_record_message("error", result.text);
    }
    cts_set_sticky(stream->device, error_of(result.fault));
}

static void run_copy(struct cts_work *work, struct CUstream_st *stream, struct cts_trace *trace)
{
    trace->start_ns = is_timed(trace) ? cts_clock_ns() : 0;
    if (trace->mark) cts_try_watcher->runs(work, trace->mark);
    if (work->kind == CTS_WORK_COPY) {
        const struct cts_geometry geometry = staged(work);
        cts_geometry_copy(&geometry);
    } else {
        cts_geometry_fill(&work->memset.geometry, work->memset.value, work->memset.element_bytes);
    }
    trace->end_ns = is_timed(trace) ? cts_clock_ns() : 0;
    if (trace->is_on) cts_record_copy_end(work, stream, trace);
    if (trace->log) cts_cpu_timeline_done(work, trace);
    if (trace->mark) cts_try_watcher->ran(work, trace);
}

static void run_host_function(const struct cts_work *work, struct CUstream_st *stream,
                              struct cts_trace *trace)
{
    trace->start_ns = trace->log ? cts_clock_ns() : 0;
    const uint64_t begin_op = trace->is_on ? cts_record_host_begin() : 0;
    cts_in_callback = true;
    if (work->kind == CTS_WORK_HOST)
        work->host.function(work->host.data);
    else
        work->callback.function(stream, cts_sticky(stream->device), work->callback.data);
    cts_in_callback = false;
    if (trace->is_on) cts_record_host_end(stream, trace, begin_op);
    if (!trace->log) return;
    trace->end_ns = cts_clock_ns();
    cts_cpu_timeline_done(work, trace);
}

/* What waited for a host function, say, longer than the unloading thread had patience. */
static void refuse_gone(const struct CUstream_st *stream)
{
    static const char text[] = "a kernel was not run: its library was unloaded while it was queued";
    cts_say("%s", text);
    cts_record_message("error", text);
    cts_set_sticky(stream->device, cudaErrorInvalidDeviceFunction);
}

void cts_work_run(struct cts_work *work, struct CUstream_st *stream, struct cts_trace *trace)
{
    const bool is_sound = cts_sticky(stream->device) == cudaSuccess;
    switch (work->kind) {
    case CTS_WORK_NOTHING:
        break;
    case CTS_WORK_LAUNCH:
        if (is_sound && cts_work_is_gone(work))
            refuse_gone(stream);
        else if (is_sound)
            run_launch(work, stream, trace);
        break;
    case CTS_WORK_COPY:
    case CTS_WORK_MEMSET:
        if (is_sound) run_copy(work, stream, trace);
        break;
    case CTS_WORK_HOST:
        if (is_sound) run_host_function(work, stream, trace);
        break;
    case CTS_WORK_CALLBACK:
        run_host_function(work, stream, trace);
        break;
    case CTS_WORK_EVENT:
        atomic_store(&work->event.mark->time_ns, cts_clock_ns());
        break;
    }
}
