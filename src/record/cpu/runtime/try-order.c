#include "try-order.h"

#include <stdlib.h>

#include "common/array.h"
#include "trace/trial/trial.h"

/* What stands at a place of a stream: an operation, or what takes the place of one. */
struct entry {
    uint64_t sequence;
    uint32_t op; /* CTS_TRIAL_NONE: `places` */
    struct cts_try_places places;
};

struct order_stream {
    const struct CUstream_st *stream; /* may be gone: only compared */
    uint64_t number;                  /* of the stream: addresses are used again */
    int device;
    enum cts_stream_kind kind;
    uint32_t launches;
    struct {
        struct entry *items;
        size_t count, capacity;
    } entries;
};

static struct {
    struct order_stream *items;
    size_t count, capacity;
} streams;

static struct order_stream *find(const struct CUstream_st *stream)
{
    for (size_t i = 0; i < streams.count; i++)
        if (streams.items[i].stream == stream && streams.items[i].number == stream->number)
            return &streams.items[i];
    struct cts_error error;
    if (CTS_ARRAY_RESERVE(&streams, streams.count + 1, &error)) return NULL;
    struct order_stream *const added = &streams.items[streams.count++];
    *added = (struct order_stream){
        .stream = stream, .number = stream->number, .device = stream->device, .kind = stream->kind};
    return added;
}

uint32_t cts_try_order_stream(const struct CUstream_st *stream)
{
    const struct order_stream *const found = find(stream);
    return found ? (uint32_t)(found - streams.items) : CTS_TRIAL_NONE;
}

uint32_t cts_try_order_next_launch(const struct CUstream_st *stream)
{
    struct order_stream *const found = find(stream);
    return found ? found->launches++ : 0;
}

void cts_try_places_release(struct cts_try_places *places)
{
    free(places->items);
    *places = (struct cts_try_places){0};
}

static enum cts_status add_place(struct cts_try_places *places, uint32_t stream, uint32_t op)
{
    struct cts_error error;
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].stream == stream) {
            if (places->items[i].op < op) places->items[i].op = op;
            return CTS_OK;
        }
    if (CTS_ARRAY_RESERVE(places, places->count + 1, &error)) return CTS_MEMORY;
    places->items[places->count++] = (struct cts_try_place){stream, op};
    return CTS_OK;
}

/* What stands in a stream at or before a sequence number. */
static enum cts_status add_stream(struct cts_try_places *places, uint32_t number, uint64_t sequence)
{
    const struct order_stream *const stream = &streams.items[number];
    size_t i = stream->entries.count;
    while (i && stream->entries.items[i - 1].sequence > sequence) i--;
    if (!i) return CTS_OK;
    const struct entry *const entry = &stream->entries.items[i - 1];
    if (entry->op != CTS_TRIAL_NONE) return add_place(places, number, entry->op);
    enum cts_status status = CTS_OK;
    for (size_t k = 0; k < entry->places.count && !status; k++)
        status = add_place(places, entry->places.items[k].stream, entry->places.items[k].op);
    return status;
}

static bool is_blocking(const struct order_stream *stream)
{
    return stream->kind == CTS_STREAM_BLOCKING || stream->kind == CTS_STREAM_PER_THREAD;
}

/* Whether the legacy default stream orders work of the two. */
static bool wait_for_each_other(const struct order_stream *one, const struct order_stream *other)
{
    return one->device == other->device &&
           ((one->kind == CTS_STREAM_LEGACY && is_blocking(other)) ||
            (other->kind == CTS_STREAM_LEGACY && is_blocking(one)));
}

static enum cts_status add_implied(struct cts_try_places *places, uint32_t number)
{
    enum cts_status status = CTS_OK;
    for (uint32_t i = 0; i < streams.count && !status; i++)
        if (i == number || wait_for_each_other(&streams.items[number], &streams.items[i]))
            status = add_stream(places, i, UINT64_MAX);
    return status;
}

enum cts_status cts_try_order_of_point(const struct cts_point *point, struct cts_try_places *places)
{
    if (!point->stream) return CTS_OK;
    const uint32_t number = cts_try_order_stream(point->stream);
    return number == CTS_TRIAL_NONE ? CTS_MEMORY : add_stream(places, number, point->sequence);
}

enum cts_status cts_try_order_of_stream(const struct CUstream_st *stream,
                                        struct cts_try_places *places)
{
    const uint32_t number = cts_try_order_stream(stream);
    if (number == CTS_TRIAL_NONE) return CTS_MEMORY;
    return stream->kind == CTS_STREAM_LEGACY ? add_implied(places, number)
                                             : add_stream(places, number, UINT64_MAX);
}

enum cts_status cts_try_order_of_device(int device, struct cts_try_places *places)
{
    enum cts_status status = CTS_OK;
    for (uint32_t i = 0; i < streams.count && !status; i++)
        if (streams.items[i].device == device) status = add_stream(places, i, UINT64_MAX);
    return status;
}

enum cts_status cts_try_order_add(const struct cts_try_queued *queued, uint32_t op,
                                  struct cts_try_places *places)
{
    struct cts_error error;
    const uint32_t number = cts_try_order_stream(queued->stream);
    if (number == CTS_TRIAL_NONE) return CTS_MEMORY;
    enum cts_status status = add_implied(places, number);
    for (size_t i = 0; i < queued->more_count && !status; i++)
        status = cts_try_order_of_point(&queued->more[i], places);
    struct order_stream *const own = &streams.items[number];
    if (!status) status = CTS_ARRAY_RESERVE(&own->entries, own->entries.count + 1, &error);
    if (status) return status;
    struct entry *const entry = &own->entries.items[own->entries.count++];
    *entry = (struct entry){.sequence = queued->sequence, .op = op};
    for (size_t i = 0; op == CTS_TRIAL_NONE && i < places->count && !status; i++)
        status = add_place(&entry->places, places->items[i].stream, places->items[i].op);
    return status;
}

void cts_try_order_clear(void)
{
    for (size_t i = 0; i < streams.count; i++) {
        struct order_stream *const stream = &streams.items[i];
        for (size_t k = 0; k < stream->entries.count; k++)
            cts_try_places_release(&stream->entries.items[k].places);
        free(stream->entries.items);
        stream->entries.items = NULL;
        stream->entries.count = stream->entries.capacity = 0;
    }
}
