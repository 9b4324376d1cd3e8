/* Makes the marked cubin: code goes behind functions, and everything behind it moves. */
#include "record/inject/cubin/copy-marks.h"

#include <stdlib.h>
#include <string.h>

#include "record/inject/cubin/elf.h"
#include "record/inject/cubin/copy-mark-code.h"

enum { CODE_ALIGNMENT_BYTES = 128, MARKED_MAX_BYTES = 1 << 30 };

/* Code of a section, and what comes behind it. */
struct growth {
    uint32_t section;
    uint64_t start, end; /* in the original image */
    uint32_t copies;
    uint64_t more_bytes;
};

struct marking {
    struct cts_elf elf;
    struct growth *growths; /* by place */
    size_t growth_count;
    uint64_t more_bytes; /* all of them */
    struct cts_marked *marked;
};

/* ---- what grows ---- */

static bool is_code(const struct cts_elf *elf, const Elf64_Shdr *section)
{
    return section->sh_type == SHT_PROGBITS && section->sh_flags & SHF_EXECINSTR &&
           strncmp(cts_elf_section_name(elf, section), ".text.", 6) == 0;
}

static struct growth growth_of(const struct cts_elf *elf, uint32_t index)
{
    const struct cts_cursor code = cts_elf_content(elf, elf->sections + index);
    const uint64_t bytes = cts_cursor_left(&code);
    struct growth growth = {.section = index, .start = elf->sections[index].sh_offset};
    growth.end = growth.start + bytes;
    for (uint64_t at = 0; at + CTS_SASS_BYTES <= bytes; at += CTS_SASS_BYTES) {
        struct cts_tensor_copy copy;
        if (!cts_mark_is_wanted(cts_instruction_at(code.at, at), &copy)) continue;
        growth.copies++;
        growth.more_bytes += CTS_SASS_BYTES * (copy.predicate == 7 ? 3 : 4);
    }
    if (growth.copies)
        growth.more_bytes = (bytes + growth.more_bytes + CODE_ALIGNMENT_BYTES - 1) /
                                CODE_ALIGNMENT_BYTES * CODE_ALIGNMENT_BYTES -
                            bytes;
    return growth;
}

static int by_place(const void *left, const void *right)
{
    const struct growth *const a = left, *const b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static enum cts_status find_growths(struct marking *m, struct cts_error *error)
{
    const struct cts_elf *const elf = &m->elf;
    m->growths = calloc(elf->section_count, sizeof *m->growths);
    if (!m->growths) return cts_fail(error, CTS_MEMORY, "no memory for a module's copy");
    for (size_t i = 0; i < elf->section_count; i++) {
        if (!is_code(elf, elf->sections + i)) continue;
        const struct growth growth = growth_of(elf, (uint32_t)i);
        if (!growth.copies) continue;
        m->growths[m->growth_count++] = growth;
        m->more_bytes += growth.more_bytes;
        m->marked->copies += growth.copies;
    }
    qsort(m->growths, m->growth_count, sizeof *m->growths, by_place);
    return CTS_OK;
}

/* ---- what must not be ---- */

/* Others may stand before or behind code that grows, not in it, and code is whole instructions. */
static bool is_apart(const struct cts_elf *elf, const struct growth *growth)
{
    if ((growth->end - growth->start) % CODE_ALIGNMENT_BYTES) return false;
    for (size_t i = 0; i < elf->section_count; i++) {
        const struct cts_cursor content = cts_elf_content(elf, elf->sections + i);
        const uint64_t start = elf->sections[i].sh_offset, bytes = cts_cursor_left(&content);
        if (i != growth->section && bytes && start < growth->end && start + bytes > growth->start)
            return false;
    }
    return true;
}

/* Whether a relocation changes a copy. */
static bool has_relocated_copy(const struct cts_elf *elf, const struct growth *growth)
{
    const struct cts_cursor code = cts_elf_content(elf, elf->sections + growth->section);
    for (size_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *const section = elf->sections + i;
        const bool has_addends = section->sh_type == SHT_RELA;
        if ((section->sh_type != SHT_REL && !has_addends) || section->sh_info != growth->section)
            continue;
        const size_t entry = has_addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        struct cts_cursor all = cts_elf_content(elf, section);
        for (const uint8_t *at; (at = cts_cursor_bytes(&all, entry));) {
            uint64_t offset;
            struct cts_tensor_copy copy;
            memcpy(&offset, at, sizeof offset);
            offset -= offset % CTS_SASS_BYTES;
            if (offset + CTS_SASS_BYTES <= cts_cursor_left(&code) &&
                cts_mark_is_wanted(cts_instruction_at(code.at, offset), &copy))
                return true;
        }
    }
    return false;
}

static enum cts_status check_growths(const struct marking *m, struct cts_error *error)
{
    Elf64_Ehdr header;
    memcpy(&header, m->elf.image, sizeof header);
    const uint32_t capability =
        header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
    if (capability != CTS_TENSOR_COPY_CAPABILITY)
        return cts_fail(error, CTS_UNSUPPORTED,
                        "tensor copies of compute capability %u.%u are not known", capability / 10,
                        capability % 10);
    for (size_t i = 0; i < m->growth_count; i++) {
        const struct growth *const growth = m->growths + i;
        const char *const name = cts_elf_section_name(&m->elf, m->elf.sections + growth->section);
        if (!is_apart(&m->elf, growth))
            return cts_fail(error, CTS_UNSUPPORTED, "'%s' overlaps other sections", name);
        if (has_relocated_copy(&m->elf, growth))
            return cts_fail(error, CTS_UNSUPPORTED, "'%s' has tensor copies that are relocated",
                            name);
    }
    const uint64_t program_headers = (uint64_t)header.e_phnum * sizeof(Elf64_Phdr);
    if (header.e_phoff > m->elf.bytes || program_headers > m->elf.bytes - header.e_phoff ||
        (header.e_phnum && header.e_phentsize != sizeof(Elf64_Phdr)))
        return cts_fail(error, CTS_FORMAT, "the module's segments are not where its header says");
    if (m->elf.bytes + m->more_bytes > MARKED_MAX_BYTES)
        return cts_fail(error, CTS_UNSUPPORTED, "the module is too large: %zu bytes", m->elf.bytes);
    return CTS_OK;
}

/* ---- the image ---- */

/* Where a place of the original is in the marked image. */
static uint64_t moved(const struct marking *m, uint64_t place)
{
    uint64_t more = 0;
    for (size_t i = 0; i < m->growth_count && m->growths[i].end <= place; i++)
        more += m->growths[i].more_bytes;
    return place + more;
}

/* The code of a section, grown. */
static void put_marks(const struct growth *growth, uint8_t *code)
{
    const uint64_t bytes = growth->end - growth->start, all = bytes + growth->more_bytes;
    uint64_t behind = bytes;
#define PUT(at, instruction)                                                                       \
    do {                                                                                           \
        const struct cts_instruction put = (instruction);                                          \
        memcpy(code + (at), &put, sizeof put);                                                     \
    } while (0)
    for (uint64_t at = 0; at < bytes; at += CTS_SASS_BYTES) {
        struct cts_tensor_copy copy;
        const struct cts_instruction own = cts_instruction_at(code, at);
        if (!cts_mark_is_wanted(own, &copy)) continue;
        PUT(at, cts_mark_branch(at, behind));
        if (copy.predicate != 7) {
            PUT(behind,
                cts_mark_branch_unless(behind, behind + 2 * CTS_SASS_BYTES, copy.predicate));
            behind += CTS_SASS_BYTES;
        }
        PUT(behind, CTS_MARK_SHUFFLE);
        PUT(behind + CTS_SASS_BYTES, own);
        PUT(behind + 2 * CTS_SASS_BYTES,
            cts_mark_branch(behind + 2 * CTS_SASS_BYTES, at + CTS_SASS_BYTES));
        behind += 3 * CTS_SASS_BYTES;
    }
    for (; behind < all; behind += CTS_SASS_BYTES) PUT(behind, CTS_MARK_NOP);
#undef PUT
}

static void move_headers(const struct marking *m)
{
    uint8_t *const image = m->marked->image;
    Elf64_Ehdr header;
    memcpy(&header, m->elf.image, sizeof header);
    for (uint16_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, m->elf.image + header.e_phoff + i * sizeof segment, sizeof segment);
        const uint64_t start = moved(m, segment.p_offset);
        const uint64_t bytes =
            segment.p_filesz ? moved(m, segment.p_offset + segment.p_filesz) - start : 0;
        segment.p_memsz += bytes - segment.p_filesz;
        segment.p_filesz = bytes;
        segment.p_offset = start;
        memcpy(image + moved(m, header.e_phoff) + i * sizeof segment, &segment, sizeof segment);
    }
    for (size_t i = 0; i < m->elf.section_count; i++) {
        Elf64_Shdr section = m->elf.sections[i];
        for (size_t g = 0; g < m->growth_count; g++)
            if (m->growths[g].section == i) section.sh_size += m->growths[g].more_bytes;
        if (section.sh_offset) section.sh_offset = moved(m, section.sh_offset);
        memcpy(image + moved(m, header.e_shoff) + i * sizeof section, &section, sizeof section);
    }
    header.e_phoff = moved(m, header.e_phoff);
    header.e_shoff = moved(m, header.e_shoff);
    memcpy(image, &header, sizeof header);
}

/* A function is as long as its section. */
static void lengthen_functions(const struct marking *m)
{
    const Elf64_Shdr *const symbols = m->elf.symbols;
    Elf64_Sym symbol;
    for (uint64_t i = 0; cts_elf_symbol(&m->elf, i, &symbol); i++) {
        uint8_t *const place = m->marked->image + moved(m, symbols->sh_offset) + i * sizeof symbol;
        for (size_t g = 0; g < m->growth_count; g++) {
            const struct growth *const growth = m->growths + g;
            if (symbol.st_shndx != growth->section || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
                symbol.st_value || symbol.st_size != growth->end - growth->start)
                continue;
            symbol.st_size += growth->more_bytes;
            memcpy(place, &symbol, sizeof symbol);
        }
    }
}

static enum cts_status make_image(struct marking *m, struct cts_error *error)
{
    struct cts_marked *const marked = m->marked;
    marked->bytes = m->elf.bytes + m->more_bytes;
    marked->image = calloc(1, marked->bytes);
    if (!marked->image) return cts_fail(error, CTS_MEMORY, "no memory for a module's copy");
    uint64_t from = 0, to = 0;
    for (size_t i = 0; i < m->growth_count; i++) {
        const struct growth *const growth = m->growths + i;
        memcpy(marked->image + to, m->elf.image + from, growth->end - from);
        put_marks(growth, marked->image + to + (growth->start - from));
        to += growth->end - from + growth->more_bytes;
        from = growth->end;
    }
    memcpy(marked->image + to, m->elf.image + from, m->elf.bytes - from);
    move_headers(m);
    lengthen_functions(m);
    return CTS_OK;
}

enum cts_status cts_marks_put(const void *image, size_t bytes, struct cts_marked *marked,
                              struct cts_error *error)
{
    struct marking m = {.elf = {.image = image, .bytes = bytes}, .marked = marked};
    *marked = (struct cts_marked){0};
    enum cts_status status = cts_elf_open(&m.elf, error);
    if (!status) status = find_growths(&m, error);
    if (!status && m.growth_count) status = check_growths(&m, error);
    if (!status && m.growth_count) status = make_image(&m, error);
    if (!status && m.growth_count) status = cts_marks_check(image, bytes, marked, error);
    if (status) {
        free(marked->image);
        *marked = (struct cts_marked){0};
    }
    free(m.growths);
    free(m.elf.sections);
    return status;
}
