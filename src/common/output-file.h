/* Writing where the user said. A regular file, or a path where nothing is yet, is written beside
 * its place and renamed at the end, so that a failure or a signal leaves what was there (what
 * SIGKILL leaves beside it, the next output of that name removes); mode and owner stay, and of a
 * symbolic link the target is written. Everything else (a pipe, a terminal, /dev/full, /dev/stdout)
 * is opened and written as it is. Files of a recording (run.db, what is below rank-N and timeline
 * of a run, an OTF2 archive's) are never written over. */
#ifndef CTS_COMMON_OUTPUT_FILE_H
#define CTS_COMMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"

/* What to write to, and what cts_output_close() needs; zero-initialise. */
struct cts_output {
    FILE *file;
    char *path;      /* as given, for messages */
    char *target;    /* where it goes: links followed */
    char *temporary; /* in the directory of the target; NULL: written in place */
    int unfinished;  /* its number in unfinished.h */
};

/* CTS_IO, CTS_MEMORY, CTS_USAGE (a file of a recording); then there is nothing to close. */
CTS_MUST_CHECK enum cts_status cts_output_open(const char *path, struct cts_output *output,
                                               struct cts_error *error);
/* CTS_USAGE where a file or a directory of that name would be one of a recording. */
CTS_MUST_CHECK enum cts_status cts_output_check(const char *path, struct cts_error *error);
/* Ends the file: with `status` CTS_OK it takes its place; else the temporary one is removed. An
 * error of writing or closing that nobody has seen is reported. Returns `status`, or what failed
 * here. */
CTS_MUST_CHECK enum cts_status cts_output_close(struct cts_output *output, enum cts_status status,
                                                struct cts_error *error);

#endif
