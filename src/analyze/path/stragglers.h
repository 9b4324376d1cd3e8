/* Which ranks others wait for, and what these ranks do longer than the others. */
#ifndef CTS_ANALYZE_PATH_STRAGGLERS_H
#define CTS_ANALYZE_PATH_STRAGGLERS_H

#include "analyze/path/graph.h"
#include "analyze/path/profile.h"

/* Of one process, from all waits of its locations for those of other processes, and theirs for it:
 * a wait counts for the one that came last. */
struct cts_path_rank_waits {
    uint64_t waited_ns;  /* its locations wait */
    uint64_t delayed_ns; /* others wait for it */
    uint64_t delayed_count;
};

/* Adds the waits of this process's ranks. ranks[process_count]. */
void cts_path_add_rank_waits(const struct cts_path_graph *graph, struct cts_path_rank_waits *ranks);
/* A row for each process, in order; the caller frees *rows. `ranks` become those of all processes.
 * Collective; profile->times are of all processes already. */
CTS_MUST_CHECK enum cts_status cts_path_list_ranks(const struct cts_path_system *system,
                                                   const struct cts_path_profile *profile,
                                                   struct cts_path_rank_waits *ranks,
                                                   struct cts_path_rank_row **rows,
                                                   struct cts_error *error);

#endif
