/* What becomes of the marks that the device pass left (marks.h) in each version of a function.
 *
 * Plain: nothing. Row: each mark has a slot of the lane buffers and stores its address at
 * lanes[slot * 32 + lane]. Log: the address goes to the thread's log,
 *
 *     *at = slot_base + (site << 48) + address;  at += 32;
 *     if (at >= ctx->log_end) at = cts.log_full(ctx, at);
 *
 * `at` is a local variable that LLVM keeps in a register; it is written back to ctx->log before,
 * and read again after, each call that may log or wait. With values, the words follow their entry,
 * and the test for a full log moves in front of the next entry, so that it never parts them. The
 * code of an entry is as short as can be: an unrolled kernel has hundreds. */
#include "record/instrument/retarget.h"

#include <stdlib.h>

#include "record/instrument/loops.h"

static bool is_mark(LLVMValueRef instruction, const char *name)
{
    LLVMValueRef callee = cts_called_function(instruction);
    return callee && strcmp(cts_ir_name(callee), name) == 0;
}

void cts_marks_drop(LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    if (cts_is_mark(cts_called_function(i))) LLVMInstructionEraseFromParent(i);
}

/* ---- row ---- */

/* Does the kernel call what has marks of its own? */
static bool calls_marked(const struct cts_retarget *retarget, LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (!cts_is_call(i)) continue;
        LLVMValueRef callee = cts_called_function(i);
        if (!callee) return true;
        const struct cts_facts *const facts = cts_facts_get(retarget, callee);
        if ((facts && facts->marks) || cts_starts_with(cts_ir_name(callee), "__ctsdev_"))
            return true;
    }
    return false;
}

bool cts_row_is_possible(struct cts_retarget *retarget, const struct cts_kernel *kernel)
{
    if (kernel->flags & CTS_KERNEL_FIBERS || retarget->values) return false;
    LLVMValueRef body = kernel->body[CTS_VERSION_PLAIN];
    if (calls_marked(retarget, body)) return false;
    struct cts_flow flow;
    cts_flow_find(&flow, body);
    unsigned mark_count = 0;
    bool possible = true;
    for (size_t b = 0; b < flow.block_count && possible; b++) {
        CTS_EACH_IN_BLOCK(i, flow.blocks[b].block)
        {
            if (!cts_is_mark(cts_called_function(i))) continue;
            mark_count++;
            if (flow.blocks[b].loop != CTS_NO_LOOP || !is_mark(i, CTS_MARK_ACCESS))
                possible = false;
        }
    }
    cts_flow_release(&flow);
    return possible && mark_count <= CTS_ROW_SLOTS_MAX;
}

void cts_marks_to_row(struct cts_retarget *retarget, struct cts_kernel *kernel)
{
    struct cts_ir *const ir = &retarget->ir;
    LLVMValueRef body = kernel->body[CTS_VERSION_ROW];
    LLVMValueRef lanes = cts_body_parameter(kernel, body, CTS_BODY_LANES);
    LLVMValueRef lane = cts_body_parameter(kernel, body, CTS_BODY_LANE);
    CTS_EACH_INSTRUCTION(i, body)
    {
        if (!is_mark(i, CTS_MARK_ACCESS)) continue;
        const uint32_t slot = kernel->row_site_count++;
        kernel->row_sites[slot] = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0));
        LLVMPositionBuilderBefore(ir->builder, i);
        LLVMValueRef address =
            LLVMBuildPtrToInt(ir->builder, cts_generic(ir, LLVMGetOperand(i, 1)), ir->i64, "");
        LLVMValueRef index =
            LLVMBuildNUWAdd(ir->builder, lane, cts_u64(ir, (uint64_t)slot * 32), "");
        LLVMValueRef at = LLVMBuildInBoundsGEP2(ir->builder, ir->i64, lanes, &index, 1, "");
        LLVMBuildStore(ir->builder, address, at);
        LLVMInstructionEraseFromParent(i);
    }
}

/* ---- log ---- */

struct log {
    struct cts_retarget *retarget;
    LLVMValueRef context;
    LLVMValueRef at;        /* alloca */
    LLVMValueRef slot_base; /* loaded at the entry */
};

static LLVMValueRef member(struct log *log, size_t offset_bytes)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    return cts_byte_offset(ir, log->context, cts_u64(ir, offset_bytes));
}

static void write_back(struct log *log)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    LLVMValueRef at = LLVMBuildLoad2(ir->builder, ir->pointer, log->at, "");
    LLVMBuildStore(ir->builder, at, member(log, offsetof(struct cts_context, log)));
}

static void read_again(struct log *log)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    LLVMValueRef at = LLVMBuildLoad2(ir->builder, ir->pointer,
                                     member(log, offsetof(struct cts_context, log)), "");
    LLVMBuildStore(ir->builder, at, log->at);
}

static void log_open(struct log *log, struct cts_retarget *retarget, LLVMValueRef function)
{
    const struct cts_ir *const ir = &retarget->ir;
    *log = (struct log){.retarget = retarget};
    LLVMPositionBuilderBefore(ir->builder,
                              LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    log->at = LLVMBuildAlloca(ir->builder, ir->pointer, "cts.log");
    log->context = cts_context_of(retarget, function);
    log->slot_base = LLVMBuildLoad2(ir->builder, ir->i64, retarget->slot_base, "cts.slot_base");
    read_again(log);
}

static void append_word(struct log *log, LLVMValueRef word)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    LLVMValueRef at = LLVMBuildLoad2(ir->builder, ir->pointer, log->at, "");
    LLVMBuildStore(ir->builder, word, at);
    LLVMValueRef next = cts_byte_offset(ir, at, cts_u64(ir, 32 * sizeof(uint64_t)));
    LLVMBuildStore(ir->builder, next, log->at);
}

/* Addresses of user space leave the slot's 16 bits alone. One that does not is about to fault. */
static LLVMValueRef entry_word(struct log *log, LLVMValueRef site, LLVMValueRef address)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    const uint64_t slot = LLVMConstIntGetZExtValue(site) << CTS_SLOT_SHIFT;
    LLVMValueRef bits = LLVMBuildPtrToInt(ir->builder, cts_generic(ir, address), ir->i64, "");
    LLVMValueRef base = LLVMBuildAdd(ir->builder, log->slot_base, cts_u64(ir, slot), "");
    return LLVMBuildAdd(ir->builder, base, bits, "");
}

static LLVMValueRef new_function(struct cts_ir *ir, const char *name, LLVMTypeRef result,
                                 const char *const *attributes)
{
    LLVMTypeRef types[] = {ir->pointer, ir->pointer};
    LLVMValueRef function =
        LLVMAddFunction(ir->module, name, LLVMFunctionType(result, types, 2, 0));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    for (; *attributes; attributes++)
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                cts_attribute(ir, *attributes));
    LLVMSetCurrentDebugLocation2(ir->builder, NULL);
    LLVMPositionBuilderAtEnd(ir->builder, LLVMAppendBasicBlockInContext(ir->context, function, ""));
    return function;
}

/* at = cts.log_full(ctx, at); leaves the caller's registers alone */
static LLVMValueRef full_function(struct cts_retarget *retarget)
{
    enum { PRESERVE_MOST = 14 }; /* llvm/IR/CallingConv.h */
    struct cts_ir *const ir = &retarget->ir;
    LLVMValueRef function = LLVMGetNamedFunction(ir->module, "cts.log_full");
    if (function) return function;
    function = new_function(ir, "cts.log_full", ir->pointer,
                            (const char *const[]){"noinline", "cold", "nounwind", NULL});
    LLVMSetFunctionCallConv(function, PRESERVE_MOST);
    LLVMValueRef context = LLVMGetParam(function, 0);
    LLVMValueRef at = cts_byte_offset(ir, context, cts_u64(ir, offsetof(struct cts_context, log)));
    LLVMBuildStore(ir->builder, LLVMGetParam(function, 1), at);
    cts_call(ir, "__cts_log_full", ir->nothing, 1, &context);
    LLVMBuildRet(ir->builder, LLVMBuildLoad2(ir->builder, ir->pointer, at, ""));
    return function;
}

/* cts.log_check(ctx, &at): the test and its branch. The C API cannot split a block to put a branch
 * into its middle; inlining does. */
static LLVMValueRef check_function(struct cts_retarget *retarget)
{
    struct cts_ir *const ir = &retarget->ir;
    LLVMValueRef function = LLVMGetNamedFunction(ir->module, "cts.log_check");
    if (function) return function;
    LLVMValueRef full = full_function(retarget);
    function = new_function(ir, "cts.log_check", ir->nothing,
                            (const char *const[]){"alwaysinline", "nounwind", NULL});
    LLVMBasicBlockRef is_full = LLVMAppendBasicBlockInContext(ir->context, function, "");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(ir->context, function, "");
    LLVMValueRef context = LLVMGetParam(function, 0), place = LLVMGetParam(function, 1);
    LLVMValueRef at = LLVMBuildLoad2(ir->builder, ir->pointer, place, "");
    LLVMValueRef end =
        cts_context_member(retarget, context, offsetof(struct cts_context, log_end), ir->pointer);
    LLVMBuildCondBr(ir->builder, LLVMBuildICmp(ir->builder, LLVMIntUGE, at, end, ""), is_full,
                    done);
    LLVMPositionBuilderAtEnd(ir->builder, is_full);
    LLVMValueRef arguments[] = {context, at};
    LLVMValueRef call =
        LLVMBuildCall2(ir->builder, LLVMGlobalGetValueType(full), full, arguments, 2, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(full));
    LLVMBuildStore(ir->builder, call, place);
    LLVMBuildBr(ir->builder, done);
    LLVMPositionBuilderAtEnd(ir->builder, done);
    LLVMBuildRetVoid(ir->builder);
    return function;
}

static void check_full(struct log *log, LLVMValueRef check)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    LLVMValueRef arguments[] = {log->context, log->at};
    LLVMBuildCall2(ir->builder, LLVMGlobalGetValueType(check), check, arguments, 2, "");
}

static void log_access(struct log *log, LLVMValueRef mark, LLVMValueRef check)
{
    if (log->retarget->values) check_full(log, check);
    append_word(log, entry_word(log, LLVMGetOperand(mark, 0), LLVMGetOperand(mark, 1)));
    if (!log->retarget->values) check_full(log, check);
}

static void log_range(struct log *log, LLVMValueRef mark)
{
    struct cts_ir *const ir = &log->retarget->ir;
    write_back(log);
    LLVMValueRef arguments[] = {log->context, log->retarget->slot_base, LLVMGetOperand(mark, 0),
                                cts_generic(ir, LLVMGetOperand(mark, 1)), LLVMGetOperand(mark, 2)};
    cts_call(ir, "__cts_log_range", ir->nothing, 5, arguments);
    read_again(log);
}

/* May the call log or wait, so that the log's position must be in the context? */
static bool needs_log(const struct cts_retarget *retarget, LLVMValueRef instruction)
{
    if (!cts_is_call(instruction)) return false;
    LLVMValueRef called = LLVMGetCalledValue(instruction);
    if (LLVMIsAInlineAsm(called)) return false;
    if (!LLVMIsAFunction(called)) return true;
    if (LLVMGetIntrinsicID(called)) return false;
    const char *const name = cts_ir_name(called);
    if (strcmp(name, "cts.log_check") == 0 || strcmp(name, "__cts_log_range") == 0) return false;
    const struct cts_facts *const facts = cts_facts_get(retarget, called);
    if (facts) return facts->marks || facts->waits_for || facts->calls_indirectly;
    return LLVMIsDeclaration(called)
               ? cts_external_waits(name) || cts_starts_with(name, "__ctsdev_") ||
                     cts_starts_with(name, "__cts_dev_")
               : true;
}

void cts_marks_to_log(struct cts_retarget *retarget, LLVMValueRef function)
{
    struct cts_ir *const ir = &retarget->ir;
    LLVMValueRef check = check_function(retarget);
    struct log log;
    log_open(&log, retarget, function);
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (needs_log(retarget, i) && !cts_is_mark(cts_called_function(i))) {
            LLVMPositionBuilderBefore(ir->builder, i);
            write_back(&log);
            LLVMSetTailCallKind(i, LLVMTailCallKindNone);
            if (LLVMIsAInvokeInst(i)) continue;
            LLVMPositionBuilderBefore(ir->builder, i_next);
            read_again(&log);
            continue;
        }
        if (LLVMIsAReturnInst(i)) {
            LLVMPositionBuilderBefore(ir->builder, i);
            write_back(&log);
            continue;
        }
        if (!cts_is_mark(cts_called_function(i))) continue;
        LLVMPositionBuilderBefore(ir->builder, i);
        if (is_mark(i, CTS_MARK_ACCESS))
            log_access(&log, i, check);
        else if (is_mark(i, CTS_MARK_ACCESS_RANGE))
            log_range(&log, i);
        else
            append_word(&log, LLVMGetOperand(i, 1));
        LLVMInstructionEraseFromParent(i);
    }
}
