/* What happens when a graph is launched. */
#ifndef CTS_MEMORY_GRAPH_LAUNCHES_H
#define CTS_MEMORY_GRAPH_LAUNCHES_H

#include <stdbool.h>

#include <sanitizer.h>

#include "stack.h"

void cts_graph_launch_begin(const Sanitizer_GraphLaunchData *launch);
/* `room`: for the patches' stack of its kernels. */
void cts_graph_node_begin(const Sanitizer_GraphNodeLaunchData *node, struct cts_stack_room room);
void cts_graph_node_end(const Sanitizer_GraphNodeLaunchData *node);
void cts_graph_launch_end(const Sanitizer_GraphLaunchData *launch);
/* Whether the calling thread is in a launch, which has told before what its graph waits for. */
bool cts_graph_waits_for_events(void);

#endif
