#include "graph-steps.h"

#include <stddef.h>

#include "memory-run.h"

static __thread struct cts_graph_step *current;

void cts_graph_step_set(struct cts_graph_step *step)
{
    current = step;
}

void cts_graph_step_note(uint64_t op)
{
    if (current) current->is_noted = true;
    if (!current || !current->graph) return;
    cts_catalogue_add_graph_node(cts_memory_run.catalogue,
                                 &(struct cts_graph_node){.rank = cts_memory_run.rank,
                                                          .op = op,
                                                          .graph = current->graph,
                                                          .launch_op = current->launch_op,
                                                          .node = current->node});
}

bool cts_graph_step_is_noted(void)
{
    return current && current->is_noted;
}

uint32_t cts_graph_step_stream(uint32_t stream)
{
    return current ? current->stream : stream;
}
