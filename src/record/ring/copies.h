/* A tensor copy in the ring: a record in the space of barriers, of the width CTS_RING_TENSOR_COPY,
 * whose list has words instead of offsets: the tensor map as the copy finds it, the coordinates,
 * and the mask of a multicast. Its s0 is the lane that executes the copy. Plain C that nvcc
 * compiles too.
 *
 *   word    bits 0 to 30
 *   0-15    those of the map's words
 *   16-20   those of the coordinates
 *   21      bit i: bit 31 of word i
 *   22      mask of the CTAs that get what is loaded, by rank in the cluster; 0: the CTA alone
 *   23      0 */
#ifndef CTS_RING_COPIES_H
#define CTS_RING_COPIES_H

#include "ring.h"

enum {
    CTS_RING_MAP_WORDS = 16,
    CTS_RING_POINT_WORDS = 5,
    CTS_RING_WHOLE_WORDS = CTS_RING_MAP_WORDS + CTS_RING_POINT_WORDS,
    CTS_RING_COPY_WORDS = 24,
    CTS_RING_COPY_SLOTS = 1 + CTS_RING_COPY_WORDS / CTS_RING_SLOT_OFFSETS,
};
/* The record's mask: as many lanes as its list has words. */
#define CTS_RING_COPY_MASK ((1u << CTS_RING_COPY_WORDS) - 1)

struct cts_ring_copy {
    uint32_t map[CTS_RING_MAP_WORDS];
    uint32_t point[CTS_RING_POINT_WORDS];
    uint32_t multicast;
};

/* Word `k` of the list, without a parity. */
CTS_RING_INLINE uint32_t cts_ring_copy_word(const struct cts_ring_copy *copy, uint32_t k)
{
    uint32_t high = 0;
    if (k < CTS_RING_MAP_WORDS) return copy->map[k] & ~CTS_RING_PARITY;
    if (k < CTS_RING_WHOLE_WORDS) return copy->point[k - CTS_RING_MAP_WORDS] & ~CTS_RING_PARITY;
    if (k > CTS_RING_WHOLE_WORDS)
        return k == CTS_RING_WHOLE_WORDS + 1 ? copy->multicast & 0xffffu : 0;
    for (uint32_t i = 0; i < CTS_RING_WHOLE_WORDS; i++)
        high |= (i < CTS_RING_MAP_WORDS ? copy->map[i] : copy->point[i - CTS_RING_MAP_WORDS]) >>
                31 << i;
    return high;
}

CTS_RING_INLINE void cts_ring_copy_unpack(const uint32_t *words, struct cts_ring_copy *copy)
{
    const uint32_t high = words[CTS_RING_WHOLE_WORDS];
    for (uint32_t i = 0; i < CTS_RING_WHOLE_WORDS; i++) {
        const uint32_t word = (words[i] & ~CTS_RING_PARITY) | (high >> i & 1) << 31;
        if (i < CTS_RING_MAP_WORDS)
            copy->map[i] = word;
        else
            copy->point[i - CTS_RING_MAP_WORDS] = word;
    }
    copy->multicast = words[CTS_RING_WHOLE_WORDS + 1] & 0xffffu;
}

CTS_RING_INLINE bool cts_ring_is_copy(const uint32_t *w)
{
    return cts_ring_space_of(w) == CTS_RING_BARRIER && (w[7] >> 20 & 0x7fu) == CTS_RING_TENSOR_COPY;
}

#endif
