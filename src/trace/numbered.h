/* Directories whose entries are numbered: rank-N, K.acc. */
#ifndef CTS_TRACE_NUMBERED_H
#define CTS_TRACE_NUMBERED_H

#include "common/buffer.h"

/* Appends to `numbers` (uint32_t), in ascending order, those of the directory's entries whose name
 * is PREFIX, a number as it is normally written, SUFFIX. CTS_IO, CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_list_numbers(const char *path, const char *prefix,
                                                const char *suffix, struct cts_buffer *numbers,
                                                struct cts_error *error);

#endif
