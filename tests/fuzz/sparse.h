/* Some of what a target tries takes a hundred times as long as the rest: only a few inputs get it.
 * Which ones, their bytes say, but in no way that libFuzzer could learn: it would prefer them. The
 * replay, which has no libFuzzer to wait for it, tries it with every input. */
#ifndef CTS_TESTS_SPARSE_H
#define CTS_TESTS_SPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of how many inputs; a power of two. */
static inline bool is_one_of(unsigned many, const uint8_t *data, size_t size)
{
#ifdef CTS_FUZZ_REPLAY
    (void)many, (void)data, (void)size;
    return true;
#else
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
    return (hash ^ hash >> 32) % many == 0;
#endif
}

#endif
