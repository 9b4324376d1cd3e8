/* While a CTA's records come in, its own pages of bits say what it has read before and after its
 * own stores, and what it stored. When it is complete they are added to the launch's, which also
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

enum { LOCKS = 64, FIRST_SLOTS = 16 };

/* A CTA's bits of a page of 4 KiB. */
enum { OWN_READ, OWN_OWN, OWN_STORE, OWN_PLANES };
struct cta_page {
    uint64_t number; /* address >> 12 */
    unsigned first_word, last_word;
    uint64_t words[OWN_PLANES][CTS_BITS_PAGE_WORDS];
};

struct cta {
    uint32_t number;
    struct cta_page **pages; /* by slot of the hash; NULL: free. Pages are kept for the next CTA */
    size_t slot_count;
    struct cta_page **used;
    size_t used_count, used_capacity;
    struct cta_page **spare;
    size_t spare_count, spare_capacity;
    struct cta_page *last;
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
    while (cta->pages[slot] && cta->pages[slot]->number != number)
        slot = (slot + 1) & (cta->slot_count - 1);
    return slot;
}

static enum cts_status grow_slots(struct cta *cta, struct cts_error *error)
{
    const size_t wanted = cta->slot_count ? cta->slot_count * 2 : FIRST_SLOTS;
    struct cta_page **const pages = cts_array_zeroed(wanted, sizeof *pages, error);
    if (!pages) return CTS_MEMORY;
    free(cta->pages);
    cta->pages = pages;
    cta->slot_count = wanted;
    for (size_t i = 0; i < cta->used_count; i++)
        cta->pages[slot_of(cta, cta->used[i]->number)] = cta->used[i];
    return CTS_OK;
}

static struct cta_page *page_of(struct cta *cta, uint64_t number, struct cts_error *error)
{
    if (cta->last && cta->last->number == number) return cta->last;
    if (2 * cta->used_count >= cta->slot_count && grow_slots(cta, error)) return NULL;
    const size_t slot = slot_of(cta, number);
    if (!cta->pages[slot]) {
        if (cta->used_count == cta->used_capacity &&
            cts_array_grow((void **)&cta->used, &cta->used_capacity, cta->used_count + 1,
                           sizeof *cta->used, error))
            return NULL;
        struct cta_page *const page = cta->spare_count ? cta->spare[--cta->spare_count]
                                                       : cts_array_zeroed(1, sizeof *page, error);
        if (!page) return NULL;
        page->number = number;
        page->first_word = CTS_BITS_PAGE_WORDS;
        page->last_word = 0;
        cta->pages[slot] = cta->used[cta->used_count++] = page;
    }
    return cta->last = cta->pages[slot];
}

static void release_cta(void *state)
{
    struct cta *const cta = state;
    for (size_t i = 0; i < cta->used_count; i++) free(cta->used[i]);
    for (size_t i = 0; i < cta->spare_count; i++) free(cta->spare[i]);
    free(cta->used);
    free(cta->spare);
    free(cta->pages);
    *cta = (struct cta){0};
}

/* The CTA's pages are empty again. */
static enum cts_status empty_cta(struct cta *cta, struct cts_error *error)
{
    if (cta->spare_capacity < cta->spare_count + cta->used_count &&
        cts_array_grow((void **)&cta->spare, &cta->spare_capacity,
                       cta->spare_count + cta->used_count, sizeof *cta->spare, error))
        return CTS_MEMORY;
    for (size_t i = 0; i < cta->used_count; i++) {
        struct cta_page *const page = cta->used[i];
        cta->pages[slot_of(cta, page->number)] = NULL;
        for (unsigned plane = 0; plane < OWN_PLANES; plane++)
            for (unsigned w = page->first_word; w <= page->last_word; w++)
                page->words[plane][w] = 0;
    }
    /* Slots are emptied one by one, so that a probe may stop early: all are set to empty. */
    if (cta->slot_count) memset(cta->pages, 0, cta->slot_count * sizeof *cta->pages);
    for (size_t i = 0; i < cta->used_count; i++) cta->spare[cta->spare_count++] = cta->used[i];
    cta->used_count = 0;
    cta->last = NULL;
    return CTS_OK;
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

static void touch_word(const struct record *r, struct cta_page *page, unsigned w, uint64_t mask,
                       uint64_t *exposed)
{
    uint64_t(*const words)[CTS_BITS_PAGE_WORDS] = page->words;
    const uint64_t own = words[OWN_STORE][w] & mask;
    *exposed = mask & ~own;
    if (r->is_load) {
        words[OWN_READ][w] |= *exposed;
        words[OWN_OWN][w] |= own;
    } else if (r->atomic) {
        words[OWN_OWN][w] |= own;
    } else {
        words[OWN_STORE][w] |= mask;
    }
}

static enum cts_status touch(const struct record *r, uint64_t start, uint64_t end)
{
    while (start < end) {
        const uint64_t page_end = (start | 4095) + 1;
        const uint64_t stop = page_end && page_end < end ? page_end : end;
        struct cta_page *const page = page_of(r->cta, start >> CTS_BITS_PAGE_BITS, r->error);
        if (!page) return CTS_MEMORY;
        const unsigned first = start & 4095, last = (unsigned)(stop - 1) & 4095;
        if (first / 64 < page->first_word) page->first_word = first / 64;
        if (last / 64 > page->last_word) page->last_word = last / 64;
        for (unsigned w = first / 64; w <= last / 64; w++) {
            const uint64_t mask = cts_bits_mask(w, first, last + 1);
            uint64_t exposed;
            touch_word(r, page, w, mask, &exposed);
            if (!r->atomic || !exposed) continue;
            uint64_t *const words = cts_bits_page(r->atomic, start, r->error);
            if (!words) return CTS_MEMORY;
            (void)cts_bits_or(&words[w], exposed, true);
        }
        if (r->is_signal) {
            const enum cts_status status =
                cts_bits_set(&r->toucher->bits, PLANE_SIGNAL, start, stop, r->error);
            if (status) return status;
        }
        start = stop;
    }
    return CTS_OK;
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

static void add_page(struct cts_flow_toucher *toucher, const struct cta_page *page, uint64_t *words)
{
    pthread_mutex_t *const lock = &toucher->locks[page->number % LOCKS];
    pthread_mutex_lock(lock);
    for (unsigned w = page->first_word; w <= page->last_word; w++) {
        uint64_t *const all = words + (size_t)w * PLANES;
        const uint64_t read = page->words[OWN_READ][w], store = page->words[OWN_STORE][w];
        all[PLANE_CROSS] |= (read & all[PLANE_STORE]) | (store & all[PLANE_READ]);
        all[PLANE_READ] |= read;
        all[PLANE_OWN] |= page->words[OWN_OWN][w];
        all[PLANE_STORE] |= store;
    }
    pthread_mutex_unlock(lock);
}

/* Hands out the runs of bits that are set. */
static enum cts_status give_plane(const struct cts_flow_toucher *toucher, const struct cta *cta,
                                  const struct cta_page *page, unsigned plane,
                                  struct cts_error *error)
{
    struct cts_flow_cta_run run = {.cta = cta->number, .is_store = plane == OWN_STORE};
    enum cts_status status = CTS_OK;
    for (unsigned w = page->first_word; w <= page->last_word && !status; w++) {
        for (uint64_t left = page->words[plane][w]; left && !status;) {
            const unsigned bit = (unsigned)__builtin_ctzll(left);
            const uint64_t rest = ~(left >> bit);
            const unsigned length = rest ? (unsigned)__builtin_ctzll(rest) : 64;
            const uint64_t at = (page->number << CTS_BITS_PAGE_BITS) + 64 * (uint64_t)w + bit;
            left &= bit + length < 64 ? UINT64_MAX << (bit + length) : 0;
            if (run.end != at) {
                if (run.end) status = toucher->take_cta(toucher->take_cta_state, &run, error);
                run.start = at;
            }
            run.end = at + length;
        }
    }
    if (!status && run.end) status = toucher->take_cta(toucher->take_cta_state, &run, error);
    return status;
}

static enum cts_status close_cta(void *state, unsigned thread, void *cta_state,
                                 struct cts_error *error)
{
    struct cts_flow_toucher *const toucher = state;
    struct cta *const cta = cta_state;
    (void)thread;
    for (size_t i = 0; i < cta->used_count; i++) {
        const struct cta_page *const page = cta->used[i];
        if (toucher->take_cta) {
            enum cts_status status = give_plane(toucher, cta, page, OWN_READ, error);
            if (!status) status = give_plane(toucher, cta, page, OWN_STORE, error);
            if (status) return status;
            continue;
        }
        uint64_t *const words =
            cts_bits_page(&toucher->bits, page->number << CTS_BITS_PAGE_BITS, error);
        if (!words) return CTS_MEMORY;
        add_page(toucher, page, words);
    }
    return empty_cta(cta, error);
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

/* All ways of a byte's word: planes, then the atomic operations. */
struct word_ways {
    uint64_t bits[PLANES + CTS_WAY_ATOMICS];
    uint32_t ways[PLANES + CTS_WAY_ATOMICS];
    unsigned count;
};

static uint32_t ways_at(const struct word_ways *word, unsigned bit)
{
    uint32_t ways = 0;
    for (unsigned i = 0; i < word->count; i++)
        if (word->bits[i] >> bit & 1) ways |= word->ways[i];
    return ways;
}

/* Bits at which the ways differ from those of the byte before; bit 0 is always one. */
static uint64_t borders(const struct word_ways *word)
{
    uint64_t borders = 1;
    for (unsigned i = 0; i < word->count; i++) borders |= word->bits[i] ^ word->bits[i] << 1;
    return borders;
}

static enum cts_status give_page(void *state, uint64_t page_start, uint64_t *words,
                                 struct cts_error *error)
{
    const struct giving *const giving = state;
    const uint64_t *atomics[CTS_WAY_ATOMICS];
    for (unsigned k = 0; k < CTS_WAY_ATOMICS; k++)
        atomics[k] = cts_bits_find(&giving->toucher->atomics[k], page_start);
    uint64_t run_start = page_start;
    uint32_t run_ways = 0;
    enum cts_status status = CTS_OK;
    for (unsigned w = 0; w < CTS_BITS_PAGE_WORDS && !status; w++) {
        struct word_ways word = {.count = 0};
        uint64_t plain[PLANES];
        for (unsigned p = 0; p < PLANES; p++) plain[p] = words[(size_t)w * PLANES + p];
        for (unsigned k = 0; k < CTS_WAY_ATOMICS; k++) {
            if (!atomics[k] || !atomics[k][w]) continue;
            plain[PLANE_CROSS] |= atomics[k][w] & plain[PLANE_STORE]; /* in either order */
            word.bits[word.count] = atomics[k][w];
            word.ways[word.count++] = (uint32_t)CTS_WAY_ATOMIC << k;
        }
        for (unsigned p = 0; p < PLANES; p++) {
            if (!plain[p]) continue;
            word.bits[word.count] = plain[p];
            word.ways[word.count++] = 1u << p;
        }
        for (uint64_t left = borders(&word); left && !status; left &= left - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(left);
            const uint32_t ways = ways_at(&word, bit);
            if (ways == run_ways) continue;
            const uint64_t at = page_start + (uint64_t)w * 64 + bit;
            if (run_ways) status = giving->take(giving->state, run_start, at, run_ways, error);
            run_start = at;
            run_ways = ways;
        }
    }
    if (run_ways && !status)
        status = giving->take(giving->state, run_start, page_start + 4096, run_ways, error);
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

void cts_flow_toucher_free(struct cts_flow_toucher *toucher)
{
    if (!toucher) return;
    cts_flow_reading_release(&toucher->reading);
    clear(toucher);
    cts_bits_pool_release(&toucher->pool);
    for (unsigned i = 0; i < LOCKS; i++) pthread_mutex_destroy(&toucher->locks[i]);
    free(toucher);
}
