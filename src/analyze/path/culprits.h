/* The culprit of a single wait; blame.c computes blame for all waits together. */
#ifndef CTS_ANALYZE_PATH_CULPRITS_H
#define CTS_ANALYZE_PATH_CULPRITS_H

#include "analyze/path/graph.h"

/* Fills `blamed`, `blamed_region` and `blamed_ns` of each instance: the location and activity on
 * which most of that wait's blame lands. Collective over the processes, which have the same list.
 */
CTS_MUST_CHECK enum cts_status cts_path_find_culprits(const struct cts_path_graph *graph,
                                                      struct cts_path_instance *instances,
                                                      size_t count, struct cts_error *error);

#endif
