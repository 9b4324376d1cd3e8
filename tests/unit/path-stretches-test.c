/* Where a timeline can be cut: a collective of all, or alone a synchronisation with the device,
 * unless something is under way. Each trace is also analysed in stretches by the fixture, with the
 * same result. */
#include "path-fixture.h"

/* Two ranks in main, a barrier that rank 0 enters at 40 and rank 1 at 50. */
struct ranks {
    struct trace *trace;
    uint32_t rank[2], stream;
};

static struct ranks begin(void)
{
    struct ranks r = {.trace = trace_new()};
    for (unsigned i = 0; i < 2; i++) {
        r.rank[i] = trace_rank(r.trace);
        trace_enter(r.trace, r.rank[i], 0, "main");
    }
    r.stream = trace_stream(r.trace, r.rank[0], 7);
    return r;
}

static void barrier(struct ranks *r)
{
    trace_collective(r->trace, r->rank[0], 40, 55, 0, CTS_TIMELINE_NONE);
    trace_collective(r->trace, r->rank[1], 50, 56, 0, CTS_TIMELINE_NONE);
}

static void end(struct ranks *r, uint64_t stretches)
{
    for (unsigned i = 0; i < 2; i++) trace_leave(r->trace, r->rank[i], 100 + i, "main");
    const struct cts_path_options options = {0};
    struct cts_path result;
    trace_analyze_whole(r->trace, options, &result);
    const struct cts_path_source source = trace_source(r->trace);
    assert_int_equal(assert_same_in_stretches(&source, options, &result), stretches);
    cts_path_release(&result);
    trace_free(r->trace);
}

static void nothing_under_way(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_send(r.trace, r.rank[0], 10, 12, 1, 0);
    trace_receive(r.trace, r.rank[1], 5, 13, 0, 0);
    barrier(&r);
    trace_send(r.trace, r.rank[1], 60, 62, 0, 0);
    trace_receive(r.trace, r.rank[0], 58, 63, 1, 0);
    end(&r, 2);
}

static void message_under_way(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_send(r.trace, r.rank[0], 10, 12, 1, 0);
    barrier(&r);
    trace_receive(r.trace, r.rank[1], 60, 63, 0, 0);
    end(&r, 1);
}

/* As many sent as received, but on other channels. */
static void messages_of_two_tags(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_send(r.trace, r.rank[0], 10, 12, 1, 0);
    trace_send(r.trace, r.rank[0], 14, 16, 1, 1);
    trace_receive(r.trace, r.rank[1], 20, 23, 0, 1);
    trace_receive(r.trace, r.rank[1], 24, 25, 0, 1); /* sent after the barrier: clocks are odd */
    barrier(&r);
    trace_receive(r.trace, r.rank[1], 60, 63, 0, 0);
    trace_send(r.trace, r.rank[0], 60, 61, 1, 1);
    end(&r, 1);
}

static void receive_open(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_send(r.trace, r.rank[0], 10, 12, 1, 0);
    trace_enter(r.trace, r.rank[1], 5, "MPI_Irecv");
    trace_message(r.trace, r.rank[1], 5, CTS_EVENT_MPI_IRECV_REQUEST, 0, 0, 77);
    trace_leave(r.trace, r.rank[1], 6, "MPI_Irecv");
    barrier(&r);
    trace_enter(r.trace, r.rank[1], 60, "MPI_Wait");
    trace_message(r.trace, r.rank[1], 61, CTS_EVENT_MPI_IRECV, 0, 0, 77);
    trace_leave(r.trace, r.rank[1], 61, "MPI_Wait");
    end(&r, 1);
}

/* The message has come, its send is open. */
static void send_open(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_enter(r.trace, r.rank[0], 20, "MPI_Isend");
    trace_message(r.trace, r.rank[0], 20, CTS_EVENT_MPI_ISEND, 1, 3, 78);
    trace_leave(r.trace, r.rank[0], 21, "MPI_Isend");
    trace_receive(r.trace, r.rank[1], 22, 25, 0, 3);
    barrier(&r);
    trace_enter(r.trace, r.rank[0], 60, "MPI_Wait");
    trace_message(r.trace, r.rank[0], 61, CTS_EVENT_MPI_ISEND_COMPLETE, 0, 0, 78);
    trace_leave(r.trace, r.rank[0], 61, "MPI_Wait");
    end(&r, 1);
}

static void kernel_under_way(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_launch(r.trace, r.rank[0], 10, 12, r.stream);
    trace_call(r.trace, r.stream, 15, 70, "a kernel");
    barrier(&r);
    trace_call(r.trace, r.rank[0], 60, 75, "cuCtxSynchronize");
    end(&r, 1);
}

/* The kernel has ended, but nobody has asked. */
static void kernel_not_awaited(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_launch(r.trace, r.rank[0], 10, 12, r.stream);
    trace_call(r.trace, r.stream, 15, 20, "a kernel");
    barrier(&r);
    trace_call(r.trace, r.rank[0], 60, 75, "cuCtxSynchronize");
    end(&r, 1);
}

static void kernel_done(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_launch(r.trace, r.rank[0], 10, 12, r.stream);
    trace_call(r.trace, r.stream, 15, 30, "a kernel");
    trace_set(trace_call(r.trace, r.rank[0], 13, 32, "cuStreamSynchronize"),
              CTS_ATTRIBUTE_STREAM_REF, r.stream);
    barrier(&r);
    trace_launch(r.trace, r.rank[0], 60, 62, r.stream);
    trace_call(r.trace, r.stream, 65, 70, "a kernel");
    trace_call(r.trace, r.rank[0], 63, 75, "cuCtxSynchronize");
    end(&r, 2);
}

/* A flush of the stream's trace buffer is one event that goes on until 70, or until 35. */
static void flush_under_way(void **state)
{
    (void)state;
    for (unsigned over = 0; over < 2; over++) {
        struct ranks r = begin();
        trace_launch(r.trace, r.rank[0], 10, 12, r.stream);
        trace_call(r.trace, r.stream, 15, 20, "a kernel");
        trace_set(trace_call(r.trace, r.rank[0], 13, 22, "cuStreamSynchronize"),
                  CTS_ATTRIBUTE_STREAM_REF, r.stream);
        trace_add(r.trace, r.stream, 30, CTS_EVENT_BUFFER_FLUSH)->event.flush.end_ns =
            over ? 70 : 35;
        barrier(&r);
        end(&r, over ? 1 : 2);
    }
}

static void lock_held(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_lock(r.trace, r.rank[0], 10, 12, 0, 1);
    barrier(&r);
    trace_lock(r.trace, r.rank[0], 60, 62, 2, 1);
    end(&r, 1);
}

static void window_exposed(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_window(r.trace, r.rank[0], 20, 22, "MPI_Win_post", 1);
    barrier(&r);
    trace_window(r.trace, r.rank[1], 60, 62, "MPI_Win_start", 0);
    trace_window(r.trace, r.rank[1], 63, 64, "MPI_Win_complete", 0);
    trace_window(r.trace, r.rank[0], 60, 66, "MPI_Win_wait", 1);
    end(&r, 1);
}

/* Both came at once: who of them the path goes to depends on what follows. */
static void two_come_last(void **state)
{
    (void)state;
    struct ranks r = begin();
    trace_collective(r.trace, r.rank[0], 50, 55, 0, CTS_TIMELINE_NONE);
    trace_collective(r.trace, r.rank[1], 50, 56, 0, CTS_TIMELINE_NONE);
    end(&r, 1);
}

/* One process: it is cut where it has synchronised with its device. */
static void alone(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    for (uint64_t at = 10; at < 310; at += 100) {
        trace_launch(t, host, at, at + 2, stream);
        trace_call(t, stream, at + 5, at + 30, "a kernel");
        trace_call(t, host, at + 6, at + 33, "cuCtxSynchronize");
    }
    trace_leave(t, host, 400, "main");
    const struct cts_path_options options = {0};
    struct cts_path result;
    trace_analyze_whole(t, options, &result);
    const struct cts_path_source source = trace_source(t);
    assert_int_equal(assert_same_in_stretches(&source, options, &result), 4);
    cts_path_release(&result);
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_under_way),
        cmocka_unit_test(message_under_way),
        cmocka_unit_test(messages_of_two_tags),
        cmocka_unit_test(receive_open),
        cmocka_unit_test(send_open),
        cmocka_unit_test(kernel_under_way),
        cmocka_unit_test(kernel_not_awaited),
        cmocka_unit_test(kernel_done),
        cmocka_unit_test(flush_under_way),
        cmocka_unit_test(lock_held),
        cmocka_unit_test(window_exposed),
        cmocka_unit_test(two_come_last),
        cmocka_unit_test(alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
