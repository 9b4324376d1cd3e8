/* Events that make no sense: any kind in any order, with any numbers and times. The analysis ends,
 * sums hold, and all numbers of processes and threads agree. */
#include "count.h"
#include "path-fixture.h"
#include "random.h"

/* Mostly small, so that things meet; now and then anything. */
static uint32_t number(void)
{
    static const uint32_t odd[] = {UINT32_MAX, INT32_MAX, 1u << 31, 65536, 1000};
    return below(20) ? below(4) : odd[below(5)];
}

static const char *const names[] = {"main",
                                    "MPI_Recv",
                                    "MPI_Waitall",
                                    "MPI_Init",
                                    "MPI_Finalize",
                                    "MPI_Probe",
                                    "cuLaunchKernel",
                                    "cuGraphLaunch",
                                    "cuMemcpyDtoH_v2",
                                    "cuMemcpyHtoD_v2",
                                    "cuMemcpyAsync",
                                    "cuMemsetD8",
                                    "cuCtxSynchronize",
                                    "cuStreamSynchronize",
                                    "cuEventSynchronize",
                                    "cuEventRecord",
                                    "cuEventQuery",
                                    "cuStreamQuery",
                                    "cuStreamWaitEvent",
                                    "cuMemAlloc_v2",
                                    "a kernel",
                                    "!$omp barrier",
                                    "!$omp implicit_task",
                                    "ncclDevKernel_AllReduce(x)",
                                    "ncclDevKernel_SendRecv(x)"};
enum { NAMES = sizeof names / sizeof *names, NAMES_OF_NCCL = 2 };
static unsigned name_count; /* in every other run none is of NCCL: these join processes */

static void add_attributes(struct trace_event *event, uint32_t locations)
{
    if (below(2)) trace_set(event, CTS_ATTRIBUTE_STREAM_REF, below(locations + 2));
    if (below(3) == 0) trace_set(event, CTS_ATTRIBUTE_EVENT_REF, below(3));
    if (below(3) == 0) trace_set(event, CTS_ATTRIBUTE_RESULT, below(2));
    if (below(6) == 0) trace_set(event, CTS_ATTRIBUTE_CORRELATION, below(6));
    if (below(6) == 0) trace_set(event, CTS_ATTRIBUTE_PARALLEL_REGION, below(4));
    if (name_count < NAMES) return;
    if (below(3) == 0) trace_set(event, CTS_ATTRIBUTE_COMMUNICATOR, below(3));
    if (below(3) == 0) trace_set(event, CTS_ATTRIBUTE_SEQUENCE, number());
    if (below(3) == 0) trace_set(event, CTS_ATTRIBUTE_MEMBERS, number());
}

static void add_event(struct trace *t, uint32_t location, uint64_t time_ns)
{
    const uint32_t locations = (uint32_t)t->timeline.location_count;
    if (below(3)) { /* most are calls, some without an end */
        const char *const name = names[below(name_count)];
        if (below(8)) add_attributes(trace_enter(t, location, time_ns, name), locations);
        if (below(4) == 0) {
            const uint32_t kind = CTS_EVENT_MPI_SEND + below(8);
            const uint32_t peer = number(), tag = number(), request = number();
            trace_message(t, location, time_ns, (enum cts_timeline_event_kind)kind, peer, tag,
                          request);
        }
        if (below(8))
            add_attributes(trace_leave(t, location, time_ns + below(30), name), locations);
        return;
    }
    struct trace_event *const event =
        trace_add(t, location, time_ns, (enum cts_timeline_event_kind)below(CTS_EVENT_KIND_COUNT));
    struct cts_timeline_event *const e = &event->event;
    if (e->kind == CTS_EVENT_ENTER || e->kind == CTS_EVENT_LEAVE)
        e->region = number();
    else if (e->kind >= CTS_EVENT_MPI_COLLECTIVE_END &&
             e->kind <= CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE) {
        e->collective.operation = below(20);
        e->collective.communicator = number();
        e->collective.root = number();
        e->collective.request = number();
    } else if (e->kind >= CTS_EVENT_RMA_WIN_CREATE && e->kind <= CTS_EVENT_RMA_OP_COMPLETE_REMOTE) {
        e->rma.window = number();
        e->rma.remote = number();
        e->rma.matching = number();
        e->rma.level = number();
    } else if (e->kind >= CTS_EVENT_THREAD_FORK && e->kind <= CTS_EVENT_THREAD_END) {
        e->thread.communicator = number();
        e->thread.sequence = number();
    } else if (e->kind == CTS_EVENT_BUFFER_FLUSH) {
        e->flush.end_ns = below(5000);
    } else {
        e->message.peer = number();
        e->message.communicator = number();
        e->message.tag = number();
        e->message.request = number();
    }
    add_attributes(event, locations);
}

static void run_one(uint64_t run)
{
    random_start(run * 104729 + 3);
    name_count = run % 2 ? NAMES - NAMES_OF_NCCL : NAMES;
    struct trace *const t = trace_new();
    const unsigned ranks = 1 + below(4);
    for (unsigned r = 0; r < ranks; r++) {
        const uint32_t host = trace_rank(t);
        for (unsigned s = below(3); s-- > 0;) {
            const uint32_t stream = trace_stream(t, host, 7 + s);
            t->locations[stream].null_stream = below(3) == 0;
            t->locations[stream].device = below(2);
        }
        if (below(2))
            (void)trace_location(t, "OMP thread 1", CTS_LOCATION_THREAD, t->locations[host].group);
    }
    const uint32_t locations = (uint32_t)t->timeline.location_count;
    for (uint32_t i = 0; i < locations; i++) t->team_ranks[i] = below(locations);
    t->communicators[1].rank_count = below(locations + 1);
    t->window.communicator = number();
    for (unsigned i = 0; i < name_count; i++) (void)trace_region(t, names[i]);
    for (uint32_t l = 0; l < locations; l++) {
        uint64_t now_ns = below(100);
        for (unsigned i = below(120); i-- > 0;) {
            add_event(t, l, now_ns);
            now_ns += below(25);
        }
    }
    const struct cts_path_source source = trace_source(t);
    struct cts_path r;
    struct cts_error error;
    if (cts_path_analyze(&source, &(struct cts_path_options){0}, &r, &error)) {
        assert_int_equal(error.status, CTS_FORMAT);
    } else {
        cts_path_release(&r);
        trace_analyze_whole(t, (struct cts_path_options){.direct_blame = run % 2}, &r);
        cts_path_release(&r);
        /* where calls and work do not fit together, stretches may jump elsewhere: still all sums */
        const struct cts_path_options options = {.direct_blame = run % 2, .window_events = 1};
        if (cts_path_analyze(&source, &options, &r, &error)) fail_msg("%s", error.text);
        assert_invariants(&r);
        cts_path_release(&r);
    }
    trace_free(t);
}

static void nonsense(void **state)
{
    (void)state;
    const char *const one = getenv("CTS_HOSTILE");
    if (one) {
        run_one(strtoull(one, NULL, 10));
        return;
    }
    static volatile uint64_t run; /* for a debugger; CTS_HOSTILE=run runs it alone */
    const uint64_t runs = cts_test_count(60, 400);
    for (run = 0; run < runs; run++) run_one(run);
}

/* Only two of a million locations have events: a call of a thousand ns on each. */
static enum cts_status read_few(const void *state, uint32_t location, cts_timeline_visit visit,
                                void *visit_state, struct cts_error *error)
{
    (void)state, (void)error;
    if (location != 7 && location != 999999) return CTS_OK;
    const struct cts_timeline_event events[2] = {
        {.time_ns = location, .kind = CTS_EVENT_ENTER},
        {.time_ns = location + 1000, .kind = CTS_EVENT_LEAVE}};
    for (unsigned i = 0; i < 2; i++)
        if (!visit(visit_state, location, &events[i], NULL)) break;
    return CTS_OK;
}

static void a_million_locations(void **state)
{
    (void)state;
    enum { LOCATIONS = 1000000, RANKS = 1000 };
    struct cts_timeline_location *const locations = calloc(LOCATIONS, sizeof *locations);
    struct cts_timeline_group *const groups = calloc(RANKS, sizeof *groups);
    assert_true(locations && groups);
    for (uint32_t i = 0; i < LOCATIONS; i++)
        locations[i] = (struct cts_timeline_location){.name = "thread",
                                                      .kind = CTS_LOCATION_THREAD,
                                                      .group = i % RANKS,
                                                      .process = i % RANKS};
    for (uint32_t i = 0; i < RANKS; i++)
        groups[i] = (struct cts_timeline_group){.name = "rank", .rank = i, .master = i};
    struct cts_timeline_region region = {.name = "main", .paradigm = CTS_PARADIGM_USER};
    const struct cts_timeline timeline = {.locations = locations,
                                          .location_count = LOCATIONS,
                                          .groups = groups,
                                          .group_count = RANKS,
                                          .regions = &region,
                                          .region_count = 1};
    const struct cts_path_source source = {.timeline = &timeline, .read = read_few};
    struct cts_path r;
    struct cts_error error;
    if (cts_path_analyze(&source, &(struct cts_path_options){.threads = 2}, &r, &error))
        fail_msg("%s", error.text);
    assert_invariants(&r);
    assert_int_equal(r.path_ns, 999999 + 1000 - 7);
    assert_int_equal(row_named(&r, "main").calls, 2);
    cts_path_release(&r);
    free(locations);
    free(groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nonsense),
                                       cmocka_unit_test(a_million_locations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
