/* What the host does itself: memory comes and goes, the CPU accesses it, threads wait. */
#include <stdlib.h>
#include <string.h>

#include "analyze/flow/flow-clocks.h"

static struct cts_stream_clock *stream_of_call(const struct cts_flow_clocks *clocks, uint64_t op)
{
    const struct cts_host_call *const call = cts_flow_call_at(&clocks->rows, op);
    return call && call->stream != CTS_NONE ? cts_stream_clocks_find(&clocks->streams, call->stream)
                                            : NULL;
}

enum cts_status cts_flow_allocate(struct cts_flow_clocks *clocks, size_t index, uint32_t thread)
{
    const struct cts_allocation *const row = &clocks->rows.catalogue->allocations[index];
    struct cts_stream_clock *const stream = stream_of_call(clocks, row->op);
    struct cts_flow_node node = {.kind = CTS_FLOW_ALLOCATION,
                                 .is_in_stream = stream != NULL,
                                 .index = index,
                                 .op = row->op,
                                 .thread = clocks->rows.threads[thread],
                                 .stream = stream ? stream->id : CTS_NONE,
                                 .chain =
                                     stream ? cts_flow_branches_of(clocks, stream)->first : thread};
    if (stream) cts_flow_begin_work(clocks, stream, thread);
    uint32_t *const clock = stream ? stream->clock : cts_flow_thread_clock(clocks, thread);
    cts_flow_freed_join(&clocks->freed, row->address, row->address + row->size_bytes, clock);
    const enum cts_status status = cts_flow_add_node(clocks, &node, clock);
    if (!status) cts_flow_pass(clocks, node.chain, clock);
    return status;
}

/* cudaFree waits for the device, which the thread may notice, but is not promised to. */
static enum cts_status free_on_host(struct cts_flow_clocks *clocks, struct cts_flow_node *node,
                                    uint32_t thread, uint32_t *clock)
{
    const struct cts_allocation *const row = &clocks->rows.catalogue->allocations[node->index];
    cts_flow_join(clocks, clock, cts_flow_thread_clock(clocks, thread));
    cts_flow_join(clocks, clock, cts_flow_free_clock(clocks, thread));
    for (uint32_t i = 0; i < clocks->streams.count; i++)
        if (!clocks->streams.items[i].is_known || clocks->streams.items[i].device == row->device)
            cts_flow_join(clocks, clock, clocks->streams.items[i].clock);
    node->chain = clocks->rows.thread_count + thread;
    const enum cts_status status = cts_flow_add_node(clocks, node, clock);
    if (status) return status;
    cts_flow_pass(clocks, node->chain, clock);
    cts_flow_join(clocks, cts_flow_free_clock(clocks, thread), clock);
    if (cts_flow_at_least(clocks, CTS_FLOW_CALLS))
        cts_flow_join(clocks, cts_flow_thread_clock(clocks, thread), clock);
    return CTS_OK;
}

enum cts_status cts_flow_free_memory(struct cts_flow_clocks *clocks, size_t index, uint32_t thread)
{
    const struct cts_allocation *const row = &clocks->rows.catalogue->allocations[index];
    struct cts_stream_clock *const stream = stream_of_call(clocks, row->freed_op);
    struct cts_flow_node node = {.kind = CTS_FLOW_FREE,
                                 .is_in_stream = stream != NULL,
                                 .index = index,
                                 .op = row->freed_op,
                                 .thread = clocks->rows.threads[thread],
                                 .stream = stream ? stream->id : CTS_NONE};
    uint32_t *const clock = cts_flow_new_clock(clocks);
    if (!clock) return CTS_MEMORY;
    enum cts_status status = CTS_OK;
    const uint64_t end = row->address + row->size_bytes;
    if (stream) {
        cts_flow_begin_work(clocks, stream, thread);
        node.chain = cts_flow_branches_of(clocks, stream)->first;
        status = cts_flow_add_node(clocks, &node, stream->clock);
        if (!status) cts_flow_pass(clocks, node.chain, stream->clock);
        cts_flow_join(clocks, clock, stream->clock);
    } else {
        status = free_on_host(clocks, &node, thread, clock);
    }
    cts_flow_freed_join(&clocks->freed, row->address, end, clock);
    if (!status && row->size_bytes)
        status = cts_flow_freed_set(&clocks->freed, row->address, end, clock, clocks->error);
    free(clock);
    return status;
}

enum cts_status cts_flow_host_access(struct cts_flow_clocks *clocks, size_t index, uint32_t thread)
{
    const struct cts_host_access *const row = &clocks->rows.catalogue->host_accesses[index];
    const struct cts_flow_node node = {.kind =
                                           row->is_store ? CTS_FLOW_HOST_STORE : CTS_FLOW_HOST_LOAD,
                                       .index = index,
                                       .op = row->op,
                                       .thread = clocks->rows.threads[thread],
                                       .stream = CTS_NONE,
                                       .chain = thread};
    const enum cts_status status =
        cts_flow_add_node(clocks, &node, cts_flow_thread_clock(clocks, thread));
    if (!status) cts_flow_pass(clocks, thread, cts_flow_thread_clock(clocks, thread));
    return status;
}

/* ---- synchronisations ---- */

/* The device: of the row's stream, the thread's current one, or the only one that has streams. */
static void synchronise_device(const struct cts_flow_clocks *clocks, const struct cts_sync *sync,
                               const struct cts_stream_clock *named, uint32_t *host)
{
    const struct cts_host_call *const call = cts_flow_call_at(&clocks->rows, sync->op);
    const uint32_t *const device = named               ? &named->device
                                   : call && call->api ? &call->device
                                                       : NULL;
    cts_stream_clocks_join_device(&clocks->streams, device, host);
    for (uint32_t i = 0; i < clocks->streams.count && !device; i++)
        if (cts_flow_at_least(clocks, CTS_FLOW_CALLS))
            cts_flow_join(clocks, host, clocks->streams.items[i].clock);
}

/* Waiting for a legacy default stream waits for the device's blocking streams, too. */
static void synchronise_legacy(const struct cts_flow_clocks *clocks,
                               const struct cts_stream_clock *stream, uint32_t *host)
{
    for (uint32_t i = 0; i < clocks->streams.count; i++)
        if (clocks->streams.items[i].is_blocking &&
            clocks->streams.items[i].device == stream->device)
            cts_flow_join(clocks, host, clocks->streams.items[i].clock);
}

/* Adds to `host` what a thread knows behind a call that succeeded. */
static enum cts_status learn(struct cts_flow_clocks *clocks, const struct cts_sync *sync,
                             uint32_t *host)
{
    const struct cts_stream_clock *const stream =
        sync->stream != CTS_NONE ? cts_stream_clocks_find(&clocks->streams, sync->stream) : NULL;
    if (!strcmp(sync->kind, "device sync")) {
        synchronise_device(clocks, sync, stream, host);
        return CTS_OK;
    }
    const enum cts_status status =
        cts_stream_clocks_synchronise(&clocks->streams, sync, host, clocks->error);
    if (stream && stream->is_legacy && !strcmp(sync->kind, "stream sync") &&
        cts_flow_at_least(clocks, CTS_FLOW_CALLS))
        synchronise_legacy(clocks, stream, host);
    return status;
}

bool cts_flow_is_wait(const struct cts_sync *sync)
{
    return !strcmp(sync->kind, "device sync") || !strcmp(sync->kind, "stream sync") ||
           !strcmp(sync->kind, "event sync");
}

static enum cts_status judge_wait(struct cts_flow_clocks *clocks, size_t index, uint32_t thread,
                                  uint32_t *host)
{
    const struct cts_flow_wait_judge *const waits = clocks->options->waits;
    uint32_t *const after = cts_flow_new_clock(clocks);
    if (!after) return CTS_MEMORY;
    cts_flow_join(clocks, after, host);
    bool counts = true;
    enum cts_status status = learn(clocks, &clocks->rows.catalogue->syncs[index], after);
    const struct cts_flow_wait wait = {index, thread, host, after};
    if (!status) status = waits->wait(waits->state, &wait, &counts, clocks->error);
    if (!status && counts) cts_flow_join(clocks, host, after);
    free(after);
    return status;
}

enum cts_status cts_flow_synchronise(struct cts_flow_clocks *clocks, size_t index, uint32_t thread)
{
    const struct cts_flow_wait_judge *const waits = clocks->options->waits;
    const struct cts_sync *const sync = &clocks->rows.catalogue->syncs[index];
    if (sync->result != 0 || !sync->kind) return CTS_OK; /* failed, or said 'not yet' */
    uint32_t *const host = cts_flow_thread_clock(clocks, thread);
    if (waits && cts_flow_is_wait(sync)) return judge_wait(clocks, index, thread, host);
    enum cts_status status = learn(clocks, sync, host);
    const struct cts_stream_clock *const stream =
        sync->stream != CTS_NONE ? cts_stream_clocks_find(&clocks->streams, sync->stream) : NULL;
    if (!status && waits && stream && !strcmp(sync->kind, "event record"))
        status = waits->event(waits->state, sync->event, stream->clock, clocks->error);
    return status;
}
