/* From the logs of a run's processes to its OTF2 archive, run/timeline/traces.otf2: definitions
 * unified, clocks corrected linearly, events of each location in order of time, locations written
 * in parallel. Logs of processes that were killed are read as far as they go; functions that were
 * still open are left at the last time of their location. */
#ifndef CTS_ASSEMBLE_ASSEMBLE_H
#define CTS_ASSEMBLE_ASSEMBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/catalogue.h"

/* Of processes with clocks that only the ends of collectives tie. */
struct cts_clock_alignment {
    uint64_t aligned_count, collective_count; /* those that follow another; by so many ends */
    uint64_t alone_count;                     /* those that cannot be aligned */
    double residual_ns; /* the largest of the processes: 95% of its ends are within it */
};

struct cts_assembly {
    struct cts_clock_alignment clocks;
    uint64_t process_count, location_count, event_count;
    uint64_t archive_bytes;
    uint64_t lost_count;        /* events that recorders reported as lost */
    uint64_t cut_process_count; /* that did not exit normally */
    uint64_t moved_count;       /* events whose time lay before the one before them */
    uint64_t overlap_count;     /* activities cut, since the one before in the stream still ran */
    uint64_t unmatched_count;   /* LEAVEs left out or put in, to match the ENTERs */
    uint64_t damaged_log_count; /* logs read up to the damage */
    uint64_t left_over_count;   /* processes whose logs lie beside a timeline that is there already,
                                   of which nothing was made */
    char failure[500];          /* the first error that a recorder told; empty: none */
    char warning[500];          /* likewise the first warning, such as what was lost */
};

struct cts_assembly_options {
    unsigned threads;                   /* 0: one per processor */
    const struct cts_process_end *ends; /* how processes ended, as far as it is known */
    size_t end_count;
};

/* Whether a run holds logs: that no archive has been made of yet, or that were not removed since.
 */
bool cts_timeline_has_logs(const char *run_path);

/* Does nothing (location_count 0) for a run without logs. Notes the processes and what recorders
 * had to say in the run's catalogue. Removes the logs when the archive is whole; on any failure
 * they stay, for another try. The archive says itself what it lacks (trace/timeline.h, gaps). */
CTS_MUST_CHECK enum cts_status cts_timeline_assemble(const char *run_path,
                                                     const struct cts_assembly_options *options,
                                                     struct cts_assembly *assembly,
                                                     struct cts_error *error);

#endif
