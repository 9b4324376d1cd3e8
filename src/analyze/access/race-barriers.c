/* Barriers of the CTA, the grid and the cluster, and lanes of a warp that wait for each other. */
#include "analyze/access/race-model.h"

/* ---- phases ---- */

void cts_race_leave_phase(struct cts_race *race)
{
    for (uint32_t t = 0; race->is_touched && t < race->thread_count; t++)
        cts_race_forget(&race->seen[t]);
    for (size_t s = 0; s < race->signal_clocks.count; s++) free(race->signal_clocks.items[s]);
    race->signal_clocks.count = 0;
    cts_map_release(&race->signals);
    cts_map_release(&race->mbarrier_phases);
    race->nodes.count = 0;
    race->is_touched = false;
    race->phase++;
}

/* ---- barriers ---- */

/* All threads have met. */
static enum cts_status next_phase(struct cts_race *race, struct cts_error *error)
{
    size_t kept = 0;
    enum cts_status status = CTS_OK;
    cts_race_leave_phase(race);
    for (size_t i = 0; i < race->copies.count; i++)
        if (!race->copies.items[i].done) race->copies.items[kept++] = race->copies.items[i];
    race->copies.count = kept;
    for (size_t i = 0; i < kept && !status; i++) status = cts_race_add_copy_again(race, i, error);
    return status;
}

/* Whether all threads have waited for each other. Those that have ended are not waited for. */
static bool is_of_all(const struct cts_race *race, const struct cts_race_barrier_state *barrier)
{
    uint32_t waiting = 0;
    if (!barrier->expected) return true;
    for (uint32_t w = 0; w < CTS_RACE_WARPS; w++)
        waiting += (uint32_t)__builtin_popcount(barrier->waiting[w]);
    return waiting >= race->thread_count;
}

static enum cts_status complete(struct cts_race *race, struct cts_race_barrier_state *barrier,
                                struct cts_error *error)
{
    struct cts_race_clocks *const released = barrier->released;
    const bool is_phase = is_of_all(race, barrier);
    for (uint32_t w = 0; w < CTS_RACE_WARPS; w++) {
        race->waits[w] &= ~barrier->waiting[w];
        for (uint32_t left = is_phase ? 0 : barrier->waiting[w]; left; left &= left - 1)
            cts_race_learn(race, w * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left), released);
    }
    cts_race_forget(released);
    *barrier = (struct cts_race_barrier_state){.released = released};
    race->open_barriers--;
    return is_phase ? next_phase(race, error) : CTS_OK;
}

enum cts_status cts_race_arrive(struct cts_race *race, struct cts_race_barrier_state *barrier,
                                const struct cts_race_arrival *arrival, struct cts_error *error)
{
    const uint32_t expected = arrival->expected, mask = arrival->mask;
    const uint16_t warp = arrival->warp;
    if (barrier->is_open && (barrier->arrivals[warp] & mask)) {
        const enum cts_status status = complete(race, barrier, error);
        if (status) return status;
    }
    if (!barrier->released && !(barrier->released = cts_race_new_clocks(error))) return CTS_MEMORY;
    race->open_barriers += !barrier->is_open;
    barrier->is_open = true;
    barrier->expected = expected;
    barrier->arrived += (uint32_t)__builtin_popcount(mask);
    barrier->arrivals[warp] |= mask;
    if (arrival->waits) {
        barrier->waiting[warp] |= mask;
        race->waits[warp] |= mask;
    }
    for (uint32_t left = expected ? mask : 0; left; left &= left - 1) {
        const uint32_t thread = warp * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left);
        cts_race_join_thread(race, barrier->released, thread);
        race->clock[thread]++;
    }
    const bool is_more = !expected || expected > race->thread_count;
    const uint32_t needed = is_more ? race->thread_count : expected;
    return barrier->arrived >= needed ? complete(race, barrier, error) : CTS_OK;
}

uint32_t cts_race_lanes_of(const struct cts_race *race, uint16_t warp)
{
    const uint32_t first = (uint32_t)warp * CTS_WARP_LANES;
    if (first >= race->thread_count) return 0;
    const uint32_t count = race->thread_count - first;
    return count >= CTS_WARP_LANES ? UINT32_MAX : (1u << count) - 1;
}

static bool has_fenced(const struct cts_race *race, uint32_t thread)
{
    return race->fenced[thread] && race->fence_phase[thread] == race->phase;
}

/* What one lane has fenced before they met, all have: any of them may raise the flag. */
static enum cts_status share_fences(struct cts_race *race, const struct cts_race_meeting *meeting,
                                    struct cts_error *error)
{
    const uint32_t first = (uint32_t)meeting->warp * CTS_WARP_LANES;
    struct cts_race_clocks *all = NULL;
    enum cts_status status = CTS_OK;
    for (uint32_t left = meeting->arrived; left && !status; left &= left - 1) {
        const uint32_t thread = first + (uint32_t)__builtin_ctz(left);
        if (!has_fenced(race, thread)) continue;
        if (!all) all = cts_race_new_clocks(error);
        if (!all) return CTS_MEMORY;
        cts_race_join(all, race->fenced[thread]);
    }
    for (uint32_t left = all ? meeting->arrived : 0; left && !status; left &= left - 1) {
        const uint32_t thread = first + (uint32_t)__builtin_ctz(left);
        if (!race->fenced[thread] && !(race->fenced[thread] = cts_race_new_clocks(error)))
            status = CTS_MEMORY;
        if (status) break;
        if (!has_fenced(race, thread)) cts_race_forget(race->fenced[thread]);
        race->fence_phase[thread] = race->phase;
        cts_race_join(race->fenced[thread], all);
    }
    free(all);
    return status;
}

static enum cts_status end_meeting(struct cts_race *race, size_t index, struct cts_error *error)
{
    struct cts_race_meeting *const meeting = &race->meetings.items[index];
    const enum cts_status status = race->has_fences ? share_fences(race, meeting, error) : CTS_OK;
    for (uint32_t left = meeting->arrived; left; left &= left - 1)
        cts_race_learn(race,
                       (uint32_t)meeting->warp * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left),
                       meeting->released);
    race->waits[meeting->warp] &= ~meeting->arrived;
    cts_race_forget(meeting->released);
    const struct cts_race_meeting last = race->meetings.items[--race->meetings.count];
    struct cts_race_clocks *const spare = meeting->released;
    *meeting = last;
    race->meetings.items[race->meetings.count] = (struct cts_race_meeting){.released = spare};
    return status;
}

enum cts_status cts_race_meet(struct cts_race *race, uint16_t warp, uint32_t lanes, uint32_t mask,
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
            race->meetings.items[i] = (struct cts_race_meeting){0};
        struct cts_race_clocks *released = race->meetings.items[m].released;
        if (!released && !(released = cts_race_new_clocks(error))) return CTS_MEMORY;
        race->meetings.items[m] = (struct cts_race_meeting){warp, mask, 0, released};
        race->meetings.count++;
    }
    struct cts_race_meeting *const meeting = &race->meetings.items[m];
    meeting->arrived |= lanes;
    race->waits[warp] |= lanes;
    for (uint32_t left = lanes; left; left &= left - 1) {
        const uint32_t thread = (uint32_t)warp * CTS_WARP_LANES + (uint32_t)__builtin_ctz(left);
        cts_race_join_thread(race, meeting->released, thread);
        race->clock[thread]++;
    }
    const bool is_complete = !((mask & cts_race_lanes_of(race, warp)) & ~meeting->arrived);
    return is_complete ? end_meeting(race, m, error) : CTS_OK;
}

enum cts_status cts_race_go_on(struct cts_race *race, uint16_t warp, uint32_t mask,
                               struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    if (__builtin_expect(!(race->waits[warp] & mask), 1)) return CTS_OK;
    for (size_t b = 0; b < CTS_RACE_BARRIERS && race->open_barriers && !status; b++)
        if (race->barriers[b].is_open && (race->barriers[b].waiting[warp] & mask))
            status = complete(race, &race->barriers[b], error);
    for (size_t m = race->meetings.count; m-- > 0 && !status;)
        if (race->meetings.items[m].warp == warp && (race->meetings.items[m].arrived & mask))
            status = end_meeting(race, m, error);
    return status;
}
