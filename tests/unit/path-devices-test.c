/* What devices do and do not do: exact numbers on small traces, and random ones against a count
 * over single nanoseconds. Blame per activity on small traces. */
#include "count.h"
#include "path-fixture.h"
#include "random.h"

static void copy_on(struct trace *t, uint32_t stream, uint64_t begin_ns, uint64_t end_ns)
{
    static uint64_t matching;
    struct trace_event *const begin = trace_add(t, stream, begin_ns, CTS_EVENT_RMA_GET);
    begin->event.rma.matching = ++matching;
    struct trace_event *const end =
        trace_add(t, stream, end_ns, CTS_EVENT_RMA_OP_COMPLETE_BLOCKING);
    end->event.rma.matching = matching;
}

static struct cts_path_device_row only_device(const struct cts_path *result)
{
    assert_int_equal(result->devices.count, 1);
    return result->devices.items[0];
}

/* Kernels [20,60) and [50,90), copy [80,120), memset [110,130), kernel [150,160). */
static void idle_and_concurrent(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), a = trace_stream(t, host, 7), b = trace_stream(t, host, 8);
    const uint32_t c = trace_stream(t, host, 9);
    trace_call(t, host, 5, 200, "main");
    trace_call(t, a, 20, 60, "a kernel");
    trace_call(t, b, 50, 90, "a kernel");
    copy_on(t, c, 80, 120);
    trace_call(t, a, 85, 85, "a kernel"); /* without duration: nothing */
    trace_call(t, a, 110, 130, "cuMemset");
    trace_call(t, a, 150, 160, "a kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    const struct cts_path_device_row row = only_device(&r);
    assert_int_equal(row.rank, 0);
    assert_int_equal(row.device, 0);
    assert_int_equal(row.stream_count, 3);
    assert_int_equal(row.activity_count, 5);
    assert_int_equal(row.startup_ns, 15);
    assert_int_equal(row.span_ns, 140);
    assert_int_equal(row.idle_ns, 20);
    assert_int_equal(row.busy_ns[0], 30 + 20 + 20 + 10 + 10);
    assert_int_equal(row.busy_ns[1], 10 + 10 + 10);
    assert_int_equal(row.busy_ns[2], 0);
    assert_int_equal(row.copy_ns, 40);
    assert_int_equal(row.copy_alone_ns, 30);
    assert_int_equal(row.copy_missed_ns, 10); /* as long as the kernel lasts */
    assert_int_equal(row.copy_missed_count, 1);
    cts_path_release(&r);
    trace_free(t);
}

/* Two ranks, the second with two devices; three at once. */
static void several_devices(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), other = trace_rank(t);
    const uint32_t a = trace_stream(t, host, 7), b = trace_stream(t, other, 7);
    const uint32_t c = trace_stream(t, other, 7);
    t->locations[c].device = 3;
    const uint32_t d = trace_stream(t, other, 8), e = trace_stream(t, other, 9);
    trace_call(t, host, 0, 100, "main");
    trace_call(t, other, 10, 100, "main");
    trace_call(t, a, 20, 30, "a kernel");
    trace_call(t, b, 20, 60, "a kernel");
    trace_call(t, c, 25, 45, "a kernel");
    trace_call(t, d, 30, 50, "a kernel");
    trace_call(t, e, 35, 55, "a kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    assert_int_equal(r.devices.count, 3);
    assert_int_equal(r.devices.items[0].rank, 0);
    assert_int_equal(r.devices.items[0].startup_ns, 20);
    assert_int_equal(r.devices.items[1].rank, 1);
    assert_int_equal(r.devices.items[1].device, 0);
    assert_int_equal(r.devices.items[1].startup_ns, 10);
    assert_int_equal(r.devices.items[1].busy_ns[2], 15);
    assert_int_equal(r.devices.items[1].busy_ns[1], 5 + 5);
    assert_int_equal(r.devices.items[2].device, 3);
    assert_int_equal(r.devices.items[2].span_ns, 20);
    cts_path_release(&r);
    trace_free(t);
}

/* A copy on one stream and a kernel on another that waits for it by an event, or does not. */
static void held_for_the_copy(void **state)
{
    (void)state;
    for (int held = 0; held < 2; held++) {
        struct trace *const t = trace_new();
        const uint32_t host = trace_rank(t);
        const uint32_t a = trace_stream(t, host, 7), b = trace_stream(t, host, 8);
        trace_enter(t, host, 0, "main");
        trace_set(trace_enter(t, host, 1, "cuMemcpyHtoDAsync_v2"), CTS_ATTRIBUTE_STREAM_REF, a);
        trace_leave(t, host, 2, "cuMemcpyHtoDAsync_v2");
        if (held) {
            struct trace_event *event = trace_call(t, host, 3, 4, "cuEventRecord");
            trace_set(event, CTS_ATTRIBUTE_EVENT_REF, 42);
            trace_set(event, CTS_ATTRIBUTE_STREAM_REF, a);
            event = trace_call(t, host, 5, 6, "cuStreamWaitEvent");
            trace_set(event, CTS_ATTRIBUTE_EVENT_REF, 42);
            trace_set(event, CTS_ATTRIBUTE_STREAM_REF, b);
        }
        trace_launch(t, host, 7, 8, b);
        trace_call(t, host, 20, 90, "cuCtxSynchronize");
        trace_leave(t, host, 100, "main");
        copy_on(t, a, 10, 40);
        trace_call(t, b, 45, 85, "a kernel");
        struct cts_path r;
        trace_analyze(t, (struct cts_path_options){0}, &r);
        assert_int_equal(only_device(&r).copy_alone_ns, 30);
        assert_int_equal(only_device(&r).copy_missed_ns, held ? 0 : 30);
        cts_path_release(&r);
        trace_free(t);
    }
}

/* ---- random ones ---- */

enum { STREAMS = 4, ITEMS_MAX = 200, TIME_MAX = 4000 };
struct item {
    unsigned stream, begin_ns, end_ns;
    enum { KERNEL, COPY, MEMSET } kind;
    bool closed;
};

static bool kernel_elsewhere(const struct item *items, size_t count, unsigned stream,
                             unsigned time_ns)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].kind == KERNEL && items[i].stream != stream && items[i].begin_ns <= time_ns &&
            time_ns < items[i].end_ns)
            return true;
    return false;
}

static unsigned alone_ns(const struct item *items, size_t count, const struct item *copy)
{
    unsigned sum_ns = 0;
    for (unsigned t = copy->begin_ns; t < copy->end_ns; t++)
        sum_ns += !kernel_elsewhere(items, count, copy->stream, t);
    return sum_ns;
}

/* Kernels one after the other: each takes the copies that no other has had. */
static void count_missed(struct item *items, size_t count, struct cts_path_device_row *row)
{
    for (unsigned t = 0; t < TIME_MAX; t++)
        for (unsigned s = 0; s < STREAMS; s++)
            for (size_t k = 0; k < count; k++) {
                if (items[k].kind != KERNEL || items[k].begin_ns != t || items[k].stream != s)
                    continue;
                unsigned budget_ns = items[k].end_ns - items[k].begin_ns;
                for (size_t i = 0; i < count; i++) {
                    struct item *const copy = &items[i];
                    if (copy->kind != COPY || copy->closed || copy->stream == s || copy->end_ns > t)
                        continue;
                    copy->closed = true;
                    const unsigned all_ns = alone_ns(items, count, copy);
                    const unsigned missed_ns = all_ns < budget_ns ? all_ns : budget_ns;
                    budget_ns -= missed_ns;
                    row->copy_missed_ns += missed_ns;
                }
            }
}

static struct cts_path_device_row brute_force(struct item *items, size_t count)
{
    struct cts_path_device_row row = {.activity_count = count};
    unsigned first_ns = TIME_MAX, last_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (items[i].begin_ns < first_ns) first_ns = items[i].begin_ns;
        if (items[i].end_ns > last_ns) last_ns = items[i].end_ns;
        if (items[i].kind != COPY) continue;
        row.copy_ns += items[i].end_ns - items[i].begin_ns;
        row.copy_alone_ns += alone_ns(items, count, &items[i]);
    }
    for (unsigned t = first_ns; t < last_ns; t++) {
        unsigned running = 0;
        for (size_t i = 0; i < count; i++) running += items[i].begin_ns <= t && t < items[i].end_ns;
        if (running)
            row.busy_ns[running > 3 ? 2 : running - 1]++;
        else
            row.idle_ns++;
    }
    row.startup_ns = first_ns;
    row.span_ns = last_ns - first_ns;
    count_missed(items, count, &row);
    return row;
}

static size_t make_stream(struct trace *t, uint32_t location, unsigned stream, struct item *items)
{
    size_t count = 0;
    unsigned now_ns = below(20);
    while (count < ITEMS_MAX / STREAMS / 2 && now_ns < TIME_MAX - 100) {
        struct item *const item = &items[count++];
        *item = (struct item){.stream = stream,
                              .begin_ns = now_ns,
                              .end_ns = now_ns + 1 + below(20),
                              .kind = below(5) == 0   ? MEMSET
                                      : below(2) == 0 ? COPY
                                                      : KERNEL};
        if (item->kind == COPY)
            copy_on(t, location, item->begin_ns, item->end_ns);
        else
            trace_call(t, location, item->begin_ns, item->end_ns,
                       item->kind == KERNEL ? "a kernel" : "cuMemset");
        now_ns = item->end_ns + below(3) * below(20);
    }
    return count;
}

static void random_devices(void **state)
{
    (void)state;
    for (unsigned round = 0, last = cts_test_count(150, 1500); round < last; round++) {
        random_start(round);
        struct trace *const t = trace_new();
        const uint32_t host = trace_rank(t);
        trace_call(t, host, 0, TIME_MAX, "main");
        struct item items[ITEMS_MAX];
        size_t count = 0;
        for (unsigned s = 0; s < 1 + round % STREAMS; s++)
            count += make_stream(t, trace_stream(t, host, s), s, items + count);
        const struct cts_path_source source = trace_source(t);
        struct cts_path r;
        struct cts_error error;
        const struct cts_path_options options = {.threads = 1};
        if (cts_path_analyze(&source, &options, &r, &error)) fail_msg("%s", error.text);
        const struct cts_path_device_row row = only_device(&r), twin = brute_force(items, count);
#define SAME(member)                                                                               \
    if (row.member != twin.member)                                                                 \
    fail_msg("round %u: %s is %llu, not %llu", round, #member, (unsigned long long)row.member,     \
             (unsigned long long)twin.member)
        SAME(activity_count);
        SAME(startup_ns);
        SAME(span_ns);
        SAME(idle_ns);
        SAME(busy_ns[0]);
        SAME(busy_ns[1]);
        SAME(busy_ns[2]);
        SAME(copy_ns);
        SAME(copy_alone_ns);
        SAME(copy_missed_ns);
#undef SAME
        cts_path_release(&r);
        trace_free(t);
    }
}

/* ---- blame of activities ---- */

static uint64_t blame_at(const struct cts_path *result, uint32_t location, uint64_t time_ns)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < result->kept.blames[location].count; i++)
        if (result->kept.blames[location].items[i].time_ns == time_ns)
            sum_ns += result->kept.blames[location].items[i].blame_ns;
    return sum_ns;
}

/* Two streams share [10,50) of a synchronisation; then the longer one has all of [50,90). */
static void blame_of_activities(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t host = trace_rank(t), a = trace_stream(t, host, 7), b = trace_stream(t, host, 8);
    trace_enter(t, host, 0, "main");
    trace_launch(t, host, 1, 2, a);
    trace_launch(t, host, 3, 4, b);
    trace_call(t, host, 10, 100, "cudaDeviceSynchronize");
    trace_leave(t, host, 120, "main");
    trace_call(t, a, 5, 50, "short kernel");
    trace_call(t, b, 20, 90, "long kernel");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){.keep_waits = true}, &r);
    assert_int_equal(blame_at(&r, a, 5), 20);
    assert_int_equal(blame_at(&r, b, 0), 5); /* before its first activity */
    assert_int_equal(blame_at(&r, b, 20), 15 + 40);
    assert_int_equal(r.kept.blames[host].count, 0);
    assert_int_equal(r.kept.wait_count, 1);
    assert_int_equal(r.kept.waits[0].leave_ns, 100);
    assert_string_equal(r.region_names[r.kept.waits[0].region], "cudaDeviceSynchronize");
    cts_path_release(&r);
    trace_free(t);
}

/* A late sender that calls something: what it does itself is one activity, in two pieces. */
static void blame_of_interrupted(void **state)
{
    (void)state;
    struct trace *const t = trace_new();
    const uint32_t receiver = trace_rank(t), sender = trace_rank(t);
    trace_enter(t, receiver, 0, "main");
    trace_receive(t, receiver, 10, 90, 1, 0);
    trace_leave(t, receiver, 100, "main");
    trace_enter(t, sender, 5, "late");
    trace_call(t, sender, 30, 50, "callee");
    trace_send(t, sender, 80, 85, 0, 0);
    trace_leave(t, sender, 100, "late");
    struct cts_path r;
    trace_analyze(t, (struct cts_path_options){0}, &r);
    assert_int_equal(r.wait_ns, 70);
    assert_int_equal(blame_at(&r, sender, 5), 20 + 30);
    assert_int_equal(blame_at(&r, sender, 30), 20);
    assert_int_equal(r.kept.blames[sender].count, 2);
    cts_path_release(&r);
    trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_and_concurrent), cmocka_unit_test(several_devices),
        cmocka_unit_test(held_for_the_copy),   cmocka_unit_test(random_devices),
        cmocka_unit_test(blame_of_activities), cmocka_unit_test(blame_of_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
