/* Loops and program order of a function's control flow graph.
 *
 * Loops are found in one depth-first walk (Wei, Mao, Zou, Chen: "A new algorithm for identifying
 * loops in decompilation", SAS 2007), which gives each block the header of the innermost loop
 * around it, without dominators, and copes with irreducible graphs: there, a loop's header is the
 * entry that the walk met first.
 *
 * Program order is the reverse post-order of a second walk that turns to what leaves the current
 * loop first: such blocks are finished first, hence come last, so that a loop's blocks stand
 * together and what follows the loop stands behind them.
 *
 * Both walks keep their own stack: generated code has graphs deeper than a C stack. */
#include "record/instrument/loops.h"

#include <stdbool.h>
#include <stdlib.h>

#include "record/instrument/pass-memory.h"

enum { NONE = UINT32_MAX };

/* One block, by its place in the function's list. */
struct node {
    LLVMBasicBlockRef block;
    uint32_t *successors;
    uint32_t successor_count;
    uint32_t next;   /* the successor that the walk tries next */
    uint32_t depth;  /* on the path of the first walk: its place, from 1; else 0 */
    uint32_t header; /* of the innermost loop that contains it but does not start at it */
    uint32_t loop;   /* of which it is the header, NONE while it is none */
    bool is_seen, is_header;
};

struct graph {
    struct node *nodes;
    uint32_t *successors; /* of all nodes */
    uint32_t *stack;
    size_t node_count;
};

static void graph_init(struct graph *graph, LLVMValueRef function)
{
    graph->node_count = LLVMCountBasicBlocks(function);
    graph->nodes = cts_plugin_allocate(graph->node_count, sizeof *graph->nodes);
    graph->stack = cts_plugin_allocate(graph->node_count + 1, sizeof *graph->stack);
    struct cts_pointer_map index = {0};
    size_t edge_count = 0;
    uint32_t at = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        struct node *node = &graph->nodes[at];
        *node = (struct node){.block = b, .header = NONE, .loop = NONE};
        node->successor_count = end ? LLVMGetNumSuccessors(end) : 0;
        edge_count += node->successor_count;
        *cts_pointer_map_insert(&index, b) = at++;
    }
    graph->successors = cts_plugin_allocate(edge_count, sizeof *graph->successors);
    uint32_t *edge = graph->successors;
    for (size_t i = 0; i < graph->node_count; i++) {
        struct node *node = &graph->nodes[i];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(node->block);
        node->successors = edge;
        for (uint32_t s = 0; s < node->successor_count; s++)
            *edge++ = (uint32_t)*cts_pointer_map_find(&index, LLVMGetSuccessor(end, s));
    }
    cts_pointer_map_release(&index);
}

static void graph_release(struct graph *graph)
{
    free(graph->nodes);
    free(graph->successors);
    free(graph->stack);
}

/* Notes that `header`, which is on the walk's path, is the header of a loop around `node`; weaves
 * it into the chain of headers that the node has, innermost (deepest on the path) first. */
static void weave_header(struct graph *graph, uint32_t node, uint32_t header)
{
    struct node *nodes = graph->nodes;
    if (header == NONE || node == header) return;
    while (nodes[node].header != NONE) {
        uint32_t known = nodes[node].header;
        if (known == header) return;
        if (nodes[known].depth < nodes[header].depth) {
            nodes[node].header = header;
            node = header;
            header = known;
        } else {
            node = known;
        }
    }
    if (node != header) nodes[node].header = header;
}

/* An edge of the first walk to a block that it has seen before. */
static void meet_again(struct graph *graph, uint32_t from, uint32_t to)
{
    struct node *nodes = graph->nodes;
    if (nodes[to].depth) {
        nodes[to].is_header = true;
        weave_header(graph, from, to);
        return;
    }
    /* `to` is done. The innermost loop around it that is still open is a loop around `from` too;
     * where that is not the innermost, the edge enters a closed loop at its side. */
    uint32_t header = nodes[to].header;
    while (header != NONE && !nodes[header].depth) header = nodes[header].header;
    weave_header(graph, from, header);
}

static void find_headers(struct graph *graph)
{
    struct node *nodes = graph->nodes;
    uint32_t depth = 0;
    graph->stack[depth++] = 0;
    nodes[0].is_seen = true;
    nodes[0].depth = depth;
    while (depth) {
        uint32_t at = graph->stack[depth - 1];
        if (nodes[at].next < nodes[at].successor_count) {
            uint32_t to = nodes[at].successors[nodes[at].next++];
            if (nodes[to].is_seen) {
                meet_again(graph, at, to);
            } else {
                nodes[to].is_seen = true;
                graph->stack[depth++] = to;
                nodes[to].depth = depth;
            }
        } else {
            nodes[at].depth = 0;
            depth--;
            if (depth) weave_header(graph, graph->stack[depth - 1], nodes[at].header);
        }
    }
}

/* The loop of a header, numbered after the loops around it. */
static uint32_t loop_at(struct graph *graph, uint32_t header, struct cts_flow *flow,
                        size_t *capacity)
{
    uint32_t open = 0;
    while (header != NONE && graph->nodes[header].loop == NONE) {
        graph->stack[open++] = header;
        header = graph->nodes[header].header;
    }
    uint32_t loop = header == NONE ? NONE : graph->nodes[header].loop;
    while (open) {
        uint32_t depth = loop == NONE ? 1 : flow->loops[loop].depth + 1;
        flow->loops = cts_plugin_grow(flow->loops, flow->loop_count, capacity, sizeof *flow->loops);
        flow->loops[flow->loop_count] = (struct cts_flow_loop){.parent = loop, .depth = depth};
        loop = (uint32_t)flow->loop_count++;
        graph->nodes[graph->stack[--open]].loop = loop;
    }
    return loop;
}

static uint32_t innermost_loop(const struct graph *graph, uint32_t node)
{
    const struct node *at = &graph->nodes[node];
    if (at->is_header) return at->loop;
    return at->header == NONE ? NONE : graph->nodes[at->header].loop;
}

static bool loop_contains(const struct cts_flow *flow, uint32_t outer, uint32_t inner)
{
    if (outer == NONE) return true;
    while (inner != NONE && flow->loops[inner].depth > flow->loops[outer].depth)
        inner = flow->loops[inner].parent;
    return inner == outer;
}

/* The successor that the second walk tries as its `turn`-th: those that leave the loop first, and
 * of each sort the last first. */
static uint32_t successor_at_turn(const struct graph *graph, const struct cts_flow *flow,
                                  uint32_t node, uint32_t *turn)
{
    const struct node *at = &graph->nodes[node];
    uint32_t loop = innermost_loop(graph, node);
    for (; *turn < 2 * at->successor_count; ++*turn) {
        bool for_leaving = *turn < at->successor_count;
        uint32_t to = at->successors[at->successor_count - 1 - *turn % at->successor_count];
        if (graph->nodes[to].is_seen) continue;
        if (for_leaving != loop_contains(flow, loop, innermost_loop(graph, to))) return to;
    }
    return NONE;
}

static void find_order(struct graph *graph, struct cts_flow *flow)
{
    struct node *nodes = graph->nodes;
    size_t reachable = 0, depth = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        reachable += nodes[i].is_seen;
        nodes[i].is_seen = false;
        nodes[i].next = 0;
    }
    flow->block_count = reachable;
    graph->stack[depth++] = 0;
    nodes[0].is_seen = true;
    while (depth) {
        uint32_t at = graph->stack[depth - 1];
        uint32_t to = successor_at_turn(graph, flow, at, &nodes[at].next);
        if (to != NONE) {
            nodes[to].is_seen = true;
            graph->stack[depth++] = to;
        } else {
            depth--;
            uint32_t loop = innermost_loop(graph, at);
            flow->blocks[--reachable] =
                (struct cts_flow_block){.block = nodes[at].block, .loop = loop};
        }
    }
}

void cts_flow_find(struct cts_flow *flow, LLVMValueRef function)
{
    *flow = (struct cts_flow){0};
    struct graph graph = {0};
    graph_init(&graph, function);
    flow->blocks = cts_plugin_allocate(graph.node_count, sizeof *flow->blocks);
    if (graph.node_count) {
        size_t capacity = 0;
        find_headers(&graph);
        for (uint32_t i = 0; i < graph.node_count; i++) {
            if (graph.nodes[i].is_header) loop_at(&graph, i, flow, &capacity);
            if (graph.nodes[i].header != NONE)
                loop_at(&graph, graph.nodes[i].header, flow, &capacity);
        }
        find_order(&graph, flow);
    }
    graph_release(&graph);
}

void cts_flow_release(struct cts_flow *flow)
{
    free(flow->blocks);
    free(flow->loops);
    *flow = (struct cts_flow){0};
}
