/* The comparison of two runs as text: findings, then kernels; all from the sheets below.
 * docs/diff.md describes every column. */
#ifndef CTS_REPORT_ACCESS_DIFF_H
#define CTS_REPORT_ACCESS_DIFF_H

#include <stdio.h>

#include "analyze/access/diff.h"
#include "report/sheet.h"

struct cts_diff_report {
    const char *before_path, *after_path;
    const struct cts_diff_side *before, *after;
    const struct cts_access_diff *diff;
};

enum cts_diff_sheet { CTS_DIFF_SHEET_FINDING, CTS_DIFF_SHEET_KERNEL };
struct cts_sheet cts_diff_sheet(const struct cts_diff_report *report, enum cts_diff_sheet which);

CTS_MUST_CHECK enum cts_status cts_diff_print_summary(const struct cts_diff_report *report,
                                                      FILE *file, struct cts_error *error);
/* Counts, findings and kernels as one object; `choice` applies to the findings. The page's data
 * have the members of cts_diff_json_members(). */
CTS_MUST_CHECK enum cts_status cts_diff_print_json(const struct cts_diff_report *report,
                                                   const struct cts_sheet_choice *choice,
                                                   FILE *file, struct cts_error *error);

#endif
