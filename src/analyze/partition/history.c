/* Histories: chains of (launch, readers), newest first, that bytes share.
 *
 * The second shadow memory of a region holds the history of each byte that a kernel wrote: whoever
 * read it since. A chain of more than LENGTH_MAX entries has its two oldest united under the older
 * launch: who read it at all stays exact, when may seem longer ago than it was. */
#include "analyze/partition/partition-model.h"

enum { LENGTH_MAX = 8, TIDY_MIN = 1 << 20 };

static uint32_t new_entry(struct cts_partition_region *region, uint32_t older, uint32_t launch,
                          uint32_t set)
{
    uint32_t index = region->free_history;
    if (index) {
        region->free_history = region->history.items[index].older;
    } else {
        if (region->history.count >= CTS_WRITER_MASK) {
            (void)cts_fail(&region->error, CTS_LIMIT, "bytes have too many different readers");
            return UINT32_MAX;
        }
        if (CTS_ARRAY_RESERVE(&region->history, region->history.count + 1, &region->error))
            return UINT32_MAX;
        index = (uint32_t)region->history.count++;
    }
    region->history.items[index] =
        (struct cts_history){.older = older, .launch = launch, .set = set};
    return index;
}

/* The union of two sets as a set. */
static uint32_t unite(struct cts_partition_region *region, uint32_t one, uint32_t other)
{
    struct cts_place_sets *const sets = &region->sets;
    const struct cts_place_set a = sets->sets.items[one], b = sets->sets.items[other];
    uint32_t *const all =
        cts_array_zeroed((size_t)a.key.count + b.key.count, sizeof *all, &region->error);
    if (!all) return UINT32_MAX;
    struct cts_set_key key = {0};
    const uint32_t *const x = sets->members.items + a.first, *const y =
                                                                 sets->members.items + b.first;
    for (uint32_t i = 0, k = 0; i < a.key.count || k < b.key.count;) {
        const bool take_x = k == b.key.count || (i < a.key.count && x[i] <= y[k]);
        const uint32_t place = take_x ? x[i++] : y[k++];
        if (key.count && all[key.count - 1] == place) continue;
        all[key.count++] = place;
        const uint64_t mixed = cts_hash_draw(place);
        key.sum1 += mixed;
        key.sum2 += cts_hash_draw(mixed);
    }
    const uint32_t united = cts_place_sets_find(sets, &key, all, 0, &region->error);
    free(all);
    return united;
}

uint32_t cts_history_after(struct cts_partition_region *region, uint32_t history, uint32_t set)
{
    struct {
        uint32_t launch, set;
    } kept[LENGTH_MAX + 1];
    unsigned count = 0;
    const uint32_t now = (uint32_t)region->model->launch;
    struct cts_byte_group *const known =
        cts_groups_at(&region->memo, history, set, 0, &region->error);
    if (!known) return UINT32_MAX;
    if (known->bytes) return (uint32_t)known->bytes;
    const size_t known_index = (size_t)(known - region->memo.items);
    for (uint32_t at = history; at; at = region->history.items[at].older) {
        const struct cts_history *const entry = &region->history.items[at];
        if (cts_place_sets_includes(&region->sets, set, entry->set)) continue;
        kept[count].launch = entry->launch;
        kept[count++].set = entry->set;
    }
    if (count == LENGTH_MAX) { /* with the new one there would be one too many */
        const uint32_t united = unite(region, kept[count - 2].set, kept[count - 1].set);
        if (united == UINT32_MAX) return UINT32_MAX;
        kept[count - 2].launch = kept[count - 1].launch;
        kept[count - 2].set = united;
        count--;
    }
    uint32_t made = 0;
    while (count-- > 0) {
        made = new_entry(region, made, kept[count].launch, kept[count].set);
        if (made == UINT32_MAX) return UINT32_MAX;
    }
    made = new_entry(region, made, now, set);
    if (made != UINT32_MAX) region->memo.items[known_index].bytes = made;
    return made;
}

/* ---- tidying ---- */

static void mark(struct cts_partition_region *region, uint32_t history)
{
    for (; history && !region->history.items[history].live;
         history = region->history.items[history].older) {
        region->history.items[history].live = true;
        region->sets.sets.items[region->history.items[history].set].live = true;
    }
}

enum cts_status cts_history_tidy(struct cts_partition_region *region)
{
    const size_t members = region->sets.members.count + region->sets.sets.count;
    if (region->history.count + members < region->tidy_at) return CTS_OK;
    for (uint64_t at = 0; at < UINT64_MAX;) {
        uint32_t history;
        at = cts_shadow_run(&region->history_view, at, UINT64_MAX, &history);
        mark(region, history);
    }
    region->free_history = 0;
    for (uint32_t i = 1; i < region->history.count; i++) {
        struct cts_history *const entry = &region->history.items[i];
        if (!entry->live) {
            entry->older = region->free_history;
            region->free_history = i;
        }
        entry->live = false;
    }
    const enum cts_status status = cts_place_sets_tidy(&region->sets, &region->error);
    size_t live = region->sets.members.count + region->sets.sets.count + region->history.count;
    region->tidy_at = 2 * live > TIDY_MIN ? 2 * live : TIDY_MIN;
    return status;
}
