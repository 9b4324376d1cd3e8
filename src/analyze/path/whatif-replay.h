/* One projection: the times of all nodes with altered durations. */
#ifndef CTS_ANALYZE_PATH_WHATIF_REPLAY_H
#define CTS_ANALYZE_PATH_WHATIF_REPLAY_H

#include "analyze/path/whatif-plan.h"

struct cts_whatif_replay {
    const struct cts_whatif_plan *plan;
    const double *const *factors; /* [process][region] */
    uint64_t *time_ns;            /* [place.base + node]: the result */
    uint64_t last_ns;             /* of all nodes */
    uint64_t broken;              /* circles */
};

/* Fills time_ns (room for plan->node_count), last_ns, broken. */
CTS_MUST_CHECK enum cts_status cts_whatif_replay(struct cts_whatif_replay *replay,
                                                 struct cts_error *error);

#endif
