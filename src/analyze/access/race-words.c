/* What threads did to each word in the phase, and the races that this shows. */
#include "analyze/access/race-model.h"

enum { LIST_LONG = 64 };

/* ---- what has been found ---- */

/* The kinds of races that two sites may have. */
static unsigned kind_of(uint8_t space, bool is_in_warp, bool is_asynchronous)
{
    return (unsigned)(space == CTS_SPACE_SHARED) | (unsigned)is_in_warp << 1 |
           (unsigned)is_asynchronous << 2;
}

/* Two accesses to bytes of a word that nothing orders. */
struct overlap {
    uint64_t word;
    uint8_t space, bytes; /* bytes: a mask */
    bool is_asynchronous;
    struct cts_race_end a, b;
};

static enum cts_status add_race(struct cts_race *race, const struct overlap *overlap,
                                struct cts_error *error)
{
    const struct cts_race_end a = overlap->a, b = overlap->b;
    const bool is_in_warp = a.thread / CTS_WARP_LANES == b.thread / CTS_WARP_LANES;
    const struct cts_race_end first = a.site <= b.site ? a : b, second = a.site <= b.site ? b : a;
    const uint64_t key = (uint64_t)first.site << 35 | (uint64_t)second.site << 3 |
                         kind_of(overlap->space, is_in_warp, overlap->is_asynchronous);
    const uint64_t address = overlap->word * 4 + (unsigned)__builtin_ctz(overlap->bytes);
    uint64_t *const place = cts_map_at(&race->pair_of, key, error);
    if (!place || CTS_ARRAY_RESERVE(&race->pairs, race->pairs.count + 1, error)) return CTS_MEMORY;
    if (!*place) {
        race->pairs.items[race->pairs.count++] =
            (struct cts_race_pair){.space = overlap->space,
                                   .is_in_warp = is_in_warp,
                                   .is_asynchronous = overlap->is_asynchronous,
                                   .address = UINT64_MAX};
        *place = race->pairs.count;
    }
    struct cts_race_pair *const pair = &race->pairs.items[*place - 1];
    if (address < pair->address) {
        pair->address = address;
        pair->first = first;
        pair->second = second;
    }
    uint64_t *const known = cts_map_at(&race->pair_bytes, (overlap->word << 20) + *place, error);
    if (!known) return CTS_MEMORY;
    pair->bytes += (unsigned)__builtin_popcount(overlap->bytes & ~(unsigned)*known);
    *known |= overlap->bytes;
    return CTS_OK;
}

/* ---- copies that go on ---- */

/* Whether what an asynchronous copy stored is there for a thread. */
static bool is_copied(const struct cts_race *race, const struct cts_race_copy *copy,
                      uint32_t thread)
{
    if (!copy->done) return false;
    return thread == copy->thread || race->seen[thread].of[copy->thread] >= copy->done;
}

/* ---- words ---- */

static struct cts_race_word *word_of(struct cts_race *race, uint8_t space, uint64_t word,
                                     struct cts_error *error)
{
    if (space == CTS_SPACE_SHARED && word < CTS_RACE_SHARED_WORDS) return &race->shared[word];
    uint64_t *const place =
        cts_map_at(&race->global, word << 1 | (space == CTS_SPACE_SHARED), error);
    if (!place) return NULL;
    if (!*place) {
        if (CTS_ARRAY_RESERVE(&race->globals, race->globals.count + 1, error)) return NULL;
        race->globals.items[race->globals.count++] = (struct cts_race_word){0};
        *place = race->globals.count;
    }
    return &race->globals.items[*place - 1];
}

/* One lane's access to some bytes of a word. */
struct cts_race_touch {
    const struct cts_race_access *access;
    uint64_t word;
    uint32_t thread;
    uint8_t bytes;
    uint32_t copy; /* as in a node */
};

static bool may_race(const struct cts_race_node *node, const struct cts_race_touch *touch)
{
    const struct cts_race_access *const access = touch->access;
    if (!(node->bytes & touch->bytes)) return false;
    if ((node->is_atomic || node->is_volatile) && (access->is_atomic || access->is_volatile))
        return false;
    return node->is_store || node->is_atomic || access->is_store || access->is_atomic;
}

/* Compares with the lanes of a node, but for those of the request itself. */
static enum cts_status compare(struct cts_race *race, const struct cts_race_node *node,
                               const struct cts_race_touch *touch, struct cts_error *error)
{
    const uint32_t first = (uint32_t)node->warp * CTS_WARP_LANES;
    const uint32_t *const seen = race->seen[touch->thread].of;
    uint32_t lanes = node->before | (node->serial == race->serial ? 0 : node->now);
    bool is_done[2] = {false, false}; /* of another warp, of this one */
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t other = first + (uint32_t)__builtin_ctz(lanes);
        const struct cts_race_copy *const copy =
            node->copy ? &race->copies.items[node->copy - 1] : NULL;
        const bool goes_on = copy && !is_copied(race, copy, touch->thread);
        if (goes_on ? copy->done && other == touch->thread
                    : other == touch->thread || (copy || seen[other] >= node->clock))
            continue;
        const bool is_in_warp = other / CTS_WARP_LANES == touch->thread / CTS_WARP_LANES;
        if (is_done[is_in_warp]) continue;
        is_done[is_in_warp] = true;
        const struct overlap overlap = {.word = touch->word,
                                        .space = touch->access->space,
                                        .bytes = node->bytes & touch->bytes,
                                        .is_asynchronous = goes_on && !copy->done,
                                        .a = {node->site, other},
                                        .b = {touch->access->site, touch->thread}};
        const enum cts_status status = add_race(race, &overlap, error);
        if (status) return status;
    }
    return CTS_OK;
}

static bool is_same(const struct cts_race_node *node, const struct cts_race_touch *touch,
                    uint32_t clock)
{
    return node->site == touch->access->site && node->clock == clock &&
           node->warp == touch->access->warp && node->bytes == touch->bytes &&
           node->copy == touch->copy;
}

/* Whether all lanes of a node come before what a thread does now. */
static bool is_past(const struct cts_race *race, const struct cts_race_node *node, uint32_t thread)
{
    const uint32_t first = (uint32_t)node->warp * CTS_WARP_LANES;
    if (node->copy || node->serial == race->serial) return false;
    for (uint32_t lanes = node->before | node->now; lanes; lanes &= lanes - 1) {
        const uint32_t other = first + (uint32_t)__builtin_ctz(lanes);
        if (other != thread && race->seen[thread].of[other] < node->clock) return false;
    }
    return true;
}

/* Of a long list, what comes before a store is left out: what races with it races with the store,
 * too. */
static void shorten(struct cts_race *race, struct cts_race_word *word,
                    const struct cts_race_touch *touch)
{
    for (uint32_t *n = &word->first; *n != CTS_RACE_NONE;) {
        const struct cts_race_node *const node = &race->nodes.items[*n];
        if (!(node->bytes & ~touch->bytes) && is_past(race, node, touch->thread))
            *n = node->next;
        else
            n = &race->nodes.items[*n].next;
    }
}

static enum cts_status touch_word(struct cts_race *race, const struct cts_race_touch *touch,
                                  struct cts_error *error)
{
    const struct cts_race_access *const access = touch->access;
    struct cts_race_word *const word = word_of(race, access->space, touch->word, error);
    const uint32_t lane = 1u << touch->thread % CTS_WARP_LANES;
    const uint32_t clock = race->clock[touch->thread];
    struct cts_race_node *mine = NULL;
    unsigned length = 0;
    if (!word) return CTS_MEMORY;
    if (word->phase != race->phase) *word = (struct cts_race_word){race->phase, CTS_RACE_NONE};
    for (uint32_t n = word->first; n != CTS_RACE_NONE; n = race->nodes.items[n].next) {
        struct cts_race_node *const node = &race->nodes.items[n];
        if (may_race(node, touch)) {
            const enum cts_status status = compare(race, node, touch, error);
            if (status) return status;
        }
        if (is_same(node, touch, clock)) mine = node;
        length++;
    }
    if (mine && mine->serial != race->serial) {
        mine->before |= mine->now;
        mine->now = 0;
        mine->serial = race->serial;
    }
    if (mine) {
        mine->now |= lane;
        return CTS_OK;
    }
    if (length >= LIST_LONG && access->is_store) shorten(race, word, touch);
    if (CTS_ARRAY_RESERVE(&race->nodes, race->nodes.count + 1, error)) return CTS_MEMORY;
    race->nodes.items[race->nodes.count] =
        (struct cts_race_node){.next = word->first,
                               .site = access->site,
                               .clock = clock,
                               .serial = race->serial,
                               .now = lane,
                               .warp = access->warp,
                               .bytes = touch->bytes,
                               .is_store = access->is_store,
                               .is_atomic = access->is_atomic,
                               .is_volatile = access->is_volatile,
                               .copy = touch->copy};
    word->first = (uint32_t)race->nodes.count++;
    return CTS_OK;
}

/* ---- asynchronous copies ---- */

enum cts_status cts_race_add_copy_again(struct cts_race *race, size_t index,
                                        struct cts_error *error)
{
    const struct cts_race_copy *const copy = &race->copies.items[index];
    struct cts_race_word *const word = word_of(race, copy->space, copy->word, error);
    if (!word || CTS_ARRAY_RESERVE(&race->nodes, race->nodes.count + 1, error)) return CTS_MEMORY;
    if (word->phase != race->phase) *word = (struct cts_race_word){race->phase, CTS_RACE_NONE};
    race->nodes.items[race->nodes.count] =
        (struct cts_race_node){.next = word->first,
                               .site = copy->site,
                               .serial = CTS_RACE_NONE,
                               .now = 1u << copy->thread % CTS_WARP_LANES,
                               .warp = (uint16_t)(copy->thread / CTS_WARP_LANES),
                               .bytes = copy->bytes,
                               .is_store = true,
                               .copy = (uint32_t)index + 1};
    word->first = (uint32_t)race->nodes.count++;
    return CTS_OK;
}

void cts_race_wait_for_copies(struct cts_race *race, uint32_t thread, uint32_t may_go_on)
{
    for (size_t i = 0; i < race->copies.count; i++) {
        struct cts_race_copy *const copy = &race->copies.items[i];
        if (copy->thread == thread && !copy->done &&
            copy->group + may_go_on < race->commits[thread] + (may_go_on == 0))
            copy->done = race->clock[thread];
    }
}

/* The index + 1 of the copy that a lane's store is, if it is one; NONE: no memory. */
static uint32_t copy_of(struct cts_race *race, const struct cts_race_touch *touch,
                        struct cts_error *error)
{
    const struct cts_race_access *const access = touch->access;
    uint32_t *const at = &race->copies_at[touch->thread];
    if (*at == CTS_RACE_NONE && access->is_store && access->space == CTS_SPACE_SHARED)
        *at = access->site + 1;
    if (!access->is_store || access->space != CTS_SPACE_SHARED || *at != access->site + 1) return 0;
    if (CTS_ARRAY_RESERVE(&race->copies, race->copies.count + 1, error)) return CTS_RACE_NONE;
    race->copies.items[race->copies.count++] =
        (struct cts_race_copy){.word = touch->word,
                               .site = access->site,
                               .thread = touch->thread,
                               .group = race->commits[touch->thread],
                               .bytes = touch->bytes,
                               .space = access->space};
    return (uint32_t)race->copies.count;
}

/* ---- lanes ---- */

enum cts_status cts_race_touch_lane(struct cts_race *race, const struct cts_race_access *access,
                                    unsigned lane, struct cts_error *error)
{
    struct cts_race_touch touch = {.access = access,
                                   .thread = (uint32_t)access->warp * CTS_WARP_LANES + lane};
    const uint64_t start = access->addresses[lane], end = start + access->width_bytes;
    for (touch.word = start / 4; touch.word * 4 < end; touch.word++) {
        const unsigned from = touch.word * 4 < start ? (unsigned)(start % 4) : 0;
        const unsigned stop = touch.word * 4 + 4 > end ? (unsigned)(end % 4) : 4;
        touch.bytes = (uint8_t)((0xfu << from) & ((1u << stop) - 1));
        touch.copy = race->has_copies ? copy_of(race, &touch, error) : 0;
        if (touch.copy == CTS_RACE_NONE) return CTS_MEMORY;
        const enum cts_status status = touch_word(race, &touch, error);
        if (status) return status;
    }
    if (race->has_copies && race->copies_at[touch.thread] != CTS_RACE_NONE &&
        race->copies_at[touch.thread] != access->site + 1)
        race->copies_at[touch.thread] = 0;
    return CTS_OK;
}
