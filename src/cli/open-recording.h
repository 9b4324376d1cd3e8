/* Opening a run for a verb, and saying what is missing of it. */
#ifndef CTS_CLI_RECORDING_H
#define CTS_CLI_RECORDING_H

#include "cli/verb.h"
#include "common/processes.h"
#include "trace/recording.h"

/* Opens a run in all processes of an analysis: in each of them, or in none. */
CTS_MUST_CHECK enum cts_status cts_cli_open_together(const char *run_path,
                                                     const struct cts_processes *processes,
                                                     struct cts_recording *recording,
                                                     struct cts_error *error);

/* Whether an analysis that ended with `status` is to be done again, now without the chunks that
 * cannot be read: those have become gaps of the recording. */
bool cts_cli_again(enum cts_status status, struct cts_recording *recording);

/* Says on stderr what is missing, whatever the format of the output; nothing when nothing is.
 * `verb` may be NULL. */
void cts_cli_tell_gaps(const struct cts_verb *verb, const char *run_path,
                       const struct cts_gaps *gaps);

#endif
