#include "analyze/path/whatif-run.h"

/* Leaves the list of whom it waited for. */
static void unblock(struct cts_whatif_run *run, uint32_t location)
{
    struct cts_whatif_lane *const lane = &run->lanes[location];
    if (!lane->awaited) return;
    uint32_t *link = &run->lanes[lane->awaited - 1].waiter;
    while (*link && *link != location + 1) link = &run->lanes[*link - 1].sibling;
    if (*link) *link = lane->sibling;
    lane->awaited = 0;
}

void cts_whatif_block(struct cts_whatif_run *run, uint32_t location, uint32_t source)
{
    struct cts_whatif_lane *const lane = &run->lanes[location];
    if (source == location || lane->awaited == source + 1) return; /* itself: a circle */
    unblock(run, location);
    lane->sibling = run->lanes[source].waiter;
    lane->awaited = source + 1;
    run->lanes[source].waiter = location + 1;
}

void cts_whatif_list(struct cts_whatif_run *run, uint32_t location)
{
    if (run->lanes[location].listed) return;
    run->lanes[location].listed = true;
    run->ready[run->ready_count++] = location;
}

void cts_whatif_wake(struct cts_whatif_run *run, uint32_t location)
{
    uint32_t waiter = run->lanes[location].waiter;
    run->lanes[location].waiter = 0;
    while (waiter) {
        const uint32_t next = run->lanes[waiter - 1].sibling;
        run->lanes[waiter - 1].awaited = 0;
        cts_whatif_list(run, waiter - 1);
        waiter = next;
    }
}

/* The latest source of a pool, whose edges become known one after the other. */
static bool pool_latest(struct cts_whatif_run *run, uint32_t location, uint32_t index,
                        uint64_t *latest_ns)
{
    const struct cts_path_pool *const pool = &run->graph->pools[index];
    struct cts_whatif_pool_state *const state = &run->pools[index];
    const struct cts_path_edge *const edges = run->graph->pool_edges + pool->first;
    for (; state->known < pool->count; state->known++) {
        const uint64_t time_ns = cts_whatif_source_time(run, &edges[state->known]);
        if (time_ns == CTS_WHATIF_UNSET) break;
        state->latest_ns = cts_whatif_later(state->latest_ns, time_ns);
    }
    *latest_ns = state->latest_ns;
    if (state->known == pool->count || run->force) return true;
    cts_whatif_block(run, location, edges[state->known].location);
    return false;
}

bool cts_whatif_wait_latest(struct cts_whatif_run *run, uint32_t location, uint32_t index,
                            uint64_t *latest_ns)
{
    const struct cts_path_wait *const wait = &run->graph->locations[location].waits.items[index];
    if (wait->flags & CTS_PATH_POOLED) return pool_latest(run, location, wait->first, latest_ns);
    size_t count;
    const struct cts_path_edge *const edges = cts_path_edges_of(run->graph, location, wait, &count);
    *latest_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t time_ns = cts_whatif_source_time(run, &edges[i]);
        if (time_ns != CTS_WHATIF_UNSET) {
            *latest_ns = cts_whatif_later(*latest_ns, time_ns);
        } else if (!run->force) {
            cts_whatif_block(run, location, edges[i].location);
            return false;
        }
    }
    return true;
}
