/* Random programs, simulated: what they do in time becomes a trace, what their parts wait for is
 * written down on the way. A brute-force twin then spreads blame nanosecond by nanosecond and walks
 * the path backwards over plain lists, and every number must agree: times of rows, blame in ns, the
 * path stay by stay. Times on a location never coincide, between locations they may. */
#include "count.h"
#include "path-fixture.h"
#include "random.h"

enum { RANKS_MAX = 64, STREAMS = 2, LOCATIONS = RANKS_MAX * (1 + STREAMS), TIME_MAX = 6000 };
enum {
    RANKS_FEW = 4, /* the rule: what a ns takes grows with the cube of the ranks */
    WAITS_MAX = 2000,
    TARGETS_MAX = RANKS_MAX,
    RUNS = 100,
    RUNS_QUICK = 20,
    COPYING = TRACE_REGIONS_MAX
};

struct dependency { /* what the path may follow and who waits */
    uint32_t location;
    uint64_t begin_ns, end_ns; /* waiting; empty if it did not */
    uint64_t leaves_ns;        /* where the path leaves */
    uint32_t targets[TARGETS_MAX];
    uint64_t until_ns[TARGETS_MAX];
    unsigned target_count;
    int pool; /* collectives share a pool; -1 */
    const char *latency;
    bool launch; /* no wait: a device activity follows its launch */
    bool passes; /* no wait: a stream whose kernel is not launched yet passes blame on */
    uint64_t order;
};

struct twin {
    struct trace *trace;
    unsigned rank_count;
    uint32_t hosts[RANKS_MAX], streams[RANKS_MAX][STREAMS];
    uint64_t now_ns[RANKS_MAX];
    uint64_t stream_end_ns[RANKS_MAX][STREAMS]; /* of what is launched */
    unsigned launched[RANKS_MAX][STREAMS], synced[RANKS_MAX][STREAMS];
    uint64_t begins_ns[RANKS_MAX][STREAMS][WAITS_MAX]; /* of activities */
    struct {
        uint32_t stream;
        uint64_t end_ns;
        unsigned launched;
    } events[RANKS_MAX];
    struct {
        bool any;
        uint64_t end_ns;
        uint32_t stream;
        unsigned launched;
    } held[RANKS_MAX][STREAMS];
    uint64_t collectives[RANKS_MAX + 1]; /* of each group of kernels: how many there were */
    struct dependency dependencies[WAITS_MAX];
    size_t dependency_count;
    int pool_count;
    /* regions by location and time: region + 1 in force from there on; 0: as before */
    uint32_t (*changes)[TIME_MAX];
    bool (*changed)[TIME_MAX];
};

static uint64_t stretches;
static unsigned compared, left_out; /* programs; of many ranks some kernels look as if they had been
                                       loaded behind others, which the twin knows nothing of */
static volatile uint64_t number_of_run;

static struct dependency *add(struct twin *w, uint32_t location)
{
    assert_true(w->dependency_count < WAITS_MAX);
    struct dependency *const d = &w->dependencies[w->dependency_count];
    *d = (struct dependency){.location = location, .pool = -1, .order = w->dependency_count++};
    return d;
}

/* `wait`, from then to then. */
static struct dependency *add_wait(struct twin *w, const struct dependency *wait, uint32_t location,
                                   uint64_t begin_ns, uint64_t end_ns)
{
    struct dependency *const d = add(w, location);
    const uint64_t order = d->order;
    *d = *wait;
    d->order = order;
    d->begin_ns = begin_ns;
    d->end_ns = d->leaves_ns = end_ns;
    return d;
}

static void aim(struct dependency *d, uint32_t target, uint64_t until_ns)
{
    for (unsigned i = 0; i < d->target_count; i++)
        if (d->targets[i] == target) {
            if (until_ns > d->until_ns[i]) d->until_ns[i] = until_ns;
            return;
        }
    assert_true(d->target_count < TARGETS_MAX);
    d->targets[d->target_count] = target;
    d->until_ns[d->target_count++] = until_ns;
}

static uint64_t latest(const struct dependency *d)
{
    uint64_t last_ns = 0;
    for (unsigned i = 0; i < d->target_count; i++)
        if (d->until_ns[i] > last_ns) last_ns = d->until_ns[i];
    return last_ns;
}

/* ---- the program ---- */

static void compute(struct twin *w, unsigned rank)
{
    static const char *const names[] = {"alpha", "beta", "gamma"};
    const uint64_t begin_ns = w->now_ns[rank], end_ns = begin_ns + 1 + below(60);
    trace_call(w->trace, w->hosts[rank], begin_ns, end_ns, names[below(3)]);
    w->now_ns[rank] = end_ns + 1 + below(3);
}

/* What a kernel launched into a stream follows; when it begins. */
static uint64_t begin_kernel(struct twin *w, unsigned rank, unsigned s)
{
    const uint32_t host = w->hosts[rank], stream = w->streams[rank][s];
    const uint64_t enter_ns = w->now_ns[rank], leave_ns = enter_ns + 1 + below(5);
    trace_launch(w->trace, host, enter_ns, leave_ns, stream);
    w->now_ns[rank] = leave_ns + 1;
    uint64_t ready_ns = leave_ns;
    const uint64_t previous_ns = w->stream_end_ns[rank][s];
    if (previous_ns > ready_ns) ready_ns = previous_ns;
    uint64_t begin_ns = ready_ns;
    const bool held = w->held[rank][s].any;
    if (held && w->held[rank][s].end_ns > begin_ns) begin_ns = w->held[rank][s].end_ns;
    begin_ns += 1 + below(6);
    if (held && w->held[rank][s].end_ns > ready_ns) {
        struct dependency *const d = add(w, stream);
        d->begin_ns = ready_ns;
        d->end_ns = w->held[rank][s].end_ns;
        d->leaves_ns = begin_ns;
        d->latency = "launch latency";
        aim(d, w->held[rank][s].stream, d->end_ns);
    } else if (leave_ns > previous_ns) {
        struct dependency *const d = add(w, stream);
        d->begin_ns = d->end_ns = d->leaves_ns = begin_ns;
        d->launch = true;
        d->latency = "launch latency";
        aim(d, host, leave_ns);
    }
    w->held[rank][s].any = false;
    return begin_ns;
}

static void end_kernel(struct twin *w, unsigned rank, unsigned s, uint64_t begin_ns,
                       uint64_t end_ns)
{
    w->stream_end_ns[rank][s] = end_ns;
    w->begins_ns[rank][s][w->launched[rank][s]++] = begin_ns;
}

static void launch(struct twin *w, unsigned rank, unsigned s)
{
    static const char *const names[] = {"small kernel", "big kernel"};
    const unsigned which = below(2);
    const uint64_t begin_ns = begin_kernel(w, rank, s);
    const uint64_t end_ns = begin_ns + 1 + below(which ? 150 : 30);
    trace_call(w->trace, w->streams[rank][s], begin_ns, end_ns, names[which]);
    end_kernel(w, rank, s, begin_ns, end_ns);
}

/* From the end of the stream's work to the launch of the next kernel, which the host makes now. */
static void pass_on(struct twin *w, unsigned rank, unsigned s)
{
    struct dependency *const d = add(w, w->streams[rank][s]);
    d->passes = true;
    d->begin_ns = w->stream_end_ns[rank][s];
    d->leaves_ns = UINT64_MAX;
    d->end_ns = w->now_ns[rank] - 1; /* the launch's leave */
    aim(d, w->hosts[rank], UINT64_MAX);
    if (d->end_ns < d->begin_ns) d->end_ns = d->begin_ns;
}

static void put_member(struct twin *w, uint32_t stream, uint64_t begin_ns, uint64_t end_ns,
                       const uint64_t said[3])
{
    static const char *const name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)";
    struct trace_event *const enter = trace_enter(w->trace, stream, begin_ns, name);
    trace_set(enter, CTS_ATTRIBUTE_COMMUNICATOR, said[0]);
    trace_set(enter, CTS_ATTRIBUTE_SEQUENCE, said[1]);
    trace_set(enter, CTS_ATTRIBUTE_MEMBERS, said[2]);
    trace_leave(w->trace, stream, end_ns, name);
}

/* Kernels of the first `count` ranks, of which some end before the last begins. */
static void kernels_meet(struct twin *w, unsigned count)
{
    const unsigned s = below(STREAMS);
    uint64_t begin_ns[RANKS_MAX], last_ns = 0;
    const uint64_t said[] = {count, w->collectives[count]++, count};
    for (unsigned r = 0; r < count; r++) {
        const uint64_t before_ns = w->stream_end_ns[r][s];
        begin_ns[r] = begin_kernel(w, r, s);
        pass_on(w, r, s);
        assert_true(begin_ns[r] >= before_ns);
        if (begin_ns[r] > last_ns) last_ns = begin_ns[r];
    }
    const int pool = w->pool_count++;
    for (unsigned r = 0; r < count; r++) {
        const bool early = begin_ns[r] + 2 < last_ns && below(8) == 0;
        const uint64_t end_ns = early
                                    ? begin_ns[r] + 1 + below((unsigned)(last_ns - begin_ns[r] - 1))
                                    : last_ns + 1 + below(20);
        struct dependency wait = {.location = w->streams[r][s], .pool = early ? -1 : pool};
        for (unsigned k = 0; k < count; k++)
            if (k != r && begin_ns[k] <= end_ns) aim(&wait, w->streams[k][s], begin_ns[k]);
        if (latest(&wait) > begin_ns[r])
            add_wait(w, &wait, wait.location, begin_ns[r], latest(&wait));
        put_member(w, w->streams[r][s], begin_ns[r], end_ns, said);
        end_kernel(w, r, s, begin_ns[r], end_ns);
    }
}

/* A synchronisation with some streams up to some of their work. */
static void synchronise(struct twin *w, unsigned rank, const char *name, int only, bool event)
{
    const uint32_t host = w->hosts[rank];
    const uint64_t enter_ns = w->now_ns[rank];
    struct dependency wait = {.location = host, .pool = -1};
    unsigned fresh[STREAMS], fresh_count = 0;
    for (unsigned s = 0; s < STREAMS; s++) {
        if (only >= 0 && (unsigned)only != s) continue;
        const unsigned launched = event ? w->events[rank].launched : w->launched[rank][s];
        const uint64_t end_ns = event ? w->events[rank].end_ns : w->stream_end_ns[rank][s];
        if (launched <= w->synced[rank][s]) continue;
        w->synced[rank][s] = launched;
        fresh[fresh_count++] = s;
        aim(&wait, w->streams[rank][s], end_ns);
    }
    const uint64_t last_ns = latest(&wait);
    const uint64_t leave_ns = (last_ns > enter_ns ? last_ns : enter_ns) + 1 + below(8);
    struct trace_event *const leave = trace_call(w->trace, host, enter_ns, leave_ns, name);
    if (event)
        trace_set(leave, CTS_ATTRIBUTE_EVENT_REF, 1);
    else if (only >= 0)
        trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, w->streams[rank][only]);
    w->now_ns[rank] = leave_ns + 1;
    if (fresh_count && last_ns > enter_ns) {
        add_wait(w, &wait, host, enter_ns, last_ns);
    } else if (fresh_count) { /* the device waits for the call */
        struct dependency *const d = add(w, w->streams[rank][fresh[0]]);
        d->begin_ns = enter_ns;
        d->end_ns = leave_ns;
        d->leaves_ns = UINT64_MAX;
        const unsigned known = w->synced[rank][fresh[0]];
        if (known < w->launched[rank][fresh[0]]) { /* or until the stream goes on */
            const uint64_t next_ns = w->begins_ns[rank][fresh[0]][known];
            if (next_ns < d->end_ns) d->end_ns = next_ns > enter_ns ? next_ns : enter_ns;
        }
        aim(d, host, leave_ns);
    }
}

static void record_event(struct twin *w, unsigned rank, unsigned s)
{
    const uint64_t now_ns = w->now_ns[rank];
    struct trace_event *const leave =
        trace_call(w->trace, w->hosts[rank], now_ns, now_ns + 1, "cuEventRecord");
    trace_set(leave, CTS_ATTRIBUTE_EVENT_REF, 1);
    trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, w->streams[rank][s]);
    w->events[rank].stream = w->streams[rank][s];
    w->events[rank].launched = w->launched[rank][s];
    w->events[rank].end_ns = w->stream_end_ns[rank][s];
    w->now_ns[rank] += 2;
}

static int event_stream(const struct twin *w, unsigned rank)
{
    for (int s = 0; s < STREAMS; s++)
        if (w->events[rank].launched && w->events[rank].stream == w->streams[rank][s]) return s;
    return -1;
}

static void stream_wait(struct twin *w, unsigned rank, unsigned s)
{
    const uint64_t now_ns = w->now_ns[rank];
    struct trace_event *const leave =
        trace_call(w->trace, w->hosts[rank], now_ns, now_ns + 1, "cuStreamWaitEvent");
    trace_set(leave, CTS_ATTRIBUTE_EVENT_REF, 1);
    trace_set(leave, CTS_ATTRIBUTE_STREAM_REF, w->streams[rank][s]);
    w->now_ns[rank] += 2;
    if (event_stream(w, rank) == (int)s) return;
    if (w->held[rank][s].any && w->held[rank][s].end_ns > w->events[rank].end_ns) return;
    w->held[rank][s].any = true;
    w->held[rank][s].end_ns = w->events[rank].end_ns;
    w->held[rank][s].stream = w->events[rank].stream;
    w->held[rank][s].launched = w->events[rank].launched;
}

/* An asynchronous copy from pageable memory: the call returns when it is done, so that the host
 * waits for what the copy follows. */
static void pageable_copy(struct twin *w, unsigned rank, unsigned s)
{
    const uint32_t host = w->hosts[rank], stream = w->streams[rank][s];
    const uint64_t enter_ns = w->now_ns[rank];
    struct dependency wait = {.location = host, .pool = -1};
    bool fresh = w->launched[rank][s] > w->synced[rank][s];
    if (w->launched[rank][s]) aim(&wait, stream, w->stream_end_ns[rank][s]);
    w->synced[rank][s] = w->launched[rank][s];
    if (w->held[rank][s].any) {
        aim(&wait, w->held[rank][s].stream, w->held[rank][s].end_ns);
        unsigned *const synced = &w->synced[rank][!s];
        fresh |= w->held[rank][s].launched > *synced;
        if (w->held[rank][s].launched > *synced) *synced = w->held[rank][s].launched;
    }
    w->held[rank][s].any = false;
    const uint64_t last_ns = latest(&wait);
    if (fresh && last_ns > enter_ns) add_wait(w, &wait, host, enter_ns, last_ns);
    const uint64_t begin_ns = (last_ns > enter_ns ? last_ns : enter_ns) + 1 + below(6);
    const uint64_t end_ns = begin_ns + 1 + below(40);
    struct dependency *const d = add(w, stream);
    d->begin_ns = d->end_ns = d->leaves_ns = begin_ns;
    d->launch = true;
    d->latency = "launch latency";
    aim(d, host, begin_ns);
    struct dependency *const own = add(w, host); /* the call ends with its copy */
    own->begin_ns = own->end_ns = own->leaves_ns = end_ns;
    aim(own, stream, end_ns);
    trace_set(trace_enter(w->trace, host, enter_ns, "cuMemcpyHtoDAsync"), CTS_ATTRIBUTE_STREAM_REF,
              stream);
    trace_add(w->trace, stream, begin_ns, CTS_EVENT_RMA_GET);
    trace_add(w->trace, stream, end_ns, CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING);
    w->now_ns[rank] = end_ns + below(4);
    trace_leave(w->trace, host, w->now_ns[rank]++, "cuMemcpyHtoDAsync");
    w->stream_end_ns[rank][s] = end_ns;
    w->begins_ns[rank][s][w->launched[rank][s]++] = begin_ns;
}

/* A wait of a host for hosts: it leaves at `leave_ns` after what came last. */
static void host_wait(struct twin *w, const struct dependency *wait, uint64_t enter_ns,
                      uint64_t leave_ns)
{
    const uint64_t last_ns = latest(wait);
    if (last_ns <= enter_ns) return;
    struct dependency *const d = add_wait(w, wait, wait->location, enter_ns, last_ns);
    d->leaves_ns = leave_ns;
    d->latency = "MPI transfer";
}

static void message(struct twin *w, unsigned from, unsigned to)
{
    const uint64_t sent_ns = w->now_ns[from], posted_ns = w->now_ns[to];
    const bool rendezvous = below(2);
    uint64_t send_leave_ns = sent_ns + 1 + below(4);
    if (rendezvous && posted_ns >= send_leave_ns) send_leave_ns = posted_ns + 1 + below(9);
    const uint64_t first_ns = sent_ns > posted_ns ? sent_ns : posted_ns;
    const uint64_t receive_leave_ns = first_ns + 1 + below(12);
    const unsigned tag = below(3);
    trace_send(w->trace, w->hosts[from], sent_ns, send_leave_ns, to, tag);
    trace_receive(w->trace, w->hosts[to], posted_ns, receive_leave_ns, from, tag);
    struct dependency late_sender = {.location = w->hosts[to], .pool = -1};
    aim(&late_sender, w->hosts[from], sent_ns);
    host_wait(w, &late_sender, posted_ns, receive_leave_ns);
    if (posted_ns > sent_ns && posted_ns < send_leave_ns) {
        struct dependency late_receiver = {.location = w->hosts[from], .pool = -1};
        aim(&late_receiver, w->hosts[to], posted_ns);
        host_wait(w, &late_receiver, sent_ns, send_leave_ns);
    }
    w->now_ns[from] = send_leave_ns + 1;
    w->now_ns[to] = receive_leave_ns + 1;
}

/* An access epoch of `from` on the window of `to`. */
static void epoch(struct twin *w, unsigned from, unsigned to)
{
    const uint64_t post_ns = w->now_ns[to], start_ns = w->now_ns[from];
    trace_window(w->trace, w->hosts[to], post_ns, post_ns + 1, "MPI_Win_post", from);
    const bool lazy = below(2) && post_ns > start_ns + 3;
    const uint64_t later_ns = post_ns > start_ns ? post_ns : start_ns;
    const uint64_t started_ns = lazy ? start_ns + 1 : later_ns + 1 + below(4);
    trace_window(w->trace, w->hosts[from], start_ns, started_ns, "MPI_Win_start", to);
    struct dependency start = {.location = w->hosts[from], .pool = -1};
    aim(&start, w->hosts[to], post_ns);
    if (!lazy) host_wait(w, &start, start_ns, started_ns);
    const uint64_t complete_ns = started_ns + 1 + below(9);
    const uint64_t completed_ns = (complete_ns > post_ns ? complete_ns : post_ns) + 1 + below(4);
    trace_window(w->trace, w->hosts[from], complete_ns, completed_ns, "MPI_Win_complete", to);
    struct dependency complete = {.location = w->hosts[from], .pool = -1};
    aim(&complete, w->hosts[to], post_ns);
    host_wait(w, &complete, complete_ns, completed_ns);
    const uint64_t wait_ns = post_ns + 2 + below(9);
    const uint64_t waited_ns = (complete_ns > wait_ns ? complete_ns : wait_ns) + 1 + below(4);
    trace_window(w->trace, w->hosts[to], wait_ns, waited_ns, "MPI_Win_wait", from);
    struct dependency wait = {.location = w->hosts[to], .pool = -1};
    aim(&wait, w->hosts[from], complete_ns);
    host_wait(w, &wait, wait_ns, waited_ns);
    w->now_ns[from] = completed_ns + 1;
    w->now_ns[to] = waited_ns + 1;
}

static void collective(struct twin *w)
{
    static const uint32_t operations[] = {0, 11, 1, 12};
    const uint32_t operation = operations[below(4)];
    const unsigned root = below(w->rank_count);
    uint64_t enter_ns[RANKS_MAX], last_ns = 0;
    for (unsigned r = 0; r < w->rank_count; r++) {
        enter_ns[r] = w->now_ns[r];
        if (enter_ns[r] > last_ns) last_ns = enter_ns[r];
    }
    const int pool = w->pool_count++;
    for (unsigned r = 0; r < w->rank_count; r++) {
        struct dependency wait = {.location = w->hosts[r], .pool = -1};
        if (operation == 1 && r != root) aim(&wait, w->hosts[root], enter_ns[root]);
        if (operation != 1 && (operation != 12 || r == root))
            for (unsigned k = 0; k < w->rank_count; k++)
                if (k != r) aim(&wait, w->hosts[k], enter_ns[k]);
        if (operation != 1) wait.pool = pool;
        const uint64_t until_ns = latest(&wait) > enter_ns[r] ? latest(&wait) : enter_ns[r];
        const uint64_t leave_ns = until_ns + 1 + below(10);
        trace_collective(w->trace, w->hosts[r], enter_ns[r], leave_ns, operation,
                         operation == 1 || operation == 12 ? root : CTS_TIMELINE_NONE);
        host_wait(w, &wait, enter_ns[r], leave_ns);
        w->now_ns[r] = leave_ns + 1;
    }
}

/* MPI_Init or MPI_Finalize: what follows the last enter is its own work, no transfer. */
static void begin_or_end_mpi(struct twin *w, const char *name)
{
    uint64_t last_ns = 0;
    for (unsigned r = 0; r < w->rank_count; r++)
        if (w->now_ns[r] > last_ns) last_ns = w->now_ns[r];
    const int pool = w->pool_count++;
    struct dependency all = {.pool = pool};
    for (unsigned r = 0; r < w->rank_count; r++) aim(&all, w->hosts[r], w->now_ns[r]);
    for (unsigned r = 0; r < w->rank_count; r++) {
        const uint64_t enter_ns = w->now_ns[r], leave_ns = last_ns + 1 + below(20);
        trace_call(w->trace, w->hosts[r], enter_ns, leave_ns, name);
        const size_t before = w->dependency_count;
        all.location = w->hosts[r];
        host_wait(w, &all, enter_ns, leave_ns);
        if (w->dependency_count > before) w->dependencies[before].latency = name;
        w->now_ns[r] = leave_ns + 1;
    }
}

static void step(struct twin *w)
{
    const unsigned rank = below(w->rank_count), s = below(STREAMS);
    switch (below(w->collectives[0] ? 16 : 14)) {
    case 0:
    case 1:
        compute(w, rank);
        break;
    case 2:
    case 3:
    case 4:
        launch(w, rank, s);
        break;
    case 5:
        synchronise(w, rank, "cuStreamSynchronize", (int)s, false);
        break;
    case 6:
        synchronise(w, rank, "cuCtxSynchronize", -1, false);
        break;
    case 7:
        record_event(w, rank, s);
        break;
    case 8:
        if (event_stream(w, rank) >= 0) stream_wait(w, rank, s);
        break;
    case 9:
        if (event_stream(w, rank) >= 0)
            synchronise(w, rank, "cuEventSynchronize", event_stream(w, rank), true);
        break;
    case 10:
        if (w->rank_count > 1)
            (below(3) ? message : epoch)(w, rank,
                                         (rank + 1 + below(w->rank_count - 1)) % w->rank_count);
        break;
    case 11:
        if (below(3) == 0) collective(w);
        break;
    case 12:
        pageable_copy(w, rank, s);
        break;
    case 14:
    case 15:
        if (w->rank_count > 1) kernels_meet(w, 2 + below(w->rank_count - 1));
        break;
    default: /* all devices drained, then all together: where a timeline can be cut */
        if (below(3)) break;
        for (unsigned r = 0; r < w->rank_count; r++)
            synchronise(w, r, "cuCtxSynchronize", -1, false);
        collective(w);
        break;
    }
}

/* ---- what runs where ---- */

static void note_regions(struct twin *w)
{
    for (uint32_t l = 0; l < w->trace->timeline.location_count; l++) {
        uint32_t stack[64];
        unsigned depth = 0;
        for (size_t i = 0; i < w->trace->events[l].count; i++) {
            const struct cts_timeline_event *const e = &w->trace->events[l].items[i].event;
            if (e->kind == CTS_EVENT_ENTER)
                stack[depth++] = e->region;
            else if (e->kind == CTS_EVENT_RMA_GET)
                stack[depth++] = COPYING;
            else if (e->kind == CTS_EVENT_LEAVE ||
                     e->kind == CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING)
                depth--;
            else
                continue;
            w->changes[l][e->time_ns] = depth ? stack[depth - 1] + 1 : 0;
            w->changed[l][e->time_ns] = true;
        }
    }
}

/* Names what runs on a location at a nanosecond. */
static const char *running(const struct twin *w, uint32_t l, uint64_t time_ns)
{
    const bool stream = w->trace->locations[l].kind == CTS_LOCATION_STREAM;
    for (uint64_t t = time_ns + 1; t-- > 0;)
        if (w->changed[l][t]) {
            if (w->changes[l][t] == COPYING + 1) return "copy host to device";
            if (w->changes[l][t]) return w->trace->regions[w->changes[l][t] - 1].name;
            return stream ? "launch latency" : "outside all regions";
        }
    return stream ? "launch latency" : "before the first event";
}

/* ---- blame, nanosecond by nanosecond ---- */

struct blame {
    const char *names[TRACE_REGIONS_MAX + 16];
    unsigned __int128 units[TRACE_REGIONS_MAX + 16];
    unsigned count;
};

static void blame_on(struct blame *b, const char *name, uint64_t units)
{
    for (unsigned i = 0; i < b->count; i++)
        if (!strcmp(b->names[i], name)) {
            b->units[i] += units;
            return;
        }
    b->names[b->count] = name;
    b->units[b->count++] = units;
}

/* Blame on a host in an MPI call, behind its wait, is the transfer's. */
static const struct dependency *transfer_at(const struct twin *w, uint32_t l, uint64_t time_ns)
{
    for (size_t i = 0; i < w->dependency_count; i++) {
        const struct dependency *const d = &w->dependencies[i];
        if (d->location == l && d->latency && !strcmp(d->latency, "MPI transfer") &&
            d->end_ns <= time_ns && time_ns < d->leaves_ns)
            return d;
    }
    return NULL;
}

static const char *landing(const struct twin *w, uint32_t l, uint64_t time_ns)
{
    return transfer_at(w, l, time_ns) ? "MPI transfer" : running(w, l, time_ns);
}

/* Order of locations: rank by rank, host before streams; the fixture makes them so. */
static void spread(const struct twin *w, uint64_t time_ns, bool direct, struct blame *blame)
{
    const struct dependency *waiting[LOCATIONS] = {0};
    uint64_t in[LOCATIONS] = {0}, pool_in[64] = {0};
    const struct dependency *pool_of[64] = {0};
    int pools[64];
    unsigned pool_count = 0;
    const uint32_t count = (uint32_t)w->trace->timeline.location_count;
    for (size_t i = 0; i < w->dependency_count; i++) {
        const struct dependency *const d = &w->dependencies[i];
        if (d->begin_ns <= time_ns && time_ns < d->end_ns && (!d->passes || !waiting[d->location]))
            waiting[d->location] = d;
    }
    /* hand on in an order in which nobody is asked before all who wait for him have given */
    bool done[LOCATIONS] = {0};
    for (uint32_t left = count; left > 0;) {
        bool moved = false;
        for (uint32_t l = 0; l < count; l++) {
            if (done[l]) continue;
            bool awaited = false;
            for (uint32_t k = 0; k < count && !awaited; k++) {
                if (done[k] || !waiting[k] || k == l) continue;
                for (unsigned i = 0; i < waiting[k]->target_count; i++)
                    awaited |= waiting[k]->targets[i] == l && waiting[k]->until_ns[i] > time_ns;
            }
            if (awaited) continue;
            /* pools all of whose members have given are shared out first */
            for (unsigned p = 0; p < pool_count; p++) {
                if (!pool_of[p]) continue;
                bool open = false;
                for (uint32_t k = 0; k < count; k++)
                    open |= !done[k] && waiting[k] && waiting[k]->pool == pools[p];
                if (open) continue;
                unsigned active = 0, at = 0;
                for (unsigned i = 0; i < pool_of[p]->target_count; i++)
                    active += pool_of[p]->until_ns[i] > time_ns;
                for (uint32_t k = 0; k < count; k++)
                    for (unsigned i = 0; i < pool_of[p]->target_count; i++)
                        if (pool_of[p]->targets[i] == k && pool_of[p]->until_ns[i] > time_ns) {
                            in[k] += pool_in[p] / active + (at < pool_in[p] % active);
                            at++;
                        }
                pool_of[p] = NULL;
            }
            done[l] = true;
            left--;
            moved = true;
            const struct dependency *const d = waiting[l];
            if (!d) {
                if (in[l]) blame_on(blame, landing(w, l, time_ns), in[l]);
                continue;
            }
            uint64_t amount = d->passes ? 0 : 1ull << 32;
            if (d->passes && direct) {
                if (in[l]) blame_on(blame, running(w, l, time_ns), in[l]);
                continue;
            }
            if (!direct)
                amount += in[l];
            else if (in[l])
                blame_on(blame, running(w, l, time_ns), in[l]);
            if (d->pool >= 0) {
                unsigned p = 0;
                while (p < pool_count && !(pools[p] == d->pool && pool_of[p])) p++;
                if (p == pool_count) {
                    pools[pool_count] = d->pool;
                    pool_of[pool_count++] = d;
                }
                pool_in[p] += amount;
                continue;
            }
            unsigned active = 0, at = 0;
            for (unsigned i = 0; i < d->target_count; i++) active += d->until_ns[i] > time_ns;
            for (uint32_t k = 0; k < count; k++)
                for (unsigned i = 0; i < d->target_count; i++)
                    if (d->targets[i] == k && d->until_ns[i] > time_ns) {
                        in[k] += amount / active + (at < amount % active);
                        at++;
                    }
        }
        assert_true(moved);
    }
}

/* ---- the path, over plain lists ---- */

struct stay {
    uint32_t location;
    uint64_t begin_ns, end_ns;
};
struct path {
    uint64_t from_ns, to_ns; /* what is counted of it */
    struct stay stays[4 * WAITS_MAX];
    size_t count;
    struct blame times; /* by name, in ns */
};

static void book(struct path *path, const struct twin *w, uint32_t l, uint64_t from_ns,
                 uint64_t to_ns, const char *latency)
{
    if (from_ns == to_ns) return;
    path->stays[path->count++] = (struct stay){l, from_ns, to_ns};
    for (uint64_t t = from_ns; t < to_ns; t++)
        if (path->from_ns <= t && t < path->to_ns)
            blame_on(&path->times, latency ? latency : running(w, l, t), 1);
}

static void walk(const struct twin *w, uint64_t first_ns, struct path *path)
{
    uint32_t l = 0;
    uint64_t now_ns = 0;
    for (uint32_t k = 0; k < w->trace->timeline.location_count; k++) {
        const size_t count = w->trace->events[k].count;
        const uint64_t last_ns = count ? w->trace->events[k].items[count - 1].event.time_ns : 0;
        if (last_ns > now_ns) {
            now_ns = last_ns;
            l = k;
        }
    }
    for (;;) {
        const struct dependency *best = NULL;
        for (size_t i = 0; i < w->dependency_count; i++) {
            const struct dependency *const d = &w->dependencies[i];
            if (d->location != l || d->leaves_ns > now_ns) continue;
            if (!best || d->leaves_ns > best->leaves_ns) best = d;
        }
        if (!best) break;
        book(path, w, l, best->leaves_ns, now_ns, NULL);
        unsigned which = 0;
        for (unsigned i = 1; i < best->target_count; i++)
            if (best->until_ns[i] > best->until_ns[which] ||
                (best->until_ns[i] == best->until_ns[which] &&
                 best->targets[i] < best->targets[which]))
                which = i;
        book(path, w, l, best->until_ns[which], best->leaves_ns, best->latency);
        now_ns = best->until_ns[which];
        l = best->targets[which];
    }
    uint64_t begin_ns = w->trace->events[l].items[0].event.time_ns;
    book(path, w, l, begin_ns, now_ns, NULL);
    book(path, w, l, first_ns, begin_ns, "before the first event");
}

/* ---- comparison ---- */

static void compare_path(const struct path *path, const struct cts_path *r)
{
    assert_int_equal(r->kept.segments.count, path->count);
    for (size_t i = 0; i < path->count; i++) {
        assert_int_equal(r->kept.segments.items[i].location, path->stays[i].location);
        assert_int_equal(r->kept.segments.items[i].begin_ns, path->stays[i].begin_ns);
        assert_int_equal(r->kept.segments.items[i].end_ns, path->stays[i].end_ns);
    }
    for (unsigned i = 0; i < path->times.count; i++)
        assert_int_equal(row_named(r, path->times.names[i]).path_ns, path->times.units[i]);
}

static void compare_blame(const struct blame *blame, const struct cts_path *r)
{
    unsigned __int128 sum = 0;
    for (uint32_t region = 0; region < r->region_count; region++) {
        const uint64_t before_ns = (uint64_t)(sum >> 32);
        for (unsigned i = 0; i < blame->count; i++)
            if (!strcmp(blame->names[i], r->region_names[region])) sum += blame->units[i];
        const uint64_t expected_ns = (uint64_t)(sum >> 32) - before_ns;
        const uint64_t found_ns = row_named(r, r->region_names[region]).blame_ns;
        if (expected_ns != found_ns)
            fail_msg("blame of '%s': %llu, the twin has %llu", r->region_names[region],
                     (unsigned long long)found_ns, (unsigned long long)expected_ns);
    }
    assert_int_equal((uint64_t)(sum >> 32), r->wait_ns);
}

/* Times of activities, nanosecond by nanosecond: nothing on a location runs beside another. */
static void compare_times(const struct twin *w, const struct cts_path *r)
{
    struct blame times = {0};
    for (uint32_t l = 0; l < w->trace->timeline.location_count; l++)
        for (uint64_t t = r->part_begin_ns; t < r->part_end_ns; t++)
            blame_on(&times, running(w, l, t), 1);
    for (unsigned i = 0; i < times.count; i++) {
        const struct cts_path_row row = row_named(r, times.names[i]);
        if (row.calls) assert_int_equal(row.exclusive_ns, times.units[i]);
    }
}

/* Waits for other ranks, by who came last. */
static void compare_ranks(const struct twin *w, const struct cts_path *r)
{
    uint64_t waited_ns[RANKS_MAX] = {0}, delayed_ns[RANKS_MAX] = {0};
    for (size_t i = 0; i < w->dependency_count; i++) {
        const struct dependency *const d = &w->dependencies[i];
        unsigned last = 0;
        for (unsigned k = 1; k < d->target_count; k++)
            if (d->until_ns[k] > d->until_ns[last] ||
                (d->until_ns[k] == d->until_ns[last] && d->targets[k] < d->targets[last]))
                last = k;
        const uint32_t own = w->trace->locations[d->location].group;
        const uint32_t other = w->trace->locations[d->targets[last]].group;
        for (uint64_t t = d->begin_ns; t < d->end_ns && own != other && !d->passes; t++) {
            if (t < r->part_begin_ns || t >= r->part_end_ns) continue;
            waited_ns[own]++;
            delayed_ns[other]++;
        }
    }
    for (unsigned p = 0; p < w->rank_count; p++) {
        assert_int_equal(r->ranks[p].waited_ns, waited_ns[p]);
        assert_int_equal(r->ranks[p].delayed_ns, delayed_ns[p]);
    }
}

/* Against the twin: the path stay by stay, and everything of the part that is counted. */
static void compare(const struct twin *w, struct cts_path_options options)
{
    struct cts_path r;
    trace_analyze_whole(w->trace, options, &r);
    const struct cts_path_source source = trace_source(w->trace);
    stretches += assert_same_in_stretches(&source, options, &r) - 1;
    for (unsigned i = 0; i < CTS_PATH_WARNING_COUNT; i++) assert_int_equal(r.warnings[i], 0);
    compared++;
    if (w->rank_count > RANKS_FEW && r.patterns[CTS_PATH_PATTERN_FIRST_LAUNCH].count) {
        left_out++;
        cts_path_release(&r);
        return;
    }
    struct path *const path = calloc(1, sizeof *path);
    path->from_ns = r.part_begin_ns;
    path->to_ns = r.part_end_ns;
    walk(w, r.first_ns, path);
    compare_path(path, &r);
    free(path);
    struct blame blame = {0};
    for (uint64_t t = r.part_begin_ns; t < r.part_end_ns; t++)
        spread(w, t, options.direct_blame, &blame);
    compare_blame(&blame, &r);
    compare_times(w, &r);
    compare_ranks(w, &r);
    cts_path_release(&r);
}

/* Any part of the run. */
static struct cts_path_options part_of(const struct twin *w)
{
    const unsigned end_ns = (unsigned)w->now_ns[0] + 10, from_ns = below(end_ns);
    return (struct cts_path_options){.from_ns = from_ns,
                                     .to_ns = from_ns + 1 + below(end_ns - from_ns)};
}

static void simulate(struct twin *w, unsigned steps, unsigned ranks)
{
    w->trace = trace_new();
    w->rank_count = ranks ? ranks : 1 + below(RANKS_FEW);
    w->collectives[0] = ranks || below(2); /* whether kernels of ranks meet */
    for (unsigned r = 0; r < w->rank_count; r++) {
        w->hosts[r] = trace_rank(w->trace);
        for (unsigned s = 0; s < STREAMS; s++)
            w->streams[r][s] = trace_stream(w->trace, w->hosts[r], 7 + s);
        w->now_ns[r] = 1 + below(20);
        trace_enter(w->trace, w->hosts[r], w->now_ns[r]++, "main");
    }
    const bool mpi = below(2);
    if (mpi) begin_or_end_mpi(w, "MPI_Init");
    for (unsigned i = 0; i < steps; i++) {
        bool room = w->dependency_count + 16 < WAITS_MAX;
        for (unsigned r = 0; r < w->rank_count; r++) room &= w->now_ns[r] < TIME_MAX - 1500;
        if (!room) break;
        step(w);
    }
    if (mpi) begin_or_end_mpi(w, "MPI_Finalize");
    for (unsigned r = 0; r < w->rank_count; r++)
        trace_leave(w->trace, w->hosts[r], w->now_ns[r] + 1 + below(5), "main");
}

/* Waits of a stream may meet (late synchronisation, then a hold): the later one gives way. */
static void make_disjoint(struct twin *w)
{
    for (size_t i = 0; i < w->dependency_count; i++)
        for (size_t k = 0; k < w->dependency_count; k++) {
            struct dependency *const a = &w->dependencies[i], *const b = &w->dependencies[k];
            if (a == b || a->location != b->location || a->begin_ns == a->end_ns ||
                b->begin_ns == b->end_ns || a->passes || b->passes)
                continue;
            const bool meet = a->begin_ns < b->end_ns && b->begin_ns < a->end_ns;
            if (meet) fail_msg("the simulation made waits that overlap");
        }
}

/* `ranks` 0: a few. */
static void run_one(uint64_t number, unsigned ranks, unsigned steps)
{
    random_start(number * 7919 + 17);
    struct twin *const w = calloc(1, sizeof *w);
    w->changes = calloc(LOCATIONS, sizeof *w->changes);
    w->changed = calloc(LOCATIONS, sizeof *w->changed);
    assert_true(w->changes && w->changed);
    simulate(w, steps ? steps : 10 + below(120), ranks);
    note_regions(w);
    make_disjoint(w);
    compare(w, (struct cts_path_options){0});
    compare(w, (struct cts_path_options){.direct_blame = true});
    compare(w, part_of(w));
    trace_free(w->trace);
    free(w->changes);
    free(w->changed);
    free(w);
}

static void random_programs(void **state)
{
    (void)state;
    const char *const one = getenv("CTS_TWIN");
    if (one) {
        run_one(strtoull(one, NULL, 10), 0, 0);
        return;
    }
    const unsigned runs = cts_test_count(RUNS_QUICK, RUNS);
    for (uint64_t i = 0; i < runs; i++) {
        number_of_run = i; /* CTS_TWIN=i runs it alone */
        run_one(i, 0, 0);
    }
    (void)number_of_run;
    assert_true(stretches > runs); /* cuts there were */
}

/* Short ones of 8 to 64 ranks, whose kernels meet. */
static void many_ranks(void **state)
{
    (void)state;
    const unsigned runs = cts_test_count(4, 40);
    compared = left_out = 0;
    for (uint64_t i = 0; i < runs; i++) {
        number_of_run = i;
        run_one(1000 + i, 8 + (unsigned)(i * 29 % (RANKS_MAX - 7)), 40);
    }
    assert_true(left_out * 2 < compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs),
                                       cmocka_unit_test(many_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
