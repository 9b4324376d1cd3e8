/* Boxes: what one tensor copy (TMA) reads or writes, a part of a tensor of up to five dimensions.
 * A box is rows of bytes: as many bytes as its site's width, at
 *
 *     base + i0 * strides[0] + i1 * strides[1] + i2 * strides[2] + i3 * strides[3]
 *
 * for all i0 < extents[0] ... i3 < extents[3]. In an access file a box is one record. A reader
 * hands it over as records whose lanes are rows, in the order of i0 first, up to 32 rows each:
 * uniform, affine or two-level ones, which all analyses take; each but the first says that it
 * continues a box. */
#ifndef CTS_TRACE_BOX_H
#define CTS_TRACE_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/access.h"

enum {
    CTS_BOX_DIMENSIONS = 4,                     /* of rows */
    CTS_BOX_WORDS = 3 * CTS_BOX_DIMENSIONS + 1, /* as it is stored: see cts_box_put() */
    CTS_BOX_ROWS_MAX = 1 << 18,
};

struct cts_box {
    uint32_t extents[CTS_BOX_DIMENSIONS]; /* rows; 1 where there is no such dimension */
    uint64_t strides[CTS_BOX_DIMENSIONS]; /* bytes */
    uint32_t multicast; /* mask of the CTAs of the cluster that get it, by rank; 0: the CTA alone */
};

/* Rows of a box; 0: an extent is 0, or they are more than CTS_BOX_ROWS_MAX. */
uint32_t cts_box_rows(const struct cts_box *box);
/* Distance in bytes from the first row to the one with the highest address. */
uint64_t cts_box_span(const struct cts_box *box);

/* Extents, then the strides' low halves, then their high halves, then the multicast. */
void cts_box_put(const struct cts_box *box, uint32_t words[CTS_BOX_WORDS]);
struct cts_box cts_box_get(const uint32_t words[CTS_BOX_WORDS]);

/* A box (with at least one row) as records: how many rows of its first two dimensions with more
 * than one row each record has. */
struct cts_box_plan {
    uint32_t extents[CTS_BOX_DIMENSIONS]; /* those above 1 first */
    uint64_t strides[CTS_BOX_DIMENSIONS];
    uint32_t steps[2];
    uint32_t record_count;
};
struct cts_box_plan cts_box_plan_of(const struct cts_box *box);

/* What record `index` of a box is, apart from what all have in common. */
struct cts_box_record {
    uint64_t offset; /* of its first row from the base of the box */
    uint32_t mask;
    int32_t s0, s1;
    uint8_t pattern, row_lanes;
};
struct cts_box_record cts_box_record_of(const struct cts_box_plan *plan, uint32_t index);

#endif
