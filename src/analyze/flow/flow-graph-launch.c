/* A launch of a graph: its nodes follow each other as its edges say, all of them follow what the
 * stream had, and the graph's last launch. */
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-clocks.h"
#include "common/array.h"

struct graph_launch {
    const struct cts_flow_graph *graph;
    const struct cts_stream_clock *stream;
    size_t first; /* of its steps */
    uint32_t thread;
    uint32_t *ends; /* the clock behind each node */
    uint32_t *end;  /* the clock behind all of them */
};

/* Fills the clocks behind the nodes. */
static enum cts_status run_graph(struct cts_flow_clocks *clocks, const struct graph_launch *launch)
{
    const struct cts_flow_graph *const graph = launch->graph;
    const struct cts_stream_clock *const stream = launch->stream;
    const uint64_t launch_op = clocks->rows.steps[launch->first].launch_op;
    const uint32_t first_chain = cts_flow_branches_of(clocks, stream)->first;
    size_t step = launch->first;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        uint32_t *const clock = launch->ends + (size_t)n * clocks->streams.width;
        memcpy(clock, stream->clock, clocks->streams.width * sizeof *clock);
        for (uint32_t e = graph->edge_begin[n]; e < graph->edge_begin[n + 1]; e++)
            cts_flow_join(clocks, clock,
                          launch->ends + (size_t)graph->after[e] * clocks->streams.width);
        for (; step < clocks->rows.step_count && clocks->rows.steps[step].launch_op == launch_op &&
               clocks->rows.steps[step].node == n;
             step++) {
            const struct cts_flow_work work =
                cts_flow_work_at(&clocks->rows, clocks->rows.steps[step].op);
            if (work.kind == CTS_FLOW_WORK_NONE) continue; /* a copy that never ended has no row */
            const struct cts_flow_seat seat = {launch->thread, first_chain + graph->branch[n],
                                               clock};
            const enum cts_status status = cts_flow_add_work(clocks, &work, &seat);
            if (status) return status;
        }
        cts_flow_join(clocks, launch->end, clock);
    }
    return CTS_OK;
}

enum cts_status cts_flow_launch_graph(struct cts_flow_clocks *clocks, size_t first, uint32_t thread)
{
    struct cts_stream_clock *stream = NULL;
    for (size_t i = first; i < clocks->rows.step_count && !stream; i++)
        if (clocks->rows.steps[i].launch_op == clocks->rows.steps[first].launch_op)
            stream = cts_stream_clocks_find(
                &clocks->streams, cts_flow_work_at(&clocks->rows, clocks->rows.steps[i].op).stream);
    if (!stream) return CTS_OK;
    cts_flow_begin_work(clocks, stream, thread);
    const struct cts_flow_graph *const graph =
        cts_flow_graph_find(&clocks->graphs, clocks->rows.steps[first].graph);
    if (cts_flow_branches_of(clocks, stream)->count < graph->branch_count)
        return cts_fail(clocks->error, CTS_FORMAT,
                        "table 'graph_nodes': op %llu belongs to several graphs",
                        (unsigned long long)clocks->rows.steps[first].op);
    uint32_t **const before = &clocks->graph_ends[graph - clocks->graphs.items];
    if (*before) cts_flow_join(clocks, stream->clock, *before);
    if (!*before && !(*before = cts_flow_new_clock(clocks))) return CTS_MEMORY;
    const struct graph_launch launch = {
        .graph = graph,
        .stream = stream,
        .first = first,
        .thread = thread,
        .ends = cts_array_zeroed((size_t)graph->node_count * clocks->streams.width,
                                 sizeof *launch.ends, clocks->error),
        .end = cts_flow_new_clock(clocks)};
    enum cts_status status = launch.ends && launch.end ? CTS_OK : CTS_MEMORY;
    if (!status) status = run_graph(clocks, &launch);
    if (!status) cts_flow_join(clocks, stream->clock, launch.end);
    if (!status) memcpy(*before, stream->clock, clocks->streams.width * sizeof *launch.end);
    free(launch.ends);
    free(launch.end);
    return status;
}
