#include "analyze/places.h"

#include <stdlib.h>

#include "common/array.h"
#include "common/promise.h"

struct alive {
    uint64_t start, end, op;
    size_t allocation;
};

struct alive_list {
    struct alive *items;
    size_t count, capacity;
};

static bool is_alive(const struct cts_allocation *a, const struct cts_launch *row)
{
    return a->rank == row->rank && a->op < row->op && a->freed_op > row->op && a->size_bytes &&
           a->size_bytes <= UINT64_MAX - a->address;
}

static int by_start(const void *left, const void *right)
{
    const struct alive *const a = left, *const b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static bool is_newer(const struct alive *a, const struct alive *b)
{
    return a->op != b->op ? a->op > b->op : a->allocation > b->allocation;
}

/* A heap of allocations, the newest on top. */
static void push(struct alive *heap, size_t *count, struct alive item)
{
    size_t i = (*count)++;
    for (; i > 0 && is_newer(&item, &heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = item;
}

static void pop(struct alive *heap, size_t *count)
{
    assert(*count);
    const struct alive item = heap[--*count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < *count; i = child) {
        if (child + 1 < *count && is_newer(&heap[child + 1], &heap[child])) child++;
        if (!is_newer(&heap[child], &item)) break;
        heap[i] = heap[child];
    }
    heap[i] = item;
}

static enum cts_status add_place(struct cts_places *places, uint64_t start, uint64_t end,
                                 size_t allocation, struct cts_error *error)
{
    struct cts_place *const last = places->count ? &places->items[places->count - 1] : NULL;
    assert(start < end && (!last || last->end <= start)); /* disjoint, ascending */
    if (last && last->end == start && last->allocation == allocation) {
        last->end = end;
        return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(places, places->count + 1, error)) return CTS_MEMORY;
    places->items[places->count++] = (struct cts_place){start, end, allocation};
    return CTS_OK;
}

/* A sweep over the starts; what is open is in the heap. */
static enum cts_status sweep(struct cts_places *places, const struct alive *items, size_t count,
                             struct alive *heap, struct cts_error *error)
{
    size_t open = 0;
    uint64_t at = 0;
    for (size_t next = 0;;) {
        while (open && heap[0].end <= at) pop(heap, &open);
        if (!open) {
            if (next == count) return CTS_OK;
            at = items[next].start;
        }
        while (next < count && items[next].start <= at) push(heap, &open, items[next++]);
        uint64_t end = heap[0].end;
        if (next < count && items[next].start < end) end = items[next].start;
        const enum cts_status status =
            end > at ? add_place(places, at, end, heap[0].allocation, error) : CTS_OK;
        if (status) return status;
        at = end;
    }
}

/* What is alive at an op, and between which ops that does not change. */
static enum cts_status list_alive(const struct cts_catalogue *catalogue,
                                  const struct cts_launch *row, struct cts_places *places,
                                  struct alive_list *list, struct cts_error *error)
{
    places->rank = row->rank;
    places->first_op = 0;
    places->last_op = UINT64_MAX;
    for (size_t i = 0; i < catalogue->allocation_count; i++) {
        const struct cts_allocation *const a = &catalogue->allocations[i];
        if (a->rank != row->rank) continue;
        const uint64_t ops[] = {a->op, a->freed_op};
        for (unsigned k = 0; k < 2; k++) {
            if (ops[k] <= row->op && ops[k] > places->first_op) places->first_op = ops[k];
            if (ops[k] >= row->op && ops[k] < places->last_op) places->last_op = ops[k];
        }
        if (!is_alive(a, row)) continue;
        if (CTS_ARRAY_RESERVE(list, list->count + 1, error)) return CTS_MEMORY;
        list->items[list->count++] =
            (struct alive){a->address, a->address + a->size_bytes, a->op, i};
    }
    return CTS_OK;
}

enum cts_status cts_places_at(const struct cts_catalogue *catalogue, const struct cts_launch *row,
                              struct cts_places *places, struct cts_error *error)
{
    if (places->made && places->rank == row->rank && places->first_op < row->op &&
        row->op < places->last_op)
        return CTS_OK;
    struct alive_list list = {0};
    places->count = 0;
    places->made = false;
    enum cts_status status = list_alive(catalogue, row, places, &list, error);
    if (!status && list.count) {
        struct alive *const heap = cts_array_zeroed(list.count, sizeof *heap, error);
        qsort(list.items, list.count, sizeof *list.items, by_start);
        status = heap ? sweep(places, list.items, list.count, heap, error) : CTS_MEMORY;
        free(heap);
    }
    free(list.items);
    places->made = !status;
    return status;
}

void cts_places_release(struct cts_places *places)
{
    free(places->items);
    *places = (struct cts_places){0};
}
