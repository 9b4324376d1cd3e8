/* Marks become entries of the log (record/abi.h):
 *
 *     at[0] = address;  its upper 16 bits = slot_base + site;  at[32] = ...;  at += 2 * 32;
 *     if (at >= ctx->log_end) at = cts.log_full(ctx, at);
 *
 * `at` is a local variable that LLVM keeps in a register; it is written back to ctx->log before,
 * and read again after, each call that may log or wait.
 *
 * An unrolled kernel has hundreds of entries, so their code is as short as can be, and the test for
 * a full log is rare: the log has room for SLACK words behind its end. The *load* of a place is how
 * many words may have been appended on a way there since the log was last known to have room.
 * Blocks are walked in program order; a test stands where the load would exceed SLACK, where it
 * would grow from round to round of a loop, and before other code that logs. A barrier of the CTA
 * empties the log, and so does the end of the kernel.
 *
 * With values an entry is written where its first value word is, and the test stands in front of
 * it: an entry and its words must not be torn apart, and the access itself may wait between its
 * mark and its values (a volatile one lets other lanes go first). */
#include "record/instrument/retarget.h"

#include <stdlib.h>

#include "record/instrument/loops.h"

enum { SLACK = CTS_LOG_VALUE_WORDS_MAX };

static bool is_mark(LLVMValueRef instruction, const char *name)
{
    LLVMValueRef callee = cts_called_function(instruction);
    return callee && strcmp(cts_ir_name(callee), name) == 0;
}

struct log {
    struct cts_retarget *retarget;
    LLVMValueRef context;
    LLVMValueRef at;        /* alloca */
    LLVMValueRef slot_base; /* loaded at the entry */
    LLVMValueRef check;     /* function */
    LLVMValueRef run;       /* `at` where the run of entries of this block began, or NULL */
    unsigned run_words;     /* appended since */
    unsigned load;          /* see above */
    LLVMValueRef pending; /* with values: the access mark whose entry is not written yet, or NULL */
    bool in_kernel;
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
    LLVMBuildStore(ir->builder, at, member(log, offsetof(struct cts_thread_context, log)));
}

static void read_again(struct log *log)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    LLVMValueRef at = LLVMBuildLoad2(ir->builder, ir->pointer,
                                     member(log, offsetof(struct cts_thread_context, log)), "");
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
    log->in_kernel = cts_map_get(&retarget->kernel_of_body, function) != NULL;
    LLVMTypeRef slot_type = LLVMIntTypeInContext(ir->context, 16);
    LLVMValueRef base = cts_byte_offset(ir, retarget->slot_base, cts_u64(ir, CTS_SLOT_SHIFT / 8));
    log->slot_base = LLVMBuildLoad2(ir->builder, slot_type, base, "cts.slot_base");
    read_again(log);
}

static void append_word(struct log *log, LLVMValueRef word)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    if (!log->run) log->run = LLVMBuildLoad2(ir->builder, ir->pointer, log->at, "");
    log->load++;
    const uint64_t offset_bytes = log->run_words++ * 32 * sizeof(uint64_t);
    LLVMBuildStore(ir->builder, word, cts_byte_offset(ir, log->run, cts_u64(ir, offset_bytes)));
}

/* A file that got no slots has the limit as base. Its kernels are not recorded, but kernels of
 * other units may run its functions: their entries must stay at the limit, where they are counted.
 */
static LLVMValueRef add_saturated(struct log *log, LLVMValueRef base, LLVMValueRef index)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    LLVMTypeRef type = LLVMTypeOf(base);
    const unsigned id = LLVMLookupIntrinsicID("llvm.uadd.sat", strlen("llvm.uadd.sat"));
    LLVMValueRef add = LLVMGetIntrinsicDeclaration(ir->module, id, &type, 1);
    LLVMValueRef arguments[] = {base, index};
    return LLVMBuildCall2(ir->builder, LLVMIntrinsicGetType(ir->context, id, &type, 1), add,
                          arguments, 2, "");
}

/* The address (an event's argument), then the slot over its upper 16 bits: without constants of 64
 * bits, and LLVM shares the address with the access itself. */
static void append_entry(struct log *log, LLVMValueRef site, LLVMValueRef word)
{
    enum { SLOT_BYTE = CTS_SLOT_SHIFT / 8 }; /* little-endian, as all hosts of the device are */
    const struct cts_ir *const ir = &log->retarget->ir;
    append_word(log, word);
    const uint64_t offset_bytes = (log->run_words - 1) * 32 * sizeof(uint64_t) + SLOT_BYTE;
    LLVMValueRef index =
        LLVMConstInt(LLVMTypeOf(log->slot_base), LLVMConstIntGetZExtValue(site), 0);
    LLVMValueRef slot = log->retarget->separate_units
                            ? add_saturated(log, log->slot_base, index)
                            : LLVMBuildAdd(ir->builder, log->slot_base, index, "");
    LLVMBuildStore(ir->builder, slot, cts_byte_offset(ir, log->run, cts_u64(ir, offset_bytes)));
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
                                cts_ir_attribute(ir, *attributes));
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
    LLVMValueRef at =
        cts_byte_offset(ir, context, cts_u64(ir, offsetof(struct cts_thread_context, log)));
    LLVMBuildStore(ir->builder, LLVMGetParam(function, 1), at);
    cts_ir_call(ir, "__cts_log_full", ir->nothing, 1, &context);
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
    LLVMValueRef end = cts_context_member(
        retarget, context, offsetof(struct cts_thread_context, log_end), ir->pointer);
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

static void end_run(struct log *log)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    if (!log->run) return;
    const uint64_t size_bytes = log->run_words * 32 * sizeof(uint64_t);
    LLVMBuildStore(ir->builder, cts_byte_offset(ir, log->run, cts_u64(ir, size_bytes)), log->at);
    log->run = NULL;
    log->run_words = 0;
}

/* Makes room. */
static void check(struct log *log)
{
    const struct cts_ir *const ir = &log->retarget->ir;
    end_run(log);
    if (log->load == 0) return;
    LLVMValueRef arguments[] = {log->context, log->at};
    LLVMBuildCall2(ir->builder, LLVMGlobalGetValueType(log->check), log->check, arguments, 2, "");
    log->load = 0;
}

/* ---- marks and calls ---- */

static void log_access(struct log *log, LLVMValueRef mark)
{
    if (log->load >= (log->retarget->values ? 1 : SLACK)) check(log);
    LLVMValueRef word = LLVMGetOperand(mark, 1);
    if (!is_mark(mark, CTS_MARK_EVENT)) word = cts_generic(&log->retarget->ir, word);
    append_entry(log, LLVMGetOperand(mark, 0), word);
}

static void log_range(struct log *log, LLVMValueRef mark)
{
    struct cts_ir *const ir = &log->retarget->ir;
    check(log);
    write_back(log);
    LLVMValueRef arguments[] = {log->context, log->retarget->slot_base, LLVMGetOperand(mark, 0),
                                cts_generic(ir, LLVMGetOperand(mark, 1)), LLVMGetOperand(mark, 2)};
    cts_ir_call(ir, "__cts_log_range", ir->nothing, 5, arguments);
    read_again(log);
}

static void log_value(struct log *log, LLVMValueRef mark)
{
    if (log->pending) {
        log_access(log, log->pending);
        LLVMInstructionEraseFromParent(log->pending);
        log->pending = NULL;
    }
    append_word(log, LLVMGetOperand(mark, 1));
}

static void log_mark(struct log *log, LLVMValueRef mark)
{
    if (is_mark(mark, CTS_MARK_VALUE)) {
        log_value(log, mark);
    } else if (is_mark(mark, CTS_MARK_ACCESS_RANGE)) {
        log_range(log, mark);
    } else if (log->retarget->values && !is_mark(mark, CTS_MARK_EVENT)) {
        log->pending = mark;
        return;
    } else {
        log_access(log, mark);
    }
    LLVMInstructionEraseFromParent(mark);
}

enum call {
    CALL_PLAIN,   /* neither logs nor waits */
    CALL_WAITS,   /* does not log */
    CALL_EMPTIES, /* a barrier: when it returns the log is empty */
    CALL_LOGS     /* may log */
};

static bool is_barrier(const char *name)
{
    return strcmp(name, "__cts_grid_sync") == 0 || cts_starts_with(name, "__cts_nvvm_bar_sync") ||
           (cts_starts_with(name, "__cts_nvvm_barrier") &&
            !cts_starts_with(name, "__cts_nvvm_barrier_arrive"));
}

static enum call classify_undefined(const char *name)
{
    if (is_barrier(name)) return CALL_EMPTIES;
    if (cts_starts_with(name, "__ctsdev_") || cts_starts_with(name, "__cts_dev_")) return CALL_LOGS;
    return cts_external_waits(name) ? CALL_WAITS : CALL_PLAIN;
}

static enum call classify(const struct cts_retarget *retarget, LLVMValueRef instruction)
{
    if (!cts_is_call(instruction)) return CALL_PLAIN;
    LLVMValueRef called = LLVMGetCalledValue(instruction);
    if (LLVMIsAInlineAsm(called)) return CALL_PLAIN;
    if (!LLVMIsAFunction(called)) return CALL_LOGS;
    if (LLVMGetIntrinsicID(called)) return CALL_PLAIN;
    const char *const name = cts_ir_name(called);
    if (strcmp(name, "cts.log_check") == 0 || strcmp(name, "__cts_log_range") == 0 ||
        cts_is_alignment_test(called))
        return CALL_PLAIN;
    const struct cts_facts *const facts = cts_facts_get(retarget, called);
    if (facts) {
        if (facts->marks || facts->calls_indirectly) return CALL_LOGS;
        return facts->waits_for ? CALL_WAITS : CALL_PLAIN;
    }
    return LLVMIsDeclaration(called) ? classify_undefined(name) : CALL_LOGS;
}

static void log_call(struct log *log, LLVMValueRef call, enum call kind)
{
    if (kind == CALL_LOGS) check(log);
    end_run(log);
    write_back(log);
    if (kind == CALL_EMPTIES) log->load = 0;
    LLVMSetTailCallKind(call, LLVMTailCallKindNone);
    if (LLVMIsAInvokeInst(call)) return;
    LLVMPositionBuilderBefore(log->retarget->ir.builder, LLVMGetNextInstruction(call));
    read_again(log);
}

/* ---- functions ---- */

/* The blocks in program order, with the load at the start of each. */
struct order {
    struct cts_flow flow;
    struct cts_ir_map place; /* block -> place + 1; unreachable blocks have none */
    unsigned *loads;
};

static size_t place_of(const struct order *order, LLVMBasicBlockRef block)
{
    return (size_t)(uintptr_t)cts_map_get(&order->place, block) - 1;
}

static void order_find(struct order *order, LLVMValueRef function)
{
    *order = (struct order){0};
    cts_flow_find(&order->flow, function);
    order->loads = cts_ir_allocate(order->flow.block_count, sizeof *order->loads);
    for (size_t i = 0; i < order->flow.block_count; i++)
        *cts_map_slot(&order->place, order->flow.blocks[i].block) = (void *)(uintptr_t)(i + 1);
}

static void order_release(struct order *order)
{
    cts_flow_release(&order->flow);
    cts_map_release(&order->place);
    free(order->loads);
}

/* Hands the load on to the successors. One that comes earlier has been walked: the load must not
 * exceed what it was walked with. */
static void log_end_of_block(struct log *log, struct order *order, size_t place, LLVMValueRef end)
{
    const unsigned count = LLVMGetNumSuccessors(end);
    for (unsigned i = 0; i < count; i++) {
        const size_t to = place_of(order, LLVMGetSuccessor(end, i));
        if (to <= place && log->load > order->loads[to]) check(log);
    }
    for (unsigned i = 0; i < count; i++) {
        unsigned *const load = &order->loads[place_of(order, LLVMGetSuccessor(end, i))];
        if (log->load > *load) *load = log->load;
    }
    if (LLVMIsAReturnInst(end)) {
        if (!log->in_kernel) check(log);
        end_run(log);
        write_back(log);
    }
    end_run(log);
}

static void log_block(struct log *log, struct order *order, size_t place)
{
    log->load = order->loads[place];
    CTS_EACH_IN_BLOCK(i, order->flow.blocks[place].block)
    {
        LLVMPositionBuilderBefore(log->retarget->ir.builder, i);
        if (cts_is_mark(cts_called_function(i))) {
            log_mark(log, i);
            continue;
        }
        const enum call kind = classify(log->retarget, i);
        if (kind != CALL_PLAIN) log_call(log, i, kind);
        if (LLVMIsATerminatorInst(i)) {
            LLVMPositionBuilderBefore(log->retarget->ir.builder, i);
            log_end_of_block(log, order, place, i);
        }
    }
}

void cts_marks_to_log(struct cts_retarget *retarget, LLVMValueRef function)
{
    struct log log;
    struct order order;
    LLVMValueRef check_full = check_function(retarget);
    order_find(&order, function);
    log_open(&log, retarget, function);
    log.check = check_full;
    for (size_t i = 0; i < order.flow.block_count; i++) log_block(&log, &order, i);
    order_release(&order);
    cts_marks_drop(function); /* of unreachable blocks */
}
