/* Checksums of what the program leaves in memory, for whoever compares two runs of it
 * (CTASCOPE_MEMORY_SUMS): one line for each allocation when it is freed, and for each that is there
 * at the end of the process. Device, managed and pinned memory and device variables; what
 * cudaHostRegister() names may be gone already. */
#ifndef CTS_CPU_MEMORY_SUMS_H
#define CTS_CPU_MEMORY_SUMS_H

#include "range.h"

/* False: the file cannot be written. NULL: nothing is asked for. `path` must stay. */
bool cts_memory_sums_start(const char *path);

/* Appends a range's line: "free|end KIND DEVICE SIZE_BYTES CHECKSUM VARIABLE". */
void cts_memory_sum(const char *when, const struct cts_range *range);

#endif
