/* One record that is looked at again (faults.c): which suspected bytes it touches, and what that
 * adds to the rows of faults. */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"
#include "common/promise.h"

static const enum cts_finding_kind kind_of[] = {[CTS_SUSPECT_OUTSIDE] = CTS_FINDING_OUTSIDE,
                                                [CTS_SUSPECT_UNWRITTEN] = CTS_FINDING_UNINITIALISED,
                                                [CTS_SUSPECT_RACE] = CTS_FINDING_RACE,
                                                [CTS_SUSPECT_STALE] = CTS_FINDING_RACE};

/* Bytes of [start, end) that are set in a plane of the suspects and not in `except` (or NULL), and
 * hold values of the records of `layout` (or NULL) that lie at `origin`. */
struct hits {
    const struct cts_bits *bits, *except;
    const struct cts_access_layout *layout;
    unsigned plane;
    uint64_t start, end, origin;
};

/* Those of a word. */
static uint64_t hits_of_word(const struct hits *hits, uint64_t w)
{
    const uint64_t *const words = cts_bits_find(hits->bits, w * 64);
    if (!words) return 0;
    uint64_t mask = words[w % CTS_BITS_PAGE_WORDS * hits->bits->planes + hits->plane];
    if (w == hits->start / 64) mask &= UINT64_MAX << (hits->start % 64);
    if (w == (hits->end - 1) / 64) mask &= UINT64_MAX >> (63 - (hits->end - 1) % 64);
    const uint64_t *const past = mask && hits->except ? cts_bits_find(hits->except, w * 64) : NULL;
    if (past) mask &= ~past[w % CTS_BITS_PAGE_WORDS];
    if (mask && hits->layout)
        mask &= ~cts_access_padding_mask(hits->layout, hits->origin, w * 64, true);
    return mask;
}

/* How many, and the first. */
static unsigned count_hits(const struct hits *hits, uint64_t *first)
{
    unsigned count = 0;
    for (uint64_t w = hits->start / 64; w <= (hits->end - 1) / 64; w++) {
        const uint64_t mask = hits_of_word(hits, w);
        if (mask && !count) *first = w * 64 + (unsigned)__builtin_ctzll(mask);
        count += (unsigned)__builtin_popcountll(mask);
    }
    return count;
}

/* ---- rows of faults; the caller holds the lock ---- */

static struct cts_access_fault_row *fault_row_of(struct cts_access_model *model,
                                                 const struct cts_access_fault_row *wanted,
                                                 struct cts_error *error)
{
    CTS_ASSERT_HELD(&model->faults_lock);
    for (size_t i = 0; i < model->faults.count; i++) {
        struct cts_access_fault_row *const row = &model->faults.items[i];
        if (row->kind == wanted->kind && row->kernel == wanted->kernel &&
            row->site == wanted->site && row->space == wanted->space &&
            row->other_site == wanted->other_site && row->fault.scope == wanted->fault.scope)
            return row;
    }
    if (CTS_ARRAY_RESERVE(&model->faults, model->faults.count + 1, error)) return NULL;
    struct cts_access_fault_row *const row = &model->faults.items[model->faults.count++];
    *row = *wanted;
    row->fault.allocation = SIZE_MAX;
    cts_bits_init(&row->bytes, &model->pool, 1);
    return row;
}

static struct cts_access_fault_row *fault_row(struct cts_access_model *model,
                                              enum cts_finding_kind kind, uint32_t site,
                                              uint8_t space, struct cts_error *error)
{
    CTS_ASSERT_HELD(&model->faults_lock);
    const struct cts_access_fault_row wanted = {.kind = kind,
                                                .kernel = model->launch->kernel,
                                                .site = site,
                                                .other_site = CTS_NONE,
                                                .space = space};
    return fault_row_of(model, &wanted, error);
}

struct cts_access_fault_row *cts_access_race_row(struct cts_access_model *model, uint32_t site,
                                                 struct cts_error *error)
{
    return fault_row(model, CTS_FINDING_RACE, site, CTS_SPACE_GLOBAL, error);
}

static bool is_before(const struct cts_access_example *a, const struct cts_access_example *b)
{
    if (a->address != b->address) return a->address < b->address;
    if (a->cta != b->cta) return a->cta < b->cta;
    if (a->thread != b->thread) return a->thread < b->thread;
    return a->site < b->site;
}

/* One thread's access, whose bad bytes begin at example->address. */
static void note_access(struct cts_access_model *model, struct cts_access_fault_row *row,
                        const struct cts_access_example *example)
{
    CTS_ASSERT_HELD(&model->faults_lock);
    struct cts_access_fault *const fault = &row->fault;
    fault->accesses++;
    if (row->last_launch != model->launch_index + 1) {
        row->last_launch = model->launch_index + 1;
        fault->launch_count++;
    }
    if (!fault->example.known ||
        (fault->example.launch == example->launch && is_before(example, &fault->example)))
        fault->example = *example;
}

static struct cts_access_example end_of(const struct cts_access_model *model, uint32_t cta,
                                        const struct cts_race_pair *pair,
                                        const struct cts_race_end *end)
{
    return (struct cts_access_example){.known = true,
                                       .launch = model->launch_index,
                                       .cta = cta,
                                       .thread = end->thread,
                                       .site = end->site,
                                       .address = pair->address};
}

enum cts_status cts_access_add_cta_race(struct cts_access_model *model, uint32_t cta,
                                        const struct cts_race_pair *pair, struct cts_error *error)
{
    CTS_ASSERT_HELD(&model->faults_lock);
    const struct cts_site *const sites = model->catalogue->sites;
    const bool first_writes = cts_operation_writes(sites[pair->first.site].operation);
    const struct cts_race_end *const writer = first_writes ? &pair->first : &pair->second;
    const struct cts_race_end *const other = first_writes ? &pair->second : &pair->first;
    const enum cts_race_scope scope = pair->is_asynchronous ? CTS_RACE_OF_COPY
                                      : pair->is_in_warp    ? CTS_RACE_OF_LANES
                                                            : CTS_RACE_OF_WARPS;
    const struct cts_access_fault_row wanted = {
        .kind = scope == CTS_RACE_OF_LANES ? CTS_FINDING_LOCKSTEP : CTS_FINDING_RACE,
        .kernel = model->launch->kernel,
        .site = writer->site,
        .other_site = other->site,
        .space = pair->space,
        .fault = {.scope = scope}};
    struct cts_access_fault_row *const row = fault_row_of(model, &wanted, error);
    if (!row) return CTS_MEMORY;
    const struct cts_access_example example = end_of(model, cta, pair, writer);
    const bool was_known = row->fault.example.known;
    const struct cts_access_example before = row->fault.example;
    note_access(model, row, &example);
    row->fault.bytes += pair->bytes;
    if (!was_known || memcmp(&before, &row->fault.example, sizeof before) != 0)
        row->fault.other = end_of(model, cta, pair, other);
    return CTS_OK;
}

/* Counts them, each once. */
static enum cts_status note_bytes(struct cts_access_fault_row *row, const struct hits *hits,
                                  struct cts_error *error)
{
    const uint64_t first = hits->start / 64, last = (hits->end - 1) / 64;
    for (uint64_t w = first; w <= last; w++) {
        const uint64_t mask = hits_of_word(hits, w);
        if (!mask) continue;
        uint64_t *const noted = cts_bits_page(&row->bytes, w * 64, error);
        if (!noted) return error ? error->status : CTS_MEMORY;
        const uint64_t before = cts_bits_or(&noted[w % CTS_BITS_PAGE_WORDS], mask, false);
        row->fault.bytes += cts_bits_count(mask & ~before);
    }
    return CTS_OK;
}

/* ---- one record ---- */

/* A record of global memory in a second look. */
struct again {
    struct cts_access_worker *worker;
    struct cts_access_cta *cta;
    uint32_t site, width_bytes, mask;
    uint16_t warp;
    bool reads, writes, stores; /* stores: not atomically */
    int operation;              /* of the site */
    bool is_volatile;
    uint64_t addresses[CTS_WARP_LANES];
};

static struct cts_access_example example_of(const struct again *again, unsigned lane,
                                            uint64_t address)
{
    return (struct cts_access_example){.known = true,
                                       .launch = again->worker->model->launch_index,
                                       .cta = again->cta->cta,
                                       .thread = (uint32_t)again->warp * CTS_WARP_LANES + lane,
                                       .site = again->site,
                                       .address = address};
}

/* Whether what a lane takes of a record may be padding and values that are known: where in the
 * record it lies is not recorded. Of allocations whose records are known, their padding is not
 * suspected in the first place. */
static bool may_be_padding(struct cts_access_worker *worker, const struct hits *suspected,
                           const struct cts_access_layout *layout)
{
    const struct cts_access_model *const model = worker->model;
    struct hits hits = *suspected;
    uint64_t end, first;
    const uint64_t step = layout->size_bytes & -layout->size_bytes;
    const size_t place = cts_place_of(&model->places, &worker->place_hint, hits.start, &end);
    if (place == SIZE_MAX || cts_access_allocation_layout(&model->padding, place)) return false;
    hits.layout = layout;
    for (uint64_t inside = 0; inside < layout->size_bytes; inside += step) {
        hits.origin = hits.start - inside;
        if (!count_hits(&hits, &first)) return true;
    }
    return false;
}

static enum cts_status note_suspects(const struct again *again, unsigned plane,
                                     const struct cts_bits *except)
{
    struct cts_access_model *const model = again->worker->model;
    struct cts_error *const error = &again->worker->error;
    struct cts_access_fault_row *row = NULL;
    enum cts_status status = CTS_OK;
    const struct cts_site *const site = &model->catalogue->sites[again->site];
    const struct cts_access_layout *const layout =
        plane == CTS_SUSPECT_UNWRITTEN ? cts_access_site_layout(&model->padding, site) : NULL;
    const bool is_whole = cts_access_takes_whole(layout, site);
    for (uint32_t mask = again->mask; mask && !status; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const uint64_t start = again->addresses[lane];
        const struct hits hits = {.bits = &model->suspects,
                                  .except = except,
                                  .layout = is_whole ? layout : NULL,
                                  .origin = start,
                                  .plane = plane,
                                  .start = start,
                                  .end = start + again->width_bytes};
        uint64_t first;
        const unsigned hit_count = count_hits(&hits, &first);
        if (!hit_count) continue;
        if (layout && !is_whole && may_be_padding(again->worker, &hits, layout)) continue;
        if (!row) row = fault_row(model, kind_of[plane], again->site, CTS_SPACE_GLOBAL, error);
        if (!row) return CTS_MEMORY;
        const struct cts_access_example example = example_of(again, lane, first);
        note_access(model, row, &example);
        row->fault.has_whole |= hit_count == again->width_bytes;
        status = note_bytes(row, &hits, error);
    }
    return status;
}

/* Unwritten bytes that the record touches are past their first access in this CTA. */
static enum cts_status mark_seen(const struct again *again)
{
    enum cts_status status = CTS_OK;
    for (uint32_t mask = again->mask; mask && !status; mask &= mask - 1) {
        const uint64_t start = again->addresses[__builtin_ctz(mask)];
        const struct hits hits = {.bits = &again->worker->model->suspects,
                                  .plane = CTS_SUSPECT_UNWRITTEN,
                                  .start = start,
                                  .end = start + again->width_bytes};
        uint64_t first;
        if (count_hits(&hits, &first))
            status = cts_bits_set(&again->cta->seen, 0, start, hits.end, &again->worker->error);
    }
    return status;
}

static enum cts_status look_at_order(const struct again *again)
{
    struct cts_bits *const suspects = &again->worker->model->suspects;
    const unsigned plane = again->stores ? CTS_SUSPECT_WRITE_FIRST : CTS_SUSPECT_EXPOSED;
    for (uint32_t mask = again->mask; mask; mask &= mask - 1) {
        const uint64_t start = again->addresses[__builtin_ctz(mask)];
        const uint64_t end = start + again->width_bytes;
        for (uint64_t w = start / 64; w <= (end - 1) / 64; w++) {
            uint64_t *const words = cts_bits_find(suspects, w * 64);
            if (!words) continue;
            uint64_t *const word = &words[w % CTS_BITS_PAGE_WORDS * suspects->planes];
            const uint64_t *const seen = cts_bits_find(&again->cta->seen, w * 64);
            uint64_t fresh = word[CTS_SUSPECT_UNWRITTEN];
            if (w == start / 64) fresh &= UINT64_MAX << (start % 64);
            if (w == (end - 1) / 64) fresh &= UINT64_MAX >> (63 - (end - 1) % 64);
            if (seen) fresh &= ~seen[w % CTS_BITS_PAGE_WORDS];
            if (fresh) cts_bits_or(&word[plane], fresh, true);
        }
    }
    return mark_seen(again);
}

/* Of races only stores are, or loads where atomics write. */
static bool may_be_named(const struct cts_access_model *model, const struct cts_site *site)
{
    return site->operation == CTS_STORE || model->found[CTS_SUSPECT_OUTSIDE] ||
           model->found[CTS_SUSPECT_UNWRITTEN] ||
           (model->found[CTS_SUSPECT_STALE] && site->operation == CTS_LOAD && !site->is_volatile);
}

static bool may_be_stale(const struct again *again)
{
    const struct cts_access_model *const model = again->worker->model;
    return model->found[CTS_SUSPECT_STALE] && again->operation == CTS_LOAD && !again->is_volatile &&
           !cts_access_is_test(model, again->site);
}

static enum cts_status name_accesses(const struct again *again)
{
    const struct cts_access_model *const model = again->worker->model;
    enum cts_status status = CTS_OK;
    if (model->found[CTS_SUSPECT_OUTSIDE]) status = note_suspects(again, CTS_SUSPECT_OUTSIDE, NULL);
    if (!status && model->found[CTS_SUSPECT_RACE] && again->stores)
        status = note_suspects(again, CTS_SUSPECT_RACE, NULL);
    if (!status && may_be_stale(again)) status = note_suspects(again, CTS_SUSPECT_STALE, NULL);
    if (status || !model->found[CTS_SUSPECT_UNWRITTEN]) return status;
    if (again->reads) status = note_suspects(again, CTS_SUSPECT_UNWRITTEN, &again->cta->seen);
    /* A compare-and-swap that failed wrote nothing, and whether it failed is not recorded. */
    if (!status && again->writes && again->operation != CTS_ATOMIC_CAS) status = mark_seen(again);
    return status;
}

/* ---- scattered records ----
 *
 * What is known of the bytes of their lanes lies far apart. In which order lanes are named does not
 * matter, unless bytes are unwritten: so they wait, and are named block by block of addresses, as
 * scattered sets are painted (cta-sets.c). */

enum { SCATTERED_STRETCHES = 5, AHEAD = 24 /* lanes whose bits are fetched in advance */ };

static bool can_wait(const struct again *again, unsigned stretch_count)
{
    const struct cts_access_model *const model = again->worker->model;
    const unsigned least =
        model->options.late_ranges ? model->options.late_ranges : SCATTERED_STRETCHES;
    if (stretch_count < least || model->found[CTS_SUSPECT_UNWRITTEN]) return false;
    for (uint32_t mask = again->mask; mask; mask &= mask - 1) {
        const uint64_t start = again->addresses[__builtin_ctz(mask)];
        if ((start ^ (start + again->width_bytes - 1)) >> CTS_SHADOW_BLOCK_BITS) return false;
    }
    return true;
}

/* Naming lanes that waited. */
struct naming {
    struct again again;
    struct cts_bits_near suspects, noted; /* `noted`: of the row's bytes */
    size_t row;                           /* index + 1 of the row of `site`; 0: none */
    uint32_t site;
};

static enum cts_status name_lane(struct naming *naming, const struct cts_access_late *late,
                                 const struct cts_set_item *item)
{
    struct again *const again = &naming->again;
    const unsigned lane = item->node % CTS_WARP_LANES;
    again->cta->cta = late->cta;
    again->site = late->site;
    again->warp = late->warp;
    again->width_bytes = item->length_bytes;
    const struct cts_site *const site = &again->worker->model->catalogue->sites[late->site];
    again->operation = site->operation;
    again->is_volatile = site->is_volatile;
    again->stores = site->operation == CTS_STORE;
    again->mask = UINT32_C(1) << lane;
    again->addresses[lane] = item->start;
    return name_accesses(again);
}

/* The row of races of a store's site. */
static struct cts_access_fault_row *race_row(struct naming *naming, uint32_t site)
{
    const struct cts_access_worker *const worker = naming->again.worker;
    struct cts_access_model *const model = worker->model;
    if (naming->row && naming->site == site) return &model->faults.items[naming->row - 1];
    struct cts_access_fault_row *const row =
        cts_access_race_row(model, site, &naming->again.worker->error);
    if (!row) return NULL;
    naming->row = (size_t)(row - model->faults.items) + 1;
    naming->site = site;
    naming->noted = (struct cts_bits_near){0};
    return row;
}

/* A store whose bytes lie in one word, where only races are suspected: the same as name_lane(). */
static enum cts_status name_store(struct naming *naming, const struct cts_access_late *late,
                                  const struct cts_set_item *item)
{
    struct cts_access_worker *const worker = naming->again.worker;
    struct cts_access_model *const model = worker->model;
    const uint64_t start = item->start, bits = UINT64_MAX >> (64 - item->length_bytes);
    uint64_t *const page = cts_bits_find_near(&model->suspects, &naming->suspects, start);
    if (!page) return CTS_OK;
    const uint64_t hits =
        cts_bits_word_in(&model->suspects, page, start)[CTS_SUSPECT_RACE] & bits << start % 64;
    if (!hits) return CTS_OK;
    struct cts_access_fault_row *const row = race_row(naming, late->site);
    if (!row) return CTS_MEMORY;
    note_access(model, row,
                &(struct cts_access_example){
                    .known = true,
                    .launch = model->launch_index,
                    .cta = late->cta,
                    .thread = (uint32_t)late->warp * CTS_WARP_LANES + item->node % CTS_WARP_LANES,
                    .site = late->site,
                    .address = (start & ~UINT64_C(63)) + (unsigned)__builtin_ctzll(hits)});
    uint64_t *noted = cts_bits_find_near(&row->bytes, &naming->noted, start);
    if (!noted) noted = cts_bits_page(&row->bytes, start, &worker->error);
    if (!noted) return CTS_MEMORY;
    uint64_t *const word = cts_bits_word_in(&row->bytes, noted, start);
    row->fault.bytes += cts_bits_count(hits & ~*word);
    *word |= hits;
    return CTS_OK;
}

static void expect_lane(struct naming *naming, const struct cts_set_item *item)
{
    struct cts_access_model *const model = naming->again.worker->model;
    cts_bits_expect(&model->suspects, &naming->suspects, item->start);
    if (naming->row)
        cts_bits_expect(&model->faults.items[naming->row - 1].bytes, &naming->noted, item->start);
}

/* Some lanes that waited; the caller holds the lock. */
static enum cts_status name_lanes(struct naming *naming, const struct cts_set_item *items,
                                  size_t count)
{
    const struct cts_access_worker *const worker = naming->again.worker;
    const bool only_races =
        !worker->model->found[CTS_SUSPECT_OUTSIDE] && !worker->model->found[CTS_SUSPECT_STALE];
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < count && i < AHEAD; i++) expect_lane(naming, &items[i]);
    for (size_t i = 0; i < count && !status; i++) {
        const struct cts_set_item *const item = &items[i];
        const struct cts_access_late *const late = &worker->late.items[item->node / CTS_WARP_LANES];
        if (i + AHEAD < count) expect_lane(naming, &items[i + AHEAD]);
        const bool is_in_word = item->start % 64 + item->length_bytes <= 64;
        status = only_races && is_in_word ? name_store(naming, late, item)
                                          : name_lane(naming, late, item);
    }
    return status;
}

enum cts_status cts_access_name_scattered(struct cts_access_worker *worker)
{
    struct cts_access_cta cta = {0};
    struct naming naming = {.again = {.worker = worker, .cta = &cta}};
    struct cts_sets_place place = {0};
    const struct cts_set_item *items;
    size_t done = 0;
    enum cts_status status = CTS_OK;
    for (size_t count; !status && (count = cts_sets_next(&worker->scattered, &place, &items));) {
        status = cts_access_source_pause(worker->model->source, done++ * (CTS_SET_CHUNK_ITEMS + 1),
                                         &worker->error);
        if (status) break;
        pthread_mutex_lock(&worker->model->faults_lock);
        status = name_lanes(&naming, items, count);
        pthread_mutex_unlock(&worker->model->faults_lock);
    }
    cts_sets_empty(&worker->scattered);
    worker->late.count = 0;
    return status;
}

static enum cts_status put_off(const struct again *again)
{
    struct cts_access_worker *const worker = again->worker;
    const size_t late = worker->late.count;
    enum cts_status status = CTS_OK;
    for (uint32_t mask = again->mask; mask && !status; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        const uint64_t start = again->addresses[lane], end = start + again->width_bytes;
        status = cts_sets_add(&worker->scattered, start, end,
                              (uint32_t)late * CTS_WARP_LANES + lane, &worker->error);
    }
    if (status || CTS_ARRAY_RESERVE(&worker->late, late + 1, &worker->error)) return CTS_MEMORY;
    worker->late.items[worker->late.count++] =
        (struct cts_access_late){again->cta->cta, again->site, again->warp};
    const size_t most = worker->model->scattered_max;
    return worker->scattered.count >= most || late >= most ? cts_access_name_scattered(worker)
                                                           : CTS_OK;
}

/* A use of what is suspected of a race, or of a word that may order it: one that is taken by
 * atomics, or is volatile. */
static enum cts_status note_signals(const struct again *again)
{
    struct cts_access_model *const model = again->worker->model;
    const struct cts_site *const site = &model->catalogue->sites[again->site];
    const bool is_atomic = cts_operation_is_atomic(site->operation);
    const uint32_t moment = again->cta->moment;
    enum cts_status status = CTS_OK;
    for (uint32_t mask = again->mask; mask && !status; mask &= mask - 1) {
        const uint64_t start = again->addresses[__builtin_ctz(mask)];
        const struct cts_access_use signal = {.address = start,
                                              .cta = again->cta->cta,
                                              .is_signal = true,
                                              .is_atomic = is_atomic,
                                              .stores = again->writes,
                                              .updates = !again->writes        ? 0
                                                         : model->knows_fences ? again->cta->fence
                                                                               : moment,
                                              .operation = (uint8_t)site->operation,
                                              .looks = again->reads ? moment : UINT32_MAX};
        if (is_atomic || site->is_volatile)
            status = cts_access_note_use(model, &signal, &again->worker->error);
        const bool is_weak = !is_atomic && !site->is_volatile;
        for (uint64_t at = start; at < start + again->width_bytes && !status; at++) {
            const struct cts_access_use use = {.address = at,
                                               .epoch = again->cta->epochs[again->warp % 32],
                                               .cta = again->cta->cta,
                                               .first = moment,
                                               .last = moment,
                                               .stores = again->stores,
                                               .is_weak = is_weak,
                                               .first_weak = is_weak ? moment : UINT32_MAX};
            if (cts_bits_get(&model->suspects, CTS_SUSPECT_RACE, at))
                status = cts_access_note_use(model, &use, &again->worker->error);
        }
    }
    return status;
}

/* Whether a record touches anything that is suspected. */
static bool touches_suspects(const struct cts_access_model *model,
                             const struct cts_access_stretch *stretches, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (uint32_t k = 0; k < stretches[i].count; k++) {
            const uint64_t start = stretches[i].start + (uint64_t)stretches[i].stride_bytes * k;
            for (uint64_t at = start; at < start + stretches[i].length_bytes;
                 at = (at | 4095) + 1) {
                if (cts_bits_find(&model->suspects, at)) return true;
                if (at > UINT64_MAX - 4096) break;
            }
        }
    return false;
}

enum cts_status cts_access_look_again(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                      size_t i)
{
    struct cts_access_model *const model = worker->model;
    const struct cts_catalogue *const catalogue = model->catalogue;
    const struct cts_access access = cts_acc_record(worker->batch, i);
    if (access.space != CTS_SPACE_GLOBAL || access.site >= catalogue->site_count) return CTS_OK;
    const struct cts_site *const site = &catalogue->sites[access.site];
    if (!site->width_bytes || site->width_bytes > CTS_ACCESS_WIDTH_MAX) return CTS_OK;
    if (model->look == CTS_LOOK_SIGNAL && cts_access_are_too_many(model)) return CTS_OK;
    struct cts_access_stretch stretches[CTS_WARP_LANES];
    const unsigned count =
        cts_access_stretches(worker->batch, i, site->width_bytes, stretches, &worker->error);
    if (!count) return worker->error.status;
    const bool may_signal = model->look == CTS_LOOK_SIGNAL &&
                            (site->is_volatile || cts_operation_is_atomic(site->operation));
    cta->moment++;
    if (model->look == CTS_LOOK_NAME && !may_be_named(model, site)) return CTS_OK;
    if (!may_signal && !touches_suspects(model, stretches, count)) return CTS_OK;
    struct again again = {.worker = worker,
                          .cta = cta,
                          .site = access.site,
                          .width_bytes = site->width_bytes,
                          .mask = access.mask,
                          .warp = access.warp,
                          .reads = cts_operation_reads(site->operation),
                          .writes = cts_operation_writes(site->operation),
                          .stores = site->operation == CTS_STORE,
                          .operation = site->operation,
                          .is_volatile = site->is_volatile};
    cts_access_addresses(&access, again.addresses);
    if (model->look == CTS_LOOK_SIGNAL && model->knows_order)
        return cts_access_log_touch(worker, cta,
                                    &(struct cts_access_touch){site, access.site, access.mask,
                                                               access.warp, again.addresses});
    if (model->look == CTS_LOOK_ORDER) return look_at_order(&again);
    if (model->look == CTS_LOOK_NAME && can_wait(&again, count)) return put_off(&again);
    pthread_mutex_lock(&model->faults_lock);
    const enum cts_status status =
        model->look == CTS_LOOK_SIGNAL ? note_signals(&again) : name_accesses(&again);
    pthread_mutex_unlock(&model->faults_lock);
    return status;
}

/* ---- shared memory ---- */

static bool is_shared_written(const struct cts_access_cta *cta, uint64_t offset)
{
    return offset >= CTS_SHARED_BYTES_MAX || cta->shared_written[offset / 64] >> (offset % 64) & 1;
}

/* Whether a byte holds no value: in a record that the access takes whole, or that the shared
 * variable consists of. */
static bool is_padding_there(const struct cts_access_model *model, uint32_t site, uint64_t start,
                             uint64_t at)
{
    const struct cts_access_padding *const padding = &model->padding;
    const struct cts_site *const row = &model->catalogue->sites[site];
    const struct cts_access_layout *const whole = cts_access_site_layout(padding, row);
    uint64_t origin = start;
    if (cts_access_takes_whole(whole, row) && cts_access_padding_mask(whole, origin, at, true) & 1)
        return true;
    const struct cts_access_layout *const variable =
        cts_access_shared_layout(padding, model->catalogue, row->module, at, &origin);
    return variable && cts_access_padding_mask(variable, origin, at, false) & 1;
}

enum cts_status cts_access_add_shared_read(struct cts_access_worker *worker,
                                           struct cts_access_cta *cta, size_t record)
{
    struct cts_access_model *const model = worker->model;
    const struct cts_access access = cts_acc_record(worker->batch, record);
    const uint32_t width = model->catalogue->sites[access.site].width_bytes;
    uint64_t addresses[CTS_WARP_LANES];
    enum cts_status status = CTS_OK;
    cts_access_addresses(&access, addresses);
    pthread_mutex_lock(&model->faults_lock);
    struct cts_access_fault_row *const row =
        fault_row(model, CTS_FINDING_UNINITIALISED, access.site, CTS_SPACE_SHARED, &worker->error);
    if (!row) status = CTS_MEMORY;
    for (uint32_t mask = access.mask; mask && !status; mask &= mask - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(mask);
        uint64_t first = UINT64_MAX;
        for (uint64_t at = addresses[lane]; at < addresses[lane] + width && !status; at++) {
            if (is_shared_written(cta, at) ||
                is_padding_there(model, access.site, addresses[lane], at))
                continue;
            const uint64_t key = (uint64_t)cta->cta << 20 | at; /* offsets are below 2^18 */
            if (first == UINT64_MAX) first = at;
            if (cts_bits_get(&row->bytes, 0, key)) continue;
            row->fault.bytes++;
            status = cts_bits_set(&row->bytes, 0, key, key + 1, &worker->error);
        }
        const struct cts_access_example example = {
            .known = true,
            .launch = model->launch_index,
            .cta = cta->cta,
            .thread = (uint32_t)access.warp * CTS_WARP_LANES + lane,
            .site = access.site,
            .address = first};
        if (first != UINT64_MAX) note_access(model, row, &example);
    }
    pthread_mutex_unlock(&model->faults_lock);
    return status;
}
