/* What each CTA of a launch did, in its own order, to words that may order others and to suspected
 * words: the input of signal-order.c.
 *
 * A use is told by a release of the same warp, or of any warp once the CTA has met at a barrier
 * after the use, if the CTA has fenced between the use and the release. An update of a suspected
 * word tells itself. Where parts of a CTA meet, its warps count as one: what one did, all did.
 *
 * The number of an access is recorded apart from it, in front of a store and behind a load
 * (CTS_BARRIER_ORDER); it belongs to the lane's next or last such access. */
#include <stdlib.h>
#include <string.h>

#include "analyze/access/access-model.h"
#include "common/hash.h"

enum { WARPS = CTS_RACE_THREADS_MAX / CTS_WARP_LANES };
/* Of a launch. Beyond, uses are thinned out, and nothing is told of its events. */
enum { USES_MAX = 1 << 22, EVENTS_MAX = 1 << 24 };

struct release {
    struct cts_signal_event event;
    uint32_t fence;
};

struct logged_use {
    struct cts_signal_use use;
    uint32_t moment, position; /* records; events of the CTA before it */
    size_t release;            /* an update: its own release, + 1 */
};

/* The last release by a word and warp: another one that tells no more is left out. */
struct last_release {
    uint32_t fence, phase, acquired;
};

struct cts_access_log {
    struct {
        struct release *items;
        size_t count, capacity;
    } releases;
    struct {
        struct cts_signal_event *items;
        size_t count, capacity;
    } acquires;
    struct {
        struct logged_use *items;
        size_t count, capacity;
    } uses;
    struct {
        struct last_release *items;
        size_t count, capacity;
    } last;
    struct cts_map last_use, last_release, last_site; /* by word and warp: index + 1; site + 1 */
    struct cts_map tests;                             /* as in struct cts_access_logged */
    uint64_t pending[CTS_RACE_THREADS_MAX];           /* by thread: the number of its next store */
    uint64_t looked[CTS_RACE_THREADS_MAX];            /* the word of its last load, + 1 */
    uint64_t numbers[WARPS];                          /* the last of each warp */
    uint64_t settled, highest;                        /* the last before this phase, and in it */
    uint32_t phases[CTS_RACE_THREADS_MAX], phase;     /* barriers of each thread; the highest */
    uint32_t position, acquired;
    bool is_loose; /* parts of the CTA have met */
};

static struct cts_access_log *log_of(struct cts_access_worker *worker, struct cts_access_cta *cta)
{
    if (!cta->log) cta->log = cts_array_zeroed(1, sizeof *cta->log, &worker->error);
    return cta->log;
}

void cts_access_log_free(struct cts_access_log *log)
{
    if (!log) return;
    free(log->releases.items);
    free(log->acquires.items);
    free(log->uses.items);
    free(log->last.items);
    cts_map_release(&log->last_use);
    cts_map_release(&log->last_release);
    cts_map_release(&log->last_site);
    cts_map_release(&log->tests);
    free(log);
}

void cts_access_logged_release(struct cts_access_logged *logged)
{
    free(logged->events.items);
    free(logged->uses.items);
    cts_map_release(&logged->tests);
    *logged = (struct cts_access_logged){0};
}

static uint64_t key_of(uint64_t word, uint16_t warp)
{
    return word << 5 | warp % WARPS;
}

/* ---- barriers and numbers ---- */

static uint32_t thread_count(const struct cts_launch *launch)
{
    return launch->block[0] * launch->block[1] * launch->block[2];
}

/* Lanes of a warp arrive at a barrier of all threads. */
static void arrive(struct cts_access_log *log, uint16_t warp, uint32_t mask)
{
    for (uint32_t left = mask; left; left &= left - 1)
        log->phases[warp * (uint32_t)CTS_WARP_LANES + (uint32_t)__builtin_ctz(left)]++;
}

/* The phase of a thread that goes on: what went before the barrier is recorded by now. */
static uint32_t phase_of(struct cts_access_log *log, uint32_t thread)
{
    const uint32_t phase = log->phases[thread];
    if (phase > log->phase) {
        log->phase = phase;
        log->settled = log->highest;
    }
    return phase;
}

static enum cts_status add_acquire(struct cts_access_worker *worker, struct cts_access_log *log,
                                   const struct cts_signal_event *event)
{
    struct cts_signal_event *const last =
        log->acquires.count ? &log->acquires.items[log->acquires.count - 1] : NULL;
    const struct logged_use *const use =
        log->uses.count ? &log->uses.items[log->uses.count - 1] : NULL;
    /* A spin: the last look is the one that matters. */
    const bool is_used = use && use->position == log->position && use->use.word != event->word;
    if (last && last->word == event->word && last->warp == event->warp &&
        last->phase == event->phase && log->position == log->acquired && !is_used &&
        event->number > last->number) {
        last->number = event->number;
        return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(&log->acquires, log->acquires.count + 1, &worker->error))
        return CTS_MEMORY;
    log->acquires.items[log->acquires.count++] = *event;
    log->acquired = ++log->position;
    return CTS_OK;
}

/* A number: of the next store of each lane, or of its last load. */
static enum cts_status take_number(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                   const struct cts_acc_barrier *barrier)
{
    struct cts_access_log *const log = cta->log;
    const uint64_t number = barrier->argument / 2;
    const bool is_after = barrier->argument & CTS_ORDER_AFTER;
    enum cts_status status = CTS_OK;
    for (uint32_t left = barrier->mask; left && !status; left &= left - 1) {
        const uint32_t thread =
            barrier->warp % WARPS * (uint32_t)CTS_WARP_LANES + (uint32_t)__builtin_ctz(left);
        if (!is_after) {
            log->pending[thread] = number;
        } else if (log->looked[thread]) {
            const struct cts_signal_event event = {.number = number,
                                                   .word = log->looked[thread] - 1,
                                                   .cta = cta->cta,
                                                   .phase = phase_of(log, thread),
                                                   .warp = barrier->warp % WARPS,
                                                   .operation = CTS_LOAD};
            log->looked[thread] = 0;
            status = add_acquire(worker, log, &event);
        }
    }
    if (number > log->numbers[barrier->warp % WARPS]) log->numbers[barrier->warp % WARPS] = number;
    if (number > log->highest) log->highest = number;
    return status;
}

enum cts_status cts_access_log_barrier(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                       const struct cts_acc_barrier *barrier)
{
    const struct cts_catalogue *const catalogue = worker->model->catalogue;
    struct cts_access_log *const log = log_of(worker, cta);
    if (!log) return CTS_MEMORY;
    if (barrier->site >= catalogue->site_count) return CTS_OK;
    const uint64_t expected = (barrier->argument - 1) >> 8;
    switch ((unsigned)catalogue->sites[barrier->site].operation) {
    case CTS_BARRIER_ORDER:
        return take_number(worker, cta, barrier);
    case CTS_BARRIER_CTA_SYNC:
        if (!expected || expected >= thread_count(worker->model->launch))
            arrive(log, barrier->warp % WARPS, barrier->mask);
        else
            log->is_loose = true;
        return CTS_OK;
    case CTS_BARRIER_GRID_SYNC:
        arrive(log, barrier->warp % WARPS, barrier->mask);
        return CTS_OK;
    case CTS_BARRIER_CTA_ARRIVE:
    case CTS_BARRIER_MBARRIER_ARRIVE:
    case CTS_BARRIER_MBARRIER_WAIT:
    case CTS_BARRIER_CLUSTER_ARRIVE:
    case CTS_BARRIER_CLUSTER_WAIT:
    case CTS_BARRIER_SYNC_OTHER:
        log->is_loose = true;
        return CTS_OK;
    default:
        return CTS_OK;
    }
}

/* ---- accesses ---- */

/* Whether the word's last release by the warp tells as much. */
static enum cts_status is_told(struct cts_access_worker *worker, const struct cts_access_cta *cta,
                               const struct cts_signal_event *event, bool *is_told)
{
    struct cts_access_log *const log = cta->log;
    const struct last_release now = {cta->fence, event->phase, log->acquired};
    const uint64_t key = key_of(event->word, event->warp);
    uint64_t *const place = cts_map_at(&log->last_release, key, &worker->error);
    if (!place || CTS_ARRAY_RESERVE(&log->last, log->last.count + 1, &worker->error))
        return CTS_MEMORY;
    *is_told = *place && !memcmp(&log->last.items[*place - 1], &now, sizeof now);
    if (!*place) *place = ++log->last.count;
    log->last.items[*place - 1] = now;
    return CTS_OK;
}

/* *release: its index + 1. */
static enum cts_status add_release(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                   const struct cts_signal_event *event, bool is_suspected,
                                   size_t *release)
{
    struct cts_access_log *const log = cta->log;
    bool is_known = false;
    *release = 0;
    if (!is_suspected && is_told(worker, cta, event, &is_known)) return CTS_MEMORY;
    if (is_known) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&log->releases, log->releases.count + 1, &worker->error))
        return CTS_MEMORY;
    log->releases.items[log->releases.count++] = (struct release){*event, cta->fence};
    *release = log->releases.count;
    log->position++;
    return CTS_OK;
}

/* Uses that no event of the CTA parts are one. */
static enum cts_status add_use(struct cts_access_worker *worker, struct cts_access_cta *cta,
                               const struct logged_use *wanted)
{
    struct cts_access_log *const log = cta->log;
    const struct cts_signal_use *const use = &wanted->use;
    uint64_t *const place =
        cts_map_at(&log->last_use, key_of(use->word, use->warp), &worker->error);
    if (!place) return CTS_MEMORY;
    struct logged_use *const last = *place ? &log->uses.items[*place - 1] : NULL;
    if (last && last->position == wanted->position && last->use.phase == use->phase &&
        last->use.epoch == use->epoch && last->use.bytes == use->bytes &&
        last->use.site == use->site && !wanted->release) {
        last->moment = wanted->moment;
        return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(&log->uses, log->uses.count + 1, &worker->error)) return CTS_MEMORY;
    log->uses.items[log->uses.count++] = *wanted;
    *place = log->uses.count;
    return CTS_OK;
}

static bool may_leave(enum cts_operation operation)
{
    return operation == CTS_ATOMIC_CAS || operation == CTS_ATOMIC_MIN ||
           operation == CTS_ATOMIC_MAX || operation == CTS_ATOMIC_AND || operation == CTS_ATOMIC_OR;
}

/* By which plain load an atomic is always preceded. */
static enum cts_status note_test(struct cts_map *tests, uint32_t atomic, uint64_t load,
                                 struct cts_error *error)
{
    uint64_t *const known = cts_map_at(tests, atomic, error);
    if (!known) return CTS_MEMORY;
    *known = *known && *known != load ? UINT64_MAX : load;
    return CTS_OK;
}

/* Sites that are no plain load, in last_site. */
static const uint64_t other_site = UINT64_C(1) << 32;

static enum cts_status note_site(struct cts_access_worker *worker, struct cts_access_log *log,
                                 const struct cts_access_touch *touch, uint64_t word)
{
    const bool is_plain = touch->site->operation == CTS_LOAD && !touch->site->is_volatile;
    uint64_t *const last = cts_map_at(&log->last_site, key_of(word, touch->warp), &worker->error);
    if (!last) return CTS_MEMORY;
    const uint64_t before = *last, own = (uint64_t)touch->number + 1;
    *last = is_plain ? own : own | other_site;
    /* Another lane of the same request, or one that has left it. */
    if (!may_leave(touch->site->operation) || before == *last) return CTS_OK;
    return note_test(&log->tests, touch->number,
                     before && !(before & other_site) ? before : UINT64_MAX, &worker->error);
}

/* Which bytes of a word are suspected. */
static uint8_t suspected(const struct cts_access_model *model, uint64_t word)
{
    const uint64_t address = word * 4;
    const uint64_t *const words = cts_bits_find(&model->suspects, address);
    if (!words) return 0;
    const uint64_t *const planes =
        &words[address / 64 % CTS_BITS_PAGE_WORDS * model->suspects.planes];
    const uint64_t both = planes[CTS_SUSPECT_RACE] | planes[CTS_SUSPECT_STALE];
    return (uint8_t)(both >> address % 64 & 15);
}

static bool is_left_out(const struct cts_access_model *model, uint64_t word)
{
    return (cts_hash_mix(word / 16) & __atomic_load_n(&model->logged.left_out, __ATOMIC_RELAXED)) !=
           0;
}

/* The suspected bytes of one lane's access; `release`: as in a use. */
static enum cts_status log_uses(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                const struct cts_access_touch *touch, uint32_t lane, size_t release)
{
    struct cts_access_log *const log = cta->log;
    const uint16_t warp = touch->warp % WARPS;
    const uint32_t phase = phase_of(log, warp * (uint32_t)CTS_WARP_LANES + lane);
    const uint64_t start = touch->addresses[lane];
    const uint64_t end = start + touch->site->width_bytes, own = log->numbers[warp];
    enum cts_status status = CTS_OK;
    for (uint64_t word = start / 4; word * 4 < end && !status; word++) {
        const unsigned from = word * 4 < start ? (unsigned)(start % 4) : 0;
        const unsigned stop = word * 4 + 4 > end ? (unsigned)(end % 4) : 4;
        const uint8_t bytes =
            (uint8_t)(suspected(worker->model, word) & (0xfu << from) & ((1u << stop) - 1));
        if (!bytes || is_left_out(worker->model, word)) continue;
        const bool is_atomic = cts_operation_is_atomic(touch->site->operation);
        const struct logged_use use = {.use = {.number = own > log->settled ? own : log->settled,
                                               .word = word,
                                               .cta = cta->cta,
                                               .phase = phase,
                                               .epoch = cta->epochs[warp],
                                               .warp = warp,
                                               .bytes = bytes,
                                               .stores = touch->site->operation == CTS_STORE,
                                               .is_atomic = is_atomic,
                                               .is_volatile = touch->site->is_volatile,
                                               .site = touch->number},
                                       .moment = cta->moment,
                                       .position = log->position,
                                       .release = release};
        status = note_site(worker, log, touch, word);
        if (!status) status = add_use(worker, cta, &use);
    }
    return status;
}

enum cts_status cts_access_log_touch(struct cts_access_worker *worker, struct cts_access_cta *cta,
                                     const struct cts_access_touch *touch)
{
    struct cts_access_log *const log = log_of(worker, cta);
    const struct cts_site *const site = touch->site;
    const bool is_signal = site->is_volatile || cts_operation_is_atomic(site->operation);
    const uint16_t warp = touch->warp % WARPS;
    enum cts_status status = CTS_OK;
    if (!log) return CTS_MEMORY;
    for (uint32_t left = touch->mask; left && !status; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint32_t thread = warp * (uint32_t)CTS_WARP_LANES + lane;
        const uint64_t start = touch->addresses[lane];
        size_t release = 0;
        if (is_signal && cts_operation_writes(site->operation) && log->pending[thread]) {
            const struct cts_signal_event event = {.number = log->pending[thread],
                                                   .word = start / 4,
                                                   .cta = cta->cta,
                                                   .phase = phase_of(log, thread),
                                                   .warp = warp,
                                                   .operation = (uint8_t)site->operation};
            log->pending[thread] = 0;
            status =
                add_release(worker, cta, &event, suspected(worker->model, start / 4), &release);
        }
        if (is_signal && cts_operation_reads(site->operation)) log->looked[thread] = start / 4 + 1;
        if (!status) status = log_uses(worker, cta, touch, lane, release);
    }
    return status;
}

/* ---- a CTA's records are complete ---- */

static int by_number(const void *a, const void *b)
{
    const struct release *const x = *(const struct release *const *)a;
    const struct release *const y = *(const struct release *const *)b;
    return (x->event.number > y->event.number) - (x->event.number < y->event.number);
}

/* Numbers the CTA's releases in the order in which they took place. */
static enum cts_status number_releases(struct cts_access_log *log, struct cts_error *error)
{
    const size_t count = log->releases.count;
    struct release **const order = cts_array_zeroed(count, sizeof(struct release *), error);
    if (!order) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) order[i] = &log->releases.items[i];
    qsort(order, count, sizeof *order, by_number);
    for (size_t i = 0; i < count; i++) order[i]->event.release = (uint32_t)i + 1;
    free(order);
    return CTS_OK;
}

static size_t first_of_phase(const struct cts_access_log *log, size_t begin, uint32_t phase)
{
    size_t end = log->releases.count;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (log->releases.items[middle].event.phase < phase)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The first release that tells each use. `least[i]`: of the releases from i on. */
static void tell_uses(struct cts_access_log *log, uint32_t *least)
{
    uint32_t own[WARPS];
    size_t next = log->releases.count;
    memset(own, 0xff, sizeof own);
    least[next] = CTS_RELEASE_NONE;
    for (size_t i = next; i-- > 0;) {
        const uint32_t here = log->releases.items[i].event.release;
        least[i] = here < least[i + 1] ? here : least[i + 1];
    }
    for (size_t u = log->uses.count; u-- > 0;) {
        struct logged_use *const use = &log->uses.items[u];
        for (; next && log->releases.items[next - 1].fence > use->moment; next--) {
            const struct cts_signal_event *const event = &log->releases.items[next - 1].event;
            if (event->release < own[event->warp]) own[event->warp] = event->release;
        }
        const uint32_t met = least[first_of_phase(log, next, use->use.phase + 1)];
        use->use.release = own[use->use.warp] < met ? own[use->use.warp] : met;
        if (use->release) use->use.release = log->releases.items[use->release - 1].event.release;
    }
}

/* All warps are one. */
static void unite_warps(struct cts_access_log *log)
{
    for (size_t i = 0; i < log->releases.count; i++)
        log->releases.items[i].event.warp = 0, log->releases.items[i].event.phase = 0;
    for (size_t i = 0; i < log->acquires.count; i++)
        log->acquires.items[i].warp = 0, log->acquires.items[i].phase = 0;
    for (size_t i = 0; i < log->uses.count; i++)
        log->uses.items[i].use.warp = 0, log->uses.items[i].use.phase = 0;
}

/* Keeps the uses of fewer words. */
static void thin_out(struct cts_access_model *model)
{
    struct cts_access_logged *const logged = &model->logged;
    size_t kept = 0;
    __atomic_store_n(&logged->left_out, logged->left_out * 2 + 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < logged->uses.count; i++)
        if (!is_left_out(model, logged->uses.items[i].word))
            logged->uses.items[kept++] = logged->uses.items[i];
    logged->uses.count = kept;
}

static enum cts_status hand_over(struct cts_access_model *model, const struct cts_access_log *log,
                                 struct cts_error *error)
{
    struct cts_access_logged *const logged = &model->logged;
    const size_t more = log->releases.count + log->acquires.count;
    if (logged->events.count + more > EVENTS_MAX) logged->is_over = true;
    if (logged->is_over) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&logged->events, logged->events.count + more, error)) return CTS_MEMORY;
    for (size_t i = 0; i < log->releases.count; i++)
        logged->events.items[logged->events.count++] = log->releases.items[i].event;
    for (size_t i = 0; i < log->acquires.count; i++)
        logged->events.items[logged->events.count++] = log->acquires.items[i];
    for (size_t i = 0; i < log->uses.count; i++) {
        if (is_left_out(model, log->uses.items[i].use.word)) continue;
        if (CTS_ARRAY_RESERVE(&logged->uses, logged->uses.count + 1, error)) return CTS_MEMORY;
        logged->uses.items[logged->uses.count++] = log->uses.items[i].use;
        while (logged->uses.count >= USES_MAX) thin_out(model);
    }
    for (size_t i = 0; i < log->tests.capacity; i++)
        if (log->tests.used[i] && note_test(&logged->tests, (uint32_t)log->tests.entries[i].key,
                                            log->tests.entries[i].value, error))
            return CTS_MEMORY;
    return CTS_OK;
}

static void forget(struct cts_access_log *log)
{
    struct cts_access_log next = {
        .releases = log->releases, .acquires = log->acquires, .uses = log->uses, .last = log->last};
    cts_map_release(&log->last_use);
    cts_map_release(&log->last_release);
    cts_map_release(&log->last_site);
    cts_map_release(&log->tests);
    next.releases.count = next.acquires.count = next.uses.count = next.last.count = 0;
    *log = next;
}

enum cts_status cts_access_end_log(struct cts_access_worker *worker, struct cts_access_cta *cta)
{
    struct cts_access_log *const log = cta->log;
    if (!log) return CTS_OK;
    uint32_t *const least =
        cts_array_zeroed(log->releases.count + 1, sizeof *least, &worker->error);
    enum cts_status status = least ? number_releases(log, &worker->error) : CTS_MEMORY;
    if (!status) {
        if (log->is_loose) unite_warps(log);
        tell_uses(log, least);
        pthread_mutex_lock(&worker->model->faults_lock);
        status = hand_over(worker->model, log, &worker->error);
        pthread_mutex_unlock(&worker->model->faults_lock);
    }
    free(least);
    forget(log);
    return status;
}

/* ---- the launch ---- */

bool cts_access_is_test(const struct cts_access_model *model, uint32_t site)
{
    const struct cts_map *const tests = &model->logged.tests;
    for (size_t i = 0; i < tests->capacity; i++)
        if (tests->used[i] && tests->entries[i].value == (uint64_t)site + 1) return true;
    return false;
}

/* Loads that only look whether an atomic is worthwhile are no uses. */
static void leave_out_tests(struct cts_access_model *model)
{
    struct cts_access_logged *const logged = &model->logged;
    size_t kept = 0;
    if (!logged->tests.count) return;
    for (size_t i = 0; i < logged->uses.count; i++) {
        const struct cts_signal_use *const use = &logged->uses.items[i];
        if (use->stores || use->is_atomic || !cts_access_is_test(model, use->site))
            logged->uses.items[kept++] = *use;
    }
    logged->uses.count = kept;
}

static bool take_verdict(struct cts_access_model *model, const struct cts_signal_verdict *verdict)
{
    uint64_t *const counters[] = {
        [CTS_ORDERED_BY_GRID] = &model->result->grid_bytes,
        [CTS_ORDERED_BY_LOCK] = &model->result->lock_bytes,
        [CTS_ORDERED_BY_COUNTER] = &model->result->counter_bytes,
        [CTS_ORDERED_BY_FLAG] = &model->result->flag_bytes,
    };
    for (unsigned b = 0; b < 4; b++) {
        if (verdict->raced >> b & 1) continue;
        const bool is_ordered = verdict->ordered >> b & 1;
        cts_access_take_byte(model, verdict->word * 4 + b,
                             is_ordered ? counters[verdict->how] : NULL);
    }
    return verdict->raced != 0;
}

/* Words without a verdict: tests and atomics alone touch them, or they were left out. */
struct rest {
    struct cts_access_model *model;
    const struct cts_signal_verdict *verdicts;
    size_t count;
    bool keeps_left_out; /* others like them race */
    bool any[CTS_SUSPECT_COUNT];
};

static bool has_verdict(const struct rest *rest, uint64_t word)
{
    size_t begin = 0, end = rest->count;
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (rest->verdicts[middle].word == word) return true;
        if (rest->verdicts[middle].word < word)
            begin = middle + 1;
        else
            end = middle;
    }
    return false;
}

static enum cts_status judge_rest(void *state, uint64_t page_start, uint64_t *words,
                                  struct cts_error *error)
{
    struct rest *const rest = state;
    (void)error;
    for (unsigned w = 0; w < CTS_BITS_PAGE_WORDS; w++) {
        uint64_t *const planes = &words[(size_t)w * CTS_SUSPECT_COUNT];
        const uint64_t start = page_start + (uint64_t)w * 64;
        for (unsigned b = 0; b < 64; b += 4) {
            const uint64_t bits = UINT64_C(15) << b, word = (start + b) / 4;
            if (!((planes[CTS_SUSPECT_RACE] | planes[CTS_SUSPECT_STALE]) & bits)) continue;
            const bool stays =
                has_verdict(rest, word) || (rest->keeps_left_out && is_left_out(rest->model, word));
            if (!stays) planes[CTS_SUSPECT_RACE] &= ~bits, planes[CTS_SUSPECT_STALE] &= ~bits;
        }
        rest->any[CTS_SUSPECT_RACE] |= planes[CTS_SUSPECT_RACE] != 0;
        rest->any[CTS_SUSPECT_STALE] |= planes[CTS_SUSPECT_STALE] != 0;
    }
    return CTS_OK;
}

enum cts_status cts_access_judge_logged(struct cts_access_model *model, struct cts_error *error)
{
    struct cts_access_logged *const logged = &model->logged;
    struct rest rest = {.model = model};
    struct cts_signal_verdict *verdicts = NULL;
    bool is_too_much = false;
    leave_out_tests(model);
    const struct cts_signal_input input = {logged->events.items, logged->events.count,
                                           logged->uses.items, logged->uses.count};
    enum cts_status status =
        logged->is_over ? CTS_OK
                        : cts_signal_order(&input, &verdicts, &rest.count, &is_too_much, error);
    if (!status && (is_too_much || logged->is_over)) {
        rest.count = 0;
        model->result->untold_race_launches++;
    }
    rest.verdicts = verdicts;
    for (size_t i = 0; i < rest.count && !status; i++)
        rest.keeps_left_out |= take_verdict(model, &verdicts[i]);
    if (!status && rest.count && logged->left_out && !rest.keeps_left_out)
        model->result->untold_race_launches++; /* a sample of the words has no race */
    if (!status) status = cts_bits_each(&model->suspects, judge_rest, &rest, error);
    model->found[CTS_SUSPECT_RACE] = rest.any[CTS_SUSPECT_RACE];
    model->found[CTS_SUSPECT_STALE] = rest.any[CTS_SUSPECT_STALE];
    free(verdicts);
    logged->events.count = logged->uses.count = 0;
    logged->left_out = 0;
    logged->is_over = false;
    return status;
}
