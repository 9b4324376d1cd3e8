/* The primitives of the pattern recogniser (zip-body.h) for each instruction set. A full affine
 * warp, the usual one, is 4 loads, 4 subtractions and compares, and 4 stores of zeros with AVX-512.
 * Strides are at most 32 bits wide, so that a 32-bit multiplication with a 64-bit result does. */
#include "trace/write/zip.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* row_ends[w]: the lanes after which a row of w lanes ends, without the last lane of the warp. */
static const uint32_t row_ends[CTS_WARP_LANES] = {
#define ENDS_2(w, k) ((w) * (k) <= 31 ? 1u << (((w) * (k) - 1) & 31) : 0)
#define ENDS(w)                                                                                    \
    (ENDS_2(w, 1) | ENDS_2(w, 2) | ENDS_2(w, 3) | ENDS_2(w, 4) | ENDS_2(w, 5) | ENDS_2(w, 6) |     \
     ENDS_2(w, 7) | ENDS_2(w, 8) | ENDS_2(w, 9) | ENDS_2(w, 10) | ENDS_2(w, 11) | ENDS_2(w, 12) |  \
     ENDS_2(w, 13) | ENDS_2(w, 14) | ENDS_2(w, 15))
    0,        0,        ENDS(2),  ENDS(3),  ENDS(4),  ENDS(5),  ENDS(6),  ENDS(7),
    ENDS(8),  ENDS(9),  ENDS(10), ENDS(11), ENDS(12), ENDS(13), ENDS(14), ENDS(15),
    ENDS(16), ENDS(17), ENDS(18), ENDS(19), ENDS(20), ENDS(21), ENDS(22), ENDS(23),
    ENDS(24), ENDS(25), ENDS(26), ENDS(27), ENDS(28), ENDS(29), ENDS(30), ENDS(31),
#undef ENDS
#undef ENDS_2
};

static inline bool is_stride(uint64_t step)
{
    return step + 0x80000000u <= UINT32_MAX;
}

/* Divides a distance of `lanes` lanes; false: not a whole stride of 32 bits. */
static inline bool divide_stride(uint64_t *step, unsigned lanes)
{
    if (lanes != 1) {
        const int64_t distance = (int64_t)*step;
        if (distance >= INT32_MIN && distance <= INT32_MAX) { /* a 64-bit division is slow */
            if ((int32_t)distance % (int32_t)lanes) return false;
            *step = (uint64_t)(int64_t)((int32_t)distance / (int32_t)lanes);
        } else {
            if (distance % (int64_t)lanes) return false;
            *step = (uint64_t)(distance / (int64_t)lanes);
        }
    }
    return is_stride(*step);
}

/* The first lane and those behind it, as far as all of them span less than 2^32 bytes. */
static uint32_t near_lanes(uint32_t mask, const uint64_t *addresses)
{
    uint64_t least = UINT64_MAX, most = 0;
    uint32_t near = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint64_t address = addresses[__builtin_ctz(rest)];
        const uint64_t new_least = address < least ? address : least;
        const uint64_t new_most = address > most ? address : most;
        if (new_most - new_least > UINT32_MAX) break;
        least = new_least;
        most = new_most;
        near |= rest & -rest;
    }
    return near;
}

static uint32_t lanes_in_window(const uint64_t *addresses, uint32_t mask, uint64_t start,
                                uint64_t size_bytes)
{
    uint32_t inside = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (addresses[__builtin_ctz(rest)] - start < size_bytes) inside |= rest & -rest;
    return inside;
}

/* ---- any machine ----
 *
 * The usual answers, all lanes or none, come from sums that compilers vectorise; only the others
 * are put together bit by bit. */

#define ZIP_TARGET
#define ZIP(name) name##_generic

static inline uint32_t active_lanes_generic(const uint64_t *row)
{
    uint64_t active = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES; l++) active += row[l] != 0;
    if (active == CTS_WARP_LANES) return UINT32_MAX;
    uint32_t mask = 0;
    for (unsigned l = 0; active && l < CTS_WARP_LANES; l++) mask |= (uint32_t)(row[l] != 0) << l;
    return mask;
}
static inline uint32_t step_breaks_generic(const uint64_t *row, uint64_t step)
{
    uint64_t differ = 0;
    for (unsigned l = 0; l + 1 < CTS_WARP_LANES; l++) differ |= (row[l + 1] - row[l]) ^ step;
    uint32_t breaks = 0;
    for (unsigned l = 0; differ && l + 1 < CTS_WARP_LANES; l++)
        breaks |= (uint32_t)(row[l + 1] - row[l] != step) << l;
    return breaks;
}
static inline uint32_t affine_breaks_generic(const uint64_t *row, uint64_t base, uint64_t s0)
{
    uint32_t breaks = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES; l++)
        breaks |= (uint32_t)(row[l] != base + s0 * l) << l;
    return breaks;
}
static inline uint32_t two_level_breaks_generic(const uint64_t *row, uint64_t base, uint64_t s0,
                                                uint64_t s1, unsigned w)
{
    uint32_t breaks = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES; l++)
        breaks |= (uint32_t)(row[l] != base + s0 * (l % w) + s1 * (l / w)) << l;
    return breaks;
}
static inline bool gather_list_generic(const uint64_t *row, uint32_t mask, uint32_t *offsets,
                                       uint64_t *base)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint64_t address = row[__builtin_ctz(rest)];
        least = address < least ? address : least;
        most = address > most ? address : most;
    }
    *base = least;
    if (most - least > UINT32_MAX) return false;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        *offsets++ = (uint32_t)(row[__builtin_ctz(rest)] - least);
    return true;
}
static inline unsigned even_rows_generic(const uint64_t *row)
{
    (void)row;
    return 0;
}
static inline void clear_row_generic(uint64_t *row)
{
    memset(row, 0, CTS_WARP_LANES * sizeof *row);
}

#include "trace/write/zip-body.h"

const struct cts_zip cts_zip_generic = {
    .name = "generic", .rows = rows_generic, .one = one_generic};

#if defined(__x86_64__)

/* ---- AVX2 ---- */

#define ZIP_TARGET __attribute__((target("avx2,bmi,popcnt,lzcnt")))
#define ZIP(name)  name##_avx2

ZIP_TARGET static inline __m256i load_4(const uint64_t *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}
ZIP_TARGET static inline uint32_t differ_4(__m256i a, __m256i b)
{
    return ~(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(a, b))) & 15;
}
ZIP_TARGET static inline uint32_t active_lanes_avx2(const uint64_t *row)
{
    uint32_t mask = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 4)
        mask |= differ_4(load_4(row + l), _mm256_setzero_si256()) << l;
    return mask;
}
ZIP_TARGET static inline uint32_t step_breaks_avx2(const uint64_t *row, uint64_t step)
{
    const __m256i steps = _mm256_set1_epi64x((int64_t)step);
    uint32_t breaks = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES - 4; l += 4)
        breaks |= differ_4(_mm256_sub_epi64(load_4(row + l + 1), load_4(row + l)), steps) << l;
    /* The last four differences start one lane earlier, or they would read behind the row. */
    return breaks | differ_4(_mm256_sub_epi64(load_4(row + 28), load_4(row + 27)), steps) << 27;
}
ZIP_TARGET static inline uint32_t affine_breaks_avx2(const uint64_t *row, uint64_t base,
                                                     uint64_t s0)
{
    const __m256i stride = _mm256_set1_epi64x((int64_t)s0);
    const __m256i bases = _mm256_set1_epi64x((int64_t)base);
    uint32_t breaks = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 4) {
        const __m256i lane = _mm256_add_epi64(_mm256_set_epi64x(3, 2, 1, 0), _mm256_set1_epi64x(l));
        const __m256i expected = _mm256_add_epi64(bases, _mm256_mul_epi32(lane, stride));
        breaks |= differ_4(load_4(row + l), expected) << l;
    }
    return breaks;
}
ZIP_TARGET static inline uint32_t two_level_breaks_avx2(const uint64_t *row, uint64_t base,
                                                        uint64_t s0, uint64_t s1, unsigned w)
{
    const __m256i bases = _mm256_set1_epi64x((int64_t)base);
    const __m256i inverse = _mm256_set1_epi64x(65536 / w + 1); /* exact for lanes below 32 */
    uint32_t breaks = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 4) {
        const __m256i lane = _mm256_add_epi64(_mm256_set_epi64x(3, 2, 1, 0), _mm256_set1_epi64x(l));
        const __m256i high = _mm256_srli_epi64(_mm256_mul_epu32(lane, inverse), 16);
        const __m256i low = _mm256_sub_epi64(lane, _mm256_mul_epu32(high, _mm256_set1_epi64x(w)));
        const __m256i inner = _mm256_mul_epi32(low, _mm256_set1_epi64x((int64_t)s0));
        const __m256i outer = _mm256_mul_epi32(high, _mm256_set1_epi64x((int64_t)s1));
        const __m256i expected = _mm256_add_epi64(bases, _mm256_add_epi64(inner, outer));
        breaks |= differ_4(load_4(row + l), expected) << l;
    }
    return breaks;
}
ZIP_TARGET static inline bool gather_list_avx2(const uint64_t *row, uint32_t mask,
                                               uint32_t *offsets, uint64_t *base)
{
    return gather_list_generic(row, mask, offsets, base);
}
ZIP_TARGET static inline unsigned even_rows_avx2(const uint64_t *row)
{
    return even_rows_generic(row);
}
ZIP_TARGET static inline void clear_row_avx2(uint64_t *row)
{
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 4)
        _mm256_storeu_si256((__m256i *)(row + l), _mm256_setzero_si256());
}

#include "trace/write/zip-body.h"

const struct cts_zip cts_zip_avx2 = {.name = "avx2", .rows = rows_avx2, .one = one_avx2};

/* ---- AVX-512 ---- */

#define ZIP_TARGET                                                                                 \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,bmi,popcnt,lzcnt")))
#define ZIP(name) name##_avx512

ZIP_TARGET static inline __m512i load_8(const uint64_t *at)
{
    return _mm512_loadu_si512(at);
}
ZIP_TARGET static inline __m512i lanes_8(unsigned first)
{
    return _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(first));
}
ZIP_TARGET static inline uint32_t active_lanes_avx512(const uint64_t *row)
{
    uint32_t mask = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 8) {
        const __m512i lanes = load_8(row + l);
        mask |= (uint32_t)_mm512_test_epi64_mask(lanes, lanes) << l;
    }
    return mask;
}
ZIP_TARGET static inline uint32_t step_breaks_avx512(const uint64_t *row, uint64_t step)
{
    const __m512i steps = _mm512_set1_epi64((int64_t)step);
    uint32_t breaks = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES - 8; l += 8) {
        const __m512i difference = _mm512_sub_epi64(load_8(row + l + 1), load_8(row + l));
        breaks |= (uint32_t)_mm512_cmpneq_epi64_mask(difference, steps) << l;
    }
    /* The last eight differences start one lane earlier, or they would read behind the row. */
    const __m512i difference = _mm512_sub_epi64(load_8(row + 24), load_8(row + 23));
    return breaks | (uint32_t)_mm512_cmpneq_epi64_mask(difference, steps) << 23;
}
ZIP_TARGET static inline uint32_t affine_breaks_avx512(const uint64_t *row, uint64_t base,
                                                       uint64_t s0)
{
    const __m512i stride = _mm512_set1_epi64((int64_t)s0);
    const __m512i bases = _mm512_set1_epi64((int64_t)base);
    uint32_t breaks = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 8) {
        const __m512i expected = _mm512_add_epi64(bases, _mm512_mul_epi32(lanes_8(l), stride));
        breaks |= (uint32_t)_mm512_cmpneq_epi64_mask(load_8(row + l), expected) << l;
    }
    return breaks;
}
ZIP_TARGET static inline uint32_t two_level_breaks_avx512(const uint64_t *row, uint64_t base,
                                                          uint64_t s0, uint64_t s1, unsigned w)
{
    const __m512i bases = _mm512_set1_epi64((int64_t)base);
    const __m512i inverse = _mm512_set1_epi64(65536 / w + 1); /* exact for lanes below 32 */
    uint32_t breaks = 0;
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 8) {
        const __m512i high = _mm512_srli_epi64(_mm512_mul_epu32(lanes_8(l), inverse), 16);
        const __m512i low =
            _mm512_sub_epi64(lanes_8(l), _mm512_mul_epu32(high, _mm512_set1_epi64(w)));
        const __m512i inner = _mm512_mul_epi32(low, _mm512_set1_epi64((int64_t)s0));
        const __m512i outer = _mm512_mul_epi32(high, _mm512_set1_epi64((int64_t)s1));
        const __m512i expected = _mm512_add_epi64(bases, _mm512_add_epi64(inner, outer));
        breaks |= (uint32_t)_mm512_cmpneq_epi64_mask(load_8(row + l), expected) << l;
    }
    return breaks;
}
/* Writes up to 16 elements behind the last one. */
ZIP_TARGET static inline bool gather_list_avx512(const uint64_t *row, uint32_t mask,
                                                 uint32_t *offsets, uint64_t *base)
{
    __m512i least = _mm512_set1_epi64(-1), most = _mm512_setzero_si512();
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 8) {
        const __mmask8 active = (__mmask8)(mask >> l);
        least = _mm512_mask_min_epu64(least, active, least, load_8(row + l));
        most = _mm512_mask_max_epu64(most, active, most, load_8(row + l));
    }
    *base = _mm512_reduce_min_epu64(least);
    if (_mm512_reduce_max_epu64(most) - *base > UINT32_MAX) return false;
    const __m512i bases = _mm512_set1_epi64((int64_t)*base);
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 8) {
        const __mmask8 active = (__mmask8)(mask >> l);
        const __m256i near = _mm512_cvtepi64_epi32(_mm512_sub_epi64(load_8(row + l), bases));
        _mm256_storeu_si256((__m256i *)offsets, _mm256_maskz_compress_epi32(active, near));
        offsets += __builtin_popcount(active);
    }
    return true;
}
/* Eight lanes with one stride, and three steps from eight to eight that are the same for all. */
ZIP_TARGET static inline unsigned even_rows_avx512(const uint64_t *row)
{
    const __m512i a = load_8(row), b = load_8(row + 8), c = load_8(row + 16), d = load_8(row + 24);
    const unsigned inactive =
        (unsigned)_mm512_testn_epi64_mask(a, a) | (unsigned)_mm512_testn_epi64_mask(b, b) |
        (unsigned)_mm512_testn_epi64_mask(c, c) | (unsigned)_mm512_testn_epi64_mask(d, d);
    if (inactive) return 0;
    const uint64_t s0 = row[1] - row[0];
    const uint64_t steps[3] = {row[8] - row[0], row[16] - row[8], row[24] - row[16]};
    const __m512i first =
        _mm512_add_epi64(_mm512_set1_epi64((int64_t)row[0]),
                         _mm512_mul_epi32(lanes_8(0), _mm512_set1_epi64((int64_t)s0)));
    const __m512i off[4] = {
        _mm512_xor_si512(a, first),
        _mm512_xor_si512(_mm512_sub_epi64(b, a), _mm512_set1_epi64((int64_t)steps[0])),
        _mm512_xor_si512(_mm512_sub_epi64(c, b), _mm512_set1_epi64((int64_t)steps[1])),
        _mm512_xor_si512(_mm512_sub_epi64(d, c), _mm512_set1_epi64((int64_t)steps[2])),
    };
    const __m512i any =
        _mm512_or_si512(_mm512_or_si512(off[0], off[1]), _mm512_or_si512(off[2], off[3]));
    if (_mm512_test_epi64_mask(any, any)) return 0;
    if (steps[0] == steps[1] && steps[1] == steps[2]) return steps[0] == 8 * s0 ? 32 : 8;
    return steps[0] == 8 * s0 && steps[2] == 8 * s0 ? 16 : 0;
}
ZIP_TARGET static inline void clear_row_avx512(uint64_t *row)
{
    for (unsigned l = 0; l < CTS_WARP_LANES; l += 8)
        _mm512_storeu_si512(row + l, _mm512_setzero_si512());
}

#include "trace/write/zip-body.h"

const struct cts_zip cts_zip_avx512 = {.name = "avx512", .rows = rows_avx512, .one = one_avx512};

#endif

const struct cts_zip *cts_zip_best(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return &cts_zip_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")) return &cts_zip_avx2;
#endif
    return &cts_zip_generic;
}
