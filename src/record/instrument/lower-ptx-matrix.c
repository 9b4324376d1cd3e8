/* PTX instructions on matrices that a warp holds in its registers, as calls of the engine
 * (cpu/engine/matrix.c), which exchanges what the lanes have. ldmatrix and stmatrix access memory
 * here, each lane the row of 16 bytes at its own address, so that recordings have these accesses.
 */
#include "record/instrument/lower-ptx.h"
#include "record/instrument/nvvm-abi.h"

#include <ctype.h>
#include <stdlib.h>

enum { SHARED_SPACE = 3, ROW_BYTES = 16, ROW_WORDS = 4 };

static const struct ptx_type word_type = {.kind = 'b', .bits = 32, .lanes = 1};

static LLVMValueRef word_at(const struct cts_ir *ir, LLVMValueRef array, unsigned index)
{
    LLVMValueRef offset = cts_u64(ir, index);
    return LLVMBuildGEP2(ir->builder, ir->i32, array, &offset, 1, "");
}

/* ---- ldmatrix, stmatrix ---- */

static unsigned matrix_count(const struct ptx_statement *statement)
{
    return ptx_has(statement, "x4") ? 4 : ptx_has(statement, "x2") ? 2 : 1;
}

static bool is_known_form(const struct ptx_statement *statement, const struct ptx_operand *words,
                          const struct ptx_operand *address)
{
    const unsigned count = matrix_count(statement);
    const bool fits = words->kind == PTX_VECTOR ? words->count == count
                                                : words->kind == PTX_REGISTER && count == 1;
    return fits && address->kind == PTX_ADDRESS && ptx_has(statement, "m8n8") &&
           ptx_has(statement, "b16");
}

/* The row of this lane, or memory for nothing if it has none. */
static LLVMValueRef row_pointer(struct ptx *ptx, const struct ptx_operand *address, unsigned count)
{
    struct cts_ir *const ir = ptx->ir;
    unsigned bits;
    LLVMValueRef lane = cts_lower_register(ir, "laneid", &bits);
    LLVMValueRef has_row = LLVMBuildICmp(ir->builder, LLVMIntULT, lane, cts_u32(ir, 8 * count), "");
    LLVMValueRef pointer = cts_generic(ir, ptx_pointer(ptx, address, SHARED_SPACE));
    return LLVMBuildSelect(ir->builder, has_row, pointer, ptx_dummy(ptx), "");
}

/* Of 16 bytes at `from`, as one access, to `to`. */
static void move_row(const struct cts_ir *ir, LLVMValueRef from, LLVMValueRef to)
{
    LLVMTypeRef type = LLVMVectorType(ir->i32, ROW_WORDS);
    LLVMValueRef load = LLVMBuildLoad2(ir->builder, type, from, "");
    LLVMSetAlignment(load, ROW_BYTES);
    LLVMSetAlignment(LLVMBuildStore(ir->builder, load, to), ROW_BYTES);
}

static LLVMValueRef row_buffer(struct ptx *ptx)
{
    LLVMValueRef row = ptx_local(ptx, LLVMArrayType2(ptx->ir->i32, ROW_WORDS));
    LLVMSetAlignment(row, ROW_BYTES);
    return row;
}

static void exchange(struct ptx *ptx, const struct ptx_statement *statement, const char *name,
                     LLVMValueRef buffers[2])
{
    struct cts_ir *const ir = ptx->ir;
    const unsigned form =
        matrix_count(statement) | (ptx_has(statement, "trans") ? CTS_MATRIX_TRANSPOSED : 0);
    LLVMValueRef arguments[] = {buffers[0], buffers[1], cts_u32(ir, form)};
    cts_ir_call(ir, name, ir->nothing, 3, arguments);
}

static struct ptx_register *element(const struct ptx_operand *words, unsigned index)
{
    return words->kind == PTX_VECTOR ? words->elements[index] : words->reg;
}

static bool write_words(struct ptx *ptx, struct ptx_statement *statement, LLVMValueRef from,
                        unsigned count)
{
    const struct cts_ir *const ir = ptx->ir;
    for (unsigned i = 0; i < count; i++) {
        struct ptx_register *const to = element(&statement->operands[0], i);
        LLVMValueRef word = LLVMBuildLoad2(ir->builder, ir->i32, word_at(ir, from, i), "");
        if (to && !ptx_write(ptx, statement, to, word, word_type)) return false;
    }
    return true;
}

/* ldmatrix.sync.aligned.m8n8.NUM{.trans}.shared.b16 words, [row] */
static bool lower_load_matrix(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct ptx_operand *const operands = statement->operands;
    if (!is_known_form(statement, &operands[0], &operands[1]))
        return ptx_fail(ptx, "unknown form of ldmatrix");
    const unsigned count = matrix_count(statement);
    LLVMValueRef buffers[] = {row_buffer(ptx), row_buffer(ptx)};
    move_row(ptx->ir, row_pointer(ptx, &operands[1], count), buffers[0]);
    exchange(ptx, statement, "__cts_matrix_load", buffers);
    return write_words(ptx, statement, buffers[1], count);
}

/* The value of a register or constant of an operand's vector. */
static LLVMValueRef read_element(struct ptx *ptx, const struct ptx_operand *words, unsigned index,
                                 struct ptx_type type)
{
    if (words->kind != PTX_VECTOR) return ptx_read(ptx, words, type);
    LLVMValueRef constant = words->element_values[index];
    const struct ptx_operand one = {.kind = words->elements[index] ? PTX_REGISTER : PTX_VALUE,
                                    .reg = words->elements[index],
                                    .value = constant ? constant : cts_u64(ptx->ir, 0),
                                    .is_integer = true};
    return ptx_read(ptx, &one, type);
}

/* stmatrix.sync.aligned.m8n8.NUM{.trans}.shared.b16 [row], words */
static bool lower_store_matrix(struct ptx *ptx, struct ptx_statement *statement)
{
    const struct cts_ir *const ir = ptx->ir;
    const struct ptx_operand *const operands = statement->operands;
    if (!is_known_form(statement, &operands[1], &operands[0]))
        return ptx_fail(ptx, "unknown form of stmatrix");
    const unsigned count = matrix_count(statement);
    LLVMValueRef buffers[] = {row_buffer(ptx), row_buffer(ptx)};
    for (unsigned i = 0; i < count; i++)
        LLVMBuildStore(ir->builder, read_element(ptx, &operands[1], i, word_type),
                       word_at(ir, buffers[0], i));
    exchange(ptx, statement, "__cts_matrix_store", buffers);
    move_row(ir, buffers[1], row_pointer(ptx, &operands[0], count));
    return true;
}

/* ---- mma ---- */

static const struct {
    const char *name;
    unsigned bits;
} kinds[] = {
#define ROW(name, enumerator, bits) {#name, bits},
    CTS_MATRIX_KINDS(ROW)
#undef ROW
};

static int kind_of(const char *name)
{
    for (int i = 0; i < CTS_MATRIX_KIND_COUNT; i++)
        if (strcmp(kinds[i].name, name) == 0) return i;
    return -1;
}

struct multiplication {
    unsigned m, n, k;
    int d, a, b, c; /* enum cts_matrix_kind */
};

/* "m16n8k32" */
static bool parse_shape(const char *text, struct multiplication *of)
{
    static const char letters[] = "mnk";
    unsigned *const sizes[] = {&of->m, &of->n, &of->k};
    for (size_t i = 0; i < 3; i++) {
        char *end;
        if (text[0] != letters[i] || !isdigit((unsigned char)text[1])) return false;
        *sizes[i] = (unsigned)strtoul(text + 1, &end, 10);
        text = end;
    }
    return *text == '\0';
}

static bool parse_multiplication(const struct ptx_statement *statement, struct multiplication *of)
{
    /* Behind the types, products of single bits have .xor.popc or .and.popc. */
    const unsigned parts = statement->part_count - (ptx_has(statement, "popc") ? 2 : 0);
    if (parts < 7 || statement->operand_count != 4) return false;
    bool has_shape = false;
    for (unsigned i = 1; i < parts; i++) has_shape |= parse_shape(statement->parts[i], of);
    of->d = kind_of(statement->parts[parts - 4]);
    of->a = kind_of(statement->parts[parts - 3]);
    of->b = kind_of(statement->parts[parts - 2]);
    of->c = kind_of(statement->parts[parts - 1]);
    if (!has_shape || of->d < 0 || of->a < 0 || of->b < 0 || of->c < 0) return false;
    const bool is_transposed = !ptx_has(statement, "row") || !ptx_has(statement, "col");
    return !is_transposed && !ptx_has(statement, "sp") && (of->m == 8 || of->m == 16) &&
           of->n == 8 && kinds[of->a].bits == kinds[of->b].bits && kinds[of->a].bits <= 64;
}

/* How many registers of 32 bits (64 for f64) a lane has of a matrix of `elements`. */
static unsigned register_count(unsigned elements, int kind)
{
    const unsigned bits = elements / 32 * kinds[kind].bits;
    return kind == CTS_MATRIX_F64 ? bits / 64 : bits / 32;
}

/* What an operand of the instruction is: a matrix, of which the lane has `count` registers. */
struct fragment {
    const struct ptx_operand *operand;
    int kind;
    unsigned count, word;
};

static struct ptx_type register_type(int kind)
{
    return kind == CTS_MATRIX_F64 ? (struct ptx_type){.kind = 'b', .bits = 64, .lanes = 1}
                                  : word_type;
}

static LLVMValueRef register_place(const struct cts_ir *ir, LLVMValueRef words,
                                   const struct fragment *fragment, unsigned index)
{
    const unsigned step = fragment->kind == CTS_MATRIX_F64 ? 2 : 1;
    return word_at(ir, words, fragment->word + index * step);
}

static bool has_registers(const struct fragment *fragment)
{
    const struct ptx_operand *const operand = fragment->operand;
    return operand->kind == PTX_VECTOR ? operand->count == fragment->count : fragment->count == 1;
}

static bool write_result(struct ptx *ptx, const struct ptx_statement *statement,
                         const struct fragment *d, LLVMValueRef words)
{
    const struct cts_ir *const ir = ptx->ir;
    const struct ptx_type type = register_type(d->kind);
    LLVMTypeRef ir_type = LLVMIntTypeInContext(ir->context, type.bits);
    for (unsigned i = 0; i < d->count; i++) {
        struct ptx_register *const to = element(d->operand, i);
        LLVMValueRef value =
            LLVMBuildLoad2(ir->builder, ir_type, register_place(ir, words, d, i), "");
        if (to && !ptx_write(ptx, statement, to, value, type)) return false;
    }
    return true;
}

/* mma.sync.aligned.SHAPE.row.col{...}.D.A.B.C d, a, b, c */
static bool lower_multiplication(struct ptx *ptx, struct ptx_statement *statement)
{
    struct cts_ir *const ir = ptx->ir;
    struct multiplication of = {0};
    if (!parse_multiplication(statement, &of)) return ptx_fail(ptx, "unknown form of mma");
    const struct ptx_operand *const operands = statement->operands;
    const struct fragment inputs[] = {
        {&operands[1], of.a, register_count(of.m * of.k, of.a), 0},
        {&operands[2], of.b, register_count(of.k * of.n, of.b), CTS_MATRIX_B_WORD},
        {&operands[3], of.c, register_count(of.m * of.n, of.c), CTS_MATRIX_C_WORD}};
    const struct fragment d = {&operands[0], of.d, register_count(of.m * of.n, of.d),
                               CTS_MATRIX_C_WORD};
    LLVMValueRef words = ptx_local(ptx, LLVMArrayType2(ir->i32, CTS_MATRIX_WORDS));
    LLVMSetAlignment(words, ROW_BYTES);
    bool fits = has_registers(&d);
    for (unsigned f = 0; f < 3; f++) {
        fits &= has_registers(&inputs[f]);
        for (unsigned i = 0; fits && i < inputs[f].count; i++)
            LLVMBuildStore(ir->builder,
                           read_element(ptx, inputs[f].operand, i, register_type(inputs[f].kind)),
                           register_place(ir, words, &inputs[f], i));
    }
    if (!fits) return ptx_fail(ptx, "unknown form of mma");
    const unsigned flags = (ptx_has(statement, "satfinite") ? CTS_MATRIX_SATURATE : 0) |
                           (ptx_has(statement, "and") ? CTS_MATRIX_AND : 0);
    const unsigned kind_bytes = (unsigned)of.a | (unsigned)of.b << 8 | (unsigned)of.c << 16 |
                                ((unsigned)of.d | flags) << 24;
    LLVMValueRef arguments[] = {words, cts_u32(ir, of.m | of.n << 8 | of.k << 16),
                                cts_u32(ir, kind_bytes)};
    cts_ir_call(ir, "__cts_matrix_multiply", ir->nothing, 3, arguments);
    return write_result(ptx, statement, &d, words);
}

bool ptx_matrix_statement(struct ptx *ptx, struct ptx_statement *statement, bool *known)
{
    static const struct {
        const char *name;
        bool (*lower)(struct ptx *, struct ptx_statement *);
    } table[] = {
        {"ldmatrix", lower_load_matrix},
        {"stmatrix", lower_store_matrix},
        {"mma", lower_multiplication},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, statement->parts[0]) != 0) continue;
        *known = true;
        if (statement->guard)
            return ptx_fail(ptx, "a guard (@p) before an instruction that cannot be skipped");
        return table[i].lower(ptx, statement);
    }
    return true;
}
