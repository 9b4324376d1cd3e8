/* Groups in the order of first use, and a hash into them. Segments of one group mostly follow one
 * another: the last is tried first. */
#include <stdlib.h>

#include "analyze/partition/partition-model.h"
#include "common/hash.h"

static inline size_t slot_of(const struct cts_groups *groups, uint32_t place, uint32_t set,
                             uint32_t third)
{
    const uint64_t key = cts_hash_fold(third, (uint64_t)place << 32 | set);
    return (size_t)(cts_hash(key) >> 32) & (groups->slot_count - 1);
}

static enum cts_status grow(struct cts_groups *groups, struct cts_error *error)
{
    const size_t slot_count = groups->slot_count ? groups->slot_count * 2 : 256;
    uint32_t *const slots = cts_array_zeroed(slot_count, sizeof *slots, error);
    if (!slots) return CTS_MEMORY;
    free(groups->slots);
    groups->slots = slots;
    groups->slot_count = slot_count;
    for (size_t i = 0; i < groups->count; i++) {
        const struct cts_byte_group *const group = &groups->items[i];
        size_t slot = slot_of(groups, group->place, group->set, group->third);
        while (slots[slot]) slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    return CTS_OK;
}

static inline bool is(const struct cts_byte_group *group, uint32_t place, uint32_t set,
                      uint32_t third)
{
    return group->place == place && group->set == set && group->third == third;
}

struct cts_byte_group *cts_groups_at(struct cts_groups *groups, uint32_t place, uint32_t set,
                                     uint32_t third, struct cts_error *error)
{
    if (groups->count && is(&groups->items[groups->last], place, set, third))
        return &groups->items[groups->last];
    if (groups->count * 2 >= groups->slot_count && grow(groups, error)) return NULL;
    size_t slot = slot_of(groups, place, set, third);
    while (groups->slots[slot] && !is(&groups->items[groups->slots[slot] - 1], place, set, third))
        slot = (slot + 1) & (groups->slot_count - 1);
    if (!groups->slots[slot]) {
        if (CTS_ARRAY_RESERVE(groups, groups->count + 1, error)) return NULL;
        groups->items[groups->count++] =
            (struct cts_byte_group){.place = place, .set = set, .third = third};
        groups->slots[slot] = (uint32_t)groups->count;
    }
    groups->last = groups->slots[slot] - 1;
    return &groups->items[groups->last];
}

void cts_groups_clear(struct cts_groups *groups)
{
    if (groups->count * 16 < groups->slot_count) {
        for (size_t i = 0; i < groups->count; i++) { /* slots are emptied when all are found */
            const struct cts_byte_group *const group = &groups->items[i];
            size_t slot = slot_of(groups, group->place, group->set, group->third);
            while (groups->slots[slot] != i + 1) slot = (slot + 1) & (groups->slot_count - 1);
            groups->items[i].bytes = slot;
        }
        for (size_t i = 0; i < groups->count; i++) groups->slots[groups->items[i].bytes] = 0;
    } else if (groups->slot_count) {
        memset(groups->slots, 0, groups->slot_count * sizeof *groups->slots);
    }
    groups->count = groups->last = 0;
}

void cts_groups_release(struct cts_groups *groups)
{
    free(groups->items);
    free(groups->slots);
    *groups = (struct cts_groups){0};
}
