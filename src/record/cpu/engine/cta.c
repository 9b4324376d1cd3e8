/* A CTA whose threads may wait for each other: each lane that waits is a fiber.
 *
 * Order. A *sweep* goes through the warps; a warp runs until none of its lanes is ready, lowest
 * lane first. A lane that stops switches straight to the next ready lane of its warp, or home, to
 * cts_cta_run(), when there is none. Barriers of the CTA release their lanes for the next sweep; a
 * lane that lets the others catch up waits for it, too.
 *
 * Lazy fibers. A lane that never waits needs no stack of its own. A *runner* is a fiber that calls
 * lane after lane as plain functions; when a lane waits in the middle of such a call, the runner's
 * stack is that lane's from then on, and a new runner on a fresh stack goes on with the next lane
 * that has not started.
 *
 * The log. One buffer of the worker serves the warp that runs; when a warp is left its log is
 * empty. A lane whose log is full stops until the others are full or stopped too and a merge has
 * made room. */
#include "record/cpu/engine/worker.h"

#include <stdlib.h>
#include <string.h>

enum {
    WARP_ROUNDS = 16,          /* turns of a warp whose lanes only yield, before the next warp's */
    IDLE_SWEEPS = 64,          /* sweeps without progress until a CTA counts as spinning */
    PATIENT_SWEEPS = 2,        /* the same, once it has been found to spin */
    CATCHING_SWEEPS = 1 << 16, /* without a barrier, until all lanes that catch up go on */
};

CTS_EXPORT __thread struct cts_thread_context *__cts_current;

/* ---- Lanes ---- */

/* Makes `lane` the one that runs. */
static inline void load_lane(struct cts_cta *cta, struct cts_worker *worker, uint32_t lane)
{
    const uint64_t position = worker->threads[lane];
    cta->lane = lane;
    cta->context.tid[0] = (uint16_t)position;
    cta->context.tid[1] = (uint16_t)(position >> 16);
    cta->context.tid[2] = (uint32_t)(position >> 32);
    cta->context.log = worker->log_at[lane % CTS_WARP_LANES];
}

static inline uint32_t take_ready(const struct cts_cta *cta, struct cts_warp *warp)
{
    const uint32_t bit = (uint32_t)__builtin_ctz(warp->ready);
    warp->ready &= warp->ready - 1;
    return (uint32_t)(warp - cta->warps) * CTS_WARP_LANES + bit;
}

/* The frames of a CTA's fibers are more than the first cache holds: the lane after the next one
 * will need these lines of its stack. */
static inline void prefetch_next(const struct cts_cta *cta, const struct cts_warp *warp)
{
    if (!warp->ready) return;
    const char *const sp = cta->sp[(uint32_t)(warp - cta->warps) * CTS_WARP_LANES +
                                   (uint32_t)__builtin_ctz(warp->ready)];
    for (int line = 0; sp && line < 5; line++) __builtin_prefetch(sp + line * 64);
}

static void run_lanes(void *argument);

/* The stack pointer of a lane that is to run; one that has not started gets a new runner. */
static inline void *wake_lane(struct cts_cta *cta, struct cts_worker *worker, uint32_t lane)
{
    if (cta->sp[lane]) return cta->sp[lane];
    struct cts_stack *const stack = cts_stacks_take(&worker->stacks);
    if (!stack) return NULL;
    cta->stack[lane] = stack;
    return cts_fiber_new(stack, run_lanes, worker);
}

static void no_memory(struct cts_cta *cta)
{
    cts_fault_set(cta, cta->lane, CTS_FAULT_MEMORY, "no memory for the stack of a thread");
}

/* Whom a lane that waits leaves the worker to; no one (sp is NULL) if it is the next itself, as the
 * last to arrive may be when a full log has changed the order. */
struct turn {
    void *sp;
    struct cts_stack *stack;
};

static inline struct turn next_turn(struct cts_cta *cta)
{
    struct cts_worker *const worker = cta->worker;
    struct cts_warp *const warp = cta->warp;
    worker->log_at[cta->lane % CTS_WARP_LANES] = cta->context.log;
    if (!warp->ready) return (struct turn){worker->home_sp, &worker->home};
    const uint32_t next = take_ready(cta, warp);
    if (next == cta->lane) return (struct turn){NULL, NULL};
    prefetch_next(cta, warp);
    void *const to = wake_lane(cta, worker, next);
    if (!to) {
        no_memory(cta);
        cts_fiber_leave(worker->home_sp, &worker->home);
    }
    load_lane(cta, worker, next);
    return (struct turn){to, cta->stack[next]};
}

void cts_lane_wait(struct cts_cta *cta)
{
    void **const save = &cta->sp[cta->lane];
    const struct turn turn = next_turn(cta);
    if (turn.sp) cts_fiber_switch(save, turn.sp, turn.stack);
}

void cts_lane_wait_last(struct cts_cta *cta)
{
    void **const save = &cta->sp[cta->lane];
    const struct turn turn = next_turn(cta);
    if (turn.sp) cts_fiber_switch_last(save, turn.sp, turn.stack);
}

/* The running lane is over: what waits for it must know. */
static inline __attribute__((always_inline)) void end_lane(struct cts_cta *cta)
{
    struct cts_warp *const warp = cta->warp;
    cta->worker->log_at[cta->lane % CTS_WARP_LANES] = cta->context.log;
    warp->live &= ~(1u << cta->lane % CTS_WARP_LANES);
    cta->live_count--;
    cta->progress++;
    if (cta->barriers) cts_barriers_lane_ended(cta, cta->lane / CTS_WARP_LANES);
    if (warp->meeting) cts_collectives_lane_ended(cta, warp);
}

/* Leaves a lane that is over, and its stack. The next lane, if one is ready, has started. */
static _Noreturn void leave_lane(struct cts_cta *cta)
{
    struct cts_worker *const worker = cta->worker;
    struct cts_warp *const warp = cta->warp;
    cts_stacks_give(&worker->stacks, cta->stack[cta->lane]);
    if (!warp->ready) cts_fiber_leave(worker->home_sp, &worker->home);
    const uint32_t next = take_ready(cta, warp);
    load_lane(cta, worker, next);
    cts_fiber_leave(cta->sp[next], cta->stack[next]);
}

/* A runner. */
static void run_lanes(void *argument)
{
    struct cts_worker *const worker = argument;
    struct cts_cta *const cta = cts_cta_current();
    struct cts_warp *const warp = cta->warp; /* the lanes of one warp */
    void **const args = cta->launch->request->args;
    void (*const entry)(void **, struct cts_thread_context *) = cta->entry;
    cts_fiber_entered();
    for (;;) {
        entry(args, &cta->context);
        end_lane(cta);
        if (!warp->ready) break;
        const uint32_t next =
            (uint32_t)(warp - cta->warps) * CTS_WARP_LANES + (uint32_t)__builtin_ctz(warp->ready);
        if (cta->sp[next]) break;
        warp->ready &= warp->ready - 1;
        cta->stack[next] = cta->stack[cta->lane];
        load_lane(cta, worker, next);
    }
    leave_lane(cta);
}

_Noreturn void cts_lane_exit(struct cts_cta *cta)
{
    end_lane(cta);
    struct cts_warp *const warp = cta->warp;
    /* A new runner must not be built on the stack that this very function still uses. */
    if (!warp->ready || cta->sp[(uint32_t)(warp - cta->warps) * CTS_WARP_LANES +
                                (uint32_t)__builtin_ctz(warp->ready)])
        leave_lane(cta);
    struct cts_worker *const worker = cta->worker;
    struct cts_stack *const mine = cta->stack[cta->lane];
    const uint32_t next = take_ready(cta, warp);
    void *const to = wake_lane(cta, worker, next);
    if (!to) {
        no_memory(cta);
        cts_fiber_leave(worker->home_sp, &worker->home);
    }
    cts_stacks_give(&worker->stacks, mine);
    load_lane(cta, worker, next);
    cts_fiber_leave(to, cta->stack[next]);
}

CTS_EXPORT void __cts_yield(struct cts_thread_context *context)
{
    struct cts_cta *const cta = (struct cts_cta *)context;
    if (!cta->fibers) return;
    cta->warp->yielded |= 1u << cta->lane % CTS_WARP_LANES;
    cta->wait[cta->lane] = CTS_WAIT_YIELD;
    cts_lane_wait(cta);
}

CTS_EXPORT void __cts_catch_up(struct cts_thread_context *context, uint32_t place)
{
    struct cts_cta *const cta = (struct cts_cta *)context;
    if (!cta->fibers) return;
    cta->warp->catching |= 1u << cta->lane % CTS_WARP_LANES;
    cta->catching_count++;
    cta->wait[cta->lane] = CTS_WAIT_CATCH_UP;
    cta->wait_mask[cta->lane] = place;
    cts_lane_wait(cta);
}

CTS_EXPORT void __cts_log_full(struct cts_thread_context *context)
{
    struct cts_cta *const cta = (struct cts_cta *)context;
    cta->warp->full |= 1u << cta->lane % CTS_WARP_LANES;
    cts_lane_wait(cta);
}

/* ---- The log of the warp that runs ---- */

static void start_log(struct cts_worker *worker)
{
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
        worker->log_at[lane] = worker->log + lane;
}

/* Merges the log of a warp of which no lane is ready. `leaving`: everything must go. Lanes whose
 * log was full become ready when there is room again. */
static void merge_log(struct cts_cta *cta, struct cts_warp *warp, bool leaving)
{
    struct cts_worker *const worker = cta->worker;
    const uint32_t warp_index = (uint32_t)(warp - cta->warps);
    uint32_t counts[CTS_WARP_LANES], any = 0;
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        counts[lane] = (uint32_t)(worker->log_at[lane] - (worker->log + lane)) / CTS_WARP_LANES;
        any |= counts[lane];
    }
    if (!any) return;
    const bool going_on = warp->live & ~(warp->blocked | warp->woken);
    struct cts_log_merge merge = {
        .stream = cta->records ? worker->stream : NULL,
        .log = worker->log,
        .row_count = counts,
        .live = going_on ? warp->live : 0,
        .open = leaving ? 0 : (warp->full | warp->yielded),
        .warp = (uint16_t)warp_index,
        .shared_base = (uint64_t)(uintptr_t)cta->context.shared,
        .shared_bytes = cta->launch->shared_bytes,
        .stacks = &cta->stack[warp_index * CTS_WARP_LANES],
    };
    if (cta->records) cts_worker_begin_records(worker, cta->index);
    cts_log_merge(&merge, &warp->log_state);
    if (cta->records) worker->invalid_count += merge.invalid_count;
    if (!going_on && leaving) cts_log_state_reset(&warp->log_state);
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        worker->log_at[lane] = worker->log + (size_t)counts[lane] * CTS_WARP_LANES + lane;
        if ((warp->full >> lane & 1) && counts[lane] <= CTS_LOG_ROWS / 2) {
            warp->full &= ~(1u << lane);
            warp->ready |= 1u << lane;
        }
    }
}

/* ---- Warps and sweeps ---- */

/* Runs ready lanes until none is, or a fault. */
static bool run_ready(struct cts_cta *cta, struct cts_warp *warp)
{
    struct cts_worker *const worker = cta->worker;
    cta->warp = warp;
    const uint32_t lane = take_ready(cta, warp);
    void *const to = wake_lane(cta, worker, lane);
    cta->lane = lane;
    if (!to) {
        cta->stack[lane] = NULL;
        no_memory(cta);
        return false;
    }
    load_lane(cta, worker, lane);
    worker->in_device = true;
    cts_fiber_switch(&worker->home_sp, to, cta->stack[lane]);
    worker->in_device = false;
    return worker->fault.kind == CTS_FAULT_NONE;
}

/* A warp's part of a sweep. */
static bool run_warp(struct cts_cta *cta, struct cts_warp *warp)
{
    uint32_t rounds = 0;
    if (cta->logs) start_log(cta->worker);
    for (;;) {
        if (warp->ready && !run_ready(cta, warp)) return false;
        if (warp->ready) continue;
        if (warp->full) merge_log(cta, warp, false);
        if (warp->full && !warp->ready && !warp->yielded) merge_log(cta, warp, true);
        if (warp->ready) continue;
        if (warp->loose && cts_collective_meet_loose(cta, warp)) continue;
        if (!warp->yielded || ++rounds > WARP_ROUNDS) break;
        warp->ready = warp->yielded;
        warp->yielded = 0;
    }
    if (cta->logs) merge_log(cta, warp, true);
    return true;
}

/* Of lanes that let others catch up, those go on that have least of the program behind them: lanes
 * that took a branch come to the place behind it before any lane leaves that place. */
static void wake_last(struct cts_cta *cta, struct cts_warp *warp, bool all)
{
    const uint32_t first_lane = (uint32_t)(warp - cta->warps) * CTS_WARP_LANES;
    uint32_t last = UINT32_MAX, chosen = 0;
    for (uint32_t left = warp->catching; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint32_t place = all ? 0 : cta->wait_mask[first_lane + lane];
        if (place > last) continue;
        chosen = place < last ? 1u << lane : chosen | 1u << lane;
        last = place;
    }
    warp->catching &= ~chosen;
    warp->ready |= chosen;
    cta->catching_count -= (uint32_t)__builtin_popcount(chosen);
}

static void wake_catching(struct cts_cta *cta)
{
    /* Whoever is last may wait for those before it, in a loop. */
    const bool all = ++cta->catching_sweeps > CATCHING_SWEEPS;
    if (all) cta->catching_sweeps = 0;
    for (uint32_t i = 0; i < cta->launch->warp_count; i++)
        if (cta->warps[i].catching) wake_last(cta, &cta->warps[i], all);
}

static void wake_from_barriers(struct cts_cta *cta)
{
    for (uint32_t i = 0; i < cta->launch->warp_count; i++) {
        cta->warps[i].ready |= cta->warps[i].woken;
        cta->warps[i].woken = 0;
    }
    cta->woken_count = 0;
    cta->catching_sweeps = 0;
}

/* The end of a sweep: whether the CTA can go on at once, else *outcome. */
static bool end_sweep(struct cts_cta *cta, bool ran, enum cts_cta_outcome *outcome)
{
    if (cta->live_count == 0) {
        *outcome = CTS_CTA_DONE;
        return false;
    }
    if (cta->woken_count | cta->catching_count) {
        if (cta->catching_count) wake_catching(cta);
        if (cta->woken_count) wake_from_barriers(cta);
        return true;
    }
    if (ran) return true;
    if (cta->grid_count == cta->live_count) {
        *outcome = CTS_CTA_GRID;
        return false;
    }
    cts_fault_stuck(cta);
    *outcome = CTS_CTA_FAULT;
    return false;
}

/* One sweep; false after a fault. *ran: somebody could run. */
static bool sweep(struct cts_cta *cta, bool *ran)
{
    *ran = false;
    for (uint32_t i = 0; i < cta->launch->warp_count; i++) {
        struct cts_warp *const warp = &cta->warps[i];
        if (!(warp->ready | warp->yielded | warp->full | warp->loose)) continue;
        *ran = true;
        warp->ready |= warp->yielded;
        warp->yielded = 0;
        if (!run_warp(cta, warp)) return false;
    }
    return true;
}

enum cts_cta_outcome cts_cta_run(struct cts_cta *cta)
{
    enum cts_cta_outcome outcome = CTS_CTA_DONE;
    __cts_current = &cta->context;
    for (;;) {
        const uint64_t progress = cta->progress;
        bool ran;
        if (!sweep(cta, &ran)) return CTS_CTA_FAULT;
        if (!end_sweep(cta, ran, &outcome)) return outcome;
        if (cts_grid_stopped(cta->launch)) return CTS_CTA_STOPPED;
        if (cta->progress != progress) {
            cta->idle_sweeps = 0;
            cta->patient = false;
        } else if (++cta->idle_sweeps > (cta->patient ? PATIENT_SWEEPS : IDLE_SWEEPS)) {
            cta->idle_sweeps = 0;
            cta->patient = true;
            return CTS_CTA_SPINNING;
        }
    }
}

/* ---- Making and freeing ---- */

void cts_cta_fill_context(struct cts_cta *cta, struct cts_grid *launch, char *window)
{
    struct cts_thread_context *const context = &cta->context;
    const struct cts_launch_request *const request = launch->request;
    for (int i = 0; i < 3; i++) {
        context->tid[i] = 0;
        context->ntid[i] = request->block[i];
        context->nctaid[i] = request->grid[i];
    }
    context->shared = window;
    context->shared_dynamic = window + launch->static_shared_bytes;
    context->dynamic_shared_bytes = request->dynamic_shared_bytes;
    context->log = context->log_end = NULL;
    context->recording = 0;
}

static struct cts_cta *take_cta(struct cts_worker *worker)
{
    struct cts_cta *cta = worker->free_ctas;
    if (cta)
        worker->free_ctas = cta->next;
    else
        cta = calloc(1, sizeof *cta);
    if (cta) cta->worker = worker;
    return cta;
}

static void start_warps(struct cts_cta *cta, const struct cts_grid *launch)
{
    cta->live_count = launch->thread_count;
    cta->woken_count = cta->grid_count = cta->catching_count = cta->catching_sweeps = 0;
    for (uint32_t i = 0; i < launch->warp_count; i++) {
        struct cts_warp *const warp = &cta->warps[i];
        const uint32_t lanes = launch->thread_count - i * CTS_WARP_LANES;
        warp->live = lanes >= CTS_WARP_LANES ? UINT32_MAX : (1u << lanes) - 1;
        warp->ready = warp->live;
        warp->yielded = warp->full = warp->blocked = warp->woken = warp->catching = 0;
        warp->meeting = warp->loose = 0;
        warp->met_loosely = false;
        cts_log_state_reset(&warp->log_state);
    }
    memset(cta->sp, 0, launch->thread_count * sizeof cta->sp[0]);
    if (cta->barriers) memset(cta->barrier, 0, sizeof cta->barrier);
    cta->barriers = 0;
}

struct cts_cta *cts_cta_new(struct cts_worker *worker, struct cts_grid *launch, uint64_t place)
{
    const uint64_t index = cts_grid_cta_at(launch, place);
    struct cts_cta *const cta = take_cta(worker);
    if (!cta) return NULL;
    char *const window =
        cts_window_get(&cta->window, launch->shared_bytes, launch->shared_align_bytes);
    if (!window) {
        cta->next = worker->free_ctas;
        worker->free_ctas = cta;
        return NULL;
    }
    const struct cts_kernel_desc *const kernel = launch->request->kernel;
    cta->launch = launch;
    cta->index = index;
    cta->fibers = true;
    cta->logs = launch->log && cts_grid_instruments_cta(launch, index);
    cta->records = cta->logs && cts_grid_records_cta(launch, index);
    cta->entry = cta->logs ? kernel->thread_rec : kernel->thread;
    cts_cta_fill_context(cta, launch, window);
    cts_grid_cta_position(launch, index, cta->context.ctaid);
    if (cta->logs) {
        cta->context.log_end = worker->log + (size_t)CTS_LOG_ROWS * CTS_WARP_LANES;
        cta->context.recording = 1;
    }
    cta->grid_arrived = cta->patient = false;
    cta->idle_sweeps = 0;
    start_warps(cta, launch);
    return cta;
}

void cts_cta_free(struct cts_cta *cta)
{
    struct cts_worker *const worker = cta->worker;
    if (cta->live_count) /* abandoned: stacks of lanes that wait, and of the one that ran last */
        for (uint32_t i = 0; i < cta->launch->thread_count; i++)
            if ((cta->warps[i / CTS_WARP_LANES].live >> i % CTS_WARP_LANES & 1) &&
                (cta->sp[i] || (i == cta->lane && cta->stack[i])))
                cts_stacks_give(&worker->stacks, cta->stack[i]);
    cta->next = worker->free_ctas;
    worker->free_ctas = cta;
}
