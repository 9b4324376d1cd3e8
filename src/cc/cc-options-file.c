/* Options that stand elsewhere: in files (nvcc's -optf, @FILE) and in the environment. Words as a
 * shell parts them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cc/cc.h"

/* Splits a file's text into arguments as the shell would: blanks, quotes, backslashes. */
static void split_text(struct cc_pool *pool, char *text, struct cc_list *words)
{
    char *to = text, *start = NULL, quote = 0;
    for (char *at = text;; at++) {
        const bool ends = *at == '\0' || (!quote && strchr(" \t\r\n", *at));
        if (ends && start) {
            cc_list_add(words, cc_text(pool, "%.*s", (int)(to - start), start));
            start = NULL;
        }
        if (*at == '\0') break;
        if (ends) continue;
        if (!start) start = to = at;
        if (quote && *at == quote) {
            quote = 0;
        } else if (!quote && (*at == '"' || *at == '\'')) {
            quote = *at;
        } else {
            if (*at == '\\' && quote != '\'' && at[1]) at++;
            *to++ = *at;
        }
    }
}

static enum cts_status read_text(const char *path, char **text, struct cts_error *error)
{
    enum { OPTIONS_FILE_BYTES_MAX = 1 << 24 };
    FILE *const file = fopen(path, "r");
    *text = NULL;
    if (!file) return cts_fail(error, CTS_IO, "cannot read options file '%s'", path);
    char *const buffer = malloc(OPTIONS_FILE_BYTES_MAX);
    const size_t length = buffer ? fread(buffer, 1, OPTIONS_FILE_BYTES_MAX, file) : 0;
    fclose(file);
    if (!buffer || length == OPTIONS_FILE_BYTES_MAX) {
        free(buffer);
        return cts_fail(error, CTS_LIMIT, "options file '%s' is too large", path);
    }
    buffer[length] = '\0';
    *text = buffer;
    return CTS_OK;
}

void cc_split_words(struct cc_pool *pool, const char *text, struct cc_list *words)
{
    char *const copy = strdup(text);
    if (!copy) abort();
    split_text(pool, copy, words);
    free(copy);
}

enum cts_status cc_read_options_file(struct cc_pool *pool, const char *path, struct cc_list *words,
                                     struct cts_error *error)
{
    char *text;
    const enum cts_status status = read_text(path, &text, error);
    if (status) return status;
    split_text(pool, text, words);
    free(text);
    return CTS_OK;
}
