/* A file lists the CTAs of a launch in the order in which they begin: a linear index (x + y * width
 * + z * width * height) on each line; '#' begins a comment. */
#include "cli/try-cta-file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

struct listed {
    uint32_t *items;
    size_t count, capacity;
};

/* One line; an empty one is none. */
static enum cts_status read_line(char *line, const char *path, unsigned number,
                                 struct listed *listed, struct cts_error *error)
{
    char *end;
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    if (!*line) return CTS_OK;
    errno = 0;
    const unsigned long value = strtoul(line, &end, 10);
    end += strspn(end, " \t");
    if (*line < '0' || *line > '9' || *end || errno || value >= CTS_TRIAL_NONE)
        return cts_fail(error, CTS_FORMAT, "'%.200s', line %u: '%.40s' is no index of a CTA", path,
                        number, line);
    if (CTS_ARRAY_RESERVE(listed, listed->count + 1, error)) return CTS_MEMORY;
    listed->items[listed->count++] = (uint32_t)value;
    return CTS_OK;
}

static enum cts_status read_list(const char *path, struct listed *listed, struct cts_error *error)
{
    char *line = NULL;
    size_t line_bytes = 0;
    unsigned number = 0;
    enum cts_status status = CTS_OK;
    FILE *const file = fopen(path, "r");
    if (!file) return cts_fail_errno(error, errno, "cannot read '%.200s'", path);
    while (!status && getline(&line, &line_bytes, file) >= 0)
        status = read_line(line, path, ++number, listed, error);
    if (!status && ferror(file)) status = cts_fail_errno(error, errno, "cannot read '%s'", path);
    if (!status && !listed->count)
        status = cts_fail(error, CTS_FORMAT, "'%.200s' lists no CTA", path);
    free(line);
    fclose(file);
    return status;
}

static bool read_word(const char *text, struct cts_try_cta_order *order)
{
    char *end;
    if (strcmp(text, "row") == 0) return true;
    order->kind = CTS_TRY_CTAS_COLUMN;
    if (strcmp(text, "column") == 0) return true;
    order->kind = CTS_TRY_CTAS_ZORDER;
    if (strcmp(text, "zorder") == 0) return true;
    order->kind = CTS_TRY_CTAS_GROUPED;
    if (strncmp(text, "grouped:", 8) != 0 || text[8] < '1' || text[8] > '9') return false;
    order->group_rows = (uint32_t)strtoul(text + 8, &end, 10);
    return !*end && order->group_rows;
}

int cts_try_read_cta_order(const struct cts_arguments *arguments, const char *value,
                           struct cts_try_wish *wish)
{
    char left[40];
    struct cts_error error;
    struct listed listed = {0};
    const char *const comma = strchr(value, ',');
    *wish = (struct cts_try_wish){.kind = CTS_TRY_CTA_ORDER};
    if (comma && (size_t)(comma - value) < sizeof left) {
        memcpy(left, value, (size_t)(comma - value));
        left[comma - value] = '\0';
        if (cts_try_read_name(left, &wish->op)) {
            wish->name_count = 1;
            value = comma + 1;
        }
    }
    wish->cta_order.name = value;
    if (read_word(value, &wish->cta_order)) return 0;
    if (strncmp(value, "grouped:", 8) == 0 || !*value)
        return cts_usage_error(arguments,
                               "--cta-order takes row, column, zorder, grouped:N or a "
                               "file, not '%s'",
                               value);
    wish->cta_order.kind = CTS_TRY_CTAS_LISTED;
    const enum cts_status status = read_list(value, &listed, &error);
    wish->cta_order.ctas = listed.items;
    wish->cta_order.cta_count = (uint32_t)listed.count;
    return status ? cts_report_error(arguments, &error) : 0;
}
