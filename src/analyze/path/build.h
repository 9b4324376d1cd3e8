/* Building the graph from events, in steps (steps.h). */
#ifndef CTS_ANALYZE_PATH_BUILD_H
#define CTS_ANALYZE_PATH_BUILD_H

#include "analyze/path/graph.h"

/* Opens and builds the graph of this process's ranks, with all waits and jumps. `stretch`: only of
 * that part, whose events the source gives; NULL: of everything. */
CTS_MUST_CHECK enum cts_status cts_path_graph_build(const struct cts_path_source *source,
                                                    const struct cts_path_options *options,
                                                    const struct cts_path_stretch *stretch,
                                                    struct cts_path_graph *graph,
                                                    struct cts_error *error);
/* The first and the last event of all processes. */
CTS_MUST_CHECK enum cts_status cts_path_agree_on_times(struct cts_path_graph *graph,
                                                       struct cts_error *error);

#endif
