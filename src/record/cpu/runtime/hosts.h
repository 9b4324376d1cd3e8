/* The host's accesses of memory that it shares with the device. */
#ifndef CTS_CPU_HOSTS_H
#define CTS_CPU_HOSTS_H

#include <stdbool.h>

#include "trace/catalogue.h"

void cts_hosts_start(struct cts_catalogue_writer *catalogue);

/* Writes the ranges noted since the last time, under an op number of their own. */
void cts_hosts_flush(void);

/* The next op number and its row in `calls`; what all threads have accessed so far is written
 * before it. `stream`: CTS_NONE or of stream-ordered memory. */
uint64_t cts_hosts_op(uint32_t stream);

/* Written at once are the ranges of the calling thread's ranges, for those of all threads: before a
 * thread tells another one what it has done. False: not now, the thread is inside the runtime (a
 * signal's handler asks), or nothing is recorded. */
bool cts_hosts_book(void);
bool cts_hosts_book_all(void);

#endif
