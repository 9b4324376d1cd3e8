/* A batch of records: taken out of bins, each put to those of its CTA, handed to the collector CTA
 * by CTA.
 *
 * CTAs go in ascending order, which the collector stores best. Warps of a CTA interleave by chance,
 * and CTAs that do the same look the same only when their warps go one after the other. That is
 * allowed where no barrier orders them (names->launch says so), and for loads between two other
 * accesses of a CTA, whose order nobody can tell. So a CTA has a chain of records per warp; an
 * access that is no load, in a kernel with barriers, first joins them to one. Nothing is sorted but
 * the CTAs. A record is looked at once, when it is taken: it becomes what the collector keeps and
 * is linked to its chain. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

#ifdef __has_feature
#define HAS_TSAN __has_feature(thread_sanitizer)
#else
#define HAS_TSAN 0
#endif
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__) && !HAS_TSAN
#include <emmintrin.h>
#define READS_BY_16 1
#else
#define READS_BY_16 0
#endif

#include "common/hash.h"
#include "trace/access.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PIECE_BITS = 12, CTA_BITS = 32 };
enum { SLOTS_AHEAD = 64 }; /* are on their way from memory, across pages, too */
_Static_assert(CTS_BATCH_PIECES == 1 << PIECE_BITS, "numbers of pieces");
_Static_assert(CTS_RING_LAUNCHES <= 1 << (64 - CTA_BITS - PIECE_BITS), "keys of pieces");

enum cts_status cts_batch_init(struct cts_batch *batch, struct cts_error *error)
{
    const size_t n = CTS_BATCH_RECORDS, m = CTS_BATCH_PIECES;
    batch->records = aligned_alloc(64, n * sizeof *batch->records);
    batch->next = malloc(n * sizeof *batch->next);
    batch->offsets = malloc(CTS_BATCH_OFFSETS * sizeof *batch->offsets);
    batch->pieces = aligned_alloc(64, m * sizeof *batch->pieces);
    batch->places = calloc(CTS_BATCH_PLACES, sizeof *batch->places);
    batch->order = malloc(n * sizeof *batch->order);
    batch->keys = malloc(m * sizeof *batch->keys);
    batch->other_keys = malloc(m * sizeof *batch->other_keys);
    batch->sites = calloc(CTS_BATCH_SITES, sizeof *batch->sites);
    batch->launches = calloc(CTS_BATCH_LAUNCHES, sizeof *batch->launches);
    batch->launch_number = CTS_NONE;
    if (batch->records && batch->next && batch->offsets && batch->pieces && batch->places &&
        batch->order && batch->keys && batch->other_keys && batch->sites && batch->launches)
        return CTS_OK;
    cts_batch_release(batch);
    return cts_fail(error, CTS_MEMORY, "no memory for a batch of %zu records", n);
}

void cts_batch_release(struct cts_batch *batch)
{
    free(batch->records);
    free(batch->next);
    free(batch->offsets);
    free(batch->pieces);
    free(batch->places);
    free(batch->order);
    free(batch->keys);
    free(batch->other_keys);
    free(batch->sites);
    free(batch->launches);
    *batch = (struct cts_batch){0};
}

/* ---- slots ---- */

static const uint32_t *slot_at(const struct cts_ring_source *source, uint64_t position)
{
    const uint64_t index = position & (((uint64_t)1 << source->slots_log2) - 1);
    return source->slots + index * CTS_RING_SLOT_WORDS;
}

/* Copies a slot; whether all its words have this parity. Its halves may be read apart, since each
 * word says for itself whether it has been written. */
static inline bool read_words(const uint32_t *slot, uint32_t parity, uint32_t *words)
{
#if READS_BY_16
    const __m128i low = *(const volatile __m128i *)(const void *)slot;
    const __m128i high = *(const volatile __m128i *)(const void *)(slot + 4);
    _mm_storeu_si128((__m128i *)(void *)words, low);
    _mm_storeu_si128((__m128i *)(void *)(words + 4), high);
    const __m128i joined = parity ? _mm_and_si128(low, high) : _mm_or_si128(low, high);
    return _mm_movemask_ps(_mm_castsi128_ps(joined)) == (parity ? 15 : 0);
#else
    const uint64_t bits = (uint64_t)CTS_RING_PARITY << 32 | CTS_RING_PARITY;
    const uint64_t *const from = (const uint64_t *)(const void *)slot;
    uint64_t pairs[CTS_RING_SLOT_WORDS / 2], all = UINT64_MAX, any = 0;
    for (int i = 0; i < CTS_RING_SLOT_WORDS / 2; i++) {
        pairs[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
        all &= pairs[i];
        any |= pairs[i];
    }
    memcpy(words, pairs, sizeof pairs);
    return parity ? (all & bits) == bits : (any & bits) == 0;
#endif
}

static inline bool read_slot(const struct cts_ring_source *source, uint64_t position,
                             uint32_t *words)
{
    return read_words(slot_at(source, position), cts_ring_parity(position, source->slots_log2),
                      words);
}

bool cts_ring_source_is_ready(const struct cts_ring_source *source, uint64_t position)
{
    uint32_t words[CTS_RING_SLOT_WORDS];
    return read_slot(source, position, words);
}

/* Words in the slots behind `position`; false: not complete. Whole slots are read. */
static bool take_words(const struct cts_ring_source *source, uint64_t position, uint32_t count,
                       uint32_t *words)
{
    for (uint32_t k = 0; k < count; k += CTS_RING_SLOT_WORDS)
        if (!read_slot(source, ++position, words + k)) return false;
    return true;
}

/* Of the record at `position`: its slots, and the words that it keeps in the batch's offsets; 0:
 * not complete. */
static __attribute__((noinline)) uint32_t take_valued(struct cts_batch *batch,
                                                      const struct cts_ring_source *source,
                                                      uint64_t position, const uint32_t *words,
                                                      uint32_t *kept_words)
{
    uint32_t *const place = batch->offsets + batch->offset_count;
    uint32_t *const own = place + CTS_BATCH_VALUED_WORDS;
    uint32_t list_lanes, value_words;
    const uint32_t slots = cts_batch_value_layout(words, &list_lanes, &value_words);
    const uint64_t values_at = position + cts_ring_slots(list_lanes) - 1;
    cts_batch_note_valued(words, place);
    if (!take_words(source, position, list_lanes, own) ||
        !take_words(source, values_at, value_words, own + list_lanes))
        return 0;
    *kept_words = CTS_BATCH_VALUED_WORDS + list_lanes + value_words;
    return slots;
}

/* ---- what records belong to ---- */

static const struct cts_batch_launch *know(struct cts_batch *batch, uint32_t number)
{
    struct cts_batch_launch *const known = batch->launches + number % CTS_BATCH_LAUNCHES;
    if (!known->is_set || known->number != number) {
        *known = (struct cts_batch_launch){.number = number, .is_set = true};
        known->is_known =
            batch->names->launch(batch->names->state, number, &known->launch, &known->by_warp);
    }
    return known;
}

/* There is room: a batch that has as many pieces as it may have is full. */
static __attribute__((noinline)) struct cts_batch_piece *add_piece(struct cts_batch *batch,
                                                                   uint64_t key, size_t place)
{
    struct cts_batch_piece *const piece = batch->pieces + batch->piece_count++;
    const struct cts_batch_launch *const known = know(batch, (uint32_t)(key >> CTA_BITS));
    batch->places[place] = (uint16_t)batch->piece_count;
    piece->key = key;
    piece->launch = known->launch;
    piece->by_warp = known->by_warp;
    piece->is_known = known->is_known;
    piece->has_ordered = false;
    piece->warps = 0;
    return piece;
}

static inline struct cts_batch_piece *piece_of(struct cts_batch *batch, const uint32_t *words)
{
    const uint64_t key = (uint64_t)cts_ring_launch_of(words) << CTA_BITS | cts_ring_cta_of(words);
    /* CTAs that run together are near each other, and so are their places */
    const uint64_t far = key / CTS_BATCH_PLACES;
    size_t place = (size_t)(key ^ cts_hash(far) >> 40) % CTS_BATCH_PLACES;
    for (; batch->places[place]; place = (place + 1) % CTS_BATCH_PLACES) {
        struct cts_batch_piece *const piece = batch->pieces + batch->places[place] - 1;
        if (piece->key == key) return piece;
    }
    return add_piece(batch, key, place);
}

static __attribute__((noinline)) uint32_t ask_for_site(struct cts_batch *batch,
                                                       const uint32_t *words,
                                                       struct cts_batch_site *known)
{
    struct cts_ring_words copy;
    struct cts_ring_record record;
    memcpy(copy.w, words, sizeof copy.w);
    cts_ring_unpack(&copy, &record);
    const uint32_t site = batch->names->site(batch->names->state, &record);
    if (site == CTS_NONE) return CTS_NONE; /* may be known later */
    known->site = site;
    known->key = (uint64_t)1 << 63 | (uint64_t)(words[7] & CTS_RING_KIND_MASK) << 32 |
                 (words[5] & CTS_RING_PLACE_MASK);
    return site;
}

static inline uint32_t site_of(struct cts_batch *batch, const uint32_t *words)
{
    const uint64_t key = (uint64_t)1 << 63 | (uint64_t)(words[7] & CTS_RING_KIND_MASK) << 32 |
                         (words[5] & CTS_RING_PLACE_MASK);
    const size_t at = (size_t)(cts_hash(key) >> 40) % CTS_BATCH_SITES;
    struct cts_batch_site *const known = batch->sites + at;
    return known->key == key ? known->site : ask_for_site(batch, words, known);
}

void cts_batch_forget_sites(struct cts_batch *batch)
{
    memset(batch->sites, 0, CTS_BATCH_SITES * sizeof *batch->sites);
    memset(batch->copy_sites, 0, sizeof batch->copy_sites);
}

/* ---- taking ---- */

bool cts_batch_is_full(const struct cts_batch *batch)
{
    return batch->count > CTS_BATCH_RECORDS - CTS_RING_REPEATS_MAX ||
           batch->piece_count == CTS_BATCH_PIECES ||
           batch->offset_count > CTS_BATCH_OFFSETS - CTS_BATCH_RECORD_WORDS_MAX;
}

static inline void append(struct cts_batch *batch, struct cts_batch_chain *chain, bool is_first,
                          struct cts_batch_chain more)
{
    if (is_first)
        chain->first = more.first;
    else
        batch->next[chain->last] = more.first;
    chain->last = more.last;
}

/* Puts the warps' chains behind the ordered one, warp by warp. */
static inline void order_warps(struct cts_batch *batch, struct cts_batch_piece *piece)
{
    for (uint32_t rest = piece->warps; rest; rest &= rest - 1) {
        append(batch, &piece->ordered, !piece->has_ordered, piece->of_warp[__builtin_ctz(rest)]);
        piece->has_ordered = true;
    }
    piece->warps = 0;
}

/* Keeps a record; the words of a list or with values have been read to where they stay. */
static inline void keep(struct cts_batch *batch, const uint32_t *words, uint32_t kept_words)
{
    static const uint8_t spaces[4] = {CTS_SPACE_GLOBAL, CTS_SPACE_SHARED, CTS_SPACE_LOCAL,
                                      CTS_SPACE_GLOBAL};
    struct cts_batch_piece *const piece = piece_of(batch, words);
    const bool is_copy = cts_ring_is_copy(words) && kept_words == CTS_RING_COPY_WORDS;
    struct cts_stream_record copied;
    const uint32_t site =
        !piece->is_known ? CTS_NONE
        : is_copy ? cts_batch_take_copy(batch, words, batch->offsets + batch->offset_count, &copied)
                  : site_of(batch, words);
    if (site == CTS_NONE) {
        batch->lost++;
        return;
    }
    const bool is_barrier = site & CTS_RING_BARRIER_SITE;
    const uint16_t i = (uint16_t)batch->count++;
    const uint32_t warp = cts_ring_warp_of(words);
    batch->records[i] = (struct cts_stream_record){
        .base = cts_ring_base_of(words),
        .site = site & ~(uint32_t)CTS_RING_BARRIER_SITE,
        .mask = cts_ring_mask_of(words),
        .s0 = kept_words ? (int32_t)batch->offset_count
                         : cts_ring_stride_of(words[4], words[7] >> 17),
        .s1 = cts_ring_stride_of(words[6], words[7] >> 18),
        .warp = (uint16_t)warp,
        .kind = cts_stream_record_kind(
            is_barrier ? CTS_SPACE_BARRIER : (enum cts_space)spaces[cts_ring_space_of(words)],
            (enum cts_pattern)cts_ring_pattern_of(words), (uint8_t)cts_ring_row_lanes_of(words)),
    };
    if (words[7] & CTS_RING_HAS_VALUES) {
        const enum cts_space space = cts_stream_space(batch->records[i].kind);
        batch->records[i].kind =
            (uint16_t)(cts_stream_record_kind(space, CTS_PATTERN_LIST, 0) | CTS_BATCH_HAS_VALUES);
    }
    if (is_copy) {
        batch->records[i] = copied;
        batch->records[i].s0 = (int32_t)batch->offset_count;
    }
    batch->offset_count += kept_words;
    const struct cts_batch_chain one = {i, i};
    if (piece->by_warp || (cts_ring_is_load(words) && !is_barrier)) {
        append(batch, &piece->of_warp[warp], !(piece->warps >> warp & 1), one);
        piece->warps |= 1u << warp;
    } else {
        order_warps(batch, piece);
        append(batch, &piece->ordered, !piece->has_ordered, one);
        piece->has_ordered = true;
    }
}

/* A repeated record, as so many records. */
static __attribute__((noinline)) void keep_repeated(struct cts_batch *batch, const uint32_t *words,
                                                    uint32_t count)
{
    uint32_t own[CTS_RING_SLOT_WORDS];
    for (uint32_t k = 0; k < count; k++) {
        cts_ring_take_repeat(words, k, own);
        keep(batch, own, 0);
    }
}

uint32_t cts_batch_take(struct cts_batch *batch, struct cts_ring_source *source, uint32_t most)
{
    uint32_t taken = 0;
    uint64_t position = source->tail;
    for (; taken < most && !cts_batch_is_full(batch); taken++) {
        uint32_t words[CTS_RING_SLOT_WORDS];
        __builtin_prefetch(slot_at(source, position + SLOTS_AHEAD));
        if (!read_slot(source, position, words)) break;
        const uint32_t mask = cts_ring_mask_of(words);
        uint32_t kept_words = 0, slots = 1;
        if (words[7] & CTS_RING_HAS_VALUES) {
            slots = take_valued(batch, source, position, words, &kept_words);
            if (!slots) break;
        } else if (cts_ring_pattern_of(words) == CTS_RING_LIST) {
            kept_words = mask == UINT32_MAX ? CTS_WARP_LANES : (uint32_t)__builtin_popcount(mask);
            if (!take_words(source, position, kept_words, batch->offsets + batch->offset_count))
                break;
            slots = cts_ring_slots(kept_words);
        }
        position += slots;
        const uint32_t count = kept_words ? 1 : cts_ring_count_of(words);
        if (!mask && count == 1)
            batch->lost++; /* no patch stores such a one */
        else if (batch->stream && count > 1)
            keep_repeated(batch, words, count);
        else if (batch->stream)
            keep(batch, words, kept_words);
    }
    if (position != source->tail) {
        source->tail = position;
        __atomic_store_n(source->tail_at, position, __ATOMIC_RELEASE);
    }
    return taken;
}

/* ---- the order of pieces ---- */

/* Sorts by one digit from keys to other_keys, and swaps them. */
static void sort_by_digit(struct cts_batch *batch, unsigned shift)
{
    uint32_t starts[DIGITS] = {0}, start = 0;
    const uint32_t count = batch->piece_count;
    uint64_t *const keys = batch->keys;
    for (uint32_t i = 0; i < count; i++) starts[keys[i] >> shift & (DIGITS - 1)]++;
    for (uint32_t d = 0; d < DIGITS; d++) {
        const uint32_t here = starts[d];
        if (here == count) return; /* all alike */
        starts[d] = start;
        start += here;
    }
    for (uint32_t i = 0; i < count; i++)
        batch->other_keys[starts[keys[i] >> shift & (DIGITS - 1)]++] = keys[i];
    batch->keys = batch->other_keys;
    batch->other_keys = keys;
}

/* By launch and CTA. The digits that all have in common cost nothing. */
static void sort_pieces(struct cts_batch *batch)
{
    uint64_t differ = 0, previous = 0;
    bool is_sorted = true;
    for (uint32_t i = 0; i < batch->piece_count; i++) {
        const uint64_t key = batch->pieces[i].key;
        is_sorted = is_sorted && key >= previous;
        previous = key;
        differ |= key ^ batch->pieces[0].key;
        batch->keys[i] = key << PIECE_BITS | i;
    }
    const unsigned bits = differ ? 64 - (unsigned)__builtin_clzll(differ) : 0;
    for (unsigned done = 0; !is_sorted && done < bits; done += DIGIT_BITS)
        sort_by_digit(batch, PIECE_BITS + done);
}

/* ---- feeding ---- */

void cts_batch_settle(struct cts_batch *batch)
{
    if (!batch->stream || batch->launch_number == CTS_NONE) return;
    const struct cts_stream_counts counts = cts_stream_take_counts(batch->stream);
    if (counts.records || counts.dropped_records)
        batch->names->counts(batch->names->state, batch->launch_number, &counts);
    batch->launch_number = CTS_NONE;
}

/* What is a pattern after all is found by the collector. */
static void add_list(struct cts_batch *batch, const struct cts_stream_record *record)
{
    uint64_t addresses[CTS_WARP_LANES];
    const uint32_t *offset = batch->offsets + (uint32_t)record->s0;
    for (uint32_t rest = record->mask; rest; rest &= rest - 1)
        addresses[__builtin_ctz(rest)] =
            record->base + (uint64_t)(int64_t)cts_ring_unpack_offset(*offset++);
    cts_stream_add(batch->stream, &(struct cts_stream_row){.site = record->site,
                                                           .space = cts_stream_space(record->kind),
                                                           .warp = record->warp,
                                                           .mask = record->mask,
                                                           .addresses = addresses,
                                                           .value_words = 0,
                                                           .values = NULL});
}

static void add_chain(struct cts_batch *batch, struct cts_batch_chain chain)
{
    uint32_t count = 0;
    for (uint16_t i = chain.first;; i = batch->next[i]) {
        const struct cts_stream_record *const record = batch->records + i;
        if (cts_stream_pattern(record->kind) != CTS_PATTERN_LIST) {
            batch->order[count++] = i;
        } else {
            cts_stream_add_records(batch->stream, batch->records, batch->order, count);
            count = 0;
            if (record->kind & CTS_BATCH_HAS_VALUES)
                cts_batch_add_valued(batch, record);
            else if ((record->kind >> 5 & 31) == CTS_BATCH_BOX_LANES)
                cts_batch_add_box(batch, record);
            else
                add_list(batch, record);
        }
        if (i == chain.last) break;
    }
    cts_stream_add_records(batch->stream, batch->records, batch->order, count);
}

static void add_piece_records(struct cts_batch *batch, struct cts_batch_piece *piece)
{
    const uint32_t number = (uint32_t)(piece->key >> CTA_BITS);
    if (batch->launch_number != number) {
        cts_batch_settle(batch);
        batch->launch_number = number;
    }
    cts_stream_begin_cta(batch->stream, piece->launch, (uint32_t)piece->key);
    order_warps(batch, piece);
    add_chain(batch, piece->ordered);
    cts_stream_end_cta(batch->stream);
}

void cts_batch_feed(struct cts_batch *batch)
{
    if (!batch->piece_count) return;
    sort_pieces(batch);
    for (uint32_t i = 0; i < batch->piece_count; i++) {
        struct cts_batch_piece *const piece = batch->pieces + batch->keys[i] % CTS_BATCH_PIECES;
        if (piece->warps || piece->has_ordered) add_piece_records(batch, piece);
    }
    memset(batch->places, 0, CTS_BATCH_PLACES * sizeof *batch->places);
    memset(batch->launches, 0, CTS_BATCH_LAUNCHES * sizeof *batch->launches);
    batch->count = batch->offset_count = batch->piece_count = 0;
}
