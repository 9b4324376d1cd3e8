/* Activities as people name them: as listed; a kernel also without its parameters; with '*' a
 * pattern. */
#ifndef CTS_ANALYZE_PATH_NAMES_H
#define CTS_ANALYZE_PATH_NAMES_H

#include "analyze/path/path-system.h"

bool cts_path_is_named(const char *wanted, const char *name);

/* CTS_USAGE: no activity is called `wanted`; names those near it of which calls[region] is not 0.
 */
CTS_MUST_CHECK enum cts_status cts_path_unknown_name(const struct cts_path_system *system,
                                                     const uint64_t *calls, const char *wanted,
                                                     struct cts_error *error);

#endif
