/* `ctascope diff` of two timelines. */
#ifndef CTS_CLI_DIFF_TIME_H
#define CTS_CLI_DIFF_TIME_H

#include "cli/verb.h"
#include "report/path-diff.h"

struct cts_diff_time {
    bool json, csv, rows; /* rows: one list only */
    enum cts_time_sheet sheet;
    struct cts_sheet_choice choice;
    unsigned threads;
    double fail_above; /* the runtime's growth, 0.05 = 5%; infinite: nothing */
};

/* Whether both runs are to be compared by their time: two archives, or runs of which one holds no
 * memory accesses while both hold timelines. A run that cannot say whether it has accesses is a
 * failure. */
CTS_MUST_CHECK enum cts_status cts_diff_is_of_time(const char *before, const char *after,
                                                   bool *is_of_time, struct cts_error *error);

/* The exit status. */
int cts_diff_run_time(const struct cts_arguments *arguments, const struct cts_diff_time *request);

#endif
