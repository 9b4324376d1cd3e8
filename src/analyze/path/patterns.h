/* Sums of waits by pattern, over all stretches of a timeline. */
#ifndef CTS_ANALYZE_PATH_PATTERNS_H
#define CTS_ANALYZE_PATH_PATTERNS_H

#include "analyze/path/graph.h"

struct cts_path_sums {
    uint64_t counts[CTS_PATH_PATTERN_COUNT], times_ns[CTS_PATH_PATTERN_COUNT]; /* of own ranks */
    uint64_t host_ns, device_ns;
    uint64_t
        *calls_ns; /* [region_count]: of it, in calls of host threads, which the owner brings */
    uint64_t *repeats, *gaps_ns; /* [region_count]: polls that repeat others of their loop; waiting
                                    between them */
    struct cts_path_instance *worst[CTS_PATH_PATTERN_COUNT]; /* of all; room for `keep` each */
    size_t worst_count[CTS_PATH_PATTERN_COUNT];
    size_t keep;
};

/* Adds the waits of a graph. Collective over the processes. */
CTS_MUST_CHECK enum cts_status cts_path_sum_patterns(const struct cts_path_graph *graph,
                                                     struct cts_path_sums *all,
                                                     struct cts_error *error);
/* The sums of all processes; the lists of worst ones become the result's, in time from first_ns on.
 * Collective. */
void cts_path_give_patterns(const struct cts_path_system *system, struct cts_path_sums *sums,
                            uint64_t first_ns, struct cts_path *result);
void cts_path_sums_release(struct cts_path_sums *sums);

#endif
