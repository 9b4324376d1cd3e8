/* What is computed on a graph that is built. Each question fills a model of its own. */
#ifndef CTS_ANALYZE_PATH_QUESTIONS_H
#define CTS_ANALYZE_PATH_QUESTIONS_H

#include "analyze/path/graph.h"

/* The longest that the path stays in an activity; ns 0: never. */
struct cts_path_found {
    uint64_t ns, begin_ns;
    uint32_t location, node; /* the node before it */
};

/* The backward walk: of this process's ranks. */
struct cts_path_walked {
    uint64_t *path_ns;                 /* [region_count]: added to */
    struct cts_path_found *stays;      /* [region_count]: likewise; NULL: not asked */
    struct cts_path_segments segments; /* with options->keep_segments */
    uint64_t jumps, crossings;
};
CTS_MUST_CHECK enum cts_status cts_path_walk(const struct cts_path_graph *graph,
                                             struct cts_path_walked *walked,
                                             struct cts_error *error);

/* Who gets how much blame: of this process's ranks. */
struct cts_path_blamed {
    unsigned __int128 *blame;     /* [region_count] in ns * 2^32: added to */
    struct cts_path_blames *kept; /* [location_count]; NULL: not asked */
    uint64_t circles;             /* added to: waits that wait for each other */
};
CTS_MUST_CHECK enum cts_status cts_path_blame(const struct cts_path_graph *graph,
                                              struct cts_path_blamed *blamed,
                                              struct cts_error *error);
/* Kept blames in whole ns, so that their sum is that of all blame. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_round_blames(const struct cts_path_system *system,
                                                     struct cts_path_blames *kept,
                                                     struct cts_error *error);

/* What devices do and do not do (idle.c), of all processes: added to. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_watch_devices(const struct cts_path_graph *graph,
                                                      struct cts_path_devices *devices,
                                                      struct cts_error *error);

#endif
