/*
 * How much a test tries: a few in the gate, all under `./run test --long`, which sets
 * CTS_TEST_LONG.
 */
#ifndef CTS_TESTS_COUNT_H
#define CTS_TESTS_COUNT_H

#include <stdlib.h>

#if defined(__SANITIZE_THREAD__)
#define CTS_TESTS_UNDER_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define CTS_TESTS_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CTS_TESTS_UNDER_TSAN 1
#elif __has_feature(address_sanitizer)
#define CTS_TESTS_UNDER_ASAN 1
#endif
#endif

/*
 * At the beginning of a test of cmocka whose calls start no thread: the thread sanitizer, which
 * makes them ten times as slow, has nothing to see there.
 */
#ifdef CTS_TESTS_UNDER_TSAN
#define CTS_TEST_STARTS_NO_THREAD() skip()
#else
#define CTS_TEST_STARTS_NO_THREAD() ((void)0)
#endif

/*
 * How many random programs, mutants, ... to try: `quick` in the gate, `full` under --long. Wrong
 * numbers are what the build without sanitizers looks for, with all of `quick`. The thread
 * sanitizer, ten times as slow, looks for races, which any of them has: an eighth. The address
 * sanitizer, three times as slow, looks for what code does out of bounds, which hardly depends on
 * the numbers: a sixth; damaged and hostile files, where it does, have fuzz targets besides. So
 * does a test that runs a second time, for the arena that analyses take their memory from
 * (CTS_TEST_ARENA).
 */
static inline unsigned cts_test_count(unsigned quick, unsigned full)
{
    const char *const chosen = getenv("CTS_TEST_LONG");
    if (chosen && *chosen && *chosen != '0') return full;
#ifdef CTS_TESTS_UNDER_TSAN
    return (quick + 7) / 8;
#elif defined(CTS_TESTS_UNDER_ASAN)
    return (quick + 5) / 6;
#else
    const char *const again = getenv("CTS_TEST_ARENA");
    return again && *again ? (quick + 5) / 6 : quick;
#endif
}

#endif
