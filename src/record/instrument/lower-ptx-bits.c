/* PTX instructions on bits and bytes as IR. */
#include "record/instrument/lower-ptx-values.h"

static LLVMValueRef compute_logic(struct ptx *ptx, struct ptx_statement *statement,
                                  struct ptx_type type)
{
    LLVMBuilderRef builder = ptx->ir->builder;
    const bool is_predicate = type.kind == 'p';
    LLVMValueRef value[2] = {NULL, NULL};
    const bool is_not = strcmp(statement->parts[0], "not") == 0;
    for (unsigned i = 0; i < (is_not ? 1u : 2u); i++)
        value[i] = is_predicate && i + 1 < statement->operand_count
                       ? ptx_read_i1(ptx, &statement->operands[i + 1])
                       : ptx_operand_value(ptx, statement, i + 1, type);
    if (is_not) return LLVMBuildNot(builder, value[0], "");
    if (strcmp(statement->parts[0], "and") == 0)
        return LLVMBuildAnd(builder, value[0], value[1], "");
    if (strcmp(statement->parts[0], "or") == 0) return LLVMBuildOr(builder, value[0], value[1], "");
    return LLVMBuildXor(builder, value[0], value[1], "");
}

/* Shift amounts beyond the width give 0, or the sign. */
static LLVMValueRef compute_shift(struct ptx *ptx, struct ptx_statement *statement,
                                  struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMTypeRef ir_type = ptx_ir_type(ir, type);
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type);
    LLVMValueRef amount = ptx_operand_value(ptx, statement, 2, ptx_sized('u', 32));
    const bool is_left = strcmp(statement->parts[0], "shl") == 0, is_signed = type.kind == 's';
    LLVMValueRef too_far =
        LLVMBuildICmp(ir->builder, LLVMIntUGE, amount, cts_u32(ir, type.bits), "");
    LLVMValueRef cut =
        LLVMBuildAnd(ir->builder, LLVMBuildIntCast2(ir->builder, amount, ir_type, 0, ""),
                     LLVMConstInt(ir_type, type.bits - 1, 0), "");
    if (!is_left && is_signed) {
        cut =
            LLVMBuildSelect(ir->builder, too_far, LLVMConstInt(ir_type, type.bits - 1, 0), cut, "");
        return LLVMBuildAShr(ir->builder, a, cut, "");
    }
    LLVMValueRef moved =
        is_left ? LLVMBuildShl(ir->builder, a, cut, "") : LLVMBuildLShr(ir->builder, a, cut, "");
    return LLVMBuildSelect(ir->builder, too_far, LLVMConstNull(ir_type), moved, "");
}

/* shf.{l,r}.{wrap,clamp}.b32 d, low, high, amount */
static LLVMValueRef compute_funnel(struct ptx *ptx, struct ptx_statement *statement,
                                   struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef low = ptx_operand_value(ptx, statement, 1, type),
                 high = ptx_operand_value(ptx, statement, 2, type);
    LLVMValueRef amount = ptx_operand_value(ptx, statement, 3, type);
    LLVMValueRef whole =
        LLVMBuildOr(ir->builder, LLVMBuildZExt(ir->builder, low, ir->i64, ""),
                    LLVMBuildShl(ir->builder, LLVMBuildZExt(ir->builder, high, ir->i64, ""),
                                 cts_u64(ir, 32), ""),
                    "");
    LLVMValueRef pair[] = {amount, cts_u32(ir, 32)};
    amount = ptx_has(statement, "clamp") ? ptx_intrinsic(ptx, "llvm.umin", ir->i32, pair, 2)
                                         : LLVMBuildAnd(ir->builder, amount, cts_u32(ir, 31), "");
    amount = LLVMBuildZExt(ir->builder, amount, ir->i64, "");
    if (ptx_has(statement, "r"))
        whole = LLVMBuildLShr(ir->builder, whole, amount, "");
    else
        whole = LLVMBuildLShr(ir->builder, LLVMBuildShl(ir->builder, whole, amount, ""),
                              cts_u64(ir, 32), "");
    return LLVMBuildTrunc(ir->builder, whole, ir->i32, "");
}

static LLVMValueRef compute_count(struct ptx *ptx, struct ptx_statement *statement,
                                  struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type);
    const bool is_popc = strcmp(statement->parts[0], "popc") == 0;
    LLVMValueRef arguments[] = {a, LLVMConstInt(ir->i1, 0, 0)};
    LLVMValueRef count = ptx_intrinsic(ptx, is_popc ? "llvm.ctpop" : "llvm.ctlz", LLVMTypeOf(a),
                                       arguments, is_popc ? 1 : 2);
    return LLVMBuildIntCast2(ir->builder, count, ir->i32, 0, "");
}

static LLVMValueRef compute_brev(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type);
    return ptx_intrinsic(ptx, "llvm.bitreverse", LLVMTypeOf(a), &a, 1);
}

/* The position of the highest bit that differs from the sign; 0xffffffff when there is none. */
static LLVMValueRef compute_bfind(struct ptx *ptx, struct ptx_statement *statement,
                                  struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type);
    LLVMTypeRef ir_type = LLVMTypeOf(a);
    if (type.kind == 's')
        a = LLVMBuildXor(ir->builder, a,
                         LLVMBuildAShr(ir->builder, a, LLVMConstInt(ir_type, type.bits - 1, 0), ""),
                         "");
    LLVMValueRef arguments[] = {a, LLVMConstInt(ir->i1, 0, 0)};
    LLVMValueRef zeros = ptx_intrinsic(ptx, "llvm.ctlz", ir_type, arguments, 2);
    zeros = LLVMBuildIntCast2(ir->builder, zeros, ir->i32, 0, "");
    LLVMValueRef position = ptx_has(statement, "shiftamt")
                                ? zeros
                                : LLVMBuildSub(ir->builder, cts_u32(ir, type.bits - 1), zeros, "");
    LLVMValueRef none = LLVMBuildICmp(ir->builder, LLVMIntEQ, a, LLVMConstNull(ir_type), "");
    return LLVMBuildSelect(ir->builder, none, cts_u32(ir, UINT32_MAX), position, "");
}

/* Ones in bits 0 .. length-1; all from 64 on. */
static LLVMValueRef low_ones(struct ptx *ptx, LLVMValueRef length)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef whole = LLVMBuildICmp(ir->builder, LLVMIntUGE, length, cts_u64(ir, 64), "");
    LLVMValueRef cut = LLVMBuildAnd(ir->builder, length, cts_u64(ir, 63), "");
    LLVMValueRef ones = LLVMBuildSub(
        ir->builder, LLVMBuildShl(ir->builder, cts_u64(ir, 1), cut, ""), cts_u64(ir, 1), "");
    return LLVMBuildSelect(ir->builder, whole, cts_u64(ir, UINT64_MAX), ones, "");
}

/* A position or length of bfe and bfi. Of 32 bits its low byte counts, as the manual says; of 64 an
 * H200 takes all 32 bits of it. */
static LLVMValueRef place_operand(struct ptx *ptx, struct ptx_statement *statement, unsigned index,
                                  struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef value = ptx_operand_value(ptx, statement, index, ptx_sized('u', 32));
    if (type.bits == 32) value = LLVMBuildAnd(ir->builder, value, cts_u32(ir, 255), "");
    return LLVMBuildZExt(ir->builder, value, ir->i64, "");
}

static LLVMValueRef shift_right_64(struct ptx *ptx, LLVMValueRef value, LLVMValueRef amount)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef too_far = LLVMBuildICmp(ir->builder, LLVMIntUGE, amount, cts_u64(ir, 64), "");
    LLVMValueRef moved = LLVMBuildLShr(ir->builder, value,
                                       LLVMBuildAnd(ir->builder, amount, cts_u64(ir, 63), ""), "");
    return LLVMBuildSelect(ir->builder, too_far, cts_u64(ir, 0), moved, "");
}

/* bfe d, a, position, length: the field, filled with the bit at its top (signed) or zeros. */
static LLVMValueRef compute_bfe(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type);
    const bool is_signed = type.kind == 's';
    LLVMValueRef wide = LLVMBuildIntCast2(ir->builder, a, ir->i64, 0, "");
    LLVMValueRef position = place_operand(ptx, statement, 2, type);
    LLVMValueRef length = place_operand(ptx, statement, 3, type);
    LLVMValueRef ones = low_ones(ptx, length);
    LLVMValueRef field = LLVMBuildAnd(ir->builder, shift_right_64(ptx, wide, position), ones, "");
    if (is_signed) {
        /* The sign: bit position + length - 1, or the top bit when that lies beyond. */
        LLVMValueRef pair[] = {LLVMBuildSub(ir->builder,
                                            LLVMBuildAdd(ir->builder, position, length, ""),
                                            cts_u64(ir, 1), ""),
                               cts_u64(ir, type.bits - 1)};
        LLVMValueRef at = ptx_intrinsic(ptx, "llvm.umin", ir->i64, pair, 2);
        LLVMValueRef sign =
            LLVMBuildTrunc(ir->builder, LLVMBuildLShr(ir->builder, wide, at, ""), ir->i1, "");
        LLVMValueRef none = LLVMBuildICmp(ir->builder, LLVMIntEQ, length, cts_u64(ir, 0), "");
        LLVMValueRef left[] = {LLVMBuildSub(ir->builder, cts_u64(ir, type.bits), position, ""),
                               cts_u64(ir, 0)};
        LLVMValueRef held = ptx_intrinsic(ptx, "llvm.smax", ir->i64, left, 2);
        LLVMValueRef shorter[] = {held, length};
        LLVMValueRef own = low_ones(ptx, ptx_intrinsic(ptx, "llvm.umin", ir->i64, shorter, 2));
        LLVMValueRef filled =
            LLVMBuildOr(ir->builder, field, LLVMBuildNot(ir->builder, own, ""), "");
        sign = LLVMBuildAnd(ir->builder, sign, LLVMBuildNot(ir->builder, none, ""), "");
        field = LLVMBuildSelect(ir->builder, sign, filled, field, "");
    }
    return LLVMBuildIntCast2(ir->builder, field, ptx_ir_type(ir, type), 0, "");
}

/* bfi d, field, into, position, length */
static LLVMValueRef compute_bfi(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef field =
        LLVMBuildIntCast2(ir->builder, ptx_operand_value(ptx, statement, 1, type), ir->i64, 0, "");
    LLVMValueRef into =
        LLVMBuildIntCast2(ir->builder, ptx_operand_value(ptx, statement, 2, type), ir->i64, 0, "");
    LLVMValueRef position = place_operand(ptx, statement, 3, type);
    LLVMValueRef mask = low_ones(ptx, place_operand(ptx, statement, 4, type));
    LLVMValueRef beyond =
        LLVMBuildICmp(ir->builder, LLVMIntUGE, position, cts_u64(ir, type.bits), "");
    LLVMValueRef cut = LLVMBuildAnd(ir->builder, position, cts_u64(ir, 63), "");
    mask = LLVMBuildSelect(ir->builder, beyond, cts_u64(ir, 0),
                           LLVMBuildShl(ir->builder, mask, cut, ""), "");
    LLVMValueRef moved = LLVMBuildShl(ir->builder, field, cut, "");
    LLVMValueRef whole =
        LLVMBuildOr(ir->builder, LLVMBuildAnd(ir->builder, moved, mask, ""),
                    LLVMBuildAnd(ir->builder, into, LLVMBuildNot(ir->builder, mask, ""), ""), "");
    return LLVMBuildIntCast2(ir->builder, whole, ptx_ir_type(ir, type), 0, "");
}

/* bmsk.{clamp,wrap}.b32 d, position, length: ones there. */
static LLVMValueRef compute_bmsk(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef part[2];
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef pair[] = {ptx_operand_value(ptx, statement, i + 1, type), cts_u32(ir, 32)};
        part[i] = ptx_has(statement, "wrap")
                      ? LLVMBuildAnd(ir->builder, pair[0], cts_u32(ir, 31), "")
                      : ptx_intrinsic(ptx, "llvm.umin", ir->i32, pair, 2);
        part[i] = LLVMBuildZExt(ir->builder, part[i], ir->i64, "");
    }
    LLVMValueRef ones = LLVMBuildShl(ir->builder, low_ones(ptx, part[1]), part[0], "");
    return LLVMBuildTrunc(ir->builder, ones, ir->i32, "");
}

/* lop3.b32 d, a, b, c, table: a sum over the table's ones of products. */
static LLVMValueRef compute_lop3(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef inputs[3];
    for (unsigned i = 0; i < 3; i++) inputs[i] = ptx_operand_value(ptx, statement, i + 1, type);
    LLVMValueRef table = ptx_operand_value(ptx, statement, 4, type);
    if (!LLVMIsAConstantInt(table)) {
        ptx_fail(ptx, "the table of lop3 is not a constant");
        return inputs[0];
    }
    const unsigned long long ones = LLVMConstIntGetZExtValue(table);
    LLVMValueRef result = cts_u32(ir, 0);
    for (unsigned row = 0; row < 8; row++) {
        if (!(ones >> row & 1)) continue;
        LLVMValueRef term = cts_u32(ir, UINT32_MAX);
        for (unsigned i = 0; i < 3; i++) {
            LLVMValueRef input =
                row >> (2 - i) & 1 ? inputs[i] : LLVMBuildNot(ir->builder, inputs[i], "");
            term = LLVMBuildAnd(ir->builder, term, input, "");
        }
        result = LLVMBuildOr(ir->builder, result, term, "");
    }
    return result;
}

/* prmt.b32 d, a, b, selector: four bytes of {b, a}, each perhaps its sign repeated. */
static LLVMValueRef compute_prmt(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    if (statement->part_count > 2) ptx_fail(ptx, "unknown mode of prmt");
    LLVMValueRef low =
        LLVMBuildZExt(ir->builder, ptx_operand_value(ptx, statement, 1, type), ir->i64, "");
    LLVMValueRef high =
        LLVMBuildZExt(ir->builder, ptx_operand_value(ptx, statement, 2, type), ir->i64, "");
    LLVMValueRef bytes =
        LLVMBuildOr(ir->builder, low, LLVMBuildShl(ir->builder, high, cts_u64(ir, 32), ""), "");
    LLVMValueRef selector = ptx_operand_value(ptx, statement, 3, type), result = cts_u32(ir, 0);
    for (unsigned i = 0; i < 4; i++) {
        LLVMValueRef pick = LLVMBuildLShr(ir->builder, selector, cts_u32(ir, 4 * i), "");
        LLVMValueRef index = LLVMBuildAnd(ir->builder, pick, cts_u32(ir, 7), "");
        LLVMValueRef shift = LLVMBuildZExt(
            ir->builder, LLVMBuildShl(ir->builder, index, cts_u32(ir, 3), ""), ir->i64, "");
        LLVMValueRef byte =
            LLVMBuildTrunc(ir->builder, LLVMBuildLShr(ir->builder, bytes, shift, ""), ir->i8, "");
        LLVMValueRef sign = LLVMBuildAShr(ir->builder, byte, LLVMConstInt(ir->i8, 7, 0), "");
        LLVMValueRef repeats =
            LLVMBuildICmp(ir->builder, LLVMIntNE,
                          LLVMBuildAnd(ir->builder, pick, cts_u32(ir, 8), ""), cts_u32(ir, 0), "");
        byte = LLVMBuildSelect(ir->builder, repeats, sign, byte, "");
        LLVMValueRef moved = LLVMBuildShl(
            ir->builder, LLVMBuildZExt(ir->builder, byte, ir->i32, ""), cts_u32(ir, 8 * i), "");
        result = LLVMBuildOr(ir->builder, result, moved, "");
    }
    return result;
}

const struct ptx_computation ptx_bits[] = {
    {"and", compute_logic, 0},
    {"or", compute_logic, 0},
    {"xor", compute_logic, 0},
    {"not", compute_logic, 0},
    {"shl", compute_shift, 0},
    {"shr", compute_shift, 0},
    {"shf", compute_funnel, 0},
    {"popc", compute_count, 32},
    {"clz", compute_count, 32},
    {"brev", compute_brev, 0},
    {"bfind", compute_bfind, 32},
    {"bfe", compute_bfe, 0},
    {"bfi", compute_bfi, 0},
    {"bmsk", compute_bmsk, 0},
    {"lop3", compute_lop3, 0},
    {"prmt", compute_prmt, 0},
    {NULL, NULL, 0},
};
