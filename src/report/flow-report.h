/* What `ctascope flow` prints: sheets, the screenful, JSON and DOT of one result. */
#ifndef CTS_REPORT_FLOW_H
#define CTS_REPORT_FLOW_H

#include <stdio.h>

#include "analyze/flow/flow.h"
#include "report/sheet.h"

#define CTS_FLOW_SHEETS(X)                                                                         \
    X(EDGE, "edge")                                                                                \
    X(FINDING, "finding")                                                                          \
    X(ALLOCATION, "allocation")                                                                    \
    X(LAUNCH, "launch")

enum cts_flow_sheet {
#define X(name, word) CTS_FLOW_SHEET_##name,
    CTS_FLOW_SHEETS(X)
#undef X
        CTS_FLOW_SHEET_COUNT
};

struct cts_flow_report {
    const char *run_path;
    const struct cts_flow_result *flow;
    const size_t *edges; /* which edges to show: indices */
    size_t edge_count;
    const size_t *works; /* launches, copies and memsets: indices of nodes */
    size_t work_count;
    const struct cts_flow_suppressions *suppressions; /* NULL: none */
    bool full_names;
};

/* Edges that carry bytes, all or those between two launches (ids; CTS_NONE: any), and the nodes
 * that do work, in arrays that the caller frees. */
CTS_MUST_CHECK enum cts_status cts_flow_choose(const struct cts_flow_result *flow,
                                               const uint32_t between[2],
                                               struct cts_flow_report *report,
                                               struct cts_error *error);

struct cts_sheet cts_flow_sheet(const struct cts_flow_report *report, enum cts_flow_sheet sheet);
CTS_MUST_CHECK enum cts_status cts_flow_print_summary(const struct cts_flow_report *report,
                                                      FILE *file, struct cts_error *error);
/* What the numbers depend on, a line each. */
void cts_flow_print_notes(const struct cts_flow_report *report, FILE *file);
CTS_MUST_CHECK enum cts_status cts_flow_print_json(const struct cts_flow_report *report,
                                                   const bool sheets[CTS_FLOW_SHEET_COUNT],
                                                   const struct cts_sheet_choice *choice,
                                                   FILE *file, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_flow_print_dot(const struct cts_flow_report *report, FILE *file,
                                                  struct cts_error *error);

#endif
