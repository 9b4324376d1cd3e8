/* The define pass, for the CPU device: operations whose result C and LLVM leave undefined get the
 * value that PTX, or the hardware behind it, gives them. It runs before any optimisation, since
 * LLVM draws conclusions from what may not happen ("the shift is by less than 32", "the divisor is
 * not 0") that are wrong on a GPU, where it does happen and has a result.
 *
 * - x << n, x >> n: PTX clamps. By the width and beyond the result is 0, or the sign.
 * - (int)x: PTX saturates. NaN becomes 0, or the top bit alone where 64 bits take part. For 8 and
 * 16 bits nvcc converts to 32 bits and cuts.
 * - x / 0, x % 0: PTX calls it machine-specific. Division is a routine of ptxas' whose last
 *   instruction selects all ones. For 64 bits nvcc calls the routine of 32 bits when both upper
 *   halves are 0; then the upper half of the result is 0, too.
 * - INT_MIN / -1 is INT_MIN and INT_MIN % -1 is 0, as in two's complement.
 * - clz(0), ctz(0) and abs(INT_MIN) of compiler builtins: the width, the width, INT_MIN.
 *
 * Shifts by constants below the width and divisions by constants other than 0 and -1 are left as
 * they are. With CTS_STRICT=1 a division by zero is a fault.
 *
 * The barriers of libcu++ are told (device-barriers.c), and vectors aligned (vector-copies.c). */
#include <stdlib.h>

#include "record/instrument/device-barriers.h"
#include "record/instrument/ir.h"
#include "record/instrument/marks.h"
#include "record/instrument/vector-copies.h"

static unsigned width_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

static void replace(LLVMValueRef instruction, LLVMValueRef value)
{
    LLVMReplaceAllUsesWith(instruction, value);
    LLVMInstructionEraseFromParent(instruction);
}
/* An intrinsic and the types that it is overloaded for. */
struct intrinsic {
    const char *name;
    LLVMTypeRef *types;
    size_t type_count;
};

static LLVMValueRef call_intrinsic(const struct cts_ir *ir, const struct intrinsic *intrinsic,
                                   LLVMValueRef *arguments, unsigned count)
{
    const unsigned id = LLVMLookupIntrinsicID(intrinsic->name, strlen(intrinsic->name));
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(ir->module, id, intrinsic->types, intrinsic->type_count);
    LLVMTypeRef type =
        LLVMIntrinsicGetType(ir->context, id, intrinsic->types, intrinsic->type_count);
    return LLVMBuildCall2(ir->builder, type, function, arguments, count, "");
}

/* ---- shifts ---- */

static void define_shift(const struct cts_ir *ir, LLVMValueRef shift)
{
    LLVMTypeRef type = LLVMTypeOf(shift);
    const unsigned width = width_of(type);
    if (width < 8 || width > 64) return;
    LLVMValueRef value = LLVMGetOperand(shift, 0), amount = LLVMGetOperand(shift, 1);
    if (LLVMIsAConstantInt(amount) && LLVMConstIntGetZExtValue(amount) < width) return;
    LLVMPositionBuilderBefore(ir->builder, shift);
    LLVMValueRef fits =
        LLVMBuildICmp(ir->builder, LLVMIntULT, amount, LLVMConstInt(type, width, 0), "");
    if (LLVMGetInstructionOpcode(shift) == LLVMAShr) {
        amount = LLVMBuildSelect(ir->builder, fits, amount, LLVMConstInt(type, width - 1, 0), "");
        replace(shift, LLVMBuildAShr(ir->builder, value, amount, ""));
        return;
    }
    LLVMValueRef moved = LLVMGetInstructionOpcode(shift) == LLVMShl
                             ? LLVMBuildShl(ir->builder, value, amount, "")
                             : LLVMBuildLShr(ir->builder, value, amount, "");
    replace(shift, LLVMBuildSelect(ir->builder, fits, moved, LLVMConstNull(type), ""));
}

/* ---- floating point to integer ---- */

static bool is_scalar_float(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind || kind == LLVMFloatTypeKind ||
           kind == LLVMDoubleTypeKind;
}

static void define_conversion(const struct cts_ir *ir, LLVMValueRef conversion)
{
    LLVMTypeRef type = LLVMTypeOf(conversion);
    LLVMValueRef value = LLVMGetOperand(conversion, 0);
    LLVMTypeRef from = LLVMTypeOf(value);
    const unsigned width = width_of(type);
    if (width < 8 || width > 64 || !is_scalar_float(from)) return;
    LLVMPositionBuilderBefore(ir->builder, conversion);
    LLVMTypeRef to = width < 32 ? ir->i32 : type;
    const char *const name =
        LLVMGetInstructionOpcode(conversion) == LLVMFPToSI ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMValueRef result = call_intrinsic(
        ir, &(struct intrinsic){name, (LLVMTypeRef[]){to, from}, 2}, &value, 1); /* of NaN: 0 */
    if (to == ir->i64 || from == ir->f64) {
        LLVMValueRef is_nan = LLVMBuildFCmp(ir->builder, LLVMRealUNO, value, value, "");
        LLVMValueRef top = LLVMConstInt(to, 1ull << (width_of(to) - 1), 0);
        result = LLVMBuildSelect(ir->builder, is_nan, top, result, "");
    }
    replace(conversion, LLVMBuildTrunc(ir->builder, result, type, ""));
}

/* ---- division ---- */

static LLVMValueRef all_ones(const struct cts_ir *ir, LLVMTypeRef type, LLVMValueRef dividend)
{
    if (type != ir->i64) return LLVMConstAllOnes(type);
    LLVMValueRef is_short =
        LLVMBuildICmp(ir->builder, LLVMIntULE, dividend, cts_u64(ir, UINT32_MAX), "");
    return LLVMBuildSelect(ir->builder, is_short, cts_u64(ir, UINT32_MAX), LLVMConstAllOnes(type),
                           "");
}

static void refuse_zero(struct cts_ir *ir, LLVMValueRef division, LLVMValueRef is_zero)
{
    LLVMValueRef argument = LLVMBuildZExt(ir->builder, is_zero, ir->i32, "");
    cts_ir_call(ir, "__cts_dev_check_divisor", ir->nothing, 1, &argument);
    LLVMPositionBuilderBefore(ir->builder, division);
}

static void define_division(struct cts_ir *ir, LLVMValueRef division, bool strict)
{
    LLVMTypeRef type = LLVMTypeOf(division);
    const unsigned width = width_of(type);
    LLVMValueRef dividend = LLVMGetOperand(division, 0), divisor = LLVMGetOperand(division, 1);
    if (width < 8 || width > 64) return;
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(division);
    const bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem;
    if (LLVMIsAConstantInt(divisor) && !LLVMIsNull(divisor) &&
        !(is_signed && LLVMConstIntGetSExtValue(divisor) == -1))
        return;
    LLVMPositionBuilderBefore(ir->builder, division);
    LLVMValueRef zero = LLVMConstNull(type), one = LLVMConstInt(type, 1, 0);
    LLVMValueRef is_zero = LLVMBuildICmp(ir->builder, LLVMIntEQ, divisor, zero, "");
    if (strict) refuse_zero(ir, division, is_zero);
    LLVMValueRef unsafe = is_zero, is_minus_one = NULL;
    if (is_signed) {
        is_minus_one = LLVMBuildICmp(ir->builder, LLVMIntEQ, divisor, LLVMConstAllOnes(type), "");
        unsafe = LLVMBuildOr(ir->builder, is_zero, is_minus_one, "");
    }
    LLVMValueRef safe = LLVMBuildSelect(ir->builder, unsafe, one, divisor, "");
    LLVMValueRef result = LLVMBuildBinOp(ir->builder, opcode, dividend, safe, "");
    if (opcode == LLVMSDiv) /* of 1 the remainder is 0, as of -1 */
        result = LLVMBuildSelect(ir->builder, is_minus_one,
                                 LLVMBuildSub(ir->builder, zero, dividend, ""), result, "");
    replace(division,
            LLVMBuildSelect(ir->builder, is_zero, all_ones(ir, type, dividend), result, ""));
}

/* ---- builtins ---- */

/* The flag "undefined for zero", or for the least number, of a builtin's intrinsic. */
static void define_builtin(const struct cts_ir *ir, LLVMValueRef call)
{
    LLVMValueRef callee = cts_called_function(call);
    if (!callee || !LLVMGetIntrinsicID(callee)) return;
    if (cts_is_intrinsic(callee, "llvm.ctlz") || cts_is_intrinsic(callee, "llvm.cttz") ||
        cts_is_intrinsic(callee, "llvm.abs"))
        LLVMSetOperand(call, 1, LLVMConstInt(ir->i1, 0, 0));
}

static void define_instruction(struct cts_ir *ir, LLVMValueRef instruction, bool strict)
{
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        define_shift(ir, instruction);
        break;
    case LLVMFPToSI:
    case LLVMFPToUI:
        define_conversion(ir, instruction);
        break;
    case LLVMSDiv:
    case LLVMUDiv:
    case LLVMSRem:
    case LLVMURem:
        define_division(ir, instruction, strict);
        break;
    case LLVMCall:
        define_builtin(ir, instruction);
        break;
    default:
        break;
    }
}

int cts_define_pass(LLVMModuleRef module)
{
    const char *const setting = getenv("CTS_STRICT");
    const bool strict = setting && strcmp(setting, "1") == 0;
    struct cts_ir ir;
    cts_ir_init(&ir, module);
    CTS_EACH_FUNCTION(f, module)
    CTS_EACH_INSTRUCTION(i, f) define_instruction(&ir, i, strict);
    cts_align_vectors(&ir);
    cts_tell_barriers(&ir);
    cts_ir_release(&ir);
    return 1;
}
