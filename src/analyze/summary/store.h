/* Puts the summaries of a run into its catalogue (trace/summaries.h). */
#ifndef CTS_ANALYZE_SUMMARY_STORE_H
#define CTS_ANALYZE_SUMMARY_STORE_H

#include "analyze/access-source.h"
#include "common/error.h"
#include "common/progress.h"
#include "trace/catalogue.h"

struct cts_summaries_options {
    const char *run_path;          /* whose catalogue gets them */
    unsigned threads;              /* 0: one per processor */
    struct cts_progress *progress; /* may be NULL */
};

/* Reads all launches and stores their sets, in one transaction. */
CTS_MUST_CHECK enum cts_status cts_summaries_store(const struct cts_summaries_options *options,
                                                   const struct cts_catalogue *catalogue,
                                                   const struct cts_access_source *source,
                                                   struct cts_error *error);

#endif
