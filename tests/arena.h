/* For twins that run a second time with the memory of what they test in the arena
 * (common/memory-limit.h), as CTS_TEST_ARENA in the environment asks. */
#ifndef CTS_TESTS_ARENA_H
#define CTS_TESTS_ARENA_H

#include <stdio.h>
#include <stdlib.h>

#include "common/memory-limit.h"

#ifdef CTS_MEMORY_WRAP
#include "common/wrap/memory-wrap.h"

static inline void use_arena_if_asked(void)
{
    struct cts_error error;
    const struct cts_memory_options options = {.plain = &cts_memory_plain,
                                               .limit_bytes = UINT64_C(1) << 30,
                                               .block_bytes = 1 << 16,
                                               .all_to_arena = true};
    if (!getenv("CTS_TEST_ARENA")) return;
    if (!cts_memory_limit_begin(&options, &error)) return;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}
#else
static inline void use_arena_if_asked(void) {}
#endif

#endif
