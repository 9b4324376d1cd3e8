/* What benches share: the clock, the end on an error, numbers that look random and are the same in
 * every run. */
#ifndef CTS_BENCH_H
#define CTS_BENCH_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/error.h"

static inline double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void stop(const struct cts_error *error)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, error->text);
    exit(1);
}

/* 0 to limit - 1 (a linear congruential generator). */
static inline uint32_t random_below(uint32_t limit)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % limit);
}

#endif
