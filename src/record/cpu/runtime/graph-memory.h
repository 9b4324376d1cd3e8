/* Memory that a captured cudaMallocAsync allocates: it belongs to the graph, has the same address
 * in every launch, and is allocated and freed by each launch (docs/flow.md, 'Limits': before and
 * after all of the graph's nodes). The bytes stay reserved until the last graph and instance that
 * know the memory are gone. */
#ifndef CTS_CPU_GRAPH_MEMORY_H
#define CTS_CPU_GRAPH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"
#include "range.h"

struct cts_graph_memory; /* of a graph, its clones and instances; NULL: none */

/* Adds a range to a graph's memory, which is made with the first. `hint`: what the source says of
 * it, or NULL. False: no memory; the range is then the caller's. */
bool cts_graph_memory_add(struct cts_graph_memory **memory, const struct cts_range *range,
                          const struct cts_allocation_desc *hint);
/* Notes that each launch frees the memory at `address`; false if it is not the graph's. */
bool cts_graph_memory_free(struct cts_graph_memory *memory, const void *address);

/* One more, or one fewer, that knows it. Waits for the device if it was launched and is now gone:
 * not to be called with the streams' lock held then. */
struct cts_graph_memory *cts_graph_memory_hold(struct cts_graph_memory *memory);
void cts_graph_memory_release(struct cts_graph_memory *memory);

/* A launch in the stream with this id begins, or has submitted all works. */
void cts_graph_memory_begin(struct cts_graph_memory *memory, uint32_t stream);
void cts_graph_memory_end(struct cts_graph_memory *memory, uint32_t stream);

#endif
