/* The lanes of a warp record as *dense spans*: active lanes that follow one another, `width_bytes`
 * apart, are one span, and so are all lanes at one address; any other lane is one of its own. So a
 * regular record is a few spans and only an irregular one is 32.
 *
 * Inlined with the function that takes the spans: this is where analyses spend their time. */
#ifndef CTS_ANALYZE_DENSE_H
#define CTS_ANALYZE_DENSE_H

#include "common/error.h"
#include "trace/acc.h"

/* Takes `lane_count` accesses side by side, the first at `start`, each made by `multiplicity` lanes
 * (more than 1 only where lane_count is 1). What is not CTS_OK ends the record. */
struct cts_dense_sink {
    enum cts_status (*take)(void *state, uint64_t start, uint32_t lane_count,
                            uint32_t multiplicity);
    void *state;
};

/* Lanes of `mask` at base + stride * lane. */
struct cts_dense_lanes {
    uint64_t base;
    int64_t stride;
    uint32_t mask;
    uint32_t width_bytes;
};

static inline __attribute__((always_inline)) enum cts_status
cts_dense_row(struct cts_dense_lanes lanes, struct cts_dense_sink sink)
{
    const uint64_t base = lanes.base;
    const int64_t stride = lanes.stride, width = lanes.width_bytes;
    uint32_t mask = lanes.mask;
    if (!mask) return CTS_OK;
    if (stride == 0) return sink.take(sink.state, base, 1, (uint32_t)__builtin_popcount(mask));
    while (mask) {
        const unsigned first = (unsigned)__builtin_ctz(mask);
        const uint64_t shifted = (uint64_t)mask >> first;
        unsigned lane_count = (unsigned)__builtin_ctzll(~shifted);
        if (stride != width && stride != -width) lane_count = 1;
        const unsigned lowest = stride < 0 ? first + lane_count - 1 : first;
        const enum cts_status status =
            sink.take(sink.state, base + (uint64_t)(stride * (int64_t)lowest), lane_count, 1);
        if (status) return status;
        mask &= first + lane_count < CTS_WARP_LANES ? ~0u << (first + lane_count) : 0;
    }
    return CTS_OK;
}

/* A two-level record: rows of lanes, each at a constant distance from the one before. */
static inline __attribute__((always_inline)) enum cts_status
cts_dense_rows(const struct cts_acc_batch *batch, size_t i, uint32_t width_bytes,
               struct cts_dense_sink sink, struct cts_error *error)
{
    const unsigned row_lanes = batch->row_lanes[i];
    const uint32_t mask = batch->mask[i];
    if (row_lanes < 1 || row_lanes > 31)
        return cts_fail(error, CTS_FORMAT, "a two-level record has rows of %u lanes", row_lanes);
    const uint32_t row_mask = (UINT32_C(1) << row_lanes) - 1;
    for (unsigned row = 0; row * row_lanes < CTS_WARP_LANES; row++) {
        const uint64_t base = batch->base[i] + (uint64_t)((int64_t)batch->s1[i] * (int64_t)row);
        const struct cts_dense_lanes lanes = {base, batch->s0[i],
                                              (mask >> (row * row_lanes)) & row_mask, width_bytes};
        const enum cts_status status = cts_dense_row(lanes, sink);
        if (status) return status;
    }
    return CTS_OK;
}

static inline __attribute__((always_inline)) enum cts_status
cts_dense_list(const struct cts_acc_batch *batch, size_t i, uint32_t width_bytes,
               struct cts_dense_sink sink)
{
    const uint64_t base = batch->base[i];
    const uint32_t *const offsets = batch->offsets + batch->offset_start[i];
    const unsigned count = (unsigned)__builtin_popcount(batch->mask[i]);
    for (unsigned k = 0; k < count;) {
        unsigned end = k + 1;
        while (end < count && offsets[end] == (uint64_t)offsets[end - 1] + width_bytes) end++;
        const enum cts_status status = sink.take(sink.state, base + offsets[k], end - k, 1);
        if (status) return status;
        k = end;
    }
    return CTS_OK;
}

/* Record i of a batch. CTS_FORMAT: its pattern is none, or has rows of no sensible length. */
static inline __attribute__((always_inline)) enum cts_status
cts_dense_record(const struct cts_acc_batch *batch, size_t i, uint32_t width_bytes,
                 struct cts_dense_sink sink, struct cts_error *error)
{
    switch (batch->pattern[i]) {
    case CTS_PATTERN_UNIFORM:
        return sink.take(sink.state, batch->base[i], 1,
                         (uint32_t)__builtin_popcount(batch->mask[i]));
    case CTS_PATTERN_AFFINE:
        return cts_dense_row(
            (struct cts_dense_lanes){batch->base[i], batch->s0[i], batch->mask[i], width_bytes},
            sink);
    case CTS_PATTERN_TWO_LEVEL:
        return cts_dense_rows(batch, i, width_bytes, sink, error);
    case CTS_PATTERN_LIST:
        return cts_dense_list(batch, i, width_bytes, sink);
    default:
        return cts_fail(error, CTS_FORMAT, "a record of site %u has the unknown pattern %u",
                        batch->site[i], batch->pattern[i]);
    }
}

#endif
