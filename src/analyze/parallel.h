/* Every layer uses it. */
#ifndef CTS_ANALYZE_PARALLEL_H
#define CTS_ANALYZE_PARALLEL_H

#include "common/parallel.h"

#endif
