/* The HTML report: one self-contained file, the page of web/ with the results as JSON inside. */
#ifndef CTS_REPORT_PAGE_H
#define CTS_REPORT_PAGE_H

#include <stdio.h>

#include "analyze/access/access.h"
#include "analyze/communication/communication.h"
#include "report/figure.h"

struct cts_page {
    const char *run_path; /* as the user gave it */
    const struct cts_catalogue *catalogue;
    const struct cts_comm *comm;
    const struct cts_access_result *access;
    const struct cts_figures *figures;
};

/* Writes the whole page. CTS_IO when `file` cannot be written. */
CTS_MUST_CHECK enum cts_status cts_page_write(const struct cts_page *page, FILE *file,
                                              struct cts_error *error);

/* The JSON inside, for tests: see web/src/data.ts, which names every field. */
CTS_MUST_CHECK enum cts_status cts_page_write_data(const struct cts_page *page, FILE *file,
                                                   struct cts_error *error);

#endif
