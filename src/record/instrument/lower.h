/* What the files of the lower pass share. The pass as a whole is told in lower.c. */
#ifndef CTS_INSTRUMENT_LOWER_H
#define CTS_INSTRUMENT_LOWER_H

#include "record/instrument/ir.h"
#include "record/instrument/marks.h"

/* lower-intrinsics.c: whether the intrinsic's call became ordinary IR (or may stay). */
bool cts_lower_intrinsic(struct cts_ir *ir, LLVMValueRef instruction, const char *name);

/* What a call of llvm.minnum or llvm.maxnum gives when -0 counts as less than +0, as on a GPU; LLVM
 * leaves open which of them it gives. Built behind the call, at the builder's place. */
LLVMValueRef cts_lower_zeros(const struct cts_ir *ir, LLVMValueRef call, bool is_min);

/* A special register by its PTX name without '%' ("laneid", "tid.x"), built at the builder's place;
 * NULL: not known. `bits` is 32 or 64. */
LLVMValueRef cts_lower_register(struct cts_ir *ir, const char *name, unsigned *bits);

/* lower-ptx.c: inline assembly becomes IR, or is reported. */
void cts_lower_ptx(struct cts_ir *ir, LLVMValueRef instruction);

#endif
