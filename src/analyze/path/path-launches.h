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
/* Finds which stream and record a wait for an event is about where the trace does not say; call it
 * when the launches are known, and the calls in order. */
CTS_MUST_CHECK enum cts_status cts_path_infer_waits(struct cts_path_device *device,
                                                    struct cts_error *error);

#endif
