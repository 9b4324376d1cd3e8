/* Sets of addresses as sorted, disjoint, non-touching intervals, made from spans in any order. */
#ifndef CTS_ANALYZE_INTERVAL_H
#define CTS_ANALYZE_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/array.h"
#include "common/error.h"

struct cts_interval {
    uint64_t start, end; /* half-open */
};

struct cts_intervals {
    struct cts_interval *items;
    size_t count, capacity;
};

/* Bytes that warp records touched, and when the first did: records of a CTA count up. */
struct cts_span {
    uint64_t start;
    uint32_t length_bytes;
    uint32_t moment;
};

/* Spans as they come. */
struct cts_spans {
    struct cts_span *items;
    size_t count, capacity;
    bool descending; /* some start was below the one before it */
};

/* Adds a span. It joins one of the last few if they touch and that one's moment is `since` or
 * later: nobody then needs to know the two moments apart. */
static inline enum cts_status cts_spans_add(struct cts_spans *spans, struct cts_span added,
                                            uint32_t since, struct cts_error *error)
{
    enum { LOOK_BACK = 6 };
    const size_t count = spans->count;
    const size_t stop = count > LOOK_BACK ? count - LOOK_BACK : 0;
    const uint64_t start = added.start, end = start + added.length_bytes;
    for (size_t i = count; i > stop && spans->items[i - 1].moment >= since; i--) {
        struct cts_span *const span = &spans->items[i - 1];
        const uint64_t span_end = span->start + span->length_bytes;
        if (start > span_end || end < span->start) continue;
        const uint64_t joined_start = start < span->start ? start : span->start;
        const uint64_t joined_end = end > span_end ? end : span_end;
        if (joined_end - joined_start > UINT32_MAX) break;
        span->start = joined_start;
        span->length_bytes = (uint32_t)(joined_end - joined_start);
        spans->descending |= i > 1 && joined_start < spans->items[i - 2].start;
        return CTS_OK;
    }
    if (__builtin_expect(count == spans->capacity, 0) && CTS_ARRAY_RESERVE(spans, count + 1, error))
        return CTS_MEMORY;
    spans->descending |= count && start < spans->items[count - 1].start;
    spans->items[spans->count++] = added;
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
