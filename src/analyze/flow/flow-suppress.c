/* A file of suppressions:
 *
 *     # a comment
 *     [race]                      the kind of finding
 *     first = shift               the kernels, or the kinds of copies; `*` stands for any text
 *     second = blur
 *     variable = z
 *     reason = the host polls a flag before it requests blur
 *
 * Only the reason must be there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-known.h"
#include "common/array.h"
#include "common/read-file.h"

enum { LINE_MAX_BYTES = 4096, ENTRIES_MAX = 10000 };

struct reading {
    const char *path;
    struct cts_flow_suppressions *all;
    struct cts_error *error;
    unsigned line;
};

static enum cts_status fail(const struct reading *r, unsigned line, const char *what,
                            const char *text)
{
    return cts_fail(r->error, CTS_USAGE, "'%s', line %u: %s%s%.100s%s", r->path, line, what,
                    text ? " '" : "", text ? text : "", text ? "'" : "");
}

static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1])) text[--length] = 0;
    return text;
}

static struct cts_flow_suppression *entry_of(const struct reading *r)
{
    return r->all->count ? &r->all->items[r->all->count - 1] : NULL;
}

static enum cts_status end_entry(const struct reading *r)
{
    const struct cts_flow_suppression *const entry = entry_of(r);
    if (!entry || entry->reason) return CTS_OK;
    return fail(r, entry->line, "this entry has no line 'reason = ...'", NULL);
}

/* [KIND] */
static enum cts_status begin_entry(const struct reading *r, char *text)
{
    char *const end = strchr(text, ']');
    if (!end || end[1]) return fail(r, r->line, "a heading is [KIND], not", text);
    *end = 0;
    const char *const kind = trimmed(text + 1);
    const enum cts_status status = end_entry(r);
    if (status) return status;
    if (r->all->count == ENTRIES_MAX) return fail(r, r->line, "more than 10,000 entries", NULL);
    for (unsigned k = 0; k < CTS_FLOW_FINDING_KINDS; k++) {
        if (strcmp(kind, cts_flow_finding_text(k)) != 0) continue;
        if (CTS_ARRAY_RESERVE(r->all, r->all->count + 1, r->error)) return CTS_MEMORY;
        r->all->items[r->all->count++] = (struct cts_flow_suppression){.kind = k, .line = r->line};
        return CTS_OK;
    }
    return fail(r, r->line, "no finding of flow is called", kind);
}

static enum cts_status set_field(const struct reading *r, char *text)
{
    char *const equals = strchr(text, '=');
    struct cts_flow_suppression *const entry = entry_of(r);
    if (!equals) return fail(r, r->line, "expected [KIND] or NAME = TEXT, not", text);
    if (!entry) return fail(r, r->line, "this line comes before the first [KIND]", NULL);
    *equals = 0;
    const char *const name = trimmed(text), *const value = trimmed(equals + 1);
    const struct {
        const char *name;
        char **place;
    } fields[] = {{"first", &entry->first},
                  {"second", &entry->second},
                  {"variable", &entry->variable},
                  {"reason", &entry->reason}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(fields[i].name, name) != 0) continue;
        if (*fields[i].place) return fail(r, r->line, "this entry has two lines", name);
        if (!*value) return fail(r, r->line, "nothing follows the = of", name);
        *fields[i].place = strdup(value);
        return *fields[i].place ? CTS_OK : cts_fail(r->error, CTS_MEMORY, "no memory for a line");
    }
    return fail(r, r->line, "not one of first, second, variable, reason:", name);
}

static enum cts_status read_line(const struct reading *r, char *line, size_t length)
{
    if (strlen(line) != length) return fail(r, r->line, "the line has a zero byte", NULL);
    if (length && line[length - 1] != '\n' && length == LINE_MAX_BYTES - 1)
        return fail(r, r->line, "the line is longer than 4,094 bytes", NULL);
    char *const text = trimmed(line);
    if (!*text || *text == '#') return CTS_OK;
    return *text == '[' ? begin_entry(r, text) : set_field(r, text);
}

/* As fgets(), and how long the line is. */
static size_t next_line(FILE *file, char *line)
{
    size_t length = 0;
    for (int c; length < LINE_MAX_BYTES - 1 && (c = getc(file)) != EOF;) {
        line[length++] = (char)c;
        if (c == '\n') break;
    }
    line[length] = 0;
    return length;
}

enum cts_status cts_flow_suppressions_read(const char *path, struct cts_flow_suppressions *all,
                                           struct cts_error *error)
{
    char line[LINE_MAX_BYTES];
    struct reading r = {.path = path, .all = all, .error = error};
    *all = (struct cts_flow_suppressions){0};
    FILE *const file = cts_open_stream(path, "r");
    if (!file) return cts_fail_errno(error, errno, "cannot open '%s'", path);
    enum cts_status status = CTS_OK;
    for (size_t length; !status && (length = next_line(file, line));) {
        r.line++;
        status = read_line(&r, line, length);
    }
    if (!status && ferror(file)) status = cts_fail_errno(error, errno, "cannot read '%s'", path);
    if (!status) status = end_entry(&r);
    fclose(file);
    return status;
}

void cts_flow_suppressions_release(struct cts_flow_suppressions *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i].first);
        free(all->items[i].second);
        free(all->items[i].variable);
        free(all->items[i].reason);
    }
    free(all->items);
    *all = (struct cts_flow_suppressions){0};
}
