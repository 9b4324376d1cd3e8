/* The patches: what the Sanitizer API calls before each memory instruction of a recorded kernel.
 * Built by nvcc into a fatbin (--compile-as-tools-patch); no code of the toolkit is called.
 *
 * All active lanes of a warp come here together, each with its address. They find out together
 * whether the addresses are uniform, affine or two-level affine in the lane, as the collector does
 * on a CPU (trace/write/zip-body.h), and store a record; of a list, every lane its offset.
 * Lanes that are more than 1 GiB apart go into records of their own.
 *
 * What a patch costs is what it does to the stack: the caller keeps the kernel's registers there,
 * and each more that is saved or spilled is a line of 128 bytes per warp, written and read. A patch
 * has 14 registers that it need not save. So the usual case, a whole warp whose addresses are a
 * pattern, is one stretch of code for all lanes, made to need few of them; the others are calls.
 * Shuffles and votes have the form without a mask of lanes, which is one instruction; the other
 * form is eight here and takes five certain registers. PTX has it up to version 6.3, which is
 * therefore what this is compiled to (CMakeLists.txt). It works on the lanes that run together:
 * those are the active ones as long as nothing branches by lane, so it is used in the usual case
 * only. */
#include <sanitizer_patching.h>

#include "../../cuda/module.h"
#include "../../ring/producer.h"
#include "control.h"

#define ALL UINT32_MAX
/* Of a static function no copy is left in the image. */
#define HOT static __device__ __forceinline__
/* Rare ways are calls of their own: what they need of registers is not taken from the others. */
#define COLD __device__ __noinline__

/* What all records of a call have in common, in the form of the slots' words. */
struct call {
    uint32_t control; /* its address / CTS_MEMORY_CONTROL_ALIGN */
    uint32_t place;   /* pc, and the space */
    uint32_t kind;    /* launch, bytes and operation */
};

/* An access, as a patch is told of it. */
struct access {
    const void *user;
    uint64_t pc, address;
    uint32_t bytes, flags, space;
};

/* Lanes whose addresses are a pattern. */
struct lanes {
    uint32_t mask, pattern;
    uint64_t base;
    int64_t s0, s1;
    uint32_t row_lanes;
};

/* Active lanes that are no single line: each has its address, the first row begins at `base`, and
 * `broke` is the first lane that is not in it. */
struct rows {
    uint32_t active, broke;
    uint64_t address, base;
    int32_t s0;
};

HOT const cts_memory_control *control_of(const call &c)
{
    return (const cts_memory_control *)((uint64_t)c.control * CTS_MEMORY_CONTROL_ALIGN);
}

HOT uint32_t multiprocessor(void)
{
    uint32_t sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

/* Words of the control that do not change. */
HOT uint32_t constant_word(const uint32_t *at)
{
    uint32_t word;
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(word) : "l"(at));
    return word;
}
HOT void constant_pair(const uint32_t *at, uint32_t *first, uint32_t *second)
{
    asm("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(*first), "=r"(*second) : "l"(at));
}
HOT uint64_t constant_long(const uint64_t *at)
{
    uint64_t word;
    asm("ld.global.nc.u64 %0, [%1];" : "=l"(word) : "l"(at));
    return word;
}

HOT cts_ring_bin *bin_of(const cts_memory_control *control)
{
    const uint32_t sm = multiprocessor(), count = constant_word(&control->bin_count);
    return (cts_ring_bin *)((char *)control + CTS_MEMORY_BINS_AT) + (sm < count ? sm : sm % count);
}

HOT uint32_t lane_of(void)
{
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/* Of the lanes that run together. */
HOT uint32_t active_lanes(void)
{
    uint32_t active;
    asm volatile("activemask.b32 %0;" : "=r"(active));
    return active;
}
HOT uint32_t from_lane(uint32_t value, uint32_t lane)
{
    uint32_t there;
    asm volatile("shfl.idx.b32 %0, %1, %2, 0x1f;" : "=r"(there) : "r"(value), "r"(lane));
    return there;
}
HOT uint64_t from_lane(uint64_t value, uint32_t lane)
{
    const uint32_t low = from_lane((uint32_t)value, lane);
    return (uint64_t)from_lane((uint32_t)(value >> 32), lane) << 32 | low;
}
HOT uint32_t votes(bool yes)
{
    uint32_t lanes;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.ballot.b32 %0, p; }"
                 : "=r"(lanes)
                 : "r"((uint32_t)yes));
    return lanes;
}

HOT uint64_t multiply_add(int32_t a, uint32_t b, uint64_t c)
{
    uint64_t sum;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(sum) : "r"(a), "r"(b), "l"(c));
    return sum;
}

/* Read where it is written, not before. */
#define SPECIAL(name)                                                                              \
    ({                                                                                             \
        uint32_t value;                                                                            \
        asm volatile("mov.u32 %0, %%" name ";" : "=r"(value));                                     \
        value;                                                                                     \
    })
HOT uint32_t cta_of(void)
{
    return SPECIAL("ctaid.x") + gridDim.x * (SPECIAL("ctaid.y") + gridDim.y * SPECIAL("ctaid.z"));
}
HOT uint32_t warp_of(void)
{
    return (SPECIAL("tid.x") + blockDim.x * (SPECIAL("tid.y") + blockDim.y * SPECIAL("tid.z"))) >>
           5;
}

HOT uint32_t lowest(uint32_t mask)
{
    return (uint32_t)__ffs((int)mask) - 1;
}

HOT bool fits(int64_t stride)
{
    return stride == (int32_t)stride;
}

/* ---- the usual case ---- */

/* A value that no lane is to branch for. */
HOT uint32_t by_all(uint32_t value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* Whether bits 30 and 31 are the same: the slot then needs no bit elsewhere. */
HOT bool is_short(int32_t stride)
{
    return (stride ^ stride << 1) >= 0;
}

/* Lane 0 reserves a slot; its position and the tail that is known then, in all lanes. */
HOT void reserve_one(uint32_t lane, cts_ring_bin *bin, uint32_t *position, uint32_t *known)
{
    asm volatile("{ .reg .pred p; .reg .u64 before;\n"
                 "  setp.eq.u32 p, %2, 0;\n"
                 "  mov.u64 before, 0;\n"
                 "  @p atom.global.add.u64 before, [%3], 0x100000000;\n"
                 "  mov.b64 {%0, %1}, before; }"
                 : "=r"(*known), "=r"(*position)
                 : "r"(lane), "l"(bin)
                 : "memory");
}

/* Lanes 0 and 1 store 16 bytes each, so that a slot is one write on the bus. */
HOT void store_halves(uint32_t lane, uint64_t slot, const uint32_t (&w)[4])
{
    asm volatile("{ .reg .pred p;\n"
                 "  setp.lt.u32 p, %5, 2;\n"
                 "  @p st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4}; }" ::"l"(slot),
                 "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(lane)
                 : "memory");
}

/* All lanes wait together until the slot at a position is free. */
HOT void wait_for_slot(const cts_memory_control *control, uint32_t sm, uint32_t position,
                       uint32_t slots)
{
    cts_ring_bin *const bin = (cts_ring_bin *)((char *)control + CTS_MEMORY_BINS_AT) + sm;
    uint32_t tail;
    while (tail = cts_ring_tail(constant_long(&bin->tail)), position + 1 - tail > slots)
        cts_ring_pause();
    cts_ring_learn(&bin->head_and_tail, tail);
}

/* A whole warp of a launch that is recorded whole. `kind` without its pattern. False: no pattern,
 * or the multiprocessor has no bin of its own; nothing is done. */
HOT bool record_whole_warp(uint32_t control_at, uint32_t place, uint32_t kind, uint64_t address)
{
    const uint32_t lane = lane_of();
    const uint64_t base = from_lane(address, 0);
    const int32_t s0 = (int32_t)(from_lane((uint32_t)address, 1) - (uint32_t)base);
    const uint32_t breaks = ~votes(address == multiply_add(s0, lane, base));
    int32_t s1 = 0;
    uint32_t row = 0;
    if (breaks) {
        row = lowest(breaks);
        if (row & (row - 1)) return false;
        s1 = (int32_t)(from_lane((uint32_t)address, row) - (uint32_t)base);
        const uint64_t start = multiply_add(s1, lane >> lowest(row), base);
        if (~votes(address == multiply_add(s0, lane & (row - 1), start))) return false;
        if (!is_short(s1)) return false;
        kind += (uint32_t)CTS_RING_TWO_LEVEL << 29;
    } else if (s0) {
        kind += (uint32_t)CTS_RING_AFFINE << 29;
    }
    if (!is_short(s0)) return false;
    const cts_memory_control *const control =
        (const cts_memory_control *)((uint64_t)control_at * CTS_MEMORY_CONTROL_ALIGN);
    const uint32_t sm = multiprocessor();
    uint32_t position, known, bin_count, slots_log2;
    constant_pair(&control->bin_count, &bin_count, &slots_log2);
    if (sm >= bin_count) return false; /* their numbers may have gaps */
    reserve_one(lane, (cts_ring_bin *)((char *)control + CTS_MEMORY_BINS_AT) + sm, &position,
                &known);
    /* while the reservation is on its way */
    const uint32_t high = ((uint32_t)(base >> 31) & 0x1fffffu) | row << 26;
    const uint32_t w0 = lane ? (uint32_t)s0 : (uint32_t)base;
    const uint32_t w1 = lane ? by_all(place | 1u << 30) : by_all(high | warp_of() << 21);
    const uint32_t w2 = lane ? (uint32_t)s1 : ALL;
    const uint32_t w3 = lane ? kind : by_all(cta_of());
    position = from_lane(position, 0);
    known = from_lane(known, 0);
    if (position + 1 - known > 1u << slots_log2)
        wait_for_slot(control, sm, position, 1u << slots_log2);
    const uint32_t low = ~CTS_RING_PARITY, parity = ~position >> slots_log2 << 31;
    const uint32_t index = sm << slots_log2 | (position & ((1u << slots_log2) - 1));
    const uint64_t slot = constant_long(&control->slots) + (uint64_t)index * 32 + lane * 16;
    const uint32_t w[4] = {(w0 & low) | parity, (w1 & low) | parity, (w2 & low) | parity,
                           (w3 & low) | parity};
    store_halves(lane, slot, w);
    return true;
}

/* ---- all others ---- */

HOT cts_ring_record record_of(const call &c)
{
    cts_ring_record record;
    record.cta = cta_of();
    record.pc = c.place & ((1u << CTS_RING_PC_BITS) - 1);
    record.launch = c.kind & (CTS_RING_LAUNCHES - 1);
    record.warp = (uint8_t)warp_of();
    record.operation = (uint8_t)((c.kind >> 27) + 3 & 3);
    record.space = (uint8_t)(c.place >> CTS_RING_PC_BITS);
    record.width_log2 = (uint8_t)lowest(c.kind >> 20);
    return record;
}

/* By one lane. */
HOT void emit(const call &c, const lanes &l)
{
    const cts_memory_control *const control = control_of(c);
    cts_ring_bin *const bin = bin_of(control);
    const uint32_t slots_log2 = constant_word(&control->slots_log2);
    const uint64_t position = cts_ring_reserve(bin, 1, slots_log2);
    cts_ring_record record = record_of(c);
    record.base = l.base;
    record.mask = l.mask;
    record.s0 = (int32_t)l.s0;
    record.s1 = (int32_t)l.s1;
    record.pattern = (uint8_t)l.pattern;
    record.row_lanes = (uint8_t)l.row_lanes;
    cts_ring_store(bin, position, slots_log2, &record);
}

/* As store_halves(), by the leader and the first of the other lanes, if there is one. */
HOT void store_by_two(const cts_ring_place &at, const cts_ring_record &record, uint32_t others,
                      uint32_t leader)
{
    const uint32_t lane = lane_of(), half = lane != leader;
    const cts_ring_words words =
        cts_ring_pack(&record, cts_ring_parity(at.position, at.slots_log2));
    uint32_t *const slot = cts_ring_slot(at.bin, at.position, at.slots_log2);
    const uint32_t w[4] = {half ? words.w[4] : words.w[0], half ? words.w[5] : words.w[1],
                           half ? words.w[6] : words.w[2], half ? words.w[7] : words.w[3]};
    if (!half || lane == lowest(others)) cts_ring_store_half(slot + 4 * half, w);
    if (!others) cts_ring_store_half(slot + 4, words.w + 4);
}

/* Lanes whose addresses are no pattern; the nearest to the lowest lane first, until none is left.
 */
HOT void emit_lists(const call &c, uint32_t active, uint64_t address)
{
    const uint32_t lane = lane_of();
    uint32_t rest = active;
    do {
        const uint32_t leader = lowest(rest);
        const uint64_t base = __shfl_sync(active, address, (int)leader);
        const int64_t offset = (int64_t)(address - base);
        const bool near = (rest >> lane & 1) && offset >= -(1 << 30) && offset < (1 << 30);
        const uint32_t mask = __ballot_sync(active, near);
        const uint32_t count = (uint32_t)__popc((int)mask);
        const cts_memory_control *const control = control_of(c);
        cts_ring_bin *const bin = bin_of(control);
        const uint32_t slots_log2 = constant_word(&control->slots_log2);
        uint32_t position = 0; /* its low half is enough */
        if (lane == leader)
            position = (uint32_t)cts_ring_reserve(bin, cts_ring_slots(count), slots_log2);
        position = __shfl_sync(active, position, (int)leader);
        cts_ring_record record = record_of(c);
        record.base = base;
        record.mask = mask;
        record.s0 = record.s1 = 0;
        record.pattern = CTS_RING_LIST;
        record.row_lanes = 0;
        const cts_ring_place at = {bin, position, slots_log2};
        store_by_two(at, record, active & ~(1u << leader), leader);
        if (near) {
            const uint32_t k = (uint32_t)__popc((int)(mask & ((1u << lane) - 1)));
            cts_ring_store_offset(bin, position, slots_log2, k, (int32_t)offset);
            if (k == count - 1) cts_ring_fill_offsets(bin, position, slots_log2, count);
        }
        rest &= ~mask;
    } while (rest);
}

/* With rows of `width` lanes, tried. */
HOT bool emit_two_level(const call &c, const rows &r, uint32_t width)
{
    const uint32_t lane = lane_of(), row = lane / width;
    const uint64_t there = __shfl_sync(r.active, r.address, (int)r.broke);
    const int64_t s0 = r.s0;
    const int64_t s1 = (int64_t)(there - r.base) - s0 * (int64_t)(r.broke - width);
    const uint64_t expected =
        r.base + (uint64_t)(s0 * (int64_t)(lane - row * width)) + (uint64_t)(s1 * (int64_t)row);
    if (!fits(s1) || __ballot_sync(r.active, r.address == expected) != r.active) return false;
    const lanes all = {r.active, CTS_RING_TWO_LEVEL, r.base, s0, s1, width};
    if (lane == lowest(r.active)) emit(c, all);
    return true;
}

/* The first two lanes are `s0` apart per lane, where it is known, and `broke` does not fit. */
COLD void record_other(const call c, const rows r)
{
    if (r.broke < 32) {
        const uint32_t power = 1u << (31 - __clz((int)r.broke));
        if (emit_two_level(c, r, power)) return;
        if (power != r.broke && emit_two_level(c, r, r.broke)) return;
    }
    emit_lists(c, r.active, r.address);
}

HOT void record_warp(const call &c, uint64_t address)
{
    const uint32_t active = active_lanes(), lane = lane_of();
    const uint32_t first = lowest(active), others = active & (active - 1);
    const uint32_t second = others ? lowest(others) : first;
    uint64_t base = __shfl_sync(active, address, (int)first);
    int64_t s0 = (int64_t)(__shfl_sync(active, address, (int)second) - base);
    bool whole = fits(s0);
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
        const lanes all = {active, pattern, base, s0, 0, 0};
        if (lane == first) emit(c, all);
        return;
    }
    /* the lanes that break are 2 at least */
    const rows r = {active, whole ? lowest(breaks) : 32, address, base, (int32_t)s0};
    record_other(c, r);
}

/* Of a graph's node: the pointer that a launch with its number has. 0: not recorded. */
HOT uint64_t user_of_grid(uint64_t user)
{
    const cts_memory_control *const control =
        (const cts_memory_control *)((user >> 32) * CTS_MEMORY_CONTROL_ALIGN);
    uint64_t id, entry;
    asm("mov.u64 %0, %%gridid;" : "=l"(id));
    const uint64_t at = constant_long(&control->grids) + id % CTS_CUDA_GRIDS * sizeof entry;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(entry) : "l"(at));
    if (entry >> CTS_CUDA_NUMBER_BITS != id << CTS_CUDA_NUMBER_BITS >> CTS_CUDA_NUMBER_BITS)
        return 0;
    return (user & ~(uint64_t)CTS_MEMORY_BY_GRID) | (entry & (CTS_RING_LAUNCHES - 1));
}

/* Of an instruction: where it is, and the space that it accesses. */
HOT uint32_t place_of(uint64_t pc, uint32_t space)
{
    return (uint32_t)pc >> CTS_RING_PC_SHIFT | space << CTS_RING_PC_BITS;
}

/* False: not recorded. */
HOT bool begin_launch(call &c, const void *user, uint32_t place, uint32_t bytes, uint32_t operation)
{
    const uint32_t low = (uint32_t)(uint64_t)user;
    if (!(low & CTS_MEMORY_RECORDED)) return false;
    c.control = (uint32_t)((uint64_t)user >> 32);
    const uint32_t sample = constant_word(&control_of(c)->cta_sample);
    if (sample > 1 && cta_of() % sample) return false;
    c.place = place;
    c.kind = (low & (CTS_RING_LAUNCHES - 1)) | bytes << 20 | (operation + 1) << 27;
    return true;
}

HOT bool begin(call &c, const void *user, uint32_t place, uint32_t bytes, uint32_t operation)
{
    if ((uint64_t)user & CTS_MEMORY_BY_GRID) user = (const void *)user_of_grid((uint64_t)user);
    return begin_launch(c, user, place, bytes, operation);
}

/* Lanes of a whole warp that are no usual pattern; whether they are another one after all, the
 * collector finds out. */
COLD void record_list(uint32_t control, uint32_t place, uint32_t kind, uint64_t address)
{
    const call c = {control, place, kind};
    emit_lists(c, ALL, address);
}

HOT void record_unusual(const void *user, uint64_t address, uint32_t place, uint32_t bytes,
                        uint32_t flags)
{
    const uint32_t both = SANITIZER_MEMORY_DEVICE_FLAG_READ | SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
    call c;
    if (flags & SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH || !(flags & both)) return;
    if (begin_launch(c, user, place, bytes, (flags & both) - 1)) record_warp(c, address);
}

/* In a node of a graph: as in a launch, once the node knows which it is. */
COLD void record_of_node(uint64_t user, uint64_t address, uint32_t place, uint32_t bytes,
                         uint32_t flags)
{
    user = user_of_grid(user);
    const uint32_t low = (uint32_t)user, high = (uint32_t)(user >> 32);
    if (active_lanes() == ALL && flags <= 3 && low / CTS_RING_LAUNCHES == CTS_MEMORY_USUAL &&
        !(cta_of() >> 31)) {
        const uint32_t kind = low + (bytes << 20) + (flags << 27);
        if (!record_whole_warp(high, place, kind, address)) record_list(high, place, kind, address);
        return;
    }
    record_unusual((const void *)user, address, place, bytes, flags);
}

/* Anything. */
COLD void record_any(const void *user, uint64_t address, uint32_t place, uint32_t bytes,
                     uint32_t flags)
{
    if ((uint64_t)user & CTS_MEMORY_BY_GRID)
        record_of_node((uint64_t)user, address, place, bytes, flags);
    else
        record_unusual(user, address, place, bytes, flags);
}

/* The place is made where it is needed: made before, it takes the usual case a register more. */
HOT void record_access(const access &a)
{
    const uint32_t low = (uint32_t)(uint64_t)a.user, high = (uint32_t)((uint64_t)a.user >> 32);
    /* the flags that read and write are 1 and 2; others are rare */
    if (active_lanes() == ALL && a.flags <= 3 && low / CTS_RING_LAUNCHES == CTS_MEMORY_USUAL) {
        const uint32_t place = place_of(a.pc, a.space);
        const uint32_t kind = low + (a.bytes << 20) + (a.flags << 27);
        if (!record_whole_warp(high, place, kind, a.address))
            record_list(high, place, kind, a.address);
        return;
    }
    record_any(a.user, a.address, place_of(a.pc, a.space), a.bytes, a.flags);
}

#define PATCH extern "C" __device__ __noinline__ SanitizerPatchResult

#ifndef CTS_WITHOUT_PATCHES /* what follows is in another image (patch-tensors.cu) */

PATCH cts_patch_global(void *user, uint64_t pc, void *at, uint32_t bytes, uint32_t flags,
                       const void *)
{
    record_access({user, pc, (uint64_t)at, bytes, flags, CTS_RING_GLOBAL});
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_shared(void *user, uint64_t pc, void *at, uint32_t bytes, uint32_t flags,
                       const void *)
{
    record_access({user, pc, (uint64_t)at, bytes, flags, CTS_RING_SHARED});
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_local(void *user, uint64_t pc, void *at, uint32_t bytes, uint32_t flags,
                      const void *)
{
    record_access({user, pc, (uint64_t)at, bytes, flags, CTS_RING_LOCAL});
    return SANITIZER_PATCH_SUCCESS;
}

/* cp.async: lanes with nothing to copy have no source. */
PATCH cts_patch_copy(void *user, uint64_t pc, void *from, uint32_t, uint32_t bytes)
{
    call c;
    if (from && bytes && begin(c, user, place_of(pc, CTS_RING_GLOBAL), bytes, CTS_RING_LOAD))
        record_warp(c, (uint64_t)from);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_copy_both(void *user, uint64_t pc, void *from, uint32_t to, uint32_t bytes)
{
    cts_patch_copy(user, pc, from, to, bytes);
    call c;
    if (bytes && begin(c, user, place_of(pc, CTS_RING_SHARED), bytes, CTS_RING_STORE))
        record_warp(c, to);
    return SANITIZER_PATCH_SUCCESS;
}

/* ldmatrix, stmatrix: each of 8 * count lanes has the address of a row of 16 bytes. */
PATCH cts_patch_matrix(void *user, uint64_t pc, uint32_t at, uint32_t bytes, uint32_t flags,
                       uint32_t count, const void *)
{
    if (lane_of() < 8 * count) record_access({user, pc, at, bytes, flags, CTS_RING_SHARED});
    return SANITIZER_PATCH_SUCCESS;
}

/* Bulk copies: the copied range as lanes of 16 bytes each, by the lowest lane. */
HOT void record_range(const call &c, uint64_t address, uint32_t blocks)
{
    if (lane_of() != lowest(active_lanes())) return;
    for (; blocks; address += 32 * 16) {
        const uint32_t count = blocks < 32 ? blocks : 32;
        const uint32_t mask = count == 32 ? ALL : (1u << count) - 1;
        const uint32_t pattern = count > 1 ? CTS_RING_AFFINE : CTS_RING_UNIFORM;
        emit(c, {mask, pattern, address, count > 1 ? 16 : 0, 0, 0});
        blocks -= count;
    }
}

PATCH cts_patch_bulk_load(void *user, uint64_t pc, uint64_t from, uint32_t, uint32_t, uint32_t data,
                          uint32_t)
{
    call c;
    if (begin(c, user, place_of(pc, CTS_RING_GLOBAL), 16, CTS_RING_LOAD))
        record_range(c, from, data & 0xffff);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_bulk_store(void *user, uint64_t pc, uint64_t to, uint32_t, uint32_t blocks)
{
    call c;
    if (begin(c, user, place_of(pc, CTS_RING_GLOBAL), 16, CTS_RING_STORE))
        record_range(c, to, blocks & 0xffff);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_bulk_reduction(void *user, uint64_t pc, uint64_t to, uint32_t, uint32_t blocks)
{
    call c;
    if (begin(c, user, place_of(pc, CTS_RING_GLOBAL), 16, CTS_RING_ATOMIC))
        record_range(c, to, blocks & 0xffff);
    return SANITIZER_PATCH_SUCCESS;
}

/* ---- barriers: recorded before the lanes wait ---- */

HOT void record_barrier(void *user, uint64_t pc, uint32_t kind, uint64_t argument)
{
    call c;
    if (begin(c, user, place_of(pc, CTS_RING_BARRIER), kind, CTS_RING_STORE))
        record_warp(c, argument);
}

/* Whether other threads arrive at a barrier of a part of the CTA without waiting is not told here,
 * but by the code (sites.c). */
PATCH cts_patch_barrier(void *user, uint64_t pc, uint32_t number, uint32_t threads, uint32_t)
{
    const uint32_t all = blockDim.x * blockDim.y * blockDim.z;
    const bool is_of_all = threads == 0 || threads >= all;
    record_barrier(user, pc, is_of_all ? CTS_RING_CTA_SYNC : CTS_RING_PART_SYNC,
                   1 + number + (is_of_all ? 0 : threads << 8));
    return SANITIZER_PATCH_SUCCESS;
}

/* Before it waits. */
PATCH cts_patch_cluster_wait(void *user, uint64_t pc)
{
    record_barrier(user, pc, CTS_RING_CLUSTER_WAIT, 1);
    return SANITIZER_PATCH_SUCCESS;
}

/* Where only the end of the wait is told, which is too late. */
PATCH cts_patch_cluster_waited(void *user, uint64_t pc)
{
    record_barrier(user, pc, CTS_RING_SYNC_OTHER, 1);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_cluster_arrive(void *user, uint64_t pc)
{
    record_barrier(user, pc, CTS_RING_CLUSTER_ARRIVE, 1);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_syncwarp(void *user, uint64_t pc, uint32_t mask)
{
    record_barrier(user, pc, CTS_RING_WARP_SYNC, mask);
    return SANITIZER_PATCH_SUCCESS;
}

/* An mbarrier. Its arrivals and waits are told, but not the bulk copies that it waits for. */
PATCH cts_patch_mbarrier(void *user, uint64_t pc, void *, uint32_t, uint32_t)
{
    record_barrier(user, pc, CTS_RING_SYNC_OTHER, 1);
    return SANITIZER_PATCH_SUCCESS;
}

/* For measurements: what a call costs that does nothing. */
PATCH cts_patch_empty(void *, uint64_t, void *, uint32_t, uint32_t, const void *)
{
    return SANITIZER_PATCH_SUCCESS;
}

#endif
