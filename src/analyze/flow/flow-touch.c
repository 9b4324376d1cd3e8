/* While a CTA's records come in, its own blocks of bits say what it has read before and after its
 * own stores, and what it stored. Blocks are small, so that those of a CTA that gathers stay in the
 * cache. When it is complete they are added to the launch's, which also
 * get the bytes that one CTA reads and another stores: bits that are in the CTA's reads and the
 * stores of those before it, or the other way round. */
#include "analyze/flow/flow-touch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/bits.h"
#include "analyze/dense.h"
#include "common/array.h"
#include "common/hash.h"

enum { PLANE_READ, PLANE_OWN, PLANE_STORE, PLANE_SIGNAL, PLANE_CROSS, PLANES };
_Static_assert(CTS_WAY_READ == 1 << PLANE_READ && CTS_WAY_CROSS == 1 << PLANE_CROSS,
               "ways are planes");

enum { LOCKS = 64, FIRST_SLOTS = 32, AHEAD = 16 };

/* A CTA's bits of 256 bytes. */
enum { OWN_READ, OWN_OWN, OWN_STORE, OWN_PLANES };
enum { BLOCK_BITS = 8, BLOCK_BYTES = 1 << BLOCK_BITS, BLOCK_WORDS = BLOCK_BYTES / 64 };
struct cta_block {
    uint64_t number; /* address >> BLOCK_BITS */
    size_t slot;     /* its place in the hash */
    uint64_t words[BLOCK_WORDS][OWN_PLANES];
};

struct cta {
    uint32_t number;
    struct cta_block *blocks; /* kept for the next CTA */
    size_t count, capacity;
    uint32_t *slots; /* index of the block + 1; 0: free */
    size_t slot_count;
    size_t last; /* index of the block found last + 1; 0: none */
};

struct cts_flow_toucher {
    struct cts_flow_reading reading;
    struct cts_bits_pool pool;
    struct cts_bits bits;
    struct cts_bits atomics[CTS_WAY_ATOMICS];
    pthread_mutex_t locks[LOCKS];   /* of the pages of `bits`, by number */
    cts_flow_take_cta_run take_cta; /* NULL: the CTAs' bytes become the launch's */
    void *take_cta_state;
};

/* ---- a CTA ---- */

static size_t slot_of(const struct cta *cta, uint64_t number)
{
    size_t slot = cts_hash(number) >> 32 & (cta->slot_count - 1);
    while (cta->slots[slot] && cta->blocks[cta->slots[slot] - 1].number != number)
        slot = (slot + 1) & (cta->slot_count - 1);
    return slot;
}

static enum cts_status grow_slots(struct cta *cta, struct cts_error *error)
{
    const size_t wanted = cta->slot_count ? cta->slot_count * 2 : FIRST_SLOTS;
    uint32_t *const slots = cts_array_zeroed(wanted, sizeof *slots, error);
    if (!slots) return CTS_MEMORY;
    free(cta->slots);
    cta->slots = slots;
    cta->slot_count = wanted;
    for (size_t i = 0; i < cta->count; i++) {
        cta->blocks[i].slot = slot_of(cta, cta->blocks[i].number);
        cta->slots[cta->blocks[i].slot] = (uint32_t)i + 1;
    }
    return CTS_OK;
}

/* Valid until the next block is looked up. */
static struct cta_block *block_of(struct cta *cta, uint64_t number, struct cts_error *error)
{
    if (cta->last && cta->blocks[cta->last - 1].number == number)
        return &cta->blocks[cta->last - 1];
    if (2 * cta->count >= cta->slot_count && grow_slots(cta, error)) return NULL;
    const size_t slot = slot_of(cta, number);
    if (!cta->slots[slot]) {
        if (cta->count == cta->capacity &&
            cts_array_grow((void **)&cta->blocks, &cta->capacity, cta->count + 1,
                           sizeof *cta->blocks, error))
            return NULL;
        cta->blocks[cta->count++] = (struct cta_block){.number = number, .slot = slot};
        cta->slots[slot] = (uint32_t)cta->count;
    }
    cta->last = cta->slots[slot];
    return &cta->blocks[cta->last - 1];
}

static void release_cta(void *state)
{
    struct cta *const cta = state;
    free(cta->blocks);
    free(cta->slots);
    *cta = (struct cta){0};
}

/* The CTA has touched nothing. */
static void empty_cta(struct cta *cta)
{
    for (size_t i = 0; i < cta->count; i++) cta->slots[cta->blocks[i].slot] = 0;
    cta->count = cta->last = 0;
}

/* ---- records ---- */

struct record {
    struct cts_flow_toucher *toucher;
    struct cta *cta;
    struct cts_bits *atomic; /* NULL: no atomic */
    struct cts_error *error;
    uint32_t width_bytes;
    bool is_load, is_signal;
};

/* Bytes `mask` of a word of the CTA's bits; *exposed: those that it has not stored. */
static void touch_word(const struct record *r, uint64_t *words, uint64_t mask, uint64_t *exposed)
{
    const uint64_t own = words[OWN_STORE] & mask;
    *exposed = mask & ~own;
    if (r->is_load) {
        words[OWN_READ] |= *exposed;
        words[OWN_OWN] |= own;
    } else if (r->atomic) {
        words[OWN_OWN] |= own;
    } else {
        words[OWN_STORE] |= mask;
    }
}

/* Bytes [start, end) of one block. */
static enum cts_status touch_block(const struct record *r, uint64_t start, uint64_t end)
{
    struct cta_block *const block = block_of(r->cta, start >> BLOCK_BITS, r->error);
    if (!block) return CTS_MEMORY;
    const unsigned first = start % BLOCK_BYTES, last = (unsigned)(end - 1) % BLOCK_BYTES;
    for (unsigned w = first / 64; w <= last / 64; w++) {
        uint64_t exposed;
        touch_word(r, block->words[w], cts_bits_mask(w, first, last + 1), &exposed);
        if (!r->atomic || !exposed) continue;
        uint64_t *const page = cts_bits_page(r->atomic, start, r->error);
        if (!page) return CTS_MEMORY;
        const uint64_t at = start / BLOCK_BYTES * BLOCK_BYTES + 64 * (uint64_t)w;
        (void)cts_bits_or(cts_bits_word_in(r->atomic, page, at), exposed, true);
    }
    if (!r->is_signal) return CTS_OK;
    return cts_bits_set(&r->toucher->bits, PLANE_SIGNAL, start, end, r->error);
}

static enum cts_status touch(const struct record *r, uint64_t start, uint64_t end)
{
    enum cts_status status = CTS_OK;
    while (start < end && !status) {
        const uint64_t block_end = (start | (BLOCK_BYTES - 1)) + 1;
        const uint64_t stop = block_end && block_end < end ? block_end : end;
        status = touch_block(r, start, stop);
        start = stop;
    }
    return status;
}

static enum cts_status take_span(void *state, uint64_t start, uint32_t lane_count,
                                 uint32_t multiplicity)
{
    const struct record *const r = state;
    (void)multiplicity;
    uint64_t end;
    if (__builtin_add_overflow(start, (uint64_t)lane_count * r->width_bytes, &end))
        return cts_fail(r->error, CTS_FORMAT, "an access at 0x%llx passes the end of memory",
                        (unsigned long long)start);
    return touch(r, start, end);
}

static unsigned atomic_class(uint8_t operation)
{
    return operation <= CTS_ATOMIC_SUB ? 0 : (unsigned)operation - CTS_ATOMIC_SUB;
}

static enum cts_status take_records(void *state, unsigned thread, void *cta_state,
                                    const struct cts_walk_run *run, struct cts_error *error)
{
    struct cts_flow_toucher *const toucher = state;
    const struct cts_acc_batch *const batch = run->batch;
    (void)thread;
    ((struct cta *)cta_state)->number = run->cta;
    struct record record = {.toucher = toucher, .cta = cta_state, .error = error};
    for (size_t i = run->begin; i < run->end; i++) {
        if (batch->space[i] != CTS_SPACE_GLOBAL) continue;
        const struct cts_site *const site =
            &toucher->reading.options.catalogue->sites[batch->site[i]];
        const bool is_atomic = cts_operation_is_atomic(site->operation);
        record.width_bytes = toucher->reading.sites.items[batch->site[i]].width_bytes;
        record.is_load = site->operation == CTS_LOAD;
        record.is_signal = is_atomic || site->is_volatile;
        record.atomic = is_atomic ? &toucher->atomics[atomic_class(site->operation)] : NULL;
        const enum cts_status status = cts_dense_record(
            batch, i, record.width_bytes, (struct cts_dense_sink){take_span, &record}, error);
        if (status) return status;
    }
    return CTS_OK;
}

static uint64_t address_of(const struct cta_block *block)
{
    return block->number << BLOCK_BITS;
}

/* Adds a CTA's block to the words of its place in the launch's page. */
static void add_block(struct cts_flow_toucher *toucher, const struct cta_block *block,
                      uint64_t *words)
{
    pthread_mutex_t *const lock =
        &toucher->locks[(address_of(block) >> CTS_BITS_PAGE_BITS) % LOCKS];
    pthread_mutex_lock(lock);
    for (unsigned w = 0; w < BLOCK_WORDS; w++) {
        uint64_t *const all = words + (size_t)w * PLANES;
        const uint64_t *const own = block->words[w];
        if (!(own[OWN_READ] | own[OWN_OWN] | own[OWN_STORE])) continue;
        all[PLANE_CROSS] |= (own[OWN_READ] & all[PLANE_STORE]) | (own[OWN_STORE] & all[PLANE_READ]);
        all[PLANE_READ] |= own[OWN_READ];
        all[PLANE_OWN] |= own[OWN_OWN];
        all[PLANE_STORE] |= own[OWN_STORE];
    }
    pthread_mutex_unlock(lock);
}

/* Fetches what add_block() wants: blocks of a CTA that gathers lie far apart. */
static inline __attribute__((always_inline)) void expect_block(const struct cta_block *block,
                                                               const uint64_t *words)
{
    for (unsigned w = 0; w < BLOCK_WORDS; w++) {
        const uint64_t *const own = block->words[w], *const all = words + (size_t)w * PLANES;
        if (!(own[OWN_READ] | own[OWN_OWN] | own[OWN_STORE])) continue;
        __builtin_prefetch(all, 1);
        __builtin_prefetch(all + PLANES - 1, 1); /* they may lie in two lines of the cache */
    }
}

static enum cts_status add_cta(struct cts_flow_toucher *toucher, const struct cta *cta,
                               struct cts_error *error)
{
    uint64_t *words[AHEAD];
    for (size_t begin = 0; begin < cta->count; begin += AHEAD) {
        const size_t left = cta->count - begin, count = left < AHEAD ? left : AHEAD;
        const struct cta_block *const blocks = cta->blocks + begin;
        for (size_t i = 0; i < count; i++) {
            uint64_t *const page = cts_bits_page(&toucher->bits, address_of(&blocks[i]), error);
            if (!page) return CTS_MEMORY;
            words[i] = cts_bits_word_in(&toucher->bits, page, address_of(&blocks[i]));
            expect_block(&blocks[i], words[i]);
        }
        for (size_t i = 0; i < count; i++) add_block(toucher, &blocks[i], words[i]);
    }
    return CTS_OK;
}

/* ---- the runs of a CTA ---- */

static int by_number(const void *left, const void *right)
{
    const struct cta_block *const a = left, *const b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* Hands out a run that has ended, and begins one at `at`. */
static enum cts_status next_run(const struct cts_flow_toucher *toucher,
                                struct cts_flow_cta_run *run, uint64_t at, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (run->end) status = toucher->take_cta(toucher->take_cta_state, run, error);
    run->start = at;
    return status;
}

/* The bits that are set in a word of the bytes from `at` on. */
static enum cts_status give_bits(const struct cts_flow_toucher *toucher,
                                 struct cts_flow_cta_run *run, uint64_t at, uint64_t bits,
                                 struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    while (bits && !status) {
        const unsigned bit = (unsigned)__builtin_ctzll(bits);
        const uint64_t rest = ~(bits >> bit);
        const unsigned length = rest ? (unsigned)__builtin_ctzll(rest) : 64;
        bits &= bit + length < 64 ? UINT64_MAX << (bit + length) : 0;
        const bool follows = run->end == at + bit && run->end % 4096;
        if (!follows) status = next_run(toucher, run, at + bit, error);
        run->end = at + bit + length;
    }
    return status;
}

/* Blocks are in order. */
static enum cts_status give_plane(const struct cts_flow_toucher *toucher, const struct cta *cta,
                                  unsigned plane, struct cts_error *error)
{
    struct cts_flow_cta_run run = {.cta = cta->number, .is_store = plane == OWN_STORE};
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < cta->count && !status; i++) {
        const struct cta_block *const block = &cta->blocks[i];
        for (unsigned w = 0; w < BLOCK_WORDS && !status; w++)
            status = give_bits(toucher, &run, address_of(block) + 64 * (uint64_t)w,
                               block->words[w][plane], error);
    }
    return status ? status : next_run(toucher, &run, 0, error);
}

static enum cts_status give_cta(const struct cts_flow_toucher *toucher, const struct cta *cta,
                                struct cts_error *error)
{
    if (cta->count > 1) qsort(cta->blocks, cta->count, sizeof *cta->blocks, by_number);
    const enum cts_status status = give_plane(toucher, cta, OWN_READ, error);
    return status ? status : give_plane(toucher, cta, OWN_STORE, error);
}

static enum cts_status close_cta(void *state, unsigned thread, void *cta_state,
                                 struct cts_error *error)
{
    struct cts_flow_toucher *const toucher = state;
    struct cta *const cta = cta_state;
    (void)thread;
    const enum cts_status status =
        toucher->take_cta ? give_cta(toucher, cta, error) : add_cta(toucher, cta, error);
    empty_cta(cta);
    return status;
}

static const struct cts_walk_ops walk_ops = {
    .cta_bytes = sizeof(struct cta),
    .record = take_records,
    .close = close_cta,
    .release = release_cta,
};

/* ---- the runs of a launch ---- */

struct giving {
    struct cts_flow_toucher *toucher;
    cts_flow_take_run take;
    void *state;
};

/* The ways of a word's bytes: of its planes and atomic operations, those with bits. */
struct word_ways {
    uint64_t bits[PLANES + CTS_WAY_ATOMICS];
    uint32_t ways[PLANES + CTS_WAY_ATOMICS];
    unsigned count;
    uint64_t
        borders; /* bits at which the ways differ from those of the byte before; always bit 0 */
};

static inline void add_ways(struct word_ways *word, uint64_t bits, uint32_t ways)
{
    word->bits[word->count] = bits;
    word->ways[word->count] = ways;
    word->count += bits != 0;
    word->borders |= bits ^ bits << 1;
}

static inline uint32_t ways_at(const struct word_ways *word, unsigned bit)
{
    uint32_t ways = 0;
    for (unsigned i = 0; i < word->count; i++)
        ways |= word->ways[i] & -(uint32_t)(word->bits[i] >> bit & 1);
    return ways;
}

/* A page of a launch, and of the atomic operations that touch it. */
struct page_words {
    const uint64_t *planes;
    const uint64_t *atomics[CTS_WAY_ATOMICS];
    uint32_t atomic_ways[CTS_WAY_ATOMICS];
    unsigned atomic_count;
};

static inline struct word_ways word_at(const struct page_words *page, unsigned w)
{
    struct word_ways word;
    word.count = 0;
    word.borders = 1;
    const uint64_t *const plain = page->planes + (size_t)w * PLANES;
    uint64_t cross = plain[PLANE_CROSS];
    for (unsigned k = 0; k < page->atomic_count; k++) {
        cross |= page->atomics[k][w] & plain[PLANE_STORE]; /* in either order */
        add_ways(&word, page->atomics[k][w], page->atomic_ways[k]);
    }
    for (unsigned p = 0; p < PLANES; p++)
        add_ways(&word, p == PLANE_CROSS ? cross : plain[p], 1u << p);
    return word;
}

/* Are all bytes of the word touched in the same ways? Most words are like this. */
static inline bool is_even(const struct page_words *page, unsigned w, uint32_t *ways)
{
    const uint64_t *const plain = page->planes + (size_t)w * PLANES;
    uint64_t uneven = 0, first = 0;
    for (unsigned k = 0; k < page->atomic_count; k++)
        if (page->atomics[k][w]) return false;
    for (unsigned p = 0; p < PLANES; p++) {
        uneven |= plain[p] + 1 > 1;
        first |= (plain[p] & 1) << p;
    }
    *ways = (uint32_t)first;
    return !uneven;
}

/* The bytes from `start` on are touched in the same ways. */
struct giving_run {
    uint64_t start;
    uint32_t ways; /* 0: not touched */
};

static enum cts_status give_word(const struct giving *giving, const struct word_ways *word,
                                 uint64_t word_start, struct giving_run *run,
                                 struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint64_t left = word->borders; left && !status; left &= left - 1) {
        const unsigned bit = (unsigned)__builtin_ctzll(left);
        const uint32_t ways = ways_at(word, bit);
        if (ways == run->ways) continue;
        const uint64_t at = word_start + bit;
        if (run->ways) status = giving->take(giving->state, run->start, at, run->ways, error);
        *run = (struct giving_run){at, ways};
    }
    return status;
}

static enum cts_status give_page(void *state, uint64_t page_start, uint64_t *words,
                                 struct cts_error *error)
{
    const struct giving *const giving = state;
    struct page_words page = {.planes = words};
    for (unsigned k = 0; k < CTS_WAY_ATOMICS; k++) {
        const uint64_t *const found = cts_bits_find(&giving->toucher->atomics[k], page_start);
        if (!found) continue;
        page.atomics[page.atomic_count] = found;
        page.atomic_ways[page.atomic_count++] = (uint32_t)CTS_WAY_ATOMIC << k;
    }
    struct giving_run run = {.ways = 0};
    enum cts_status status = CTS_OK;
    for (unsigned w = 0; w < CTS_BITS_PAGE_WORDS && !status; w++) {
        uint32_t ways;
        if (is_even(&page, w, &ways) && ways == run.ways) continue;
        const struct word_ways word = word_at(&page, w);
        status = give_word(giving, &word, page_start + (uint64_t)w * 64, &run, error);
    }
    if (run.ways && !status)
        status = giving->take(giving->state, run.start, page_start + 4096, run.ways, error);
    return status;
}

static void clear(struct cts_flow_toucher *toucher)
{
    cts_bits_clear(&toucher->bits);
    for (unsigned k = 0; k < CTS_WAY_ATOMICS; k++) cts_bits_clear(&toucher->atomics[k]);
}

enum cts_status cts_flow_touch_ctas(struct cts_flow_toucher *toucher, size_t launch,
                                    cts_flow_take_cta_run take, void *state,
                                    struct cts_error *error)
{
    toucher->take_cta = take;
    toucher->take_cta_state = state;
    const enum cts_status status = cts_flow_read(&toucher->reading, launch, toucher, error);
    toucher->take_cta = NULL;
    clear(toucher);
    return status;
}

enum cts_status cts_flow_touch(struct cts_flow_toucher *toucher, size_t launch,
                               cts_flow_take_run take, void *state, struct cts_error *error)
{
    enum cts_status status = cts_flow_read(&toucher->reading, launch, toucher, error);
    struct giving giving = {toucher, take, state};
    if (!status) status = cts_bits_each(&toucher->bits, give_page, &giving, error);
    clear(toucher);
    return status;
}

/* ---- life ---- */

enum cts_status cts_flow_toucher_new(const struct cts_flow_touch_options *options,
                                     struct cts_flow_toucher **toucher, struct cts_error *error)
{
    struct cts_flow_toucher *const made = cts_array_zeroed(1, sizeof *made, error);
    *toucher = NULL;
    if (!made) return CTS_MEMORY;
    cts_bits_pool_init(&made->pool);
    cts_bits_init(&made->bits, &made->pool, PLANES);
    made->bits.is_shared = true;
    for (unsigned k = 0; k < CTS_WAY_ATOMICS; k++) cts_bits_init(&made->atomics[k], &made->pool, 1);
    for (unsigned i = 0; i < LOCKS; i++) pthread_mutex_init(&made->locks[i], NULL);
    const enum cts_status status =
        cts_flow_reading_begin(&made->reading, options, &walk_ops, error);
    if (status)
        cts_flow_toucher_free(made);
    else
        *toucher = made;
    return status;
}

const struct cts_catalogue *cts_flow_toucher_catalogue(const struct cts_flow_toucher *toucher)
{
    return toucher->reading.options.catalogue;
}

void cts_flow_toucher_free(struct cts_flow_toucher *toucher)
{
    if (!toucher) return;
    cts_flow_reading_release(&toucher->reading);
    clear(toucher);
    cts_bits_pool_release(&toucher->pool);
    for (unsigned i = 0; i < LOCKS; i++) pthread_mutex_destroy(&toucher->locks[i]);
    free(toucher);
}
