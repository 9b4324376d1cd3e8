/* Tables whose rows have a number: those of the catalogue, and the sheets of the analyses, which
 * are made when a query first reads one of them. */
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "report/access-report.h"
#include "report/flow-report.h"
#include "report/query-tables.h"
#include "trace/access.h"
#include "trace/catalogue-tables.h"

/* ---- the catalogue ---- */

struct row_cursor {
    size_t next; /* row + 1 of the row at hand */
};

static bool is_word(const struct cts_table_column *column)
{
    return column->type == CTS_COLUMN_TEXT || column->unit == CTS_UNIT_OPERATION ||
           column->unit == CTS_UNIT_SPACE;
}

static void declare_catalogue(const struct cts_query_table *table,
                              const struct cts_query_state *state, FILE *file)
{
    const struct cts_table *const t = table->of;
    (void)state;
    for (unsigned i = 0; i < t->column_count; i++)
        cts_query_declare(file, t->columns[i].name, is_word(&t->columns[i]) ? "TEXT" : "INTEGER",
                          i == 0);
}

static enum cts_status begin_rows(struct cts_query_state *state,
                                  const struct cts_query_table *table, void *cursor,
                                  const int64_t *key, struct cts_error *error)
{
    (void)state;
    (void)table;
    (void)key;
    (void)error;
    *(struct row_cursor *)cursor = (struct row_cursor){0};
    return CTS_OK;
}

static void end_rows(void *cursor)
{
    (void)cursor;
}

static bool next_of_catalogue(struct cts_query_state *state, const struct cts_query_table *table,
                              void *cursor, enum cts_status *status, struct cts_error *error)
{
    const enum cts_table_id id =
        (enum cts_table_id)((const struct cts_table *)table->of - cts_tables);
    (void)status;
    (void)error;
    return ((struct row_cursor *)cursor)->next++ <
           cts_catalogue_row_count(state->run->catalogue, id);
}

static void column_of_catalogue(const struct cts_query_state *state,
                                const struct cts_query_table *table, void *cursor, int column,
                                sqlite3_context *context)
{
    const struct cts_table *const t = table->of;
    const struct cts_table_column *const c = &t->columns[column];
    const void *const row =
        cts_catalogue_row(state->run->catalogue, (enum cts_table_id)(t - cts_tables),
                          ((struct row_cursor *)cursor)->next - 1);
    if (cts_column_is_null(c, row)) {
        sqlite3_result_null(context);
    } else if (c->type == CTS_COLUMN_TEXT) {
        sqlite3_result_text(context, cts_column_text(c, row), -1, SQLITE_TRANSIENT);
    } else if (c->unit == CTS_UNIT_OPERATION) {
        const unsigned operation = (unsigned)cts_column_number(c, row);
        sqlite3_result_text(context, operation ? cts_operation_text(operation) : "", -1,
                            SQLITE_STATIC);
    } else if (c->unit == CTS_UNIT_SPACE) {
        sqlite3_result_text(context, cts_space_text((unsigned)cts_column_number(c, row)), -1,
                            SQLITE_STATIC);
    } else {
        sqlite3_result_int64(context, (int64_t)cts_column_number(c, row));
    }
}

const struct cts_query_table cts_query_catalogue = {
    .declare = declare_catalogue,
    .cursor_bytes = sizeof(struct row_cursor),
    .keyed_column = -1,
    .begin = begin_rows,
    .next = next_of_catalogue,
    .column = column_of_catalogue,
    .end = end_rows,
};

/* ---- table run ---- */

static void declare_keys(const struct cts_query_table *table, const struct cts_query_state *state,
                         FILE *file)
{
    (void)table;
    (void)state;
    cts_query_declare(file, "key", "TEXT", true);
    cts_query_declare(file, "value", "TEXT", false);
}

static bool next_key(struct cts_query_state *state, const struct cts_query_table *table,
                     void *cursor, enum cts_status *status, struct cts_error *error)
{
    (void)table;
    (void)status;
    (void)error;
    return ((struct row_cursor *)cursor)->next++ < cts_catalogue_key_count(state->run->catalogue);
}

static void column_of_key(const struct cts_query_state *state, const struct cts_query_table *table,
                          void *cursor, int column, sqlite3_context *context)
{
    const char *value;
    const char *const key =
        cts_catalogue_key(state->run->catalogue, ((struct row_cursor *)cursor)->next - 1, &value);
    (void)table;
    sqlite3_result_text(context, column ? value : key, -1, SQLITE_TRANSIENT);
}

const struct cts_query_table cts_query_keys = {
    .name = "run",
    .declare = declare_keys,
    .cursor_bytes = sizeof(struct row_cursor),
    .keyed_column = -1,
    .begin = begin_rows,
    .next = next_key,
    .column = column_of_key,
    .end = end_rows,
};

/* ---- sheets ---- */

enum sheet_of { OF_ACCESS, OF_FLOW };
struct sheet_table {
    enum sheet_of of;
    int which; /* enum cts_access_sheet or cts_flow_sheet */
};

struct sheet_cursor {
    struct cts_access_report access;
    struct cts_flow_report flow;
    struct cts_sheet sheet;
    struct cts_sheet_row *row;
    size_t next;
};

/* The sheet as it is now: without rows while the analysis is not made. */
static struct cts_sheet sheet_of(const struct cts_query_state *state,
                                 const struct sheet_table *which, struct sheet_cursor *cursor)
{
    cursor->access = (struct cts_access_report){
        .catalogue = state->run->catalogue, .result = &state->access, .lists_allocations = true};
    cursor->flow.flow = &state->flow;
    return which->of == OF_ACCESS
               ? cts_access_sheet(&cursor->access, (enum cts_access_sheet)which->which)
               : cts_flow_sheet(&cursor->flow, (enum cts_flow_sheet)which->which);
}

static const char *type_of(enum cts_cell_kind kind)
{
    switch (kind) {
    case CTS_CELL_TEXT:
    case CTS_CELL_KERNEL:
        return "TEXT";
    case CTS_CELL_FRACTION:
    case CTS_CELL_REAL:
    case CTS_CELL_RATING:
        return "REAL";
    default:
        return "INTEGER";
    }
}

static void declare_sheet(const struct cts_query_table *table, const struct cts_query_state *state,
                          FILE *file)
{
    static const struct cts_query_state nothing;
    static const struct cts_query_run no_run;
    static const struct cts_catalogue no_catalogue;
    struct cts_query_state empty = nothing;
    struct cts_query_run run = no_run;
    struct sheet_cursor cursor = {.next = 0};
    (void)state;
    run.catalogue = empty.flow.catalogue = &no_catalogue;
    empty.run = &run;
    const struct cts_sheet sheet = sheet_of(&empty, table->of, &cursor);
    for (size_t i = 0; i < sheet.column_count; i++)
        if (!sheet.columns[i].table_only)
            cts_query_declare(file, sheet.columns[i].key, type_of(sheet.columns[i].kind), i == 0);
}

static enum cts_status analyze(struct cts_query_state *state, enum sheet_of of,
                               struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = state->run->catalogue;
    enum cts_status status = CTS_OK;
    if (of == OF_ACCESS && !state->has_access) {
        const struct cts_access_options options = {.threads = state->run->threads};
        status = cts_access_analyze(catalogue, &state->source, &options, &state->access, error);
        state->has_access = !status;
    }
    if (of == OF_FLOW && !state->has_flow) {
        const struct cts_flow_options options = {.threads = state->run->threads,
                                                 .least_bytes = CTS_FLOW_LEAST_BYTES};
        status = cts_flow_analyze(catalogue, &state->source, &options, &state->flow, error);
        state->has_flow = !status;
    }
    return status;
}

static enum cts_status begin_sheet(struct cts_query_state *state,
                                   const struct cts_query_table *table, void *own,
                                   const int64_t *key, struct cts_error *error)
{
    static const uint32_t all[2] = {CTS_NONE, CTS_NONE};
    struct sheet_cursor *const cursor = own;
    const struct sheet_table *const which = table->of;
    (void)key;
    enum cts_status status = analyze(state, which->of, error);
    if (!status && which->of == OF_FLOW)
        status = cts_flow_choose(&state->flow, all, &cursor->flow, error);
    if (status) return status;
    cursor->row = cts_array_zeroed(1, sizeof *cursor->row, error);
    if (!cursor->row) return CTS_MEMORY;
    cursor->sheet = sheet_of(state, which, cursor);
    return CTS_OK;
}

static bool next_of_sheet(struct cts_query_state *state, const struct cts_query_table *table,
                          void *own, enum cts_status *status, struct cts_error *error)
{
    struct sheet_cursor *const cursor = own;
    (void)state;
    (void)table;
    (void)status;
    (void)error;
    if (cursor->next >= cursor->sheet.row_count) return false;
    cursor->row->text_bytes = 0;
    cursor->sheet.row(cursor->sheet.state, cursor->next++, cursor->row);
    return true;
}

/* The index of a column that CSV has, in all columns. */
static size_t column_at(const struct cts_sheet *sheet, int column)
{
    size_t i = 0;
    for (;; i++)
        if (!sheet->columns[i].table_only && !column--) return i;
}

static void column_of_sheet(const struct cts_query_state *state,
                            const struct cts_query_table *table, void *own, int column,
                            sqlite3_context *context)
{
    const struct sheet_cursor *const cursor = own;
    const size_t i = column_at(&cursor->sheet, column);
    const enum cts_cell_kind kind = cursor->sheet.columns[i].kind;
    const union cts_cell *const cell = &cursor->row->cells[i];
    const char *const type = type_of(kind);
    (void)state;
    (void)table;
    if (cts_sheet_is_unknown(&cursor->sheet, i))
        sqlite3_result_null(context);
    else if (*type == 'T')
        sqlite3_result_text(context, cell->text, -1, SQLITE_TRANSIENT); /* NULL: SQL's */
    else if (*type == 'R')
        sqlite3_result_double(context, cell->real); /* NaN: SQL's NULL */
    else if (kind == CTS_CELL_ID && cell->number == UINT64_MAX)
        sqlite3_result_null(context);
    else
        sqlite3_result_int64(context, (int64_t)cell->number);
}

static void end_sheet(void *own)
{
    struct sheet_cursor *const cursor = own;
    free((void *)cursor->flow.edges);
    free((void *)cursor->flow.works);
    free(cursor->row);
}

#define SHEET(name_, of_, which_)                                                                  \
    {.name = name_,                                                                                \
     .of = &(const struct sheet_table){of_, which_},                                               \
     .declare = declare_sheet,                                                                     \
     .cursor_bytes = sizeof(struct sheet_cursor),                                                  \
     .keyed_column = -1,                                                                           \
     .begin = begin_sheet,                                                                         \
     .next = next_of_sheet,                                                                        \
     .column = column_of_sheet,                                                                    \
     .end = end_sheet}
const struct cts_query_table cts_query_sheets[] = {
    SHEET("findings", OF_ACCESS, CTS_ACCESS_SHEET_FINDING),
    SHEET("site_costs", OF_ACCESS, CTS_ACCESS_SHEET_SITE),
    SHEET("allocation_costs", OF_ACCESS, CTS_ACCESS_SHEET_ALLOCATION),
    SHEET("flow_findings", OF_FLOW, CTS_FLOW_SHEET_FINDING),
    SHEET("flow_edges", OF_FLOW, CTS_FLOW_SHEET_EDGE),
    SHEET("flow_launches", OF_FLOW, CTS_FLOW_SHEET_LAUNCH),
    SHEET("flow_allocations", OF_FLOW, CTS_FLOW_SHEET_ALLOCATION),
    {.name = NULL},
};
