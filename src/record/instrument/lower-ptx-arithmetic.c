/* PTX sums, products and float functions as IR. */
#include "record/instrument/lower-ptx-values.h"

struct sum_kind {
    bool takes_carry, subtracts;
};

/* ---- sums, products ---- */

static LLVMValueRef with_carry(struct ptx *ptx, const struct ptx_statement *statement,
                               LLVMValueRef a, LLVMValueRef b, struct sum_kind kind)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMTypeRef type = LLVMTypeOf(a);
    const unsigned bits = LLVMGetIntTypeWidth(type);
    LLVMTypeRef wide = LLVMIntTypeInContext(ir->context, bits + 2);
    LLVMValueRef left = LLVMBuildZExt(ir->builder, a, wide, "");
    LLVMValueRef right = LLVMBuildZExt(ir->builder, b, wide, "");
    if (kind.takes_carry && !ptx->carry) ptx_fail(ptx, "the carry comes from another asm");
    if (kind.takes_carry && ptx->carry)
        right =
            LLVMBuildAdd(ir->builder, right, LLVMBuildZExt(ir->builder, ptx->carry, wide, ""), "");
    LLVMValueRef sum = kind.subtracts ? LLVMBuildSub(ir->builder, left, right, "")
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
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type),
                 b = ptx_operand_value(ptx, statement, 2, type);
    LLVMBuilderRef builder = ptx->ir->builder;
    if (type.kind == 'f')
        return ptx_saturate(
            ptx, statement,
            subtracts ? LLVMBuildFSub(builder, a, b, "") : LLVMBuildFAdd(builder, a, b, ""), type);
    if (takes_carry || ptx_has(statement, "cc"))
        return with_carry(ptx, statement, a, b, (struct sum_kind){takes_carry, subtracts});
    if (ptx_has(statement, "sat")) {
        LLVMValueRef arguments[] = {a, b};
        return ptx_intrinsic(ptx, subtracts ? "llvm.ssub.sat" : "llvm.sadd.sat", LLVMTypeOf(a),
                             arguments, 2);
    }
    return subtracts ? LLVMBuildSub(builder, a, b, "") : LLVMBuildAdd(builder, a, b, "");
}

static LLVMValueRef product(struct ptx *ptx, const struct ptx_statement *statement,
                            struct ptx_type type, struct ptx_type *result)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type),
                 b = ptx_operand_value(ptx, statement, 2, type);
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
    return ptx_saturate(ptx, statement, product(ptx, statement, type, &result), type);
}

static LLVMValueRef compute_mad(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    const bool takes_carry = strcmp(statement->parts[0], "madc") == 0;
    if (type.kind == 'f') {
        LLVMValueRef arguments[] = {ptx_operand_value(ptx, statement, 1, type),
                                    ptx_operand_value(ptx, statement, 2, type),
                                    ptx_operand_value(ptx, statement, 3, type)};
        return ptx_saturate(ptx, statement,
                            ptx_intrinsic(ptx, "llvm.fma", ptx_ir_type(ir, type), arguments, 3),
                            type);
    }
    struct ptx_type result;
    LLVMValueRef whole = product(ptx, statement, type, &result);
    LLVMValueRef c = ptx_operand_value(ptx, statement, 3, result);
    if (takes_carry || ptx_has(statement, "cc"))
        return with_carry(ptx, statement, whole, c, (struct sum_kind){takes_carry, false});
    return LLVMBuildAdd(ir->builder, whole, c, "");
}

static LLVMValueRef compute_mul24(struct ptx *ptx, struct ptx_statement *statement,
                                  struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef value[2];
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef up = LLVMBuildShl(ir->builder, ptx_operand_value(ptx, statement, i + 1, type),
                                       cts_u32(ir, 8), "");
        value[i] = type.kind == 's' ? LLVMBuildAShr(ir->builder, up, cts_u32(ir, 8), "")
                                    : LLVMBuildLShr(ir->builder, up, cts_u32(ir, 8), "");
    }
    LLVMValueRef whole = LLVMBuildMul(ir->builder, value[0], value[1], "");
    if (ptx_has(statement, "hi")) ptx_fail(ptx, "unknown modifier .hi");
    if (strcmp(statement->parts[0], "mad24") == 0)
        whole = LLVMBuildAdd(ir->builder, whole, ptx_operand_value(ptx, statement, 3, type), "");
    return whole;
}

static LLVMValueRef compute_div(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    LLVMBuilderRef builder = ptx->ir->builder;
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type),
                 b = ptx_operand_value(ptx, statement, 2, type);
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
    LLVMValueRef arguments[] = {ptx_operand_value(ptx, statement, 1, type),
                                ptx_operand_value(ptx, statement, 2, type)};
    const char *const name = type.kind == 'f'   ? ptx_has(statement, "NaN")
                                                      ? is_min ? "llvm.minimum" : "llvm.maximum"
                                                  : is_min ? "llvm.minnum"
                                                           : "llvm.maxnum"
                             : type.kind == 's' ? is_min ? "llvm.smin" : "llvm.smax"
                             : is_min           ? "llvm.umin"
                                                : "llvm.umax";
    LLVMValueRef result = ptx_intrinsic(ptx, name, ptx_ir_type(ptx->ir, type), arguments, 2);
    return type.kind == 'f' && !ptx_has(statement, "NaN") ? cts_lower_zeros(ptx->ir, result, is_min)
                                                          : result;
}

static LLVMValueRef compute_neg_abs(struct ptx *ptx, struct ptx_statement *statement,
                                    struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type);
    const bool is_neg = strcmp(statement->parts[0], "neg") == 0;
    if (is_neg)
        return type.kind == 'f' ? LLVMBuildFNeg(ir->builder, a, "")
                                : LLVMBuildNeg(ir->builder, a, "");
    if (type.kind == 'f') return ptx_intrinsic(ptx, "llvm.fabs", LLVMTypeOf(a), &a, 1);
    LLVMValueRef arguments[] = {a, LLVMConstInt(ir->i1, 0, 0)};
    return ptx_intrinsic(ptx, "llvm.abs", LLVMTypeOf(a), arguments, 2);
}

static LLVMValueRef compute_sad(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type),
                 b = ptx_operand_value(ptx, statement, 2, type);
    LLVMValueRef greater =
        LLVMBuildICmp(ir->builder, type.kind == 's' ? LLVMIntSGT : LLVMIntUGT, a, b, "");
    LLVMValueRef difference =
        LLVMBuildSelect(ir->builder, greater, LLVMBuildSub(ir->builder, a, b, ""),
                        LLVMBuildSub(ir->builder, b, a, ""), "");
    return LLVMBuildAdd(ir->builder, difference, ptx_operand_value(ptx, statement, 3, type), "");
}

/* ---- float functions ---- */

static LLVMValueRef compute_root(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type);
    LLVMTypeRef ir_type = LLVMTypeOf(a);
    if (type.kind != 'f' || type.lanes != 1) {
        ptx_fail(ptx, "unknown type");
        return a;
    }
    if (strcmp(statement->parts[0], "rcp") != 0)
        a = ptx_intrinsic(ptx, "llvm.sqrt", ir_type, &a, 1);
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
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, statement->parts[0]) == 0)
            return ptx_intrinsic(ptx, known[i].intrinsic, LLVMTypeOf(a), &a, 1);
    ptx_fail(ptx, "unknown function");
    return a;
}

static LLVMValueRef compute_copysign(struct ptx *ptx, struct ptx_statement *statement,
                                     struct ptx_type type)
{
    /* PTX takes the sign from its first operand. */
    LLVMValueRef arguments[] = {ptx_operand_value(ptx, statement, 2, type),
                                ptx_operand_value(ptx, statement, 1, type)};
    return ptx_intrinsic(ptx, "llvm.copysign", LLVMTypeOf(arguments[0]), arguments, 2);
}

const struct ptx_computation ptx_arithmetic[] = {
    {"add", compute_add, 0},           {"addc", compute_add, 0},
    {"sub", compute_add, 0},           {"subc", compute_add, 0},
    {"mul", compute_mul, 0},           {"mad", compute_mad, 0},
    {"madc", compute_mad, 0},          {"fma", compute_mad, 0},
    {"mul24", compute_mul24, 0},       {"mad24", compute_mul24, 0},
    {"div", compute_div, 0},           {"rem", compute_div, 0},
    {"min", compute_min_max, 0},       {"max", compute_min_max, 0},
    {"neg", compute_neg_abs, 0},       {"abs", compute_neg_abs, 0},
    {"sad", compute_sad, 0},           {"sqrt", compute_root, 0},
    {"rsqrt", compute_root, 0},        {"rcp", compute_root, 0},
    {"sin", compute_function, 0},      {"cos", compute_function, 0},
    {"ex2", compute_function, 0},      {"lg2", compute_function, 0},
    {"copysign", compute_copysign, 0}, {NULL, NULL, 0},
};
