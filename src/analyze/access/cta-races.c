/* Races inside the CTAs of a launch.
 *
 * A first look (cta-sets.c) knows which bytes of global memory several warps of a CTA touch, one of
 * them by a store: these are *suspected*. Only where there are any, or where shared memory is
 * written, the launch is read once more, with its barriers. What a CTA did to shared memory and to
 * suspected bytes is kept until its records are complete, and replayed then (race.h).
 *
 * Most CTAs of a launch do the same in shared memory. One whose requests and barriers are equal to
 * those of another one before it is not replayed: it has the same races. */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"
#include "common/hash.h"

enum {
    KEPT_MAX = 1 << 20,  /* requests of a CTA; a longer one is replayed as it comes */
    ALIKE_MAX = 1 << 12, /* different CTAs that are remembered */
};

/* ---- what several warps touch ---- */

static bool is_candidate(const struct cts_access_slot *slot, const struct cts_pieces *pieces)
{
    return slot->space == CTS_SPACE_GLOBAL && pieces->count;
}

/* Whether more than one warp touched global memory. */
static bool has_two_warps(const struct cts_access_worker *worker, const struct cts_access_cta *cta)
{
    uint32_t warps = 0;
    for (size_t i = 0; i < cta->piece_slots && i < worker->slot_count; i++) {
        const struct cts_pieces *const pieces = &cta->pieces[i];
        if (!is_candidate(&worker->slots[i], pieces) || worker->slots[i].leader != i) continue;
        for (size_t k = 0; k < pieces->count; k++) {
            warps |= 1u << pieces->items[k].warp % 32;
            if (warps & (warps - 1)) return true;
        }
    }
    return false;
}

/* Whether the crowd of a leader says all about its bytes. */
static bool is_told_by_crowd(const struct cts_access_worker *worker,
                             const struct cts_access_cta *cta, size_t leader)
{
    return worker->slots[leader].has_crowd && cts_access_is_apart(worker, cta, leader);
}

/* The hull of all that is stored and not told by crowds; false: nothing is, or by one warp that is
 * alone. */
static bool stored_hull(const struct cts_access_worker *worker, const struct cts_access_cta *cta,
                        uint64_t *low, uint64_t *high)
{
    *low = UINT64_MAX;
    *high = 0;
    for (size_t i = 0; i < cta->piece_slots && i < worker->slot_count; i++) {
        const struct cts_access_slot *const slot = &worker->slots[i];
        if (!is_candidate(slot, &cta->pieces[i]) || slot->leader != i || !slot->has_stores ||
            is_told_by_crowd(worker, cta, i))
            continue;
        const struct cts_intervals *const set = &slot->set;
        if (set->items[0].start < *low) *low = set->items[0].start;
        if (set->items[set->count - 1].end > *high) *high = set->items[set->count - 1].end;
    }
    return *high && has_two_warps(worker, cta);
}

/* The stretches of a piece that lie in the hull. */
static enum cts_status add_piece(struct cts_access_worker *worker, const struct cts_piece *piece,
                                 bool stores, uint64_t low, uint64_t high)
{
    for (uint32_t k = 0; k < piece->count; k++) {
        const uint64_t start = piece->start + (uint64_t)piece->stride_bytes * k;
        const uint64_t end = start + piece->length_bytes;
        if (end <= low || start >= high) continue;
        const struct cts_span span = {start, piece->length_bytes,
                                      cts_access_moment_of(piece->warp, stores)};
        if (cts_spans_add(&worker->spans, span, UINT32_MAX, &worker->error)) return CTS_MEMORY;
    }
    return CTS_OK;
}

static uint32_t filter_bit(uint64_t word)
{
    return (uint32_t)(cts_hash(word) >> 32) >> (32 - CTS_RACE_FILTER_EXPONENT);
}

static void add_to_filter(struct cts_access_races *races, uint64_t start, uint64_t end)
{
    for (uint64_t word = start / 64; word <= (end - 1) / 64; word++) {
        const uint32_t bit = filter_bit(word);
        races->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* False: no byte of [start, end) is suspected. */
static bool may_be_suspected(const struct cts_access_races *races, uint64_t start, uint64_t end)
{
    bool may = false;
    for (uint64_t word = start / 64; word <= (end - 1) / 64; word++) {
        const uint32_t bit = filter_bit(word);
        may |= races->filter[bit / 64] >> bit % 64 & 1;
    }
    return may;
}

static enum cts_status suspect(struct cts_access_worker *worker, uint64_t start, uint64_t end)
{
    struct cts_access_model *const model = worker->model;
    pthread_mutex_lock(&model->faults_lock);
    add_to_filter(&model->races, start, end);
    const enum cts_status status =
        cts_bits_set(&model->races.suspects, 0, start, end, &worker->error);
    model->races.has_suspects = true;
    pthread_mutex_unlock(&model->faults_lock);
    return status;
}

/* How far the spans so far reach: the one that does furthest, and that of another warp. */
struct reach {
    uint64_t end[2];
    uint16_t warp[2];
};

static void extend(struct reach *reach, uint64_t end, uint16_t warp)
{
    const bool is_first = warp == reach->warp[0];
    if (is_first || end > reach->end[0]) {
        if (!is_first) {
            reach->end[1] = reach->end[0];
            reach->warp[1] = reach->warp[0];
        }
        if (end > reach->end[0]) reach->end[0] = end;
        reach->warp[0] = warp;
    } else if (end > reach->end[1]) {
        reach->end[1] = end;
        reach->warp[1] = warp;
    }
}

static uint64_t reach_of_others(const struct reach *reach, uint16_t warp)
{
    return reach->warp[0] == warp ? reach->end[1] : reach->end[0];
}

/* Spans by start. */
static enum cts_status sweep(struct cts_access_worker *worker, const struct cts_span *spans,
                             size_t count)
{
    struct reach stored = {0}, touched = {0};
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < count && !status; i++) {
        const struct cts_span *const span = &spans[i];
        const uint16_t warp = (uint16_t)(span->moment >> 1);
        const bool stores = span->moment & 1;
        const uint64_t end = span->start + span->length_bytes;
        const uint64_t reached = reach_of_others(stores ? &touched : &stored, warp);
        if (reached > span->start)
            status = suspect(worker, span->start, reached < end ? reached : end);
        extend(&touched, end, warp);
        if (stores) extend(&stored, end, warp);
    }
    return status;
}

static bool stores_shared(const struct cts_access_worker *worker, const struct cts_access_cta *cta)
{
    for (size_t i = 0; i < cta->piece_slots && i < worker->slot_count; i++)
        if (worker->slots[i].space == CTS_SPACE_SHARED &&
            worker->slots[i].class != CTS_CLASS_READ && cta->pieces[i].count)
            return true;
    return false;
}

/* What several warps touch in the hull. */
static enum cts_status sweep_hull(struct cts_access_worker *worker,
                                  const struct cts_access_cta *cta, uint64_t low, uint64_t high)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < cta->piece_slots && i < worker->slot_count && !status; i++) {
        const struct cts_pieces *const pieces = &cta->pieces[i];
        const struct cts_access_slot *const slot = &worker->slots[i];
        if (!is_candidate(slot, pieces) || slot->leader != i) continue;
        const struct cts_intervals *const set = &slot->set;
        if (set->items[0].start >= high || set->items[set->count - 1].end <= low) continue;
        if (slot->has_stores && is_told_by_crowd(worker, cta, i)) continue;
        for (size_t k = 0; k < pieces->count && !status; k++)
            status = add_piece(worker, &pieces->items[k], slot->writes, low, high);
    }
    if (!status) status = cts_spans_sort(&worker->spans, &worker->sorting, &worker->error);
    if (!status) status = sweep(worker, worker->spans.items, worker->spans.count);
    cts_spans_clear(&worker->spans);
    return status;
}

enum cts_status cts_access_note_sharing(struct cts_access_worker *worker,
                                        const struct cts_access_cta *cta)
{
    struct cts_access_model *const model = worker->model;
    uint64_t low, high;
    enum cts_status status = CTS_OK;
    if (model->look != CTS_LOOK_COUNT || !model->races.is_wanted) return CTS_OK;
    if (!__atomic_load_n(&model->races.has_shared_stores, __ATOMIC_RELAXED) &&
        stores_shared(worker, cta))
        __atomic_store_n(&model->races.has_shared_stores, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < cta->piece_slots && i < worker->slot_count && !status; i++) {
        const struct cts_access_slot *const slot = &worker->slots[i];
        if (!is_candidate(slot, &cta->pieces[i]) || slot->leader != i) continue;
        if (slot->crowd_end > slot->crowd_begin && is_told_by_crowd(worker, cta, i))
            status = sweep(worker, worker->crowd.items + slot->crowd_begin,
                           slot->crowd_end - slot->crowd_begin);
    }
    if (!status && stored_hull(worker, cta, &low, &high))
        status = sweep_hull(worker, cta, low, high);
    return status;
}

/* ---- what a CTA did ---- */

/* A request or barrier that is kept. */
struct kept {
    uint64_t base; /* a barrier's argument */
    uint32_t site, mask, list;
    int32_t s0, s1;
    uint16_t warp;
    uint8_t space, pattern, row_lanes;
    bool is_signal; /* only its order may matter */
};

struct cts_access_kept {
    struct kept *items;
    size_t count, capacity;
    struct {
        uint32_t *items;
        size_t count, capacity;
    } offsets;
    struct cts_race *race; /* of a CTA that is too long to be kept */
    bool is_global, has_fences;
    /* of the run of records at hand: the record after the last one that was looked up */
    size_t run_begin, looked_at;
    uint32_t looked_width;
    bool was_suspected;
};

/* A list whose lanes lie apart is looked up lane by lane. */
static bool is_list_suspected(const struct cts_access_worker *worker, size_t record, uint32_t width)
{
    const struct cts_access_races *const races = &worker->model->races;
    const struct cts_acc_batch *const batch = worker->batch;
    const uint32_t *const offsets = batch->offsets + batch->offset_start[record];
    const unsigned lanes = (unsigned)__builtin_popcount(batch->mask[record]);
    for (unsigned k = 0; k < lanes; k++) {
        const uint64_t start = batch->base[record] + offsets[k];
        if (may_be_suspected(races, start, start + width) &&
            cts_bits_any(&races->suspects, 0, start, start + width))
            return true;
    }
    return false;
}

static bool is_suspected(const struct cts_access_worker *worker, size_t record, uint32_t width)
{
    if (worker->batch->pattern[record] == CTS_PATTERN_LIST)
        return is_list_suspected(worker, record, width);
    struct cts_access_stretch stretches[CTS_WARP_LANES];
    struct cts_error error;
    const struct cts_bits *const suspects = &worker->model->races.suspects;
    const unsigned count = cts_access_stretches(worker->batch, record, width, stretches, &error);
    for (unsigned i = 0; i < count; i++)
        for (uint32_t k = 0; k < stretches[i].count; k++) {
            const uint64_t start = stretches[i].start + (uint64_t)stretches[i].stride_bytes * k;
            const uint64_t end = start + stretches[i].length_bytes;
            if (cts_bits_any(suspects, 0, start, end)) return true;
        }
    return false;
}

/* The same; a load and the store after it are looked up once. `kept` remembers the record before.
 */
static bool is_suspected_still(const struct cts_access_worker *worker, struct cts_access_kept *kept,
                               size_t record, uint32_t width)
{
    const bool is_known = kept->looked_at == record && record > kept->run_begin &&
                          kept->looked_width == width &&
                          cts_access_same_lists(worker->batch, record - 1, record);
    if (!is_known) kept->was_suspected = is_suspected(worker, record, width);
    kept->looked_at = record + 1;
    kept->looked_width = width;
    return kept->was_suspected;
}

static enum cts_status keep(struct cts_access_worker *worker, struct cts_access_kept *kept,
                            const struct kept *item)
{
    if (CTS_ARRAY_RESERVE(kept, kept->count + 1, &worker->error)) return CTS_MEMORY;
    kept->items[kept->count++] = *item;
    return CTS_OK;
}

static enum cts_status keep_access(struct cts_access_worker *worker, struct cts_access_kept *kept,
                                   size_t i)
{
    const struct cts_access_model *const model = worker->model;
    const struct cts_acc_batch *const batch = worker->batch;
    const uint8_t space = batch->space[i];
    const uint32_t number = batch->site[i];
    if ((space != CTS_SPACE_SHARED && space != CTS_SPACE_GLOBAL) ||
        number >= model->catalogue->site_count)
        return CTS_OK;
    const struct cts_site *const site = &model->catalogue->sites[number];
    if (!site->width_bytes || site->width_bytes > CTS_WIDTH_MAX) return CTS_OK;
    const bool orders = site->is_volatile || cts_operation_is_atomic(site->operation);
    const bool is_wanted =
        space == CTS_SPACE_SHARED ||
        (model->races.has_suspects && is_suspected_still(worker, kept, i, site->width_bytes));
    if (!is_wanted && !orders) return CTS_OK;
    struct kept item = {.base = batch->base[i],
                        .site = number,
                        .mask = batch->mask[i],
                        .list = UINT32_MAX,
                        .s0 = batch->s0[i],
                        .s1 = batch->s1[i],
                        .warp = batch->warp[i],
                        .space = space,
                        .pattern = batch->pattern[i],
                        .row_lanes = batch->row_lanes[i],
                        .is_signal = !is_wanted};
    kept->is_global |= is_wanted && space == CTS_SPACE_GLOBAL;
    if (item.pattern == CTS_PATTERN_LIST) {
        const size_t lanes = (size_t)__builtin_popcount(item.mask);
        item.list = (uint32_t)kept->offsets.count;
        if (CTS_ARRAY_RESERVE(&kept->offsets, kept->offsets.count + lanes, &worker->error))
            return CTS_MEMORY;
        memcpy(kept->offsets.items + kept->offsets.count, batch->offsets + batch->offset_start[i],
               lanes * sizeof *kept->offsets.items);
        kept->offsets.count += lanes;
    }
    return keep(worker, kept, &item);
}

static enum cts_status keep_barrier(struct cts_access_worker *worker, struct cts_access_kept *kept,
                                    const struct cts_acc_barrier *barrier)
{
    const struct cts_catalogue *const catalogue = worker->model->catalogue;
    if (barrier->site >= catalogue->site_count) return CTS_OK;
    kept->has_fences |= (unsigned)catalogue->sites[barrier->site].operation == CTS_BARRIER_FENCE;
    const struct kept item = {.base = barrier->argument,
                              .site = barrier->site,
                              .mask = barrier->mask,
                              .list = UINT32_MAX,
                              .warp = barrier->warp,
                              .space = CTS_SPACE_BARRIER};
    return keep(worker, kept, &item);
}

/* ---- replaying ---- */

static enum cts_status replay_one(struct cts_access_worker *worker,
                                  const struct cts_access_kept *kept, const struct kept *item,
                                  struct cts_race *race)
{
    const struct cts_site *const site = &worker->model->catalogue->sites[item->site];
    if (item->space == CTS_SPACE_BARRIER)
        return cts_race_barrier(race,
                                &(struct cts_race_sync){.operation = site->operation,
                                                        .mask = item->mask,
                                                        .warp = item->warp,
                                                        .argument = item->base},
                                &worker->error);
    const struct cts_access access = {
        .mask = item->mask,
        .pattern = item->pattern,
        .row_lanes = item->row_lanes,
        .s0 = item->s0,
        .s1 = item->s1,
        .base = item->base,
        .offsets = item->list == UINT32_MAX ? NULL : kept->offsets.items + item->list};
    struct cts_race_access request = {.site = item->site,
                                      .width_bytes = site->width_bytes,
                                      .mask = item->mask,
                                      .warp = item->warp,
                                      .space = item->space,
                                      .is_store = site->operation == CTS_STORE,
                                      .is_atomic = cts_operation_is_atomic(site->operation),
                                      .is_volatile = site->is_volatile};
    cts_access_addresses(&access, request.addresses);
    return cts_race_add_access(race, &request, &worker->error);
}

/* Without a fence nothing is handed on by words of global memory. */
static bool counts(const struct cts_access_model *model, const struct cts_access_kept *kept,
                   const struct kept *item)
{
    return !item->is_signal || kept->has_fences || !model->knows_fences;
}

static enum cts_status replay(struct cts_access_worker *worker, const struct cts_access_kept *kept,
                              struct cts_race *race)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < kept->count && !status; i++)
        if (counts(worker->model, kept, &kept->items[i]))
            status = replay_one(worker, kept, &kept->items[i], race);
    return status;
}

static uint32_t threads_of(const struct cts_launch *launch)
{
    const uint64_t count = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return count < CTS_RACE_THREADS_MAX ? (uint32_t)count : CTS_RACE_THREADS_MAX;
}

/* Replays what is kept and forgets it. */
static enum cts_status empty(struct cts_access_worker *worker, struct cts_access_kept *kept)
{
    struct cts_access_model *const model = worker->model;
    if (!kept->race) {
        kept->race = cts_race_new(&worker->error);
        if (!kept->race) return CTS_MEMORY;
        cts_race_begin(kept->race, threads_of(model->launch), model->knows_fences);
    }
    const enum cts_status status = replay(worker, kept, kept->race);
    kept->count = kept->offsets.count = 0;
    return status;
}

enum cts_status cts_access_take_race_run(struct cts_access_worker *worker,
                                         struct cts_access_cta *cta, const struct cts_walk_run *run)
{
    const struct cts_acc_barrier *const barriers = run->batch->barriers;
    size_t b = run->barrier_begin;
    enum cts_status status = CTS_OK;
    if (!cta->kept) cta->kept = cts_array_zeroed(1, sizeof *cta->kept, &worker->error);
    if (!cta->kept) return CTS_MEMORY;
    cta->kept->run_begin = run->begin;
    cta->kept->looked_at = SIZE_MAX;
    for (size_t i = run->begin; i <= run->end && !status; i++) {
        for (; b < run->barrier_end && barriers[b].before <= i && !status; b++)
            status = keep_barrier(worker, cta->kept, &barriers[b]);
        if (i < run->end && !status) status = keep_access(worker, cta->kept, i);
        if (cta->kept->count >= KEPT_MAX && !status) status = empty(worker, cta->kept);
    }
    return status;
}

/* ---- CTAs that are alike ---- */

/* Two hashes of all that the replay looks at. */
static void hash_of(const struct cts_access_model *model, const struct cts_access_kept *kept,
                    uint64_t hash[2])
{
    hash[0] = 1;
    hash[1] = 2;
    for (size_t i = 0; i < kept->count; i++) {
        const struct kept *const k = &kept->items[i];
        if (!counts(model, kept, k)) continue;
        const uint64_t words[] = {k->base, (uint64_t)k->site << 32 | k->mask,
                                  (uint64_t)(uint32_t)k->s0 << 32 | (uint32_t)k->s1,
                                  (uint64_t)k->warp << 32 | (uint32_t)k->space << 16 |
                                      (uint32_t)k->pattern << 8 | k->row_lanes};
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            hash[0] = cts_hash_fold(hash[0], words[w]);
            hash[1] = cts_hash_mix(hash[1] + words[w]);
        }
    }
    for (size_t i = 0; i < kept->offsets.count; i++) {
        hash[0] = cts_hash_fold(hash[0], kept->offsets.items[i]);
        hash[1] = cts_hash_mix(hash[1] + kept->offsets.items[i]);
    }
}

/* A CTA of the launch that is remembered, and its races. */
struct cts_access_alike {
    uint64_t hash;
    struct cts_race_pair *pairs;
    size_t count;
};

static enum cts_status note_pairs(struct cts_access_model *model, uint32_t cta,
                                  const struct cts_race_pair *pairs, size_t count,
                                  struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = cts_access_add_cta_race(model, cta, &pairs[i], error);
    return status;
}

static enum cts_status remember(struct cts_access_model *model, const uint64_t hash[2],
                                const struct cts_race_pair *pairs, size_t count,
                                struct cts_error *error)
{
    if (model->races.alike.count >= ALIKE_MAX) return CTS_OK;
    struct cts_race_pair *const copy = cts_array_zeroed(count, sizeof *copy, error);
    uint64_t *const place = cts_map_at(&model->races.alike_of, hash[0], error);
    if (!copy || !place ||
        CTS_ARRAY_RESERVE(&model->races.alike, model->races.alike.count + 1, error)) {
        free(copy);
        return CTS_MEMORY;
    }
    if (count) memcpy(copy, pairs, count * sizeof *pairs);
    model->races.alike.items[model->races.alike.count++] =
        (struct cts_access_alike){hash[1], copy, count};
    *place = model->races.alike.count;
    return CTS_OK;
}

/* Whether a CTA like this one is known; its races are then this one's, too. */
static bool is_known(struct cts_access_model *model, uint32_t cta, const uint64_t hash[2],
                     enum cts_status *status, struct cts_error *error)
{
    pthread_mutex_lock(&model->faults_lock);
    const uint64_t *const place = cts_map_find(&model->races.alike_of, hash[0]);
    const struct cts_access_alike *const alike =
        place && *place ? &model->races.alike.items[*place - 1] : NULL;
    const bool is_alike = alike && alike->hash == hash[1];
    if (is_alike) *status = note_pairs(model, cta, alike->pairs, alike->count, error);
    pthread_mutex_unlock(&model->faults_lock);
    return is_alike;
}

enum cts_status cts_access_end_race_cta(struct cts_access_worker *worker,
                                        struct cts_access_cta *cta)
{
    struct cts_access_model *const model = worker->model;
    struct cts_access_kept *const kept = cta->kept;
    enum cts_status status = CTS_OK;
    uint64_t hash[2] = {0, 0};
    if (!kept || (!kept->count && !kept->race)) return CTS_OK;
    const bool may_be_alike = !kept->race && !kept->is_global;
    if (may_be_alike) hash_of(model, kept, hash);
    if (!may_be_alike || !is_known(model, cta->cta, hash, &status, &worker->error)) {
        if (!worker->race) worker->race = cts_race_new(&worker->error);
        struct cts_race *const race = kept->race ? kept->race : worker->race;
        if (!race) return CTS_MEMORY;
        if (!kept->race) cts_race_begin(race, threads_of(model->launch), model->knows_fences);
        status = replay(worker, kept, race);
        size_t count;
        const struct cts_race_pair *const pairs = cts_race_pairs(race, &count);
        if (cts_race_is_over(race)) count = 0;
        pthread_mutex_lock(&model->faults_lock);
        if (!status) status = note_pairs(model, cta->cta, pairs, count, &worker->error);
        if (!status && may_be_alike) status = remember(model, hash, pairs, count, &worker->error);
        model->result->untold_race_launches += cts_race_is_over(race) && !model->races.is_untold;
        model->races.is_untold |= cts_race_is_over(race);
        pthread_mutex_unlock(&model->faults_lock);
    }
    cts_race_free(kept->race);
    kept->race = NULL;
    kept->count = kept->offsets.count = 0;
    kept->is_global = kept->has_fences = false;
    return status;
}

void cts_access_kept_free(struct cts_access_kept *kept)
{
    if (!kept) return;
    cts_race_free(kept->race);
    free(kept->items);
    free(kept->offsets.items);
    free(kept);
}

/* ---- after a launch ---- */

void cts_access_forget_alike(struct cts_access_races *races)
{
    for (size_t i = 0; i < races->alike.count; i++) free(races->alike.items[i].pairs);
    races->alike.count = 0;
    cts_map_release(&races->alike_of);
}

void cts_access_races_release(struct cts_access_races *races)
{
    cts_access_forget_alike(races);
    free(races->alike.items);
    cts_bits_clear(&races->suspects);
}
