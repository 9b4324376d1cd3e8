/* The tensors that launches may copy by TMA: what bounds copies that no record tells. */
#ifndef CTS_ANALYZE_TENSOR_MAPS_H
#define CTS_ANALYZE_TENSOR_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/catalogue.h"

/* Zero-initialise. */
struct cts_tensor_maps {
    struct cts_tensor_map *items; /* of all launches, sorted by launch */
    size_t count;
};

CTS_MUST_CHECK enum cts_status cts_tensor_maps_init(struct cts_tensor_maps *maps,
                                                    const struct cts_catalogue *catalogue,
                                                    struct cts_error *error);
void cts_tensor_maps_release(struct cts_tensor_maps *maps);

/* Those of a launch; borrowed. */
const struct cts_tensor_map *cts_tensor_maps_of(const struct cts_tensor_maps *maps, uint32_t launch,
                                                size_t *count);

/* The byte behind the last one that copies by the map may touch; UINT64_MAX: it does not tell. */
uint64_t cts_tensor_map_end(const struct cts_tensor_map *map);

/* Whether copies of the launch may touch [start, end). */
bool cts_tensor_maps_touch(const struct cts_tensor_maps *maps, uint32_t launch, uint64_t start,
                           uint64_t end);

#endif
