/* Compares a marked cubin with the original, section by section and instruction by instruction.
 * It shares with copy-marks.c what the instructions are, and nothing of how the image is made. */
#include <stdlib.h>
#include <string.h>

#include "record/inject/cubin/elf.h"
#include "record/inject/cubin/copy-mark-code.h"
#include "record/inject/cubin/copy-marks.h"

struct pair {
    const struct cts_elf *original, *marked;
    size_t section;
    uint32_t copies;
};

static enum cts_status differs(const struct pair *p, const char *what, uint64_t offset_bytes,
                               struct cts_error *error)
{
    return cts_fail(error, CTS_FORMAT, "check of the marked module: '%s' differs at 0x%llx: %s",
                    cts_elf_section_name(p->original, p->original->sections + p->section),
                    (unsigned long long)offset_bytes, what);
}

/* A copy of the original, at `at`, has become a branch to *behind, where its marker begins. */
static bool is_marked(struct cts_cursor code, struct cts_instruction own, uint64_t at,
                      uint64_t *behind)
{
    struct cts_tensor_copy copy, found;
    uint64_t origin = 0;
    if (!cts_mark_is_wanted(own, &copy)) return false;
    const uint64_t guard_bytes = copy.predicate == 7 ? 0 : CTS_SASS_BYTES;
    const uint64_t marker = *behind + guard_bytes, bytes = cts_cursor_left(&code);
    if (!cts_mark_read(code.at, bytes, marker, &found, &origin) || origin != at ||
        !cts_instruction_equals(cts_instruction_at(code.at, marker + CTS_SASS_BYTES), own))
        return false;
    const struct cts_instruction guard =
        cts_mark_branch_unless(*behind, marker + CTS_SASS_BYTES, copy.predicate);
    if (guard_bytes && !cts_instruction_equals(cts_instruction_at(code.at, *behind), guard))
        return false;
    *behind = marker + 3 * CTS_SASS_BYTES;
    return true;
}

static enum cts_status check_code(struct pair *p, struct cts_cursor original,
                                  struct cts_cursor marked, struct cts_error *error)
{
    const uint64_t bytes = cts_cursor_left(&original), all = cts_cursor_left(&marked);
    uint64_t behind = bytes;
    for (uint64_t at = 0; at + CTS_SASS_BYTES <= bytes; at += CTS_SASS_BYTES) {
        const struct cts_instruction own = cts_instruction_at(original.at, at);
        if (cts_instruction_equals(own, cts_instruction_at(marked.at, at))) {
            struct cts_tensor_copy copy;
            if (cts_mark_is_wanted(own, &copy))
                return differs(p, "a copy has no marker", at, error);
            continue;
        }
        if (!is_marked(marked, own, at, &behind))
            return differs(p, "an instruction is another one", at, error);
        p->copies++;
    }
    for (; behind + CTS_SASS_BYTES <= all; behind += CTS_SASS_BYTES)
        if (!cts_instruction_equals(cts_instruction_at(marked.at, behind), CTS_MARK_NOP))
            return differs(p, "code that belongs to no marker", behind, error);
    return behind == all ? CTS_OK : differs(p, "half an instruction", behind, error);
}

/* Whether a symbol has the size of its section, in both images. */
static bool is_whole_section(const struct pair *p, const Elf64_Sym *before, const Elf64_Sym *after)
{
    return ELF64_ST_TYPE(before->st_info) == STT_FUNC && !before->st_value &&
           before->st_shndx < p->original->section_count &&
           before->st_size == p->original->sections[before->st_shndx].sh_size &&
           after->st_size == p->marked->sections[before->st_shndx].sh_size;
}

/* Only functions' sizes change. */
static bool symbols_agree(const struct pair *p, struct cts_cursor original,
                          struct cts_cursor marked)
{
    const uint8_t *before, *after;
    if (cts_cursor_left(&original) != cts_cursor_left(&marked)) return false;
    while ((before = cts_cursor_bytes(&original, sizeof(Elf64_Sym))) &&
           (after = cts_cursor_bytes(&marked, sizeof(Elf64_Sym)))) {
        Elf64_Sym a, b;
        memcpy(&a, before, sizeof a);
        memcpy(&b, after, sizeof b);
        if (is_whole_section(p, &a, &b)) b.st_size = a.st_size;
        if (memcmp(&a, &b, sizeof a) != 0) return false;
    }
    return true;
}

static enum cts_status check_section(struct pair *p, struct cts_error *error)
{
    Elf64_Shdr before = p->original->sections[p->section];
    Elf64_Shdr after = p->marked->sections[p->section];
    const struct cts_cursor original = cts_elf_content(p->original, &before);
    const struct cts_cursor marked = cts_elf_content(p->marked, &after);
    const uint64_t bytes = cts_cursor_left(&original);
    const bool grows = after.sh_size > before.sh_size;
    if (grows && before.sh_flags & SHF_EXECINSTR && cts_cursor_left(&marked) == after.sh_size) {
        const enum cts_status status = check_code(p, original, marked, error);
        if (status) return status;
        after.sh_size = before.sh_size;
    } else if (before.sh_type == SHT_SYMTAB) {
        if (!symbols_agree(p, original, marked)) return differs(p, "symbols", 0, error);
    } else if (bytes != cts_cursor_left(&marked) ||
               (bytes && memcmp(original.at, marked.at, bytes) != 0)) {
        return differs(p, "its content", 0, error);
    }
    before.sh_offset = after.sh_offset = 0;
    return memcmp(&before, &after, sizeof before) == 0 ? CTS_OK
                                                       : differs(p, "its header", 0, error);
}

static bool covers(const uint8_t *image, uint16_t index, const Elf64_Shdr *section)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    memcpy(&header, image, sizeof header);
    memcpy(&segment, image + header.e_phoff + index * sizeof segment, sizeof segment);
    return section->sh_offset >= segment.p_offset &&
           section->sh_offset - segment.p_offset <= segment.p_filesz &&
           section->sh_size <= segment.p_filesz - (section->sh_offset - segment.p_offset);
}

/* The same sections are in each segment. Both images have as many, where their headers say. */
static enum cts_status check_segments(const struct pair *p, struct cts_error *error)
{
    Elf64_Ehdr before, after;
    memcpy(&before, p->original->image, sizeof before);
    memcpy(&after, p->marked->image, sizeof after);
    const uint64_t bytes = (uint64_t)after.e_phnum * sizeof(Elf64_Phdr);
    bool agree = before.e_phnum == after.e_phnum && before.e_phoff <= p->original->bytes &&
                 bytes <= p->original->bytes - before.e_phoff &&
                 after.e_phoff <= p->marked->bytes && bytes <= p->marked->bytes - after.e_phoff;
    for (size_t s = 0; agree && s < p->original->section_count; s++)
        for (uint16_t i = 0; i < before.e_phnum && p->original->sections[s].sh_size; i++)
            agree = agree && covers(p->original->image, i, p->original->sections + s) ==
                                 covers(p->marked->image, i, p->marked->sections + s);
    return agree ? CTS_OK
                 : cts_fail(error, CTS_FORMAT, "check of the marked module: segments differ");
}

enum cts_status cts_marks_check(const void *image, size_t bytes, const struct cts_marked *marked,
                                struct cts_error *error)
{
    struct cts_elf original = {.image = image, .bytes = bytes};
    struct cts_elf copy = {.image = marked->image, .bytes = marked->bytes};
    struct pair p = {.original = &original, .marked = &copy};
    enum cts_status status = cts_elf_open(&original, error);
    if (!status) status = cts_elf_open(&copy, error);
    if (!status && original.section_count != copy.section_count)
        status = cts_fail(error, CTS_FORMAT, "check of the marked module: %zu sections, not %zu",
                          copy.section_count, original.section_count);
    for (; !status && p.section < original.section_count; p.section++)
        status = check_section(&p, error);
    if (!status && p.copies != marked->copies)
        status = cts_fail(error, CTS_FORMAT, "check of the marked module: %u copies, not %u",
                          p.copies, marked->copies);
    if (!status) status = check_segments(&p, error);
    free(original.sections);
    free(copy.sections);
    return status;
}
