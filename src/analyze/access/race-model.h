/* What the files of race.h share: vector clocks, lane by lane.
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
#ifndef CTS_ACCESS_RACE_MODEL_H
#define CTS_ACCESS_RACE_MODEL_H

#include <stdlib.h>
#include <string.h>

#include "analyze/access/race.h"
#include "common/array.h"
#include "common/map.h"

#define CTS_RACE_NONE UINT32_MAX

enum {
    CTS_RACE_WARPS = CTS_RACE_THREADS_MAX / CTS_WARP_LANES,
    CTS_RACE_BARRIERS = 256, /* numbers of barriers: 8 bits */
    CTS_RACE_GRID = 254,     /* not the hardware's: barriers of the grid and of the cluster */
    CTS_RACE_CLUSTER = 255,
    CTS_RACE_SIGNALS_MAX = 1 << 12,
    CTS_RACE_SHARED_WORDS = 1 << 16, /* 256 KiB */
};

/* The clocks that a thread, barrier or signal knows of. */
struct cts_race_clocks {
    uint32_t warps; /* with a clock that is not 0 */
    uint32_t of[CTS_RACE_THREADS_MAX];
};

struct cts_race_node {
    uint32_t next; /* of the word; CTS_RACE_NONE */
    uint32_t site, clock;
    uint32_t serial;      /* of the request that added to it last */
    uint32_t before, now; /* lanes: of earlier requests, of the last one */
    uint16_t warp;
    uint8_t bytes; /* of the word, a bit each */
    bool is_store, is_atomic, is_volatile;
    uint32_t copy; /* asynchronous: index in copies + 1 */
};

struct cts_race_word {
    uint32_t phase, first;
};

/* A store of a lane that goes on. */
struct cts_race_copy {
    uint64_t word;
    uint32_t site, thread, group, done; /* clock of the thread when it had waited; 0: it has not */
    uint8_t bytes, space;
};

struct cts_race_barrier_state {
    bool is_open;
    uint32_t expected, arrived; /* threads; expected 0: all */
    uint32_t arrivals[CTS_RACE_WARPS], waiting[CTS_RACE_WARPS];
    struct cts_race_clocks *released;
};

/* Lanes of a warp that wait for each other. */
struct cts_race_meeting {
    uint16_t warp;
    uint32_t mask, arrived;
    struct cts_race_clocks *released;
};

struct cts_race {
    uint32_t thread_count, phase, serial;
    bool has_fences, is_over; /* is_over: more orders the threads than is known */
    uint32_t clock[CTS_RACE_THREADS_MAX];
    struct cts_race_clocks *seen;    /* by thread */
    struct cts_race_clocks **fenced; /* by thread, what it knew at its last fence; NULL */
    uint32_t fence_phase[CTS_RACE_THREADS_MAX];
    bool is_touched; /* some clocks are not 0 */
    struct cts_race_word *shared;
    struct cts_map global; /* word -> index in globals + 1 */
    struct {
        struct cts_race_word *items;
        size_t count, capacity;
    } globals;
    struct {
        struct cts_race_node *items;
        size_t count, capacity;
    } nodes; /* of the phase */
    struct {
        struct cts_race_copy *items;
        size_t count, capacity;
    } copies; /* that have not been waited for, and those of the phase */
    uint32_t commits[CTS_RACE_THREADS_MAX];   /* groups of copies so far */
    uint32_t copies_at[CTS_RACE_THREADS_MAX]; /* site + 1 of its copy at hand; NONE: begun */
    bool has_copies;
    struct cts_race_barrier_state barriers[CTS_RACE_BARRIERS];
    uint32_t open_barriers;         /* how many */
    uint32_t waits[CTS_RACE_WARPS]; /* lanes that wait at a barrier or in a meeting */
    struct {
        struct cts_race_meeting *items;
        size_t count, capacity;
    } meetings;
    struct cts_map
        signals; /* space and word, and mbarriers by phase -> index in signal_clocks + 1 */
    struct cts_map mbarrier_phases; /* mbarrier -> argument of the last arrival */
    struct {
        struct cts_race_clocks **items;
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

static inline void cts_race_join(struct cts_race_clocks *to, const struct cts_race_clocks *from)
{
    for (uint32_t left = from->warps; left; left &= left - 1) {
        const unsigned first = (unsigned)__builtin_ctz(left) * CTS_WARP_LANES;
        for (unsigned t = first; t < first + CTS_WARP_LANES; t++)
            if (from->of[t] > to->of[t]) to->of[t] = from->of[t];
    }
    to->warps |= from->warps;
}

static inline void cts_race_forget(struct cts_race_clocks *clocks)
{
    for (uint32_t left = clocks->warps; left; left &= left - 1)
        memset(clocks->of + (size_t)__builtin_ctz(left) * CTS_WARP_LANES, 0,
               CTS_WARP_LANES * sizeof *clocks->of);
    clocks->warps = 0;
}

/* All that a thread knows, its own clock too. */
static inline void cts_race_join_thread(struct cts_race *race, struct cts_race_clocks *to,
                                        uint32_t thread)
{
    cts_race_join(to, &race->seen[thread]);
    to->warps |= 1u << thread / CTS_WARP_LANES;
    if (race->clock[thread] > to->of[thread]) to->of[thread] = race->clock[thread];
}

static inline void cts_race_learn(struct cts_race *race, uint32_t thread,
                                  const struct cts_race_clocks *from)
{
    if (!from->warps) return;
    cts_race_join(&race->seen[thread], from);
    race->is_touched = true;
}

static inline struct cts_race_clocks *cts_race_new_clocks(struct cts_error *error)
{
    return cts_array_zeroed(1, sizeof(struct cts_race_clocks), error);
}

/* ---- race-words.c ---- */

/* A copy of an earlier phase that goes on. */
CTS_MUST_CHECK enum cts_status cts_race_add_copy_again(struct cts_race *race, size_t index,
                                                       struct cts_error *error);
void cts_race_wait_for_copies(struct cts_race *race, uint32_t thread, uint32_t may_go_on);
CTS_MUST_CHECK enum cts_status cts_race_touch_lane(struct cts_race *race,
                                                   const struct cts_race_access *access,
                                                   unsigned lane, struct cts_error *error);

/* ---- race-barriers.c ---- */

/* What only holds within a phase. */
void cts_race_leave_phase(struct cts_race *race);
/* Lanes of a warp that come to a barrier. */
struct cts_race_arrival {
    uint32_t expected; /* threads; 0: all of the CTA */
    uint32_t mask;
    uint16_t warp;
    bool waits;
};

CTS_MUST_CHECK enum cts_status cts_race_arrive(struct cts_race *race,
                                               struct cts_race_barrier_state *barrier,
                                               const struct cts_race_arrival *arrival,
                                               struct cts_error *error);
/* Lanes of the warp that are threads of the CTA. */
uint32_t cts_race_lanes_of(const struct cts_race *race, uint16_t warp);
CTS_MUST_CHECK enum cts_status cts_race_meet(struct cts_race *race, uint16_t warp, uint32_t lanes,
                                             uint32_t mask, struct cts_error *error);
/* Lanes do something: what they waited for is complete. */
CTS_MUST_CHECK enum cts_status cts_race_go_on(struct cts_race *race, uint16_t warp, uint32_t mask,
                                              struct cts_error *error);

/* ---- race-signals.c ---- */

/* The clocks of a word that orders others, or of an mbarrier; NULL without an error: there are none
 * or, of new ones, too many. */
struct cts_race_clocks *cts_race_signal_of(struct cts_race *race, uint64_t key, bool is_made,
                                           struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_race_take_signals(struct cts_race *race,
                                                     const struct cts_race_access *access,
                                                     struct cts_error *error);
/* The key of an mbarrier in one of its phases. */
static inline uint64_t cts_race_mbarrier_key(uint64_t argument)
{
    return argument << 2 | 2;
}
CTS_MUST_CHECK enum cts_status cts_race_arrive_at_mbarrier(struct cts_race *race, uint32_t thread,
                                                           uint64_t argument,
                                                           struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_race_fence(struct cts_race *race, uint32_t thread,
                                              struct cts_error *error);

#endif
