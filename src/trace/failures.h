/* What a recorder leaves in a run when it could not begin to record: it has no file there that
 * could say so. A symbolic link, run/.failure-WHAT-PID-NANOSECONDS -> TEXT, takes neither a
 * descriptor nor memory, and, if the text is short, no block of the disk. `ctascope record` moves
 * the texts into run.db. */
#ifndef CTS_TRACE_FAILURES_H
#define CTS_TRACE_FAILURES_H

#include <stdbool.h>

#include "common/error.h"
#include "common/gaps.h"

#define CTS_FAILURE_MEMORY   "memory"
#define CTS_FAILURE_TIMELINE "timeline"
/* As gaps name them. */
#define CTS_FAILURE_NO_MEMORY   "a process recorded nothing: "
#define CTS_FAILURE_NO_TIMELINE "a process recorded no timeline: "

/* `what`: one of the above, which this process will not record. */
void cts_failure_leave(const char *run_path, const char *what, const char *text);

/* Adds what links say of `what`, each text behind `prefix`. */
void cts_failures_list(const char *run_path, const char *what, const char *prefix,
                       struct cts_gaps *gaps);
bool cts_failures_are_left(const char *run_path);
void cts_failures_forget(const char *run_path);

#endif
