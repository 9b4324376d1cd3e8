/* Races in a CTA against a twin that knows the true order: small random programs of a few warps are
 * run by a scheduler that blocks and wakes threads as a GPU does and keeps, for each thread, what
 * of every other thread's past has happened before; each byte is compared with each access before
 * it. The analysis gets the records alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/access/race.h"
#include "count.h"
#include "random.h"

enum {
    WARPS_MOST = 3,
    THREADS_MOST = WARPS_MOST * 32,
    OPS_MOST = 120, /* of a warp */
    ROUNDS_MOST = 7,
    MBARRIERS = 2,
    PAST_MOST = 1 << 15,
    SIGNALS = 2,
    FOUND_MOST = 4096,
    BYTES = 64, /* of shared memory; signals behind them */
};

/* ---- programs ---- */

enum op_kind {
    ACCESS,
    SYNC_ALL,
    SYNC_SOME,
    ARRIVE_SOME,
    SYNC_WARP,
    FENCE,
    COPY,
    COMMIT,
    WAIT,
    MBARRIER_ARRIVE, /* argument: the mbarrier's number + MBARRIERS * phase */
    MBARRIER_WAIT,
};

struct op {
    enum op_kind kind;
    uint32_t site, mask, argument;
    uint32_t width;
    bool stores, is_atomic, is_volatile;
    uint8_t space;
    uint32_t address[32];
};

struct program {
    unsigned threads, warps;
    bool has_fences;
    struct op ops[WARPS_MOST][OPS_MOST];
    unsigned counts[WARPS_MOST];
    /* By mbarrier and phase: how many threads arrive, and warps wait. */
    unsigned phases[MBARRIERS];
    unsigned arrivals[MBARRIERS][ROUNDS_MOST], waits[MBARRIERS][ROUNDS_MOST];
};

static uint32_t lanes_of(const struct program *p, unsigned warp)
{
    const unsigned left = p->threads - warp * 32;
    return left >= 32 ? UINT32_MAX : (1u << left) - 1;
}

static struct op *add(struct program *p, unsigned warp, enum op_kind kind)
{
    assert_true(p->counts[warp] < OPS_MOST);
    struct op *const op = &p->ops[warp][p->counts[warp]++];
    *op = (struct op){.kind = kind, .mask = lanes_of(p, warp)};
    return op;
}

static uint32_t some_lanes(uint32_t all)
{
    const uint32_t some = (uint32_t)random_u64() & all;
    return chance(60) || !some ? all : some;
}

static void add_access(struct program *p, unsigned warp, bool is_copy)
{
    struct op *const op = add(p, warp, is_copy ? COPY : ACCESS);
    const bool is_narrow = chance(40);
    const unsigned kind = below(10), stride = below(3) * 4;
    const unsigned base = below(is_narrow ? 2 : BYTES / 4) * 4;
    op->site = below(is_narrow ? 1 : 12) + 16 * kind;
    op->mask = some_lanes(op->mask);
    op->width = is_copy || chance(80) ? 4 : 1u << below(4);
    op->space = is_copy || chance(70) ? CTS_SPACE_SHARED : CTS_SPACE_GLOBAL;
    op->stores = kind >= 6 || is_copy;
    op->is_atomic = kind == 5 && !is_copy;
    if (is_copy) op->site = 500 + below(3);
    for (unsigned l = 0; l < 32; l++) op->address[l] = (base + stride * l) % BYTES;
    if (chance(12) && !is_copy) { /* a word that may order others */
        op->width = 4;
        op->site = 300 + kind;
        op->is_volatile = !op->is_atomic;
        op->mask &= -op->mask;
        for (unsigned l = 0; l < 32; l++) op->address[l] = BYTES + 4 * below(SIGNALS);
    }
}

/* Some warps arrive at an mbarrier; some wait for that, those that arrive not at once. */
static void add_mbarrier(struct program *p)
{
    const unsigned id = chance(20), phase = p->phases[id]++;
    const unsigned argument = id + MBARRIERS * phase, elected = below(p->warps);
    for (unsigned w = 0; w < p->warps; w++) {
        if (w == elected || chance(60)) {
            struct op *const op = add(p, w, MBARRIER_ARRIVE);
            op->argument = argument;
            op->mask = some_lanes(op->mask);
            p->arrivals[id][phase] += (unsigned)__builtin_popcount(op->mask);
            if (chance(50)) add_access(p, w, false);
        }
        if (chance(70)) {
            struct op *const op = add(p, w, MBARRIER_WAIT);
            op->argument = argument;
            op->mask = some_lanes(op->mask);
            p->waits[id][phase]++;
        }
    }
}

/* One round: accesses of each warp, then something that all or some of them do. */
static void add_round(struct program *p, unsigned round)
{
    for (unsigned w = 0; w < p->warps; w++) {
        for (unsigned n = below(4); n; n--) {
            add_access(p, w, chance(6));
            if (chance(25)) {
                const uint32_t half = chance(50) ? UINT32_MAX : 0xffff;
                struct op *op = add(p, w, SYNC_WARP);
                op->argument = half;
                op->mask &= half;
                if (half == 0xffff && lanes_of(p, w) > half) {
                    op = add(p, w, SYNC_WARP);
                    op->argument = ~half;
                    op->mask &= ~half;
                }
            }
            if (chance(15)) add(p, w, FENCE)->argument = CTS_FENCE_CTA;
            if (chance(10)) add(p, w, COMMIT);
            if (chance(10)) add(p, w, WAIT)->argument = below(2);
        }
    }
    const unsigned kind = below(9);
    if (kind >= 4) add_mbarrier(p);
    const unsigned id = 1 + round % 7, left_out = below(p->warps);
    for (unsigned w = 0; w < p->warps; w++) {
        if (kind == 0) add(p, w, SYNC_ALL);
        if (kind == 1 && p->warps > 1 && w != left_out)
            add(p, w, SYNC_SOME)->argument = id | (p->warps - 1) * 32 << 8;
        if (kind == 2 && p->warps > 1)
            add(p, w, w == left_out ? ARRIVE_SOME : SYNC_SOME)->argument = id | p->warps * 32 << 8;
    }
}

static void make(struct program *p)
{
    *p = (struct program){.warps = 1 + below(WARPS_MOST), .has_fences = chance(70)};
    p->threads = chance(70) ? p->warps * 32 : p->warps * 32 - below(31);
    for (unsigned round = 0, rounds = 1 + below(ROUNDS_MOST - 1); round < rounds; round++)
        add_round(p, round);
}

/* ---- the twin ---- */

struct past {
    uint32_t thread, site, serial, clock, width, address;
    bool stores, is_atomic, is_strong, is_copy;
    uint32_t group, waited; /* a copy's: the clock of its thread when it had waited; 0: never */
    uint8_t space;
};

struct found {
    uint32_t a, b;
    uint8_t space;
    bool in_warp, is_copy;
    uint64_t bytes[2]; /* a bit each, up to 128 */
};

struct twin {
    const struct program *p;
    struct cts_race *race;
    uint32_t at[WARPS_MOST];
    bool blocked[WARPS_MOST];
    uint32_t clock[THREADS_MOST];
    uint32_t seen[THREADS_MOST][THREADS_MOST]; /* clocks up to which u's past came before t */
    uint32_t fenced[THREADS_MOST][THREADS_MOST];
    bool has_fenced[THREADS_MOST];
    uint32_t signal[2 * (BYTES / 4 + SIGNALS)][THREADS_MOST];
    uint32_t commits[THREADS_MOST];
    uint32_t arrived[8], waiting[8]; /* by barrier: warps; 0: of all */
    unsigned arrivals[MBARRIERS][ROUNDS_MOST], waits[MBARRIERS][ROUNDS_MOST];
    uint32_t phase_past[MBARRIERS][ROUNDS_MOST][THREADS_MOST];
    uint32_t serial;
    struct past past[PAST_MOST];
    unsigned past_count;
    struct found found[FOUND_MOST];
    unsigned found_count;
};

static void learn(const struct twin *t, uint32_t *to, const uint32_t *from)
{
    for (unsigned u = 0; u < t->p->threads; u++)
        if (from[u] > to[u]) to[u] = from[u];
}

static void note(struct twin *t, const struct past *x, const struct past *y, unsigned byte,
                 bool is_copy)
{
    const struct found wanted = {.a = x->site < y->site ? x->site : y->site,
                                 .b = x->site < y->site ? y->site : x->site,
                                 .space = x->space,
                                 .in_warp = x->thread / 32 == y->thread / 32,
                                 .is_copy = is_copy};
    unsigned i = 0;
    for (; i < t->found_count; i++) {
        const struct found *const f = &t->found[i];
        if (f->a == wanted.a && f->b == wanted.b && f->space == wanted.space &&
            f->in_warp == wanted.in_warp && f->is_copy == wanted.is_copy)
            break;
    }
    assert_true(i < FOUND_MOST);
    if (i == t->found_count) t->found[t->found_count++] = wanted;
    t->found[i].bytes[byte / 64] |= UINT64_C(1) << byte % 64;
}

/* Whether the earlier access has happened before a thread's next one. */
static bool is_before(const struct twin *t, const struct past *x, uint32_t thread, bool *goes_on)
{
    *goes_on = false;
    if (!x->is_copy) return x->thread == thread || t->seen[thread][x->thread] >= x->clock;
    *goes_on = !x->waited;
    if (!x->waited) return false;
    return x->thread == thread || t->seen[thread][x->thread] >= x->waited;
}

static void do_access(struct twin *t, unsigned warp, const struct op *op)
{
    t->serial++;
    for (unsigned l = 0; l < 32; l++) {
        if (!(op->mask >> l & 1)) continue;
        const uint32_t thread = warp * 32 + l;
        struct past now = {.thread = thread,
                           .site = op->site,
                           .serial = t->serial,
                           .clock = ++t->clock[thread],
                           .width = op->width,
                           .address = op->address[l],
                           .stores = op->stores,
                           .is_atomic = op->is_atomic,
                           .is_strong = op->is_atomic || op->is_volatile,
                           .is_copy = op->kind == COPY,
                           .group = t->commits[thread],
                           .space = op->space};
        for (unsigned i = 0; i < t->past_count; i++) {
            const struct past *const x = &t->past[i];
            bool goes_on;
            if (x->serial == now.serial || x->space != now.space) continue;
            if (!(x->stores || x->is_atomic || now.stores || now.is_atomic)) continue;
            if ((x->is_strong && now.is_strong) || is_before(t, x, thread, &goes_on)) continue;
            for (uint32_t b = now.address; b < now.address + now.width; b++)
                if (b >= x->address && b < x->address + x->width) note(t, x, &now, b, goes_on);
        }
        assert_true(t->past_count < PAST_MOST);
        t->past[t->past_count++] = now;
    }
}

static void do_signals(struct twin *t, unsigned warp, const struct op *op)
{
    for (unsigned l = 0; l < 32; l++) {
        if (!(op->mask >> l & 1)) continue;
        const uint32_t thread = warp * 32 + l;
        uint32_t *const signal =
            t->signal[op->address[l] / 4 * 2 + (op->space == CTS_SPACE_SHARED)];
        if (!op->stores) learn(t, t->seen[thread], signal);
        if (!op->stores && !op->is_atomic) continue;
        if (t->p->has_fences && !t->has_fenced[thread]) continue;
        learn(t, signal, t->p->has_fences ? t->fenced[thread] : t->seen[thread]);
        if (!t->p->has_fences && signal[thread] < t->clock[thread])
            signal[thread] = t->clock[thread];
    }
}

static void do_sync(struct twin *t, const uint32_t *arrived, const uint32_t *waiting)
{
    uint32_t all[THREADS_MOST] = {0};
    for (unsigned w = 0; w < t->p->warps; w++)
        for (unsigned l = 0; l < 32; l++) {
            const unsigned thread = w * 32 + l;
            if (!(arrived[w] >> l & 1)) continue;
            learn(t, all, t->seen[thread]);
            if (t->clock[thread] > all[thread]) all[thread] = t->clock[thread];
        }
    for (unsigned w = 0; w < t->p->warps; w++)
        for (unsigned l = 0; l < 32; l++)
            if (waiting[w] >> l & 1) learn(t, t->seen[w * 32 + l], all);
}

/* What one lane has fenced before lanes met, all have. */
static void share_fences(struct twin *t, unsigned warp, uint32_t mask)
{
    uint32_t all[THREADS_MOST] = {0};
    bool has_any = false;
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1) || !t->has_fenced[warp * 32 + l]) continue;
        learn(t, all, t->fenced[warp * 32 + l]);
        has_any = true;
    }
    for (unsigned l = 0; l < 32 && has_any; l++) {
        if (!(mask >> l & 1)) continue;
        learn(t, t->fenced[warp * 32 + l], all);
        t->has_fenced[warp * 32 + l] = true;
    }
}

static void tell(struct twin *t, uint32_t operation, unsigned warp, uint32_t mask,
                 uint64_t argument)
{
    const struct cts_race_sync sync = {
        .operation = operation, .mask = mask, .warp = (uint16_t)warp, .argument = argument};
    assert_int_equal(cts_race_barrier(t->race, &sync, NULL), CTS_OK);
}

/* A warp comes to a barrier; whether it is complete. What arrivers did up to here is remembered at
 * once: nothing of theirs counts that comes later. */
static uint32_t released[8][THREADS_MOST];

static void come_to_barrier(struct twin *t, unsigned warp, const struct op *op)
{
    const bool is_all = op->kind == SYNC_ALL, waits = op->kind != ARRIVE_SOME;
    const unsigned id = is_all ? 0 : op->argument & 15;
    const unsigned needed = is_all ? t->p->warps : (op->argument >> 8) / 32;
    tell(t, waits ? CTS_BARRIER_CTA_SYNC : CTS_BARRIER_CTA_ARRIVE, warp, op->mask,
         is_all ? 1 : 1 + op->argument);
    for (unsigned l = 0; l < 32; l++) {
        const unsigned thread = warp * 32 + l;
        if (!(op->mask >> l & 1)) continue;
        learn(t, released[id], t->seen[thread]);
        if (t->clock[thread] > released[id][thread]) released[id][thread] = t->clock[thread];
    }
    t->arrived[id] |= 1u << warp;
    if (waits) {
        t->waiting[id] |= 1u << warp;
        t->blocked[warp] = true;
    }
    if ((unsigned)__builtin_popcount(t->arrived[id]) < needed) return;
    for (unsigned w = 0; w < t->p->warps; w++) {
        if (!(t->waiting[id] >> w & 1)) continue;
        t->blocked[w] = false;
        for (unsigned l = 0; l < 32; l++)
            if (lanes_of(t->p, w) >> l & 1) learn(t, t->seen[w * 32 + l], released[id]);
    }
    t->arrived[id] = t->waiting[id] = 0;
    memset(released[id], 0, sizeof released[id]);
}

/* Whether a warp's next operation can be done: a wait once all have arrived. A barrier has begun
 * the phase after next only if nobody still waits for this one. */
static bool can_step(const struct twin *t, unsigned warp)
{
    if (t->blocked[warp] || t->at[warp] >= t->p->counts[warp]) return false;
    const struct op *const op = &t->p->ops[warp][t->at[warp]];
    const unsigned id = op->argument % MBARRIERS, phase = op->argument / MBARRIERS;
    if (op->kind == MBARRIER_WAIT) return t->arrivals[id][phase] == t->p->arrivals[id][phase];
    if (op->kind != MBARRIER_ARRIVE || !phase) return true;
    if (t->arrivals[id][phase - 1] < t->p->arrivals[id][phase - 1]) return false;
    return phase == 1 || t->waits[id][phase - 2] == t->p->waits[id][phase - 2];
}

static void use_mbarrier(struct twin *t, unsigned warp, const struct op *op)
{
    const unsigned id = op->argument % MBARRIERS, phase = op->argument / MBARRIERS;
    const bool arrives = op->kind == MBARRIER_ARRIVE;
    uint32_t *const past = t->phase_past[id][phase];
    tell(t, arrives ? CTS_BARRIER_MBARRIER_ARRIVE : CTS_BARRIER_MBARRIER_WAIT, warp, op->mask,
         1 + 1024 * id + (phase % 2 ? CTS_MBARRIER_ODD : 0));
    for (unsigned l = 0; l < 32; l++) {
        const unsigned thread = warp * 32 + l;
        if (!(op->mask >> l & 1)) continue;
        if (!arrives) {
            learn(t, t->seen[thread], past);
            continue;
        }
        learn(t, past, t->seen[thread]);
        if (t->clock[thread] > past[thread]) past[thread] = t->clock[thread];
        t->arrivals[id][phase]++;
    }
    t->waits[id][phase] += !arrives;
}

static void each_lane(struct twin *t, unsigned warp, const struct op *op)
{
    for (unsigned l = 0; l < 32; l++) {
        const unsigned thread = warp * 32 + l;
        if (!(op->mask >> l & 1)) continue;
        if (op->kind == FENCE) {
            t->has_fenced[thread] = true;
            memcpy(t->fenced[thread], t->seen[thread], sizeof t->fenced[thread]);
            t->fenced[thread][thread] = t->clock[thread];
        } else if (op->kind == COMMIT) {
            t->commits[thread]++;
        } else {
            t->clock[thread]++;
            for (unsigned i = 0; i < t->past_count; i++) {
                struct past *const x = &t->past[i];
                const bool is_done = op->argument ? x->group + op->argument < t->commits[thread]
                                                  : x->group <= t->commits[thread];
                if (x->thread == thread && x->is_copy && !x->waited && is_done)
                    x->waited = t->clock[thread];
            }
        }
    }
}

static void step(struct twin *t, unsigned warp)
{
    const struct op *const op = &t->p->ops[warp][t->at[warp]++];
    switch (op->kind) {
    case COPY:
        tell(t, CTS_BARRIER_ASYNC_COPY, warp, op->mask, 1);
        /* fallthrough */
    case ACCESS: {
        struct cts_race_access access = {.site = op->site,
                                         .width_bytes = op->width,
                                         .mask = op->mask,
                                         .warp = (uint16_t)warp,
                                         .space = op->space,
                                         .is_store = op->stores,
                                         .is_atomic = op->is_atomic,
                                         .is_volatile = op->is_volatile};
        for (unsigned l = 0; l < 32; l++) access.addresses[l] = op->address[l];
        if (op->is_atomic || op->is_volatile) do_signals(t, warp, op);
        do_access(t, warp, op);
        assert_int_equal(cts_race_add_access(t->race, &access, NULL), CTS_OK);
        break;
    }
    case SYNC_WARP: {
        uint32_t lanes[WARPS_MOST] = {0};
        lanes[warp] = op->mask;
        if (!op->mask) break;
        tell(t, CTS_BARRIER_WARP_SYNC, warp, op->mask, op->argument);
        do_sync(t, lanes, lanes);
        share_fences(t, warp, op->mask);
        break;
    }
    case FENCE:
        tell(t, CTS_BARRIER_FENCE, warp, op->mask, op->argument);
        each_lane(t, warp, op);
        break;
    case COMMIT:
        tell(t, CTS_BARRIER_ASYNC_COMMIT, warp, op->mask, 1);
        each_lane(t, warp, op);
        break;
    case WAIT:
        tell(t, CTS_BARRIER_ASYNC_WAIT, warp, op->mask, 1 + op->argument);
        each_lane(t, warp, op);
        break;
    case MBARRIER_ARRIVE:
    case MBARRIER_WAIT:
        use_mbarrier(t, warp, op);
        break;
    default:
        come_to_barrier(t, warp, op);
    }
}

/* A warp goes on for a while, then another one. */
static void run(struct twin *t)
{
    for (;;) {
        unsigned runnable[WARPS_MOST], count = 0;
        for (unsigned w = 0; w < t->p->warps; w++)
            if (can_step(t, w)) runnable[count++] = w;
        if (!count) break;
        const unsigned warp = runnable[below(count)];
        for (unsigned n = 1 + below(6); n && can_step(t, warp); n--) step(t, warp);
    }
    for (unsigned w = 0; w < t->p->warps; w++) assert_int_equal(t->at[w], t->p->counts[w]);
}

static void compare(const struct twin *t)
{
    size_t count;
    const struct cts_race_pair *const pairs = cts_race_pairs(t->race, &count);
    for (size_t i = 0; i < count; i++) {
        const struct cts_race_pair *const pair = &pairs[i];
        unsigned k = 0;
        for (; k < t->found_count; k++) {
            const struct found *const f = &t->found[k];
            if (f->a == pair->first.site && f->b == pair->second.site && f->space == pair->space &&
                f->in_warp == pair->is_in_warp && f->is_copy == pair->is_asynchronous)
                break;
        }
        if (k == t->found_count)
            fail_msg("sites %u and %u do not race", pair->first.site, pair->second.site);
        const struct found *const f = &t->found[k];
        assert_int_equal(pair->bytes,
                         __builtin_popcountll(f->bytes[0]) + __builtin_popcountll(f->bytes[1]));
        assert_int_equal(pair->address, f->bytes[0] ? __builtin_ctzll(f->bytes[0])
                                                    : 64 + __builtin_ctzll(f->bytes[1]));
        assert_int_equal(pair->first.thread / 32 == pair->second.thread / 32, pair->is_in_warp);
    }
    assert_int_equal(count, t->found_count);
}

static void test_random_programs(void **state)
{
    (void)state;
    static struct program program;
    static struct twin twin;
    struct cts_race *const race = cts_race_new(NULL);
    unsigned with = 0, without = 0;
    assert_non_null(race);
    const unsigned count = cts_test_count(1500, 60000);
    for (unsigned i = 0; i < count; i++) {
        random_start(1000 + i);
        make(&program);
        memset(&twin, 0, sizeof twin);
        memset(released, 0, sizeof released);
        twin.p = &program;
        twin.race = race;
        cts_race_begin(race, program.threads, program.has_fences);
        run(&twin);
        compare(&twin);
        with += twin.found_count > 0;
        without += twin.found_count == 0;
    }
    cts_race_free(race);
    assert_true(with > count / 15 && without > count / 30); /* both kinds were tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
