/* The merge of a log, as log.c tells it; included once for each instruction set that it is compiled
 * for, with CTS_LOG_MERGE, the name of the function that it defines. */
#include "record/cpu/engine/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX512BW__
#include <immintrin.h>
#endif

enum { LANES = CTS_WARP_LANES };
static const uint64_t address_mask = ((uint64_t)1 << CTS_SLOT_SHIFT) - 1;

/* ---- 32 lanes at a time ---- */

#ifdef __AVX512BW__

/* The lanes whose counts are above `limit`. */
static inline uint32_t lanes_above(const uint32_t *counts, uint32_t limit)
{
    const __m512i limits = _mm512_set1_epi32((int)limit);
    return (uint32_t)_mm512_cmpgt_epu32_mask(_mm512_loadu_si512(counts), limits) |
           (uint32_t)_mm512_cmpgt_epu32_mask(_mm512_loadu_si512(counts + 16), limits) << 16;
}

static inline uint32_t least_count(const uint32_t *counts, uint32_t mask)
{
    const __m512i most = _mm512_set1_epi32(-1);
    return _mm512_reduce_min_epu32(
        _mm512_min_epu32(_mm512_mask_loadu_epi32(most, (__mmask16)mask, counts),
                         _mm512_mask_loadu_epi32(most, (__mmask16)(mask >> 16), counts + 16)));
}

/* Whether the lanes of `mask` have the slot of `first`. */
static inline bool same_slot(const uint64_t *row, uint64_t first, uint32_t mask)
{
    const __m512i firsts = _mm512_set1_epi64((int64_t)first);
    __m512i differ = _mm512_setzero_si512();
    for (uint32_t lane = 0; lane < LANES; lane += 8) {
        const __m512i bits = _mm512_xor_si512(_mm512_loadu_si512(row + lane), firsts);
        differ = _mm512_mask_or_epi64(differ, (__mmask8)(mask >> lane), differ, bits);
    }
    return !_mm512_test_epi64_mask(differ, _mm512_set1_epi64((int64_t)~address_mask));
}

static inline uint32_t lanes_at_slot(const uint16_t *slots, uint32_t slot)
{
    return _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(slots), _mm512_set1_epi16((short)slot));
}

#else

static inline uint32_t lanes_above(const uint32_t *counts, uint32_t limit)
{
    uint32_t above = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) above |= (uint32_t)(counts[lane] > limit) << lane;
    return above;
}

static inline uint32_t least_count(const uint32_t *counts, uint32_t mask)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t count = counts[lane] | ((mask >> lane & 1) - 1);
        least = count < least ? count : least;
    }
    return least;
}

static inline bool same_slot(const uint64_t *row, uint64_t first, uint32_t mask)
{
    uint64_t differ = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        differ |= (row[lane] ^ first) & -(uint64_t)(mask >> lane & 1);
    return differ >> CTS_SLOT_SHIFT == 0;
}

static inline uint32_t lanes_at_slot(const uint16_t *slots, uint32_t slot)
{
    uint32_t at = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        at |= (uint32_t)(slots[lane] == (uint16_t)slot) << lane;
    return at;
}

#endif

/* ---- Keys ---- */

/* How many of the outermost loops two sites share. */
static uint32_t common_loops(const struct cts_log_slot *a, const struct cts_log_slot *b)
{
    const uint32_t limit = a->loop_count < b->loop_count ? a->loop_count : b->loop_count;
    uint32_t n = 0;
    while (n < limit && a->loops[n] == b->loops[n]) n++;
    return n;
}

/* Moves a key from the entry it stands at to the next entry of the same lane, at `slot`. */
static void advance_key(struct cts_log_key *key, uint32_t slot)
{
    const struct cts_log_slot *const to = &cts_slots[slot];
    uint32_t level = 0;
    if (key->count == 0) {
        key->words[0] = 0;
    } else {
        level = common_loops(&cts_slots[key->slot], to);
        if (slot <= key->slot) key->words[level]++;
    }
    for (; level < to->loop_count; level++)
        key->words[level + 1] = (uint64_t)to->loops[level] << 32;
    key->words[to->loop_count + 1] = (uint64_t)slot << 32;
    key->count = to->loop_count + 2u;
    key->slot = slot;
}

/* <0, 0, >0. Keys of which one is the beginning of the other do not exist. */
static int compare_keys(const struct cts_log_key *a, const struct cts_log_key *b)
{
    const uint32_t limit = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < limit; i++)
        if (a->words[i] != b->words[i]) return a->words[i] < b->words[i] ? -1 : 1;
    return (int)a->count - (int)b->count;
}

static void copy_key(struct cts_log_key *to, const struct cts_log_key *from)
{
    to->slot = from->slot;
    to->count = from->count;
    for (uint32_t i = 0; i < from->count; i++) to->words[i] = from->words[i];
}

/* The lanes of an access; their values, or NULL. */
struct cts_log_lanes {
    uint32_t mask;
    const uint64_t *addresses;
    const uint64_t *values;
};

/* ---- Records ---- */

static void add_record(struct cts_log_merge *merge, const struct cts_log_slot *slot,
                       enum cts_space space, const struct cts_log_lanes *access)
{
    if (!merge->stream) return;
    cts_stream_add(merge->stream,
                   &(struct cts_stream_row){.site = slot->site,
                                            .space = space,
                                            .warp = merge->warp,
                                            .mask = access->mask,
                                            .addresses = access->addresses,
                                            .value_words = access->values ? slot->value_words : 0,
                                            .values = access->values});
}

/* The values of the lanes of `some`, which is a part of `all`, packed. */
static const uint64_t *select_values(const uint64_t *values, uint32_t words, uint32_t all,
                                     uint32_t some, uint64_t *packed)
{
    if (!values || some == all) return values;
    uint64_t *to = packed;
    for (uint32_t left = all; left; left &= left - 1, values += words)
        if (left & -left & some) {
            memcpy(to, values, words * sizeof *to);
            to += words;
        }
    return packed;
}

/* A record of a site in generic space: one record per space that its lanes are in. */
static void add_generic(struct cts_log_merge *merge, const struct cts_log_slot *slot, uint32_t mask,
                        uint64_t *addresses, const uint64_t *values)
{
    uint32_t in[CTS_SPACE_LAST + 1] = {0};
    for (uint32_t left = mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t address = addresses[lane];
        const struct cts_stack *const stack = merge->stacks ? merge->stacks[lane] : NULL;
        enum cts_space space = CTS_SPACE_GLOBAL;
        if (address - merge->shared_base < merge->shared_bytes) {
            space = CTS_SPACE_SHARED;
            addresses[lane] = address - merge->shared_base;
        } else if (stack && cts_stack_contains(stack, address)) {
            space = CTS_SPACE_LOCAL;
            addresses[lane] = address - cts_stack_local_base(stack);
        } else if (cts_slots_is_constant(address)) {
            space = CTS_SPACE_CONSTANT;
        }
        in[space] |= 1u << lane;
    }
    uint64_t packed[LANES * CTS_LOG_VALUE_WORDS_MAX];
    for (uint32_t space = 1; space <= CTS_SPACE_LAST; space++)
        if (in[space])
            add_record(merge, slot, (enum cts_space)space,
                       &(struct cts_log_lanes){
                           in[space], addresses,
                           select_values(values, slot->value_words, mask, in[space], packed)});
}

static void add(struct cts_log_merge *merge, const struct cts_log_slot *slot, uint32_t mask,
                uint64_t *addresses, const uint64_t *values)
{
    switch (slot->space) {
    case CTS_SPACE_GENERIC:
        add_generic(merge, slot, mask, addresses, values);
        return;
    case CTS_SPACE_SHARED:
        for (uint32_t lane = 0; lane < LANES; lane++) addresses[lane] -= merge->shared_base;
        break;
    case CTS_SPACE_BARRIER:
        for (uint32_t left = slot->is_mbarrier ? mask : 0; left; left &= left - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(left);
            const uint64_t place = (addresses[lane] & ~CTS_MBARRIER_ODD) - 1 - merge->shared_base;
            if (place < merge->shared_bytes) addresses[lane] -= merge->shared_base;
        }
        break;
    case CTS_SPACE_LOCAL:
        for (uint32_t left = mask; left; left &= left - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(left);
            if (merge->stacks && merge->stacks[lane])
                addresses[lane] -= cts_stack_local_base(merge->stacks[lane]);
        }
        break;
    default:
        break;
    }
    add_record(merge, slot, slot->space, &(struct cts_log_lanes){mask, addresses, values});
}

/* The value words of the lanes of `mask`, whose entries stand at row[lane], packed for a record. */
static const uint64_t *gather_values(const struct cts_log_merge *merge,
                                     const struct cts_log_slot *slot, uint32_t mask,
                                     const uint32_t *row, uint64_t *packed)
{
    uint64_t *to = packed;
    for (uint32_t left = mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (uint32_t word = 0; word < slot->value_words; word++)
            *to++ = merge->log[(size_t)(row[lane] + 1 + word) * LANES + lane];
    }
    return packed;
}

static void add_with_values(struct cts_log_merge *merge, const struct cts_log_slot *slot,
                            uint32_t mask, uint64_t *addresses, const uint32_t *row)
{
    uint64_t packed[LANES * CTS_LOG_VALUE_WORDS_MAX];
    add(merge, slot, mask, addresses, gather_values(merge, slot, mask, row, packed));
}

/* ---- Lock-step ---- */

static void add_row(struct cts_log_merge *merge, const struct cts_log_slot *slot, uint32_t mask,
                    uint32_t row)
{
    const uint64_t *const entries = merge->log + (size_t)row * LANES;
    uint64_t addresses[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) addresses[lane] = entries[lane] & address_mask;
    if (slot->value_words == 0) {
        add(merge, slot, mask, addresses, NULL);
        return;
    }
    uint32_t rows[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) rows[lane] = row;
    add_with_values(merge, slot, mask, addresses, rows);
}

/* Walks a key over rows first .. end-1, which a lane has in lock-step with others. */
static void walk_key(const struct cts_log_merge *merge, struct cts_log_key *key, uint32_t lane,
                     uint32_t first, uint32_t end)
{
    while (first < end) {
        const uint32_t slot =
            (uint32_t)(merge->log[(size_t)first * LANES + lane] >> CTS_SLOT_SHIFT);
        if (slot != CTS_SLOT_MEETING) advance_key(key, slot);
        first += 1u + cts_slots[slot].value_words;
    }
}

/* Whether the lanes of `mask`, which are all at meetings, meet nobody but each other here. */
static bool meet_in_step(const uint64_t *entries, uint32_t mask)
{
    for (uint32_t left = mask; left;) {
        const uint64_t entry = entries[__builtin_ctz(left)];
        const uint32_t lanes = (uint32_t)entry;
        if (lanes & ~mask) return false;
        for (uint32_t more = lanes; more; more &= more - 1)
            if (entries[__builtin_ctz(more)] != entry) return false;
        left &= ~lanes;
    }
    return true;
}

/* Emits rows while the lanes agree. Returns the row where it stopped; *left: lanes that have more.
 * A lane that has run out leaves and the others go on, unless it is open. */
static uint32_t merge_in_step(struct cts_log_merge *merge, uint32_t *left)
{
    uint32_t mask = lanes_above(merge->row_count, 0), row = 0;
    *left = mask;
    if (merge->open & ~mask) return 0; /* an open lane without entries */
    while (mask) {
        const uint32_t limit = least_count(merge->row_count, mask);
        const uint32_t lead = (uint32_t)__builtin_ctz(mask);
        while (row < limit) {
            const uint64_t *const entries = merge->log + (size_t)row * LANES;
            *left = mask;
            if (!same_slot(entries, entries[lead], mask)) return row;
            const struct cts_log_slot *const slot = &cts_slots[entries[lead] >> CTS_SLOT_SHIFT];
            if (slot == &cts_slots[CTS_SLOT_MEETING]) {
                if (!meet_in_step(entries, mask)) return row;
            } else if (slot->valid)
                add_row(merge, slot, mask, row);
            else
                merge->invalid_count += (uint32_t)__builtin_popcount(mask);
            row += 1u + slot->value_words;
        }
        const uint32_t ended = mask & ~lanes_above(merge->row_count, row);
        mask &= ~ended;
        if (ended & merge->open) break;
    }
    *left = mask;
    return row;
}

/* ---- Diverged ---- */

struct group {
    struct cts_log_key key;
    uint32_t mask;
};

struct groups {
    struct group pool[LANES + 1];
    uint8_t free[LANES + 1]; /* indices of pool[] that are not in use */
    uint8_t order[LANES];    /* indices of pool[], by descending key: the next one is the last */
    uint32_t free_count, count;
};

static struct group *new_group(struct groups *groups)
{
    return &groups->pool[groups->free[--groups->free_count]];
}

static void free_group(struct groups *groups, const struct group *group)
{
    groups->free[groups->free_count++] = (uint8_t)(group - groups->pool);
}

/* Puts a group of new_group() in its place, or into the group that has the same key. */
static void insert_group(struct groups *groups, struct group *group)
{
    uint32_t at = groups->count;
    while (at > 0) {
        struct group *const other = &groups->pool[groups->order[at - 1]];
        const int order = compare_keys(&group->key, &other->key);
        if (order == 0) {
            other->mask |= group->mask;
            free_group(groups, group);
            return;
        }
        if (order < 0) break;
        at--;
    }
    memmove(&groups->order[at + 1], &groups->order[at], groups->count - at);
    groups->order[at] = (uint8_t)(group - groups->pool);
    groups->count++;
}

/* Where each lane is in the log: its row, and the entry that stands there. */
struct heads {
    uint32_t row[LANES];
    uint64_t entry[LANES];
    uint16_t slot[LANES]; /* of the entry */
};

static inline void load_head(const struct cts_log_merge *merge, struct heads *heads, uint32_t lane)
{
    /* A lane at its end loads what stands behind it: the buffer is longer than any lane's part. */
    heads->entry[lane] = merge->log[(size_t)heads->row[lane] * LANES + lane];
    heads->slot[lane] = (uint16_t)(heads->entry[lane] >> CTS_SLOT_SHIFT);
}

/* The lanes of `mask` go on by `step` rows; returns those of them that have run out. */
static uint32_t advance_heads(const struct cts_log_merge *merge, struct heads *heads, uint32_t mask,
                              uint32_t step)
{
    uint32_t ended = 0;
#ifdef __AVX512BW__
    if (__builtin_popcount(mask) > 6) {
        const __m512i steps = _mm512_set1_epi32((int)step);
        for (uint32_t lane = 0; lane < LANES; lane += 16) {
            const __mmask16 some = (__mmask16)(mask >> lane);
            const __m512i old = _mm512_loadu_si512(heads->row + lane);
            const __m512i rows = _mm512_mask_add_epi32(old, some, old, steps);
            _mm512_storeu_si512(heads->row + lane, rows);
            const __m512i counts = _mm512_loadu_si512(merge->row_count + lane);
            ended |= (uint32_t)_mm512_mask_cmpge_epu32_mask(some, rows, counts) << lane;
        }
        const __m256i own = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
        for (uint32_t lane = 0; lane < LANES; lane += 8) {
            const __mmask8 some = (__mmask8)(mask >> lane);
            const __m256i rows = _mm256_loadu_si256((const __m256i *)(heads->row + lane));
            const __m256i lanes = _mm256_add_epi32(own, _mm256_set1_epi32((int)lane));
            const __m256i index = _mm256_add_epi32(_mm256_slli_epi32(rows, 5), lanes);
            const __m512i old = _mm512_loadu_si512(heads->entry + lane);
            const __m512i entries = _mm512_mask_i32gather_epi64(old, some, index, merge->log, 8);
            _mm512_storeu_si512(heads->entry + lane, entries);
            const __m512i slots = _mm512_srli_epi64(entries, CTS_SLOT_SHIFT);
            _mm_storeu_si128((__m128i *)(heads->slot + lane), _mm512_cvtepi64_epi16(slots));
        }
        return ended;
    }
#endif
    for (uint32_t left = mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        heads->row[lane] += step;
        ended |= (uint32_t)(heads->row[lane] >= merge->row_count[lane]) << lane;
        load_head(merge, heads, lane);
    }
    return ended;
}

/* From now on the lanes are at `key`. */
static void keep_key(struct cts_log_state *state, const struct cts_log_key *key, uint32_t lanes)
{
    if (!lanes) return;
    if (!~state->used_keys) { /* some of them are no lane's any more */
        state->used_keys = 0;
        for (uint32_t lane = 0; lane < LANES; lane++)
            state->used_keys |= (uint64_t)1 << state->key_of[lane];
    }
    const uint32_t index = (uint32_t)__builtin_ctzll(~state->used_keys);
    state->used_keys |= (uint64_t)1 << index;
    copy_key(&state->keys[index], key);
    for (; lanes; lanes &= lanes - 1) state->key_of[__builtin_ctz(lanes)] = (uint8_t)index;
}

/* A merge whose lanes are apart. */
struct apart {
    struct cts_log_merge *merge;
    struct cts_log_state *state;
    struct groups groups;
    struct heads heads;
    uint32_t parked; /* lanes at a meeting to which others have not come yet; they have kept keys */
    bool stop;       /* an open lane has run out */
};

static void regroup(struct apart *apart, const struct cts_log_key *key, uint32_t mask);

/* The lanes, all at one meeting, go on from the latest of their keys. */
static void leave_meeting(struct apart *apart, uint32_t lanes)
{
    struct cts_log_state *const state = apart->state;
    struct cts_log_key key;
    const struct cts_log_key *latest = &state->keys[state->key_of[__builtin_ctz(lanes)]];
    for (uint32_t left = lanes; left; left &= left - 1) {
        const struct cts_log_key *const other = &state->keys[state->key_of[__builtin_ctz(left)]];
        if (other != latest && compare_keys(other, latest) > 0) latest = other;
    }
    copy_key(&key, latest);
    apart->parked &= ~lanes;
    const uint32_t ended = advance_heads(apart->merge, &apart->heads, lanes, 1);
    keep_key(state, &key, ended & apart->merge->live);
    apart->stop |= (ended & apart->merge->open) != 0;
    regroup(apart, &key, lanes & ~ended);
}

/* Whether all lanes of a meeting have come to it. */
static bool is_complete(const struct apart *apart, uint64_t entry)
{
    const uint32_t lanes = (uint32_t)entry;
    if (lanes & ~apart->parked) return false;
    for (uint32_t left = lanes; left; left &= left - 1)
        if (apart->heads.entry[__builtin_ctz(left)] != entry) return false;
    return true;
}

/* The lanes, all at `key`, are each at a meeting. */
static void park(struct apart *apart, const struct cts_log_key *key, uint32_t lanes)
{
    keep_key(apart->state, key, lanes);
    apart->parked |= lanes;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t entry = apart->heads.entry[lane];
        if ((apart->parked >> lane & 1) && is_complete(apart, entry))
            leave_meeting(apart, (uint32_t)entry);
    }
}

/* The lanes of `mask`, all at `key`, go to the groups of their next entries. */
static void regroup(struct apart *apart, const struct cts_log_key *key, uint32_t mask)
{
    while (mask) {
        const uint32_t slot = apart->heads.slot[__builtin_ctz(mask)];
        const uint32_t same = mask & lanes_at_slot(apart->heads.slot, slot);
        mask &= ~same;
        if (slot == CTS_SLOT_MEETING) {
            park(apart, key, same);
            continue;
        }
        struct group *const group = new_group(&apart->groups);
        copy_key(&group->key, key);
        advance_key(&group->key, slot);
        group->mask = same;
        insert_group(&apart->groups, group);
    }
}

/* Emits the record of a group and moves its lanes on; returns the lanes that have run out. */
static uint32_t add_group(struct cts_log_merge *merge, const struct group *group,
                          struct heads *heads)
{
    const struct cts_log_slot *const slot = &cts_slots[group->key.slot];
    const uint32_t step = 1u + slot->value_words;
    uint64_t addresses[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++)
        addresses[lane] = heads->entry[lane] & address_mask;
    if (!slot->valid)
        merge->invalid_count += (uint32_t)__builtin_popcount(group->mask);
    else if (slot->value_words == 0)
        add(merge, slot, group->mask, addresses, NULL);
    else
        add_with_values(merge, slot, group->mask, addresses, heads->row);
    return advance_heads(merge, heads, group->mask, step);
}

static uint32_t lanes_of_key(const struct cts_log_state *state, uint32_t index)
{
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        lanes |= state->key_of[lane] == (uint8_t)index ? 1u << lane : 0;
    return lanes;
}

/* Emits group by group until all have run out, or an open lane has. */
static void merge_groups(struct apart *apart)
{
    struct cts_log_merge *const merge = apart->merge;
    struct cts_log_state *const state = apart->state;
    struct groups *const groups = &apart->groups;
    while (groups->count && !apart->stop) {
        struct group *const group = &groups->pool[groups->order[--groups->count]];
        const uint32_t ended = add_group(merge, group, &apart->heads);
        keep_key(state, &group->key, ended & merge->live);
        apart->stop |= (ended & merge->open) != 0;
        regroup(apart, &group->key, group->mask & ~ended);
        free_group(groups, group);
    }
    assert(apart->stop || !apart->parked); /* all lanes of a meeting have it in their logs */
    state->pending = 0;
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct group *const group = &groups->pool[groups->order[i]];
        keep_key(state, &group->key, group->mask);
        state->pending |= group->mask;
    }
}

static void start_groups(struct groups *groups)
{
    groups->count = 0;
    groups->free_count = LANES + 1;
    for (uint32_t i = 0; i <= LANES; i++) groups->free[i] = (uint8_t)i;
}

static void start_apart(struct apart *apart, struct cts_log_merge *merge,
                        struct cts_log_state *state)
{
    apart->merge = merge;
    apart->state = state;
    apart->parked = 0;
    apart->stop = false;
    memset(&apart->heads, 0, sizeof apart->heads);
    start_groups(&apart->groups);
}

/* Moves what lanes have left, from row[lane] on, to the start of the log. */
static void keep_rest(struct cts_log_merge *merge, const uint32_t *row)
{
    for (uint32_t left = lanes_above(row, 0); left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint32_t count = 0;
        for (uint32_t i = row[lane]; i < merge->row_count[lane]; i++, count++)
            merge->log[(size_t)count * LANES + lane] = merge->log[(size_t)i * LANES + lane];
        merge->row_count[lane] = count;
    }
}

/* The lanes begin to differ: so far each is where all are. */
static void make_mixed(struct cts_log_state *state)
{
    state->mixed = true;
    state->pending = 0;
    state->used_keys = 0;
    keep_key(state, &state->common, UINT32_MAX);
}

/* Back to one key for all when the lanes that go on are at the same place. */
static void unify(const struct cts_log_merge *merge, struct cts_log_state *state)
{
    if (!state->mixed || state->pending || merge->live == 0) return;
    const uint32_t index = state->key_of[__builtin_ctz(merge->live)];
    const struct cts_log_key *const first = &state->keys[index];
    for (uint32_t left = merge->live; left; left &= left - 1) {
        const uint32_t other = state->key_of[__builtin_ctz(left)];
        if (other != index && compare_keys(first, &state->keys[other]) != 0) return;
    }
    copy_key(&state->common, first);
    state->mixed = false;
}

/* After lock-step: each of `lanes` goes on to row `end`, or to where its part ended. */
static void walk_lanes(struct cts_log_merge *merge, struct cts_log_state *state, uint32_t lanes,
                       const uint32_t *first_count, uint32_t end)
{
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        struct cts_log_key key;
        copy_key(&key, &state->common);
        walk_key(merge, &key, lane, 0, first_count[lane] < end ? first_count[lane] : end);
        keep_key(state, &key, 1u << lane);
    }
}

/* Lanes that went in lock-step with lane `lead` up to `row`. */
struct cts_log_step {
    uint32_t row, lead, lanes;
};

/* After lock-step up to `row`: where each of `lanes` stands. */
static void settle_in_step(struct cts_log_merge *merge, struct cts_log_state *state,
                           struct cts_log_step step, const uint32_t *first_count)
{
    bool all_here = true;
    for (uint32_t left = step.lanes; left; left &= left - 1)
        all_here &= first_count[__builtin_ctz(left)] >= step.row;
    if (all_here) {
        walk_key(merge, &state->common, step.lead, 0, step.row);
        return;
    }
    make_mixed(state);
    walk_lanes(merge, state, step.lanes, first_count, step.row);
}

static uint32_t longest_lane(const uint32_t *counts)
{
    uint32_t longest = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (counts[lane] > counts[longest]) longest = lane;
    return longest;
}

/* The lanes of `left` go on from row `end` on apart; row[]: out: where each lane got to. */
static void merge_apart(struct cts_log_merge *merge, struct cts_log_state *state, uint32_t left,
                        uint32_t end, uint32_t *row)
{
    struct cts_log_key key;
    struct apart apart;
    start_apart(&apart, merge, state);
    copy_key(&key, &state->common);
    walk_key(merge, &key, (uint32_t)__builtin_ctz(left), 0, end);
    make_mixed(state);
    walk_lanes(merge, state, merge->live & ~left, merge->row_count, end);
    memcpy(apart.heads.row, row, sizeof apart.heads.row);
    for (uint32_t lanes = left; lanes; lanes &= lanes - 1)
        load_head(merge, &apart.heads, (uint32_t)__builtin_ctz(lanes));
    regroup(&apart, &key, left);
    merge_groups(&apart);
    memcpy(row, apart.heads.row, sizeof apart.heads.row);
}

static void merge_from_step(struct cts_log_merge *merge, struct cts_log_state *state)
{
    uint32_t left, row[LANES];
    const uint32_t end = merge_in_step(merge, &left);
    if (!(left | merge->live)) { /* the usual end of a warp */
        memset(merge->row_count, 0, sizeof row);
        return;
    }
    for (uint32_t lane = 0; lane < LANES; lane++)
        row[lane] = left >> lane & 1 ? end : merge->row_count[lane];
    uint32_t ended = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        ended |= (uint32_t)(row[lane] >= merge->row_count[lane]) << lane;
    if (left == 0 || (ended & merge->open)) {
        const uint32_t lead = left ? (uint32_t)__builtin_ctz(left) : longest_lane(merge->row_count);
        settle_in_step(merge, state, (struct cts_log_step){end, lead, merge->live | left},
                       merge->row_count);
    } else {
        merge_apart(merge, state, left, end, row);
    }
    keep_rest(merge, row);
}

static void merge_from_mixed(struct cts_log_merge *merge, struct cts_log_state *state)
{
    struct apart apart;
    uint32_t with_entries = 0;
    start_apart(&apart, merge, state);
    state->used_keys = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        state->used_keys |= (uint64_t)1 << state->key_of[lane];
        if (merge->row_count[lane] == 0) continue;
        with_entries |= 1u << lane;
        load_head(merge, &apart.heads, lane);
    }
    if (merge->open & ~with_entries) return;
    for (uint32_t rest = with_entries; rest;) {
        const uint32_t index = state->key_of[__builtin_ctz(rest)];
        const uint32_t alike = rest & lanes_of_key(state, index);
        const uint32_t at_head = alike & state->pending;
        struct cts_log_key key; /* the place may be another key's when lanes meet */
        rest &= ~alike;
        copy_key(&key, &state->keys[index]);
        if (at_head) {
            struct group *const group = new_group(&apart.groups);
            copy_key(&group->key, &key);
            group->mask = at_head;
            insert_group(&apart.groups, group);
        }
        regroup(&apart, &key, alike & ~at_head);
    }
    merge_groups(&apart);
    keep_rest(merge, apart.heads.row);
}

void CTS_LOG_MERGE(struct cts_log_merge *merge, struct cts_log_state *state)
{
    if (state->mixed)
        merge_from_mixed(merge, state);
    else
        merge_from_step(merge, state);
    unify(merge, state);
}
