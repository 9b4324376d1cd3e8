/* Which allocation a byte lies in. The allocations that are alive at a launch become disjoint
 * *places*; where two overlap (a catalogue made by hand) the one made last has the byte. What is
 * added up by place is unique per node, since it is taken from the sets of a CTA. */
#include <stdlib.h>

#include "analyze/communication/model.h"

/* ---- finding them ---- */

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
    const struct alive item = heap[--*count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < *count; i = child) {
        if (child + 1 < *count && is_newer(&heap[child + 1], &heap[child])) child++;
        if (!is_newer(&heap[child], &item)) break;
        heap[i] = heap[child];
    }
    heap[i] = item;
}

static enum cts_status add_place(struct cts_comm_model *model, uint64_t start, uint64_t end,
                                 size_t allocation, struct cts_error *error)
{
    struct cts_comm_place *const last =
        model->places.count ? &model->places.items[model->places.count - 1] : NULL;
    if (last && last->end == start && last->allocation == allocation) {
        last->end = end;
        return CTS_OK;
    }
    if (CTS_ARRAY_RESERVE(&model->places, model->places.count + 1, error)) return CTS_MEMORY;
    model->places.items[model->places.count++] = (struct cts_comm_place){start, end, allocation};
    return CTS_OK;
}

/* A sweep over the starts; what is open is in the heap. */
static enum cts_status sweep(struct cts_comm_model *model, const struct alive *items, size_t count,
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
            end > at ? add_place(model, at, end, heap[0].allocation, error) : CTS_OK;
        if (status) return status;
        at = end;
    }
}

enum cts_status cts_comm_find_places(struct cts_comm_model *model, const struct cts_launch *row,
                                     struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    struct alive_list list = {0};
    enum cts_status status = CTS_OK;
    model->places.count = 0;
    for (size_t i = 0; !status && i < catalogue->allocation_count; i++) {
        const struct cts_allocation *const a = &catalogue->allocations[i];
        if (!is_alive(a, row)) continue;
        status = CTS_ARRAY_RESERVE(&list, list.count + 1, error);
        if (!status)
            list.items[list.count++] =
                (struct alive){a->address, a->address + a->size_bytes, a->op, i};
    }
    if (!status && list.count) {
        struct alive *const heap = cts_array_zeroed(list.count, sizeof *heap, error);
        qsort(list.items, list.count, sizeof *list.items, by_start);
        status = heap ? sweep(model, list.items, list.count, heap, error) : CTS_MEMORY;
        free(heap);
    }
    free(list.items);
    for (unsigned i = 0; i < model->worker_count; i++) model->workers[i].place_hint = 0;
    return status;
}

size_t cts_comm_place_of(struct cts_comm_worker *worker, uint64_t address, uint64_t *end)
{
    const struct cts_comm_model *const model = worker->model;
    const struct cts_comm_place *const items = model->places.items;
    const size_t hint = worker->place_hint;
    if (hint < model->places.count && items[hint].start <= address && address < items[hint].end) {
        *end = items[hint].end;
        return items[hint].allocation;
    }
    size_t low = 0, high = model->places.count; /* the first that ends after the address */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    worker->place_hint = low;
    const bool is_inside = low < model->places.count && items[low].start <= address;
    *end = low == model->places.count ? UINT64_MAX : is_inside ? items[low].end : items[low].start;
    return is_inside ? items[low].allocation : model->catalogue->allocation_count;
}

/* ---- adding up ---- */

/* Pairs of kernels by allocation are keyed (allocation * kernels + writer) * kernels + reader. */
static uint64_t pair_key(const struct cts_comm_worker *worker, size_t place, uint32_t writer)
{
    const struct cts_comm_model *const model = worker->model;
    const struct cts_catalogue *const catalogue = model->catalogue;
    const struct cts_comm *const result = model->result;
    const uint64_t kernel_count = model->kernel_limit;
    const uint32_t from = catalogue->launches[result->launches[writer].index].kernel;
    const uint32_t to = catalogue->launches[result->launches[model->launch].index].kernel;
    return (place * kernel_count + from) * kernel_count + to;
}

static enum cts_status add_pair(struct cts_comm_worker *worker, uint64_t key, uint64_t bytes,
                                struct cts_error *error)
{
    if (worker->place_pair_bytes && worker->place_pair_key != key) {
        const enum cts_status status = cts_comm_places_flush(worker, error);
        if (status) return status;
    }
    worker->place_pair_key = key;
    worker->place_pair_bytes += bytes;
    return CTS_OK;
}

enum cts_status cts_comm_places_flush(struct cts_comm_worker *worker, struct cts_error *error)
{
    if (!worker->place_pair_bytes) return CTS_OK;
    uint64_t *const sum = cts_map_at(&worker->place_pairs, worker->place_pair_key, error);
    if (!sum) return CTS_MEMORY;
    *sum += worker->place_pair_bytes;
    worker->place_pair_bytes = 0;
    return CTS_OK;
}

enum cts_status cts_comm_place_read(struct cts_comm_worker *worker, uint64_t start, uint64_t stop,
                                    uint32_t writer)
{
    size_t launch = 0;
    const bool is_node = writer >= CTS_WRITER_FIRST_NODE;
    if (is_node) launch = cts_comm_launch_of(worker->model->result, writer, &worker->last_launch);
    for (uint64_t at = start, end; at < stop; at = end) {
        const size_t place = cts_comm_place_of(worker, at, &end);
        if (end > stop) end = stop;
        worker->place_sums[place].read_bytes += end - at;
        if (!is_node) continue;
        worker->place_sums[place].received_bytes += end - at;
        const enum cts_status status =
            add_pair(worker, pair_key(worker, place, (uint32_t)launch), end - at, &worker->error);
        if (status) return status;
    }
    return CTS_OK;
}

void cts_comm_place_written(struct cts_comm_worker *worker, const struct cts_intervals *set)
{
    for (size_t i = 0; i < set->count; i++) {
        for (uint64_t at = set->items[i].start, end; at < set->items[i].end; at = end) {
            const size_t place = cts_comm_place_of(worker, at, &end);
            if (end > set->items[i].end) end = set->items[i].end;
            worker->place_sums[place].written_bytes += end - at;
        }
    }
}

/* ---- the result ---- */

static enum cts_status list_places(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const size_t count = model->catalogue->allocation_count + 1;
    result->allocations = cts_array_zeroed(count, sizeof *result->allocations, error);
    if (!result->allocations) return CTS_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct cts_comm_allocation *const sum = &model->workers[0].place_sums[i];
        if (!sum->read_bytes && !sum->written_bytes && !sum->communicated_out_bytes) continue;
        struct cts_comm_allocation *const row = &result->allocations[result->allocation_count++];
        *row = *sum;
        row->allocation = i + 1 == count ? SIZE_MAX : i;
    }
    return CTS_OK;
}

static int by_place(const void *left, const void *right)
{
    const struct cts_comm_allocation_pair *const a = left, *const b = right;
    if (a->allocation != b->allocation) return a->allocation < b->allocation ? -1 : 1;
    if (a->writer != b->writer) return a->writer < b->writer ? -1 : 1;
    return (a->reader > b->reader) - (a->reader < b->reader);
}

enum cts_status cts_comm_places_conclude(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const struct cts_map *const map = &model->workers[0].place_pairs;
    const uint64_t kernel_count = model->kernel_limit;
    const enum cts_status status = list_places(model, error);
    if (status) return status;
    result->allocation_pairs =
        cts_array_zeroed(map->count, sizeof *result->allocation_pairs, error);
    if (!result->allocation_pairs) return CTS_MEMORY;
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->used[i]) continue;
        const uint64_t key = map->entries[i].key;
        const size_t place = (size_t)(key / kernel_count / kernel_count);
        result->allocation_pairs[result->allocation_pair_count++] =
            (struct cts_comm_allocation_pair){
                .allocation = place == model->catalogue->allocation_count ? SIZE_MAX : place,
                .writer =
                    cts_comm_kernel_index(result, (uint32_t)(key / kernel_count % kernel_count)),
                .reader = cts_comm_kernel_index(result, (uint32_t)(key % kernel_count)),
                .bytes = map->entries[i].value};
    }
    qsort(result->allocation_pairs, result->allocation_pair_count, sizeof *result->allocation_pairs,
          by_place);
    return CTS_OK;
}
