/* What the files of what-if share: factors, and a projection compared with the recording. */
#ifndef CTS_ANALYZE_PATH_WHATIF_PROJECT_H
#define CTS_ANALYZE_PATH_WHATIF_PROJECT_H

#include "analyze/path/profile.h"
#include "analyze/path/whatif-replay.h"

/* What was recorded: read, and built to a graph. */
struct cts_whatif_recording {
    struct cts_path_system system;
    struct cts_path_profile profile;
    struct cts_path_graph graph;
};

struct cts_whatif_factors {
    double *values;       /* [process * region_count] */
    const double **lists; /* [process] */
};
CTS_MUST_CHECK enum cts_status cts_whatif_open_factors(const struct cts_path_system *system,
                                                       struct cts_whatif_factors *factors,
                                                       struct cts_error *error);
void cts_whatif_close_factors(struct cts_whatif_factors *factors);
/* CTS_USAGE: nothing has that name. */
CTS_MUST_CHECK enum cts_status cts_whatif_apply_change(const struct cts_whatif_recording *recording,
                                                       const struct cts_whatif_change *change,
                                                       struct cts_whatif_factors *factors,
                                                       struct cts_error *error);

/* The time of each region on the critical path of a graph. */
CTS_MUST_CHECK enum cts_status cts_whatif_walk(const struct cts_path_graph *graph,
                                               uint64_t *path_ns, struct cts_error *error);
uint64_t cts_whatif_runtime_of(const struct cts_path_graph *graph, uint64_t last_ns);
/* Replays with the factors and fills runtime, ranks, path (compared with path_ns) and waits of the
 * result. */
CTS_MUST_CHECK enum cts_status
cts_whatif_project(const struct cts_whatif_plan *plan, const struct cts_whatif_factors *factors,
                   const uint64_t *path_ns, struct cts_whatif *result, struct cts_error *error);

#endif
