/* What reading counts, whether or not it keeps the events: calls and times of regions, the first
 * and the last event, and warnings about the files. It covers the locations that were read. */
#ifndef CTS_ANALYZE_PATH_PROFILE_H
#define CTS_ANALYZE_PATH_PROFILE_H

#include "analyze/path/source.h"
#include "analyze/path/path-system.h"

/* Calls and times of one region. */
struct cts_path_time {
    uint64_t calls, inclusive_ns, exclusive_ns; /* inclusive: of the outermost call */
    bool on_device;
};

struct cts_path_profile {
    struct cts_path_time *times; /* [region_count], of this process */
    uint64_t *rank_ns;           /* [process][region]: exclusive time, of own processes */
    uint64_t warnings[CTS_PATH_WARNING_COUNT];
    uint64_t event_count, node_count;
    uint64_t first_ns, last_ns;        /* of all nodes; first above last: there is none */
    uint64_t mpi_begin_ns, mpi_end_ns; /* first enter of MPI_Init, last leave of MPI_Finalize */
};

/* The events to read, and the profile that gets their counts. */
struct cts_path_reading {
    const struct cts_path_system *system;
    const struct cts_path_source *source;
    struct cts_path_profile *profile;
};

/* Opens an empty profile. Release it after a failure, too. */
CTS_MUST_CHECK enum cts_status cts_path_profile_open(const struct cts_path_system *system,
                                                     struct cts_path_profile *profile,
                                                     struct cts_error *error);
void cts_path_profile_release(struct cts_path_profile *profile);
/* Sets first_ns and last_ns to the first and the last node of all processes. Collective. */
void cts_path_agree_on_times(const struct cts_path_system *system,
                             struct cts_path_profile *profile);
/* CTS_FORMAT: no process has a node. Call it after cts_path_agree_on_times(). */
CTS_MUST_CHECK enum cts_status cts_path_check_times(const struct cts_path_profile *profile,
                                                    struct cts_error *error);

#endif
