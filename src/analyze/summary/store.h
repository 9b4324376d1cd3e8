/* Puts the summaries of a run into its catalogue (trace/summaries.h). */
#ifndef CTS_ANALYZE_SUMMARY_STORE_H
#define CTS_ANALYZE_SUMMARY_STORE_H

#include "analyze/access-source.h"
#include "common/error.h"
#include "common/progress.h"
#include "trace/catalogue.h"

/* Reads all launches and stores their sets, in one transaction. threads 0: one per processor. */
CTS_MUST_CHECK enum cts_status cts_summaries_store(const char *run_path,
                                                   const struct cts_catalogue *catalogue,
                                                   const struct cts_access_source *source,
                                                   unsigned threads, struct cts_progress *progress,
                                                   struct cts_error *error);

#endif
