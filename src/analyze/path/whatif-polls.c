/* Rules of loops that poll (polls.h). When what is asked for is done earlier, the queries that
 * found it unfinished go, and with them what lies between them, unless that is work of its own.
 *
 *     goes on        F body F body S body body         bodies stay; what follows them waits for S
 *     runs out       F body F body F F F F S           bodies may be work of a fixed amount, or
 *     given up       F body F body synchronise         what there was to do while waiting
 *     else           F body F body F body S            bodies end with the queries
 *
 * A body is what functions of the program do between two queries. Loops with the same first
 * function and the same query are judged together. Only bodies that go on behind the query that
 * succeeds are certainly of a fixed number. Those that run out are taken to be so, the others to
 * end with the queries, as is a long time between two queries in which nothing is recorded; the
 * recording cannot prove either, so that there are two answers. */
#include "analyze/path/whatif-polls.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/path/polls.h"
#include "common/search.h"

/* A query or a test, by its enter node. */
struct poll {
    uint32_t enter, leave;
    uint32_t wait;  /* index + 1 of the wait that says what it asks for; 0: nothing known */
    uint32_t tests; /* MPI: index + 1 of the wait of the test that completes this loop of tests */
    struct cts_path_poll_gap gap;
    bool failed, seen, mpi;
};

/* Bodies of the same first function behind the same query. */
struct group {
    uint32_t query, function;
    uint64_t least_total, most_total, most_after;
    bool exhausted, given_up;
};

struct polls {
    struct cts_whatif_plan *plan;
    const struct cts_path_location *at;
    struct cts_whatif_place *place;
    uint32_t location;
    CTS_PATH_LIST(struct poll, all);
    CTS_PATH_LIST(struct group, groups);
    int64_t *tail_ns; /* [wait]: MPI: how long after the source a test may still fail */
};

static uint32_t region_at(const struct cts_path_location *at, uint32_t node)
{
    return at->region[node] & ~CTS_PATH_LEAVE;
}

/* ---- the polls of a thread ---- */

static struct poll *poll_at(struct polls *p, uint32_t enter)
{
    const size_t behind = CTS_SEARCH(p->all.count, i, p->all.items[i].enter <= enter);
    if (enter == CTS_PATH_NONE || !behind || p->all.items[behind - 1].enter != enter) return NULL;
    return &p->all.items[behind - 1];
}

static const struct cts_path_wait *wait_of(const struct polls *p, const struct poll *poll)
{
    return &p->at->waits.items[poll->wait - 1];
}

static enum cts_status list_polls(struct polls *p, const uint32_t *wait_at, struct cts_error *error)
{
    const struct cts_path_graph *const graph = p->plan->graph;
    for (uint32_t node = 0; node < p->at->count; node++) {
        if (p->at->region[node] & CTS_PATH_LEAVE) continue;
        const struct cts_path_region *const region =
            &graph->system->regions[region_at(p->at, node)];
        if (!region->polls) continue;
        struct poll poll = {.enter = node,
                            .leave = cts_path_leave_of(p->at, node),
                            .wait = wait_at[node],
                            .mpi = region->paradigm == CTS_PARADIGM_MPI};
        poll.gap = cts_path_behind_poll(graph, p->at, poll.leave);
        if (poll.wait && !poll.mpi)
            poll.failed = cts_whatif_latest_of(graph, p->location, wait_of(p, &poll)) >
                          p->at->time_ns[poll.leave];
        if (CTS_ARRAY_RESERVE(&p->all, p->all.count + 1, error)) return CTS_MEMORY;
        p->all.items[p->all.count++] = poll;
    }
    return CTS_OK;
}

/* Tests that complete nothing are those of the next one that does, in the same loop. */
static void resolve_tests(struct polls *p)
{
    for (size_t i = p->all.count; i-- > 0;) {
        struct poll *const poll = &p->all.items[i];
        const struct poll *const next = poll_at(p, poll->gap.next);
        poll->tests = poll->mpi && poll->wait ? poll->wait : next ? next->tests : 0;
        if (!poll->mpi || poll->wait || !poll->tests) continue;
        poll->wait = poll->tests;
        poll->failed = true;
        const uint64_t latest_ns =
            cts_whatif_latest_of(p->plan->graph, p->location, wait_of(p, poll));
        const uint64_t enter_ns = p->at->time_ns[poll->enter];
        int64_t *const tail_ns = &p->tail_ns[poll->wait - 1];
        if (enter_ns >= latest_ns && (int64_t)(enter_ns - latest_ns) >= *tail_ns)
            *tail_ns = (int64_t)(enter_ns - latest_ns) + 1;
    }
}

static bool asks_the_same(const struct polls *p, const struct poll *a, const struct poll *b)
{
    size_t a_count, b_count;
    if (!a->wait || !b->wait) return false;
    const struct cts_path_graph *const graph = p->plan->graph;
    const struct cts_path_edge *const left =
        cts_path_edges_of(graph, p->location, wait_of(p, a), &a_count);
    const struct cts_path_edge *const right =
        cts_path_edges_of(graph, p->location, wait_of(p, b), &b_count);
    if (a_count != b_count) return false;
    for (size_t i = 0; i < a_count; i++)
        if (left[i].location != right[i].location || left[i].node != right[i].node) return false;
    return true;
}

/* The query at which a loop stands, and the last one since a body that failed; NULL: none did. A
 * loop of queries of several things goes on behind one that succeeds, if another one failed. */
struct place {
    struct poll *poll;
    const struct poll *open;
};

static bool goes_on(const struct polls *p, const struct place *place)
{
    const struct poll *const poll = place->poll;
    if (!poll || poll->gap.next == CTS_PATH_NONE) return poll && poll->failed;
    return poll->failed || (place->open && poll->wait && !asks_the_same(p, place->open, poll));
}

static void step(struct polls *p, struct place *place)
{
    struct poll *const poll = place->poll;
    if (poll->gap.calls != CTS_PATH_NONE)
        place->open = NULL;
    else if (poll->failed)
        place->open = poll;
    place->poll = poll_at(p, poll->gap.next);
}

/* ---- what bodies are ---- */

static struct group *group_of(struct polls *p, uint32_t query, uint32_t function,
                              struct cts_error *error)
{
    for (size_t i = 0; i < p->groups.count; i++)
        if (p->groups.items[i].query == query && p->groups.items[i].function == function)
            return &p->groups.items[i];
    if (CTS_ARRAY_RESERVE(&p->groups, p->groups.count + 1, error)) return NULL;
    struct group *const group = &p->groups.items[p->groups.count++];
    *group = (struct group){.query = query, .function = function, .least_total = UINT64_MAX};
    return group;
}

/* Calls of `function` behind the leave of a query that succeeded, functions and queries between
 * them, and the node at which something else begins. */
static uint64_t bodies_behind(struct polls *p, uint32_t leave, uint32_t function, uint32_t *other)
{
    const struct cts_path_graph *const graph = p->plan->graph;
    uint64_t count = 0;
    uint32_t node = leave + 1, last = leave;
    for (; node < p->at->count; node++) {
        if (p->at->region[node] & CTS_PATH_LEAVE) continue;
        const uint32_t region = region_at(p->at, node);
        const bool query = graph->system->regions[region].polls;
        if (!query && !count && region != function) break;
        if (!query && !cts_path_is_function(graph, region)) break;
        const struct poll *const again = query ? poll_at(p, node) : NULL;
        if (again && again->failed) break;
        count += region == function;
        node = cts_path_leave_of(p->at, node);
        if (region == function) last = node;
    }
    *other = last + 1 < p->at->count ? last + 1 : last;
    return count;
}

/* A loop, from its first query to the one that succeeds. */
struct loop {
    struct group *group;          /* of its bodies; NULL: it has none */
    const struct poll *success;   /* NULL: it was given up */
    uint64_t before, after;       /* bodies */
    uint64_t idle, most_idle;     /* queries without a body: since the last one, most between two */
    uint64_t pauses, long_pauses; /* times between queries in which nothing is recorded */
};

/* Whether the time behind a query may be work that the recording does not show. */
static bool is_long(const struct polls *p, const struct poll *poll)
{
    return poll->gap.next != CTS_PATH_NONE &&
           p->at->time_ns[poll->gap.next] - p->at->time_ns[poll->leave] > CTS_PATH_POLL_GAP_NS;
}

static enum cts_status follow(struct polls *p, struct poll *first, struct loop *loop,
                              struct cts_error *error)
{
    *loop = (struct loop){.success = NULL};
    struct place place = {.poll = first};
    for (; goes_on(p, &place); step(p, &place)) {
        const struct poll *const poll = place.poll, *const next = poll_at(p, poll->gap.next);
        place.poll->seen = true;
        if (poll->gap.calls == CTS_PATH_NONE) {
            loop->idle += next && asks_the_same(p, poll, next);
            loop->pauses++;
            loop->long_pauses += is_long(p, poll);
            continue;
        }
        if (!loop->group)
            loop->group = group_of(p, region_at(p->at, poll->enter),
                                   region_at(p->at, poll->gap.calls), error);
        if (!loop->group) return CTS_MEMORY;
        if (loop->before && loop->idle > loop->most_idle) loop->most_idle = loop->idle;
        loop->before++;
        loop->idle = 0;
    }
    loop->success = place.poll;
    return CTS_OK;
}

static void judge(struct polls *p, const struct loop *loop)
{
    struct group *const group = loop->group;
    uint32_t other;
    const uint64_t after =
        loop->success ? bodies_behind(p, loop->success->leave, group->function, &other) : 0;
    const uint64_t total = loop->before + after;

    group->given_up |= !loop->success;
    group->exhausted |= loop->success && loop->idle > loop->most_idle;
    if (total < group->least_total) group->least_total = total;
    if (total > group->most_total) group->most_total = total;

    if (after > group->most_after) group->most_after = after;
}

enum fate { ENDS, RUNS_OUT, GOES_ON };

/* A body that is also called once behind the loop may prepare the next one: unless both together
 * are always the same number. */
static enum fate fate_of(const struct group *group)
{
    const bool same = group->least_total == group->most_total;
    if (group->most_after && (same || group->most_after > 1)) return GOES_ON;
    return group->given_up || group->exhausted ? RUNS_OUT : ENDS;
}

/* ---- rules ---- */

static enum cts_status poll_rule(struct polls *p, const struct poll *poll, struct cts_error *error)
{
    const uint64_t *const t = p->at->time_ns;
    const uint64_t own_ns = t[poll->leave] - t[poll->leave - 1];
    return cts_whatif_add_rule(p->place,
                               (struct cts_whatif_rule){.node = poll->leave,
                                                        .wait = poll->wait - 1,
                                                        .kind = CTS_WHATIF_POLL,
                                                        .own_ns = own_ns,
                                                        .tail_ns = p->tail_ns[poll->wait - 1]},
                               error);
}

static enum cts_status gap_rules(struct polls *p, const struct poll *poll, struct cts_error *error)
{
    const uint64_t *const t = p->at->time_ns;
    enum cts_status status = CTS_OK;
    for (uint32_t node = poll->leave + 1; node <= poll->gap.next && !status; node++)
        status = cts_whatif_add_rule(p->place,
                                     (struct cts_whatif_rule){.node = node,
                                                              .kind = CTS_WHATIF_GAP,
                                                              .own_ns = t[node] - t[node - 1]},
                                     error);
    return status;
}

/* Bodies that stay go on behind the query that succeeds: what follows them waits in its place. */
static void defer_success(struct polls *p, const struct loop *loop)
{
    uint32_t other;
    if (!loop->success || !loop->success->wait ||
        !bodies_behind(p, loop->success->leave, loop->group->function, &other))
        return;
    for (size_t i = 0; i < p->place->rule_count; i++) {
        struct cts_whatif_rule *const rule = &p->place->rules[i];
        if (rule->kind != CTS_WHATIF_WAIT || rule->wait != loop->success->wait - 1) continue;
        rule->node = other;
        rule->own_ns = p->at->time_ns[other] - p->at->time_ns[other - 1];
    }
}

/* Whether what lies behind a failed query of a loop stays as it is. */
static bool stays(const struct polls *p, const struct loop *loop, const struct poll *poll)
{
    struct cts_whatif_polls *const count = &p->plan->polls;
    const bool other = p->plan->options->other_polls;
    const bool pauses = 2 * loop->long_pauses > loop->pauses; /* else it was kept from running */
    const bool body = poll->gap.calls != CTS_PATH_NONE;
    const enum fate fate = body ? fate_of(loop->group) : ENDS;
    if (!body && !(pauses && is_long(p, poll))) return false;
    count->fixed += fate == GOES_ON;
    count->ran_out += fate == RUNS_OUT;
    count->assumed += fate == ENDS;
    return fate == GOES_ON || (fate == RUNS_OUT) != other;
}

static enum cts_status loop_rules(struct polls *p, struct poll *first, const struct loop *loop,
                                  struct cts_error *error)
{
    struct place place = {.poll = first};
    enum cts_status status = CTS_OK;
    if (loop->group && fate_of(loop->group) == GOES_ON) defer_success(p, loop);
    for (; goes_on(p, &place) && !status; step(p, &place)) {
        const struct poll *const poll = place.poll;
        if (poll->gap.next == CTS_PATH_NONE) {
            p->plan->polls.kept++;
            break;
        }
        if (poll->failed) status = poll_rule(p, poll, error);
        if (!status && !stays(p, loop, poll)) status = gap_rules(p, poll, error);
    }
    return status;
}

static enum cts_status make_loops(struct polls *p, struct cts_error *error)
{
    struct loop loop;
    for (unsigned pass = 0; pass < 2; pass++) { /* all are judged before any has rules */
        for (size_t i = 0; i < p->all.count; i++) p->all.items[i].seen = false;
        for (size_t i = 0; i < p->all.count; i++) {
            struct poll *const first = &p->all.items[i];
            if (!first->failed || first->seen) continue;
            if (follow(p, first, &loop, error)) return CTS_MEMORY;
            if (pass == 0 && loop.group) judge(p, &loop);
            if (pass == 1 && loop_rules(p, first, &loop, error)) return CTS_MEMORY;
        }
    }
    return CTS_OK;
}

enum cts_status cts_whatif_poll_rules(struct cts_whatif_plan *plan, uint32_t location,
                                      struct cts_error *error)
{
    const struct cts_path_location *const at = &plan->graph->locations[location];
    struct polls p = {
        .plan = plan, .at = at, .place = &plan->places[location], .location = location};
    uint32_t *const wait_at = cts_array_zeroed(at->count, sizeof *wait_at, error);
    p.tail_ns = cts_array_zeroed(at->waits.count, sizeof *p.tail_ns, error);
    enum cts_status status = wait_at && p.tail_ns ? CTS_OK : CTS_MEMORY;
    for (uint32_t w = 0; w < at->waits.count && !status; w++)
        if (at->waits.items[w].call != CTS_PATH_NONE) wait_at[at->waits.items[w].call] = w + 1;
    if (!status) status = list_polls(&p, wait_at, error);
    if (!status) {
        resolve_tests(&p);
        status = make_loops(&p, error);
    }
    free(wait_at);
    free(p.tail_ns);
    free(p.all.items);
    free(p.groups.items);
    return status;
}
