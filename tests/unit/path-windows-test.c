/* MPI's windows: posts, completes and locks that are waited for, with exact waits, blame and path.
 */
#include "count.h"
#include "path-fixture.h"
#include "random.h"

struct ranks {
    struct trace *trace;
    uint32_t rank[3];
};

/* Each in main from 0 to 100. */
static struct ranks begin(unsigned count)
{
    struct ranks r = {.trace = trace_new()};
    for (unsigned i = 0; i < count; i++) {
        r.rank[i] = trace_rank(r.trace);
        trace_enter(r.trace, r.rank[i], 0, "main");
    }
    return r;
}

static void analyze(struct ranks *r, unsigned count, struct cts_path *result)
{
    for (unsigned i = 0; i < count; i++) trace_leave(r->trace, r->rank[i], 100, "main");
    trace_analyze(r->trace, (struct cts_path_options){0}, result);
}

/* Rank 0 starts at 20, rank 1 posts at 50; rank 1 waits from 60 for the complete at 70. */
static void late_post_and_complete(void **state)
{
    (void)state;
    struct ranks r = begin(2);
    struct cts_path result;
    trace_window(r.trace, r.rank[0], 20, 55, "MPI_Win_start", 1);
    trace_window(r.trace, r.rank[0], 70, 75, "MPI_Win_complete", 1);
    trace_window(r.trace, r.rank[1], 50, 52, "MPI_Win_post", 0);
    trace_window(r.trace, r.rank[1], 60, 80, "MPI_Win_wait", 0);
    analyze(&r, 2, &result);
    expect_no_warnings(&result);
    expect_pattern(&result, CTS_PATH_PATTERN_LATE_POST, 1, 30);
    expect_pattern(&result, CTS_PATH_PATTERN_LATE_COMPLETE, 1, 10);
    assert_int_equal(result.patterns[CTS_PATH_PATTERN_LATE_POST].worst[0].culprit, r.rank[1]);
    assert_int_equal(result.patterns[CTS_PATH_PATTERN_LATE_COMPLETE].worst[0].culprit, r.rank[0]);
    assert_int_equal(result.wait_ns, 40);
    expect_row(&result, "main", 25 + 15 + 50, 40); /* rank 0 to 55, then rank 1 from 50 */
    expect_row(&result, "MPI_Win_complete", 5, 0);
    expect_row(&result, "MPI transfer", 5, 0);
    expect_row(&result, "MPI_Win_start", 0, 0);
    finish(r.trace, &result);
}

/* The start returns at once; its complete waits for the post. The complete names no group: the
 * start's counts. */
static void complete_waits_for_the_post(void **state)
{
    (void)state;
    struct ranks r = begin(2);
    struct cts_path result;
    trace_window(r.trace, r.rank[0], 20, 22, "MPI_Win_start", 1);
    trace_window(r.trace, r.rank[0], 30, 60, "MPI_Win_complete", CTS_TIMELINE_NONE);
    trace_window(r.trace, r.rank[1], 50, 52, "MPI_Win_post", 0);
    trace_window(r.trace, r.rank[1], 53, 61, "MPI_Win_wait", CTS_TIMELINE_NONE);
    analyze(&r, 2, &result);
    expect_no_warnings(&result);
    expect_pattern(&result, CTS_PATH_PATTERN_LATE_POST, 1, 20);
    expect_pattern(&result, CTS_PATH_PATTERN_LATE_COMPLETE, 0, 0);
    expect_row(&result, "main", 40 + 50, 20);
    expect_row(&result, "MPI transfer", 10, 0);
    finish(r.trace, &result);
}

/* Nobody says which group. */
static void no_group(void **state)
{
    (void)state;
    struct ranks r = begin(2);
    struct cts_path result;
    trace_window(r.trace, r.rank[0], 20, 55, "MPI_Win_start", CTS_TIMELINE_NONE);
    trace_window(r.trace, r.rank[1], 50, 52, "MPI_Win_post", CTS_TIMELINE_NONE);
    analyze(&r, 2, &result);
    expect_warning(&result, CTS_PATH_WARNING_UNKNOWN_GROUP, 2);
    assert_int_equal(result.wait_ns, 0);
    finish(r.trace, &result);
}

/* Rank 0 holds the lock of rank 2's memory from 12 to 52; rank 1 asks for it at 20. */
static void locks(unsigned first, unsigned second, uint64_t waits_ns)
{ /* as long in the call if it does not wait for that */
    struct ranks r = begin(3);
    struct cts_path result;
    trace_lock(r.trace, r.rank[0], 10, 12, first, 2);
    trace_lock(r.trace, r.rank[0], 50, 52, 2, 2);
    trace_lock(r.trace, r.rank[1], 20, 53, second, 2);
    trace_lock(r.trace, r.rank[1], 60, 62, 2, 2);
    analyze(&r, 3, &result);
    expect_no_warnings(&result);
    expect_pattern(&result, CTS_PATH_PATTERN_LOCK, waits_ns > 0, waits_ns);
    assert_int_equal(result.wait_ns, waits_ns);
    expect_row(&result, "main", 100 - 4, waits_ns); /* rank 0 throughout, but for its calls */
    finish(r.trace, &result);
}

static void exclusive_locks(void **state)
{
    (void)state;
    locks(0, 0, 30);
    locks(1, 0, 30);
    locks(0, 1, 30);
}

static void shared_locks(void **state)
{
    (void)state;
    locks(1, 1, 0);
}

/* Two ranks lock and unlock rank 1's memory, from and to these times; rank 1 waits. */
static void two_locks(const uint64_t times[2][4], uint64_t waits_ns)
{
    struct ranks r = begin(2);
    struct cts_path result;
    for (unsigned i = 0; i < 2; i++) {
        trace_lock(r.trace, r.rank[i], times[i][0], times[i][1], 0, 1);
        trace_lock(r.trace, r.rank[i], times[i][2], times[i][3], 2, 1);
    }
    analyze(&r, 2, &result);
    expect_pattern(&result, CTS_PATH_PATTERN_LOCK, waits_ns > 0, waits_ns);
    assert_int_equal(result.wait_ns, waits_ns);
    if (waits_ns)
        assert_int_equal(result.patterns[CTS_PATH_PATTERN_LOCK].worst[0].location, r.rank[1]);
    finish(r.trace, &result);
}

/* Rank 0 still unlocks when rank 1 has the lock: the target tells both. */
static void unlock_that_returns_later(void **state)
{
    (void)state;
    two_locks((const uint64_t[2][4]){{10, 12, 50, 60}, {20, 53, 70, 72}}, 30);
}

/* Both take their lock with the unlock, and rank 0 still unlocks when rank 1 has: rank 1 had the
 * lock before. */
static void unlock_that_ends_first(void **state)
{
    (void)state;
    two_locks((const uint64_t[2][4]){{10, 12, 40, 60}, {20, 22, 30, 50}}, 0);
}

/* Both took their lock with the unlock: rank 1 unlocks from 30 to 50, rank 0 had the lock and
 * unlocked from 40 to 45. */
static void lock_taken_with_the_unlock(void **state)
{
    (void)state;
    two_locks((const uint64_t[2][4]){{10, 12, 40, 45}, {20, 22, 30, 50}}, 10);
}

/* A lock of all targets (shared) is held: an exclusive lock of one waits for it. */
static void lock_of_all(void **state)
{
    (void)state;
    struct ranks r = begin(2);
    struct cts_path result;
    trace_lock(r.trace, r.rank[0], 10, 12, 1, CTS_TIMELINE_NONE);
    trace_lock(r.trace, r.rank[0], 50, 52, 2, CTS_TIMELINE_NONE);
    trace_lock(r.trace, r.rank[1], 20, 53, 0, 0);
    trace_lock(r.trace, r.rank[1], 60, 62, 2, 0);
    analyze(&r, 2, &result);
    expect_pattern(&result, CTS_PATH_PATTERN_LOCK, 1, 30);
    finish(r.trace, &result);
}

/* ---- random pairs against their definition ---- */

enum { PAIRS = 40 };

/* One target, one origin, many epochs: each side simulated on its own clock. */
static void random_epochs(void **state)
{
    (void)state;
    for (unsigned run = 0, count = cts_test_count(60, 300); run < count; run++) {
        random_start(run);
        struct ranks r = {.trace = trace_new()};
        for (unsigned i = 0; i < 2; i++) {
            r.rank[i] = trace_rank(r.trace);
            trace_enter(r.trace, r.rank[i], 0, "main");
        }
        uint64_t now[2] = {1, 1}, post_wait_ns = 0, complete_wait_ns = 0;
        for (unsigned i = 0; i < PAIRS; i++) {
            now[0] += below(30);
            now[1] += below(30);
            const uint64_t post = now[1];
            trace_window(r.trace, r.rank[1], post, post + 2, "MPI_Win_post", 0);
            const bool lazy = below(2);
            const uint64_t start = now[0];
            uint64_t leave = start + 1;
            if (!lazy && post >= start) leave = post + 1 + below(5);
            if (post > start && post <= leave) post_wait_ns += post - start;
            trace_window(r.trace, r.rank[0], start, leave, "MPI_Win_start", 1);
            const uint64_t complete = leave + 1 + below(20);
            leave = (complete > post ? complete : post) + 1 + below(5);
            if (post > complete) post_wait_ns += post - complete;
            trace_window(r.trace, r.rank[0], complete, leave, "MPI_Win_complete", 1);
            now[0] = leave + 1;
            const uint64_t wait = post + 3 + below(20);
            leave = (complete > wait ? complete : wait) + 1 + below(5);
            if (complete > wait) complete_wait_ns += complete - wait;
            trace_window(r.trace, r.rank[1], wait, leave, "MPI_Win_wait", 0);
            now[1] = leave + 1;
        }
        for (unsigned i = 0; i < 2; i++) trace_leave(r.trace, r.rank[i], now[i] + 3, "main");
        struct cts_path result;
        trace_analyze(r.trace, (struct cts_path_options){0}, &result);
        expect_no_warnings(&result);
        assert_int_equal(result.patterns[CTS_PATH_PATTERN_LATE_POST].time_ns, post_wait_ns);
        assert_int_equal(result.patterns[CTS_PATH_PATTERN_LATE_COMPLETE].time_ns, complete_wait_ns);
        finish(r.trace, &result);
    }
}

/* Three ranks take turns with one lock; each wait ends when the holder's unlock begins, whether the
 * holder returns from it before or after the next one has the lock. */
static void random_locks(void **state)
{
    (void)state;
    for (unsigned run = 0, count = cts_test_count(60, 300); run < count; run++) {
        random_start(run + 1000);
        struct ranks r = {.trace = trace_new()};
        uint64_t now[3] = {1, 2, 3}, free_ns = 0, unlocked_ns = 0, wait_ns = 0;
        unsigned holder = 3;
        for (unsigned i = 0; i < 3; i++) {
            r.rank[i] = trace_rank(r.trace);
            trace_enter(r.trace, r.rank[i], 0, "main");
        }
        for (unsigned i = 0; i < PAIRS; i++) {
            unsigned next = 0; /* who asks first gets it first */
            for (unsigned k = 0; k < 3; k++) {
                now[k] += below(10);
                if (now[k] < now[next]) next = k;
            }
            const uint64_t lock = now[next];
            const uint64_t open_ns = below(2) ? free_ns : unlocked_ns;
            const uint64_t got = (lock > open_ns ? lock : open_ns) + 1 + below(3);
            if (holder != next && unlocked_ns > lock) wait_ns += unlocked_ns - lock;
            trace_lock(r.trace, r.rank[next], lock, got, 0, 1);
            unlocked_ns = got + 1 + below(20);
            free_ns = unlocked_ns + 1 + below(3);
            trace_lock(r.trace, r.rank[next], unlocked_ns, free_ns, 2, 1);
            now[next] = free_ns + 1;
            holder = next;
        }
        for (unsigned i = 0; i < 3; i++) trace_leave(r.trace, r.rank[i], free_ns + 99, "main");
        struct cts_path result;
        trace_analyze(r.trace, (struct cts_path_options){0}, &result);
        assert_int_equal(result.patterns[CTS_PATH_PATTERN_LOCK].time_ns, wait_ns);
        finish(r.trace, &result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_post_and_complete),
        cmocka_unit_test(complete_waits_for_the_post),
        cmocka_unit_test(no_group),
        cmocka_unit_test(exclusive_locks),
        cmocka_unit_test(shared_locks),
        cmocka_unit_test(lock_taken_with_the_unlock),
        cmocka_unit_test(unlock_that_returns_later),
        cmocka_unit_test(unlock_that_ends_first),
        cmocka_unit_test(lock_of_all),
        cmocka_unit_test(random_epochs),
        cmocka_unit_test(random_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
