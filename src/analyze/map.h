/* Every layer uses it. */
#ifndef CTS_ANALYZE_MAP_H
#define CTS_ANALYZE_MAP_H

#include "common/map.h"

#endif
