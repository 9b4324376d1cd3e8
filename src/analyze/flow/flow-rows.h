/* One rank's rows in the catalogue, by op: the host's calls and the threads that made them, works
 * of streams, steps of graph launches, and what host functions accessed. */
#ifndef CTS_FLOW_ROWS_H
#define CTS_FLOW_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/catalogue.h"

struct cts_flow_rows {
    const struct cts_catalogue *catalogue; /* the caller's */
    uint32_t rank;
    const struct cts_host_call *calls; /* of the rank, in the catalogue */
    size_t call_count;
    uint32_t *threads; /* numbers, ascending; 0 is always one */
    uint32_t thread_count;
    struct cts_graph_node *steps; /* of graph launches, by launch and node */
    size_t step_count;
    size_t *function_of; /* by host access: index of the function that made it, SIZE_MAX: none */
};

/* The launch, copy or host function with an op: its stream, CTS_NONE where there is none. */
struct cts_flow_work {
    enum cts_flow_work_kind {
        CTS_FLOW_WORK_NONE,
        CTS_FLOW_WORK_LAUNCH,
        CTS_FLOW_WORK_COPY,
        CTS_FLOW_WORK_FUNCTION
    } kind;
    size_t index;
    uint32_t stream;
};

/* Release it after a failure, too. */
CTS_MUST_CHECK enum cts_status cts_flow_rows_collect(struct cts_flow_rows *rows,
                                                     const struct cts_catalogue *catalogue,
                                                     uint32_t rank, struct cts_error *error);
void cts_flow_rows_release(struct cts_flow_rows *rows);

/* NULL: the run does not know the call. */
const struct cts_host_call *cts_flow_call_at(const struct cts_flow_rows *rows, uint64_t op);
/* Index in rows->threads of the thread that made a call. */
uint32_t cts_flow_thread_index(const struct cts_flow_rows *rows, uint64_t op);
struct cts_flow_work cts_flow_work_at(const struct cts_flow_rows *rows, uint64_t op);
/* Whether the op is of a step of a graph launch. */
bool cts_flow_is_step(const struct cts_flow_rows *rows, uint64_t op);

/* The host accesses that lie between begin and end of a host function; those of other threads are
 * among them. */
size_t cts_flow_first_access(const struct cts_flow_rows *rows, size_t function);
bool cts_flow_is_access_within(const struct cts_flow_rows *rows, size_t access, size_t function);

/* A copy's kind, as in the catalogue: "HtoD", "memset". */
bool cts_flow_is_kind(const struct cts_copy *copy, const char *kind);
/* Whether the function returns without waiting; in runs that do not know it: what the row says. */
bool cts_flow_is_asynchronous(const struct cts_flow_rows *rows, const struct cts_copy *copy);
/* Whether `address` is in memory of the host that is pinned (or managed) at `op`. */
bool cts_flow_is_pinned(const struct cts_flow_rows *rows, uint64_t address, uint64_t op);

#endif
