/* Work that overlaps on one track of a device: of one stream, of a region and what it encloses, or
 * of several streams, which is refused. */
#include "analyze/path/whatif.h"

#include "path-fixture.h"

struct span {
    const char *name;
    uint64_t begin_ns, end_ns;
    bool launched; /* at launch_ns, by a call of 4 ns */
    uint64_t launch_ns;
};

static int by_launch(const void *left, const void *right)
{
    const struct span *const a = *(const struct span *const *)left;
    const struct span *const b = *(const struct span *const *)right;
    return (a->launch_ns > b->launch_ns) - (a->launch_ns < b->launch_ns);
}

/* One track with these activities, by begin, and a host that launches them and waits for all. */
static struct trace *track_of(const struct span *spans, size_t count, bool is_stream)
{
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), track = trace_stream(t, host, 7);
    if (!is_stream) t->locations[track].stream = CTS_TIMELINE_NONE;
    const struct span *launches[8];
    size_t launch_count = 0;
    uint64_t last_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (spans[i].launched) launches[launch_count++] = &spans[i];
        if (spans[i].end_ns > last_ns) last_ns = spans[i].end_ns;
    }
    qsort(launches, launch_count, sizeof launches[0], by_launch);
    for (size_t i = 0; i < launch_count; i++) {
        struct trace_event *const enter =
            trace_enter(t, host, launches[i]->launch_ns, "cuLaunchKernel");
        trace_set(enter, CTS_ATTRIBUTE_STREAM_REF, track);
        trace_set(enter, CTS_ATTRIBUTE_CORRELATION, (uint64_t)(launches[i] - spans) + 1);
        trace_leave(t, host, launches[i]->launch_ns + 4, "cuLaunchKernel");
    }
    trace_call(t, host, launches[launch_count - 1]->launch_ns + 5, last_ns + 3, "cuCtxSynchronize");
    for (uint64_t now_ns = 0; now_ns <= last_ns; now_ns++) {
        for (size_t i = 0; i < count; i++)
            if (spans[i].end_ns == now_ns) trace_leave(t, track, now_ns, spans[i].name);
        for (size_t i = 0; i < count; i++) {
            if (spans[i].begin_ns != now_ns) continue;
            struct trace_event *const enter = trace_enter(t, track, now_ns, spans[i].name);
            if (spans[i].launched) trace_set(enter, CTS_ATTRIBUTE_CORRELATION, i + 1);
        }
    }
    return t;
}

static enum cts_status analyze(struct trace *t, struct cts_path *result, struct cts_error *error)
{
    const struct cts_path_source source = trace_source(t);
    const struct cts_path_options options = {.threads = 1};
    return cts_path_analyze(&source, &options, result, error);
}

static enum cts_status halve(struct trace *t, const char *name, struct cts_whatif *result,
                             struct cts_error *error)
{
    const struct cts_path_source source = trace_source(t);
    const struct cts_whatif_change change = {name, CTS_WHATIF_ALL, 0.5};
    const struct cts_whatif_options options = {.changes = &change,
                                               .change_count = 1,
                                               .path.threads = 1,
                                               .device = cts_whatif_default_device()};
    return cts_whatif_analyze(&source, &options, result, error);
}

static void expect_refused(const struct span *spans, size_t count, bool is_stream)
{
    struct trace *const t = track_of(spans, count, is_stream);
    struct cts_path result;
    struct cts_whatif projection;
    struct cts_error error = {0};
    assert_int_equal(analyze(t, &result, &error), CTS_FORMAT);
    assert_non_null(strstr(error.text, "work of several streams on one device location"));
    error = (struct cts_error){0};
    assert_int_equal(halve(t, spans[0].name, &projection, &error), CTS_FORMAT);
    trace_free(t);
}

/* Launched one after the other, the second ends first; or a location that is no stream. */
static void several_streams(void **state)
{
    (void)state;
    const struct span within[] = {{"long kernel", 20, 120, true, 0},
                                  {"short kernel", 30, 70, true, 10}};
    expect_refused(within, 2, true);
    expect_refused(within, 2, false);
    const struct span crossed[] = {{"first kernel", 20, 120, true, 0},
                                   {"second kernel", 60, 170, true, 10}};
    expect_refused(crossed, 2, false);
}

/* A kernel that begins at the end of the one before: it has the time in which both run. */
static void one_stream(void **state)
{
    (void)state;
    const struct span spans[] = {{"first kernel", 20, 120, true, 0},
                                 {"second kernel", 110, 170, true, 10}};
    struct trace *t = track_of(spans, 2, true);
    struct cts_path result;
    trace_analyze(t, (struct cts_path_options){0}, &result);
    expect_row(&result, "first kernel", 90, 90);
    expect_row(&result, "second kernel", 60, 60);
    expect_no_warnings(&result);
    assert_int_equal(result.devices.items[0].busy_ns[1], 10);
    finish(t, &result);
}

/* Very little of the device time is analysed, with a note. */
static void little(void **state)
{
    (void)state;
    const struct span spans[] = {{"long kernel", 20, 3020, true, 0},
                                 {"short kernel", 3000, 3010, true, 10}};
    struct trace *t = track_of(spans, 2, true);
    struct cts_path result;
    struct cts_error error;
    if (analyze(t, &result, &error)) fail_msg("%s", error.text);
    expect_warning(&result, CTS_PATH_WARNING_MIXED_TRACK, 1);
    finish(t, &result);
}

/* A region encloses two kernels: it has the time between them, and none of theirs. */
static void region_around_kernels(void **state)
{
    (void)state;
    const struct span spans[] = {{"range", 20, 130, false, 0},
                                 {"first kernel", 30, 70, true, 0},
                                 {"second kernel", 80, 120, true, 10}};
    for (unsigned is_stream = 0; is_stream < 2; is_stream++) {
        struct trace *t = track_of(spans, 3, is_stream);
        struct cts_path result;
        trace_analyze(t, (struct cts_path_options){0}, &result);
        expect_row(&result, "first kernel", 40, 40);
        expect_row(&result, "second kernel", 40, 40);
        expect_warning(&result, CTS_PATH_WARNING_MIXED_TRACK, 0);
        assert_int_equal(result.devices.items[0].activity_count, 2);
        assert_int_equal(result.devices.items[0].busy_ns[0], 80);
        assert_int_equal(result.devices.items[0].busy_ns[1], 0);
        struct cts_whatif projection;
        struct cts_error error = {0};
        assert_int_equal(halve(t, "first kernel", &projection, &error), CTS_FORMAT);
        assert_non_null(strstr(error.text, "regions around kernels"));
        finish(t, &result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_streams),
        cmocka_unit_test(one_stream),
        cmocka_unit_test(little),
        cmocka_unit_test(region_around_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
