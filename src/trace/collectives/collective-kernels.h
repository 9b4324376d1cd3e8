/* Collectives of GPUs (NCCL, RCCL): which kernels of several processes are one operation.
 *
 * A *call* is one such kernel. The calls of one process in one communicator are a *sequence*: all
 * members go through the same operations in the same order, but a recording may begin and end
 * anywhere. Calls with one communicator and one number are an *operation*. Where no numbers are
 * known, sequences are laid side by side: the operations must agree, and the distances between
 * their ends must, since all members end together. Where no communicator is known, the sequences
 * are those of streams, and what fits together is found in the same way. What more than one
 * arrangement fits stays unmatched and is counted. */
#ifndef CTS_TRACE_COLLECTIVES_H
#define CTS_TRACE_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define CTS_COLLECTIVE_NONE   UINT32_MAX
#define CTS_COLLECTIVE_NUMBER UINT64_MAX /* of a call whose number is not known */

struct cts_nccl_kernel {
    uint64_t communicator; /* the same number in all members; 0: not known */
    uint64_t number;       /* of the operation in the communicator, or CTS_COLLECTIVE_NUMBER */
    uint64_t kind;         /* what it does: the same number in all members */
    uint64_t bytes;        /* 0: not known; members of a few operations differ */
    uint64_t begin_ns, end_ns;
    uint32_t process;      /* dense */
    uint32_t stream;       /* any number that tells the streams of a process apart */
    uint32_t member_count; /* of the communicator; 0: not known */
};

struct cts_collective_match {
    uint32_t *operation; /* [call]: dense index by order of the first begin, or NONE */
    uint32_t operation_count;
    uint64_t matched;   /* calls in an operation */
    uint64_t alone;     /* calls whose other members are not among the calls */
    uint64_t ambiguous; /* calls that fit in more than one way, or contradict each other */
    uint64_t partial;   /* operations of which some members are not among the calls */
};

/* Whether a kernel of this name is one: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)". */
bool cts_collective_is_kernel(const char *name);
/* The kind of a kernel by its name, without what members may choose differently. */
uint64_t cts_collective_kind_of(const char *name);

/* Matches calls[count], in any order. Release it also after a failure. */
CTS_MUST_CHECK enum cts_status cts_collectives_match(const struct cts_nccl_kernel *calls,
                                                     size_t count,
                                                     struct cts_collective_match *match,
                                                     struct cts_error *error);
void cts_collective_match_release(struct cts_collective_match *match);

#endif
