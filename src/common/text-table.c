#include "common/text-table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/terminal.h"
#include "common/utf8.h"

enum { GAP_COLUMNS = 2 };

void cts_text_table_column(struct cts_text_table *table, const char *title, enum cts_align align)
{
    if (table->column_count == CTS_TEXT_TABLE_COLUMNS_MAX) abort(); /* our mistake */
    table->titles[table->column_count] = title;
    table->aligns[table->column_count] = align;
    table->column_count++;
}

/* Characters that a terminal would obey become '?'; returns the length then. */
static size_t make_plain(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        const size_t size = cts_utf8_length(at);
        if (size && cts_utf8_is_plain(at))
            for (size_t i = 0; i < size; i++) *to++ = at[i];
        else
            *to++ = '?';
        at += size ? size : 1;
    }
    *to = 0;
    return (size_t)(to - text);
}

void cts_text_table_cell(struct cts_text_table *table, const char *format, ...)
{
    if (table->failure.status) return;
    va_list args;
    va_start(args, format);
    char *text = NULL;
    const int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0) {
        cts_fail(&table->failure, CTS_MEMORY, "no memory for a table's cell");
        return;
    }
    const size_t plain_bytes = make_plain(text) + 1;
    if (!cts_buffer_append(&table->cells, text, plain_bytes, &table->failure)) table->cell_count++;
    free(text);
}

static void print_cell(FILE *file, const char *text, size_t width, enum cts_align align, bool last)
{
    const size_t columns = cts_utf8_columns(text);
    const int padding = columns < width ? (int)(width - columns) : 0;
    if (align == CTS_RIGHT)
        fprintf(file, "%*s%s", padding, "", text);
    else
        fprintf(file, "%s%*s", text, last ? 0 : padding, "");
    if (!last) fprintf(file, "%*s", GAP_COLUMNS, "");
}

enum cts_status cts_text_table_print(const struct cts_text_table *table, FILE *file,
                                     struct cts_error *error)
{
    if (table->failure.status)
        return cts_fail(error, table->failure.status, "%s", table->failure.text);
    const unsigned n = table->column_count;
    size_t widths[CTS_TEXT_TABLE_COLUMNS_MAX];
    for (unsigned i = 0; i < n; i++) widths[i] = cts_utf8_columns(table->titles[i]);
    const char *text = (const char *)table->cells.data;
    for (size_t i = 0; i < table->cell_count; i++, text += strlen(text) + 1) {
        const size_t columns = cts_utf8_columns(text);
        if (columns > widths[i % n]) widths[i % n] = columns;
    }
    fprintf(file, "%*s", (int)table->indent, "");
    if (table->title_start) cts_terminal_control(file, table->title_start);
    for (unsigned i = 0; i < n; i++)
        print_cell(file, table->titles[i], widths[i], table->aligns[i], i + 1 == n);
    if (table->title_end) cts_terminal_control(file, table->title_end);
    fputc('\n', file);
    text = (const char *)table->cells.data;
    for (size_t i = 0; i < table->cell_count; i++, text += strlen(text) + 1) {
        const bool last = i % n + 1 == n || i + 1 == table->cell_count;
        if (i % n == 0) fprintf(file, "%*s", (int)table->indent, "");
        print_cell(file, text, widths[i % n], table->aligns[i % n], last);
        if (last) fputc('\n', file);
    }
    return ferror(file) ? cts_fail(error, CTS_IO, "cannot write the table") : CTS_OK;
}

void cts_text_table_release(struct cts_text_table *table)
{
    cts_buffer_release(&table->cells);
    *table = (struct cts_text_table){0};
}

/* Three significant digits: 1.50, 12.3, 105. */
static struct cts_scaled three_digits(double value, const char *unit)
{
    struct cts_scaled scaled;
    const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(scaled.text, sizeof scaled.text, "%.*f %s", digits, value, unit);
    return scaled;
}

static struct cts_scaled scale(uint64_t value, double step, const char *const units[],
                               unsigned unit_count)
{
    double scaled_value = (double)value;
    unsigned unit = 0;
    /* 999.5 and more would print as 1000 */
    while (unit + 1 < unit_count && scaled_value >= (unit ? 999.5 : step)) {
        scaled_value /= step;
        unit++;
    }
    if (unit) return three_digits(scaled_value, units[unit]);
    struct cts_scaled scaled;
    snprintf(scaled.text, sizeof scaled.text, "%llu %s", (unsigned long long)value, units[0]);
    return scaled;
}

struct cts_scaled cts_bytes_text(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    return scale(bytes, 1024, units, sizeof units / sizeof *units);
}

struct cts_scaled cts_time_text(uint64_t time_ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return scale(time_ns, 1000, units, sizeof units / sizeof *units);
}

struct cts_scaled cts_count_text(uint64_t count)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    struct cts_scaled scaled;
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) scaled.text[at++] = ',';
        scaled.text[at++] = digits[i];
    }
    scaled.text[at] = 0;
    return scaled;
}

struct cts_counted cts_counted_text(uint64_t count, const char *one, const char *many)
{
    struct cts_counted counted;
    snprintf(counted.text, sizeof counted.text, "%s %.64s", cts_count_text(count).text,
             count == 1 ? one : many);
    return counted;
}

struct cts_scaled cts_percent_text(uint64_t part, uint64_t whole)
{
    struct cts_scaled scaled = {"-"};
    if (whole)
        snprintf(scaled.text, sizeof scaled.text, "%.1f%%", 100.0 * (double)part / (double)whole);
    return scaled;
}

void cts_print_plain(FILE *file, const char *text)
{
    while (*text) {
        const size_t size = cts_utf8_length(text);
        if (size && cts_utf8_is_plain(text))
            fwrite(text, 1, size, file);
        else
            fputc('?', file);
        text += size ? size : 1;
    }
}

void cts_csv_field(FILE *file, const char *text)
{
    if (!text) return;
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}
