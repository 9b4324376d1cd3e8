/* What the driver says of graphs (fake-graph.h), captures and variables. */
#include <cuda.h>
#include <string.h>

#include "fake-graph.h"

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    struct fake_graph *const fake = (void *)graph;
    for (size_t i = 0; nodes && i < fake->count; i++) nodes[i] = (void *)&fake->nodes[i];
    *count = fake->count;
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 13000
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                         size_t *count)
{
    (void)data;
#else
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
#endif
    struct fake_graph *const fake = (void *)graph;
    size_t n = 0;
    for (size_t node = 0; node < fake->count; node++)
        for (size_t before = 0; before < fake->count; before++) {
            if (!(fake->nodes[node].after >> before & 1)) continue;
            if (from) {
                from[n] = (void *)&fake->nodes[before];
                to[n] = (void *)&fake->nodes[node];
            }
            n++;
        }
    *count = n;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    *type = (CUgraphNodeType)((struct fake_node *)(void *)node)->type;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters)
{
    *parameters = (CUDA_KERNEL_NODE_PARAMS){.func = ((struct fake_node *)(void *)node)->function,
                                            .gridDimX = 1};
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       CUkernelNodeAttrValue *value)
{
    (void)node, (void)attribute;
    memset(value, 0, sizeof *value);
    return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    *graph = (void *)((struct fake_node *)(void *)node)->child;
    return CUDA_SUCCESS;
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    *event = (CUevent)(uintptr_t)((struct fake_node *)(void *)node)->place;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
    const struct fake_node *const fake = (void *)node;
    *parameters = (CUDA_MEM_ALLOC_NODE_PARAMS){.bytesize = fake->size_bytes, .dptr = fake->place};
    return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address)
{
    *address = ((struct fake_node *)(void *)node)->place;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *copy)
{
    const uint64_t place = ((struct fake_node *)(void *)node)->place;
    *copy = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcDevice = place,
                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                            .dstDevice = place + 256,
                            .WidthInBytes = 64,
                            .Height = 1,
                            .Depth = 1};
    return CUDA_SUCCESS;
}

/* A page for each variable, by the first letter of its symbol. */
CUresult cuModuleGetGlobal(CUdeviceptr *place, size_t *byte_count, CUmodule module,
                           const char *name)
{
    (void)module;
    *place = 0x7f0000000000 + ((uint64_t)(unsigned char)*name << 12);
    if (byte_count) *byte_count = 4096;
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    (void)stream;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}
