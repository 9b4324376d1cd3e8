/* A projection as text: a screenful for people, tables, CSV and JSON. docs/whatif.md describes
 * every column. */
#ifndef CTS_REPORT_WHATIF_H
#define CTS_REPORT_WHATIF_H

#include <stdio.h>

#include "analyze/path/whatif.h"
#include "report/sheet.h"

struct cts_whatif_report {
    const char *path; /* of the trace */
    const struct cts_whatif *result;
    bool changed;    /* changes were asked for, not only targets */
    bool full_names; /* in tables */
};

/* What --per can name. */
#define CTS_WHATIF_SHEETS(X)                                                                       \
    X(ACTIVITY, "activity")                                                                        \
    X(RANK, "rank")                                                                                \
    X(PATTERN, "pattern")                                                                          \
    X(WAIT, "wait")                                                                                \
    X(TARGET, "target")
enum cts_whatif_sheet {
#define X(name, text) CTS_WHATIF_SHEET_##name,
    CTS_WHATIF_SHEETS(X)
#undef X
        CTS_WHATIF_SHEET_COUNT
};
/* CTS_WHATIF_SHEET_COUNT: none has that name. */
enum cts_whatif_sheet cts_whatif_sheet_named(const char *text);

struct cts_sheet cts_whatif_sheet(const struct cts_whatif_report *report,
                                  enum cts_whatif_sheet which);

CTS_MUST_CHECK enum cts_status cts_whatif_print_summary(const struct cts_whatif_report *report,
                                                        size_t top, FILE *file,
                                                        struct cts_error *error);
/* How far the result can be trusted, a line each. */
void cts_whatif_print_notes(const struct cts_whatif_report *report, FILE *file);
CTS_MUST_CHECK enum cts_status cts_whatif_print_json(const struct cts_whatif_report *report,
                                                     const struct cts_sheet_choice *choice,
                                                     FILE *file, struct cts_error *error);

#endif
