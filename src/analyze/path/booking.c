#include "analyze/path/booking.h"

#include "common/promise.h"

struct booking {
    const struct cts_path_graph *graph;
    const struct cts_path_location *at;
    unsigned __int128 *blame;
    uint32_t node; /* the last one at or before where we are; NONE */
    size_t wait;   /* the first that does not end its transfer before where we are */
    unsigned __int128
        *by_node; /* [nodes + 1]: of what begins there, last: before the first; NULL */
};

static uint32_t region_at(struct booking *b)
{
    const struct cts_path_graph *const graph = b->graph;
    return cts_path_region_after(graph, b->at, b->node);
}

/* The node at which what runs now began. */
static size_t begin_of(const struct booking *b)
{
    if (b->node == CTS_PATH_NONE) return b->at->count;
    const uint32_t active = b->at->active[b->node];
    return active == CTS_PATH_NONE ? b->node : active;
}

/* Whether the part of a call of MPI behind its wait is transfer. */
static bool is_transfer(const struct cts_path_wait *wait)
{
    return (wait->flags & (CTS_PATH_TRANSFER | CTS_PATH_OWN)) == CTS_PATH_TRANSFER &&
           wait->begin_ns < wait->end_ns;
}

/* [from, to) lies between two nodes. */
static void book_run(struct booking *b, uint64_t from_ns, uint64_t to_ns, uint64_t density)
{
    const struct cts_path_waits *const waits = &b->at->waits;
    uint64_t transfer_ns = 0;
    while (b->wait < waits->count) {
        const struct cts_path_wait *const wait = &waits->items[b->wait];
        const bool transfer = is_transfer(wait);
        if (transfer && b->at->time_ns[wait->leave] > from_ns) break;
        if (!transfer && wait->begin_ns > from_ns) break;
        b->wait++;
    }
    if (b->wait < waits->count && b->node != CTS_PATH_NONE) {
        const struct cts_path_wait *const wait = &waits->items[b->wait];
        if (is_transfer(wait) && b->at->active[b->node] == wait->call && wait->end_ns < to_ns)
            transfer_ns = to_ns - (wait->end_ns > from_ns ? wait->end_ns : from_ns);
    }
    if (b->by_node) b->by_node[begin_of(b)] += (unsigned __int128)density * (to_ns - from_ns);
    b->blame[region_at(b)] += (unsigned __int128)density * (to_ns - from_ns - transfer_ns);
    b->blame[b->graph->system->pseudo + CTS_PATH_MPI_TRANSFER] +=
        (unsigned __int128)density * transfer_ns;
}

void cts_path_book(const struct cts_path_graph *graph, const struct cts_path_location *at,
                   const struct cts_path_pieces *pieces, unsigned __int128 *blame,
                   unsigned __int128 *by_node)
{
    CTS_ASSERT_ORDER(i, pieces->count, pieces->items[i - 1].time_ns <= pieces->items[i].time_ns);
    struct booking b = {
        .graph = graph, .at = at, .blame = blame, .node = CTS_PATH_NONE, .by_node = by_node};
    for (size_t i = 0; i + 1 < pieces->count; i++) {
        const uint64_t density = pieces->items[i].density;
        uint64_t now_ns = pieces->items[i].time_ns, end_ns = pieces->items[i + 1].time_ns;
        if (!density || !cts_path_clip(graph->system, &now_ns, &end_ns)) continue;
        uint32_t next = b.node == CTS_PATH_NONE ? 0 : b.node + 1;
        if (next < at->count && at->time_ns[next] <= now_ns) { /* far behind: search */
            b.node = cts_path_node_at(at, now_ns);
            next = b.node + 1;
        }
        while (now_ns < end_ns) {
            while (next < at->count && at->time_ns[next] <= now_ns) b.node = next++;
            uint64_t until_ns = end_ns;
            if (next < at->count && at->time_ns[next] < until_ns) until_ns = at->time_ns[next];
            book_run(&b, now_ns, until_ns, density);
            now_ns = until_ns;
        }
    }
}
