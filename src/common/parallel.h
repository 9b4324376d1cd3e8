/* A piece of work on several threads at once. */
#ifndef CTS_COMMON_PARALLEL_H
#define CTS_COMMON_PARALLEL_H

#include <stddef.h>

#include "common/error.h"

/* How many threads `wanted` means: itself, or one per processor this process may use for 0. */
unsigned cts_thread_count(unsigned wanted);

/* Runs work(state, index) for each index below thread_count, each on a thread of its own (the last
 * on the caller's), and returns when all have ended. Threads that the system refuses run one after
 * the other on the caller's. */
void cts_parallel(unsigned thread_count, void (*work)(void *state, unsigned index), void *state);

/* Runs work(state, thread, item, error) once for each item below item_count, on at most
 * thread_count threads (at least one), which claim items in ascending order; `thread` is below
 * thread_count. After a failure no more items are claimed. Returns the failure of the lowest item
 * that failed, which does not depend on the number of threads: all items below it have succeeded.
 * `error` may be NULL. */
CTS_MUST_CHECK enum cts_status cts_for_each(size_t item_count, unsigned thread_count,
                                            enum cts_status (*work)(void *state, unsigned thread,
                                                                    size_t item,
                                                                    struct cts_error *error),
                                            void *state, struct cts_error *error);

#endif
