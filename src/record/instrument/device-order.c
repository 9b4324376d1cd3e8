/* Which accesses are numbered: see the header. */
#include "record/instrument/device-order.h"

#include <stddef.h>

#include "record/instrument/device-events.h"

static bool has_fence(LLVMValueRef function)
{
    struct cts_events events;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            cts_find_events(i, &events);
            for (unsigned e = 0; e < events.count; e++)
                if (events.items[e].operation == CTS_BARRIER_FENCE &&
                    events.items[e].constant >= CTS_FENCE_GPU)
                    return true;
        }
    return false;
}

void cts_orderer_init(struct cts_orderer *orderer, LLVMModuleRef module, bool is_shared)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetModuleContext(module));
    bool is_needed = is_shared;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f && !is_needed; f = LLVMGetNextFunction(f))
        is_needed = has_fence(f);
    if (!is_needed) return;
    orderer->type = LLVMFunctionType(i64, NULL, 0, 0);
    orderer->function = LLVMGetNamedFunction(module, CTS_ORDER_FUNCTION);
    if (!orderer->function)
        orderer->function = LLVMAddFunction(module, CTS_ORDER_FUNCTION, orderer->type);
}

struct cts_order_moments cts_order_of(LLVMValueRef instruction,
                                      const struct cts_memory_access *access)
{
    struct cts_order_moments moments = {false, false};
    if (!access->is_volatile && !cts_operation_is_atomic(access->operation)) return moments;
    moments.before = cts_operation_writes(access->operation);
    moments.after = cts_operation_reads(access->operation) && LLVMGetFirstUse(instruction);
    return moments;
}

LLVMValueRef cts_order_now(const struct cts_orderer *orderer, LLVMBuilderRef builder)
{
    LLVMValueRef number = LLVMBuildCall2(builder, orderer->type, orderer->function, NULL, 0, "");
    return LLVMBuildShl(builder, number, LLVMConstInt(LLVMTypeOf(number), 1, 0), "");
}
