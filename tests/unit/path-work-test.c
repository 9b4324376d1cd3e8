/* Work that one call starts for others: graphs of several kernels, NCCL's kernels, peer copies, and
 * persistent requests of MPI. Exact waits, blame and path, as in path-rules-test.c. */
#include "path-fixture.h"

/* ---- graphs ---- */

enum { UNKNOWN = 0 }; /* correlation */

static void graph_launch(struct trace *t, uint32_t host, uint64_t begin_ns, uint64_t end_ns,
                         uint32_t stream, uint64_t correlation)
{
    struct trace_event *const enter = trace_enter(t, host, begin_ns, "cudaGraphLaunch");
    if (stream != UINT32_MAX) trace_set(enter, CTS_ATTRIBUTE_STREAM_REF, stream);
    if (correlation) trace_set(enter, CTS_ATTRIBUTE_CORRELATION, correlation);
    trace_leave(t, host, end_ns, "cudaGraphLaunch");
}

static void kernel(struct trace *t, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
                   const char *name, uint64_t correlation)
{
    struct trace_event *const enter = trace_enter(t, stream, begin_ns, name);
    if (correlation) trace_set(enter, CTS_ATTRIBUTE_CORRELATION, correlation);
    trace_leave(t, stream, end_ns, name);
}

static void synchronize(struct trace *t, uint32_t host, uint64_t begin_ns, uint64_t end_ns,
                        uint32_t stream)
{
    trace_set(trace_call(t, host, begin_ns, end_ns, "cudaStreamSynchronize"),
              CTS_ATTRIBUTE_STREAM_REF, stream);
}

/* One launch, two kernels one after the other: the host waits for both, the path follows the
 * launch from the first. */
static void one_graph(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    graph_launch(t, host, 10, 14, stream, 5);
    synchronize(t, host, 30, 64, stream);
    trace_leave(t, host, 100, "main");
    kernel(t, stream, 20, 40, "first kernel", 5);
    kernel(t, stream, 42, 60, "second kernel", 5);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 30);
    assert_int_equal(r.wait_ns, 30);
    expect_row(&r, "first kernel", 20, 10);
    expect_row(&r, "second kernel", 18, 18);
    expect_row(&r, "launch latency", 6 + 2, 2);
    expect_row(&r, "cudaGraphLaunch", 4, 0);
    expect_row(&r, "cudaStreamSynchronize", 4, 0);
    expect_row(&r, "main", 10 + 36, 0);
    finish(t, &r);
}

/* The same graph twice; the host waits for the second launch only. */
static void graph_twice(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    graph_launch(t, host, 10, 14, stream, 5);
    graph_launch(t, host, 44, 48, stream, 6);
    synchronize(t, host, 49, 75, stream);
    trace_leave(t, host, 100, "main");
    kernel(t, stream, 20, 30, "first kernel", 5);
    kernel(t, stream, 30, 40, "second kernel", 5);
    kernel(t, stream, 50, 60, "first kernel", 6);
    kernel(t, stream, 62, 70, "second kernel", 6);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 21);
    expect_row(&r, "first kernel", 10, 10);
    expect_row(&r, "second kernel", 8, 8);
    expect_row(&r, "launch latency", 2 + 2, 1 + 2);
    expect_row(&r, "cudaGraphLaunch", 8, 0);
    expect_row(&r, "cudaStreamSynchronize", 5, 0);
    expect_row(&r, "main", 10 + 30 + 25, 0);
    finish(t, &r);
}

/* The trace has no correlation: kernels belong to the launch before them whose synchronisation
 * comes after them. */
static void graph_without_correlation(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    graph_launch(t, host, 10, 14, stream, UNKNOWN);
    synchronize(t, host, 15, 42, stream);
    graph_launch(t, host, 44, 48, stream, UNKNOWN);
    synchronize(t, host, 49, 75, stream);
    trace_leave(t, host, 100, "main");
    kernel(t, stream, 20, 30, "first kernel", UNKNOWN);
    kernel(t, stream, 30, 40, "second kernel", UNKNOWN);
    kernel(t, stream, 50, 60, "first kernel", UNKNOWN);
    kernel(t, stream, 62, 70, "second kernel", UNKNOWN);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 2, 25 + 21);
    expect_row(&r, "first kernel", 20, 20);
    expect_row(&r, "second kernel", 18, 18);
    expect_row(&r, "launch latency", 6 + 2 + 2, 5 + 1 + 2);
    expect_row(&r, "cudaGraphLaunch", 8, 0);
    expect_row(&r, "cudaStreamSynchronize", 7, 0);
    expect_row(&r, "main", 10 + 2 + 25, 0);
    finish(t, &r);
}

/* The graph's kernels run on two streams, launched into the first: both are awaited. */
static void graph_on_two_streams(void **state)
{
    (void)state;
    for (unsigned long_one = 0; long_one < 2; long_one++) {
        struct trace *const t = trace_new();
        const uint32_t host = trace_rank(t);
        const uint32_t streams[2] = {trace_stream(t, host, 7), trace_stream(t, host, 8)};
        trace_enter(t, host, 0, "main");
        graph_launch(t, host, 10, 14, streams[0], 5);
        trace_call(t, host, 30, 75, "cudaDeviceSynchronize");
        trace_leave(t, host, 100, "main");
        kernel(t, streams[long_one], 25, 70, "long kernel", 5);
        kernel(t, streams[!long_one], 20, 40, "short kernel", 5);
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_no_warnings(&r);
        expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 40);
        expect_row(&r, "short kernel", 0, 5);
        expect_row(&r, "long kernel", 45, 5 + 30);
        expect_row(&r, "launch latency", 11, 0);
        expect_row(&r, "cudaGraphLaunch", 4, 0);
        expect_row(&r, "main", 10 + 25, 0);
        finish(t, &r);
    }
}

/* Each of two launches forks: g1 is short, g2 long, on another stream; g3 joins 5 behind g2. The
 * launch names its stream, or (as Kineto's) does not. The path runs through g2. */
static void graph_forks_and_joins(void **state)
{
    (void)state;
    for (unsigned named = 0; named < 2; named++) {
        struct trace *const t = trace_new();
        const uint32_t host = trace_rank(t);
        const uint32_t streams[2] = {trace_stream(t, host, 7), trace_stream(t, host, 20)};
        trace_enter(t, host, 0, "main");
        for (unsigned i = 0; i < 2; i++) {
            graph_launch(t, host, 10 + 250 * i, 20 + 250 * i, named ? streams[0] : UINT32_MAX,
                         5 + i);
            synchronize(t, host, 25 + 250 * i, 240 + 250 * i, streams[0]);
            kernel(t, streams[0], 30 + 250 * i, 130 + 250 * i, "g1", 5 + i);
            kernel(t, streams[1], 30 + 250 * i, 190 + 250 * i, "g2", 5 + i);
            kernel(t, streams[0], 195 + 250 * i, 235 + 250 * i, "g3", 5 + i);
        }
        trace_leave(t, host, 500, "main");
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        assert_int_equal(r.warnings[CTS_PATH_WARNING_GRAPH_INFERRED], 2);
        expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 2, 2 * 210);
        expect_pattern(&r, CTS_PATH_PATTERN_STREAM_WAIT, 2, 2 * 60);
        expect_row(&r, "g1", 0, 2 * 50);
        expect_row(&r, "g2", 2 * 160, 2 * (50 + 60 + 60));
        expect_row(&r, "g3", 2 * 40, 2 * 40);
        finish(t, &r);
    }
}

/* A branch that nothing joins ends last: who synchronises with the graph's stream waits for it, and
 * so does the next kernel there. Chains that only happen to run beside each other wait for nothing.
 */
static void graph_branch_without_join(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t);
    const uint32_t streams[2] = {trace_stream(t, host, 7), trace_stream(t, host, 20)};
    trace_enter(t, host, 0, "main");
    graph_launch(t, host, 10, 20, UINT32_MAX, 5);
    synchronize(t, host, 25, 330, streams[0]);
    graph_launch(t, host, 340, 345, UINT32_MAX, 6);
    trace_set(trace_call(t, host, 346, 350, "cudaLaunchKernel"), CTS_ATTRIBUTE_CORRELATION, 7);
    synchronize(t, host, 355, 590, streams[0]);
    trace_leave(t, host, 600, "main");
    kernel(t, streams[0], 30, 80, "main branch", 5);
    kernel(t, streams[1], 30, 325, "side branch", 5);
    for (unsigned i = 0; i < 2; i++) kernel(t, streams[0], 360 + 50 * i, 408 + 50 * i, "chain", 6);
    for (unsigned i = 0; i < 4; i++)
        kernel(t, streams[1], 360 + 40 * i, 397 + 40 * i, "other chain", 6);
    kernel(t, streams[0], 520, 580, "behind", 7);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 2, 300 + 225);
    expect_pattern(&r, CTS_PATH_PATTERN_STREAM_WAIT, 1, 517 - 458);
    expect_row(&r, "main branch", 0, 25);
    expect_row(&r, "side branch", 295, 25 + 245);
    expect_row(&r, "chain", 0, 2 * 48);
    finish(t, &r);
}

/* ---- NCCL ---- */

/* A collective's kernel on each rank; rank 0's runs from 20, rank 1's from 50, both until 60. The
 * calls that launch them name one communicator. */
static void nccl_kernels(void **state)
{
    (void)state;
    static const uint64_t call_ns[2] = {10, 40}, kernel_ns[2] = {20, 50};
    struct trace *const t = trace_new();
    uint32_t host[2], stream[2];
    for (unsigned i = 0; i < 2; i++) {
        host[i] = trace_rank(t);
        stream[i] = trace_stream(t, host[i], 7);
    }
    for (unsigned i = 0; i < 2; i++) {
        trace_enter(t, host[i], 0, "main");
        struct trace_event *const call = trace_enter(t, host[i], call_ns[i], "ncclAllReduce");
        trace_set(call, CTS_ATTRIBUTE_COMMUNICATOR, 1);
        trace_set(call, CTS_ATTRIBUTE_BYTES, 4096);
        struct trace_event *const launch =
            trace_enter(t, host[i], call_ns[i] + 1, "cudaLaunchKernel");
        trace_set(launch, CTS_ATTRIBUTE_STREAM_REF, stream[i]);
        trace_set(launch, CTS_ATTRIBUTE_CORRELATION, 3);
        trace_leave(t, host[i], call_ns[i] + 4, "cudaLaunchKernel");
        trace_leave(t, host[i], call_ns[i] + 5, "ncclAllReduce");
        synchronize(t, host[i], call_ns[i] + 12, 64 + i, stream[i]);
        trace_leave(t, host[i], 100 + 10 * i, "main");
        kernel(t, stream[i], kernel_ns[i], 60, "ncclDevKernel_AllReduce kernel", 3);
    }
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 2, 38 + 8);
    /* the first one spins from 20 to 50: until its launch, the second rank's host is to blame */
    expect_pattern(&r, CTS_PATH_PATTERN_NCCL_WAIT, 1, 30);
    expect_row(&r, "ncclDevKernel_AllReduce kernel", 10, 10 + 8);
    assert_int_equal(row_named(&r, "ncclDevKernel_AllReduce kernel").where, CTS_PATH_ON_DEVICE);
    expect_row(&r, "launch latency", 6, 2 * 6);
    expect_row(&r, "cudaLaunchKernel", 3, 2 * 3);
    expect_row(&r, "ncclAllReduce", 1, 2 * 1);
    expect_row(&r, "cudaStreamSynchronize", 5, 0);
    expect_row(&r, "main", 40 + 45, 20 + 18);
    finish(t, &r);
}

/* ---- peer copies ---- */

/* A copy from one device to another, held by an event of the source's stream. */
static void peer_copy(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), a = trace_stream(t, host, 7);
    const uint32_t b = trace_stream(t, host, 8);
    uint32_t members[3] = {host, a, b};
    t->locations[b].device = 1;
    t->communicators[t->timeline.communicator_count] =
        (struct cts_timeline_communicator){.name = "",
                                           .paradigm = CTS_PARADIGM_CUDA,
                                           .parent = CTS_TIMELINE_NONE,
                                           .ranks = members,
                                           .rank_count = 3};
    t->window.communicator = (uint32_t)t->timeline.communicator_count++;
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 12, a);
    struct trace_event *leave = trace_call(t, host, 13, 14, "cuEventRecord");
    trace_set(leave, CTS_ATTRIBUTE_EVENT_REF, 99);
    trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, a);
    leave = trace_call(t, host, 14, 15, "cuStreamWaitEvent");
    trace_set(leave, CTS_ATTRIBUTE_EVENT_REF, 99);
    trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, b);
    trace_set(trace_enter(t, host, 16, "cuMemcpyPeerAsync"), CTS_ATTRIBUTE_STREAM_REF, b);
    trace_leave(t, host, 18, "cuMemcpyPeerAsync");
    synchronize(t, host, 30, 70, b);
    trace_leave(t, host, 100, "main");
    trace_call(t, a, 20, 40, "a kernel");
    struct trace_event *const get = trace_add(t, b, 45, CTS_EVENT_RMA_GET);
    get->event.rma.remote = 1; /* the source's stream */
    get->event.rma.matching = 4;
    trace_add(t, b, 65, CTS_EVENT_RMA_OP_COMPLETE_BLOCKING)->event.rma.matching = 4;
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_STREAM_WAIT, 1, 22);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 35);
    assert_int_equal(r.patterns[CTS_PATH_PATTERN_STREAM_WAIT].worst[0].culprit, a);
    expect_row(&r, "a kernel", 20, 20 + 10);
    expect_row(&r, "copy device to device", 20, 20);
    expect_row(&r, "launch latency", 8 + 5, 2 + 5);
    expect_row(&r, "cuLaunchKernel", 2, 0);
    expect_row(&r, "cuMemcpyPeerAsync", 0, 0);
    expect_row(&r, "cudaStreamSynchronize", 5, 0);
    expect_row(&r, "main", 10 + 30, 0);
    finish(t, &r);
}

/* ---- persistent requests ---- */

static void start(struct trace *t, uint32_t rank, uint64_t begin_ns, uint64_t end_ns,
                  enum cts_timeline_event_kind kind, uint64_t request)
{
    trace_enter(t, rank, begin_ns, "MPI_Start");
    trace_message(t, rank, begin_ns, kind, 1, 3, request);
    trace_leave(t, rank, end_ns, "MPI_Start");
}

static void complete(struct trace *t, uint32_t rank, uint64_t begin_ns, uint64_t end_ns,
                     enum cts_timeline_event_kind kind, uint64_t request)
{
    trace_enter(t, rank, begin_ns, "MPI_Wait");
    trace_message(t, rank, end_ns, kind, 0, 3, request);
    trace_leave(t, rank, end_ns, "MPI_Wait");
}

/* Two rounds of the same requests: each start is a message of its own. */
static void persistent_requests(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    trace_enter(t, a, 0, "main");
    trace_call(t, a, 1, 2, "MPI_Send_init");
    start(t, a, 20, 22, CTS_EVENT_MPI_ISEND, 7);
    complete(t, a, 24, 26, CTS_EVENT_MPI_ISEND_COMPLETE, 7);
    start(t, a, 60, 62, CTS_EVENT_MPI_ISEND, 7);
    complete(t, a, 64, 66, CTS_EVENT_MPI_ISEND_COMPLETE, 7);
    trace_call(t, a, 80, 81, "MPI_Request_free");
    trace_leave(t, a, 100, "main");
    trace_enter(t, b, 0, "main");
    trace_call(t, b, 1, 2, "MPI_Recv_init");
    start(t, b, 5, 6, CTS_EVENT_MPI_IRECV_REQUEST, 9);
    complete(t, b, 10, 30, CTS_EVENT_MPI_IRECV, 9);
    start(t, b, 40, 41, CTS_EVENT_MPI_IRECV_REQUEST, 9);
    complete(t, b, 42, 70, CTS_EVENT_MPI_IRECV, 9);
    trace_call(t, b, 90, 91, "MPI_Request_free");
    trace_leave(t, b, 120, "main");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_PARTNER, 2, 10 + 18);
    assert_int_equal(r.wait_ns, 28);
    expect_row(&r, "main", 19 + 2 + 34 + 49, 28);
    expect_row(&r, "MPI_Send_init", 1, 0);
    expect_row(&r, "MPI_Start", 2, 0);
    expect_row(&r, "MPI_Wait", 2, 0);
    expect_row(&r, "MPI transfer", 10, 0);
    expect_row(&r, "MPI_Request_free", 1, 0);
    finish(t, &r);
}

/* The send of a round is posted late for: it waits in MPI_Wait for MPI_Start of the receive. */
static void persistent_send_waits(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    trace_enter(t, a, 0, "main");
    start(t, a, 10, 12, CTS_EVENT_MPI_ISEND, 7);
    complete(t, a, 20, 50, CTS_EVENT_MPI_ISEND_COMPLETE, 7);
    trace_leave(t, a, 100, "main");
    trace_enter(t, b, 0, "main");
    start(t, b, 40, 41, CTS_EVENT_MPI_IRECV_REQUEST, 9);
    complete(t, b, 44, 48, CTS_EVENT_MPI_IRECV, 9);
    trace_leave(t, b, 90, "main");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_PARTNER, 1, 20);
    expect_row(&r, "main", 50 + 40, 20);
    expect_row(&r, "MPI transfer", 10, 0);
    finish(t, &r);
}

/* Two devices in one rank, their streams in the process's group or in accelerators' groups: a
 * synchronisation that says no device awaits what is done when it returns. */
static void two_devices(void **state)
{
    (void)state;
    for (unsigned grouped = 0; grouped < 2; grouped++) {
        struct trace *const t = trace_new();
        const uint32_t host = trace_rank(t);
        const uint32_t one = trace_stream(t, host, 7), two = trace_stream(t, host, 7);
        t->locations[two].device = 1;
        for (uint32_t stream = one; grouped && stream <= two; stream++) {
            const uint32_t group = (uint32_t)t->timeline.group_count++;
            t->groups[group] = (struct cts_timeline_group){
                .name = "GPU", .accelerator = true, .creator = 0, .master = CTS_TIMELINE_NONE};
            t->locations[stream].group = group; /* the process is the creator */
        }
        trace_enter(t, host, 0, "main");
        trace_launch(t, host, 10, 12, one);
        trace_launch(t, host, 14, 16, two);
        trace_call(t, host, 30, 105, "cudaDeviceSynchronize");
        trace_call(t, host, 110, 205, "cudaDeviceSynchronize");
        trace_call(t, host, 210, 212, "cudaDeviceSynchronize");
        trace_leave(t, host, 300, "main");
        trace_call(t, one, 20, 100, "first kernel");
        trace_call(t, two, 22, 200, "second kernel");
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_no_warnings(&r);
        expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 2, (100 - 30) + (200 - 110));
        expect_pattern(&r, CTS_PATH_PATTERN_BLAME_SYNC, 0, 0); /* the third had nothing to await */
        expect_row(&r, "first kernel", 0, 70);
        expect_row(&r, "second kernel", 178, 90);
        expect_row(&r, "launch latency", 22 - 16, 0);
        assert_int_equal(r.devices.count, 2);
        assert_int_equal(r.devices.items[0].busy_ns[0], 80);
        assert_int_equal(r.devices.items[1].busy_ns[0], 178);
        assert_int_equal(r.process_count, 1);
        finish(t, &r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_graph),
        cmocka_unit_test(graph_twice),
        cmocka_unit_test(graph_without_correlation),
        cmocka_unit_test(graph_on_two_streams),
        cmocka_unit_test(graph_forks_and_joins),
        cmocka_unit_test(graph_branch_without_join),
        cmocka_unit_test(nccl_kernels),
        cmocka_unit_test(peer_copy),
        cmocka_unit_test(persistent_requests),
        cmocka_unit_test(persistent_send_waits),
        cmocka_unit_test(two_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
