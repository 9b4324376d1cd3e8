/* The seal of a run: when its recording has ended, the catalogue says which files there are, how
 * long they are and how much they hold (table `files`), and what each of its own tables held (table
 * `checksums`). A reader that finds less, or something else, says so.
 *
 * Access files check themselves (docs/format.md), so the seal keeps their size and counts alone; of
 * a timeline's files, whose format has no checksums, it keeps one. A run whose recording was cut
 * off has no seal: then only its launches and ranks say what was written. */
#ifndef CTS_TRACE_SEAL_H
#define CTS_TRACE_SEAL_H

#include "common/error.h"
#include "trace/catalogue.h"

/* Seals the run, anew when it was sealed before. Call when nothing writes to it any more. */
CTS_MUST_CHECK enum cts_status cts_seal_write(const char *run_path, struct cts_error *error);

/* Adds to `gaps` what is amiss with the files that the seal names: those of the timeline, or the
 * access files, by name and size. A timeline's files are read to compare their checksums. */
enum cts_seal_part { CTS_SEAL_ACCESSES, CTS_SEAL_TIMELINE, CTS_SEAL_TIMELINE_NAMES };
void cts_seal_check_files(const char *run_path, const struct cts_catalogue *catalogue,
                          enum cts_seal_part part, struct cts_gaps *gaps);
/* Whether the run is sealed; then files that its seal does not name are not its own. */
bool cts_seal_is_there(const struct cts_catalogue *catalogue);
/* Whether the run is sealed and its seal does not list that file: then it is not the run's own.
 * False if the list itself is lost. */
bool cts_seal_leaves_out(const struct cts_catalogue *catalogue, const char *path);
/* Why a timeline in the run's directory is not the run's own, as a sentence about the run; NULL: it
 * is, as far as the seal tells. It is a sentence for a run without a timeline, too. */
const char *cts_seal_why_foreign_timeline(const struct cts_catalogue *catalogue);

#endif
