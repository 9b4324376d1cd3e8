/* Three forms load a number into a register, by the low 12 bits: MOV 802, IMAD.MOV.U32 424, and
 * HFMA2.MMA 435 (of two halves). Each becomes MOV R, UR: c02, with the register's number in bits
 * 32-39 and 08000f00 as the low half of the high word. Bits 12-23 stay: the predicate and R; of the
 * high half of the high word all but bits 122-125, which are about operands.
 *
 * A uniform register takes longer to read than a number: the instruction stalls for 8 cycles at
 * least (bits 105-108). */
#include "record/inject/cubin/placeholders.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/inject/cubin/elf.h"
#include "record/inject/cubin/sass.h"

enum { MOVE = 0x802, MULTIPLY_ADD = 0x424, HALVES = 0x435 };
enum { STALL_SHIFT = 105 - 64, STALL_LEAST = 8, OPERANDS_SHIFT = 122 - 64 };

/* False: an instruction that has the number in another form. */
static bool fill(uint64_t words[2], uint64_t number)
{
    const uint64_t form = words[0] & 0xfff;
    if (form != MOVE && form != MULTIPLY_ADD && form != HALVES) return false;
    words[0] = (words[0] & 0xfff000) | number << 32 | 0xc02;
    words[1] = (words[1] >> 32 << 32 & ~(UINT64_C(15) << OPERANDS_SHIFT)) | 0x08000f00;
    if ((words[1] >> STALL_SHIFT & 15) < STALL_LEAST)
        words[1] = (words[1] & ~(UINT64_C(15) << STALL_SHIFT)) | (uint64_t)STALL_LEAST
                                                                     << STALL_SHIFT;
    return true;
}

static enum cts_status fill_code(uint8_t *code, size_t bytes, uint64_t *filled,
                                 struct cts_error *error)
{
    for (size_t at = 0; at + CTS_SASS_BYTES <= bytes; at += CTS_SASS_BYTES) {
        uint64_t words[2];
        memcpy(words, code + at, sizeof words);
        const uint64_t number = (words[0] >> 32) - CTS_PLACEHOLDER;
        if (number >= CTS_PLACEHOLDER_COUNT) continue;
        if (*filled >> number & 1 || !fill(words, number))
            return cts_fail(error, CTS_FORMAT, "the patch loads placeholder %u twice or otherwise",
                            (unsigned)number);
        *filled |= UINT64_C(1) << number;
        memcpy(code + at, words, sizeof words);
    }
    return CTS_OK;
}

enum cts_status cts_placeholders_fill(void *image, size_t bytes, struct cts_error *error)
{
    struct cts_elf elf = {.image = image, .bytes = bytes};
    uint64_t filled = 0;
    enum cts_status status = cts_elf_open(&elf, error);
    for (size_t i = 0; !status && i < elf.section_count; i++) {
        const struct cts_cursor code = cts_elf_content(&elf, elf.sections + i);
        if (strncmp(cts_elf_section_name(&elf, elf.sections + i), ".text.", 6) != 0) continue;
        status = fill_code((uint8_t *)image + (code.at - elf.image), cts_cursor_left(&code),
                           &filled, error);
    }
    if (!status && filled != (UINT64_C(1) << CTS_PLACEHOLDER_COUNT) - 1)
        status = cts_fail(error, CTS_FORMAT, "the patch has placeholders 0x%llx of %d",
                          (unsigned long long)filled, CTS_PLACEHOLDER_COUNT);
    free(elf.sections);
    return status;
}
