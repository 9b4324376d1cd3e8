/* A batch of records: taken out of bins as they are, sorted, handed to the collector.
 *
 * The sort is stable and by launch and CTA, so that the collector gets each CTA's records together,
 * and CTAs in ascending order, which it stores best. Warps of a CTA interleave by chance; where no
 * barrier orders them (names->launch says so) records are sorted by warp too, since CTAs that do
 * the same then look the same. A radix sort: keys have 57 bits, few of which differ. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "trace/access.h"

enum {
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    WARP_BITS = 5,
    CTA_BITS = 32,
    LAUNCHES_KNOWN = 64, /* of a batch; more are looked up again */
};

enum cts_status cts_batch_init(struct cts_batch *batch, struct cts_error *error)
{
    const size_t n = CTS_BATCH_RECORDS;
    batch->records = malloc(n * sizeof *batch->records);
    batch->first_offsets = malloc(n * sizeof *batch->first_offsets);
    batch->offsets = malloc(CTS_BATCH_OFFSETS * sizeof *batch->offsets);
    batch->keys = malloc(n * sizeof *batch->keys);
    batch->other_keys = malloc(n * sizeof *batch->other_keys);
    batch->order = malloc(n * sizeof *batch->order);
    batch->other_order = malloc(n * sizeof *batch->other_order);
    batch->sites = calloc(CTS_BATCH_SITES, sizeof *batch->sites);
    batch->launch_number = CTS_NONE;
    if (batch->records && batch->first_offsets && batch->offsets && batch->keys &&
        batch->other_keys && batch->order && batch->other_order && batch->sites)
        return CTS_OK;
    cts_batch_release(batch);
    return cts_fail(error, CTS_MEMORY, "no memory for a batch of %zu records", n);
}

void cts_batch_release(struct cts_batch *batch)
{
    free(batch->records);
    free(batch->first_offsets);
    free(batch->offsets);
    free(batch->keys);
    free(batch->other_keys);
    free(batch->order);
    free(batch->other_order);
    free(batch->sites);
    *batch = (struct cts_batch){0};
}

/* ---- taking ---- */

static const uint32_t *slot_at(const struct cts_ring_source *source, uint64_t position)
{
    const uint64_t index = position & (((uint64_t)1 << source->slots_log2) - 1);
    return source->slots + index * CTS_RING_SLOT_WORDS;
}

/* Copies the slot at a position; false: not all of it has been written. */
static inline bool read_slot(const struct cts_ring_source *source, uint64_t position,
                             struct cts_ring_words *words)
{
    const uint64_t bits = (uint64_t)CTS_RING_PARITY << 32 | CTS_RING_PARITY;
    const uint64_t *const from = (const uint64_t *)(const void *)slot_at(source, position);
    uint64_t pairs[CTS_RING_SLOT_WORDS / 2], all = UINT64_MAX, any = 0;
    for (int i = 0; i < CTS_RING_SLOT_WORDS / 2; i++) {
        pairs[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
        all &= pairs[i];
        any |= pairs[i];
    }
    memcpy(words, pairs, sizeof *words);
    return cts_ring_parity(position, source->slots_log2) ? (all & bits) == bits : (any & bits) == 0;
}

bool cts_ring_source_is_ready(const struct cts_ring_source *source, uint64_t position)
{
    struct cts_ring_words words;
    return read_slot(source, position, &words);
}

static uint32_t lanes_of(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

/* The offsets of the list whose record stands at `position`; false: not complete. */
static bool take_offsets(struct cts_batch *batch, const struct cts_ring_source *source,
                         uint64_t position, uint32_t count)
{
    int32_t *const offsets = batch->offsets + batch->offset_count;
    for (uint32_t k = 0; k < count; k += CTS_RING_SLOT_OFFSETS) {
        struct cts_ring_words words;
        if (!read_slot(source, ++position, &words)) return false;
        for (uint32_t i = 0; i < CTS_RING_SLOT_OFFSETS; i++)
            offsets[k + i] = cts_ring_unpack_offset(words.w[i]);
    }
    return true;
}

bool cts_batch_is_full(const struct cts_batch *batch)
{
    return batch->count == CTS_BATCH_RECORDS ||
           batch->offset_count > CTS_BATCH_OFFSETS - CTS_WARP_LANES;
}

uint32_t cts_batch_take(struct cts_batch *batch, struct cts_ring_source *source, uint32_t most)
{
    uint32_t taken = 0;
    uint64_t position = source->tail;
    for (; taken < most && !cts_batch_is_full(batch); taken++) {
        struct cts_ring_words words;
        struct cts_ring_record *const record = batch->records + batch->count;
        if (!read_slot(source, position, &words)) break;
        cts_ring_unpack(&words, record);
        uint32_t list_lanes = 0;
        if (record->pattern == CTS_RING_LIST) {
            list_lanes = lanes_of(record->mask);
            if (!take_offsets(batch, source, position, list_lanes)) break;
            batch->first_offsets[batch->count] = batch->offset_count;
            batch->offset_count += list_lanes;
        }
        position += cts_ring_slots(list_lanes);
        if (record->mask)
            batch->count++;
        else
            batch->lost++; /* no patch stores such a one */
    }
    if (position != source->tail) {
        source->tail = position;
        __atomic_store_n(source->tail_at, position, __ATOMIC_RELEASE);
    }
    return taken;
}

/* ---- sorting ---- */

struct known_launch {
    uint32_t number, launch;
    bool by_warp, is_known, is_set;
};

static const struct known_launch *know(const struct cts_batch *batch, struct known_launch *launches,
                                       uint32_t number)
{
    struct known_launch *const known = launches + number % LAUNCHES_KNOWN;
    if (!known->is_set || known->number != number) {
        *known = (struct known_launch){.number = number, .is_set = true};
        known->is_known =
            batch->names->launch(batch->names->state, number, &known->launch, &known->by_warp);
    }
    return known;
}

static uint64_t key_of(const struct cts_ring_record *record, bool by_warp)
{
    return (uint64_t)record->launch << (CTA_BITS + WARP_BITS) | (uint64_t)record->cta << WARP_BITS |
           (by_warp ? record->warp : 0);
}

/* Fills keys and order; false: they are in order already. `bits` become the bits that differ. */
static bool make_keys(struct cts_batch *batch, struct known_launch *launches, unsigned *bits)
{
    uint64_t least = UINT64_MAX, most = 0, previous = 0;
    bool is_sorted = true;
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct cts_ring_record *const record = batch->records + i;
        const uint64_t key = key_of(record, know(batch, launches, record->launch)->by_warp);
        is_sorted = is_sorted && key >= previous;
        previous = key;
        batch->keys[i] = key;
        batch->order[i] = i;
        least = key < least ? key : least;
        most = key > most ? key : most;
    }
    for (uint32_t i = 0; i < batch->count; i++) batch->keys[i] -= least;
    *bits = most > least ? 64 - (unsigned)__builtin_clzll(most - least) : 0;
    return !is_sorted;
}

static void sort_by_digit(struct cts_batch *batch, unsigned shift)
{
    uint32_t starts[DIGITS] = {0};
    const uint32_t count = batch->count;
    for (uint32_t i = 0; i < count; i++) starts[batch->keys[i] >> shift & (DIGITS - 1)]++;
    uint32_t start = 0;
    for (uint32_t d = 0; d < DIGITS; d++) {
        const uint32_t here = starts[d];
        if (here == count) return; /* all alike */
        starts[d] = start;
        start += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t to = starts[batch->keys[i] >> shift & (DIGITS - 1)]++;
        batch->other_keys[to] = batch->keys[i];
        batch->other_order[to] = batch->order[i];
    }
    uint64_t *const keys = batch->keys;
    uint32_t *const order = batch->order;
    batch->keys = batch->other_keys;
    batch->order = batch->other_order;
    batch->other_keys = keys;
    batch->other_order = order;
}

/* ---- feeding ---- */

static uint32_t site_of(struct cts_batch *batch, const struct cts_ring_record *record)
{
    const uint64_t key = 1 | (uint64_t)record->pc << 8 | (uint64_t)record->space << 1 |
                         (uint64_t)record->operation << 3 | (uint64_t)record->width_log2 << 5;
    const size_t at = (size_t)((key * 0x9E3779B97F4A7C15u) >> 40) % CTS_BATCH_SITES;
    struct cts_batch_site *const known = batch->sites + at;
    if (known->key != key) {
        const uint32_t site = batch->names->site(batch->names->state, record);
        if (site == CTS_NONE) return CTS_NONE; /* may be known later */
        *known = (struct cts_batch_site){key, site};
    }
    return known->site;
}

void cts_batch_forget_sites(struct cts_batch *batch)
{
    memset(batch->sites, 0, CTS_BATCH_SITES * sizeof *batch->sites);
}

void cts_batch_settle(struct cts_batch *batch)
{
    if (!batch->stream || batch->launch_number == CTS_NONE) return;
    const struct cts_stream_counts counts = cts_stream_take_counts(batch->stream);
    if (counts.records || counts.dropped_records)
        batch->names->counts(batch->names->state, batch->launch_number, &counts);
    batch->launch_number = CTS_NONE;
}

static void add_record(struct cts_batch *batch, uint32_t index, uint32_t site)
{
    static const uint8_t spaces[4] = {CTS_SPACE_GLOBAL, CTS_SPACE_SHARED, CTS_SPACE_LOCAL,
                                      CTS_SPACE_GLOBAL};
    const struct cts_ring_record *const record = batch->records + index;
    const enum cts_space space = (enum cts_space)spaces[record->space];
    if (record->pattern != CTS_RING_LIST) {
        const struct cts_access access = {.site = site,
                                          .mask = record->mask,
                                          .warp = record->warp,
                                          .space = (uint8_t)space,
                                          .pattern = record->pattern,
                                          .row_lanes = record->row_lanes,
                                          .s0 = record->s0,
                                          .s1 = record->s1,
                                          .base = record->base};
        cts_stream_add_pattern(batch->stream, &access);
        return;
    }
    uint64_t addresses[CTS_WARP_LANES];
    const int32_t *offset = batch->offsets + batch->first_offsets[index];
    for (uint32_t rest = record->mask; rest; rest &= rest - 1)
        addresses[__builtin_ctz(rest)] = record->base + (uint64_t)(int64_t)*offset++;
    cts_stream_add(batch->stream, site, space, record->warp, record->mask, addresses, 0, NULL);
}

/* Makes the stream hold this launch's records. */
static bool turn_to_launch(struct cts_batch *batch, const struct known_launch *known)
{
    if (!known->is_known) return false;
    if (batch->launch_number != known->number) {
        cts_batch_settle(batch);
        batch->launch_number = known->number;
        batch->launch = known->launch;
    }
    return true;
}

void cts_batch_feed(struct cts_batch *batch)
{
    struct known_launch launches[LAUNCHES_KNOWN] = {{0}};
    unsigned bits;
    const struct cts_ring_record *cta = NULL; /* a record of the CTA that is open */
    if (batch->stream && make_keys(batch, launches, &bits))
        for (unsigned shift = 0; shift < bits; shift += DIGIT_BITS) sort_by_digit(batch, shift);
    for (uint32_t i = 0; batch->stream && i < batch->count; i++) {
        const struct cts_ring_record *const record = batch->records + batch->order[i];
        const uint32_t site = turn_to_launch(batch, know(batch, launches, record->launch))
                                  ? site_of(batch, record)
                                  : CTS_NONE;
        if (site == CTS_NONE) {
            batch->lost++;
            continue;
        }
        if (!cta || cta->cta != record->cta || cta->launch != record->launch) {
            if (cta) cts_stream_end_cta(batch->stream);
            cts_stream_begin_cta(batch->stream, batch->launch, record->cta);
            cta = record;
        }
        add_record(batch, batch->order[i], site);
    }
    if (cta) cts_stream_end_cta(batch->stream);
    batch->count = batch->offset_count = 0;
}
