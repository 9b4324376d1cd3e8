/* Lanes for operations that only data orders: each takes the lane of an operation that it comes
 * after and that nothing follows yet, else a lane that ends early. */
#include <stdlib.h>

#include "analyze/try/try-draft.h"
#include "common/array.h"

enum { LANES_MAX = 32 };

struct lane {
    uint32_t last; /* operation; CTS_TRIAL_NONE: empty */
    uint64_t end_ns;
};

struct schedule {
    struct cts_try_draft *draft;
    struct lane lanes[LANES_MAX];
    uint32_t lane_count, most;
    uint64_t *end_ns; /* by operation */
};

static uint64_t duration_of(const struct schedule *schedule, uint32_t op)
{
    const uint64_t *const known = schedule->draft->options->duration_ns;
    return known ? known[op] : 1;
}

/* When all that an operation comes after has ended. */
static uint64_t ready_ns(const struct schedule *schedule, uint32_t op)
{
    const struct cts_try_list *const afters = &schedule->draft->entries[op].afters;
    uint64_t ready = 0;
    for (size_t i = 0; i < afters->count; i++)
        if (schedule->end_ns[afters->items[i]] > ready) ready = schedule->end_ns[afters->items[i]];
    return ready;
}

static bool comes_after(const struct cts_try_entry *entry, uint32_t op)
{
    for (size_t i = 0; i < entry->afters.count; i++)
        if (entry->afters.items[i] == op) return true;
    return false;
}

static uint32_t choose(struct schedule *schedule, uint32_t op, uint64_t ready)
{
    const struct cts_try_entry *const entry = &schedule->draft->entries[op];
    uint32_t best = 0;
    for (uint32_t i = 0; i < schedule->lane_count; i++)
        if (schedule->lanes[i].last != CTS_TRIAL_NONE &&
            comes_after(entry, schedule->lanes[i].last) && schedule->lanes[i].end_ns == ready)
            return i;
    for (uint32_t i = 1; i < schedule->lane_count; i++)
        if (schedule->lanes[i].end_ns < schedule->lanes[best].end_ns) best = i;
    const bool is_late = !schedule->lane_count || schedule->lanes[best].end_ns > ready;
    if (!is_late || schedule->lane_count == schedule->most) return best;
    schedule->lanes[schedule->lane_count] = (struct lane){CTS_TRIAL_NONE, 0};
    return schedule->lane_count++;
}

static void place(struct schedule *schedule, uint32_t op)
{
    struct cts_try_entry *const entry = &schedule->draft->entries[op];
    const uint64_t ready = ready_ns(schedule, op);
    const uint32_t lane = choose(schedule, op, ready);
    const uint64_t free_ns = schedule->lanes[lane].end_ns;
    const uint64_t start_ns = free_ns > ready ? free_ns : ready;
    entry->lane = lane;
    schedule->end_ns[op] = start_ns + duration_of(schedule, op);
    schedule->lanes[lane] = (struct lane){op, schedule->end_ns[op]};
}

static enum cts_status use_needs(struct cts_try_draft *draft, struct cts_error *error)
{
    const struct cts_try_needs *const needs = draft->options->needs;
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < draft->options->stretch->op_count; i++) {
        struct cts_try_entry *const entry = &draft->entries[i];
        entry->afters.count = 0;
        entry->gap_ns = 0;
        entry->host_waits = false;
        if (draft->options->stretch->ops[i].kind == CTS_TRIAL_WAIT) entry->is_dropped = true;
    }
    for (size_t i = 0; i < needs->count && !status; i++)
        status = cts_try_draft_add_after(&draft->entries[needs->items[i].to], needs->items[i].from,
                                         error);
    return status;
}

enum cts_status cts_try_draft_schedule(struct cts_try_draft *draft, uint32_t lane_count,
                                       struct cts_error *error)
{
    const size_t count = draft->options->stretch->op_count;
    struct schedule schedule = {.draft = draft, .most = lane_count ? lane_count : LANES_MAX};
    if (schedule.most > LANES_MAX)
        return cts_fail(error, CTS_USAGE, "--streams takes 1 to %d, not %u", LANES_MAX, lane_count);
    schedule.end_ns = cts_array_zeroed(count, sizeof *schedule.end_ns, error);
    if (!schedule.end_ns) return CTS_MEMORY;
    const enum cts_status status = use_needs(draft, error);
    for (uint32_t i = 0; i < count && !status; i++)
        if (!draft->entries[i].is_dropped) place(&schedule, i);
    draft->lane_count = schedule.lane_count;
    free(schedule.end_ns);
    return status;
}
