/* The instructions that markers are made of, for copy-marks.c and copy-marks-check.c. */
#ifndef CTS_RECORD_MARK_CODE_H
#define CTS_RECORD_MARK_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record/inject/cubin/sass.h"
#include "record/inject/cubin/tensor-copy.h"

struct cts_instruction {
    uint64_t low, high;
};

/* SHFL.IDX PT, RZ, RZ, RZ, 0x1f */
#define CTS_MARK_SHUFFLE ((struct cts_instruction){0x00001fffffff7589u, 0x000fe200000e0000u})
#define CTS_MARK_NOP     ((struct cts_instruction){0x0000000000007918u, 0x000fc00000000000u})

static inline struct cts_instruction cts_instruction_at(const uint8_t *code, uint64_t offset_bytes)
{
    struct cts_instruction instruction;
    memcpy(&instruction, code + offset_bytes, sizeof instruction);
    return instruction;
}
static inline bool cts_instruction_equals(struct cts_instruction a, struct cts_instruction b)
{
    return a.low == b.low && a.high == b.high;
}

/* BRA from an offset to another. Its distance from the next instruction, in words, is in bits
 * 16-23, 34-63 and 64-81. */
static inline struct cts_instruction cts_mark_branch(uint64_t from, uint64_t to)
{
    const uint64_t words = (uint64_t)((int64_t)(to - from - CTS_SASS_BYTES) / 4);
    return (struct cts_instruction){0x7947u | (words & 0xff) << 16 |
                                        (words >> 8 & 0x3fffffff) << 34,
                                    0x000fea0003800000u | (words >> 38 & 0x3ffff)};
}
/* BRA.U unless a uniform predicate holds, as a copy has it. */
static inline struct cts_instruction cts_mark_branch_unless(uint64_t from, uint64_t to,
                                                            uint8_t predicate)
{
    struct cts_instruction branch = cts_mark_branch(from, to);
    branch.low = (branch.low ^ 0x947 ^ 0x547) | (uint64_t)(predicate ^ 8) << 24 | UINT64_C(1) << 32;
    branch.high |= 0x08000000;
    return branch;
}
/* Where a branch that cts_mark_branch() made leads to. */
static inline uint64_t cts_mark_target(struct cts_instruction branch, uint64_t from)
{
    const uint64_t words =
        (branch.low >> 16 & 0xff) | (branch.low >> 34) << 8 | (branch.high & 0x3ffff) << 38;
    return from + CTS_SASS_BYTES + (uint64_t)((int64_t)(words << 8) >> 8) * 4;
}

/* Whether a copy gets a marker. */
static inline bool cts_mark_is_wanted(struct cts_instruction instruction,
                                      struct cts_tensor_copy *copy)
{
    return cts_tensor_copy_decode(instruction.low, instruction.high, copy) && !copy->is_im2col;
}

/* Of a function's code: the copy that the marker at `offset_bytes` is for, and where it stood.
 * False: there is no marker. */
bool cts_mark_read(const void *code, size_t code_bytes, uint64_t offset_bytes,
                   struct cts_tensor_copy *copy, uint64_t *origin_bytes);

#endif
