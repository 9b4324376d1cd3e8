/* What a picture of the flow shows: nodes with repeated iterations folded into one (flow-fold.h),
 * links between them, and a matrix of all launches.
 *
 * A *place* stands for one node, or for the nodes at the same place of every iteration. A *link*
 * sums the edges from one place to another, those within an iteration and those to a later one
 * (carried) apart. Its *parts* are the allocations, those of one source line and variable
 * together. */
#ifndef CTS_FLOW_PICTURE_H
#define CTS_FLOW_PICTURE_H

#include "analyze/flow/flow-fold.h"
#include "analyze/flow/flow.h"

enum { CTS_FLOW_MATRIX_BINS = 200 };

struct cts_flow_place {
    uint32_t node;                                  /* the first of them */
    uint64_t times;                                 /* nodes */
    uint64_t read_bytes, written_bytes, dead_bytes; /* of all of them */
    uint64_t on_enforced, on_true; /* of them, on the longest chains; 0 where not judged */
};

struct cts_flow_sums {
    uint64_t edges;
    uint64_t raw_bytes, possible_raw_bytes, war_bytes, waw_bytes, commuting_bytes, race_bytes;
};

struct cts_flow_part {
    uint32_t allocation; /* index in the catalogue, of the first edge; CTS_NONE: none */
    uint32_t from, to;   /* nodes of the first edge */
    uint64_t first, end; /* its bytes */
    struct cts_flow_sums sums;
};

struct cts_flow_link {
    uint32_t from, to; /* places */
    bool is_carried;   /* to a later iteration, or to an earlier place of it */
    struct cts_flow_sums sums;
    size_t part_begin, part_end;
};

struct cts_flow_picture {
    struct cts_flow_fold fold;
    uint32_t *place_of; /* by node; CTS_NONE: not shown (allocations and frees without a link) */
    struct cts_flow_place *places;
    struct cts_flow_link *links; /* by from, to, carried */
    size_t link_count;
    struct cts_flow_part *parts;
    size_t part_count;
    /* True dependences of works in call order: bytes from works of bin column to bin row. */
    uint64_t work_count, bin_size; /* works a bin */
    uint32_t bin_count;
    uint64_t *matrix; /* [row * bin_count + column] */
};

CTS_MUST_CHECK enum cts_status cts_flow_picture_make(const struct cts_flow_result *flow,
                                                     struct cts_flow_picture *picture,
                                                     struct cts_error *error);
void cts_flow_picture_release(struct cts_flow_picture *picture);

/* An edge carries bytes: it is shown and listed. */
static inline bool cts_flow_carries(const struct cts_flow_edge *e)
{
    return e->raw_bytes || e->war_bytes || e->waw_bytes || e->commuting_bytes || e->race_bytes;
}

#endif
