/* Where a function finds its thread: a kernel's body among its parameters, other device functions
 * through the thread-local __cts_current. */
#include "record/instrument/retarget.h"

LLVMValueRef cts_body_parameter(const struct cts_retarget_kernel *kernel, LLVMValueRef body,
                                enum cts_body_parameter which)
{
    return LLVMGetParam(body, kernel->parameter_count + (unsigned)which);
}

LLVMValueRef cts_context_of(struct cts_retarget *retarget, LLVMValueRef function)
{
    const struct cts_retarget_kernel *const kernel =
        cts_map_get(&retarget->kernel_of_body, function);
    if (kernel) return cts_body_parameter(kernel, function, CTS_BODY_CONTEXT);
    return LLVMBuildLoad2(retarget->ir.builder, retarget->ir.pointer, retarget->current,
                          "cts.context");
}

LLVMValueRef cts_context_member(struct cts_retarget *retarget, LLVMValueRef context,
                                size_t offset_bytes, LLVMTypeRef type)
{
    const struct cts_ir *const ir = &retarget->ir;
    LLVMValueRef at = cts_byte_offset(ir, context, cts_u64(ir, offset_bytes));
    return LLVMBuildLoad2(ir->builder, type, at, "");
}
