/* The life of a struct cts_race, and what happens to it: each access and barrier goes to the words,
 * the barriers or the signals (race-model.h). */
#include "analyze/access/race.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/access/race-model.h"
#include "common/array.h"
#include "common/map.h"

/* ---- life ---- */

struct cts_race *cts_race_new(struct cts_error *error)
{
    struct cts_race *const race = cts_array_zeroed(1, sizeof *race, error);
    if (!race) return NULL;
    race->seen = cts_array_zeroed(CTS_RACE_THREADS_MAX, sizeof *race->seen, error);
    race->fenced = cts_array_zeroed(CTS_RACE_THREADS_MAX, sizeof *race->fenced, error);
    race->shared = cts_array_zeroed(CTS_RACE_SHARED_WORDS, sizeof *race->shared, error);
    if (race->seen && race->fenced && race->shared) return race;
    cts_race_free(race);
    return NULL;
}

void cts_race_free(struct cts_race *race)
{
    if (!race) return;
    for (size_t t = 0; race->fenced && t < CTS_RACE_THREADS_MAX; t++) free(race->fenced[t]);
    for (size_t b = 0; b < CTS_RACE_BARRIERS; b++) free(race->barriers[b].released);
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
    cts_map_release(&race->mbarrier_phases);
    cts_map_release(&race->pair_of);
    cts_map_release(&race->pair_bytes);
    free(race);
}

void cts_race_begin(struct cts_race *race, uint32_t thread_count, bool has_fences)
{
    cts_race_leave_phase(race);
    race->thread_count = thread_count < CTS_RACE_THREADS_MAX ? thread_count : CTS_RACE_THREADS_MAX;
    race->has_fences = has_fences;
    race->is_over = false;
    race->serial = 0;
    for (size_t t = 0; t < CTS_RACE_THREADS_MAX; t++) race->clock[t] = 1;
    memset(race->fence_phase, 0, sizeof race->fence_phase);
    memset(race->commits, 0, sizeof race->commits);
    memset(race->copies_at, 0, sizeof race->copies_at);
    memset(race->waits, 0, sizeof race->waits);
    for (size_t b = 0; race->open_barriers && b < CTS_RACE_BARRIERS; b++) {
        struct cts_race_barrier_state *const barrier = &race->barriers[b];
        if (!barrier->is_open) continue;
        struct cts_race_clocks *const released = barrier->released;
        cts_race_forget(released);
        *barrier = (struct cts_race_barrier_state){.released = released};
    }
    race->open_barriers = 0;
    for (size_t m = 0; m < race->meetings.count; m++)
        cts_race_forget(race->meetings.items[m].released);
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

/* ---- what happens ---- */

enum cts_status cts_race_add_access(struct cts_race *race, const struct cts_race_access *access,
                                    struct cts_error *error)
{
    const uint32_t mask = access->mask & cts_race_lanes_of(race, access->warp);
    if (access->warp >= CTS_RACE_WARPS || !mask) return CTS_OK;
    enum cts_status status = cts_race_go_on(race, access->warp, mask, error);
    race->serial++;
    const bool is_signal = access->is_atomic || access->is_volatile;
    /* A load of a signal comes behind what was stored before it. */
    if (!status && is_signal) status = cts_race_take_signals(race, access, error);
    for (uint32_t left = mask; left && !status; left &= left - 1)
        status = cts_race_touch_lane(race, access, (unsigned)__builtin_ctz(left), error);
    return status;
}

static enum cts_status lane_event(struct cts_race *race, uint32_t operation, uint32_t thread,
                                  uint64_t argument, struct cts_error *error)
{
    const uint64_t mbarrier = cts_race_mbarrier_key(argument);
    switch (operation) {
    case CTS_BARRIER_FENCE:
        return cts_race_fence(race, thread, error);
    case CTS_BARRIER_ASYNC_COPY:
        race->has_copies = true;
        race->copies_at[thread] = CTS_RACE_NONE;
        return CTS_OK;
    case CTS_BARRIER_ASYNC_COMMIT:
        race->commits[thread]++;
        return CTS_OK;
    case CTS_BARRIER_ASYNC_WAIT:
        cts_race_wait_for_copies(race, thread,
                                 argument > UINT32_MAX / 2 ? 0 : (uint32_t)argument - 1);
        return CTS_OK;
    case CTS_BARRIER_MBARRIER_ARRIVE:
        return cts_race_arrive_at_mbarrier(race, thread, argument, error);
    case CTS_BARRIER_MBARRIER_WAIT: {
        const struct cts_race_clocks *const clocks =
            cts_race_signal_of(race, mbarrier, false, error);
        if (clocks) cts_race_learn(race, thread, clocks);
        return CTS_OK;
    }
    default:
        return CTS_OK;
    }
}

enum cts_status cts_race_barrier(struct cts_race *race, const struct cts_race_sync *sync,
                                 struct cts_error *error)
{
    const uint32_t operation = sync->operation;
    const uint16_t warp = sync->warp;
    const uint64_t argument = sync->argument;
    const uint32_t mask = warp < CTS_RACE_WARPS ? sync->mask & cts_race_lanes_of(race, warp) : 0;
    if (!mask) return CTS_OK;
    enum cts_status status = cts_race_go_on(race, warp, mask, error);
    if (status) return status;
    const uint64_t number = argument - 1;
    struct cts_race_arrival arrival = {.mask = mask, .warp = warp, .waits = true};
    switch (operation) {
    case CTS_BARRIER_CTA_SYNC:
    case CTS_BARRIER_CTA_ARRIVE:
        arrival.expected = (uint32_t)(number >> 8);
        arrival.waits = operation == CTS_BARRIER_CTA_SYNC;
        return cts_race_arrive(race, &race->barriers[number & 15], &arrival, error);
    case CTS_BARRIER_GRID_SYNC:
        return cts_race_arrive(race, &race->barriers[CTS_RACE_GRID], &arrival, error);
    case CTS_BARRIER_CLUSTER_WAIT:
        return cts_race_arrive(race, &race->barriers[CTS_RACE_CLUSTER], &arrival, error);
    case CTS_BARRIER_SYNC_OTHER:
        race->is_over = true;
        return CTS_OK;
    case CTS_BARRIER_WARP_SYNC:
        return cts_race_meet(race, warp, mask, (uint32_t)argument, error);
    default:
        for (uint32_t left = mask; left && !status; left &= left - 1)
            status = lane_event(race, operation,
                                (uint32_t)warp * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left),
                                argument, error);
        return status;
    }
}
