/* Traces become a run: maps the files, scans them, gives the launches their grids, writes the
 * catalogue, and lets workers pack the accesses.
 *
 * The catalogue holds what a trace knows, and says of the rest that it is not known: no copies, no
 * allocations, no times, no blocks (1 x 1 x 1 stands there), no order between files. */
#include "import/importer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/parallel.h"
#include "common/read-file.h"
#include "common/text-table.h"
#include "import/grid.h"
#include "import/trc-pack.h"

enum { FILES_MAX = 4096, DEFAULT_MEMORY_MIB = 512, WORKERS_MAX = 64 };

struct importing {
    const struct cts_import_options *options;
    struct cts_import_result *result;
    struct cts_error *error;
    struct cts_trc_scan scan;
    struct cts_trc_output *outputs; /* per launch */
    struct cts_grids grids;
    struct cts_collector *collector;
    struct cts_trc_packing packing;
    struct worker {
        struct cts_stream *stream;
        enum cts_status status;
        struct cts_error error;
    } workers[WORKERS_MAX];
};

/* ---- files ---- */

static enum cts_status map_file(struct cts_trc_file *file, struct cts_error *error)
{
    struct stat facts;
    const int fd = cts_open_regular_file(file->path, error);
    if (fd < 0) return error->status;
    enum cts_status status = CTS_OK;
    if (fstat(fd, &facts)) status = cts_fail_errno(error, errno, "cannot read '%s'", file->path);
    if (!status && facts.st_size > 0) {
        void *const bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED)
            status = cts_fail_errno(error, errno, "cannot map '%s'", file->path);
        else
            file->bytes = bytes;
        file->byte_count = status ? 0 : (size_t)facts.st_size;
    }
    if (!status) (void)!posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    close(fd);
    return status;
}

static enum cts_status map_files(struct importing *import)
{
    const struct cts_import_options *const options = import->options;
    struct cts_trc_scan *const scan = &import->scan;
    if (options->path_count > FILES_MAX)
        return cts_fail(import->error, CTS_LIMIT, "%zu files: a run can have at most %d",
                        options->path_count, FILES_MAX);
    scan->files = cts_array_zeroed(options->path_count, sizeof *scan->files, import->error);
    if (!scan->files) return CTS_MEMORY;
    scan->file_count = options->path_count;
    uint64_t byte_count = 0;
    for (size_t i = 0; i < scan->file_count; i++) {
        scan->files[i].path = options->paths[i];
        const enum cts_status status = map_file(&scan->files[i], import->error);
        if (status) return status;
        byte_count += scan->files[i].byte_count;
    }
    if (options->progress) options->progress->total = 2 * byte_count;
    return CTS_OK;
}

static void unmap_files(struct cts_trc_scan *scan)
{
    for (size_t i = 0; scan->files && i < scan->file_count; i++)
        if (scan->files[i].bytes)
            munmap((void *)(uintptr_t)scan->files[i].bytes, scan->files[i].byte_count);
    free(scan->files);
}

/* ---- grids ---- */

/* A grid that was given, or the least that holds every CTA id. */
static enum cts_status choose_grid(struct importing *import, size_t index)
{
    const struct cts_trc_launch *const launch = &import->scan.launches.items[index];
    const char *const kernel = import->scan.kernels.items[launch->kernel].name;
    const char *const path = import->scan.files[launch->file].path;
    const struct cts_grid_rule *const rule = cts_grids_find(&import->grids, kernel);
    uint64_t count = 1;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t extent = rule ? rule->extents[i] : launch->extents[i];
        if (extent < launch->extents[i])
            return cts_fail(
                import->error, CTS_USAGE,
                "'%s': launch %zu of '%s' has CTA %c = %llu, which is outside the given grid", path,
                index, kernel, "xyz"[i], (unsigned long long)launch -> extents[i] - 1);
        if (__builtin_mul_overflow(count, extent, &count) || count > UINT32_MAX)
            return cts_fail(import->error, CTS_LIMIT,
                            "'%s': launch %zu of '%s' has CTA ids up to (%llu, %llu, %llu): a "
                            "grid of 2^32 CTAs or more",
                            path, index, kernel, (unsigned long long)launch->extents[0] - 1,
                            (unsigned long long)launch->extents[1] - 1,
                            (unsigned long long)launch->extents[2] - 1);
        import->outputs[index].grid[i] = (uint32_t)extent;
    }
    return CTS_OK;
}

static enum cts_status choose_grids(struct importing *import)
{
    const size_t count = import->scan.launches.count;
    import->outputs = cts_array_zeroed(count, sizeof *import->outputs, import->error);
    if (!import->outputs) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const enum cts_status status = choose_grid(import, i);
        if (status) return status;
    }
    return cts_grids_check_used(&import->grids, import->error);
}

/* ---- notes ---- */

/* Adds a note: NOTE(import, "warning", "..."). */
#define NOTE(import, severity, ...)                                                                \
    cts_import_note(&(struct cts_import_notes){(import)->result,                                   \
                                               cts_collector_catalogue((import)->collector)},      \
                    severity, (import)->error, __VA_ARGS__)

static enum cts_status note_problems(struct importing *import)
{
    static const char *const texts[][2] = {
#define X(name, one, many) [CTS_TRC_PROBLEM_##name] = {one, many},
        CTS_TRC_PROBLEM_MAP(X)
#undef X
    };
    for (size_t i = 0; i < import->scan.file_count; i++) {
        const struct cts_trc_file *const file = &import->scan.files[i];
        for (unsigned k = 0; k < CTS_TRC_PROBLEM_COUNT; k++) {
            const uint64_t count = file->problems[k].count;
            const unsigned long long at = file->problems[k].first_offset;
            enum cts_status status = CTS_OK;
            if (k == CTS_TRC_PROBLEM_CUT && count)
                status =
                    NOTE(import, "warning", "'%s': byte %llu: %s", file->path, at, texts[k][0]);
            else if (count)
                status = NOTE(import, "warning", "'%s': %s %s; the first at byte %llu", file->path,
                              cts_count_text(count).text, texts[k][count != 1], at);
            if (status) return status;
        }
    }
    return CTS_OK;
}

static enum cts_status note_gaps(struct importing *import)
{
    enum cts_status status = NOTE(import, "note",
                                  "imported trace: copies, allocations, times and block sizes are "
                                  "unknown; the host may have written data that no kernel wrote");
    if (!status && import->scan.file_count > 1)
        status = NOTE(import, "note",
                      "each file is a stream; the order between files is unknown and assumed to be "
                      "that of the command line");
    const size_t inferred = import->grids.inferred_launches;
    if (!status && inferred)
        status = NOTE(import, "note",
                      "the grids of %zu of %zu launches are inferred from the largest CTA id; use "
                      "--grid if the grids were larger",
                      inferred, import->scan.launches.count);
    return status ? status : note_problems(import);
}

/* ---- the catalogue ---- */

static const char *format_name(enum cts_trc_format format)
{
    return format == CTS_TRC_2 ? "trc 2" : format == CTS_TRC_3 ? "trc 3" : "trc 2017";
}

static void write_keys(struct importing *import)
{
    struct cts_catalogue_writer *const writer = cts_collector_catalogue(import->collector);
    const struct cts_trc_scan *const scan = &import->scan;
    const size_t inferred = import->grids.inferred_launches;
    const char *format = format_name(scan->files[0].format);
    for (size_t i = 1; i < scan->file_count; i++)
        if (strcmp(format, format_name(scan->files[i].format)) != 0) format = "several";
    cts_catalogue_set(writer, "imported", format);
    cts_catalogue_set(writer, "lanes", "packed");
    cts_catalogue_set(writer, "blocks", "unknown");
    cts_catalogue_set(writer, "host_activity", "unknown");
    cts_catalogue_set(writer, "grids",
                      inferred == 0                      ? "given"
                      : inferred == scan->launches.count ? "inferred"
                                                         : "partly inferred");
    cts_catalogue_set(writer, "stream_order", scan->file_count > 1 ? "unknown" : "known");
}

static void write_device(struct importing *import, uint32_t rank)
{
    const struct cts_trc_scan *const scan = &import->scan;
    uint64_t sm_count = 0;
    for (size_t i = 0; i < scan->launches.count; i++)
        if (scan->launches.items[i].sm_count > sm_count)
            sm_count = scan->launches.items[i].sm_count;
    cts_catalogue_add_device(
        cts_collector_catalogue(import->collector),
        &(struct cts_device){.rank = rank,
                             .name = "of an imported trace",
                             .kind = "gpu",
                             .sm_count = sm_count < UINT32_MAX ? (uint32_t)sm_count : UINT32_MAX});
}

/* Kernels and sites; returns the id of the first kernel. */
static uint32_t write_code(struct importing *import, uint32_t rank)
{
    struct cts_catalogue_writer *const writer = cts_collector_catalogue(import->collector);
    const struct cts_trc_scan *const scan = &import->scan;
    const uint32_t module = cts_catalogue_reserve(writer, CTS_ID_MODULE, 1);
    cts_catalogue_add_module(
        writer, &(struct cts_module){.module = module, .rank = rank, .name = scan->files[0].path});
    const uint32_t kernel =
        cts_catalogue_reserve(writer, CTS_ID_KERNEL, (uint32_t)scan->kernels.count);
    for (size_t i = 0; i < scan->kernels.count; i++)
        cts_catalogue_add_kernel(writer,
                                 &(struct cts_kernel){.kernel = kernel + (uint32_t)i,
                                                      .module = module,
                                                      .name = scan->kernels.items[i].name,
                                                      .mangled = scan->kernels.items[i].name,
                                                      .source = CTS_NONE,
                                                      .instrumented = true});
    if (scan->sites.count)
        import->packing.first_site =
            cts_catalogue_reserve(writer, CTS_ID_SITE, (uint32_t)scan->sites.count);
    for (size_t i = 0; i < scan->sites.count; i++) {
        const struct cts_trc_site *const site = &scan->sites.items[i];
        cts_catalogue_add_site(
            writer, &(struct cts_site){.site = import->packing.first_site + (uint32_t)i,
                                       .module = module,
                                       .function = scan->kernels.items[site->kernel].name,
                                       .operation = site->operation,
                                       .space = CTS_SPACE_GLOBAL,
                                       .width_bytes = site->width_bytes,
                                       .source = CTS_NONE});
    }
    return kernel;
}

static void write_launches(struct importing *import, uint32_t rank, uint32_t first_kernel,
                           uint32_t first_stream)
{
    struct cts_catalogue_writer *const writer = cts_collector_catalogue(import->collector);
    const struct cts_trc_scan *const scan = &import->scan;
    const uint64_t now =
        cts_clock_ns(); /* a launch without an end would count as one that ended early */
    uint32_t ordinal = 0;
    for (size_t i = 0; i < scan->launches.count; i++) {
        const struct cts_trc_launch *const launch = &scan->launches.items[i];
        struct cts_trc_output *const output = &import->outputs[i];
        if (i && launch->file != scan->launches.items[i - 1].file) ordinal = 0;
        struct cts_launch row = {
            .launch = output->launch,
            .rank = rank,
            .op = cts_catalogue_next_op(writer),
            .stream = first_stream + launch->file,
            .ordinal = ordinal++,
            .kernel = first_kernel + launch->kernel,
            .block = {1, 1, 1},
            .recorded = launch->is_cut ? "none" : "all",
            .call_ns = now,
            .start_ns = now,
            .end_ns = now,
            .records = output->records,
            .accesses = output->accesses,
            .dropped_accesses = output->dropped + launch->dropped,
        };
        memcpy(row.grid, output->grid, sizeof row.grid);
        cts_catalogue_add_launch(writer, &row);
    }
}

/* ---- the run ---- */

static void pack(void *state, unsigned index)
{
    struct importing *const import = state;
    struct worker *const worker = &import->workers[index];
    worker->status = cts_trc_pack(&import->packing, index, worker->stream, &worker->error);
}

static enum cts_status pack_all(struct importing *import)
{
    const struct cts_import_options *const options = import->options;
    unsigned count = cts_thread_count(options->threads);
    if (count > WORKERS_MAX) count = WORKERS_MAX;
    const uint64_t memory_bytes =
        options->memory_bytes ? options->memory_bytes : (uint64_t)DEFAULT_MEMORY_MIB << 20;
    import->packing.scan = &import->scan;
    import->packing.outputs = import->outputs;
    import->packing.collector = import->collector;
    import->packing.worker_count = count;
    import->packing.worker_bytes = (size_t)(memory_bytes / count);
    import->packing.progress = options->progress;
    for (unsigned i = 0; i < count; i++) {
        const enum cts_status status =
            cts_collector_stream(import->collector, &import->workers[i].stream, import->error);
        if (status) return status;
    }
    cts_parallel(count, pack, import);
    for (unsigned i = 0; i < count; i++) {
        if (!import->workers[i].status) continue;
        *import->error = import->workers[i].error;
        return import->workers[i].status;
    }
    return CTS_OK;
}

static enum cts_status write_run(struct importing *import)
{
    struct cts_catalogue_writer *const writer = cts_collector_catalogue(import->collector);
    const struct cts_trc_scan *const scan = &import->scan;
    const uint32_t rank = cts_catalogue_rank(writer);
    write_keys(import);
    write_device(import, rank);
    const uint32_t kernel = write_code(import, rank);
    const uint32_t stream =
        cts_catalogue_reserve(writer, CTS_ID_STREAM, (uint32_t)scan->file_count);
    for (size_t i = 0; i < scan->file_count; i++)
        cts_catalogue_add_stream(writer, &(struct cts_cuda_stream){.stream = stream + (uint32_t)i,
                                                                   .rank = rank,
                                                                   .handle = i + 1,
                                                                   .kind = "non-blocking",
                                                                   .created_op = 0,
                                                                   .destroyed_op = UINT64_MAX});
    const uint32_t launch =
        cts_catalogue_reserve(writer, CTS_ID_LAUNCH, (uint32_t)scan->launches.count);
    for (size_t i = 0; i < scan->launches.count; i++)
        import->outputs[i].launch = launch + (uint32_t)i;
    enum cts_status status = note_gaps(import);
    if (!status) status = pack_all(import);
    write_launches(import, rank, kernel, stream);
    return status;
}

static void sum_up(struct importing *import)
{
    struct cts_import_result *const result = import->result;
    result->launches = import->scan.launches.count;
    result->kernels = import->scan.kernels.count;
    for (size_t i = 0; i < result->launches; i++) {
        result->records += import->outputs[i].records;
        result->accesses += import->outputs[i].accesses;
        result->dropped_accesses +=
            import->outputs[i].dropped + import->scan.launches.items[i].dropped;
    }
}

static enum cts_status import_traces(const struct cts_import_options *options,
                                     struct cts_import_result *result, struct cts_error *error)
{
    struct importing import = {.options = options, .result = result, .error = error};
    enum cts_status status = cts_grids_parse(&import.grids, options->grid, import.error);
    if (!status) status = map_files(&import);
    if (!status) status = cts_trc_scan(&import.scan, options->progress, import.error);
    if (!status && !import.scan.launches.count)
        status = cts_fail(import.error, CTS_FORMAT, "cannot import '%s'%s: it contains no launch",
                          options->paths[0], options->path_count > 1 ? " and the others" : "");
    if (!status) status = choose_grids(&import);
    if (!status) status = cts_import_open_run(options, false, &import.collector, error);
    if (!status) status = write_run(&import);
    status = cts_import_close_run(import.collector, status, error);
    if (!status) sum_up(&import);
    cts_trc_scan_release(&import.scan);
    unmap_files(&import.scan);
    cts_grids_release(&import.grids);
    free(import.outputs);
    return status;
}

static bool recognises(const uint8_t *bytes, size_t byte_count)
{
    size_t header_bytes;
    return cts_trc_format_of(bytes, byte_count, &header_bytes) != CTS_TRC_NONE;
}

const struct cts_importer cts_importer_trc = {
    .name = "traces of cuda-memtrace (.trc, version 2 or 3) and of 2017",
    .recognises = recognises,
    .import = import_traces,
};
