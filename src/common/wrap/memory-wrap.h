/* For programs that link cts_memory_wrap: their memory can be limited (common/memory-limit.h). */
#ifndef CTS_COMMON_MEMORY_WRAP_H
#define CTS_COMMON_MEMORY_WRAP_H

#include "common/memory-limit.h"

extern const struct cts_memory_plain cts_memory_plain;

#endif
