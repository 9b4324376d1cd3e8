/* The table comes out of a program's image: numbers are checked before they are used. Texts are
 * copied once, each with an end. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cursor.h"

#include "record/abi.h"
#include "trace/access.h"

struct reader {
    struct cts_cursor cursor;
    const char **texts;
    uint32_t text_count, source_count;
    bool is_damaged;
};

static enum cts_status damaged(struct cts_error *error, const char *what)
{
    return cts_fail(error, CTS_FORMAT, "the table of an instrumented module is damaged: %s", what);
}

static const char *next_text(struct reader *reader)
{
    const uint32_t index = cts_cursor_u32(&reader->cursor);
    if (index < reader->text_count) return reader->texts[index];
    reader->is_damaged = true;
    return "";
}

static const char *next_text_or_null(struct reader *reader)
{
    const char *const text = next_text(reader);
    return *text ? text : NULL;
}

static uint32_t next_source(struct reader *reader)
{
    const uint32_t source = cts_cursor_u32(&reader->cursor);
    if (source != UINT32_MAX && source >= reader->source_count) reader->is_damaged = true;
    return source;
}

static enum cts_status read_texts(struct reader *reader, struct cts_cuda_table *table,
                                  struct cts_error *error)
{
    const size_t left = cts_cursor_left(&reader->cursor);
    if (!reader->text_count || reader->text_count > left / 4) return damaged(error, "its texts");
    table->bytes = malloc(left); /* sizes make room for ends */
    reader->texts = malloc(reader->text_count * sizeof *reader->texts);
    if (!table->bytes || !reader->texts) return cts_fail(error, CTS_MEMORY, "no memory for texts");
    char *to = table->bytes;
    for (uint32_t i = 0; i < reader->text_count; i++) {
        const uint32_t size = cts_cursor_u32(&reader->cursor);
        const uint8_t *const from = cts_cursor_bytes(&reader->cursor, size);
        if (!from) return damaged(error, "its texts");
        memcpy(to, from, size);
        to[size] = 0;
        reader->texts[i] = to;
        to += size + 1;
    }
    return reader->texts[0][0] ? damaged(error, "its first text") : CTS_OK;
}

static void read_site(struct reader *reader, struct cts_cuda_site *site)
{
    site->source = next_source(reader);
    site->line = cts_cursor_u32(&reader->cursor);
    site->column = cts_cursor_u32(&reader->cursor);
    site->width_bytes = cts_cursor_u32(&reader->cursor);
    site->operation = cts_cursor_u8(&reader->cursor);
    site->space = cts_cursor_u8(&reader->cursor);
    site->is_volatile = cts_cursor_u8(&reader->cursor) != 0;
    site->loop_depth = cts_cursor_u8(&reader->cursor);
    site->function = next_text_or_null(reader);
    site->type = next_text_or_null(reader);
    site->variable = next_text_or_null(reader);
    site->inlined_at = next_text_or_null(reader);
    if (cts_operation_is_barrier(site->operation)) {
        reader->is_damaged |= site->space != CTS_SPACE_BARRIER || site->width_bytes;
        return;
    }
    if (site->operation < CTS_LOAD || site->operation > CTS_OPERATION_LAST ||
        site->space > CTS_SPACE_LAST || site->width_bytes == 0 || site->width_bytes > INT32_MAX)
        reader->is_damaged = true;
}

static void read_variable(struct reader *reader, struct cts_cuda_variable *variable)
{
    variable->symbol = next_text(reader);
    variable->name = next_text(reader);
    variable->type = next_text_or_null(reader);
    variable->kind = cts_cursor_u32(&reader->cursor);
    variable->source = next_source(reader);
    variable->line = cts_cursor_u32(&reader->cursor);
    variable->function = next_text_or_null(reader);
    variable->size_bytes = cts_cursor_u64(&reader->cursor);
    if (variable->kind > CTS_VARIABLE_SURFACE) reader->is_damaged = true;
}

static void read_rows(struct reader *reader, struct cts_cuda_table *table)
{
    for (uint32_t i = 0; i < table->source_count; i++) {
        table->sources[i].path = next_text(reader);
        table->sources[i].text = next_text_or_null(reader);
    }
    for (uint32_t i = 0; i < table->kernel_count; i++) {
        struct cts_cuda_kernel *const kernel = table->kernels + i;
        kernel->symbol = next_text(reader);
        kernel->name = next_text(reader);
        kernel->source = next_source(reader);
        kernel->line = cts_cursor_u32(&reader->cursor);
        kernel->flags = cts_cursor_u32(&reader->cursor);
    }
    for (uint32_t i = 0; i < table->site_count; i++) read_site(reader, table->sites + i);
    for (uint32_t i = 0; i < table->variable_count; i++)
        read_variable(reader, table->variables + i);
    for (uint32_t i = 0; i < table->skipped_count; i++) {
        struct cts_cuda_skipped *const skipped = table->skipped + i;
        skipped->what = next_text(reader);
        skipped->reason = next_text(reader);
        skipped->source = next_source(reader);
        skipped->line = cts_cursor_u32(&reader->cursor);
    }
    for (uint32_t i = 0; i < table->padded_type_count; i++) {
        struct cts_cuda_padded_type *const type = table->padded_types + i;
        type->name = next_text(reader);
        type->padding = next_text_or_null(reader);
        type->alternatives = next_text_or_null(reader);
        type->size_bytes = cts_cursor_u32(&reader->cursor);
    }
}

static enum cts_status make_room(struct reader *reader, struct cts_cuda_table *table,
                                 struct cts_error *error)
{
    const uint64_t words = (uint64_t)table->source_count * CTS_CUDA_SOURCE_WORDS +
                           (uint64_t)table->kernel_count * CTS_CUDA_KERNEL_WORDS +
                           (uint64_t)table->site_count * CTS_CUDA_SITE_WORDS +
                           (uint64_t)table->variable_count * CTS_CUDA_VARIABLE_WORDS +
                           (uint64_t)table->skipped_count * CTS_CUDA_SKIPPED_WORDS +
                           (uint64_t)table->padded_type_count * CTS_CUDA_PADDED_TYPE_WORDS;
    if (words * 4 != cts_cursor_left(&reader->cursor)) return damaged(error, "its rows");
    table->sources = cts_array_zeroed(table->source_count, sizeof *table->sources, error);
    table->kernels = cts_array_zeroed(table->kernel_count, sizeof *table->kernels, error);
    table->sites = cts_array_zeroed(table->site_count, sizeof *table->sites, error);
    table->variables = cts_array_zeroed(table->variable_count, sizeof *table->variables, error);
    table->skipped = cts_array_zeroed(table->skipped_count, sizeof *table->skipped, error);
    table->padded_types =
        cts_array_zeroed(table->padded_type_count, sizeof *table->padded_types, error);
    return table->sources && table->kernels && table->sites && table->variables && table->skipped &&
                   table->padded_types
               ? CTS_OK
               : CTS_MEMORY;
}

static enum cts_status read_all(struct reader *reader, struct cts_cuda_table *table,
                                struct cts_error *error)
{
    struct cts_cursor *const cursor = &reader->cursor;
    const size_t byte_count = cts_cursor_left(cursor);
    const uint8_t *const magic = cts_cursor_bytes(cursor, 8);
    if (!magic || memcmp(magic, CTS_CUDA_TABLE_MAGIC, 8) != 0)
        return damaged(error, "no 'ctsTABLE'");
    const uint32_t version = cts_cursor_u32(cursor), bytes = cts_cursor_u32(cursor);
    if (version != CTS_CUDA_TABLE_VERSION)
        return cts_fail(error, CTS_VERSION,
                        "an instrumented module has a table of version %u, not %d: compile it "
                        "with this ctascope",
                        version, CTS_CUDA_TABLE_VERSION);
    if (bytes < CTS_CUDA_TABLE_HEADER_BYTES || bytes > byte_count)
        return damaged(error, "its length");
    cursor->end -= byte_count - bytes;
    table->flags = cts_cursor_u32(cursor);
    reader->text_count = cts_cursor_u32(cursor);
    table->source_count = reader->source_count = cts_cursor_u32(cursor);
    table->kernel_count = cts_cursor_u32(cursor);
    table->site_count = cts_cursor_u32(cursor);
    table->variable_count = cts_cursor_u32(cursor);
    table->skipped_count = cts_cursor_u32(cursor);
    table->padded_type_count = cts_cursor_u32(cursor);
    const uint32_t unit = cts_cursor_u32(cursor), path = cts_cursor_u32(cursor);
    enum cts_status status = read_texts(reader, table, error);
    if (!status) status = make_room(reader, table, error);
    if (status) return status;
    if (unit >= reader->text_count || path >= reader->text_count) return damaged(error, "its name");
    table->unit = reader->texts[unit];
    table->path = reader->texts[path];
    read_rows(reader, table);
    return reader->is_damaged ? damaged(error, "a row names what is not there") : CTS_OK;
}

enum cts_status cts_cuda_table_read(const void *bytes, size_t byte_count,
                                    struct cts_cuda_table *table, struct cts_error *error)
{
    struct reader reader = {.cursor = cts_cursor_of(bytes, byte_count)};
    *table = (struct cts_cuda_table){0};
    const enum cts_status status = read_all(&reader, table, error);
    free(reader.texts);
    if (status) cts_cuda_table_release(table);
    return status;
}

void cts_cuda_table_release(struct cts_cuda_table *table)
{
    free(table->sources);
    free(table->kernels);
    free(table->sites);
    free(table->variables);
    free(table->skipped);
    free(table->padded_types);
    free(table->bytes);
    *table = (struct cts_cuda_table){0};
}
