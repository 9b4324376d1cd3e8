#include "common/map.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"
#include "common/promise.h"

void cts_map_release(struct cts_map *map)
{
    free(map->entries);
    free(map->used);
    *map = (struct cts_map){0};
}

/* Where `key` is or would be. */
static size_t slot_of(const struct cts_map *map, uint64_t key)
{
    assert(cts_is_power_of_two(map->capacity) && map->count < map->capacity); /* it ends */
    size_t slot = (size_t)(cts_hash(key) >> 32) & (map->capacity - 1);
    while (map->used[slot] && map->entries[slot].key != key)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

static enum cts_status grow(struct cts_map *map, struct cts_error *error)
{
    struct cts_map larger = {.capacity = map->capacity ? map->capacity * 2 : 16};
    larger.entries = cts_array_zeroed(larger.capacity, sizeof *larger.entries, error);
    larger.used = cts_array_zeroed(larger.capacity, 1, error);
    if (!larger.entries || !larger.used) {
        cts_map_release(&larger);
        return CTS_MEMORY;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->used[i]) continue;
        const size_t slot = slot_of(&larger, map->entries[i].key);
        larger.entries[slot] = map->entries[i];
        larger.used[slot] = 1;
    }
    larger.count = map->count;
    cts_map_release(map);
    *map = larger;
    return CTS_OK;
}

uint64_t *cts_map_at(struct cts_map *map, uint64_t key, struct cts_error *error)
{
    if (map->count * 2 >= map->capacity && grow(map, error)) return NULL;
    const size_t slot = slot_of(map, key);
    if (!map->used[slot]) {
        map->used[slot] = 1;
        map->entries[slot] = (struct cts_map_entry){.key = key};
        map->count++;
    }
    return &map->entries[slot].value;
}

const uint64_t *cts_map_find(const struct cts_map *map, uint64_t key)
{
    if (!map->count) return NULL;
    const size_t slot = slot_of(map, key);
    return map->used[slot] ? &map->entries[slot].value : NULL;
}

static int by_key(const void *left, const void *right)
{
    const struct cts_map_entry *const a = left, *const b = right;
    return (a->key > b->key) - (a->key < b->key);
}

struct cts_map_entry *cts_map_sorted(const struct cts_map *map, struct cts_error *error)
{
    struct cts_map_entry *const sorted = cts_array_zeroed(map->count, sizeof *sorted, error);
    if (!sorted) return NULL;
    size_t count = 0;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->used[i]) sorted[count++] = map->entries[i];
    assert(count == map->count);
    qsort(sorted, count, sizeof *sorted, by_key);
    return sorted;
}

void cts_text_map_release(struct cts_text_map *map)
{
    cts_map_release(&map->index);
    free(map->items);
    *map = (struct cts_text_map){0};
}

uint64_t *cts_text_map_at(struct cts_text_map *map, const char *text, struct cts_error *error)
{
    assert(text);
    if (CTS_ARRAY_RESERVE(map, map->count + 1, error)) return NULL;
    for (uint64_t hash = cts_hash_text(CTS_HASH_START, text);; hash++) {
        uint64_t *const item = cts_map_at(&map->index, hash, error);
        if (!item) return NULL;
        if (!*item) {
            map->items[map->count++] = (struct cts_text_map_item){.text = text};
            *item = map->count;
        }
        if (strcmp(map->items[*item - 1].text, text) == 0) return &map->items[*item - 1].value;
    }
}
