/* PTX that computes values as IR: see lower-ptx.c. Here moves, comparisons and conversions, and the
 * choice of who translates a statement; arithmetic and bits are in files of their own. */
#include "record/instrument/lower-ptx-values.h"

LLVMValueRef ptx_operand_value(struct ptx *ptx, const struct ptx_statement *statement,
                               unsigned index, struct ptx_type type)
{
    if (index >= statement->operand_count) {
        ptx_fail(ptx, "too few operands");
        return LLVMGetUndef(ptx_ir_type(ptx->ir, type));
    }
    return ptx_read(ptx, &statement->operands[index], type);
}

struct ptx_type ptx_sized(char kind, unsigned bits)
{
    return (struct ptx_type){.kind = kind, .bits = bits, .lanes = 1};
}

LLVMValueRef ptx_intrinsic(struct ptx *ptx, const char *name, LLVMTypeRef type,
                           LLVMValueRef *arguments, unsigned count)
{
    struct cts_ir *const ir = ptx->ir;
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(ir->module, id, &type, 1);
    LLVMTypeRef function_type = LLVMIntrinsicGetType(ir->context, id, &type, 1);
    return LLVMBuildCall2(ir->builder, function_type, function, arguments, count, "");
}

LLVMValueRef ptx_saturate(struct ptx *ptx, const struct ptx_statement *statement,
                          LLVMValueRef value, struct ptx_type type)
{
    if (!ptx_has(statement, "sat") || type.kind != 'f') return value;
    LLVMTypeRef ir_type = ptx_ir_type(ptx->ir, type);
    LLVMValueRef low[] = {value, LLVMConstNull(ir_type)};
    value = ptx_intrinsic(ptx, "llvm.maxnum", ir_type, low, 2);
    LLVMValueRef high[] = {value, type.lanes == 1 ? LLVMConstReal(ir_type, 1.0) : NULL};
    if (!high[1]) return ptx_fail(ptx, "unknown modifier .sat"), value;
    return ptx_intrinsic(ptx, "llvm.minnum", ir_type, high, 2);
}

/* ---- moves and choices ---- */

static LLVMValueRef compute_mov(struct ptx *ptx, struct ptx_statement *statement,
                                struct ptx_type type)
{
    if (type.kind == 'p' && statement->operand_count > 1)
        return ptx_read_i1(ptx, &statement->operands[1]);
    return ptx_operand_value(ptx, statement, 1, type);
}

static LLVMValueRef compute_selp(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type)
{
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type),
                 b = ptx_operand_value(ptx, statement, 2, type);
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
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type),
                 b = ptx_operand_value(ptx, statement, 2, type);
    LLVMValueRef c = ptx_operand_value(ptx, statement, 3, by);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(c));
    LLVMValueRef first = by.kind == 'f' ? LLVMBuildFCmp(ir->builder, LLVMRealOGE, c, zero, "")
                                        : LLVMBuildICmp(ir->builder, LLVMIntSGE, c, zero, "");
    return LLVMBuildSelect(ir->builder, first, a, b, "");
}

static const struct ptx_computation moves[] = {
    {"mov", compute_mov, 0},
    {"selp", compute_selp, 0},
    {"slct", compute_slct, 0},
    {NULL, NULL, 0},
};

/* ---- comparisons ---- */

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
    LLVMValueRef a = ptx_operand_value(ptx, statement, 1, type),
                 b = ptx_operand_value(ptx, statement, 2, type);
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
        if (to->kind != PTX_SINK && !ptx_write(ptx, statement, to->reg, value, ptx_sized('p', 1)))
            return false;
        return !to->second || ptx_write(ptx, statement, to->second, other, ptx_sized('p', 1));
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
            return ptx_intrinsic(ptx, modes[i].intrinsic, LLVMTypeOf(value), &value, 1);
    return value;
}

/* Saturates; NaN is 0, or the top bit alone when 64 bits take part. */
static LLVMValueRef float_to_integer(struct ptx *ptx, LLVMValueRef value, LLVMTypeRef to,
                                     bool is_signed)
{
    struct cts_ir *const ir = ptx->ir;
    const char *const name = is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMTypeRef types[] = {to, LLVMTypeOf(value)};
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(ir->module, id, types, 2);
    LLVMTypeRef type = LLVMIntrinsicGetType(ir->context, id, types, 2);
    LLVMValueRef result = LLVMBuildCall2(ir->builder, type, function, &value, 1, "");
    if (to != ir->i64 && types[1] != ir->f64) return result;
    LLVMValueRef is_nan = LLVMBuildFCmp(ir->builder, LLVMRealUNO, value, value, "");
    LLVMValueRef top = LLVMConstInt(to, 1ull << (LLVMGetIntTypeWidth(to) - 1), 0);
    return LLVMBuildSelect(ir->builder, is_nan, top, result, "");
}

/* cvt.{rna,rn,rz}.tf32.f32 d, a: the 13 low bits are 0. rna adds half of their range to the size;
 * rn does so too, but for a tie, which goes to the even number. */
static bool lower_cvt_tf32(struct ptx *ptx, struct ptx_statement *statement)
{
    enum { LOW_BITS = 13 };
    const struct cts_ir *const ir = ptx->ir;
    const struct ptx_type word = {.kind = 'b', .bits = 32, .lanes = 1};
    const uint32_t half = 1u << (LOW_BITS - 1);
    LLVMValueRef bits = ptx_operand_value(ptx, statement, 1, word), add = cts_u32(ir, half);
    if (ptx_has(statement, "rz")) {
        add = cts_u32(ir, 0);
    } else if (ptx_has(statement, "rn")) {
        LLVMValueRef odd = LLVMBuildLShr(ir->builder, bits, cts_u32(ir, LOW_BITS), "");
        odd = LLVMBuildAnd(ir->builder, odd, cts_u32(ir, 1), "");
        add = LLVMBuildAdd(ir->builder, odd, cts_u32(ir, half - 1), "");
    } else if (!ptx_has(statement, "rna")) {
        return ptx_fail(ptx, "unknown rounding mode");
    }
    LLVMValueRef size = LLVMBuildAnd(ir->builder, bits, cts_u32(ir, 0x7fffffff), "");
    LLVMValueRef is_number =
        LLVMBuildICmp(ir->builder, LLVMIntULT, size, cts_u32(ir, 0x7f800000), "");
    LLVMValueRef rounded = LLVMBuildAdd(ir->builder, bits, add, "");
    rounded = LLVMBuildAnd(ir->builder, rounded, cts_u32(ir, ~((1u << LOW_BITS) - 1)), "");
    rounded = LLVMBuildSelect(ir->builder, is_number, rounded, bits, "");
    if (ptx_has(statement, "relu")) return ptx_fail(ptx, "unknown conversion");
    return ptx_write(ptx, statement, statement->operands[0].reg, rounded, word);
}

/* cvt{.rounding}{.sat}.D.S d, a */
static bool lower_cvt(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct cts_ir *const ir = ptx->ir;
    if (ptx_has(statement, "tf32")) return lower_cvt_tf32(ptx, statement);
    const struct ptx_type to = ptx_type_at(statement, 0), from = ptx_type_at(statement, 1);
    if (!to.kind || !from.kind || to.lanes != 1 || from.lanes != 1)
        return ptx_fail(ptx, "unknown conversion");
    if (ptx_has(statement, "rz") || ptx_has(statement, "rm") || ptx_has(statement, "rp"))
        if (to.kind == 'f' && !(from.kind == 'f' && from.bits <= to.bits))
            return ptx_fail(ptx, "unknown rounding mode");
    LLVMValueRef value = ptx_operand_value(ptx, statement, 1, from);
    LLVMTypeRef type = ptx_ir_type(ir, to);
    if (from.kind == 'f' && to.kind == 'f') {
        value = LLVMTypeOf(value) == type ? value : LLVMBuildFPCast(ir->builder, value, type, "");
        value = ptx_saturate(ptx, statement, round_float(ptx, statement, value), to);
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
    const struct ptx_type part = ptx_sized('b', type.bits / (parts->count ? parts->count : 1));
    LLVMTypeRef whole_type = LLVMIntTypeInContext(ir->context, type.bits);
    LLVMValueRef whole = LLVMConstNull(whole_type);
    if (to->kind == PTX_VECTOR)
        whole = ptx_operand_value(ptx, statement, 1, ptx_sized('b', type.bits));
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
    if (result_bits) return ptx_sized('u', result_bits);
    if (ptx_has(statement, "wide")) type.bits *= 2;
    if (strcmp(statement->parts[0], "slct") == 0) return ptx_type_at(statement, 0);
    return type;
}

static const struct ptx_computation *find(const char *name)
{
    const struct ptx_computation *const tables[] = {ptx_arithmetic, ptx_bits, moves};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct ptx_computation *c = tables[t]; c->name; c++)
            if (strcmp(c->name, name) == 0) return c;
    return NULL;
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
    const struct ptx_computation *const computation = find(name);
    *known = computation != NULL;
    if (!computation) return true;
    const struct ptx_type type = ptx_type_at(statement, -1);
    if (!type.kind) return ptx_fail(ptx, "unknown type");
    LLVMValueRef value = computation->compute(ptx, statement, type);
    if (ptx->reason[0]) return false;
    return ptx_write(ptx, statement, statement->operands[0].reg, value,
                     result_type(statement, type, computation->result_bits));
}
