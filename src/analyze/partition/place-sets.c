/* Sets are found by the sums of their members' hashes; only a new one needs its members in order.
 * Two different sets of equal sums would be taken for one: with 128 bits, the chance over a run of
 * a billion sets is below 10^-20. */
#include <stdlib.h>

#include "analyze/partition/partition-model.h"

static inline size_t slot_of(const struct cts_place_sets *sets, const struct cts_set_key *key)
{
    return (size_t)(key->sum1 & (sets->slot_count - 1));
}

static bool equal(const struct cts_set_key *a, const struct cts_set_key *b)
{
    return a->sum1 == b->sum1 && a->sum2 == b->sum2 && a->count == b->count;
}

/* A table of `slot_count` slots for all sets that there are. */
static enum cts_status make_slots(struct cts_place_sets *sets, size_t slot_count,
                                  struct cts_error *error)
{
    uint32_t *const slots = cts_array_zeroed(slot_count, sizeof *slots, error);
    if (!slots) return CTS_MEMORY;
    free(sets->slots);
    sets->slots = slots;
    sets->slot_count = slot_count;
    for (size_t i = 0; i < sets->sets.count; i++) {
        if (!sets->sets.items[i].key.count) continue; /* dropped */
        size_t slot = slot_of(sets, &sets->sets.items[i].key);
        while (slots[slot]) slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    return CTS_OK;
}

static int by_place(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void sort_places(uint32_t *places, uint32_t count)
{
    if (count > 24) {
        qsort(places, count, sizeof *places, by_place);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t place = places[i];
        uint32_t k = i;
        for (; k > 0 && places[k - 1] > place; k--) places[k] = places[k - 1];
        places[k] = place;
    }
}

static uint32_t add_set(struct cts_place_sets *sets, const struct cts_set_key *key,
                        const uint32_t *places, uint32_t base, struct cts_error *error)
{
    const size_t first = sets->members.count;
    if (sets->sets.count >= UINT32_MAX - 1 || first + key->count > UINT32_MAX) {
        (void)cts_fail(error, CTS_LIMIT, "too many different sets of CTAs share bytes");
        return UINT32_MAX;
    }
    if (CTS_ARRAY_RESERVE(&sets->members, first + key->count, error) ||
        CTS_ARRAY_RESERVE(&sets->sets, sets->sets.count + 1, error))
        return UINT32_MAX;
    uint32_t *const members = sets->members.items + first;
    for (uint32_t i = 0; i < key->count; i++) members[i] = base + places[i];
    sort_places(members, key->count);
    sets->members.count += key->count;
    const uint32_t made = sets->free ? sets->free - 1 : (uint32_t)sets->sets.count++;
    if (sets->free) sets->free = sets->sets.items[made].first;
    sets->sets.items[made] = (struct cts_place_set){.key = *key, .first = (uint32_t)first};
    return made;
}

uint32_t cts_place_sets_find(struct cts_place_sets *sets, const struct cts_set_key *key,
                             const uint32_t *places, uint32_t base, struct cts_error *error)
{
    if ((sets->sets.count + 1) * 2 > sets->slot_count &&
        make_slots(sets, sets->slot_count ? sets->slot_count * 2 : 1024, error))
        return UINT32_MAX;
    size_t slot = slot_of(sets, key);
    for (; sets->slots[slot]; slot = (slot + 1) & (sets->slot_count - 1))
        if (equal(&sets->sets.items[sets->slots[slot] - 1].key, key)) return sets->slots[slot] - 1;
    const uint32_t made = add_set(sets, key, places, base, error);
    if (made != UINT32_MAX) sets->slots[slot] = made + 1;
    return made;
}

bool cts_place_sets_includes(const struct cts_place_sets *sets, uint32_t outer, uint32_t inner)
{
    const struct cts_place_set *const a = &sets->sets.items[outer];
    const struct cts_place_set *const b = &sets->sets.items[inner];
    const uint32_t *const big = sets->members.items + a->first;
    const uint32_t *const small = sets->members.items + b->first;
    if (outer == inner) return true;
    if (b->key.count > a->key.count) return false;
    uint32_t k = 0;
    for (uint32_t i = 0; i < b->key.count; i++, k++) {
        while (k < a->key.count && big[k] < small[i]) k++;
        if (k == a->key.count || big[k] != small[i]) return false;
    }
    return true;
}

enum cts_status cts_place_sets_tidy(struct cts_place_sets *sets, struct cts_error *error)
{
    size_t kept = 0;
    for (size_t i = 0; i < sets->sets.count; i++)
        if (sets->sets.items[i].live) kept += sets->sets.items[i].key.count;
    uint32_t *const members = cts_array_zeroed(kept, sizeof *members, error);
    if (!members) return CTS_MEMORY;
    sets->free = 0;
    kept = 0;
    for (size_t i = 0; i < sets->sets.count; i++) {
        struct cts_place_set *const set = &sets->sets.items[i];
        if (set->live) {
            memcpy(members + kept, sets->members.items + set->first,
                   set->key.count * sizeof *members);
            set->first = (uint32_t)kept;
            kept += set->key.count;
            set->live = false;
        } else {
            *set = (struct cts_place_set){.first = sets->free};
            sets->free = (uint32_t)i + 1;
        }
    }
    free(sets->members.items);
    sets->members.items = members;
    sets->members.count = sets->members.capacity = kept;
    return make_slots(sets, sets->slot_count ? sets->slot_count : 1024, error);
}

void cts_place_sets_release(struct cts_place_sets *sets)
{
    free(sets->sets.items);
    free(sets->members.items);
    free(sets->slots);
    *sets = (struct cts_place_sets){0};
}
