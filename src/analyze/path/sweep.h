/* How much blame for waiting lands on each location over time.
 *
 * At each instant, a waiting location gives away one unit of blame. The locations that it still
 * waits for share the unit equally. A location that is itself waiting passes its share on in the
 * same way, and so does a stream whose next kernel a thread has not launched yet (graph.h: passes),
 * although it gives nothing of its own. A unit is 2^32. The remainder of a division goes, one each,
 * to the first locations by order: sums stay exact, and the shares of an instant depend on that
 * instant alone. */
#ifndef CTS_ANALYZE_PATH_SWEEP_H
#define CTS_ANALYZE_PATH_SWEEP_H

#include "analyze/path/graph.h"

#define CTS_PATH_UNIT (1ull << 32)

/* From time_ns on, `density` of blame lands on the location. */
struct cts_path_piece {
    uint64_t time_ns;
    uint64_t density;
};
struct cts_path_pieces {
    struct cts_path_piece *items;
    size_t count, capacity;
};

struct cts_path_sweep {
    const struct cts_path_graph *graph;
    uint32_t first, end; /* orders of the locations that take part */
    bool all;            /* all waits, of hosts and of streams, together */
    bool hosts;          /* else: true: waits of hosts for hosts; false: all other waits */
    bool direct;         /* blame stays on the first location that gets it */
    const struct cts_path_pieces *inflow; /* by order - first: blame from elsewhere; NULL */
    struct cts_path_pieces *landed;       /* by order - first: filled, for own locations */
    uint64_t
        circles; /* filled: waits that wait for each other, as far as this process counts them */
};

CTS_MUST_CHECK enum cts_status cts_path_sweep(struct cts_path_sweep *sweep,
                                              struct cts_error *error);

#endif
