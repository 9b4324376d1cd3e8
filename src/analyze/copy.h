/* The rows of a copy or memset: both sides as planes of rows of the same width. */
#ifndef CTS_ANALYZE_COPY_H
#define CTS_ANALYZE_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/catalogue.h"

struct cts_copy_side {
    uint64_t start, pitch, slice; /* bytes from row to row, from plane to plane */
    uint64_t end;                 /* of the last row */
};

/* Rows that follow one another without a gap on both sides are one row here. */
struct cts_copy_rows {
    uint64_t width, height, depth; /* any of them 0: nothing is copied */
    struct cts_copy_side to, from;
    bool overlapping; /* some byte may be both source and destination */
};

/* `with_source` false: a memset, whose source fields mean nothing. CTS_FORMAT for copies that pass
 * the end of memory or have more rows than any real one. */
CTS_MUST_CHECK enum cts_status cts_copy_rows_of(const struct cts_copy *copy, bool with_source,
                                                struct cts_copy_rows *rows,
                                                struct cts_error *error);

static inline uint64_t cts_copy_row_start(const struct cts_copy_side *side, uint64_t z, uint64_t y)
{
    return side->start + z * side->slice + y * side->pitch;
}

#endif
