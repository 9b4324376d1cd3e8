/* The ring between the GPU's producers and the host's consumers: its words in memory. Plain C that
 * nvcc compiles too.
 *
 * A ring has bins. A bin is an array of 2^n slots of 32 bytes in memory that both sides see, and is
 * used round and round: position p of a bin is slot p mod 2^n in lap p div 2^n. A producer reserves
 * the slots of a whole warp record at once, by adding to the bin's head, and writes them when the
 * consumers' tail has come near enough; it never waits for another producer. The consumer of a bin
 * reads in order.
 *
 * How the consumer knows that a slot has been written: bit 31 of each of its eight words is the
 * parity of the lap, and every word is written in every lap. So neither a fence nor a flag is
 * needed, words may arrive in any order, and a slot is complete when all of them show the parity of
 * this lap. Memory is zeroed at first: lap 0 writes 1.
 *
 * A record that is affine, two-level affine or uniform is one slot. A list has slots of eight
 * offsets behind it: signed, 31 bits, in the order of the lanes; what is left of the last slot is
 * filled up.
 *
 * Accesses of a whole warp that follow one another may share a slot, a *repeated* record: their
 * sites are numbers that follow one another, their patterns are the same, no lists, and each base
 * is as far from the one before. */
#ifndef CTS_RING_H
#define CTS_RING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define CTS_RING_INLINE static __device__ __forceinline__
#else
#define CTS_RING_INLINE static inline
#endif

enum {
    CTS_RING_SLOT_BYTES = 32,
    CTS_RING_SLOT_WORDS = 8,
    CTS_RING_SLOT_OFFSETS = 8,
    CTS_RING_RECORD_SLOTS_MAX = 5, /* a list of 32 lanes */
    CTS_RING_LAUNCHES = 1 << 16,   /* numbers of launches, used again and again */
    CTS_RING_PC_SHIFT = 4,         /* instructions are 16 bytes */
    CTS_RING_PC_BITS = 28,
    CTS_RING_BASE_BITS = 52,
    CTS_RING_REPEATS_MAX = 8,  /* accesses of a repeated record */
    CTS_RING_COUNT_SHIFT = 20, /* of their number, in word 7 */
};

/* As enum cts_operation, enum cts_space and enum cts_pattern, in two bits each. */
enum cts_ring_operation {
    CTS_RING_LOAD,
    CTS_RING_STORE,
    CTS_RING_ATOMIC,
    CTS_RING_AS_SITE, /* `pc` is the number of a site, which tells operation and width */
};
/* CTS_RING_BARRIER: of unmodified programs' records, which have no site to tell it: no address, but
 * a barrier's argument, and as its width one of enum cts_ring_barrier. */
enum cts_ring_space { CTS_RING_GLOBAL, CTS_RING_SHARED, CTS_RING_LOCAL, CTS_RING_BARRIER };
enum cts_ring_barrier {
    CTS_RING_CTA_SYNC = 1,
    CTS_RING_WARP_SYNC = 2,
    CTS_RING_SYNC_OTHER = 4,
    CTS_RING_CLUSTER_ARRIVE = 8,
    CTS_RING_CLUSTER_WAIT = 16,
    CTS_RING_PART_SYNC = 32,  /* of a part of the CTA */
    CTS_RING_TENSOR_COPY = 64 /* no barrier, but a tensor copy: copies.h */
};
enum cts_ring_pattern { CTS_RING_UNIFORM, CTS_RING_AFFINE, CTS_RING_TWO_LEVEL, CTS_RING_LIST };

/* A warp record. `base` as struct cts_access has it; of a list, the address of its first lane. */
struct cts_ring_record {
    uint64_t base;
    uint32_t mask, cta;
    int32_t s0, s1;
    uint32_t pc;     /* of the instruction, bits 4 to 31 of its address */
    uint32_t launch; /* number modulo CTS_RING_LAUNCHES */
    uint8_t warp;    /* linear thread of the CTA / 32 */
    uint8_t row_lanes;
    uint8_t pattern, space, operation;
    uint8_t width_log2; /* of the bytes per lane */
};

/* A slot, as stored; bit 31 of each word is the parity. The words are made so that a GPU has little
 * to do: two halves of 16 bytes, and most words are one value.
 *
 *   word  bits 0 to 30
 *   0     base 0..30
 *   1     base 31..51 in 0..20; warp 21..25, row_lanes 26..30
 *   2     mask 0..30
 *   3     cta 0..30
 *   4     s0 0..30
 *   5     pc in 0..27, space 28..29; bit 31 of the mask in 30
 *   6     s1 0..30
 *   7     launch in 0..15; bit 31 of cta in 16; whether bits 30 and 31 differ, of s0 in 17 and of
 *         s1 in 18; in 19 whether values follow (values.h); bytes per lane (of 128: 0) in 20..26,
 * operation + 1 (of 3: 0) in 27..28, pattern 29..30
 *
 * Where the site tells operation and width (CTS_RING_AS_SITE), 20..26 of word 7 are how many
 * accesses the record is of: 1, or of a repeated record 2 to CTS_RING_REPEATS_MAX. That one has the
 * distance of its accesses, signed, in the place of the mask. */
struct cts_ring_words {
    uint32_t w[CTS_RING_SLOT_WORDS];
};

#define CTS_RING_PARITY 0x80000000u

/* The parity bit of a position. */
CTS_RING_INLINE uint32_t cts_ring_parity(uint64_t position, uint32_t slots_log2)
{
    return ((uint32_t)(position >> slots_log2) & 1u) ? 0u : CTS_RING_PARITY;
}

/* Slots of a record whose list has so many lanes; 0: no list. */
CTS_RING_INLINE uint32_t cts_ring_slots(uint32_t list_lanes)
{
    return 1u + (list_lanes + CTS_RING_SLOT_OFFSETS - 1) / CTS_RING_SLOT_OFFSETS;
}

CTS_RING_INLINE struct cts_ring_words cts_ring_pack(const struct cts_ring_record *record,
                                                    uint32_t parity)
{
    const uint32_t low = ~CTS_RING_PARITY;
    const uint32_t s0 = (uint32_t)record->s0, s1 = (uint32_t)record->s1;
    struct cts_ring_words words;
    words.w[0] = ((uint32_t)record->base & low) | parity;
    words.w[1] = ((uint32_t)(record->base >> 31) & 0x1fffffu) | (uint32_t)record->warp << 21 |
                 (uint32_t)record->row_lanes << 26 | parity;
    words.w[2] = (record->mask & low) | parity;
    words.w[3] = (record->cta & low) | parity;
    words.w[4] = (s0 & low) | parity;
    words.w[5] = record->pc | (uint32_t)record->space << 28 | record->mask >> 31 << 30 | parity;
    words.w[6] = (s1 & low) | parity;
    words.w[7] = record->launch | record->cta >> 31 << 16 | (s0 ^ s0 << 1) >> 31 << 17 |
                 (s1 ^ s1 << 1) >> 31 << 18 | (1u << record->width_log2 & 0x7fu) << 20 |
                 ((record->operation + 1u) & 3u) << 27 | (uint32_t)record->pattern << 29 | parity;
    return words;
}

/* Makes a record's words those of `count` accesses. The record says CTS_RING_AS_SITE and
 * width_log2 0 and, if there are several, has their distance as its mask. */
CTS_RING_INLINE void cts_ring_set_count(struct cts_ring_words *words, uint32_t count)
{
    words->w[7] += (count - 1) << CTS_RING_COUNT_SHIFT;
}

/* What a site is known by: the place in word 5, and in word 7 bytes and operation. */
#define CTS_RING_PLACE_MASK 0x3fffffffu
#define CTS_RING_KIND_MASK  0x1ff00000u

/* Fields of a slot's words. */
CTS_RING_INLINE uint64_t cts_ring_base_of(const uint32_t *w)
{
    const uint64_t base = (w[0] & ~CTS_RING_PARITY) | (uint64_t)(w[1] & 0x1fffffu) << 31;
    return (uint64_t)((int64_t)(base << 12) >> 12); /* may be below 0: lane 0 need not be */
}
CTS_RING_INLINE uint32_t cts_ring_mask_of(const uint32_t *w)
{
    return (w[2] & ~CTS_RING_PARITY) | (w[5] >> 30 & 1) << 31;
}
CTS_RING_INLINE uint32_t cts_ring_cta_of(const uint32_t *w)
{
    return (w[3] & ~CTS_RING_PARITY) | (w[7] >> 16 & 1) << 31;
}
CTS_RING_INLINE int32_t cts_ring_stride_of(uint32_t word, uint32_t differ)
{
    return (int32_t)(((uint32_t)((int32_t)(word << 1) >> 1)) ^ (differ & 1) << 31);
}
CTS_RING_INLINE uint32_t cts_ring_launch_of(const uint32_t *w)
{
    return w[7] & (CTS_RING_LAUNCHES - 1);
}
CTS_RING_INLINE uint32_t cts_ring_warp_of(const uint32_t *w)
{
    return w[1] >> 21 & 31;
}
CTS_RING_INLINE uint32_t cts_ring_row_lanes_of(const uint32_t *w)
{
    return w[1] >> 26 & 31;
}
CTS_RING_INLINE uint32_t cts_ring_pattern_of(const uint32_t *w)
{
    return w[7] >> 29 & 3;
}
/* Accesses that the record is of. */
CTS_RING_INLINE uint32_t cts_ring_count_of(const uint32_t *w)
{
    const bool has_count = (w[7] >> 27 & 3) == ((CTS_RING_AS_SITE + 1) & 3);
    const uint32_t count = w[7] >> CTS_RING_COUNT_SHIFT & 0x7fu;
    return !has_count || count <= 1       ? 1
           : count < CTS_RING_REPEATS_MAX ? count
                                          : CTS_RING_REPEATS_MAX;
}
/* The words of access `k` of a repeated record, as a record of its own. */
CTS_RING_INLINE void cts_ring_take_repeat(const uint32_t *w, uint32_t k, uint32_t *own)
{
    const uint64_t distance = (uint64_t)(int64_t)(int32_t)cts_ring_mask_of(w);
    const uint64_t base = cts_ring_base_of(w) + distance * k;
    own[0] = (uint32_t)base & ~CTS_RING_PARITY;
    own[1] = (w[1] & ~0x1fffffu) | ((uint32_t)(base >> 31) & 0x1fffffu);
    own[2] = ~CTS_RING_PARITY;
    own[3] = w[3];
    own[4] = w[4];
    own[5] = (w[5] & 0x30000000u) | ((w[5] + k) & 0xfffffffu) | 1u << 30;
    own[6] = w[6];
    own[7] = (w[7] & ~(0x7fu << CTS_RING_COUNT_SHIFT)) | 1u << CTS_RING_COUNT_SHIFT;
}
/* False too where the site alone knows. */
CTS_RING_INLINE bool cts_ring_is_load(const uint32_t *w)
{
    return (w[7] >> 27 & 3) == CTS_RING_LOAD + 1;
}
CTS_RING_INLINE uint32_t cts_ring_space_of(const uint32_t *w)
{
    return w[5] >> 28 & 3;
}

CTS_RING_INLINE void cts_ring_unpack(const struct cts_ring_words *words,
                                     struct cts_ring_record *record)
{
    const uint32_t *const w = words->w;
    const uint32_t bytes = (w[7] >> 20 & 0x7fu) | 1u << 7; /* never 0 */
    record->base = cts_ring_base_of(w);
    record->mask = cts_ring_mask_of(w);
    record->cta = cts_ring_cta_of(w);
    record->s0 = cts_ring_stride_of(w[4], w[7] >> 17);
    record->s1 = cts_ring_stride_of(w[6], w[7] >> 18);
    record->pc = w[5] & 0xfffffffu;
    record->launch = cts_ring_launch_of(w);
    record->warp = (uint8_t)cts_ring_warp_of(w);
    record->row_lanes = (uint8_t)cts_ring_row_lanes_of(w);
    record->pattern = (uint8_t)cts_ring_pattern_of(w);
    record->space = (uint8_t)cts_ring_space_of(w);
    record->operation = (uint8_t)(((w[7] >> 27) + 3) & 3);
    record->width_log2 = 0;
    while (!(bytes >> record->width_log2 & 1)) record->width_log2++;
}

/* An offset of a list: 31 bits, signed. */
CTS_RING_INLINE uint32_t cts_ring_pack_offset(int32_t offset, uint32_t parity)
{
    return ((uint32_t)offset & ~CTS_RING_PARITY) | parity;
}
CTS_RING_INLINE int32_t cts_ring_unpack_offset(uint32_t word)
{
    return (int32_t)(word << 1) >> 1;
}

/* What producers know of a bin. On a GPU this is device memory, since atomics over the bus are
 * slow. One word holds all that changes, so that a reservation is one addition: its high half is
 * the position behind the last reservation, its low half a tail that was seen, which is read again,
 * over the bus, only when it is too old. Both are the low 32 bits of positions. */
struct cts_ring_bin {
    uint64_t head_and_tail;
    uint64_t slots;       /* address of the slots */
    uint64_t tail;        /* address of the consumer's tail, a uint64_t */
    uint64_t padding[13]; /* bins are in lines of their own */
};

#ifndef __CUDACC__
_Static_assert(sizeof(struct cts_ring_words) == CTS_RING_SLOT_BYTES, "a slot");
_Static_assert(sizeof(struct cts_ring_bin) == 128, "a line");
#endif

#endif
