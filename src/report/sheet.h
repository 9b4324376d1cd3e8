/* A sheet: rows of named columns, rendered as a table for people, as CSV and as JSON. One sheet
 * serves all three, so that they cannot disagree. Rows are made when they are asked for. */
#ifndef CTS_REPORT_SHEET_H
#define CTS_REPORT_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"
#include "common/json.h"
#include "common/short-names.h"

enum cts_cell_kind {
    CTS_CELL_TEXT,
    CTS_CELL_KERNEL,   /* a text; a table has short names, unless the sheet has full_names */
    CTS_CELL_ID,       /* a number that is a name: never grouped or scaled; UINT64_MAX: none */
    CTS_CELL_COUNT,    /* "1,234" in a table */
    CTS_CELL_COUNT_IF, /* the same, "-" for 0: what is not counted where it says so */
    CTS_CELL_BYTES,    /* "1.50 KiB" in a table */
    CTS_CELL_TIME,     /* ns; "1.50 us" in a table */
    CTS_CELL_TIME_IF,  /* the same, "-" for 0 */
    CTS_CELL_FRACTION, /* "12.3%" in a table; NaN: nothing to divide by */
    CTS_CELL_REAL,     /* NaN: none, "-" in a table */
    CTS_CELL_RATING,   /* "0.123" in a table; NaN: none */
    CTS_CELL_FLAG,     /* a bool; "yes" or nothing in a table */
};

union cts_cell {
    const char *text; /* NULL: none */
    uint64_t number;
    double real;
};

struct cts_column {
    const char *key;   /* in CSV and JSON */
    const char *title; /* in a table; NULL: not shown there */
    enum cts_cell_kind kind;
    bool table_only; /* a short name for another column: in tables and for --sort */
};

enum { CTS_SHEET_COLUMNS_MAX = 96, CTS_SHEET_TEXT_BYTES = 4096 };

/* One row: a cell per column, and the texts that were made for it. */
struct cts_sheet_row {
    union cts_cell cells[CTS_SHEET_COLUMNS_MAX];
    char texts[CTS_SHEET_TEXT_BYTES];
    size_t text_bytes;
};

struct cts_sheet {
    const char *name; /* of the list in JSON */
    const struct cts_column *columns;
    size_t column_count, row_count;
    bool full_names;     /* in a table: kernels with namespaces, arguments and parameters */
    const char *unknown; /* NULL, or numbers whose keys begin so were not recorded: null in JSON,
                            nothing in CSV, - in a table */
    const char *shown; /* NULL, or a table has only these columns: their keys, one space between */
    /* Fills one cell per column; texts live as long as `cells`. */
    void (*row)(const void *state, size_t row, struct cts_sheet_row *cells);
    const void *state;
};

/* A sheet's columns and what stands in them are one list:
 *
 *     #define LAUNCH_COLUMNS(COLUMN)
 *         COLUMN(launch, "launch", ID, l->launch)
 *         COLUMN(name, "kernel", KERNEL, cts_catalogue_kernel_name(r->catalogue, l->kernel))
 *     CTS_SHEET_COLUMNS(launch_columns, LAUNCH_COLUMNS);
 *
 * COLUMN(key, title, KIND, value): KIND is of enum cts_cell_kind, with TABLE_ in front where CSV
 * and JSON do not have the column. `value` is evaluated in the sheet's row function, which sees to
 * the names in it and then fills the row with CTS_SHEET_FILL(cells, LAUNCH_COLUMNS). */
#define CTS_SHEET_COLUMNS(name, LIST)                                                              \
    static const struct cts_column name[] = {LIST(CTS_SHEET_COLUMN)};                              \
    _Static_assert(sizeof name / sizeof *name <= CTS_SHEET_COLUMNS_MAX, #LIST)
#define CTS_SHEET_FILL(row, LIST)                                                                  \
    do {                                                                                           \
        union cts_cell *cts_next_cell = (row)->cells;                                              \
        LIST(CTS_SHEET_CELL)                                                                       \
    } while (0)

/* COLUMN##_EACH(FIELDS, counts): a count, not shown in tables, for each member that FIELDS(X) lists
 * of the struct at `counts`. */
#define CTS_SHEET_COLUMN_EACH(FIELDS, counts) FIELDS(CTS_SHEET_FIELD_COLUMN)
#define CTS_SHEET_FIELD_COLUMN(field)         CTS_SHEET_COLUMN(field, NULL, COUNT, )
#define CTS_SHEET_CELL_EACH(FIELDS, counts)                                                        \
    {                                                                                              \
        const __typeof__(*(counts)) *const cts_each = (counts);                                    \
        FIELDS(CTS_SHEET_FIELD_CELL)                                                               \
    }
#define CTS_SHEET_FIELD_CELL(field) CTS_SHEET_CELL(field, NULL, COUNT, cts_each->field)

#define CTS_SHEET_COLUMN(key, title, KIND, value) {#key, title, CTS_SHEET_KIND_##KIND},
#define CTS_SHEET_KIND_TEXT                       CTS_CELL_TEXT, false
#define CTS_SHEET_KIND_TABLE_TEXT                 CTS_CELL_TEXT, true
#define CTS_SHEET_KIND_KERNEL                     CTS_CELL_KERNEL, false
#define CTS_SHEET_KIND_ID                         CTS_CELL_ID, false
#define CTS_SHEET_KIND_COUNT                      CTS_CELL_COUNT, false
#define CTS_SHEET_KIND_COUNT_IF                   CTS_CELL_COUNT_IF, false
#define CTS_SHEET_KIND_BYTES                      CTS_CELL_BYTES, false
#define CTS_SHEET_KIND_TABLE_BYTES                CTS_CELL_BYTES, true
#define CTS_SHEET_KIND_TIME                       CTS_CELL_TIME, false
#define CTS_SHEET_KIND_TIME_IF                    CTS_CELL_TIME_IF, false
#define CTS_SHEET_KIND_FRACTION                   CTS_CELL_FRACTION, false
#define CTS_SHEET_KIND_REAL                       CTS_CELL_REAL, false
#define CTS_SHEET_KIND_RATING                     CTS_CELL_RATING, false
#define CTS_SHEET_KIND_FLAG                       CTS_CELL_FLAG, false

#define CTS_SHEET_CELL(key, title, KIND, value)                                                    \
    (cts_next_cell++)->CTS_SHEET_MEMBER_##KIND = (value);
#define CTS_SHEET_MEMBER_TEXT        text
#define CTS_SHEET_MEMBER_TABLE_TEXT  text
#define CTS_SHEET_MEMBER_KERNEL      text
#define CTS_SHEET_MEMBER_ID          number
#define CTS_SHEET_MEMBER_COUNT       number
#define CTS_SHEET_MEMBER_COUNT_IF    number
#define CTS_SHEET_MEMBER_BYTES       number
#define CTS_SHEET_MEMBER_TABLE_BYTES number
#define CTS_SHEET_MEMBER_TIME        number
#define CTS_SHEET_MEMBER_TIME_IF     number
#define CTS_SHEET_MEMBER_FRACTION    real
#define CTS_SHEET_MEMBER_REAL        real
#define CTS_SHEET_MEMBER_RATING      real
#define CTS_SHEET_MEMBER_FLAG        number

/* Allocates `bytes` for a text of this row; the text is empty. */
char *cts_sheet_room(struct cts_sheet_row *row, size_t bytes);
/* A text of this row; longer ones are cut to bytes - 1. */
const char *cts_sheet_text(struct cts_sheet_row *row, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A sheet whose columns are those of an array. */
#define CTS_SHEET(name_, columns_, rows, fill, state_)                                             \
    (struct cts_sheet)                                                                             \
    {                                                                                              \
        .name = name_, .columns = columns_, .column_count = sizeof(columns_) / sizeof *(columns_), \
        .row_count = rows, .row = fill, .state = state_                                            \
    }

/* Whether the numbers of a column were not recorded. */
bool cts_sheet_is_unknown(const struct cts_sheet *sheet, size_t column);

/* Which rows, in which order. */
struct cts_sheet_rows {
    size_t *rows; /* NULL: all, in their order */
    size_t count;
    size_t found; /* before the limit */
};

struct cts_sheet_choice {
    const char *sort;        /* a column's key, "-" in front: ascending; NULL: as they are */
    const char *only_column; /* NULL, or rows whose number in this column is only_value, */
    const char *or_column;   /* or in this one */
    uint64_t only_value;
    size_t limit; /* 0: none */
    /* The verb's option for the limit: cts_sheet_print() then says below a table how many rows it
     * leaves out; NULL: it does not. */
    const char *limit_option;
};

/* Chooses rows; numbers sort largest first, texts alphabetically. CTS_USAGE names an unknown
 * column and lists those that there are. Free rows->rows. */
CTS_MUST_CHECK enum cts_status cts_sheet_choose(const struct cts_sheet *sheet,
                                                const struct cts_sheet_choice *choice,
                                                struct cts_sheet_rows *rows,
                                                struct cts_error *error);

/* Every row in its order; nothing to free. */
struct cts_sheet_rows cts_sheet_all(const struct cts_sheet *sheet);

CTS_MUST_CHECK enum cts_status cts_sheet_table(const struct cts_sheet *sheet,
                                               const struct cts_sheet_rows *rows, FILE *file,
                                               struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_sheet_csv(const struct cts_sheet *sheet,
                                             const struct cts_sheet_rows *rows, FILE *file,
                                             struct cts_error *error);
/* The rows that `choice` names, as CSV or as a table. */
CTS_MUST_CHECK enum cts_status cts_sheet_print(const struct cts_sheet *sheet,
                                               const struct cts_sheet_choice *choice, bool as_csv,
                                               FILE *file, struct cts_error *error);
/* The same as a JSON document that holds nothing else: {"format": format, "version": 1, "NAME":
 * [...]}.
 */
CTS_MUST_CHECK enum cts_status cts_sheet_print_json(const struct cts_sheet *sheet,
                                                    const struct cts_sheet_choice *choice,
                                                    const char *format, FILE *file,
                                                    struct cts_error *error);
/* In a screenful: an empty line, a heading, those rows as a table, and how many more there are. */
CTS_MUST_CHECK enum cts_status cts_sheet_part(const struct cts_sheet *sheet, const char *heading,
                                              const struct cts_sheet_choice *choice, FILE *file,
                                              struct cts_error *error);
/* As the member `sheet->name` of the open object: a list of one object per row. */
void cts_sheet_json(const struct cts_sheet *sheet, const struct cts_sheet_rows *rows,
                    struct cts_json *json);
/* The cells of one row as members of the open object. */
void cts_sheet_json_row(const struct cts_sheet *sheet, size_t row, struct cts_json *json);

#endif
