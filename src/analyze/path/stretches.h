/* Cuts a long timeline into stretches and provides a source of events for one stretch after the
 * other. Each location is read once. */
#ifndef CTS_ANALYZE_PATH_STRETCHES_H
#define CTS_ANALYZE_PATH_STRETCHES_H

#include "analyze/path/graph.h"
#include "analyze/path/profile.h"

struct cts_path_stretches;

/* Scans the timeline: the profile gets all calls and times, counts, warnings of reading and the
 * first and last event of the whole. Collective over the processes. Its system and source must
 * outlive what is opened. */
CTS_MUST_CHECK enum cts_status cts_path_stretches_open(const struct cts_path_reading *reading,
                                                       struct cts_path_stretches **stretches,
                                                       struct cts_error *error);
void cts_path_stretches_close(struct cts_path_stretches *stretches);

/* The next stretch and its events, valid until the next call; false: there is none. */
bool cts_path_stretches_next(struct cts_path_stretches *stretches, struct cts_path_stretch *stretch,
                             struct cts_path_source *source);

#endif
