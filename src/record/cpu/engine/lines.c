/* A reader of .debug_line, versions 2 to 4. What it reads is the running program's own file, but it
 * may have been replaced meanwhile: every read is bounded.
 *
 * A unit is a header (opcode lengths, directories, files) and a program for a machine with the
 * registers address, file and line, that appends rows; sequences of rows cover ranges of code
 * without holes. Wanted is the last row at or before the address, in the sequence that holds it. */
#include "record/cpu/engine/lines.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/image.h"

/* ---- bytes ---- */

struct bytes {
    const unsigned char *at, *end;
    bool failed;
};

static uint64_t take(struct bytes *bytes, size_t count)
{
    uint64_t value = 0;
    if ((size_t)(bytes->end - bytes->at) < count) {
        bytes->failed = true;
        bytes->at = bytes->end;
        return 0;
    }
    for (size_t i = 0; i < count && i < sizeof value; i++) value |= (uint64_t)bytes->at[i] << 8 * i;
    bytes->at += count;
    return value;
}

static uint64_t take_leb(struct bytes *bytes, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = take(bytes, 1);
        if (shift < 64) value |= (byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    if (is_signed && shift < 64 && (byte & 64)) value |= ~(uint64_t)0 << shift;
    return value;
}

static const char *take_text(struct bytes *bytes)
{
    const char *const text = (const char *)bytes->at;
    const unsigned char *const end = memchr(bytes->at, 0, (size_t)(bytes->end - bytes->at));
    if (!end) {
        bytes->failed = true;
        bytes->at = bytes->end;
        return "";
    }
    bytes->at = end + 1;
    return text;
}

/* ---- a unit ---- */

enum { OPCODES_MAX = 64, FILES_MAX = 1024 };

struct unit {
    struct bytes program;
    uint8_t least_bytes, line_range, opcode_base, opcode_lengths[OPCODES_MAX];
    int8_t line_base;
    struct bytes directories, files;
    const char *file_names[FILES_MAX];
    uint32_t file_directories[FILES_MAX], file_count;
};

struct search {
    uint64_t address;
    bool (*is_wanted)(const void *user, const char *file);
    const void *user;
    struct cts_line *line;
    bool found;
};

static void read_files(struct unit *unit, struct bytes *header)
{
    while (header->at < header->end) {
        const char *const name = take_text(header);
        if (!*name) return;
        const uint64_t directory = take_leb(header, false);
        (void)take_leb(header, false);
        (void)take_leb(header, false);
        if (unit->file_count == FILES_MAX) return;
        unit->file_names[unit->file_count] = name;
        unit->file_directories[unit->file_count++] = (uint32_t)directory;
    }
}

/* `bytes` is the unit behind its length. */
static bool read_header(struct unit *unit, struct bytes bytes)
{
    memset(unit, 0, sizeof *unit);
    const uint64_t version = take(&bytes, 2), header_bytes = take(&bytes, 4);
    if (version < 2 || version > 4 || header_bytes > (uint64_t)(bytes.end - bytes.at)) return false;
    struct bytes header = {bytes.at, bytes.at + header_bytes, false};
    unit->program = (struct bytes){header.end, bytes.end, false};
    unit->least_bytes = (uint8_t)take(&header, 1);
    if (version == 4) (void)take(&header, 1); /* operations of an instruction: 1 */
    (void)take(&header, 1);                   /* whether rows are statements at first */
    unit->line_base = (int8_t)take(&header, 1);
    unit->line_range = (uint8_t)take(&header, 1);
    unit->opcode_base = (uint8_t)take(&header, 1);
    if (!unit->line_range || !unit->opcode_base || unit->opcode_base > OPCODES_MAX) return false;
    for (uint8_t i = 1; i < unit->opcode_base; i++)
        unit->opcode_lengths[i] = (uint8_t)take(&header, 1);
    unit->directories = header;
    while (header.at < header.end && *take_text(&header)) {
    }
    read_files(unit, &header);
    return !header.failed;
}

static void file_name(const struct unit *unit, uint64_t index, char *text, size_t text_bytes)
{
    *text = '\0';
    if (index == 0 || index > unit->file_count) return;
    const char *directory = "";
    struct bytes directories = unit->directories;
    for (uint32_t i = 0; i < unit->file_directories[index - 1]; i++)
        directory = take_text(&directories);
    const char *const name = unit->file_names[index - 1];
    const bool is_whole = *name == '/' || !*directory;
    snprintf(text, text_bytes, "%s%s%s", is_whole ? "" : directory, is_whole ? "" : "/", name);
}

/* ---- the program ---- */

struct row {
    uint64_t address, file;
    int64_t line;
};

struct sequence {
    struct row last;   /* the row before the present one */
    struct row wanted; /* the last one of a wanted file, at or before the address; line 0: none */
    struct row any;    /* the same of any file */
    bool has_last;
};

static void end_sequence(const struct unit *unit, struct search *search,
                         const struct sequence *sequence)
{
    const struct row *const row = sequence->wanted.line > 0 ? &sequence->wanted : &sequence->any;
    if (row->line <= 0) return;
    file_name(unit, row->file, search->line->file, sizeof search->line->file);
    search->line->line = (uint32_t)row->line;
    search->found = *search->line->file != '\0';
}

static bool is_file_wanted(const struct unit *unit, const struct search *search, uint64_t file)
{
    char name[256];
    file_name(unit, file, name, sizeof name);
    return search->is_wanted(search->user, name);
}

/* A row is complete. `ends`: it is where the sequence's code ends. */
static void add_row(const struct unit *unit, struct search *search, struct sequence *sequence,
                    const struct row *row, bool ends)
{
    const bool passes = sequence->has_last && sequence->last.address <= search->address &&
                        row->address > search->address;
    if (row->address <= search->address && !ends && row->line > 0) {
        sequence->any = *row;
        if (is_file_wanted(unit, search, row->file)) sequence->wanted = *row;
    }
    if (passes && !search->found) end_sequence(unit, search, sequence);
    sequence->last = *row;
    sequence->has_last = true;
    if (ends) *sequence = (struct sequence){0};
}

static void run_extended(const struct unit *unit, struct search *search, struct sequence *sequence,
                         struct bytes *program, struct row *row)
{
    enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };
    const uint64_t length = take_leb(program, false);
    if (length == 0 || length > (uint64_t)(program->end - program->at)) {
        program->at = program->end;
        return;
    }
    const unsigned char *const next = program->at + length;
    const uint64_t opcode = take(program, 1);
    if (opcode == END_SEQUENCE) {
        add_row(unit, search, sequence, row, true);
        *row = (struct row){.file = 1, .line = 1};
    } else if (opcode == SET_ADDRESS) {
        row->address = take(program, length - 1);
    }
    program->at = next;
}

/* The state machine of a line program (DWARF 5, 6.2.2). */
struct machine {
    struct sequence *sequence;
    struct bytes *program;
    struct row *row;
};

static void run_standard(const struct unit *unit, struct search *search, const struct machine *m,
                         uint8_t opcode)
{
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
    switch (opcode) {
    case COPY:
        add_row(unit, search, m->sequence, m->row, false);
        break;
    case ADVANCE_PC:
        m->row->address += take_leb(m->program, false) * unit->least_bytes;
        break;
    case ADVANCE_LINE:
        m->row->line += (int64_t)take_leb(m->program, true);
        break;
    case SET_FILE:
        m->row->file = take_leb(m->program, false);
        break;
    case CONST_ADD_PC:
        m->row->address +=
            (uint64_t)(255 - unit->opcode_base) / unit->line_range * unit->least_bytes;
        break;
    case FIXED_ADVANCE_PC:
        m->row->address += take(m->program, 2);
        break;
    default:
        for (uint8_t i = 0; i < unit->opcode_lengths[opcode]; i++)
            (void)take_leb(m->program, false);
    }
}

static void run_program(const struct unit *unit, struct search *search)
{
    struct bytes program = unit->program;
    struct row row = {.file = 1, .line = 1};
    struct sequence sequence = {0};
    while (program.at < program.end && !search->found) {
        const uint8_t opcode = (uint8_t)take(&program, 1);
        if (opcode == 0) {
            run_extended(unit, search, &sequence, &program, &row);
        } else if (opcode < unit->opcode_base) {
            run_standard(unit, search, &(struct machine){&sequence, &program, &row}, opcode);
        } else {
            const uint8_t special = (uint8_t)(opcode - unit->opcode_base);
            row.address += (uint64_t)(special / unit->line_range) * unit->least_bytes;
            row.line += unit->line_base + special % unit->line_range;
            add_row(unit, search, &sequence, &row, false);
        }
    }
}

/* A unit is too large for the stack of a signal handler and for a `__thread` variable
 * (runtime/thread-room.h), and a handler must not call malloc(). */
static void search_table(struct bytes table, struct search *search)
{
    struct unit *const unit =
        mmap(NULL, sizeof *unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (unit == MAP_FAILED) return;
    while (table.at < table.end && !search->found) {
        const uint64_t length = take(&table, 4);
        if (length >= 0xFFFFFFF0u || length > (uint64_t)(table.end - table.at)) break;
        const struct bytes bytes = {table.at, table.at + length, false};
        table.at += length;
        if (read_header(unit, bytes)) run_program(unit, search);
    }
    munmap(unit, sizeof *unit);
}

/* ---- the file ---- */

/* The section .debug_line of an ELF file in memory. */
static bool find_table(const unsigned char *file, size_t file_bytes, struct bytes *table)
{
    Elf64_Ehdr header;
    Elf64_Shdr section, names;
    if (file_bytes < sizeof header) return false;
    memcpy(&header, file, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    if (header.e_shentsize != sizeof section || header.e_shstrndx >= header.e_shnum) return false;
    if (header.e_shoff > file_bytes ||
        (file_bytes - header.e_shoff) / sizeof section < header.e_shnum)
        return false;
    memcpy(&names, file + header.e_shoff + header.e_shstrndx * sizeof names, sizeof names);
    if (names.sh_offset > file_bytes || names.sh_size > file_bytes - names.sh_offset) return false;
    static const char wanted[] = ".debug_line";
    for (unsigned i = 0; i < header.e_shnum; i++) {
        memcpy(&section, file + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_name > names.sh_size || names.sh_size - section.sh_name < sizeof wanted ||
            memcmp(file + names.sh_offset + section.sh_name, wanted, sizeof wanted) != 0)
            continue;
        if ((section.sh_flags & SHF_COMPRESSED) || section.sh_offset > file_bytes ||
            section.sh_size > file_bytes - section.sh_offset)
            return false;
        table->at = file + section.sh_offset;
        table->end = table->at + section.sh_size;
        return true;
    }
    return false;
}

static void search_file(const char *path, struct search *search)
{
    struct stat status;
    struct bytes table = {0};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        const size_t bytes = (size_t)status.st_size;
        void *const memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (memory != MAP_FAILED) {
            if (find_table(memory, bytes, &table)) search_table(table, search);
            munmap(memory, bytes);
        }
    }
    close(file);
}

bool cts_line_of(const void *code, bool (*is_wanted)(const void *user, const char *file),
                 const void *user, struct cts_line *line)
{
    struct cts_image image;
    if (!cts_image_find(code, &image)) return false;
    struct search search = {.address = (uint64_t)(uintptr_t)code - image.bias,
                            .is_wanted = is_wanted,
                            .user = user,
                            .line = line};
    search_file(*image.path ? image.path : "/proc/self/exe", &search);
    return search.found;
}
