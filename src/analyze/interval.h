/* Sets of addresses as sorted, disjoint, non-touching intervals, made from spans in any order. */
#ifndef CTS_ANALYZE_INTERVAL_H
#define CTS_ANALYZE_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/array.h"
#include "common/error.h"

struct cts_interval {
    uint64_t start, end; /* half-open */
};

struct cts_intervals {
    struct cts_interval *items;
    size_t count, capacity;
};

/* Bytes that one warp record touched, and when: records of a CTA count up. */
struct cts_span {
    uint64_t start;
    uint32_t length_bytes;
    uint32_t moment;
};

/* Spans as they come. `ascending` holds while their starts never went back. */
struct cts_spans {
    struct cts_span *items;
    size_t count, capacity;
    bool descending; /* some start was below the one before it */
};

static inline enum cts_status cts_spans_add(struct cts_spans *spans, uint64_t start,
                                            uint32_t length_bytes, uint32_t moment,
                                            struct cts_error *error)
{
    if (__builtin_expect(spans->count == spans->capacity, 0) &&
        CTS_ARRAY_RESERVE(spans, spans->count + 1, error))
        return CTS_MEMORY;
    spans->descending |= spans->count && start < spans->items[spans->count - 1].start;
    spans->items[spans->count++] = (struct cts_span){start, length_bytes, moment};
    return CTS_OK;
}

static inline void cts_spans_clear(struct cts_spans *spans)
{
    spans->count = 0;
    spans->descending = false;
}

/* Sorts by start; spans of the same start keep their order. `scratch` lends memory. */
CTS_MUST_CHECK enum cts_status cts_spans_sort(struct cts_spans *spans, struct cts_spans *scratch,
                                              struct cts_error *error);

/* The union of sorted spans, appended to `set` (whose items so far are left alone). */
CTS_MUST_CHECK enum cts_status cts_spans_unite(const struct cts_spans *spans,
                                               struct cts_intervals *set, struct cts_error *error);

CTS_MUST_CHECK enum cts_status cts_intervals_add(struct cts_intervals *set, uint64_t start,
                                                 uint64_t end, struct cts_error *error);

/* Makes a set of intervals in any order. */
CTS_MUST_CHECK enum cts_status cts_intervals_normalise(struct cts_intervals *set,
                                                       struct cts_error *error);

/* result = a united with b; result = what is in both. `result` is cleared first and is neither. */
CTS_MUST_CHECK enum cts_status cts_intervals_unite(const struct cts_intervals *a,
                                                   const struct cts_intervals *b,
                                                   struct cts_intervals *result,
                                                   struct cts_error *error);
CTS_MUST_CHECK enum cts_status cts_intervals_intersect(const struct cts_intervals *a,
                                                       const struct cts_intervals *b,
                                                       struct cts_intervals *result,
                                                       struct cts_error *error);
/* result = what is in a and not in b. */
CTS_MUST_CHECK enum cts_status cts_intervals_subtract(const struct cts_intervals *a,
                                                      const struct cts_intervals *b,
                                                      struct cts_intervals *result,
                                                      struct cts_error *error);

uint64_t cts_intervals_bytes(const struct cts_intervals *set);

/* Bytes of [start, end) that are in the set. */
uint64_t cts_intervals_overlap(const struct cts_intervals *set, uint64_t start, uint64_t end);

void cts_spans_release(struct cts_spans *spans);
void cts_intervals_release(struct cts_intervals *set);

#endif
