/* The run that an importer makes of profilers' traces: one process for each rank, whose logs
 * src/assemble turns into the archive, as it does after `ctascope record`. Private to import/. */
#ifndef CTS_IMPORT_PROFILE_RUN_H
#define CTS_IMPORT_PROFILE_RUN_H

#include <limits.h>

#include "import/importer.h"
#include "import/profile-notes.h"
#include "import/profile-rank.h"

struct cts_profile_run {
    const struct cts_import_options *options; /* borrowed, as is the result */
    struct cts_import_result *result;
    struct cts_map ranks; /* numbers that are taken */
    bool is_prepared;
    char spill_paths[2][PATH_MAX]; /* next to the run, for sorting items */
};

/* Refuses options that are for traces of memory accesses. Makes nothing yet. */
CTS_MUST_CHECK enum cts_status cts_profile_run_begin(struct cts_profile_run *run,
                                                     const struct cts_import_options *options,
                                                     struct cts_import_result *result,
                                                     struct cts_error *error);
/* An empty rank whose items are sorted next to the run. */
void cts_profile_run_begin_rank(const struct cts_profile_run *run, struct cts_profile_rank *rank);
/* Writes a rank that holds everything; with the first one the run directory is made. The rank's
 * number is the one that the source's file says, else its place, or the next free one. Fills
 * source->rank and source->contents. A rank without any event is refused. */
CTS_MUST_CHECK enum cts_status cts_profile_run_add(struct cts_profile_run *run,
                                                   struct cts_profile_source *source,
                                                   struct cts_profile_rank *rank,
                                                   struct cts_error *error);
/* `status`: how it ended; a failed import leaves no empty run. */
void cts_profile_run_end(struct cts_profile_run *run, enum cts_status status);

#endif
