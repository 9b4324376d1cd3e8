/* A CTA's records are all read: its pieces become sets (cta-unite.c), and the sets bits of the
 * launch.
 *
 * Bytes of global memory are *touched by many* when a CTA touches a byte that is touched already:
 * so each CTA touches each byte once, in the union of its sites' sets. */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"

/* ---- from sets to bits ---- */

/* The words of 64 bytes that a set touches, each once. */
typedef enum cts_status (*word_function)(void *state, uint64_t word, uint64_t mask);

static inline __attribute__((always_inline)) enum cts_status
each_word(const struct cts_intervals *set, word_function act, void *state)
{
    uint64_t word = UINT64_MAX, mask = 0;
    for (size_t i = 0; i < set->count; i++) {
        const uint64_t start = set->items[i].start, last = set->items[i].end - 1;
        for (uint64_t w = start / 64; w <= last / 64; w++) {
            uint64_t here = UINT64_MAX;
            if (w == start / 64) here &= UINT64_MAX << (start % 64);
            if (w == last / 64) here &= UINT64_MAX >> (63 - last % 64);
            if (w != word) {
                const enum cts_status status = mask ? act(state, word, mask) : CTS_OK;
                if (status) return status;
                word = w;
                mask = 0;
            }
            mask |= here;
        }
    }
    return mask ? act(state, word, mask) : CTS_OK;
}

static inline uint64_t *word_of(struct cts_bits *bits, struct cts_bits_cached *page, uint64_t word,
                                struct cts_error *error)
{
    const uint64_t number = word / CTS_BITS_PAGE_WORDS + 1;
    if (__builtin_expect(page->number != number, 0)) {
        page->words = cts_bits_page(bits, word * 64, error);
        if (!page->words) return NULL;
        page->number = number;
    }
    return &page->words[word % CTS_BITS_PAGE_WORDS * bits->planes];
}

struct painting {
    struct cts_access_worker *worker;
    struct cts_access_slot *slot;
    unsigned plane;
    uint64_t new_bytes;
    bool shared;
};

static inline uint64_t *touched_word(struct painting *p, uint64_t word)
{
    struct cts_bits_cached *const pages = p->worker->pages;
    return word_of(&p->worker->model->touched,
                   &pages[word / CTS_BITS_PAGE_WORDS % CTS_ACCESS_CACHED_PAGES], word,
                   &p->worker->error);
}

static enum cts_status paint_site(void *state, uint64_t word, uint64_t mask)
{
    struct painting *const p = state;
    uint64_t *const bits = word_of(p->slot->bits, &p->slot->page, word, &p->worker->error);
    if (!bits) return p->worker->error.status;
    const uint64_t before = cts_bits_or(bits, mask, p->shared);
    p->new_bytes += cts_bits_count(mask & ~before);
    return CTS_OK;
}

static enum cts_status paint_class(void *state, uint64_t word, uint64_t mask)
{
    struct painting *const p = state;
    uint64_t *const bits = touched_word(p, word);
    if (!bits) return p->worker->error.status;
    cts_bits_or(&bits[p->plane], mask, p->shared);
    return CTS_OK;
}

static enum cts_status paint_both(void *state, uint64_t word, uint64_t mask)
{
    const enum cts_status status = paint_site(state, word, mask);
    return status ? status : paint_class(state, word, mask);
}

static enum cts_status paint_union(void *state, uint64_t word, uint64_t mask)
{
    struct painting *const p = state;
    uint64_t *const bits = touched_word(p, word);
    if (!bits) return p->worker->error.status;
    const uint64_t before = cts_bits_or(&bits[CTS_PLANE_TOUCHED], mask, p->shared);
    if (before & mask) cts_bits_or(&bits[CTS_PLANE_MANY], before & mask, p->shared);
    return CTS_OK;
}

/* The set of a slot in the bits of its site and of the launch; how much of it is new to the site.
 */
static enum cts_status paint_slot(struct cts_access_worker *worker, struct cts_access_slot *slot,
                                  const struct cts_intervals *set, uint64_t *new_bytes)
{
    struct cts_access_model *const model = worker->model;
    struct painting p = {.worker = worker,
                         .slot = slot,
                         .plane = cts_access_plane_of(slot),
                         .shared = model->is_shared};
    const bool is_global = slot->space == CTS_SPACE_GLOBAL;
    enum cts_status status;
    if (model->look == CTS_LOOK_WRITES)
        status = each_word(set, paint_class, &p);
    else if (is_global)
        status = each_word(set, paint_both, &p);
    else
        status = each_word(set, paint_site, &p);
    *new_bytes = p.new_bytes;
    return status;
}

static enum cts_status paint_all(struct cts_access_worker *worker, const struct cts_intervals *all)
{
    struct painting p = {.worker = worker, .shared = worker->model->is_shared};
    return each_word(all, paint_union, &p);
}

/* Bytes of the CTA by the allocation they lie in. */
static void count_places(struct cts_access_worker *worker, const struct cts_intervals *set)
{
    const struct cts_access_model *const model = worker->model;
    for (size_t i = 0; i < set->count; i++)
        for (uint64_t at = set->items[i].start, end; at < set->items[i].end; at = end) {
            const size_t place = cts_place_of(&model->places, &worker->place_hint, at, &end);
            if (end > set->items[i].end) end = set->items[i].end;
            worker->places[place == SIZE_MAX ? model->catalogue->allocation_count : place]
                .cta_distinct_bytes += end - at;
        }
}

/* ---- a CTA ---- */

/* The first slot with the same pieces, as the load and the store of an update have: what is known
 * of its bytes holds for this one, too. */
static size_t leader_of(const struct cts_access_worker *worker, const struct cts_access_cta *cta,
                        size_t index)
{
    enum { PIECES_MIN = 64 };
    const struct cts_access_model *const model = worker->model;
    const struct cts_pieces *const pieces = &cta->pieces[index];
    const size_t least = model->options.late_ranges ? model->options.late_ranges : PIECES_MIN;
    if (pieces->mirrors) return pieces->mirrors - 1;
    for (size_t i = 0; pieces->count >= least && i < index; i++)
        if (worker->slots[i].leader == i && cta->pieces[i].count == pieces->count &&
            worker->slots[i].space == worker->slots[index].space &&
            !memcmp(cta->pieces[i].items, pieces->items, pieces->count * sizeof *pieces->items))
            return worker->slots[i].leader;
    return index;
}

static void join_leader(struct cts_access_worker *worker, size_t index, size_t leader)
{
    struct cts_access_slot *const slot = &worker->slots[index];
    struct cts_access_slot *const first = &worker->slots[leader];
    if (index == leader) slot->has_stores = slot->writes = false;
    slot->leader = leader;
    first->has_stores |= slot->class == CTS_CLASS_STORE;
    first->writes |= slot->class != CTS_CLASS_READ;
}

static void find_leaders(struct cts_access_worker *worker, const struct cts_access_cta *cta)
{
    for (size_t i = 0; i < cta->piece_slots && i < worker->slot_count; i++)
        if (cta->pieces[i].count) join_leader(worker, i, leader_of(worker, cta, i));
}

/* The slot's set and what is new in it. */
static enum cts_status measure_slot(struct cts_access_worker *worker,
                                    const struct cts_access_cta *cta, size_t index)
{
    struct cts_access_slot *const slot = &worker->slots[index];
    struct cts_access_slot *const leader = &worker->slots[slot->leader];
    const enum cts_status status =
        leader == slot ? cts_access_unite(worker, &cta->pieces[index], slot) : CTS_OK;
    if (leader == slot && !status) slot->set_bytes = cts_intervals_bytes(&slot->set);
    if (status || slot->row == SIZE_MAX) return status;
    struct cts_access_counts *const counts = &worker->rows.items[slot->row].counts;
    counts->warp_distinct_bytes += leader->warp_distinct;
    counts->cta_distinct_bytes += leader->set_bytes;
    return CTS_OK;
}

static size_t slots_of(const struct cts_access_worker *worker, const struct cts_access_cta *cta)
{
    return cta->piece_slots < worker->slot_count ? cta->piece_slots : worker->slot_count;
}

/* The leader's set waits, for all slots that have it. */
static enum cts_status put_off_slots(struct cts_access_worker *worker,
                                     const struct cts_access_cta *cta, size_t leader,
                                     bool has_union)
{
    struct cts_access_group group = {.has_union = has_union};
    enum cts_status status = CTS_OK;
    for (size_t i = leader; i < slots_of(worker, cta) && !status; i++) {
        if (!cta->pieces[i].count || worker->slots[i].leader != leader) continue;
        group.slots[group.count++] = (uint32_t)i;
        if (group.count < CTS_ACCESS_GROUP_MAX) continue;
        status = cts_access_put_off(worker, &worker->slots[leader].set, &group);
        group = (struct cts_access_group){0};
    }
    if (group.count && !status)
        status = cts_access_put_off(worker, &worker->slots[leader].set, &group);
    return status;
}

/* The leader's set in the bits of all slots that have it. */
static enum cts_status paint_slots(struct cts_access_worker *worker,
                                   const struct cts_access_cta *cta, size_t leader)
{
    const struct cts_intervals *const set = &worker->slots[leader].set;
    enum cts_status status = CTS_OK;
    for (size_t i = leader; i < slots_of(worker, cta) && !status; i++) {
        struct cts_access_slot *const slot = &worker->slots[i];
        uint64_t new_bytes = worker->slots[leader].set_bytes;
        if (!cta->pieces[i].count || slot->leader != leader) continue;
        if (slot->space == CTS_SPACE_GLOBAL || slot->space == CTS_SPACE_CONSTANT)
            status = paint_slot(worker, slot, set, &new_bytes);
        if (slot->row != SIZE_MAX)
            worker->rows.items[slot->row].counts.launch_distinct_bytes += new_bytes;
    }
    return status;
}

/* *all united with a set; *next lends memory. Sets that lie behind one another, as those of
 * different arrays often do, need no merging. */
static enum cts_status unite_sets(struct cts_access_worker *worker, struct cts_intervals **all,
                                  const struct cts_intervals *set, struct cts_intervals **next)
{
    const struct cts_intervals *const before = *all;
    enum cts_status status = CTS_OK;
    if (!before->count || before->items[before->count - 1].start <= set->items[0].start) {
        for (size_t i = 0; i < set->count && !status; i++)
            status =
                cts_access_append(*all, set->items[i].start, set->items[i].end, &worker->error);
        return status;
    }
    status = cts_intervals_unite(before, set, *next, &worker->error);
    struct cts_intervals *const swapped = *all;
    *all = *next;
    *next = swapped;
    return status;
}

/* *all, *next: the union of what is not painted with its slots; *next lends memory. */
static enum cts_status settle_set(struct cts_access_worker *worker,
                                  const struct cts_access_cta *cta, size_t leader,
                                  struct cts_intervals *unions[2])
{
    const struct cts_access_model *const model = worker->model;
    const struct cts_access_slot *const slot = &worker->slots[leader];
    const bool is_global = slot->space == CTS_SPACE_GLOBAL;
    const bool has_bits = is_global || slot->space == CTS_SPACE_CONSTANT;
    const bool is_late = has_bits && cts_access_is_scattered(model, &slot->set);
    const bool has_union = is_global && model->look == CTS_LOOK_COUNT;
    const bool is_alone = has_union && is_late && cts_access_is_apart(worker, cta, leader);
    const enum cts_status status =
        is_late ? put_off_slots(worker, cta, leader, is_alone) : paint_slots(worker, cta, leader);
    if (status || !has_union) return status;
    if (!is_alone) return unite_sets(worker, &unions[0], &slot->set, &unions[1]);
    count_places(worker, &slot->set);
    return CTS_OK;
}

static void forget_pieces(const struct cts_access_worker *worker, struct cts_access_cta *cta)
{
    for (size_t i = 0; i < slots_of(worker, cta); i++) {
        struct cts_pieces *const pieces = &cta->pieces[i];
        if (!pieces->count) continue;
        pieces->count = pieces->compact_at = pieces->lane_bytes = 0;
        pieces->mirrors = 0;
        memset(pieces->last, 0, sizeof pieces->last);
    }
}

static enum cts_status measure_slots(struct cts_access_worker *worker,
                                     const struct cts_access_cta *cta)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < slots_of(worker, cta) && !status; i++)
        if (cta->pieces[i].count) status = measure_slot(worker, cta, i);
    return status;
}

static enum cts_status settle_slots(struct cts_access_worker *worker,
                                    const struct cts_access_cta *cta)
{
    struct cts_access_model *const model = worker->model;
    struct cts_intervals *unions[2] = {&worker->parts[0], &worker->parts[1]};
    const size_t count = slots_of(worker, cta);
    enum cts_status status = CTS_OK;
    unions[0]->count = 0;
    for (size_t i = 0; i < count && !status; i++)
        if (cta->pieces[i].count && worker->slots[i].leader == i)
            status = settle_set(worker, cta, i, unions);
    if (status || model->look != CTS_LOOK_COUNT) return status;
    count_places(worker, unions[0]);
    return cts_access_is_scattered(model, unions[0])
               ? cts_access_put_off(worker, unions[0],
                                    &(struct cts_access_group){.has_union = true})
               : paint_all(worker, unions[0]);
}

enum cts_status cts_access_settle_cta(struct cts_access_worker *worker, struct cts_access_cta *cta)
{
    struct cts_access_model *const model = worker->model;
    enum cts_status status = cts_access_part_pairs(worker, cta);
    if (status) return status;
    find_leaders(worker, cta);
    status = measure_slots(worker, cta);
    if (!status) status = cts_access_note_sharing(worker, cta);
    if (!status) status = cts_access_note_stores(worker, cta);
    if (!status) status = settle_slots(worker, cta);
    forget_pieces(worker, cta);
    cts_spans_clear(&worker->crowd);
    if (!status && model->look < CTS_LOOK_ORDER && worker->scattered.count >= model->scattered_max)
        status = cts_access_paint_scattered(worker);
    if (cta->shared_words) memset(cta->shared_written, 0, cta->shared_words * sizeof(uint64_t));
    cta->shared_words = 0;
    cts_bits_clear(&cta->seen);
    return status;
}

void cts_access_cta_release(void *cta_state)
{
    struct cts_access_cta *const cta = cta_state;
    if (cta->seen.pool) cts_bits_clear(&cta->seen);
    for (size_t i = 0; i < cta->piece_slots; i++) free(cta->pieces[i].items);
    for (size_t i = 0; i < cta->piece_slots; i++) free(cta->shared[i].items);
    free(cta->pieces);
    free(cta->shared);
    free(cta->shared_written);
    cts_access_kept_free(cta->kept);
    cts_access_log_free(cta->log);
}
