/* NVVM intrinsics that plain IR can say: see lower.c. */
#include "record/instrument/device-events.h"
#include "record/instrument/lower.h"

#include <stdio.h>
#include <stdlib.h>

#define CTS_NVVM_ABI_NO_PROTOTYPES
#include "record/instrument/nvvm-abi.h"

/* ---- special registers ---- */

static LLVMValueRef intrinsic_u32(struct cts_ir *ir, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "llvm.nvvm.read.ptx.sreg.%s", name);
    const unsigned id = LLVMLookupIntrinsicID(full, strlen(full));
    LLVMTypeRef type = LLVMIntrinsicGetType(ir->context, id, NULL, 0);
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(ir->module, id, NULL, 0);
    return LLVMBuildCall2(ir->builder, type, function, NULL, 0, "");
}

/* tid.x + ntid.x * (tid.y + ntid.y * tid.z) */
static LLVMValueRef linear_thread(struct cts_ir *ir)
{
    LLVMValueRef y =
        LLVMBuildMul(ir->builder, intrinsic_u32(ir, "ntid.y"), intrinsic_u32(ir, "tid.z"), "");
    y = LLVMBuildAdd(ir->builder, y, intrinsic_u32(ir, "tid.y"), "");
    LLVMValueRef x = LLVMBuildMul(ir->builder, intrinsic_u32(ir, "ntid.x"), y, "");
    return LLVMBuildAdd(ir->builder, x, intrinsic_u32(ir, "tid.x"), "");
}

static LLVMValueRef lane(struct cts_ir *ir)
{
    return LLVMBuildAnd(ir->builder, linear_thread(ir), cts_u32(ir, 31), "");
}

static LLVMValueRef warp_count(struct cts_ir *ir)
{
    LLVMValueRef threads =
        LLVMBuildMul(ir->builder, intrinsic_u32(ir, "ntid.y"), intrinsic_u32(ir, "ntid.z"), "");
    threads = LLVMBuildMul(ir->builder, intrinsic_u32(ir, "ntid.x"), threads, "");
    threads = LLVMBuildAdd(ir->builder, threads, cts_u32(ir, 31), "");
    return LLVMBuildLShr(ir->builder, threads, cts_u32(ir, 5), "");
}

static LLVMValueRef lane_mask(struct cts_ir *ir, const char *which)
{
    LLVMValueRef one = LLVMBuildShl(ir->builder, cts_u32(ir, 1), lane(ir), "");
    LLVMValueRef below = LLVMBuildSub(ir->builder, one, cts_u32(ir, 1), "");
    if (strcmp(which, "eq") == 0) return one;
    if (strcmp(which, "lt") == 0) return below;
    if (strcmp(which, "ge") == 0) return LLVMBuildNot(ir->builder, below, "");
    LLVMValueRef up_to = LLVMBuildOr(ir->builder, one, below, "");
    if (strcmp(which, "le") == 0) return up_to;
    return strcmp(which, "gt") == 0 ? LLVMBuildNot(ir->builder, up_to, "") : NULL;
}

static LLVMValueRef dynamic_shared_bytes(struct cts_ir *ir)
{
    return cts_ir_call(ir, CTS_DYNAMIC_SHARED_REGISTER, ir->i32, 0, NULL);
}

static bool is_axis_register(const char *name)
{
    static const char *const groups[] = {"tid.", "ntid.", "ctaid.", "nctaid."};
    for (size_t i = 0; i < 4; i++) {
        const size_t length = strlen(groups[i]);
        if (strncmp(name, groups[i], length) == 0)
            return name[length] >= 'x' && name[length] <= 'z' && !name[length + 1];
    }
    return false;
}

/* Clusters of one CTA: a CTA's cluster index is its own index. */
static LLVMValueRef cluster_register(struct cts_ir *ir, const char *name)
{
    char own[32];
    if (cts_starts_with(name, "clusterid.")) {
        snprintf(own, sizeof own, "ctaid.%s", name + strlen("clusterid."));
        return is_axis_register(own) ? intrinsic_u32(ir, own) : cts_u32(ir, 0);
    }
    if (cts_starts_with(name, "nclusterid.")) {
        snprintf(own, sizeof own, "nctaid.%s", name + strlen("nclusterid."));
        return is_axis_register(own) ? intrinsic_u32(ir, own) : cts_u32(ir, 1);
    }
    if (cts_starts_with(name, "cluster.nctaid") || cts_starts_with(name, "cluster.nctarank") ||
        cts_starts_with(name, "cluster_nctaid") || cts_starts_with(name, "cluster_nctarank"))
        return cts_u32(ir, 1);
    if (cts_starts_with(name, "cluster.cta") || cts_starts_with(name, "cluster_cta"))
        return cts_u32(ir, 0);
    return NULL;
}

/* Registers that the engine knows. */
static LLVMValueRef engine_register(struct cts_ir *ir, const char *name, unsigned *bits)
{
    static const struct {
        const char *name;
        unsigned bits;
    } known[] = {{"clock", 32}, {"clock64", 64}, {"globaltimer", 64},
                 {"smid", 32},  {"nsmid", 32},   {"gridid", 32}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, name) != 0) continue;
        char full[64];
        snprintf(full, sizeof full, "__cts_nvvm_read_ptx_sreg_%s", name);
        *bits = known[i].bits;
        return cts_ir_call(ir, full, known[i].bits == 64 ? ir->i64 : ir->i32, 0, NULL);
    }
    return NULL;
}

LLVMValueRef cts_lower_register(struct cts_ir *ir, const char *name, unsigned *bits)
{
    *bits = 32;
    if (is_axis_register(name)) return intrinsic_u32(ir, name);
    if (strcmp(name, "laneid") == 0) return lane(ir);
    if (strcmp(name, "warpid") == 0)
        return LLVMBuildLShr(ir->builder, linear_thread(ir), cts_u32(ir, 5), "");
    if (strcmp(name, "nwarpid") == 0) return warp_count(ir);
    if (strcmp(name, "warpsize") == 0) return cts_u32(ir, 32);
    if (cts_starts_with(name, "lanemask.") || cts_starts_with(name, "lanemask_"))
        return lane_mask(ir, name + strlen("lanemask."));
    if (strcmp(name, "dynamic_smem_size") == 0) return dynamic_shared_bytes(ir);
    if (strcmp(name, "tid.w") == 0 || strcmp(name, "ctaid.w") == 0) return cts_u32(ir, 0);
    if (strcmp(name, "ntid.w") == 0 || strcmp(name, "nctaid.w") == 0) return cts_u32(ir, 1);
    LLVMValueRef value = cluster_register(ir, name);
    return value ? value : engine_register(ir, name, bits);
}

/* ---- memory ---- */

static LLVMValueRef lower_cached_load(const struct cts_ir *ir, LLVMValueRef instruction)
{
    LLVMTypeRef type = LLVMTypeOf(instruction);
    LLVMValueRef load = LLVMBuildLoad2(ir->builder, type, LLVMGetOperand(instruction, 0), "");
    if (LLVMGetNumArgOperands(instruction) > 1 &&
        LLVMIsAConstantInt(LLVMGetOperand(instruction, 1)))
        LLVMSetAlignment(load, (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 1)));
    return load;
}

/* "atomic.OP.gen.{i,f}.{cta,sys}.T.p0" and "atomic.load.{inc,dec}.32.p0" */
static LLVMValueRef lower_atomic(const struct cts_ir *ir, LLVMValueRef instruction,
                                 const char *name)
{
    static const struct {
        const char *name;
        LLVMAtomicRMWBinOp operation;
    } known[] = {
        {"atomic.add.gen.i.", LLVMAtomicRMWBinOpAdd},
        {"atomic.add.gen.f.", LLVMAtomicRMWBinOpFAdd},
        {"atomic.and.gen.i.", LLVMAtomicRMWBinOpAnd},
        {"atomic.or.gen.i.", LLVMAtomicRMWBinOpOr},
        {"atomic.xor.gen.i.", LLVMAtomicRMWBinOpXor},
        {"atomic.exch.gen.i.", LLVMAtomicRMWBinOpXchg},
        {"atomic.max.gen.i.", LLVMAtomicRMWBinOpMax},
        {"atomic.min.gen.i.", LLVMAtomicRMWBinOpMin},
        {"atomic.inc.gen.i.", LLVMAtomicRMWBinOpUIncWrap},
        {"atomic.dec.gen.i.", LLVMAtomicRMWBinOpUDecWrap},
        {"atomic.load.inc.32", LLVMAtomicRMWBinOpUIncWrap},
        {"atomic.load.dec.32", LLVMAtomicRMWBinOpUDecWrap},
    };
    LLVMValueRef address = LLVMGetOperand(instruction, 0), value = LLVMGetOperand(instruction, 1);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (cts_starts_with(name, known[i].name))
            return LLVMBuildAtomicRMW(ir->builder, known[i].operation, address, value,
                                      LLVMAtomicOrderingSequentiallyConsistent, 0);
    if (!cts_starts_with(name, "atomic.cas.gen.i.")) return NULL;
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(
        ir->builder, address, value, LLVMGetOperand(instruction, 2),
        LLVMAtomicOrderingSequentiallyConsistent, LLVMAtomicOrderingSequentiallyConsistent, 0);
    return LLVMBuildExtractValue(ir->builder, pair, 0, "");
}

/* "cp.async.{ca,cg}.shared.global.{4,8,16}[.s]": done at once; the forms with a source size fill
 * the rest with zeros. Groups and waits for them have nothing to wait for: what is left of them is
 * for the device pass. */
static bool lower_async_copy(struct cts_ir *ir, LLVMValueRef instruction, const char *name)
{
    if (cts_starts_with(name, "cp.async.commit.group")) {
        cts_ir_call(ir, CTS_EVENT_ASYNC_COMMIT, ir->nothing, 0, NULL);
        LLVMInstructionEraseFromParent(instruction);
        return true;
    }
    if (cts_starts_with(name, "cp.async.wait.")) {
        LLVMValueRef groups = cts_starts_with(name, "cp.async.wait.group")
                                  ? LLVMGetOperand(instruction, 0)
                                  : cts_u32(ir, 0);
        cts_ir_call(ir, CTS_EVENT_ASYNC_WAIT, ir->nothing, 1, &groups);
        LLVMInstructionEraseFromParent(instruction);
        return true;
    }
    const char *const size = strstr(name, ".shared.global.");
    if (!size || !cts_starts_with(name, "cp.async.c")) return false;
    const uint64_t width_bytes = strtoul(size + strlen(".shared.global."), NULL, 10);
    LLVMValueRef to = LLVMGetOperand(instruction, 0), from = LLVMGetOperand(instruction, 1);
    LLVMValueRef length = cts_u64(ir, width_bytes);
    if (cts_ends_with(name, ".s")) {
        LLVMValueRef zeros =
            LLVMBuildMemSet(ir->builder, to, LLVMConstInt(ir->i8, 0, 0), length, 1);
        cts_event_set(ir->context, zeros, CTS_EVENT_ASYNC, 1);
        length = LLVMBuildZExt(ir->builder, LLVMGetOperand(instruction, 2), ir->i64, "");
    }
    LLVMValueRef copy = LLVMBuildMemCpy(ir->builder, to, (unsigned)width_bytes, from,
                                        (unsigned)width_bytes, length);
    cts_event_set(ir->context, copy, CTS_EVENT_ASYNC, 1);
    LLVMInstructionEraseFromParent(instruction);
    return true;
}

/* ---- values ---- */

/* Bits seen as another type: bitcast.*, d2i.hi, d2i.lo, lohi.i2d, move.*. */
static LLVMValueRef lower_bits(const struct cts_ir *ir, LLVMValueRef instruction, const char *name)
{
    LLVMValueRef operand =
        LLVMGetNumArgOperands(instruction) ? LLVMGetOperand(instruction, 0) : NULL;
    LLVMTypeRef type = LLVMTypeOf(instruction);
    if (cts_starts_with(name, "bitcast.")) return LLVMBuildBitCast(ir->builder, operand, type, "");
    if (cts_starts_with(name, "move.")) return operand;
    if (strcmp(name, "d2i.hi") == 0 || strcmp(name, "d2i.lo") == 0) {
        LLVMValueRef bits = LLVMBuildBitCast(ir->builder, operand, ir->i64, "");
        if (strcmp(name, "d2i.hi") == 0)
            bits = LLVMBuildLShr(ir->builder, bits, cts_u64(ir, 32), "");
        return LLVMBuildTrunc(ir->builder, bits, ir->i32, "");
    }
    if (strcmp(name, "lohi.i2d") == 0) {
        LLVMValueRef low = LLVMBuildZExt(ir->builder, operand, ir->i64, "");
        LLVMValueRef high = LLVMBuildZExt(ir->builder, LLVMGetOperand(instruction, 1), ir->i64, "");
        high = LLVMBuildShl(ir->builder, high, cts_u64(ir, 32), "");
        return LLVMBuildBitCast(ir->builder, LLVMBuildOr(ir->builder, high, low, ""), type, "");
    }
    return NULL;
}

static LLVMValueRef lower_pointer(const struct cts_ir *ir, LLVMValueRef instruction,
                                  const char *name)
{
    LLVMValueRef operand = LLVMGetOperand(instruction, 0);
    if (cts_starts_with(name, "texsurf.handle"))
        return LLVMBuildLoad2(ir->builder, LLVMTypeOf(instruction),
                              LLVMGetOperand(instruction, LLVMGetNumArgOperands(instruction) - 1),
                              "");
    LLVMTypeRef type = LLVMTypeOf(instruction);
    if (LLVMTypeOf(operand) == type) return operand;
    return LLVMBuildAddrSpaceCast(ir->builder, operand, type, "");
}

static bool is_constant_but_zero(LLVMValueRef value)
{
    LLVMBool lossy;
    return LLVMIsAConstantFP(value) && LLVMConstRealGetDouble(value, &lossy) != 0.0;
}

LLVMValueRef cts_lower_zeros(const struct cts_ir *ir, LLVMValueRef call, bool is_min)
{
    LLVMValueRef a = LLVMGetOperand(call, 0), b = LLVMGetOperand(call, 1);
    LLVMTypeRef type = LLVMTypeOf(call);
    if ((type != ir->f32 && type != ir->f64) || is_constant_but_zero(a) || is_constant_but_zero(b))
        return call;
    /* Equal operands have equal bits, or are both zeros. */
    LLVMTypeRef bits = type == ir->f32 ? ir->i32 : ir->i64;
    LLVMValueRef is_equal = LLVMBuildFCmp(ir->builder, LLVMRealOEQ, a, b, "");
    LLVMValueRef x = LLVMBuildBitCast(ir->builder, a, bits, "");
    LLVMValueRef y = LLVMBuildBitCast(ir->builder, b, bits, "");
    LLVMValueRef both =
        is_min ? LLVMBuildOr(ir->builder, x, y, "") : LLVMBuildAnd(ir->builder, x, y, "");
    both = LLVMBuildBitCast(ir->builder, both, type, "");
    return LLVMBuildSelect(ir->builder, is_equal, both, call, "");
}

static LLVMValueRef lower_value(struct cts_ir *ir, LLVMValueRef instruction, const char *name)
{
    if (cts_starts_with(name, "read.ptx.sreg.")) {
        unsigned bits;
        return cts_lower_register(ir, name + strlen("read.ptx.sreg."), &bits);
    }
    if (cts_starts_with(name, "ldg.") || cts_starts_with(name, "ldu."))
        return lower_cached_load(ir, instruction);
    if (cts_starts_with(name, "atomic.")) return lower_atomic(ir, instruction, name);
    if (cts_starts_with(name, "ptr.") || cts_starts_with(name, "texsurf.handle"))
        return lower_pointer(ir, instruction, name);
    return lower_bits(ir, instruction, name);
}

bool cts_lower_intrinsic(struct cts_ir *ir, LLVMValueRef instruction, const char *name)
{
    name += strlen("llvm.nvvm.");
    if (cts_starts_with(name, "read.ptx.sreg.") &&
        is_axis_register(name + strlen("read.ptx.sreg.")))
        return true;
    LLVMPositionBuilderBefore(ir->builder, instruction);
    if (cts_starts_with(name, "membar.") || cts_starts_with(name, "fence.")) {
        const bool is_cta = strstr(name, ".cta") || strstr(name, ".cluster");
        const bool is_gpu = strstr(name, ".gl") != NULL;
        cts_event_set(ir->context,
                      LLVMBuildFence(ir->builder, LLVMAtomicOrderingSequentiallyConsistent, 0, ""),
                      CTS_EVENT_SCOPE,
                      is_cta   ? CTS_FENCE_CTA
                      : is_gpu ? CTS_FENCE_GPU
                               : CTS_FENCE_SYSTEM);
        LLVMInstructionEraseFromParent(instruction);
        return true;
    }
    if (strcmp(name, "exit") == 0) {
        cts_ir_call(ir, "__cts_dev_exit", ir->nothing, 0, NULL);
        LLVMInstructionEraseFromParent(instruction);
        return true;
    }
    if (lower_async_copy(ir, instruction, name)) return true;
    LLVMValueRef value = lower_value(ir, instruction, name);
    if (!value) return false;
    cts_ir_replace(instruction, value);
    return true;
}
