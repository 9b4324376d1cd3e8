/* Types, registers and their values of inline PTX. All values are kept as integers of their
 * register's width. */
#include "record/instrument/lower-ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

bool ptx_fail(struct ptx *ptx, const char *reason)
{
    if (!ptx->reason[0]) snprintf(ptx->reason, sizeof ptx->reason, "%s", reason);
    return false;
}

bool ptx_has(const struct ptx_statement *statement, const char *part)
{
    for (unsigned i = 1; i < statement->part_count; i++)
        if (strcmp(statement->parts[i], part) == 0) return true;
    return false;
}

/* ---- types ---- */

bool ptx_parse_type(const char *text, struct ptx_type *type)
{
    *type = (struct ptx_type){.lanes = 1};
    if (strcmp(text, "pred") == 0) {
        type->kind = 'p';
        type->bits = 1;
        return true;
    }
    if (strcmp(text, "f16x2") == 0 || strcmp(text, "bf16x2") == 0) {
        *type = (struct ptx_type){.kind = 'f', .bits = 32, .lanes = 2, .brain = text[0] == 'b'};
        return true;
    }
    if (strcmp(text, "bf16") == 0) {
        *type = (struct ptx_type){.kind = 'f', .bits = 16, .lanes = 1, .brain = true};
        return true;
    }
    if (!strchr("usbf", text[0]) || !isdigit((unsigned char)text[1])) return false;
    char *end;
    const unsigned long bits = strtoul(text + 1, &end, 10);
    if (*end || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) return false;
    if (text[0] == 'f' && bits == 8) return false;
    type->kind = text[0];
    type->bits = (unsigned)bits;
    return true;
}

struct ptx_type ptx_type_at(const struct ptx_statement *statement, int index)
{
    struct ptx_type found = {0}, type;
    int at = 0;
    for (unsigned i = 1; i < statement->part_count; i++) {
        if (!ptx_parse_type(statement->parts[i], &type)) continue;
        if (index < 0 || at == index) found = type;
        at++;
    }
    return found;
}

LLVMTypeRef ptx_ir_type(const struct cts_ir *ir, struct ptx_type type)
{
    if (type.kind != 'f') return LLVMIntTypeInContext(ir->context, type.bits);
    if (type.bits == 64) return ir->f64;
    if (type.bits == 32 && type.lanes == 1) return ir->f32;
    LLVMTypeRef half =
        type.brain ? LLVMBFloatTypeInContext(ir->context) : LLVMHalfTypeInContext(ir->context);
    return type.lanes == 2 ? LLVMVectorType(half, 2) : half;
}

/* ---- registers ---- */

struct ptx_register *ptx_find_register(struct ptx *ptx, const char *name)
{
    for (unsigned i = 0; i < ptx->register_count; i++)
        if (strcmp(ptx->registers[i].name, name) == 0) return &ptx->registers[i];
    return NULL;
}

struct ptx_register *ptx_add_register(struct ptx *ptx, const char *name, struct ptx_type type)
{
    struct ptx_register *reg = ptx_find_register(ptx, name);
    if (!reg) {
        if (ptx->register_count == PTX_REGISTERS_MAX) {
            ptx_fail(ptx, "too many registers");
            return NULL;
        }
        reg = &ptx->registers[ptx->register_count++];
    }
    const size_t length = strlen(name);
    if (length >= sizeof reg->name) {
        ptx_fail(ptx, "a register's name is too long");
        return NULL;
    }
    *reg = (struct ptx_register){.type = type};
    memcpy(reg->name, name, length + 1);
    return reg;
}

LLVMValueRef ptx_to_bits(struct ptx *ptx, LLVMValueRef value)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) return value;
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(ir->builder, value, ir->i64, "");
    const unsigned bits = (unsigned)LLVMSizeOfTypeInBits(ir->layout, type);
    return LLVMBuildBitCast(ir->builder, value, LLVMIntTypeInContext(ir->context, bits), "");
}

static LLVMValueRef from_bits(struct ptx *ptx, LLVMValueRef bits, struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMTypeRef whole = LLVMIntTypeInContext(ir->context, type.bits);
    bits = LLVMBuildIntCast2(ir->builder, bits, whole, type.kind == 's', "");
    return type.kind == 'f' ? LLVMBuildBitCast(ir->builder, bits, ptx_ir_type(ir, type), "") : bits;
}

static LLVMValueRef literal_value(struct ptx *ptx, LLVMValueRef literal, struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    if (type.kind == 'f' && type.lanes == 1)
        return LLVMBuildSIToFP(ir->builder, literal, ptx_ir_type(ir, type), "");
    return from_bits(ptx, literal, type);
}

static LLVMValueRef float_literal(struct ptx *ptx, LLVMValueRef value, struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMTypeRef wanted = ptx_ir_type(ir, type);
    if (type.kind == 'f' && LLVMTypeOf(value) != wanted)
        return LLVMBuildFPCast(ir->builder, value, wanted, "");
    return type.kind == 'f' ? value : from_bits(ptx, ptx_to_bits(ptx, value), type);
}

LLVMValueRef ptx_read(struct ptx *ptx, const struct ptx_operand *operand, struct ptx_type type)
{
    switch (operand->kind) {
    case PTX_REGISTER:
        if (operand->reg->value) return from_bits(ptx, operand->reg->value, type);
        return LLVMGetUndef(ptx_ir_type(ptx->ir, type));
    case PTX_VALUE:
        if (operand->is_integer) return literal_value(ptx, operand->value, type);
        if (LLVMGetTypeKind(LLVMTypeOf(operand->value)) != LLVMIntegerTypeKind)
            return float_literal(ptx, operand->value, type);
        return from_bits(ptx, operand->value, type);
    default:
        ptx_fail(ptx, "operand is not a value");
        return LLVMGetUndef(ptx_ir_type(ptx->ir, type));
    }
}

LLVMValueRef ptx_read_i1(struct ptx *ptx, const struct ptx_operand *operand)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef value =
        ptx_read(ptx, operand, (struct ptx_type){.kind = 'p', .bits = 1, .lanes = 1});
    return operand->negated ? LLVMBuildNot(ir->builder, value, "") : value;
}

bool ptx_write(struct ptx *ptx, const struct ptx_statement *statement, struct ptx_register *reg,
               LLVMValueRef value, struct ptx_type type)
{
    const struct cts_ir *const ir = ptx->ir;
    if (!reg) return ptx_fail(ptx, "the destination is not a register");
    LLVMTypeRef wanted = LLVMIntTypeInContext(ir->context, reg->type.bits);
    value = LLVMBuildIntCast2(ir->builder, ptx_to_bits(ptx, value), wanted, type.kind == 's', "");
    if (statement->guard && reg->value)
        value = LLVMBuildSelect(ir->builder, statement->guard, value, reg->value, "");
    reg->value = value;
    return true;
}

LLVMValueRef ptx_local(struct ptx *ptx, LLVMTypeRef type)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(ptx->instruction));
    LLVMPositionBuilderBefore(ir->builder,
                              LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef local = LLVMBuildAlloca(ir->builder, type, "");
    LLVMPositionBuilderBefore(ir->builder, ptx->instruction);
    return local;
}
