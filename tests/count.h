/*
 * How much a test tries: a few in the gate, all under `./run test --long`, which sets
 * CTS_TEST_LONG.
 */
#ifndef CTS_TESTS_COUNT_H
#define CTS_TESTS_COUNT_H

#include <stdlib.h>

/* How many random programs, mutants, ... to try: `quick` in the gate, `full` under --long. */
static inline unsigned cts_test_count(unsigned quick, unsigned full)
{
    const char *const chosen = getenv("CTS_TEST_LONG");
    return chosen && *chosen && *chosen != '0' ? full : quick;
}

#endif
