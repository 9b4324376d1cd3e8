/* The texts of trace/failures.h in run.db, as keys of table `run`: failure_memory and
 * failure_timeline, a line each. */
#ifndef CTS_TRACE_FAILURES_KEEP_H
#define CTS_TRACE_FAILURES_KEEP_H

#include "trace/catalogue.h"
#include "trace/failures.h"

#define CTS_FAILURE_MEMORY_KEY "failure_memory"

/* Moves what links say into run.db; where it cannot be written they stay, and are read instead. */
void cts_failures_keep(const char *run_path);
/* Key of table run: why an import ended early. */
#define CTS_FAILURE_IMPORT_KEY "failure_import"

/* Names what run.db says in the catalogue's gaps, and of timelines in `timeline_gaps`. */
void cts_failures_recall(struct cts_catalogue *catalogue, struct cts_gaps *timeline_gaps);

#endif
