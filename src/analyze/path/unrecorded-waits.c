/* Threads that wait for what is not recorded: a file, a socket, an atomic, a library's own lock.
 * Recordings of ctascope say how long a thread used the CPU. A thread that used it for less than
 * half of the time that its recorded waits and calls leave unexplained was *blocked*.
 *
 *      blocked    |----- nothing recorded -----------------|
 *      waits             |- runs --|b--- waits for it -----|
 *
 * Who waits for a blocked thread needs it from the begin of the wait, b. Mostly nothing says that
 * it was needed before: it may have waited for the very thread that now waits for it, as the
 * threads of a pool do. So it follows that thread at b, for the path and for projections.
 *
 *      blocked    |signal|--- reads a file ---|signal|
 *      waits          |-- runs --|b-- waits --|
 *
 * It was at work before b, and keeps its own order, where
 *   - a function of the program runs at b that it entered after its last recorded call, or
 *   - it has made recorded calls before, waits for its signals, locks and barriers begin, and in
 *     the stretches between its calls a tenth of the time or more lies behind these begins: who
 *     waits cannot have woken it then, so that something else kept it. */
#include "analyze/path/steps.h"
#include "analyze/path/raw.h"

/* Calls are their own explanation: what they wait for is recorded, or theirs. */
static bool is_call(const struct cts_path_graph *graph, uint32_t region, uint32_t function)
{
    const struct cts_path_region *const r = &graph->system->regions[region];
    if (region == function) return false;
    return r->kind != CTS_PATH_PLAIN ||
           (r->paradigm != CTS_PARADIGM_UNKNOWN && r->paradigm != CTS_PARADIGM_USER &&
            r->paradigm != CTS_PARADIGM_COMPILER);
}

static uint64_t unexplained_ns(const struct cts_path_graph *graph,
                               const struct cts_path_location *at,
                               const struct cts_path_thread_function *function)
{
    const uint32_t own = at->region[function->enter];
    uint64_t sum_ns = 0;
    for (uint32_t node = function->enter; node < function->leave; node++)
        if (!is_call(graph, cts_path_region_after(graph, at, node), own))
            sum_ns += at->time_ns[node + 1] - at->time_ns[node];
    return sum_ns;
}

static void judge(struct cts_path_graph *graph, uint32_t id)
{
    const struct cts_path_location *const at = &graph->locations[id];
    struct cts_path_blocked *const blocked = &graph->matched.blocked;
    for (size_t i = 0; i < at->raw->functions.count; i++) {
        const struct cts_path_thread_function *const function = &at->raw->functions.items[i];
        const uint64_t time_ns = unexplained_ns(graph, at, function);
        if (function->cpu_ns >= time_ns / 2) continue;
        at->raw->blocked = true;
        if (time_ns < (graph->last_ns - graph->first_ns) / 100) continue; /* not worth a note */
        if (!blocked->count++ || id < blocked->location) blocked->location = id;
        blocked->cpu_ns += function->cpu_ns;
        blocked->time_ns += time_ns;
    }
}

/* Where a wait begins for a thread that was blocked, and what lies around it between two calls. */
struct place {
    struct cts_path_location *at; /* the blocked thread; NULL: it was not, or in a call */
    uint32_t node, first, last;   /* nodes: at the begin; of the stretch without calls */
    bool has_call_before, is_named;
};

static struct place place_of(struct cts_path_graph *graph, uint32_t id,
                             const struct cts_path_wait *wait)
{
    const struct cts_path_edge *const edge = cts_path_binding(graph, id, wait);
    struct cts_path_location *const at = edge ? &graph->locations[edge->location] : NULL;
    if (!at || !at->raw || !at->raw->blocked) return (struct place){0};
    const uint32_t node = cts_path_node_at(at, wait->begin_ns);
    if (node == CTS_PATH_NONE || node + 1 >= at->count || at->active[node] == CTS_PATH_NONE)
        return (struct place){0};
    const uint32_t enter = at->raw->functions.items[0].enter, own = at->region[enter];
    if (is_call(graph, cts_path_region_after(graph, at, node), own)) return (struct place){0};
    struct place place = {at, node, node, node + 1, false, false};
    while (place.first > enter &&
           !is_call(graph, cts_path_region_after(graph, at, place.first - 1), own))
        place.first--;
    while (place.last + 1 < at->count && at->active[place.last] != CTS_PATH_NONE &&
           !is_call(graph, cts_path_region_after(graph, at, place.last), own))
        place.last++;
    place.has_call_before = place.first > enter;
    place.is_named = at->active[node] >= place.first && at->active[node] != enter;
    return place;
}

/* How much of the stretches in which waits begin lies behind their begins. */
static void weigh(struct cts_path_graph *graph, uint32_t id, const struct cts_path_wait *wait)
{
    const struct place place = place_of(graph, id, wait);
    if (!place.at || !place.has_call_before || wait->pattern == CTS_PATH_PATTERN_THREAD_JOIN)
        return;
    const uint64_t *const t = place.at->time_ns;
    place.at->raw->stretches_ns += t[place.last] - t[place.first];
    place.at->raw->awaited_ns += t[place.last] - wait->begin_ns;
}

static bool was_at_work(const struct place *place, const struct cts_path_wait *wait)
{
    if (place->is_named) return true;
    return place->has_call_before && wait->pattern != CTS_PATH_PATTERN_THREAD_JOIN &&
           place->at->raw->awaited_ns >= place->at->raw->stretches_ns / 10;
}

/* The thread at the other end of the edge follows the one that begins to wait for it. */
static enum cts_status follow(struct cts_path_graph *graph, uint32_t id,
                              const struct cts_path_wait *wait, struct cts_error *error)
{
    const struct place place = place_of(graph, id, wait);
    if (!place.at || was_at_work(&place, wait)) return CTS_OK;
    const struct cts_path_edge begin = {wait->begin_ns, id, wait->call};
    struct cts_path_location *const at = place.at;
    const uint32_t node = place.node;
    return cts_path_add_wait(at,
                             &(struct cts_path_wait){.begin_ns = wait->begin_ns,
                                                     .end_ns = wait->begin_ns,
                                                     .call = node,
                                                     .leave = node + 1,
                                                     .pattern = CTS_PATH_PATTERN_UNRECORDED},
                             &begin, 1, error);
}

static bool is_of_threads(const struct cts_path_wait *wait)
{
    return wait->begin_ns < wait->end_ns && (wait->pattern == CTS_PATH_PATTERN_THREAD_JOIN ||
                                             wait->pattern == CTS_PATH_PATTERN_THREAD_LOCK ||
                                             wait->pattern == CTS_PATH_PATTERN_THREAD_SIGNAL ||
                                             wait->pattern == CTS_PATH_PATTERN_THREAD_BARRIER);
}

enum cts_status cts_path_unrecorded_waits(struct cts_path_graph *graph, struct cts_error *error)
{
    const uint32_t count = graph->system->location_count;
    for (uint32_t id = 0; id < count; id++)
        if (graph->locations[id].raw && !graph->system->who[id].stream) judge(graph, id);
    enum cts_status status = CTS_OK;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t id = 0; id < count; id++)
            for (size_t i = 0; graph->locations[id].raw && i < graph->locations[id].waits.count;
                 i++) {
                const struct cts_path_wait wait = graph->locations[id].waits.items[i];
                if (!is_of_threads(&wait)) continue;
                if (pass == 0) weigh(graph, id, &wait);
                if (pass == 1 && !status) status = follow(graph, id, &wait, error);
            }
    return status;
}
