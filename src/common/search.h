/* Binary search. */
#ifndef CTS_COMMON_SEARCH_H
#define CTS_COMMON_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* The index of the first of `count` ordered items for which `is_before` is false, an expression of
 * the index `i`: it is true for some items at the front and false for all behind them. `count`:
 * true for all. */
#define CTS_SEARCH(count, i, is_before)                                                            \
    __extension__({                                                                                \
        size_t search_low = 0, search_high = (count);                                              \
        while (search_low < search_high) {                                                         \
            const size_t i = search_low + (search_high - search_low) / 2;                          \
            if (is_before)                                                                         \
                search_low = i + 1;                                                                \
            else                                                                                   \
                search_high = i;                                                                   \
        }                                                                                          \
        search_low;                                                                                \
    })

/* The place of the first of `count` ascending numbers that is not below `value`; `count`: none. */
static inline size_t cts_search_u64(const uint64_t *numbers, size_t count, uint64_t value)
{
    return CTS_SEARCH(count, i, numbers[i] < value);
}

#endif
