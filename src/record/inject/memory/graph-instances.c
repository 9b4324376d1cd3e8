/* A graph may be destroyed or changed once it has an instance, so it is read when the instance is
 * made.
 *
 * While the graph is there, the driver names its nodes when it launches them; when it has been
 * destroyed, as that of a capture usually is, the instance's own, which it tells nobody before.
 * Those it launches in the order in which it listed the graph's: each is taken for the first node
 * of its type and function that none has been taken for. */
#include "graph-instances.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "graph-numbers.h"
#include "library.h"
#include "memory-run.h"

struct parts {
    struct cts_graph_part *items;
    size_t count, capacity;
};

struct instance {
    CUgraphExec handle; /* NULL: free place */
    uint32_t graph;
    struct cts_graph_numbers numbers;
    bool *is_taken;       /* per node, for one of the instance's own, or it is never launched */
    size_t first_free;    /* all before it are */
    bool has_others;      /* functions that the graph's nodes do not have: they tell nothing */
    struct cts_map taken; /* such nodes: index + 1 */
    struct parts parts;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct instance *items;
    size_t count, capacity;
} instances;
static struct cts_map by_handle; /* index + 1 */
static uint32_t last_graph;

/* ---- parts ---- */

static bool ask_event(CUgraphNode node, struct cts_graph_part *part)
{
    CUevent event = NULL;
    const CUresult result = cts_sanitizer.cuGraphEventWaitNodeGetEvent(node, &event);
    part->place = (uint64_t)(uintptr_t)event;
    return result == CUDA_SUCCESS;
}

static bool ask_memory(CUgraphNode node, struct cts_graph_part *part)
{
    if (part->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        CUdeviceptr address = 0;
        const CUresult result = cts_sanitizer.cuGraphMemFreeNodeGetParams(node, &address);
        part->place = address;
        return result == CUDA_SUCCESS;
    }
    CUDA_MEM_ALLOC_NODE_PARAMS parameters = {0};
    const CUresult result = cts_sanitizer.cuGraphMemAllocNodeGetParams(node, &parameters);
    part->place = parameters.dptr;
    part->size_bytes = parameters.bytesize;
    return result == CUDA_SUCCESS;
}

static bool ask_part(const struct cts_numbered_node *node, struct cts_graph_part *part)
{
    *part = (struct cts_graph_part){.type = node->type};
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cts_sanitizer.cuGraphEventWaitNodeGetEvent && ask_event(node->node, part);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cts_sanitizer.cuGraphMemAllocNodeGetParams &&
               cts_sanitizer.cuGraphMemFreeNodeGetParams && ask_memory(node->node, part);
    default:
        return false;
    }
}

static void collect_parts(const struct cts_graph_numbers *numbers, struct parts *parts)
{
    struct cts_graph_part part;
    for (size_t i = 0; i < numbers->nodes.count; i++)
        if (ask_part(numbers->nodes.items + i, &part) &&
            CTS_ARRAY_RESERVE(parts, parts->count + 1, NULL) == CTS_OK)
            parts->items[parts->count++] = part;
}

/* ---- instances ---- */

static void add_rows(const struct instance *instance)
{
    for (size_t i = 0; i < instance->numbers.edges.count; i++) {
        const struct cts_numbered_edge *const edge = instance->numbers.edges.items + i;
        cts_catalogue_add_graph_edge(cts_memory_run.catalogue,
                                     &(struct cts_graph_edge){.rank = cts_memory_run.rank,
                                                              .graph = instance->graph,
                                                              .node = edge->node,
                                                              .after = edge->after});
    }
}

static void release(struct instance *instance)
{
    cts_graph_numbers_release(&instance->numbers);
    cts_map_release(&instance->taken);
    free(instance->is_taken);
    free(instance->parts.items);
    *instance = (struct instance){0};
}

/* Under the lock. */
static struct instance *find(CUgraphExec handle)
{
    const uint64_t *const place = cts_map_find(&by_handle, (uint64_t)(uintptr_t)handle);
    return place && *place ? instances.items + *place - 1 : NULL;
}

/* Under the lock. */
static struct instance *make_place(CUgraphExec handle)
{
    struct instance *const old = find(handle);
    if (old) {
        release(old);
        return old;
    }
    size_t at = 0;
    while (at < instances.count && instances.items[at].handle) at++;
    uint64_t *const place = cts_map_at(&by_handle, (uint64_t)(uintptr_t)handle, NULL);
    if (!place || CTS_ARRAY_RESERVE(&instances, at + 1, NULL)) return NULL;
    if (at == instances.count) instances.count++;
    *place = at + 1;
    return instances.items + at;
}

static bool is_launched(CUgraphNodeType type)
{
    return type != CU_GRAPH_NODE_TYPE_EMPTY && type != CU_GRAPH_NODE_TYPE_GRAPH;
}

void cts_graph_instance_made(CUgraphExec handle, CUgraph graph)
{
    struct instance made = {.handle = handle};
    if (!cts_graph_numbers_read(graph, &made.numbers)) return;
    collect_parts(&made.numbers, &made.parts);
    made.is_taken = calloc(made.numbers.nodes.count + 1, sizeof *made.is_taken);
    for (size_t i = 0; made.is_taken && i < made.numbers.nodes.count; i++)
        made.is_taken[i] = !is_launched(made.numbers.nodes.items[i].type);
    pthread_mutex_lock(&lock);
    struct instance *const place = made.is_taken ? make_place(handle) : NULL;
    if (place) {
        made.graph = ++last_graph;
        *place = made;
        add_rows(place);
    }
    pthread_mutex_unlock(&lock);
    if (!place) release(&made);
}

void cts_graph_instance_forget(CUgraphExec handle)
{
    pthread_mutex_lock(&lock);
    struct instance *const instance = find(handle);
    if (instance) {
        release(instance);
        *cts_map_at(&by_handle, (uint64_t)(uintptr_t)handle, NULL) = 0;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- nodes ---- */

static bool is_like(const struct cts_numbered_node *node, const struct cts_launched_node *launched,
                    bool by_function)
{
    const bool both = node->function && launched->function;
    return node->type == launched->type &&
           (!by_function || (both && node->function == launched->function));
}

/* The first like it that is not taken, or the number of nodes. */
static size_t find_like(const struct instance *instance, const struct cts_launched_node *launched,
                        bool by_function)
{
    const struct cts_numbered_nodes *const nodes = &instance->numbers.nodes;
    size_t i = instance->first_free;
    while (i < nodes->count &&
           (instance->is_taken[i] || !is_like(nodes->items + i, launched, by_function)))
        i++;
    return i;
}

/* Under the lock: the node that one of the instance's own stands for; the number of nodes: none. */
static size_t take(struct instance *instance, const struct cts_launched_node *launched)
{
    const size_t count = instance->numbers.nodes.count;
    uint64_t *const place = cts_map_at(&instance->taken, (uint64_t)(uintptr_t)launched->node, NULL);
    if (!place) return count;
    if (*place) return *place - 1;
    const bool by_function = launched->function && !instance->has_others;
    size_t found = by_function ? find_like(instance, launched, true) : count;
    if (by_function && found == count) instance->has_others = true;
    if (found == count) found = find_like(instance, launched, false);
    if (found == count) return count;
    *place = found + 1;
    instance->is_taken[found] = true;
    while (instance->first_free < count && instance->is_taken[instance->first_free])
        instance->first_free++;
    return found;
}

bool cts_graph_instance_node(CUgraphExec handle, const struct cts_launched_node *launched,
                             struct cts_known_node *known)
{
    *known = (struct cts_known_node){0};
    pthread_mutex_lock(&lock);
    struct instance *const instance = find(handle);
    if (instance) {
        const struct cts_numbered_nodes *const nodes = &instance->numbers.nodes;
        const uint64_t *const own =
            cts_map_find(&instance->numbers.by_node, (uint64_t)(uintptr_t)launched->node);
        const size_t at = own ? *own - 1 : take(instance, launched);
        const struct cts_numbered_node *const node = at < nodes->count ? nodes->items + at : NULL;
        if (node) known->graph = instance->graph;
        if (node) known->number = node->number;
        known->has_copy = node && node->copy;
        if (known->has_copy) known->copy = *node->copy;
    }
    pthread_mutex_unlock(&lock);
    return known->graph != 0;
}

struct cts_graph_part *cts_graph_instance_parts(CUgraphExec handle, size_t *count)
{
    struct cts_graph_part *copy = NULL;
    *count = 0;
    pthread_mutex_lock(&lock);
    const struct instance *const instance = find(handle);
    if (instance && instance->parts.count) copy = malloc(instance->parts.count * sizeof *copy);
    if (copy) {
        *count = instance->parts.count;
        memcpy(copy, instance->parts.items, *count * sizeof *copy);
    }
    pthread_mutex_unlock(&lock);
    return copy;
}
