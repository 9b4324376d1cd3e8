/* Plays launches of graphs, as the Sanitizer of toolkit 13 tells of them: of a graph that is still
 * there the graph's nodes, of one that has been destroyed nodes of the instance; of a copy nothing
 * but that its node begins, and then the copy, or not even that, or the copy with its node.
 *
 * A graph is a text, NODE[,NODE...]: a letter and the numbers of the nodes that precede it, one
 * digit each: k a kernel "one", l a kernel "two", m a memset, p a copy, q one that is not
 * told, r one that is told with its node, h a host function, e nothing, w waits for an event, a
 * allocates, f frees, c a graph of two kernels that follow each other. */
#include "fake-graphs.h"

#include <stdlib.h>
#include <string.h>

#include "fake-graph.h"

static const char letters[] = "klmphewafcqr";
static const CUgraphNodeType types[] = {
    CU_GRAPH_NODE_TYPE_KERNEL,     CU_GRAPH_NODE_TYPE_KERNEL,    CU_GRAPH_NODE_TYPE_MEMSET,
    CU_GRAPH_NODE_TYPE_MEMCPY,     CU_GRAPH_NODE_TYPE_HOST,      CU_GRAPH_NODE_TYPE_EMPTY,
    CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_MEM_ALLOC, CU_GRAPH_NODE_TYPE_MEM_FREE,
    CU_GRAPH_NODE_TYPE_GRAPH,      CU_GRAPH_NODE_TYPE_MEMCPY,    CU_GRAPH_NODE_TYPE_MEMCPY};
enum { EVENT = 0x77, BLOCK_AT = 0x302000000, BLOCK_BYTES = 4096 };

static struct fake_graph *graph_of(const struct fake_gpu *gpu, const char *text)
{
    struct fake_graph *const graph = calloc(1, sizeof *graph);
    for (; graph && *text && graph->count < FAKE_NODES_MAX; graph->count++) {
        const char *const letter = strchr(letters, *text);
        struct fake_node *const node = &graph->nodes[graph->count];
        node->type = (int)types[letter ? letter - letters : 5];
        node->place = *text == 'w' ? EVENT : BLOCK_AT;
        node->size_bytes = BLOCK_BYTES;
        if (*text == 'k' || *text == 'l')
            node->function = (void *)gpu->function(*text == 'k' ? "one" : "two");
        node->tells = *text;
        if (*text == 'c') node->child = graph_of(gpu, "k,k0");
        for (text++; *text && *text != ','; text++) node->after |= 1u << (*text - '0');
        text += *text == ',';
    }
    return graph;
}

/* ---- launches ---- */

static void begin_kernel(const struct fake_gpu *gpu, const struct fake_node *node,
                         Sanitizer_GraphNodeLaunchData *data)
{
    data->launchData = (Sanitizer_LaunchData){.context = gpu->context,
                                              .apiContext = gpu->context,
                                              .apiStream = gpu->stream,
                                              .module = gpu->module,
                                              .function = (CUfunction)node->function,
                                              .functionName = node->function,
                                              .gridDim_x = 1,
                                              .gridDim_y = 1,
                                              .gridDim_z = 1,
                                              .blockDim_x = 32,
                                              .blockDim_y = 1,
                                              .blockDim_z = 1,
                                              .clusterDim_x = 1,
                                              .clusterDim_y = 1,
                                              .clusterDim_z = 1};
}

static Sanitizer_MemcpyData copy_of(const struct fake_gpu *gpu)
{
    return (Sanitizer_MemcpyData){.apiContext = gpu->context,
                                  .dstContext = gpu->context,
                                  .apiStream = gpu->stream,
                                  .srcAddress = BLOCK_AT,
                                  .dstAddress = BLOCK_AT + 256,
                                  .size = 64,
                                  .isAsync = 1,
                                  .direction = SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_DEVICE};
}

static void tell_copy(const struct fake_gpu *gpu)
{
    const Sanitizer_MemcpyData copy = copy_of(gpu);
    gpu->tell(SANITIZER_CB_DOMAIN_MEMCPY, SANITIZER_CBID_MEMCPY_STARTING, &copy);
}

static void launch_nodes(const struct fake_gpu *gpu, struct fake_graph *graph, CUgraphExec exec,
                         bool destroyed)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct fake_node *const node = &graph->nodes[i];
        if (node->type == CU_GRAPH_NODE_TYPE_EMPTY) continue;
        if (node->child) {
            launch_nodes(gpu, node->child, exec, destroyed);
            continue;
        }
        Sanitizer_GraphNodeLaunchData data = {
            .graphExec = exec,
            .nodeType = (CUgraphNodeType)node->type,
            .node = (CUgraphNode)(void *)((char *)node + (destroyed ? 1 : 0))};
        if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) begin_kernel(gpu, node, &data);
        if (node->type == CU_GRAPH_NODE_TYPE_MEMSET)
            data.memsetData = (Sanitizer_MemsetData){
                .context = gpu->context, .address = BLOCK_AT, .width = 64, .elementSize = 1};
        if (node->tells == 'r') data.memcpyData = copy_of(gpu);
        gpu->tell(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN, &data);
        if (node->tells == 'p') tell_copy(gpu);
        if (node->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
            const Sanitizer_EventData event = {
                .event = (CUevent)(uintptr_t)EVENT, .context = gpu->context, .stream = gpu->stream};
            gpu->tell(SANITIZER_CB_DOMAIN_EVENTS, SANITIZER_CBID_EVENTS_STREAM_WAIT, &event);
        }
        gpu->tell(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_NODE_LAUNCH_END, &data);
    }
}

static void launch(const struct fake_gpu *gpu, struct fake_graph *graph, CUgraphExec exec,
                   bool destroyed)
{
    const Sanitizer_GraphLaunchData data = {
        .context = gpu->context, .stream = gpu->stream, .graphExec = exec};
    gpu->tell(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_LAUNCH_BEGIN, &data);
    launch_nodes(gpu, graph, exec, destroyed);
    gpu->tell(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_LAUNCH_END, &data);
}

void fake_graph_launch(const struct fake_gpu *gpu, const char *text, bool destroyed)
{
    enum { LAUNCHES = 2 };
    struct fake_graph *const graph = graph_of(gpu, text);
    Sanitizer_GraphExecData data = {.graph = (CUgraph)(void *)graph,
                                    .graphExec = (CUgraphExec)(void *)((char *)graph + 1)};
    gpu->tell(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_GRAPHEXEC_CREATING, &data);
    gpu->tell(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_GRAPHEXEC_CREATED, &data);
    for (int i = 0; i < LAUNCHES; i++) launch(gpu, graph, data.graphExec, destroyed);
    gpu->tell(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_GRAPHEXEC_DESTROYING, &data);
    for (size_t i = 0; graph && i < graph->count; i++) free(graph->nodes[i].child);
    free(graph);
}

/* ---- pools and host functions ---- */

/* A block that goes back and is taken again; the callbacks know no context. */
void fake_pool(const struct fake_gpu *gpu)
{
    const Sanitizer_ResourceMemoryData block = {
        .address = BLOCK_AT, .size = BLOCK_BYTES, .stream = gpu->stream};
    const int result = 0;
    Sanitizer_CallbackData call = {.functionName = "cuMemAllocAsync", .context = gpu->context};
    for (int i = 0; i < 3; i++) {
        const bool frees = i == 1;
        const Sanitizer_CallbackId id = frees ? SANITIZER_CBID_DRIVER_API_cuMemFreeAsync
                                              : SANITIZER_CBID_DRIVER_API_cuMemAllocAsync;
        call.functionName = frees ? "cuMemFreeAsync" : "cuMemAllocAsync";
        call.callbackSite = SANITIZER_API_ENTER;
        gpu->tell(SANITIZER_CB_DOMAIN_DRIVER_API, id, &call);
        gpu->tell(SANITIZER_CB_DOMAIN_RESOURCE,
                  frees ? SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC
                        : SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC,
                  &block);
        call.callbackSite = SANITIZER_API_EXIT;
        call.functionReturnValue = &result;
        gpu->tell(SANITIZER_CB_DOMAIN_DRIVER_API, id, &call);
    }
}

static int calls;

static void CUDA_CB count(void *by)
{
    calls += *(int *)by;
}

static void CUDA_CB count_in(CUstream stream, CUresult result, void *by)
{
    (void)stream;
    if (result == CUDA_SUCCESS) calls += *(int *)by;
}

/* The driver calls what the parameters say when the callback has returned. */
void fake_host_functions(const struct fake_gpu *gpu)
{
    static int by = 1;
    cuLaunchHostFunc_params function = {.hStream = gpu->stream, .fn = count, .userData = &by};
    cuStreamAddCallback_params callback = {
        .hStream = gpu->stream, .callback = count_in, .userData = &by};
    Sanitizer_CallbackData call = {.callbackSite = SANITIZER_API_ENTER,
                                   .functionName = "cuLaunchHostFunc",
                                   .functionParams = &function,
                                   .context = gpu->context};
    gpu->tell(SANITIZER_CB_DOMAIN_DRIVER_API, SANITIZER_CBID_DRIVER_API_cuLaunchHostFunc, &call);
    call.callbackSite = SANITIZER_API_EXIT;
    gpu->tell(SANITIZER_CB_DOMAIN_DRIVER_API, SANITIZER_CBID_DRIVER_API_cuLaunchHostFunc, &call);
    function.fn(function.userData);
    call.callbackSite = SANITIZER_API_ENTER;
    call.functionName = "cuStreamAddCallback";
    call.functionParams = &callback;
    gpu->tell(SANITIZER_CB_DOMAIN_DRIVER_API, SANITIZER_CBID_DRIVER_API_cuStreamAddCallback, &call);
    call.callbackSite = SANITIZER_API_EXIT;
    gpu->tell(SANITIZER_CB_DOMAIN_DRIVER_API, SANITIZER_CBID_DRIVER_API_cuStreamAddCallback, &call);
    callback.callback(gpu->stream, CUDA_SUCCESS, callback.userData);
    if (calls != 2) abort();
}
