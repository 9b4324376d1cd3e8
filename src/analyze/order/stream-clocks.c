#include "analyze/order/stream-clocks.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/search.h"
#include "common/sort.h"
#include "common/promise.h"

/* ---- the streams ---- */

struct cts_stream_clock *cts_stream_clocks_find(const struct cts_stream_clocks *streams,
                                                uint32_t id)
{
    const size_t at = CTS_SEARCH(streams->count, i, streams->items[i].id < id);
    return at < streams->count && streams->items[at].id == id ? &streams->items[at] : NULL;
}

/* The ids that occur, in a new array; rows of calls are ordered by rank. */
static uint32_t *collect_ids(const struct cts_catalogue *c, uint32_t rank, size_t *count,
                             struct cts_error *error)
{
    const size_t first_call = CTS_SEARCH(c->call_count, i, c->calls[i].rank < rank);
    const size_t end_call = CTS_SEARCH(c->call_count, i, c->calls[i].rank <= rank);
    uint32_t *const ids = cts_array_zeroed(c->stream_count + c->launch_count + c->copy_count +
                                               c->host_function_count + (end_call - first_call),
                                           sizeof *ids, error);
    if (!ids) return NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->stream_count; i++)
        if (c->streams[i].rank == rank) ids[n++] = c->streams[i].stream;
    for (size_t i = 0; i < c->launch_count; i++)
        if (c->launches[i].rank == rank) ids[n++] = c->launches[i].stream;
    for (size_t i = 0; i < c->copy_count; i++)
        if (c->copies[i].rank == rank) ids[n++] = c->copies[i].stream;
    for (size_t i = 0; i < c->host_function_count; i++)
        if (c->host_functions[i].rank == rank) ids[n++] = c->host_functions[i].stream;
    for (size_t i = first_call; i < end_call; i++)
        if (c->calls[i].stream != CTS_NONE) ids[n++] = c->calls[i].stream;
    *count = cts_sort_distinct_u32(ids, n);
    return ids;
}

enum cts_status cts_stream_clocks_collect(struct cts_stream_clocks *streams,
                                          const struct cts_catalogue *catalogue, uint32_t rank,
                                          struct cts_error *error)
{
    *streams = (struct cts_stream_clocks){0};
    size_t count;
    uint32_t *const ids = collect_ids(catalogue, rank, &count, error);
    if (!ids) return CTS_MEMORY;
    streams->items = cts_array_zeroed(count, sizeof *streams->items, error);
    for (size_t i = 0; streams->items && i < count; i++) streams->items[i].id = ids[i];
    free(ids);
    if (!streams->items) return CTS_MEMORY;
    streams->count = (uint32_t)count;
    for (size_t i = 0; i < catalogue->stream_count; i++) {
        const struct cts_cuda_stream *const row = &catalogue->streams[i];
        if (row->rank != rank) continue;
        struct cts_stream_clock *const stream = cts_stream_clocks_find(streams, row->stream);
        const char *const kind = row->kind ? row->kind : "";
        stream->is_known = true;
        stream->device = row->device;
        stream->is_legacy = !strcmp(kind, "legacy default");
        stream->is_blocking = !strcmp(kind, "blocking") || !strcmp(kind, "per-thread default");
    }
    return CTS_OK;
}

enum cts_status cts_stream_clocks_start(struct cts_stream_clocks *streams, uint32_t width,
                                        struct cts_error *error)
{
    CTS_ASSERT_ORDER(i, streams->count, streams->items[i - 1].id < streams->items[i].id);
    assert(!streams->memory);
    streams->width = width;
    streams->memory =
        cts_array_zeroed((size_t)streams->count * width, sizeof *streams->memory, error);
    if (!streams->memory) return CTS_MEMORY;
    for (uint32_t i = 0; i < streams->count; i++)
        streams->items[i].clock = streams->memory + (size_t)i * width;
    return CTS_OK;
}

void cts_stream_clocks_release(struct cts_stream_clocks *streams)
{
    free(streams->items);
    free(streams->memory);
    free(streams->event_clocks.items);
    cts_map_release(&streams->events);
    *streams = (struct cts_stream_clocks){0};
}

/* ---- the rules ---- */

static void apply_default_stream(const struct cts_stream_clocks *streams,
                                 struct cts_stream_clock *stream)
{
    if (!stream->is_legacy && !stream->is_blocking) return;
    for (uint32_t i = 0; i < streams->count; i++) {
        struct cts_stream_clock *const other = &streams->items[i];
        if (!other->is_known || other->device != stream->device || other == stream) continue;
        if (stream->is_blocking && other->is_legacy)
            cts_clock_join(stream->clock, other->clock, streams->width);
        if (stream->is_legacy && other->is_blocking && other->has_new_work) {
            cts_clock_join(stream->clock, other->clock, streams->width);
            other->has_new_work = false;
        }
    }
    stream->has_new_work = true;
}

void cts_stream_clocks_use(const struct cts_stream_clocks *streams, struct cts_stream_clock *stream,
                           const uint32_t *host)
{
    apply_default_stream(streams, stream);
    cts_clock_join(stream->clock, host, streams->width);
}

static enum cts_status record_event(struct cts_stream_clocks *streams, uint64_t event,
                                    const uint32_t *clock, struct cts_error *error)
{
    uint64_t *const place = cts_map_at(&streams->events, event, error);
    if (!place) return CTS_MEMORY;
    if (*place) {
        memcpy(streams->event_clocks.items + *place - 1, clock, streams->width * sizeof *clock);
        return CTS_OK;
    }
    size_t at;
    const enum cts_status status =
        cts_clock_append(&streams->event_clocks, clock, streams->width, &at, error);
    if (!status) *place = at + 1;
    return status;
}

/* What the event's last record captured, or NULL for one that was never recorded. */
static const uint32_t *event_clock(const struct cts_stream_clocks *streams, uint64_t event)
{
    const uint64_t *const place = cts_map_find(&streams->events, event);
    return place ? streams->event_clocks.items + *place - 1 : NULL;
}

enum cts_status cts_stream_clocks_synchronise(struct cts_stream_clocks *streams,
                                              const struct cts_sync *sync, uint32_t *host,
                                              struct cts_error *error)
{
    if (sync->result != 0 || !sync->kind) return CTS_OK; /* failed, or said 'not yet' */
    struct cts_stream_clock *const stream =
        sync->stream != CTS_NONE ? cts_stream_clocks_find(streams, sync->stream) : NULL;
    const uint32_t *const event = event_clock(streams, sync->event);
    if (!strcmp(sync->kind, "event record") && stream) {
        cts_stream_clocks_use(streams, stream, host);
        return record_event(streams, sync->event, stream->clock, error);
    }
    if (!strcmp(sync->kind, "stream wait") && stream) {
        cts_stream_clocks_use(streams, stream, host);
        if (event) cts_clock_join(stream->clock, event, streams->width);
    } else if (!strcmp(sync->kind, "event sync") || !strcmp(sync->kind, "event query")) {
        if (event) cts_clock_join(host, event, streams->width);
    } else if (!strcmp(sync->kind, "stream sync") || !strcmp(sync->kind, "stream query")) {
        /* not what a default stream was given since */
        if (stream) cts_clock_join(host, stream->clock, streams->width);
    }
    return CTS_OK;
}

void cts_stream_clocks_join_device(const struct cts_stream_clocks *streams, const uint32_t *device,
                                   uint32_t *host)
{
    const struct cts_stream_clock *some = NULL;
    for (uint32_t i = 0; i < streams->count && !device; i++) {
        if (!streams->items[i].is_known) continue;
        if (!some) some = &streams->items[i];
        if (some->device != streams->items[i].device) return;
    }
    for (uint32_t i = 0; i < streams->count; i++) {
        const struct cts_stream_clock *const stream = &streams->items[i];
        if (!device || (stream->is_known && stream->device == *device))
            cts_clock_join(host, stream->clock, streams->width);
    }
}
