/* Cubins are ELF: a section .text.NAME per kernel or function that is called; .nv.info and
 * .nv.info.NAME with attributes (format, number, then a value or a size and bytes); .nv.shared.NAME
 * as large as the static shared memory; with -lineinfo, line tables (cubin-lines.c). Functions that
 * are called and not shared lie in the section of the kernel and have a symbol there,
 * $KERNEL$FUNCTION. */
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"
#include "common/search.h"
#include "record/inject/cubin/cubin-lines.h"
#include "record/inject/cubin/copy-mark-code.h"
#include "record/inject/cubin/elf.h"

#include "trace/access.h"

enum {
    ATTRIBUTE_BARRIERS = 0x4c,
    ATTRIBUTE_REGISTERS = 0x2f,
    FORMAT_SIZED = 4,
    RESERVED_SHARED_BYTES = 1024, /* by the system, from Hopper on, counted in .nv.shared */
};

static const char *behind(const char *text, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 && text[length] ? text + length : NULL;
}

/* ---- functions ---- */

static enum cts_status add_functions(const struct cts_elf *elf, struct cts_cubin *cubin,
                                     struct cts_error *error)
{
    cubin->functions = calloc(elf->section_count, sizeof *cubin->functions);
    if (!cubin->functions) return cts_fail(error, CTS_MEMORY, "no memory for a module's functions");
    for (size_t i = 0; i < elf->section_count; i++) {
        const char *const name = behind(cts_elf_section_name(elf, elf->sections + i), ".text.");
        if (!name) continue;
        struct cts_cubin_function *const function = cubin->functions + cubin->function_count;
        function->name = strdup(name);
        if (!function->name) return cts_fail(error, CTS_MEMORY, "no memory for a function's name");
        function->section = (uint32_t)i;
        function->may_have_barriers = true; /* until .nv.info says otherwise */
        function->launches_kernels = strstr(name, "cudaCDP2LaunchDevice") ||
                                     strstr(name, "cudaLaunchDevice") ||
                                     strstr(name, "cudaCDP2GraphLaunch");
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

static void read_registers(const struct cts_elf *elf, struct cts_cursor cursor,
                           struct cts_cubin *cubin)
{
    struct attribute attribute;
    Elf64_Sym symbol;
    while (next_attribute(&cursor, &attribute)) {
        if (attribute.number != ATTRIBUTE_REGISTERS || attribute.format != FORMAT_SIZED) continue;
        const uint32_t index = cts_cursor_u32(&attribute.contents);
        const uint32_t registers = cts_cursor_u32(&attribute.contents);
        if (attribute.contents.overflow || !cts_elf_symbol(elf, index, &symbol)) continue;
        struct cts_cubin_function *const function =
            function_named(cubin, cts_elf_text(elf, elf->symbol_names, symbol.st_name));
        if (function) function->registers = registers;
    }
}

static void read_infos(const struct cts_elf *elf, struct cts_cubin *cubin)
{
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *const section = elf->sections + i;
        const char *const name = cts_elf_section_name(elf, section);
        const char *const of_info = behind(name, ".nv.info.");
        const char *const of_shared = behind(name, ".nv.shared.");
        struct cts_cubin_function *function = of_info     ? function_named(cubin, of_info)
                                              : of_shared ? function_named(cubin, of_shared)
                                                          : NULL;
        if (function && of_info)
            read_kernel_info(cts_elf_content(elf, section), elf->sections + function->section,
                             function);
        if (function && of_shared && section->sh_size <= UINT32_MAX) {
            function->static_shared_bytes = (uint32_t)section->sh_size;
            if (elf->reserves_shared && section->sh_size >= RESERVED_SHARED_BYTES)
                function->static_shared_bytes -= RESERVED_SHARED_BYTES;
        }
        if (strcmp(name, ".nv.info") == 0)
            read_registers(elf, cts_elf_content(elf, section), cubin);
    }
}

/* ---- code ---- */

static uint32_t function_of_section(const struct cts_cubin *cubin, uint32_t section)
{
    for (size_t f = 0; f < cubin->function_count; f++)
        if (cubin->functions[f].section == section) return (uint32_t)f;
    return CTS_CUBIN_NONE;
}

static bool add_part(struct cts_cubin *cubin, const struct cts_cubin_part *part, const char *name)
{
    if (cubin->part_count == cubin->part_capacity &&
        cts_array_grow((void **)&cubin->parts, &cubin->part_capacity, cubin->part_count + 1,
                       sizeof *cubin->parts, NULL))
        return false;
    struct cts_cubin_part *const place = cubin->parts + cubin->part_count;
    *place = *part;
    place->name = strdup(name);
    cubin->part_count += place->name != NULL;
    return place->name != NULL;
}

/* Parts, by their symbols. */
static void read_symbols(const struct cts_elf *elf, struct cts_cubin *cubin)
{
    Elf64_Sym symbol;
    for (uint64_t i = 0; cts_elf_symbol(elf, i, &symbol); i++) {
        const char *const name = cts_elf_text(elf, elf->symbol_names, symbol.st_name);
        const char *const inner = *name == '$' ? strchr(name + 1, '$') : NULL;
        if (!inner || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        const struct cts_cubin_part part = {.function = function_of_section(cubin, symbol.st_shndx),
                                            .offset_bytes = (uint32_t)symbol.st_value,
                                            .size_bytes = (uint32_t)symbol.st_size};
        if (part.function != CTS_CUBIN_NONE && !add_part(cubin, &part, inner + 1)) return;
    }
}

/* The memory that cudaGetSymbolAddress() knows: not what the compiler made, whose names begin with
 * '$'. */
static bool is_variable(const struct cts_elf *elf, const Elf64_Sym *symbol, const char *name)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !symbol->st_size || !*name ||
        *name == '$' || symbol->st_shndx >= elf->section_count)
        return false;
    const char *const section = cts_elf_section_name(elf, elf->sections + symbol->st_shndx);
    return strcmp(section, ".nv.global") == 0 || strcmp(section, ".nv.global.init") == 0 ||
           strcmp(section, ".nv.constant3") == 0;
}

static void read_variables(const struct cts_elf *elf, struct cts_cubin *cubin)
{
    enum { MANAGED = 4 }; /* in a symbol's st_other */
    Elf64_Sym symbol;
    for (uint64_t i = 0; cts_elf_symbol(elf, i, &symbol); i++) {
        const char *const name = cts_elf_text(elf, elf->symbol_names, symbol.st_name);
        if (!is_variable(elf, &symbol, name)) continue;
        if (cubin->variable_count == cubin->variable_capacity &&
            cts_array_grow((void **)&cubin->variables, &cubin->variable_capacity,
                           cubin->variable_count + 1, sizeof *cubin->variables, NULL))
            return;
        struct cts_cubin_variable *const place = cubin->variables + cubin->variable_count;
        const char *const section = cts_elf_section_name(elf, elf->sections + symbol.st_shndx);
        *place = (struct cts_cubin_variable){.name = strdup(name),
                                             .size_bytes = symbol.st_size,
                                             .is_constant = behind(section, ".nv.constant") != NULL,
                                             .is_managed = (symbol.st_other & MANAGED) != 0};
        if (!place->name) return;
        cubin->variable_count++;
    }
}

/* The function that a symbol stands for, or CTS_CUBIN_NONE. */
static uint32_t function_of_symbol(const struct cts_elf *elf, const struct cts_cubin *cubin,
                                   uint32_t index)
{
    Elf64_Sym symbol;
    if (!cts_elf_symbol(elf, index, &symbol) || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
        return CTS_CUBIN_NONE;
    return function_of_section(cubin, symbol.st_shndx);
}

/* .nv.callgraph: pairs of symbols, the caller's and the callee's; negative ones are marks. */
static void read_calls(const struct cts_elf *elf, struct cts_cubin *cubin)
{
    struct cts_cursor cursor = cts_elf_content(elf, cts_elf_section(elf, ".nv.callgraph"));
    while (cts_cursor_left(&cursor) >= 8) {
        const uint32_t from = cts_cursor_u32(&cursor), to = cts_cursor_u32(&cursor);
        const struct cts_cubin_edge edge = {function_of_symbol(elf, cubin, from),
                                            function_of_symbol(elf, cubin, to)};
        if (edge.caller == CTS_CUBIN_NONE || edge.callee == CTS_CUBIN_NONE) continue;
        if (cubin->edge_count == cubin->edge_capacity &&
            cts_array_grow((void **)&cubin->edges, &cubin->edge_capacity, cubin->edge_count + 1,
                           sizeof *cubin->edges, NULL))
            return;
        cubin->edges[cubin->edge_count++] = edge;
    }
}

static bool add_mark(struct cts_cubin *cubin, struct cts_cubin_mark mark)
{
    if (cubin->mark_count == cubin->mark_capacity &&
        cts_array_grow((void **)&cubin->marks, &cubin->mark_capacity, cubin->mark_count + 1,
                       sizeof *cubin->marks, NULL))
        return false;
    cubin->marks[cubin->mark_count++] = mark;
    return true;
}

/* The compute capability, 10 times: in the low byte of the flags, or in the next one since ABI 8.
 */
static uint32_t capability(const struct cts_elf *elf)
{
    Elf64_Ehdr header;
    memcpy(&header, elf->image, sizeof header);
    return header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
}

static struct cts_cubin_mark mark_at(struct cts_cursor code, uint64_t at)
{
    uint64_t words[2], origin_bytes = 0;
    struct cts_tensor_copy copy;
    memcpy(words, code.at + at, sizeof words);
    struct cts_sass sass = cts_sass_of(words[0], words[1]);
    if (!sass.kind && cts_mark_read(code.at, cts_cursor_left(&code), at, &copy, &origin_bytes))
        sass = (struct cts_sass){CTS_SASS_MARKED_COPY, copy.operation};
    return (struct cts_cubin_mark){(uint32_t)at, (uint32_t)origin_bytes, sass};
}

static void read_code(const struct cts_elf *elf, struct cts_cubin *cubin)
{
    cubin->capability = capability(elf);
    if (cubin->capability < 70) return; /* instructions have another form */
    for (size_t f = 0; f < cubin->function_count; f++) {
        struct cts_cubin_function *const function = cubin->functions + f;
        struct cts_cursor code = cts_elf_content(elf, elf->sections + function->section);
        const size_t bytes = cts_cursor_left(&code);
        function->first_mark = (uint32_t)cubin->mark_count;
        for (size_t at = 0; at + CTS_SASS_BYTES <= bytes && at <= UINT32_MAX;
             at += CTS_SASS_BYTES) {
            const struct cts_cubin_mark mark = mark_at(code, at);
            if (mark.sass.kind && !add_mark(cubin, mark)) return;
            function->has_arrivals |=
                mark.sass.kind == CTS_SASS_BARRIER && mark.sass.operation == CTS_BARRIER_CTA_ARRIVE;
            if (mark.sass.kind == CTS_SASS_MARKED_COPY) at += CTS_SASS_BYTES;
        }
        function->mark_count = (uint32_t)(cubin->mark_count - function->first_mark);
    }
}

/* ---- all ---- */

enum cts_status cts_cubin_read(const void *image, size_t image_bytes, struct cts_cubin *cubin,
                               struct cts_error *error)
{
    struct cts_elf elf = {.image = image, .bytes = image_bytes};
    *cubin = (struct cts_cubin){
        .checksum = cts_hash_words(CTS_HASH_START ^ image_bytes, image, image_bytes)};
    enum cts_status status = cts_elf_open(&elf, error);
    if (!status) status = add_functions(&elf, cubin, error);
    if (!status) {
        read_infos(&elf, cubin);
        read_symbols(&elf, cubin);
        read_variables(&elf, cubin);
        read_calls(&elf, cubin);
        read_code(&elf, cubin);
        const Elf64_Shdr *const constants = cts_elf_section(&elf, ".nv.constant3");
        cubin->constant_bytes = constants ? constants->sh_size : 0;
        cts_cubin_read_lines(&elf, cubin);
    }
    free(elf.sections);
    if (status) cts_cubin_release(cubin);
    return status;
}

void cts_cubin_release(struct cts_cubin *cubin)
{
    for (size_t i = 0; i < cubin->function_count; i++) free(cubin->functions[i].name);
    for (size_t i = 0; i < cubin->file_count; i++) free(cubin->files[i]);
    for (size_t i = 0; i < cubin->part_count; i++) free(cubin->parts[i].name);
    for (size_t i = 0; i < cubin->variable_count; i++) free(cubin->variables[i].name);
    free(cubin->variables);
    free(cubin->parts);
    free(cubin->edges);
    free(cubin->marks);
    free(cubin->calls);
    free(cubin->strings);
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
    const size_t behind =
        CTS_SEARCH(function->line_count, i, lines[i].offset_bytes <= offset_bytes);
    if (!behind) return NULL;
    const struct cts_cubin_line *const last = &lines[behind - 1]; /* at or before the instruction */
    return last->line && last->file != UINT32_MAX ? last : NULL;
}

const struct cts_cubin_mark *cts_cubin_mark_at(const struct cts_cubin *cubin,
                                               const struct cts_cubin_function *function,
                                               uint64_t offset_bytes)
{
    if (!function || !function->mark_count) return NULL;
    const struct cts_cubin_mark *const marks = cubin->marks + function->first_mark;
    const size_t at = CTS_SEARCH(function->mark_count, i, marks[i].offset_bytes < offset_bytes);
    return at < function->mark_count && marks[at].offset_bytes == offset_bytes ? &marks[at] : NULL;
}

const struct cts_cubin_part *cts_cubin_part_at(const struct cts_cubin *cubin,
                                               const struct cts_cubin_function *function,
                                               uint64_t offset_bytes)
{
    for (size_t i = 0; function && i < cubin->part_count; i++) {
        const struct cts_cubin_part *const part = cubin->parts + i;
        if (cubin->functions + part->function == function && offset_bytes >= part->offset_bytes &&
            offset_bytes - part->offset_bytes < part->size_bytes)
            return part;
    }
    return NULL;
}

const char *cts_cubin_callee(const struct cts_cubin *cubin, const struct cts_cubin_call *call)
{
    return call->callee_name < cubin->strings_bytes ? cubin->strings + call->callee_name : "";
}

void cts_cubin_reach(const struct cts_cubin *cubin, const struct cts_cubin_function *function,
                     bool *reached)
{
    bool more = function != NULL;
    if (function) reached[function - cubin->functions] = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < cubin->edge_count; i++) {
            const struct cts_cubin_edge *const edge = cubin->edges + i;
            if (!reached[edge->caller] || reached[edge->callee]) continue;
            reached[edge->callee] = more = true;
        }
    }
}

const void *cts_cubin_code(const void *image, size_t image_bytes,
                           const struct cts_cubin_function *function, size_t *code_bytes)
{
    struct cts_elf elf = {.image = image, .bytes = image_bytes};
    const uint8_t *code = NULL;
    *code_bytes = 0;
    if (cts_elf_open(&elf, NULL) == CTS_OK && function->section < elf.section_count) {
        const struct cts_cursor all = cts_elf_content(&elf, elf.sections + function->section);
        code = all.at;
        *code_bytes = cts_cursor_left(&all);
    }
    free(elf.sections);
    return *code_bytes ? code : NULL;
}

bool cts_cubin_object(const void *image, size_t image_bytes, const char *name, const void **bytes,
                      size_t *byte_count)
{
    struct cts_elf elf = {.image = image, .bytes = image_bytes};
    Elf64_Sym symbol;
    bool found = false;
    if (cts_elf_open(&elf, NULL) == CTS_OK)
        for (uint64_t i = 0; !found && cts_elf_symbol(&elf, i, &symbol); i++) {
            if (symbol.st_shndx >= elf.section_count ||
                strcmp(cts_elf_text(&elf, elf.symbol_names, symbol.st_name), name) != 0)
                continue;
            const struct cts_cursor all = cts_elf_content(&elf, elf.sections + symbol.st_shndx);
            const size_t left = cts_cursor_left(&all);
            found = symbol.st_value <= left && symbol.st_size <= left - symbol.st_value;
            if (!found) break;
            *bytes = all.at + symbol.st_value;
            *byte_count = symbol.st_size;
        }
    free(elf.sections);
    return found;
}
