/* Loops that poll: each is one wait, however often it asks, and waits only where that is certain.
 */
#include "path-fixture.h"

enum { PAUSE_NS = 200000 }; /* too long to be certainly the loop's own */

static void query(struct trace *t, uint32_t host, uint64_t begin_ns, uint32_t stream, bool done)
{
    struct trace_event *const leave = trace_call(t, host, begin_ns, begin_ns + 4, "cuStreamQuery");
    trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, stream);
    trace_set(leave, CTS_ATTRIBUTE_RESULT, done ? 0 : 600);
}

struct polled {
    struct trace *trace;
    uint32_t host, stream;
};

/* A kernel from 15 to end_ns, launched from 0 to 10. */
static struct polled start(uint64_t end_ns)
{
    struct polled p = {.trace = trace_new()};
    p.host = trace_rank(p.trace);
    p.stream = trace_stream(p.trace, p.host, 7);
    trace_launch(p.trace, p.host, 0, 10, p.stream);
    trace_call(p.trace, p.stream, 15, end_ns, "a kernel");
    return p;
}

static void expect_waits(struct polled *p, uint64_t count, uint64_t time_ns, uint64_t longest_ns)
{
    struct cts_path r;
    trace_analyze(p->trace, (struct cts_path_options){.keep_waits = true}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_STREAM_QUERY, count, time_ns);
    const struct cts_path_pattern_row *const row = &r.patterns[CTS_PATH_PATTERN_STREAM_QUERY];
    assert_int_equal(row->worst_count, count < 5 ? count : 5);
    if (count) assert_int_equal(row->worst[0].end_ns - row->worst[0].begin_ns, longest_ns);
    finish(p->trace, &r);
}

/* From the first query to the end of the kernel, whether that is within a query or between two. */
static void one_wait(void **state)
{
    (void)state;
    for (uint64_t end_ns = 48; end_ns < 62; end_ns++) {
        struct polled p = start(end_ns);
        for (uint64_t begin_ns = 20;; begin_ns += 10) {
            query(p.trace, p.host, begin_ns, p.stream, begin_ns >= end_ns);
            if (begin_ns >= end_ns) break;
        }
        trace_call(p.trace, p.host, 80, 100, "end");
        expect_waits(&p, 1, end_ns - 20, end_ns - 20);
    }
}

/* Between its queries the thread may work: only the queries wait, but they are one wait. */
static void long_pauses(void **state)
{
    (void)state;
    struct polled p = start(10 * PAUSE_NS);
    uint64_t queries = 0, now_ns = 20;
    for (; now_ns < 10 * PAUSE_NS; now_ns += PAUSE_NS, queries++)
        query(p.trace, p.host, now_ns, p.stream, false);
    query(p.trace, p.host, now_ns, p.stream, true);
    expect_waits(&p, 1, 4 * queries, 4);
}

static void functions_between(void **state)
{
    (void)state;
    struct polled p = start(95);
    for (uint64_t i = 0; i < 5; i++) {
        query(p.trace, p.host, 20 + 20 * i, p.stream, i == 4);
        trace_call(p.trace, p.host, 26 + 20 * i, 36 + 20 * i, "slice");
    }
    expect_waits(&p, 1, 4 * 4, 4);
}

/* What the query is called by is no function between two of them. */
static void wrapped(void **state)
{
    (void)state;
    struct polled p = start(50);
    for (uint64_t i = 0; i < 4; i++) {
        trace_enter(p.trace, p.host, 20 + 10 * i, "is_done");
        trace_enter(p.trace, p.host, 21 + 10 * i, "cudaStreamQuery");
        query(p.trace, p.host, 22 + 10 * i, p.stream, i == 3);
        trace_leave(p.trace, p.host, 27 + 10 * i, "cudaStreamQuery");
        trace_leave(p.trace, p.host, 28 + 10 * i, "is_done");
    }
    expect_waits(&p, 1, 50 - 22, 50 - 22);
}

/* A launch between two queries, or work that is waited for one after the other: several waits. */
static void several_waits(void **state)
{
    (void)state;
    struct polled p = start(45);
    query(p.trace, p.host, 20, p.stream, false);
    trace_launch(p.trace, p.host, 25, 29, p.stream);
    trace_call(p.trace, p.stream, 46, 70, "a kernel");
    query(p.trace, p.host, 30, p.stream, false);
    query(p.trace, p.host, 40, p.stream, false);
    query(p.trace, p.host, 80, p.stream, true);
    expect_waits(&p, 2, 4 + 70 - 30, 70 - 30);

    p = start(45);
    const uint32_t other = trace_stream(p.trace, p.host, 8);
    trace_launch(p.trace, p.host, 11, 14, other);
    trace_call(p.trace, other, 15, 75, "a kernel");
    for (uint64_t i = 0; i < 4; i++) query(p.trace, p.host, 20 + 10 * i, p.stream, i == 3);
    for (uint64_t i = 0; i < 3; i++) query(p.trace, p.host, 60 + 10 * i, other, i == 2);
    expect_waits(&p, 2, 45 - 20 + 75 - 60, 45 - 20);
}

/* Two streams asked in turn. */
static void in_turn(void **state)
{
    (void)state;
    struct polled p = start(52);
    const uint32_t other = trace_stream(p.trace, p.host, 8);
    trace_launch(p.trace, p.host, 11, 14, other);
    trace_call(p.trace, other, 15, 58, "a kernel");
    for (uint64_t i = 0; i < 4; i++) {
        query(p.trace, p.host, 20 + 12 * i, p.stream, i == 3);
        query(p.trace, p.host, 26 + 12 * i, other, i == 3);
    }
    expect_waits(&p, 1, 56 - 20, 56 - 20); /* the one at 56 succeeds */
}

/* Tests of MPI: those directly before the one that completes the receive. */
static void tests(void **state)
{
    (void)state;
    for (unsigned far = 0; far < 2; far++) {
        struct trace *const t = trace_new();
        const uint32_t a = trace_rank(t), b = trace_rank(t);
        const uint64_t pause_ns = far ? PAUSE_NS : 10;
        trace_enter(t, a, 0, "MPI_Irecv");
        trace_message(t, a, 1, CTS_EVENT_MPI_IRECV_REQUEST, 0, 0, 71);
        trace_leave(t, a, 2, "MPI_Irecv");
        uint64_t now_ns = 10;
        for (unsigned i = 0; i < 5; i++, now_ns += i == 3 ? pause_ns : 10) {
            trace_enter(t, a, now_ns, "MPI_Test");
            trace_message(t, a, now_ns + 1,
                          i < 4 ? CTS_EVENT_MPI_REQUEST_TEST : CTS_EVENT_MPI_IRECV, 1, 5, 71);
            trace_leave(t, a, now_ns + 4, "MPI_Test");
        }
        const uint64_t last_ns = now_ns - 10; /* the enter of the last one */
        trace_call(t, b, 0, last_ns - 2, "slow");
        trace_send(t, b, last_ns - 2, last_ns - 1, 0, 5);
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_no_warnings(&r);
        const uint64_t from_ns = far ? last_ns - 10 : 10;
        expect_pattern(&r, CTS_PATH_PATTERN_LATE_PARTNER, 1, last_ns - 2 - from_ns);
        expect_row(&r, "slow", last_ns - 2, last_ns - 2 - from_ns);
        finish(t, &r);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_wait),
        cmocka_unit_test(long_pauses),
        cmocka_unit_test(functions_between),
        cmocka_unit_test(wrapped),
        cmocka_unit_test(several_waits),
        cmocka_unit_test(in_turn),
        cmocka_unit_test(tests),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
