/* A stream of warp records: rows and records go into the segment of the current CTA, segments into
 * the chunk under construction, chunks into the stream's file.
 *
 * Counts are booked when a chunk is written, or given up: a record is then either in the file or
 * counted as dropped, never both. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/write/collector-private.h"

enum {
    FAILURES_MAX = 100, /* one after the other, until nothing more is tried */
    LIMIT_SHARE = 64,
    LIMIT_TARGET_LEAST_BYTES = 4 << 10
};

/* ---- chunks ---- */

static void book(struct cts_stream *stream, uint64_t records, uint64_t accesses, bool written)
{
    struct cts_collector *const collector = stream->collector;
    struct cts_catalogue_writer *const catalogue = collector->catalogue;
    if (written) {
        if (catalogue)
            cts_catalogue_note_written(
                catalogue,
                &(struct cts_access_file_row){.file = stream->file.stream,
                                              .chunks = 1,
                                              .records = records,
                                              .accesses = accesses,
                                              .size_bytes = cts_access_file_bytes(&stream->file)});
        stream->counts.records += records;
        stream->counts.accesses += accesses;
        atomic_fetch_add(&collector->records, records);
        atomic_fetch_add(&collector->accesses, accesses);
    } else {
        if (catalogue) cts_catalogue_note_dropped(catalogue, records, accesses);
        stream->counts.dropped_records += records;
        stream->counts.dropped_accesses += accesses;
        atomic_fetch_add(&collector->dropped_records, records);
        atomic_fetch_add(&collector->dropped_accesses, accesses);
    }
}

static enum cts_status write_chunk(struct cts_stream *stream, struct cts_error *error)
{
    struct cts_acc_chunk_header header;
    const enum cts_status status =
        cts_acc_builder_finish(&stream->builder, &stream->chunk, &header, error);
    if (status) return status;
    const uint64_t cost_bytes = header.size_bytes + CTS_ACC_ENTRY_BYTES;
    if (!cts_collector_reserve(stream->collector, cost_bytes))
        return cts_fail(error, CTS_LIMIT,
                        "the access files reached their size limit of %llu bytes; accesses from "
                        "here on are dropped",
                        (unsigned long long)stream->collector->max_size_bytes);
    const enum cts_status written =
        cts_access_file_append(&stream->file, stream->chunk.data, &header, error);
    if (written) cts_collector_unreserve(stream->collector, cost_bytes);
    stream->failure_count = written ? stream->failure_count + 1 : 0;
    if (stream->failure_count == FAILURES_MAX) stream->is_broken = true;
    return written;
}

static void close_chunk(struct cts_stream *stream)
{
    const uint64_t records = stream->builder.record_count - stream->builder.barrier_count;
    const uint64_t accesses = stream->builder.access_count;
    if (!stream->builder.record_count) return;
    struct cts_collector *const collector = stream->collector;
    if (stream->is_broken || atomic_load(&collector->is_full) || collector->pid != getpid()) {
        cts_acc_builder_clear(&stream->builder);
        book(stream, records, accesses, false);
        return;
    }
    struct cts_error error;
    const enum cts_status status = write_chunk(stream, &error);
    book(stream, records, accesses, status == CTS_OK);
    if (status) cts_collector_fail(collector, &error);
}

/* ---- segments ---- */

static void drop_segment(struct cts_stream *stream, const struct cts_error *error)
{
    uint64_t records = 0, accesses = 0;
    for (uint32_t i = 0; i < stream->segment.record_count; i++) {
        const struct cts_acc_shape *const shape = &stream->segment.shapes[i];
        if (cts_acc_kind_space(shape->kind) == CTS_SPACE_BARRIER) continue;
        records += cts_acc_record_count(shape);
        accesses += cts_acc_access_count(shape);
    }
    book(stream, records, accesses, false);
    cts_collector_fail(stream->collector, error);
}

static void close_segment(struct cts_stream *stream)
{
    struct cts_acc_segment *const segment = &stream->segment;
    if (!segment->record_count) return;
    if (!cts_acc_builder_fits(&stream->builder, segment->record_count + segment->more_records))
        close_chunk(stream);
    struct cts_error error;
    if (cts_acc_builder_add(&stream->builder, stream->cta, segment, &error))
        drop_segment(stream, &error);
    segment->record_count = segment->offset_count = segment->value_count = 0;
    segment->more_records = 0;
    if (cts_acc_builder_full(&stream->builder)) close_chunk(stream);
}

void cts_stream_begin_cta(struct cts_stream *stream, uint32_t launch, uint32_t cta)
{
    close_segment(stream);
    if (launch != stream->builder.launch) close_chunk(stream);
    stream->builder.launch = launch;
    stream->cta = cta;
}

void cts_stream_end_cta(struct cts_stream *stream)
{
    close_segment(stream);
}

void cts_stream_flush(struct cts_stream *stream)
{
    close_segment(stream);
    close_chunk(stream);
}

struct cts_stream_counts cts_stream_take_counts(struct cts_stream *stream)
{
    cts_stream_flush(stream);
    const struct cts_stream_counts counts = stream->counts;
    stream->counts = (struct cts_stream_counts){0};
    return counts;
}

/* ---- records ---- */

static bool make_room_for_values(struct cts_stream *stream);

static uint32_t active_lanes(const uint64_t *addresses)
{
    uint64_t idle = 0;
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) idle += addresses[lane] == 0;
    if (idle == 0) return UINT32_MAX;
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
        mask |= (uint32_t)(addresses[lane] != 0) << lane;
    return mask;
}

static uint32_t shared_lanes(const struct cts_row_batch *batch, const uint64_t *addresses)
{
    uint32_t mask = 0;
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
        mask |= (uint32_t)(addresses[lane] - batch->shared_base < batch->shared_bytes) << lane;
    return mask;
}

/* One row; in generic space its lanes may be in shared and in global memory. */
static void add_row_with_values(struct cts_stream *stream, const struct cts_row_batch *batch,
                                uint32_t slot, uint32_t first_value)
{
    const uint64_t *const addresses = batch->lanes + (size_t)slot * CTS_WARP_LANES;
    const uint8_t space = batch->spaces[slot];
    const uint32_t mask = active_lanes(addresses);
    uint64_t packed[CTS_WARP_LANES * CTS_STREAM_VALUE_WORDS_MAX];
    struct cts_zip_row row = {.site = batch->sites[slot],
                              .warp = batch->warp,
                              .space = space == CTS_SPACE_GENERIC ? CTS_SPACE_GLOBAL : space,
                              .value_words = batch->value_words[slot],
                              .value_lanes = mask,
                              .values = packed};
    uint32_t shared = space == CTS_SPACE_SHARED ? mask : 0;
    if (space == CTS_SPACE_GENERIC) shared = shared_lanes(batch, addresses) & mask;
    if (mask == UINT32_MAX && row.value_words == 1)
        row.values = batch->values + (size_t)first_value * CTS_WARP_LANES;
    else
        cts_stream_pack_values(packed, batch->values, first_value, row.value_words, mask);
    if (mask & ~shared) stream->zip->one(&stream->segment, &row, mask & ~shared, addresses);
    row.space = CTS_SPACE_SHARED;
    row.origin = batch->shared_base;
    if (shared) stream->zip->one(&stream->segment, &row, shared, addresses);
}

static void add_rows_with_values(struct cts_stream *stream, const struct cts_row_batch *batch)
{
    uint32_t first_value = 0;
    for (uint32_t slot = 0; slot < batch->slot_count; slot++) {
        if (cts_segment_is_full(&stream->segment)) close_segment(stream);
        add_row_with_values(stream, batch, slot, first_value);
        first_value += batch->value_words[slot];
    }
    memset(batch->lanes, 0, (size_t)batch->slot_count * CTS_WARP_LANES * sizeof *batch->lanes);
}

/* ---- hashes of values ---- */

static void hash_rows(struct cts_stream *stream, const struct cts_row_batch *batch)
{
    uint32_t first_value = 0;
    for (uint32_t slot = 0; slot < batch->slot_count; slot++) {
        const uint64_t *const addresses = batch->lanes + (size_t)slot * CTS_WARP_LANES;
        const uint8_t space = batch->spaces[slot];
        const uint64_t *const values = batch->values + (size_t)first_value * CTS_WARP_LANES;
        first_value += batch->value_words[slot];
        if (!batch->value_words[slot] || (space != CTS_SPACE_GLOBAL && space != CTS_SPACE_GENERIC))
            continue;
        uint32_t mask = active_lanes(addresses);
        if (space == CTS_SPACE_GENERIC) mask &= ~shared_lanes(batch, addresses);
        cts_value_hash_add(&stream->counts.hash,
                           &(struct cts_value_hash_record){.site = batch->sites[slot],
                                                           .cta = stream->cta,
                                                           .mask = mask,
                                                           .addresses = addresses,
                                                           .values = values,
                                                           .words = batch->value_words[slot],
                                                           .lane_step = 1,
                                                           .word_step = CTS_WARP_LANES});
    }
}

/* The values of a row are packed: those of its active lanes, one after the other. */
static void hash_row(struct cts_stream *stream, const struct cts_stream_row *row)
{
    const uint64_t *values = row->values;
    if (row->space != CTS_SPACE_GLOBAL && row->space != CTS_SPACE_GENERIC) return;
    for (uint32_t left = row->mask; left; left &= left - 1, values += row->value_words)
        cts_value_hash_add(&stream->counts.hash,
                           &(struct cts_value_hash_record){.site = row->site,
                                                           .cta = stream->cta,
                                                           .mask = left & -left,
                                                           .addresses = row->addresses,
                                                           .values = values,
                                                           .words = row->value_words,
                                                           .word_step = 1});
}

void cts_stream_add_rows(struct cts_stream *stream, const struct cts_row_batch *batch)
{
    if (stream->collector->values && batch->values && make_room_for_values(stream)) {
        add_rows_with_values(stream, batch);
        return;
    }
    if (stream->collector->hashes && batch->values) hash_rows(stream, batch);
    uint32_t slot = stream->zip->rows(&stream->segment, batch, 0);
    while (slot < batch->slot_count) {
        close_segment(stream);
        slot = stream->zip->rows(&stream->segment, batch, slot);
    }
}

static bool make_room_for_values(struct cts_stream *stream)
{
    struct cts_acc_segment *const segment = &stream->segment;
    if (segment->values) return true;
    segment->values = malloc(CTS_SEGMENT_VALUES_CAPACITY * sizeof *segment->values);
    struct cts_collector *const collector = stream->collector;
    if (segment->values && !atomic_exchange(&collector->has_values, true) && collector->catalogue)
        cts_catalogue_set(collector->catalogue, "values", "1");
    if (segment->values) return true;
    struct cts_error error;
    cts_fail(&error, CTS_MEMORY, "no memory for values; they are left out");
    cts_collector_fail(collector, &error);
    return false;
}

void cts_stream_add(struct cts_stream *stream, const struct cts_stream_row *row)
{
    if (!row->mask) return;
    if (cts_segment_is_full(&stream->segment)) close_segment(stream);
    const bool has_values =
        row->values && row->value_words && row->value_words <= CTS_STREAM_VALUE_WORDS_MAX;
    const bool keep = stream->collector->values && has_values && make_room_for_values(stream);
    if (stream->collector->hashes && has_values) hash_row(stream, row);
    const struct cts_zip_row zipped = {
        .site = row->site,
        .warp = row->warp,
        .space = (uint8_t)(row->space == CTS_SPACE_GENERIC ? CTS_SPACE_GLOBAL : row->space),
        .value_words = (uint8_t)(keep ? row->value_words : 0),
        .value_lanes = row->mask,
        .values = keep ? row->values : NULL,
    };
    stream->zip->one(&stream->segment, &zipped, row->mask, row->addresses);
}

void cts_stream_add_records(struct cts_stream *stream, const struct cts_stream_record *records,
                            const uint16_t *order, uint32_t count)
{
    struct cts_acc_segment *const segment = &stream->segment;
    while (count) {
        if (cts_segment_is_full(segment)) close_segment(stream);
        const uint32_t room = CTS_SEGMENT_RECORDS - segment->record_count - segment->more_records;
        const uint32_t now = count < room ? count : room;
        struct cts_acc_shape *const shapes = segment->shapes + segment->record_count;
        uint64_t *const bases = segment->bases + segment->record_count;
        for (uint32_t i = 0; i < now; i++) {
            const struct cts_stream_record *const record = records + order[i];
            shapes[i] = (struct cts_acc_shape){.site = record->site,
                                               .mask = record->mask,
                                               .s0 = record->s0,
                                               .s1 = record->s1,
                                               .warp = record->warp,
                                               .kind = record->kind};
            bases[i] = record->base;
        }
        segment->record_count += now;
        order += now;
        count -= now;
    }
}

void cts_stream_add_box(struct cts_stream *stream, const struct cts_stream_box *box)
{
    struct cts_acc_segment *const segment = &stream->segment;
    const uint32_t rows = cts_box_rows(&box->box);
    if (!rows) return;
    const uint32_t records = cts_box_plan_of(&box->box).record_count;
    if (segment->record_count &&
        (cts_segment_is_full(segment) ||
         segment->record_count + segment->more_records + records > CTS_SEGMENT_RECORDS))
        close_segment(stream);
    segment->shapes[segment->record_count] = (struct cts_acc_shape){
        .site = box->site,
        .mask = UINT32_C(1) << box->lane,
        .s0 = (int32_t)rows,
        .s1 = (int32_t)records,
        .warp = box->warp,
        .kind = cts_acc_kind(CTS_SPACE_GLOBAL, CTS_PATTERN_LIST, 0, 0) | CTS_ACC_KIND_BOX};
    segment->bases[segment->record_count++] = box->base;
    cts_box_put(&box->box, segment->offsets + segment->offset_count);
    segment->offset_count += CTS_BOX_WORDS;
    segment->more_records += records - 1;
}

/* ---- life ---- */

static void free_stream(struct cts_stream *stream)
{
    cts_acc_builder_release(&stream->builder);
    cts_buffer_release(&stream->chunk);
    free(stream->segment.shapes);
    free(stream->segment.bases);
    free(stream->segment.offsets);
    free(stream->segment.values);
    free(stream);
}

static enum cts_status create_file(struct cts_stream *stream, uint32_t number,
                                   struct cts_error *error)
{
    struct cts_collector *const collector = stream->collector;
    char *path = NULL;
    if (asprintf(&path, "%s/%u.acc", collector->directory, number) < 0)
        return cts_fail(error, CTS_MEMORY, "no memory for a path");
    const enum cts_status status =
        cts_access_file_create(&stream->file, path, collector->rank, number, error);
    free(path);
    return status;
}

/* Under a size limit chunks are small against it: the first one that does not fit ends the
 * recording, and by then the limit should be nearly used up. */
static size_t target_of_limit(uint64_t limit_bytes)
{
    const uint64_t share_bytes = limit_bytes / LIMIT_SHARE;
    if (share_bytes < LIMIT_TARGET_LEAST_BYTES) return LIMIT_TARGET_LEAST_BYTES;
    return share_bytes < CTS_ACC_TARGET_RAW_BYTES ? (size_t)share_bytes : CTS_ACC_TARGET_RAW_BYTES;
}

/* A file that cannot be written is no failure: what it would hold is dropped, and counted. */
static enum cts_status open_file(struct cts_stream *stream, uint32_t number,
                                 struct cts_error *error)
{
    struct cts_error file_error;
    const enum cts_status status = create_file(stream, number, &file_error);
    if (!status) return CTS_OK;
    if (status == CTS_IO) {
        cts_collector_fail_locked(stream->collector, &file_error);
        return CTS_OK;
    }
    if (error) *error = file_error;
    return status;
}

enum cts_status cts_stream_create(struct cts_collector *collector, uint32_t number,
                                  struct cts_stream **out, struct cts_error *error)
{
    *out = NULL;
    struct cts_stream *const stream = calloc(1, sizeof *stream);
    if (!stream) return cts_fail(error, CTS_MEMORY, "no memory for a stream");
    stream->collector = collector;
    stream->zip = cts_zip_best();
    struct cts_acc_segment *const segment = &stream->segment;
    segment->shapes = malloc(CTS_SEGMENT_RECORDS_CAPACITY * sizeof *segment->shapes);
    segment->bases = malloc(CTS_SEGMENT_RECORDS_CAPACITY * sizeof *segment->bases);
    segment->offsets = malloc(CTS_SEGMENT_OFFSETS_CAPACITY * sizeof *segment->offsets);
    enum cts_status status = CTS_OK;
    if (!segment->shapes || !segment->bases || !segment->offsets)
        status = cts_fail(error, CTS_MEMORY, "no memory for a stream");
    if (!status)
        status = cts_acc_builder_init(&stream->builder, collector->compression_level, error);
    if (!status) status = open_file(stream, number, error);
    if (collector->max_size_bytes)
        stream->builder.target_raw_bytes = target_of_limit(collector->max_size_bytes);
    if (status) {
        free_stream(stream);
        return status;
    }
    const uint64_t empty_bytes = CTS_ACC_HEADER_BYTES + cts_acc_footer_bytes(0);
    if (!cts_collector_reserve(collector, empty_bytes)) stream->is_broken = true;
    *out = stream;
    return CTS_OK;
}

void cts_stream_destroy(struct cts_stream *stream)
{
    cts_stream_flush(stream);
    struct cts_error error;
    const bool is_child = stream->collector->pid != getpid();
    if (cts_access_file_close(&stream->file, is_child, &error))
        cts_collector_fail(stream->collector, &error);
    free_stream(stream);
}
