/* Small helpers over LLVM's C API that the lower and the retarget pass share: the types of a
 * module, walking it, names, calls, and a map keyed by pointers. */
#ifndef CTS_INSTRUMENT_IR_H
#define CTS_INSTRUMENT_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

struct cts_ir {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMTargetDataRef layout;
    LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, pointer, nothing;
    bool failed; /* an error was reported */
};

void cts_ir_init(struct cts_ir *ir, LLVMModuleRef module);
void cts_ir_release(struct cts_ir *ir);

/* Out of memory ends the compiler, as it does in LLVM itself. */
void *cts_ir_allocate(size_t count, size_t size_bytes);
void *cts_ir_grow(void *array, size_t *capacity, size_t count, size_t size_bytes);
char *cts_ir_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports "file:line:col: error: text" for the instruction (NULL: without position). */
void cts_ir_error(struct cts_ir *ir, LLVMValueRef instruction, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Walks that survive the removal of the element at hand. */
#define CTS_EACH_FUNCTION(f, module)                                                               \
    for (LLVMValueRef f = LLVMGetFirstFunction(module), f##_next;                                  \
         f && (f##_next = LLVMGetNextFunction(f), true); f = f##_next)
#define CTS_EACH_GLOBAL(g, module)                                                                 \
    for (LLVMValueRef g = LLVMGetFirstGlobal(module), g##_next;                                    \
         g && (g##_next = LLVMGetNextGlobal(g), true); g = g##_next)
#define CTS_EACH_BLOCK(b, function)                                                                \
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
#define CTS_EACH_IN_BLOCK(i, block)                                                                \
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), i##_next;                                \
         i && (i##_next = LLVMGetNextInstruction(i), true); i = i##_next)
#define CTS_EACH_INSTRUCTION(i, function)                                                          \
    CTS_EACH_BLOCK(i##_block, function)                                                            \
    CTS_EACH_IN_BLOCK(i, i##_block)

static inline const char *cts_ir_name(LLVMValueRef value)
{
    size_t size_bytes;
    return LLVMGetValueName2(value, &size_bytes);
}

static inline bool cts_starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

bool cts_ends_with(const char *text, const char *end);

static inline LLVMValueRef cts_u32(const struct cts_ir *ir, uint32_t value)
{
    return LLVMConstInt(ir->i32, value, 0);
}

static inline LLVMValueRef cts_u64(const struct cts_ir *ir, uint64_t value)
{
    return LLVMConstInt(ir->i64, value, 0);
}

/* The function that a call names, or NULL: not a call, indirect, or inline assembly. */
LLVMValueRef cts_called_function(LLVMValueRef instruction);

static inline bool cts_is_call(LLVMValueRef instruction)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return opcode == LLVMCall || opcode == LLVMInvoke;
}

/* A call of an intrinsic of that name (or that starts with it and a dot)? */
bool cts_is_intrinsic(LLVMValueRef function, const char *name);

static inline unsigned cts_address_space(LLVMValueRef pointer)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
}

/* The declaration of a nounwind function, made when the module has none. */
LLVMValueRef cts_declare(struct cts_ir *ir, const char *name, LLVMTypeRef type);

/* A call of a declared function with up to 6 arguments, all typed as they come. */
LLVMValueRef cts_ir_call(struct cts_ir *ir, const char *name, LLVMTypeRef result, unsigned count,
                         LLVMValueRef *arguments);

/* `pointer` + bytes, in the pointer's own address space. */
LLVMValueRef cts_byte_offset(const struct cts_ir *ir, LLVMValueRef pointer, LLVMValueRef bytes);

/* `pointer` as a generic pointer; looks through a cast from one. */
LLVMValueRef cts_generic(const struct cts_ir *ir, LLVMValueRef pointer);

/* Erases the instruction after replacing its uses by `value` (NULL: it had no result). */
void cts_ir_replace(LLVMValueRef instruction, LLVMValueRef value);

unsigned cts_ir_attribute_kind(const char *name);
LLVMAttributeRef cts_ir_attribute(const struct cts_ir *ir, const char *name);
void cts_copy_attributes(LLVMValueRef from, LLVMValueRef to, unsigned parameter_count);

/* Pointer -> pointer or integer. */
struct cts_ir_map {
    const void **keys;
    void **values;
    size_t capacity, count;
};
void **cts_map_slot(struct cts_ir_map *map, const void *key); /* made (NULL) when missing */
void *cts_map_get(const struct cts_ir_map *map, const void *key);
void cts_map_release(struct cts_ir_map *map);

#endif
