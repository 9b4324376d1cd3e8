/* Plans, statistics and projections of `try`, and the messages that carry them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/try/try-iteration.h"
#include "analyze/try/try-judge.h"
#include "count.h"
#include "trace/trial/trial-message.h"

static uint32_t seed = 7;
static uint32_t random_below(uint32_t limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

/* ---- stretches ---- */

/* Launches of one CTA in two streams: 0 1 | 2 in stream 0, 3 in stream 1 after 0; then a wait. */
static struct cts_stretch small_stretch(void)
{
    static const struct {
        uint32_t stream, afters[2], after_count;
    } ops[] = {{0, {0}, 0}, {0, {0}, 1}, {0, {1}, 1}, {1, {0}, 1}};
    struct cts_stretch stretch = {.parallel_ctas = 4, .device = "test", .refusal = ""};
    struct cts_error error;
    for (uint32_t i = 0; i < 4; i++) {
        const struct cts_trial_op op = {.kind = CTS_TRIAL_LAUNCH,
                                        .number = i,
                                        .stream = ops[i].stream,
                                        .grid = {1, 1, 1},
                                        .block = {32, 1, 1},
                                        .name = "k"};
        assert_int_equal(cts_stretch_add_op(&stretch, &op, &error), CTS_OK);
        for (uint32_t k = 0; k < ops[i].after_count; k++)
            assert_int_equal(cts_stretch_add_after(&stretch, ops[i].afters[k], &error), CTS_OK);
    }
    const struct cts_trial_op wait = {.kind = CTS_TRIAL_WAIT, .number = 0, .name = "wait"};
    assert_int_equal(cts_stretch_add_op(&stretch, &wait, &error), CTS_OK);
    assert_int_equal(cts_stretch_add_after(&stretch, 2, &error), CTS_OK);
    assert_int_equal(cts_stretch_add_after(&stretch, 3, &error), CTS_OK);
    return stretch;
}

static struct cts_trial_plan plan_of(const struct cts_stretch *stretch,
                                     const struct cts_try_change *changes, size_t count)
{
    struct cts_error error;
    struct cts_trial_plan plan;
    const struct cts_try_plan_options options = {.stretch = stretch, .repeats = 10};
    assert_int_equal(cts_try_plan(&options, changes, count, &plan, &error), CTS_OK);
    assert_int_equal(cts_trial_plan_check(&plan, stretch, &error), CTS_OK);
    return plan;
}

static bool step_follows(const struct cts_trial_plan *plan, uint32_t step, uint32_t before)
{
    for (uint32_t i = 0; i < plan->steps[step].after_count; i++)
        if (plan->afters[plan->steps[step].after_first + i] == before) return true;
    return false;
}

static void unchanged_plan_is_the_stretch(void **state)
{
    (void)state;
    struct cts_stretch stretch = small_stretch();
    struct cts_trial_plan plan = plan_of(&stretch, NULL, 0);
    assert_true(plan.is_baseline);
    assert_int_equal(plan.step_count, 5);
    assert_int_equal(plan.lane_count, 2);
    assert_true(step_follows(&plan, 3, 0));
    assert_int_equal(plan.steps[4].op, CTS_TRIAL_NONE);
    assert_true(step_follows(&plan, 4, 2) && step_follows(&plan, 4, 3));
    cts_trial_plan_release(&plan);
    cts_stretch_release(&stretch);
}

static void dropping_keeps_the_order_around(void **state)
{
    (void)state;
    struct cts_stretch stretch = small_stretch();
    const struct cts_try_change drop = {.kind = CTS_TRY_DROP, .op = 1, .other = CTS_TRIAL_NONE};
    struct cts_trial_plan plan = plan_of(&stretch, &drop, 1);
    assert_int_equal(plan.step_count, 4);
    assert_int_equal(plan.steps[1].op, 2);
    assert_true(step_follows(&plan, 1, 0)); /* 2 came after 1, which came after 0 */
    cts_trial_plan_release(&plan);
    cts_stretch_release(&stretch);
}

static void overlapping_frees_the_second(void **state)
{
    (void)state;
    struct cts_stretch stretch = small_stretch();
    const struct cts_try_change overlap = {.kind = CTS_TRY_OVERLAP, .op = 1, .other = 2};
    struct cts_trial_plan plan = plan_of(&stretch, &overlap, 1);
    assert_true(step_follows(&plan, 2, 0));
    assert_false(step_follows(&plan, 2, 1));
    assert_int_not_equal(plan.steps[2].lane, plan.steps[1].lane);
    cts_trial_plan_release(&plan);
    cts_stretch_release(&stretch);
}

static void order_needs_a_recording(void **state)
{
    (void)state;
    struct cts_error error;
    struct cts_trial_plan plan;
    struct cts_stretch stretch = small_stretch();
    const struct cts_try_plan_options options = {.stretch = &stretch, .repeats = 10};
    const struct cts_try_change order = {.kind = CTS_TRY_ORDER};
    assert_int_equal(cts_try_plan(&options, &order, 1, &plan, &error), CTS_USAGE);
    assert_non_null(strstr(error.text, "--run"));
    cts_stretch_release(&stretch);
}

/* ---- statistics ---- */

/* The probability that the true median lies below the k-th smallest of n values, by counting. */
static double below(size_t n, size_t k)
{
    size_t bad = 0;
    for (size_t signs = 0; signs < (size_t)1 << n; signs++)
        bad += (size_t)__builtin_popcountll(signs) < k;
    return (double)bad / (double)((size_t)1 << n);
}

static void intervals_hold_the_median(void **state)
{
    (void)state;
    for (size_t n = 6; n <= 18; n++) {
        double values[18];
        for (size_t i = 0; i < n; i++) values[i] = (double)(n - 1 - i);
        const struct cts_try_estimate e = cts_try_estimate_of(values, n);
        const size_t k = (size_t)e.low + 1; /* it is the k-th smallest */
        assert_true(2 * below(n, k) <= 0.05);
        assert_true(2 * below(n, k + 1) > 0.05);
        assert_true(e.high == (double)(n - k));
        assert_true(e.median == (double)(n - 1) / 2);
    }
}

/* ---- projections ---- */

static uint64_t foretold(const struct cts_stretch *stretch, const struct cts_trial_plan *plan,
                         const uint64_t *duration_ns, uint64_t issue_ns, uint64_t wait_ns)
{
    struct cts_error error;
    uint64_t elapsed_ns = 0;
    const struct cts_try_costs costs = {
        .duration_ns = duration_ns, .issue_ns = issue_ns, .wait_ns = wait_ns};
    assert_int_equal(cts_try_foretell(stretch, plan, &costs, &elapsed_ns, &error), CTS_OK);
    return elapsed_ns;
}

static void projections_follow_the_plan(void **state)
{
    (void)state;
    struct cts_stretch stretch = small_stretch();
    const uint64_t duration_ns[] = {100, 200, 300, 1000, 0};
    const struct cts_try_change drop = {.kind = CTS_TRY_DROP, .op = 3, .other = CTS_TRIAL_NONE};
    struct cts_trial_plan plain = plan_of(&stretch, NULL, 0), less = plan_of(&stretch, &drop, 1);
    assert_int_equal(foretold(&stretch, &plain, duration_ns, 0, 0), 1100);
    assert_int_equal(foretold(&stretch, &less, duration_ns, 0, 0), 600);
    /* the host has asked for 3 after four calls; it waits for it, and once more at the end */
    assert_int_equal(foretold(&stretch, &plain, duration_ns, 50, 7), 4 * 50 + 1000 + 2 * 7);
    stretch.parallel_ctas = 1; /* 3 shares the device with 1 and 2 */
    assert_int_equal(foretold(&stretch, &plain, duration_ns, 0, 0), 1600);
    stretch.ops[4].gap_ns = 0;
    plain.steps[1].gap_ns = 5000; /* the host asks late for 1, and so for all that follows */
    assert_int_equal(foretold(&stretch, &plain, duration_ns, 0, 0), 5000 + 1500);
    cts_trial_plan_release(&plain);
    cts_trial_plan_release(&less);
    cts_stretch_release(&stretch);
}

static uint64_t foretold_with(const struct cts_stretch *stretch, const struct cts_trial_plan *plan,
                              struct cts_try_costs costs)
{
    struct cts_error error;
    uint64_t elapsed_ns = 0;
    assert_int_equal(cts_try_foretell(stretch, plan, &costs, &elapsed_ns, &error), CTS_OK);
    return elapsed_ns;
}

static void projections_know_what_sharing_costs(void **state)
{
    (void)state;
    struct cts_stretch stretch = small_stretch(); /* 3 comes after 0, in another lane */
    const uint64_t duration_ns[] = {100, 200, 300, 1000, 0}, bytes[] = {0, 0, 600, 2000, 0};
    const struct cts_try_change graph = {
        .kind = CTS_TRY_GRAPH, .op = CTS_TRIAL_NONE, .other = CTS_TRIAL_NONE};
    struct cts_trial_plan plain = plan_of(&stretch, NULL, 0), whole = plan_of(&stretch, &graph, 1);
    struct cts_try_costs costs = {.duration_ns = duration_ns, .edge_ns = 40};
    assert_int_equal(foretold_with(&stretch, &plain, costs), 100 + 40 + 1000);
    costs.issue_ns = 50;
    costs.edge_issue_ns = 500; /* 0 to 2 are asked for until 150; 3 until 700 */
    assert_int_equal(foretold_with(&stretch, &plain, costs), 4 * 50 + 500 + 1000);
    assert_int_equal(foretold_with(&stretch, &whole, costs), 50 + 100 + 1000);
    costs = (struct cts_try_costs){.duration_ns = duration_ns, .bytes = bytes};
    stretch.memory_bytes_per_us = 2000; /* 2 and 3 want all of it, 1 nothing: 3 runs alone for 200
                                           ns, then half as fast as long as 2 does */
    assert_int_equal(foretold_with(&stretch, &plain, costs), 100 + 200 + 600 + 500);
    stretch.memory_bytes_per_us = 0;
    costs.overhead_ns = 60; /* 0 keeps half of its time */
    assert_int_equal(foretold_with(&stretch, &plain, costs), 50 + 940);
    stretch.ops[3].resident_ctas = 1; /* 3 takes the whole device, 1 and 2 a quarter each */
    costs.overhead_ns = 0;
    assert_int_equal(foretold_with(&stretch, &plain, costs), 100 + 1000 + 500 / 4);
    cts_trial_plan_release(&plain);
    cts_trial_plan_release(&whole);
    cts_stretch_release(&stretch);
}

/* ---- the repeating part ---- */

static size_t covered(const char *const *names, size_t count, size_t first, size_t period)
{
    size_t end = first + period;
    while (end < count && !strcmp(names[end], names[end - period])) end++;
    return (end - first) / period * period;
}

static void patterns_are_the_longest(void **state)
{
    (void)state;
    static const char *const letters[] = {"a", "b", "c"};
    for (uint32_t round = 0; round < cts_test_count(300, 20000); round++) {
        const char *names[24];
        struct cts_error error;
        struct cts_try_pattern found;
        const size_t count = random_below(24) + 1;
        size_t best = 0, best_period = 0;
        for (size_t i = 0; i < count; i++) names[i] = letters[random_below(round % 3 + 1)];
        assert_int_equal(cts_try_find_pattern(names, count, &found, &error), CTS_OK);
        for (size_t period = 1; period <= count / 2; period++)
            for (size_t first = 0; first + 2 * period <= count; first++) {
                const size_t length = covered(names, count, first, period);
                if (length < 2 * period || length <= best) continue;
                best = length;
                best_period = period;
            }
        assert_int_equal(found.period * found.iterations, best);
        assert_int_equal(found.iterations ? found.period : 0, best_period);
        if (best) assert_int_equal(covered(names, count, found.first, found.period), best);
    }
}

/* ---- messages ---- */

static void messages_keep_everything(void **state)
{
    (void)state;
    struct cts_error error;
    struct cts_buffer message = {0};
    struct cts_stretch stretch = small_stretch(), read;
    const struct cts_trial_region region = {
        .address = 512, .size_bytes = 64, .op = CTS_TRIAL_NONE, .variable = "x", .kind = "device"};
    assert_int_equal(cts_stretch_add_region(&stretch, &region, &error), CTS_OK);
    assert_int_equal(cts_trial_put_stretch(&message, &stretch, &error), CTS_OK);
    assert_int_equal(cts_trial_get_stretch(&message, &read, &error), CTS_OK);
    assert_int_equal(read.op_count, stretch.op_count);
    for (size_t i = 0; i < read.op_count; i++) {
        assert_string_equal(read.ops[i].name, stretch.ops[i].name);
        read.ops[i].name = stretch.ops[i].name;
        /* but for the padding in front of `bytes` */
        const size_t first = offsetof(struct cts_trial_op, after_count) + sizeof(uint32_t);
        const size_t second = offsetof(struct cts_trial_op, bytes);
        assert_memory_equal(&read.ops[i], &stretch.ops[i], first);
        assert_memory_equal(&read.ops[i].bytes, &stretch.ops[i].bytes, sizeof read.ops[i] - second);
    }
    assert_string_equal(read.regions[0].variable, "x");
    assert_int_equal(read.regions[0].size_bytes, 64);
    cts_stretch_release(&read);
    cts_stretch_release(&stretch);
    cts_buffer_release(&message);
}

/* Any byte changed, or the end missing: refused, or a stretch that makes sense. */
static void damaged_messages_are_refused(void **state)
{
    (void)state;
    struct cts_error error;
    struct cts_buffer message = {0};
    struct cts_stretch stretch = small_stretch(), read;
    assert_int_equal(cts_trial_put_stretch(&message, &stretch, &error), CTS_OK);
    const size_t whole = message.size_bytes;
    for (size_t size = 0; size < whole; size++) {
        message.size_bytes = size;
        assert_int_not_equal(cts_trial_get_stretch(&message, &read, &error), CTS_OK);
    }
    message.size_bytes = whole;
    for (size_t at = 24; at < whole; at++) {
        message.data[at] ^= 0xff;
        if (!cts_trial_get_stretch(&message, &read, &error)) {
            for (size_t i = 0; i < read.op_count; i++)
                for (uint32_t k = 0; k < read.ops[i].after_count; k++)
                    assert_true(read.afters[read.ops[i].after_first + k] < i);
            cts_stretch_release(&read);
        }
        message.data[at] ^= 0xff;
    }
    cts_stretch_release(&stretch);
    cts_buffer_release(&message);
}

static void senseless_plans_are_refused(void **state)
{
    (void)state;
    struct cts_error error;
    struct cts_stretch stretch = small_stretch();
    struct cts_trial_plan plan = plan_of(&stretch, NULL, 0);
    plan.afters[plan.steps[1].after_first] = 3;
    assert_int_equal(cts_trial_plan_check(&plan, &stretch, &error), CTS_FORMAT);
    assert_string_equal(error.text, "step 1 comes after a later step");
    plan.afters[plan.steps[1].after_first] = 0;
    plan.steps[0].lane = 2;
    assert_int_equal(cts_trial_plan_check(&plan, &stretch, &error), CTS_FORMAT);
    plan.steps[0].lane = 0;
    plan.steps[0].op = 4;
    assert_int_equal(cts_trial_plan_check(&plan, &stretch, &error), CTS_FORMAT);
    cts_trial_plan_release(&plan);
    cts_stretch_release(&stretch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unchanged_plan_is_the_stretch),
        cmocka_unit_test(dropping_keeps_the_order_around),
        cmocka_unit_test(overlapping_frees_the_second),
        cmocka_unit_test(order_needs_a_recording),
        cmocka_unit_test(intervals_hold_the_median),
        cmocka_unit_test(projections_follow_the_plan),
        cmocka_unit_test(projections_know_what_sharing_costs),
        cmocka_unit_test(patterns_are_the_longest),
        cmocka_unit_test(messages_keep_everything),
        cmocka_unit_test(damaged_messages_are_refused),
        cmocka_unit_test(senseless_plans_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
