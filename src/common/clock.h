/* The clock that intervals and timestamps are measured with. */
#ifndef CTS_COMMON_CLOCK_H
#define CTS_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

/* ns of the monotonic clock; its zero is the machine's own. */
static inline uint64_t cts_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
