/* Vector clocks, lane by lane.
 *
 *     clock[t]     of thread t; an access is stamped with it. It grows when t releases something.
 *     seen[t][u]   the latest clock of u that t has synchronised with: accesses of u stamped with
 *                  that or less came before what t does now.
 *     phase        between two barriers of the whole CTA. All of a phase comes before all of the
 *                  next: nothing of it is kept, but for asynchronous copies that still go on.
 *
 * Rows of seen[] are zero except in the warps that t has synchronised with in the phase, a bit
 * mask: joining two costs the warps of one, and a phase without barriers but its own costs nothing.
 *
 * Each word of 4 bytes that is touched has a list of *nodes*, the accesses of the phase: what lanes
 * of a warp did at one site with one clock is one node. A new access is compared with those before.
 *
 * A barrier is complete when as many threads have arrived as it expects, or when one that waits for
 * it goes on: a program that ran has no barrier that was not complete then. */
#include "analyze/access/race.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/map.h"

#define NONE UINT32_MAX

enum {
    WARPS = CTS_RACE_THREADS_MAX / CTS_WARP_LANES,
    BARRIERS = 256, /* numbers of barriers: 8 bits */
    GRID = 254,     /* not the hardware's: barriers of the grid and of the cluster */
    CLUSTER = 255,
    SIGNALS_MAX = 1 << 12,
    SHARED_WORDS = 1 << 16, /* 256 KiB */
    LIST_LONG = 64,
};

/* The clocks that a thread, barrier or signal knows of. */
struct clocks {
    uint32_t warps; /* of which some clock is not 0 */
    uint32_t of[CTS_RACE_THREADS_MAX];
};

struct node {
    uint32_t next; /* of the word; NONE */
    uint32_t site, clock;
    uint32_t serial;      /* of the request that added to it last */
    uint32_t before, now; /* lanes: of earlier requests, of the last one */
    uint16_t warp;
    uint8_t bytes; /* of the word, a bit each */
    bool is_store, is_atomic, is_volatile;
    uint32_t copy; /* asynchronous: index in copies + 1 */
};

struct word {
    uint32_t phase, first;
};

/* A store of a lane that goes on. */
struct copy {
    uint64_t word;
    uint32_t site, thread, group, done; /* clock of the thread when it had waited; 0: it has not */
    uint8_t bytes, space;
};

struct barrier {
    bool is_open;
    uint32_t expected, arrived; /* threads; expected 0: all */
    uint32_t arrivals[WARPS], waiting[WARPS];
    struct clocks *released;
};

/* Lanes of a warp that wait for each other. */
struct meeting {
    uint16_t warp;
    uint32_t mask, arrived;
    struct clocks *released;
};

struct cts_race {
    uint32_t thread_count, phase, serial;
    bool has_fences, is_over; /* is_over: more orders the threads than is known */
    uint32_t clock[CTS_RACE_THREADS_MAX];
    struct clocks *seen;    /* by thread */
    struct clocks **fenced; /* by thread, what it knew at its last fence; NULL */
    uint32_t fence_phase[CTS_RACE_THREADS_MAX];
    bool is_touched; /* some clocks are not 0 */
    struct word *shared;
    struct cts_map global; /* word -> index in globals + 1 */
    struct {
        struct word *items;
        size_t count, capacity;
    } globals;
    struct {
        struct node *items;
        size_t count, capacity;
    } nodes; /* of the phase */
    struct {
        struct copy *items;
        size_t count, capacity;
    } copies; /* that have not been waited for, and those of the phase */
    uint32_t commits[CTS_RACE_THREADS_MAX];   /* groups of copies so far */
    uint32_t copies_at[CTS_RACE_THREADS_MAX]; /* site + 1 of its copy at hand; NONE: begun */
    bool has_copies;
    struct barrier barriers[BARRIERS];
    uint32_t open_barriers; /* how many */
    uint32_t waits[WARPS];  /* lanes that wait at a barrier or in a meeting */
    struct {
        struct meeting *items;
        size_t count, capacity;
    } meetings;
    struct cts_map signals; /* space and word, and mbarriers -> index in signal_clocks + 1 */
    struct {
        struct clocks **items;
        size_t count, capacity;
    } signal_clocks;
    struct {
        struct cts_race_pair *items;
        size_t count, capacity;
    } pairs;
    struct cts_map pair_of;    /* sites and what they are -> index in pairs + 1 */
    struct cts_map pair_bytes; /* pair and word -> bytes of it */
};

/* ---- clocks ---- */

static void join(struct clocks *to, const struct clocks *from)
{
    for (uint32_t left = from->warps; left; left &= left - 1) {
        const unsigned first = (unsigned)__builtin_ctz(left) * CTS_WARP_LANES;
        for (unsigned t = first; t < first + CTS_WARP_LANES; t++)
            if (from->of[t] > to->of[t]) to->of[t] = from->of[t];
    }
    to->warps |= from->warps;
}

static void forget(struct clocks *clocks)
{
    for (uint32_t left = clocks->warps; left; left &= left - 1)
        memset(clocks->of + (size_t)__builtin_ctz(left) * CTS_WARP_LANES, 0,
               CTS_WARP_LANES * sizeof *clocks->of);
    clocks->warps = 0;
}

/* All that a thread knows, its own clock too. */
static void join_thread(struct cts_race *race, struct clocks *to, uint32_t thread)
{
    join(to, &race->seen[thread]);
    to->warps |= 1u << thread / CTS_WARP_LANES;
    if (race->clock[thread] > to->of[thread]) to->of[thread] = race->clock[thread];
}

static void learn(struct cts_race *race, uint32_t thread, const struct clocks *from)
{
    if (!from->warps) return;
    join(&race->seen[thread], from);
    race->is_touched = true;
}

static struct clocks *new_clocks(struct cts_error *error)
{
    return cts_array_zeroed(1, sizeof(struct clocks), error);
}

/* ---- life ---- */

struct cts_race *cts_race_new(struct cts_error *error)
{
    struct cts_race *const race = cts_array_zeroed(1, sizeof *race, error);
    if (!race) return NULL;
    race->seen = cts_array_zeroed(CTS_RACE_THREADS_MAX, sizeof *race->seen, error);
    race->fenced = cts_array_zeroed(CTS_RACE_THREADS_MAX, sizeof *race->fenced, error);
    race->shared = cts_array_zeroed(SHARED_WORDS, sizeof *race->shared, error);
    if (race->seen && race->fenced && race->shared) return race;
    cts_race_free(race);
    return NULL;
}

void cts_race_free(struct cts_race *race)
{
    if (!race) return;
    for (size_t t = 0; race->fenced && t < CTS_RACE_THREADS_MAX; t++) free(race->fenced[t]);
    for (size_t b = 0; b < BARRIERS; b++) free(race->barriers[b].released);
    for (size_t m = 0; m < race->meetings.capacity; m++) free(race->meetings.items[m].released);
    for (size_t s = 0; s < race->signal_clocks.count; s++) free(race->signal_clocks.items[s]);
    free(race->seen);
    free(race->fenced);
    free(race->shared);
    free(race->globals.items);
    free(race->nodes.items);
    free(race->copies.items);
    free(race->meetings.items);
    free(race->signal_clocks.items);
    free(race->pairs.items);
    cts_map_release(&race->global);
    cts_map_release(&race->signals);
    cts_map_release(&race->pair_of);
    cts_map_release(&race->pair_bytes);
    free(race);
}

/* What only holds within a phase. */
static void leave_phase(struct cts_race *race)
{
    for (uint32_t t = 0; race->is_touched && t < race->thread_count; t++) forget(&race->seen[t]);
    for (size_t s = 0; s < race->signal_clocks.count; s++) free(race->signal_clocks.items[s]);
    race->signal_clocks.count = 0;
    cts_map_release(&race->signals);
    race->nodes.count = 0;
    race->is_touched = false;
    race->phase++;
}

void cts_race_begin(struct cts_race *race, uint32_t thread_count, bool has_fences)
{
    leave_phase(race);
    race->thread_count = thread_count < CTS_RACE_THREADS_MAX ? thread_count : CTS_RACE_THREADS_MAX;
    race->has_fences = has_fences;
    race->is_over = false;
    race->serial = 0;
    for (size_t t = 0; t < CTS_RACE_THREADS_MAX; t++) race->clock[t] = 1;
    memset(race->fence_phase, 0, sizeof race->fence_phase);
    memset(race->commits, 0, sizeof race->commits);
    memset(race->copies_at, 0, sizeof race->copies_at);
    memset(race->waits, 0, sizeof race->waits);
    for (size_t b = 0; race->open_barriers && b < BARRIERS; b++) {
        struct barrier *const barrier = &race->barriers[b];
        if (!barrier->is_open) continue;
        struct clocks *const released = barrier->released;
        forget(released);
        *barrier = (struct barrier){.released = released};
    }
    race->open_barriers = 0;
    for (size_t m = 0; m < race->meetings.count; m++) forget(race->meetings.items[m].released);
    race->meetings.count = 0;
    race->copies.count = race->globals.count = race->pairs.count = 0;
    race->has_copies = false;
    cts_map_release(&race->global);
    cts_map_release(&race->pair_of);
    cts_map_release(&race->pair_bytes);
}

const struct cts_race_pair *cts_race_pairs(const struct cts_race *race, size_t *count)
{
    *count = race->pairs.count;
    return race->pairs.items;
}

bool cts_race_is_over(const struct cts_race *race)
{
    return race->is_over;
}

/* ---- what has been found ---- */

/* The kinds of races that two sites may have. */
static unsigned kind_of(uint8_t space, bool is_in_warp, bool is_asynchronous)
{
    return (unsigned)(space == CTS_SPACE_SHARED) | (unsigned)is_in_warp << 1 |
           (unsigned)is_asynchronous << 2;
}

static enum cts_status add_race(struct cts_race *race, uint8_t space, uint64_t word, uint8_t bytes,
                                struct cts_race_end a, struct cts_race_end b, bool is_asynchronous,
                                struct cts_error *error)
{
    const bool is_in_warp = a.thread / CTS_WARP_LANES == b.thread / CTS_WARP_LANES;
    const struct cts_race_end first = a.site <= b.site ? a : b, second = a.site <= b.site ? b : a;
    const uint64_t key = (uint64_t)first.site << 35 | (uint64_t)second.site << 3 |
                         kind_of(space, is_in_warp, is_asynchronous);
    const uint64_t address = word * 4 + (unsigned)__builtin_ctz(bytes);
    uint64_t *const place = cts_map_at(&race->pair_of, key, error);
    if (!place || CTS_ARRAY_RESERVE(&race->pairs, race->pairs.count + 1, error)) return CTS_MEMORY;
    if (!*place) {
        race->pairs.items[race->pairs.count++] =
            (struct cts_race_pair){.space = space,
                                   .is_in_warp = is_in_warp,
                                   .is_asynchronous = is_asynchronous,
                                   .address = UINT64_MAX};
        *place = race->pairs.count;
    }
    struct cts_race_pair *const pair = &race->pairs.items[*place - 1];
    if (address < pair->address) {
        pair->address = address;
        pair->first = first;
        pair->second = second;
    }
    uint64_t *const known = cts_map_at(&race->pair_bytes, (word << 20) + *place, error);
    if (!known) return CTS_MEMORY;
    pair->bytes += (unsigned)__builtin_popcount(bytes & ~(unsigned)*known);
    *known |= bytes;
    return CTS_OK;
}

/* ---- copies that go on ---- */

/* Whether what an asynchronous copy stored is there for a thread. */
static bool is_copied(const struct cts_race *race, const struct copy *copy, uint32_t thread)
{
    if (!copy->done) return false;
    return thread == copy->thread || race->seen[thread].of[copy->thread] >= copy->done;
}

/* ---- words ---- */

static struct word *word_of(struct cts_race *race, uint8_t space, uint64_t word,
                            struct cts_error *error)
{
    if (space == CTS_SPACE_SHARED && word < SHARED_WORDS) return &race->shared[word];
    uint64_t *const place =
        cts_map_at(&race->global, word << 1 | (space == CTS_SPACE_SHARED), error);
    if (!place) return NULL;
    if (!*place) {
        if (CTS_ARRAY_RESERVE(&race->globals, race->globals.count + 1, error)) return NULL;
        race->globals.items[race->globals.count++] = (struct word){0};
        *place = race->globals.count;
    }
    return &race->globals.items[*place - 1];
}

/* One lane's access to some bytes of a word. */
struct touch {
    const struct cts_race_access *access;
    uint64_t word;
    uint32_t thread;
    uint8_t bytes;
    uint32_t copy; /* as in a node */
};

static bool may_race(const struct node *node, const struct touch *touch)
{
    const struct cts_race_access *const access = touch->access;
    if (!(node->bytes & touch->bytes)) return false;
    if ((node->is_atomic || node->is_volatile) && (access->is_atomic || access->is_volatile))
        return false;
    return node->is_store || node->is_atomic || access->is_store || access->is_atomic;
}

/* Compares with the lanes of a node, but for those of the request itself. */
static enum cts_status compare(struct cts_race *race, const struct node *node,
                               const struct touch *touch, struct cts_error *error)
{
    const uint32_t first = (uint32_t)node->warp * CTS_WARP_LANES;
    const uint32_t *const seen = race->seen[touch->thread].of;
    uint32_t lanes = node->before | (node->serial == race->serial ? 0 : node->now);
    bool is_done[2] = {false, false}; /* of another warp, of this one */
    for (; lanes; lanes &= lanes - 1) {
        const uint32_t other = first + (uint32_t)__builtin_ctz(lanes);
        const struct copy *const copy = node->copy ? &race->copies.items[node->copy - 1] : NULL;
        const bool goes_on = copy && !is_copied(race, copy, touch->thread);
        if (goes_on ? copy->done && other == touch->thread
                    : other == touch->thread || (copy || seen[other] >= node->clock))
            continue;
        const bool is_in_warp = other / CTS_WARP_LANES == touch->thread / CTS_WARP_LANES;
        if (is_done[is_in_warp]) continue;
        is_done[is_in_warp] = true;
        const enum cts_status status =
            add_race(race, touch->access->space, touch->word, node->bytes & touch->bytes,
                     (struct cts_race_end){node->site, other},
                     (struct cts_race_end){touch->access->site, touch->thread},
                     goes_on && !copy->done, error);
        if (status) return status;
    }
    return CTS_OK;
}

static bool is_same(const struct node *node, const struct touch *touch, uint32_t clock)
{
    return node->site == touch->access->site && node->clock == clock &&
           node->warp == touch->access->warp && node->bytes == touch->bytes &&
           node->copy == touch->copy;
}

/* Whether all lanes of a node come before what a thread does now. */
static bool is_past(const struct cts_race *race, const struct node *node, uint32_t thread)
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
static void shorten(struct cts_race *race, struct word *word, const struct touch *touch)
{
    for (uint32_t *n = &word->first; *n != NONE;) {
        const struct node *const node = &race->nodes.items[*n];
        if (!(node->bytes & ~touch->bytes) && is_past(race, node, touch->thread))
            *n = node->next;
        else
            n = &race->nodes.items[*n].next;
    }
}

static enum cts_status touch_word(struct cts_race *race, const struct touch *touch,
                                  struct cts_error *error)
{
    const struct cts_race_access *const access = touch->access;
    struct word *const word = word_of(race, access->space, touch->word, error);
    const uint32_t lane = 1u << touch->thread % CTS_WARP_LANES;
    const uint32_t clock = race->clock[touch->thread];
    struct node *mine = NULL;
    unsigned length = 0;
    if (!word) return CTS_MEMORY;
    if (word->phase != race->phase) *word = (struct word){race->phase, NONE};
    for (uint32_t n = word->first; n != NONE; n = race->nodes.items[n].next) {
        struct node *const node = &race->nodes.items[n];
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
    race->nodes.items[race->nodes.count] = (struct node){.next = word->first,
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

/* ---- barriers ---- */

static enum cts_status add_copy_again(struct cts_race *race, size_t index, struct cts_error *error)
{
    const struct copy *const copy = &race->copies.items[index];
    struct word *const word = word_of(race, copy->space, copy->word, error);
    if (!word || CTS_ARRAY_RESERVE(&race->nodes, race->nodes.count + 1, error)) return CTS_MEMORY;
    if (word->phase != race->phase) *word = (struct word){race->phase, NONE};
    race->nodes.items[race->nodes.count] =
        (struct node){.next = word->first,
                      .site = copy->site,
                      .serial = NONE,
                      .now = 1u << copy->thread % CTS_WARP_LANES,
                      .warp = (uint16_t)(copy->thread / CTS_WARP_LANES),
                      .bytes = copy->bytes,
                      .is_store = true,
                      .copy = (uint32_t)index + 1};
    word->first = (uint32_t)race->nodes.count++;
    return CTS_OK;
}

/* All threads have met. */
static enum cts_status next_phase(struct cts_race *race, struct cts_error *error)
{
    size_t kept = 0;
    enum cts_status status = CTS_OK;
    leave_phase(race);
    for (size_t i = 0; i < race->copies.count; i++)
        if (!race->copies.items[i].done) race->copies.items[kept++] = race->copies.items[i];
    race->copies.count = kept;
    for (size_t i = 0; i < kept && !status; i++) status = add_copy_again(race, i, error);
    return status;
}

/* Whether all threads have waited for each other. Those that have ended are not waited for. */
static bool is_of_all(const struct cts_race *race, const struct barrier *barrier)
{
    uint32_t waiting = 0;
    if (!barrier->expected) return true;
    for (uint32_t w = 0; w < WARPS; w++)
        waiting += (uint32_t)__builtin_popcount(barrier->waiting[w]);
    return waiting >= race->thread_count;
}

static enum cts_status complete(struct cts_race *race, struct barrier *barrier,
                                struct cts_error *error)
{
    struct clocks *const released = barrier->released;
    const bool is_phase = is_of_all(race, barrier);
    for (uint32_t w = 0; w < WARPS; w++) {
        race->waits[w] &= ~barrier->waiting[w];
        for (uint32_t left = is_phase ? 0 : barrier->waiting[w]; left; left &= left - 1)
            learn(race, w * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left), released);
    }
    forget(released);
    *barrier = (struct barrier){.released = released};
    race->open_barriers--;
    return is_phase ? next_phase(race, error) : CTS_OK;
}

static enum cts_status arrive(struct cts_race *race, struct barrier *barrier, uint32_t expected,
                              uint16_t warp, uint32_t mask, bool waits, struct cts_error *error)
{
    if (barrier->is_open && (barrier->arrivals[warp] & mask)) {
        const enum cts_status status = complete(race, barrier, error);
        if (status) return status;
    }
    if (!barrier->released && !(barrier->released = new_clocks(error))) return CTS_MEMORY;
    race->open_barriers += !barrier->is_open;
    barrier->is_open = true;
    barrier->expected = expected;
    barrier->arrived += (uint32_t)__builtin_popcount(mask);
    barrier->arrivals[warp] |= mask;
    if (waits) {
        barrier->waiting[warp] |= mask;
        race->waits[warp] |= mask;
    }
    for (uint32_t left = expected ? mask : 0; left; left &= left - 1) {
        const uint32_t thread = warp * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left);
        join_thread(race, barrier->released, thread);
        race->clock[thread]++;
    }
    const bool is_more = !expected || expected > race->thread_count;
    const uint32_t needed = is_more ? race->thread_count : expected;
    return barrier->arrived >= needed ? complete(race, barrier, error) : CTS_OK;
}

/* Lanes of the warp that are threads of the CTA. */
static uint32_t lanes_of(const struct cts_race *race, uint16_t warp)
{
    const uint32_t first = (uint32_t)warp * CTS_WARP_LANES;
    if (first >= race->thread_count) return 0;
    const uint32_t count = race->thread_count - first;
    return count >= CTS_WARP_LANES ? UINT32_MAX : (1u << count) - 1;
}

static void end_meeting(struct cts_race *race, size_t index)
{
    struct meeting *const meeting = &race->meetings.items[index];
    for (uint32_t left = meeting->arrived; left; left &= left - 1)
        learn(race, (uint32_t)meeting->warp * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left),
              meeting->released);
    race->waits[meeting->warp] &= ~meeting->arrived;
    forget(meeting->released);
    const struct meeting last = race->meetings.items[--race->meetings.count];
    struct clocks *const spare = meeting->released;
    *meeting = last;
    race->meetings.items[race->meetings.count] = (struct meeting){.released = spare};
}

static enum cts_status meet(struct cts_race *race, uint16_t warp, uint32_t lanes, uint32_t mask,
                            struct cts_error *error)
{
    size_t m = 0;
    while (m < race->meetings.count &&
           (race->meetings.items[m].warp != warp || race->meetings.items[m].mask != mask))
        m++;
    if (m == race->meetings.count) {
        const size_t before = race->meetings.capacity;
        if (CTS_ARRAY_RESERVE(&race->meetings, m + 1, error)) return CTS_MEMORY;
        for (size_t i = before; i < race->meetings.capacity; i++)
            race->meetings.items[i] = (struct meeting){0};
        struct clocks *released = race->meetings.items[m].released;
        if (!released && !(released = new_clocks(error))) return CTS_MEMORY;
        race->meetings.items[m] = (struct meeting){warp, mask, 0, released};
        race->meetings.count++;
    }
    struct meeting *const meeting = &race->meetings.items[m];
    meeting->arrived |= lanes;
    race->waits[warp] |= lanes;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t thread = (uint32_t)warp * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left);
        join_thread(race, meeting->released, thread);
        race->clock[thread]++;
    }
    if (!((mask & lanes_of(race, warp)) & ~meeting->arrived)) end_meeting(race, m);
    return CTS_OK;
}

/* Lanes do something: what they waited for is complete. */
static enum cts_status go_on(struct cts_race *race, uint16_t warp, uint32_t mask,
                             struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (__builtin_expect(!(race->waits[warp] & mask), 1)) return CTS_OK;
    for (size_t b = 0; b < BARRIERS && race->open_barriers && !status; b++)
        if (race->barriers[b].is_open && (race->barriers[b].waiting[warp] & mask))
            status = complete(race, &race->barriers[b], error);
    for (size_t m = race->meetings.count; m-- > 0;)
        if (race->meetings.items[m].warp == warp && (race->meetings.items[m].arrived & mask))
            end_meeting(race, m);
    return status;
}

/* ---- signals ---- */

/* The clocks of a word that orders others, or of an mbarrier; NULL without an error: there are none
 * or, of new ones, too many. */
static struct clocks *signal_of(struct cts_race *race, uint64_t key, bool is_made,
                                struct cts_error *error)
{
    const uint64_t *const known = cts_map_find(&race->signals, key);
    if (known) return race->signal_clocks.items[*known - 1];
    if (!is_made) return NULL;
    if (race->signal_clocks.count == SIGNALS_MAX) {
        race->is_over = true;
        return NULL;
    }
    uint64_t *const place = cts_map_at(&race->signals, key, error);
    struct clocks *const clocks = new_clocks(error);
    if (!place || !clocks ||
        CTS_ARRAY_RESERVE(&race->signal_clocks, race->signal_clocks.count + 1, error)) {
        free(clocks);
        return NULL;
    }
    race->signal_clocks.items[race->signal_clocks.count++] = clocks;
    *place = race->signal_clocks.count;
    return clocks;
}

/* What a thread releases by a store to a word: what it knew at its last fence. */
static bool release(struct cts_race *race, uint32_t thread, uint64_t key, struct cts_error *error)
{
    const bool has = race->fenced[thread] && race->fence_phase[thread] == race->phase;
    if (race->has_fences && !has) return true;
    struct clocks *const signal = signal_of(race, key, true, error);
    if (!signal) return race->is_over;
    if (race->has_fences) {
        join(signal, race->fenced[thread]);
    } else {
        join_thread(race, signal, thread);
        race->clock[thread]++;
    }
    return true;
}

static enum cts_status take_signals(struct cts_race *race, const struct cts_race_access *access,
                                    struct cts_error *error)
{
    const bool is_shared = access->space == CTS_SPACE_SHARED;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint32_t thread = (uint32_t)access->warp * CTS_WARP_LANES + lane;
        const uint64_t key = access->addresses[lane] / 4 << 2 | (uint64_t)is_shared;
        if (!access->is_store) {
            const struct clocks *const signal = signal_of(race, key, false, error);
            if (signal) learn(race, thread, signal);
        }
        if ((access->is_store || access->is_atomic) && !release(race, thread, key, error))
            return CTS_MEMORY;
    }
    return CTS_OK;
}

static enum cts_status fence(struct cts_race *race, uint32_t thread, struct cts_error *error)
{
    if (!race->fenced[thread] && !(race->fenced[thread] = new_clocks(error))) return CTS_MEMORY;
    forget(race->fenced[thread]);
    join_thread(race, race->fenced[thread], thread);
    race->fence_phase[thread] = race->phase;
    race->clock[thread]++;
    return CTS_OK;
}

/* ---- asynchronous copies ---- */

static void wait_for_copies(struct cts_race *race, uint32_t thread, uint32_t may_go_on)
{
    for (size_t i = 0; i < race->copies.count; i++) {
        struct copy *const copy = &race->copies.items[i];
        if (copy->thread == thread && !copy->done &&
            copy->group + may_go_on < race->commits[thread] + (may_go_on == 0))
            copy->done = race->clock[thread];
    }
}

/* The index + 1 of the copy that a lane's store is, if it is one; NONE: no memory. */
static uint32_t copy_of(struct cts_race *race, const struct touch *touch, struct cts_error *error)
{
    const struct cts_race_access *const access = touch->access;
    uint32_t *const at = &race->copies_at[touch->thread];
    if (*at == NONE && access->is_store && access->space == CTS_SPACE_SHARED)
        *at = access->site + 1;
    if (!access->is_store || access->space != CTS_SPACE_SHARED || *at != access->site + 1) return 0;
    if (CTS_ARRAY_RESERVE(&race->copies, race->copies.count + 1, error)) return NONE;
    race->copies.items[race->copies.count++] = (struct copy){.word = touch->word,
                                                             .site = access->site,
                                                             .thread = touch->thread,
                                                             .group = race->commits[touch->thread],
                                                             .bytes = touch->bytes,
                                                             .space = access->space};
    return (uint32_t)race->copies.count;
}

/* ---- what happens ---- */

static enum cts_status touch_lane(struct cts_race *race, const struct cts_race_access *access,
                                  unsigned lane, struct cts_error *error)
{
    struct touch touch = {.access = access,
                          .thread = (uint32_t)access->warp * CTS_WARP_LANES + lane};
    const uint64_t start = access->addresses[lane], end = start + access->width_bytes;
    for (touch.word = start / 4; touch.word * 4 < end; touch.word++) {
        const unsigned from = touch.word * 4 < start ? (unsigned)(start % 4) : 0;
        const unsigned stop = touch.word * 4 + 4 > end ? (unsigned)(end % 4) : 4;
        touch.bytes = (uint8_t)((0xfu << from) & ((1u << stop) - 1));
        touch.copy = race->has_copies ? copy_of(race, &touch, error) : 0;
        if (touch.copy == NONE) return CTS_MEMORY;
        const enum cts_status status = touch_word(race, &touch, error);
        if (status) return status;
    }
    if (race->has_copies && race->copies_at[touch.thread] != NONE &&
        race->copies_at[touch.thread] != access->site + 1)
        race->copies_at[touch.thread] = 0;
    return CTS_OK;
}

enum cts_status cts_race_access(struct cts_race *race, const struct cts_race_access *access,
                                struct cts_error *error)
{
    const uint32_t mask = access->mask & lanes_of(race, access->warp);
    if (access->warp >= WARPS || !mask) return CTS_OK;
    enum cts_status status = go_on(race, access->warp, mask, error);
    race->serial++;
    const bool is_signal = access->is_atomic || access->is_volatile;
    /* A load of a signal comes behind what was stored before it. */
    if (!status && is_signal) status = take_signals(race, access, error);
    for (uint32_t left = mask; left && !status; left &= left - 1)
        status = touch_lane(race, access, (unsigned)__builtin_ctz(left), error);
    return status;
}

static enum cts_status lane_event(struct cts_race *race, uint32_t operation, uint32_t thread,
                                  uint64_t argument, struct cts_error *error)
{
    const uint64_t mbarrier = argument << 2 | 2;
    switch (operation) {
    case CTS_BARRIER_FENCE:
        return fence(race, thread, error);
    case CTS_BARRIER_ASYNC_COPY:
        race->has_copies = true;
        race->copies_at[thread] = NONE;
        return CTS_OK;
    case CTS_BARRIER_ASYNC_COMMIT:
        race->commits[thread]++;
        return CTS_OK;
    case CTS_BARRIER_ASYNC_WAIT:
        wait_for_copies(race, thread, argument > UINT32_MAX / 2 ? 0 : (uint32_t)argument - 1);
        return CTS_OK;
    case CTS_BARRIER_MBARRIER_ARRIVE: {
        struct clocks *const clocks = signal_of(race, mbarrier, true, error);
        if (!clocks) return race->is_over ? CTS_OK : CTS_MEMORY;
        join_thread(race, clocks, thread);
        race->clock[thread]++;
        return CTS_OK;
    }
    case CTS_BARRIER_MBARRIER_WAIT: {
        const struct clocks *const clocks = signal_of(race, mbarrier, false, error);
        if (clocks) learn(race, thread, clocks);
        return CTS_OK;
    }
    default:
        return CTS_OK;
    }
}

enum cts_status cts_race_barrier(struct cts_race *race, uint32_t operation, uint16_t warp,
                                 uint32_t mask, uint64_t argument, struct cts_error *error)
{
    if (warp >= WARPS || !(mask &= lanes_of(race, warp))) return CTS_OK;
    enum cts_status status = go_on(race, warp, mask, error);
    if (status) return status;
    const uint64_t number = argument - 1;
    switch (operation) {
    case CTS_BARRIER_CTA_SYNC:
    case CTS_BARRIER_CTA_ARRIVE:
        return arrive(race, &race->barriers[number & 15], (uint32_t)(number >> 8), warp, mask,
                      operation == CTS_BARRIER_CTA_SYNC, error);
    case CTS_BARRIER_GRID_SYNC:
        return arrive(race, &race->barriers[GRID], 0, warp, mask, true, error);
    case CTS_BARRIER_CLUSTER_WAIT:
        return arrive(race, &race->barriers[CLUSTER], 0, warp, mask, true, error);
    case CTS_BARRIER_SYNC_OTHER:
        race->is_over = true;
        return CTS_OK;
    case CTS_BARRIER_WARP_SYNC:
        return meet(race, warp, mask, (uint32_t)argument, error);
    default:
        for (uint32_t left = mask; left && !status; left &= left - 1)
            status = lane_event(race, operation,
                                (uint32_t)warp * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left),
                                argument, error);
        return status;
    }
}
