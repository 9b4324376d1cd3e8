/* CUDA's vectors (float2, int4, ...) are aligned to their size, and a GPU loads and stores them at
 * once. Where the program casts a pointer to an array of floats, clang goes by the array and takes
 * the vector for one that is aligned as a float is: it would be loaded member by member, with bank
 * conflicts that no GPU has. Before any optimisation, what is certainly such a vector gets its
 * alignment:
 *
 *     a copy of its size, one side of which is a variable or an element of that type;
 *     a member of an element of that type.
 *
 * nvcc assumes the same: a pointer that is not aligned so is a misaligned address on a GPU. */
#include "record/instrument/vector-copies.h"

#include <stdint.h>
#include <string.h>

/* The size of a vector that is aligned to it; 0: another type. LLVM numbers types of one name. */
static unsigned vector_bytes(LLVMTypeRef type)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } scalars[] = {{"char", 1},  {"uchar", 1},    {"short", 2},     {"ushort", 2},
                   {"int", 4},   {"uint", 4},     {"float", 4},     {"long", 8},
                   {"ulong", 8}, {"longlong", 8}, {"ulonglong", 8}, {"double", 8}};
    const char *name =
        type && LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    if (!name || !cts_starts_with(name, "struct.")) return 0;
    name += strlen("struct.");
    const size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        const size_t stem = strlen(scalars[i].name);
        if (length != stem + 1 || strncmp(name, scalars[i].name, stem) != 0) continue;
        const unsigned bytes = (unsigned)(name[stem] - '0') * scalars[i].bytes;
        return (name[stem] == '2' || name[stem] == '4') && bytes <= 16 ? bytes : 0;
    }
    return 0;
}

/* The vector that a pointer certainly points to, as its size. */
static unsigned vector_at(LLVMValueRef pointer)
{
    if (LLVMIsAAllocaInst(pointer)) return vector_bytes(LLVMGetAllocatedType(pointer));
    if (LLVMIsAGetElementPtrInst(pointer) && LLVMGetNumIndices(pointer) == 1)
        return vector_bytes(LLVMGetGEPSourceElementType(pointer));
    return 0;
}

static uint64_t alignment_of(LLVMValueRef call, unsigned operand)
{
    LLVMAttributeRef attribute =
        LLVMGetCallSiteEnumAttribute(call, operand + 1, cts_ir_attribute_kind("align"));
    return attribute ? LLVMGetEnumAttributeValue(attribute) : 1;
}

static void align_copy(const struct cts_ir *ir, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(callee) || !cts_starts_with(cts_ir_name(callee), "llvm.memcpy.")) return;
    LLVMValueRef size = LLVMGetOperand(call, 2);
    const unsigned to = vector_at(LLVMGetOperand(call, 0));
    const unsigned from = vector_at(LLVMGetOperand(call, 1)), bytes = to ? to : from;
    if (!bytes || !LLVMIsAConstantInt(size) || LLVMConstIntGetZExtValue(size) != bytes) return;
    for (unsigned operand = 0; operand < 2; operand++)
        if (alignment_of(call, operand) < bytes)
            LLVMAddCallSiteAttribute(
                call, operand + 1,
                LLVMCreateEnumAttribute(ir->context, cts_ir_attribute_kind("align"), bytes));
}

/* A load or store of a member: the vector's alignment, as far as the member's offset has it. */
static void align_member(LLVMValueRef access, LLVMValueRef pointer)
{
    if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumIndices(pointer) != 2) return;
    const unsigned bytes = vector_bytes(LLVMGetGEPSourceElementType(pointer));
    LLVMValueRef member = LLVMGetOperand(pointer, 2);
    if (!bytes || !LLVMIsAConstantInt(member)) return;
    const unsigned count = LLVMCountStructElementTypes(LLVMGetGEPSourceElementType(pointer));
    const unsigned offset = (unsigned)LLVMConstIntGetZExtValue(member) * (bytes / count);
    const unsigned aligned = offset ? offset & -offset : bytes;
    if (LLVMGetAlignment(access) < aligned) LLVMSetAlignment(access, aligned);
}

void cts_align_vectors(struct cts_ir *ir)
{
    CTS_EACH_FUNCTION(f, ir->module)
    CTS_EACH_INSTRUCTION(i, f)
    {
        if (LLVMIsACallInst(i)) align_copy(ir, i);
        if (LLVMIsALoadInst(i)) align_member(i, LLVMGetOperand(i, 0));
        if (LLVMIsAStoreInst(i)) align_member(i, LLVMGetOperand(i, 1));
    }
}
