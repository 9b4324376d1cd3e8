#include "record/instrument/lower.h"
void cts_lower_ptx(struct cts_ir *ir, LLVMValueRef instruction)
{
    cts_ir_error(ir, instruction, "inline PTX is not supported yet");
}
