/* Reading the options that verbs which print lists have alike (shared-options.h says what they
 * are). */
#ifndef CTS_CLI_LIST_OPTIONS_H
#define CTS_CLI_LIST_OPTIONS_H

#include "cli/verb.h"
#include "report/sheet.h"

enum cts_list_format {
    CTS_LIST_AS_TABLE,
    CTS_LIST_AS_JSON,
    CTS_LIST_AS_CSV,
    CTS_LIST_AS_DOT,
    CTS_LIST_AS_SARIF
};

/* --format: what was asked for, of the words that the verb's table allows; else a table. */
enum cts_list_format cts_argument_format(const struct cts_arguments *arguments);

/* A number that may be left out: *value then stays. False: it is none, which has been said. So with
 * the two below. */
bool cts_argument_u64_if_given(const struct cts_arguments *arguments, const char *name,
                               uint64_t *value);
/* --threads, at most 256; 0: one per processor. */
bool cts_argument_threads(const struct cts_arguments *arguments, unsigned *threads);
/* --limit (`table_rows` in a table, else all) and --sort. */
bool cts_argument_rows(const struct cts_arguments *arguments, size_t table_rows,
                       struct cts_sheet_choice *choice);

/* The next word of a list "A,B,C" at *rest, which moves on; false: there is none. A word that is
 * longer than `word` is cut. */
bool cts_argument_next_word(const char **rest, char *word, size_t word_bytes);

#endif
