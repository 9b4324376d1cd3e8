/* Every layer uses it. */
#ifndef CTS_ANALYZE_ARRAY_H
#define CTS_ANALYZE_ARRAY_H

#include "common/array.h"

#endif
