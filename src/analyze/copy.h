/* The rows of a copy or memset: both sides as planes of rows of the same width; and what they do to
 * a shadow memory. */
#ifndef CTS_ANALYZE_COPY_H
#define CTS_ANALYZE_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/shadow.h"
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

/* The destination gets one writer. */
CTS_MUST_CHECK enum cts_status cts_copy_fill(struct cts_shadow *shadow,
                                             const struct cts_copy_rows *rows, uint32_t writer,
                                             struct cts_error *error);

/* Writers on their way: bytes of one side that get a writer from the other. */
struct cts_copy_run {
    uint64_t start, end;
    uint64_t writer; /* as cts_shadow_run() gives it; no narrower, so that runs can be sent */
};
struct cts_copy_runs { /* zero-initialise; free() items */
    struct cts_copy_run *items;
    size_t count, capacity;
};

/* Adds a run, or makes the last one longer where it goes on. CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_copy_runs_add(struct cts_copy_runs *runs, uint64_t start,
                                                 uint64_t end, uint32_t writer,
                                                 struct cts_error *error);

typedef enum cts_status (*cts_copy_put)(void *state, const struct cts_copy_run *run,
                                        struct cts_error *error);

/* The destination gets the writers of the source: `put` is given each run of its bytes, in portions
 * between which the source is read on, unless the two sides overlap: a copy reads all before it
 * writes. */
CTS_MUST_CHECK enum cts_status cts_copy_carry(struct cts_shadow_view *view,
                                              const struct cts_copy_rows *rows, cts_copy_put put,
                                              void *state, struct cts_error *error);

#endif
