/* Names of activities on the command line: the listed name, a kernel without its parameters, or a
 * pattern with '*'. */
#ifndef CTS_ANALYZE_PATH_NAMES_H
#define CTS_ANALYZE_PATH_NAMES_H

#include "analyze/path/path-system.h"

bool cts_path_is_named(const char *wanted, const char *name);

/* Fails with CTS_USAGE: no activity is called `wanted`. The message suggests similar names among
 * the regions whose calls[region] is not 0. */
CTS_MUST_CHECK enum cts_status cts_path_unknown_name(const struct cts_path_system *system,
                                                     const uint64_t *calls, const char *wanted,
                                                     struct cts_error *error);

#endif
