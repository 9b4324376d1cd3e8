/* The ranks on which an activity runs, and the callers of its longest stay on the path. */
#ifndef CTS_ANALYZE_PATH_RANKS_H
#define CTS_ANALYZE_PATH_RANKS_H

#include "analyze/path/profile.h"
#include "analyze/path/questions.h"

/* Replaces those of stays[region_count] (begin from 0 of the clock) by those found that are longer.
 */
void cts_path_add_stays(const struct cts_path_graph *graph, const struct cts_path_found *found,
                        struct cts_path_stay *stays);
/* Those of all processes. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_share_stays(const struct cts_path_system *system,
                                                    struct cts_path_stay *stays,
                                                    struct cts_error *error);

/* Exclusive time of one rank, over all ranks; the lowest of several with the same. */
struct cts_path_spread {
    uint64_t least_ns, most_ns;
    uint32_t least_rank, most_rank;
};
/* spread[region_count], of all ranks. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_spread_ranks(const struct cts_path_system *system,
                                                     const struct cts_path_profile *profile,
                                                     struct cts_path_spread *spread,
                                                     struct cts_error *error);

#endif
