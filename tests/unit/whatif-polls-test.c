/* Projections of loops that poll: programs whose loops end with the kernel, and programs whose
 * loops do a fixed amount of work, each with another kernel, against what the program would then
 * do. */
#include "analyze/path/whatif.h"

#include "count.h"
#include "path-fixture.h"
#include "random.h"

enum shape {
    PURE,       /* asks again at once */
    UNTIL,      /* a slice of work between two queries, until one succeeds */
    FIXED,      /* so many slices; it asks behind each until one query succeeds */
    FIXED_ALL,  /* the same, and it goes on asking */
    DRAIN,      /* slices while the kernel runs, at most so many, and the rest behind it */
    FILL_IN,    /* slices while the kernel runs, at most so many, then it only asks */
    GIVEN_UP,   /* so many slices with a query behind each, then a synchronisation */
    PREPARED,   /* as UNTIL; a slice, too, before each launch */
    EVERY_THIRD /* as UNTIL, but a slice only behind every third query */
};

struct polling {
    enum shape shape;
    unsigned turns, slices;
    uint64_t kernel_ns, slice_ns, query_ns;
    uint64_t rest_ns[4]; /* of the host behind a turn */
};

struct player {
    const struct polling *p;
    struct trace *trace; /* NULL: only the time */
    uint32_t host, stream;
    uint64_t now_ns, end_ns; /* the kernel's */
    bool waits;
};

static void work(struct player *y, uint64_t ns, const char *name)
{
    if (y->trace) trace_call(y->trace, y->host, y->now_ns, y->now_ns + ns, name);
    y->now_ns += ns;
}

static void slice(struct player *y)
{
    work(y, y->p->slice_ns, "slice");
}

static bool ask(struct player *y)
{
    const bool done = y->end_ns <= y->now_ns;
    if (y->trace) {
        struct trace_event *const leave =
            trace_call(y->trace, y->host, y->now_ns, y->now_ns + y->p->query_ns, "cuStreamQuery");
        trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, y->stream);
        trace_set(leave, CTS_ATTRIBUTE_RESULT, done ? 0 : 600);
    }
    y->now_ns += y->p->query_ns;
    return done;
}

static void launch(struct player *y)
{
    if (y->trace) trace_launch(y->trace, y->host, y->now_ns, y->now_ns + 5, y->stream);
    y->now_ns += 5;
    const uint64_t begin_ns = y->now_ns + 3;
    y->end_ns = begin_ns + y->p->kernel_ns;
    if (y->trace) trace_call(y->trace, y->stream, begin_ns, y->end_ns, "kernel");
}

static void synchronise(struct player *y)
{
    uint64_t leave_ns = y->now_ns + 2;
    if (leave_ns < y->end_ns + 3) leave_ns = y->end_ns + 3;
    if (y->trace)
        trace_set(trace_call(y->trace, y->host, y->now_ns, leave_ns, "cuStreamSynchronize"),
                  CTS_ATTRIBUTE_STREAM_REF, y->stream);
    y->now_ns = leave_ns;
}

static void turn(struct player *y)
{
    const struct polling *const p = y->p;
    unsigned done = 0, queries = 0;
    if (p->shape == PREPARED) slice(y);
    launch(y);
    bool found = false;
    switch (p->shape) {
    case PURE:
        while (!ask(y)) y->now_ns += 3;
        break;
    case UNTIL:
    case PREPARED:
        while (!ask(y)) slice(y);
        break;
    case EVERY_THIRD:
        while (!ask(y)) {
            y->now_ns += 2;
            if (++queries % 3 == 0) slice(y);
        }
        break;
    case FIXED:
    case FIXED_ALL:
        for (; done < p->slices; done++) {
            slice(y);
            if (!found || p->shape == FIXED_ALL) found = ask(y) || found;
        }
        synchronise(y);
        break;
    case DRAIN:
        for (; !ask(y); y->now_ns += 2)
            if (done < p->slices) slice(y), done++;
        for (; done < p->slices; done++) slice(y);
        break;
    case FILL_IN:
        for (; !ask(y); y->now_ns += 2)
            if (done < p->slices) slice(y), done++;
        break;
    case GIVEN_UP:
        for (; done < p->slices; done++) {
            slice(y);
            (void)ask(y);
        }
        synchronise(y);
        break;
    }
}

static uint64_t play(const struct polling *p, struct trace *trace)
{
    struct player y = {.p = p, .trace = trace};
    if (trace) {
        y.host = trace_rank(trace);
        y.stream = trace_stream(trace, y.host, 1);
    }
    work(&y, 20, "begin");
    for (unsigned i = 0; i < p->turns; i++) {
        turn(&y);

        if (p->shape != PREPARED) work(&y, p->rest_ns[i], "rest");
    }
    return y.now_ns;
}

static struct cts_whatif project(struct trace *trace, const char *name, double factor)
{
    const struct cts_path_source source = trace_source(trace);
    const struct cts_whatif_change change = {name, CTS_WHATIF_ALL, factor};
    const struct cts_whatif_options options = {.changes = &change,
                                               .change_count = 1,
                                               .path.threads = 1,
                                               .device = cts_whatif_default_device()};
    struct cts_whatif result;
    struct cts_error error;
    if (cts_whatif_analyze(&source, &options, &result, &error)) fail_msg("%s", error.text);
    assert_int_equal(result.notes.missed, 0);
    assert_int_equal(result.notes.broken, 0);
    return result;
}

static struct polling random_polling(enum shape shape)
{
    struct polling p = {.shape = shape,
                        .turns = 2 + below(3),
                        .slices = 6 + below(6),
                        .slice_ns = 1000 + below(2000),
                        .query_ns = 3 + below(5)};
    for (unsigned i = 0; i < p.turns; i++) p.rest_ns[i] = 2000 + below(3000);
    p.kernel_ns = p.slice_ns * 3 + below((unsigned)(p.slice_ns * (p.slices - 5)));
    if (shape == FILL_IN) p.kernel_ns = p.slice_ns * (p.slices + 3) + below(3000);
    if (shape == GIVEN_UP) p.kernel_ns = p.slice_ns * p.slices + 4000 + below(3000);
    if (shape == PURE) p.kernel_ns = 3000 + below(3000);
    return p;
}

/* What a projection may miss: a slice and a query a turn where the loop ends with the kernel, since
 * it depends on chance in which slice that falls; else the queries. */
static uint64_t allowed_ns(const struct polling *p, bool ends)
{
    const uint64_t queries_ns = (p->slices + 20) * (p->query_ns + 3ull);
    return p->turns * ((ends ? p->slice_ns + p->query_ns : 0) + queries_ns);
}

/* What is said of a program whose loops end with the kernel, or do not. Where the recording does
 * not show it, there are two answers. */
static uint64_t answer(const struct cts_whatif *result, bool ends)
{
    const struct cts_whatif_polls *const polls = &result->notes.polls;
    assert_false(polls->assumed && polls->ran_out);
    if (ends ? polls->ran_out : polls->assumed) return result->polls_after_ns;
    return result->after_ns;
}

struct tally {
    unsigned all, open;
};

/* One program with a kernel that takes more or less time. */
static void compare_program(struct polling *p, bool ends, unsigned run, struct tally *tally)
{
    static const double factors[] = {0, 0.25, 0.5, 0.8, 1.5, 2};
    struct trace *const trace = trace_new();
    const uint64_t kernel_ns = p->kernel_ns;
    (void)play(p, trace);
    for (unsigned f = 0; f < sizeof factors / sizeof *factors; f++) {
        struct cts_whatif result = project(trace, "kernel", factors[f]);
        p->kernel_ns = (uint64_t)((double)kernel_ns * factors[f] + 0.5);
        const uint64_t true_ns = play(p, NULL), said_ns = answer(&result, ends);
        const uint64_t off_ns = said_ns > true_ns ? said_ns - true_ns : true_ns - said_ns;
        if (off_ns > allowed_ns(p, ends))
            fail_msg("shape %u, run %u, kernel %llu at %g: projected %llu, true %llu", p->shape,
                     run, (unsigned long long)kernel_ns, factors[f], (unsigned long long)said_ns,
                     (unsigned long long)true_ns);
        tally->all++;
        tally->open += result.notes.polls.assumed || result.notes.polls.ran_out;
        cts_whatif_release(&result);
    }
    trace_free(trace);
}

static struct tally compare_shape(enum shape shape, bool ends)
{
    struct tally tally = {0};
    for (unsigned run = 0; run < cts_test_count(60, 60); run++) {
        random_start(run * 16 + shape);
        struct polling p = random_polling(shape);
        compare_program(&p, ends, run, &tally);
    }
    return tally;
}

/* Nothing lies between the queries of a loop but what asking takes: there is one answer. */
static void loops_of_queries(void **state)
{
    (void)state;
    assert_int_equal(compare_shape(PURE, true).open, 0);
}

/* That a loop ends with its kernel cannot be proven. */
static void loops_that_end(void **state)
{
    (void)state;
    static const enum shape shapes[] = {UNTIL, EVERY_THIRD, FILL_IN, PREPARED};
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct tally tally = compare_shape(shapes[i], true);
        assert_int_equal(tally.open, tally.all);
    }
}

static void loops_of_fixed_work(void **state)
{
    (void)state;
    assert_int_equal(compare_shape(FIXED, false).open, 0);
    assert_int_equal(compare_shape(FIXED_ALL, false).open, 0);
    assert_int_equal(compare_shape(DRAIN, false).open, 0);
    assert_int_equal(compare_shape(GIVEN_UP, false).open, 0);
}

/* ---- MPI ---- */

struct exchange {
    enum shape shape; /* PURE, UNTIL or FIXED */
    unsigned slices;
    uint64_t producer_ns, slice_ns, transfer_ns;
};

static bool test(struct trace *t, uint64_t *now_ns, uint64_t there_ns)
{
    const bool done = *now_ns >= there_ns;
    if (t) {
        trace_enter(t, 0, *now_ns, "MPI_Test");
        trace_message(t, 0, *now_ns + 2, done ? CTS_EVENT_MPI_IRECV : CTS_EVENT_MPI_REQUEST_TEST, 1,
                      5, 71);
        trace_leave(t, 0, *now_ns + 4, "MPI_Test");
    }
    *now_ns += 4;
    return done;
}

static void do_slice(struct trace *t, uint64_t *now_ns, uint64_t ns)
{
    if (t) trace_call(t, 0, *now_ns, *now_ns + ns, "slice");
    *now_ns += ns;
}

/* Rank 1 produces and sends; rank 0 tests until that is there, and ends. */
static uint64_t play_exchange(const struct exchange *x, struct trace *t)
{
    uint64_t now_ns = 0;
    const uint64_t there_ns = x->producer_ns + x->transfer_ns;
    if (t) {
        (void)trace_rank(t);
        (void)trace_rank(t);
        trace_call(t, 1, 0, x->producer_ns, "producer");
        trace_send(t, 1, x->producer_ns, x->producer_ns + 2, 0, 5);
        trace_enter(t, 0, 0, "MPI_Irecv");
        trace_message(t, 0, 1, CTS_EVENT_MPI_IRECV_REQUEST, 0, 0, 71);
        trace_leave(t, 0, 10, "MPI_Irecv");
    }
    now_ns = 10;
    bool found = false;
    if (x->shape == FIXED) {
        for (unsigned i = 0; i < x->slices; i++) {
            do_slice(t, &now_ns, x->slice_ns);
            if (!found) found = test(t, &now_ns, there_ns);
        }
        if (!found && now_ns < there_ns) now_ns = there_ns; /* it waits */
    } else {
        while (!test(t, &now_ns, there_ns))
            if (x->shape == UNTIL) do_slice(t, &now_ns, x->slice_ns);
    }
    if (t) trace_call(t, 0, now_ns, now_ns + 500, "rest");
    return now_ns + 500;
}

static void tests_of_messages(void **state)
{
    (void)state;
    static const enum shape shapes[] = {PURE, UNTIL, FIXED};
    static const double factors[] = {0, 0.3, 0.6, 1, 1.4};
    for (unsigned run = 0; run < cts_test_count(90, 90); run++) {
        random_start(run);
        struct exchange x = {.shape = shapes[run % 3],
                             .slices = 16,
                             .producer_ns = 6000 + below(4000),
                             .slice_ns = 800 + below(300),
                             .transfer_ns = 5 + below(60)};
        const bool ends = x.shape != FIXED;
        struct trace *const trace = trace_new();
        (void)play_exchange(&x, trace);
        const uint64_t producer_ns = x.producer_ns;
        for (unsigned f = 0; f < sizeof factors / sizeof *factors; f++) {
            struct cts_whatif result = project(trace, "producer", factors[f]);
            x.producer_ns = (uint64_t)((double)producer_ns * factors[f] + 0.5);
            const uint64_t true_ns = play_exchange(&x, NULL), said_ns = answer(&result, ends);
            const uint64_t off_ns = said_ns > true_ns ? said_ns - true_ns : true_ns - said_ns;
            if (off_ns > (x.shape == UNTIL ? x.slice_ns : 0) + x.transfer_ns + 4 * 15)
                fail_msg("run %u, producer at %g: projected %llu, true %llu", run, factors[f],
                         (unsigned long long)said_ns, (unsigned long long)true_ns);
            assert_int_equal(result.notes.polls.assumed > 0, x.shape == UNTIL);
            assert_int_equal(result.notes.polls.fixed > 0, x.shape == FIXED);
            cts_whatif_release(&result);
        }
        trace_free(trace);
    }
}

/* ---- several streams ---- */

enum { STREAMS = 3 };

/* Asks each stream that is not done, then does a slice, until all are. */
static uint64_t play_streams(const uint64_t *kernel_ns, uint64_t slice_ns, struct trace *t)
{
    static const char *const names[] = {"first kernel", "second kernel", "third kernel"};
    uint64_t now_ns = 0, ends_ns[STREAMS];
    bool done[STREAMS] = {false};
    unsigned left = STREAMS;
    if (t) (void)trace_rank(t);
    for (unsigned s = 0; s < STREAMS; s++, now_ns += 5) {
        ends_ns[s] = now_ns + 8 + kernel_ns[s];
        if (!t) continue;
        const uint32_t stream = trace_stream(t, 0, s + 1);
        trace_launch(t, 0, now_ns, now_ns + 5, stream);
        trace_call(t, stream, now_ns + 8, ends_ns[s], names[s]);
    }
    while (left) {
        for (unsigned s = 0; s < STREAMS; s++) {
            if (done[s]) continue;
            done[s] = ends_ns[s] <= now_ns;
            left -= done[s];
            if (t) {
                struct trace_event *const leave =
                    trace_call(t, 0, now_ns, now_ns + 4, "cuStreamQuery");
                trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, s + 1);
                trace_set(leave, CTS_ATTRIBUTE_RESULT, done[s] ? 0 : 600);
            }
            now_ns += 4;
        }
        if (left) do_slice(t, &now_ns, slice_ns);
    }
    if (t) trace_call(t, 0, now_ns, now_ns + 500, "rest");
    return now_ns + 500;
}

static void several_streams(void **state)
{
    (void)state;
    static const char *const names[] = {"first kernel", "second kernel", "third kernel"};
    for (unsigned run = 0; run < cts_test_count(60, 60); run++) {
        random_start(run);
        const uint64_t slice_ns = 500 + below(500);
        uint64_t kernel_ns[STREAMS];
        for (unsigned s = 0; s < STREAMS; s++) kernel_ns[s] = 3000 + below(9000);
        struct trace *const trace = trace_new();
        (void)play_streams(kernel_ns, slice_ns, trace);
        for (unsigned s = 0; s < STREAMS; s++) {
            struct cts_whatif result = project(trace, names[s], 0.25);
            uint64_t changed_ns[STREAMS];
            memcpy(changed_ns, kernel_ns, sizeof changed_ns);
            changed_ns[s] = (uint64_t)((double)kernel_ns[s] * 0.25 + 0.5);
            const uint64_t true_ns = play_streams(changed_ns, slice_ns, NULL);
            const uint64_t said_ns = result.after_ns;
            const uint64_t off_ns = said_ns > true_ns ? said_ns - true_ns : true_ns - said_ns;
            if (off_ns > slice_ns + 12 * 25)
                fail_msg("run %u, %s: projected %llu, true %llu", run, names[s],
                         (unsigned long long)said_ns, (unsigned long long)true_ns);
            cts_whatif_release(&result);
        }
        trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_of_queries),    cmocka_unit_test(loops_that_end),
        cmocka_unit_test(loops_of_fixed_work), cmocka_unit_test(tests_of_messages),
        cmocka_unit_test(several_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
