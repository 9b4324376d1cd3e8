/* The recording of a run. With CTASCOPE_RUN set the first use of the runtime opens the collector;
 * from then on everything that the host asks for gets an op number in the order of the calls and a
 * row in the catalogue, and launches that the filters let through run their instrumented version.
 *
 * The filters: a launch is recorded if its kernel is selected by name, if it is not among the first
 * CTASCOPE_LAUNCH_SKIP of those nor behind the next CTASCOPE_LAUNCH_COUNT, and if recording is
 * switched on (cts_start(), cts_stop(), cudaProfilerStart(), cudaProfilerStop()). All launches have
 * rows; `recorded` says which have accesses.
 *
 * The collector lives until the process ends. A program that is killed leaves what was written so
 * far, which readers cope with. */
#include "record.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/name-filter.h"
#include "hosts.h"
#include "record-file.h"
#include "record/wrappers/thread-rows.h"
#include "trace/failures.h"
#include "trace/write/collector.h"
#include "stream.h"
#include "cpu-timeline.h"
#include "work.h"

static struct cts_collector *collector;
static struct cts_catalogue_writer *catalogue;
static _Atomic bool is_on;       /* launches are recorded */
static int (*is_in_range)(void); /* of NVTX, that was chosen; NULL: nobody watches ranges */
static uint32_t rank;
static uint64_t matched_launches;         /* under the streams' lock */
static _Atomic uint64_t pending_launches; /* asked for, and not at their end */

struct cts_collector *cts_record_collector(void)
{
    return collector;
}

uint32_t cts_record_cta_sample(void)
{
    return cts_environment_get()->cta_sample;
}

void cts_record_switch(bool on)
{
    atomic_store(&is_on, on);
}

/* ---- opening ---- */

/* Of record/wrappers/nvtx-filter.c, which is preloaded. Looked up before anything of ours can be
 * held: the dynamic linker waits for constructors, and these may wait for our start. */
static int (*nvtx_included)(void);

__attribute__((constructor)) static void find_filter(void)
{
    *(void **)(void *)&nvtx_included = dlsym(RTLD_DEFAULT, "ctascope_nvtx_included");
}

static void add_devices(void)
{
    for (int device = 0; device < cts_device_count(); device++) {
        const struct cts_device row = {.rank = rank,
                                       .device = (uint32_t)device,
                                       .name = "ctascope CPU device",
                                       .kind = "cpu",
                                       .sm_count = cts_engine_sm_count(),
                                       .compute_major = CTS_COMPUTE_MAJOR,
                                       .compute_minor = CTS_COMPUTE_MINOR,
                                       .memory_bytes = cts_device_memory_bytes()};
        cts_catalogue_add_device(catalogue, &row);
    }
}

static bool is_expression_sound(void)
{
    const char *const name = cts_environment_get()->kernel_name;
    struct cts_name_filter filter;
    struct cts_error error;
    if (!cts_name_filter_make(&filter, name, &error)) {
        cts_name_filter_release(&filter);
        return true;
    }
    (void)cts_context(&error, "CTASCOPE_KERNEL_NAME='%.200s' is not a regular expression", name);
    cts_say("%s; nothing is recorded", error.text);
    cts_failure_leave(cts_environment_get()->run_path, CTS_FAILURE_MEMORY, error.text);
    return false;
}

void cts_record_start(void)
{
    const struct cts_environment *const environment = cts_environment_get();
    if (!environment->run_path || !environment->accesses || !is_expression_sound()) return;
    const struct cts_collector_options options = {.run_path = environment->run_path,
                                                  .max_size_bytes = environment->max_size_bytes,
                                                  .values = environment->values,
                                                  .hashes = environment->hash};
    struct cts_error error;
    const enum cts_status status = cts_collector_open(&options, &collector, &error);
    if (status) {
        /* of a run that is another program's, nothing is touched */
        if (status != CTS_USAGE)
            cts_failure_leave(environment->run_path, CTS_FAILURE_MEMORY, error.text);
        cts_say("%s; nothing is recorded", error.text);
        return;
    }
    catalogue = cts_collector_catalogue(collector);
    rank = cts_catalogue_rank(catalogue);
    add_devices();
    if (environment->nvtx_include) is_in_range = nvtx_included;
    static const struct cts_thread_watcher watcher = {
        .with_locks = true, .book = cts_hosts_book, .book_all = cts_hosts_book_all};
    cts_thread_rows_start(catalogue, &watcher);
    atomic_store(&is_on, environment->profile_from_start);
    cts_record_open(catalogue);
    if (environment->host_accesses) cts_hosts_start(catalogue);
}

/* ---- closing ---- */

void cts_record_finish(bool idle)
{
    if (!cts_record_is_on()) return;
    cts_hosts_flush();
    cts_thread_rows_stop();
    cts_record_close();
    if (!idle) {
        const uint64_t pending = atomic_load(&pending_launches);
        if (pending)
            cts_say("%llu launch%s not finished when the program ended; the recording lacks %s "
                    "accesses",
                    (unsigned long long)pending, pending == 1 ? " has" : "es have",
                    pending == 1 ? "its" : "their");
        cts_catalogue_note_exit(catalogue);
        return;
    }
    cts_engine_forget_collector(collector);
    struct cts_error error;
    if (cts_collector_close(collector, &error) != CTS_OK)
        cts_say("the recording is incomplete: %s", error.text);
    collector = NULL;
    catalogue = NULL;
}

/* ---- rows ---- */

void cts_record_file(struct cts_file *file)
{
    if (cts_record_is_on())
        cts_record_file_rows(catalogue, rank, file);
    else if (cts_environment_get()->deterministic &&
             (file->loaded.desc->flags & CTS_FILE_SEPARATE_UNITS))
        (void)cts_record_file_slots(file);
}

void cts_record_settle(void)
{
    if (cts_record_is_on()) (void)cts_catalogue_flush(catalogue, NULL); /* a failure is kept */
}

static uint64_t handle_of(const struct CUstream_st *stream)
{
    switch (stream->kind) {
    case CTS_STREAM_LEGACY:
        return (uint64_t)cudaStreamLegacy;
    default:
        return (uint64_t)stream;
    }
}

static const char *stream_kind_text(enum cts_stream_kind kind)
{
    switch (kind) {
    case CTS_STREAM_LEGACY:
        return "legacy default";
    case CTS_STREAM_PER_THREAD:
        return "per-thread default";
    case CTS_STREAM_BLOCKING:
        return "blocking";
    case CTS_STREAM_NON_BLOCKING:
        break;
    }
    return "non-blocking";
}

void cts_record_stream(struct CUstream_st *stream)
{
    if (!cts_record_is_on()) return;
    stream->id = cts_catalogue_reserve(catalogue, CTS_ID_STREAM, 1);
    const struct cts_cuda_stream row = {.stream = stream->id,
                                        .rank = rank,
                                        .device = (uint32_t)stream->device,
                                        .handle = handle_of(stream),
                                        .kind = stream_kind_text(stream->kind),
                                        .priority = stream->priority,
                                        .created_op = cts_hosts_op(CTS_NONE),
                                        .destroyed_op = UINT64_MAX};
    cts_catalogue_add_stream(catalogue, &row);
}

void cts_record_stream_end(const struct CUstream_st *stream)
{
    if (!cts_record_is_on() || stream->id == CTS_NONE) return;
    cts_catalogue_destroy_stream(catalogue, stream->id, cts_hosts_op(CTS_NONE));
}

/* What the host pass said of the next allocation of this thread. */
static __thread const struct cts_allocation_desc *hint;

void __cts_allocation_hint(const struct cts_allocation_desc *allocation)
{
    hint = allocation;
}

const struct cts_allocation_desc *cts_record_take_hint(void)
{
    const struct cts_allocation_desc *const taken = hint;
    hint = NULL;
    return taken;
}

static const char *allocation_kind(const struct cts_range *range)
{
    switch (range->kind) {
    case CTS_RANGE_DEVICE:
        return "device";
    case CTS_RANGE_MANAGED:
        return "managed";
    case CTS_RANGE_PINNED:
        return range->flags & cudaHostAllocMapped ? "mapped" : "pinned";
    case CTS_RANGE_REGISTERED:
        return range->flags & cudaHostRegisterMapped ? "mapped" : "pinned";
    case CTS_RANGE_ARRAY:
        return "array";
    case CTS_RANGE_VARIABLE:
        break;
    }
    return "variable";
}

static const char *text_or_null(const char *text)
{
    return text && *text ? text : NULL;
}

void cts_record_allocation(struct cts_range *range, const char *call, uint32_t stream)
{
    const struct cts_allocation_desc *const desc = cts_record_take_hint();
    if (desc) cts_range_name((const void *)range->address, desc->variable, desc->element_bytes);
    if (!cts_record_is_on()) return;
    range->allocation = cts_catalogue_reserve(catalogue, CTS_ID_ALLOCATION, 1);
    struct cts_allocation row = {.allocation = range->allocation,
                                 .rank = rank,
                                 .op = cts_hosts_op(stream),
                                 .freed_op = UINT64_MAX,
                                 .device = (uint32_t)range->device,
                                 .address = range->address,
                                 .size_bytes = range->size_bytes,
                                 .kind = allocation_kind(range),
                                 .call = call};
    if (desc) {
        row.variable = text_or_null(desc->variable);
        row.type = text_or_null(desc->type_name);
        row.path = text_or_null(desc->path);
        row.function = text_or_null(desc->function);
        row.line = desc->line;
        row.column = desc->column;
        row.element_bytes = desc->element_bytes;
    }
    cts_catalogue_add_allocation(catalogue, &row);
}

void cts_record_free(const struct cts_range *range, uint32_t stream)
{
    if (!cts_record_is_on() || range->allocation == CTS_NONE) return;
    cts_catalogue_free_allocation(catalogue, range->allocation, cts_hosts_op(stream));
}

/* ---- graphs ---- */

static __thread struct {
    uint32_t graph, node;
    uint64_t launch_op;
} graph_step;

uint32_t cts_record_graph(void)
{
    static _Atomic uint32_t graphs;
    return cts_record_is_on() ? atomic_fetch_add(&graphs, 1) + 1 : 0;
}

void cts_record_graph_edge(uint32_t graph, uint32_t node, uint32_t after)
{
    if (!graph || !cts_record_is_on()) return;
    cts_catalogue_add_graph_edge(catalogue, &(struct cts_graph_edge){rank, graph, node, after});
}

uint64_t cts_record_graph_launch(void)
{
    return cts_record_is_on() ? cts_hosts_op(CTS_NONE) : 0;
}

void cts_record_graph_step(uint32_t graph, uint64_t launch_op, uint32_t node)
{
    graph_step.graph = graph;
    graph_step.launch_op = launch_op;
    graph_step.node = node;
}

static void add_graph_node(uint64_t op)
{
    if (!graph_step.graph) return;
    cts_catalogue_add_graph_node(catalogue,
                                 &(struct cts_graph_node){.rank = rank,
                                                          .op = op,
                                                          .graph = graph_step.graph,
                                                          .launch_op = graph_step.launch_op,
                                                          .node = graph_step.node});
}

/* ---- works ---- */

/* Whether the filters let this launch through. */
static bool is_wanted(const struct cts_cpu_kernel *kernel)
{
    const struct cts_environment *const environment = cts_environment_get();
    if (!kernel->is_selected || !atomic_load(&is_on)) return false;
    if (environment->nvtx_include && !(is_in_range && is_in_range())) return false;
    const uint64_t number = matched_launches++;
    if (number < environment->launch_skip) return false;
    return number - environment->launch_skip < environment->launch_count;
}

static const char *recorded_text(const struct cts_trace *trace)
{
    if (!trace->records_accesses) return "none";
    return cts_environment_get()->cta_sample > 1 ? "sample" : "all";
}

static struct cts_launch launch_row(const struct cts_work *work, const struct CUstream_st *stream,
                                    const struct cts_trace *trace)
{
    const struct cts_launch_work *const launch = &work->launch;
    struct cts_launch row = {.launch = trace->id,
                             .rank = rank,
                             .op = trace->op,
                             .device = (uint32_t)stream->device,
                             .stream = stream->id,
                             .ordinal = trace->ordinal,
                             .kernel = launch->kernel->id,
                             .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                             .cooperative = launch->cooperative,
                             .recorded = recorded_text(trace),
                             .call_ns = trace->call_ns};
    memcpy(row.grid, launch->grid, sizeof row.grid);
    memcpy(row.block, launch->block, sizeof row.block);
    return row;
}

/* Says once that values were asked for and cannot be had. */
static void check_values(const struct cts_file_desc *file)
{
    static atomic_bool said;
    char text[600];
    const struct cts_environment *const environment = cts_environment_get();
    if (!(environment->values || environment->hash) || (file->flags & CTS_FILE_VALUES) ||
        !file->site_count)
        return;
    if (atomic_exchange(&said, true)) return;
    snprintf(text, sizeof text,
             "values are not recorded: '%.400s' must be compiled with 'ctascope cc --values'",
             file->path);
    cts_say("%s", text);
    cts_record_message("warning", text);
}

/* The words of a launch's arguments that may be addresses: where it may store. */
static void add_pointers(const struct cts_launch_work *launch, uint32_t id)
{
    enum { LEAST = 1 << 16, WORD = sizeof(uint64_t) };
    const uint64_t most = UINT64_C(1) << 48;
    const struct cts_kernel_desc *const desc = launch->kernel->desc;
    for (uint32_t i = 0; i < desc->parameter_count; i++) {
        const char *const bytes = launch->args[i];
        for (uint32_t at = 0; at + WORD <= desc->parameters[i].size_bytes; at += WORD) {
            struct cts_launch_pointer row = {.launch = id};
            memcpy(&row.address, bytes + at, WORD);
            if (row.address >= LEAST && row.address < most)
                cts_catalogue_add_launch_pointer(catalogue, &row);
        }
    }
}

static bool may_hide_stores(const struct cts_cpu_kernel *kernel, const struct cts_trace *trace)
{
    return !trace->records_accesses || cts_environment_get()->cta_sample > 1 ||
           kernel->file->loaded.desc->skipped_count;
}

static void call_launch(const struct cts_work *work, struct CUstream_st *stream,
                        struct cts_trace *trace)
{
    struct cts_cpu_kernel *const kernel = work->launch.kernel;
    trace->id = cts_catalogue_reserve(catalogue, CTS_ID_LAUNCH, 1);
    trace->ordinal = stream->launch_count++;
    const bool is_instrumented = !(kernel->desc->flags & CTS_KERNEL_UNINSTRUMENTED);
    trace->records_accesses = !cts_catalogue_failure(catalogue, NULL) && is_wanted(kernel) &&
                              is_instrumented && kernel->file->recorded &&
                              cts_record_file_slots(kernel->file);
    if (trace->records_accesses) check_values(kernel->file->loaded.desc);
    const struct cts_launch row = launch_row(work, stream, trace);
    atomic_fetch_add(&pending_launches, 1);
    cts_catalogue_add_launch(catalogue, &row);
    if (may_hide_stores(kernel, trace)) add_pointers(&work->launch, trace->id);
}

void cts_record_call(const struct cts_work *work, struct CUstream_st *stream,
                     struct cts_trace *trace)
{
    *trace = (struct cts_trace){0};
    /* Deterministic launches run the instrumented version, recorded or not. */
    if (cts_environment_get()->deterministic && work->kind == CTS_WORK_LAUNCH)
        (void)cts_record_file_slots(work->launch.kernel->file);
    if (!cts_record_is_on()) return;
    switch (work->kind) {
    case CTS_WORK_LAUNCH:
    case CTS_WORK_COPY:
    case CTS_WORK_MEMSET:
    case CTS_WORK_HOST:
    case CTS_WORK_CALLBACK:
        break;
    case CTS_WORK_EVENT: {
        const struct cts_sync_trace now = cts_record_sync_begin();
        cts_record_sync_end(&now, CTS_SYNC_EVENT_RECORD, stream, work->event.handle, cudaSuccess);
        return;
    }
    default:
        return;
    }
    trace->is_on = true;
    trace->call_ns = cts_clock_ns();
    trace->op = cts_hosts_op(CTS_NONE);
    add_graph_node(trace->op);
    if (work->kind == CTS_WORK_LAUNCH)
        call_launch(work, stream, trace);
    else if (work->kind == CTS_WORK_COPY || work->kind == CTS_WORK_MEMSET)
        trace->id = cts_catalogue_reserve(catalogue, CTS_ID_COPY, 1);
}

void cts_record_launch_end(const struct cts_work *work, const struct CUstream_st *stream,
                           const struct cts_trace *trace, const struct cts_launch_result *result)
{
    if (!cts_record_is_on()) return;
    struct cts_launch row = launch_row(work, stream, trace);
    row.start_ns = trace->start_ns;
    row.end_ns = trace->end_ns;
    row.records = result->records;
    row.accesses = result->accesses;
    row.dropped_accesses = result->dropped_accesses;
    if (result->is_unrecorded) row.recorded = "none";
    cts_catalogue_add_launch(catalogue, &row);
    if (result->hash.accesses)
        cts_catalogue_add_fingerprint(catalogue,
                                      &(struct cts_fingerprint){.launch = trace->id,
                                                                .hash = result->hash.sum,
                                                                .accesses = result->hash.accesses});
    atomic_fetch_sub(&pending_launches, 1);
}

void cts_record_fault(const struct cts_trace *trace, const struct cts_launch_result *result,
                      uint32_t allocation)
{
    if (!trace->is_on || !cts_record_is_on()) return;
    struct cts_launch_fault row = {.rank = rank,
                                   .launch = trace->id,
                                   .kind = cts_fault_kind_text(result->fault),
                                   .thread = {CTS_NONE, CTS_NONE, CTS_NONE},
                                   .address = result->fault_address,
                                   .path = text_or_null(result->fault_path),
                                   .line = result->fault_line,
                                   .allocation = allocation,
                                   .text = result->text};
    memcpy(row.cta, result->fault_cta, sizeof row.cta);
    if (result->fault_has_thread) memcpy(row.thread, result->fault_thread, sizeof row.thread);
    cts_catalogue_add_fault(catalogue, &row);
}

void cts_record_copy_end(const struct cts_work *work, const struct CUstream_st *stream,
                         const struct cts_trace *trace)
{
    if (!cts_record_is_on()) return;
    const bool is_copy = work->kind == CTS_WORK_COPY;
    const struct cts_geometry *const geometry =
        is_copy ? &work->copy.geometry : &work->memset.geometry;
    const struct cts_copy row = {.copy = trace->id,
                                 .rank = rank,
                                 .op = trace->op,
                                 .device = (uint32_t)stream->device,
                                 .stream = stream->id,
                                 .kind = is_copy ? work->copy.kind : "memset",
                                 .destination = geometry->destination,
                                 .source = is_copy ? geometry->source : 0,
                                 .width_bytes = geometry->width_bytes,
                                 .height = geometry->height,
                                 .depth = geometry->depth,
                                 .destination_pitch = geometry->destination_pitch,
                                 .source_pitch = is_copy ? geometry->source_pitch : 0,
                                 .destination_slice = geometry->destination_slice,
                                 .source_slice = is_copy ? geometry->source_slice : 0,
                                 .asynchronous = is_copy ? work->copy.asynchronous : true,
                                 .call_ns = trace->call_ns,
                                 .start_ns = trace->start_ns,
                                 .end_ns = trace->end_ns};
    cts_catalogue_add_copy(catalogue, &row);
}

uint64_t cts_record_host_begin(void)
{
    return cts_record_is_on() ? cts_hosts_op(CTS_NONE) : 0;
}

void cts_record_host_end(const struct CUstream_st *stream, const struct cts_trace *trace,
                         uint64_t begin_op)
{
    if (!cts_record_is_on() || !begin_op) return;
    const struct cts_host_function row = {.rank = rank,
                                          .op = trace->op,
                                          .stream = stream->id,
                                          .thread = cts_record_thread(),
                                          .begin_op = begin_op,
                                          .end_op = cts_hosts_op(CTS_NONE)};
    cts_catalogue_add_host_function(catalogue, &row);
}

/* ---- synchronisations ---- */

struct cts_sync_trace cts_record_sync_begin(void)
{
    if (!cts_record_is_on()) return (struct cts_sync_trace){0};
    return (struct cts_sync_trace){true, cts_hosts_op(CTS_NONE), cts_clock_ns()};
}

static const char *const sync_texts[] = {
    [CTS_SYNC_DEVICE] = "device sync",        [CTS_SYNC_STREAM] = "stream sync",
    [CTS_SYNC_STREAM_QUERY] = "stream query", [CTS_SYNC_STREAM_WAIT] = "stream wait",
    [CTS_SYNC_EVENT] = "event sync",          [CTS_SYNC_EVENT_QUERY] = "event query",
    [CTS_SYNC_EVENT_RECORD] = "event record",
};

void cts_record_sync_end(const struct cts_sync_trace *trace, enum cts_sync_kind kind,
                         const struct CUstream_st *stream, uint64_t event, cudaError_t result)
{
    cts_cpu_timeline_synchronised(kind, stream, event, result);
    if (!trace->is_on || !cts_record_is_on()) return;
    const struct cts_sync row = {.rank = rank,
                                 .op = trace->op,
                                 .kind = sync_texts[kind],
                                 .stream = stream ? stream->id : CTS_NONE,
                                 .event = event,
                                 .result = (int32_t)result,
                                 .start_ns = trace->start_ns,
                                 .end_ns = cts_clock_ns()};
    cts_catalogue_add_sync(catalogue, &row);
}
