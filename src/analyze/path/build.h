/* Building the graph from events, in steps (steps.h). */
#ifndef CTS_ANALYZE_PATH_BUILD_H
#define CTS_ANALYZE_PATH_BUILD_H

#include "analyze/path/graph.h"
#include "analyze/path/profile.h"

/* Builds the graph of this process's ranks, with all waits and jumps; the profile, which is open,
 * gets what reading counts. `stretch`: only of that part, whose events the source gives; NULL: of
 * everything. The system must outlive the graph. */
CTS_MUST_CHECK enum cts_status cts_path_graph_build(const struct cts_path_reading *reading,
                                                    const struct cts_path_stretch *stretch,
                                                    struct cts_path_graph *graph,
                                                    struct cts_error *error);

#endif
