/* Threads that are created and joined: exact waits, blame and path; which calls of a team are one
 * barrier. Teams of OpenMP otherwise are in path-rules-test.c. */
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

/* ---- numbered releases ---- */

/* A wait until `end_ns` that release `number` ends. */
static void released_call(struct trace *t, uint32_t location, uint64_t begin_ns, uint64_t end_ns,
                          const char *name, uint64_t number)
{
    trace_set(trace_call(t, location, begin_ns, end_ns, name), CTS_ATTRIBUTE_RELEASED_BY, number);
}

static void releasing_call(struct trace *t, uint32_t location, uint64_t begin_ns, uint64_t end_ns,
                           const char *name, uint64_t number)
{
    trace_set(trace_enter(t, location, begin_ns, name), CTS_ATTRIBUTE_RELEASE, number);
    trace_leave(t, location, end_ns, name);
}

/* A created thread signals, unlocks and arrives; the path goes through it from each of the waits.
 * Numbers that nothing has are no waits. */
static void released_by_number(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t);
    const uint32_t thread = trace_location(t, "Thread 1", CTS_LOCATION_THREAD, 0);
    trace_enter(t, master, 0, "main");
    releasing_call(t, master, 5, 8, "pthread_create", 1);
    released_call(t, master, 20, 42, "pthread_cond_wait", 2);
    released_call(t, master, 45, 61, "pthread_mutex_lock", 3);
    released_call(t, master, 62, 72, "pthread_barrier_wait", 4);
    released_call(t, master, 73, 75, "sem_wait", 99);
    released_call(t, master, 76, 84, "pthread_join", 5);
    trace_leave(t, master, 90, "main");
    trace_set(trace_enter(t, thread, 10, "thread work"), CTS_ATTRIBUTE_RELEASED_BY, 1);
    releasing_call(t, thread, 40, 41, "pthread_cond_signal", 2);
    releasing_call(t, thread, 60, 61, "pthread_mutex_unlock", 3);
    releasing_call(t, thread, 70, 71, "pthread_barrier_wait", 4);
    trace_set(trace_leave(t, thread, 82, "thread work"), CTS_ATTRIBUTE_RELEASE, 5);
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    expect_no_warnings(&r);
    expect_pattern(&r, CTS_PATH_PATTERN_THREAD_SIGNAL, 1, 20);
    expect_pattern(&r, CTS_PATH_PATTERN_THREAD_LOCK, 1, 15);
    expect_pattern(&r, CTS_PATH_PATTERN_THREAD_BARRIER, 1, 8);
    expect_pattern(&r, CTS_PATH_PATTERN_THREAD_JOIN, 1, 6);
    expect_row(&r, "main", 5 + 6, 0);
    expect_row(&r, "thread start", 5, 0);
    expect_row(&r, "pthread_create", 0, 0);
    expect_row(&r, "pthread_join", 2, 0);
    expect_row(&r, "thread work", 69, 20 + 15 + 8 + 6);
    expect_row(&r, "pthread_cond_signal", 1, 0);
    expect_row(&r, "pthread_mutex_unlock", 1, 0);
    expect_row(&r, "pthread_barrier_wait", 1, 0);
    finish(t, &r);
}

/* ---- waits that are not recorded ---- */

/* A thread from 10 to 95 that uses the CPU for `cpu_ns`, created at 5; main joins it from 60 on. */
static struct trace *joined_thread(uint64_t cpu_ns)
{
    struct trace *const t = trace_new();
    const uint32_t master = trace_rank(t);
    const uint32_t thread = trace_location(t, "Thread 1", CTS_LOCATION_THREAD, 0);
    trace_enter(t, master, 0, "main");
    releasing_call(t, master, 5, 8, "pthread_create", 1);
    released_call(t, master, 60, 98, "pthread_join", 5);
    trace_leave(t, master, 100, "main");
    trace_set(trace_enter(t, thread, 10, "thread work"), CTS_ATTRIBUTE_RELEASED_BY, 1);
    struct trace_event *const end = trace_leave(t, thread, 95, "thread work");
    trace_set(end, CTS_ATTRIBUTE_RELEASE, 5);
    if (cpu_ns) trace_set(end, CTS_ATTRIBUTE_CPU_TIME, cpu_ns);
    return t;
}

/* Whoever hardly used the CPU is on the path only while main waits for it; who computed, or of whom
 * nothing is known, all the time. */
static void thread_without_cpu_time(void **state)
{
    (void)state;
    static const struct {
        uint64_t cpu_ns, thread_ns, main_ns;
        bool blocked;
    } cases[] = {{2, 35, 57 + 2, true}, {85, 85, 5 + 2, false}, {0, 85, 5 + 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace *const t = joined_thread(cases[i].cpu_ns);
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_no_warnings(&r);
        expect_pattern(&r, CTS_PATH_PATTERN_THREAD_JOIN, 1, 35);
        expect_row(&r, "thread work", cases[i].thread_ns, 35);
        expect_row(&r, "main", cases[i].main_ns, 0);
        assert_int_equal(r.blocked.count, cases[i].blocked);
        if (cases[i].blocked) assert_int_equal(r.blocked.time_ns, 85);
        if (cases[i].blocked) assert_int_equal(r.blocked.cpu_ns, 2);
        finish(t, &r);
    }
}

/* A thread of a pool waits 10 to 70 where nothing is recorded, then signals main, and waits until
 * main joins it. Its recorded waits explain themselves: a thread that only has those is not named.
 */
static void pool_without_cpu_time(void **state)
{
    (void)state;
    for (unsigned recorded = 0; recorded < 2; recorded++) {
        struct trace *const t = trace_new();
        const uint32_t master = trace_rank(t);
        const uint32_t thread = trace_location(t, "Thread 1", CTS_LOCATION_THREAD, 0);
        trace_enter(t, master, 0, "main");
        releasing_call(t, master, 5, 8, "pthread_create", 1);
        if (recorded) releasing_call(t, master, 50, 51, "pthread_cond_signal", 9);
        released_call(t, master, 60, 72, "pthread_cond_wait", 2);
        released_call(t, master, 90, 98, "pthread_join", 5);
        trace_leave(t, master, 100, "main");
        trace_set(trace_enter(t, thread, 10, "thread work"), CTS_ATTRIBUTE_RELEASED_BY, 1);
        if (recorded) {
            released_call(t, thread, 12, 52, "pthread_cond_wait", 9);
            trace_call(t, thread, 72, 94, "sem_wait");
        }
        releasing_call(t, thread, 70, 71, "pthread_cond_signal", 2);
        struct trace_event *const end = trace_leave(t, thread, 95, "thread work");
        trace_set(end, CTS_ATTRIBUTE_RELEASE, 5);
        trace_set(end, CTS_ATTRIBUTE_CPU_TIME, 18);
        for (uint32_t i = 0; i < t->timeline.region_count; i++)
            if (!strncmp(t->regions[i].name, "pthread_", 8) ||
                !strcmp(t->regions[i].name, "sem_wait"))
                t->regions[i].paradigm = CTS_PARADIGM_PTHREAD;
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        expect_pattern(&r, CTS_PATH_PATTERN_THREAD_JOIN, 1, 5);
        assert_int_equal(r.blocked.count, !recorded);
        if (!recorded) expect_row(&r, "thread work", 10 + 5, 10 + 5);
        if (!recorded) expect_row(&r, "main", 60 - 3 + 18 + 2, 0);
        finish(t, &r);
    }
}

/* ---- teams ---- */

enum { TEAM = 3 };
struct team {
    struct trace *trace;
    uint32_t threads[TEAM];
};

static struct team team_new(void)
{
    struct team team = {.trace = trace_new()};
    team.threads[0] = trace_rank(team.trace);
    for (unsigned i = 1; i < TEAM; i++)
        team.threads[i] = trace_location(team.trace, "OMP thread", CTS_LOCATION_THREAD, 0);
    for (unsigned i = 0; i < TEAM; i++) team.trace->team_ranks[i] = team.threads[i];
    team.trace->communicators[1].rank_count = TEAM;
    return team;
}

static void team_begin(const struct team *team, uint64_t at)
{
    trace_enter(team->trace, team->threads[0], at, "main");
    trace_add(team->trace, team->threads[0], at, CTS_EVENT_THREAD_FORK);
    for (unsigned i = 0; i < TEAM; i++)
        trace_add(team->trace, team->threads[i], at, CTS_EVENT_THREAD_TEAM_BEGIN)
            ->event.thread.communicator = 1;
}

static void team_end(const struct team *team, uint64_t at)
{
    for (unsigned i = 0; i < TEAM; i++)
        trace_add(team->trace, team->threads[i], at, CTS_EVENT_THREAD_TEAM_END)
            ->event.thread.communicator = 1;
    trace_add(team->trace, team->threads[0], at, CTS_EVENT_THREAD_JOIN);
    trace_leave(team->trace, team->threads[0], at, "main");
}

static void expect_waits(struct team *team, uint64_t count, uint64_t time_ns, uint64_t left_out)
{
    struct cts_path r;
    trace_analyze(team->trace, (struct cts_path_options){0}, &r);
    expect_pattern(&r, CTS_PATH_PATTERN_OMP_BARRIER, count, time_ns);
    expect_warning(&r, CTS_PATH_WARNING_PART_OF_TEAM, left_out);
    finish(team->trace, &r);
}

/* Two barriers, each with waits of 100 and 60; the master comes last. */
static void two_barriers(const struct team *team, uint64_t at)
{
    for (unsigned k = 0; k < 2; k++) {
        const uint64_t enters[TEAM] = {at + 200 * k + 110, at + 200 * k + 10, at + 200 * k + 50};
        for (unsigned i = 0; i < TEAM; i++)
            trace_call(team->trace, team->threads[i], enters[i], at + 200 * k + 120,
                       "!$omp implicit barrier");
    }
}

/* What one thread alone does counts as a barrier by its role only: it shifts nothing, before the
 * barriers, while the others are in one, or behind them. */
static void overhead_of_one_thread(void **state)
{
    static const uint64_t places[][2] = {{1, 5}, {20, 60}, {130, 140}, {330, 340}};
    (void)state;
    for (unsigned p = 0; p < sizeof places / sizeof *places; p++) {
        struct team team = team_new();
        team_begin(&team, 0);
        if (p < 2)
            trace_call(team.trace, team.threads[0], places[p][0], places[p][1],
                       "!$omp offloading overhead");
        for (unsigned k = 0; k < 2; k++) {
            trace_call(team.trace, team.threads[0], 200 * k + 110, 200 * k + 120,
                       "!$omp implicit barrier");
            if (p == 2 + k)
                trace_call(team.trace, team.threads[0], places[p][0], places[p][1],
                           "!$omp offloading overhead");
            trace_call(team.trace, team.threads[1], 200 * k + 10, 200 * k + 120,
                       "!$omp implicit barrier");
            trace_call(team.trace, team.threads[2], 200 * k + 50, 200 * k + 120,
                       "!$omp implicit barrier");
        }
        team_end(&team, 400);
        expect_waits(&team, 4, 2 * (100 + 60), 1);
    }
}

/* Two threads of three that do the same are no team either. */
static void overhead_of_some_threads(void **state)
{
    (void)state;
    struct team team = team_new();
    team_begin(&team, 0);
    trace_call(team.trace, team.threads[0], 1, 9, "!$omp offloading overhead");
    trace_call(team.trace, team.threads[1], 5, 9, "!$omp offloading overhead");
    two_barriers(&team, 0);
    team_end(&team, 400);
    expect_waits(&team, 4, 2 * (100 + 60), 2);
}

/* Two different barriers, in the order of the program: by region and order. */
static void barriers_of_two_regions(void **state)
{
    static const char *const names[] = {"!$omp barrier a", "!$omp barrier b", "!$omp barrier a"};
    (void)state;
    struct team team = team_new();
    team_begin(&team, 0);
    for (unsigned k = 0; k < 3; k++)
        for (unsigned i = 0; i < TEAM; i++)
            trace_call(team.trace, team.threads[i], 100 * k + 10 * (i + 1), 100 * k + 50, names[k]);
    team_end(&team, 400);
    expect_waits(&team, 6, 3 * (10 + 20), 0);
}

/* OMPT names a barrier by its return address, which workers do not know. */
static void barrier_of_two_names(void **state)
{
    (void)state;
    struct team team = team_new();
    team_begin(&team, 0);
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < TEAM; i++)
            trace_call(team.trace, team.threads[i], 100 * k + 10 * (i + 1), 100 * k + 50,
                       i ? "!$omp barrier" : "!$omp barrier@0x4021");
    team_end(&team, 400);
    expect_waits(&team, 4, 2 * (10 + 20), 0);
}

/* One thread's last barrier is lost: the ones before it count. */
static void barrier_that_is_lost(void **state)
{
    (void)state;
    struct team team = team_new();
    team_begin(&team, 0);
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < TEAM - k; i++)
            trace_call(team.trace, team.threads[i], 100 * k + 10 * (i + 1), 100 * k + 50,
                       "!$omp implicit barrier");
    team_end(&team, 400);
    expect_waits(&team, 2, 10 + 20, 2);
}

/* From the fork to a thread's begin, and from there to its first barrier, or the end without one.
 */
static void late_starts(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct team team = team_new();
        struct trace *const t = team.trace;
        const uint64_t begin = late ? 70 : 20;
        trace_enter(t, team.threads[0], 0, "main");
        trace_add(t, team.threads[0], 10, CTS_EVENT_THREAD_FORK);
        for (unsigned i = 0; i < TEAM; i++) {
            const uint64_t at = i ? begin : 10;
            trace_add(t, team.threads[i], at, CTS_EVENT_THREAD_TEAM_BEGIN)
                ->event.thread.communicator = 1;
            if (i == 2) {
                trace_call(t, team.threads[i], at, 90, "work");
            } else {
                trace_call(t, team.threads[i], at, 80, "work");
                trace_call(t, team.threads[i], 80, 90, "!$omp implicit barrier");
            }
            trace_add(t, team.threads[i], 90, CTS_EVENT_THREAD_TEAM_END)
                ->event.thread.communicator = 1;
        }
        trace_add(t, team.threads[0], 90, CTS_EVENT_THREAD_JOIN);
        trace_leave(t, team.threads[0], 100, "main");
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        assert_int_equal(r.starts.count, 2);
        assert_int_equal(r.starts.late_count, late ? 2 : 0);
        assert_int_equal(r.starts.start_ns, 2 * (begin - 10));
        assert_int_equal(r.starts.work_ns, 80 - begin + 90 - begin);
        finish(t, &r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_and_join),         cmocka_unit_test(joins_in_order),
        cmocka_unit_test(overhead_of_one_thread),  cmocka_unit_test(overhead_of_some_threads),
        cmocka_unit_test(barriers_of_two_regions), cmocka_unit_test(barrier_of_two_names),
        cmocka_unit_test(barrier_that_is_lost),    cmocka_unit_test(late_starts),
        cmocka_unit_test(released_by_number),      cmocka_unit_test(thread_without_cpu_time),
        cmocka_unit_test(pool_without_cpu_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
