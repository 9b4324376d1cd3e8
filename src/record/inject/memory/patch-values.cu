/* The patches of a recording with values: an image of its own, in which the others are, too. What a
 * recording without them loads into the GPU, and the stack that the deepest call needs there, is
 * not theirs. What a lane loads is read at its address, before the instruction; what it stores, the
 * Sanitizer tells; of an atomic the value before it is read. Copies have none.
 *
 * Reads go to memory as a volatile access does, not to what a multiprocessor holds of it. Another
 * thread may still write between this read and the program's own. */
#include "patch-more.cu"

#include "../../ring/values.h"

struct value {
    uint32_t w[4];
};

/* Lanes of `active` that get a record together. */
struct valued_lanes {
    uint32_t active, mask, pattern;
    uint64_t base;
    int64_t s0;
    int32_t offset; /* of a list: this lane's */
};

/* Of 1, 2, 4, 8 or 16 bytes, in one state space. */
#define READ(v, bytes, space, kind, at)                                                            \
    switch (bytes) {                                                                               \
    case 1:                                                                                        \
        asm volatile("ld" space ".u8 %0, [%1];" : "=r"(v.w[0]) : kind(at));                        \
        break;                                                                                     \
    case 2:                                                                                        \
        asm volatile("ld" space ".u16 %0, [%1];" : "=r"(v.w[0]) : kind(at));                       \
        break;                                                                                     \
    case 4:                                                                                        \
        asm volatile("ld" space ".u32 %0, [%1];" : "=r"(v.w[0]) : kind(at));                       \
        break;                                                                                     \
    case 8:                                                                                        \
        asm volatile("ld" space ".v2.u32 {%0, %1}, [%2];"                                          \
                     : "=r"(v.w[0]), "=r"(v.w[1])                                                  \
                     : kind(at));                                                                  \
        break;                                                                                     \
    case 16:                                                                                       \
        asm volatile("ld" space ".v4.u32 {%0, %1, %2, %3}, [%4];"                                  \
                     : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])                      \
                     : kind(at));                                                                  \
        break;                                                                                     \
    }

HOT value read_value(uint64_t address, uint32_t bytes, uint32_t space)
{
    value v = {};
    if (space == CTS_RING_GLOBAL) {
        READ(v, bytes, ".volatile.global", "l", address)
    } else if (space == CTS_RING_SHARED) {
        READ(v, bytes, ".volatile.shared", "r", (uint32_t)address)
    } else {
        READ(v, bytes, ".local", "r", (uint32_t)address)
    }
    return v;
}

/* What is to be stored stands in the patch's caller; in words, however narrow it is. */
HOT value new_value(const void *at, uint32_t bytes)
{
    value v = {};
    const volatile uint32_t *const words = (const volatile uint32_t *)at;
    if (bytes == 1)
        v.w[0] = *(const volatile uint8_t *)at;
    else if (bytes == 2)
        v.w[0] = *(const volatile uint16_t *)at;
    else
        v.w[0] = words[0];
    if (bytes >= 8) v.w[1] = words[1];
    if (bytes == 16) {
        v.w[2] = words[2];
        v.w[3] = words[3];
    }
    return v;
}

/* By all lanes of `active`; a record of those of `mask`, and each stores its value. */
HOT void store_valued(const call &c, const valued_lanes &l, const value &v)
{
    const uint32_t mask = l.mask, lane = lane_of(), leader = lowest(mask);
    const uint32_t count = (uint32_t)__popc((int)mask);
    const uint32_t bytes = c.kind >> 20 & 0x7f, list_lanes = l.pattern == CTS_RING_LIST ? count : 0;
    const cts_memory_control *const control = control_of(c);
    cts_ring_bin *const bin = bin_of(control);
    const uint32_t slots_log2 = constant_word(&control->slots_log2);
    uint32_t position = 0; /* its low half is enough */
    if (lane == leader) {
        const uint32_t slots = cts_ring_slots(list_lanes) + cts_ring_value_slots(count, bytes);
        position = (uint32_t)cts_ring_reserve(bin, slots, slots_log2);
        cts_ring_record record = record_of(c);
        record.base = l.base;
        record.mask = mask;
        record.s0 = (int32_t)l.s0;
        record.s1 = 0;
        record.pattern = (uint8_t)l.pattern;
        record.row_lanes = 0;
        cts_ring_store_valued(bin, position, slots_log2, &record);
    }
    position = __shfl_sync(l.active, position, (int)leader);
    if (!(mask >> lane & 1)) return;
    const uint32_t k = (uint32_t)__popc((int)(mask & ((1u << lane) - 1)));
    if (list_lanes) {
        cts_ring_store_offset(bin, position, slots_log2, k, l.offset);
        if (k == count - 1) cts_ring_fill_offsets(bin, position, slots_log2, count);
    }
    const cts_ring_place at = {bin, position, slots_log2};
    const cts_ring_lane_value of_lane = {v.w, bytes, list_lanes, count, k};
    cts_ring_store_value(&at, &of_lane);
}

/* Uniform, affine or a list; whether a list is two-level after all, the collector finds out. */
COLD void record_valued(const call c, uint64_t address, value v)
{
    const uint32_t active = active_lanes(), lane = lane_of();
    const uint32_t first = lowest(active), others = active & (active - 1);
    const uint32_t second = others ? lowest(others) : first;
    const uint64_t at_first = __shfl_sync(active, address, (int)first);
    int64_t s0 = (int64_t)(__shfl_sync(active, address, (int)second) - at_first);
    const int64_t lanes = second > first ? second - first : 1;
    bool whole = fits(s0) && s0 % lanes == 0;
    s0 /= lanes;
    const uint64_t base = at_first - (uint64_t)(s0 * (int64_t)first);
    whole =
        __ballot_sync(active, address == base + (uint64_t)(s0 * (int64_t)lane)) == active && whole;
    if (whole) {
        const uint32_t pattern = s0 ? CTS_RING_AFFINE : CTS_RING_UNIFORM;
        store_valued(c, {active, active, pattern, base, s0, 0}, v);
        return;
    }
    uint32_t rest = active;
    do {
        const uint64_t start = __shfl_sync(active, address, (int)lowest(rest));
        const int64_t offset = (int64_t)(address - start);
        const bool near = (rest >> lane & 1) && offset >= -(1 << 30) && offset < (1 << 30);
        const uint32_t mask = __ballot_sync(active, near);
        store_valued(c, {active, mask, CTS_RING_LIST, start, 0, (int32_t)offset}, v);
        __syncwarp(active);
        rest &= ~mask;
    } while (rest);
}

/* `stored`: what a store writes, or NULL. */
HOT void record_access_valued(const access &a, const void *stored)
{
    const uint32_t both = SANITIZER_MEMORY_DEVICE_FLAG_READ | SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
    const uint32_t bytes = a.bytes, flags = a.flags, place = place_of(a.pc, a.space);
    const bool is_store = (flags & both) == SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
    const bool has_width = bytes && bytes <= CTS_RING_VALUE_BYTES_MAX && !(bytes & (bytes - 1));
    call c;
    if (flags & SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH || !(flags & both)) return;
    if (!has_width || (is_store && !stored)) {
        record_any(a.user, a.address, place, bytes, flags);
        return;
    }
    if (!begin(c, a.user, place, bytes, (flags & both) - 1)) return;
    record_valued(c, a.address,
                  is_store ? new_value(stored, bytes) : read_value(a.address, bytes, a.space));
}

PATCH cts_patch_global_valued(void *user, uint64_t pc, void *at, uint32_t bytes, uint32_t flags,
                              const void *stored)
{
    record_access_valued({user, pc, (uint64_t)at, bytes, flags, CTS_RING_GLOBAL}, stored);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_shared_valued(void *user, uint64_t pc, void *at, uint32_t bytes, uint32_t flags,
                              const void *stored)
{
    record_access_valued({user, pc, (uint64_t)at, bytes, flags, CTS_RING_SHARED}, stored);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_local_valued(void *user, uint64_t pc, void *at, uint32_t bytes, uint32_t flags,
                             const void *stored)
{
    record_access_valued({user, pc, (uint64_t)at, bytes, flags, CTS_RING_LOCAL}, stored);
    return SANITIZER_PATCH_SUCCESS;
}

/* Rows of 16 bytes that are loaded; how those that are stored lie in the lanes is not told. */
PATCH cts_patch_matrix_valued(void *user, uint64_t pc, uint32_t at, uint32_t bytes, uint32_t flags,
                              uint32_t count, const void *)
{
    if (lane_of() < 8 * count)
        record_access_valued({user, pc, at, bytes, flags, CTS_RING_SHARED}, nullptr);
    return SANITIZER_PATCH_SUCCESS;
}
