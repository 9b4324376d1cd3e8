/* The repeating part of a program's launches. */
#ifndef CTS_ANALYZE_TRY_ITERATION_H
#define CTS_ANALYZE_TRY_ITERATION_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_try_pattern {
    size_t first, period, iterations; /* launches; 0 iterations: nothing repeats */
};

/* Of the kernels that `kernels` names in call order, the longest part that repeats at least twice,
 * with the shortest period; the first such part. CTS_MEMORY. O(count x longest period). */
CTS_MUST_CHECK enum cts_status cts_try_find_pattern(const char *const *kernels, size_t count,
                                                    struct cts_try_pattern *pattern,
                                                    struct cts_error *error);

#endif
