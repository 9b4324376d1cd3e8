/* What device code calls at barriers of the CTA and of the grid. */
#include "record/cpu/engine/worker.h"

#include "record/instrument/nvvm-abi.h"

/* A barrier without a result. */
static inline void meet(struct cts_cta *cta, uint32_t id, uint32_t threads)
{
    cts_barrier_arrive(cta, id, threads, false, true);
    cts_lane_wait_last(cta);
}

static const struct cts_barrier *meet_with(uint32_t predicate)
{
    struct cts_cta *const cta = cts_cta_current();
    const struct cts_barrier *const barrier = cts_barrier_arrive(cta, 0, 0, predicate != 0, true);
    cts_lane_wait(cta);
    return barrier;
}

CTS_EXPORT void __cts_nvvm_barrier0(void)
{
    struct cts_cta *const cta = cts_cta_current();
    cts_barrier_arrive_at_0(cta);
    cts_lane_wait_last(cta);
}

CTS_EXPORT uint32_t __cts_nvvm_barrier0_popc(uint32_t predicate)
{
    return meet_with(predicate)->result_true_count;
}

CTS_EXPORT uint32_t __cts_nvvm_barrier0_and(uint32_t predicate)
{
    const struct cts_barrier *const barrier = meet_with(predicate);
    return barrier->result_true_count == barrier->result_arrived;
}

CTS_EXPORT uint32_t __cts_nvvm_barrier0_or(uint32_t predicate)
{
    return meet_with(predicate)->result_true_count != 0;
}

CTS_EXPORT void __cts_nvvm_barrier_n(uint32_t barrier)
{
    meet(cts_cta_current(), barrier, 0);
}

CTS_EXPORT void __cts_nvvm_barrier(uint32_t barrier, uint32_t threads)
{
    meet(cts_cta_current(), barrier, threads);
}

CTS_EXPORT void __cts_nvvm_bar_sync(uint32_t barrier)
{
    meet(cts_cta_current(), barrier, 0);
}

CTS_EXPORT void __cts_nvvm_barrier_sync(uint32_t barrier)
{
    meet(cts_cta_current(), barrier, 0);
}

CTS_EXPORT void __cts_nvvm_barrier_sync_cnt(uint32_t barrier, uint32_t threads)
{
    meet(cts_cta_current(), barrier, threads);
}

CTS_EXPORT void __cts_nvvm_barrier_arrive_cnt(uint32_t barrier, uint32_t threads)
{
    cts_barrier_arrive(cts_cta_current(), barrier, threads, false, false);
}

CTS_EXPORT void __cts_grid_sync(void)
{
    struct cts_cta *const cta = cts_cta_current();
    if (!cta->launch->request->cooperative || !cta->fibers)
        cts_raise(cta, CTS_FAULT_BARRIER, "a grid barrier in a launch that is not cooperative");
    cta->warp->blocked |= 1u << cta->lane % CTS_WARP_LANES;
    cta->wait[cta->lane] = CTS_WAIT_GRID;
    cta->grid_count++;
    cts_lane_wait_last(cta);
}
