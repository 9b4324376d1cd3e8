/* Findings as SARIF 2.1.0 (docs/ci.md), which code hosts and editors show at their source lines. */
#ifndef CTS_REPORT_SARIF_H
#define CTS_REPORT_SARIF_H

#include <stdio.h>

#include "report/access-diff.h"
#include "report/access-report.h"

/* Files below `source_root`, an absolute path without a slash at its end, are named relative to it.
 */
struct cts_sarif_options {
    const char *source_root;
    const char *version; /* of ctascope */
};

/* The findings of a run. */
CTS_MUST_CHECK enum cts_status cts_access_print_sarif(const struct cts_access_report *report,
                                                      const struct cts_sarif_options *options,
                                                      FILE *file, struct cts_error *error);
/* Those of two runs, each with its baselineState: new, updated, unchanged or absent. */
CTS_MUST_CHECK enum cts_status cts_diff_print_sarif(const struct cts_diff_report *report,
                                                    const struct cts_sarif_options *options,
                                                    FILE *file, struct cts_error *error);

/* What a kind of finding is called in SARIF ("possible-race"), and a sentence on it. */
struct cts_sarif_rule {
    char id[40];
    const char *sentence;
    const char *level; /* "error", "warning" or "note" */
};

#endif
