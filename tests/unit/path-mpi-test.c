/* What of MPI path-rules-test.c leaves out: probes, tests, cancelled requests, non-blocking
 * collectives, scans, fences, calls of several threads. Exact waits, blame and path. */
#include "path-fixture.h"

enum { ALLREDUCE = 11, SCAN = 14 }; /* as OTF2 numbers operations */

/* The probe waits for the send, the receive behind it no more. */
static void probe(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    trace_call(t, a, 10, 42, "MPI_Probe");
    trace_receive(t, a, 42, 45, 1, 5);
    trace_call(t, a, 45, 60, "after");
    trace_call(t, b, 0, 40, "slow");
    trace_send(t, b, 40, 41, 0, 5);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_SENDER, 1, 30);
    expect_row(&r, "slow", 40, 30);
    expect_row(&r, "MPI transfer", 2, 0);
    expect_row(&r, "MPI_Recv", 3, 0);
    expect_row(&r, "after", 15, 0);
    finish(t, &r);
}

/* Three tests in a row wait together until the send begins, also where that is between two of them.
 */
static void tests_of_a_receive(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct trace *const t = trace_new();
        const uint32_t a = trace_rank(t), b = trace_rank(t);
        trace_enter(t, a, 0, "MPI_Irecv");
        trace_message(t, a, 1, CTS_EVENT_MPI_IRECV_REQUEST, 0, 0, 71);
        trace_leave(t, a, 2, "MPI_Irecv");
        for (unsigned i = 0; i < 2; i++) {
            trace_enter(t, a, 10 + 10 * i, "MPI_Test");
            trace_message(t, a, 11 + 10 * i, CTS_EVENT_MPI_REQUEST_TEST, 0, 0, 71);
            trace_leave(t, a, 12 + 10 * i, "MPI_Test");
        }
        trace_enter(t, a, late ? 30 : 50, "MPI_Test");
        trace_message(t, a, 52, CTS_EVENT_MPI_IRECV, 1, 5, 71);
        trace_leave(t, a, 53, "MPI_Test");
        trace_call(t, b, 0, 40, "slow");
        trace_send(t, b, 40, 44, 0, 5);
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_no_warnings(&r);
        expect_pattern(&r, CTS_PATH_PATTERN_LATE_PARTNER, 1, 40 - 10);
        expect_row(&r, "slow", 40, 40 - 10);
        expect_row(&r, "MPI transfer", 53 - 40, 0);
        finish(t, &r);
    }
}

/* What is cancelled depends on nobody and is missed by nobody. */
static void cancelled_requests(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t);
    (void)trace_rank(t);
    trace_enter(t, a, 0, "MPI_Irecv");
    trace_message(t, a, 1, CTS_EVENT_MPI_IRECV_REQUEST, 0, 0, 71);
    trace_leave(t, a, 2, "MPI_Irecv");
    trace_enter(t, a, 3, "MPI_Isend");
    trace_message(t, a, 4, CTS_EVENT_MPI_ISEND, 1, 5, 72);
    trace_leave(t, a, 5, "MPI_Isend");
    trace_enter(t, a, 10, "MPI_Waitall");
    trace_message(t, a, 19, CTS_EVENT_MPI_REQUEST_CANCELLED, 0, 0, 71);
    trace_message(t, a, 19, CTS_EVENT_MPI_REQUEST_CANCELLED, 0, 0, 72);
    trace_leave(t, a, 20, "MPI_Waitall");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    assert_int_equal(r.wait_ns, 0);
    expect_row(&r, "MPI_Waitall", 10, 0);
    finish(t, &r);
}

static void begin_allreduce(struct trace *t, uint32_t rank, uint64_t begin_ns, uint64_t end_ns)
{
    trace_enter(t, rank, begin_ns, "MPI_Iallreduce");
    trace_add(t, rank, end_ns, CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST)
        ->event.collective.request = 9;
    trace_leave(t, rank, end_ns, "MPI_Iallreduce");
}

static void end_allreduce(struct trace *t, uint32_t rank, uint64_t begin_ns, uint64_t end_ns)
{
    trace_enter(t, rank, begin_ns, "MPI_Wait");
    struct trace_event *const event =
        trace_add(t, rank, end_ns, CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE);
    event->event.collective.operation = ALLREDUCE;
    event->event.collective.root = CTS_TIMELINE_NONE;
    event->event.collective.request = 9;
    trace_leave(t, rank, end_ns, "MPI_Wait");
}

/* Who completes it waits until the last one has begun it. */
static void non_blocking_collective(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    begin_allreduce(t, a, 0, 2);
    end_allreduce(t, a, 10, 45);
    trace_call(t, b, 0, 40, "slow");
    begin_allreduce(t, b, 40, 42);
    end_allreduce(t, b, 42, 44);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_PARTNER, 1, 30);
    expect_row(&r, "slow", 40, 30);
    expect_row(&r, "MPI transfer", 5, 0);
    finish(t, &r);
}

/* Both have begun by 20 us. The one waits from 30 us on, until just after the other one enters its
 * own MPI_Wait, 1 ms later: only then does the collective go on. If it returns at another time, or
 * the other one has only just begun, it does not wait for that call. */
static void progress_of_a_collective(void **state)
{
    (void)state;
    enum { US = 1000 };
    static const struct {
        uint64_t begun_us, left_us, wait_us;
    } cases[] = {{20, 1035, 1000}, {20, 1500, 0}, {1000, 1035, 970}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace *const t = trace_new();
        const uint32_t a = trace_rank(t), b = trace_rank(t);
        const uint64_t begun_ns = cases[i].begun_us * US;
        begin_allreduce(t, a, 0, 2);
        end_allreduce(t, a, 30 * US, cases[i].left_us * US);
        trace_call(t, b, 0, begun_ns, "before");
        begin_allreduce(t, b, begun_ns, begun_ns + 2);
        trace_call(t, b, begun_ns + 2, 1030 * US, "after");
        end_allreduce(t, b, 1030 * US, 1032 * US);
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_no_warnings(&r);
        expect_pattern(&r, CTS_PATH_PATTERN_LATE_PARTNER, cases[i].wait_us > 0,
                       cases[i].wait_us * US);
        if (i == 0) expect_row(&r, "after", 1010 * US - 2, 1000 * US);
        finish(t, &r);
    }
}

/* In a scan a rank needs those before it, and nobody waits for the last. */
static void scan(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t), c = trace_rank(t);
    trace_call(t, a, 0, 50, "slow");
    trace_collective(t, a, 50, 52, SCAN, CTS_TIMELINE_NONE);
    trace_collective(t, b, 20, 53, SCAN, CTS_TIMELINE_NONE);
    trace_call(t, c, 0, 70, "slower");
    trace_collective(t, c, 70, 72, SCAN, CTS_TIMELINE_NONE);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_N_TO_N, 1, 30);
    expect_row(&r, "slow", 0, 30);
    expect_row(&r, "slower", 70, 0);
    assert_int_equal(r.wait_ns, 30);
    finish(t, &r);
}

static void fence(struct trace *t, uint32_t rank, uint64_t begin_ns, uint64_t end_ns)
{
    trace_enter(t, rank, begin_ns, "MPI_Win_fence");
    trace_add(t, rank, begin_ns, CTS_EVENT_RMA_COLLECTIVE_BEGIN);
    trace_add(t, rank, end_ns, CTS_EVENT_RMA_COLLECTIVE_END)->event.rma.window = 0;
    trace_leave(t, rank, end_ns, "MPI_Win_fence");
}

/* Members of a window wait for the last one; until the second comes both are to blame. */
static void fences(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t), c = trace_rank(t);
    trace_enter(t, a, 0, "main");
    fence(t, a, 10, 32);
    trace_leave(t, a, 100, "main");
    trace_call(t, b, 0, 20, "short");
    fence(t, b, 20, 33);
    trace_call(t, c, 0, 30, "slow");
    fence(t, c, 30, 34);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_ONE_SIDED, 2, 20 + 10);
    expect_row(&r, "short", 0, 5);
    expect_row(&r, "slow", 30, 5 + 20);
    expect_row(&r, "MPI transfer", 2, 0);
    expect_row(&r, "main", 68, 0);
    finish(t, &r);
}

/* Messages and collectives are those of processes: any thread may take part for its rank, and which
 * one does may change from call to call. */
static void any_thread(void **state)
{
    (void)state;
    enum { BARRIER = 0, BCAST = 1, REDUCE = 12, FROM_ONE = 1 };
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    const uint32_t worker_a = trace_location(t, "OMP thread 1", CTS_LOCATION_THREAD, 0);
    const uint32_t worker_b = trace_location(t, "OMP thread 1", CTS_LOCATION_THREAD, 1);
    const uint32_t all[] = {a, b, worker_a, worker_b};
    for (unsigned i = 0; i < 4; i++) trace_enter(t, all[i], 0, "work");
    trace_send(t, worker_a, 100, 110, 1, 5);
    trace_receive(t, b, 20, 115, 0, 5);
    trace_send(t, a, 120, 125, 1, 5); /* the second in its channel, of another thread */
    trace_receive(t, worker_b, 30, 130, 0, 5);
    trace_collective(t, a, 140, 160, BARRIER, CTS_TIMELINE_NONE);
    trace_collective(t, worker_b, 150, 161, BARRIER, CTS_TIMELINE_NONE);
    trace_collective(t, worker_a, 170, 190, BCAST, FROM_ONE);
    trace_collective(t, worker_b, 180, 191, BCAST, FROM_ONE);
    trace_collective(t, worker_a, 195, 198, REDUCE, FROM_ONE); /* 195: it waits for nobody */
    trace_collective(t, worker_b, 193, 199, REDUCE, FROM_ONE);
    trace_collective(t, worker_a, 200, 230, BARRIER, CTS_TIMELINE_NONE);
    trace_collective(t, b, 220, 231, BARRIER, CTS_TIMELINE_NONE);
    for (unsigned i = 0; i < 4; i++) trace_leave(t, all[i], 300 + i, "work");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_SENDER, 2, 80 + 90);
    expect_pattern(&r, CTS_PATH_PATTERN_MPI_BARRIER, 2, 10 + 20);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_ROOT, 1, 10);
    expect_pattern(&r, CTS_PATH_PATTERN_EARLY_ROOT, 1, 2);
    assert_int_equal(r.wait_ns, 212);
    finish(t, &r);
}

/* Start-up and shutdown are told apart from the program; an activity's ranks and its longest stay
 * on the path, with what called it. */
static void program_and_ranks(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t), c = trace_rank(t);
    trace_enter(t, a, 0, "main");
    trace_call(t, a, 0, 100, "MPI_Init");
    trace_enter(t, a, 100, "step");
    trace_call(t, a, 110, 310, "work");
    trace_call(t, a, 310, 350, "work");
    trace_leave(t, a, 360, "step");
    trace_call(t, a, 360, 400, "MPI_Finalize");
    trace_leave(t, a, 400, "main");
    trace_call(t, b, 0, 100, "MPI_Init");
    trace_call(t, b, 100, 150, "work");
    trace_call(t, b, 150, 400, "MPI_Finalize");
    trace_call(t, c, 0, 100, "MPI_Init");
    trace_call(t, c, 120, 400, "MPI_Finalize");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    assert_int_equal(r.path_ns, 400);
    assert_int_equal(r.program_path_ns, 260);
    assert_true(row_named(&r, "MPI_Init").frame && row_named(&r, "MPI_Finalize").frame);
    const struct cts_path_row work = row_named(&r, "work");
    assert_false(work.frame);
    assert_int_equal(work.least_ns, 0);
    assert_int_equal(work.least_rank, 2);
    assert_int_equal(work.most_ns, 240);
    assert_int_equal(work.most_rank, 0);
    assert_int_equal(work.stay.ns, 200);
    assert_int_equal(work.stay.begin_ns, 110);
    assert_int_equal(work.stay.location, a);
    assert_int_equal(work.stay.depth, 2);
    assert_string_equal(r.region_names[work.stay.callers[0]], "step");
    assert_string_equal(r.region_names[work.stay.callers[1]], "main");
    finish(t, &r);
}

/* Who is to blame for one wait, as blame says: not whom it waits for, if that one waits itself. */
static void culprits_of_a_chain(void **state)
{
    (void)state;
    for (unsigned direct = 0; direct < 2; direct++) {
        struct trace *const t = trace_new();
        const uint32_t a = trace_rank(t), b = trace_rank(t), c = trace_rank(t);
        trace_call(t, a, 0, 500, "computes");
        trace_send(t, a, 500, 510, b, 0);
        trace_receive(t, b, 10, 512, a, 0);
        trace_call(t, b, 512, 552, "short");
        trace_send(t, b, 552, 560, c, 0);
        trace_receive(t, c, 20, 562, b, 0);
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){.direct_blame = direct}, &r);
        const struct cts_path_instance *const worst =
            r.patterns[CTS_PATH_PATTERN_LATE_SENDER].worst;
        assert_int_equal(r.patterns[CTS_PATH_PATTERN_LATE_SENDER].worst_count, 2);
        assert_int_equal(worst[0].location, c);
        assert_int_equal(worst[0].culprit, b);
        assert_int_equal(worst[0].blamed, direct ? b : a);
        assert_string_equal(r.region_names[worst[0].blamed_region],
                            direct ? "MPI_Recv" : "computes");
        assert_int_equal(worst[0].blamed_ns, 480);
        assert_int_equal(worst[1].location, b);
        assert_int_equal(worst[1].blamed, a);
        assert_int_equal(worst[1].blamed_ns, 490);
        finish(t, &r);
    }
}

/* Of two that come to a collective late the one that is waited for alone gets more, and of what it
 * does the part that lasts longer in the wait. */
static void culprit_of_a_collective(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t), c = trace_rank(t);
    trace_collective(t, a, 0, 110, 0, 0);
    trace_call(t, b, 0, 40, "early");
    trace_collective(t, b, 40, 110, 0, 0);
    trace_call(t, c, 0, 70, "long part");
    trace_call(t, c, 70, 100, "short part");
    trace_collective(t, c, 100, 110, 0, 0);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    const struct cts_path_instance *const worst = r.patterns[CTS_PATH_PATTERN_MPI_BARRIER].worst;
    assert_int_equal(worst[0].location, a);
    assert_int_equal(worst[0].blamed, c);
    assert_string_equal(r.region_names[worst[0].blamed_region], "long part");
    assert_int_equal(worst[0].blamed_ns, 40 / 2 + 30);
    finish(t, &r);
}

/* A host waits for a kernel that waited for another stream's: that one is to blame. */
static void culprit_on_a_device(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t);
    const uint32_t s1 = trace_stream(t, host, 1), s2 = trace_stream(t, host, 2);
    trace_launch(t, host, 0, 5, s1);
    trace_set(trace_enter(t, host, 5, "cuEventRecord"), CTS_ATTRIBUTE_STREAM_REF, s1);
    trace_set(trace_leave(t, host, 6, "cuEventRecord"), CTS_ATTRIBUTE_EVENT_REF, 77);
    trace_set(trace_enter(t, host, 6, "cuStreamWaitEvent"), CTS_ATTRIBUTE_STREAM_REF, s2);
    trace_set(trace_leave(t, host, 7, "cuStreamWaitEvent"), CTS_ATTRIBUTE_EVENT_REF, 77);
    trace_launch(t, host, 10, 15, s2);
    trace_set(trace_enter(t, host, 20, "cuStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF, s2);
    trace_leave(t, host, 620, "cuStreamSynchronize");
    trace_call(t, s1, 6, 500, "kernel that is long");
    trace_call(t, s2, 500, 610, "kernel that is short");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    const struct cts_path_instance *const worst = r.patterns[CTS_PATH_PATTERN_BLAME_KERNEL].worst;
    assert_int_equal(worst[0].culprit, s2);
    assert_int_equal(worst[0].blamed, s1);
    assert_string_equal(r.region_names[worst[0].blamed_region], "kernel that is long");
    assert_int_equal(worst[0].blamed_ns, 480);
    finish(t, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_and_ranks),
        cmocka_unit_test(culprits_of_a_chain),
        cmocka_unit_test(culprit_of_a_collective),
        cmocka_unit_test(culprit_on_a_device),
        cmocka_unit_test(probe),
        cmocka_unit_test(tests_of_a_receive),
        cmocka_unit_test(cancelled_requests),
        cmocka_unit_test(non_blocking_collective),
        cmocka_unit_test(progress_of_a_collective),
        cmocka_unit_test(scan),
        cmocka_unit_test(fences),
        cmocka_unit_test(any_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
