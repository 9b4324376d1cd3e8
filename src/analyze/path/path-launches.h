/* Which device activity belongs to which call. */
#ifndef CTS_ANALYZE_PATH_LAUNCHES_H
#define CTS_ANALYZE_PATH_LAUNCHES_H

#include "analyze/path/streams.h"

/* Gives each device activity its launching call. */
CTS_MUST_CHECK enum cts_status cts_path_join_launches(struct cts_path_device *device,
                                                      struct cts_error *error);
/* Adds launches that the trace does not hold to the calls, behind the others; what is left then has
 * no launch. */
CTS_MUST_CHECK enum cts_status cts_path_infer_launches(struct cts_path_device *device,
                                                       struct cts_error *error);

#endif
