/* What the passes need of LLVM and its C API lacks. */
#ifndef CTS_INSTRUMENT_SHIM_H
#define CTS_INSTRUMENT_SHIM_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

/* Attribute of functions of the retarget step that only few of LLVM's passes look at. */
#define CTS_LEAN_FUNCTION "cts-lean"

#ifdef __cplusplus
extern "C" {
#endif

/* Copies `function` within its module under `name`, with internal linkage. Calls of itself inside
 * the copy still name the original. */
LLVMValueRef cts_clone_function(LLVMValueRef function, const char *name);

/* The source's spelling of a symbol without the return type, "reduce<float, 256>(float*, int)";
 * the symbol itself when it is not a mangled name. The caller frees the text. */
char *cts_demangle(const char *symbol);

/* Fails the compilation, or warns, in clang's own form with the instruction's position; without an
 * instruction, a message without one. The compiler goes on until the pass manager returns. */
void cts_error_at(LLVMModuleRef module, LLVMValueRef instruction, const char *message);

/* Operand `index` of a metadata node; NULL when there is none. */
LLVMMetadataRef cts_metadata_operand(LLVMMetadataRef node, unsigned index);
unsigned cts_metadata_operand_count(LLVMMetadataRef node);
/* The text of a metadata string, or NULL and 0 for anything else; borrowed, not terminated. */
const char *cts_metadata_text(LLVMMetadataRef string, size_t *size_bytes);

/* Calls `visit` for each place in the function where debug information says that a value is a
 * source variable's content, from `offset_bytes` of it on, or its address. `position` is the
 * record's location: it tells one inlined copy of the variable from another. */
struct cts_debug_variable {
    LLVMValueRef value;
    LLVMMetadataRef variable, position;
    int is_address;
    unsigned offset_bytes;
};
typedef void cts_visit_variable(void *user, const struct cts_debug_variable *variable);
void cts_each_debug_variable(LLVMValueRef function, cts_visit_variable *visit, void *user);

/* Gives what was inlined from a file that is not the user's the position of the user's line that
 * it was inlined into. */
void cts_keep_users_lines(LLVMModuleRef module);

/* Inlines a call, which has a position, whatever the attributes of the function. 0: it could not.
 */
int cts_inline_call(LLVMValueRef call);

/* Splits the instruction's block before it; the new block begins with it. */
LLVMBasicBlockRef cts_split_before(LLVMValueRef instruction);

/* Links a file of bitcode into the module; what it defines becomes the module's own, and is
 * compiled for the module's target. Not 0: it failed, and the caller frees the text of *problem. */
int cts_link_bitcode(LLVMModuleRef module, const char *path, char **problem);
/* The same, of a library: only what the module calls. */
int cts_link_needed(LLVMModuleRef module, const char *path, char **problem);

#ifdef __cplusplus
}
#endif

#endif
