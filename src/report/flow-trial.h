/* How `ctascope try` measures a finding of `flow`: the options that a person types. */
#ifndef CTS_REPORT_FLOW_TRIAL_H
#define CTS_REPORT_FLOW_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/flow/flow.h"

enum { CTS_FLOW_TRIAL_BYTES = 120 };

/* "--launches 4-6 --drop copy:2": the shortest stretch of launches around the finding, and the
 * change. False: no trial can show the finding (it needs a change of the source, concerns memory,
 * lies before the first launch, depends on when host threads run, or the run has several
 * processes). */
bool cts_flow_trial_options(const struct cts_flow_result *flow,
                            const struct cts_flow_finding *finding, char *text, size_t bytes);

#endif
