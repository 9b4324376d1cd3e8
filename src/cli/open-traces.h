/* Verbs that read timelines open traces of other tools directly: they are imported into a run in
 * the directory for temporary files, which goes when the verb has ended. */
#ifndef CTS_CLI_OPEN_TRACES_H
#define CTS_CLI_OPEN_TRACES_H

#include "cli/verb.h"

enum { CTS_OPENED_MAX = 8 };

struct cts_opened_traces {
    char *runs[CTS_OPENED_MAX]; /* temporary */
    char **paths, **names;      /* the positional arguments as they are given to the verb */
    size_t count;
};

/* Replaces positional arguments that are traces of time by such runs: each by one of its own where
 * the verb compares runs, else all of them by one, whose ranks they are. Returns an exit code;
 * cts_traces_close() in any case. */
int cts_traces_open(struct cts_arguments *arguments, struct cts_opened_traces *opened);
void cts_traces_close(struct cts_opened_traces *opened);

#endif
