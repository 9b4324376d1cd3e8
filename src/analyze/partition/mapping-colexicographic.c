/* The reverse of the lexicographic order, x slowest: cuts lie across the lowest dimension. */
#include "analyze/partition/mapping.h"

static enum cts_status lay_out(const struct cts_mapping_grid *grid, uint64_t *positions,
                               uint64_t *length, struct cts_error *error)
{
    (void)error;
    for (uint32_t i = 0; i < grid->cta_count; i++) {
        uint32_t at[3];
        cts_mapping_coordinates(grid, i, at);
        uint64_t position = 0;
        for (unsigned d = 0; d < grid->dimensions; d++)
            position = position * grid->extents[d] + at[d];
        positions[i] = position;
    }
    *length = grid->cta_count;
    return CTS_OK;
}

const struct cts_mapping cts_mapping_colexicographic = {
    .name = "colexicographic",
    .summary = "by linear index, x slowest: slabs across the lowest dimension",
    .lay_out = lay_out,
};
