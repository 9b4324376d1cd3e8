/* PTX instructions that compute a value, "op{.modifiers}.type d, a{, b{, c}}": tables of one
 * function per family, by the first part of the name. lower-ptx-arithmetic.c has sums, products and
 * float functions, lower-ptx-bits.c bits and bytes, lower-ptx-values.c moves and what is of another
 * form. */
#ifndef CTS_INSTRUMENT_LOWER_PTX_VALUES_H
#define CTS_INSTRUMENT_LOWER_PTX_VALUES_H

#include "record/instrument/lower-ptx.h"

/* The value of d; what fails is said with ptx_fail(), and the value then is anything. */
typedef LLVMValueRef ptx_compute(struct ptx *ptx, struct ptx_statement *statement,
                                 struct ptx_type type);

struct ptx_computation {
    const char *name;
    ptx_compute *compute;
    unsigned result_bits; /* 0: as the type; 32 also for counts of 64-bit values */
};
/* Ended by a NULL name. */
extern const struct ptx_computation ptx_arithmetic[], ptx_bits[];

/* Operand `index` as `type`; 0 is d. */
LLVMValueRef ptx_operand_value(struct ptx *ptx, const struct ptx_statement *statement,
                               unsigned index, struct ptx_type type);
struct ptx_type ptx_sized(char kind, unsigned bits);
/* llvm.NAME for one overloaded type */
LLVMValueRef ptx_intrinsic(struct ptx *ptx, const char *name, LLVMTypeRef type,
                           LLVMValueRef *arguments, unsigned count);
/* A float with .sat: cut to 0 to 1. */
LLVMValueRef ptx_saturate(struct ptx *ptx, const struct ptx_statement *statement,
                          LLVMValueRef value, struct ptx_type type);

#endif
