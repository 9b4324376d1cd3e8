/* Finds the calls of a team's threads that form one barrier. */
#ifndef CTS_ANALYZE_PATH_TEAM_BARRIERS_H
#define CTS_ANALYZE_PATH_TEAM_BARRIERS_H

#include "analyze/path/raw.h"

/* A call with the role of a barrier that a thread makes in a team. */
struct cts_path_team_call {
    uint64_t fork; /* names the team: location of its fork << 32 | index there */
    uint32_t location, call;
    uint32_t region;
    uint32_t order; /* of its thread in the team */
};

/* A thread of a team. */
struct cts_path_team_thread {
    uint64_t fork;
    uint32_t location;
};

struct cts_path_teams {
    CTS_PATH_LIST(struct cts_path_team_call, calls);
    CTS_PATH_LIST(struct cts_path_team_thread, threads);
};

/* Adds the calls that form barriers to raw->members and counts the other calls as a warning.
 * `teams` has all teams of a process, in any order; the function sorts them. */
CTS_MUST_CHECK enum cts_status cts_path_pair_barriers(struct cts_path_graph *graph,
                                                      struct cts_path_teams *teams,
                                                      struct cts_error *error);
void cts_path_teams_release(struct cts_path_teams *teams);

#endif
