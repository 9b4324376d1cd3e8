/* Running another program for its output; for doctor. */
#ifndef CTS_COMMON_CHILD_H
#define CTS_COMMON_CHILD_H

#include <stddef.h>

struct cts_child_result {
    int status;        /* its exit status, 128 + signal, or 127 when it could not be started */
    int timed_out;     /* it was killed because it took too long */
    char output[4096]; /* the beginning of its standard output and error, NUL-terminated */
};

/* Runs argv[0] (looked for in PATH) with standard input empty; kills it after `timeout_s`. */
void cts_child_run(const char *const argv[], unsigned timeout_s, struct cts_child_result *result);

#endif
