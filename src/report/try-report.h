/* What `ctascope try` prints. */
#ifndef CTS_REPORT_TRY_H
#define CTS_REPORT_TRY_H

#include <stdio.h>

#include "analyze/try/try-outcome.h"
#include "report/sheet.h"

struct cts_try_report {
    const struct cts_try_outcome *outcome;
    const struct cts_flow_result *flow; /* of the recording; NULL: none */
    const char *run_path;               /* of the recording; NULL: none */
    const char *command;
    int program_status;
    bool full_names;
};

CTS_MUST_CHECK enum cts_status cts_try_print(const struct cts_try_report *report, FILE *file,
                                             struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_try_print_json(const struct cts_try_report *report, FILE *file,
                                                  struct cts_error *error);

#endif
