/* Running the program of `record`: with our signals passed on, and until all that records in it has
 * ended. */
#ifndef CTS_CLI_RUN_PROGRAM_H
#define CTS_CLI_RUN_PROGRAM_H

#include "trace/catalogue.h"

struct cts_program_result {
    int status;                   /* of the program, as a shell gives it: 128 + N for signal N */
    struct cts_process_end *ends; /* of the program, and of what it left behind when it ended */
    size_t end_count;
};

/* Starts the program and waits for it, and for processes that it leaves behind (daemons) while they
 * record. 0, or the errno value of not being able to start it. The caller frees result->ends. */
int cts_program_run(char *const *command, struct cts_program_result *result);

#endif
