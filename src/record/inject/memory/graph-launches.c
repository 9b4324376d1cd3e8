/* A launch of a graph is an operation, and then each of its nodes that does something. Events that
 * the graph waits for, and memory that it allocates, come before all of its nodes; events that it
 * records, and memory that it frees, behind all of them: more order than there is, so that no race
 * is reported that is none.
 *
 * What a copy copies is told between the begin and the end of its node, as that of other copies;
 * kernels and memsets are told with their node. Other nodes may begin before one has ended. */
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
    uint64_t op;
    uint32_t stream;
    CUgraphNode node; /* the last that began, and has not ended */
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
    current.step = (struct cts_graph_step){.stream = current.stream, .launch_op = current.op};
    if (!cts_graph_instance_node(node->graphExec, &launched, &current.step.graph,
                                 &current.step.node)) {
        current.step.graph = 0;
        say_unknown();
    }
    current.node = node->node;
    cts_graph_step_set(&current.step);
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
    cts_graph_step_set(NULL);
    current.node = NULL;
}

bool cts_graph_waits_for_events(void)
{
    return current.instance != NULL && cts_sanitizer.cuGraphEventWaitNodeGetEvent != NULL;
}
