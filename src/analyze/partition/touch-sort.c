/* From touches in any order to runs of bytes that the same CTAs touch.
 *
 * A sweep meets the starts and the ends of touches in order of address and keeps the CTAs that
 * touch the current byte: a list, and the sums by which their set is known, which change by one
 * term where a CTA comes or goes. A CTA may touch a byte twice (parts of it from several chunks);
 * it counts until the last of its touches ends. */
#include <stdlib.h>

#include "analyze/partition/partition-model.h"
#include "common/radix.h"

#define START_OF(touch) ((touch)->start)
CTS_RADIX_SORT(sort_touches, struct cts_touch, START_OF, 11)

/* Sorts touches by address. */
static enum cts_status sort(struct cts_touches *touches, struct cts_touches *scratch,
                            struct cts_error *error)
{
    const size_t count = touches->count;
    bool descending = false;
    for (size_t i = 1; i < count; i++)
        descending |= touches->items[i].start < touches->items[i - 1].start;
    if (!descending) return CTS_OK;
    if (count > CTS_RADIX_FEW && CTS_ARRAY_RESERVE(scratch, count, error)) return CTS_MEMORY;
    if (sort_touches(touches->items, scratch->items, count) == touches->items) return CTS_OK;
    scratch->count = count;
    const struct cts_touches swapped = *touches;
    *touches = *scratch;
    *scratch = swapped;
    return CTS_OK;
}

struct active {
    struct cts_partition_region *region;
    uint32_t first_place;
    struct cts_set_key key;
};

static inline void come(struct active *a, uint32_t cta)
{
    struct cts_partition_region *const r = a->region;
    if (r->active_count[cta]++) return;
    const uint64_t mixed = cts_hash_draw(a->first_place + (uint64_t)cta);
    r->active_at[cta] = a->key.count;
    r->active[a->key.count++] = cta;
    a->key.sum1 += mixed;
    a->key.sum2 += cts_hash_draw(mixed);
}

static inline void go(struct active *a, uint32_t cta)
{
    struct cts_partition_region *const r = a->region;
    if (--r->active_count[cta]) return;
    const uint64_t mixed = cts_hash_draw(a->first_place + (uint64_t)cta);
    const uint32_t last = r->active[--a->key.count];
    r->active[r->active_at[cta]] = last;
    r->active_at[last] = r->active_at[cta];
    a->key.sum1 -= mixed;
    a->key.sum2 -= cts_hash_draw(mixed);
}

/* Ends of sorted touches, sorted, as touches that start there. */
static enum cts_status sort_ends(struct cts_partition_region *region,
                                 const struct cts_touches *touches)
{
    struct cts_touches *const ends = &region->sorted;
    if (CTS_ARRAY_RESERVE(ends, touches->count, &region->error)) return CTS_MEMORY;
    for (size_t i = 0; i < touches->count; i++)
        ends->items[i] = (struct cts_touch){
            touches->items[i].start + touches->items[i].length_bytes, 0, touches->items[i].cta};
    ends->count = touches->count;
    return sort(ends, &region->scratch, &region->error);
}

static enum cts_status need_active(struct cts_partition_region *region)
{
    const struct cts_partition_model *const model = region->model;
    const size_t needed = model->plan.launches[model->launch].cta_count;
    if (needed <= region->active_capacity) return CTS_OK;
    free(region->active);
    free(region->active_at);
    free(region->active_count);
    region->active_capacity = 0;
    region->active = cts_array_zeroed(needed, sizeof(uint32_t), &region->error);
    region->active_at = cts_array_zeroed(needed, sizeof(uint32_t), &region->error);
    region->active_count = cts_array_zeroed(needed, sizeof(uint32_t), &region->error);
    if (!region->active || !region->active_at || !region->active_count) return CTS_MEMORY;
    region->active_capacity = needed;
    return CTS_OK;
}

static inline bool same(const struct cts_set_key *a, const struct cts_set_key *b)
{
    return a->sum1 == b->sum1 && a->sum2 == b->sum2 && a->count == b->count;
}

enum cts_status cts_region_sweep(struct cts_partition_region *region, struct cts_touches *touches,
                                 uint32_t first_place,
                                 enum cts_status (*act)(struct cts_partition_region *region,
                                                        uint64_t start, uint64_t end, uint32_t set))
{
    if (!touches->count) return CTS_OK;
    enum cts_status status = need_active(region);
    if (!status) status = sort(touches, &region->scratch, &region->error);
    if (!status) status = sort_ends(region, touches);
    if (status) return status;
    struct active a = {.region = region, .first_place = first_place};
    const struct cts_touch *const starts = touches->items, *const ends = region->sorted.items;
    const size_t count = touches->count;
    struct cts_set_key run_key = {0};
    uint64_t run_start = 0, run_end = 0, at = 0;
    uint32_t run_set = 0;
    for (size_t i = 0, k = 0, step = 0; k < count; step++) {
        if (cts_access_source_pause(region->model->plan.source, step, &region->error))
            return region->error.status;
        const uint64_t next =
            i < count && starts[i].start < ends[k].start ? starts[i].start : ends[k].start;
        if (at < next && a.key.count) {
            if (!(run_key.count && run_end == at && same(&run_key, &a.key))) {
                if (run_key.count) status = act(region, run_start, run_end, run_set);
                if (status) return status;
                run_set = cts_place_sets_find(&region->sets, &a.key, region->active, first_place,
                                              &region->error);
                if (run_set == UINT32_MAX) return region->error.status;
                run_key = a.key;
                run_start = at;
            }
            run_end = next;
        }
        at = next;
        while (k < count && ends[k].start == at) go(&a, ends[k++].cta);
        while (i < count && starts[i].start == at) come(&a, starts[i++].cta);
    }
    return run_key.count ? act(region, run_start, run_end, run_set) : CTS_OK;
}
