/* The patch of markers before tensor copies (cubin/copy-marks.h), for compute capability 9.0. The
 * Sanitizer calls it at every shuffle of a module that has markers: one of the program's own is
 * told by the instruction behind it. The copy stands right behind its marker, and names the
 * uniform registers with the map's address and the coordinates, which are still those of the
 * caller: cubin/placeholders.h says how they are read.
 *
 * One lane does it all. The map is kept as it is now: a program may change it. */
#define CTS_WITHOUT_PATCHES
#include "../../ring/copies.h"
#include "patch.cu"

/* As cubin/tensor-copy.c. */
enum { LOAD_COPY = 0x1b4, REDUCTION_COPY = 0x1b6, BRANCH = 0x7947, INSTRUCTION_BYTES = 16 };

struct copy_code {
    uint32_t first, second, third; /* words of the instruction */
};

HOT uint32_t code_word(uint64_t at)
{
    uint32_t word;
    asm volatile("ld.u32 %0, [%1];" : "=r"(word) : "l"(at));
    return word;
}

/* Whether a copy and a branch follow: a marker has both, and a copy in im2col mode has none. */
HOT bool is_marker(uint64_t pc, copy_code &code)
{
    code.first = code_word(pc + INSTRUCTION_BYTES);
    const uint32_t operation = code.first & 0x1ff;
    if (operation < LOAD_COPY || operation > REDUCTION_COPY) return false;
    code.second = code_word(pc + INSTRUCTION_BYTES + 4);
    code.third = code_word(pc + INSTRUCTION_BYTES + 8);
    return !(code.third >> 18 & 1) && (code_word(pc + 2 * INSTRUCTION_BYTES) & 0xffff) == BRANCH;
}

/* Each has its own instruction, in its own place. */
#define READ4(a, b, c, d)                                                                          \
    asm volatile("{ .reg .u32 a, b, c, d;\n"                                                       \
                 "  mov.u32 a, 0xC0DE0000+" #a "; mov.u32 b, 0xC0DE0000+" #b ";\n"                 \
                 "  mov.u32 c, 0xC0DE0000+" #c "; mov.u32 d, 0xC0DE0000+" #d ";\n"                 \
                 "  st.volatile.v4.u32 [%0+" #a "*4], {a, b, c, d}; }" ::"l"(to)                   \
                 : "memory");
#define READ16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                                     \
    READ4(a, b, c, d) READ4(e, f, g, h) READ4(i, j, k, l) READ4(m, n, o, p)

/* clang-format off */
HOT void read_uniform(uint32_t *to)
{
    READ16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    READ16(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)
    READ16(32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47)
    READ4(48, 49, 50, 51) READ4(52, 53, 54, 55) READ4(56, 57, 58, 59)
    asm volatile("{ .reg .u32 a, b, c;\n"
                 "  mov.u32 a, 0xC0DE0000+60; mov.u32 b, 0xC0DE0000+61; mov.u32 c, 0xC0DE0000+62;\n"
                 "  st.volatile.u32 [%0+240], a; st.volatile.u32 [%0+244], b;\n"
                 "  st.volatile.u32 [%0+248], c; }" ::"l"(to)
                 : "memory");
}
/* clang-format on */

HOT void read_map(uint64_t at, uint32_t *map)
{
    for (uint32_t i = 0; i < CTS_RING_MAP_WORDS; i += 4)
        asm volatile("ld.volatile.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(map[i]), "=r"(map[i + 1]), "=r"(map[i + 2]), "=r"(map[i + 3])
                     : "l"(at + 4 * i));
}

/* As the list of a record: a slot is two stores. */
HOT void store_words(const cts_ring_place &at, const cts_ring_copy &copy)
{
    for (uint32_t k = 0; k < CTS_RING_COPY_WORDS; k += 4) {
        const uint64_t position = at.position + 1 + k / CTS_RING_SLOT_OFFSETS;
        const uint32_t parity = cts_ring_parity(position, at.slots_log2);
        const uint32_t words[4] = {
            cts_ring_copy_word(&copy, k) | parity, cts_ring_copy_word(&copy, k + 1) | parity,
            cts_ring_copy_word(&copy, k + 2) | parity, cts_ring_copy_word(&copy, k + 3) | parity};
        cts_ring_store_half(
            cts_ring_slot(at.bin, position, at.slots_log2) + k % CTS_RING_SLOT_OFFSETS, words);
    }
}

COLD void record_copy(const call c, const copy_code code)
{
    uint32_t uniform[64];
    cts_ring_copy copy;
    const bool is_load = (code.first & 0x1ff) == LOAD_COPY;
    const uint32_t map_at = code.first >> 24 & 63, point = (code.second & 63) + (is_load ? 2 : 1);
    const uint32_t dimensions = (code.third >> 15 & 7) + 1;
    read_uniform(uniform);
    const volatile uint32_t *const registers = uniform;
    read_map(registers[map_at] | (uint64_t)registers[(map_at + 1) & 63] << 32, copy.map);
    for (uint32_t d = 0; d < CTS_RING_POINT_WORDS; d++)
        copy.point[d] = d < dimensions ? registers[(point + d) & 63] : 0;
    copy.multicast = is_load && code.third >> 11 & 1 ? registers[code.third & 63] : 0;
    const cts_memory_control *const control = control_of(c);
    cts_ring_bin *const bin = bin_of(control);
    const uint32_t slots_log2 = constant_word(&control->slots_log2);
    const cts_ring_place at = {bin, cts_ring_reserve(bin, CTS_RING_COPY_SLOTS, slots_log2),
                               slots_log2};
    cts_ring_record record = record_of(c);
    record.base = 0;
    record.mask = CTS_RING_COPY_MASK;
    record.s0 = (int32_t)lane_of();
    record.s1 = 0;
    record.pattern = CTS_RING_LIST;
    record.row_lanes = 0;
    cts_ring_store(bin, at.position, slots_log2, &record);
    store_words(at, copy);
}

PATCH cts_patch_tensor(void *user, uint64_t pc)
{
    call c;
    copy_code code;
    if (lane_of() != lowest(active_lanes()) || !is_marker(pc, code)) return SANITIZER_PATCH_SUCCESS;
    const uint32_t operation = (code.first & 0x1ff) == LOAD_COPY ? CTS_RING_LOAD : CTS_RING_STORE;
    if (begin(c, user, place_of(pc, CTS_RING_BARRIER), CTS_RING_TENSOR_COPY, operation))
        record_copy(c, code);
    return SANITIZER_PATCH_SUCCESS;
}
