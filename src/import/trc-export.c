/* Writing a .trc: launches in the order of their calls, in each the records of the access files,
 * lane after lane.
 *
 * Version 3 joins accesses that follow one another in the file and in memory, of one CTA, operation
 * and size, as the original tools do. Theirs count in 16 bits and wrap: here a run ends at 65,535.
 * Sorts of atomics, sites, warps, values and times are lost: the format has no place for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/output-file.h"
#include "import/select.h"
#include "import/trc.h"

enum { TYPE_LOAD = 0, TYPE_STORE = 1, TYPE_ATOMIC = 2, CTA_YZ_MAX = 65535 };

struct writer {
    FILE *file;
    unsigned version;
    uint64_t entry_count;
    uint64_t descriptor, address, cta; /* of the run under construction */
    uint32_t run_length;               /* 0: none */
};

struct exporting {
    const struct cts_catalogue *catalogue;
    const struct cts_acc_reader *reader;
    const struct cts_export_options *options;
    struct cts_export_result *result;
    struct cts_error *error;
    uint32_t rank;
    struct cts_acc_batch batch;
    struct cts_cta_sm *sms; /* sorted */
    size_t sm_count;
    uint8_t *streams_seen; /* per id */
    struct writer writer;
    uint32_t extents[3]; /* the launch's grid as a reader would infer it */
};

/* ---- entries ---- */

/* stdio keeps a failure; it is looked at in the end. */
static void put_run(struct writer *w)
{
    uint8_t bytes[1 + CTS_TRC_RECORD_BYTES + 2];
    if (!w->run_length) return;
    const bool single = w->run_length == 1;
    bytes[0] = single ? CTS_TRC_ENTRY_RECORD : CTS_TRC_ENTRY_RUN;
    cts_put_u64(bytes + 1, w->descriptor);
    cts_put_u64(bytes + 9, w->address);
    cts_put_u64(bytes + 17, w->cta);
    bytes[25] = (uint8_t)w->run_length;
    bytes[26] = (uint8_t)(w->run_length >> 8);
    (void)!fwrite(bytes, 1, sizeof bytes - (single ? 2 : 0), w->file);
    w->entry_count++;
    w->run_length = 0;
}

static inline void put_access(struct writer *w, uint64_t descriptor, uint64_t cta, uint64_t address)
{
    if (w->version == 3 && w->run_length && w->run_length < CTS_TRC_RUN_MAX &&
        w->descriptor == descriptor && w->cta == cta &&
        w->address + (uint64_t)cts_trc_size_bytes(descriptor) * w->run_length == address) {
        w->run_length++;
        return;
    }
    put_run(w);
    w->descriptor = descriptor;
    w->address = address;
    w->cta = cta;
    w->run_length = 1;
}

static enum cts_status put_kernel(struct exporting *e, const struct cts_launch *launch)
{
    const char *const name = e->catalogue->kernels[launch->kernel].name;
    const size_t length = name ? strlen(name) : 0;
    if (length > CTS_TRC_NAME_MAX_BYTES)
        return cts_fail(e->error, CTS_LIMIT,
                        "the kernel of launch %u has a name of %zu bytes; a .trc holds %d",
                        launch->launch, length, CTS_TRC_NAME_MAX_BYTES);
    const uint8_t head[3] = {CTS_TRC_ENTRY_KERNEL, (uint8_t)length, (uint8_t)(length >> 8)};
    put_run(&e->writer);
    (void)!fwrite(head, 1, sizeof head, e->writer.file);
    (void)!fwrite(name ? name : "", 1, length, e->writer.file);
    e->writer.entry_count++;
    return CTS_OK;
}

/* ---- SMs ---- */

static int by_place(const void *left, const void *right)
{
    const struct cts_cta_sm *const a = left, *const b = right;
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    return (a->cta > b->cta) - (a->cta < b->cta);
}

static enum cts_status sort_sms(struct exporting *e)
{
    const size_t count = e->catalogue->cta_sm_count;
    e->sms = cts_array_zeroed(count, sizeof *e->sms, e->error);
    if (!e->sms) return CTS_MEMORY;
    if (count) memcpy(e->sms, e->catalogue->cta_sms, count * sizeof *e->sms);
    qsort(e->sms, count, sizeof *e->sms, by_place);
    e->sm_count = count;
    return CTS_OK;
}

/* 0 where it is not known. */
static uint32_t sm_of(const struct exporting *e, uint32_t launch, uint32_t cta)
{
    const struct cts_cta_sm key = {.launch = launch, .cta = cta};
    const struct cts_cta_sm *const found =
        e->sm_count ? bsearch(&key, e->sms, e->sm_count, sizeof key, by_place) : NULL;
    return found ? found->sm : 0;
}

/* ---- records ---- */

static enum cts_status descriptor_of(struct exporting *e, uint32_t site, uint64_t *descriptor)
{
    const struct cts_site *const row =
        site < e->catalogue->site_count ? &e->catalogue->sites[site] : NULL;
    if (!row || !row->width_bytes || row->operation < CTS_LOAD)
        return cts_fail(e->error, CTS_FORMAT, "a record names site %u, which the catalogue %s",
                        site, row ? "gives no usable operation and width" : "does not have");
    const uint64_t type = row->operation == CTS_LOAD    ? TYPE_LOAD
                          : row->operation == CTS_STORE ? TYPE_STORE
                                                        : TYPE_ATOMIC;
    *descriptor = type << 28 | row->width_bytes; /* catalogue: up to 64 KiB */
    return CTS_OK;
}

static enum cts_status place_cta(struct exporting *e, const struct cts_launch *launch, uint32_t cta,
                                 uint64_t *word)
{
    const uint64_t plane = (uint64_t)launch->grid[0] * launch->grid[1];
    if (!plane || cta >= plane * launch->grid[2])
        return cts_fail(e->error, CTS_FORMAT, "a record names CTA %u of launch %u, which has fewer",
                        cta, launch->launch);
    const uint64_t id[3] = {cta % launch->grid[0], cta % plane / launch->grid[0], cta / plane};
    if (id[1] > CTA_YZ_MAX || id[2] > CTA_YZ_MAX)
        return cts_fail(e->error, CTS_LIMIT,
                        "launch %u has CTA (%llu, %llu, %llu); a .trc holds y and z up to %d",
                        launch->launch, (unsigned long long)id[0], (unsigned long long)id[1],
                        (unsigned long long)id[2], CTA_YZ_MAX);
    for (unsigned i = 0; i < 3; i++)
        if (id[i] >= e->extents[i]) e->extents[i] = (uint32_t)id[i] + 1;
    *word = id[0] << 32 | id[1] << 16 | id[2];
    return CTS_OK;
}

static enum cts_status write_batch(struct exporting *e, const struct cts_launch *launch)
{
    uint32_t cta = CTS_NONE, site = CTS_NONE, sm = 0;
    uint64_t cta_word = 0, descriptor = 0;
    for (size_t i = 0; i < e->batch.record_count; i++) {
        const struct cts_access access = cts_acc_record(&e->batch, i);
        enum cts_status status = CTS_OK;
        if (access.space != CTS_SPACE_GLOBAL) {
            e->result->other_spaces += (uint64_t)__builtin_popcount(access.mask);
            continue;
        }
        if (access.cta != cta) {
            status = place_cta(e, launch, access.cta, &cta_word);
            cta = access.cta;
            sm = sm_of(e, launch->launch, cta);
        }
        if (!status && access.site != site) status = descriptor_of(e, access.site, &descriptor);
        if (status) return status;
        site = access.site;
        uint64_t addresses[CTS_WARP_LANES];
        cts_access_addresses(&access, addresses);
        for (uint32_t mask = access.mask; mask; mask &= mask - 1)
            put_access(&e->writer, descriptor | (uint64_t)sm << 32, cta_word,
                       addresses[__builtin_ctz(mask)]);
        e->result->accesses += (uint64_t)__builtin_popcount(access.mask);
    }
    return CTS_OK;
}

/* ---- launches ---- */

static enum cts_status write_chunk(struct exporting *e, const struct cts_launch *launch,
                                   const struct cts_acc_chunk *chunk)
{
    enum cts_status status = cts_acc_read(e->reader, chunk, &e->batch, e->error);
    if (!status) status = write_batch(e, launch);
    if (status)
        return cts_context(e->error, "'%s': chunk at byte %llu",
                           cts_acc_file_path(e->reader, chunk->file),
                           (unsigned long long)chunk->offset_bytes);
    if (e->options->progress) cts_progress_add(e->options->progress, chunk->access_count);
    return CTS_OK;
}

static enum cts_status write_launch(struct exporting *e, const struct cts_launch *launch)
{
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(e->reader, &chunk_count);
    e->extents[0] = e->extents[1] = e->extents[2] = 1;
    enum cts_status status = put_kernel(e, launch);
    for (size_t i = cts_acc_first_chunk(chunks, chunk_count, launch->launch);
         !status && i < chunk_count && chunks[i].launch == launch->launch; i++)
        status = write_chunk(e, launch, &chunks[i]);
    struct cts_export_result *const result = e->result;
    result->launches++;
    result->dropped_accesses += launch->dropped_accesses;
    result->unrecorded_launches += launch->recorded && strcmp(launch->recorded, "all") != 0;
    result->short_grids += memcmp(e->extents, launch->grid, sizeof launch->grid) != 0;
    if (launch->stream < e->catalogue->stream_count && !e->streams_seen[launch->stream]) {
        e->streams_seen[launch->stream] = 1;
        result->streams++;
    }
    return status;
}

static enum cts_status write_launches(struct exporting *e)
{
    const uint32_t stream = e->options->stream;
    (void)!fwrite(cts_trc_magic[e->writer.version == 3], 1, CTS_TRC_MAGIC_BYTES, e->writer.file);
    for (size_t i = 0; i < e->catalogue->launch_count; i++) {
        const struct cts_launch *const launch = &e->catalogue->launches[i];
        if (launch->rank != e->rank || (stream != CTS_NONE && launch->stream != stream)) continue;
        const enum cts_status status = write_launch(e, launch);
        if (status) return status;
    }
    put_run(&e->writer);
    e->result->entries = e->writer.entry_count;
    if (e->result->launches) return CTS_OK;
    return cts_export_no_launch(e->catalogue, e->error);
}

static enum cts_status write_file(struct exporting *e)
{
    struct cts_output output;
    enum cts_status status = cts_output_open(e->options->path, &output, e->error);
    if (status) return status;
    e->writer.file = output.file;
    (void)setvbuf(output.file, NULL, _IOFBF, 1 << 20);
    status = write_launches(e);
    return cts_output_close(&output, status, e->error);
}

enum cts_status cts_export_trc(const struct cts_catalogue *catalogue,
                               const struct cts_acc_reader *reader,
                               const struct cts_export_options *options,
                               struct cts_export_result *result, struct cts_error *error)
{
    *result = (struct cts_export_result){0};
    struct exporting e = {.catalogue = catalogue,
                          .reader = reader,
                          .options = options,
                          .result = result,
                          .error = error,
                          .writer.version = options->version};
    enum cts_status status = cts_export_rank(catalogue, options->rank, &e.rank, error);
    if (!status) status = sort_sms(&e);
    if (!status) {
        e.streams_seen = cts_array_zeroed(catalogue->stream_count, 1, error);
        if (!e.streams_seen) status = CTS_MEMORY;
    }
    if (!status) status = write_file(&e);
    cts_acc_batch_release(&e.batch);
    free(e.sms);
    free(e.streams_seen);
    return status;
}
