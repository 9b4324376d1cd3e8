/* A warp's accesses become records: recognition and hand-over to the ring, inlined where they are.
 *
 * All active lanes of a warp come here together. The usual case is inline, and no lane goes another
 * way than the rest: a whole warp whose addresses are a pattern. The addresses of lanes 0 and 1 say
 * base and stride, a ballot whether the others agree; where rows begin (two-level affine), a second
 * one. Accesses that follow one another are a *group* of at most CTS_GROUP: lane 0 reserves slots
 * for all of them, and two lanes store each record, half of it each, which is one write on the bus
 * for the group. An access that is in every lane as far from the one before is not looked at any
 * further; several that are equally far (an unrolled loop's, those of arrays of one size) are one
 * repeated record. All else is a call: part of a warp, lists, a full ring. There it goes as in
 * trace/write/zip-body.h. Lanes that are more than 1 GiB from their record's first become
 * records of their own.
 *
 * What is the same for all records of a thread is found once, at the begin of its function. CUDA's
 * own words are all that is used here, so that this also runs on the CPU device (tests). */
#ifndef CTS_CUDA_RECOGNISE_H
#define CTS_CUDA_RECOGNISE_H

#include "../ring/producer.h"

#define CTS_HOT static __device__ __forceinline__
/* Calls: what they need of registers is not taken from the code around them. */
#define CTS_COLD static __device__ __attribute__((noinline))

#ifdef __NVPTX__
#define CTS_GLOBAL(type) __attribute__((address_space(1))) type
#endif

/* Of a thread in a function. */
struct cts_producer {
    uint64_t bin; /* address of a struct cts_ring_bin; 0: not recorded */
    uint32_t slots_log2;
    uint32_t launch; /* its number in the ring; the warp and the spaces that are recorded above */
    uint32_t cta;
    uint32_t first_site;
};
enum { CTS_PRODUCER_WARP_SHIFT = 20, CTS_PRODUCER_SPACES_SHIFT = 25 };

/* Of one access: `site` of the module, enum cts_ring_space. */
struct cts_produced {
    uint32_t site, space;
};

/* Of access `i` of a group: two bits each. */
CTS_HOT uint32_t cts_space_of(uint32_t spaces, uint32_t i)
{
    return spaces >> 2 * i & 3;
}

CTS_HOT bool cts_wants(const struct cts_producer &p, uint32_t space)
{
    return space == CTS_RING_GLOBAL || (p.launch >> (CTS_PRODUCER_SPACES_SHIFT + space) & 1);
}

CTS_HOT uint32_t cts_lane(void)
{
    return __nvvm_read_ptx_sreg_laneid();
}

CTS_HOT struct cts_ring_bin *cts_bin(const struct cts_producer &p)
{
    return (struct cts_ring_bin *)(CTS_GLOBAL(struct cts_ring_bin) *)p.bin;
}

CTS_HOT uint32_t cts_lowest(uint32_t mask)
{
    return (uint32_t)__builtin_ctz(mask);
}

CTS_HOT uint64_t cts_from_lane(uint32_t active, uint64_t value, uint32_t lane)
{
    const uint32_t low = __shfl_sync(active, (uint32_t)value, (int)lane);
    const uint32_t high = __shfl_sync(active, (uint32_t)(value >> 32), (int)lane);
    return (uint64_t)high << 32 | low;
}

CTS_HOT bool cts_fits(int64_t stride)
{
    return stride == (int32_t)stride;
}

/* Where a warp's addresses are, as a pattern says it. */
struct cts_found {
    uint64_t base;
    int32_t s0, s1;
    uint32_t pattern, row_lanes;
};

CTS_HOT struct cts_ring_record cts_record(const struct cts_producer &p, struct cts_produced what,
                                          const struct cts_found &found, uint32_t mask)
{
    struct cts_ring_record record;
    record.cta = p.cta;
    record.pc = p.first_site + what.site;
    record.launch = p.launch & (CTS_RING_LAUNCHES - 1);
    record.warp = (uint8_t)(p.launch >> CTS_PRODUCER_WARP_SHIFT & 31);
    record.operation = CTS_RING_AS_SITE;
    record.space = (uint8_t)what.space;
    record.width_log2 = 0;
    record.base = found.base;
    record.mask = mask;
    record.s0 = found.s0;
    record.s1 = found.s1;
    record.pattern = (uint8_t)found.pattern;
    record.row_lanes = (uint8_t)found.row_lanes;
    return record;
}

/* By one lane; the position of the record, which takes `slots` with its list. */
CTS_HOT uint64_t cts_emit(const struct cts_producer &p, struct cts_produced what, uint32_t mask,
                          const struct cts_found &found, uint32_t slots)
{
    const uint64_t position = cts_ring_reserve(cts_bin(p), slots, p.slots_log2);
    const struct cts_ring_record record = cts_record(p, what, found, mask);
    cts_ring_store(cts_bin(p), position, p.slots_log2, &record);
    return position;
}

/* ---- what is rare ---- */

/* A list's slots, by the lanes of `mask`; `position` is known to all of them. */
CTS_HOT void cts_store_offset(const struct cts_producer &p, uint32_t mask, uint64_t position,
                              int32_t offset)
{
    const uint32_t k = (uint32_t)__builtin_popcount(mask & ((1u << cts_lane()) - 1));
    const uint32_t count = (uint32_t)__builtin_popcount(mask);
    cts_ring_store_offset(cts_bin(p), position, p.slots_log2, k, offset);
    if (k == count - 1) cts_ring_fill_offsets(cts_bin(p), position, p.slots_log2, count);
}

/* Lanes whose addresses are no pattern: those near the lowest one first, until none is left. */
CTS_HOT void cts_emit_lists(const struct cts_producer &p, struct cts_produced what, uint32_t active,
                            uint64_t address)
{
    const uint32_t lane = cts_lane();
    uint32_t rest = active;
    do {
        const uint32_t leader = cts_lowest(rest);
        const uint64_t base = cts_from_lane(active, address, leader);
        const int64_t offset = (int64_t)(address - base);
        const bool near = (rest >> lane & 1) && offset >= -(1 << 30) && offset < (1 << 30);
        const uint32_t mask = __ballot_sync(active, near);
        uint64_t position = 0;
        if (lane == leader) {
            const uint32_t slots = cts_ring_slots((uint32_t)__builtin_popcount(mask));
            position = cts_emit(p, what, mask, {base, 0, 0, CTS_RING_LIST, 0}, slots);
        }
        position = cts_from_lane(active, position, leader);
        if (near) cts_store_offset(p, mask, position, (int32_t)offset);
        rest &= ~mask;
    } while (rest);
}

/* A first row of addresses, and the first lane that is not in it. */
struct cts_first_row {
    uint64_t base;
    int32_t s0;
    uint32_t width, broke;
};

/* With rows like this one, tried. */
CTS_HOT bool cts_emit_rows(const struct cts_producer &p, struct cts_produced what, uint32_t active,
                           uint64_t address, const struct cts_first_row &first)
{
    const uint64_t base = first.base;
    const int32_t s0 = first.s0;
    const uint32_t lane = cts_lane(), row = lane / first.width;
    const uint64_t there = cts_from_lane(active, address, first.broke);
    const int64_t s1 = (int64_t)(there - base) - (int64_t)s0 * (int64_t)(first.broke - first.width);
    const uint64_t expected = base + (uint64_t)((int64_t)s0 * (int64_t)(lane - row * first.width)) +
                              (uint64_t)(s1 * (int64_t)row);
    if (!cts_fits(s1) || __ballot_sync(active, address == expected) != active) return false;
    if (lane == cts_lowest(active))
        (void)cts_emit(p, what, active, {base, s0, (int32_t)s1, CTS_RING_TWO_LEVEL, first.width},
                       1);
    return true;
}

/* The lanes of `active` are all at one site. */
CTS_HOT void cts_emit_any(const struct cts_producer &p, struct cts_produced what, uint32_t active,
                          uint64_t address)
{
    const uint32_t lane = cts_lane();
    const uint32_t first = cts_lowest(active), others = active & (active - 1);
    const uint32_t second = others ? cts_lowest(others) : first;
    uint64_t base = cts_from_lane(active, address, first);
    int64_t s0 = (int64_t)(cts_from_lane(active, address, second) - base);
    bool whole = cts_fits(s0);
    if (second - first > 1 && whole) {
        const int32_t distance = (int32_t)s0, lanes = (int32_t)(second - first);
        s0 = distance / lanes;
        whole = (int32_t)s0 * lanes == distance;
    }
    base -= (uint64_t)(s0 * (int64_t)first);
    const uint32_t breaks =
        ~__ballot_sync(active, address == base + (uint64_t)(s0 * (int64_t)lane)) & active;
    if (whole && !breaks) {
        const uint32_t pattern = s0 ? CTS_RING_AFFINE : CTS_RING_UNIFORM;
        if (lane == first) (void)cts_emit(p, what, active, {base, (int32_t)s0, 0, pattern, 0}, 1);
        return;
    }
    const uint32_t broke = whole ? cts_lowest(breaks) : 32; /* 2 at least */
    if (broke < 32) {
        const uint32_t power = 1u << (31 - __builtin_clz(broke));
        if (cts_emit_rows(p, what, active, address, {base, (int32_t)s0, power, broke})) return;
        if (power != broke &&
            cts_emit_rows(p, what, active, address, {base, (int32_t)s0, broke, broke}))
            return;
    }
    cts_emit_lists(p, what, active, address);
}

/* A vector goes to a function in registers; a struct would go through local memory. */
typedef uint32_t cts_four __attribute__((ext_vector_type(4)));

/* Lanes that were at different sites may come together here: only those of the same site belong
 * together. The words are the producer's behind its bin, with the access's site. */
CTS_COLD void cts_produce_sorted(uint64_t bin, cts_four words, uint32_t space, uint64_t address)
{
    const struct cts_producer p = {bin, words.x, words.y, words.z, 0};
    const struct cts_produced what = {words.w, space};
    const uint32_t all = __activemask();
    uint32_t rest = all, same = 0;
    do {
        const uint32_t there = __shfl_sync(all, what.site, (int)cts_lowest(rest));
        const uint32_t lanes = __ballot_sync(all, what.site == there);
        if (what.site == there) same = lanes;
        rest &= ~lanes;
    } while (rest);
    for (rest = all; rest;) { /* one site after the other */
        const uint32_t lanes = __shfl_sync(all, same, (int)cts_lowest(rest));
        if (lanes == same) cts_emit_any(p, what, same, address);
        rest &= ~lanes;
    }
}

/* Every access that is not of the usual kind. */
CTS_HOT void cts_produce_other(const struct cts_producer &p, struct cts_produced what,
                               uint64_t address)
{
    const cts_four words = {p.slots_log2, p.launch, p.cta, p.first_site + what.site};
    cts_produce_sorted(p.bin, words, what.space, address);
}

/* ---- what is usual ---- */

enum { CTS_WHOLE = -1 /* mask of all lanes */, CTS_GROUP = CTS_RING_REPEATS_MAX };

/* Address + stride * steps, in 32 bits where addresses have no more. */
CTS_HOT uint64_t cts_at(uint64_t base, int32_t stride, uint32_t steps, bool is_near)
{
    uint64_t at;
    if (is_near) return (uint32_t)base + (uint32_t)stride * steps;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(at) : "r"(stride), "r"(steps), "l"(base));
    return at;
}

/* No room: all lanes wait, for none may go on alone. */
CTS_COLD void cts_wait(uint64_t bin_at, uint32_t slots_log2, uint32_t behind)
{
    const struct cts_producer p = {bin_at, slots_log2, 0, 0, 0};
    struct cts_ring_bin *const bin = cts_bin(p);
    uint32_t tail;
    while (tail = cts_ring_tail(bin->tail), behind - tail > 1u << slots_log2) cts_ring_pause();
    cts_ring_learn(&bin->head_and_tail, tail);
}

/* Lane 0 reserves slots for the whole warp; their position. */
CTS_HOT uint32_t cts_reserve_whole(const struct cts_producer &p, uint32_t lane, uint32_t slots)
{
    uint64_t before;
    asm volatile("{ .reg .pred first; .reg .u64 at;\n"
                 "  setp.eq.u32 first, %1, 0;\n"
                 "  cvta.to.global.u64 at, %2;\n"
                 "  mov.u64 %0, 0;\n"
                 "  @first atom.global.add.u64 %0, [at], %3; }"
                 : "=&l"(before)
                 : "r"(lane), "l"(&cts_bin(p)->head_and_tail), "l"((uint64_t)slots << 32)
                 : "memory");
    const uint32_t position = __shfl_sync(CTS_WHOLE, (uint32_t)(before >> 32), 0);
    const uint32_t known = __shfl_sync(CTS_WHOLE, (uint32_t)before, 0);
    if (position + slots - known > 1u << p.slots_log2)
        cts_wait(p.bin, p.slots_log2, position + slots);
    return position;
}

/* A slot that is ours: of the bin's slots, which are read once, the one at a position. */
struct cts_reserved {
    uint64_t slots;
    uint32_t position;
};

CTS_HOT uint32_t *cts_slot(const struct cts_producer &p, struct cts_reserved at)
{
    const uint32_t index = at.position & ((1u << p.slots_log2) - 1);
    return (uint32_t *)(at.slots + (uint64_t)index * CTS_RING_SLOT_BYTES);
}

/* By each lane of a pair: half of the pair's record, of `count` accesses, to its slot. */
CTS_HOT void cts_store_half(const struct cts_producer &p, uint32_t lane, struct cts_reserved at,
                            const struct cts_ring_record &record, uint32_t count)
{
    struct cts_ring_words words =
        cts_ring_pack(&record, cts_ring_parity(at.position, p.slots_log2));
    cts_ring_set_count(&words, count);
    const uint32_t second = 0u - (lane & 1); /* all bits; a choice of words would need memory */
    uint32_t half[4];
    for (int i = 0; i < 4; i++) half[i] = (words.w[i] & ~second) | (words.w[i + 4] & second);
    cts_ring_store_half(cts_slot(p, at) + 4 * (lane & 1), half);
}

/* Of a whole warp. `is_near`: addresses of 32 bits; *is_other: no pattern that is known here. */
CTS_HOT struct cts_found cts_recognise(uint32_t lane, uint64_t address, bool is_near,
                                       bool *is_other)
{
    struct cts_found found;
    const uint32_t low = __shfl_sync(CTS_WHOLE, (uint32_t)address, 0);
    const uint32_t high = is_near ? 0 : __shfl_sync(CTS_WHOLE, (uint32_t)(address >> 32), 0);
    found.base = (uint64_t)high << 32 | low;
    found.s0 = (int32_t)(__shfl_sync(CTS_WHOLE, (uint32_t)address, 1) - low);
    found.s1 = 0;
    found.row_lanes = 0;
    found.pattern = found.s0 ? CTS_RING_AFFINE : CTS_RING_UNIFORM;
    *is_other = false;
    const uint32_t breaks =
        __ballot_sync(CTS_WHOLE, address != cts_at(found.base, found.s0, lane, is_near));
    if (breaks) {
        const uint32_t row = cts_lowest(breaks); /* 2 at least, or no row */
        found.s1 = (int32_t)(__shfl_sync(CTS_WHOLE, (uint32_t)address, (int)row) - low);
        found.row_lanes = row;
        found.pattern = CTS_RING_TWO_LEVEL;
        *is_other = (row & (row - 1)) != 0;
        const uint64_t start = cts_at(found.base, found.s1, lane >> cts_lowest(row), is_near);
        const bool fits = address == cts_at(start, found.s0, lane & (row - 1), is_near);
        if (__ballot_sync(CTS_WHOLE, !fits)) {
            const int64_t offset = (int64_t)(address - found.base);
            const bool is_far = offset < -(1 << 30) || offset >= (1 << 30);
            *is_other = *is_other || __ballot_sync(CTS_WHOLE, is_far);
            found.pattern = CTS_RING_LIST;
            found.s0 = found.s1 = 0;
            found.row_lanes = 0;
        }
    }
    return found;
}

/* How far a whole warp's accesses are from those before: the same in all lanes, or false. */
CTS_HOT bool cts_is_alike(uint64_t address, uint64_t before, bool is_near, int32_t *apart)
{
    const uint64_t distance = address - before;
    *apart = __shfl_sync(CTS_WHOLE, (int32_t)distance, 0);
    const bool differs = is_near ? (int32_t)distance != *apart : (int64_t)distance != *apart;
    return !__ballot_sync(CTS_WHOLE, differs);
}

/* One access of each lane, at sites[i] and addresses[i], for i below `count`; the space of each. */
struct cts_warp_accesses {
    const uint32_t *sites;
    uint32_t spaces;
    const uint64_t *addresses;
    uint32_t count;
};

/* The records of a group: what is the same in all lanes, and the record that is this lane's to
 * store. Lanes 2 i and 2 i + 1 store the one that begins with access i. */
struct cts_grouped {
    uint32_t slots;
    uint32_t starts, lists; /* accesses with which a record begins, a list */
    bool is_other;          /* one of them is none of the usual */
    struct cts_found own;
    uint32_t site, space;
    uint32_t place;                /* its slot, behind the first */
    uint32_t count, mask_or_apart; /* accesses; as in the ring */
};

CTS_HOT struct cts_grouped cts_group(const struct cts_producer &p, uint32_t lane,
                                     const struct cts_warp_accesses &accesses)
{
    const uint32_t *const sites = accesses.sites;
    const uint64_t *const addresses = accesses.addresses;
    const uint32_t spaces = accesses.spaces;
    struct cts_grouped all;
    struct cts_found found;
    bool is_other = false;           /* it is */
    uint32_t begin = 0, repeats = 0; /* the last record's first access, and how many */
    int32_t distance = 0;            /* of those */
    all.slots = all.starts = all.lists = 0;
    all.is_other = false;
#pragma unroll
    for (uint32_t i = 0; i < accesses.count; i++) {
        const uint32_t space = cts_space_of(spaces, i);
        const bool is_near = space != CTS_RING_GLOBAL;
        if (!cts_wants(p, space)) continue;
        int32_t apart = 0;
        const bool is_alike = i && space == cts_space_of(spaces, i - 1) &&
                              cts_is_alike(addresses[i], addresses[i - 1], is_near, &apart);
        if (is_alike)
            found.base = is_near ? (uint32_t)(found.base + apart) : found.base + (int64_t)apart;
        else
            found = cts_recognise(lane, addresses[i], is_near, &is_other);
        const bool is_list = found.pattern == CTS_RING_LIST;
        if (is_alike && !is_list && sites[i] == sites[i - 1] + 1 &&
            (repeats == 1 || apart == distance)) {
            distance = apart;
            repeats++;
            const bool is_own = lane >> 1 == begin;
            all.count = is_own ? repeats : all.count;
            all.mask_or_apart = is_own ? (uint32_t)apart : all.mask_or_apart;
            continue;
        }
        const bool is_own = i == 0 || lane >> 1 == i;
        begin = i;
        repeats = 1;
        if (is_own) {
            all.own = found;
            all.site = sites[i];
            all.space = space;
            all.place = all.slots;
            all.count = 1;
            all.mask_or_apart = UINT32_MAX;
        }
        all.starts |= 1u << i;
        all.lists |= (uint32_t)is_list << i;
        all.slots += is_list ? cts_ring_slots(32) : 1;
        all.is_other = all.is_other || is_other;
    }
    return all;
}

/* The offsets of a group's lists, by all lanes. */
CTS_HOT void cts_store_lists(const struct cts_producer &p, uint32_t lane, struct cts_reserved first,
                             const struct cts_grouped &all,
                             const struct cts_warp_accesses &accesses)
{
#pragma unroll
    for (uint32_t i = 0; i < accesses.count; i++) {
        if (!(all.lists >> i & 1)) continue;
        const uint32_t before = (1u << i) - 1;
        const uint32_t place =
            (uint32_t)__builtin_popcount(all.starts & before) +
            (cts_ring_slots(32) - 1) * (uint32_t)__builtin_popcount(all.lists & before);
        const uint32_t address = (uint32_t)accesses.addresses[i];
        const uint32_t base = __shfl_sync(CTS_WHOLE, address, 0);
        const uint32_t at = first.position + place + 1 + lane / CTS_RING_SLOT_OFFSETS;
        cts_ring_store_word(
            cts_slot(p, {first.slots, at}) + lane % CTS_RING_SLOT_OFFSETS,
            cts_ring_pack_offset((int32_t)(address - base), cts_ring_parity(at, p.slots_log2)));
    }
}

/* A whole warp's accesses. False: one of them is none of the usual, and nothing is done. */
CTS_HOT bool cts_produce_whole(const struct cts_producer &p,
                               const struct cts_warp_accesses &accesses)
{
    const uint32_t lane = cts_lane();
    const struct cts_grouped all = cts_group(p, lane, accesses);
    if (all.is_other) return false;
    /* before the reservation, for that takes the bin's line from L1 */
    const uint64_t slots = cts_bin(p)->slots;
    const uint32_t position = cts_reserve_whole(p, lane, all.slots);
    const struct cts_ring_record record =
        cts_record(p, {all.site, all.space}, all.own, all.mask_or_apart);
    if (lane < 2 * accesses.count && (all.starts >> (lane >> 1) & 1))
        cts_store_half(p, lane, {slots, position + all.place}, record, all.count);
    if (all.lists) cts_store_lists(p, lane, {slots, position}, all, accesses);
    return true;
}

/* Of each active lane. The spaces are all the same, or global and shared; those that are not wanted
 * are passed over. What this is called with is known to the compiler, but for the addresses. */
CTS_HOT void cts_produce(const struct cts_producer &p, const struct cts_warp_accesses &accesses)
{
    bool any = false;
#pragma unroll
    for (uint32_t i = 0; i < accesses.count; i++)
        any = any || cts_wants(p, cts_space_of(accesses.spaces, i));
    if (!any) return;
    if (__activemask() == UINT32_MAX && cts_produce_whole(p, accesses)) return;
#pragma unroll
    for (uint32_t i = 0; i < accesses.count; i++) {
        const uint32_t space = cts_space_of(accesses.spaces, i);
        if (cts_wants(p, space))
            cts_produce_other(p, {accesses.sites[i], space}, accesses.addresses[i]);
    }
}

#endif
