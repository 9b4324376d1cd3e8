/* Allocation that cannot fail, and a hash map of pointers: open addressing with linear probing, at
 * most two thirds full. */
#include "record/instrument/pass-memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/hash.h"

static void out_of_memory(void)
{
    fputs("ctascope: the compiler pass ran out of memory\n", stderr);
    abort();
}

void *cts_plugin_allocate(size_t count, size_t item_bytes)
{
    void *items = calloc(count ? count : 1, item_bytes);
    if (!items) out_of_memory();
    return items;
}

void *cts_plugin_grow(void *items, size_t count, size_t *capacity, size_t item_bytes)
{
    if (count < *capacity) return items;
    *capacity = *capacity ? 2 * *capacity : 16;
    items = reallocarray(items, *capacity, item_bytes);
    if (!items) out_of_memory();
    return items;
}

char *cts_plugin_text(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) out_of_memory();
    return text;
}

static size_t slot_of(const struct cts_pointer_map *map, const void *key)
{
    size_t slot = (size_t)(cts_hash((uintptr_t)key) >> 20) & (map->capacity - 1);
    while (map->entries[slot].key && map->entries[slot].key != key)
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

uint64_t *cts_pointer_map_find(const struct cts_pointer_map *map, const void *key)
{
    if (!map->capacity) return NULL;
    struct cts_pointer_map_entry *entry = &map->entries[slot_of(map, key)];
    return entry->key ? &entry->value : NULL;
}

static void enlarge(struct cts_pointer_map *map)
{
    struct cts_pointer_map larger = {.capacity = map->capacity ? 2 * map->capacity : 64};
    larger.entries = cts_plugin_allocate(larger.capacity, sizeof *larger.entries);
    larger.count = map->count;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key)
            larger.entries[slot_of(&larger, map->entries[i].key)] = map->entries[i];
    free(map->entries);
    *map = larger;
}

uint64_t *cts_pointer_map_insert(struct cts_pointer_map *map, const void *key)
{
    if (3 * (map->count + 1) > 2 * map->capacity) enlarge(map);
    struct cts_pointer_map_entry *entry = &map->entries[slot_of(map, key)];
    if (!entry->key) {
        entry->key = key;
        map->count++;
    }
    return &entry->value;
}

void cts_pointer_map_release(struct cts_pointer_map *map)
{
    free(map->entries);
    *map = (struct cts_pointer_map){0};
}
