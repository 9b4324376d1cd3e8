/* The public API over the catalogue and the access files. It adds nothing but a stable surface:
 * plain structs that a program may keep, texts in place of numbers of the format. */
#include "trace/api/api-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/access.h"
#include "trace/recording.h"

#define SAME(name) _Static_assert((int)CTS_RESULT_##name == (int)CTS_##name, "numbers differ")
SAME(OK);
SAME(IO);
SAME(FORMAT);
SAME(VERSION);
SAME(LIMIT);
SAME(MEMORY);
SAME(USAGE);
#undef SAME

struct cts_run {
    struct cts_recording recording;
};

struct cts_accesses {
    const struct cts_run *run;
    const struct cts_acc_reader *reader; /* the run's */
    struct cts_acc_batch batch;
    uint32_t launch; /* CTS_UNKNOWN: all */
    size_t next_chunk, next_record;
    /* cts_accesses_fill() stopped inside record next_record: lanes that are still to come. */
    uint32_t lanes_left;
    uint64_t given; /* accesses */
    struct cts_error failure;
};

enum cts_result cts_api_give(const struct cts_error *failure, char *error, size_t error_bytes)
{
    if (error && error_bytes) snprintf(error, error_bytes, "%s", failure->text);
    return (enum cts_result)failure->status;
}

enum cts_result cts_api_deliver(void *info, const void *full, size_t full_bytes)
{
    uint32_t size_bytes;
    memcpy(&size_bytes, info, sizeof size_bytes);
    if (size_bytes < full_bytes) return CTS_RESULT_USAGE; /* no header had fewer members yet */
    memset((char *)info + full_bytes, 0, size_bytes - full_bytes);
    memcpy((char *)info + sizeof size_bytes, (const char *)full + sizeof size_bytes,
           full_bytes - sizeof size_bytes);
    return CTS_RESULT_OK;
}

const char *cts_version(void)
{
    return CTASCOPE_VERSION;
}

/* ---- a run ---- */

enum cts_result cts_run_open(const char *path, struct cts_run **out, char *error,
                             size_t error_bytes)
{
    struct cts_error failure = {.status = CTS_MEMORY, .text = "out of memory"};
    struct cts_run *const run = calloc(1, sizeof *run);
    *out = NULL;
    if (!run) return cts_api_give(&failure, error, error_bytes);
    if (cts_recording_open(path, &run->recording, &failure)) {
        free(run);
        return cts_api_give(&failure, error, error_bytes);
    }
    *out = run;
    return CTS_RESULT_OK;
}

void cts_run_close(struct cts_run *run)
{
    if (!run) return;
    cts_recording_close(&run->recording);
    free(run);
}

const char *cts_run_key(const struct cts_run *run, const char *key)
{
    return cts_catalogue_get(&run->recording.catalogue, key);
}

int cts_run_is_complete(const struct cts_run *run)
{
    for (size_t i = 0; i < run->recording.catalogue.rank_count; i++)
        if (!run->recording.catalogue.ranks[i].end_ns) return 0;
    return run->recording.catalogue.rank_count > 0 && !cts_gaps_any(&run->recording.catalogue.gaps);
}

const char *cts_run_missing(const struct cts_run *run, size_t index)
{
    const struct cts_gaps *const gaps = &run->recording.catalogue.gaps;
    return index < gaps->named_count ? gaps->texts[index] : NULL;
}

uint64_t cts_run_dropped_accesses(const struct cts_run *run)
{
    uint64_t of_ranks = 0, of_launches = 0;
    for (size_t i = 0; i < run->recording.catalogue.rank_count; i++)
        of_ranks += run->recording.catalogue.ranks[i].dropped_accesses;
    for (size_t i = 0; i < run->recording.catalogue.launch_count; i++)
        of_launches += run->recording.catalogue.launches[i].dropped_accesses;
    return of_ranks > of_launches ? of_ranks : of_launches; /* a killed rank has none of its own */
}

/* ---- its catalogue ---- */

static const char *source_path(const struct cts_run *run, uint32_t source)
{
    return source < run->recording.catalogue.source_count
               ? run->recording.catalogue.sources[source].path
               : NULL;
}

size_t cts_run_kernel_count(const struct cts_run *run)
{
    return run->recording.catalogue.kernel_count;
}

enum cts_result cts_run_kernel(const struct cts_run *run, size_t kernel,
                               struct cts_kernel_info *info)
{
    if (kernel >= run->recording.catalogue.kernel_count) return CTS_RESULT_USAGE;
    const struct cts_kernel *const row = &run->recording.catalogue.kernels[kernel];
    const struct cts_kernel_info full = {
        .kernel = row->kernel,
        .is_instrumented = row->instrumented,
        .name = row->name,
        .mangled_name = row->mangled,
        .path = source_path(run, row->source),
        .line = row->line,
        .static_shared_bytes = row->static_shared_bytes,
    };
    return cts_api_deliver(info, &full, sizeof full);
}

static enum cts_recorded recorded_of(const char *word)
{
    if (strcmp(word, "all") == 0) return CTS_RECORDED_ALL;
    return strcmp(word, "sample") == 0 ? CTS_RECORDED_SAMPLE : CTS_RECORDED_NONE;
}

static enum cts_result give_launch(const struct cts_launch *row, struct cts_launch_info *info)
{
    const struct cts_launch_info full = {
        .launch = row->launch,
        .rank = row->rank,
        .device = row->device,
        .stream = row->stream,
        .ordinal = row->ordinal,
        .kernel = row->kernel,
        .grid = {row->grid[0], row->grid[1], row->grid[2]},
        .block = {row->block[0], row->block[1], row->block[2]},
        .dynamic_shared_bytes = row->dynamic_shared_bytes,
        .recorded = recorded_of(row->recorded),
        .op = row->op,
        .call_ns = row->call_ns,
        .start_ns = row->start_ns,
        .end_ns = row->end_ns,
        .records = row->records,
        .accesses = row->accesses,
        .dropped_accesses = row->dropped_accesses,
    };
    return cts_api_deliver(info, &full, sizeof full);
}

size_t cts_run_launch_count(const struct cts_run *run)
{
    return run->recording.catalogue.launch_count;
}

enum cts_result cts_run_launch(const struct cts_run *run, size_t index,
                               struct cts_launch_info *info)
{
    if (index >= run->recording.catalogue.launch_count) return CTS_RESULT_USAGE;
    return give_launch(&run->recording.catalogue.launches[index], info);
}

enum cts_result cts_run_find_launch(const struct cts_run *run, uint32_t launch,
                                    struct cts_launch_info *info)
{
    const struct cts_launch *const row = cts_catalogue_launch(&run->recording.catalogue, launch);
    return row ? give_launch(row, info) : CTS_RESULT_USAGE;
}

size_t cts_run_site_count(const struct cts_run *run)
{
    return run->recording.catalogue.site_count;
}

enum cts_result cts_run_site(const struct cts_run *run, size_t site, struct cts_site_info *info)
{
    if (site >= run->recording.catalogue.site_count) return CTS_RESULT_USAGE;
    const struct cts_site *const row = &run->recording.catalogue.sites[site];
    const struct cts_site_info full = {
        .site = row->site,
        .operation = cts_operation_text(row->operation),
        .space = cts_space_text(row->space),
        .reads = row->operation && cts_operation_reads(row->operation),
        .writes = row->operation && cts_operation_writes(row->operation),
        .width_bytes = row->width_bytes,
        .function = row->function,
        .path = source_path(run, row->source),
        .line = row->line,
        .column = row->column,
        .inlined_at = row->inlined_at,
        .type = row->type,
        .variable = row->variable,
    };
    return cts_api_deliver(info, &full, sizeof full);
}

size_t cts_run_allocation_count(const struct cts_run *run)
{
    return run->recording.catalogue.allocation_count;
}

enum cts_result cts_run_allocation(const struct cts_run *run, size_t index,
                                   struct cts_allocation_info *info)
{
    if (index >= run->recording.catalogue.allocation_count) return CTS_RESULT_USAGE;
    const struct cts_allocation *const row = &run->recording.catalogue.allocations[index];
    const struct cts_allocation_info full = {
        .allocation = row->allocation,
        .rank = row->rank,
        .device = row->device,
        .address = row->address,
        .size_bytes = row->size_bytes,
        .op = row->op,
        .freed_op = row->freed_op,
        .kind = row->kind,
        .call = row->call,
        .variable = row->variable,
        .type = row->type,
        .path = row->path,
        .function = row->function,
        .element_bytes = row->element_bytes,
        .line = row->line,
        .column = row->column,
    };
    return cts_api_deliver(info, &full, sizeof full);
}

/* ---- its accesses ---- */

enum cts_result cts_accesses_open(const struct cts_run *run, uint32_t launch,
                                  struct cts_accesses **out, char *error, size_t error_bytes)
{
    struct cts_error failure = {.status = CTS_MEMORY, .text = "out of memory"};
    *out = NULL;
    if (launch != CTS_UNKNOWN && !cts_catalogue_launch(&run->recording.catalogue, launch)) {
        cts_fail(&failure, CTS_USAGE, "'%s' has no launch %u", run->recording.path, launch);
        return cts_api_give(&failure, error, error_bytes);
    }
    if (cts_recording_need_accesses(&run->recording, &failure))
        return cts_api_give(&failure, error, error_bytes);
    failure = (struct cts_error){.status = CTS_MEMORY, .text = "out of memory"};
    struct cts_accesses *const accesses = calloc(1, sizeof *accesses);
    if (!accesses) return cts_api_give(&failure, error, error_bytes);
    accesses->reader = run->recording.reader;
    accesses->run = run;
    accesses->launch = launch;
    *out = accesses;
    return CTS_RESULT_OK;
}

/* Decodes the next chunk of interest; false when there is none or it cannot be read. */
static bool read_chunk(struct cts_accesses *accesses)
{
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(accesses->reader, &chunk_count);
    while (accesses->next_chunk < chunk_count) {
        const struct cts_acc_chunk *const chunk = &chunks[accesses->next_chunk++];
        if (accesses->launch != CTS_UNKNOWN && chunk->launch != accesses->launch) continue;
        accesses->next_record = 0;
        return !cts_acc_read(accesses->reader, chunk, &accesses->batch, &accesses->failure);
    }
    return false;
}

/* The next record; 1, 0 and -1 as cts_accesses_next(). */
static int take_record(struct cts_accesses *accesses, struct cts_access *access)
{
    while (!accesses->failure.status && accesses->next_record == accesses->batch.record_count)
        if (!read_chunk(accesses)) return accesses->failure.status ? -1 : 0;
    if (accesses->failure.status) return -1;
    *access = cts_acc_record(&accesses->batch, accesses->next_record++);
    return 1;
}

/* A member at a time: all of a record would be 300 bytes to clear and to copy for each. */
int cts_accesses_next(struct cts_accesses *accesses, struct cts_warp_record *record)
{
    struct cts_access access;
    if (record->struct_size < sizeof *record) {
        cts_fail(&accesses->failure, CTS_USAGE, "struct_size of the cts_warp_record is not set");
        return -1;
    }
    const int more = take_record(accesses, &access);
    if (more != 1) return more;
    const struct cts_catalogue *const catalogue = &accesses->run->recording.catalogue;
    record->launch = access.launch;
    record->site = access.site;
    record->cta = access.cta;
    record->warp = access.warp;
    record->lanes = access.mask;
    record->width_bytes =
        access.site < catalogue->site_count ? catalogue->sites[access.site].width_bytes : 0;
    record->space = cts_space_text(access.space);
    record->value_words = access.value_words;
    record->values = access.values;
    memset(record->addresses, 0, sizeof record->addresses);
    cts_access_addresses(&access, record->addresses);
    accesses->given += (uint64_t)__builtin_popcount(access.mask);
    return 1;
}

uint64_t cts_accesses_left(const struct cts_accesses *accesses)
{
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(accesses->reader, &chunk_count);
    uint64_t all = 0;
    for (size_t i = 0; i < chunk_count; i++)
        if (accesses->launch == CTS_UNKNOWN || chunks[i].launch == accesses->launch)
            all += chunks[i].access_count;
    return all - accesses->given;
}

/* The lanes of one record, as far as there is room; returns those that are left. */
static uint32_t fill_lanes(const struct cts_access_columns *columns, size_t *filled, uint32_t lanes,
                           const struct cts_access *access)
{
    uint64_t addresses[CTS_WARP_LANES];
    if (columns->addresses) cts_access_addresses(access, addresses);
    size_t at = *filled;
    for (; lanes && at < columns->capacity; lanes &= lanes - 1, at++) {
        const unsigned lane = (unsigned)__builtin_ctz(lanes);
        if (columns->addresses) columns->addresses[at] = addresses[lane];
        if (columns->lanes) columns->lanes[at] = (uint8_t)lane;
    }
    for (size_t i = *filled; i < at; i++) {
        if (columns->launches) columns->launches[i] = access->launch;
        if (columns->sites) columns->sites[i] = access->site;
        if (columns->ctas) columns->ctas[i] = access->cta;
        if (columns->warps) columns->warps[i] = access->warp;
    }
    *filled = at;
    return lanes;
}

int64_t cts_accesses_fill(struct cts_accesses *accesses, const struct cts_access_columns *columns)
{
    size_t filled = 0;
    if (columns->struct_size < sizeof *columns) {
        cts_fail(&accesses->failure, CTS_USAGE, "struct_size of the cts_access_columns is not set");
        return -1;
    }
    while (filled < columns->capacity) {
        struct cts_access access;
        uint32_t lanes = accesses->lanes_left;
        if (lanes) {
            access = cts_acc_record(&accesses->batch, accesses->next_record - 1);
        } else {
            const int more = take_record(accesses, &access);
            if (more < 0) return -1;
            if (more == 0) break;
            lanes = access.mask;
        }
        accesses->lanes_left = fill_lanes(columns, &filled, lanes, &access);
    }
    accesses->given += filled;
    return (int64_t)filled;
}

const char *cts_accesses_error(const struct cts_accesses *accesses)
{
    return accesses->failure.text;
}

void cts_accesses_close(struct cts_accesses *accesses)
{
    if (!accesses) return;
    cts_acc_batch_release(&accesses->batch);
    free(accesses);
}
