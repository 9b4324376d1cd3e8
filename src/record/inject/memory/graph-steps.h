/* Which node of a graph's launch the calling thread is told of. */
#ifndef CTS_MEMORY_GRAPH_STEPS_H
#define CTS_MEMORY_GRAPH_STEPS_H

#include <stdbool.h>
#include <stdint.h>

struct cts_graph_step {
    uint32_t graph; /* 0: not known, so that nothing is written */
    uint32_t node, stream;
    uint64_t launch_op;
    bool is_noted; /* a row says what it does */
};
/* From here on, until NULL. */
void cts_graph_step_set(struct cts_graph_step *step);
/* Whether the calling thread is in one that has its row. */
bool cts_graph_step_is_noted(void);
/* The launch, copy or host function `op` is that node. */
void cts_graph_step_note(uint64_t op);
/* The graph's stream in a node, `stream` elsewhere. */
uint32_t cts_graph_step_stream(uint32_t stream);

#endif
