/* Restricts the analysis to the part of a run in which an activity runs. */
#ifndef CTS_ANALYZE_PATH_WITHIN_H
#define CTS_ANALYZE_PATH_WITHIN_H

#include "analyze/path/source.h"
#include "analyze/path/result.h"

/* Finds where `options->within` begins and ends: sets from_ns and to_ns of the options, of all
 * processes. CTS_USAGE: nothing has that name. */
CTS_MUST_CHECK enum cts_status cts_path_find_within(const struct cts_path_source *source,
                                                    struct cts_path_options *options,
                                                    struct cts_error *error);

#endif
