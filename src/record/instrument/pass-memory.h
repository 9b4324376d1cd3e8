/* Memory for the passes. A compiler pass has no way to fail that its user could act upon, so
 * running out of memory ends the compiler, as LLVM's own allocations do. */
#ifndef CTS_INSTRUMENT_MEMORY_H
#define CTS_INSTRUMENT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed; for free(). */
void *cts_plugin_allocate(size_t count, size_t item_bytes);

/* Makes room for one more item in a growing array: `*items` has `count` of `*capacity`. */
void *cts_plugin_grow(void *items, size_t count, size_t *capacity, size_t item_bytes);

/* Text by a printf format; for free(). */
char *cts_plugin_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A map from pointers (LLVM's values, metadata, ...) to integers. Zero-initialised is empty. */
struct cts_pointer_map {
    struct cts_pointer_map_entry {
        const void *key;
        uint64_t value;
    } *entries;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* The value of `key`; NULL when it is not there. Valid until the next insertion. */
uint64_t *cts_pointer_map_find(const struct cts_pointer_map *map, const void *key);

/* The same, inserted as 0 when it is not there. `key` is not NULL. */
uint64_t *cts_pointer_map_insert(struct cts_pointer_map *map, const void *key);

void cts_pointer_map_release(struct cts_pointer_map *map);

#endif
