/* What the time of a run waits on: the critical path, wait states, and the blame for them.
 * Definitions are in docs/path.md. The result is freed by cts_path_release(); its names belong to
 * the timeline. */
#ifndef CTS_ANALYZE_PATH_PATH_H
#define CTS_ANALYZE_PATH_PATH_H

#include "analyze/path/result.h"
#include "analyze/path/source.h"
#include "common/error.h"

/* Whether something that was recorded could not be read: waits and blame may be too small. */
bool cts_path_is_lower_bound(const struct cts_path *result);

/* With several processes, all call it and all get the same result. */
CTS_MUST_CHECK enum cts_status cts_path_analyze(const struct cts_path_source *source,
                                                const struct cts_path_options *options,
                                                struct cts_path *result, struct cts_error *error);
void cts_path_release(struct cts_path *result);

#endif
