/* Inline PTX becomes IR, for the CPU device. An asm is a few statements in a line, without jumps:
 *
 *     { .reg .pred p; setp.ne.u32 p, $1, 0; @p ld.global.u32 $0, [$2+4]; }
 *
 * Each register (declared ones, and the asm's operands $0, $1, ...) holds an IR value; a statement
 * computes a new value for its destination. A guarded statement (@p) selects between the new and
 * the old value; a guarded access that does not happen goes to a local variable. What is not known
 * is refused with its text: see the tables of lower-ptx-values.h and lower-ptx-memory.c. */
#include "record/instrument/lower-ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- operands ---- */

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at)) at++;
    return at;
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '.';
}

/* "$3", "${3:w}" or a name; the text behind it, or NULL. */
static const char *parse_name(const char *at, char name[PTX_NAME_BYTES])
{
    size_t length = 0;
    if (at[0] == '$' && at[1] == '{') {
        name[length++] = '$';
        for (at += 2; isdigit((unsigned char)*at) && length + 1 < PTX_NAME_BYTES; at++)
            name[length++] = *at;
        while (*at && *at != '}') at++;
        if (*at == '}') at++;
    } else {
        if (*at == '$') name[length++] = *at++;
        while (is_name_char(*at) && length + 1 < PTX_NAME_BYTES) name[length++] = *at++;
    }
    name[length] = '\0';
    return length ? at : NULL;
}

static const char *parse_number(struct ptx *ptx, const char *at, struct ptx_operand *operand)
{
    const struct cts_ir *const ir = ptx->ir;
    char *end;
    operand->kind = PTX_VALUE;
    if (at[0] == '0' && strchr("fFdD", at[1]) && at[1]) {
        const bool is_double = tolower((unsigned char)at[1]) == 'd';
        const unsigned long long bits = strtoull(at + 2, &end, 16);
        LLVMValueRef integer = LLVMConstInt(is_double ? ir->i64 : ir->i32, bits, 0);
        operand->value = LLVMConstBitCast(integer, is_double ? ir->f64 : ir->f32);
        return end;
    }
    const size_t digits = strspn(at + (*at == '-'), "0123456789");
    const char after = at[(*at == '-') + digits];
    if (after == '.' || (after == 'e' && at[1] != 'x')) {
        operand->value = LLVMConstReal(ir->f64, strtod(at, &end));
        return end;
    }
    const bool negative = *at == '-';
    const unsigned long long value = strtoull(at + negative, &end, 0);
    operand->value = LLVMConstInt(ir->i64, negative ? 0 - value : value, 1);
    operand->is_integer = true;
    return end + (*end == 'U' || *end == 'u');
}

static bool special_register(struct ptx *ptx, const char *name, struct ptx_operand *operand)
{
    unsigned bits;
    LLVMValueRef value = cts_lower_register(ptx->ir, name, &bits);
    if (!value) return ptx_fail(ptx, "unknown special register");
    operand->kind = PTX_VALUE;
    operand->value = value;
    return true;
}

static bool named_operand(struct ptx *ptx, const char *name, struct ptx_operand *operand)
{
    if (strcmp(name, "_") == 0) {
        operand->kind = PTX_SINK;
        return true;
    }
    operand->reg = ptx_find_register(ptx, name);
    if (operand->reg) {
        operand->kind = PTX_REGISTER;
        return true;
    }
    if (strcmp(name, "WARP_SZ") == 0) return special_register(ptx, "warpsize", operand);
    if (name[0] == '%') return special_register(ptx, name + 1, operand);
    return ptx_fail(ptx, "unknown name");
}

static const char *parse_operand(struct ptx *ptx, const char *at, struct ptx_operand *operand);

static const char *parse_vector(struct ptx *ptx, const char *at, struct ptx_operand *operand)
{
    operand->kind = PTX_VECTOR;
    for (at = skip_blanks(at + 1); *at != '}';) {
        struct ptx_operand element = {0};
        if (operand->count == 8) return NULL;
        at = parse_operand(ptx, at, &element);
        if (!at) return NULL;
        operand->elements[operand->count] = element.reg;
        operand->element_values[operand->count++] =
            element.kind == PTX_VALUE ? element.value : NULL;
        at = skip_blanks(at);
        if (*at == ',') at = skip_blanks(at + 1);
        if (!*at) return NULL;
    }
    return at + 1;
}

static const char *parse_address(struct ptx *ptx, const char *at, struct ptx_operand *operand)
{
    struct ptx_operand base = {0};
    at = parse_operand(ptx, skip_blanks(at + 1), &base);
    if (!at || (base.kind != PTX_REGISTER && base.kind != PTX_VALUE)) return NULL;
    *operand = base;
    operand->kind = PTX_ADDRESS;
    at = skip_blanks(at);
    if (*at == '+' || *at == '-') {
        char *end;
        const bool negative = *at == '-';
        at = skip_blanks(at + 1);
        if (*at == '$') { /* an immediate of the asm */
            struct ptx_operand offset = {0};
            at = parse_operand(ptx, at, &offset);
            LLVMValueRef value = offset.kind == PTX_REGISTER ? offset.reg->value : offset.value;
            if (!at || !value || !LLVMIsAConstantInt(value)) return NULL;
            operand->offset = LLVMConstIntGetSExtValue(value);
        } else {
            operand->offset = strtoll(at, &end, 0);
            at = end;
        }
        if (negative) operand->offset = -operand->offset;
    }
    at = skip_blanks(at);
    return *at == ']' ? at + 1 : NULL;
}

static const char *parse_operand(struct ptx *ptx, const char *at, struct ptx_operand *operand)
{
    at = skip_blanks(at);
    if (*at == '{') return parse_vector(ptx, at, operand);
    if (*at == '[') return parse_address(ptx, at, operand);
    if (*at == '!') {
        operand->negated = true;
        at = skip_blanks(at + 1);
    }
    if (isdigit((unsigned char)*at) || (*at == '-' && isdigit((unsigned char)at[1])))
        return parse_number(ptx, at, operand);
    char name[PTX_NAME_BYTES];
    at = parse_name(at, name);
    if (!at || !named_operand(ptx, name, operand)) return NULL;
    if (*skip_blanks(at) == '|') {
        struct ptx_operand second = {0};
        at = parse_operand(ptx, skip_blanks(at) + 1, &second);
        if (second.kind == PTX_REGISTER) operand->second = second.reg;
    }
    return at;
}

/* ---- statements ---- */

/* ".reg .u32 a, b;" and ".reg .u32 r<4>;" */
static bool declare(struct ptx *ptx, const char *at)
{
    char name[PTX_NAME_BYTES];
    struct ptx_type type;
    at = parse_name(skip_blanks(at + strlen(".reg")), name);
    if (!at || name[0] != '.' || !ptx_parse_type(name + 1, &type))
        return ptx_fail(ptx, "unknown register type");
    for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
        at = parse_name(at, name);
        if (!at) return ptx_fail(ptx, "bad register declaration");
        if (*at == '<') {
            char *end;
            const unsigned long count = strtoul(at + 1, &end, 10);
            for (unsigned long i = 0; i < count && i < PTX_REGISTERS_MAX; i++) {
                char numbered[PTX_NAME_BYTES * 2];
                snprintf(numbered, sizeof numbered, "%s%lu", name, i);
                numbered[PTX_NAME_BYTES - 1] = '\0';
                if (!ptx_add_register(ptx, numbered, type)) return false;
            }
            at = end + (*end == '>');
        } else if (!ptx_add_register(ptx, name, type)) {
            return false;
        }
        at = skip_blanks(at);
        if (*at == ',') at++;
    }
    return true;
}

static const char *parse_guard(struct ptx *ptx, const char *at, struct ptx_statement *statement)
{
    struct ptx_operand guard = {0};
    at = parse_operand(ptx, at + 1, &guard);
    if (!at) return NULL;
    statement->guard = ptx_read_i1(ptx, &guard);
    return skip_blanks(at);
}

static const char *parse_mnemonic(const char *at, struct ptx_statement *statement)
{
    while (isalnum((unsigned char)*at) || *at == '_' || *at == '.' || *at == ':') {
        if (statement->part_count == PTX_PARTS_MAX) return NULL;
        char *const part = statement->parts[statement->part_count++];
        size_t length = 0;
        if (*at == '.') at++;
        while ((isalnum((unsigned char)*at) || *at == '_' || *at == ':') &&
               length + 1 < PTX_NAME_BYTES)
            part[length++] = *at++;
        part[length] = '\0';
    }
    return statement->part_count ? at : NULL;
}

static bool parse_statement(struct ptx *ptx, const char *at, struct ptx_statement *statement)
{
    if (*at == '@' && !(at = parse_guard(ptx, at, statement)))
        return ptx_fail(ptx, "unknown guard");
    at = parse_mnemonic(at, statement);
    if (!at) return ptx_fail(ptx, "not a statement");
    if (*at == ':' || statement->parts[0][strlen(statement->parts[0]) - 1] == ':')
        return ptx_fail(ptx, "labels are not supported");
    for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
        if (statement->operand_count == PTX_OPERANDS_MAX) return ptx_fail(ptx, "too many operands");
        at = parse_operand(ptx, at, &statement->operands[statement->operand_count++]);
        if (!at) return ptx_fail(ptx, "unknown operand");
        at = skip_blanks(at);
        if (*at == ',')
            at++;
        else if (*at)
            return ptx_fail(ptx, "unknown operand");
    }
    return true;
}

static bool lower_statement(struct ptx *ptx, const char *text)
{
    text = skip_blanks(text);
    if (!*text) return true;
    if (strncmp(text, ".reg", 4) == 0) return declare(ptx, text);
    if (*text == '.') return ptx_fail(ptx, "directives are not supported");
    struct ptx_statement *const statement = cts_ir_allocate(1, sizeof *statement);
    bool done = parse_statement(ptx, text, statement), known = false;
    if (done) done = ptx_value_statement(ptx, statement, &known);
    if (done && !known) done = ptx_memory_statement(ptx, statement, &known);
    if (done && !known) done = ptx_matrix_statement(ptx, statement, &known);
    if (done && !known) done = ptx_fail(ptx, "unknown instruction");
    free(statement);
    return done && !ptx->reason[0];
}

/* Comments become blanks; braces of scopes go, those of vectors (after blanks or a comma inside a
 * statement) stay. Newlines end directives only, ';' ends statements. */
static void clean(char *text)
{
    bool at_start = true;
    for (char *at = text; *at; at++) {
        if (at[0] == '/' && at[1] == '/') {
            while (*at && *at != '\n') *at++ = ' ';
            if (!*at) return;
        } else if (at[0] == '/' && at[1] == '*') {
            while (*at && !(at[0] == '*' && at[1] == '/')) *at++ = ' ';
            if (!*at) return;
            at[0] = at[1] = ' ';
        }
        if (at_start && (*at == '{' || *at == '}')) *at = ';';
        if (*at == ';')
            at_start = true;
        else if (!isspace((unsigned char)*at))
            at_start = false;
    }
}

static bool lower_text(struct ptx *ptx, char *text)
{
    clean(text);
    for (char *at = text; *at;) {
        char *const end = at + strcspn(at, ";");
        const bool last = *end == '\0';
        *end = '\0';
        if (!lower_statement(ptx, at)) return false;
        at = end + !last;
    }
    return true;
}

/* ---- the asm's operands ---- */

static bool constraint_type(const char *constraint, struct ptx_type *type)
{
    while (*constraint && strchr("=+&", *constraint)) constraint++;
    switch (*constraint) {
    case 'h':
        *type = (struct ptx_type){.kind = 'b', .bits = 16, .lanes = 1};
        return true;
    case 'r':
        *type = (struct ptx_type){.kind = 'b', .bits = 32, .lanes = 1};
        return true;
    case 'l':
        *type = (struct ptx_type){.kind = 'b', .bits = 64, .lanes = 1};
        return true;
    case 'f':
        *type = (struct ptx_type){.kind = 'f', .bits = 32, .lanes = 1};
        return true;
    case 'd':
        *type = (struct ptx_type){.kind = 'f', .bits = 64, .lanes = 1};
        return true;
    case 'n':
    case 'i':
        *type = (struct ptx_type){.kind = 's', .bits = 64, .lanes = 1};
        return true;
    case 'c':
    case 'b':
        *type = (struct ptx_type){.kind = 'b', .bits = 8, .lanes = 1};
        return true;
    default:
        return false;
    }
}

/* Declares $0, $1, ... with the call's arguments as the inputs' values. */
static bool declare_operands(struct ptx *ptx, char *constraints, unsigned *output_count)
{
    unsigned operand = 0, argument = 0;
    *output_count = 0;
    for (char *one = constraints, *next; *one; one = next) {
        next = one + strcspn(one, ",");
        if (*next) *next++ = '\0';
        if (*one == '~') continue;
        char name[16];
        snprintf(name, sizeof name, "$%u", operand++);
        struct ptx_type type;
        struct ptx_register *tied = NULL;
        if (isdigit((unsigned char)*one)) {
            char of[16];
            snprintf(of, sizeof of, "$%s", one);
            tied = ptx_find_register(ptx, of);
            if (!tied) return ptx_fail(ptx, "unknown operand constraint");
            type = tied->type;
        } else if (!constraint_type(one, &type)) {
            return ptx_fail(ptx, "unknown operand constraint");
        }
        struct ptx_register *const reg = ptx_add_register(ptx, name, type);
        if (!reg) return false;
        if (*one == '=') {
            if (strchr(one, '*')) return ptx_fail(ptx, "unknown operand constraint");
            reg->is_output = true;
            ++*output_count;
            continue;
        }
        LLVMValueRef value = ptx_to_bits(ptx, LLVMGetOperand(ptx->instruction, argument++));
        LLVMTypeRef wanted = LLVMIntTypeInContext(ptx->ir->context, type.bits);
        reg->value = LLVMBuildIntCast2(ptx->ir->builder, value, wanted, 1, "");
        if (tied) tied->value = reg->value;
    }
    return true;
}

static LLVMValueRef output_value(struct ptx *ptx, const struct ptx_register *reg, LLVMTypeRef type)
{
    const struct cts_ir *const ir = ptx->ir;
    if (!reg->value) return LLVMGetUndef(type);
    const unsigned bits = (unsigned)LLVMSizeOfTypeInBits(ir->layout, type);
    LLVMValueRef value =
        LLVMBuildIntCast2(ir->builder, reg->value, LLVMIntTypeInContext(ir->context, bits), 0, "");
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(ir->builder, value, type, "");
    return LLVMBuildBitCast(ir->builder, value, type, "");
}

static LLVMValueRef outputs(struct ptx *ptx, unsigned count)
{
    const struct cts_ir *const ir = ptx->ir;
    LLVMTypeRef type = LLVMTypeOf(ptx->instruction);
    if (count == 0) return NULL;
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
        return output_value(ptx, &ptx->registers[0], type);
    LLVMValueRef all = LLVMGetUndef(type);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef one = output_value(ptx, &ptx->registers[i], LLVMStructGetTypeAtIndex(type, i));
        all = LLVMBuildInsertValue(ir->builder, all, one, i, "");
    }
    return all;
}

static char *copy_text(const char *text, size_t length)
{
    return cts_ir_text("%.*s", (int)length, text);
}

/* "$$" is a '$' of PTX, which names may hold; none of ours does. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (at[0] == '$' && at[1] == '$') at++;
        *to++ = *at;
    }
    *to = '\0';
}

static void report(struct cts_ir *ir, LLVMValueRef instruction, const char *text,
                   const char *reason)
{
    char *const shown = cts_ir_text("%s", text);
    for (char *c = shown; *c; c++)
        if (isspace((unsigned char)*c)) *c = ' ';
    cts_ir_error(ir, instruction, "inline PTX '%s' is not supported on the CPU device: %s", shown,
                 reason);
    free(shown);
    LLVMTypeRef type = LLVMTypeOf(instruction);
    cts_ir_replace(instruction, type == ir->nothing ? NULL : LLVMGetUndef(type));
}

void cts_lower_ptx(struct cts_ir *ir, LLVMValueRef instruction)
{
    LLVMValueRef assembly = LLVMGetCalledValue(instruction);
    size_t text_length, constraints_length;
    const char *const text_start = LLVMGetInlineAsmAsmString(assembly, &text_length);
    const char *const constraints_start =
        LLVMGetInlineAsmConstraintString(assembly, &constraints_length);
    char *const text = copy_text(text_start, text_length);
    char *const work = copy_text(text_start, text_length);
    char *const constraints = copy_text(constraints_start, constraints_length);
    struct ptx *const ptx = cts_ir_allocate(1, sizeof *ptx);
    ptx->ir = ir;
    ptx->instruction = instruction;
    LLVMPositionBuilderBefore(ir->builder, instruction);
    unescape(work);
    unsigned output_count = 0;
    if (declare_operands(ptx, constraints, &output_count) && lower_text(ptx, work))
        cts_ir_replace(instruction, outputs(ptx, output_count));
    else
        report(ir, instruction, text, ptx->reason);
    free(ptx);
    free(constraints);
    free(work);
    free(text);
}
