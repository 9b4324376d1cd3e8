/* Tensor maps (CUtensorMap): which tensor a kernel copies by TMA. */
#ifndef CTS_RECORD_TENSOR_MAP_H
#define CTS_RECORD_TENSOR_MAP_H

#include <stdbool.h>

#include "trace/catalogue.h"

enum { CTS_TENSOR_MAP_BYTES = 64 }; /* that the hardware reads; the driver keeps more behind them */

/* Fills all but launch, parameter_bytes, may_load and may_store. False: these bytes are no map of
 * compute capability 9.0. Other bytes may look like one. */
bool cts_tensor_map_decode(const void *bytes, struct cts_tensor_map *map);

#endif
