/* The sections of a cubin, for those who read it. Private to this directory. */
#ifndef CTS_RECORD_CUBIN_ELF_H
#define CTS_RECORD_CUBIN_ELF_H

#include <elf.h>

#include "common/cursor.h"
#include "record/inject/cubin/cubin.h"

struct cts_elf {
    const uint8_t *image;
    size_t bytes;
    Elf64_Shdr *sections; /* copied: aligned */
    size_t section_count;
    const Elf64_Shdr *names, *symbols, *symbol_names;
    bool reserves_shared;
};

/* Empty where the section has no bytes in the image. */
struct cts_cursor cts_elf_content(const struct cts_elf *elf, const Elf64_Shdr *section);
/* "" where there is none. */
bool cts_elf_symbol(const struct cts_elf *elf, uint64_t index, Elf64_Sym *symbol);
/* NULL: none of that name. */
const Elf64_Shdr *cts_elf_section(const struct cts_elf *elf, const char *name);

/* Line tables (cubin-lines.c). */
void cts_cubin_read_lines(const struct cts_elf *elf, struct cts_cubin *cubin);

#endif
