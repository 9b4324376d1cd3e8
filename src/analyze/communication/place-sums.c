/* Which allocation a byte lies in (analyze/places.h), added up. What is added up by place is unique
 * per node, since it is taken from the sets of a CTA. */
#include <stdlib.h>

#include "analyze/communication/comm-model.h"

/* ---- finding them ---- */

enum cts_status cts_comm_find_places(struct cts_comm_model *model, const struct cts_launch *row,
                                     struct cts_error *error)
{
    for (unsigned i = 0; i < model->worker_count; i++) model->workers[i].places.hint = 0;
    return cts_places_at(model->catalogue, row, &model->places, error);
}

size_t cts_comm_place_of(struct cts_comm_worker *worker, uint64_t address, uint64_t *end)
{
    const struct cts_comm_model *const model = worker->model;
    const size_t place = cts_place_of(&model->places, &worker->places.hint, address, end);
    return place == SIZE_MAX ? model->catalogue->allocation_count : place;
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

static enum cts_status add_pair(struct cts_comm_place_sums *places, uint64_t key, uint64_t bytes,
                                struct cts_error *error)
{
    if (places->pair_bytes && places->pair_key != key) {
        const enum cts_status status = cts_comm_places_flush(places, error);
        if (status) return status;
    }
    places->pair_key = key;
    places->pair_bytes += bytes;
    return CTS_OK;
}

enum cts_status cts_comm_places_flush(struct cts_comm_place_sums *places, struct cts_error *error)
{
    if (!places->pair_bytes) return CTS_OK;
    uint64_t *const sum = cts_map_at(&places->pairs, places->pair_key, error);
    if (!sum) return CTS_MEMORY;
    *sum += places->pair_bytes;
    places->pair_bytes = 0;
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
        worker->places.sums[place].read_bytes += end - at;
        struct cts_comm_device_sum *const sum = cts_comm_device_sum(worker, place);
        if (sum) sum->read_bytes += end - at;
        if (!is_node) continue;
        worker->places.sums[place].received_bytes += end - at;
        const enum cts_status status = add_pair(
            &worker->places, pair_key(worker, place, (uint32_t)launch), end - at, &worker->error);
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
            worker->places.sums[place].written_bytes += end - at;
            struct cts_comm_device_sum *const sum = cts_comm_device_sum(worker, place);
            if (sum) sum->written_bytes += end - at;
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
        const struct cts_comm_allocation *const sum = &model->workers[0].places.sums[i];
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
    const struct cts_map *const map = &model->workers[0].places.pairs;
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
