/* Graphs: nodes with works and dependencies, made by hand or by capturing streams. Launching an
 * instantiated graph queues its works in one stream, each after all that it depends on: an order
 * that every execution on a GPU respects too, if not as parallel. A recording gets the nodes'
 * numbers in that order and what follows what: a child graph is its nodes between two that do
 * nothing.
 *
 * Graphs are not thread-safe, as in CUDA. capture.c makes them from streams. */
#include "graph-nodes.h"

#include <stdlib.h>
#include <string.h>

#include "array-table.h"
#include "copy-api.h"
#include "range.h"
#include "record.h"
#include "stream.h"

struct exec_step {
    const struct CUgraphNode_st *origin; /* compared, never read */
    struct cts_work work;
    uint32_t node; /* its number in recordings */
};
struct CUgraphExec_st {
    struct exec_step *steps; /* dependencies first */
    size_t count;
    uint32_t graph, node_count; /* of recordings */
    struct cts_graph_memory *memory;
};

/* ---- building ---- */

cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
    CTS_ENTER();
    if (!pGraph || flags) return cts_return(cudaErrorInvalidValue);
    *pGraph = calloc(1, sizeof **pGraph);
    return cts_return(*pGraph ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!graph) return cts_return(cudaErrorInvalidValue);
    cts_graph_free(graph);
    return cudaSuccess;
}

static bool clone_nodes(const struct CUgraph_st *graph, struct CUgraph_st *clone)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct CUgraphNode_st *const node = graph->nodes[i];
        struct cts_work work;
        if (!cts_work_clone(&node->work, &work)) return false;
        node->copied_to = cts_graph_add(clone, node->type, &work, NULL, 0);
        if (!node->copied_to) return false;
        if (node->child && cudaGraphClone(&node->copied_to->child, node->child) != cudaSuccess)
            return false;
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->dependency_count; k++)
            if (!cts_graph_depend(graph->nodes[i]->copied_to,
                                  graph->nodes[i]->dependencies[k]->copied_to))
                return false;
    return true;
}

cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    CTS_ENTER();
    if (!pGraphClone || !originalGraph) return cts_return(cudaErrorInvalidValue);
    struct CUgraph_st *const clone = calloc(1, sizeof *clone);
    if (!clone) return cts_return(cudaErrorMemoryAllocation);
    if (!clone_nodes(originalGraph, clone)) {
        cudaGraphDestroy(clone);
        return cts_return(cudaErrorMemoryAllocation);
    }
    clone->memory = cts_graph_memory_hold(originalGraph->memory);
    *pGraphClone = clone;
    return cudaSuccess;
}

/* Where a program puts a node, and its handle. */
struct node_place {
    cudaGraphNode_t *handle;
    cudaGraph_t graph;
    const cudaGraphNode_t *dependencies;
    size_t count; /* of those */
};

/* The end of every cudaGraphAdd...Node: takes `work` over. */
static cudaError_t finish_node(struct node_place place, enum cudaGraphNodeType type,
                               struct cts_work *work)
{
    bool sound = place.handle && place.graph && (place.dependencies || place.count == 0);
    for (size_t i = 0; sound && i < place.count; i++)
        sound = place.dependencies[i] && place.dependencies[i]->graph == place.graph;
    if (!sound) {
        cts_work_release(work);
        return cts_return(cudaErrorInvalidValue);
    }
    *place.handle = cts_graph_add(place.graph, type, work, place.dependencies, place.count);
    return cts_return(*place.handle ? cudaSuccess : cudaErrorMemoryAllocation);
}

static cudaError_t kernel_work(const struct cudaKernelNodeParams *params, struct cts_work *work)
{
    if (!params) return cudaErrorInvalidValue;
    if (params->extra)
        return cts_refuse("cudaGraphAddKernelNode", "arguments in one buffer ('extra')");
    const struct cts_launch_shape shape = {params->func, params->gridDim, params->blockDim,
                                           params->sharedMemBytes, false};
    return cts_work_launch(&shape, params->kernelParams, work);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const struct cudaKernelNodeParams *pNodeParams)
{
    CTS_ENTER();
    struct cts_work work;
    const cudaError_t error = kernel_work(pNodeParams, &work);
    if (error != cudaSuccess) return cts_return(error);
    return finish_node((struct node_place){pGraphNode, graph, pDependencies, numDependencies},
                       cudaGraphNodeTypeKernel, &work);
}

static const char *copy_kind(enum cudaMemcpyKind kind, const struct cts_geometry *geometry)
{
    static const char *const texts[] = {"HtoH", "HtoD", "DtoH", "DtoD"};
    if (kind != cudaMemcpyDefault) return texts[kind];
    struct cts_range range;
    const bool from = cts_range_find((void *)geometry->source, &range) &&
                      (cts_range_is_device(&range) || range.kind == CTS_RANGE_MANAGED);
    const bool to = cts_range_find((void *)geometry->destination, &range) &&
                    (cts_range_is_device(&range) || range.kind == CTS_RANGE_MANAGED);
    return texts[from * 2 + to];
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const struct cudaMemcpy3DParms *pCopyParams)
{
    CTS_ENTER();
    if (!pCopyParams || (unsigned)pCopyParams->kind > cudaMemcpyDefault ||
        !cts_array_is_known(pCopyParams->srcArray) || !cts_array_is_known(pCopyParams->dstArray))
        return cts_return(cudaErrorInvalidValue);
    struct cts_work work = {.kind = CTS_WORK_COPY, .copy = {.asynchronous = true}};
    if (!cts_copy_geometry_3d(pCopyParams, &work.copy.geometry))
        return cts_return(cudaErrorInvalidValue);
    work.copy.kind = copy_kind(pCopyParams->kind, &work.copy.geometry);
    return finish_node((struct node_place){pGraphNode, graph, pDependencies, numDependencies},
                       cudaGraphNodeTypeMemcpy, &work);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     void *dst, const void *src, size_t count,
                                     enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms params = {
        .srcPtr = make_cudaPitchedPtr((void *)(uintptr_t)src, count, count, 1),
        .dstPtr = make_cudaPitchedPtr(dst, count, count, 1),
        .extent = make_cudaExtent(count, 1, 1),
        .kind = kind};
    return cudaGraphAddMemcpyNode(pGraphNode, graph, pDependencies, numDependencies, &params);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                   const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                   const struct cudaMemsetParams *pMemsetParams)
{
    CTS_ENTER();
    const struct cudaMemsetParams *const p = pMemsetParams;
    if (!p || !p->dst || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return cts_return(cudaErrorInvalidValue);
    struct cts_work work = {.kind = CTS_WORK_MEMSET,
                            .memset = {.geometry = {.destination = (uint64_t)p->dst,
                                                    .width_bytes = p->width * p->elementSize,
                                                    .height = p->height,
                                                    .depth = 1,
                                                    .destination_pitch = p->pitch,
                                                    .destination_slice = p->pitch * p->height},
                                       .value = p->value,
                                       .element_bytes = p->elementSize}};
    return finish_node((struct node_place){pGraphNode, graph, pDependencies, numDependencies},
                       cudaGraphNodeTypeMemset, &work);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                 const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                 const struct cudaHostNodeParams *pNodeParams)
{
    CTS_ENTER();
    if (!pNodeParams || !pNodeParams->fn) return cts_return(cudaErrorInvalidValue);
    struct cts_work work = {.kind = CTS_WORK_HOST,
                            .host = {pNodeParams->fn, pNodeParams->userData}};
    return finish_node((struct node_place){pGraphNode, graph, pDependencies, numDependencies},
                       cudaGraphNodeTypeHost, &work);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                  const cudaGraphNode_t *pDependencies, size_t numDependencies)
{
    CTS_ENTER();
    struct cts_work work = {.kind = CTS_WORK_NOTHING};
    return finish_node((struct node_place){pGraphNode, graph, pDependencies, numDependencies},
                       cudaGraphNodeTypeEmpty, &work);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                       cudaGraph_t childGraph)
{
    CTS_ENTER();
    struct CUgraph_st *child;
    const cudaError_t cloned = cudaGraphClone(&child, childGraph);
    if (cloned != cudaSuccess) return cloned;
    struct cts_work work = {.kind = CTS_WORK_NOTHING};
    const cudaError_t error =
        finish_node((struct node_place){pGraphNode, graph, pDependencies, numDependencies},
                    cudaGraphNodeTypeGraph, &work);
    if (error == cudaSuccess)
        (*pGraphNode)->child = child;
    else
        cudaGraphDestroy(child);
    return error;
}

static const char no_event_nodes[] = "event nodes; order graphs by dependencies instead";

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t *pDependencies,
                                        size_t numDependencies, cudaEvent_t event)
{
    (void)pGraphNode, (void)graph, (void)pDependencies, (void)numDependencies, (void)event;
    return cts_refuse(__func__, no_event_nodes);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                      cudaEvent_t event)
{
    (void)pGraphNode, (void)graph, (void)pDependencies, (void)numDependencies, (void)event;
    return cts_refuse(__func__, no_event_nodes);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, size_t numDependencies)
{
    CTS_ENTER();
    if (!graph || (numDependencies && (!from || !to))) return cts_return(cudaErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++)
        if (!from[i] || !to[i] || from[i]->graph != graph || to[i]->graph != graph)
            return cts_return(cudaErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++)
        if (!cts_graph_depend(to[i], from[i])) return cts_return(cudaErrorMemoryAllocation);
    return cudaSuccess;
}

/* Edges have no data here: what they could say (ports, programmatic launch) is for kernels' ends.
 */
cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    CTS_ENTER();
    for (size_t i = 0; edgeData && i < numDependencies; i++)
        if (edgeData[i].type || edgeData[i].from_port || edgeData[i].to_port)
            return cts_refuse("cudaGraphAddDependencies", "edges with data");
    return cudaGraphAddDependencies(graph, from, to, numDependencies);
}

/* ---- asking ---- */

/* Fills at most *count elements (all when `nodes` is NULL is only counted). */
static void give_nodes(struct CUgraph_st *graph, cudaGraphNode_t *nodes, size_t *count,
                       bool roots_only)
{
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++) {
        if (roots_only && graph->nodes[i]->dependency_count) continue;
        if (nodes && found < *count) nodes[found] = graph->nodes[i];
        found++;
    }
    for (size_t i = found; nodes && i < *count; i++) nodes[i] = NULL;
    if (!nodes || found < *count) *count = found;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    CTS_ENTER();
    if (!graph || !numNodes) return cts_return(cudaErrorInvalidValue);
    give_nodes(graph, nodes, numNodes, false);
    return cudaSuccess;
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes,
                                  size_t *pNumRootNodes)
{
    CTS_ENTER();
    if (!graph || !pNumRootNodes) return cts_return(cudaErrorInvalidValue);
    give_nodes(graph, pRootNodes, pNumRootNodes, true);
    return cudaSuccess;
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              size_t *numEdges)
{
    CTS_ENTER();
    if (!graph || !numEdges || !from != !to) return cts_return(cudaErrorInvalidValue);
    size_t found = 0;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->dependency_count; k++, found++)
            if (from && found < *numEdges) {
                from[found] = graph->nodes[i]->dependencies[k];
                to[found] = graph->nodes[i];
            }
    if (!from || found < *numEdges) *numEdges = found;
    return cudaSuccess;
}

cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                 cudaGraphEdgeData *edgeData, size_t *numEdges)
{
    if (edgeData && numEdges) memset(edgeData, 0, *numEdges * sizeof *edgeData);
    return cudaGraphGetEdges(graph, from, to, numEdges);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
    CTS_ENTER();
    if (!node || !pType) return cts_return(cudaErrorInvalidValue);
    *pType = node->type;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         struct cudaKernelNodeParams *pNodeParams)
{
    CTS_ENTER();
    if (!node || !pNodeParams || node->type != cudaGraphNodeTypeKernel)
        return cts_return(cudaErrorInvalidValue);
    const struct cts_launch_work *const launch = &node->work.launch;
    *pNodeParams = (struct cudaKernelNodeParams){
        .func = (void *)(uintptr_t)launch->function,
        .gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .blockDim = {launch->block[0], launch->block[1], launch->block[2]},
        .sharedMemBytes = launch->dynamic_shared_bytes,
        .kernelParams = launch->args};
    return cudaSuccess;
}

static cudaError_t replace_launch(struct cts_work *place, const struct cudaKernelNodeParams *params)
{
    struct cts_work work;
    const cudaError_t error = kernel_work(params, &work);
    if (error != cudaSuccess) return cts_return(error);
    cts_work_release(place);
    *place = work;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams *pNodeParams)
{
    CTS_ENTER();
    if (!node || node->type != cudaGraphNodeTypeKernel) return cts_return(cudaErrorInvalidValue);
    return replace_launch(&node->work, pNodeParams);
}

/* ---- executing ---- */

static bool add_step(struct CUgraphExec_st *exec, const struct CUgraphNode_st *node)
{
    struct exec_step *grown = realloc(exec->steps, (exec->count + 1) * sizeof *grown);
    if (!grown) return false;
    exec->steps = grown;
    grown[exec->count].origin = node;
    grown[exec->count].node = node->end;
    if (!cts_work_clone(&node->work, &grown[exec->count].work)) return false;
    exec->count++;
    return true;
}

static bool is_next(const struct CUgraphNode_st *node)
{
    if (node->is_ordered) return false;
    for (size_t i = 0; i < node->dependency_count; i++)
        if (!node->dependencies[i]->is_ordered) return false;
    return true;
}

enum { NO_NODE = UINT32_MAX };

/* Numbers a node that follows its dependencies, or `begin` where it has none. */
static uint32_t number_node(const struct CUgraphNode_st *node, struct CUgraphExec_st *exec,
                            uint32_t begin)
{
    const uint32_t number = exec->node_count++;
    for (size_t i = 0; i < node->dependency_count; i++)
        cts_record_graph_edge(exec->graph, number, node->dependencies[i]->end);
    if (!node->dependency_count && begin != NO_NODE)
        cts_record_graph_edge(exec->graph, number, begin);
    return number;
}

static cudaError_t order(struct CUgraph_st *graph, struct CUgraphExec_st *exec, uint32_t begin);

static cudaError_t order_child(struct CUgraphNode_st *node, struct CUgraphExec_st *exec)
{
    const uint32_t begin = node->end;
    const cudaError_t error = order(node->child, exec, begin);
    node->end = exec->node_count++;
    cts_record_graph_edge(exec->graph, node->end, begin);
    for (size_t i = 0; error == cudaSuccess && i < node->child->count; i++)
        cts_record_graph_edge(exec->graph, node->end, node->child->nodes[i]->end);
    return error;
}

/* Appends the graph's works, dependencies first and otherwise as they were added. */
static cudaError_t order(struct CUgraph_st *graph, struct CUgraphExec_st *exec, uint32_t begin)
{
    for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->is_ordered = false;
    for (size_t left = graph->count; left; left--) {
        size_t i = 0;
        while (i < graph->count && !is_next(graph->nodes[i])) i++;
        if (i == graph->count) return cudaErrorInvalidValue; /* a circle */
        struct CUgraphNode_st *const node = graph->nodes[i];
        node->is_ordered = true;
        node->end = number_node(node, exec, begin);
        if (node->child) {
            const cudaError_t error = order_child(node, exec);
            if (error != cudaSuccess) return error;
        } else if (!add_step(exec, node)) {
            return cudaErrorMemoryAllocation;
        }
    }
    return cudaSuccess;
}

static void free_exec(struct CUgraphExec_st *exec)
{
    for (size_t i = 0; i < exec->count; i++) cts_work_release(&exec->steps[i].work);
    cts_graph_memory_release(exec->memory);
    free(exec->steps);
    free(exec);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    CTS_ENTER();
    if (!pGraphExec || !graph) return cts_return(cudaErrorInvalidValue);
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return cts_refuse(__func__, "graphs launched from the device");
    struct CUgraphExec_st *const exec = calloc(1, sizeof *exec);
    if (!exec) return cts_return(cudaErrorMemoryAllocation);
    exec->graph = cts_record_graph();
    const cudaError_t error = order(graph, exec, NO_NODE);
    if (error != cudaSuccess) {
        free_exec(exec);
        return cts_return(error);
    }
    exec->memory = cts_graph_memory_hold(graph->memory);
    *pGraphExec = exec;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                 unsigned long long flags)
{
    CTS_CALL();
    return cudaGraphInstantiateWithFlags(pGraphExec, graph, flags);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    if (!graphExec) return cts_return(cudaErrorInvalidValue);
    free_exec(graphExec);
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    CTS_ENTER();
    unsigned flags;
    if (!graphExec) return cts_return(cudaErrorInvalidValue);
    return cudaStreamGetFlags(stream, &flags); /* there is nowhere to upload it to */
}

/* Of a stream as recordings number it. */
static uint32_t id_of(cudaStream_t handle)
{
    cts_streams_lock();
    const struct CUstream_st *const stream = cts_stream_resolve(handle);
    const uint32_t id = stream ? stream->id : CTS_NONE;
    cts_streams_unlock();
    return id;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    CTS_ENTER();
    if (!graphExec) return cts_return(cudaErrorInvalidValue);
    const uint32_t stream_id = graphExec->memory ? id_of(stream) : CTS_NONE;
    cts_graph_memory_begin(graphExec->memory, stream_id);
    const uint64_t launch_op = cts_record_graph_launch();
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < graphExec->count && error == cudaSuccess; i++) {
        struct cts_work work;
        if (cts_work_is_gone(&graphExec->steps[i].work))
            return cts_return(cudaErrorInvalidDeviceFunction);
        if (!cts_work_clone(&graphExec->steps[i].work, &work))
            return cts_return(cudaErrorMemoryAllocation);
        cts_record_graph_step(graphExec->graph, launch_op, graphExec->steps[i].node);
        error = cts_stream_submit(stream, &work, CTS_ASYNCHRONOUS);
        cts_record_graph_step(0, 0, 0);
    }
    cts_graph_memory_end(graphExec->memory, stream_id);
    return cts_return(error);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *pNodeParams)
{
    CTS_ENTER();
    for (size_t i = 0; hGraphExec && i < hGraphExec->count; i++)
        if (hGraphExec->steps[i].origin == node &&
            hGraphExec->steps[i].work.kind == CTS_WORK_LAUNCH)
            return replace_launch(&hGraphExec->steps[i].work, pNodeParams);
    return cts_return(cudaErrorInvalidValue);
}

/* The update is possible when the ordered works are of the same kinds. */
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo *resultInfo)
{
    CTS_ENTER();
    if (!hGraphExec || !hGraph) return cts_return(cudaErrorInvalidValue);
    struct CUgraphExec_st updated = {.graph = cts_record_graph()};
    const cudaError_t error = order(hGraph, &updated, NO_NODE);
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    if (error != cudaSuccess || updated.count != hGraphExec->count)
        result = cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; i < updated.count && result == cudaGraphExecUpdateSuccess; i++)
        if (updated.steps[i].work.kind != hGraphExec->steps[i].work.kind)
            result = cudaGraphExecUpdateErrorNodeTypeChanged;
    if (resultInfo) *resultInfo = (cudaGraphExecUpdateResultInfo){.result = result};
    if (result == cudaGraphExecUpdateSuccess) {
        struct cts_graph_memory *const before = hGraphExec->memory;
        hGraphExec->memory = cts_graph_memory_hold(hGraph->memory);
        cts_graph_memory_release(before);
        hGraphExec->graph = updated.graph;
        for (size_t i = 0; i < updated.count; i++) {
            const struct cts_work old = hGraphExec->steps[i].work;
            hGraphExec->steps[i].work = updated.steps[i].work;
            hGraphExec->steps[i].node = updated.steps[i].node;
            updated.steps[i].work = old;
        }
    }
    for (size_t i = 0; i < updated.count; i++) cts_work_release(&updated.steps[i].work);
    free(updated.steps);
    return cts_return(result == cudaGraphExecUpdateSuccess ? cudaSuccess
                                                           : cudaErrorGraphExecUpdateFailure);
}
