/* One record: its cost, and the bytes that it touches as pieces of its CTA's sets.
 *
 * A *slot* is a site and space in the launch at hand, a *piece* what a warp's records touched that
 * go on where the one before ended: a loop over rows or columns makes one piece and not one per
 * iteration. */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"

/* ---- slots ---- */

static unsigned class_of(enum cts_operation operation)
{
    if (operation == CTS_LOAD) return CTS_CLASS_READ;
    return operation == CTS_STORE ? CTS_CLASS_STORE : CTS_CLASS_ATOMIC;
}

/* The slot of a record's site, made when it is new; NULL without an error for one that the
 * catalogue of a killed program does not have, or that cannot be analysed. */
static struct cts_access_slot *slot_of(struct cts_access_worker *worker, size_t record,
                                       size_t *index, enum cts_status *status)
{
    struct cts_access_model *const model = worker->model;
    const struct cts_acc_batch *const batch = worker->batch;
    const struct cts_catalogue *const catalogue = model->catalogue;
    const uint32_t site = batch->site[record];
    const uint8_t space = batch->space[record];
    *status = CTS_OK;
    if (site >= catalogue->site_count || space > CTS_SPACE_LAST) return NULL;
    uint32_t *const place = &worker->slot_of[(size_t)site * CTS_ACCESS_SPACES + space];
    *index = *place - 1;
    if (__builtin_expect(*place != 0, 1)) return &worker->slots[*index];
    const struct cts_site *const words = &catalogue->sites[site];
    if (!words->width_bytes || words->width_bytes > CTS_ACCESS_WIDTH_MAX) return NULL;
    struct cts_access_slot slot = {
        .site = site,
        .space = space,
        .class = (uint8_t)class_of(words->operation),
        .width_bytes = words->width_bytes,
        .row = SIZE_MAX,
        .bits = &model->site_bits[2 * (size_t)site + (space == CTS_SPACE_CONSTANT)]};
    const bool is_box = batch->box && batch->box[record] != CTS_BOX_NONE;
    if (words->width_bytes <= (is_box ? (uint32_t)CTS_ROW_WIDTH_MAX : CTS_WIDTH_MAX) &&
        model->look == CTS_LOOK_COUNT)
        *status = cts_access_row_of(&worker->rows,
                                    &(struct cts_access_row_name){.owner = model->owner,
                                                                  .site = site,
                                                                  .kernel = model->launch->kernel,
                                                                  .space = space},
                                    &slot.row, &worker->error);
    if (!*status && worker->slot_count == worker->slot_capacity)
        *status = cts_array_grow((void **)&worker->slots, &worker->slot_capacity,
                                 worker->slot_count + 1, sizeof *worker->slots, &worker->error);
    if (*status) return NULL;
    if (space == CTS_SPACE_GLOBAL && (slot.class == CTS_CLASS_ATOMIC || words->is_volatile))
        __atomic_store_n(&model->has_signals, true, __ATOMIC_RELAXED);
    *index = worker->slot_count++;
    *place = (uint32_t)worker->slot_count;
    worker->slots[*index] = slot;
    return &worker->slots[*index];
}

/* ---- costs ---- */

/* Lanes of a warp that exist: the last warp of a CTA may have fewer. */
static unsigned live_lanes(const struct cts_launch *launch, uint16_t warp)
{
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    const uint64_t first = (uint64_t)warp * CTS_WARP_LANES;
    if (first >= threads) return 0;
    return threads - first < CTS_WARP_LANES ? (unsigned)(threads - first) : CTS_WARP_LANES;
}

/* What each record adds, also one that continues a box. */
static void add_cost(struct cts_access_row *row, const struct cts_site *site,
                     const struct cts_request_cost *cost, unsigned live)
{
    struct cts_access_counts *const sum = &row->counts;
    const unsigned ideal = (cost->distinct_bytes + CTS_SECTOR_BYTES - 1u) / CTS_SECTOR_BYTES;
    sum->accesses += cost->lanes;
    sum->live_lanes += live;
    sum->requested_bytes += (uint64_t)cost->lanes * site->width_bytes;
    sum->distinct_bytes += cost->distinct_bytes;
    sum->sectors += cost->sectors;
    sum->lines += cost->lines;
    sum->ideal_sectors += cost->sectors ? ideal : 0;
    if ((cost->layout == CTS_LAYOUT_DENSE || cost->is_compact) && cost->sectors)
        *(cost->is_gapped ? &sum->gap_excess_sectors : &sum->dense_excess_sectors) +=
            cost->sectors - ideal;
    sum->wavefronts += cost->wavefronts;
    sum->ideal_wavefronts += cost->ideal_wavefronts;
    if (cts_operation_is_atomic(site->operation)) sum->same_address_lanes += cost->same_address - 1;
    if (cost->ways > row->worst_ways) row->worst_ways = cost->ways;
    if (cost->row_lanes && cost->sectors) sum->row_excess_sectors += cost->sectors - ideal;
}

static enum cts_status add_request(struct cts_access_row *row, const struct cts_site *site,
                                   const struct cts_request_cost *cost, unsigned live,
                                   struct cts_error *error)
{
    struct cts_access_counts *const sum = &row->counts;
    uint64_t *count;
    sum->requests++;
    sum->partial_requests += cost->lanes < live;
    sum->conflict_requests += cost->ways > 1;
    sum->atomic_requests += cts_operation_is_atomic(site->operation) != 0;
    ++*cts_access_requests_of(sum, (enum cts_lane_layout)cost->layout);
    if (cost->row_lanes)
        count = cts_map_at(&row->rows, cts_access_row_key(cost), error);
    else if (cost->stride_bytes && cost->layout != CTS_LAYOUT_DENSE)
        count = cts_map_at(&row->strides, (uint64_t)cost->stride_bytes, error);
    else
        return CTS_OK;
    if (!count) return CTS_MEMORY;
    ++*count;
    return CTS_OK;
}

static enum cts_status count_request(struct cts_access_worker *worker,
                                     const struct cts_access_slot *slot, size_t record,
                                     unsigned *distinct_bytes)
{
    const struct cts_access_model *const model = worker->model;
    const struct cts_access access = cts_acc_record(worker->batch, record);
    const struct cts_request_cost cost = cts_request_cost_remembered(
        &worker->costs, &access, slot->width_bytes, model->options.bank_bytes,
        model->catalogue->sites[slot->site].operation == CTS_LOAD);
    struct cts_access_row *const row = &worker->rows.items[slot->row];
    const struct cts_site *const site = &model->catalogue->sites[slot->site];
    /* the rows of a box are no threads */
    unsigned live = access.box ? 0 : live_lanes(model->launch, access.warp);
    if (live < cost.lanes) live = cost.lanes;
    worker->access_count += cost.lanes;
    *distinct_bytes = cost.distinct_bytes;
    add_cost(row, site, &cost, live);
    if (access.box == CTS_BOX_CONTINUES) return CTS_OK;
    worker->record_count++;
    return add_request(row, site, &cost, live, &worker->error);
}

/* ---- places ---- */

/* Bytes of a record by the allocation they lie in, lane by lane: it crosses a border. */
static void count_places_apart(struct cts_access_worker *worker, const struct cts_access_slot *slot,
                               size_t record)
{
    const struct cts_access_model *const model = worker->model;
    const struct cts_access access = cts_acc_record(worker->batch, record);
    uint64_t addresses[CTS_WARP_LANES], starts[CTS_WARP_LANES];
    unsigned count = 0;
    cts_access_addresses(&access, addresses);
    for (uint32_t mask = access.mask; mask; mask &= mask - 1) {
        const uint64_t start = addresses[__builtin_ctz(mask)];
        unsigned at = count++;
        for (; at && starts[at - 1] > start; at--) starts[at] = starts[at - 1];
        starts[at] = start;
    }
    uint64_t counted = 0; /* bytes below are in request_distinct_bytes */
    for (unsigned i = 0; i < count; i++) {
        const uint64_t stop = starts[i] + slot->width_bytes;
        for (uint64_t at = starts[i], end; at < stop; at = end) {
            const size_t place = cts_place_of(&model->places, &worker->place_hint, at, &end);
            struct cts_access_place_sum *const sum =
                &worker->places[place == SIZE_MAX ? model->catalogue->allocation_count : place];
            if (end > stop) end = stop;
            sum->accesses += at == starts[i];
            sum->requested_bytes += end - at;
            if (end > counted) sum->request_distinct_bytes += end - (at > counted ? at : counted);
        }
        if (stop > counted) counted = stop;
    }
}

/* A record's bytes as stretches. */
struct stretch_list {
    size_t record;
    unsigned count;
    struct cts_access_stretch items[CTS_WARP_LANES];
};

/* Adds a record that lies in one place. */
static void add_to_place(const struct cts_access_worker *worker, struct cts_access_place_sum *sum,
                         size_t record, uint32_t width_bytes, unsigned distinct_bytes)
{
    const unsigned lanes = (unsigned)__builtin_popcount(worker->batch->mask[record]);
    sum->accesses += lanes;
    sum->requested_bytes += (uint64_t)lanes * width_bytes;
    sum->request_distinct_bytes += distinct_bytes;
}

static void count_places(struct cts_access_worker *worker, const struct cts_access_slot *slot,
                         const struct stretch_list *list, unsigned distinct_bytes)
{
    const struct cts_access_model *const model = worker->model;
    uint64_t first = UINT64_MAX, last = 0, end;
    for (unsigned i = 0; i < list->count; i++) {
        const struct cts_access_stretch *const s = &list->items[i];
        const uint64_t stop =
            s->start + (uint64_t)s->stride_bytes * (s->count - 1) + s->length_bytes;
        if (s->start < first) first = s->start;
        if (stop > last) last = stop;
    }
    const size_t place = cts_place_of(&model->places, &worker->place_hint, first, &end);
    worker->paired_place = NULL;
    if (last > end || slot->row == SIZE_MAX) {
        count_places_apart(worker, slot, list->record);
        return;
    }
    worker->paired_place =
        &worker->places[place == SIZE_MAX ? model->catalogue->allocation_count : place];
    add_to_place(worker, worker->paired_place, list->record, slot->width_bytes, distinct_bytes);
}

/* ---- pieces ---- */

enum { SCATTERED_STRETCHES = 5 };

/* Joins a stretch to the warp's last piece if it goes on where that ends; `may_overlap`: also if it
 * touches bytes of it again. */
static bool join(struct cts_piece *piece, const struct cts_access_stretch *s, bool may_overlap)
{
    if (piece->count != s->count || piece->stride_bytes != s->stride_bytes) return false;
    const uint64_t piece_end = piece->start + piece->length_bytes;
    const uint64_t end = s->start + s->length_bytes;
    if (s->start <= piece_end && end >= piece->start) {
        if (__builtin_expect(!may_overlap, 0) && s->start < piece_end && end > piece->start)
            return false;
        const uint64_t start = s->start < piece->start ? s->start : piece->start;
        const uint64_t length = (end > piece_end ? end : piece_end) - start;
        /* Stretches that touch would be counted twice where they overlap. */
        if (length > (s->count > 1 ? s->stride_bytes - 1u : UINT32_MAX)) return false;
        piece->start = start;
        piece->length_bytes = (uint32_t)length;
        return true;
    }
    if (s->count == 1 || s->length_bytes != piece->length_bytes ||
        s->start != piece->start + (uint64_t)piece->stride_bytes * piece->count)
        return false;
    return !__builtin_add_overflow(piece->count, s->count, &piece->count);
}

/* The bytes of a stretch that a warp touched; `is_one`: of few in its record. Of scattered ones it
 * stays known how many there are of a byte. */
static inline __attribute__((always_inline)) enum cts_status
add_piece(struct cts_access_worker *worker, struct cts_pieces *pieces, uint16_t warp,
          const struct cts_access_stretch *s, bool is_one)
{
    uint32_t *const last = &pieces->last[warp % 32];
    if (*last && pieces->items[*last - 1].warp == warp &&
        join(&pieces->items[*last - 1], s, is_one))
        return CTS_OK;
    if (pieces->count == pieces->capacity &&
        CTS_ARRAY_RESERVE(pieces, pieces->count + 1, &worker->error))
        return CTS_MEMORY;
    pieces->items[pieces->count++] = (struct cts_piece){.start = s->start,
                                                        .length_bytes = s->length_bytes,
                                                        .stride_bytes = s->stride_bytes,
                                                        .count = s->count,
                                                        .warp = warp};
    *last = (uint32_t)pieces->count;
    const size_t most = pieces->compact_at ? pieces->compact_at : CTS_ACCESS_PIECES_MAX;
    return pieces->count >= most ? cts_access_compact(worker, pieces) : CTS_OK;
}

static enum cts_status grow_pieces(struct cts_pieces **pieces, size_t before, size_t after,
                                   struct cts_error *error)
{
    struct cts_pieces *const grown = realloc(*pieces, after * sizeof *grown);
    if (!grown) return cts_fail(error, CTS_MEMORY, "no memory for %zu pieces", after);
    memset(&grown[before], 0, (after - before) * sizeof *grown);
    *pieces = grown;
    return CTS_OK;
}

static enum cts_status need_slot(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                 size_t slot)
{
    enum { FIRST_SLOTS = 8 };
    if (__builtin_expect(slot < cta->piece_slots, 1)) return CTS_OK;
    const size_t before = cta->piece_slots, twice = before ? 2 * before : FIRST_SLOTS;
    const size_t after = slot < twice ? twice : slot + 1;
    enum cts_status status = grow_pieces(&cta->pieces, before, after, &worker->error);
    if (!status) status = grow_pieces(&cta->shared, before, after, &worker->error);
    if (!status) cta->piece_slots = after;
    return status;
}

/* ---- pairs ----
 *
 * The load and the store of an update touch the same bytes, one behind the other. Their pieces are
 * kept once: as those that the first slot *shares* with the second. */

/* The slot of the next record, if it is such a store; 0: it is none. */
static size_t pair_of(struct cts_access_worker *worker, size_t slot_index, size_t record,
                      size_t end, enum cts_status *status)
{
    const struct cts_acc_batch *const batch = worker->batch;
    const size_t next = record + 1;
    size_t index = 0;
    if (next >= end || batch->pattern[record] != CTS_PATTERN_LIST ||
        worker->model->look != CTS_LOOK_COUNT || batch->space[record] != CTS_SPACE_GLOBAL ||
        batch->space[next] != CTS_SPACE_GLOBAL || batch->warp[next] != batch->warp[record] ||
        !cts_access_same_lists(batch, record, next))
        return 0;
    const struct cts_access_slot *const slot = slot_of(worker, next, &index, status);
    if (!slot || slot->row == SIZE_MAX || worker->slots[slot_index].row == SIZE_MAX) return 0;
    return index > slot_index && slot->width_bytes == worker->slots[slot_index].width_bytes ? index
                                                                                            : 0;
}

/* Where the pieces of a record go; the next one is paired with it, if they are the same. */
static struct cts_pieces *pieces_of(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                    size_t slot, size_t record, size_t end)
{
    enum cts_status status = CTS_OK;
    const size_t other = pair_of(worker, slot, record, end, &status);
    if (status || need_slot(worker, cta, slot > other ? slot : other)) return NULL;
    struct cts_pieces *const shared = &cta->shared[slot];
    if (!other || (shared->count && shared->pair != other + 1)) return &cta->pieces[slot];
    shared->pair = (uint32_t)other + 1;
    cta->has_shared = true;
    worker->paired = record + 1;
    return shared;
}

static enum cts_status append_pieces(struct cts_access_worker *worker, struct cts_pieces *pieces,
                                     const struct cts_pieces *more)
{
    if (CTS_ARRAY_RESERVE(pieces, pieces->count + more->count, &worker->error)) return CTS_MEMORY;
    memcpy(pieces->items + pieces->count, more->items, more->count * sizeof *more->items);
    pieces->count += more->count;
    return CTS_OK;
}

static void forget(struct cts_pieces *pieces)
{
    pieces->count = pieces->compact_at = 0;
    pieces->pair = 0;
    memset(pieces->last, 0, sizeof pieces->last);
}

/* All pieces of both are shared: the first one has them, and the second one mirrors it. */
static void mirror(struct cts_access_cta *cta, size_t slot, size_t other)
{
    struct cts_pieces *const own = &cta->pieces[slot], *const shared = &cta->shared[slot];
    const struct cts_pieces before = *own;
    own->items = shared->items;
    own->capacity = shared->capacity;
    own->count = shared->count;
    shared->items = before.items;
    shared->capacity = before.capacity;
    cta->pieces[other].count = own->count;
    cta->pieces[other].mirrors = (uint32_t)slot + 1;
}

/* Whether nothing but what the two share is of either. */
static bool is_mirrored(const struct cts_access_cta *cta, size_t slot, size_t other)
{
    bool is = !cta->pieces[slot].count && !cta->pieces[other].count && !cta->shared[other].count;
    for (size_t i = 0; i < cta->piece_slots && is; i++)
        is = i == slot || !cta->shared[i].count || cta->shared[i].pair != other + 1;
    return is;
}

enum cts_status cts_access_part_pairs(struct cts_access_worker *worker, struct cts_access_cta *cta)
{
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < cta->piece_slots && cta->has_shared && !status; i++) {
        struct cts_pieces *const shared = &cta->shared[i];
        if (!shared->count) continue;
        const size_t other = shared->pair - 1;
        if (is_mirrored(cta, i, other)) {
            mirror(cta, i, other);
        } else {
            status = append_pieces(worker, &cta->pieces[i], shared);
            if (!status) status = append_pieces(worker, &cta->pieces[other], shared);
        }
        forget(shared);
    }
    cta->has_shared = false;
    return status;
}

/* ---- shared memory ---- */

static bool shared_words_of(struct cts_access_worker *worker, struct cts_access_cta *cta)
{
    if (!cta->shared_written)
        cta->shared_written =
            cts_array_zeroed(CTS_SHARED_BYTES_MAX / 64, sizeof(uint64_t), &worker->error);
    return cta->shared_written != NULL;
}

/* Marks a stretch as written, or says whether it has been. */
static bool touch_shared(struct cts_access_cta *cta, uint64_t start, uint64_t end, bool writes)
{
    if (end > CTS_SHARED_BYTES_MAX) return true; /* no CTA has so much */
    const unsigned last = (unsigned)(end - 1) / 64;
    if (writes && last >= cta->shared_words) cta->shared_words = last + 1;
    for (unsigned w = (unsigned)start / 64; w <= last; w++) {
        const uint64_t mask = cts_bits_mask(w, (unsigned)start, (unsigned)end);
        if (writes)
            cta->shared_written[w] |= mask;
        else if (mask & ~cta->shared_written[w])
            return false;
    }
    return true;
}

static bool touch_all(struct cts_access_cta *cta, const struct cts_access_stretch *stretches,
                      unsigned count, bool writes)
{
    bool is_written = true;
    for (unsigned i = 0; i < count; i++) {
        uint64_t start = stretches[i].start;
        for (uint32_t k = 0; k < stretches[i].count && is_written; k++) {
            is_written = touch_shared(cta, start, start + stretches[i].length_bytes, writes);
            start += stretches[i].stride_bytes;
        }
    }
    return is_written;
}

static enum cts_status watch_shared(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                    const struct cts_access_slot *slot,
                                    const struct stretch_list *list)
{
    if (!shared_words_of(worker, cta)) return CTS_MEMORY;
    if (slot->class != CTS_CLASS_STORE && !touch_all(cta, list->items, list->count, false)) {
        const enum cts_status status = cts_access_add_shared_read(worker, cta, list->record);
        if (status) return status;
    }
    if (slot->class != CTS_CLASS_READ) (void)touch_all(cta, list->items, list->count, true);
    return CTS_OK;
}

/* ---- records ---- */

/* The record at hand: `end` of those that follow in its CTA; what count_request() says of it. */
struct record {
    size_t index, end;
    unsigned distinct_bytes;
};

/* Local memory is each thread's own: the thread stands above the offset in its frame. */
static enum cts_status add_local(struct cts_access_worker *worker, struct cts_pieces *pieces,
                                 uint32_t width_bytes, size_t record)
{
    const struct cts_access access = cts_acc_record(worker->batch, record);
    uint64_t addresses[CTS_WARP_LANES];
    cts_access_addresses(&access, addresses);
    for (uint32_t mask = access.mask; mask; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const uint64_t thread = (uint64_t)access.warp * CTS_WARP_LANES + lane;
        const struct cts_access_stretch stretch = {
            .start = thread << 40 | (addresses[lane] & ((UINT64_C(1) << 40) - 1)),
            .length_bytes = width_bytes,
            .count = 1};
        const enum cts_status status = add_piece(worker, pieces, access.warp, &stretch, true);
        if (status) return status;
    }
    return CTS_OK;
}

/* Only races of stores are counted with it. */
static void add_lane_bytes(const struct cts_access_worker *worker, struct cts_access_cta *cta,
                           size_t slot, size_t record)
{
    if (worker->slots[slot].class != CTS_CLASS_STORE) return;
    cta->pieces[slot].lane_bytes +=
        (uint64_t)__builtin_popcount(worker->batch->mask[record]) * worker->slots[slot].width_bytes;
}

/* The second of a pair. */
static void add_paired(struct cts_access_worker *worker, struct cts_access_cta *cta,
                       size_t slot_index, const struct record *record)
{
    const struct cts_access_slot *const slot = &worker->slots[slot_index];
    add_lane_bytes(worker, cta, slot_index, record->index);
    if (worker->paired_place)
        add_to_place(worker, worker->paired_place, record->index, slot->width_bytes,
                     record->distinct_bytes);
    else
        count_places_apart(worker, slot, record->index);
}

static enum cts_status add_bytes(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                 size_t slot_index, const struct record *record)
{
    const struct cts_access_model *const model = worker->model;
    struct cts_pieces *const pieces =
        pieces_of(worker, cta, slot_index, record->index, record->end);
    const struct cts_access_slot *const slot = &worker->slots[slot_index];
    const uint16_t warp = worker->batch->warp[record->index];
    struct stretch_list list;
    if (!pieces) return worker->error.status;
    if (slot->space == CTS_SPACE_LOCAL)
        return add_local(worker, pieces, slot->width_bytes, record->index);
    list.record = record->index;
    list.count = cts_access_stretches(worker->batch, record->index, slot->width_bytes, list.items,
                                      &worker->error);
    enum cts_status status = list.count ? CTS_OK : worker->error.status;
    for (unsigned i = 0; i < list.count && !status; i++)
        status = list.count < SCATTERED_STRETCHES
                     ? add_piece(worker, pieces, warp, &list.items[i], true)
                     : add_piece(worker, pieces, warp, &list.items[i], false);
    add_lane_bytes(worker, cta, slot_index, record->index);
    if (status || model->look == CTS_LOOK_WRITES) return status;
    if (slot->space == CTS_SPACE_SHARED && model->watches_shared)
        return watch_shared(worker, cta, slot, &list);
    if (slot->space == CTS_SPACE_GLOBAL) count_places(worker, slot, &list, record->distinct_bytes);
    return CTS_OK;
}

enum cts_status cts_access_add_record(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                      size_t i, size_t end)
{
    const struct cts_access_model *const model = worker->model;
    const uint8_t space = worker->batch->space[i];
    size_t index = 0;
    enum cts_status status;
    const struct cts_access_slot *const slot = slot_of(worker, i, &index, &status);
    if (!slot) return status;
    if (model->look == CTS_LOOK_WRITES) {
        const bool counts = space == CTS_SPACE_GLOBAL && slot->class != CTS_CLASS_READ;
        return counts ? add_bytes(worker, cta, index, &(struct record){.index = i}) : CTS_OK;
    }
    struct record record = {.index = i, .end = end};
    const bool is_paired = worker->paired == i;
    worker->paired = SIZE_MAX;
    if (slot->row != SIZE_MAX) status = count_request(worker, slot, i, &record.distinct_bytes);
    if (status || model->options.costs_only) return status;
    if (!is_paired) return add_bytes(worker, cta, index, &record);
    add_paired(worker, cta, index, &record);
    return CTS_OK;
}
