/* The rules of the path analysis on traces built by hand: exact waits, blame and path. Each trace
 * is analysed by 1, 2 and 4 processes and 1 and 3 threads, with the same result (path-fixture.h).
 */
#include "path-fixture.h"

/* ---- devices ---- */

/* main [0,100): launch [10,14), kernel [20,60), synchronise [30,64). */
static void blame_kernel(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 14, stream);
    trace_call(t, host, 30, 64, "cuCtxSynchronize");
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 20, 60, "a kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 30);
    expect_row(&r, "a kernel", 40, 30);
    expect_row(&r, "cuLaunchKernel", 4, 0);
    expect_row(&r, "launch latency", 6, 0);
    expect_row(&r, "cuCtxSynchronize", 4, 0);
    expect_row(&r, "main", 10 + 36, 0);
    assert_int_equal(r.wait_ns, 30);
    assert_int_equal(row_named(&r, "main").inclusive_ns, 100);
    assert_int_equal(row_named(&r, "main").exclusive_ns, 100 - 4 - 34);
    assert_int_equal(row_named(&r, "a kernel").where, CTS_PATH_ON_DEVICE);
    finish(t, &r);
}

/* The wait ends at the leave if the device's clock says that the kernel ended later. */
static void blame_kernel_is_cut_at_the_leave(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 14, stream);
    trace_set(trace_call(t, host, 30, 64, "cuStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF, stream);
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 20, 70, "a kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 34);
    expect_row(&r, "a kernel", 44, 34);
    expect_row(&r, "cuStreamSynchronize", 0, 0);
    finish(t, &r);
}

/* The kernel had ended: the device waits for the call, which runs on the host. */
static void blame_sync(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    const uint32_t other = trace_stream(t, host, 8);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 14, stream);
    trace_launch(t, host, 15, 16, other);
    trace_call(t, host, 70, 80, "cuCtxSynchronize");
    trace_call(t, host, 85, 88, "cuCtxSynchronize"); /* nothing new: no wait */
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 20, 60, "a kernel");
    trace_call(t, other, 21, 61, "a kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_SYNC, 1, 10);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 0, 0);
    assert_int_equal(r.patterns[CTS_PATH_PATTERN_BLAME_SYNC].worst[0].location, stream);
    assert_int_equal(r.device_wait_ns, 10);
    expect_row(&r, "cuCtxSynchronize", 13, 10);
    expect_row(&r, "a kernel", 0, 0);
    finish(t, &r);
}

/* Two streams still run: they share; then the longer one has all. */
static void streams_share_blame(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), a = trace_stream(t, host, 7);
    const uint32_t b = trace_stream(t, host, 8);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 1, 2, a);
    trace_launch(t, host, 3, 4, b);
    trace_call(t, host, 10, 100, "cudaDeviceSynchronize");
    trace_leave(t, host, 120, "main");
    trace_call(t, a, 5, 50, "short kernel");
    trace_call(t, b, 20, 90, "long kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 80);
    expect_row(&r, "short kernel", 0, 20);   /* half of [10,50) */
    expect_row(&r, "launch latency", 16, 5); /* half of [10,20) */
    expect_row(&r, "long kernel", 70, 15 + 40);
    expect_row(&r, "cudaDeviceSynchronize", 10, 0);
    finish(t, &r);
}

/* Of two that end at once the lower stream leads the path, of two ranks the lower rank. */
static void ties(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), low = trace_stream(t, a, 7), high = trace_stream(t, a, 8);
    const uint32_t b = trace_rank(t), c = trace_rank(t);
    trace_enter(t, a, 0, "main");
    trace_launch(t, a, 1, 2, high);
    trace_launch(t, a, 3, 4, low);
    trace_call(t, a, 10, 60, "cudaDeviceSynchronize");
    trace_leave(t, a, 60, "main");
    trace_collective(t, a, 70, 95, 0, CTS_TIMELINE_NONE);
    trace_call(t, low, 5, 50, "low kernel");
    trace_call(t, high, 6, 50, "high kernel");
    trace_call(t, b, 0, 80, "lower");
    trace_collective(t, b, 80, 95, 0, CTS_TIMELINE_NONE);
    trace_call(t, c, 0, 80, "higher");
    trace_collective(t, c, 80, 95, 0, CTS_TIMELINE_NONE);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_row(&r, "lower", 80, 5);
    expect_row(&r, "higher", 0, 5);
    cts_path_release(&r);
    t->events[b].count = t->events[c].count = 0; /* rank 0 alone */
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_row(&r, "low kernel", 45, 20);
    expect_row(&r, "high kernel", 0, 20);
    finish(t, &r);
}

/* A blocking copy waits for the kernel before it, not for itself. */
static void blocking_copy(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 14, stream);
    trace_call(t, host, 30, 90, "cuMemcpyDtoH_v2");
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 20, 60, "a kernel");
    trace_add(t, stream, 65, CTS_EVENT_RMA_PUT)->event.rma.matching = 42;
    trace_add(t, stream, 85, CTS_EVENT_RMA_OP_COMPLETE_BLOCKING)->event.rma.matching = 42;
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 30);
    expect_row(&r, "cuMemcpyDtoH_v2", 10, 0); /* before and behind its copy */
    expect_row(&r, "copy device to host", 20, 0);
    expect_row(&r, "a kernel", 40, 30);
    assert_int_equal(row_named(&r, "copy device to host").inclusive_ns, 20);
    finish(t, &r);
}

/* Two streams, all launched at once; the device runs one kernel at a time. */
static void full_device(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t);
    const uint32_t one = trace_stream(t, host, 7), two = trace_stream(t, host, 8);
    for (unsigned k = 0; k < 4; k++) trace_launch(t, host, 2 * k, 2 * k + 1, k % 2 ? two : one);
    trace_call(t, host, 10, 430, "cuCtxSynchronize");
    trace_call(t, one, 5, 105, "a kernel");
    trace_call(t, two, 106, 206, "b kernel");
    trace_call(t, one, 207, 307, "a kernel");
    trace_call(t, two, 308, 408, "b kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    /* from 3, from 105 and from 206 until the other stream's kernel ends */
    expect_pattern(&r, CTS_PATH_PATTERN_FULL_DEVICE, 3, 102 + 101 + 101);
    expect_row(&r, "launch latency", 4 + 3, row_named(&r, "launch latency").blame_ns);
    assert_int_equal(row_named(&r, "a kernel").path_ns, 200);
    assert_int_equal(row_named(&r, "b kernel").path_ns, 200);
    finish(t, &r);
    /* side by side: nothing waits for the other */
    struct trace *const beside = trace_new();
    const uint32_t thread = trace_rank(beside);
    const uint32_t a = trace_stream(beside, thread, 7), b = trace_stream(beside, thread, 8);
    for (unsigned k = 0; k < 4; k++) trace_launch(beside, thread, 2 * k, 2 * k + 1, k % 2 ? b : a);
    trace_call(beside, thread, 10, 430, "cuCtxSynchronize");
    trace_call(beside, a, 5, 105, "a kernel");
    trace_call(beside, b, 106, 206, "b kernel");
    trace_call(beside, a, 200, 307, "a kernel");
    trace_call(beside, b, 308, 408, "b kernel");
    trace_analyze(beside, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_FULL_DEVICE, 0, 0);
    finish(beside, &r);
}

/* What held a kernel until long before it could begin says nothing of what it waited for then. */
static void full_device_after_events(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t);
    const uint32_t one = trace_stream(t, host, 7), two = trace_stream(t, host, 8);
    trace_launch(t, host, 0, 1, one);
    trace_call(t, one, 3, 10, "a kernel");
    trace_set(trace_call(t, host, 1, 2, "cuEventRecord"), CTS_ATTRIBUTE_EVENT_REF, 5);
    trace_set(&t->events[host].items[t->events[host].count - 1], CTS_ATTRIBUTE_STREAM_REF, one);
    trace_launch(t, host, 20, 21, two);
    trace_call(t, two, 23, 30, "b kernel");
    for (unsigned turn = 0; turn < 3; turn++) {
        const uint64_t at = 1000 * (turn + 1);
        struct trace_event *const wait = trace_call(t, host, at, at + 1, "cuStreamWaitEvent");
        trace_set(wait, CTS_ATTRIBUTE_EVENT_REF, 5);
        trace_set(wait, CTS_ATTRIBUTE_STREAM_REF, two);
        trace_launch(t, host, at + 1, at + 2, one);
        trace_launch(t, host, at + 2, at + 3, two);
        trace_call(t, host, at + 3, at + 610, "cuCtxSynchronize");
        trace_call(t, one, at + 4, at + 304, "a kernel");
        trace_call(t, two, at + 306, at + 606, "b kernel");
    }
    struct cts_path r;
    trace_analyze_whole(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_FULL_DEVICE, 3, 3 * 301);
    assert_true(row_named(&r, "launch latency").path_ns < 20);
    finish(t, &r);
}

/* The devices of a program are alike: what one shows, the other does, if only once. */
static void full_devices_of_a_program(void **state)
{
    (void)state;
    for (unsigned overlap = 0; overlap < 2; overlap++) {
        struct trace *const t = trace_new();
        for (unsigned rank = 0; rank < 2; rank++) {
            const uint32_t host = trace_rank(t);
            const uint32_t one = trace_stream(t, host, 7), two = trace_stream(t, host, 8);
            for (unsigned turn = 0; turn < (rank ? 3 : 4); turn++) {
                const uint64_t at = 1000 * turn;
                const bool apart = rank && turn < 2; /* no two at once: no evidence */
                trace_launch(t, host, at + 1, at + 2, one);
                trace_call(t, one, at + 4, at + 304, "a kernel");
                if (apart) trace_call(t, host, at + 2, at + 310, "cuCtxSynchronize");
                const uint64_t second = apart ? at + 310 : at + 2;
                trace_launch(t, host, second, second + 1, two);
                trace_call(t, host, second + 1, at + 640, "cuCtxSynchronize");
                const uint64_t begin = apart ? second + 3 : at + (overlap && rank ? 300 : 306);
                trace_call(t, two, begin, begin + 300, "b kernel");
            }
        }
        struct cts_path r;
        trace_analyze_whole(t, (struct cts_path_options){0}, &r);
        /* the first launch of rank 0 counts as the others, since the device is full */
        expect_pattern(&r, CTS_PATH_PATTERN_FULL_DEVICE, overlap ? 4 : 5, (overlap ? 4 : 5) * 301);
        finish(t, &r);
    }
}

/* A host function stands in its stream: it is launched like a kernel, where a correlation says so.
 * A launch whose host function is not recorded is the launch of nothing else. */
static void host_functions(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    static const char *const calls[] = {"cudaLaunchKernel", "cudaLaunchHostFunc",
                                        "cudaLaunchHostFunc", "cudaLaunchKernel"};
    for (unsigned i = 0; i < 4; i++) {
        struct trace_event *const call = trace_enter(t, host, 10 * i, calls[i]);
        trace_set(call, CTS_ATTRIBUTE_STREAM_REF, stream);
        trace_set(call, CTS_ATTRIBUTE_CORRELATION, i + 1);
        trace_leave(t, host, 10 * i + 5, calls[i]);
    }
    trace_set(trace_call(t, host, 100, 1520, "cudaStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF,
              stream);
    static const char *const names[] = {"a kernel", "host function", "b kernel"};
    static const unsigned launch[] = {1, 2, 4};
    for (unsigned i = 0; i < 3; i++) {
        trace_set(trace_enter(t, stream, 8 + 500 * i, names[i]), CTS_ATTRIBUTE_CORRELATION,
                  launch[i]);
        trace_leave(t, stream, 500 + 500 * i, names[i]);
    }
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 1400);
    assert_int_equal(row_named(&r, "host function").path_ns, 492);
    finish(t, &r);
}

static void device_copy(struct trace *t, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
    trace_add(t, stream, begin_ns, CTS_EVENT_RMA_PUT)->event.rma.matching = 1;
    trace_add(t, stream, end_ns, CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING)->event.rma.matching = 1;
}

/* Of two copies to the host, whose launches are lost but for the second: that is not the launch of
 * the first, which had begun. Nor is the kernel behind it launched while its call waits. */
static void lost_launches(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t);
    const uint32_t stream = trace_stream(t, host, 7), other = trace_stream(t, host, 8);
    trace_call(t, host, 0, 29000, "main work");
    device_copy(t, stream, 1000, 36000);
    struct trace_event *const copy = trace_call(t, host, 30000, 40100, "cuMemcpyDtoH");
    trace_set(copy, CTS_ATTRIBUTE_STREAM_REF, stream);
    device_copy(t, stream, 36050, 40000);
    trace_call(t, other, 40130, 50000, "a kernel");
    trace_call(t, host, 40120, 50100, "cuCtxSynchronize");
    struct cts_path r;
    trace_analyze_whole(t, (struct cts_path_options){0}, &r);
    expect_warning(&r, CTS_PATH_WARNING_WORK_BEFORE_LAUNCH, 0);
    expect_warning(&r, CTS_PATH_WARNING_WORK_INFERRED, 2);
    assert_int_equal(row_named(&r, "a kernel").path_ns, 9870);
    /* the path leaves the kernel for the call behind the copy, not for what was before that */
    assert_true(row_named(&r, "launch latency").path_ns < 300);
    finish(t, &r);
}

/* The code of a kernel is loaded when it is launched first, behind what runs on other streams; that
 * is no latency, and no later launch waits so, even where it begins right behind another kernel. */
static void first_launch(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t);
    const uint32_t one = trace_stream(t, host, 7), two = trace_stream(t, host, 8);
    trace_launch(t, host, 0, 4, one);
    trace_launch(t, host, 4, 8, two);
    trace_call(t, host, 8, 1506, "cuCtxSynchronize");
    trace_launch(t, host, 1510, 1514, one);
    trace_launch(t, host, 1514, 1518, two);
    trace_call(t, host, 1518, 2600, "cuCtxSynchronize");
    trace_launch(t, host, 2610, 2614, one);
    trace_launch(t, host, 2614, 2618, two);
    trace_call(t, host, 2618, 4200, "cuCtxSynchronize");
    trace_call(t, one, 6, 1006, "long kernel");
    trace_call(t, two, 1008, 1500, "other kernel"); /* loaded behind the long one */
    trace_call(t, one, 1516, 2516, "long kernel");
    trace_call(t, two, 1520, 2012, "other kernel"); /* side by side */
    trace_call(t, one, 2616, 3616, "long kernel");
    trace_call(t, two, 3620, 4112, "other kernel"); /* late, nobody knows why */
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_FIRST_LAUNCH, 1, 998); /* from 8 to 1006 */
    expect_pattern(&r, CTS_PATH_PATTERN_FULL_DEVICE, 0, 0);
    assert_int_equal(row_named(&r, "long kernel").path_ns, 1000 + 1000);
    assert_true(row_named(&r, "launch latency").path_ns < 1100); /* 2, 2, and of the late one */
    finish(t, &r);
}

/* A blocking copy after the kernel's end: the device waits for no synchronisation, it copies. */
static void late_blocking_copy(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 14, stream);
    trace_call(t, host, 62, 90, "cuMemcpyDtoH_v2");
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 20, 60, "a kernel");
    trace_add(t, stream, 65, CTS_EVENT_RMA_PUT)->event.rma.matching = 42;
    trace_add(t, stream, 85, CTS_EVENT_RMA_OP_COMPLETE_BLOCKING)->event.rma.matching = 42;
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_SYNC, 0, 0);
    assert_int_equal(r.wait_ns, 0);
    finish(t, &r);
}

/* An asynchronous copy that returns after it has ended (pageable memory) waited for what it
 * follows: the kernel before it, or one of the null stream; one that returns at once, or stays on
 * the device, did not. */
static void pageable_copy(void **state)
{
    (void)state;
    enum { PAGEABLE, PINNED, ON_DEVICE, BEHIND_NULL, CASES };
    for (unsigned which = 0; which < CASES; which++) {
        struct trace *const t = trace_new();
        const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
        const uint32_t null = trace_stream(t, host, 0);
        t->locations[null].null_stream = true;
        trace_enter(t, host, 0, "main");
        const uint32_t first = which == BEHIND_NULL ? null : stream;
        trace_launch(t, host, 10, 14, first);
        trace_set(trace_enter(t, host, 30, "cuMemcpyAsync"), CTS_ATTRIBUTE_STREAM_REF, stream);
        trace_leave(t, host, which == PINNED ? 35 : 90, "cuMemcpyAsync");
        trace_leave(t, host, 100, "main");
        trace_call(t, first, 20, 60, "a kernel");
        struct trace_event *const begin = trace_add(t, stream, 65, CTS_EVENT_RMA_PUT);
        t->window.communicator = 1;
        t->team_ranks[0] = host;
        t->team_ranks[1] = stream;
        t->communicators[1].rank_count = 2;
        begin->event.rma.remote = which == ON_DEVICE;
        trace_add(t, stream, 85, CTS_EVENT_RMA_OP_COMPLETE_BLOCKING);
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_no_warnings(&r);
        const bool waited = which == PAGEABLE || which == BEHIND_NULL;
        expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, waited, waited ? 30 : 0);
        assert_int_equal(row_named(&r, "a kernel").path_ns, waited ? 40 : 0);
        finish(t, &r);
    }
}

/* cuMemAlloc waits only if it ends after the pending kernel. */
static void allocation(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct trace *const t = trace_new();
        const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
        trace_enter(t, host, 0, "main");
        trace_launch(t, host, 10, 14, stream);
        trace_call(t, host, 30, late ? 64 : 50, "cuMemAlloc_v2");
        trace_leave(t, host, 100, "main");
        trace_call(t, stream, 20, 60, "a kernel");
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, late, late ? 30 : 0);
        finish(t, &r);
    }
}

static void record(struct trace *t, uint32_t host, uint64_t time_ns, uint64_t event,
                   uint32_t stream)
{
    struct trace_event *const leave = trace_call(t, host, time_ns, time_ns + 1, "cuEventRecord");
    trace_set(leave, CTS_ATTRIBUTE_EVENT_REF, event);
    trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, stream);
}

static void event_synchronize(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 11, stream);
    record(t, host, 12, 99, stream);
    trace_launch(t, host, 14, 15, stream);
    trace_set(trace_call(t, host, 30, 64, "cuEventSynchronize"), CTS_ATTRIBUTE_EVENT_REF, 99);
    trace_set(trace_call(t, host, 66, 67, "cuEventSynchronize"), CTS_ATTRIBUTE_EVENT_REF, 98);
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 20, 60, "first kernel");
    trace_call(t, stream, 61, 95, "second kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 30);
    expect_row(&r, "first kernel", 40, 30);
    expect_row(&r, "second kernel", 0, 0);
    expect_warning(&r, CTS_PATH_WARNING_UNKNOWN_EVENT, 1);
    finish(t, &r);
}

static void query(struct trace *t, uint32_t host, uint64_t begin_ns, uint64_t end_ns,
                  uint64_t event, unsigned result)
{
    struct trace_event *const leave = trace_call(t, host, begin_ns, end_ns, "cuEventQuery");
    trace_set(leave, CTS_ATTRIBUTE_EVENT_REF, event);
    trace_set(leave, CTS_ATTRIBUTE_RESULT, result);
}

/* Failed queries wait while the kernel is not done, if one succeeds in the end: the loop is one
 * wait. */
static void event_query(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 11, stream);
    record(t, host, 12, 99, stream);
    query(t, host, 20, 24, 99, 600);
    query(t, host, 30, 35, 99, 600);
    query(t, host, 58, 63, 99, 600);
    query(t, host, 70, 72, 99, 0);
    record(t, host, 80, 99, stream);
    query(t, host, 82, 84, 99, 600); /* nothing ever succeeds */
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 15, 60, "a kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_EVENT_QUERY, 1, 60 - 20);
    expect_row(&r, "a kernel", 45, 60 - 20);
    finish(t, &r);
}

static void stream_query(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 11, stream);
    for (unsigned i = 0; i < 3; i++) {
        struct trace_event *const leave =
            trace_call(t, host, 20 + 20 * i, 25 + 20 * i, "cuStreamQuery");
        trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, stream);
        trace_set(leave, CTS_ATTRIBUTE_RESULT, i < 2 ? 600 : 0);
    }
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 15, 50, "a kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_STREAM_QUERY, 1, 50 - 20);
    expect_row(&r, "a kernel", 50 - 15, 50 - 20);
    finish(t, &r);
}

static void wait_event(struct trace *t, uint32_t host, uint64_t time_ns, uint64_t event,
                       uint32_t stream)
{
    struct trace_event *const leave =
        trace_call(t, host, time_ns, time_ns + 1, "cuStreamWaitEvent");
    trace_set(leave, CTS_ATTRIBUTE_EVENT_REF, event);
    trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, stream);
}

/* The second stream's kernel is held from its launch to the end of the first one's. */
static void stream_wait(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), a = trace_stream(t, host, 7);
    const uint32_t b = trace_stream(t, host, 8);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 12, a);
    record(t, host, 13, 5, a);
    wait_event(t, host, 15, 5, b);
    trace_launch(t, host, 20, 22, b);
    trace_call(t, host, 30, 110, "cuCtxSynchronize");
    trace_leave(t, host, 120, "main");
    trace_call(t, a, 14, 60, "first kernel");
    trace_call(t, b, 63, 100, "second kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_STREAM_WAIT, 1, 60 - 22);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 70);
    /* [22,30): the held stream's own; [30,60): half of the host's directly, half over b; then the
     * second kernel, but for its latency */
    expect_row(&r, "first kernel", 46, 38 + 30);
    expect_row(&r, "second kernel", 37, 37);
    expect_row(&r, "launch latency", 2 + 3, 3);
    expect_row(&r, "main", 10 + 10, 0);
    finish(t, &r);
}

/* Blame of one step stays with the stream that the host waits for. */
static void direct_blame(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), a = trace_stream(t, host, 7);
    const uint32_t b = trace_stream(t, host, 8);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 12, a);
    record(t, host, 13, 5, a);
    wait_event(t, host, 15, 5, b);
    trace_launch(t, host, 20, 22, b);
    trace_set(trace_call(t, host, 30, 110, "cuStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF, b);
    trace_leave(t, host, 120, "main");
    trace_call(t, a, 14, 60, "first kernel");
    trace_call(t, b, 63, 100, "second kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){.direct_blame = true}, &r);
    expect_row(&r, "first kernel", 46, 38);
    expect_row(&r, "second kernel", 37, 37);
    expect_row(&r, "launch latency", 5, 33);
    finish(t, &r);
}

/* The null stream waits for the others and they for it; a non-blocking stream takes no part. */
static void null_stream(void **state)
{
    (void)state;
    for (unsigned named = 0; named < 2; named++) {
        struct trace *const t = trace_new();
        const uint32_t host = trace_rank(t), null = trace_stream(t, host, 7);
        const uint32_t a = trace_stream(t, host, 13), free_stream = trace_stream(t, host, 14);
        t->locations[null].null_stream = !named;
        t->locations[free_stream].non_blocking = true;
        trace_enter(t, host, 0, "main");
        trace_launch(t, host, 1, 2, a);
        trace_launch(t, host, 3, 4, null);
        trace_launch(t, host, 5, 6, free_stream);
        trace_launch(t, host, 7, 8, a);
        trace_leave(t, host, 200, "main");
        trace_call(t, a, 10, 40, "first kernel");
        trace_call(t, null, 42, 80, "null kernel");
        trace_call(t, free_stream, 11, 90, "free kernel");
        trace_call(t, a, 85, 120, "second kernel");
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){.null_stream = named ? "7" : NULL}, &r);
        /* null: [4,40); a again: [40,80) */
        expect_pattern(&r, CTS_PATH_PATTERN_NULL_STREAM, 2, 36 + 40);
        expect_row(&r, "first kernel", 0, 30);
        expect_row(&r, "null kernel", 0, 38);
        expect_row(&r, "launch latency", 0, 6 + 2);
        expect_row(&r, "free kernel", 0, 0);
        finish(t, &r);
    }
}

/* With correlation ids order does not matter; one call may launch several activities. */
static void correlation(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    struct trace_event *enter = trace_enter(t, host, 10, "cuGraphLaunch");
    trace_set(enter, CTS_ATTRIBUTE_STREAM_REF, stream);
    trace_set(enter, CTS_ATTRIBUTE_CORRELATION, 17);
    trace_leave(t, host, 14, "cuGraphLaunch");
    trace_call(t, host, 30, 90, "cuCtxSynchronize");
    trace_leave(t, host, 100, "main");
    for (unsigned i = 0; i < 3; i++) {
        trace_set(trace_enter(t, stream, 20 + 20 * i, "a kernel"), CTS_ATTRIBUTE_CORRELATION, 17);
        trace_leave(t, stream, 35 + 20 * i, "a kernel");
    }
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 45);
    expect_row(&r, "a kernel", 45, 5 + 15 + 15);
    expect_row(&r, "launch latency", 6 + 5 + 5, 10);
    finish(t, &r);
}

/* Runtime API above driver API: one synchronisation, one launch. */
static void nested_api(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_enter(t, host, 8, "cudaLaunchKernel");
    trace_launch(t, host, 10, 14, stream);
    trace_leave(t, host, 15, "cudaLaunchKernel");
    trace_enter(t, host, 28, "cudaDeviceSynchronize");
    trace_call(t, host, 30, 64, "cuCtxSynchronize");
    trace_leave(t, host, 66, "cudaDeviceSynchronize");
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 20, 60, "a kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 30);
    finish(t, &r);
}

/* A record was lost: the first launch has no kernel, the second keeps its own. */
static void lost_kernel(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 14, stream);
    trace_call(t, host, 20, 40, "cuCtxSynchronize");
    trace_launch(t, host, 50, 54, stream);
    trace_call(t, host, 60, 90, "cuCtxSynchronize");
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 57, 85, "a kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_warning(&r, CTS_PATH_WARNING_LAUNCH_WITHOUT_WORK, 1);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 25);
    expect_row(&r, "cuLaunchKernel", 8, 0);
    finish(t, &r);
}

/* ---- MPI ---- */

/* rank 0 sends at 50, rank 1 receives from 10 to 60. */
static void late_sender(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    trace_enter(t, a, 0, "slow");
    trace_leave(t, a, 50, "slow");
    trace_send(t, a, 50, 55, 1, 3);
    trace_enter(t, b, 0, "fast");
    trace_leave(t, b, 10, "fast");
    trace_receive(t, b, 10, 60, 0, 3);
    trace_call(t, b, 60, 80, "after");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_SENDER, 1, 40);
    expect_row(&r, "slow", 50, 40);
    expect_row(&r, "MPI transfer", 10, 0);
    expect_row(&r, "after", 20, 0);
    expect_row(&r, "MPI_Recv", 0, 0);
    assert_int_equal(r.path_crossings, 1);
    assert_int_equal(r.kept.segments.count, 3);
    assert_int_equal(r.kept.segments.items[0].location, b);
    assert_int_equal(r.kept.segments.items[2].location, a);
    finish(t, &r);
}

/* Ranks of an inter-communicator are those of the other group. */
static void inter_communicator(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    uint32_t left[] = {a}, right[] = {b};
    t->communicators[0].ranks = left;
    t->communicators[0].rank_count = 1;
    t->communicators[0].remote_ranks = right;
    t->communicators[0].remote_count = 1;
    trace_call(t, a, 0, 50, "slow");
    trace_send(t, a, 50, 55, 0, 3);
    trace_receive(t, b, 10, 60, 0, 3);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_SENDER, 1, 40);
    finish(t, &r);
}

/* The sender stays until the receiver comes. */
static void late_receiver(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    trace_send(t, a, 0, 60, 1, 3);
    trace_call(t, a, 60, 100, "after");
    trace_call(t, b, 0, 50, "slow");
    trace_receive(t, b, 50, 58, 0, 3);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_RECEIVER, 1, 50);
    expect_row(&r, "slow", 50, 50);
    expect_row(&r, "MPI transfer", 10, 0);
    expect_row(&r, "after", 40, 0);
    finish(t, &r);
}

/* Requests completed out of order in one Waitall; two partners share while both are late. */
static void waitall(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t), c = trace_rank(t);
    trace_enter(t, a, 0, "MPI_Irecv");
    trace_message(t, a, 1, CTS_EVENT_MPI_IRECV_REQUEST, 0, 0, 71);
    trace_leave(t, a, 2, "MPI_Irecv");
    trace_enter(t, a, 3, "MPI_Irecv");
    trace_message(t, a, 4, CTS_EVENT_MPI_IRECV_REQUEST, 0, 0, 72);
    trace_leave(t, a, 5, "MPI_Irecv");
    trace_enter(t, a, 10, "MPI_Waitall");
    trace_message(t, a, 90, CTS_EVENT_MPI_IRECV, 2, 1, 72);
    trace_message(t, a, 91, CTS_EVENT_MPI_IRECV, 1, 1, 71);
    trace_leave(t, a, 95, "MPI_Waitall");
    trace_call(t, b, 0, 50, "slow");
    trace_send(t, b, 50, 55, 0, 1);
    trace_call(t, c, 0, 80, "slower");
    trace_send(t, c, 80, 85, 0, 1);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_PARTNER, 1, 70);
    expect_row(&r, "slow", 0, 20);
    expect_row(&r, "slower", 80, 20 + 30);
    expect_row(&r, "MPI transfer", 15, 0);
    finish(t, &r);
}

/* Those who wait share the blame out among those who have not come. */
static void barrier(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    static const uint64_t arrivals[] = {10, 40, 70};
    static const char *const names[] = {"first", "second", "third"};
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t rank = trace_rank(t);
        trace_call(t, rank, 0, arrivals[i], names[i]);
        trace_collective(t, rank, arrivals[i], 75 + i, 0, CTS_TIMELINE_NONE);
    }
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_MPI_BARRIER, 2, 60 + 30);
    expect_row(&r, "first", 0, 0);
    expect_row(&r, "second", 0, 15);
    expect_row(&r, "third", 70, 15 + 60);
    expect_row(&r, "MPI_Barrier", 7, 0); /* the last to leave is the one that came last */
    finish(t, &r);
}

static void rooted(void **state)
{
    (void)state;
    for (unsigned reduce = 0; reduce < 2; reduce++) {
        struct trace *const t = trace_new();
        static const uint64_t arrivals[] = {40, 10, 70};
        for (unsigned i = 0; i < 3; i++) {
            const uint32_t rank = trace_rank(t);
            trace_call(t, rank, 0, arrivals[i], i == 0 ? "root" : i == 1 ? "early" : "late");
            trace_collective(t, rank, arrivals[i], 80, reduce ? 12 : 1, 0);
        }
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        if (reduce) {
            expect_pattern(&r, CTS_PATH_PATTERN_EARLY_ROOT, 1, 30);
            expect_row(&r, "late", 70, 30);
        } else {
            expect_pattern(&r, CTS_PATH_PATTERN_LATE_ROOT, 1, 30);
            expect_row(&r, "root", 40, 30);
        }
        assert_int_equal(r.wait_ns, 30);
        finish(t, &r);
    }
}

static void init_and_finalize(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t rank = trace_rank(t);
        trace_call(t, rank, 10 + 20 * i, 50, "MPI_Init");
        trace_call(t, rank, 60 + 10 * i, 62 + 20 * i, "MPI_Finalize"); /* rank 0 does not wait */
    }
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_INIT_FINALIZE, 1, 20);
    expect_row(&r, "before the first event", 20, 20);
    assert_int_equal(r.init_ns, 10);
    assert_int_equal(r.finalize_ns, 82);
    assert_int_equal(r.mpi_path_ns, 72);
    finish(t, &r);
}

/* What MPI_Init does once the last has come is its own work: no transfer of a message. */
static void init_works(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    trace_call(t, a, 0, 50, "MPI_Init");
    trace_call(t, a, 50, 100, "work");
    trace_send(t, a, 100, 101, 1, 0);
    trace_call(t, b, 0, 30, "load");
    trace_call(t, b, 30, 48, "MPI_Init");
    trace_receive(t, b, 48, 102, 0, 0);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_INIT_FINALIZE, 1, 30);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_SENDER, 1, 52);
    expect_row(&r, "load", 30, 30);
    expect_row(&r, "MPI_Init", 20, 2);
    expect_row(&r, "work", 50, 50);
    expect_row(&r, "MPI transfer", 2, 0);
    finish(t, &r);
}

/* Three ranks in a row: the wait of the last is the fault of the first. */
static void blame_moves_on(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t), c = trace_rank(t);
    trace_call(t, a, 0, 50, "slow");
    trace_send(t, a, 50, 52, 1, 0);
    trace_receive(t, b, 0, 55, 0, 0);
    trace_call(t, b, 55, 60, "between");
    trace_send(t, b, 60, 62, 2, 0);
    trace_receive(t, c, 0, 65, 1, 0);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_LATE_SENDER, 2, 50 + 60);
    expect_row(&r, "slow", 50, 100);
    expect_row(&r, "MPI transfer", 5 + 5, 5);
    expect_row(&r, "between", 5, 5);
    cts_path_release(&r);
    trace_analyze(t, (struct cts_path_options){.direct_blame = true}, &r);
    expect_row(&r, "slow", 50, 50);
    expect_row(&r, "MPI_Recv", 0, 50);
    expect_row(&r, "MPI transfer", 10, 5);
    expect_row(&r, "between", 5, 5);
    finish(t, &r);
}

/* Rank 1 waits at a barrier for rank 0, which waits for its kernel. */
static void blame_crosses_to_a_device(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), stream = trace_stream(t, a, 7), b = trace_rank(t);
    trace_enter(t, a, 0, "main");
    trace_launch(t, a, 0, 2, stream);
    trace_call(t, a, 10, 60, "cuCtxSynchronize");
    trace_collective(t, a, 65, 70, 0, CTS_TIMELINE_NONE);
    trace_leave(t, a, 70, "main");
    trace_call(t, stream, 5, 55, "a kernel");
    trace_call(t, b, 0, 20, "fast");
    trace_collective(t, b, 20, 72, 0, CTS_TIMELINE_NONE);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_MPI_BARRIER, 1, 45);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 45);
    expect_row(&r, "a kernel", 50, 45 + 35);
    expect_row(&r, "cuCtxSynchronize", 5, 5);
    expect_row(&r, "main", 5, 5);
    expect_row(&r, "MPI transfer", 7, 0);
    finish(t, &r);
}

/* A kernel runs across the collective: the path goes by it. */
static void kernel_across_a_collective(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), stream = trace_stream(t, a, 7), b = trace_rank(t);
    trace_enter(t, a, 0, "main");
    trace_launch(t, a, 1, 3, stream);
    trace_collective(t, a, 20, 50, 11, CTS_TIMELINE_NONE);
    trace_call(t, a, 60, 105, "cuCtxSynchronize");
    trace_leave(t, a, 110, "main");
    trace_call(t, stream, 5, 100, "a kernel");
    trace_call(t, b, 0, 45, "slow");
    trace_collective(t, b, 45, 52, 11, CTS_TIMELINE_NONE);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_N_TO_N, 1, 25);
    expect_row(&r, "a kernel", 95, 40);
    expect_row(&r, "slow", 0, 25);
    expect_row(&r, "MPI transfer", 0, 0);
    assert_int_equal(r.path_crossings, 0);
    finish(t, &r);
}

/* ---- threads ---- */

static void openmp(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t);
    const uint32_t thread = trace_location(t, "OMP thread 1", CTS_LOCATION_THREAD, 0);
    t->team_ranks[0] = master;
    t->team_ranks[1] = thread;
    t->communicators[1].rank_count = 2;
    trace_enter(t, master, 0, "main");
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t at = 100 * i;
        trace_add(t, master, at + 10, CTS_EVENT_THREAD_FORK);
        trace_add(t, master, at + 11, CTS_EVENT_THREAD_TEAM_BEGIN)->event.thread.communicator = 1;
        trace_enter(t, master, at + 11, "loop");
        trace_call(t, master, at + 30, at + 72, "!$omp implicit barrier");
        trace_leave(t, master, at + 75, "loop");
        trace_add(t, master, at + 76, CTS_EVENT_THREAD_TEAM_END)->event.thread.communicator = 1;
        trace_add(t, master, at + 77, CTS_EVENT_THREAD_JOIN);
        trace_add(t, thread, at + 15, CTS_EVENT_THREAD_TEAM_BEGIN)->event.thread.communicator = 1;
        trace_enter(t, thread, at + 16, "long loop");
        trace_call(t, thread, at + 70, at + 73, "!$omp implicit barrier");
        trace_leave(t, thread, at + 74, "long loop");
        trace_add(t, thread, at + 76, CTS_EVENT_THREAD_TEAM_END)->event.thread.communicator = 1;
    }
    trace_leave(t, master, 200, "main");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_OMP_BARRIER, 2, 80);
    expect_row(&r, "long loop", 2 * 54, 80);
    expect_row(&r, "thread start", 12, 0);
    expect_row(&r, "!$omp implicit barrier", 4, 0);
    expect_row(&r, "loop", 2 * 3, 0);
    expect_row(&r, "main", 10 + 35 + 25, 0);
    finish(t, &r);
}

/* ---- bad input ---- */

static void odd_traces(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    trace_enter(t, a, 100, "main");
    trace_leave(t, a, 110, "never entered");
    trace_enter(t, a, 90, "back in time");
    trace_leave(t, a, 120, "back in time");
    trace_send(t, a, 130, 140, 1, 5);  /* nobody receives tag 5 */
    trace_send(t, a, 145, 146, 77, 5); /* no such rank */
    trace_add(t, a, 147, CTS_EVENT_ENTER)->event.region = 4000;
    trace_enter(t, a, 150, "left open");
    trace_enter(t, a, 151, "inner");
    trace_send(t, a, 200, 205, 1, 9);
    trace_leave(t, a, 210, "left open");                  /* closes what is inside */
    trace_message(t, b, 99, CTS_EVENT_MPI_RECV, 0, 9, 0); /* outside any call */
    trace_receive(t, b, 100, 150, 0, 9);                  /* before its send */
    trace_receive(t, b, 160, 170, 0, 6);                  /* nobody sends tag 6 */
    trace_enter(t, b, 180, "MPI_Wait");
    trace_message(t, b, 181, CTS_EVENT_MPI_ISEND_COMPLETE, 0, 0, 4711);
    trace_leave(t, b, 185, "MPI_Wait");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_warning(&r, CTS_PATH_WARNING_LEAVE_WITHOUT_ENTER, 1);
    expect_warning(&r, CTS_PATH_WARNING_CLOCK_BACK, 1);
    expect_warning(&r, CTS_PATH_WARNING_UNKNOWN_REGION, 1);
    expect_warning(&r, CTS_PATH_WARNING_UNMATCHED_SEND, 1);
    expect_warning(&r, CTS_PATH_WARNING_UNKNOWN_PEER, 1);
    expect_warning(&r, CTS_PATH_WARNING_ENTER_WITHOUT_LEAVE, 2);
    expect_warning(&r, CTS_PATH_WARNING_OUTSIDE_CALL, 1);
    expect_warning(&r, CTS_PATH_WARNING_EARLY_RECEIVE, 1);
    expect_warning(&r, CTS_PATH_WARNING_UNMATCHED_RECEIVE, 1);
    expect_warning(&r, CTS_PATH_WARNING_UNMATCHED_REQUEST, 1);
    finish(t, &r);
}

/* Clocks so far off that two ranks wait for each other: the analysis ends, sums hold. */
static void waits_in_a_circle(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    trace_receive(t, a, 10, 50, 1, 0);
    trace_send(t, a, 60, 62, 1, 0);
    trace_receive(t, b, 10, 50, 0, 0);
    trace_send(t, b, 60, 62, 0, 0);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_warning(&r, CTS_PATH_WARNING_EARLY_RECEIVE, 2);
    assert_int_equal(r.wait_ns, 80);
    finish(t, &r);
}

/* A rank leaves a barrier before another comes, which receives what the first has not sent: it
 * waits for the barrier's pool, that for the other, and that for the first. Meanwhile a third comes
 * to the barrier. Nothing of what goes round is lost. */
static void circle_through_a_pool(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) { /* either rank may begin the circle */
        struct trace *const t = trace_new();
        const uint32_t a = trace_rank(t), b = trace_rank(t), third = trace_rank(t);
        const uint32_t one = first ? b : a, other = first ? a : b;
        trace_collective(t, one, 10, 50, 0, CTS_TIMELINE_NONE);
        trace_send(t, one, 70, 72, other, 5);
        trace_receive(t, other, 20, 45, one, 5);
        trace_collective(t, other, 60, 62, 0, CTS_TIMELINE_NONE);
        trace_collective(t, third, 30, 62, 0, CTS_TIMELINE_NONE);
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        assert_true(r.warnings[CTS_PATH_WARNING_WAIT_CIRCLE] > 0);
        expect_pattern(&r, CTS_PATH_PATTERN_MPI_BARRIER, 2, 40 + 30);
        expect_pattern(&r, CTS_PATH_PATTERN_LATE_SENDER, 1, 25);
        assert_int_equal(r.blame_ns, 95);
        finish(t, &r);
    }
}

/* A receive within a barrier of threads: no step within the process, though the barrier's thread
 * and the sender come last together. */
static void message_in_a_barrier(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t other = trace_rank(t), master = trace_rank(t);
    const uint32_t worker = trace_location(t, "OMP thread 1", CTS_LOCATION_THREAD, 1);
    t->team_ranks[0] = master;
    t->team_ranks[1] = worker;
    t->communicators[1].rank_count = 2;
    trace_call(t, other, 0, 40, "slow");
    trace_send(t, other, 40, 41, 1, 5);
    trace_enter(t, master, 0, "main");
    trace_add(t, master, 2, CTS_EVENT_THREAD_FORK)->event.thread.team_size = 2;
    for (uint32_t l = master; l <= worker; l++) {
        trace_add(t, l, 3, CTS_EVENT_THREAD_TEAM_BEGIN)->event.thread.communicator = 1;
        trace_enter(t, l, l == master ? 10 : 40, "!$omp implicit barrier");
        if (l == master) trace_message(t, l, 44, CTS_EVENT_MPI_RECV, 0, 5, 0);
        trace_leave(t, l, 45, "!$omp implicit barrier");
        trace_add(t, l, 46, CTS_EVENT_THREAD_TEAM_END)->event.thread.communicator = 1;
    }
    trace_add(t, master, 47, CTS_EVENT_THREAD_JOIN);
    trace_leave(t, master, 60, "main");
    struct cts_path r;
    trace_analyze_whole(t, (struct cts_path_options){0}, &r);
    expect_row(&r, "slow", 40, 30 / 2);
    finish(t, &r);
}

static void nothing_to_analyse(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    struct cts_path r;
    struct cts_error error;
    struct cts_path_source source = trace_source(t);
    assert_int_equal(cts_path_analyze(&source, &(struct cts_path_options){0}, &r, &error),
                     CTS_FORMAT);
    assert_non_null(strstr(error.text, "no process"));
    (void)trace_rank(t);
    source = trace_source(t);
    assert_int_equal(cts_path_analyze(&source, &(struct cts_path_options){0}, &r, &error),
                     CTS_FORMAT);
    assert_non_null(strstr(error.text, "no regions"));
    trace_free(t);
}

/* A user's line comes before the built-in ones. */
static void api_table(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), stream = trace_stream(t, host, 7);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 10, 14, stream);
    trace_call(t, host, 30, 64, "cuMyWait_v3");
    trace_call(t, host, 70, 90, "cuCtxSynchronize");
    trace_leave(t, host, 100, "main");
    trace_call(t, stream, 20, 60, "a kernel");
    struct cts_path r;
    trace_analyze(t,
                  (struct cts_path_options){.api_table = "# mine\nsync-device cuMy*\n"
                                                         "none cuCtxSynchronize\n"},
                  &r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 30);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_SYNC, 0, 0);
    cts_path_release(&r);
    /* a runtime that somebody instrumented as a user's code; the built-in names mean nothing there
     */
    for (uint32_t i = 0; i < t->timeline.region_count; i++)
        if (!strncmp(t->regions[i].name, "cu", 2)) t->regions[i].paradigm = CTS_PARADIGM_COMPILER;
    trace_analyze(t,
                  (struct cts_path_options){.api_table = "sync-device cuMyWait\n"
                                                         "launch cuLaunchKernel\n"},
                  &r);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_KERNEL, 1, 30);
    expect_pattern(&r, CTS_PATH_PATTERN_BLAME_SYNC, 0, 0);
    cts_path_release(&r);
    const struct cts_path_source source = trace_source(t);
    struct cts_error error;
    const struct cts_path_options wrong = {.api_table = "launch cuA\nlunch cuB\n",
                                           .api_table_name = "my.txt"};
    assert_int_equal(cts_path_analyze(&source, &wrong, &r, &error), CTS_FORMAT);
    assert_string_equal(error.text, "'my.txt' line 2: unknown meaning 'lunch'");
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blame_kernel),
        cmocka_unit_test(blame_kernel_is_cut_at_the_leave),
        cmocka_unit_test(blame_sync),
        cmocka_unit_test(streams_share_blame),
        cmocka_unit_test(ties),
        cmocka_unit_test(blocking_copy),
        cmocka_unit_test(full_device),
        cmocka_unit_test(full_device_after_events),
        cmocka_unit_test(full_devices_of_a_program),
        cmocka_unit_test(lost_launches),
        cmocka_unit_test(host_functions),
        cmocka_unit_test(first_launch),
        cmocka_unit_test(late_blocking_copy),
        cmocka_unit_test(pageable_copy),
        cmocka_unit_test(allocation),
        cmocka_unit_test(event_synchronize),
        cmocka_unit_test(event_query),
        cmocka_unit_test(stream_query),
        cmocka_unit_test(stream_wait),
        cmocka_unit_test(direct_blame),
        cmocka_unit_test(null_stream),
        cmocka_unit_test(correlation),
        cmocka_unit_test(nested_api),
        cmocka_unit_test(lost_kernel),
        cmocka_unit_test(late_sender),
        cmocka_unit_test(inter_communicator),
        cmocka_unit_test(late_receiver),
        cmocka_unit_test(waitall),
        cmocka_unit_test(barrier),
        cmocka_unit_test(rooted),
        cmocka_unit_test(init_and_finalize),
        cmocka_unit_test(init_works),
        cmocka_unit_test(blame_moves_on),
        cmocka_unit_test(blame_crosses_to_a_device),
        cmocka_unit_test(kernel_across_a_collective),
        cmocka_unit_test(openmp),
        cmocka_unit_test(odd_traces),
        cmocka_unit_test(waits_in_a_circle),
        cmocka_unit_test(circle_through_a_pool),
        cmocka_unit_test(message_in_a_barrier),
        cmocka_unit_test(nothing_to_analyse),
        cmocka_unit_test(api_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
