/* Strides (paper 003, 6.2.5) as histograms with exact counts and a bound on their size.
 *
 * A stride is a signed distance in bytes. Strides below CTS_STRIDE_EXACT either way are counted
 * one by one; larger ones in bins of 1/2048 to 1/4096 of their size, so that a histogram has under
 * 400,000 entries whatever the program does, in whatever order and by however many threads and
 * processes it is made. A bin is named by its member next to 0. */
#ifndef CTS_COMMUNICATION_STRIDES_H
#define CTS_COMMUNICATION_STRIDES_H

#include <stdint.h>

#include "common/error.h"
#include "trace/acc.h"

enum { CTS_STRIDE_EXACT = 1 << 16 };

/* (a) between consecutive active lanes of a warp's access that communicates; (b) between
 * consecutive addresses of a CTA that communicate. Loads: what reads; stores: what writes. */
#define CTS_STRIDE_KINDS(X)                                                                        \
    X(LOAD_LANE, "load lane")                                                                      \
    X(LOAD_ADDRESS, "load address")                                                                \
    X(STORE_LANE, "store lane")                                                                    \
    X(STORE_ADDRESS, "store address")
enum cts_stride_kind {
#define X(name, text) CTS_STRIDE_##name,
    CTS_STRIDE_KINDS(X)
#undef X
        CTS_STRIDE_KIND_COUNT
};
const char *cts_stride_kind_text(enum cts_stride_kind kind);

struct cts_stride_entry {
    int64_t stride; /* of its bin the one next to 0 */
    uint64_t width; /* how many strides the bin has */
    uint64_t count;
};

/* A counter per bin, of which a launch mostly touches a few. So that small launches cost little,
 * what is in use has a bit for each line of CTS_STRIDE_LINE counters, and each word of such bits
 * has a bit again. Zero-initialise. */
enum {
    CTS_STRIDE_SIZES = 64 - 16, /* powers of two from CTS_STRIDE_EXACT on */
    CTS_STRIDE_STEPS = 2048,    /* bins of each */
    CTS_STRIDE_BINS = 2 * CTS_STRIDE_EXACT + 2 * CTS_STRIDE_SIZES * CTS_STRIDE_STEPS,
    CTS_STRIDE_LINE = 8, /* counters of a line of the cache */
    CTS_STRIDE_LINES = CTS_STRIDE_BINS / CTS_STRIDE_LINE,
    CTS_STRIDE_LINE_WORDS = CTS_STRIDE_LINES / 64
};
_Static_assert(CTS_STRIDE_BINS % (CTS_STRIDE_LINE * 64 * 64) == 0, "words cover the bins");

struct cts_strides {
    uint64_t *counts;
    uint64_t lines[CTS_STRIDE_LINE_WORDS];      /* in use */
    uint64_t words[CTS_STRIDE_LINE_WORDS / 64]; /* of `lines` that are not 0 */
};

/* The bin of a stride; the bin's member next to 0, and how many it has. */
static inline uint32_t cts_stride_bin(int64_t stride)
{
    const uint64_t size = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
    if (size < CTS_STRIDE_EXACT) return (uint32_t)(stride + CTS_STRIDE_EXACT);
    const unsigned exponent = 63u - (unsigned)__builtin_clzll(size);
    const uint32_t step = (uint32_t)(size >> (exponent - 11)) & (CTS_STRIDE_STEPS - 1);
    return 2u * CTS_STRIDE_EXACT +
           ((stride < 0) * CTS_STRIDE_SIZES + exponent - 16) * CTS_STRIDE_STEPS + step;
}

CTS_MUST_CHECK enum cts_status cts_strides_prepare(struct cts_strides *strides,
                                                   struct cts_error *error);

static inline void cts_strides_count_bin(struct cts_strides *strides, uint32_t bin, uint64_t count)
{
    const uint32_t line = bin / CTS_STRIDE_LINE;
    const uint64_t bit = UINT64_C(1) << line % 64;
    strides->counts[bin] += count;
    if (strides->lines[line / 64] & bit) return;
    strides->lines[line / 64] |= bit;
    strides->words[line / 64 / 64] |= UINT64_C(1) << line / 64 % 64;
}

static inline enum cts_status cts_strides_add(struct cts_strides *strides, int64_t stride,
                                              uint64_t count, struct cts_error *error)
{
    const uint32_t bin = cts_stride_bin(stride);
    if (__builtin_expect(!strides->counts, 0) && cts_strides_prepare(strides, error))
        return CTS_MEMORY;
    cts_strides_count_bin(strides, bin, count);
    return CTS_OK;
}

/* The strides between consecutive active lanes of record i. */
CTS_MUST_CHECK enum cts_status cts_strides_add_record(struct cts_strides *strides,
                                                      const struct cts_acc_batch *batch, size_t i,
                                                      struct cts_error *error);

/* sum += more */
CTS_MUST_CHECK enum cts_status
cts_strides_merge(struct cts_strides *sum, const struct cts_strides *more, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_strides_add_bin(struct cts_strides *strides, uint32_t bin,
                                                   uint64_t count, struct cts_error *error);
/* Different bins in use; where the first in use from `bin` on is, CTS_STRIDE_BINS when none. */
size_t cts_strides_count(const struct cts_strides *strides);
uint32_t cts_strides_next(const struct cts_strides *strides, uint32_t bin);
void cts_strides_clear(struct cts_strides *strides);
void cts_strides_release(struct cts_strides *strides);

/* All entries by stride, in a new array that the caller frees. */
struct cts_stride_entry *cts_strides_sorted(const struct cts_strides *strides, size_t *count,
                                            struct cts_error *error);

/* Ascending addresses of a CTA, for strides of kind (b). Zero-initialise, with `strides` set. */
struct cts_addresses {
    struct cts_strides *strides;
    uint64_t last;
    bool any;
};

/* Addresses first, first + step, ..., last, none of them below what came before; one that came
 * before does not count again. */
static inline enum cts_status cts_addresses_add(struct cts_addresses *addresses, uint64_t first,
                                                uint64_t last, uint64_t step,
                                                struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (addresses->any) {
        if (first <= addresses->last) {
            const uint64_t passed = (addresses->last - first) / step + 1;
            if (passed > (last - first) / step) return CTS_OK;
            first += passed * step;
        }
        status = cts_strides_add(addresses->strides, (int64_t)(first - addresses->last), 1, error);
    }
    if (!status && last > first)
        status = cts_strides_add(addresses->strides, (int64_t)step, (last - first) / step, error);
    addresses->any = true;
    addresses->last = last;
    return status;
}

#endif
