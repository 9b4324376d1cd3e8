/* A libcupti without a GPU: the functions that the GPU recorder calls, and those with which a test
 * plays the driver (fake-cupti.h). FAKE_SUBSCRIBE and FAKE_ENABLE are results to give. */
#include "fake-cupti.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IDS = 1024, STREAMS = 64, NULL_STREAM_ID = 7, OWN_STREAM_ID = 90 };

static CUpti_CallbackFunc callback;
static bool enabled[CUPTI_CB_DOMAIN_SIZE][IDS];
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_TimestampCallbackFunc timestamp;
static struct {
    CUstream stream;
    uint32_t id;
} named[STREAMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *buffer;
static size_t buffer_bytes, used_bytes, dropped_count;
static unsigned forced_flushes;
static pid_t user; /* a forked child has none of CUPTI's threads */

static int asked(const char *variable)
{
    const char *const value = getenv(variable);
    return value ? (int)strtol(value, NULL, 10) : 0;
}

/* ---- callbacks ---- */

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc function,
                           void *state)
{
    (void)state;
    *subscriber = (CUpti_SubscriberHandle)(uintptr_t)1;
    callback = function;
    user = getpid();
    return (CUptiResult)asked("FAKE_SUBSCRIBE");
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    (void)subscriber;
    callback = NULL;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)subscriber;
    if (domain >= CUPTI_CB_DOMAIN_SIZE || id >= IDS) return CUPTI_ERROR_INVALID_PARAMETER;
    enabled[domain][id] = enable != 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                              CUpti_CallbackDomain domain)
{
    (void)subscriber;
    memset(enabled[domain], enable != 0, sizeof enabled[domain]);
    return CUPTI_SUCCESS;
}

void fake_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site,
               const void *parameters, int result, CUcontext context, uint32_t correlation)
{
    if (!callback || !enabled[domain][id]) return;
    const CUpti_CallbackData data = {.callbackSite = site,
                                     .functionParams = parameters,
                                     .functionReturnValue = &result,
                                     .context = context,
                                     .contextUid = (uint32_t)(uintptr_t)context,
                                     .correlationId = correlation};
    callback(NULL, domain, id, &data);
}

void fake_resource(CUpti_CallbackId id, CUcontext context, CUstream stream)
{
    if (!callback || !enabled[CUPTI_CB_DOMAIN_RESOURCE][id]) return;
    const CUpti_ResourceData data = {.context = context, .resourceHandle.stream = stream};
    callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

/* ---- numbers ---- */

void fake_name_stream(CUstream stream, uint32_t id)
{
    for (int i = 0; i < STREAMS; i++)
        if (!named[i].stream || named[i].stream == stream) {
            named[i].stream = stream;
            named[i].id = id;
            return;
        }
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id)
{
    *id = (uint32_t)(uintptr_t)context * 100 + (per_thread ? OWN_STREAM_ID : NULL_STREAM_ID);
    if (!stream) return CUPTI_SUCCESS;
    for (int i = 0; i < STREAMS; i++)
        if (named[i].stream == stream) {
            *id = named[i].id;
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_STREAM;
}

/* Context n is of device n - 1. */
CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
    *id = (uint32_t)(uintptr_t)context;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
    *id = (uint32_t)(uintptr_t)context - 1;
    return CUPTI_SUCCESS;
}

/* ---- records ---- */

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function)
{
    timestamp = function;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed)
{
    request = requested;
    complete = completed;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return kind == CUPTI_ACTIVITY_KIND_MEMSET ? (CUptiResult)asked("FAKE_ENABLE") : CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
    (void)attribute, (void)size, (void)value;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
    (void)type;
    return CUPTI_SUCCESS;
}

static size_t size_of(const CUpti_Activity *record)
{
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return sizeof(CUpti_ActivityKernel9);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy5);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_STREAM:
        return sizeof(CUpti_ActivityStream);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        return sizeof(CUpti_ActivityOverhead);
    default:
        abort();
    }
}

/* The lock is not held while the other side is called. */
static void give_up_buffer(void)
{
    uint8_t *const full = buffer;
    const size_t bytes = used_bytes, all_bytes = buffer_bytes;
    buffer = NULL;
    pthread_mutex_unlock(&lock);
    if (full) complete(NULL, 0, full, all_bytes, bytes);
    pthread_mutex_lock(&lock);
}

void fake_record(const void *record)
{
    const size_t bytes = size_of(record);
    size_t record_max;
    pthread_mutex_lock(&lock);
    if (buffer && used_bytes + bytes > buffer_bytes && !getenv("FAKE_KEEP")) give_up_buffer();
    if (!buffer && request) {
        request(&buffer, &buffer_bytes, &record_max);
        used_bytes = 0;
    }
    if (buffer && used_bytes + bytes <= buffer_bytes) {
        memcpy(buffer + used_bytes, record, bytes);
        used_bytes += bytes;
    } else {
        dropped_count++;
    }
    pthread_mutex_unlock(&lock);
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t bytes, CUpti_Activity **record)
{
    uint8_t *const next = *record ? (uint8_t *)*record + size_of(*record) : from;
    if (next >= from + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    *dropped = dropped_count;
    dropped_count = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    if (getpid() != user) abort();
    pthread_mutex_lock(&lock);
    forced_flushes += flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
    if (flag || !getenv("FAKE_KEEP")) give_up_buffer();
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

unsigned fake_forced_flushes(void)
{
    return forced_flushes;
}

uint64_t fake_time(void)
{
    return timestamp ? timestamp() : 0;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = result == CUPTI_ERROR_NOT_SUPPORTED ? "CUPTI_ERROR_NOT_SUPPORTED" : "another error";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

/* Of the driver: stream 2 of the program is being captured. */
CUresult CUDAAPI cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = stream == (CUstream)(uintptr_t)(2 * 4096) ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                        : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
