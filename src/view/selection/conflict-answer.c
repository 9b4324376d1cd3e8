/* The memory of an answer about conflicts. */
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "view/selection/conflict.h"

void cts_selection_conflicts_release(struct cts_selection_conflicts *conflicts)
{
    for (size_t c = 0; conflicts->items && c < conflicts->count; c++)
        free(conflicts->items[c].touches);
    free(conflicts->items);
    *conflicts = (struct cts_selection_conflicts){0};
}

enum cts_status cts_conflict_copy(const struct cts_selection_conflicts *from, size_t count,
                                  struct cts_selection_conflicts *to, struct cts_error *error)
{
    if (count > from->count) count = from->count;
    to->total = from->total;
    to->items = cts_array_zeroed(count, sizeof *to->items, error);
    if (!to->items) return CTS_MEMORY;
    for (; to->count < count; to->count++) {
        struct cts_selection_conflict *const item = &to->items[to->count];
        *item = from->items[to->count];
        item->touches = cts_array_zeroed(item->touch_count, sizeof *item->touches, error);
        if (!item->touches) return CTS_MEMORY;
        if (item->touch_count)
            memcpy(item->touches, from->items[to->count].touches,
                   item->touch_count * sizeof *item->touches);
    }
    return CTS_OK;
}
