/* The steps of building a graph; build.c calls them in order. Each has a file of its own. */
#ifndef CTS_ANALYZE_PATH_STEPS_H
#define CTS_ANALYZE_PATH_STEPS_H

#include "analyze/path/graph.h"

/* Matches messages, collectives and barriers over all processes, into dependencies and pools. */
CTS_MUST_CHECK enum cts_status cts_path_match_messages(struct cts_path_graph *graph,
                                                       struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_path_match_groups(struct cts_path_graph *graph,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_path_match_locks(struct cts_path_graph *graph,
                                                    struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_path_match_threads(struct cts_path_graph *graph,
                                                      struct cts_error *error);
/* The part of it that rests on numbered releases. */
CTS_MUST_CHECK enum cts_status cts_path_match_releases(struct cts_path_graph *graph,
                                                       uint32_t process, struct cts_error *error);
/* Dependencies of host threads become waits. */
CTS_MUST_CHECK enum cts_status cts_path_host_waits(struct cts_path_graph *graph, uint32_t location,
                                                   struct cts_error *error);
/* Threads that waited for what is not recorded follow those that wait for them. */
CTS_MUST_CHECK enum cts_status cts_path_unrecorded_waits(struct cts_path_graph *graph,
                                                         struct cts_error *error);
/* Finds the dependencies of the devices of one process of the trace: launches, synchronisations,
 * streams. */
CTS_MUST_CHECK enum cts_status cts_path_device_waits(struct cts_path_graph *graph, uint32_t process,
                                                     struct cts_error *error);
/* Threads of a process that take turns, where nothing recorded says so. */
CTS_MUST_CHECK enum cts_status cts_path_infer_turns(struct cts_path_graph *graph, uint32_t process,
                                                    struct cts_error *error);
/* Threads of teams, whose beginnings and ends nothing records. */
CTS_MUST_CHECK enum cts_status cts_path_infer_teams(struct cts_path_graph *graph, uint32_t process,
                                                    struct cts_error *error);
/* Matches kernels of collectives over all processes, behind the device waits: their pools, what
 * they wait for, and where threads launch too late. */
CTS_MUST_CHECK enum cts_status cts_path_match_kernels(struct cts_path_graph *graph,
                                                      struct cts_error *error);
/* What threads do in host functions of streams, behind the device waits: they follow the stream,
 * and the stream waits for them. */
CTS_MUST_CHECK enum cts_status cts_path_stream_functions(struct cts_path_graph *graph,
                                                         uint32_t process, struct cts_error *error);
/* What overlaps on the tracks of a process; refuses recordings in which tracks of devices hold
 * several streams (collective). */
CTS_MUST_CHECK enum cts_status cts_path_watch_tracks(struct cts_path_graph *graph, uint32_t process,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_path_check_tracks(struct cts_path_graph *graph,
                                                     struct cts_error *error);
/* Adds waits of kernels for kernels of other streams where a device runs one kernel at a time, and
 * waits of first launches; sets location->turns of the streams. Collective. */
CTS_MUST_CHECK enum cts_status cts_path_full_devices(struct cts_path_graph *graph,
                                                     struct cts_error *error);
/* Orders waits, makes them disjoint, lists the jumps. */
CTS_MUST_CHECK enum cts_status cts_path_settle(struct cts_path_graph *graph, uint32_t location,
                                               struct cts_error *error);
/* Exchanges waits of hosts for hosts between all processes. */
CTS_MUST_CHECK enum cts_status cts_path_share_waits(struct cts_path_graph *graph,
                                                    struct cts_error *error);

#endif
