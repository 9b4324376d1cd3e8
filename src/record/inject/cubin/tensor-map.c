/* Words of 32 bits, as maps of compute capability 9.0 have them (found by encoding maps that differ
 * in one argument; tests/unit/tensor-map-test.c holds samples):
 *
 *   0, 1     address, 57 bits, a multiple of 16
 *   2        bit 0: im2col; 4-6: dimensions - 1; 7-10: type; 11-12: interleave; 13-14: swizzle;
 *            15: fill with NaN; 16: TF32; 17-18: L2 promotion; 19-31: 0
 *   3-6      strides of dimensions 1 to 4 in units of 16 bytes, the low 32 bits
 *   7        their bits 32-35, four bits each
 *   8-12     sizes - 1; 0 beyond the last dimension
 *   13       element strides - 1, three bits each; 24-31: box of dimension 0, - 1
 *   14       boxes of dimensions 1 to 4, - 1, eight bits each (im2col: corners)
 *   15       im2col: pixels - 1
 *
 * What is beyond the last dimension in words 3-7 means nothing: cuBLAS leaves values there. */
#include "record/inject/cubin/tensor-map.h"

#include <string.h>

enum { DIMENSIONS_MAX = 5, TYPE_COUNT = 11, INTERLEAVE_COUNT = 3, ALIGNMENT_BYTES = 16 };

static const struct {
    const char *name;
    uint8_t bytes;
} types[TYPE_COUNT] = {{"u8", 1},  {"u16", 2}, {"u32", 4},
                       {"s32", 4}, {"u64", 8}, {"s64", 8},
                       {"f16", 2}, {"f32", 4}, {"f32", 4} /* denormals as 0 */,
                       {"f64", 8}, {"bf16", 2}};

static uint32_t bits(uint32_t word, unsigned first, unsigned count)
{
    return word >> first & ((1u << count) - 1);
}

static bool is_map(const uint32_t *words)
{
    const uint32_t dimensions = bits(words[2], 4, 3) + 1;
    const bool has_address = words[0] | words[1], is_aligned = words[0] % ALIGNMENT_BYTES == 0;
    if (!has_address || !is_aligned || words[1] >> 25 || words[2] >> 19) return false;
    if (words[2] < 4 || dimensions > DIMENSIONS_MAX || bits(words[2], 7, 4) >= TYPE_COUNT ||
        bits(words[2], 11, 2) >= INTERLEAVE_COUNT || bits(words[13], 15, 9))
        return false;
    for (uint32_t d = dimensions; d < DIMENSIONS_MAX; d++)
        if (words[8 + d]) return false;
    return true;
}

bool cts_tensor_map_decode(const void *bytes, struct cts_tensor_map *map)
{
    uint32_t w[CTS_TENSOR_MAP_BYTES / sizeof(uint32_t)];
    memcpy(w, bytes, sizeof w);
    if (!is_map(w)) return false;
    const uint32_t type = bits(w[2], 7, 4), swizzle = bits(w[2], 13, 2);
    *map = (struct cts_tensor_map){
        .address = w[0] | (uint64_t)w[1] << 32,
        .element_type = w[2] >> 16 & 1 ? "tf32" : types[type].name,
        .element_bytes = types[type].bytes,
        .dimensions = bits(w[2], 4, 3) + 1,
        .swizzle_bytes = swizzle ? 16u << swizzle : 0,
        .interleaved = bits(w[2], 11, 2) != 0,
        .im2col = w[2] & 1,
    };
    for (uint32_t d = 0; d < DIMENSIONS_MAX; d++) {
        const bool is_there = d < map->dimensions;
        const uint64_t stride_16 =
            d == 0 ? 0 : w[2 + d] | (uint64_t)bits(w[7], 4 * (d - 1), 4) << 32;
        map->size[d] = w[8 + d] + (uint64_t)1;
        map->stride_bytes[d] = d == 0     ? map->element_bytes
                               : is_there ? stride_16 * ALIGNMENT_BYTES
                                          : 0;
        map->box[d] = d == 0                     ? bits(w[13], 24, 8) + 1
                      : is_there && !map->im2col ? bits(w[14], 8 * (d - 1), 8) + 1
                                                 : 1;
    }
    return true;
}
