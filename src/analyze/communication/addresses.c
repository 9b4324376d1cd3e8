/* Mixed widths: the runs are sorted by width and grid (a *class*) and united, so that those of a
 * class ascend and do not overlap; then the classes are merged, as much of a run at a time as lies
 * below the next address of any other class. */
#include "analyze/communication/addresses.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/promise.h"

enum { UNITE_FROM = 1 << 16 };

static enum cts_status append(struct cts_grain *grain, uint64_t start, uint64_t count,
                              uint32_t width, struct cts_error *error)
{
    while (count) {
        const uint32_t part = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
        if (CTS_ARRAY_RESERVE(grain, grain->count + 1, error)) return CTS_MEMORY;
        grain->items[grain->count++] = (struct cts_address_run){start, width, part};
        start += (uint64_t)part * width;
        count -= part;
    }
    return CTS_OK;
}

/* All accesses so far have the grain's width and stand on its grid. */
static enum cts_status mix(struct cts_grain *grain, const struct cts_grain_past *before,
                           struct cts_error *error)
{
    const uint32_t width = grain->width;
    enum cts_status status = CTS_OK;
    for (unsigned k = 0; k < 2; k++) {
        const struct cts_spans *const spans = before->spans[k];
        const struct cts_intervals *const set = before->sets[k];
        for (size_t i = 0; !status && spans && i < spans->count; i++)
            status = append(grain, spans->items[i].start, spans->items[i].length_bytes / width,
                            width, error);
        for (size_t i = 0; !status && set && i < set->count; i++)
            status = append(grain, set->items[i].start,
                            (set->items[i].end - set->items[i].start) / width, width, error);
    }
    grain->mixed = true;
    return status;
}

static int by_class(const void *left, const void *right)
{
    const struct cts_address_run *const a = left, *const b = right;
    if (a->width != b->width) return a->width < b->width ? -1 : 1;
    const uint64_t x = a->start % a->width, y = b->start % b->width;
    if (x != y) return x < y ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static bool same_class(const struct cts_address_run *a, const struct cts_address_run *b)
{
    return a->width == b->width && a->start % a->width == b->start % b->width;
}

static void unite(struct cts_grain *grain)
{
    if (grain->count < 2) return;
    qsort(grain->items, grain->count, sizeof *grain->items, by_class);
    size_t last = 0;
    for (size_t i = 1; i < grain->count; i++) {
        struct cts_address_run *const run = &grain->items[last];
        const struct cts_address_run next = grain->items[i];
        const uint64_t end = run->start + (uint64_t)run->count * run->width;
        const uint64_t next_end = next.start + (uint64_t)next.count * next.width;
        const uint64_t most = end > next_end ? end : next_end;
        const bool joins = same_class(run, &next) && next.start <= end &&
                           (most - run->start) / run->width <= UINT32_MAX;
        if (joins)
            run->count = (uint32_t)((most - run->start) / run->width);
        else
            grain->items[++last] = next;
    }
    grain->count = last + 1;
}

enum cts_status cts_grain_add(struct cts_grain *grain, struct cts_address_run run,
                              const struct cts_grain_past *before, struct cts_error *error)
{
    assert(run.width && run.count &&
           !(grain->width && cts_grain_fits(grain, run.start, run.width)));
    if (!grain->width) {
        grain->width = run.width;
        grain->origin = run.start;
        return CTS_OK;
    }
    enum cts_status status = grain->mixed ? CTS_OK : mix(grain, before, error);
    if (!status) status = append(grain, run.start, run.count, run.width, error);
    if (!status && grain->count >= UNITE_FROM && grain->count / 2 >= grain->settled_count) {
        unite(grain);
        grain->settled_count = grain->count;
    }
    return status;
}

void cts_grain_clear(struct cts_grain *grain)
{
    grain->width = 0;
    grain->mixed = false;
    grain->count = grain->settled_count = 0;
}

void cts_grain_release(struct cts_grain *grain)
{
    free(grain->items);
    *grain = (struct cts_grain){0};
}

/* ---- strides ---- */

/* Addresses start, start + width, ... below stop, on the way from one stretch that matters to the
 * next. */
struct stretches {
    const struct cts_address_filter *filter;
    uint64_t start, stop;
    uint32_t width;
    uint64_t at; /* not looked at yet */
};

/* The first and last address of the next stretch that matters; false: no more. */
static bool next_stretch(struct stretches *stretches, uint64_t *first, uint64_t *last)
{
    assert(stretches->width && stretches->start <= stretches->at);
    const uint64_t start = stretches->start;
    const uint32_t width = stretches->width;
    while (stretches->at < stretches->stop) {
        const uint64_t at = stretches->at;
        const struct cts_address_filter *const filter = stretches->filter;
        bool matters;
        stretches->at = filter->run(filter->state, at, stretches->stop, &matters);
        if (!matters) continue;
        *first = start + (at - start) / width * width;
        *last = start + (stretches->at - 1 - start) / width * width;
        return true;
    }
    return false;
}

/* A class on its way: what is left of its runs. */
struct cursor {
    const struct cts_address_run *run, *end;
    uint64_t next; /* address */
};

static void step(struct cursor *cursor, uint64_t passed)
{
    assert(cursor->run < cursor->end && passed >= cursor->next);
    const struct cts_address_run *const run = cursor->run;
    const uint64_t last = run->start + (uint64_t)(run->count - 1) * run->width;
    if (passed < last)
        cursor->next = passed + run->width;
    else if (++cursor->run < cursor->end)
        cursor->next = cursor->run->start;
}

static enum cts_status merge(struct cursor *cursors, size_t count, struct cts_strides *strides,
                             struct cts_error *error)
{
    struct cts_addresses addresses = {.strides = strides};
    while (count) {
        size_t least = 0;
        uint64_t limit = UINT64_MAX; /* the next address of any other class */
        for (size_t i = 1; i < count; i++) {
            if (cursors[i].next < cursors[least].next) {
                limit = cursors[least].next;
                least = i;
            } else if (cursors[i].next < limit) {
                limit = cursors[i].next;
            }
        }
        struct cursor *const cursor = &cursors[least];
        const struct cts_address_run *const run = cursor->run;
        uint64_t last = run->start + (uint64_t)(run->count - 1) * run->width;
        if (last > limit) last = cursor->next + (limit - cursor->next) / run->width * run->width;
        const enum cts_status status =
            cts_addresses_add(&addresses, cursor->next, last, run->width, error);
        if (status) return status;
        step(cursor, last);
        if (cursor->run == cursor->end) *cursor = cursors[--count];
    }
    return CTS_OK;
}

static enum cts_status merge_classes(const struct cts_grain *grain, struct cts_strides *strides,
                                     struct cts_error *error)
{
    struct {
        struct cursor *items;
        size_t count, capacity;
    } cursors = {0};
    enum cts_status status = CTS_OK;
    for (size_t begin = 0, end; !status && begin < grain->count; begin = end) {
        for (end = begin + 1;
             end < grain->count && same_class(&grain->items[begin], &grain->items[end]);)
            end++;
        status = CTS_ARRAY_RESERVE(&cursors, cursors.count + 1, error);
        if (!status)
            cursors.items[cursors.count++] = (struct cursor){
                &grain->items[begin], grain->items + end, grain->items[begin].start};
    }
    if (!status) status = merge(cursors.items, cursors.count, strides, error);
    free(cursors.items);
    return status;
}

enum cts_status cts_grain_strides(struct cts_grain *grain, const struct cts_intervals *set,
                                  const struct cts_address_filter *filter,
                                  struct cts_strides *strides, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    uint64_t first, last;
    if (!grain->mixed) {
        struct cts_addresses addresses = {.strides = strides};
        for (size_t i = 0; !status && i < set->count; i++) {
            const struct cts_interval bytes = set->items[i];
            struct stretches left = {filter, bytes.start, bytes.end, grain->width, bytes.start};
            while (!status && next_stretch(&left, &first, &last))
                status = cts_addresses_add(&addresses, first, last, grain->width, error);
        }
        return status;
    }
    struct cts_grain kept = {0};
    unite(grain);
    for (size_t i = 0; !status && i < grain->count; i++) {
        const struct cts_address_run run = grain->items[i];
        const uint64_t stop = run.start + (uint64_t)run.count * run.width;
        struct stretches left = {filter, run.start, stop, run.width, run.start};
        while (!status && next_stretch(&left, &first, &last))
            status = append(&kept, first, (last - first) / run.width + 1, run.width, error);
    }
    unite(&kept);
    if (!status) status = merge_classes(&kept, strides, error);
    cts_grain_release(&kept);
    return status;
}
