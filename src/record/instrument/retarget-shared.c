/* Shared memory on the CPU: each file has a static layout of its __shared__ variables; the address
 * of one is ctx->shared + its offset, that of a dynamic one (extern __shared__ T x[]) is
 * ctx->shared_dynamic. All lie in one window per CTA, so that offsets keep their meaning for banks.
 *
 * With separate translation units a kernel of one may call a function of another that has variables
 * of its own, so all layouts of a program lie one behind the other: each file puts an empty object
 * of its layout's size into the section cts_shared, and the linker decides where its layout begins.
 *
 * LLVM names a variable by a constant, also inside constant expressions; these are made
 * instructions at the entry of each function that uses them. As an integer, a pointer to shared
 * memory (address space 3) is its offset in the window, as on the GPU, where it fits 32 bits:
 * programs that pass such integers to inline PTX depend on it. */
#include "record/instrument/retarget.h"

#include <stdlib.h>

enum { SHARED_SPACE = 3, SHARED_ALIGNMENT_BYTES = 16 };

const struct cts_shared_variable *cts_shared_find(const struct cts_retarget *retarget,
                                                  LLVMValueRef global)
{
    for (size_t i = 0; i < retarget->shared_count; i++)
        if (retarget->shared[i].global == global) return &retarget->shared[i];
    return NULL;
}

/* ---- the layout ---- */

static void layout_add(struct cts_retarget *retarget, LLVMValueRef global)
{
    retarget->shared = cts_ir_grow(retarget->shared, &retarget->shared_capacity,
                                   retarget->shared_count + 1, sizeof *retarget->shared);
    struct cts_shared_variable *const variable = &retarget->shared[retarget->shared_count++];
    const uint64_t size_bytes =
        LLVMABISizeOfType(retarget->ir.layout, LLVMGlobalGetValueType(global));
    *variable = (struct cts_shared_variable){.global = global, .size_bytes = size_bytes};
    variable->is_dynamic = LLVMIsDeclaration(global) || size_bytes == 0;
    uint64_t alignment_bytes = LLVMGetAlignment(global);
    if (alignment_bytes > retarget->shared_align_bytes)
        retarget->shared_align_bytes = (uint32_t)alignment_bytes;
    if (variable->is_dynamic) return;
    if (alignment_bytes < SHARED_ALIGNMENT_BYTES) alignment_bytes = SHARED_ALIGNMENT_BYTES;
    variable->offset =
        (retarget->shared_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
    retarget->shared_bytes = variable->offset + size_bytes;
}

static LLVMValueRef section_end(struct cts_ir *ir, const char *name)
{
    LLVMValueRef symbol = LLVMGetNamedGlobal(ir->module, name);
    if (symbol) return symbol;
    symbol = LLVMAddGlobal(ir->module, ir->i8, name);
    LLVMSetLinkage(symbol, LLVMExternalWeakLinkage);
    LLVMSetVisibility(symbol, LLVMHiddenVisibility);
    return symbol;
}

static LLVMValueRef difference(struct cts_ir *ir, LLVMValueRef high, LLVMValueRef low)
{
    return LLVMConstSub(LLVMConstPtrToInt(high, ir->i64), LLVMConstPtrToInt(low, ir->i64));
}

LLVMValueRef cts_shared_program_bytes(struct cts_retarget *retarget)
{
    struct cts_ir *const ir = &retarget->ir;
    return difference(ir, section_end(ir, "__stop_cts_shared"),
                      section_end(ir, "__start_cts_shared"));
}

LLVMValueRef cts_shared_file_offset(struct cts_retarget *retarget)
{
    struct cts_ir *const ir = &retarget->ir;
    if (!retarget->separate_units || retarget->shared_bytes == 0) return NULL;
    LLVMValueRef layout = LLVMGetNamedGlobal(ir->module, "cts.shared_layout");
    if (!layout) {
        LLVMTypeRef type = LLVMArrayType2(ir->i8, retarget->shared_bytes);
        layout = LLVMAddGlobal(ir->module, type, "cts.shared_layout");
        LLVMSetInitializer(layout, LLVMConstNull(type));
        LLVMSetLinkage(layout, LLVMInternalLinkage);
        LLVMSetSection(layout, "cts_shared");
        LLVMSetAlignment(layout, 128);
    }
    return difference(ir, layout, section_end(ir, "__start_cts_shared"));
}

/* ---- which function uses what ---- */

static bool is_compound(LLVMValueRef value)
{
    return LLVMIsAConstantExpr(value) || LLVMIsAConstantStruct(value) ||
           LLVMIsAConstantArray(value) || LLVMIsAConstantVector(value);
}

static void note_uses(struct cts_retarget *retarget, struct cts_facts *facts, LLVMValueRef value)
{
    if (LLVMIsAGlobalVariable(value)) {
        const struct cts_shared_variable *const variable = cts_shared_find(retarget, value);
        if (!variable) return;
        if (!facts->uses_shared)
            facts->uses_shared = cts_ir_allocate(retarget->shared_count, sizeof(bool));
        facts->uses_shared[variable - retarget->shared] = true;
    } else if (is_compound(value)) {
        for (int i = 0; i < LLVMGetNumOperands(value); i++)
            note_uses(retarget, facts, LLVMGetOperand(value, (unsigned)i));
    }
}

static void add_reachable(struct cts_retarget *retarget, struct cts_facts *facts, bool *used)
{
    if (!facts || facts->visited) return;
    facts->visited = true;
    for (size_t i = 0; facts->uses_shared && i < retarget->shared_count; i++)
        used[i] |= facts->uses_shared[i];
    for (size_t i = 0; i < facts->callee_count; i++)
        add_reachable(retarget, cts_facts_get(retarget, facts->callees[i]), used);
    for (size_t i = 0; facts->calls_indirectly && i < retarget->facts_count; i++)
        if (retarget->facts[i]->address_taken) add_reachable(retarget, retarget->facts[i], used);
}

static uint32_t bytes_needed(struct cts_retarget *retarget, struct cts_retarget_kernel *kernel)
{
    bool *const used = cts_ir_allocate(retarget->shared_count, sizeof *used);
    for (size_t i = 0; i < retarget->facts_count; i++) retarget->facts[i]->visited = false;
    add_reachable(retarget, kernel->facts, used);
    uint64_t sum = 0;
    for (size_t i = 0; i < retarget->shared_count; i++)
        if (used[i] && !retarget->shared[i].is_dynamic)
            sum += (retarget->shared[i].size_bytes + SHARED_ALIGNMENT_BYTES - 1) /
                   SHARED_ALIGNMENT_BYTES * SHARED_ALIGNMENT_BYTES;
    free(used);
    return (uint32_t)sum;
}

void cts_shared_layout(struct cts_retarget *retarget)
{
    CTS_EACH_GLOBAL(global, retarget->ir.module)
    if (cts_address_space(global) == SHARED_SPACE) layout_add(retarget, global);
    if (retarget->shared_count == 0) return;
    for (size_t f = 0; f < retarget->facts_count; f++) {
        CTS_EACH_INSTRUCTION(i, retarget->facts[f]->function)
        for (int o = 0; o < LLVMGetNumOperands(i); o++)
            note_uses(retarget, retarget->facts[f], LLVMGetOperand(i, (unsigned)o));
    }
    for (size_t i = 0; i < retarget->kernel_count; i++)
        retarget->kernels[i].static_shared_bytes = bytes_needed(retarget, &retarget->kernels[i]);
}

/* ---- constants become instructions ---- */

struct rewrite {
    struct cts_retarget *retarget;
    LLVMValueRef function, entry; /* entry: what was the function's first instruction */
    LLVMValueRef base, dynamic_base;
    struct cts_ir_map made;  /* constant -> instruction */
    struct cts_ir_map clean; /* constants that are known to name no shared variable */
};

static LLVMValueRef window(struct rewrite *rewrite, bool is_dynamic)
{
    LLVMValueRef *const base = is_dynamic ? &rewrite->dynamic_base : &rewrite->base;
    if (*base) return *base;
    struct cts_retarget *const retarget = rewrite->retarget;
    const struct cts_retarget_kernel *const kernel =
        cts_map_get(&retarget->kernel_of_body, rewrite->function);
    if (kernel)
        return *base = cts_body_parameter(kernel, rewrite->function,
                                          is_dynamic ? CTS_BODY_SHARED_DYNAMIC : CTS_BODY_SHARED);
    LLVMPositionBuilderBefore(retarget->ir.builder, rewrite->entry);
    const size_t offset_bytes = is_dynamic ? offsetof(struct cts_thread_context, shared_dynamic)
                                           : offsetof(struct cts_thread_context, shared);
    return *base = cts_context_member(retarget, cts_context_of(retarget, rewrite->function),
                                      offset_bytes, retarget->ir.pointer);
}

static bool names_shared(struct rewrite *rewrite, LLVMValueRef value)
{
    if (LLVMIsAGlobalVariable(value)) return cts_shared_find(rewrite->retarget, value) != NULL;
    if (!is_compound(value) || cts_map_get(&rewrite->clean, value)) return false;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (names_shared(rewrite, LLVMGetOperand(value, (unsigned)i))) return true;
    *cts_map_slot(&rewrite->clean, value) = rewrite;
    return false;
}

static LLVMValueRef shared_offset(struct rewrite *rewrite, LLVMValueRef pointer, LLVMTypeRef type)
{
    const struct cts_ir *const ir = &rewrite->retarget->ir;
    LLVMValueRef base = LLVMBuildPtrToInt(ir->builder, window(rewrite, false), ir->i64, "");
    LLVMValueRef address = LLVMBuildPtrToInt(ir->builder, cts_generic(ir, pointer), ir->i64, "");
    return LLVMBuildIntCast2(ir->builder, LLVMBuildSub(ir->builder, address, base, ""), type, 0,
                             "");
}

static LLVMValueRef make(struct rewrite *rewrite, LLVMValueRef constant);

static LLVMValueRef make_expression(struct rewrite *rewrite, LLVMValueRef constant,
                                    LLVMValueRef *operands, int count)
{
    const struct cts_ir *const ir = &rewrite->retarget->ir;
    LLVMTypeRef type = LLVMTypeOf(constant);
    LLVMValueRef first = operands[0];
    switch (LLVMGetConstOpcode(constant)) {
    case LLVMAddrSpaceCast:
        if (LLVMGetPointerAddressSpace(type) == 0) return cts_generic(ir, first);
        return LLVMBuildAddrSpaceCast(ir->builder, first, type, "");
    case LLVMGetElementPtr:
        return LLVMBuildGEP2(ir->builder, LLVMGetGEPSourceElementType(constant), first,
                             operands + 1, (unsigned)count - 1, "");
    case LLVMPtrToInt:
        if (cts_address_space(first) == SHARED_SPACE) return shared_offset(rewrite, first, type);
        return LLVMBuildPtrToInt(ir->builder, first, type, "");
    case LLVMIntToPtr:
        return LLVMBuildIntToPtr(ir->builder, first, type, "");
    case LLVMBitCast:
        return LLVMBuildBitCast(ir->builder, first, type, "");
    case LLVMTrunc:
        return LLVMBuildTrunc(ir->builder, first, type, "");
    case LLVMAdd:
        return LLVMBuildAdd(ir->builder, first, operands[1], "");
    case LLVMSub:
        return LLVMBuildSub(ir->builder, first, operands[1], "");
    case LLVMXor:
        return LLVMBuildXor(ir->builder, first, operands[1], "");
    default:
        cts_ir_error(&rewrite->retarget->ir, NULL,
                     "a constant expression over a __shared__ variable is not supported in '%s'",
                     cts_ir_name(rewrite->function));
        return LLVMGetPoison(type);
    }
}

static LLVMValueRef make_aggregate(struct rewrite *rewrite, LLVMValueRef constant,
                                   LLVMValueRef *operands, int count)
{
    const struct cts_ir *const ir = &rewrite->retarget->ir;
    LLVMValueRef value = LLVMGetPoison(LLVMTypeOf(constant));
    for (int i = 0; i < count; i++)
        value = LLVMIsAConstantVector(constant)
                    ? LLVMBuildInsertElement(ir->builder, value, operands[i],
                                             cts_u32(ir, (uint32_t)i), "")
                    : LLVMBuildInsertValue(ir->builder, value, operands[i], (unsigned)i, "");
    return value;
}

static LLVMValueRef make_variable(struct rewrite *rewrite,
                                  const struct cts_shared_variable *variable)
{
    const struct cts_ir *const ir = &rewrite->retarget->ir;
    LLVMValueRef base = window(rewrite, variable->is_dynamic);
    LLVMPositionBuilderBefore(ir->builder, rewrite->entry);
    LLVMValueRef file_offset = cts_shared_file_offset(rewrite->retarget);
    if (!variable->is_dynamic && file_offset) base = cts_byte_offset(ir, base, file_offset);
    if (!variable->is_dynamic) base = cts_byte_offset(ir, base, cts_u64(ir, variable->offset));
    return LLVMBuildAddrSpaceCast(ir->builder, base,
                                  LLVMPointerTypeInContext(ir->context, SHARED_SPACE), "");
}

/* The instruction that stands for the constant; the constant itself when no shared variable is in
 * it. */
static LLVMValueRef make(struct rewrite *rewrite, LLVMValueRef constant)
{
    if (!names_shared(rewrite, constant)) return constant;
    LLVMValueRef made = cts_map_get(&rewrite->made, constant);
    if (made) return made;
    if (LLVMIsAGlobalVariable(constant)) {
        made = make_variable(rewrite, cts_shared_find(rewrite->retarget, constant));
    } else {
        const int count = LLVMGetNumOperands(constant);
        LLVMValueRef *const operands = cts_ir_allocate((size_t)count, sizeof(LLVMValueRef));
        for (int i = 0; i < count; i++)
            operands[i] = make(rewrite, LLVMGetOperand(constant, (unsigned)i));
        window(rewrite, false);
        LLVMPositionBuilderBefore(rewrite->retarget->ir.builder, rewrite->entry);
        made = LLVMIsAConstantExpr(constant) ? make_expression(rewrite, constant, operands, count)
                                             : make_aggregate(rewrite, constant, operands, count);
        free(operands);
    }
    *cts_map_slot(&rewrite->made, constant) = made;
    return made;
}

/* Integers and pointers to shared memory: an integer is an offset. */
static void rewrite_cast(struct rewrite *rewrite, LLVMValueRef instruction)
{
    const struct cts_ir *const ir = &rewrite->retarget->ir;
    LLVMTypeRef type = LLVMTypeOf(instruction);
    LLVMValueRef operand = LLVMGetOperand(instruction, 0), value = NULL;
    if (LLVMIsAPtrToIntInst(instruction) && LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
        cts_address_space(operand) == SHARED_SPACE) {
        window(rewrite, false);
        LLVMPositionBuilderBefore(ir->builder, instruction);
        value = shared_offset(rewrite, operand, type);
    } else if (LLVMIsAIntToPtrInst(instruction) && LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
               LLVMGetPointerAddressSpace(type) == SHARED_SPACE) {
        LLVMValueRef base = window(rewrite, false);
        LLVMPositionBuilderBefore(ir->builder, instruction);
        LLVMValueRef offset = LLVMBuildIntCast2(ir->builder, operand, ir->i64, 0, "");
        value = LLVMBuildGEP2(ir->builder, ir->i8, base, &offset, 1, "");
        value = LLVMBuildAddrSpaceCast(ir->builder, value, type, "");
    }
    if (!value) return;
    LLVMReplaceAllUsesWith(instruction, value);
    LLVMInstructionEraseFromParent(instruction);
}

void cts_shared_rewrite(struct cts_retarget *retarget, LLVMValueRef function)
{
    struct rewrite rewrite = {.retarget = retarget, .function = function};
    rewrite.entry = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    if (retarget->shared_count) {
        CTS_EACH_INSTRUCTION(i, function)
        for (int o = 0; o < LLVMGetNumOperands(i); o++) {
            LLVMValueRef operand = LLVMGetOperand(i, (unsigned)o);
            if (names_shared(&rewrite, operand))
                LLVMSetOperand(i, (unsigned)o, make(&rewrite, operand));
        }
    }
    CTS_EACH_INSTRUCTION(i, function)
    if (LLVMIsAPtrToIntInst(i) || LLVMIsAIntToPtrInst(i)) rewrite_cast(&rewrite, i);
    cts_map_release(&rewrite.made);
    cts_map_release(&rewrite.clean);
}
