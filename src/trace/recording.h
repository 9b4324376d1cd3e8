/* A recording as it lies on disk: its catalogue, its access files, and what of it is missing. Every
 * verb and every analysis opens runs through here, so that what is there is compared with what was
 * written in one place: files and their sizes, chunks, records and accesses of each launch, ranks,
 * the tables of the catalogue itself. */
#ifndef CTS_TRACE_RECORDING_H
#define CTS_TRACE_RECORDING_H

#include "common/error.h"
#include "trace/acc.h"
#include "trace/catalogue.h"

struct cts_recording {
    char *path;
    struct cts_catalogue catalogue; /* its gaps name what is missing, its launches how much */
    struct cts_acc_reader *reader;  /* of what is there and of this recording */
    size_t found_chunks;            /* in its files, also of no launch or of another recording */
    struct cts_gaps timeline_gaps;  /* files of its timeline, by name and size: what they hold is
                                       looked at by who reads it (cli/run-timeline.h) */
};

/* Opens a run. What is missing of it is no failure: the catalogue's `gaps` name it, and
 * `missing_records` of the launches that it belonged to say how much. A catalogue that cannot be
 * read, or a run directory that is none, is a failure; then there is nothing to close. */
CTS_MUST_CHECK enum cts_status cts_recording_open(const char *path, struct cts_recording *recording,
                                                  struct cts_error *error);
void cts_recording_close(struct cts_recording *recording); /* zeroed: nothing */

/* Whether anything says that accesses were recorded: its launches, its ranks or its files. */
bool cts_recording_has_accesses(const struct cts_recording *recording);

/* CTS_FORMAT when the run is one of time alone, or accesses were written and none of them is left:
 * for whatever needs accesses. */
CTS_MUST_CHECK enum cts_status cts_recording_need_accesses(const struct cts_recording *recording,
                                                           struct cts_error *error);

/* Of its access files: what cts_recording_leave_out_damage() has to read. */
uint64_t cts_recording_access_bytes(const struct cts_recording *recording);

/* After an analysis has failed with CTS_FORMAT: decodes every chunk, leaves out those that cannot
 * be, names them among the gaps, and says whether there were any. Then the analysis can be done
 * again with what is left. Chunks are only decoded here, since whole recordings need it not. */
bool cts_recording_leave_out_damage(struct cts_recording *recording);

#endif
