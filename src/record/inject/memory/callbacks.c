/* Which callbacks there are and where they go. A callback that comes while another one of the same
 * thread runs is caused by our own calls and is left alone, except for modules of the program that
 * they load. */
#include "callbacks.h"

#include "contexts.h"
#include "graph-instances.h"
#include "graph-launches.h"
#include "graph-steps.h"
#include "graphs.h"
#include "grids.h"
#include "host-functions.h"
#include "images.h"
#include "launching.h"
#include "library.h"
#include "memory-run.h"
#include "modules.h"
#include "record/abi.h"
#include "rings.h"
#include "rows.h"
#include "settings.h"
#include "stack.h"
#include "stream-table.h"
#include "launch-tensors.h"

/* What the calling thread is doing, as its API callbacks told. */
static __thread struct {
    struct cts_allocating_call allocating;
    struct cts_stream_creation creation;
    bool creates_stream;
    struct cts_sync_call sync;
    struct cts_copying_call copying;
    struct cts_launch_call launch;
} current;
static __thread bool inside, looks_at_parameters;

/* ---- API calls ---- */

/* What matters of a call of the driver's or the runtime's API. */
enum call_kind {
    CALL_ALLOCATES,
    CALL_ALLOCATES_PINNED, /* with flags that may map it */
    CALL_CREATES_STREAM,
    CALL_CREATES_STREAM_WITH_PRIORITY,
    CALL_DEVICE_SYNC,
    CALL_STREAM_SYNC,
    CALL_STREAM_QUERY,
    CALL_EVENT_SYNC,
    CALL_EVENT_QUERY,
    CALL_COPIES, /* perhaps to the host, which it waits for */
    CALL_PROFILER_START,
    CALL_PROFILER_STOP,
    CALL_LAUNCH,
    CALL_LAUNCH_COOPERATIVE,
    CALL_LAUNCH_EXTENDED,
    CALL_LAUNCH_GRAPH,
    CALL_FREES,
    CALL_HOST_FUNCTION,
    CALL_HOST_FUNCTION_PER_THREAD, /* no stream is the thread's default stream */
    CALL_STREAM_CALLBACK,
    CALL_STREAM_CALLBACK_PER_THREAD,
    CALL_LOADS_IMAGE,
};
struct call {
    Sanitizer_CallbackId id;
    enum call_kind kind;
};

#define DRIVER(name)  SANITIZER_CBID_DRIVER_API_##name
#define RUNTIME(name) SANITIZER_CBID_RUNTIME_API_##name
static const struct call driver_calls[] = {
    {DRIVER(cuMemAlloc_v2), CALL_ALLOCATES},
    {DRIVER(cuMemAllocPitch_v2), CALL_ALLOCATES},
    {DRIVER(cuMemAllocHost_v2), CALL_ALLOCATES},
    {DRIVER(cuMemHostAlloc), CALL_ALLOCATES_PINNED},
    {DRIVER(cuMemAllocManaged), CALL_ALLOCATES},
    {DRIVER(cuMemAllocAsync), CALL_ALLOCATES},
    {DRIVER(cuMemAllocAsync_ptsz), CALL_ALLOCATES},
    {DRIVER(cuMemAllocFromPoolAsync), CALL_ALLOCATES},
    {DRIVER(cuMemAllocFromPoolAsync_ptsz), CALL_ALLOCATES},
    {DRIVER(cuStreamCreate), CALL_CREATES_STREAM},
    {DRIVER(cuStreamCreateWithPriority), CALL_CREATES_STREAM_WITH_PRIORITY},
    {DRIVER(cuCtxSynchronize), CALL_DEVICE_SYNC},
    {DRIVER(cuCtxSynchronize_v2), CALL_DEVICE_SYNC},
    {DRIVER(cuStreamSynchronize), CALL_STREAM_SYNC},
    {DRIVER(cuStreamSynchronize_ptsz), CALL_STREAM_SYNC},
    {DRIVER(cuStreamQuery), CALL_STREAM_QUERY},
    {DRIVER(cuStreamQuery_ptsz), CALL_STREAM_QUERY},
    {DRIVER(cuEventSynchronize), CALL_EVENT_SYNC},
    {DRIVER(cuEventQuery), CALL_EVENT_QUERY},
    {DRIVER(cuMemcpy), CALL_COPIES},
    {DRIVER(cuMemcpy_ptds), CALL_COPIES},
    {DRIVER(cuMemcpyDtoH_v2), CALL_COPIES},
    {DRIVER(cuMemcpyDtoH_v2_ptds), CALL_COPIES},
    {DRIVER(cuMemcpyAtoH_v2), CALL_COPIES},
    {DRIVER(cuMemcpyAtoH_v2_ptds), CALL_COPIES},
    {DRIVER(cuMemcpy2D_v2), CALL_COPIES},
    {DRIVER(cuMemcpy2D_v2_ptds), CALL_COPIES},
    {DRIVER(cuMemcpy2DUnaligned_v2), CALL_COPIES},
    {DRIVER(cuMemcpy2DUnaligned_v2_ptds), CALL_COPIES},
    {DRIVER(cuMemcpy3D_v2), CALL_COPIES},
    {DRIVER(cuMemcpy3D_v2_ptds), CALL_COPIES},
    {DRIVER(cuProfilerStart), CALL_PROFILER_START},
    {DRIVER(cuProfilerStop), CALL_PROFILER_STOP},
    {DRIVER(cuLaunchKernel), CALL_LAUNCH},
    {DRIVER(cuLaunchKernel_ptsz), CALL_LAUNCH},
    {DRIVER(cuLaunchCooperativeKernel), CALL_LAUNCH_COOPERATIVE},
    {DRIVER(cuLaunchCooperativeKernel_ptsz), CALL_LAUNCH_COOPERATIVE},
    {DRIVER(cuLaunchKernelEx), CALL_LAUNCH_EXTENDED},
    {DRIVER(cuLaunchKernelEx_ptsz), CALL_LAUNCH_EXTENDED},
    {DRIVER(cuGraphLaunch), CALL_LAUNCH_GRAPH},
    {DRIVER(cuGraphLaunch_ptsz), CALL_LAUNCH_GRAPH},
    {DRIVER(cuMemFree_v2), CALL_FREES},
    {DRIVER(cuMemFreeAsync), CALL_FREES},
    {DRIVER(cuMemFreeAsync_ptsz), CALL_FREES},
    {DRIVER(cuLaunchHostFunc), CALL_HOST_FUNCTION},
    {DRIVER(cuLaunchHostFunc_ptsz), CALL_HOST_FUNCTION_PER_THREAD},
    {DRIVER(cuStreamAddCallback), CALL_STREAM_CALLBACK},
    {DRIVER(cuStreamAddCallback_ptsz), CALL_STREAM_CALLBACK_PER_THREAD},
    {DRIVER(cuModuleLoadData), CALL_LOADS_IMAGE},
    {DRIVER(cuModuleLoadDataEx), CALL_LOADS_IMAGE},
    {DRIVER(cuModuleLoadFatBinary), CALL_LOADS_IMAGE},
    {DRIVER(cuLibraryLoadData), CALL_LOADS_IMAGE},
};
static const struct call runtime_calls[] = {
    {RUNTIME(cudaMalloc), CALL_ALLOCATES},
    {RUNTIME(cudaMallocPitch), CALL_ALLOCATES},
    {RUNTIME(cudaMallocHost), CALL_ALLOCATES},
    {RUNTIME(cudaMalloc3D), CALL_ALLOCATES},
    {RUNTIME(cudaMallocManaged), CALL_ALLOCATES},
    {RUNTIME(cudaMallocAsync), CALL_ALLOCATES},
    {RUNTIME(cudaMallocAsync_ptsz), CALL_ALLOCATES},
    {RUNTIME(cudaMallocFromPoolAsync), CALL_ALLOCATES},
    {RUNTIME(cudaMallocFromPoolAsync_ptsz), CALL_ALLOCATES},
    {RUNTIME(cudaHostAlloc), CALL_ALLOCATES_PINNED},
    {RUNTIME(cudaMemcpy), CALL_COPIES},
    {RUNTIME(cudaMemcpy_ptds), CALL_COPIES},
    {RUNTIME(cudaMemcpy2D), CALL_COPIES},
    {RUNTIME(cudaMemcpy2D_ptds), CALL_COPIES},
    {RUNTIME(cudaMemcpy3D), CALL_COPIES},
    {RUNTIME(cudaMemcpy3D_ptds), CALL_COPIES},
    {RUNTIME(cudaMemcpyFromSymbol), CALL_COPIES},
    {RUNTIME(cudaMemcpyFromSymbol_ptds), CALL_COPIES},
    {RUNTIME(cudaMemcpyFromArray), CALL_COPIES},
    {RUNTIME(cudaMemcpyFromArray_ptds), CALL_COPIES},
    {RUNTIME(cudaMemcpy2DFromArray), CALL_COPIES},
    {RUNTIME(cudaMemcpy2DFromArray_ptds), CALL_COPIES},
};
#undef DRIVER
#undef RUNTIME
enum { DRIVER_CALLS = sizeof driver_calls / sizeof *driver_calls };
enum { RUNTIME_CALLS = sizeof runtime_calls / sizeof *runtime_calls };

static const struct call *find_call(Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id)
{
    const bool is_driver = domain == SANITIZER_CB_DOMAIN_DRIVER_API;
    const struct call *const calls = is_driver ? driver_calls : runtime_calls;
    const size_t count = is_driver ? DRIVER_CALLS : RUNTIME_CALLS;
    for (size_t i = 0; i < count; i++)
        if (calls[i].id == id) return calls + i;
    return NULL;
}

static struct cts_launch_extras extended_shape(const CUlaunchConfig *config)
{
    if (!config) return (struct cts_launch_extras){0};
    struct cts_launch_extras shape = {.dynamic_shared_bytes = config->sharedMemBytes};
    for (unsigned i = 0; i < config->numAttrs && config->attrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            shape.cooperative = config->attrs[i].value.cooperative != 0;
    return shape;
}

static struct cts_launch_extras shape_of(enum call_kind kind, const void *parameters)
{
    if (kind == CALL_LAUNCH_EXTENDED)
        return extended_shape(((const cuLaunchKernelEx_params *)parameters)->config);
    /* those of cuLaunchCooperativeKernel begin as these do */
    return (struct cts_launch_extras){
        ((const cuLaunchKernel_params *)parameters)->sharedMemBytes,
        kind == CALL_LAUNCH_COOPERATIVE,
    };
}

static struct cts_launch_parameters parameters_of(enum call_kind kind, const void *parameters)
{
    if (kind == CALL_LAUNCH_EXTENDED) {
        const cuLaunchKernelEx_params *const extended = parameters;
        return (struct cts_launch_parameters){extended->f, extended->kernelParams, extended->extra};
    }
    if (kind == CALL_LAUNCH_COOPERATIVE) {
        const cuLaunchCooperativeKernel_params *const cooperative = parameters;
        return (struct cts_launch_parameters){cooperative->f, cooperative->kernelParams, NULL};
    }
    const cuLaunchKernel_params *const plain = parameters;
    return (struct cts_launch_parameters){plain->f, plain->kernelParams, plain->extra};
}

/* The function or the graph. */
static const void *launched_by(enum call_kind kind, const void *parameters)
{
    return kind == CALL_LAUNCH_EXTENDED
               ? (const void *)((const cuLaunchKernelEx_params *)parameters)->f
               : *(const void *const *)parameters;
}

/* The driver may load the module, if it has waited for the first launch of it. */
static void take_parameters(enum call_kind kind, const void *parameters)
{
    const struct cts_launch_parameters taken = parameters_of(kind, parameters);
    looks_at_parameters = true;
    cts_launch_tensors_take(&taken);
    looks_at_parameters = false;
}

/* The callback's parameters are those that the driver goes on with. */
static void replace_function(enum call_kind kind, const Sanitizer_CallbackData *data)
{
    void *const parameters = (void *)(uintptr_t)data->functionParams;
    const struct cts_host_function_call call = {.context = data->context,
                                                .per_thread =
                                                    kind == CALL_HOST_FUNCTION_PER_THREAD ||
                                                    kind == CALL_STREAM_CALLBACK_PER_THREAD};
    if (kind == CALL_HOST_FUNCTION || kind == CALL_HOST_FUNCTION_PER_THREAD)
        cts_host_function_called(&call, parameters);
    else
        cts_stream_callback_called(&call, parameters);
}

static void begin_call(const struct call *call, const Sanitizer_CallbackData *data)
{
    const void *const parameters = data->functionParams;
    cts_memory_api_begin(data->functionName, data->context);
    switch (call->kind) {
    case CALL_ALLOCATES:
    case CALL_ALLOCATES_PINNED:
        if (current.allocating.name) break; /* the runtime's name stays */
        current.allocating.name = data->functionName;
        /* both of cudaHostAlloc and cuMemHostAlloc: pointer, size, flags; 2 maps in both */
        current.allocating.is_mapped =
            call->kind == CALL_ALLOCATES_PINNED &&
            ((const cuMemHostAlloc_params *)parameters)->Flags & CU_MEMHOSTALLOC_DEVICEMAP;
        break;
    case CALL_CREATES_STREAM:
    case CALL_CREATES_STREAM_WITH_PRIORITY: {
        const bool has_priority = call->kind == CALL_CREATES_STREAM_WITH_PRIORITY;
        const cuStreamCreateWithPriority_params *const create = parameters;
        current.creates_stream = true;
        current.creation.non_blocking = (create->flags & CU_STREAM_NON_BLOCKING) != 0;
        current.creation.priority = has_priority ? create->priority : 0;
        break;
    }
    case CALL_LOADS_IMAGE:
        cts_image_replace((void *)(uintptr_t)parameters);
        break;
    case CALL_PROFILER_START:
        break;
    case CALL_PROFILER_STOP:
        if (!cts_memory_settings.environment.profile_from_start) cts_launches_switch(false);
        break;
    case CALL_LAUNCH:
    case CALL_LAUNCH_COOPERATIVE:
    case CALL_LAUNCH_EXTENDED:
        current.launch.shape = shape_of(call->kind, parameters);
        current.launch.room = cts_stack_look(launched_by(call->kind, parameters));
        take_parameters(call->kind, parameters);
        break;
    case CALL_LAUNCH_GRAPH:
        current.launch.room = cts_stack_look(launched_by(call->kind, parameters));
        break;
    case CALL_COPIES:
        current.copying = cts_memory_copy_begin();
        break;
    case CALL_FREES:
        break;
    case CALL_HOST_FUNCTION:
    case CALL_HOST_FUNCTION_PER_THREAD:
    case CALL_STREAM_CALLBACK:
    case CALL_STREAM_CALLBACK_PER_THREAD:
        replace_function(call->kind, data);
        break;
    case CALL_EVENT_SYNC:
    case CALL_EVENT_QUERY:
        current.sync =
            cts_memory_sync_begin(data->context, (uint64_t)*(const uintptr_t *)parameters);
        break;
    default:
        current.sync = cts_memory_sync_begin(data->context, 0);
    }
}

static void end_call(const struct call *call, bool by_driver, const Sanitizer_CallbackData *data)
{
    const int32_t result =
        data->functionReturnValue ? *(const int32_t *)data->functionReturnValue : 0;
    /* the stream or event is the first parameter */
    const CUstream *const stream = data->functionParams;
    struct cts_sync_end end = {.context = data->context, .result = result};
    switch (call->kind) {
    case CALL_ALLOCATES:
    case CALL_ALLOCATES_PINNED:
        if (current.allocating.name == data->functionName || !by_driver) {
            current.allocating.name = NULL;
            __cts_allocation_hint(NULL); /* of another allocation nothing was said */
        }
        break;
    case CALL_CREATES_STREAM:
    case CALL_CREATES_STREAM_WITH_PRIORITY:
        current.creates_stream = false;
        break;
    case CALL_DEVICE_SYNC:
        end.kind = "device sync";
        cts_memory_sync_end(&current.sync, &end);
        break;
    case CALL_STREAM_SYNC:
    case CALL_STREAM_QUERY:
        end.kind = call->kind == CALL_STREAM_SYNC ? "stream sync" : "stream query";
        end.stream = stream;
        cts_memory_sync_end(&current.sync, &end);
        break;
    case CALL_EVENT_SYNC:
    case CALL_EVENT_QUERY:
        end.kind = call->kind == CALL_EVENT_SYNC ? "event sync" : "event query";
        end.event = stream ? (uint64_t)(uintptr_t)*stream : 0;
        cts_memory_sync_end(&current.sync, &end);
        break;
    case CALL_COPIES:
        cts_memory_copy_end(&current.copying, result);
        break;
    case CALL_PROFILER_START:
        cts_launches_switch(true);
        break;
    case CALL_PROFILER_STOP:
    case CALL_FREES:
    case CALL_HOST_FUNCTION:
    case CALL_HOST_FUNCTION_PER_THREAD:
    case CALL_STREAM_CALLBACK:
    case CALL_STREAM_CALLBACK_PER_THREAD:
    case CALL_LOADS_IMAGE:
        break;
    case CALL_LAUNCH:
    case CALL_LAUNCH_COOPERATIVE:
    case CALL_LAUNCH_EXTENDED:
    case CALL_LAUNCH_GRAPH:
        current.launch = (struct cts_launch_call){0};
        cts_launch_tensors_drop();
        break;
    }
    cts_memory_api_end(data->functionName);
}

static void on_call(Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id,
                    const Sanitizer_CallbackData *data)
{
    const struct call *const call = find_call(domain, id);
    if (!call) return;
    if (data->callbackSite == SANITIZER_API_ENTER)
        begin_call(call, data);
    else
        end_call(call, domain == SANITIZER_CB_DOMAIN_DRIVER_API, data);
}

/* ---- the other domains ---- */

static void on_resource(Sanitizer_CallbackId id, const void *data)
{
    const Sanitizer_ResourceContextData *const context = data;
    const Sanitizer_ResourceMemoryData *const memory = data;
    const Sanitizer_ResourceStreamData *const stream = data;
    const Sanitizer_ResourceModuleData *const module = data;
    switch (id) {
    case SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_STARTING:
        cts_context_begun();
        break;
    case SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
        cts_memory_ring_forget(context->context);
        cts_grids_forget(context->context);
        cts_context_forget(context->context);
        break;
    case SANITIZER_CBID_RESOURCE_STREAM_CREATED:
        cts_context_seen(stream->context);
        /* the driver creates streams of its own, too; those have no row until something runs in
         * them */
        if (current.creates_stream) cts_memory_stream_created(data, &current.creation);
        break;
    case SANITIZER_CBID_RESOURCE_STREAM_DESTROY_STARTING:
        cts_memory_stream_destroyed(data);
        break;
    case SANITIZER_CBID_RESOURCE_MODULE_LOADED:
        cts_context_seen(module->context);
        cts_module_loaded(data);
        break;
    case SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
        cts_module_unloaded(data);
        break;
    case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC:
        cts_memory_allocated(memory, CTS_MEMORY_OF_DEVICE, &current.allocating);
        break;
    case SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC:
        cts_memory_allocated(memory, CTS_MEMORY_OF_HOST, &current.allocating);
        break;
    case SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC:
        cts_memory_allocated(memory, CTS_MEMORY_OF_POOL, &current.allocating);
        break;
    case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE:
    case SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE:
    case SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC:
        cts_memory_freed(memory, id == SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC);
        break;
    default:
        break;
    }
}

static void on_graph(Sanitizer_CallbackId id, const void *data)
{
    const Sanitizer_GraphExecData *const made = data;
    switch (id) {
    case SANITIZER_CBID_GRAPHS_GRAPHEXEC_CREATING:
        cts_graph_note_shapes(made->graph);
        break;
    case SANITIZER_CBID_GRAPHS_GRAPHEXEC_CREATED:
        cts_graph_note_shapes(made->graph);
        if (made->graph && made->graphExec) cts_graph_instance_made(made->graphExec, made->graph);
        break;
    case SANITIZER_CBID_GRAPHS_GRAPHEXEC_DESTROYING:
        cts_graph_instance_forget(made->graphExec);
        break;
    case SANITIZER_CBID_GRAPHS_LAUNCH_BEGIN:
        cts_graph_launch_begin(data);
        break;
    case SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN:
        cts_graph_node_begin(data, current.launch.room);
        break;
    case SANITIZER_CBID_GRAPHS_NODE_LAUNCH_END:
        cts_graph_node_end(data);
        break;
    case SANITIZER_CBID_GRAPHS_LAUNCH_END:
        cts_graph_launch_end(data);
        break;
    default:
        break;
    }
}

static void dispatch(Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void *data)
{
    switch (domain) {
    case SANITIZER_CB_DOMAIN_DRIVER_API:
    case SANITIZER_CB_DOMAIN_RUNTIME_API:
        on_call(domain, id, data);
        break;
    case SANITIZER_CB_DOMAIN_RESOURCE:
        on_resource(id, data);
        break;
    case SANITIZER_CB_DOMAIN_LAUNCH:
        if (id == SANITIZER_CBID_LAUNCH_BEGIN) cts_launch_begin(data, &current.launch);
        break;
    case SANITIZER_CB_DOMAIN_MEMCPY:
        if (id == SANITIZER_CBID_MEMCPY_STARTING && !cts_graph_step_is_noted())
            cts_memory_copied(data, &current.copying);
        break;
    case SANITIZER_CB_DOMAIN_MEMSET:
        if (id == SANITIZER_CBID_MEMSET_STARTING) cts_memory_set(data);
        break;
    case SANITIZER_CB_DOMAIN_GRAPHS:
        on_graph(id, data);
        break;
    case SANITIZER_CB_DOMAIN_EVENTS:
        if (id == SANITIZER_CBID_EVENTS_RECORD) cts_memory_event(data, "event record");
        if (id == SANITIZER_CBID_EVENTS_DESTROYED)
            cts_memory_event_forget(
                (uint64_t)(uintptr_t)((const Sanitizer_EventData *)data)->event);
        if (id == SANITIZER_CBID_EVENTS_STREAM_WAIT && !cts_graph_waits_for_events())
            cts_memory_event(data, "stream wait");
        break;
    default:
        break;
    }
}

static void on_callback(void *unused, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id,
                        const void *data)
{
    (void)unused;
    if (!data || cts_memory_run_is_over()) return;
    const bool loads_late = looks_at_parameters && domain == SANITIZER_CB_DOMAIN_RESOURCE &&
                            id == SANITIZER_CBID_RESOURCE_MODULE_LOADED;
    if (inside && loads_late) on_resource(id, data);
    if (inside) return;
    inside = true;
    dispatch(domain, id, data);
    inside = false;
}

void cts_callbacks_stop(void)
{
    cts_memory_run_end();
}

/* Where a Sanitizer does not know a call that copies, less is kept when the program is killed;
 * where it does not know one of those that are named last, less of the order is known. */
static SanitizerResult enable_calls(Sanitizer_SubscriberHandle subscriber,
                                    Sanitizer_CallbackDomain domain, const struct call *calls,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const SanitizerResult result =
            cts_sanitizer.sanitizerEnableCallback(1, subscriber, domain, calls[i].id);
        if (result != SANITIZER_SUCCESS && calls[i].kind != CALL_COPIES &&
            calls[i].kind < CALL_FREES)
            return result;
    }
    return SANITIZER_SUCCESS;
}

enum cts_status cts_callbacks_start(struct cts_error *error)
{
    /* those of on_resource() alone: others cost every launch of the program 2 us */
    static const Sanitizer_CallbackId resources[] = {
        SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_STARTING,
        SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
        SANITIZER_CBID_RESOURCE_STREAM_CREATED,
        SANITIZER_CBID_RESOURCE_STREAM_DESTROY_STARTING,
        SANITIZER_CBID_RESOURCE_MODULE_LOADED,
        SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
        SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC,
        SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE,
        SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC,
        SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE,
        SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC,
        SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC};
    static const Sanitizer_CallbackDomain domains[] = {
        SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CB_DOMAIN_MEMCPY, SANITIZER_CB_DOMAIN_MEMSET,
        SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CB_DOMAIN_EVENTS};
    Sanitizer_SubscriberHandle subscriber;
    SanitizerResult result = cts_sanitizer.sanitizerSubscribe(&subscriber, on_callback, NULL);
    if (result == SANITIZER_ERROR_MAX_LIMIT_REACHED)
        return cts_fail(
            error, CTS_UNSUPPORTED,
            "another tool already uses the Sanitizer in this program, which supports only one");
    for (size_t i = 0; result == SANITIZER_SUCCESS && i < sizeof domains / sizeof *domains; i++)
        result = cts_sanitizer.sanitizerEnableDomain(1, subscriber, domains[i]);
    for (size_t i = 0; result == SANITIZER_SUCCESS && i < sizeof resources / sizeof *resources; i++)
        result = cts_sanitizer.sanitizerEnableCallback(1, subscriber, SANITIZER_CB_DOMAIN_RESOURCE,
                                                       resources[i]);
    if (result == SANITIZER_SUCCESS)
        result =
            enable_calls(subscriber, SANITIZER_CB_DOMAIN_DRIVER_API, driver_calls, DRIVER_CALLS);
    if (result == SANITIZER_SUCCESS)
        result =
            enable_calls(subscriber, SANITIZER_CB_DOMAIN_RUNTIME_API, runtime_calls, RUNTIME_CALLS);
    if (result == SANITIZER_SUCCESS) return CTS_OK;
    return cts_fail(error, CTS_UNSUPPORTED, "'%s' refuses: %s", cts_sanitizer.path,
                    cts_sanitizer_text(result));
}
