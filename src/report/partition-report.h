/* The partition analysis as text: an answer in words and a screenful of tables for people, rows as
 * tables and CSV, everything as JSON. docs/partition.md describes every column. */
#ifndef CTS_REPORT_PARTITION_H
#define CTS_REPORT_PARTITION_H

#include <stdio.h>

#include "analyze/partition/partition.h"
#include "report/sheet.h"

struct cts_partition_report {
    const char *run_path;
    const struct cts_catalogue *catalogue;
    const struct cts_partition *partition;
    const struct cts_partition_answer *answer; /* its scale is the one that sheets detail */
    bool asked_for_one;                        /* the user named the number of partitions */
    bool full_names;                           /* of kernels, in tables and sentences */
};

/* What --per can name. */
#define CTS_PARTITION_SHEETS(X)                                                                    \
    X(RUN, "run")               /* sets over the run, one row */                                   \
    X(SCALE, "scale")           /* mapping and number of partitions */                             \
    X(FIT, "fit")               /* traffic against the number of partitions, per mapping */        \
    X(LAUNCH, "launch")         /* sets, critical share, traffic of the detailed scale */          \
    X(PARTITION, "partition")   /* of the detailed scale */                                        \
    X(KERNEL, "kernel")         /* traffic of the detailed scale by the kernel that wrote */       \
    X(ALLOCATION, "allocation") /* and by where it lies */

enum cts_partition_sheet {
#define X(name, text) CTS_PARTITION_SHEET_##name,
    CTS_PARTITION_SHEETS(X)
#undef X
        CTS_PARTITION_SHEET_COUNT
};

/* The sheet that `text` names; CTS_PARTITION_SHEET_COUNT for none. */
enum cts_partition_sheet cts_partition_sheet_named(const char *text);

struct cts_sheet cts_partition_sheet(const struct cts_partition_report *report,
                                     enum cts_partition_sheet which);

/* The answer in words, some lines; what there is to decide, and what decides it. */
CTS_MUST_CHECK enum cts_status cts_partition_print_answer(const struct cts_partition_report *report,
                                                          FILE *file, struct cts_error *error);

/* The screenful: the answer, the run, scales of the recommended mapping, fits. */
CTS_MUST_CHECK enum cts_status
cts_partition_print_summary(const struct cts_partition_report *report, FILE *file,
                            struct cts_error *error);

/* What makes the numbers less than certain, a line each. */
void cts_partition_print_notes(const struct cts_partition_report *report, FILE *file);

/* Writes the assignment of every scale (options.keep_assignments) as CSV or JSON. */
CTS_MUST_CHECK enum cts_status
cts_partition_write_assignment(const struct cts_partition_report *report, FILE *file, bool as_json,
                               struct cts_error *error);

CTS_MUST_CHECK enum cts_status cts_partition_print_json(const struct cts_partition_report *report,
                                                        FILE *file, struct cts_error *error);

#endif
