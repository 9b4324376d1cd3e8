/* Streams, as callbacks name them. */
#include "stream-table.h"

#include <pthread.h>

#include "common/array.h"
#include "contexts.h"
#include "library.h"
#include "memory-run.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct cts_memory_stream *items;
    size_t count, capacity;
} streams;

static bool is_legacy(CUstream handle)
{
    return !handle || handle == CU_STREAM_LEGACY;
}

static CUstream plain_handle(CUstream handle)
{
    return is_legacy(handle) ? CU_STREAM_LEGACY : handle;
}

static struct cts_memory_stream *find_stream(CUcontext context, CUstream handle,
                                             Sanitizer_StreamHandle unique)
{
    for (size_t i = streams.count; i-- > 0;) {
        struct cts_memory_stream *const stream = streams.items + i;
        if (stream->is_gone || stream->context != context) continue;
        if (unique && stream->unique ? stream->unique == unique
                                     : stream->handle == plain_handle(handle))
            return stream;
    }
    return NULL;
}

static const char *kind_text(CUstream handle, bool non_blocking)
{
    if (is_legacy(handle)) return "legacy default";
    if (handle == CU_STREAM_PER_THREAD) return "per-thread default";
    return non_blocking ? "non-blocking" : "blocking";
}

/* Under the lock. */
static struct cts_memory_stream *add_stream(CUcontext context, CUstream handle,
                                            Sanitizer_StreamHandle unique,
                                            const struct cts_stream_creation *creation)
{
    if (CTS_ARRAY_RESERVE(&streams, streams.count + 1, NULL)) return NULL;
    struct cts_memory_stream *const stream = streams.items + streams.count++;
    *stream = (struct cts_memory_stream){
        .context = context,
        .handle = plain_handle(handle),
        .unique = unique,
        .id = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_STREAM, 1),
        .device = cts_context_device(context),
    };
    const struct cts_cuda_stream row = {
        .stream = stream->id,
        .rank = cts_memory_run.rank,
        .device = stream->device,
        .handle = (uint64_t)(uintptr_t)stream->handle,
        .kind = kind_text(stream->handle, creation && creation->non_blocking),
        .priority = creation ? creation->priority : 0,
        .created_op = cts_memory_op(stream->device),
        .destroyed_op = UINT64_MAX,
    };
    cts_catalogue_add_stream(cts_memory_run.catalogue, &row);
    return stream;
}

uint32_t cts_memory_stream(CUcontext context, CUstream handle, Sanitizer_StreamHandle unique)
{
    pthread_mutex_lock(&lock);
    struct cts_memory_stream *stream = find_stream(context, handle, unique);
    if (!stream) stream = add_stream(context, handle, unique, NULL);
    const uint32_t id = stream ? stream->id : CTS_NONE;
    pthread_mutex_unlock(&lock);
    return id;
}

uint32_t cts_memory_stream_ordinal(uint32_t id)
{
    uint32_t ordinal = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = streams.count; i-- > 0;)
        if (streams.items[i].id == id) {
            ordinal = streams.items[i].launch_count++;
            break;
        }
    pthread_mutex_unlock(&lock);
    return ordinal;
}

void cts_memory_stream_created(const Sanitizer_ResourceStreamData *data,
                               const struct cts_stream_creation *creation)
{
    pthread_mutex_lock(&lock);
    if (!find_stream(data->context, data->stream, data->hStream))
        (void)add_stream(data->context, data->stream, data->hStream, creation);
    pthread_mutex_unlock(&lock);
}

void cts_memory_stream_destroyed(const Sanitizer_ResourceStreamData *data)
{
    uint32_t id = CTS_NONE, device = 0;
    pthread_mutex_lock(&lock);
    struct cts_memory_stream *const stream =
        data->hStream || data->stream ? find_stream(data->context, data->stream, data->hStream)
                                      : NULL;
    if (stream) {
        stream->is_gone = true;
        id = stream->id;
        device = stream->device;
    }
    pthread_mutex_unlock(&lock);
    if (id != CTS_NONE)
        cts_catalogue_destroy_stream(cts_memory_run.catalogue, id, cts_memory_op(device));
}

size_t cts_memory_streams(struct cts_memory_stream *out, size_t most)
{
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < streams.count && count < most; i++)
        if (!streams.items[i].is_gone) out[count++] = streams.items[i];
    pthread_mutex_unlock(&lock);
    return count;
}

static bool is_busy(CUcontext context, CUstream stream)
{
    CUcontext popped;
    if (cts_sanitizer.cuCtxPushCurrent(context) != CUDA_SUCCESS) return false;
    const bool busy = cts_sanitizer.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY;
    (void)cts_sanitizer.cuCtxPopCurrent(&popped);
    return busy;
}

bool cts_memory_streams_are_busy(void)
{
    enum { STREAMS_MAX = 256 };
    struct cts_memory_stream alive[STREAMS_MAX];
    const size_t count = cts_memory_streams(alive, STREAMS_MAX);
    for (size_t i = 0; i < count; i++)
        if (is_busy(alive[i].context, alive[i].handle)) return true;
    return false;
}
