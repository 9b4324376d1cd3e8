/* The enriched archive of a trace built by hand, read back: which leaves say how long they waited.
 */
#include "path-fixture.h"

#include <unistd.h>

#include "report/path-otf2.h"

struct seen {
    const struct cts_timeline *timeline;
    const char *region;
    uint64_t waiting_ns, with_attribute, events, others;
};

static bool look(void *state, uint32_t location, const struct cts_timeline_event *event,
                 const struct cts_event_attributes *attributes)
{
    struct seen *const seen = state;
    (void)location;
    if (event->kind == CTS_EVENT_OTHER)
        seen->others++;
    else
        seen->events++;
    if (!attributes || !(attributes->present >> CTS_ATTRIBUTE_WAITING_TIME & 1)) return true;
    assert_int_equal(event->kind, CTS_EVENT_LEAVE);
    seen->region = seen->timeline->regions[event->region].name;
    seen->waiting_ns = attributes->values[CTS_ATTRIBUTE_WAITING_TIME];
    seen->with_attribute++;
    return true;
}

static struct seen look_at(const struct cts_timeline *timeline, uint32_t location)
{
    struct seen seen = {.timeline = timeline};
    struct cts_error error;
    if (cts_timeline_read(timeline, location, look, &seen, &error)) fail_msg("%s", error.text);
    return seen;
}

static void enrich(struct trace *t, char *directory, struct cts_path_enriched *counts)
{
    const struct cts_path_source source = trace_source(t);
    const struct cts_path_options options = {
        .threads = 2, .keep_segments = true, .keep_waits = true, .keep_blames = true};
    struct cts_path result;
    struct cts_error error;
    const struct cts_processes alone = {.count = 1};
    const struct cts_path_enriching enriching = {.source = &source,
                                                 .result = &result,
                                                 .directory = directory,
                                                 .threads = 2,
                                                 .processes = &alone};
    assert_non_null(mkdtemp(directory));
    if (cts_path_analyze(&source, &options, &result, &error) ||
        cts_path_write_enriched(&enriching, counts, &error))
        fail_msg("%s", error.text);
    cts_path_release(&result);
}

/* A receive within a wrapper, and a call within it; all end at the same time. The receive waited.
 */
static void the_call_that_waited(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t receiver = trace_rank(t), sender = trace_rank(t);
    trace_enter(t, receiver, 0, "main");
    trace_enter(t, receiver, 10, "wrapper");
    trace_enter(t, receiver, 10, "MPI_Recv");
    trace_call(t, receiver, 85, 90, "callee");
    trace_message(t, receiver, 90, CTS_EVENT_MPI_RECV, 1, 0, 0);
    trace_leave(t, receiver, 90, "MPI_Recv");
    trace_leave(t, receiver, 90, "wrapper");
    trace_add(t, receiver, 95, CTS_EVENT_OTHER);
    trace_leave(t, receiver, 100, "main");
    trace_enter(t, sender, 5, "late");
    trace_send(t, sender, 80, 85, 0, 0);
    trace_leave(t, sender, 100, "late");
    char directory[] = "/tmp/ctascope-path-XXXXXX", path[64], command[64];
    struct cts_path_enriched counts;
    enrich(t, directory, &counts);
    assert_int_equal(counts.event_count, 9 + 5);
    assert_int_equal(counts.left_out_count, 1);
    snprintf(path, sizeof path, "%s/traces.otf2", directory);
    struct cts_timeline timeline;
    struct cts_error error;
    if (cts_timeline_open(path, &timeline, &error)) fail_msg("%s", error.text);
    const struct seen at_receiver = look_at(&timeline, 0), at_sender = look_at(&timeline, 1);
    assert_int_equal(at_receiver.with_attribute, 1);
    assert_string_equal(at_receiver.region, "MPI_Recv");
    assert_int_equal(at_receiver.waiting_ns, 70);
    assert_int_equal(at_receiver.events, 9);
    assert_int_equal(at_sender.with_attribute, 0);
    assert_int_equal(at_sender.events, 5);
    assert_int_equal(at_receiver.others + at_sender.others, counts.metric_count);
    cts_timeline_close(&timeline);
    trace_free(t);
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_call_that_waited)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
