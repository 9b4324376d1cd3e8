/* From marks to the producer's calls.
 *
 * A function with marks begins with __cts_produce_begin(state). Marks of a block that follow one
 * another, with nothing between them that lanes do together or that is called, become one call,
 *
 *     __cts_produce_N(state, spaces, site, address, ... N times)
 *
 * at the place of the last of them. All are inlined afterwards, and the state, a variable of the
 * function, ends up in registers.
 *
 * A kernel gets a copy of itself without marks, and runs it when its launch is not recorded:
 *
 *     K(...):  begin(state); if (state is off) { K.plain(...); return; }  the marked code
 */
#include "record/instrument/device-producer.h"

#include <stdlib.h>

#include "record/cuda/module.h"
#include "record/instrument/ir.h"
#include "record/instrument/marks.h"
#include "record/instrument/notes-read.h"
#include "trace/access.h"

enum {
    STATE_WORDS = 3, /* sizeof(struct cts_producer) / 8, of recognise.h */
    GROUP_MAX = 8,   /* CTS_GROUP, there */
};

struct producer {
    struct cts_ir ir;
    LLVMTypeRef state_type, begin_type, group_types[GROUP_MAX], range_type;
    LLVMValueRef begin, groups[GROUP_MAX], range;
    uint8_t *spaces; /* of the sites, as the producer names them */
    uint32_t site_count;
};

static uint8_t cuda_space(uint32_t space)
{
    switch (space) {
    case CTS_SPACE_GLOBAL:
        return CTS_CUDA_GLOBAL;
    case CTS_SPACE_SHARED:
        return CTS_CUDA_SHARED;
    case CTS_SPACE_LOCAL:
        return CTS_CUDA_LOCAL;
    default:
        return CTS_CUDA_UNKNOWN;
    }
}

static void read_spaces(struct producer *producer)
{
    struct cts_node_list list = cts_nodes_of(producer->ir.module, "cts.sites");
    producer->spaces = cts_ir_allocate(list.count, 1);
    producer->site_count = list.count;
    for (unsigned i = 0; i < list.count; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        producer->spaces[i] = cuda_space(cts_node_u32(&node, 5));
        free(node.operands);
    }
    free(list.nodes);
}

static LLVMValueRef declare(struct producer *producer, const char *name, LLVMTypeRef *parameters,
                            unsigned count, LLVMTypeRef *type)
{
    *type = LLVMFunctionType(producer->ir.nothing, parameters, count, 0);
    LLVMValueRef function = LLVMAddFunction(producer->ir.module, name, *type);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            cts_ir_attribute(&producer->ir, "convergent"));
    return function;
}

static void declare_all(struct producer *producer)
{
    struct cts_ir *const ir = &producer->ir;
    LLVMTypeRef parameters[2 + 2 * GROUP_MAX] = {ir->pointer, ir->i32};
    producer->state_type = LLVMArrayType2(ir->i64, STATE_WORDS);
    producer->begin =
        declare(producer, "__cts_produce_begin", parameters, 1, &producer->begin_type);
    for (unsigned i = 0; i < GROUP_MAX; i++) {
        parameters[2 + 2 * i] = ir->i32;
        parameters[3 + 2 * i] = ir->pointer;
        char *const name = cts_ir_text("__cts_produce_%u", i + 1);
        producer->groups[i] =
            declare(producer, name, parameters, 4 + 2 * i, &producer->group_types[i]);
        free(name);
    }
    parameters[4] = ir->i64;
    producer->range =
        declare(producer, "__cts_produce_range", parameters, 5, &producer->range_type);
}

static bool is_mark(LLVMValueRef instruction)
{
    LLVMValueRef callee = cts_is_call(instruction) ? cts_called_function(instruction) : NULL;
    return callee && (cts_starts_with(cts_ir_name(callee), "__cts_access") ||
                      strcmp(cts_ir_name(callee), CTS_MARK_EVENT) == 0);
}

static bool is_event(LLVMValueRef mark)
{
    return strcmp(cts_ir_name(cts_called_function(mark)), CTS_MARK_EVENT) == 0;
}

static bool has_marks(LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (is_mark(i)) return true;
    }
    return false;
}

static void drop_marks(LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (is_mark(i)) LLVMInstructionEraseFromParent(i);
    }
}

/* ---- kernels ---- */

static bool is_kernel(const struct producer *producer, LLVMValueRef function)
{
    struct cts_node_list list = cts_nodes_of(producer->ir.module, "nvvm.annotations");
    bool found = false;
    for (unsigned i = 0; i < list.count && !found; i++) {
        struct cts_node node = cts_node_open(list.nodes[i]);
        for (unsigned k = 1; k < node.count && node.operands[0] == function; k += 2)
            found = found || cts_node_text_is(&node, k, "kernel");
        free(node.operands);
    }
    free(list.nodes);
    return found;
}

/* A struct that is passed by value would be copied for the call. */
static bool has_structs(LLVMValueRef function)
{
    const unsigned byval = cts_ir_attribute_kind("byval");
    for (unsigned i = 1; i <= LLVMCountParams(function); i++)
        if (LLVMGetEnumAttributeAtIndex(function, i, byval)) return true;
    return false;
}

static LLVMValueRef plain_copy(struct producer *producer, LLVMValueRef kernel)
{
    char *const name = cts_ir_text("%s.plain", cts_ir_name(kernel));
    LLVMValueRef copy = cts_clone_function(kernel, name);
    free(name);
    drop_marks(copy);
    LLVMRemoveEnumAttributeAtIndex(copy, LLVMAttributeFunctionIndex,
                                   cts_ir_attribute_kind("noinline"));
    LLVMAddAttributeAtIndex(copy, LLVMAttributeFunctionIndex,
                            cts_ir_attribute(&producer->ir, "alwaysinline"));
    return copy;
}

static void branch_to_plain(struct producer *producer, LLVMValueRef kernel, LLVMValueRef copy,
                            LLVMValueRef state, LLVMValueRef begin)
{
    struct cts_ir *const ir = &producer->ir;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(kernel);
    LLVMBasicBlockRef rest = cts_split_before(LLVMGetNextInstruction(begin));
    LLVMBasicBlockRef off = LLVMInsertBasicBlockInContext(ir->context, rest, "off");
    const unsigned count = LLVMCountParams(kernel);
    LLVMValueRef *const arguments = cts_ir_allocate(count, sizeof *arguments);
    LLVMGetParams(kernel, arguments);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(entry)); /* to `rest` */
    LLVMPositionBuilderAtEnd(ir->builder, entry);
    LLVMSetCurrentDebugLocation2(ir->builder, LLVMInstructionGetDebugLoc(begin));
    LLVMValueRef bin = LLVMBuildLoad2(ir->builder, ir->i64, state, "");
    LLVMBuildCondBr(ir->builder, LLVMBuildICmp(ir->builder, LLVMIntEQ, bin, cts_u64(ir, 0), ""),
                    off, rest);
    LLVMPositionBuilderAtEnd(ir->builder, off);
    LLVMBuildCall2(ir->builder, LLVMGlobalGetValueType(kernel), copy, arguments, count, "");
    LLVMBuildRetVoid(ir->builder);
    free(arguments);
}

/* ---- functions ---- */

static void set_position(struct producer *producer, LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    LLVMMetadataRef at = subprogram
                             ? LLVMDIBuilderCreateDebugLocation(producer->ir.context,
                                                                LLVMDISubprogramGetLine(subprogram),
                                                                0, subprogram, NULL)
                             : NULL;
    LLVMSetCurrentDebugLocation2(producer->ir.builder, at);
}

/* The state, and the call that fills it in: at the begin, behind the function's own variables. */
static LLVMValueRef begin_function(struct producer *producer, LLVMValueRef function,
                                   LLVMValueRef *begin)
{
    struct cts_ir *const ir = &producer->ir;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    LLVMPositionBuilderBefore(ir->builder, LLVMGetFirstInstruction(entry));
    LLVMValueRef state = LLVMBuildAlloca(ir->builder, producer->state_type, "cts.state");
    LLVMSetAlignment(state, 8);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    while (LLVMIsAAllocaInst(first)) first = LLVMGetNextInstruction(first);
    LLVMPositionBuilderBefore(ir->builder, first);
    set_position(producer, function);
    *begin = LLVMBuildCall2(ir->builder, producer->begin_type, producer->begin, &state, 1, "");
    return state;
}

/* Marks that become one call. */
struct group {
    LLVMValueRef marks[GROUP_MAX];
    unsigned count;
    uint32_t spaces; /* two bits each */
};

static uint32_t site_of(LLVMValueRef mark)
{
    return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(mark, 0));
}

static uint32_t space_of(const struct producer *producer, LLVMValueRef mark)
{
    const uint32_t site = site_of(mark);
    return site < producer->site_count ? producer->spaces[site] : CTS_CUDA_UNKNOWN;
}

static bool is_range(LLVMValueRef mark)
{
    return LLVMGetNumArgOperands(mark) == 3;
}

static void stand_before(struct producer *producer, LLVMValueRef mark)
{
    LLVMPositionBuilderBefore(producer->ir.builder, mark);
    LLVMSetCurrentDebugLocation2(producer->ir.builder, LLVMInstructionGetDebugLoc(mark));
}

/* A copy of a value that the optimiser takes for another one, made where it stands. */
static LLVMValueRef opaque(struct producer *producer, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value), function = LLVMFunctionType(type, &type, 1, 0);
    LLVMValueRef nothing =
        LLVMGetInlineAsm(function, "", 0, "=l,0", 4, 1, 0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(producer->ir.builder, function, nothing, &value, 1, "");
}

/* The mark's address, computed anew. The access itself folds its constant offset into the
 * instruction; were it to share its address with the record, each would be a register of its own,
 * and all of an unrolled loop's would be kept over the loop. */
static LLVMValueRef address_of(struct producer *producer, LLVMValueRef mark)
{
    LLVMBuilderRef builder = producer->ir.builder;
    LLVMValueRef address = LLVMGetOperand(mark, 1);
    const bool is_cast = LLVMIsAAddrSpaceCastInst(address) != NULL;
    LLVMValueRef pointer = is_cast ? LLVMGetOperand(address, 0) : address;
    if (!LLVMIsAGetElementPtrInst(pointer)) return address;
    LLVMValueRef base = opaque(producer, LLVMGetOperand(pointer, 0));
    LLVMValueRef copy = LLVMInstructionClone(pointer);
    LLVMInsertIntoBuilder(builder, copy);
    LLVMSetOperand(copy, 0, base);
    return is_cast ? LLVMBuildAddrSpaceCast(builder, copy, LLVMTypeOf(address), "") : copy;
}

static void close_group(struct producer *producer, struct group *group, LLVMValueRef state)
{
    struct cts_ir *const ir = &producer->ir;
    LLVMValueRef arguments[2 + 2 * GROUP_MAX] = {state, cts_u32(ir, group->spaces)};
    const unsigned count = group->count;
    if (!count) return;
    stand_before(producer, group->marks[count - 1]);
    for (unsigned i = 0; i < count; i++) {
        arguments[2 + 2 * i] = cts_u32(ir, site_of(group->marks[i]));
        arguments[3 + 2 * i] = address_of(producer, group->marks[i]);
    }
    LLVMBuildCall2(ir->builder, producer->group_types[count - 1], producer->groups[count - 1],
                   arguments, 2 + 2 * count, "");
    for (unsigned i = 0; i < count; i++) LLVMInstructionEraseFromParent(group->marks[i]);
    group->count = 0;
    group->spaces = 0;
}

static void replace_range(struct producer *producer, LLVMValueRef mark, LLVMValueRef state)
{
    struct cts_ir *const ir = &producer->ir;
    LLVMValueRef arguments[] = {state, cts_u32(ir, space_of(producer, mark)),
                                cts_u32(ir, site_of(mark)), LLVMGetOperand(mark, 1),
                                LLVMGetOperand(mark, 2)};
    stand_before(producer, mark);
    LLVMBuildCall2(ir->builder, producer->range_type, producer->range, arguments, 5, "");
    LLVMInstructionEraseFromParent(mark);
}

/* The argument goes the way of an address. */
static void replace_event(struct producer *producer, LLVMValueRef mark, LLVMValueRef state)
{
    struct cts_ir *const ir = &producer->ir;
    stand_before(producer, mark);
    LLVMValueRef argument =
        LLVMBuildIntToPtr(ir->builder, LLVMGetOperand(mark, 1), ir->pointer, "");
    LLVMValueRef arguments[] = {state, cts_u32(ir, CTS_CUDA_GLOBAL), cts_u32(ir, site_of(mark)),
                                argument};
    LLVMBuildCall2(ir->builder, producer->group_types[0], producer->groups[0], arguments, 4, "");
    LLVMInstructionEraseFromParent(mark);
}

/* Whether a record may not be put off behind it. */
static bool is_boundary(LLVMValueRef instruction)
{
    if (!cts_is_call(instruction)) return LLVMIsAFenceInst(instruction) != NULL;
    LLVMValueRef callee = cts_called_function(instruction);
    return !callee || !LLVMGetIntrinsicID(callee) ||
           LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex,
                                       cts_ir_attribute_kind("convergent"));
}

static void add_to_group(struct producer *producer, struct group *group, LLVMValueRef mark,
                         LLVMValueRef state)
{
    const uint32_t space = space_of(producer, mark), first = group->spaces & 3;
    const bool are_common = space <= CTS_CUDA_SHARED && first <= CTS_CUDA_SHARED;
    if (group->count && !are_common && (space != first || space == CTS_CUDA_UNKNOWN))
        close_group(producer, group, state);
    group->spaces |= space << 2 * group->count;
    group->marks[group->count++] = mark;
    if (group->count == GROUP_MAX) close_group(producer, group, state);
}

static void produce_in_block(struct producer *producer, LLVMBasicBlockRef block, LLVMValueRef state)
{
    struct group group = {0};
    CTS_EACH_IN_BLOCK(i, block)
    {
        const bool marks = is_mark(i);
        if (marks && is_event(i)) {
            close_group(producer, &group, state);
            replace_event(producer, i, state);
        } else if (marks && !is_range(i)) {
            add_to_group(producer, &group, i, state);
        } else if (marks || is_boundary(i) || LLVMIsATerminatorInst(i)) {
            close_group(producer, &group, state);
            if (marks) replace_range(producer, i, state);
        }
    }
}

static void produce_in(struct producer *producer, LLVMValueRef function)
{
    const bool has_copy = is_kernel(producer, function) && !has_structs(function);
    LLVMValueRef begin, copy = has_copy ? plain_copy(producer, function) : NULL;
    LLVMValueRef state = begin_function(producer, function, &begin);
    if (has_copy) branch_to_plain(producer, function, copy, state, begin);
    CTS_EACH_BLOCK(b, function) produce_in_block(producer, b, state);
}

void cts_producer_add(LLVMModuleRef module, const char *bitcode)
{
    struct producer producer = {0};
    char *problem = NULL;
    bool is_needed = false;
    cts_ir_init(&producer.ir, module);
    read_spaces(&producer);
    declare_all(&producer);
    CTS_EACH_FUNCTION(f, module)
    {
        if (LLVMIsDeclaration(f) || !has_marks(f)) continue;
        produce_in(&producer, f);
        is_needed = true;
    }
    if (is_needed && cts_link_bitcode(module, bitcode, &problem))
        cts_ir_error(&producer.ir, NULL, "the producer cannot be linked: %s", problem);
    LLVMValueRef own[GROUP_MAX + 2] = {producer.begin, producer.range};
    memcpy(own + 2, producer.groups, sizeof producer.groups);
    for (size_t i = 0; i < GROUP_MAX + 2 && !is_needed; i++) LLVMDeleteFunction(own[i]);
    free(problem);
    free(producer.spaces);
    cts_ir_release(&producer.ir);
}
