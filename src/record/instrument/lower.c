/* The lower pass, for the CPU device: NVPTX IR at the end of the first compile's optimisation loses
 * what only an NVIDIA GPU has.
 *
 *   - Intrinsics that have a meaning in plain IR become it (lower-intrinsics.c): atomics, cached
 *     loads, fences, asynchronous copies, lane and warp numbers. tid, ntid, ctaid and nctaid stay
 *     for the retarget pass.
 *   - Inline PTX is translated (lower-ptx.c) or refused.
 *   - Other llvm.nvvm.A.B become calls of __cts_nvvm_A_B, as nvvm-abi.h says, so that the second
 *     compile links and inlines them from the device library.
 *   - Names are settled: what device code means by malloc is __cts_dev_malloc; functions and
 *     variables of other translation units get the prefix __ctsdev_; with separate translation
 *     units the shared definitions, too; else definitions become internal. So nothing that the
 *     device library or the host defines is mistaken for the program's. */
#include "record/instrument/lower.h"

#include <stdlib.h>

#define CTS_NVVM_ABI_NO_PROTOTYPES
#include "record/instrument/nvvm-abi.h"

/* ---- calls of __cts_nvvm_* ---- */

static unsigned vector_bits(const struct cts_ir *ir, LLVMTypeRef type)
{
    return (unsigned)LLVMSizeOfTypeInBits(ir->layout, type);
}

/* The C type that stands for an IR type (nvvm-abi.h), or NULL when there is none. */
static LLVMTypeRef c_type(const struct cts_ir *ir, LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) <= 32   ? ir->i32
               : LLVMGetIntTypeWidth(type) <= 64 ? ir->i64
                                                 : NULL;
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMVoidTypeKind:
        return type;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
        return ir->i32;
    case LLVMPointerTypeKind:
        return ir->pointer;
    case LLVMVectorTypeKind:
        return vector_bits(ir, type) <= 32 ? ir->i32 : vector_bits(ir, type) == 64 ? ir->i64 : NULL;
    default:
        return NULL;
    }
}

/* Bits of a half or a small vector as an integer of their own width. */
static LLVMTypeRef bits_type(const struct cts_ir *ir, LLVMTypeRef type)
{
    return LLVMIntTypeInContext(ir->context, vector_bits(ir, type));
}

static LLVMValueRef to_c(const struct cts_ir *ir, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        return cts_generic(ir, value);
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMVectorTypeKind:
        value = LLVMBuildBitCast(ir->builder, value, bits_type(ir, type), "");
        return LLVMBuildIntCast2(ir->builder, value, c_type(ir, type), 0, "");
    case LLVMIntegerTypeKind:
        return LLVMBuildIntCast2(ir->builder, value, c_type(ir, type), 0, "");
    default:
        return value;
    }
}

static LLVMValueRef from_c(const struct cts_ir *ir, LLVMValueRef value, LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        return LLVMGetPointerAddressSpace(type)
                   ? LLVMBuildAddrSpaceCast(ir->builder, value, type, "")
                   : value;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMVectorTypeKind:
        value = LLVMBuildIntCast2(ir->builder, value, bits_type(ir, type), 0, "");
        return LLVMBuildBitCast(ir->builder, value, type, "");
    case LLVMIntegerTypeKind:
        return LLVMBuildIntCast2(ir->builder, value, type, 0, "");
    default:
        return value;
    }
}

/* Out-pointers of further result members: locals at the function's entry. */
static LLVMValueRef local_at_entry(const struct cts_ir *ir, LLVMValueRef instruction,
                                   LLVMTypeRef type)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
    LLVMPositionBuilderBefore(ir->builder,
                              LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef local = LLVMBuildAlloca(ir->builder, type, "");
    LLVMPositionBuilderBefore(ir->builder, instruction);
    return local;
}

enum { PARAMETERS_MAX = 16, MEMBERS_MAX = 8 };

struct c_call {
    LLVMTypeRef types[PARAMETERS_MAX];
    LLVMValueRef arguments[PARAMETERS_MAX];
    unsigned count;
    LLVMTypeRef members[MEMBERS_MAX]; /* of a struct result; else one */
    LLVMValueRef locals[MEMBERS_MAX];
    unsigned member_count;
};

static bool c_call_add(struct c_call *call, LLVMTypeRef type, LLVMValueRef argument)
{
    if (!type || call->count == PARAMETERS_MAX) return false;
    call->types[call->count] = type;
    call->arguments[call->count++] = argument;
    return true;
}

static bool c_call_arguments(const struct cts_ir *ir, struct c_call *call, LLVMValueRef instruction)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(instruction); i++) {
        LLVMValueRef argument = LLVMGetOperand(instruction, i);
        if (LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMMetadataTypeKind) return false;
        if (!c_type(ir, LLVMTypeOf(argument))) return false;
        if (!c_call_add(call, c_type(ir, LLVMTypeOf(argument)), to_c(ir, argument))) return false;
    }
    return true;
}

static bool c_call_results(const struct cts_ir *ir, struct c_call *call, LLVMValueRef instruction)
{
    LLVMTypeRef type = LLVMTypeOf(instruction);
    call->member_count = 1;
    call->members[0] = type;
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
        call->member_count = LLVMCountStructElementTypes(type);
        if (call->member_count > MEMBERS_MAX || call->member_count == 0) return false;
        LLVMGetStructElementTypes(type, call->members);
    }
    for (unsigned i = 0; i < call->member_count; i++) {
        if (!c_type(ir, call->members[i])) return false;
        if (i == 0) continue;
        call->locals[i] = local_at_entry(ir, instruction, c_type(ir, call->members[i]));
        if (!c_call_add(call, ir->pointer, call->locals[i])) return false;
    }
    return true;
}

static LLVMValueRef c_call_build(struct cts_ir *ir, struct c_call *call, LLVMValueRef instruction,
                                 const char *name)
{
    LLVMTypeRef type = LLVMFunctionType(c_type(ir, call->members[0]), call->types, call->count, 0);
    LLVMValueRef result = LLVMBuildCall2(ir->builder, type, cts_declare(ir, name, type),
                                         call->arguments, call->count, "");
    LLVMTypeRef result_type = LLVMTypeOf(instruction);
    if (result_type == ir->nothing) return NULL;
    result = from_c(ir, result, call->members[0]);
    if (LLVMGetTypeKind(result_type) != LLVMStructTypeKind) return result;
    LLVMValueRef all = LLVMBuildInsertValue(ir->builder, LLVMGetPoison(result_type), result, 0, "");
    for (unsigned i = 1; i < call->member_count; i++) {
        LLVMValueRef member =
            LLVMBuildLoad2(ir->builder, c_type(ir, call->members[i]), call->locals[i], "");
        all = LLVMBuildInsertValue(ir->builder, all, from_c(ir, member, call->members[i]), i, "");
    }
    return all;
}

/* "llvm.nvvm.A.B.p0" -> "__cts_nvvm_A_B" */
static char *c_name(const char *intrinsic)
{
    char *const name = cts_ir_text("__cts_nvvm_%s", intrinsic + strlen("llvm.nvvm."));
    char *dot = strrchr(name, '.');
    while (dot && dot[1] == 'p' && dot[2] >= '0' && dot[2] <= '9' && !strchr(dot + 2, '.')) {
        *dot = '\0';
        dot = strrchr(name, '.');
    }
    for (char *c = name; *c; c++)
        if (*c == '.') *c = '_';
    return name;
}

static void lower_to_call(struct cts_ir *ir, LLVMValueRef instruction, const char *intrinsic)
{
    struct c_call call = {0};
    LLVMPositionBuilderBefore(ir->builder, instruction);
    if (!c_call_arguments(ir, &call, instruction) || !c_call_results(ir, &call, instruction)) {
        cts_ir_error(ir, instruction, "'%s' is not supported on the CPU device", intrinsic);
        return;
    }
    char *const name = c_name(intrinsic);
    cts_ir_replace(instruction, c_call_build(ir, &call, instruction, name));
    free(name);
}

static void lower_trap(struct cts_ir *ir, LLVMValueRef instruction)
{
    LLVMPositionBuilderBefore(ir->builder, instruction);
    cts_ir_call(ir, "__cts_dev_trap", ir->nothing, 0, NULL);
    LLVMInstructionEraseFromParent(instruction);
}

static void lower_min_max(struct cts_ir *ir, LLVMValueRef instruction, bool is_min)
{
    LLVMValueRef after = LLVMGetNextInstruction(instruction);
    LLVMPositionBuilderBefore(ir->builder, instruction);
    LLVMValueRef copy = LLVMInstructionClone(instruction);
    LLVMInsertIntoBuilder(ir->builder, copy);
    LLVMPositionBuilderBefore(ir->builder, after);
    cts_ir_replace(instruction, cts_lower_zeros(ir, copy, is_min));
}

static void lower_call(struct cts_ir *ir, LLVMValueRef instruction)
{
    LLVMValueRef called = LLVMGetCalledValue(instruction);
    if (LLVMIsAInlineAsm(called)) {
        cts_lower_ptx(ir, instruction);
        return;
    }
    if (!LLVMIsAFunction(called) || !LLVMGetIntrinsicID(called)) return;
    const char *const name = cts_ir_name(called);
    if (strcmp(name, "llvm.trap") == 0)
        lower_trap(ir, instruction);
    else if (cts_is_intrinsic(called, "llvm.minnum") || cts_is_intrinsic(called, "llvm.maxnum"))
        lower_min_max(ir, instruction, cts_is_intrinsic(called, "llvm.minnum"));
    else if (strcmp(name, "llvm.debugtrap") == 0)
        LLVMInstructionEraseFromParent(instruction);
    else if (cts_starts_with(name, "llvm.nvvm.") && !cts_lower_intrinsic(ir, instruction, name))
        lower_to_call(ir, instruction, name);
}

/* ---- names ---- */

static bool is_kept_name(const char *name)
{
    static const char *const libc[] = {"memcpy", "memset", "memmove",
                                       "memcmp", "strlen", "__cxa_pure_virtual"};
    for (size_t i = 0; i < sizeof libc / sizeof libc[0]; i++)
        if (strcmp(name, libc[i]) == 0) return true;
    return cts_starts_with(name, "__nv_") || cts_starts_with(name, "__cts") ||
           cts_starts_with(name, "llvm.");
}

static const char *prefix_of(const char *name)
{
#define CTS_TEST(libc)                                                                             \
    if (strcmp(name, #libc) == 0) return "__cts_dev_";
    CTS_DEVICE_LIBC_NAMES(CTS_TEST)
#undef CTS_TEST
    return is_kept_name(name) ? NULL : "__ctsdev_";
}

static void add_prefix(LLVMValueRef value, const char *prefix)
{
    char *const name = cts_ir_text("%s%s", prefix, cts_ir_name(value));
    LLVMSetValueName2(value, name, strlen(name));
    free(name);
}

/* Kernels are those functions that the module's annotations name. */
static void find_kernels(const struct cts_ir *ir, struct cts_ir_map *kernels)
{
    const unsigned count = LLVMGetNamedMetadataNumOperands(ir->module, "nvvm.annotations");
    LLVMValueRef *const nodes = cts_ir_allocate(count, sizeof *nodes);
    LLVMGetNamedMetadataOperands(ir->module, "nvvm.annotations", nodes);
    for (unsigned i = 0; i < count; i++) {
        const unsigned operand_count = LLVMGetMDNodeNumOperands(nodes[i]);
        LLVMValueRef *const operands = cts_ir_allocate(operand_count, sizeof *operands);
        LLVMGetMDNodeOperands(nodes[i], operands);
        if (operand_count && operands[0] && LLVMIsAFunction(operands[0]))
            *cts_map_slot(kernels, operands[0]) = operands[0];
        free(operands);
    }
    free(nodes);
}

static bool is_local(LLVMValueRef value)
{
    const LLVMLinkage linkage = LLVMGetLinkage(value);
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

static void settle_names(struct cts_ir *ir)
{
    const char *const rdc = getenv("CTS_RDC");
    const bool separate = rdc && strcmp(rdc, "1") == 0;
    struct cts_ir_map kernels = {0};
    find_kernels(ir, &kernels);
    CTS_EACH_FUNCTION(f, ir->module)
    {
        if (LLVMGetIntrinsicID(f) || cts_map_get(&kernels, f) || is_local(f)) continue;
        const char *const prefix = prefix_of(cts_ir_name(f));
        if (LLVMIsDeclaration(f)) {
            if (prefix) add_prefix(f, prefix);
        } else if (separate && prefix && strcmp(prefix, "__ctsdev_") == 0) {
            add_prefix(f, prefix);
        }
    }
    cts_map_release(&kernels);
}

int cts_lower_pass(LLVMModuleRef module)
{
    struct cts_ir ir;
    cts_ir_init(&ir, module);
    settle_names(&ir);
    CTS_EACH_FUNCTION(f, module)
    CTS_EACH_INSTRUCTION(i, f)
    if (cts_is_call(i)) lower_call(&ir, i);
    cts_ir_release(&ir);
    return 1;
}
