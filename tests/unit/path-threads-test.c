/* Threads that are created and joined: exact waits, blame and path. Teams of OpenMP are in
 * path-rules-test.c. */
#include "path-fixture.h"

static void thread_event(struct trace *t, uint32_t location, uint64_t time_ns,
                         enum cts_timeline_event_kind kind, uint64_t sequence)
{
    struct trace_event *const event = trace_add(t, location, time_ns, kind);
    event->event.thread.communicator = 1;
    event->event.thread.sequence = sequence;
}

/* A join waits for the thread's end; the path leaves the thread where it was created. */
static void create_and_join(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t);
    const uint32_t thread = trace_location(t, "Pthread thread 1", CTS_LOCATION_THREAD, 0);
    trace_enter(t, master, 0, "main");
    trace_enter(t, master, 5, "pthread_create");
    thread_event(t, master, 6, CTS_EVENT_THREAD_CREATE, 1);
    trace_leave(t, master, 8, "pthread_create");
    trace_enter(t, master, 20, "pthread_join");
    thread_event(t, master, 61, CTS_EVENT_THREAD_WAIT, 1);
    trace_leave(t, master, 62, "pthread_join");
    trace_leave(t, master, 80, "main");
    thread_event(t, thread, 10, CTS_EVENT_THREAD_BEGIN, 1);
    trace_call(t, thread, 12, 60, "work");
    thread_event(t, thread, 60, CTS_EVENT_THREAD_END, 1);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_THREAD_JOIN, 1, 40);
    expect_row(&r, "work", 48, 40);
    expect_row(&r, "thread start", 6, 0);
    expect_row(&r, "pthread_create", 1, 0);
    expect_row(&r, "pthread_join", 2, 0);
    expect_row(&r, "main", 5 + 18, 0);
    finish(t, &r);
}

/* Two threads: the master joins the longer one first and then does not wait for the other. */
static void joins_in_order(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t);
    trace_enter(t, master, 0, "main");
    for (uint64_t i = 1; i <= 2; i++) {
        const uint32_t thread = trace_location(t, "Pthread thread", CTS_LOCATION_THREAD, 0);
        thread_event(t, master, 5 * i, CTS_EVENT_THREAD_CREATE, i);
        thread_event(t, thread, 5 * i + 2, CTS_EVENT_THREAD_BEGIN, i);
        trace_call(t, thread, 5 * i + 2, 90 - 20 * i, i == 1 ? "long" : "short");
        thread_event(t, thread, 90 - 20 * i, CTS_EVENT_THREAD_END, i);
    }
    trace_enter(t, master, 40, "pthread_join");
    thread_event(t, master, 71, CTS_EVENT_THREAD_WAIT, 1);
    trace_leave(t, master, 72, "pthread_join");
    trace_enter(t, master, 72, "pthread_join");
    thread_event(t, master, 73, CTS_EVENT_THREAD_WAIT, 2);
    trace_leave(t, master, 74, "pthread_join");
    trace_leave(t, master, 80, "main");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_THREAD_JOIN, 1, 30);
    expect_row(&r, "long", 63, 30);
    expect_row(&r, "short", 0, 0);
    expect_row(&r, "thread start", 2, 0);
    expect_row(&r, "pthread_join", 2 + 2, 0);
    finish(t, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_and_join),
        cmocka_unit_test(joins_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
