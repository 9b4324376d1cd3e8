/* Decoding one chunk; private to trace/. */
#ifndef CTS_TRACE_ACC_DECODE_H
#define CTS_TRACE_ACC_DECODE_H

#include "common/buffer.h"
#include "trace/acc-format.h"

enum { CTS_ACC_PADDING_BYTES = 16 }; /* readable behind a payload */
enum { CTS_ACC_PATTERN_BOX = 4 };    /* beyond enum cts_pattern: a box that is still one record */

/* What a batch keeps in addition to its columns. */
struct cts_acc_batch_private {
    size_t box_capacity, row_capacity, offset_capacity, value_capacity, barrier_capacity;
    void *rows;   /* all columns of records in one piece */
    uint8_t *box; /* batch->box, where there are boxes */
    void *zstd;   /* ZSTD_DCtx */
    struct cts_buffer stored, raw, combos, templates, shifts, shift_values;
};

/* What the batch keeps, made when it is first asked for; NULL: no memory. */
struct cts_acc_batch_private *cts_acc_batch_private_of(struct cts_acc_batch *batch);
/* Makes the columns, offsets and values large enough for a chunk. */
CTS_MUST_CHECK enum cts_status cts_acc_batch_reserve(struct cts_acc_batch *batch,
                                                     const struct cts_acc_chunk_header *header,
                                                     struct cts_error *error);
/* The buffer's memory, its content gone, at least `size_bytes`; NULL: none. */
uint8_t *cts_acc_room_in(struct cts_buffer *buffer, size_t size_bytes);
enum cts_status cts_acc_fail_memory(struct cts_error *error);

/* A chunk's bytes as they stand in a file, its header already read from them. */
CTS_MUST_CHECK enum cts_status cts_acc_decode_chunk(const struct cts_acc_chunk_header *header,
                                                    const uint8_t *stored,
                                                    struct cts_acc_batch *batch,
                                                    struct cts_error *error);

/* Makes records of the boxes among the first `record_count` records, batch->record_count of them in
 * the end; CTS_FORMAT: they become another number. */
CTS_MUST_CHECK enum cts_status cts_acc_expand_boxes(struct cts_acc_batch *batch,
                                                    size_t record_count, struct cts_error *error);

/* A payload after decompression, header->raw_bytes long, CTS_ACC_PADDING_BYTES readable behind. */
CTS_MUST_CHECK enum cts_status cts_acc_decode_payload(const struct cts_acc_chunk_header *header,
                                                      const uint8_t *raw,
                                                      struct cts_acc_batch *batch,
                                                      struct cts_error *error);

/* Room for a chunk's bytes, owned by the batch; NULL: no memory. */
uint8_t *cts_acc_batch_stored(struct cts_acc_batch *batch, size_t size_bytes);

/* A reader of one file that stands in memory, borrowed until cts_acc_close(): for tests. */
CTS_MUST_CHECK enum cts_status cts_acc_open_memory(const void *bytes, size_t size_bytes,
                                                   struct cts_acc_reader **reader,
                                                   struct cts_error *error);

#endif
