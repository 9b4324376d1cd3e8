/* Functions that allocate for their caller: constructors, `T *make(n)`, `void make(T **to, n)`. */
#ifndef CTS_INSTRUMENT_HOST_HELPERS_H
#define CTS_INSTRUMENT_HOST_HELPERS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

/* Metadata of stack slots in helpers that were inlined: the slot holds a parameter; what the slot
 * holds is returned; the slot holds the result. */
#define CTS_HELPER_PARAMETER "cts.helper.parameter"
#define CTS_HELPER_RETURNED  "cts.helper.returned"
#define CTS_HELPER_RESULT    "cts.helper.result"

typedef bool cts_is_allocating(void *user, LLVMValueRef function);
typedef bool cts_is_users(void *user, LLVMValueRef function);

/* Inlines calls of the user's helpers, also of helpers that call helpers, so that each call of an
 * allocating function stands for one variable of the source. Returns whether anything was. */
bool cts_host_inline_helpers(LLVMModuleRef module, cts_is_allocating *is_allocating,
                             cts_is_users *is_users, void *user);

bool cts_has_mark(LLVMValueRef slot, const char *mark);
/* What is stored to a slot that is stored to once; NULL: it is not. */
LLVMValueRef cts_only_value_in(LLVMValueRef slot);

#endif
