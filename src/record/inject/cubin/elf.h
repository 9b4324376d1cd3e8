/* The sections, symbols and texts of an ELF image: what a cubin is made of. Private to this
 * directory. */
#ifndef CTS_RECORD_CUBIN_ELF_H
#define CTS_RECORD_CUBIN_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cursor.h"
#include "common/error.h"

struct cts_elf {
    const uint8_t *image;
    size_t bytes;
    Elf64_Shdr *sections; /* copied: aligned */
    size_t section_count;
    const Elf64_Shdr *names, *symbols, *symbol_names;
    bool reserves_shared;
};

/* Finds the sections of elf->image (borrowed, elf->bytes long); elf->sections is the caller's to
 * free, also after an error. */
CTS_MUST_CHECK enum cts_status cts_elf_open(struct cts_elf *elf, struct cts_error *error);
/* Empty where the section has no bytes in the image. */
struct cts_cursor cts_elf_content(const struct cts_elf *elf, const Elf64_Shdr *section);
/* A text of a string table; "" where there is none. */
const char *cts_elf_text(const struct cts_elf *elf, const Elf64_Shdr *strings, uint64_t offset);
const char *cts_elf_section_name(const struct cts_elf *elf, const Elf64_Shdr *section);
/* False: there is no symbol of that index. */
bool cts_elf_symbol(const struct cts_elf *elf, uint64_t index, Elf64_Sym *symbol);
/* NULL: none of that name. */
const Elf64_Shdr *cts_elf_section(const struct cts_elf *elf, const char *name);

#endif
