/* Several runs in one figure: what the papers plot to compare programs (003, figures 6.1 to 6.4;
 * 004, figures 4 to 7). Of each run only what these figures need is kept, so that runs are analysed
 * one after the other. */
#ifndef CTS_REPORT_FIGURES_RUNS_H
#define CTS_REPORT_FIGURES_RUNS_H

#include "common/json.h"
#include "report/page.h"

struct cts_run_row;

/* Zero-initialise. */
struct cts_runs {
    struct cts_run_row *items;
    size_t count, capacity;
};

/* Keeps what the figures show of one more run; the analyses may be released then. `path`: of the
 * run; it is called by its last part without ".run", by all of it if another one has that name. */
CTS_MUST_CHECK enum cts_status cts_runs_add(struct cts_runs *runs, const char *path,
                                            const struct cts_catalogue *catalogue,
                                            const struct cts_page_analyses *analyses,
                                            struct cts_error *error);
void cts_runs_release(struct cts_runs *runs);

/* The name of a run; until the next one is added. */
const char *cts_runs_name(const struct cts_runs *runs, size_t run);

/* Adds the figures to the list. */
CTS_MUST_CHECK enum cts_status cts_figures_of_runs(struct cts_figures *figures,
                                                   const struct cts_runs *runs,
                                                   struct cts_error *error);
/* The page that compares them: its JSON is {"runs": [a row for each], "figures"}. */
CTS_MUST_CHECK enum cts_status cts_runs_write_page(const struct cts_runs *runs,
                                                   const struct cts_figures *figures, FILE *file,
                                                   struct cts_error *error);

#endif
