/* PTX arithmetic as IR: see lower-ptx.c. One function per family of instructions, found in a table
 * by the first part of the name. All are of the form "op{.modifiers}.type d, a{, b{, c}}". */
#include "record/instrument/lower-ptx.h"

#include <stdio.h>
#include <stdlib.h>

typedef LLVMValueRef ptx_compute(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type);

static LLVMValueRef operand(struct ptx *ptx, const struct ptx_statement *statement, unsigned index,
                            struct ptx_type type)
{
    if (index >= statement->operand_count) {
        ptx_fail(ptx, "too few operands");
        return LLVMGetUndef(ptx_ir_type(ptx->ir, type));
    }
    return ptx_read(ptx, &statement->operands[index], type);
}

static struct ptx_type sized(char kind, unsigned bits)
{
    return (struct ptx_type){.kind = kind, .bits = bits, .lanes = 1};
}

/* llvm.NAME for one overloaded type */
static LLVMValueRef intrinsic(struct ptx *ptx, const char *name, LLVMTypeRef type,
                              LLVMValueRef *arguments, unsigned count)
{
    struct cts_ir *const ir = ptx->ir;
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(ir->module, id, &type, 1);
    LLVMTypeRef function_type = LLVMIntrinsicGetType(ir->context, id, &type, 1);
    return LLVMBuildCall2(ir->builder, function_type, function, arguments, count, "");
}

/* ---- sums, products ---- */

static LLVMValueRef saturate(struct ptx *ptx, const struct ptx_statement *statement,
                             LLVMValueRef value, struct ptx_type type)
{
    if (!ptx_has(statement, "sat") || type.kind != 'f') return value;
    LLVMTypeRef ir_type = ptx_ir_type(ptx->ir, type);
    LLVMValueRef low[] = {value, LLVMConstNull(ir_type)};
    value = intrinsic(ptx, "llvm.maxnum", ir_type, low, 2);
    LLVMValueRef high[] = {value, type.lanes == 1 ? LLVMConstReal(ir_type, 1.0) : NULL};
    if (!high[1]) return ptx_fail(ptx, "unknown modifier .sat"), value;
    return intrinsic(ptx, "llvm.minnum", ir_type, high, 2);
}

static LLVMValueRef with_carry(struct ptx *ptx, const struct ptx_statement *statement,
                               LLVMValueRef a, LLVMValueRef b, bool takes_carry, bool subtracts)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMTypeRef type = LLVMTypeOf(a);
    const unsigned bits = LLVMGetIntTypeWidth(type);
    LLVMTypeRef wide = LLVMIntTypeInContext(ir->context, bits + 2);
    LLVMValueRef left = LLVMBuildZExt(ir->builder, a, wide, "");
    LLVMValueRef right = LLVMBuildZExt(ir->builder, b, wide, "");
    if (takes_carry && !ptx->carry) ptx_fail(ptx, "the carry comes from another asm");
    if (takes_carry && ptx->carry)
        right =
            LLVMBuildAdd(ir->builder, right, LLVMBuildZExt(ir->builder, ptx->carry, wide, ""), "");
    LLVMValueRef sum = subtracts ? LLVMBuildSub(ir->builder, left, right, "")
                                 : LLVMBuildAdd(ir->builder, left, right, "");
    if (ptx_has(statement, "cc")) {
        LLVMValueRef over = LLVMBuildLShr(ir->builder, sum, LLVMConstInt(wide, bits, 0), "");
        ptx->carry = LLVMBuildTrunc(ir->builder, over, ir->i1, "");
    }
    return LLVMBuildTrunc(ir->builder, sum, type, "");
}

static LLVMValueRef compute_add(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    const bool subtracts = cts_starts_with(statement->parts[0], "sub");
    const bool takes_carry = statement->parts[0][3] == 'c';
    LLVMValueRef a = operand(ptx, statement, 1, type), b = operand(ptx, statement, 2, type);
    LLVMBuilderRef builder = ptx->ir->builder;
    if (type.kind == 'f')
        return saturate(
            ptx, statement,
            subtracts ? LLVMBuildFSub(builder, a, b, "") : LLVMBuildFAdd(builder, a, b, ""), type);
    if (takes_carry || ptx_has(statement, "cc"))
        return with_carry(ptx, statement, a, b, takes_carry, subtracts);
    if (ptx_has(statement, "sat")) {
        LLVMValueRef arguments[] = {a, b};
        return intrinsic(ptx, subtracts ? "llvm.ssub.sat" : "llvm.sadd.sat", LLVMTypeOf(a),
                         arguments, 2);
    }
    return subtracts ? LLVMBuildSub(builder, a, b, "") : LLVMBuildAdd(builder, a, b, "");
}

static LLVMValueRef product(struct ptx *ptx, const struct ptx_statement *statement,
                            struct ptx_type type, struct ptx_type *result)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = operand(ptx, statement, 1, type), b = operand(ptx, statement, 2, type);
    *result = type;
    if (type.kind == 'f') return LLVMBuildFMul(ir->builder, a, b, "");
    if (!ptx_has(statement, "wide") && !ptx_has(statement, "hi"))
        return LLVMBuildMul(ir->builder, a, b, "");
    LLVMTypeRef wide = LLVMIntTypeInContext(ir->context, type.bits * 2);
    const bool is_signed = type.kind == 's';
    a = LLVMBuildIntCast2(ir->builder, a, wide, is_signed, "");
    b = LLVMBuildIntCast2(ir->builder, b, wide, is_signed, "");
    LLVMValueRef whole = LLVMBuildMul(ir->builder, a, b, "");
    if (ptx_has(statement, "wide")) {
        result->bits = type.bits * 2;
        return whole;
    }
    whole = LLVMBuildLShr(ir->builder, whole, LLVMConstInt(wide, type.bits, 0), "");
    return LLVMBuildTrunc(ir->builder, whole, ptx_ir_type(ir, type), "");
}

static LLVMValueRef compute_mul(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    struct ptx_type result;
    return saturate(ptx, statement, product(ptx, statement, type, &result), type);
}

static LLVMValueRef compute_mad(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    const bool takes_carry = strcmp(statement->parts[0], "madc") == 0;
    if (type.kind == 'f') {
        LLVMValueRef arguments[] = {operand(ptx, statement, 1, type),
                                    operand(ptx, statement, 2, type),
                                    operand(ptx, statement, 3, type)};
        return saturate(ptx, statement,
                        intrinsic(ptx, "llvm.fma", ptx_ir_type(ir, type), arguments, 3), type);
    }
    struct ptx_type result;
    LLVMValueRef whole = product(ptx, statement, type, &result);
    LLVMValueRef c = operand(ptx, statement, 3, result);
    if (takes_carry || ptx_has(statement, "cc"))
        return with_carry(ptx, statement, whole, c, takes_carry, false);
    return LLVMBuildAdd(ir->builder, whole, c, "");
}

static LLVMValueRef compute_mul24(struct ptx *ptx, struct ptx_statement *statement,
                                  struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef value[2];
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef up =
            LLVMBuildShl(ir->builder, operand(ptx, statement, i + 1, type), cts_u32(ir, 8), "");
        value[i] = type.kind == 's' ? LLVMBuildAShr(ir->builder, up, cts_u32(ir, 8), "")
                                    : LLVMBuildLShr(ir->builder, up, cts_u32(ir, 8), "");
    }
    LLVMValueRef whole = LLVMBuildMul(ir->builder, value[0], value[1], "");
    if (ptx_has(statement, "hi")) ptx_fail(ptx, "unknown modifier .hi");
    if (strcmp(statement->parts[0], "mad24") == 0)
        whole = LLVMBuildAdd(ir->builder, whole, operand(ptx, statement, 3, type), "");
    return whole;
}

static LLVMValueRef compute_div(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    LLVMBuilderRef builder = ptx->ir->builder;
    LLVMValueRef a = operand(ptx, statement, 1, type), b = operand(ptx, statement, 2, type);
    if (type.kind == 'f') return LLVMBuildFDiv(builder, a, b, "");
    const bool remainder = strcmp(statement->parts[0], "rem") == 0;
    if (type.kind == 's')
        return remainder ? LLVMBuildSRem(builder, a, b, "") : LLVMBuildSDiv(builder, a, b, "");
    return remainder ? LLVMBuildURem(builder, a, b, "") : LLVMBuildUDiv(builder, a, b, "");
}

static LLVMValueRef compute_min_max(struct ptx *ptx, struct ptx_statement *statement,
                                    struct ptx_type type)
{
    const bool is_min = strcmp(statement->parts[0], "min") == 0;
    LLVMValueRef arguments[] = {operand(ptx, statement, 1, type), operand(ptx, statement, 2, type)};
    const char *const name = type.kind == 'f'   ? ptx_has(statement, "NaN")
                                                      ? is_min ? "llvm.minimum" : "llvm.maximum"
                                                  : is_min ? "llvm.minnum"
                                                           : "llvm.maxnum"
                             : type.kind == 's' ? is_min ? "llvm.smin" : "llvm.smax"
                             : is_min           ? "llvm.umin"
                                                : "llvm.umax";
    return intrinsic(ptx, name, ptx_ir_type(ptx->ir, type), arguments, 2);
}

static LLVMValueRef compute_neg_abs(struct ptx *ptx, struct ptx_statement *statement,
                                    struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = operand(ptx, statement, 1, type);
    const bool is_neg = strcmp(statement->parts[0], "neg") == 0;
    if (is_neg)
        return type.kind == 'f' ? LLVMBuildFNeg(ir->builder, a, "")
                                : LLVMBuildNeg(ir->builder, a, "");
    if (type.kind == 'f') return intrinsic(ptx, "llvm.fabs", LLVMTypeOf(a), &a, 1);
    LLVMValueRef arguments[] = {a, LLVMConstInt(ir->i1, 0, 0)};
    return intrinsic(ptx, "llvm.abs", LLVMTypeOf(a), arguments, 2);
}

static LLVMValueRef compute_sad(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = operand(ptx, statement, 1, type), b = operand(ptx, statement, 2, type);
    LLVMValueRef greater =
        LLVMBuildICmp(ir->builder, type.kind == 's' ? LLVMIntSGT : LLVMIntUGT, a, b, "");
    LLVMValueRef difference =
        LLVMBuildSelect(ir->builder, greater, LLVMBuildSub(ir->builder, a, b, ""),
                        LLVMBuildSub(ir->builder, b, a, ""), "");
    return LLVMBuildAdd(ir->builder, difference, operand(ptx, statement, 3, type), "");
}

/* ---- bits ---- */

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
                       : operand(ptx, statement, i + 1, type);
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
    LLVMValueRef a = operand(ptx, statement, 1, type);
    LLVMValueRef amount = operand(ptx, statement, 2, sized('u', 32));
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
    LLVMValueRef low = operand(ptx, statement, 1, type), high = operand(ptx, statement, 2, type);
    LLVMValueRef amount = operand(ptx, statement, 3, type);
    LLVMValueRef whole =
        LLVMBuildOr(ir->builder, LLVMBuildZExt(ir->builder, low, ir->i64, ""),
                    LLVMBuildShl(ir->builder, LLVMBuildZExt(ir->builder, high, ir->i64, ""),
                                 cts_u64(ir, 32), ""),
                    "");
    LLVMValueRef pair[] = {amount, cts_u32(ir, 32)};
    amount = ptx_has(statement, "clamp") ? intrinsic(ptx, "llvm.umin", ir->i32, pair, 2)
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
    LLVMValueRef a = operand(ptx, statement, 1, type);
    const bool is_popc = strcmp(statement->parts[0], "popc") == 0;
    LLVMValueRef arguments[] = {a, LLVMConstInt(ir->i1, 0, 0)};
    LLVMValueRef count = intrinsic(ptx, is_popc ? "llvm.ctpop" : "llvm.ctlz", LLVMTypeOf(a),
                                   arguments, is_popc ? 1 : 2);
    return LLVMBuildIntCast2(ir->builder, count, ir->i32, 0, "");
}

static LLVMValueRef compute_brev(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    LLVMValueRef a = operand(ptx, statement, 1, type);
    return intrinsic(ptx, "llvm.bitreverse", LLVMTypeOf(a), &a, 1);
}

/* The position of the highest bit that differs from the sign; 0xffffffff when there is none. */
static LLVMValueRef compute_bfind(struct ptx *ptx, struct ptx_statement *statement,
                                  struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = operand(ptx, statement, 1, type);
    LLVMTypeRef ir_type = LLVMTypeOf(a);
    if (type.kind == 's')
        a = LLVMBuildXor(ir->builder, a,
                         LLVMBuildAShr(ir->builder, a, LLVMConstInt(ir_type, type.bits - 1, 0), ""),
                         "");
    LLVMValueRef arguments[] = {a, LLVMConstInt(ir->i1, 0, 0)};
    LLVMValueRef zeros = intrinsic(ptx, "llvm.ctlz", ir_type, arguments, 2);
    zeros = LLVMBuildIntCast2(ir->builder, zeros, ir->i32, 0, "");
    LLVMValueRef position = ptx_has(statement, "shiftamt")
                                ? zeros
                                : LLVMBuildSub(ir->builder, cts_u32(ir, type.bits - 1), zeros, "");
    LLVMValueRef none = LLVMBuildICmp(ir->builder, LLVMIntEQ, a, LLVMConstNull(ir_type), "");
    return LLVMBuildSelect(ir->builder, none, cts_u32(ir, UINT32_MAX), position, "");
}

/* Ones in bits 0 .. length-1, for length 0 .. 255. */
static LLVMValueRef low_ones(struct ptx *ptx, LLVMValueRef length)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef whole = LLVMBuildICmp(ir->builder, LLVMIntUGE, length, cts_u64(ir, 64), "");
    LLVMValueRef cut = LLVMBuildAnd(ir->builder, length, cts_u64(ir, 63), "");
    LLVMValueRef ones = LLVMBuildSub(
        ir->builder, LLVMBuildShl(ir->builder, cts_u64(ir, 1), cut, ""), cts_u64(ir, 1), "");
    return LLVMBuildSelect(ir->builder, whole, cts_u64(ir, UINT64_MAX), ones, "");
}

static LLVMValueRef byte_operand(struct ptx *ptx, struct ptx_statement *statement, unsigned index)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef value = operand(ptx, statement, index, sized('u', 32));
    value = LLVMBuildAnd(ir->builder, value, cts_u32(ir, 255), "");
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
    LLVMValueRef a = operand(ptx, statement, 1, type);
    const bool is_signed = type.kind == 's';
    LLVMValueRef wide = LLVMBuildIntCast2(ir->builder, a, ir->i64, 0, "");
    LLVMValueRef position = byte_operand(ptx, statement, 2);
    LLVMValueRef length = byte_operand(ptx, statement, 3);
    LLVMValueRef ones = low_ones(ptx, length);
    LLVMValueRef field = LLVMBuildAnd(ir->builder, shift_right_64(ptx, wide, position), ones, "");
    if (is_signed) {
        /* The sign: bit position + length - 1, or the top bit when that lies beyond. */
        LLVMValueRef pair[] = {LLVMBuildSub(ir->builder,
                                            LLVMBuildAdd(ir->builder, position, length, ""),
                                            cts_u64(ir, 1), ""),
                               cts_u64(ir, type.bits - 1)};
        LLVMValueRef at = intrinsic(ptx, "llvm.umin", ir->i64, pair, 2);
        LLVMValueRef sign =
            LLVMBuildTrunc(ir->builder, LLVMBuildLShr(ir->builder, wide, at, ""), ir->i1, "");
        LLVMValueRef none = LLVMBuildICmp(ir->builder, LLVMIntEQ, length, cts_u64(ir, 0), "");
        LLVMValueRef left[] = {LLVMBuildSub(ir->builder, cts_u64(ir, type.bits), position, ""),
                               cts_u64(ir, 0)};
        LLVMValueRef held = intrinsic(ptx, "llvm.smax", ir->i64, left, 2);
        LLVMValueRef shorter[] = {held, length};
        LLVMValueRef own = low_ones(ptx, intrinsic(ptx, "llvm.umin", ir->i64, shorter, 2));
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
        LLVMBuildIntCast2(ir->builder, operand(ptx, statement, 1, type), ir->i64, 0, "");
    LLVMValueRef into =
        LLVMBuildIntCast2(ir->builder, operand(ptx, statement, 2, type), ir->i64, 0, "");
    LLVMValueRef position = byte_operand(ptx, statement, 3);
    LLVMValueRef mask = low_ones(ptx, byte_operand(ptx, statement, 4));
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

/* lop3.b32 d, a, b, c, table: a sum over the table's ones of products. */
static LLVMValueRef compute_lop3(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef inputs[3];
    for (unsigned i = 0; i < 3; i++) inputs[i] = operand(ptx, statement, i + 1, type);
    LLVMValueRef table = operand(ptx, statement, 4, type);
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
    LLVMValueRef low = LLVMBuildZExt(ir->builder, operand(ptx, statement, 1, type), ir->i64, "");
    LLVMValueRef high = LLVMBuildZExt(ir->builder, operand(ptx, statement, 2, type), ir->i64, "");
    LLVMValueRef bytes =
        LLVMBuildOr(ir->builder, low, LLVMBuildShl(ir->builder, high, cts_u64(ir, 32), ""), "");
    LLVMValueRef selector = operand(ptx, statement, 3, type), result = cts_u32(ir, 0);
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

/* ---- float functions ---- */

static LLVMValueRef compute_root(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = operand(ptx, statement, 1, type);
    LLVMTypeRef ir_type = LLVMTypeOf(a);
    if (type.kind != 'f' || type.lanes != 1) {
        ptx_fail(ptx, "unknown type");
        return a;
    }
    if (strcmp(statement->parts[0], "rcp") != 0) a = intrinsic(ptx, "llvm.sqrt", ir_type, &a, 1);
    if (strcmp(statement->parts[0], "sqrt") == 0) return a;
    return LLVMBuildFDiv(ir->builder, LLVMConstReal(ir_type, 1.0), a, "");
}

static LLVMValueRef compute_function(struct ptx *ptx, struct ptx_statement *statement,
                                     struct ptx_type type)
{
    static const struct {
        const char *name, *intrinsic;
    } known[] = {
        {"sin", "llvm.sin"}, {"cos", "llvm.cos"}, {"ex2", "llvm.exp2"}, {"lg2", "llvm.log2"}};
    LLVMValueRef a = operand(ptx, statement, 1, type);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, statement->parts[0]) == 0)
            return intrinsic(ptx, known[i].intrinsic, LLVMTypeOf(a), &a, 1);
    ptx_fail(ptx, "unknown function");
    return a;
}

static LLVMValueRef compute_copysign(struct ptx *ptx, struct ptx_statement *statement,
                                     struct ptx_type type)
{
    /* PTX takes the sign from its first operand. */
    LLVMValueRef arguments[] = {operand(ptx, statement, 2, type), operand(ptx, statement, 1, type)};
    return intrinsic(ptx, "llvm.copysign", LLVMTypeOf(arguments[0]), arguments, 2);
}

/* ---- moves and choices ---- */

static LLVMValueRef compute_mov(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    if (type.kind == 'p' && statement->operand_count > 1)
        return ptx_read_i1(ptx, &statement->operands[1]);
    return operand(ptx, statement, 1, type);
}

static LLVMValueRef compute_selp(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    LLVMValueRef a = operand(ptx, statement, 1, type), b = operand(ptx, statement, 2, type);
    if (statement->operand_count < 4) return a;
    return LLVMBuildSelect(ptx->ir->builder, ptx_read_i1(ptx, &statement->operands[3]), a, b, "");
}

/* slct.T.s32 d, a, b, c: a when c >= 0 */
static LLVMValueRef compute_slct(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    type = ptx_type_at(statement, 0);
    const struct ptx_type by = ptx_type_at(statement, 1);
    LLVMValueRef a = operand(ptx, statement, 1, type), b = operand(ptx, statement, 2, type);
    LLVMValueRef c = operand(ptx, statement, 3, by);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(c));
    LLVMValueRef first = by.kind == 'f' ? LLVMBuildFCmp(ir->builder, LLVMRealOGE, c, zero, "")
                                        : LLVMBuildICmp(ir->builder, LLVMIntSGE, c, zero, "");
    return LLVMBuildSelect(ir->builder, first, a, b, "");
}

/* ---- the table ---- */

static const struct {
    const char *name;
    ptx_compute *compute;
    unsigned result_bits; /* 0: as the type; 32 also for counts of 64-bit values */
} computes[] = {
    {"add", compute_add, 0},           {"addc", compute_add, 0},     {"sub", compute_add, 0},
    {"subc", compute_add, 0},          {"mul", compute_mul, 0},      {"mad", compute_mad, 0},
    {"madc", compute_mad, 0},          {"fma", compute_mad, 0},      {"mul24", compute_mul24, 0},
    {"mad24", compute_mul24, 0},       {"div", compute_div, 0},      {"rem", compute_div, 0},
    {"min", compute_min_max, 0},       {"max", compute_min_max, 0},  {"neg", compute_neg_abs, 0},
    {"abs", compute_neg_abs, 0},       {"sad", compute_sad, 0},      {"and", compute_logic, 0},
    {"or", compute_logic, 0},          {"xor", compute_logic, 0},    {"not", compute_logic, 0},
    {"shl", compute_shift, 0},         {"shr", compute_shift, 0},    {"shf", compute_funnel, 0},
    {"popc", compute_count, 32},       {"clz", compute_count, 32},   {"brev", compute_brev, 0},
    {"bfind", compute_bfind, 32},      {"bfe", compute_bfe, 0},      {"bfi", compute_bfi, 0},
    {"lop3", compute_lop3, 0},         {"prmt", compute_prmt, 0},    {"sqrt", compute_root, 0},
    {"rsqrt", compute_root, 0},        {"rcp", compute_root, 0},     {"sin", compute_function, 0},
    {"cos", compute_function, 0},      {"ex2", compute_function, 0}, {"lg2", compute_function, 0},
    {"copysign", compute_copysign, 0}, {"mov", compute_mov, 0},      {"selp", compute_selp, 0},
    {"slct", compute_slct, 0},
};

static LLVMIntPredicate integer_predicate(const char *name, bool is_signed)
{
    if (strcmp(name, "eq") == 0) return LLVMIntEQ;
    if (strcmp(name, "ne") == 0) return LLVMIntNE;
    if (strcmp(name, "lt") == 0 || strcmp(name, "lo") == 0)
        return is_signed ? LLVMIntSLT : LLVMIntULT;
    if (strcmp(name, "le") == 0 || strcmp(name, "ls") == 0)
        return is_signed ? LLVMIntSLE : LLVMIntULE;
    if (strcmp(name, "gt") == 0 || strcmp(name, "hi") == 0)
        return is_signed ? LLVMIntSGT : LLVMIntUGT;
    if (strcmp(name, "ge") == 0 || strcmp(name, "hs") == 0)
        return is_signed ? LLVMIntSGE : LLVMIntUGE;
    return 0;
}

static LLVMRealPredicate real_predicate(const char *name)
{
    static const struct {
        const char *name;
        LLVMRealPredicate predicate;
    } known[] = {{"eq", LLVMRealOEQ},  {"ne", LLVMRealONE},  {"lt", LLVMRealOLT},
                 {"le", LLVMRealOLE},  {"gt", LLVMRealOGT},  {"ge", LLVMRealOGE},
                 {"equ", LLVMRealUEQ}, {"neu", LLVMRealUNE}, {"ltu", LLVMRealULT},
                 {"leu", LLVMRealULE}, {"gtu", LLVMRealUGT}, {"geu", LLVMRealUGE},
                 {"num", LLVMRealORD}, {"nan", LLVMRealUNO}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].predicate;
    return LLVMRealPredicateFalse;
}

static LLVMValueRef compare(struct ptx *ptx, const struct ptx_statement *statement,
                            struct ptx_type type)
{
    LLVMValueRef a = operand(ptx, statement, 1, type), b = operand(ptx, statement, 2, type);
    const char *const how = statement->parts[1];
    if (type.kind == 'f') {
        const LLVMRealPredicate predicate = real_predicate(how);
        if (!predicate) ptx_fail(ptx, "unknown comparison");
        return LLVMBuildFCmp(ptx->ir->builder, predicate, a, b, "");
    }
    const LLVMIntPredicate predicate = integer_predicate(how, type.kind == 's');
    if (!predicate) {
        ptx_fail(ptx, "unknown comparison");
        return LLVMConstInt(ptx->ir->i1, 0, 0);
    }
    return LLVMBuildICmp(ptx->ir->builder, predicate, a, b, "");
}

/* setp.CMP{.and|or|xor}.T p{|q}, a, b{, c} and set.CMP.D.T d, a, b */
static bool lower_set(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct cts_ir *const ir = ptx->ir;
    const bool to_predicate = strcmp(statement->parts[0], "setp") == 0;
    LLVMValueRef value = compare(ptx, statement, ptx_type_at(statement, -1));
    LLVMValueRef other = LLVMBuildNot(ir->builder, value, "");
    if (statement->operand_count > 3) {
        LLVMValueRef with = ptx_read_i1(ptx, &statement->operands[3]);
        const bool is_and = ptx_has(statement, "and"), is_or = ptx_has(statement, "or");
        value = is_and  ? LLVMBuildAnd(ir->builder, value, with, "")
                : is_or ? LLVMBuildOr(ir->builder, value, with, "")
                        : LLVMBuildXor(ir->builder, value, with, "");
        other = is_and  ? LLVMBuildAnd(ir->builder, other, with, "")
                : is_or ? LLVMBuildOr(ir->builder, other, with, "")
                        : LLVMBuildXor(ir->builder, other, with, "");
    }
    struct ptx_operand *const to = &statement->operands[0];
    if (to_predicate) {
        if (to->kind != PTX_SINK && !ptx_write(ptx, statement, to->reg, value, sized('p', 1)))
            return false;
        return !to->second || ptx_write(ptx, statement, to->second, other, sized('p', 1));
    }
    const struct ptx_type type = ptx_type_at(statement, 0);
    value = type.kind == 'f' ? LLVMBuildUIToFP(ir->builder, value, ptx_ir_type(ir, type), "")
                             : LLVMBuildSExt(ir->builder, value, ptx_ir_type(ir, type), "");
    return ptx_write(ptx, statement, to->reg, value, type);
}

/* ---- conversions ---- */

static LLVMValueRef round_float(struct ptx *ptx, const struct ptx_statement *statement,
                                LLVMValueRef value)
{
    static const struct {
        const char *mode, *intrinsic;
    } modes[] = {
        {"rni", "llvm.rint"}, {"rzi", "llvm.trunc"}, {"rmi", "llvm.floor"}, {"rpi", "llvm.ceil"}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (ptx_has(statement, modes[i].mode))
            return intrinsic(ptx, modes[i].intrinsic, LLVMTypeOf(value), &value, 1);
    return value;
}

static LLVMValueRef float_to_integer(struct ptx *ptx, LLVMValueRef value, LLVMTypeRef to,
                                     bool is_signed)
{
    struct cts_ir *const ir = ptx->ir;
    const char *const name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMTypeRef types[] = {to, LLVMTypeOf(value)};
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(ir->module, id, types, 2);
    LLVMTypeRef type = LLVMIntrinsicGetType(ir->context, id, types, 2);
    return LLVMBuildCall2(ir->builder, type, function, &value, 1, "");
}

/* cvt{.rounding}{.sat}.D.S d, a */
static bool lower_cvt(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct cts_ir *const ir = ptx->ir;
    const struct ptx_type to = ptx_type_at(statement, 0), from = ptx_type_at(statement, 1);
    if (!to.kind || !from.kind || to.lanes != 1 || from.lanes != 1)
        return ptx_fail(ptx, "unknown conversion");
    if (ptx_has(statement, "rz") || ptx_has(statement, "rm") || ptx_has(statement, "rp"))
        if (to.kind == 'f' && !(from.kind == 'f' && from.bits <= to.bits))
            return ptx_fail(ptx, "unknown rounding mode");
    LLVMValueRef value = operand(ptx, statement, 1, from);
    LLVMTypeRef type = ptx_ir_type(ir, to);
    if (from.kind == 'f' && to.kind == 'f') {
        value = LLVMTypeOf(value) == type ? value : LLVMBuildFPCast(ir->builder, value, type, "");
        value = saturate(ptx, statement, round_float(ptx, statement, value), to);
    } else if (from.kind == 'f') {
        value = float_to_integer(ptx, round_float(ptx, statement, value), type, to.kind == 's');
    } else if (to.kind == 'f') {
        value = from.kind == 's' ? LLVMBuildSIToFP(ir->builder, value, type, "")
                                 : LLVMBuildUIToFP(ir->builder, value, type, "");
    } else {
        if (ptx_has(statement, "sat")) return ptx_fail(ptx, "unknown modifier .sat");
        value = LLVMBuildIntCast2(ir->builder, value, type, from.kind == 's', "");
    }
    return ptx_write(ptx, statement, statement->operands[0].reg, value, to);
}

/* mov with a vector on one side packs or unpacks: mov.b64 d, {a, b}; mov.b64 {a, b}, d */
static bool lower_pack(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct cts_ir *const ir = ptx->ir;
    const struct ptx_type type = ptx_type_at(statement, -1);
    struct ptx_operand *const to = &statement->operands[0], *const from = &statement->operands[1];
    const struct ptx_operand *const parts = to->kind == PTX_VECTOR ? to : from;
    const struct ptx_type part = sized('b', type.bits / (parts->count ? parts->count : 1));
    LLVMTypeRef whole_type = LLVMIntTypeInContext(ir->context, type.bits);
    LLVMValueRef whole = LLVMConstNull(whole_type);
    if (to->kind == PTX_VECTOR) whole = operand(ptx, statement, 1, sized('b', type.bits));
    for (unsigned i = 0; i < parts->count; i++) {
        LLVMValueRef shift = LLVMConstInt(whole_type, i * part.bits, 0);
        if (to->kind == PTX_VECTOR) {
            LLVMValueRef piece =
                LLVMBuildTrunc(ir->builder, LLVMBuildLShr(ir->builder, whole, shift, ""),
                               ptx_ir_type(ir, part), "");
            if (to->elements[i] && !ptx_write(ptx, statement, to->elements[i], piece, part))
                return false;
            continue;
        }
        const struct ptx_operand element = {.kind = from->elements[i] ? PTX_REGISTER : PTX_VALUE,
                                            .reg = from->elements[i],
                                            .value = from->element_values[i],
                                            .is_integer = true};
        LLVMValueRef piece =
            LLVMBuildZExt(ir->builder, ptx_read(ptx, &element, part), whole_type, "");
        whole = LLVMBuildOr(ir->builder, whole, LLVMBuildShl(ir->builder, piece, shift, ""), "");
    }
    return to->kind == PTX_VECTOR || ptx_write(ptx, statement, to->reg, whole, type);
}

static struct ptx_type result_type(const struct ptx_statement *statement, struct ptx_type type,
                                   unsigned result_bits)
{
    if (result_bits) return sized('u', result_bits);
    if (ptx_has(statement, "wide")) type.bits *= 2;
    if (strcmp(statement->parts[0], "slct") == 0) return ptx_type_at(statement, 0);
    return type;
}

bool ptx_value_statement(struct ptx *ptx, struct ptx_statement *statement, bool *known)
{
    const char *const name = statement->parts[0];
    *known = true;
    if (strcmp(name, "setp") == 0 || strcmp(name, "set") == 0) return lower_set(ptx, statement);
    if (strcmp(name, "cvt") == 0) return lower_cvt(ptx, statement);
    if (strcmp(name, "mov") == 0 && statement->operand_count == 2 &&
        (statement->operands[0].kind == PTX_VECTOR || statement->operands[1].kind == PTX_VECTOR))
        return lower_pack(ptx, statement);
    struct ptx_type type = ptx_type_at(statement, -1);
    for (size_t i = 0; i < sizeof computes / sizeof computes[0]; i++) {
        if (strcmp(computes[i].name, name) != 0) continue;
        if (!type.kind) return ptx_fail(ptx, "unknown type");
        LLVMValueRef value = computes[i].compute(ptx, statement, type);
        if (ptx->reason[0]) return false;
        return ptx_write(ptx, statement, statement->operands[0].reg, value,
                         result_type(statement, type, computes[i].result_bits));
    }
    *known = false;
    return true;
}
