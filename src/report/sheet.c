#include "report/sheet.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/progress.h"
#include "common/terminal.h"
#include "common/text-table.h"
#include "common/wrapped-text.h"

static bool is_real(enum cts_cell_kind kind)
{
    return kind == CTS_CELL_FRACTION || kind == CTS_CELL_REAL || kind == CTS_CELL_RATING;
}

static bool is_text(enum cts_cell_kind kind)
{
    return kind == CTS_CELL_TEXT || kind == CTS_CELL_KERNEL;
}

static size_t nth(const struct cts_sheet_rows *rows, size_t i)
{
    return rows->rows ? rows->rows[i] : i;
}

/* ---- rows ---- */

char *cts_sheet_room(struct cts_sheet_row *row, size_t bytes)
{
    assert(bytes && bytes <= sizeof row->texts - row->text_bytes);
    char *const text = row->texts + row->text_bytes;
    row->text_bytes += bytes;
    *text = 0;
    return text;
}

const char *cts_sheet_text(struct cts_sheet_row *row, size_t bytes, const char *format, ...)
{
    char *const text = cts_sheet_room(row, bytes);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, bytes, format, arguments);
    va_end(arguments);
    return text;
}

static void fill_row(const struct cts_sheet *sheet, size_t row, struct cts_sheet_row *cells)
{
    cells->text_bytes = 0;
    sheet->row(sheet->state, row, cells);
}

static bool is_shown(const struct cts_sheet *sheet, const struct cts_column *column)
{
    if (!column->title || !sheet->shown) return column->title != NULL;
    const size_t length = strlen(column->key);
    for (const char *key = sheet->shown; key; key = strchr(key, ' ')) {
        key += *key == ' ';
        if (!strncmp(key, column->key, length) && strchr(" ", key[length])) return true;
    }
    return false;
}

/* ---- choosing rows ---- */

static enum cts_status find_column(const struct cts_sheet *sheet, const char *key, size_t *column,
                                   struct cts_error *error)
{
    char known[800] = "";
    size_t length = 0;
    for (*column = 0; *column < sheet->column_count; ++*column) {
        const char *const name = sheet->columns[*column].key;
        if (!strcmp(name, key)) return CTS_OK;
        if (sheet->columns[*column].title && length < sizeof known)
            length += (size_t)snprintf(known + length, sizeof known - length, " %s", name);
    }
    return cts_fail(error, CTS_USAGE,
                    "unknown column '%s' of '%s'; its columns include%s (--format csv prints all)",
                    key, sheet->name, known);
}

struct sort_item {
    size_t row;
    union cts_cell cell;
};

struct sorting {
    enum cts_cell_kind kind;
    bool ascending;
};

static int compare_cells(const union cts_cell *a, const union cts_cell *b, enum cts_cell_kind kind)
{
    if (is_text(kind)) return strcmp(a->text ? a->text : "", b->text ? b->text : "");
    if (is_real(kind)) {
        if (isnan(a->real) || isnan(b->real)) return isnan(b->real) - isnan(a->real);
        return (a->real < b->real) - (a->real > b->real);
    }
    return (a->number < b->number) - (a->number > b->number);
}

static int compare_items(const void *left, const void *right, void *state)
{
    const struct sort_item *const a = left, *const b = right;
    const struct sorting *const sorting = state;
    const int order = compare_cells(&a->cell, &b->cell, sorting->kind);
    if (order) return sorting->ascending ? -order : order;
    return (a->row > b->row) - (a->row < b->row);
}

static enum cts_status sort_rows(const struct cts_sheet *sheet, const char *key,
                                 struct cts_sheet_rows *rows, struct cts_error *error)
{
    size_t column;
    struct sorting sorting = {.ascending = key[0] == '-'};
    const enum cts_status status = find_column(sheet, key + sorting.ascending, &column, error);
    if (status) return status;
    sorting.kind = sheet->columns[column].kind;
    struct sort_item *const items = calloc(rows->count + 1, sizeof *items);
    if (!items) return cts_fail(error, CTS_MEMORY, "no memory to sort %zu rows", rows->count);
    for (size_t i = 0; i < rows->count; i++) {
        struct cts_sheet_row cells;
        fill_row(sheet, rows->rows[i], &cells);
        items[i] = (struct sort_item){rows->rows[i], cells.cells[column]};
        /* A row's texts live as long as `cells`. */
        if (is_text(sorting.kind) && items[i].cell.text)
            items[i].cell.text = strdup(items[i].cell.text);
    }
    qsort_r(items, rows->count, sizeof *items, compare_items, &sorting);
    for (size_t i = 0; i < rows->count; i++) {
        rows->rows[i] = items[i].row;
        if (is_text(sorting.kind)) free((char *)(uintptr_t)items[i].cell.text);
    }
    free(items);
    return CTS_OK;
}

static enum cts_status filter_rows(const struct cts_sheet *sheet,
                                   const struct cts_sheet_choice *choice,
                                   struct cts_sheet_rows *rows, struct cts_error *error)
{
    size_t column = 0, other = 0;
    enum cts_status status = find_column(sheet, choice->only_column, &column, error);
    if (!status) status = find_column(sheet, choice->or_column, &other, error);
    if (status) return status;
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        struct cts_sheet_row cells;
        fill_row(sheet, rows->rows[i], &cells);
        if (cells.cells[column].number == choice->only_value ||
            cells.cells[other].number == choice->only_value)
            rows->rows[count++] = rows->rows[i];
    }
    rows->count = count;
    return CTS_OK;
}

enum cts_status cts_sheet_choose(const struct cts_sheet *sheet,
                                 const struct cts_sheet_choice *choice, struct cts_sheet_rows *rows,
                                 struct cts_error *error)
{
    *rows = (struct cts_sheet_rows){.count = sheet->row_count};
    rows->rows = calloc(sheet->row_count + 1, sizeof *rows->rows);
    if (!rows->rows)
        return cts_fail(error, CTS_MEMORY, "no memory to list %zu rows", sheet->row_count);
    for (size_t i = 0; i < rows->count; i++) rows->rows[i] = i;
    enum cts_status status = CTS_OK;
    if (choice->only_column) status = filter_rows(sheet, choice, rows, error);
    if (!status && choice->sort) status = sort_rows(sheet, choice->sort, rows, error);
    rows->found = rows->count;
    if (choice->limit && rows->count > choice->limit) rows->count = choice->limit;
    if (status) free(rows->rows);
    return status;
}

struct cts_sheet_rows cts_sheet_all(const struct cts_sheet *sheet)
{
    return (struct cts_sheet_rows){.count = sheet->row_count, .found = sheet->row_count};
}

/* ---- a table ---- */

static struct cts_scaled real_text(enum cts_cell_kind kind, double value)
{
    struct cts_scaled text;
    if (kind != CTS_CELL_RATING) return cts_real_text(value);
    snprintf(text.text, sizeof text.text, "%.3f", value);
    return text;
}

static void add_cell(struct cts_text_table *table, enum cts_cell_kind kind,
                     const union cts_cell *cell)
{
    switch (kind) {
    case CTS_CELL_TEXT:
        cts_text_table_cell(table, "%s", cell->text ? cell->text : "-");
        return;
    case CTS_CELL_KERNEL:
        cts_text_table_cell(table, "%s", cell->text ? cell->text : "-");
        return;
    case CTS_CELL_ID:
        if (cell->number == UINT64_MAX)
            cts_text_table_cell(table, "-");
        else
            cts_text_table_cell(table, "%llu", (unsigned long long)cell->number);
        return;
    case CTS_CELL_COUNT_IF:
        if (!cell->number) {
            cts_text_table_cell(table, "-");
            return;
        }
        /* fall through */
    case CTS_CELL_COUNT:
        cts_text_table_cell(table, "%s", cts_count_text(cell->number).text);
        return;
    case CTS_CELL_BYTES:
        cts_text_table_cell(table, "%s", cts_bytes_text(cell->number).text);
        return;
    case CTS_CELL_TIME_IF:
        if (!cell->number) {
            cts_text_table_cell(table, "-");
            return;
        }
        /* fall through */
    case CTS_CELL_TIME:
        cts_text_table_cell(table, "%s", cts_time_text(cell->number).text);
        return;
    case CTS_CELL_FRACTION:
        if (isnan(cell->real))
            cts_text_table_cell(table, "-");
        else
            cts_text_table_cell(table, "%.1f%%", 100 * cell->real);
        return;
    case CTS_CELL_REAL:
    case CTS_CELL_RATING:
        if (isnan(cell->real))
            cts_text_table_cell(table, "-");
        else
            cts_text_table_cell(table, "%s", real_text(kind, cell->real).text);
        return;
    case CTS_CELL_FLAG:
        cts_text_table_cell(table, "%s", cell->number ? "yes" : "");
        return;
    }
}

static bool is_unknown(const struct cts_sheet *sheet, const struct cts_column *column)
{
    return sheet->unknown && !strncmp(column->key, sheet->unknown, strlen(sheet->unknown));
}

bool cts_sheet_is_unknown(const struct cts_sheet *sheet, size_t column)
{
    return is_unknown(sheet, &sheet->columns[column]);
}

enum cts_status cts_sheet_table(const struct cts_sheet *sheet, const struct cts_sheet_rows *rows,
                                FILE *file, struct cts_error *error)
{
    struct cts_text_table table = {.indent = 2, .full_names = sheet->full_names};
    if (cts_colours_wanted(file)) {
        table.title_start = "\033[1m";
        table.title_end = "\033[0m";
    }
    for (size_t i = 0; i < sheet->column_count; i++) {
        const struct cts_column *const column = &sheet->columns[i];
        if (is_shown(sheet, column))
            cts_text_table_column(&table, column->title,
                                  column->kind == CTS_CELL_KERNEL ? CTS_NAME
                                  : is_text(column->kind)         ? CTS_LEFT
                                                                  : CTS_RIGHT);
    }
    for (size_t i = 0; i < rows->count; i++) {
        struct cts_sheet_row cells;
        fill_row(sheet, nth(rows, i), &cells);
        for (size_t k = 0; k < sheet->column_count; k++)
            if (is_shown(sheet, &sheet->columns[k]) && is_unknown(sheet, &sheet->columns[k]))
                cts_text_table_cell(&table, "-");
            else if (is_shown(sheet, &sheet->columns[k]))
                add_cell(&table, sheet->columns[k].kind, &cells.cells[k]);
    }
    const enum cts_status status = cts_text_table_print(&table, file, error);
    cts_text_table_release(&table);
    return status;
}

/* ---- CSV ---- */

static void write_csv_cell(FILE *file, enum cts_cell_kind kind, const union cts_cell *cell)
{
    if (is_text(kind))
        cts_csv_field(file, cell->text);
    else if (kind == CTS_CELL_ID && cell->number == UINT64_MAX)
        return; /* none */
    else if (!is_real(kind))
        fprintf(file, "%llu", (unsigned long long)cell->number);
    else if (!isnan(cell->real))
        fprintf(file, "%.17g", cell->real);
}

enum cts_status cts_sheet_csv(const struct cts_sheet *sheet, const struct cts_sheet_rows *rows,
                              FILE *file, struct cts_error *error)
{
    const char *comma = "";
    for (size_t k = 0; k < sheet->column_count; k++) {
        if (sheet->columns[k].table_only) continue;
        fprintf(file, "%s%s", comma, sheet->columns[k].key);
        comma = ",";
    }
    fputc('\n', file);
    for (size_t i = 0; i < rows->count; i++) {
        struct cts_sheet_row cells;
        fill_row(sheet, nth(rows, i), &cells);
        comma = "";
        for (size_t k = 0; k < sheet->column_count; k++) {
            if (sheet->columns[k].table_only) continue;
            fputs(comma, file);
            if (!is_unknown(sheet, &sheet->columns[k]))
                write_csv_cell(file, sheet->columns[k].kind, &cells.cells[k]);
            comma = ",";
        }
        fputc('\n', file);
    }
    if (fflush(file) || ferror(file))
        return cts_fail_errno(error, cts_terminal_errno(file), "cannot write the result");
    return CTS_OK;
}

/* ---- JSON ---- */

static void write_json_cell(struct cts_json *json, const struct cts_sheet *sheet,
                            const struct cts_column *column, const union cts_cell *cell)
{
    if (is_unknown(sheet, column)) {
        cts_json_key(json, column->key);
        cts_json_null(json);
        return;
    }
    if (is_text(column->kind))
        cts_json_member_string(json, column->key, cell->text);
    else if (column->kind == CTS_CELL_FLAG)
        cts_json_member_bool(json, column->key, cell->number != 0);
    else if (is_real(column->kind))
        cts_json_member_double(json, column->key, cell->real);
    else if (column->kind == CTS_CELL_ID && cell->number == UINT64_MAX)
        cts_json_member_string(json, column->key, NULL);
    else
        cts_json_member_u64(json, column->key, cell->number);
}

void cts_sheet_json_row(const struct cts_sheet *sheet, size_t row, struct cts_json *json)
{
    struct cts_sheet_row cells;
    fill_row(sheet, row, &cells);
    for (size_t k = 0; k < sheet->column_count; k++)
        if (!sheet->columns[k].table_only)
            write_json_cell(json, sheet, &sheet->columns[k], &cells.cells[k]);
}

enum cts_status cts_sheet_print(const struct cts_sheet *sheet,
                                const struct cts_sheet_choice *choice, bool as_csv, FILE *file,
                                struct cts_error *error)
{
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(sheet, choice, &rows, error);
    if (status) return status;
    status = as_csv ? cts_sheet_csv(sheet, &rows, file, error)
                    : cts_sheet_table(sheet, &rows, file, error);
    if (!status && !as_csv && choice->limit_option && rows.count < rows.found)
        fprintf(file, "  %zu of %zu rows: %s 0 shows all\n", rows.count, rows.found,
                choice->limit_option);
    free(rows.rows);
    return status;
}

enum cts_status cts_sheet_print_json(const struct cts_sheet *sheet,
                                     const struct cts_sheet_choice *choice, const char *format,
                                     FILE *file, struct cts_error *error)
{
    struct cts_sheet_rows rows;
    const enum cts_status status = cts_sheet_choose(sheet, choice, &rows, error);
    if (status) return status;
    struct cts_json json;
    cts_json_begin(&json, file);
    cts_json_open_object(&json);
    cts_json_member_string(&json, "format", format);
    cts_json_member_u64(&json, "version", 1);
    cts_sheet_json(sheet, &rows, &json);
    cts_json_close_object(&json);
    free(rows.rows);
    return cts_json_end(&json, error);
}

enum cts_status cts_sheet_part(const struct cts_sheet *sheet, const char *heading,
                               const struct cts_sheet_choice *choice, FILE *file,
                               struct cts_error *error)
{
    struct cts_sheet_rows rows;
    enum cts_status status = cts_sheet_choose(sheet, choice, &rows, error);
    if (status) return status;
    fputc('\n', file);
    cts_print_paragraph(file, 2, "%s", heading);
    status = cts_sheet_table(sheet, &rows, file, error);
    if (!status && rows.count < rows.found)
        fprintf(file, "  ... and %zu more\n", rows.found - rows.count);
    free(rows.rows);
    return status;
}

void cts_sheet_json(const struct cts_sheet *sheet, const struct cts_sheet_rows *rows,
                    struct cts_json *json)
{
    cts_json_key(json, sheet->name);
    cts_json_open_array(json);
    for (size_t i = 0; i < rows->count; i++) {
        cts_json_open_object_row(json);
        cts_sheet_json_row(sheet, nth(rows, i), json);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}
