/* The table of API names: its text and how names are found. A line is a meaning, a direction for
 * copies, and patterns. */
#include "analyze/path/api.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api-names.txt.h"
#include "common/array.h"

enum { NAME_MAX_BYTES = 256, LINE_WORDS_MAX = 64 };

static const char *const api_words[CTS_PATH_API_COUNT] = {
#define X(name, text) [CTS_PATH_API_##name] = text,
    CTS_PATH_API_MAP(X)
#undef X
};
static const char *const direction_words[CTS_PATH_DIRECTION_COUNT] = {"any", "h2d", "d2h", "d2d"};

const char *cts_path_api_builtin(void)
{
    return api_names_text;
}

static int word_in(const char *const *words, int count, const char *word, size_t length)
{
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], word, length)) return i;
    return -1;
}

/* Takes the name's pattern over, also when it fails. */
static enum cts_status add_name(struct cts_path_api_table *table, struct cts_path_api_name name,
                                struct cts_error *error)
{
    if (!name.pattern) return cts_fail(error, CTS_MEMORY, "no memory for a name");
    if (CTS_ARRAY_RESERVE(table, table->count + 1, error)) {
        free(name.pattern);
        return CTS_MEMORY;
    }
    table->items[table->count++] = name;
    return CTS_OK;
}

/* A line of the table, without its end. */
struct line {
    const char *bytes;
    size_t length;
    const char *text_name;
    size_t number; /* from 1 */
};

static enum cts_status read_line(struct cts_path_api_table *table, const struct line *line,
                                 struct cts_error *error)
{
    int api = -1, direction = CTS_PATH_ANY;
    unsigned words = 0, names = 0;
    for (size_t at = 0; at < line->length;) {
        while (at < line->length && isspace((unsigned char)line->bytes[at])) at++;
        if (at == line->length || line->bytes[at] == '#') break;
        const size_t start = at;
        while (at < line->length && !isspace((unsigned char)line->bytes[at])) at++;
        const char *const word = line->bytes + start;
        const size_t size = at - start;
        if (size > NAME_MAX_BYTES)
            return cts_fail(error, CTS_FORMAT, "'%s' line %zu: a word of %zu bytes is too long",
                            line->text_name, line->number, size);
        words++;
        if (words == 1) {
            api = word_in(api_words, CTS_PATH_API_COUNT, word, size);
            if (api < 0)
                return cts_fail(error, CTS_FORMAT, "'%s' line %zu: unknown meaning '%.*s'",
                                line->text_name, line->number, (int)size, word);
            continue;
        }
        const int found = word_in(direction_words, CTS_PATH_DIRECTION_COUNT, word, size);
        if (words == 2 && found >= 0) {
            direction = found;
            continue;
        }
        const struct cts_path_api_name name = {strndup(word, size), (enum cts_path_api)api,
                                               (enum cts_path_direction)direction};
        if (add_name(table, name, error)) return CTS_MEMORY;
        names++;
    }
    if (words && !names)
        return cts_fail(error, CTS_FORMAT, "'%s' line %zu: a meaning without names",
                        line->text_name, line->number);
    return CTS_OK;
}

enum cts_status cts_path_api_read(struct cts_path_api_table *table, const char *text,
                                  const char *text_name, struct cts_error *error)
{
    for (size_t number = 1; *text; number++) {
        const struct line line = {text, strcspn(text, "\n"), text_name, number};
        const enum cts_status status = read_line(table, &line, error);
        if (status) return status;
        text += line.length + (text[line.length] == '\n');
    }
    return CTS_OK;
}

/* Cuts "_v" digits, "_ptsz", "_ptds" off the end, as often as they are there. */
static void cut_suffixes(char *name)
{
    for (;;) {
        char *const bar = strrchr(name, '_');
        if (!bar || bar == name) return;
        const char *rest = bar + 1;
        bool suffix = !strcmp(rest, "ptsz") || !strcmp(rest, "ptds");
        if (*rest == 'v' && rest[1]) suffix |= rest[1 + strspn(rest + 1, "0123456789")] == 0;
        if (!suffix) return;
        *bar = 0;
    }
}

const struct cts_path_api_name *cts_path_api_find(const struct cts_path_api_table *table,
                                                  const char *name)
{
    char base[NAME_MAX_BYTES];
    if (!name || strlen(name) >= sizeof base) return NULL;
    memcpy(base, name, strlen(name) + 1);
    cut_suffixes(base);
    for (size_t i = 0; i < table->count; i++) {
        const char *const pattern = table->items[i].pattern;
        if (strchr(pattern, '*') ? !fnmatch(pattern, base, 0)
                                 : !strcmp(pattern, base) || !strcmp(pattern, name))
            return &table->items[i];
    }
    return NULL;
}

void cts_path_api_release(struct cts_path_api_table *table)
{
    for (size_t i = 0; i < table->count; i++) free(table->items[i].pattern);
    free(table->items);
    *table = (struct cts_path_api_table){0};
}
