/* The accesses of inline PTX, for devices that run PTX: single instructions of the forms
 *
 *     ld|st|ldu|atom|red{.modifiers}.type ..., [address{+offset}], ...
 *
 * are understood, several of them in one text too, as long as each address is an operand of the
 * asm. Anything else that can touch memory is reported as skipped. (On the CPU device the lower
 * pass has replaced inline PTX before the device pass looks.)
 *
 * The text is LLVM's: operands are $0, ${1:x}; outputs count first, then inputs; "$$" is a '$'. */
#include "record/instrument/device-access.h"
#include "record/instrument/device-events.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MODIFIERS_MAX = 12 };

/* An instruction's name in parts: "ld.global.v4.f32" is ld, global, v4, f32. */
struct statement {
    const char *parts[MODIFIERS_MAX];
    unsigned part_count;
    const char *operands;
};

static bool has_part(const struct statement *statement, const char *part)
{
    for (unsigned i = 1; i < statement->part_count; i++)
        if (!strcmp(statement->parts[i], part)) return true;
    return false;
}

/* Cuts `text` up in place. */
static void split(char *text, struct statement *statement)
{
    statement->part_count = 0;
    char *end = text + strcspn(text, " \t\n");
    statement->operands = *end ? end + 1 : end;
    *end = 0;
    char *rest = NULL;
    for (char *part = strtok_r(text, ".", &rest); part && statement->part_count < MODIFIERS_MAX;
         part = strtok_r(NULL, ".", &rest))
        statement->parts[statement->part_count++] = part;
}

/* Bytes of one element: the number in ".f32", ".b8x2" counts as unknown: 0. */
static unsigned element_bytes(const struct statement *statement)
{
    for (unsigned i = statement->part_count; i-- > 1;) {
        const char *part = statement->parts[i];
        char *end;
        if (!strchr("bufs", part[0]) || !isdigit((unsigned char)part[1])) continue;
        unsigned long bits = strtoul(part + 1, &end, 10);
        if (!*end && bits >= 8 && bits <= 128) return (unsigned)bits / 8;
    }
    return 0;
}

static enum cts_operation operation_of(const struct statement *statement)
{
    static const struct {
        const char *part;
        enum cts_operation operation;
    } words[] = {
        {"add", CTS_ATOMIC_ADD}, {"exch", CTS_ATOMIC_EXCH}, {"min", CTS_ATOMIC_MIN},
        {"max", CTS_ATOMIC_MAX}, {"inc", CTS_ATOMIC_INC},   {"dec", CTS_ATOMIC_DEC},
        {"cas", CTS_ATOMIC_CAS}, {"and", CTS_ATOMIC_AND},   {"or", CTS_ATOMIC_OR},
        {"xor", CTS_ATOMIC_XOR},
    };
    if (statement->parts[0][0] == 'l') return CTS_LOAD;
    if (statement->parts[0][0] == 's') return CTS_STORE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_part(statement, words[i].part)) return words[i].operation;
    return CTS_ATOMIC_OTHER;
}

/* The number of the asm operand in "[$1]", "[${1:x}+16]"; -1 for anything else. */
static int address_operand(const char *operands, long *offset)
{
    const char *open = strchr(operands, '[');
    char *end;
    if (!open) return -1;
    open += 1 + strspn(open + 1, " \t");
    if (*open++ != '$') return -1;
    bool has_brace = *open == '{';
    open += has_brace;
    if (!isdigit((unsigned char)*open)) return -1;
    int number = (int)strtol(open, &end, 10);
    if (has_brace) end = strchr(end, '}');
    if (!end) return -1;
    end += has_brace;
    end += strspn(end, " \t");
    *offset = 0;
    end += *end == '+'; /* "+-16" is an address, too */
    *offset = strtol(end, &end, 10);
    end += strspn(end, " \t");
    return *end == ']' ? number : -1;
}

/* The value behind asm operand `number`, NULL for an output or what cannot be told. */
static LLVMValueRef operand_value(LLVMValueRef call, const char *constraints, int number)
{
    int at = 0, argument = 0;
    for (const char *c = constraints; *c; at++) {
        size_t length = strcspn(c, ",");
        bool is_output = *c == '=', is_clobber = *c == '~';
        bool is_indirect = is_output && memchr(c, '*', length);
        if (at == number) {
            if (is_output || is_clobber || argument >= (int)LLVMGetNumArgOperands(call))
                return NULL;
            return LLVMGetOperand(call, (unsigned)argument);
        }
        if ((!is_output || is_indirect) && !is_clobber) argument++;
        c += length;
        c += *c == ',';
    }
    return NULL;
}

static bool may_touch_memory(const char *name)
{
    static const char *const words[] = {"ld",       "ldu",  "st",       "atom",  "red",  "cp",
                                        "tex",      "suld", "sust",     "sured", "tld4", "ldmatrix",
                                        "stmatrix", "wmma", "multimem", NULL};
    for (const char *const *word = words; *word; word++)
        if (!strcmp(name, *word)) return true;
    return false;
}

static void find_in_statement(char *text, LLVMValueRef call, const char *constraints, void *context)
{
    struct cts_memory_accesses *const accesses = context;
    struct statement statement;
    long offset = 0;
    text += strspn(text, " \t\n{}");
    bool has_predicate = *text == '@';
    if (has_predicate) {
        text += strcspn(text, " \t\n");
        text += strspn(text, " \t\n");
    }
    if (!*text) return;
    split(text, &statement);
    if (!statement.part_count || !may_touch_memory(statement.parts[0])) return;
    if (has_part(&statement, "param") || has_part(&statement, "const")) return;
    if (has_part(&statement, "commit_group") || has_part(&statement, "wait_group") ||
        has_part(&statement, "wait_all"))
        return;
    static const char *const plain[] = {"ld", "ldu", "st", "atom", "red", NULL};
    bool is_plain = false;
    for (const char *const *word = plain; *word; word++)
        is_plain |= !strcmp(statement.parts[0], *word);
    unsigned width = element_bytes(&statement);
    width *= has_part(&statement, "v2") ? 2 : has_part(&statement, "v4") ? 4 : 1;
    int number = address_operand(statement.operands, &offset);
    LLVMValueRef address = number < 0 ? NULL : operand_value(call, constraints, number);
    bool is_redux = has_part(&statement, "async");
    if (!is_plain || is_redux || has_predicate || !width || !address ||
        accesses->count == CTS_ACCESSES_PER_INSTRUCTION) {
        accesses->skipped_reason = "inline PTX that is not understood may access memory";
        return;
    }
    struct cts_memory_access *access = &accesses->items[accesses->count++];
    *access = (struct cts_memory_access){
        .pointer = address,
        .width_bytes = width,
        .offset_bytes = offset,
        .operation = operation_of(&statement),
        .value_source = CTS_VALUE_OF_MEMORY,
        .is_volatile = has_part(&statement, "volatile") || has_part(&statement, "relaxed") ||
                       has_part(&statement, "acquire") || has_part(&statement, "release"),
        .integer_space = has_part(&statement, "global")   ? 1
                         : has_part(&statement, "shared") ? 3
                         : has_part(&statement, "local")  ? 5
                                                          : 0,
    };
}

/* Calls `find` for each statement of inline assembly, with its constraints. */
static void each_statement(LLVMValueRef call,
                           void (*find)(char *statement, LLVMValueRef call, const char *constraints,
                                        void *context),
                           void *context)
{
    size_t text_length, constraints_length;
    LLVMValueRef assembly = LLVMGetCalledValue(call);
    const char *borrowed = LLVMGetInlineAsmAsmString(assembly, &text_length);
    const char *constraints = LLVMGetInlineAsmConstraintString(assembly, &constraints_length);
    char *text = strndup(borrowed, text_length), *rest = NULL;
    char *list = strndup(constraints, constraints_length);
    if (text && list)
        for (char *part = strtok_r(text, ";", &rest); part; part = strtok_r(NULL, ";", &rest))
            find(part, call, list, context);
    free(text);
    free(list);
}

void cts_find_ptx_accesses(LLVMValueRef call, struct cts_memory_accesses *accesses)
{
    each_statement(call, find_in_statement, accesses);
}

/* ---- barriers and fences ---- */

struct asm_call {
    LLVMValueRef call;
    const char *constraints;
};

/* Operand `which` of a statement: an input of the asm, or a constant in *constant. False: neither.
 */
static bool read_operand(const struct statement *statement, unsigned which,
                         struct asm_call assembly, LLVMValueRef *value, uint64_t *constant)
{
    const char *at = statement->operands;
    char *end;
    for (; which && *at; which--) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    at += strspn(at, " \t\n[");
    *value = NULL;
    *constant = 0;
    if (isdigit((unsigned char)*at)) {
        *constant = strtoull(at, NULL, 0);
        return true;
    }
    if (*at++ != '$') return false;
    at += *at == '{';
    if (!isdigit((unsigned char)*at)) return false;
    *value = operand_value(assembly.call, assembly.constraints, (int)strtol(at, &end, 10));
    return *value != NULL;
}

static unsigned count_operands(const struct statement *statement)
{
    const char *at = statement->operands + strspn(statement->operands, " \t\n");
    unsigned count = *at != 0;
    for (; *at; at++) count += *at == ',';
    return count;
}

static void find_barrier(const struct statement *statement, LLVMValueRef call,
                         const char *constraints, struct cts_events *events)
{
    const unsigned count = count_operands(statement);
    struct cts_event event = {.operation = CTS_BARRIER_CTA_SYNC, .constant = 1};
    uint64_t constant = 0;
    if (has_part(statement, "cluster")) {
        const bool waits = has_part(statement, "wait");
        event.operation = waits ? CTS_BARRIER_CLUSTER_WAIT : CTS_BARRIER_CLUSTER_ARRIVE;
    } else if (has_part(statement, "warp")) {
        event.operation = CTS_BARRIER_WARP_SYNC;
        if (!read_operand(statement, 0, (struct asm_call){call, constraints}, &event.value,
                          &constant))
            return;
        event.constant = constant;
    } else {
        const bool reduces = has_part(statement, "red"); /* result, number{, threads}, predicate */
        const unsigned first = reduces, numbers = reduces ? (count > 2 ? count - 2 : 0) : count;
        if (has_part(statement, "arrive")) event.operation = CTS_BARRIER_CTA_ARRIVE;
        if (numbers && !read_operand(statement, first, (struct asm_call){call, constraints},
                                     &event.value, &constant))
            return;
        event.constant += constant;
        if (numbers > 1) {
            if (!read_operand(statement, first + 1, (struct asm_call){call, constraints},
                              &event.count, &constant))
                return;
            event.constant += constant << 8;
        }
    }
    cts_add_event(events, event);
}

static enum cts_fence_scope scope_of(const struct statement *statement)
{
    if (has_part(statement, "cta") || has_part(statement, "cluster")) return CTS_FENCE_CTA;
    const bool is_gpu = has_part(statement, "gl") || has_part(statement, "gpu");
    return is_gpu ? CTS_FENCE_GPU : CTS_FENCE_SYSTEM;
}

static void find_event(char *text, LLVMValueRef call, const char *constraints, void *context)
{
    struct cts_events *const events = context;
    struct statement statement;
    text += strspn(text, " \t\n{}");
    if (*text == '@') {
        text += strcspn(text, " \t\n");
        text += strspn(text, " \t\n");
    }
    if (!*text) return;
    split(text, &statement);
    const char *const name = statement.part_count ? statement.parts[0] : "";
    struct cts_event event = {.constant = 1};
    uint64_t constant = 0;
    if (!strcmp(name, "bar") || !strcmp(name, "barrier")) {
        find_barrier(&statement, call, constraints, events);
    } else if (!strcmp(name, "membar") || !strcmp(name, "fence") ||
               has_part(&statement, "release") || has_part(&statement, "acq_rel")) {
        event.operation = CTS_BARRIER_FENCE;
        event.constant = scope_of(&statement);
        cts_add_event(events, event);
    } else if (!strcmp(name, "mbarrier") && has_part(&statement, "arrive")) {
        event.operation = CTS_BARRIER_MBARRIER_ARRIVE;
        const unsigned address = statement.operands[strspn(statement.operands, " \t")] != '[';
        if (read_operand(&statement, address, (struct asm_call){call, constraints}, &event.value,
                         &constant))
            cts_add_event(events, event);
    } else if (!strcmp(name, "cp") && has_part(&statement, "commit_group")) {
        event.operation = CTS_BARRIER_ASYNC_COMMIT;
        cts_add_event(events, event);
    } else if (!strcmp(name, "cp") && has_part(&statement, "wait_group") &&
               !has_part(&statement, "bulk")) {
        event.operation = CTS_BARRIER_ASYNC_WAIT;
        if (!read_operand(&statement, 0, (struct asm_call){call, constraints}, &event.value,
                          &constant))
            return;
        event.constant += constant;
        cts_add_event(events, event);
    } else if (!strcmp(name, "cp") && has_part(&statement, "wait_all")) {
        event.operation = CTS_BARRIER_ASYNC_WAIT;
        cts_add_event(events, event);
    }
}

void cts_find_ptx_events(LLVMValueRef call, struct cts_events *events)
{
    each_statement(call, find_event, events);
}
