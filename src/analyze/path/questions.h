/* What is computed on a graph that is built. */
#ifndef CTS_ANALYZE_PATH_QUESTIONS_H
#define CTS_ANALYZE_PATH_QUESTIONS_H

#include "analyze/path/graph.h"

/* The backward walk. path_ns[region_count] is added to (times of this process's ranks only),
 * graph->stays, unless NULL, likewise. */
CTS_MUST_CHECK enum cts_status cts_path_walk(struct cts_path_graph *graph, uint64_t *path_ns,
                                             struct cts_path *result, struct cts_error *error);
/* Blame in ns * 2^32: added to blame[region_count], of this process's ranks. */
CTS_MUST_CHECK enum cts_status cts_path_blame(struct cts_path_graph *graph,
                                              unsigned __int128 *blame, struct cts_error *error);
/* The kept blames in whole ns, so that their sum is that of all blame. */
CTS_MUST_CHECK enum cts_status cts_path_round_blames(struct cts_path_graph *graph,
                                                     struct cts_error *error);
/* What devices do and do not do (idle.c): result->devices, of all processes. */
CTS_MUST_CHECK enum cts_status cts_path_devices(struct cts_path_graph *graph,
                                                struct cts_path *result, struct cts_error *error);

#endif
