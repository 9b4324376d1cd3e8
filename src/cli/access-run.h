/* A run and the access analysis of it, for the verbs that show one or compare two. */
#ifndef CTS_CLI_ACCESS_RUN_H
#define CTS_CLI_ACCESS_RUN_H

#include "analyze/access/access-analysis.h"
#include "cli/verb.h"
#include "trace/recording.h"

struct cts_access_run {
    const char *path;
    struct cts_recording recording;
    struct cts_access_result result;
};

/* Reads `path` and analyses it: the launches that the verb's options --launch and --kernel choose,
 * or all. What is missing of the run is said on stderr. CTS_USAGE for a launch that does not exist
 * or an expression that matches no kernel. */
CTS_MUST_CHECK enum cts_status cts_access_run_open(const struct cts_arguments *arguments,
                                                   const char *path,
                                                   const struct cts_access_options *options,
                                                   struct cts_access_run *run,
                                                   struct cts_error *error);
void cts_access_run_close(struct cts_access_run *run);

#endif
