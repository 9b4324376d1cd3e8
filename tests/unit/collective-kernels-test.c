/* Which kernels are one collective: random sequences of several processes, whose operations are
 * known, with and without numbers and communicators, with the first ones lost and with clocks that
 * differ. What is matched must be right; and what can be matched must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "count.h"
#include "random.h"
#include "trace/collectives/clock-fit.h"
#include "trace/collectives/collective-kernels.h"

enum { PROCESSES_MAX = 64, OPERATIONS_MAX = 200, CALLS_MAX = PROCESSES_MAX * OPERATIONS_MAX };

struct world {
    struct cts_nccl_kernel calls[CALLS_MAX];
    uint32_t truth[CALLS_MAX];
    size_t count;
};

struct recipe {
    uint32_t processes, operations;
    bool numbered, named;         /* named: communicators are known */
    uint32_t lost[PROCESSES_MAX]; /* of the first operations */
    int64_t offset_ns[PROCESSES_MAX];
    double drift[PROCESSES_MAX];
    uint64_t noise_ns; /* of the time between operations; 0: a program that repeats itself */
};

static uint64_t shown(const struct recipe *r, uint32_t process, uint64_t time_ns)
{
    return time_ns + (uint64_t)((int64_t)1000000000000 + r->offset_ns[process] +
                                (int64_t)((double)time_ns * r->drift[process]));
}

/* Operations of one communicator; of its calls the truth is `base` + the operation. */
static void add(struct world *w, const struct recipe *r, uint64_t communicator, uint32_t base)
{
    uint64_t end_ns[OPERATIONS_MAX], now_ns = 1000000 + below(500000);
    for (uint32_t o = 0; o < r->operations; o++) {
        now_ns += 2000000 + (r->noise_ns ? below((unsigned)r->noise_ns) : 0);
        end_ns[o] = now_ns;
    }
    for (uint32_t p = 0; p < r->processes; p++)
        for (uint32_t o = r->lost[p]; o < r->operations; o++) {
            const uint64_t end = end_ns[o] + below(3000);
            w->truth[w->count] = base + o;
            w->calls[w->count++] =
                (struct cts_nccl_kernel){.communicator = r->named ? communicator : 0,
                                         .number = r->numbered ? o : CTS_COLLECTIVE_NUMBER,
                                         .kind = o % 4 == 3 ? 2 : 1,
                                         .bytes = 1024 * (1 + o % 4),
                                         .begin_ns = shown(r, p, end - 1000 - below(400000)),
                                         .end_ns = shown(r, p, end),
                                         .process = p,
                                         .stream = (uint32_t)communicator,
                                         .member_count = r->named ? r->processes : 0};
        }
}

static void shuffle(struct world *w)
{
    for (size_t i = w->count; i > 1; i--) {
        const size_t k = below((unsigned)i);
        const struct cts_nccl_kernel call = w->calls[k];
        const uint32_t truth = w->truth[k];
        w->calls[k] = w->calls[i - 1];
        w->truth[k] = w->truth[i - 1];
        w->calls[i - 1] = call;
        w->truth[i - 1] = truth;
    }
}

/* Two calls are of one operation if they truly are: by brute force over all pairs of a sample. */
static void expect_truth(const struct world *w, const struct cts_collective_match *match)
{
    uint32_t operation_of[2 * OPERATIONS_MAX];
    memset(operation_of, 0xff, sizeof operation_of);
    for (size_t i = 0; i < w->count; i++) {
        const uint32_t found = match->operation[i];
        if (found == CTS_COLLECTIVE_NONE) continue;
        uint32_t *const known = &operation_of[w->truth[i]];
        if (*known == UINT32_MAX) *known = found;
        assert_int_equal(*known, found);
    }
    for (size_t i = 0; i < 2 * OPERATIONS_MAX; i++)
        for (size_t k = 0; k < i; k++)
            if (operation_of[i] != UINT32_MAX) assert_true(operation_of[i] != operation_of[k]);
}

/* How many calls have another one of their operation. */
static uint64_t can_match(const struct world *w)
{
    uint32_t calls[2 * OPERATIONS_MAX] = {0};
    uint64_t sum = 0;
    for (size_t i = 0; i < w->count; i++) calls[w->truth[i]]++;
    for (size_t i = 0; i < 2 * OPERATIONS_MAX; i++) sum += calls[i] > 1 ? calls[i] : 0;
    return sum;
}

static struct recipe random_recipe(void)
{
    struct recipe r = {.processes = 2 + below(PROCESSES_MAX - 1),
                       .operations = 20 + below(60),
                       .numbered = below(2),
                       .noise_ns = 400000};
    r.named = r.numbered || below(2);
    for (uint32_t p = 0; p < r.processes; p++) {
        if (below(3) == 0) r.lost[p] = below(10);
        if (below(2)) r.offset_ns[p] = (int64_t)below(2000000000) * 3 - 3000000000;
        if (below(2)) r.drift[p] = (double)below(100) * 1e-6 - 5e-5;
    }
    return r;
}

static void matches(void **state)
{
    (void)state;
    const unsigned runs = cts_test_count(40, 2000);
    struct world *const w = calloc(1, sizeof *w);
    assert_non_null(w);
    for (unsigned i = 0; i < runs; i++) {
        random_start(i + 1);
        const struct recipe r = random_recipe();
        w->count = 0;
        add(w, &r, 77, 0);
        if (below(2)) add(w, &r, 78, OPERATIONS_MAX);
        shuffle(w);
        struct cts_collective_match match;
        struct cts_error error;
        assert_int_equal(cts_collectives_match(w->calls, w->count, &match, &error), CTS_OK);
        expect_truth(w, &match);
        assert_int_equal(match.matched, can_match(w));
        assert_int_equal(match.matched + match.alone + match.ambiguous, w->count);
        cts_collective_match_release(&match);
    }
    free(w);
}

/* A program that repeats itself, and clocks that differ: nothing says which step is which. */
static void ambiguous(void **state)
{
    (void)state;
    struct world *const w = calloc(1, sizeof *w);
    assert_non_null(w);
    random_start(5);
    struct recipe r = {.processes = 2, .operations = 40, .named = true};
    r.offset_ns[1] = 3000000000;
    add(w, &r, 77, 0);
    struct cts_collective_match match;
    struct cts_error error;
    assert_int_equal(cts_collectives_match(w->calls, w->count, &match, &error), CTS_OK);
    assert_int_equal(match.matched, 0);
    assert_int_equal(match.ambiguous, 40);
    cts_collective_match_release(&match);
    w->count = 0;
    r.offset_ns[1] = 20000; /* clocks that agree tell */
    add(w, &r, 77, 0);
    assert_int_equal(cts_collectives_match(w->calls, w->count, &match, &error), CTS_OK);
    assert_int_equal(match.matched, 80);
    cts_collective_match_release(&match);
    free(w);
}

/* More processes than the communicator has members: two communicators of one name. Different
 * operations with one number are none. */
static void contradictions(void **state)
{
    (void)state;
    struct cts_nccl_kernel calls[4] = {{1, 5, 1, 0, 10, 20, 0, 0, 2},
                                       {1, 5, 1, 0, 11, 20, 1, 0, 2},
                                       {1, 5, 1, 0, 12, 20, 2, 0, 2},
                                       {1, 5, 1, 0, 13, 20, 3, 0, 2}};
    struct cts_collective_match match;
    struct cts_error error;
    assert_int_equal(cts_collectives_match(calls, 4, &match, &error), CTS_OK);
    assert_int_equal(match.ambiguous, 4);
    assert_int_equal(match.operation_count, 0);
    cts_collective_match_release(&match);
    calls[1].kind = 2;
    assert_int_equal(cts_collectives_match(calls, 2, &match, &error), CTS_OK);
    assert_int_equal(match.ambiguous, 2);
    cts_collective_match_release(&match);
    assert_int_equal(cts_collectives_match(calls, 1, &match, &error), CTS_OK);
    assert_int_equal(match.alone, 1);
    cts_collective_match_release(&match);
    assert_int_equal(cts_collectives_match(calls, 0, &match, &error), CTS_OK);
    assert_int_equal(match.operation_count, 0);
    cts_collective_match_release(&match);
}

static void names(void **state)
{
    (void)state;
    assert_true(cts_collective_is_kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"));
    assert_true(cts_collective_is_kernel("ncclDevKernel_SendRecv(ncclDevComm*)"));
    assert_true(cts_collective_is_kernel("void ncclDevKernel_Generic_4(int)"));
    assert_false(cts_collective_is_kernel("ncclAllReduce"));
    assert_false(cts_collective_is_kernel("gemm"));
    assert_false(cts_collective_is_kernel(NULL));
    assert_int_equal(cts_collective_kind_of("ncclDevKernel_AllGather_RING_LL(ncclDevComm*)"),
                     cts_collective_kind_of("ncclDevKernel_AllGather_RING_LL(other)"));
    assert_true(cts_collective_kind_of("ncclDevKernel_AllGather_RING_LL(a)") !=
                cts_collective_kind_of("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(a)"));
}

/* 3 s and 50 ppm, ends that scatter by 2 us, some of them by ms. */
static void clocks(void **state)
{
    (void)state;
    struct cts_clock_pair pairs[300];
    for (unsigned run = 0; run < 50; run++) {
        random_start(run);
        for (unsigned i = 0; i < 300; i++) {
            const uint64_t own_ns = 5000000000 + i * 7000000ull + below(1000000);
            int64_t difference_ns = 3000000000 + (int64_t)((double)(own_ns - 5000000000) * 50e-6);
            difference_ns += (int64_t)below(2000) - 1000;
            if (i % 50 == 7) difference_ns += 2000000;
            pairs[i] = (struct cts_clock_pair){own_ns, difference_ns};
        }
        struct cts_clock_fit fit;
        cts_clock_fit(pairs, 300, &fit);
        if (!(fit.drift > 49.0e-6 && fit.drift < 51.0e-6))
            fail_msg("run %u: drift %g", run, fit.drift);
        for (unsigned i = 0; i < 300; i++) {
            const double expected = 3000000000 + (double)(pairs[i].own_ns - 5000000000) * 50e-6;
            const double error = cts_clock_fit_at(&fit, pairs[i].own_ns) - expected;
            assert_true(error < 1500 && error > -1500);
        }
        assert_true(fit.residual_ns < 2500);
    }
    struct cts_clock_fit one;
    cts_clock_fit(pairs, 1, &one);
    assert_int_equal((int64_t)one.offset_ns, pairs[0].difference_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matches), cmocka_unit_test(ambiguous),
                                       cmocka_unit_test(contradictions), cmocka_unit_test(names),
                                       cmocka_unit_test(clocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
