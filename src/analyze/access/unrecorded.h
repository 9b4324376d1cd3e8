/* Launches of which no record is missing, but whose kernels have instructions that the recorder
 * does not see through. */
#ifndef CTS_ACCESS_UNRECORDED_H
#define CTS_ACCESS_UNRECORDED_H

#include <stdbool.h>

#include "trace/catalogue.h"

/* Where such instructions may store to global memory. */
enum cts_access_hidden {
    CTS_HIDDEN_NOWHERE,
    CTS_HIDDEN_IN_TENSORS, /* within the tensors of the launch (analyze/tensor-maps.h), if it has
                              any; otherwise anywhere */
    CTS_HIDDEN_ANYWHERE
};
enum cts_access_hidden cts_access_hidden_stores(const struct cts_catalogue *catalogue,
                                                const struct cts_launch *launch);
/* Whether they may load from it. */
bool cts_access_hides_loads(const struct cts_catalogue *catalogue, const struct cts_launch *launch);

#endif
