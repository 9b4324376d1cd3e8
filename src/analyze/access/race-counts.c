/* Races between CTAs, counted from the bits of their stores.
 *
 * A byte races if several CTAs touch it and one of them stores it. How many accesses of a store
 * touch such bytes needs no second reading of the launch: it is the number of all accesses less
 * those that touch none. If all accesses of a store are aligned to their width, they fall into
 * *units* of it, and
 *
 *     accesses = all accesses - units without a racing byte - repeats of such units
 *
 * where the units are those that the store's bits have, and a repeat is one more access of a CTA to
 * a unit: a unit without a racing byte is one CTA's alone. Repeats are the parts of a CTA's crowd
 * (cta-unite.c) that lie before the furthest end so far.
 *
 * Stores of which it is not known how many lanes touched a byte (records of many lanes with one
 * address, loops over the same bytes) are not counted so: the launch is read again (suspects.c). */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"
#include "common/promise.h"

enum { UNIT_MAX = 64 }; /* bytes: a unit lies in a word of bits */

/* ---- what is noted while the launch is read ---- */

/* The bytes that a leader's pieces touch once more. False: too many. */
static bool add_repeats(struct cts_access_worker *worker, const struct cts_access_slot *leader,
                        uint32_t site, enum cts_status *status)
{
    uint64_t furthest = 0;
    for (size_t i = leader->crowd_begin; i < leader->crowd_end; i++) {
        const struct cts_span *const span = &worker->crowd.items[i];
        const uint64_t end = span->start + span->length_bytes;
        const uint64_t stop = end < furthest ? end : furthest;
        if (end > furthest) furthest = end;
        if (span->start >= stop) continue;
        if (worker->repeats.count >= worker->model->scattered_max) return false;
        *status = CTS_ARRAY_RESERVE(&worker->repeats, worker->repeats.count + 1, &worker->error);
        if (*status) return false;
        worker->repeats.items[worker->repeats.count++] =
            (struct cts_access_repeat){span->start, (uint32_t)(stop - span->start), site};
    }
    return true;
}

static bool is_counted(const struct cts_access_slot *slot, const struct cts_access_slot *leader,
                       const struct cts_pieces *pieces)
{
    const uint32_t width = slot->width_bytes;
    return cts_is_power_of_two(width) && width <= UNIT_MAX && !(leader->start_bits & (width - 1)) &&
           pieces->lane_bytes == leader->piece_bytes;
}

enum cts_status cts_access_note_stores(struct cts_access_worker *worker,
                                       const struct cts_access_cta *cta)
{
    enum cts_status status = CTS_OK;
    if (!worker->model->counts_stores || worker->model->look != CTS_LOOK_COUNT) return CTS_OK;
    for (size_t i = 0; i < cta->piece_slots && i < worker->slot_count && !status; i++) {
        struct cts_access_slot *const slot = &worker->slots[i];
        const struct cts_pieces *const pieces = &cta->pieces[i];
        if (slot->class != CTS_CLASS_STORE || slot->space != CTS_SPACE_GLOBAL || !pieces->count)
            continue;
        const struct cts_access_slot *const leader = &worker->slots[slot->leader];
        slot->lanes += pieces->lane_bytes / slot->width_bytes;
        slot->is_uncounted |= !is_counted(slot, leader, pieces);
        if (!slot->is_uncounted && leader->piece_bytes != leader->set_bytes)
            slot->is_uncounted =
                !leader->has_crowd || !add_repeats(worker, leader, slot->site, &status);
    }
    return status;
}

static enum cts_status gather_slot(struct cts_access_model *model,
                                   const struct cts_access_slot *slot, struct cts_error *error)
{
    uint32_t *const place = &model->stored_of[slot->site];
    if (!*place) {
        if (CTS_ARRAY_RESERVE(&model->stored, model->stored.count + 1, error)) return CTS_MEMORY;
        model->stored.items[model->stored.count++] =
            (struct cts_access_stored){.site = slot->site, .width_bytes = slot->width_bytes};
        *place = (uint32_t)model->stored.count;
    }
    struct cts_access_stored *const stored = &model->stored.items[*place - 1];
    stored->lanes += slot->lanes;
    stored->is_uncounted |= slot->is_uncounted;
    return CTS_OK;
}

enum cts_status cts_access_gather_stores(struct cts_access_model *model, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (!model->counts_stores || model->look != CTS_LOOK_COUNT) return CTS_OK;
    for (unsigned w = 0; w < model->worker_count; w++) {
        const struct cts_access_worker *const worker = &model->workers[w];
        for (size_t i = 0; i < worker->slot_count && !status; i++)
            if (worker->slots[i].class == CTS_CLASS_STORE &&
                worker->slots[i].space == CTS_SPACE_GLOBAL)
                status = gather_slot(model, &worker->slots[i], error);
    }
    return status;
}

void cts_access_forget_stores(struct cts_access_model *model)
{
    for (size_t i = 0; i < model->stored.count; i++) {
        const uint32_t site = model->stored.items[i].site;
        cts_bits_clear(&model->site_bits[2 * (size_t)site]);
        model->stored_of[site] = 0;
    }
    model->stored.count = 0;
    for (unsigned w = 0; w < model->worker_count; w++) model->workers[w].repeats.count = 0;
}

/* ---- counting ---- */

bool cts_access_can_count_races(const struct cts_access_model *model)
{
    if (!model->counts_stores) return false;
    for (size_t i = 0; i < model->stored.count; i++)
        if (model->stored.items[i].is_uncounted) return false;
    return true;
}

struct count {
    const struct cts_access_model *model;
    bool in_suspects;
    struct cts_bits_near near;
    uint32_t width_bytes;
    uint64_t lone_units; /* without a racing byte */
    uint64_t racing_bytes, first;
};

/* The racing bytes of a word. */
static uint64_t racing(struct count *count, uint64_t address)
{
    const struct cts_access_model *const model = count->model;
    const struct cts_bits *const bits = count->in_suspects ? &model->suspects : &model->touched;
    uint64_t *const page = cts_bits_find_near(bits, &count->near, address);
    if (!page) return 0;
    const uint64_t *const word = cts_bits_word_in(bits, page, address);
    return count->in_suspects ? word[CTS_SUSPECT_RACE]
                              : word[CTS_PLANE_MANY] & word[CTS_PLANE_STORED];
}

/* The first byte of each unit of `width` bytes that has a bit. */
static uint64_t units_of(uint64_t bits, uint32_t width)
{
    static const uint64_t firsts[] = {UINT64_MAX,
                                      UINT64_C(0x5555555555555555),
                                      UINT64_C(0x1111111111111111),
                                      UINT64_C(0x0101010101010101),
                                      UINT64_C(0x0001000100010001),
                                      UINT64_C(0x0000000100000001),
                                      UINT64_C(0x0000000000000001)};
    for (uint32_t shift = 1; shift < width; shift *= 2) bits |= bits >> shift;
    return bits & firsts[__builtin_ctz(width)];
}

static enum cts_status count_page(void *state, uint64_t page_start, uint64_t *words,
                                  struct cts_error *error)
{
    struct count *const count = state;
    (void)error;
    for (unsigned w = 0; w < CTS_BITS_PAGE_WORDS; w++) {
        if (!words[w]) continue;
        const uint64_t start = page_start + (uint64_t)w * 64;
        const uint64_t races = racing(count, start), mine = races & words[w];
        const uint64_t units = units_of(words[w], count->width_bytes);
        count->lone_units += cts_bits_count(units & ~units_of(races, count->width_bytes));
        if (mine && !count->racing_bytes) count->first = start + (unsigned)__builtin_ctzll(mine);
        count->racing_bytes += cts_bits_count(mine);
    }
    return CTS_OK;
}

static uint64_t count_lone_repeats(struct count *count, uint32_t site)
{
    const struct cts_access_model *const model = count->model;
    uint64_t lone = 0;
    for (unsigned w = 0; w < model->worker_count; w++)
        for (size_t i = 0; i < model->workers[w].repeats.count; i++) {
            const struct cts_access_repeat *const repeat = &model->workers[w].repeats.items[i];
            const uint64_t end = repeat->start + repeat->length_bytes;
            const uint64_t unit = UINT64_MAX >> (64 - count->width_bytes);
            if (repeat->site != site) continue;
            for (uint64_t at = repeat->start; at < end; at += count->width_bytes)
                lone += !(racing(count, at) & unit << at % 64);
        }
    return lone;
}

static enum cts_status add_races(struct cts_access_model *model,
                                 const struct cts_access_stored *stored, const struct count *count,
                                 uint64_t accesses, struct cts_error *error)
{
    pthread_mutex_lock(&model->faults_lock);
    struct cts_access_fault_row *const row = cts_access_race_row(model, stored->site, error);
    pthread_mutex_unlock(&model->faults_lock);
    if (!row) return CTS_MEMORY;
    row->fault.accesses += accesses;
    row->fault.bytes += count->racing_bytes;
    row->fault.launch_count++;
    row->last_launch = model->launch_index + 1;
    if (!row->fault.example.known)
        row->fault.example = (struct cts_access_example){.known = true,
                                                         .launch = model->launch_index,
                                                         .site = stored->site,
                                                         .address = count->first};
    return CTS_OK;
}

enum cts_status cts_access_count_races(struct cts_access_model *model, bool in_suspects,
                                       struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < model->stored.count && !status; i++) {
        const struct cts_access_stored *const stored = &model->stored.items[i];
        struct count count = {
            .model = model, .in_suspects = in_suspects, .width_bytes = stored->width_bytes};
        status =
            cts_bits_each(&model->site_bits[2 * (size_t)stored->site], count_page, &count, error);
        if (status || !count.racing_bytes) continue;
        const uint64_t lone = count.lone_units + count_lone_repeats(&count, stored->site);
        assert(lone < stored->lanes);
        status = add_races(model, stored, &count, stored->lanes - lone, error);
    }
    return status;
}
