/* A value is split into words of eight bytes, lowest first, as it lies in memory (NVPTX and the
 * CPUs that matter are little-endian). Scalars and vectors of scalars go through an integer of
 * their width; anything else (structs, vectors of pointers) is read back from the memory that was
 * accessed. */
#include "record/instrument/device-values.h"

#include "record/abi.h"

static unsigned word_count_of(const struct cts_memory_access *access)
{
    uint64_t words = (access->width_bytes + 7) / 8;
    return words < CTS_LOG_VALUE_WORDS_MAX ? (unsigned)words : CTS_LOG_VALUE_WORDS_MAX;
}

static void mark_word(const struct cts_value_marker *marker, uint32_t site, LLVMValueRef word)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(marker->context);
    LLVMValueRef arguments[] = {LLVMConstInt(i32, site, 0), word};
    LLVMBuildCall2(marker->builder, marker->mark_type, marker->mark, arguments, 2, "");
}

/* The value as one integer of its bits, or NULL. */
static LLVMValueRef as_integer(const struct cts_value_marker *marker, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value), scalar = type;
    LLVMBuilderRef builder = marker->builder;
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) scalar = LLVMGetElementType(type);
    switch (LLVMGetTypeKind(scalar)) {
    case LLVMPointerTypeKind:
        if (scalar != type) return NULL;
        return LLVMBuildPtrToInt(builder, value, LLVMInt64TypeInContext(marker->context), "");
    case LLVMIntegerTypeKind:
        if (scalar == type) return value;
        if (LLVMGetIntTypeWidth(scalar) % 8) return NULL;
        break;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
        break;
    default:
        return NULL;
    }
    unsigned long long bits = LLVMSizeOfTypeInBits(marker->layout, type);
    LLVMTypeRef integer = LLVMIntTypeInContext(marker->context, (unsigned)bits);
    return LLVMBuildBitCast(builder, value, integer, "");
}

static void mark_integer(const struct cts_value_marker *marker, uint32_t site, LLVMValueRef value,
                         unsigned word_count)
{
    LLVMBuilderRef builder = marker->builder;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(marker->context);
    LLVMTypeRef type = LLVMTypeOf(value);
    unsigned bits = LLVMGetIntTypeWidth(type);
    for (unsigned i = 0; i < word_count; i++) {
        LLVMValueRef word = value;
        if (i) word = LLVMBuildLShr(builder, value, LLVMConstInt(type, 64 * (uint64_t)i, 0), "");
        if (bits < 64) word = LLVMBuildZExt(builder, word, i64, "");
        if (bits > 64) word = LLVMBuildTrunc(builder, word, i64, "");
        mark_word(marker, site, word);
    }
}

/* Reads the words from memory; the last one byte by byte where it is not whole, so that nothing
 * beyond the accessed bytes is touched. */
static void mark_memory(const struct cts_value_marker *marker, uint32_t site, LLVMValueRef address,
                        uint64_t width_bytes, unsigned word_count)
{
    LLVMBuilderRef builder = marker->builder;
    LLVMTypeRef i8 = LLVMInt8TypeInContext(marker->context);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(marker->context);
    for (unsigned i = 0; i < word_count; i++) {
        uint64_t rest = width_bytes - 8 * (uint64_t)i;
        LLVMTypeRef unit = rest >= 8 ? i64 : i8;
        LLVMValueRef word = NULL;
        for (uint64_t byte = 0; byte < 8 && byte < rest; byte += unit == i64 ? 8 : 1) {
            LLVMValueRef offset = LLVMConstInt(i64, 8 * (uint64_t)i + byte, 0);
            LLVMValueRef at = LLVMBuildGEP2(builder, i8, address, &offset, 1, "");
            LLVMValueRef part = LLVMBuildLoad2(builder, unit, at, "");
            LLVMSetAlignment(part, 1);
            if (unit == i8) {
                part = LLVMBuildZExt(builder, part, i64, "");
                part = LLVMBuildShl(builder, part, LLVMConstInt(i64, 8 * byte, 0), "");
            }
            word = word ? LLVMBuildOr(builder, word, part, "") : part;
        }
        mark_word(marker, site, word);
    }
}

static void mark_byte(const struct cts_value_marker *marker, uint32_t site, LLVMValueRef byte,
                      uint64_t width_bytes, unsigned word_count)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(marker->context);
    LLVMValueRef word = LLVMBuildZExt(marker->builder, byte, i64, "");
    word = LLVMBuildMul(marker->builder, word, LLVMConstInt(i64, 0x0101010101010101u, 0), "");
    for (unsigned i = 0; i < word_count; i++) {
        uint64_t rest = width_bytes - 8 * (uint64_t)i;
        uint64_t mask = rest >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * rest)) - 1;
        mark_word(marker, site,
                  LLVMBuildAnd(marker->builder, word, LLVMConstInt(i64, mask, 0), ""));
    }
}

/* What the instruction read: an atomic's result is the old value, cmpxchg's the first of two. */
static LLVMValueRef result_of(const struct cts_value_marker *marker, LLVMValueRef instruction)
{
    if (LLVMGetInstructionOpcode(instruction) == LLVMAtomicCmpXchg)
        return LLVMBuildExtractValue(marker->builder, instruction, 0, "");
    return instruction;
}

void cts_mark_values(const struct cts_value_marker *marker, LLVMValueRef instruction,
                     const struct cts_memory_access *access, LLVMValueRef address, uint32_t site)
{
    unsigned word_count = word_count_of(access);
    LLVMValueRef integer = NULL;
    if (access->length) return; /* the runtime reads the range itself */
    switch (access->value_source) {
    case CTS_VALUE_OF_SOURCE:
        mark_memory(marker, site, access->value, access->width_bytes, word_count);
        return;
    case CTS_VALUE_OF_BYTE:
        mark_byte(marker, site, access->value, access->width_bytes, word_count);
        return;
    case CTS_VALUE_OF_OPERAND:
        LLVMPositionBuilderBefore(marker->builder, LLVMGetNextInstruction(instruction));
        integer = as_integer(marker, access->value);
        break;
    case CTS_VALUE_OF_RESULT:
        LLVMPositionBuilderBefore(marker->builder, LLVMGetNextInstruction(instruction));
        integer = as_integer(marker, result_of(marker, instruction));
        break;
    case CTS_VALUE_OF_MEMORY:
        break; /* the builder stands behind the instruction */
    }
    if (integer)
        mark_integer(marker, site, integer, word_count);
    else
        mark_memory(marker, site, address, access->width_bytes, word_count);
}
