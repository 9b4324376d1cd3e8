/* What single calls and accesses are: marks, waits, volatile accesses. */
#include "record/instrument/retarget.h"

#include "record/instrument/device-order.h"

#define CTS_NVVM_ABI_NO_PROTOTYPES
#include "record/instrument/nvvm-abi.h"

bool cts_external_waits(const char *name)
{
    static const struct {
        const char *name;
        int waits;
    } known[] = {
#define CTS_ROW(result, function, parameters, waits) {#function, waits},
        CTS_ENGINE_FUNCTIONS(CTS_ROW)
#undef CTS_ROW
    };
    if (!cts_starts_with(name, "__cts") || strcmp(name, CTS_DYNAMIC_SHARED_REGISTER) == 0)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].waits == CTS_WAITS;
    return true;
}

bool cts_is_mark(LLVMValueRef function)
{
    if (!function) return false;
    const char *const name = cts_ir_name(function);
    return strcmp(name, CTS_MARK_ACCESS) == 0 || strcmp(name, CTS_MARK_ACCESS_RANGE) == 0 ||
           strcmp(name, CTS_MARK_VALUE) == 0 || strcmp(name, CTS_MARK_EVENT) == 0;
}

bool cts_is_order(LLVMValueRef call)
{
    LLVMValueRef callee = cts_called_function(call);
    return callee && strcmp(cts_ir_name(callee), CTS_ORDER_FUNCTION) == 0;
}

static LLVMValueRef strip_address(LLVMValueRef address)
{
    for (;;) {
        if (LLVMIsAGetElementPtrInst(address) || LLVMIsAAddrSpaceCastInst(address) ||
            LLVMIsABitCastInst(address) || LLVMIsAConstantExpr(address))
            address = LLVMGetOperand(address, 0);
        else
            return address;
    }
}

bool cts_is_shared_volatile(LLVMValueRef instruction)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (opcode != LLVMLoad && opcode != LLVMStore && opcode != LLVMAtomicRMW &&
        opcode != LLVMAtomicCmpXchg)
        return false;
    if (!LLVMGetVolatile(instruction)) return false;
    LLVMValueRef address = LLVMGetOperand(instruction, opcode == LLVMStore ? 1 : 0);
    return !LLVMIsAAllocaInst(strip_address(address));
}
