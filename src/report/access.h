/* The access analysis as text: findings first, then sites; all from the sheets below.
 * docs/access.md describes every column. */
#ifndef CTS_REPORT_ACCESS_H
#define CTS_REPORT_ACCESS_H

#include <stdio.h>

#include "analyze/access/access.h"
#include "report/sheet.h"

struct cts_access_report {
    const char *run_path;
    const struct cts_catalogue *catalogue;
    const struct cts_access_result *result;
};

enum cts_access_sheet { CTS_ACCESS_SHEET_FINDING, CTS_ACCESS_SHEET_SITE };
struct cts_sheet cts_access_sheet(const struct cts_access_report *report,
                                  enum cts_access_sheet which);

CTS_MUST_CHECK enum cts_status cts_access_print_summary(const struct cts_access_report *report,
                                                        FILE *file, struct cts_error *error);
/* What makes the numbers less than certain, a line each. */
void cts_access_print_notes(const struct cts_access_report *report, FILE *file);
/* Findings and sites as one object; `choice` applies to the sites. */
CTS_MUST_CHECK enum cts_status cts_access_print_json(const struct cts_access_report *report,
                                                     const struct cts_sheet_choice *choice,
                                                     FILE *file, struct cts_error *error);

#endif
