#include "analyze/tensor-maps.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/search.h"

static int by_launch(const void *left, const void *right)
{
    const struct cts_tensor_map *const a = left, *const b = right;
    if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
    return (a->parameter_bytes > b->parameter_bytes) - (a->parameter_bytes < b->parameter_bytes);
}

enum cts_status cts_tensor_maps_init(struct cts_tensor_maps *maps,
                                     const struct cts_catalogue *catalogue, struct cts_error *error)
{
    const size_t count = catalogue->tensor_map_count;
    maps->items = cts_array_zeroed(count, sizeof *maps->items, error);
    if (!maps->items) return CTS_MEMORY;
    if (count) {
        memcpy(maps->items, catalogue->tensor_maps, count * sizeof *maps->items);
        qsort(maps->items, count, sizeof *maps->items, by_launch);
    }
    maps->count = count;
    return CTS_OK;
}

void cts_tensor_maps_release(struct cts_tensor_maps *maps)
{
    free(maps->items);
    *maps = (struct cts_tensor_maps){0};
}

const struct cts_tensor_map *cts_tensor_maps_of(const struct cts_tensor_maps *maps, uint32_t launch,
                                                size_t *count)
{
    const struct cts_tensor_map *const items = maps->items;
    const size_t first = CTS_SEARCH(maps->count, i, items[i].launch < launch);
    const size_t behind = CTS_SEARCH(maps->count, i, items[i].launch <= launch);
    *count = behind - first;
    return items + first;
}

/* Sizes and strides come from a file: they may be anything. */
uint64_t cts_tensor_map_end(const struct cts_tensor_map *map)
{
    const uint32_t most = sizeof map->size / sizeof *map->size;
    uint64_t end = map->address, length;
    if (map->interleaved || map->dimensions > most ||
        __builtin_add_overflow(end, map->element_bytes, &end))
        return UINT64_MAX;
    for (uint32_t d = 0; d < map->dimensions; d++)
        if (map->size[d] &&
            (__builtin_mul_overflow(map->size[d] - 1, map->stride_bytes[d], &length) ||
             __builtin_add_overflow(end, length, &end)))
            return UINT64_MAX;
    return end;
}

bool cts_tensor_maps_touch(const struct cts_tensor_maps *maps, uint32_t launch, uint64_t start,
                           uint64_t end)
{
    size_t count;
    const struct cts_tensor_map *const own = cts_tensor_maps_of(maps, launch, &count);
    for (size_t i = 0; i < count; i++)
        if (own[i].address < end && cts_tensor_map_end(&own[i]) > start) return true;
    return false;
}
