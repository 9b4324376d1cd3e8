/* Op numbers and the rows of calls: the lowest part of a recording. */
#ifndef CTS_CPU_RECORD_OP_H
#define CTS_CPU_RECORD_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/catalogue.h"

/* From now on, until it is closed, rows are written. For record.c. */
void cts_record_open(struct cts_catalogue_writer *catalogue);
void cts_record_close(void);
bool cts_record_is_on(void);

/* The next op number, and its row in `calls`, for `thread`; `stream`: CTS_NONE or of stream-ordered
 * memory. What the host has accessed before is not booked: see cts_hosts_op(). */
uint64_t cts_record_op_of(uint32_t thread, uint32_t stream);
/* The number of this host thread, from 0 in the order of their first calls. */
uint32_t cts_record_thread(void);

void cts_record_message(const char *severity, const char *text);

/* How deep the calling thread is in code that holds the recorder's locks. */
extern __thread unsigned cts_record_depth;

#endif
