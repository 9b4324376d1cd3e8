#include "record/try/cuda/gpu-order.h"

#include <stdlib.h>

#include "common/array.h"

enum kind { LEGACY, BLOCKING, NON_BLOCKING };

struct stream {
    CUstream handle;
    enum kind kind;
    uint32_t launches;
    struct cts_gpu_places last; /* what the next thing comes after */
};
struct event {
    CUevent handle;
    struct cts_gpu_places places;
};

static struct {
    struct stream *items;
    size_t count, capacity;
} streams;
static struct {
    struct event *items;
    size_t count, capacity;
} events;

void cts_gpu_places_release(struct cts_gpu_places *places)
{
    free(places->items);
    *places = (struct cts_gpu_places){0};
}

static bool add_place(struct cts_gpu_places *places, uint32_t stream, uint32_t op)
{
    struct cts_error error;
    for (size_t i = 0; i < places->count; i++)
        if (places->items[i].stream == stream) {
            if (places->items[i].op < op) places->items[i].op = op;
            return true;
        }
    if (CTS_ARRAY_RESERVE(places, places->count + 1, &error)) return false;
    places->items[places->count++] = (struct cts_gpu_place){stream, op};
    return true;
}

static bool add_places(struct cts_gpu_places *places, const struct cts_gpu_places *more)
{
    bool done = true;
    for (size_t i = 0; i < more->count && done; i++)
        done = add_place(places, more->items[i].stream, more->items[i].op);
    return done;
}

/* ---- streams ---- */

/* Where NULL is one of the default streams. */
static CUstream handle_of(CUstream stream, bool is_per_thread)
{
    if (stream) return stream;
    return is_per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

static enum kind kind_of(CUstream handle)
{
    unsigned flags = 0;
    if (handle == CU_STREAM_LEGACY) return LEGACY;
    if (handle == CU_STREAM_PER_THREAD) return BLOCKING;
    const bool is_known = cts_gpu_driver()->stream_flags(handle, &flags) == CUDA_SUCCESS;
    return is_known && flags & CU_STREAM_NON_BLOCKING ? NON_BLOCKING : BLOCKING;
}

uint32_t cts_gpu_order_stream(CUstream handle, bool is_per_thread, uint32_t *ordinal)
{
    struct cts_error error;
    uint32_t i = 0;
    handle = handle_of(handle, is_per_thread);
    while (i < streams.count && streams.items[i].handle != handle) i++;
    if (i == streams.count) {
        if (CTS_ARRAY_RESERVE(&streams, streams.count + 1, &error)) return 0;
        streams.items[streams.count++] = (struct stream){.handle = handle, .kind = kind_of(handle)};
    }
    if (ordinal) *ordinal = streams.items[i].launches++;
    return i;
}

static bool follow_each_other(const struct stream *one, const struct stream *other)
{
    return (one->kind == LEGACY && other->kind == BLOCKING) ||
           (one->kind == BLOCKING && other->kind == LEGACY);
}

bool cts_gpu_order_before(uint32_t stream, struct cts_gpu_places *places)
{
    bool done = true;
    for (uint32_t i = 0; i < streams.count && done; i++)
        if (i == stream || follow_each_other(&streams.items[stream], &streams.items[i]))
            done = add_places(places, &streams.items[i].last);
    return done;
}

bool cts_gpu_order_add(uint32_t stream, uint32_t op)
{
    cts_gpu_places_release(&streams.items[stream].last);
    return add_place(&streams.items[stream].last, stream, op);
}

bool cts_gpu_order_all(struct cts_gpu_places *places)
{
    bool done = true;
    for (uint32_t i = 0; i < streams.count && done; i++)
        done = add_places(places, &streams.items[i].last);
    return done;
}

/* ---- events ---- */

static struct event *find_event(CUevent handle)
{
    for (size_t i = 0; i < events.count; i++)
        if (events.items[i].handle == handle) return &events.items[i];
    return NULL;
}

bool cts_gpu_order_record(CUevent handle, uint32_t stream)
{
    struct cts_error error;
    struct event *event = find_event(handle);
    if (!event) {
        if (CTS_ARRAY_RESERVE(&events, events.count + 1, &error)) return false;
        event = &events.items[events.count++];
        *event = (struct event){.handle = handle};
    }
    cts_gpu_places_release(&event->places);
    return cts_gpu_order_before(stream, &event->places);
}

bool cts_gpu_order_wait(uint32_t stream, CUevent handle)
{
    const struct event *const event = find_event(handle);
    return !event || add_places(&streams.items[stream].last, &event->places);
}

bool cts_gpu_order_event(CUevent handle, struct cts_gpu_places *places)
{
    const struct event *const event = find_event(handle);
    return !event || add_places(places, &event->places);
}

void cts_gpu_order_clear(void)
{
    for (size_t i = 0; i < streams.count; i++) cts_gpu_places_release(&streams.items[i].last);
    for (size_t i = 0; i < events.count; i++) cts_gpu_places_release(&events.items[i].places);
    free(events.items);
    events.items = NULL;
    events.count = events.capacity = 0;
}
