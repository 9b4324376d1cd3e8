#include "analyze/flow/flow-freed.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/order/clocks.h"
#include "common/array.h"
#include "common/search.h"

static uint32_t *copy_clock(const struct cts_flow_freed *freed, const uint32_t *clock,
                            struct cts_error *error)
{
    uint32_t *const copy = cts_array_zeroed(freed->width, sizeof *copy, error);
    if (copy) memcpy(copy, clock, freed->width * sizeof *clock);
    return copy;
}

static void insert(struct cts_flow_freed *freed, size_t at, const struct cts_freed_stretch *stretch)
{
    memmove(freed->items + at + 1, freed->items + at, (freed->count - at) * sizeof *freed->items);
    freed->items[at] = *stretch;
    freed->count++;
}

/* Cuts a stretch in two at `address`, if one lies across it; there is room for one more. */
static enum cts_status cut(struct cts_flow_freed *freed, uint64_t address, struct cts_error *error)
{
    const size_t at = CTS_SEARCH(freed->count, i, freed->items[i].end <= address);
    if (at == freed->count || freed->items[at].start >= address) return CTS_OK;
    uint32_t *const clock = copy_clock(freed, freed->items[at].clock, error);
    if (!clock) return CTS_MEMORY;
    const struct cts_freed_stretch tail = {address, freed->items[at].end, clock};
    freed->items[at].end = address;
    insert(freed, at + 1, &tail);
    return CTS_OK;
}

enum cts_status cts_flow_freed_set(struct cts_flow_freed *freed, uint64_t start, uint64_t end,
                                   const uint32_t *clock, struct cts_error *error)
{
    enum cts_status status = CTS_ARRAY_RESERVE(freed, freed->count + 3, error);
    if (!status) status = cut(freed, start, error);
    if (!status) status = cut(freed, end, error);
    if (status) return status;
    uint32_t *const kept = copy_clock(freed, clock, error);
    if (!kept) return CTS_MEMORY;
    const size_t low = CTS_SEARCH(freed->count, i, freed->items[i].end <= start);
    size_t high = low;
    while (high < freed->count && freed->items[high].start < end) high++;
    for (size_t i = low; i < high; i++) free(freed->items[i].clock);
    memmove(freed->items + low, freed->items + high, (freed->count - high) * sizeof *freed->items);
    freed->count -= high - low;
    insert(freed, low, &(struct cts_freed_stretch){start, end, kept});
    return CTS_OK;
}

void cts_flow_freed_join(const struct cts_flow_freed *freed, uint64_t start, uint64_t end,
                         uint32_t *clock)
{
    for (size_t i = CTS_SEARCH(freed->count, k, freed->items[k].end <= start);
         i < freed->count && freed->items[i].start < end; i++)
        cts_clock_join(clock, freed->items[i].clock, freed->width);
}

void cts_flow_freed_release(struct cts_flow_freed *freed)
{
    for (size_t i = 0; i < freed->count; i++) free(freed->items[i].clock);
    free(freed->items);
    *freed = (struct cts_flow_freed){0};
}
