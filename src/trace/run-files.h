/* Which files a run may consist of: what recorders, `record` and imports write into a run
 * directory, by name. Anything else in it belongs to somebody else. */
#ifndef CTS_TRACE_RUN_FILES_H
#define CTS_TRACE_RUN_FILES_H

#include "common/error.h"

/* Deletes a run: only what a run consists of, without following links, and then the directory.
 * CTS_USAGE when it holds anything else; `error` names the first such entry and nothing is deleted.
 * Who looks meanwhile finds the run whole or gone. */
CTS_MUST_CHECK enum cts_status cts_run_delete(const char *run_path, struct cts_error *error);

#endif
