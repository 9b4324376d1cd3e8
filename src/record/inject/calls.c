/* Calls of CUDA's runtime and driver become regions of the calling thread.
 *
 * A call of the runtime (cudaLaunchKernel) calls the driver (cuLaunchKernel); both are recorded,
 * one inside the other, as they happen. What an analysis needs to know of the call - its stream,
 * its event, the correlation with what the device does, a query's answer - stands on the inner one
 * alone, so that nothing is there twice: on the driver's, or on the runtime's when only that is
 * recorded. ENTER carries the stream and the correlation of what starts work; LEAVE carries stream,
 * event and result of what waits, asks or records (docs/timeline.md).
 *
 * The tables of calls are made from the toolkit's headers when this is built (cuda-calls.awk). */
#include <stdatomic.h>

#include "inject.h"

enum cts_cuda_call_flags {
    CTS_CALL_DEFAULT = 1,     /* recorded unless all calls are */
    CTS_CALL_LAUNCH = 2,      /* of one kernel */
    CTS_CALL_WORK = 4,        /* starts what records will carry its correlation id */
    CTS_CALL_QUERY = 8,       /* the result is an answer */
    CTS_CALL_AT_LEAVE = 16,   /* stream and event are told at the end */
    CTS_CALL_PER_THREAD = 32, /* stream 0 is the thread's own */
    CTS_CALL_CONFIG = 64,     /* the stream is in the launch configuration */
};

struct cts_cuda_call {
    const char *name;
    uint16_t flags;
    uint16_t stream_at, event_at;         /* offset in the parameters plus one; 0: none */
    uint16_t created_at, create_flags_at; /* likewise: of calls that create a stream */
};

#include "cuda-calls.inc"

enum { DRIVER, RUNTIME, DOMAINS };
enum { DRIVER_COUNT = sizeof driver_calls / sizeof *driver_calls };
enum { RUNTIME_COUNT = sizeof runtime_calls / sizeof *runtime_calls };

static _Atomic uint32_t driver_regions[DRIVER_COUNT]; /* number plus one */
static _Atomic uint32_t runtime_regions[RUNTIME_COUNT];

static struct domain {
    const struct cts_cuda_call *calls;
    _Atomic uint32_t *regions;
    uint32_t count;
    bool innermost; /* its calls carry the attributes */
    CUpti_CallbackDomain domain;
    const char *file;
} domains[DOMAINS] = {
    [DRIVER] = {driver_calls, driver_regions, DRIVER_COUNT, true, CUPTI_CB_DOMAIN_DRIVER_API,
                "CUDRV"},
    [RUNTIME] = {runtime_calls, runtime_regions, RUNTIME_COUNT, false, CUPTI_CB_DOMAIN_RUNTIME_API,
                 "CUDART"},
};

static _Atomic bool stopped;
static _Atomic uint64_t launch_count;
static __thread bool inside; /* a callback: what it calls itself is not recorded */

/* ---- what a call's parameters say ---- */

static CUstream stream_of(const struct cts_cuda_call *call, bool of_runtime, const void *parameters)
{
    if (call->flags & CTS_CALL_CONFIG) {
        /* the configuration is the first parameter of both */
        if (of_runtime) return (*(const cudaLaunchConfig_t *const *)parameters)->stream;
        return (*(const CUlaunchConfig *const *)parameters)->hStream;
    }
    return *(const CUstream *)((const char *)parameters + call->stream_at - 1);
}

static bool has_stream(const struct cts_cuda_call *call)
{
    return call->stream_at || (call->flags & CTS_CALL_LAUNCH && call->flags & CTS_CALL_CONFIG);
}

static void set(struct cts_event_attributes *attributes, enum cts_attribute attribute,
                uint64_t value)
{
    attributes->present |= 1u << attribute;
    attributes->values[attribute] = value;
}

static void tell_stream(struct cts_event_attributes *attributes, const struct cts_cuda_call *call,
                        bool of_runtime, const CUpti_CallbackData *data)
{
    if (!has_stream(call) || !data->functionParams) return;
    struct cts_log *const log = cts_stream_by_handle(
        data->context, data->contextUid, stream_of(call, of_runtime, data->functionParams),
        (call->flags & CTS_CALL_PER_THREAD) != 0);
    if (log) set(attributes, CTS_ATTRIBUTE_STREAM_REF, (uintptr_t)log);
}

/* ---- events ---- */

static void learn_created(const struct cts_cuda_call *call, const void *parameters)
{
    const char *const at = parameters;
    CUstream *const stream = *(CUstream *const *)(at + call->created_at - 1);
    const unsigned flags =
        call->create_flags_at ? *(const unsigned *)(at + call->create_flags_at - 1) : 0;
    if (stream) cts_stream_flags(*stream, flags);
}

static uint32_t region_of(const struct domain *domain, uint32_t id)
{
    uint32_t number = atomic_load_explicit(&domain->regions[id], memory_order_relaxed);
    if (number == 0) {
        const struct cts_timeline_region region = {.name = domain->calls[id].name,
                                                   .file = domain->file,
                                                   .paradigm = CTS_PARADIGM_CUDA,
                                                   .role = CTS_ROLE_WRAPPER};
        number = cts_inject_recorder->region(&region) + 1;
        atomic_store_explicit(&domain->regions[id], number, memory_order_relaxed);
    }
    return number - 1;
}

static void enter(const struct domain *domain, uint32_t id, struct cts_log *thread,
                  const CUpti_CallbackData *data)
{
    const struct cts_cuda_call *const call = &domain->calls[id];
    const uint32_t region = region_of(domain, id);
    struct cts_event_attributes attributes;
    attributes.present = 0;
    if (domain->innermost) {
        if (!(call->flags & CTS_CALL_AT_LEAVE))
            tell_stream(&attributes, call, domain->domain == CUPTI_CB_DOMAIN_RUNTIME_API, data);
        if (call->flags & CTS_CALL_WORK)
            set(&attributes, CTS_ATTRIBUTE_CORRELATION, data->correlationId);
        if (call->flags & CTS_CALL_LAUNCH)
            atomic_fetch_add_explicit(&launch_count, 1, memory_order_relaxed);
    }
    if (!attributes.present) {
        cts_inject_recorder->enter(thread, region);
        return;
    }
    const struct cts_timeline_event event = {.kind = CTS_EVENT_ENTER, .region = region};
    cts_inject_recorder->event(thread, &event, &attributes);
}

static void leave(const struct domain *domain, uint32_t id, struct cts_log *thread,
                  const CUpti_CallbackData *data)
{
    const struct cts_cuda_call *const call = &domain->calls[id];
    const uint32_t region = region_of(domain, id);
    const uint32_t result =
        data->functionReturnValue ? *(const uint32_t *)data->functionReturnValue : 0;
    if (call->created_at && !result && data->functionParams)
        learn_created(call, data->functionParams);
    if (!domain->innermost || (!(call->flags & CTS_CALL_AT_LEAVE) && !call->event_at && !result)) {
        cts_inject_recorder->leave(thread, region);
        return;
    }
    const struct cts_timeline_event event = {
        .time_ns = cts_inject_recorder->now_ns(), .kind = CTS_EVENT_LEAVE, .region = region};
    struct cts_event_attributes attributes;
    attributes.present = 0;
    if (call->flags & CTS_CALL_AT_LEAVE)
        tell_stream(&attributes, call, domain->domain == CUPTI_CB_DOMAIN_RUNTIME_API, data);
    if (call->event_at && data->functionParams)
        set(&attributes, CTS_ATTRIBUTE_EVENT_REF,
            *(const uint64_t *)((const char *)data->functionParams + call->event_at - 1));
    if (call->flags & CTS_CALL_QUERY || result) set(&attributes, CTS_ATTRIBUTE_RESULT, result);
    cts_inject_recorder->event(thread, &event, &attributes);
}

/* ---- host functions ---- */

/* The parameters are the driver's own, which takes them from there after the callback. */
static void tell_function(uint32_t id, const struct cts_cuda_call *call,
                          const CUpti_CallbackData *data)
{
    const bool is_launch = id == CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc ||
                           id == CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc_ptsz;
    const bool is_callback = id == CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback ||
                             id == CUPTI_DRIVER_TRACE_CBID_cuStreamAddCallback_ptsz;
    if ((!is_launch && !is_callback) || !data->functionParams) return;
    const bool per_thread = (call->flags & CTS_CALL_PER_THREAD) != 0;
    const struct cts_function_call of = {
        .stream = cts_stream_by_handle(data->context, data->contextUid,
                                       stream_of(call, false, data->functionParams), per_thread),
        .correlation = data->correlationId,
        .per_thread = per_thread};
    if (is_launch)
        cts_function_launched(&of, (cuLaunchHostFunc_params *)(uintptr_t)data->functionParams);
    else
        cts_callback_added(&of, (cuStreamAddCallback_params *)(uintptr_t)data->functionParams);
}

/* ---- callbacks ---- */

static void on_call(const struct domain *domain, uint32_t id, const CUpti_CallbackData *data)
{
    if (id >= domain->count || !domain->calls[id].name) return;
    struct cts_log *const thread = cts_inject_recorder->this_thread();
    if (!thread) return;
    if (data->callbackSite != CUPTI_API_ENTER) {
        leave(domain, id, thread, data);
        return;
    }
    enter(domain, id, thread, data);
    if (domain == &domains[DRIVER]) tell_function(id, &domain->calls[id], data);
}

static void on_resource(uint32_t id, const CUpti_ResourceData *data)
{
    if (id == CUPTI_CBID_RESOURCE_STREAM_CREATED)
        cts_stream_created(data->context, data->resourceHandle.stream);
    else if (id == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING)
        cts_stream_destroyed(data->resourceHandle.stream);
    else if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
        cts_context_destroyed(data->context);
}

static void on_state(uint32_t id, const CUpti_StateData *data)
{
    if (id != CUPTI_CBID_STATE_FATAL_ERROR) return;
    const char *reason = data->notification.message;
    if (!reason) cts_cupti.cuptiGetResultString(data->notification.result, &reason);
    cts_inject_say("error", "the GPU timeline ends here: CUPTI: %s", reason ? reason : "unknown");
}

void CUPTIAPI cts_calls_callback(void *state, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void *data)
{
    (void)state;
    if (inside || atomic_load_explicit(&stopped, memory_order_relaxed)) return;
    inside = true;
    switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
        on_call(&domains[DRIVER], id, data);
        break;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
        on_call(&domains[RUNTIME], id, data);
        break;
    case CUPTI_CB_DOMAIN_RESOURCE:
        on_resource(id, data);
        break;
    case CUPTI_CB_DOMAIN_STATE:
        on_state(id, data);
        break;
    default:
        break;
    }
    inside = false;
}

/* A call that this version of CUPTI does not know is left out: the table is of the headers. */
static void enable_defaults(CUpti_SubscriberHandle subscriber, const struct domain *domain)
{
    for (uint32_t id = 0; id < domain->count; id++)
        if (domain->calls[id].flags & CTS_CALL_DEFAULT)
            (void)cts_cupti.cuptiEnableCallback(1, subscriber, domain->domain, id);
}

void cts_calls_enable(CUpti_SubscriberHandle subscriber, enum cts_calls_choice choice)
{
    static const uint32_t resources[] = {CUPTI_CBID_RESOURCE_STREAM_CREATED,
                                         CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
                                         CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};
    const bool is_wanted[DOMAINS] = {
        [DRIVER] = choice != CTS_CALLS_RUNTIME, [RUNTIME] = choice != CTS_CALLS_DRIVER};
    domains[RUNTIME].innermost = !is_wanted[DRIVER];
    for (int i = 0; i < DOMAINS; i++) {
        if (!is_wanted[i]) continue;
        if (choice == CTS_CALLS_ALL)
            (void)cts_cupti.cuptiEnableDomain(1, subscriber, domains[i].domain);
        else
            enable_defaults(subscriber, &domains[i]);
    }
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++)
        (void)cts_cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, resources[i]);
    (void)cts_cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_STATE,
                                        CUPTI_CBID_STATE_FATAL_ERROR);
}

void cts_calls_stop(void)
{
    atomic_store(&stopped, true);
}

uint64_t cts_calls_launch_count(void)
{
    return atomic_load(&launch_count);
}
