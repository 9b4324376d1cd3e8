/* Cubins are ELF: a section .text.NAME per kernel or function that is called; .nv.info and
 * .nv.info.NAME with attributes (format, number, then a value or a size and bytes); .nv.shared.NAME
 * as large as the static shared memory; with -lineinfo, .debug_line of DWARF 2, whose addresses are
 * relocated to the functions' symbols. */
#include "cubin.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cursor.h"

enum {
    SECTIONS_MAX = 1 << 20,
    ATTRIBUTE_BARRIERS = 0x4c,
    ATTRIBUTE_REGISTERS = 0x2f,
    FORMAT_SIZED = 4,
    RESERVED_SHARED_BYTES = 1024, /* by the system, from Hopper on, counted in .nv.shared */
};

struct elf {
    const uint8_t *image;
    size_t bytes;
    const Elf64_Shdr *sections; /* copied: aligned */
    size_t section_count;
    const Elf64_Shdr *names, *symbols, *symbol_names;
    bool reserves_shared;
};

/* ---- sections ---- */

static struct cts_cursor content(const struct elf *elf, const Elf64_Shdr *section)
{
    if (!section || section->sh_type == SHT_NOBITS || section->sh_offset > elf->bytes ||
        section->sh_size > elf->bytes - section->sh_offset)
        return cts_cursor_of(elf->image, 0);
    return cts_cursor_of(elf->image + section->sh_offset, section->sh_size);
}

static const char *text_at(const struct elf *elf, const Elf64_Shdr *strings, uint64_t offset)
{
    const struct cts_cursor all = content(elf, strings);
    const size_t bytes = cts_cursor_left(&all);
    if (offset >= bytes || !memchr(all.at + offset, 0, bytes - offset)) return "";
    return (const char *)all.at + offset;
}

static const char *name_of(const struct elf *elf, const Elf64_Shdr *section)
{
    return text_at(elf, elf->names, section->sh_name);
}

static bool symbol_at(const struct elf *elf, uint64_t index, Elf64_Sym *symbol)
{
    const struct cts_cursor all = content(elf, elf->symbols);
    if (index >= cts_cursor_left(&all) / sizeof *symbol) return false;
    memcpy(symbol, all.at + index * sizeof *symbol, sizeof *symbol);
    return true;
}

static enum cts_status open_elf(struct elf *elf, struct cts_error *error)
{
    Elf64_Ehdr header;
    if (elf->bytes < sizeof header || memcmp(elf->image, ELFMAG, SELFMAG) != 0)
        return cts_fail(error, CTS_FORMAT, "the module is no cubin");
    memcpy(&header, elf->image, sizeof header);
    const uint64_t count = header.e_shnum;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
        count == 0 || count > SECTIONS_MAX || header.e_shoff > elf->bytes ||
        count * sizeof(Elf64_Shdr) > elf->bytes - header.e_shoff || header.e_shstrndx >= count)
        return cts_fail(error, CTS_FORMAT, "the module's sections are not where its header says");
    Elf64_Shdr *const sections = malloc(count * sizeof *sections);
    if (!sections) return cts_fail(error, CTS_MEMORY, "no memory for a module's sections");
    memcpy(sections, elf->image + header.e_shoff, count * sizeof *sections);
    elf->sections = sections;
    elf->section_count = count;
    elf->names = sections + header.e_shstrndx;
    for (size_t i = 0; i < count; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < count) {
            elf->symbols = sections + i;
            elf->symbol_names = sections + sections[i].sh_link;
        }
    Elf64_Sym symbol;
    for (uint64_t i = 0; symbol_at(elf, i, &symbol) && !elf->reserves_shared; i++)
        elf->reserves_shared = strcmp(text_at(elf, elf->symbol_names, symbol.st_name),
                                      ".nv.reservedSmem.offset0") == 0;
    return CTS_OK;
}

static const char *behind(const char *text, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 && text[length] ? text + length : NULL;
}

static const Elf64_Shdr *section_named(const struct elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->section_count; i++)
        if (strcmp(name_of(elf, elf->sections + i), name) == 0) return elf->sections + i;
    return NULL;
}

/* ---- functions ---- */

static enum cts_status add_functions(const struct elf *elf, struct cts_cubin *cubin,
                                     struct cts_error *error)
{
    cubin->functions = calloc(elf->section_count, sizeof *cubin->functions);
    if (!cubin->functions) return cts_fail(error, CTS_MEMORY, "no memory for a module's functions");
    for (size_t i = 0; i < elf->section_count; i++) {
        const char *const name = behind(name_of(elf, elf->sections + i), ".text.");
        if (!name) continue;
        struct cts_cubin_function *const function = cubin->functions + cubin->function_count;
        function->name = strdup(name);
        if (!function->name) return cts_fail(error, CTS_MEMORY, "no memory for a function's name");
        function->section = (uint32_t)i;
        function->may_have_barriers = true; /* until .nv.info says otherwise */
        cubin->function_count++;
    }
    return CTS_OK;
}

static struct cts_cubin_function *function_named(struct cts_cubin *cubin, const char *name)
{
    for (size_t i = 0; i < cubin->function_count; i++)
        if (strcmp(cubin->functions[i].name, name) == 0) return cubin->functions + i;
    return NULL;
}

/* The attributes of .nv.info, one after the other. */
struct attribute {
    uint8_t format, number;
    uint16_t value;             /* or the size */
    struct cts_cursor contents; /* where it has a size */
};

static bool next_attribute(struct cts_cursor *cursor, struct attribute *attribute)
{
    if (cts_cursor_left(cursor) < 4) return false;
    attribute->format = cts_cursor_u8(cursor);
    attribute->number = cts_cursor_u8(cursor);
    attribute->value = cts_cursor_u16(cursor);
    if (attribute->format != FORMAT_SIZED) return true;
    const uint8_t *const bytes = cts_cursor_bytes(cursor, attribute->value);
    if (bytes) attribute->contents = cts_cursor_of(bytes, attribute->value);
    return bytes != NULL;
}

static void read_kernel_info(struct cts_cursor cursor, const Elf64_Shdr *text,
                             struct cts_cubin_function *function)
{
    struct attribute attribute;
    function->may_have_barriers = (text->sh_flags >> 20 & 0x7f) != 0; /* older images */
    while (next_attribute(&cursor, &attribute))
        if (attribute.number == ATTRIBUTE_BARRIERS && attribute.value)
            function->may_have_barriers = true;
    if (cts_cursor_left(&cursor)) function->may_have_barriers = true; /* not understood */
}

static void read_registers(const struct elf *elf, struct cts_cursor cursor, struct cts_cubin *cubin)
{
    struct attribute attribute;
    Elf64_Sym symbol;
    while (next_attribute(&cursor, &attribute)) {
        if (attribute.number != ATTRIBUTE_REGISTERS || attribute.format != FORMAT_SIZED) continue;
        const uint32_t index = cts_cursor_u32(&attribute.contents);
        const uint32_t registers = cts_cursor_u32(&attribute.contents);
        if (attribute.contents.overflow || !symbol_at(elf, index, &symbol)) continue;
        struct cts_cubin_function *const function =
            function_named(cubin, text_at(elf, elf->symbol_names, symbol.st_name));
        if (function) function->registers = registers;
    }
}

static void read_infos(const struct elf *elf, struct cts_cubin *cubin)
{
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *const section = elf->sections + i;
        const char *const name = name_of(elf, section);
        const char *const of_info = behind(name, ".nv.info.");
        const char *const of_shared = behind(name, ".nv.shared.");
        struct cts_cubin_function *function = of_info     ? function_named(cubin, of_info)
                                              : of_shared ? function_named(cubin, of_shared)
                                                          : NULL;
        if (function && of_info)
            read_kernel_info(content(elf, section), elf->sections + function->section, function);
        if (function && of_shared && section->sh_size <= UINT32_MAX) {
            function->static_shared_bytes = (uint32_t)section->sh_size;
            if (elf->reserves_shared && section->sh_size >= RESERVED_SHARED_BYTES)
                function->static_shared_bytes -= RESERVED_SHARED_BYTES;
        }
        if (strcmp(name, ".nv.info") == 0) read_registers(elf, content(elf, section), cubin);
    }
}

/* ---- lines ---- */

struct program {
    const struct elf *elf;
    struct cts_cubin *cubin;
    const uint8_t *section; /* its first byte */
    const Elf64_Shdr *relocations;
    const char *directories[256];
    uint32_t directory_count;
    uint32_t files[1024]; /* of this unit -> of the cubin */
    uint32_t file_count;
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
    const struct elf *const elf = program->elf;
    if (!program->relocations) return UINT32_MAX;
    const struct cts_cursor all = content(elf, program->relocations);
    const bool has_addend = program->relocations->sh_type == SHT_RELA;
    const size_t size = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (size_t at = 0; at + size <= cts_cursor_left(&all); at += size) {
        Elf64_Rela relocation = {0};
        Elf64_Sym symbol;
        memcpy(&relocation, all.at + at, size);
        if (relocation.r_offset != (uint64_t)(place - program->section)) continue;
        if (!symbol_at(elf, ELF64_R_SYM(relocation.r_info), &symbol)) return UINT32_MAX;
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
};

static bool add_row(struct program *program, const struct registers *r)
{
    struct cts_cubin *const cubin = program->cubin;
    if (r->function == UINT32_MAX || r->address > UINT32_MAX || r->line > INT32_MAX) return true;
    if (r->file == 0 || r->file >= program->file_count) return true;
    if (cubin->line_count == cubin->line_capacity &&
        cts_array_grow((void **)&cubin->lines, &cubin->line_capacity, cubin->line_count + 1,
                       sizeof *cubin->lines, NULL))
        return false;
    cubin->lines[cubin->line_count++] = (struct cts_cubin_line){
        r->function, (uint32_t)r->address, program->files[r->file], (uint32_t)r->line};
    return true;
}

static const struct registers at_start = {.function = UINT32_MAX, .file = 1, .line = 1};

static void extended(struct program *program, struct cts_cursor *code, struct registers *r)
{
    const uint64_t bytes = leb128(code, false);
    const uint8_t *const from = cts_cursor_bytes(code, bytes);
    if (!from || !bytes) return;
    struct cts_cursor operands = cts_cursor_of(from + 1, bytes - 1);
    if (*from == 1) *r = at_start; /* end of the sequence */
    if (*from == 2) {
        r->address = cts_cursor_unsigned(&operands, bytes - 1 < 8 ? bytes - 1 : 8);
        r->function = relocated(program, from + 1, &r->address);
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
    return read_tables(program, &header) && run(program, unit);
}

static int by_place(const void *a, const void *b)
{
    const struct cts_cubin_line *const x = a, *const y = b;
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

static void read_lines(const struct elf *elf, struct cts_cubin *cubin)
{
    const Elf64_Shdr *const section = section_named(elf, ".debug_line");
    struct program *const program = section ? calloc(1, sizeof *program) : NULL;
    if (!program) return;
    struct cts_cursor cursor = content(elf, section);
    program->elf = elf;
    program->cubin = cubin;
    program->section = cursor.at;
    program->relocations = section_named(elf, ".rela.debug_line");
    if (!program->relocations) program->relocations = section_named(elf, ".rel.debug_line");
    while (cts_cursor_left(&cursor) && read_unit(program, &cursor)) {
    }
    free(program);
    if (cubin->line_count > 1)
        qsort(cubin->lines, cubin->line_count, sizeof *cubin->lines, by_place);
    for (size_t i = 0; i < cubin->line_count; i++) {
        struct cts_cubin_function *const function = cubin->functions + cubin->lines[i].function;
        if (!function->line_count++) function->first_line = (uint32_t)i;
    }
}

/* ---- all ---- */

/* FNV-1a over words of eight bytes. */
static uint64_t checksum_of(const uint8_t *bytes, size_t byte_count)
{
    uint64_t hash = 0xCBF29CE484222325u ^ byte_count;
    while (byte_count) {
        uint64_t word = 0;
        const size_t part = byte_count < sizeof word ? byte_count : sizeof word;
        memcpy(&word, bytes, part);
        hash = (hash ^ word) * 0x100000001B3u;
        hash ^= hash >> 29;
        bytes += part;
        byte_count -= part;
    }
    return hash;
}

enum cts_status cts_cubin_read(const void *image, size_t image_bytes, struct cts_cubin *cubin,
                               struct cts_error *error)
{
    struct elf elf = {.image = image, .bytes = image_bytes};
    *cubin = (struct cts_cubin){.checksum = checksum_of(image, image_bytes)};
    enum cts_status status = open_elf(&elf, error);
    if (!status) status = add_functions(&elf, cubin, error);
    if (!status) {
        read_infos(&elf, cubin);
        read_lines(&elf, cubin);
    }
    free((void *)(uintptr_t)elf.sections);
    if (status) cts_cubin_release(cubin);
    return status;
}

void cts_cubin_release(struct cts_cubin *cubin)
{
    for (size_t i = 0; i < cubin->function_count; i++) free(cubin->functions[i].name);
    for (size_t i = 0; i < cubin->file_count; i++) free(cubin->files[i]);
    free(cubin->functions);
    free(cubin->files);
    free(cubin->lines);
    *cubin = (struct cts_cubin){0};
}

const struct cts_cubin_function *cts_cubin_find(const struct cts_cubin *cubin, const char *name)
{
    for (size_t i = 0; i < cubin->function_count; i++)
        if (strcmp(cubin->functions[i].name, name) == 0) return cubin->functions + i;
    return NULL;
}

const struct cts_cubin_line *cts_cubin_line_at(const struct cts_cubin *cubin,
                                               const struct cts_cubin_function *function,
                                               uint64_t offset_bytes)
{
    if (!function || !function->line_count) return NULL;
    const struct cts_cubin_line *const lines = cubin->lines + function->first_line;
    size_t low = 0, high = function->line_count; /* the last row at or before the instruction */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lines[middle].offset_bytes <= offset_bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low && lines[low - 1].line && lines[low - 1].file != UINT32_MAX ? lines + low - 1 : NULL;
}
