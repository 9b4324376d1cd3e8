/* Parsing of a verb's arguments by its table. */
#ifndef CTS_CLI_OPTIONS_H
#define CTS_CLI_OPTIONS_H

#include "cli/verb.h"

enum { CTS_OPTIONS_MAX = 32 };

/* Fills `arguments` from the arguments behind the verb's name; `values` has CTS_OPTIONS_MAX
 * elements and `positional` room for all arguments, both kept by the caller as long as it uses
 * `arguments`. Returns CTS_EXIT_OK, or prints what is wrong and returns CTS_EXIT_USAGE. *help: the
 * user asked for help; nothing else is checked then. */
int cts_parse_arguments(const struct cts_verb *verb, int argument_count, char **argument_list,
                        const char **values, char **positional, struct cts_arguments *arguments,
                        bool *help);

size_t cts_option_count(const struct cts_verb *verb);
const struct cts_verb *cts_find_verb(const char *name);

/* The name nearest to what was typed, or NULL when none is near. Names come from next(state). */
const char *cts_nearest_verb(const char *typed);

#endif
