/* The parts of `ctascope record`: what the recorder in the program is told, and what is said of
 * what it recorded. verb-record.c makes the run and runs the program between the two. */
#ifndef CTS_CLI_RECORD_H
#define CTS_CLI_RECORD_H

#include <stddef.h>

#include "cli/run-program.h"
#include "cli/verb.h"

/* ---- record-environment.c ---- */

/* Whether this process is one of an MPI job. */
bool cts_record_is_under_mpi(void);
/* What the processes that may record into the run have in common: an MPI job, or this command. */
void cts_record_make_session(char *session, size_t session_bytes);
bool cts_record_wants_timeline(const struct cts_arguments *arguments);
bool cts_record_wants_memory(const struct cts_arguments *arguments);
/* Sets what the recorders read; false after usage errors, which are then printed. */
bool cts_record_set_environment(const struct cts_arguments *arguments);

/* ---- record-outcome.c ---- */

/* Looks at what was recorded, prints it, and returns the exit status. The program's own failure
 * wins over ours. `held` as of cts_run_hold(). */
int cts_record_judge(const struct cts_arguments *arguments, const char *run_path, int held,
                     const struct cts_program_result *program);

#endif
