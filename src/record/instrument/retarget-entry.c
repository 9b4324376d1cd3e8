/* The entry points of a kernel that abi.h describes, around its bodies:
 *
 *   K.range       (args, ctx, x0, x1, y0, y1, z0, z1)   plain body in loops over z, y, x
 *   K.cta         K.range of all threads               } kernels without fibers; K.range is one
 *   K.thread      K.range of the one thread ctx->tid   } function so that it is compiled once
 *   K.thread      the plain body, once                   kernels with fibers
 *   K.row_rec     the row body for n lanes of a row
 *   K.thread_rec  the log body, once
 *
 * The loops are rotated (a block has at least one thread) and step by one without overflow. Where
 * the body, or something it calls, looks for its thread in the context, the loop stores tid there.
 * Each entry point is a subprogram of the debug information that stands at the kernel's line, so
 * that profilers and fault messages know the lines of what is inlined into it. */
#include "record/instrument/retarget.h"

#include <stdlib.h>

struct entry {
    struct cts_retarget *retarget;
    struct cts_retarget_kernel *kernel;
    LLVMDIBuilderRef debug; /* NULL: the kernel has no debug information */
    LLVMValueRef function;
    LLVMValueRef *arguments; /* of the body */
};

/* ---- debug information ---- */

static LLVMMetadataRef kernel_subprogram(const struct cts_retarget_kernel *kernel)
{
    return LLVMGetSubprogram(kernel->body[CTS_VERSION_PLAIN]);
}

static void describe(struct entry *entry, const char *name)
{
    LLVMMetadataRef subprogram = kernel_subprogram(entry->kernel);
    LLVMSetCurrentDebugLocation2(entry->retarget->ir.builder, NULL);
    if (!subprogram || !entry->debug) return;
    const unsigned line = LLVMDISubprogramGetLine(subprogram);
    LLVMMetadataRef file = LLVMDIScopeGetFile(subprogram);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(entry->debug, file, NULL, 0, LLVMDIFlagZero);
    LLVMMetadataRef own = LLVMDIBuilderCreateFunction(
        entry->debug, file, name, strlen(name), name, strlen(name), file, line, type,
        /*IsLocalToUnit=*/1, /*IsDefinition=*/1, line, LLVMDIFlagArtificial, /*IsOptimized=*/1);
    LLVMSetSubprogram(entry->function, own);
    LLVMSetCurrentDebugLocation2(
        entry->retarget->ir.builder,
        LLVMDIBuilderCreateDebugLocation(entry->retarget->ir.context, line, 0, own, NULL));
}

static LLVMDIBuilderRef open_debug(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->kernel_count; i++) {
        LLVMMetadataRef subprogram = kernel_subprogram(&retarget->kernels[i]);
        if (!subprogram) continue;
        LLVMDIBuilderRef debug = LLVMCreateDIBuilder(retarget->ir.module);
        LLVMDIBuilderCreateCompileUnit(debug, LLVMDWARFSourceLanguageC_plus_plus_14,
                                       LLVMDIScopeGetFile(subprogram), "ctascope",
                                       strlen("ctascope"), /*isOptimized=*/1, "", 0, 0, "", 0,
                                       LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "", 0);
        return debug;
    }
    return NULL;
}

/* ---- pieces ---- */

static LLVMValueRef entry_open(struct entry *entry, const char *suffix, LLVMTypeRef *types,
                               unsigned count)
{
    struct cts_ir *const ir = &entry->retarget->ir;
    char *const name = cts_ir_text("%s.%s", entry->kernel->name, suffix);
    entry->function =
        LLVMAddFunction(ir->module, name, LLVMFunctionType(ir->nothing, types, count, 0));
    LLVMSetLinkage(entry->function, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(ir->builder,
                             LLVMAppendBasicBlockInContext(ir->context, entry->function, ""));
    describe(entry, name);
    free(name);
    return entry->function;
}

static LLVMValueRef parameter(const struct entry *entry, unsigned index)
{
    return LLVMGetParam(entry->function, index);
}

static LLVMValueRef *body_argument(const struct entry *entry, enum cts_body_parameter which)
{
    return &entry->arguments[entry->kernel->parameter_count + (unsigned)which];
}

/* Reads the kernel's arguments from args and the registers from the context. */
static void load_arguments(struct entry *entry)
{
    const struct cts_ir *const ir = &entry->retarget->ir;
    const struct cts_retarget_kernel *const kernel = entry->kernel;
    LLVMValueRef args = parameter(entry, 0), context = parameter(entry, 1);
    LLVMTypeRef type = LLVMGlobalGetValueType(kernel->shell);
    LLVMTypeRef *const types = cts_ir_allocate(kernel->parameter_count, sizeof *types);
    LLVMGetParamTypes(type, types);
    const unsigned byval = cts_ir_attribute_kind("byval");
    for (unsigned i = 0; i < kernel->parameter_count; i++) {
        LLVMValueRef index = cts_u32(ir, i);
        LLVMValueRef at = LLVMBuildInBoundsGEP2(ir->builder, ir->pointer, args, &index, 1, "");
        LLVMValueRef where = LLVMBuildLoad2(ir->builder, ir->pointer, at, "");
        entry->arguments[i] = LLVMGetEnumAttributeAtIndex(kernel->shell, i + 1, byval)
                                  ? where
                                  : LLVMBuildLoad2(ir->builder, types[i], where, "");
    }
    free(types);
    for (unsigned i = CTS_BODY_TID; i < CTS_BODY_CONTEXT; i++)
        *body_argument(entry, i) =
            cts_context_member(entry->retarget, context, i * sizeof(uint32_t), ir->i32);
    *body_argument(entry, CTS_BODY_CONTEXT) = context;
    *body_argument(entry, CTS_BODY_SHARED) = cts_context_member(
        entry->retarget, context, offsetof(struct cts_thread_context, shared), ir->pointer);
    *body_argument(entry, CTS_BODY_SHARED_DYNAMIC) = cts_context_member(
        entry->retarget, context, offsetof(struct cts_thread_context, shared_dynamic), ir->pointer);
    *body_argument(entry, CTS_BODY_LANES) = LLVMConstNull(ir->pointer);
    *body_argument(entry, CTS_BODY_LANE) = cts_u64(ir, 0);
}

static void call_body(struct entry *entry, enum cts_function_version version)
{
    const struct cts_ir *const ir = &entry->retarget->ir;
    const struct cts_retarget_kernel *const kernel = entry->kernel;
    LLVMValueRef body = kernel->body[version];
    LLVMValueRef call = LLVMBuildCall2(ir->builder, kernel->body_type, body, entry->arguments,
                                       kernel->parameter_count + CTS_BODY_PARAMETERS, "");
    const unsigned byval = cts_ir_attribute_kind("byval"), align = cts_ir_attribute_kind("align");
    for (unsigned i = 1; i <= kernel->parameter_count; i++) {
        LLVMAttributeRef copy = LLVMGetEnumAttributeAtIndex(body, i, byval);
        LLVMAttributeRef alignment = LLVMGetEnumAttributeAtIndex(body, i, align);
        if (copy) LLVMAddCallSiteAttribute(call, i, copy);
        if (copy && alignment) LLVMAddCallSiteAttribute(call, i, alignment);
    }
}

static void store_tid(struct entry *entry)
{
    const struct cts_ir *const ir = &entry->retarget->ir;
    if (!entry->kernel->facts->reads_context) return;
    LLVMValueRef context = *body_argument(entry, CTS_BODY_CONTEXT);
    for (unsigned axis = 0; axis < 3; axis++)
        LLVMBuildStore(ir->builder, *body_argument(entry, CTS_BODY_TID + axis),
                       cts_byte_offset(ir, context, cts_u64(ir, axis * sizeof(uint32_t))));
}

/* A rotated loop: open it, build its body, close it. */
struct loop {
    LLVMValueRef counter, end;
    LLVMBasicBlockRef head;
};

static struct loop loop_open(const struct cts_ir *ir, LLVMValueRef begin, LLVMValueRef end)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(ir->builder);
    LLVMValueRef function = LLVMGetBasicBlockParent(before);
    struct loop loop = {.end = end};
    loop.head = LLVMAppendBasicBlockInContext(ir->context, function, "loop");
    LLVMBuildBr(ir->builder, loop.head);
    LLVMPositionBuilderAtEnd(ir->builder, loop.head);
    loop.counter = LLVMBuildPhi(ir->builder, LLVMTypeOf(begin), "");
    LLVMAddIncoming(loop.counter, &begin, &before, 1);
    return loop;
}

static LLVMValueRef loop_close(const struct cts_ir *ir, struct loop *loop)
{
    LLVMBasicBlockRef last = LLVMGetInsertBlock(ir->builder);
    LLVMBasicBlockRef after =
        LLVMAppendBasicBlockInContext(ir->context, LLVMGetBasicBlockParent(last), "next");
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(loop->counter), 1, 0);
    LLVMValueRef next = LLVMBuildNUWAdd(ir->builder, loop->counter, one, "");
    LLVMAddIncoming(loop->counter, &next, &last, 1);
    LLVMValueRef done = LLVMBuildICmp(ir->builder, LLVMIntEQ, next, loop->end, "");
    LLVMValueRef branch = LLVMBuildCondBr(ir->builder, done, after, loop->head);
    LLVMPositionBuilderAtEnd(ir->builder, after);
    return branch;
}

/* ---- the entry points ---- */

static LLVMValueRef make_range(struct entry *entry)
{
    struct cts_ir *const ir = &entry->retarget->ir;
    LLVMTypeRef types[] = {ir->pointer, ir->pointer, ir->i32, ir->i32,
                           ir->i32,     ir->i32,     ir->i32, ir->i32};
    entry_open(entry, "range", types, 8);
    LLVMAddAttributeAtIndex(entry->function, LLVMAttributeFunctionIndex,
                            cts_ir_attribute(ir, "noinline"));
    load_arguments(entry);
    struct loop loops[3];
    for (int axis = 2; axis >= 0; axis--) {
        const unsigned first = 2 + 2 * (unsigned)axis;
        loops[axis] = loop_open(ir, parameter(entry, first), parameter(entry, first + 1));
        *body_argument(entry, CTS_BODY_TID + (unsigned)axis) = loops[axis].counter;
    }
    store_tid(entry);
    call_body(entry, CTS_VERSION_PLAIN);
    LLVMValueRef group =
        cts_parallel_group(entry->retarget, entry->kernel->body[CTS_VERSION_PLAIN]);
    for (int axis = 0; axis < 3; axis++)
        cts_parallel_loop(entry->retarget, loop_close(ir, &loops[axis]), group);
    LLVMBuildRetVoid(ir->builder);
    return entry->function;
}

static LLVMValueRef make_caller_of_range(struct entry *entry, LLVMValueRef range, bool one_thread)
{
    struct cts_ir *const ir = &entry->retarget->ir;
    LLVMTypeRef types[] = {ir->pointer, ir->pointer};
    entry_open(entry, one_thread ? "thread" : "cta", types, 2);
    LLVMValueRef context = parameter(entry, 1), arguments[8] = {parameter(entry, 0), context};
    for (unsigned axis = 0; axis < 3; axis++) {
        LLVMValueRef begin = cts_u32(ir, 0), end;
        if (one_thread) {
            begin = cts_context_member(entry->retarget, context, axis * sizeof(uint32_t), ir->i32);
            end = LLVMBuildNUWAdd(ir->builder, begin, cts_u32(ir, 1), "");
        } else {
            end = cts_context_member(
                entry->retarget, context,
                offsetof(struct cts_thread_context, ntid) + axis * sizeof(uint32_t), ir->i32);
        }
        arguments[2 + 2 * axis] = begin;
        arguments[3 + 2 * axis] = end;
    }
    LLVMBuildCall2(ir->builder, LLVMGlobalGetValueType(range), range, arguments, 8, "");
    LLVMBuildRetVoid(ir->builder);
    return entry->function;
}

static LLVMValueRef make_once(struct entry *entry, const char *suffix,
                              enum cts_function_version version)
{
    struct cts_ir *const ir = &entry->retarget->ir;
    LLVMTypeRef types[] = {ir->pointer, ir->pointer};
    entry_open(entry, suffix, types, 2);
    if (version == CTS_VERSION_LOG) cts_make_lean(ir, entry->function);
    load_arguments(entry);
    call_body(entry, version);
    LLVMBuildRetVoid(ir->builder);
    return entry->function;
}

/* K.row(args, ctx, x0, y, z, n, lanes). The lane loop stands twice, once for a whole row of 32,
 * where LLVM knows the number of iterations. */
static LLVMValueRef make_row(struct entry *entry)
{
    struct cts_ir *const ir = &entry->retarget->ir;
    LLVMTypeRef types[] = {ir->pointer, ir->pointer, ir->i32,    ir->i32,
                           ir->i32,     ir->i32,     ir->pointer};
    entry_open(entry, "row_rec", types, 7);
    LLVMAddAttributeAtIndex(entry->function, 7, cts_ir_attribute(ir, "noalias"));
    load_arguments(entry);
    LLVMBasicBlockRef whole = LLVMAppendBasicBlockInContext(ir->context, entry->function, "whole");
    LLVMBasicBlockRef part = LLVMAppendBasicBlockInContext(ir->context, entry->function, "part");
    LLVMValueRef count = LLVMBuildZExt(ir->builder, parameter(entry, 5), ir->i64, "");
    LLVMValueRef is_whole = LLVMBuildICmp(ir->builder, LLVMIntEQ, count, cts_u64(ir, 32), "");
    LLVMBuildCondBr(ir->builder, is_whole, whole, part);
    LLVMValueRef group = cts_parallel_group(entry->retarget, entry->kernel->body[CTS_VERSION_ROW]);
    for (int pass = 0; pass < 2; pass++) {
        LLVMPositionBuilderAtEnd(ir->builder, pass == 0 ? whole : part);
        struct loop loop = loop_open(ir, cts_u64(ir, 0), pass == 0 ? cts_u64(ir, 32) : count);
        LLVMValueRef lane = LLVMBuildTrunc(ir->builder, loop.counter, ir->i32, "");
        *body_argument(entry, CTS_BODY_TID) =
            LLVMBuildNUWAdd(ir->builder, parameter(entry, 2), lane, "");
        *body_argument(entry, CTS_BODY_TID + 1) = parameter(entry, 3);
        *body_argument(entry, CTS_BODY_TID + 2) = parameter(entry, 4);
        *body_argument(entry, CTS_BODY_LANES) = parameter(entry, 6);
        *body_argument(entry, CTS_BODY_LANE) = loop.counter;
        store_tid(entry);
        call_body(entry, CTS_VERSION_ROW);
        cts_parallel_loop(entry->retarget, loop_close(ir, &loop), group);
        LLVMBuildRetVoid(ir->builder);
    }
    return entry->function;
}

static void make_entries(struct entry *entry)
{
    struct cts_retarget_kernel *const kernel = entry->kernel;
    entry->arguments =
        cts_ir_allocate(kernel->parameter_count + CTS_BODY_PARAMETERS, sizeof(LLVMValueRef));
    if (kernel->flags & CTS_KERNEL_FIBERS) {
        kernel->thread = make_once(entry, "thread", CTS_VERSION_PLAIN);
    } else {
        LLVMValueRef range = make_range(entry);
        kernel->cta = make_caller_of_range(entry, range, false);
        kernel->thread = make_caller_of_range(entry, range, true);
    }
    if (kernel->body[CTS_VERSION_ROW]) kernel->row_rec = make_row(entry);
    if (kernel->body[CTS_VERSION_LOG])
        kernel->thread_rec = make_once(entry, "thread_rec", CTS_VERSION_LOG);
    free(entry->arguments);
}

void cts_entries_make(struct cts_retarget *retarget)
{
    LLVMDIBuilderRef debug = open_debug(retarget);
    for (size_t i = 0; i < retarget->kernel_count; i++) {
        struct entry entry = {
            .retarget = retarget, .kernel = &retarget->kernels[i], .debug = debug};
        make_entries(&entry);
    }
    LLVMSetCurrentDebugLocation2(retarget->ir.builder, NULL);
    if (!debug) return;
    LLVMDIBuilderFinalize(debug);
    LLVMDisposeDIBuilder(debug);
}
