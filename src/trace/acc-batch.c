/* A batch: the memory that chunks are decoded into, kept from chunk to chunk, and its records one
 * by one. */
#include <stdlib.h>
#include <zstd.h>

#include "trace/acc-decode.h"

enum cts_status cts_acc_fail_memory(struct cts_error *error)
{
    return cts_fail(error, CTS_MEMORY, "no memory for a decoded chunk");
}

struct cts_acc_batch_private *cts_acc_batch_private_of(struct cts_acc_batch *batch)
{
    if (!batch->private_data) batch->private_data = calloc(1, sizeof *batch->private_data);
    return batch->private_data;
}

void cts_acc_batch_release(struct cts_acc_batch *batch)
{
    struct cts_acc_batch_private *const p = batch->private_data;
    if (p) {
        free(p->rows);
        free(p->box);
        free(batch->offsets);
        free(batch->values);
        free(batch->barriers);
        ZSTD_freeDCtx(p->zstd);
        cts_buffer_release(&p->stored);
        cts_buffer_release(&p->raw);
        cts_buffer_release(&p->combos);
        cts_buffer_release(&p->templates);
        cts_buffer_release(&p->shifts);
        cts_buffer_release(&p->shift_values);
        free(p);
    }
    *batch = (struct cts_acc_batch){0};
}

uint8_t *cts_acc_room_in(struct cts_buffer *buffer, size_t size_bytes)
{
    cts_buffer_clear(buffer);
    return cts_buffer_reserve(buffer, size_bytes, NULL) ? NULL : buffer->data;
}

uint8_t *cts_acc_batch_stored(struct cts_acc_batch *batch, size_t size_bytes)
{
    struct cts_acc_batch_private *const p = cts_acc_batch_private_of(batch);
    return p ? cts_acc_room_in(&p->stored, size_bytes + CTS_ACC_PADDING_BYTES) : NULL;
}

/* The columns, widest first, so that each is aligned; capacities are multiples of 8. */
static enum cts_status reserve_rows(struct cts_acc_batch *batch, size_t count,
                                    struct cts_error *error)
{
    struct cts_acc_batch_private *const p = batch->private_data;
    if (count <= p->row_capacity) return CTS_OK;
    const size_t capacity = (count + 7) / 8 * 8;
    const size_t row_bytes = 8 + 7 * 4 + 2 + 4;
    free(p->rows);
    p->row_capacity = 0;
    p->rows = malloc(capacity * row_bytes);
    if (!p->rows) return cts_acc_fail_memory(error);
    uint8_t *at = p->rows;
    batch->base = (uint64_t *)at;
    at += 8 * capacity;
    uint32_t **const words[] = {&batch->cta, &batch->site, &batch->mask, &batch->offset_start,
                                &batch->value_start};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++, at += 4 * capacity)
        *words[i] = (uint32_t *)at;
    batch->s0 = (int32_t *)at;
    batch->s1 = batch->s0 + capacity;
    at += 8 * capacity;
    batch->warp = (uint16_t *)at;
    at += 2 * capacity;
    batch->space = at;
    batch->pattern = at + capacity;
    batch->row_lanes = at + 2 * capacity;
    batch->value_words = at + 3 * capacity;
    p->row_capacity = capacity;
    return CTS_OK;
}

enum cts_status cts_acc_batch_reserve(struct cts_acc_batch *batch,
                                      const struct cts_acc_chunk_header *header,
                                      struct cts_error *error)
{
    struct cts_acc_batch_private *const p = cts_acc_batch_private_of(batch);
    if (!p) return cts_acc_fail_memory(error);
    batch->record_count = batch->offset_count = batch->value_count = batch->barrier_count = 0;
    batch->box = NULL;
    if (header->offset_count > p->offset_capacity) {
        free(batch->offsets);
        batch->offsets = malloc(header->offset_count * sizeof *batch->offsets);
        p->offset_capacity = batch->offsets ? header->offset_count : 0;
        if (!batch->offsets) return cts_acc_fail_memory(error);
    }
    if (header->value_count > p->value_capacity) {
        free(batch->values);
        batch->values = malloc(header->value_count * sizeof *batch->values);
        p->value_capacity = batch->values ? header->value_count : 0;
        if (!batch->values) return cts_acc_fail_memory(error);
    }
    return reserve_rows(batch, (size_t)header->record_count + header->barrier_count, error);
}

struct cts_access cts_acc_record(const struct cts_acc_batch *batch, size_t i)
{
    const bool has_values = batch->value_start[i] != UINT32_MAX;
    const uint8_t box = batch->box ? batch->box[i] : CTS_BOX_NONE;
    return (struct cts_access){
        .launch = batch->launch,
        .cta = batch->cta[i],
        .site = batch->site[i],
        .mask = batch->mask[i],
        .warp = batch->warp[i],
        .space = batch->space[i],
        .pattern = batch->pattern[i],
        .row_lanes = batch->row_lanes[i],
        .s0 = batch->s0[i],
        .s1 = batch->s1[i],
        .base = batch->base[i],
        .offsets =
            batch->pattern[i] == CTS_PATTERN_LIST ? batch->offsets + batch->offset_start[i] : NULL,
        .values = has_values ? batch->values + batch->value_start[i] : NULL,
        .value_words = has_values ? batch->value_words[i] : 0,
        .box = box,
        .box_lane = box ? batch->value_words[i] : 0,
        .box_words = box ? batch->offsets + batch->offset_start[i] : NULL,
    };
}
