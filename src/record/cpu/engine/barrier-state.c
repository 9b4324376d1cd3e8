/* Barriers of the CTA: who has arrived, and who goes on. Nobody waits here: the scheduler (cta.c)
 * says which lanes have ended, what device code calls (barrier.c) which ones arrive.
 *
 * A barrier without a thread count (__syncthreads) is complete when every live thread has arrived;
 * threads that have ended are not waited for. A barrier with a count (bar.sync id, count) counts
 * whole warps as the hardware does: lanes of an arriving warp that have ended count as arrived. */
#include "record/cpu/engine/worker.h"

static uint32_t ended_lanes(const struct cts_cta *cta, uint32_t warp_index)
{
    return CTS_WARP_LANES - (uint32_t)__builtin_popcount(cta->warps[warp_index].live);
}

static bool is_complete(const struct cts_cta *cta, const struct cts_barrier *barrier)
{
    if (barrier->arrived == 0) return false;
    if (barrier->expected == 0) return barrier->arrived >= cta->live_count;
    return barrier->arrived + barrier->credit >= barrier->expected;
}

/* Wakes who waits; they run in the next sweep. */
static void complete(struct cts_cta *cta, struct cts_barrier *barrier)
{
    for (uint32_t left = barrier->warps; left; left &= left - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(left);
        struct cts_warp *const warp = &cta->warps[i];
        warp->blocked &= ~barrier->waiting[i];
        warp->woken |= barrier->waiting[i];
        cta->woken_count += (uint32_t)__builtin_popcount(barrier->waiting[i]);
        barrier->waiting[i] = barrier->counted[i] = 0;
    }
    barrier->result_arrived = barrier->arrived;
    barrier->result_true_count = barrier->true_count;
    barrier->arrived = barrier->expected = barrier->credit = barrier->warps = 0;
    barrier->true_count = 0;
    cta->barriers &= ~(1u << (barrier - cta->barrier));
    cta->progress++;
}

void cts_barriers_lane_ended(struct cts_cta *cta, uint32_t warp_index)
{
    const uint32_t bit = 1u << cta->lane % CTS_WARP_LANES;
    for (uint32_t left = cta->barriers; left; left &= left - 1) {
        struct cts_barrier *const barrier = &cta->barrier[__builtin_ctz(left)];
        const bool is_counted = barrier->counted[warp_index] & bit; /* by bar.arrive */
        if (barrier->expected && (barrier->warps >> warp_index & 1) && !is_counted)
            barrier->credit++;
        if (cta->live_count && is_complete(cta, barrier)) complete(cta, barrier);
    }
}

/* The running lane arrives. */
static inline struct cts_barrier *arrive(struct cts_cta *cta, uint32_t id, uint32_t threads,
                                         bool predicate, bool waits)
{
    if (!cta->fibers)
        cts_raise(cta, CTS_FAULT_BARRIER, "a barrier in a kernel compiled without one");
    if (id >= CTS_CTA_BARRIERS)
        cts_raise(cta, CTS_FAULT_BARRIER, "barrier %u does not exist: a CTA has %d", id,
                  CTS_CTA_BARRIERS);
    if (threads % CTS_WARP_LANES || threads > CTS_CTA_THREADS_MAX)
        cts_raise(cta, CTS_FAULT_BARRIER,
                  "barrier %u for %u threads: the number must be a multiple of 32, at most %d", id,
                  threads, CTS_CTA_THREADS_MAX);
    struct cts_barrier *const barrier = &cta->barrier[id];
    const uint32_t warp_index = cta->lane / CTS_WARP_LANES;
    const uint32_t bit = 1u << cta->lane % CTS_WARP_LANES;
    cta->barriers |= 1u << id;
    barrier->expected = threads;
    barrier->arrived++;
    barrier->counted[warp_index] |= bit;
    barrier->true_count += predicate;
    if (!(barrier->warps >> warp_index & 1)) {
        barrier->warps |= 1u << warp_index;
        barrier->credit += ended_lanes(cta, warp_index);
    }
    if (waits) {
        barrier->waiting[warp_index] |= bit;
        cta->warp->blocked |= bit;
        cta->wait[cta->lane] = CTS_WAIT_BARRIER;
        cta->wait_mask[cta->lane] = id;
    }
    if (is_complete(cta, barrier)) complete(cta, barrier);
    return barrier;
}

struct cts_barrier *cts_barrier_arrive(struct cts_cta *cta, uint32_t id, uint32_t threads,
                                       bool predicate, bool waits)
{
    return arrive(cta, id, threads, predicate, waits);
}

void cts_barrier_arrive_at_0(struct cts_cta *cta)
{
    arrive(cta, 0, 0, false, true);
}
