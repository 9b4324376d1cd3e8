/* A trace folder becomes a run: kernels, sites, allocations and launches from what folder-read.c
 * has read and checked.
 *
 * A folder knows allocations (each trace lists those of its moment), places, types and values, but
 * neither copies nor streams. Addresses in shared memory are generic ones there; here they are
 * offsets from the lowest, down to where a row of banks begins. */
#include "import/importer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/map.h"
#include "common/text-table.h"
#include "import/folder-order.h"
#include "import/folder-read.h"
#include "trace/write/collector.h"

enum { BANK_ROW_BYTES = 128 };

struct kernel {
    char *name;
    const struct cts_folder_metadata *metadata; /* NULL: none */
    uint32_t id, source;
    uint32_t shared_bytes;
};

struct living {
    uint64_t address, size_bytes;
    uint32_t id;
    bool seen;
};

struct importing {
    const struct cts_import_options *options;
    struct cts_import_result *result;
    struct cts_error *error;
    struct cts_folder_files in;
    struct {
        struct kernel *items;
        size_t count, capacity;
    } kernels;
    struct {
        struct source {
            const char *path; /* the metadata's */
            uint32_t id;
        } *items;
        size_t count, capacity;
    } sources;
    struct {
        struct living *items;
        size_t count, capacity;
    } living;
    struct cts_map sites; /* ids + 1 */
    uint64_t without_metadata, wide_values;
    struct cts_collector *collector;
    struct cts_catalogue_writer *writer;
    struct cts_stream *stream;
    uint32_t rank, module, cuda_stream, ordinal;
    uint64_t base_ns; /* of the first launch's start */
    /* the trace at hand */
    const struct cts_folder_trace *trace;
    struct kernel *kernel;
    uint32_t launch;
    uint64_t shared_base;
    uint32_t open_cta;
    bool is_open;
};

/* ---- kernels, sites, allocations ---- */

static enum cts_status source_of(struct importing *import, const char *path, const char *text,
                                 uint32_t *id)
{
    *id = CTS_NONE;
    if (!path || !*path) return CTS_OK;
    for (size_t i = 0; i < import->sources.count; i++)
        if (!strcmp(import->sources.items[i].path, path)) {
            *id = import->sources.items[i].id;
            return CTS_OK;
        }
    if (CTS_ARRAY_RESERVE(&import->sources, import->sources.count + 1, import->error))
        return CTS_MEMORY;
    *id = cts_catalogue_reserve(import->writer, CTS_ID_SOURCE, 1);
    cts_catalogue_add_source(
        import->writer,
        &(struct cts_source){.source = *id, .module = import->module, .path = path, .text = text});
    import->sources.items[import->sources.count++] = (struct source){path, *id};
    return CTS_OK;
}

static enum cts_status kernel_of(struct importing *import, const char *name, struct kernel **kernel)
{
    for (size_t i = 0; i < import->kernels.count; i++) {
        *kernel = &import->kernels.items[i];
        if (!strcmp((*kernel)->name, name)) return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(&import->kernels, import->kernels.count + 1, import->error))
        return CTS_MEMORY;
    *kernel = &import->kernels.items[import->kernels.count];
    **kernel = (struct kernel){.name = strdup(name), .source = CTS_NONE};
    if (!(*kernel)->name) return cts_fail(import->error, CTS_MEMORY, "no memory for a name");
    import->kernels.count++;
    for (size_t i = 0; i < import->in.metadata.count; i++)
        if (!strcmp(import->in.metadata.items[i].kernel, name))
            (*kernel)->metadata = &import->in.metadata.items[i];
    const struct cts_folder_metadata *const metadata = (*kernel)->metadata;
    (*kernel)->id = cts_catalogue_reserve(import->writer, CTS_ID_KERNEL, 1);
    if (!metadata) {
        import->without_metadata++;
        return CTS_OK;
    }
    return source_of(import, metadata->source_path, metadata->source_text, &(*kernel)->source);
}

static const char *indexed_text(const struct cts_folder_texts *texts, int32_t index)
{
    return index >= 0 && (size_t)index < texts->count ? texts->items[index] : NULL;
}

static uint8_t operation_of(const struct cts_folder_request *request)
{
    if (request->operation) return request->operation;
    return request->kind == CTS_FOLDER_STORE ? CTS_STORE : CTS_LOAD;
}

static enum cts_space space_of(const struct cts_folder_request *request)
{
    static const enum cts_space spaces[] = {
        [CTS_FOLDER_GLOBAL] = CTS_SPACE_GLOBAL,
        [CTS_FOLDER_SHARED] = CTS_SPACE_SHARED,
        [CTS_FOLDER_CONSTANT] = CTS_SPACE_CONSTANT,
        [CTS_FOLDER_LOCAL] = CTS_SPACE_LOCAL,
    };
    return spaces[request->space];
}

/* One per kernel, place, type, width, operation and space. */
static enum cts_status site_of(struct importing *import, const struct cts_folder_request *request,
                               uint32_t *id)
{
    const uint64_t kernel = (uint64_t)(import->kernel - import->kernels.items);
    const uint32_t place = (uint32_t)(request->place + 1);
    const uint32_t type = (uint32_t)(request->type_index + 1);
    if (kernel >> 12 || place >> 20 || type >> 16)
        return cts_fail(import->error, CTS_LIMIT,
                        "'%s': kernel %llu, place %d, type %d: more than a run can hold",
                        import->in.path, (unsigned long long)kernel, request->place,
                        request->type_index);
    const uint64_t key = kernel << 52 | (uint64_t)place << 32 | (uint64_t)type << 16 |
                         (uint64_t)request->width_bytes << 8 |
                         (uint64_t)operation_of(request) << 4 | request->space;
    uint64_t *const known = cts_map_at(&import->sites, key, import->error);
    if (!known) return CTS_MEMORY;
    if (*known) {
        *id = (uint32_t)(*known - 1);
        return CTS_OK;
    }
    const struct cts_folder_metadata *const metadata = import->kernel->metadata;
    const struct cts_folder_place *const at =
        metadata && request->place >= 0 && (size_t)request->place < metadata->places.count
            ? &metadata->places.items[request->place]
            : NULL;
    struct cts_site row = {.module = import->module,
                           .function = import->kernel->name,
                           .operation = operation_of(request),
                           .space = (uint8_t)space_of(request),
                           .width_bytes = request->width_bytes,
                           .source = CTS_NONE};
    if (metadata) row.type = indexed_text(&metadata->types, request->type_index);
    if (at) {
        const enum cts_status status = source_of(import, at->file, NULL, &row.source);
        if (status) return status;
        row.line = at->line;
        row.variable = at->variable;
    }
    *id = row.site = cts_catalogue_reserve(import->writer, CTS_ID_SITE, 1);
    *known = (uint64_t)*id + 1;
    cts_catalogue_add_site(import->writer, &row);
    return CTS_OK;
}

/* "path:line" */
static void place_allocation(const char *location, char **path, struct cts_allocation *row)
{
    *path = location && *location ? strdup(location) : NULL;
    if (!*path) return;
    char *const colon = strrchr(*path, ':');
    if (colon && colon[1] >= '0' && colon[1] <= '9') {
        row->line = (uint32_t)strtoul(colon + 1, NULL, 10);
        *colon = '\0';
    }
    row->path = *path;
}

static enum cts_status add_allocation(struct importing *import,
                                      const struct cts_folder_allocation *a)
{
    const struct cts_folder_metadata *const metadata = import->kernel->metadata;
    if (CTS_ARRAY_RESERVE(&import->living, import->living.count + 1, import->error))
        return CTS_MEMORY;
    struct cts_allocation row = {
        .allocation = cts_catalogue_reserve(import->writer, CTS_ID_ALLOCATION, 1),
        .rank = import->rank,
        .op = cts_catalogue_next_op(import->writer),
        .freed_op = UINT64_MAX,
        .address = a->address,
        .size_bytes = a->size_bytes,
        .kind = "device",
        .variable = a->name,
        .type = a->type,
        .element_bytes = a->element_bytes,
    };
    if (!row.variable && metadata) row.variable = indexed_text(&metadata->names, a->name_index);
    if (!row.type && metadata) row.type = indexed_text(&metadata->types, a->type_index);
    char *path;
    place_allocation(a->location, &path, &row);
    cts_catalogue_add_allocation(import->writer, &row);
    free(path);
    import->living.items[import->living.count++] =
        (struct living){a->address, a->size_bytes, row.allocation, true};
    return CTS_OK;
}

static void add_shared_variable(struct importing *import, const struct cts_folder_allocation *a)
{
    const struct cts_folder_metadata *const metadata = import->kernel->metadata;
    const uint64_t offset = a->address - import->shared_base;
    struct cts_variable row = {
        .variable = cts_catalogue_reserve(import->writer, CTS_ID_VARIABLE, 1),
        .module = import->module,
        .name = a->name,
        .type = a->type,
        .kind = "shared",
        .address = offset,
        .size_bytes = a->size_bytes,
        .function = import->kernel->name,
        .source = CTS_NONE,
    };
    if (!row.name && metadata) row.name = indexed_text(&metadata->names, a->name_index);
    if (!row.type && metadata) row.type = indexed_text(&metadata->types, a->type_index);
    cts_catalogue_add_variable(import->writer, &row);
}

/* What lived before and is not listed as active any more has been freed. */
static enum cts_status update_allocations(struct importing *import, bool is_first_launch)
{
    const struct cts_folder_trace *const trace = import->trace;
    for (size_t i = 0; i < import->living.count; i++) import->living.items[i].seen = false;
    const size_t known = import->living.count;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < trace->allocations.count && !status; i++) {
        const struct cts_folder_allocation *const a = &trace->allocations.items[i];
        bool found = false;
        if (a->space == CTS_FOLDER_SHARED) {
            const uint64_t end = a->address - import->shared_base + a->size_bytes;
            if (end > import->kernel->shared_bytes && end <= UINT32_MAX)
                import->kernel->shared_bytes = (uint32_t)end;
            if (is_first_launch) add_shared_variable(import, a);
            continue;
        }
        if (!a->active || a->space != CTS_FOLDER_GLOBAL) continue;
        for (size_t k = 0; k < known && !found; k++) {
            struct living *const living = &import->living.items[k];
            found = living->address == a->address && living->size_bytes == a->size_bytes;
            living->seen |= found;
        }
        if (!found) status = add_allocation(import, a);
    }
    for (size_t i = import->living.count; i-- > 0 && !status;) {
        if (import->living.items[i].seen) continue;
        cts_catalogue_free_allocation(import->writer, import->living.items[i].id,
                                      cts_catalogue_next_op(import->writer));
        import->living.items[i] = import->living.items[--import->living.count];
    }
    return status;
}

/* ---- a launch ---- */

static uint64_t least_shared_address(const struct cts_folder_trace *trace)
{
    uint64_t least = UINT64_MAX;
    if (trace->has_shared_base) return trace->shared_base;
    for (size_t i = 0; i < trace->allocations.count; i++)
        if (trace->allocations.items[i].space == CTS_FOLDER_SHARED &&
            trace->allocations.items[i].address < least)
            least = trace->allocations.items[i].address;
    for (size_t i = 0; i < trace->requests.count; i++) {
        const struct cts_folder_request *const request = &trace->requests.items[i];
        if (request->space != CTS_FOLDER_SHARED) continue;
        for (size_t k = 0; k < request->lane_count; k++)
            if (trace->lanes.items[request->first_lane + k].address < least)
                least = trace->lanes.items[request->first_lane + k].address;
    }
    return least == UINT64_MAX ? 0 : least / BANK_ROW_BYTES * BANK_ROW_BYTES;
}

static uint32_t value_words_of(const struct cts_folder_request *request)
{
    const uint32_t words = (request->width_bytes + 7) / 8;
    return words < CTS_FOLDER_WORDS_MAX ? words : CTS_FOLDER_WORDS_MAX;
}

/* The words of a lane's value, without what lies above its width. */
static void copy_value(const struct importing *import, const struct cts_folder_request *request,
                       uint64_t value, uint64_t *to)
{
    const uint32_t words = value_words_of(request);
    const uint32_t rest_bytes = request->width_bytes % 8;
    if (words == 1)
        *to = value;
    else
        memcpy(to, import->trace->words.items + value, words * sizeof *to);
    if (rest_bytes && request->width_bytes < words * 8)
        to[words - 1] &= ((uint64_t)1 << 8 * rest_bytes) - 1;
}

static enum cts_status take_record(void *state, const struct cts_folder_record *record,
                                   struct cts_error *error)
{
    struct importing *const import = state;
    const struct cts_folder_request *const request = record->request;
    uint32_t site = CTS_NONE;
    const enum cts_status status = site_of(import, request, &site);
    (void)error;
    if (status) return status;
    if (import->is_open && record->cta != import->open_cta) {
        cts_stream_end_cta(import->stream);
        import->is_open = false;
    }
    if (!import->is_open) cts_stream_begin_cta(import->stream, import->launch, record->cta);
    import->is_open = true;
    import->open_cta = record->cta;
    uint64_t addresses[32], values[32 * CTS_FOLDER_WORDS_MAX];
    uint32_t lane_count = 0;
    const uint32_t words = value_words_of(request);
    const bool keep = record->value_words && record->value_words == words;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(record->mask >> lane & 1)) continue;
        addresses[lane] = record->addresses[lane];
        if (request->space == CTS_FOLDER_SHARED) addresses[lane] -= import->shared_base;
        if (keep) copy_value(import, request, record->values[lane], values + lane_count * words);
        lane_count++;
    }
    import->wide_values += record->value_words && !keep;
    cts_stream_add(import->stream, &(struct cts_stream_row){.site = site,
                                                            .space = space_of(request),
                                                            .warp = record->warp,
                                                            .mask = record->mask,
                                                            .addresses = addresses,
                                                            .value_words = keep ? words : 0,
                                                            .values = keep ? values : NULL});
    return CTS_OK;
}

static uint64_t time_of(const struct importing *import, double ms)
{
    const double distance_ns = (ms - import->in.traces.items[0].start_ms) * 1e6;
    return import->base_ns + (distance_ns > 0 && distance_ns < 1e18 ? (uint64_t)distance_ns : 0);
}

static enum cts_status write_launch(struct importing *import)
{
    const struct cts_folder_trace *const trace = import->trace;
    const size_t known = import->kernels.count;
    enum cts_status status = kernel_of(import, trace->kernel, &import->kernel);
    import->shared_base = least_shared_address(trace);
    if (!status) status = update_allocations(import, import->kernels.count > known);
    if (status) return status;
    import->launch = cts_catalogue_reserve(import->writer, CTS_ID_LAUNCH, 1);
    struct cts_launch row = {
        .launch = import->launch,
        .rank = import->rank,
        .op = cts_catalogue_next_op(import->writer),
        .stream = import->cuda_stream,
        .ordinal = import->ordinal++,
        .kernel = import->kernel->id,
        .recorded = "all",
        .call_ns = time_of(import, trace->start_ms),
        .start_ns = time_of(import, trace->start_ms),
        .end_ns = time_of(import, trace->end_ms),
    };
    if (row.end_ns <= row.start_ns) row.end_ns = row.start_ns + 1;
    memcpy(row.grid, trace->grid, sizeof row.grid);
    memcpy(row.block, trace->block, sizeof row.block);
    status = cts_folder_in_order(&(struct cts_folder_order){
        .trace = trace, .take = take_record, .state = import, .error = import->error});
    if (import->is_open) cts_stream_end_cta(import->stream);
    import->is_open = false;
    cts_stream_flush(import->stream);
    const struct cts_stream_counts counts = cts_stream_take_counts(import->stream);
    row.records = counts.records;
    row.accesses = counts.accesses;
    row.dropped_accesses = counts.dropped_accesses;
    cts_catalogue_add_launch(import->writer, &row);
    import->result->launches++;
    import->result->records += counts.records;
    import->result->accesses += counts.accesses;
    import->result->dropped_accesses += counts.dropped_accesses;
    return status;
}

static enum cts_status write_launches(struct importing *import)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < import->in.traces.count && !status; i++) {
        struct cts_folder_file *const file = &import->in.traces.items[i];
        if (!file->is_kept) status = cts_folder_read_trace(file->path, &file->trace, import->error);
        import->trace = &file->trace;
        if (!status) status = write_launch(import);
        cts_folder_trace_release(&file->trace);
    }
    return status;
}

static void write_kernels(struct importing *import)
{
    for (size_t i = 0; i < import->kernels.count; i++) {
        const struct kernel *const kernel = &import->kernels.items[i];
        cts_catalogue_add_kernel(
            import->writer,
            &(struct cts_kernel){.kernel = kernel->id,
                                 .module = import->module,
                                 .name = kernel->name,
                                 .mangled = kernel->name,
                                 .source = kernel->source,
                                 .line = kernel->metadata ? kernel->metadata->source_line : 0,
                                 .static_shared_bytes = kernel->shared_bytes,
                                 .instrumented = true});
    }
    import->result->kernels = import->kernels.count;
}

/* ---- the run ---- */

static enum cts_status write_notes(struct importing *import)
{
    const struct cts_import_notes notes = {import->result, import->writer};
    enum cts_status status = cts_import_note(&notes, "note", import->error,
                                             "imported trace: copies and streams are unknown; the "
                                             "host may have written data that no kernel wrote");
    if (!status && import->without_metadata)
        status =
            cts_import_note(&notes, "note", import->error,
                            "%s without metadata (KERNEL.metadata.json): source lines, types and "
                            "source text are missing",
                            cts_counted_text(import->without_metadata, "kernel", "kernels").text);
    if (!status && import->wide_values)
        status = cts_import_note(&notes, "note", import->error,
                                 "values of %s wider than 8 bytes are left out",
                                 cts_counted_text(import->wide_values, "request", "requests").text);
    return status;
}

static enum cts_status open_run(struct importing *import)
{
    enum cts_status status =
        cts_import_open_run(import->options, true, &import->collector, import->error);
    if (!status) status = cts_collector_stream(import->collector, &import->stream, import->error);
    return status;
}

static enum cts_status write_run(struct importing *import)
{
    struct cts_catalogue_writer *const writer = cts_collector_catalogue(import->collector);
    import->writer = writer;
    import->rank = cts_catalogue_rank(writer);
    import->base_ns = cts_clock_ns();
    cts_catalogue_set(writer, "imported", "cuda-profile");
    cts_catalogue_set(writer, "host_activity", "unknown");
    cts_catalogue_add_device(
        writer,
        &(struct cts_device){.rank = import->rank, .name = "of an imported trace", .kind = "gpu"});
    import->module = cts_catalogue_reserve(writer, CTS_ID_MODULE, 1);
    cts_catalogue_add_module(writer, &(struct cts_module){.module = import->module,
                                                          .rank = import->rank,
                                                          .name = import->in.path});
    import->cuda_stream = cts_catalogue_reserve(writer, CTS_ID_STREAM, 1);
    cts_catalogue_add_stream(writer, &(struct cts_cuda_stream){.stream = import->cuda_stream,
                                                               .rank = import->rank,
                                                               .kind = "legacy default",
                                                               .destroyed_op = UINT64_MAX});
    enum cts_status status = write_launches(import);
    write_kernels(import);
    if (!status) status = write_notes(import);
    return status;
}

static void release(struct importing *import)
{
    for (size_t i = 0; i < import->kernels.count; i++) free(import->kernels.items[i].name);
    cts_folder_files_release(&import->in);
    cts_map_release(&import->sites);
    free(import->kernels.items);
    free(import->sources.items);
    free(import->living.items);
}

static enum cts_status import_folder(const struct cts_import_options *options,
                                     struct cts_import_result *result, struct cts_error *error)
{
    struct importing import = {.options = options, .result = result, .error = error};
    enum cts_status status =
        options->grid
            ? cts_fail(error, CTS_USAGE,
                       "--grid does not apply to a trace folder, which contains its grids")
            : cts_folder_read_all(options, &import.in, error);
    if (!status) status = open_run(&import);
    if (!status) status = write_run(&import);
    status = cts_import_close_run(import.collector, status, error);
    release(&import);
    return status;
}

/* JSON, or something packed. Protobuf alone is not recognised, its folder is. */
static bool recognises(const uint8_t *bytes, size_t byte_count)
{
    size_t at = 0;
    while (at < byte_count && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\t')) at++;
    return (at < byte_count && bytes[at] == '{') ||
           (byte_count > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b);
}

const struct cts_importer cts_importer_folder = {
    .name = "trace folders of cuda-profile (run.json, *.metadata.json, *.trace.*)",
    .recognises = recognises,
    .takes_folders = true,
    .import = import_folder,
};
