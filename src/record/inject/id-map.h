/* A map from nonzero 64-bit keys to 64-bit values, 0 for none: open addressing, grows, forgets
 * nothing but values. Not locked. */
#ifndef CTS_RECORD_INJECT_ID_MAP_H
#define CTS_RECORD_INJECT_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct cts_id_map {
    struct cts_id_map_entry {
        uint64_t key, value;
    } *entries;
    size_t capacity, count; /* capacity is 0 or a power of two */
};

static inline struct cts_id_map_entry *cts_id_map_place(const struct cts_id_map *map, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 32;
    for (size_t i = (size_t)hash;; i++) {
        struct cts_id_map_entry *const entry = &map->entries[i & (map->capacity - 1)];
        if (entry->key == key || entry->key == 0) return entry;
    }
}

static inline uint64_t cts_id_map_get(const struct cts_id_map *map, uint64_t key)
{
    if (!map->capacity || !key) return 0;
    const struct cts_id_map_entry *const entry = cts_id_map_place(map, key);
    return entry->key ? entry->value : 0;
}

/* False: no memory; the map is as it was. */
static inline bool cts_id_map_set(struct cts_id_map *map, uint64_t key, uint64_t value)
{
    if (!key) return false;
    if (2 * (map->count + 1) > map->capacity) {
        const size_t capacity = map->capacity ? 2 * map->capacity : 64;
        struct cts_id_map grown = {.entries = calloc(capacity, sizeof *grown.entries),
                                   .capacity = capacity};
        if (!grown.entries) return false;
        for (size_t i = 0; i < map->capacity; i++) {
            if (!map->entries[i].key) continue;
            *cts_id_map_place(&grown, map->entries[i].key) = map->entries[i];
            grown.count++;
        }
        free(map->entries);
        *map = grown;
    }
    struct cts_id_map_entry *const entry = cts_id_map_place(map, key);
    if (!entry->key) map->count++;
    entry->key = key;
    entry->value = value;
    return true;
}

#endif
