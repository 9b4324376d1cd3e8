/* The HTML report: one self-contained file, the page of web/ with the results as JSON inside. */
#ifndef CTS_REPORT_PAGE_H
#define CTS_REPORT_PAGE_H

#include <stdio.h>

#include "analyze/access/access-analysis.h"
#include "analyze/communication/communication.h"
#include "analyze/flow/flow.h"
#include "analyze/partition/partition.h"
#include "analyze/path/path.h"
#include "report/figure.h"
#include "report/path-kernels.h"

/* What there is to show: a run with accesses, a timeline, or both. */
struct cts_page {
    const char *run_path;                  /* as the user gave it */
    const struct cts_catalogue *catalogue; /* NULL: an OTF2 archive alone */
    /* accesses; comm NULL: none were recorded */
    const struct cts_comm *comm;
    const struct cts_access_result *access;
    const struct cts_partition *partition;
    const struct cts_figures *figures;
    const struct cts_flow_result *flow;
    /* timeline; path NULL: there is none. Analysed with keep_segments and keep_waits. */
    const struct cts_path_source *source;
    const struct cts_path *path;
    const struct cts_path_kernels *kernels; /* NULL: nothing more is known of them */
};

/* Writes the whole page. CTS_IO when `file` cannot be written. */
CTS_MUST_CHECK enum cts_status cts_page_write(const struct cts_page *page, FILE *file,
                                              struct cts_error *error);

/* The report's page around the JSON that `write` makes of `state`. */
typedef enum cts_status (*cts_page_data_fn)(const void *state, FILE *file, struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_page_write_of(cts_page_data_fn write, const void *state,
                                                 FILE *file, struct cts_error *error);

/* Writes a page of web/ with this JSON in it; `nonce` lets its script run where a policy asks for
 * one, "" where none does. Whether the file could be written is for the caller to see. */
void cts_page_write_template(FILE *file, const char *page, const char *json, size_t size_bytes,
                             const char *nonce);

/* The report's page around JSON that cts_page_write_data has written; as above. */
void cts_page_write_around(FILE *file, const char *json, size_t size_bytes, const char *nonce);

/* What a page says of memory, but for the accesses: communication, partitions and their figures.
 * Zero-initialise. */
struct cts_page_analyses {
    struct cts_comm comm;
    struct cts_partition partition;
    struct cts_figures figures;
};
struct cts_page_options {
    unsigned threads;              /* 0: one per processor */
    struct cts_progress *progress; /* may be NULL */
};

/* Analyses a run; to be released also when it fails. */
CTS_MUST_CHECK enum cts_status cts_page_analyze(const struct cts_catalogue *catalogue,
                                                const struct cts_access_source *source,
                                                const struct cts_page_options *options,
                                                struct cts_page_analyses *analyses,
                                                struct cts_error *error);
void cts_page_analyses_release(struct cts_page_analyses *analyses);

/* The JSON inside: see web/src/data.ts, which names every field. */
CTS_MUST_CHECK enum cts_status cts_page_write_data(const struct cts_page *page, FILE *file,
                                                   struct cts_error *error);

#endif
