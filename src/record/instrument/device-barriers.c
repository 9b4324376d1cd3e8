/* libcu++'s barrier of a block, cuda::barrier<cuda::thread_scope_block>, on the CPU device: an
 * atomic word there, an mbarrier on a GPU. Before any optimisation calls are put in that say who
 * arrives and who has waited, each with the phase; the accesses of the word are left out, as a GPU
 * has none. cuda::pipeline is made of such barriers.
 *
 *     barrier::arrive(n)                  before it returns: arrived, in the phase of its token
 *     __barrier_base::arrive_and_drop()   after the arrive() inside, the same
 *     __barrier_base::__try_wait...(t)    before it returns true: waited for the phase of t
 *
 * All functions that wait are made of the last one; it has two names, by the version of libcu++. A
 * token has its phase in bit 63, what is recorded has it in bit 47 (CTS_MBARRIER_ODD).
 *
 * Functions are known by their mangled names. A barrier with a completion function of its own is
 * another class; its word is recorded. */
#include "record/instrument/device-barriers.h"

#include <string.h>

#include "record/instrument/debuginfo.h"
#include "record/instrument/device-events.h"
#include "record/instrument/ir.h"
#include "record/instrument/shim.h"

enum { TOKEN_BIT = 63, PHASE_BIT = 47 };
_Static_assert(CTS_MBARRIER_ODD == 1ull << PHASE_BIT, "where access.h has the phase");

/* What follows "_ZN4cuda", "_ZNK4cuda" and inline namespaces; NULL: no name of libcu++. */
static const char *skip_namespaces(const char *name)
{
    if (cts_starts_with(name, "_ZN4cuda"))
        name += strlen("_ZN4cuda");
    else if (cts_starts_with(name, "_ZNK4cuda"))
        name += strlen("_ZNK4cuda");
    else
        return NULL;
    if (cts_starts_with(name, "3std")) name += strlen("3std");
    if (name[0] == '3' && cts_starts_with(name + 1, "__")) name += 4; /* "3__4" */
    return name;
}

/* Whether a mangled name is of the barrier's class (`base`: of its base class), or one that it is
 * made with. The scope of a block is 2. */
static bool is_member(const char *name, const char *class_name)
{
    const char *const at = skip_namespaces(name);
    if (!at || !cts_starts_with(at, class_name) || !strstr(at, "18__empty_completionE"))
        return false;
    return strstr(at, "12thread_scopeE2E") || strstr(at, "ELi2EE");
}

static bool is_of_barrier(const char *name)
{
    return is_member(name, "7barrierIL");
}

static bool is_of_base(const char *name)
{
    return is_member(name, "14__barrier_baseI");
}

/* A pipeline counts its threads in a word of its own. */
static bool is_of_pipeline(const char *name)
{
    const char *const at = skip_namespaces(name);
    return at && (cts_starts_with(at, "8pipelineI") || cts_starts_with(at, "13make_pipelineI") ||
                  cts_starts_with(at, "15__make_pipelineI"));
}

/* A function of the barrier, its base class or a pipeline, or one that makes a barrier. */
static bool is_barrier_symbol(const char *name)
{
    return is_of_pipeline(name) || is_of_barrier(name) || is_of_base(name) ||
           is_member(name, "4initEPNS0_7barrierIL");
}

/* Whether debug information says that it stands in a function of the barrier, as inlined. */
bool cts_is_in_barrier(LLVMValueRef instruction)
{
    if (is_barrier_symbol(
            cts_source_symbol(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)))))
        return true;
    for (LLVMMetadataRef at = LLVMInstructionGetDebugLoc(instruction); at;
         at = LLVMDILocationGetInlinedAt(at)) {
        size_t length = 0;
        const char *const text = cts_subprogram_symbol(cts_location_subprogram(at), &length);
        char name[512]; /* the text is not terminated */
        if (!text || length >= sizeof name) continue;
        memcpy(name, text, length);
        name[length] = '\0';
        if (is_barrier_symbol(name)) return true;
    }
    return false;
}

/* ---- what is put in ---- */

/* Says that the barrier `self` is arrived at or has been waited for, in the phase of a token. */
static void build_call(struct cts_ir *ir, const char *name, LLVMValueRef self, LLVMValueRef token)
{
    LLVMBuilderRef const builder = ir->builder;
    LLVMValueRef phase = LLVMBuildLShr(builder, token, cts_u64(ir, TOKEN_BIT), "");
    phase = LLVMBuildShl(builder, phase, cts_u64(ir, PHASE_BIT), "");
    LLVMValueRef place = LLVMBuildPtrToInt(builder, self, ir->i64, "");
    LLVMValueRef argument = LLVMBuildAdd(builder, place, phase, "");
    cts_ir_call(ir, name, ir->nothing, 1, &argument);
}

static bool is_token(const struct cts_ir *ir, LLVMValueRef value)
{
    return LLVMTypeOf(value) == ir->i64;
}

/* barrier::arrive */
static void tell_arrival(struct cts_ir *ir, LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (LLVMGetInstructionOpcode(i) != LLVMRet || LLVMGetNumOperands(i) != 1) continue;
        LLVMValueRef token = LLVMGetOperand(i, 0);
        if (!is_token(ir, token)) continue;
        LLVMPositionBuilderBefore(ir->builder, i);
        build_call(ir, CTS_EVENT_MBARRIER_ARRIVE, LLVMGetParam(function, 0), token);
    }
}

/* __barrier_base::arrive_and_drop */
static void tell_drop(struct cts_ir *ir, LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
        if (!callee || !LLVMIsAFunction(callee) || !is_token(ir, i)) continue;
        const char *const name = cts_ir_name(callee);
        if (!is_of_base(name) || !cts_ends_with(name, "6arriveEl")) continue;
        LLVMPositionBuilderBefore(ir->builder, LLVMGetNextInstruction(i));
        build_call(ir, CTS_EVENT_MBARRIER_ARRIVE, LLVMGetParam(function, 0), i);
    }
}

/* __barrier_base::__try_wait... */
static void tell_wait(struct cts_ir *ir, LLVMValueRef function)
{
    LLVMValueRef end = NULL;
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (LLVMGetInstructionOpcode(i) == LLVMRet && LLVMGetNumOperands(i) == 1) end = i;
    }
    if (!end || LLVMCountParams(function) != 2 || !is_token(ir, LLVMGetParam(function, 1))) return;
    LLVMValueRef result = LLVMGetOperand(end, 0);
    LLVMBasicBlockRef before = LLVMGetInstructionParent(end);
    LLVMBasicBlockRef rest = cts_split_before(end);
    LLVMBasicBlockRef waited = LLVMInsertBasicBlockInContext(ir->context, rest, "");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(ir->builder, before);
    LLVMSetCurrentDebugLocation2(ir->builder, LLVMInstructionGetDebugLoc(end));
    LLVMValueRef is_true =
        LLVMBuildICmp(ir->builder, LLVMIntNE, result, LLVMConstNull(LLVMTypeOf(result)), "");
    LLVMBuildCondBr(ir->builder, is_true, waited, rest);
    LLVMPositionBuilderAtEnd(ir->builder, waited);
    LLVMSetCurrentDebugLocation2(ir->builder, LLVMInstructionGetDebugLoc(end));
    build_call(ir, CTS_EVENT_MBARRIER_WAIT, LLVMGetParam(function, 0), LLVMGetParam(function, 1));
    LLVMBuildBr(ir->builder, rest);
}

void cts_tell_barriers(struct cts_ir *ir)
{
    bool has_phase = false;
    CTS_EACH_FUNCTION(f, ir->module)
    has_phase |= is_of_base(cts_ir_name(f)) && strstr(cts_ir_name(f), "16__try_wait_phaseEm");
    CTS_EACH_FUNCTION(f, ir->module)
    {
        const char *const name = cts_ir_name(f);
        if (LLVMIsDeclaration(f) || !LLVMCountParams(f)) continue;
        if (is_of_barrier(name) && cts_ends_with(name, "6arriveEl"))
            tell_arrival(ir, f);
        else if (is_of_base(name) && cts_ends_with(name, "15arrive_and_dropEv"))
            tell_drop(ir, f);
        else if (is_of_base(name) &&
                 cts_ends_with(name, has_phase ? "16__try_wait_phaseEm" : "10__try_waitEm"))
            tell_wait(ir, f);
    }
}
