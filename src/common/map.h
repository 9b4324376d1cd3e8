/* A hash map from u64 to u64, and one from texts: open addressing, linear probing, no removal.
 * Zero-initialise. */
#ifndef CTS_COMMON_MAP_H
#define CTS_COMMON_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct cts_map_entry {
    uint64_t key;
    uint64_t value;
};

struct cts_map {
    struct cts_map_entry *entries;
    uint8_t *used;
    size_t capacity; /* 0 or a power of two */
    size_t count;
};

void cts_map_release(struct cts_map *map);

/* The value of `key`, made as 0 when it is new; valid until the next call. NULL: no memory. */
uint64_t *cts_map_at(struct cts_map *map, uint64_t key, struct cts_error *error);

/* The value of `key` or NULL. */
const uint64_t *cts_map_find(const struct cts_map *map, uint64_t key);

/* All entries by ascending key in a new array of map->count that the caller frees; NULL: no memory.
 */
struct cts_map_entry *cts_map_sorted(const struct cts_map *map, struct cts_error *error);

struct cts_text_map {
    struct cts_map index; /* by hash: its item + 1 */
    struct cts_text_map_item {
        const char *text; /* the caller's */
        uint64_t value;
    } *items;
    size_t count, capacity;
};

void cts_text_map_release(struct cts_text_map *map);

/* The value of `text`, made as 0 when it is new, and then `text` must live as long as the map;
 * valid until the next call. NULL: no memory. */
uint64_t *cts_text_map_at(struct cts_text_map *map, const char *text, struct cts_error *error);

#endif
