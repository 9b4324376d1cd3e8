/* A piece of work on several threads at once. */
#ifndef CTS_COMMON_PARALLEL_H
#define CTS_COMMON_PARALLEL_H

/* How many threads `wanted` means: itself, or one per processor this process may use for 0. */
unsigned cts_thread_count(unsigned wanted);

/* Runs work(state, index) for each index below thread_count, each on a thread of its own (the last
 * on the caller's), and returns when all have ended. Threads that the system refuses run one after
 * the other on the caller's. */
void cts_parallel(unsigned thread_count, void (*work)(void *state, unsigned index), void *state);

#endif
