/* Rows of allocations, copies, memsets, events and synchronisations, from callbacks. */
#include "rows.h"

#include <cuda.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/map.h"
#include "contexts.h"
#include "graph-steps.h"
#include "launches.h"
#include "record/abi.h"
#include "memory-run.h"
#include "settings.h"
#include "stream-table.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- allocations ---- */

struct allocation {
    uint64_t size_bytes;
    uint32_t id;
    bool on_host, is_live;
};
static struct {
    struct allocation *items;
    size_t count, capacity;
} allocations;
static struct cts_map by_address; /* index plus one in `allocations` */

static const char *allocation_kind(const Sanitizer_ResourceMemoryData *data, bool on_host,
                                   bool is_mapped)
{
    if (data->flags & SANITIZER_MEMORY_FLAG_MODULE) return "variable";
    if (data->flags & SANITIZER_MEMORY_FLAG_MANAGED) return "managed";
    if (on_host) return is_mapped ? "mapped" : "pinned";
    return "device";
}

/* What the host code of an instrumented build says of this thread's next allocation. */
static __thread const struct cts_allocation_desc *hint;

void __cts_allocation_hint(const struct cts_allocation_desc *allocation)
{
    hint = allocation;
}

static const char *text_or_null(const char *text)
{
    return text && *text ? text : NULL;
}

static void take_hint(struct cts_allocation *row)
{
    if (!hint || !row->call) return;
    row->variable = text_or_null(hint->variable);
    row->type = text_or_null(hint->type_name);
    row->path = text_or_null(hint->path);
    row->function = text_or_null(hint->function);
    row->line = hint->line;
    row->column = hint->column;
    row->element_bytes = hint->element_bytes;
    hint = NULL;
}

static uint32_t device_of(const Sanitizer_ResourceMemoryData *data)
{
    return data->device >= 0 ? (uint32_t)data->device : 0;
}

/* Of the call that allocates or frees, which is done in a stream's order or by the host. */
static uint64_t op_of(const Sanitizer_ResourceMemoryData *data, bool in_stream)
{
    const CUcontext context = data->context ? data->context : cts_memory_api_context();
    return in_stream ? cts_memory_op_in(device_of(data),
                                        cts_memory_stream(context, data->stream, data->hStream))
                     : cts_memory_op(device_of(data));
}

/* Memory of __managed__ variables is told when the module is loaded, and for each context again. */
static bool is_told_again(const Sanitizer_ResourceMemoryData *data)
{
    if (!(data->flags & SANITIZER_MEMORY_FLAG_MANAGED)) return false;
    pthread_mutex_lock(&lock);
    const uint64_t *const place = cts_map_find(&by_address, data->address);
    const struct allocation *const known = place && *place ? allocations.items + *place - 1 : NULL;
    const bool is_known = known && known->is_live && known->size_bytes == data->size;
    pthread_mutex_unlock(&lock);
    return is_known;
}

void cts_memory_allocated(const Sanitizer_ResourceMemoryData *data, enum cts_memory_of of,
                          const struct cts_allocating_call *call)
{
    const bool on_host = of == CTS_MEMORY_OF_HOST;
    const uint32_t driver_own =
        SANITIZER_MEMORY_FLAG_CG_RUNTIME | SANITIZER_MEMORY_FLAG_CNP | SANITIZER_MEMORY_FLAG_PEER;
    if (!data->address || data->flags & driver_own || is_told_again(data)) return;
    struct cts_allocation row = {
        .allocation = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_ALLOCATION, 1),
        .rank = cts_memory_run.rank,
        .op = op_of(data, of == CTS_MEMORY_OF_POOL),
        .freed_op = UINT64_MAX,
        .device = device_of(data),
        .address = data->address,
        .size_bytes = data->size,
        .kind = allocation_kind(data, on_host, call->is_mapped),
        .call = call->name,
    };
    take_hint(&row);
    pthread_mutex_lock(&lock);
    uint64_t *const place = cts_map_at(&by_address, data->address, NULL);
    if (place && CTS_ARRAY_RESERVE(&allocations, allocations.count + 1, NULL) == CTS_OK) {
        allocations.items[allocations.count++] =
            (struct allocation){data->size, row.allocation, on_host, true};
        *place = allocations.count;
    }
    pthread_mutex_unlock(&lock);
    cts_catalogue_add_allocation(cts_memory_run.catalogue, &row);
}

void cts_memory_freed(const Sanitizer_ResourceMemoryData *data, bool in_stream)
{
    uint32_t id = CTS_NONE;
    pthread_mutex_lock(&lock);
    const uint64_t *const place = cts_map_find(&by_address, data->address);
    if (place && *place) {
        struct allocation *const allocation = allocations.items + *place - 1;
        if (allocation->is_live) id = allocation->id;
        allocation->is_live = false;
    }
    pthread_mutex_unlock(&lock);
    if (id != CTS_NONE)
        cts_catalogue_free_allocation(cts_memory_run.catalogue, id, op_of(data, in_stream));
}

/* Whether an address lies in memory of a device, as far as allocations tell. */
static bool is_on_device(uint64_t address)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < by_address.capacity && !found; i++) {
        const struct cts_map_entry *const entry = by_address.entries + i;
        if (!by_address.used[i] || !entry->value || entry->key > address) continue;
        const struct allocation *const allocation = allocations.items + entry->value - 1;
        found = allocation->is_live && !allocation->on_host &&
                address - entry->key < allocation->size_bytes;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- copies and memsets ---- */

static const char *copy_kind(const Sanitizer_MemcpyData *data)
{
    bool from_device, to_device;
    switch (data->direction) {
    case SANITIZER_MEMCPY_DIRECTION_HOST_TO_HOST:
        return "HtoH";
    case SANITIZER_MEMCPY_DIRECTION_HOST_TO_DEVICE:
        return "HtoD";
    case SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_HOST:
        return "DtoH";
    case SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_DEVICE:
        from_device = to_device = true;
        break;
    default:
        from_device = is_on_device(data->srcAddress);
        to_device = is_on_device(data->dstAddress);
        break;
    }
    if (!from_device) return to_device ? "HtoD" : "HtoH";
    if (!to_device) return "DtoH";
    return cts_context_device(data->srcContext) != cts_context_device(data->dstContext) ? "PtoP"
                                                                                        : "DtoD";
}

/* What has ended is kept before the program learns of it. */
static void know_ended(const struct cts_awaited *awaited)
{
    if (!awaited->context) return;
    cts_launches_ended(awaited->context, awaited->stream, awaited->launches);
    if (!cts_memory_settings.late) cts_launches_keep_ended();
}

struct cts_copying_call cts_memory_copy_begin(void)
{
    return (struct cts_copying_call){.is_blocking = true, .awaited.launches = cts_launches_begun()};
}

/* Copies to the device may return before they begin. */
static void note_awaited(struct cts_copying_call *call, const struct cts_copy *row,
                         CUcontext context)
{
    if (!call->is_blocking || row->asynchronous || strcmp(row->kind, "DtoH") != 0) return;
    call->awaited.context = context;
    call->awaited.stream = row->stream;
}

void cts_memory_copy_end(struct cts_copying_call *call, int32_t result)
{
    if (result == 0) know_ended(&call->awaited);
    *call = (struct cts_copying_call){0};
}

/* Adds a copy in `context` on `stream` that has just been called. */
static void add_copy(struct cts_copy *row, CUcontext context, uint32_t stream)
{
    const uint64_t time_ns = cts_clock_ns();
    row->copy = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_COPY, 1);
    row->rank = cts_memory_run.rank;
    row->stream = stream;
    row->op = cts_memory_op(cts_context_device(context));
    row->device = cts_context_device(context);
    row->call_ns = row->start_ns = row->end_ns = time_ns;
    cts_catalogue_add_copy(cts_memory_run.catalogue, row);
    cts_graph_step_note(row->op);
}

void cts_memory_copied(const Sanitizer_MemcpyData *data, struct cts_copying_call *call)
{
    const CUcontext context = data->apiContext   ? data->apiContext
                              : data->dstContext ? data->dstContext
                                                 : data->srcContext;
    const uint32_t stream =
        cts_graph_step_stream(cts_memory_stream(context, data->apiStream, data->hApiStream));
    const bool is_flat = data->height <= 1 && data->depth <= 1;
    const uint64_t width_bytes = is_flat || !data->width ? data->size : data->width;
    const uint64_t height = is_flat || !data->height ? 1 : data->height;
    struct cts_copy row = {
        .kind = copy_kind(data),
        .destination = data->dstAddress,
        .source = data->srcAddress,
        .width_bytes = width_bytes,
        .height = height,
        .depth = is_flat || !data->depth ? 1 : data->depth,
        .destination_pitch = is_flat ? width_bytes : data->dstPitch,
        .source_pitch = is_flat ? width_bytes : data->srcPitch,
        .destination_slice = is_flat ? width_bytes : data->dstPitch * height,
        .source_slice = is_flat ? width_bytes : data->srcPitch * height,
        .asynchronous = data->isAsync != 0,
    };
    add_copy(&row, context, stream);
    note_awaited(call, &row, context);
}

void cts_memory_set(const Sanitizer_MemsetData *data)
{
    const uint32_t stream =
        cts_graph_step_stream(cts_memory_stream(data->context, data->stream, data->hStream));
    const uint64_t element = data->elementSize ? data->elementSize : 1;
    const uint64_t width_bytes = data->width * element;
    const uint64_t height = data->height ? data->height : 1;
    const uint64_t pitch = height > 1 ? data->pitch : width_bytes;
    struct cts_copy row = {
        .kind = "memset",
        .destination = data->address,
        .width_bytes = width_bytes,
        .height = height,
        .depth = 1,
        .destination_pitch = pitch,
        .destination_slice = pitch * height,
        .asynchronous = data->isAsync != 0,
    };
    add_copy(&row, data->context, stream);
}

/* ---- events and synchronisations ---- */

/* What an event's last record is behind, by its handle: index plus one. */
static struct cts_map note_by_event;
static struct {
    struct cts_awaited *items;
    size_t count, capacity;
} event_notes;

/* Without memory it is not known what the event waits for. */
static void note_event(uint64_t event, struct cts_awaited awaited)
{
    pthread_mutex_lock(&lock);
    uint64_t *const place = cts_map_at(&note_by_event, event, NULL);
    if (place && !*place && CTS_ARRAY_RESERVE(&event_notes, event_notes.count + 1, NULL) == CTS_OK)
        *place = ++event_notes.count;
    if (place && *place) event_notes.items[*place - 1] = awaited;
    pthread_mutex_unlock(&lock);
}

static struct cts_awaited awaited_by(uint64_t event)
{
    struct cts_awaited awaited = {0};
    pthread_mutex_lock(&lock);
    const uint64_t *const place = cts_map_find(&note_by_event, event);
    if (place && *place) awaited = event_notes.items[*place - 1];
    pthread_mutex_unlock(&lock);
    return awaited;
}

void cts_memory_event_forget(uint64_t event)
{
    pthread_mutex_lock(&lock);
    const uint64_t *const place = event ? cts_map_find(&note_by_event, event) : NULL;
    if (place && *place) event_notes.items[*place - 1].context = NULL;
    for (size_t i = 0; !event && i < event_notes.count; i++) event_notes.items[i].context = NULL;
    pthread_mutex_unlock(&lock);
}

void cts_memory_event(const Sanitizer_EventData *data, const char *kind)
{
    const uint32_t stream = cts_memory_stream(data->context, data->stream, data->hStream);
    const uint64_t time_ns = cts_clock_ns();
    const struct cts_sync row = {.rank = cts_memory_run.rank,
                                 .op = cts_memory_op(cts_context_device(data->context)),
                                 .kind = kind,
                                 .stream = stream,
                                 .event = (uint64_t)(uintptr_t)data->event,
                                 .start_ns = time_ns,
                                 .end_ns = time_ns};
    cts_catalogue_add_sync(cts_memory_run.catalogue, &row);
    if (strcmp(kind, "event record") == 0)
        note_event(row.event, (struct cts_awaited){data->context, stream, cts_launches_begun()});
}

struct cts_sync_call cts_memory_sync_begin(CUcontext context, uint64_t event)
{
    return (struct cts_sync_call){.op = cts_memory_op(cts_context_device(context)),
                                  .start_ns = cts_clock_ns(),
                                  .launches = cts_launches_begun(),
                                  .awaited = event ? awaited_by(event) : (struct cts_awaited){0}};
}

void cts_memory_sync_end(const struct cts_sync_call *call, const struct cts_sync_end *end)
{
    const uint32_t stream =
        end->stream ? cts_memory_stream(end->context, *end->stream, NULL) : CTS_NONE;
    if (end->result == 0 && !end->event) cts_launches_ended(end->context, stream, call->launches);
    const struct cts_sync row = {.rank = cts_memory_run.rank,
                                 .op = call->op,
                                 .kind = end->kind,
                                 .stream = stream,
                                 .event = end->event,
                                 .result = end->result,
                                 .start_ns = call->start_ns,
                                 .end_ns = cts_clock_ns()};
    cts_catalogue_add_sync(cts_memory_run.catalogue, &row);
    const struct cts_awaited awaited = {end->context, stream, call->launches};
    if (end->result == 0) know_ended(end->event ? &call->awaited : &awaited);
}
