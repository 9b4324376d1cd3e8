/* Host functions (cudaLaunchHostFunc): a stream shows when each ran, a thread of the driver what it
 * did, and no record says which thread it was.
 *
 *      stream   kernel | host function            | kernel
 *      thread             |- work -| |- more -|
 *
 * A thread that does nothing recorded outside host functions of its process's streams is one that
 * runs them. Its first event in each follows the stream, and the stream follows its last one. Of
 * several functions at the same time it is the one that began last. */
#include <stdlib.h>

#include "analyze/path/offer.h"
#include "analyze/path/raw.h"
#include "analyze/path/steps.h"
#include "common/search.h"

struct function {
    uint64_t begin_ns, end_ns;
    uint32_t stream, activity;
};

struct functions { /* of one process, by begin */
    struct function *items;
    size_t count, capacity;
};

static int by_begin(const void *left, const void *right)
{
    const struct function *const a = left, *const b = right;
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns ? -1 : 1;
    return (a->stream > b->stream) - (a->stream < b->stream);
}

static enum cts_status gather(const struct cts_path_graph *graph, uint32_t stream,
                              struct functions *functions, struct cts_error *error)
{
    const struct cts_path_location *const at = &graph->locations[stream];
    for (uint32_t i = 0; i < at->activities.count; i++) {
        const struct cts_path_activity *const activity = &at->activities.items[i];
        const uint32_t region = at->region[activity->begin] & ~CTS_PATH_LEAVE;
        if (!graph->system->regions[region].is_function) continue;
        if (CTS_ARRAY_RESERVE(functions, functions->count + 1, error)) return CTS_MEMORY;
        functions->items[functions->count++] =
            (struct function){at->time_ns[activity->begin], at->time_ns[activity->end], stream, i};
    }
    return CTS_OK;
}

/* The function that holds a time of a thread; NULL: none does. */
static const struct function *function_at(const struct functions *functions, uint64_t begin_ns,
                                          uint64_t end_ns)
{
    enum { LOOK_BACK = 64 }; /* functions at the same time */
    size_t index = CTS_SEARCH(functions->count, i, functions->items[i].begin_ns <= begin_ns);
    for (size_t back = 0; back < LOOK_BACK && index > 0; back++)
        if (functions->items[--index].end_ns >= end_ns) return &functions->items[index];
    return NULL;
}

/* The next node at which a thread enters something outside all else; its count: there is none. */
static uint32_t next_outermost(const struct cts_path_location *at, uint32_t node)
{
    while (node < at->count && (at->region[node] & CTS_PATH_LEAVE ||
                                (node > 0 && at->active[node - 1] != CTS_PATH_NONE)))
        node++;
    return node < at->count ? node : (uint32_t)at->count;
}

static bool runs_functions_only(const struct cts_path_location *at,
                                const struct functions *functions)
{
    if (!at->count || at->raw->functions.count) return false; /* a thread of the program's own */
    uint32_t node = next_outermost(at, 0);
    while (node < at->count) {
        const uint32_t leave = cts_path_leave_of(at, node);
        if (!function_at(functions, at->time_ns[node], at->time_ns[leave])) return false;
        node = next_outermost(at, leave);
    }
    return true;
}

struct part { /* of a thread's events: [first, last], in a function; NULL: none */
    const struct function *function;
    uint32_t first, last;
};

static enum cts_status order(struct cts_path_graph *graph, uint32_t thread, const struct part *part,
                             struct cts_error *error)
{
    if (!part->function) return CTS_OK;
    const struct function *const function = part->function;
    struct cts_path_location *const at = &graph->locations[function->stream];
    const uint64_t *const times = graph->locations[thread].time_ns;
    const struct cts_path_sequel sequel = {
        .graph = graph,
        .location = thread,
        .node = part->first,
        .before = {function->begin_ns, function->stream,
                   at->activities.items[function->activity].begin},
        .kind = CTS_PATH_SEQUEL_BEGINS};
    const struct cts_path_function done = {.at = at,
                                           .activity = function->activity,
                                           .from_ns = times[part->first],
                                           .done = {times[part->last], thread, part->last}};
    const enum cts_status status = CTS_PATH_OFFER(sequel, &sequel, error);
    return status ? status : CTS_PATH_OFFER(function, &done, error);
}

static enum cts_status follow(struct cts_path_graph *graph, uint32_t thread,
                              const struct functions *functions, struct cts_error *error)
{
    const struct cts_path_location *const at = &graph->locations[thread];
    struct part part = {0};
    enum cts_status status = CTS_OK;
    for (uint32_t node = next_outermost(at, 0); node < at->count && !status;
         node = next_outermost(at, part.last)) {
        const uint32_t leave = cts_path_leave_of(at, node);
        const struct function *const here =
            function_at(functions, at->time_ns[node], at->time_ns[leave]);
        if (here != part.function) {
            status = order(graph, thread, &part, error);
            part = (struct part){here, node, leave};
        }
        part.last = leave;
    }
    return status ? status : order(graph, thread, &part, error);
}

enum cts_status cts_path_stream_functions(struct cts_path_graph *graph, uint32_t process,
                                          struct cts_error *error)
{
    const struct cts_path_system *const system = graph->system;
    const uint32_t first = system->process_first[process], end = system->process_first[process + 1];
    struct functions functions = {0};
    enum cts_status status = CTS_OK;
    for (uint32_t p = first; p < end && !status; p++)
        if (system->who[system->by_process[p]].stream)
            status = gather(graph, system->by_process[p], &functions, error);
    if (functions.count) qsort(functions.items, functions.count, sizeof *functions.items, by_begin);
    for (uint32_t p = first + 1; p < end && functions.count && !status; p++) {
        const uint32_t id = system->by_process[p];
        const struct cts_path_location *const at = &graph->locations[id];
        if (!system->who[id].stream && at->raw && runs_functions_only(at, &functions))
            status = follow(graph, id, &functions, error);
    }
    free(functions.items);
    return status;
}
