/* The options of `try`, read. */
#ifndef CTS_CLI_TRY_OPTIONS_H
#define CTS_CLI_TRY_OPTIONS_H

#include "cli/try-talk.h"
#include "cli/verb.h"

struct cts_try_request {
    const char *range;
    bool by_launches, by_iteration;
    uint64_t first_launch, last_launch, iteration;
    const char *run_path;
    bool full_names, is_json;
};

/* 0, or an exit code after usage errors, which are then printed. */
int cts_try_read_options(const struct cts_arguments *arguments, struct cts_try_request *request,
                         struct cts_try_talk *talk);

extern const struct cts_option cts_try_options[];

#endif
