/* The communication analysis as text: a screenful for people, tables, CSV and JSON, all from the
 * sheets below. docs/communication.md describes every column. */
#ifndef CTS_REPORT_COMM_H
#define CTS_REPORT_COMM_H

#include <stdio.h>

#include "analyze/communication/communication.h"
#include "analyze/communication/comm-query.h"
#include "common/json.h"
#include "report/sheet.h"

struct cts_comm_report {
    const char *run_path;
    const struct cts_catalogue *catalogue;
    const struct cts_comm *comm;
    bool full_names; /* of kernels, in tables */
};

/* What --per can name; the first is the run as one row. */
#define CTS_COMM_SHEETS(X)                                                                         \
    X(RUN, "run")                                                                                  \
    X(KERNEL, "kernel")                                                                            \
    X(LAUNCH, "launch")                                                                            \
    X(CTA, "cta")                                                                                  \
    X(TRANSFER, "transfer")                                                                        \
    X(KERNEL_PAIR, "kernel-pair")                                                                  \
    X(LAUNCH_PAIR, "launch-pair")                                                                  \
    X(TRANSFER_SIZE, "transfer-size")                                                              \
    X(IN_DEGREE, "in-degree")                                                                      \
    X(OUT_DEGREE, "out-degree")                                                                    \
    X(TOP, "top-transfer")                                                                         \
    X(SUPERSTEP, "superstep")                                                                      \
    X(DISTANCE, "distance")                                                                        \
    X(STRIDE, "stride")                                                                            \
    X(SITE, "site")                                                                                \
    X(ALLOCATION, "allocation")                                                                    \
    X(ALLOCATION_PAIR, "allocation-pair")                                                          \
    X(DEVICE_PAIR, "device-pair")                                                                  \
    X(SM, "sm")

enum cts_comm_sheet {
#define X(name, text) CTS_COMM_SHEET_##name,
    CTS_COMM_SHEETS(X)
#undef X
        CTS_COMM_SHEET_COUNT
};

/* The sheet that `text` names; CTS_COMM_SHEET_COUNT for none. */
enum cts_comm_sheet cts_comm_sheet_named(const char *text);

struct cts_sheet cts_comm_sheet_of(const struct cts_comm_report *report, enum cts_comm_sheet which);

/* Columns that hold launch ids, for --launch: both NULL when the sheet has none. */
void cts_comm_launch_columns(enum cts_comm_sheet which, const char **first, const char **second);

/* The screenful. */
CTS_MUST_CHECK enum cts_status cts_comm_print_summary(const struct cts_comm_report *report,
                                                      FILE *file, struct cts_error *error);

/* What makes the numbers less than certain, a line each; nothing when there is nothing. */
void cts_comm_print_notes(const struct cts_comm_report *report, FILE *file);

/* The long lists, which JSON holds only when asked for. */
struct cts_comm_lists {
    bool ctas, transfers;
    const struct cts_sheet_choice *choice; /* which rows of them; never NULL */
};

/* Everything as one JSON object. */
CTS_MUST_CHECK enum cts_status cts_comm_print_json(const struct cts_comm_report *report,
                                                   const struct cts_comm_lists *lists, FILE *file,
                                                   struct cts_error *error);

/* Operations on a range of addresses, as rows, a table with totals, and one JSON object. */
struct cts_comm_range_report {
    const char *run_path;
    const struct cts_catalogue *catalogue;
    const struct cts_query *query;
    uint64_t start, end;
};
struct cts_sheet cts_comm_range_sheet(const struct cts_comm_range_report *report);
CTS_MUST_CHECK enum cts_status cts_comm_print_range(const struct cts_comm_range_report *report,
                                                    const struct cts_sheet_rows *rows, FILE *file,
                                                    struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_comm_print_range_json(const struct cts_comm_range_report *report,
                                                         const struct cts_sheet_rows *rows,
                                                         FILE *file, struct cts_error *error);

/* How far the numbers can be trusted, as the member "soundness" of the open object. */
void cts_comm_json_soundness(struct cts_json *json, const struct cts_comm *comm,
                             const struct cts_gaps *gaps);

#endif
