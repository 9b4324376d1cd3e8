/* Pages hang in *blocks* of 2 MiB of addresses, and blocks in a hash table that is replaced by a
 * larger one when it fills; a replaced table stays until all is cleared, since others may still
 * look into it. A page that appears a moment after somebody looked for it in vain is found under
 * the lock. */
#include "analyze/bits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/array.h"
#include "common/hash.h"
#include "common/memory-limit.h"
#include "common/promise.h"

_Static_assert(CTS_BITS_BLOCK_PAGES == 1 << (CTS_BITS_BLOCK_BITS - CTS_BITS_PAGE_BITS), "");

enum { BLOCK_BITS = CTS_BITS_BLOCK_BITS, BLOCK_PAGES = CTS_BITS_BLOCK_PAGES, FIRST_SLOTS = 64 };
enum { FIRST_PAGES = 64, SLAB_BYTES = 1 << 21, FEW_BYTES = 1 << 20 };

struct cts_bits_slab {
    struct cts_bits_slab *next;
    uint64_t *words;
    size_t size_bytes;
};

union cts_bits_free {
    union cts_bits_free *next;
};

struct block {
    uint64_t key; /* address >> BLOCK_BITS */
    uint64_t *pages[BLOCK_PAGES];
};

struct cts_bits_root {
    struct cts_bits_root *previous;
    size_t slot_count, used; /* slots: a power of two */
    struct block *slots[];
};

/* ---- the pool ---- */

void cts_bits_pool_init(struct cts_bits_pool *pool)
{
    *pool = (struct cts_bits_pool){0};
    pthread_mutex_init(&pool->lock, NULL);
}

void cts_bits_pool_release(struct cts_bits_pool *pool)
{
    for (struct cts_bits_slab *slab = pool->slabs, *next; slab; slab = next) {
        next = slab->next;
        free(slab->words);
        free(slab);
    }
    pthread_mutex_destroy(&pool->lock);
    *pool = (struct cts_bits_pool){0};
}

/* A CTA that gathers has each word in another page, and looking the page up in the processor's page
 * table costs more than the word. NULL: no memory. */
static void *huge_page(void)
{
    void *const bytes = aligned_alloc(SLAB_BYTES, SLAB_BYTES);
    if (bytes) (void)madvise(bytes, SLAB_BYTES, MADV_HUGEPAGE); /* it is only slower without */
    return bytes;
}

/* Whether a limit of memory is far: within one, what malloc() gives can leave memory for a file,
 * and a huge page cannot. */
static bool has_room(const struct cts_bits_pool *pool)
{
    const uint64_t limit_bytes = cts_memory_limit_bytes();
    return !limit_bytes || pool->held_bytes + SLAB_BYTES < limit_bytes / 64;
}

static enum cts_status add_slab(struct cts_bits_pool *pool, unsigned planes,
                                struct cts_error *error)
{
    CTS_ASSERT_HELD(&pool->lock);
    const size_t page_bytes = (size_t)planes * CTS_BITS_PAGE_WORDS * sizeof(uint64_t);
    const bool is_first = pool->held_bytes < FEW_BYTES;
    const size_t size_bytes = is_first ? page_bytes * FIRST_PAGES : SLAB_BYTES;
    struct cts_bits_slab *const slab = cts_array_zeroed(1, sizeof *slab, error);
    if (!slab) return CTS_MEMORY;
    slab->size_bytes = size_bytes;
    slab->words = is_first || !has_room(pool) ? malloc(size_bytes) : huge_page();
    if (!slab->words) {
        free(slab);
        return cts_fail(error, CTS_MEMORY, "no memory for %zu bytes", size_bytes);
    }
    slab->next = pool->slabs;
    pool->slabs = slab;
    pool->held_bytes += size_bytes;
    if (pool->held_bytes > pool->peak_bytes) pool->peak_bytes = pool->held_bytes;
    for (size_t i = 0; i < size_bytes / page_bytes; i++) {
        union cts_bits_free *const page = (void *)((char *)slab->words + i * page_bytes);
        page->next = pool->free[planes];
        pool->free[planes] = page;
    }
    return CTS_OK;
}

/* The caller holds the lock. */
static uint64_t *take_page(struct cts_bits_pool *pool, unsigned planes, struct cts_error *error)
{
    CTS_ASSERT_HELD(&pool->lock);
    if (!pool->free[planes] && add_slab(pool, planes, error)) return NULL;
    union cts_bits_free *const page = pool->free[planes];
    pool->free[planes] = page->next;
    memset(page, 0, (size_t)planes * CTS_BITS_PAGE_WORDS * sizeof(uint64_t));
    return (uint64_t *)page;
}

/* ---- looking up ---- */

void cts_bits_init(struct cts_bits *bits, struct cts_bits_pool *pool, unsigned planes)
{
    assert(planes && planes <= CTS_BITS_PLANES_MAX);
    *bits = (struct cts_bits){.pool = pool, .planes = planes};
}

static size_t first_slot(const struct cts_bits_root *root, uint64_t key)
{
    return (size_t)(cts_hash(key) >> 32) & (root->slot_count - 1);
}

static struct block *find_block(const struct cts_bits_root *root, uint64_t key)
{
    for (size_t i = first_slot(root, key);; i = (i + 1) & (root->slot_count - 1)) {
        struct block *const block = __atomic_load_n(&root->slots[i], __ATOMIC_ACQUIRE);
        if (!block || block->key == key) return block;
    }
}

uint64_t *cts_bits_find(const struct cts_bits *bits, uint64_t address)
{
    const struct cts_bits_root *const root = __atomic_load_n(&bits->root, __ATOMIC_ACQUIRE);
    const struct block *const block = root ? find_block(root, address >> BLOCK_BITS) : NULL;
    if (!block) return NULL;
    return __atomic_load_n(&block->pages[(address >> CTS_BITS_PAGE_BITS) % BLOCK_PAGES],
                           __ATOMIC_ACQUIRE);
}

uint64_t *const *cts_bits_block(const struct cts_bits *bits, uint64_t address)
{
    const struct cts_bits_root *const root = __atomic_load_n(&bits->root, __ATOMIC_ACQUIRE);
    struct block *const block = root ? find_block(root, address >> BLOCK_BITS) : NULL;
    return block ? block->pages : NULL;
}

static void put_block(struct cts_bits_root *root, struct block *block)
{
    assert(cts_is_power_of_two(root->slot_count) && root->used < root->slot_count);
    size_t i = first_slot(root, block->key);
    while (root->slots[i]) i = (i + 1) & (root->slot_count - 1);
    __atomic_store_n(&root->slots[i], block, __ATOMIC_RELEASE);
    root->used++;
}

/* A root with room for one more block. */
static struct cts_bits_root *roomy_root(struct cts_bits *bits, struct cts_error *error)
{
    CTS_ASSERT_HELD(&bits->pool->lock);
    struct cts_bits_root *const old = bits->root;
    if (old && old->used * 2 < old->slot_count) return old;
    const size_t slot_count = old ? old->slot_count * 2 : FIRST_SLOTS;
    struct cts_bits_root *const root =
        cts_array_zeroed(1, sizeof *root + slot_count * sizeof *root->slots, error);
    if (!root) return NULL;
    root->slot_count = slot_count;
    root->previous = old;
    for (size_t i = 0; old && i < old->slot_count; i++)
        if (old->slots[i]) put_block(root, old->slots[i]);
    __atomic_store_n(&bits->root, root, __ATOMIC_RELEASE);
    return root;
}

static struct block *need_block(struct cts_bits *bits, uint64_t key, struct cts_error *error)
{
    CTS_ASSERT_HELD(&bits->pool->lock);
    struct block *block = bits->root ? find_block(bits->root, key) : NULL;
    if (block) return block;
    struct cts_bits_root *const root = roomy_root(bits, error);
    block = root ? cts_array_zeroed(1, sizeof *block, error) : NULL;
    if (!block) return NULL;
    block->key = key;
    put_block(root, block);
    return block;
}

uint64_t *cts_bits_page(struct cts_bits *bits, uint64_t address, struct cts_error *error)
{
    uint64_t *page = cts_bits_find(bits, address);
    if (__builtin_expect(page != NULL, 1)) return page;
    pthread_mutex_lock(&bits->pool->lock);
    struct block *const block = need_block(bits, address >> BLOCK_BITS, error);
    if (block) {
        uint64_t **const place = &block->pages[(address >> CTS_BITS_PAGE_BITS) % BLOCK_PAGES];
        page = *place ? *place : take_page(bits->pool, bits->planes, error);
        __atomic_store_n(place, page, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&bits->pool->lock);
    return page;
}

void cts_bits_clear(struct cts_bits *bits)
{
    struct cts_bits_root *root = bits->root;
    if (!root) return;
    pthread_mutex_lock(&bits->pool->lock);
    for (size_t i = 0; i < root->slot_count; i++) {
        struct block *const block = root->slots[i];
        for (unsigned k = 0; block && k < BLOCK_PAGES; k++) {
            union cts_bits_free *const page = (void *)block->pages[k];
            if (!page) continue;
            page->next = bits->pool->free[bits->planes];
            bits->pool->free[bits->planes] = page;
        }
        free(block);
    }
    pthread_mutex_unlock(&bits->pool->lock);
    for (struct cts_bits_root *previous; root; root = previous) {
        previous = root->previous;
        free(root);
    }
    bits->root = NULL;
}

/* ---- ranges ---- */

enum cts_status cts_bits_set(struct cts_bits *bits, unsigned plane, uint64_t start, uint64_t end,
                             struct cts_error *error)
{
    assert(plane < bits->planes);
    for (uint64_t at = start; at < end;) {
        uint64_t *const words = cts_bits_page(bits, at, error);
        if (!words) return CTS_MEMORY;
        const uint64_t page_start = at & ~UINT64_C(4095);
        const unsigned first = (unsigned)(at - page_start);
        const unsigned stop = end - page_start < 4096 ? (unsigned)(end - page_start) : 4096;
        for (unsigned w = first / 64; w <= (stop - 1) / 64; w++)
            cts_bits_or(&words[w * bits->planes + plane], cts_bits_mask(w, first, stop),
                        bits->is_shared);
        if (stop == 4096 && page_start > UINT64_MAX - 4096) break;
        at = page_start + stop;
    }
    return CTS_OK;
}

bool cts_bits_any(const struct cts_bits *bits, unsigned plane, uint64_t start, uint64_t end)
{
    assert(plane < bits->planes);
    for (uint64_t at = start; at < end;) {
        const uint64_t *const words = cts_bits_find(bits, at);
        const uint64_t page_start = at & ~UINT64_C(4095);
        const unsigned first = (unsigned)(at - page_start);
        const unsigned stop = end - page_start < 4096 ? (unsigned)(end - page_start) : 4096;
        for (unsigned w = first / 64; words && w <= (stop - 1) / 64; w++)
            if (words[w * bits->planes + plane] & cts_bits_mask(w, first, stop)) return true;
        if (stop == 4096 && page_start > UINT64_MAX - 4096) break;
        at = page_start + stop;
    }
    return false;
}

static int by_key(const void *left, const void *right)
{
    const struct block *const a = *(struct block *const *)left, *const b =
                                                                    *(struct block *const *)right;
    return (a->key > b->key) - (a->key < b->key);
}

enum cts_status cts_bits_each(const struct cts_bits *bits,
                              enum cts_status (*act)(void *state, uint64_t page_start,
                                                     uint64_t *words, struct cts_error *error),
                              void *state, struct cts_error *error)
{
    const struct cts_bits_root *const root = bits->root;
    if (!root) return CTS_OK;
    struct block **const blocks = cts_array_zeroed(root->used, sizeof *blocks, error);
    if (!blocks) return CTS_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < root->slot_count; i++)
        if (root->slots[i]) blocks[count++] = root->slots[i];
    qsort(blocks, count, sizeof *blocks, by_key);
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < count && !status; i++)
        for (unsigned k = 0; k < BLOCK_PAGES && !status; k++)
            if (blocks[i]->pages[k])
                status =
                    act(state, (blocks[i]->key << BLOCK_BITS) + ((uint64_t)k << CTS_BITS_PAGE_BITS),
                        blocks[i]->pages[k], error);
    free(blocks);
    return status;
}
