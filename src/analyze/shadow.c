/* A radix tree over 64-bit addresses, as page tables are:
 *
 *     7 bits | 9 | 9 | 9 | 9 | 9 | 12 bits in a page
 *
 * An entry of any level is either one writer for all that it covers, or a pointer to the next
 * level; so that a copy of terabytes costs as little as one of a page. A table of the lowest level,
 * 2 MiB of addresses, is a *block*; its entries are pages. A *page* has one u32 per word of 4
 * bytes: the word's writer, or, with bit 31, the index of four writers, one per byte, in a side
 * table (a *split* word). Writers that become equal put the word together again.
 *
 *     u32 word:  bit 31 split | bit 30 read | bits 29..0 writer        (split: bits 30..0 index)
 *
 * Pages and split words come from the shard of their block, so that threads that keep to different
 * shards share nothing but the tree above the blocks, which only grows while they run (under a
 * lock). */
#include "analyze/shadow.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/promise.h"

enum {
    PAGE_BITS = 12,
    PAGE_WORDS = 1 << (PAGE_BITS - 2),
    LEVEL_BITS = 9,
    LEVEL_ENTRIES = 1 << LEVEL_BITS,
    TOP_LEVEL = 5, /* level 0's entries are pages */
    SLAB_PAGES = 64,
};
_Static_assert(PAGE_BITS + LEVEL_BITS == CTS_SHADOW_BLOCK_BITS, "a block is a lowest table");
#define SPLIT         0x80000000u
#define LAST_IN(bits) ((UINT64_C(1) << (bits)) - 1)

typedef uint64_t entry; /* bit 0 set: a writer for all of it, shifted left; else a pointer */

struct cts_shadow_block {
    entry entries[LEVEL_ENTRIES]; /* a table of any level */
};
typedef struct cts_shadow_block table;

union page {
    uint32_t words[PAGE_WORDS];
    union page *next_free;
};
struct split {
    uint32_t writers[4]; /* a free one: [0] is the next free one's index + 1 */
};

struct shard {
    struct {
        struct split *items;
        size_t count, capacity;
    } splits;
    uint32_t free_split; /* index + 1 */
    size_t split_live;
    struct {
        union page **items;
        size_t count, capacity;
    } slabs;
    union page *free_page;
};

struct cts_shadow {
    table root;
    pthread_mutex_t growing;
    uint64_t generation; /* counts when blocks may have gone */
    size_t table_count;
    struct shard shards[CTS_SHADOW_SHARDS];
};

static inline entry uniform(uint32_t writer)
{
    return (entry)writer << 1 | 1;
}
static inline bool is_uniform(entry e)
{
    return e & 1;
}
static inline uint32_t uniform_writer(entry e)
{
    return (uint32_t)(e >> 1);
}
static inline void *pointer(entry e)
{
    return (void *)(uintptr_t)e;
}
static inline unsigned level_bits(unsigned level)
{
    return PAGE_BITS + level * LEVEL_BITS;
}

struct cts_shadow *cts_shadow_new(struct cts_error *error)
{
    struct cts_shadow *const shadow = cts_array_zeroed(1, sizeof *shadow, error);
    if (!shadow) return NULL;
    pthread_mutex_init(&shadow->growing, NULL);
    for (unsigned i = 0; i < LEVEL_ENTRIES; i++)
        shadow->root.entries[i] = uniform(CTS_WRITER_NOBODY);
    return shadow;
}

/* ---- pages and split words of a shard ---- */

static enum cts_status new_slab(struct shard *shard, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(&shard->slabs, shard->slabs.count + 1, error)) return CTS_MEMORY;
    union page *const slab = aligned_alloc(sizeof *slab, SLAB_PAGES * sizeof *slab);
    if (!slab)
        return cts_fail(error, CTS_MEMORY, "no memory for %d pages of shadow memory", SLAB_PAGES);
    shard->slabs.items[shard->slabs.count++] = slab;
    for (unsigned i = 0; i < SLAB_PAGES; i++) {
        slab[i].next_free = shard->free_page;
        shard->free_page = &slab[i];
    }
    return CTS_OK;
}

static union page *new_page(struct shard *shard, uint32_t writer, struct cts_error *error)
{
    if (!shard->free_page && new_slab(shard, error)) return NULL;
    union page *const page = shard->free_page;
    shard->free_page = page->next_free;
    for (unsigned i = 0; i < PAGE_WORDS; i++) page->words[i] = writer;
    return page;
}

static void free_split(struct shard *shard, uint32_t word)
{
    const uint32_t index = word & ~SPLIT;
    assert(word & SPLIT && index < shard->splits.count && shard->split_live);
    shard->splits.items[index].writers[0] = shard->free_split;
    shard->free_split = index + 1;
    shard->split_live--;
}

static void free_page(struct shard *shard, union page *page)
{
    for (unsigned i = 0; shard->split_live && i < PAGE_WORDS; i++)
        if (page->words[i] & SPLIT) free_split(shard, page->words[i]);
    page->next_free = shard->free_page;
    shard->free_page = page;
}

static enum cts_status split_word(struct shard *shard, uint32_t *word, struct cts_error *error)
{
    assert(!(*word & SPLIT));
    if (!shard->free_split) {
        if (shard->splits.count >= SPLIT - 1)
            return cts_fail(error, CTS_LIMIT, "over 2^31 words are shared by several writers");
        if (CTS_ARRAY_RESERVE(&shard->splits, shard->splits.count + 1, error)) return CTS_MEMORY;
        shard->splits.items[shard->splits.count++].writers[0] = 0;
        shard->free_split = (uint32_t)shard->splits.count;
    }
    const uint32_t index = shard->free_split - 1;
    struct split *const split = &shard->splits.items[index];
    shard->free_split = split->writers[0];
    shard->split_live++;
    for (unsigned i = 0; i < 4; i++) split->writers[i] = *word;
    *word = SPLIT | index;
    return CTS_OK;
}

/* Bytes [first, end) of a word or of a page, and who wrote them; first < end. */
struct written {
    unsigned first, end;
    uint32_t writer;
};

/* Sets bytes of one word: end <= 4. */
static enum cts_status fill_in_word(struct shard *shard, uint32_t *word, struct written bytes,
                                    struct cts_error *error)
{
    assert(bytes.first < bytes.end && bytes.end <= 4);
    const uint32_t writer = bytes.writer;
    if (*word == writer) return CTS_OK;
    const enum cts_status status = *word & SPLIT ? CTS_OK : split_word(shard, word, error);
    if (status) return status;
    uint32_t *const writers = shard->splits.items[*word & ~SPLIT].writers;
    for (unsigned i = bytes.first; i < bytes.end; i++) writers[i] = writer;
    if (writers[0] == writers[1] && writers[1] == writers[2] && writers[2] == writers[3]) {
        const uint32_t joined = writers[0];
        free_split(shard, *word);
        *word = joined;
    }
    return CTS_OK;
}

static void fill_words(struct shard *shard, uint32_t *words, unsigned count, uint32_t writer)
{
    for (unsigned i = 0; shard->split_live && i < count; i++)
        if (words[i] & SPLIT) free_split(shard, words[i]);
    for (unsigned i = 0; i < count; i++) words[i] = writer;
}

/* Sets bytes of a page: end <= 4096. */
static enum cts_status fill_in_page(struct shard *shard, union page *page, struct written bytes,
                                    struct cts_error *error)
{
    assert(bytes.first < bytes.end && bytes.end <= 1 << PAGE_BITS);
    const unsigned end = bytes.end;
    const uint32_t writer = bytes.writer;
    unsigned first = bytes.first;
    const unsigned head = first & 3;
    if (head) {
        const unsigned word_end = end - (first - head) < 4 ? end - (first - head) : 4;
        const enum cts_status status = fill_in_word(
            shard, &page->words[first / 4], (struct written){head, word_end, writer}, error);
        if (status) return status;
        first += word_end - head;
        if (first == end) return CTS_OK;
    }
    fill_words(shard, page->words + first / 4, end / 4 - first / 4, writer);
    if (!(end & 3)) return CTS_OK;
    return fill_in_word(shard, &page->words[end / 4], (struct written){0, end & 3, writer}, error);
}

/* Sets bytes of a page entry. */
static enum cts_status fill_page_entry(struct shard *shard, entry *e, struct written bytes,
                                       struct cts_error *error)
{
    if (is_uniform(*e)) {
        if (uniform_writer(*e) == bytes.writer) return CTS_OK;
        if (bytes.first == 0 && bytes.end == 1 << PAGE_BITS) {
            *e = uniform(bytes.writer);
            return CTS_OK;
        }
        union page *const page = new_page(shard, uniform_writer(*e), error);
        if (!page) return CTS_MEMORY;
        *e = (entry)(uintptr_t)page;
    }
    return fill_in_page(shard, pointer(*e), bytes, error);
}

/* ---- the tree ---- */

static table *new_table(struct cts_shadow *shadow, entry all, struct cts_error *error)
{
    assert(is_uniform(all));
    table *const made = malloc(sizeof *made);
    if (!made) {
        (void)cts_fail(error, CTS_MEMORY, "no memory for a table of the shadow memory");
        return NULL;
    }
    shadow->table_count++;
    for (unsigned i = 0; i < LEVEL_ENTRIES; i++) made->entries[i] = all;
    return made;
}

/* Frees what an entry of `level` at address `base` points to. */
static void free_below(struct cts_shadow *shadow, entry e, unsigned level, uint64_t base)
{
    if (is_uniform(e)) return;
    if (level == 0) {
        free_page(&shadow->shards[cts_shadow_shard(base)], pointer(e));
        return;
    }
    table *const below = pointer(e);
    for (unsigned i = 0; i < LEVEL_ENTRIES; i++)
        free_below(shadow, below->entries[i], level - 1,
                   base + ((uint64_t)i << level_bits(level - 1)));
    free(below);
    shadow->table_count--;
    shadow->generation++;
}

void cts_shadow_free(struct cts_shadow *shadow)
{
    if (!shadow) return;
    for (unsigned i = 0; i < LEVEL_ENTRIES; i++)
        free_below(shadow, shadow->root.entries[i], TOP_LEVEL,
                   (uint64_t)i << level_bits(TOP_LEVEL));
    for (unsigned k = 0; k < CTS_SHADOW_SHARDS; k++) {
        struct shard *const shard = &shadow->shards[k];
        for (size_t i = 0; i < shard->slabs.count; i++) free(shard->slabs.items[i]);
        free(shard->slabs.items);
        free(shard->splits.items);
    }
    pthread_mutex_destroy(&shadow->growing);
    free(shadow);
}

/* Addresses [first, last] and who wrote them. */
struct stretch {
    uint64_t first, last;
    uint32_t writer;
};

/* Sets the addresses of an entry of `level`, all inside it. */
static enum cts_status fill_entry(struct cts_shadow *shadow, entry *e, unsigned level,
                                  struct stretch stretch, struct cts_error *error)
{
    assert(stretch.first <= stretch.last &&
           (stretch.first ^ stretch.last) >> level_bits(level) == 0);
    const uint64_t first = stretch.first, last = stretch.last;
    const uint32_t writer = stretch.writer;
    const uint64_t mask = LAST_IN(level_bits(level));
    if (level == 0)
        return fill_page_entry(
            &shadow->shards[cts_shadow_shard(first)], e,
            (struct written){(unsigned)(first & mask), (unsigned)(last & mask) + 1, writer}, error);
    if (is_uniform(*e) && uniform_writer(*e) == writer) return CTS_OK;
    if ((first & mask) == 0 && (last & mask) == mask) {
        free_below(shadow, *e, level, first);
        *e = uniform(writer);
        return CTS_OK;
    }
    if (is_uniform(*e)) {
        table *const below = new_table(shadow, *e, error);
        if (!below) return CTS_MEMORY;
        *e = (entry)(uintptr_t)below;
    }
    table *const below = pointer(*e);
    const unsigned bits = level_bits(level - 1);
    for (uint64_t part = first >> bits; part <= last >> bits; part++) {
        const uint64_t from = part == first >> bits ? first : part << bits;
        const uint64_t to = part == last >> bits ? last : part << bits | LAST_IN(bits);
        const enum cts_status status =
            fill_entry(shadow, &below->entries[part & (LEVEL_ENTRIES - 1)], level - 1,
                       (struct stretch){from, to, writer}, error);
        if (status) return status;
    }
    return CTS_OK;
}

enum cts_status cts_shadow_fill(struct cts_shadow *shadow, uint64_t start, uint64_t end,
                                uint32_t writer, struct cts_error *error)
{
    const unsigned bits = level_bits(TOP_LEVEL);
    if (start >= end) return CTS_OK;
    const uint64_t last = end - 1;
    for (uint64_t part = start >> bits; part <= last >> bits; part++) {
        const uint64_t from = part == start >> bits ? start : part << bits;
        const uint64_t to = part == last >> bits ? last : part << bits | LAST_IN(bits);
        const enum cts_status status = fill_entry(shadow, &shadow->root.entries[part], TOP_LEVEL,
                                                  (struct stretch){from, to, writer}, error);
        if (status) return status;
    }
    return CTS_OK;
}

/* The block over an address, or NULL with the writer of the entry above it and that entry's last
 * address. */
static struct cts_shadow_block *walk(const struct cts_shadow *shadow, uint64_t address,
                                     uint32_t *writer, uint64_t *last)
{
    const table *at = &shadow->root;
    for (unsigned level = TOP_LEVEL; level > 0; level--) {
        const entry e = __atomic_load_n(
            &at->entries[(address >> level_bits(level)) & (LEVEL_ENTRIES - 1)], __ATOMIC_ACQUIRE);
        if (is_uniform(e)) {
            *writer = uniform_writer(e);
            *last = address | LAST_IN(level_bits(level));
            return NULL;
        }
        at = pointer(e);
    }
    return (struct cts_shadow_block *)(uintptr_t)at;
}

static inline struct cts_shadow_block *find_block(struct cts_shadow_view *view, uint64_t address,
                                                  uint32_t *writer, uint64_t *last)
{
    const uint64_t key = (address >> CTS_SHADOW_BLOCK_BITS) + 1;
    const size_t slot = key & ((1 << CTS_SHADOW_VIEW_BITS) - 1);
    if (__builtin_expect(view->cache[slot].key == key, 1) &&
        view->generation == view->shadow->generation)
        return view->cache[slot].block;
    if (view->generation != view->shadow->generation) {
        for (size_t i = 0; i < 1 << CTS_SHADOW_VIEW_BITS; i++) view->cache[i].key = 0;
        view->generation = view->shadow->generation;
    }
    struct cts_shadow_block *const block = walk(view->shadow, address, writer, last);
    if (block) {
        view->cache[slot].key = key;
        view->cache[slot].block = block;
    }
    return block;
}

/* The block over an address, made where there is none. */
static struct cts_shadow_block *need_block(struct cts_shadow_view *view, uint64_t address,
                                           struct cts_error *error)
{
    uint32_t writer;
    uint64_t last;
    struct cts_shadow_block *const found = find_block(view, address, &writer, &last);
    if (found) return found;
    struct cts_shadow *const shadow = view->shadow;
    pthread_mutex_lock(&shadow->growing);
    table *at = &shadow->root;
    for (unsigned level = TOP_LEVEL; at && level > 0; level--) {
        entry *const e = &at->entries[(address >> level_bits(level)) & (LEVEL_ENTRIES - 1)];
        if (is_uniform(*e)) {
            table *const below = new_table(shadow, *e, error);
            if (below) __atomic_store_n(e, (entry)(uintptr_t)below, __ATOMIC_RELEASE);
            at = below;
        } else {
            at = pointer(*e);
        }
    }
    pthread_mutex_unlock(&shadow->growing);
    return at;
}

static inline entry *page_entry(struct cts_shadow_block *block, uint64_t address)
{
    return &block->entries[(address >> PAGE_BITS) & (LEVEL_ENTRIES - 1)];
}

/* How many of `count` words equal the first one. */
static unsigned equal_words(const uint32_t *words, unsigned count)
{
    const uint32_t first = words[0];
    unsigned i = 1;
    for (; i + 8 <= count; i += 8) {
        uint32_t differing = 0;
        for (unsigned k = 0; k < 8; k++) differing |= words[i + k] ^ first;
        if (differing) break;
    }
    while (i < count && words[i] == first) i++;
    return i;
}

/* A run that starts in a split word; it ends with the word at the latest. */
static uint64_t run_in_word(const struct split *split, uint64_t start, uint64_t end,
                            uint32_t *writer)
{
    *writer = split->writers[start & 3];
    uint64_t at = start + 1;
    while (at < end && at & 3 && split->writers[at & 3] == *writer) at++;
    return at;
}

uint64_t cts_shadow_run(struct cts_shadow_view *view, uint64_t start, uint64_t end,
                        uint32_t *writer)
{
    uint64_t last = start;
    struct cts_shadow_block *const block = find_block(view, start, writer, &last);
    if (!block) return last < end - 1 ? last + 1 : end;
    const entry e = *page_entry(block, start);
    const uint64_t page_last = start | LAST_IN(PAGE_BITS);
    const uint64_t stop = page_last < end - 1 ? page_last + 1 : end;
    if (is_uniform(e)) {
        *writer = uniform_writer(e);
        return stop;
    }
    const uint32_t *const words =
        ((union page *)pointer(e))->words + ((start >> 2) & (PAGE_WORDS - 1));
    if (*words & SPLIT) {
        const struct shard *const shard = &view->shadow->shards[cts_shadow_shard(start)];
        return run_in_word(&shard->splits.items[*words & ~SPLIT], start, stop, writer);
    }
    *writer = *words;
    const uint64_t word_start = start & ~UINT64_C(3);
    const unsigned count = (unsigned)((stop - 1 - word_start) / 4) + 1;
    const uint64_t run_last = word_start + (uint64_t)equal_words(words, count) * 4 - 1;
    return run_last < stop - 1 ? run_last + 1 : stop;
}

static inline uint32_t one_writer(struct cts_shadow_view *view, uint64_t start, uint32_t width)
{
    uint32_t writer = CTS_WRITER_NOBODY;
    uint64_t last;
    const unsigned in_word = start & 3, in_page = (unsigned)(start & LAST_IN(PAGE_BITS));
    const bool is_whole = !in_word && !(width & 3);
    if ((!is_whole && in_word + width > 4) || in_page + width > 1 << PAGE_BITS)
        return CTS_WRITER_SEVERAL;
    struct cts_shadow_block *const block = find_block(view, start, &writer, &last);
    if (!block) return writer;
    const entry e = *page_entry(block, start);
    if (is_uniform(e)) return uniform_writer(e);
    const uint32_t *const words = ((union page *)pointer(e))->words + in_page / 4;
    for (unsigned k = 1; k < width / 4; k++)
        if (words[k] != words[0]) return CTS_WRITER_SEVERAL;
    return words[0] & SPLIT ? CTS_WRITER_SEVERAL : words[0];
}

void cts_shadow_writers(struct cts_shadow_view *view, const struct cts_shadow_accesses *accesses,
                        uint32_t *writers)
{
    const uint32_t width = accesses->width_bytes;
    for (unsigned k = 0; k < accesses->count; k++)
        writers[k] = one_writer(view, accesses->base + accesses->offsets[k], width);
}

void cts_shadow_prefetch(struct cts_shadow_view *view, uint64_t address)
{
    uint32_t writer;
    uint64_t last;
    struct cts_shadow_block *const block = find_block(view, address, &writer, &last);
    if (!block) return;
    const entry e = *page_entry(block, address);
    if (is_uniform(e)) return;
    __builtin_prefetch(&((union page *)pointer(e))->words[(address >> 2) & (PAGE_WORDS - 1)]);
}

enum cts_status cts_shadow_set(struct cts_shadow_view *view, uint64_t start, uint64_t end,
                               uint32_t writer, struct cts_error *error)
{
    if (start >= end) return CTS_OK;
    struct cts_shadow_block *const block = need_block(view, start, error);
    if (!block) return CTS_MEMORY;
    struct shard *const shard = &view->shadow->shards[cts_shadow_shard(start)];
    while (start < end) {
        const uint64_t page_last = start | LAST_IN(PAGE_BITS);
        const uint64_t stop = page_last < end - 1 ? page_last + 1 : end;
        const enum cts_status status = fill_page_entry(
            shard, page_entry(block, start),
            (struct written){(unsigned)(start & LAST_IN(PAGE_BITS)),
                             (unsigned)((stop - 1) & LAST_IN(PAGE_BITS)) + 1, writer},
            error);
        if (status) return status;
        start = stop;
    }
    return CTS_OK;
}

/* Whether some word is split or has a writer from `first_node` on. */
static bool any_taken(const uint32_t *words, unsigned count, uint32_t first_node)
{
    uint32_t taken = 0;
    for (unsigned i = 0; i < count; i++)
        taken |= ((words[i] & CTS_WRITER_MASK) >= first_node) | (words[i] >> 31);
    return taken;
}

bool cts_shadow_set_fresh(struct cts_shadow_view *view, uint64_t start, uint64_t end,
                          uint32_t writer, uint32_t first_node)
{
    uint32_t above;
    uint64_t last;
    if (((start | end) & 3) || start >> PAGE_BITS != (end - 1) >> PAGE_BITS) return false;
    struct cts_shadow_block *const block = find_block(view, start, &above, &last);
    if (!block) return false;
    const entry e = *page_entry(block, start);
    if (is_uniform(e)) return false;
    uint32_t *const words = ((union page *)pointer(e))->words + ((start >> 2) & (PAGE_WORDS - 1));
    const unsigned count = (unsigned)(end - start) / 4;
    if (any_taken(words, count, first_node)) return false;
    for (unsigned i = 0; i < count; i++) words[i] = writer;
    return true;
}

uint64_t cts_shadow_size_bytes(const struct cts_shadow *shadow)
{
    uint64_t bytes = sizeof *shadow + shadow->table_count * sizeof(table);
    for (unsigned i = 0; i < CTS_SHADOW_SHARDS; i++) {
        const struct shard *const shard = &shadow->shards[i];
        bytes += shard->slabs.count * SLAB_PAGES * sizeof(union page) +
                 shard->splits.capacity * sizeof(struct split);
    }
    return bytes;
}
