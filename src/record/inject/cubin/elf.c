/* The sections, symbols and texts of an ELF image; every number of it is checked before use. */
#include <stdlib.h>
#include <string.h>

#include "record/inject/cubin/elf.h"

enum { SECTIONS_MAX = 1 << 20 };

struct cts_cursor cts_elf_content(const struct cts_elf *elf, const Elf64_Shdr *section)
{
    if (!section || section->sh_type == SHT_NOBITS || section->sh_offset > elf->bytes ||
        section->sh_size > elf->bytes - section->sh_offset)
        return cts_cursor_of(elf->image, 0);
    return cts_cursor_of(elf->image + section->sh_offset, section->sh_size);
}

const char *cts_elf_text(const struct cts_elf *elf, const Elf64_Shdr *strings, uint64_t offset)
{
    const struct cts_cursor all = cts_elf_content(elf, strings);
    const size_t bytes = cts_cursor_left(&all);
    if (offset >= bytes || !memchr(all.at + offset, 0, bytes - offset)) return "";
    return (const char *)all.at + offset;
}

const char *cts_elf_section_name(const struct cts_elf *elf, const Elf64_Shdr *section)
{
    return cts_elf_text(elf, elf->names, section->sh_name);
}

bool cts_elf_symbol(const struct cts_elf *elf, uint64_t index, Elf64_Sym *symbol)
{
    const struct cts_cursor all = cts_elf_content(elf, elf->symbols);
    if (index >= cts_cursor_left(&all) / sizeof *symbol) return false;
    memcpy(symbol, all.at + index * sizeof *symbol, sizeof *symbol);
    return true;
}

enum cts_status cts_elf_open(struct cts_elf *elf, struct cts_error *error)
{
    Elf64_Ehdr header;
    if (elf->bytes < sizeof header || memcmp(elf->image, ELFMAG, SELFMAG) != 0)
        return cts_fail(error, CTS_FORMAT, "the module is not a cubin");
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
    for (uint64_t i = 0; cts_elf_symbol(elf, i, &symbol) && !elf->reserves_shared; i++)
        elf->reserves_shared = strcmp(cts_elf_text(elf, elf->symbol_names, symbol.st_name),
                                      ".nv.reservedSmem.offset0") == 0;
    return CTS_OK;
}

const Elf64_Shdr *cts_elf_section(const struct cts_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->section_count; i++)
        if (strcmp(cts_elf_section_name(elf, elf->sections + i), name) == 0)
            return elf->sections + i;
    return NULL;
}
