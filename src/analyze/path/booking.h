/* Assigns the blame that lands on a location to the region that runs there at that time. */
#ifndef CTS_ANALYZE_PATH_BOOKING_H
#define CTS_ANALYZE_PATH_BOOKING_H

#include "analyze/path/sweep.h"

/* Adds pieces (ordered by time; the last one has density 0) in ns * 2^32 to blame[region_count]. If
 * `by_node` [nodes + 1] is not NULL, also adds them to the node at which the running activity
 * began; the last element is for the time before the first node. */
void cts_path_book(const struct cts_path_graph *graph, const struct cts_path_location *at,
                   const struct cts_path_pieces *pieces, unsigned __int128 *blame,
                   unsigned __int128 *by_node);

#endif
