/* A *helper* is a function in which a call of an allocating function gets the address of something
 * that the caller knows: it lies behind a parameter (`this` is one), or is a local variable whose
 * value is returned. Nothing is optimised yet: parameters and results stand in stack slots, which
 * are marked before the function is inlined. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/instrument/host-helpers.h"
#include "record/instrument/ir.h"
#include "record/instrument/pass-memory.h"
#include "record/instrument/shim.h"

enum {
    ROUNDS_MAX = 6,         /* helpers that call helpers */
    INSTRUCTIONS_MAX = 800, /* of a helper */
    INLINED_MAX = 4000,
    STEPS_MAX = 32,
};

struct helpers {
    LLVMModuleRef module;
    cts_is_allocating *is_allocating;
    cts_is_users *is_users;
    void *user;
    unsigned inlined;
};

bool cts_has_mark(LLVMValueRef slot, const char *mark)
{
    return LLVMIsAAllocaInst(slot) &&
           LLVMGetMetadata(slot, LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(slot)),
                                                          mark, (unsigned)strlen(mark)));
}

static void set_mark(LLVMValueRef slot, const char *mark)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(slot));
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, NULL, 0);
    LLVMSetMetadata(slot, LLVMGetMDKindIDInContext(context, mark, (unsigned)strlen(mark)),
                    LLVMMetadataAsValue(context, node));
}

LLVMValueRef cts_only_value_in(LLVMValueRef slot)
{
    LLVMValueRef value = NULL;
    int looks_left = 64;
    if (!LLVMIsAAllocaInst(slot)) return NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(slot); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!looks_left--) return NULL;
        if (!LLVMIsAStoreInst(user)) continue;
        if (value || LLVMGetOperand(user, 0) == slot) return NULL;
        value = LLVMGetOperand(user, 0);
    }
    return value;
}

/* The object that an address lies in: a parameter, or a slot of the function. */
static LLVMValueRef root_of(LLVMValueRef value)
{
    for (int i = 0; i < STEPS_MAX && value && !LLVMIsAArgument(value); i++) {
        if (LLVMIsAGetElementPtrInst(value) || LLVMIsACastInst(value)) {
            value = LLVMGetOperand(value, 0);
            continue;
        }
        LLVMValueRef kept =
            LLVMIsALoadInst(value) ? cts_only_value_in(LLVMGetOperand(value, 0)) : NULL;
        if (!kept) break;
        value = kept;
    }
    return value;
}

static bool is_loaded_from(LLVMValueRef value, LLVMValueRef slot)
{
    while (LLVMIsACastInst(value)) value = LLVMGetOperand(value, 0);
    return LLVMIsALoadInst(value) && LLVMGetOperand(value, 0) == slot;
}

/* The slot of a function's result, or what is loaded when it returns. */
static LLVMValueRef returned_slot(LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
        if (!last || !LLVMIsAReturnInst(last) || !LLVMGetNumOperands(last)) continue;
        LLVMValueRef value = LLVMGetOperand(last, 0);
        while (LLVMIsACastInst(value)) value = LLVMGetOperand(value, 0);
        if (LLVMIsALoadInst(value) && LLVMIsAAllocaInst(LLVMGetOperand(value, 0)))
            return LLVMGetOperand(value, 0);
    }
    return NULL;
}

/* Whether a slot's value is the function's result: it is loaded there, or stored to its slot, or
 * to one whose value is. */
static bool is_returned(LLVMValueRef slot, LLVMValueRef result, int depth)
{
    if (!slot || !result || !LLVMIsAAllocaInst(slot) || depth > 4) return false;
    if (slot == result) return true;
    for (LLVMUseRef use = LLVMGetFirstUse(slot); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef load = LLVMGetUser(use);
        if (!LLVMIsALoadInst(load)) continue;
        for (LLVMUseRef u = LLVMGetFirstUse(load); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef store = LLVMGetUser(u);
            if (LLVMIsAStoreInst(store) && is_loaded_from(LLVMGetOperand(store, 0), slot) &&
                is_returned(LLVMGetOperand(store, 1), result, depth + 1))
                return true;
        }
    }
    return false;
}

static LLVMValueRef callee_of(LLVMValueRef instruction)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (opcode != LLVMCall && opcode != LLVMInvoke) return NULL;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    return LLVMIsAFunction(callee) ? callee : NULL;
}

static bool can_be_inlined(const struct helpers *helpers, LLVMValueRef function)
{
    unsigned count = 0;
    if (LLVMIsDeclaration(function) || LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)) ||
        LLVMGetLinkage(function) == LLVMWeakAnyLinkage ||
        helpers->is_allocating(helpers->user, function) ||
        !helpers->is_users(helpers->user, function))
        return false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (callee_of(i) == function) return false;
            if (++count > INSTRUCTIONS_MAX) return false;
        }
    return true;
}

static bool is_helper(const struct helpers *helpers, LLVMValueRef function)
{
    if (!can_be_inlined(helpers, function)) return false;
    LLVMValueRef result = returned_slot(function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = callee_of(i);
            if (!callee || !LLVMGetNumArgOperands(i) ||
                !helpers->is_allocating(helpers->user, callee))
                continue;
            LLVMValueRef root = root_of(LLVMGetOperand(i, 0));
            if (root && (LLVMIsAArgument(root) || is_returned(root, result, 0))) return true;
        }
    return false;
}

static void mark_slots(LLVMValueRef function)
{
    LLVMValueRef result = returned_slot(function);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    for (LLVMValueRef i = LLVMGetFirstInstruction(entry); i; i = LLVMGetNextInstruction(i)) {
        if (LLVMIsAAllocaInst(i) && is_returned(i, result, 0)) set_mark(i, CTS_HELPER_RETURNED);
        if (LLVMIsAStoreInst(i) && LLVMIsAArgument(LLVMGetOperand(i, 0)) &&
            LLVMIsAAllocaInst(LLVMGetOperand(i, 1)))
            set_mark(LLVMGetOperand(i, 1), CTS_HELPER_PARAMETER);
    }
    if (result) set_mark(result, CTS_HELPER_RESULT);
}

static bool inline_calls_of(struct helpers *helpers, LLVMValueRef function)
{
    bool is_changed = false;
    for (LLVMUseRef use = LLVMGetFirstUse(function), next; use; use = next) {
        LLVMValueRef call = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (!LLVMIsAInstruction(call) || callee_of(call) != function ||
            !LLVMInstructionGetDebugLoc(call) || helpers->inlined >= INLINED_MAX)
            continue;
        if (!is_changed) mark_slots(function);
        if (!cts_inline_call(call)) continue;
        helpers->inlined++;
        is_changed = true;
    }
    return is_changed;
}

bool cts_host_inline_helpers(LLVMModuleRef module, cts_is_allocating *is_allocating,
                             cts_is_users *is_users, void *user)
{
    struct helpers helpers = {
        .module = module, .is_allocating = is_allocating, .is_users = is_users, .user = user};
    bool is_changed = false, goes_on = true;
    for (int round = 0; round < ROUNDS_MAX && goes_on; round++) {
        goes_on = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
            if (LLVMGetFirstUse(f) && is_helper(&helpers, f))
                goes_on |= inline_calls_of(&helpers, f);
        is_changed |= goes_on;
    }
    return is_changed;
}
