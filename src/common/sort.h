/* Sorting of what is mostly in order, short, or keyed by numbers with few differing bytes. */
#ifndef CTS_COMMON_SORT_H
#define CTS_COMMON_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts numbers and leaves each once; returns how many are left. */
size_t cts_sort_distinct_u32(uint32_t *numbers, size_t count);

#endif
