/* An analysis of a timeline whose asker has gone ends with one failure, and looks often enough:
 * what is counted are looks and events, not time. */
#include "path-fixture.h"

#include <stdatomic.h>

#include "analyze/path/source.h"
#include "count.h"

enum { CALLS = 40000, MOST_EVENTS_AFTER = 1 << 14 };

/* Goes when it is looked for the n-th time. */
struct going {
    atomic_size_t looks, events, events_at_end;
    size_t at;
};

static bool is_gone(void *state)
{
    struct going *const going = state;
    const size_t look = atomic_fetch_add(&going->looks, 1);
    if (look == going->at) atomic_store(&going->events_at_end, atomic_load(&going->events));
    return look >= going->at;
}

struct counting {
    struct going *going;
    cts_timeline_visit visit;
    void *state;
};

static struct counted {
    struct cts_path_source source;
    struct going *going;
} counted;

static bool count(void *state, uint32_t location, const struct cts_timeline_event *event,
                  const struct cts_event_attributes *attributes)
{
    const struct counting *const counting = state;
    atomic_fetch_add(&counting->going->events, 1);
    return counting->visit(counting->state, location, event, attributes);
}

static enum cts_status read_counted(const void *state, uint32_t location, cts_timeline_visit visit,
                                    void *visit_state, struct cts_error *error)
{
    const struct counted *const from = state;
    struct counting counting = {from->going, visit, visit_state};
    return from->source.read(from->source.state, location, count, &counting, error);
}

/* Two ranks that send each other messages, and streams that they wait for. */
static struct trace *make_trace(void)
{
    struct trace *const t = trace_new();
    const uint32_t host[2] = {trace_rank(t), trace_rank(t)};
    const uint32_t stream[2] = {trace_stream(t, host[0], 7), trace_stream(t, host[1], 7)};
    const uint64_t calls = cts_test_count(CALLS, CALLS); /* each look, and each with all of them */
    for (unsigned r = 0; r < 2; r++) trace_enter(t, host[r], 0, "main");
    for (uint64_t i = 0; i < calls; i++) {
        const uint64_t at = 100 * i + 1;
        trace_send(t, host[i % 2], at, at + 10, (uint32_t)(1 - i % 2), 0);
        trace_receive(t, host[1 - i % 2], at, at + 20, (uint32_t)(i % 2), 0);
        trace_launch(t, host[i % 2], at + 30, at + 40, stream[i % 2]);
        trace_call(t, stream[i % 2], at + 50, at + 60, "kernel");
    }
    for (unsigned r = 0; r < 2; r++) trace_leave(t, host[r], 100 * calls + 1, "main");
    return t;
}

static enum cts_status analyze(struct trace *t, struct going *going, unsigned threads,
                               struct cts_error *error)
{
    const struct cts_asker asker = {is_gone, going};
    counted = (struct counted){trace_source(t), going};
    struct cts_path_source source = counted.source;
    source.state = &counted;
    source.read = read_counted;
    const struct cts_path_asked asked = {source, &asker};
    const struct cts_path_source listening = cts_path_source_asked(&asked);
    const struct cts_path_options options = {
        .threads = threads, .keep_segments = true, .keep_waits = true, .asker = &asker};
    struct cts_path result;
    const enum cts_status status = cts_path_analyze(&listening, &options, &result, error);
    if (!status) cts_path_release(&result);
    return status;
}

static void gives_up_at_every_look(void **state)
{
    (void)state;
    struct trace *const t = make_trace();
    struct going stays = {.at = SIZE_MAX};
    struct cts_error error = {0};
    assert_int_equal(analyze(t, &stays, 1, &error), CTS_OK);
    const size_t looks = stays.looks;
    assert_true(looks > stays.events / MOST_EVENTS_AFTER + 10); /* also between the steps */
    for (unsigned threads = 1; threads <= 3; threads += 2)
        for (size_t at = 0; at < looks; at++) {
            struct going going = {.at = at};
            assert_int_equal(analyze(t, &going, threads, &error), CTS_IO);
            assert_string_equal(error.text, "the request was cancelled");
            /* each thread ends at its own next look */
            assert_true(going.events - going.events_at_end <= threads * MOST_EVENTS_AFTER);
        }
    trace_free(t);
}

/* Not even one location is begun. */
static void reads_nothing_for_nobody(void **state)
{
    (void)state;
    struct trace *const t = make_trace();
    struct going gone = {.at = 0};
    struct cts_error error = {0};
    assert_int_equal(analyze(t, &gone, 2, &error), CTS_IO);
    assert_int_equal(gone.events, 0);
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_up_at_every_look),
        cmocka_unit_test(reads_nothing_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
