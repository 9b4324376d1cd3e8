/* Binary search. */
#ifndef CTS_COMMON_SEARCH_H
#define CTS_COMMON_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* The place of the first of `count` ascending numbers that is not below `value`; `count`: none. */
static inline size_t cts_search_u64(const uint64_t *numbers, size_t count, uint64_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (numbers[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
