/* What is computed on a complete graph. Each question fills a struct of its own. */
#ifndef CTS_ANALYZE_PATH_QUESTIONS_H
#define CTS_ANALYZE_PATH_QUESTIONS_H

#include "analyze/path/graph.h"

/* The longest uninterrupted stay of the path in an activity; ns 0: the path never enters it. */
struct cts_path_found {
    uint64_t ns, begin_ns;
    uint32_t location, node; /* the node before it */
};

/* The result of the backward walk, for the ranks of this process. */
struct cts_path_walked {
    uint64_t *path_ns;                 /* [region_count]: added to */
    struct cts_path_found *stays;      /* [region_count]: added to; NULL: not wanted */
    struct cts_path_segments segments; /* with options->keep_segments */
    uint64_t jumps, crossings;
};
CTS_MUST_CHECK enum cts_status cts_path_walk(const struct cts_path_graph *graph,
                                             struct cts_path_walked *walked,
                                             struct cts_error *error);

/* The blame that each region gets, for the ranks of this process. */
struct cts_path_blamed {
    unsigned __int128 *blame;     /* [region_count] in ns * 2^32: added to */
    struct cts_path_blames *kept; /* [location_count]; NULL: not wanted */
    uint64_t circles;             /* added to: waits that wait for each other */
};
CTS_MUST_CHECK enum cts_status cts_path_blame(const struct cts_path_graph *graph,
                                              struct cts_path_blamed *blamed,
                                              struct cts_error *error);
/* Rounds kept blames to whole ns such that their sum equals all blame. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_round_blames(const struct cts_path_system *system,
                                                     struct cts_path_blames *kept,
                                                     struct cts_error *error);

/* Adds the busy and idle times of the devices of all processes (idle.c). Collective. */
CTS_MUST_CHECK enum cts_status cts_path_watch_devices(const struct cts_path_graph *graph,
                                                      struct cts_path_devices *devices,
                                                      struct cts_error *error);

#endif
