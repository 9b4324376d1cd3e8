/* Who records into a run: `ctascope record` holds run/.recording as long as it records, and writes
 * into it what the others want to know; each process that records holds its journal. */
#ifndef CTS_TRACE_RUN_LOCK_H
#define CTS_TRACE_RUN_LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* Several `record`s of one session hold a run together. A file descriptor, or -1 where files cannot
 * be locked. */
int cts_run_hold(const char *run_path, const char *session, const char *command);
/* Releases the lock; true if no other process holds the run. `held` may be -1. */
bool cts_run_let_go(const char *run_path, int held);

/* CTS_USAGE and who, when a `record` or a process records into the run now. */
CTS_MUST_CHECK enum cts_status cts_run_check_free(const char *run_path, struct cts_error *error);
/* The same, of `record` alone. */
bool cts_run_is_held(const char *run_path);

/* The session of the `record` that holds or held the run; false where none did. */
bool cts_run_session(const char *run_path, char *session, size_t session_bytes);

#endif
