/* Sequences of calls laid side by side (collective-kernels.h). Private to collectives/. */
#ifndef CTS_TRACE_COLLECTIVES_SEQUENCE_H
#define CTS_TRACE_COLLECTIVES_SEQUENCE_H

#include "trace/collectives/collective-kernels.h"

/* Calls of one process in one communicator, or on one stream, by begin: order[0..count). */
struct cts_collective_sequence {
    const struct cts_nccl_kernel *calls; /* of all */
    const uint32_t *order;
    size_t count;
};

/* How two sequences lie side by side: call i of the one is call i + shift of the other. */
struct cts_collective_shift {
    ptrdiff_t shift;
    bool found;       /* they agree in at least one way */
    bool is_sure;     /* and in only one that is likely */
    double spread_ns; /* mean difference of the distances between ends */
};

void cts_collective_lay(const struct cts_collective_sequence *one,
                        const struct cts_collective_sequence *other,
                        struct cts_collective_shift *result);
/* The median distance between ends that follow each other; 0: there are fewer than two. */
uint64_t cts_collective_pace(const struct cts_collective_sequence *sequence);

#endif
