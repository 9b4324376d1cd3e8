/* A module's file is mapped when a function of it is asked for, and stays so, since names point
 * into it. Only what a section header bounds is read, and every offset is checked: the file may be
 * another one by now than the one that was loaded. */
#include "record/wrappers/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cursor.h"
#include "common/image.h"

struct module {
    struct module *next;
    char *path;
    const uint8_t *bytes; /* NULL: not to be had */
    size_t byte_count;
    uint64_t symbols_at, symbols_bytes, strings_at, strings_bytes;
};
static struct module *modules;

static bool inside(const struct module *module, uint64_t at, uint64_t count)
{
    return at <= module->byte_count && count <= module->byte_count - at;
}

static struct cts_cursor cursor_at(const struct module *module, uint64_t at, uint64_t count)
{
    return inside(module, at, count) ? cts_cursor_of(module->bytes + at, count)
                                     : (struct cts_cursor){.overflow = true};
}

struct section {
    uint32_t type, link;
    uint64_t offset, size;
};

static bool read_section(const struct module *module, uint64_t table, uint64_t index,
                         struct section *section)
{
    struct cts_cursor cursor =
        cursor_at(module, table + index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
    cts_cursor_u32(&cursor); /* name */
    section->type = cts_cursor_u32(&cursor);
    cts_cursor_bytes(&cursor, 16); /* flags, address */
    section->offset = cts_cursor_u64(&cursor);
    section->size = cts_cursor_u64(&cursor);
    section->link = cts_cursor_u32(&cursor);
    return !cursor.overflow &&
           (section->type == SHT_NOBITS || inside(module, section->offset, section->size));
}

/* Finds a symbol table and its strings. */
static bool find_symbols(struct module *module, uint32_t type)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB};
    struct section section, strings;
    if (!inside(module, 0, sizeof(Elf64_Ehdr)) || memcmp(module->bytes, magic, sizeof(magic)) != 0)
        return false;
    struct cts_cursor header = cursor_at(module, 0, sizeof(Elf64_Ehdr));
    cts_cursor_bytes(&header, offsetof(Elf64_Ehdr, e_shoff));
    const uint64_t table = cts_cursor_u64(&header);
    cts_cursor_bytes(&header, offsetof(Elf64_Ehdr, e_shnum) - offsetof(Elf64_Ehdr, e_flags));
    const uint64_t count = cts_cursor_u16(&header);
    if (table > module->byte_count) return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!read_section(module, table, i, &section)) return false;
        if (section.type != type || section.link >= count) continue;
        if (!read_section(module, table, section.link, &strings)) return false;
        module->symbols_at = section.offset;
        module->symbols_bytes = section.size;
        module->strings_at = strings.offset;
        module->strings_bytes = strings.size;
        return true;
    }
    return false;
}

static void map_file(struct module *module, const char *path)
{
    struct stat status;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        void *const bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            module->bytes = bytes;
            module->byte_count = (size_t)status.st_size;
        }
    }
    close(file);
}

static struct module *module_of(const char *path)
{
    struct module *module = modules;
    while (module && strcmp(module->path, path) != 0) module = module->next;
    if (module) return module;
    module = calloc(1, sizeof(*module));
    if (module && !(module->path = strdup(path))) {
        free(module);
        module = NULL;
    }
    if (!module) return NULL;
    module->next = modules;
    modules = module;
    map_file(module, path);
    if (module->bytes && !find_symbols(module, SHT_SYMTAB) && !find_symbols(module, SHT_DYNSYM)) {
        munmap((void *)(uintptr_t)module->bytes, module->byte_count);
        module->bytes = NULL;
    }
    return module;
}

static const char *string_at(const struct module *module, uint32_t offset)
{
    if (offset >= module->strings_bytes) return NULL;
    const char *const text = (const char *)module->bytes + module->strings_at + offset;
    const size_t room = (size_t)(module->strings_bytes - offset);
    return *text && memchr(text, 0, room) ? text : NULL;
}

/* The function that begins at `value`, or else the one that it lies in. */
static const char *name_in(const struct module *module, uint64_t value)
{
    const char *within = NULL;
    struct cts_cursor cursor = cursor_at(module, module->symbols_at, module->symbols_bytes);
    while (cts_cursor_left(&cursor) >= sizeof(Elf64_Sym)) {
        const uint32_t name = cts_cursor_u32(&cursor);
        const uint8_t info = cts_cursor_u8(&cursor);
        cts_cursor_bytes(&cursor, 3); /* visibility, section */
        const uint64_t start = cts_cursor_u64(&cursor), size = cts_cursor_u64(&cursor);
        if (ELF64_ST_TYPE(info) != STT_FUNC) continue;
        if (start == value && string_at(module, name)) return string_at(module, name);
        if (start <= value && value - start < size) within = string_at(module, name);
    }
    return within;
}

/* Of the C++ library that the program has, if any. Looked up before whoever names a function can
 * hold a lock that a constructor waits for (common/image.h). */
typedef char *demangle(const char *, char *, size_t *, int *);
static demangle *cxa_demangle;
static char program[4096];

__attribute__((constructor)) static void find(void)
{
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = 0;
    *(void **)(void *)&cxa_demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
}

bool cts_symbol_of(uintptr_t address, struct cts_symbol *symbol)
{
    struct cts_image image;
    if (!cts_image_find((const void *)address, &image)) return false;
    const struct module *const module = module_of(*image.path ? image.path : "/proc/self/exe");
    symbol->module = *image.path ? image.path : program;
    symbol->name = module && module->bytes ? name_in(module, address - image.bias) : NULL;
    return symbol->name != NULL;
}

char *cts_symbol_readable(const char *name)
{
    int status = -1;
    if (!cxa_demangle || strncmp(name, "_Z", 2) != 0) return NULL;
    return cxa_demangle(name, NULL, NULL, &status);
}
