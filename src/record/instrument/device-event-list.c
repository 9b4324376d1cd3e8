/* The events of one instruction: a list, and the argument that each is recorded with. */
#include "record/instrument/device-events.h"

void cts_add_event(struct cts_events *events, struct cts_event event)
{
    if (events->count < CTS_EVENTS_PER_INSTRUCTION) events->items[events->count++] = event;
}

static LLVMValueRef widened(LLVMBuilderRef builder, LLVMTypeRef i64, LLVMValueRef value)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind)
        return LLVMBuildIntCast2(builder, value, i64, 0, "");
    /* An offset in shared memory, where the pointer says that it is one. */
    return LLVMBuildPtrToInt(builder, value, i64, "");
}

LLVMValueRef cts_event_argument(LLVMBuilderRef builder, LLVMTypeRef i64,
                                const struct cts_event *event)
{
    LLVMValueRef sum = LLVMConstInt(i64, event->constant, 0);
    if (event->value) sum = LLVMBuildAdd(builder, sum, widened(builder, i64, event->value), "");
    if (!event->count) return sum;
    LLVMValueRef count = widened(builder, i64, event->count);
    count = LLVMBuildShl(builder, count, LLVMConstInt(i64, 8, 0), "");
    return LLVMBuildAdd(builder, sum, count, "");
}
