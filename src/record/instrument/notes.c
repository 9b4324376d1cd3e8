/* Named metadata is written as it is found, one node an element; sources come last, when it is
 * known which ones anything refers to. */
#include "record/instrument/notes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIELDS_MAX = 16, SOURCE_TEXT_MAX_BYTES = 4 << 20 };

struct row {
    struct cts_notes *notes;
    LLVMMetadataRef fields[FIELDS_MAX];
    size_t count;
};

static void put_integer(struct row *row, uint32_t number)
{
    LLVMTypeRef type = LLVMInt32TypeInContext(row->notes->context);
    row->fields[row->count++] = LLVMValueAsMetadata(LLVMConstInt(type, number, 0));
}

static void put_bytes(struct row *row, const char *text, size_t length)
{
    row->fields[row->count++] = LLVMMDStringInContext2(row->notes->context, text, length);
}

static void put_text(struct row *row, const char *text)
{
    put_bytes(row, text ? text : "", text ? strlen(text) : 0);
}

static void finish_row(struct row *row, const char *table)
{
    LLVMContextRef context = row->notes->context;
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, row->fields, row->count);
    LLVMAddNamedMetadataOperand(row->notes->module, table, LLVMMetadataAsValue(context, node));
}

static const char *operation_text(unsigned operation)
{
    switch (operation) {
#define X(name, number, text)                                                                      \
    case CTS_##name:                                                                               \
        return text;
        CTS_OPERATION_MAP(X)
#undef X
#define X(name, number, text)                                                                      \
    case CTS_BARRIER_##name:                                                                       \
        return text;
        CTS_BARRIER_MAP(X)
#undef X
    default:
        return "?";
    }
}

static const char *space_text(unsigned space)
{
    switch (space) {
    case CTS_SPACE_BARRIER:
        return "barrier";
#define X(name, number, text)                                                                      \
    case CTS_SPACE_##name:                                                                         \
        return text;
        CTS_SPACE_MAP(X)
#undef X
    default:
        return "?";
    }
}

/* "k.cu:12:5" */
static void print_position(const struct cts_notes *notes, struct cts_note_position at)
{
    const char *path = at.source == CTS_NO_SOURCE ? "?" : notes->debug->sources[at.source].path;
    const char *last = strrchr(path, '/');
    fprintf(stderr, "%s:%u:%u", last ? last + 1 : path, at.line, at.column);
}

static void print_site(const struct cts_notes *notes, const struct cts_note_site *site)
{
    fprintf(stderr, "site %u ", notes->site_count);
    print_position(notes, site->at);
    fprintf(stderr, " %s %u %s", operation_text(site->operation), site->width_bytes,
            space_text(site->space));
    if (site->is_volatile) fputs(" volatile", stderr);
    fprintf(stderr, " depth=%u loop=%d function='%s' type='%s' variable='%s' inlined='%s'\n",
            site->loop_depth, (int)site->loop, site->function, site->type_name, site->variable,
            site->inlined_at);
}

uint32_t cts_notes_add_site(struct cts_notes *notes, const struct cts_note_site *site)
{
    struct row row = {.notes = notes};
    put_integer(&row, site->at.source);
    put_integer(&row, site->at.line);
    put_integer(&row, site->at.column);
    put_integer(&row, site->width_bytes);
    put_integer(&row, site->operation);
    put_integer(&row, site->space);
    put_integer(&row, site->is_volatile);
    put_integer(&row, site->loop_depth);
    put_integer(&row, site->loop);
    put_text(&row, site->function);
    put_text(&row, site->type_name);
    put_text(&row, site->variable);
    put_text(&row, site->inlined_at);
    finish_row(&row, "cts.sites");
    if (notes->is_printing) print_site(notes, site);
    return notes->site_count++;
}

uint32_t cts_notes_add_loop(struct cts_notes *notes, uint32_t parent)
{
    struct row row = {.notes = notes};
    put_integer(&row, parent);
    finish_row(&row, "cts.loops");
    if (notes->is_printing) fprintf(stderr, "loop %u parent=%d\n", notes->loop_count, (int)parent);
    return notes->loop_count++;
}

void cts_notes_add_variable(struct cts_notes *notes, const struct cts_note_variable *variable)
{
    struct row row = {.notes = notes};
    put_text(&row, variable->symbol);
    put_text(&row, variable->display_name);
    put_text(&row, variable->type_name);
    put_integer(&row, variable->kind);
    put_integer(&row, variable->at.source);
    put_integer(&row, variable->at.line);
    put_text(&row, variable->function);
    finish_row(&row, "cts.variables");
    if (!notes->is_printing) return;
    fprintf(stderr, "variable '%s' symbol='%s' type='%s' kind=%u function='%s' at ",
            variable->display_name, variable->symbol, variable->type_name, variable->kind,
            variable->function);
    print_position(notes, variable->at);
    fputc('\n', stderr);
}

void cts_notes_add_kernel(struct cts_notes *notes, const struct cts_note_kernel *kernel)
{
    struct row row = {.notes = notes};
    put_text(&row, kernel->symbol);
    put_text(&row, kernel->display_name);
    put_integer(&row, kernel->at.source);
    put_integer(&row, kernel->at.line);
    put_integer(&row, kernel->flags);
    finish_row(&row, "cts.kernels");
    if (!notes->is_printing) return;
    fprintf(stderr, "kernel '%s' symbol='%s' flags=%u at ", kernel->display_name, kernel->symbol,
            kernel->flags);
    print_position(notes, kernel->at);
    fputc('\n', stderr);
}

void cts_notes_add_padded_type(struct cts_notes *notes, const struct cts_note_padded_type *type)
{
    struct row row = {.notes = notes};
    put_text(&row, type->name);
    put_text(&row, type->padding);
    put_text(&row, type->alternatives);
    put_integer(&row, type->size_bytes);
    finish_row(&row, "cts.padded_types");
    if (notes->is_printing)
        fprintf(stderr, "type '%s' of %u bytes: padding='%s' alternatives='%s'\n", type->name,
                type->size_bytes, type->padding, type->alternatives);
}

void cts_notes_add_skipped(struct cts_notes *notes, const char *what, const char *reason,
                           struct cts_note_position at)
{
    struct row row = {.notes = notes};
    put_text(&row, what);
    put_text(&row, reason);
    put_integer(&row, at.source);
    put_integer(&row, at.line);
    finish_row(&row, "cts.skipped");
    if (!notes->is_printing) return;
    fprintf(stderr, "skipped '%s': %s at ", what, reason);
    print_position(notes, at);
    fputc('\n', stderr);
}

/* The content of a regular file, at most SOURCE_TEXT_MAX_BYTES of it; NULL when it cannot be read
 * (a report then has no source text for it, which is no reason to fail a compilation). */
static char *read_text(const char *path, size_t *size_bytes)
{
    struct stat state;
    char *text = NULL;
    size_t used = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    if (fstat(file, &state) || !S_ISREG(state.st_mode)) goto out;
    size_t wanted =
        state.st_size > SOURCE_TEXT_MAX_BYTES ? SOURCE_TEXT_MAX_BYTES : (size_t)state.st_size;
    text = cts_plugin_allocate(wanted + 1, 1);
    while (used < wanted) {
        ssize_t got = read(file, text + used, wanted - used);
        if (got <= 0) break;
        used += (size_t)got;
    }
out:
    close(file);
    *size_bytes = used;
    return text;
}

void cts_notes_finish(struct cts_notes *notes, uint32_t file_flags)
{
    for (size_t i = 0; i < notes->debug->source_count; i++) {
        const struct cts_source_file *source = &notes->debug->sources[i];
        size_t size_bytes = 0;
        char *text = source->is_users ? read_text(source->path, &size_bytes) : NULL;
        struct row row = {.notes = notes};
        put_text(&row, source->path);
        put_bytes(&row, text ? text : "", size_bytes);
        finish_row(&row, "cts.sources");
        free(text);
    }
    struct row row = {.notes = notes};
    put_integer(&row, file_flags);
    finish_row(&row, "cts.options");
}
