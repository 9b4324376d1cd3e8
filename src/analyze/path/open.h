/* A graph that knows who is who, but no events. */
#ifndef CTS_ANALYZE_PATH_OPEN_H
#define CTS_ANALYZE_PATH_OPEN_H

#include "analyze/path/graph.h"

/* Regions, locations, who holds what; no events. */
CTS_MUST_CHECK enum cts_status cts_path_graph_open(const struct cts_path_source *source,
                                                   const struct cts_path_options *options,
                                                   struct cts_path_graph *graph,
                                                   struct cts_error *error);
/* Whether a location is the null stream: as the options say, else as the trace marks it. */
bool cts_path_is_null_stream(const struct cts_path_graph *graph, uint32_t location);

#endif
