#include "analyze/partition/mapping.h"

#include <string.h>

#include "common/promise.h"

#define X(symbol, name) extern const struct cts_mapping cts_mapping_##symbol;
CTS_MAPPINGS(X)
#undef X

const struct cts_mapping *const cts_mappings[CTS_MAPPING_COUNT] = {
#define X(symbol, name) &cts_mapping_##symbol,
    CTS_MAPPINGS(X)
#undef X
};

const struct cts_mapping *cts_mapping_named(const char *name)
{
    for (size_t i = 0; i < CTS_MAPPING_COUNT; i++)
        if (!strcmp(cts_mappings[i]->name, name)) return cts_mappings[i];
    return NULL;
}

struct cts_mapping_grid cts_mapping_grid_of(const uint32_t extents[3])
{
    struct cts_mapping_grid grid = {.cta_count = extents[0] * extents[1] * extents[2]};
    for (unsigned d = 0; d < 3; d++)
        if (extents[d] > 1) grid.extents[grid.dimensions++] = extents[d];
    return grid;
}

enum cts_status cts_mapping_lay_out(const struct cts_mapping *mapping,
                                    const struct cts_mapping_grid *grid, uint64_t *positions,
                                    uint64_t *length, struct cts_error *error)
{
    if (grid->dimensions > 1) {
        const enum cts_status status = mapping->lay_out(grid, positions, length, error);
        if (status) return cts_context(error, "mapping '%s'", mapping->name);
        CTS_ASSERT_EACH(i, grid->cta_count, positions[i] < *length);
        return CTS_OK;
    }
    for (uint32_t i = 0; i < grid->cta_count; i++) positions[i] = i;
    *length = grid->cta_count ? grid->cta_count : 1;
    return CTS_OK;
}

enum cts_status cts_mapping_cube_bits(const struct cts_mapping_grid *grid, unsigned *bits,
                                      struct cts_error *error)
{
    *bits = 0;
    for (unsigned d = 0; d < grid->dimensions; d++)
        while (UINT64_C(1) << *bits < grid->extents[d]) ++*bits;
    if (*bits * grid->dimensions < 62) return CTS_OK;
    return cts_fail(error, CTS_LIMIT, "a grid of %u x %u x %u CTAs is too long for a curve",
                    grid->extents[0], grid->extents[1], grid->extents[2]);
}
