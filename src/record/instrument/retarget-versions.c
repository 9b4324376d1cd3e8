/* The versions of device functions, and which version calls which.
 *
 * A function f with marks (its own or of what it calls) exists twice: f and f.rec, whose marks
 * become log entries. Recording versions call recording versions. A pointer to f must be the same
 * in both worlds, so it points to a third function, f.dispatch, that looks at ctx->recording.
 *
 * With separate translation units a shared function's own symbol is the dispatcher, so that
 * pointers made in different units are equal, and __ctsdev_rec_<name> is the recording version;
 * a function without marks has the same symbols, both naming the one version. */
#include "record/instrument/retarget.h"

#include <stdlib.h>

#define SHARED_PREFIX           "__ctsdev_"
#define SHARED_RECORDING_PREFIX "__ctsdev_rec_"

static bool is_shared(LLVMValueRef function)
{
    const LLVMLinkage linkage = LLVMGetLinkage(function);
    return linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage &&
           cts_starts_with(cts_ir_name(function), SHARED_PREFIX);
}

static char *recording_name(LLVMValueRef function)
{
    const char *const name = cts_ir_name(function);
    if (cts_starts_with(name, SHARED_PREFIX))
        return cts_ir_text("%s%s", SHARED_RECORDING_PREFIX, name + strlen(SHARED_PREFIX));
    return cts_ir_text("%s.rec", name);
}

/* ---- copies ---- */

void cts_make_lean(const struct cts_ir *ir, LLVMValueRef function)
{
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(ir->context, CTS_LEAN_FUNCTION,
                                                      strlen(CTS_LEAN_FUNCTION), "", 0));
}

static void copy_function(struct cts_retarget *retarget, struct cts_facts *facts)
{
    facts->versions[CTS_VERSION_PLAIN] = facts->function;
    char *const name = recording_name(facts->function);
    if (facts->marks) {
        LLVMValueRef copy = cts_clone_function(facts->function, name);
        cts_make_lean(&retarget->ir, copy);
        if (is_shared(facts->function)) LLVMSetLinkage(copy, LLVMGetLinkage(facts->function));
        facts->versions[CTS_VERSION_LOG] = copy;
        *cts_map_slot(&retarget->facts_of, copy) = facts;
    } else if (is_shared(facts->function)) {
        LLVMValueRef alias = LLVMAddAlias2(
            retarget->ir.module, LLVMGlobalGetValueType(facts->function), 0, facts->function, name);
        LLVMSetLinkage(alias, LLVMGetLinkage(facts->function));
    }
    free(name);
}

static LLVMValueRef copy_body(struct cts_retarget *retarget, struct cts_retarget_kernel *kernel,
                              const char *suffix)
{
    char *const name = cts_ir_text("%s.%s", kernel->name, suffix);
    LLVMValueRef copy = cts_clone_function(kernel->body[CTS_VERSION_PLAIN], name);
    free(name);
    *cts_map_slot(&retarget->kernel_of_body, copy) = kernel;
    *cts_map_slot(&retarget->facts_of, copy) = kernel->facts;
    return copy;
}

static void copy_kernel(struct cts_retarget *retarget, struct cts_retarget_kernel *kernel)
{
    if (kernel->flags & CTS_KERNEL_UNINSTRUMENTED) return;
    if (!kernel->facts->marks) {
        kernel->body[CTS_VERSION_LOG] = kernel->body[CTS_VERSION_PLAIN];
        if (!(kernel->flags & CTS_KERNEL_FIBERS))
            kernel->body[CTS_VERSION_ROW] = kernel->body[CTS_VERSION_PLAIN];
        return;
    }
    if (cts_row_is_possible(retarget, kernel))
        kernel->body[CTS_VERSION_ROW] = copy_body(retarget, kernel, "row");
    kernel->body[CTS_VERSION_LOG] = copy_body(retarget, kernel, "log");
}

/* ---- dispatchers ---- */

static void set_callee(LLVMValueRef call, LLVMValueRef callee)
{
    LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, callee);
}

/* Makes direct calls of `from` calls of `to`; other uses stay. */
static void redirect_calls(LLVMValueRef from, LLVMValueRef to)
{
    size_t count = 0, capacity = 0;
    LLVMValueRef *calls = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(from); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user) || !cts_is_call(user) || LLVMGetCalledValue(user) != from)
            continue;
        calls = cts_ir_grow(calls, &capacity, count + 1, sizeof *calls);
        calls[count++] = user;
    }
    for (size_t i = 0; i < count; i++) set_callee(calls[i], to);
    free(calls);
}

static void build_dispatch_call(const struct cts_ir *ir, LLVMValueRef dispatcher,
                                LLVMValueRef target)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(target);
    const unsigned count = LLVMCountParams(dispatcher);
    LLVMValueRef *const arguments = cts_ir_allocate(count, sizeof *arguments);
    LLVMGetParams(dispatcher, arguments);
    LLVMValueRef call = LLVMBuildCall2(ir->builder, type, target, arguments, count, "");
    free(arguments);
    for (unsigned i = 0; i <= count; i++) {
        const unsigned attribute_count = LLVMGetAttributeCountAtIndex(dispatcher, i);
        LLVMAttributeRef *const attributes = cts_ir_allocate(attribute_count, sizeof *attributes);
        LLVMGetAttributesAtIndex(dispatcher, i, attributes);
        for (unsigned a = 0; a < attribute_count; a++)
            LLVMAddCallSiteAttribute(call, i, attributes[a]);
        free(attributes);
    }
    if (LLVMGetReturnType(type) == ir->nothing)
        LLVMBuildRetVoid(ir->builder);
    else
        LLVMBuildRet(ir->builder, call);
}

static void build_dispatcher(struct cts_retarget *retarget, LLVMValueRef dispatcher,
                             const struct cts_facts *facts)
{
    const struct cts_ir *const ir = &retarget->ir;
    LLVMBasicBlockRef blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = LLVMAppendBasicBlockInContext(ir->context, dispatcher, "");
    LLVMSetCurrentDebugLocation2(ir->builder, NULL);
    LLVMPositionBuilderAtEnd(ir->builder, blocks[0]);
    LLVMValueRef context =
        LLVMBuildLoad2(ir->builder, ir->pointer, retarget->current, "cts.context");
    LLVMValueRef recording = cts_context_member(
        retarget, context, offsetof(struct cts_thread_context, recording), ir->i32);
    LLVMValueRef is_recording =
        LLVMBuildICmp(ir->builder, LLVMIntNE, recording, cts_u32(ir, 0), "");
    LLVMBuildCondBr(ir->builder, is_recording, blocks[1], blocks[2]);
    LLVMPositionBuilderAtEnd(ir->builder, blocks[1]);
    build_dispatch_call(ir, dispatcher, facts->versions[CTS_VERSION_LOG]);
    LLVMPositionBuilderAtEnd(ir->builder, blocks[2]);
    build_dispatch_call(ir, dispatcher, facts->function);
}

static void add_dispatcher(struct cts_retarget *retarget, struct cts_facts *facts)
{
    LLVMValueRef function = facts->function;
    const bool shared = is_shared(function);
    if (!facts->versions[CTS_VERSION_LOG] || (!facts->address_taken && !shared)) return;
    char *const own = cts_ir_text("%s", cts_ir_name(function));
    char *const dispatch = cts_ir_text("%s.dispatch", own);
    LLVMValueRef dispatcher =
        LLVMAddFunction(retarget->ir.module, dispatch, LLVMGlobalGetValueType(function));
    LLVMSetLinkage(dispatcher, LLVMInternalLinkage);
    cts_copy_attributes(function, dispatcher, LLVMCountParams(function));
    LLVMReplaceAllUsesWith(function, dispatcher);
    redirect_calls(dispatcher, function);
    if (shared) {
        char *const plain = cts_ir_text("%s.plain", own);
        LLVMSetLinkage(dispatcher, LLVMGetLinkage(function));
        LLVMSetLinkage(function, LLVMInternalLinkage);
        LLVMSetValueName2(function, plain, strlen(plain));
        LLVMSetValueName2(dispatcher, own, strlen(own));
        free(plain);
    }
    build_dispatcher(retarget, dispatcher, facts);
    free(own);
    free(dispatch);
}

/* ---- calls in recording versions ---- */

static LLVMValueRef recording_version(struct cts_retarget *retarget, LLVMValueRef callee)
{
    const struct cts_facts *const facts = cts_facts_get(retarget, callee);
    if (facts && !facts->is_kernel && facts->versions[CTS_VERSION_LOG])
        return facts->versions[CTS_VERSION_LOG];
    if (facts || !LLVMIsDeclaration(callee) ||
        !cts_starts_with(cts_ir_name(callee), SHARED_PREFIX) ||
        cts_starts_with(cts_ir_name(callee), SHARED_RECORDING_PREFIX))
        return callee;
    char *const name = recording_name(callee);
    LLVMValueRef recording = cts_declare(&retarget->ir, name, LLVMGlobalGetValueType(callee));
    free(name);
    return recording;
}

static void record_in(struct cts_retarget *retarget, LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        LLVMValueRef callee = cts_called_function(i);
        if (callee && !LLVMGetIntrinsicID(callee))
            set_callee(i, recording_version(retarget, callee));
    }
    cts_marks_to_log(retarget, function);
}

void cts_versions_make(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->facts_count; i++)
        if (!retarget->facts[i]->is_kernel) copy_function(retarget, retarget->facts[i]);
    for (size_t i = 0; i < retarget->kernel_count; i++)
        copy_kernel(retarget, &retarget->kernels[i]);
    for (size_t i = 0; i < retarget->facts_count; i++)
        if (!retarget->facts[i]->is_kernel) add_dispatcher(retarget, retarget->facts[i]);
    for (size_t i = 0; i < retarget->facts_count; i++)
        if (retarget->facts[i]->versions[CTS_VERSION_LOG])
            record_in(retarget, retarget->facts[i]->versions[CTS_VERSION_LOG]);
    for (size_t i = 0; i < retarget->kernel_count; i++) {
        struct cts_retarget_kernel *const kernel = &retarget->kernels[i];
        if (!kernel->facts->marks) continue;
        if (kernel->body[CTS_VERSION_LOG]) record_in(retarget, kernel->body[CTS_VERSION_LOG]);
        if (kernel->body[CTS_VERSION_ROW]) cts_marks_to_row(retarget, kernel);
    }
    for (size_t i = 0; i < retarget->facts_count; i++) {
        cts_marks_drop(retarget->facts[i]->function);
        cts_alignment_drop(retarget->facts[i]->function);
    }
}
