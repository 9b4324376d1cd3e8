/* Bits about bytes: for every byte of an address space one bit in each of a few *planes*, all 0 at
 * first. Made in pages of 4 KiB of addresses as they are touched: 64 words a plane, word w and bit
 * b for byte 64 w + b of the page; the planes of a word lie side by side.
 *
 * Pages come from a pool, and go back to it.
 *
 * Threads: any number may look pages up and make them at once. Words are the callers' to protect:
 * set them with cts_bits_or() when others may. Clearing a set and going through it wants that set
 * alone. */
#ifndef CTS_ANALYZE_BITS_H
#define CTS_ANALYZE_BITS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum { CTS_BITS_PAGE_BITS = 12, CTS_BITS_PAGE_WORDS = 64, CTS_BITS_PLANES_MAX = 6 };
enum { CTS_BITS_BLOCK_BITS = 21, CTS_BITS_BLOCK_PAGES = 1 << 9 };

struct cts_bits_pool {
    uint64_t held_bytes, peak_bytes;
    struct cts_bits_slab *slabs;
    union cts_bits_free *free[CTS_BITS_PLANES_MAX + 1]; /* by planes */
    pthread_mutex_t lock;
};
void cts_bits_pool_init(struct cts_bits_pool *pool);
void cts_bits_pool_release(struct cts_bits_pool *pool);

struct cts_bits {
    struct cts_bits_pool *pool;
    unsigned planes;
    bool is_shared;             /* cts_bits_set(): others may set bits at the same time */
    struct cts_bits_root *root; /* NULL: nothing touched */
};
/* Not shared. */
void cts_bits_init(struct cts_bits *bits, struct cts_bits_pool *pool, unsigned planes);
/* All bits are 0 again; the pages go back to the pool. Also to end with. */
void cts_bits_clear(struct cts_bits *bits);

static inline bool cts_bits_is_empty(const struct cts_bits *bits)
{
    return !bits->root;
}

/* The words of the page that has `address`; made when it is new (NULL: no memory, or for
 * cts_bits_find no such page). */
uint64_t *cts_bits_page(struct cts_bits *bits, uint64_t address, struct cts_error *error);
uint64_t *cts_bits_find(const struct cts_bits *bits, uint64_t address);

/* The pages of the block of 2^CTS_BITS_BLOCK_BITS bytes that has `address`, in order; NULL: there
 * are none yet. They stay until the bits are cleared. */
uint64_t *const *cts_bits_block(const struct cts_bits *bits, uint64_t address);

/* The block that was looked up last: for who works through addresses block by block. Zero it, also
 * after the bits have been cleared. */
struct cts_bits_near {
    uint64_t key;
    uint64_t *const *pages;
};

/* The same as cts_bits_find(). */
static inline uint64_t *cts_bits_find_near(const struct cts_bits *bits, struct cts_bits_near *near,
                                           uint64_t address)
{
    if (!near->pages || near->key != address >> CTS_BITS_BLOCK_BITS) {
        near->key = address >> CTS_BITS_BLOCK_BITS;
        near->pages = cts_bits_block(bits, address);
        if (!near->pages) return NULL;
    }
    return __atomic_load_n(&near->pages[(address >> CTS_BITS_PAGE_BITS) % CTS_BITS_BLOCK_PAGES],
                           __ATOMIC_ACQUIRE);
}

/* The planes of the word that has `address`. */
static inline uint64_t *cts_bits_word_in(const struct cts_bits *bits, uint64_t *page,
                                         uint64_t address)
{
    return &page[address / 64 % CTS_BITS_PAGE_WORDS * bits->planes];
}

/* Fetches the planes of a byte, if there are any. */
static inline void cts_bits_expect(const struct cts_bits *bits, struct cts_bits_near *near,
                                   uint64_t address)
{
    uint64_t *const page = cts_bits_find_near(bits, near, address);
    if (!page) return;
    const uint64_t *const words = cts_bits_word_in(bits, page, address);
    __builtin_prefetch(words, 1);
    __builtin_prefetch(words + bits->planes - 1, 1); /* they may lie in two lines of the cache */
}

/* Sets bits of a word; which were set before? `shared`: others may do so at the same time. */
static inline uint64_t cts_bits_or(uint64_t *word, uint64_t mask, bool shared)
{
    if (shared) return __atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
    const uint64_t before = *word;
    *word = before | mask;
    return before;
}

/* How many bits are set; most words are full or empty. */
static inline unsigned cts_bits_count(uint64_t mask)
{
    if (mask == UINT64_MAX) return 64;
    mask -= mask >> 1 & UINT64_C(0x5555555555555555);
    mask = (mask & UINT64_C(0x3333333333333333)) + (mask >> 2 & UINT64_C(0x3333333333333333));
    mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(mask * UINT64_C(0x0101010101010101) >> 56);
}

/* The bits of word `word` of a page for the bytes [first, end) of it, first < end. */
static inline uint64_t cts_bits_mask(unsigned word, unsigned first, unsigned end)
{
    uint64_t mask = UINT64_MAX;
    if (word == first / 64) mask &= UINT64_MAX << (first % 64);
    if (word == (end - 1) / 64) mask &= UINT64_MAX >> (63 - (end - 1) % 64);
    return mask;
}

/* Sets the bits of [start, end) in one plane. */
CTS_MUST_CHECK enum cts_status cts_bits_set(struct cts_bits *bits, unsigned plane, uint64_t start,
                                            uint64_t end, struct cts_error *error);
/* Whether any bit of [start, end) is set in a plane. */
bool cts_bits_any(const struct cts_bits *bits, unsigned plane, uint64_t start, uint64_t end);
static inline bool cts_bits_get(const struct cts_bits *bits, unsigned plane, uint64_t address)
{
    const uint64_t *const page = cts_bits_find(bits, address);
    return page &&
           page[(address / 64 % CTS_BITS_PAGE_WORDS) * bits->planes + plane] >> (address % 64) & 1;
}

/* A page that was looked up. */
struct cts_bits_cached {
    uint64_t number; /* address >> CTS_BITS_PAGE_BITS, + 1 */
    uint64_t *words;
};

/* Calls for each page, in ascending order, until one fails. */
CTS_MUST_CHECK enum cts_status
cts_bits_each(const struct cts_bits *bits,
              enum cts_status (*act)(void *state, uint64_t page_start, uint64_t *words,
                                     struct cts_error *error),
              void *state, struct cts_error *error);

#endif
