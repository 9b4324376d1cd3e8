/* Streams are known by CUPTI's numbers of their context and of themselves where CUPTI records, and
 * by the driver's elsewhere. All functions are looked for in the libraries that the program has
 * loaded already. */
#include "record/wrappers/stream-ids.h"

#include <pthread.h>
#include <stddef.h>

#include "record/wrappers/loader.h"

typedef int status; /* of both libraries; 0: success */

static struct {
    status (*cuStreamGetCtx)(void *stream, void **context);
    status (*cuCtxGetCurrent)(void **context);
    status (*cuCtxGetId)(void *context, unsigned long long *id);
    status (*cuStreamGetId)(void *stream, unsigned long long *id);
    status (*cuCtxGetDevice)(int *device);
    status (*cuptiGetContextId)(void *context, uint32_t *id);
    status (*cuptiGetStreamIdEx)(void *context, void *stream, uint8_t per_thread, uint32_t *id);
    status (*cuptiGetDeviceId)(void *context, uint32_t *id);
} cuda;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void)
{
#define FIND(name, library) *(void **)&cuda.name = cts_variable_address(#name, library)
    FIND(cuStreamGetCtx, "libcuda.so");
    FIND(cuCtxGetCurrent, "libcuda.so");
    FIND(cuCtxGetId, "libcuda.so");
    FIND(cuStreamGetId, "libcuda.so");
    FIND(cuCtxGetDevice, "libcuda.so");
    FIND(cuptiGetContextId, "libcupti");
    FIND(cuptiGetStreamIdEx, "libcupti");
    FIND(cuptiGetDeviceId, "libcupti");
#undef FIND
}

static bool ids_of_cupti(void *context, void *stream, struct cts_recorder_stream *found)
{
    uint32_t context_id, stream_id, device;
    if (!cuda.cuptiGetContextId || !cuda.cuptiGetStreamIdEx || !cuda.cuptiGetDeviceId ||
        cuda.cuptiGetContextId(context, &context_id) != 0 ||
        cuda.cuptiGetStreamIdEx(context, stream, 0, &stream_id) != 0 ||
        cuda.cuptiGetDeviceId(context, &device) != 0)
        return false;
    found->context = context_id;
    found->stream = stream_id;
    found->device = device;
    return true;
}

static bool ids_of_driver(void *context, void *stream, struct cts_recorder_stream *found)
{
    unsigned long long context_id, stream_id;
    int device = 0;
    if (!cuda.cuCtxGetId || !cuda.cuStreamGetId || cuda.cuCtxGetId(context, &context_id) != 0 ||
        cuda.cuStreamGetId(stream, &stream_id) != 0)
        return false;
    if (cuda.cuCtxGetDevice) cuda.cuCtxGetDevice(&device);
    found->context = context_id;
    found->stream = stream_id;
    found->device = (uint32_t)device;
    return true;
}

struct cts_log *cts_stream_log(const struct cts_recorder *recorder, void *stream)
{
    void *context = NULL;
    /* The handles 0, 1 and 2 are default streams: of the current context. */
    const bool is_default = (uintptr_t)stream <= 2;
    struct cts_recorder_stream found = {.ordinal = CTS_TIMELINE_NONE,
                                        .null_stream = (uintptr_t)stream <= 1};
    pthread_once(&once, find);
    if (!is_default && cuda.cuStreamGetCtx) {
        if (cuda.cuStreamGetCtx(stream, &context) != 0) return NULL;
    } else if (!cuda.cuCtxGetCurrent || cuda.cuCtxGetCurrent(&context) != 0) {
        return NULL;
    }
    if (!context ||
        (!ids_of_cupti(context, stream, &found) && !ids_of_driver(context, stream, &found)))
        return NULL;
    return recorder->stream(&found);
}
