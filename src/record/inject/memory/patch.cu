/* The patches: what the Sanitizer API calls before each memory instruction of a recorded kernel.
 * Built by nvcc into a fatbin (--compile-as-tools-patch); no code of the toolkit is called.
 *
 * All active lanes of a warp come here together, each with its address. They find out together
 * whether the addresses are uniform, affine or two-level affine in the lane, as the collector does
 * on a CPU (record/collector/zip-body.h): the stride of the first two lanes, and where it breaks,
 * the row width and the second stride from there. Then the lowest lane reserves and stores a
 * record; of a list, every lane its offset. Lanes that are more than 1 GiB apart go into records of
 * their own. */
#include <sanitizer_patching.h>

#include "../../ring/producer.h"
#include "control.h"

#define ALL UINT32_MAX
#define HOT __device__ __forceinline__
/* Rare ways are calls of their own: what they need of registers is not taken from the others. */
#define COLD __device__ __noinline__

/* What all records of a call have in common; small, since registers are few in a patch. */
struct call {
    uint64_t user; /* the control's address and the launch's number */
    uint32_t pc;
    uint32_t kind; /* operation, space << 2, log2 of the bytes << 4 */
};

HOT cts_memory_control *control_of(const call &c)
{
    return (cts_memory_control *)(c.user & ~(uint64_t)(CTS_RING_LAUNCHES - 1));
}

HOT cts_ring_bin *bin_of(const cts_memory_control *control)
{
    uint32_t sm;
    asm("mov.u32 %0, %%smid;" : "=r"(sm));
    const uint32_t count = control->bin_count;
    return (cts_ring_bin *)((char *)control + CTS_MEMORY_BINS_AT) + (sm < count ? sm : sm % count);
}

HOT uint32_t lane_of(void)
{
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

HOT uint32_t cta_of(void)
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

HOT uint32_t lowest(uint32_t mask)
{
    return (uint32_t)__ffs((int)mask) - 1;
}

HOT bool fits(int64_t stride)
{
    return stride == (int32_t)stride;
}

HOT cts_ring_record record_of(const call &c)
{
    const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    cts_ring_record record;
    record.cta = cta_of();
    record.pc = c.pc;
    record.launch = (uint32_t)c.user & (CTS_RING_LAUNCHES - 1);
    record.warp = (uint8_t)(thread >> 5);
    record.operation = (uint8_t)(c.kind & 3);
    record.space = (uint8_t)(c.kind >> 2 & 3);
    record.width_log2 = (uint8_t)(c.kind >> 4);
    return record;
}

/* By one lane. */
HOT void emit(const call &c, uint32_t mask, uint32_t pattern, uint64_t base, int64_t s0, int64_t s1,
              uint32_t row_lanes)
{
    const cts_memory_control *const control = control_of(c);
    cts_ring_bin *const bin = bin_of(control);
    const uint32_t slots_log2 = control->slots_log2;
    const uint64_t position = cts_ring_reserve(bin, 1, slots_log2);
    cts_ring_record record = record_of(c);
    record.base = base;
    record.mask = mask;
    record.s0 = (int32_t)s0;
    record.s1 = (int32_t)s1;
    record.pattern = (uint8_t)pattern;
    record.row_lanes = (uint8_t)row_lanes;
    cts_ring_store(bin, position, slots_log2, &record);
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
        const uint32_t slots_log2 = control->slots_log2;
        uint64_t position = 0;
        if (lane == leader) {
            position = cts_ring_reserve(bin, cts_ring_slots(count), slots_log2);
            cts_ring_record record = record_of(c);
            record.base = base;
            record.mask = mask;
            record.s0 = record.s1 = 0;
            record.pattern = CTS_RING_LIST;
            record.row_lanes = 0;
            cts_ring_store(bin, position, slots_log2, &record);
        }
        position = __shfl_sync(active, position, (int)leader);
        if (near) {
            const uint32_t k = (uint32_t)__popc((int)(mask & ((1u << lane) - 1)));
            cts_ring_store_offset(bin, position, slots_log2, k, (int32_t)offset);
            if (k == count - 1) cts_ring_fill_offsets(bin, position, slots_log2, count);
        }
        rest &= ~mask;
    } while (rest);
}

/* With rows of `width` lanes, tried; `broke` is the first lane that is not in the first row. */
HOT bool emit_two_level(const call &c, uint32_t active, uint64_t address, uint64_t base, int64_t s0,
                        uint32_t width, uint32_t broke)
{
    const uint32_t lane = lane_of(), row = lane / width;
    const uint64_t there = __shfl_sync(active, address, (int)broke);
    const int64_t s1 = (int64_t)(there - base) - s0 * (int64_t)(broke - width);
    const uint64_t expected =
        base + (uint64_t)(s0 * (int64_t)(lane - row * width)) + (uint64_t)(s1 * (int64_t)row);
    if (!fits(s1) || __ballot_sync(active, address == expected) != active) return false;
    if (lane == lowest(active)) emit(c, active, CTS_RING_TWO_LEVEL, base, s0, s1, width);
    return true;
}

/* The first two lanes are `s0` apart per lane, where it is known, and `broke` does not fit. */
COLD void record_other(const call c, uint32_t active, uint64_t address, uint64_t base, int32_t s0,
                       uint32_t broke)
{
    if (broke < 32) {
        const uint32_t power = 1u << (31 - __clz((int)broke));
        if (emit_two_level(c, active, address, base, s0, power, broke)) return;
        if (power != broke && emit_two_level(c, active, address, base, s0, broke, broke)) return;
    }
    emit_lists(c, active, address);
}

HOT void record_warp(const call &c, uint64_t address)
{
    const uint32_t active = __activemask(), lane = lane_of();
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
        if (lane == first) emit(c, active, s0 ? CTS_RING_AFFINE : CTS_RING_UNIFORM, base, s0, 0, 0);
        return;
    }
    /* the lanes that break are 2 at least */
    record_other(c, active, address, base, (int32_t)s0, whole ? lowest(breaks) : 32);
}

/* False: not recorded. */
HOT bool begin(call &c, void *user, uint64_t pc, uint32_t bytes, uint32_t operation, uint32_t space)
{
    if (!user) return false;
    c.user = (uint64_t)user;
    const uint32_t sample = control_of(c)->cta_sample;
    if (sample > 1 && cta_of() % sample) return false;
    c.pc = (uint32_t)(pc >> CTS_RING_PC_SHIFT) & ((1u << CTS_RING_PC_BITS) - 1);
    c.kind = operation | space << 2 | (31 - (uint32_t)__clz((int)bytes)) << 4;
    return true;
}

HOT void record_access(void *user, uint64_t pc, uint64_t address, uint32_t bytes, uint32_t flags,
                       uint32_t space)
{
    const uint32_t both = SANITIZER_MEMORY_DEVICE_FLAG_READ | SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
    call c;
    if (flags & SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH) return;
    const uint32_t operation = (flags & both) == both                       ? CTS_RING_ATOMIC
                               : flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE ? CTS_RING_STORE
                                                                            : CTS_RING_LOAD;
    if (begin(c, user, pc, bytes, operation, space)) record_warp(c, address);
}

#define PATCH extern "C" __device__ __noinline__ SanitizerPatchResult

PATCH cts_patch_global(void *user, uint64_t pc, void *at, uint32_t bytes, uint32_t flags,
                       const void *)
{
    record_access(user, pc, (uint64_t)at, bytes, flags, CTS_RING_GLOBAL);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_shared(void *user, uint64_t pc, void *at, uint32_t bytes, uint32_t flags,
                       const void *)
{
    record_access(user, pc, (uint64_t)at, bytes, flags, CTS_RING_SHARED);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_local(void *user, uint64_t pc, void *at, uint32_t bytes, uint32_t flags,
                      const void *)
{
    record_access(user, pc, (uint64_t)at, bytes, flags, CTS_RING_LOCAL);
    return SANITIZER_PATCH_SUCCESS;
}

/* cp.async: lanes with nothing to copy have no source. */
PATCH cts_patch_copy(void *user, uint64_t pc, void *from, uint32_t, uint32_t bytes)
{
    call c;
    if (from && bytes && begin(c, user, pc, bytes, CTS_RING_LOAD, CTS_RING_GLOBAL))
        record_warp(c, (uint64_t)from);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_copy_both(void *user, uint64_t pc, void *from, uint32_t to, uint32_t bytes)
{
    cts_patch_copy(user, pc, from, to, bytes);
    call c;
    if (bytes && begin(c, user, pc, bytes, CTS_RING_STORE, CTS_RING_SHARED)) record_warp(c, to);
    return SANITIZER_PATCH_SUCCESS;
}

/* ldmatrix, stmatrix: each of 8 * count lanes has the address of a row of 16 bytes. */
PATCH cts_patch_matrix(void *user, uint64_t pc, uint32_t at, uint32_t bytes, uint32_t flags,
                       uint32_t count, const void *)
{
    if (lane_of() < 8 * count) record_access(user, pc, at, bytes, flags, CTS_RING_SHARED);
    return SANITIZER_PATCH_SUCCESS;
}

/* Bulk copies: the copied range as lanes of 16 bytes each, by the lowest lane. */
HOT void record_range(const call &c, uint64_t address, uint32_t blocks)
{
    if (lane_of() != lowest(__activemask())) return;
    for (; blocks; address += 32 * 16) {
        const uint32_t lanes = blocks < 32 ? blocks : 32;
        emit(c, lanes == 32 ? ALL : (1u << lanes) - 1,
             lanes > 1 ? CTS_RING_AFFINE : CTS_RING_UNIFORM, address, lanes > 1 ? 16 : 0, 0, 0);
        blocks -= lanes;
    }
}

PATCH cts_patch_bulk_load(void *user, uint64_t pc, uint64_t from, uint32_t, uint32_t, uint32_t data,
                          uint32_t)
{
    call c;
    if (begin(c, user, pc, 16, CTS_RING_LOAD, CTS_RING_GLOBAL))
        record_range(c, from, data & 0xffff);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_bulk_store(void *user, uint64_t pc, uint64_t to, uint32_t, uint32_t blocks)
{
    call c;
    if (begin(c, user, pc, 16, CTS_RING_STORE, CTS_RING_GLOBAL))
        record_range(c, to, blocks & 0xffff);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH cts_patch_bulk_reduction(void *user, uint64_t pc, uint64_t to, uint32_t, uint32_t blocks)
{
    call c;
    if (begin(c, user, pc, 16, CTS_RING_ATOMIC, CTS_RING_GLOBAL))
        record_range(c, to, blocks & 0xffff);
    return SANITIZER_PATCH_SUCCESS;
}

/* For measurements: what a call costs that does nothing. */
PATCH cts_patch_empty(void *, uint64_t, void *, uint32_t, uint32_t, const void *)
{
    return SANITIZER_PATCH_SUCCESS;
}
