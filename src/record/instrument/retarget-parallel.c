/* Tells LLVM that a kernel's threads do not depend on each other, so that it need not prove (or
 * test at run time, for each row of threads) that their accesses do not overlap.
 *
 * CUDA promises it: without a barrier, and kernels with barriers do not run in these loops, threads
 * of a CTA run in any order, so two accesses of different threads to one address, one of them a
 * write, have no defined order. LLVM's form of the promise: the accesses belong to an access group,
 * and the loop names the group in `llvm.loop.parallel_accesses`.
 *
 * What is one thread's own (its local variables) is not part of it: after inlining, all rounds of
 * the loop share that memory, one after the other. Where a local variable's address gets out of
 * sight, the kernel does without the promise. */
#include "record/instrument/retarget.h"

#include <stdio.h>
#include <stdlib.h>

#include <llvm-c/IRReader.h>

/* An empty distinct node, which the C API cannot make: read from text. */
static LLVMValueRef make_group(const struct cts_ir *ir)
{
    static const char text[] = "!g = !{!0}\n!0 = distinct !{}\n";
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, sizeof text - 1, "group");
    LLVMModuleRef module = NULL;
    char *message = NULL;
    if (LLVMParseIRInContext(ir->context, buffer, &module, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    LLVMValueRef group = NULL;
    LLVMGetNamedMetadataOperands(module, "g", &group);
    LLVMDisposeModule(module);
    return group;
}

static bool is_own_memory(LLVMValueRef value)
{
    if (LLVMIsAAllocaInst(value)) return true;
    if (!LLVMIsAArgument(value)) return false;
    LLVMValueRef function = LLVMGetParamParent(value);
    for (unsigned i = 0; i < LLVMCountParams(function); i++)
        if (LLVMGetParam(function, i) == value)
            return LLVMGetEnumAttributeAtIndex(function, i + 1, cts_ir_attribute_kind("byval"));
    return false;
}

/* May the address lie in the thread's own memory? Looks through arithmetic, phi and select. */
static bool may_be_own(LLVMValueRef address, struct cts_ir_map *seen)
{
    if (is_own_memory(address)) return true;
    if (!LLVMIsAInstruction(address)) return false;
    void **const slot = cts_map_slot(seen, address);
    if (*slot) return false;
    *slot = seen;
    switch (LLVMGetInstructionOpcode(address)) {
    case LLVMGetElementPtr:
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMFreeze:
        return may_be_own(LLVMGetOperand(address, 0), seen);
    case LLVMPHI:
    case LLVMSelect:
        for (int i = 0; i < LLVMGetNumOperands(address); i++) {
            LLVMValueRef operand = LLVMGetOperand(address, (unsigned)i);
            if (LLVMGetTypeKind(LLVMTypeOf(operand)) == LLVMPointerTypeKind &&
                may_be_own(operand, seen))
                return true;
        }
        return false;
    default:
        return false; /* an integer, or read from memory: own memory that does not get out of sight
                         is not there */
    }
}

/* Is the address of own memory used for anything but accesses through it? */
static bool gets_out(LLVMValueRef address, unsigned depth)
{
    if (depth == 0) return true;
    for (LLVMUseRef use = LLVMGetFirstUse(address); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsALoadInst(user) || LLVMIsAICmpInst(user)) continue;
        if (LLVMIsAStoreInst(user)) {
            if (LLVMGetOperand(user, 0) == address) return true;
        } else if (cts_is_call(user)) {
            LLVMValueRef callee = cts_called_function(user);
            if (!callee || (!cts_is_mark(callee) && !LLVMGetIntrinsicID(callee))) return true;
        } else if (LLVMIsAGetElementPtrInst(user) || LLVMIsAAddrSpaceCastInst(user) ||
                   LLVMIsASelectInst(user) || LLVMIsAPHINode(user)) {
            if (gets_out(user, depth - 1)) return true;
        } else {
            return true;
        }
    }
    return false;
}

static bool own_memory_gets_out(LLVMValueRef body)
{
    for (unsigned i = 0; i < LLVMCountParams(body); i++)
        if (is_own_memory(LLVMGetParam(body, i)) && gets_out(LLVMGetParam(body, i), 16))
            return true;
    CTS_EACH_INSTRUCTION(i, body)
    if (LLVMIsAAllocaInst(i) && gets_out(i, 16)) return true;
    return false;
}

LLVMValueRef cts_parallel_group(struct cts_retarget *retarget, LLVMValueRef body)
{
    if (own_memory_gets_out(body)) return NULL;
    LLVMValueRef group = make_group(&retarget->ir);
    if (!group) return NULL;
    const unsigned kind = LLVMGetMDKindIDInContext(retarget->ir.context, "llvm.access.group", 17);
    CTS_EACH_INSTRUCTION(i, body)
    {
        if (!LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i)) continue;
        struct cts_ir_map seen = {0};
        LLVMValueRef address = LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0);
        if (!may_be_own(address, &seen)) LLVMSetMetadata(i, kind, group);
        cts_map_release(&seen);
    }
    return group;
}

/* !{self, !{"llvm.loop.parallel_accesses", group}}: a node that names itself is distinct. */
void cts_parallel_loop(struct cts_retarget *retarget, LLVMValueRef branch, LLVMValueRef group)
{
    if (!group) return;
    LLVMContextRef context = retarget->ir.context;
    static const char name[] = "llvm.loop.parallel_accesses";
    LLVMMetadataRef property[] = {LLVMMDStringInContext2(context, name, sizeof name - 1),
                                  LLVMValueAsMetadata(group)};
    LLVMMetadataRef self = LLVMTemporaryMDNode(context, NULL, 0);
    LLVMMetadataRef members[] = {self, LLVMMDNodeInContext2(context, property, 2)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, members, 2);
    LLVMMetadataReplaceAllUsesWith(self, node);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "llvm.loop", 9),
                    LLVMMetadataAsValue(context, node));
}
