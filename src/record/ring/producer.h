/* The producer's side of the ring, for GPUs (the patches) and for C (tests): reserve, wait for
 * room, store. One lane of a warp does it for all, and nothing here waits for another producer:
 * whoever has a reservation needs only room, which the consumer makes by itself, and then stores.
 */
#ifndef CTS_RING_PRODUCER_H
#define CTS_RING_PRODUCER_H

#include "ring.h"

#ifdef __CUDACC__

/* All of the ring is global memory; said so, an address needs no look at what it points to. */
CTS_RING_INLINE uint64_t cts_ring_add(uint64_t *at, uint64_t amount)
{
    uint64_t before;
    asm volatile("{ .reg .u64 a; cvta.to.global.u64 a, %1;\n"
                 "  atom.global.add.u64 %0, [a], %2; }"
                 : "=l"(before)
                 : "l"(at), "l"(amount)
                 : "memory");
    return before;
}
/* Makes the low half of a word `tail`. Two that do so at once may leave the older one. */
CTS_RING_INLINE void cts_ring_learn(uint64_t *at, uint32_t tail)
{
    asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(at), "r"(tail) : "memory");
}
CTS_RING_INLINE uint32_t cts_ring_tail(uint64_t at)
{
    uint32_t tail;
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(tail) : "l"(at) : "memory");
    return tail;
}
CTS_RING_INLINE void cts_ring_pause(void)
{
    __nanosleep(500);
}
CTS_RING_INLINE void cts_ring_store_word(uint32_t *at, uint32_t word)
{
    asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}
/* Four words at once. */
CTS_RING_INLINE void cts_ring_store_half(uint32_t *at, const uint32_t *w)
{
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(w[0]),
                 "r"(w[1]), "r"(w[2]), "r"(w[3])
                 : "memory");
}

#else

#include <sched.h>

static inline uint64_t cts_ring_add(uint64_t *at, uint64_t amount)
{
    return __atomic_fetch_add(at, amount, __ATOMIC_ACQUIRE);
}
static inline void cts_ring_learn(uint64_t *at, uint32_t tail)
{
    uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &old, (old & ~(uint64_t)UINT32_MAX) | tail, 1,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
}
static inline uint32_t cts_ring_tail(uint64_t at)
{
    return (uint32_t)__atomic_load_n((const uint64_t *)(uintptr_t)at, __ATOMIC_ACQUIRE);
}
static inline void cts_ring_pause(void)
{
    sched_yield();
}
static inline void cts_ring_store_word(uint32_t *at, uint32_t word)
{
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
}
static inline void cts_ring_store_half(uint32_t *at, const uint32_t *w)
{
    for (int i = 0; i < 4; i++) cts_ring_store_word(at + i, w[i]);
}

#endif

/* Reserves `count` slots and waits until they are free; the position of the first, modulo 2^32. */
CTS_RING_INLINE uint64_t cts_ring_reserve(struct cts_ring_bin *bin, uint32_t count,
                                          uint32_t slots_log2)
{
    const uint64_t before = cts_ring_add(&bin->head_and_tail, (uint64_t)count << 32);
    const uint32_t position = (uint32_t)(before >> 32), behind = position + count;
    const uint32_t slots = (uint32_t)1 << slots_log2;
    if (behind - (uint32_t)before > slots) { /* positions only grow, and so do tails */
        uint32_t tail;
        while (tail = cts_ring_tail(bin->tail), behind - tail > slots) cts_ring_pause();
        cts_ring_learn(&bin->head_and_tail, tail);
    }
    return position;
}

/* Reserved slots of a bin, from a position on. */
struct cts_ring_place {
    const struct cts_ring_bin *bin;
    uint64_t position;
    uint32_t slots_log2;
};

CTS_RING_INLINE uint32_t *cts_ring_slot(const struct cts_ring_bin *bin, uint64_t position,
                                        uint32_t slots_log2)
{
    const uint64_t index = position & (((uint64_t)1 << slots_log2) - 1);
    return (uint32_t *)(uintptr_t)(bin->slots + index * CTS_RING_SLOT_BYTES);
}

/* Stores the first slot of a record at a reserved position. */
CTS_RING_INLINE void cts_ring_store(const struct cts_ring_bin *bin, uint64_t position,
                                    uint32_t slots_log2, const struct cts_ring_record *record)
{
    uint32_t *const slot = cts_ring_slot(bin, position, slots_log2);
    const struct cts_ring_words words =
        cts_ring_pack(record, cts_ring_parity(position, slots_log2));
    cts_ring_store_half(slot, words.w);
    cts_ring_store_half(slot + 4, words.w + 4);
}

/* Stores offset `k` of the list of the record at `position`. The last lane's also fills up its
 * slot, from `count` on. */
CTS_RING_INLINE void cts_ring_store_offset(const struct cts_ring_bin *bin, uint64_t position,
                                           uint32_t slots_log2, uint32_t k, int32_t offset)
{
    const uint64_t at = position + 1 + k / CTS_RING_SLOT_OFFSETS;
    cts_ring_store_word(cts_ring_slot(bin, at, slots_log2) + k % CTS_RING_SLOT_OFFSETS,
                        cts_ring_pack_offset(offset, cts_ring_parity(at, slots_log2)));
}
CTS_RING_INLINE void cts_ring_fill_offsets(const struct cts_ring_bin *bin, uint64_t position,
                                           uint32_t slots_log2, uint32_t count)
{
    for (; count % CTS_RING_SLOT_OFFSETS; count++)
        cts_ring_store_offset(bin, position, slots_log2, count, 0);
}

#endif
