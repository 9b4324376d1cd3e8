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

/* Writes DIRECTORY/traces.otf2. `result` holds segments, waits and blames (the options keep_...).
 * With several processes each writes the locations of its ranks; all get the sums. `threads`: 0 is
 * one per processor. */
CTS_MUST_CHECK enum cts_status cts_path_write_enriched(const struct cts_path_source *source,
                                                       const struct cts_path *result,
                                                       const char *directory, unsigned threads,
                                                       const struct cts_processes *processes,
                                                       struct cts_path_enriched *counts,
                                                       struct cts_error *error);

#endif
