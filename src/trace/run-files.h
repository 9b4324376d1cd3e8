/* Which files a run may consist of: what recorders, `record` and imports write into a run
 * directory, by name. Anything else in it belongs to somebody else. */
#ifndef CTS_TRACE_RUN_FILES_H
#define CTS_TRACE_RUN_FILES_H

#include "common/error.h"

/* Deletes a run: only what a run consists of, without following links, and then the directory.
 * CTS_USAGE when it holds anything else; `error` names the first such entry and nothing is deleted.
 * Who looks meanwhile finds the run whole or gone. */
CTS_MUST_CHECK enum cts_status cts_run_delete(const char *run_path, struct cts_error *error);

/* The same in two steps, for whoever makes a new run in its place: a failure or a signal in between
 * leaves the old one. */
struct cts_run_aside {
    char path[4096]; /* RUN.old-PID; "": nothing is aside */
    int unfinished;  /* its number in unfinished.h */
};
CTS_MUST_CHECK enum cts_status cts_run_set_aside(const char *run_path, struct cts_run_aside *aside,
                                                 struct cts_error *error);
/* The new run exists: deletes the old one. */
CTS_MUST_CHECK enum cts_status cts_run_delete_aside(struct cts_run_aside *aside,
                                                    struct cts_error *error);
/* There is no new run: the old one gets its name back. */
void cts_run_give_back(const char *run_path, struct cts_run_aside *aside);

#endif
