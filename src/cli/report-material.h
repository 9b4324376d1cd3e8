/* What the report's page is made from: the analyses of a run, of an OTF2 archive, or of the time of
 * either; `report` writes the page, `view` serves that of time. */
#ifndef CTS_CLI_REPORT_MATERIAL_H
#define CTS_CLI_REPORT_MATERIAL_H

#include "cli/run-timeline.h"
#include "report/figures.h"
#include "report/page.h"
#include "trace/recording.h"

struct cts_report_material {
    struct cts_page page; /* borrows from the members below, and the path of the options */
    struct cts_recording recording;
    struct cts_access_result access;
    struct cts_page_analyses analyses;
    struct cts_flow_result flow;
    bool has_run, has_accesses, has_timeline;
    struct cts_timeline timeline;
    struct cts_path_asked asked; /* the timeline's events */
    struct cts_path_source source;
    struct cts_path path;
    struct cts_path_kernels kernels; /* what the run says of them */
};

struct cts_report_options {
    const char *path;              /* a run, or the anchor file of an OTF2 archive */
    unsigned threads;              /* 0: one per processor */
    bool only_time;                /* not the accesses */
    bool only_figures;             /* only what figures are made from */
    const struct cts_asker *asker; /* of the time: CTS_IO when it has gone; NULL: waits for ever */
};

/* Reads and analyses; shows progress. To be released also when it fails; not to be moved, since
 * the page points into it. */
CTS_MUST_CHECK enum cts_status cts_report_material_gather(struct cts_report_material *material,
                                                          const struct cts_report_options *options,
                                                          struct cts_error *error);
void cts_report_material_release(struct cts_report_material *material);

#endif
