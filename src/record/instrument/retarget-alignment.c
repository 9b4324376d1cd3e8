/* Misaligned accesses are errors on a GPU; the host's processor lets them pass, mostly. So each
 * access whose alignment cannot be shown is tested, at no cost where that matters:
 *
 *   shown        from the pointer's origin and all strides on the way: a variable's own alignment,
 *                multiples of the element's size;
 *   parameters   an access that is aligned if a pointer among the kernel's parameters (also one in
 *                a struct that is only read) is aligned: the runtime tests the parameters of each
 *                launch, once (cts_alignment_desc). A launch that fails the test runs the log
 *                version, which tests these accesses too;
 *   the rest     pointers read from memory, offsets in bytes, arguments of functions: tested at the
 *                access, in all versions.
 *
 * The analysis comes before shared variables and parameters are rewritten, the tests after. */
#include "record/instrument/retarget.h"

#include <stdlib.h>

#define TEST           "cts.test_alignment"
#define TEST_PARAMETER "cts.test_alignment_of_parameter"

enum origin { SHOWN, OF_PARAMETER, UNKNOWN };

struct search {
    struct cts_retarget *retarget;
    LLVMValueRef function;
    struct cts_retarget_kernel *kernel; /* NULL: no kernel, or one without a log version */
    uint64_t align_bytes;
    struct cts_ir_map seen;
    struct cts_alignment_desc found[16];
    unsigned found_count;
};

static enum origin worse(enum origin a, enum origin b)
{
    return a > b ? a : b;
}

/* ---- multiples ---- */

/* Is an integer a multiple of a power of two, as far as its own arithmetic shows? */
static bool is_multiple(LLVMValueRef value, uint64_t of, unsigned depth)
{
    if (of <= 1) return true;
    if (LLVMIsAConstantInt(value)) return LLVMConstIntGetZExtValue(value) % of == 0;
    if (depth == 0 || !LLVMIsAInstruction(value)) return false;
    LLVMValueRef a = LLVMGetNumOperands(value) > 0 ? LLVMGetOperand(value, 0) : NULL;
    LLVMValueRef b = LLVMGetNumOperands(value) > 1 ? LLVMGetOperand(value, 1) : NULL;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
        return is_multiple(a, of, depth - 1);
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMXor:
        return is_multiple(a, of, depth - 1) && is_multiple(b, of, depth - 1);
    case LLVMAnd:
    case LLVMMul:
        return is_multiple(a, of, depth - 1) || is_multiple(b, of, depth - 1);
    case LLVMShl:
        return LLVMIsAConstantInt(b) && LLVMConstIntGetZExtValue(b) < 63 &&
               ((uint64_t)1 << LLVMConstIntGetZExtValue(b)) % of == 0;
    case LLVMSelect:
        return is_multiple(b, of, depth - 1) &&
               is_multiple(LLVMGetOperand(value, 2), of, depth - 1);
    default:
        return false;
    }
}

/* Is index * stride one? */
static bool is_scaled_multiple(LLVMValueRef index, uint64_t stride_bytes, uint64_t of)
{
    const uint64_t of_stride = stride_bytes & -stride_bytes; /* its power of two */
    return stride_bytes == 0 || is_multiple(index, of_stride >= of ? 1 : of / of_stride, 6);
}

/* Does a GEP add a multiple? Constant offsets of structs may add up to one. */
static bool adds_multiple(const struct search *search, LLVMValueRef gep)
{
    LLVMTargetDataRef layout = search->retarget->ir.layout;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    uint64_t constant_bytes = 0;
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (LLVMGetTypeKind(LLVMTypeOf(index)) == LLVMVectorTypeKind) return false;
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            const unsigned member = (unsigned)LLVMConstIntGetZExtValue(index);
            constant_bytes += LLVMOffsetOfElement(layout, type, member);
            type = LLVMStructGetTypeAtIndex(type, member);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        const uint64_t stride_bytes = LLVMABISizeOfType(layout, type);
        if (LLVMIsAConstantInt(index))
            constant_bytes += (uint64_t)LLVMConstIntGetSExtValue(index) * stride_bytes;
        else if (!is_scaled_multiple(index, stride_bytes, search->align_bytes))
            return false;
    }
    return constant_bytes % search->align_bytes == 0;
}

/* ---- origins ---- */

static int parameter_index(const struct search *search, LLVMValueRef value)
{
    if (!search->kernel || !LLVMIsAArgument(value)) return -1;
    for (unsigned i = 0; i < LLVMCountParams(search->function); i++)
        if (LLVMGetParam(search->function, i) == value) return (int)i;
    return -1;
}

static enum origin require(struct search *search, int parameter, uint32_t offset_bytes)
{
    if (search->found_count == sizeof search->found / sizeof search->found[0]) return UNKNOWN;
    search->found[search->found_count++] =
        (struct cts_alignment_desc){.parameter = (uint32_t)parameter,
                                    .offset_bytes = offset_bytes,
                                    .align_bytes = (uint32_t)search->align_bytes};
    return OF_PARAMETER;
}

static enum origin of_argument(struct search *search, LLVMValueRef value)
{
    const int index = parameter_index(search, value);
    if (index < 0) return UNKNOWN;
    const unsigned place = (unsigned)index + 1;
    if (!LLVMGetEnumAttributeAtIndex(search->function, place, cts_ir_attribute_kind("byval")))
        return require(search, index, 0);
    LLVMAttributeRef align =
        LLVMGetEnumAttributeAtIndex(search->function, place, cts_ir_attribute_kind("align"));
    return align && LLVMGetEnumAttributeValue(align) >= search->align_bytes ? SHOWN : UNKNOWN;
}

/* A pointer that is read from a parameter that is a struct. */
static enum origin of_load(struct search *search, LLVMValueRef load)
{
    uint64_t offset_bytes = 0;
    LLVMValueRef at = LLVMGetOperand(load, 0);
    while (!LLVMIsAArgument(at)) {
        if (LLVMIsAAddrSpaceCastInst(at)) {
            at = LLVMGetOperand(at, 0);
            continue;
        }
        if (!LLVMIsAGetElementPtrInst(at) || LLVMGetNumOperands(at) != 2) return UNKNOWN;
        LLVMValueRef index = LLVMGetOperand(at, 1);
        if (!LLVMIsAConstantInt(index)) return UNKNOWN;
        offset_bytes +=
            LLVMConstIntGetZExtValue(index) *
            LLVMABISizeOfType(search->retarget->ir.layout, LLVMGetGEPSourceElementType(at));
        at = LLVMGetOperand(at, 0);
    }
    const int index = parameter_index(search, at);
    if (index < 0 || offset_bytes >= UINT16_MAX || !cts_is_only_read(at, 32) ||
        !LLVMGetEnumAttributeAtIndex(search->function, (unsigned)index + 1,
                                     cts_ir_attribute_kind("byval")))
        return UNKNOWN;
    return require(search, index, (uint32_t)offset_bytes + 1);
}

static enum origin of_global(const struct search *search, LLVMValueRef global)
{
    enum { DYNAMIC_SHARED_ALIGN_BYTES = 16 };
    const struct cts_shared_variable *const shared = cts_shared_find(search->retarget, global);
    uint64_t align_bytes = LLVMGetAlignment(global);
    if (shared) align_bytes = DYNAMIC_SHARED_ALIGN_BYTES;
    if (shared && !shared->is_dynamic && shared->offset % search->align_bytes == 0) return SHOWN;
    return align_bytes >= search->align_bytes ? SHOWN : UNKNOWN;
}

static enum origin origin_of(struct search *search, LLVMValueRef pointer);

static enum origin of_operands(struct search *search, LLVMValueRef value, int first)
{
    enum origin result = SHOWN;
    for (int i = first; i < LLVMGetNumOperands(value) && result != UNKNOWN; i++)
        result = worse(result, origin_of(search, LLVMGetOperand(value, (unsigned)i)));
    return result;
}

static enum origin origin_of(struct search *search, LLVMValueRef pointer)
{
    if (LLVMIsAGlobalVariable(pointer)) return of_global(search, pointer);
    if (LLVMIsAArgument(pointer)) return of_argument(search, pointer);
    const bool is_instruction = LLVMIsAInstruction(pointer) != NULL;
    if (!is_instruction && !LLVMIsAConstantExpr(pointer)) return UNKNOWN;
    void **const slot = cts_map_slot(&search->seen, pointer);
    if (*slot) return SHOWN; /* around a loop: what the other ways say */
    *slot = search;
    switch (is_instruction ? LLVMGetInstructionOpcode(pointer) : LLVMGetConstOpcode(pointer)) {
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMFreeze:
        return origin_of(search, LLVMGetOperand(pointer, 0));
    case LLVMGetElementPtr:
        return adds_multiple(search, pointer) ? origin_of(search, LLVMGetOperand(pointer, 0))
                                              : UNKNOWN;
    case LLVMPHI:
        return of_operands(search, pointer, 0);
    case LLVMSelect:
        return of_operands(search, pointer, 1);
    case LLVMAlloca:
        return LLVMGetAlignment(pointer) >= search->align_bytes ? SHOWN : UNKNOWN;
    case LLVMLoad:
        return of_load(search, pointer);
    default:
        return UNKNOWN;
    }
}

/* ---- the analysis ---- */

/* The alignment that one side of a copy or fill of constant length needs: no single access of it is
 * larger than 16 bytes, or than the whole. */
static uint64_t align_of_copy(LLVMValueRef call, unsigned operand)
{
    enum { LARGEST_BYTES = 16, LENGTH = 2 };
    LLVMValueRef callee = cts_called_function(call);
    if (!cts_is_intrinsic(callee, "llvm.memcpy") && !cts_is_intrinsic(callee, "llvm.memmove") &&
        !(cts_is_intrinsic(callee, "llvm.memset") && operand == 0))
        return 0;
    LLVMValueRef length = LLVMGetOperand(call, LENGTH);
    LLVMAttributeRef align =
        LLVMGetCallSiteEnumAttribute(call, operand + 1, cts_ir_attribute_kind("align"));
    if (!align || !LLVMIsAConstantInt(length)) return 0;
    uint64_t align_bytes = LLVMGetEnumAttributeValue(align);
    if (align_bytes > LARGEST_BYTES) align_bytes = LARGEST_BYTES;
    while (align_bytes > LLVMConstIntGetZExtValue(length)) align_bytes /= 2;
    return align_bytes;
}

/* The alignment of a load or store. A GPU only needs a multiple of the access's own size, whatever
 * the type's declaration promises: a struct of 32-byte alignment may lie at a multiple of 16 if its
 * members are words. The instruction must not promise more to the host's code generator either. */
static uint64_t align_of_access(const struct search *search, LLVMValueRef access, LLVMTypeRef type)
{
    const uint64_t align_bytes = LLVMGetAlignment(access);
    uint64_t least_bytes = 1;
    while (least_bytes < LLVMStoreSizeOfType(search->retarget->ir.layout, type)) least_bytes *= 2;
    if (align_bytes <= least_bytes) return align_bytes;
    LLVMSetAlignment(access, (unsigned)least_bytes);
    return least_bytes;
}

/* The alignment that an instruction needs of its operand, an address; 0 or 1: none. */
static uint64_t align_needed(const struct search *search, LLVMValueRef instruction,
                             unsigned operand)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMStore:
        return operand == 1 ? align_of_access(search, instruction,
                                              LLVMTypeOf(LLVMGetOperand(instruction, 0)))
                            : 0;
    case LLVMLoad:
        return operand == 0 ? align_of_access(search, instruction, LLVMTypeOf(instruction)) : 0;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return operand == 0 ? LLVMGetAlignment(instruction) : 0;
    case LLVMCall:
        return align_of_copy(instruction, operand);
    default:
        return 0;
    }
}

static void add_requirement(struct cts_retarget_kernel *kernel,
                            const struct cts_alignment_desc *requirement)
{
    for (size_t i = 0; i < kernel->alignment_count; i++) {
        struct cts_alignment_desc *const old = &kernel->alignments[i];
        if (old->parameter != requirement->parameter ||
            old->offset_bytes != requirement->offset_bytes)
            continue;
        if (old->align_bytes < requirement->align_bytes)
            old->align_bytes = requirement->align_bytes;
        return;
    }
    kernel->alignments = cts_ir_grow(kernel->alignments, &kernel->alignment_capacity,
                                     kernel->alignment_count + 1, sizeof *kernel->alignments);
    kernel->alignments[kernel->alignment_count++] = *requirement;
}

static void add_test(struct cts_retarget *retarget, struct cts_alignment_test test)
{
    retarget->tests = cts_ir_grow(retarget->tests, &retarget->test_capacity,
                                  retarget->test_count + 1, sizeof *retarget->tests);
    retarget->tests[retarget->test_count++] = test;
}

static void look_at(struct search *search, LLVMValueRef instruction, unsigned operand)
{
    search->align_bytes = align_needed(search, instruction, operand);
    if (search->align_bytes <= 1) return;
    search->found_count = 0;
    const enum origin origin = origin_of(search, LLVMGetOperand(instruction, operand));
    cts_map_release(&search->seen);
    search->seen = (struct cts_ir_map){0};
    if (origin == SHOWN) return;
    for (unsigned i = 0; i < search->found_count && origin == OF_PARAMETER; i++)
        add_requirement(search->kernel, &search->found[i]);
    add_test(search->retarget,
             (struct cts_alignment_test){.instruction = instruction,
                                         .operand = operand,
                                         .align_bytes = (uint32_t)search->align_bytes,
                                         .of_parameter = origin == OF_PARAMETER});
}

static struct cts_retarget_kernel *kernel_with_log(struct cts_retarget *retarget,
                                                   const struct cts_facts *facts)
{
    for (size_t i = 0; i < retarget->kernel_count; i++) {
        struct cts_retarget_kernel *const kernel = &retarget->kernels[i];
        if (kernel->shell == facts->function)
            return facts->marks && !(kernel->flags & CTS_KERNEL_UNINSTRUMENTED) ? kernel : NULL;
    }
    return NULL;
}

void cts_alignment_find(struct cts_retarget *retarget)
{
    for (size_t i = 0; i < retarget->facts_count; i++) {
        struct search search = {.retarget = retarget,
                                .function = retarget->facts[i]->function,
                                .kernel = kernel_with_log(retarget, retarget->facts[i])};
        CTS_EACH_INSTRUCTION(k, search.function)
        for (unsigned operand = 0; operand < 2; operand++) look_at(&search, k, operand);
    }
}

/* ---- the tests ---- */

/* if (address & mask) __cts_misaligned(address, mask + 1); inlined, which splits the block. */
static LLVMValueRef test_function(struct cts_retarget *retarget, const char *name)
{
    struct cts_ir *const ir = &retarget->ir;
    LLVMValueRef function = LLVMGetNamedFunction(ir->module, name);
    if (function) return function;
    LLVMTypeRef types[] = {ir->pointer, ir->i64};
    function = LLVMAddFunction(ir->module, name, LLVMFunctionType(ir->nothing, types, 2, 0));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    static const char *const attributes[] = {"alwaysinline", "nounwind"};
    for (size_t i = 0; i < 2; i++)
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                cts_ir_attribute(ir, attributes[i]));
    LLVMBasicBlockRef blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = LLVMAppendBasicBlockInContext(ir->context, function, "");
    LLVMSetCurrentDebugLocation2(ir->builder, NULL);
    LLVMPositionBuilderAtEnd(ir->builder, blocks[0]);
    LLVMValueRef address = LLVMBuildPtrToInt(ir->builder, LLVMGetParam(function, 0), ir->i64, "");
    LLVMValueRef rest = LLVMBuildAnd(ir->builder, address, LLVMGetParam(function, 1), "");
    LLVMBuildCondBr(ir->builder, LLVMBuildICmp(ir->builder, LLVMIntNE, rest, cts_u64(ir, 0), ""),
                    blocks[1], blocks[2]);
    LLVMPositionBuilderAtEnd(ir->builder, blocks[1]);
    LLVMValueRef arguments[] = {LLVMGetParam(function, 0), LLVMGetParam(function, 1)};
    LLVMValueRef call = cts_ir_call(ir, "__cts_misaligned", ir->nothing, 2, arguments);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, cts_ir_attribute(ir, "cold"));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, cts_ir_attribute(ir, "noreturn"));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, cts_ir_attribute(ir, "nomerge"));
    LLVMBuildUnreachable(ir->builder);
    LLVMPositionBuilderAtEnd(ir->builder, blocks[2]);
    LLVMBuildRetVoid(ir->builder);
    return function;
}

void cts_alignment_test(struct cts_retarget *retarget)
{
    struct cts_ir *const ir = &retarget->ir;
    if (!retarget->test_count) return;
    LLVMValueRef functions[] = {test_function(retarget, TEST),
                                test_function(retarget, TEST_PARAMETER)};
    for (size_t i = 0; i < retarget->test_count; i++) {
        const struct cts_alignment_test *const test = &retarget->tests[i];
        LLVMValueRef function = functions[test->of_parameter];
        LLVMPositionBuilderBefore(ir->builder, test->instruction);
        LLVMValueRef arguments[] = {
            cts_generic(ir, LLVMGetOperand(test->instruction, test->operand)),
            cts_u64(ir, test->align_bytes - 1)};
        LLVMBuildCall2(ir->builder, LLVMGlobalGetValueType(function), function, arguments, 2, "");
    }
}

bool cts_is_alignment_test(LLVMValueRef function)
{
    return function && cts_starts_with(cts_ir_name(function), TEST);
}

void cts_alignment_drop(LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        LLVMValueRef callee = cts_called_function(i);
        if (callee && strcmp(cts_ir_name(callee), TEST_PARAMETER) == 0)
            LLVMInstructionEraseFromParent(i);
    }
}
