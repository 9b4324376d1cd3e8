/* Parsing of a verb's arguments by its table. */
#ifndef CTS_CLI_OPTIONS_H
#define CTS_CLI_OPTIONS_H

#include "cli/verb.h"

/* Fills `arguments` from the arguments behind the verb's name; `positional` has room for all of
 * them and is kept by the caller as long as it uses `arguments`. Returns CTS_EXIT_OK, or prints
 * what is wrong and returns CTS_EXIT_USAGE. */
int cts_parse_arguments(const struct cts_verb *verb, int argument_count, char **argument_list,
                        char **positional, struct cts_arguments *arguments);

size_t cts_option_count(const struct cts_verb *verb);
const struct cts_verb *cts_find_verb(const char *name);

/* The name nearest to what was typed, or NULL when none is near. Names come from next(state). */
const char *cts_nearest_verb(const char *typed);

#endif
