/* From lanes to warps: merging the log.
 *
 * The lanes of a warp run one after the other, so that the log holds 32 sequences of entries; a
 * warp record is one execution of a site by the warp, with the lanes that took part. On a GPU the
 * hardware decides which lanes execute together. Here a lane's next entry gets a *key* (struct
 * cts_log_key), its place in the program: the iterations of the loops around the site, then the
 * site. The keys of a lane's entries ascend; the merge always takes the smallest key that is next
 * in any lane, and the lanes that are exactly there form the record. So
 *
 *     loop { if (c) L; R; }        lane 0:  R  R       lane 1:  L R  L R
 *
 * gives L{1} R{0,1} L{1} R{0,1}. Iterations are not logged: going from site a to a site b that is
 * not behind a, in a loop around both, is one more iteration of the innermost such loop.
 *
 * Two phases. *Lock-step*: while row k of the log holds the same slot in all lanes that have one,
 * the row is a record as it stands, and no key is computed until somebody differs. *Diverged*:
 * lanes with the same key form a *group*; groups are kept in the order of their keys, the first one
 * is emitted, and its lanes go on to the groups of their next keys. Work is per group rather than
 * per lane.
 *
 * A lane that stopped because its log was full has a next entry that is not known ("open"). When
 * such a lane runs out, the merge stops: what the others have left waits until it has run on. */
#include "record/cpu/engine/log.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = CTS_WARP_LANES };
static const uint64_t address_mask = ((uint64_t)1 << CTS_SLOT_SHIFT) - 1;

void cts_log_state_reset(struct cts_log_state *state)
{
    state->mixed = false;
    state->pending = 0;
    state->common.count = 0;
}

/* ---- Keys ---- */

/* How many of the outermost loops two sites share. */
static uint32_t common_loops(const struct cts_slot *a, const struct cts_slot *b)
{
    const uint32_t limit = a->loop_count < b->loop_count ? a->loop_count : b->loop_count;
    uint32_t n = 0;
    while (n < limit && a->loops[n] == b->loops[n]) n++;
    return n;
}

/* Moves a key from the entry it stands at to the next entry of the same lane, at `slot`. */
static void advance_key(struct cts_log_key *key, uint32_t slot)
{
    const struct cts_slot *const to = &cts_slots[slot];
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

/* ---- Records ---- */

static void add_record(struct cts_log_merge *merge, const struct cts_slot *slot,
                       enum cts_space space, uint32_t mask, const uint64_t *addresses,
                       const uint64_t *values)
{
    cts_stream_add(merge->stream, slot->site, space, merge->warp, mask, addresses,
                   values ? slot->value_words : 0, values);
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
static void add_generic(struct cts_log_merge *merge, const struct cts_slot *slot, uint32_t mask,
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
            add_record(merge, slot, (enum cts_space)space, in[space], addresses,
                       select_values(values, slot->value_words, mask, in[space], packed));
}

static void add(struct cts_log_merge *merge, const struct cts_slot *slot, uint32_t mask,
                uint64_t *addresses, const uint64_t *values)
{
    switch (slot->space) {
    case CTS_SPACE_GENERIC:
        add_generic(merge, slot, mask, addresses, values);
        return;
    case CTS_SPACE_SHARED:
        for (uint32_t lane = 0; lane < LANES; lane++) addresses[lane] -= merge->shared_base;
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
    add_record(merge, slot, slot->space, mask, addresses, values);
}

/* The value words of the lanes of `mask`, whose entries stand at row[lane], packed for a record. */
static const uint64_t *gather_values(const struct cts_log_merge *merge, const struct cts_slot *slot,
                                     uint32_t mask, const uint32_t *row, uint64_t *packed)
{
    uint64_t *to = packed;
    for (uint32_t left = mask; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        for (uint32_t word = 0; word < slot->value_words; word++)
            *to++ = merge->log[(size_t)(row[lane] + 1 + word) * LANES + lane];
    }
    return packed;
}

static void add_with_values(struct cts_log_merge *merge, const struct cts_slot *slot, uint32_t mask,
                            uint64_t *addresses, const uint32_t *row)
{
    uint64_t packed[LANES * CTS_LOG_VALUE_WORDS_MAX];
    add(merge, slot, mask, addresses, gather_values(merge, slot, mask, row, packed));
}

/* ---- Lock-step ---- */

/* Whether the lanes that `keep` selects (all bits set, else 0) have the slot of `first`. */
static bool same_slot(const uint64_t *row, uint64_t first, const uint64_t *keep)
{
    uint64_t difference = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) difference |= (row[lane] ^ first) & keep[lane];
    return difference >> CTS_SLOT_SHIFT == 0;
}

static void add_row(struct cts_log_merge *merge, const struct cts_slot *slot, uint32_t mask,
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
        advance_key(key, slot);
        first += 1u + cts_slots[slot].value_words;
    }
}

/* Emits rows while the lanes agree. Returns the row where it stopped; *left: lanes that have more.
 * A lane that has run out leaves and the others go on, unless it is open. */
static uint32_t merge_in_step(struct cts_log_merge *merge, uint32_t *left)
{
    uint32_t mask = 0, row = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        mask |= (uint32_t)(merge->row_count[lane] != 0) << lane;
    if (mask == 0 || (merge->open & ~mask) != 0) { /* an open lane without entries */
        *left = mask;
        return 0;
    }
    while (mask) {
        uint64_t keep[LANES];
        uint32_t limit = UINT32_MAX;
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const bool in = mask >> lane & 1;
            keep[lane] = in ? UINT64_MAX : 0;
            if (in && merge->row_count[lane] < limit) limit = merge->row_count[lane];
        }
        const uint32_t lead = (uint32_t)__builtin_ctz(mask);
        while (row < limit) {
            const uint64_t *const entries = merge->log + (size_t)row * LANES;
            if (!same_slot(entries, entries[lead], keep)) goto out;
            const struct cts_slot *const slot = &cts_slots[entries[lead] >> CTS_SLOT_SHIFT];
            if (slot->valid)
                add_row(merge, slot, mask, row);
            else
                merge->invalid_count += (uint32_t)__builtin_popcount(mask);
            row += 1u + slot->value_words;
        }
        uint32_t ended = 0;
        for (uint32_t lane = 0; lane < LANES; lane++)
            if ((mask >> lane & 1) && merge->row_count[lane] <= row) ended |= 1u << lane;
        mask &= ~ended;
        if (ended & merge->open) break;
    }
out:
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

static uint32_t lanes_at_slot(const struct heads *heads, uint32_t slot)
{
    uint32_t at = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        at |= heads->slot[lane] == (uint16_t)slot ? 1u << lane : 0;
    return at;
}

/* The lanes of `mask`, all at `key`, go to the groups of their next entries. */
static void regroup(struct groups *groups, const struct cts_log_key *key, uint32_t mask,
                    const struct heads *heads)
{
    while (mask) {
        const uint32_t slot = heads->slot[__builtin_ctz(mask)];
        const uint32_t same = mask & lanes_at_slot(heads, slot);
        struct group *const group = new_group(groups);
        copy_key(&group->key, key);
        advance_key(&group->key, slot);
        group->mask = same;
        insert_group(groups, group);
        mask &= ~same;
    }
}

/* Emits the record of a group and moves its lanes on; returns the lanes that have run out. */
static uint32_t add_group(struct cts_log_merge *merge, const struct group *group,
                          struct heads *heads)
{
    const struct cts_slot *const slot = &cts_slots[group->key.slot];
    const uint32_t step = 1u + slot->value_words;
    uint64_t addresses[LANES];
    uint32_t ended = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        addresses[lane] = heads->entry[lane] & address_mask;
    if (!slot->valid)
        merge->invalid_count += (uint32_t)__builtin_popcount(group->mask);
    else if (slot->value_words == 0)
        add(merge, slot, group->mask, addresses, NULL);
    else
        add_with_values(merge, slot, group->mask, addresses, heads->row);
    for (uint32_t left = group->mask; left; left &= left - 1) {
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
    const uint32_t index = (uint32_t)__builtin_ctzll(~state->used_keys);
    state->used_keys |= (uint64_t)1 << index;
    copy_key(&state->keys[index], key);
    for (; lanes; lanes &= lanes - 1) state->key_of[__builtin_ctz(lanes)] = (uint8_t)index;
}

static uint32_t lanes_of_key(const struct cts_log_state *state, uint32_t index)
{
    uint32_t lanes = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        lanes |= state->key_of[lane] == (uint8_t)index ? 1u << lane : 0;
    return lanes;
}

/* Emits group by group until all have run out, or an open lane has. */
static void merge_groups(struct cts_log_merge *merge, struct cts_log_state *state,
                         struct groups *groups, struct heads *heads)
{
    bool stop = false;
    while (groups->count && !stop) {
        struct group *const group = &groups->pool[groups->order[--groups->count]];
        const uint32_t ended = add_group(merge, group, heads);
        keep_key(state, &group->key, ended & merge->live);
        regroup(groups, &group->key, group->mask & ~ended, heads);
        free_group(groups, group);
        stop = ended & merge->open;
    }
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

/* Moves what lanes have left, from row[lane] on, to the start of the log. */
static void keep_rest(struct cts_log_merge *merge, const uint32_t *row)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t count = 0;
        if (row[lane] > 0)
            for (uint32_t i = row[lane]; i < merge->row_count[lane]; i++, count++)
                merge->log[(size_t)count * LANES + lane] = merge->log[(size_t)i * LANES + lane];
        else
            count = merge->row_count[lane];
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

/* After lock-step up to `row`: where each of `lanes` stands. */
static void settle_in_step(struct cts_log_merge *merge, struct cts_log_state *state, uint32_t row,
                           const uint32_t *first_count, uint32_t lead, uint32_t lanes)
{
    bool all_here = true;
    for (uint32_t left = lanes; left; left &= left - 1)
        all_here &= first_count[__builtin_ctz(left)] >= row;
    if (all_here) {
        walk_key(merge, &state->common, lead, 0, row);
        return;
    }
    make_mixed(state);
    walk_lanes(merge, state, lanes, first_count, row);
}

static void merge_from_step(struct cts_log_merge *merge, struct cts_log_state *state)
{
    uint32_t left, lead = 0, row[LANES], first_count[LANES];
    memcpy(first_count, merge->row_count, sizeof first_count);
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (first_count[lane] > first_count[lead]) lead = lane;
    const uint32_t end = merge_in_step(merge, &left);
    for (uint32_t lane = 0; lane < LANES; lane++)
        row[lane] = left >> lane & 1 ? end : merge->row_count[lane];
    uint32_t ended_open = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        if ((merge->open >> lane & 1) && row[lane] >= merge->row_count[lane])
            ended_open |= 1u << lane;
    struct cts_log_key key;
    copy_key(&key, &state->common);
    if (left) {
        lead = (uint32_t)__builtin_ctz(left);
        if (!ended_open) walk_key(merge, &key, lead, 0, end);
    }
    if (left == 0 || ended_open) {
        if (merge->live || left)
            settle_in_step(merge, state, end, first_count, lead, merge->live | left);
    } else {
        struct groups groups;
        start_groups(&groups);
        make_mixed(state);
        walk_lanes(merge, state, merge->live & ~left, first_count, end);
        struct heads heads = {0};
        memcpy(heads.row, row, sizeof row);
        for (uint32_t lanes = left; lanes; lanes &= lanes - 1)
            load_head(merge, &heads, (uint32_t)__builtin_ctz(lanes));
        regroup(&groups, &key, left, &heads);
        merge_groups(merge, state, &groups, &heads);
        memcpy(row, heads.row, sizeof row);
    }
    keep_rest(merge, row);
}

static void merge_from_mixed(struct cts_log_merge *merge, struct cts_log_state *state)
{
    struct heads heads = {0};
    struct groups groups;
    uint32_t with_entries = 0;
    start_groups(&groups);
    state->used_keys = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        state->used_keys |= (uint64_t)1 << state->key_of[lane];
        if (merge->row_count[lane] == 0) continue;
        with_entries |= 1u << lane;
        load_head(merge, &heads, lane);
    }
    if (merge->open & ~with_entries) return;
    for (uint32_t todo = with_entries; todo;) {
        const uint32_t index = state->key_of[__builtin_ctz(todo)];
        const uint32_t alike = todo & lanes_of_key(state, index);
        const uint32_t at_head = alike & state->pending;
        if (at_head) {
            struct group *const group = new_group(&groups);
            copy_key(&group->key, &state->keys[index]);
            group->mask = at_head;
            insert_group(&groups, group);
        }
        regroup(&groups, &state->keys[index], alike & ~at_head, &heads);
        todo &= ~alike;
    }
    merge_groups(merge, state, &groups, &heads);
    keep_rest(merge, heads.row);
}

void cts_log_merge(struct cts_log_merge *merge, struct cts_log_state *state)
{
    if (state->mixed)
        merge_from_mixed(merge, state);
    else
        merge_from_step(merge, state);
    unify(merge, state);
}
