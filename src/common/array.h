/* Growing arrays of one item type: room for `needed` items at least, doubling. Failing leaves the
 * array as it was. */
#ifndef CTS_COMMON_ARRAY_H
#define CTS_COMMON_ARRAY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/promise.h"

/* *items holds *capacity items of `item_bytes` each, or is NULL with 0; both change when it grows.
 * CTS_MEMORY, also where the size would not fit. The caller frees *items. */
static inline enum cts_status cts_array_grow(void **items, size_t *capacity, size_t needed,
                                             size_t item_bytes, struct cts_error *error)
{
    assert(item_bytes && (*items || !*capacity) && needed > *capacity);
    size_t wanted = *capacity ? *capacity : 16;
    while (wanted < needed && wanted <= SIZE_MAX / 2) wanted *= 2;
    if (wanted < needed || wanted > SIZE_MAX / 2 / item_bytes)
        return cts_fail(error, CTS_MEMORY, "no memory for %zu items of %zu bytes", needed,
                        item_bytes);
    void *const grown = realloc(*items, wanted * item_bytes);
    if (!grown) return cts_fail(error, CTS_MEMORY, "no memory for %zu bytes", wanted * item_bytes);
    *items = grown;
    *capacity = wanted;
    return CTS_OK;
}

/* Makes room for `needed` items in an array with members items and capacity. */
#define CTS_ARRAY_RESERVE(array, needed, error)                                                    \
    ((array)->capacity >= (needed) ? CTS_OK                                                        \
                                   : cts_array_grow((void **)&(array)->items, &(array)->capacity,  \
                                                    (needed), sizeof *(array)->items, (error)))

/* `count` zeroed items, one at least; NULL and a description when there is no memory. */
static inline void *cts_array_zeroed(size_t count, size_t item_bytes, struct cts_error *error)
{
    void *const items = calloc(count ? count : 1, item_bytes);
    if (!items)
        (void)cts_fail(error, CTS_MEMORY, "no memory for %zu items of %zu bytes", count,
                       item_bytes);
    return items;
}

#endif
