/* Recognises what touches memory in NVPTX IR: plain and atomic instructions, memory intrinsics,
 * NVVM's own intrinsics, functions of libdevice that return through pointers, and inline PTX. */
#include "record/instrument/device-access.h"

#include <stdlib.h>
#include <string.h>

#include "record/instrument/shim.h"

static bool has_prefix(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static struct cts_memory_access *add(struct cts_memory_accesses *accesses, LLVMValueRef pointer,
                                     enum cts_operation operation, uint64_t width_bytes)
{
    static struct cts_memory_access overflow;
    bool has_room = accesses->count < CTS_ACCESSES_PER_INSTRUCTION;
    struct cts_memory_access *access = has_room ? &accesses->items[accesses->count++] : &overflow;
    *access = (struct cts_memory_access){
        .pointer = pointer, .operation = operation, .width_bytes = width_bytes};
    return access;
}

static struct cts_memory_access *add_typed(struct cts_memory_accesses *accesses,
                                           LLVMTargetDataRef layout, LLVMValueRef pointer,
                                           enum cts_operation operation, LLVMTypeRef type)
{
    uint64_t width = LLVMTypeIsSized(type) ? LLVMStoreSizeOfType(layout, type) : 0;
    struct cts_memory_access *access = add(accesses, pointer, operation, width);
    access->type = type;
    return access;
}

static enum cts_operation atomic_operation(LLVMAtomicRMWBinOp operation)
{
    switch (operation) {
    case LLVMAtomicRMWBinOpXchg:
        return CTS_ATOMIC_EXCH;
    case LLVMAtomicRMWBinOpAdd:
    case LLVMAtomicRMWBinOpFAdd:
        return CTS_ATOMIC_ADD;
    case LLVMAtomicRMWBinOpSub:
    case LLVMAtomicRMWBinOpFSub:
        return CTS_ATOMIC_SUB;
    case LLVMAtomicRMWBinOpAnd:
        return CTS_ATOMIC_AND;
    case LLVMAtomicRMWBinOpOr:
        return CTS_ATOMIC_OR;
    case LLVMAtomicRMWBinOpXor:
        return CTS_ATOMIC_XOR;
    case LLVMAtomicRMWBinOpMax:
    case LLVMAtomicRMWBinOpUMax:
    case LLVMAtomicRMWBinOpFMax:
        return CTS_ATOMIC_MAX;
    case LLVMAtomicRMWBinOpMin:
    case LLVMAtomicRMWBinOpUMin:
    case LLVMAtomicRMWBinOpFMin:
        return CTS_ATOMIC_MIN;
    case LLVMAtomicRMWBinOpUIncWrap:
        return CTS_ATOMIC_INC;
    case LLVMAtomicRMWBinOpUDecWrap:
        return CTS_ATOMIC_DEC;
    default:
        return CTS_ATOMIC_OTHER;
    }
}

/* llvm.mem{cpy,move,set}[.inline].*: operands are to, from or byte, length, volatile. */
static void find_in_memory_intrinsic(LLVMValueRef call, const char *name,
                                     struct cts_memory_accesses *accesses)
{
    LLVMValueRef to = LLVMGetOperand(call, 0), from = LLVMGetOperand(call, 1);
    LLVMValueRef length = LLVMGetOperand(call, 2), flag = LLVMGetOperand(call, 3);
    bool is_set = has_prefix(name, "llvm.memset");
    bool is_constant = LLVMIsAConstantInt(length) != NULL;
    uint64_t width = is_constant ? LLVMConstIntGetZExtValue(length) : 0;
    if (width > INT32_MAX) is_constant = false; /* does not fit a site's width */
    struct cts_memory_access *access;
    if (!is_set) {
        access = add(accesses, from, CTS_LOAD, width);
        access->value_source = CTS_VALUE_OF_SOURCE;
    }
    access = add(accesses, to, CTS_STORE, width);
    access->value_source = is_set ? CTS_VALUE_OF_BYTE : CTS_VALUE_OF_SOURCE;
    for (unsigned i = 0; i < accesses->count; i++) {
        accesses->items[i].value = from;
        accesses->items[i].length = is_constant ? NULL : length;
        accesses->items[i].is_volatile =
            LLVMIsAConstantInt(flag) && LLVMConstIntGetZExtValue(flag) != 0;
    }
}

/* The operation in "llvm.nvvm.atomic.add.gen.i.cta.i32.p0" or "llvm.nvvm.atomic.load.inc.32.p0". */
static enum cts_operation nvvm_atomic_operation(const char *name)
{
    static const struct {
        const char *word;
        enum cts_operation operation;
    } words[] = {
        {"load.inc.", CTS_ATOMIC_INC}, {"load.dec.", CTS_ATOMIC_DEC}, {"load.add.", CTS_ATOMIC_ADD},
        {"add.", CTS_ATOMIC_ADD},      {"exch.", CTS_ATOMIC_EXCH},    {"max.", CTS_ATOMIC_MAX},
        {"min.", CTS_ATOMIC_MIN},      {"inc.", CTS_ATOMIC_INC},      {"dec.", CTS_ATOMIC_DEC},
        {"and.", CTS_ATOMIC_AND},      {"or.", CTS_ATOMIC_OR},        {"xor.", CTS_ATOMIC_XOR},
        {"cas.", CTS_ATOMIC_CAS},
    };
    name += strlen("llvm.nvvm.atomic.");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_prefix(name, words[i].word)) return words[i].operation;
    return CTS_ATOMIC_OTHER;
}

static void find_in_nvvm_intrinsic(LLVMTargetDataRef layout, LLVMValueRef call, const char *name,
                                   struct cts_memory_accesses *accesses)
{
    static const char *const not_understood[] = {
        "cp.async.bulk", "ldmatrix", "stmatrix", "wmma.load",       "wmma.store", "tex.",
        "tld4.",         "suld.",    "sust.",    "cp.reduce.async", "sured.",     NULL};
    const char *rest = name + strlen("llvm.nvvm.");
    LLVMValueRef first = LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, 0) : NULL;
    if (has_prefix(rest, "ldg.") || has_prefix(rest, "ldu.")) {
        add_typed(accesses, layout, first, CTS_LOAD, LLVMTypeOf(call));
    } else if (has_prefix(rest, "atomic.")) {
        add_typed(accesses, layout, first, nvvm_atomic_operation(name), LLVMTypeOf(call));
    } else if (has_prefix(rest, "cp.async.ca.shared.global.") ||
               has_prefix(rest, "cp.async.cg.shared.global.")) {
        uint64_t width = strtoul(rest + strlen("cp.async.ca.shared.global."), NULL, 10);
        LLVMValueRef from = LLVMGetOperand(call, 1);
        struct cts_memory_access *access = add(accesses, from, CTS_LOAD, width);
        access->value = from;
        access->value_source = CTS_VALUE_OF_SOURCE;
        access = add(accesses, first, CTS_STORE, width);
        access->value = from;
        access->value_source = CTS_VALUE_OF_SOURCE;
    } else {
        for (const char *const *word = not_understood; *word; word++)
            if (has_prefix(rest, *word))
                accesses->skipped_reason = "this instruction's memory accesses are not recorded";
    }
}

/* Functions of libdevice that store results through pointers: argument numbers from `first` on. */
static void find_in_libdevice(LLVMTargetDataRef layout, LLVMValueRef call, const char *name,
                              struct cts_memory_accesses *accesses)
{
    static const struct {
        const char *name;
        unsigned first, count, width_bytes; /* width 0: of the function's first argument */
    } functions[] = {
        {"__nv_frexp", 1, 1, 4},     {"__nv_frexpf", 1, 1, 4},       {"__nv_modf", 1, 1, 0},
        {"__nv_modff", 1, 1, 0},     {"__nv_remquo", 2, 1, 4},       {"__nv_remquof", 2, 1, 4},
        {"__nv_sincos", 1, 2, 0},    {"__nv_sincosf", 1, 2, 0},      {"__nv_sincospi", 1, 2, 0},
        {"__nv_sincospif", 1, 2, 0}, {"__nv_fast_sincosf", 1, 2, 0},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(name, functions[i].name) != 0) continue;
        if (LLVMGetNumArgOperands(call) < functions[i].first + functions[i].count) return;
        for (unsigned k = 0; k < functions[i].count; k++) {
            LLVMValueRef to = LLVMGetOperand(call, functions[i].first + k);
            LLVMTypeRef type = functions[i].width_bytes
                                   ? LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(call)))
                                   : LLVMTypeOf(LLVMGetOperand(call, 0));
            add_typed(accesses, layout, to, CTS_STORE, type)->value_source = CTS_VALUE_OF_MEMORY;
        }
        return;
    }
}

static void find_in_call(LLVMTargetDataRef layout, LLVMValueRef call,
                         struct cts_memory_accesses *accesses)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    size_t length;
    if (LLVMIsAInlineAsm(callee)) {
        cts_find_ptx_accesses(call, accesses);
        return;
    }
    if (!LLVMIsAFunction(callee)) return; /* what it calls is marked in place */
    const char *name = LLVMGetValueName2(callee, &length);
    if (!LLVMGetIntrinsicID(callee)) {
        if (has_prefix(name, "__nv_")) find_in_libdevice(layout, call, name, accesses);
    } else if (has_prefix(name, "llvm.memcpy.") || has_prefix(name, "llvm.memmove.") ||
               has_prefix(name, "llvm.memset.")) {
        find_in_memory_intrinsic(call, name, accesses);
    } else if (has_prefix(name, "llvm.nvvm.")) {
        find_in_nvvm_intrinsic(layout, call, name, accesses);
    } else if (has_prefix(name, "llvm.masked.")) {
        accesses->skipped_reason = "masked vector accesses are not recorded";
    }
}

/* Loads and stores that other threads may come upon without a race: of atomics in C++, or
 * ld.acquire.
 */
static bool is_atomic(LLVMValueRef instruction)
{
    const bool has_order = LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction);
    return has_order && LLVMGetOrdering(instruction) >= LLVMAtomicOrderingMonotonic;
}

void cts_find_accesses(LLVMTargetDataRef layout, LLVMValueRef instruction,
                       struct cts_memory_accesses *accesses)
{
    struct cts_memory_access *access = NULL;
    accesses->count = 0;
    accesses->skipped_reason = NULL;
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMLoad:
        access = add_typed(accesses, layout, LLVMGetOperand(instruction, 0), CTS_LOAD,
                           LLVMTypeOf(instruction));
        break;
    case LLVMStore: {
        LLVMValueRef value = LLVMGetOperand(instruction, 0);
        access = add_typed(accesses, layout, LLVMGetOperand(instruction, 1), CTS_STORE,
                           LLVMTypeOf(value));
        access->value = value;
        access->value_source = CTS_VALUE_OF_OPERAND;
        break;
    }
    case LLVMAtomicRMW:
        access = add_typed(accesses, layout, LLVMGetOperand(instruction, 0),
                           atomic_operation(LLVMGetAtomicRMWBinOp(instruction)),
                           LLVMTypeOf(instruction));
        break;
    case LLVMAtomicCmpXchg:
        access = add_typed(accesses, layout, LLVMGetOperand(instruction, 0), CTS_ATOMIC_CAS,
                           LLVMTypeOf(LLVMGetOperand(instruction, 1)));
        break;
    case LLVMCall:
        find_in_call(layout, instruction, accesses);
        break;
    default:
        break;
    }
    if (access) access->is_volatile = LLVMGetVolatile(instruction) || is_atomic(instruction);
}
