#include "analyze/sets.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/hash.h"

enum { SLAB_CHUNKS_FIRST = 8, SLAB_CHUNKS = 256, SLABS_KEPT = 4, PAGE_BYTES = 4096 };
_Static_assert(sizeof(struct cts_set_chunk) == PAGE_BYTES, "a chunk is a page");

static size_t slot_of(const struct cts_sets *sets, uint64_t key)
{
    return (size_t)(cts_hash(key) >> 32) & (sets->slot_count - 1);
}

static void fill_slots(struct cts_sets *sets)
{
    for (size_t i = 0; i < sets->blocks.count; i++) {
        size_t slot = slot_of(sets, sets->blocks.items[i].key);
        while (sets->slots[slot]) slot = (slot + 1) & (sets->slot_count - 1);
        sets->slots[slot] = (uint32_t)i + 1;
    }
}

static enum cts_status grow_slots(struct cts_sets *sets, struct cts_error *error)
{
    const size_t slot_count = sets->slot_count ? sets->slot_count * 2 : 32;
    uint32_t *const slots = cts_array_zeroed(slot_count, sizeof *slots, error);
    if (!slots) return CTS_MEMORY;
    free(sets->slots);
    sets->slots = slots;
    sets->slot_count = slot_count;
    fill_slots(sets);
    return CTS_OK;
}

/* A few chunks at first: many launches touch few blocks. */
static enum cts_status add_slab(struct cts_sets *sets, struct cts_error *error)
{
    const size_t count = sets->slabs.count ? SLAB_CHUNKS : SLAB_CHUNKS_FIRST;
    if (CTS_ARRAY_RESERVE(&sets->slabs, sets->slabs.count + 1, error)) return CTS_MEMORY;
    struct cts_set_chunk *const slab = aligned_alloc(PAGE_BYTES, count * sizeof *slab);
    if (!slab) return cts_fail(error, CTS_MEMORY, "no memory for %zu bytes", count * sizeof *slab);
    sets->slabs.items[sets->slabs.count++] = slab;
    for (size_t i = count; i-- > 0;) {
        slab[i].next = sets->spare;
        sets->spare = &slab[i];
    }
    return CTS_OK;
}

static struct cts_set_chunk *new_chunk(struct cts_sets *sets, struct cts_error *error)
{
    if (!sets->spare && add_slab(sets, error)) return NULL;
    struct cts_set_chunk *const chunk = sets->spare;
    sets->spare = chunk->next;
    chunk->next = NULL;
    chunk->count = 0;
    return chunk;
}

static struct cts_set_block *find_block(const struct cts_sets *sets, uint64_t key)
{
    if (!sets->slot_count) return NULL;
    for (size_t slot = slot_of(sets, key); sets->slots[slot];
         slot = (slot + 1) & (sets->slot_count - 1)) {
        struct cts_set_block *const block = &sets->blocks.items[sets->slots[slot] - 1];
        if (block->key == key) return block;
    }
    return NULL;
}

static enum cts_status add_block(struct cts_sets *sets, uint64_t key, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(&sets->blocks, sets->blocks.count + 1, error)) return CTS_MEMORY;
    if (sets->blocks.count * 2 >= sets->slot_count && grow_slots(sets, error)) return CTS_MEMORY;
    struct cts_set_chunk *const chunk = new_chunk(sets, error);
    if (!chunk) return CTS_MEMORY;
    size_t slot = slot_of(sets, key);
    while (sets->slots[slot]) slot = (slot + 1) & (sets->slot_count - 1);
    sets->block = &sets->blocks.items[sets->blocks.count++];
    *sets->block = (struct cts_set_block){key, chunk, chunk};
    sets->slots[slot] = (uint32_t)sets->blocks.count;
    return CTS_OK;
}

enum cts_status cts_sets_turn_to(struct cts_sets *sets, uint64_t key, struct cts_error *error)
{
    struct cts_set_block *const block = find_block(sets, key);
    if (!block) return add_block(sets, key, error);
    sets->block = block;
    if (block->last->count < CTS_SET_CHUNK_ITEMS) return CTS_OK;
    struct cts_set_chunk *const chunk = new_chunk(sets, error);
    if (!chunk) return CTS_MEMORY;
    block->last->next = chunk;
    block->last = chunk;
    return CTS_OK;
}

void cts_sets_empty(struct cts_sets *sets)
{
    for (size_t i = 0; i < sets->blocks.count; i++) {
        sets->blocks.items[i].last->next = sets->spare;
        sets->spare = sets->blocks.items[i].first;
    }
    if (sets->blocks.count) memset(sets->slots, 0, sets->slot_count * sizeof *sets->slots);
    sets->blocks.count = sets->count = 0;
    sets->block = NULL;
}

void cts_sets_clear(struct cts_sets *sets)
{
    if (sets->slabs.count > SLABS_KEPT)
        cts_sets_release(sets);
    else
        cts_sets_empty(sets);
}

void cts_sets_release(struct cts_sets *sets)
{
    for (size_t i = 0; i < sets->slabs.count; i++) free(sets->slabs.items[i]);
    free(sets->slabs.items);
    free(sets->blocks.items);
    free(sets->slots);
    *sets = (struct cts_sets){0};
}
