/* Source lines of a cubin: .debug_line of DWARF 2 or 3, whose addresses are relocated to the
 * functions' symbols. Of code that was inlined, NVIDIA's extension 0x90 says the call in two
 * numbers before the row: which row of this sequence, counted from 1, is the call's, and where in
 * .debug_str the name of the inlined function stands; 0, 0 ends it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "record/inject/cubin/cubin-lines.h"

enum { EXTENDED_END = 1, EXTENDED_ADDRESS = 2, EXTENDED_INLINED = 0x90 };

struct program {
    const struct cts_elf *elf;
    struct cts_cubin *cubin;
    const uint8_t *section; /* its first byte */
    const Elf64_Shdr *relocations;
    const char *directories[256];
    uint32_t directory_count;
    uint32_t files[1024]; /* of this unit -> of the cubin */
    uint32_t file_count;
    uint32_t *rows; /* of this sequence -> of the cubin's lines; CTS_CUBIN_NONE: not kept */
    size_t row_count, row_capacity;
    int8_t line_base;
    uint8_t line_range, opcode_base, minimum;
    uint8_t operand_counts[256];
};

static uint64_t leb128(struct cts_cursor *cursor, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = cts_cursor_u8(cursor);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && !cursor->overflow);
    if (is_signed && byte & 0x40 && shift < 64) value |= UINT64_MAX << shift;
    return value;
}

static const char *string(struct cts_cursor *cursor)
{
    const uint8_t *const end = memchr(cursor->at, 0, cts_cursor_left(cursor));
    if (!end) {
        cursor->overflow = true;
        return "";
    }
    return (const char *)cts_cursor_bytes(cursor, (size_t)(end - cursor->at) + 1);
}

/* The number of a path among the cubin's files; CTS_NONE without memory. */
static uint32_t file_number(struct cts_cubin *cubin, const char *directory, const char *name)
{
    char *path = NULL;
    const bool is_whole = name[0] == '/' || !directory || !*directory;
    if (asprintf(&path, "%s%s%s", is_whole ? "" : directory, is_whole ? "" : "/", name) < 0)
        return UINT32_MAX;
    for (size_t i = 0; i < cubin->file_count; i++)
        if (strcmp(cubin->files[i], path) == 0) {
            free(path);
            return (uint32_t)i;
        }
    if (cubin->file_count == cubin->file_capacity &&
        cts_array_grow((void **)&cubin->files, &cubin->file_capacity, cubin->file_count + 1,
                       sizeof *cubin->files, NULL)) {
        free(path);
        return UINT32_MAX;
    }
    cubin->files[cubin->file_count] = path;
    return (uint32_t)cubin->file_count++;
}

static bool read_tables(struct program *program, struct cts_cursor *header)
{
    program->minimum = cts_cursor_u8(header);
    (void)cts_cursor_u8(header);
    program->line_base = (int8_t)cts_cursor_u8(header);
    program->line_range = cts_cursor_u8(header);
    program->opcode_base = cts_cursor_u8(header);
    for (unsigned i = 1; i < program->opcode_base; i++)
        program->operand_counts[i] = cts_cursor_u8(header);
    const char *text;
    program->directory_count = program->file_count = 1;
    while (*(text = string(header)) && program->directory_count < 256)
        program->directories[program->directory_count++] = text;
    while (*(text = string(header)) && program->file_count < 1024) {
        const uint64_t directory = leb128(header, false);
        (void)leb128(header, false);
        (void)leb128(header, false);
        program->files[program->file_count++] = file_number(
            program->cubin,
            directory && directory < program->directory_count ? program->directories[directory]
                                                              : NULL,
            text);
    }
    return !header->overflow && program->line_range && program->opcode_base;
}

/* The function that the address at a place of the section is relocated to. */
static uint32_t relocated(const struct program *program, const uint8_t *place, uint64_t *address)
{
    const struct cts_elf *const elf = program->elf;
    if (!program->relocations) return UINT32_MAX;
    const struct cts_cursor all = cts_elf_content(elf, program->relocations);
    const bool has_addend = program->relocations->sh_type == SHT_RELA;
    const size_t size = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (size_t at = 0; at + size <= cts_cursor_left(&all); at += size) {
        Elf64_Rela relocation = {0};
        Elf64_Sym symbol;
        memcpy(&relocation, all.at + at, size);
        if (relocation.r_offset != (uint64_t)(place - program->section)) continue;
        if (!cts_elf_symbol(elf, ELF64_R_SYM(relocation.r_info), &symbol)) return UINT32_MAX;
        *address += symbol.st_value + (has_addend ? (uint64_t)relocation.r_addend : 0);
        for (size_t f = 0; f < program->cubin->function_count; f++)
            if (program->cubin->functions[f].section == symbol.st_shndx) return (uint32_t)f;
    }
    return UINT32_MAX;
}

struct registers {
    uint64_t address;
    uint32_t function;
    uint64_t file, line;
    uint32_t call;
};

/* The row's number in the sequence, whether it is kept or not. */
static bool count_row(struct program *program, uint32_t line)
{
    if (program->row_count == program->row_capacity &&
        cts_array_grow((void **)&program->rows, &program->row_capacity, program->row_count + 1,
                       sizeof *program->rows, NULL))
        return false;
    program->rows[program->row_count++] = line;
    return true;
}

static bool add_row(struct program *program, const struct registers *r)
{
    struct cts_cubin *const cubin = program->cubin;
    if (r->function == CTS_CUBIN_NONE || r->address > UINT32_MAX || r->line > INT32_MAX ||
        r->file == 0 || r->file >= program->file_count)
        return count_row(program, CTS_CUBIN_NONE);
    if (cubin->line_count == cubin->line_capacity &&
        cts_array_grow((void **)&cubin->lines, &cubin->line_capacity, cubin->line_count + 1,
                       sizeof *cubin->lines, NULL))
        return false;
    cubin->lines[cubin->line_count] = (struct cts_cubin_line){
        r->function,       (uint32_t)r->address,        program->files[r->file],
        (uint32_t)r->line, (uint32_t)cubin->line_count, r->call};
    return count_row(program, (uint32_t)cubin->line_count++);
}

/* The call that a row, counted from 1, stands for; CTS_CUBIN_NONE: none, or no memory. */
static uint32_t add_call(struct program *program, uint64_t row, uint64_t callee_name)
{
    struct cts_cubin *const cubin = program->cubin;
    if (row == 0 || row > program->row_count || callee_name > UINT32_MAX) return CTS_CUBIN_NONE;
    const uint32_t index = program->rows[row - 1];
    if (index == CTS_CUBIN_NONE) return CTS_CUBIN_NONE;
    if (cubin->call_count == cubin->call_capacity &&
        cts_array_grow((void **)&cubin->calls, &cubin->call_capacity, cubin->call_count + 1,
                       sizeof *cubin->calls, NULL))
        return CTS_CUBIN_NONE;
    const struct cts_cubin_line *const line = cubin->lines + index;
    cubin->calls[cubin->call_count] =
        (struct cts_cubin_call){line->file, line->line, line->call, (uint32_t)callee_name};
    return (uint32_t)cubin->call_count++;
}

static const struct registers at_start = {
    .function = CTS_CUBIN_NONE, .file = 1, .line = 1, .call = CTS_CUBIN_NONE};

static void extended(struct program *program, struct cts_cursor *code, struct registers *r)
{
    const uint64_t bytes = leb128(code, false);
    const uint8_t *const from = cts_cursor_bytes(code, bytes);
    if (!from || !bytes) return;
    struct cts_cursor operands = cts_cursor_of(from + 1, bytes - 1);
    if (*from == EXTENDED_END) {
        *r = at_start;
        program->row_count = 0;
    }
    if (*from == EXTENDED_ADDRESS) {
        r->address = cts_cursor_unsigned(&operands, bytes - 1 < 8 ? bytes - 1 : 8);
        r->function = relocated(program, from + 1, &r->address);
    }
    if (*from == EXTENDED_INLINED) {
        const uint64_t row = leb128(&operands, false);
        r->call = add_call(program, row, leb128(&operands, false));
    }
}

static bool run(struct program *program, struct cts_cursor code)
{
    struct registers r = at_start;
    bool done = true;
    while (cts_cursor_left(&code) && !code.overflow && done) {
        const uint8_t opcode = cts_cursor_u8(&code);
        if (opcode >= program->opcode_base) {
            const unsigned step = opcode - program->opcode_base;
            r.address += (uint64_t)(step / program->line_range) * program->minimum;
            r.line += (uint64_t)(int64_t)(program->line_base + (int)(step % program->line_range));
            done = add_row(program, &r);
            continue;
        }
        switch (opcode) {
        case 0:
            extended(program, &code, &r);
            break;
        case 1:
            done = add_row(program, &r);
            break;
        case 2:
            r.address += leb128(&code, false) * program->minimum;
            break;
        case 3:
            r.line += leb128(&code, true);
            break;
        case 4:
            r.file = leb128(&code, false);
            break;
        case 8:
            r.address +=
                (uint64_t)((255 - program->opcode_base) / program->line_range) * program->minimum;
            break;
        case 9:
            r.address += cts_cursor_u16(&code);
            break;
        default:
            for (unsigned i = 0; i < program->operand_counts[opcode]; i++)
                (void)leb128(&code, false);
        }
    }
    return done && !code.overflow;
}

static bool read_unit(struct program *program, struct cts_cursor *section)
{
    const uint32_t length = cts_cursor_u32(section);
    const uint8_t *const bytes = cts_cursor_bytes(section, length);
    if (!bytes) return false;
    struct cts_cursor unit = cts_cursor_of(bytes, length);
    const uint16_t version = cts_cursor_u16(&unit);
    const uint32_t header_bytes = cts_cursor_u32(&unit);
    const uint8_t *const header_at = cts_cursor_bytes(&unit, header_bytes);
    if (!header_at || version < 2 || version > 3) return false;
    struct cts_cursor header = cts_cursor_of(header_at, header_bytes);
    program->row_count = 0;
    return read_tables(program, &header) && run(program, unit);
}

static int by_place(const void *a, const void *b)
{
    const struct cts_cubin_line *const x = a, *const y = b;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    if (x->offset_bytes != y->offset_bytes) return x->offset_bytes < y->offset_bytes ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

/* Names of inlined functions; a copy, since the image goes away. */
static void read_strings(const struct cts_elf *elf, struct cts_cubin *cubin)
{
    const struct cts_cursor all = cts_elf_content(elf, cts_elf_section(elf, ".debug_str"));
    const size_t bytes = cts_cursor_left(&all);
    if (!bytes || all.at[bytes - 1] != 0) return;
    cubin->strings = malloc(bytes);
    if (!cubin->strings) return;
    memcpy(cubin->strings, all.at, bytes);
    cubin->strings_bytes = bytes;
}

void cts_cubin_read_lines(const struct cts_elf *elf, struct cts_cubin *cubin)
{
    const Elf64_Shdr *const section = cts_elf_section(elf, ".debug_line");
    struct program *const program = section ? calloc(1, sizeof *program) : NULL;
    if (!program) return;
    struct cts_cursor cursor = cts_elf_content(elf, section);
    program->elf = elf;
    program->cubin = cubin;
    program->section = cursor.at;
    read_strings(elf, cubin);
    program->relocations = cts_elf_section(elf, ".rela.debug_line");
    if (!program->relocations) program->relocations = cts_elf_section(elf, ".rel.debug_line");
    while (cts_cursor_left(&cursor) && read_unit(program, &cursor)) {
    }
    free(program->rows);
    free(program);
    if (cubin->line_count > 1)
        qsort(cubin->lines, cubin->line_count, sizeof *cubin->lines, by_place);
    for (size_t i = 0; i < cubin->line_count; i++) {
        struct cts_cubin_function *const function = cubin->functions + cubin->lines[i].function;
        if (!function->line_count++) function->first_line = (uint32_t)i;
    }
}
