/* What is known to have happened, as ops of threads: of each thread all below an op, its end.
 *
 * Memory is mapped, never taken from malloc(): an allocator may take locks, whose functions are
 * ours. Nothing here locks: the caller does. */
#ifndef CTS_RECORD_WRAPPERS_THREADS_KNOWN_H
#define CTS_RECORD_WRAPPERS_THREADS_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory, and back; NULL: none left. Sizes are rounded up to powers of two. */
void *cts_threads_take(size_t size_bytes);
void cts_threads_give(void *memory, size_t size_bytes);

struct cts_known_ops {
    uint64_t end; /* ops below it */
    uint32_t thread;
};
/* Ascending threads. Zero-initialise. */
struct cts_known {
    struct cts_known_ops *items;
    uint32_t count, capacity;
};
void cts_known_release(struct cts_known *known);

/* Whether it is news. Without memory nothing is added, which leaves order unknown. */
bool cts_known_add(struct cts_known *known, uint32_t thread, uint64_t end);
/* 0: no op of `thread`. */
uint64_t cts_known_of(const struct cts_known *known, uint32_t thread);

#endif
