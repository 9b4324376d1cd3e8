#include "cli/list-options.h"

#include <stdio.h>
#include <string.h>

enum { THREADS_MAX = 256 };

enum cts_list_format cts_argument_format(const struct cts_arguments *arguments)
{
    static const char *const words[] = {[CTS_LIST_AS_TABLE] = "table",
                                        [CTS_LIST_AS_JSON] = "json",
                                        [CTS_LIST_AS_CSV] = "csv",
                                        [CTS_LIST_AS_DOT] = "dot",
                                        [CTS_LIST_AS_SARIF] = "sarif"};
    const char *const format = cts_argument(arguments, "format");
    for (size_t i = 0; format && i < sizeof words / sizeof *words; i++)
        if (!strcmp(format, words[i])) return (enum cts_list_format)i;
    return CTS_LIST_AS_TABLE;
}

bool cts_argument_u64_if_given(const struct cts_arguments *arguments, const char *name,
                               uint64_t *value)
{
    return !cts_argument_given(arguments, name) || cts_argument_u64(arguments, name, value);
}

bool cts_argument_threads(const struct cts_arguments *arguments, unsigned *threads)
{
    uint64_t number = 0;
    if (!cts_argument_u64_if_given(arguments, "threads", &number)) return false;
    *threads = (unsigned)(number < THREADS_MAX ? number : THREADS_MAX);
    return true;
}

bool cts_argument_rows(const struct cts_arguments *arguments, size_t table_rows,
                       struct cts_sheet_choice *choice)
{
    uint64_t limit = cts_argument_format(arguments) == CTS_LIST_AS_TABLE ? table_rows : 0;
    if (!cts_argument_u64_if_given(arguments, "limit", &limit)) return false;
    choice->limit = (size_t)limit;
    choice->limit_option = "--limit";
    choice->sort = cts_argument(arguments, "sort");
    return true;
}

bool cts_argument_next_word(const char **rest, char *word, size_t word_bytes)
{
    if (!*rest || !**rest) return false;
    const size_t length = strcspn(*rest, ",");
    snprintf(word, word_bytes, "%.*s", (int)length, *rest);
    *rest += length + ((*rest)[length] == ',');
    return true;
}
