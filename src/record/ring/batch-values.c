/* Records with values in a batch. They are kept as lists are, their words in the batch's offsets:
 * what the record is, its list if it has one, its values. Handed on, they become addresses and
 * values again, which the collector looks at anew: it is the rare way. */
#include <string.h>

#include "batch.h"
#include "record/ring/values.h"

static uint32_t width_of(const uint32_t *words)
{
    const uint32_t bytes = words[7] >> 20 & 0x7fu;
    return bytes && bytes < CTS_RING_VALUE_BYTES_MAX ? bytes : CTS_RING_VALUE_BYTES_MAX;
}

uint32_t cts_batch_value_layout(const uint32_t *words, uint32_t *list_lanes, uint32_t *value_words)
{
    const uint32_t lanes = (uint32_t)__builtin_popcount(cts_ring_mask_of(words));
    *list_lanes = cts_ring_pattern_of(words) == CTS_RING_LIST ? lanes : 0;
    *value_words = lanes * cts_ring_value_words(width_of(words));
    return cts_ring_slots(*list_lanes) + cts_ring_value_slots(lanes, width_of(words));
}

void cts_batch_note_valued(const uint32_t *words, uint32_t *place)
{
    const struct cts_batch_valued valued = {
        .s0 = (uint32_t)cts_ring_stride_of(words[4], words[7] >> 17),
        .s1 = (uint32_t)cts_ring_stride_of(words[6], words[7] >> 18),
        .row_lanes = cts_ring_row_lanes_of(words),
        .pattern = cts_ring_pattern_of(words),
        .width_bytes = width_of(words),
    };
    memcpy(place, &valued, sizeof valued);
}

/* Where a lane is from the record's base. */
static int64_t distance_of(const struct cts_batch_valued *valued, uint32_t lane,
                           const uint32_t **offset)
{
    const int64_t s0 = (int32_t)valued->s0, s1 = (int32_t)valued->s1;
    switch ((enum cts_ring_pattern)valued->pattern) {
    case CTS_RING_LIST:
        return cts_ring_unpack_offset(*(*offset)++);
    case CTS_RING_TWO_LEVEL: {
        const uint32_t row = valued->row_lanes ? valued->row_lanes : CTS_WARP_LANES;
        return s0 * (lane % row) + s1 * (lane / row);
    }
    case CTS_RING_AFFINE:
        return s0 * lane;
    case CTS_RING_UNIFORM:
        break;
    }
    return 0;
}

void cts_batch_add_valued(struct cts_batch *batch, const struct cts_stream_record *record)
{
    uint64_t addresses[CTS_WARP_LANES], values[CTS_WARP_LANES * 2], *next = values;
    const uint32_t *const place = batch->offsets + (uint32_t)record->s0;
    const uint32_t *offset = place + CTS_BATCH_VALUED_WORDS;
    struct cts_batch_valued valued;
    memcpy(&valued, place, sizeof valued);
    const uint32_t lanes = (uint32_t)__builtin_popcount(record->mask);
    const uint32_t *word = offset + (valued.pattern == CTS_RING_LIST ? lanes : 0);
    for (uint32_t rest = record->mask; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint64_t value[2];
        addresses[lane] = record->base + (uint64_t)distance_of(&valued, lane, &offset);
        cts_ring_unpack_value(word++, lanes, valued.width_bytes, value);
        *next++ = value[0];
        if (valued.width_bytes > 8) *next++ = value[1];
    }
    cts_stream_add(batch->stream,
                   &(struct cts_stream_row){.site = record->site,
                                            .space = cts_stream_space(record->kind),
                                            .warp = record->warp,
                                            .mask = record->mask,
                                            .addresses = addresses,
                                            .value_words = valued.width_bytes > 8 ? 2 : 1,
                                            .values = values});
}
