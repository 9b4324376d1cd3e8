#include "analyze/order/clocks.h"

#include <stdbool.h>
#include <string.h>

#include "common/array.h"

enum cts_status cts_clock_append(struct cts_clock_list *list, const uint32_t *clock, uint32_t width,
                                 size_t *place, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(list, list->count + width, error)) return CTS_MEMORY;
    memcpy(list->items + list->count, clock, width * sizeof *clock);
    *place = list->count;
    list->count += width;
    return CTS_OK;
}

enum cts_status cts_clock_keep(struct cts_clock_list *list, const struct cts_chain_clock *of,
                               size_t *last, struct cts_error *error)
{
    if (*last != SIZE_MAX) {
        const uint32_t *const kept = list->items + *last;
        bool is_same = true;
        for (uint32_t i = 0; is_same && i < of->width; i++)
            is_same = i == of->chain || kept[i] == of->clock[i];
        if (is_same) return CTS_OK;
    }
    return cts_clock_append(list, of->clock, of->width, last, error);
}
