/* Sorting is by insertion for a few spans and by digits, least significant first, for many:
 * addresses of one CTA mostly differ in two to four bytes only, and bits that all spans share cost
 * nothing. */
#include "analyze/interval.h"

#include <stdlib.h>
#include <string.h>

#include "common/radix.h"
#include "common/search.h"
#include "common/promise.h"

enum { MANY_SPANS = 4096 };

#define START_OF(span) ((span)->start)
CTS_RADIX_SORT(sort_few_spans, struct cts_span, START_OF, 8)
CTS_RADIX_SORT(sort_many_spans, struct cts_span, START_OF, 11)

enum cts_status cts_spans_sort(struct cts_spans *spans, struct cts_spans *scratch,
                               struct cts_error *error)
{
    if (!spans->descending) return CTS_OK;
    spans->descending = false;
    if (spans->count > CTS_RADIX_FEW && CTS_ARRAY_RESERVE(scratch, spans->count, error))
        return CTS_MEMORY;
    const struct cts_span *const sorted =
        spans->count < MANY_SPANS ? sort_few_spans(spans->items, scratch->items, spans->count)
                                  : sort_many_spans(spans->items, scratch->items, spans->count);
    if (sorted != spans->items) memcpy(spans->items, sorted, spans->count * sizeof *sorted);
    CTS_ASSERT_ORDER(i, spans->count, spans->items[i - 1].start <= spans->items[i].start);
    return CTS_OK;
}

enum cts_status cts_intervals_add(struct cts_intervals *set, uint64_t start, uint64_t end,
                                  struct cts_error *error)
{
    assert(start <= end);
    if (set->count == set->capacity && CTS_ARRAY_RESERVE(set, set->count + 1, error))
        return CTS_MEMORY;
    set->items[set->count++] = (struct cts_interval){start, end};
    return CTS_OK;
}

enum cts_status cts_spans_unite(const struct cts_spans *spans, struct cts_intervals *set,
                                struct cts_error *error)
{
    assert(!spans->descending); /* they have been sorted */
    if (!spans->count) return CTS_OK;
    const struct cts_span *const items = spans->items;
    uint64_t start = items[0].start, end = start + items[0].length_bytes;
    for (size_t i = 1; i < spans->count; i++) {
        const uint64_t span_end = items[i].start + items[i].length_bytes;
        if (items[i].start > end) {
            if (cts_intervals_add(set, start, end, error)) return CTS_MEMORY;
            start = items[i].start;
            end = span_end;
        } else if (end < span_end) {
            end = span_end;
        }
    }
    return cts_intervals_add(set, start, end, error);
}

static int by_start(const void *left, const void *right)
{
    const struct cts_interval *const a = left, *const b = right;
    return (a->start > b->start) - (a->start < b->start);
}

enum cts_status cts_intervals_normalise(struct cts_intervals *set, struct cts_error *error)
{
    (void)error;
    if (set->count < 2) return CTS_OK;
    qsort(set->items, set->count, sizeof *set->items, by_start);
    size_t last = 0;
    for (size_t i = 1; i < set->count; i++) {
        if (set->items[i].start > set->items[last].end)
            set->items[++last] = set->items[i];
        else if (set->items[last].end < set->items[i].end)
            set->items[last].end = set->items[i].end;
    }
    set->count = last + 1;
    CTS_ASSERT_ORDER(i, set->count, set->items[i - 1].end <= set->items[i].start);
    return CTS_OK;
}

/* Adds to a set that is being built in ascending order. */
static enum cts_status append(struct cts_intervals *set, struct cts_interval item,
                              struct cts_error *error)
{
    struct cts_interval *const last = set->count ? &set->items[set->count - 1] : NULL;
    if (!last || item.start > last->end) return cts_intervals_add(set, item.start, item.end, error);
    if (last->end < item.end) last->end = item.end;
    return CTS_OK;
}

enum cts_status cts_intervals_unite(const struct cts_intervals *a, const struct cts_intervals *b,
                                    struct cts_intervals *result, struct cts_error *error)
{
    assert(result != a && result != b);
    CTS_ASSERT_ORDER(i, a->count, a->items[i - 1].end <= a->items[i].start);
    CTS_ASSERT_ORDER(i, b->count, b->items[i - 1].end <= b->items[i].start);
    result->count = 0;
    for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
        const bool take_a =
            k == b->count || (i < a->count && a->items[i].start <= b->items[k].start);
        if (append(result, take_a ? a->items[i++] : b->items[k++], error)) return CTS_MEMORY;
    }
    return CTS_OK;
}

enum cts_status cts_intervals_intersect(const struct cts_intervals *a,
                                        const struct cts_intervals *b, struct cts_intervals *result,
                                        struct cts_error *error)
{
    assert(result != a && result != b);
    CTS_ASSERT_ORDER(i, a->count, a->items[i - 1].end <= a->items[i].start);
    CTS_ASSERT_ORDER(i, b->count, b->items[i - 1].end <= b->items[i].start);
    result->count = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const struct cts_interval x = a->items[i], y = b->items[k];
        const uint64_t start = x.start > y.start ? x.start : y.start;
        const uint64_t end = x.end < y.end ? x.end : y.end;
        if (start < end && cts_intervals_add(result, start, end, error)) return CTS_MEMORY;
        if (x.end <= y.end)
            i++;
        else
            k++;
    }
    return CTS_OK;
}

enum cts_status cts_intervals_subtract(const struct cts_intervals *a, const struct cts_intervals *b,
                                       struct cts_intervals *result, struct cts_error *error)
{
    assert(result != a && result != b);
    CTS_ASSERT_ORDER(i, a->count, a->items[i - 1].end <= a->items[i].start);
    CTS_ASSERT_ORDER(i, b->count, b->items[i - 1].end <= b->items[i].start);
    result->count = 0;
    size_t k = 0;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t start = a->items[i].start;
        const uint64_t end = a->items[i].end;
        while (k < b->count && b->items[k].end <= start) k++;
        for (size_t hole = k; hole < b->count && b->items[hole].start < end; hole++) {
            if (start < b->items[hole].start &&
                cts_intervals_add(result, start, b->items[hole].start, error))
                return CTS_MEMORY;
            if (start < b->items[hole].end) start = b->items[hole].end;
        }
        if (start < end && cts_intervals_add(result, start, end, error)) return CTS_MEMORY;
    }
    return CTS_OK;
}

uint64_t cts_intervals_bytes(const struct cts_intervals *set)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < set->count; i++) bytes += set->items[i].end - set->items[i].start;
    return bytes;
}

uint64_t cts_intervals_overlap(const struct cts_intervals *set, uint64_t start, uint64_t end)
{
    size_t at = CTS_SEARCH(set->count, i, set->items[i].end <= start);
    uint64_t bytes = 0;
    for (; at < set->count && set->items[at].start < end; at++) {
        const uint64_t from = set->items[at].start > start ? set->items[at].start : start;
        const uint64_t to = set->items[at].end < end ? set->items[at].end : end;
        bytes += to - from;
    }
    return bytes;
}

void cts_spans_release(struct cts_spans *spans)
{
    free(spans->items);
    *spans = (struct cts_spans){0};
}

void cts_intervals_release(struct cts_intervals *set)
{
    free(set->items);
    *set = (struct cts_intervals){0};
}
