/* info: what a timeline holds. */
#ifndef CTS_CLI_INFO_TIMELINE_H
#define CTS_CLI_INFO_TIMELINE_H

#include "cli/run-timeline.h"
#include "common/json.h"

/* Both read all events, and add what turns out damaged to the timeline's gaps. */
CTS_MUST_CHECK enum cts_status cts_info_timeline_table(struct cts_timeline *timeline,
                                                       struct cts_error *error);
/* A member "timeline" of the open object. */
CTS_MUST_CHECK enum cts_status cts_info_timeline_json(struct cts_timeline *timeline,
                                                      struct cts_json *json,
                                                      struct cts_error *error);

#endif
