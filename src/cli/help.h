/* Help, man page and completion, made from the table of verbs. */
#ifndef CTS_CLI_HELP_H
#define CTS_CLI_HELP_H

#include <stdio.h>

#include "cli/verb.h"

void cts_help_overview(FILE *file);
void cts_help_verb(FILE *file, const struct cts_verb *verb);
void cts_help_man(FILE *file);
void cts_help_bash(FILE *file);

#endif
