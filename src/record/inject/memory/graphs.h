/* Shapes of launches that graphs make. */
#ifndef CTS_MEMORY_GRAPHS_H
#define CTS_MEMORY_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

#include <sanitizer.h>

/* What a launch's own callback does not tell. */
struct cts_launch_extras {
    uint32_t dynamic_shared_bytes;
    bool cooperative;
};
/* Notes the shapes of a graph's launches when it is instantiated. */
void cts_graph_note_shapes(CUgraph graph);
/* Of a node that is launched; zeros: not known. */
struct cts_launch_extras cts_graph_shape(CUgraphNode node, const Sanitizer_LaunchData *launch);

#endif
