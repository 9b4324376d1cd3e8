/* What no record says: which thread runs a stream's host functions, when a team's threads start and
 * end, and what a thread did that used no CPU. Path, waits and projections of small timelines, and
 * timelines in which nothing may be inferred. */
#include "analyze/path/whatif.h"

#include "path-fixture.h"

enum { MS = 1000000 };

static struct cts_whatif project(struct trace *trace, const char *activity, double factor)
{
    const struct cts_path_source source = trace_source(trace);
    const struct cts_whatif_change change = {activity, CTS_WHATIF_ALL, factor};
    struct cts_whatif_options options = {
        .changes = &change, .change_count = 1, .device = cts_whatif_default_device()};
    options.path.threads = 2;
    struct cts_whatif result;
    struct cts_error error;
    if (cts_whatif_analyze(&source, &options, &result, &error)) fail_msg("%s", error.text);
    assert_int_equal(result.notes.missed, 0);
    assert_int_equal(result.notes.broken, 0);
    return result;
}

/* Also that the unchanged run stays as it is, and that the new path is as long as the new run. */
static void expect_runtime(struct trace *trace, const char *activity, double factor,
                           uint64_t after_ns)
{
    uint64_t path_ns = 0;
    struct cts_whatif result = project(trace, activity, 1);
    assert_int_equal(result.after_ns, result.before_ns);
    cts_whatif_release(&result);
    result = project(trace, activity, factor);
    for (size_t i = 0; i < result.row_count; i++) path_ns += result.rows[i].after_ns;
    if (result.after_ns != after_ns)
        fail_msg("%s=%g: %llu, not %llu", activity, factor, (unsigned long long)result.after_ns,
                 (unsigned long long)after_ns);
    assert_int_equal(path_ns, after_ns);
    cts_whatif_release(&result);
}

/* ---- host functions ---- */

static void activity(struct trace *t, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
                     const char *name, uint64_t correlation)
{
    const uint32_t region = trace_region_of(t, name, CTS_PARADIGM_CUDA, CTS_ROLE_FUNCTION);
    struct trace_event *const event = trace_add(t, stream, begin_ns, CTS_EVENT_ENTER);
    event->event.region = region;
    trace_set(event, CTS_ATTRIBUTE_CORRELATION, correlation);
    trace_add(t, stream, end_ns, CTS_EVENT_LEAVE)->event.region = region;
}

static void starting_call(struct trace *t, uint32_t host, uint64_t begin_ns, const char *name,
                          uint32_t stream, uint64_t correlation)
{
    struct trace_event *const event = trace_enter(t, host, begin_ns, name);
    trace_set(event, CTS_ATTRIBUTE_STREAM_REF, stream);
    trace_set(event, CTS_ATTRIBUTE_CORRELATION, correlation);
    trace_leave(t, host, begin_ns + 1, name);
}

/* A kernel of 40, a function in which a thread works from 45 to 70 and from 72 to 78, a kernel.
 * With `elsewhere` the thread does something outside the function, too. */
static struct trace *function_between_kernels(bool elsewhere)
{
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t);
    const uint32_t thread = trace_location(t, "Thread 1", CTS_LOCATION_THREAD, 0);
    const uint32_t stream = trace_stream(t, master, 1);
    starting_call(t, master, 0, "cuLaunchKernel", stream, 1);
    starting_call(t, master, 1, "cuLaunchHostFunc", stream, 2);
    starting_call(t, master, 2, "cuLaunchKernel", stream, 3);
    trace_set(trace_call(t, master, 3, 101, "cuStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF,
              stream);
    if (elsewhere) trace_call(t, thread, 10, 12, "elsewhere");
    trace_call(t, thread, 45, 70, "host work");
    trace_call(t, thread, 72, 78, "more work");
    activity(t, stream, 2, 42, "kernel a", 1);
    activity(t, stream, 42, 80, "host function", 2);
    activity(t, stream, 80, 100, "kernel b", 3);
    return t;
}

/* The path and the blame go to what the thread did; the function has the rest. */
static void host_function(void **state)
{
    (void)state;
    struct trace *const t = function_between_kernels(false);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_HOST_FUNCTION, 1, 78 - 45);
    expect_row(&r, "host work", 25, 2 * 25);
    expect_row(&r, "more work", 6, 2 * 6);
    expect_row(&r, "host function", 2, 3 + 2);
    expect_row(&r, "thread start", 3, 0);
    cts_path_release(&r);
    expect_runtime(t, "host work", 0.2, 101 - 20);
    expect_runtime(t, "host work", 2, 101 + 25);
    expect_runtime(t, "host function", 0, 101 - 2);
    expect_runtime(t, "kernel a", 0.5, 101 - 20);
    expect_runtime(t, "kernel b", 0, 101 - 20);
    trace_free(t);
}

/* A thread that also does something else is no thread of host functions. */
static void thread_of_its_own(void **state)
{
    (void)state;
    struct trace *const t = function_between_kernels(true);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_HOST_FUNCTION, 0, 0);
    expect_row(&r, "host work", 0, 0);
    expect_row(&r, "host function", 38, 38);
    cts_path_release(&r);
    expect_runtime(t, "host function", 0, 78); /* the thread keeps its times */
    trace_free(t);
}

/* ---- teams ---- */

/* Three turns of: a parallel region in which main works 2 ms, one thread 5 and another 8 ms; then a
 * kernel of 10 ms. Main goes on `late_ns` after the team; the second thread's work begins
 * `shift_ns` later than the region, so that calls of main may cut it. */
static struct trace *team_and_kernels(uint64_t late_ns, uint64_t shift_ns)
{
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t);
    const uint32_t one = trace_location(t, "Thread 1", CTS_LOCATION_THREAD, 0);
    const uint32_t two = trace_location(t, "Thread 2", CTS_LOCATION_THREAD, 0);
    const uint32_t stream = trace_stream(t, master, 1);
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t begin_ns = i * (20 * MS + late_ns);
        const uint64_t end_ns = begin_ns + 9 * MS + late_ns;
        trace_call(t, master, begin_ns, begin_ns + 2 * MS, "work");
        trace_call(t, one, begin_ns + MS / 10, begin_ns + 5 * MS, "work");
        trace_call(t, two, begin_ns + shift_ns, begin_ns + shift_ns + 8 * MS, "work");
        starting_call(t, master, end_ns, "cuLaunchKernel", stream, i + 1);
        trace_set(trace_call(t, master, end_ns + 1, end_ns + 10 * MS + 10, "cuStreamSynchronize"),
                  CTS_ATTRIBUTE_STREAM_REF, stream);
        activity(t, stream, end_ns + 10, end_ns + 10 * MS + 10, "kernel", i + 1);
    }
    return t;
}

static void team(void **state)
{
    (void)state;
    struct trace *const t = team_and_kernels(0, MS / 2);
    const uint64_t runtime_ns = 2 * 20 * MS + 19 * MS + 10;
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_warning(&r, CTS_PATH_WARNING_TEAM_INFERRED, 3);
    assert_int_equal(row_named(&r, "kernel").path_ns, 3 * 10 * MS);
    assert_int_equal(row_named(&r, "work").path_ns, 3 * (8 * MS + MS / 2)); /* half: main's */
    cts_path_release(&r);
    expect_runtime(t, "kernel", 0.5, runtime_ns - 3 * 5 * MS);
    expect_runtime(t, "kernel", 2, runtime_ns + 3 * 10 * MS);
    expect_runtime(t, "work", 2, runtime_ns + 3 * (8 * MS + MS / 2));
    trace_free(t);
}

/* Main goes on 3 ms after the team: it did something of its own, and may not have waited. */
static void no_team(void **state)
{
    (void)state;
    static const struct {
        uint64_t late_ns, shift_ns;
    } cases[] = {{3 * MS, MS / 2}, {0, 6 * MS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace *const t = team_and_kernels(cases[i].late_ns, cases[i].shift_ns);
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_warning(&r, CTS_PATH_WARNING_TEAM_INFERRED, 0);
        finish(t, &r);
    }
}

/* ---- threads that used no CPU ---- */

static void handover(struct trace *t, uint32_t location, uint64_t begin_ns, uint64_t end_ns,
                     const char *name, enum cts_attribute attribute, uint64_t number)
{
    struct trace_event *const enter = trace_enter(t, location, begin_ns, name);
    struct trace_event *event = enter;
    if (attribute == CTS_ATTRIBUTE_RELEASED_BY) event = trace_leave(t, location, end_ns, name);
    trace_set(event, attribute, number);
    if (attribute != CTS_ATTRIBUTE_RELEASED_BY) trace_leave(t, location, end_ns, name);
}

/* A thread reads for 40 and signals, five times; main takes what it got, computes for `work_ns` and
 * waits for the next. The thread used the CPU for 1 of all that time. `told_ns`: the thread begins
 * to read only when main has computed, which nothing records. */
static struct trace *reader(uint64_t work_ns, uint64_t told_ns)
{
    enum { TURNS = 5, READ_NS = 40 };
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t);
    const uint32_t thread = trace_location(t, "Thread 1", CTS_LOCATION_THREAD, 0);
    const uint64_t turn_ns = READ_NS + told_ns;
    trace_enter(t, master, 0, "main");
    handover(t, master, 0, 0, "pthread_create", CTS_ATTRIBUTE_RELEASE, 1);
    trace_set(trace_enter(t, thread, 0, "thread work"), CTS_ATTRIBUTE_RELEASED_BY, 1);
    for (uint64_t i = 0; i < TURNS; i++) {
        const uint64_t waits_ns = i * turn_ns + (i ? work_ns : 1), told_at_ns = (i + 1) * turn_ns;
        handover(t, master, waits_ns, told_at_ns, "pthread_cond_wait", CTS_ATTRIBUTE_RELEASED_BY,
                 i + 2);
        handover(t, thread, told_at_ns, told_at_ns, "pthread_cond_signal", CTS_ATTRIBUTE_RELEASE,
                 i + 2);
    }
    trace_leave(t, master, TURNS * turn_ns + work_ns, "main");
    struct trace_event *const end = trace_leave(t, thread, TURNS * turn_ns + 1, "thread work");
    trace_set(end, CTS_ATTRIBUTE_RELEASE, 99);
    trace_set(end, CTS_ATTRIBUTE_CPU_TIME, 1);
    for (uint32_t i = 0; i < t->timeline.region_count; i++)
        if (!strncmp(t->regions[i].name, "pthread_", 8))
            t->regions[i].paradigm = CTS_PARADIGM_PTHREAD;
    return t;
}

/* Main waits for half of each read: the thread was at work before, too, and holds up the program.
 * Where main always waits only for the last 2 of 42, it may itself be what the thread waited for.
 */
static void blocked_reader(void **state)
{
    (void)state;
    struct trace *t = reader(20, 0);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_THREAD_SIGNAL, 5, 39 + 4 * 20);
    assert_int_equal(row_named(&r, "thread work").path_ns, 39 + 4 * 40);
    cts_path_release(&r);
    expect_runtime(t, "main", 0, 199 + 1); /* the first read is needed from main's first wait on */
    trace_free(t);
    t = reader(40, 2);
    trace_analyze(t, (struct cts_path_options){0}, &r);
    assert_int_equal(row_named(&r, "thread work").path_ns, 41 + 4 * 2);
    cts_path_release(&r);
    expect_runtime(t, "main", 0, 41 + 4 * 2 + 1);
    trace_free(t);
}

/* A blocked thread is in a function that it entered by itself: that is its work. */
static void blocked_in_function(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t);
    const uint32_t thread = trace_location(t, "Thread 1", CTS_LOCATION_THREAD, 0);
    trace_enter(t, master, 0, "main");
    handover(t, master, 5, 8, "pthread_create", CTS_ATTRIBUTE_RELEASE, 1);
    handover(t, master, 60, 98, "pthread_join", CTS_ATTRIBUTE_RELEASED_BY, 5);
    trace_leave(t, master, 100, "main");
    trace_set(trace_enter(t, thread, 10, "thread work"), CTS_ATTRIBUTE_RELEASED_BY, 1);
    trace_call(t, thread, 15, 90, "reading");
    struct trace_event *const end = trace_leave(t, thread, 95, "thread work");
    trace_set(end, CTS_ATTRIBUTE_RELEASE, 5);
    trace_set(end, CTS_ATTRIBUTE_CPU_TIME, 1);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_row(&r, "reading", 75, 30);
    cts_path_release(&r);
    expect_runtime(t, "reading", 0.2, 60 + 3 + 2); /* main joins at 60, leaves 3 later, goes on */
    trace_free(t);
}

/* ---- collectives that go on inside calls ---- */

static void reduction_call(struct trace *t, uint32_t rank, uint64_t begin_ns, uint64_t end_ns,
                           bool completes)
{
    const char *const name = completes ? "MPI_Wait" : "MPI_Iallreduce";
    trace_enter(t, rank, begin_ns, name);
    struct trace_event *const event =
        trace_add(t, rank, end_ns,
                  completes ? CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE
                            : CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST);
    event->event.collective.operation = 11;
    event->event.collective.root = CTS_TIMELINE_NONE;
    event->event.collective.request = 9;
    trace_leave(t, rank, end_ns, name);
}

/* Rank 1 computes 9 ms, and rank 0, which has nothing to do, waits in MPI_Wait for its call.
 * MPI_Wait itself costs 1 ms on rank 1, which waits for nobody. */
static void reduction_beside_work(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t a = trace_rank(t), b = trace_rank(t);
    reduction_call(t, a, 0, 1000, false);
    reduction_call(t, a, MS, 10 * MS + 1000, true);
    trace_call(t, a, 10 * MS + 1000, 12 * MS, "rest");
    reduction_call(t, b, 0, 1000, false);
    trace_call(t, b, 1000, 10 * MS, "work");
    reduction_call(t, b, 10 * MS, 11 * MS, true);
    expect_runtime(t, "rest", 0.5, 12 * MS - (2 * MS - 1000) / 2);
    expect_runtime(t, "rest", 0, 11 * MS);
    expect_runtime(t, "work", 2, 12 * MS + (10 * MS - 1000));
    trace_free(t);
}

/* ---- what a projection cannot know ---- */

/* A kernel of 50 on each of two ranks, from 10 and from `begin_ns` on. */
static struct trace *two_ranks(uint64_t begin_ns, uint64_t registers)
{
    struct trace *const t = trace_new();
    for (uint64_t rank = 0; rank < 2; rank++) {
        const uint64_t from_ns = rank ? begin_ns : 10;
        const uint32_t master = trace_rank(t), stream = trace_stream(t, master, 1);
        starting_call(t, master, 0, "cuLaunchKernel", stream, 1);
        trace_set(trace_call(t, master, 5, 200, "cuStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF,
                  stream);
        activity(t, stream, from_ns, from_ns + 50, "kernel", 1);
        struct trace_event *const enter = &t->events[stream].items[0];
        trace_set(enter, CTS_ATTRIBUTE_GRID_X, 1);
        trace_set(enter, CTS_ATTRIBUTE_BLOCK_X, 32);
        trace_set(enter, CTS_ATTRIBUTE_REGISTERS, registers);
    }
    return t;
}

/* Kernels of two processes at the same time on devices that may be one; the CPU device, whose
 * kernels have no registers, has room for both. */
static void shared_by_processes(void **state)
{
    (void)state;
    static const struct {
        uint64_t begin_ns, registers, shared_ns;
    } cases[] = {{40, 16, 20}, {10, 16, 50}, {60, 16, 0}, {40, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace *const t = two_ranks(cases[i].begin_ns, cases[i].registers);
        struct cts_whatif result = project(t, "kernel", 1);
        assert_int_equal(result.notes.processes_ns, cases[i].shared_ns);
        assert_int_equal(result.notes.device_ns, 100);
        cts_whatif_release(&result);
        trace_free(t);
    }
}

/* Ten launches of 10 each, and kernels of 30: without the kernels' time, the launches are left. */
static void held_up_by_launches(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t), stream = trace_stream(t, master, 1);
    for (uint64_t i = 0; i < 10; i++) {
        struct trace_event *const enter = trace_enter(t, master, 10 * i, "cuLaunchKernel");
        trace_set(enter, CTS_ATTRIBUTE_STREAM_REF, stream);
        trace_set(enter, CTS_ATTRIBUTE_CORRELATION, i + 1);
        trace_leave(t, master, 10 * i + 10, "cuLaunchKernel");
        activity(t, stream, 10 + 30 * i, 40 + 30 * i, "kernel", i + 1);
    }
    trace_set(trace_call(t, master, 100, 310, "cuStreamSynchronize"), CTS_ATTRIBUTE_STREAM_REF,
              stream);
    struct cts_whatif result = project(t, "kernel", 1);
    assert_int_equal(result.notes.launch_before_ns, 10);
    assert_int_equal(result.notes.launch_after_ns, 10);
    cts_whatif_release(&result);
    result = project(t, "kernel", 0);
    assert_int_equal(result.notes.launch_before_ns, 10);
    assert_int_equal(result.notes.launch_after_ns, 100);
    cts_whatif_release(&result);
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_function),
        cmocka_unit_test(thread_of_its_own),
        cmocka_unit_test(team),
        cmocka_unit_test(no_team),
        cmocka_unit_test(blocked_reader),
        cmocka_unit_test(blocked_in_function),
        cmocka_unit_test(reduction_beside_work),
        cmocka_unit_test(shared_by_processes),
        cmocka_unit_test(held_up_by_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
