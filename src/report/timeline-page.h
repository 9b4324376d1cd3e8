/* The timeline of the page: activities of each thread and stream, the critical path, and waits, as
 * lanes (report/lanes.h) that web/src/timeline.tsx draws. */
#ifndef CTS_REPORT_TIMELINE_PAGE_H
#define CTS_REPORT_TIMELINE_PAGE_H

#include "analyze/path/path.h"
#include "common/json.h"

/* What a region is, as the page colours it: "kernel", "copy", "api", "synchronise", "mpi",
 * "openmp", "other" or "host". */
const char *cts_region_class(const struct cts_timeline_region *region);

/* Writes the member "timeline" of the open object. `result` was analysed with keep_segments and
 * keep_waits. Reads every location of the source once more; memory: the activities of one location.
 */
CTS_MUST_CHECK enum cts_status cts_timeline_page_write(struct cts_json *json,
                                                       const struct cts_path_source *source,
                                                       const struct cts_path *result,
                                                       struct cts_error *error);

#endif
