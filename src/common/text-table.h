/* Aligned columns of text, and numbers scaled for people.
 *
 *     struct cts_text_table table = {0};
 *     cts_text_table_column(&table, "kernel", CTS_LEFT);
 *     cts_text_table_column(&table, "launches", CTS_RIGHT);
 *     cts_text_table_cell(&table, "%s", name);
 *     cts_text_table_cell(&table, "%u", count);
 *     status = cts_text_table_print(&table, stdout, error);
 *     cts_text_table_release(&table);
 *
 * A table that is wider than the terminal (cts_terminal_columns()) breaks each row, and its titles,
 * before the first column that does not fit; what follows stands on the next line, indented
 * further. Nothing is left out, and where no terminal is, no row is broken.
 *
 * Cells come row by row; the table copies them. A failure (memory) is kept and comes back from
 * print. Control characters in cells are printed as '?'. */
#ifndef CTS_COMMON_TEXT_TABLE_H
#define CTS_COMMON_TEXT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/buffer.h"
#include "common/error.h"

/* CTS_NAME: left; names of kernels or functions, printed short (short-names.h) and cut in the
 * middle where the table would be wider than the terminal, or without one than
 * CTS_TEXT_TABLE_WIDTH. */
enum cts_align { CTS_LEFT, CTS_RIGHT, CTS_NAME };
enum { CTS_TEXT_TABLE_WIDTH = 80 };
enum { CTS_TEXT_TABLE_COLUMNS_MAX = 32 };

struct cts_text_table {
    const char *titles[CTS_TEXT_TABLE_COLUMNS_MAX]; /* borrowed */
    enum cts_align aligns[CTS_TEXT_TABLE_COLUMNS_MAX];
    unsigned column_count;
    unsigned indent;         /* spaces in front of every line */
    size_t width;            /* print fills it in: columns that there are; 0: any number */
    bool full_names;         /* of CTS_NAME columns: as they are */
    const char *title_start; /* printed around the line of titles: colours; NULL: nothing */
    const char *title_end;
    struct cts_buffer cells; /* NUL-terminated texts, row by row */
    size_t cell_count;
    struct cts_error failure;
};

void cts_text_table_column(struct cts_text_table *table, const char *title, enum cts_align align);
void cts_text_table_cell(struct cts_text_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
CTS_MUST_CHECK enum cts_status cts_text_table_print(const struct cts_text_table *table, FILE *file,
                                                    struct cts_error *error);
void cts_text_table_release(struct cts_text_table *table);

/* Numbers for people; a value, so that cts_bytes_text(n).text can stand in a printf. */
struct cts_scaled {
    char text[32];
};
struct cts_scaled cts_bytes_text(uint64_t bytes);  /* "17 B", "1.50 KiB", "12.3 MiB" */
struct cts_scaled cts_time_text(uint64_t time_ns); /* "17 ns", "1.50 us", "12.3 ms", "105 s" */
struct cts_scaled cts_count_text(uint64_t count);  /* "1,234,567" */
struct cts_scaled cts_real_text(double value);     /* "0.0123", "12.35", "1,235,000" */
struct cts_scaled cts_percent_text(uint64_t part, uint64_t whole); /* "12.3%"; of 0: "-" */

/* "1 launch", "1,234 launches" */
struct cts_counted {
    char text[100];
};
struct cts_counted cts_counted_text(uint64_t count, const char *one, const char *many);

/* Prints text that came from a file on one line: what a terminal would obey is a '?' (utf8.h). */
void cts_print_plain(FILE *file, const char *text);

/* One field of a CSV line (RFC 4180); quoted when it has to be. NULL: empty. The caller writes
 * commas and "\n". */
void cts_csv_field(FILE *file, const char *text);

#endif
