/* Waits of host threads for each other; and, for all locations, the order of waits, and where the
 * path leaves. A location waits for one thing at a time: of nested calls the outer one counts, and
 * an inner one only after it. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/offer.h"
#include "analyze/path/steps.h"

/* ---- dependencies to waits ---- */

static int by_call(const void *left, const void *right)
{
    const struct cts_path_dependency *const a = left, *const b = right;
    if (a->call != b->call) return a->call < b->call ? -1 : 1;
    if (a->pool != b->pool) return a->pool < b->pool ? -1 : 1;
    if (a->edge.location != b->edge.location) return a->edge.location < b->edge.location ? -1 : 1;
    return (a->edge.source_ns > b->edge.source_ns) - (a->edge.source_ns < b->edge.source_ns);
}

static void sort_dependencies(struct cts_path_raw *raw)
{
    struct cts_path_dependency *const items = raw->dependencies.items;
    for (size_t i = 1; i < raw->dependencies.count; i++)
        if (by_call(&items[i - 1], &items[i]) > 0) {
            qsort(items, raw->dependencies.count, sizeof *items, by_call);
            return;
        }
}

struct call {
    struct cts_path_graph *graph;
    struct cts_path_location *at;
    const struct cts_path_dependency *items;
    size_t count;
    uint64_t enter_ns, leave_ns;
    uint32_t leave;
    CTS_PATH_LIST(struct cts_path_edge, edges);
};

static bool counts(const struct call *call, const struct cts_path_dependency *dependency)
{
    const uint64_t source_ns = dependency->edge.source_ns;
    if (dependency->within) return source_ns > call->enter_ns && source_ns < call->leave_ns;
    return !dependency->stayed || source_ns <= call->leave_ns;
}

static enum cts_status append_edges(struct call *call, const struct cts_path_edge *edges,
                                    size_t count, struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(&call->edges, call->edges.count + count, error)) return CTS_MEMORY;
    if (count) memcpy(call->edges.items + call->edges.count, edges, count * sizeof *edges);
    call->edges.count += count;
    return CTS_OK;
}

/* The wait of one call, of all that it depends on. */
static enum cts_status add_call(struct call *call, struct cts_error *error)
{
    const struct cts_path_graph *const graph = call->graph;
    const struct cts_path_dependency *last = NULL;
    size_t valid = 0;
    bool transfer = false; /* one of several that may lead to another process is enough */
    call->edges.count = 0;
    for (size_t i = 0; i < call->count; i++) {
        if (!counts(call, &call->items[i])) continue;
        valid++;
        transfer |= cts_path_rules[call->items[i].pattern]->transfer;
        if (!last || call->items[i].edge.source_ns > last->edge.source_ns) last = &call->items[i];
    }
    if (!last) return CTS_OK;
    const uint64_t source_ns = last->edge.source_ns;
    struct cts_path_wait wait = {.begin_ns = call->enter_ns,
                                 .end_ns = call->enter_ns,
                                 .call = call->items[0].call,
                                 .leave = call->leave,
                                 .pattern = last->pattern,
                                 .flags = CTS_PATH_HOST_HOST};
    if (transfer) wait.flags |= CTS_PATH_TRANSFER;
    if (cts_path_rules[last->pattern]->own) wait.flags |= CTS_PATH_OWN;
    if (source_ns > call->enter_ns)
        wait.end_ns = source_ns < call->leave_ns ? source_ns : call->leave_ns;
    if (source_ns > call->leave_ns && transfer)
        wait.flags |= CTS_PATH_NO_JUMP; /* it cannot have been that */
    if (source_ns > call->leave_ns)
        cts_path_warn(call->graph,
                      last->pool == CTS_PATH_NONE ? CTS_PATH_WARNING_EARLY_RECEIVE
                                                  : CTS_PATH_WARNING_EARLY_LEAVE,
                      1);
    if (valid == 1 && last->pool != CTS_PATH_NONE) {
        wait.flags |= CTS_PATH_POOLED;
        wait.first = last->pool;
        return cts_path_add_wait(call->at, &wait, NULL, 0, error);
    }
    for (size_t i = 0; i < call->count; i++) {
        const struct cts_path_dependency *const item = &call->items[i];
        if (!counts(call, item)) continue;
        const struct cts_path_pool *const pool =
            item->pool == CTS_PATH_NONE ? NULL : &graph->pools[item->pool];
        if (append_edges(call, pool ? graph->pool_edges + pool->first : &item->edge,
                         pool ? pool->count : 1, error))
            return CTS_MEMORY;
    }
    return cts_path_add_wait(call->at, &wait, call->edges.items, call->edges.count, error);
}

enum cts_status cts_path_host_waits(struct cts_path_graph *graph, uint32_t location,
                                    struct cts_error *error)
{
    struct call call = {.graph = graph, .at = &graph->locations[location]};
    struct cts_path_raw *const raw = call.at->raw;
    sort_dependencies(raw);
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < raw->dependencies.count && !status; i += call.count) {
        call.items = &raw->dependencies.items[i];
        call.count = 1;
        while (i + call.count < raw->dependencies.count &&
               call.items[call.count].call == call.items[0].call)
            call.count++;
        if (call.items[0].call == CTS_PATH_NONE) break; /* never completed; they sort last */
        call.leave = cts_path_leave_of(call.at, call.items[0].call);
        call.enter_ns = call.at->time_ns[call.items[0].call];
        call.leave_ns = call.at->time_ns[call.leave];
        status = add_call(&call, error);
    }
    free(call.edges.items);
    free(raw->dependencies.items);
    raw->dependencies.items = NULL;
    raw->dependencies.count = raw->dependencies.capacity = 0;
    return status;
}

/* ---- order ---- */

static int by_begin(const void *left, const void *right)
{
    const struct cts_path_wait *const a = left, *const b = right;
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->call != b->call) return a->call < b->call ? -1 : 1;
    if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static void sort_waits(struct cts_path_waits *waits)
{
    for (size_t i = 1; i < waits->count; i++)
        if (by_begin(&waits->items[i - 1], &waits->items[i]) > 0) {
            qsort(waits->items, waits->count, sizeof *waits->items, by_begin);
            return;
        }
}

static void make_disjoint(struct cts_path_waits *waits)
{
    uint64_t end_ns = 0;
    for (size_t i = 0; i < waits->count; i++) {
        struct cts_path_wait *const wait = &waits->items[i];
        if (wait->begin_ns >= wait->end_ns) continue;
        if (wait->begin_ns < end_ns) wait->begin_ns = end_ns < wait->end_ns ? end_ns : wait->end_ns;
        if (wait->begin_ns < wait->end_ns) end_ns = wait->end_ns;
    }
}

static enum cts_status add_jump(struct cts_path_location *at, uint32_t node, uint32_t index,
                                struct cts_error *error)
{
    if (CTS_ARRAY_RESERVE(&at->jumps, at->jumps.count + 1, error)) return CTS_MEMORY;
    at->jumps.items[at->jumps.count++] = (struct cts_path_jump){node, index};
    return CTS_OK;
}

/* By where the path leaves: of a kernel, at its begin before where it has met those of others. */
static int by_node(const void *left, const void *right)
{
    const struct cts_path_jump *const a = left, *const b = right;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    const uint32_t a_turn = a->index ^ CTS_PATH_LAUNCH, b_turn = b->index ^ CTS_PATH_LAUNCH;
    return (a_turn > b_turn) - (a_turn < b_turn);
}

static enum cts_status wait_jumps(const struct cts_path_graph *graph, uint32_t location,
                                  struct cts_error *error)
{
    struct cts_path_location *const at = &graph->locations[location];
    for (size_t i = 0; i < at->waits.count; i++) {
        struct cts_path_wait *const wait = &at->waits.items[i];
        if (wait->flags & CTS_PATH_NO_JUMP) continue;
        if (wait->begin_ns == wait->end_ns && !cts_path_rules[wait->pattern]->orders) continue;
        if (!cts_path_binding(graph, location, wait)) { /* for nobody but itself */
            wait->flags |= CTS_PATH_NO_JUMP;
            continue;
        }
        const uint32_t node = wait->flags & CTS_PATH_TRANSFER ? wait->leave : wait->call;
        if (add_jump(at, node, (uint32_t)i, error)) return CTS_MEMORY;
    }
    return CTS_OK;
}

/* Whether a wait before the begin of an activity has a jump there. */
static bool is_held(const struct cts_path_location *at, size_t jump, size_t jump_count,
                    uint32_t begin)
{
    for (; jump < jump_count && at->jumps.items[jump].node == begin; jump++)
        if (at->waits.items[at->jumps.items[jump].index].flags & CTS_PATH_AT_CALL) return true;
    return false;
}

/* A device activity that followed its launch and nothing later. */
static enum cts_status launch_jumps(struct cts_path_location *at, struct cts_error *error)
{
    size_t next = 0;
    const size_t wait_jump_count = at->jumps.count;
    uint64_t previous_ns = 0;
    for (size_t i = 0; i < at->activities.count; i++) {
        const struct cts_path_activity *const activity = &at->activities.items[i];
        while (next < wait_jump_count && at->jumps.items[next].node < activity->begin) next++;
        const bool held = is_held(at, next, wait_jump_count, activity->begin);
        if (!held && activity->host != CTS_PATH_NONE &&
            (i == 0 || activity->launched_ns > previous_ns) &&
            add_jump(at, activity->begin, (uint32_t)i | CTS_PATH_LAUNCH, error))
            return CTS_MEMORY;
        if (at->time_ns[activity->end] > previous_ns) previous_ns = at->time_ns[activity->end];
    }
    return CTS_OK;
}

static void sort_jumps(struct cts_path_jumps *jumps)
{
    for (size_t i = 1; i < jumps->count; i++)
        if (by_node(&jumps->items[i - 1], &jumps->items[i]) > 0) {
            qsort(jumps->items, jumps->count, sizeof *jumps->items, by_node);
            return;
        }
}

/* ---- passes ---- */

static enum cts_status add_pass(struct cts_path_location *at, struct cts_path_pass pass,
                                struct cts_error *error)
{
    struct cts_path_passes *const list = &at->passes;
    if (pass.begin_ns >= pass.end_ns) return CTS_OK;
    if (list->count && list->items[list->count - 1].end_ns == pass.begin_ns &&
        list->items[list->count - 1].location == pass.location) {
        list->items[list->count - 1].end_ns = pass.end_ns;
        return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(list, list->count + 1, error)) return CTS_MEMORY;
    list->items[list->count++] = pass;
    return CTS_OK;
}

/* To the thread that launches; while nothing is recorded of that, to its process's first one. */
static enum cts_status pass_to(const struct cts_path_graph *graph, struct cts_path_location *at,
                               struct cts_path_pass pass, struct cts_error *error)
{
    const struct cts_path_location *const thread = &graph->locations[pass.location];
    const uint32_t home = cts_path_home(graph->system, pass.location);
    const bool has_home = home != pass.location && !graph->system->who[home].stream;
    uint32_t node = cts_path_node_at(thread, pass.begin_ns);
    enum cts_status status = CTS_OK;
    for (uint64_t from_ns = pass.begin_ns; from_ns < pass.end_ns && !status;) {
        const uint32_t next = node == CTS_PATH_NONE ? 0 : node + 1;
        const bool is_idle = node == CTS_PATH_NONE || thread->active[node] == CTS_PATH_NONE;
        struct cts_path_pass part = {from_ns, pass.end_ns,
                                     is_idle && has_home ? home : pass.location};
        if (next < thread->count && thread->time_ns[next] < part.end_ns)
            part.end_ns = thread->time_ns[next];
        status = add_pass(at, part, error);
        from_ns = part.end_ns;
        node = next;
    }
    return status;
}

/* From the end of the work before a kernel of a collective to its launch, without waits. */
static enum cts_status find_passes(const struct cts_path_graph *graph, struct cts_path_location *at,
                                   struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    size_t next = 0, first = 0; /* activity; wait that may still matter */
    uint64_t done_ns = 0;
    for (size_t i = 0; i < at->waits.count && !status; i++) {
        if (at->waits.items[i].pattern != CTS_PATH_PATTERN_NCCL_WAIT) continue;
        const uint32_t begin = at->waits.items[i].call;
        for (; next < at->activities.count && at->activities.items[next].begin < begin; next++)
            if (at->time_ns[at->activities.items[next].end] > done_ns)
                done_ns = at->time_ns[at->activities.items[next].end];
        if (next == at->activities.count || at->activities.items[next].host == CTS_PATH_NONE)
            continue;
        const struct cts_path_activity *const kernel = &at->activities.items[next];
        uint64_t from_ns = done_ns;
        for (; first < at->waits.count && at->waits.items[first].begin_ns < kernel->launched_ns &&
               !status;
             first++) {
            const struct cts_path_wait *const wait = &at->waits.items[first];
            if (wait->begin_ns >= wait->end_ns || wait->end_ns <= from_ns) continue;
            status = pass_to(graph, at,
                             (struct cts_path_pass){from_ns, wait->begin_ns, kernel->host}, error);
            from_ns = wait->end_ns;
        }
        if (!status)
            status =
                pass_to(graph, at,
                        (struct cts_path_pass){from_ns, kernel->launched_ns, kernel->host}, error);
    }
    return status;
}

enum cts_status cts_path_settle(struct cts_path_graph *graph, uint32_t location,
                                struct cts_error *error)
{
    struct cts_path_location *const at = &graph->locations[location];
    sort_waits(&at->waits);
    make_disjoint(&at->waits);
    enum cts_status status = find_passes(graph, at, error);
    if (!status) status = wait_jumps(graph, location, error);
    if (status) return status;
    sort_jumps(&at->jumps);
    if (at->who->stream) status = launch_jumps(at, error);
    sort_jumps(&at->jumps);
    return status;
}

/* ---- what others need ---- */

struct wire_wait {
    struct cts_path_wait wait;
    uint32_t location, edge_count;
};

/* Lays out the waits of hosts for hosts of this process, and their edges. */
static enum cts_status pack(const struct cts_path_graph *graph, struct wire_wait **waits,
                            size_t *wait_count, struct cts_path_edges *edges,
                            struct cts_error *error)
{
    size_t capacity = 0;
    for (uint32_t l = 0; l < graph->system->location_count; l++) {
        const struct cts_path_location *const at = &graph->locations[l];
        for (size_t i = 0; i < at->waits.count; i++) {
            const struct cts_path_wait *const wait = &at->waits.items[i];
            if (!(wait->flags & CTS_PATH_HOST_HOST) || wait->begin_ns == wait->end_ns) continue;
            const bool pooled = wait->flags & CTS_PATH_POOLED;
            if (*wait_count == capacity &&
                cts_array_grow((void **)waits, &capacity, *wait_count + 1, sizeof **waits, error))
                return CTS_MEMORY;
            if (!pooled && wait->count) {
                if (CTS_ARRAY_RESERVE(edges, edges->count + wait->count, error)) return CTS_MEMORY;
                memcpy(edges->items + edges->count, at->edges.items + wait->first,
                       wait->count * sizeof *edges->items);
                edges->count += wait->count;
            }
            (*waits)[(*wait_count)++] =
                (struct wire_wait){*wait, l, pooled ? 0 : (uint32_t)wait->count};
        }
    }
    return CTS_OK;
}

static enum cts_status unpack(struct cts_path_graph *graph, const struct wire_wait *waits,
                              size_t wait_count, const struct cts_path_edge *edges,
                              struct cts_error *error)
{
    for (size_t i = 0; i < wait_count; i++) {
        const uint32_t location = waits[i].location;
        if (!cts_path_is_mine(graph->system, location) &&
            cts_path_add_wait(&graph->locations[location], &waits[i].wait, edges,
                              waits[i].edge_count, error))
            return CTS_MEMORY;
        edges += waits[i].edge_count;
    }
    return CTS_OK;
}

enum cts_status cts_path_share_waits(struct cts_path_graph *graph, struct cts_error *error)
{
    if (!graph->system->processes || graph->system->processes->count < 2) return CTS_OK;
    struct wire_wait *waits = NULL;
    size_t wait_count = 0, *wait_offsets = NULL, *edge_offsets = NULL;
    struct cts_path_edges edges = {0};
    void *all_waits = NULL, *all_edges = NULL;
    enum cts_status status = pack(graph, &waits, &wait_count, &edges, error);
    if (!status)
        status = cts_processes_all_gather(
            graph->system->processes, (struct cts_sent_block){waits, wait_count * sizeof *waits},
            &all_waits, &wait_offsets, error);
    if (!status)
        status = cts_processes_all_gather(
            graph->system->processes,
            (struct cts_sent_block){edges.items, edges.count * sizeof *edges.items}, &all_edges,
            &edge_offsets, error);
    const unsigned total = graph->system->processes->count;
    if (!status)
        status = unpack(graph, all_waits, wait_offsets[total] / sizeof *waits, all_edges, error);
    free(waits);
    free(edges.items);
    free(all_waits);
    free(all_edges);
    free(wait_offsets);
    free(edge_offsets);
    return status;
}
