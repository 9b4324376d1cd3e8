#include "analyze/path/polls.h"

#include <stdlib.h>
#include <string.h>

#include "common/promise.h"

static uint32_t region_at(const struct cts_path_location *at, uint32_t node)
{
    return at->region[node] & ~CTS_PATH_LEAVE;
}

static bool polls(const struct cts_path_graph *graph, uint32_t region)
{
    return graph->system->regions[region].polls;
}

bool cts_path_is_function(const struct cts_path_graph *graph, uint32_t region)
{
    const struct cts_path_region *const what = &graph->system->regions[region];
    return what->kind == CTS_PATH_PLAIN &&
           (what->paradigm == CTS_PARADIGM_USER || what->paradigm == CTS_PARADIGM_COMPILER);
}

/* Calls that ask the device's API for nothing but a value (cudaGetLastError). */
static bool is_idle_call(const struct cts_path_graph *graph, uint32_t region)
{
    const struct cts_path_region *const what = &graph->system->regions[region];
    return what->kind == CTS_PATH_PLAIN && what->paradigm == CTS_PARADIGM_CUDA;
}

/* ---- what follows a poll ---- */

enum { WRAPPERS_MAX = 16 };
struct wrappers { /* what has been left since the poll: what called it */
    uint32_t regions[WRAPPERS_MAX];
    unsigned count;
};

static bool wraps(const struct wrappers *left, uint32_t region)
{
    for (unsigned i = 0; i < left->count; i++)
        if (left->regions[i] == region) return true;
    return false;
}

struct cts_path_poll_gap cts_path_behind_poll(const struct cts_path_graph *graph,
                                              const struct cts_path_location *at, uint32_t leave)
{
    const struct cts_path_poll_gap none = {CTS_PATH_NONE, CTS_PATH_NONE};
    struct cts_path_poll_gap gap = none;
    struct wrappers left = {.count = 0};
    unsigned depth = 0; /* of functions that began behind the poll */
    for (uint32_t node = leave + 1; node < at->count; node++) {
        const uint32_t region = region_at(at, node);
        if (at->region[node] & CTS_PATH_LEAVE) {
            if (depth) {
                depth--;
                continue;
            }
            if (left.count == WRAPPERS_MAX) return none;
            left.regions[left.count++] = region;
            continue;
        }
        const bool again = wraps(&left, region);
        if (polls(graph, region) && !again) {
            gap.next = node;
            return gap;
        }
        if (again) continue; /* its leave is a wrapper's again, or behind the next poll */
        if (cts_path_is_function(graph, region)) {
            if (gap.calls == CTS_PATH_NONE) gap.calls = node;
        } else if (!is_idle_call(graph, region)) {
            return none;
        }
        depth++;
    }
    return none;
}

/* ---- joining ---- */

struct loop {
    const struct cts_path_graph *graph;
    struct cts_path_location *at;
    uint32_t *wait_at; /* [node]: index + 1 of the wait of the call that enters there; 0: none */
    uint32_t outer;    /* leave of the last query that no other one called; NONE: none yet */
};

static bool is_short(const struct cts_path_location *at, uint32_t from, uint32_t to)
{
    return at->time_ns[to] - at->time_ns[from] <= CTS_PATH_POLL_GAP_NS;
}

/* Polls that repeat earlier ones of their loop. */
static enum cts_status add_repeats(struct cts_path_location *at,
                                   const struct cts_path_repeats *repeats, struct cts_error *error)
{
    for (size_t i = 0; i < at->repeats.count; i++)
        if (at->repeats.items[i].region == repeats->region) {
            at->repeats.items[i].count += repeats->count;
            at->repeats.items[i].gap_ns += repeats->gap_ns;
            return CTS_OK;
        }
    if (CTS_ARRAY_RESERVE(&at->repeats, at->repeats.count + 1, error)) return CTS_MEMORY;
    at->repeats.items[at->repeats.count++] = *repeats;
    return CTS_OK;
}

/* Whether two waits are for the same. */
static bool ask_the_same(const struct loop *loop, const struct cts_path_wait *a,
                         const struct cts_path_wait *b)
{
    if (a->flags & CTS_PATH_POOLED || b->flags & CTS_PATH_POOLED || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct cts_path_edge *const left = &loop->at->edges.items[a->first + i];
        const struct cts_path_edge *const right = &loop->at->edges.items[b->first + i];
        if (left->location != right->location || left->node != right->node) return false;
    }
    return a->count > 0;
}

static uint64_t latest_of(const struct loop *loop, const struct cts_path_wait *wait)
{
    uint64_t latest_ns = 0;
    for (uint32_t i = 0; i < wait->count; i++)
        if (loop->at->edges.items[wait->first + i].source_ns > latest_ns)
            latest_ns = loop->at->edges.items[wait->first + i].source_ns;
    return latest_ns;
}

/* A query of a device that waits, and the query that follows it. */
static enum cts_status join_query(struct loop *loop, struct cts_path_wait *wait,
                                  struct cts_error *error)
{
    const struct cts_path_location *const at = loop->at;
    const bool nested = loop->outer != CTS_PATH_NONE && wait->call < loop->outer;
    if (!nested) loop->outer = wait->leave;
    const struct cts_path_poll_gap gap = cts_path_behind_poll(loop->graph, at, wait->leave);
    const bool calls = gap.calls != CTS_PATH_NONE;
    if (gap.next == CTS_PATH_NONE || !loop->wait_at[gap.next]) return CTS_OK;
    struct cts_path_wait *const then = &at->waits.items[loop->wait_at[gap.next] - 1];
    const uint64_t latest_ns = latest_of(loop, wait), next_ns = at->time_ns[gap.next];
    const bool failed = latest_ns > at->time_ns[wait->leave];
    if (!ask_the_same(loop, wait, then) && (!failed || calls)) return CTS_OK;
    then->flags |= CTS_PATH_CONTINUES;
    struct cts_path_repeats repeats = {.region = region_at(at, gap.next), .count = 1};
    if (!calls && failed && !nested && is_short(at, wait->leave, gap.next)) {
        wait->to = gap.next;
        wait->end_ns = latest_ns < next_ns ? latest_ns : next_ns;
        repeats.gap_ns = wait->end_ns - at->time_ns[wait->leave];
    }
    return add_repeats(loop->at, &repeats, error);
}

/* MPI's tests: only the one that completes what it asks for has a wait, which began with the first
 * of those directly before it. */
struct tests {
    uint32_t from;   /* the first one; NONE: there is none */
    uint32_t next;   /* the one that follows the last one */
    uint64_t before; /* how many there are */
    uint64_t gap_ns; /* between the first one and the next */
};

static enum cts_status join_test(struct loop *loop, struct tests *tests, uint32_t enter,
                                 struct cts_error *error)
{
    const struct cts_path_location *const at = loop->at;
    const uint32_t leave = cts_path_leave_of(at, enter);
    if (tests->next != enter) *tests = (struct tests){.from = enter};
    if (loop->wait_at[enter]) {
        struct cts_path_wait *const wait = &at->waits.items[loop->wait_at[enter] - 1];
        const struct cts_path_repeats repeats = {region_at(at, enter), tests->before,
                                                 tests->gap_ns};
        uint64_t latest_ns = latest_of(loop, wait);
        if (wait->flags & CTS_PATH_POOLED) latest_ns = loop->graph->pools[wait->first].latest_ns;
        wait->from = tests->from;
        wait->begin_ns = at->time_ns[tests->from];
        if (latest_ns > at->time_ns[wait->leave]) latest_ns = at->time_ns[wait->leave];
        wait->end_ns = latest_ns > wait->begin_ns ? latest_ns : wait->begin_ns;
        *tests = (struct tests){.from = CTS_PATH_NONE, .next = CTS_PATH_NONE};
        return repeats.count ? add_repeats(loop->at, &repeats, error) : CTS_OK;
    }
    const struct cts_path_poll_gap gap = cts_path_behind_poll(loop->graph, at, leave);
    tests->next = gap.next;
    tests->before++;
    if (gap.next == CTS_PATH_NONE) return CTS_OK;
    const bool goes_on = gap.calls == CTS_PATH_NONE && is_short(at, leave, gap.next);
    tests->gap_ns = goes_on ? tests->gap_ns + at->time_ns[gap.next] - at->time_ns[leave] : 0;
    if (!goes_on) tests->from = gap.next;
    return CTS_OK;
}

static enum cts_status join(struct loop *loop, struct cts_error *error)
{
    const struct cts_path_location *const at = loop->at;
    struct tests tests = {.from = CTS_PATH_NONE, .next = CTS_PATH_NONE};
    enum cts_status status = CTS_OK;
    for (uint32_t node = 0; node < at->count && !status; node++) {
        if (at->region[node] & CTS_PATH_LEAVE) continue;
        const uint32_t region = region_at(at, node);
        if (!polls(loop->graph, region)) continue;
        if (loop->graph->system->regions[region].paradigm == CTS_PARADIGM_MPI) {
            status = join_test(loop, &tests, node, error);
        } else if (loop->wait_at[node]) {
            status = join_query(loop, &at->waits.items[loop->wait_at[node] - 1], error);
        }
    }
    return status;
}

enum cts_status cts_path_join_polls(const struct cts_path_graph *graph, uint32_t location,
                                    struct cts_error *error)
{
    struct loop loop = {.graph = graph, .at = &graph->locations[location], .outer = CTS_PATH_NONE};
    struct cts_path_location *const at = loop.at;
    bool any = false;
    for (size_t i = 0; i < at->waits.count && !any && !at->who->stream; i++)
        any = at->waits.items[i].call != CTS_PATH_NONE &&
              polls(graph, region_at(at, at->waits.items[i].call));
    if (!any) return CTS_OK;
    loop.wait_at = cts_array_zeroed(at->count, sizeof *loop.wait_at, error);
    if (!loop.wait_at) return CTS_MEMORY;
    for (uint32_t i = 0; i < at->waits.count; i++)
        if (at->waits.items[i].call != CTS_PATH_NONE) loop.wait_at[at->waits.items[i].call] = i + 1;
    const enum cts_status status = join(&loop, error);
    free(loop.wait_at);
    return status;
}
