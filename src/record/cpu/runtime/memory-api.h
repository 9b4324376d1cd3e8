/* Allocating and freeing, for the other files of the runtime. */
#ifndef CTS_CPU_MEMORY_H
#define CTS_CPU_MEMORY_H

#include "range.h"
#include "runtime.h"

/* New memory in the current device's ranges and in the recording; size 0 gives NULL. `call` is
 * the API function's name. */
cudaError_t cts_memory_allocate(enum cts_range_kind kind, uint64_t size_bytes, unsigned flags,
                                const char *call, void **pointer);

/* Frees the range that begins at `pointer` and is of one of `kinds` (bits 1 << kind). */
cudaError_t cts_memory_free(const void *pointer, unsigned kinds);

#endif
