/* What reading counts, whether or not it keeps events: calls and times of regions, first and last
 * event, what is odd in the files. Reading fills it, for the locations that it reads. */
#ifndef CTS_ANALYZE_PATH_PROFILE_H
#define CTS_ANALYZE_PATH_PROFILE_H

#include "analyze/path/source.h"
#include "analyze/path/path-system.h"

/* Of one region. */
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

/* What is read, and where its counts go. */
struct cts_path_reading {
    const struct cts_path_system *system;
    const struct cts_path_source *source;
    struct cts_path_profile *profile;
};

/* Nothing read yet. Release it also after a failure. */
CTS_MUST_CHECK enum cts_status cts_path_profile_open(const struct cts_path_system *system,
                                                     struct cts_path_profile *profile,
                                                     struct cts_error *error);
void cts_path_profile_release(struct cts_path_profile *profile);
/* Times become those of the first and the last node of all processes. Collective. */
void cts_path_agree_on_times(const struct cts_path_system *system,
                             struct cts_path_profile *profile);
/* CTS_FORMAT: no process has a node. After agreeing. */
CTS_MUST_CHECK enum cts_status cts_path_check_times(const struct cts_path_profile *profile,
                                                    struct cts_error *error);

#endif
