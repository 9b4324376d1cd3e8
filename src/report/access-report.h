/* The access analysis as text: findings first, then sites; all from the sheets below.
 * docs/access.md describes every column. */
#ifndef CTS_REPORT_ACCESS_H
#define CTS_REPORT_ACCESS_H

#include <stdio.h>

#include "analyze/access/access-analysis.h"
#include "report/sheet.h"

struct cts_access_report {
    const char *run_path;
    const struct cts_catalogue *catalogue;
    const struct cts_access_result *result;
    const uint32_t *site;   /* only findings and rows of this site; NULL: all */
    bool lists_allocations; /* in JSON, too */
    bool full_names;        /* of kernels, in tables and sentences */
};

enum cts_access_sheet {
    CTS_ACCESS_SHEET_FINDING,
    CTS_ACCESS_SHEET_SITE,
    CTS_ACCESS_SHEET_ALLOCATION
};
struct cts_sheet cts_access_sheet(const struct cts_access_report *report,
                                  enum cts_access_sheet which);

/* Restricts a choice of rows with a column `site` to the report's. */
void cts_access_choose_site(const struct cts_access_report *report,
                            struct cts_sheet_choice *choice);

CTS_MUST_CHECK enum cts_status cts_access_print_summary(const struct cts_access_report *report,
                                                        FILE *file, struct cts_error *error);
/* Of buffers for a place and for the evidence of a finding. */
enum { CTS_ACCESS_PLACE_BYTES = 120, CTS_EVIDENCE_BYTES = 500 };

/* "file.cu:12", or the function where there are no lines; in `text` or the catalogue's. */
const char *cts_access_place(const struct cts_catalogue *catalogue, uint32_t site, char *text,
                             size_t text_bytes);
/* What makes the numbers less than certain, a line each. */
void cts_access_print_notes(const struct cts_access_report *report, FILE *file);
/* Findings and sites as one object; `choice` applies to the sites. */
CTS_MUST_CHECK enum cts_status cts_access_print_json(const struct cts_access_report *report,
                                                     const struct cts_sheet_choice *choice,
                                                     FILE *file, struct cts_error *error);

#endif
