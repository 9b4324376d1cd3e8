/* What blame that lands on a location belongs to: what runs there at that time. */
#ifndef CTS_ANALYZE_PATH_BOOKING_H
#define CTS_ANALYZE_PATH_BOOKING_H

#include "analyze/path/sweep.h"

/* Adds pieces (by time; the last one ends) in ns * 2^32 to blame[region_count]. `by_node`, unless
 * NULL: [nodes + 1], likewise to the node at which what runs there began; last: before the first.
 */
void cts_path_book(const struct cts_path_graph *graph, const struct cts_path_location *at,
                   const struct cts_path_pieces *pieces, unsigned __int128 *blame,
                   unsigned __int128 *by_node);

#endif
