#include "common/text-table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/short-names.h"
#include "common/terminal.h"
#include "common/utf8.h"
#include "common/wrapped-text.h"
#include "common/promise.h"

enum { GAP_COLUMNS = 2, CONTINUATION_COLUMNS = 4 };

void cts_text_table_column(struct cts_text_table *table, const char *title, enum cts_align align)
{
    assert(title && !table->cell_count);                            /* columns come before cells */
    if (table->column_count == CTS_TEXT_TABLE_COLUMNS_MAX) abort(); /* our mistake */
    table->titles[table->column_count] = title;
    table->aligns[table->column_count] = align;
    table->column_count++;
}

void cts_text_table_cell(struct cts_text_table *table, const char *format, ...)
{
    assert(table->column_count);
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
    const size_t plain_bytes = cts_utf8_make_plain(text) + 1;
    if (!cts_buffer_append(&table->cells, text, plain_bytes, &table->failure)) table->cell_count++;
    free(text);
}

static void find_widths(const struct cts_text_table *table, size_t *widths)
{
    const unsigned n = table->column_count;
    assert(n && table->cell_count % n == 0); /* whole rows */
    for (unsigned i = 0; i < n; i++) widths[i] = cts_utf8_columns(table->titles[i]);
    const char *text = (const char *)table->cells.data;
    for (size_t i = 0; i < table->cell_count; i++, text += strlen(text) + 1) {
        const size_t columns = cts_utf8_columns(text);
        if (columns > widths[i % n]) widths[i % n] = columns;
    }
}

/* ---- names ---- */

enum { NAME_MIN = 16, NAME_BROKEN = 30, NAME_LEAST_BYTES = 8, NAME_MAX_BYTES = 512 };

/* The different names of a table, sorted, and their short forms. */
struct names {
    const char **texts; /* in the table's cells */
    size_t count;
    struct cts_short_names names;
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum cts_status collect_names(const struct cts_text_table *table, struct names *all,
                                     struct cts_error *error)
{
    size_t found = 0;
    *all = (struct names){.texts = calloc(table->cell_count + 1, sizeof *all->texts)};
    if (!all->texts) return cts_fail(error, CTS_MEMORY, "no memory for a table's names");
    const char *text = (const char *)table->cells.data;
    for (size_t i = 0; i < table->cell_count; i++, text += strlen(text) + 1)
        if (table->aligns[i % table->column_count] == CTS_NAME) all->texts[found++] = text;
    qsort(all->texts, found, sizeof *all->texts, compare_texts);
    for (size_t i = 0; i < found; i++)
        if (!all->count || strcmp(all->texts[i], all->texts[all->count - 1]) != 0)
            all->texts[all->count++] = all->texts[i];
    return cts_short_names_make(all->texts, all->count, &all->names, error);
}

/* How many bytes each name may have: those of its column that leave the table narrow enough. */
static size_t room_for_names(const struct cts_text_table *table, const struct names *all)
{
    size_t widths[CTS_TEXT_TABLE_COLUMNS_MAX], others = table->indent, columns = 0;
    find_widths(table, widths);
    for (unsigned i = 0; i < table->column_count; i++) {
        others += i ? GAP_COLUMNS : 0;
        if (table->aligns[i] == CTS_NAME)
            columns++;
        else
            others += widths[i];
    }
    size_t longest = 0;
    for (size_t i = 0; i < all->count; i++) {
        const size_t length = strlen(all->names.short_form[i]);
        if (length > longest) longest = length;
    }
    const size_t width = table->width ? table->width : CTS_TEXT_TABLE_WIDTH;
    size_t room = others < width ? (width - others) / columns : 0;
    /* Where rows are broken anyway, names need not be that short. */
    if (room < NAME_MIN) room = table->width ? NAME_BROKEN : NAME_MIN;
    return room < longest ? room : longest;
}

/* The table with its names as they are printed; release `fitted`, also after a failure. */
static enum cts_status fit_names(const struct cts_text_table *table, struct cts_text_table *fitted,
                                 struct cts_error *error)
{
    struct names all;
    *fitted = *table;
    fitted->cells = (struct cts_buffer){.ceiling_bytes = table->cells.ceiling_bytes};
    fitted->cell_count = 0;
    enum cts_status status = collect_names(table, &all, error);
    const size_t room = status ? 0 : room_for_names(table, &all);
    char name[NAME_MAX_BYTES];
    size_t name_bytes = room + 1 < sizeof name ? room + 1 : sizeof name;
    if (name_bytes < NAME_LEAST_BYTES) name_bytes = NAME_LEAST_BYTES; /* all names are shorter */
    const char *text = (const char *)table->cells.data;
    for (size_t i = 0; i < table->cell_count && !status; i++, text += strlen(text) + 1) {
        const char *shown = text;
        if (table->aligns[i % table->column_count] == CTS_NAME) {
            const char **const at =
                bsearch(&text, all.texts, all.count, sizeof *all.texts, compare_texts);
            shown = cts_short_name_fitted(&all.names, (size_t)(at - all.texts), name, name_bytes);
        }
        status = cts_buffer_append(&fitted->cells, shown, strlen(shown) + 1, error);
        if (!status) fitted->cell_count++;
    }
    cts_short_names_release(&all.names);
    free(all.texts);
    return status;
}

static bool has_names(const struct cts_text_table *table)
{
    for (unsigned i = 0; i < table->column_count; i++)
        if (table->aligns[i] == CTS_NAME) return table->cell_count && !table->full_names;
    return false;
}

/* ---- the table ---- */

/* Where a row's columns stand: on its line, or, in a table that is too wide, on further lines. */
struct layout {
    size_t widths[CTS_TEXT_TABLE_COLUMNS_MAX];
    unsigned lines[CTS_TEXT_TABLE_COLUMNS_MAX]; /* ascending */
    unsigned line_count;
};

static size_t start_of(const struct cts_text_table *table, unsigned line)
{
    return table->indent + (line ? CONTINUATION_COLUMNS : 0);
}

static void lay_out(const struct cts_text_table *table, struct layout *layout)
{
    unsigned line = 0;
    find_widths(table, layout->widths);
    size_t at = start_of(table, 0);
    for (unsigned i = 0; i < table->column_count; i++) {
        bool is_first = !i || layout->lines[i - 1] < line;
        if (table->width && !is_first && at + GAP_COLUMNS + layout->widths[i] > table->width) {
            at = start_of(table, ++line);
            is_first = true;
        }
        at += (is_first ? 0 : GAP_COLUMNS) + layout->widths[i];
        layout->lines[i] = line;
    }
    layout->line_count = line + 1;
}

struct cell {
    const char *text;
    unsigned column;
};

/* A cell whose end is the end of its line may be wider than the table: then it is wrapped. */
static size_t print_cell(const struct cts_text_table *table, const struct layout *layout,
                         FILE *file, struct cell cell, size_t at)
{
    const size_t columns = cts_utf8_columns(cell.text), width = layout->widths[cell.column];
    const bool is_last = cell.column + 1 == table->column_count ||
                         layout->lines[cell.column + 1] > layout->lines[cell.column];
    const int padding = columns < width ? (int)(width - columns) : 0;
    if (table->aligns[cell.column] == CTS_RIGHT) {
        fprintf(file, "%*s%s", padding, "", cell.text);
    } else {
        cts_print_wrapped(file, cell.text, at, at, table->width);
        if (!is_last) fprintf(file, "%*s", padding, "");
    }
    if (!is_last) fprintf(file, "%*s", GAP_COLUMNS, "");
    return at + width + GAP_COLUMNS;
}

/* A row, of which `count` cells are there; lines of empty cells alone are left out. */
static void print_row(const struct cts_text_table *table, const struct layout *layout, FILE *file,
                      const char *const *cells, size_t count)
{
    const bool is_title = cells == table->titles;
    for (unsigned line = 0, from = 0; line < layout->line_count; line++) {
        unsigned to = from;
        bool is_empty = true;
        for (; to < count && layout->lines[to] == line; to++) is_empty &= !*cells[to];
        size_t at = start_of(table, line);
        if (line && is_empty) {
            from = to;
            continue;
        }
        fprintf(file, "%*s", (int)at, "");
        if (is_title && table->title_start) cts_terminal_control(file, table->title_start);
        for (; from < to; from++)
            at = print_cell(table, layout, file, (struct cell){cells[from], from}, at);
        if (is_title && table->title_end) cts_terminal_control(file, table->title_end);
        fputc('\n', file);
    }
}

static enum cts_status print_table(const struct cts_text_table *table, FILE *file,
                                   struct cts_error *error)
{
    const unsigned n = table->column_count;
    const char *cells[CTS_TEXT_TABLE_COLUMNS_MAX];
    struct layout layout;
    lay_out(table, &layout);
    print_row(table, &layout, file, table->titles, n);
    const char *text = (const char *)table->cells.data;
    for (size_t i = 0; i < table->cell_count; i++, text += strlen(text) + 1) {
        cells[i % n] = text;
        if (i % n + 1 == n || i + 1 == table->cell_count)
            print_row(table, &layout, file, cells, i % n + 1);
    }
    if (!ferror(file)) return CTS_OK;
    return cts_fail_errno(error, cts_terminal_errno(file), "cannot write the table");
}

enum cts_status cts_text_table_print(const struct cts_text_table *table, FILE *file,
                                     struct cts_error *error)
{
    if (table->failure.status)
        return cts_fail(error, table->failure.status, "%s", table->failure.text);
    struct cts_text_table sized = *table, fitted;
    sized.width = cts_terminal_columns(file);
    if (!has_names(table)) return print_table(&sized, file, error);
    enum cts_status status = fit_names(&sized, &fitted, error);
    if (!status) status = print_table(&fitted, file, error);
    cts_text_table_release(&fitted);
    return status;
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

/* Four significant digits; a large one without an exponent, which people misread. */
struct cts_scaled cts_real_text(double value)
{
    struct cts_scaled scaled;
    const double size = value < 0 ? -value : value;
    if (!(size >= 9999.5 && size < 1e18)) {
        snprintf(scaled.text, sizeof scaled.text, "%.4g", value);
        return scaled;
    }
    const struct cts_scaled whole = cts_count_text((uint64_t)(size + 0.5));
    snprintf(scaled.text, sizeof scaled.text, "%s%.30s", value < 0 ? "-" : "", whole.text);
    return scaled;
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
