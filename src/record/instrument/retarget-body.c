/* A kernel's body: its blocks move into a function that has, behind the kernel's parameters, the
 * special registers, the context, the shared windows and the lane buffer as parameters, and that is
 * always inlined into the entry points (retarget-entry.c). So tid.x is the variable of a loop that
 * LLVM sees and may vectorise.
 *
 * Other device functions find their thread through the thread-local __cts_current. */
#include "record/instrument/retarget.h"

#include <stdlib.h>

#define CTS_NVVM_ABI_NO_PROTOTYPES
#include "record/instrument/nvvm-abi.h"

static LLVMTypeRef body_type(const struct cts_ir *ir, struct cts_retarget_kernel *kernel)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(kernel->shell);
    const unsigned own = kernel->parameter_count = LLVMCountParamTypes(type);
    LLVMTypeRef *const types = cts_ir_allocate(own + CTS_BODY_PARAMETERS, sizeof *types);
    LLVMGetParamTypes(type, types);
    for (unsigned i = CTS_BODY_TID; i < CTS_BODY_CONTEXT; i++) types[own + i] = ir->i32;
    for (unsigned i = CTS_BODY_CONTEXT; i < CTS_BODY_LANE; i++) types[own + i] = ir->pointer;
    types[own + CTS_BODY_LANE] = ir->i64;
    LLVMTypeRef result = LLVMFunctionType(ir->nothing, types, own + CTS_BODY_PARAMETERS, 0);
    free(types);
    return result;
}

/* Is the argument only read? Then threads need no copy of their own. */
bool cts_is_only_read(LLVMValueRef value, unsigned depth)
{
    if (depth == 0) return false;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsALoadInst(user) && !LLVMGetVolatile(user)) continue;
        if (LLVMIsACallInst(user) && cts_is_mark(cts_called_function(user))) continue;
        if (!LLVMIsAGetElementPtrInst(user) && !LLVMIsAAddrSpaceCastInst(user)) return false;
        if (!cts_is_only_read(user, depth - 1)) return false;
    }
    return true;
}

static void remove_attribute(LLVMValueRef function, unsigned index, const char *name)
{
    LLVMRemoveEnumAttributeAtIndex(function, index, cts_ir_attribute_kind(name));
}

static void share_read_only_structs(const struct cts_ir *ir, struct cts_retarget_kernel *kernel,
                                    LLVMValueRef body)
{
    for (unsigned i = 0; i < kernel->parameter_count; i++) {
        if (!LLVMGetEnumAttributeAtIndex(body, i + 1, cts_ir_attribute_kind("byval"))) continue;
        if (!cts_is_only_read(LLVMGetParam(body, i), 32)) continue;
        remove_attribute(body, i + 1, "byval");
        LLVMAddAttributeAtIndex(body, i + 1, cts_ir_attribute(ir, "readonly"));
        LLVMAddAttributeAtIndex(body, i + 1, cts_ir_attribute(ir, "noalias"));
        LLVMAddAttributeAtIndex(body, i + 1, cts_ir_attribute(ir, "nocapture"));
    }
}

static void move_blocks(LLVMValueRef from, LLVMValueRef to)
{
    LLVMBasicBlockRef block;
    while ((block = LLVMGetFirstBasicBlock(from))) {
        LLVMRemoveBasicBlockFromParent(block);
        LLVMAppendExistingBasicBlock(to, block);
    }
}

static void make_body(struct cts_retarget *retarget, struct cts_retarget_kernel *kernel)
{
    struct cts_ir *const ir = &retarget->ir;
    kernel->body_type = body_type(ir, kernel);
    char *const name = cts_ir_text("%s.body", kernel->name);
    LLVMValueRef body = LLVMAddFunction(ir->module, name, kernel->body_type);
    free(name);
    LLVMSetLinkage(body, LLVMInternalLinkage);
    move_blocks(kernel->shell, body);
    for (unsigned i = 0; i < kernel->parameter_count; i++)
        LLVMReplaceAllUsesWith(LLVMGetParam(kernel->shell, i), LLVMGetParam(body, i));
    cts_copy_attributes(kernel->shell, body, kernel->parameter_count);
    LLVMMetadataRef subprogram = LLVMGetSubprogram(kernel->shell);
    if (subprogram) {
        LLVMSetSubprogram(body, subprogram);
        LLVMSetSubprogram(kernel->shell, NULL);
    }
    LLVMAddAttributeAtIndex(body, LLVMAttributeFunctionIndex, cts_ir_attribute(ir, "alwaysinline"));
    LLVMAddAttributeAtIndex(body, kernel->parameter_count + CTS_BODY_LANES + 1,
                            cts_ir_attribute(ir, "noalias"));
    share_read_only_structs(ir, kernel, body);
    kernel->body[CTS_VERSION_PLAIN] = body;
    kernel->facts->function = body;
    *cts_map_slot(&retarget->kernel_of_body, body) = kernel;
    *cts_map_slot(&retarget->facts_of, body) = kernel->facts;
}

void cts_bodies_make(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->kernel_count; i++) make_body(retarget, &retarget->kernels[i]);
}

/* ---- special registers ---- */

/* tid.x is 0, tid.y 1, ... nctaid.z 11: their order in a body's parameters and in the context. */
static int register_index(const char *name)
{
    static const char *const groups[] = {"tid.", "ntid.", "ctaid.", "nctaid."};
    if (!cts_starts_with(name, "llvm.nvvm.read.ptx.sreg.")) return -1;
    name += strlen("llvm.nvvm.read.ptx.sreg.");
    for (int group = 0; group < 4; group++) {
        const size_t length = strlen(groups[group]);
        if (strncmp(name, groups[group], length) != 0) continue;
        const char axis = name[length];
        if (axis >= 'x' && axis <= 'z' && name[length + 1] == '\0') return group * 3 + (axis - 'x');
    }
    return -1;
}

_Static_assert(offsetof(struct cts_thread_context, tid) == 0 &&
                   offsetof(struct cts_thread_context, ntid) == 12 &&
                   offsetof(struct cts_thread_context, ctaid) == 24 &&
                   offsetof(struct cts_thread_context, nctaid) == 36,
               "special registers lie in the context in the order of register_index()");

/* The value of the register that `callee` reads, or NULL when it is none of those. */
static LLVMValueRef register_value(struct cts_retarget *retarget, LLVMValueRef function,
                                   LLVMValueRef callee)
{
    const struct cts_retarget_kernel *const kernel =
        cts_map_get(&retarget->kernel_of_body, function);
    const char *const name = cts_ir_name(callee);
    size_t offset_bytes = offsetof(struct cts_thread_context, dynamic_shared_bytes);
    if (strcmp(name, CTS_DYNAMIC_SHARED_REGISTER) != 0) {
        const int index = register_index(name);
        if (index < 0) return NULL;
        if (kernel) return LLVMGetParam(function, kernel->parameter_count + (unsigned)index);
        offset_bytes = (size_t)index * sizeof(uint32_t);
    }
    return cts_context_member(retarget, cts_context_of(retarget, function), offset_bytes,
                              retarget->ir.i32);
}

void cts_registers_rewrite(struct cts_retarget *retarget, LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        LLVMValueRef callee = cts_called_function(i);
        if (!callee) continue;
        LLVMPositionBuilderBefore(retarget->ir.builder, i);
        LLVMValueRef value = register_value(retarget, function, callee);
        if (!value) continue;
        LLVMReplaceAllUsesWith(i, value);
        LLVMInstructionEraseFromParent(i);
    }
}

/* ---- waits ---- */

/* Before the marks of the access, too: it takes place after what the others do meanwhile, and is
 * logged there. */
static void yield_before(struct cts_retarget *retarget, LLVMValueRef function,
                         LLVMValueRef instruction)
{
    LLVMValueRef first = instruction;
    for (LLVMValueRef i = LLVMGetPreviousInstruction(instruction);
         i && LLVMIsACallInst(i) && (cts_is_mark(cts_called_function(i)) || cts_is_order(i));
         i = LLVMGetPreviousInstruction(i))
        first = i;
    LLVMPositionBuilderBefore(retarget->ir.builder, first);
    LLVMValueRef context = cts_context_of(retarget, function);
    cts_ir_call(&retarget->ir, "__cts_yield", retarget->ir.nothing, 1, &context);
}

static void catch_up_before(struct cts_retarget *retarget, LLVMValueRef function,
                            LLVMValueRef instruction, uint32_t place)
{
    LLVMPositionBuilderBefore(retarget->ir.builder, instruction);
    LLVMValueRef arguments[] = {cts_context_of(retarget, function), cts_u32(&retarget->ir, place)};
    cts_ir_call(&retarget->ir, "__cts_catch_up", retarget->ir.nothing, 2, arguments);
}

/* A volatile access lets the other threads go first: with one switch before each, code written for
 * warps in lockstep (a reduction without __syncwarp) sees what it expects. */
void cts_waits_rewrite(struct cts_retarget *retarget, LLVMValueRef function)
{
    LLVMValueRef *spins;
    LLVMValueRef *places;
    const size_t spin_count = cts_find_spins(function, &spins);
    const size_t place_count = cts_find_lockstep(retarget, function, &places);
    for (size_t i = 0; i < spin_count; i++)
        if (!cts_is_shared_volatile(spins[i])) yield_before(retarget, function, spins[i]);
    free(spins);
    for (size_t i = 0; i < place_count; i++)
        catch_up_before(retarget, function, places[i], (uint32_t)i);
    free(places);
    CTS_EACH_INSTRUCTION(i, function)
    if (cts_is_shared_volatile(i)) yield_before(retarget, function, i);
}
