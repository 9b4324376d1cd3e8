/* What becomes of the marks that the device pass left (marks.h) in each version of a function.
 *
 * Plain: nothing. Row: each mark has a slot of the lane buffers and stores its address at
 * lanes[slot * 32 + lane]. Log: the address goes to the thread's log,
 *
 *     *at = slot_base + (site << 48) + (address & (2^48 - 1));  at += 32;
 *     if (at >= end) { ctx->log = at; __cts_log_full(ctx); at = ctx->log; end = ctx->log_end; }
 *
 * `at` and `end` are local variables that LLVM keeps in registers; they are written back before and
 * read again after each call that may log or wait. With values, the words follow their entry, and
 * the test for a full log moves in front of the next entry, so that it never parts them. */
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
    LLVMValueRef function, context;
    LLVMValueRef at, end;   /* allocas */
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
    LLVMValueRef end = LLVMBuildLoad2(ir->builder, ir->pointer,
                                      member(log, offsetof(struct cts_context, log_end)), "");
    LLVMBuildStore(ir->builder, end, log->end);
}

static void log_open(struct log *log, struct cts_retarget *retarget, LLVMValueRef function)
{
    const struct cts_ir *const ir = &retarget->ir;
    *log = (struct log){.retarget = retarget, .function = function};
    LLVMPositionBuilderBefore(ir->builder,
                              LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    log->at = LLVMBuildAlloca(ir->builder, ir->pointer, "cts.log");
    log->end = LLVMBuildAlloca(ir->builder, ir->pointer, "cts.log_end");
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

static LLVMValueRef entry_word(struct log *log, LLVMValueRef site, LLVMValueRef address)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    const uint64_t slot = LLVMConstIntGetZExtValue(site) << CTS_SLOT_SHIFT;
    LLVMValueRef bits = LLVMBuildPtrToInt(ir->builder, cts_generic(ir, address), ir->i64, "");
    bits = LLVMBuildAnd(ir->builder, bits, cts_u64(ir, (UINT64_C(1) << CTS_SLOT_SHIFT) - 1), "");
    LLVMValueRef base = LLVMBuildAdd(ir->builder, log->slot_base, cts_u64(ir, slot), "");
    return LLVMBuildOr(ir->builder, base, bits, "");
}

/* A function, so that the test stays one branch: cts.log_full(ctx, at) -> {at, end} through the
 * context. Branches are not needed in the middle of a block: the C API cannot split blocks, so the
 * test is a small internal function that is always inlined. */
static LLVMValueRef check_function(struct cts_retarget *retarget)
{
    struct cts_ir *const ir = &retarget->ir;
    LLVMValueRef function = LLVMGetNamedFunction(ir->module, "cts.log_check");
    if (function) return function;
    LLVMTypeRef types[] = {ir->pointer, ir->pointer, ir->pointer};
    function =
        LLVMAddFunction(ir->module, "cts.log_check", LLVMFunctionType(ir->nothing, types, 3, 0));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            cts_attribute(ir, "alwaysinline"));
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, cts_attribute(ir, "nounwind"));
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(ir->context, function, "");
    LLVMBasicBlockRef full = LLVMAppendBasicBlockInContext(ir->context, function, "full");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(ir->context, function, "done");
    struct log log = {.retarget = retarget, .function = function};
    log.context = LLVMGetParam(function, 0);
    log.at = LLVMGetParam(function, 1);
    log.end = LLVMGetParam(function, 2);
    LLVMSetCurrentDebugLocation2(ir->builder, NULL);
    LLVMPositionBuilderAtEnd(ir->builder, entry);
    LLVMValueRef at = LLVMBuildLoad2(ir->builder, ir->pointer, log.at, "");
    LLVMValueRef end = LLVMBuildLoad2(ir->builder, ir->pointer, log.end, "");
    LLVMValueRef is_full = LLVMBuildICmp(ir->builder, LLVMIntUGE, at, end, "");
    LLVMTypeRef bool_type[] = {ir->i1, ir->i1};
    unsigned expect = LLVMLookupIntrinsicID("llvm.expect", strlen("llvm.expect"));
    LLVMTypeRef expect_type = LLVMIntrinsicGetType(ir->context, expect, bool_type, 1);
    LLVMValueRef arguments[] = {is_full, LLVMConstInt(ir->i1, 0, 0)};
    is_full = LLVMBuildCall2(ir->builder, expect_type,
                             LLVMGetIntrinsicDeclaration(ir->module, expect, bool_type, 1),
                             arguments, 2, "");
    LLVMBuildCondBr(ir->builder, is_full, full, done);
    LLVMPositionBuilderAtEnd(ir->builder, full);
    write_back(&log);
    cts_call(ir, "__cts_log_full", ir->nothing, 1, &log.context);
    read_again(&log);
    LLVMBuildBr(ir->builder, done);
    LLVMPositionBuilderAtEnd(ir->builder, done);
    LLVMBuildRetVoid(ir->builder);
    return function;
}

static void check_full(struct log *log, LLVMValueRef check)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    LLVMValueRef arguments[] = {log->context, log->at, log->end};
    LLVMBuildCall2(ir->builder, LLVMGlobalGetValueType(check), check, arguments, 3, "");
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
