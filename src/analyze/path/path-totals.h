/* What the questions answer, added up over the stretches of a timeline: of this process's ranks
 * unless said otherwise. */
#ifndef CTS_ANALYZE_PATH_TOTALS_H
#define CTS_ANALYZE_PATH_TOTALS_H

#include "analyze/path/patterns.h"
#include "analyze/path/questions.h"
#include "analyze/path/stragglers.h"

struct cts_path_totals {
    uint64_t *path_ns;           /* [region_count] */
    struct cts_path_stay *stays; /* [region_count] */
    struct cts_path_blamed blamed;
    struct cts_path_sums sums;
    struct cts_path_starts starts;
    struct cts_path_blocked blocked;
    uint64_t jumps, crossings, stretch_count;
    struct cts_path_segments segments; /* of all processes */
    struct cts_path_devices devices;   /* of all processes */
    struct cts_path_rank_waits *ranks; /* [process_count] */
};

/* Collective; release it also after a failure. */
CTS_MUST_CHECK enum cts_status cts_path_totals_open(const struct cts_path_system *system,
                                                    struct cts_path_totals *totals,
                                                    struct cts_error *error);
void cts_path_totals_release(struct cts_path_totals *totals, const struct cts_path_system *system);
/* Adds path, blame, waits and devices of a graph that is built. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_add_graph(const struct cts_path_graph *graph,
                                                  struct cts_path_totals *totals,
                                                  struct cts_error *error);

#endif
