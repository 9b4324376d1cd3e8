/* A timeline with what the path analysis found in it, as an OTF2 archive. docs/path.md says what it
 * holds. */
#ifndef CTS_REPORT_PATH_OTF2_H
#define CTS_REPORT_PATH_OTF2_H

#include "analyze/path/path.h"

struct cts_path_enriched {
    uint64_t event_count;    /* written: those of the input */
    uint64_t metric_count;   /* written: values of our metrics */
    uint64_t left_out_count; /* of kinds that we do not have, or of unknown regions */
};

struct cts_path_enriching {
    const struct cts_path_source *source;
    const struct cts_path *result; /* with segments, waits and blames (the options keep_...) */
    const char *directory;
    unsigned threads;                      /* 0: one for each processor */
    const struct cts_processes *processes; /* NULL: this one alone */
};

/* Writes DIRECTORY/traces.otf2. With several processes each writes the locations of its ranks; all
 * get the sums. */
CTS_MUST_CHECK enum cts_status cts_path_write_enriched(const struct cts_path_enriching *what,
                                                       struct cts_path_enriched *counts,
                                                       struct cts_error *error);

#endif
