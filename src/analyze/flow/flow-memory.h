/* The state of every byte while nodes are walked in call order: docs/flow.md, 'The state of a
 * byte'.
 *
 * A state is a tenant (the allocation that has the byte), a list of writers and a list of readers.
 * Equal states are one, known by its number; equal neighbours are one run. A node's effect is
 * worked out once for each state and ways that it meets, not for each run. */
#ifndef CTS_FLOW_MEMORY_H
#define CTS_FLOW_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* Cell 0 ends every list; state 0 is a byte that nothing has happened to. */
struct cts_flow_cell {
    uint32_t node, ways;
    uint32_t last_reader; /* of a writer: index of the node + 1; 0: nobody has read it */
    uint32_t next;
};
struct cts_flow_state {
    uint32_t tenant; /* index of the allocation + 1; 0: none */
    uint32_t writers, readers;
    uint32_t was_read; /* 1: somebody has read the byte since it was allocated */
};

/* What a node met. */
struct cts_flow_met {
    uint32_t state, ways;
    uint32_t next;              /* the state that follows */
    uint64_t bytes, first, end; /* within [first, end) */
    uint64_t sector_bytes;      /* of them, those in sectors that they fill */
};

/* Memory moves in sectors: bytes that share one with bytes in use move for nothing extra. */
enum { CTS_FLOW_SECTOR_BYTES = 32 };
static inline uint64_t cts_flow_sector_bytes(uint64_t start, uint64_t end)
{
    const uint64_t last = end / CTS_FLOW_SECTOR_BYTES;
    const uint64_t first = start / CTS_FLOW_SECTOR_BYTES + (start % CTS_FLOW_SECTOR_BYTES != 0);
    return first < last ? (last - first) * CTS_FLOW_SECTOR_BYTES : 0;
}

struct cts_flow_memory;
CTS_MUST_CHECK enum cts_status cts_flow_memory_new(struct cts_flow_memory **memory,
                                                   struct cts_error *error);
void cts_flow_memory_free(struct cts_flow_memory *memory); /* NULL is fine */

struct cts_flow_cell cts_flow_cell_at(const struct cts_flow_memory *memory, uint32_t cell);
struct cts_flow_state cts_flow_state_at(const struct cts_flow_memory *memory, uint32_t state);
/* Their numbers; CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_flow_cell(struct cts_flow_memory *memory,
                                             const struct cts_flow_cell *cell, uint32_t *number,
                                             struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_flow_state(struct cts_flow_memory *memory,
                                              const struct cts_flow_state *state, uint32_t *number,
                                              struct cts_error *error);

/* The state that follows `state` when the node at hand touches it in `ways`. */
typedef enum cts_status (*cts_flow_next)(void *context, uint32_t state, uint32_t ways,
                                         uint32_t *next, struct cts_error *error);

/* A node: begin, runs in ascending order without overlap, end. What it met is then in *met, valid
 * until the next begin. */
void cts_flow_memory_begin(struct cts_flow_memory *memory, cts_flow_next next, void *context);
CTS_MUST_CHECK enum cts_status cts_flow_memory_touch(struct cts_flow_memory *memory, uint64_t start,
                                                     uint64_t end, uint32_t ways,
                                                     struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_flow_memory_end(struct cts_flow_memory *memory,
                                                   const struct cts_flow_met **met,
                                                   size_t *met_count, struct cts_error *error);

/* All runs of bytes of one state, in no order; state 0 left out. Of each, how many bytes, and how
 * many of them in sectors that they fill. */
struct cts_flow_amount {
    uint64_t bytes, sector_bytes;
};
CTS_MUST_CHECK enum cts_status cts_flow_memory_each(
    const struct cts_flow_memory *memory,
    enum cts_status (*act)(void *context, uint32_t state, const struct cts_flow_amount *amount,
                           struct cts_error *error),
    void *context, struct cts_error *error);

#endif
