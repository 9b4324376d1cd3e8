/* On request, the host's own loads and stores: __cts_host_access(address, size, is_store) before
 * each that may touch managed or mapped memory; the runtime knows which addresses are. Stack slots,
 * thread-local and plain global variables are not, so most of what code that is not yet optimised
 * does costs nothing. */
#include <string.h>

#include <llvm-c/Target.h>

#include "record/instrument/device-variables.h"
#include "record/instrument/host-pass.h"
#include "record/instrument/pass-memory.h"

enum { STRIP_LIMIT = 64 };

struct access_pass {
    LLVMContextRef context;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    LLVMValueRef mark;
    LLVMTypeRef mark_type, i32, i64, pointer;
    struct cts_pointer_map managed;
    bool is_changed;
};

/* Whether the address may be in memory that the device sees too. */
static bool may_be_managed(const struct access_pass *pass, LLVMValueRef address)
{
    for (int i = 0; i < STRIP_LIMIT; i++) {
        if (LLVMIsAAllocaInst(address)) return false;
        if (LLVMIsAGlobalVariable(address))
            return cts_pointer_map_find(&pass->managed, address) != NULL;
        if (LLVMIsACallInst(address)) {
            size_t length;
            const char *name = LLVMGetValueName2(LLVMGetCalledValue(address), &length);
            return strncmp(name, "llvm.threadlocal.address", 24) != 0;
        }
        if (!LLVMIsAGetElementPtrInst(address) && !LLVMIsACastInst(address) &&
            !LLVMIsAConstantExpr(address))
            return true;
        address = LLVMGetOperand(address, 0);
        if (LLVMGetTypeKind(LLVMTypeOf(address)) != LLVMPointerTypeKind) return true;
    }
    return true;
}

static void add_mark(struct access_pass *pass, LLVMValueRef instruction, LLVMValueRef address,
                     LLVMValueRef size, bool is_store)
{
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(address)) || !may_be_managed(pass, address)) return;
    LLVMPositionBuilderBefore(pass->builder, instruction);
    LLVMValueRef arguments[] = {address, LLVMBuildIntCast2(pass->builder, size, pass->i64, 0, ""),
                                LLVMConstInt(pass->i32, is_store, 0)};
    LLVMBuildCall2(pass->builder, pass->mark_type, pass->mark, arguments, 3, "");
    pass->is_changed = true;
}

static LLVMValueRef size_of(const struct access_pass *pass, LLVMTypeRef type)
{
    return LLVMConstInt(pass->i64, LLVMStoreSizeOfType(pass->layout, type), 0);
}

static void mark_call(struct access_pass *pass, LLVMValueRef call)
{
    size_t length;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee)) return;
    const char *name = LLVMGetValueName2(callee, &length);
    bool is_copy = !strncmp(name, "llvm.memcpy", 11) || !strncmp(name, "llvm.memmove", 12);
    if (!is_copy && strncmp(name, "llvm.memset", 11) != 0) return;
    LLVMValueRef size = LLVMGetOperand(call, 2);
    if (is_copy) add_mark(pass, call, LLVMGetOperand(call, 1), size, false);
    add_mark(pass, call, LLVMGetOperand(call, 0), size, true);
}

static void mark_instruction(struct access_pass *pass, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        add_mark(pass, i, LLVMGetOperand(i, 0), size_of(pass, LLVMTypeOf(i)), false);
        break;
    case LLVMStore:
        add_mark(pass, i, LLVMGetOperand(i, 1), size_of(pass, LLVMTypeOf(LLVMGetOperand(i, 0))),
                 true);
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        add_mark(pass, i, LLVMGetOperand(i, 0), size_of(pass, LLVMTypeOf(LLVMGetOperand(i, 1))),
                 false);
        add_mark(pass, i, LLVMGetOperand(i, 0), size_of(pass, LLVMTypeOf(LLVMGetOperand(i, 1))),
                 true);
        break;
    case LLVMCall:
        mark_call(pass, i);
        break;
    default:
        break;
    }
}

/* Clang's own code for launches and registration touches nothing of the user's. */
static bool is_compilers(LLVMValueRef function)
{
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    return strstr(name, "__device_stub__") || !strncmp(name, "__cuda_", 7) ||
           !strncmp(name, "__cts_", 6) || !strncmp(name, "cts.", 4);
}

static void mark_function(struct access_pass *pass, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            mark_instruction(pass, i);
        }
    }
}

bool cts_host_mark_accesses(LLVMModuleRef module)
{
    static const char name[] = "__cts_host_access";
    LLVMContextRef context = LLVMGetModuleContext(module);
    struct access_pass pass = {
        .context = context,
        .layout = LLVMGetModuleDataLayout(module),
        .builder = LLVMCreateBuilderInContext(context),
        .i32 = LLVMInt32TypeInContext(context),
        .i64 = LLVMInt64TypeInContext(context),
        .pointer = LLVMPointerTypeInContext(context, 0),
    };
    LLVMTypeRef parameters[] = {pass.pointer, pass.i64, pass.i32};
    pass.mark_type = LLVMFunctionType(LLVMVoidTypeInContext(context), parameters, 3, 0);
    pass.mark = LLVMGetNamedFunction(module, name);
    if (!pass.mark) pass.mark = LLVMAddFunction(module, name, pass.mark_type);
    cts_find_managed(module, &pass.managed);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_compilers(f)) mark_function(&pass, f);
    if (!LLVMGetFirstUse(pass.mark)) LLVMDeleteFunction(pass.mark);
    cts_pointer_map_release(&pass.managed);
    LLVMDisposeBuilder(pass.builder);
    return pass.is_changed;
}
