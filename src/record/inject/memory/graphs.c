/* The shapes of a graph's launches. A node's launch does not tell them, and a program may have
 * destroyed the graph by then: they are read when the graph is instantiated. Where the driver then
 * launches nodes of its own, they are known by their function, grid and block: the shape is that of
 * the last graph with such a launch. */
#include "graphs.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/hash.h"
#include "common/map.h"
#include "library.h"

enum { NODES_MAX = 1 << 20, DEPTH_MAX = 16, COOPERATIVE_BIT = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cts_map shapes; /* by node: bytes, and the bit above them */

static uint64_t key_of(const void *function, const uint32_t extents[6])
{
    uint64_t key = (uintptr_t)function;
    for (int i = 0; i < 6; i++) key = cts_hash_add(key, extents[i]);
    return key | 1; /* nodes are aligned */
}

static void note_shape(uint64_t key, uint64_t value)
{
    uint64_t *const place = cts_map_at(&shapes, key, NULL);
    if (place) *place = value;
}

static void note_node(CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    CUlaunchAttributeValue value = {0};
    if (cts_sanitizer.cuGraphKernelNodeGetParams(node, &parameters) != CUDA_SUCCESS) return;
    const bool cooperative = cts_sanitizer.cuGraphKernelNodeGetAttribute(
                                 node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) == CUDA_SUCCESS &&
                             value.cooperative;
    const uint64_t shape = parameters.sharedMemBytes | (uint64_t)cooperative << COOPERATIVE_BIT;
    const uint32_t extents[] = {parameters.gridDimX,  parameters.gridDimY,  parameters.gridDimZ,
                                parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
    pthread_mutex_lock(&lock);
    note_shape((uint64_t)(uintptr_t)node, shape);
    note_shape(key_of(parameters.func, extents), shape);
    pthread_mutex_unlock(&lock);
}

static void note_graph(CUgraph graph, int depth)
{
    size_t count = 0;
    if (depth == DEPTH_MAX || cts_sanitizer.cuGraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS ||
        count == 0 || count > NODES_MAX)
        return;
    CUgraphNode *const nodes = calloc(count, sizeof *nodes);
    if (nodes && cts_sanitizer.cuGraphGetNodes(graph, nodes, &count) == CUDA_SUCCESS)
        for (size_t i = 0; i < count; i++) {
            CUgraphNodeType type;
            CUgraph child;
            if (cts_sanitizer.cuGraphNodeGetType(nodes[i], &type) != CUDA_SUCCESS) continue;
            if (type == CU_GRAPH_NODE_TYPE_KERNEL) note_node(nodes[i]);
            if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
                cts_sanitizer.cuGraphChildGraphNodeGetGraph(nodes[i], &child) == CUDA_SUCCESS)
                note_graph(child, depth + 1);
        }
    free(nodes);
}

void cts_graph_note_shapes(CUgraph graph)
{
    const bool able = cts_sanitizer.cuGraphGetNodes && cts_sanitizer.cuGraphNodeGetType &&
                      cts_sanitizer.cuGraphKernelNodeGetParams &&
                      cts_sanitizer.cuGraphKernelNodeGetAttribute &&
                      cts_sanitizer.cuGraphChildGraphNodeGetGraph;
    if (able && graph) note_graph(graph, 0);
}

struct cts_launch_extras cts_graph_shape(CUgraphNode node, const Sanitizer_LaunchData *launch)
{
    const uint32_t extents[] = {launch->gridDim_x,  launch->gridDim_y,  launch->gridDim_z,
                                launch->blockDim_x, launch->blockDim_y, launch->blockDim_z};
    pthread_mutex_lock(&lock);
    const uint64_t *found = cts_map_find(&shapes, (uint64_t)(uintptr_t)node);
    if (!found) found = cts_map_find(&shapes, key_of(launch->function, extents));
    const uint64_t value = found ? *found : 0;
    pthread_mutex_unlock(&lock);
    return (struct cts_launch_extras){(uint32_t)value, (value >> COOPERATIVE_BIT & 1) != 0};
}
