/* Sets of a launch: (bytes, and a number that says whose: `node`), gathered by the *block* of
 * addresses that they lie in, so that who works through them has the tables of one block at hand
 * (shadow memory, bits), which the cache can hold, and not all of them. Inside a block items keep
 * the order in which they came. Memory: 16 bytes for an item, in pages of its block.
 *
 *     block -> chunk -> chunk -> ...      a chunk has the size of a page of memory
 */
#ifndef CTS_ANALYZE_SETS_H
#define CTS_ANALYZE_SETS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/shadow.h"
#include "common/error.h"

struct cts_set_item {
    uint64_t start;
    uint32_t length_bytes;
    uint32_t node;
};

enum { CTS_SET_CHUNK_ITEMS = 255 };

struct cts_set_chunk {
    struct cts_set_chunk *next;
    size_t count;
    struct cts_set_item items[CTS_SET_CHUNK_ITEMS];
};

struct cts_set_block {
    uint64_t key; /* address >> CTS_SHADOW_BLOCK_BITS */
    struct cts_set_chunk *first, *last;
};

/* Zero-initialise. */
struct cts_sets {
    size_t count; /* items */
    struct {
        struct cts_set_block *items; /* as they came */
        size_t count, capacity;
    } blocks;
    uint32_t *slots; /* hash of a key -> index in blocks + 1 */
    size_t slot_count;
    struct cts_set_block *block; /* the one used last; NULL: none */
    struct cts_set_chunk *spare;
    struct {
        struct cts_set_chunk **items; /* of many chunks each */
        size_t count, capacity;
    } slabs;
};

/* Makes the block of a key the one used last, with room for an item. */
CTS_MUST_CHECK enum cts_status cts_sets_turn_to(struct cts_sets *sets, uint64_t key,
                                                struct cts_error *error);

/* Adds [start, end), start < end; what passes the end of a block becomes several items. */
static inline enum cts_status cts_sets_add(struct cts_sets *sets, uint64_t start, uint64_t end,
                                           uint32_t node, struct cts_error *error)
{
    while (start < end) {
        const uint64_t key = start >> CTS_SHADOW_BLOCK_BITS;
        const uint64_t last = start | ((UINT64_C(1) << CTS_SHADOW_BLOCK_BITS) - 1);
        const uint64_t stop = end - 1 > last ? last + 1 : end;
        const struct cts_set_block *const block = sets->block;
        if (!block || block->key != key || block->last->count == CTS_SET_CHUNK_ITEMS) {
            const enum cts_status status = cts_sets_turn_to(sets, key, error);
            if (status) return status;
        }
        struct cts_set_chunk *const chunk = sets->block->last;
        chunk->items[chunk->count++] = (struct cts_set_item){start, (uint32_t)(stop - start), node};
        sets->count++;
        start = stop;
    }
    return CTS_OK;
}

/* Goes through the items, block by block: *items is valid until the set changes. Begin with a
 * zeroed place; returns how many items there are at this place, 0 after the last. */
struct cts_sets_place {
    size_t block;
    const struct cts_set_chunk *chunk;
};
static inline size_t cts_sets_next(const struct cts_sets *sets, struct cts_sets_place *place,
                                   const struct cts_set_item **items)
{
    if (place->chunk) place->chunk = place->chunk->next;
    while (!place->chunk) {
        if (place->block == sets->blocks.count) return 0;
        place->chunk = sets->blocks.items[place->block++].first;
    }
    *items = place->chunk->items;
    return place->chunk->count;
}

/* Forgets the items and keeps the memory. */
void cts_sets_empty(struct cts_sets *sets);
/* The same, but keeps the memory only while it is small. */
void cts_sets_clear(struct cts_sets *sets);
void cts_sets_release(struct cts_sets *sets);

#endif
