/* Threads that take turns although nothing recorded says so: profilers note no hand-overs.
 * PyTorch's backward pass runs on a thread of its own while the main thread stands still in
 * backward():
 *
 *     main     ==[ backward                      ]==[ optimizer ]
 *     other         [op][op] [op]   [op][op][op]
 *               |- t                           e -|
 *
 * A thread of which nothing is recorded for a while, and then a row of operations that launch work,
 * follows the main thread if that does nothing recorded from shortly before the row to shortly
 * after it; and what the main thread does next follows the row. Shortly: 0.2 ms, or an eighth of
 * the row's own length, since Python takes that much to call backward() and to come back. */
#include "analyze/path/api.h"
#include "analyze/path/raw.h"
#include "analyze/path/steps.h"

enum { PROMPT_NS = 200000, PROMPT_PART = 8 };

struct turns {
    struct cts_path_graph *graph;
    struct cts_path_location *main, *other;
    uint32_t main_id, other_id;
    uint64_t count;
};

/* Whether anything says how the threads of a process hand over. */
static bool is_told(const struct cts_path_raw *raw)
{
    return raw->handovers.count || raw->thread_events.count || raw->teams.count ||
           raw->forks.count || raw->functions.count;
}

static bool launches_between(const struct cts_path_location *at, uint32_t first, uint32_t last)
{
    const struct cts_path_raw *const raw = at->raw;
    size_t low = 0, high = raw->ops.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (raw->ops.items[middle].leave < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < raw->ops.count && raw->ops.items[i].enter <= last; i++)
        if (raw->ops.items[i].api == CTS_PATH_API_LAUNCH ||
            raw->ops.items[i].api == CTS_PATH_API_GRAPH_LAUNCH)
            return true;
    return false;
}

static enum cts_status follow(struct cts_path_location *at, uint32_t node,
                              struct cts_path_edge before, struct cts_error *error)
{
    return cts_path_add_dependency(
        at,
        &(struct cts_path_dependency){
            .edge = before, .call = node, .pool = CTS_PATH_NONE, .pattern = CTS_PATH_PATTERN_FORK},
        error);
}

/* What the main thread does when the row has ended: the region in which it stood goes on, or its
 * next one begins. */
static enum cts_status go_on(const struct turns *t, uint32_t before, uint64_t begin_ns,
                             uint32_t last, struct cts_error *error)
{
    const struct cts_path_edge row = {t->other->time_ns[last], t->other_id, last};
    const uint32_t region = t->main->active[before];
    if (region == CTS_PATH_NONE) return follow(t->main, before + 1, row, error);
    const struct cts_path_wait wait = {.begin_ns = begin_ns,
                                       .end_ns = row.source_ns,
                                       .call = region,
                                       .leave = cts_path_leave_of(t->main, region),
                                       .pattern = CTS_PATH_PATTERN_THREAD_JOIN,
                                       .flags = CTS_PATH_HOST_HOST};
    return cts_path_add_wait(t->main, &wait, &row, 1, error);
}

/* The row from node `first` of the other thread lies between `before` and the next node of main. */
static enum cts_status take_row(struct turns *t, uint32_t before, uint32_t first, uint32_t last,
                                struct cts_error *error)
{
    const uint64_t begin_ns = t->other->time_ns[first], end_ns = t->other->time_ns[last];
    const uint64_t stood_ns = t->main->time_ns[before], goes_ns = t->main->time_ns[before + 1];
    const bool is_idle = t->other->active[last] == CTS_PATH_NONE &&
                         (!first || t->other->active[first - 1] == CTS_PATH_NONE);
    const uint32_t region = t->main->active[before];
    const uint64_t part_ns = (end_ns - begin_ns) / PROMPT_PART;
    const uint64_t prompt_ns = part_ns > PROMPT_NS ? part_ns : PROMPT_NS;
    if (!is_idle || begin_ns - stood_ns > prompt_ns || goes_ns - end_ns > prompt_ns) return CTS_OK;
    if (region != CTS_PATH_NONE &&
        t->graph->system->regions[t->main->region[region]].kind != CTS_PATH_PLAIN)
        return CTS_OK; /* it waits for something that is known */
    if (region == CTS_PATH_NONE && t->main->region[before + 1] & CTS_PATH_LEAVE) return CTS_OK;
    if (!launches_between(t->other, first, last)) return CTS_OK;
    t->count++;
    enum cts_status status =
        follow(t->other, first, (struct cts_path_edge){begin_ns, t->main_id, before}, error);
    return status ? status : go_on(t, before, begin_ns, last, error);
}

/* Each stretch in which main has no node, and what the other thread has in it. */
static enum cts_status take_turns(struct turns *t, struct cts_error *error)
{
    const struct cts_path_location *const main = t->main, *const other = t->other;
    enum cts_status status = CTS_OK;
    uint32_t before = 0;
    for (uint32_t first = 0; first < other->count && !status;) {
        while (before + 1 < main->count && main->time_ns[before + 1] <= other->time_ns[first])
            before++;
        if (before + 1 >= main->count) break;
        uint32_t last = first;
        while (last + 1 < other->count && other->time_ns[last + 1] <= main->time_ns[before + 1])
            last++;
        if (main->time_ns[before] <= other->time_ns[first] && last > first &&
            other->time_ns[last] <= main->time_ns[before + 1])
            status = take_row(t, before, first, last, error);
        first = last + 1;
    }
    return status;
}

/* Whether the other thread is idle when the main thread ends, and has events later, which nobody
 * waits for: it asks something again and again, say, or writes the profile. */
static bool outlives(const struct turns *t)
{
    const struct cts_path_location *const main = t->main, *const other = t->other;
    const struct cts_path_stretch *const stretch = t->graph->stretch;
    const uint32_t before = cts_path_node_at(other, main->time_ns[main->count - 1]);
    if (stretch && !stretch->last) return false;
    if (before == CTS_PATH_NONE) return true;
    return before + 1 < other->count && other->active[before] == CTS_PATH_NONE;
}

/* Whatever such a thread begins after it was idle comes before the main thread's next event, or
 * after its last one: its own pace does not hold up the program, however the main thread's changes.
 */
static enum cts_status follow_main(struct turns *t, struct cts_error *error)
{
    const struct cts_path_location *const main = t->main;
    enum cts_status status = CTS_OK;
    for (uint32_t node = 0; node < t->other->count && !status; node++) {
        if (node && t->other->active[node - 1] != CTS_PATH_NONE) continue;
        const uint64_t time_ns = t->other->time_ns[node];
        const uint32_t before = cts_path_node_at(main, time_ns);
        if (before == CTS_PATH_NONE) continue;
        const bool is_last = before + 1 == main->count;
        const struct cts_path_edge edge = {is_last ? time_ns : main->time_ns[before + 1],
                                           t->main_id, is_last ? before : before + 1};
        status = follow(t->other, node, edge, error);
    }
    cts_path_warn(t->graph, CTS_PATH_WARNING_OUTLIVING_THREAD, 1);
    return status;
}

static bool is_thread(const struct cts_path_graph *graph, uint32_t location)
{
    return !graph->system->who[location].stream && graph->locations[location].raw &&
           graph->locations[location].count;
}

enum cts_status cts_path_infer_turns(struct cts_path_graph *graph, uint32_t process,
                                     struct cts_error *error)
{
    const struct cts_path_system *const system = graph->system;
    const uint32_t first = system->process_first[process], end = system->process_first[process + 1];
    enum cts_status status = CTS_OK;
    if (first == end || !is_thread(graph, system->by_process[first])) return CTS_OK;
    for (uint32_t i = first; i < end; i++)
        if (is_thread(graph, system->by_process[i]) &&
            is_told(graph->locations[system->by_process[i]].raw))
            return CTS_OK;
    for (uint32_t i = first + 1; i < end && !status; i++) {
        struct turns t = {.graph = graph,
                          .main_id = system->by_process[first],
                          .other_id = system->by_process[i]};
        if (!is_thread(graph, t.other_id)) continue;
        t.main = &graph->locations[t.main_id];
        t.other = &graph->locations[t.other_id];
        status = take_turns(&t, error);
        if (!status && outlives(&t)) status = follow_main(&t, error);
        cts_path_warn(graph, CTS_PATH_WARNING_TURN_INFERRED, t.count);
    }
    return status;
}
