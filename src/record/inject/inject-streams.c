/* From the streams of CUDA to the locations of the recorder.
 *
 * A stream is known by two names. A call names it by its *handle*, which is used again after the
 * stream was destroyed, and which is 0, 1 or 2 for the default streams, whose meaning depends on
 * the context and the thread. A record names it by (context id, stream id), which CUPTI never uses
 * again. Both end in one table, ids -> location; the handle's way there is asked of CUPTI once and
 * then remembered: in a table for all, and in a few places per thread, so that a call pays for a
 * comparison only. A count of destroyed streams and contexts makes what threads remember invalid.
 *
 * No lock is held while CUDA or CUPTI is called: both may call back. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "common/map.h"
#include "inject.h"

enum { REMEMBERED = 16, DEVICES_MAX = 256 };
#define NONE UINT32_MAX

struct context {
    CUcontext handle;                    /* NULL: not seen, or destroyed */
    uint32_t id, device, null_stream_id; /* NONE: not known yet */
};
struct stream {
    uint32_t context_id, stream_id;
    CUstream handle;  /* NULL: a default stream, or one that only records have named */
    uint32_t ordinal; /* on its device; NONE: not known yet */
    struct cts_log *log;
    bool described, null_stream, non_blocking;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *contexts;
static size_t context_count;
static struct cts_map streams; /* (context id + 1, stream id) -> struct stream * */
static struct cts_map handles; /* live handle -> struct stream * */
static _Atomic uint32_t generation = 1;

/* Functions of the driver; NULL where it cannot be found. */
static CUresult (*stream_query)(CUstream);
static CUresult (*context_push)(CUcontext);
static CUresult (*context_pop)(CUcontext *);

static __thread struct remembered {
    CUstream handle;
    uint32_t context_id, generation;
    bool per_thread;
    struct cts_log *log;
} remembered[REMEMBERED];

/* ---- under the lock ---- */

static struct context *context_of(uint32_t id)
{
    for (size_t i = 0; i < context_count; i++)
        if (contexts[i].id == id) return &contexts[i];
    struct context *const grown = realloc(contexts, (context_count + 1) * sizeof *contexts);
    if (!grown) return NULL;
    contexts = grown;
    contexts[context_count] = (struct context){.id = id, .device = NONE, .null_stream_id = NONE};
    return &contexts[context_count++];
}

static uint64_t key_of(uint32_t context_id, uint32_t stream_id)
{
    return ((uint64_t)context_id + 1) << 32 | stream_id;
}

static struct stream *known_stream(const struct cts_map *map, uint64_t key)
{
    const uint64_t *const place = cts_map_find(map, key);
    return place ? (struct stream *)(uintptr_t)*place : NULL;
}

/* False: no memory. NULL forgets what the key named. */
static bool name_stream(struct cts_map *map, uint64_t key, struct stream *stream)
{
    uint64_t *const place = cts_map_at(map, key, NULL);
    if (place) *place = (uintptr_t)stream;
    return place != NULL;
}

static struct stream *stream_of(uint32_t context_id, uint32_t stream_id)
{
    const uint64_t key = key_of(context_id, stream_id);
    struct stream *stream = known_stream(&streams, key);
    if (stream) return stream;
    stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    *stream = (struct stream){.context_id = context_id, .stream_id = stream_id, .ordinal = NONE};
    if (name_stream(&streams, key, stream)) return stream;
    free(stream);
    return NULL;
}

/* The null stream of a device's first context is 0, others follow in the order of creation: the
 * same program gives the same numbers. */
static void number(struct stream *stream, uint32_t device, bool is_null)
{
    static struct {
        bool has_null;
        uint32_t count;
    } numbered[DEVICES_MAX];
    if (stream->ordinal != NONE || device >= DEVICES_MAX) return;
    if (is_null && !numbered[device].has_null)
        stream->ordinal = 0;
    else
        stream->ordinal = ++numbered[device].count;
    numbered[device].has_null |= is_null;
}

/* The stream gets its location when it is first used; what is known of it then is what stays. */
static struct cts_log *log_of(struct stream *stream, uint32_t device)
{
    if (stream->log) return stream->log;
    const struct context *const context = context_of(stream->context_id);
    if (device == NONE && context) device = context->device;
    if (device == NONE) device = 0;
    const bool is_null =
        stream->null_stream || (context && context->null_stream_id == stream->stream_id);
    number(stream, device, is_null);
    const struct cts_recorder_stream description = {
        .device = device,
        .context = stream->context_id,
        .stream = stream->stream_id,
        .ordinal = stream->ordinal, /* NONE: the recorder counts */
        .null_stream = is_null,
        .non_blocking = stream->non_blocking,
    };
    stream->log = cts_inject_recorder->stream(&description);
    return stream->log;
}

/* ---- contexts ---- */

static void find_driver(void)
{
    void *const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!driver) return;
    *(void **)&stream_query = dlsym(driver, "cuStreamQuery");
    *(void **)&context_push = dlsym(driver, "cuCtxPushCurrent_v2");
    *(void **)&context_pop = dlsym(driver, "cuCtxPopCurrent_v2");
}

static void learn_context(CUcontext context, uint32_t context_id)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_driver);
    pthread_mutex_lock(&lock);
    struct context *const known = context_of(context_id);
    const bool missing = known && (known->device == NONE || known->null_stream_id == NONE);
    if (known) known->handle = context;
    pthread_mutex_unlock(&lock);
    uint32_t device = NONE, null_stream_id = NONE;
    if (!missing || cts_cupti.cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS ||
        cts_cupti.cuptiGetStreamIdEx(context, NULL, 0, &null_stream_id) != CUPTI_SUCCESS)
        return;
    cts_context_described(context_id, device, null_stream_id);
}

void cts_context_described(uint32_t context_id, uint32_t device, uint32_t null_stream_id)
{
    pthread_mutex_lock(&lock);
    struct context *const context = context_of(context_id);
    if (context) {
        context->device = device;
        context->null_stream_id = null_stream_id;
    }
    pthread_mutex_unlock(&lock);
}

void cts_context_destroyed(CUcontext context)
{
    uint32_t context_id;
    if (cts_cupti.cuptiGetContextId(context, &context_id) != CUPTI_SUCCESS) context_id = NONE;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < context_count; i++)
        if (contexts[i].id == context_id) contexts[i].handle = NULL;
    for (size_t i = 0; i < handles.capacity; i++) {
        const struct stream *const stream = (struct stream *)(uintptr_t)handles.entries[i].value;
        if (stream && stream->context_id == context_id) handles.entries[i].value = 0;
    }
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&generation, 1);
}

/* ---- streams by handle ---- */

static bool is_default(CUstream handle)
{
    return handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

static struct cts_log *find_default(CUcontext context, uint32_t context_id, CUstream handle,
                                    bool per_thread)
{
    const bool own = handle == CU_STREAM_PER_THREAD || (handle == NULL && per_thread);
    uint32_t stream_id;
    if (cts_cupti.cuptiGetStreamIdEx(context, NULL, own, &stream_id) != CUPTI_SUCCESS) return NULL;
    pthread_mutex_lock(&lock);
    struct stream *const stream = stream_of(context_id, stream_id);
    if (stream && !own) stream->null_stream = true;
    struct cts_log *const log = stream ? log_of(stream, NONE) : NULL;
    pthread_mutex_unlock(&lock);
    return log;
}

static struct cts_log *find_named(CUcontext context, uint32_t context_id, CUstream handle)
{
    const uint64_t key = (uintptr_t)handle;
    pthread_mutex_lock(&lock);
    struct stream *stream = known_stream(&handles, key);
    struct cts_log *log = stream ? stream->log : NULL;
    pthread_mutex_unlock(&lock);
    if (log) return log;

    uint32_t stream_id = stream ? stream->stream_id : 0;
    if (stream) context_id = stream->context_id;
    if (!stream && cts_cupti.cuptiGetStreamIdEx(context, handle, 0, &stream_id) != CUPTI_SUCCESS)
        return NULL;
    pthread_mutex_lock(&lock);
    stream = stream_of(context_id, stream_id);
    if (stream) {
        stream->handle = handle;
        (void)name_stream(&handles, key, stream);
        log = log_of(stream, NONE);
    }
    pthread_mutex_unlock(&lock);
    return log;
}

struct cts_log *cts_stream_by_handle(CUcontext context, uint32_t context_id, CUstream handle,
                                     bool per_thread)
{
    if (!context) return NULL;
    const uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
    const uintptr_t mixed = (uintptr_t)handle >> 4 ^ (uintptr_t)handle >> 12 ^ context_id;
    struct remembered *const place = &remembered[mixed % REMEMBERED];
    if (place->generation == now && place->handle == handle && place->context_id == context_id &&
        place->per_thread == per_thread)
        return place->log;
    learn_context(context, context_id);
    struct cts_log *const log = is_default(handle)
                                    ? find_default(context, context_id, handle, per_thread)
                                    : find_named(context, context_id, handle);
    if (log) *place = (struct remembered){handle, context_id, now, per_thread, log};
    return log;
}

/* The ids are asked for while the stream's own context is known: a call may name the stream while
 * another context is current. Flags come when the call that creates it returns; asking CUDA for
 * them later would break a capture of the stream into a graph. */
void cts_stream_created(CUcontext context, CUstream handle)
{
    uint32_t context_id, stream_id, device;
    if (is_default(handle) || cts_cupti.cuptiGetContextId(context, &context_id) != CUPTI_SUCCESS ||
        cts_cupti.cuptiGetStreamIdEx(context, handle, 0, &stream_id) != CUPTI_SUCCESS ||
        cts_cupti.cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS)
        return;
    pthread_mutex_lock(&lock);
    struct stream *const stream = stream_of(context_id, stream_id);
    if (stream) {
        stream->handle = handle;
        number(stream, device, false);
        (void)name_stream(&handles, (uintptr_t)handle, stream);
    }
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&generation, 1);
}

void cts_stream_flags(CUstream handle, unsigned flags)
{
    pthread_mutex_lock(&lock);
    struct stream *const stream = known_stream(&handles, (uintptr_t)handle);
    if (stream) {
        stream->described = true;
        stream->non_blocking = (flags & CU_STREAM_NON_BLOCKING) != 0;
    }
    pthread_mutex_unlock(&lock);
}

void cts_stream_destroyed(CUstream handle)
{
    if (is_default(handle)) return;
    pthread_mutex_lock(&lock);
    if (known_stream(&handles, (uintptr_t)handle))
        (void)name_stream(&handles, (uintptr_t)handle, NULL);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&generation, 1);
}

/* ---- streams by the ids of records ---- */

void cts_stream_described(uint32_t context_id, uint32_t stream_id, bool null_stream,
                          bool non_blocking)
{
    pthread_mutex_lock(&lock);
    struct stream *const stream = stream_of(context_id, stream_id);
    if (stream && !stream->described) {
        stream->described = true;
        stream->null_stream |= null_stream;
        stream->non_blocking = non_blocking;
    }
    pthread_mutex_unlock(&lock);
}

struct cts_log *cts_stream_by_id(uint32_t context_id, uint32_t stream_id, uint32_t device)
{
    pthread_mutex_lock(&lock);
    struct stream *const stream = stream_of(context_id, stream_id);
    struct cts_log *const log = stream ? log_of(stream, device) : NULL;
    pthread_mutex_unlock(&lock);
    return log;
}

struct cts_log *cts_stream_of_context(uint32_t context_id, uint32_t device)
{
    pthread_mutex_lock(&lock);
    const struct context *const context = context_of(context_id);
    struct stream *const stream = context && context->null_stream_id != NONE
                                      ? stream_of(context_id, context->null_stream_id)
                                      : NULL;
    struct cts_log *const log = stream ? log_of(stream, device) : NULL;
    pthread_mutex_unlock(&lock);
    return log;
}

/* ---- the end ---- */

enum { ASKED_MAX = 256 };

static bool null_stream_is_busy(CUcontext context)
{
    CUcontext popped;
    if (!context_push || !context_pop || context_push(context) != CUDA_SUCCESS) return false;
    const bool busy = stream_query(CU_STREAM_LEGACY) == CUDA_ERROR_NOT_READY;
    (void)context_pop(&popped);
    return busy;
}

/* Handles are copied, since asking CUDA may call back. A stream that is being captured or whose
 * context is gone counts as idle: any answer but 'not ready' does. */
bool cts_streams_are_busy(void)
{
    CUstream asked[ASKED_MAX];
    CUcontext asked_contexts[ASKED_MAX];
    size_t count = 0, asked_context_count = 0;
    bool busy = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < handles.capacity && count < ASKED_MAX; i++) {
        const struct stream *const stream = (struct stream *)(uintptr_t)handles.entries[i].value;
        if (stream) asked[count++] = stream->handle;
    }
    for (size_t i = 0; i < context_count && asked_context_count < ASKED_MAX; i++)
        if (contexts[i].handle) asked_contexts[asked_context_count++] = contexts[i].handle;
    pthread_mutex_unlock(&lock);
    if (!stream_query) return false;
    for (size_t i = 0; i < asked_context_count && !busy; i++)
        busy = null_stream_is_busy(asked_contexts[i]);
    for (size_t i = 0; i < count && !busy; i++)
        busy = stream_query(asked[i]) == CUDA_ERROR_NOT_READY;
    return busy;
}
