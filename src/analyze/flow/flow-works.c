/* Launches, copies and host functions in streams. */
#include "analyze/flow/flow-clocks.h"

static struct cts_flow_node launch_node(const struct cts_flow_clocks *clocks, size_t index)
{
    const struct cts_launch *const row = &clocks->rows.catalogue->launches[index];
    return (struct cts_flow_node){
        .kind = CTS_FLOW_LAUNCH, .index = index, .op = row->op, .stream = row->stream};
}

static struct cts_flow_node copy_node(const struct cts_flow_clocks *clocks, size_t index)
{
    const struct cts_copy *const row = &clocks->rows.catalogue->copies[index];
    const bool is_memset = cts_flow_is_kind(row, "memset");
    const bool is_upload = cts_flow_is_kind(row, "HtoD");
    return (struct cts_flow_node){.kind = is_memset ? CTS_FLOW_MEMSET : CTS_FLOW_COPY,
                                  .index = index,
                                  .op = row->op,
                                  .stream = row->stream,
                                  .is_staged =
                                      is_upload && !cts_flow_is_step(&clocks->rows, row->op) &&
                                      !cts_flow_is_pinned(&clocks->rows, row->source, row->op)};
}

/* The CPU loads or stores of a host function, all at its place. */
static enum cts_status add_accesses(struct cts_flow_clocks *clocks, size_t index, bool stores,
                                    uint32_t chain, uint32_t *clock)
{
    const struct cts_catalogue *const c = clocks->rows.catalogue;
    const struct cts_host_function *const row = &c->host_functions[index];
    enum cts_status status = CTS_OK;
    for (size_t i = cts_flow_first_access(&clocks->rows, index);
         cts_flow_is_access_within(&clocks->rows, i, index) && !status; i++) {
        if (clocks->rows.function_of[i] != index || c->host_accesses[i].is_store != stores)
            continue;
        const struct cts_flow_node node = {.kind =
                                               stores ? CTS_FLOW_HOST_STORE : CTS_FLOW_HOST_LOAD,
                                           .is_in_stream = true,
                                           .index = i,
                                           .op = row->op,
                                           .thread = row->thread,
                                           .stream = row->stream,
                                           .chain = chain};
        status = cts_flow_add_node(clocks, &node, clock);
    }
    return status;
}

static enum cts_status add_function(struct cts_flow_clocks *clocks, size_t index, uint32_t chain,
                                    uint32_t *clock)
{
    const struct cts_host_function *const row = &clocks->rows.catalogue->host_functions[index];
    enum cts_status status = add_accesses(clocks, index, false, chain, clock);
    if (!status) status = add_accesses(clocks, index, true, chain, clock);
    if (status) return status;
    cts_flow_pass(clocks, chain, clock);
    const uint32_t end = row->end_op < UINT32_MAX ? (uint32_t)row->end_op : UINT32_MAX;
    if (clock[clocks->chain_count] < end) clock[clocks->chain_count] = end;
    if (!cts_flow_at_least(clocks, CTS_FLOW_SIGNALS)) return CTS_OK;
    if (!clocks->function_ends[index]) clocks->function_ends[index] = cts_flow_new_clock(clocks);
    if (!clocks->function_ends[index]) return CTS_MEMORY;
    cts_flow_join(clocks, clocks->function_ends[index], clock);
    return CTS_OK;
}

enum cts_status cts_flow_add_work(struct cts_flow_clocks *clocks, const struct cts_flow_work *work,
                                  const struct cts_flow_seat *seat)
{
    if (work->kind == CTS_FLOW_WORK_FUNCTION)
        return add_function(clocks, work->index, seat->chain, seat->clock);
    const bool is_launch = work->kind == CTS_FLOW_WORK_LAUNCH;
    struct cts_flow_node node =
        is_launch ? launch_node(clocks, work->index) : copy_node(clocks, work->index);
    node.is_in_stream = true;
    node.thread = clocks->rows.threads[seat->thread];
    node.chain = seat->chain;
    enum cts_status status = cts_flow_keep_thread_clock(clocks, seat->thread, &node.host_clock);
    if (!status) status = cts_flow_add_node(clocks, &node, seat->clock);
    if (status) return status;
    cts_flow_pass(clocks, seat->chain, seat->clock);
    if (cts_flow_at_least(clocks, CTS_FLOW_SIGNALS) && is_launch && clocks->options->tells_host &&
        clocks->options->tells_host[work->index])
        cts_flow_join(clocks, clocks->shared, seat->clock);
    return CTS_OK;
}

/* What the thread knows when a copy's or memset's call returns. */
static void return_from_copy(struct cts_flow_clocks *clocks, const struct cts_copy *copy,
                             uint32_t thread, const uint32_t *clock)
{
    const bool is_async = cts_flow_is_asynchronous(&clocks->rows, copy);
    bool waits;
    if (cts_flow_is_kind(copy, "HtoH"))
        waits = true;
    else if (cts_flow_is_kind(copy, "HtoD"))
        waits = !is_async;
    else if (cts_flow_is_kind(copy, "DtoH"))
        waits = !is_async || (cts_flow_at_least(clocks, CTS_FLOW_CALLS) &&
                              !cts_flow_is_pinned(&clocks->rows, copy->destination, copy->op));
    else if (cts_flow_is_kind(copy, "memset"))
        waits = !is_async && cts_flow_call_at(&clocks->rows, copy->op) &&
                cts_flow_is_pinned(&clocks->rows, copy->destination, copy->op);
    else
        waits = false;
    if (waits) cts_flow_join(clocks, cts_flow_thread_clock(clocks, thread), clock);
}

enum cts_status cts_flow_issue(struct cts_flow_clocks *clocks, const struct cts_flow_work *work,
                               uint32_t thread)
{
    struct cts_stream_clock *const stream = cts_stream_clocks_find(&clocks->streams, work->stream);
    if (!stream) return CTS_OK;
    cts_flow_begin_work(clocks, stream, thread);
    const struct cts_flow_seat seat = {thread, cts_flow_branches_of(clocks, stream)->first,
                                       stream->clock};
    const enum cts_status status = cts_flow_add_work(clocks, work, &seat);
    if (!status && work->kind == CTS_FLOW_WORK_COPY)
        return_from_copy(clocks, &clocks->rows.catalogue->copies[work->index], thread,
                         stream->clock);
    return status;
}
