/* Floating point is settled before a function gets its versions, so that all of them compute the
 * same bits.
 *
 * A flag on an operation lets LLVM choose among several results: `contract` whether a product and
 * a sum are rounded once or twice, `reassoc` in which order terms are added, `arcp` and `afn` how
 * exact a quotient or a function is. LLVM chooses late (for `contract` in the code generator, block
 * by block), and what it chooses depends on the code around: the marks of a recording version are
 * enough to change it. So the choice is made here, once: a product that only sums use becomes part
 * of them (llvm.fmuladd: one operation where the machine has it, on machines without never), as
 * ptxas has it; then the flags go.
 *
 * The functions of mathematics are computed when the program runs, never by the compiler: its
 * results of sinf(0.5f) and the C library's may differ in the last bit, and one version may know an
 * argument that another does not. (What is left to choose: which of several NaNs is the result.) */
#include "record/instrument/retarget.h"

#include <stdlib.h>

static bool has_flag(LLVMValueRef value, LLVMFastMathFlags flag)
{
    return LLVMCanValueUseFastMathFlags(value) && (LLVMGetFastMathFlags(value) & flag);
}

static bool is_operation(LLVMValueRef value, LLVMOpcode opcode)
{
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode &&
           has_flag(value, LLVMFastMathAllowContract);
}

static bool is_sum(LLVMValueRef value)
{
    return is_operation(value, LLVMFAdd) || is_operation(value, LLVMFSub);
}

/* A product that nothing but sums use: it is not computed on its own any more. */
static bool is_part_of_sums(LLVMValueRef value)
{
    if (!is_operation(value, LLVMFMul)) return false;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (!is_sum(LLVMGetUser(use))) return false;
    return true;
}

static LLVMValueRef multiply_add(struct cts_ir *ir, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z)
{
    static const char name[] = "llvm.fmuladd";
    LLVMTypeRef type = LLVMTypeOf(x);
    const unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(ir->module, id, &type, 1);
    LLVMValueRef arguments[] = {x, y, z};
    return LLVMBuildCall2(ir->builder, LLVMIntrinsicGetType(ir->context, id, &type, 1), function,
                          arguments, 3, "");
}

static LLVMValueRef negative(const struct cts_ir *ir, LLVMValueRef value)
{
    return LLVMBuildFNeg(ir->builder, value, "");
}

/* x*y + z, z + x*y, x*y - z, z - x*y; of two products the left one. */
static void contract(struct cts_ir *ir, LLVMValueRef sum)
{
    LLVMValueRef left = LLVMGetOperand(sum, 0), right = LLVMGetOperand(sum, 1);
    const bool difference = LLVMGetInstructionOpcode(sum) == LLVMFSub;
    const bool of_left = is_part_of_sums(left);
    if (!of_left && !is_part_of_sums(right)) return;
    LLVMValueRef product = of_left ? left : right, term = of_left ? right : left;
    LLVMPositionBuilderBefore(ir->builder, sum);
    LLVMValueRef x = LLVMGetOperand(product, 0), y = LLVMGetOperand(product, 1);
    if (difference && of_left) term = negative(ir, term);
    if (difference && !of_left) x = negative(ir, x);
    LLVMReplaceAllUsesWith(sum, multiply_add(ir, x, y, term));
    LLVMInstructionEraseFromParent(sum);
    if (!LLVMGetFirstUse(product)) LLVMInstructionEraseFromParent(product);
}

/* Intrinsics that the C library computes, and llvm.fmuladd, of which the compiler would work out
 * the fused one on every machine. */
static bool is_inexact_intrinsic(LLVMValueRef function)
{
    static const char *const names[] = {"llvm.fmuladd", "llvm.sin",   "llvm.cos",   "llvm.tan",
                                        "llvm.exp",     "llvm.exp2",  "llvm.exp10", "llvm.log",
                                        "llvm.log2",    "llvm.log10", "llvm.pow",   "llvm.powi"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (cts_is_intrinsic(function, names[i])) return true;
    return false;
}

static bool is_real(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind ||
           kind == LLVMX86_FP80TypeKind || kind == LLVMFP128TypeKind;
}

static void leave_to_run_time(const struct cts_ir *ir, LLVMValueRef call)
{
    LLVMValueRef callee = cts_called_function(call);
    if (!callee || !LLVMIsDeclaration(callee)) return;
    const bool inexact =
        LLVMGetIntrinsicID(callee) ? is_inexact_intrinsic(callee) : is_real(LLVMTypeOf(call));
    if (inexact)
        LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                                 cts_ir_attribute(ir, "nobuiltin"));
}

/* pow(x, 2), which LLVM would make x * x if it knew the function. */
static void square(struct cts_ir *ir, LLVMValueRef call)
{
    LLVMValueRef callee = cts_called_function(call);
    const char *const name = callee ? cts_ir_name(callee) : "";
    LLVMBool inexact;
    if (strcmp(name, "__nv_powf") != 0 && strcmp(name, "__nv_pow") != 0 &&
        strcmp(name, "__nv_fast_powf") != 0)
        return;
    LLVMValueRef x = LLVMGetOperand(call, 0), exponent = LLVMGetOperand(call, 1);
    if (!LLVMIsAConstantFP(exponent) || LLVMConstRealGetDouble(exponent, &inexact) != 2.0) return;
    LLVMPositionBuilderBefore(ir->builder, call);
    LLVMReplaceAllUsesWith(call, LLVMBuildFMul(ir->builder, x, x, ""));
    LLVMInstructionEraseFromParent(call);
}

static void settle_function(struct cts_ir *ir, LLVMValueRef function)
{
    /* The same choices again, as attributes for the code generator. */
    static const char *const loose[] = {"unsafe-fp-math", "no-nans-fp-math", "no-infs-fp-math",
                                        "no-signed-zeros-fp-math", "approx-func-fp-math"};
    for (size_t i = 0; i < sizeof loose / sizeof loose[0]; i++)
        LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, loose[i],
                                         (unsigned)strlen(loose[i]));
    CTS_EACH_INSTRUCTION(i, function)
    if (is_sum(i)) contract(ir, i);
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (LLVMCanValueUseFastMathFlags(i)) LLVMSetFastMathFlags(i, LLVMFastMathNone);
        if (!cts_is_call(i)) continue;
        leave_to_run_time(ir, i);
        square(ir, i);
    }
}

void cts_arithmetic_settle(struct cts_retarget *retarget)
{
    CTS_EACH_FUNCTION(f, retarget->ir.module)
    if (!LLVMIsDeclaration(f)) settle_function(&retarget->ir, f);
}
