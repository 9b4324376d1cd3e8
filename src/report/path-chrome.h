/* A timeline and what the path analysis found in it as a Chrome trace (JSON array), which
 * ui.perfetto.dev, chrome://tracing and others show. docs/path.md says what it holds. */
#ifndef CTS_REPORT_PATH_CHROME_H
#define CTS_REPORT_PATH_CHROME_H

#include "analyze/path/path.h"

/* Writes `path`, compressed if that ends in .gz. `result` holds all segments and waits (the options
 * keep_...), so one process analysed it. `event_count`: JSON events written. */
CTS_MUST_CHECK enum cts_status cts_path_write_chrome(const struct cts_path_source *source,
                                                     const struct cts_path *result,
                                                     const char *path, uint64_t *event_count,
                                                     struct cts_error *error);

#endif
