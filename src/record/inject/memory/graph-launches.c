/* A launch of a graph is an operation, and then each of its nodes that does something. Events that
 * the graph waits for, and memory that it allocates, come before all of its nodes; events that it
 * records, and memory that it frees, behind all of them: more order than there is, so that no race
 * is reported that is none.
 *
 * What a node does is told with it, but for copies to and from the host, which are told between its
 * begin and its end as copies outside graphs are. Where neither happens, the copy is what the graph
 * said of it. Other nodes may begin before one has ended. */
#include "graph-launches.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "contexts.h"
#include "graph-instances.h"
#include "graph-steps.h"
#include "graphs.h"
#include "host-functions.h"
#include "launching.h"
#include "library.h"
#include "memory-run.h"
#include "rows.h"
#include "stream-table.h"

/* That the calling thread is in. */
static __thread struct {
    CUgraphExec instance; /* NULL: none */
    CUcontext context;
    uint64_t op;
    uint32_t stream;
    CUgraphNode node; /* the last that began, and has not ended */
    struct cts_known_node known;
    struct cts_graph_step step;
} current;

static bool allocates_before(const struct cts_graph_part *parts, size_t index)
{
    const struct cts_graph_part *const part = parts + index;
    for (size_t i = 0; i < index; i++)
        if (parts[i].type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
            parts[i].place < part->place + part->size_bytes &&
            part->place < parts[i].place + parts[i].size_bytes)
            return true;
    return false;
}

static Sanitizer_ResourceMemoryData memory_of(const Sanitizer_GraphLaunchData *launch,
                                              const struct cts_graph_part *part)
{
    return (Sanitizer_ResourceMemoryData){.address = part->place,
                                          .size = part->size_bytes,
                                          .context = launch->context,
                                          .device = (CUdevice)cts_context_device(launch->context),
                                          .stream = launch->stream,
                                          .hStream = launch->hStream};
}

static void wait_for(const Sanitizer_GraphLaunchData *launch, uint64_t event)
{
    const Sanitizer_EventData wait = {.event = (CUevent)(uintptr_t)event,
                                      .context = launch->context,
                                      .stream = launch->stream,
                                      .hStream = launch->hStream};
    cts_memory_event(&wait, "stream wait");
}

/* Two blocks of a graph that have the same memory are one. */
static void begin_part(const Sanitizer_GraphLaunchData *launch, const struct cts_graph_part *parts,
                       size_t index)
{
    static const struct cts_allocating_call call = {.name = "cudaGraphAddMemAllocNode"};
    const struct cts_graph_part *const part = parts + index;
    if (part->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) wait_for(launch, part->place);
    if (part->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC || allocates_before(parts, index)) return;
    const Sanitizer_ResourceMemoryData memory = memory_of(launch, part);
    cts_memory_freed(&memory, true); /* by this launch, where the last one did not */
    cts_memory_allocated(&memory, CTS_MEMORY_OF_POOL, &call);
}

static void end_part(const Sanitizer_GraphLaunchData *launch, const struct cts_graph_part *part)
{
    if (part->type != CU_GRAPH_NODE_TYPE_MEM_FREE) return;
    const Sanitizer_ResourceMemoryData memory = memory_of(launch, part);
    cts_memory_freed(&memory, true);
}

void cts_graph_launch_begin(const Sanitizer_GraphLaunchData *launch)
{
    size_t count;
    if (launch->isGraphUpload) return;
    current.instance = launch->graphExec;
    current.context = launch->context;
    current.stream = cts_memory_stream(launch->context, launch->stream, launch->hStream);
    struct cts_graph_part *const parts = cts_graph_instance_parts(launch->graphExec, &count);
    for (size_t i = 0; i < count; i++) begin_part(launch, parts, i);
    free(parts);
    current.op = cts_memory_op(cts_context_device(launch->context));
}

void cts_graph_launch_end(const Sanitizer_GraphLaunchData *launch)
{
    size_t count;
    if (launch->isGraphUpload) return;
    cts_graph_step_set(NULL);
    current.instance = NULL;
    struct cts_graph_part *const parts = cts_graph_instance_parts(launch->graphExec, &count);
    for (size_t i = 0; i < count; i++) end_part(launch, parts + i);
    free(parts);
}

/* ---- nodes ---- */

static void add_node(const Sanitizer_GraphNodeLaunchData *node, struct cts_stack_room room)
{
    struct cts_launch_call call = {.room = room, .is_node = true};
    switch (node->nodeType) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        call.shape = cts_graph_shape(node->node, &node->launchData);
        cts_launch_begin(&node->launchData, &call);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (node->memcpyData.size)
            cts_memory_copied(&node->memcpyData, &(struct cts_copying_call){0});
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        cts_memory_set(&node->memsetData);
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        if (current.instance == node->graphExec) cts_host_function_in_graph(current.stream);
        break;
    default:
        break;
    }
}

/* Of a body of a conditional node, for example. */
static void say_unknown(void)
{
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        cts_memory_say("warning", "the driver launched nodes that are not in the graph of their "
                                  "instance: they are recorded as if each followed the one before");
}

static void set_step(const Sanitizer_GraphNodeLaunchData *node)
{
    const bool is_kernel = node->nodeType == CU_GRAPH_NODE_TYPE_KERNEL;
    const struct cts_launched_node launched = {node->node, node->nodeType,
                                               is_kernel ? node->launchData.function : NULL};
    if (!cts_graph_instance_node(node->graphExec, &launched, &current.known)) say_unknown();
    current.step = (struct cts_graph_step){.graph = current.known.graph,
                                           .node = current.known.number,
                                           .stream = current.stream,
                                           .launch_op = current.op};
    current.node = node->node;
    cts_graph_step_set(&current.step);
}

/* As the graph has it; whether its ends are the host's, allocations tell. */
static void add_known_copy(const CUDA_MEMCPY3D *copy)
{
    const bool from_host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;
    const bool to_host = copy->dstMemoryType == CU_MEMORYTYPE_HOST;
    const uint64_t source = from_host ? (uint64_t)(uintptr_t)copy->srcHost : copy->srcDevice;
    const uint64_t destination = to_host ? (uint64_t)(uintptr_t)copy->dstHost : copy->dstDevice;
    const Sanitizer_MemcpyData data = {
        .apiContext = current.context,
        .srcAddress = source + copy->srcXInBytes +
                      (copy->srcY + copy->srcZ * copy->srcHeight) * copy->srcPitch,
        .dstAddress = destination + copy->dstXInBytes +
                      (copy->dstY + copy->dstZ * copy->dstHeight) * copy->dstPitch,
        .size = copy->WidthInBytes * (copy->Height ? copy->Height : 1) *
                (copy->Depth ? copy->Depth : 1),
        .width = copy->WidthInBytes,
        .height = copy->Height,
        .depth = copy->Depth,
        .srcPitch = copy->srcPitch,
        .dstPitch = copy->dstPitch,
        .isAsync = 1};
    if (copy->srcMemoryType == CU_MEMORYTYPE_ARRAY || copy->dstMemoryType == CU_MEMORYTYPE_ARRAY)
        return;
    cts_memory_copied(&data, &(struct cts_copying_call){0});
}

void cts_graph_node_begin(const Sanitizer_GraphNodeLaunchData *node, struct cts_stack_room room)
{
    if (node->isGraphUpload) return;
    if (current.instance == node->graphExec) set_step(node); /* else its launch was not told */
    add_node(node, room);
}

void cts_graph_node_end(const Sanitizer_GraphNodeLaunchData *node)
{
    if (node->isGraphUpload || node->node != current.node) return;
    if (node->nodeType == CU_GRAPH_NODE_TYPE_MEMCPY && current.known.has_copy &&
        !current.step.is_noted)
        add_known_copy(&current.known.copy);
    cts_graph_step_set(NULL);
    current.node = NULL;
}

bool cts_graph_waits_for_events(void)
{
    return current.instance != NULL && cts_sanitizer.cuGraphEventWaitNodeGetEvent != NULL;
}
