/* The threads that empty bins. Each has its bins, a batch and a stream of the collector.
 *
 * A bin is emptied when a quarter of it is waiting (seen by a look at the slot there), or when
 * something has been waiting for a while: large batches make large pieces of CTAs, and those are
 * stored best. Orders to all threads (drain, a changed list of bins, the end) are one number, which
 * each thread answers when it has done what was asked.
 *
 * Deliveries are another number. Whoever asks for one cannot wait until a thread has slept enough,
 * so it does the work of those that sleep: what a thread has is under its lock, which it holds
 * while it works. Those that are at work see the number when they look at their bins again. */
#include "consumer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "batch.h"
#include "common/array.h"
#include "common/clock.h"
#include "common/parallel.h"
#include "common/promise.h"

enum {
    THREADS_MAX = 64,
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000,
    WAIT_MAX_NS = 2 * NS_PER_MS, /* a record waits no longer for others */
    PAUSE_NS = 50000,            /* when there is nothing to do */
    QUIET_NS = 100 * NS_PER_MS,  /* then what the stream holds is written */
    GAP_MAX_NS = 5 * NS_PER_MS,  /* a delivery waits so long for slots that are reserved */
    WARPS_MAX = 64,              /* of a multiprocessor */
};

struct consumer {
    struct cts_ring_consumers *all;
    uint32_t index;
    pthread_t thread;
    pthread_mutex_t working; /* the next four */
    struct cts_batch batch;
    struct cts_ring_source *sources; /* own bins; changed by the thread itself */
    size_t source_count, source_capacity;
    uint64_t busy_ns;
    uint64_t order_seen;
    atomic_uint_fast64_t order_done, delivery_done;
    atomic_uint_fast64_t delivery_failed; /* the last one that did not get everything */
};

struct ring_entry {
    struct cts_ring_bins bins;
};

struct cts_ring_consumers {
    struct cts_ring_names names;
    pthread_mutex_t lock;
    pthread_cond_t answered;
    struct ring_entry *rings; /* under the lock */
    size_t ring_count, ring_capacity;
    atomic_uint_fast64_t order;
    atomic_uint_fast64_t delivery, busy_delivery; /* the last one, and while others write */
    atomic_bool ending;
    uint32_t unwritten_max; /* slots of a bin that are reserved at once */
    uint32_t count;
    struct consumer *consumers;
};

/* ---- the list of bins ---- */

static const struct cts_ring_source *find_source(const struct consumer *consumer,
                                                 const uint32_t *slots)
{
    for (size_t i = 0; i < consumer->source_count; i++)
        if (consumer->sources[i].slots == slots) return consumer->sources + i;
    return NULL;
}

/* The k-th bin in the order in which threads get them: those of even numbers first. A grid with
 * fewer CTAs than multiprocessors uses every second of them. */
static uint32_t bin_at(uint32_t k, uint32_t bin_count)
{
    const uint32_t even = (bin_count + 1) / 2;
    return k < even ? 2 * k : 2 * (k - even) + 1;
}

/* Bins that stay keep their place; under the lock. Without memory for the list, it stays as it is,
 * which cts_ring_add_bins has ruled out. */
static void renew_sources(struct consumer *consumer)
{
    CTS_ASSERT_HELD(&consumer->all->lock);
    const struct cts_ring_consumers *const all = consumer->all;
    size_t count = 0;
    for (size_t r = 0; r < all->ring_count; r++)
        for (uint32_t k = consumer->index; k < all->rings[r].bins.bin_count; k += all->count)
            count++;
    struct cts_ring_source *const sources = calloc(count + 1, sizeof *sources);
    if (!sources) return;
    count = 0;
    for (size_t r = 0; r < all->ring_count; r++) {
        const struct cts_ring_bins *const bins = &all->rings[r].bins;
        for (uint32_t k = consumer->index; k < bins->bin_count; k += all->count) {
            const uint32_t b = bin_at(k, bins->bin_count);
            const uint32_t *const slots =
                bins->slots + ((size_t)b << bins->slots_log2) * CTS_RING_SLOT_WORDS;
            const struct cts_ring_source *const old = find_source(consumer, slots);
            sources[count++] = old ? *old
                                   : (struct cts_ring_source){
                                         .slots = slots,
                                         .tail_at = bins->tails + (size_t)b * CTS_RING_TAIL_STRIDE,
                                         .slots_log2 = bins->slots_log2};
        }
    }
    free(consumer->sources);
    consumer->sources = sources;
    consumer->source_count = count;
}

/* ---- a thread ---- */

static void feed_if_full(struct consumer *consumer)
{
    if (cts_batch_is_full(&consumer->batch)) cts_batch_feed(&consumer->batch);
}

/* Takes all that is complete, as far as it was there when it began: a producer that goes on does
 * not keep it. */
static bool empty_source(struct consumer *consumer, struct cts_ring_source *source)
{
    uint32_t rest = (uint32_t)1 << source->slots_log2, taken;
    bool any = false;
    do {
        taken = cts_batch_take(&consumer->batch, source, rest);
        feed_if_full(consumer);
        rest -= taken;
        any = any || taken;
    } while (taken && rest);
    source->ready_since_ns = 0;
    return any;
}

static bool is_due(struct cts_ring_source *source, uint64_t time_ns)
{
    if (!cts_ring_source_is_ready(source, source->tail)) return false;
    const uint64_t quarter = (uint64_t)1 << (source->slots_log2 - 2);
    if (cts_ring_source_is_ready(source, source->tail + quarter)) return true;
    if (!source->ready_since_ns) source->ready_since_ns = time_ns;
    return time_ns - source->ready_since_ns >= WAIT_MAX_NS;
}

/* One look at all bins; false: there was nothing to do. */
static bool serve(struct consumer *consumer, bool everything)
{
    CTS_ASSERT_HELD(&consumer->working);
    const uint64_t time_ns = cts_clock_ns();
    bool any = false;
    for (size_t i = 0; i < consumer->source_count; i++) {
        struct cts_ring_source *const source = consumer->sources + i;
        if (everything || is_due(source, time_ns)) any = empty_source(consumer, source) || any;
    }
    if (consumer->batch.count) cts_batch_feed(&consumer->batch);
    if (any) consumer->busy_ns = time_ns;
    return any;
}

static void follow_order(struct consumer *consumer, uint64_t order)
{
    struct cts_ring_consumers *const all = consumer->all;
    (void)serve(consumer, true);
    cts_batch_settle(&consumer->batch);
    cts_batch_forget_sites(&consumer->batch);
    pthread_mutex_lock(&all->lock);
    renew_sources(consumer);
    consumer->order_seen = order;
    atomic_store(&consumer->order_done, order);
    pthread_cond_broadcast(&all->answered);
    pthread_mutex_unlock(&all->lock);
}

/* The position behind the last slot that is written. Unwritten ones before it are reserved: at most
 * by as many warps as a multiprocessor runs, whose bin it is. */
static uint64_t written_end(const struct cts_ring_source *source, uint32_t unwritten_max)
{
    const uint64_t lap_end = source->tail + ((uint64_t)1 << source->slots_log2);
    uint64_t end = source->tail;
    for (uint64_t at = source->tail; at < lap_end && at - end < unwritten_max; at++)
        if (cts_ring_source_is_ready(source, at)) end = at + 1;
    return end;
}

static bool is_behind(const struct consumer *consumer)
{
    for (size_t i = 0; i < consumer->source_count; i++)
        if (consumer->sources[i].tail < consumer->sources[i].awaited) return true;
    return false;
}

/* Takes what is written behind slots that are not: soon they are, too. */
static bool fill_gaps(struct consumer *consumer)
{
    const uint64_t start_ns = cts_clock_ns();
    for (size_t i = 0; i < consumer->source_count; i++)
        consumer->sources[i].awaited =
            written_end(consumer->sources + i, consumer->all->unwritten_max);
    while (is_behind(consumer)) {
        if (cts_clock_ns() - start_ns > GAP_MAX_NS) return false;
        sched_yield();
        (void)serve(consumer, true);
    }
    return true;
}

static void deliver(struct consumer *consumer, uint64_t delivery)
{
    const bool others_write =
        atomic_load(&consumer->all->busy_delivery) > atomic_load(&consumer->delivery_done);
    (void)serve(consumer, true);
    if (others_write && !fill_gaps(consumer)) atomic_store(&consumer->delivery_failed, delivery);
    cts_batch_settle(&consumer->batch);
    atomic_store(&consumer->delivery_done, delivery);
}

static void follow_delivery(struct consumer *consumer, uint64_t delivery)
{
    struct cts_ring_consumers *const all = consumer->all;
    deliver(consumer, delivery);
    pthread_mutex_lock(&all->lock);
    pthread_cond_broadcast(&all->answered);
    pthread_mutex_unlock(&all->lock);
}

/* What there is to do now; false: nothing. */
static bool work(struct consumer *consumer)
{
    struct cts_ring_consumers *const all = consumer->all;
    const uint64_t order = atomic_load(&all->order), delivery = atomic_load(&all->delivery);
    if (order != consumer->order_seen) follow_order(consumer, order);
    if (delivery > atomic_load(&consumer->delivery_done)) follow_delivery(consumer, delivery);
    if (serve(consumer, false)) return true;
    if (consumer->batch.launch_number != CTS_NONE && cts_clock_ns() - consumer->busy_ns > QUIET_NS)
        cts_batch_settle(&consumer->batch);
    return false;
}

static void *consume(void *state)
{
    struct consumer *const consumer = state;
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (;;) {
        const bool ending = atomic_load(&consumer->all->ending);
        pthread_mutex_lock(&consumer->working);
        const bool any = work(consumer);
        pthread_mutex_unlock(&consumer->working);
        if (ending) return NULL;
        if (!any) nanosleep(&pause, NULL);
    }
}

/* ---- orders ---- */

static bool have_all_done(const struct cts_ring_consumers *all, uint64_t order)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (atomic_load(&all->consumers[i].order_done) < order) return false;
    return true;
}

static bool have_all_delivered(const struct cts_ring_consumers *all, uint64_t delivery)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (atomic_load(&all->consumers[i].delivery_done) < delivery) return false;
    return true;
}

/* Waits under the lock until all threads have answered; false: not in time. */
static bool wait_for_all(struct cts_ring_consumers *all, uint32_t timeout_ms, uint64_t number,
                         bool (*have_answered)(const struct cts_ring_consumers *, uint64_t))
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * NS_PER_MS;
    if (until.tv_nsec >= NS_PER_S) {
        until.tv_sec++;
        until.tv_nsec -= NS_PER_S;
    }
    bool in_time = true;
    while (in_time && !have_answered(all, number))
        in_time = pthread_cond_timedwait(&all->answered, &all->lock, &until) == 0;
    return have_answered(all, number);
}

bool cts_ring_drain(struct cts_ring_consumers *all, uint32_t timeout_ms)
{
    pthread_mutex_lock(&all->lock);
    const uint64_t order = atomic_fetch_add(&all->order, 1) + 1;
    const bool done = wait_for_all(all, timeout_ms, order, have_all_done);
    pthread_mutex_unlock(&all->lock);
    return done;
}

/* The part of threads that sleep. */
static void deliver_for_sleepers(struct cts_ring_consumers *all, uint64_t delivery)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct consumer *const consumer = all->consumers + i;
        if (pthread_mutex_trylock(&consumer->working)) continue;
        if (atomic_load(&consumer->delivery_done) < delivery) deliver(consumer, delivery);
        pthread_mutex_unlock(&consumer->working);
    }
}

bool cts_ring_deliver(struct cts_ring_consumers *all, bool others_write, uint32_t timeout_ms)
{
    pthread_mutex_lock(&all->lock);
    const uint64_t delivery = atomic_load(&all->delivery) + 1;
    if (others_write) atomic_store(&all->busy_delivery, delivery); /* before it is seen */
    atomic_store(&all->delivery, delivery);
    pthread_mutex_unlock(&all->lock);
    deliver_for_sleepers(all, delivery);
    pthread_mutex_lock(&all->lock);
    pthread_cond_broadcast(&all->answered); /* others may wait for what was done here */
    bool done = wait_for_all(all, timeout_ms, delivery, have_all_delivered);
    pthread_mutex_unlock(&all->lock);
    for (uint32_t i = 0; i < all->count; i++)
        if (atomic_load(&all->consumers[i].delivery_failed) >= delivery) done = false;
    return done;
}

enum { CHANGE_TIMEOUT_MS = 60000 };

enum cts_status cts_ring_add_bins(struct cts_ring_consumers *all, const struct cts_ring_bins *bins,
                                  struct cts_error *error)
{
    pthread_mutex_lock(&all->lock);
    const enum cts_status status =
        all->ring_count < all->ring_capacity
            ? CTS_OK
            : cts_array_grow((void **)&all->rings, &all->ring_capacity, all->ring_count + 1,
                             sizeof *all->rings, error);
    if (!status) all->rings[all->ring_count++].bins = *bins;
    pthread_mutex_unlock(&all->lock);
    if (status) return status;
    if (cts_ring_drain(all, CHANGE_TIMEOUT_MS)) return CTS_OK;
    return cts_fail(error, CTS_IO, "the recording threads do not respond");
}

void cts_ring_remove_bins(struct cts_ring_consumers *all, const uint32_t *slots)
{
    pthread_mutex_lock(&all->lock);
    for (size_t r = 0; r < all->ring_count; r++)
        if (all->rings[r].bins.slots == slots) {
            all->rings[r] = all->rings[--all->ring_count];
            break;
        }
    pthread_mutex_unlock(&all->lock);
    (void)cts_ring_drain(all, CHANGE_TIMEOUT_MS);
}

/* ---- life ---- */

static void release(struct cts_ring_consumers *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        pthread_mutex_destroy(&all->consumers[i].working);
        cts_batch_release(&all->consumers[i].batch);
        free(all->consumers[i].sources);
    }
    pthread_cond_destroy(&all->answered);
    pthread_mutex_destroy(&all->lock);
    free(all->rings);
    free(all->consumers);
    free(all);
}

static void end_threads(struct cts_ring_consumers *all, uint32_t count)
{
    atomic_store(&all->ending, true);
    for (uint32_t i = 0; i < count; i++) pthread_join(all->consumers[i].thread, NULL);
}

static enum cts_status start_thread(struct cts_ring_consumers *all, uint32_t index,
                                    struct cts_collector *collector, struct cts_error *error)
{
    struct consumer *const consumer = all->consumers + index;
    consumer->all = all;
    consumer->index = index;
    enum cts_status status = cts_batch_init(&consumer->batch, error);
    consumer->batch.names = &all->names;
    if (!status && collector)
        status = cts_collector_stream(collector, &consumer->batch.stream, error);
    if (status) return status;
    sigset_t every, before; /* the program's signals are for its own threads */
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    const int errnum = pthread_create(&consumer->thread, NULL, consume, consumer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (errnum) return cts_fail(error, CTS_IO, "cannot start a recording thread");
    pthread_setname_np(consumer->thread, "ctascope-ring");
    return CTS_OK;
}

enum cts_status cts_ring_start(const struct cts_ring_options *options,
                               struct cts_ring_consumers **out, struct cts_error *error)
{
    *out = NULL;
    struct cts_ring_consumers *const all = calloc(1, sizeof *all);
    if (!all) return cts_fail(error, CTS_MEMORY, "no memory for the recording threads");
    all->names = *options->names;
    all->unwritten_max =
        WARPS_MAX * (options->values ? CTS_RING_VALUED_SLOTS_MAX : CTS_RING_RECORD_SLOTS_MAX);
    all->count = cts_thread_count(options->count);
    if (all->count > THREADS_MAX) all->count = THREADS_MAX;
    all->consumers = calloc(all->count, sizeof *all->consumers);
    for (uint32_t i = 0; all->consumers && i < all->count; i++)
        pthread_mutex_init(&all->consumers[i].working, NULL);
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&all->answered, &attributes);
    pthread_condattr_destroy(&attributes);
    enum cts_status status =
        all->consumers
            ? CTS_OK
            : cts_fail(error, CTS_MEMORY, "no memory for %u threads", (unsigned)all->count);
    uint32_t started = 0;
    while (!status && started < all->count) {
        status = start_thread(all, started, options->discard ? NULL : options->collector, error);
        if (!status) started++;
    }
    if (status) {
        end_threads(all, started);
        if (!all->consumers) all->count = 0;
        release(all);
        return status;
    }
    *out = all;
    return CTS_OK;
}

void cts_ring_stop(struct cts_ring_consumers *all, uint64_t *lost)
{
    if (lost) *lost = 0;
    if (!all) return;
    (void)cts_ring_drain(all, CHANGE_TIMEOUT_MS);
    end_threads(all, all->count);
    for (uint32_t i = 0; lost && i < all->count; i++) *lost += all->consumers[i].batch.lost;
    release(all);
}
