/* Orders of CTAs: sorted by a key of their place in the grid, or as a list has them. */
#include <stdlib.h>
#include <string.h>

#include "analyze/try/try-plan.h"
#include "common/array.h"

enum { CTAS_MAX = 1 << 24 };

struct placed {
    uint64_t major, minor;
    uint32_t cta;
};

/* The bits of x and y by turns. */
static uint64_t z_order(uint32_t x, uint32_t y)
{
    uint64_t key = 0;
    for (unsigned bit = 0; bit < 32; bit++)
        key |= (uint64_t)(x >> bit & 1) << (2 * bit) | (uint64_t)(y >> bit & 1) << (2 * bit + 1);
    return key;
}

static void place(const struct cts_try_cta_order *order, const uint32_t grid[3], uint32_t cta,
                  struct placed *placed)
{
    const uint32_t x = cta % grid[0], y = cta / grid[0] % grid[1], z = cta / grid[0] / grid[1];
    const uint64_t plane = (uint64_t)z << 32;
    const uint32_t rows = order->group_rows ? order->group_rows : 1;
    *placed = (struct placed){plane, cta, cta};
    switch (order->kind) {
    case CTS_TRY_CTAS_COLUMN:
        placed->minor = (uint64_t)x << 32 | y;
        break;
    case CTS_TRY_CTAS_ZORDER:
        placed->minor = z_order(x, y);
        break;
    case CTS_TRY_CTAS_GROUPED:
        placed->major = plane | y / rows;
        placed->minor = (uint64_t)x << 32 | y % rows;
        break;
    case CTS_TRY_CTAS_ROW:
    case CTS_TRY_CTAS_LISTED:
        break;
    }
}

static int by_key(const void *left, const void *right)
{
    const struct placed *const a = left, *const b = right;
    if (a->major != b->major) return a->major < b->major ? -1 : 1;
    return (a->minor > b->minor) - (a->minor < b->minor);
}

static enum cts_status check_list(const struct cts_try_cta_order *order, uint32_t count,
                                  struct cts_error *error)
{
    if (order->cta_count != count)
        return cts_fail(error, CTS_USAGE, "'%.200s' lists %u CTAs; the launch has %u", order->name,
                        order->cta_count, count);
    bool *const seen = cts_array_zeroed(count, sizeof *seen, error);
    enum cts_status status = seen ? CTS_OK : CTS_MEMORY;
    for (uint32_t i = 0; i < count && !status; i++) {
        const uint32_t cta = order->ctas[i];
        if (cta >= count)
            status =
                cts_fail(error, CTS_USAGE, "'%.200s', entry %u: no CTA %u in a launch of %u CTAs",
                         order->name, i + 1, cta, count);
        else if (seen[cta])
            status = cts_fail(error, CTS_USAGE, "'%.200s', entry %u: CTA %u occurs twice",
                              order->name, i + 1, cta);
        else
            seen[cta] = true;
    }
    free(seen);
    return status;
}

static void sort_ctas(const struct cts_try_cta_order *order, const uint32_t grid[3],
                      struct placed *placed, uint32_t *ctas, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) place(order, grid, i, &placed[i]);
    qsort(placed, count, sizeof *placed, by_key);
    for (uint32_t i = 0; i < count; i++) ctas[i] = placed[i].cta;
}

enum cts_status cts_try_order_ctas(const struct cts_try_cta_order *order, const uint32_t grid[3],
                                   uint32_t **ctas, struct cts_error *error)
{
    const uint64_t count = (uint64_t)grid[0] * grid[1] * grid[2];
    *ctas = NULL;
    if (count > CTAS_MAX)
        return cts_fail(error, CTS_USAGE, "--cta-order takes launches of at most %d CTAs, not %llu",
                        CTAS_MAX, (unsigned long long)count);
    if (order->kind == CTS_TRY_CTAS_LISTED) {
        const enum cts_status status = check_list(order, (uint32_t)count, error);
        if (status) return status;
    }
    *ctas = cts_array_zeroed((size_t)count, sizeof **ctas, error);
    if (!*ctas) return CTS_MEMORY;
    if (order->kind == CTS_TRY_CTAS_LISTED) {
        memcpy(*ctas, order->ctas, count * sizeof **ctas);
        return CTS_OK;
    }
    struct placed *const placed = cts_array_zeroed((size_t)count, sizeof *placed, error);
    if (placed) sort_ctas(order, grid, placed, *ctas, (uint32_t)count);
    free(placed);
    return placed ? CTS_OK : CTS_MEMORY;
}
