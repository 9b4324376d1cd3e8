/* Words that order others (a store behind a fence, a volatile load or an atomic that comes upon it)
 * and mbarriers, whose phases alternate. */
#include "analyze/access/race-model.h"

struct cts_race_clocks *cts_race_signal_of(struct cts_race *race, uint64_t key, bool is_made,
                                           struct cts_error *error)
{
    const uint64_t *const known = cts_map_find(&race->signals, key);
    if (known) return race->signal_clocks.items[*known - 1];
    if (!is_made) return NULL;
    if (race->signal_clocks.count == CTS_RACE_SIGNALS_MAX) {
        race->is_over = true;
        return NULL;
    }
    uint64_t *const place = cts_map_at(&race->signals, key, error);
    struct cts_race_clocks *const clocks = cts_race_new_clocks(error);
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
    struct cts_race_clocks *const signal = cts_race_signal_of(race, key, true, error);
    if (!signal) return race->is_over;
    if (race->has_fences) {
        cts_race_join(signal, race->fenced[thread]);
    } else {
        cts_race_join_thread(race, signal, thread);
        race->clock[thread]++;
    }
    return true;
}

/* What a thread did before it arrives comes before what those do that have waited for that phase;
 * the first arrival of a phase begins it, and what was known of the phase two before is over. */
enum cts_status cts_race_arrive_at_mbarrier(struct cts_race *race, uint32_t thread,
                                            uint64_t argument, struct cts_error *error)
{
    struct cts_race_clocks *const clocks =
        cts_race_signal_of(race, cts_race_mbarrier_key(argument), true, error);
    if (!clocks) return race->is_over ? CTS_OK : CTS_MEMORY;
    uint64_t *const last = cts_map_at(&race->mbarrier_phases, argument & ~CTS_MBARRIER_ODD, error);
    if (!last) return CTS_MEMORY;
    if (*last && *last != argument) cts_race_forget(clocks);
    *last = argument;
    cts_race_join_thread(race, clocks, thread);
    race->clock[thread]++;
    return CTS_OK;
}

enum cts_status cts_race_take_signals(struct cts_race *race, const struct cts_race_access *access,
                                      struct cts_error *error)
{
    const bool is_shared = access->space == CTS_SPACE_SHARED;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint32_t thread = (uint32_t)access->warp * CTS_WARP_LANES + lane;
        const uint64_t key = access->addresses[lane] / 4 << 2 | (uint64_t)is_shared;
        if (!access->is_store) {
            const struct cts_race_clocks *const signal =
                cts_race_signal_of(race, key, false, error);
            if (signal) cts_race_learn(race, thread, signal);
        }
        if ((access->is_store || access->is_atomic) && !release(race, thread, key, error))
            return CTS_MEMORY;
    }
    return CTS_OK;
}

enum cts_status cts_race_fence(struct cts_race *race, uint32_t thread, struct cts_error *error)
{
    if (!race->fenced[thread] && !(race->fenced[thread] = cts_race_new_clocks(error)))
        return CTS_MEMORY;
    cts_race_forget(race->fenced[thread]);
    cts_race_join_thread(race, race->fenced[thread], thread);
    race->fence_phase[thread] = race->phase;
    race->clock[thread]++;
    return CTS_OK;
}
