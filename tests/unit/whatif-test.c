/* Projections: traces whose answer is known, and random programs that a simulator runs twice, as
 * they are and with other durations: the projection of the first must be the second, node by node.
 */
#include "analyze/path/whatif.h"

#include "path-fixture.h"
#include "random.h"

/* ---- small traces ---- */

static struct cts_whatif project(struct trace *trace, const struct cts_whatif_change *changes,
                                 size_t count, bool free_overlap)
{
    const struct cts_path_source source = trace_source(trace);
    struct cts_whatif_options options = {.changes = changes,
                                         .change_count = count,
                                         .free_overlap = free_overlap,
                                         .device = cts_whatif_default_device()};
    options.path.threads = 2;
    struct cts_whatif result;
    struct cts_error error;
    if (cts_whatif_analyze(&source, &options, &result, &error)) fail_msg("%s", error.text);
    assert_int_equal(result.notes.missed, 0);
    assert_int_equal(result.notes.broken, 0);
    return result;
}

static uint64_t runtime(struct trace *trace, const char *activity, double factor)
{
    const struct cts_whatif_change change = {activity, CTS_WHATIF_ALL, factor};
    struct cts_whatif result = project(trace, &change, 1, false);
    const uint64_t after_ns = result.after_ns;
    uint64_t path_ns = 0;
    for (size_t i = 0; i < result.row_count; i++) path_ns += result.rows[i].after_ns;
    assert_int_equal(path_ns, after_ns); /* the new path is as long as the new run */
    cts_whatif_release(&result);
    return after_ns;
}

static void late_sender(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t a = trace_rank(trace), b = trace_rank(trace);
    trace_call(trace, a, 0, 100, "work");
    trace_send(trace, a, 100, 105, 1, 0);
    trace_call(trace, a, 105, 110, "rest");
    trace_call(trace, b, 0, 40, "other");
    trace_receive(trace, b, 40, 108, 0, 0);
    trace_call(trace, b, 108, 150, "rest");
    assert_int_equal(runtime(trace, "work", 1), 150);
    assert_int_equal(runtime(trace, "work", 0.5), 100); /* sent at 50, there at 58 */
    assert_int_equal(runtime(trace, "work", 2), 250);
    assert_int_equal(runtime(trace, "work", 0), 90); /* the receive costs 8 after its enter */
    assert_int_equal(runtime(trace, "other", 0), 150);
    assert_int_equal(runtime(trace, "MPI transfer", 0), 142);
    const struct cts_whatif_change second = {"rest", 1, 0};
    struct cts_whatif result = project(trace, &second, 1, false);
    assert_int_equal(result.after_ns, 110);
    assert_int_equal(result.ranks[0].after_ns, 110);
    assert_int_equal(result.ranks[1].after_ns, 108);
    cts_whatif_release(&result);
    const struct cts_whatif_change none = {"work", CTS_WHATIF_ALL, 0};
    result = project(trace, &none, 1, false);
    const struct cts_whatif_pattern *const late = &result.patterns[CTS_PATH_PATTERN_LATE_SENDER];
    assert_int_equal(late->before_ns, 60);
    assert_int_equal(late->after_ns, 0);
    assert_int_equal(late->vanished, 1);
    assert_int_equal(late->appeared, 0);
    cts_whatif_release(&result);
    trace_free(trace);
}

/* What MPI_Init does behind the last to come is its own, not MPI transfer's. */
static void init(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t a = trace_rank(trace), b = trace_rank(trace);
    trace_call(trace, a, 0, 50, "MPI_Init");
    trace_call(trace, a, 50, 100, "work");
    trace_call(trace, b, 0, 30, "load");
    trace_call(trace, b, 30, 48, "MPI_Init");
    assert_int_equal(runtime(trace, "load", 0), 70);
    assert_int_equal(runtime(trace, "MPI_Init", 0.5), 90);
    assert_int_equal(runtime(trace, "MPI_Init", 0), 80);
    assert_int_equal(runtime(trace, "MPI transfer", 0), 100);
    trace_free(trace);
}

static void barrier(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint64_t comes_ns[] = {30, 70, 50};
    for (unsigned r = 0; r < 3; r++) {
        static const char *const names[] = {"one", "two", "three"};
        const uint32_t rank = trace_rank(trace);
        trace_call(trace, rank, 0, comes_ns[r], names[r]);
        trace_collective(trace, rank, comes_ns[r], 74, 0, CTS_TIMELINE_NONE);
    }
    assert_int_equal(runtime(trace, "two", 0), 54);
    assert_int_equal(runtime(trace, "three", 0), 74);
    assert_int_equal(runtime(trace, "one", 3), 94);
    trace_free(trace);
}

/* A kernel and a synchronisation that costs 5 if there is nothing to wait for, 10 after its end. */
static struct trace *one_kernel(void)
{
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace), stream = trace_stream(trace, host, 1);
    trace_call(trace, host, 0, 5, "cuStreamSynchronize");
    trace_launch(trace, host, 10, 15, stream);
    trace_call(trace, host, 15, 40, "host");
    trace_call(trace, stream, 20, 120, "kernel");
    trace_set(trace_call(trace, host, 40, 130, "cuStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF,
              stream);
    trace_call(trace, host, 130, 200, "end");
    return trace;
}

/* Threads that meet, and a join: whoever comes last once times change is waited for. */
static void threads(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t master = trace_rank(trace);
    const uint32_t thread = trace_location(trace, "Thread 1", CTS_LOCATION_THREAD, 0);
    trace_set(trace_enter(trace, master, 0, "pthread_create"), CTS_ATTRIBUTE_RELEASE, 1);
    trace_leave(trace, master, 2, "pthread_create");
    trace_call(trace, master, 2, 40, "short");
    trace_set(trace_call(trace, master, 40, 72, "pthread_barrier_wait"), CTS_ATTRIBUTE_RELEASED_BY,
              2);
    trace_set(trace_call(trace, master, 80, 91, "pthread_join"), CTS_ATTRIBUTE_RELEASED_BY, 3);
    trace_set(trace_enter(trace, thread, 6, "thread work"), CTS_ATTRIBUTE_RELEASED_BY, 1);
    trace_call(trace, thread, 8, 70, "long");
    trace_set(trace_enter(trace, thread, 70, "pthread_barrier_wait"), CTS_ATTRIBUTE_RELEASE, 2);
    trace_leave(trace, thread, 71, "pthread_barrier_wait");
    trace_set(trace_leave(trace, thread, 90, "thread work"), CTS_ATTRIBUTE_RELEASE, 3);
    assert_int_equal(runtime(trace, "long", 1), 91);
    assert_int_equal(runtime(trace, "long", 2), 91 + 62);
    assert_int_equal(runtime(trace, "long", 0.5), 91 - 30); /* the short one is awaited, at 40 */
    assert_int_equal(runtime(trace, "long", 0), 91 - 30);
    assert_int_equal(runtime(trace, "short", 0), 91);
    assert_int_equal(runtime(trace, "short", 2), 91 + 8);
    assert_int_equal(runtime(trace, "thread work", 0), 91 - 2 - 10); /* not waited for at the end */
    trace_free(trace);
}

static void synchronisation(void **state)
{
    (void)state;
    struct trace *const trace = one_kernel();
    assert_int_equal(runtime(trace, "kernel", 0.5), 150);
    assert_int_equal(runtime(trace, "kernel", 2), 300);
    assert_int_equal(runtime(trace, "kernel", 0), 115); /* enter 40 + the least cost 5 */
    assert_int_equal(runtime(trace, "host", 0), 200);
    assert_int_equal(runtime(trace, "launch latency", 0), 195);
    const struct cts_path_source source = trace_source(trace);
    const struct cts_whatif_change change = {"kernel", CTS_WHATIF_ALL, 0};
    const struct cts_whatif_cost cost = {"cuStreamSynchronize", 30};
    const struct cts_whatif_options options = {
        .changes = &change, .change_count = 1, .costs = &cost, .cost_count = 1};
    struct cts_whatif result;
    struct cts_error error;
    assert_int_equal(cts_whatif_analyze(&source, &options, &result, &error), CTS_OK);
    assert_int_equal(result.after_ns, 140);
    cts_whatif_release(&result);
    trace_free(trace);
}

static void targets(void **state)
{
    (void)state;
    struct trace *const trace = one_kernel();
    const struct cts_path_source source = trace_source(trace);
    const struct cts_whatif_options options = {.targets = true};
    struct cts_whatif result;
    struct cts_error error;
    assert_int_equal(cts_whatif_analyze(&source, &options, &result, &error), CTS_OK);
    assert_string_equal(result.region_names[result.targets[0].region], "kernel");
    assert_int_equal(result.targets[0].half_ns, 150);
    assert_int_equal(result.targets[0].none_ns, 115);
    assert_string_equal(result.region_names[result.targets[1].region], "end");
    assert_int_equal(result.targets[1].half_ns, 165);
    const struct cts_whatif_target *latency = NULL;
    for (size_t i = 0; i < result.target_count; i++)
        if (!strcmp(result.region_names[result.targets[i].region], "launch latency"))
            latency = &result.targets[i];
    assert_non_null(latency);
    assert_int_equal(latency->path_ns, 5);
    assert_int_equal(latency->none_ns, 195);
    cts_whatif_release(&result);
    /* the call is its own cost and what follows the kernel's end */
    assert_int_equal(runtime(trace, "cuStreamSynchronize", 0), 200 - 5 - 10);
    assert_int_equal(runtime(trace, "*", 2), 400);
    trace_free(trace);
}

/* Two streams, the second's kernel held by an event of the first's. */
static void stream_wait(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace);
    const uint32_t one = trace_stream(trace, host, 1), two = trace_stream(trace, host, 2);
    trace_launch(trace, host, 0, 4, one);
    struct trace_event *event = trace_call(trace, host, 5, 6, "cuEventRecord");
    trace_set(event, CTS_ATTRIBUTE_STREAM_REF, one);
    trace_set(event, CTS_ATTRIBUTE_EVENT_REF, 9);
    event = trace_call(trace, host, 7, 8, "cuStreamWaitEvent");
    trace_set(event, CTS_ATTRIBUTE_STREAM_REF, two);
    trace_set(event, CTS_ATTRIBUTE_EVENT_REF, 9);
    trace_launch(trace, host, 9, 12, two);
    trace_call(trace, host, 20, 195, "cuCtxSynchronize");
    trace_call(trace, one, 10, 110, "first kernel");
    trace_call(trace, two, 115, 190, "second kernel");
    assert_int_equal(runtime(trace, "first kernel", 0.5), 145);
    assert_int_equal(runtime(trace, "second kernel", 0), 120);
    /* held no more: begins by its launch, whose latency is not known to be less than recorded */
    struct cts_whatif_change change = {"first kernel", CTS_WHATIF_ALL, 0};
    struct cts_whatif result = project(trace, &change, 1, false);
    assert_int_equal(result.time_ns[two][0], 18); /* launched at 12, the usual latency is 6 */
    assert_int_equal(result.patterns[CTS_PATH_PATTERN_STREAM_WAIT].vanished, 1);
    cts_whatif_release(&result);
    trace_free(trace);
}

static void null_stream(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace);
    const uint32_t null = trace_stream(trace, host, 0), other = trace_stream(trace, host, 1);
    trace->locations[null].null_stream = true;
    trace_launch(trace, host, 0, 4, other);
    trace_launch(trace, host, 5, 9, null);
    trace_call(trace, host, 20, 160, "cuCtxSynchronize");
    trace_call(trace, other, 10, 90, "first kernel");
    trace_call(trace, null, 92, 150, "second kernel");
    assert_int_equal(runtime(trace, "first kernel", 0.5), 120);
    trace_free(trace);
}

/* Polls until the kernel is done at 60; each query costs 4, one between each two. */
static void polls(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace), stream = trace_stream(trace, host, 1);
    trace_launch(trace, host, 0, 5, stream);
    trace_call(trace, stream, 10, 60, "kernel");
    for (unsigned i = 0; i < 6; i++) {
        struct trace_event *const query =
            trace_call(trace, host, 20 + 10 * i, 24 + 10 * i, "cuStreamQuery");
        trace_set(query, CTS_ATTRIBUTE_STREAM_REF, stream);
        trace_set(query, CTS_ATTRIBUTE_RESULT, i < 4 ? 600 : 0);
    }
    trace_call(trace, host, 80, 100, "end");
    assert_int_equal(runtime(trace, "kernel", 1), 100);
    /* done at 35: the queries at 20 and 30 fail, those at 40 and 50 are none; 60 comes at 40 */
    assert_int_equal(runtime(trace, "kernel", 0.5), 80);
    trace_free(trace);
}

/* The same where each query is called by another function, as the runtime's call is around the
 * driver's on a GPU; and where something else is called between two, which is no polling. */
static void wrapped_polls(struct trace *trace, bool something_else)
{
    const uint32_t host = trace_rank(trace), stream = trace_stream(trace, host, 1);
    trace_launch(trace, host, 0, 5, stream);
    trace_call(trace, stream, 10, 60, "kernel");
    for (unsigned i = 0; i < 6; i++) {
        trace_enter(trace, host, 19 + 10 * i, "cudaStreamQuery");
        struct trace_event *const query =
            trace_call(trace, host, 20 + 10 * i, 24 + 10 * i, "cuStreamQuery");
        trace_set(query, CTS_ATTRIBUTE_STREAM_REF, stream);
        trace_set(query, CTS_ATTRIBUTE_RESULT, i < 4 ? 600 : 0);
        trace_leave(trace, host, 25 + 10 * i, "cudaStreamQuery");
        if (something_else) trace_call(trace, host, 26 + 10 * i, 28 + 10 * i, "work");
    }
    trace_call(trace, host, 80, 100, "end");
}

static void polls_within_calls(void **state)
{
    (void)state;
    struct trace *trace = trace_new();
    wrapped_polls(trace, false);
    assert_int_equal(runtime(trace, "kernel", 1), 100);
    assert_int_equal(runtime(trace, "kernel", 0.5), 80);
    const struct cts_whatif_change half = {"kernel", CTS_WHATIF_ALL, 0.5};
    struct cts_whatif result = project(trace, &half, 1, false);
    assert_int_equal(result.notes.polls.kept, 0);
    cts_whatif_release(&result);
    trace_free(trace);
    trace = trace_new();
    wrapped_polls(trace, true);
    /* the two queries after 35 take nothing, the work and the gaps around them stay */
    assert_int_equal(runtime(trace, "kernel", 0.5), 92);
    result = project(trace, &half, 1, false);
    assert_int_equal(result.notes.polls.fixed, 4); /* it is also done behind queries that succeed */
    cts_whatif_release(&result);
    trace_free(trace);
}

/* Main runs from 0 to 60, then joins a thread that hardly used the CPU, until 98. A shorter main
 * tells it to end earlier; a shorter thread saves what main waited for it. */
static void thread_without_cpu_time(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t master = trace_rank(trace);
    const uint32_t thread = trace_location(trace, "Thread 1", CTS_LOCATION_THREAD, 0);
    trace_call(trace, master, 10, 60, "prepare");
    trace_set(trace_call(trace, master, 60, 98, "pthread_join"), CTS_ATTRIBUTE_RELEASED_BY, 5);
    trace_enter(trace, thread, 0, "thread work");
    struct trace_event *const end = trace_leave(trace, thread, 95, "thread work");
    trace_set(end, CTS_ATTRIBUTE_RELEASE, 5);
    trace_set(end, CTS_ATTRIBUTE_CPU_TIME, 2);
    assert_int_equal(runtime(trace, "prepare", 1), 98);
    assert_int_equal(runtime(trace, "prepare", 0.5), 98 - 25);
    assert_int_equal(runtime(trace, "prepare", 2), 98 + 50);
    assert_int_equal(runtime(trace, "thread work", 0), 98 - 35);
    trace_free(trace);
}

/* A graph's branches g1 and g2 begin together; g3 begins 5 behind the longer one, g2, and so it
 * would behind g1 if that were longer. */
static void graph_branches(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace);
    const uint32_t streams[2] = {trace_stream(trace, host, 7), trace_stream(trace, host, 20)};
    static const struct {
        unsigned stream;
        uint64_t begin_ns, end_ns;
        const char *name;
    } kernels[] = {{0, 30, 130, "g1"}, {1, 30, 190, "g2"}, {0, 195, 235, "g3"}};
    trace_set(trace_call(trace, host, 0, 20, "cudaGraphLaunch"), CTS_ATTRIBUTE_CORRELATION, 5);
    trace_set(trace_call(trace, host, 25, 240, "cudaStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF,
              streams[0]);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t stream = streams[kernels[i].stream];
        trace_set(trace_enter(trace, stream, kernels[i].begin_ns, kernels[i].name),
                  CTS_ATTRIBUTE_CORRELATION, 5);
        trace_leave(trace, stream, kernels[i].end_ns, kernels[i].name);
    }
    const struct cts_whatif_change changes[] = {{"g1", CTS_WHATIF_ALL, 0.5},
                                                {"g2", CTS_WHATIF_ALL, 0.5}};
    struct cts_whatif result = project(trace, &changes[0], 1, true);
    assert_int_equal(result.after_ns, 240);
    cts_whatif_release(&result);
    result = project(trace, &changes[1], 1, true);
    assert_in_range(result.after_ns, 240 - 60, 240 - 55); /* now g1 is the longer one */
    cts_whatif_release(&result);
    trace_free(trace);
}

/* A kernel from 10 to 60 on the null stream, and a blocking copy behind it, called from 20 to 100.
 */
static uint32_t kernel_and_copy(struct trace *trace)
{
    const uint32_t host = trace_rank(trace), stream = trace_stream(trace, host, 1);
    trace->locations[stream].null_stream = true;
    trace_launch(trace, host, 0, 5, stream);
    trace_call(trace, stream, 10, 60, "kernel");
    trace_call(trace, host, 20, 100, "cuMemcpyDtoH");
    return stream;
}

static void blocking_copy(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t stream = kernel_and_copy(trace);
    struct trace_event *event = trace_add(trace, stream, 62, CTS_EVENT_RMA_PUT);
    event->event.rma.matching = 1;
    event = trace_add(trace, stream, 95, CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING);
    event->event.rma.matching = 1;
    assert_int_equal(runtime(trace, "kernel", 0.8), 90);
    assert_int_equal(runtime(trace, "copy device to host", 0), 67);
    trace_free(trace);
}

static void copy_on(struct trace *trace, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
    trace_add(trace, stream, begin_ns, CTS_EVENT_RMA_GET)->event.rma.matching = 1;
    trace_add(trace, stream, end_ns, CTS_EVENT_RMA_OP_COMPLETE_BLOCKING)->event.rma.matching = 1;
}

/* Two copies from pageable memory: each call returns 3 before its copy has ended, and the second
 * waits for the first one's copy, from 111 to 114. */
static void pageable_copies(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace), stream = trace_stream(trace, host, 1);
    trace->locations[stream].null_stream = true;
    trace_call(trace, host, 0, 110, "cuMemcpyHtoD");
    trace_call(trace, host, 111, 220, "cuMemcpyHtoD");
    trace_call(trace, host, 221, 300, "end");
    copy_on(trace, stream, 10, 113);
    copy_on(trace, stream, 120, 223);
    assert_int_equal(runtime(trace, "copy host to device", 1), 300);
    /* 10 and 9 before each begins; the first still ends before its call */
    assert_int_equal(runtime(trace, "copy host to device", 0), 300 - 100 - 100);
    assert_int_equal(runtime(trace, "copy host to device", 2), 300 + 103 + 103);
    trace_free(trace);
}

/* A blocking copy that waits for a kernel, and whose own copy was not recorded: what follows the
 * kernel is copying. */
static void copy_not_recorded(void **state)
{
    (void)state;
    struct trace *const trace = trace_new();
    (void)kernel_and_copy(trace);
    assert_int_equal(runtime(trace, "kernel", 0), 60); /* 20, and 40 of copying */
    assert_int_equal(runtime(trace, "cuMemcpyDtoH", 0.5), 80);
    assert_int_equal(runtime(trace, "cuMemcpyDtoH", 0), 60);
    trace_free(trace);
}

/* Host work, a kernel on each of two streams, a synchronisation, three times, as an H200 does it:
 * in the first turn the second kernel begins 5 behind the end of the first one, since its code is
 * loaded; then they run side by side. `eager`: they do from the first turn on. */
enum { HOST_WORK = 18000, FIRST = 30000, SECOND = 20000, TURNS = 3 };
static struct trace *two_streams(bool eager)
{
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace);
    const uint32_t one = trace_stream(trace, host, 1), two = trace_stream(trace, host, 2);
    uint64_t now = 0;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        trace_call(trace, host, now, now + HOST_WORK, "host work");
        now += HOST_WORK;
        trace_launch(trace, host, now, now + 10, one);
        trace_launch(trace, host, now + 10, now + 20, two);
        const uint64_t first_ns = now + 15 + FIRST;
        const uint64_t second_ns = turn || eager ? now + 25 : first_ns + 5;
        trace_call(trace, one, now + 15, first_ns, "first kernel");
        trace_call(trace, two, second_ns, second_ns + SECOND, "second kernel");
        const uint64_t done_ns = first_ns > second_ns + SECOND ? first_ns : second_ns + SECOND;
        trace_call(trace, host, now + 20, done_ns + 5, "cuCtxSynchronize");
        now = done_ns + 5;
    }
    return trace;
}

static void first_launches(void **state)
{
    (void)state;
    struct trace *trace = two_streams(false);
    const uint64_t host_ns = TURNS * HOST_WORK;
    /* turn 1: both, one after the other; then the longer one, each with launch and tail */
    const uint64_t loaded_ns = 15 + FIRST + 5 + SECOND + 5, later_ns = 15 + FIRST + 5;
    assert_int_equal(runtime(trace, "first kernel", 1), host_ns + loaded_ns + 2 * later_ns);
    assert_int_equal(runtime(trace, "first kernel", 0.5),
                     host_ns + loaded_ns - FIRST / 2 + 2 * (25 + SECOND + 5));
    assert_int_equal(runtime(trace, "first kernel", 2),
                     host_ns + loaded_ns + FIRST + 2 * (later_ns + FIRST));
    assert_int_equal(runtime(trace, "first kernel", 0), host_ns + 3 * (25 + SECOND + 5));
    assert_int_equal(runtime(trace, "host work", 0), loaded_ns + 2 * later_ns);
    trace_free(trace);
    trace = two_streams(true);
    assert_int_equal(runtime(trace, "first kernel", 0.5), host_ns + 3 * (25 + SECOND + 5));
    assert_int_equal(runtime(trace, "first kernel", 2), host_ns + 3 * (later_ns + FIRST));
    trace_free(trace);
}

/* ---- a shared device ---- */

static void configured(struct trace *trace, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
                       const char *name, uint32_t ctas)
{
    struct trace_event *const enter = trace_enter(trace, stream, begin_ns, name);
    trace_set(enter, CTS_ATTRIBUTE_GRID_X, ctas);
    trace_set(enter, CTS_ATTRIBUTE_BLOCK_X, 1024);
    trace_leave(trace, stream, end_ns, name);
}

/* Two streams; 264 CTAs of 1024 threads fill a device of 132 SMs. */
static struct trace *two_kernels(uint32_t ctas, uint64_t second_ns)
{
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace);
    const uint32_t one = trace_stream(trace, host, 1), two = trace_stream(trace, host, 2);
    trace_launch(trace, host, 0, 10, one);
    trace_launch(trace, host, 10, 20, two);
    trace_call(trace, host, 20, second_ns + 220, "cuCtxSynchronize");
    configured(trace, one, 20, 1020, "first kernel", ctas);
    configured(trace, two, second_ns, second_ns + 200, "second kernel", ctas);
    return trace;
}

static void sharing(void **state)
{
    (void)state;
    const struct cts_whatif_change half = {"first kernel", CTS_WHATIF_ALL, 0.5};
    struct trace *trace = two_kernels(264, 1025); /* the second waits for room */
    struct cts_whatif result = project(trace, &half, 1, false);
    assert_int_equal(result.notes.queued, 1);
    assert_int_equal(result.after_ns, 745);
    cts_whatif_release(&result);
    result = project(trace, &half, 1, true); /* for the paper's model it is a long latency */
    assert_int_equal(result.after_ns, 1245);
    cts_whatif_release(&result);
    trace_free(trace);
    trace = two_kernels(264, 970); /* it begins behind the last CTAs, 50 before the end */
    result = project(trace, &half, 1, false);
    assert_int_equal(result.notes.queued, 1);
    assert_int_equal(result.time_ns[2][0], 495); /* 20 + 500 - 25 */
    cts_whatif_release(&result);
    trace_free(trace);
    trace = two_kernels(132, 30); /* there is room for both */
    result = project(trace, &half, 1, false);
    assert_int_equal(result.notes.shared, 2);
    assert_int_equal(result.notes.queued, 0);
    assert_int_equal(result.time_ns[1][1], 520);
    assert_int_equal(result.time_ns[2][1], 230);
    cts_whatif_release(&result);
    trace_free(trace);
}

/* Kernels that each fill the device, long and short in turns on three streams. Each begins when the
 * one before has half of its work left; from then to that one's end it has a quarter of the room.
 * So a long one (300) is alone for 130, mixed for 200, and its successor (120) then has 70 left: 10
 * alone, 80 mixed. The device is never idle: what the short ones do less is gained, all of it. */
static void mixed_ends(void **state)
{
    (void)state;
    enum { PAIRS = 12, LONG = 300, SHORT = 120, UNIT = 1000 };
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace);
    uint32_t streams[3];
    for (unsigned s = 0; s < 3; s++) streams[s] = trace_stream(trace, host, s + 1);
    for (unsigned k = 0; k < 2 * PAIRS; k++) trace_launch(trace, host, k, k + 1, streams[k % 3]);
    uint64_t begin_ns = 2 * PAIRS, end_ns = 0;
    for (unsigned k = 0; k < 2 * PAIRS; k++) {
        const uint64_t alone = k % 2 ? 10 : k ? 130 : 150, mixed = k % 2 ? 80 : 200;
        const uint64_t before = k % 2 ? 200 : k ? 80 : 0; /* mixed with the one before */
        const bool is_last = k == 2 * PAIRS - 1;
        end_ns = begin_ns + (before + alone + (is_last ? 60 : mixed)) * UNIT;
        configured(trace, streams[k % 3], begin_ns, end_ns, k % 2 ? "short" : "long", 264);
        begin_ns += (before + alone) * UNIT;
    }
    trace_call(trace, host, 2 * PAIRS, end_ns + 5, "cuCtxSynchronize");
    const struct cts_whatif_change half = {"short", CTS_WHATIF_ALL, 0.5};
    struct cts_whatif result = project(trace, &half, 1, false);
    assert_false(result.notes.share_rejected);
    assert_true(result.notes.overtaking == 0.5);
    assert_true(result.notes.interference == 0);
    const double gain = (double)(result.before_ns - result.after_ns) / UNIT;
    if (gain < PAIRS * SHORT / 2 * 0.97 || gain > PAIRS * SHORT / 2 * 1.03)
        fail_msg("gain %f, not %d", gain, PAIRS * SHORT / 2);
    cts_whatif_release(&result);
    trace_free(trace);
}

/* ---- launches that the trace does not hold ---- */

/* Twice: work of the host, a kernel that nothing launches, a synchronisation. */
static struct trace *filtered_loop(const char *wait)
{
    struct trace *const trace = trace_new();
    const uint32_t host = trace_rank(trace), stream = trace_stream(trace, host, 1);
    for (uint64_t turn = 0; turn < 2; turn++) {
        const uint64_t at = turn * 100000;
        trace_call(trace, host, at, at + 60000, "host");
        struct trace_event *const leave = trace_call(trace, host, at + 60000, at + 95000, wait);
        trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, stream);
        trace_call(trace, stream, at + 60007, at + 80000, "kernel");
        trace_call(trace, stream, at + 80001, at + 94990, "second kernel");
        trace_call(trace, host, at + 95000, at + 100000, "end");
    }
    return trace;
}

static void inferred_launches(void **state)
{
    (void)state;
    struct trace *const trace = filtered_loop("cuStreamSynchronize");
    const struct cts_whatif_change change = {"host", CTS_WHATIF_ALL, 0.5};
    struct cts_whatif result = project(trace, &change, 1, false);
    assert_int_equal(result.warnings[CTS_PATH_WARNING_WORK_INFERRED], 4);
    assert_int_equal(result.warnings[CTS_PATH_WARNING_WORK_WITHOUT_LAUNCH], 0);
    assert_int_equal(result.after_ns, 200000 - 2 * 30000);
    cts_whatif_release(&result);
    assert_int_equal(runtime(trace, "host", 0), 200000 - 2 * 60000);
    assert_int_equal(runtime(trace, "kernel", 0), 200000 - 2 * 19993);
    assert_int_equal(runtime(trace, "second kernel", 0.5), 200000 - 2 * 7494);
    trace_free(trace);
}

static void refused(void **state)
{
    (void)state;
    struct trace *const trace = filtered_loop("wait"); /* nobody calls the device's API */
    const struct cts_path_source source = trace_source(trace);
    const struct cts_whatif_change change = {"host", CTS_WHATIF_ALL, 0.5};
    const struct cts_whatif_options options = {.changes = &change, .change_count = 1};
    struct cts_whatif result;
    struct cts_error error;
    assert_int_equal(cts_whatif_analyze(&source, &options, &result, &error), CTS_FORMAT);
    assert_string_equal(error.text,
                        "no projection: 4 of 4 device activities (100.0% of the device time) have "
                        "no launch in the trace, and no thread's calls show when they were "
                        "launched; record the launches");
    trace_free(trace);
}

/* ---- bad input ---- */

static void expect_error(const struct cts_whatif_options *options, const char *text)
{
    struct trace *const trace = one_kernel();
    const struct cts_path_source source = trace_source(trace);
    struct cts_whatif result;
    struct cts_error error;
    assert_int_equal(cts_whatif_analyze(&source, options, &result, &error), CTS_USAGE);
    assert_string_equal(error.text, text);
    trace_free(trace);
}

static void bad_input(void **state)
{
    (void)state;
    struct cts_whatif_change change = {"kernle", CTS_WHATIF_ALL, 0.5};
    const struct cts_whatif_options options = {.changes = &change, .change_count = 1};
    expect_error(&options, "no activity is called 'kernle'; similar names: 'kernel'");
    change = (struct cts_whatif_change){"zzzzzzzzzzzz", CTS_WHATIF_ALL, 0.5};
    expect_error(&options, "no activity is called 'zzzzzzzzzzzz' ('ctascope path' lists all)");
    change = (struct cts_whatif_change){"kernel", 7, 0.5};
    expect_error(&options, "the trace has no rank 7");
    change = (struct cts_whatif_change){"kernel", CTS_WHATIF_ALL, -1};
    expect_error(&options, "the factor of 'kernel' is not a number from 0 to 1000000");
    change.factor = strtod("nan", NULL);
    expect_error(&options, "the factor of 'kernel' is not a number from 0 to 1000000");
    expect_error(&(struct cts_whatif_options){0},
                 "nothing to change: give an activity and its factor");
}

/* ---- random programs ---- */

enum { RANKS = 3, STREAMS = 2, OPS_MAX = 60, RUNS = 300, LAUNCH = 3, LATENCY = 7, GAP = 2 };
enum { HELD = 4, SYNC = 6, RECEIVE = 5, SEND = 1, BARRIER = 9, CALL = 1 };
enum kind { COMPUTE, KERNEL, SYNC_STREAM, SYNC_ALL, HOLD, SENDS, RECEIVES, MEETS };
static const char *const host_names[] = {"alpha", "beta", "gamma"};
static const char *const kernel_names[] = {"small kernel", "big kernel"};

struct op {
    enum kind kind;
    unsigned stream, name, peer;
    uint64_t duration_ns;
};
struct program {
    struct op ops[RANKS][OPS_MAX];
    unsigned count[RANKS];
};
struct list {
    uint64_t times[4 * OPS_MAX];
    unsigned count;
};
struct times { /* of all nodes, in their order */
    struct list host[RANKS], stream[RANKS][STREAMS];
};

static void put(struct program *p, unsigned rank, struct op op)
{
    assert_true(p->count[rank] < OPS_MAX);
    p->ops[rank][p->count[rank]++] = op;
}

/* A send takes 1 ns, so that no receive can be posted within it, which would look like waiting for
 * it. The begin has each kind of bound, wait and cost once, so that the usual ones are known. */
static void make(struct program *p)
{
    *p = (struct program){0};
    for (unsigned r = 0; r < RANKS; r++) {
        put(p, r, (struct op){.kind = SYNC_ALL});
        put(p, r, (struct op){.kind = KERNEL, .duration_ns = 50});
        put(p, r, (struct op){.kind = KERNEL, .duration_ns = 50});
        put(p, r, (struct op){.kind = HOLD, .stream = 1});
        put(p, r, (struct op){.kind = KERNEL, .stream = 1, .duration_ns = 5});
        put(p, r, (struct op){.kind = SYNC_ALL});
        for (unsigned turn = 0; turn < 2; turn++) /* the first is late, the second early */
            if (r < 2) {
                put(p, r, (struct op){.kind = COMPUTE, .duration_ns = (r ^ turn) ? 1 : 60});
                put(p, r, (struct op){.kind = r ? RECEIVES : SENDS, .peer = !r});
            }
        put(p, r, (struct op){.kind = MEETS});
    }
    for (unsigned step = 0; step < 30; step++) {
        const unsigned r = below(RANKS), what = below(12), stream = below(STREAMS);
        if (what < 3)
            put(p, r, (struct op){.kind = COMPUTE, .name = below(3), .duration_ns = 1 + below(60)});
        else if (what < 7)
            put(p, r,
                (struct op){.kind = KERNEL,
                            .stream = stream,
                            .name = below(2),
                            .duration_ns = 1 + below(120)});
        else if (what < 9)
            put(p, r, (struct op){.kind = what == 7 ? SYNC_STREAM : SYNC_ALL, .stream = stream});
        else if (what == 9)
            put(p, r, (struct op){.kind = HOLD, .stream = stream});
        else if (what == 10) {
            const unsigned other = (r + 1 + below(RANKS - 1)) % RANKS;
            put(p, r, (struct op){.kind = SENDS, .peer = other});
            put(p, other, (struct op){.kind = RECEIVES, .peer = r});
        } else if (below(3) == 0)
            for (unsigned q = 0; q < RANKS; q++) put(p, q, (struct op){.kind = MEETS});
    }
}

struct simulation {
    const struct program *p;
    const double *host_factor, *kernel_factor;
    struct times *t;
    unsigned at[RANKS], met[RANKS];
    uint64_t now[RANKS], end[RANKS][STREAMS], held[RANKS][STREAMS];
    bool any[RANKS][STREAMS], holds[RANKS][STREAMS];
    uint64_t sent[RANKS][RANKS][OPS_MAX];
    unsigned sends[RANKS][RANKS], receives[RANKS][RANKS];
    uint64_t comes[RANKS][OPS_MAX];
    bool in_barrier[RANKS];
};

static void node(struct list *list, uint64_t time_ns)
{
    list->times[list->count++] = time_ns;
}

static uint64_t scaled(uint64_t duration_ns, double factor)
{
    return (uint64_t)((double)duration_ns * factor + 0.5);
}

static uint64_t maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void kernel(struct simulation *s, unsigned r, const struct op *op)
{
    struct list *const stream = &s->t->stream[r][op->stream];
    uint64_t begin_ns = s->now[r] + LAUNCH + LATENCY;
    node(&s->t->host[r], s->now[r]);
    node(&s->t->host[r], s->now[r] += LAUNCH);
    if (s->any[r][op->stream]) begin_ns = maximum(begin_ns, s->end[r][op->stream] + GAP);
    if (s->holds[r][op->stream]) begin_ns = maximum(begin_ns, s->held[r][op->stream] + HELD);
    s->holds[r][op->stream] = false;
    s->any[r][op->stream] = true;
    s->end[r][op->stream] = begin_ns + scaled(op->duration_ns, s->kernel_factor[op->name]);
    node(stream, begin_ns);
    node(stream, s->end[r][op->stream]);
}

static void call(struct simulation *s, unsigned r, uint64_t leave_ns)
{
    node(&s->t->host[r], s->now[r]);
    node(&s->t->host[r], s->now[r] = leave_ns);
}

/* One operation; false: it cannot go on yet. */
static bool step(struct simulation *s, unsigned r)
{
    const struct op *const op = &s->p->ops[r][s->at[r]];
    uint64_t last_ns = s->now[r];
    switch (op->kind) {
    case COMPUTE:
        call(s, r, s->now[r] + scaled(op->duration_ns, s->host_factor[op->name]));
        break;
    case KERNEL:
        kernel(s, r, op);
        break;
    case SYNC_STREAM:
    case SYNC_ALL:
        for (unsigned k = 0; k < STREAMS; k++)
            if (op->kind == SYNC_ALL || k == op->stream) last_ns = maximum(last_ns, s->end[r][k]);
        call(s, r, last_ns + SYNC);
        break;
    case HOLD: /* an event of the other stream */
        call(s, r, s->now[r] + CALL);
        call(s, r, s->now[r] + CALL);
        if (s->any[r][!op->stream]) {
            s->holds[r][op->stream] = true;
            s->held[r][op->stream] = s->end[r][!op->stream];
        }
        break;
    case SENDS:
        s->sent[r][op->peer][s->sends[r][op->peer]++] = s->now[r];
        call(s, r, s->now[r] + SEND);
        break;
    case RECEIVES:
        if (s->receives[r][op->peer] == s->sends[op->peer][r]) return false;
        call(s, r, maximum(s->now[r], s->sent[op->peer][r][s->receives[r][op->peer]++]) + RECEIVE);
        break;
    case MEETS:
        if (!s->in_barrier[r]) s->comes[r][s->met[r]++] = s->now[r];
        s->in_barrier[r] = true;
        for (unsigned q = 0; q < RANKS; q++) {
            if (s->met[q] < s->met[r]) return false;
            last_ns = maximum(last_ns, s->comes[q][s->met[r] - 1]);
        }
        s->in_barrier[r] = false;
        call(s, r, last_ns + BARRIER);
        break;
    }
    s->at[r]++;
    return true;
}

static void simulate(const struct program *p, const double *host_factor,
                     const double *kernel_factor, struct times *t)
{
    struct simulation *const s = calloc(1, sizeof *s);
    assert_non_null(s);
    *t = (struct times){0};
    s->p = p;
    s->t = t;
    s->host_factor = host_factor;
    s->kernel_factor = kernel_factor;
    bool going = true;
    while (going) {
        going = false;
        for (unsigned r = 0; r < RANKS; r++)
            while (s->at[r] < p->count[r] && step(s, r)) going = true;
    }
    for (unsigned r = 0; r < RANKS; r++) assert_int_equal(s->at[r], p->count[r]);
    free(s);
}

static void write_op(struct trace *trace, const uint32_t *hosts, const uint32_t (*streams)[STREAMS],
                     unsigned r, const struct op *op, const uint64_t **at)
{
    const uint64_t enter_ns = (*at)[0], leave_ns = (*at)[1];
    *at += 2;
    struct trace_event *event;
    switch (op->kind) {
    case COMPUTE:
        trace_call(trace, hosts[r], enter_ns, leave_ns, host_names[op->name]);
        break;
    case KERNEL:
        trace_launch(trace, hosts[r], enter_ns, leave_ns, streams[r][op->stream]);
        break;
    case SYNC_STREAM:
        event = trace_call(trace, hosts[r], enter_ns, leave_ns, "cuStreamSynchronize");
        trace_set(event, CTS_ATTRIBUTE_STREAM_REF, streams[r][op->stream]);
        break;
    case SYNC_ALL:
        trace_call(trace, hosts[r], enter_ns, leave_ns, "cuCtxSynchronize");
        break;
    case HOLD:
        event = trace_call(trace, hosts[r], enter_ns, leave_ns, "cuEventRecord");
        trace_set(event, CTS_ATTRIBUTE_STREAM_REF, streams[r][!op->stream]);
        trace_set(event, CTS_ATTRIBUTE_EVENT_REF, 1 + op->stream);
        event = trace_call(trace, hosts[r], (*at)[0], (*at)[1], "cuStreamWaitEvent");
        trace_set(event, CTS_ATTRIBUTE_STREAM_REF, streams[r][op->stream]);
        trace_set(event, CTS_ATTRIBUTE_EVENT_REF, 1 + op->stream);
        *at += 2;
        break;
    case SENDS:
        trace_send(trace, hosts[r], enter_ns, leave_ns, op->peer, 0);
        break;
    case RECEIVES:
        trace_receive(trace, hosts[r], enter_ns, leave_ns, op->peer, 0);
        break;
    case MEETS:
        trace_collective(trace, hosts[r], enter_ns, leave_ns, 0, CTS_TIMELINE_NONE);
        break;
    }
}

struct made {
    struct trace *trace;
    uint32_t hosts[RANKS], streams[RANKS][STREAMS];
};

static struct made write_trace(const struct program *p, const struct times *t)
{
    struct made made = {.trace = trace_new()};
    for (unsigned r = 0; r < RANKS; r++) made.hosts[r] = trace_rank(made.trace);
    for (unsigned r = 0; r < RANKS; r++)
        for (unsigned k = 0; k < STREAMS; k++)
            made.streams[r][k] = trace_stream(made.trace, made.hosts[r], k + 1);
    for (unsigned r = 0; r < RANKS; r++) {
        const uint64_t *at = t->host[r].times;
        unsigned done[STREAMS] = {0};
        for (unsigned i = 0; i < p->count[r]; i++) {
            const struct op *const op = &p->ops[r][i];
            write_op(made.trace, made.hosts, (const uint32_t(*)[STREAMS])made.streams, r, op, &at);
            if (op->kind != KERNEL) continue;
            const uint64_t *const times = t->stream[r][op->stream].times + done[op->stream];
            configured(made.trace, made.streams[r][op->stream], times[0], times[1],
                       kernel_names[op->name], op->name ? 200 : 40);
            done[op->stream] += 2;
        }
    }
    return made;
}

static void compare(const struct cts_whatif *result, uint32_t location, const struct list *expected,
                    unsigned run)
{
    for (unsigned i = 0; i < expected->count; i++)
        if (result->time_ns[location][i] != expected->times[i])
            fail_msg("run %u, location %u, node %u: %llu, not %llu", run, location, i,
                     (unsigned long long)result->time_ns[location][i],
                     (unsigned long long)expected->times[i]);
}

static void random_programs(void **state)
{
    (void)state;
    static const double factors[] = {0, 0.25, 0.5, 1, 1, 1.5, 3};
    struct program *const p = calloc(1, sizeof *p);
    struct times *const before = calloc(1, sizeof *before), *const after = calloc(1, sizeof *after);
    assert_true(p && before && after);
    for (unsigned run = 0; run < RUNS; run++) {
        random_start(run);
        make(p);
        double host[3], device[2];
        struct cts_whatif_change changes[5];
        for (unsigned i = 0; i < 5; i++) {
            const double factor = run % 10 ? factors[below(7)] : 1;
            *(i < 3 ? &host[i] : &device[i - 3]) = factor;
            changes[i] = (struct cts_whatif_change){i < 3 ? host_names[i] : kernel_names[i - 3],
                                                    CTS_WHATIF_ALL, factor};
        }
        simulate(p, (double[]){1, 1, 1}, (double[]){1, 1}, before);
        simulate(p, host, device, after);
        struct made made = write_trace(p, before);
        struct cts_whatif_change used[5];
        size_t count = 0;
        for (unsigned i = 0; i < 5; i++)
            for (uint32_t r = 0; r < made.trace->timeline.region_count; r++)
                if (!strcmp(made.trace->regions[r].name, changes[i].activity))
                    used[count++] = changes[i];
        struct cts_whatif result = project(made.trace, used, count, true);
        for (unsigned r = 0; r < RANKS; r++) {
            compare(&result, made.hosts[r], &after->host[r], run);
            for (unsigned k = 0; k < STREAMS; k++)
                compare(&result, made.streams[r][k], &after->stream[r][k], run);
        }
        cts_whatif_release(&result);
        trace_free(made.trace);
    }
    free(p);
    free(before);
    free(after);
}

/* Kernels that overlap more than the device's room allows, and less: unaltered, the model of shared
 * devices gives the recorded times. */
static void shared_identity(void **state)
{
    (void)state;
    struct program *const p = calloc(1, sizeof *p);
    struct times *const before = calloc(1, sizeof *before);
    assert_true(p && before);
    for (unsigned run = 0; run < RUNS; run++) {
        random_start(run + 1000);
        make(p);
        simulate(p, (double[]){1, 1, 1}, (double[]){1, 1}, before);
        struct made made = write_trace(p, before);
        const struct cts_whatif_change same = {"*", CTS_WHATIF_ALL, 1};
        struct cts_whatif result = project(made.trace, &same, 1, false);
        if (result.notes.share_rejected) fail_msg("run %u: rejected", run);
        assert_true(result.notes.shared > 0);
        for (unsigned r = 0; r < RANKS; r++)
            for (unsigned k = 0; k < STREAMS; k++)
                compare(&result, made.streams[r][k], &before->stream[r][k], run);
        cts_whatif_release(&result);
        trace_free(made.trace);
    }
    free(p);
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_sender),
        cmocka_unit_test(init),
        cmocka_unit_test(barrier),
        cmocka_unit_test(threads),
        cmocka_unit_test(synchronisation),
        cmocka_unit_test(targets),
        cmocka_unit_test(stream_wait),
        cmocka_unit_test(null_stream),
        cmocka_unit_test(polls),
        cmocka_unit_test(polls_within_calls),
        cmocka_unit_test(thread_without_cpu_time),
        cmocka_unit_test(graph_branches),
        cmocka_unit_test(blocking_copy),
        cmocka_unit_test(pageable_copies),
        cmocka_unit_test(copy_not_recorded),
        cmocka_unit_test(first_launches),
        cmocka_unit_test(sharing),
        cmocka_unit_test(mixed_ends),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(inferred_launches),
        cmocka_unit_test(refused),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(shared_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
