/* OpenMP asks that a barrier is met by all threads of its team or by none. So the i-th call of a
 * region on one thread meets the i-th call of the same region on the others, and a region that not
 * all of them enter is no barrier of the team, whatever its role: runtimes mark calls of one thread
 * alone as barriers ("!$omp offloading overhead"), which must not shift the others.
 *
 * OMPT names regions by return address, which the runtime knows on some threads only, so that one
 * barrier has different names: what is left is paired by order if all threads have the same number
 * of such calls. */
#include "analyze/path/team-barriers.h"

#include <stdlib.h>

struct pairing {
    struct cts_path_graph *graph;
    struct cts_path_team_call *calls; /* of one team */
    size_t call_count;
    size_t thread_count;
    uint32_t next; /* order of the next barrier */
    struct cts_error *error;
};

static int by_region(const void *left, const void *right)
{
    const struct cts_path_team_call *const a = left, *const b = right;
    if (a->fork != b->fork) return a->fork < b->fork ? -1 : 1;
    if (a->region != b->region) return a->region < b->region ? -1 : 1;
    if (a->location != b->location) return a->location < b->location ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_thread(const void *left, const void *right)
{
    const struct cts_path_team_call *const a = left, *const b = right;
    if (a->location != b->location) return a->location < b->location ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_fork(const void *left, const void *right)
{
    const struct cts_path_team_thread *const a = left, *const b = right;
    if (a->fork != b->fork) return a->fork < b->fork ? -1 : 1;
    return (a->location > b->location) - (a->location < b->location);
}

static size_t run_of_location(const struct cts_path_team_call *calls, size_t count)
{
    size_t run = 1;
    while (run < count && calls[run].location == calls[0].location) run++;
    return run;
}

/* How many threads make these calls, which are sorted by thread; the least and the most of one. */
static size_t count_threads(const struct cts_path_team_call *calls, size_t count, size_t *least,
                            size_t *most)
{
    size_t threads = 0;
    *least = SIZE_MAX;
    *most = 0;
    for (size_t i = 0; i < count; threads++) {
        const size_t run = run_of_location(calls + i, count - i);
        if (run < *least) *least = run;
        if (run > *most) *most = run;
        i += run;
    }
    return threads;
}

static enum cts_status add_member(const struct pairing *p, const struct cts_path_team_call *call,
                                  uint32_t order)
{
    struct cts_path_location *const at = &p->graph->locations[call->location];
    if (CTS_ARRAY_RESERVE(&at->raw->members, at->raw->members.count + 1, p->error))
        return CTS_MEMORY;
    at->raw->members.items[at->raw->members.count++] =
        (struct cts_path_member){.enter_ns = at->time_ns[call->call],
                                 .key = CTS_PATH_OF_THREADS | call->fork,
                                 .order = order,
                                 .location = call->location,
                                 .call = call->call,
                                 .done = call->call,
                                 .root = CTS_PATH_NONE,
                                 .shape = CTS_PATH_SHAPE_TEAM};
    return CTS_OK;
}

/* The first `each` calls of every thread are barriers, in their order. */
static enum cts_status pair(struct pairing *p, const struct cts_path_team_call *calls, size_t count,
                            size_t each)
{
    size_t beyond = 0;
    for (size_t i = 0; i < count;) {
        const size_t run = run_of_location(calls + i, count - i);
        for (size_t k = 0; k < run && k < each; k++)
            if (add_member(p, &calls[i + k], p->next + (uint32_t)k)) return CTS_MEMORY;
        beyond += run - each;
        i += run;
    }
    cts_path_warn(p->graph, CTS_PATH_WARNING_PART_OF_TEAM, beyond);
    p->next += (uint32_t)each;
    return CTS_OK;
}

/* One team. */
static enum cts_status pair_team(struct pairing *p)
{
    size_t left = 0, least, most; /* what is left moves to the front */
    for (size_t i = 0; i < p->call_count;) {
        struct cts_path_team_call *const calls = &p->calls[i];
        size_t count = 1;
        while (i + count < p->call_count && calls[count].region == calls->region) count++;
        i += count;
        if (count_threads(calls, count, &least, &most) == p->thread_count) {
            if (pair(p, calls, count, least)) return CTS_MEMORY;
            continue;
        }
        for (size_t k = 0; k < count; k++) p->calls[left++] = calls[k];
    }
    if (!left) return CTS_OK;
    qsort(p->calls, left, sizeof *p->calls, by_thread);
    if (count_threads(p->calls, left, &least, &most) == p->thread_count && least == most)
        return pair(p, p->calls, left, least);
    cts_path_warn(p->graph, CTS_PATH_WARNING_PART_OF_TEAM, left);
    return CTS_OK;
}

enum cts_status cts_path_pair_barriers(struct cts_path_graph *graph, struct cts_path_teams *teams,
                                       struct cts_error *error)
{
    struct cts_path_team_call *const calls = teams->calls.items;
    const struct cts_path_team_thread *const threads = teams->threads.items;
    if (!teams->calls.count) return CTS_OK;
    qsort(calls, teams->calls.count, sizeof *calls, by_region);
    qsort(teams->threads.items, teams->threads.count, sizeof *threads, by_fork);
    size_t thread = 0;
    for (size_t i = 0; i < teams->calls.count;) {
        struct pairing p = {.graph = graph, .calls = &calls[i], .error = error};
        while (i < teams->calls.count && calls[i].fork == p.calls->fork) p.call_count++, i++;
        while (threads[thread].fork < p.calls->fork) thread++;
        for (; thread < teams->threads.count && threads[thread].fork == p.calls->fork; thread++)
            p.thread_count +=
                !p.thread_count || threads[thread].location != threads[thread - 1].location;
        if (p.thread_count > 1 && pair_team(&p)) return CTS_MEMORY;
    }
    return CTS_OK;
}

void cts_path_teams_release(struct cts_path_teams *teams)
{
    free(teams->calls.items);
    free(teams->threads.items);
}
