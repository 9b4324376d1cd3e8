/* Where the path analysis gets its events from: an archive, or a test's own lists. */
#ifndef CTS_ANALYZE_PATH_SOURCE_H
#define CTS_ANALYZE_PATH_SOURCE_H

#include "trace/timeline/timeline.h"

struct cts_path_source {
    const struct cts_timeline *timeline; /* definitions; event_count of a location may be 0 */
    const void *state;
    /* As cts_timeline_read(); called by several threads at once, for different locations. */
    enum cts_status (*read)(const void *state, uint32_t location, cts_timeline_visit visit,
                            void *visit_state, struct cts_error *error);
};

/* The events of an opened archive, which must outlive the source. */
struct cts_path_source cts_path_source_of(const struct cts_timeline *timeline);

#endif
