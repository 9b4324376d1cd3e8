/* The retarget pass: NVPTX IR with marks becomes host IR, as record/abi.h describes it.
 *
 * Clang reads the bitcode of the first compile as `-x ir`, sets the host's triple and data layout
 * and links what the code uses of the device library; then, before any optimisation, this pass
 *
 *   1. drops what belongs to NVPTX (target attributes, comdats, lists of kept symbols), settles
 *      linkage and floating point (-arithmetic), and refuses what nobody defines;
 *   2. finds the kernels and, per function, the facts that decide how it may run (-facts);
 *   3. lays out shared memory and moves each kernel's blocks into its body (-body);
 *   4. replaces shared variables, special registers and waits by accesses of the context (-shared,
 *      -body);
 *   5. makes the recording versions of functions and turns marks into code (-versions, -marks);
 *   6. makes the kernels' entry points (-entry) and the tables that the file registers (tables.c).
 *
 * Address spaces 1 and 4 need no change: on the host a cast between spaces is free. */
#include "record/instrument/retarget.h"

#include <stdio.h>
#include <stdlib.h>

#include <llvm-c/Comdat.h>

#include "record/instrument/notes-read.h"
#define CTS_NVVM_ABI_NO_PROTOTYPES
#include "record/instrument/nvvm-abi.h"

/* ---- 1. what belongs to NVPTX ---- */

static void delete_global(LLVMModuleRef module, const char *name)
{
    LLVMValueRef global = LLVMGetNamedGlobal(module, name);
    if (global) LLVMDeleteGlobal(global);
}

/* Attributes that speak of the other target, or that yields and log calls make wrong; LLVM infers
 * the latter anew. */
static const char *const function_attributes[] = {
    "memory",     "nosync",       "nofree",   "willreturn", "norecurse",
    "convergent", "speculatable", "noreturn", "optnone",
};
static const char *const string_attributes[] = {"target-cpu", "target-features", "tune-cpu",
                                                "frame-pointer", "nvvm.kernel"};
static const char *const parameter_attributes[] = {"readonly", "writeonly", "readnone",
                                                   "nocapture"};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void strip_function(LLVMValueRef function)
{
    for (size_t i = 0; i < COUNT_OF(string_attributes); i++)
        LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, string_attributes[i],
                                         (unsigned)strlen(string_attributes[i]));
    if (LLVMGetIntrinsicID(function)) return;
    LLVMSetComdat(function, NULL);
    for (size_t i = 0; i < COUNT_OF(function_attributes); i++)
        LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                       cts_ir_attribute_kind(function_attributes[i]));
    for (unsigned p = 1; p <= LLVMCountParams(function); p++)
        for (size_t i = 0; i < COUNT_OF(parameter_attributes); i++)
            LLVMRemoveEnumAttributeAtIndex(function, p,
                                           cts_ir_attribute_kind(parameter_attributes[i]));
}

static void strip_call(LLVMValueRef call)
{
    LLVMValueRef callee = cts_called_function(call);
    if (callee && LLVMGetIntrinsicID(callee)) return;
    for (size_t i = 0; i < COUNT_OF(function_attributes); i++)
        LLVMRemoveCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex,
                                        cts_ir_attribute_kind(function_attributes[i]));
    for (unsigned p = 1; p <= LLVMGetNumArgOperands(call); p++)
        for (size_t i = 0; i < COUNT_OF(parameter_attributes); i++)
            LLVMRemoveCallSiteEnumAttribute(call, p,
                                            cts_ir_attribute_kind(parameter_attributes[i]));
}

/* Unless the program is to be debugged, lines are all that is left to want: descriptions of
 * variables only slow the second compile down. */
static void drop_debug_variables(LLVMModuleRef module)
{
    const char *const wanted = getenv("CTS_DEBUG");
    if (wanted && strcmp(wanted, "1") == 0) return;
    const LLVMBool as_records = LLVMIsNewDbgInfoFormat(module);
    LLVMSetIsNewDbgInfoFormat(module, 0);
    CTS_EACH_FUNCTION(f, module)
    {
        CTS_EACH_INSTRUCTION(i, f)
        {
            LLVMValueRef callee = cts_called_function(i);
            if (callee && cts_starts_with(cts_ir_name(callee), "llvm.dbg."))
                LLVMInstructionEraseFromParent(i);
        }
    }
    LLVMSetIsNewDbgInfoFormat(module, as_records);
}

static void strip_target(struct cts_retarget *retarget)
{
    LLVMModuleRef module = retarget->ir.module;
    delete_global(module, "llvm.used");
    delete_global(module, "llvm.compiler.used");
    delete_global(module, "llvm.global.annotations");
    CTS_EACH_FUNCTION(f, module)
    {
        strip_function(f);
        CTS_EACH_INSTRUCTION(i, f)
        if (cts_is_call(i)) strip_call(i);
    }
    CTS_EACH_GLOBAL(g, module) LLVMSetComdat(g, NULL);
}

/* ---- linkage ---- */

static void rename_with(LLVMValueRef value, const char *prefix)
{
    char *const name = cts_ir_text("%s%s", prefix, cts_ir_name(value));
    LLVMSetValueName2(value, name, strlen(name));
    free(name);
}

static bool is_local(LLVMValueRef value)
{
    const LLVMLinkage linkage = LLVMGetLinkage(value);
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

static void make_internal(LLVMValueRef value)
{
    LLVMSetVisibility(value, LLVMDefaultVisibility);
    LLVMSetLinkage(value, LLVMInternalLinkage);
}

static LLVMValueRef first_call(LLVMValueRef function)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
        if (LLVMIsAInstruction(LLVMGetUser(use))) return LLVMGetUser(use);
    return NULL;
}

static bool engine_provides(const char *name)
{
    static const char *const names[] = {
#define CTS_NAME(result, function, parameters, waits) #function,
        CTS_ENGINE_FUNCTIONS(CTS_NAME)
#undef CTS_NAME
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i], name) == 0) return true;
    return strcmp(name, CTS_DYNAMIC_SHARED_REGISTER) == 0;
}

static void check_undefined(struct cts_retarget *retarget, LLVMValueRef function)
{
    const char *const name = cts_ir_name(function);
    if (LLVMGetIntrinsicID(function) || !LLVMGetFirstUse(function)) return;
    if (cts_starts_with(name, "__ctsdev_") && !retarget->separate_units) {
        char *const shown = cts_demangle(name + strlen("__ctsdev_"));
        cts_ir_error(&retarget->ir, first_call(function),
                     "unresolved device function '%s' (-rdc=true lets translation units share "
                     "device code)",
                     shown);
        free(shown);
    } else if (cts_starts_with(name, "__nv_") ||
               (cts_starts_with(name, "__cts_nvvm_") && !engine_provides(name))) {
        cts_ir_error(&retarget->ir, first_call(function), "'%s' is not supported on the CPU device",
                     cts_starts_with(name, "__nv_") ? name : name + strlen("__cts_nvvm_"));
    }
}

static void settle_variable(struct cts_retarget *retarget, LLVMValueRef global)
{
    const unsigned space = cts_address_space(global);
    const char *const name = cts_ir_name(global);
    if (space == 3 || is_local(global)) return;
    if (cts_starts_with(name, "llvm.") || cts_starts_with(name, "__cts")) return;
    if (cts_starts_with(name, "cts.managed.")) return;
    LLVMSetGlobalConstant(global, LLVMIsGlobalConstant(global) && space == 0);
    if (retarget->separate_units) {
        rename_with(global, "__ctsdev_");
    } else if (!LLVMIsDeclaration(global)) {
        make_internal(global);
    } else if (LLVMGetFirstUse(global) && space != 0) {
        cts_ir_error(&retarget->ir, first_call(global),
                     "unresolved device variable '%s' (-rdc=true lets translation units share "
                     "device code)",
                     name);
    }
}

static void settle_linkage(struct cts_retarget *retarget)
{
    CTS_EACH_FUNCTION(f, retarget->ir.module)
    {
        if (LLVMIsDeclaration(f))
            check_undefined(retarget, f);
        else if (!is_local(f) &&
                 !(retarget->separate_units && cts_starts_with(cts_ir_name(f), "__ctsdev_")))
            make_internal(f);
    }
    CTS_EACH_GLOBAL(g, retarget->ir.module) settle_variable(retarget, g);
}

/* ---- 2. kernels ---- */

static struct cts_retarget_kernel *kernel_of(struct cts_retarget *retarget, LLVMValueRef function)
{
    for (size_t i = 0; i < retarget->kernel_count; i++)
        if (retarget->kernels[i].shell == function) return &retarget->kernels[i];
    retarget->kernels = cts_ir_grow(retarget->kernels, &retarget->kernel_capacity,
                                    retarget->kernel_count + 1, sizeof *retarget->kernels);
    struct cts_retarget_kernel *const kernel = &retarget->kernels[retarget->kernel_count++];
    *kernel = (struct cts_retarget_kernel){.shell = function,
                                           .name = cts_ir_text("%s", cts_ir_name(function))};
    return kernel;
}

static void read_annotation(struct cts_retarget_kernel *kernel, const char *key, uint32_t value)
{
    if (cts_starts_with(key, "maxntid"))
        kernel->max_threads = (kernel->max_threads ? kernel->max_threads : 1) * value;
    else if (strcmp(key, "minctasm") == 0)
        kernel->min_ctas = value;
}

static bool node_has(LLVMValueRef *operands, unsigned count, const char *key)
{
    for (unsigned i = 1; i + 1 < count; i += 2) {
        unsigned length;
        const char *const text = operands[i] ? LLVMGetMDString(operands[i], &length) : NULL;
        if (text && strlen(key) == length && memcmp(text, key, length) == 0) return true;
    }
    return false;
}

static void read_node(struct cts_retarget *retarget, LLVMValueRef *operands, unsigned count,
                      bool kernels)
{
    if (count < 3 || !operands[0] || !LLVMIsAFunction(operands[0]) ||
        LLVMIsDeclaration(operands[0]))
        return;
    if (kernels) {
        if (node_has(operands, count, "kernel")) kernel_of(retarget, operands[0]);
        return;
    }
    struct cts_retarget_kernel *const kernel = kernel_of(retarget, operands[0]);
    for (unsigned i = 1; i + 1 < count; i += 2) {
        unsigned length;
        const char *const text = operands[i] ? LLVMGetMDString(operands[i], &length) : NULL;
        if (!text || !operands[i + 1] || !LLVMIsAConstantInt(operands[i + 1])) continue;
        char key[32];
        snprintf(key, sizeof key, "%.*s", (int)length, text);
        read_annotation(kernel, key, (uint32_t)LLVMConstIntGetZExtValue(operands[i + 1]));
    }
}

static void find_kernels(struct cts_retarget *retarget)
{
    LLVMModuleRef module = retarget->ir.module;
    const unsigned node_count = LLVMGetNamedMetadataNumOperands(module, "nvvm.annotations");
    LLVMValueRef *const nodes = cts_ir_allocate(node_count, sizeof *nodes);
    LLVMGetNamedMetadataOperands(module, "nvvm.annotations", nodes);
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < node_count; i++) {
            const unsigned count = LLVMGetMDNodeNumOperands(nodes[i]);
            LLVMValueRef *const operands = cts_ir_allocate(count, sizeof *operands);
            LLVMGetMDNodeOperands(nodes[i], operands);
            read_node(retarget, operands, count, pass == 0);
            free(operands);
        }
    }
    free(nodes);
}

static void settle_kernels(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->kernel_count; i++) {
        struct cts_retarget_kernel *const kernel = &retarget->kernels[i];
        kernel->flags = cts_tables_kernel_flags(retarget, kernel->name);
        if (kernel->facts->waits_for) kernel->flags |= CTS_KERNEL_FIBERS;
        if (kernel->facts->grid_sync) kernel->flags |= CTS_KERNEL_GRID_SYNC;
        if (LLVMGetFirstUse(kernel->shell))
            cts_ir_error(&retarget->ir, first_call(kernel->shell),
                         "a kernel that is launched or named by device code is not supported on "
                         "the CPU device");
    }
}

/* ---- the whole ---- */

static void rewrite_functions(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->facts_count; i++) {
        LLVMValueRef function = retarget->facts[i]->function;
        cts_waits_rewrite(retarget, function);
        cts_shared_rewrite(retarget, function);
        cts_registers_rewrite(retarget, function);
    }
}

/* What LLVM may do to a call at which threads wait for each other: only what leaves the branches
 * around it as they are. `convergent` says so to the passes over IR,
 * `nomerge` to the code generator. */
static void pin_function(const struct cts_ir *ir, LLVMValueRef function)
{
    static const char *const pins[] = {"convergent", "nomerge"};
    for (size_t i = 0; i < COUNT_OF(pins); i++)
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                cts_ir_attribute(ir, pins[i]));
}

static void pin_indirect_calls(const struct cts_ir *ir, LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (!cts_is_call(i) || LLVMIsAFunction(LLVMGetCalledValue(i))) continue;
        if (LLVMIsAInlineAsm(LLVMGetCalledValue(i))) continue;
        LLVMAddCallSiteAttribute(i, LLVMAttributeFunctionIndex, cts_ir_attribute(ir, "convergent"));
        LLVMAddCallSiteAttribute(i, LLVMAttributeFunctionIndex, cts_ir_attribute(ir, "nomerge"));
    }
}

/* Functions that wait, before they are copied. */
static void pin_waiting_functions(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->facts_count; i++) {
        const struct cts_facts *const facts = retarget->facts[i];
        if (!facts->waits_for) continue;
        if (!facts->is_kernel) pin_function(&retarget->ir, facts->function);
        pin_indirect_calls(&retarget->ir, facts->function);
    }
}

/* Undefined functions that wait. A full log is nothing that other threads know of. */
static void pin_waits(struct cts_retarget *retarget)
{
    CTS_EACH_FUNCTION(f, retarget->ir.module)
    if (LLVMIsDeclaration(f) && cts_external_waits(cts_ir_name(f)) &&
        !cts_starts_with(cts_ir_name(f), "__cts_log_"))
        pin_function(&retarget->ir, f);
}

static void delete_leftovers(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->kernel_count; i++) {
        LLVMValueRef shell = retarget->kernels[i].shell;
        LLVMReplaceAllUsesWith(shell, LLVMGetPoison(LLVMTypeOf(shell)));
        LLVMDeleteFunction(shell);
    }
    for (size_t i = 0; i < retarget->shared_count; i++)
        if (!LLVMGetFirstUse(retarget->shared[i].global))
            LLVMDeleteGlobal(retarget->shared[i].global);
    CTS_EACH_FUNCTION(f, retarget->ir.module)
    if (LLVMIsDeclaration(f) && !LLVMGetFirstUse(f) &&
        (cts_is_mark(f) || cts_starts_with(cts_ir_name(f), "llvm.nvvm.")))
        LLVMDeleteFunction(f);
}

/* After an error clang still generates code before it gives up; leave nothing that it would choke
 * on. */
static void empty_functions(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    CTS_EACH_FUNCTION(f, module)
    {
        CTS_EACH_INSTRUCTION(i, f)
        if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind)
            LLVMReplaceAllUsesWith(i, LLVMGetPoison(LLVMTypeOf(i)));
        CTS_EACH_INSTRUCTION(i, f) LLVMInstructionEraseFromParent(i);
        CTS_EACH_BLOCK(block, f)
        {
            LLVMPositionBuilderAtEnd(builder, block);
            LLVMBuildUnreachable(builder);
        }
    }
    LLVMDisposeBuilder(builder);
}

static void declare_current(struct cts_retarget *retarget)
{
    LLVMValueRef current = LLVMGetNamedGlobal(retarget->ir.module, "__cts_current");
    if (!current)
        current = LLVMAddGlobal(retarget->ir.module, retarget->ir.pointer, "__cts_current");
    LLVMSetThreadLocalMode(current, LLVMInitialExecTLSModel);
    retarget->current = current;
}

static void retarget_release(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->kernel_count; i++) {
        free(retarget->kernels[i].name);
        free(retarget->kernels[i].alignments);
    }
    free(retarget->tests);
    free(retarget->kernels);
    cts_facts_release(retarget);
    cts_map_release(&retarget->kernel_of_body);
    free(retarget->shared);
    cts_ir_release(&retarget->ir);
}

int cts_retarget_pass(LLVMModuleRef module)
{
    struct cts_retarget retarget = {0};
    cts_ir_init(&retarget.ir, module);
    const char *const unit = getenv("CTS_TU"), *const separate = getenv("CTS_RDC");
    retarget.unit = unit ? unit : LLVMGetModuleIdentifier(module, &(size_t){0});
    retarget.separate_units = separate && strcmp(separate, "1") == 0;
    retarget.values = (cts_notes_file_flags(retarget.ir.module) & CTS_FILE_VALUES) != 0;
    drop_debug_variables(module);
    cts_keep_users_lines(module); /* for the text of faults */
    strip_target(&retarget);
    settle_linkage(&retarget);
    cts_arithmetic_settle(&retarget);
    find_kernels(&retarget);
    cts_facts_find(&retarget);
    settle_kernels(&retarget);
    if (!retarget.ir.failed) {
        declare_current(&retarget);
        retarget.slot_base = cts_tables_slot_base(&retarget);
        cts_shared_layout(&retarget);
        cts_alignment_find(&retarget);
        cts_bodies_make(&retarget);
        rewrite_functions(&retarget);
        cts_alignment_test(&retarget);
        pin_waiting_functions(&retarget);
        cts_versions_make(&retarget);
        cts_entries_make(&retarget);
        cts_tables_make(&retarget);
        pin_waits(&retarget);
        delete_leftovers(&retarget);
    }
    if (retarget.ir.failed) empty_functions(module);
    retarget_release(&retarget);
    return 1;
}
