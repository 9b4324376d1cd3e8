/* The CTAs with fibers that a worker has alive at a time.
 *
 * Mostly that is one: it runs to its end, then the next. When a CTA can only wait for other CTAs
 * (all its threads are at a barrier of the grid, or it only spins), the worker takes further CTAs
 * of the launch and runs them in turn, twice as many each time, so that in the end all CTAs that a
 * GPU could have resident are alive and whoever is waited for gets to run. Cooperative launches
 * rely on it, and a lock held by a CTA that has not started cannot stop the others for ever.
 *
 * When nobody has anything to do but spin for longer than the limit, the launch is a deadlock. */
#include "record/cpu/engine/worker.h"

#include <sched.h>
#include <time.h>

#include "common/clock.h"

enum {
    SM_THREADS = 2048,       /* that an SM holds; sets what may be alive in a normal launch */
    SHARE_WAIT_NS = 2000000, /* how long a cooperative launch's CTAs wait for a free worker */
};

struct host {
    struct cts_worker *worker;
    struct cts_grid *launch;
    struct cts_cta *first, **end; /* those alive, in the order in which they take turns */
    uint32_t alive_count;
    uint64_t next, left; /* CTAs that were taken but not started */
    bool exhausted;      /* the launch has no more */
    uint64_t started_count, begin_ns;
    uint64_t idle_since_ns;
    uint64_t idle_progress;
};

/* ---- Barriers of the grid ---- */

/* Under the launch's lock: lets everybody go on when all CTAs that are left have arrived. */
static void check_grid(struct cts_grid *launch)
{
    if (launch->grid_arrived == 0 || launch->grid_arrived + launch->finished < launch->cta_count)
        return;
    launch->grid_arrived = 0;
    atomic_fetch_add(&launch->grid_generation, 1);
    atomic_fetch_add(&launch->progress, 1);
    pthread_cond_broadcast(&launch->grid_changed);
}

static void cts_grid_arrive(struct cts_cta *cta)
{
    struct cts_grid *const launch = cta->launch;
    pthread_mutex_lock(&launch->lock);
    cta->grid_arrived = true;
    cta->grid_generation = atomic_load(&launch->grid_generation);
    launch->grid_arrived++;
    check_grid(launch);
    pthread_mutex_unlock(&launch->lock);
}

static void finish(struct cts_grid *launch)
{
    if (!launch->request->cooperative) {
        atomic_fetch_add_explicit(&launch->progress, 1, memory_order_relaxed);
        return;
    }
    pthread_mutex_lock(&launch->lock);
    launch->finished++;
    check_grid(launch);
    pthread_mutex_unlock(&launch->lock);
}

/* Whether a CTA that waits for the grid may go on; makes it ready then. */
static bool leave_grid(struct cts_cta *cta)
{
    if (atomic_load(&cta->launch->grid_generation) == cta->grid_generation) return false;
    for (uint32_t i = 0; i < cta->launch->warp_count; i++) {
        cta->warps[i].ready |= cta->warps[i].blocked;
        cta->warps[i].blocked = 0;
    }
    cta->grid_arrived = false;
    cta->grid_count = 0;
    cta->progress++;
    return true;
}

/* ---- CTAs ---- */

static void append(struct host *host, struct cts_cta *cta)
{
    cta->next = NULL;
    *host->end = cta;
    host->end = &cta->next;
}

static struct cts_cta *take_first(struct host *host)
{
    struct cts_cta *const cta = host->first;
    host->first = cta->next;
    if (!host->first) host->end = &host->first;
    return cta;
}

/* Whether another CTA may be alive: as many threads as the SMs would hold. */
static bool has_room(const struct host *host)
{
    const struct cts_grid *const launch = host->launch;
    if (host->alive_count == 0 || launch->request->cooperative) return true;
    return atomic_load(&launch->hosted_threads) + launch->thread_count <=
           (uint64_t)cts_engine_sm_count() * SM_THREADS;
}

/* All CTAs of a cooperative launch stay where they start: at first a worker takes its share only,
 * so that the others, which may not be awake yet, get theirs. */
static bool has_its_share(const struct host *host)
{
    const struct cts_grid *const launch = host->launch;
    const uint64_t workers = launch->worker_count;
    return launch->request->cooperative &&
           host->started_count >= (launch->cta_count + workers - 1) / workers &&
           cts_clock_ns() - host->begin_ns < SHARE_WAIT_NS;
}

/* Makes one more CTA alive; false: there is none, or no room. */
static bool start_one(struct host *host)
{
    struct cts_grid *const launch = host->launch;
    if (host->exhausted || !has_room(host) || has_its_share(host)) return false;
    if (host->left == 0) {
        /* Beside others one by one: what is taken must be run, and others may be free. */
        host->left = cts_grid_take(launch, host->alive_count ? 1 : UINT64_MAX, &host->next);
        host->exhausted = host->left == 0;
        if (host->exhausted) return false;
    }
    struct cts_cta *const cta = cts_cta_new(host->worker, launch, host->next);
    if (!cta) {
        struct cts_cta *const any = host->worker->straight_cta;
        any->worker = host->worker;
        cts_grid_cta_position(launch, cts_grid_cta_at(launch, host->next), any->context.ctaid);
        cts_fault_set(any, UINT32_MAX, CTS_FAULT_MEMORY, "no memory for a CTA");
        return false;
    }
    host->next++;
    host->left--;
    host->started_count++;
    host->alive_count++;
    atomic_fetch_add_explicit(&launch->hosted_threads, launch->thread_count, memory_order_relaxed);
    append(host, cta);
    return true;
}

static void drop(struct host *host, struct cts_cta *cta)
{
    host->alive_count--;
    atomic_fetch_sub_explicit(&host->launch->hosted_threads, host->launch->thread_count,
                              memory_order_relaxed);
    cts_cta_free(cta);
}

/* A turn of every CTA that is alive; whether anyone got on. */
static bool run_turns(struct host *host)
{
    bool progress = false;
    for (uint32_t turns = host->alive_count; turns > 0; turns--) {
        struct cts_cta *const cta = take_first(host);
        if (cta->grid_arrived && !leave_grid(cta)) {
            append(host, cta);
            continue;
        }
        const uint64_t before = cta->progress;
        const enum cts_cta_outcome outcome = cts_cta_run(cta);
        progress |= cta->progress != before;
        if (outcome == CTS_CTA_DONE) {
            drop(host, cta);
            finish(host->launch);
            continue;
        }
        if (outcome == CTS_CTA_GRID) {
            cts_grid_arrive(cta);
            progress = true;
        }
        append(host, cta);
        if (outcome == CTS_CTA_FAULT || outcome == CTS_CTA_STOPPED) break;
    }
    return progress;
}

/* ---- Waiting ---- */

static bool all_wait_for_grid(const struct host *host)
{
    for (const struct cts_cta *cta = host->first; cta; cta = cta->next)
        if (!cta->grid_arrived ||
            cta->grid_generation != atomic_load(&host->launch->grid_generation))
            return false;
    return true;
}

static void wait_for_grid(struct host *host)
{
    struct cts_grid *const launch = host->launch;
    pthread_mutex_lock(&launch->lock);
    if (all_wait_for_grid(host) && !cts_grid_stopped(launch)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += host->exhausted ? 100000000 : SHARE_WAIT_NS / 4;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&launch->grid_changed, &launch->lock, &until);
    }
    pthread_mutex_unlock(&launch->lock);
}

/* Nothing to do but to wait for another worker or the host program. */
static void wait_idle(struct host *host)
{
    struct cts_grid *const launch = host->launch;
    const uint64_t progress = atomic_load(&launch->progress);
    if (host->idle_since_ns == 0 || progress != host->idle_progress) {
        if (host->idle_since_ns == 0) atomic_fetch_add(&launch->idle, 1);
        host->idle_since_ns = cts_clock_ns();
        host->idle_progress = progress;
    }
    if (all_wait_for_grid(host))
        wait_for_grid(host);
    else
        sched_yield();
    if (atomic_load(&launch->idle) < atomic_load(&launch->participants)) {
        host->idle_since_ns = cts_clock_ns();
        return;
    }
    if (cts_clock_ns() - host->idle_since_ns < cts_engine_limits.spin_limit_ns) return;
    cts_fault_set(host->first, UINT32_MAX, CTS_FAULT_DEADLOCK,
                  "the launch has made no progress for %llu s: its threads spin on a condition "
                  "that no other thread of the launch fulfils",
                  (unsigned long long)(cts_engine_limits.spin_limit_ns / 1000000000u));
}

static void end_idle(struct host *host)
{
    if (host->idle_since_ns == 0) return;
    host->idle_since_ns = 0;
    atomic_fetch_sub(&host->launch->idle, 1);
    atomic_fetch_add(&host->launch->progress, 1);
}

/* More CTAs when those alive can only wait; false: there are none. */
static bool start_more(struct host *host)
{
    bool any = false;
    for (uint32_t more = host->alive_count ? host->alive_count : 1; more > 0; more--) {
        if (!start_one(host)) break;
        any = true;
    }
    return any;
}

void cts_host_run(struct cts_worker *worker, struct cts_grid *launch)
{
    struct host host = {.worker = worker, .launch = launch, .begin_ns = cts_clock_ns()};
    host.end = &host.first;
    while (worker->fault.kind == CTS_FAULT_NONE && !cts_grid_stopped(launch)) {
        if (host.alive_count == 0 && !start_one(&host)) break;
        if (run_turns(&host))
            end_idle(&host);
        else if (worker->fault.kind == CTS_FAULT_NONE && !start_more(&host))
            wait_idle(&host);
        else
            end_idle(&host);
        /* A CTA that waits for the grid needs the rest of the grid alive. */
        if (host.alive_count && all_wait_for_grid(&host)) start_more(&host);
    }
    end_idle(&host);
    cts_worker_end_records(worker);
    while (host.first) drop(&host, take_first(&host));
}
