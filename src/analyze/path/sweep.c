/* The sweep over time. A node is a location or a pool (all who wait in one collective give what
 * they have to it, and it passes that on to those who have not come). Nodes wake at the times when
 * something changes for them: a wait begins or ends, something awaited is done, blame from
 * elsewhere changes. What changed at one time is worked off together; then shares are settled from
 * node to node, which ends since nobody waits for himself. If clocks are so far off that somebody
 * does, his blame stays with him. */
#include "analyze/path/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "common/map.h"

struct target {
    uint32_t node;
    uint64_t until_ns;
    uint64_t share;
};

struct node {
    uint64_t in;      /* from other nodes */
    uint64_t outside; /* from elsewhere */
    uint64_t next_ns; /* when it wakes */
    uint64_t landed;  /* as last written */
    struct target *targets;
    uint32_t target_count, target_capacity;
    uint32_t pool; /* of a pool's node: which; of a location that waits in one: its node */
    uint32_t next_wait, waiters;
    size_t next_piece, next_pass;
    uint32_t visits;
    bool waiting, passing, held, queued, dirty, pooled;
};

struct entry {
    uint64_t time_ns;
    uint32_t node;
};

struct state {
    const struct cts_path_sweep *sweep;
    const struct cts_path_graph *graph;
    uint32_t location_count;
    struct node *nodes;
    size_t node_count, node_capacity;
    CTS_PATH_LIST(uint32_t, free_pools);
    struct cts_map pool_nodes; /* pool + 1: node; 0: none */
    CTS_PATH_LIST(struct entry, heap);
    CTS_PATH_LIST(uint32_t, queue);
    CTS_PATH_LIST(uint32_t, dirty);
    uint64_t now_ns;
    uint64_t circles;
    struct cts_error *error;
};

/* ---- the heap of wake-up times ---- */

static bool before(const struct entry *a, const struct entry *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->node < b->node);
}

static enum cts_status wake_at(struct state *s, uint32_t node, uint64_t time_ns)
{
    s->nodes[node].next_ns = time_ns;
    if (time_ns == UINT64_MAX) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&s->heap, s->heap.count + 1, s->error)) return CTS_MEMORY;
    size_t at = s->heap.count++;
    const struct entry entry = {time_ns, node};
    for (; at && before(&entry, &s->heap.items[(at - 1) / 2]); at = (at - 1) / 2)
        s->heap.items[at] = s->heap.items[(at - 1) / 2];
    s->heap.items[at] = entry;
    return CTS_OK;
}

static struct entry take_first(struct state *s)
{
    const struct entry first = s->heap.items[0], last = s->heap.items[--s->heap.count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= s->heap.count) break;
        if (child + 1 < s->heap.count && before(&s->heap.items[child + 1], &s->heap.items[child]))
            child++;
        if (!before(&s->heap.items[child], &last)) break;
        s->heap.items[at] = s->heap.items[child];
        at = child;
    }
    if (s->heap.count) s->heap.items[at] = last;
    return first;
}

/* ---- shares ---- */

static enum cts_status queue(struct state *s, uint32_t index)
{
    struct node *const node = &s->nodes[index];
    if (!node->dirty) {
        if (CTS_ARRAY_RESERVE(&s->dirty, s->dirty.count + 1, s->error)) return CTS_MEMORY;
        s->dirty.items[s->dirty.count++] = index;
        node->dirty = true;
        node->visits = 0;
    }
    if (node->queued) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&s->queue, s->queue.count + 1, s->error)) return CTS_MEMORY;
    s->queue.items[s->queue.count++] = index;
    node->queued = true;
    return CTS_OK;
}

static enum cts_status give(struct state *s, struct target *target, uint64_t share)
{
    if (target->share == share) return CTS_OK;
    s->nodes[target->node].in += share - target->share;
    target->share = share;
    return queue(s, target->node);
}

static enum cts_status drop_target(struct state *s, struct node *node, uint32_t index)
{
    const enum cts_status status = give(s, &node->targets[index], 0);
    node->target_count--;
    memmove(&node->targets[index], &node->targets[index + 1],
            (node->target_count - index) * sizeof *node->targets);
    return status;
}

/* What a node has to give: what lands on it and what it passes on. */
static uint64_t passed(const struct state *s, const struct node *node, bool is_pool)
{
    if (!node->target_count || node->held) return 0;
    if (is_pool) return node->in;
    const uint64_t own = node->waiting ? CTS_PATH_UNIT : 0;
    return s->sweep->direct ? own : own + node->in + node->outside;
}

static enum cts_status share_out(struct state *s, uint32_t index)
{
    struct node *const node = &s->nodes[index];
    const uint64_t amount = passed(s, node, index >= s->location_count);
    const uint32_t count = node->target_count;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t share = amount / count + (i < amount % count);
        if (give(s, &node->targets[i], share)) return CTS_MEMORY;
    }
    return CTS_OK;
}

static enum cts_status settle(struct state *s)
{
    for (size_t at = 0; at < s->queue.count; at++) {
        const uint32_t index = s->queue.items[at];
        struct node *const node = &s->nodes[index];
        node->queued = false;
        if (++node->visits > s->node_count + 16 && index < s->location_count && !node->held &&
            node->target_count) {
            node->held = true; /* it waits for itself; a pool could not keep what it has */
            s->circles++;
        }
        if (share_out(s, index)) return CTS_MEMORY;
        if (at > 4096 && at * 2 > s->queue.count) { /* give back what is worked off */
            s->queue.count -= at + 1;
            memmove(s->queue.items, s->queue.items + at + 1,
                    s->queue.count * sizeof *s->queue.items);
            at = SIZE_MAX;
        }
    }
    s->queue.count = 0;
    return CTS_OK;
}

/* Writes down what lands where from now on. */
static enum cts_status write_pieces(struct state *s)
{
    for (size_t i = 0; i < s->dirty.count; i++) {
        const uint32_t index = s->dirty.items[i];
        struct node *const node = &s->nodes[index];
        node->dirty = false;
        if (index >= s->location_count) continue;
        const uint64_t all = (node->waiting ? CTS_PATH_UNIT : 0) + node->in + node->outside;
        const uint64_t landed = all - passed(s, node, false);
        if (landed == node->landed) continue;
        node->landed = landed;
        if (!cts_path_is_mine(s->graph->system,
                              s->graph->system->by_process[s->sweep->first + index]))
            continue;
        struct cts_path_pieces *const pieces = &s->sweep->landed[index];
        if (CTS_ARRAY_RESERVE(pieces, pieces->count + 1, s->error)) return CTS_MEMORY;
        pieces->items[pieces->count++] = (struct cts_path_piece){s->now_ns, landed};
    }
    s->dirty.count = 0;
    return CTS_OK;
}

/* ---- targets ---- */

static enum cts_status add_target(struct state *s, struct node *node, uint32_t to,
                                  uint64_t until_ns)
{
    /* by order, each once, with the latest of its times */
    uint32_t at = node->target_count;
    while (at > 0 && node->targets[at - 1].node > to) at--;
    if (at > 0 && node->targets[at - 1].node == to) {
        if (node->targets[at - 1].until_ns < until_ns) node->targets[at - 1].until_ns = until_ns;
        return CTS_OK;
    }
    if (node->target_count == node->target_capacity) {
        size_t capacity = node->target_capacity;
        if (cts_array_grow((void **)&node->targets, &capacity, node->target_count + 1,
                           sizeof *node->targets, s->error))
            return CTS_MEMORY;
        node->target_capacity = (uint32_t)capacity;
    }
    memmove(&node->targets[at + 1], &node->targets[at],
            (node->target_count - at) * sizeof *node->targets);
    node->targets[at] = (struct target){to, until_ns, 0};
    node->target_count++;
    return CTS_OK;
}

static enum cts_status add_edges(struct state *s, uint32_t self, const struct cts_path_edge *edges,
                                 size_t count, uint32_t index)
{
    for (size_t i = 0; i < count; i++) {
        if (edges[i].source_ns <= s->now_ns || edges[i].location == self) continue;
        const uint32_t order = s->graph->system->who[edges[i].location].order;
        if (order < s->sweep->first || order >= s->sweep->end) continue;
        if (add_target(s, &s->nodes[index], order - s->sweep->first, edges[i].source_ns))
            return CTS_MEMORY;
    }
    return CTS_OK;
}

static enum cts_status new_node(struct state *s, uint32_t *index)
{
    if (s->free_pools.count) {
        *index = s->free_pools.items[--s->free_pools.count];
        return CTS_OK;
    }
    if (s->node_count == s->node_capacity &&
        cts_array_grow((void **)&s->nodes, &s->node_capacity, s->node_count + 1, sizeof *s->nodes,
                       s->error))
        return CTS_MEMORY;
    *index = (uint32_t)s->node_count++;
    s->nodes[*index] = (struct node){.next_ns = UINT64_MAX};
    return CTS_OK;
}

static uint64_t first_until(const struct node *node)
{
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t i = 0; i < node->target_count; i++)
        if (node->targets[i].until_ns < first_ns) first_ns = node->targets[i].until_ns;
    return first_ns;
}

static enum cts_status enter_pool(struct state *s, uint32_t index, uint32_t pool)
{
    uint64_t *const slot = cts_map_at(&s->pool_nodes, pool, s->error);
    if (!slot) return CTS_MEMORY;
    if (!*slot) {
        uint32_t node;
        if (new_node(s, &node)) return CTS_MEMORY;
        *slot = node + 1ull;
        s->nodes[node].pool = pool;
        s->nodes[node].held = false;
        if (add_edges(s, CTS_PATH_NONE, s->graph->pool_edges + s->graph->pools[pool].first,
                      s->graph->pools[pool].count, node) ||
            wake_at(s, node, first_until(&s->nodes[node])))
            return CTS_MEMORY;
    }
    const uint32_t node = (uint32_t)*slot - 1;
    s->nodes[node].waiters++;
    s->nodes[index].pooled = true;
    s->nodes[index].pool = node;
    return add_target(s, &s->nodes[index], node, UINT64_MAX);
}

static enum cts_status leave_pool(struct state *s, uint32_t index)
{
    const uint32_t at = s->nodes[index].pool;
    struct node *const pool = &s->nodes[at];
    s->nodes[index].pooled = false;
    if (--pool->waiters) return CTS_OK;
    while (pool->target_count)
        if (drop_target(s, pool, pool->target_count - 1)) return CTS_MEMORY;
    pool->next_ns = UINT64_MAX;
    uint64_t *const slot = cts_map_at(&s->pool_nodes, pool->pool, s->error);
    if (!slot || CTS_ARRAY_RESERVE(&s->free_pools, s->free_pools.count + 1, s->error))
        return CTS_MEMORY;
    *slot = 0;
    s->free_pools.items[s->free_pools.count++] = at;
    return CTS_OK;
}

/* ---- what happens to a node at a time ---- */

static const struct cts_path_waits *waits_of(const struct state *s, uint32_t index)
{
    return &s->graph->locations[s->graph->system->by_process[s->sweep->first + index]].waits;
}

static void skip_waits(const struct state *s, uint32_t index)
{
    struct node *const node = &s->nodes[index];
    const struct cts_path_waits *const waits = waits_of(s, index);
    for (; node->next_wait < waits->count; node->next_wait++) {
        const struct cts_path_wait *const wait = &waits->items[node->next_wait];
        const bool hosts = wait->flags & CTS_PATH_HOST_HOST;
        /* a wait that ends where a stretch begins counts in the one before */
        if (wait->begin_ns < wait->end_ns && wait->end_ns > s->graph->first_ns &&
            (s->sweep->all || hosts == s->sweep->hosts))
            return;
    }
}

static enum cts_status begin_wait(struct state *s, uint32_t index)
{
    const struct cts_path_wait *const wait = &waits_of(s, index)->items[s->nodes[index].next_wait];
    const uint32_t location = s->graph->system->by_process[s->sweep->first + index];
    s->nodes[index].waiting = true;
    s->nodes[index].held = false;
    if (wait->flags & CTS_PATH_POOLED) return enter_pool(s, index, wait->first);
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(s->graph, location, wait, &count);
    return add_edges(s, location, edges, count, index);
}

/* Passes lie between waits; they count where waits of streams do. */
static const struct cts_path_passes *passes_of(const struct state *s, uint32_t index)
{
    static const struct cts_path_passes none;
    if (s->sweep->hosts && !s->sweep->all) return &none;
    return &s->graph->locations[s->graph->system->by_process[s->sweep->first + index]].passes;
}

static enum cts_status drop_targets(struct state *s, struct node *node)
{
    enum cts_status status = CTS_OK;
    while (node->target_count && !status) status = drop_target(s, node, node->target_count - 1);
    return status;
}

static enum cts_status change_pass(struct state *s, uint32_t index)
{
    const struct cts_path_passes *const passes = passes_of(s, index);
    struct node *const node = &s->nodes[index];
    enum cts_status status = CTS_OK;
    if (node->passing && passes->items[node->next_pass].end_ns <= s->now_ns) {
        node->passing = false;
        node->next_pass++;
        status = drop_targets(s, node);
    }
    if (status || node->passing || node->next_pass == passes->count) return status;
    const struct cts_path_pass *const pass = &passes->items[node->next_pass];
    if (pass->begin_ns > s->now_ns) return CTS_OK;
    const uint32_t order = s->graph->system->who[pass->location].order;
    node->passing = true;
    node->held = false;
    if (order < s->sweep->first || order >= s->sweep->end) return CTS_OK;
    return add_target(s, node, order - s->sweep->first, pass->end_ns);
}

static enum cts_status end_wait(struct state *s, uint32_t index)
{
    struct node *const node = &s->nodes[index];
    node->waiting = false;
    if (drop_targets(s, node)) return CTS_MEMORY;
    node->next_wait++;
    skip_waits(s, index);
    return s->nodes[index].pooled ? leave_pool(s, index) : CTS_OK;
}

static enum cts_status drop_done(struct state *s, uint32_t index)
{
    for (uint32_t i = s->nodes[index].target_count; i-- > 0;)
        if (s->nodes[index].targets[i].until_ns <= s->now_ns && drop_target(s, &s->nodes[index], i))
            return CTS_MEMORY;
    return CTS_OK;
}

static enum cts_status wake_pool(struct state *s, uint32_t index)
{
    if (drop_done(s, index) || queue(s, index)) return CTS_MEMORY;
    return wake_at(s, index, first_until(&s->nodes[index]));
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static enum cts_status schedule(struct state *s, uint32_t index)
{
    const struct node *const node = &s->nodes[index];
    const struct cts_path_waits *const waits = waits_of(s, index);
    uint64_t next_ns = UINT64_MAX;
    if (node->next_wait < waits->count) {
        const struct cts_path_wait *const wait = &waits->items[node->next_wait];
        next_ns = node->waiting ? earlier(wait->end_ns, first_until(node)) : wait->begin_ns;
    }
    const struct cts_path_passes *const passes = passes_of(s, index);
    if (node->next_pass < passes->count) {
        const struct cts_path_pass *const pass = &passes->items[node->next_pass];
        next_ns = earlier(next_ns, node->passing ? pass->end_ns : pass->begin_ns);
    }
    if (s->sweep->inflow) {
        const struct cts_path_pieces *const pieces = &s->sweep->inflow[index];
        if (node->next_piece < pieces->count)
            next_ns = earlier(next_ns, pieces->items[node->next_piece].time_ns);
    }
    return wake_at(s, index, next_ns);
}

static enum cts_status wake_location(struct state *s, uint32_t index)
{
    const struct cts_path_waits *const waits = waits_of(s, index);
    if (s->sweep->inflow) {
        const struct cts_path_pieces *const pieces = &s->sweep->inflow[index];
        struct node *const node = &s->nodes[index];
        while (node->next_piece < pieces->count &&
               pieces->items[node->next_piece].time_ns <= s->now_ns)
            node->outside = pieces->items[node->next_piece++].density;
    }
    if (s->nodes[index].waiting && waits->items[s->nodes[index].next_wait].end_ns <= s->now_ns &&
        end_wait(s, index))
        return CTS_MEMORY;
    if (!s->nodes[index].waiting && change_pass(s, index)) return CTS_MEMORY;
    if (!s->nodes[index].waiting && s->nodes[index].next_wait < waits->count &&
        waits->items[s->nodes[index].next_wait].begin_ns <= s->now_ns && begin_wait(s, index))
        return CTS_MEMORY;
    if (s->nodes[index].waiting && drop_done(s, index)) return CTS_MEMORY;
    if (queue(s, index)) return CTS_MEMORY;
    return schedule(s, index);
}

static enum cts_status run(struct state *s)
{
    while (s->heap.count) {
        s->now_ns = s->heap.items[0].time_ns;
        while (s->heap.count && s->heap.items[0].time_ns == s->now_ns) {
            const struct entry entry = take_first(s);
            if (s->nodes[entry.node].next_ns != entry.time_ns) continue; /* out of date */
            s->nodes[entry.node].next_ns = UINT64_MAX;
            if (entry.node < s->location_count ? wake_location(s, entry.node)
                                               : wake_pool(s, entry.node))
                return CTS_MEMORY;
        }
        if (settle(s) || write_pieces(s)) return CTS_MEMORY;
    }
    return CTS_OK;
}

enum cts_status cts_path_sweep(struct cts_path_sweep *sweep, struct cts_error *error)
{
    struct state s = {.sweep = sweep, .graph = sweep->graph, .error = error};
    s.location_count = sweep->end - sweep->first;
    s.node_count = s.location_count;
    s.node_capacity = s.node_count ? s.node_count : 1;
    s.nodes = cts_array_zeroed(s.node_capacity, sizeof *s.nodes, error);
    enum cts_status status = s.nodes ? CTS_OK : CTS_MEMORY;
    for (uint32_t i = 0; i < s.location_count && !status; i++) {
        skip_waits(&s, i);
        status = schedule(&s, i);
    }
    if (!status) status = run(&s);
    /* waits of hosts for hosts are seen by all processes: one counts them */
    const struct cts_processes *const processes = sweep->graph->system->processes;
    if (!sweep->hosts || !processes || processes->rank == 0) sweep->circles = s.circles;
    for (size_t i = 0; i < s.node_count && s.nodes; i++) free(s.nodes[i].targets);
    free(s.nodes);
    free(s.free_pools.items);
    free(s.heap.items);
    free(s.queue.items);
    free(s.dirty.items);
    cts_map_release(&s.pool_nodes);
    return status;
}
