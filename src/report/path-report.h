/* The path analysis as text: a screenful for people, tables, CSV and JSON. docs/path.md describes
 * every column. */
#ifndef CTS_REPORT_PATH_H
#define CTS_REPORT_PATH_H

#include <stdio.h>

#include "analyze/path/path.h"
#include "common/json.h"
#include "report/path-kernels.h"
#include "report/sheet.h"

struct cts_path_report {
    const char *path; /* of the trace */
    const struct cts_path *result;
    double path_weight, blame_weight; /* 0, 0: 1, 1 */
    bool direct_blame;
    const char *within; /* the activity that the part belongs to; NULL: all of the run */
    bool full_names;    /* in tables and sentences; else short ones */
    const struct cts_path_kernels *kernels; /* what else is known of kernels; NULL: no columns */
};

/* What --per can name. */
#define CTS_PATH_SHEETS(X)                                                                         \
    X(ACTIVITY, "activity")                                                                        \
    X(PATTERN, "pattern")                                                                          \
    X(INSTANCE, "instance")                                                                        \
    X(DEVICE, "device")                                                                            \
    X(RANK, "rank")
enum cts_path_sheet {
#define X(name, text) CTS_PATH_SHEET_##name,
    CTS_PATH_SHEETS(X)
#undef X
        CTS_PATH_SHEET_COUNT
};
/* CTS_PATH_SHEET_COUNT: none has that name. */
enum cts_path_sheet cts_path_sheet_named(const char *text);

struct cts_sheet cts_path_sheet(const struct cts_path_report *report, enum cts_path_sheet which);
/* The instance that a row of that sheet is of, and its pattern. */
const struct cts_path_instance *cts_path_instance_at(const struct cts_path *result, size_t row,
                                                     enum cts_path_pattern *pattern);
/* The same with only those columns in its table that fit a terminal; until the next of its kind. */
struct cts_sheet cts_path_brief_sheet(const struct cts_path_report *report,
                                      enum cts_path_sheet which);

/* The screenful: activities, patterns, worst waits, words. */
CTS_MUST_CHECK enum cts_status cts_path_print_summary(const struct cts_path_report *report,
                                                      size_t top, FILE *file,
                                                      struct cts_error *error);
/* What is odd in the trace, a line each. */
void cts_path_print_notes(const struct cts_path_report *report, FILE *file);
CTS_MUST_CHECK enum cts_status cts_path_print_json(const struct cts_path_report *report,
                                                   const struct cts_sheet_choice *choice,
                                                   FILE *file, struct cts_error *error);

/* The same as members of the open object. */
CTS_MUST_CHECK enum cts_status cts_path_json_members(const struct cts_path_report *report,
                                                     const struct cts_sheet_choice *choice,
                                                     struct cts_json *json,
                                                     struct cts_error *error);

/* The name of a location, with its rank where there are several: "rank 1: CUDA[0:7]". */
const char *cts_path_location_name(const struct cts_path_report *report, uint32_t location,
                                   char *buffer, size_t size);

#endif
