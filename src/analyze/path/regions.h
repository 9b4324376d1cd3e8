/* Classifies regions by name and role. */
#ifndef CTS_ANALYZE_PATH_REGIONS_H
#define CTS_ANALYZE_PATH_REGIONS_H

#include "analyze/path/path-system.h"

/* Fills system->regions. CTS_FORMAT: the user's table of API names is malformed. */
CTS_MUST_CHECK enum cts_status cts_path_regions(struct cts_path_system *system,
                                                struct cts_error *error);

#endif
