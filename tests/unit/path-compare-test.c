/* Two timed runs: what became faster, what moved to the critical path, and what did neither. */
#include "path-fixture.h"

#include "analyze/path/compare.h"

/* A host that works while a kernel runs, and then waits for it. */
static struct trace *run_of(uint64_t host_ns, uint64_t kernel_ns, const char *extra)
{
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 1);
    const uint64_t end = 20 + (host_ns > kernel_ns ? host_ns : kernel_ns);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 20, stream);
    trace_call(t, host, 20, 20 + host_ns, "host work");
    trace_set(trace_enter(t, host, 20 + host_ns, "cuStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF,
              stream);
    trace_leave(t, host, end + 1, "cuStreamSynchronize");
    if (extra) trace_call(t, host, end + 1, end + 11, extra);
    trace_leave(t, host, end + 20, "main");
    trace_call(t, stream, 20, 20 + kernel_ns, "_Z6kernelPf");
    return t;
}

static const struct cts_time_row *row_of(const struct cts_time_diff *diff, const char *name)
{
    for (size_t i = 0; i < diff->row_count; i++)
        if (!strcmp(diff->rows[i].short_name, name)) return &diff->rows[i];
    fail_msg("no row '%s'", name);
    return NULL;
}

struct pair {
    struct trace *traces[2];
    struct cts_path results[2];
    struct cts_time_diff diff;
};

static void compare(struct pair *pair, struct trace *before, struct trace *after)
{
    struct cts_error error;
    pair->traces[0] = before;
    pair->traces[1] = after;
    for (unsigned i = 0; i < 2; i++)
        trace_analyze(pair->traces[i], (struct cts_path_options){0}, &pair->results[i]);
    assert_int_equal(cts_time_compare(&pair->results[0], &pair->results[1], &pair->diff, &error),
                     CTS_OK);
}

static void pair_release(struct pair *pair)
{
    cts_time_diff_release(&pair->diff);
    for (unsigned i = 0; i < 2; i++) finish(pair->traces[i], &pair->results[i]);
}

/* The kernel is hidden behind the host's work; when that gets faster the kernel is the path. */
static void kernel_moves_to_the_path(void **state)
{
    (void)state;
    struct pair pair;
    compare(&pair, run_of(1000, 800, NULL), run_of(200, 800, NULL));
    const struct cts_time_row *const work = row_of(&pair.diff, "host work");
    const struct cts_time_row *const kernel = row_of(&pair.diff, "kernel");
    assert_int_equal(work->change, CTS_TIME_FASTER);
    assert_int_equal(work->before.path_ns, 1000);
    assert_int_equal(work->after.path_ns, 0);
    assert_int_equal(work->move, CTS_PATH_MOVES_OFF); /* 1000 ns of path gone, 800 of time */
    assert_int_equal(kernel->change, CTS_TIME_SAME);
    assert_int_equal(kernel->before.path_ns, 0);
    assert_int_equal(kernel->after.path_ns, 800);
    assert_int_equal(kernel->move, CTS_PATH_MOVES_ON);
    assert_int_equal(kernel->after.blame_ns, 600);
    pair_release(&pair);
}

/* What is on the path and gets slower has not moved; nothing moves between equal runs. */
static void slower_is_not_moved(void **state)
{
    (void)state;
    struct pair pair;
    compare(&pair, run_of(100, 800, NULL), run_of(100, 900, NULL));
    const struct cts_time_row *const kernel = row_of(&pair.diff, "kernel");
    assert_int_equal(kernel->change, CTS_TIME_SLOWER);
    for (size_t i = 0; i < pair.diff.row_count; i++)
        assert_int_equal(pair.diff.rows[i].move, CTS_PATH_STAYS);
    pair_release(&pair);
    compare(&pair, run_of(100, 800, NULL), run_of(100, 800, NULL));
    for (size_t i = 0; i < pair.diff.row_count; i++) {
        assert_int_equal(pair.diff.rows[i].move, CTS_PATH_STAYS);
        assert_int_equal(pair.diff.rows[i].change, CTS_TIME_SAME);
    }
    pair_release(&pair);
}

/* A call that waits for a faster kernel is no faster itself. */
static void calls_that_wait_less(void **state)
{
    (void)state;
    struct pair pair;
    compare(&pair, run_of(100, 800, NULL), run_of(100, 400, NULL));
    const struct cts_time_row *const call = row_of(&pair.diff, "cuStreamSynchronize");
    assert_int_equal(row_of(&pair.diff, "kernel")->change, CTS_TIME_FASTER);
    assert_int_equal(call->change, CTS_TIME_WAITS_LESS);
    assert_int_equal(call->before.wait_ns, 700);
    assert_int_equal(call->after.wait_ns, 300);
    pair_release(&pair);
    compare(&pair, run_of(100, 400, NULL), run_of(100, 800, NULL));
    assert_int_equal(row_of(&pair.diff, "cuStreamSynchronize")->change, CTS_TIME_WAITS_MORE);
    pair_release(&pair);
}

static void new_and_gone(void **state)
{
    (void)state;
    struct pair pair;
    compare(&pair, run_of(100, 800, "old"), run_of(100, 800, "fresh"));
    assert_int_equal(row_of(&pair.diff, "old")->change, CTS_TIME_GONE);
    assert_int_equal(row_of(&pair.diff, "fresh")->change, CTS_TIME_NEW);
    assert_int_equal(row_of(&pair.diff, "fresh")->after.calls, 1);
    assert_int_equal(row_of(&pair.diff, "fresh")->before.calls, 0);
    pair_release(&pair);
}

/* A host that asks for its kernel every `step_ns`, from 20 on: the last query is behind its end. */
static struct trace *polled_run(uint64_t kernel_ns, uint64_t step_ns)
{
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 1);
    trace_launch(t, host, 10, 20, stream);
    trace_call(t, stream, 20, 20 + kernel_ns, "_Z6kernelPf");
    uint64_t now_ns = 20;
    for (;; now_ns += step_ns) {
        struct trace_event *const leave = trace_call(t, host, now_ns, now_ns + 3, "cuStreamQuery");
        trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, stream);
        trace_set(leave, CTS_ATTRIBUTE_RESULT, now_ns < 20 + kernel_ns ? 600 : 0);
        if (now_ns >= 20 + kernel_ns) break;
    }
    trace_call(t, host, now_ns + 3, now_ns + 53, "rest");
    return t;
}

/* How often a loop asks is chance: it is one call and one wait, and changes as the kernel does. */
static void polls_are_one_wait(void **state)
{
    (void)state;
    struct pair pair;
    compare(&pair, polled_run(100000, 20), polled_run(100000, 45));
    const struct cts_time_row *const same = row_of(&pair.diff, "cuStreamQuery");
    assert_int_equal(same->before.calls, 1);
    assert_int_equal(same->after.calls, 1);
    assert_int_equal(same->change, CTS_TIME_SAME);
    assert_int_equal(same->before.wait_ns, 100000);
    assert_int_equal(same->after.wait_ns, 100000);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pair.results[i].patterns[CTS_PATH_PATTERN_STREAM_QUERY].count, 1);
    pair_release(&pair);
    compare(&pair, polled_run(100000, 20), polled_run(50000, 20));
    assert_int_equal(row_of(&pair.diff, "cuStreamQuery")->change, CTS_TIME_WAITS_LESS);
    assert_int_equal(row_of(&pair.diff, "kernel")->change, CTS_TIME_FASTER);
    pair_release(&pair);
    /* between queries a fifth of a millisecond apart may be work: their own time is chance */
    compare(&pair, polled_run(4000000, 200000), polled_run(4000000, 400000));
    const struct cts_time_row *const far = row_of(&pair.diff, "cuStreamQuery");
    assert_int_equal(far->before.calls, 1);
    assert_int_equal(far->after.calls, 1);
    assert_int_equal(far->before.exclusive_ns, 21 * 3);
    assert_int_equal(far->after.exclusive_ns, 11 * 3);
    assert_int_equal(far->change, CTS_TIME_SAME);
    pair_release(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_moves_to_the_path), cmocka_unit_test(slower_is_not_moved),
        cmocka_unit_test(calls_that_wait_less),     cmocka_unit_test(new_and_gone),
        cmocka_unit_test(polls_are_one_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
