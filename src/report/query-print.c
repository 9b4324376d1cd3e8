/* JSON and CSV are written row by row. A table needs the widths of all rows: it is kept, and has a
 * limit. */
#include "report/query-print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/json.h"
#include "common/text-stream.h"
#include "common/text-table.h"

enum { HELD_BYTES = 4 << 20, CELL_LETTERS = 120 };

struct printer {
    struct cts_query_print *print;
    FILE *held; /* what is written goes here until it is long, then to the file */
    struct cts_text_stream stream;
    bool has_written;
    char **names;
    unsigned count;
    struct cts_text_table table;
    struct cts_json json;
};

/* Only a result that is long begins before the query has ended. */
static enum cts_status write_held(struct printer *printer, struct cts_error *error)
{
    size_t bytes = 0;
    char *const text = cts_text_stream_close(&printer->stream, &bytes);
    printer->held = NULL;
    if (!text) return cts_fail(error, CTS_MEMORY, "no memory for the result");
    fwrite(text, 1, bytes, printer->print->file);
    free(text);
    printer->has_written = true;
    printer->json.file = printer->print->file;
    return CTS_OK;
}

static FILE *file_of(const struct printer *printer)
{
    return printer->held ? printer->held : printer->print->file;
}

static enum cts_status columns(void *state, const char *const *names, unsigned count,
                               struct cts_error *error)
{
    struct printer *const printer = state;
    const enum cts_query_form form = printer->print->form;
    printer->names = cts_array_zeroed(count, sizeof *printer->names, error);
    if (!printer->names) return CTS_MEMORY;
    printer->count = count;
    for (unsigned i = 0; i < count; i++)
        if (!(printer->names[i] = strdup(names[i])))
            return cts_fail(error, CTS_MEMORY, "no memory for the result");
    if (form == CTS_QUERY_AS_TABLE && count > CTS_TEXT_TABLE_COLUMNS_MAX)
        return cts_fail(error, CTS_USAGE,
                        "a table has at most %d columns, the result has %u: use --format csv",
                        CTS_TEXT_TABLE_COLUMNS_MAX, count);
    for (unsigned i = 0; i < count; i++) {
        if (form == CTS_QUERY_AS_CSV && i) fputc(',', file_of(printer));
        if (form == CTS_QUERY_AS_CSV) cts_csv_field(file_of(printer), names[i]);
    }
    if (form == CTS_QUERY_AS_CSV) fputc('\n', file_of(printer));
    if (form != CTS_QUERY_AS_JSON) return CTS_OK;
    cts_json_begin(&printer->json, file_of(printer));
    cts_json_open_object(&printer->json);
    cts_json_key(&printer->json, "rows");
    cts_json_open_array(&printer->json);
    return CTS_OK;
}

static void print_json(struct printer *printer, const struct cts_query_value *values)
{
    struct cts_json *const json = &printer->json;
    cts_json_open_array_row(json);
    for (unsigned i = 0; i < printer->count; i++) {
        if (values[i].kind == CTS_QUERY_NULL)
            cts_json_null(json);
        else if (values[i].kind == CTS_QUERY_INTEGER)
            cts_json_i64(json, values[i].integer);
        else if (values[i].kind == CTS_QUERY_REAL)
            cts_json_double(json, values[i].real);
        else
            cts_json_string(json, values[i].text);
    }
    cts_json_close_array(json);
}

static void print_csv(FILE *file, const struct cts_query_value *value)
{
    if (value->kind == CTS_QUERY_INTEGER)
        fprintf(file, "%" PRId64, value->integer);
    else if (value->kind == CTS_QUERY_REAL)
        fprintf(file, "%.17g", value->real);
    else if (value->kind == CTS_QUERY_TEXT)
        cts_csv_field(file, value->text ? value->text : "");
}

/* Aligned as the first row asks. */
static void add_columns(struct printer *printer, const struct cts_query_value *values)
{
    for (unsigned i = 0; i < printer->count; i++)
        cts_text_table_column(&printer->table, printer->names[i],
                              values[i].kind == CTS_QUERY_TEXT ? CTS_LEFT : CTS_RIGHT);
}

static void add_cell(struct cts_text_table *table, const struct cts_query_value *value)
{
    const char *const text = value->text ? value->text : "";
    const int shown = (int)strcspn(text, "\n");
    if (value->kind == CTS_QUERY_NULL)
        cts_text_table_cell(table, "-");
    else if (value->kind == CTS_QUERY_INTEGER)
        cts_text_table_cell(table, "%" PRId64, value->integer);
    else if (value->kind == CTS_QUERY_REAL)
        cts_text_table_cell(table, "%.6g", value->real);
    else if (shown <= CELL_LETTERS && !text[shown])
        cts_text_table_cell(table, "%s", text);
    else
        cts_text_table_cell(table, "%.*s... (%zu bytes)", shown < 40 ? shown : 40, text,
                            strlen(text));
}

static enum cts_status row(void *state, const struct cts_query_value *values, bool *is_enough,
                           struct cts_error *error)
{
    struct printer *const printer = state;
    struct cts_query_print *const print = printer->print;
    if (print->limit && print->row_count == print->limit) {
        print->has_more = *is_enough = true;
        return CTS_OK;
    }
    if (!print->row_count++ && print->form == CTS_QUERY_AS_TABLE) add_columns(printer, values);
    if (print->form == CTS_QUERY_AS_JSON) print_json(printer, values);
    for (unsigned i = 0; i < printer->count; i++) {
        if (print->form == CTS_QUERY_AS_TABLE) add_cell(&printer->table, &values[i]);
        if (print->form == CTS_QUERY_AS_CSV && i) fputc(',', file_of(printer));
        if (print->form == CTS_QUERY_AS_CSV) print_csv(file_of(printer), &values[i]);
    }
    if (print->form == CTS_QUERY_AS_CSV) fputc('\n', file_of(printer));
    if (printer->table.failure.status) {
        *error = printer->table.failure;
        return error->status;
    }
    if (printer->held && cts_text_stream_bytes(&printer->stream) > HELD_BYTES)
        return write_held(printer, error);
    return CTS_OK;
}

static enum cts_status finish(struct printer *printer, struct cts_error *error)
{
    struct cts_query_print *const print = printer->print;
    enum cts_status status = CTS_OK;
    if (print->form == CTS_QUERY_AS_TABLE && print->row_count)
        status = cts_text_table_print(&printer->table, file_of(printer), error);
    if (print->form == CTS_QUERY_AS_TABLE && !status && !print->row_count)
        fputs("no rows\n", file_of(printer));
    if (print->form == CTS_QUERY_AS_TABLE && !status && print->has_more)
        fprintf(file_of(printer), "... and more; --limit 0 prints all\n");
    if (print->form == CTS_QUERY_AS_JSON) {
        cts_json_close_array(&printer->json);
        cts_json_key(&printer->json, "columns");
        cts_json_open_array_row(&printer->json);
        for (unsigned i = 0; i < printer->count; i++)
            cts_json_string(&printer->json, printer->names[i]);
        cts_json_close_array(&printer->json);
        cts_json_member_bool(&printer->json, "has_more", print->has_more);
        cts_json_close_object(&printer->json);
        fputc('\n', file_of(printer));
    }
    if (!status && printer->held) status = write_held(printer, error);
    errno = 0;
    if (!status && (fflush(print->file) || ferror(print->file)))
        status = cts_fail_errno(error, errno, "cannot write the result");
    return status;
}

enum cts_status cts_query_print(const struct cts_query_run *run, const char *sql,
                                struct cts_query_print *print, bool *has_written,
                                struct cts_error *error)
{
    static const struct cts_query_ops ops = {columns, row};
    struct printer printer = {.print = print};
    print->row_count = 0;
    print->has_more = false;
    printer.held = cts_text_stream_open(&printer.stream);
    if (!printer.held) return cts_fail(error, CTS_MEMORY, "no memory for the result");
    enum cts_status status = cts_sql_query(run, sql, &ops, &printer, error);
    if (!status) status = finish(&printer, error);
    if (printer.held) free(cts_text_stream_close(&printer.stream, NULL));
    for (unsigned i = 0; printer.names && i < printer.count; i++) free(printer.names[i]);
    free(printer.names);
    cts_text_table_release(&printer.table);
    *has_written = printer.has_written;
    return status;
}
