/* What becomes of the marks that the device pass left (copy-marks.h) in each version of a function.
 *
 * Plain: nothing. Row: each mark has a slot of the lane buffers and stores its address at
 * lanes[slot * 32 + lane]; value words go to rows of their own behind the slots. Log:
 * retarget-log.c. */
#include "record/instrument/retarget.h"

#include <stdlib.h>

#include "record/instrument/loops.h"

static bool is_mark(LLVMValueRef instruction, const char *name)
{
    LLVMValueRef callee = cts_called_function(instruction);
    return callee && strcmp(cts_ir_name(callee), name) == 0;
}

/* A number that was taken for a mark alone, and what was made of it. */
static void drop_number(LLVMValueRef value)
{
    while (LLVMIsAInstruction(value) && !LLVMGetFirstUse(value)) {
        LLVMValueRef from = LLVMIsABinaryOperator(value) ? LLVMGetOperand(value, 0) : NULL;
        if (from && LLVMIsAConstant(from)) from = LLVMGetOperand(value, 1);
        if (!from && !(LLVMIsACallInst(value) && cts_is_order(value))) return;
        LLVMInstructionEraseFromParent(value);
        if (!from) return;
        value = from;
    }
}

void cts_marks_drop(LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    if (cts_is_mark(cts_called_function(i))) {
        LLVMValueRef number = is_mark(i, CTS_MARK_EVENT) ? LLVMGetOperand(i, 1) : NULL;
        LLVMInstructionEraseFromParent(i);
        if (number) drop_number(number);
    }
}

/* ---- row ---- */

/* Does the kernel call what has marks of its own? */
static bool calls_marked(const struct cts_retarget *retarget, LLVMValueRef function)
{
    CTS_EACH_INSTRUCTION(i, function)
    {
        if (!cts_is_call(i)) continue;
        LLVMValueRef callee = cts_called_function(i);
        if (!callee) return true;
        const struct cts_facts *const facts = cts_facts_get(retarget, callee);
        if ((facts && facts->marks) || cts_starts_with(cts_ir_name(callee), "__ctsdev_"))
            return true;
    }
    return false;
}

bool cts_row_is_possible(struct cts_retarget *retarget, const struct cts_retarget_kernel *kernel)
{
    if (kernel->flags & CTS_KERNEL_FIBERS) return false;
    LLVMValueRef body = kernel->body[CTS_VERSION_PLAIN];
    if (calls_marked(retarget, body)) return false;
    struct cts_flow flow;
    cts_flow_find(&flow, body);
    unsigned mark_count = 0, value_count = 0;
    bool possible = true;
    for (size_t b = 0; b < flow.block_count && possible; b++) {
        CTS_EACH_IN_BLOCK(i, flow.blocks[b].block)
        {
            if (!cts_is_mark(cts_called_function(i))) continue;
            if (is_mark(i, CTS_MARK_VALUE)) {
                value_count++;
                continue;
            }
            mark_count++;
            if (flow.blocks[b].loop != CTS_NO_LOOP || is_mark(i, CTS_MARK_ACCESS_RANGE))
                possible = false;
        }
    }
    cts_flow_release(&flow);
    return possible && mark_count <= CTS_ROW_SLOTS_MAX && value_count <= CTS_ROW_VALUES_MAX;
}

static void store_in_row(struct cts_retarget *retarget, LLVMValueRef lanes, LLVMValueRef lane,
                         uint32_t row, LLVMValueRef word)
{
    struct cts_ir *const ir = &retarget->ir;
    LLVMValueRef index = LLVMBuildNUWAdd(ir->builder, lane, cts_u64(ir, (uint64_t)row * 32), "");
    LLVMBuildStore(ir->builder, word,
                   LLVMBuildInBoundsGEP2(ir->builder, ir->i64, lanes, &index, 1, ""));
}

void cts_marks_to_row(struct cts_retarget *retarget, struct cts_retarget_kernel *kernel)
{
    struct cts_ir *const ir = &retarget->ir;
    LLVMValueRef body = kernel->body[CTS_VERSION_ROW];
    LLVMValueRef lanes = cts_body_parameter(kernel, body, CTS_BODY_LANES);
    LLVMValueRef lane = cts_body_parameter(kernel, body, CTS_BODY_LANE);
    uint32_t value_count = 0;
    cts_alignment_drop(body);
    CTS_EACH_INSTRUCTION(i, body)
    {
        LLVMPositionBuilderBefore(ir->builder, i);
        if (is_mark(i, CTS_MARK_VALUE)) {
            store_in_row(retarget, lanes, lane, CTS_ROW_SLOTS_MAX + value_count++,
                         LLVMGetOperand(i, 1));
        } else if (is_mark(i, CTS_MARK_ACCESS) || is_mark(i, CTS_MARK_EVENT)) {
            const uint32_t slot = kernel->row_site_count++;
            LLVMValueRef word = LLVMGetOperand(i, 1);
            kernel->row_sites[slot] = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0));
            if (is_mark(i, CTS_MARK_ACCESS))
                word = LLVMBuildPtrToInt(ir->builder, cts_generic(ir, word), ir->i64, "");
            store_in_row(retarget, lanes, lane, slot, word);
        } else {
            continue;
        }
        LLVMInstructionEraseFromParent(i);
    }
}
