/* The comparison of two timed runs as text: sentences, activities, patterns. docs/diff.md describes
 * every column. */
#ifndef CTS_REPORT_PATH_DIFF_H
#define CTS_REPORT_PATH_DIFF_H

#include "analyze/path/compare.h"
#include "report/sheet.h"

struct cts_time_report {
    const char *before_path, *after_path;
    const struct cts_path *before, *after;
    const struct cts_time_diff *diff;
};

enum cts_time_sheet { CTS_TIME_SHEET_ACTIVITY, CTS_TIME_SHEET_PATTERN };
struct cts_sheet cts_time_sheet(const struct cts_time_report *report, enum cts_time_sheet which);

CTS_MUST_CHECK enum cts_status cts_time_print_summary(const struct cts_time_report *report,
                                                      size_t limit, FILE *file,
                                                      struct cts_error *error);
/* The sums of both runs, sentences and both lists; `choice` applies to the activities. */
CTS_MUST_CHECK enum cts_status cts_time_print_json(const struct cts_time_report *report,
                                                   const struct cts_sheet_choice *choice,
                                                   FILE *file, struct cts_error *error);

#endif
