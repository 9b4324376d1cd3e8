/* What is counted of a run between two times, or within an activity, exactly. path-twin-test.c
 * compares parts of random programs. */
#include "path-fixture.h"

/* Two ranks compute and meet twice; "steps" is from 20 to 84 on the one, from 40 to 90 on the
 * other:
 *
 *     rank 0   main 0 .. 100:  work 10-20, 20-30  barrier 30-52  work 52-60  barrier 60-82
 *     rank 1   main 5 .. 105:  work 10-40, 40-50  barrier 50-52  work 52-80  barrier 80-82
 *
 * Rank 0 waits from 30 to 50 and from 60 to 80; the path is all of rank 1. */
static struct trace *two_ranks(void)
{
    static const uint64_t times[2][9] = {{0, 20, 30, 52, 60, 82, 84, 100},
                                         {5, 40, 50, 52, 80, 82, 90, 105}};
    struct trace *const trace = trace_new();
    const uint32_t ranks[2] = {trace_rank(trace), trace_rank(trace)};
    for (unsigned r = 0; r < 2; r++) {
        const uint64_t *const t = times[r];
        trace_enter(trace, ranks[r], t[0], "main");
        trace_call(trace, ranks[r], 10, t[1], "work");
        trace_enter(trace, ranks[r], t[1], "steps");
        trace_call(trace, ranks[r], t[1], t[2], "work");
        trace_collective(trace, ranks[r], t[2], t[3], 0, 0);
        trace_call(trace, ranks[r], t[3], t[4], "work");
        trace_collective(trace, ranks[r], t[4], t[5], 0, 0);
        trace_leave(trace, ranks[r], t[6], "steps");
        trace_leave(trace, ranks[r], t[7], "main");
    }
    return trace;
}

static void expect_calls(const struct cts_path *result, const char *name, uint64_t calls,
                         uint64_t inclusive_ns, uint64_t exclusive_ns)
{
    const struct cts_path_row row = row_named(result, name);
    assert_int_equal(row.calls, calls);
    assert_int_equal(row.inclusive_ns, inclusive_ns);
    assert_int_equal(row.exclusive_ns, exclusive_ns);
}

static void within_an_activity(void **state)
{
    (void)state;
    static const char *const names[] = {"steps", "st*s"};
    for (unsigned i = 0; i < 2; i++) {
        struct trace *const trace = two_ranks();
        struct cts_path r;
        trace_analyze(trace, (struct cts_path_options){.within = names[i]}, &r);
        assert_int_equal(r.part_begin_ns, 20);
        assert_int_equal(r.part_end_ns, 90);
        expect_row(&r, "work", 20 + 10 + 28, 40);
        expect_row(&r, "MPI_Barrier", 4, 0);
        expect_row(&r, "steps", 8, 0);
        expect_row(&r, "main", 0, 0);
        expect_pattern(&r, CTS_PATH_PATTERN_MPI_BARRIER, 2, 40);
        expect_calls(&r, "work", 5, 10 + 8 + 20 + 10 + 28, 10 + 8 + 20 + 10 + 28);
        expect_calls(&r, "steps", 2, 64 + 50, 2 + 8);
        expect_calls(&r, "main", 2, 70 + 70, 6);
        finish(trace, &r);
    }
}

/* Waits and activities that begin before the part or end behind it count with what lies in it. */
static void a_part_cuts_what_it_meets(void **state)
{
    (void)state;
    struct trace *const trace = two_ranks();
    struct cts_path r;
    trace_analyze(trace, (struct cts_path_options){.from_ns = 35, .to_ns = 70}, &r);
    expect_row(&r, "work", 5 + 10 + 18, 15 + 10);
    expect_row(&r, "MPI_Barrier", 2, 0);
    expect_pattern(&r, CTS_PATH_PATTERN_MPI_BARRIER, 2, 25);
    assert_int_equal(r.patterns[CTS_PATH_PATTERN_MPI_BARRIER].worst[0].begin_ns, 35);
    assert_int_equal(r.patterns[CTS_PATH_PATTERN_MPI_BARRIER].worst[0].end_ns, 50);
    expect_calls(&r, "work", 4, 8 + 5 + 10 + 18, 8 + 5 + 10 + 18);
    expect_calls(&r, "MPI_Barrier", 3, 17 + 10 + 2, 17 + 10 + 2);
    finish(trace, &r);
}

/* A region that is not left ends with its location. */
static void an_activity_without_a_leave(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace);
    trace_call(trace, host, 0, 10, "start");
    trace_enter(trace, host, 10, "steps");
    trace_call(trace, host, 12, 30, "work");
    struct cts_path r;
    trace_analyze(trace, (struct cts_path_options){.within = "steps"}, &r);
    assert_int_equal(r.part_begin_ns, 10);
    assert_int_equal(r.part_end_ns, 30);
    expect_row(&r, "work", 18, 0);
    expect_row(&r, "steps", 2, 0);
    expect_row(&r, "start", 0, 0);
    finish(trace, &r);
}

static void expect_refused(struct trace *trace, const char *within, const char *text)
{
    const struct cts_path_source source = trace_source(trace);
    const struct cts_path_options options = {.within = within};
    struct cts_path r;
    struct cts_error error;
    assert_int_equal(cts_path_analyze(&source, &options, &r, &error), CTS_USAGE);
    assert_string_equal(error.text, text);
}

static void names_that_nothing_has(void **state)
{
    (void)state;
    struct trace *const trace = two_ranks();
    trace_call(trace, 0, 101, 101, "nothing");
    (void)trace_region(trace, "stepped"); /* defined, never called */
    expect_refused(trace, "step", "no activity is called 'step'; similar names: 'steps'");
    expect_refused(trace, "*tep*d", "no activity is called '*tep*d'; similar names: 'steps'");
    expect_refused(trace, "elsewhere",
                   "no activity is called 'elsewhere' ('ctascope path' lists all)");
    expect_refused(trace, "nothing", "'nothing' takes no time");
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_an_activity),
        cmocka_unit_test(a_part_cuts_what_it_meets),
        cmocka_unit_test(an_activity_without_a_leave),
        cmocka_unit_test(names_that_nothing_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
