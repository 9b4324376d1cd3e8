/* Launches of which no record is missing, but whose kernels have instructions that the recorder
 * does not see through. */
#ifndef CTS_ACCESS_UNRECORDED_H
#define CTS_ACCESS_UNRECORDED_H

#include <stdbool.h>

#include "trace/catalogue.h"

/* Whether such an instruction may store to global memory, or load from it. */
bool cts_access_hides_stores(const struct cts_catalogue *catalogue,
                             const struct cts_launch *launch);
bool cts_access_hides_loads(const struct cts_catalogue *catalogue, const struct cts_launch *launch);

#endif
