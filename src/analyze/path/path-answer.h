/* The answer: what is printed and exported, made of what reading counted and the questions said. */
#ifndef CTS_ANALYZE_PATH_ANSWER_H
#define CTS_ANALYZE_PATH_ANSWER_H

#include "analyze/path/path-totals.h"
#include "analyze/path/profile.h"

/* Rows, patterns, counts and times of all processes. Adds up profile and totals over the processes;
 * lists of the totals become the result's. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_answer(const struct cts_path_system *system,
                                               struct cts_path_profile *profile,
                                               struct cts_path_totals *totals,
                                               struct cts_path *result, struct cts_error *error);
/* The waits of this process's ranks, for those who draw them, if the options say so. */
CTS_MUST_CHECK enum cts_status cts_path_keep_waits(const struct cts_path_graph *graph,
                                                   struct cts_path_kept *kept,
                                                   struct cts_error *error);

#endif
