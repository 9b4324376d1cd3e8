/* A record as stretches of bytes: lanes side by side (or over one another) are one stretch, lanes
 * or rows a constant distance apart are one with a count; so that regular records are one or two
 * and only irregular ones are up to 32. */
#include "analyze/access/access-model.h"

struct list {
    struct cts_access_stretch *items;
    unsigned count;
    uint32_t width_bytes;
    bool passes_end;
};

static void add(struct list *list, uint64_t start, uint64_t length, uint64_t stride, uint32_t count)
{
    uint64_t last;
    if (__builtin_add_overflow(start, stride * (count - 1) + length, &last)) {
        list->passes_end = true;
        return;
    }
    list->items[list->count++] =
        (struct cts_access_stretch){.start = start,
                                    .length_bytes = (uint32_t)length,
                                    .stride_bytes = count > 1 ? (uint32_t)stride : 0,
                                    .count = count};
}

/* `count` stretches of `length` bytes, the first at `start` and the next `step` on: those that
 * touch are one. */
static void add_steps(struct list *list, uint64_t start, int64_t step, uint64_t length,
                      uint32_t count)
{
    const uint64_t stride = (uint64_t)(step < 0 ? -step : step);
    const uint64_t lowest = step < 0 ? start - stride * (count - 1) : start;
    if (stride <= length)
        add(list, lowest, stride * (count - 1) + length, 0, 1);
    else
        add(list, lowest, length, stride, count);
}

/* Lanes of `mask` at base + stride * lane. */
static void add_row(struct list *list, uint64_t base, int64_t stride, uint32_t mask)
{
    while (mask) {
        const unsigned first = (unsigned)__builtin_ctz(mask);
        const unsigned count = (unsigned)__builtin_ctzll(~((uint64_t)mask >> first));
        add_steps(list, base + (uint64_t)(stride * (int64_t)first), stride, list->width_bytes,
                  count);
        if (!stride) return; /* one address */
        mask &= first + count < 32 ? ~0u << (first + count) : 0;
    }
}

static void add_two_level(struct list *list, const struct cts_acc_batch *batch, size_t i)
{
    const unsigned row_lanes = batch->row_lanes[i];
    const uint32_t mask = batch->mask[i], row_mask = (UINT32_C(1) << row_lanes) - 1;
    const int64_t s0 = batch->s0[i], s1 = batch->s1[i];
    const uint64_t step = (uint64_t)(s0 < 0 ? -s0 : s0);
    if (mask == UINT32_MAX && 32 % row_lanes == 0 && step <= list->width_bytes) {
        const uint64_t length = step * (row_lanes - 1) + list->width_bytes;
        const uint64_t lowest = batch->base[i] + (uint64_t)(s0 < 0 ? s0 * (row_lanes - 1) : 0);
        add_steps(list, lowest, s1, length, 32 / row_lanes);
        return;
    }
    for (unsigned row = 0; row * row_lanes < CTS_WARP_LANES; row++)
        add_row(list, batch->base[i] + (uint64_t)(s1 * (int64_t)row), s0,
                (mask >> (row * row_lanes)) & row_mask);
}

static void add_list(struct list *list, const struct cts_acc_batch *batch, size_t i)
{
    const uint64_t base = batch->base[i];
    const uint32_t *const offsets = batch->offsets + batch->offset_start[i];
    const unsigned count = (unsigned)__builtin_popcount(batch->mask[i]);
    for (unsigned k = 0; k < count;) {
        unsigned end = k + 1;
        while (end < count && offsets[end] == (uint64_t)offsets[end - 1] + list->width_bytes) end++;
        add(list, base + offsets[k], (uint64_t)(end - k) * list->width_bytes, 0, 1);
        k = end;
    }
}

unsigned cts_access_stretches(const struct cts_acc_batch *batch, size_t i, uint32_t width_bytes,
                              struct cts_access_stretch *stretches, struct cts_error *error)
{
    struct list list = {.items = stretches, .width_bytes = width_bytes};
    const uint32_t mask = batch->mask[i];
    switch (batch->pattern[i]) {
    case CTS_PATTERN_UNIFORM:
        if (mask) add(&list, batch->base[i], width_bytes, 0, 1);
        break;
    case CTS_PATTERN_AFFINE:
        add_row(&list, batch->base[i], batch->s0[i], mask);
        break;
    case CTS_PATTERN_TWO_LEVEL:
        if (batch->row_lanes[i] >= 1 && batch->row_lanes[i] <= 31) add_two_level(&list, batch, i);
        break;
    case CTS_PATTERN_LIST:
        add_list(&list, batch, i);
        break;
    default:
        break;
    }
    if (list.passes_end) {
        (void)cts_fail(error, CTS_FORMAT, "an access of site %u extends past the address space",
                       batch->site[i]);
        return 0;
    }
    if (!list.count)
        (void)cts_fail(error, CTS_FORMAT,
                       "a record of site %u has no active lane or the unknown pattern %u",
                       batch->site[i], batch->pattern[i]);
    return list.count;
}
