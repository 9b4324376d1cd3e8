/* Collectives of a warp: who meets whom, and what the result is. Nobody waits here: see
 * barrier-state.c.
 *
 * With a mask: a lane *meets* the lanes of its mask; the last one to arrive computes the results of
 * all, and all become ready. Lanes of the mask that have ended are not waited for. Lanes meet only
 * in the same kind of collective with the same mask; anything else never completes and is reported
 * as a deadlock.
 *
 * Without a mask (*loose*: __activemask, and the forms from before Volta): the hardware takes the
 * lanes that happen to execute together. Here: when no other lane of the warp can run without
 * waiting, the lanes that wait at the same call of the same kind. So __activemask() in a branch
 * gives all the lanes that took the branch, and a following collective with that mask completes.
 * A lane that skips the call in one iteration of a loop meets others in the next, though, which a
 * GPU would hardly do: from then on the log of the warp is not told who meets whom. */
#include "record/cpu/engine/worker.h"

#include <string.h>

/* ---- Results ---- */

static uint64_t combine(enum cts_wait_kind kind, uint64_t a, uint64_t b)
{
    const uint32_t x = (uint32_t)a, y = (uint32_t)b;
    switch (kind) {
    case CTS_WAIT_ADD:
        return x + y;
    case CTS_WAIT_UMIN:
        return x < y ? x : y;
    case CTS_WAIT_UMAX:
        return x > y ? x : y;
    case CTS_WAIT_MIN:
        return (int32_t)x < (int32_t)y ? x : y;
    case CTS_WAIT_MAX:
        return (int32_t)x > (int32_t)y ? x : y;
    case CTS_WAIT_AND:
        return x & y;
    case CTS_WAIT_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

/* What all lanes of a group get; in[] is indexed by lane. */
static uint64_t common_result(enum cts_wait_kind kind, uint32_t group, const uint64_t *in)
{
    uint32_t ballot = 0;
    const uint32_t first = (uint32_t)__builtin_ctz(group);
    uint64_t total = in[first];
    for (uint32_t left = group; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        ballot |= (uint32_t)(in[lane] != 0) << lane;
        if (kind >= CTS_WAIT_ADD && lane != first) total = combine(kind, total, in[lane]);
    }
    switch (kind) {
    case CTS_WAIT_ALL:
        return ballot == group;
    case CTS_WAIT_ANY:
        return ballot != 0;
    case CTS_WAIT_UNI:
        return ballot == group || ballot == 0;
    case CTS_WAIT_BALLOT:
        return ballot;
    case CTS_WAIT_ACTIVE:
        return group;
    default:
        return total;
    }
}

static uint32_t equal_lanes(uint32_t group, const uint64_t *in, uint64_t value)
{
    uint32_t equal = 0;
    for (uint32_t left = group; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        equal |= (uint32_t)(in[lane] == value) << lane;
    }
    return equal;
}

static void compute(struct cts_cta *cta, uint32_t first_lane, enum cts_wait_kind kind,
                    uint32_t group)
{
    uint64_t *const value = &cta->wait_value[first_lane];
    uint32_t *const extra = &cta->wait_extra[first_lane];
    uint64_t in[CTS_WARP_LANES];
    if (kind == CTS_WAIT_SYNC) return;
    memcpy(in, value, sizeof in);
    const uint64_t all = kind == CTS_WAIT_SHUFFLE ? 0 : common_result(kind, group, in);
    for (uint32_t left = group; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        switch (kind) {
        case CTS_WAIT_SHUFFLE: /* a source that is not among the lanes: own value */
            if (group >> extra[lane] & 1) value[lane] = in[extra[lane]];
            break;
        case CTS_WAIT_MATCH_ANY:
            value[lane] = equal_lanes(group, in, in[lane]);
            break;
        case CTS_WAIT_MATCH_ALL:
            extra[lane] = equal_lanes(group, in, in[lane]) == group;
            value[lane] = extra[lane] ? group : 0;
            break;
        default:
            value[lane] = all;
        }
    }
}

/* ---- Meeting ---- */

/* Logs of lanes: where each goes on. The one that runs has its place in the context. */
static uint64_t **log_place(struct cts_cta *cta, uint32_t lane, uint32_t running)
{
    return lane == running ? &cta->context.log : &cta->worker->log_at[lane];
}

/* Tells the merge of the logs (log.c) that lanes are together, unless that is what it heard last.
 * There is room: a lane with a full log does not come to a collective, and none goes on before it
 * has looked at its log again. */
static void log_meeting(struct cts_cta *cta, uint32_t group, uint32_t running)
{
    const uint64_t entry = (uint64_t)CTS_SLOT_MEETING << CTS_SLOT_SHIFT | group;
    bool is_new = false;
    if (!(group & (group - 1))) return;
    for (uint32_t left = group; left && !is_new; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t *const at = *log_place(cta, lane, running);
        is_new = at == cta->worker->log + lane || at[-CTS_WARP_LANES] != entry;
    }
    for (uint32_t left = is_new ? group : 0; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t **const at = log_place(cta, lane, running);
        **at = entry;
        *at += CTS_WARP_LANES;
    }
}

/* `running`: the one of the warp's lanes that runs, CTS_WARP_LANES: none. */
static void release(struct cts_cta *cta, struct cts_warp *warp, uint32_t group, uint32_t running)
{
    const uint32_t first_lane = (uint32_t)(warp - cta->warps) * CTS_WARP_LANES;
    compute(cta, first_lane, cta->wait[first_lane + (uint32_t)__builtin_ctz(group)], group);
    if (cta->logs && !warp->met_loosely) log_meeting(cta, group, running);
    warp->meeting &= ~group;
    warp->loose &= ~group;
    warp->ready |= group;
    cta->progress++;
}

bool cts_collective_try_to_meet(struct cts_cta *cta, struct cts_warp *warp, uint32_t lane)
{
    const uint32_t first_lane = lane & ~(CTS_WARP_LANES - 1u);
    const uint32_t mask = cta->wait_mask[lane];
    const uint32_t group = mask & warp->live;
    if (group & ~(warp->meeting & ~warp->loose)) return false;
    for (uint32_t left = group; left; left &= left - 1) {
        const uint32_t other = first_lane + (uint32_t)__builtin_ctz(left);
        if (cta->wait_mask[other] != mask || cta->wait[other] != cta->wait[lane]) return false;
    }
    release(cta, warp, group, cta->lane % CTS_WARP_LANES);
    return true;
}

void cts_collectives_lane_ended(struct cts_cta *cta, struct cts_warp *warp)
{
    const uint32_t first_lane = (uint32_t)(warp - cta->warps) * CTS_WARP_LANES;
    for (uint32_t left = warp->meeting & ~warp->loose; left; left &= left - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctz(left);
        if (warp->meeting >> bit & 1) cts_collective_try_to_meet(cta, warp, first_lane + bit);
    }
}

bool cts_collective_meet_loose(struct cts_cta *cta, struct cts_warp *warp)
{
    const uint32_t first_lane = (uint32_t)(warp - cta->warps) * CTS_WARP_LANES;
    const uint32_t lead = first_lane + (uint32_t)__builtin_ctz(warp->loose);
    uint32_t group = 0;
    for (uint32_t left = warp->loose; left; left &= left - 1) {
        const uint32_t bit = (uint32_t)__builtin_ctz(left);
        if (cta->wait[first_lane + bit] == cta->wait[lead] &&
            cta->wait_place[first_lane + bit] == cta->wait_place[lead])
            group |= 1u << bit;
    }
    warp->met_loosely = true;
    release(cta, warp, group, CTS_WARP_LANES);
    return warp->ready != 0;
}
