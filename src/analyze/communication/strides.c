#include "analyze/communication/strides.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

const char *cts_stride_kind_text(enum cts_stride_kind kind)
{
    static const char *const texts[] = {
#define X(name, text) text,
        CTS_STRIDE_KINDS(X)
#undef X
    };
    return (unsigned)kind < CTS_STRIDE_KIND_COUNT ? texts[kind] : "?";
}

static int64_t cts_stride_of_bin(uint32_t bin, uint64_t *width)
{
    *width = 1;
    if (bin < 2 * CTS_STRIDE_EXACT) return (int64_t)bin - CTS_STRIDE_EXACT;
    bin -= 2 * CTS_STRIDE_EXACT;
    const unsigned exponent = bin / CTS_STRIDE_STEPS % CTS_STRIDE_SIZES + 16;
    const bool is_negative = bin >= CTS_STRIDE_SIZES * CTS_STRIDE_STEPS;
    const uint64_t size = (UINT64_C(1) << exponent) | (uint64_t)(bin % CTS_STRIDE_STEPS)
                                                          << (exponent - 11);
    *width = UINT64_C(1) << (exponent - 11);
    return is_negative ? (int64_t)-size : (int64_t)size;
}

enum cts_status cts_strides_prepare(struct cts_strides *strides, struct cts_error *error)
{
    strides->counts = cts_array_zeroed(CTS_STRIDE_BINS, sizeof *strides->counts, error);
    return strides->counts ? CTS_OK : CTS_MEMORY;
}

enum cts_status cts_strides_add_bin(struct cts_strides *strides, uint32_t bin, uint64_t count,
                                    struct cts_error *error)
{
    if (!strides->counts && cts_strides_prepare(strides, error)) return CTS_MEMORY;
    cts_strides_count_bin(strides, bin, count);
    return CTS_OK;
}

/* The first bit from `bit` on that is set; bit_count: none. */
static uint32_t next_bit(const uint64_t *words, uint32_t bit, uint32_t bit_count)
{
    while (bit < bit_count) {
        const uint64_t rest = words[bit / 64] >> bit % 64;
        if (rest) return bit + (uint32_t)__builtin_ctzll(rest);
        bit = (bit / 64 + 1) * 64;
    }
    return bit_count;
}

/* The first line in use from `line` on; CTS_STRIDE_LINES: none. */
static uint32_t next_line(const struct cts_strides *strides, uint32_t line)
{
    uint32_t word = line / 64;
    if (line == CTS_STRIDE_LINES) return line;
    const uint32_t found = next_bit(strides->lines, line, (word + 1) * 64);
    if (found < (word + 1) * 64) return found;
    word = next_bit(strides->words, word + 1, CTS_STRIDE_LINE_WORDS);
    return word == CTS_STRIDE_LINE_WORDS ? CTS_STRIDE_LINES
                                         : next_bit(strides->lines, word * 64, (word + 1) * 64);
}

uint32_t cts_strides_next(const struct cts_strides *strides, uint32_t bin)
{
    for (uint32_t line = bin / CTS_STRIDE_LINE;
         (line = next_line(strides, line)) < CTS_STRIDE_LINES; line++) {
        const uint32_t end = (line + 1) * CTS_STRIDE_LINE;
        if (bin + CTS_STRIDE_LINE < end) bin = end - CTS_STRIDE_LINE;
        for (; bin < end; bin++)
            if (strides->counts[bin]) return bin;
    }
    return CTS_STRIDE_BINS;
}

size_t cts_strides_count(const struct cts_strides *strides)
{
    size_t count = 0;
    for (uint32_t bin = 0; (bin = cts_strides_next(strides, bin)) < CTS_STRIDE_BINS; bin++) count++;
    return count;
}

enum cts_status cts_strides_merge(struct cts_strides *sum, const struct cts_strides *more,
                                  struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint32_t bin = 0; !status && (bin = cts_strides_next(more, bin)) < CTS_STRIDE_BINS; bin++)
        status = cts_strides_add_bin(sum, bin, more->counts[bin], error);
    return status;
}

void cts_strides_clear(struct cts_strides *strides)
{
    for (uint32_t line = 0; (line = next_line(strides, line)) < CTS_STRIDE_LINES; line++)
        memset(strides->counts + (size_t)line * CTS_STRIDE_LINE, 0,
               CTS_STRIDE_LINE * sizeof *strides->counts);
    for (uint32_t word = 0;
         (word = next_bit(strides->words, word, CTS_STRIDE_LINE_WORDS)) < CTS_STRIDE_LINE_WORDS;
         word++)
        strides->lines[word] = 0;
    memset(strides->words, 0, sizeof strides->words);
}

void cts_strides_release(struct cts_strides *strides)
{
    free(strides->counts);
    *strides = (struct cts_strides){0};
}

static int by_stride(const void *left, const void *right)
{
    const struct cts_stride_entry *const a = left, *const b = right;
    return (a->stride > b->stride) - (a->stride < b->stride);
}

struct cts_stride_entry *cts_strides_sorted(const struct cts_strides *strides, size_t *count,
                                            struct cts_error *error)
{
    struct cts_stride_entry *const sorted =
        cts_array_zeroed(cts_strides_count(strides), sizeof *sorted, error);
    *count = 0;
    if (!sorted) return NULL;
    for (uint32_t bin = 0; (bin = cts_strides_next(strides, bin)) < CTS_STRIDE_BINS; bin++) {
        struct cts_stride_entry *const entry = &sorted[(*count)++];
        entry->stride = cts_stride_of_bin(bin, &entry->width);
        entry->count = strides->counts[bin];
    }
    qsort(sorted, *count, sizeof *sorted, by_stride);
    return sorted;
}

/* ---- a record ---- */

/* Lanes of any pattern whose addresses are computed one by one. */
static enum cts_status add_lanes(struct cts_strides *strides, const struct cts_acc_batch *batch,
                                 size_t i, struct cts_error *error)
{
    const struct cts_access access = cts_acc_record(batch, i);
    uint64_t addresses[CTS_WARP_LANES];
    cts_access_addresses(&access, addresses);
    unsigned last = (unsigned)__builtin_ctz(access.mask);
    for (uint32_t mask = access.mask & (access.mask - 1); mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const enum cts_status status =
            cts_strides_add(strides, (int64_t)(addresses[lane] - addresses[last]), 1, error);
        if (status) return status;
        last = lane;
    }
    return CTS_OK;
}

static enum cts_status add_list(struct cts_strides *strides, const uint32_t *offsets,
                                unsigned lane_count, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (unsigned k = 1; !status && k < lane_count; k++)
        status = cts_strides_add(strides, (int64_t)offsets[k] - (int64_t)offsets[k - 1], 1, error);
    return status;
}

/* All 32 lanes in rows of `row_lanes`: within rows, and from the end of one to the next. */
static enum cts_status add_full_rows(struct cts_strides *strides, const struct cts_acc_batch *batch,
                                     size_t i, struct cts_error *error)
{
    const unsigned row_lanes = batch->row_lanes[i], breaks = (CTS_WARP_LANES - 1) / row_lanes;
    const int64_t within = batch->s0[i];
    const int64_t between = batch->s1[i] - within * (int64_t)(row_lanes - 1);
    const enum cts_status status =
        cts_strides_add(strides, within, CTS_WARP_LANES - 1 - breaks, error);
    return status ? status : cts_strides_add(strides, between, breaks, error);
}

enum cts_status cts_strides_add_record(struct cts_strides *strides,
                                       const struct cts_acc_batch *batch, size_t i,
                                       struct cts_error *error)
{
    const uint32_t mask = batch->mask[i];
    const unsigned lane_count = (unsigned)__builtin_popcount(mask);
    const uint32_t above = mask >> __builtin_ctz(mask); /* without gaps: a row of ones */
    if (lane_count < 2) return CTS_OK;
    switch (batch->pattern[i]) {
    case CTS_PATTERN_UNIFORM:
        return cts_strides_add(strides, 0, lane_count - 1, error);
    case CTS_PATTERN_AFFINE:
        if (above & (above + 1)) break;
        return cts_strides_add(strides, batch->s0[i], lane_count - 1, error);
    case CTS_PATTERN_TWO_LEVEL:
        if (mask != UINT32_MAX) break;
        return add_full_rows(strides, batch, i, error);
    case CTS_PATTERN_LIST:
        return add_list(strides, batch->offsets + batch->offset_start[i], lane_count, error);
    }
    return add_lanes(strides, batch, i, error);
}
