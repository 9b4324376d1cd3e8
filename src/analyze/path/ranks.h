/* Where an activity is: on which ranks, and from where it is called where the path stays longest.
 */
#ifndef CTS_ANALYZE_PATH_RANKS_H
#define CTS_ANALYZE_PATH_RANKS_H

#include "analyze/path/graph.h"

/* Replaces those of stays[region_count] (begin from 0 of the clock) by graph->stays that are
 * longer. */
void cts_path_add_stays(const struct cts_path_graph *graph, struct cts_path_stay *stays);
/* Those of all processes. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_share_stays(const struct cts_path_graph *graph,
                                                    struct cts_path_stay *stays,
                                                    struct cts_error *error);
/* least, most and their ranks in graph->rows, of all ranks. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_spread_ranks(struct cts_path_graph *graph,
                                                     struct cts_error *error);

#endif
