/* The order of what ran: launches, copies and memsets, with the frees and CPU accesses between
 * them.
 *
 * Supersteps of a rank follow the order of their stream and, across streams, what synchronisations,
 * events, stream waits and default streams enforce. A pair that nothing orders takes the recorded
 * start times (the call's where there is none, then `op`) and is counted. Ranks follow one another;
 * each has an address space of its own. The rules that order streams, as order.c applies them, are
 * in docs/communication.md. */
#ifndef CTS_ANALYZE_ORDER_H
#define CTS_ANALYZE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/catalogue.h"

enum cts_step_kind {
    CTS_STEP_LAUNCH,
    CTS_STEP_COPY,        /* a memset too */
    CTS_STEP_FREE,        /* an allocation ends */
    CTS_STEP_HOST_ACCESS, /* a range that the CPU read or wrote */
};

struct cts_step {
    enum cts_step_kind kind;
    uint32_t rank;
    size_t index;            /* in the catalogue's launches, copies, allocations, host_accesses */
    uint32_t superstep;      /* in its rank, from 0; a free or host access: of the next superstep */
    uint32_t launch_ordinal; /* launch: how many launches of the rank came before it */
};

struct cts_order {
    struct cts_step *steps; /* in their order, rank after rank */
    size_t step_count;
    uint64_t superstep_count; /* launches, copies and memsets */
    uint64_t unordered_pairs; /* of supersteps of one rank */
    struct cts_order_private *private_data;
};

/* The catalogue must outlive the order. */
CTS_MUST_CHECK enum cts_status cts_order_build(const struct cts_catalogue *catalogue,
                                               struct cts_order *order, struct cts_error *error);
void cts_order_release(struct cts_order *order);

/* Whether launch `first` (an index in catalogue->launches) had to end before launch `second` began;
 * false for launches of different ranks. */
bool cts_order_precedes(const struct cts_order *order, size_t first, size_t second);

#endif
