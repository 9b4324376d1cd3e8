/* A long timeline in stretches: where it is cut, and a source that gives the events of one stretch
 * after the other, each location read once. */
#ifndef CTS_ANALYZE_PATH_STRETCHES_H
#define CTS_ANALYZE_PATH_STRETCHES_H

#include "analyze/path/graph.h"

struct cts_path_stretches;

/* Scans the timeline with `graph`, which is open: it gets all rows, counts, warnings of reading and
 * the times of the whole. Collective over the processes. */
CTS_MUST_CHECK enum cts_status cts_path_stretches_open(struct cts_path_graph *graph,
                                                       struct cts_path_stretches **stretches,
                                                       struct cts_error *error);
void cts_path_stretches_close(struct cts_path_stretches *stretches);

/* The next stretch and its events, valid until the next call; false: there is none. */
bool cts_path_stretches_next(struct cts_path_stretches *stretches, struct cts_path_stretch *stretch,
                             struct cts_path_source *source);

#endif
