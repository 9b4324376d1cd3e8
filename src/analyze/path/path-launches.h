/* Assigns device activities to the calls that launched them. */
#ifndef CTS_ANALYZE_PATH_LAUNCHES_H
#define CTS_ANALYZE_PATH_LAUNCHES_H

#include "analyze/path/streams.h"

/* Gives each device activity its launching call. */
CTS_MUST_CHECK enum cts_status cts_path_join_launches(struct cts_path_device *device,
                                                      struct cts_error *error);
/* Infers launches that are missing in the trace and appends them to the calls. Activities without
 * an inferred launch keep none. */
CTS_MUST_CHECK enum cts_status cts_path_infer_launches(struct cts_path_device *device,
                                                       struct cts_error *error);

#endif
