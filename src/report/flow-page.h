/* What the page shows of `flow`: sentences and findings as in the terminal, and the picture of
 * src/analyze/flow/flow-picture.h. web/src/flow-data.ts names every field. */
#ifndef CTS_REPORT_FLOW_PAGE_H
#define CTS_REPORT_FLOW_PAGE_H

#include "analyze/flow/flow.h"
#include "common/json.h"

/* As members of the open object. Long lists are cut: members ..._left_out count what is missing. */
CTS_MUST_CHECK enum cts_status cts_flow_page_json(const struct cts_flow_result *flow,
                                                  struct cts_json *json, struct cts_error *error);

#endif
