/* What analyses know of regions. */
#ifndef CTS_ANALYZE_PATH_REGIONS_H
#define CTS_ANALYZE_PATH_REGIONS_H

#include "analyze/path/path-system.h"

/* Fills system->regions. CTS_FORMAT: the user's table of API names makes no sense. */
CTS_MUST_CHECK enum cts_status cts_path_regions(struct cts_path_system *system,
                                                struct cts_error *error);

#endif
