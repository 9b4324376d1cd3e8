/* Loops that poll: a thread asks again and again (cudaEventQuery, MPI_Test) until what it asks for
 * is done. How often it asks is chance, so a loop is one wait.
 *
 *     F gap F gap F gap S         F: not done yet, S: done
 *
 * What lies between two polls is the loop's own if nothing is recorded there and it is short; work
 * that is not recorded looks the same if it is long. A loop may also call functions of the program
 * between its polls; these are no waiting. */
#ifndef CTS_ANALYZE_PATH_POLLS_H
#define CTS_ANALYZE_PATH_POLLS_H

#include "analyze/path/graph.h"

/* At most as long is a gap that is certainly the loop's own. */
#define CTS_PATH_POLL_GAP_NS 100000

/* What follows a poll on its thread. */
struct cts_path_poll_gap {
    uint32_t next;  /* enter of the next poll; NONE: something else comes before */
    uint32_t calls; /* enter of the first function of the program that is called between; NONE */
};

/* Between the leave node of a poll and the next one only functions of the program may be called.
 * What the poll was called by may be left and entered again: it is neither. */
struct cts_path_poll_gap cts_path_behind_poll(const struct cts_path_graph *graph,
                                              const struct cts_path_location *at, uint32_t leave);
/* A function of the program, of which nothing more is known. */
bool cts_path_is_function(const struct cts_path_graph *graph, uint32_t region);
/* Waits of a loop become one: the gaps between its polls are part of it, and all but the first get
 * the mark CTS_PATH_CONTINUES. Before waits are made disjoint. */
CTS_MUST_CHECK enum cts_status cts_path_join_polls(const struct cts_path_graph *graph,
                                                   uint32_t location, struct cts_error *error);

#endif
