/* For tests of analyses: warp records in memory, given to them as the batches of access files, and
 * the addresses of their lanes from the patterns' definition (trace/access.h) alone. */
#ifndef CTS_TESTS_RECORD_FIXTURE_H
#define CTS_TESTS_RECORD_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trace/acc-decode.h"
#include "trace/acc.h"

/* A warp record that owns its offsets; fields as in struct cts_access. */
struct record {
    uint32_t site, mask, offsets[CTS_WARP_LANES];
    uint16_t warp;
    uint8_t space, pattern, row_lanes;
    int32_t s0, s1;
    uint64_t base;
};

/* The record as analyses know it; `r` keeps the offsets. */
static inline struct cts_access record_access(const struct record *r, uint32_t launch, uint32_t cta)
{
    return (struct cts_access){.launch = launch,
                               .cta = cta,
                               .site = r->site,
                               .mask = r->mask,
                               .warp = r->warp,
                               .space = r->space,
                               .pattern = r->pattern,
                               .row_lanes = r->row_lanes,
                               .s0 = r->s0,
                               .s1 = r->s1,
                               .base = r->base,
                               .offsets = r->offsets};
}

/* The address of an active lane before which so many are active. */
static inline uint64_t lane_address(const struct record *r, unsigned lane, unsigned active_before)
{
    switch (r->pattern) {
    case CTS_PATTERN_UNIFORM:
        return r->base;
    case CTS_PATTERN_AFFINE:
        return r->base + (uint64_t)((int64_t)r->s0 * lane);
    case CTS_PATTERN_TWO_LEVEL:
        return r->base + (uint64_t)((int64_t)r->s0 * (lane % r->row_lanes)) +
               (uint64_t)((int64_t)r->s1 * (lane / r->row_lanes));
    default:
        return r->base + r->offsets[active_before];
    }
}

/* Whether all lanes of accesses of `width` bytes stay in [start, start + size). */
static inline bool stays_inside(const struct record *r, uint32_t width, uint64_t start,
                                uint64_t size)
{
    unsigned active = 0;
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
        if (!(r->mask >> lane & 1)) continue;
        const uint64_t address = lane_address(r, lane, active++);
        if (address < start || address > start + size - width) return false;
    }
    return true;
}

/* ---- batches: for a source's read(); cts_acc_batch_release() is its release() ---- */

/* Room for the chunk's records; the batch has none yet. */
CTS_MUST_CHECK static inline enum cts_status
batch_start(struct cts_acc_batch *batch, const struct cts_acc_chunk *chunk, struct cts_error *error)
{
    const uint32_t count = (uint32_t)chunk->record_count;
    const struct cts_acc_chunk_header header = {.record_count = count,
                                                .offset_count = CTS_WARP_LANES * count,
                                                .value_count = CTS_WARP_LANES * count};
    batch->launch = chunk->launch;
    return cts_acc_batch_reserve(batch, &header, error);
}

/* The values of the record that was put last, at most one word a lane. */
static inline void batch_put_values(struct cts_acc_batch *batch, const struct cts_access *record)
{
    const size_t i = batch->record_count - 1;
    const size_t words = (size_t)__builtin_popcount(record->mask) * record->value_words;
    batch->value_words[i] = record->value_words;
    batch->value_start[i] = (uint32_t)batch->value_count;
    memcpy(batch->values + batch->value_count, record->values, words * sizeof *batch->values);
    batch->value_count += words;
}

/* The next record; a list brings its offsets. */
static inline void batch_put(struct cts_acc_batch *batch, const struct cts_access *record)
{
    const size_t i = batch->record_count++;
    batch->cta[i] = record->cta;
    batch->site[i] = record->site;
    batch->mask[i] = record->mask;
    batch->warp[i] = record->warp;
    batch->space[i] = record->space;
    batch->pattern[i] = record->pattern;
    batch->row_lanes[i] = record->row_lanes;
    batch->s0[i] = record->s0;
    batch->s1[i] = record->s1;
    batch->base[i] = record->base;
    batch->offset_start[i] = (uint32_t)batch->offset_count;
    batch->value_start[i] = UINT32_MAX;
    if (record->values) batch_put_values(batch, record);
    if (record->pattern != CTS_PATTERN_LIST) return;
    const size_t count = (size_t)__builtin_popcount(record->mask);
    memcpy(batch->offsets + batch->offset_count, record->offsets, count * sizeof *batch->offsets);
    batch->offset_count += count;
}

#endif
