/* What `access` and `diff` share for continuous integration: SARIF's source root and exit codes. */
#ifndef CTS_CLI_SARIF_OPTIONS_H
#define CTS_CLI_SARIF_OPTIONS_H

#include <limits.h>

#include "cli/verb.h"

/* The directory of --source-root as an absolute path without a slash at its end ("" for "/"); 0, or
 * an exit code after a message. */
int cts_sarif_root(const struct cts_arguments *arguments, char root[PATH_MAX]);

/* CTS_EXIT_THRESHOLD with a line on stderr if there is a failure, else 0. */
int cts_fail_on_findings(const struct cts_arguments *arguments, const char *fail_on,
                         size_t failures);

#endif
