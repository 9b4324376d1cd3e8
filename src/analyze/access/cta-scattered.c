/* Sets that are painted late.
 *
 * A set that has a few bytes in each of many pages of bits would fetch all of these pages, for one
 * CTA after another. So it waits, with those of other CTAs, until there are many; then they are
 * painted block by block of addresses (analyze/sets.h), whose bits the cache can hold.
 *
 * Of a block, *sheets* are at hand: the launch's bits, and those of each site that is painted. */
#include <string.h>

#include "analyze/access/access-model.h"

enum { SCATTERED_COUNT = 256, SCATTERED_BYTES = 1024 };
enum { AHEAD = 24 }; /* items whose bits are fetched in advance */

_Static_assert((int)CTS_SHADOW_BLOCK_BITS == (int)CTS_BITS_BLOCK_BITS, "blocks of sets and bits");

bool cts_access_is_scattered(const struct cts_access_model *model, const struct cts_intervals *set)
{
    if (model->options.late_ranges) return set->count >= model->options.late_ranges;
    return set->count >= SCATTERED_COUNT &&
           (set->items[set->count - 1].end - set->items[0].start) / set->count >= SCATTERED_BYTES;
}

/* ---- waiting ---- */

/* The number of a group, made when it is new. */
static enum cts_status group_of(struct cts_access_worker *worker,
                                const struct cts_access_group *wanted, uint32_t *number)
{
    for (size_t i = worker->groups.count; i-- > 0;) {
        *number = (uint32_t)i;
        if (!memcmp(&worker->groups.items[i], wanted, sizeof *wanted)) return CTS_OK;
    }
    *number = (uint32_t)worker->groups.count;
    if (CTS_ARRAY_RESERVE(&worker->groups, worker->groups.count + 1, &worker->error))
        return CTS_MEMORY;
    worker->groups.items[worker->groups.count++] = *wanted;
    return CTS_OK;
}

enum cts_status cts_access_put_off(struct cts_access_worker *worker,
                                   const struct cts_intervals *set,
                                   const struct cts_access_group *group)
{
    uint32_t number;
    enum cts_status status = group_of(worker, group, &number);
    for (size_t i = 0; i < set->count && !status; i++)
        status = cts_sets_add(&worker->scattered, set->items[i].start, set->items[i].end, number,
                              &worker->error);
    return status;
}

/* ---- painting ---- */

/* The bits of one block of addresses. */
struct sheet {
    struct cts_bits *bits;
    uint64_t *const *pages; /* NULL: there are none yet */
};

/* What a group paints in the block at hand. */
struct painting {
    struct cts_access_worker *worker;
    const struct cts_access_group *group;
    struct cts_access_slot *slots[CTS_ACCESS_GROUP_MAX];
    unsigned planes[CTS_ACCESS_GROUP_MAX];
    uint64_t new_bytes[CTS_ACCESS_GROUP_MAX];
    struct sheet touched, sites[CTS_ACCESS_GROUP_MAX];
    bool is_global;    /* and not of constant memory */
    bool paints_sites; /* not where only what is written counts */
    bool shared;
};

static uint64_t *make_page(struct sheet *sheet, uint64_t address, struct cts_error *error)
{
    uint64_t *const page = cts_bits_page(sheet->bits, address, error);
    sheet->pages = cts_bits_block(sheet->bits, address);
    return page;
}

static inline uint64_t *page_of(const struct sheet *sheet, uint64_t address)
{
    return sheet->pages ? __atomic_load_n(
                              &sheet->pages[(address >> CTS_BITS_PAGE_BITS) % CTS_BITS_BLOCK_PAGES],
                              __ATOMIC_ACQUIRE)
                        : NULL;
}

static inline uint64_t *word_of(struct sheet *sheet, unsigned planes, uint64_t address,
                                struct cts_error *error)
{
    uint64_t *page = page_of(sheet, address);
    if (__builtin_expect(!page, 0)) page = make_page(sheet, address, error);
    return page ? &page[address / 64 % CTS_BITS_PAGE_WORDS * planes] : NULL;
}

static inline enum cts_status paint_sites(struct painting *p, uint64_t address, uint64_t mask)
{
    uint64_t first_before = 0;
    unsigned first_new = 0;
    for (unsigned i = 0; i < p->group->count; i++) {
        uint64_t *const word = word_of(&p->sites[i], 1, address, &p->worker->error);
        if (!word) return p->worker->error.status;
        const uint64_t before = cts_bits_or(word, mask, p->shared);
        /* The load and the store of an update have mostly found the same. */
        if (i == 0 || before != first_before) first_new = cts_bits_count(mask & ~before);
        first_before = before;
        p->new_bytes[i] += first_new;
    }
    return CTS_OK;
}

static inline enum cts_status paint_word(struct painting *p, uint64_t address, uint64_t mask)
{
    if (p->is_global) {
        uint64_t *const bits = word_of(&p->touched, CTS_PLANE_COUNT, address, &p->worker->error);
        if (!bits) return p->worker->error.status;
        if (p->group->has_union) {
            const uint64_t before = cts_bits_or(&bits[CTS_PLANE_TOUCHED], mask, p->shared);
            if (before & mask) cts_bits_or(&bits[CTS_PLANE_MANY], before & mask, p->shared);
        }
        for (unsigned i = 0; i < p->group->count; i++)
            cts_bits_or(&bits[p->planes[i]], mask, p->shared);
    }
    return p->paints_sites ? paint_sites(p, address, mask) : CTS_OK;
}

static enum cts_status paint_words(struct painting *p, const struct cts_set_item *item)
{
    const uint64_t start = item->start, last = start + item->length_bytes - 1;
    enum cts_status status = CTS_OK;
    for (uint64_t w = start / 64; w <= last / 64 && !status; w++) {
        uint64_t mask = UINT64_MAX;
        if (w == start / 64) mask &= UINT64_MAX << (start % 64);
        if (w == last / 64) mask &= UINT64_MAX >> (63 - last % 64);
        status = paint_word(p, w * 64, mask);
    }
    return status;
}

static inline void expect(const struct painting *p, uint64_t address)
{
    const uint64_t *const page = p->is_global ? page_of(&p->touched, address) : NULL;
    if (page) {
        const uint64_t *const bits = &page[address / 64 % CTS_BITS_PAGE_WORDS * CTS_PLANE_COUNT];
        __builtin_prefetch(bits, 1);
        __builtin_prefetch(bits + CTS_PLANE_COUNT - 1, 1); /* they may lie in two lines */
    }
    for (unsigned i = 0; i < p->group->count; i++) {
        const uint64_t *const site = page_of(&p->sites[i], address);
        if (site) __builtin_prefetch(&site[address / 64 % CTS_BITS_PAGE_WORDS], 1);
    }
}

static void turn_to(struct painting *p, uint32_t number, uint64_t address)
{
    struct cts_access_worker *const worker = p->worker;
    struct cts_access_model *const model = worker->model;
    p->group = &worker->groups.items[number];
    p->touched = (struct sheet){&model->touched, cts_bits_block(&model->touched, address)};
    for (unsigned i = 0; i < p->group->count; i++) {
        struct cts_access_slot *const slot = &worker->slots[p->group->slots[i]];
        p->slots[i] = slot;
        p->planes[i] = cts_access_plane_of(slot);
        p->new_bytes[i] = 0;
        p->sites[i] = (struct sheet){slot->bits, cts_bits_block(slot->bits, address)};
    }
    p->is_global = !p->group->count || p->slots[0]->space == CTS_SPACE_GLOBAL;
}

/* Items of one group in one block. */
static enum cts_status paint_run(struct painting *p, const struct cts_set_item *items, size_t count)
{
    enum cts_status status = CTS_OK;
    turn_to(p, items[0].node, items[0].start);
    for (size_t i = 0; i < count && i < AHEAD; i++) expect(p, items[i].start);
    for (size_t i = 0; i < count && !status; i++) {
        const uint64_t start = items[i].start, length = items[i].length_bytes;
        if (i + AHEAD < count) expect(p, items[i + AHEAD].start);
        status = start % 64 + length <= 64
                     ? paint_word(p, start, UINT64_MAX >> (64 - length) << start % 64)
                     : paint_words(p, &items[i]);
    }
    for (unsigned i = 0; i < p->group->count; i++)
        if (p->slots[i]->row != SIZE_MAX)
            p->worker->rows.items[p->slots[i]->row].counts.launch_distinct_bytes += p->new_bytes[i];
    return status;
}

enum cts_status cts_access_paint_scattered(struct cts_access_worker *worker)
{
    struct painting p = {.worker = worker,
                         .paints_sites = worker->model->look != CTS_LOOK_WRITES,
                         .shared = worker->model->is_shared};
    struct cts_sets_place place = {0};
    const struct cts_set_item *items;
    size_t done = 0;
    enum cts_status status = CTS_OK;
    for (size_t count; !status && (count = cts_sets_next(&worker->scattered, &place, &items));) {
        status = cts_access_source_pause(worker->model->source, done++ * (CTS_SET_CHUNK_ITEMS + 1),
                                         &worker->error);
        for (size_t i = 0, end; i < count && !status; i = end) {
            for (end = i + 1; end < count && items[end].node == items[i].node;) end++;
            status = paint_run(&p, &items[i], end - i);
        }
    }
    cts_sets_empty(&worker->scattered);
    return status;
}
