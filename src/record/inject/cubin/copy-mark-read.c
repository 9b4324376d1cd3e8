/* What a marker in a function's code belongs to. */
#include "record/inject/cubin/copy-mark-code.h"

bool cts_mark_read(const void *code, size_t code_bytes, uint64_t offset_bytes,
                   struct cts_tensor_copy *copy, uint64_t *origin_bytes)
{
    if (offset_bytes % CTS_SASS_BYTES || offset_bytes > code_bytes ||
        code_bytes - offset_bytes < 3 * CTS_SASS_BYTES ||
        !cts_instruction_equals(cts_instruction_at(code, offset_bytes), CTS_MARK_SHUFFLE) ||
        !cts_mark_is_wanted(cts_instruction_at(code, offset_bytes + CTS_SASS_BYTES), copy))
        return false;
    const uint64_t back_at = offset_bytes + 2 * CTS_SASS_BYTES;
    const struct cts_instruction back = cts_instruction_at(code, back_at);
    const uint64_t origin = cts_mark_target(back, back_at) - CTS_SASS_BYTES;
    const uint64_t start = offset_bytes - (copy->predicate == 7 ? 0 : CTS_SASS_BYTES);
    if (origin % CTS_SASS_BYTES || origin >= offset_bytes ||
        !cts_instruction_equals(back, cts_mark_branch(back_at, origin + CTS_SASS_BYTES)) ||
        !cts_instruction_equals(cts_instruction_at(code, origin), cts_mark_branch(origin, start)))
        return false;
    *origin_bytes = origin;
    return true;
}
