/* Inline PTX on its way into IR: what lower-ptx.c (statements and operands), lower-ptx-values.h
 * (arithmetic) and lower-ptx-memory.c (memory, barriers, warps) share: lower-ptx-registers.c. */
#ifndef CTS_INSTRUMENT_LOWER_PTX_H
#define CTS_INSTRUMENT_LOWER_PTX_H

#include "record/instrument/lower.h"

enum { PTX_PARTS_MAX = 12, PTX_OPERANDS_MAX = 10, PTX_NAME_BYTES = 64, PTX_REGISTERS_MAX = 96 };

/* ".u32": 'u' and 32; kinds u s b f p (predicate); ".f16x2" has lanes 2 and 32 bits in all. */
struct ptx_type {
    char kind;
    unsigned bits, lanes;
    bool brain; /* bf16 */
};

struct ptx_register {
    char name[PTX_NAME_BYTES];
    struct ptx_type type;
    LLVMValueRef value; /* NULL: not written yet */
    bool is_output;
};

struct ptx_operand {
    enum { PTX_NOTHING, PTX_REGISTER, PTX_VALUE, PTX_VECTOR, PTX_ADDRESS, PTX_SINK } kind;
    struct ptx_register *reg;    /* PTX_REGISTER; PTX_ADDRESS: the base when it is a register */
    struct ptx_register *second; /* the q of p|q */
    LLVMValueRef value;          /* PTX_VALUE; PTX_ADDRESS: the base */
    int64_t offset;              /* PTX_ADDRESS */
    bool negated;                /* !p */
    bool is_integer;             /* PTX_VALUE from an integer literal (i64) */
    unsigned count;              /* PTX_VECTOR */
    struct ptx_register *elements[8];
    LLVMValueRef element_values[8]; /* constants and special registers as elements */
};

struct ptx_statement {
    char parts[PTX_PARTS_MAX][PTX_NAME_BYTES];
    unsigned part_count;
    struct ptx_operand operands[PTX_OPERANDS_MAX];
    unsigned operand_count;
    LLVMValueRef guard; /* i1, or NULL: always */
};

struct ptx {
    struct cts_ir *ir;
    LLVMValueRef instruction; /* the asm's call */
    struct ptx_register registers[PTX_REGISTERS_MAX];
    unsigned register_count;
    LLVMValueRef carry; /* i1, of .cc instructions */
    LLVMValueRef dummy; /* local memory for guarded accesses that do not happen */
    char reason[128];   /* why it cannot be translated; "" so far */
};

/* ---- types, registers, values (lower-ptx-registers.c) ---- */

bool ptx_fail(struct ptx *ptx, const char *reason);
bool ptx_has(const struct ptx_statement *statement, const char *part);
/* The n-th type among the parts, from the front (0) or the last one (-1). */
struct ptx_type ptx_type_at(const struct ptx_statement *statement, int index);
/* "u32"; false: it is no type. */
bool ptx_parse_type(const char *text, struct ptx_type *type);
LLVMTypeRef ptx_ir_type(const struct cts_ir *ir, struct ptx_type type);

/* NULL: there is none of that name. */
struct ptx_register *ptx_find_register(struct ptx *ptx, const char *name);
/* Declared anew, without a value; NULL after ptx_fail(). */
struct ptx_register *ptx_add_register(struct ptx *ptx, const char *name, struct ptx_type type);

/* An operand's value as `type`: its bits, cut or extended when the register is wider or narrower.
 */
LLVMValueRef ptx_read(struct ptx *ptx, const struct ptx_operand *operand, struct ptx_type type);
/* A value as the integer that a register keeps. */
LLVMValueRef ptx_to_bits(struct ptx *ptx, LLVMValueRef value);
LLVMValueRef ptx_read_i1(struct ptx *ptx, const struct ptx_operand *operand);
/* Stores a value of `type` into a register: extended by its sign or zeros, under the guard. */
bool ptx_write(struct ptx *ptx, const struct ptx_statement *statement, struct ptx_register *reg,
               LLVMValueRef value, struct ptx_type type);
LLVMValueRef ptx_local(struct ptx *ptx, LLVMTypeRef type);

/* ---- statements (lower-ptx-values.c, lower-ptx-memory.c) ---- */

/* Whether the statement was one of theirs and is translated; `known` says whether it was theirs. */
bool ptx_value_statement(struct ptx *ptx, struct ptx_statement *statement, bool *known);
bool ptx_memory_statement(struct ptx *ptx, struct ptx_statement *statement, bool *known);

/* ldmatrix, stmatrix, mma: lower-ptx-matrix.c. */
bool ptx_matrix_statement(struct ptx *ptx, struct ptx_statement *statement, bool *known);

/* lower-ptx-memory.c: a pointer in an address space; memory for accesses that do not happen. */
LLVMValueRef ptx_pointer(struct ptx *ptx, const struct ptx_operand *address, unsigned space);
LLVMValueRef ptx_dummy(struct ptx *ptx);

#endif
